r"""The grammar of units as text: `kg m^2/s^2`, `\kilo\metre\per\second`, `J/(mol K)`, `metres per second squared`.

A text becomes factors above and below a line, each a name with its power; which names are units, and of what value, is
decided by who looks them up (`prism.physics.units`). Letters that stand together are one name, and letters with a power
that are no unit themselves, `Nm^{-1}`, are the two that they join. What follows a slash stands below it, up to the next
bracket: authors who write `W/m^2 K` mean W/(m^2 K), although the standard would have them write the brackets (SI
brochure, 5.4.6), so such a text says that it has two readings, and who needs to be sure refuses it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache

from prism.algebra.expr import Expr, number
from prism.errors import PrismError
from prism.latex.words import UNITS, unit_rows

MAX_TEXT = 200  # characters of a unit; longer text is prose and is not read
_MAX_CACHED = 4096  # texts kept; they come from students, so the memory is bounded
_MAX_DEPTH = 8  # brackets in each other

PREFIX_SYMBOLS = {
    "yocto": "y", "zepto": "z", "atto": "a", "femto": "f", "pico": "p", "nano": "n", "micro": "µ", "milli": "m",
    "centi": "c", "deci": "d", "deka": "da", "deca": "da", "hecto": "h", "kilo": "k", "mega": "M", "giga": "G",
    "tera": "T", "peta": "P", "exa": "E", "zetta": "Z", "yotta": "Y",
}  # fmt: skip
_RUN_TOGETHER = frozenset(("Nm", "Js", "Ns", "Wh", "kWh"))
_ALONE = frozenset(("Gy", "Sv", "Bq", "sr", "lm", "lx", "ohm", "degC", "degF", "day", "yr", "ly", "pc", "au", "AU"))
_ABBREVIATIONS = frozenset(("l", "L", "dm", "dl", "ul", "au", "degC"))  # of siunitx, and names elsewhere
_NO_MACROS = frozenset(("min", "deg", "dB", "rad", "%"))  # mathematics, or no product


SPEED_OF_LIGHT = "speed of light"  # of `MeV/c^2`
_POUNDS = frozenset(("lb", "lbs", "pound", "pounds"))
_FEET = frozenset(("ft", "in", "foot", "feet", "inch", "inches"))


class NoReadingError(PrismError):
    """Raised for a text that is no unit, or that can be read as two different units."""


@dataclass(frozen=True, slots=True)
class UnitProduct:
    """A unit expression: the factors above and below its slash.

    Attributes:
        above, below: factors in the order of the text: units, products in brackets, and powers of either.
        slashes: number of slashes.
        doubt: why the text has a second reading, for who has to be sure; empty if it has none. Of `J/mol K` all that
            follows the slash is below, and `ms^{-1}` is metres per second.
    """

    above: tuple[Expr, ...]
    below: tuple[Expr, ...] = ()
    slashes: int = 0
    doubt: str = ""

    @property
    def expr(self) -> Expr:
        """The expression as a product of units, or a quotient of two."""
        return Expr("div", (product_of(self.above), product_of(self.below))) if self.below else product_of(self.above)


# Spelling -------------------------------------------------------------------------------------------------------


def _spell_macro(found: re.Match[str]) -> str:
    r"""Return the symbol of siunitx's macros for a prefix and a unit, set apart by blanks: `\kilo\metre` as ` km `.

    Macros that are no unit are returned as they are, and then the text is none either.
    """
    prefix, macro = found["prefix"] or "", found["macro"]
    symbols = _symbols_of_macros()
    symbol = symbols.get(prefix + macro)
    if symbol is None and prefix and macro in symbols:
        symbol = PREFIX_SYMBOLS[prefix] + symbols[macro]
    return found[0] if symbol is None else f" {symbol} "


@cache
def _symbols_of_macros() -> dict[str, str]:
    r"""Map each macro of a unit, a name written out or an abbreviation of siunitx, to its symbol: metres, uA, kohm.

    The symbol is the first of the unit's, or its name if it has none.
    """
    symbols = {name: name for name in (UNITS | _ABBREVIATIONS | {"square", "cubic"}) - _NO_MACROS}
    symbols |= {"u" + name: "µ" + name for name in UNITS}
    symbols |= {letter + "ohm": letter + "Ω" for letter in "mkMG"}  # siunitx 3, table 5
    words: dict[str, str] = {}
    for row in unit_rows():
        for word in row.get("words", ()):
            words.setdefault(word.replace(" ", ""), (*row.get("spellings", ()), word)[0])
    return symbols | {word + "s": symbol for word, symbol in words.items()} | words


_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_Replacement = str | Callable[[re.Match[str]], str]
_Rules = tuple[tuple[str, _Replacement], ...]  # pattern and replacement; applied in this order


_MARKUP: _Rules = (  # LaTeX, siunitx and Unicode
    (r"[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: f"^{{{m[0].translate(_SUPERSCRIPTS)}}}"),
    (r"[−–]", "-"),
    (r"\\(?:SI|qty)\s*\{([^{}]*)\}", r"\1 "),
    (r"[×·⋅∙•]|\\(?:cdot|times)(?![A-Za-z])", "*"),
    (r"\\[,;:!> ]|~|\\quad|[\u00a0\u2009\u202f]|\\(?:left|right)(?![A-Za-z])|\$", " "),
    (r"\\(?:unit|si|mathrm|text|textrm|rm|mathit|mathsf|operatorname|of)(?![A-Za-z])", ""),
    (r"(?:\{\s*\})?\^\s*\{?\s*\\(?:circ|degree)\s*\}?|\\(?:degree|textdegree|circ)(?![A-Za-z])", "°"),
    (r"\\(?:degreeCelsius|celsius)(?![A-Za-z])", "°C"),
    (r"°\s*\{?\s*([CFRK])(?![A-Za-z])\s*\}?", r"°\1"),
    (r"°\s*[Cc]elsius", "°C"),
    (r"(?<=[A-Za-z])(?=°[CFRK])", " "),
    (r"\^\s*\{?\s*\\prime\s*\}?", "′"),
    (r"\\Omega(?![A-Za-z])|(?<!o)\\ohm(?![A-Za-z])", "Ω"),
    (r"(?<![A-Za-z])([kMG])\s+(?=Ω)", r"\1"),  # `M \Omega`
    (r"\\ell(?![A-Za-z])", "l"),
    (r"\\(?:mu|upmu|textmu)(?![A-Za-z])|μ", "µ"),
    (r"µ\s*\{\s*([A-Za-z]+|Ω)\s*\}", r"µ\1"),
    (r"µ\s+(?=[A-Za-zΩ])", "µ"),
    (r"\\(?:AA|angstrom)(?![A-Za-z])|\\mathring\s*\{?\s*A\s*\}?", "Å"),
    (r"\\(?:%|percent(?![A-Za-z]))", "%"),
    (r"\\raiseto\s*\{\s*(\d+)\s*\}\s*((?:\\[A-Za-z]+\s*)?\\[A-Za-z]+)", r"\2^\1"),
    (r"\\tothe(?![A-Za-z])", "^"),
    (r"\\per(?![A-Za-z])", "÷"),
    (r"\\clight(?![A-Za-z])", "c"),
    (rf"\\(?:(?P<prefix>{'|'.join(PREFIX_SYMBOLS)})\s*\\?(?=[A-Za-z]))?(?P<macro>[A-Za-z]+)", _spell_macro),
)
_WORDING: _Rules = (  # plain words
    (r"H\s*_\s*\{?\s*2\s*\}?\s*O(?![A-Za-z])", "H2O"),
    (r"_\s*\{\s*([A-Za-z0-9]+)\s*\}", r"_\1"),
    (r"(?<=[A-Za-z]{3})(?<!delta)_(?=[A-Za-z]{3})|(?<=per)_|(?<=[A-Za-z]{2})_(?=per\b)", " "),
    (r"\b(?:deg|degrees?) +(C|F|[Cc]elsius|[Ff]ahrenheit)\b", lambda m: "°" + m[1][0].upper()),
    (r"\b(mm|cm|m|in|ft)[ _]+(Hg|H2O)\b", r"\1\2"),
    (r"\b([A-Za-z]+)[ _]+Hg\b", r"\1 of mercury"),
    (r"\b([A-Za-z]+)[ _]+H2O\b", r"\1 of water"),
    (r"\b(?:sq\.?|square)[ _]+(?=[A-Za-z])", "square "),
    (r"\b(?:cu\.?|cubic)[ _]+(?=[A-Za-z])", "cubic "),
    (r"(?:[ _]+|\\)squared\b", "^2"),
    (r"(?:[ _]+|\\)cubed\b", "^3"),
    (r"\bdecibels?\b", "dB"),
    (r"\bparts? per (?:m|b|tr)illions?\b", lambda m: m[0].replace(" ", "_")),
    (r"\bper\b", "/"),
    (r"\*\*", "^"),
    (r"(?<=[A-Za-z])\.\s*(?=[A-Za-z])", "*"),  # of a product, `N.m`
    (r"(?<=[A-Za-z])\.$", ""),  # of an abbreviation, `in.`
)


@cache
def _compile_rules(*, with_markup: bool) -> tuple[tuple[re.Pattern[str], _Replacement], ...]:
    """Compile the rules that rewrite texts of units, on first use.

    Args:
        with_markup: include those for LaTeX, siunitx and Unicode, else only those for words.
    """
    return tuple((re.compile(pattern), put) for pattern, put in (*(_MARKUP if with_markup else ()), *_WORDING))


def normalize_unit_text(text: str) -> str:
    """Rewrite a text of units from LaTeX, siunitx, Unicode or words to the plain spelling that `_TOKEN` matches."""
    # NFC folds the ohm and angstrom signs into the letters; superscripts go first, as NFKC would lose their height
    clean = unicodedata.normalize("NFC", text)
    marked = not clean.isascii() or any(mark in clean for mark in "\\$~")
    for pattern, put in _compile_rules(with_markup=marked):
        clean = pattern.sub(put, clean)
    return clean.strip()


# Parsing --------------------------------------------------------------------------------------------------------


_EXPONENT = r"[+-]?\s*\d+(?:\.\d+)?(?:\s*/\s*\d+)?\s*"
_TOKEN = re.compile(
    r"\s*(?:(?P<fraction>\\[dtcs]?frac|\\nicefrac)(?![A-Za-z])"
    r"|(?P<name>\\?[A-Za-zµΔΩÅåöℓ℧℃℉°%‰′″'\"]+(?:2O(?![A-Za-z])|(?:_[A-Za-z]+|_15(?!\d))+)?)(?P<glued>[+-]?\d+(?![\d.]))?"
    r"|(?P<one>1)(?=\s*[/}])"
    rf"|\^\s*(?P<power>[+-]?\d+|\{{\s*{_EXPONENT}\}}|\(\s*{_EXPONENT}\))|(?P<mark>[*/÷(){{}}\[\]]))"
)
_HYPHEN = re.compile("(?<=[A-Za-zΩ])-(?=[A-Za-zΩµ])")  # of a product: N-m, kW-h
_PARTNER = {"(": ")", "{": "}", "[": "]"}


@lru_cache(maxsize=_MAX_CACHED)
def parse_unit_text(text: str) -> UnitProduct:
    r"""Parse a text that `normalize_unit_text` has rewritten, as `J/(mol K)`, into its factors.

    Errors:
        NoReadingError: the text is no product of names; the message says why.

    >>> str(parse_unit_text("kg m^2/s^2").expr)
    '[kg]*[m]^2/[s]^2'
    """
    if len(text) > MAX_TEXT:
        raise NoReadingError(f"{len(text)} characters are too many for a unit")
    tokens, at, text = [], 0, _HYPHEN.sub("*", text)
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise NoReadingError(f"{text[at:].strip()!r} is no unit")
        tokens.append(token)
        at = token.end()
    parser = _Parser(tokens, has_light="eV" in text)
    found = parser.product()
    if parser.tokens:
        raise NoReadingError(f"{parser.tokens[0][0].strip()!r} stands alone")
    match found:  # a fraction alone is what it holds
        case UnitProduct((Expr(op="div", args=(above, below)),), ()):
            return replace(found, above=(above,), below=(below,))
    return found


@dataclass(slots=True)
class _Parser:
    """Recursive-descent parser for a product of units.

    Attributes:
        tokens: matches of `_TOKEN` that are still to be read.
        has_light: `c` is the speed of light, as in `MeV/c^2`.
        depth: brackets around the next one.
        doubt: why what is read so far has a second reading.
    """

    tokens: list[re.Match[str]]
    has_light: bool
    depth: int = 0
    doubt: str = ""

    def product(self) -> UnitProduct:
        r"""Parse factors side by side up to a closing bracket or the end; `\per` divides by the one factor after it."""
        above: list[Expr] = []
        below: list[Expr] = []
        slashes, count = 0, 0
        while not count or (self.tokens and self.tokens[0]["mark"] not in (")", "}", "]")):
            mark = self.tokens[0]["mark"] if self.tokens else None
            if mark in ("/", "÷") or (mark == "*" and count):
                self.tokens.pop(0)
            slashes += mark == "/"
            if slashes and mark not in ("/", "÷"):
                self.doubt = "a product after a slash has two readings; put it in brackets, as in J/(mol K)"
            found = self.factor()
            last, power = base_and_power(found[-1]) if found else (number(1), Fraction(1))
            if (*found[-2:-1], last) == (_unit("m"), _unit("s")):
                self.doubt = f"ms^{power} has two readings; write m s^{power}, or a slash before ms"
            (below if slashes or mark == "÷" else above).extend(found)
            count += 1
        if _has_pounds_of_force(above, below):
            above = [_unit("lbf") if each.name in _POUNDS else each for each in above]
        return UnitProduct(tuple(above), tuple(below), slashes, self.doubt)

    def factor(self) -> tuple[Expr, ...]:
        """Parse a unit, a fraction or a product in brackets, with its exponent; two units if letters join them."""
        if not self.tokens:
            raise NoReadingError("a unit is missing at the end")
        token = self.tokens.pop(0)
        if token["one"]:
            return ()
        if token["fraction"]:
            above, below = self.group("{"), self.group("{")
            found = Expr("div", (above.expr, below.expr))
        elif token["mark"] in _PARTNER:
            self.tokens.insert(0, token)
            found = self.group(token["mark"]).expr
        elif token["name"] and token["name"].lower() in ("square", "cubic"):
            power = Fraction(2 if token["name"].lower() == "square" else 3)
            first, *rest = self.factor()
            return (_raised(first, power), *rest)
        elif token["name"]:
            if token["name"][0] == "\\":
                raise NoReadingError(f"{token['name']!r} is no unit")
            if token["glued"] and not (token["name"].isalpha() and int(token["glued"])):
                raise NoReadingError(f"{token[0].strip()!r} is no unit")  # 5°30 is an angle in two parts, g0 a symbol
            found = _unit(SPEED_OF_LIGHT if self.has_light and token["name"] == "c" else token["name"])
        else:
            raise NoReadingError(f"{token[0].strip()!r} stands where a unit should")
        exponent = token["glued"]
        if self.tokens and self.tokens[0]["power"]:
            exponent = self.tokens.pop(0)["power"].strip("{}() ")
        if exponent is None:
            return (found,)
        try:
            power = Fraction(exponent.replace(" ", ""))
        except (ValueError, ZeroDivisionError):
            raise NoReadingError(f"{exponent!r} is no power of a unit") from None
        names = split_joined_units(found.name, is_negative=power < 0) if found.op == "unit" else ()
        parts = tuple(map(_unit, names)) or (found,)
        return (*parts[:-1], _raised(parts[-1], power))

    def group(self, opening: str) -> UnitProduct:
        """Parse a product in brackets; raises NoReadingError if a bracket is missing."""
        if not self.tokens or self.tokens.pop(0)["mark"] != opening or self.depth == _MAX_DEPTH:
            raise NoReadingError(f"{opening!r} is missing")
        self.depth += 1
        found = self.product()
        self.depth -= 1
        if not self.tokens or self.tokens.pop(0)["mark"] != _PARTNER[opening]:
            raise NoReadingError(f"{_PARTNER[opening]!r} is missing")
        return found


def _unit(name: str) -> Expr:
    """Return a unit by its name."""
    return Expr("unit", name=name)


def product_of(factors: Sequence[Expr]) -> Expr:
    """Return the product of expressions; the number 1 if there are none."""
    if not factors:
        return number(1)
    return factors[0] if len(factors) == 1 else Expr("mul", tuple(factors))


def _raised(base: Expr, power: Fraction) -> Expr:
    """Return a factor of a unit to a power."""
    bare, own = base_and_power(base)
    return base if power == 1 else Expr("pow", (bare, number(own * power)))


def base_and_power(factor: Expr) -> tuple[Expr, Fraction]:
    """Return the unit, or product in brackets, that a factor is a power of, with its exponent."""
    return (factor.args[0], Fraction(factor.args[1].value or 0)) if factor.op == "pow" else (factor, Fraction(1))


def _has_pounds_of_force(above: Sequence[Expr], below: Sequence[Expr]) -> bool:
    """Return True for pounds times feet or inches, a torque or energy, and for pounds on a square of them, a pressure.

    Nobody multiplies a mass by a length; alone, in `lb/ft`, and on a volume pounds are a mass.
    """
    powers = [(base.name, sign * power) for sign, side in ((1, above), (-1, below))
              for base, power in map(base_and_power, side)]  # fmt: skip
    pounds = [power for name, power in powers if name in _POUNDS]
    lengths = [power for name, power in powers if name in _FEET]
    return len(powers) == 2 and pounds == [1] and lengths in ([1], [-2])


def split_joined_units(name: str, *, is_negative: bool) -> tuple[str, ...]:
    """Split a word with a power into the units that it joins, `Nm^{-1}` into N and m; a word that is one unit stays.

    `ms^{-1}` is metres per second, since nobody counts per millisecond.

    Args:
        is_negative: the power is.

    >>> split_joined_units("Nm", is_negative=True), split_joined_units("km", is_negative=True)
    (('N', 'm'), ('km',))
    """
    if name.endswith("ms") and name[:-2] in UNITS and is_negative:
        return (name[:-2], "m", "s")  # `kgms^{-1}`, as in ms^{-1}
    is_speed = name == "ms" and is_negative
    if (name in UNITS or name in _ALONE) and name not in _RUN_TOGETHER and not is_speed:
        return (name,)
    found = [
        (name[:cut], name[cut:]) for cut in range(1, len(name))
        if {name[:cut], name[cut:]} <= UNITS - _RUN_TOGETHER
        and (len(name) > 2 or name == "ms" or name.isupper() or name[0].isupper())
    ]  # fmt: skip
    return found[0] if len(found) == 1 else (name,)
