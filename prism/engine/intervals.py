"""Tapes in interval (ball) arithmetic: each value with a proven bound, to as many digits as are wanted.

Slow, and used only where floating point leaves a pair within a decade of the threshold (semantics Z.2).

Source: python-flint, `arb` (Johansson 2017). It is loaded on first use.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from typing import Any

from prism import budget
from prism.algebra.operators import OPS
from prism.engine.tape import Tape

PRECISION = 320  # bits
_INSTRUCTION = 500  # operations of one instruction on intervals
REFINEMENTS = 12  # steps of Newton's method with the slope of floating point: each gains about ten digits or more

_NAMES = {op.opcode: name for name, op in OPS.items() if op.opcode is not None and name != "const"}


_FLINT = RLock()  # python-flint has one precision for all threads of a process
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_FLINT.acquire, after_in_parent=_FLINT.release, after_in_child=_FLINT.release)


@contextmanager
def precision(bits: int = PRECISION) -> Iterator[None]:
    """Compute with `bits` bits, one thread at a time."""
    import flint

    with _FLINT:
        before = flint.ctx.prec
        flint.ctx.prec = bits
        try:
            yield
        finally:
            flint.ctx.prec = before


def residual_interval(tape: Tape, point: Mapping[str, Any]) -> Any | None:
    """Return an `arb` interval of PRECISION bits that contains the residual at a point; None where it is undefined.

    Args:
        tape: of a formula with one residual.
        point: value of each variable by name, floats or `arb`.
    """
    with precision():
        return _evaluate_tape(tape, point)


def _evaluate_tape(tape: Tape, point: Mapping[str, Any]) -> Any | None:
    """Return the interval of a tape's first residual at a point; None where an instruction has no finite value."""
    from flint import arb

    budget.charge(tape.n_op * _INSTRUCTION)
    values: list[Any] = []
    for k in range(tape.n_op):
        opcode, a, b = (int(word) for word in tape.code[3 * k : 3 * k + 3])
        name = _NAMES[opcode]
        value: Any
        if name == "num":
            value = arb(float(tape.consts[3 * a]), float(tape.consts[3 * a + 1]))
        elif name == "sym":
            value = arb(point[tape.names[a]])
        else:
            value = apply_instruction(name, values[a], values[b] if name in _BINARY else None, b)
        if value is None or not value.is_finite():
            return None
        values.append(value)
    return values[tape.roots[0]]


_BINARY = frozenset(("add", "sub", "mul", "div", "pow", "atan2", "widen"))
_METHODS = {
    "sqrt": "sqrt", "abs": "__abs__", "exp": "exp", "ln": "log", "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh",
    "acosh": "acosh", "atanh": "atanh", "floor": "floor",
}  # fmt: skip


def apply_instruction(name: str, p: Any, q: Any, n: int) -> Any | None:
    """Apply instruction `name` to intervals p, q (None: one operand) or the integer n (`p^n`); None if undefined.

    Twin: tests/reference.py::TWINS.
    """
    from flint import arb

    if name == "add":
        return p + q
    if name == "sub":
        return p - q
    if name == "mul":
        return p * q
    if name == "div":
        return p / q
    if name == "neg":
        return -p
    if name == "ipow":
        return p**n
    if name == "pow":
        return p**q if p > 0 or q.is_integer() else None
    if name == "root":
        return p.root(n) if p >= 0 else -((-p).root(n)) if n % 2 else None
    if name == "log10":
        return p.log() / arb(10).log()
    if name == "atan2":
        return arb.atan2(p, q)
    if name == "factorial":
        return (p + 1).gamma()
    if name == "step":
        return arb(1) if p >= 0 else arb(0) if p < 0 else None
    if name == "widen":
        return arb(p.mid(), p.rad() + abs(q).upper())
    return getattr(p, _METHODS[name])()


def refine_root(tape: Tape, point: Mapping[str, float], target: str, slope: float) -> dict[str, Any] | None:
    """Return `point` with variable `target` refined by Newton's method to a root of the residual, in PRECISION bits.

    Args:
        slope: derivative of the residual by the target there; an inexact one only costs further steps.

    Returns None where the residual is undefined at a step.
    """
    from flint import arb

    with precision():
        place: dict[str, Any] = dict(point)
        x = arb(point[target])
        last = None
        for _ in range(REFINEMENTS):
            place[target] = x
            f = _evaluate_tape(tape, place)
            if f is None:
                return None
            size = abs(f.mid())
            if last is not None and not size < last:
                break
            last = size
            x = (x - f / arb(slope)).mid()
        return place
