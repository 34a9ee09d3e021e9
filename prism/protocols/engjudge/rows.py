"""Score solutions by EngJudge: eight stages with dependency propagation, from rules and from a file of findings.

A stage is what rules decide (`engjudge_rules`) or the file says (`engjudge_findings`), else nothing: no stage is ten
because nobody looked. A score needs every stage and check; the bounds need none.

Source: EngVQA / EngJudge, arXiv 2606.10833.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from prism.errors import DataFileError, raise_faults
from prism.inputs import shown
from prism.problem.source import first_and_count
from prism.protocols.engjudge.corrections import Rating, corrected_mean
from prism.protocols.engjudge.findings import JudgedPart, JudgedSanity, SolutionFindings
from prism.protocols.engjudge.rules import RuledPart, RuledSolution
from prism.protocols.engjudge.scoring import (
    FULL,
    Ablation,
    Checks,
    Presence,
    ScoringOptions,
    StageValue,
    decided_score,
    propagated_scores,
    score_bounds,
    single_pass,
    single_pass_with_propagation,
)
from prism.protocols.engjudge.topology import NAMES, TOPOLOGIES
from prism.protocols.entry_files import Entry, EntryFile
from prism.protocols.graded_rollouts import GradedRollout
from prism.protocols.rows import Basis, Part, ProtocolRow, Scored, Settled, settle

PROTOCOL = "engjudge"
BASELINES = ("engjudge_single_pass", "engjudge_single_pass_dp")
"""The policies of a row that are the baselines: the mean of the stages before and after propagation."""

CORRECTED = "engjudge_corrected"
"""The policy that is the score with the stages as people correct them."""

CHECKS = ("coverage", "verbosity", "sanity")
"""The parts of a row behind the stages, where the meta checks count."""

NO_TAGS = "tags: the solution has none, so that no stage is known; `--stages none` scores it without"
"""The note of a solution that is not scored, as nothing says which stages it has."""

FAILED = ("killed", "internal")
"""Statuses of a rollout on which the grader failed: it has no score, whatever a file says of it."""


class StageSource(StrEnum):
    """What says which stages a solution has.

    TAGS: the tags of its text; a text without any is not scored. FILE: the stages of its findings row; any other is
    absent. NONE: nothing; no stage is absent. OPEN: the row's `absent`; a stage that nobody judged may be absent too.
    """

    TAGS = "tags"
    FILE = "file"
    NONE = "none"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class EngJudgeOptions:
    """What was chosen for a run.

    Attributes:
        scoring: topology, ablations, what an absent stage is in the mean.
        stages: what says which stages there are.
        prefer_rules: in a conflict the rules count, and not the file.
    """

    scoring: ScoringOptions = field(default_factory=ScoringOptions)
    stages: StageSource = StageSource.OPEN
    prefer_rules: bool = False

    @property
    def variant(self) -> str:
        """Return `full`, or what is left out: `without_dp_meta`."""
        left_out = [str(each) for each in Ablation if each in self.scoring.without]
        return "_".join(("without", *left_out)) if left_out else "full"

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as a row has them: a named topology by its name, another one by its edges."""
        topology = self.scoring.topology
        return {
            "topology": topology.name if topology.name in TOPOLOGIES else topology.to_dict(),
            "without": [str(each) for each in Ablation if each in self.scoring.without],
            "absent": str(self.scoring.absent), "stages": str(self.stages),
            "prefer": "rules" if self.prefer_rules else "file",
        }  # fmt: skip


def engjudge_row(
    about: Scored,
    findings: SolutionFindings | None,
    ruled: RuledSolution | None,
    options: EngJudgeOptions,
    *,
    notes: tuple[str, ...] = (),
    ratings: Mapping[str, Sequence[Rating]] | None = None,
) -> ProtocolRow:
    """Score one solution.

    Args:
        about: its ids, texts and grade.
        findings: its row of a findings file; None where there is none.
        ruled: what rules decided; None where there are no rollouts, or the grader failed on this one.
        notes: what is known of the findings row besides, such as a repair.
        ratings: what people say of the score of a stage or check; with any, the row has the policy
            `engjudge_corrected`. None where nobody was asked.
    """
    told = [*notes, *(findings.notes if findings else ()), *(ruled.tags.notes if ruled else ())]
    if about.status in FAILED:
        return _row(about, options, None, Fraction(0), FULL, (), None, told)
    presence = _presence(findings, ruled, options, told)
    if presence is None:
        told.append(NO_TAGS)
        parts = tuple(Part(name, None, Basis.NONE) for name in _part_names(options))
        return _row(about, options, None, Fraction(0), FULL, parts, ruled, told)
    settled = {name: _settle_stage(name, presence[name], findings, ruled, options) for name in NAMES}
    values = {name: StageValue(presence[name], settled[name].value) for name in NAMES}
    judged = _settle_checks(findings, ruled, options)
    checks = Checks(
        judged["coverage"].value,
        judged["verbosity"].value,
        None if judged["sanity"].value is None else bool(judged["sanity"].value),
    )
    kept = propagated_scores(values, options.scoring)
    parts = tuple(_stage_part(name, presence[name], settled[name], kept.get(name), options) for name in NAMES)
    if Ablation.META not in options.scoring.without:
        parts += tuple(Part(name, _share(each.value), each.basis, each.findings) for name, each in judged.items())
    policies = _policies(values, checks, options, ratings)
    found, bounds = decided_score(values, checks, options.scoring), score_bounds(values, checks, options.scoring)
    final = None if found is None else found.final
    return _row(about, options, final, bounds.low, bounds.high, parts, ruled, told, policies)


def _policies(
    values: Mapping[str, StageValue], checks: Checks, options: EngJudgeOptions,
    ratings: Mapping[str, Sequence[Rating]] | None,
) -> dict[str, Fraction | None]:  # fmt: skip
    """Return the baselines, and the score as people correct it where they were asked; out of ten."""
    found = {
        BASELINES[0]: single_pass(values, options.scoring),
        BASELINES[1]: single_pass_with_propagation(values, options.scoring),
    }
    if ratings is None:
        return found
    stages = {
        name: replace(value, score=corrected_mean(value.score, ratings.get(name, ()))) for name, value in values.items()
    }
    coverage, verbosity = (
        corrected_mean(score, ratings.get(name, ()))
        for name, score in (("coverage", checks.coverage), ("verbosity", checks.verbosity))
    )
    scored = decided_score(stages, replace(checks, coverage=coverage, verbosity=verbosity), options.scoring)
    return {**found, CORRECTED: None if scored is None else scored.final}


Ratings = Mapping[tuple[str, str], Mapping[str, Sequence[Rating]]]
"""What people say of parts, by ids of the solution and name of the part."""


def rows_of_findings(
    findings: EntryFile[SolutionFindings], options: EngJudgeOptions, *, ratings: Ratings | None = None
) -> list[ProtocolRow]:
    """Score the rows of a findings file, in its order, by the file alone.

    Errors:
        DataFileError: two rows of one solution.
    """
    _by_solution(findings)
    rows = []
    for entry in findings.entries:
        one = entry.value
        about = Scored(one.problem_id, one.sample_id, one.kept_fields, findings_sha256=entry.sha256)
        said = None if ratings is None else ratings.get((one.problem_id, one.sample_id), {})
        rows.append(engjudge_row(about, one, None, options, notes=entry.notes, ratings=said))
    return rows


def rows_of_rollouts(
    graded: Iterable[GradedRollout[RuledSolution]], findings: EntryFile[SolutionFindings] | None,
    options: EngJudgeOptions, *, ratings: Ratings | None = None,
) -> list[ProtocolRow]:  # fmt: skip
    """Score rollouts, in their order, by rules and by a findings file where there is one.

    Errors:
        DataFileError: two findings rows of one solution; a findings row of no rollout.
    """
    by_solution = {} if findings is None else _by_solution(findings)
    rows = []
    for one in graded:
        ids = one.problem.id, one.rollout.sample_id
        entry = by_solution.pop(ids, None)
        about = replace(one.about, findings_sha256=entry.sha256) if entry else one.about
        value, notes = (entry.value, entry.notes) if entry else (None, ())
        said = None if ratings is None else ratings.get(ids, {})
        rows.append(engjudge_row(about, value, one.more, options, notes=notes, ratings=said))
    if findings is not None and by_solution:
        told = (f"{entry.place}: no rollout {solution_words(*ids)}" for ids, entry in by_solution.items())
        raise DataFileError(str(findings.path), first_and_count(list(told)))
    return rows


def _by_solution(findings: EntryFile[SolutionFindings]) -> dict[tuple[str, str], Entry[SolutionFindings]]:
    """Return the rows of a file by problem and sample; two of one solution are a fault.

    Raises DataFileError for all of these.
    """
    found: dict[tuple[str, str], Entry[SolutionFindings]] = {}
    faults = []
    for entry in findings.entries:
        ids = entry.value.problem_id, entry.value.sample_id
        if ids in found:
            faults.append(f"{entry.place}: {solution_words(*ids)} is in {found[ids].place} already")
        found.setdefault(ids, entry)
    raise_faults(first_and_count(faults), str(findings.path))
    return found


def solution_words(problem_id: str, sample_id: str) -> str:
    """Name a solution for a message."""
    return f"{shown(sample_id)} of problem {shown(problem_id)}"


def part_points(rows: Iterable[ProtocolRow]) -> dict[tuple[str, str, str], Fraction | None]:
    """Return the scores of all parts, out of ten, by problem, sample and name."""
    return {
        (row.about.problem_id, row.about.sample_id, part.name): None if part.score is None else part.score * FULL
        for row in rows
        for part in row.parts
    }


def _part_names(options: EngJudgeOptions) -> tuple[str, ...]:
    """Return the names of the parts of a row, in order."""
    return NAMES if Ablation.META in options.scoring.without else (*NAMES, *CHECKS)


def _share(points: Fraction | None) -> Fraction | None:
    """Return points out of ten as a share; None for None."""
    return None if points is None else points / FULL


def _row(
    about: Scored, options: EngJudgeOptions, score: Fraction | None, low: Fraction, high: Fraction,
    parts: tuple[Part, ...], ruled: RuledSolution | None, notes: list[str],
    policies: Mapping[str, Fraction | None] | None = None,
) -> ProtocolRow:  # fmt: skip
    """Return the row of a solution; scores and policies are out of ten."""
    named = policies or dict.fromkeys(BASELINES)
    return ProtocolRow(
        PROTOCOL, options.variant, about, _share(score), low / FULL, high / FULL, parts, scale=int(FULL),
        policies={name: _share(value) for name, value in named.items()},
        final_correct=ruled.final_correct if ruled else None, settings=options.to_dict(),
        notes=tuple(dict.fromkeys(notes)),
    )  # fmt: skip


# Stages. ------------------------------------------------------------------------------------------------------------


def _presence(
    findings: SolutionFindings | None, ruled: RuledSolution | None, options: EngJudgeOptions, notes: list[str]
) -> dict[str, Presence] | None:
    """Return which stages there are, adding a note where the file says otherwise; None for a text without tags."""
    judged = frozenset(findings.stages) if findings else frozenset()
    lacking = findings.absent if findings else frozenset()
    if options.stages is StageSource.NONE:
        return dict.fromkeys(NAMES, Presence.PRESENT)
    if options.stages is StageSource.FILE and findings is not None:
        return {name: Presence.PRESENT if name in judged else Presence.ABSENT for name in NAMES}
    if options.stages is StageSource.TAGS and ruled is not None:
        tagged = frozenset(ruled.tags.spans)
        if not tagged:
            return None
        untagged = [name for name in NAMES if name in judged - tagged]
        notes += [f"presence: {name} is judged in the file, and has no tag" for name in untagged]
        unjudged = [name for name in NAMES if name in lacking & tagged]
        notes += [f"presence: {name} is absent in the file, and has a tag" for name in unjudged]
        return {name: Presence.PRESENT if name in tagged else Presence.ABSENT for name in NAMES}
    known = {name: Presence.PRESENT if name in judged else Presence.UNKNOWN for name in NAMES}
    return known | dict.fromkeys(lacking, Presence.ABSENT)


def _settle_stage(
    name: str, presence: Presence, findings: SolutionFindings | None, ruled: RuledSolution | None,
    options: EngJudgeOptions,
) -> Settled[Fraction]:  # fmt: skip
    """Return the score of a stage out of ten, and who decided it; none of an absent one."""
    if presence is Presence.ABSENT:
        by_tags = options.stages is StageSource.TAGS
        why = "absent: no tag in the solution" if by_tags else "absent: by the findings"
        return Settled(None, Basis.RULES if by_tags else Basis.FILE, (why,))
    by_file = findings.stages.get(name) if findings else None
    return _settle_part(ruled.stages.get(name) if ruled else None, by_file, options)


def _settle_part(by_rules: RuledPart | None, by_file: JudgedPart | None, options: EngJudgeOptions) -> Settled[Fraction]:
    """Settle a stage or check, with the findings of both sides."""
    settled = settle(
        by_rules.score if by_rules else None, by_file.score if by_file else None, prefer_rules=options.prefer_rules
    )
    return _with_findings(settled, by_rules.findings if by_rules else (), by_file.findings if by_file else ())


def _with_findings(
    settled: Settled[Fraction], of_rules: tuple[str, ...], of_file: tuple[str, ...]
) -> Settled[Fraction]:  # fmt: skip
    """Return what was settled with the findings of both sides, each named where both spoke."""
    is_both = settled.basis in (Basis.BOTH, Basis.CONFLICT)
    rules, file = ("rules: ", "file: ") if is_both else ("", "")
    told = (*(f"{rules}{each}" for each in of_rules), *(f"{file}{each}" for each in of_file))
    return Settled(settled.value, settled.basis, (*settled.findings, *told))


def _settle_checks(
    findings: SolutionFindings | None, ruled: RuledSolution | None, options: EngJudgeOptions
) -> dict[str, Settled[Fraction]]:
    """Return the three checks out of ten; sanity is 10 or 0, and rules only ever fail it."""
    coverage, verbosity, sanity = (
        (findings.coverage, findings.verbosity, findings.sanity) if findings else (None, None, None)
    )
    insane = ruled.insane if ruled else ()
    return {
        "coverage": _settle_part(ruled.coverage if ruled else None, coverage, options),
        "verbosity": _settle_part(None, verbosity, options),
        "sanity": _with_findings(
            settle(Fraction(0) if insane else None, _sanity_points(sanity), prefer_rules=options.prefer_rules),
            insane, sanity.findings if sanity else (),
        ),
    }  # fmt: skip


def _sanity_points(sanity: JudgedSanity | None) -> Fraction | None:
    """Return 10 for a check that was passed, 0 for one that was not, None for none."""
    if sanity is None:
        return None
    return FULL if sanity.is_sane else Fraction(0)


def _stage_part(
    name: str, presence: Presence, settled: Settled[Fraction], propagated: Fraction | None, options: EngJudgeOptions
) -> Part:
    """Return a stage as a part of a row: its own score, and in the findings what the stages before it leave of that."""
    if presence is Presence.ABSENT:
        return Part(name, Fraction(0), settled.basis, settled.findings)
    is_shown = propagated is not None and Ablation.PROPAGATION not in options.scoring.without
    findings = (f"propagated: {float(propagated or 0):.6g}",) if is_shown else ()
    return Part(name, _share(settled.value), settled.basis, (*settled.findings, *findings))
