r"""Flat bytecode: what the kernels run, and the builder that writes it.

A tape is a hash-consed list of three-word instructions (opcode, a, b) in evaluation order: one instruction for each
distinct sub-expression. Exact numbers are folded as fractions before they become floats. What a construct of a
formula becomes on the tape stands in `lowering`.

Refused: one compiled function per formula (89 ms a formula with numba, against 15 µs for a tape).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from prism.algebra.expr import OPS

MAX_OPS = 6000  # a formula longer than this is not physics; it is an attack on the budget
MAX_VARIABLES = 62  # dependency masks are signed 64-bit words
MAX_IMMEDIATE = 64  # exponents above this are evaluated as real powers
CHOICE = 1  # immediate of a step that is written: a case, a sign, the larger of two
MAX_FOLD_BITS = 2048  # exact constants longer than this are left to floating point

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Word = tuple[int, int, int]  # opcode, a, b


class TapeTooLarge(Exception):
    """A formula beyond the limits above; `equivalence` turns it into an undecided verdict."""


@dataclass(frozen=True, slots=True, eq=False)
class Tape:
    """One formula as bytecode.

    Attributes:
        code: int64[n_op * 3], instruction k at 3k: opcode, a, b. For `num` a is an index into consts, for `sym`
            a variable slot, for `ipow` and `root` b is an immediate integer.
        consts: float64[n_const * 3]: value, error bound, and uncertainty of constant k at 3k. The uncertainty is
            that of a measured decimal, else 0 (semantics N.1).
        dep: int64[n_op], bit v is set if the instruction depends on variable v.
        names: variables in slot order.
        roots: instructions that are zero where the formula holds: one, the last, or one for each component.
        atoms: those names that stand for constructs that are not evaluated, with the construct.
        kinds: how those names are drawn that the formula itself settles: `angle` for what stands alone, or with a
            rational factor, inside a sine, cosine or tangent; `integer` for a bound of a sum; `real` for components.
        has_inverse: an inverse trigonometric function occurs.
        is_estimate: a quadrature or an infinite sum occurs: it may have a pole that the formula has not.
        is_measured: a decimal occurs that is known to its last digit only.
        chooses: a case, a sign, the larger of two or a whole part occurs.
    """

    code: Ints
    consts: Floats
    dep: Ints
    names: tuple[str, ...]
    roots: tuple[int, ...]
    atoms: Mapping[str, str]
    kinds: Mapping[str, str]
    has_inverse: bool
    is_estimate: bool
    is_measured: bool
    chooses: bool

    @property
    def n_op(self) -> int:
        """Number of instructions."""
        return len(self.dep)


@dataclass(slots=True)
class Builder:
    """The tape under construction."""

    code: list[Word] = field(default_factory=list)
    seen: dict[Word, int] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    consts: dict[tuple[float, float, float], int] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    atoms: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    exact: dict[int, Fraction] = field(default_factory=dict)
    is_estimate: bool = False

    def emit(self, name: str, a: int, b: int = 0) -> int:
        """Index of an instruction, written once."""
        opcode = OPS[name].opcode
        assert opcode is not None
        return self.write((opcode, a, b))

    def write(self, word: Word) -> int:
        """As `emit`, by its opcode."""
        at = self.seen.get(word)
        if at is None:
            at = len(self.code)
            if at >= MAX_OPS:
                raise TapeTooLarge(f"more than {MAX_OPS} operations")
            self.seen[word] = at
            self.code.append(word)
        self.asked.append(at)
        return at

    def built_on(self, place: int, since: int) -> list[tuple[int, Word]] | None:
        """The instructions asked for since then that depend on this one, in order; None if it was asked for itself."""
        found: dict[int, Word] = {place: self.code[place]}
        for at in dict.fromkeys(self.asked[since:]):
            word = opcode, a, b = self.code[at]
            if at == place:
                return None
            if opcode not in _LEAVES and (a in found or (b in found and opcode in _BINARY)):
                found[at] = word
        return list(found.items())[1:]

    def write_again(self, built: list[tuple[int, Word]], place: int, other: int) -> dict[int, int]:
        """The same instructions upon another one, which is worked out while the tape runs as the first one is.

        What folds for the one folds for the other, so this is the tape that lowering once more would write.
        """
        moved = {place: other}
        for at, (opcode, a, b) in built:
            moved[at] = self.write((opcode, moved.get(a, a), moved.get(b, b) if opcode in _BINARY else b))
        return moved

    def is_open(self, at: int) -> bool:
        """Whether nothing folds for this instruction: it is no exact number and no opposite."""
        return at not in self.exact and self.code[at][0] != _NEG

    def number(self, value: Fraction | int, uncertainty: float = 0.0) -> int:
        """An exact number, or a decimal that is known to a relative uncertainty only."""
        above, below = value.as_integer_ratio()
        try:
            near = above / below
        except OverflowError:
            raise TapeTooLarge("a constant beyond the range of floating point") from None
        if above and abs(near) < 1e-300:
            raise TapeTooLarge("a constant below the range of floating point")
        bound = 0.0 if near.as_integer_ratio() == (above, below) else abs(near) * 2.0**-53
        at = self.constant(near, bound, uncertainty)
        if not uncertainty:
            self.exact[at] = Fraction(value) if isinstance(value, int) else value
        return at

    def constant(self, value: float, bound: float, uncertainty: float = 0.0) -> int:
        """A number in floating point, with a bound on its error."""
        return self.emit("num", self.consts.setdefault((value, bound, uncertainty), len(self.consts)))

    def variable(self, name: str) -> int:
        """The value of a variable."""
        if name not in self.slots:
            if len(self.slots) >= MAX_VARIABLES:
                raise TapeTooLarge(f"more than {MAX_VARIABLES} variables")
            self.slots[name] = len(self.slots)
        return self.emit("sym", self.slots[name])

    def combine(self, op: str, a: int, b: int | None = None) -> int:
        """An instruction, worked out where both operands are exact numbers or one is neutral."""
        if op in _EVEN and self.code[a][0] == _NEG:
            a = self.code[a][1]
        if op in _ODD and self.code[a][0] == _NEG:
            return self.combine("neg", self.combine(op, self.code[a][1]))
        x = self.exact.get(a)
        y = self.exact.get(b) if b is not None else None
        if op == "neg" and self.code[a][0] == _NEG:
            return self.code[a][1]
        if x is not None and (b is None or y is not None):
            folded = _folded(op, x, y)
            if folded is not None:
                return self.number(folded)
        if b is not None and (neutral := _neutral(op, a, b, x, y)) is not None:
            return self.number(0) if neutral < 0 else neutral
        return self.emit(op, a, b or 0)


_EVEN = frozenset(("cos", "cosh", "abs"))
_ODD = frozenset(("sin", "tan", "sinh", "tanh", "asin", "atan", "asinh", "atanh"))
_NEG = OPS["neg"].opcode


def _folded(op: str, x: Fraction, y: Fraction | None) -> Fraction | None:
    """Exact arithmetic on two constants, where it stays small; None where it does not apply."""
    if y is None:
        return -x if op == "neg" else abs(x) if op == "abs" else Fraction(x // 1) if op == "floor" else None
    if op in ("add", "sub", "mul"):
        value = x + y if op == "add" else x - y if op == "sub" else x * y
    elif op == "div" and y:
        value = x / y
    else:
        return None
    return value if max(value.numerator.bit_length(), value.denominator.bit_length()) <= MAX_FOLD_BITS else None


def _neutral(op: str, a: int, b: int, x: Fraction | None, y: Fraction | None) -> int | None:
    """The operand that is the result (`0 + b`, `a * 1`), -1 for zero (`0 * b`); None if neither."""
    if op == "add":
        return b if x == 0 else a if y == 0 else None
    if op == "sub":
        return a if y == 0 else None
    if op == "mul":
        return -1 if 0 in (x, y) else b if x == 1 else a if y == 1 else None
    return a if op == "div" and y == 1 else None


def finished(builder: Builder, roots: Sequence[int], *, has_inverse: bool) -> Tape:
    """The tape of what was built, without what its roots do not need; a single root comes last."""
    code, places, names = _reachable(builder, roots)
    dep: list[int] = []
    for opcode, a, b in code:
        dep.append(_dependence(opcode, a, b, dep))
    consts = [part for constant in builder.consts for part in constant]
    return Tape(
        code=np.array(code, dtype=np.int64).reshape(-1),
        consts=np.array(consts, dtype=np.float64),
        dep=np.array(dep, dtype=np.int64),
        names=names,
        roots=places,
        atoms={name: construct for name, construct in builder.atoms.items() if name in names},
        kinds={name: kind for name, kind in builder.kinds.items() if name in names},
        has_inverse=has_inverse,
        is_estimate=builder.is_estimate,
        is_measured=any(unsure for _, _, unsure in builder.consts),
        chooses=any(opcode == _FLOOR or (opcode == _STEP and b == CHOICE) for opcode, _, b in code),
    )


_BINARY = frozenset(OPS[name].opcode for name in ("add", "sub", "mul", "div", "pow", "atan2", "widen"))
_LEAVES = frozenset(OPS[name].opcode for name in ("num", "sym"))
_SYM, _FLOOR, _STEP = (OPS[name].opcode for name in ("sym", "floor", "step"))


def _reachable(builder: Builder, roots: Sequence[int]) -> tuple[list[Word], tuple[int, ...], tuple[str, ...]]:
    """Only what the roots need, in the same order; their new places; the variables that are left.

    Folding leaves litter behind, and so does an attempt at a construct that has no value.
    """
    code = builder.code
    needed = set(roots)
    for k in range(max(roots), -1, -1):
        opcode, a, b = code[k]
        if k in needed and opcode not in _LEAVES:
            needed.update((a, b) if opcode in _BINARY else (a,))
    order = sorted(needed)
    place = {k: position for position, k in enumerate(order)}
    used = {code[k][1] for k in order if code[k][0] == _SYM}
    slots = [slot for slot in range(len(builder.slots)) if slot in used]
    names = tuple(builder.slots)
    kept = []
    for k in order:
        opcode, a, b = code[k]
        if opcode == _SYM:
            a = slots.index(a)
        elif opcode not in _LEAVES:
            a, b = place[a], place[b] if opcode in _BINARY else b
        kept.append((opcode, a, b))
    return kept, tuple(place[k] for k in roots), tuple(names[slot] for slot in slots)


def _dependence(opcode: int, a: int, b: int, dep: list[int]) -> int:
    if opcode == OPS["num"].opcode:
        return 0
    if opcode == OPS["sym"].opcode:
        return 1 << a
    return dep[a] | dep[b] if opcode in _BINARY else dep[a]
