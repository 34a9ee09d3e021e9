"""Find the reference nodes that the problem itself states, so that a copy of its text matches them (semantics C.5).

The paper's policy gives credit for them, and so does a grade; the policy for training gives none
(`dag.training_credit`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from prism.algebra.expr import Formula, symbols_of
from prism.budget import GIVEN, STATED, share
from prism.equivalence.facts import numeric_of
from prism.equivalence.matching import match
from prism.equivalence.numbers.comparison import NumberSpec
from prism.equivalence.statements import is_mention
from prism.errors import LatexSyntaxError
from prism.latex import extract
from prism.physics.context import Context, given_values, parse
from prism.problem.answers.numbers import ExpectedNumbers, derive_expected_numbers, in_unit_of, is_within_tolerance
from prism.problem.schema import Problem, ProblemNode, formulas_of


@dataclass(frozen=True, slots=True)
class GivenNode:
    """A node that the problem itself states.

    Attributes:
        index: of the node.
        where: the field of the problem file that states it: `context`, `subquestion a, subproblem`, `givens`,
            `definitions`.
        latex: the formula there.
    """

    index: int
    where: str
    latex: str


def find_given_nodes(problem: Problem, expected: ExpectedNumbers | None = None) -> tuple[GivenNode, ...]:
    """Find the nodes that the problem itself states, in its text, given values or definitions, sorted by index.

    All substitutions of a grade are allowed (constants, definitions, values): a copy earns by them too. A formula of
    the text that costs more than `STATED` operations beside the nodes states none of the others.

    Args:
        problem: a problem.
        expected: its expected numbers, if they are derived already.
    """
    specs = (expected or derive_expected_numbers(problem)).specs
    waiting = [node for node in problem.nodes if not node.is_text]
    found: list[GivenNode] = []
    for where, stated in _stated_formulas(problem):
        with share(STATED):
            for node in tuple(waiting):
                verdicts = (match(each, stated, problem.context, specs[node.index]) for each in formulas_of(node))
                if any(verdict.status == "equivalent" for verdict in verdicts):
                    found.append(GivenNode(node.index, where, stated.latex))
                    waiting.remove(node)
    for node in waiting:
        text = _given_value(node, problem, specs[node.index])
        if text:
            found.append(GivenNode(node.index, "givens", text))
    return tuple(sorted(found, key=lambda given: given.index))


def find_given_answers(problem: Problem, nodes: Collection[int]) -> dict[int, tuple[Formula, ...]]:
    """Map the index of each final answer that one formula of the problem already says to these formulas.

    One formula, or one solved for another symbol: no value and no definition is put in, and numbers are no copies.
    Only the nodes of these indices are looked at; what costs too much to be compared is not found.
    """
    plain = replace(problem.context, givens={}, definitions=())
    answers = [
        node for node in problem.nodes
        if node.index in nodes and node.is_final and not node.is_text and numeric_of(node.formula) is None
    ]  # fmt: skip
    found: dict[int, tuple[Formula, ...]] = {}
    with share(GIVEN):
        for _, stated in _stated_formulas(problem):
            for node in answers:
                if symbols_of(stated) >= symbols_of(node.formula) and _states(stated, node.formula, plain):
                    found[node.index] = (*found.get(node.index, ()), stated)
    return found


def _states(stated: Formula, wanted: Formula, context: Context) -> bool:
    """Return True if a formula of the problem says what another one says; False if it costs too much to be seen."""
    with share(STATED):
        return match(wanted, stated, context).status == "equivalent"
    return False


def stated_formulas(problem: Problem) -> tuple[Formula, ...]:
    """Return the distinct formulas of a problem's text, and its definitions."""
    return tuple(f for _, f in _stated_formulas(problem))


def mentioned_symbols(problem: Problem) -> frozenset[str]:
    """Return the symbols of all formulas in a problem's text."""
    return frozenset[str]().union(*(symbols_of(stated) for _, stated in _text_formulas(problem)))


def _text_formulas(problem: Problem) -> Iterator[tuple[str, Formula]]:
    """Yield (field of the problem file, formula) for each formula of the problem's text that parses."""
    texts = [("context", problem.statement)]
    for part in problem.subquestions:
        letter = f"subquestion {part.letter}, " if part.letter else ""
        texts += [(f"{letter}subproblem", part.text)]
        texts += [(f"{letter}final_answer_instructions", part.final_answer_instructions)]
    for where, text in texts:
        for located in extract(text, is_statement=True):
            try:
                yield where, parse(located.latex, context=problem.context)
            except LatexSyntaxError:
                continue  # a warning of the load


def _stated_formulas(problem: Problem) -> Iterator[tuple[str, Formula]]:
    """Yield (field of the file, formula) for each distinct formula (no lone symbol) in the text, and definition."""
    seen: set[Formula] = set()
    for where, stated in _text_formulas(problem):
        if stated not in seen and not is_mention(stated):
            seen.add(stated)
            yield where, stated
    for defined in problem.context.definitions:
        if defined not in seen:
            yield "definitions", defined


def _given_value(node: ProblemNode, problem: Problem, spec: NumberSpec) -> str:
    """Return the given value that a numeric node repeats within tolerance, as `m = 2.00 kg`; empty if none."""
    stated = numeric_of(node.formula)
    name = stated.subject.name if stated is not None and stated.subject.op == "sym" else ""
    given = given_values(problem.context).get(name)
    if stated is None or given is None or given.quantity.dimension != stated.number.dimension:
        return ""
    value = in_unit_of(float(given.quantity.value), stated.number)
    return f"{name} = {given.text}" if is_within_tolerance(value, stated.number, spec) else ""
