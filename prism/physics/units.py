r"""Units and constants: what `km`, `rpm`, `\hbar` and `12.47 J/(mol K)` are.

Both tables stand in `constants/`, where a physicist can read and mend them. Units are a closed table, written from
pint by a script: pint itself takes 1 s to start, reads far more names than physicists write (`dV` as decivolt, `PV`
as petavolt), and counts a revolution as 2 pi. A name that is not in the table is no unit; nothing is guessed.

A unit becomes an exact factor times powers of the seven base units, and these are ordinary symbols named
`\unit{m}`, `\unit{kg}`, ...: so `3 m` is never `3 s`, 1 km is 1000 m, and 50 Hz is 50 s^{-1}, by the same engine that
compares everything else (semantics U). Where text has two readings (`J/mol K`, `T_0 - 20 °C`) there is no reading.

Refused: units as a field of every number (each operator would need a second arithmetic), and floating factors
(0.3048 and 1/60 are exact, and so is their product).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from prism.algebra.expr import Expr, number, substitute, symbol, symbols, walk
from prism.errors import DataFileError, LatexSyntaxError, PrismError
from prism.resources import resource

MAX_TEXT = 200  # a quantity is short; what is longer is prose, and is not worth reading
MAX_TEN_POWER = 400  # beyond floating point, and a fraction of a billion digits is an attack on memory
MAX_UNIT_POWER = 24  # the same, for m^99999
MAX_BITS = 4096  # the same, for numbers that arrive as expressions
MAX_FIGURES = 60  # more are exact for every constant, and a power of ten of a student's choosing is an attack on memory
MAX_CACHED = 4096  # names come from students, so the memory of those seen must end

BASE_UNITS = ("m", "kg", "s", "A", "K", "mol", "cd")
PREFIXES: Mapping[str, int] = {
    "y": -24, "z": -21, "a": -18, "f": -15, "p": -12, "n": -9, "µ": -6, "m": -3, "c": -2, "d": -1,
    "da": 1, "h": 2, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18, "Z": 21, "Y": 24,
}  # fmt: skip
PREFIX_WORDS: Mapping[str, int] = {
    "yocto": -24, "zepto": -21, "atto": -18, "femto": -15, "pico": -12, "nano": -9, "micro": -6, "milli": -3,
    "centi": -2, "deci": -1, "deka": 1, "deca": 1, "hecto": 2, "kilo": 3, "mega": 6, "giga": 9, "tera": 12,
    "peta": 15, "exa": 18, "zetta": 21, "yotta": 24,
}  # fmt: skip
THOUSANDS = tuple(prefix for prefix, power in PREFIXES.items() if power % 3 == 0)
# 50 digits; only a value in degrees, parsecs or oersteds meets it, and only where a number is asked for
PI = Fraction("3.14159265358979323846264338327950288419716939937511")

_UNITS_FILE = "constants/units.toml"
_CONSTANTS_FILE = "constants/constants.toml"

Dimension = tuple[Fraction, ...]
_NONE: Dimension = (Fraction(0),) * len(BASE_UNITS)


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit: `x` of it is `factor * pi**pi * x + offset` in coherent SI.

    Attributes:
        name: English name, prefix included; for a compound the text itself.
        factor: exact [coherent SI].
        dimension: exponents of m, kg, s, A, K, mol, cd.
        offset: [K] of the zero of degC and degF; else 0. A difference of temperatures leaves it out.
        pi: power of pi in the factor, so that degrees (1), parsecs and oersteds (-1) are exact too.
    """

    name: str
    factor: Fraction
    dimension: Dimension
    offset: Fraction = Fraction(0)
    pi: int = 0


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in coherent SI, offset included: 20 degC is 293.15 K.

    Attributes:
        value: exact, but for a factor of pi (50 digits).
        dimension: exponents of m, kg, s, A, K, mol, cd.
    """

    value: Fraction
    dimension: Dimension


@dataclass(frozen=True, slots=True)
class Reading:
    r"""One thing a symbol may stand for: `k` is Coulomb's constant or Boltzmann's.

    Attributes:
        symbol: in the parser's spelling.
        constant: English name.
        expr: what it is in other constants, `1/(4\pi\epsilon_0)`; None if it is a value only.
        value: [coherent SI].
        uncertainty: standard uncertainty [coherent SI]; 0 is exact.
        figures: digits of the value that are known.
        textbook: values [coherent SI] that problems use although they are no rounding of `value` (g = 10 m/s^2).
        earlier: values [coherent SI] of former adjustments; a rounding of one of them is the constant too.
        latex: the identity as the table has it.
        year: of the adjustment.
        source: where the value stands.
    """

    symbol: str
    constant: str
    expr: Expr | None
    value: Quantity | None
    uncertainty: Fraction = Fraction(0)
    figures: int = 0
    textbook: tuple[Fraction, ...] = ()
    latex: str = ""
    year: int = 0
    source: str = ""
    earlier: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True)
class ConstantTable:
    """Constants by symbol. The dictionary is never changed after construction."""

    by_symbol: Mapping[str, tuple[Reading, ...]] = field(hash=False)

    def readings(self, symbol: str) -> tuple[Reading, ...]:
        """All readings of a symbol, in the order of the table; a constant with two identities has two."""
        return self.by_symbol.get(symbol, ())


@dataclass(frozen=True, slots=True)
class UnitTable:
    """Units by name. The dictionaries are never changed after construction.

    Attributes:
        exact: unit by symbol, without prefix; an exact name wins over a prefixed one (`min`, `Gs`, `cd`).
        prefixed: symbol with prefix -> power of ten and the symbol without.
        words: unit by its name written out, in small letters, plural included.
        prefixable: those words that take a prefix written out.
    """

    exact: Mapping[str, Unit] = field(hash=False)
    prefixed: Mapping[str, tuple[int, str]] = field(hash=False)
    words: Mapping[str, Unit] = field(hash=False)
    prefixable: frozenset[str] = frozenset()


# Units as text --------------------------------------------------------------------------------------------------


def unit(name: str) -> Unit | None:
    """The unit of this name, as a symbol or a word; None if the table does not know it.

    >>> unit("km").factor, unit("kilometres").factor, unit("min").name, unit("Km")
    (Fraction(1000, 1), Fraction(1000, 1), 'minute', None)
    """
    return _find_unit(name) if len(name) <= MAX_TEXT else None


def unit_expr(name: str) -> Expr | None:
    r"""A unit, or a product of units, as factor times powers of base-unit symbols; None if unknown.

    A unit with an offset gives a difference of temperatures; `with_units_resolved` knows where that is meant.

    >>> str(unit_expr("km/h")), str(unit_expr("deg")), str(unit_expr("furlong"))
    ('(5/18)*\\unit{m}*\\unit{s}^(-1)', 'pi/180', 'None')
    """
    found = unit(name) or _read_units(name)
    return None if found is None else _spelled_out(found.factor, found.pi, found.dimension)


def with_units_resolved(expr: Expr, *, difference: bool = False) -> Expr:
    r"""Every unit put as its factor times base units; the result holds no `unit` leaf.

    A unit that the table lacks becomes a symbol `\unit{xyz}`: it still has to stand on the other side too. A number
    of degrees Celsius or Fahrenheit that is the whole expression is a temperature (20 degC is 293.15 K). Within a sum
    it cannot be told from a difference (`T_0 - 20 °C`), and its unit is left as a symbol, unless the sum has only such
    terms and their zeros cancel. Within a product it is a difference.

    Args:
        expr: one member of a formula.
        difference: the expression is known to be a difference of temperatures (`\Delta T = ...`).
    """
    if not any(node.op == "unit" for node in walk(expr)):
        return expr
    if not difference:
        product = _product(expr)
        if product is not None and product.offset and product.has_number:
            value = _value(product)
            return Expr("mul", (number(value), symbol(r"\unit{K}")))
    return _resolved(expr)


def with_italic_units(expr: Expr, taken: frozenset[str]) -> Expr | None:
    r"""A number with italic letters behind it that spell units (`50 Hz`, `36 km/h`, `9.8 m s^{-2}`), as a quantity.

    A guess, and made as one: only for a whole member, only where no letter is a symbol of the problem (semantics U).

    Args:
        expr: one member of a formula.
        taken: names that are symbols.

    Returns:
        The member with unit leaves, or None if it is nothing of this kind.

    >>> from prism.latex import parse
    >>> str(with_italic_units(parse("36 km/h").members[0], frozenset()))
    '36*[km]*[h]^(-1)'
    """
    if expr.op == "neg":
        inner = with_italic_units(expr.args[0], taken)
        return None if inner is None else Expr("neg", (inner,))
    factors = _italic_factors(expr, 1)
    if not factors or factors[0][0].op != "num" or any(base.op == "num" for base, _ in factors[1:]):
        return None
    letters = [(_UNIT_LETTERS.get(base.name, base.name), power) for base, power in factors[1:]]
    if not letters or any(base.name in taken or (len(base.name) > 1 and base.name not in _UNIT_LETTERS)
                          for base, _ in factors[1:]):  # fmt: skip
        return None
    parts: list[Expr] = [factors[0][0]]
    start = 0
    while start < len(letters):
        stop = _italic_unit_end(letters, start)
        if stop is None:
            return None
        leaf, power = Expr("unit", name="".join(name for name, _ in letters[start:stop])), letters[stop - 1][1]
        parts.append(leaf if power == 1 else Expr("pow", (leaf, number(power))))
        start = stop
    return Expr("mul", tuple(parts))


_UNIT_LETTERS = {r"\mu": "µ", r"\Omega": "ohm"}  # Greek letters that stand in units, and what they stand for
_MAX_ITALIC = 8  # letters; a longer run is a product


def _italic_factors(node: Expr, sign: int) -> list[tuple[Expr, int]]:
    """Factors in order with their whole exponents; empty if the node is no product of numbers and symbols."""
    if node.op in ("num", "sym"):
        return [(node, sign)]
    if node.op in ("mul", "div"):
        signs = [sign] * len(node.args) if node.op == "mul" else [sign, -sign]
        parts = [_italic_factors(arg, each) for arg, each in zip(node.args, signs, strict=True)]
        return [factor for part in parts for factor in part] if all(parts) else []
    if node.op == "pow" and node.args[0].op == "sym":
        exponent = node.args[1]
        negative = exponent.op == "neg"
        value = exponent.args[0].value if negative else exponent.value
        if value is not None and value.denominator == 1 and 0 < value <= MAX_UNIT_POWER:
            return [(node.args[0], int(value) * (-sign if negative else sign))]
    return []


def _italic_unit_end(letters: list[tuple[str, int]], start: int) -> int | None:
    """End of the longest unit that begins here; only its last letter may carry an exponent."""
    for stop in range(min(len(letters), start + _MAX_ITALIC), start, -1):
        same = all(power in (1, letters[stop - 1][1]) for _, power in letters[start : stop - 1])
        negative = letters[stop - 1][1] < 0 and any(power > 0 for _, power in letters[start : stop - 1])
        if same and not negative and unit("".join(name for name, _ in letters[start:stop])) is not None:
            return stop
    return None


def _resolved(node: Expr) -> Expr:
    """One node and what is below it. Recursion is bounded by the parser's depth limit."""
    if node.op == "unit":
        return unit_expr(node.name) or symbol(rf"\unit{{{node.name}}}")
    if not node.args:
        return node
    args = node.args
    if node.op in ("add", "sub"):
        degrees = [bool(_offset_of(arg)) for arg in args]
        if any(degrees) and not (all(degrees) and node.op == "sub"):
            args = tuple(_kept(arg) if is_degrees else arg for arg, is_degrees in zip(args, degrees, strict=True))
    return Expr(node.op, tuple(_resolved(arg) for arg in args), node.name, node.value)


def _offset_of(node: Expr) -> Fraction:
    """Offset of a number of degrees; 0 for anything else."""
    product = _product(node)
    return Fraction(0) if product is None else product.offset


def _kept(node: Expr) -> Expr:
    """A number of degrees with its unit as a symbol: it is not known whether the zero is shifted."""
    if node.op == "unit":
        return symbol(rf"\unit{{{node.name}}}")
    return Expr(node.op, tuple(_kept(arg) for arg in node.args), node.name, node.value) if node.args else node


def _spelled_out(factor: Fraction, pi: int, dimension: Dimension) -> Expr:
    factors = [] if factor == 1 or pi else [number(factor)]
    if pi:
        power = Expr("const", name="pi")
        above = [number(factor.numerator)] * (factor.numerator != 1) + [power] * (pi > 0)
        below = [number(factor.denominator)] * (factor.denominator != 1) + [power] * (pi < 0)
        if abs(pi) != 1:
            raised = Expr("pow", (power, number(abs(pi))))
            above, below = ([raised if part == power else part for part in parts] for parts in (above, below))
        top = _times(above)
        factors = [Expr("div", (top, _times(below))) if below else top]
    for name, exponent in zip(BASE_UNITS, dimension, strict=True):
        if exponent:
            base = symbol(rf"\unit{{{name}}}")
            factors.append(base if exponent == 1 else Expr("pow", (base, number(exponent))))
    return _times(factors)


def _times(factors: list[Expr]) -> Expr:
    if not factors:
        return number(1)
    return factors[0] if len(factors) == 1 else Expr("mul", tuple(factors))


@lru_cache(maxsize=MAX_CACHED)
def _find_unit(name: str) -> Unit | None:
    table = unit_table()
    if name.startswith("\\") and (found := _find_word(table, name[1:])) is not None:
        return found  # siunitx spells its units as words: \meter, never \min
    # blanks within stay: `m K` is no millikelvin
    for spelling in (name, _cleaned(name).strip("{} ")):
        found = table.exact.get(spelling)
        if found is not None:
            return found
        if spelling in table.prefixed:
            power, bare = table.prefixed[spelling]
            return _scaled(table.exact[bare], power)
        found = _find_word(table, spelling)
        if found is not None:
            return found
    return None


def _find_word(table: UnitTable, spelling: str) -> Unit | None:
    """`metres`, `Joule`, `kilograms`, `light-years`; a word in mixed case (`mEter`) is none."""
    word = spelling.lower()
    if spelling not in (word, word.capitalize()) and not _APART.search(spelling):
        return None
    word = _APART.sub(" ", word)
    if word in table.words:
        return table.words[word]
    for prefix, power in PREFIX_WORDS.items():
        rest = word.removeprefix(prefix)
        if rest != word and rest in table.prefixable:
            return _scaled(table.words[rest], power)
    return None


_APART = re.compile("[ _-]+")  # between the words of one name: light year, light-year, and light_year in code


_HYPHEN = re.compile("(?<=[A-Za-zΩ])-(?=[A-Za-zΩµ])")  # of a product: N-m, kW-h


@cache
def _names_of_words() -> re.Pattern[str]:
    """Names of several words, the longest first, with the prefix that may stand before them (`kilotons of TNT`)."""
    names = sorted((word for word in unit_table().words if " " in word), key=len, reverse=True)
    prefixes = "|".join(PREFIX_WORDS)
    spelled = "|".join(name.replace(" ", "[ _-]+") for name in names)
    return re.compile(rf"(?<![A-Za-z])(?:{prefixes})?(?:{spelled})(?![A-Za-z])", re.IGNORECASE)


def _scaled(base: Unit, power: int) -> Unit:
    names = {value: key for key, value in PREFIX_WORDS.items()}
    name = f"{names.get(power, f'10^{power} ')}{base.name}"
    return Unit(name, base.factor * Fraction(10) ** power, base.dimension, Fraction(0), base.pi)


# What stands for what in LaTeX, siunitx and Unicode; the order matters.
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_Rules = tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]


@cache
def _markup() -> _Rules:
    """Rules for LaTeX and Unicode; compiled on first use, as most starts never meet them."""
    return (
        (re.compile(r"[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+"), lambda m: f"^{{{m[0].translate(_SUPERSCRIPTS)}}}"),
        (re.compile(r"[−–]"), "-"),
        (re.compile(r"\\(?:SI|qty)\s*\{([^{}]*)\}"), r"\1 "),
        (re.compile(r"[×·⋅∙•]|\\(?:cdot|times)(?![A-Za-z])"), "*"),
        (re.compile(r"\\[,;:!> ]|~|\\quad|[\u00a0\u2009\u202f]|\\(?:left|right)(?![A-Za-z])|\$"), " "),
        (re.compile(r"\\(?:unit|si|mathrm|text|textrm|rm|mathit|mathsf|operatorname)(?![A-Za-z])"), ""),
        (re.compile(r"(?:\{\s*\})?\^\s*\{?\s*\\(?:circ|degree)\s*\}?|\\(?:degree|textdegree)(?![A-Za-z])"), "°"),
        (re.compile(r"\\(?:degreeCelsius|celsius)(?![A-Za-z])"), "°C"),
        (re.compile(r"°\s*\{?\s*([CFR])(?![A-Za-z])\s*\}?"), r"°\1"),
        (re.compile(r"°\s*[Cc]elsius"), "°C"),
        (re.compile(r"\^\s*\{?\s*\\prime\s*\}?"), "′"),
        (re.compile(r"\\(?:Omega|ohm)(?![A-Za-z])"), "Ω"),
        (re.compile(r"\\(?:mu|upmu|textmu)(?![A-Za-z])|μ"), "µ"),
        (re.compile(r"µ\s*\{\s*([A-Za-z]+|Ω)\s*\}"), r"µ\1"),
        (re.compile(r"µ\s+(?=[A-Za-zΩ])"), "µ"),
        (re.compile(r"\\(?:AA|angstrom)(?![A-Za-z])"), "Å"),
        (re.compile(r"\\(?:%|percent(?![A-Za-z]))"), "%"),
        (re.compile(rf"\\({'|'.join(PREFIX_WORDS)})\s*\\(?=[a-z])"), r"\\\1"),
        (re.compile(r"\\squared(?![A-Za-z])"), "^2"),
        (re.compile(r"\\cubed(?![A-Za-z])"), "^3"),
        (re.compile(r"\\tothe(?![A-Za-z])"), "^"),
        (re.compile(r"\\per(?![A-Za-z])"), "/"),
    )


@cache
def _wording() -> _Rules:
    """Rules for plain words."""
    return (
        (re.compile(r"(?<=[A-Za-z]{3})(?<!delta)_(?=[A-Za-z]{3})|(?<=per)_|(?<=[A-Za-z]{2})_(?=per\b)"), " "),
        (re.compile(r"\b(?:deg|degrees?) +(C|F|[Cc]elsius|[Ff]ahrenheit)\b"), lambda m: "°" + m[1][0].upper()),
        (re.compile(r"\b(mm|cm|m|in|ft)[ _]+(Hg|H2O)\b"), r"\1\2"),
        (re.compile(r"\b([A-Za-z]+)[ _]+Hg\b"), r"\1 of mercury"),
        (re.compile(r"\b([A-Za-z]+)[ _]+H2O\b"), r"\1 of water"),
        (re.compile(r"\b(?:sq\.?|square)[ _]+(?=[A-Za-z])"), "square "),
        (re.compile(r"\b(?:cu\.?|cubic)[ _]+(?=[A-Za-z])"), "cubic "),
        (re.compile(r"[ _]+squared\b"), "^2"),
        (re.compile(r"[ _]+cubed\b"), "^3"),
        (re.compile(r"\bparts? per (?:m|b|tr)illions?\b"), lambda m: m[0].replace(" ", "_")),
        (re.compile(r"\bper\b"), "/"),
        (re.compile(r"\*\*"), "^"),
    )


def _cleaned(text: str) -> str:
    """Text in the one spelling that the two readers below know."""
    # NFC folds the ohm and angstrom signs into the letters; superscripts go first, as NFKC would lose their height
    clean = unicodedata.normalize("NFC", text)
    marked = not clean.isascii() or any(mark in clean for mark in "\\$~")
    for pattern, put in _markup() + _wording() if marked else _wording():
        clean = pattern.sub(put, clean)
    return clean.strip()


_TOKEN = re.compile(
    r"\s*(?:(?P<name>\\?[A-Za-zµΔΩÅåöℓ℧℃℉°%‰′″'\"]+(?:2O(?![A-Za-z])|(?:_[A-Za-z]+|_15(?!\d))+)?)(?P<glued>[+-]?\d+(?![\d.]))?|(?P<one>1)(?=\s*/)"
    r"|\^\s*(?P<power>[+-]?\d+|\{\s*[+-]?\d+(?:/\d+)?\s*\}|\(\s*[+-]?\d+(?:/\d+)?\s*\))|(?P<mark>[*/(){}]))"
)


class _NoReadingError(PrismError):
    """Text that is no unit, or one that can be read in two ways."""


@lru_cache(maxsize=MAX_CACHED)
def _read_units(text: str) -> Unit | None:
    """A product of units: `J/(mol K)`, `m s^-2`, `kg·m²`; None if it is none or has two readings."""
    try:
        return _unit_or_fault(text)
    except _NoReadingError:
        return None


def _unit_or_fault(text: str) -> Unit:
    if len(text) > MAX_TEXT:
        raise _NoReadingError(f"{len(text)} characters are too many for a unit")
    clean, tokens, at = _cleaned(text), [], 0
    if " " in clean or "_" in clean or "-" in clean:
        clean = _names_of_words().sub(lambda words: _APART.sub("_", words[0]), clean)
        clean = _HYPHEN.sub("*", clean)
    while at < len(clean):
        token = _TOKEN.match(clean, at)
        if token is None:
            raise _NoReadingError(f"{clean[at:].strip()!r} is no unit")
        tokens.append(token)
        at = token.end()
    reader = _UnitReader(tokens, with_light="eV" in clean)
    found = reader.product()
    if reader.tokens:
        raise _NoReadingError(f"{reader.tokens[0][0].strip()!r} stands alone")
    return Unit(text, found.factor, found.dimension, found.offset, found.pi)


@dataclass(slots=True)
class _UnitReader:
    """What is left to read of a product of units.

    Attributes:
        tokens: the rest.
        with_light: `c` is the speed of light (`MeV/c^2`).
    """

    tokens: list[re.Match[str]]
    with_light: bool

    def product(self) -> Unit:
        """Factors side by side; a slash divides by the one factor after it.

        `J/mol K` is refused: it is written for J/(mol K) and reads J K/mol (SI brochure, 5.4.6).
        """
        divided = bool(self.tokens) and self.tokens[0]["mark"] == "/"
        found = Unit("", Fraction(1), _NONE) if divided else self.factor()
        divided = False
        while self.tokens and self.tokens[0]["mark"] not in (")", "}"):
            mark = self.tokens[0]["mark"]
            if mark in ("*", "/"):
                self.tokens.pop(0)
            if mark == "/":
                divided = True
            elif divided:
                raise _NoReadingError("a product after a slash has two readings; put it in brackets, as in J/(mol K)")
            found = _times_unit(found, self.factor(), -1 if mark == "/" else 1)
        return found

    def factor(self) -> Unit:
        """A name or a bracket, with its exponent."""
        if not self.tokens:
            raise _NoReadingError("a unit is missing at the end")
        token = self.tokens.pop(0)
        if token["one"]:
            return Unit("", Fraction(1), _NONE)
        if token["mark"] in ("(", "{"):
            found = self.product()
            closing = ")" if token["mark"] == "(" else "}"
            if not self.tokens or self.tokens.pop(0)["mark"] != closing:
                raise _NoReadingError(f"{closing!r} is missing")
        elif token["name"] and token["name"].lower() in ("square", "cubic", "\\square", "\\cubic"):
            return _to_power(self.factor(), Fraction(2 if "square" in token["name"].lower() else 3))
        elif token["name"]:
            found = self.named(token)
        else:
            raise _NoReadingError(f"{token[0].strip()!r} stands where a unit should")
        if self.tokens and self.tokens[0]["power"]:
            exponent = self.tokens.pop(0)["power"].strip("{}() ")
            found = _to_power(found, _rational(exponent))
        return found

    def named(self, token: re.Match[str]) -> Unit:
        """One name, and the exponent that stands right after it (`s-1`, `m2`)."""
        name = token["name"]
        if self.with_light and name == "c":
            found: Unit | None = unit("speed of light")
        else:
            found = unit(name)
        if found is None:
            raise _NoReadingError(f"{name!r} is no unit that the table knows")
        if token["glued"]:
            if not name.isalpha() or not int(token["glued"]):  # 5°30 is an angle in two parts, g0 a symbol
                raise _NoReadingError(f"{token[0].strip()!r} is no unit")
            found = _to_power(found, Fraction(token["glued"]))
        return found


def _rational(text: str) -> Fraction:
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise _NoReadingError(f"{text!r} divides by zero") from None


def _times_unit(left: Unit, right: Unit, sign: int) -> Unit:
    """Product or quotient. An offset is lost: in J/(kg °C) the unit is a difference."""
    right = _to_power(right, Fraction(sign))
    dimension = tuple(a + b for a, b in zip(left.dimension, right.dimension, strict=True))
    return Unit("", left.factor * right.factor, dimension, Fraction(0), left.pi + right.pi)


def _to_power(base: Unit, exponent: Fraction) -> Unit:
    if exponent == 1:
        return base
    if abs(exponent) > MAX_UNIT_POWER:
        raise _NoReadingError(f"the exponent {exponent} is too large for a unit")
    if exponent.denominator != 1 and (base.factor != 1 or base.pi):
        raise _NoReadingError(f"{base.name} to the power {exponent} has no exact factor")
    factor = Fraction(1) if base.factor == 1 else base.factor ** int(exponent)
    if max(factor.numerator.bit_length(), factor.denominator.bit_length()) > MAX_BITS:
        raise _NoReadingError(f"{base.name} to the power {exponent} is too large")
    dimension = tuple(power * exponent for power in base.dimension)
    return Unit("", factor, dimension, Fraction(0), int(base.pi * exponent))


# Quantities -----------------------------------------------------------------------------------------------------

_NUMBER = re.compile(
    r"\s*(?P<sign>[+-]?)\s*(?:(?P<over>\d+)/(?P<under>\d+)(?![\d.]*[A-Za-z^])"
    r"|(?P<digits>\d+(?:\.\d*)?|\.\d+)(?:[eE](?P<exponent>[+-]?\d+))?"
    r"(?:\s*[*xX]\s*10\s*\^\s*(?P<tens>[+-]?\d+|\{\s*[+-]?\d+\s*\}|\(\s*[+-]?\d+\s*\)))?)"
)
_TENS_ONLY = re.compile(r"\s*(?P<sign>[+-]?)\s*10\s*\^\s*(?P<tens>[+-]?\d+|\{\s*[+-]?\d+\s*\}|\(\s*[+-]?\d+\s*\))")


def quantity(source: str | Expr) -> Quantity | None:
    r"""A number with its unit, in coherent SI; None if it is none, or has two readings.

    Args:
        source: plain text as it stands in a problem's `givens` (`9.8 m/s^2`, `2.8e6 kg`, `55°`), text with `\unit{}`,
            or an expression that is a product of numbers and units.

    >>> quantity("36 km/h").value, quantity("90.0 degC").value, quantity("8.31 J/mol K")
    (Fraction(10, 1), Fraction(7263, 20), None)
    """
    if isinstance(source, Expr):
        product = _product(_with_light(source))
        if product is None or not product.has_number:
            return None
        return Quantity(_value(product), product.dimension)
    try:
        return read_quantity(source)
    except PrismError:
        return None


def is_unit(node: Expr) -> bool:
    """Whether a factor is made of units alone: `m`, `s^{-1}`, `J/(mol K)`, `1/s`."""
    if node.op == "pow":
        return is_unit(node.args[0])
    if node.op == "div" and node.args[0].value == 1:
        return is_unit(node.args[1])
    return node.op == "unit" or (node.op in ("mul", "div") and all(is_unit(arg) for arg in node.args))


def unit_of(node: Expr) -> Unit | None:
    """A product of units as one unit; None if one of them is unknown, or a number stands among them."""
    found = _product(node)
    if found is None or found.has_number:
        return None
    return Unit("", found.factor, found.dimension, found.offset, found.pi)


_LIGHT = {symbol("c"): Expr("unit", name="speed of light")}


def _with_light(expr: Expr) -> Expr:
    """`c` beside electronvolts is the speed of light: 938 MeV/c^2 is a mass."""
    if any(node.op == "unit" and node.name.endswith("eV") for node in walk(expr)):
        return substitute(expr, _LIGHT)
    return expr


def read_quantity(text: str) -> Quantity:
    """As `quantity`, for an author's text: what cannot be read raises, and says why.

    Errors:
        PrismError: no number, an unknown unit, or two readings.
    """
    value, found = _number_and_unit(text)
    return Quantity(value * found.factor * PI**found.pi + found.offset, found.dimension)


def quantity_expr(text: str) -> Expr:
    r"""As `read_quantity`, as number times base-unit symbols; pi stays pi, so that 45° is `\pi/4`.

    >>> str(quantity_expr("45 deg")), str(quantity_expr("2.5 km"))
    ('pi/4', '2500*\\unit{m}')
    """
    value, found = _number_and_unit(text)
    if found.offset:
        value, found = value * found.factor + found.offset, replace(found, factor=Fraction(1))
    return _spelled_out(value * found.factor, found.pi, found.dimension)


def _number_and_unit(text: str) -> tuple[Fraction, Unit]:
    if len(text) > MAX_TEXT:
        raise PrismError(f"{len(text)} characters are too many for a number with its unit; {MAX_TEXT} are read")
    clean = _cleaned(text)
    head = _TENS_ONLY.match(clean) or _NUMBER.match(clean)
    if head is None:
        raise PrismError(f"{text!r} does not start with a number; write it as in '9.8 m/s^2'")
    rest = clean[head.end() :].lstrip()
    if re.match(r"[\d.,^+-]", rest):
        raise PrismError(f"{text!r} goes on with {rest[:10]!r} after its number; write it as in '9.8e3 m/s^2'")
    value = _number_value(head)
    if not rest.strip():
        return value, Unit("", Fraction(1), _NONE)
    try:
        return value, _unit_or_fault(rest.removeprefix("*"))
    except _NoReadingError as fault:
        raise PrismError(f"{text!r}: {fault}") from fault


def _number_value(match: re.Match[str]) -> Fraction:
    parts = match.groupdict()
    power = int(parts.get("exponent") or 0) + int((parts.get("tens") or "0").strip("{}() "))
    if abs(power) > MAX_TEN_POWER:
        raise PrismError(f"10^{power} is beyond what can be computed with")
    if parts.get("over"):
        if not int(parts["under"]):
            raise PrismError(f"{match[0].strip()!r} divides by zero")
        value = Fraction(int(parts["over"]), int(parts["under"]))
    else:
        value = Fraction(parts.get("digits") or 1)
    return (-value if parts["sign"] == "-" else value) * Fraction(10) ** power


@dataclass(frozen=True, slots=True)
class _Product:
    """A product of numbers and units.

    Attributes:
        factor, dimension, pi: as in `Unit`.
        offset: set while it is a number times one bare degC or degF.
        has_number: a bare unit is no quantity.
    """

    factor: Fraction
    dimension: Dimension = _NONE
    offset: Fraction = Fraction(0)
    pi: int = 0
    has_number: bool = True


def _value(product: _Product) -> Fraction:
    return product.factor * PI**product.pi + product.offset


def _product(node: Expr) -> _Product | None:
    """A node as a product of numbers and units; None if it is none. Recursion: the parser's depth limit."""
    if node.op == "num" and node.value is not None:
        return _bounded(_Product(node.value))
    if node.op == "const" and node.name == "pi":
        return _Product(Fraction(1), pi=1)
    if node.op == "unit":
        found = unit(node.name) or _read_units(node.name)
        if found is None:
            return None
        return _Product(found.factor, found.dimension, found.offset, found.pi, has_number=False)
    if node.op == "neg":
        return _joined(_Product(Fraction(-1)), _product(node.args[0]))
    if node.op == "mul":
        total: _Product | None = _Product(Fraction(1), has_number=False)
        for arg in node.args:
            total = None if total is None else _joined(total, _product(arg))
        return total
    if node.op == "div":
        above, below = _product(node.args[0]), _product(node.args[1])
        quotient = None if above is None or below is None else _joined(above, _raised(below, Fraction(-1)))
        return None if quotient is None else replace(quotient, offset=Fraction(0))
    if node.op == "pow":
        base, exponent = _product(node.args[0]), _product(node.args[1])
        if base is None or exponent is None or exponent.pi or any(exponent.dimension):
            return None
        return _raised(base, exponent.factor)
    return None


def _bounded(product: _Product) -> _Product | None:
    bits = max(product.factor.numerator.bit_length(), product.factor.denominator.bit_length())
    return product if bits <= MAX_BITS else None


def _joined(left: _Product, right: _Product | None) -> _Product | None:
    """Product of two; an offset lives on only beside plain numbers (`-5 degC`, not `J/(kg degC)`)."""
    if right is None:
        return None
    bare = not (any(left.dimension) and any(right.dimension)) and not (left.pi or right.pi)
    return _bounded(
        _Product(
            left.factor * right.factor,
            tuple(a + b for a, b in zip(left.dimension, right.dimension, strict=True)),
            left.offset + right.offset if bare else Fraction(0),
            left.pi + right.pi,
            left.has_number or right.has_number,
        )
    )


def _raised(base: _Product, exponent: Fraction) -> _Product | None:
    limit = MAX_UNIT_POWER if any(base.dimension) or base.pi else MAX_TEN_POWER
    if abs(exponent) > limit or (not base.factor and exponent <= 0):
        return None
    if exponent.denominator != 1 and (base.factor != 1 or base.pi):
        return None
    bits = max(base.factor.numerator.bit_length(), base.factor.denominator.bit_length())
    if base.factor != 1 and bits * abs(exponent) > MAX_BITS:
        return None
    factor = Fraction(1) if base.factor == 1 else base.factor ** int(exponent)
    dimension = tuple(power * exponent for power in base.dimension)
    offset = base.offset if exponent == 1 else Fraction(0)
    return _Product(factor, dimension, offset, int(base.pi * exponent), base.has_number)


# Literals that are constants --------------------------------------------------------------------------------------


def constants_of(
    value: Fraction,
    dimension: Dimension | None,
    figures: int,
    *,
    among: frozenset[str],
    scale: Fraction = Fraction(1),
) -> tuple[str, ...]:
    """Symbols whose constant a literal is: 3.00e8 m/s is c, 6.63e-34 J s is h, 9.8 m/s^2 is g.

    A literal is a constant if it is the constant's value, now or in a former adjustment, rounded as the literal is
    written; or if it is one of the values that textbooks use instead. One figure says too little: `3e8` is c only
    because the table has it.

    Args:
        value: [coherent SI]; only positive numbers are constants.
        dimension: exponents of the base units; None where no unit is written, and then only the value is compared.
        figures: significant figures that are written.
        among: symbols in the parser's spelling; the caller knows which of them the problem leaves free.
        scale: the written unit in coherent SI. 13.6 eV has its half unit in the last place in eV, not in J.

    Returns:
        The symbols in alphabetical order; several where one value is several constants (1.67e-27 kg is m_p and m_n).

    >>> free = frozenset(["h", "g", "c", "k"])
    >>> constants_of(Fraction("6.63e-34"), read_quantity("1 J s").dimension, 3, among=free)
    ('h',)
    >>> constants_of(Fraction("8.99e9"), None, 3, among=free), constants_of(Fraction("6.26e-34"), None, 3, among=free)
    (('k',), ())
    """
    if value <= 0 or scale <= 0:
        return ()
    written = value / scale
    half = Fraction(10) ** (_leading_power(written) - max(1, min(figures, MAX_FIGURES)) + 1) * scale / 2
    readings = {name: constant_table().readings(name) for name in sorted(among)}
    return tuple(
        name
        for name, known in readings.items()
        if any(_is_written_as(value, dimension, half if figures > 1 else Fraction(0), reading) for reading in known)
    )


def _is_written_as(value: Fraction, dimension: Dimension | None, half: Fraction, reading: Reading) -> bool:
    if reading.value is None or dimension not in (None, reading.value.dimension):
        return False
    near = any(abs(known - value) <= half for known in (reading.value.value, *reading.earlier))
    return near or value in reading.textbook


def _leading_power(value: Fraction) -> int:
    """Power of ten of the first figure of a positive number."""
    power = (value.numerator.bit_length() - value.denominator.bit_length()) * 301 // 1000
    while value >= Fraction(10) ** (power + 1):
        power += 1
    while value < Fraction(10) ** power:
        power -= 1
    return power


# The two tables -------------------------------------------------------------------------------------------------


@cache
def unit_table() -> UnitTable:
    """The shipped units, read once, on first use."""
    return read_unit_table(resource(_UNITS_FILE).read_text(encoding="utf-8"), file=_UNITS_FILE)


@cache
def constant_table() -> ConstantTable:
    """The shipped constants, read once, on first use."""
    return read_constant_table(resource(_CONSTANTS_FILE).read_text(encoding="utf-8"), file=_CONSTANTS_FILE)


_UNIT_KEYS = frozenset(["name", "spellings", "words", "factor", "dimension", "pi", "offset", "prefixes", "source"])
_CONSTANT_KEYS = frozenset(
    ["name", "symbols", "loose", "value", "unit", "uncertainty", "year", "source", "earlier", "textbook", "identities"]
)


def read_unit_table(text: str, *, file: str) -> UnitTable:
    """Units of a table in TOML, checked whole.

    Errors:
        DataFileError: naming every row and field at fault.
    """
    faults: list[str] = []
    exact: dict[str, Unit] = {}
    words: dict[str, Unit] = {}
    takes: list[tuple[str, str]] = []
    prefixable: set[str] = set()
    for where, row in _rows(text, "unit", _UNIT_KEYS, file, faults):
        found = _unit_of_row(row, where, faults)
        prefixes = _prefixes(_text(row, "prefixes", where, faults), where, faults)
        for spelling in _texts(row, "spellings", where, faults):
            _claim(exact, spelling, found, where, faults)
            takes += [(prefix, spelling) for prefix in prefixes]
        for word in _texts(row, "words", where, faults):
            for form in (word,) if word[-1:] in "sxz" else (word, f"{word}s"):
                _claim(words, form, found, where, faults)
                if prefixes:
                    prefixable.add(form)
    prefixed: dict[str, tuple[int, str]] = {}
    for prefix, spelling in takes:
        for sign in ("µ", "u") if prefix == "µ" else (prefix,):
            split = (PREFIXES[prefix], spelling)
            if sign + spelling in prefixed and sign + spelling not in exact:
                faults.append(f"spellings: {sign + spelling!r} is {prefixed[sign + spelling][1]!r} and {spelling!r}")
            prefixed[sign + spelling] = split
    if faults:
        raise DataFileError(file, tuple(faults))
    return UnitTable(exact, prefixed, words, frozenset(prefixable))


def read_constant_table(text: str, *, file: str) -> ConstantTable:
    r"""Constants of a table in TOML, checked whole; identities are parsed, and so are the symbols.

    A symbol is known by the table's spelling and by the parser's (`k_{\rm B}` and `k_B`).

    Errors:
        DataFileError: naming every row and field at fault.
    """
    faults: list[str] = []
    by_symbol: dict[str, list[Reading]] = {}
    used: list[tuple[str, frozenset[str]]] = []
    for where, row in _rows(text, "constant", _CONSTANT_KEYS, file, faults):
        readings = _readings_of_row(row, where, faults)
        used += [(where, symbols(reading.expr)) for reading in readings if reading.expr is not None]
        # two symbols with the same identity are one to the engine, and k_0 is not k
        values = [replace(reading, expr=None, latex="") for reading in readings[:1]]
        meant = [(spelling, readings) for spelling in _texts(row, "symbols", where, faults)]
        for spelling, each in meant + [(spelling, values) for spelling in _texts(row, "loose", where, faults)]:
            name = _symbol_name(spelling, where, faults)
            for known in dict.fromkeys((name, spelling)):
                named = [replace(reading, symbol=name) for reading in each]
                if any(old.constant == new.constant for old in by_symbol.get(known, []) for new in named):
                    continue  # two spellings that the parser folds into one
                by_symbol.setdefault(known, []).extend(named)
    for where, names in used:
        if unknown := sorted(names - by_symbol.keys()):
            faults.append(f"{where}, identities: no constant has the symbol {', '.join(unknown)}")
    if faults:
        raise DataFileError(file, tuple(faults))
    return ConstantTable({name: tuple(readings) for name, readings in by_symbol.items()})


def _rows(text: str, key: str, known: frozenset[str], file: str, faults: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """Rows with the words that name them in a fault."""
    import tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise DataFileError(file, (f"is no TOML: {fault}",)) from fault
    rows = table.get(key)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows) or set(table) != {key}:
        raise DataFileError(file, (f"holds {', '.join(table) or 'nothing'}; expected a list of tables named `{key}`",))
    named = [(f"{key} {place} ({row.get('name', 'without name')})", row) for place, row in enumerate(rows, start=1)]
    for where, row in named:
        if extra := sorted(row.keys() - known):
            faults.append(f"{where}: unknown key {', '.join(extra)}; keys are {', '.join(sorted(known))}")
        faults += [f"{where}, {need}: is missing" for need in ("name", "source") if not row.get(need)]
    return named


def _unit_of_row(row: dict[str, Any], where: str, faults: list[str]) -> Unit:
    factor = _exact(row, "factor", where, faults)
    if factor <= 0:
        faults.append(f"{where}, factor: {row.get('factor')!r} is not above 0")
    dimension = _NONE
    try:
        dimension = _dimension(_text(row, "dimension", where, faults))
    except ValueError as fault:
        faults.append(f"{where}, dimension: {fault}")
    pi = row.get("pi", 0)
    if not isinstance(pi, int):
        faults.append(f"{where}, pi: {pi!r} is no whole number")
        pi = 0
    offset = _exact(row, "offset", where, faults) if "offset" in row else Fraction(0)
    if offset and dimension != _dimension("K"):
        faults.append(f"{where}, offset: only a temperature has one")
    return Unit(str(row.get("name", "")), factor, dimension, offset, pi)


def _readings_of_row(row: dict[str, Any], where: str, faults: list[str]) -> list[Reading]:
    base, value = Unit("", Fraction(1), _NONE), None
    if text := _text(row, "unit", where, faults):
        found = unit(text) or _read_units(text)
        if found is None or found.offset:
            faults.append(f"{where}, unit: {text!r} is no unit; write it as in 'J/(mol K)'")
        base = found or base
    scale = base.factor * PI**base.pi
    if "value" in row:
        value = Quantity(_exact(row, "value", where, faults) * scale, base.dimension)
    identities = _texts(row, "identities", where, faults)
    if value is None and not identities:
        faults.append(f"{where}: needs a value or identities")
    textbook, earlier = (_further_values(row, key, where, faults) for key in ("textbook", "earlier"))
    plain = Reading(
        symbol="",
        constant=str(row.get("name", "")),
        expr=None,
        value=value,
        uncertainty=_exact(row, "uncertainty", where, faults) * scale if value else Fraction(0),
        figures=len(re.sub(r"e.*|\D", "", str(row.get("value", ""))).lstrip("0")),
        textbook=tuple(number * scale for number in textbook),
        earlier=tuple(number * scale for number in earlier),
        year=row["year"] if isinstance(row.get("year"), int) else 0,
        source=str(row.get("source", "")),
    )
    if value is not None and not plain.year:
        faults.append(f"{where}, year: the year of the adjustment is missing")
    if not identities:
        return [plain]
    return [replace(plain, expr=_identity(latex, where, faults), latex=latex) for latex in identities]


def _further_values(row: dict[str, Any], key: str, where: str, faults: list[str]) -> list[Fraction]:
    """Numbers of a list; `4e-7 pi` is how the permeability is usually written."""
    parts = [text.partition(" pi") for text in _texts(row, key, where, faults)]
    return [_exact({key: digits + rest}, key, where, faults) * (PI if pi else 1) for digits, pi, rest in parts]


def _identity(latex: str, where: str, faults: list[str]) -> Expr | None:
    from prism.latex import parse

    try:
        read = parse(latex)
    except LatexSyntaxError as fault:
        faults.append(f"{where}, identities: {latex!r} does not parse: {str(fault).splitlines()[0]}")
        return None
    if read.kind != "expression":
        faults.append(f"{where}, identities: {latex!r} is no expression; leave out the constant and its `=`")
        return None
    return read.members[0]


def _symbol_name(latex: str, where: str, faults: list[str]) -> str:
    """A symbol in the parser's spelling."""
    from prism.latex import parse

    try:
        read = parse(latex)
    except LatexSyntaxError as fault:
        faults.append(f"{where}, symbols: {latex!r} does not parse: {str(fault).splitlines()[0]}")
        return latex
    node = read.members[0] if read.kind == "expression" else None
    if node is None or node.op != "sym":
        faults.append(f"{where}, symbols: {latex!r} is no single symbol; words stand in \\mathrm{{...}}")
        return latex
    return node.name


def _claim(taken: dict[str, Unit], spelling: str, found: Unit, where: str, faults: list[str]) -> None:
    """Two units of one name are a fault, unless they are the same."""
    old = taken.setdefault(spelling, found)
    if old != found:
        faults.append(f"{where}, spellings: {spelling!r} is {old.name} already")


def _prefixes(text: str, where: str, faults: list[str]) -> tuple[str, ...]:
    items = THOUSANDS if text == "thousands" else tuple(text.split())
    if unknown := [item for item in items if item not in PREFIXES]:
        faults.append(f"{where}, prefixes: {', '.join(unknown)}; expected `thousands`, or some of {' '.join(PREFIXES)}")
    return tuple(item for item in items if item in PREFIXES)


@lru_cache(maxsize=256)
def _dimension(text: str) -> Dimension:
    """`kg m^2 s^-2` as exponents; an empty text is a number."""
    powers = dict.fromkeys(BASE_UNITS, Fraction(0))
    for factor in text.split():
        name, _, exponent = factor.partition("^")
        if name not in powers or not re.fullmatch(r"(?:-?\d+(?:/\d+)?)?", exponent):
            raise ValueError(f"{factor!r} in {text!r}; expected base units with exponents, as in 'kg m^2 s^-2'")
        powers[name] += Fraction(exponent or 1)
    return tuple(powers.values())


def _exact(row: Mapping[str, Any], key: str, where: str, faults: list[str]) -> Fraction:
    text = row.get(key)
    if isinstance(text, str) and re.fullmatch(r"-?\d+(?:\.\d+)?(?:e-?\d{1,3})?|\d+/[1-9]\d*", text):
        return Fraction(text)
    faults.append(f"{where}, {key}: {text!r}; expected a number in quotes, as in '1.5e-3' or '1/60'")
    return Fraction(1)


def _text(row: Mapping[str, Any], key: str, where: str, faults: list[str]) -> str:
    text = row.get(key, "")
    if isinstance(text, str):
        return text
    faults.append(f"{where}, {key}: {text!r} is no text in quotes")
    return ""


def _texts(row: Mapping[str, Any], key: str, where: str, faults: list[str]) -> list[str]:
    items = row.get(key, [])
    if isinstance(items, list) and all(isinstance(item, str) and item for item in items):
        return items
    faults.append(f"{where}, {key}: {items!r} is no list of texts in quotes")
    return []
