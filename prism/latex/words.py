r"""What the words beside and inside a formula are: prose, labels or units.

`parse` reads `5\text{ m}` and `v_{\text{out}}`, and must never see `\text{since}`. Which of the two a word is has to
be known before rows are cut, for prose cuts a row and a unit does not. Units of prose, as in `$T = 242$ s`, come back
here as LaTeX; whether a unit exists and what it is worth is decided far below, by `prism.physics.units`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache

from prism.resources import resource


def one_line(text: str) -> str:
    """Text without line breaks and repeated blanks, for people."""
    return " ".join(text.split())


def word_set(names: str) -> frozenset[str]:
    """The names of a table that is written as one string."""
    return frozenset(names.split())


CONNECTIVES = word_set(
    "and or where for with when if then hence thus therefore since because so gives giving implies while but that which"
    " using from at as i.e. i.e., i.e is are say say. otherwise otherwise. whereas let we to on by also both note"
)
# In mathematics, without `\\text`, only words that no product of symbols spells: `v = at` is one.
BARE_WORDS = word_set("and or where for with when then hence thus therefore since because while")
_QUALIFIERS = word_set(
    "constant const const. even odd integer integers large small only respectively approximately approx approx. given"
    " any all always yes no above below"
)
_LABEL = re.compile(
    r"(?:(?:part|case|answer|final answer|step|eq|question)\b)?[\s.]*"
    r"(?:\(\s*[A-Za-z0-9]{1,4}\s*\)|[A-Za-z0-9]{1,4}\s*[):]|[:.])[\s:.]*"
    r"|(?:part|case|answer|final answer)[\s:.]*",
    re.IGNORECASE,
)
UNITS = word_set(
    "m s g kg N J W K Pa V A C Hz T F H Wb S L h min rad sr mol eV cm mm km nm pm fm µm μm um ms µs μs us ns ps mg kN"
    " µC μC µF μF µA μA µV μV µW μW µJ μJ µT μT µN μN µH μH µg μg"
    " MN mN kJ MJ mJ kW MW mW GW kV mV mA kHz MHz GHz THz kPa MPa GPa hPa keV MeV GeV TeV meV nC pC nF pF mH mT mmol"
    " kmol kcal cal erg dyn ft mi lb psi Torr hp Nm Js Ns rpm atm bar kWh Wh Ω kΩ MΩ Å °C °F dB u amu mL rev deg"
    " Bq kBq MBq GBq TBq Ci mCi yr kyr Myr Gyr Sv mSv Gy mGy mbar krad mrad arcsec arcmin mas kpc Mpc AU ly dpt TW PW"
    " EeV kA nA GV kat mmHg lm lx"
    " % \\%"
)
# Letters with a subscript that are one unit: pounds as a force and as a mass, the calories, the hartree.
WITH_SUBSCRIPT = word_set("lb_f lb_m E_h cal_th cal_it cal_IT cal_15 Btu_th Btu_it Btu_IT")
_LONG_NAMES = word_set(
    "meter:m metre:m second:s newton:N joule:J watt:W kelvin:K pascal:Pa volt:V ampere:A coulomb:C tesla:T ohm:Ω"
    " kilogram:kg gram:g hour:h minute:min radian:rad kilometer:km kilometre:km centimeter:cm millimeter:mm"
    " nanometer:nm degree:deg day:day year:yr mile:mi foot:ft feet:ft inch:inch yard:yd mole:mol litre:L"
    " liter:L hertz:Hz kilohertz:kHz megahertz:MHz kilojoule:kJ megajoule:MJ kilowatt:kW megawatt:MW kilonewton:kN"
    " kilopascal:kPa megapascal:MPa gigapascal:GPa kilovolt:kV millivolt:mV milliampere:mA calorie:cal"
    " kilocalorie:kcal electronvolt:eV parsec:pc lightyear:ly knot:knot becquerel:Bq"
)
LONG_UNITS = {
    name + ending: short
    for name, _, short in (pair.partition(":") for pair in _LONG_NAMES)
    for ending in ("", *(["es"] if name.endswith("ch") else [] if name.endswith(("z", "feet")) else ["s"]))
}
_UNIT = "(?:" + "|".join(map(re.escape, sorted((*UNITS, *LONG_UNITS), key=lambda name: (-len(name), name)))) + ")"
_POWER = r"(?:\^?\{?[-−]?\d\}?|[²³]|⁻[¹²³])?"
# A unit of more than five factors is no unit.
UNIT_EXPRESSION = re.compile(rf"(?:1(?=/))?{_UNIT}{_POWER}(?:[/·⋅.]{_UNIT}{_POWER}){{0,4}}")
_UNIT_AFTER = re.compile(
    rf"(?:[ ~]|\\,|\\ |(?=%|°|[A-Za-zμµ]{{2}}|[a-z]/)){UNIT_EXPRESSION.pattern}(?![A-Za-z0-9_^/(-]|[.'][A-Za-z0-9])"
)
_MORE_UNIT = re.compile(rf"(?:[ ~]|\\,){UNIT_EXPRESSION.pattern}(?![A-Za-z0-9_^/(-]|[.'][A-Za-z0-9])")
_POWER_AFTER = re.compile(r"\$\^(?:\{\s*([-−]?\d)\s*\}|([-−]?\d))\$")  # `N/m$^2$`
_DEGREES_AFTER = re.compile(  # `56.4$ $^\circ$C`
    r"[ ~]?\$\s*\^\s*(?:\{\s*\\circ\s*\}|\\circ)\s*\$[ ~]?([CF])(?![A-Za-z0-9'])"
)
_SCALE_AFTER = re.compile(r"[ ~]?([CF])(?![A-Za-z0-9_^'])")
_MORE_WORDS = 3  # units that may follow the first one; `W m^-2 K^-4 s` has three
_NOT_MORE = frozenset((*LONG_UNITS, "us", "bar", "h"))  # behind a unit these are words: `2 m bar`
_PREFIX = re.compile("^(?:atto|femto|pico|nano|micro|milli|centi|deci|deca|deka|hecto|kilo|mega|giga|tera|peta|exa)")
_SEVERAL, _MOST_WORDS = 2, 8  # of a unit that is written out
_LETTER_OR_UNIT = frozenset("ACFHLSTu")  # alone these are units only before a stop: `$n = 2$ A charge ...`
_WORD = re.compile(r"[^\s~]+")
_RAISED = re.compile("⁻?[¹²³]")
_RAISED_DIGITS = str.maketrans("¹²³⁻", "123-")


# Words beside the names of units in a unit that is written out.
_BETWEEN_UNITS = word_set("per square cubic squared cubed of a")


@cache
def _words_of_units() -> frozenset[str]:
    """Every word of a name in the table of units, in singular and plural; the letters of symbols are not among them."""
    table = tomllib.loads(resource("constants/units.toml").read_text(encoding="utf-8"))["unit"]
    words = {word.lower() for row in table for name in row.get("words", ()) for word in name.split()}
    return frozenset(word + ending for word in words for ending in ("", "s")) - {"ss"}


def is_written_out(words: Sequence[str]) -> bool:
    r"""Whether several words are a unit that is written out, as in `5\text{ light years}`.

    >>> is_written_out("meters per second squared".split()), is_written_out("per second".split())
    (True, True)
    >>> is_written_out("of the second".split()), is_written_out(["a", "second"])
    (False, False)
    """
    if len(words) < _SEVERAL or words[0] in ("of", "a", "squared", "cubed") or len(words) > _MOST_WORDS:
        return False
    lower = [word.lower() for word in words]
    known = _words_of_units()
    if not all(word in _BETWEEN_UNITS or word in known or _without_prefix(word) in known for word in lower):
        return False
    return lower[-1] not in ("per", "of", "a", "square", "cubic")


def _without_prefix(word: str) -> str:
    return _PREFIX.sub("", word)


def text_kind(content: str, before: str = "", after: str = "") -> str:
    r"""What `\text{...}` is between items of these kinds: `prose`, or `other` for an operand or a unit."""
    words = content.replace("~", " ").replace("\\,", " ").split()
    if not content.strip(" ~.,;:()\\"):
        return "prose"
    if all(UNIT_EXPRESSION.fullmatch(word.rstrip(".,;")) for word in words):
        return "other"
    if is_written_out([word for part in words for word in part.rstrip(".,;").split("-")]):
        return "other"
    lower = [word.strip("(),;").lower() for word in words]
    if ":" in content or is_label(content) or words[0][0] == "(" or CONNECTIVES.intersection((lower[0], lower[-1])):
        return "prose"
    if len(words) == 1:
        return "prose" if lower[0] in _QUALIFIERS and before != "relation" else "other"
    return "other" if before in ("relation", "operator") or after in ("relation", "operator") else "prose"


def is_label(content: str) -> bool:
    """Whether words only number or announce what follows, as `(a)`, `Part 2:` and `Answer:` do."""
    return _LABEL.fullmatch(content.strip()) is not None


def end_of_units(text: str, start: int, end: int) -> int:
    r"""Where the units of `5 \text{ m and }` end, if words follow them; else 0."""
    last = 0
    for word in _WORD.finditer(text, start, end):
        name = word.group().rstrip(".,;")
        if not UNIT_EXPRESSION.fullmatch(name):
            return last
        last = word.start() + len(name)
    return 0


def unit_after(text: str, start: int) -> tuple[str, int]:
    """The unit that stands in prose from `start` on, as LaTeX, and where it ends; nothing if there is none."""
    if degrees := _DEGREES_AFTER.match(text, start):
        return rf"^{{\circ}}\mathrm{{{degrees[1]}}}", degrees.end()
    after = _UNIT_AFTER.match(text, start)
    if not after:
        return "", start
    word = after.group().removeprefix("\\,").strip(" ~\\")
    if _is_article(text, word, after.end()):
        return "", start
    word, end = _with_power(text, word, after.end())
    for _ in range(_MORE_WORDS):  # `N m` is no N
        more = _MORE_UNIT.match(text, end)
        name = more.group().removeprefix("\\,").strip(" ~\\") if more else ""
        if more is None or name in _NOT_MORE or word in LONG_UNITS or _is_article(text, name, more.end()):
            break
        name, end = _with_power(text, name, more.end())
        word = f"{word} {name}"
    return unit_latex(word), end


def scale_after(text: str, start: int) -> tuple[str, int]:
    r"""The scale behind degrees in a formula of their own, as in `$43.3\ ^\circ$C`; where it ends."""
    after = _SCALE_AFTER.match(text, start)
    return (rf"\mathrm{{{after[1]}}}", after.end()) if after else ("", start)


def _is_article(text: str, word: str, end: int) -> bool:
    """Whether a letter that may be a unit begins the next sentence, or names something."""
    follows = text[end : end + 1]
    return word in _LETTER_OR_UNIT and follows != "" and follows not in ".,;:)\n"


def _with_power(text: str, word: str, end: int) -> tuple[str, int]:
    """A unit with the power that stands behind it in a formula of its own."""
    power = _POWER_AFTER.match(text, end)
    if power is None:
        return word, end
    return f"{word}^{{{(power[1] or power[2]).replace('−', '-')}}}", power.end()


def unit_latex(word: str) -> str:
    r"""A unit as it stands in prose, in LaTeX: by its symbol, with powers as `^{-1}`.

    >>> print(unit_latex("kg·m⁻³"), unit_latex("meters"), unit_latex("°C"))
    \,\unit{kg·m^{-3}} \,\unit{m} ^{\circ}\mathrm{C}
    """
    if word in ("%", r"\%"):
        return r"\%"
    if word in ("°C", "°F"):
        return rf"^{{\circ}}\mathrm{{{word[1]}}}"
    symbol = _RAISED.sub(lambda power: f"^{{{power.group().translate(_RAISED_DIGITS)}}}", LONG_UNITS.get(word, word))
    return rf"\,\unit{{{symbol}}}"
