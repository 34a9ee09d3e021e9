"""What a comparison of two formulas comes to: status, reason and witness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

REASONS = {
    "same_form": "the same by commutation, exact arithmetic and laws of powers",
    "same_zero_set": "each holds exactly where the other does",
    "same_value": "the expressions have the same value everywhere",
    "same_number": "the stated number is the reference's, within its tolerance",
    "same_option": "the answer in words is the option that the reference states",
    "other_option": "the answer in words is another option",
    "no_option": "no answer in words settles on one of the options",
    "other_number": "the stated number is not the one asked for",
    "unstated": "the reference is a number, and no number is stated of it",
    "dimension": "its units do not fit",
    "opaque_atoms": "as `same_zero_set`, with constructs that are not evaluated taken as unknowns",
    "witness": "a point that satisfies one does not satisfy the other",
    "live_variables": "they depend on different variables",
    "identity": "one is true or false whatever the variables are, so it says nothing about them",
    "kind": "they are of different kinds, as an inequality and an equation",
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
}
"""Every reason a verdict can have, in words. Closed: a test refuses any other."""

RANK = {"equivalent": 0, "undecided": 1, "different": 2}
"""Statuses from the best: of several claims the best counts, of several that are needed the worst."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Where two formulas differ.

    Attributes:
        point: names and values of a point that satisfies one of them, by name.
        satisfies: `a` (the reference) or `b` (the claim).
        left, right: values of the other's two sides there; None where it is undefined.
    """

    point: tuple[tuple[str, float], ...]
    satisfies: str
    left: float | None
    right: float | None

    def __str__(self) -> str:
        place = ", ".join(f"{name} = {_shown(value)}" for name, value in self.point)
        one, other = ("reference", "claim") if self.satisfies == "a" else ("claim", "reference")
        left, right = _shown(self.left), _shown(self.right)
        return f"{place} satisfies the {one}; the {other} has {left} on its left and {right} on its right"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; numbers as text with six significant digits."""
        return {
            "point": {name: _shown(value) for name, value in self.point},
            "satisfies": self.satisfies,
            "left": _shown(self.left),
            "right": _shown(self.right),
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about two formulas, and why.

    Attributes:
        status: `equivalent`, `different` or `undecided`.
        reason: a key of `REASONS`.
        proof: `proved` or `tested` for `equivalent`, else None.
        domain: of the sampled variables: `positive`, or `real` if a symbol is declared signed.
        readings: what was used, in order, each with its kind: `notation: ...`, `constant: ...`, `definition: ...
            (problem)` or `(solution)`, `literal: ...`, `name: ...`, `given: ...`, `unit: ...`.
        approximate: decided within the precision of written decimals.
        witness: where they differ.
        cost: kernel operations.
        detail: for a person: the construct, the fault of the LaTeX.
        stage: how much was put in, as an index of `attempts.STAGES`; 0 is as they stand.
    """

    status: str
    reason: str
    proof: str | None = None
    domain: str = "positive"
    readings: tuple[str, ...] = ()
    approximate: bool = False
    witness: Witness | None = None
    cost: int = 0
    detail: str = ""
    stage: int = 0

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise ValueError(f"{self.reason!r} is not a reason; reasons are {', '.join(REASONS)}")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "status": self.status, "reason": self.reason, "proof": self.proof, "domain": self.domain,
            "readings": list(self.readings), "approximate": self.approximate,
            "witness": self.witness and self.witness.to_dict(),
            "cost": self.cost, "detail": self.detail, "stage": self.stage,
        }  # fmt: skip


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6g}"
