"""Generated formulas for property tests."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from prism.algebra.expr import Expr, Formula, formula, number, symbol
from prism.algebra.operators import OPS

NAMES = ("x", "y", "z")
LEFT_OUT = ("ipow", "floor", "step")  # an instruction of powers; functions that jump have no inverse
UNARY = tuple(name for name, op in OPS.items() if op.opcode is not None and op.arity == 1 and name not in LEFT_OUT)
BINARY = ("add", "sub", "mul", "div")

points = st.fixed_dictionaries({name: st.floats(0.1, 20.0, allow_nan=False) for name in NAMES})
leaves = st.one_of(
    st.sampled_from(NAMES).map(symbol),
    st.integers(1, 9).map(number),
    st.just(number(Fraction(1, 2))),
    st.just(Expr("const", name="pi")),
)


def _grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.tuples(st.sampled_from(BINARY), inner, inner).map(lambda t: Expr(t[0], (t[1], t[2]))),
        st.tuples(st.sampled_from(UNARY), inner).map(lambda t: Expr(t[0], (t[1],))),
        st.tuples(inner, st.integers(-3, 4)).map(lambda t: Expr("pow", (t[0], number(t[1])))),
        st.tuples(inner, inner).map(lambda t: Expr("pow", t)),
        st.tuples(inner, st.integers(2, 4)).map(lambda t: Expr("root", (t[0], number(t[1])))),
    )


expressions = st.recursive(leaves, _grow, max_leaves=12)
algebraic = st.recursive(
    leaves,
    lambda inner: st.tuples(st.sampled_from(BINARY), inner, inner).map(lambda t: Expr(t[0], (t[1], t[2]))),
    max_leaves=8,
)


def equation(left: Expr, right: Expr) -> Formula:
    """left = right."""
    return formula((left, right), ("=",))


equations = st.tuples(st.sampled_from(NAMES).map(symbol), algebraic).map(lambda t: equation(*t))
