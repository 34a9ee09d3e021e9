r"""Words beside and inside a formula: which are prose, which are labels, which are units.

`parse` reads `5\text{ m}` and `v_{\text{out}}`, and must never see `\text{since}`. Which of the two a word is has to
be known before rows are cut, for prose cuts a row and a unit does not. Units of prose, as in `$T = 242$ s`, come back
here as LaTeX; `prism.physics.units` decides much later whether a unit exists and what its value is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from typing import Any

from prism.latex.word_lists import FIRST_UNPARTED, all_words
from prism.resources import resource


def one_line(text: str) -> str:
    """Join the lines of a text by single blanks, for messages to people."""
    return " ".join(text.split())


def word_set(names: str) -> frozenset[str]:
    """Split words separated by blanks into a set."""
    return frozenset(names.split())


CONNECTIVES = word_set(
    "and or where for with when if then hence thus therefore since because so gives giving implies while but that which"
    " using from at as i.e. i.e., i.e is are say say. otherwise otherwise. whereas let we to on by also both note"
)
# In mathematics, without `\\text`, only words that no product of symbols spells: `v = at` is one.
ALTERNATIVE = word_set("or either else perhaps maybe alternatively possibly")  # words of a text that joins alternatives
BARE_WORDS = word_set("and or where for with when then hence thus therefore since because while")
_JOINING_KINDS = ("connectives", "conditions", "alternatives")
_NO_JOINTS = ("per", "o", "si", "se", "con", "en")  # of other languages, which may be names or units
REMARKS = word_set("constant const always everywhere initially finally")  # behind a formula these are no factors
_QUALIFIERS = REMARKS | word_set(
    "const. even odd integer integers large small only respectively approximately approx approx. given"
    " any all yes no above below"
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
    " EeV kA nA GV kat mmHg lm lx kip"
    " % \\% Hg"
)
# Whose letters are hardly ever symbols behind a number.
SURE_UNITS = word_set(
    "m/s m/s^2 m/s² rad/s N/m N/m² N/C V/m J/K J/s W/m² C/m C/m² C/m³ J·s N·m N/m^2 W/m^2 C/m^2 °C °F"
)
PLAIN_FACTORS = frozenset(("1", "2", "3", "4", "0.5", "1.5", "2.5", "0.25"))  # before `m`: a factor or a length
# Letters with a subscript that are one unit: pounds as a force and as a mass, the calories, the hartree.
WITH_SUBSCRIPT = word_set("lb_f lb_m E_h cal_th cal_it cal_IT cal_15 Btu_th Btu_it Btu_IT")
_LONG_NAMES = word_set(
    "meter:m metre:m second:s newton:N joule:J watt:W kelvin:K pascal:Pa volt:V ampere:A coulomb:C tesla:T ohm:Ω"
    " kilogram:kg gram:g hour:h minute:min radian:rad kilometer:km kilometre:km centimeter:cm"
    " centimetre:cm millimeter:mm millimetre:mm"
    " nanometer:nm nanometre:nm degree:deg day:day year:yr mile:mi foot:ft feet:ft inch:inch yard:yd mole:mol litre:L"
    " liter:L hertz:Hz kilohertz:kHz megahertz:MHz kilojoule:kJ megajoule:MJ kilowatt:kW megawatt:MW kilonewton:kN"
    " kilopascal:kPa megapascal:MPa gigapascal:GPa kilovolt:kV millivolt:mV milliampere:mA calorie:cal"
    " kilocalorie:kcal electronvolt:eV parsec:pc lightyear:ly knot:knot becquerel:Bq"
    " kip:kip sec:s"
)
LONG_UNITS = {
    name + ending: short
    for name, _, short in (pair.partition(":") for pair in _LONG_NAMES)
    for ending in ("", *(["es"] if name.endswith("ch") else [] if name.endswith(("z", "feet")) else ["s"]))
}
_UNIT = (  # `MeV/c^2`; an inch only before a power or a full stop
    r"(?:[kMGT]?eV/c|in(?=\^|[²³]|\.(?:\s|$)|\s*\Z)|"
    + "|".join(map(re.escape, sorted((*UNITS, *LONG_UNITS), key=lambda name: (-len(name), name))))
    + ")"
)
_POWER = r"(?:\^?\{?[-−]?\d\}?|[²³]|⁻[¹²³])?"
# A unit of more than five factors is no unit. These patterns are long, and compiled when they are first used.
UNIT_EXPRESSION = rf"(?:1/)?{_UNIT}{_POWER}(?:[/·⋅.]{_UNIT}{_POWER}){{0,4}}"
_UNIT_AFTER = rf"(?:[ ~]|\\,|\\ |(?=%|°|[A-Za-zμµ]{{2}}|[a-z]/)){UNIT_EXPRESSION}(?![A-Za-z0-9_^/(-]|[.'][A-Za-z0-9])"
_MORE_UNIT = rf"(?:[ ~]|\\,){UNIT_EXPRESSION}(?![A-Za-z0-9_^/(-]|[.'][A-Za-z0-9])"
_BELOW_AFTER = rf"[/·]{UNIT_EXPRESSION}(?![A-Za-z0-9_^/(-]|[.'][A-Za-z0-9])"  # `m$^3$/mol`
_POWER_AFTER = re.compile(r"\$\^(?:\{\s*([-−]?\d)\s*\}|([-−]?\d))\$")  # `N/m$^2$`
_DEGREES_AFTER = re.compile(  # `56.4$ $^\circ$C`
    r"[ ~]?\$\s*\^\s*(?:\{\s*\\circ\s*\}|\\circ)\s*\$[ ~]?([CF])(?![A-Za-z0-9'])"
)
_SCALE_AFTER = re.compile(r"[ ~]?([CF])(?![A-Za-z0-9_^'])")
_UNIT_WORDS = r"(?:[ ~-]?[A-Za-z]{1,20}(?![A-Za-z])){2,8}"
_LETTERS = re.compile("[A-Za-z]+")
_PERCENT_AFTER = re.compile(r"[ ~](?:percent|per cent)(?![A-Za-z])")
_MORE_OF_UNIT = re.compile(
    r"(?:[ ~]{1,2}per[ ~]{1,2}(?:square[ ~]|cubic[ ~])?|/)(?P<per>[A-Za-z]{1,20})"
    r"|[ ~]{1,2}(?:squared|cubed|square|cubic|of arc)(?![A-Za-z])"
)
_COUNTED = word_set("cycle revolution turn")  # `2 kJ per cycle` is 2 kJ
_MAX_MORE_UNITS = 3  # units that may follow the first one; `W m^-2 K^-4 s` has three
_NEVER_SECOND_UNIT = frozenset((*LONG_UNITS, "us", "bar", "h"))  # behind a unit these are words: `2 m bar`
_PREFIX = re.compile("^(?:atto|femto|pico|nano|micro|milli|centi|deci|deca|deka|hecto|kilo|mega|giga|tera|peta|exa)")
_MIN_WORDS, _MAX_WORDS = 2, 8  # of a unit that is written out
_LETTERS_OR_UNITS = frozenset("ACFHLSTu")  # alone these are units only before a stop: `$n = 2$ A charge ...`
_WORD = re.compile(r"[^\s~]+")
_RAISED = re.compile("⁻?[¹²³]")
_RAISED_DIGITS = str.maketrans("¹²³⁻", "123-")


compiled = cache(re.compile)  # the pattern of one of the texts that are compiled at first use

# Words beside the names of units in a unit that is written out.
_BETWEEN_UNITS = word_set("per square cubic squared cubed of a")


@cache
def unit_rows() -> tuple[dict[str, Any], ...]:
    """Return the rows of the table of units, unchecked; `prism.physics.tables` checks them."""
    return tuple(tomllib.loads(resource("constants/units.toml").read_text(encoding="utf-8"))["unit"])


@cache
def _words_of_units() -> frozenset[str]:
    """Return every word of the names in the table of units, singular and plural, in lower case."""
    words = {word.lower() for row in unit_rows() for name in row.get("words", ()) for word in name.split()}
    return frozenset(word + ending for word in words for ending in ("", "s")) - {"ss"}


def is_written_out_unit(words: Sequence[str]) -> bool:
    r"""Return True if several words are a unit that is written out, as in `5\text{ light years}`.

    >>> is_written_out_unit("meters per second squared".split()), is_written_out_unit("per second".split())
    (True, True)
    >>> is_written_out_unit("of the second".split()), is_written_out_unit(["a", "second"])
    (False, False)
    """
    if len(words) < _MIN_WORDS or words[0] in ("of", "a", "squared", "cubed") or len(words) > _MAX_WORDS:
        return False
    lower = [word.lower() for word in words]
    known = _words_of_units()
    if not all(word in _BETWEEN_UNITS or word in known or _strip_prefix(word) in known for word in lower):
        return False
    return lower[-1] not in ("per", "of", "a", "square", "cubic")


def _strip_prefix(word: str) -> str:
    """Drop a metric prefix, `kilo` or `micro`, from the front of a word."""
    return _PREFIX.sub("", word)


@cache
def _joining_elsewhere() -> tuple[frozenset[tuple[str, ...]], int, tuple[str, ...]]:
    """Return the texts in a formula that join it to the next one, in other languages than English.

    Returns:
        texts by their words, the most words of one, and the texts in scripts that part no words.
    """
    texts = (text for kind in _JOINING_KINDS for text in all_words(kind, without="english"))
    found = frozenset(tuple(text.lower().split()) for text in texts).difference(zip(_NO_JOINTS))
    unparted = tuple(joined for joined in map("".join, found) if max(joined) >= FIRST_UNPARTED)
    return found, max(map(len, found)), unparted


def text_kind(content: str, before: str = "", after: str = "") -> str:
    r"""Classify the content of `\text{...}`: `prose`, or `other` for a symbol or a unit.

    Args:
        before, after: kinds of the neighbouring items; `relation` and `operator` make a text of several words `other`.
    """
    words = content.replace("~", " ").replace("\\,", " ").split()
    if not content.strip(" ~.,;:()\\"):
        return "prose"
    if all(compiled(UNIT_EXPRESSION).fullmatch(word.rstrip(".,;")) for word in words):
        return "other"
    if is_written_out_unit([word for part in words for word in part.rstrip(".,;").split("-")]):
        return "other"
    lower = [word.strip("(),;").lower() for word in words]
    is_operand = before in ("relation", "operator") and after in ("relation", "operator", "")
    is_remark = words[0][0] == "(" and not (is_operand and words[-1][-1] == ")")  # `J \cdot \text{(area)}` is a name
    if ":" in content or is_label(content) or is_remark or CONNECTIVES.intersection((lower[0], lower[-1])):
        return "prose"
    elsewhere, most_words, unparted = _joining_elsewhere()
    begins = {tuple(lower[:count]) for count in range(1, most_words + 1)}
    is_unparted = max(content) >= FIRST_UNPARTED and content.lstrip(" ,，").startswith(unparted)
    if is_unparted or not begins.isdisjoint(elsewhere):
        return "prose"
    if len(words) == 1:
        return "prose" if lower[0] in _QUALIFIERS and before not in ("relation", "operator") else "other"
    return "other" if before in ("relation", "operator") or after in ("relation", "operator") else "prose"


def is_label(content: str) -> bool:
    """Return True if words only number or announce the formula behind them, as `(a)`, `Part 2:` and `Answer:` do."""
    return _LABEL.fullmatch(content.strip()) is not None


def end_of_units(text: str, start: int, end: int) -> int:
    r"""Return the offset behind the units that begin `5 \text{ m and }` if other words follow them; else 0.

    Args:
        start, end: offsets of the content of the text command.
    """
    last = 0
    if (written := _end_of_written_unit(text, start, end)) > start:
        return 0 if not text[written:end].strip(" ~.,;") else written
    for word in _WORD.finditer(text, start, end):
        name = word.group().rstrip(".,;")
        if not compiled(UNIT_EXPRESSION).fullmatch(name):
            return last
        last = word.start() + len(name)
    return 0


def unit_after(text: str, start: int) -> tuple[str, int]:
    """Return the unit in prose at an offset as LaTeX, and its end; an empty text and the same offset if none."""
    if percent := _PERCENT_AFTER.match(text, start):
        return r"\%", percent.end()
    if text[start : start + 1] in (" ", "~", "-") and (end := _end_of_written_unit(text, start)) > start:
        return rf"\,\text{{{text[start + 1 : end].replace('~', ' ')}}}", end
    if degrees := _DEGREES_AFTER.match(text, start):
        return rf"^{{\circ}}\mathrm{{{degrees[1]}}}", degrees.end()
    after = compiled(_UNIT_AFTER).match(text, start)
    if not after:
        return "", start
    word = after.group().removeprefix("\\,").strip(" ~\\")
    if _is_article_or_name(text, word, after.end()):
        return "", start
    word, end = _append_power(text, word, after.end())
    for _ in range(_MAX_MORE_UNITS):  # `N m` is no N
        below = compiled(_BELOW_AFTER).match(text, end) if text[end - 1 : end] == "$" else None
        if below is not None:
            name, end = _append_power(text, below.group()[1:], below.end())
            word = f"{word}{below.group()[0]}{name}"
            continue
        more = compiled(_MORE_UNIT).match(text, end)
        name = more.group().removeprefix("\\,").strip(" ~\\") if more else ""
        if (
            more is None
            or name in _NEVER_SECOND_UNIT
            or word in LONG_UNITS
            or _is_article_or_name(text, name, more.end())
        ):
            break
        name, end = _append_power(text, name, more.end())
        word = f"{word} {name}"
    return unit_latex(word), end


def _end_of_written_unit(text: str, start: int, end: int | None = None) -> int:
    """Return the end of a unit of several words at an offset, `meters per second squared`; the offset if none."""
    run = compiled(_UNIT_WORDS).match(text, start, len(text) if end is None else end)
    words = list(_LETTERS.finditer(text, start, run.end())) if run else []
    for count in range(len(words), _MIN_WORDS - 1, -1):
        if is_written_out_unit([word[0].lower() for word in words[:count]]):
            return words[count - 1].end()
    return start


def unit_goes_on(text: str, end: int) -> bool:
    """Return True if the quantity before an offset goes on there: `per second`, `squared`, `/mol`."""
    more = _MORE_OF_UNIT.match(text, end)
    if more is None or more["per"] is None:
        return more is not None
    name = more["per"].lower()
    is_word = name in LONG_UNITS or _strip_prefix(name) in _words_of_units()
    return more["per"] in UNITS or (is_word and name not in _COUNTED)


def temperature_scale_after(text: str, start: int) -> tuple[str, int]:
    r"""Return the letter behind the degrees of `$43.3\ ^\circ$C` as LaTeX, and its end; empty and `start` if none.

    Args:
        start: offset behind the formula.
    """
    after = _SCALE_AFTER.match(text, start)
    return (rf"\mathrm{{{after[1]}}}", after.end()) if after else ("", start)


def _is_article_or_name(text: str, word: str, end: int) -> bool:
    """Return True if a one-letter word is rather an article or a name than a unit: no punctuation stands at `end`."""
    follows = text[end : end + 1]
    return word in _LETTERS_OR_UNITS and follows != "" and follows not in ".,;:)*\n"


def _append_power(text: str, word: str, end: int) -> tuple[str, int]:
    """Return a unit with the power behind it in its own formula, `N/m$^2$`, and the end; unchanged if there is none."""
    power = _POWER_AFTER.match(text, end)
    if power is None:
        return word, end
    return f"{word}^{{{(power[1] or power[2]).replace('−', '-')}}}", power.end()


def unit_latex(word: str) -> str:
    r"""Convert a unit as it stands in prose to LaTeX: by its symbol, with powers as `^{-1}`.

    >>> print(unit_latex("kg·m⁻³"), unit_latex("meters"), unit_latex("°C"))
    \,\unit{kg·m^{-3}} \,\unit{m} ^{\circ}\mathrm{C}
    """
    if word in ("%", r"\%"):
        return r"\%"
    if word in ("°C", "°F"):
        return rf"^{{\circ}}\mathrm{{{word[1]}}}"
    symbol = _RAISED.sub(lambda power: f"^{{{power.group().translate(_RAISED_DIGITS)}}}", LONG_UNITS.get(word, word))
    return rf"\,\unit{{{symbol}}}"
