"""Quantities as objects of pint, and back.

PRISM's radian and count are the number 1, as in the SI; pint keeps them, and they are dropped on the way back. A unit
that both know and count differently (a revolution is 1 to PRISM and 2 pi radians to pint; a gauss has a dimension of
its own there) is refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational
from types import MappingProxyType
from typing import Any

from prism.bridges.to_symbolic import load
from prism.errors import ConversionError, named_type
from prism.physics.quantities import Quantity
from prism.physics.tables import BASE_UNITS, PI
from prism.physics.units import find_unit

_NAMES = MappingProxyType({
    "m": "meter", "kg": "kilogram", "s": "second", "A": "ampere", "K": "kelvin", "mol": "mole", "cd": "candela",
})  # fmt: skip
_ONES = ("radian", "count")  # of value 1
_DIFFERENCES = MappingProxyType({"degree_Celsius": "delta_degC", "degree_Fahrenheit": "delta_degF"})
_MAX_DENOMINATOR = 1000  # of an exponent, which pint may keep as a float
_TOLERANCE = 1e-9  # relative, of the factor of a unit to both: measured ones are of different years


def to_pint(quantity: Quantity, registry: Any = None) -> Any:
    """Return a quantity in pint's base units; see `Quantity.to_pint`."""
    pint = load("pint", "Quantity.to_pint")
    home = pint.get_application_registry() if registry is None else registry
    powers = _powers_of_dimension(quantity.dimension)
    exponents = {name: int(power) if power.denominator == 1 else power for name, power in powers.items()}
    value = quantity.value
    magnitude = int(value) if value.denominator == 1 else value
    return home.Quantity(magnitude, home.UnitsContainer(exponents))


def from_pint(quantity: Any) -> Quantity:
    """Return a quantity of pint as PRISM's, in coherent SI units; temperatures with their zero point.

    A float is taken as the decimal that it prints as.

    Errors:
        ConversionError: naming a unit without a place among the seven dimensions (`bit`) or that counts
            differently here (`revolution`), or a magnitude that is no finite number.
        PrismError: pint is not installed.

    >>> import pint
    >>> from_pint(pint.Quantity("36 km/h")) == from_pint(pint.Quantity(10, "m/s"))
    True
    """
    pint = load("pint", "prism.from_pint")
    if not isinstance(quantity, pint.Quantity):
        raise ConversionError("PRISM", named_type(quantity), "expected a quantity of pint")
    home = quantity._REGISTRY
    for name, _ in quantity.unit_items():
        _check_unit(name, home)
    root = quantity.to_root_units()
    powers = _powers(root)
    dimension = tuple(powers.pop(_NAMES[base], Fraction(0)) for base in BASE_UNITS)
    if powers:
        raise ConversionError("PRISM", f"unit {next(iter(powers))}", "it is none of the seven dimensions")
    return Quantity(_exact(root.magnitude) / _grams(root), dimension)


def _powers_of_dimension(dimension: Sequence[Fraction]) -> dict[str, Fraction]:
    """Return the exponents of pint's base units in a dimension of PRISM, without those that are 0."""
    return {_NAMES[base]: power for base, power in zip(BASE_UNITS, dimension, strict=True) if power}


def _powers(root: Any) -> dict[str, Fraction]:
    """Return the exponents of the base units of a quantity in root units; those of gram as of kilogram."""
    found: dict[str, Fraction] = {}
    for name, power in root.unit_items():
        base = "kilogram" if name == "gram" else str(name)
        if base not in _ONES:
            found[base] = found.get(base, Fraction(0)) + Fraction(power).limit_denominator(_MAX_DENOMINATOR)
    return found


def _grams(root: Any) -> Fraction:
    """Return how many of a quantity's root units make one with kilograms for grams; raise where no fraction does."""
    power = Fraction(dict(root.unit_items()).get("gram", 0)).limit_denominator(_MAX_DENOMINATOR)
    if power.denominator != 1:
        raise ConversionError("PRISM", "a broken power of mass", str(root.units))
    return Fraction(1000) ** int(power)


def _exact(magnitude: Any) -> Fraction:
    """Return a magnitude as a fraction; raise ConversionError if it is no finite number."""
    if isinstance(magnitude, Rational):
        return Fraction(int(magnitude.numerator), int(magnitude.denominator))
    try:
        value = float(magnitude)
        text = repr(value) if isinstance(magnitude, float) else str(magnitude)
        return Fraction(text)
    except (TypeError, ValueError, OverflowError) as fault:
        raise ConversionError("PRISM", "magnitude", f"{magnitude!r} is no finite number") from fault


def _check_unit(name: str, home: Any) -> None:
    """Raise ConversionError for a unit that PRISM's table has with another dimension or factor than pint."""
    ours = find_unit(name) or find_unit(home.get_symbol(name))
    if ours is None or name in _ONES:
        return
    root = home.Quantity(1, _DIFFERENCES.get(name, name)).to_root_units()
    if _powers(root) == _powers_of_dimension(ours.dimension):
        factor = float(root.magnitude) / float(_grams(root))
        if math.isclose(factor, float(ours.factor * PI**ours.pi), rel_tol=_TOLERANCE):
            return
    raise ConversionError("PRISM", f"unit {name}", "pint and PRISM count it differently; convert it to SI units")
