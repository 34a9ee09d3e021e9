"""Values that a problem settles: of symbols, of expressions in them, and of formulas that can be solved for a number.

A formula whose inputs are all given is also stated by its number (semantics N.4); here that number is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from prism.algebra.expr import EQUALITIES, Expr, Formula, ops_of, symbols, walk
from prism.algebra.symbols import symbol_of
from prism.budget import remembered
from prism.engine.zero_set import value_at
from prism.equivalence.facts import FORMULAS_KEPT, numeric_of
from prism.equivalence.numbers.comparison import is_close
from prism.equivalence.numbers.stated import Numeric, StatedNumber, is_subject, stated_number
from prism.latex.unit_grammar import product_of
from prism.physics.constants import constant_table
from prism.physics.context import EMPTY_CONTEXT, Context, constant_readings, given_values, kind_of, may_be_constant
from prism.physics.dimensions import Inconsistent, dimension_of
from prism.physics.quantities import is_unit_product, read_product, resolve_units
from prism.physics.tables import BASE_UNITS, Dimension, Unit

MAX_STEPS = 60  # of the secant method; it either converges in ten or not at all
_CONVERGED = 1e-12  # relative step at which it has converged
_FIRST_STEP = 1e-4  # relative distance of its first two places

KnownValues = Mapping[str, tuple[float, Dimension]]
"""Value in coherent SI units and dimension of symbols, by name."""


def number_in_constants(f: Formula, context: Context) -> Numeric | None:
    r"""Read `M = 9.94 M_\odot`, `v = 0.8 c` or `pc = 5\,\text{MeV}` as a quantity with a number, else None.

    The unit of the number is the product of the constants and units beside it, over those beside the quantity.
    """
    if f.kind != "equation":
        return None
    for side, other in (f.members, f.members[::-1]):
        subjects = [each for each in _factors(side) if is_subject(each) and not _is_constant(each, context)]
        beside = [each for each in _factors(side) if each not in subjects]
        factors = _factors(other.args[0] if other.op == "neg" else other)
        constants = [each for each in factors if each.op == "sym" and _is_constant(each, context)]
        plain = [each for each in factors if each not in constants]
        if len(subjects) != 1 or not (constants or beside) or not all(_is_constant(each, context) for each in beside):
            continue
        if constants and [each.op for each in plain if not is_unit_product(each)] != ["num"]:
            continue
        read = stated_number(product_of((*plain, _COUNTED) if constants else plain))
        measured = evaluate_with_units(Expr("div", (product_of(constants), product_of(beside))), context)
        if read is None or read.unit is None or measured is None or not measured[0]:
            continue
        dimension = tuple(one + two for one, two in zip(read.dimension, measured[1], strict=True))
        unit = Unit("", read.unit.factor * measured[0], dimension, pi=read.unit.pi)
        return Numeric(subjects[0], replace(read, value=-read.value if other.op == "neg" else read.value, unit=unit))
    return None


_COUNTED = Expr("unit", name="count")  # of a number that stands before constants alone


def _factors(node: Expr) -> tuple[Expr, ...]:
    """Return the factors of a product; any other expression as one."""
    return node.args if node.op == "mul" else (node,)


def _is_constant(node: Expr, context: Context) -> bool:
    """Return True for the letter of a constant of nature with a value, or a power of it."""
    base = node.args[0] if node.op == "pow" and node.args[1].value is not None else node
    is_known = base.op == "sym" and has_constant_value(base.name)
    return is_known and (may_be_constant(context, base.name) or base.name in context.givens)


def has_constant_value(name: str) -> bool:
    """Return True if a letter is the usual one of a constant of nature that has a value, as `c` and `g` are."""
    return any(reading.value is not None for reading in constant_table().readings(name))


def implied_number(f: Formula, stated: Numeric, context: Context) -> Numeric | None:
    """Compute the number that a formula gives for a quantity if all other symbols in it have values.

    If the formula is not solved for the quantity, it is solved numerically near the number that a text states for it;
    of several roots a positive quantity has the positive one (semantics Z.3).

    Args:
        f: a formula; solved for the quantity or not.
        stated: the quantity, and the number that a text states for it.
        context: gives the values of other symbols.

    Returns:
        The number in coherent SI units with three figures; None if another symbol has no value, if it is a whole
        number by calculation, or if the quantity is itself given: then its number comes from there, whatever the
        formula says.
    """
    subject = stated.subject
    if f.kind != "equation" or subject.op != "sym" or numeric_of(f) is not None:
        return None
    if subject.name not in symbols(*f.members) or subject.name in given_values(context):
        return None
    measured = None
    for left, right in (f.members, f.members[::-1]):
        if left == subject and subject.name not in symbols(right):
            measured = _evaluate_with_cancelling(right, context)
            if measured is not None and not symbols(right):  # a closed form, and exact
                is_whole = is_close(measured[0], Fraction(round(measured[0])))  # then no rounding is right
                unit = Unit("", Fraction(1), measured[1]) if any(measured[1]) else None
                return None if is_whole else Numeric(subject, StatedNumber(measured[0], unit, 0, Fraction(0)))
    if measured is None and subject not in f.members:
        dimension, start = stated.number.dimension, float(stated.number.in_si)
        root = root_near(f, subject.name, start, dimension, context, {})
        if root is not None and root < 0 and kind_of(context, subject.name) == "positive":
            mirrored = root_near(f, subject.name, -start, dimension, context, {})
            root = root if mirrored is None or mirrored < 0 else None
        measured = None if root is None else (Fraction(root), dimension)
    if measured is None:
        return None
    value, dimension = measured
    return Numeric(subject, StatedNumber(value, Unit("", Fraction(1), dimension), 3, abs(value) / 200))


def closed_form_number(f: Formula) -> Numeric | None:
    """Evaluate `s = 9.81 * 2^2 / 2` to the quantity s and a number with three figures; None if symbols are left.

    Also None for the sum of a plain number and degrees, as in `91.1 - 109°`: that is a range, or a unit was forgotten.
    """
    if f.kind != "equation":
        return None
    for subject, other in (f.members, f.members[::-1]):
        if subject.op == "sym" and not symbols(other) and (number := _closed_value(other)) is not None:
            return Numeric(subject, number)
    return None


@remembered(FORMULAS_KEPT)
def _closed_value(node: Expr) -> StatedNumber | None:
    """Evaluate an expression without symbols as `closed_form_number` does; None where that does."""
    measured = None if _adds_degrees_to_numbers(node) else evaluate_with_units(node, EMPTY_CONTEXT)
    if measured is None:
        return None
    value, dimension = measured
    unit = Unit("", Fraction(1), dimension) if any(dimension) else None  # degrees in a sine are none
    return StatedNumber(value, unit, 3, abs(value) / 200)


def _adds_degrees_to_numbers(node: Expr) -> bool:
    """Return True if an expression adds or subtracts a plain number and degrees, as in `91.1 - 109°`."""
    return any(
        inner.op in ("add", "sub") and {0, 1} <= {degree_exponent(arg) for arg in inner.args} for inner in walk(node)
    )


def degree_exponent(node: Expr) -> int | None:
    """Return the power of degrees in a product of numbers and units: 1 for `30°`; None for 0 or a non-product."""
    product = None if "const" in ops_of(node) else read_product(node)
    return product.pi if product is not None and product.factor else None


def evaluate_with_units(
    node: Expr, context: Context, known: KnownValues | None = None
) -> tuple[Fraction, Dimension] | None:
    """Evaluate an expression of given symbols, constants of nature, numbers and units.

    Args:
        node: any expression.
        context: givens; letters that it does not declare may be constants of nature.
        known: values of further symbols.

    Returns:
        Value in coherent SI units and dimension; None if a symbol has no value, or the units do not fit.
    """
    plain = resolve_units(node)
    found = _symbol_values(plain, context, known or {})
    if found is None or found[1] is None or (value := value_at(plain, found[0])) is None:
        return None
    return Fraction(value), found[1]


def _symbol_values(
    node: Expr, context: Context, known: KnownValues
) -> tuple[dict[str, float], Dimension | None] | None:
    """Return the values of all symbols of an expression, and its dimension as far as it is known.

    None if a symbol has no value, or the dimensions of terms differ.
    """
    found = {name: symbol_value(name, context, known) for name in symbols(node)}
    measured = {name: each for name, each in found.items() if each is not None}
    if len(measured) < len(found):
        return None
    try:
        dimension = dimension_of(node, {name: each for name, (_, each) in measured.items()})
    except Inconsistent:
        return None
    return {name: value for name, (value, _) in measured.items()}, dimension


def _evaluate_with_cancelling(node: Expr, context: Context) -> tuple[Fraction, Dimension] | None:
    """Evaluate an expression whose symbols without a value cancel; None if the value depends on one of them.

    Returns value in coherent SI units and dimension.
    """
    names = symbols(resolve_units(node))
    open_names = sorted(name for name in names if symbol_value(name, context, {}) is None)
    found = [
        evaluate_with_units(node, context, {name: _dummy_value(k * step) for k, name in enumerate(open_names, start=1)})
        for step in (1, 5)
    ]
    first = found[0]
    if not open_names or first is None:
        return first
    are_same = all(each is not None and each[1] == first[1] and is_close(each[0], first[0]) for each in found)
    return first if are_same else None


def _dummy_value(k: int) -> tuple[float, Dimension]:
    """Return an arbitrary value and a fictitious dimension for a symbol without a value, distinct for each index k."""
    return 0.7 + 0.31 * k, (Fraction(k, 97), *(Fraction(0),) * (len(BASE_UNITS) - 1))


def symbol_value(name: str, context: Context, known: KnownValues) -> tuple[float, Dimension] | None:
    """Return value (coherent SI units) and dimension of a symbol; None if it has no value, or more than one.

    The value 1 for a base unit, else from `known`, else the given one, else that of the constant of nature.
    """
    read = symbol_of(name)
    if read.is_unit:
        if read.base not in BASE_UNITS:
            return None
        return 1.0, tuple(Fraction(int(read.base == each)) for each in BASE_UNITS)
    if name in known:
        return known[name]
    given = given_values(context).get(name)
    if given is not None:
        return float(given.quantity.value), given.quantity.dimension
    if may_be_constant(context, name):
        values = {reading.value for reading in constant_readings(context, name) if reading.value is not None}
        if len(values) == 1:
            (only,) = values
            return float(only.value), only.dimension
    return None


def root_near(
    f: Formula, name: str, start: float, dimension: Dimension, context: Context, known: KnownValues
) -> float | None:
    """Solve an equation numerically for one symbol, starting from a value, by the secant method.

    Args:
        f: the equation.
        name: the symbol to solve for.
        start: first value [coherent SI].
        dimension: the symbol's dimension.
        context, known: values of all other symbols; see `symbol_value`.

    Returns:
        The root; None if a symbol has no value, the dimensions do not fit or the method fails to converge.
    """
    if len(f.members) != 2 or f.relations[0] not in EQUALITIES or not start:
        return None
    residual = Expr("sub", tuple(resolve_units(member) for member in f.members))
    settled = _symbol_values(residual, context, {**known, name: (start, dimension)})
    if settled is None:
        return None
    values, _ = settled
    x, y = start, start * (1 + _FIRST_STEP)
    at_x = value_at(residual, values)
    for _ in range(MAX_STEPS):
        at_y = value_at(residual, {**values, name: y})
        if at_x is None or at_y is None:
            return None
        if at_y == 0 or abs(y - x) <= _CONVERGED * abs(y):
            return y
        if at_y == at_x:
            return None
        x, y, at_x = y, y - at_y * (y - x) / (at_y - at_x), at_y
    return None
