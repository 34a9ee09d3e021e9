r"""Derive the number that each reference node expects: its significant figures, its tolerance, and its unrounded value.

A reference number is rounded, and so were those it was computed from. Where the prerequisites and the givens determine
it, a solution is compared with that value (semantics N.2); where it disagrees with the author's number, with the
author's.

What a question says of the number that it wants: its unit (semantics F.10), if it is counted (semantics N.2).

A number without a unit is read in the unit asked for, "in metres per second", and in no other: a grader that takes
whichever unit fits pays for a number twice. A whole number is exact, unless the question asks for something measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from prism.algebra.expr import Formula, symbols, walk
from prism.budget import NUMBER, NUMBERS, share
from prism.equivalence.facts import numeric_of
from prism.equivalence.numbers.comparison import NumberSpec, tolerance
from prism.equivalence.numbers.known_values import KnownValues, evaluate_with_units, root_near
from prism.equivalence.numbers.stated import Numeric, StatedNumber
from prism.physics.context import Context
from prism.physics.tables import PI, Dimension, Unit
from prism.physics.units import find_unit, find_unit_product, longest_unit
from prism.problem.dag import ancestor_closure
from prism.problem.phrases import phrase_patterns
from prism.problem.schema import Problem, ProblemNode

MAX_WORDS = 4  # of a unit that is written out: "metres per second squared"
_PATTERNS = phrase_patterns("expected_numbers")
_ROMAN = re.compile(r"\\(?:mathrm|text|textrm|unit|rm)\s*\{([^{}]*)\}")
_NO_UNITS = frozenset(("a", "an", "the", "at", "as", "h", "d", "t", "g"))  # words and letters rather than units


def asked_unit(question: str, dimension: Dimension | None = None) -> Unit | None:
    r"""Return the one unit that a question names behind "in"; None if it names none, or several.

    Args:
        question: text with LaTeX.
        dimension: of the unit; by default any.

    >>> [asked_unit(text) for text in ("Give $x$ in cm or in mm.", "How far does it fall in the time $t$?")]
    [None, None]
    >>> unit = asked_unit(r"Give $v$ in $\mathrm{km/h}$.")
    >>> unit is not None and unit.factor
    Fraction(5, 18)
    """
    found = {unit for unit in _named_units(question) if dimension is None or unit.dimension == dimension}
    return found.pop() if len(found) == 1 else None


def is_measured(question: str) -> bool:
    """Return True if a whole number that a question wants is one of a measurement, and so rounded (semantics N.2).

    Args:
        question: text with LaTeX; without any nothing is measured.

    >>> [is_measured(text) for text in ("How many ways are there?", "Estimate the Reynolds number.", "Find $m + n$.")]
    [False, True, False]
    >>> is_measured("How many joules of heat are given off?"), is_measured("A 2.5 kg block slides. Find the ratio.")
    (True, True)
    """
    if _PATTERNS["rounds"].search(question) or any(any(unit.dimension) or unit.pi for unit in _named_units(question)):
        return True
    found = [] if _PATTERNS["counts"].search(question) else list(_PATTERNS["measured"].finditer(question))
    units = [find_unit(each["unit"]) for each in found if each["unit"] and (each["roman"] or len(each["unit"]) > 1)]
    return any(each["unit"] is None for each in found) or any(unit and any(unit.dimension) for unit in units)


def _named_units(question: str) -> Iterator[Unit]:
    """Yield the units that a question names behind "in"."""
    for match in _PATTERNS["in"].finditer(question):
        words = [_ROMAN.sub(r"\1", word) for word in match["words"].split(" ")]
        if "$" in words[0] and r"\mathrm" not in match["words"] and r"\text" not in match["words"]:
            continue
        cleaned = [word.strip("$().,\\~").replace("percentage", "percent") for word in words][:MAX_WORDS]
        if cleaned[0] in _NO_UNITS:
            continue
        if (unit := find_unit_product(longest_unit(cleaned)[0])) is not None:
            yield unit


WHOLE = Fraction(1, 10**9)  # relative: a value recomputed in floating point is whole within it


@dataclass(frozen=True, slots=True)
class ExpectedNumbers:
    """The numbers that a problem expects.

    Attributes:
        specs: maps a node index to what counts as its number.
        known_values: maps a symbol to value and dimension in SI, as far as givens and nodes determine them.
    """

    specs: Mapping[int, NumberSpec]
    known_values: KnownValues


def derive_expected_numbers(problem: Problem) -> ExpectedNumbers:
    """Derive the unrounded number of each numeric node from its prerequisites and givens, and how it is to be compared.

    Values that givens and nodes determine are collected in index order, so that later nodes can use them. A number that
    costs too much is not derived; the author's own one counts.
    """
    figures = {part.letter: part.significant_figures for part in problem.subquestions}
    known: dict[str, tuple[float, Dimension]] = {}
    numeric: set[int] = set()
    found: dict[int, NumberSpec] = {}
    left = NUMBERS
    for node in problem.nodes:
        number = numeric_of(node.formula)
        if number is None or (number.number.is_exact and not number.number.is_whole):
            with share(min(NUMBER, left)) as account:
                add_implied_value(node.formula, problem.context, known)
            left -= account.spent
            asked = None if number is None else _asked_unit(node, number.number, problem)
            found[node.index] = NumberSpec(is_final=node.is_final, is_node=True, asked=asked)  # a closed form
            continue
        declared = figures.get(node.subquestion)
        before = ancestor_closure(problem.dag, {node.index}) - {node.index}
        spec = NumberSpec(
            figures=declared if node.is_final else None,
            is_final=node.is_final,
            n_before=len(before & numeric),
            is_node=True,
            asked=_asked_unit(node, number.number, problem),
            is_change=node.is_final and _PATTERNS["changes"].search(_question_of(node, problem)) is not None,
            is_measured=number.number.is_whole and (bool(declared) or is_measured(_question_of(node, problem))),
        )
        exact = None
        with share(min(NUMBER, left)) as account:
            exact = _derive_number(number, problem, before, known)
        left -= account.spent
        if exact is not None and is_within_tolerance(exact, number.number, spec):
            spec = replace(spec, recomputed=exact)
            if number.number.is_whole and abs(exact - round(exact)) > WHOLE * abs(exact):
                spec = replace(spec, is_measured=True)
        if not spec.is_exact(number.number):
            numeric.add(node.index)
        if number.subject.op == "sym":
            value = number.number.value if spec.recomputed is None else spec.recomputed
            known[number.subject.name] = float(replace(number.number, value=value).in_si), number.number.dimension
        found[node.index] = spec
    settled = tuple(f for node in problem.nodes if not node.is_text for f in (node.formula, *node.accept))
    texts = " ".join((problem.statement, *(part.text for part in problem.subquestions)))
    has_values = bool(numeric) or is_measured(texts)
    nodes = {
        node.index: replace(
            found[node.index],
            beside=_numbers_of_quantities_in(node, problem, found),
            settled=settled,
            has_values=has_values,
        )
        for node in problem.nodes
    }
    return ExpectedNumbers(nodes, known)


def _asked_unit(node: ProblemNode, number: StatedNumber, problem: Problem) -> Unit | None:
    """Return the unit that the question of a final node names; of a number with a unit, one of its dimension.

    None for other nodes, and where the question names none.
    """
    if not node.is_final:
        return None
    return asked_unit(_question_of(node, problem), None if number.unit is None else number.dimension)


def _question_of(node: ProblemNode, problem: Problem) -> str:
    """Return what is asked where a node stands: the text of its part with instructions, else the problem's."""
    own = [part for part in problem.subquestions if part.letter == node.subquestion]
    texts = [f"{part.text} {part.final_answer_instructions}" for part in own]
    if not any(part.text for part in own):
        texts.append(problem.statement)
    return " ".join(texts)


def _numbers_of_quantities_in(
    node: ProblemNode, problem: Problem, spec: Mapping[int, NumberSpec]
) -> tuple[tuple[Numeric, NumberSpec], ...]:
    """Return the numbers that other nodes give for quantities in a node's formulas, each with its spec.

    For the node `v = a t` that is the number of a node `a = 2 m/s^2`. Empty if the node itself asks for a number.
    """
    if numeric_of(node.formula) is not None:
        return ()
    subjects = {part for f in (node.formula, *node.accept) for member in f.members for part in walk(member)}
    stated = ((numeric_of(other.formula), spec[other.index]) for other in problem.nodes)
    return tuple((number, each) for number, each in stated if number is not None and number.subject in subjects)


def add_implied_value(f: Formula, context: Context, known: dict[str, tuple[float, Dimension]]) -> None:
    """Add to `known` (symbol -> value in SI, dimension) the symbol that an equation is solved for.

    Nothing is added if the value of a symbol on the other side is unknown, or the symbol is known already.
    """
    if f.kind != "equation":
        return
    for subject, other in (f.members, f.members[::-1]):
        if subject.op == "sym" and subject.name not in symbols(other) and subject.name not in known:
            measured = evaluate_with_units(other, context, known)
            if measured is not None:
                known[subject.name] = float(measured[0]), measured[1]
                return


def is_within_tolerance(exact: Fraction, number: StatedNumber, spec: NumberSpec) -> bool:
    """Return True if a recomputed value agrees with the author's number, both in its unit, within the tolerance."""
    allowed = tolerance(spec.figures or number.figures, spec) * abs(number.value)
    return abs(exact - number.value) <= max(allowed, number.ulp / 2)


def _derive_number(number: Numeric, problem: Problem, before: frozenset[int], known: KnownValues) -> Fraction | None:
    """Compute a node's number, in its own unit, from known values or by solving the formula of an ancestor.

    None if neither determines it.

    Args:
        number: the symbol and its number, as the author states them.
        problem: for its nodes and context.
        before: indices of the node's ancestors.
        known: value and dimension of symbols.
    """
    if number.subject.op != "sym":
        return None
    name, dimension = number.subject.name, number.number.dimension
    value: float | None = None
    if name in known and known[name][1] == dimension:
        value = known[name][0]
    else:
        for earlier in reversed(problem.nodes):
            if earlier.index in before and name in symbols(*earlier.formula.members):
                value = root_near(earlier.formula, name, float(number.number.in_si), dimension, problem.context, known)
                if value is not None:
                    break
    return None if value is None else in_unit_of(value, number.number)


def in_unit_of(value: float, number: StatedNumber) -> Fraction:
    """Convert a value [coherent SI] to the unit in which `number` is stated, degrees Celsius included."""
    unit = number.unit
    return Fraction(value) if unit is None else (Fraction(value) - unit.offset) / (unit.factor * PI**unit.pi)
