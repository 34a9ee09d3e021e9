r"""Unit texts: `kg m^2/s^2`, `\kilo\metre\per\second`, `J/mol K`, as factors above and below a slash.

Letters that stand together are one name; which names are units is decided later, from the table of units. What
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
_BRACED_SIGN_TOKENS = 3  # tokens of one sign in braces
_ARITHMETIC = frozenset(("PLUS", "MINUS", "TIMES", "SLASH", "ROMAN", "PM"))


@dataclass(slots=True)
class UnitExpression:
    r"""A unit expression while it is read: factors above and below the slash of `kg m/s^2`.

    Attributes:
        above: factors of the numerator.
        below: factors of the denominator.
        slashes: number of slashes read so far.
        later_dot: a product sign stands behind a slash; with a second slash the text has two readings.
        under: the factors read next go below the slash.
        prefix: letter of a prefix macro such as `\kilo` that waits for its unit; empty if none does.
        power: digits of a power macro such as `\square` that waits for its unit; empty if none does.
        per: the one unit behind `\per` goes below.
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
        """The list, above or below the slash, that the next factor goes to."""
        return self.below if self.under or self.per else self.above

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
    unit = UnitExpression()
    index: int | None = 0
    while index is not None and index < len(tokens):
        index = _read_unit_piece(unit, tokens, index)
    if index is None or (unit.slashes > 1 and unit.later_dot) or (unit.under and not unit.below):
        return None
    return unit if unit.above or unit.below else None


def _read_unit_piece(unit: UnitExpression, tokens: Sequence[Token], index: int) -> int | None:
    """Read the letters, sign or macro at an index into the unit; return the index behind, None if they fit no unit."""
    token = tokens[index]
    text, kind = token.text, token.type
    after = index + 1
    if kind in ("{", "}") or text in ROMAN or text in (r"\rm", "$", r"\of"):
        return after
    if kind == "letter" and text[0] != "\\":
        name, after = _adjacent_letters(tokens, index)
        if name == "c" and any(part.text.endswith("eV") for part in unit.above):
            unit.side.append(Token("SYM", "c", token.pos))  # the speed of light, in MeV/c^2
            return after
        if name != "per":
            name, after = _extend_unit_name(name, tokens, after)
            return _add_unit(unit, name, tokens, token, after)
        kind = "SLASH"
    macro = text[1:] if text[:1] == "\\" else ""
    if macro in _PREFIX_MACROS or macro in _POWER_MACROS or macro == "per":
        return after if _apply_macro(unit, macro, token) else None
    if macro == "clight" or (macro == "c" and any(part.text.endswith("eV") for part in unit.above)):
        unit.side.append(Token("SYM", "c", token.pos))
        unit.per = unit.per and after < len(tokens) and tokens[after].text[1:] in _POWER_MACROS
        return after
    if macro in ("tothe", "raiseto"):
        return _read_power_macro(unit, macro, tokens, after)
    if kind == "^" and not (after < len(tokens) and tokens[after].text == r"\circ"):
        return _read_power_or_degree(unit, tokens, token, after)
    if kind == "SLASH":
        unit.under, unit.slashes = True, unit.slashes + 1
        return after
    if kind == "TIMES" or (kind == "mark" and text == ".") or kind == "MINUS":
        unit.later_dot = unit.later_dot or unit.slashes > 0
        return None if kind == "MINUS" and (after >= len(tokens) or tokens[after].type != "letter") else after
    if kind == "OPEN" and text in ("(", "["):
        inner, after = _tokens_up_to_partner(tokens, after, "OPEN", "CLOSE")
        piece = read_unit_expression(inner)
        if piece is None:
            return None
        unit.side.append(Token("PAREN", "(", token.pos, args=[unit_items(piece, token.pos)]))
        return after
    if kind == "number" and text == "1" and after < len(tokens) and tokens[after].type == "SLASH":
        return after
    if text in FRACTIONS:
        fraction, after = _read_fraction(tokens, after)
        if fraction is None:
            return None
        unit.side.append(fraction)
        return after
    named, after = _unit_of_sign(token, macro, tokens, after)
    return _add_unit(unit, named, tokens, token, after) if named else None


def _read_power_or_degree(unit: UnitExpression, tokens: Sequence[Token], token: Token, after: int) -> int | None:
    """Read the power or degree sign behind a caret into the unit; return the index behind, None if it is neither.

    Args:
        token: the caret.
        after: index of the token behind the caret.
    """
    if _is_braced_degree(tokens, after):
        name, after = _unit_of_sign(token, "", tokens, after)
        return _add_unit(unit, name, tokens, token, after)
    exponent, after = _read_exponent(tokens, after)
    if exponent is None or not unit.side:
        return None
    raise_last_unit(unit.side, exponent, token.pos)
    return after


def raise_last_unit(factors: list[Token], power: list[Token], pos: int) -> None:
    r"""Raise the last factor of a unit to a power, in place: of `\mathrm{ms}^{-1}`, metre second, only the second.

    Args:
        factors: the list above or below the slash.
        pos: offset for the units that the factor is split into.
    """
    if factors[-1].type == "UNIT":
        factors[-1:] = [unit_token(name, pos) for name in _split_joined_units(factors[-1].text, power)]
    factors[-1].sup = power


def _split_joined_units(name: str, exponent: Sequence[Token]) -> tuple[str, ...]:
    """Split a word with a power into the units that it joins, `Nm^{-1}` into N and m; a word that is one unit stays.

    `ms^{-1}` is metres per second, since nobody counts per millisecond.
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


def _unit_of_sign(token: Token, macro: str, tokens: Sequence[Token], index: int) -> tuple[str, int]:
    r"""Return the unit that a sign or macro (`\mu m`, `%`, `\kelvin`) begins, empty for none, and the index behind.

    Args:
        token: the sign.
        macro: its name without the backslash; empty for a sign.
        index: of the token behind it.
    """
    text = token.text
    if text == r"\mu":
        rest, index = _adjacent_letters(tokens, index)
        if not rest and index < len(tokens) and tokens[index].text in _ENDINGS:
            rest, index = _ENDINGS[tokens[index].text], index + 1
        return "u" + rest, index
    if text in (r"\degree", r"\circ", "^"):
        if text == "^":
            index += 3 if tokens[index].type == "{" else 1
        start = index
        while start < len(tokens) and (tokens[start].text in ROMAN or tokens[start].type in ("{", "}")):
            start += 1
        rest, after = _adjacent_letters(tokens, start)
        return ("deg" + rest, after) if rest in ("C", "F", "K") else ("deg", index)
    if token.type == "PERCENT":
        return "‰" if text == "‰" else "%", index
    if macro == "mathring":
        under = _letters_in_braces(tokens, index)
        return ("angstrom", under[1]) if under is not None and under[0] == "A" else ("", index)
    # the abbreviations of siunitx stand for themselves: \kWh, \MeV (siunitx 3, table 5)
    return _UNIT_MACROS.get(macro, macro if macro in UNITS and macro not in _NO_MACROS else ""), index


def _is_braced_degree(tokens: Sequence[Token], index: int) -> bool:
    r"""Return True if a degree sign in braces stands at an index, as in `^{\circ}`."""
    signs = [token.text for token in tokens[index : index + 3]]
    return (
        len(signs) == _BRACED_SIGN_TOKENS and signs[0] == "{" and signs[1] in (r"\circ", r"\degree") and signs[2] == "}"
    )


def _letters_in_braces(tokens: Sequence[Token], index: int) -> tuple[str, int] | None:
    """Return the letters in braces or bare at an index, and the index behind; None if the braces hold more."""
    braced = index < len(tokens) and tokens[index].type == "{"
    name, after = _adjacent_letters(tokens, index + braced)
    if braced and not (after < len(tokens) and tokens[after].type == "}"):
        return None
    return name, after + braced


def _extend_unit_name(name: str, tokens: Sequence[Token], index: int) -> tuple[str, int]:
    """Return a unit's name with what continues its letters (`mm Hg`, `cm H_2O`, `lb_f`), and the index behind."""
    stem = name.removesuffix("Hg").removesuffix("H") if name[:-1] else name
    if name in _COLUMNS:
        rest, after = _adjacent_letters(tokens, index)
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
        below = _letters_in_braces(tokens, index + 1)
        if index + 1 < len(tokens) and tokens[index + 1].type == "number":
            below = tokens[index + 1].text, index + 2
        if below is not None and f"{name}_{below[0]}" in WITH_SUBSCRIPT:
            return f"{name}_{below[0]}", below[1]
    return name, index


def _read_power_macro(unit: UnitExpression, macro: str, tokens: Sequence[Token], index: int) -> int | None:
    r"""Read the number of `\metre\tothe{3}` or `\raiseto{3}\metre` into the unit; return the index behind, or None.

    None means that there is no number, or for `\tothe` no unit before it, so that the text is no unit.
    """
    exponent, after = _read_exponent(tokens, index)
    if exponent is None:
        return None
    if macro == "raiseto":
        unit.power = "".join(token.text for token in exponent)
        return after if unit.power.isdigit() else None
    if not unit.side:
        return None
    unit.side[-1].sup = exponent
    return after


def _add_unit(unit: UnitExpression, name: str, tokens: Sequence[Token], token: Token, index: int) -> int:
    """Append a unit token with its pending prefix and power and the digits behind it; return the index behind.

    Args:
        name: of the unit, without the prefix.
        token: where the unit begins.
        index: of the token behind the name.
    """
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


def _apply_macro(unit: UnitExpression, macro: str, token: Token) -> bool:
    r"""Apply a prefix macro, power macro or `\per` to the unit; return False if a power has no unit before it."""
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


def _adjacent_letters(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    """Return the word of adjacent letters at an index, empty if there is none, and the index behind it."""
    name = ""
    while index < len(tokens) and tokens[index].type == "letter" and tokens[index].text[0] != "\\":
        if name and tokens[index].gap:
            break
        name += tokens[index].text
        index += 1
    if name and index < len(tokens) and tokens[index].text in _ENDINGS and name in _BEFORE_ENDINGS:
        return name + _ENDINGS[tokens[index].text], index + 1
    return name, index


def _tokens_up_to_partner(
    tokens: Sequence[Token], index: int, opening: str, closing: str
) -> tuple[Sequence[Token], int]:
    """Return the tokens between an opening token and its partner, and the index behind the partner.

    Args:
        index: of the token behind the opening one.
        opening, closing: token types of the pair.
    """
    level, start = 1, index
    while index < len(tokens) and level:
        level += (tokens[index].type == opening) - (tokens[index].type == closing)
        index += 1
    return tokens[start : index - 1], index


def _read_fraction(tokens: Sequence[Token], index: int) -> tuple[Token | None, int]:
    """Return the fraction `{m}{s}` of two braced units at an index, None if they are no units, and the index behind."""
    parts: list[list[Token]] = []
    pos = tokens[index].pos if index < len(tokens) else 0
    for _ in range(2):
        if index >= len(tokens) or tokens[index].type != "{":
            return None, index
        inner, index = _tokens_up_to_partner(tokens, index + 1, "{", "}")
        piece = read_unit_expression(inner)
        if piece is None:
            return None, index
        parts.append(unit_items(piece, pos))
    return Token("FRAC", "", pos, args=parts), index


def _read_exponent(tokens: Sequence[Token], index: int) -> tuple[list[Token] | None, int]:
    """Return the tokens of a numeric exponent, bare or in braces, None if there is no number, and the index behind."""
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


def unit_items(unit: UnitExpression, pos: int) -> list[Token]:
    """Return a unit expression as sibling items: its factors, or one fraction if it has a denominator."""
    if not unit.below:
        return unit.above
    return [Token("FRAC", "", pos, args=[unit.above or [Token("NUM", "1", pos)], unit.below])]
