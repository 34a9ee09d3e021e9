r"""Units typed in italics within arithmetic, `18.0m/s \cdot 2s + 5m`, made upright before anything is nested.

A number and letters that spell a unit are a quantity where the letters can hardly be symbols: a sure unit, such as
`9.8m/s^2`, shows that the letters behind the other numbers of its side are units too, if no letter there is a symbol.

Refused: a side that is one number with its unit, `v = 4.95m/s`; what the problem says of the letters decides there
(semantics U.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prism.latex.parsing.tokens import Ambiguity, Token, nesting_change
from prism.latex.words import PLAIN_FACTORS, SURE_UNITS, UNIT_EXPRESSION, compiled, word_set

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
