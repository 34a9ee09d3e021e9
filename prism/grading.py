"""The pipeline, readable top to bottom in `grade`: extract, match, close, score.

A scoring policy is a value from `dag.POLICIES`. Nothing here raises on a solution: what cannot be read is counted
and reported, and an exception below is an incident of the grader, never a student's zero.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import prism
from prism.claims import is_committed, is_mention, match_claim
from prism.context import parse
from prism.dag import POLICIES, ancestor_closure, is_final_correct, score
from prism.equivalence import REASONS, Verdict
from prism.errors import LatexSyntaxError
from prism.expr import OPS, Formula, symbols, walk
from prism.latex import LeftOut, LocatedFormula, Solution, extract, solution_text
from prism.problem import Problem, load_problem
from prism.resources import resource

BASE_FORMULAS, FORMULAS_PER_NODE = 20, 10  # distinct formulas that count; a list of guesses is longer (semantics C.7)
SCHEMA = 1  # of the score row

_POLICY = "closure"
_DIGITS = 6  # of a score, rounded once from the exact fraction


@dataclass(frozen=True, slots=True)
class GradedFormula:
    """One formula of the solution and what became of it.

    Attributes:
        latex: what was parsed.
        span: offsets in the solution.
        kind: display, inline, boxed, plain or thinking.
        status: `equivalent` to at least one node, `different`, `undecided`, `unread`, or `mention` (a lone symbol
            or number, which asserts nothing).
        reason: why, as a key of `equivalence.REASONS`; empty for a mention.
        nodes: indices of the nodes it matched, ascending.
        detail: for a person: what was read of constants, the witness, the fault of the LaTeX.
    """

    latex: str
    span: tuple[int, int]
    kind: str
    status: str
    reason: str
    nodes: tuple[int, ...] = ()
    detail: str = ""


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
        policies: the score under `strict`, `prefix` and `final`.
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the keys are those of the attributes."""
        return {
            "problem_id": self.problem_id, "sample_id": self.sample_id, "status": self.status, "score": self.score,
            "matched": list(self.matched), "credited": list(self.credited), "missing": list(self.missing),
            "final_correct": self.final_correct, "policies": dict(self.policies),
            "formulas": [
                {"latex": f.latex, "span": list(f.span), "kind": f.kind, "status": f.status, "reason": f.reason,
                 "nodes": list(f.nodes), "detail": f.detail}
                for f in self.formulas
            ],
            "unread": self.unread, "undecided": self.undecided,
            "left_out": {"characters": self.left_out.characters, "formulas": self.left_out.formulas},
            "incidents": [{"code": i.code, "where": i.where, "detail": i.detail} for i in self.incidents],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class PreparedProblem:
    """A problem ready to grade: for each node its formula and those that the author accepts in its place."""

    problem: Problem
    references: tuple[tuple[int, tuple[Formula, ...]], ...]


def prepare(problem: Problem | Path | str | Mapping[str, object]) -> PreparedProblem:
    """Load what is not loaded and gather the reference formulas; do it once for many solutions.

    Errors:
        DataFileError: a problem file with faults.
    """
    loaded = problem if isinstance(problem, Problem) else load_problem(problem)
    return PreparedProblem(loaded, tuple((node.index, (node.formula, *node.accept)) for node in loaded.nodes))


def grade(
    problem: PreparedProblem | Problem | Path | str | Mapping[str, object],
    solution: Solution,
    *,
    sample_id: str | None = None,
    thinking: bool = False,
) -> Grade:
    r"""Grade a worked solution against a problem's reference DAG.

    Args:
        problem: a problem, prepared or not; a path, a JSON string or a dictionary is loaded first.
        solution: the student's or model's full text, with LaTeX; or chat messages, of which the assistant's are
            graded; or a list of steps.
        sample_id: kept in the result.
        thinking: also count formulas before the end of a thinking block.

    Errors:
        DataFileError: a problem file with faults.
        PrismError: a solution that is none of the three. Never anything about what it says.

    Source: PRISM-Physics (arXiv 2510.03185), Algorithm 2.
    """
    prepared = problem if isinstance(problem, PreparedProblem) else prepare(problem)
    dag = prepared.problem.dag
    incidents: list[Incident] = []
    extraction = extract(solution)
    found = [item for item in extraction if thinking or item.kind != "thinking"]
    first = {(item.latex, is_committed(item)): item for item in reversed(found)}
    latest = list({(item.latex, is_committed(item)): None for item in reversed(found)})
    cap = BASE_FORMULAS + FORMULAS_PER_NODE * len(prepared.problem.nodes)
    known = {key: _grade_formula(prepared, first[key], incidents) for key in latest[:cap]}
    known |= {key: _not_counted(first[key], cap) for key in latest[cap:]}
    formulas = [_placed(known[item.latex, is_committed(item)], item) for item in found]
    matched = {index for item in formulas for index in item.nodes}
    credited = ancestor_closure(dag, matched)
    return Grade(
        problem_id=prepared.problem.id,
        sample_id=sample_id,
        status="ok" if extraction.left_out == LeftOut() else "too_large",
        score=_rounded(score(dag, credited)),
        matched=tuple(sorted(matched)),
        credited=tuple(sorted(credited)),
        missing=tuple(index for index in dag.indices if index not in credited),
        final_correct=is_final_correct(dag, matched),
        policies={
            name: _rounded(score(dag, policy(dag, matched))) for name, policy in POLICIES.items() if name != _POLICY
        },
        formulas=tuple(formulas),
        unread=sum(item.status == "unread" for item in formulas),
        undecided=sum(item.status == "undecided" for item in formulas),
        incidents=tuple(incidents),
        left_out=extraction.left_out,
    )


def _rounded(share: Fraction) -> float:
    return round(float(share), _DIGITS)


def _not_counted(located: LocatedFormula, cap: int) -> GradedFormula:
    detail = f"only the latest {cap} distinct formulas of a solution count"
    return GradedFormula(located.latex, located.span, located.kind, "undecided", "too_large", (), detail)


def _placed(item: GradedFormula, located: LocatedFormula) -> GradedFormula:
    """The same result at another place of the text."""
    return GradedFormula(item.latex, located.span, located.kind, item.status, item.reason, item.nodes, item.detail)


def _grade_formula(prepared: PreparedProblem, located: LocatedFormula, incidents: list[Incident]) -> GradedFormula:
    """Parse one formula and compare it with every node; the one place where a formula's failure is caught."""
    try:
        claim = parse(located.latex, context=prepared.problem.context)
    except LatexSyntaxError as error:
        return GradedFormula(located.latex, located.span, located.kind, "unread", "parse_error", (), str(error))
    if is_mention(claim):
        return GradedFormula(located.latex, located.span, located.kind, "mention", "")
    context = prepared.problem.context
    outcomes: list[_Outcome] = []
    for index, references in prepared.references:
        for reference in references:
            try:
                verdict = match_claim(reference, claim, context, committed=is_committed(located))
            except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError, AssertionError) as error:
                where = f"node {index}, {located.latex}"
                incidents.append(Incident("internal", where, f"{type(error).__name__}: {error}"))
                continue
            outcomes.append(_Outcome(index, verdict, _distance(reference, claim)))
            if verdict.status == "equivalent":
                break
    if not outcomes:
        return GradedFormula(located.latex, located.span, located.kind, "undecided", "unsupported")
    nodes = sorted({outcome.index for outcome in outcomes if outcome.verdict.status == "equivalent"})
    told = _telling(claim, outcomes)
    status, reason = told.verdict.status, told.verdict.reason
    return GradedFormula(located.latex, located.span, located.kind, status, reason, tuple(nodes), _explained(told))


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One formula against one node; distance is the number of symbols that only one of them has."""

    index: int
    verdict: Verdict
    distance: int


def _distance(reference: Formula, claim: Formula) -> int:
    return len(symbols(*reference.members) ^ symbols(*claim.members))


def _telling(claim: Formula, outcomes: list[_Outcome]) -> _Outcome:
    """The outcome to report: a match; else what is undecided because of this formula; else the nearest difference.

    A formula without unevaluated constructs is not undecided merely because some node has one.
    """
    own = any(OPS[node.op].opcode is None and node.op != "unit" for member in claim.members for node in walk(member))

    def rank(outcome: _Outcome) -> tuple[int, int]:
        verdict = outcome.verdict
        if verdict.status == "equivalent":
            return 0, 0
        if verdict.status == "undecided" and (own or verdict.reason != "unsupported"):
            return 1, outcome.distance
        if verdict.status == "different":
            return (2 if verdict.witness else 3), outcome.distance
        return 4, outcome.distance

    return min(outcomes, key=rank)


def _explained(outcome: _Outcome) -> str:
    verdict = outcome.verdict
    parts = [*verdict.readings, verdict.detail]
    if verdict.witness:
        parts.append(f"nearest is node {outcome.index}: {verdict.witness}")
    elif verdict.status != "equivalent":
        parts.append(REASONS[verdict.reason])
    return "; ".join(part for part in parts if part)


# The score row: what `prism grade --json` prints and bulk runs write. -----------------------------------------


@cache
def fingerprint(policy: str = _POLICY) -> str:
    """sha256 over what can change a grade and is PRISM's own: version, grammar, constants, policy."""
    digest = hashlib.sha256(f"{prism.__version__}\0{policy}\0".encode())
    for folder, endings in (("grammar", (".lark",)), ("constants", (".toml",))):
        for path in sorted(resource(folder).iterdir()):
            if path.suffix in endings:
                digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def score_row(problem: Problem, solution: Solution, result: Grade) -> dict[str, Any]:
    """One line of a result file: the grade, and what it was computed from."""
    return {
        **result.to_dict(),
        "schema": SCHEMA,
        "grader": {"version": prism.__version__, "fingerprint": fingerprint()},
        "problem_sha256": problem.sha256,
        "solution_sha256": hashlib.sha256(solution_text(solution).text.encode()).hexdigest(),
    }
