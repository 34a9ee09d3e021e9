"""Speed of the six things that users wait for, by pytest-benchmark: parse, solve, pair, matrix, grade, run.

Each round starts with the memories of formulas emptied, with kernels compiled and tables loaded: what the first
solution of a warm process costs. The scripts of `speed/` say where the time goes, and keep what the tables show.

    pytest benchmarks --benchmark-only                          # a table
    pytest benchmarks --benchmark-only --benchmark-autosave     # keep it, in .benchmarks/
    pytest benchmarks --benchmark-only --benchmark-compare      # beside the last one kept
    pytest benchmarks --benchmark-only --benchmark-compare=0001 --benchmark-compare-fail=median:10%
    pytest benchmarks --benchmark-disable                       # each once, untimed: what CI runs

`--benchmark-compare-fail` is for a quiet machine and two commits in a row; no such limit is part of any check. Results
are checked in each round's last value, so a speed-up that decides otherwise fails.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import prism
from benchmarks.memories import forget
from benchmarks.speed.equivalence import nodes_and_claims
from prism.algebra.expr import Expr, symbols_of
from prism.engine.tape import Tape
from prism.engine.zero_set import sample_zero_set, tape_of
from prism.equivalence.numbers.comparison import NumberSpec
from prism.grading.claims.claim import Claim
from prism.grading.match_matrix import build_match_matrix
from prism.grading.references import MatchTask, ReferenceNode

PROBLEM = prism.load_problem(Path(__file__).resolve().parents[1] / "dags" / "free_fall.toml")
ROUNDS = 20
FEW_ROUNDS = 5  # of what takes longer than a tenth of a second
POINTS = 10  # on the zero set of a formula
RUN = 50  # rollouts
FORMULAS = (
    "F = m a", r"T = 2\pi \sqrt{\frac{L}{g}}", r"E = \frac{1}{2} m v^2 + m g h", r"\frac{d^2x}{dt^2} = -\omega^2 x",
    r"B = \frac{\mu_0 I}{2\pi r}", r"\lambda = \frac{h}{\sqrt{2 m e U}}",
    r"v_f = \sqrt{2 \cdot 9.8\,\mathrm{m/s^2} \cdot h}",
    r"P = \frac{n R T}{V - n b} - \frac{a n^2}{V^2}",
)  # fmt: skip
SOLUTION = r"""Only gravity acts, so $\dot{v} = g$ and $v = g t$. The distance is $s = \frac{1}{2} g t^2$; with $s = h$
$$t_f = \sqrt{\frac{2h}{g}}, \qquad v_f = g t_f = \sqrt{2 g h}.$$"""


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Compile or load the kernels, and grade once: tables are read on first use."""
    prism.warm()
    prism.grade(PROBLEM, SOLUTION)


def timed(benchmark: Any, work: Callable[[], Any], rounds: int = ROUNDS) -> Any:
    """Time some work, each round with nothing remembered; return what it returned last."""
    return benchmark.pedantic(work, setup=forget, rounds=rounds)


def test_parse(benchmark: Any) -> None:
    found = timed(benchmark, lambda: [prism.parse(latex) for latex in FORMULAS])
    assert [prism.write(each) for each in found[:2]] == ["F = m a", r"T = 2 \pi \sqrt{\frac{L}{g}}"]


def test_solve(benchmark: Any) -> None:
    """Points on the zero set of each formula that has a value."""
    module = prism.warm()
    equations = [prism.parse(latex) for latex in FORMULAS if "mathrm" not in latex and "frac{d" not in latex]
    tapes: list[Tape] = [tape_of(Expr("sub", each.members)) for each in equations]
    found = timed(benchmark, lambda: [sample_zero_set(tape, (), frozenset(), "", POINTS, module) for tape in tapes])
    assert [points.n_point >= POINTS for points in found] == [True] * len(equations)


def test_pair(benchmark: Any) -> None:
    pairs = ((r"T = 2\pi\sqrt{L/g}", r"g = \frac{4\pi^2 L}{T^2}"), (r"T = 2\pi\sqrt{L/g}", r"g = \frac{2\pi^2 L}{T^2}"))
    found = timed(benchmark, lambda: [prism.equivalent(a, b) for a, b in pairs])
    assert [verdict.status for verdict in found] == ["equivalent", "different"]


def test_matrix(benchmark: Any) -> None:
    """20 reference formulas against 30 of a solution, parsed before."""
    nodes, said = nodes_and_claims()
    formulas = [prism.parse(latex) for latex in nodes]
    references = tuple(ReferenceNode(index, (each,), NumberSpec()) for index, each in enumerate(formulas, start=1))
    task = MatchTask(references, prism.Context(), frozenset().union(*map(symbols_of, formulas)))
    claims = [Claim(prism.parse(latex), is_committed=True) for latex in said]
    assert (len(references), len(claims)) == (20, 30)
    found = timed(benchmark, lambda: build_match_matrix(task, claims), FEW_ROUNDS)
    assert len(found.matched) == len(nodes)


def test_grade(benchmark: Any) -> None:
    prepared = prism.prepare(PROBLEM)
    assert timed(benchmark, lambda: prism.grade(prepared, SOLUTION)).score == 1.0


def test_run(benchmark: Any) -> None:
    """Fifty different rollouts of one problem, in this process."""
    rollouts = [{"response": f"{SOLUTION}\nFor $h = {count}\\,\\mathrm{{m}}$."} for count in range(1, RUN + 1)]
    found = timed(benchmark, lambda: list(prism.grade_many(PROBLEM, rollouts)), FEW_ROUNDS)
    assert [grade.score for grade in found] == [1.0] * RUN
