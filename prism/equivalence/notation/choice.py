r"""The notation of a pair of formulas: which letters are vectors, complex numbers, matrices, functions.

LaTeX does not say that `i` is the imaginary unit or that z has two parts. The problem's declarations decide; else
the formulas do, both together, so that a symbol is read in one way on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, ops_of, rewritten, substitute, symbol, symbols, traits_of, with_args
from prism.algebra.symbols import STAR, symbol_of
from prism.engine.lowering import PLAIN, Mismatch, Notation, conjugation_base, table_shape
from prism.equivalence.facts import HAT, VECTOR, facts_of
from prism.equivalence.notation.marks import PARTS, Marks, bars_without_conjugation, marks_of
from prism.physics.context import Context

_VECTORS_KEPT = 1024  # names of which the names of components are remembered in a process
_COMPLEX_STYLES = ("tilde", "underline")
_USUALLY_COMPLEX = frozenset(("z", "Z", "w", r"\psi", r"\Psi", r"\chi", "S", "Y"))
_OF_PARTS = frozenset(("complex", "vector"))  # kinds of symbols with several numbers
# Unit vectors along the axes, each with the number of its axis.
_AXES = {
    **{rf"\hat{{{letter}}}": k for letters in ("xyz", "ijk") for k, letter in enumerate(letters)},
    r"\hat{\imath}": 0, r"\hat{\jmath}": 1,
    **{rf"\{mark}{{e}}_{axis}": k for mark in ("hat", "vec") for k, axis in enumerate("xyz")},
}  # fmt: skip
_CURVED = frozenset((r"\hat{r}", r"\hat{\theta}", r"\hat{\phi}", r"\hat{\varphi}"))  # along curved coordinates


def notation_of(a: Formula, b: Formula, context: Context) -> Notation:
    """Choose the notation for two formulas: which of their symbols are vectors, complex numbers, functions, ...

    The same for both: what the problem declares, else what one of the formulas shows.
    """
    kinds = {name: said.kind for name, said in context.symbols.items() if said.kind in _OF_PARTS}
    if not kinds and facts_of(a).has_one_reading and facts_of(b).has_one_reading:
        return PLAIN
    one, two = marks_of(a), marks_of(b)
    names = one.names | two.names
    depends = a.depends | b.depends
    bound = one.bound | two.bound
    unit = _imaginary_unit(one, two, names, context)
    declared = {name: kinds[name] for name in names & kinds.keys()}
    named = frozenset(
        name for name in bars_without_conjugation(one, two, unit) if declared.get(conjugation_base(name)) != "complex"
    )
    is_complex = bool(unit) or "complex" in declared.values() or _shows_complex_numbers(one, two, named)
    vectors = one.vectors | two.vectors | {name for name in declared if declared[name] == "vector"}
    hats = one.hats | two.hats
    has_operators = one.has_operators or two.has_operators
    if hats and (vectors or (not has_operators and _are_along_axes(hats))):
        vectors |= hats
    has_columns = bool(vectors) or one.multiplies_columns or two.multiplies_columns
    functions = one.functions | two.functions
    if one.calls or two.calls:
        functions |= {name for name, variable in one.calls | two.calls if variable in bound}
    if not (is_complex or has_columns or depends or functions or one.has_matrix or two.has_matrix):
        return PLAIN
    directions = {} if r"\hbar" in names or has_operators else _direction_vectors(vectors)
    basis = {} if has_operators else _axis_numbers(vectors - directions.keys() - context.symbols.keys())
    notation = Notation(
        is_complex=is_complex,
        complexes=_complex_symbols(one, two, unit, context, named) if is_complex else frozenset(),
        unit=unit or "i",
        vectors=vectors,
        dimension=_vector_dimension(one, two, basis) if has_columns else 3,
        lengths=tuple(
            sorted((length, name) for name in vectors for length in (magnitude_name(name),) if length in names)
        ),
        basis=tuple(sorted(basis.items())),
        directions=tuple(sorted(directions.items())),
        components=_component_names(vectors - directions.keys() - basis.keys(), names - bound),
        depends=depends,
        functions=functions,
        has_columns=has_columns,
    )
    return _with_matrices(one, two, notation) if one.has_matrix or two.has_matrix else notation


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


def _are_along_axes(hats: frozenset[str]) -> bool:
    r"""Return True if symbols with hats are unit vectors along axes, though nothing has an arrow.

    So if there are two axes or more (`\hat x`, `\hat y`) and no hat that is not an axis or curved coordinate.
    """
    straight = hats - _CURVED
    return len(straight) > 1 and straight <= _AXES.keys()


def _axis_numbers(vectors: frozenset[str]) -> dict[str, int]:
    r"""Map each vector that is a unit vector along an axis to the number of the axis: `\hat x` to 0, `\hat z` to 2."""
    return {name: _AXES[name] for name in vectors if name in _AXES}


def _direction_vectors(vectors: frozenset[str]) -> dict[str, str]:
    r"""Map unit vectors to the vectors whose direction they are, `\hat r` to `\vec r`, but for axes."""
    pairs = {name: name.replace(HAT, VECTOR, 1) for name in vectors if symbol_of(name).is_hat}
    return {
        name: vector
        for name, vector in pairs.items()
        if vector in vectors and not (name in _AXES and any(other in _AXES for other in vectors - {name}))
    }


def _component_names(vectors: frozenset[str], names: frozenset[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    r"""Return (vector, names of its components) for vectors with components in `names`: `F_{1x}` for `\vec F_1`."""
    shown = ((vector, [way for way in _ways_to_name_components(vector) if not names.isdisjoint(way)])
             for vector in sorted(vectors))  # fmt: skip
    return tuple((vector, ways[0]) for vector, ways in shown if ways)


@lru_cache(maxsize=_VECTORS_KEPT)
def _ways_to_name_components(vector: str) -> tuple[tuple[str, ...], ...]:
    r"""Return the ways to name the components of a vector, likely ones first; empty if the name is not a vector's."""
    read = symbol_of(magnitude_name(vector))
    letter, index = read.head, read.sub
    styles = ("{}{}", "{},{}", "{1}{0}", "{1},{0}") if index else ("{1}",)
    inside = [[style.format(index, axis) for axis in "xyz"] for style in styles if letter and not read.sup]
    return tuple(tuple(f"{letter}_{{{text}}}" if len(text) > 1 else f"{letter}_{text}" for text in way)
                 for way in inside)  # fmt: skip


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
    ours, theirs = ({name for name, _ in f.depends} for f in (a, b))
    called |= {name for name, _ in a.depends ^ b.depends} & ours & theirs
    if not called:
        return a, b
    return _with_calls(a, called, depends), _with_calls(b, called, depends)


def _with_calls(f: Formula, called: frozenset[str], depends: frozenset[tuple[str, str]]) -> Formula:
    """Write the argument of the functions `called` under all integrals of a formula; see `_with_calls_in`.

    A function that the formula itself writes with an argument is one of that: below `ds` the `F(x)` is constant.
    """
    own = {name for name, _ in f.depends}
    depends = f.depends.union(pair for pair in depends if pair[0] not in own)
    return rewritten(f, lambda node: _with_calls_in(node, called, depends))


def _with_calls_in(node: Expr, called: frozenset[str], depends: frozenset[tuple[str, str]]) -> Expr:
    """Replace letters in an integral by calls with its variable: F by F(x).

    Args:
        called: the letters to replace.
        depends: (letter, variable) pairs; only these are replaced.
    """
    if node.op != "integral" or len(node.args) < 2:
        return node
    inside, variable, *limits = node.args
    calls = {symbol(name): Expr("apply", (variable,), name) for name in called if (name, variable.name) in depends}
    return with_args(node, (substitute(inside, calls), variable, *limits)) if calls else node


def without_vectors(notation: Notation) -> Notation:
    """Return the notation with every vector read as one number."""
    return replace(PLAIN, is_complex=notation.is_complex, complexes=notation.complexes, unit=notation.unit,
                   depends=notation.depends, functions=notation.functions)  # fmt: skip


def _imaginary_unit(one: Marks, two: Marks, names: frozenset[str], context: Context) -> str:
    r"""Return the letter that is the imaginary unit in two formulas, `i` or `j`; empty if neither is.

    It is `i`, unless the problem declares it, a sum runs over it, or a formula says what it is. Without an `i` it is
    `j`, as engineers write, beside a frequency, right before one with an index, times its conjugate or with an angle in
    an exponential: `e^{j\pi/2}`, `e^{-j\theta_1}`; in `e^{-j(j+1)\theta/T}` it is a number.
    """
    free = names.intersection("ij") - context.declared - one.summed - two.summed - one.stated - two.stated
    if "i" in free:
        return "i"
    return "j" if "j" in free and (r"\omega" in names or one.turned or two.turned) else ""


def _shows_complex_numbers(one: Marks, two: Marks, named: frozenset[str]) -> bool:
    """Return True if formulas have real parts, arguments of complex numbers, or a symbol beside its conjugate.

    One letter with a bar in one formula and with a star in the other is conjugated in both.

    Args:
        named: names with a bar that are no conjugates.
    """
    names = one.names | two.names
    return (
        one.has_parts
        or two.has_parts
        or any(base == other and name != mark for name, base in one.conjugates for mark, other in two.conjugates)
        or any(
            base in (names if symbol_of(name).sup == STAR else marks.names & _USUALLY_COMPLEX) and name not in named
            for marks in (one, two)
            for name, base in marks.conjugates
        )
    )


def _complex_symbols(one: Marks, two: Marks, unit: str, context: Context, named: frozenset[str]) -> frozenset[str]:
    r"""Return the complex symbols: declared, conjugated, usually so (z, `\psi`), or equal to a complex expression.

    Args:
        one, two: the marks of two formulas.
        unit: the letter of the imaginary unit, or "".
        named: names with a bar that are no conjugates, so that their letters are real.
    """
    names = one.names | two.names
    conjugates = [(name, base) for name, base in (*one.conjugates, *two.conjugates) if name not in named]
    found = {name for name, kind in context.kinds.items() if kind == "complex" and name in names}
    found |= one.parts | two.parts
    found |= {base for name, base in conjugates if base in names or symbol_of(name).sup == STAR}
    found |= {name for name in names if symbol_of(name).style in _COMPLEX_STYLES}
    for subject, other in (*one.equated, *two.equated):
        inner = symbols(other)
        if (unit in inner or not found.isdisjoint(inner)) and not _is_real_valued(other):
            found.add(subject)
    found |= names & _USUALLY_COMPLEX
    real = {name for name, kind in context.kinds.items() if kind != "complex"} | set(map(conjugation_base, named))
    return frozenset(found - real - {unit})


def _is_real_valued(node: Expr) -> bool:
    r"""Return True if an expression has real values by its form: `|\psi|^2`, a real part, numbers."""
    if node.op in ("mul", "div", "add", "sub", "neg", "pow", "sqrt"):
        return all(_is_real_valued(arg) for arg in node.args)
    return node.op in ("abs", "num", "const") or (node.op == "apply" and node.name in PARTS)


def magnitude_name(vector: str) -> str:
    r"""Return the name of a vector's magnitude, `F_1` for `\vec{F}_1`; empty if the name is not that of a vector."""
    read = symbol_of(vector)
    return read.unstyled if read.is_vector else ""


def _vector_dimension(one: Marks, two: Marks, basis: Mapping[str, int]) -> int:
    """Return the number of components of vectors: that of a tuple or column in two formulas, else three.

    Args:
        basis: unit vectors along axes with the number of the axis.
    """
    if 2 in basis.values():
        return 3
    shown = (each.dimension for each in (one, two) if each.dimension is not None)
    return next(shown, 3)


def contains_matrix(members: tuple[Expr, ...]) -> bool:
    """Return True if one of the expressions contains a matrix written out."""
    return "matrix" in ops_of(*members)


def _with_matrices(one: Marks, two: Marks, notation: Notation) -> Notation:
    """Return the notation with each symbol that equals a matrix (`A = ...`) declared as a matrix of the same shape."""
    shapes: dict[str, tuple[int, int]] = {}
    for subject, other in (*one.equated, *two.equated):
        if subject not in notation.vectors and "matrix" in ops_of(other):
            try:
                shape = table_shape(other, notation)
            except Mismatch:
                continue
            if shape is not None:
                shapes.setdefault(subject, shape)
    if not shapes:
        return notation
    return replace(notation, matrices=tuple(sorted(shapes.items())))
