r"""Flat bytecode: what the kernels run, and the builder that writes it.

A tape is a hash-consed list of three-word instructions (opcode, a, b) in evaluation order: one instruction for each
distinct sub-expression. Exact numbers are folded as fractions before they become floats. What a construct of a
formula becomes on the tape is defined in `lowering`.

Refused: one compiled function per formula (89 ms a formula with numba, against 15 µs for a tape).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from prism import budget
from prism.algebra.operators import OPS

MAX_OPS = 6000  # instructions; a longer formula is no physics but an attack on the budget
MAX_STEPS = 40_000  # nodes lowered and instructions requested for one formula; sums in sums request the same ones again
MAX_VARIABLES = 62  # dependency masks are signed 64-bit words
MAX_IMMEDIATE = 64  # exponents above this are evaluated as real powers
CHOICE = 1  # immediate of a step that the formula writes: a case, a sign, the larger of two
MAX_FOLD_BITS = 2048  # exact constants longer than this are left to floating point

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Word = tuple[int, int, int]  # opcode, a, b


class TapeTooLarge(Exception):
    """Raised for a formula beyond MAX_OPS, MAX_STEPS, MAX_VARIABLES or the range of floats: it stays undecided."""


@dataclass(frozen=True, slots=True)
class Tape:
    """One formula as bytecode: a list of instructions that the kernels evaluate at a point.

    Attributes:
        code: int64[n_op * 3], instruction k at 3k: opcode, a, b. a, b are the positions of the operands; but for `num`
            a is an index into consts, for `sym` a variable slot, for `ipow` and `root` b is an immediate integer.
        consts: float64[n_const * 3]: value, error bound, and uncertainty of constant k at 3k. The uncertainty is
            that of a measured decimal, else 0 (semantics N.1).
        dep: int64[n_op], bit v is set if the instruction depends on variable v.
        names: variables in slot order.
        roots: instructions that are zero where the formula holds: one, the last, or one for each component.
        atoms: names of variables that replace constructs that are not evaluated, with the construct.
        kinds: how variables are drawn where the formula itself decides it: `angle` for a symbol alone, or with a
            rational factor, inside a sine, cosine or tangent; `integer` for a bound of a sum; `real` for components.
        has_inverse: an inverse trigonometric function occurs.
        is_estimate: a quadrature or an infinite sum occurs: it may have a pole that the formula has not.
        is_measured: a decimal occurs that is known to its last digit only.
        chooses: a case, a sign, the larger of two or a whole part occurs.
        digest: of all that; tapes are compared by it.
    """

    code: Ints = field(compare=False)
    consts: Floats = field(compare=False)
    dep: Ints = field(compare=False)
    names: tuple[str, ...] = field(compare=False)
    roots: tuple[int, ...] = field(compare=False)
    atoms: Mapping[str, str] = field(compare=False)
    kinds: Mapping[str, str] = field(compare=False)
    has_inverse: bool = field(compare=False)
    is_estimate: bool = field(compare=False)
    is_measured: bool = field(compare=False)
    chooses: bool = field(compare=False)
    digest: bytes = field(init=False)

    def __post_init__(self) -> None:
        """Compute the digest."""
        flags = self.has_inverse, self.is_estimate, self.is_measured, self.chooses
        rest = repr((self.names, self.roots, sorted(self.atoms.items()), sorted(self.kinds.items()), flags))
        digest = blake2b(self.code.tobytes() + self.consts.tobytes() + rest.encode(), digest_size=16).digest()
        object.__setattr__(self, "digest", digest)

    @property
    def n_op(self) -> int:
        """Number of instructions on the tape."""
        return len(self.dep)


@dataclass(slots=True)
class Builder:
    """The tape under construction: instructions are appended, each distinct one once.

    Attributes:
        code: instructions written, each once. seen: position of each.
        requested: positions in the order in which instructions were requested, repetitions included.
        lowered: the result of each sum, product and integral (or the exception that it has none), by expression and
            bindings, with the part of `requested` that it took.
        steps: nodes lowered and instructions requested.
        consts, slots: index of each constant and of each variable by name. atoms, kinds, is_estimate: see `Tape`.
        exact: value of each instruction that is an exact number, by position.
    """

    code: list[Word] = field(default_factory=list)
    seen: dict[Word, int] = field(default_factory=dict)
    requested: list[int] = field(default_factory=list)
    lowered: dict[Hashable, tuple[Any, int, int]] = field(default_factory=dict)
    steps: int = 0
    consts: dict[tuple[float, float, float], int] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    atoms: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    exact: dict[int, Fraction] = field(default_factory=dict)
    is_estimate: bool = False

    def write_instruction(self, name: str, first: int, second: int = 0) -> int:
        """Append the instruction `name` (key of `OPS`), unless the same one is on the tape; return its position.

        Args:
            first, second: positions of the operands. For `num` and `sym` the first is the index of the constant or the
                variable; the second is an integer for `ipow`, `root`, `step`, and 0 where there is none.
        """
        opcode = OPS[name].opcode
        assert opcode is not None
        return self.write_word((opcode, first, second))

    def write_word(self, word: Word) -> int:
        """Append an instruction unless it is on the tape; return its position. TapeTooLarge beyond the limits."""
        at = self.seen.get(word)
        if at is None:
            at = len(self.code)
            if at >= MAX_OPS:
                raise TapeTooLarge(f"more than {MAX_OPS} operations")
            self.seen[word] = at
            self.code.append(word)
        self.requested.append(at)
        self.count_step()
        return at

    def count_step(self) -> None:
        """Count and charge a node lowered or an instruction requested; raise TapeTooLarge beyond MAX_STEPS."""
        self.steps += 1
        if not self.steps % _BLOCK:
            if self.steps > MAX_STEPS:
                raise TapeTooLarge(f"more than {MAX_STEPS} steps of lowering")
            budget.charge_steps(_BLOCK)

    def request_again(self, first: int, last: int) -> None:
        """Request the instructions `requested[first:last]` a second time."""
        for at in self.requested[first:last]:
            self.requested.append(at)
            self.count_step()

    def instructions_using(self, position: int, since: int) -> list[tuple[int, Word]] | None:
        """Return the instructions that depend on the one at `position`, among those requested since `requested[since]`.

        Each with its own position, in order; None if the one at `position` was requested itself.
        """
        found: dict[int, Word] = {position: self.code[position]}
        for at in dict.fromkeys(self.requested[since:]):
            word = opcode, a, b = self.code[at]
            if at == position:
                return None
            if opcode not in _LEAVES and (a in found or (b in found and opcode in _BINARY)):
                found[at] = word
        return list(found.items())[1:]

    def rewrite_instructions(self, built: list[tuple[int, Word]], position: int, replacement: int) -> dict[int, int]:
        """Write the instructions `built` with operand `position` replaced; map old positions to new ones.

        The result is the tape that lowering the expression again would write, as long as constants fold the same way.
        """
        moved = {position: replacement}
        for at, (opcode, a, b) in built:
            moved[at] = self.write_word((opcode, moved.get(a, a), moved.get(b, b) if opcode in _BINARY else b))
        return moved

    def is_unfoldable(self, position: int) -> bool:
        """True if the instruction at `position` is no exact number and no negation: `combine` would simplify those."""
        return position not in self.exact and self.code[position][0] != _NEG

    def number(self, value: Fraction | int, uncertainty: float = 0.0) -> int:
        """Write a number with its relative uncertainty (0: exact), return its position; TapeTooLarge out of range."""
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
        """Write a float, its absolute error bound and its relative uncertainty (0: none); return its position."""
        return self.write_instruction("num", self.consts.setdefault((value, bound, uncertainty), len(self.consts)))

    def variable(self, name: str) -> int:
        """Write the variable `name` and return its position; raise TapeTooLarge beyond MAX_VARIABLES variables."""
        if name not in self.slots:
            if len(self.slots) >= MAX_VARIABLES:
                raise TapeTooLarge(f"more than {MAX_VARIABLES} variables")
            self.slots[name] = len(self.slots)
        return self.write_instruction("sym", self.slots[name])

    def combine(self, op: str, a: int, b: int | None = None) -> int:
        """Write operator `op` on instructions a and b (None: one operand), simplified; return the result's position.

        Exact numbers are folded, neutral operands dropped (`x + 0`, `1 x`), minus signs taken out (`cos(-x)`, `-(-x)`).
        """
        if op in _EVEN and self.code[a][0] == _NEG:
            a = self.code[a][1]
        if op in _ODD and self.code[a][0] == _NEG:
            return self.combine("neg", self.combine(op, self.code[a][1]))
        x = self.exact.get(a)
        y = self.exact.get(b) if b is not None else None
        if op == "neg" and self.code[a][0] == _NEG:
            return self.code[a][1]
        if x is not None and (b is None or y is not None):
            folded = _fold_exact(op, x, y)
            if folded is not None:
                return self.number(folded)
        if b is not None and (neutral := _neutral_result(op, a, b, x, y)) is not None:
            return self.number(0) if neutral < 0 else neutral
        return self.write_instruction(op, a, b or 0)


_BLOCK = 16  # steps that are charged at once
_EVEN = frozenset(("cos", "cosh", "abs"))
_ODD = frozenset(("sin", "tan", "sinh", "tanh", "asin", "atan", "asinh", "atanh"))
_NEG = OPS["neg"].opcode


def _fold_exact(op: str, x: Fraction, y: Fraction | None) -> Fraction | None:
    """Return `x op y` (y None: one operand) for exact numbers; None where the result is too long or not rational."""
    if y is None:
        return -x if op == "neg" else abs(x) if op == "abs" else Fraction(x // 1) if op == "floor" else None
    if op in ("add", "sub", "mul"):
        value = x + y if op == "add" else x - y if op == "sub" else x * y
    elif op == "div" and y:
        value = x / y
    else:
        return None
    return value if max(value.numerator.bit_length(), value.denominator.bit_length()) <= MAX_FOLD_BITS else None


def _neutral_result(op: str, a: int, b: int, x: Fraction | None, y: Fraction | None) -> int | None:
    """Return a or b if `op` gives that operand (`0 + b`, `a * 1`), -1 if 0, else None; x, y: exact values or None."""
    if op == "add":
        return b if x == 0 else a if y == 0 else None
    if op == "sub":
        return a if y == 0 else None
    if op == "mul":
        return -1 if 0 in (x, y) else b if x == 1 else a if y == 1 else None
    return a if op == "div" and y == 1 else None


def finish_tape(builder: Builder, roots: Sequence[int], *, has_inverse: bool) -> Tape:
    """Return the finished tape, reduced to the instructions that `roots` (positions of the residuals) need."""
    code, places, names = _reachable_code(builder, roots)
    dep: list[int] = []
    for opcode, a, b in code:
        dep.append(_dependency_mask(opcode, a, b, dep))
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


def _reachable_code(builder: Builder, roots: Sequence[int]) -> tuple[list[Word], tuple[int, ...], tuple[str, ...]]:
    """Return the instructions that `roots` need, renumbered; the roots' new positions; the names of variables left.

    Folding leaves unused instructions behind, and so does a construct that turns out to have no value.
    """
    code = builder.code
    needed = set(roots)
    for k in range(max(roots), -1, -1):
        if k not in needed:
            continue
        opcode, a, b = code[k]
        if opcode not in _LEAVES:
            needed.update((a, b) if opcode in _BINARY else (a,))
    order = sorted(needed)
    place = {k: position for position, k in enumerate(order)}
    used = {code[k][1] for k in order if code[k][0] == _SYM}
    slots = {slot: position for position, slot in enumerate(sorted(used))}
    names = tuple(builder.slots)
    kept = []
    for k in order:
        opcode, a, b = code[k]
        if opcode == _SYM:
            a = slots[a]
        elif opcode not in _LEAVES:
            a, b = place[a], place[b] if opcode in _BINARY else b
        kept.append((opcode, a, b))
    return kept, tuple(place[k] for k in roots), tuple(names[slot] for slot in slots)


def _dependency_mask(opcode: int, a: int, b: int, dep: list[int]) -> int:
    """Return the mask of variables (bit v: variable v) that an instruction depends on; `dep`: masks by position."""
    if opcode == OPS["num"].opcode:
        return 0
    if opcode == OPS["sym"].opcode:
        return 1 << a
    return dep[a] | dep[b] if opcode in _BINARY else dep[a]


def mark_dependents(tape: Tape, dep: Sequence[int], first: int, bit: int) -> list[int]:
    """Return the masks `dep` with `bit` set for instruction `first` and for all instructions that depend on it."""
    words = tape.code.tolist()
    marked = [0] * tape.n_op
    marked[first] = bit
    for k in range(first + 1, tape.n_op):
        opcode, a, b = words[3 * k : 3 * k + 3]
        if opcode not in _LEAVES and (marked[a] or (opcode in _BINARY and marked[b])):
            marked[k] = bit
    return [int(mask) | mark for mask, mark in zip(dep, marked, strict=True)]
