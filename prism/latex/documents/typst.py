r"""Typst: its text with the marks of Markdown, its formulas as LaTeX.

Formulas are read by a small grammar: names, calls such as `frac(a, b)`, fractions by `/`, indices, powers, words in
quotes. What a document computes is not run: settings and definitions are passed over, other code is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from prism.inputs import decode
from prism.latex.documents.document import Document, DocumentWriter
from prism.latex.documents.typed_formulas import CALLS, MAX_DEPTH, TypedReader
from prism.latex.documents.written_signs import FUNCTIONS, accented, fenced, rows_latex, words_latex

_MAX_CODE = 300  # characters of a call within a formula

# Formulas. ------------------------------------------------------------------------------------------------------

_SYMBOLS = {
    **{name: f"\\{name} " for name in (
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
        "omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega sum times div approx equiv prop quad nabla in".split()
    )},
    **{name: f"\\{name} " for name in FUNCTIONS},
    "epsilon.alt": r"\epsilon ", "phi.alt": r"\varphi ", "theta.alt": r"\vartheta ", "Upsilon": r"\Upsilon ",
    "integral": r"\int ", "integral.cont": r"\oint ", "integral.double": r"\iint ", "integral.triple": r"\iiint ",
    "product": r"\prod ", "dot.op": r"\cdot ", "dot.c": r"\cdot ", "plus.minus": r"\pm ", "minus.plus": r"\mp ",
    "lt.eq": r"\le ", "gt.eq": r"\ge ", "lt": "<", "gt": ">", "eq.not": r"\ne ", "eq": " = ", "plus": "+", "minus": "-",
    "lt.double": r"\ll ", "gt.double": r"\gg ", "tilde.op": r"\sim ", "tilde.eq": r"\simeq ", "tilde.equiv": r"\cong ",
    "arrow": r"\to ", "arrow.r": r"\to ", "arrow.l": r"\leftarrow ", "arrow.r.double": r"\Rightarrow ",
    "arrow.l.r.double": r"\Leftrightarrow ", "arrow.r.long": r"\to ", "infinity": r"\infty ", "oo": r"\infty ",
    "partial": r"\partial ", "diff": r"\partial ", "planck.reduce": r"\hbar ", "planck": "h", "hbar": r"\hbar ",
    "dif": r"\mathrm{d}", "dots": r"\dots ", "dots.h": r"\dots ", "dots.c": r"\cdots ", "degree": r"^{\circ}",
    "prime": "'", "thin": r"\,", "med": r"\;", "thick": r"\;", "space": " ", "wide": r"\quad ", "ell": r"\ell ",
    "chevron.l": r"\langle ", "chevron.r": r"\rangle ", "angle.l": r"\langle ", "angle.r": r"\rangle ",
    "parallel": r"\parallel ", "perp": r"\perp ", "bar.v": "|", "bar.v.double": r"\|", "percent": r"\%", "slash": "/",
    "dots.h.c": r"\cdots ", "times.o": r"\otimes ", "times.circle": r"\otimes ", "zws": "{}", "plus.o": r"\oplus ",
    "plus.circle": r"\oplus ", "ast.op": "*", "dagger": r"\dagger ", "eq.triple": r"\equiv ", "lt.slant": r"\le ",
    "gt.slant": r"\ge ", "compose": r"\circ ", "dot.circle": r"\odot ", "arrow.t": r"\uparrow ",
    "arrow.b": r"\downarrow ",
    "therefore": r"\therefore ", "because": r"\because ", "prop.to": r"\propto ", "RR": r"\mathbb{R}",
    "forall": r"\forall ",
}  # fmt: skip
_SIGNS = {
    "->": r"\to ", "=>": r"\Rightarrow ", "<=>": r"\Leftrightarrow ", "<=": r"\le ", ">=": r"\ge ", "!=": r"\ne ",
    "<<": r"\ll ",
    ">>": r"\gg ", "...": r"\dots ", ":=": ":=", "*": "*", "~": r"\ ", "=": " = ", "%": r"\%", "{": r"\{", "}": r"\}",
    "#": "", "$": "",
}  # fmt: skip
_ACCENTS = {
    "hat": "^", "dot": "˙", "dot.double": "¨", "diaer": "¨", "tilde": "~", "macron": "¯", "arrow": "→",
    "overbrace": "⏞",
    "underbrace": "⏟",
}  # fmt: skip
_CALLS: dict[str, str] = {
    **CALLS, "binom": r"\binom{%s}{%s}", "underline": r"\underline{%s}", "bold": r"\mathbf{%s}", "italic": "%s",
    "cal": r"\mathcal{%s}", "bb": r"\mathbb{%s}", "sans": "%s", "mono": "%s", "serif": "%s", "display": "%s",
    "inline": "%s", "va": r"\vec{%s}", "vb": r"\mathbf{%s}", "vu": r"\hat{%s}", "dd": r"\mathrm{d}%s",
    "dv": r"\frac{\mathrm{d}%s}{\mathrm{d}%s}", "pdv": r"\frac{\partial %s}{\partial %s}",
    "limits": "%s", "scripts": "%s", "boxed": r"\boxed{%s}",
}  # fmt: skip
_PHYSICA = ("va", "vb", "vu", "dd", "dv", "pdv")  # of a package, read in their plain form alone
_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|\d+(?:\.\d+)?|[^\W\d_]+(?:\.[A-Za-z]+)*(?=\()|[^\W\d_]{2,}(?:\.[A-Za-z]+)*|\\[^\s]|\\(?=\s|$)'
    r"|<=>|->|=>|<=|>=|!=|<<|>>|:=|\.\.\.|\s+|."
)


def typst_latex(formula: str) -> str:
    r"""Return a formula of Typst, without its dollars, as LaTeX.

    >>> typst_latex("t_f = sqrt((2 h) / g)")
    't_{f} = \\sqrt{\\frac{2 h}{g}}'
    """
    latex = TypedReader(_TOKEN.findall(formula), _read_typst_piece, ("(",)).read((), 0)
    return (
        rf"\begin{{aligned}} {latex.strip()} \end{{aligned}}"
        if r"\\" in latex or "&" in latex.replace(r"\&", "")
        else (" ".join(latex.split()))
    )


def _read_typst_piece(reader: TypedReader, depth: int) -> str:
    """Read a name, a call, a number, words or a bracket; empty behind the last token."""
    token = reader.take()
    if token[:1] == '"' and len(token) > 1:
        return words_latex(token[1:-1])
    if token[:1] == "#" and reader.peek()[:1].isalpha():
        return _read_value_of_code(reader, depth)
    if token[:1] == "\\":
        return r" \\ " if len(token) == 1 else token if token[1] in "{}$%#&_" else token[1:]
    if token in ("(", "[") and depth < MAX_DEPTH:
        end = {"(": ")", "[": "]"}[token]
        inside = reader.read((end,), depth + 1)
        is_closed = reader.peek() == end
        reader.at += is_closed
        return f"{token}{inside}{end * is_closed}"
    if token[:1].isalpha() and reader.peek() == "(" and depth < MAX_DEPTH and not _is_plain(token):
        return _read_call(reader, token, depth + 1)
    if token in _SYMBOLS:
        return _SYMBOLS[token]
    if len(token) > 1 and token[0].isalpha() and token.isascii():
        return f"\\{token.replace('.', '')} "  # of no known name: a command that is not read either
    return _SIGNS.get(token, token)


def _read_value_of_code(reader: TypedReader, depth: int) -> str:
    """Read a name of code: space as space, any other as a command that is not read, for its value is not known."""
    name = reader.take()
    if name == "h" and reader.peek() == "(" and depth < MAX_DEPTH:
        _read_call(reader, name, depth + 1)
        return " "
    return f"\\code{name.replace('.', '')} "


def _read_call(reader: TypedReader, name: str, depth: int) -> str:
    """Read the arguments of a call, and write what it shows."""
    reader.at += 1
    rows: list[list[str]] = [[]]
    named: dict[str, str] = {}
    while True:
        reader.skip_blanks()
        key = ""
        if reader.tokens[reader.at + 1 : reader.at + 2] == [":"] and reader.peek().isalpha():
            key = reader.take()
            reader.at += 1
        argument = reader.read((",", ";", ")"), depth).strip()
        if key:
            named[key] = argument
        elif argument or reader.peek() == ",":
            rows[-1].append(argument)
        end = reader.peek()
        reader.at += bool(end)
        if end == ";":
            rows.append([])
        if end in (")", ""):
            return _call_latex(name, [row for row in rows if row], named)


def _is_plain(name: str) -> bool:
    """Return True for a name behind which a bracket is no list of arguments: of a symbol, or one letter."""
    return len(name) == 1 or (name in _SYMBOLS and name not in _ACCENTS)


def _call_latex(name: str, rows: list[list[str]], named: dict[str, str]) -> str:
    """Return a call as LaTeX; of an unknown name with its arguments in brackets."""
    arguments = [each for row in rows for each in row]
    first = arguments[0] if arguments else ""
    if name in ("mat", "vec"):
        cells = rows if name == "mat" else [[each] for each in arguments]
        begin = named.get("delim", r"\text{(}").removeprefix(r"\text{").removesuffix("}") or "("
        return fenced(begin, rows_latex(cells, "matrix"), {"(": ")", "[": "]", "{": "}", "|": "|"}.get(begin, begin))
    if name == "cases":
        return rows_latex([[each] for each in arguments], "cases")
    if name == "lr":
        return first
    if name == "upright":
        return first if first.startswith((r"\text", r"\mathbf")) else rf"\mathrm{{{first.replace(' ', '')}}}"
    if name == "op":
        return rf"\operatorname{{{first.removeprefix(chr(92) + 'text{').removesuffix('}')}}}"
    if name in _ACCENTS:
        marked = accented(_ACCENTS[name], first, is_below=name == "underbrace") or first
        return f"{marked}_{{{arguments[1]}}}" if len(arguments) > 1 else marked
    form = _CALLS.get(name, "")
    n = form.count("%s")
    if form and not (name in _PHYSICA and (named or len(arguments) != n)):
        return form % tuple((*arguments, "", "")[:n])
    return f"\\typst{name.replace('.', '')} ({', '.join(arguments)})"  # no command, as one of its name is another


# Text. ----------------------------------------------------------------------------------------------------------

_HEADING = re.compile(r"(={1,6})[ \t]+")
_STATEMENT = re.compile(r"#(?:let|set|show|import)\b")
_CODE = re.compile(r"#(include|if|for|while|context|eval|image|figure|box|block|strike|[\w.]+)")
_LABEL = re.compile(r"<[\w:.-]+>")
_ARGUMENT_SIGN = re.compile(r'"[^"\n]*"|[\[$(){}]')
_STOP = re.compile(r"\$|\\.|#\w+[(\[]", re.DOTALL)
_BOX = re.compile(r"#(?:box|rect)\([^$\[\]]*\[\$([^$]*)\$\]\)")
_RAW_FENCE = re.compile(r"(`{3,})([A-Za-z]*)")
_OPENING = {"(": ")", "[": "]", "{": "}"}
_COMPUTED = ("if", "for", "while", "context", "eval")


def read_typst_text(raw: bytes) -> Document:
    """Read a text of Typst.

    Errors:
        PrismError: no text in UTF-8.
    """
    text = decode(raw)
    writer = DocumentWriter()
    at, line = 0, 1
    while at < len(text):
        is_line_start = at == 0 or text[at - 1] == "\n"
        if is_line_start:
            writer.begin_place(f"line {line}")
        end = _read_piece(text, at, writer, is_line_start=is_line_start)
        line += text.count("\n", at, end)
        at = end
    return writer.document()


def _read_piece(text: str, at: int, writer: DocumentWriter, *, is_line_start: bool) -> int:
    """Read what begins at an offset: a formula, a comment, code, a heading or a sign; return where it ends."""
    sign = text[at]
    if reader := _PIECES.get(sign):
        return reader(text, at, writer)
    if sign == "=" and is_line_start and (heading := _HEADING.match(text, at)):
        writer.add(f"{'#' * len(heading[1])} ")
        return heading.end()
    plain = _PLAIN.match(text, at)
    end = plain.end() if plain else at + 1
    writer.add(text[at:end])
    return end


_PLAIN = re.compile(r"[^$/#=\\`<\n\[\]]+|\n")


def _read_formula(text: str, at: int, writer: DocumentWriter) -> int:
    """Read a formula; with blanks inside its dollars it stands by itself."""
    end = _end_of_formula(text, at + 1)
    if end < 0:
        writer.add("$")
        return at + 1
    content = _BOX.sub(r"boxed(\1)", text[at + 1 : end])
    is_display = content[:1].isspace() and content[-1:].isspace()
    if "#" in content.replace("\\#", ""):
        writer.leave_out("formula", of_which="with code in it")
    (writer.add_display if is_display else writer.add_inline)(typst_latex(content))
    return end + 1


def _end_of_formula(text: str, at: int) -> int:
    """Return the offset of the dollar that ends a formula, outside the brackets of code in it; -1 if none does."""
    while (end := _STOP.search(text, at)) is not None:
        if end[0] == "$":
            return end.start()
        at = _end_of_bracket(text, end.end() - 1, _MAX_CODE) if end[0][0] == "#" else end.end()
    return -1


def _read_comment(text: str, at: int, writer: DocumentWriter) -> int:
    """Pass over a comment; a slash that begins none, as in an address, is text."""
    if text.startswith("/*", at):
        end = text.find("*/", at)
        return end + 2 if end >= 0 else len(text)
    if text.startswith("//", at) and text[at - 1 : at] != ":":
        end = text.find("\n", at)
        return end if end >= 0 else len(text)
    writer.add("/")
    return at + 1


def _read_code(text: str, at: int, writer: DocumentWriter) -> int:
    """Pass over a setting or a definition, tell a picture or what is computed, and read what a call shows."""
    if _STATEMENT.match(text, at):
        return _end_of_statement(text, at)
    named = _CODE.match(text, at)
    if named is None:
        writer.add("#")
        return at + 1
    if named[1] in _COMPUTED:
        writer.leave_out("statement", of_which="of code")
        return _end_of_statement(text, at)
    if named[1] == "include":
        writer.leave_out("file", of_which="that it includes")
        return _end_of_statement(text, at)
    end = named.end()
    if text[end : end + 1] == "(":
        begin, end = end, _end_of_arguments(text, end)
        if "image(" in named[0] + text[begin:end]:
            writer.leave_out("picture")
    if named[1] == "strike" and text[end : end + 1] == "[":
        close = _end_of_bracket(text, end)
        writer.add(f"~~{text[end + 1 : close - 1]}~~")
        return close
    return end


def _end_of_statement(text: str, at: int) -> int:
    """Return where a statement ends: at a line end outside all brackets."""
    while at < len(text) and text[at] != "\n":
        at = _end_of_bracket(text, at) if text[at] in _OPENING else at + 1
    return at


def _end_of_arguments(text: str, at: int) -> int:
    """Return where the arguments of a call end, or where the first text or formula in them begins, which is shown."""
    depth = 0
    for found in _ARGUMENT_SIGN.finditer(text, at):
        if found[0] in "[$":
            return found.start()
        depth += (found[0] in "({") - (found[0] in ")}")
        if depth == 0 and found[0] in ")}":
            return found.end()
    return len(text)


def _end_of_bracket(text: str, at: int, most: int = 1 << 30) -> int:
    """Return the offset behind the bracket that closes the one at an offset.

    Args:
        most: characters in which it is looked for; behind them, and behind the text, it ends there.
    """
    depth = 0
    in_words = False
    end = min(len(text), at + most)
    for place in range(at, end):
        sign = text[place]
        if sign == '"' and text[place - 1] != "\\":
            in_words = not in_words
        elif not in_words:
            depth += (sign in "([{") - (sign in ")]}")
            if depth == 0:
                return place + 1
    return end


def _read_raw(text: str, at: int, writer: DocumentWriter) -> int:
    """Write raw text as code; that of a program, by its language, states nothing."""
    fence = _RAW_FENCE.match(text, at)
    mark = fence[1] if fence else "`"
    end = text.find(mark, at + len(mark))
    end = end + len(mark) if end >= 0 else len(text)
    writer.add("" if fence and fence[2] else text[at:end])
    return end


def _read_label(text: str, at: int, writer: DocumentWriter) -> int:
    """Pass over a label."""
    if label := _LABEL.match(text, at):
        return label.end()
    writer.add("<")
    return at + 1


def _read_escape(text: str, at: int, writer: DocumentWriter) -> int:
    """Write an escaped sign, or begin a line."""
    following = text[at + 1 : at + 2]
    writer.add("\n" if not following or following.isspace() else following)
    return at + 1 + bool(following)


_PIECES: dict[str, Callable[[str, int, DocumentWriter], int]] = {
    "$": _read_formula, "/": _read_comment, "#": _read_code, "`": _read_raw, "<": _read_label, "\\": _read_escape,
    "[": lambda _text, at, _writer: at + 1, "]": lambda _text, at, _writer: at + 1,
}  # fmt: skip
