r"""Vector calculus in Cartesian components: fields and their derivatives by nabla, written out.

`\nabla\times(\vec A\times\vec B)` holds derivatives of products. Written out, each field has three components, and each
derivative of a component is a symbol of its own, whatever the field is; what then agrees for all their values is an
identity. Symbols under a nabla vary from place to place unless they are constants of nature; `\vec r` is the place.

Refused: to call two formulas different on this ground. A symbol that is taken to vary may be a constant of the
problem, as the permittivity in `\nabla\cdot(\varepsilon\vec E)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from prism.algebra.calculus import KnownVariation, NotEvaluated, derivative
from prism.algebra.expr import Expr, Formula, number, substitute, symbol, symbols, traits_of, walk
from prism.algebra.symbols import HAT, VECTOR, symbol_of
from prism.budget import charge_steps, forgettable, remembered
from prism.equivalence.notation.choice import magnitude_name

_STEPS = 5  # of Python for a node that is written in components
MAX_NODES = 2000  # of a formula in components; a longer one is left as it was written
FORMULAS_KEPT = 1024  # that are remembered in components in a process

_COORDINATES = ("x", "y", "z")
_INDEPENDENT = (*_COORDINATES, "t")
_POSITION, _DISTANCE, _RADIAL = (r"\vec{r}", r"\vec{x}"), "r", r"\hat{r}"
_DIRECTIONS = {rf"\hat{{{letter}}}": k for letters in ("xyz", "ijk") for k, letter in enumerate(letters)}
_CONSTANTS = frozenset((r"\epsilon_0", r"\mu_0", r"\hbar", "k_B", "m_e"))
# Letters of constants beside a coordinate, as the charge of `\nabla(q/r)`; what else stands there is left open.
_COEFFICIENTS = frozenset(
    ("q", "Q", "k", "m", "M", "G", "a", "b", "R", "L", "n", "N", "A", "C", r"\omega", r"\lambda", r"\kappa")
)
_DERIVATIVE = r"\partial_{"  # how the names of derivatives of a field begin
_ZERO, _TWO = number(0), number(2)
_NABLA = Expr("opaque", name="nabla")  # that acts on nothing, as in `\vec v\cdot\nabla`

_Fields = frozenset[str]
_Vector = tuple[Expr, Expr, Expr]
_Value = Expr | _Vector


def in_components(a: Formula, b: Formula) -> tuple[Formula, Formula] | None:
    r"""Write two equations in Cartesian components; None if neither has a nabla, or an expression has no components.

    >>> from prism.latex import parse
    >>> one, _ = in_components(*[parse(r"\nabla\cdot(f\vec A) = 0")] * 2)
    >>> str(one.members[0]).count(r"\partial")
    6
    """
    if a.kind != "equation" or b.kind != "equation" or not (has_nabla(a) or has_nabla(b)):
        return None
    fields = _fields_of(a) | _fields_of(b)
    one = _formula_in_components(a, fields & _varying_names(a))
    two = _formula_in_components(b, fields & _varying_names(b)) if one is not None else None
    return None if one is None or two is None else (one, two)


@forgettable
@lru_cache(FORMULAS_KEPT)
def _fields_of(f: Formula) -> _Fields:
    """Return symbols that surely vary in space: components of vectors, and symbols that a nabla or partial acts on."""
    found = set()
    for node in (node for member in f.members for node in walk(member)):
        if node.op == "sym" and symbol_of(node.name).is_vector:
            value = _symbol_components(node.name)
            found |= {part.name for part in value} if isinstance(value, tuple) else set()
        if node.op in ("nabla", "partial"):
            names = symbols(node.args[0])
            if names.isdisjoint((*_INDEPENDENT, *_POSITION, _DISTANCE, _RADIAL)):
                found |= names
    return frozenset(found) - {*_INDEPENDENT}


@forgettable
@lru_cache(FORMULAS_KEPT)
def _varying_names(f: Formula) -> _Fields:
    """Return the names in a formula, and those of components of its vectors: what it may be asked about fields."""
    names = symbols(*f.members)
    parts = (_symbol_components(name) for name in names if symbol_of(name).style in (VECTOR, HAT))
    return names.union(part.name for value in parts if isinstance(value, tuple) for part in value)


def has_nabla(f: Formula) -> bool:
    """Return True if a formula contains a nabla."""
    traits = traits_of(f)
    return "nabla" in traits.ops or ("opaque" in traits.ops and any(_NABLA in walk(member) for member in f.members))


@remembered(FORMULAS_KEPT)
def _formula_in_components(f: Formula, fields: _Fields) -> Formula | None:
    """Return what `_in_components` does, remembered; None in place of NotEvaluated."""
    try:
        return _in_components(f, fields)
    except NotEvaluated:
        return None


def _in_components(f: Formula, fields: _Fields) -> Formula:
    """Write an equation in components, a vector as a column.

    Raise NotEvaluated if its sides are a scalar and a vector.

    Args:
        fields: symbols that vary in space.
    """
    values = [_evaluate(member, fields) for member in f.members]
    ranks = {isinstance(value, tuple) for value in values if value != _ZERO}
    if len(ranks) > 1:
        raise NotEvaluated
    members = tuple(
        Expr("matrix", tuple(Expr("row", (part,)) for part in value)) if isinstance(value, tuple) else value
        for value in values
    )
    if sum(1 for member in members for _ in walk(member)) > MAX_NODES:
        raise NotEvaluated
    return replace(f, members=members)


def _evaluate(node: Expr, fields: _Fields) -> _Value:
    """Write an expression in components: a scalar, or the tuple of three components of a vector.

    Args:
        fields: symbols that vary in space.

    Errors:
        NotEvaluated: for a vector where a scalar belongs or the reverse, and for operators that are not written out.
    """
    charge_steps(_STEPS)
    if node.op == "sym":
        return _symbol_components(node.name)
    if node.op in ("num", "const"):
        return node
    if node.op in ("add", "sub", "neg"):
        return _sum(node.op, [_evaluate(arg, fields) for arg in node.args])
    if node.op == "mul":
        return _product(node.args, fields)
    if node.op == "div":
        return _multiply_by_scalar(
            Expr("div", (number(1), _require_scalar(_evaluate(node.args[1], fields)))), _evaluate(node.args[0], fields)
        )
    if node.op == "dot":
        return _dot_or_directional(node.args[0], node.args[1], fields)
    if node.op == "cross":
        return _cross(
            _require_vector(_evaluate(node.args[0], fields)), _require_vector(_evaluate(node.args[1], fields))
        )
    if node.op == "nabla":
        return _nabla_components(node, fields)
    if node.op == "partial" and node.args[1] == symbol("t"):
        value = _evaluate(node.args[0], fields)
        for _ in range(_derivative_order(node)):
            value = _partial_derivative(value, "t", fields)
        return value
    if node.op == "partial" and node.args[1].name in _COORDINATES:
        value = _evaluate(node.args[0], fields)
        for _ in range(_derivative_order(node)):
            value = _partial_derivative(value, node.args[1].name, fields)
        return value
    if node.op == "abs":
        inner = _evaluate(node.args[0], fields)
        return Expr("sqrt", (_dot(inner, inner),)) if isinstance(inner, tuple) else Expr("abs", (inner,))
    if node.op == "pow" and node.args[1] == _TWO and isinstance(base := _evaluate(node.args[0], fields), tuple):
        return _dot(base, base)
    if not node.args or node.op in ("derivative", "partial", "differential", "integral", "apply", "opaque", "matrix"):
        raise NotEvaluated
    return Expr(node.op, tuple(_require_scalar(_evaluate(arg, fields)) for arg in node.args), node.name, node.value)


def _symbol_components(name: str) -> _Value:
    r"""Return the components of a vector symbol; `\sqrt{x^2+y^2+z^2}` for r; any other symbol as it is."""
    place = tuple(symbol(coordinate) for coordinate in _COORDINATES)
    if name in _POSITION:
        return place[0], place[1], place[2]
    if name == _DISTANCE:
        return _distance_from_origin()
    if name == _RADIAL:
        return _require_vector(
            _multiply_by_scalar(Expr("div", (number(1), _distance_from_origin())), (place[0], place[1], place[2]))
        )
    if name in _DIRECTIONS:
        one, two, three = (number(int(k == _DIRECTIONS[name])) for k in range(3))
        return one, two, three
    if symbol_of(name).style in (VECTOR, HAT):
        base = magnitude_name(name) or name
        one, two, three = (symbol(f"{base}_{coordinate}") for coordinate in _COORDINATES)
        return one, two, three
    return symbol(name)


def _distance_from_origin() -> Expr:
    r"""Return `\sqrt{x^2+y^2+z^2}`."""
    squares = tuple(Expr("pow", (symbol(coordinate), _TWO)) for coordinate in _COORDINATES)
    return Expr("sqrt", (Expr("add", squares),))


def _require_vector(value: _Value) -> _Vector:
    """Return a vector's components; raise NotEvaluated for a scalar."""
    if not isinstance(value, tuple):
        raise NotEvaluated
    return value


def _require_scalar(value: _Value) -> Expr:
    """Return a scalar; raise NotEvaluated for a vector."""
    if isinstance(value, tuple):
        raise NotEvaluated
    return value


def _sum(op: str, values: list[_Value]) -> _Value:
    """Apply `add`, `sub` or `neg` (`op`) to scalars, or to vectors component by component."""
    vectors = [value for value in values if isinstance(value, tuple)]
    if not vectors:
        return Expr(op, tuple(map(_require_scalar, values)))
    one, two, three = (Expr(op, parts) for parts in zip(*map(_require_vector, values), strict=True))
    return one, two, three


def _multiply_by_scalar(factor: Expr, value: _Value) -> _Value:
    """Multiply a scalar or each component of a vector by a factor."""
    if isinstance(value, tuple):
        one, two, three = (Expr("mul", (factor, part)) for part in value)
        return one, two, three
    return Expr("mul", (factor, value))


def _product(factors: tuple[Expr, ...], fields: _Fields) -> _Value:
    r"""Multiply factors from right to left; a factor `\vec v\cdot\nabla` differentiates everything to its right."""
    value: _Value | None = None
    for factor in reversed(factors):
        along = _nabla_direction(factor, fields)
        if along is not None:
            if value is None:
                raise NotEvaluated
            value = _directional_derivative(along, value, fields)
            continue
        own = _evaluate(factor, fields)
        if value is None:
            value = own
        elif isinstance(own, tuple):
            value = _multiply_by_scalar(_require_scalar(value), own)
        else:
            value = _multiply_by_scalar(own, value)
    assert value is not None
    return value


def _nabla_direction(node: Expr, fields: _Fields) -> _Vector | None:
    r"""Return the components of v for a factor `\vec v\cdot\nabla`; None for any other factor."""
    return _require_vector(_evaluate(node.args[0], fields)) if node.op == "dot" and node.args[1] == _NABLA else None


def _directional_derivative(direction: _Vector, value: _Value, fields: _Fields) -> _Value:
    r"""Return `(\vec v\cdot\nabla)` of a scalar or vector `value`; `direction` is v."""
    partials = [_partial_derivative(value, coordinate, fields) for coordinate in _COORDINATES]
    return _sum("add", [_multiply_by_scalar(part, partial) for part, partial in zip(direction, partials, strict=True)])


def _dot_or_directional(left: Expr, right: Expr, fields: _Fields) -> Expr | _Vector:
    r"""Return the dot product of two expressions; for `\vec v\cdot\nabla\vec u` the derivative of u along v."""
    if right.op == "nabla" and right.name == "grad" and isinstance(inner := _evaluate(right.args[0], fields), tuple):
        return _directional_derivative(_require_vector(_evaluate(left, fields)), inner, fields)
    return _dot(_require_vector(_evaluate(left, fields)), _require_vector(_evaluate(right, fields)))


def _dot(a: _Vector, b: _Vector) -> Expr:
    """Return the dot product of two vectors."""
    return Expr("add", tuple(Expr("mul", pair) for pair in zip(a, b, strict=True)))


def _cross(a: _Vector, b: _Vector) -> _Vector:
    """Return the cross product of two vectors."""
    one, two, three = (
        Expr("sub", (Expr("mul", (a[j], b[k])), Expr("mul", (a[k], b[j])))) for j, k in ((1, 2), (2, 0), (0, 1))
    )
    return one, two, three


def _nabla_components(node: Expr, fields: _Fields) -> _Value:
    """Return the components of a gradient, divergence, curl or Laplacian; NotEvaluated if singular."""
    if node.name in ("div", "laplace") and _is_singular(node.args[0]):
        raise NotEvaluated  # a delta function at the origin, which no derivative shows
    value = _evaluate(node.args[0], fields)
    if node.name == "grad":
        one, two, three = (
            _scalar_partial_derivative(_require_scalar(value), coordinate, fields) for coordinate in _COORDINATES
        )
        return one, two, three
    if node.name == "laplace":
        twice = [
            _partial_derivative(_partial_derivative(value, coordinate, fields), coordinate, fields)
            for coordinate in _COORDINATES
        ]
        return _sum("add", twice)
    partials = [
        _require_vector(_partial_derivative(_require_vector(value), coordinate, fields)) for coordinate in _COORDINATES
    ]
    if node.name == "div":
        return Expr("add", tuple(partials[k][k] for k in range(3)))
    if node.name == "curl":
        one, two, three = (Expr("sub", (partials[j][k], partials[k][j])) for j, k in ((1, 2), (2, 0), (0, 1)))
        return one, two, three
    raise NotEvaluated


def _is_singular(node: Expr) -> bool:
    """Return True if an expression is divided by r or a coordinate, and so singular at the origin."""
    for inner in walk(node):
        below = inner.args[1:] if inner.op == "div" else inner.args[:1] if inner.op == "pow" else ()
        negative = inner.op != "pow" or inner.args[1].op == "neg" or (inner.args[1].value or 1) < 0
        if negative and any(part.name in (_DISTANCE, *_POSITION, *_COORDINATES) for low in below for part in walk(low)):
            return True
    return False


def _derivative_order(node: Expr) -> int:
    """Return the order of a partial derivative by one variable; raise NotEvaluated unless it is 1 or 2."""
    if not node.name.isdigit() or len(node.args) != 2 or int(node.name) > 2:
        raise NotEvaluated
    return int(node.name)


def _partial_derivative(value: _Value, coordinate: str, fields: _Fields) -> _Value:
    """Differentiate a scalar, or each component of a vector, by a coordinate or the time t."""
    if isinstance(value, tuple):
        one, two, three = (_scalar_partial_derivative(part, coordinate, fields) for part in value)
        return one, two, three
    return _scalar_partial_derivative(value, coordinate, fields)


@dataclass(frozen=True, slots=True)
class _AllSymbols(KnownVariation):
    """A `KnownVariation` in which every symbol but the coordinates and the time varies."""

    def varies(self, name: str, _: str) -> bool:
        """Return True unless the symbol is a coordinate or the time."""
        return name not in _INDEPENDENT


_ALL_SYMBOLS = _AllSymbols(frozenset(), frozenset())


def _scalar_partial_derivative(node: Expr, coordinate: str, fields: _Fields) -> Expr:
    """Differentiate a scalar by a coordinate or the time; the derivative of a field is a symbol of its own.

    In a scalar that is written in coordinates, letters of usual coefficients are constants if they are not in `fields`.

    Errors:
        NotEvaluated: another symbol may vary or not, or the result grows too long.
    """
    found = derivative(node, symbol(coordinate), _ALL_SYMBOLS, op="partial")
    names = symbols(node)
    written = coordinate in names if coordinate == "t" else not names.isdisjoint(_COORDINATES)
    derivatives = {}
    for count, inner in enumerate(walk(found)):
        if count > MAX_NODES:
            raise NotEvaluated
        if inner.op == "partial" and inner.args[1] == symbol(coordinate):
            name = inner.args[0].name
            if written and name not in fields and not name.startswith(_DERIVATIVE) and name not in _INDEPENDENT:
                if symbol_of(name).head not in _COEFFICIENTS and name not in _CONSTANTS:
                    raise NotEvaluated
                derivatives[inner] = _ZERO
            else:
                derivatives[inner] = _derivative_symbol(name, coordinate)
    return substitute(found, derivatives)


def _derivative_symbol(name: str, coordinate: str) -> Expr:
    """Return the symbol for a derivative of a field by a coordinate; 0 for a constant.

    Mixed derivatives are the same symbol in any order of differentiation.
    """
    if name in _CONSTANTS or name in _INDEPENDENT:
        return _ZERO
    if name.startswith(_DERIVATIVE):
        known, _, name = name.removeprefix(_DERIVATIVE).partition("} ")
        coordinate = "".join(sorted(known + coordinate))
    return symbol(f"{_DERIVATIVE}{coordinate}}} {name}")
