"""A panel: the ratings of several raters beside each other, item by item, and what they say together.

An item is a solution. Judgements find theirs by problem and sample; where a file names only one of the two, or the
model that wrote the solution, that has to be enough to tell. What finds none is counted with the reason, before any
coefficient is shown, and an item that somebody has not rated is not rated 0 by him.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from prism.errors import DataFileError, PrismError
from prism.reports.agreement import (
    LEVEL,
    REPLICATES,
    Estimate,
    Floats,
    Ints,
    RankTest,
    estimates,
    mean_estimate,
    rank_test,
)
from prism.reports.judgements import DROPPED, Judgement, judgements, row_reason, scored
from prism.runs.records import ABSENT, at_path, records
from prism.runs.score_files import is_score_row, score_rows

RULES = "rules"  # the rater's name of score rows
UNALIGNED = {
    **DROPPED,
    "not_graded": "the row of results has no score",
    "not_in_results": "no row of results is of that solution",
    "ambiguous": "nothing says of which of several solutions",
    "repeated": "rated before; the first counts here, all of them for how reliable the rater is",
}
"""Why a judgement counts for no coefficient."""

_MAX_RATERS = 20
_JOINTS = ("/", "|", " | ", ":", "::", "__", "#")  # between problem and sample, where one id holds both


@dataclass(frozen=True, slots=True)
class Alignment:
    """What became of one rater's judgements.

    Attributes:
        rater: its name.
        n_judgement: read from its file.
        aligned: that count.
        dropped: that do not, by reason: keys of `UNALIGNED`.
        unrated: items that this rater has no score for.
    """

    rater: str
    n_judgement: int
    aligned: int
    dropped: Mapping[str, int]
    unrated: int

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "rater": self.rater, "judgements": self.n_judgement, "aligned": self.aligned,
            "dropped": dict(sorted(self.dropped.items())), "unrated": self.unrated,
        }  # fmt: skip


@dataclass(frozen=True)
class Panel:
    """Ratings of the same items by several raters.

    Attributes:
        items: problem and sample of each.
        raters: names.
        ratings: float64[n_item, n_rater], NaN where there is none.
        reasons: what was said for a rating, by item and rater.
        alignment: what became of each rater's judgements.
        judged: all judgements with a score, by rater, repeated ones and comparisons of two solutions among them.
        categories: ratings that could occur, where that is known.
    """

    items: tuple[tuple[str, str], ...]
    raters: tuple[str, ...]
    ratings: Floats
    reasons: Mapping[tuple[int, int], str]
    alignment: tuple[Alignment, ...]
    judged: Mapping[str, Sequence[Judgement]]
    categories: tuple[float, ...] = ()

    @property
    def clusters(self) -> Ints:
        """The problem of each item, as whole numbers: int64[n_item]."""
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(problem, len(numbers)) for problem, _ in self.items], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item that two raters see differently: its ids, both scores, and what each said."""

    problem_id: str
    sample_id: str
    scores: tuple[float, float]
    reasons: tuple[str, str]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "problem_id": self.problem_id, "sample_id": self.sample_id, "scores": list(self.scores),
            "reasons": list(self.reasons),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pair:
    """Two raters: items and problems that both rated, coefficients, the test of their ranks, largest disagreements."""

    raters: tuple[str, str]
    n: int
    n_problem: int
    coefficients: Mapping[str, Estimate]
    test: RankTest
    disagreements: tuple[Disagreement, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "raters": list(self.raters), "n": self.n, "problems": self.n_problem,
            "coefficients": _plain(self.coefficients), "kendall_test": self.test.to_dict(),
            "disagreements": [each.to_dict() for each in self.disagreements],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reliability:
    """Whether a rater repeats itself.

    Attributes:
        rater: its name.
        flip_rate: share of two judgements of the same thing, shown in the same order, that differ; a mean over items.
        order_flip_rate: the same of two that were shown in different orders.
        order_shift: mean score in the first order less that in the second, where there are two orders.
        orders: the orders, sorted.
    """

    rater: str
    flip_rate: Estimate
    order_flip_rate: Estimate
    order_shift: Estimate
    orders: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "rater": self.rater, "flip_rate": self.flip_rate.to_dict(),
            "order_flip_rate": self.order_flip_rate.to_dict(), "order_shift": self.order_shift.to_dict(),
            "orders": list(self.orders),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a panel says together.

    Attributes:
        n_item: items, rated by one rater or more.
        alignment: what became of each rater's judgements.
        pairs: each two raters.
        together: coefficients of all raters at once; of two raters empty.
        reliability: of each rater that judged something more than once.
        replicates: bootstrap samples asked for.
    """

    n_item: int
    alignment: tuple[Alignment, ...]
    pairs: tuple[Pair, ...]
    together: Mapping[str, Estimate]
    reliability: tuple[Reliability, ...]
    replicates: int

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "items": self.n_item, "alignment": [each.to_dict() for each in self.alignment],
            "pairs": [each.to_dict() for each in self.pairs], "together": _plain(self.together),
            "reliability": [each.to_dict() for each in self.reliability],
            "bootstrap": {"replicates": self.replicates, "level": LEVEL, "clusters": "problem_id"},
        }  # fmt: skip


def _plain(coefficients: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: each.to_dict() for name, each in coefficients.items()}


# Gathering. -----------------------------------------------------------------------------------------------------


def panel(
    results: Path,
    judges: Sequence[Path] = (),
    *,
    score: str = "score",
    mapping: Mapping[str, str] | None = None,
    scale: tuple[float, float] | None = None,
    cut: float | None = None,
) -> Panel:
    """The ratings of all files, item by item.

    Args:
        results: score rows, which say what the items are; or judgements, if people are compared with people.
        judges: files of judgements.
        score: which number of a score row counts: `score`, `final_correct`, `score_strict`, `policies.final`.
        mapping: fields of the judges' files.
        scale: lowest and highest score of the judges, which become 0 and 1; None leaves them as they are.
        cut: scores from here up become 1, all others 0; None leaves them as they are.

    Errors:
        DataFileError: files that cannot be read, or hold nothing to compare.
        PrismError: a score that the rows lack, a scale without width, a map that names no field.
    """
    if scale is not None and not scale[0] < scale[1]:
        raise PrismError(f"scale {scale[0]:g}:{scale[1]:g}: expected LOW:HIGH, LOW below HIGH")
    gathered: dict[str, list[Judgement]] = {}
    if _holds_score_rows(results):
        gathered[RULES] = [_of_row(row, score, results) for row in score_rows(results)]
        items = _items(gathered[RULES])
        judged_files = list(judges)
    else:
        items = {}
        judged_files = [results, *judges]
    problems = {problem for problem, _ in items}
    for file in judged_files:
        found: dict[str, list[Judgement]] = {}
        for one in judgements(file, mapping=mapping, problem_ids=problems):
            found.setdefault(one.rater, []).append(_scaled(one, scale))
        if "" in found and len(found) > 1 and all(one.score is None for one in found[""]):
            failed = found.pop("")  # what came to nothing names no rater, and is missing from each of the file
            found = {rater: [*listed, *failed] for rater, listed in found.items()}
        if file == results:
            items = _items(one for listed in found.values() for one in listed)
            problems = {problem for problem, _ in items}
        for rater, listed in found.items():
            name = rater if rater and len(judged_files) == 1 else _name(file, rater, alone=len(found) == 1)
            while name in gathered:
                name += "'"
            gathered[name] = listed
    if len(gathered) < 2:
        raise DataFileError(str(results), ("one rater only; name a file of judgements beside it",))
    if len(gathered) > _MAX_RATERS:
        raise DataFileError(str(results), (f"{len(gathered)} raters; at most {_MAX_RATERS} are compared",))
    return _aligned(items, gathered, cut)


def _holds_score_rows(path: Path) -> bool:
    if path.suffix == ".eval":
        return False
    return any(is_score_row(record.data) for record in _first(path))


def _first(path: Path) -> Iterable[Any]:
    for record in records(path):
        yield record
        return


def _name(file: Path, rater: str, *, alone: bool) -> str:
    return file.name.split(".")[0] if alone or not rater else f"{file.name.split('.')[0]}:{rater}"


def _of_row(row: Mapping[str, Any], score: str, source: Path) -> Judgement:
    value = at_path(row, tuple(score.split(".")))
    if value is ABSENT:
        raise DataFileError(str(source), (f"no score {score!r} in the row of {row['problem_id']}, {row['sample_id']}",))
    found = scored(value)
    model = at_path(row, ("meta", "model"))
    return Judgement(
        str(row["problem_id"]), str(row["sample_id"]), found.score, reason=row_reason(row),
        model=model if isinstance(model, str) else None, dropped="" if found.score is not None else "not_graded",
    )  # fmt: skip


def _scaled(one: Judgement, scale: tuple[float, float] | None) -> Judgement:
    if scale is None or one.score is None or one.dropped:
        return one
    return replace(one, score=(one.score - scale[0]) / (scale[1] - scale[0]))


def _items(listed: Iterable[Judgement]) -> dict[tuple[str, str], str | None]:
    """Problem and sample of each item, with the model that wrote it; comparisons of two solutions are none."""
    kept = [one for one in listed if one.dropped != "pairwise"]
    return {(one.problem_id or "", one.sample_id or one.model or ""): one.model for one in kept}


class _Index:
    """Finds the item that a judgement is of."""

    def __init__(self, items: Mapping[tuple[str, str], str | None]) -> None:
        self.pairs = {pair: at for at, pair in enumerate(items)}
        self.model_of = list(items.values())
        self.models: dict[tuple[str, str], set[int]] = defaultdict(set)
        self.names: dict[str, set[int]] = defaultdict(set)
        for at, ((problem, sample), model) in enumerate(items.items()):
            if model is not None:
                self.models[problem, model].add(at)
            for name in (problem, sample, *(f"{problem}{joint}{sample}" for joint in _JOINTS)):
                self.names[name].add(at)

    def find(self, one: Judgement) -> int | str:
        """The number of the item, or why there is none: a key of `UNALIGNED`."""
        problem, sample, model = one.problem_id, one.sample_id, one.model
        own = self.pairs.get((problem or "", sample or model or ""))
        if own is not None:
            return own
        found: set[int] = self.models.get((problem or "", model or ""), set()) if sample in (None, model) else set()
        if not found and (problem is None or sample is None):
            named = self.names.get((problem if sample is None else sample) or "", set())
            # Of another model's solution of the same problem it says nothing.
            found = {at for at in named if model is None or self.model_of[at] in (None, model)}
        if len(found) == 1:
            return next(iter(found))
        return "ambiguous" if found else "not_in_results"


def _aligned(
    items: Mapping[tuple[str, str], str | None], gathered: Mapping[str, Sequence[Judgement]], cut: float | None
) -> Panel:
    index = _Index(items)
    ratings = np.full((len(items), len(gathered)), np.nan)
    reasons: dict[tuple[int, int], str] = {}
    alignment = []
    for column, (rater, listed) in enumerate(gathered.items()):
        dropped: Counter[str] = Counter()
        # Of a problem that is judged twice without a word on which solution, the two may be of different ones.
        bare = Counter(one.problem_id for one in listed if one.sample_id is None and one.model is None)
        for one in listed:
            is_bare = one.sample_id is None and one.model is None and bare[one.problem_id] > 1
            at = one.dropped or ("ambiguous" if is_bare else index.find(one))
            if isinstance(at, str):
                dropped[at] += 1
            elif not np.isnan(ratings[at, column]):
                dropped["repeated"] += 1
            else:
                ratings[at, column] = _cut(one.score or 0.0, cut)
                reasons[at, column] = one.reason
        rated = int((~np.isnan(ratings[:, column])).sum())
        alignment.append(Alignment(rater, len(listed), rated, dict(dropped), len(items) - rated))
    judged = {
        rater: [one for one in listed if one.score is not None] for rater, listed in gathered.items()
    }  # comparisons are cut too: a tie is half a win
    if cut is not None:
        judged = {
            rater: [replace(one, score=_cut(one.score or 0.0, cut)) for one in listed]
            for rater, listed in judged.items()
        }
    return Panel(
        tuple(items), tuple(gathered), ratings, reasons, tuple(alignment), judged, () if cut is None else (0.0, 1.0)
    )


def _cut(score: float, cut: float | None) -> float:
    return score if cut is None else float(score >= cut)


# What they say together. ----------------------------------------------------------------------------------------


def agreement_of(found: Panel, *, replicates: int = REPLICATES, top: int = 10) -> Agreement:
    """All coefficients of a panel, and the largest disagreements.

    Args:
        found: the panel.
        replicates: bootstrap samples; 0 for no intervals.
        top: disagreements that are listed of each pair.
    """
    clusters = found.clusters
    pairs = tuple(
        _pair(found, clusters, columns, replicates, top) for columns in combinations(range(len(found.raters)), 2)
    )
    together: Mapping[str, Estimate] = {}
    if len(found.raters) > 2:
        together = estimates(found.ratings, clusters, categories=found.categories, replicates=replicates)
    reliable = (_reliability(rater, listed, replicates) for rater, listed in found.judged.items())
    n_item = int((~np.isnan(found.ratings)).any(axis=1).sum())
    kept = tuple(each for each in reliable if each.flip_rate.n or each.order_flip_rate.n)
    return Agreement(n_item, found.alignment, pairs, together, kept, replicates)


def _pair(found: Panel, clusters: Ints, columns: tuple[int, int], replicates: int, top: int) -> Pair:
    ratings = found.ratings[:, columns]
    both = ~np.isnan(ratings).any(axis=1)
    apart = np.where(both, np.abs(ratings[:, 1] - ratings[:, 0]), 0.0)
    order = sorted(np.flatnonzero(apart > 0).tolist(), key=lambda at: (-apart[at], found.items[at]))
    return Pair(
        (found.raters[columns[0]], found.raters[columns[1]]), int(both.sum()), len(np.unique(clusters[both])),
        estimates(ratings, clusters, categories=found.categories, replicates=replicates), rank_test(ratings),
        tuple(
            Disagreement(
                *found.items[at], (float(ratings[at, 0]), float(ratings[at, 1])),
                (found.reasons.get((at, columns[0]), ""), found.reasons.get((at, columns[1]), "")),
            )
            for at in order[:top]
        ),
    )  # fmt: skip


def _reliability(rater: str, listed: Sequence[Judgement], replicates: int) -> Reliability:
    things: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in listed:
        if one.score is not None:
            key = (one.problem_id or one.sample_id or "", one.sample_id or "", one.model or "")
            things[key][one.order or ""].append(one.score)
    orders = tuple(sorted({order for seen in things.values() for order in seen if order}))
    same: list[tuple[str, float]] = []
    swapped: list[tuple[str, float]] = []
    shifts: list[tuple[str, float]] = []
    for (problem, *_), seen in things.items():
        within = [a != b for scores in seen.values() for a, b in combinations(scores, 2)]
        if within:
            same.append((problem, float(np.mean(within))))
        shown = [seen[order] for order in orders if order in seen]
        across = [a != b for one, other in combinations(shown, 2) for a in one for b in other]
        if across:
            swapped.append((problem, float(np.mean(across))))
        if len(orders) == 2 and len(shown) == 2:
            shifts.append((problem, float(np.mean(shown[0]) - np.mean(shown[1]))))
    flip, order_flip, shift = (_mean(pairs, replicates) for pairs in (same, swapped, shifts))
    return Reliability(rater, flip, order_flip, shift, orders)


def _mean(pairs: Sequence[tuple[str, float]], replicates: int) -> Estimate:
    numbers: dict[str, int] = {}
    clusters = np.array([numbers.setdefault(problem, len(numbers)) for problem, _ in pairs], dtype=np.int64)
    return mean_estimate(np.array([value for _, value in pairs]), clusters, replicates=replicates)
