"""What a grade is: the values that `grade` returns, and the sentences of their flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prism.equivalence.verdict import REASONS
from prism.latex import LeftOut

FLAGS = {
    "broken_chain": "a chain that says what a node says has a refuted link",
    "hedged": "the solution says of a node also something else, and does not stand by what is right",
    "spam": "more distinct formulas than count",
}
"""What a grade may note about a solution besides its score, in words. Closed; none of them is an incident."""


@dataclass(frozen=True, slots=True)
class Match:
    """A node that a formula matches, and what that took.

    Attributes:
        node: its index.
        stage: how much was put in, as an index of `attempts.STAGES`.
        reason: key of `equivalence.REASONS`.
        readings: what was used, in order, as in a `Verdict`.
    """

    node: int
    stage: int
    reason: str
    readings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GradedFormula:
    """One formula of the solution and what became of it.

    Attributes:
        latex: what was parsed.
        span: offsets in the solution.
        kind: display, inline, boxed, plain or thinking; text for an answer in words.
        status: `equivalent` to at least one node, `withheld` (equivalent to one, but no claim that stands),
            `different`, `undecided`, `unread`, or `mention` (a lone symbol or number, which asserts nothing).
        reason: why, as a key of `equivalence.REASONS`, or of `commitment.REFUSALS` where it is withheld; empty for a
            mention.
        nodes: indices of the nodes it matched, ascending.
        detail: for a person: what was read of constants, the fault of the LaTeX.
        nearest: the node that it comes nearest to, where it was seen to differ from each; else None.
        witness: where it differs from that node; empty where that is not known.
        matches: of each of these nodes, what it took.
        withheld: nodes that it says too, and does not match: index and key of `commitment.REFUSALS`.
    """

    latex: str
    span: tuple[int, int]
    kind: str
    status: str
    reason: str
    nodes: tuple[int, ...] = ()
    detail: str = ""
    nearest: int | None = None
    witness: str = ""
    matches: tuple[Match, ...] = ()
    withheld: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Incident:
    """The grader failed, not the student."""

    code: str
    where: str
    detail: str


@dataclass(frozen=True, slots=True)
class Grade:
    """What a solution earned.

    Attributes:
        problem_id, sample_id: text; sample_id is None where nobody gave one.
        status: `ok`, `too_large`, `killed` or `internal`.
        score: share of points of the credited nodes, in [0, 1]; None unless the status is ok or too_large.
        matched, credited, missing: node indices, ascending.
        final_correct: every final answer matched itself.
        policies: the score under `strict`, `prefix` and `final`; and `training`, if the problem was prepared for it.
        score_strict: the score, had only matches up to STRICT_STAGE counted: no name and no value was put in.
        share_by_closure: of the points earned, those of nodes that no formula matches; 0 where there are none.
        flags: keys of FLAGS, sorted.
        formulas: in the order of the text.
        unread, undecided: formulas that could not be read or decided; facts about the solution.
        left_out: what was not even looked at, because the solution is longer than a limit: characters before the end
            that is read, and formulas. With any of it the status is `too_large`.
        incidents: failures of the grader.
    """

    problem_id: str
    sample_id: str | None
    status: str
    score: float | None
    matched: tuple[int, ...]
    credited: tuple[int, ...]
    missing: tuple[int, ...]
    final_correct: bool
    policies: Mapping[str, float]
    formulas: tuple[GradedFormula, ...]
    unread: int
    undecided: int
    incidents: tuple[Incident, ...]
    left_out: LeftOut = field(default_factory=LeftOut)
    score_strict: float | None = None
    share_by_closure: float = 0.0
    flags: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the keys are those of the attributes."""
        return {
            "problem_id": self.problem_id, "sample_id": self.sample_id, "status": self.status, "score": self.score,
            "matched": list(self.matched), "credited": list(self.credited), "missing": list(self.missing),
            "final_correct": self.final_correct, "policies": dict(self.policies),
            "score_strict": self.score_strict, "share_by_closure": self.share_by_closure, "flags": list(self.flags),
            "formulas": [
                {"latex": f.latex, "span": list(f.span), "kind": f.kind, "status": f.status, "reason": f.reason,
                 "nodes": list(f.nodes), "detail": f.detail, "nearest": f.nearest, "witness": f.witness,
                 "matches": [{"node": m.node, "stage": m.stage, "reason": m.reason, "readings": list(m.readings)}
                             for m in f.matches],
                 "withheld": [{"node": node, "reason": reason} for node, reason in f.withheld]}
                for f in self.formulas
            ],
            "unread": self.unread, "undecided": self.undecided,
            "left_out": {"characters": self.left_out.characters, "formulas": self.left_out.formulas},
            "incidents": [{"code": i.code, "where": i.where, "detail": i.detail} for i in self.incidents],
        }  # fmt: skip


def why(item: GradedFormula) -> str:
    """In words, what a formula took or where it differs: at least the sentence of its reason; empty for a mention."""
    where = f"nearest is node {item.nearest}: {item.witness}" if item.witness else ""
    told = "; ".join(part for part in (item.detail, where) if part)
    return told or REASONS.get(item.reason, item.reason)
