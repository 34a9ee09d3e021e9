"""A reward function for TRL: `GRPOTrainer(reward_funcs=[TRLReward()], ...)`, and the rows of its data set.

TRL calls it with `prompts`, `completions`, `completion_ids` and every other column of the data set by name, and with
`trainer_state`, `log_extra` and `log_metric`; it wants a list of floats with None where the reward does not apply,
names a reward by its `__name__`, and takes the mean of a metric over the calls of a step. Completions are strings, or
lists of messages where prompts are conversations.

Read in the source of TRL 1.16.0 (`trl/trainer/grpo_trainer.py`: `_calculate_rewards`, `_log_completion_extra`,
`_log_metric`), and run with it: `examples/trl_grpo.py`. Of older versions only the call with columns is needed: what
the trainer does not pass is not logged. Rewards of single steps: `prism.rewards.trl_steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from prism.errors import PrismError, named_type
from prism.grading.scoring import SCALARS, Scoring
from prism.problem.collection import ProblemSet
from prism.rewards.data_sets import Problems, image_bytes, opened, prompts_with_ids
from prism.rewards.generated import GeneratedProblems, entries_from
from prism.rewards.reward import Reward, Rewarded, check_names, checked_metrics, no_column, reward_of
from prism.rewards.rows import reward_rows

_OF_TRL = frozenset(("completion_ids", "environments", "trainer_state"))  # what TRL passes besides columns
_OF_ROWS = frozenset(("bad_reference", "bad_solution"))  # of the others the mean is over rows that have a reward


class TRLReward:
    """A callable reward function for TRL, with the `__name__` that TRL wants; picklable.

    Attributes:
        reward: what grades.
        column: of the data set, in which each row has its reference.
        metrics: keys of `scoring.SCALARS` that are logged, as `name/key`.
        found: the rewards of the last batch with grades and steps, in order.
    """

    def __init__(
        self,
        scoring: str | Mapping[str, float] | Scoring | Reward = "closure",
        *,
        problems: ProblemSet | None = None,
        thinking: bool = False,
        workers: int = 0,
        column: str = "reference",
        metrics: Collection[str] = tuple(SCALARS),
        name: str = "prism",
    ) -> None:
        """Check all arguments, load the problem set and the numerical kernels.

        Args:
            scoring: a name of `scoring.PARTS`, names with weights, or a reward that is there already.
            problems, thinking, workers: as of `Reward`.
            column: where a row has its reference: a gold answer, an id in the problem set, a path, a dictionary or a
                JSON string.
            metrics: what to log besides the reward; give () for nothing.
            name: of the reward in logs; two rewards in one trainer need two names.

        Errors:
            PrismError: an argument that cannot be used.
        """
        self.metrics = checked_metrics(metrics)
        check_names(column=column, name=name)
        self.found: tuple[Rewarded, ...] = ()
        self.reward = reward_of(scoring, problems=problems, thinking=thinking, workers=workers)
        self.column = column
        self.__name__ = name

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the settings without the last batch."""
        return {**self.__dict__, "found": ()}

    def __call__(
        self,
        prompts: Sequence[Any] | None = None,  # noqa: ARG002 - TRL passes it by name
        completions: Sequence[Any] = (),
        *,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Return the reward of each completion; None only for a row that has no reference, which is told once.

        Errors:
            PrismError: no column of references came, as where its name is misspelt; completions that are no list, or
                another number of references; all references of the batch that cannot be used, with their rows.
        """
        if self.column not in columns:
            raise PrismError(no_column("column", self.column, columns.keys() - _OF_TRL))
        if not isinstance(completions, list | tuple):
            raise PrismError(f"completions: found {named_type(completions)}; expected a list with one entry a row")
        references = columns[self.column]
        if hasattr(references, "tolist"):  # a column of numpy or pandas
            references = references.tolist()
        if not isinstance(references, list | tuple):
            references = [references] * len(completions)
        found = reward_rows(self.reward, references, completions, column=self.column)
        self.found = tuple(found)
        if log_metric is not None:
            for key, value in self._means(found).items():
                log_metric(f"{self.__name__}/{key}", value)
        if log_extra is not None:
            log_extra(f"{self.__name__}_matched", [_matched_text(each) for each in found])
            log_extra(f"{self.__name__}_fault", [each.fault for each in found])
        return [each.value for each in found]

    def _means(self, found: Sequence[Rewarded]) -> dict[str, float]:
        """Return the mean of each metric over a batch; keys are left out if no row has a reward."""
        rewarded = [each for each in found if each.value is not None]
        means = {}
        for key in self.metrics:
            rows = found if key in _OF_ROWS else rewarded
            if rows:
                means[key] = sum(each.scalars[key] for each in rows) / len(rows)
        return means


def prompt_rows(problems: Problems, *, style: str = "prism", column: str = "reference") -> list[dict[str, Any]]:
    """Return the rows of a data set for TRL, `Dataset.from_list(prompt_rows("problems/"))`: `prompt` and the reference.

    Prompts are conversations. If a problem has images, each row has `images` too, a list of images of Pillow, which TRL
    puts before the text; such a data set is for a vision model.

    Args:
        problems: as of `TRLReward`, which finds them by the same ids.
        style: of `prism.prompt`.
        column: of the reference, as of `TRLReward`.

    Errors:
        PrismError: an unknown style, all faults of the set, or images that cannot be read.
    """
    made = prompts_with_ids(problems, style)
    rows: list[dict[str, Any]] = [
        {"prompt": [{"role": "user", "content": each.text}], column: name} for name, each in made
    ]
    if any(each.images for _, each in made):
        for row, (_, each) in zip(rows, made, strict=True):
            row["images"] = opened(image_bytes(each))
    return rows


def generated_rows(
    problems: GeneratedProblems, n: int | None = None, *, start: int = 0, column: str = "reference"
) -> Iterator[dict[str, Any]]:
    """Yield rows of generated problems for TRL: `prompt`, as a conversation, and the problem as JSON.

    Without end it feeds an `IterableDataset.from_generator(generated_rows, gen_kwargs={"problems": problems})`.

    Args:
        problems: made by `prism.rewards.endless`.
        n, start: number of rows, and the index of the first; without n up to the size, or without end.
        column: of the reference, as of `TRLReward`.

    Errors:
        PrismError: a start or a number below 0.
    """
    return (
        {"prompt": [{"role": "user", "content": entry["question"]}], column: entry["metadata"]["problem"]}
        for entry in entries_from(problems, start, n)
    )


def _matched_text(each: Rewarded) -> str:
    """Return the matched nodes of a reward as `1, 3`, for TRL's log of completions; empty without a grade."""
    return "" if each.grade is None else ", ".join(map(str, each.grade.matched))
