"""The same responses under six scores, all by rule: closure, strict, prefix, PSAS-S, EngTrace F1 and EngJudge.

Each response is graded once, and what the protocols ask beside the grade is found where it is graded. Nothing comes
from a file, so what no rule decides is null.

EngTrace compares a response with a gold trace. Of a problem file that is made of the reference: each node a step, in
order, and the last final answer as the answer. EngJudge asks for stage tags, which responses to other prompts do not
have; so no stage counts as absent here, and five of the eight, which no rule decides, are always null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from prism.grading import pipeline
from prism.grading.prepared import PreparedProblem, in_alternative
from prism.grading.result import Grade
from prism.grading.row import score_row
from prism.latex import solution_text
from prism.problem.schema import Problem
from prism.protocols.engjudge.rows import EngJudgeOptions, StageSource, rows_of_rollouts
from prism.protocols.engjudge.rules import RuledSolution, apply_rules
from prism.protocols.engjudge.topology import NAMES
from prism.protocols.engtrace.files import Gold, Prediction, TracePair
from prism.protocols.engtrace.formulas import GradedTraces
from prism.protocols.engtrace.rows import POLICIES, EngTraceOptions, score_trace
from prism.protocols.graded_rollouts import GradedRollout, grade_rollouts
from prism.protocols.psas.rows import Variant
from prism.protocols.psas.rules import StatedNodes, psas_rows, stated_nodes, with_part_labels
from prism.protocols.psas.steps import PsasReference, parts_of
from prism.protocols.rows import ProtocolRow, lost_row, mean_of
from prism.runs.rollouts import Rollout

DECIDED = "engjudge_decided"
"""A policy of the rows of EngJudge here: the mean of the stages that rules decided, without propagation (ours)."""


@dataclass(frozen=True, slots=True)
class FoundBeside:
    """What the protocols ask of a response besides its grade."""

    stated: StatedNodes
    ruled: RuledSolution
    trace: ProtocolRow


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Rows of the same responses, in one order: score rows, and those of each protocol as they are written."""

    scores: tuple[dict[str, Any], ...]
    psas: tuple[ProtocolRow, ...]
    engtrace: tuple[ProtocolRow, ...]
    engjudge: tuple[ProtocolRow, ...]

    @property
    def n_incident(self) -> int:
        """Number of failures of the grader; a protocol's rows repeat those of the grade, and may add to them."""
        return max(sum(len(row.about.incidents) for row in rows) for rows in self.protocols.values())

    @property
    def protocols(self) -> dict[str, tuple[ProtocolRow, ...]]:
        """The rows of the protocols by name."""
        return {"psas": self.psas, "engtrace": self.engtrace, "engjudge": self.engjudge}


def find_beside(prepared: PreparedProblem, rollout: Rollout, grade: Grade) -> FoundBeside:
    """Find what the protocols ask of a graded rollout (a `then` of `grade_rollouts`)."""
    reference = in_alternative(prepared, grade.alternative)
    text = solution_text(rollout.solution).text
    name = (prepared.problem.id, "")
    prediction = Prediction(name, rollout.sample_id, text, rollout.meta)
    pair = TracePair(gold_of(reference.problem), prediction, rollout.sample_id)
    traces = GradedTraces(reference, pipeline.grade(reference, pair.gold.solution), grade)
    return FoundBeside(
        stated_nodes(prepared, rollout, grade),
        apply_rules(prepared, rollout, grade),
        score_trace(pair, EngTraceOptions(), traces),
    )


def gold_of(problem: Problem) -> Gold:
    """Return the gold trace of a problem: a step for each node, and the last final answer."""
    steps = [f"**Step {place}:** ${node.latex}$" for place, node in enumerate(problem.nodes, start=1)]
    final = [node.latex for node in problem.nodes if node.is_final][-1]
    questions = "\n".join((problem.statement, *(part.text for part in problem.subquestions)))
    return Gold((problem.id, ""), "\n".join((*steps, f"**Answer:** ${final}$")), questions)


def rows_side_by_side(
    graded: Iterable[GradedRollout[FoundBeside]], problems: Mapping[str, Problem], *, thinking: bool = False
) -> SideBySide:
    """Return the rows of all scores for graded rollouts.

    Args:
        graded: with what `find_beside` found.
        problems: by id.
        thinking: as the rollouts were graded.
    """
    rollouts = list(graded)
    references = {name: PsasReference(problem, parts_of(problem)) for name, problem in problems.items()}
    judged = [_with_result(one, None if one.more is None else one.more.ruled) for one in rollouts]
    options = EngJudgeOptions(stages=StageSource.NONE)
    return SideBySide(
        tuple(_score_row(one) for one in rollouts),
        tuple(psas_rows(_for_psas(rollouts, problems, thinking=thinking), references, variant=Variant.RELEASED)),
        tuple(_trace_row(one) for one in rollouts),
        tuple(map(_with_decided, rows_of_rollouts(judged, None, options))),
    )


def _with_result(one: GradedRollout[Any], more: Any) -> GradedRollout[Any]:
    """Return a graded rollout with something else found beside it."""
    return GradedRollout(one.problem, one.rollout, one.grade, more)


def _score_row(one: GradedRollout[FoundBeside]) -> dict[str, Any]:
    """Return the score row of a rollout, without its formulas."""
    row = score_row(one.problem, one.rollout.solution, one.grade)
    return {**{key: value for key, value in row.items() if key != "formulas"}, "meta": dict(one.rollout.meta)}


def _for_psas(
    rollouts: Iterable[GradedRollout[FoundBeside]], problems: Mapping[str, Problem], *, thinking: bool
) -> list[GradedRollout[StatedNodes]]:
    """Return the rollouts with what they state; those in the format of PhysReason are graded anew, by its labels."""
    found = []
    for one in rollouts:
        relabelled = with_part_labels(one.problem, one.rollout)
        if relabelled is one.rollout:
            found.append(_with_result(one, None if one.more is None else one.more.stated))
            continue
        (again,) = grade_rollouts(problems, [relabelled], then=stated_nodes, thinking=thinking)
        found.append(replace(again, rollout=one.rollout))
    return found


def _trace_row(one: GradedRollout[FoundBeside]) -> ProtocolRow:
    """Return the row of EngTrace; of a rollout on which the grader failed one without score."""
    if one.more is not None:
        return one.more.trace
    options = EngTraceOptions()
    return lost_row("engtrace", str(options.variant), one.about, POLICIES, options.settings)


def _with_decided(row: ProtocolRow) -> ProtocolRow:
    """Return a row of EngJudge with the mean of the stages that are decided as a further policy."""
    stages = [part.score for part in row.parts if part.name in NAMES and part.score is not None]
    return replace(row, policies={**row.policies, DECIDED: mean_of(stages)})
