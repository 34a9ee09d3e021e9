r"""The notation of a pair of formulas: which letters are vectors, complex numbers, matrices, functions.

LaTeX does not say that `i` is the imaginary unit or that z has two parts. The problem's declarations decide; else
the formulas do, both together, so that a symbol is read in one way on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from prism.algebra.expr import Expr, Formula, ops_of, substitute, symbol, symbols, traits_of, walk
from prism.engine.lowering import CONJUGATE, PLAIN, Mismatch, Notation, conjugation_base, table_shape
from prism.equivalence.facts import HAT, VECTOR, facts_of, is_free_function
from prism.physics.context import Context

_COMPLEX_MARKS = (r"\tilde{", r"\underline{")
_USUALLY_COMPLEX = frozenset(("z", "Z", "w", r"\psi", r"\Psi", r"\chi", "S", "Y"))
_PARTS = frozenset(("Re", "Im", "arg"))
# Unit vectors along the axes, each with the number of its axis.
_AXES = {
    **{rf"\hat{{{letter}}}": k for letters in ("xyz", "ijk") for k, letter in enumerate(letters)},
    r"\hat{\imath}": 0, r"\hat{\jmath}": 1,
    **{rf"\{mark}{{e}}_{axis}": k for mark in ("hat", "vec") for k, axis in enumerate("xyz")},
}  # fmt: skip
_CURVED = frozenset((r"\hat{r}", r"\hat{\theta}", r"\hat{\phi}", r"\hat{\varphi}"))  # along curved coordinates
_OPERATOR_OPS = frozenset(("commutator", "bracket", "tensor", "opaque"))
_ANGLES = frozenset((r"\theta", r"\phi", r"\varphi", r"\delta", r"\psi", r"\vartheta"))


def notation_of(a: Formula, b: Formula, context: Context) -> Notation:
    """Choose the notation for two formulas: which of their symbols are vectors, complex numbers, functions, ...

    The same for both: what the problem declares, else what one of the formulas shows.
    """
    has_kinds = any(said.kind in ("complex", "vector") for said in context.symbols.values())
    if not has_kinds and facts_of(a).has_one_reading and facts_of(b).has_one_reading:
        return PLAIN
    members = (*a.members, *b.members)
    names = symbols(*members)
    depends = a.depends | b.depends
    unit = _imaginary_unit(names, members, context)
    is_complex = bool(unit) or _shows_complex_numbers(names, members) or _has_name_of_kind(names, context, "complex")
    vectors = frozenset(name for name in names if VECTOR in name) | _names_of_kind(names, context, "vector")
    if vectors or _is_along_axes(names, members):
        vectors |= {name for name in names if name.startswith(HAT)}
    has_columns = bool(vectors) or _multiplies_columns(members)
    functions = _function_letters(members)
    if not (is_complex or has_columns or depends or functions or contains_matrix(members)):
        return PLAIN
    directions = {} if r"\hbar" in names or _has_operators(members) else _direction_vectors(vectors)
    basis = {} if _has_operators(members) else _axis_numbers(vectors - directions.keys() - context.symbols.keys())
    notation = Notation(
        is_complex=is_complex,
        complexes=_complex_symbols(a, b, names, context, unit) if is_complex else frozenset(),
        unit=unit or "i",
        vectors=vectors,
        dimension=_vector_dimension(members, basis) if has_columns else 3,
        lengths=tuple(
            sorted((length, name) for name in vectors for length in (magnitude_name(name),) if length in names)
        ),
        basis=tuple(sorted(basis.items())),
        directions=tuple(sorted(directions.items())),
        components=_component_names(vectors - directions.keys() - basis.keys(), names - _bound_variables(members)),
        depends=depends,
        functions=functions,
        has_columns=has_columns,
    )
    return _with_matrices(a, b, notation)


def looser_readings(notation: Notation) -> tuple[Notation, ...]:
    r"""Return notations in which a vector's components, direction or length are symbols independent of the vector.

    `v_x = \vec v\cdot\hat x`, `\vec r = r\hat r` and `v = |\vec v|` hold by what the letters mean; they can only be
    compared with these free. Formulas that agree with more symbols free to vary agree all the more.
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
    r"""Return True if symbols with hats are unit vectors along axes, though nothing has an arrow.

    So if there are two axes or more (`\hat x`, `\hat y`) and no hat that is not an axis or curved coordinate.
    """
    hats = {name for name in names if name.startswith(HAT)} - _CURVED
    return len(hats) > 1 and hats <= _AXES.keys() and not _has_operators(members)


def _has_operators(members: tuple[Expr, ...]) -> bool:
    """Return True if symbols with hats are quantum operators: two multiplied, one squared, or beside states."""
    has_hats = any(name.startswith(HAT) for name in symbols(*members))
    if not has_hats and _OPERATOR_OPS.isdisjoint(ops_of(*members)):
        return False
    for node in (node for member in members for node in walk(member)):
        if node.op in ("commutator", "bracket", "tensor") or (node.op == "opaque" and node.name == "ordered product"):
            return True
        hats = [arg for arg in node.args if arg.op == "sym" and arg.name.startswith(HAT)]
        if (node.op == "mul" and len(hats) > 1) or (node.op == "pow" and hats):
            return True
    return False


def _axis_numbers(vectors: frozenset[str]) -> dict[str, int]:
    r"""Map each vector that is a unit vector along an axis to the number of the axis: `\hat x` to 0, `\hat z` to 2."""
    return {name: _AXES[name] for name in vectors if name in _AXES}


def _direction_vectors(vectors: frozenset[str]) -> dict[str, str]:
    r"""Map unit vectors to the vectors whose direction they are, `\hat r` to `\vec r`, but for axes."""
    pairs = {name: VECTOR + name.removeprefix(HAT) for name in vectors if name.startswith(HAT)}
    return {
        name: vector
        for name, vector in pairs.items()
        if vector in vectors and not (name in _AXES and any(other in _AXES for other in vectors - {name}))
    }


def _component_names(vectors: frozenset[str], names: frozenset[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    r"""Return (vector, names of its components) for vectors with components in `names`: `F_{1x}` for `\vec F_1`."""
    found = []
    for vector in sorted(vectors):
        letter, _, index = magnitude_name(vector).partition("_")
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
    r"""Return True if tuples are multiplied as vectors, or have a length: `(1, 2)\cdot(3, 4)`."""
    return any(
        node.op in ("dot", "cross", "abs") and any(arg.op == "tuple" for arg in node.args)
        for node in _nodes_of_members_with(members, "tuple")
    )


def with_matching_calls(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    r"""Write functions in integrals with their argument in both formulas if one does: `\int F dx` as `\int F(x) dx`."""
    if "integral" not in traits_of(a).ops and "integral" not in traits_of(b).ops:
        return a, b
    depends = a.depends | b.depends
    called = facts_of(a).called_letters | facts_of(b).called_letters
    if (
        facts_of(a).integration_variables
        and facts_of(b).integration_variables
        and facts_of(a).integration_variables != facts_of(b).integration_variables
    ):
        called |= {name for name, _ in depends}
    if not called:
        return a, b
    return _with_calls(a, called, depends), _with_calls(b, called, depends)


def _with_calls(f: Formula, called: frozenset[str], depends: frozenset[tuple[str, str]]) -> Formula:
    """Write the argument of the functions `called` under all integrals of a formula; see `_with_calls_in`."""
    members = tuple(_with_calls_in(member, called, depends) for member in f.members)
    return f if members == f.members else replace(f, members=members)


def _with_calls_in(node: Expr, called: frozenset[str], depends: frozenset[tuple[str, str]]) -> Expr:
    """Replace letters in integrals by calls with the variable of integration: F by F(x).

    Args:
        called: the letters to replace.
        depends: (letter, variable) pairs; only these are replaced.
    """
    if not node.args:
        return node
    args = tuple(_with_calls_in(arg, called, depends) for arg in node.args)
    if node.op == "integral" and len(args) > 1:
        variable = args[1]
        calls = {symbol(name): Expr("apply", (variable,), name) for name in called if (name, variable.name) in depends}
        args = (substitute(args[0], calls), *args[1:]) if calls else args
    return node if args == node.args else Expr(node.op, args, node.name, node.value)


def without_vectors(notation: Notation) -> Notation:
    """Return the notation with every vector read as one number."""
    return replace(PLAIN, is_complex=notation.is_complex, complexes=notation.complexes, unit=notation.unit,
                   depends=notation.depends, functions=notation.functions)  # fmt: skip


def _imaginary_unit(names: frozenset[str], members: tuple[Expr, ...], context: Context) -> str:
    r"""Return the letter that is the imaginary unit in the formulas, `i` or `j`; empty if neither is.

    It is `i`, unless the problem declares it or a sum runs over it. Without an `i` it is `j`, as engineers write,
    beside a frequency or with an angle in an exponential: `e^{j\pi/2}`, `e^{-j\theta_1}`; in `e^{-j(j+1)\theta/T}`
    it is a number.
    """
    if names.isdisjoint("ij"):
        return ""
    bound = {node.args[1].name for node in _nodes_of_members_with(members, "sum", "product")
             if node.op in ("sum", "product") and len(node.args) > 1}  # fmt: skip
    if "i" in names and "i" not in context.declared and "i" not in bound:
        return "i"
    is_electrical = "j" in names and (
        r"\omega" in names or any(_is_imaginary_unit_in_exponent(member, "j") for member in members)
    )
    if is_electrical and "j" not in context.declared and "j" not in bound:
        return "j"
    return ""


def _is_imaginary_unit_in_exponent(member: Expr, letter: str) -> bool:
    r"""Return True if an exponential such as `e^{j\theta/2}` shows that a letter is the imaginary unit.

    The letter has to occur once in the exponent, a product with angles or pi and no other symbols.

    Args:
        member: a member of a formula (`a` or `b` of `a = b`).
        letter: `j`.
    """
    for node in walk(member):
        if node.op != "exp":
            continue
        parts = list(walk(node.args[0]))
        others = {part.name.split("_")[0] for part in parts if part.op == "sym" and part.name != letter}
        is_once = sum(part.name == letter and part.op == "sym" for part in parts) == 1
        is_angle = bool(others) or any(part.op == "const" and part.name == "pi" for part in parts)
        is_product = all(part.op in ("mul", "div", "neg", "num", "const", "sym") for part in parts)
        if is_once and is_angle and is_product and others <= _ANGLES:
            return True
    return False


def _shows_complex_numbers(names: frozenset[str], members: tuple[Expr, ...]) -> bool:
    """Return True if formulas have real parts, arguments of complex numbers, or a symbol beside its conjugate."""
    for name in names:
        base = conjugation_base(name)
        if base != name and base in names and (name.endswith(CONJUGATE) or base in _USUALLY_COMPLEX):
            return True
    return any(node.op == "apply" and node.name in _PARTS for node in _nodes_of_members_with(members, "apply"))


def _nodes_of_members_with(members: tuple[Expr, ...], *ops: str) -> Iterator[Expr]:
    """Yield every node of those members that contain one of the operators `ops`."""
    for member in members:
        if not ops_of(member).isdisjoint(ops):
            yield from walk(member)


def _has_name_of_kind(names: frozenset[str], context: Context, kind: str) -> bool:
    """Return True if the problem declares one of the names to be of a kind such as `complex`."""
    return bool(_names_of_kind(names, context, kind))


def _names_of_kind(names: frozenset[str], context: Context, kind: str) -> frozenset[str]:
    """Return those of the names that the problem declares to be of a kind such as `vector`."""
    declared = context.symbols
    return frozenset(name for name in names if name in declared and declared[name].kind == kind)


def _complex_symbols(a: Formula, b: Formula, names: frozenset[str], context: Context, unit: str) -> frozenset[str]:
    r"""Return the complex symbols: declared, conjugated, usually so (z, `\psi`), or equal to a complex expression.

    Args:
        names: all symbols of the formulas.
        unit: the letter of the imaginary unit, or "".
    """
    found = set(_names_of_kind(names, context, "complex"))
    found |= {conjugation_base(name) for name in names if name.endswith(CONJUGATE)}
    found |= {
        conjugation_base(name) for name in names if conjugation_base(name) != name and conjugation_base(name) in names
    }
    found |= {name for name in names if name.startswith(_COMPLEX_MARKS)}
    for node in _nodes_of_members_with((*a.members, *b.members), "apply"):
        if node.op == "apply" and node.name in _PARTS and node.args[0].op == "sym":
            found.add(node.args[0].name)
    for f in (a, b):
        for subject, other in _ordered_side_pairs(f):
            if (
                subject.op == "sym"
                and (unit in symbols(other) or found & symbols(other))
                and not _is_real_valued(other)
            ):
                found.add(subject.name)
    found |= names & _USUALLY_COMPLEX
    real = {name for name, kind in context.kinds.items() if kind != "complex"}
    return frozenset(found - real - {unit})


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


def _is_real_valued(node: Expr) -> bool:
    r"""Return True if an expression has real values by its form: `|\psi|^2`, a real part, numbers."""
    if node.op in ("mul", "div", "add", "sub", "neg", "pow", "sqrt"):
        return all(_is_real_valued(arg) for arg in node.args)
    return node.op in ("abs", "num", "const") or (node.op == "apply" and node.name in _PARTS)


def magnitude_name(vector: str) -> str:
    r"""Return the name of a vector's magnitude, `F_1` for `\vec{F}_1`; empty if the name is not that of a vector."""
    if not vector.startswith(VECTOR):
        return ""
    inner, _, rest = vector.removeprefix(VECTOR).partition("}")
    return inner + rest


def _function_letters(members: tuple[Expr, ...]) -> frozenset[str]:
    """Return letters that are functions: applied to an expression (`f(x - vt)`) or to a variable of integration."""
    found = set()
    bound = _bound_variables(members)
    for node in _nodes_of_members_with(members, "apply"):
        composite = node.op == "apply" and len(node.args) == 1 and (node.args[0].args or node.args[0].name in bound)
        if composite and is_free_function(node.name):
            found.add(node.name)
    return frozenset(found)


def _bound_variables(members: tuple[Expr, ...]) -> frozenset[str]:
    """Return the variables of integrals, sums and products."""
    return frozenset(
        node.args[1].name for node in _nodes_of_members_with(members, "integral", "sum", "product")
        if node.op in ("integral", "sum", "product") and len(node.args) > 1 and node.args[1].op == "sym"
    )  # fmt: skip


def _vector_dimension(members: tuple[Expr, ...], basis: Mapping[str, int]) -> int:
    """Return the number of components of vectors: that of a tuple or column in the formulas, else three.

    Args:
        basis: unit vectors along axes with the number of the axis.
    """
    if 2 in basis.values():
        return 3
    for node in _nodes_of_members_with(members, "tuple", "matrix", "opaque"):
        if node.op == "tuple" and len(node.args) in (2, 3):
            return len(node.args)
        if node.op == "matrix" and all(row.op != "row" or len(row.args) == 1 for row in node.args):
            return len(node.args)
        if node.op == "opaque" and node.name == "T" and len(node.args[0].args) == 1:
            (row,) = node.args[0].args
            return len(row.args) if row.op == "row" else 3
    return 3


def contains_matrix(members: tuple[Expr, ...]) -> bool:
    """Return True if one of the expressions contains a matrix written out."""
    return any("matrix" in ops_of(member) for member in members)


def _with_matrices(a: Formula, b: Formula, notation: Notation) -> Notation:
    """Return the notation with each symbol that equals a matrix (`A = ...`) declared as a matrix of the same shape."""
    shapes: dict[str, tuple[int, int]] = {}
    for f in (a, b):
        for subject, other in _ordered_side_pairs(f):
            if subject.op == "sym" and subject.name not in notation.vectors and contains_matrix((other,)):
                try:
                    shape = table_shape(other, notation)
                except Mismatch:
                    continue
                if shape is not None:
                    shapes.setdefault(subject.name, shape)
    if not shapes:
        return notation
    return replace(notation, matrices=tuple(sorted(shapes.items())))
