"""A sample-level metric for lighteval: `LightevalTaskConfig(metrics=[prism_metric()], ...)`.

lighteval calls `compute(doc=, model_response=)` of an object of its class `SampleLevelComputation`, here for several
numbers at once, and takes the mean of each over the documents that have it. The reference stands in `doc.specific`, or
is the gold choice; the solution is the response after lighteval's own post-processing, which may cut off reasoning.

Read in the source of lighteval 0.13.0 (`lighteval/metrics/utils/metric_utils.py`, `lighteval/metrics/__init__.py`,
`lighteval/logging/info_loggers.py`, `lighteval/models/model_output.py`), and run with it:
`benchmarks/frameworks/doors.py`. Up to 0.9.2 a metric was a function of `predictions` and `formatted_doc`, which
this is not.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from prism.grading.scoring import Scoring
from prism.rewards.data_sets import made_on_first_use, opened
from prism.rewards.reward import Reward, no_column
from prism.rewards.rows import DocumentScores


class LightevalScores(DocumentScores):
    """A callable that computes the metrics of one lighteval sample; picklable. `prism_metric` makes a metric of it.

    Attributes:
        column: of `doc.specific`, in which a document has its reference; where it has none, its gold choice is it.
    """

    def __str__(self) -> str:
        """Return name and weights, as lighteval prints them in its configuration."""
        return f"{type(self).__name__}({self.row.name}, {dict(self.row.reward.scoring.weights)})"

    def compute(self, doc: Any, model_response: Any, **_others: Any) -> dict[str, float]:
        """Return the metrics of a sample, means over its texts; only `NAME_bad_reference` for an unusable reference."""
        texts = getattr(model_response, "final_text", None) or ()
        return self.row.of(_reference_of_doc(doc, self.column), texts, column=self.column)


def prism_metric(scoring: str | Mapping[str, float] | Scoring | Reward = "closure", **settings: Any) -> Any:
    """Return a lighteval metric (`SampleLevelMetricGrouping`) that grades generated texts.

    Args:
        scoring, settings: as of `LightevalScores`.

    Errors:
        PrismError: an argument that cannot be used.
    """
    import numpy as np
    from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping
    from lighteval.tasks.requests import SamplingMethod

    scores = __getattr__("Computation")(scoring, **settings)
    names = scores.row.names
    return SampleLevelMetricGrouping(
        metric_name=list(names),
        higher_is_better=scores.row.higher_is_better,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=scores,
        corpus_level_fn=dict.fromkeys(names, np.mean),
    )


def prism_doc(line: Mapping[str, Any], task_name: str | None = None) -> Any:
    """Return the lighteval document of a line that `prism prompt FOLDER -o prompts.jsonl` writes, with its images.

    It is a `prompt_function` of a task; the reference is the problem's id, which `prism_metric(problems=...)` finds.

    Errors:
        PrismError: an image that cannot be read; Pillow is not installed.
    """
    from lighteval.tasks.requests import Doc

    return Doc(
        task_name=task_name, query=line["prompt"], choices=[""], gold_index=0,
        images=opened(line.get("images") or ()) or None, specific={"reference": line["problem_id"]},
    )  # fmt: skip


def _reference_of_doc(doc: Any, column: str) -> Any:
    """Return the reference of a sample: `doc.specific[column]`, else its only gold choice; None without either.

    Where there is neither, a warning says so: an error would lose what the model has written.
    """
    specific = getattr(doc, "specific", None)
    if isinstance(specific, Mapping) and column in specific:
        return specific[column]
    try:
        (gold,) = doc.get_golds()
    except Exception:  # noqa: BLE001 - no gold choice, or several: whatever a row of data holds, the run goes on
        there = specific if isinstance(specific, Mapping) else {}
        warnings.warn(f"specific: {no_column('column', column, there)}; nor is there one gold choice", stacklevel=3)
        return None
    return gold


def _make_computation() -> type:
    """Return the class `Computation`."""
    from lighteval.metrics.metrics_sample import SampleLevelComputation

    return type("Computation", (LightevalScores, SampleLevelComputation), {})


__getattr__ = made_on_first_use(globals(), {"Computation": _make_computation})
