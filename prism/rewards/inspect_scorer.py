"""A scorer for Inspect AI, the samples of a task, and its file of precomputed scores.

    from prism.rewards.inspect_scorer import prism_samples, prism_score

    Task(dataset=prism_samples("/data/problems"), solver=generate(), scorer=prism_score(problems="/data/problems"))

A sample's target names its problem, by an id in the problem set, a path or a JSON string, or is a gold answer. The
value is one number, of which Inspect reports mean and standard error; metadata has the nodes and the scalars, the
explanation a line for each formula. A bad reference makes a sample that is not scored, and counts in no metric; a
warning says so. Inspect's event loop waits for each grade, unless `workers` make them.

Rows that are there already (`prism grade --json`, `prism run`) need no second grading: `precomputed_scores_jsonl`
makes the file that Inspect's own scorer `precomputed_scores` reads.

Read in the source of inspect-ai 0.3.285 (`inspect_ai/scorer/_scorer.py`, `_metric.py`, `_precomputed.py`,
`inspect_ai/_util/registry.py`), and run with it: `examples/inspect_task.py`, `benchmarks/frameworks/doors.py`.
"""

from __future__ import annotations

import json
from asyncio import wrap_future
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from prism.errors import raise_faults
from prism.grading.result import Grade, reason_in_words
from prism.grading.scoring import Scoring
from prism.latex import one_line
from prism.problem.collection import ProblemSet
from prism.problem.images import image_content
from prism.rewards.data_sets import Problems, made_on_first_use, prompts_with_ids
from prism.rewards.reward import Reward, Rewarded, no_column
from prism.rewards.rows import warn_of_row

_KEPT = ("status", "matched", "credited", "missing", "final_correct", "flags")  # of a score row, as metadata
_SHOWN = 200  # formulas of an explanation; the rest is counted


def score_fields(found: Rewarded) -> dict[str, Any]:
    """Return the fields of an Inspect `Score` for a reward; `value` is None if the reference cannot be used."""
    fault = {"fault": found.fault} if found.fault else {}
    if found.grade is None:
        is_bad = bool(found.scalars["bad_reference"])
        return {
            "value": None if is_bad else found.value or 0.0,
            "explanation": found.fault,
            "reason": "scoring_failed",
            "metadata": {**fault, "scalars": dict(found.scalars)},
        }
    row = found.grade.to_dict()
    return {
        "value": found.value or 0.0,
        "explanation": _explain_grade(found.grade),
        "reason": None if found.grade.score is not None else "scoring_failed",
        "metadata": {**{key: row[key] for key in _KEPT}, "scalars": dict(found.scalars)},
    }


def prism_samples(problems: Problems, *, style: str = "prism") -> list[Any]:
    """Return the samples of an Inspect task, one a problem: its prompt as input, with its images, its id as target.

    Args:
        problems: as of `prism_score`, which finds them by the same ids.
        style: of `prism.prompt`.

    Errors:
        PrismError: an unknown style, all faults of the set, or images that cannot be read.
    """
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText

    samples = []
    for name, each in prompts_with_ids(problems, style):
        given: Any = each.text
        if each.images:
            urls = [image_content(image).data_url for image in each.images]
            parts = [*(ContentImage(image=url) for url in urls), ContentText(text=each.text)]
            given = [ChatMessageUser(content=parts)]
        samples.append(Sample(id=name, input=given, target=name))
    return samples


def precomputed_scores_jsonl(rows: Iterable[Mapping[str, Any]], *, scoring: str = "closure") -> str:
    r"""Return JSON Lines for Inspect's scorer `precomputed_scores`, one line per score row.

    The record's id is the row's `sample_id`, which has to be the id of a sample in Inspect's log. Its epoch is the
    row's `epoch`, or that of its `meta`; without one the record holds for every epoch. A row without a score (`killed`,
    `internal`) has the value 0, and its status in the metadata.

    Args:
        rows: as `prism grade --json` prints and `prism run` writes them; formulas are not needed.
        scoring: `closure`, `score_strict`, or a policy of the rows: `strict`, `prefix`, `final`; of the rows of a
            protocol, which may be undecided, also its bounds `score_low` and `score_high`.

    Errors:
        PrismError: all faults at once: rows without a sample id, two of one id and epoch, a scoring that a row lacks.

    >>> row = {"sample_id": "s1", "status": "ok", "score": 0.5, "matched": [1], "credited": [1], "missing": [2]}
    >>> precomputed_scores_jsonl([row])
    '{"id": "s1", "value": 0.5, "metadata": {"status": "ok", "matched": [1], "credited": [1], "missing": [2]}}\n'
    """
    lines: list[str] = []
    faults: list[str] = []
    seen: set[tuple[str, str]] = set()
    for place, row in enumerate(rows, 1):
        sample_id, epoch = row.get("sample_id"), _row_epoch(row)
        value = _row_value(row, scoring)
        if sample_id is None or sample_id == "":
            faults.append(f"row {place}: has no sample_id; it has to be the id of a sample in Inspect's log")
        elif (str(sample_id), str(epoch)) in seen:
            faults.append(f"row {place}: a row before it has the sample_id {sample_id!r} too; give each its epoch")
        if value is None:
            faults.append(f"row {place}: has no score {scoring!r}; there are closure, score_strict and its policies")
        if epoch is not None and (not isinstance(epoch, int) or isinstance(epoch, bool)):
            faults.append(f"row {place}: the epoch {epoch!r} is no whole number")
        seen.add((str(sample_id), str(epoch)))
        record = {
            "id": sample_id, **({} if epoch is None else {"epoch": epoch}), "value": value,
            "metadata": {key: row[key] for key in _KEPT if key in row},
        }  # fmt: skip
        lines.append(json.dumps(record, ensure_ascii=False))
    raise_faults(faults)
    return "".join(f"{line}\n" for line in lines)


_ROW_NUMBERS = ("closure", "score_strict", "score_low", "score_high")  # the others are policies


def _row_epoch(row: Mapping[str, Any]) -> Any:
    """Return the `epoch` of a score row, or of its `meta`; None if neither has one."""
    meta = row.get("meta")
    return row.get("epoch", meta.get("epoch") if isinstance(meta, Mapping) else None)


def _row_value(row: Mapping[str, Any], scoring: str) -> float | None:
    """Return the number of a scoring from a score row, 0 for a failed grade; None if the row has no such number."""
    if row.get("status") in ("killed", "internal"):
        return 0.0
    found = row.get({"closure": "score"}.get(scoring, scoring)) if scoring in _ROW_NUMBERS else None
    if found is None and isinstance(row.get("policies"), Mapping):
        found = row["policies"].get(scoring)
    return found if isinstance(found, float | int) else None


def _explain_grade(grade: Grade) -> str:
    """Return a grade as text: the node indices, then one line for each formula that asserts something."""
    closed = sorted(set(grade.credited) - set(grade.matched))
    nodes = {"matched": grade.matched, "by closure": closed, "missing": grade.missing}
    lines = ["; ".join(f"{word} {', '.join(map(str, which))}" for word, which in nodes.items() if which)]
    told = [item for item in grade.formulas if item.status != "mention"]
    for item in told[:_SHOWN]:
        which = f" {', '.join(map(str, item.nodes))}" if item.nodes else ""
        said = f"{item.status}{which} `{one_line(item.latex)}`"
        lines.append(": ".join(part for part in (said, item.detail if item.nodes else reason_in_words(item)) if part))
    if len(told) > _SHOWN:
        lines.append(f"and {len(told) - _SHOWN} more")
    return "\n".join(lines)


def _register_scorer() -> Any:
    """Register the scorer with Inspect and return it."""
    from inspect_ai.scorer import Score, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState

    def prism_score(
        scoring: str | Mapping[str, float] | Scoring = "closure",
        problems: ProblemSet | None = None,
        thinking: bool = False,
        reference: str | None = None,
        workers: int = 0,
    ) -> Any:
        """Inspect scorer that grades a worked solution with PRISM.

        Args:
            scoring, problems, thinking, workers: as of `prism.rewards.Reward`; an evaluation's log has them.
            reference: a key of the sample's metadata that has the reference; without, the target is the reference.

        Errors:
            PrismError: an argument that cannot be used.
        """
        reward = Reward(scoring, problems=problems, thinking=thinking, workers=workers)

        async def score(state: TaskState, target: Target) -> Score:
            """Grade the model's completion against the reference and return an Inspect `Score`."""
            there = state.metadata or {}
            named = target.text if reference is None else there.get(reference)
            sent = reward.submit(named, state.output.completion, sample_id=str(state.sample_id))
            found = await wrap_future(sent)
            if reference is not None and reference not in there:
                found = replace(found, fault=f"metadata: {no_column('reference', reference, there)}")
            warn_of_row(reward, named, found, column="target" if reference is None else reference)
            fields = score_fields(found)
            if fields["value"] is None:
                del fields["value"]
                return Score.unscored(**fields)
            return Score(**fields)

        return score

    return scorer(metrics=[mean(), stderr()])(prism_score)


__getattr__ = made_on_first_use(globals(), {"prism_score": _register_scorer})
