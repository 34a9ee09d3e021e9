r"""Unit texts among tokens: `\mathrm{kg\,m^2/s^2}` as unit tokens above and below a slash.

The tokens are spelled as text again and parsed by `prism.latex.unit_grammar`, which givens, golds and boxes are parsed
by too; which names are units is decided later, from the table of units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from prism.algebra.expr import Expr
from prism.latex.parsing.tokens import Token, unit_token
from prism.latex.unit_grammar import (
    SPEED_OF_LIGHT,
    NoReadingError,
    base_and_power,
    normalize_unit_text,
    parse_unit_text,
    split_joined_units,
)
from prism.latex.words import WITH_SUBSCRIPT

_NAMES = str.maketrans({"µ": "u", "Ω": "ohm", "°": "deg", "Å": "angstrom"})  # of signs, in names of tokens
_ARITHMETIC = frozenset(("PLUS", "MINUS", "TIMES", "SLASH", "ROMAN", "PM"))


@dataclass(slots=True)
class UnitExpression:
    """The factors of a unit, as tokens.

    Attributes:
        above: factors of the numerator.
        below: factors of the denominator.
    """

    above: list[Token] = field(default_factory=list)
    below: list[Token] = field(default_factory=list)

    @property
    def last_factors(self) -> list[Token]:
        """The list with the last factor, which a power behind the whole text belongs to."""
        return self.below or self.above


def is_numeric(item: Token) -> bool:
    """Return True if an item holds only numbers and units, so that a unit can stand behind it."""
    if item.type in ("NUM", "CONST", "UNIT", "QUANTITY"):
        return True
    if item.type in ("PAREN", "FRAC", "SQRT", "BRACED", "ROOT"):
        return all(is_numeric(part) or part.type in _ARITHMETIC for siblings in item.args for part in siblings)
    return False


def read_unit_expression(tokens: Sequence[Token]) -> UnitExpression | None:
    """Parse the flat tokens of a unit text such as `kg m/s^2` into its factors; return None if the text is no unit."""
    if not tokens or any(token.type == "PRIME" for token in tokens):
        return None
    text = ""
    for token in tokens:
        is_apart = token.gap or (token.text[:1].isalpha() and text.rpartition("\\")[2].isalpha() and "\\" in text)
        text += " " * bool(is_apart) + token.text
    clean = normalize_unit_text(text)
    try:
        product = parse_unit_text(clean)
    except NoReadingError:
        return None
    if product.slashes > 1 and product.doubt:
        return None
    above, below = ([_token(each, tokens[0].pos) for each in side] for side in (product.above, product.below))
    known = all("_" not in item.text or item.text in WITH_SUBSCRIPT for item in (*above, *below))
    return UnitExpression(above, below) if known and (above or below) else None


def _token(factor: Expr, pos: int) -> Token:
    """Return a factor of a unit as a token; `c` beside electronvolts is a symbol, a bracket holds its expression."""
    base, power = base_and_power(factor)
    item = unit_token(base.name.translate(_NAMES), pos)
    if base.args:
        item = Token("UNIT", "", pos, expr=base)
    elif base.op == "num":
        item = Token("PAREN", "(", pos, args=[[]])  # holds no unit, and is refused
    elif base.name == SPEED_OF_LIGHT:
        item = Token("SYM", "c", pos)
    if power != 1:
        sign = [Token("MINUS", "-", pos)] if power < 0 else []
        under = [Token("SLASH", "/", pos), Token("NUM", str(power.denominator), pos)] if power.denominator > 1 else []
        item.sup = [*sign, Token("NUM", str(abs(power.numerator)), pos), *under]
    return item


def raise_last_unit(factors: list[Token], power: list[Token], pos: int) -> None:
    r"""Raise the last factor of a unit to a power, in place: of `\mathrm{ms}^{-1}`, metre second, only the second.

    Args:
        factors: the list above or below the slash.
        pos: offset for the units that the factor is split into.
    """
    if factors[-1].type == "UNIT":
        names = split_joined_units(factors[-1].text, is_negative=power[0].type == "MINUS")
        factors[-1:] = [unit_token(name, pos) for name in names]
    factors[-1].sup = power


def unit_items(unit: UnitExpression, pos: int) -> list[Token]:
    """Return a unit expression as sibling items: its factors, or one fraction if it has a denominator."""
    if not unit.below:
        return unit.above
    return [Token("FRAC", "", pos, args=[unit.above or [Token("NUM", "1", pos)], unit.below])]
