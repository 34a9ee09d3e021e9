"""Turn a grade into one number, into named numbers for a log, and into the credit of each formula.

A grade holds every policy already, so nothing is graded here and nothing is decided. A scoring is a value: weights of
the parts in `PARTS`. Refused: a class per scoring, and functions given by the user, which no process could be sent.

A grade without a score (`killed`, `internal`) is worth 0 and says so in its scalars: were it worth nothing to a
trainer, a model could learn to bring the grader down.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from prism.errors import PrismError, named_type
from prism.grading.pipeline import strictly_credited
from prism.grading.prepared import PreparedProblem
from prism.grading.prepared import in_alternative as prepared_alternative
from prism.grading.result import FLAGS, Grade, GradedFormula, nodes_alone
from prism.latex import one_line
from prism.problem.dag import policies_with, score
from prism.problem.schema import Problem, in_alternative, load_problem

PARTS = {
    "closure": "share of points of the matched nodes and all they rest on: the score of a grade",
    "strict": "share of points of the nodes that a formula matches itself",
    "prefix": "share of points of all nodes up to the last matched one",
    "final": "1 if every final answer is matched, else 0",
    "training": "closure without what the problem says itself; needs a problem prepared with training=True",
    "score_strict": "closure, had no name and no value been put in",
    "precision": "closure times the share of right formulas: wrong ones cost",
    "worked": "closure, and 0 for a text with the flag formula_sheet, which recites laws and works nothing out",
    "follow_through": "closure, and nodes whose step goes on rightly from an earlier wrong one; no reward pays it",
}
"""What a scoring may weigh, in words. Each is in [0, 1]."""

_FOR_PEOPLE = frozenset(("follow_through",))  # needs a diagnosis, and pays for what follows from a mistake

STATUSES = ("equivalent", "different", "withheld", "undecided", "unread")  # of formulas; mentions assert nothing

SCALARS = {
    **{name: sentence for name, sentence in PARTS.items() if name not in ("training", "worked", *_FOR_PEOPLE)},
    "matched": "share of nodes that a formula matches",
    "credited": "share of nodes that count, by closure too",
    "share_by_closure": "of the points earned, those of nodes that no formula matches",
    "formulas": "formulas that assert something",
    **{status: f"formulas with the status {status}" for status in STATUSES},
    "incidents": "failures of the grader on this solution",
    **FLAGS,
    "too_large": "1 if the solution is longer than a limit; what is within it is graded",
    "killed": "1 if the grader was stopped on this solution",
    "internal": "1 if the grader failed on this solution as a whole",
    "bad_reference": "1 if the reference cannot be used",
    "bad_solution": "1 if what was given is no text, no chat and no list of steps",
}
"""Keys of `scalars`, in order, in words; without `training`, as few problems are prepared for it, `worked`, which is
`closure` and a flag, and marks."""

_DIGITS = 6  # as of a score


@dataclass(frozen=True, slots=True)
class Scoring:
    """How a grade becomes one number: the sum of its parts times these weights. Build it with `scoring_of`.

    Attributes:
        weights: names of PARTS with finite weights from 0 on, in the order of PARTS. Where they sum to S, the number
            is in [0, S].
    """

    weights: tuple[tuple[str, float], ...]

    @property
    def needs_training(self) -> bool:
        """True if problems have to be prepared with training=True."""
        return any(name == "training" for name, _ in self.weights)

    @property
    def needs_diagnosis(self) -> bool:
        """True if grades have to be diagnosed, as `prism.diagnosis.follow_through.with_follow_through` does."""
        return any(name in _FOR_PEOPLE for name, _ in self.weights)


def scoring_of(source: str | Mapping[str, float] | Scoring) -> Scoring:
    """Build a scoring from a name of PARTS, or from names with weights, which are used as they stand.

    Weights need not sum to 1: `{"closure": 2}` pays up to 2. A negative one is refused: it would pay a solution for
    leaving right steps out.

    Errors:
        PrismError: all faults at once: unknown names, weights that are no finite numbers from 0 on, none or only zeros.

    >>> scoring_of("final").weights
    (('final', 1.0),)
    >>> scoring_of({"final": 0.3, "closure": 0.7}).weights
    (('closure', 0.7), ('final', 0.3))
    """
    if isinstance(source, Scoring):
        source = dict(source.weights)
    if isinstance(source, str):
        source = {source: 1.0}
    if not isinstance(source, Mapping):
        raise PrismError(
            f"scoring: found a value of type {type(source).__name__}; expected a name or names with weights"
        )
    faults = [f"scoring: {name!r} is unknown; the names are {', '.join(PARTS)}" for name in source if name not in PARTS]
    faults += [
        f"scoring, {name}: the weight {weight!r} is no finite number from 0 on"
        for name, weight in source.items()
        if not _is_weight(weight)
    ]
    if not faults and not any(source.values()):
        faults.append("scoring: no part has a weight other than 0")
    if faults:
        raise PrismError("\n".join(faults))
    return Scoring(tuple((name, float(source[name])) for name in PARTS if name in source))


def reward_scoring(source: str | Mapping[str, float] | Scoring) -> Scoring:
    """Build a scoring that a reward may pay: any but one of what follows from a mistake.

    A policy that is paid for what follows from its own mistake learns to make one that is easy to follow.

    Errors:
        PrismError: as of `scoring_of`; a part that no reward pays.
    """
    scoring = scoring_of(source)
    if refused := [name for name, _ in scoring.weights if name in _FOR_PEOPLE]:
        raise PrismError(f"scoring, {', '.join(refused)}: is for people's marks, and no reward pays it")
    return scoring


def _is_weight(weight: object) -> bool:
    """Return True for a finite int or float that is not negative; bool is no number here."""
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        return False
    try:
        return math.isfinite(weight) and weight >= 0
    except OverflowError:  # an integer beyond all floats
        return False


def score_by(scoring: Scoring, grade: Grade) -> float:
    """Return the sum of a grade's parts times their weights, rounded once; 0 for a grade without a score.

    Errors:
        PrismError: it needs `training`, and the problem was not prepared with training=True; or `follow_through`, and
            the grade was not diagnosed.
    """
    if grade.score is None:
        return 0.0
    return round(math.fsum(weight * _part_of_grade(name, grade) for name, weight in scoring.weights), _DIGITS)


def _part_of_grade(name: str, grade: Grade) -> float:
    """Return the value in [0, 1] of one part of PARTS, such as `final`, for a grade that has a score.

    Raises PrismError if the grade lacks what the part needs.
    """
    if name == "closure":
        return grade.score or 0.0
    if name == "worked":
        return 0.0 if "formula_sheet" in grade.flags else grade.score or 0.0
    if name == "score_strict":
        return grade.score_strict or 0.0
    if name == "precision":
        return precision_score(grade)
    if name not in grade.policies and name in _FOR_PEOPLE:
        raise PrismError(f"scoring, {name}: the grade of problem {grade.problem_id} was not diagnosed")
    if name not in grade.policies:
        raise PrismError(f"scoring, {name}: problem {grade.problem_id} was not prepared with training=True")
    return grade.policies[name]


def precision_score(grade: Grade) -> float:
    """Return the score times right / (right + wrong), counts of distinct formulas.

    Right are formulas that match a node. Wrong are those that differ from every node (`different`), and
    chains with a refuted link. Not counted are lone symbols and numbers, unread or undecided formulas, and formulas
    withheld for another reason. A right step that the reference does not hold counts as wrong: this is a share of the
    reference's formulas among those written, and no proof of an error.
    """
    n_right, n_counted = _right_formulas(grade)
    return round((grade.score or 0.0) * n_right / n_counted, _DIGITS) if n_counted else grade.score or 0.0


def _right_formulas(grade: Grade) -> tuple[int, int]:
    """Return the number of distinct right formulas, and of right and wrong ones, as `precision_score` counts them."""
    right = {one_line(item.latex) for item in grade.formulas if item.status == "equivalent"}
    wrong = {
        one_line(item.latex)
        for item in grade.formulas
        if item.status == "different" or (item.status == "withheld" and item.reason == "broken_chain")
    }
    return len(right), len(right | wrong)


def scalars(
    grade: Grade | None, *, bad_reference: bool = False, bad_solution: bool = False, killed: bool = False
) -> dict[str, float]:
    """Return named numbers of a grade for a log; all keys of SCALARS, in the same order for every grade.

    Args:
        grade: None where there is none, because of one of the following or because the grader failed.
        bad_reference: the reference could not be used.
        bad_solution: the solution has no shape that can be graded.
        killed: the process that graded was stopped on the solution.
    """
    found = dict.fromkeys(SCALARS, 0.0)
    found["bad_reference"], found["bad_solution"] = float(bad_reference), float(bad_solution)
    if grade is None:
        found["killed"] = float(killed)
        found["internal"] = float(not (bad_reference or bad_solution or killed))
        return found
    if grade.status in found:
        found[grade.status] = 1.0
    if grade.score is not None:
        found |= {name: _part_of_grade(name, grade) for name in PARTS if name in found}
    n_node = len(grade.credited) + len(grade.missing)
    found |= {
        "matched": _rounded_share(len(grade.matched), n_node),
        "credited": _rounded_share(len(grade.credited), n_node),
        "share_by_closure": grade.share_by_closure,
        "formulas": float(sum(item.status != "mention" for item in grade.formulas)),
        **{status: float(sum(item.status == status for item in grade.formulas)) for status in STATUSES},
        "incidents": float(len(grade.incidents)),
        **{flag: float(flag in grade.flags) for flag in FLAGS},
    }
    return found


def _rounded_share(n: int, n_all: int) -> float:
    """Return n / n_all, rounded; 0 if n_all is 0."""
    return round(n / n_all, _DIGITS) if n_all else 0.0


# Credit of each node. -------------------------------------------------------------------------------------------


def node_shares(
    prepared: PreparedProblem, grade: Grade, scoring: Scoring, *, carried: Collection[int] = ()
) -> dict[int, Fraction]:
    """Return for each node of the reference that counts the share of its points that a scoring pays, in [0, 1].

    The shares times the points of the nodes sum to what `score_by` pays, before it is rounded, but for weights: here
    their sum counts as 1, since no node can earn more than its points.

    Args:
        prepared: the problem of the grade; of a scoring by `training` prepared with training=True.
        carried: nodes that `follow_through` pays besides.

    Errors:
        PrismError: a scoring by `training`, and a problem that was not prepared for it.
    """
    prepared = prepared_alternative(prepared, grade.alternative)
    found = dict.fromkeys(prepared.problem.dag.indices, Fraction(0))
    if grade.score is None:
        return found
    total = sum(Fraction(weight) for _, weight in scoring.weights)
    for name, weight in scoring.weights:
        credited, share = _credited_by(name, prepared, grade, carried)
        for index in credited:
            found[index] += share * Fraction(weight) / total
    return found


def _credited_by(
    name: str, prepared: PreparedProblem, grade: Grade, carried: Collection[int]
) -> tuple[frozenset[int], Fraction]:
    """Return the nodes that a part of PARTS credits, and the share of their points that it pays for each.

    Raises PrismError if the problem was not prepared for training.
    """
    dag, closed = prepared.problem.dag, frozenset(grade.credited)
    if name == "follow_through":
        return closed | frozenset(carried), Fraction(1)
    if name == "precision":
        n_right, n_counted = _right_formulas(grade)
        return closed, Fraction(n_right, n_counted) if n_counted else Fraction(1)
    if name == "worked":
        return closed, Fraction("formula_sheet" not in grade.flags)
    if name == "score_strict":
        return strictly_credited(prepared, grade.formulas), Fraction(1)
    policies = policies_with(prepared.given, nodes_alone(dag, grade))
    if name not in policies:
        raise PrismError(f"scoring, {name}: problem {grade.problem_id} was not prepared with training=True")
    return policies[name](dag, grade.matched), Fraction(1)


# Credit of each formula. ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepCredit:
    """The credit of one formula of a solution.

    Attributes:
        latex: the text that was parsed.
        span: offsets in the solution; of chats and steps in the text that `prism.latex.solution_text` makes of them.
        status: of the graded formula.
        nodes: indices of the nodes that no earlier formula had achieved, by closure too, ascending.
        credit: share of the problem's points that these carry, exact.
    """

    latex: str
    span: tuple[int, int]
    status: str
    nodes: tuple[int, ...]
    credit: Fraction

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; the credit rounded."""
        return {
            "latex": self.latex, "span": list(self.span), "status": self.status, "nodes": list(self.nodes),
            "credit": round(float(self.credit), _DIGITS),
        }  # fmt: skip


def step_credits(
    problem: PreparedProblem | Problem | Path | str | Mapping[str, object], grade: Grade
) -> tuple[StepCredit, ...]:
    """Return the credit of each formula that asserts something, in the order of the text.

    A formula is credited for the nodes that no earlier one had achieved. The credits sum to the score: as fractions
    exactly, and that sum rounded once is `grade.score`. None is below 0; a trainer that wants wrong formulas to cost
    finds them by their status.

    Args:
        problem: the problem, prepared or not; a path, the id of a shipped problem, a JSON string or a dictionary is
            loaded first.
        grade: what `prism.grade` returned for a solution of it.

    Errors:
        DataFileError: a problem file with faults.
        PrismError: a grade of another problem, or by an alternative that the problem does not have; no grade.

    >>> from prism.grading.pipeline import grade
    >>> [(step.latex, step.nodes, str(step.credit)) for step in step_credits("free_fall", grade("free_fall", "$v=gt$"))]
    [('v=gt', (1, 2), '1/3')]
    """
    if not isinstance(grade, Grade):
        raise PrismError(f"grade: found {named_type(grade)}; expected what `prism.grade` returns")
    if isinstance(problem, PreparedProblem):
        problem = problem.problem
    loaded = problem if isinstance(problem, Problem) else load_problem(problem)
    if loaded.id != grade.problem_id:
        raise PrismError(f"step credits: the grade is of problem {grade.problem_id}, and the problem is {loaded.id}")
    loaded = in_alternative(loaded, grade.alternative)
    formulas = sorted((item for item in grade.formulas if item.status != "mention"), key=lambda item: item.span[0])
    earned: list[StepCredit] = []
    achieved: frozenset[int] = frozenset()
    for item, after in zip(formulas, _achieved_nodes(loaded, formulas, nodes_alone(loaded.dag, grade)), strict=True):
        nodes = after - achieved
        achieved = after
        credit = score(loaded.dag, nodes)
        earned.append(StepCredit(item.latex, item.span, item.status, tuple(sorted(nodes)), credit))
    return tuple(earned)


def _achieved_nodes(
    problem: Problem, formulas: Iterable[GradedFormula], alone: Collection[int]
) -> Iterable[frozenset[int]]:
    """Yield for each formula the nodes achieved up to it: matched ones, all but some (`alone`) with prerequisites."""
    matched: set[int] = set()
    credit = policies_with(None, alone)["closure"]
    for item in formulas:
        matched.update(item.nodes)
        yield credit(problem.dag, matched)
