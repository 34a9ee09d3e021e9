r"""Undelimited lines: a whole line of prose that is a formula, as `v = 2*pi*r/T`, rewritten as LaTeX.

Any doubt, and the line is left as prose: words of more than three letters, two readings of a denominator (`1/2mv`), a
unit that could be a product of symbols. A line missed costs one formula; a line misread may earn or lose a grade.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from prism.latex.blocks import Block
from prism.latex.words import CONNECTIVES, UNIT_EXPRESSION, UNITS, unit_latex, word_set

_MAX_LINE = 200  # characters of a line that may be a formula; longer ones are prose
_MAX_SYMBOLS = 3  # letters that may be a product of symbols, as `mgh`; more are a word
_BELOW = 13  # tokens looked at below a fraction stroke; more is a denominator whose end nobody sees

_LINE = re.compile(r"^[^\n]+$", re.MULTILINE)
_TOKEN = re.compile(
    r"(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<word>[A-Za-z]+)|(?P<greek>[\u0391-\u03c9ϕϵ])"
    r"|(?P<super>[⁰¹²³⁴-⁹⁺⁻ⁿ]+)|(?P<sub>[₀-₉]+)|(?P<space>[ \t]+)|(?P<sign>\*\*|<=|>=|[-+*/^_=<>()√×·⋅−–±≈≤≥½¼¾°ℏ'′])"
)
_FUNCTIONS = word_set("sin cos tan cot sinh cosh tanh arcsin arccos arctan ln log exp")
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi"
    " omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega phi epsilon"
).split()
_GREEK_LETTERS = dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩϕϵ", ("\\" + name for name in _GREEK), strict=True))
_GREEK_NAMES = frozenset(_GREEK) - {"iota", "upsilon"}  # too rare as symbols to be trusted in prose
# Short words and abbreviations that a product of one-letter symbols would be confused with.
_WORDS = CONNECTIVES | word_set(
    "an the of in it its by be we us our if no not was has can get let now net new use via per all any one two end max"
    " min avg ans eq fig see say set put bar hat dot vec ke pe gpe epe te me emf vs ok hz old too out"
)
_SIGNS = {
    "*": r"\cdot ", "·": r"\cdot ", "⋅": r"\cdot ", "×": r"\times ", "−": "-", "–": "-", "±": r"\pm ", "≈": r"\approx ",
    "<=": r"\le ", ">=": r"\ge ", "≤": r"\le ", "≥": r"\ge ",
    "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "°": r"^{\circ}", "ℏ": r"\hbar ", "′": "'",
}  # fmt: skip
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_RELATION = re.compile(r"<=|>=|[=<>≈≤≥]")
_AMBIGUOUS = re.compile(
    r"^\(\w+\)[ \t]"  # an enumerator: `(a) x = 5`
    r"|^[-+–−][ \t]"  # a bullet or a sign
    r"|[ \t]\(\d+\)$"  # the number of the equation, or a factor
    r"|[ \t]{3}|\t"  # two formulas in columns
    r"|^[*/^)]|[-+*/^(·×−–]$"  # torn off
    r"|<.*>"  # an average, or two orderings that point apart
    r"|(?<![\d)])\^\(\d\)"  # a label in brackets: `H^(1)`
    r"|[=<>≈≤≥]{3}|==|=>|[-+*/]=|<-|->|\d[xX]\d|\d[ \t]+\d|[A-Za-z]\d+[A-Za-z]"
)
_TWO_FORMULAS = re.compile(r"\d[ \t]+[A-Za-z]\w*$")  # in a member that another follows: `x = 1 y = 2`
_UNIT = re.compile(rf"(?<=[\d)⁰²³¹⁴-⁹])(?:[ \t]+|(?=°))({UNIT_EXPRESSION.pattern})$")
_SURE_UNITS = frozenset(("m/s", "m/s^2", "m/s²", "rad/s", "°C", "°F"))  # of one letter each, but hardly symbols
_OPERANDS = word_set("number word greek")
_DIFFERENTIAL = re.compile("d[A-Za-zα-ω]")
_SCRIPTS = {"^": "^", "**": "^", "_": "_"}
_UNREAD = ("", 0)  # LaTeX and number of tokens of what cannot be read


def plain_lines(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """Lines that lie outside every block and are a formula from end to end."""
    starts = sorted((block.outer_start, block.outer_end) for block in blocks)
    ends = [end for _, end in starts]
    for line in _LINE.finditer(text):
        if line.end() - line.start() > _MAX_LINE or not _RELATION.search(text, *line.span()):
            continue
        at = bisect_right(ends, line.start())
        if at < len(starts) and starts[at][0] < line.end():
            continue
        source = line.group()
        inner = source.strip().removeprefix("* ").removeprefix("• ").rstrip(" \t.,;\r")
        for mark in ("**", "*"):  # set in bold or in italics
            if inner.startswith(mark) and inner.endswith(mark) and inner.count(mark) == 2:
                inner = inner[len(mark) : -len(mark)]
                break
        inner = inner.strip()
        if latex := _plain_latex(inner):
            start = line.start() + source.index(inner)
            end = start + len(inner)
            yield Block(start, end, "plain", start, end, latex)


def _plain_latex(line: str) -> str:
    r"""The line as LaTeX, or nothing if it is not surely a formula.

    >>> _plain_latex("T = 2*pi*sqrt(L/g)")
    'T = 2\\cdot \\pi \\cdot \\sqrt{L/g}'
    >>> _plain_latex("so v = 3")
    ''
    """
    members = [member.strip() for member in _RELATION.split(line)]
    if not ("=" in line or "≈" in line) or _AMBIGUOUS.search(line) or any(map(_TWO_FORMULAS.search, members[:-1])):
        return ""
    parts: list[str] = []
    for member, sign in zip(members, [*_RELATION.findall(line), ""], strict=True):
        latex = _member(member)
        if not latex:
            return ""
        parts += [latex, _SIGNS.get(sign, sign)]
    return " ".join(" ".join(parts).split())


def _member(member: str) -> str:
    """One side of a relation as LaTeX, with the unit at its end."""
    unit = _UNIT.search(member)
    tail = ""
    if unit and (unit[1] in _SURE_UNITS or any(len(word) > 1 for word in re.findall(r"[^\W\d_]+", unit[1]))):
        member, tail = member[: unit.start()], unit_latex(unit[1])
    member = re.sub(r"(?<![A-Za-z])sqrt[ \t]?(?=\()", "√", member)
    tokens = list(_TOKEN.finditer(member))
    if not tokens or sum(token.end() - token.start() for token in tokens) < len(member) or _is_doubtful(tokens):
        return ""
    parts: list[str] = []
    brackets: list[str] = []  # what closes each bracket that is open
    at = 0
    while at < len(tokens):
        word, step = _read(tokens, at, brackets)
        if not step:
            return ""
        parts.append(word)
        at += step
    return "" if brackets else "".join(parts).strip() + tail


def _is_doubtful(tokens: Sequence[re.Match[str]]) -> bool:
    """Whether a person could read it two ways: `1/2mv` and `1/4πε` group differently, `5 mm` is not 5·m·m."""
    for at, token in enumerate(tokens):
        before = tokens[at - 2] if at > 1 and tokens[at - 1]["space"] else tokens[at - 1] if at else None
        is_number = before is not None and bool(before["number"] or before["super"])
        if token["word"] and is_number and len(token.group()) > 1 and token.group() in UNITS - {"mg"}:
            return True
        is_exponent = at > 1 and tokens[at - 2].group() in ("^", "_")
        below = tokens[at + 1 : at + 1 + _BELOW]
        if token.group() == "/" and _is_doubtful_below(below, is_number and not is_exponent):
            return True
    return False


def _is_doubtful_below(rest: Sequence[re.Match[str]], above_is_number: bool) -> bool:
    """Whether it is open how far a denominator without brackets reaches."""
    rest = rest[1:] if rest and rest[0]["space"] else rest
    if len(rest) > 1 and rest[0].group() in ("Δ", "δ", "d") and rest[1]["greek"]:
        rest = rest[1:]
    if not rest:
        return True
    first = rest[0]
    name = first.group()
    if first.lastgroup not in _OPERANDS:
        return False
    if first["word"] and len(name) > 1 and name not in _GREEK_NAMES and not _DIFFERENTIAL.fullmatch(name):
        return name not in _FUNCTIONS or len(rest) < 2 or rest[1].group() != "("
    after = 1
    while after < len(rest) and _is_script(rest, after):
        after += 1
    is_apart = after < len(rest) and bool(rest[after]["space"])
    after += is_apart
    if after >= len(rest) or (rest[after].lastgroup not in _OPERANDS and (is_apart or rest[after].group() != "(")):
        return False
    return not (is_apart and ((above_is_number and first["number"]) or name.startswith("d")))


def _is_script(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """A sub- or superscript on what stands before: `₀`, `²`, `_max`, `^2`, and the `1` of `x1`."""
    token, before = tokens[at], tokens[at - 1]
    if token["super"] or token["sub"] or token.group() in ("'", "′", "_", "^"):
        return True
    return before.group() in ("_", "^") or bool(token["number"] and before["word"])


def _read(tokens: Sequence[re.Match[str]], at: int, brackets: list[str]) -> tuple[str, int]:
    """LaTeX of the tokens from `at` on, and how many were used; 0 if they cannot be read."""
    token = tokens[at]
    word = token.group()
    if token["number"]:
        return _number(tokens, at)
    if token["word"]:
        return _word(tokens, at)
    if token["greek"]:
        return (f"{_GREEK_LETTERS[word]} ", 1) if word in _GREEK_LETTERS else _UNREAD
    if token["super"]:
        return f"^{{{word.translate(_SUPERSCRIPTS)}}}", 1
    if token["sub"]:
        return f"_{{{word.translate(_SUBSCRIPTS)}}}", 1
    if word in _SCRIPTS:
        return _script(tokens, at, brackets, _SCRIPTS[word])
    if word == "√":
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        if following and following.group() == "(":
            brackets.append("}")
            return r"\sqrt{", 2
        inner, used = _read(tokens, at + 1, brackets) if following and not following["sign"] else _UNREAD
        return (rf"\sqrt{{{inner.strip()}}}", used + 1) if used else _UNREAD
    if word == "(":
        brackets.append(")")
        return "(", 1
    if word == ")":
        return (brackets.pop(), 1) if brackets else _UNREAD
    return (" " if token["space"] else _SIGNS.get(word, word)), 1


def _number(tokens: Sequence[re.Match[str]], at: int) -> tuple[str, int]:
    """A number, or the index of the symbol that it follows: `x1`, `ln2`, `log10(x)`."""
    word = tokens[at].group()
    before = tokens[at - 1] if at else None
    if before and before.group() == "log":
        return _UNREAD if word == "2" else (f"_{{{word}}}", 1)  # `log2` may be a base
    if before and before.group() in _FUNCTIONS:
        return word, 1
    if before and (before["word"] or before["greek"]):
        return (f"_{{{word}}}", 1) if word.isdigit() else _UNREAD
    digits, _, power = word.lower().partition("e")
    return (rf"{digits}\times 10^{{{int(power)}}}" if power else word), 1


def _word(tokens: Sequence[re.Match[str]], at: int) -> tuple[str, int]:
    """A name or a product of up to three symbols; a word of the language is neither."""
    token = tokens[at]
    word = token.group()
    if word == "at":
        last = next((other for other in reversed(tokens[:at]) if not other["space"]), None)
        is_tight = last is not None and last["sign"] and last.end() == token.start() and last.group() != "("
        is_last = at + 1 == len(tokens) and (last is None or last["sign"])
        return (word, 1) if is_tight or is_last else _UNREAD  # `v = u + at`, `½at²`; elsewhere the English word
    if word in _GREEK_NAMES or word in _FUNCTIONS:
        return f"\\{word} ", 1
    return _UNREAD if len(word) > _MAX_SYMBOLS or word.lower() in _WORDS else (word, 1)


def _script(tokens: Sequence[re.Match[str]], at: int, brackets: list[str], script: str) -> tuple[str, int]:
    """`^(...)`, `^-6`, `^x`, `_max`: the argument of a script, braced."""
    if at + 1 == len(tokens):
        return _UNREAD
    first = tokens[at + 1]
    word = first.group()
    if word == "(":
        brackets.append("}")
        return script + "{", 2
    if script == "^" and word in ("-", "−", "+") and at + 2 < len(tokens) and tokens[at + 2]["number"]:
        return f"^{{{'-' if word != '+' else ''}{tokens[at + 2].group()}}}", 3
    is_digits = first["number"] and word.replace(".", "").isdigit()
    is_name = first["greek"] or (first["word"] and (script == "_" or len(word) == 1))
    return (f"{script}{{{_GREEK_LETTERS.get(word, word)}}}", 2) if is_digits or is_name else _UNREAD
