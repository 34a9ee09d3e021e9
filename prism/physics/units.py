r"""Units as text: what `km`, `rpm` and `J/(mol K)` are.

A unit becomes an exact factor times powers of the seven base units, and these are ordinary symbols named
`\unit{m}`, `\unit{kg}`, ...: so `3 m` is never `3 s`, 1 km is 1000 m, and 50 Hz is 50 s^{-1}, by the same engine that
compares everything else (semantics U.2). Where text has two readings (`J/mol K`, `T_0 - 20 °C`) there is no reading.

Refused: units as a field of every number (each operator would need a second arithmetic), and floating factors
(0.3048 and 1/60 are exact, and so is their product).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

from prism.algebra.expr import Expr, number, symbol
from prism.errors import PrismError
from prism.physics.tables import BASE_UNITS, DIMENSIONLESS, PREFIX_WORDS, Dimension, Unit, UnitTable, unit_table

MAX_TEXT = 200  # characters of a quantity; longer text is prose and is not read
MAX_UNIT_POWER = 24  # exponent of a unit; m^99999 is an attack on memory
MAX_BITS = 4096  # of an exact factor; longer ones are an attack on memory
MAX_CACHED = 4096  # unit names looked up; they come from students, so the memory is bounded


# Units as text --------------------------------------------------------------------------------------------------


def find_unit(name: str) -> Unit | None:
    """Return the unit with this name, a symbol or an English word, with or without prefix; None if there is none.

    >>> find_unit("km").factor, find_unit("kilometres").factor, find_unit("min").name, find_unit("Km")
    (Fraction(1000, 1), Fraction(1000, 1), 'minute', None)
    """
    return _look_up_unit(name) if len(name) <= MAX_TEXT else None


def unit_as_expr(name: str) -> Expr | None:
    r"""Return a unit, or product of units, as an expression: its factor times powers of base units; None if unknown.

    A unit with an offset gives a difference of temperatures; `resolve_units` decides where that is meant.

    >>> str(unit_as_expr("km/h")), str(unit_as_expr("deg")), str(unit_as_expr("furlong"))
    ('(5/18)*\\unit{m}*\\unit{s}^(-1)', 'pi/180', 'None')
    """
    found = find_unit(name) or find_unit_product(name)
    return None if found is None else base_unit_product(found.factor, found.pi, found.dimension)


def base_unit_product(factor: Fraction, pi: int, dimension: Dimension) -> Expr:
    """Return `factor * pi**pi` times powers of base units as an expression.

    Args:
        pi: the power of pi.
        dimension: exponents of the base units.
    """
    factors = [] if factor == 1 or pi else [number(factor)]
    if pi:
        power = Expr("const", name="pi")
        above = [number(factor.numerator)] * (factor.numerator != 1) + [power] * (pi > 0)
        below = [number(factor.denominator)] * (factor.denominator != 1) + [power] * (pi < 0)
        if abs(pi) != 1:
            raised = Expr("pow", (power, number(abs(pi))))
            above, below = ([raised if part == power else part for part in parts] for parts in (above, below))
        top = _product_of(above)
        factors = [Expr("div", (top, _product_of(below))) if below else top]
    for name, exponent in zip(BASE_UNITS, dimension, strict=True):
        if exponent:
            base = symbol(rf"\unit{{{name}}}")
            factors.append(base if exponent == 1 else Expr("pow", (base, number(exponent))))
    return _product_of(factors)


def _product_of(factors: list[Expr]) -> Expr:
    """Return the product of expressions; the number 1 if there are none."""
    if not factors:
        return number(1)
    return factors[0] if len(factors) == 1 else Expr("mul", tuple(factors))


@lru_cache(maxsize=MAX_CACHED)
def _look_up_unit(name: str) -> Unit | None:
    """Look up a unit's name as a symbol, a symbol with prefix and a written-out word; None if it is none of these."""
    table = unit_table()
    if name.startswith("\\") and (found := _look_up_word(table, name[1:])) is not None:
        return found  # siunitx spells its units as words: \meter, never \min
    # blanks within stay: `m K` is no millikelvin
    for spelling in (name, normalize_unit_text(name).strip("{} ")):
        found = table.exact.get(spelling)
        if found is not None:
            return found
        if spelling in table.prefixed:
            power, bare = table.prefixed[spelling]
            return _prefixed_unit(table.exact[bare], power)
        found = _look_up_word(table, spelling)
        if found is not None:
            return found
    return None


def _look_up_word(table: UnitTable, spelling: str) -> Unit | None:
    """Look up a written-out name (`metres`, `Joule`, `kilograms`, `light-years`); None if unknown or in mixed case."""
    word = spelling.lower()
    if spelling not in (word, word.capitalize()) and not _WORD_SEPARATORS.search(spelling):
        return None
    word = _WORD_SEPARATORS.sub(" ", word)
    if word in table.words:
        return table.words[word]
    for prefix, power in PREFIX_WORDS.items():
        rest = word.removeprefix(prefix)
        if rest != word and rest in table.prefixable:
            return _prefixed_unit(table.words[rest], power)
    return None


_WORD_SEPARATORS = re.compile("[ _-]+")  # between the words of one name: light year, light-year, and light_year in code
_HYPHEN = re.compile("(?<=[A-Za-zΩ])-(?=[A-Za-zΩµ])")  # of a product: N-m, kW-h


def _prefixed_unit(base: Unit, power: int) -> Unit:
    """Return a unit with a prefix: `base` times ten to the power `power`."""
    names = {value: key for key, value in PREFIX_WORDS.items()}
    name = f"{names.get(power, f'10^{power} ')}{base.name}"
    return Unit(name, base.factor * Fraction(10) ** power, base.dimension, Fraction(0), base.pi)


_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_Replacement = str | Callable[[re.Match[str]], str]
_Rules = tuple[tuple[str, _Replacement], ...]  # pattern and replacement; applied in this order


_MARKUP: _Rules = (  # LaTeX, siunitx and Unicode
    (r"[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: f"^{{{m[0].translate(_SUPERSCRIPTS)}}}"),
    (r"[−–]", "-"),
    (r"\\(?:SI|qty)\s*\{([^{}]*)\}", r"\1 "),
    (r"[×·⋅∙•]|\\(?:cdot|times)(?![A-Za-z])", "*"),
    (r"\\[,;:!> ]|~|\\quad|[\u00a0\u2009\u202f]|\\(?:left|right)(?![A-Za-z])|\$", " "),
    (r"\\(?:unit|si|mathrm|text|textrm|rm|mathit|mathsf|operatorname)(?![A-Za-z])", ""),
    (r"(?:\{\s*\})?\^\s*\{?\s*\\(?:circ|degree)\s*\}?|\\(?:degree|textdegree)(?![A-Za-z])", "°"),
    (r"\\(?:degreeCelsius|celsius)(?![A-Za-z])", "°C"),
    (r"°\s*\{?\s*([CFR])(?![A-Za-z])\s*\}?", r"°\1"),
    (r"°\s*[Cc]elsius", "°C"),
    (r"\^\s*\{?\s*\\prime\s*\}?", "′"),
    (r"\\(?:Omega|ohm)(?![A-Za-z])", "Ω"),
    (r"\\(?:mu|upmu|textmu)(?![A-Za-z])|μ", "µ"),
    (r"µ\s*\{\s*([A-Za-z]+|Ω)\s*\}", r"µ\1"),
    (r"µ\s+(?=[A-Za-zΩ])", "µ"),
    (r"\\(?:AA|angstrom)(?![A-Za-z])", "Å"),
    (r"\\(?:%|percent(?![A-Za-z]))", "%"),
    (rf"\\({'|'.join(PREFIX_WORDS)})\s*\\(?=[a-z])", r"\\\1"),
    (r"\\squared(?![A-Za-z])", "^2"),
    (r"\\cubed(?![A-Za-z])", "^3"),
    (r"\\tothe(?![A-Za-z])", "^"),
    (r"\\per(?![A-Za-z])", "/"),
)
_WORDING: _Rules = (  # plain words
    (r"(?<=[A-Za-z]{3})(?<!delta)_(?=[A-Za-z]{3})|(?<=per)_|(?<=[A-Za-z]{2})_(?=per\b)", " "),
    (r"\b(?:deg|degrees?) +(C|F|[Cc]elsius|[Ff]ahrenheit)\b", lambda m: "°" + m[1][0].upper()),
    (r"\b(mm|cm|m|in|ft)[ _]+(Hg|H2O)\b", r"\1\2"),
    (r"\b([A-Za-z]+)[ _]+Hg\b", r"\1 of mercury"),
    (r"\b([A-Za-z]+)[ _]+H2O\b", r"\1 of water"),
    (r"\b(?:sq\.?|square)[ _]+(?=[A-Za-z])", "square "),
    (r"\b(?:cu\.?|cubic)[ _]+(?=[A-Za-z])", "cubic "),
    (r"[ _]+squared\b", "^2"),
    (r"[ _]+cubed\b", "^3"),
    (r"\bparts? per (?:m|b|tr)illions?\b", lambda m: m[0].replace(" ", "_")),
    (r"\bper\b", "/"),
    (r"\*\*", "^"),
)


@cache
def _compile_rules(*, with_markup: bool) -> tuple[tuple[re.Pattern[str], _Replacement], ...]:
    """Compile the rules that rewrite texts of units, on first use.

    Args:
        with_markup: include those for LaTeX, siunitx and Unicode, else only those for words.
    """
    rules = (*_MARKUP, *_WORDING) if with_markup else _WORDING
    return tuple((re.compile(pattern), replacement) for pattern, replacement in rules)


_DOT = re.compile(r"(?<=[A-Za-z])\.(?=[A-Za-z])")  # of a product, `N.m`


def normalize_unit_text(text: str) -> str:
    """Rewrite a text of units from LaTeX, siunitx, Unicode or words to the plain spelling that `_TOKEN` matches."""
    # NFC folds the ohm and angstrom signs into the letters; superscripts go first, as NFKC would lose their height
    clean = unicodedata.normalize("NFC", text)
    marked = not clean.isascii() or any(mark in clean for mark in "\\$~")
    clean = _DOT.sub("*", clean)
    for pattern, put in _compile_rules(with_markup=marked):
        clean = pattern.sub(put, clean)
    return clean.strip()


_TOKEN = re.compile(
    r"\s*(?:(?P<name>\\?[A-Za-zµΔΩÅåöℓ℧℃℉°%‰′″'\"]+(?:2O(?![A-Za-z])|(?:_[A-Za-z]+|_15(?!\d))+)?)(?P<glued>[+-]?\d+(?![\d.]))?|(?P<one>1)(?=\s*/)"
    r"|\^\s*(?P<power>[+-]?\d+|\{\s*[+-]?\d+(?:/\d+)?\s*\}|\(\s*[+-]?\d+(?:/\d+)?\s*\))|(?P<mark>[*/(){}]))"
)


class NoReadingError(PrismError):
    """Raised for a text that is no unit, or that can be read as two different units."""


def find_unit_product(text: str) -> Unit | None:
    """Parse a product of units (`J/(mol K)`, `m s^-2`) as one unit; None if none, or with two readings."""
    try:
        return read_unit_product(text)
    except NoReadingError:
        return None


def read_unit_product(text: str) -> Unit:
    """Parse a product of units (`J/(mol K)`) as one unit.

    Errors:
        NoReadingError: no unit, or one that can be read in two ways; the message says which.
    """
    if len(text) > MAX_TEXT:
        raise NoReadingError(f"{len(text)} characters are too many for a unit")
    clean, tokens, at = normalize_unit_text(text), [], 0
    if " " in clean or "_" in clean or "-" in clean:
        clean = unit_table().multiword.sub(lambda words: _WORD_SEPARATORS.sub("_", words[0]), clean)
        clean = _HYPHEN.sub("*", clean)
    while at < len(clean):
        token = _TOKEN.match(clean, at)
        if token is None:
            raise NoReadingError(f"{clean[at:].strip()!r} is no unit")
        tokens.append(token)
        at = token.end()
    reader = _UnitReader(tokens, with_light="eV" in clean)
    found = reader.product()
    if reader.tokens:
        raise NoReadingError(f"{reader.tokens[0][0].strip()!r} stands alone")
    return Unit(text, found.factor, found.dimension, found.offset, found.pi)


@dataclass(slots=True)
class _UnitReader:
    """Recursive-descent parser for a product of units.

    Attributes:
        tokens: matches of `_TOKEN` that are still to be read.
        with_light: `c` is the speed of light (`MeV/c^2`).
    """

    tokens: list[re.Match[str]]
    with_light: bool

    def product(self) -> Unit:
        """Parse factors side by side up to a closing bracket or the end; a slash divides by the one factor after it.

        `J/mol K` is refused: it is written for J/(mol K) and reads J K/mol (SI brochure, 5.4.6).
        """
        divided = bool(self.tokens) and self.tokens[0]["mark"] == "/"
        found = Unit("", Fraction(1), DIMENSIONLESS) if divided else self.factor()
        divided = False
        while self.tokens and self.tokens[0]["mark"] not in (")", "}"):
            mark = self.tokens[0]["mark"]
            if mark in ("*", "/"):
                self.tokens.pop(0)
            if mark == "/":
                divided = True
            elif divided:
                raise NoReadingError("a product after a slash has two readings; put it in brackets, as in J/(mol K)")
            found = _multiply_units(found, self.factor(), -1 if mark == "/" else 1)
        return found

    def factor(self) -> Unit:
        """Parse a unit or a product in brackets, with its exponent; raise NoReadingError if there is none."""
        if not self.tokens:
            raise NoReadingError("a unit is missing at the end")
        token = self.tokens.pop(0)
        if token["one"]:
            return Unit("", Fraction(1), DIMENSIONLESS)
        if token["mark"] in ("(", "{"):
            found = self.product()
            closing = ")" if token["mark"] == "(" else "}"
            if not self.tokens or self.tokens.pop(0)["mark"] != closing:
                raise NoReadingError(f"{closing!r} is missing")
        elif token["name"] and token["name"].lower() in ("square", "cubic", "\\square", "\\cubic"):
            return _raise_unit(self.factor(), Fraction(2 if "square" in token["name"].lower() else 3))
        elif token["name"]:
            found = self.named_unit(token)
        else:
            raise NoReadingError(f"{token[0].strip()!r} stands where a unit should")
        if self.tokens and self.tokens[0]["power"]:
            exponent = self.tokens.pop(0)["power"].strip("{}() ")
            found = _raise_unit(found, _read_fraction(exponent))
        return found

    def named_unit(self, token: re.Match[str]) -> Unit:
        """Parse a unit's name and the exponent glued to it (`s-1`, `m2`); NoReadingError if unknown."""
        name = token["name"]
        if self.with_light and name == "c":
            found: Unit | None = find_unit("speed of light")
        else:
            found = find_unit(name)
        if found is None:
            raise NoReadingError(f"{name!r} is no unit that the table knows")
        if token["glued"]:
            if not name.isalpha() or not int(token["glued"]):  # 5°30 is an angle in two parts, g0 a symbol
                raise NoReadingError(f"{token[0].strip()!r} is no unit")
            found = _raise_unit(found, Fraction(token["glued"]))
        return found


def _read_fraction(text: str) -> Fraction:
    """Parse an exponent such as `1/2`; raise NoReadingError if it divides by zero."""
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise NoReadingError(f"{text!r} divides by zero") from None


def _multiply_units(left: Unit, right: Unit, sign: int) -> Unit:
    """Return left * right, or left / right if `sign` is -1, as one unit.

    Zero points are dropped: degC in `J/(kg degC)` is a difference of temperatures.
    """
    right = _raise_unit(right, Fraction(sign))
    dimension = tuple(a + b for a, b in zip(left.dimension, right.dimension, strict=True))
    return Unit("", left.factor * right.factor, dimension, Fraction(0), left.pi + right.pi)


def _raise_unit(base: Unit, exponent: Fraction) -> Unit:
    """Return a unit raised to a power; raise NoReadingError if the exponent is too large or the factor not exact."""
    if exponent == 1:
        return base
    if abs(exponent) > MAX_UNIT_POWER:
        raise NoReadingError(f"the exponent {exponent} is too large for a unit")
    if exponent.denominator != 1 and (base.factor != 1 or base.pi):
        raise NoReadingError(f"{base.name} to the power {exponent} has no exact factor")
    factor = Fraction(1) if base.factor == 1 else base.factor ** int(exponent)
    if max(factor.numerator.bit_length(), factor.denominator.bit_length()) > MAX_BITS:
        raise NoReadingError(f"{base.name} to the power {exponent} is too large")
    dimension = tuple(power * exponent for power in base.dimension)
    return Unit("", factor, dimension, Fraction(0), int(base.pi * exponent))
