"""Rewards for the verifiers library: a rubric's function up to 0.3, a task's function in 0.4.

Up to 0.3 (`import verifiers as vf`) a `vf.Rubric` has functions with weights, calls each with the arguments that it
names out of `prompt`, `completion`, `answer`, `info`, `state` and further columns, wants a float, and keeps every
function's value as a metric; one with the weight 0 is nothing but a metric. `rubric()` makes one.

In 0.4 (`import verifiers.v1 as vf`) there are no rubrics: a task has rewards, decorated methods or named in its
configuration, which are awaited with `task` and `trace`. `VerifiersTaskReward` is one:

    [env.taskset.task.rewards]
    prism = { fn = "my_rewards.py:prism" }

`environment()` is a whole `vf.SingleTurnEnv` of generated problems, for verifiers up to 0.3.

In neither is there a None: a bad reference is worth 0 and `prism_bad_reference` is 1, for all of a group alike, so that
their advantages are 0.

Read in the sources of verifiers 0.3.1 (`verifiers/legacy/rubrics/rubric.py`) and 0.4.0 (`verifiers/v1/task.py`,
`trace.py`, `utils/loaders.py`, `utils/decorators.py`), and run with both: `benchmarks/frameworks/doors.py`.
"""

from __future__ import annotations

import json
from asyncio import wrap_future
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from functools import cache, partial
from typing import Any

from prism.errors import PrismError, count_of, raise_faults
from prism.generation.values import template_seed
from prism.grading.scoring import SCALARS, Scoring
from prism.problem.collection import ProblemSet
from prism.rewards.data_sets import Problems, prompts_with_ids
from prism.rewards.generated import GeneratedProblems, Templates, endless, entries_from
from prism.rewards.reward import Reward, Rewarded, check_names, checked_metrics, no_column, reward_of
from prism.rewards.rows import check_row

METRICS = ("final", "matched", "unread", "undecided", "incidents", "bad_reference")
_LOOKED_AT = 10  # indices for each row that is wanted, before a run is said to repeat itself


class VerifiersReward:
    """A callable reward for a `vf.Rubric` of verifiers up to 0.3; picklable.

    Attributes:
        reward: what grades.
        column: where a row has its reference: `answer`, an entry of `info`, or another column.
    """

    def __init__(
        self,
        scoring: str | Mapping[str, float] | Scoring | Reward = "closure",
        *,
        problems: ProblemSet | None = None,
        thinking: bool = False,
        workers: int = 0,
        column: str = "answer",
        name: str = "prism",
    ) -> None:
        """Check all arguments, load the problem set and the numerical kernels.

        Args:
            scoring: a name of `scoring.PARTS`, names with weights, or a reward that is there already.
            problems, thinking, workers: as of `Reward`.
            column: `answer`, an entry of `info`, or another column.
            name: of the reward in logs.

        Errors:
            PrismError: an argument that cannot be used.
        """
        check_names(column=column, name=name)
        self.reward = reward_of(scoring, problems=problems, thinking=thinking, workers=workers)
        self.column = column
        self.__name__ = name

    def __call__(
        self, completion: Any = None, answer: Any = None, info: Any = None, state: Any = None, **columns: Any
    ) -> float | Awaitable[float]:
        """Return the reward of a completion, 0 if it has no value; the state gets its scalars, by the reward's name.

        With workers it is returned as an awaitable, which a rubric awaits: so those of a group are graded at once.

        Errors:
            PrismError: no column of references came, or one that cannot be used; the rubric logs the error, and the
                reward is 0.
        """
        row = self._row(completion, answer, info, columns)
        if self.reward.workers:
            return self._awaited_value(row, info, state, columns)
        return self._value(row[0], self.reward(*row), info, state, columns)

    async def _awaited_value(self, row: tuple[Any, Any], info: Any, state: Any, columns: Mapping[str, Any]) -> float:
        """Return the reward of a row that a worker grades; the event loop goes on meanwhile."""
        return self._value(row[0], await wrap_future(self.reward.submit(*row)), info, state, columns)

    def _value(self, reference: Any, found: Rewarded, info: Any, state: Any, columns: Mapping[str, Any]) -> float:
        """Return the value of a reward, after its scalars were written to the state.

        Raises PrismError if the column is missing.
        """
        if isinstance(state, MutableMapping):
            state[self.__name__] = dict(found.scalars)
        there = {"answer", *columns, *(info if isinstance(info, Mapping) else ())}
        if self.column not in there:
            raise PrismError(no_column("column", self.column, there))
        check_row(self.reward, reference, found, column=self.column)
        return found.value or 0.0

    def reward_of_row(self, completion: Any, answer: Any, info: Any, columns: Mapping[str, Any]) -> Rewarded:
        """Return the reward of one row."""
        return self.reward(*self._row(completion, answer, info, columns))

    def _row(self, completion: Any, answer: Any, info: Any, columns: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return reference and solution of a row: the reference is `answer`, a column or an entry of `info`."""
        reference = answer if self.column == "answer" else columns.get(self.column)
        if reference is None and isinstance(info, Mapping):
            reference = info.get(self.column)
        return reference, _messages_as_dicts(completion)


class VerifiersMetric:
    """A callable that returns one scalar of a reward, for a rubric function of weight 0; picklable.

    It grades only where the reward has not been called before it.

    Attributes:
        reward: whose scalar it is.
        key: of `scoring.SCALARS`.
    """

    def __init__(self, reward: VerifiersReward, key: str) -> None:
        """Store the reward and the key of the scalar.

        Errors:
            PrismError: a key that is not in `scoring.SCALARS`.
        """
        if key not in SCALARS:
            raise PrismError(f"metrics: {key!r} is not among {', '.join(SCALARS)}")
        self.reward = reward
        self.key = key
        self.__name__ = f"{reward.__name__}_{key}"

    def __call__(
        self, completion: Any = None, answer: Any = None, info: Any = None, state: Any = None, **columns: Any
    ) -> float:
        """Return the scalar for this completion, from the state if the reward has stored it there."""
        kept = state.get(self.reward.__name__) if isinstance(state, Mapping) else None
        if not isinstance(kept, Mapping):
            kept = self.reward.reward_of_row(completion, answer, info, columns).scalars
        return kept[self.key]


def rubric(
    scoring: str | Mapping[str, float] | Scoring | Reward = "closure",
    *,
    weight: float = 1.0,
    metrics: Collection[str] = METRICS,
    **settings: Any,
) -> Any:
    """Return a `vf.Rubric` for verifiers up to 0.3: the reward, and some of its scalars as functions of weight 0.

    Args:
        scoring, settings: as of `VerifiersReward`.
        weight: of the reward.
        metrics: keys of `scoring.SCALARS`.

    Errors:
        PrismError: an argument that cannot be used.
    """
    import verifiers as vf

    reward = VerifiersReward(scoring, **settings)
    told = [VerifiersMetric(reward, key) for key in metrics]
    return vf.Rubric(funcs=[reward, *told], weights=[weight, *(0.0 for _ in told)])


def prompt_rows(problems: Problems, *, style: str = "prism", column: str = "answer") -> list[dict[str, Any]]:
    """Return the rows of a data set for verifiers: `prompt`, as chat messages, and the reference.

    Images stand in the messages as `data:` URLs. With `column="reference"` a row is the data of a task of 0.4.

    Args:
        problems: as of `VerifiersReward`, which finds them by the same ids.
        style: of `prism.prompt`.
        column: of the reference.

    Errors:
        PrismError: an unknown style, all faults of the set, or images that cannot be read.
    """
    made = prompts_with_ids(problems, style)
    rows: list[dict[str, Any]] = [{"prompt": each.messages(), column: name} for name, each in made]
    if any(each.images for _, each in made):  # a column of a table has one type: texts become lists of parts too
        for row in rows:
            for message in row["prompt"]:
                if isinstance(message["content"], str):
                    message["content"] = [{"type": "text", "text": message["content"]}]
    return rows


def generated_rows(
    problems: GeneratedProblems, n: int | None = None, *, start: int = 0, column: str = "answer"
) -> Iterator[dict[str, Any]]:
    """Yield rows of generated problems: `question`, the problem as JSON, and `info`, JSON too, that says its origin.

    With `column="reference"` a row has a `prompt` in place of `question` and `info`: the data of a task of 0.4.

    Args:
        problems: made by `prism.rewards.endless`.
        n, start: number of rows, and the index of the first; without n up to the size, or without end.
        column: of the problem.

    Errors:
        PrismError: a start or a number below 0.
    """
    return (_generated_row(entry, column) for entry in entries_from(problems, start, n))


def _generated_row(entry: Mapping[str, Any], column: str) -> dict[str, Any]:
    """Return the row of an entry; arguments as of `generated_rows`."""
    metadata = entry["metadata"]
    if column == "reference":
        return {"prompt": [{"role": "user", "content": entry["question"]}], column: metadata["problem"]}
    info = {key: value for key, value in metadata.items() if key != "problem"}
    return {"question": entry["question"], column: metadata["problem"], "info": json.dumps(info, sort_keys=True)}


def environment(
    templates: Templates = (),
    seed: int = 0,
    num_train: int = 1000,
    num_eval: int = 100,
    *,
    scoring: str | Mapping[str, float] | Scoring | Reward = "closure",
    weight: float = 1.0,
    metrics: Collection[str] = METRICS,
    env_settings: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Any:
    """Return a `vf.SingleTurnEnv` of generated problems, for verifiers up to 0.3.

    The rows have `question`, the prompt with its answer format, `answer`, the problem as JSON, and `info`. They are
    made when they are asked for. Those for evaluation are a run of their own, the same for every number of rows to
    train on, and no row to train on has the question of one of them.

    Args:
        templates, seed: as of `prism.rewards.endless`.
        num_train, num_eval: rows to train on, and to evaluate on.
        scoring: what is paid, as of `prism.rewards.endless`: for all formulas of a completion, not for an answer alone.
        weight, metrics: as of `rubric`.
        env_settings: of `vf.SingleTurnEnv`, such as `system_prompt`.
        settings: the others of `prism.rewards.endless`: `variants`, `weights`, `cases`, `level`, `style`, ...

    Errors:
        PrismError: an argument that cannot be used; a version of verifiers without such environments.
    """
    import verifiers as vf

    if not hasattr(vf, "SingleTurnEnv"):
        raise PrismError("verifiers: this version has no SingleTurnEnv; its tasks take rows of `generated_rows`")
    faults = [
        f"{name}: {value!r} is no whole number from 1 on"
        for name, value in (("num_train", num_train), ("num_eval", num_eval))
        if not isinstance(value, int) or isinstance(value, bool) or value < 1
    ]
    raise_faults(faults)
    train = endless(templates, seed, scoring=scoring, **settings)
    held_out = endless(train.templates, template_seed(seed, -1), scoring=train.reward, **settings)
    rows_to_evaluate = cache(partial(_distinct_rows, held_out, num_eval))
    return vf.SingleTurnEnv(
        dataset=_data_set(lambda: _distinct_rows(train, num_train, rows_to_evaluate())),
        eval_dataset=_data_set(rows_to_evaluate),
        rubric=rubric(train.reward, weight=weight, metrics=metrics),
        **(env_settings or {}),
    )


def _data_set(make: Callable[[], list[dict[str, Any]]]) -> Callable[[], Any]:
    """Return what builds a data set of rows when it is called."""

    def build() -> Any:
        from datasets import Dataset

        return Dataset.from_list(make())

    return build


def _distinct_rows(
    problems: GeneratedProblems, n: int, others: Sequence[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Return the first n rows of which no question stands twice, or among others.

    Errors:
        PrismError: so many further indices only repeat earlier ones.
    """
    seen = {row["question"] for row in others}
    rows: list[dict[str, Any]] = []
    for row in generated_rows(problems, _LOOKED_AT * n + len(seen)):
        if row["question"] not in seen:
            seen.add(row["question"])
            rows.append(row)
            if len(rows) == n:
                return rows
    raise PrismError(f"templates: only {count_of(len(rows), 'question')} of {n} differ; give more templates")


class VerifiersTaskReward:
    """A callable reward of a task, for verifiers from 0.4 on; picklable.

    Attributes:
        reward: what grades.
        field: of the task's data, in which it has its reference.
        metrics: keys of `scoring.SCALARS` that are recorded, as `name_key`.
    """

    def __init__(
        self,
        scoring: str | Mapping[str, float] | Scoring | Reward = "closure",
        *,
        problems: ProblemSet | None = None,
        thinking: bool = False,
        workers: int = 0,
        field: str = "reference",
        metrics: Collection[str] = METRICS,
        name: str = "prism",
    ) -> None:
        """Check all arguments, load the problem set and the numerical kernels.

        Args:
            scoring: a name of `scoring.PARTS`, names with weights, or a reward that is there already.
            problems, thinking, workers: as of `Reward`.
            field: of the task's data.
            metrics: what to record besides the reward; give () for nothing.
            name: of the reward in logs.

        Errors:
            PrismError: an argument that cannot be used.
        """
        self.metrics = checked_metrics(metrics)
        check_names(field=field, name=name)
        self.reward = reward_of(scoring, problems=problems, thinking=thinking, workers=workers)
        self.field = field
        self.__name__ = name

    async def __call__(self, task: Any, trace: Any) -> float:
        """Return the reward of the last reply, 0 without value; metrics and matched nodes are written to the trace.

        Errors:
            PrismError: the task's data has no such field, or its reference cannot be used.
        """
        reference = task.get(self.field) if isinstance(task, Mapping) else getattr(task, self.field, None)
        found = await wrap_future(self.reward.submit(reference, getattr(trace, "last_reply", None)))
        for key in self.metrics:
            trace.record_metric(f"{self.__name__}_{key}", found.scalars[key])
        matched = [] if found.grade is None else list(found.grade.matched)
        trace.info[self.__name__] = {"matched": matched, "fault": found.fault}
        if not (self.field in task if isinstance(task, Mapping) else hasattr(task, self.field)):
            there = task if isinstance(task, Mapping) else getattr(task, "__dict__", ())
            raise PrismError(no_column("field", self.field, there))
        check_row(self.reward, reference, found, column=self.field)
        return found.value or 0.0


def _messages_as_dicts(completion: Any) -> Any:
    """Return a completion with verifiers' message objects converted to dictionaries; a text unchanged."""
    if isinstance(completion, Sequence) and not isinstance(completion, str | bytes):
        return [_message_as_dict(message) for message in completion]
    return completion


def _message_as_dict(message: Any) -> Any:
    """Return a pydantic message as a dictionary; any other value unchanged."""
    dump = getattr(message, "model_dump", None)
    return dump() if callable(dump) else message
