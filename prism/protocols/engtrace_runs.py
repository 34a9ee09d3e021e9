"""All traces of a run: with their problems, in this process or in worker processes, in input order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from prism.errors import DataFileError, count_of
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem
from prism.grading.result import Incident, internal_incident
from prism.problem.schema import Problem
from prism.protocols.engtrace import POLICIES, PROTOCOL, EngTraceOptions, about_pair, read_pair, score_trace
from prism.protocols.engtrace_files import TracePair
from prism.protocols.engtrace_formulas import GradedTraces
from prism.protocols.rows import ProtocolRow, lost_row
from prism.runs.bulk import in_input_order, results_of
from prism.runs.records import Faults
from prism.runs.rollouts import Rollout
from prism.runs.workers import KILL_AFTER, NO_PROBLEM, Killed, Task


def score_traces(
    pairs: Sequence[TracePair],
    options: EngTraceOptions,
    *,
    problems: Mapping[str, Problem] | None = None,
    votes_file: Path | None = None,
    shares_file: Path | None = None,
    workers: int = 0,
    kill_after: float = KILL_AFTER,
) -> Iterator[ProtocolRow]:
    """Score predictions and yield their rows in order.

    Args:
        pairs: predictions with their golds.
        problems: by id; the problem of a trace is `ID-SEED`, else `ID` if the golds have one seed of it.
        votes_file, shares_file: for messages.
        workers: processes; 0 works in this one.
        kill_after: seconds that a worker may take for one trace [s].

    Errors:
        DataFileError: all votes and measures on steps that a trace does not have.
        PrismError: workers that do not start. Never anything about a text: a failure is an incident of its row.
    """
    _check_places(pairs, options, votes_file, shares_file)
    problem_of = _problem_finder(pairs, problems or {})
    tasks = (_task(ordinal, pair, problem_of(pair), options) for ordinal, pair in enumerate(pairs))
    for done in in_input_order(results_of(tasks, _scored, workers=workers, kill_after=kill_after)):
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
