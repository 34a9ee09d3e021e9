"""The figures of a run: means by model, domain and difficulty, what became of formulas, nodes that are missed.

Results say what was graded and how it went; problems and solutions stand in files of their own, and those may have
changed since. So a problem counts here only if the sha256 in the row is its own, and a text only if its sha256 is that
of the row: what does not fit is counted and left away, and a row is never shown beside a text it was not made from.

A row without score is a failure of the grader: it is counted, and enters no mean. Terminal, JSON and page show the
same `Report`.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from prism.diagnosis.findings import Diagnosis, diagnose
from prism.equivalence.verdict import REASONS
from prism.errors import DataFileError, PrismError
from prism.grading.prepared import PreparedProblem, prepare
from prism.grading.result import Grade
from prism.grading.selection import REFUSALS
from prism.latex import solution_text
from prism.problem.collection import load_problems, problem_path
from prism.problem.schema import Problem
from prism.reports.agreement import LEVEL, REPLICATES, Estimate, mean_estimate
from prism.reports.ratings import RULES, Agreement, Panel, agreement_of, panel
from prism.runs.records import records
from prism.runs.rollouts import fields_of, read
from prism.runs.score_files import grade_of, score_rows

SCORED = ("ok", "too_large")  # statuses with a score
BINS = ("0", "<.1", "<.2", "<.3", "<.4", "<.5", "<.6", "<.7", "<.8", "<.9", "<1", "1")
"""Of the distribution of scores: nothing, tenths, all. Nothing and all are answers of their own, no tenths."""

UNFIT = {
    "problem_absent": "no problem of the files has the id in the row",
    "problem_changed": "the problem with this id has another sha256 than the row says",
    "text_absent": "no solution of the file has the ids of the row",
    "text_changed": "the solution with these ids has another sha256 than the row says",
}
"""Why a row is shown without its problem or its text."""

_NOT_SAID, _UNRATED = "(not said)", "(not rated)"
_MISSED = 15  # nodes that are listed
_DISAGREEMENTS = 20  # of each judge
_SHOWN_FAULTS = 20
_DIGITS = 4  # of a share in JSON, so that no last digit depends on the machine


# Values. --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """One row of results, and what fits it.

    Attributes:
        place: its number in the file, from 1.
        model: that wrote the solution; empty where the row does not say.
        has_formulas: the row lists them; a compact one does not.
        problem_sha256: of the problem that it was graded against.
        problem: None where none fits.
        text: of the solution; None where none fits.
        unfit: keys of `UNFIT`.
        diagnosis: where one was asked for, the problem fits and the row lists its formulas; else None.
    """

    place: int
    grade: Grade
    model: str
    has_formulas: bool
    problem_sha256: str = ""
    problem: Problem | None = None
    text: str | None = None
    unfit: tuple[str, ...] = ()
    diagnosis: Diagnosis | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Rollouts that have something in common.

    Attributes:
        name: a model, a domain, a level, the id of a problem.
        n: all of them.
        n_unscored: on which the grader failed; the rest has scores.
        mean: of the scores, which is the step-level accuracy.
        strict: share of points of nodes that were matched themselves.
        final: share of rollouts whose final answers are all right.
        bins: how many scores, by `BINS`.
    """

    name: str
    n: int
    n_unscored: int
    mean: Estimate
    strict: Estimate
    final: Estimate
    bins: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "name": self.name, "rollouts": self.n, "unscored": self.n_unscored, "step_accuracy": _plain(self.mean),
            "strict": _plain(self.strict), "final_accuracy": _plain(self.final), "scores": list(self.bins),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class NodeCount:
    """A node of a problem, and how many of its scored rollouts match it and have credit for it."""

    index: int
    n: int
    matched: int
    credited: int

    def to_dict(self) -> dict[str, int]:
        """As plain values."""
        return {"index": self.index, "rollouts": self.n, "matched": self.matched, "credited": self.credited}


@dataclass(frozen=True, slots=True)
class ProblemFigures:
    """How rollouts of one problem went.

    Attributes:
        group: its rollouts.
        problem: None where none fits.
        nodes: in index order.
        rows: its rollouts, in file order.
    """

    group: Group
    problem: Problem | None
    nodes: tuple[NodeCount, ...]
    rows: tuple[Row, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        known = self.problem
        return {
            **self.group.to_dict(), "title": known.title if known else None, "domain": known.domain if known else None,
            "level": known.difficulty.level if known else None, "nodes": [node.to_dict() for node in self.nodes],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of so many formulas: status and reason, as in a `GradedFormula`."""

    status: str
    reason: str
    n: int


@dataclass(frozen=True, slots=True)
class Against:
    """A judge against the rules: score of the rules, score of the judge, how many rollouts have both."""

    rater: str
    points: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All figures.

    Attributes:
        sha256: of the result file.
        graders: version and fingerprint of those that made the rows.
        statuses: rows, by status.
        overall: all rollouts.
        models, domains, levels: the same apart; domain and level only of rows whose problem fits.
        problems: from the lowest mean to the highest.
        fates: what became of formulas, the most frequent first; lone symbols and numbers, which assert nothing, are
            left away.
        n_compact: rows that list no formulas.
        flags: rollouts, by flag.
        n_incident: failures of the grader.
        unfit: rows, by key of `UNFIT`.
        replicates: bootstrap samples asked for.
        has_problems, has_texts: files were named.
        agreement: None without judges.
        against: each judge against the rules.
        first_wrong: rollouts of which a first wrong step is known, by its label; None without a diagnosis.
    """

    sha256: str
    graders: tuple[tuple[str, str], ...]
    statuses: Mapping[str, int]
    overall: Group
    models: tuple[Group, ...]
    domains: tuple[Group, ...]
    levels: tuple[Group, ...]
    problems: tuple[ProblemFigures, ...]
    fates: tuple[Fate, ...]
    n_compact: int
    flags: Mapping[str, int]
    n_incident: int
    unfit: Mapping[str, int]
    replicates: int
    has_problems: bool = False
    has_texts: bool = False
    agreement: Agreement | None = None
    against: tuple[Against, ...] = ()
    first_wrong: Mapping[str, int] | None = None
    rows: tuple[Row, ...] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As plain values: the figures, not the rows."""
        return {
            "results_sha256": self.sha256,
            "graders": [{"version": version, "fingerprint": sign} for version, sign in self.graders],
            "statuses": dict(sorted(self.statuses.items())), "overall": self.overall.to_dict(), "bins": list(BINS),
            "models": [each.to_dict() for each in self.models], "domains": [each.to_dict() for each in self.domains],
            "levels": [each.to_dict() for each in self.levels],
            "problems": [each.to_dict() for each in self.problems],
            "formulas": [{"status": one.status, "reason": one.reason or None, "n": one.n} for one in self.fates],
            "missed_nodes": [
                {"problem_id": each.group.name, **node.to_dict()} for each, node in missed(self)
            ],
            "compact_rows": self.n_compact, "flags": dict(sorted(self.flags.items())), "incidents": self.n_incident,
            "unfit": dict(sorted(self.unfit.items())),
            "first_wrong": None if self.first_wrong is None else dict(sorted(self.first_wrong.items())),
            "agreement": None if self.agreement is None else self.agreement.to_dict(),
            "against_rules": [
                {"rater": one.rater, "points": [list(point) for point in one.points]} for one in self.against
            ],
            "bootstrap": {"replicates": self.replicates, "level": LEVEL, "clusters": "problem_id"},
        }  # fmt: skip


def missed(found: Report) -> list[tuple[ProblemFigures, NodeCount]]:
    """The nodes that most rollouts have no credit for, of several with as many those of the larger share first."""
    listed = [(each, node) for each in found.problems for node in each.nodes if node.credited < node.n]
    listed.sort(key=lambda one: (one[1].credited - one[1].n, -(one[1].n - one[1].credited) / one[1].n))
    return listed[:_MISSED]


def reason_of(key: str) -> str:
    """A reason of a formula in words."""
    return REASONS.get(key) or REFUSALS.get(key) or key


def _plain(found: Estimate) -> dict[str, Any]:
    numbers = {"value": found.value, "low": found.low, "high": found.high}
    rounded = {name: None if value is None else round(value, _DIGITS) for name, value in numbers.items()}
    return {**rounded, "n": found.n, "reason": found.reason or None}


# Reading. -------------------------------------------------------------------------------------------------------


def report_of(
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
) -> Report:
    """The figures of a file of score rows.

    Args:
        results: as `prism run` writes it.
        problems: what it was graded against: a folder, a file, a shipped id; empty for none.
        rollouts: what was graded.
        judges: judgements of the same rollouts.
        fields: where the rollouts keep what, as in `rollouts.scan`.
        mapping, scale: of the judges, as in `panel.panel`.
        replicates: bootstrap samples behind the intervals; 0 for none.
        diagnosed: say also what is wrong with each formula that matches no node, and which step is the first wrong one;
            that takes about as long as the grades did.

    Errors:
        DataFileError: files that cannot be read; all faults of the rows at once.
        PrismError: options that say nothing.
    """
    raw = list(score_rows(results))
    rows = _rows(results, raw)
    known = _problems(problems, raw) if problems else {}
    texts = _texts(rollouts, raw, fields or {}) if rollouts is not None else _Texts({}, frozenset())
    fitted = tuple(
        _fitted(row, one, known if problems else None, texts if rollouts is not None else None)
        for row, one in zip(rows, raw, strict=True)
    )
    if diagnosed:
        fitted = _diagnosed(fitted)
    panelled = panel(results, judges, mapping=mapping, scale=scale) if judges and rows else None
    agreement = None if panelled is None else agreement_of(panelled, replicates=replicates, top=_DISAGREEMENTS)
    found = _report(results, raw, fitted, replicates)
    return replace(
        found, has_problems=bool(problems), has_texts=rollouts is not None, agreement=agreement,
        against=_against(panelled), first_wrong=_first_wrong(fitted) if diagnosed else None,
    )  # fmt: skip


def _diagnosed(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Rows with what is wrong in them; each problem is prepared once."""
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


def _first_wrong(rows: Iterable[Row]) -> dict[str, int]:
    known = (row.diagnosis for row in rows if row.diagnosis is not None)
    return dict(Counter(one.label for one in known if one.first_wrong is not None))


def _rows(results: Path, raw: Sequence[Mapping[str, Any]]) -> list[Row]:
    rows: list[Row] = []
    faults: list[str] = []
    for place, one in enumerate(raw, start=1):
        try:
            meta = one.get("meta")
            model = meta.get("model") if isinstance(meta, Mapping) else None
            digest = str(one.get("problem_sha256") or "")
            rows.append(Row(place, grade_of(one), "" if model is None else str(model), "formulas" in one, digest))
        except PrismError as error:
            faults.append(f"row {place}: {error}")
    if faults:
        more = [f"and {len(faults) - _SHOWN_FAULTS} more"] if len(faults) > _SHOWN_FAULTS else []
        raise DataFileError(str(results), (*faults[:_SHOWN_FAULTS], *more))
    return rows


def _problems(source: str, raw: Sequence[Mapping[str, Any]]) -> dict[str, Problem]:
    wanted = {str(one["problem_id"]) for one in raw}
    return {name: each for name, each in load_problems(problem_path(source)).items() if name in wanted}


@dataclass(frozen=True, slots=True)
class _Texts:
    """Texts by their sha256, which says all about which row they belong to; and the ids that have any."""

    by_sha256: Mapping[str, str]
    ids: frozenset[tuple[str, str]]


def _texts(source: Path, raw: Sequence[Mapping[str, Any]], fields: Mapping[str, str]) -> _Texts:
    """The texts that rows were made from; rollouts that no row is of do not count."""
    ids = {str(one["problem_id"]) for one in raw}
    wanted = {str(one.get("solution_sha256")) for one in raw}
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for first in islice(records(source), 1):
        try:
            places = fields_of(first.data, fields, (), ids)
        except PrismError as error:
            raise DataFileError(first.file, (f"record 1: {error}",)) from error
        for rollout in read(source, places, ids):
            try:
                text = solution_text(rollout.solution).text
            except PrismError:
                continue  # `run` names such records; none of them has a row
            seen.add((rollout.problem_id, rollout.sample_id))
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
            if digest in wanted:
                found[digest] = text
    return _Texts(found, frozenset(seen))


def _fitted(row: Row, raw: Mapping[str, Any], known: Mapping[str, Problem] | None, texts: _Texts | None) -> Row:
    """The row with the problem and the text that it was made from, if they are there."""
    unfit = []
    problem = text = None
    if known is not None:
        problem = known.get(row.grade.problem_id)
        if problem is None or problem.sha256 != raw.get("problem_sha256"):
            unfit.append("problem_absent" if problem is None else "problem_changed")
            problem = None
    if texts is not None:
        text = texts.by_sha256.get(str(raw.get("solution_sha256")))
        if text is None:
            is_there = (row.grade.problem_id, row.grade.sample_id or "") in texts.ids
            unfit.append("text_changed" if is_there else "text_absent")
    return replace(row, problem=problem, text=text, unfit=tuple(unfit))


# Figures. -------------------------------------------------------------------------------------------------------


def _report(results: Path, raw: Sequence[Mapping[str, Any]], rows: tuple[Row, ...], replicates: int) -> Report:
    numbers = {name: k for k, name in enumerate(sorted({row.grade.problem_id for row in rows}))}

    def groups(name_of: Callable[[Row], str | None]) -> tuple[Group, ...]:
        parted: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            name = name_of(row)
            if name is not None:
                parted[name].append(row)
        return tuple(_group(name, parted[name], numbers, replicates) for name in sorted(parted))

    graders = {(str(one["grader"].get("version")), str(one["grader"].get("fingerprint")))
               for one in raw if isinstance(one["grader"], Mapping)}  # fmt: skip
    order = {"Easy": 0, "Medium": 1, "Hard": 2}
    levels = groups(lambda row: None if row.problem is None else row.problem.difficulty.level or _UNRATED)
    levels = tuple(one for one in levels if len(levels) > 1 or one.name != _UNRATED)
    domains = groups(lambda row: None if row.problem is None else row.problem.domain or _NOT_SAID)
    return Report(
        sha256=hashlib.sha256(results.read_bytes()).hexdigest(),
        graders=tuple(sorted(graders)),
        statuses=Counter(row.grade.status for row in rows),
        overall=_group("all", rows, numbers, replicates),
        models=groups(lambda row: row.model or _NOT_SAID) if any(row.model for row in rows) else (),
        domains=tuple(one for one in domains if len(domains) > 1 or one.name != _NOT_SAID),
        levels=tuple(sorted(levels, key=lambda one: order.get(one.name, len(order)))),
        problems=_by_problem(rows, numbers),
        fates=_fates(rows),
        n_compact=sum(not row.has_formulas for row in rows),
        flags=Counter(flag for row in rows for flag in row.grade.flags),
        n_incident=sum(len(row.grade.incidents) for row in rows),
        unfit=Counter(key for row in rows for key in row.unfit),
        replicates=replicates,
        rows=rows,
    )


def _group(name: str, rows: Sequence[Row], numbers: Mapping[str, int], replicates: int) -> Group:
    scored = [(row, row.grade.score) for row in rows if row.grade.score is not None]

    def mean(value_of: Callable[[Grade], float | None]) -> Estimate:
        known = [(numbers[row.grade.problem_id], value_of(row.grade)) for row, _ in scored]
        pairs = [(cluster, value) for cluster, value in known if value is not None]
        values = np.array([value for _, value in pairs], dtype=np.float64)
        clusters = np.array([cluster for cluster, _ in pairs], dtype=np.int64)
        return mean_estimate(values, clusters, replicates=replicates)

    return Group(
        name, len(rows), len(rows) - len(scored), mean(lambda grade: grade.score),
        mean(lambda grade: grade.policies.get("strict")), mean(lambda grade: float(grade.final_correct)),
        bins_of(score for _, score in scored),
    )  # fmt: skip


def bins_of(scores: Iterable[float]) -> tuple[int, ...]:
    """How many scores, by `BINS`.

    >>> bins_of([0, 0.05, 0.1, 0.999, 1, 1])
    (1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2)
    """
    counts = [0] * len(BINS)
    for score in scores:
        counts[0 if score == 0 else len(BINS) - 1 if score == 1 else 1 + int(round(score, 6) * 10)] += 1
    return tuple(counts)


def _by_problem(rows: Sequence[Row], numbers: Mapping[str, int]) -> tuple[ProblemFigures, ...]:
    parted: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        parted[row.grade.problem_id].append(row)
    found = []
    for name, own in parted.items():
        problem = next((row.problem for row in own if row.problem is not None), None)
        # Rows of another state of the problem file speak of other nodes; of several states nobody can tell which.
        fits = [row for row in own if row.problem is problem]
        is_one = len({row.problem_sha256 for row in fits}) == 1
        scored = [row.grade for row in fits if row.grade.score is not None and is_one]
        indices = sorted({k for grade in scored for k in (*grade.credited, *grade.missing)})
        matched = Counter(k for grade in scored for k in grade.matched)
        credited = Counter(k for grade in scored for k in grade.credited)
        nodes = tuple(NodeCount(k, len(scored), matched[k], credited[k]) for k in indices)
        found.append(ProblemFigures(_group(name, own, numbers, 0), problem, nodes, tuple(own)))
    worst = {id(one): one.group.mean.value for one in found}
    return tuple(sorted(found, key=lambda one: (2.0 if worst[id(one)] is None else worst[id(one)], one.group.name)))


def _fates(rows: Sequence[Row]) -> tuple[Fate, ...]:
    counted = Counter(
        (item.status, item.reason) for row in rows for item in row.grade.formulas if item.status != "mention"
    )
    return tuple(Fate(*kind, n) for kind, n in sorted(counted.items(), key=lambda one: (-one[1], one[0])))


def _against(found: Panel | None) -> tuple[Against, ...]:
    if found is None or RULES not in found.raters:
        return ()
    rules = found.raters.index(RULES)
    told = []
    for column, rater in enumerate(found.raters):
        if column != rules:
            both = ~np.isnan(found.ratings[:, (rules, column)]).any(axis=1)
            pairs = ((round(float(a), 2), round(float(b), 2)) for a, b in found.ratings[both][:, (rules, column)])
            told.append(Against(rater, tuple((a, b, n) for (a, b), n in sorted(Counter(pairs).items()))))
    return tuple(told)
