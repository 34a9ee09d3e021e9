r"""Expression -> flat bytecode.

A tape is a hash-consed list of three-word instructions (opcode, a, b) in evaluation order, the root last: one
instruction for each distinct sub-expression. Its variables are the symbols of the formula and its opaque
atoms (semantics Z.9): a construct that the engine does not evaluate stands on the tape as one variable named
by its canonical form. Exact numbers are folded as fractions before they become floats.

Refused: one compiled function per formula (89 ms a formula with numba, against 15 µs for a tape).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from prism.expr import OPS, Expr, canonical, walk

MAX_OPS = 2000  # a formula longer than this is not physics; it is an attack on the budget
MAX_VARIABLES = 62  # dependency masks are signed 64-bit words
MAX_IMMEDIATE = 64  # exponents above this are evaluated as real powers
_MAX_FOLD_BITS = 2048  # exact constants longer than this are left to floating point

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_INVERSE = frozenset(("asin", "acos", "atan"))
_TRIG = frozenset(("sin", "cos", "tan"))


class TapeTooLarge(Exception):
    """A formula beyond the limits above; `equivalence` turns it into an undecided verdict."""


@dataclass(frozen=True, slots=True, eq=False)
class Tape:
    """One expression as bytecode.

    Attributes:
        code: int64[n_op * 3], instruction k at 3k: opcode, a, b. For `num` a is an index into consts, for `sym`
            a variable slot, for `ipow` and `root` b is an immediate integer.
        consts: float64[n_const * 2], value and error bound of constant k at 2k.
        dep: int64[n_op], bit v is set if the instruction depends on variable v.
        names: variables in slot order.
        atoms: those names that stand for constructs that are not evaluated, with the construct.
        angles: those names that stand alone, or with a rational factor, inside a sine, cosine or tangent.
        has_inverse: an inverse trigonometric function occurs.
    """

    code: Ints
    consts: Floats
    dep: Ints
    names: tuple[str, ...]
    atoms: Mapping[str, str]
    angles: frozenset[str]
    has_inverse: bool

    @property
    def n_op(self) -> int:
        """Number of instructions."""
        return len(self.dep)


@dataclass(slots=True)
class _Builder:
    """The tape under construction: the only mutable state of this room."""

    code: list[tuple[int, int, int]] = field(default_factory=list)
    seen: dict[tuple[int, int, int], int] = field(default_factory=dict)
    consts: list[float] = field(default_factory=list)
    slots: dict[str, int] = field(default_factory=dict)
    atoms: dict[str, str] = field(default_factory=dict)
    exact: dict[int, Fraction] = field(default_factory=dict)

    def emit(self, name: str, a: int, b: int = 0) -> int:
        opcode = OPS[name].opcode
        assert opcode is not None
        word = (opcode, a, b)
        if word not in self.seen:
            if len(self.code) >= MAX_OPS:
                raise TapeTooLarge(f"more than {MAX_OPS} operations")
            self.seen[word] = len(self.code)
            self.code.append(word)
        return self.seen[word]

    def number(self, value: Fraction) -> int:
        try:
            near = float(value)
        except OverflowError:
            raise TapeTooLarge("a constant beyond the range of floating point") from None
        if value and abs(near) < 1e-300:
            raise TapeTooLarge("a constant below the range of floating point")
        at = self.constant(near, 0.0 if Fraction(near) == value else abs(near) * 2.0**-53)
        self.exact[at] = value
        return at

    def constant(self, value: float, bound: float) -> int:
        for k in range(0, len(self.consts), 2):
            if self.consts[k] == value and self.consts[k + 1] == bound:
                return self.emit("num", k // 2)
        self.consts += [value, bound]
        return self.emit("num", len(self.consts) // 2 - 1)

    def variable(self, name: str) -> int:
        if name not in self.slots:
            if len(self.slots) >= MAX_VARIABLES:
                raise TapeTooLarge(f"more than {MAX_VARIABLES} variables")
            self.slots[name] = len(self.slots)
        return self.emit("sym", self.slots[name])


def build_tape(root: Expr) -> Tape:
    """Lower an expression.

    Errors:
        TapeTooLarge: beyond the limits named at the top of this module.

    >>> from prism.expr import symbol
    >>> x = symbol("x")
    >>> build_tape(Expr("mul", (Expr("add", (x, x)), Expr("add", (x, x))))).n_op  # x, x + x, its square
    3
    """
    builder = _Builder()
    code = _reachable(builder.code, _lower(builder, root))
    dep: list[int] = []
    for opcode, a, b in code:
        dep.append(_dependence(opcode, a, b, dep))
    trig = [node.args[0] for node in walk(root) if node.op in _TRIG]
    return Tape(
        code=np.array(code, dtype=np.int64).reshape(-1),
        consts=np.array(builder.consts, dtype=np.float64),
        dep=np.array(dep, dtype=np.int64),
        names=tuple(builder.slots),
        atoms=dict(builder.atoms),
        angles=frozenset(name for arg in trig for name in _angles(arg)) & set(builder.slots),
        has_inverse=any(node.op in _INVERSE for node in walk(root)),
    )


_BINARY = frozenset(OPS[name].opcode for name in ("add", "sub", "mul", "div", "pow"))


_LEAVES = frozenset(OPS[name].opcode for name in ("num", "sym"))


def _reachable(code: list[tuple[int, int, int]], top: int) -> list[tuple[int, int, int]]:
    """Only what the root needs, in the same order, so that the root comes last: folding leaves litter behind."""
    needed = {top}
    for k in range(top, -1, -1):
        opcode, a, b = code[k]
        if k in needed and opcode not in _LEAVES:
            needed.update((a, b) if opcode in _BINARY else (a,))
    place = {k: position for position, k in enumerate(sorted(needed))}
    kept = []
    for k in sorted(needed):
        opcode, a, b = code[k]
        if opcode not in _LEAVES:
            a, b = place[a], place[b] if opcode in _BINARY else b
        kept.append((opcode, a, b))
    return kept


def _dependence(opcode: int, a: int, b: int, dep: list[int]) -> int:
    if opcode == OPS["num"].opcode:
        return 0
    if opcode == OPS["sym"].opcode:
        return 1 << a
    return dep[a] | dep[b] if opcode in _BINARY else dep[a]


def _lower(builder: _Builder, node: Expr) -> int:
    """Index of the instruction that computes this node. Recursion is bounded by the parser's depth limit."""
    if node.op == "num":
        assert node.value is not None
        return builder.number(node.value)
    if node.op == "const":
        value = math.e if node.name == "e" else math.pi
        return builder.constant(value, value * 2.0**-53)
    if node.op == "sym":
        return builder.variable(node.name)
    if node.op == "unit":
        return builder.variable(rf"\unit{{{node.name}}}")
    if node.op == "derivative" and node.name == "1":
        return _lower(builder, Expr("div", tuple(Expr("differential", (arg,)) for arg in node.args)))
    if OPS[node.op].opcode is None or (node.op == "abs" and _is_vector(node)):
        return _atom(builder, node)
    if node.op in ("pow", "root"):
        return _lower_power(builder, node)
    args = [_lower(builder, arg) for arg in node.args]
    at = args[0]
    if len(args) == 1:
        return _combine(builder, node.op, at, None)
    for arg in args[1:]:
        at = _combine(builder, node.op, at, arg)
    return at


def _combine(builder: _Builder, op: str, a: int, b: int | None) -> int:
    folded = _fold(builder, op, a, b)
    return builder.emit(op, a, b or 0) if folded is None else folded


def _fold(builder: _Builder, op: str, a: int, b: int | None) -> int | None:
    """Exact arithmetic on two constants, where it stays small; None where it does not apply."""
    x = builder.exact.get(a)
    y = builder.exact.get(b) if b is not None else None
    if x is None or (b is not None and y is None):
        return None
    if op == "neg":
        return builder.number(-x)
    if y is None:
        return None
    if op in ("add", "sub", "mul"):
        value = x + y if op == "add" else x - y if op == "sub" else x * y
    elif op == "div" and y:
        value = x / y
    else:
        return None
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_FOLD_BITS:
        return None
    return builder.number(value)


def _lower_power(builder: _Builder, node: Expr) -> int:
    """x^n with an immediate integer, a root, or a real power: in this order of preference."""
    base = _lower(builder, node.args[0])
    exponent = _lower(builder, node.args[1])
    value = builder.exact.get(exponent)
    if node.op == "root":
        if value is None or value.denominator != 1 or not 1 <= value <= MAX_IMMEDIATE:
            return builder.emit("pow", base, _combine(builder, "div", builder.number(Fraction(1)), exponent))
        return builder.emit("sqrt", base) if value == 2 else builder.emit("root", base, int(value))
    if value == Fraction(1, 2):
        return builder.emit("sqrt", base)
    if value is not None and value.denominator == 1 and abs(value) <= MAX_IMMEDIATE:
        exact = builder.exact.get(base)
        if exact is not None and (exact or value > 0):
            power = exact ** int(value)
            if max(power.numerator.bit_length(), power.denominator.bit_length()) <= _MAX_FOLD_BITS:
                return builder.number(power)
        return builder.emit("ipow", base, int(value))
    return builder.emit("pow", base, exponent)


def _atom(builder: _Builder, node: Expr) -> int:
    """A construct that is not evaluated, as one variable.

    `v(0)` and `x(T)` are values with a name of their own (semantics Z.10), so they are no doubt and not listed
    among the atoms; everything else is, and atoms that differ leave a pair undecided.
    """
    name = canonical(node)
    plain = node.op == "apply" and all(not arg.args for arg in node.args)
    if not plain:
        builder.atoms[name] = node.op
    return builder.variable(name)


def _is_vector(node: Expr) -> bool:
    """True if a vector occurs below: its length is not the absolute value of a number."""
    return any(inner.op == "sym" and inner.name.startswith(r"\vec") for inner in walk(node))


def _angles(arg: Expr) -> frozenset[str]:
    """Symbols that stand in this argument of a sine alone or with a rational factor: `2θ`, `(A + δ)/2`, not `ωt`."""
    if arg.op == "sym":
        return frozenset((arg.name,))
    if arg.op in ("add", "sub", "neg"):
        return frozenset(name for inner in arg.args for name in _angles(inner))
    if arg.op in ("mul", "div"):
        rest = [inner for inner in arg.args if inner.op != "num"]
        divided = arg.op == "mul" or arg.args[1].op == "num"
        return _angles(rest[0]) if len(rest) == 1 and divided else frozenset()
    return frozenset()
