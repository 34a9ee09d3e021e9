"""The ratings of several raters in one table, item by item, and how far they agree.

An item is a solution. Judgements find theirs by problem and sample; where a file names only one of the two, or the
model that wrote the solution, that has to be enough to tell. What finds none is counted with the reason, before any
coefficient is shown, and an item that a rater has not rated has no rating there, not 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from prism.errors import DataFileError, PrismError
from prism.problem.plain_values import UNLISTED, named, plain
from prism.reports.agreement import LEVEL, REPLICATES, Estimate, estimate_coefficients, mean_estimate, numbered
from prism.reports.comparison.paired_tests import RankTest, kendall_test
from prism.reports.judgements import DROPPED, Judgement, read_judgements, read_score, score_row_summary
from prism.reports.rating_sets import Floats, Ints
from prism.runs.records import ABSENT, at_path, read_records
from prism.runs.score_files import is_score_row, score_rows

RULES = "rules"  # the rater's name of score rows
SETTLED = "settled"  # that of ratings on which all raters agree or an adjudicator has decided
UNALIGNED = {
    **DROPPED,
    "not_graded": "the row of results has no score",
    "not_in_results": "no row of results is of that solution",
    "ambiguous": "nothing says of which of several solutions",
    "not_in_sample": "of a solution that was not drawn for the sheet",
    "repeated": "rated before; the first counts here, all of them for how reliable the rater is",
}
"""Why a judgement counts for no coefficient."""

_ROUNDING = 1e-9  # of a score that was brought to a scale from 0 to 1
_MAX_RATERS = 20  # compared at once: each with each other
_JOINTS = ("/", "|", " | ", ":", "::", "__", "#")  # between problem and sample, where one id holds both


@dataclass(frozen=True, slots=True)
class Alignment:
    """Counts for one rater: judgements read, assigned to items, and dropped by reason.

    Attributes:
        rater: its name.
        n_judgement: judgements in its file.
        aligned: judgements that were assigned to an item.
        dropped: judgements that were not, by reason: keys of `UNALIGNED`.
        unrated: items without a score by this rater.
    """

    rater: str
    n_judgement: int = field(metadata=named("judgements"))
    aligned: int
    dropped: Mapping[str, int]
    unrated: int


@dataclass(frozen=True)
class RatingTable:
    """Ratings of the same items by several raters.

    Attributes:
        items: problem and sample of each.
        raters: names.
        ratings: float64[n_item, n_rater], NaN where there is none.
        reasons: the rater's reason for a rating, by item and rater.
        alignment: of each rater.
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
        """Problem of each item as a whole number from 0: int64[n_item]."""
        return numbered(problem for problem, _ in self.items)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item that two raters score differently: its ids, both scores, and the reason each rater gave."""

    problem_id: str
    sample_id: str
    scores: tuple[float, float]
    reasons: tuple[str, str]


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Agreement of two raters: how many items and problems both rated, coefficients, rank test, disagreements."""

    raters: tuple[str, str]
    n: int
    n_problem: int = field(metadata=named("problems"))
    coefficients: Mapping[str, Estimate]
    test: RankTest = field(metadata=named("kendall_test"))
    disagreements: tuple[Disagreement, ...]


@dataclass(frozen=True, slots=True)
class Reliability:
    """How consistently a rater scores who judged the same solution more than once.

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


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of all raters of a table, pair by pair and together.

    Attributes:
        n_item: items, rated by one rater or more.
        alignment: of each rater.
        pairs: every two raters.
        together: coefficients of all raters at once, without what was settled; of two raters empty.
        reliability: of each rater that judged something more than once.
        replicates: bootstrap samples asked for.
    """

    n_item: int = field(metadata=named("items"))
    alignment: tuple[Alignment, ...]
    pairs: tuple[RaterPair, ...]
    together: Mapping[str, Estimate]
    reliability: tuple[Reliability, ...]
    replicates: int = field(metadata=UNLISTED)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON."""
        return {**plain(self), "bootstrap": bootstrap_facts(self.replicates)}


def bootstrap_facts(replicates: int) -> dict[str, Any]:
    """Return how intervals were made, as plain values for JSON."""
    return {"replicates": replicates, "level": LEVEL, "clusters": "problem_id"}


# Gathering. -----------------------------------------------------------------------------------------------------


class Reading(TypedDict, total=False):
    """How the files of raters are read.

    Attributes:
        score: the number of a score row that is compared: `score`, `final_correct`, `score_strict`, `policies.final`.
        mapping: fields of the judges' files.
        scale: lowest and highest score of the judges, which become 0 and 1; None leaves them as they are.
    """

    score: str
    mapping: Mapping[str, str] | None
    scale: tuple[float, float] | None


def rating_table(
    results: Path, judges: Sequence[Path] = (), *, cut: float | None = None, **reading: Unpack[Reading]
) -> RatingTable:
    """Read the scores of all raters from their files into one table of items by raters.

    Args:
        cut: scores from here up become 1, all others 0; None leaves them as they are.
        results, judges: as in `gather_judgements`.

    Errors:
        DataFileError: files that cannot be read, or hold nothing to compare.
        PrismError: a score that the rows lack, a scale without width or that scores do not fit, a cut outside of it, a
            map that names no field.
    """
    scale = reading.get("scale")
    items, gathered = gather_judgements(results, judges, **reading)
    if RULES in gathered or scale is not None:
        _require_cut(cut, scale)
        for rater, listed in gathered.items():
            if rater != RULES:
                require_scale(rater, listed, scale)
    require_raters(results, gathered)
    return assign_judgements(items, gathered, cut)


Items = dict[tuple[str, str], str | None]  # problem and sample id of each, with the model that wrote it


def gather_judgements(
    results: Path, judges: Sequence[Path], **reading: Unpack[Reading]
) -> tuple[Items, dict[str, list[Judgement]]]:
    """Read the judgements of all raters from their files; return the items that they are about, and all by rater.

    Args:
        results: score rows, which define the items; or judgements, if people are compared with people.
        judges: files of judgements.

    Errors:
        DataFileError: files that cannot be read.
        PrismError: a score that the rows lack, a scale without width, a map that names no field.
    """
    score, mapping, scale = reading.get("score", "score"), reading.get("mapping"), reading.get("scale")
    if scale is not None and not scale[0] < scale[1]:
        raise PrismError(f"scale {scale[0]:g}:{scale[1]:g}: expected LOW:HIGH, LOW below HIGH")
    gathered: dict[str, list[Judgement]] = {}
    if holds_score_rows(results):
        gathered[RULES] = [_judgement_of_row(row, score, results) for row in score_rows(results)]
        items = _judged_items(gathered[RULES])
        judged_files = list(judges)
    else:
        items = {}
        judged_files = [results, *judges]
    problems = {problem for problem, _ in items}
    for file in judged_files:
        found: dict[str, list[Judgement]] = {}
        for one in read_judgements(file, mapping=mapping, problem_ids=problems):
            found.setdefault(one.rater, []).append(_scaled(one, scale))
        if "" in found and len(found) > 1 and all(one.score is None for one in found[""]):
            failed = found.pop("")  # what came to nothing names no rater, and is missing from each of the file
            found = {rater: [*listed, *failed] for rater, listed in found.items()}
        if file == results:
            items = _judged_items(one for listed in found.values() for one in listed)
            problems = {problem for problem, _ in items}
        for rater, listed in found.items():
            name = rater if rater and len(judged_files) == 1 else _rater_name(file, rater, alone=len(found) == 1)
            while name in gathered:
                name += "'"
            gathered[name] = listed
    return items, gathered


def require_raters(results: Path, gathered: Mapping[str, Sequence[Judgement]]) -> None:
    """Raise a DataFileError about `results` unless there are two raters or more, and not too many."""
    if len(gathered) < 2:
        raise DataFileError(str(results), ("one rater only; name a file of judgements beside it",))
    if len(gathered) > _MAX_RATERS:
        raise DataFileError(str(results), (f"{len(gathered)} raters; at most {_MAX_RATERS} are compared",))


def require_scale(rater: str, listed: Iterable[Judgement], scale: tuple[float, float] | None) -> None:
    """Refuse scores of a judge that lie outside of the scale, from 0 to 1 where none was named.

    Errors:
        PrismError: there are such scores.
    """
    low, high = scale or (0.0, 1.0)
    scores = [one.score for one in listed if one.score is not None and not one.dropped]
    if scores and not (min(scores) >= -_ROUNDING and max(scores) <= 1 + _ROUNDING):
        least, most = (low + score * (high - low) for score in (min(scores), max(scores)))
        found = f"scores from {least:g} to {most:g} do not fit {low:g}:{high:g}"
        raise PrismError(f"{rater}: {found}; say --scale LOW:HIGH")


def _require_cut(cut: float | None, scale: tuple[float, float] | None) -> None:
    """Refuse a cut that is not on the scale on which scores are compared, which is from 0 to 1.

    Errors:
        PrismError: it lies outside.
    """
    if cut is None or 0 <= cut <= 1:
        return
    told = f"cut {cut:g}: scores are compared from 0 to 1"
    if scale is not None and scale[0] <= cut <= scale[1]:
        told += f"; {cut:g} of {scale[0]:g}:{scale[1]:g} is {(cut - scale[0]) / (scale[1] - scale[0]):g}"
    raise PrismError(told)


def holds_score_rows(path: Path) -> bool:
    """Return True if the first record of a file is a PRISM score row."""
    if path.suffix == ".eval":
        return False
    return any(is_score_row(record.data) for record in islice(read_records(path), 1))


def _rater_name(file: Path, rater: str, *, alone: bool) -> str:
    """Name a rater `FILE`, or `FILE:RATER` if the file has several; `alone` is True for the only rater of a file."""
    return file.name.split(".")[0] if alone or not rater else f"{file.name.split('.')[0]}:{rater}"


def _judgement_of_row(row: Mapping[str, Any], score: str, source: Path) -> Judgement:
    """Convert a score row to a judgement by the rules; `score` is the path of its number, such as `policies.final`.

    Errors:
        DataFileError: the row lacks that number.
    """
    value = at_path(row, tuple(score.split(".")))
    if value is ABSENT and row["score"] is None:
        value = None  # a row without score has no policies
    if value is ABSENT:
        raise DataFileError(str(source), (f"no score {score!r} in the row of {row['problem_id']}, {row['sample_id']}",))
    found = read_score(value)
    model = at_path(row, ("meta", "model"))
    return Judgement(
        str(row["problem_id"]), str(row["sample_id"]), found.score, reason=score_row_summary(row),
        model=model if isinstance(model, str) else None, dropped="" if found.score is not None else "not_graded",
    )  # fmt: skip


def _scaled(judgement: Judgement, scale: tuple[float, float] | None) -> Judgement:
    """Map a judgement's score linearly from `scale` (lowest, highest) to [0, 1]; None leaves the score as it is."""
    if scale is None or judgement.score is None or judgement.dropped:
        return judgement
    return replace(judgement, score=(judgement.score - scale[0]) / (scale[1] - scale[0]))


def _judged_items(listed: Iterable[Judgement]) -> dict[tuple[str, str], str | None]:
    """Map (problem id, sample id) of each judged solution to the model that wrote it, without pairwise judgements."""
    single = [one for one in listed if one.dropped != "pairwise"]
    return {(one.problem_id or "", one.sample_id or one.model or ""): one.model for one in single}


class _ItemIndex:
    """Index of items by problem, sample and model, to find the item that a judgement is about."""

    def __init__(self, items: Mapping[tuple[str, str], str | None]) -> None:
        """Index items: (problem id, sample id) with the model that wrote the solution, None if unknown."""
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
        """Return the number of the item that a judgement is about, or why none was found: a key of `UNALIGNED`."""
        problem, sample, model = one.problem_id, one.sample_id, one.model
        own = self.pairs.get((problem or "", sample or model or ""))
        if own is not None:
            return own
        found: set[int] = self.models.get((problem or "", model or ""), set()) if sample in (None, model) else set()
        if not found and (problem is None or sample is None):
            named = self.names.get((problem if sample is None else sample) or "", set())
            # A judgement that names a model is not about another model's solution of the same problem.
            found = {at for at in named if model is None or self.model_of[at] in (None, model)}
        if len(found) == 1:
            return next(iter(found))
        return "ambiguous" if found else "not_in_results"


def assign_judgements(
    items: Mapping[tuple[str, str], str | None], gathered: Mapping[str, Sequence[Judgement]], cut: float | None = None
) -> RatingTable:
    """Assign judgements to items: the first of a rater for an item becomes a rating, others are counted by reason.

    Args:
        items: problem and sample id of each item, with the model that wrote it.
        gathered: judgements by rater.
        cut: scores from here up become 1, all others 0; None leaves them as they are.
    """
    index = _ItemIndex(items)
    ratings = np.full((len(items), len(gathered)), np.nan)
    reasons: dict[tuple[int, int], str] = {}
    alignment = []
    for column, (rater, listed) in enumerate(gathered.items()):
        dropped: Counter[str] = Counter()
        # Two judgements of a problem that name neither sample nor model may be about different solutions.
        bare = Counter(one.problem_id for one in listed if one.sample_id is None and one.model is None)
        for one in listed:
            is_bare = one.sample_id is None and one.model is None and bare[one.problem_id] > 1
            at = one.dropped or ("ambiguous" if is_bare else index.find(one))
            if isinstance(at, str):
                dropped[at] += 1
            elif not np.isnan(ratings[at, column]):
                dropped["repeated"] += 1
            else:
                ratings[at, column] = _thresholded(one.score or 0.0, cut)
                reasons[at, column] = one.reason
        rated = int((~np.isnan(ratings[:, column])).sum())
        alignment.append(Alignment(rater, len(listed), rated, dict(dropped), len(items) - rated))
    judged = {
        rater: [one for one in listed if one.score is not None] for rater, listed in gathered.items()
    }  # comparisons are cut too: a tie is half a win
    if cut is not None:
        judged = {
            rater: [replace(one, score=_thresholded(one.score or 0.0, cut)) for one in listed]
            for rater, listed in judged.items()
        }
    return RatingTable(
        tuple(items), tuple(gathered), ratings, reasons, tuple(alignment), judged, () if cut is None else (0.0, 1.0)
    )


def _thresholded(score: float, cut: float | None) -> float:
    """Return 1.0 for a score of at least `cut`, else 0.0; the score itself if `cut` is None."""
    return score if cut is None else float(score >= cut)


# Agreement. ----------------------------------------------------------------------------------------


def agreement_of(found: RatingTable, *, replicates: int = REPLICATES, top: int = 10) -> Agreement:
    """Compute the agreement of all raters of a table: each pair, all together, repeated judgements.

    Args:
        found: the ratings.
        replicates: bootstrap samples; 0 for no intervals.
        top: disagreements that are listed of each pair.
    """
    clusters = found.clusters
    pairs = tuple(
        _compare_pair(found, clusters, columns, replicates, top)
        for columns in combinations(range(len(found.raters)), 2)
    )
    together: Mapping[str, Estimate] = {}
    own = [at for at, rater in enumerate(found.raters) if rater != SETTLED]
    if len(own) > 2:
        ratings = found.ratings[:, own]
        together = estimate_coefficients(ratings, clusters, categories=found.categories, replicates=replicates)
    n_item = int((~np.isnan(found.ratings)).any(axis=1).sum())
    return Agreement(n_item, found.alignment, pairs, together, reliability_of(found, replicates), replicates)


def reliability_of(found: RatingTable, replicates: int) -> tuple[Reliability, ...]:
    """Return how consistent each rater is who judged something more than once."""
    reliable = (_reliability(rater, listed, replicates) for rater, listed in found.judged.items())
    return tuple(each for each in reliable if each.flip_rate.n or each.order_flip_rate.n)


def _compare_pair(found: RatingTable, clusters: Ints, columns: tuple[int, int], replicates: int, top: int) -> RaterPair:
    """Compare two raters: coefficients, rank test, and the `top` largest disagreements.

    Args:
        clusters: problem of each item as a whole number.
        columns: of the two raters in the table.
    """
    ratings = found.ratings[:, columns]
    both = ~np.isnan(ratings).any(axis=1)
    apart = np.where(both, np.abs(ratings[:, 1] - ratings[:, 0]), 0.0)
    order = sorted(np.flatnonzero(apart > 0).tolist(), key=lambda at: (-apart[at], found.items[at]))
    return RaterPair(
        (found.raters[columns[0]], found.raters[columns[1]]), int(both.sum()), len(np.unique(clusters[both])),
        estimate_coefficients(ratings, clusters, categories=found.categories, replicates=replicates),
        kendall_test(ratings),
        tuple(
            Disagreement(
                *found.items[at], (float(ratings[at, 0]), float(ratings[at, 1])),
                (found.reasons.get((at, columns[0]), ""), found.reasons.get((at, columns[1]), "")),
            )
            for at in order[:top]
        ),
    )  # fmt: skip


def _reliability(rater: str, listed: Sequence[Judgement], replicates: int) -> Reliability:
    """Compute how often a rater's repeated judgements of a solution differ, and how scores shift with the order shown.

    Args:
        listed: judgements of the rater with a score.
    """
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
    flip, order_flip, shift = (_clustered_mean(pairs, replicates) for pairs in (same, swapped, shifts))
    return Reliability(rater, flip, order_flip, shift, orders)


def _clustered_mean(pairs: Sequence[tuple[str, float]], replicates: int) -> Estimate:
    """Estimate the mean of (problem id, value) pairs, with a bootstrap over problems."""
    return mean_estimate([value for _, value in pairs], numbered(name for name, _ in pairs), replicates=replicates)
