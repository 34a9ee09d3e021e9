"""What holds of a grade whatever the solution says: one more false claim, a repetition, another order, one claim less.

Drawn from the shipped problems and their students, with the same draws every time.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest

pytestmark = pytest.mark.slow  # the students of every shipped problem, several times each

if not (Path(__file__).resolve().parents[2] / "benchmarks").is_dir():
    pytest.skip("the faults that are put into formulas stand in the checkout only", allow_module_level=True)

import prism  # noqa: E402
from prism.algebra.expr import Formula, symbols_of  # noqa: E402
from prism.grading.pipeline import grade  # noqa: E402
from prism.grading.result import Grade, nodes_alone  # noqa: E402
from prism.latex import LocatedFormula, extract  # noqa: E402
from prism.problem.dag import score as dag_score  # noqa: E402
from tests.support.attacks import NODE_KINDS, SAME_SCORE, known_symbols, prepared, shipped, words_of, wrong_formulas  # noqa: E402

FALSE_CLAIMS, REPEATED, ORDERS, DELETED = 1, 1, 1, 2  # draws for each student
SWAPS = 12  # exchanges of neighbours that make another order
NEAR_MISSES = 6  # of a node, of which one is drawn
BOXED = 0.3  # of the false claims

STUDENTS = [
    pytest.param(path, student.name, student.solution, id=f"{path.stem}:{student.name}")
    for path in shipped()
    for student in prepared(path).problem.students
]


def drawn(path: Path, student: str, what: str) -> random.Random:
    return random.Random(crc32(f"{path.stem}:{student}:{what}".encode()))


@cache
def graded(path: Path, text: str) -> Grade:
    return grade(prepared(path), text)


def score(result: Grade) -> float:
    assert result.score is not None
    return result.score


# The text of a solution as its formulas, one a line ----------------------------------------------------------------


def formulas_of(text: str) -> list[LocatedFormula]:
    return [item for item in extract(text) if item.kind != "thinking"]


def as_text(items: Sequence[LocatedFormula]) -> str:
    return "\n\n".join(line(item) for item in items)


def line(item: LocatedFormula) -> str:
    """With words before it, so that no line is read as the end of the one above."""
    if item.kind == "boxed":
        return rf"It follows: $$\boxed{{{item.latex}}}$$"
    return rf"It follows: $$\Rightarrow {item.latex}$$" if item.led else f"It follows: $${item.latex}$$"


def read(path: Path, item: LocatedFormula) -> Formula | None:
    try:
        return prism.parse(item.latex, context=prepared(path).problem.context)
    except prism.LatexSyntaxError:
        return None


def is_in_words_of_the_problem(path: Path, item: LocatedFormula) -> bool:
    """Whether it has no name of the solution's own: what such a name means depends on what stands before it."""
    f = read(path, item)
    return f is not None and symbols_of(f) <= known_symbols(path)


def may_change_places(path: Path, one: LocatedFormula, other: LocatedFormula) -> bool:
    """Both are in the problem's words, neither is a box, and they do not contradict each other."""
    first, second = read(path, one), read(path, other)
    if first is None or second is None or "boxed" in (one.kind, other.kind):
        return False
    if not all(is_in_words_of_the_problem(path, item) for item in (one, other)):
        return False
    subjects = [f.members[0] for f in (first, second) if f.members]
    return symbols_of(first) != symbols_of(second) and len(set(subjects)) == len(subjects)


# The properties -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "student", "text"), STUDENTS)
def test_a_false_claim_never_pays(path: Path, student: str, text: str) -> None:
    rng = drawn(path, student, "false claim")
    before = graded(path, text)
    places = [0, *(found.end() for found in re.finditer(r"\n[ \t]*\n", text)), len(text)]
    nodes = [
        node.index for node in prepared(path).problem.nodes if words_of(path, node.index).get("kind") in NODE_KINDS
    ]
    for _ in range(FALSE_CLAIMS):
        false = rng.choice(wrong_formulas(path, rng.choice(nodes), "mixed", NEAR_MISSES))
        at = rng.choice(places)
        shown = rf"\boxed{{{prism.write(false)}}}" if rng.random() < BOXED else prism.write(false)
        claim = f"\n\n$${shown}$$\n\n"
        after = graded(path, text[:at] + claim + text[at:])
        new = sorted(set(after.matched) - set(before.matched))
        dag = prepared(path).problem.dag
        behind_work = dag_score(dag, nodes_alone(dag, after).intersection(new))  # a guess, by work on what it rests on
        assert score(after) - float(behind_work) <= score(before) + SAME_SCORE, f"node {new} by {claim.strip()} at {at}"


@pytest.mark.parametrize(("path", "student", "text"), STUDENTS)
def test_a_repetition_changes_nothing(path: Path, student: str, text: str) -> None:
    rng = drawn(path, student, "repetition")
    items = formulas_of(text)
    before = graded(path, as_text(items))
    for _ in range(REPEATED if items else 0):
        at = rng.randrange(len(items))
        after = graded(path, as_text([*items[: at + 1], *items[at:]]))
        assert after.matched == before.matched, f"{items[at].latex} said twice"


@pytest.mark.parametrize(("path", "student", "text"), STUDENTS)
def test_the_order_of_claims_that_agree_changes_nothing(path: Path, student: str, text: str) -> None:
    rng = drawn(path, student, "order")
    items = formulas_of(text)
    before = graded(path, as_text(items))
    for _ in range(ORDERS if len(items) > 1 else 0):
        other = list(items)
        for _ in range(SWAPS):
            at = rng.randrange(len(other) - 1)
            if may_change_places(path, other[at], other[at + 1]):
                other[at : at + 2] = other[at + 1], other[at]
        after = graded(path, as_text(other))
        assert after.matched == before.matched, as_text(other)


@pytest.mark.parametrize(("path", "student", "text"), STUDENTS)
def test_a_claim_less_earns_no_step_more(path: Path, student: str, text: str) -> None:
    """Of the nodes that are no answers: an answer may be uncovered by deleting the wrong one behind it.

    Nor by deleting what an own name means: the next one that says so may be the better.
    """
    rng = drawn(path, student, "deletion")
    items = formulas_of(text)
    finals = prepared(path).problem.dag.finals
    before = graded(path, as_text(items))
    plain = [at for at, item in enumerate(items) if is_in_words_of_the_problem(path, item)]
    for at in rng.sample(plain, min(DELETED, len(plain))):
        after = graded(path, as_text([*items[:at], *items[at + 1 :]]))
        new = sorted(set(after.matched) - set(before.matched) - set(finals))
        assert not new, f"node {new} without {items[at].latex}"
