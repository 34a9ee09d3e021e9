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
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from prism import budget
from prism.algebra.operators import OPS

MAX_OPS = 6000  # instructions; a longer formula is no physics but an attack on the budget
MAX_STEPS = 40_000  # nodes lowered and instructions requested for one formula; nested integrals request them again
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
            rational factor, inside a sine, cosine or tangent; `integer` for a whole exponent; `real` for components.
        has_inverse: an inverse trigonometric function occurs.
        is_estimate: a quadrature occurs: it may have a pole that the formula has not.
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

    def __hash__(self) -> int:
        """Return the hash of the digest."""
        return hash(self.digest)

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
        lowered: the result of each integral (or the exception that it has none), by expression and
            bindings, with the part of `requested` that it took.
        steps: nodes lowered and instructions requested.
        consts, slots: index of each constant and of each variable by name. atoms, kinds, is_estimate: see `Tape`.
        exact: value of each instruction that is an exact number, by position; a whole one as an integer.
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
    exact: dict[int, Fraction | int] = field(default_factory=dict)
    is_estimate: bool = False

    def write_instruction(self, name: str, first: int, second: int = 0) -> int:
        """Append the instruction `name` (key of `OPS`), unless the same one is on the tape; return its position.

        Args:
            first, second: positions of the operands. For `num` and `sym` the first is the index of the constant or the
                variable; the second is an integer for `ipow`, `root`, `step`, and 0 where there is none.
        """
        return self.write_word((_OPCODES[name], first, second))

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
        self.steps = steps = self.steps + 1
        if not steps % _BLOCK:
            self._charge_block()
        return at

    def count_step(self) -> None:
        """Count and charge a node lowered or an instruction requested; raise TapeTooLarge beyond MAX_STEPS."""
        self.steps += 1
        if not self.steps % _BLOCK:
            self._charge_block()

    def _charge_block(self) -> None:
        """Charge the steps since the last charge; raise TapeTooLarge beyond MAX_STEPS."""
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
        if below == 1 and -_EXACT_FLOATS < above < _EXACT_FLOATS:
            at = self.constant(float(above), 0.0, uncertainty)
        else:
            at = self._fraction(above, below, uncertainty)
        if not uncertainty:
            self.exact[at] = above if below == 1 else value
        return at

    def _fraction(self, above: int, below: int, uncertainty: float) -> int:
        """Write the quotient of two integers without a common factor, as `number` does."""
        try:
            near = above / below
        except OverflowError:
            raise TapeTooLarge("a constant beyond the range of floating point") from None
        if above and abs(near) < 1e-300:
            raise TapeTooLarge("a constant below the range of floating point")
        bound = 0.0 if near.as_integer_ratio() == (above, below) else abs(near) * 2.0**-53
        return self.constant(near, bound, uncertainty)

    def constant(self, value: float, bound: float, uncertainty: float = 0.0) -> int:
        """Write a float, its absolute error bound and its relative uncertainty (0: none); return its position."""
        return self.write_word((_NUM, self.consts.setdefault((value, bound, uncertainty), len(self.consts)), 0))

    def variable(self, name: str) -> int:
        """Write the variable `name` and return its position; raise TapeTooLarge beyond MAX_VARIABLES variables."""
        slot = self.slots.get(name)
        if slot is None:
            slot = len(self.slots)
            if slot >= MAX_VARIABLES:
                raise TapeTooLarge(f"more than {MAX_VARIABLES} variables")
            self.slots[name] = slot
        return self.write_word((_SYM, slot, 0))

    def combine(self, op: str, a: int, b: int | None = None) -> int:
        """Write operator `op` on instructions a and b (None: one operand), simplified; return the result's position.

        Exact numbers are folded, neutral operands dropped (`x + 0`, `1 x`), minus signs taken out (`cos(-x)`, `-(-x)`).
        """
        if b is None and self.code[a][0] == _NEG:
            if op in _EVEN:
                a = self.code[a][1]
            elif op in _ODD:
                return self.combine("neg", self.combine(op, self.code[a][1]))
            elif op == "neg":
                return self.code[a][1]
        x = self.exact.get(a)
        y = self.exact.get(b) if b is not None else None
        if x is not None or y is not None:
            if x is not None and (b is None or y is not None):
                folded = _fold_exact(op, x, y)
                if folded is not None:
                    return self.number(folded)
            if b is not None:
                neutral = _neutral_result(op, a, b, x, y)
                if neutral is not None:
                    return self.number(0) if neutral < 0 else neutral
        return self.write_word((_OPCODES[op], a, b or 0))


_BLOCK = 16  # steps that are charged at once
_EXACT_FLOATS = 2**53  # smaller integers are floats without rounding
_EVEN = frozenset(("cos", "cosh", "abs"))
_ODD = frozenset(("sin", "tan", "sinh", "tanh", "asin", "atan", "asinh", "atanh"))
_OPCODES = {name: row.opcode for name, row in OPS.items() if row.opcode is not None}
_NEG = _OPCODES["neg"]


def _fold_exact(op: str, x: Fraction | int, y: Fraction | int | None) -> Fraction | int | None:
    """Return `x op y` (y None: one operand) for exact numbers; None where the result is too long or not rational."""
    if y is None:
        if op == "floor":
            return x // 1
        return -x if op == "neg" or (op == "abs" and x < 0) else x if op == "abs" else None
    value: Fraction | int
    if op in ("add", "sub", "mul"):
        value = x + y if op == "add" else x - y if op == "sub" else x * y
    elif op == "div" and y:
        value = Fraction(x, y)
    else:
        return None
    return value if max(value.numerator.bit_length(), value.denominator.bit_length()) <= MAX_FOLD_BITS else None


def _neutral_result(op: str, a: int, b: int, x: Fraction | int | None, y: Fraction | int | None) -> int | None:
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
    words: Sequence[Word] = builder.code
    needed, used = _needed_instructions(words, roots)
    if len(needed) < len(words) or 0 in needed or len(used) < len(builder.slots):
        words, roots = _renumbered(words, needed, used, roots)
    names = tuple([name for name, slot in builder.slots.items() if slot in used])
    dep: list[int] = []
    chooses = False
    for opcode, a, b in words:
        if opcode in _BINARY:
            dep.append(dep[a] | dep[b])
        elif opcode == _SYM:
            dep.append(1 << a)
        elif opcode == _NUM:
            dep.append(0)
        else:
            dep.append(dep[a])
            chooses = chooses or opcode == _FLOOR or (opcode == _STEP and b == CHOICE)
    return Tape(
        code=np.array(list(chain.from_iterable(words)), dtype=np.int64),
        consts=np.array([part for constant in builder.consts for part in constant], dtype=np.float64),
        dep=np.array(dep, dtype=np.int64),
        names=names,
        roots=tuple(roots),
        atoms={name: construct for name, construct in builder.atoms.items() if name in names},
        kinds={name: kind for name, kind in builder.kinds.items() if name in names},
        has_inverse=has_inverse,
        is_estimate=builder.is_estimate,
        is_measured=any(unsure for _, _, unsure in builder.consts),
        chooses=chooses,
    )


_BINARY = frozenset(_OPCODES[name] for name in ("add", "sub", "mul", "div", "pow", "atan2", "widen"))
_NUM, _SYM, _FLOOR, _STEP = (_OPCODES[name] for name in ("num", "sym", "floor", "step"))
_LEAVES = frozenset((_NUM, _SYM))


def _needed_instructions(code: Sequence[Word], roots: Sequence[int]) -> tuple[bytearray, set[int]]:
    """Return for each instruction up to the last root whether the roots need it, and the slots of variables in use.

    Folding leaves unused instructions behind, and so does a construct that turns out to have no value.
    """
    needed = bytearray(max(roots) + 1)
    used: set[int] = set()
    for k in roots:
        needed[k] = True
    for k in range(max(roots), -1, -1):
        if needed[k]:
            opcode, a, b = code[k]
            if opcode == _SYM:
                used.add(a)
            elif opcode != _NUM:
                needed[a] = True
                if opcode in _BINARY:
                    needed[b] = True
    return needed, used


def _renumbered(
    words: Sequence[Word], needed: Sequence[int], used: set[int], roots: Sequence[int]
) -> tuple[list[Word], list[int]]:
    """Return the instructions that are needed, with operands and variables numbered anew, and the roots among them."""
    slots = {slot: position for position, slot in enumerate(sorted(used))}
    place = [0] * len(needed)
    kept: list[Word] = []
    for k, is_needed in enumerate(needed):
        if is_needed:
            opcode, a, b = words[k]
            place[k] = len(kept)
            if opcode != _NUM:
                a = slots[a] if opcode == _SYM else place[a]
            kept.append((opcode, a, place[b] if opcode in _BINARY else b))
    return kept, [place[k] for k in roots]


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
