r"""What one formula shows of how its letters are read: as vectors, complex numbers, functions or matrices.

`prism.equivalence.notation.choice` joins the marks of two formulas to their notation, so that a pair needs no look at
a node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from prism.algebra.expr import Expr, Formula, nodes_with, ops_of, symbol, symbols, traits_of, walk
from prism.algebra.symbols import symbol_of
from prism.budget import forgettable
from prism.engine.lowering import conjugation_base
from prism.equivalence.facts import FORMULAS_KEPT, VECTOR, is_free_function

PARTS = frozenset(("Re", "Im", "arg"))  # functions of complex numbers
_BINDERS = ("integral", "sum", "product")
_OPERATOR_OPS = frozenset(("commutator", "bracket", "tensor", "opaque"))
_ANGLES = frozenset((r"\theta", r"\phi", r"\varphi", r"\delta", r"\psi", r"\vartheta"))


@dataclass(frozen=True, slots=True)
class Marks:
    r"""Marks in one formula of how its letters are read.

    Attributes:
        names: all its symbols.
        vectors, hats: those with an arrow, and those that begin with a hat.
        conjugates: those with a mark of conjugation, each with the name without it (`\bar{z}`, `z`).
        evident: those of them that a product with their letter, a sum of both or a real part shows to be conjugates.
        bound: variables of its integrals, sums and products.
        summed: indices of its sums and products.
        running: these, and variables of integrals between limits, all of which are real.
        turned: `e^{j\theta}`, `(R + jX)(R - jX)`, `j\omega_0` or the like shows that j is the imaginary unit.
        stated: lone symbols beside an expression with symbols, and those that are differentiated: i of `i = C\,dv/dt`.
        parts: symbols of which a real part, imaginary part or argument is taken.
        has_parts: it takes one of these, of a symbol or another expression.
        has_operators: symbols with hats are quantum operators: two multiplied, one squared, or beside states.
        has_matrix: it has a matrix written out.
        multiplies_columns: tuples are multiplied as vectors, or have a length: `(1, 2)\cdot(3, 4)`.
        dimension: components of its first tuple or column; None if it has none.
        functions: unknown functions of an expression, as f of `f(x - vt)`.
        calls: unknown functions of a symbol, each with that symbol; a function only if that is bound.
        equated: lone symbols beside each other member, in order; in `(x - a)(x - b) = 0` also x and a, x and b.
    """

    names: frozenset[str]
    vectors: frozenset[str]
    hats: frozenset[str]
    conjugates: tuple[tuple[str, str], ...]
    evident: frozenset[str]
    bound: frozenset[str]
    summed: frozenset[str]
    running: frozenset[str]
    turned: bool
    stated: frozenset[str]
    parts: frozenset[str]
    has_parts: bool
    has_operators: bool
    has_matrix: bool
    multiplies_columns: bool
    dimension: int | None
    functions: frozenset[str]
    calls: frozenset[tuple[str, str]]
    equated: tuple[tuple[str, Expr], ...]


@forgettable
@lru_cache(FORMULAS_KEPT)
def marks_of(f: Formula) -> Marks:
    """Return the marks of a formula."""
    members, names, ops = f.members, traits_of(f).names, traits_of(f).ops
    binders = [node for node in _nodes_with(members, *_BINDERS) if len(node.args) > 1]
    calls = list(_nodes_with(members, "apply"))
    bound = frozenset(node.args[1].name for node in binders if node.args[1].op == "sym")
    free = [node for node in calls if len(node.args) == 1 and is_free_function(node.name)]
    taken = [node for node in calls if node.name in PARTS]
    products = _nodes_with(members, "dot", "cross", "abs")
    conjugates = tuple((name, base) for name in names if (base := conjugation_base(name)) != name)
    equated = tuple(_ordered_side_pairs(f))
    lines = (node for node in binders if node.op != "integral" or len(node.args) > 3)
    return Marks(
        names=names,
        vectors=frozenset(name for name in names if VECTOR in name),
        hats=frozenset(name for name in names if symbol_of(name).is_hat),
        conjugates=conjugates,
        evident=frozenset(name for name, base in conjugates if _is_evident_conjugate(name, base, members)),
        bound=bound,
        summed=frozenset(node.args[1].name for node in binders if node.op != "integral"),
        running=frozenset(node.args[1].name for node in lines if node.args[1].op == "sym"),
        turned="j" in names and any(_is_imaginary_unit(member, "j") for member in members),
        stated=frozenset(side.name for side, other in equated if side.op == "sym" and symbols(other))
        | {node.args[0].name for node in _nodes_with(members, "derivative", "partial") if node.args[0].op == "sym"},
        parts=frozenset(node.args[0].name for node in taken if node.args[0].op == "sym"),
        has_parts=bool(taken),
        has_operators=_has_operators(members),
        has_matrix="matrix" in ops,
        multiplies_columns="tuple" in ops and any(arg.op == "tuple" for node in products for arg in node.args),
        dimension=_dimension_of_columns(members),
        functions=frozenset(node.name for node in free if node.args[0].args),
        calls=frozenset((node.name, node.args[0].name) for node in free if not node.args[0].args),
        equated=tuple((side.name, other) for side, other in equated if side.op == "sym"),
    )


def bars_without_conjugation(one: Marks, two: Marks, unit: str = "") -> frozenset[str]:
    r"""Return the barred names of two formulas that are names of their own, as that of a mean; no conjugates.

    They are if one formula has the letter without a bar too, and neither has `z\bar z`, `z + \bar z`, a real part of
    it or an imaginary unit; always if the letter runs along a line or through whole numbers, as in
    `\bar z = \frac1V\int_0^h z A\,dz`.

    Args:
        one, two: the marks of both formulas.
        unit: the letter of the imaginary unit, or "".
    """
    running, evident = one.running | two.running, one.evident | two.evident
    return frozenset(
        name
        for marks in (one, two)
        for name, base in marks.conjugates
        if symbol_of(name).style == "bar"
        and (base in running or (base in marks.names and name not in evident and not unit))
    )


def _is_evident_conjugate(name: str, base: str, members: tuple[Expr, ...]) -> bool:
    r"""Return True if a name with a bar is shown to be the conjugate of its letter: `z\bar z`, `z + \bar z`, `|z|`."""
    pair = {symbol(name), symbol(base)}
    for node in _nodes_with(members, "mul", "add", "sub", "abs", "apply"):
        if node.op == "mul":
            barred = [name in symbols(arg) for arg in node.args]
            plain = [base in symbols(arg) for arg in node.args]
            if any(one and two for j, one in enumerate(barred) for k, two in enumerate(plain) if j != k):
                return True
        elif node.op in ("add", "sub"):
            if pair == set(node.args):
                return True
        elif (node.op == "abs" or node.name in PARTS) and not symbols(node).isdisjoint((name, base)):
            return True
    return False


def _nodes_with(members: tuple[Expr, ...], *ops: str) -> Iterator[Expr]:
    """Yield every node of the members that has one of the operators `ops`."""
    for member in members:
        yield from nodes_with(member, *ops)


def _has_operators(members: tuple[Expr, ...]) -> bool:
    """Return True if symbols with hats are quantum operators: two multiplied, one squared, or beside states."""
    has_hats = any(symbol_of(name).is_hat for name in symbols(*members))
    if not has_hats and _OPERATOR_OPS.isdisjoint(ops_of(*members)):
        return False
    for node in _nodes_with(members, "commutator", "bracket", "tensor", "opaque", "mul", "pow"):
        if node.op in ("commutator", "bracket", "tensor") or (node.op == "opaque" and node.name == "ordered product"):
            return True
        hats = [arg for arg in node.args if arg.op == "sym" and symbol_of(arg.name).is_hat]
        if (node.op == "mul" and len(hats) > 1) or (node.op == "pow" and hats):
            return True
    return False


def _is_imaginary_unit(member: Expr, letter: str) -> bool:
    """Return True if an exponential, a sum times its conjugate or a frequency shows a letter as the imaginary unit."""
    counts = any(letter in symbols(node) for node in nodes_with(member, "sin", "cos"))  # harmonics
    return _is_imaginary_unit_in_exponent(member, letter) or any(
        ({one.op, two.op} == {"add", "sub"} and one.args == two.args and letter in symbols(one.args[-1]))
        or (one == symbol(letter) and not counts and _begins_with_frequency(two))
        for node in nodes_with(member, "mul")
        for one, two in pairwise(node.args)
    )


def _begins_with_frequency(factor: Expr) -> bool:
    r"""Return True for an angular frequency with an index, or a quotient of one: `\omega_0`, `\frac{\omega_0}{Q}`."""
    while factor.op in ("mul", "div"):
        factor = factor.args[0]
    return factor.op == "sym" and symbol_of(factor.name).head == r"\omega"


def _is_imaginary_unit_in_exponent(member: Expr, letter: str) -> bool:
    r"""Return True if an exponential such as `e^{j\theta/2}` shows that a letter is the imaginary unit.

    The letter has to occur once in the exponent, a product with angles or pi and no other symbols.

    Args:
        member: a member of a formula (`a` or `b` of `a = b`).
        letter: `j`.
    """
    for node in nodes_with(member, "exp"):
        parts = list(walk(node.args[0]))
        others = {symbol_of(part.name).head for part in parts if part.op == "sym" and part.name != letter}
        is_once = sum(part.name == letter and part.op == "sym" for part in parts) == 1
        is_angle = bool(others) or any(part.op == "const" and part.name == "pi" for part in parts)
        is_product = all(part.op in ("mul", "div", "neg", "num", "const", "sym") for part in parts)
        if is_once and is_angle and is_product and others <= _ANGLES:
            return True
    return False


def _dimension_of_columns(members: tuple[Expr, ...]) -> int | None:
    """Return the number of components of the first tuple or column in a formula; None if there is none."""
    for node in _nodes_with(members, "tuple", "matrix", "opaque"):
        if node.op == "tuple" and len(node.args) in (2, 3):
            return len(node.args)
        if node.op == "matrix" and all(row.op != "row" or len(row.args) == 1 for row in node.args):
            return len(node.args)
        if node.op == "opaque" and node.name == "T" and len(node.args[0].args) == 1:
            (row,) = node.args[0].args
            return len(row.args) if row.op == "row" else 3
    return None


def _ordered_side_pairs(f: Formula) -> Iterator[tuple[Expr, Expr]]:
    """Yield (side, other side) for each order of two members; in `(x - a)(x - b) = 0` also for x and a, x and b."""
    groups = [f.members]
    if len(f.members) == 2 and f.members[0].op == "mul":
        groups += [factor.args for factor in f.members[0].args if factor.op == "sub"]
    for members in groups:
        for member in members:
            for other in members:
                if other is not member:
                    yield member, other
