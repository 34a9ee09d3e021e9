r"""Unit texts among tokens: `\mathrm{kg\,m^2/s^2}` as unit tokens above and below a slash.

The tokens are spelled as text again and parsed by `prism.latex.unit_grammar`, which givens, golds and boxes are parsed
by too; which names are units is decided later, from the table of units.

Units typed in italics within arithmetic, `18.0m/s \cdot 2s + 5m`, made upright before anything is nested.

A number and letters that spell a unit are a quantity where the letters can hardly be symbols: a sure unit, such as
`9.8m/s^2`, shows that the letters behind the other numbers of its side are units too, if no letter there is a symbol.

Refused: a side that is one number with its unit, `v = 4.95m/s`; what the problem says of the letters decides there
(semantics U.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from prism.algebra.expr import Expr
from prism.latex.parsing.tokens import Ambiguity, Token, nesting_change, unit_token
from prism.latex.unit_grammar import (
    SPEED_OF_LIGHT,
    NoReadingError,
    base_and_power,
    normalize_unit_text,
    parse_unit_text,
    split_joined_units,
)
from prism.latex.words import PLAIN_FACTORS, SURE_UNITS, UNIT_EXPRESSION, WITH_SUBSCRIPT, compiled, word_set

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


# Units typed in italics ---------------------------------------------------------------------------------------------

_BEFORE, _GAP = r"(?:(?<![\w.\\])|(?<=\\cdot)|(?<=\\times))", r"(?:\s|\\,|~)?"  # a number stands between them
_QUANTITY = (
    rf"{_BEFORE}(?P<number>\d+\.\d+|\.\d+|\d+){_GAP}"
    rf"(?P<unit>{UNIT_EXPRESSION}(?:\s?/\s?\((?P<below>[A-Za-z]+)\))?)(?![A-Za-z_'/(^])(?!\s*[_^(])"
)
_LIKE_QUANTITY = re.compile(rf"{_BEFORE}[\d.]*\d{_GAP}[A-Za-z]")
_LIKE_SURE = re.compile(
    rf"{_BEFORE}(?:[\d.]*\d{_GAP}[A-Za-z](?:[A-Za-z]|\s?/)|(?:[\d.]+\d|0){_GAP}[A-Za-z](?!\s*[_^(]))"
)
_END = re.compile(r"\s*(?:\Z|[-+=<>*/)\]},;&$|]|\\(?:cdot|times|right|approx|sim|[\\,;.]|q?quad)(?![a-z]))")
_UPRIGHT = re.compile(r"\\(?:mathrm|text|unit|rm)\s*[{\s~]*([A-Za-z][A-Za-z/^0-9·{}-]*?)(?=[\s}]|\\|\Z)")
_FACTOR = re.compile(r"(?:\\cdot|\\times|\*)\s*\Z")
_REACH = len(r"\times  ")  # of the sign before a factor
_SURE_WORDS = word_set("kg cm mm km Hz kHz MHz GHz eV keV MeV GeV TeV Pa kPa MPa kJ kW mol rad rev")
_PACES = word_set("m/s m/s^2 km/h km/s rad/s")
_STOPS = frozenset(("REL", "COMMA", "ROW", "IMPLIES", "OR", "AMP", "END"))
_LETTERS = re.compile("[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A number with letters behind it that may be its unit: its span, that of the letters, and what shows it."""

    start: int
    unit_start: int
    end: int
    unit: str
    is_sure: bool
    is_factor: bool
    ends: bool


def with_typed_units(tokens: list[Token], latex: str) -> list[Token]:
    r"""Return the flat tokens of a formula with `\mathrm{...}` around each unit that is typed in italics.

    Errors:
        Ambiguity: letters behind a number beside a unit that may be another unit or symbols, `0.5kg\cdot4186J/(kgC)`.
    """
    if not (_LIKE_SURE.search(latex) or (_LIKE_QUANTITY.search(latex) and _UPRIGHT.search(latex))):
        return tokens
    units: list[_Quantity] = []
    for start, end in _sides(tokens):
        units += _units_of_side(tokens, latex, start, end)
    places = {unit.unit_start: unit.end for unit in units}
    out: list[Token] = []
    closing = -1
    for token in tokens:
        if 0 <= closing <= token.pos:
            out.append(Token("}", "}", closing))
            closing = -1
        if token.pos in places:
            closing = places[token.pos]
            out += [Token("command", r"\mathrm", token.pos, token.gap), Token("{", "{", token.pos)]
        out.append(token)
    return out


def _sides(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield the offsets of each side of the relations of a formula."""
    level, start = 0, 0
    for token in tokens:
        level += nesting_change(token)
        if token.type == "END" or (level == 0 and token.type in _STOPS):
            yield start, token.pos
            start = token.pos + 1


def _quantity(latex: str, found: re.Match[str]) -> _Quantity:
    """Return a number with letters behind it as what it is by itself."""
    number, unit = found["number"], found["unit"]
    unit = unit[:-1] if unit.endswith("}") and "{" not in unit else unit  # the brace of a denominator
    start, end = found.start("unit"), found.start("unit") + len(unit)
    is_factor = _FACTOR.search(latex[max(0, found.start() - _REACH) : found.start()]) is not None
    ends = _END.match(latex, end) is not None
    is_long = ("." in number or len(number) > 1 or number == "0") and number not in PLAIN_FACTORS
    is_bracketed = latex[found.start() - 1 : found.start()] == "(" and latex[end : end + 1] == ")"
    plain = unit.replace("{", "").replace("}", "")
    is_pace = plain in _PACES and (is_bracketed or number not in PLAIN_FACTORS)
    words = _LETTERS.findall(unit)
    is_known = plain in SURE_UNITS or not _SURE_WORDS.isdisjoint(words)
    is_sure = ends and found["below"] is None and (is_pace or "kg" in words or (is_known and is_long))
    return _Quantity(found.start(), start, end, unit, is_sure, is_factor, ends)


def _units_of_side(tokens: Sequence[Token], latex: str, start: int, end: int) -> list[_Quantity]:
    """Return the quantities between two offsets whose letters are units."""
    found = [_quantity(latex, match) for match in compiled(_QUANTITY).finditer(latex, start, end)]
    upright = {name for name in _UPRIGHT.findall(latex, start, end) if compiled(UNIT_EXPRESSION).fullmatch(name)}
    is_shown = any(each.is_sure for each in found)
    is_lone = len(found) == 1 and latex[start:end].strip(" -+$=&") == latex[found[0].start : found[0].end]
    if is_lone or not (is_shown or upright):
        return []
    spans = [(each.unit_start, each.end) for each in found] + [match.span() for match in _UPRIGHT.finditer(latex)]
    inside = {at for span in spans for at in range(*span)}
    letters = [token for token in tokens if token.type == "letter" and token.pos not in inside]
    beside = {token.text for token in letters if start <= token.pos < end}
    everywhere = {token.text for token in letters}
    units = []
    for each in found:
        names = set("".join(_LETTERS.findall(each.unit)))
        is_alone = each.ends and "(" not in each.unit and ((is_shown and not beside) or names.isdisjoint(everywhere))
        if each.is_sure or each.unit in upright or (is_alone and (is_shown or each.is_factor)):
            units.append(each)
        elif each.is_factor and each.ends and (is_shown or upright) and len(names) > 1:
            raise Ambiguity(each.unit_start, "letters behind a number beside a unit: a unit, or symbols?", r"\mathrm")
    return units
