"""Reward functions for verl, which loads them by path and name and gives them their configuration as keywords.

    reward.custom_reward_function.path=pkg://prism.rewards.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.problems=/data/problems

verl calls `compute_score(data_source=, solution_str=, ground_truth=, extra_info=)`, from threads of several workers,
and wants a number or a dictionary with `score`. It keeps the other keys in columns, one entry a row, so that every row
must have the same ones; there is no None. A batch manager calls `data_sources=, solution_strs=, ground_truths=,
extra_infos=` and wants a list.

Read in the source of verl 0.9.1 (`verl/trainer/ppo/reward.py`, `verl/experimental/reward_loop/reward_manager/naive.py`,
`verl/workers/reward_manager/batch.py`, `verl/utils/import_utils.py`). Run with its reward managers on a processor
(`examples/verl/score_rows.py`); its training was not run. Up to 0.7.0 the setting is `custom_reward_function`, without
`reward.`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from threading import Event, Lock
from typing import Any

from prism.errors import PrismError
from prism.grading.scoring import Scoring
from prism.problem.collection import ProblemSet
from prism.rewards.data_sets import Problems, image_bytes, marked_text, prompts_with_ids
from prism.rewards.reward import Reward, Rewarded, no_column
from prism.rewards.rows import check_row, reward_rows

# One of each configuration, which verl hands over with every call; kept with its settings, of which the key has ids.
_rewards: dict[object, tuple[Reward, object]] = {}
_lock = Lock()
_came = Event()  # a ground truth did: a null one is a fault of its row from then on


def compute_score(
    data_source: Any,  # noqa: ARG001 - verl passes it by name
    solution_str: Any,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    scoring: str | Mapping[str, float] | Scoring = "closure",
    problems: ProblemSet | None = None,
    thinking: bool = False,
    workers: int = 0,
    reference_key: str | None = None,
    **_others: Any,
) -> dict[str, float]:
    """Return the reward of one solution as `score`, and the scalars by the keys of `scoring.SCALARS`.

    Args:
        data_source: not used.
        solution_str: what the model wrote.
        ground_truth: the reference: a gold answer, an id in the problem set, a path, a dictionary or a JSON string.
        extra_info: of the row.
        scoring, problems, thinking, workers: as of `Reward`; with workers many threads are graded at once.
        reference_key: take the reference from this entry of `extra_info`; the ground truth is something else.

    Returns:
        Always the same keys. A row without a reference has the score 0 and `bad_reference` 1, and is told once: all
        solutions of a group have the same, so that their advantages are 0.

    Errors:
        PrismError: an argument after `extra_info` cannot be used; `extra_info` has no key `reference_key`; no ground
            truth has come since this process began; a reference that cannot be used. Never anything about a solution.
    """
    reward = cached_reward(scoring, problems, thinking=thinking, workers=workers)
    reference = reference_of_row(ground_truth, extra_info, reference_key)
    found = reward(reference, solution_str)
    check_row(reward, reference, found, column=column_of(reference_key))
    return score_fields(found)


def compute_score_batched(
    data_sources: Sequence[Any],  # noqa: ARG001 - verl passes it by name
    solution_strs: Sequence[Any],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    *,
    scoring: str | Mapping[str, float] | Scoring = "closure",
    problems: ProblemSet | None = None,
    thinking: bool = False,
    workers: int = 0,
    reference_key: str | None = None,
    **_others: Any,
) -> list[dict[str, float]]:
    """Return what `compute_score` returns, for each row of a batch, in order.

    Errors:
        PrismError: as of `compute_score`, of all rows at once; lists of different lengths.
    """
    reward = cached_reward(scoring, problems, thinking=thinking, workers=workers)
    infos = [None] * len(ground_truths) if extra_infos is None else extra_infos
    if len(infos) != len(ground_truths):
        raise PrismError(
            f"ground_truths: {len(ground_truths)} entries, and extra_infos: {len(infos)}; expected as many"
        )
    references = [reference_of_row(*row, reference_key) for row in zip(ground_truths, infos, strict=True)]
    found = reward_rows(reward, references, solution_strs, column=column_of(reference_key), solved="solution_strs")
    return [score_fields(each) for each in found]


def prompt_rows(problems: Problems, *, style: str = "prism", data_source: str = "prism") -> list[dict[str, Any]]:
    """Return the rows of a training file for verl: `prompt` as chat messages, the problem's id as ground truth.

    If a problem has images, each row has `images` too, `{"bytes": ...}` for each mark `<image>` in its prompt.

    Args:
        problems: as of `compute_score`, which finds them by the same ids.
        style: of `prism.prompt`.
        data_source: of the rows, which verl reports by.

    Errors:
        PrismError: an unknown style, all faults of the set, or images that cannot be read.
    """
    made = prompts_with_ids(problems, style)
    rows: list[dict[str, Any]] = [
        {
            "data_source": data_source,
            "prompt": [{"role": "user", "content": marked_text(each.text, len(each.images))}],
            "ability": "physics",
            "reward_model": {"style": "rule", "ground_truth": name},
            "extra_info": {"index": place, "problem_id": each.problem_id},
        }
        for place, (name, each) in enumerate(made)
    ]
    if any(each.images for _, each in made):
        for row, (_, each) in zip(rows, made, strict=True):
            row["images"] = [{"bytes": raw} for raw in image_bytes(each)]
    return rows


def reference_of_row(ground_truth: Any, extra_info: Any, key: str | None) -> Any:
    """Return the reference of a row: `extra_info[key]`, or `ground_truth` if the key is None.

    Errors:
        PrismError: no such key; a Parquet file gives all its rows the same ones. A null ground truth, if no other came
            before it: verl's batch manager hands over null where a data set has no such column.
    """
    there = extra_info if isinstance(extra_info, Mapping) else {}
    if key is None:
        if ground_truth is not None:
            _came.set()
        elif not _came.is_set():
            told = no_column("reward_model", "ground_truth", there)
            raise PrismError(f"{told} (in extra_info; reference_key takes the reference from one of them)")
        return ground_truth
    if key not in there:
        raise PrismError(f"extra_info: {no_column('reference_key', key, there)}")
    return there[key]


def column_of(key: str | None) -> str:
    """Return what messages call the references: the ground truth, or an entry of the extra information."""
    return "ground_truth" if key is None else f"extra_info, {key}"


def score_fields(each: Rewarded) -> dict[str, float]:
    """Return score (0 without value) and scalars of a reward as one dictionary."""
    return {"score": each.value or 0.0, **each.scalars}


def cached_reward(scoring: Any, problems: Any, *, thinking: bool, workers: int) -> Reward:
    """Return the `Reward` for these settings, made once and reused by later calls."""
    key = (_hashable_key(scoring), _hashable_key(problems), _hashable_key(thinking), _hashable_key(workers))
    with _lock:  # many threads ask first at once, and a problem set is loaded once
        if key not in _rewards:
            settings = {"problems": _as_plain_containers(problems), "thinking": thinking, "workers": workers}
            _rewards[key] = Reward(_as_plain_containers(scoring), **settings), (scoring, problems)
        return _rewards[key][0]


def _hashable_key(value: Any) -> object:
    """Return a hashable stand-in for a setting, for use as dictionary key; other types are identified by `id`."""
    if isinstance(value, Mapping):
        return tuple((str(name), _hashable_key(each)) for name, each in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return tuple(_hashable_key(each) for each in value)
    if isinstance(value, str | PathLike):
        return str(value)
    return value if isinstance(value, Scoring | int | float | None) else id(value)


def _as_plain_containers(value: Any) -> Any:
    """Return settings as plain dictionaries and lists: verl passes OmegaConf containers, which JSON cannot encode."""
    if isinstance(value, Mapping):
        return {str(name): _as_plain_containers(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_as_plain_containers(each) for each in value]
    return value
