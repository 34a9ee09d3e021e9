"""The rows of a batch, for every door: graded by one reward, and what is wrong with their references told.

A training run that goes on with rewards of 0 for a misnamed column learns nothing and says nothing. So all faults of a
batch are raised at once, with column and row: ten of them, then their count. A row without any reference is none of
them: it has no reward (None, or 0 where a framework has no None), and that is told once by a warning.

Evaluations hand over a document when a model has written its answer, and an error would lose what all have written:
there the same is told by warnings, and the document counts in no mean.

One document of a benchmark as named numbers, which a harness averages over documents.

A document with a bad reference has one number only, that its reference is bad: a harness takes the mean of a metric
over the documents that have it, and a fault of the data set lowers nobody's score. What is wrong with the solution
stays the solver's: no text is worth 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from prism.errors import PrismError, count_of
from prism.grading.scoring import PARTS, Scoring
from prism.problem.collection import ProblemSet
from prism.rewards.references import is_missing
from prism.rewards.reward import Reward, Rewarded, checked_metrics, reward_of

METRICS = ("strict", "final", "undecided", "unread", "incidents")  # what tables of results show besides the score
BAD = "bad_reference"
_GAINS = frozenset((*PARTS, "matched", "credited", "equivalent"))  # of the other numbers, less is better


class MetricRow:
    """A function of one document: the named metrics as means over its solutions; picklable.

    Attributes:
        reward: what grades.
        name: of the score; other numbers are `name_key`.
        metrics: keys of `scoring.SCALARS`.
    """

    def __init__(
        self,
        scoring: str | Mapping[str, float] | Scoring | Reward,
        *,
        problems: ProblemSet | None,
        thinking: bool,
        name: str,
        metrics: Collection[str],
    ) -> None:
        """Check all arguments, load the problem set and the numerical kernels.

        Errors:
            PrismError: an argument that cannot be used.
        """
        keys = checked_metrics(metrics)
        if not isinstance(name, str) or not name.isidentifier():
            raise PrismError(f"name: {name!r} is no name")
        self.reward = reward_of(scoring, problems=problems, thinking=thinking)
        self.name = name
        self.metrics = tuple(key for key in keys if key != BAD)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all metrics in order: the score's `name`, then `name_key` for each key."""
        return (self.name, *(f"{self.name}_{key}" for key in (*self.metrics, BAD)))

    @property
    def higher_is_better(self) -> dict[str, bool]:
        """Map each metric name to True if a larger value is better."""
        gains = (True, *(key in _GAINS for key in (*self.metrics, BAD)))
        return dict(zip(self.names, gains, strict=True))

    def of(self, reference: Any, solutions: Sequence[Any], *, column: str) -> dict[str, float]:
        """Return a document's metrics, means over its solutions; only `NAME_bad_reference` for a bad reference.

        That is told by a warning, which names the column.
        """
        texts = list(solutions or (None,))
        found = self.reward.many([reference] * len(texts), texts)
        warn_of_row(self.reward, reference, found[0], column=column)
        if any(each.scalars[BAD] for each in found):
            return {f"{self.name}_{BAD}": 1.0}
        n = len(found)
        means = [sum(each.value or 0.0 for each in found) / n]
        means += [sum(each.scalars[key] for each in found) / n for key in (*self.metrics, BAD)]
        return dict(zip(self.names, means, strict=True))


class DocumentScores:
    """What computes the metrics of one document for a harness; picklable.

    Attributes:
        row: what makes the numbers.
        column: of the document, in which it has its reference.
    """

    def __init__(
        self,
        scoring: str | Mapping[str, float] | Scoring | Reward = "closure",
        *,
        problems: ProblemSet | None = None,
        thinking: bool = False,
        column: str = "reference",
        name: str = "prism",
        metrics: Collection[str] = METRICS,
    ) -> None:
        """Check all arguments, load the problem set and the numerical kernels.

        Args:
            scoring: a name of `scoring.PARTS`, names with weights, or a reward that is there already.
            problems, thinking: as of `Reward`.
            column: where a document has its reference: a gold answer, an id, a path, a dictionary or a JSON string.
            name: of the score; the others are `name_key`.
            metrics: keys of `scoring.SCALARS` to return besides.

        Errors:
            PrismError: an argument that cannot be used.
        """
        self.row = MetricRow(scoring, problems=problems, thinking=thinking, name=name, metrics=metrics)
        self.column = column


MOST_TOLD = 10  # different faults of a batch, and warnings of an evaluation
_SHOWN_FAULT = 400  # characters


def reward_rows(
    reward: Reward, references: Sequence[Any], solutions: Sequence[Any], *, column: str, solved: str = "completions"
) -> list[Rewarded]:
    """Grade the rows of a batch and return their rewards, in order.

    Args:
        reward: what grades.
        references, solutions: one of each for a row.
        column: of the references, for messages; `solved` is that of the solutions.

    Errors:
        PrismError: different lengths; all references that cannot be used.
    """
    if len(references) != len(solutions):
        raise PrismError(f"{column}: {len(references)} entries, and {solved}: {len(solutions)}; expected as many")
    found = reward.many(references, solutions)
    check_rows(reward, references, found, column=column)
    return found


def check_rows(reward: Reward, references: Sequence[Any], found: Sequence[Rewarded], *, column: str) -> None:
    """Raise for the references of graded rows that cannot be used; warn, once a reward, of rows that have none.

    Errors:
        PrismError: each different fault with the rows that have it, counted from 1.
    """
    rows: dict[str, list[int]] = {}
    for place, (reference, each) in enumerate(zip(references, found, strict=True), start=1):
        if not each.scalars["bad_reference"]:
            continue
        if is_missing(reference):
            _tell(reward, _without_reference(column))
        else:
            rows.setdefault(_fault_of(each), []).append(place)
    if not rows:
        return
    told = [f"{column}, {_named(places)}: {fault}" for fault, places in list(rows.items())[:MOST_TOLD]]
    more = sum(len(places) for places in list(rows.values())[MOST_TOLD:])
    raise PrismError("\n".join([*told, *([f"and {count_of(more, 'row')} more"] if more else [])]))


def check_row(reward: Reward, reference: Any, found: Rewarded, *, column: str) -> None:
    """Do for a row that comes alone, whose number nobody says, what `check_rows` does for a batch.

    Errors:
        PrismError: the reference cannot be used.
    """
    if found.scalars["bad_reference"]:
        if not is_missing(reference):
            raise PrismError(f"{column}: {_fault_of(found)}")
        _tell(reward, _without_reference(column))


def warn_of_row(reward: Reward, reference: Any, found: Rewarded, *, column: str) -> None:
    """Warn of a reference that cannot be used, or is not there: each fault once, `MOST_TOLD` in all."""
    if found.scalars["bad_reference"]:
        _tell(reward, _without_reference(column) if is_missing(reference) else f"{column}: {_fault_of(found)}")


def _without_reference(column: str) -> str:
    """Return what is told of rows without a reference."""
    return f"{column}: a row has no reference, and so no reward; further ones are not told"


def _fault_of(found: Rewarded) -> str:
    """Return the fault of a row on one line, cut if it is long."""
    fault = "; ".join(found.fault.splitlines())
    return fault if len(fault) <= _SHOWN_FAULT else f"{fault[: _SHOWN_FAULT - 3]}..."


def _named(places: Sequence[int]) -> str:
    """Name rows with one fault: `row 3`, `row 3 and 7 more`."""
    return f"row {places[0]}{f' and {len(places) - 1} more' if len(places) > 1 else ''}"


def _tell(reward: Reward, what: str) -> None:
    """Warn of something that the reward has not warned of; beyond `MOST_TOLD` of nothing."""
    if what not in reward.warned and len(reward.warned) < MOST_TOLD:
        reward.warned.add(what)
        warnings.warn(what, stacklevel=4)
