r"""Chemical species in square brackets, `[\mathrm{HCO_3^-}]`, `[\ce{Ca^{2+}}]`, `[HA]` beside ions: concentrations.

The formula of a species is one name and no product of its elements; its charge belongs to the name.
"""

from __future__ import annotations

import re

from prism.latex.parsing.tokens import Token

_BRACKET = re.compile(r"\[([^\[\]]{1,60})\]")
_SHOWN = re.compile(
    r"\[[^\[\]]{0,58}(?:[-+⁺⁻]\s*\}*\s*\]|\\ce(?![a-zA-Z])[^\[\]]*\])"
    r"|\[\s*\\(?:mathrm|text|rm)(?![a-zA-Z])[^\[\]]{0,40}[A-Z][a-z]?\}?_\{?\d[^\[\]]*\]"
)
_TYPE = re.compile(r"\\(?:ce|mathrm|text|textrm|rm|mathsf)(?![a-zA-Z])|\\[,;!]|[\s_{}]")
_RAISED = str.maketrans({"⁺": "+", "⁻": "-", "²": "^2", "³": "^3", "⁴": "^4",
                         **dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))})  # fmt: skip
_SIGNS = {"+": "PLUS", "-": "MINUS"}
_GROUP = r"(?:[A-Z][a-z]?\d*)+"
_ELEMENT = re.compile(r"([A-Z][a-z]?)(\d+)")
_SPECIES = re.compile(rf"((?:{_GROUP}|\({_GROUP}\)\d*)+)(?:\^(\d?[-+])|(?<!^[A-Z]\d)(?<!^[A-Z][a-z]\d)([-+]))?")


def with_species(tokens: list[Token], latex: str) -> list[Token]:
    """Return flat tokens with one name for each species in square brackets, if one of these is an ion or has a number.

    Args:
        tokens: of `tokenize`.
        latex: the text that they were cut from.
    """
    if _SHOWN.search(latex) is None:
        return tokens
    spans = {}
    for found in _BRACKET.finditer(latex):
        species = _SPECIES.fullmatch(_TYPE.sub("", found[1].translate(_RAISED)))
        if species is not None and len(species[0]) > 1:
            spans[found.start()] = found.end() - 1, species[1], species[2] or species[3] or ""
    out: list[Token] = []
    end = 0
    for token in tokens:
        if token.pos >= end:
            out.append(token)
        if token.text == "[" and token.pos in spans:
            end, base, charge = spans[token.pos]
            out += _name(base, charge, token.pos + 1)
    return out


def _name(base: str, charge: str, pos: int) -> list[Token]:
    """Return the tokens of the name of a species; the number of atoms of one element is its index, `O_2`."""
    element = _ELEMENT.fullmatch(base)
    name, number = element.groups() if element else (base, "")
    index = [Token("_", "_", pos), Token("number", number, pos)] if number else []
    signs = [Token(_SIGNS.get(sign, "number"), sign, pos) for sign in charge]
    return [Token("letter", name, pos), *index, *(
        [Token("^", "^", pos), Token("{", "{", pos), *signs, Token("}", "}", pos)] if charge else []
    )]  # fmt: skip
