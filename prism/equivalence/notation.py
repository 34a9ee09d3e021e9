r"""How the letters of a pair of formulas are to be read: which are vectors, complex numbers, matrices.

LaTeX does not say that `i` is the imaginary unit or that z has two parts. What the problem declares decides; else
the formulas do, both together, so that a symbol is one thing on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, ops_of, substitute, symbol, symbols, traits_of, walk
from prism.engine.lowering import CONJUGATE, PLAIN, Mismatch, Notation, conjugated, is_known_function, shape_of
from prism.physics.context import Context

VECTOR = r"\vec{"
_HAT = r"\hat{"
_COMPLEX_MARKS = (r"\tilde{", r"\underline{")
_USUALLY_COMPLEX = frozenset(("z", "Z", "w", r"\psi", r"\Psi", r"\chi", "S", "Y"))
# Functions that are one and no other, though they are not evaluated: `erf`, the delta function, `J_0`, `P_2`.
_SPECIAL = re.compile(r"[A-Za-z]{2,}$|\\(delta|zeta|mathcal)|O$|[PYLTHJj]_")
_PARTS = frozenset(("Re", "Im", "arg"))
_MARKS = (VECTOR, _HAT, CONJUGATE, r"\bar{")
# Vectors of length one along the axes, each with the number of its axis.
_AXES = {
    **{rf"\hat{{{letter}}}": k for letters in ("xyz", "ijk") for k, letter in enumerate(letters)},
    r"\hat{\imath}": 0, r"\hat{\jmath}": 1,
    **{rf"\{mark}{{e}}_{axis}": k for mark in ("hat", "vec") for k, axis in enumerate("xyz")},
}  # fmt: skip
_CURVED = frozenset((r"\hat{r}", r"\hat{\theta}", r"\hat{\phi}", r"\hat{\varphi}"))  # along curved coordinates
_OF_OPERATORS = frozenset(("commutator", "bracket", "tensor", "opaque"))
_ANGLES = frozenset((r"\theta", r"\phi", r"\varphi", r"\delta", r"\psi", r"\vartheta"))
FORMULAS_KEPT = 4096  # formulas remembered in a process


def notation_of(a: Formula, b: Formula, context: Context) -> Notation:
    """The reading of a pair: what one formula shows holds for the other."""
    has_kinds = any(said.kind in ("complex", "vector") for said in context.symbols.values())
    if not has_kinds and _is_plain(a) and _is_plain(b):
        return PLAIN
    members = (*a.members, *b.members)
    names = symbols(*members)
    depends = a.depends | b.depends
    unit = _imaginary_unit(names, members, context)
    is_complex = bool(unit) or _speaks_of_parts(names, members) or _is_declared(names, context, "complex")
    vectors = frozenset(name for name in names if VECTOR in name) | _declared(names, context, "vector")
    if vectors or _is_along_axes(names, members):
        vectors |= {name for name in names if name.startswith(_HAT)}
    has_columns = bool(vectors) or _multiplies_columns(members)
    functions = _functions(members)
    if not (is_complex or has_columns or depends or functions or holds_matrix(members)):
        return PLAIN
    directions = {} if r"\hbar" in names or _has_operators(members) else _directions(vectors)
    basis = {} if _has_operators(members) else _basis(vectors - directions.keys() - context.symbols.keys())
    notation = Notation(
        is_complex=is_complex,
        complexes=_complexes(a, b, names, context, unit) if is_complex else frozenset(),
        unit=unit or "i",
        vectors=vectors,
        dimension=_dimension(members, basis) if has_columns else 3,
        lengths=tuple(sorted((length, name) for name in vectors for length in (length_of(name),) if length in names)),
        basis=tuple(sorted(basis.items())),
        directions=tuple(sorted(directions.items())),
        components=_components(vectors - directions.keys() - basis.keys(), names - _bound(members)),
        depends=depends,
        functions=functions,
        has_columns=has_columns,
    )
    return _with_matrices(a, b, notation)


def looser_readings(notation: Notation) -> tuple[Notation, ...]:
    r"""Readings in which symbols that belong to one vector are each their own, for formulas that say how they belong.

    `v_x = \vec v\cdot\hat x`, `\vec r = r\hat r` and `v = |\vec v|` are true by what the letters mean. What agrees with
    more symbols free to vary agrees all the more.
    """
    looser = (
        replace(notation, components=()),
        replace(notation, components=(), directions=()),
        replace(notation, lengths=()),
        replace(notation, directions=(), lengths=()),
    )
    return tuple(reading for reading in dict.fromkeys(looser) if reading != notation)


# Vectors. -------------------------------------------------------------------------------------------------------


def _is_along_axes(names: frozenset[str], members: tuple[Expr, ...]) -> bool:
    """Whether hats are the axes although no arrow is written: several of them, and no other hat but curved ones."""
    hats = {name for name in names if name.startswith(_HAT)} - _CURVED
    return len(hats) > 1 and hats <= _AXES.keys() and not _has_operators(members)


def _has_operators(members: tuple[Expr, ...]) -> bool:
    """Whether hats are operators: they are multiplied with one another, or stand beside states or commutators."""
    has_hats = any(name.startswith(_HAT) for name in symbols(*members))
    if not has_hats and _OF_OPERATORS.isdisjoint(ops_of(*members)):
        return False
    for node in (node for member in members for node in walk(member)):
        if node.op in ("commutator", "bracket", "tensor") or (node.op == "opaque" and node.name == "ordered product"):
            return True
        hats = [arg for arg in node.args if arg.op == "sym" and arg.name.startswith(_HAT)]
        if (node.op == "mul" and len(hats) > 1) or (node.op == "pow" and hats):
            return True
    return False


def _basis(vectors: frozenset[str]) -> dict[str, int]:
    """The axes among vectors of length one, each with its number."""
    return {name: _AXES[name] for name in vectors if name in _AXES}


def _directions(vectors: frozenset[str]) -> dict[str, str]:
    r"""`\hat r` beside `\vec r`, each with its vector; `\hat k` beside other axes is an axis, whatever `\vec k` is."""
    pairs = {name: VECTOR + name.removeprefix(_HAT) for name in vectors if name.startswith(_HAT)}
    return {
        name: vector
        for name, vector in pairs.items()
        if vector in vectors and not (name in _AXES and any(other in _AXES for other in vectors - {name}))
    }


def _components(vectors: frozenset[str], names: frozenset[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    r"""What the text calls the components of its vectors, where it speaks of them: `F_{1x}` beside `\vec F_1`."""
    found = []
    for vector in sorted(vectors):
        letter, _, index = length_of(vector).partition("_")
        index = index.removeprefix("{").removesuffix("}")
        styles = ("{}{}", "{},{}", "{1}{0}", "{1},{0}") if index else ("{1}",)
        for style in styles:
            inside = [style.format(index, axis) for axis in "xyz"]
            places = tuple(f"{letter}_{{{text}}}" if len(text) > 1 else f"{letter}_{text}" for text in inside)
            if letter and not names.isdisjoint(places):
                found.append((vector, places))
                break
    return tuple(found)


def _multiplies_columns(members: tuple[Expr, ...]) -> bool:
    """Whether values in round brackets are multiplied as vectors, or have a length."""
    return any(
        node.op in ("dot", "cross", "abs") and any(arg.op == "tuple" for arg in node.args)
        for node in _nodes(members, "tuple")
    )


def with_calls(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    r"""Both formulas with the calls that one of them writes: `\int F(s) ds` beside `\int F(x) dx`, where F(x) is F."""
    if "integral" not in traits_of(a).ops and "integral" not in traits_of(b).ops:
        return a, b
    depends = a.depends | b.depends
    called = _called(a) | _called(b)
    if _variables(a) and _variables(b) and _variables(a) != _variables(b):
        called |= {name for name, _ in depends}
    if not called:
        return a, b
    return _with_calls(a, called, depends), _with_calls(b, called, depends)


@lru_cache(maxsize=FORMULAS_KEPT)
def _called(f: Formula) -> frozenset[str]:
    """Letters that are applied to something, and mean no function in particular."""
    calls = (node for member in f.members for node in walk(member) if node.op == "apply" and len(node.args) == 1)
    return frozenset(node.name for node in calls if not is_known_function(node.name) and not _SPECIAL.match(node.name))


@lru_cache(maxsize=FORMULAS_KEPT)
def _variables(f: Formula) -> frozenset[str]:
    """Variables of integrals."""
    nodes = (node for member in f.members for node in walk(member))
    return frozenset(node.args[1].name for node in nodes if node.op == "integral" and len(node.args) > 1)


def _with_calls(f: Formula, called: frozenset[str], depends: frozenset[tuple[str, str]]) -> Formula:
    members = tuple(_calling(member, called, depends) for member in f.members)
    return f if members == f.members else replace(f, members=members)


def _calling(node: Expr, called: frozenset[str], depends: frozenset[tuple[str, str]]) -> Expr:
    """An expression with each symbol called that depends on the variable of an integral around it."""
    if not node.args:
        return node
    args = tuple(_calling(arg, called, depends) for arg in node.args)
    if node.op == "integral" and len(args) > 1:
        variable = args[1]
        calls = {symbol(name): Expr("apply", (variable,), name) for name in called if (name, variable.name) in depends}
        args = (substitute(args[0], calls), *args[1:]) if calls else args
    return node if args == node.args else Expr(node.op, args, node.name, node.value)


@lru_cache(maxsize=FORMULAS_KEPT)
def _is_plain(f: Formula) -> bool:
    """Whether nothing in a formula has two readings: what most formulas are."""
    traits = traits_of(f)
    if f.depends or not traits.ops.isdisjoint(("matrix", "apply", "tuple")) or not traits.names.isdisjoint("ij"):
        return False
    return not any(mark in name for name in traits.names for mark in _MARKS)


@lru_cache(maxsize=FORMULAS_KEPT)
def without_vectors(notation: Notation) -> Notation:
    """The same reading with every vector as one number: where a vector stands beside a number, nothing else is left."""
    return replace(PLAIN, is_complex=notation.is_complex, complexes=notation.complexes, unit=notation.unit,
                   depends=notation.depends, functions=notation.functions)  # fmt: skip


def _imaginary_unit(names: frozenset[str], members: tuple[Expr, ...], context: Context) -> str:
    r"""`i`, unless the problem speaks of it or a sum runs over it; where there is no `i`, `j` in electrical writing.

    That is beside a frequency, or where it turns by an angle: `e^{j\pi/2}`, `e^{-j\theta_1}`. In `e^{-j(j+1)\theta/T}`
    it is a number.
    """
    if names.isdisjoint("ij"):
        return ""
    bound = {node.args[1].name for node in _nodes(members, "sum", "product")
             if node.op in ("sum", "product") and len(node.args) > 1}  # fmt: skip
    if "i" in names and "i" not in context.declared and "i" not in bound:
        return "i"
    is_electrical = "j" in names and (r"\omega" in names or any(_turns(member, "j") for member in members))
    if is_electrical and "j" not in context.declared and "j" not in bound:
        return "j"
    return ""


def _turns(member: Expr, unit: str) -> bool:
    """Whether an exponential holds a symbol once, with an angle or pi as a factor and no symbol that is no angle."""
    for node in walk(member):
        if node.op != "exp":
            continue
        parts = list(walk(node.args[0]))
        others = {part.name.split("_")[0] for part in parts if part.op == "sym" and part.name != unit}
        is_once = sum(part.name == unit and part.op == "sym" for part in parts) == 1
        is_angle = bool(others) or any(part.op == "const" and part.name == "pi" for part in parts)
        is_product = all(part.op in ("mul", "div", "neg", "num", "const", "sym") for part in parts)
        if is_once and is_angle and is_product and others <= _ANGLES:
            return True
    return False


def _speaks_of_parts(names: frozenset[str], members: tuple[Expr, ...]) -> bool:
    """Real parts, arguments, or a symbol beside its conjugate; a bar over other letters than these is a mean."""
    for name in names:
        base = conjugated(name)
        if base != name and base in names and (name.endswith(CONJUGATE) or base in _USUALLY_COMPLEX):
            return True
    return any(node.op == "apply" and node.name in _PARTS for node in _nodes(members, "apply"))


def _nodes(members: tuple[Expr, ...], *ops: str) -> Iterator[Expr]:
    """Every node of the members that hold one of these operators; most formulas hold none of what is asked for."""
    for member in members:
        if not ops_of(member).isdisjoint(ops):
            yield from walk(member)


def _is_declared(names: frozenset[str], context: Context, kind: str) -> bool:
    return bool(_declared(names, context, kind))


def _declared(names: frozenset[str], context: Context, kind: str) -> frozenset[str]:
    declared = context.symbols
    return frozenset(name for name in names if name in declared and declared[name].kind == kind)


def _complexes(a: Formula, b: Formula, names: frozenset[str], context: Context, unit: str) -> frozenset[str]:
    """Symbols with two parts: declared, conjugated, marked, or what a formula with `i` defines."""
    found = set(_declared(names, context, "complex"))
    found |= {conjugated(name) for name in names if name.endswith(CONJUGATE)}
    found |= {conjugated(name) for name in names if conjugated(name) != name and conjugated(name) in names}
    found |= {name for name in names if name.startswith(_COMPLEX_MARKS)}
    for node in _nodes((*a.members, *b.members), "apply"):
        if node.op == "apply" and node.name in _PARTS and node.args[0].op == "sym":
            found.add(node.args[0].name)
    for f in (a, b):
        for subject, other in _sides(f):
            if subject.op == "sym" and (unit in symbols(other) or found & symbols(other)) and not _is_real(other):
                found.add(subject.name)
    found |= names & _USUALLY_COMPLEX
    real = {name for name, kind in context.kinds.items() if kind != "complex"}
    return frozenset(found - real - {unit})


def _sides(f: Formula) -> Iterator[tuple[Expr, Expr]]:
    """Each side with the other; of a union (`(x - a)(x - b) = 0`) those of its equations."""
    groups = [f.members]
    if len(f.members) == 2 and f.members[0].op == "mul":
        groups += [factor.args for factor in f.members[0].args if factor.op == "sub"]
    for members in groups:
        for member in members:
            for other in members:
                if other is not member:
                    yield member, other


def _is_real(node: Expr) -> bool:
    r"""Whether a value is real by its form: `|\psi|^2`, a real part."""
    if node.op in ("mul", "div", "add", "sub", "neg", "pow", "sqrt"):
        return all(_is_real(arg) for arg in node.args)
    return node.op in ("abs", "num", "const") or (node.op == "apply" and node.name in _PARTS)


def length_of(vector: str) -> str:
    r"""The plain name of a vector's length: `\vec{F}_1` has the length `F_1`."""
    if not vector.startswith(VECTOR):
        return ""
    inner, _, rest = vector.removeprefix(VECTOR).partition("}")
    return inner + rest


def _functions(members: tuple[Expr, ...]) -> frozenset[str]:
    r"""Letters that are applied to more than a symbol or a number somewhere, or to the variable of an integral."""
    found = set()
    bound = _bound(members)
    for node in _nodes(members, "apply"):
        composite = node.op == "apply" and len(node.args) == 1 and (node.args[0].args or node.args[0].name in bound)
        if composite and not is_known_function(node.name) and not _SPECIAL.match(node.name):
            found.add(node.name)
    return frozenset(found)


def _bound(members: tuple[Expr, ...]) -> frozenset[str]:
    """Variables of the integrals, sums and products."""
    return frozenset(
        node.args[1].name for node in _nodes(members, "integral", "sum", "product")
        if node.op in ("integral", "sum", "product") and len(node.args) > 1 and node.args[1].op == "sym"
    )  # fmt: skip


def _dimension(members: tuple[Expr, ...], basis: Mapping[str, int]) -> int:
    """Components of the vectors: those that are written out, else three."""
    if 2 in basis.values():
        return 3
    for node in _nodes(members, "tuple", "matrix", "opaque"):
        if node.op == "tuple" and len(node.args) in (2, 3):
            return len(node.args)
        if node.op == "matrix" and all(row.op != "row" or len(row.args) == 1 for row in node.args):
            return len(node.args)
        if node.op == "opaque" and node.name == "T" and len(node.args[0].args) == 1:
            (row,) = node.args[0].args
            return len(row.args) if row.op == "row" else 3
    return 3


def holds_matrix(members: tuple[Expr, ...]) -> bool:
    """Whether a matrix is written out."""
    return any("matrix" in ops_of(member) for member in members)


def _with_matrices(a: Formula, b: Formula, notation: Notation) -> Notation:
    """A lone symbol that is set equal to a matrix is one of its shape."""
    shapes: dict[str, tuple[int, int]] = {}
    for f in (a, b):
        for subject, other in _sides(f):
            if subject.op == "sym" and subject.name not in notation.vectors and holds_matrix((other,)):
                try:
                    shape = shape_of(other, notation)
                except Mismatch:
                    continue
                if shape is not None:
                    shapes.setdefault(subject.name, shape)
    if not shapes:
        return notation
    return replace(notation, matrices=tuple(sorted(shapes.items())))
