r"""Expression -> instructions: what each construct of a formula becomes on a tape.

Real arithmetic is lowered one to one. A complex number is a pair of instructions, a vector or a matrix a table of
them, so an equation between vectors has one root a component, and the kernels know nothing of either. A finite sum
is unrolled, an integral becomes a quadrature, an infinite sum its first terms: `widen` carries their error. What
cannot be lowered stands on the tape as one variable named by its canonical form, an opaque atom (semantics Z.9).

Refused: complex kernels (a second copy of every branch; branch cuts and conjugates need the real parts anyway) and a
CAS for integrals (unbounded time).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, lru_cache

from prism.algebra.expr import (
    OPS,
    Expr,
    at_index,
    canonical,
    indices_of,
    is_infinite,
    number,
    ops_of,
    substitute,
    symbol,
    symbols,
    walk,
)
from prism.engine.tape import CHOICE, MAX_FOLD_BITS, MAX_IMMEDIATE, Builder, Tape, TapeTooLarge, Word, finished

MAX_TERMS = 200  # of a finite sum with known bounds
MAX_FIRST = 4  # from which such a sum may begin
MAX_RANGE = 24  # terms of a sum whose upper bound is a symbol; whole numbers are drawn below
INFINITE_TERMS = 60  # of a sum to infinity; what is left out must be small by then
MAX_MATRIX = 4  # rows of a determinant: it has n! terms
MAX_COMPLEX_POWER = 16  # by multiplication; above, and for other exponents, in polar form
_EXCLUDED = 1e250  # an error that makes a point worthless
_NOWHERE = 1e290  # one that says that no case applies
_CERTAIN_FIGURES = 2  # decimals of at most two figures are exact (semantics N.1)
_MAX_UNCERTAINTY = 0.005

_INVERSE = frozenset(("asin", "acos", "atan"))
_TRIG = frozenset(("sin", "cos", "tan"))
_KINKED = frozenset(("abs", "floor", "ceiling", "cases", "modulo"))
_TRANSPOSES = ("T", r"\dagger", "*")
CONJUGATE = "^{*}"
LITERALS_KEPT = 4096  # decimals whose uncertainty is remembered in a process


@dataclass(frozen=True, slots=True)
class Notation:
    """How a pair of formulas is read where the letters do not say.

    Attributes:
        is_complex: `i` is the imaginary unit, and roots and logarithms of negative numbers exist.
        complexes: symbols with a real and an imaginary part.
        unit: the letter of the imaginary unit.
        vectors: symbols with `dimension` components.
        lengths: plain names, and the vector that each is the length of.
        basis: vectors of length one along the axes, and the number of the axis.
        directions: vectors of length one, and the vector that each has the direction of.
        components: vectors, and what the text calls their components (`A_x`, `A_y`, `A_z`); others have no name.
        matrices: symbols of a table of entries, and its rows and columns.
        depends: symbols that are functions, with their variable.
        functions: letters that are applied to expressions; each stands for a test function.
        has_columns: values in round brackets are components.
    """

    is_complex: bool = False
    complexes: frozenset[str] = frozenset()
    unit: str = "i"
    vectors: frozenset[str] = frozenset()
    dimension: int = 3
    lengths: tuple[tuple[str, str], ...] = ()
    basis: tuple[tuple[str, int], ...] = ()
    directions: tuple[tuple[str, str], ...] = ()
    components: tuple[tuple[str, tuple[str, ...]], ...] = ()
    matrices: tuple[tuple[str, tuple[int, int]], ...] = ()
    depends: frozenset[tuple[str, str]] = frozenset()
    functions: frozenset[str] = frozenset()
    has_columns: bool = False


PLAIN = Notation()


def narrowed(notation: Notation, node: Expr) -> Notation:
    """The part of a reading that lowering an expression asks for: one tape serves all pairs that agree in it."""
    ops = ops_of(node)
    if notation == PLAIN or not _INDEXED.isdisjoint(ops):  # an index that is put in makes other names
        return notation
    names = set(symbols(node))
    meant = {**dict(notation.lengths), **dict(notation.directions)}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        new = {conjugated(name), meant.get(name, name)} - names
        names |= new
        waiting += new
    vectors = notation.vectors & names
    has_columns = notation.has_columns and "tuple" in ops
    return Notation(
        is_complex=notation.is_complex,
        complexes=notation.complexes & names,
        unit=notation.unit,
        vectors=vectors,
        dimension=notation.dimension if vectors or has_columns else PLAIN.dimension,
        lengths=tuple(pair for pair in notation.lengths if pair[0] in names),
        basis=tuple(pair for pair in notation.basis if pair[0] in names),
        directions=tuple(pair for pair in notation.directions if pair[0] in names),
        components=tuple(pair for pair in notation.components if pair[0] in names),
        matrices=tuple(pair for pair in notation.matrices if pair[0] in names),
        depends=frozenset(pair for pair in notation.depends if names.issuperset(pair)) if "integral" in ops else _NONE,
        functions=notation.functions if "apply" in ops else PLAIN.functions,
        has_columns=has_columns,
    )


_INDEXED = frozenset(("sum", "product"))
_NONE: frozenset[tuple[str, str]] = frozenset()
_ONE = number(1)
_DELTA = r"\delta"
_OF_WHOLE_NUMBERS = ("pow", "factorial", "binomial", "sum", "product")
_COUNTING = frozenset(
    ("a", "b", "i", "j", "k", "l", "m", "n", "p", "q", "r", "s", "N", "M", "K", "L", "J", r"\ell", r"\nu")
)

Pair = tuple[int, int | None]  # real part, imaginary part or None where the number is real


@dataclass(frozen=True, slots=True)
class _Table:
    """A vector (one column) or a matrix, row by row."""

    rows: int
    columns: int
    entries: tuple[Pair, ...]


_Value = Pair | _Table


class Mismatch(Exception):
    """A number where a vector or a matrix stands, or tables of different shape."""


class NoValue(Mismatch):
    """A construct that has no instructions; its name says which."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """What the letters mean where an expression stands.

    Attributes:
        builder: the tape.
        notation: of the pair.
        bound: instruction of each bound variable.
        under_integral: exponentials may run out of range.
        written_in: variables of integrals whose integrand holds them: what else stands in it is constant.
    """

    builder: Builder
    notation: Notation
    bound: Mapping[str, Pair] = field(default_factory=dict)
    under_integral: bool = False
    written_in: frozenset[str] = frozenset()


def build_tape(residual: Expr, notation: Notation = PLAIN) -> Tape:
    """Lower what is zero where a formula holds.

    Errors:
        TapeTooLarge: beyond the limits of `tape`.
        Mismatch: a vector is set equal to a number, or tables of different shape to each other.

    >>> x = symbol("x")
    >>> build_tape(Expr("mul", (Expr("add", (x, x)), Expr("add", (x, x))))).n_op  # x, x + x, its square
    3
    """
    builder = Builder()
    value = _lower(residual, _Scope(builder, notation))
    pairs = value.entries if isinstance(value, _Table) else (value,)
    roots = [part for pair in pairs for part in pair if part is not None]
    if len(roots) > 1:  # parts that are nothing but 0
        roots = [root for root in roots if builder.exact.get(root) != 0] or roots[:1]
    _settle_angles(builder, residual)
    if "integer" in builder.kinds.values() and not any(f"{op}[" in canonical(residual) for op in _OF_WHOLE_NUMBERS):
        builder.kinds = {name: kind for name, kind in builder.kinds.items() if kind != "integer"}  # `x!/x!`
    return finished(builder, roots, has_inverse=_states_an_angle(residual))


def _states_an_angle(residual: Expr) -> bool:
    """Whether an inverse function stands in it that is left when it is simplified, not inside a sine or cosine."""
    if _INVERSE.isdisjoint(ops_of(residual)):
        return False
    stack, found = [residual], set()
    while stack:
        node = stack.pop()
        if node.op in _INVERSE:
            found.add(node.op)
        stack.extend(node.args if node.op not in _TRIG else ())
    return bool(found) and any(f"{op}[" in canonical(residual) for op in found)


def shape_of(node: Expr, notation: Notation) -> tuple[int, int] | None:
    """Rows and columns of a vector or matrix; None for a number.

    Errors:
        Mismatch: a vector beside a number.
    """
    try:
        value = _lower(node, _Scope(Builder(), notation))
    except TapeTooLarge:
        return None
    return (value.rows, value.columns) if isinstance(value, _Table) else None


def _settle_angles(builder: Builder, residual: Expr) -> None:
    if _TRIG.isdisjoint(ops_of(residual)):
        return
    for node in walk(residual):
        if node.op in _TRIG:
            for name in _angles(node.args[0]):
                builder.kinds.setdefault(name, "angle")


def _angles(arg: Expr) -> frozenset[str]:
    """Symbols that stand in this argument of a sine alone or with a rational factor: `2θ`, `(A + δ)/2`, not `ωt`."""
    if arg.op == "sym":
        return frozenset((arg.name,))
    if arg.op in ("add", "sub", "neg"):
        return frozenset(name for inner in arg.args for name in _angles(inner))
    if arg.op in ("mul", "div"):
        rest = [inner for inner in arg.args if inner.op != "num"]
        divided = arg.op == "mul" or arg.args[1].op == "num"
        return _angles(rest[0]) if len(rest) == 1 and divided else frozenset()
    return frozenset()


# One construct after another. -----------------------------------------------------------------------------------


def _lower(node: Expr, scope: _Scope) -> _Value:
    """The instructions of a node. Recursion is bounded by the parser's depth limit."""
    special = _LOWERED.get(node.op)
    try:
        if special is not None:
            return special(node, scope)
        if OPS[node.op].opcode is None:
            raise NoValue(node.op)
    except NoValue:
        return _atom(node, scope)
    if node.op == "sub" and node.args[0].op == "exp" and node.args[1] == _ONE and scope.under_integral:
        half = Expr("div", (node.args[0].args[0], number(2)))  # e^u - 1 without cancellation
        return _lower(Expr("mul", (number(2), Expr("exp", (half,)), Expr("sinh", (half,)))), scope)
    args = [_lower(arg, scope) for arg in node.args]
    try:
        if len(args) == 1:
            return _apply(node.op, args[0], scope)
        value = args[0]
        for arg in args[1:]:
            value = _join(node.op, value, arg, scope)
        return value
    except NoValue:  # an arctangent of a complex number
        return _atom(node, scope)


def _scalar(node: Expr, scope: _Scope) -> Pair:
    value = _lower(node, scope)
    if isinstance(value, _Table):
        raise Mismatch(f"{node.op} where a number is expected")
    return value


def _real(node: Expr, scope: _Scope) -> int:
    re, im = _scalar(node, scope)
    if im is not None:
        raise NoValue(f"{node.op} of a complex number")
    return re


def _number(node: Expr, scope: _Scope) -> Pair:
    assert node.value is not None
    return scope.builder.number(node.value, uncertainty(node)), None


@lru_cache(maxsize=LITERALS_KEPT)
def uncertainty(node: Expr) -> float:
    """Relative uncertainty of a decimal as it is written: half a unit in its last place; 0 if it is exact."""
    digits, _, power = node.name.partition("e")
    if "." not in digits and not power:
        return 0.0
    figures = digits.replace(".", "").lstrip("-0")
    if not node.value or (len(figures) <= _CERTAIN_FIGURES and not power):
        return 0.0
    ulp = Fraction(10) ** (int(power or 0) - len(digits.partition(".")[2]))
    return min(float(ulp / 2 / abs(node.value)), _MAX_UNCERTAINTY)


def _constant(node: Expr, scope: _Scope) -> Pair:
    value = math.e if node.name == "e" else math.pi
    return scope.builder.constant(value, value * 2.0**-53), None


def _symbol(node: Expr, scope: _Scope) -> _Value:
    builder, notation, name = scope.builder, scope.notation, node.name
    if name in scope.bound:
        return scope.bound[name]
    if name in notation.vectors:
        return _vector(name, scope)
    for matrix, (rows, columns) in notation.matrices:
        if name == matrix:
            return _Table(rows, columns, tuple(
                _component(scope, name, f"{name}_{{{r + 1}{c + 1}}}") for r in range(rows) for c in range(columns)
            ))  # fmt: skip
    for length, vector in notation.lengths:
        if name == length:
            return _norm(_symbol(symbol(vector), scope), scope)
    if notation.is_complex and name == notation.unit:
        return builder.number(0), builder.number(1)
    if notation.is_complex and (base := conjugated(name)) != name and base in notation.complexes:
        return _conjugate(_symbol(symbol(base), scope), scope)
    if name in notation.complexes:
        return _component(scope, name, name)
    return builder.variable(name), None


def _vector(name: str, scope: _Scope) -> _Value:
    r"""A vector as a column: an axis as its numbers, `\hat a` as `\vec a/|\vec a|`, any other by its components."""
    builder, notation = scope.builder, scope.notation
    for axis, place in notation.basis:
        if name == axis:
            if place >= notation.dimension:
                raise Mismatch("an axis beyond the components that are written out")
            return _Table(notation.dimension, 1, tuple(
                _pair(builder.number(int(k == place))) for k in range(notation.dimension)
            ))  # fmt: skip
    for direction, vector in notation.directions:
        if name == direction:
            whole = _vector(vector, scope)
            return _join("div", whole, _norm(whole, scope), scope)
    return _Table(notation.dimension, 1, tuple(
        _component(scope, name, place) for place in places_of(name, notation)
    ))  # fmt: skip


def places_of(vector: str, notation: Notation) -> tuple[str, ...]:
    r"""Names of the components of a vector: as the text calls them, else those that no text writes."""
    own = (f"{vector}_{k + 1}" for k in range(notation.dimension))
    return dict(notation.components).get(vector, tuple(own))[: notation.dimension]


def conjugated(name: str) -> str:
    r"""The symbol whose conjugate this name is: `z^{*}`, `\bar{z}`; the name itself if it is none."""
    if name.endswith(CONJUGATE):
        return name.removesuffix(CONJUGATE)
    return name[5:-1] if name.startswith(r"\bar{") and name.endswith("}") else name


def _component(scope: _Scope, name: str, place: str) -> Pair:
    """One component of a vector, a matrix or a complex number: a variable of either sign."""
    builder = scope.builder
    if name not in scope.notation.complexes:
        builder.kinds[place] = "real"
        return builder.variable(place), None
    return _two_parts(scope, place)


def _parts_of(name: str) -> tuple[str, str]:
    """Names of the real and the imaginary part."""
    return rf"\Re {name}", rf"\Im {name}"


def _two_parts(scope: _Scope, name: str) -> Pair:
    """A complex number as two variables of either sign."""
    real, imaginary = _parts_of(name)
    scope.builder.kinds.update({real: "real", imaginary: "real"})
    return scope.builder.variable(real), scope.builder.variable(imaginary)


def _unit(node: Expr, scope: _Scope) -> Pair:
    return scope.builder.variable(rf"\unit{{{node.name}}}"), None


def _atom(node: Expr, scope: _Scope) -> _Value:
    """A construct that is not evaluated, as one variable, or as one a component.

    `v(0)` and `x(T)` are values with a name of their own (semantics Z.10), so they are no doubt and not listed
    among the atoms; everything else is, and atoms that differ leave a pair undecided.
    """
    names = symbols(node)
    if not names.isdisjoint(scope.bound):
        raise NoValue(node.op)  # it is not the same for every value of the bound variable
    name = canonical(node)
    word = len(node.name) > 1 and node.name.isalpha()  # gcd(a, b) is no value at a point
    plain = node.op == "apply" and not word and all(not arg.args for arg in node.args)
    if node.op in ("differential", "derivative") and names & scope.notation.vectors:
        dimension = scope.notation.dimension
        places = [f"{name}_{k + 1}" for k in range(dimension)]
        scope.builder.atoms.update(dict.fromkeys(places, node.op))
        return _Table(dimension, 1, tuple(_component(scope, name, place) for place in places))
    if names & scope.notation.vectors and node.op not in ("apply", "nabla"):
        raise Mismatch(node.op)
    value = _two_parts(scope, name) if scope.notation.is_complex else (scope.builder.variable(name), None)
    if not plain:
        scope.builder.atoms.update(dict.fromkeys(_parts_of(name) if scope.notation.is_complex else (name,), node.op))
    return value


def _derivative(node: Expr, scope: _Scope) -> _Value:
    """`dy/dx` is the quotient of the atoms d[y], d[x]; order two and more is an atom of its own (Z.10)."""
    if node.name != "1":
        raise NoValue("derivative")
    above, below = (Expr("differential", (arg,)) for arg in node.args)
    return _join("div", _lower(above, scope), _lower(below, scope), scope)


# Arithmetic on numbers, complex numbers and tables. -------------------------------------------------------------


def _join(op: str, a: _Value, b: _Value, scope: _Scope) -> _Value:
    """Two operands of an operator."""
    if isinstance(a, _Table) and isinstance(b, _Table):
        if op in ("add", "sub"):
            if (a.rows, a.columns) != (b.rows, b.columns):
                raise Mismatch("tables of different shape")
            pairs = zip(a.entries, b.entries, strict=True)
            return replace(a, entries=tuple(_on_pairs(op, x, y, scope) for x, y in pairs))
        if op == "mul":
            product = _product_of_tables(a, b, scope)
            return product.entries[0] if a.columns > 1 and len(product.entries) == 1 else product  # a row upon a column
        raise Mismatch(op)
    if isinstance(a, _Table) and not isinstance(b, _Table):
        if op in ("mul", "div"):
            return replace(a, entries=tuple(_on_pairs(op, x, b, scope) for x in a.entries))
        return _with_zero(op, a, b, scope)
    if isinstance(b, _Table) and not isinstance(a, _Table):
        if op == "mul":
            return replace(b, entries=tuple(_on_pairs(op, a, y, scope) for y in b.entries))
        return _with_zero(op, a, b, scope)
    assert not isinstance(a, _Table)
    assert not isinstance(b, _Table)
    return _on_pairs(op, a, b, scope)


def _with_zero(op: str, a: _Value, b: _Value, scope: _Scope) -> _Table:
    r"""`\vec F = 0`: the number 0 beside a table is the table of zeros; any other number is none."""
    table, other = (a, b) if isinstance(a, _Table) else (b, a)
    assert isinstance(table, _Table)
    assert not isinstance(other, _Table)
    if op not in ("add", "sub") or other[1] is not None or scope.builder.exact.get(other[0]) != 0:
        raise Mismatch("a number beside a vector")
    return _negated(table, scope) if op == "sub" and table is b else table


def _negated(table: _Table, scope: _Scope) -> _Table:
    return replace(table, entries=tuple(_of_pair("neg", entry, scope) for entry in table.entries))


def _product_of_tables(a: _Table, b: _Table, scope: _Scope) -> _Table:
    if a.columns != b.rows:
        raise Mismatch("a product of tables that do not fit")
    entries = []
    for row in range(a.rows):
        for column in range(b.columns):
            terms = [
                _on_pairs("mul", a.entries[row * a.columns + k], b.entries[k * b.columns + column], scope)
                for k in range(a.columns)
            ]
            entries.append(_summed(terms, scope))
    return _Table(a.rows, b.columns, tuple(entries))


def _summed(terms: list[Pair], scope: _Scope) -> Pair:
    total = terms[0]
    for term in terms[1:]:
        total = _on_pairs("add", total, term, scope)
    return total


def _on_pairs(op: str, a: Pair, b: Pair, scope: _Scope) -> Pair:
    """An operator on two numbers, real or complex."""
    combine = scope.builder.combine
    (ar, ai), (br, bi) = a, b
    if ai is None and bi is None:
        return combine(op, ar, br), None
    zero = scope.builder.number(0)
    ai, bi = zero if ai is None else ai, zero if bi is None else bi
    if op in ("add", "sub"):
        return combine(op, ar, br), combine(op, ai, bi)
    if op == "mul":
        re = combine("sub", combine("mul", ar, br), combine("mul", ai, bi))
        return re, combine("add", combine("mul", ar, bi), combine("mul", ai, br))
    if op == "div":
        if b[1] is None:
            return combine("div", ar, br), combine("div", ai, br)
        size = combine("add", combine("mul", br, br), combine("mul", bi, bi))
        re = combine("add", combine("mul", ar, br), combine("mul", ai, bi))
        im = combine("sub", combine("mul", ai, br), combine("mul", ar, bi))
        return combine("div", re, size), combine("div", im, size)
    raise NoValue(f"{op} of complex numbers")


def _apply(op: str, a: _Value, scope: _Scope) -> _Value:
    """A function of one argument."""
    if isinstance(a, _Table):
        if op == "neg":
            return _negated(a, scope)
        if op == "abs":
            return _norm(a, scope) if a.columns == 1 else _determinant(a, scope)
        raise Mismatch(f"{op} of a vector or a matrix")
    return _of_pair(op, a, scope)


def _of_pair(op: str, a: Pair, scope: _Scope) -> Pair:
    builder, combine = scope.builder, scope.builder.combine
    re, im = a
    if im is None:
        if op in ("ln", "sqrt") and scope.notation.is_complex and not (builder.exact.get(re) or Fraction(-1)) > 0:
            return _of_signed(op, re, scope)
        if op in ("exp", "sinh", "cosh") and scope.under_integral:
            return builder.emit(op, re, 1), None
        return combine(op, re), None
    if op == "neg":
        return combine("neg", re), combine("neg", im)
    if op == "exp":
        size = combine("exp", re)
        return combine("mul", size, combine("cos", im)), combine("mul", size, combine("sin", im))
    if op == "abs":
        return _size(a, scope), None
    if op == "ln":
        return combine("ln", _size(a, scope)), combine("atan2", im, re)
    if op == "sqrt":
        return _polar(a, _pair(builder.number(Fraction(1, 2))), scope)
    if op in ("sin", "cos", "sinh", "cosh"):
        turning = re if op in ("sin", "cos") else im
        growing = im if op in ("sin", "cos") else re
        s, c = combine("sin", turning), combine("cos", turning)
        sh, ch = combine("sinh", growing), combine("cosh", growing)
        if op == "sin":
            return combine("mul", s, ch), combine("mul", c, sh)
        if op == "cos":
            return combine("mul", c, ch), combine("neg", combine("mul", s, sh))
        if op == "sinh":
            return combine("mul", sh, c), combine("mul", ch, s)
        return combine("mul", ch, c), combine("mul", sh, s)
    if op in ("tan", "tanh"):
        above, below = ("sin", "cos") if op == "tan" else ("sinh", "cosh")
        return _on_pairs("div", _of_pair(above, a, scope), _of_pair(below, a, scope), scope)
    raise NoValue(f"{op} of a complex number")


def _pair(re: int) -> Pair:
    return re, None


def _of_signed(op: str, re: int, scope: _Scope) -> Pair:
    """Root or logarithm of a real number of either sign: the principal branch."""
    combine, one = scope.builder.combine, scope.builder.number(1)
    positive = combine("step", re)
    negative = combine("sub", one, positive)
    size = combine(op, combine("abs", re))
    if op == "sqrt":
        return combine("mul", positive, size), combine("mul", negative, size)
    pi = scope.builder.constant(math.pi, math.pi * 2.0**-53)
    return size, combine("mul", negative, pi)


def _size(a: Pair, scope: _Scope) -> int:
    combine = scope.builder.combine
    re, im = a
    if im is None:
        return combine("abs", re)
    return combine("sqrt", combine("add", combine("mul", re, re), combine("mul", im, im)))


def _polar(base: Pair, exponent: Pair, scope: _Scope) -> Pair:
    """Base ** exponent = exp(exponent * ln base)."""
    return _of_pair("exp", _on_pairs("mul", exponent, _of_pair("ln", base, scope), scope), scope)


def _conjugate(a: _Value, scope: _Scope) -> _Value:
    if isinstance(a, _Table):
        return replace(a, entries=tuple(_conjugate_of(entry, scope) for entry in a.entries))
    return _conjugate_of(a, scope)


def _conjugate_of(a: Pair, scope: _Scope) -> Pair:
    re, im = a
    return re, None if im is None else scope.builder.combine("neg", im)


def _norm(a: _Value, scope: _Scope) -> Pair:
    if not isinstance(a, _Table):
        return _size(a, scope), None
    combine = scope.builder.combine
    squares = [combine("mul", part, part) for pair in a.entries for part in pair if part is not None]
    return combine("sqrt", _total(scope.builder, squares)), None


def _power(node: Expr, scope: _Scope) -> _Value:
    """x^n with an immediate integer, a root, or a real power: in this order of preference."""
    builder = scope.builder
    if node.args[0].op == "tuple" and node.args[1] == symbol("T"):
        return _transposed(Expr("opaque", node.args[:1], name="T"), scope)
    base, exponent = _lower(node.args[0], scope), _scalar(node.args[1], scope)
    value = builder.exact.get(exponent[0]) if exponent[1] is None else None
    if isinstance(base, _Table):
        return _power_of_table(base, value, scope)
    if node.op == "root":
        if value is not None and value.denominator == 1 and 1 <= value <= MAX_IMMEDIATE and base[1] is None:
            return (builder.combine("sqrt", base[0]) if value == 2 else builder.emit("root", base[0], int(value))), None
        exponent = _on_pairs("div", _pair(builder.number(1)), exponent, scope)
        value = builder.exact.get(exponent[0]) if exponent[1] is None else None
    if base[1] is not None or exponent[1] is not None:
        if value is not None and value.denominator == 1 and abs(value) <= MAX_COMPLEX_POWER:
            return _repeated(base, int(value), scope)
        return _polar(base, exponent, scope)
    if value == Fraction(1, 2):
        return _of_pair("sqrt", base, scope)
    if value is not None and value.denominator == 1 and abs(value) <= MAX_IMMEDIATE:
        exact = builder.exact.get(base[0])
        if exact is not None and (exact or value > 0):
            power = exact ** int(value)
            if max(power.numerator.bit_length(), power.denominator.bit_length()) <= MAX_FOLD_BITS:
                return builder.number(power), None
        if value == 1:
            return base
        return builder.emit("ipow", base[0], int(value)), None
    known = builder.exact.get(base[0])
    if known is not None and known < 0:
        if scope.notation.is_complex:
            return _polar((base[0], builder.number(0)), exponent, scope)
        letters = {inner.name.partition("_")[0] for inner in walk(node.args[1]) if inner.op == "sym"}
        if not letters <= _COUNTING:
            raise NoValue("pow")  # `(-1)^{ft}`
        _mark_whole(node.args[1], scope)  # (-1)^n is real for whole n only (semantics Z.4)
    return builder.combine("pow", base[0], exponent[0]), None


def _mark_whole(node: Expr, scope: _Scope) -> None:
    """Its symbols are whole numbers and drawn as such (semantics Z.4)."""
    names = {inner.name for inner in walk(node) if inner.op == "sym" and inner.name not in scope.bound}
    scope.builder.kinds.update(dict.fromkeys(sorted(names), "integer"))


def _repeated(base: Pair, exponent: int, scope: _Scope) -> Pair:
    one = _pair(scope.builder.number(1))
    result = one
    for _ in range(abs(exponent)):
        result = _on_pairs("mul", result, base, scope)
    return _on_pairs("div", one, result, scope) if exponent < 0 else result


def _power_of_table(base: _Table, exponent: Fraction | None, scope: _Scope) -> _Value:
    if base.columns == 1 and base.rows > 1 and exponent == 2:
        return _dot_of(base, base, scope)  # \vec v^2 is its square
    if exponent is None or exponent.denominator != 1 or base.rows != base.columns or not -1 <= exponent <= 6:
        raise Mismatch("a power of a vector or a matrix")
    if exponent == -1:
        return _inverse(base, scope)
    one, zero = _pair(scope.builder.number(1)), _pair(scope.builder.number(0))
    entries = tuple(one if r == c else zero for r in range(base.rows) for c in range(base.rows))
    result = replace(base, entries=entries)
    for _ in range(int(exponent)):
        result = _product_of_tables(result, base, scope)
    return result


# Vectors and matrices. -----------------------------------------------------------------------------------------


def _matrix(node: Expr, scope: _Scope) -> _Table:
    rows = [row.args if row.op == "row" else (row,) for row in node.args]
    if len({len(row) for row in rows}) != 1:
        raise NoValue("matrix")
    return _Table(len(rows), len(rows[0]), tuple(_scalar(entry, scope) for row in rows for entry in row))


def _tuple(node: Expr, scope: _Scope) -> _Table:
    if not scope.notation.has_columns or len(node.args) != scope.notation.dimension:
        raise NoValue("tuple")
    return _Table(len(node.args), 1, tuple(_scalar(entry, scope) for entry in node.args))


def _transposed(node: Expr, scope: _Scope) -> _Value:
    r"""`A^T`, `A^\dagger` and `A^*` of a table that is written out; `(x, y, z)^T` is the column that a vector is."""
    if node.name not in _TRANSPOSES or (node.args[0].op == "tuple" and node.name != "T"):
        raise NoValue("opaque")
    table = _lower(node.args[0], scope)
    if not isinstance(table, _Table):
        raise NoValue("opaque")
    if node.args[0].op == "tuple":
        return table
    if node.name != "T":
        table = replace(table, entries=tuple(_conjugate_of(entry, scope) for entry in table.entries))
    if node.name == "*":
        return table
    entries = tuple(table.entries[r * table.columns + c] for c in range(table.columns) for r in range(table.rows))
    return _Table(table.columns, table.rows, entries)


def _dot(node: Expr, scope: _Scope) -> _Value:
    values = [_lower(arg, scope) for arg in node.args]
    if not any(isinstance(value, _Table) for value in values):
        raise NoValue("dot")
    a, b = values
    if not isinstance(a, _Table) or not isinstance(b, _Table):
        return _join("mul", a, b, scope)  # `m . \hat r`, a number upon a direction
    if a.columns == a.rows and a.rows > 1:
        return _product_of_tables(a, b, scope)
    return _dot_of(a, b, scope)


def _dot_of(a: _Table, b: _Table, scope: _Scope) -> Pair:
    if len(a.entries) != len(b.entries) or a.columns != 1:
        raise Mismatch("a scalar product of tables that do not fit")
    terms = [_on_pairs("mul", x, y, scope) for x, y in zip(a.entries, b.entries, strict=True)]
    return _summed(terms, scope)


def _cross(node: Expr, scope: _Scope) -> _Value:
    a, b = (_lower(arg, scope) for arg in node.args)
    if not isinstance(a, _Table) or not isinstance(b, _Table):
        raise NoValue("cross")
    if (a.rows, a.columns, b.rows, b.columns) != (3, 1, 3, 1):
        raise Mismatch("a vector product needs three components")

    def minor(i: int, j: int) -> Pair:
        first = _on_pairs("mul", a.entries[i], b.entries[j], scope)
        return _on_pairs("sub", first, _on_pairs("mul", a.entries[j], b.entries[i], scope), scope)

    return _Table(3, 1, (minor(1, 2), minor(2, 0), minor(0, 1)))


def _determinant(a: _Table, scope: _Scope) -> Pair:
    if a.rows != a.columns or a.rows > MAX_MATRIX:
        raise Mismatch("a determinant of a table that is not square, or large")
    if a.rows == 1:
        return a.entries[0]
    total: Pair | None = None
    for column in range(a.columns):
        term = _on_pairs("mul", a.entries[column], _determinant(_without(a, 0, column), scope), scope)
        total = term if total is None else _on_pairs("sub" if column % 2 else "add", total, term, scope)
    assert total is not None
    return total


def _without(a: _Table, row: int, column: int) -> _Table:
    entries = tuple(
        a.entries[r * a.columns + c] for r in range(a.rows) for c in range(a.columns) if r != row and c != column
    )
    return _Table(a.rows - 1, a.columns - 1, entries)


def _inverse(a: _Table, scope: _Scope) -> _Table:
    size = _determinant(a, scope)
    entries = []
    for r in range(a.rows):
        for c in range(a.columns):
            minor = _determinant(_without(a, c, r), scope) if a.rows > 1 else _pair(scope.builder.number(1))
            entry = _on_pairs("div", minor, size, scope)
            entries.append(_of_pair("neg", entry, scope) if (r + c) % 2 else entry)
    return replace(a, entries=tuple(entries))


# Named functions. ----------------------------------------------------------------------------------------------


def _called(node: Expr, scope: _Scope) -> _Value:
    """A function that is known by its name."""
    handler = _FUNCTIONS.get(node.name)
    if handler is None and node.name in scope.notation.functions and len(node.args) == 1:
        return _test_function(node, scope)
    if handler is None:
        raise NoValue("apply")
    return handler([_lower(arg, scope) for arg in node.args], scope)


def _test_function(node: Expr, scope: _Scope) -> Pair:
    """A function that is not given, as p sin(q u + r) + s: what holds for all p, q, r, s is taken to hold for all f."""
    combine = scope.builder.combine
    p, q, r, s = (scope.builder.variable(f"{node.name}'{k}") for k in range(4))
    phase = combine("add", combine("mul", q, _real(node.args[0], scope)), r)
    return combine("add", combine("mul", p, combine("sin", phase)), s), None


def is_known_function(name: str) -> bool:
    """Whether a name that is applied has a value: `max`, `Re`, `det`."""
    return name in _FUNCTIONS


def _reals(args: list[_Value], count: int | None = None) -> list[int]:
    reals = []
    for arg in args:
        if isinstance(arg, _Table) or arg[1] is not None:
            raise NoValue("apply")
        reals.append(arg[0])
    if not reals or (count is not None and len(reals) != count):
        raise NoValue("apply")
    return reals


def _extreme(sign: str) -> Callable[[list[_Value], _Scope], _Value]:
    """The larger of a and b is b, and a - b more where that is positive."""

    def extreme(args: list[_Value], scope: _Scope) -> _Value:
        combine = scope.builder.combine
        total, *rest = _reals(args)
        for other in rest:
            gap = combine("sub", total, other) if sign == "add" else combine("sub", other, total)
            total = combine(sign, other, combine("mul", _either(gap, scope), gap))
        return total, None

    return extreme


def _sign(args: list[_Value], scope: _Scope) -> _Value:
    (a,) = _reals(args, 1)
    combine = scope.builder.combine
    _mark_signed(a, scope)
    return combine("sub", combine("mul", scope.builder.number(2), _either(a, scope)), scope.builder.number(1)), None


def _heaviside(args: list[_Value], scope: _Scope) -> _Value:
    (a,) = _reals(args, 1)
    _mark_signed(a, scope)
    return _either(a, scope), None


def _either(a: int, scope: _Scope) -> int:
    """1 where a value is not negative, else 0: a choice, of which both sides have to be seen."""
    known = scope.builder.exact.get(a)
    if known is not None:
        return scope.builder.number(int(known >= 0))
    return scope.builder.emit("step", a, CHOICE)


def _mark_signed(a: int, scope: _Scope) -> None:
    """What is asked for its sign has either: a lone variable, or its opposite."""
    code = scope.builder.code
    while code[a][0] == OPS["neg"].opcode:
        a = code[a][1]
    if code[a][0] == OPS["sym"].opcode:
        name = next(name for name, slot in scope.builder.slots.items() if slot == code[a][1])
        scope.builder.kinds.setdefault(name, "real")


def _gamma(args: list[_Value], scope: _Scope) -> _Value:
    (a,) = _reals(args, 1)
    return scope.builder.combine("factorial", scope.builder.combine("sub", a, scope.builder.number(1))), None


def _one_complex(args: list[_Value], scope: _Scope) -> tuple[int, int]:
    """Real and imaginary part of the one argument."""
    if len(args) != 1 or isinstance(args[0], _Table) or not scope.notation.is_complex:
        raise NoValue("apply")
    re, im = args[0]
    return re, scope.builder.number(0) if im is None else im


def _real_part(args: list[_Value], scope: _Scope) -> _Value:
    return _one_complex(args, scope)[0], None


def _imaginary_part(args: list[_Value], scope: _Scope) -> _Value:
    return _one_complex(args, scope)[1], None


def _argument(args: list[_Value], scope: _Scope) -> _Value:
    re, im = _one_complex(args, scope)
    return scope.builder.combine("atan2", im, re), None


def _det(args: list[_Value], scope: _Scope) -> _Value:
    if len(args) != 1 or not isinstance(args[0], _Table):
        raise NoValue("apply")
    return _determinant(args[0], scope)


def _trace(args: list[_Value], scope: _Scope) -> _Value:
    if len(args) != 1 or not isinstance(args[0], _Table) or args[0].rows != args[0].columns:
        raise NoValue("apply")
    table = args[0]
    return _summed([table.entries[k * (table.columns + 1)] for k in range(table.rows)], scope)


_FUNCTIONS: dict[str, Callable[[list[_Value], _Scope], _Value]] = {
    "max": _extreme("add"), "min": _extreme("sub"), "sgn": _sign, "sign": _sign, r"\Theta": _heaviside,
    r"\Gamma": _gamma, "Re": _real_part, "Im": _imaginary_part, "arg": _argument, "det": _det, "tr": _trace,
    "Tr": _trace,
}  # fmt: skip


def _factorial(node: Expr, scope: _Scope) -> Pair:
    """Of a whole number."""
    _mark_whole(node, scope)
    at = _real(node.args[0], scope)
    value = scope.builder.exact.get(at)
    if value is not None and value.denominator == 1 and 0 <= value <= MAX_IMMEDIATE:
        return scope.builder.number(math.factorial(int(value))), None
    return scope.builder.combine("factorial", at), None


def _binomial(node: Expr, scope: _Scope) -> Pair:
    n, k = node.args
    below = Expr("mul", (Expr("factorial", (k,)), Expr("factorial", (Expr("sub", (n, k)),))))
    return _scalar(Expr("div", (Expr("factorial", (n,)), below)), scope)


def _ceiling(node: Expr, scope: _Scope) -> Pair:
    combine = scope.builder.combine
    return combine("neg", combine("floor", combine("neg", _real(node.args[0], scope)))), None


def _modulo(node: Expr, scope: _Scope) -> Pair:
    a, b = (_real(arg, scope) for arg in node.args)
    combine = scope.builder.combine
    return combine("sub", a, combine("mul", b, combine("floor", combine("div", a, b)))), None


def _parallel(node: Expr, scope: _Scope) -> Pair:
    """Of resistances: the inverse of the sum of the inverses."""
    one = _pair(scope.builder.number(1))
    inverses = [_on_pairs("div", one, _scalar(arg, scope), scope) for arg in node.args]
    return _on_pairs("div", one, _summed(inverses, scope), scope)


def _cases(node: Expr, scope: _Scope) -> Pair:
    """Each value where its condition holds; worthless where none does."""
    builder, combine = scope.builder, scope.builder.combine
    one = builder.number(1)
    total, left = builder.number(0), one
    for row in node.args:
        if row.op != "row" or len(row.args) != 2:
            raise NoValue("cases")
        holds = _holds(row.args[1], scope)
        total = combine("add", total, combine("mul", combine("mul", left, holds), _real(row.args[0], scope)))
        left = combine("mul", left, combine("sub", one, holds))
    if builder.exact.get(left) == 0:
        return total, None
    return builder.emit("widen", total, combine("mul", left, builder.constant(_NOWHERE, 0.0))), None


def _holds(condition: Expr, scope: _Scope) -> int:
    """1 where a condition holds, 0 where it does not; its edge is never met."""
    builder, combine = scope.builder, scope.builder.combine
    if condition.op != "relation":
        if any(inner.op in ("sym", "num") for inner in walk(condition)):
            raise NoValue("cases")
        return builder.number(1)  # otherwise
    signs = condition.name.split()
    total = builder.number(1)
    for sign, a, b in zip(signs, condition.args, condition.args[1:], strict=False):
        if sign not in ("<", "<=", ">", ">="):
            raise NoValue("cases")
        low, high = (_real(end, scope) for end in ((a, b) if sign in ("<", "<=") else (b, a)))
        for end, other in ((low, high), (high, low)):
            if (builder.exact.get(other, 1)) <= 0:
                _mark_signed(end, scope)
        total = combine("mul", total, _either(combine("sub", high, low), scope))
    return total


# Sums and integrals. -------------------------------------------------------------------------------------------


def _index(node: Expr, scope: _Scope) -> str:
    """The bound variable of a sum or integral with two bounds, over a term that is written out in it."""
    if len(node.args) != 4 or node.args[1].op != "sym":
        raise NoValue(node.op)
    name = node.args[1].name
    if any((inner, name) in scope.notation.depends for inner in symbols(node.args[0])):
        raise NoValue(node.op)
    return name


def _sum(node: Expr, scope: _Scope) -> _Value:
    """A sum or product: worked out, else its terms apart and its factors outside."""
    try:
        return _unrolled(node, scope)
    except NoValue:
        if node.op != "sum" or len(node.args) < 2:
            raise
    term, *rest = node.args
    indices = indices_of(node.args[1])
    if term.op in ("add", "sub", "neg"):
        return _termwise(term.op, [_lower(Expr("sum", (arg, *rest)), scope) for arg in term.args], scope)
    if term.op == "div" and not _runs_over(term.args[1], indices):
        return _join("div", _lower(Expr("sum", (term.args[0], *rest)), scope), _lower(term.args[1], scope), scope)
    inside = [factor for factor in term.args if _runs_over(factor, indices)] if term.op == "mul" else []
    if not inside or len(inside) == len(term.args):
        raise NoValue("sum")
    value = _lower(Expr("sum", (Expr("mul", tuple(inside)) if len(inside) > 1 else inside[0], *rest)), scope)
    for factor in term.args:
        if factor not in inside:
            value = _join("mul", value, _lower(factor, scope), scope)
    return value


def _termwise(op: str, parts: Sequence[_Value], scope: _Scope) -> _Value:
    """The sum, difference or opposite of what has been worked out term by term."""
    if op == "neg":
        return _apply("neg", parts[0], scope)
    total = parts[0]
    for part in parts[1:]:
        total = _join(op, total, part, scope)
    return total


def _runs_over(node: Expr, indices: tuple[str, ...]) -> bool:
    """Whether an expression has another value for another index: it holds it, or stands with it in a subscript."""
    names = {inner.name for inner in walk(node) if inner.op == "sym"}
    return any(name == index or at_index(name, index, "#") != name for name in names for index in indices)


def _unrolled(node: Expr, scope: _Scope) -> _Value:
    """A sum or product term by term; over a symbolic range with a step for each term; to infinity with its tail."""
    builder = scope.builder
    index = _index(node, scope)
    term, _, low, high = node.args
    indexed = {inner for inner in walk(term) if inner.op == "sym" and at_index(inner.name, index, "#") != inner.name}
    first = builder.exact.get(_real(low, scope))
    if first is None or first.denominator != 1:
        raise NoValue(node.op)
    join = "add" if node.op == "sum" else "mul"
    if high.op == "infinity":
        if node.op == "product" or indexed:
            raise NoValue(node.op)
        return _infinite(term, index, int(first), scope)
    top = _real(high, scope)
    last = builder.exact.get(top)
    if last is None and indexed:
        raise NoValue(node.op)
    if last is None:
        return _ranged(node.op, term, index, int(first), high, scope)
    if last.denominator != 1 or last - first >= MAX_TERMS:
        raise NoValue(node.op)
    total: _Value = _pair(builder.number(0 if node.op == "sum" else 1))
    for k in range(int(first), int(last) + 1):
        here = substitute(term, {leaf: symbol(at_index(leaf.name, index, str(k))) for leaf in indexed})
        value = _lower(here, replace(scope, bound={**scope.bound, index: _pair(builder.number(k))}))
        total = value if k == first else _join(join, total, value, scope)
    return total


def _ranged(op: str, term: Expr, index: str, first: int, high: Expr, scope: _Scope) -> Pair:
    """Up to a bound that is a symbol: term k counts where k is not above it, and is asked at no index beyond."""
    builder, combine = scope.builder, scope.builder.combine
    _mark_whole(high, scope)
    top = _real(high, scope)
    if first > MAX_FIRST:
        raise NoValue(op)  # no whole number that is drawn comes so far
    half, one = builder.number(Fraction(1, 2)), builder.number(1)
    total = builder.number(0 if op == "sum" else 1)
    for k in range(first, first + MAX_RANGE):
        at = builder.number(k)
        apart = combine("abs", combine("sub", top, at))
        within = at if k == first else combine("mul", half, combine("sub", combine("add", top, at), apart))
        value = _real(term, replace(scope, bound={**scope.bound, index: _pair(within)}))
        counts = combine("step", combine("add", combine("sub", top, at), half))
        if op == "sum":
            total = combine("add", total, combine("mul", counts, value))
        else:
            value = combine("add", combine("mul", counts, value), combine("sub", one, counts))
            total = combine("mul", total, value)
    beyond = combine("step", combine("sub", top, builder.number(first + MAX_RANGE - Fraction(1, 2))))
    builder.is_estimate = True
    return builder.emit("widen", total, combine("mul", beyond, builder.constant(_EXCLUDED, 0.0))), None


def _infinite(term: Expr, index: str, first: int, scope: _Scope) -> Pair:
    """The first terms, and a bound on the rest: that of a geometric series with the last ratio.

    Only for terms whose ratio does not grow any more by then: powers, exponentials, factorials and polynomials of
    the index; a last ratio above 9/10 makes the point worthless.
    """
    if not _is_steady(term, index):
        raise NoValue("sum")
    builder, combine = scope.builder, scope.builder.combine
    scopes = (
        replace(scope, bound={**scope.bound, index: _pair(builder.number(k))})
        for k in range(first, first + INFINITE_TERMS)
    )
    terms = [_real(term, within) for within in scopes]
    total = _total(builder, terms)
    last, before, third = (combine("abs", value) for value in (terms[-1], terms[-2], terms[-3]))
    if 0 in (builder.exact.get(before), builder.exact.get(third)):
        raise NoValue("sum")
    ratios = combine("div", last, before), combine("div", before, third)  # a term that is 0 says nothing of the rest
    apart = combine("abs", combine("sub", *ratios))
    ratio = combine("div", combine("add", combine("add", *ratios), apart), builder.number(2))  # the larger one
    last = combine("add", last, before)
    grows = combine("step", combine("sub", ratio, builder.number(Fraction(9, 10))))
    tail = combine("mul", combine("mul", builder.number(10), last), ratio)
    builder.is_estimate = True
    worthless = combine("mul", grows, builder.constant(_EXCLUDED, 0.0))
    return builder.emit("widen", total, combine("add", tail, worthless)), None


def _is_steady(term: Expr, index: str) -> bool:
    """Whether a term is made of powers, exponentials, factorials and polynomials of the index."""
    if not _mentions(term, index):
        return True
    if term.op in ("mul", "div", "neg", "factorial", "exp", "sqrt", "pow"):
        return all(_is_steady(arg, index) for arg in term.args)
    if term.op in ("add", "sub"):
        inside = [inner for inner in walk(term) if _mentions(inner, index)]
        return all(
            inner.op in ("add", "sub", "mul", "neg", "sym")
            or (_is_whole_power(inner) and not _mentions(inner.args[1], index))
            or (inner.op == "div" and not _mentions(inner.args[1], index))
            for inner in inside
        )
    return term.op == "sym"


def _is_whole_power(node: Expr) -> bool:
    return node.op == "pow" and node.args[1].op == "num" and (node.args[1].value or Fraction(1, 2)).denominator == 1


# The double-exponential rule: its step, and how many steps it goes to each side. An infinite range has no scale of
# its own, and needs the finer step.
STEPS = {"finite": (0.1, 37), "half": (0.05, 80), "whole": (0.05, 80)}


@cache
def _nodes(kind: str) -> list[tuple[float, float, float]]:
    """Nodes of the double-exponential rule: place, distance from the far end, weight.

    `finite` on (0, 1), `half` on (0, inf), `whole` on (-inf, inf). Source: Takahasi and Mori 1974.
    """
    found = []
    step, reach = STEPS[kind]
    for k in range(-reach, reach + 1):
        t = step * k
        u, du = math.pi / 2 * math.sinh(t), math.pi / 2 * math.cosh(t)
        if kind == "finite":
            near, far = 1.0 / (1.0 + math.exp(-2.0 * u)), 1.0 / (1.0 + math.exp(2.0 * u))
            found.append((near, far, 2.0 * du * near * far * step))
        elif kind == "half":
            found.append((math.exp(u), 0.0, du * math.exp(u) * step))
        else:
            found.append((math.sinh(u), 0.0, du * math.cosh(u) * step))
    return found


def _integral(node: Expr, scope: _Scope) -> _Value:
    """An integral, worked out; what is not worked out is taken without the numbers before it: they stand outside."""
    try:
        return _definite(node, scope)
    except NoValue:
        factor, rest = _number_before(node.args[0]) if node.args else (_ONE, _ONE)
        if factor == _ONE:
            raise
    return _join("mul", _lower(factor, scope), _lower(Expr(node.op, (rest, *node.args[1:]), node.name), scope), scope)


def _number_before(node: Expr) -> tuple[Expr, Expr]:
    """The numbers that are factors of an expression, as one, and the rest of it."""
    if node.op == "neg":
        factor, rest = _number_before(node.args[0])
        return Expr("neg", (factor,)), rest
    if node.op == "div":
        above, rest = _number_before(node.args[0])
        if node.args[1].op in ("num", "const"):
            return Expr("div", (above, node.args[1])), rest
        return above, Expr("div", (rest, node.args[1]))
    if node.op == "mul":
        split = [_number_before(arg) if arg.op != "num" else (arg, _ONE) for arg in node.args]
        numbers, others = (tuple(part for part in parts if part != _ONE) for parts in zip(*split, strict=True))
        return _product(numbers), _product(others)
    return (node, _ONE) if node.op == "const" else (_ONE, node)


def _product(factors: tuple[Expr, ...]) -> Expr:
    return _ONE if not factors else factors[0] if len(factors) == 1 else Expr("mul", factors)


def _definite(node: Expr, scope: _Scope) -> Pair:
    """A definite integral: what does not depend on its variable outside, powers exactly, the rest by quadrature."""
    name = _index(node, scope)
    integrand, _, low, high = node.args
    has_others = any(inner.op == "sym" and inner.name != name for inner in walk(integrand))
    if has_others and (is_infinite(low) or high.op == "infinity") and _is_polynomial(integrand, name):
        raise NoValue("integral")  # it would diverge: the density in `\int_0^\infty \rho r^2 dr` depends on r
    ops = ops_of(integrand)
    if not _mentions(integrand, name) and "sym" in ops and "integral" not in ops and name not in scope.written_in:
        raise NoValue("integral")  # the force in `\int F dx` may depend on x without saying so
    if _mentions(integrand, name):
        scope = replace(scope, written_in=scope.written_in | {name})
    factors = integrand.args if integrand.op == "mul" else (integrand,)
    inside = [factor for factor in factors if _mentions(factor, name)]
    outside = [factor for factor in factors if not _mentions(factor, name)]
    if integrand.op == "div" and not _mentions(integrand.args[1], name):
        inner = Expr("integral", (integrand.args[0], *node.args[1:]))
        return _on_pairs("div", _scalar(inner, scope), _scalar(integrand.args[1], scope), scope)
    if outside and inside:
        rest = inside[0] if len(inside) == 1 else Expr("mul", tuple(inside))
        value = _scalar(Expr("integral", (rest, *node.args[1:])), scope)
        for factor in outside:
            value = _on_pairs("mul", value, _scalar(factor, scope), scope)
        return value
    if sifting := [factor for factor in inside if factor.name == _DELTA and len(factor.args) == 1]:
        return _sifted(sifting[0], [factor for factor in inside if factor is not sifting[0]], node, scope)
    if integrand.op in ("add", "sub", "neg"):
        parts = [_scalar(Expr("integral", (arg, *node.args[1:])), scope) for arg in integrand.args]
        total = _termwise(integrand.op, parts, scope)
        assert not isinstance(total, _Table)
        return total
    is_finite = not is_infinite(low) and high.op != "infinity"
    degree = _degree(integrand, name)
    if degree is not None and is_finite:
        raised = number(degree + 1)
        upper, lower = (Expr("pow", (end, raised)) for end in (high, low))
        return _scalar(Expr("div", (Expr("sub", (upper, lower)), raised)), scope)
    return _quadrature(integrand, name, low, high, scope)


def _sifted(delta: Expr, rest: list[Expr], node: Expr, scope: _Scope) -> Pair:
    r"""`\int f(x) \delta(kx - c) dx` is f(c/k)/|k| where c/k lies within the limits, else 0."""
    builder, combine = scope.builder, scope.builder.combine
    _, variable, low, high = node.args
    if not _is_linear(delta.args[0], variable.name):
        raise NoValue("integral")

    def at(place: int, what: Expr) -> Pair:
        return _scalar(what, replace(scope, bound={**scope.bound, variable.name: _pair(place)}))

    zero, one = builder.number(0), builder.number(1)
    start, end = (re for re, im in (at(zero, delta.args[0]), at(one, delta.args[0])))
    slope = combine("sub", end, start)
    place = combine("neg", combine("div", start, slope))
    value = at(place, Expr("mul", (_ONE, *rest)) if rest else _ONE)
    counts = combine("div", one, combine("abs", slope))
    for limit, sign in ((low, 1), (high, -1)):
        if is_infinite(limit):
            if (limit.op == "neg") != (sign > 0):
                raise NoValue("integral")
            continue
        room = combine("sub", place, _real(limit, scope))
        if builder.exact.get(room) == 0:
            raise NoValue("integral")  # on the edge: half of it, or all, as the text agrees
        counts = combine("mul", counts, combine("step", room if sign > 0 else combine("neg", room)))
    return _on_pairs("mul", value, (counts, None), scope)


def _is_linear(node: Expr, name: str) -> bool:
    if not _mentions(node, name) or node.op == "sym":
        return True
    if node.op in ("add", "sub", "neg"):
        return all(_is_linear(arg, name) for arg in node.args)
    if node.op == "mul":
        return sum(_mentions(arg, name) for arg in node.args) == 1 and all(_is_linear(arg, name) for arg in node.args)
    return node.op == "div" and not _mentions(node.args[1], name) and _is_linear(node.args[0], name)


def _mentions(node: Expr, name: str) -> bool:
    return name in symbols(node)


def _is_polynomial(node: Expr, name: str) -> bool:
    """Whether an expression is a sum of whole powers of this symbol, none below 0, with factors free of it."""
    if not _mentions(node, name) or node.op == "sym":
        return True
    if node.op in ("add", "sub", "neg", "mul"):
        return all(_is_polynomial(arg, name) for arg in node.args)
    if node.op == "div":
        return not _mentions(node.args[1], name) and _is_polynomial(node.args[0], name)
    return _is_whole_power(node) and (node.args[1].value or 0) > 0 and _is_polynomial(node.args[0], name)


def _degree(node: Expr, name: str) -> int | None:
    """N if the node is the n-th power of this symbol, or 0 if it does not depend on it."""
    if not _mentions(node, name):
        return 0 if node == number(1) else None
    if node.op == "sym":
        return 1
    if node.op == "pow" and node.args[0].op == "sym" and _is_whole_power(node):
        value = node.args[1].value
        assert value is not None
        return int(value) if 0 < value <= MAX_IMMEDIATE else None
    return None


def _quadrature(integrand: Expr, name: str, low: Expr, high: Expr, scope: _Scope) -> Pair:
    """The double-exponential rule with step h, and the square of its distance from that with step 2h as the error."""
    builder, combine = scope.builder, scope.builder.combine
    if any(inner.op in _KINKED or (inner.op == "apply" and is_known_function(inner.name)) for inner in walk(integrand)):
        raise NoValue("integral")  # the rule's error is not that of a smooth function
    if low.op == "infinity":  # from infinity inward
        inner = Expr("integral", (integrand, symbol(name), high, low))
        return _of_pair("neg", _scalar(inner, scope), scope)
    infinite_low = is_infinite(low)
    kind = ("whole" if infinite_low else "half") if high.op == "infinity" else "finite"
    if (infinite_low and high.op != "infinity") or (high.op == "neg" and is_infinite(high)):
        raise NoValue("integral")
    start = builder.number(0) if infinite_low else _real(low, scope)
    end = _real(high, scope) if kind == "finite" else start
    width = combine("sub", end, start)
    fine: list[int] = []
    coarse: list[int] = []
    sizes: list[int] = []
    built: list[tuple[int, Word]] | None = None
    first = at_first = -1
    for k, (near, far, weight) in enumerate(_nodes(kind)):
        if kind == "finite":
            side, share = (start, near) if near <= 0.5 else (end, far)
            shift = combine("mul", width, builder.constant(share, share * 2.0**-50))
            at = combine("add" if near <= 0.5 else "sub", side, shift)
        else:
            at = combine("add", start, builder.constant(near, abs(near) * 2.0**-48))
        if built is None or not builder.is_open(at):
            since = len(builder.asked)
            value = _real(integrand, replace(scope, bound={**scope.bound, name: _pair(at)}, under_integral=True))
            if built is None and k == 0 and builder.is_open(at):  # lowered once; the other nodes have the same words
                built, first, at_first = builder.built_on(at, since), value, at
        else:
            value = builder.write_again(built, at_first, at).get(first, first)
        part = combine("mul", builder.constant(weight, weight * 2.0**-48), value)
        fine.append(part)
        sizes.append(combine("abs", part))
        if k % 2 == STEPS[kind][1] % 2:
            coarse.append(part)
    total, half, size = (_total(builder, parts) for parts in (fine, coarse, sizes))
    apart = combine("sub", total, combine("mul", builder.number(2), half))
    cut = combine("mul", builder.number(10), combine("add", sizes[0], sizes[-1]))  # what lies beyond the last nodes
    if kind != "finite" and any(inner.op in _TRIG and _mentions(inner, name) for inner in walk(integrand)):
        error = combine("mul", builder.number(10), combine("abs", apart))  # the rule resolves no far oscillations
    else:
        error = combine("mul", builder.number(1000), combine("div", combine("mul", apart, apart), size))
    error = combine("add", error, cut)
    builder.is_estimate = True
    value = builder.emit("widen", total, error)
    return (combine("mul", width, value) if kind == "finite" else value), None


def _total(builder: Builder, parts: list[int]) -> int:
    total = parts[0]
    for part in parts[1:]:
        total = builder.combine("add", total, part)
    return total


def _absolute(node: Expr, scope: _Scope) -> _Value:
    """A length, where what stands inside is a vector: its components may not be known."""
    value = _lower(node.args[0], scope)
    if not isinstance(value, _Table) and any(inner.name.startswith(r"\vec") for inner in walk(node)):
        raise NoValue("abs")
    if any(inner.op == "bracket" and inner.name != "mean" for inner in walk(node)):
        raise NoValue("abs")  # an amplitude is complex
    return _apply("abs", value, scope)


_LOWERED: dict[str, Callable[[Expr, _Scope], _Value]] = {
    "num": _number, "const": _constant, "sym": _symbol, "unit": _unit, "derivative": _derivative, "pow": _power,
    "root": _power, "matrix": _matrix, "tuple": _tuple, "dot": _dot, "cross": _cross, "apply": _called,
    "factorial": _factorial, "binomial": _binomial, "ceiling": _ceiling, "modulo": _modulo, "parallel": _parallel,
    "cases": _cases, "sum": _sum, "product": _sum, "integral": _integral, "abs": _absolute,
    "opaque": _transposed,
}  # fmt: skip
