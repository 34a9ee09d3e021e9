r"""What the flat tokens say together: names of several letters, and angle brackets written as `<` and `>`.

Both have to be known before anything is nested: a name takes scripts as one symbol, a bracket encloses. Only what no
author writes for anything else is joined; every other run of letters stays a product.
"""

from __future__ import annotations

import re
from itertools import pairwise

from prism.latex.parsing.names import TEXT_MODE
from prism.latex.parsing.tokens import NAMES, RELATION_TEXT, Fault, Token

# Dimensionless numbers, where they are defined (`Re = ...`); elsewhere `Pr` is a product.
NUMBERS_OF_FLOW = frozenset(("Re", "Pr", "Nu", "Gr", "Ra", "Bi", "Fo", "Kn", "St", "We", "Fr", "Pe", "Sc", "Sh", "Ma"))
_DEFINED = re.compile(r"[\s$&]*[A-Z][a-z]\s*=")
# `2Re a` and `Im b` typed in italics; with a bracket they are functions, and `Re^{x}` is a product.
_LONE_PART = re.compile(r"(?<![A-Za-z\\{])(?:Re|Im)(?![A-Za-z^_({\[])(?!\s*(?:=|\\left|\(|\[))")
_REYNOLDS = re.compile(r"(?<![A-Za-z\\])Re(?:\^\{?0?\.\d|_\{?[xDLd]\}?(?![A-Za-z]))")  # `Re^{i\theta}` is R e^{...}
_MAX_ANGLE = 60  # tokens between `<` and `>`; a pair further apart is two relations

_SEPARATORS = frozenset(("REL", "COMMA", "ROW", "IMPLIES", "END", "OR"))
_BAR_ENDS = _SEPARATORS | {"BAR"}
_LIST_ENDS = _SEPARATORS - {"COMMA"}  # nothing before the `<` that it could relate
_BEFORE_ANGLE = _SEPARATORS | {"PLUS", "MINUS", "PM", "TIMES", "SLASH", "{", "OPEN", "^"}
_BEHIND_ANGLE = _SEPARATORS | {"PLUS", "MINUS", "PM", "TIMES", "SLASH", "}", "CLOSE", "^", "_", "BAR", "AMP"}


def joined(tokens: list[Token], latex: str, words: frozenset[str]) -> list[Token]:
    """The tokens with names as one letter and angle brackets as brackets.

    Args:
        tokens: of `scan`, END last.
        latex: what they were scanned from.
        words: names of several letters that the problem declares.
    """
    if (glued := latex.find("+-")) >= 0 or (glued := latex.find("-+")) >= 0:
        raise Fault(
            glued, "two signs run together: plus or minus, or a signed term?", r"\pm", "brackets", kind="ambiguous"
        )
    if "!=" in latex and ("\\" in latex or latex.count("!") > 1):
        tokens = [part for token in tokens for part in _factorial_then_equal(token)]
    if (lone := _LONE_PART.search(latex)) is not None:
        raise Fault(lone.start(), f"`{lone.group()}` in italics: a part of a number, or a product?",
                    r"\Re", r"\operatorname{Im}", kind="ambiguous")  # fmt: skip
    if tokens[0].type == "BEGIN":
        tokens = _without_layout(tokens)
    if "<" in latex or ">" in latex or r"\lt" in latex:
        tokens = _with_angles(tokens)
    if words or "E." in latex or _DEFINED.match(latex):
        tokens = _with_names(tokens, words)
    elif "Re" in latex and _REYNOLDS.search(latex):
        tokens = _with_names(tokens, frozenset(("Re", "Pr")))
    return tokens


def _factorial_then_equal(token: Token) -> tuple[Token, ...]:
    r"""`n !=6` in LaTeX says that a factorial equals: unequal is `\ne` there."""
    if token.type != "REL" or token.text != "!=":
        return (token,)
    return Token("BANG", "!", token.pos, token.gap), Token("REL", "=", token.pos)


def _without_layout(tokens: list[Token]) -> list[Token]:
    r"""An array around the whole formula with rows like `a & = b` only lays it out."""
    last = tokens[-2] if len(tokens) > 2 else tokens[0]
    if tokens[0].text != "array" or last.type != "FINISH" or last.text != "array":
        return tokens
    aligned = any(
        one.type == "AMP" and two.type == "REL" and RELATION_TEXT[two.text] != "to" for one, two in pairwise(tokens)
    )
    return [*tokens[1:-2], tokens[-1]] if aligned else tokens


def _is_latin(token: Token) -> bool:
    return token.type == "letter" and len(token.text) == 1 and token.text.isascii()


def _with_names(tokens: list[Token], words: frozenset[str]) -> list[Token]:
    """Letters side by side that spell a name, as one letter; a longer run of letters is left alone."""
    names = words
    out: list[Token] = []
    start = 0
    while start < len(tokens):
        end = start + 1
        while end < len(tokens) and _is_latin(tokens[end - 1]) and _is_latin(tokens[end]) and not tokens[end].gap:
            end += 1
        first = tokens[start]
        word = "".join(token.text for token in tokens[start:end])
        if word in NUMBERS_OF_FLOW and tokens[end].text == "=" and not any(token.type == "letter" for token in out):
            names |= NUMBERS_OF_FLOW  # who defines one writes the others too: `Nu = 0.02 Re^{0.8} Pr^{0.4}`
        if word in names:
            out.append(Token("letter", word, first.pos, first.gap))
        elif (abbreviation := _abbreviated(tokens, start)) is not None:
            out.append(Token("letter", abbreviation, first.pos, first.gap))
            end = start + 2 * len(abbreviation)
        else:
            out += tokens[start:end]
        start = end
    return out


def _abbreviated(tokens: list[Token], start: int) -> str | None:
    """`K.E.` as the name KE: capitals, each with its full stop."""
    word = ""
    index = start
    while _is_latin(tokens[index]) and tokens[index].text.isupper() and tokens[index + 1].text == ".":
        word += tokens[index].text
        index += 2
    return word if word in NAMES else None


def _with_angles(tokens: list[Token]) -> list[Token]:
    r"""`<x>` and `|a>` with `\langle` and `\rangle`: nobody writes the relations `a < b > c`."""
    out = list(tokens)
    bars = 0  # since the last separator: an even one opens
    for index, token in enumerate(tokens):
        if token.type in _SEPARATORS and token.text not in ("<", ">", r"\lt", r"\gt"):
            bars = 0
        bars += token.type == "BAR"
        if token.type == "BAR" and (bars % 2 == 0 or tokens[index + 1].type in ("_", "^")):
            continue
        if token.type not in ("REL", "BAR") or token.text not in ("<", r"\lt", "|"):
            continue
        stands_alone = index == 0 or tokens[index - 1].type in _BEFORE_ANGLE
        ends = _BAR_ENDS if token.type == "BAR" else _LIST_ENDS if stands_alone else _SEPARATORS
        end = _closing_angle(tokens, index, ends)
        if end is None:
            continue
        if token.type == "BAR":
            if tokens[end + 1].type in _BEHIND_ANGLE:
                bars -= 1
                out[end] = Token("CLOSE", r"\rangle", tokens[end].pos, tokens[end].gap)
            continue
        listed = any(part.type == "COMMA" for part in tokens[index:end])  # `<1, 2>`; `< 1, x > 2` are relations
        if tokens[end + 1].type in _BEHIND_ANGLE or (stands_alone and not listed):
            out[index] = Token("OPEN", r"\langle", token.pos, token.gap)
            out[end] = Token("CLOSE", r"\rangle", tokens[end].pos, tokens[end].gap)
    return out


def _closing_angle(tokens: list[Token], start: int, ends: frozenset[str]) -> int | None:
    """Index of the `>` that closes the `<` or bar at this index, at its level and before any of these ends."""
    level = 0
    for index in range(start + 1, min(len(tokens), start + _MAX_ANGLE)):
        token = tokens[index]
        if token.type in ("{", "OPEN"):
            level += 1
        elif token.type in ("}", "CLOSE"):
            level -= 1
        elif level == 0 and token.type == "REL" and token.text in (">", r"\gt"):
            return index if index > start + 1 else None
        elif level == 0 and (token.type in ends or token.text in TEXT_MODE):
            return None
        if level < 0:
            return None
    return None
