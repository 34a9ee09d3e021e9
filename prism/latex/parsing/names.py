r"""Passes over flat tokens, before anything is nested: names of several letters, angle brackets, spelling of names.

`rewrite_flat_tokens` joins what one symbol is written with (`KE`, `Re = ...`) and marks `<x>` as brackets: a name takes
scripts as one symbol, a bracket encloses, so both have to be known before nesting. Only what no author writes for
anything else is joined; every other run of letters stays a product.

`spell_name` gives a name one spelling, whatever its fonts, blanks and braces: it only has to be equal to itself, and
two authors who mean the same symbol have to meet in it. Nothing here nests tokens or reads mathematics, so that the
readers of `leaves`, `brackets` and `tree` can ask for a spelling at any place, also where the reading of it has failed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from prism.latex.parsing.species import with_species
from prism.latex.parsing.tokens import (
    FUNCTIONS,
    NAMES,
    RELATION_TEXT,
    TYPES,
    VARIANTS,
    Ambiguity,
    Fault,
    Token,
    describe_token,
    has_type,
    nesting_change,
)

TEXT_MODE = frozenset((r"\text", r"\textrm", r"\textnormal", r"\mbox", r"\hbox", r"\textit", r"\textsf", r"\textup",
                       r"\textmd", r"\emph"))  # fmt: skip
ROMAN = TEXT_MODE | {r"\mathrm", r"\operatorname", r"\mathsf", r"\mathtt", r"\mathit", r"\mathnormal", r"\mathup",
                     r"\zu"}  # fmt: skip
_VECTORS = (r"\vec", r"\mathbf", r"\boldsymbol", r"\bm", r"\overrightarrow", r"\pmb", r"\textbf", r"\mathbfit", r"\vb",
            r"\va", r"\vc", r"\vectorbold", r"\bold", r"\overleftarrow", r"\Vec", r"\mathbold", r"\bs",
            r"\vv")  # fmt: skip
BOLD = frozenset(_VECTORS) - {r"\vec", r"\overrightarrow"}
ACCENTS = {**dict.fromkeys(_VECTORS, r"\vec"), r"\bar": r"\bar", r"\overline": r"\bar", r"\Bar": r"\bar",
           r"\hat": r"\hat", r"\widehat": r"\hat", r"\vu": r"\hat", r"\uvec": r"\hat", r"\Hat": r"\hat",
           r"\tilde": r"\tilde", r"\widetilde": r"\tilde", r"\Tilde": r"\tilde", r"\mathcal": r"\mathcal",
           r"\mathbb": r"\mathbb", r"\mathscr": r"\mathcal", r"\mathfrak": r"\mathfrak", r"\check": r"\check",
           r"\breve": r"\breve", r"\underline": r"\underline", r"\mathring": r"\mathring", r"\acute": r"\acute",
           r"\grave": r"\grave", r"\overleftrightarrow": r"\overleftrightarrow", r"\overparen": r"\overparen",
           r"\wideparen": r"\overparen", r"\overarc": r"\overparen", r"\undertilde": r"\underline",
           r"\slashed": r"\slashed"}  # fmt: skip
PREFIXES = (r"\Delta", r"\delta")  # with the symbol behind it, the name of a change
DOTS = {r"\dot": "1", r"\ddot": "2", r"\dddot": "3"}
SWITCHES = {r"\rm": r"\mathrm", r"\bf": r"\mathbf", r"\it": r"\mathit", r"\cal": r"\mathcal", r"\sf": r"\mathsf",
             r"\bfseries": r"\mathbf", r"\em": r"\mathit", r"\boldmath": r"\mathbf"}  # fmt: skip
FRACTIONS = frozenset((r"\frac", r"\dfrac", r"\tfrac", r"\cfrac", r"\nicefrac", r"\sfrac"))
UNWRAPPED = frozenset((r"\boxed", r"\fbox", r"\mathclose", r"\mathopen", r"\framebox"))
ONLY_IN_NAMES = frozenset((r"\perp", r"\parallel", r"\odot", r"\oplus", r"\ominus", r"\star", r"\dagger", r"\dag",
                             r"\uparrow", r"\downarrow", r"\leftarrow", r"\circ", r"\bullet", r"\degree", r"\bot",
                             r"\ddagger", r"\ddag",
                             r"\AA", r"\sun", r"\earth", r"\triangle", r"\square", r"\_", r"\#",
                             r"\emptyset", r"\top", r"\natural", r"\sharp", r"\flat", r"\angle", r"\intercal",
                             r"\varodot", r"\Box", r"\diamond", r"\bigcirc", r"\blacksquare", r"\prime"))  # fmt: skip
_LABELS = frozenset((r"\ast", r"\star", r"\dagger", r"\dag", r"\ddagger", r"\ddag", r"\top", r"\perp", r"\parallel",
                     "*", "+",
                     "-", r"\pm", r"\circ", r"\degree", r"\intercal", r"\oplus", r"\ominus", r"\|",
                     r"\odot"))  # fmt: skip
_TRANSPOSED = frozenset((r"\top", r"\intercal"))  # the label of `A^{\mathrm{T}}`
_DROPPED_IN_NAMES = frozenset((r"\substack", r"\scriptstyle", r"\limits", r"\sb", r"\sp"))  # in the spelling of a name
_MAX_STARRED = 6  # tokens of a superscript that ends in a star: `m'*`, `-1*`
_MAX_LABEL = 3  # tokens between the brackets of a label: `(1)`, `(1,2)`; more is a power in brackets

_TAKES_NEXT = ROMAN | ACCENTS.keys() | UNWRAPPED  # commands whose argument belongs to the argument they begin
_NO_ARGUMENT = frozenset(("END", "}", "AMP", "ROW", "FINISH", "CLOSE", "^", "_"))
_ENDS_IN_COMMAND = re.compile(r"\\[a-zA-Z]+$")


# Spelling ---------------------------------------------------------------------------------------------------


def flat_argument(tokens: list[Token], index: int) -> tuple[list[Token], int]:
    """Return the flat tokens of the TeX argument at an index, without its braces, and the index behind it.

    Errors:
        Fault: no argument begins there, or its brace is never closed.
    """
    start = index
    while tokens[index].type == "command" and tokens[index].text in _TAKES_NEXT:
        index += 1
    heads = tokens[start:index]
    token = tokens[index]
    if token.type in _NO_ARGUMENT:
        raise Fault(token.pos, describe_token(token), "an argument")
    if token.text in FRACTIONS:
        after = _end_of_fraction(tokens, index + 1)
        return [*heads, *tokens[index:after]], after
    if token.type != "{":
        return [*heads, token], index + 1
    level, after = 1, index + 1
    while level:
        kind = tokens[after].type
        if kind == "END":
            raise Fault(tokens[after].pos, "the end of the formula", "a closing brace")
        level += (kind == "{") - (kind == "}")
        after += 1
    return [*heads, *tokens[index + 1 : after - 1]], after


def _end_of_fraction(tokens: list[Token], index: int) -> int:
    r"""Return the index behind the numerator and denominator of a fraction without braces around it: `T_\frac12`."""
    if tokens[index].type == "number" and len(tokens[index].text) == 2:
        return index + 1
    return flat_argument(tokens, flat_argument(tokens, index)[1])[1]


def spell_name(tokens: Sequence[Token], *, folds: frozenset[str] = frozenset()) -> str:
    r"""Return one spelling of a name: blanks, fonts and braces dropped, other commands kept (`\mathrm{max}` is `max`).

    Args:
        folds: letters whose variants keep their own spelling, as `\varepsilon` where `\epsilon` stands beside it.

    Errors:
        Fault: a command that has no place in a name.
    """
    out = ""
    index = 0
    flat = [*tokens, Token("END", "", tokens[-1].pos if tokens else 0)]
    while index < len(tokens):
        token = flat[index]
        index += 1
        text = token.text
        if token.type in ("{", "}"):
            continue
        if token.type in ("_", "^"):
            inner, index = flat_argument(flat, index)
            out += token.text + brace_script(spell_name(inner, folds=folds))
            continue
        if token.type == "PRIME":
            text = "'"
        elif text[:1] == "\\" and text[1:].isalpha():
            text, index = _spell_command_in_name(flat, index, text, token.pos, folds)
        if out and text[:1].isalpha() and _ENDS_IN_COMMAND.search(out):
            out += " "
        out += text
    return out


def brace_script(text: str) -> str:
    """Return a sub- or superscript of a name in braces, or bare if it is one character or one command."""
    single = len(text) == 1 or (text[:1] == "\\" and text[1:].isalpha())
    return text if single else f"{{{text}}}"


def _spell_command_in_name(
    flat: list[Token], index: int, text: str, pos: int, folds: frozenset[str]
) -> tuple[str, int]:
    """Return the spelling of one command inside a name, and the index behind its arguments.

    Args:
        flat: tokens of the name, END last.
        index: of the token behind the command.
        text: the command.
        pos: offset of the command, for the Fault.
        folds: as in `spell_name`.
    """
    if text in ROMAN or text in SWITCHES or text in UNWRAPPED or text in _DROPPED_IN_NAMES:
        return "", index
    if text == r"\sqrt":
        inner, index = flat_argument(flat, index)
        return f"sqrt({spell_name(inner, folds=folds)})", index
    if text in VARIANTS and VARIANTS[text] not in folds:
        return VARIANTS[text], index
    if text in ACCENTS or text in DOTS:
        inner, index = flat_argument(flat, index)
        part = spell_name(inner, folds=folds)
        return f"{ACCENTS.get(text, text)}{{{part}}}", index
    if text in FRACTIONS:
        if flat[index].type == "number" and len(flat[index].text) == 2:  # `T_{\frac12}`
            return "/".join(flat[index].text), index + 1
        top, index = flat_argument(flat, index)
        below, index = flat_argument(flat, index)
        return f"{spell_name(top, folds=folds)}/{spell_name(below, folds=folds)}", index
    if text[1:] in FUNCTIONS:
        return text[1:], index
    if text in TYPES or text in ONLY_IN_NAMES:
        return text, index
    raise Fault(pos, f"the command {text} inside a name, which is not read")


def superscript_label(tokens: Sequence[Token]) -> str | None:
    r"""Return the spelling of a superscript that is part of a name (`*`, `(1)`, `\dagger`, `2+`); None for a power."""
    if not tokens:
        return None
    first, last = tokens[0], tokens[-1]
    if len(tokens) == 2 and first.type == "number" and last.type in ("PLUS", "MINUS"):
        return spell_name(tokens)  # an ion
    if len(tokens) == 1 and first.text in _TRANSPOSED:
        return "T"
    if first.text in _LABELS and all(token.text in _LABELS or token.type == "PRIME" for token in tokens):
        return spell_name(tokens)
    if _is_list_of_indices(tokens):
        return spell_name(tokens)
    if last.text in _STARS and len(tokens) <= _MAX_STARRED and all(token.type in _STARRED for token in tokens[:-1]):
        return spell_name(tokens)
    if first.text in ("(", "[") and last.type == "CLOSE" and _first_bracket_closes_last(tokens):
        inside = tokens[1:-1]
        allowed = _IN_BRACKETS if first.text == "(" else ("number",)
        if 0 < len(inside) <= _MAX_LABEL and all(token.type in allowed for token in inside):
            return f"{first.text}{spell_name(inside)}{last.text}"
        return None
    if first.type == "command" and first.text in ROMAN:
        inner, after = tokens[1:], len(tokens)  # of `^\text{in}`
        if inner[:1] and inner[0].type == "{":
            inner, after = flat_argument([*tokens, Token("END", "", last.pos)], 1)
        if inner and after == len(tokens) and all(token.type in _IN_LABEL for token in inner):
            word = spell_name(inner)
            return word if len(word) > 1 or word == "T" else None
    return None


def _is_list_of_indices(tokens: Sequence[Token]) -> bool:
    """Return True for indices with commas between them, `a,b`; two numbers alone, `1,5`, may be a decimal."""
    kinds = [token.type for token in tokens if token.type not in ("{", "}", "PRIME")]
    places = kinds[::2]
    is_list = len(kinds) > 2 and len(kinds) % 2 == 1 and set(kinds[1::2]) == {"COMMA"} and "letter" in places
    return is_list and {"letter", "number"}.issuperset(places)


_IN_LABEL = frozenset(("letter", "mark", "MINUS", "OPEN", "CLOSE"))
_STARS = frozenset(("*", r"\ast", r"\star", r"\dagger", r"\dag"))
_IN_BRACKETS = frozenset(("number", "letter", "COMMA", "PRIME"))
_STARRED = frozenset(("letter", "number", "PRIME", "MINUS", "PLUS"))


def _first_bracket_closes_last(tokens: Sequence[Token]) -> bool:
    """Return True if the first token is a bracket that the last token closes: true of `(ab)`, false of `(a)(b)`."""
    level = 0
    for index, token in enumerate(tokens):
        level += (token.type == "OPEN") - (token.type == "CLOSE")
        if level == 0:
            return index == len(tokens) - 1
    return False


def split_name(name: str) -> tuple[str, str]:
    """Split the name of a symbol at its first prime or script: `v_0'` into `v` and `_0'`, `x` into `x` and nothing."""
    level = 0
    for index, char in enumerate(name):
        level += (char == "{") - (char == "}")
        if level == 0 and char in "_'^":
            return name[:index], name[index:]
    return name, ""


# Rewriting flat tokens ---------------------------------------------------------------------------------------

# Dimensionless numbers, where they are defined (`Re = ...`); elsewhere `Pr` is a product.
NUMBERS_OF_FLOW = frozenset(("Re", "Pr", "Nu", "Gr", "Ra", "Bi", "Fo", "Kn", "St", "We", "Fr", "Pe", "Sc", "Sh", "Ma"))
_DEFINED = re.compile(r"[\s$&]*[A-Z][a-z]\s*=")
# `2Re a` and `Im b` typed in italics; with a bracket they are functions, and `Re^{x}` is a product.
_LONE_PART = re.compile(r"(?<![A-Za-z\\{])(?:Re|Im)(?![A-Za-z^_({\[])(?!\s*(?:=|\\left|\(|\[))")
_REYNOLDS = re.compile(r"(?<![A-Za-z\\])Re(?:\^\{?0?\.\d|_\{?[xDLd]\}?(?![A-Za-z]))")  # `Re^{i\theta}` is R e^{...}
_CAPITALS = re.compile(r"(?:^|[,;&$]|quad|\\)\s*([A-Z]{3,})\s*&?\s*=")  # one name on a left side, `NTU = UA/C`
_MAX_ANGLE_TOKENS = 60  # tokens between `<` and `>`; a pair further apart is two relations

_FACTORS = ACCENTS.keys() | FRACTIONS | {r"\sqrt"}  # commands before which a full stop is a product sign
_SHORTEST_LABELLED = len("1.a=b")
_SHORTEST_NAME = 5  # letters with blanks between them that are one name where they spell it; fewer are a product
_BEFORE_INTERVALS = frozenset((r"\in", r"\notin", r"\cup", r"\cap", r"\setminus"))
_UPRIGHT_D = r"(?:(?<![A-Za-z])D|\\(?:mathrm|text|rm)\s*\{?\s*D\s*\}?)\s*"
_MATERIAL = re.compile(
    _UPRIGHT_D + r"(?:[A-Za-z]|\\[A-Za-z]+\s*(?:\{\s*[A-Za-z]\s*\})?)?\s*/\s*" + _UPRIGHT_D + r"t(?![A-Za-z])"
)
_GLUED_SIGNS = re.compile(r"\+-|-\+")
_NUMERALS = re.compile(r"\\(?:num|SI|qty)\s*(?:\[[^\[\]]*\])?\s*\{[^{}]*\}")  # in them `+-` is an uncertainty

CONJUGATES = {"hc": r"\h.c.", "cc": r"\c.c."}  # abbreviations, and the commands that stand for them
_CONJUGATE = re.compile(r"[hHcC]\.\s*[cC]")
_MAX_CONJUGATES = 3  # nested ones would double the formula each time

_ANGLE_STOPS = frozenset(("REL", "COMMA", "ROW", "IMPLIES", "END", "OR"))
_BAR_ENDS = _ANGLE_STOPS | {"BAR"}
_LIST_ENDS = _ANGLE_STOPS - {"COMMA"}  # nothing before the `<` that it could relate
_BEFORE_ANGLE = _ANGLE_STOPS | {"PLUS", "MINUS", "PM", "TIMES", "SLASH", "{", "OPEN", "^"}
_BEHIND_ANGLE = _ANGLE_STOPS | {"PLUS", "MINUS", "PM", "TIMES", "SLASH", "}", "CLOSE", "^", "_", "BAR", "AMP"}


def rewrite_flat_tokens(tokens: list[Token], latex: str, words: frozenset[str]) -> list[Token]:
    """Rewrite flat tokens before nesting: join known names (`KE`) into one letter, mark `<x>` as a pair of brackets.

    An array that only aligns is dropped, and the `!=` of `n!=6` split into factorial and equals sign.

    Args:
        tokens: of `tokenize`, END last.
        latex: the text that they were cut from.
        words: names of several letters that the problem declares.

    Errors:
        Ambiguity: two adjacent signs (`+-`), or an italic `Re` or `Im` that may be a product.
    """
    if ("+-" in latex or "-+" in latex) and (glued := _GLUED_SIGNS.search(_NUMERALS.sub(_blank, latex))):
        raise Ambiguity(glued.start(), "two signs run together: plus or minus, or a signed term?", r"\pm", "brackets")
    if "!=" in latex and ("\\" in latex or latex.count("!") > 1):
        tokens = [part for token in tokens for part in _split_factorial_equals(token)]
    if (lone := _LONE_PART.search(latex)) is not None and lone.group() not in words:
        raise Ambiguity(lone.start(), f"`{lone.group()}` in italics: a part of a number, or a product?", r"\Re",
                        r"\operatorname{Im}")  # fmt: skip
    if "/" in latex and (material := _MATERIAL.search(latex)) is not None:
        raise Fault(material.start(), "a material derivative, which is not read", "its terms written out")
    tokens = with_species(tokens, latex) if "[" in latex else tokens
    if (dissolved := latex.find("(aq)")) >= 0:
        raise Fault(dissolved, "a substance in water", "mathematics only", kind="chemistry")
    if "ig" in latex and ("|" in latex or "vert" in latex):
        tokens = _lone_bars(tokens)
    if latex.count("||") % 2 and latex.count("||") > 1:
        tokens = _moduli_of_moduli(tokens)
    if r"\right." in latex and r"\langle" in latex:
        tokens = _bras_without_bar(tokens)
    if "+)" in latex or "-)" in latex:
        tokens = _sides_of_arguments(tokens)
    if r"." in latex and "\\" in latex:
        tokens = _products_by_a_stop(tokens)
    if tokens[0].type == "number" and len(tokens) > _SHORTEST_LABELLED:
        tokens = _without_number_of_list(tokens)
    if [token.type for token in tokens[-5:-1]] == ["OPEN", "number", "number", "CLOSE"] and has_type(tokens, "REL"):
        tokens = [*tokens[:-5], tokens[-1]] if not tokens[-3].gap else tokens  # the number `(22.3.6)` of a formula
    if "]" in latex and r"\in" in latex:
        tokens = _intervals_by_brackets_outward(tokens)
    if r"\div" in latex:
        tokens = _divergences(tokens)
    if tokens[0].type == "BEGIN":
        tokens = _drop_layout_array(tokens)
    if r"\langle" in latex and "{" in latex:
        tokens = _without_braces_in_angles(tokens)
    if _CONJUGATE.search(latex):
        tokens = _conjugates(tokens)
    if "<" in latex or ">" in latex or r"\lt" in latex:
        tokens = _mark_angle_brackets(tokens)
    words |= {
        name for name in _CAPITALS.findall(latex) if not set(name) <= set(re.sub(rf"\\[A-Za-z]+|{name}", "", latex))
    }
    if words or "E." in latex or _DEFINED.match(latex):
        tokens = _join_names(tokens, words)
    elif "Re" in latex and _REYNOLDS.search(latex):
        tokens = _join_names(tokens, frozenset(("Re", "Pr")))
    return tokens


def _lone_bars(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens with a plain bar for each `\Bigr|` before a script that no `\Bigl|` stands before."""
    out: list[Token] = []
    n_open = 0
    for token, behind in pairwise((*tokens, tokens[-1])):
        is_sized = bool(token.raw) and token.raw[0].type == "sized"
        if is_sized and token.type == "CLOSE" and not n_open and behind.type in ("_", "^"):
            out.append(Token("BAR", token.text, token.pos, token.gap))
            continue
        n_open = max(0, n_open + nesting_change(token)) if is_sized else n_open
        out.append(token)
    return out


def _moduli_of_moduli(tokens: list[Token]) -> list[Token]:
    """Return the tokens with the outer bars of `||x||y||` as brackets: of three double bars none is a norm."""
    bars = [at for at, token in enumerate(tokens) if token.type == "BAR"]
    pairs = list(zip(bars[::2], bars[1::2], strict=False))
    outer = {bars[0]: "OPEN", bars[-1]: "CLOSE"} if len(bars) % 2 == 0 and pairs else {}
    if not outer or tokens[bars[0] - 1].type not in _BEFORE_ANGLE | {"number"}:
        return tokens
    if any(two != one + 1 for one, two in pairs):
        return tokens
    return [replace(token, type=outer[at]) if at in outer else token for at, token in enumerate(tokens)]


def _bras_without_bar(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens with the bar of each bra that nothing closes, as in `\left\langle x \right. |y\rangle`."""
    out: list[Token] = []
    opened: list[str] = []
    for token in tokens:
        if token.type == "OPEN":
            opened.append(token.text)
        begun = opened.pop() if token.type == "CLOSE" and opened else ""
        out.append(replace(token, text="|") if begun == r"\langle" and token.text == "." else token)
    return out


def _sides_of_arguments(tokens: list[Token]) -> list[Token]:
    """Return the tokens with the sign of an argument as its superscript, `i(0+)` as `i(0^+)`: from which side it is."""
    out: list[Token] = []
    for at, token in enumerate(tokens):
        around = [part.type for part in tokens[max(0, at - 3) : at]]
        is_side = token.type in ("PLUS", "MINUS") and around[-2:] == ["OPEN", "number"] and not token.gap
        if is_side and tokens[at + 1].text == ")" and around[:1] in (["letter"], ["number"], ["}"]):
            out.append(Token("^", "^", token.pos))
        out.append(token)
    return out


def _products_by_a_stop(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens with a product sign for each full stop that touches a command behind it: `\vec F.\vec s`."""
    out: list[Token] = []
    for before, token, behind in zip((tokens[-1], *tokens), tokens, (*tokens[1:], tokens[-1]), strict=False):
        is_operand = before.type in ("letter", "}", "CLOSE") and behind.type == "command"
        if token.type == "mark" and token.text == "." and is_operand and not behind.gap and behind.text in _FACTORS:
            out.append(Token("TIMES", r"\cdot", token.pos, token.gap))
        else:
            out.append(token)
    return out


def _without_number_of_list(tokens: list[Token]) -> list[Token]:
    """Return the tokens without the number of a list before a formula, `1. E = mc^2`."""
    number, stop, first = tokens[:3]
    is_label = number.text.isdigit() and len(number.text) <= len("99") and stop.text == "." and not stop.gap
    return tokens[2:] if is_label and first.gap and first.type == "letter" and has_type(tokens, "REL") else tokens


def _intervals_by_brackets_outward(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens with round brackets for those that turn away from an interval, as in `x \in ]0, 1[`."""
    out = list(tokens)
    for at, token in enumerate(tokens[:-1]):
        opening = tokens[at + 1]
        if opening.text not in ("[", "]") or token.text not in _BEFORE_INTERVALS:
            continue
        end = next((index for index in range(at + 2, len(tokens)) if tokens[index].text in ("[", "]")), at)
        if sum(part.type == "COMMA" for part in tokens[at + 2 : end]) == 1:
            if opening.text == "]":
                out[at + 1] = replace(opening, type="OPEN", text="(")
            if tokens[end].text == "[":
                out[end] = replace(tokens[end], type="CLOSE", text=")")
    return out


def _without_braces_in_angles(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens without braces around a list that is all an angle bracket holds, `\langle{i,j}\rangle`."""
    out: list[Token] = []
    at = 0
    while at < len(tokens):
        out.append(tokens[at])
        at += 1
        if tokens[at - 1].text == r"\langle" and tokens[at].type == "{":
            end = next(k for k in range(at, len(tokens)) if tokens[k].type in ("}", "END"))
            if tokens[min(end + 1, len(tokens) - 1)].text == r"\rangle" and not has_type(tokens[at + 1 : end], "{"):
                out += tokens[at + 1 : end]
                at = end + 1
    return out


def _conjugates(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens with one command for each `h.c.` and `c.c.` behind a sign, whatever its font and braces.

    Errors:
        Fault: too many of them; each repeats what stands before it.
    """
    out: list[Token] = []
    found = at = 0
    while at < len(tokens):
        one, stop, two = (part.text for part in (*tokens[at : at + 3], *[tokens[-1]] * 3)[:3])
        command = CONJUGATES.get((one + two).lower()) if stop == "." else None
        if command is None:
            out.append(tokens[at])
            at += 1
            continue
        end, start = at + 3 + (tokens[at + 3].text == "."), len(out)
        while start and (out[start - 1].text in ROMAN or out[start - 1].text in SWITCHES or (
            out[start - 1].type == "{" and tokens[end].type == "}"
        )):  # fmt: skip
            start -= 1
            end += out[start].type == "{"
        if not start or out[start - 1].type not in ("PLUS", "MINUS"):
            out.append(tokens[at])
            at += 1
            continue
        found += 1
        out[start:] = [Token("command", command, tokens[at].pos, tokens[at].gap)]
        at = end
    if found > _MAX_CONJUGATES:
        raise Fault(out[0].pos, f"more than {_MAX_CONJUGATES} conjugates in one formula", kind="limit")
    return out


def _divergences(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens with nabla and a product sign for each `\div` that no operand stands before."""
    out: list[Token] = []
    for before, token in pairwise((Token("REL", "", 0), *tokens)):
        if token.text == r"\div" and (before.type in _BEFORE_ANGLE or before.type in ("AMP", "BEGIN")):
            out += [Token("NABLA", "", token.pos, token.gap), Token("TIMES", r"\cdot", token.pos)]
        else:
            out.append(token)
    return out


def _blank(found: re.Match[str]) -> str:
    """Return blanks of the length of a match."""
    return " " * len(found.group())


def _split_factorial_equals(token: Token) -> tuple[Token, ...]:
    r"""Return a token `!=` as a factorial and an equals sign, others as they are; LaTeX writes unequal as `\ne`."""
    if token.type != "REL" or token.text != "!=":
        return (token,)
    return Token("BANG", "!", token.pos, token.gap), Token("REL", "=", token.pos)


def _drop_layout_array(tokens: list[Token]) -> list[Token]:
    """Return the tokens without an array around the whole formula that only aligns rows like `a & = b`."""
    last = tokens[-2] if len(tokens) > 2 else tokens[0]
    if tokens[0].text != "array" or last.type != "FINISH" or last.text != "array":
        return tokens
    aligned = any(
        one.type == "AMP" and two.type == "REL" and RELATION_TEXT[two.text] != "to" for one, two in pairwise(tokens)
    )
    return [*tokens[1:-2], tokens[-1]] if aligned else tokens


def _is_latin_letter(token: Token) -> bool:
    """Return True if a token is one ASCII letter."""
    return token.type == "letter" and len(token.text) == 1 and token.text.isascii()


def _join_names(tokens: list[Token], words: frozenset[str]) -> list[Token]:
    """Join adjacent letters that spell a known name into one letter token; letters that spell more than a name stay.

    Args:
        words: the known names, to which dimensionless numbers of flow (`Re`, `Nu`) are added where one is defined.
    """
    names = words
    out: list[Token] = []
    start = 0
    while start < len(tokens):
        end = _end_of_run(tokens, start, over_blanks=True)
        if end - start < _SHORTEST_NAME or "".join(token.text for token in tokens[start:end]) not in words:
            end = _end_of_run(tokens, start, over_blanks=False)
        first = tokens[start]
        word = "".join(token.text for token in tokens[start:end])
        if word in NUMBERS_OF_FLOW and tokens[end].text == "=" and not has_type(out, "letter"):
            names |= NUMBERS_OF_FLOW  # a formula for one holds others: `Nu = 0.02 Re^{0.8} Pr^{0.4}`
        if word in names:
            out.append(Token("letter", word, first.pos, first.gap))
        elif (abbreviation := _dotted_abbreviation(tokens, start)) is not None:
            out.append(Token("letter", abbreviation, first.pos, first.gap))
            end = start + 2 * len(abbreviation)
        else:
            out += tokens[start:end]
        start = end
    return out


def _end_of_run(tokens: list[Token], start: int, *, over_blanks: bool) -> int:
    """Return the index behind the letters that stand together from an index on, one token at least."""
    end = start + 1
    while end < len(tokens) and _is_latin_letter(tokens[end - 1]) and _is_latin_letter(tokens[end]):
        if tokens[end].gap and not over_blanks:
            break
        end += 1
    return end


def _dotted_abbreviation(tokens: list[Token], start: int) -> str | None:
    """Return the known name that capitals with full stops spell from an index on, `K.E.` as KE; None for no name."""
    word = ""
    index = start
    while _is_latin_letter(tokens[index]) and tokens[index].text.isupper() and tokens[index + 1].text == ".":
        word += tokens[index].text
        index += 2
    return word if word in NAMES else None


def _mark_angle_brackets(tokens: list[Token]) -> list[Token]:
    """Replace `<`, `>` of `<x>` and the `>` of `|a>` by angle brackets; people do not write relations `a < b > c`."""
    tokens = _with_ends_of_kets(tokens)
    out = list(tokens)
    bars = 0  # since the last separator: an even one opens
    for index, token in enumerate(tokens):
        if token.type in _ANGLE_STOPS and token.text not in ("<", ">", r"\lt", r"\gt"):
            bars = 0
        bars += token.type == "BAR"
        if token.type == "BAR" and (bars % 2 == 0 or tokens[index + 1].type in ("_", "^")):
            continue
        if token.type not in ("REL", "BAR") or token.text not in ("<", r"\lt", "|"):
            continue
        stands_alone = index == 0 or tokens[index - 1].type in _BEFORE_ANGLE
        ends = _BAR_ENDS if token.type == "BAR" else _LIST_ENDS if stands_alone else _ANGLE_STOPS
        end = _closing_angle_index(tokens, index, ends)
        if end is None:
            continue
        if token.type == "BAR":
            if tokens[end + 1].type in _BEHIND_ANGLE:
                bars -= 1
                out[end] = Token("CLOSE", r"\rangle", tokens[end].pos, tokens[end].gap)
            continue
        inner = tokens[index:end]
        is_element = any(one.type == two.type == "BAR" for one, two in pairwise(inner))  # `<a||b>`
        listed = has_type(inner, "COMMA")  # `<1, 2>`; `< 1, x > 2` are relations
        if is_element or tokens[end + 1].type in _BEHIND_ANGLE or (stands_alone and not listed):
            out[index] = Token("OPEN", r"\langle", token.pos, token.gap)
            out[end] = Token("CLOSE", r"\rangle", tokens[end].pos, tokens[end].gap)
    return out


def _with_ends_of_kets(tokens: list[Token]) -> list[Token]:
    """Return the tokens with two signs for the arrow of the typed `|->`, and for the `>=` of `|a>=b|c>` and `<x>=y`."""
    out: list[Token] = []
    is_open, level = False, 0  # a bar or `<` before, at the outer level, that nothing has closed yet
    for before, token, behind in zip((tokens[-1], *tokens), tokens, (*tokens[1:], tokens[-1]), strict=False):
        level += nesting_change(token)
        parts = ""
        if token.text == "->" and before.type == "BAR":
            parts = "->"
        elif token.text == ">=" and is_open and level == 0:
            parts = ">="
        types = {"-": "MINUS", ">": "REL", "=": "REL"}
        out += [Token(types[part], part, token.pos, token.gap) for part in parts] or [token]
        if token.type == "BAR" and level == 0:
            is_open = not is_open and behind.type not in ("_", "^")
        elif token.type in _ANGLE_STOPS:
            is_open = token.text in ("<", r"\lt") and before.type in _BEFORE_ANGLE
    return out


def _closing_angle_index(tokens: list[Token], start: int, ends: frozenset[str]) -> int | None:
    """Return the index of the `>` that closes the `<` or bar at `start`; None if none comes before a type in `ends`."""
    level = 0
    for index in range(start + 1, min(len(tokens), start + _MAX_ANGLE_TOKENS)):
        token = tokens[index]
        level += nesting_change(token)
        if level == 0 and token.type == "REL" and token.text in (">", r"\gt"):
            return index if index > start + 1 else None
        types = [part.type for part in tokens[start : index + 3]] if token.text == "=" else []
        if types == ["BAR", "letter", "REL", "number", "REL"]:
            continue  # `|S=0>`
        if level < 0 or (level == 0 and (token.type in ends or token.text in TEXT_MODE)):
            return None
    return None
