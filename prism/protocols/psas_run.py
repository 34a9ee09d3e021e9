"""PSAS-S over many graded rollouts: references in, rows out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from prism.problem.collection import load_problems
from prism.problem.source import problem_path
from prism.protocols.graded_rollouts import GradedRollout
from prism.protocols.psas import POLICIES, PROTOCOL, Marked, Variant, marks_by_rules, psas_row
from prism.protocols.psas_findings import Findings, with_findings
from prism.protocols.psas_rules import StatedNodes
from prism.protocols.psas_steps import PsasReference, is_published_shape, load_published, parts_of
from prism.protocols.rows import ProtocolRow, lost_row


def load_references(source: str) -> dict[str, PsasReference]:
    """Load problems with their steps: problem files as `load_problems` takes them, or the published shape.

    Errors:
        DataFileError: all faults of the files.
    """
    path = problem_path(source) if not source.lstrip().startswith("{") else Path()
    if path != Path() and is_published_shape(path):
        return load_published(path)
    loaded = load_problems(source if path == Path() else path)
    return {name: PsasReference(problem, parts_of(problem)) for name, problem in loaded.items()}


def psas_rows(
    graded: Iterable[GradedRollout[StatedNodes]],
    references: Mapping[str, PsasReference],
    *,
    variant: Variant,
    units: str = "count",
    findings: Findings | None = None,
    prefer_rules: bool = False,
) -> list[ProtocolRow]:
    """Return the rows of graded rollouts, in order.

    Args:
        graded: with what `psas_rules.stated_nodes` found of each.
        references: by problem id.
        units: `count` or `ignore`, as the rules were told.
        findings: of a judge or a person, by response.
        prefer_rules: in a conflict the rules count.

    Errors:
        PrismError: two findings about one thing that contradict each other.
    """
    settings = {"units": units, **({} if findings is None else {"prefer": "rules" if prefer_rules else "file"})}
    rows = []
    for one in graded:
        if one.more is None:
            rows.append(lost_row(PROTOCOL, str(variant), one.about, POLICIES, settings))
            continue
        reference = references[one.problem.id]
        parts = reference.parts_by(one.grade.alternative)
        marks = tuple(marks_by_rules(part, one.more.by_letter[part.letter]) for part in parts)
        marked = Marked(one.about, parts, marks, _notes(one, one.more, reference))
        if findings is not None:
            marked = with_findings(marked, findings, prefer_rules=prefer_rules)
        rows.append(psas_row(marked, variant=variant, settings=settings))
    return rows


def _notes(one: GradedRollout[StatedNodes], found: StatedNodes, reference: PsasReference) -> tuple[str, ...]:
    """Return what a reader of a row should know of the text and of the reference."""
    notes = []
    if found.n_unread:
        notes.append(f"unread formulas, which state nothing: {found.n_unread}")
    if found.is_empty:
        notes.append("the response is empty")
    elif "no_formulas" in one.grade.flags:
        notes.append("no formula could be read, so nothing is decided")
    if reference.n_unreadable:
        notes.append(f"unreadable in the reference, so undecided: {reference.n_unreadable}")
    if one.grade.alternative:
        notes.append(f"steps of the alternative: {one.grade.alternative}")
    return tuple(notes)
