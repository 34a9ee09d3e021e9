"""`process_results` for the lm-evaluation-harness: name it in a task's YAML.

    output_type: generate_until
    process_results: !function prism.rewards.lm_eval.process_results

The harness calls it with a document and what the model wrote, and takes the mean of each number that comes back over
the documents that have it; `metric_list` names them. For another scoring, a problem set or another column, put
`LMEvalResults(...)` in a Python file beside the YAML and name that: the page in `examples/rewards/` shows it.

Read in the source of lm-eval 0.4.13 (`lm_eval/api/task.py`, `lm_eval/evaluator.py`, `lm_eval/evaluator_utils.py`,
`lm_eval/tasks/_yaml_loader.py`), and run with it: `benchmarks/frameworks/doors.py`. In 0.4.9.2
`!function` reads only files beside the YAML.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from prism.grading.scoring import Scoring
from prism.problem.collection import ProblemSet
from prism.rewards.metric_rows import METRICS, MetricRow
from prism.rewards.reward import Reward


class LMEvalResults:
    """A `process_results`; picklable.

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
        """Check everything, load the problem set, warm the kernels.

        Args:
            scoring: a name of `scoring.PARTS`, names with weights, or a reward that is there already.
            problems, thinking: as of `Reward`.
            column: where a document has its reference: a path, a dictionary, a JSON string or an id.
            name: of the score; the others are `name_key`.
            metrics: keys of `scoring.SCALARS` to return besides.

        Errors:
            PrismError: an argument that cannot be used.
        """
        self.row = MetricRow(scoring, problems=problems, thinking=thinking, name=name, metrics=metrics)
        self.column = column
        self.__name__ = "process_results"

    def __call__(self, doc: Any, results: Any) -> dict[str, float]:
        """The numbers of a document: means over its solutions; only `name_bad_reference` if its reference is bad."""
        reference = doc.get(self.column) if isinstance(doc, Mapping) else None
        return self.row.of(reference, _solutions(results))

    @property
    def metric_list(self) -> list[dict[str, Any]]:
        """The task's `metric_list`."""
        return [
            {"metric": name, "aggregation": "mean", "higher_is_better": is_gain}
            for name, is_gain in self.row.higher_is_better.items()
        ]


def process_results(doc: Any, results: Any) -> dict[str, float]:
    """The closure score of a document that has its reference in `reference`, without anything to set up."""
    return _usual()(doc, results)


@cache
def _usual() -> LMEvalResults:
    return LMEvalResults()


def _solutions(results: Any) -> Sequence[Any]:
    """One entry a request, which is a text; or a list of texts where a task repeats requests and keeps them all."""
    if not isinstance(results, list | tuple):
        return (results,)
    return [text for each in results for text in (each if isinstance(each, list | tuple) else (each,))]
