r"""What is a name: the spelling of subscripts, labels and roman words, straight from flat tokens.

A name has one spelling, whatever its fonts, blanks and braces: it only has to be equal to itself, and two authors
who mean the same symbol have to meet in it. Nothing here nests tokens or reads mathematics, so that the readers of
`leaves`, `brackets` and `tree` can ask for a spelling at any place, also where the reading of it has failed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prism.latex.parsing.tokens import FUNCTIONS, TYPES, VARIANTS, Fault, Token, describe

TEXT_MODE = frozenset((r"\text", r"\textrm", r"\textnormal", r"\mbox", r"\hbox", r"\textit", r"\textsf", r"\textup",
                       r"\textmd", r"\emph"))  # fmt: skip
ROMAN = TEXT_MODE | {r"\mathrm", r"\operatorname", r"\mathsf", r"\mathtt", r"\mathit", r"\mathnormal", r"\mathup",
                     r"\zu"}  # fmt: skip
_VECTORS = (r"\vec", r"\mathbf", r"\boldsymbol", r"\bm", r"\overrightarrow", r"\pmb", r"\textbf", r"\mathbfit", r"\vb",
            r"\va", r"\vc", r"\vectorbold", r"\boldmath", r"\bold", r"\overleftarrow", r"\Vec", r"\mathbold", r"\bs",
            r"\vv")  # fmt: skip
BOLD = frozenset(_VECTORS) - {r"\vec", r"\overrightarrow"}
ACCENTS = {**dict.fromkeys(_VECTORS, r"\vec"), r"\bar": r"\bar", r"\overline": r"\bar", r"\Bar": r"\bar",
           r"\hat": r"\hat", r"\widehat": r"\hat", r"\vu": r"\hat", r"\uvec": r"\hat", r"\Hat": r"\hat",
           r"\tilde": r"\tilde", r"\widetilde": r"\tilde", r"\Tilde": r"\tilde", r"\mathcal": r"\mathcal",
           r"\mathbb": r"\mathbb", r"\mathscr": r"\mathscr", r"\mathfrak": r"\mathfrak", r"\check": r"\check",
           r"\breve": r"\breve", r"\underline": r"\underline", r"\mathring": r"\mathring", r"\acute": r"\acute",
           r"\grave": r"\grave", r"\overleftrightarrow": r"\overleftrightarrow", r"\overparen": r"\overparen",
           r"\wideparen": r"\overparen", r"\overarc": r"\overparen", r"\undertilde": r"\underline"}  # fmt: skip
PREFIXES = (r"\Delta", r"\delta")  # with the symbol behind it, the name of a change
DOTS = {r"\dot": "1", r"\ddot": "2", r"\dddot": "3"}
SWITCHES = {r"\rm": r"\mathrm", r"\bf": r"\mathbf", r"\it": r"\mathit", r"\cal": r"\mathcal", r"\sf": r"\mathsf",
             r"\bfseries": r"\mathbf", r"\em": r"\mathit"}  # fmt: skip
FRACTIONS = frozenset((r"\frac", r"\dfrac", r"\tfrac", r"\cfrac", r"\nicefrac", r"\sfrac"))
UNWRAPPED = frozenset((r"\boxed", r"\fbox", r"\mathclose", r"\mathopen", r"\framebox"))
ONLY_IN_NAMES = frozenset((r"\perp", r"\parallel", r"\odot", r"\oplus", r"\ominus", r"\star", r"\dagger", r"\dag",
                             r"\uparrow", r"\downarrow", r"\leftarrow", r"\circ", r"\bullet", r"\degree", r"\bot",
                             r"\AA", r"\sun", r"\earth", r"\triangle", r"\square", r"\_", r"\#",
                             r"\emptyset", r"\top", r"\natural", r"\sharp", r"\flat", r"\angle", r"\intercal",
                             r"\varodot", r"\Box", r"\diamond", r"\bigcirc", r"\blacksquare", r"\prime"))  # fmt: skip
_LABELS = frozenset((r"\ast", r"\star", r"\dagger", r"\dag", r"\ddagger", r"\top", r"\perp", r"\parallel", "*", "+",
                     "-", r"\pm", r"\circ", r"\degree", r"\intercal", r"\oplus", r"\ominus", r"\|",
                     r"\odot"))  # fmt: skip
_TRANSPOSED = frozenset((r"\top", r"\intercal"))  # the label of `A^{\mathrm{T}}`
_NO_MATTER = frozenset((r"\substack", r"\scriptstyle", r"\limits", r"\sb", r"\sp"))  # in the spelling of a name
_MAX_STARRED = 6  # tokens of a superscript that ends in a star: `m'*`, `-1*`
_MAX_LABEL = 3  # tokens between the brackets of a label: `(1)`, `(1,2)`; more is a power in brackets

_TAKES_NEXT = ROMAN | ACCENTS.keys() | UNWRAPPED  # commands whose argument belongs to the argument they begin
_NO_ARGUMENT = frozenset(("END", "}", "AMP", "ROW", "FINISH", "CLOSE", "^", "_"))
_ENDS_IN_COMMAND = re.compile(r"\\[a-zA-Z]+$")


def argument_at(tokens: list[Token], index: int) -> tuple[list[Token], int]:
    """Flat tokens of one TeX argument, without its braces, and the index behind it."""
    start = index
    while tokens[index].type == "command" and tokens[index].text in _TAKES_NEXT:
        index += 1
    heads = tokens[start:index]
    token = tokens[index]
    if token.type in _NO_ARGUMENT:
        raise Fault(token.pos, describe(token), "an argument")
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


def spell(tokens: Sequence[Token], *, folds: frozenset[str] = frozenset()) -> str:
    r"""One spelling of flat tokens inside a name: without blanks and fonts, commands kept.

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
            inner, index = argument_at(flat, index)
            out += token.text + enclosed(spell(inner, folds=folds))
            continue
        if token.type == "PRIME":
            text = "'"
        elif text[:1] == "\\" and text[1:].isalpha():
            text, index = _spell_command(flat, index, text, token.pos, folds)
        if out and text[:1].isalpha() and _ENDS_IN_COMMAND.search(out):
            out += " "
        out += text
    return out


def enclosed(text: str) -> str:
    """A script of a name: in braces unless it is one character or one command."""
    single = len(text) == 1 or (text[:1] == "\\" and text[1:].isalpha())
    return text if single else f"{{{text}}}"


def _spell_command(flat: list[Token], index: int, text: str, pos: int, folds: frozenset[str]) -> tuple[str, int]:
    """Spelling of one command inside a name, and the index behind its arguments."""
    if text in ROMAN or text in SWITCHES or text in UNWRAPPED or text in _NO_MATTER:
        return "", index
    if text == r"\sqrt":
        inner, index = argument_at(flat, index)
        return f"sqrt({spell(inner, folds=folds)})", index
    if text in VARIANTS and VARIANTS[text] not in folds:
        return VARIANTS[text], index
    if text in ACCENTS or text in DOTS:
        inner, index = argument_at(flat, index)
        part = spell(inner, folds=folds)
        return f"{ACCENTS.get(text, text)}{{{part}}}", index
    if text in FRACTIONS:
        top, index = argument_at(flat, index)
        below, index = argument_at(flat, index)
        return f"{spell(top, folds=folds)}/{spell(below, folds=folds)}", index
    if text[1:] in FUNCTIONS:
        return text[1:], index
    if text in TYPES or text in ONLY_IN_NAMES:
        return text, index
    raise Fault(pos, f"the command {text} inside a name, which is not read")


def label_of(tokens: Sequence[Token]) -> str | None:
    r"""The spelling of a superscript that is a label (`*`, `(1)`, `\dagger`), None if it is a power."""
    if not tokens:
        return None
    first, last = tokens[0], tokens[-1]
    if len(tokens) == 2 and first.type == "number" and last.type in ("PLUS", "MINUS"):
        return spell(tokens)  # an ion
    if len(tokens) == 1 and first.text in _TRANSPOSED:
        return "T"
    if all(token.text in _LABELS for token in tokens):
        return spell(tokens)
    if last.text in _STARS and len(tokens) <= _MAX_STARRED and all(token.type in _STARRED for token in tokens[:-1]):
        return spell(tokens)
    if first.type == "OPEN" and first.text == "(" and last.type == "CLOSE" and _closes_at_end(tokens):
        inside = tokens[1:-1]
        if 0 < len(inside) <= _MAX_LABEL and all(token.type in _IN_BRACKETS for token in inside):
            return f"({spell(inside)})"
        return None
    if first.type == "command" and first.text in ROMAN:
        inner, after = argument_at([*tokens, Token("END", "", last.pos)], 1)
        if after == len(tokens) and all(token.type in _IN_LABEL for token in inner):
            word = spell(inner)
            return word if len(word) > 1 or word == "T" else None
    return None


_INDICES = frozenset(
    (r"\mu", r"\nu", r"\rho", r"\sigma", r"\alpha", r"\beta", r"\lambda", r"\kappa", r"\gamma", r"\delta")
)
_LATIN_INDICES = frozenset("ijkl")


def is_index(name: str, tokens: Sequence[Token]) -> bool:
    r"""Whether a superscript of these letters is an index: `F^{\mu\nu}`, `x^\mu`, `T^{ij}`; `e^{ik}` is a power."""
    letters = [token.text for token in tokens]
    if name == "e" or not letters or any(token.type != "letter" or token.gap > 1 for token in tokens):
        return False
    if _INDICES.issuperset(letters):
        return len(letters) > 1 or letters[0] in (r"\mu", r"\nu")
    tensor = name[:1].isupper() or name.startswith(("\\", "g", "h"))
    return len(letters) > 1 and tensor and _LATIN_INDICES.issuperset(letters)


_IN_LABEL = frozenset(("letter", "mark", "MINUS", "OPEN", "CLOSE"))
_STARS = frozenset(("*", r"\ast", r"\star", r"\dagger", r"\dag"))
_IN_BRACKETS = frozenset(("number", "letter", "COMMA", "PRIME"))
_STARRED = frozenset(("letter", "number", "PRIME", "MINUS", "PLUS"))


def _closes_at_end(tokens: Sequence[Token]) -> bool:
    """Whether the bracket that begins is the one that ends: not so in `(a)(b)`."""
    level = 0
    for index, token in enumerate(tokens):
        level += (token.type == "OPEN") - (token.type == "CLOSE")
        if level == 0:
            return index == len(tokens) - 1
    return False


def split_name(name: str) -> tuple[str, str]:
    """Head of a symbol's name, and its primes and subscript."""
    level = 0
    for index, char in enumerate(name):
        level += (char == "{") - (char == "}")
        if level == 0 and char in "_'^":
            return name[:index], name[index:]
    return name, ""
