"""One document of a benchmark as named numbers, which a harness averages over documents.

A document with a bad reference has one number only, that its reference is bad: a harness takes the mean of a metric
over the documents that have it, and a fault of the data set lowers nobody's score. What is wrong with the solution
stays the solver's: no text is worth 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from prism.errors import PrismError
from prism.grading.scoring import PARTS, Scoring
from prism.problem.collection import ProblemSet
from prism.rewards.reward import Reward, checked_metrics, reward_of
from prism.rewards.rows import warn_of_row

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
