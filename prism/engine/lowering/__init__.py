r"""Expression -> instructions: what each construct of a formula becomes on a tape.

Real arithmetic is lowered one to one. A complex number is a pair of instructions, a vector or a matrix a table of
them, so an equation between vectors has one root a component, and the kernels know nothing of either. An integral
becomes a quadrature: `widen` carries its error. A sum between written numbers is its terms. What cannot be lowered, as
any other sum, stands on the tape as one variable named by its canonical form, an opaque atom (semantics Z.9);
interpretations give it a value (semantics X.3).

Refused: complex kernels (a second copy of every branch; branch cuts and conjugates need the real parts anyway), a CAS
for integrals (unbounded time), and sums to a letter or to infinity on tapes (a second mechanism).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prism.algebra.expr import Expr, canonical, ops_of, walk
from prism.engine.lowering import functions, integrals, scalars, tables
from prism.engine.lowering.arithmetic import Mismatch as Mismatch
from prism.engine.lowering.arithmetic import Scope, Table, Value
from prism.engine.lowering.functions import is_known_function as is_known_function
from prism.engine.lowering.notation import CONJUGATE as CONJUGATE
from prism.engine.lowering.notation import PLAIN as PLAIN
from prism.engine.lowering.notation import Notation as Notation
from prism.engine.lowering.notation import component_names as component_names
from prism.engine.lowering.notation import conjugation_base as conjugation_base
from prism.engine.lowering.notation import restrict_notation as restrict_notation
from prism.engine.lowering.scalars import decimal_uncertainty as decimal_uncertainty
from prism.engine.lowering.scalars import lower_node, lower_real
from prism.engine.store import stored
from prism.engine.tape import Builder, Tape, TapeTooLarge, finish_tape

_INVERSE = frozenset(("asin", "acos", "atan"))

_OF_WHOLE_NUMBERS = ("pow", "factorial", "binomial")


def build_tape(residual: Expr, notation: Notation = PLAIN) -> Tape:
    """Compile a residual, the expression that is zero where a formula holds, to a tape (lower it to instructions).

    Errors:
        TapeTooLarge: beyond the limits of `tape`.
        Mismatch: a vector is set equal to a number, or tables of different shape to each other.

    >>> from prism.algebra.expr import symbol
    >>> x = symbol("x")
    >>> build_tape(Expr("mul", (Expr("add", (x, x)), Expr("add", (x, x))))).n_op  # x, x + x, its square
    3
    """
    builder = Builder()
    value = lower_node(residual, Scope(builder, notation, constructs=_CONSTRUCTS))
    pairs = value.entries if isinstance(value, Table) else (value,)
    roots = [part for pair in pairs for part in pair if part is not None]
    if len(roots) > 1:  # parts that are nothing but 0
        roots = [root for root in roots if builder.exact.get(root) != 0] or roots[:1]
    _declare_angles(builder, residual)
    if "integer" in builder.kinds.values() and not any(f"{op}[" in canonical(residual) for op in _OF_WHOLE_NUMBERS):
        builder.kinds = {name: kind for name, kind in builder.kinds.items() if kind != "integer"}  # `x!/x!`
    return finish_tape(builder, roots, has_inverse=_has_unsimplified_inverse(residual))


def build_joint_tape(nodes: Sequence[Expr]) -> Tape:
    """Compile several real expressions to one tape: root k is the value of node k.

    Errors:
        TapeTooLarge: beyond the limits of `tape`.
        Mismatch: a node is a vector or a matrix, or a complex number.
    """
    scope = Scope(Builder(), PLAIN, constructs=_CONSTRUCTS)
    return finish_tape(scope.builder, [lower_real(node, scope) for node in nodes], has_inverse=False)


def _has_unsimplified_inverse(residual: Expr) -> bool:
    """True if `asin`, `acos` or `atan` occurs outside of sines, cosines and tangents, and remains in canonical form."""
    if _INVERSE.isdisjoint(ops_of(residual)):
        return False
    stack, found = [residual], set()
    while stack:
        node = stack.pop()
        if node.op in _INVERSE:
            found.add(node.op)
        stack.extend(node.args if node.op not in integrals.TRIGONOMETRIC else ())
    return bool(found) and any(f"{op}[" in canonical(residual) for op in found)


@stored
def table_shape(node: Expr, notation: Notation) -> tuple[int, int] | None:
    """Return (rows, columns) of a vector or matrix expression; None for a number, or beyond the limits of a tape.

    Errors:
        Mismatch: a vector beside a number.
    """
    try:
        value = lower_node(node, Scope(Builder(), notation, constructs=_CONSTRUCTS))
    except TapeTooLarge:
        return None
    return (value.rows, value.columns) if isinstance(value, Table) else None


def _declare_angles(builder: Builder, residual: Expr) -> None:
    """Set the kind `angle` for symbols that are the argument of a sine, cosine or tangent: `θ`, `2θ`."""
    if integrals.TRIGONOMETRIC.isdisjoint(ops_of(residual)):
        return
    for node in walk(residual):
        if node.op in integrals.TRIGONOMETRIC:
            for name in _angle_symbols(node.args[0]):
                builder.kinds.setdefault(name, "angle")


def _angle_symbols(arg: Expr) -> frozenset[str]:
    """Return the symbols of a sine's argument that are angles: of `2θ`, `(A + δ)/2`; empty for `ωt`."""
    if arg.op == "sym":
        return frozenset((arg.name,))
    if arg.op in ("add", "sub", "neg"):
        return frozenset(name for inner in arg.args for name in _angle_symbols(inner))
    if arg.op in ("mul", "div"):
        rest = [inner for inner in arg.args if inner.op != "num"]
        divided = arg.op == "mul" or arg.args[1].op == "num"
        return _angle_symbols(rest[0]) if len(rest) == 1 and divided else frozenset()
    return frozenset()


_CONSTRUCTS: dict[str, Callable[[Expr, Scope], Value]] = {
    "num": scalars.lower_literal, "const": scalars.lower_constant, "sym": scalars.lower_symbol,
    "unit": scalars.lower_unit, "derivative": scalars.lower_derivative, "pow": scalars.lower_power,
    "root": scalars.lower_power, "abs": scalars.lower_absolute, "matrix": tables.lower_matrix,
    "tuple": tables.lower_tuple, "dot": tables.lower_dot, "cross": tables.lower_cross,
    "opaque": tables.lower_transpose, "apply": functions.lower_call, "factorial": functions.lower_factorial,
    "binomial": functions.lower_binomial, "ceiling": functions.lower_ceiling, "modulo": functions.lower_modulo,
    "parallel": functions.lower_parallel, "cases": functions.lower_cases, "sum": functions.lower_sum,
    "product": functions.lower_sum, "integral": integrals.lower_integral,
}  # fmt: skip
"""The function that lowers each operator that has no instruction of its own, or may need more than that."""
