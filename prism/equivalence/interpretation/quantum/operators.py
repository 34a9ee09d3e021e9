"""The values of operators with rules of their own, and of numbered states, in a space of quantum mechanics."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flint import acb

from prism.algebra.symbols import ADJOINT, symbol_of
from prism.budget import charge_steps
from prism.equivalence.interpretation.quantum.quanta import Space, pauli
from prism.equivalence.interpretation.quantum.quantum_names import axis_of, family_of
from prism.equivalence.interpretation.values import Table, Unvalued, Value, add, multiply, transpose

ACTION = "#action"  # the quantum of action where no letter stands for it: natural units are not assumed
_ARROWS = {r"\uparrow": "0", r"\downarrow": "1"}


def value(
    space: Space, draw: int, name: str, indices: Mapping[str, int], number: Callable[[str], acb]
) -> Value:  # fmt: skip
    r"""Return an operator in a draw; Unvalued for a vector of operators, and for `J_\pm`.

    Args:
        indices: whole numbers behind letters of indices; `number`: the value of a letter of a number.
    """
    if space.kind == "refused":
        raise Unvalued("operators of too high an order")
    read = symbol_of(name)
    table = _table(space, draw, read.body, indices, number, is_adjoint=read.sup == ADJOINT)
    charge_steps(len(table.entries))
    return table


def _table(
    space: Space, draw: int, name: str, indices: Mapping[str, int], number: Callable[[str], acb],
    *, is_adjoint: bool,
) -> Table:  # fmt: skip
    """Return an operator by its name without dagger, or its adjoint; raises Unvalued for a vector of operators."""
    if space.kind == "ladder":
        return _of_ladder(space, draw, name, number, is_adjoint=is_adjoint)
    axis = axis_of(name)
    axis = str(indices[axis]) if axis in indices else axis
    axis = {"1": "x", "2": "y", "3": "z"}.get(axis, axis)
    if len(axis) != 1 or axis not in "xyz+-":
        raise Unvalued("a vector of operators")
    if space.kind == "pauli":
        found = pauli(axis)
        if symbol_of(name).base != "S":
            return found
        factor = number(space.letters[0] or ACTION) / acb(1 if axis in "+-" else 2)
    else:
        found, factor = space.spin(axis), number(space.letters[0] or ACTION)
    return found.each(lambda entry: entry * factor)


def _of_ladder(
    space: Space, draw: int, name: str, number: Callable[[str], acb],
    *, is_adjoint: bool,
) -> Table:  # fmt: skip
    """Return a ladder operator, their product that counts, a place or a momentum."""
    lowering = space.lowering(draw)
    raising = transpose(lowering)
    family = family_of(name)
    if family == "ladder":
        found: Value = raising if is_adjoint else lowering
    elif family == "count":
        found = multiply(raising, lowering)
    else:
        action, mass, frequency = map(number, (space.letters[0] or ACTION, *space.letters[1:]))
        if symbol_of(name).base != "p":
            factor = (action / (acb(2) * mass * frequency)).sqrt()
            found = multiply(factor, add(lowering, raising))
        else:
            factor = acb(0, 1) * (action * mass * frequency / acb(2)).sqrt()
            found = multiply(factor, add(raising, lowering, -1))
    assert isinstance(found, Table)
    return found


def component(axis: int, letter: str) -> str:
    r"""Return the name of a component of a vector of operators, as the first of `\vec{\sigma}`."""
    return f"{letter}_{'xyz'[axis]}"


def numbered_state(name: str, size: int) -> Table | None:
    """Return one of the orthonormal states that are named by digits, arrows or signs; None for another name.

    Raises Unvalued for one beyond those that are kept.
    """
    for arrow, digit in _ARROWS.items():
        name = name.replace(arrow, digit)
    name = name.replace(" ", "")
    if name in ("+", "-"):
        half = acb(1) / acb(2).sqrt()
        return Table(size, 1, (half, half if name == "+" else -half, *[acb(0)] * (size - 2)))
    if not name.isdigit():
        return None
    place = int(name, 2) if len(name) > 1 and set(name) <= {"0", "1"} else int(name)
    if place >= size:
        raise Unvalued("a state that is not kept")
    return Table(size, 1, tuple(acb(int(k == place)) for k in range(size)))
