r"""Units in italics: `v_1 = 4.95 m/s` where the problem has a mass m (semantics U.4).

Settled before anything is compared, from the dimensions that the problem gives and from what the solution writes: of
the reference only units are looked at, never a value. Where no letter is a symbol of the problem, the comparison of two
formulas reads units by itself (`prism.equivalence.notation.readings`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from prism.algebra.expr import Expr, Formula, symbols, with_members
from prism.budget import charge_steps
from prism.equivalence.facts import numeric_of
from prism.physics.context import Context, given_values
from prism.physics.dimensions import Inconsistent, dimension_of
from prism.physics.italic_units import italic_units_as_quantity, symbols_beside_units
from prism.physics.quantities import parse_quantity
from prism.physics.tables import Dimension


def known_dimensions(context: Context, stated: Collection[Formula]) -> dict[str, Dimension]:
    """Return the dimension of each quantity that has a value in the problem, or a number in its reference."""
    numbers = filter(None, map(numeric_of, stated))
    asked = {each.subject.name: each.number.dimension for each in numbers if each.number.unit is not None}
    return asked | {name: value.quantity.dimension for name, value in given_values(context).items()}


def with_italic_units(
    formulas: Sequence[Formula | None], dimensions: Mapping[str, Dimension], known: Collection[str]
) -> list[Formula | None]:
    """Return the formulas of a solution with letters behind a number as units, where they cannot be symbols.

    A member that is a number times letters is read with units if these have the dimension of the left side, and the
    product of symbols has another one, or holds a letter that neither the problem nor another formula has.

    Args:
        formulas: of the solution; None where one could not be read.
        dimensions: of quantities by name; others are not known.
        known: symbols of the problem and its reference.
    """
    charge_steps(len(formulas))
    meant = symbols_beside_units(filter(None, formulas)).union(known)
    return [f and _with_units(f, dimensions, meant) for f in formulas]


def units_hint(claim: Formula, references: Iterable[Formula]) -> str:
    """Return a hint if letters that are read as symbols would be the unit of a reference's number; else empty."""
    for wanted in filter(None, map(numeric_of, references)):
        for member in claim.members if wanted.subject in claim.members else ():
            if _read_units(member, wanted.number.dimension, claim.latex) is not None:
                letters = ", ".join(sorted(symbols(member)))
                return rf"read as symbols of the problem: {letters}; a unit is written upright, as in \mathrm{{m/s}}"
    return ""


def _with_units(f: Formula, dimensions: Mapping[str, Dimension], meant: frozenset[str]) -> Formula:
    """Return a formula, or each part of it, with units read in the members that are equal to its first one."""
    if f.parts:
        return replace(f, parts=tuple(_with_units(part, dimensions, meant) for part in f.parts))
    wanted = dimensions.get(f.members[0].name) if f.members else None
    if wanted is None:
        return f
    read = [_quantity(member, wanted, dimensions, meant, f.latex) or member for member in f.members[1:]]
    return with_members(f, (f.members[0], *read))


def _read_units(member: Expr, wanted: Dimension, text: str) -> Expr | None:
    """Return a member with its letters read as units; None if they spell none, or not of the dimension `wanted`."""
    quantity = italic_units_as_quantity(member, frozenset(), text)
    return quantity if quantity and (value := parse_quantity(quantity)) and value.dimension == wanted else None


def _quantity(
    member: Expr, wanted: Dimension, dimensions: Mapping[str, Dimension], meant: Collection[str], text: str
) -> Expr | None:
    """Return a member as a number with units of the dimension `wanted`; None if it may be a product of symbols."""
    quantity = _read_units(member, wanted, text)
    if quantity is None or not symbols(member) <= {*meant, *dimensions}:
        return quantity
    try:
        as_symbols = dimension_of(member, dimensions)
    except Inconsistent:
        return quantity
    return None if as_symbols in (None, wanted) else quantity
