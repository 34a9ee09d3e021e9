r"""Unit texts among tokens: `\mathrm{kg\,m^2/s^2}` as unit tokens above and below a slash.

The tokens are spelled as text again and parsed by `prism.latex.unit_grammar`, which givens, golds and boxes are parsed
by too; which names are units is decided later, from the table of units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prism.algebra.expr import Expr
from prism.latex.parsing.tokens import Token, has_type, unit_token
from prism.latex.unit_grammar import (
    SPEED_OF_LIGHT,
    NoReadingError,
    base_and_power,
    normalize_unit_text,
    parse_unit_text,
)
from prism.latex.words import WITH_SUBSCRIPT

_NAMES = str.maketrans({"µ": "u", "Ω": "ohm", "°": "deg", "Å": "angstrom"})  # of signs, in names of tokens
_SIGNS = {"TIMES": "*", "SLASH": "/", r"\mu": "µ", r"\Omega": "Ω"}
_OF_POWERS = frozenset(("NUM", "PLUS", "MINUS", "SLASH"))
_ARITHMETIC = frozenset(("PLUS", "MINUS", "TIMES", "SLASH", "ROMAN", "PM"))


def is_numeric(item: Token) -> bool:
    """Return True if an item holds only numbers and units, so that a unit can stand behind it."""
    if item.type in ("NUM", "CONST", "UNIT", "QUANTITY"):
        return True
    if item.type in ("PAREN", "FRAC", "SQRT", "BRACED", "ROOT"):
        return all(is_numeric(part) or part.type in _ARITHMETIC for siblings in item.args for part in siblings)
    return False


def read_unit(items: Sequence[Token], *, is_below: bool = False) -> list[Token] | None:
    r"""Parse nested items such as `\mathrm{kg}\cdot\mathrm{m/s}^2` as one unit; None if they are none.

    Args:
        items: roman texts, units, signs, brackets and fractions of these.
        is_below: a slash stands before them.

    Returns:
        The factors of the unit, or one fraction if it has a denominator.
    """
    open_power = items[-1].sup if items and not has_plain_power(items[-1]) else None
    text = _spelled([*items[:-1], replace(items[-1], sup=None)] if open_power else items)
    if not text:
        return None
    try:
        product = parse_unit_text(normalize_unit_text("/" * is_below + text))
    except NoReadingError:
        return None
    if product.slashes > 1 and product.doubt:
        return None
    pos = items[0].pos
    above, below = ([_token(each, pos) for each in side] for side in (product.above, product.below))
    if not (above or below) or any("_" in item.text and item.text not in WITH_SUBSCRIPT for item in (*above, *below)):
        return None
    if open_power:
        (below or above)[-1].sup = open_power
    return [Token("FRAC", "", pos, args=[above or [Token("NUM", "1", pos)], below])] if below else above


def has_plain_power(item: Token) -> bool:
    r"""Return True unless an item has letters in its power, as in `\mathrm{m}^n`; then it stands alone."""
    return all(part.type in _OF_POWERS for part in item.sup or ())


def _spelled(items: Sequence[Token]) -> str | None:
    """Return nested items as text of the unit grammar; None for what no unit holds."""
    text = ""
    for item in items:
        inner = [_spelled(part) for part in item.args]
        part = _SIGNS.get(item.text if item.type == "SYM" else item.type)
        if item.type == "ROMAN":
            part = None if has_type(item.raw, "PRIME") else _flat_text(item.raw)
        elif item.type in ("UNIT", "NUM"):
            part = item.text
        elif item.type == "PAREN":
            part = f"({inner[0]})"
        elif item.type == "FRAC":
            part = rf"\frac{{{inner[0]}}}{{{inner[1]}}}"
        if not part or None in inner:
            return None
        power = "".join(each.text for each in item.sup or ())
        text += " " * (part != "Ω") + part + (f"^{{{power}}}" if power else "")  # a prefix stands right before it
    return text


def _flat_text(tokens: Sequence[Token]) -> str:
    """Return flat tokens as the text that they are read from, with one blank for each gap."""
    text = ""
    for token in tokens:
        is_apart = token.gap or (token.text[:1].isalpha() and text.rpartition("\\")[2].isalpha() and "\\" in text)
        text += " " * bool(is_apart) + token.text
    return text


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
