r"""Vector calculus in Cartesian components: what nabla acts on, written out.

`\nabla\times(\vec A\times\vec B)` holds derivatives of products. Written out, each field has three components, and each
derivative of a component is a symbol of its own, whatever the field is; what then agrees for all their values is an
identity. Symbols under a nabla vary from place to place unless they are constants of nature; `\vec r` is the place.

Refused: to call two formulas different on this ground. A symbol that is taken to vary may be a constant of the
problem, as the permittivity in `\nabla\cdot(\varepsilon\vec E)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from prism.algebra.calculus import Known, Left, derivative
from prism.algebra.expr import Expr, Formula, number, substitute, symbol, symbols, traits_of, walk
from prism.equivalence.notation import VECTOR, length_of

FORMULAS_KEPT = 512  # formulas remembered in a process
MAX_NODES = 2000  # of a formula in components; a longer one is left as it was written

_COORDINATES = ("x", "y", "z")
_INDEPENDENT = (*_COORDINATES, "t")
_PLACE, _DISTANCE, _TOWARDS = (r"\vec{r}", r"\vec{x}"), "r", r"\hat{r}"
_DIRECTIONS = {rf"\hat{{{letter}}}": k for letters in ("xyz", "ijk") for k, letter in enumerate(letters)}
_CONSTANTS = frozenset((r"\epsilon_0", r"\mu_0", r"\hbar", "k_B", "m_e"))
# Letters of constants beside a coordinate, as the charge of `\nabla(q/r)`; what else stands there is left open.
_COEFFICIENTS = frozenset(
    ("q", "Q", "k", "m", "M", "G", "a", "b", "R", "L", "n", "N", "A", "C", r"\omega", r"\lambda", r"\kappa")
)
_JET = r"\partial_{"
_ZERO, _TWO = number(0), number(2)
_DEL = Expr("opaque", name="nabla")

_Fields = frozenset[str]
_Vector = tuple[Expr, Expr, Expr]
_Value = Expr | _Vector


def written_out(a: Formula, b: Formula) -> tuple[Formula, Formula] | None:
    r"""Both equations in components; None where there is no nabla, or something is no field.

    >>> from prism.latex import parse
    >>> one, _ = written_out(*[parse(r"\nabla\cdot(f\vec A) = 0")] * 2)
    >>> str(one.members[0]).count(r"\partial")
    6
    """
    if a.kind != "equation" or b.kind != "equation" or not (_has_nabla(a) or _has_nabla(b)):
        return None
    fields = _fields_of(a) | _fields_of(b)
    try:
        return _in_components(a, fields), _in_components(b, fields)
    except Left:
        return None


@lru_cache(maxsize=FORMULAS_KEPT)
def _fields_of(f: Formula) -> _Fields:
    """Symbols that surely vary: components of vectors, and what a nabla or a partial derivative acts on alone."""
    found = set()
    for node in (node for member in f.members for node in walk(member)):
        if node.op == "sym" and node.name.startswith(VECTOR):
            value = _of_symbol(node.name)
            found |= {part.name for part in value} if isinstance(value, tuple) else set()
        if node.op in ("nabla", "partial"):
            names = symbols(node.args[0])
            if names.isdisjoint((*_INDEPENDENT, *_PLACE, _DISTANCE, _TOWARDS)):
                found |= names
    return frozenset(found) - {*_INDEPENDENT}


def _has_nabla(f: Formula) -> bool:
    traits = traits_of(f)
    return "nabla" in traits.ops or ("opaque" in traits.ops and any(_DEL in walk(member) for member in f.members))


@lru_cache(maxsize=FORMULAS_KEPT)
def _in_components(f: Formula, fields: _Fields) -> Formula:
    values = [_value(member, fields) for member in f.members]
    ranks = {isinstance(value, tuple) for value in values if value != _ZERO}
    if len(ranks) > 1:
        raise Left
    members = tuple(
        Expr("matrix", tuple(Expr("row", (part,)) for part in value)) if isinstance(value, tuple) else value
        for value in values
    )
    if sum(1 for member in members for _ in walk(member)) > MAX_NODES:
        raise Left
    return replace(f, members=members)


def _value(node: Expr, fields: _Fields) -> _Value:
    """A number, or three components. Recursion is bounded by the parser's depth limit."""
    if node.op == "sym":
        return _of_symbol(node.name)
    if node.op in ("num", "const"):
        return node
    if node.op in ("add", "sub", "neg"):
        return _sum(node.op, [_value(arg, fields) for arg in node.args])
    if node.op == "mul":
        return _product(node.args, fields)
    if node.op == "div":
        return _scaled(Expr("div", (number(1), _scalar(_value(node.args[1], fields)))), _value(node.args[0], fields))
    if node.op == "dot":
        return _dotted(node.args[0], node.args[1], fields)
    if node.op == "cross":
        return _crossed(_vector(_value(node.args[0], fields)), _vector(_value(node.args[1], fields)))
    if node.op == "nabla":
        return _nabla(node, fields)
    if node.op == "partial" and node.args[1] == symbol("t"):
        value = _value(node.args[0], fields)
        for _ in range(_order(node)):
            value = _each(value, "t", fields)
        return value
    if node.op == "partial" and node.args[1].name in _COORDINATES:
        value = _value(node.args[0], fields)
        for _ in range(_order(node)):
            value = _each(value, node.args[1].name, fields)
        return value
    if node.op == "abs":
        inner = _value(node.args[0], fields)
        return Expr("sqrt", (_dot(inner, inner),)) if isinstance(inner, tuple) else Expr("abs", (inner,))
    if node.op == "pow" and node.args[1] == _TWO and isinstance(base := _value(node.args[0], fields), tuple):
        return _dot(base, base)
    if not node.args or node.op in ("derivative", "partial", "differential", "integral", "apply", "opaque", "matrix"):
        raise Left
    return Expr(node.op, tuple(_scalar(_value(arg, fields)) for arg in node.args), node.name, node.value)


def _of_symbol(name: str) -> _Value:
    place = tuple(symbol(coordinate) for coordinate in _COORDINATES)
    if name in _PLACE:
        return place[0], place[1], place[2]
    if name == _DISTANCE:
        return _distance()
    if name == _TOWARDS:
        return _vector(_scaled(Expr("div", (number(1), _distance())), (place[0], place[1], place[2])))
    if name in _DIRECTIONS:
        one, two, three = (number(int(k == _DIRECTIONS[name])) for k in range(3))
        return one, two, three
    if name.startswith((VECTOR, r"\hat{")):
        base = length_of(name) or name
        one, two, three = (symbol(f"{base}_{coordinate}") for coordinate in _COORDINATES)
        return one, two, three
    return symbol(name)


def _distance() -> Expr:
    squares = tuple(Expr("pow", (symbol(coordinate), _TWO)) for coordinate in _COORDINATES)
    return Expr("sqrt", (Expr("add", squares),))


def _vector(value: _Value) -> _Vector:
    if not isinstance(value, tuple):
        raise Left
    return value


def _scalar(value: _Value) -> Expr:
    if isinstance(value, tuple):
        raise Left
    return value


def _sum(op: str, values: list[_Value]) -> _Value:
    vectors = [value for value in values if isinstance(value, tuple)]
    if not vectors:
        return Expr(op, tuple(map(_scalar, values)))
    one, two, three = (Expr(op, parts) for parts in zip(*map(_vector, values), strict=True))
    return one, two, three


def _scaled(factor: Expr, value: _Value) -> _Value:
    if isinstance(value, tuple):
        one, two, three = (Expr("mul", (factor, part)) for part in value)
        return one, two, three
    return Expr("mul", (factor, value))


def _product(factors: tuple[Expr, ...], fields: _Fields) -> _Value:
    r"""Factors from the right, where `\vec v\cdot\nabla` acts on what stands behind it."""
    value: _Value | None = None
    for factor in reversed(factors):
        along = _direction(factor, fields)
        if along is not None:
            if value is None:
                raise Left
            value = _along(along, value, fields)
            continue
        own = _value(factor, fields)
        if value is None:
            value = own
        elif isinstance(own, tuple):
            value = _scaled(_scalar(value), own)
        else:
            value = _scaled(own, value)
    assert value is not None
    return value


def _direction(node: Expr, fields: _Fields) -> _Vector | None:
    r"""The vector of `\vec v\cdot\nabla`, which stands before what it acts on."""
    return _vector(_value(node.args[0], fields)) if node.op == "dot" and node.args[1] == _DEL else None


def _along(direction: _Vector, value: _Value, fields: _Fields) -> _Value:
    slopes = [_each(value, coordinate, fields) for coordinate in _COORDINATES]
    return _sum("add", [_scaled(part, slope) for part, slope in zip(direction, slopes, strict=True)])


def _dotted(left: Expr, right: Expr, fields: _Fields) -> Expr | _Vector:
    r"""`\vec a\cdot\vec b`; `\vec v\cdot\nabla\vec u` is the change of u along v."""
    if right.op == "nabla" and right.name == "grad" and isinstance(inner := _value(right.args[0], fields), tuple):
        return _along(_vector(_value(left, fields)), inner, fields)
    return _dot(_vector(_value(left, fields)), _vector(_value(right, fields)))


def _dot(a: _Vector, b: _Vector) -> Expr:
    return Expr("add", tuple(Expr("mul", pair) for pair in zip(a, b, strict=True)))


def _crossed(a: _Vector, b: _Vector) -> _Vector:
    one, two, three = (
        Expr("sub", (Expr("mul", (a[j], b[k])), Expr("mul", (a[k], b[j])))) for j, k in ((1, 2), (2, 0), (0, 1))
    )
    return one, two, three


def _nabla(node: Expr, fields: _Fields) -> _Value:
    if node.name in ("div", "laplace") and _has_source(node.args[0]):
        raise Left  # a delta function at the origin, which no derivative shows
    value = _value(node.args[0], fields)
    if node.name == "grad":
        one, two, three = (_slope(_scalar(value), coordinate, fields) for coordinate in _COORDINATES)
        return one, two, three
    if node.name == "laplace":
        twice = [_each(_each(value, coordinate, fields), coordinate, fields) for coordinate in _COORDINATES]
        return _sum("add", twice)
    slopes = [_vector(_each(_vector(value), coordinate, fields)) for coordinate in _COORDINATES]
    if node.name == "div":
        return Expr("add", tuple(slopes[k][k] for k in range(3)))
    if node.name == "curl":
        one, two, three = (Expr("sub", (slopes[j][k], slopes[k][j])) for j, k in ((1, 2), (2, 0), (0, 1)))
        return one, two, three
    raise Left


def _has_source(node: Expr) -> bool:
    """Whether it is divided by the distance."""
    for inner in walk(node):
        below = inner.args[1:] if inner.op == "div" else inner.args[:1] if inner.op == "pow" else ()
        negative = inner.op != "pow" or inner.args[1].op == "neg" or (inner.args[1].value or 1) < 0
        if negative and any(part.name in (_DISTANCE, *_PLACE, *_COORDINATES) for low in below for part in walk(low)):
            return True
    return False


def _order(node: Expr) -> int:
    if not node.name.isdigit() or len(node.args) != 2 or int(node.name) > 2:
        raise Left
    return int(node.name)


def _each(value: _Value, coordinate: str, fields: _Fields) -> _Value:
    if isinstance(value, tuple):
        one, two, three = (_slope(part, coordinate, fields) for part in value)
        return one, two, three
    return _slope(value, coordinate, fields)


@dataclass(frozen=True, slots=True)
class _Everything(Known):
    """What varies with a coordinate or the time: all symbols but these themselves."""

    def varies(self, name: str, _: str) -> bool:
        return name not in _INDEPENDENT


_EVERYTHING = _Everything(frozenset(), frozenset())


def _slope(node: Expr, coordinate: str, fields: _Fields) -> Expr:
    """Derivative of a number by a coordinate or the time; that of a field is a symbol.

    Where the number is written in coordinates, the usual coefficients are constants if they are fields nowhere else.

    Errors:
        Left: another symbol stands there, of which nothing says whether it varies; or it grows too long.
    """
    found = derivative(node, symbol(coordinate), _EVERYTHING, op="partial")
    names = symbols(node)
    written = coordinate in names if coordinate == "t" else not names.isdisjoint(_COORDINATES)
    jets = {}
    for count, inner in enumerate(walk(found)):
        if count > MAX_NODES:
            raise Left
        if inner.op == "partial" and inner.args[1] == symbol(coordinate):
            name = inner.args[0].name
            if written and name not in fields and not name.startswith(_JET) and name not in _INDEPENDENT:
                if name.partition("_")[0] not in _COEFFICIENTS and name not in _CONSTANTS:
                    raise Left
                jets[inner] = _ZERO
            else:
                jets[inner] = _jet(name, coordinate)
    return substitute(found, jets)


def _jet(name: str, coordinate: str) -> Expr:
    """The symbol of a derivative; the order of differentiation does not count."""
    if name in _CONSTANTS or name in _INDEPENDENT:
        return _ZERO
    if name.startswith(_JET):
        known, _, name = name.removeprefix(_JET).partition("} ")
        coordinate = "".join(sorted(known + coordinate))
    return symbol(f"{_JET}{coordinate}}} {name}")
