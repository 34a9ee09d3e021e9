"""The result of comparing two formulas: status, stage, reason and witness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

from prism.algebra.symbols import symbol_of


class Status(StrEnum):
    """Outcome of a comparison; printed and saved as plain text."""

    EQUIVALENT = "equivalent"
    DIFFERENT = "different"
    UNDECIDED = "undecided"

    __repr__ = str.__repr__


class Stage(IntEnum):
    """What kind of substitution two formulas needed to match, from none (PLAIN) to decimals; saved as an integer."""

    PLAIN = 0
    NOTATION = 1
    CONSTANTS = 2
    DEFINITIONS = 3
    LITERALS = 4
    RENAMING = 5
    GIVENS = 6
    APPROXIMATE = 7

    __repr__ = int.__repr__


STAGES = (
    "as they stand", "notation", "constants", "definitions", "literals lifted", "renaming", "givens put in", "decimals",
)  # fmt: skip
"""Each `Stage` in words, as reports print it."""

REASONS = {
    "same_form": "the same by commutation, exact arithmetic and laws of powers",
    "same_zero_set": "each holds exactly where the other does",
    "same_value": "the expressions have the same value everywhere",
    "same_number": "the stated number is the reference's, within its tolerance",
    "same_option": "the answer in words is the option that the reference states",
    "other_option": "the answer in words is another option",
    "no_option": "no answer in words settles on one of the options",
    "other_number": "the stated number is not the one asked for",
    "unstated": "the reference is a number, and the formula does not state that number",
    "dimension": "its units do not fit",
    "opaque_atoms": "as `same_zero_set`, with constructs that are not evaluated taken as unknowns",
    "witness": "a point that satisfies one does not satisfy the other",
    "live_variables": "they depend on different variables",
    "other_letters": "one needs a letter that the other has nowhere",
    "condition": "a condition that the problem does not make, or a contradiction, stands beside it",
    "identity": "one is true or false whatever the variables are, so it says nothing about them",
    "kind": "they are of different kinds, as an inequality and an equation",
    "no_relation": "an expression alone states nothing; write what it is equal to, or box it as the answer",
    "other_factor": "a factor of one product is zero where the other formula is not",
    "ratio": "their ratio is not constant",
    "exact": "they differ by little, in exact arithmetic or without rounding",
    "opposite_side": "the same boundary, but the other side of it",
    "parse_error": "one of them cannot be read",
    "unsupported": "a construct that is not evaluated stands on one side only",
    "too_few_points": "not enough points on the zero set could be found",
    "below_rounding": "a variable's effect is below rounding error everywhere",
    "borderline": "too close to the threshold to call",
    "imprecise": "the written decimals leave too much open",
    "too_large": "beyond the limits on size",
    "no_answer": "the solution gives no final answer",
    "taken_back": "the solution says it, and does not stand by it",
}
"""Every reason a verdict can have, in words. Closed: `Verdict` refuses any other."""

RANK = {Status.EQUIVALENT: 0, Status.UNDECIDED: 1, Status.DIFFERENT: 2}
"""Order of statuses, best first: of alternative claims the best counts, of required parts the worst."""


class Witness:
    """A point that shows two formulas to be different.

    Attributes:
        point: (name, value) pairs, sorted by name, of a point that satisfies one of the formulas.
        satisfies: which one: `a` (the reference) or `b` (the claim).
        left, right: values of the other formula's two sides there; None where they are undefined.
    """

    __slots__ = ("_find", "_found")

    def __init__(
        self, point: tuple[tuple[str, float], ...], satisfies: str, left: float | None, right: float | None
    ) -> None:
        """Create a witness of known values."""
        self._find: Callable[[], Witness] | None = None
        self._found = point, satisfies, left, right

    @classmethod
    def pending(cls, find: Callable[[], Witness]) -> Witness:
        """Return a witness that `find` works out when it is first looked at, as few are."""
        witness = cls((), "", None, None)
        witness._find = find
        return witness

    def _values(self) -> tuple[tuple[tuple[str, float], ...], str, float | None, float | None]:
        """Return point, satisfies, left and right."""
        if self._find is not None:
            self._found = self._find()._found
            self._find = None
        return self._found

    @property
    def point(self) -> tuple[tuple[str, float], ...]:
        """Return the point."""
        return self._values()[0]

    @property
    def satisfies(self) -> str:
        """Return the letter of the formula that the point satisfies."""
        return self._values()[1]

    @property
    def left(self) -> float | None:
        """Return the value of the left side of the other formula; None where no point tells the two apart."""
        return self._values()[2]

    @property
    def right(self) -> float | None:
        """Return the value of the right side of the other formula; None where no point tells the two apart."""
        return self._values()[3]

    def __eq__(self, other: object) -> bool:
        """Return True for a witness with the same values."""
        return self is other or (isinstance(other, Witness) and self._values() == other._values())

    def __hash__(self) -> int:
        """Return a hash of the values."""
        return hash(self._values())

    def __repr__(self) -> str:
        """Return the call that makes the same witness."""
        return f"Witness{self._values()}"

    def __reduce__(self) -> tuple[type[Witness], tuple[Any, ...]]:
        """Pickle the witness by its values."""
        return Witness, self._values()

    @property
    def has_only_quantities(self) -> bool:
        """True for a point of quantities alone; one that gives sizes to units too says nothing to a reader."""
        return not any(symbol_of(name).is_unit for name, _ in self.point)

    def __str__(self) -> str:
        """Describe the point in a sentence; empty if it is not one to tell."""
        if not self.has_only_quantities:
            return ""
        place = ", ".join(f"{name} = {_format_value(value)}" for name, value in self.point)
        satisfied, violated = ("reference", "claim") if self.satisfies == "a" else ("claim", "reference")
        left, right = _format_value(self.left), _format_value(self.right)
        return f"{place} satisfies the {satisfied}; the {violated} has {left} on its left and {right} on its right"

    def to_dict(self) -> dict[str, Any]:
        """Return the witness as JSON values, its numbers as text with six significant digits."""
        return {
            "point": {name: _format_value(value) for name, value in self.point},
            "satisfies": self.satisfies,
            "left": _format_value(self.left),
            "right": _format_value(self.right),
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on two formulas, with its reason and evidence.

    Attributes:
        status: equivalent, different or undecided.
        reason: a key of `REASONS`.
        proof: `proved` or `tested` if equivalent, else None.
        domain: numbers that were sampled: `positive`, `real` if a symbol may be negative, or `complex`.
        readings: everything substituted or assumed, in order, each with its kind: `notation: ...`, `constant: ...`,
            `definition: ... (problem)`, `(claim)` or `(solution)`, `literal: ...`, `name: ...`, `given: ...`,
            `unit: ...`.
        approximate: decided within the precision of written decimals.
        witness: a point at which the formulas differ, where one is known; told only if it is one of quantities alone.
        cost: kernel operations spent.
        detail: text for a person: the construct that is not evaluated, the syntax error.
        stage: the highest stage of substitution used.
    """

    status: Status
    reason: str
    proof: str | None = None
    domain: str = "positive"
    readings: tuple[str, ...] = ()
    approximate: bool = False
    witness: Witness | None = None
    cost: int = 0
    detail: str = ""
    stage: Stage = Stage.PLAIN

    def __post_init__(self) -> None:
        """Raise ValueError if the reason is none of `REASONS`."""
        if self.reason not in REASONS:
            raise ValueError(f"{self.reason!r} is not a reason; reasons are {', '.join(REASONS)}")

    def __bool__(self) -> bool:
        """Return True if the formulas are equivalent, so that `if prism.equivalent(a, b):` means what it says."""
        return self.status == Status.EQUIVALENT

    def _repr_html_(self) -> str:
        """Return status, reason and evidence as a notebook shows them."""
        from prism.bridges.notebook import table_html, text_html

        shown = (
            ("reason", REASONS[self.reason]), ("proof", self.proof or ""), ("used", "; ".join(self.readings)),
            ("witness", str(self.witness or "")), ("detail", self.detail),
        )  # fmt: skip
        return table_html(self.status, (), [(text_html(name), text_html(text)) for name, text in shown if text])

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON values."""
        return {
            "status": self.status.value, "reason": self.reason, "proof": self.proof, "domain": self.domain,
            "readings": list(self.readings), "approximate": self.approximate,
            "witness": self.witness.to_dict() if self.witness and self.witness.has_only_quantities else None,
            "cost": self.cost, "detail": self.detail, "stage": self.stage.value,
        }  # fmt: skip


OTHER_KIND = Verdict(Status.DIFFERENT, "kind")


def _format_value(value: float | None) -> str:
    """Return a number with six significant digits; `undefined` for None."""
    return "undefined" if value is None else f"{value:.6g}"
