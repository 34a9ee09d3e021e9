"""EngTrace: does a predicted trace say what the gold trace says, step by step, with the same numbers.

The arithmetic is that of the paper, or of the script released in January 2026 (`Variant`). In place of the
cross-encoder a rule decides whether two steps state the same; in place of the judges a rule decides tier 2 where it
can, and a file of votes is read as data. What neither decides is open: the row then has no score, and two bounds.

`engtrace_steps` reads traces, `engtrace_formulas` compares what steps state, `engtrace_tiers` makes the matrix,
`engtrace_scores` the score of it; here these are put together, for one trace and for all of a run.

The traces of a run come in input order, with their problems, from this process or from worker processes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from prism.diagnosis.findings import diagnose
from prism.equivalence.numbers.stated import six_figures
from prism.errors import DataFileError, count_of
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem, in_alternative
from prism.grading.result import Incident, internal_incident
from prism.problem.schema import Problem
from prism.protocols.engtrace.causes import RootCause, root_cause
from prism.protocols.engtrace.files import CLASS_SCORES, TracePair
from prism.protocols.engtrace.formulas import GradedTraces, Meeting, StepPairs, pair_steps
from prism.protocols.engtrace.scores import TraceScore, score_by_assignment, score_by_maxima
from prism.protocols.engtrace.similarity import FILE_THRESHOLD, LEXICAL_THRESHOLD, Measure, Similarity, rouge
from prism.protocols.engtrace.steps import Trace, Variant, read_trace
from prism.protocols.engtrace.tiers import (
    ACCEPT_SHARE,
    FINAL_TOLERANCE,
    STEP_TOLERANCE,
    PairValue,
    TierMatrix,
    TierRules,
    build_tiers,
    final_is_right,
)
from prism.protocols.entry_files import joined_sha256
from prism.protocols.rows import Basis, Part, ProtocolRow, Scored, lost_row
from prism.runs.bulk import in_input_order
from prism.runs.records import Faults
from prism.runs.rollouts import Rollout
from prism.runs.workers import NO_PROBLEM, Killed, Task, run_in_workers


def score_traces(
    pairs: Sequence[TracePair],
    options: EngTraceOptions,
    *,
    problems: Mapping[str, Problem] | None = None,
    votes_file: Path | None = None,
    shares_file: Path | None = None,
    workers: int = 0,
) -> Iterator[ProtocolRow]:
    """Score predictions and yield their rows in order.

    Args:
        pairs: predictions with their golds.
        problems: by id; the problem of a trace is `ID-SEED`, else `ID` if the golds have one seed of it.
        votes_file, shares_file: for messages.
        workers: processes; 0 works in this one.

    Errors:
        DataFileError: all votes and measures on steps that a trace does not have.
        PrismError: workers that do not start. Never anything about a text: a failure is an incident of its row.
    """
    _check_places(pairs, options, votes_file, shares_file)
    problem_of = _problem_finder(pairs, problems or {})
    tasks = (_task(ordinal, pair, problem_of(pair), options) for ordinal, pair in enumerate(pairs))
    for done in in_input_order(run_in_workers(tasks, _scored, workers=workers)):
        if isinstance(done.result, Killed):
            killed = Incident("killed", PROTOCOL, done.result.reason)
            yield _failed(pairs[done.task.ordinal], options, "killed", killed)
        else:
            yield done.result


def _task(ordinal: int, pair: TracePair, problem: Problem | None, options: EngTraceOptions) -> Task:
    """Return what is done for one prediction."""
    rollout = Rollout(pair.problem_id, pair.prediction.generation, pair.sample_id)
    more = {"pair": pair, "chosen": options, "has_problem": problem is not None}
    return Task(ordinal, rollout, NO_PROBLEM if problem is None else problem, more)


def _scored(
    prepared: PreparedProblem, rollout: Rollout, *, pair: TracePair, chosen: EngTraceOptions, has_problem: bool
) -> ProtocolRow:
    """Score one prediction; an exception gives a row without score. A function of the module, for workers import it."""
    try:
        graded = None
        if has_problem:
            of_predicted = grade(prepared, rollout.solution, sample_id=rollout.sample_id)
            graded = GradedTraces(prepared, grade(prepared, pair.gold.solution), of_predicted)
        return score_trace(pair, chosen, graded)
    except Exception as error:  # noqa: BLE001 - the boundary of one trace: the others go on
        return _failed(pair, chosen, "internal", internal_incident(PROTOCOL, error))


def _failed(pair: TracePair, options: EngTraceOptions, status: str, incident: Incident) -> ProtocolRow:
    """Return the row of a prediction on which the grader failed."""
    about = replace(about_pair(pair), status=status, incidents=(incident,))
    return lost_row(PROTOCOL, str(options.variant), about, POLICIES, options.settings)


def _problem_finder(
    pairs: Sequence[TracePair], problems: Mapping[str, Problem]
) -> Callable[[TracePair], Problem | None]:
    """Return what finds the problem of a trace: `ID-SEED`, else `ID` unless there are several seeds of it."""
    seeds: dict[str, set[str]] = {}
    for pair in pairs:
        seeds.setdefault(pair.gold.name[0], set()).add(pair.gold.name[1])

    def find(pair: TracePair) -> Problem | None:
        """Return the problem of a trace; None if there is none."""
        template = pair.gold.name[0]
        own = problems.get(pair.problem_id)
        return own if own is not None or len(seeds[template]) > 1 else problems.get(template)

    return find


def _check_places(
    pairs: Sequence[TracePair], options: EngTraceOptions, votes: Path | None, shares: Path | None
) -> None:
    """Raise all votes and measures on steps that a trace does not have."""
    faults = {True: Faults(), False: Faults()}
    for pair in pairs:
        if not pair.entries:
            continue
        gold, predicted = read_pair(pair, options)
        for entry in pair.entries:
            sizes = (("gold_step", len(gold.steps)), ("predicted_step", len(predicted.steps)))
            for (key, n), place in zip(sizes, entry.value.place, strict=True):
                if place >= n:
                    what = f"{key}: {place + 1}, but the trace of {pair.problem_id} has {count_of(n, 'step')}"
                    faults[entry.value.vote is not None].add(what, entry.place)
    told: list[DataFileError] = []
    for is_vote, path in ((True, votes), (False, shares)):
        try:
            faults[is_vote].check(path or Path("-"))
        except DataFileError as error:
            told.append(error)
    if told:
        raise told[0] if len(told) == 1 else DataFileError(told[0].file, (*told[0].faults, *map(str, told[1:])))


PROTOCOL = "engtrace"
POLICIES = ("engtrace_alignment", "engtrace_precision", "engtrace_recall", "engtrace_rouge2", "engtrace_rougeL")


@dataclass(frozen=True, slots=True)
class EngTraceOptions:
    """What is chosen for a run.

    Attributes:
        step_tolerance: relative, of the numbers of steps.
        threshold: that a measure of a file has to be above.
        accept_share: of gold steps that tier 1 has to verify more than, for a chain to be accepted.
        prefers_rules: in a conflict the rules count, not the votes.
    """

    variant: Variant = Variant.PAPER
    similarity: Similarity = Similarity.NODES
    step_tolerance: Fraction = STEP_TOLERANCE
    threshold: Fraction = FILE_THRESHOLD
    accept_share: Fraction = ACCEPT_SHARE
    prefers_rules: bool = False

    @property
    def rules(self) -> TierRules:
        """What the tiers need of it."""
        return TierRules(self.variant, self.step_tolerance, self.accept_share, self.prefers_rules)

    @property
    def settings(self) -> dict[str, Any]:
        """What stands in every row: each value, also those that the paper leaves open."""
        chosen: dict[str, Any] = {
            "final_tolerance": float(FINAL_TOLERANCE[self.variant]), "similarity": str(self.similarity),
            "step_tolerance": float(self.step_tolerance),
        }  # fmt: skip
        if self.similarity is Similarity.FILE:
            chosen["threshold"] = float(self.threshold)
        else:
            chosen["lexical_threshold"] = float(LEXICAL_THRESHOLD)
        if self.variant is Variant.PAPER:
            chosen["accept_share"] = float(self.accept_share)
            chosen["class_scores"] = {name: float(score) for name, score in CLASS_SCORES.items()}
            chosen["prefer"] = "rules" if self.prefers_rules else "file"
        return chosen


def read_pair(pair: TracePair, options: EngTraceOptions) -> tuple[Trace, Trace]:
    """Return the gold and the predicted trace as the variant reads them."""
    return read_trace(pair.gold.solution, options.variant), read_trace(pair.prediction.generation, options.variant)


def score_trace(pair: TracePair, options: EngTraceOptions, graded: GradedTraces | None = None) -> ProtocolRow:
    """Score one prediction. Never raises on a text, but for a failure of the engine.

    Args:
        graded: both traces, graded by the problem file, where there is one.
    """
    gold, predicted = read_pair(pair, options)
    about = about_pair(pair) if graded is None else _with_grade(about_pair(pair), graded)
    found: list[StepPairs] = []

    def pairs() -> StepPairs:
        """Return what the formulas of the steps say of each other, compared when it is first asked."""
        if not found:
            found.append(
                pair_steps(gold, predicted, options.step_tolerance, question=pair.gold.question, graded=graded)
            )
        return found[0]

    measure = Measure(options.similarity, gold, predicted, pairs, pair.shares, options.threshold)
    final_right = final_is_right(gold, predicted, options.variant)
    matrix = build_tiers(measure, pairs, pair.votes, options.rules, final_right=final_right)
    by = score_by_assignment if options.variant is Variant.PAPER else score_by_maxima
    scored = by(matrix.values, len(predicted.steps))
    cause = None if final_right is not False or graded is None else _cause(graded, pairs())
    if final_right is False:
        about = replace(about, meta={**about.meta, "root_cause": cause and str(cause)})
    compared = found[0] if found else StepPairs(())
    words = rouge(pair.gold.solution, pair.prediction.generation)
    return ProtocolRow(
        PROTOCOL, str(options.variant), replace(about, incidents=(*about.incidents, *compared.incidents)),
        scored.f1.value, scored.f1.low, scored.f1.high, tuple(_parts(matrix, scored)),
        policies={
            "engtrace_alignment": matrix.alignment, "engtrace_precision": scored.precision.value,
            "engtrace_recall": scored.recall.value, "engtrace_rouge2": words.pairs, "engtrace_rougeL": words.longest,
        },
        final_correct=final_right, settings=options.settings,
        notes=(
            *pair.notes, *(f"gold {note}" for note in gold.notes if not note.startswith("format: no heading")),
            *predicted.notes, *compared.notes, *_notes(matrix, scored, len(predicted.steps), options.variant),
            *_outcome_notes(gold, predicted, final_right, cause),
        ),
    )  # fmt: skip


def _parts(matrix: TierMatrix, scored: TraceScore) -> Iterator[Part]:
    """Yield a part for each gold step: its partner, its value, and what decided it."""
    for i, (row, partner, credit) in enumerate(zip(matrix.rows, scored.partners, scored.credits, strict=True)):
        name = f"step {i + 1}"
        if credit is None:
            where = ", ".join(str(j + 1) for j, each in enumerate(row) if each.value is None)
            findings = (f"open: predicted step {where}",) if where else ("open: by the pairs of other steps",)
            yield Part(name, None, Basis.NONE, findings)
        elif partner is None:
            yield Part(name, credit, _basis_of_none(row), ("partner: none",))
        else:
            found = row[partner]
            yield Part(name, credit, found.basis, (f"partner: predicted step {partner + 1}", *found.findings))


def _basis_of_none(row: Sequence[PairValue]) -> Basis:
    """Return what decided that no predicted step verifies a gold step: a file, if it decided any of its pairs."""
    bases = {each.basis for each in row}
    if Basis.CONFLICT in bases:
        return Basis.CONFLICT
    return Basis.FILE if bases & {Basis.FILE, Basis.BOTH} else Basis.RULES


def _notes(matrix: TierMatrix, scored: TraceScore, n_predicted: int, variant: Variant) -> Iterator[str]:
    """Yield what a reader should know of the matrix of a trace."""
    yield from matrix.notes
    if matrix.n_lexical:
        yield f"lexical: {count_of(matrix.n_lexical, 'pair')} of {len(matrix.rows) * n_predicted}"
    used = {j for j in scored.partners if j is not None}
    if variant is Variant.RELEASED:  # a step that verifies any is used
        used = {j for row in matrix.rows for j, pair in enumerate(row) if pair.value}
    if spare := [str(j + 1) for j in range(n_predicted) if j not in used]:
        yield f"without partner: predicted step {', '.join(spare)}"
    is_open = scored.f1.value is None
    if is_open and (places := [str(j + 1) for j in range(n_predicted) if _may_verify(matrix, j) and j not in used]):
        yield f"open: predicted step {', '.join(places)}"


def _may_verify(matrix: TierMatrix, j: int) -> bool:
    """Return True if a pair of predicted step j is open."""
    return any(row[j].value is None for row in matrix.rows)


def _outcome_notes(gold: Trace, predicted: Trace, final_right: bool | None, cause: RootCause | None) -> Iterator[str]:
    """Yield the numbers of the final answer where they do not agree, and the root cause."""
    if final_right is None:
        yield "final answer: the gold states no number"
    elif not final_right:
        stated = "no number" if predicted.answer is None else six_figures(predicted.answer)
        yield f"final answer: {stated}, the gold {six_figures(gold.answer or Fraction(0))}"
        yield f"root cause: {cause or 'null, no rule decides it'}"


def _cause(graded: GradedTraces, compared: StepPairs) -> RootCause | None:
    """Return the root cause of a wrong trace; None where rules leave it open."""
    reference = in_alternative(graded.prepared, graded.predicted.alternative)
    numbers = [
        each for row in compared.rows for pair in row if pair.meeting is Meeting.SAME for each in pair.differences
    ]
    return root_cause(reference.problem.dag, graded.predicted, diagnose(graded.prepared, graded.predicted), numbers)


# What a row is about. -------------------------------------------------------------------------------------------


def about_pair(pair: TracePair) -> Scored:
    """Return what a row says besides the protocol, of a trace that is not graded."""
    template, seed = pair.gold.name
    meta = {**pair.gold.meta, "template": template, **({"seed": seed} if seed else {}), **pair.prediction.meta}
    return Scored(
        problem_id=pair.problem_id, sample_id=pair.sample_id, meta=meta,
        problem_sha256=_digest(f"{pair.gold.question}\0{pair.gold.solution}"),
        solution_sha256=_digest(pair.prediction.generation), findings_sha256=joined_sha256(pair.entries),
    )  # fmt: skip


def _with_grade(about: Scored, graded: GradedTraces) -> Scored:
    """Return the same with what the grade of the prediction tells."""
    grade = graded.predicted
    return replace(
        about, problem_sha256=graded.prepared.problem.sha256, matched=grade.matched, alternative=grade.alternative,
        missing=tuple(sorted({*grade.missing, *grade.credited} - {*grade.matched})),
        status=grade.status, incidents=grade.incidents,
    )  # fmt: skip


def _digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
