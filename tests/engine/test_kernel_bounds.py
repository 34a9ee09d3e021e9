"""Kernels end by a count of operations, let other threads run, and say the same in many threads at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import prism
from prism.algebra.expr import Expr
from prism.engine import kernels
from prism.engine.intervals import residual_interval
from prism.engine.kernels import floats, ints, source
from prism.engine.lowering import build_tape
from prism.engine.tape import Tape
from prism.engine.zero_set import MAX_OPERATIONS, draws_of_tape, scratch_arrays

N_DRAW, WANT = 64, 16
SLACK = 64  # evaluations after the limit is seen: the roots that were found are polished
POLYNOMIAL = 8 * source.MAX_DEGREE**3  # operations of the roots of one polynomial


@pytest.fixture(scope="session")
def compiled() -> ModuleType:
    return kernels.warm()


def tape_of(latex: str) -> Tape:
    return build_tape(Expr("sub", prism.parse(latex).members))


def nested_sines(levels: int) -> str:
    """The target stands inside so many sines, and no branch of their inverses leads to a value of it."""
    inside = r"\sqrt{q}+300"
    for _ in range(levels):
        inside = rf"a\sin(b({inside})+c)+d"
    return f"V = {inside}"


def arguments(module: ModuleType, tape: Tape, budget: int) -> tuple[Any, ...]:
    """Of the kernel `find_zero_points`; spot and root are at 13 and 14, tally is the last."""
    n_var, n_op, room = len(tape.names), tape.n_op, 2 * N_DRAW
    return (
        ints(module, tape.code), floats(module, tape.consts), ints(module, tape.dep), n_op, n_var,
        ints(module, [source.POSITIVE] * n_var), ints(module, range(n_var)), n_var,
        draws_of_tape(tape, {}, "bounds", N_DRAW, module), N_DRAW, WANT, room, budget, ints(module, 3 * room),
        floats(module, 3 * room), *scratch_arrays(module, tape), floats(module, (2 * n_op + 3) * source.WIDTH),
        ints(module, 2 * n_op + source.MAX_BRANCHES), floats(module, 2 * source.WIDTH),
        floats(module, source.MAX_ROOTS + 1), floats(module, 2 * source.MAX_ROOTS + 2), ints(module, 2),
    )  # fmt: skip


def points(module: ModuleType, tape: Tape, budget: int) -> tuple[list[list[float]], list[int]]:
    """Points that `find_zero_points` finds with this budget, and its tally."""
    given = arguments(module, tape, budget)
    n_point = module.find_zero_points(*given)
    found = [[*map(float, part[3 * i : 3 * i + 3])] for i in range(n_point) for part in given[13:15]]
    return found, [*map(int, given[-1])]


HARD = [
    nested_sines(10), r"V = \tan(300000 q) + \sin(1000 q) q^V", r"V^8 - 3 q V^7 + V^3 - q = 0",
    r"\sum_{k=1}^{60} \tan(1000 k q V) = q",
]  # fmt: skip


@pytest.mark.parametrize("latex", HARD)
@pytest.mark.parametrize("budget", [0, 100, 1000])
def test_a_search_ends_at_its_budget(latex: str, budget: int) -> None:
    tape = tape_of(latex)
    _, (_, evaluations) = points(source, tape, budget)
    assert evaluations <= source.OVERDRAFT * budget + SLACK + POLYNOMIAL // tape.n_op


@pytest.mark.compiled
@pytest.mark.parametrize("latex", HARD)
@pytest.mark.parametrize("budget", [0, 100, 1000])
def test_a_search_that_ends_early_is_the_same_compiled(latex: str, budget: int, compiled: ModuleType) -> None:
    tape = tape_of(latex)
    slow, fast = points(source, tape, budget), points(compiled, tape, budget)
    assert slow[1] == fast[1]
    assert np.allclose(slow[0], fast[0], rtol=1e-9, atol=1e-12) if slow[0] else not fast[0]


@pytest.mark.parametrize("levels", [8, 14, 24])
def test_nested_calls_end(levels: int) -> None:
    """`V = f(f(...f(q)...))`, 24 deep, was never seen to end: the branches of a function of a function multiply."""
    verdict = prism.equivalent("V = " + "f(" * levels + "q" + ")" * levels, r"V = \frac{q}{r}")
    assert verdict.status == "different"
    assert verdict.cost < MAX_OPERATIONS


@pytest.mark.compiled
def test_branches_without_a_root_end(compiled: ModuleType) -> None:
    """The target under all sines takes what is left, and the points that were found before it count."""
    tape = tape_of(nested_sines(10))
    budget = MAX_OPERATIONS // tape.n_op
    found, (_, evaluations) = points(compiled, tape, budget)
    assert budget < evaluations <= source.OVERDRAFT * budget + SLACK
    assert found


def test_more_equations_than_a_word_has_bits() -> None:
    """The rows that are chosen were marked in a word of 64 bits."""
    for module in (source, *([kernels.warm()] if kernels.forced() == "compiled" else [])):
        n_root, n_var = 80, 3
        jac = np.zeros((n_root, n_var))
        jac[0, 0] = jac[64, 1] = jac[79, 2] = 1.0
        rows, targets = ints(module, n_root), ints(module, n_root)
        rank = module.choose_targets(
            floats(module, jac.reshape(-1)), floats(module, [1.0] * n_var), n_root, n_var, 1, 0b111,
            floats(module, n_root * n_var), rows, targets,
        )  # fmt: skip
        assert rank == n_var
        assert dict(zip(map(int, targets[:rank]), map(int, rows[:rank]), strict=True)) == {0: 0, 1: 64, 2: 79}


@pytest.mark.parametrize("module", ["source", pytest.param("compiled", marks=pytest.mark.compiled)])
def test_a_system_ends_at_its_budget(module: str) -> None:
    kernel: Any = source if module == "source" else kernels.warm()
    tape = tape_of(r"\begin{pmatrix} x \\ y \end{pmatrix} = \begin{pmatrix} a b + x^2 \\ a + b y \end{pmatrix}")
    n_var, n_op, n_root = len(tape.names), tape.n_op, len(tape.roots)
    assert n_root > 1
    for budget in (0, 20, 200):
        tally = ints(kernel, 2)
        kernel.find_system_points(
            ints(kernel, tape.code), floats(kernel, tape.consts), ints(kernel, tape.dep), n_op, n_var,
            ints(kernel, tape.roots), n_root, ints(kernel, [source.POSITIVE] * n_var), (1 << n_var) - 1,
            draws_of_tape(tape, {}, "bounds", N_DRAW, kernel), N_DRAW, WANT, budget, ints(kernel, 3 * N_DRAW),
            floats(kernel, N_DRAW * (n_var + 1)), *scratch_arrays(kernel, tape), floats(kernel, n_root * n_var),
            floats(kernel, n_root * max(n_root, n_var)), floats(kernel, n_root**2), ints(kernel, n_root + 1),
            ints(kernel, n_root + 1), tally,
        )  # fmt: skip
        assert 0 < tally[1] <= source.OVERDRAFT * budget + SLACK


# Threads ------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_switching() -> Iterator[None]:
    """A thread keeps the interpreter's lock until it gives it up."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def eager_switching() -> Iterator[None]:
    """Threads take the interpreter's lock from each other wherever they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.compiled
def test_other_threads_run_while_a_kernel_does(compiled: ModuleType, no_switching: None) -> None:
    """The thread gives up the lock in the kernel only, or not before its end."""
    given = arguments(compiled, tape_of(nested_sines(10)), 1_000_000)
    began: list[int] = []
    ended: list[int] = []

    def search() -> None:
        began.append(1)
        compiled.find_zero_points(*given)
        ended.append(1)

    thread = Thread(target=search)
    thread.start()
    while not began:
        pass
    seen = len(ended)
    thread.join()
    assert (seen, ended) == (0, [1])


@pytest.mark.compiled
def test_a_kernel_says_the_same_in_many_threads_at_once(compiled: ModuleType, eager_switching: None) -> None:
    tapes = [tape_of(latex) for latex in HARD]
    alone = [points(compiled, tape, 1000) for tape in tapes]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda i: points(compiled, tapes[i % len(tapes)], 1000), range(64)))
    assert together == [alone[i % len(tapes)] for i in range(64)]


def test_intervals_are_as_narrow_in_many_threads_at_once(eager_switching: None) -> None:
    """python-flint has one precision for all threads of a process."""
    tape = tape_of(r"V = e^{q} \sin q + \sum_{k=1}^{20} \sqrt{k q}")
    at = dict.fromkeys(tape.names, 0.7)

    def width(_: int) -> float:
        found = residual_interval(tape, at)
        assert found is not None
        return float(found.rad())

    alone = width(0)
    assert 0 < alone < 1e-80
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(width, range(200))) == {alone}


def test_no_operation_is_lost_in_threads(eager_switching: None) -> None:
    before = kernels._state.spent

    def spend(_: int) -> None:
        for _ in range(1000):
            kernels.spend(1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(spend, range(8)))
    assert kernels._state.spent == before + 8000
