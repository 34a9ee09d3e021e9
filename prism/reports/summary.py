"""The figures of a run: means by model, domain and difficulty, counts of formulas by status, nodes that are missed.

Results say what was graded and how it went; problems and solutions stand in files of their own, and those may have
changed since. So a problem counts here only if the sha256 in the row is its own, and a text only if its sha256 is that
of the row: what does not fit is counted and left away, and a row is never shown beside a text it was not made from.

A row without score is a failure of the grader: it is counted, and enters no mean. Terminal, JSON and page show the
same `Report`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prism.diagnosis.findings import diagnose
from prism.equivalence.verdict import REASONS
from prism.errors import PrismError, in_file
from prism.grading.prepared import PreparedProblem, prepare
from prism.grading.result import Grade
from prism.grading.selection import WITHHELD_REASONS
from prism.latex import solution_text
from prism.problem.collection import load_problems
from prism.problem.plain_values import UNLISTED, named, plain
from prism.problem.schema import Problem
from prism.problem.source import problem_path
from prism.reports.agreement import LEVEL, REPLICATES, Estimate
from prism.reports.cross_tables import Crossing, CrossTable, VariantDifferences, cross_table, variant_differences
from prism.reports.ratings import RULES, Agreement, RatingTable, agreement_of, rating_table
from prism.reports.report_rows import (
    DIGITS,
    NOT_SAID,
    UNRATED,
    ReportRow,
    column_mean,
    read_report_rows,
    row_frame,
    texts,
    texts_of_python,
    with_answers_apart,
)
from prism.reports.run_figures import (
    ErrorCounts,
    LengthFigures,
    SampleFigures,
    errors_by_model,
    length_figures,
    sample_figures,
)
from prism.runs.records import read_records
from prism.runs.rollouts import fields_of, read
from prism.runs.score_files import score_rows

if TYPE_CHECKING:
    import pandas as pd

BINS = ("0", "<.1", "<.2", "<.3", "<.4", "<.5", "<.6", "<.7", "<.8", "<.9", "<1", "1")
"""Of the distribution of scores: nothing, tenths, all. Nothing and all are answers of their own, no tenths."""

_MISSED = 15  # nodes that are listed
_DISAGREEMENTS = 20  # of each judge


# Values. --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Group:
    """Figures of a group of rollouts: those of one model, domain, level or problem, or all.

    Attributes:
        name: of the model, domain or level, or the id of the problem.
        n: number of rollouts.
        n_unscored: rollouts on which the grader failed; the rest has scores.
        mean: of the scores, which is the step-level accuracy.
        strict: share of points of nodes that were matched themselves.
        final: share of rollouts whose final answers are all right.
        bins: number of scores in each of `BINS`.
    """

    name: str
    n: int = field(metadata=named("rollouts"))
    n_unscored: int = field(metadata=named("unscored"))
    mean: Estimate = field(metadata=named("step_accuracy"))
    strict: Estimate
    final: Estimate = field(metadata=named("final_accuracy"))
    bins: tuple[int, ...] = field(metadata=named("scores"))


@dataclass(frozen=True, slots=True)
class NodeCount:
    """How many of `n` scored rollouts match a node (`matched`), and how many have credit for it (`credited`).

    The rollouts are those that were graded by the reference DAG of the node, `alternative`.
    """

    index: int
    n: int = field(metadata=named("rollouts"))
    matched: int
    credited: int
    alternative: str = ""

    def __str__(self) -> str:
        """Return `3`, or of an alternative `3 by energy`."""
        return f"{self.index} by {self.alternative}" if self.alternative else str(self.index)


@dataclass(frozen=True, slots=True)
class ProblemFigures:
    """Figures of the rollouts of one problem, and of its nodes.

    Attributes:
        group: its rollouts.
        problem: None where none fits.
        nodes: in index order, those of alternatives behind.
        rows: its rollouts, in file order.
    """

    group: Group
    problem: Problem | None
    nodes: tuple[NodeCount, ...]
    rows: tuple[ReportRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON."""
        known = self.problem
        return {
            **plain(self.group, DIGITS), "title": known.title if known else None,
            "domain": known.domain if known else None, "level": known.difficulty.level if known else None,
            "nodes": plain(self.nodes),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class StatusCount:
    """Number `n` of formulas with one status and reason, as in `GradedFormula`."""

    status: str
    reason: str
    n: int


@dataclass(frozen=True, slots=True)
class JudgeComparison:
    """A judge's scores against those of the rules; a point is (rules' score, judge's score, number of rollouts)."""

    rater: str
    points: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All figures of a run; terminal, JSON and page show this.

    Attributes:
        sha256: of the result file.
        graders: version and fingerprint of those that made the rows.
        statuses: rows, by status.
        overall: all rollouts.
        models, domains, levels: the same apart; domain and level only of rows whose problem fits.
        problems: from the lowest mean to the highest.
        formula_statuses: numbers of formulas by status and reason, the most frequent first, without lone symbols and
            numbers, which assert nothing.
        n_compact: rows that list no formulas.
        flags: rollouts, by flag.
        n_incident: failures of the grader.
        unfit: rows, by key of `UNFIT`.
        replicates: bootstrap samples asked for.
        has_problems, has_texts: files were named.
        agreement: None without judges.
        judge_comparisons: scores of each judge against those of the rules.
        first_wrong: rollouts of which a first wrong step is known, by its label; None without a diagnosis.
        samples: what several rollouts of a model to a problem give; empty if none has several.
        lengths: scores against the length of solutions; None where no length is known.
        errors: what went wrong, by model.
        crossed: the table that was asked for; None if none was.
        variants: its paired differences between variants of generated problems; None where it has none.
    """

    sha256: str = field(metadata=named("results_sha256"))
    graders: tuple[tuple[str, str], ...]
    statuses: Mapping[str, int]
    overall: Group
    models: tuple[Group, ...]
    domains: tuple[Group, ...]
    levels: tuple[Group, ...]
    problems: tuple[ProblemFigures, ...] = field(metadata=UNLISTED)
    formula_statuses: tuple[StatusCount, ...] = field(metadata=named("formulas"))
    n_compact: int = field(metadata=named("compact_rows"))
    flags: Mapping[str, int]
    n_incident: int = field(metadata=named("incidents"))
    unfit: Mapping[str, int]
    replicates: int = field(metadata=UNLISTED)
    has_problems: bool = field(default=False, metadata=UNLISTED)
    has_texts: bool = field(default=False, metadata=UNLISTED)
    agreement: Agreement | None = field(default=None, metadata=UNLISTED)
    judge_comparisons: tuple[JudgeComparison, ...] = field(default=(), metadata=named("against_rules"))
    first_wrong: Mapping[str, int] | None = None
    samples: tuple[SampleFigures, ...] = field(default=(), metadata=UNLISTED)
    lengths: LengthFigures | None = field(default=None, metadata=UNLISTED)
    errors: tuple[ErrorCounts, ...] = field(default=(), metadata=UNLISTED)
    crossed: CrossTable | None = field(default=None, metadata=UNLISTED)
    variants: VariantDifferences | None = field(default=None, metadata=UNLISTED)
    rows: tuple[ReportRow, ...] = field(default=(), repr=False, metadata=UNLISTED)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, without the rows, as plain values for JSON."""
        alone: dict[str, Any] = {
            "by_length": self.lengths, "crossed": self.crossed, "variant_differences": self.variants,
            "agreement": self.agreement,
        }  # fmt: skip
        lists: dict[str, Any] = {"problems": self.problems, "samples": self.samples, "errors_by_model": self.errors}
        return {
            **plain(self, DIGITS), **{name: one and one.to_dict() for name, one in alone.items()},
            **{name: [one.to_dict() for one in each] for name, each in lists.items()}, "bins": list(BINS),
            "graders": [{"version": version, "fingerprint": sign} for version, sign in self.graders],
            "missed_nodes": [{"problem_id": each.group.name, **plain(node)} for each, node in missed_nodes(self)],
            "bootstrap": {"replicates": self.replicates, "level": LEVEL, "clusters": "problem_id"},
        }  # fmt: skip


def missed_nodes(found: Report) -> list[tuple[ProblemFigures, NodeCount]]:
    """List the nodes that most rollouts have no credit for, at most 15, each with the figures of its problem."""
    listed = [(each, node) for each in found.problems for node in each.nodes if node.credited < node.n]
    listed.sort(key=lambda one: (one[1].credited - one[1].n, -(one[1].n - one[1].credited) / one[1].n))
    return listed[:_MISSED]


def reason_text(key: str) -> str:
    """Return a formula's reason in words; an unknown key as it is."""
    return REASONS.get(key) or WITHHELD_REASONS.get(key) or key


# Reading. -------------------------------------------------------------------------------------------------------


@texts_of_python()
def build_report(
    results: Path,
    *,
    problems: str = "",
    rollouts: Path | None = None,
    judges: Sequence[Path] = (),
    fields: Mapping[str, str] | None = None,
    mapping: Mapping[str, str] | None = None,
    scale: tuple[float, float] | None = None,
    replicates: int = REPLICATES,
    diagnosed: bool = False,
    crossing: Crossing | None = None,
    watched: Callable[[Sequence[ReportRow]], Iterable[ReportRow]] = iter,
) -> Report:
    """Read a file of score rows, with the problems and texts that they were made from, and compute its figures.

    Args:
        results: as `prism run` writes it.
        problems: those it was graded against: a folder, a file, a shipped id; empty for none.
        rollouts: file of the solutions that were graded; None for none.
        judges: files of judgements of the same rollouts.
        fields: names of the fields of the rollouts, as in `rollouts.scan`.
        mapping, scale: of the judges, as in `ratings.rating_table`.
        replicates: bootstrap samples behind the intervals; 0 for none.
        diagnosed: also diagnose each formula that matches no node, and the first wrong step; that takes about as
            long as the grades did.
        crossing: the fields and figures of a table that is asked for.
        watched: gives the rows back one by one as they are diagnosed, for who shows how far it is.

    Errors:
        DataFileError: files that cannot be read; all faults of the rows at once.
        PrismError: invalid options; `judges` without scipy; fields or figures that `crossing` names and no row has.
    """
    raw = list(score_rows(results))
    rows = read_report_rows(results, raw)
    known = _load_row_problems(problems, raw) if problems else {}
    texts = read_solution_texts(rollouts, raw, fields or {}) if rollouts is not None else SolutionTexts({}, frozenset())
    fitted = tuple(
        _attach_sources(row, one, known if problems else None, texts if rollouts is not None else None)
        for row, one in zip(rows, raw, strict=True)
    )
    fitted = with_answers_apart(fitted)
    if diagnosed:
        fitted = _diagnose_rows(watched(fitted))
    panelled = rating_table(results, judges, mapping=mapping, scale=scale) if judges and rows else None
    agreement = None if panelled is None else agreement_of(panelled, replicates=replicates, top=_DISAGREEMENTS)
    frame = row_frame(fitted)
    crossed = None if crossing is None else cross_table(frame, crossing, replicates=replicates)
    return replace(
        _compute_report(results, raw, fitted, frame, replicates), has_problems=bool(problems),
        has_texts=rollouts is not None, agreement=agreement,
        judge_comparisons=_compare_judges(panelled), first_wrong=_count_first_wrong(fitted) if diagnosed else None,
        samples=sample_figures(frame, replicates=replicates), lengths=length_figures(frame, replicates=replicates),
        errors=errors_by_model(frame), crossed=crossed,
        variants=None if crossed is None else variant_differences(frame, crossed, replicates=replicates),
    )  # fmt: skip


def _diagnose_rows(rows: Iterable[ReportRow]) -> tuple[ReportRow, ...]:
    """Add a diagnosis to each row that has a score, formulas and a problem; other rows stay as they are."""
    prepared: dict[str, PreparedProblem] = {}
    found = []
    for row in rows:
        known = row.problem
        if known is None or row.grade.score is None or not row.has_formulas:
            found.append(row)
            continue
        if known.id not in prepared:
            prepared[known.id] = prepare(known)
        found.append(replace(row, diagnosis=diagnose(prepared[known.id], row.grade)))
    return tuple(found)


def _count_first_wrong(rows: Iterable[ReportRow]) -> dict[str, int]:
    """Count rollouts with a known first wrong step by its label, such as `DCE`."""
    known = (row.diagnosis for row in rows if row.diagnosis is not None)
    return dict(Counter(one.label for one in known if one.first_wrong is not None))


def _load_row_problems(source: str, raw: Sequence[Mapping[str, Any]]) -> dict[str, Problem]:
    """Load the problems named in the rows, by id; `source` is a folder, a file or a shipped problem's id."""
    wanted = {str(one["problem_id"]) for one in raw}
    return {name: each for name, each in load_problems(problem_path(source)).items() if name in wanted}


@dataclass(frozen=True, slots=True)
class SolutionTexts:
    """Solution texts by sha256, and the pairs (problem id, sample id) of all solutions that were read."""

    by_sha256: Mapping[str, str]
    ids: frozenset[tuple[str, str]]


def read_solution_texts(source: Path, raw: Sequence[Mapping[str, Any]], fields: Mapping[str, str]) -> SolutionTexts:
    """Read the solution texts that score rows were made from; texts with other sha256 count only by their ids.

    Raises DataFileError where a record lacks the fields.

    Args:
        source: the file of rollouts.
        raw: the score rows.
        fields: names of the fields of the rollouts.
    """
    ids = {str(one["problem_id"]) for one in raw}
    wanted = {str(one.get("solution_sha256")) for one in raw}
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for first in islice(read_records(source), 1):
        with in_file(first.file, f"{first.place or 'record 1'}: "):
            places = fields_of(first.data, fields, (), ids)
        for rollout in read(source, places, ids):
            try:
                text = solution_text(rollout.solution).text
            except PrismError:
                continue  # `run` names such records; none of them has a row
            seen.add((rollout.problem_id, rollout.sample_id))
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
            if digest in wanted:
                found[digest] = text
    return SolutionTexts(found, frozenset(seen))


def _attach_sources(
    row: ReportRow, raw: Mapping[str, Any], known: Mapping[str, Problem] | None, texts: SolutionTexts | None
) -> ReportRow:
    """Return the row with its problem and text where their sha256 are right; `unfit` says why one is missing.

    Args:
        row, raw: the row, read and as it stands in the file.
        known: problems by id; None if no problems were named.
        texts: None if no rollouts were named.
    """
    unfit = []
    problem = text = None
    if known is not None:
        problem = known.get(row.grade.problem_id)
        names = () if problem is None else [each.alternative for each in (problem, *problem.alternatives)]
        is_same = problem is not None and problem.sha256 == raw.get("problem_sha256")
        if not is_same or row.grade.alternative not in names:
            unfit.append("problem_absent" if problem is None else "problem_changed")
            problem = None
    if texts is not None:
        text = texts.by_sha256.get(str(raw.get("solution_sha256")))
        if text is None:
            is_there = (row.grade.problem_id, row.grade.sample_id or "") in texts.ids
            unfit.append("text_changed" if is_there else "text_absent")
    return replace(row, problem=problem, text=text, unfit=tuple(unfit))


# Figures. -------------------------------------------------------------------------------------------------------


def _compute_report(
    results: Path, raw: Sequence[Mapping[str, Any]], rows: tuple[ReportRow, ...], frame: pd.DataFrame, replicates: int
) -> Report:
    """Compute all figures of a report; `raw` are the same rows as mappings from the file, `frame` is as a table."""

    def groups(name_of: Callable[[Problem], str], absent: str) -> tuple[Group, ...]:
        """Compute figures by what the problem of a row says; nothing where no problem of any row says anything."""
        names = texts([None if row.problem is None else name_of(row.problem) or absent for row in rows])
        found = _groups(frame, names, replicates)
        return tuple(one for one in found if len(found) > 1 or one.name != absent)

    graders = {(str(one["grader"].get("version")), str(one["grader"].get("fingerprint")))
               for one in raw if isinstance(one["grader"], Mapping)}  # fmt: skip
    order = {"Easy": 0, "Medium": 1, "Hard": 2}
    levels = groups(lambda problem: problem.difficulty.level or "", UNRATED)
    return Report(
        sha256=hashlib.sha256(results.read_bytes()).hexdigest(),
        graders=tuple(sorted(graders)),
        statuses=Counter(row.grade.status for row in rows),
        overall=_group_figures("all", frame, replicates),
        models=_groups(frame, frame["model"], replicates) if any(row.model for row in rows) else (),
        domains=groups(lambda problem: problem.domain, NOT_SAID),
        levels=tuple(sorted(levels, key=lambda one: order.get(one.name, len(order)))),
        problems=_figures_by_problem(frame),
        formula_statuses=_count_statuses(rows),
        n_compact=sum(not row.has_formulas for row in rows),
        flags=Counter(flag for row in rows for flag in row.grade.flags),
        n_incident=sum(len(row.grade.incidents) for row in rows),
        unfit=Counter(key for row in rows for key in row.unfit),
        replicates=replicates,
        rows=rows,
    )


def _groups(frame: pd.DataFrame, names: pd.Series, replicates: int) -> tuple[Group, ...]:
    """Compute figures by group, sorted by name; rows without a name are in no group."""
    return tuple(_group_figures(str(name), own, replicates) for name, own in frame.groupby(names))


def _group_figures(name: str, own: pd.DataFrame, replicates: int) -> Group:
    """Compute the figures of some rows; scores of final answers alone are in no mean with step scores."""
    mean, strict, final = (column_mean(own, column, replicates=replicates) for column in ("step", "strict", "final"))
    return Group(name, len(own), int(own["score"].isna().sum()), mean, strict, final, count_bins(own["step"].dropna()))


def count_bins(scores: Iterable[float]) -> tuple[int, ...]:
    """Count scores in each interval of `BINS`: 0, tenths, 1.

    >>> count_bins([0, 0.05, 0.1, 0.999, 1, 1])
    (1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2)
    """
    counts = [0] * len(BINS)
    for score in scores:
        counts[0 if score == 0 else len(BINS) - 1 if score == 1 else 1 + int(round(score, 6) * 10)] += 1
    return tuple(counts)


def _figures_by_problem(frame: pd.DataFrame) -> tuple[ProblemFigures, ...]:
    """Compute the figures of each problem, sorted by mean score from the lowest."""
    found = []
    for name, lines in frame.groupby("problem", sort=False):
        own = list(lines["row"])
        problem = next((row.problem for row in own if row.problem is not None), None)
        # Rows of another state of the problem file speak of other nodes; of several states nobody can tell which.
        fits = [row for row in own if row.problem is problem]
        is_one = len({row.problem_sha256 for row in fits}) == 1
        scored = [row.grade for row in fits if row.grade.score is not None and is_one]
        by = {way: [grade for grade in scored if grade.alternative == way] for way in _alternatives_of(scored, problem)}
        nodes = tuple(count for way, grades in by.items() for count in _count_nodes(way, grades))
        found.append(ProblemFigures(_group_figures(str(name), lines, 0), problem, nodes, tuple(own)))
    return tuple(sorted(found, key=lambda one: (one.group.mean.value is None, one.group.mean.value, one.group.name)))


def _alternatives_of(grades: Sequence[Grade], problem: Problem | None) -> list[str]:
    """Return the names of the reference DAGs of some grades: the problem's own, then its alternatives in file order."""
    known = [] if problem is None else [each.alternative for each in (problem, *problem.alternatives)]
    return list(dict.fromkeys([*known, *sorted({grade.alternative for grade in grades})]))


def _count_nodes(alternative: str, grades: Sequence[Grade]) -> list[NodeCount]:
    """Count matches and credit of each node in grades by one reference DAG, in index order."""
    indices = sorted({k for grade in grades for k in (*grade.credited, *grade.missing)})
    matched = Counter(k for grade in grades for k in grade.matched)
    credited = Counter(k for grade in grades for k in grade.credited)
    return [NodeCount(k, len(grades), matched[k], credited[k], alternative) for k in indices]


def _count_statuses(rows: Sequence[ReportRow]) -> tuple[StatusCount, ...]:
    """Count formulas by status and reason, most frequent first; mentions (lone symbols and numbers) are left out."""
    counted = Counter(
        (item.status, item.reason) for row in rows for item in row.grade.formulas if item.status != "mention"
    )
    return tuple(StatusCount(*kind, n) for kind, n in sorted(counted.items(), key=lambda one: (-one[1], one[0])))


def _compare_judges(found: RatingTable | None) -> tuple[JudgeComparison, ...]:
    """Count rollouts for each pair of scores, by the rules and by a judge; empty without score rows in the table."""
    if found is None or RULES not in found.raters:
        return ()
    rules = found.raters.index(RULES)
    compared = []
    for column, rater in enumerate(found.raters):
        if column != rules:
            both = ~np.isnan(found.ratings[:, (rules, column)]).any(axis=1)
            pairs = ((round(float(a), 2), round(float(b), 2)) for a, b in found.ratings[both][:, (rules, column)])
            compared.append(JudgeComparison(rater, tuple((a, b, n) for (a, b), n in sorted(Counter(pairs).items()))))
    return tuple(compared)
