"""The result of grading: the values that `grade` returns, and the sentences of their flags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from prism.equivalence.verdict import REASONS, Status
from prism.latex import LeftOut
from prism.problem.dag import ReferenceDag

FLAGS = {
    "broken_chain": "a chain that says what a node says has a refuted link",
    "formula_sheet": "the text recites laws, most of them about nothing that the problem names, and works nothing out",
    "hedged": "the solution says of a node also something else, and does not stand by what is right",
    "no_formulas": "no formula that states anything could be read: nothing is decided, and a person has to look",
    "spam": "more distinct formulas than count",
}
"""What a grade may note about a solution besides its score, in words. Closed; none of them is an incident."""


@dataclass(frozen=True, slots=True)
class Match:
    """A node that a formula matches, and what was substituted for it.

    Attributes:
        node: its index.
        stage: how much was substituted, as a value of `equivalence.verdict.Stage`.
        reason: key of `equivalence.verdict.REASONS`.
        readings: what was used, in order, as in a `Verdict`.
    """

    node: int
    stage: int
    reason: str
    readings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GradedFormula:
    """One formula of the solution with its status and the nodes it matches.

    Attributes:
        latex: the text that was parsed.
        span: offsets in the solution.
        kind: display, inline, boxed, plain or thinking; text for an answer in words.
        status: `equivalent` to at least one node, `withheld` (equivalent to one, but no claim that stands),
            `different`, `undecided`, `unread`, or `mention` (a lone symbol or number, which asserts nothing).
        reason: why, as a key of `equivalence.verdict.REASONS`, or of `WITHHELD_REASONS` where it is withheld; empty
            for a mention.
        nodes: indices of the nodes it matched, ascending.
        detail: for a person: constants used, the fault of the LaTeX.
        nearest: the node that it was most likely meant for, where it was found to differ from all nodes; else None. Its
            own difference is in `detail` and `witness`; the reason may be that of another node.
        witness: where it differs from that node; empty where that is not known.
        matches: one for each of these nodes.
        withheld: nodes that it states but does not match: index and key of `WITHHELD_REASONS`.
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
    """A failure of the grader, not of the student: a code, the place where it failed, and the error in words."""

    code: str
    where: str
    detail: str


def internal_incident(where: str, error: Exception) -> Incident:
    """Return an exception of the grader as an incident with the code `internal`; `where` says what it worked on."""
    return Incident("internal", where, f"{type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class Grade:
    """The grade of a solution.

    Attributes:
        problem_id, sample_id: text; sample_id is None where none was given.
        status: `ok`, `too_large`, `killed` or `internal`.
        score: share of points of the credited nodes, in [0, 1]; None unless the status is ok or too_large.
        matched, credited, missing: node indices, ascending.
        final_correct: every final answer matched itself.
        policies: the score under `strict`, `prefix` and `final`; and `training`, if the problem was prepared for it.
        score_strict: the score with matches up to `LAST_STRICT_STAGE` only: no name and no value was substituted.
        share_by_closure: share of the points earned that comes from nodes without a matching formula; 0 if none.
        flags: keys of FLAGS, sorted.
        formulas: in the order of the text.
        unread, undecided: numbers of formulas that could not be read or decided.
        left_out: what lies beyond a limit and was not read: characters at the end of the solution, and formulas. With
            any of it the status is `too_large`.
        incidents: failures of the grader.
        cost: operations spent on the solution (see `prism.budget`); None where the grader did not finish.
        alternative: the reference DAG that counts, and that all indices are of; empty for the problem's own.
        given_answers: final answers that a formula of the problem already says; earned in solved form only.
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
    cost: int | None = None
    alternative: str = ""
    given_answers: tuple[int, ...] = ()

    def __repr__(self) -> str:
        """Return problem, score and nodes, `<Grade free_fall: score 0.5, matched 1 2, credited 1 2, missing 3 4>`."""
        score = "no score" if self.score is None else f"score {self.score:g}"
        status = "" if self.status == "ok" else f"{self.status}, "
        groups = (("matched", self.matched), ("credited", self.credited), ("missing", self.missing))
        nodes = ", ".join(f"{name} {' '.join(map(str, found)) or 'none'}" for name, found in groups)
        way = f"by {self.alternative}, " if self.alternative else ""
        return f"<Grade {self.problem_id}: {way}{status}{score}, {nodes}>"

    def _repr_html_(self) -> str:
        """Return the score and each formula with what it earned as a notebook shows them, formulas typeset."""
        from prism.bridges.notebook import formula_html, table_html, text_html

        rows = [
            (formula_html(item.latex), text_html(item.status), ", ".join(map(str, item.nodes)),
             text_html(reason_in_words(item)))
            for item in self.formulas
        ]  # fmt: skip
        return table_html(repr(self)[1:-1], ("formula", "status", "nodes", "why"), rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; the keys are the attribute names."""
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
            "cost": self.cost, "alternative": self.alternative, "given_answers": list(self.given_answers),
        }  # fmt: skip


NOTHING_FOUND = (
    "No formula that states anything was found in the solution. Code is not read, but for a formula in a sentence."
)


def holds_no_formulas(formulas: Iterable[GradedFormula]) -> bool:
    """Return True if no formula could be read that states anything, and no answer in words names an option."""
    return all(item.status in ("mention", "unread") or item.reason in ("no_relation", "no_option") for item in formulas)


def finds_nothing(result: Grade) -> bool:
    """Return True if a text was read to its end, and no formula of it states anything; an answer in words may."""
    return result.status == "ok" and all(item.status == "mention" or item.kind == "text" for item in result.formulas)


def nodes_alone(dag: ReferenceDag, result: Grade) -> frozenset[int]:
    """Return the matched nodes of which a prerequisite is not credited: guesses behind wrong work, semantics C.4."""
    credited = frozenset(result.credited)
    return frozenset(
        node.index for node in dag.nodes if node.index in result.matched and not credited.issuperset(node.prerequisites)
    )


def unstated_finals(dag: ReferenceDag, result: Grade) -> tuple[int, ...]:
    """Return the final answers, ascending, that are credited although no formula states them.

    Where there are any the score may be 1, and the final answers are not right all the same.
    """
    return tuple(sorted(dag.finals & set(result.credited) - set(result.matched)))


def unstated_finals_in_words(dag: ReferenceDag, result: Grade) -> str:
    """Return those of `unstated_finals` as `node 6` or `nodes 4, 6`; empty if every credited final answer is stated."""
    unstated = unstated_finals(dag, result)
    return f"node{'s' * (len(unstated) > 1)} {', '.join(map(str, unstated))}" if unstated else ""


def unstated_finals_sentence(dag: ReferenceDag, result: Grade) -> str:
    """Return `Final answer credited, not stated: node 6.`; empty if every credited final answer is stated."""
    nodes = unstated_finals_in_words(dag, result)
    return f"Final answer{'s' * nodes.startswith('nodes')} credited, not stated: {nodes}." if nodes else ""


def details_in_words(item: GradedFormula) -> str:
    """Return what a formula used or where it differs, behind the nearest node; empty if nothing of it is known."""
    where = "" if item.nearest is None else f"nearest is node {item.nearest}"
    known = "; ".join(part for part in (item.detail, item.witness) if part)
    return ": ".join(part for part in (where, known) if part)


def reason_in_words(item: GradedFormula) -> str:
    """Return in words what a formula used or where it differs, else the sentence of its reason; empty for a mention."""
    told, sentence = details_in_words(item), REASONS.get(item.reason, item.reason)
    if item.status == Status.UNDECIDED:
        return ": ".join(part for part in (sentence, told) if part)
    return told if item.detail or item.witness else ": ".join(part for part in (told, sentence) if part)
