"""The kernels: interpreted, compiled and the slow twin say the same."""

from __future__ import annotations

import ast
import math
import re
import tomllib
from collections import Counter
from itertools import product
from pathlib import Path
from types import ModuleType

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from prism.algebra.expr import Expr, number, symbol, symbols, walk
from prism.algebra.operators import OPS
from prism.engine import kernels
from prism.engine.kernels import floats, ints, source
from prism.engine.kernels.marking import OPTIONS, SOURCES, Role
from prism.engine.lowering import build_tape
from prism.engine.tape import Tape
from prism.latex import parse
from tests import reference
from tests.support import strategies

EVALUATED = [name for name, op in OPS.items() if op.opcode is not None and op.arity != 0]
ON_TAPES_ONLY = {"ipow"} | {name for name, op in OPS.items() if not op.latex}
EDGES = (
    0.0, 1e-320, -1e-320, 1e-200, -1e-200, 1e-9, 0.5, 1.0, 1.0 + 2e-16, -1.0, 2.0, -3.0, math.pi / 2, 1e3, -1e3, 1e200,
    -1e200,
)  # fmt: skip


@pytest.fixture(scope="session")
def compiled() -> ModuleType:
    return kernels.warm()


def run(module: ModuleType, tape: Tape, point: dict[str, float]) -> tuple[int, float, float, list[float]]:
    """Flag, value, bound and gradient of a tape at a point."""
    n_op, n_var = tape.n_op, len(tape.names)
    x = floats(module, [point[name] for name in tape.names] or 1)
    value, bound, adjoint, grad = (floats(module, n) for n in (n_op, n_op, n_op, max(n_var, 1)))
    code, consts, dep = ints(module, tape.code), floats(module, tape.consts), ints(module, tape.dep)
    flag = module.evaluate(code, consts, dep, n_op, x, 0, value, bound)
    if flag:
        return int(flag), 0.0, 0.0, []
    module.gradient(code, n_op, n_var, value, adjoint, grad)
    return 0, float(value[-1]), float(bound[-1]), [float(g) for g in grad[:n_var]]


def test_every_operator_has_its_four_rows() -> None:
    text = "".join(path.read_text("utf-8") for path in SOURCES.glob("*.py"))
    for name in EVALUATED:
        assert name in reference.TWINS, f"{name} has no twin in tests/reference.py"
        assert re.search(rf"op == (\w+ or op == )*{name.upper()}\b", text), f"{name} has no kernel branch"
    assert set(reference.TWINS) == set(EVALUATED)
    read = {node.op for latex in parse_cases() for member in parse(latex).members for node in walk(member)}
    assert set(OPS) - read == ON_TAPES_ONLY, "each operator that LaTeX can spell has a row in tests/cases/parse"


def parse_cases() -> list[str]:
    folder = Path(__file__).parents[1] / "cases" / "parse"
    rows = [row for path in sorted(folder.glob("*.toml")) for row in tomllib.loads(path.read_text("utf-8"))["case"]]
    return [row["latex"] for row in rows if "canonical" in row and "known_gap" not in row]


def test_opcodes_are_distinct_but_for_constants() -> None:
    codes = [op.opcode for name, op in OPS.items() if op.opcode is not None and name != "const"]
    assert len(codes) == len(set(codes))


def as_expr(name: str, args: tuple[Expr, ...]) -> Expr:
    if name in ("ipow", "root"):
        return Expr("pow" if name == "ipow" else name, (args[0], number(-3 if name == "ipow" else 3)))
    return Expr(name, args[: 1 if OPS[name].arity == 1 else 2])


@pytest.mark.compiled
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", EVALUATED)
def test_edges_agree_interpreted_and_compiled(name: str, compiled: ModuleType) -> None:
    """Value, bound and flag at zero, tiny, huge, negative and next to poles; no warning, no exception."""
    tape = build_tape(as_expr(name, (symbol("x"), symbol("y"))))
    for x, y in product(EDGES, EDGES):
        slow = run(source, tape, {"x": x, "y": y})
        fast = run(compiled, tape, {"x": x, "y": y})
        assert slow[0] == fast[0], f"{name}({x}, {y}): flags {slow[0]} and {fast[0]}"
        assert slow[1] == pytest.approx(fast[1], rel=1e-14, abs=0.0)
        assert slow[2] == pytest.approx(fast[2], rel=1e-6, abs=1e-300)
        assert slow[3] == pytest.approx(fast[3], rel=1e-12, abs=1e-300)


@pytest.mark.filterwarnings("error")
@given(strategies.expressions, strategies.points)
def test_value_and_bound_hold_against_the_twin(expr: Expr, point: dict[str, float]) -> None:
    tape = build_tape(expr)
    assume(not tape.atoms)
    # (x - x)^0 is 1 to the kernels, as x^0 is, and has no value to the twin
    assume(not any(node.op == "pow" and node.args[1].value == 0 for node in walk(expr)))
    flag, value, bound, _ = run(source, tape, point)
    exact = reference.value(expr, point)
    if flag == 0 and exact is None:  # on the edge of a domain, within rounding: the bound says so
        assert bound > 1e-9 * abs(value)
    elif flag == 0:
        slack = mpmath.mpf(bound) * mpmath.mpf("1.01") + mpmath.mpf(10) ** -300
        assert abs(mpmath.mpf(value) - exact) <= slack


@pytest.mark.compiled
@given(strategies.expressions, strategies.points)
def test_interpreted_and_compiled_agree_on_formulas(expr: Expr, point: dict[str, float]) -> None:
    tape = build_tape(expr)
    assume(not tape.atoms)
    slow, fast = run(source, tape, point), run(kernels.warm(), tape, point)
    assert slow[0] == fast[0]
    assert abs(slow[1] - fast[1]) <= slow[2] + fast[2] + 1e-300


@given(strategies.algebraic, strategies.points)
def test_gradient_is_the_derivative(expr: Expr, point: dict[str, float]) -> None:
    tape = build_tape(expr)
    assume(not tape.atoms)
    flag, _, bound, grad = run(source, tape, point)
    if flag or not tape.names:
        return
    for name, slope in zip(tape.names, grad, strict=True):
        step = mpmath.mpf(10) ** -15 * mpmath.mpf(point[name])
        above = reference.value(expr, {**point, name: mpmath.mpf(point[name]) + step})
        below = reference.value(expr, {**point, name: mpmath.mpf(point[name]) - step})
        if above is None or below is None:
            continue
        exact = (above - below) / (2 * step)
        assert abs(exact - slope) <= 1e-6 * abs(exact) + 1e3 * bound / point[name] + 1e-12


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=6))
def test_real_roots_finds_simple_roots(wanted: list[float]) -> None:
    wanted = sorted({round(root, 1) for root in wanted})
    poly = np.poly1d([1.0])
    for root in wanted:
        poly *= np.poly1d([1.0, -root])
    coefficients = [float(c) for c in poly.coeffs[::-1]]
    roots = [0.0] * (source.MAX_ROOTS + 1)
    n_root = source.real_roots(coefficients, 0, len(coefficients) - 1, [0.0] * (2 * source.WIDTH), roots)
    assert sorted(roots[:n_root]) == pytest.approx(wanted, abs=1e-3)


def test_roots_of_a_product_with_zero_are_exact() -> None:
    roots = [0.0] * (source.MAX_ROOTS + 1)
    n_root = source.real_roots([0.0, -6.0, 3.0], 0, 2, [0.0] * (2 * source.WIDTH), roots)
    assert sorted(roots[:n_root]) == [0.0, 2.0]


def test_a_shared_subexpression_stands_on_the_tape_once() -> None:
    x = Expr("add", (symbol("x"), symbol("y")))
    assert build_tape(Expr("mul", (x, Expr("sin", (x,))))).n_op == 5
    assert symbols(x) == {"x", "y"}


@pytest.mark.compiled
def test_kernels_count_no_references() -> None:
    """The option of numba that turns counting off is not documented; without it this text has both calls."""
    import numba

    horner = numba.njit(f"float64({source.REALS}, int64, int64, float64)", **OPTIONS)(source.horner)
    assert "NRT_" not in next(iter(horner.inspect_llvm().values()))


def marked_kernels() -> dict[str, Role]:
    """Every kernel, and who calls it, as its decorator says."""
    roles = {"PART": Role.PART, "STAGE": Role.STAGE}
    found = {}
    for tree in source_trees():
        for node in ast.iter_child_nodes(tree):
            if isinstance(node, ast.FunctionDef):
                [mark] = node.decorator_list
                assert isinstance(mark, ast.Call)
                said = [each.id for each in mark.args if isinstance(each, ast.Name)]
                found[node.name] = roles[said[0]] if said else Role.ENTRY
    return found


def source_trees() -> list[ast.Module]:
    """The files of the kernels."""
    return [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCES.glob("*.py"))]


@pytest.mark.slow
def test_python_calls_entries_only() -> None:
    """Another kernel has no door for Python once it is compiled: calling it would end the process."""
    package = SOURCES.parents[2]
    paths = [path for path in package.rglob("*.py") if SOURCES not in path.parents]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    attributes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    called = {node.attr for node in attributes if ast.unparse(node.value) != "acb"}  # balls have a zeta of their own
    marked = marked_kernels()
    entries = {name for name, role in marked.items() if role is Role.ENTRY}
    assert not called & (marked.keys() - entries)
    assert entries <= called | {"choose_targets"}  # that one is tested alone


def test_a_stage_has_one_place() -> None:
    """It is written into its caller anew at each place where it stands."""
    calls = Counter(
        node.func.id
        for tree in source_trees() for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    )  # fmt: skip
    stages = [name for name, role in marked_kernels().items() if role is Role.STAGE]
    assert {name: calls[name] for name in stages} == dict.fromkeys(stages, 1)


def test_no_power_has_a_constant_exponent() -> None:
    """Numba would compile it as a call of `pow`: its rewrites are off."""
    powers = [node for tree in source_trees() for node in ast.walk(tree) if isinstance(node, ast.BinOp)]
    assert not [node.lineno for node in powers if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant)]
