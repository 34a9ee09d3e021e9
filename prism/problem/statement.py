r"""What the text of a problem gives: values of symbols, conditions under which something holds, and definitions.

An author who writes `$m = 2.00\,\mathrm{kg}$` in the text need not write it again in a table. A given may be put into a
student's formula and a condition may not (`v = 3 m/s` is a speed of the problem, `t = 3 s` one instant of it), so the
words around a value decide which it is, by lists in `phrases.toml`; where they leave doubt it is a condition. What
is stated with two values is neither, and what a sentence asks to show is not stated at all.

Refused: values without a symbol ("a mass of 2 kg"), for the letter would be guessed; and a reading of whole sentences,
for what is not in the lists would then be silently wrong instead of missing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TypeVar

from prism import budget
from prism.algebra.expr import EQUALITIES, ORDERINGS, Expr, Formula, canonical, formula, plain_parts, symbols, walk
from prism.algebra.symbols import CHANGES, symbol_of
from prism.algebra.terms import factors_with_powers
from prism.errors import LatexSyntaxError
from prism.latex import LocatedFormula, extract
from prism.latex import parse as parse_latex
from prism.latex.extraction.solution_input import MAX_TEXT
from prism.latex.prose import CLAUSE_END, mask_formulas, sentence_start
from prism.physics.italic_units import italic_units_as_quantity
from prism.physics.quantities import Quantity, parse_quantity
from prism.problem.phrases import phrase_patterns, phrase_words

_PATTERNS, _WORDS = phrase_patterns("statement"), phrase_words("statement")
_FORMULA = 50_000  # operations to read what the words around one formula make of it
_MAX_UNIT_WORDS = 5  # words of a unit that stands after a formula: "revolutions per minute" has three
_MAX_TAIL = 80  # characters after a formula that are looked at
_ROUNDED = Fraction(1, 100)  # two values of one chain (25 °C = 298 K) that differ by less are one, written twice


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A symbol with the value that the text states for it.

    Attributes:
        name: in the parser's spelling.
        text: number and unit as `prism.physics.quantities.read_quantity` reads them, `2.00 kg`; digits as written.
        span: offsets of the formula and its unit in the text.
    """

    name: str
    text: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class StatedDefinition:
    """A symbol with the expression that the text defines it by.

    Attributes:
        formula: an equation with the symbol alone on one side.
        name: the symbol.
        span: offsets of the formula in the text.
        is_function: written with its variable, as in `f(v) = ...`.
    """

    formula: Formula
    name: str
    span: tuple[int, int]
    is_function: bool = False


@dataclass(frozen=True, slots=True)
class ProblemText:
    """What a problem's text gives, each tuple in the order of the text.

    Attributes:
        givens: values that hold throughout; one for each symbol, never 0.
        definitions: one for each symbol.
        conditions: values that hold at an instant, at a place or in a case; a symbol may have several.
        ambiguous: symbols with two values or two definitions, left out of the first two.
    """

    givens: tuple[StatedValue, ...] = ()
    definitions: tuple[StatedDefinition, ...] = ()
    conditions: tuple[StatedValue, ...] = ()
    ambiguous: tuple[str, ...] = ()


_Named = TypeVar("_Named", StatedValue, StatedDefinition)


def read_problem_text(text: str) -> ProblemText:
    r"""Read the values, definitions and conditions that a problem's text states; unreadable formulas are skipped.

    >>> found = read_problem_text(r"A mass $m = 2.00$ kg moves at $v = 3\,\mathrm{m/s}$; $x = 1$ m at $t = 0$.")
    >>> [(given.name, given.text) for given in found.givens], [(value.name, value.text) for value in found.conditions]
    ([('m', '2.00 kg'), ('v', '3 m s^-1')], [('x', '1 m'), ('t', '0')])
    """
    found = extract(text[:MAX_TEXT], is_statement=True)
    text = found.text
    without_formulas = _words_only(text, found)
    # a box is an answer, and what follows "Solution:" an example that the text has solved
    solved = sorted(
        [item.span for item in found if item.kind == "boxed"] + [m.span() for m in _PATTERNS["solved"].finditer(text)]
    )
    starts = [start for start, _ in solved]
    ends = [0, *accumulate((end for _, end in solved), max)]  # how far the spans that begin before an offset reach
    formulas = [_text_formula(text, item) for item in found]
    in_use = _symbols_in_use(formulas)
    givens: list[StatedValue] = []
    conditions: list[StatedValue] = []
    definitions: list[StatedDefinition] = []
    contradicted: list[str] = []
    for at, here in enumerate(formulas):
        if here.formula is None or here.start < ends[bisect_left(starts, here.outer)]:
            continue
        following = formulas[at + 1] if at + 1 < len(formulas) else None
        budget.charge(_FORMULA)
        words = _words_before(without_formulas, here.start)
        for part in plain_parts(here.formula) if here.formula.kind in ("system", *_PLAIN_KINDS) else ():
            occurrence = _Occurrence(text, without_formulas, words, here, following, part)
            values, names = _stated_values(occurrence, in_use)
            contradicted += names
            if words.are_request:
                continue
            for value in values:
                (conditions if _is_condition(occurrence, value.name, value) else givens).append(value)
            if not values:
                definitions += _stated_definitions(occurrence)
    # a given that is stated with another value too varies, or the text has several cases
    varied = _names_with_two_contents((value.name, parse_quantity(value.text)) for value in (*givens, *conditions))
    given = {value.name for value in givens}
    ambiguous = [*contradicted, *(name for name in varied if name in given)]
    several = _names_with_two_contents(
        (each.name, frozenset(map(canonical, each.formula.members))) for each in definitions
    )
    left_out = tuple(dict.fromkeys((*ambiguous, *several)))
    return ProblemText(
        _first_by_name(givens, ambiguous), _first_by_name(definitions, several), tuple(conditions), left_out
    )


def _first_by_name(found: Sequence[_Named], without: Iterable[str]) -> tuple[_Named, ...]:
    """Return the first value or definition of each symbol, without the symbols in `without`."""
    first: dict[str, _Named] = {}
    for each in found:
        first.setdefault(each.name, each)
    left_out = frozenset(without)
    return tuple(each for name, each in first.items() if name not in left_out)


def _names_with_two_contents(pairs: Iterable[tuple[str, Hashable]]) -> list[str]:
    """Return the names that stand in two pairs with different contents, in order of their first pair."""
    contents: dict[str, set[Hashable]] = {}
    for name, content in pairs:
        contents.setdefault(name, set()).add(content)
    return [name for name, own in contents.items() if len(own) > 1]


# Formulas of the text -----------------------------------------------------------------------------------------

_PLAIN_KINDS = ("equation", "chain", "expression")
_DELIMITER = re.compile(r"\$\$?|\\[()\[\]]")
_NO_WORDS = re.compile(rf"\\\\|\\[ ,;:!]|\\q?quad(?![A-Za-z])|\\(?:text|mathrm|mbox)\s*\{{|&|{_DELIMITER.pattern}")


@dataclass(frozen=True, slots=True)
class _TextFormula:
    """A formula of the text.

    Attributes:
        start, end: of the formula itself, without delimiters and without a unit that stands after them.
        outer: end of its closing delimiter.
        latex: what was parsed.
        formula: None if it does not parse.
        kind, block: as in `LocatedFormula`.
    """

    start: int
    end: int
    outer: int
    latex: str
    formula: Formula | None
    kind: str
    block: int


def _text_formula(text: str, item: LocatedFormula) -> _TextFormula:
    r"""Parse a located formula of the text, without the unit that extraction took from the words behind it."""
    start, end = item.span
    latex = item.latex
    inner = _DELIMITER.search(text, start, end) if item.kind in ("inline", "boxed") else None
    if inner and r"\text{ or }" not in latex:
        end = inner.start()
        latex = text[start:end].strip()
    closing = _PATTERNS["closing"].match(text, end)
    outer = closing.end() if closing and item.kind != "plain" else end
    number = _PATTERNS["number_after"].match(text, outer)
    value = _PATTERNS["plain_number"].match(text, number.end()) if number and item.kind == "inline" else None
    if value:  # `$\lambda$ = 500 nm`
        latex = f"{latex} = {value[0].replace(',', '')}".replace("×", r"\times").replace(" x ", r" \times ")
        end = outer = value.end()
    try:
        parsed: Formula | None = parse_latex(latex)
    except LatexSyntaxError:
        parsed = None
    return _TextFormula(start, end, outer, latex, parsed, "plain" if value else item.kind, item.block)


def _words_only(text: str, found: tuple[LocatedFormula, ...]) -> str:
    """Return the text with every formula masked by `§` and without dollars, at the same offsets: words are left."""
    inner = [(item.span, _DELIMITER.search(text, *item.span)) for item in found]
    spans = [(start, mark.start() if mark else end) for (start, end), mark in inner]
    return _NO_WORDS.sub(lambda mark: " " * len(mark[0]), mask_formulas(text, spans))


def _symbols_in_use(formulas: list[_TextFormula]) -> frozenset[str]:
    """Return the symbols in a problem's formulas, without the right side of `v = 3 m`: m may be a unit there."""
    names: set[str] = set()
    for each in formulas:
        if each.formula is None:
            continue
        for part in plain_parts(each.formula):
            is_value = len(part.members) > 1 and all(member.op == "sym" for member in part.members[:-1])
            is_value = is_value and any(node.op == "num" for node in walk(part.members[-1]))
            names |= symbols(*(part.members[:-1] if is_value else part.members))
    return frozenset(names)


# Values -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Occurrence:
    """An equation of the text with the words around it.

    Attributes:
        text, masked: the whole text, as it is and with formulas masked.
        words: before the formula.
        here: the formula; following: the next one of the text.
        part: the equation of `here` that is looked at.
    """

    text: str
    masked: str
    words: _WordsBefore
    here: _TextFormula
    following: _TextFormula | None
    part: Formula


def _stated_values(occurrence: _Occurrence, in_use: frozenset[str]) -> tuple[list[StatedValue], list[str]]:
    """Return the values that one equation states, and the symbols for which it states two that contradict.

    `a = b = 3 m` states a value of a and of b; `a = 3 m = 4 m` contradicts itself. Both lists may be empty.

    Args:
        occurrence: the equation with the words around it.
        in_use: symbols of the whole text, which are no units.
    """
    part = occurrence.part
    if part.kind not in ("equation", "chain") or not EQUALITIES.issuperset(part.relations) or part.depends:
        return [], []
    names = [member.name for member in part.members if member.op == "sym"]
    numbers = [member for member in part.members if not symbols(member) or _is_in_units_of_c(member)]
    if not names or _PATTERNS["order_of_magnitude"].search(occurrence.here.latex):
        return [], []
    if not numbers and _may_have_italic_unit(occurrence.here.latex):
        italic = italic_units_as_quantity(part.members[-1], in_use, occurrence.here.latex)
        numbers = [italic] if italic is not None else []
    if not numbers:
        return [], []
    end = occurrence.here.end
    texts = []
    for member in numbers:
        text = _plain_quantity(member)
        if text is not None and member is numbers[-1] and not any(node.op == "unit" for node in walk(member)):
            after = _with_unit_after(occurrence, text)
            text, end = after if after is not None else (None, end)
        elif text is not None and member is numbers[-1]:
            text, end = _value_unless_range(occurrence, text)
        if text is None:
            return [], []
        texts.append(text)
    if not _is_one_value([value for text in texts if (value := parse_quantity(text)) is not None]):
        return [], names
    stated = []
    for name in names:
        read = symbol_of(name)
        text = _as_difference(texts[0]) if read.change or read.base in CHANGES else texts[0]
        if text is not None:
            stated.append(StatedValue(name, text, (occurrence.here.start, end)))
    return stated, []


def _is_in_units_of_c(member: Expr) -> bool:
    r"""Return True if a member has units of eV and no symbol but c: `938\,\mathrm{MeV}/c^2`."""
    units = [node.name for node in walk(member) if node.op == "unit"]
    return symbols(member) == {"c"} and any(name.endswith("eV") for name in units)


def _is_one_value(values: list[Quantity]) -> bool:
    """Return True if all quantities have the same dimension and the same value up to rounding."""
    same = all(one.dimension == two.dimension for one, two in pairwise(values))
    return same and all(abs(one.value - two.value) <= _ROUNDED * abs(one.value) for one, two in pairwise(values))


def _as_difference(text: str) -> str | None:
    """Return the text of a difference with degC as K, `5 degC` as `5 K`; None for degF; other units unchanged."""
    if text.endswith("degC"):
        return text.removesuffix("degC") + "K"
    return None if text.endswith("degF") else text


_LONE_UNITS = frozenset("msNJWVKTACFH")  # in italics `2 g` and `3 c` are more often a constant than a unit


def _may_have_italic_unit(latex: str) -> bool:
    r"""Return True if a space separates a number from a letter behind it (`5\,m`, not `5m`): it may be a unit."""
    lone = _PATTERNS["lone_letter"].search(latex)
    return _PATTERNS["italic_unit"].search(latex) is not None and (lone is None or lone[1] in _LONE_UNITS)


_MAX_PI = 1  # factors of pi in a value that the text states
_MAX_WHOLE_POWER = 40  # of a number, in a value: 10^{23} is written so


def _plain_quantity(member: Expr) -> str | None:
    """Write a number with its unit as plain text that parses as the same quantity, `2.0 m s^-1`; None if impossible.

    A rational multiple of pi is written in degrees if it is an angle or an angular velocity: `180 deg`.
    """
    meant = parse_quantity(member)
    if meant is None:
        return None
    in_light_units = _is_in_units_of_c(member)
    sign, factors = "", list(factors_with_powers(member, 1))
    numbers: list[tuple[Expr, int]] = []
    units: list[str] = []
    n_pi = 0
    for node, power in factors:
        if node.op == "neg":
            sign = "" if sign else "-"
        elif node.op == "num":
            numbers.append((node, power))
        elif node.op == "unit" or (in_light_units and node.op == "sym"):
            units.append(node.name if power == 1 else f"{node.name}^{power}")
        elif node.op == "const" and node.name == "pi" and power == 1:
            n_pi += 1
        else:
            return None
    plain = len(numbers) == 1 and numbers[0][1] == 1 and numbers[0][0].name
    if any(not power for _, power in numbers):
        return None  # `30^0` is meant for 30 degrees
    if plain and not n_pi:
        digits = numbers[0][0].name
    elif not n_pi and len(numbers) == 1 and numbers[0][0].value == 10 and abs(numbers[0][1]) <= _MAX_WHOLE_POWER:
        digits = f"1e{numbers[0][1]}"
    elif (
        n_pi <= _MAX_PI
        and _WORDS["turning"].issuperset(name.partition("^")[0] for name in units * n_pi)
        and all("." not in node.name and "e" not in node.name for node, _ in numbers)
    ):
        value = Fraction(180 if n_pi else 1)
        for node, power in numbers:
            if node.value is None or (not node.value and power < 0) or abs(power) > _MAX_WHOLE_POWER:
                return None
            value *= node.value**power
        digits = str(value)
        units = ["deg", *units] if n_pi else units
    else:
        return None
    text = " ".join((sign + digits, *units))
    return text if parse_quantity(text) == meant else None


# Units in the words after a number ------------------------------------------------------------------------------

# After a bare number; any other word may be a unit that the table lacks ("solar masses"), and then nothing is stated.
WORDS_AFTER_NUMBER = frozenset(
    "and or is are was were has have had with at in on to of for from by as but so that which where when if while then"
    " this the find calculate determine what respectively units unit per"
    "".split()
)


def _with_unit_after(occurrence: _Occurrence, number: str) -> tuple[str, int] | None:
    """Return a bare number with the unit that the words after its formula name, and the offset where the unit ends.

    `$m = 2$ kg` gives `2 kg`. The number alone if no unit follows; None if the words leave doubt, as before a range.
    """
    text, end = occurrence.text, occurrence.here.outer
    if end == occurrence.here.end and occurrence.here.kind != "plain" and not _PATTERNS["piece_end"].match(text, end):
        return None  # the block goes on with something that is no formula, perhaps a unit
    tail = _PATTERNS["raised"].sub(
        lambda power: power[1].replace("−", "-").ljust(len(power[0])), text[end : end + _MAX_TAIL]
    )
    if re.match(r"\^|[^\S\n]*(?:\$|\\\()", tail):
        return None
    best: tuple[str, int] | None = None
    at = 0
    for _ in range(_MAX_UNIT_WORDS):
        word = _PATTERNS["unit_word"].match(tail, at)
        if word is None:
            break
        at = word.end()
        for stop in dict.fromkeys((at, at - len(word[0]) + len(word[0].rstrip(".:!?)]\"'")))):
            name = " ".join(tail[:stop].replace("$", " ").split())
            if not name or name[0].isdigit() or name[0] == "(" or _WORDS["no_units"].intersection(name.split()):
                continue
            if number.endswith(" deg") and name in ("C", "F"):
                name, candidate = "", f"{number}{name}"
            else:
                candidate = f"{number} {name}"
            if parse_quantity(candidate) is not None:
                best = candidate, end + stop
    if best is not None:
        return None if _PATTERNS["range"].match(text, best[1]) or _PATTERNS["of_liquid"].match(text, best[1]) else best
    if bracket := _PATTERNS["in_brackets"].match(tail):
        if parse_quantity(f"{number} {bracket[1].strip()}") is not None:
            return f"{number} {bracket[1].strip()}", end + bracket.end()
        return number, occurrence.here.end
    following = re.match(r"[^\S\n]*([^\s.,;:!?()$\\]*)", tail)
    word_after = following[1] if following else ""
    is_known = not word_after or word_after.lower() in WORDS_AFTER_NUMBER or _PATTERNS["state_after"].match(tail)
    if _PATTERNS["range"].match(tail) or not is_known or _may_share_unit(occurrence):
        return None
    return number, occurrence.here.end


def _value_unless_range(occurrence: _Occurrence, text: str) -> tuple[str | None, int]:
    r"""Return the text of a value and the offset where it ends; the text is None before a range (`2 m to 3 m`)."""
    after = occurrence.text[occurrence.here.outer : occurrence.here.outer + _MAX_TAIL]
    if _PATTERNS["range"].match(after) or after.startswith("$^") or _PATTERNS["of_liquid"].match(after):
        return None, occurrence.here.end
    letter = re.match(r"(?:\\,|[^\S\n])*([CF])(?![A-Za-z0-9])", after)
    if letter and text.endswith(" deg"):
        return f"{text}{letter[1]}", occurrence.here.outer + letter.end()
    return text, occurrence.here.end


def _may_share_unit(occurrence: _Occurrence) -> bool:
    r"""Return True if a bare number stands in a list that may carry its unit at the end: `$a = 2, b = 3$ cm`."""
    other = occurrence.following
    if other is None or other.formula is None or len(other.formula.members) < 2:
        return False
    between = occurrence.masked[occurrence.here.end : other.start]
    if other.block != occurrence.here.block or re.fullmatch(r"\s*(?:,\s*(?:and\s*)?|and\s*)", between) is None:
        return False
    if any(node.op == "unit" for node in walk(other.formula.members[-1])):
        return True
    found = _with_unit_after(replace(occurrence, here=other, following=None, part=other.formula), "1")
    return found is None or found[0] != "1"


# Words --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _WordsBefore:
    """The words before a formula, from the whole sentence to those right before it, found once for all its parts.

    Attributes:
        sentence: up to the formula, formulas in it as `§`.
        clause: what is left of it after its last comma.
        near: the words right before the formula or, in a list of formulas, before the first of the list.
        direct: since the last formula.
        name_property: they name what does not change with the case, a mass. begin_state, begin_case: they begin a case:
            "the state", "reaches"; "when", "for". are_request: they ask for the formula or call it an answer.
    """

    sentence: str
    clause: str
    near: str
    direct: str
    name_property: bool
    begin_state: bool
    begin_case: bool
    are_request: bool


def _words_before(masked: str, start: int) -> _WordsBefore:
    """Return the words before the formula at an offset of the masked text."""
    sentence = _sentence_before(masked, start)
    clause = _clause_before(sentence)
    near = _words_near(clause)
    is_main_clause = len(clause) < len(sentence) and not _PATTERNS["where"].search(sentence)
    is_in_case = is_main_clause and _PATTERNS["begins_case"].match(sentence) is not None
    requests = [found.end() for found in _PATTERNS["request"].finditer(sentence)]
    is_requested = bool(requests) and not _PATTERNS["stated_again"].search(sentence, requests[-1])
    return _WordsBefore(
        sentence, clause, near, clause[clause.rfind("§") + 1 :],
        name_property=_PATTERNS["fixed_of"].search(near) is not None,
        begin_state=any((
            _PATTERNS["state_before"].search(near), _PATTERNS["place_where"].search(clause),
            _PATTERNS["changes_to"].search(near),
        )),
        begin_case=is_in_case or any((_PATTERNS["case"].search(clause), _PATTERNS["for"].search(near))),
        are_request=is_requested or _PATTERNS["answer"].search(masked[max(0, start - _MAX_TAIL) : start]) is not None,
    )  # fmt: skip


def _sentence_before(masked: str, start: int) -> str:
    """Return the words of the sentence before a formula without bracketed text; inside a bracket only those in it."""
    before = re.sub(r"\([^()]*\)", " ", masked[sentence_start(masked, start, ends=CLAUSE_END) : start])
    return before[before.rfind("(") + 1 :]


def _clause_before(sentence: str) -> str:
    """Return the part of a sentence after its last comma, commas between listed formulas not counted."""
    parts = sentence.split(",")
    while len(parts) > 1 and not re.sub(r"§|\b(?:and|or|respectively)\b", "", parts[-1]).strip():
        parts.pop()
    clause = parts.pop()
    while parts and re.match(r"\s*(?:and|or)\b", clause):
        clause = f"{parts.pop()},{clause}"
    where = list(_PATTERNS["where"].finditer(clause))
    if where and not _PATTERNS["place_where"].search(clause):
        clause = clause[where[-1].end() :]
    return clause


def _words_near(clause: str) -> str:
    """Return the words right before the formula; in a list `§ and §`, those before the first formula of the list."""
    shorter = clause
    while (cut := _without_last_listed(shorter)) != shorter and cut.strip():
        shorter = cut
    return shorter[shorter.rfind("§") + 1 :]


def _without_last_listed(clause: str) -> str:
    """Return a clause without the formula at its end and an `and`, `or`, `to` or comma behind it; as it is if none."""
    listed = clause.rstrip()
    for word in ("and", "or", "to", ","):
        if listed.endswith(word):
            listed = listed.removesuffix(word).rstrip()
            break
    return listed.rstrip("§") if listed.endswith("§") else clause


def _is_condition(occurrence: _Occurrence, name: str, value: StatedValue | None) -> bool:
    """Return True if a formula holds only at an instant, at a place or in a case (`when x = 2`), or may do so.

    Args:
        occurrence: the formula with the words around it.
        name: the symbol that it gives a value or a definition.
        value: None for a definition.
    """
    number = None if value is None else parse_quantity(value.text)
    if number is not None and not number.value:
        return True
    words = occurrence.words
    is_fixed = words.name_property and name not in _WORDS["coordinates"]
    is_case = words.begin_state or (words.begin_case and not is_fixed)
    if is_case or _is_quantum_number(name, number, words.near) or _words_name_place(words, name):
        return True
    if re.fullmatch(r".*\bto\s*", words.direct) and "_" not in name and "'" not in name:
        return True  # `rises to T = 400 K`; a state named by a subscript is given
    return _is_limited_by_words_after(occurrence, value)


def _words_name_place(words: _WordsBefore, name: str) -> bool:
    """Return True if the words before a formula make it an instant, a place or a swept value: "at `f = 50 Hz`"."""
    if name in _WORDS["coordinates"] and (
        _PATTERNS["bounds"].search(words.direct) or _PATTERNS["bounds"].search(words.near)
    ):
        return True
    if _PATTERNS["time_of"].search(words.near) and (name == "t" or _PATTERNS["within"].search(words.near)):
        return True
    if not _PATTERNS["at"].search(words.near):
        return False
    head = symbol_of(name).head
    is_launch = head in _WORDS["angles"] and _PATTERNS["launched"].search(words.clause) is not None
    is_swept = name in _WORDS["swept"] and not _PATTERNS["driven"].search(words.clause)
    return (
        _PATTERNS["at_once"].search(words.near) is not None
        or is_swept
        or (head in _WORDS["coordinates"] and not is_launch)
    )


def _is_quantum_number(name: str, number: Quantity | None, near: str) -> bool:
    """Return True if symbol `name` is an index letter with an integer (for spins half-integer) value, as `n = 3`.

    Args:
        number: its value; None if it has none.
        near: words before the formula; after "refractive index" or "mass" the symbol is no quantum number.
    """
    if number is None or any(number.dimension) or name not in _WORDS["indices"]:
        return False
    if number.value.denominator > (2 if name in _WORDS["spins"] else 1):
        return False
    return _PATTERNS["index_of_glass"].search(near) is None


def _is_limited_by_words_after(occurrence: _Occurrence, value: StatedValue | None) -> bool:
    """Return True if the words behind the formula limit it: `$v = 5$ m/s at $t = 0$`, `$V = kx$ for $x > 0$`."""
    end = max(occurrence.here.outer, value.span[1] if value else 0)
    after = occurrence.masked[end : end + _MAX_TAIL]
    if _PATTERNS["case_after"].match(after) or _PATTERNS["state_after"].match(after):
        return True
    other = occurrence.following
    if other is None or other.start < end:
        return False
    between = occurrence.masked[end : other.start]
    if other.block == occurrence.here.block and not between.strip(" ,;\n") and _is_inequality(other.formula):
        return True
    if not _PATTERNS["beyond_at"].fullmatch(between):
        return False
    if other.formula is None or not other.formula.members:
        return True
    first = other.formula.members[0]
    launch = occurrence.masked[max(0, other.start - _MAX_TAIL) : other.start]
    is_launch = first.name in _WORDS["angles"] and _PATTERNS["launched"].search(launch)
    return first.op != "sym" or (first.name in _WORDS["coordinates"] and not is_launch)


def _is_inequality(following: Formula | None) -> bool:
    r"""Return True if a formula is an inequality; behind another one it says where that holds: `V = 0, \ 0 < x < a`."""
    return following is not None and not ORDERINGS.isdisjoint(following.relations)


# Definitions --------------------------------------------------------------------------------------------------


def _stated_definitions(occurrence: _Occurrence) -> Iterator[StatedDefinition]:
    r"""Yield the definitions that one equation or chain states, such as `k = 2\pi/\lambda`."""
    part = occurrence.part
    if part.kind not in ("equation", "chain") or not {"=", "equiv"}.issuperset(part.relations):
        return
    members = part.members
    for left, right in pairwise(members):
        name = _defined_symbol(left, right) or _defined_symbol(right, left)
        if (
            name is None
            or _may_be_value(left, right)
            or any(node.op in _WORDS["no_definiens"] for member in (left, right) for node in walk(member))
        ):
            continue
        if left.op == right.op == "sym" and (
            len(members) > 2 or not _PATTERNS["defines"].search(occurrence.words.sentence)
        ):
            continue  # `i = i'` is a condition; that it holds throughout has to be stated
        if name in _WORDS["coordinates"] and _PATTERNS["surface"].search(occurrence.words.clause):
            continue
        if not _is_condition(occurrence, name, None):
            equation = formula((left, right), ("=",), occurrence.here.latex, part.depends)
            span = (occurrence.here.start, occurrence.here.end)
            yield StatedDefinition(equation, name, span, name in dict(part.depends))


def _may_be_value(left: Expr, right: Expr) -> bool:
    """Return True if a side may be a number with an italic unit (`R = 20cm`), or a misread unit (`1 kg - m`)."""
    for side in (left, right):
        is_measured = any("." in node.name or node.value == _TEN for node in walk(side) if node.op == "num")
        if is_measured and _LONE_UNITS.issuperset(symbols(side)):
            return True  # `n = 10^{24}/m^3`
        ops = {node.op for node in walk(side)}
        is_misread = "unit" in ops and not ops.isdisjoint(("add", "sub"))
        if is_misread or italic_units_as_quantity(side, frozenset()) is not None:
            return True
    return False


_TEN = Fraction(10)


def _defined_symbol(side: Expr, expression: Expr) -> str | None:
    r"""Return the symbol that the equation `side = expression` defines, or None.

    That is `side` if it is a symbol that the expression does not contain; `\dot x` for `dx/dt = \partial x/\partial t`.
    """
    if side.op == "derivative" and expression == Expr("partial", side.args, side.name) and side.args[0].op == "sym":
        return rf"\dot{{{side.args[0].name}}}"
    if side.op != "sym" or side.name in symbols(expression) or not symbols(expression) - _WORDS["no_symbols"]:
        return None
    if side.name in _WORDS["no_symbols"] or any(
        (node.op == "sym" and " " in node.name)
        or (node.op == "apply" and node.name == side.name)
        or (node.op == "num" and not node.value)
        for node in walk(expression)
    ):
        return None
    return side.name
