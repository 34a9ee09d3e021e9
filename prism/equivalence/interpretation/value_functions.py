"""Functions that take values of an interpretation as they are: tables, complex numbers, several numbers."""

from __future__ import annotations

from collections.abc import Callable

from flint import acb

from prism.equivalence.interpretation import functions as named
from prism.equivalence.interpretation.letters import conjugate
from prism.equivalence.interpretation.values import (
    Table,
    Unvalued,
    Value,
    add,
    ball,
    determinant,
    multiply,
    plain,
    real_number,
    scalar,
)


def _of_number(name: str) -> Callable[[list[Value]], Value]:
    """Return a call of a function of one number."""
    return lambda args: named.call(name, scalar(args[0]))


def _extreme(choose: Callable[[float, float], bool]) -> Callable[[list[Value]], Value]:
    """Return the call of a maximum or minimum."""

    def call(args: list[Value]) -> Value:
        """Return the argument that is larger or smaller than the others."""
        best = scalar(args[0])
        for arg in args[1:]:
            if choose(real_number(scalar(arg)), real_number(best)):
                best = scalar(arg)
        return best

    return call


def _real_part(args: list[Value]) -> Value:
    """Return the real part."""
    return multiply(ball(0.5), add(args[0], conjugate(args[0])))


def _imaginary_part(args: list[Value]) -> Value:
    """Return the imaginary part."""
    return multiply(acb(0, -0.5), add(args[0], conjugate(args[0]), -1))


def _phase(args: list[Value]) -> Value:
    """Return the phase of a number."""
    return acb(plain(scalar(args[0])).arg())


def _determinant(args: list[Value]) -> Value:
    """Return a determinant; raises Unvalued for what is no table."""
    if not isinstance(args[0], Table):
        raise Unvalued("a determinant of a number")
    return determinant(args[0])


def _trace(args: list[Value]) -> Value:
    """Return a trace; raises Unvalued for what has none."""
    table = args[0]
    if not isinstance(table, Table) or table.rows != table.columns:
        raise Unvalued("a trace")
    total = table.at(0, 0)
    for k in range(1, table.rows):
        total = total + table.at(k, k)
    return total


CALLS: dict[str, Callable[[list[Value]], Value]] = {
    "max": _extreme(lambda a, b: a > b), "min": _extreme(lambda a, b: a < b), "sgn": _of_number("sgn"),
    "sign": _of_number("sgn"), r"\Theta": _of_number("step"), r"\theta": _of_number("step"), "u": _of_number("step"),
    "H": _of_number("step"), "Re": _real_part, "Im": _imaginary_part, "arg": _phase, "det": _determinant, "tr": _trace,
    "Tr": _trace,
}  # fmt: skip
"""The functions by their names."""
