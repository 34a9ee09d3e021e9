r"""Unit texts: `kg m^2/s^2`, `\kilo\metre\per\second`, `J/mol K`, as factors above and below a slash.

Letters that stand together are one name; which names are units is settled later, from the table of units. What
follows a slash stands below it, up to the next bracket: authors who write `W/m^2 K` mean W/(m^2 K), always, although
the standard would have them write the brackets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from prism.latex.parsing.names import FRACTIONS, ROMAN
from prism.latex.parsing.tokens import Token, unit_token
from prism.latex.words import UNITS, WITH_SUBSCRIPT

_UNIT_MACROS = {
    "metre": "m", "meter": "m", "second": "s", "gram": "g", "kilogram": "kg", "ampere": "A", "kelvin": "K",
    "mole": "mol", "candela": "cd", "hertz": "Hz", "newton": "N", "pascal": "Pa", "joule": "J", "watt": "W",
    "coulomb": "C", "volt": "V", "farad": "F", "ohm": "ohm", "siemens": "S", "weber": "Wb", "tesla": "T", "henry": "H",
    "celsius": "degC", "degreeCelsius": "degC", "lumen": "lm", "lux": "lx", "becquerel": "Bq", "sievert": "Sv",
    "gray": "Gy", "katal": "kat", "minute": "min", "hour": "h", "day": "day", "degree": "deg", "arcminute": "arcmin",
    "arcsecond": "arcsec", "litre": "L", "liter": "L", "tonne": "t", "electronvolt": "eV", "eV": "eV", "bar": "bar",
    "radian": "rad", "steradian": "sr", "angstrom": "angstrom", "AA": "angstrom", "percent": "%", "atm": "atm",
    "Omega": "ohm", "ell": "l", "dalton": "u", "barn": "b", "mmHg": "mmHg", "astronomicalunit": "au", "hectare": "ha",
    "kilogramme": "kg", "gramme": "g", "parsec": "pc", "lightyear": "ly", "erg": "erg",
    "dyne": "dyn", "gauss": "G", "oersted": "Oe", "inch": "in", "foot": "ft", "torr": "Torr", "calorie": "cal",
    "rpm": "rpm", "revolution": "rev", "molar": "M", "year": "yr", "week": "wk", "hartree": "Ha", "bohr": "bohr",
    "amu": "u", "poise": "P", "stokes": "St", "curie": "Ci", "debye": "D", "arcminutes": "arcmin",
}  # fmt: skip
_NO_MACROS = frozenset(("min", "deg", "dB", "rad"))  # mathematics, or no product
_PREFIX_MACROS = {
    "pico": "p", "nano": "n", "micro": "u", "milli": "m", "centi": "c", "deci": "d", "kilo": "k", "mega": "M",
    "giga": "G", "tera": "T", "femto": "f", "atto": "a", "hecto": "h", "deca": "da", "deka": "da", "peta": "P",
    "exa": "E", "zepto": "z", "yocto": "y", "zetta": "Z", "yotta": "Y",
}  # fmt: skip
_POWER_MACROS = {"squared": "2", "cubed": "3", "square": "2", "cubic": "3"}
_ENDINGS = {r"\Omega": "ohm", r"\ell": "l"}  # signs behind letters: `k\Omega`, `m\ell`
_BEFORE_ENDINGS = frozenset(("k", "M", "m", "G", "T", "n", "u", "c", "ab", "stat"))
_COLUMNS = frozenset(("m", "mm", "cm", "in", "ft"))  # of mercury or water, as pressures
_RUN_TOGETHER = frozenset(("Nm", "Js", "Ns", "Wh", "kWh"))
_OTHER_UNITS = frozenset(
    ("Gy", "Sv", "Bq", "sr", "lm", "lx", "ohm", "degC", "degF", "day", "yr", "ly", "pc", "au", "AU")
)
_BRACED = 3  # tokens of one sign in braces
_ARITHMETIC = frozenset(("PLUS", "MINUS", "TIMES", "SLASH", "ROMAN", "PM"))


@dataclass(slots=True)
class UnitText:
    r"""A unit expression: factors above and below the slash.

    Attributes:
        slashes: how many were read.
        later_dot: a product sign stands behind a slash; with a second slash the text has two readings.
        under: what is read now stands below.
        prefix: a prefix macro waits for its unit.
        power: `\square` waits for its unit.
        per: `\per` puts the next unit below.
    """

    above: list[Token] = field(default_factory=list)
    below: list[Token] = field(default_factory=list)
    slashes: int = 0
    later_dot: bool = False
    under: bool = False
    prefix: str = ""
    power: str = ""
    per: bool = False

    @property
    def side(self) -> list[Token]:
        """Where the next factor goes."""
        return self.below if self.under or self.per else self.above


def is_numeric(item: Token) -> bool:
    """Whether an item holds only numbers and units, so that a unit can stand behind it."""
    if item.type in ("NUM", "CONST", "UNIT", "QUANTITY"):
        return True
    if item.type in ("PAREN", "FRAC", "SQRT", "BRACED", "ROOT"):
        return all(is_numeric(part) or part.type in _ARITHMETIC for siblings in item.args for part in siblings)
    return False


def read_unit(tokens: Sequence[Token]) -> UnitText | None:
    """Factors of a unit text, or None if it is none."""
    unit = UnitText()
    index: int | None = 0
    while index is not None and index < len(tokens):
        index = _step(unit, tokens, index)
    if index is None or (unit.slashes > 1 and unit.later_dot) or (unit.under and not unit.below):
        return None
    return unit if unit.above or unit.below else None


def _step(unit: UnitText, tokens: Sequence[Token], index: int) -> int | None:
    """Read one piece; the index behind it, or None if the text is no unit."""
    token = tokens[index]
    text, kind = token.text, token.type
    after = index + 1
    if kind in ("{", "}") or text in ROMAN or text in (r"\rm", "$", r"\of"):
        return after
    if kind == "letter" and text[0] != "\\":
        name, after = _letters(tokens, index)
        if name == "c" and any(part.text.endswith("eV") for part in unit.above):
            unit.side.append(Token("SYM", "c", token.pos))  # the speed of light, in MeV/c^2
            return after
        if name != "per":
            name, after = _joined(name, tokens, after)
            return _add(unit, name, tokens, token, after)
        kind = "SLASH"
    macro = text[1:] if text[:1] == "\\" else ""
    if macro in _PREFIX_MACROS or macro in _POWER_MACROS or macro == "per":
        return after if _macro(unit, macro, token) else None
    if macro == "clight" or (macro == "c" and any(part.text.endswith("eV") for part in unit.above)):
        unit.side.append(Token("SYM", "c", token.pos))
        unit.per = unit.per and after < len(tokens) and tokens[after].text[1:] in _POWER_MACROS
        return after
    if macro in ("tothe", "raiseto"):
        return _stated_power(unit, macro, tokens, after)
    if kind == "^" and not (after < len(tokens) and tokens[after].text == r"\circ"):
        if _is_degree(tokens, after):
            name, after = _sign(token, "", tokens, after)
            return _add(unit, name, tokens, token, after)
        exponent, after = _exponent(tokens, after)
        if exponent is None or not unit.side:
            return None
        if unit.side[-1].type != "UNIT":
            unit.side[-1].sup = exponent
            return after
        unit.side[-1:] = [unit_token(name, token.pos) for name in glued(unit.side[-1].text, exponent)]
        unit.side[-1].sup = exponent
        return after
    if kind == "SLASH":
        unit.under, unit.slashes = True, unit.slashes + 1
        return after
    if kind == "TIMES" or (kind == "mark" and text == ".") or kind == "MINUS":
        unit.later_dot = unit.later_dot or unit.slashes > 0
        return None if kind == "MINUS" and (after >= len(tokens) or tokens[after].type != "letter") else after
    if kind == "OPEN" and text in ("(", "["):
        inner, after = _bracketed(tokens, after)
        piece = read_unit(inner)
        if piece is None:
            return None
        unit.side.append(Token("PAREN", "(", token.pos, args=[unit_items(piece, token.pos)]))
        return after
    if kind == "number" and text == "1" and after < len(tokens) and tokens[after].type == "SLASH":
        return after
    if text in FRACTIONS:
        fraction, after = _unit_fraction(tokens, after)
        if fraction is None:
            return None
        unit.side.append(fraction)
        return after
    named, after = _sign(token, macro, tokens, after)
    return _add(unit, named, tokens, token, after) if named else None


def glued(name: str, exponent: Sequence[Token]) -> tuple[str, ...]:
    r"""The units that a word with a power runs together, `Nm^{-1}` as N and m: the power is one of the last.

    `ms^{-1}` is metres a second, for nobody counts per millisecond.
    """
    if name.endswith("ms") and name[:-2] in UNITS and exponent[0].type == "MINUS":
        return (name[:-2], "m", "s")  # `kgms^{-1}`, as in ms^{-1}
    if (
        (name in UNITS or name in _OTHER_UNITS)
        and name not in _RUN_TOGETHER
        and not (name == "ms" and exponent[0].type == "MINUS")
    ):
        return (name,)
    found = [
        (name[:cut], name[cut:]) for cut in range(1, len(name))
        if {name[:cut], name[cut:]} <= UNITS - _RUN_TOGETHER and (len(name) > 2 or name == "ms" or name.isupper() or (
            name[0].isupper()))
    ]  # fmt: skip
    return found[0] if len(found) == 1 else (name,)


def _sign(token: Token, macro: str, tokens: Sequence[Token], index: int) -> tuple[str, int]:
    """Name of a unit that a sign or a macro begins; empty if it is none."""
    text = token.text
    if text == r"\mu":
        rest, index = _letters(tokens, index)
        if not rest and index < len(tokens) and tokens[index].text in _ENDINGS:
            rest, index = _ENDINGS[tokens[index].text], index + 1
        return "u" + rest, index
    if text in (r"\degree", r"\circ", "^"):
        if text == "^":
            index += 3 if tokens[index].type == "{" else 1
        start = index
        while start < len(tokens) and (tokens[start].text in ROMAN or tokens[start].type in ("{", "}")):
            start += 1
        rest, after = _letters(tokens, start)
        return ("deg" + rest, after) if rest in ("C", "F", "K") else ("deg", index)
    if token.type == "PERCENT":
        return "‰" if text == "‰" else "%", index
    if macro == "mathring":
        under = _letters_within(tokens, index)
        return ("angstrom", under[1]) if under is not None and under[0] == "A" else ("", index)
    # the abbreviations of siunitx stand for themselves: \kWh, \MeV (siunitx 3, table 5)
    return _UNIT_MACROS.get(macro, macro if macro in UNITS and macro not in _NO_MACROS else ""), index


def _is_degree(tokens: Sequence[Token], index: int) -> bool:
    r"""Whether the superscript here is a degree sign in braces, `^{\circ}`."""
    signs = [token.text for token in tokens[index : index + 3]]
    return len(signs) == _BRACED and signs[0] == "{" and signs[1] in (r"\circ", r"\degree") and signs[2] == "}"


def _letters_within(tokens: Sequence[Token], index: int) -> tuple[str, int] | None:
    """Letters in braces or bare, and the index behind them."""
    braced = index < len(tokens) and tokens[index].type == "{"
    name, after = _letters(tokens, index + braced)
    if braced and not (after < len(tokens) and tokens[after].type == "}"):
        return None
    return name, after + braced


def _joined(name: str, tokens: Sequence[Token], index: int) -> tuple[str, int]:
    r"""A name that goes on behind its letters: `mm Hg`, `cm H_2O`, `lb_f`; else the name as it is."""
    stem = name.removesuffix("Hg").removesuffix("H") if name[:-1] else name
    if name in _COLUMNS:
        rest, after = _letters(tokens, index)
        if rest == "Hg":
            return name + rest, after
        if rest == "H":
            name, stem, index = name + rest, name, after
    if name.endswith("H") and stem in _COLUMNS:
        at = index + (index < len(tokens) and tokens[index].type == "_")
        braced = at < len(tokens) and tokens[at].type == "{"
        digit = at + braced
        oxygen = digit + 1 + braced
        if oxygen < len(tokens) and tokens[digit].text == "2" and tokens[oxygen].text == "O":
            return name + "2O", oxygen + 1
    if index < len(tokens) and tokens[index].type == "_":
        below = _letters_within(tokens, index + 1)
        if index + 1 < len(tokens) and tokens[index + 1].type == "number":
            below = tokens[index + 1].text, index + 2
        if below is not None and f"{name}_{below[0]}" in WITH_SUBSCRIPT:
            return f"{name}_{below[0]}", below[1]
    return name, index


def _stated_power(unit: UnitText, macro: str, tokens: Sequence[Token], index: int) -> int | None:
    r"""`\metre\tothe{3}` and `\raiseto{3}\metre` of siunitx."""
    exponent, after = _exponent(tokens, index)
    if exponent is None:
        return None
    if macro == "raiseto":
        unit.power = "".join(token.text for token in exponent)
        return after if unit.power.isdigit() else None
    if not unit.side:
        return None
    unit.side[-1].sup = exponent
    return after


def _add(unit: UnitText, name: str, tokens: Sequence[Token], token: Token, index: int) -> int:
    """Add a unit with what its macros said and the digits that follow it; the index behind them."""
    side = unit.side
    if name == "ohm" and not unit.prefix and side and side[-1].text in ("k", "M", "m", "G") and not token.gap:
        name = side.pop().text + name
    leaf = unit_token(unit.prefix + name, token.pos)
    side.append(leaf)
    if unit.power:
        leaf.sup = [Token("NUM", unit.power, token.pos)]
    if index < len(tokens) and tokens[index].type == "number" and not tokens[index].gap and token.type == "letter":
        leaf.sup = [Token("NUM", tokens[index].text, tokens[index].pos)]
        index += 1
    unit.prefix, unit.power = "", ""
    unit.per = unit.per and index < len(tokens) and tokens[index].text[1:] in _POWER_MACROS
    return index


def _macro(unit: UnitText, macro: str, token: Token) -> bool:
    """A siunitx macro that is no unit itself; False where it has nothing to act on."""
    if macro in _PREFIX_MACROS:
        unit.prefix = _PREFIX_MACROS[macro]
    elif macro == "per":
        unit.per = True
    elif macro in ("square", "cubic"):
        unit.power = _POWER_MACROS[macro]
    else:
        if not unit.side:
            return False
        unit.side[-1].sup = [Token("NUM", _POWER_MACROS[macro], token.pos)]
        unit.per = False
    return True


def _letters(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    """Letters that stand together, and the index behind them."""
    name = ""
    while index < len(tokens) and tokens[index].type == "letter" and tokens[index].text[0] != "\\":
        if name and tokens[index].gap:
            break
        name += tokens[index].text
        index += 1
    if name and index < len(tokens) and tokens[index].text in _ENDINGS and name in _BEFORE_ENDINGS:
        return name + _ENDINGS[tokens[index].text], index + 1
    return name, index


def _bracketed(tokens: Sequence[Token], index: int) -> tuple[Sequence[Token], int]:
    level, start = 1, index
    while index < len(tokens) and level:
        level += (tokens[index].type == "OPEN") - (tokens[index].type == "CLOSE")
        index += 1
    return tokens[start : index - 1], index


def _unit_fraction(tokens: Sequence[Token], index: int) -> tuple[Token | None, int]:
    parts: list[list[Token]] = []
    pos = tokens[index].pos if index < len(tokens) else 0
    for _ in range(2):
        if index >= len(tokens) or tokens[index].type != "{":
            return None, index
        level, start = 1, index + 1
        index += 1
        while index < len(tokens) and level:
            level += (tokens[index].type == "{") - (tokens[index].type == "}")
            index += 1
        piece = read_unit(tokens[start : index - 1])
        if piece is None:
            return None, index
        parts.append(unit_items(piece, pos))
    return Token("FRAC", "", pos, args=parts), index


def _exponent(tokens: Sequence[Token], index: int) -> tuple[list[Token] | None, int]:
    """A numeric exponent in a unit text."""
    braced = index < len(tokens) and tokens[index].type == "{"
    index += braced
    out: list[Token] = []
    while index < len(tokens) and tokens[index].type in ("MINUS", "PLUS", "number", "SLASH"):
        token = tokens[index]
        if token.type == "number":
            out.append(Token("NUM", token.text, token.pos))
        elif token.type != "PLUS":
            out.append(token)
        index += 1
        if not braced and token.type == "number":
            break
    if braced:
        if index >= len(tokens) or tokens[index].type != "}":
            return None, index
        index += 1
    return (out or None), index


def unit_items(unit: UnitText, pos: int) -> list[Token]:
    """A unit expression as siblings."""
    if not unit.below:
        return unit.above
    return [Token("FRAC", "", pos, args=[unit.above or [Token("NUM", "1", pos)], unit.below])]
