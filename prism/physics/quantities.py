"""Numbers with units: parsed from text or found in an expression, and units of expressions resolved to base units."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from prism.algebra.expr import Expr, number, ops_of, substitute, symbol, symbols, walk
from prism.errors import PrismError
from prism.inputs import require_text
from prism.latex.number_text import read_number_text
from prism.latex.unit_grammar import MAX_TEXT, NoReadingError, normalize_unit_text
from prism.physics.tables import DIMENSIONLESS, PI, Dimension, Unit
from prism.physics.units import (
    base_unit_product,
    read_unit_product,
    unit_as_expr,
    work_out,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A physical value in coherent SI units, zero point included: 20 degC is 293.15 K.

    Attributes:
        value: exact, but for a factor of pi (50 digits).
        dimension: exponents of m, kg, s, A, K, mol, cd.
    """

    value: Fraction
    dimension: Dimension

    def to_pint(self, registry: Any = None) -> Any:
        """Return the quantity in pint's base units, its magnitude exact: an int or a Fraction.

        Args:
            registry: a `pint.UnitRegistry`; None is pint's application registry. `prism.from_pint` is the way back.

        Errors:
            PrismError: pint is not installed.

        >>> print(read_quantity("36 km/h").to_pint())
        10 meter / second
        """
        from prism.bridges.pint_quantities import to_pint

        return to_pint(self, registry)


def resolve_units(expr: Expr, *, difference: bool = False) -> Expr:
    r"""Replace every unit in an expression by its factor times base units: `\unit{km}` by `1000 \unit{m}`.

    A unit that the table lacks becomes a symbol `\unit{xyz}`: it has to occur on the other side too. A number
    of degrees Celsius or Fahrenheit that is the whole expression is a temperature (20 degC is 293.15 K). Within a sum
    it cannot be told from a difference (`T_0 - 20 °C`), and its unit is left as a symbol, unless the sum has only such
    terms and their zeros cancel. Within a product it is a difference.

    Args:
        expr: one member of a formula.
        difference: the expression is known to be a difference of temperatures (`\Delta T = ...`).
    """
    if "unit" not in ops_of(expr):
        return expr
    if not difference:
        product = read_product(expr)
        if product is not None and product.offset and _has_number(expr):
            return Expr("mul", (number(_si_value(product)), symbol(r"\unit{K}")))
    return _resolve_units_in_node(expr)


def _resolve_units_in_node(node: Expr) -> Expr:
    """Replace every unit in a node and below by its factor times base units; see `resolve_units`."""
    if node.op == "unit":
        return unit_as_expr(node.name) or symbol(rf"\unit{{{node.name}}}")
    if "unit" not in ops_of(node):
        return node
    args = node.args
    if node.op in ("add", "sub"):
        degrees = [(product := read_product(arg)) is not None and product.offset != 0 for arg in args]
        if any(degrees) and not (all(degrees) and node.op == "sub"):
            held = [each for arg, is_degrees in zip(args, degrees, strict=True) if is_degrees for each in walk(arg)]
            symbolic = {each: symbol(rf"\unit{{{each.name}}}") for each in held if each.op == "unit"}
            args = tuple(substitute(arg, symbolic) if is_it else arg for arg, is_it in zip(args, degrees, strict=True))
    return Expr(node.op, tuple(_resolve_units_in_node(arg) for arg in args), node.name, node.value)


def parse_quantity(source: str | Expr) -> Quantity | None:
    r"""Parse a number with its unit into coherent SI units; None if it is not one, or can be read in two ways.

    Args:
        source: plain text as in a problem's `givens` (`9.8 m/s^2`, `2.8e6 kg`, `55°`), text with `\unit{}`,
            or an expression that is a product of numbers and units.

    >>> parse_quantity("36 km/h").value, parse_quantity("90.0 degC").value, parse_quantity("8.31 J/mol K")
    (Fraction(10, 1), Fraction(7263, 20), None)
    """
    if isinstance(source, Expr):
        source = with_speed_of_light(source)
        product = read_product(source)
        if product is None or not _has_number(source):
            return None
        return Quantity(_si_value(product), product.dimension)
    try:
        return read_quantity(source)
    except PrismError:
        return None


def is_unit_product(node: Expr) -> bool:
    """Return True if an expression consists of units only: `m`, `s^{-1}`, `J/(mol K)`, `1/s`."""
    if node.op == "pow":
        return is_unit_product(node.args[0])
    if node.op == "div" and node.args[0].value == 1:
        return is_unit_product(node.args[1])
    return node.op == "unit" or (node.op in ("mul", "div") and all(map(is_unit_product, node.args)))


def single_unit(node: Expr) -> Unit | None:
    """Return a product of units as one unit; None if a unit is not known or the expression has a number."""
    found = None if _has_number(node) else read_product(node)
    return None if found is None else replace(found, name="")


_ELECTRONVOLTS = frozenset(("eV", "meV", "keV", "MeV", "GeV", "TeV"))
_SPEED_OF_LIGHT = Expr("unit", name="speed of light")
_LIGHT = {symbol("c"): _SPEED_OF_LIGHT, Expr("unit", name="c"): _SPEED_OF_LIGHT}
_OF_QUANTITIES = frozenset(("num", "unit", "sym", "mul", "div", "pow", "neg"))


def with_speed_of_light(expr: Expr) -> Expr:
    """Replace the `c` of a number with electronvolts by the speed of light: 938 MeV/c^2 is a mass, whatever c is.

    A product with other symbols, as `938 MeV c/v`, is a formula, and stays.
    """
    if not expr.args or _ELECTRONVOLTS.isdisjoint(node.name for node in walk(expr) if node.op in ("unit", "sym")):
        return expr
    if ops_of(expr) <= _OF_QUANTITIES and symbols(expr) <= _ELECTRONVOLTS | {"c"}:
        units = {symbol(name): Expr("unit", name=name) for name in symbols(expr) & _ELECTRONVOLTS}
        read = substitute(expr, units | _LIGHT)
        return read if _SPEED_OF_LIGHT in walk(read) else expr
    if expr.op in ("mul", "div", "pow"):
        return expr
    args = tuple(map(with_speed_of_light, expr.args))
    return expr if args == expr.args else Expr(expr.op, args, expr.name, expr.value)


def read_quantity(text: str) -> Quantity:
    """Parse a text such as `9.8 m/s^2` as a number with its unit; raise PrismError if it is not one.

    Errors:
        PrismError: no text, no number, an unknown unit, or two readings.
    """
    require_text(text, "quantity", "a number with its unit as text, such as `9.8 m/s^2`")
    value, found = _split_number_and_unit(text)
    return Quantity(value * found.factor * PI**found.pi + found.offset, found.dimension)


def _si_value(product: Unit) -> Fraction:
    """Return the value of a product in coherent SI units, with pi to 50 digits."""
    return product.factor * PI**product.pi + product.offset


def quantity_as_expr(text: str) -> Expr:
    r"""Parse a text such as `2.5 km` as an expression, a number times base units; pi stays pi: 45° is `\pi/4`.

    >>> str(quantity_as_expr("45 deg")), str(quantity_as_expr("2.5 km"))
    ('pi/4', '2500*\\unit{m}')
    """
    value, found = _split_number_and_unit(text)
    if found.offset:
        value, found = value * found.factor + found.offset, replace(found, factor=Fraction(1))
    return base_unit_product(value * found.factor, found.pi, found.dimension)


def _split_number_and_unit(text: str) -> tuple[Fraction, Unit]:
    """Split a text into its number and unit; raise PrismError if it does not consist of these."""
    if len(text) > MAX_TEXT:
        raise PrismError(f"{len(text)} characters are too many for a number with its unit; {MAX_TEXT} are read")
    clean = normalize_unit_text(text)
    head = read_number_text(clean)
    if head is None:
        raise PrismError(f"{text!r} does not start with a number; write it as in '9.8 m/s^2'")
    rest = clean[clean.find(",") if head.has_groups else head.end :].lstrip()
    if re.match(r"(?!1/[A-Za-z(])[\d.,^+-]", rest):  # `3 1/min`; and `1,250` may be a decimal
        raise PrismError(f"{text!r} goes on with {rest[:10]!r} after its number; write it as in '9.8e3 m/s^2'")
    value = head.value
    if not rest.strip():
        return value, Unit("", Fraction(1), DIMENSIONLESS)
    try:
        return value, read_unit_product(rest.removeprefix("*"))
    except NoReadingError as fault:
        raise PrismError(f"{text!r}: {fault}") from fault


def read_product(node: Expr) -> Unit | None:
    """Read an expression as a product of numbers and units, as if it were one unit; None if it is none, or too long."""
    try:
        return work_out(node)
    except NoReadingError:
        return None


def _has_number(node: Expr) -> bool:
    """Return True if a number is among the factors of a product; without one it is no quantity."""
    if node.op in ("pow", "unit"):
        return node.op == "pow" and _has_number(node.args[0])
    return not node.args or node.op == "neg" or any(map(_has_number, node.args))
