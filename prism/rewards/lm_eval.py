"""`process_results` for the lm-evaluation-harness: name it in a task's YAML.

    output_type: generate_until
    process_results: !function prism.rewards.lm_eval.process_results

The harness calls it with a document and what the model wrote, and takes the mean of each number that comes back over
the documents that have it; `metric_list` names them. For another scoring, a problem set or another column, put
`LMEvalResults(...)` in a Python file beside the YAML and name that: `docs/how-to/frameworks/lm_eval.md` shows it.

Documents are the lines that `prism prompt FOLDER -o prompts.jsonl` writes. `doc_to_text` and `doc_to_image` hand their
images to a model that sees; one that reads text only takes `doc_to_text: "{{prompt}}"`.

Read in the source of lm-eval 0.4.13 (`lm_eval/api/task.py`, `lm_eval/evaluator.py`, `lm_eval/evaluator_utils.py`,
`lm_eval/tasks/_yaml_loader.py`), and run with it: `benchmarks/frameworks/doors.py`. In 0.4.9.2
`!function` reads only files beside the YAML.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from prism.rewards.data_sets import marked_text, opened
from prism.rewards.reward import no_column
from prism.rewards.rows import DocumentScores


class LMEvalResults(DocumentScores):
    """A callable `process_results` for a task of lm-evaluation-harness; picklable.

    Attributes:
        column: of the document, in which it has its reference.
    """

    __name__ = "process_results"

    def __call__(self, doc: Any, results: Any) -> dict[str, float]:
        """Return a document's metrics, means over its solutions; only `NAME_bad_reference` for a bad reference.

        That, and a document without the column, is told by a warning: an error would lose what the model has written.
        """
        there = doc if isinstance(doc, Mapping) else {}
        if self.column not in there:
            warnings.warn(no_column("column", self.column, there), stacklevel=2)
        return self.row.of(there.get(self.column), _generated_texts(results), column=self.column)

    @property
    def metric_list(self) -> list[dict[str, Any]]:
        """The value of `metric_list` in the task's YAML: name, aggregation and direction of each metric."""
        return [
            {"metric": name, "aggregation": "mean", "higher_is_better": is_gain}
            for name, is_gain in self.row.higher_is_better.items()
        ]


def process_results(doc: Any, results: Any) -> dict[str, float]:
    """Return the metrics of a document by the closure score; its reference is in the field `reference`."""
    return _default_results()(doc, results)


def doc_to_text(doc: Mapping[str, Any]) -> str:
    """Return the prompt of a document, with the mark `<image>` before it for each of its images."""
    return marked_text(str(doc["prompt"]), len(doc.get("images") or ()))


def doc_to_image(doc: Mapping[str, Any]) -> list[Any]:
    """Return the images of a document, as objects of Pillow.

    Errors:
        PrismError: one that cannot be read; Pillow is not installed.
    """
    return opened(doc.get("images") or ())


@cache
def _default_results() -> LMEvalResults:
    """Return the `LMEvalResults` with default settings, made once."""
    return LMEvalResults()


def _generated_texts(results: Any) -> Sequence[Any]:
    """Return the texts generated for a document; a task with repeats gives a list of texts per request."""
    if not isinstance(results, list | tuple):
        return (results,)
    return [text for each in results for text in (each if isinstance(each, list | tuple) else (each,))]
