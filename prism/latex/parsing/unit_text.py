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
from dataclasses import replace

from prism.algebra.expr import Expr
from prism.latex.parsing.tokens import Ambiguity, Token, has_type, nesting_change, unit_token
from prism.latex.unit_grammar import (
    SPEED_OF_LIGHT,
    NoReadingError,
    base_and_power,
    normalize_unit_text,
    parse_unit_text,
)
from prism.latex.words import PLAIN_FACTORS, SURE_UNITS, UNIT_EXPRESSION, WITH_SUBSCRIPT, compiled, word_set

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


def with_typed_units(tokens: list[Token], latex: str) -> list[Token]:
    r"""Return the flat tokens of a formula with `\mathrm{...}` around each unit that is typed in italics.

    Errors:
        Ambiguity: letters behind a number beside a unit that may be another unit or symbols, `0.5kg\cdot4186J/(kgC)`.
    """
    if not (_LIKE_SURE.search(latex) or (_LIKE_QUANTITY.search(latex) and _UPRIGHT.search(latex))):
        return tokens
    places = {at: end for side in _sides(tokens) for at, end in _units_of_side(tokens, latex, *side).items()}
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


def _is_sure(found: re.Match[str], unit: str, latex: str) -> bool:
    """Return True if letters behind a number can hardly be symbols: a speed, a mass, a known unit of a decimal."""
    number, words, plain = found["number"], _LETTERS.findall(unit), unit.replace("{", "").replace("}", "")
    end = found.start("unit") + len(unit)
    is_bracketed = latex[found.start() - 1 : found.start()] == "(" and latex[end : end + 1] == ")"
    is_pace = plain in _PACES and (is_bracketed or number not in PLAIN_FACTORS)
    is_long = ("." in number or len(number) > 1 or number == "0") and number not in PLAIN_FACTORS
    is_known = plain in SURE_UNITS or not _SURE_WORDS.isdisjoint(words)
    return found["below"] is None and (is_pace or "kg" in words or (is_known and is_long))


def _units_of_side(tokens: Sequence[Token], latex: str, start: int, end: int) -> dict[int, int]:
    """Map where the units between two offsets begin to where they end."""
    found = {match.start("unit"): match for match in compiled(_QUANTITY).finditer(latex, start, end)}
    units = {at: match["unit"] for at, match in found.items()}  # a brace behind is that of a denominator
    units = {at: unit[:-1] if unit.endswith("}") and "{" not in unit else unit for at, unit in units.items()}
    ends = {at for at, unit in units.items() if _END.match(latex, at + len(unit))}
    sure = {at for at in ends if _is_sure(found[at], units[at], latex)}
    upright = {name for name in _UPRIGHT.findall(latex, start, end) if compiled(UNIT_EXPRESSION).fullmatch(name)}
    alone = [latex[found[at].start() : at + len(unit)] for at, unit in units.items()]
    if alone == [latex[start:end].strip(" -+$=&")] or not (sure or upright):
        return {}
    spans = [(at, at + len(unit)) for at, unit in units.items()] + [match.span() for match in _UPRIGHT.finditer(latex)]
    inside = {at for span in spans for at in range(*span)}
    letters = [token for token in tokens if token.type == "letter" and token.pos not in inside]
    beside = {token.text for token in letters if start <= token.pos < end}
    read = {}
    for at, unit in units.items():
        names = set("".join(_LETTERS.findall(unit)))
        is_free = (sure and not beside) or names.isdisjoint(token.text for token in letters)
        is_factor = _FACTOR.search(latex[max(0, found[at].start() - _REACH) : found[at].start()]) is not None
        is_alone = at in ends and "(" not in unit and is_free
        if at in sure or unit in upright or (is_alone and (sure or is_factor)):
            read[at] = at + len(unit)
        elif is_factor and at in ends and len(names) > 1:
            raise Ambiguity(at, "letters behind a number beside a unit: a unit, or symbols?", r"\mathrm")
    return read
