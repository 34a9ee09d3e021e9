r"""A reward for OpenRLHF, as a function in a file and over HTTP.

`--reward.remote_url FILE.py` loads `reward_func` from a file; this is the whole file:

    from prism.rewards.openrlhf import OpenRLHFReward

    reward_func = OpenRLHFReward("closure", problems="/data/problems")

It is called from a thread with `queries`, `prompts` and `labels`, three lists of one entry, and returns `rewards`,
`scores` and `extra_logs`, all of them tensors: a list of one number would become a matrix. An address instead of a file
gets the same lists as JSON, `query`, `prompts` and `labels`, and answers with lists: `answer`. A query is the prompt
and the solution as the tokenizer writes them, special tokens too, and the prompt is cut off before grading: formulas
of the problem are not the solver's.

There is no None: a row without a label has the reward 0, which `extra_logs` says and a warning, once. Labels that
cannot be used raise, all of a call at once; over HTTP the answer has them in `faults`, beside the rewards of others.
Labels that do not come at all are no row's fault: without `--data.label_key` each one is an empty text, and the
function raises until the first label comes.

Read in the source of OpenRLHF 0.11.2 (`openrlhf/utils/agent.py`, `openrlhf/cli/serve_rm.py`,
`openrlhf/trainer/ppo_utils/samples_generator.py`). Its single-turn executor was run with both shapes and a stand-in for
the model; its training was not. 0.9 calls the option `--remote_rm_url`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from prism.errors import PrismError, named_type, raise_faults
from prism.grading.scoring import SCALARS, Scoring
from prism.problem.collection import ProblemSet
from prism.rewards.reward import Reward, Rewarded, no_column, reward_of
from prism.rewards.rows import reward_rows

_TAILS = (400, 120, 40)  # characters of a prompt's end to look for, where the whole of it was cut or written otherwise
_LABEL_KEY = "name the column that holds the references: --data.label_key COLUMN (--label_key in OpenRLHF 0.9)"
_SPECIAL = re.compile(r"(?:<\|[^|<>]{1,40}\|>|</?s>|<eos>|<pad>|<end_of_turn>|\s)+\Z")


class OpenRLHFReward:
    """A callable of the form that OpenRLHF calls `reward_func`; picklable.

    Attributes:
        reward: what grades.
    """

    def __init__(
        self,
        scoring: str | Mapping[str, float] | Scoring | Reward = "closure",
        *,
        problems: ProblemSet | None = None,
        thinking: bool = False,
        workers: int = 0,
    ) -> None:
        """Take the arguments of `Reward`, or a `Reward` as `scoring`."""
        self.reward = reward_of(scoring, problems=problems, thinking=thinking, workers=workers)
        self.__name__ = "reward_func"
        self._has_labels = False  # one came: an empty one is a fault of its row from then on

    def __call__(
        self,
        queries: Sequence[str] = (),
        prompts: Sequence[str] = (),
        labels: Sequence[Any] | None = None,
        **others: Any,
    ) -> dict[str, Any]:
        """Return tensors `rewards` and `scores`, one entry per query, and `extra_logs`: one tensor per scalar.

        Errors:
            PrismError: no labels came, or empty texts alone since the reward was made: no column was named for them;
                labels that cannot be used; lists of different lengths.
        """
        checked = self._checked_labels(labels, others)
        if len(prompts) != len(queries):
            raise PrismError(f"prompts: {len(prompts)} entries, and queries: {len(queries)}; expected as many")
        import torch

        solutions = [solution_of(*row) for row in zip(queries, prompts, strict=True)]
        found = columns(reward_rows(self.reward, checked, solutions, column="labels", solved="queries"))
        logs = {name: torch.tensor(values) for name, values in found["extra_logs"].items()}
        rewards = torch.tensor(found["rewards"])
        return {"rewards": rewards, "scores": rewards.clone(), "extra_logs": logs}

    def _checked_labels(self, labels: Sequence[Any] | None, others: Mapping[str, Any]) -> Sequence[Any]:
        """Return the labels; raise PrismError if none has come so far. `others` are the lists under other names."""
        if labels is None:
            raise PrismError(no_column("labels", "labels", ("queries", "prompts", *others)))
        if not isinstance(labels, list | tuple):
            raise PrismError(f"labels: found {named_type(labels)}; expected a list with one entry a query")
        self._has_labels |= any(label != "" for label in labels)
        if labels and not self._has_labels:
            raise PrismError(f"labels: each one is empty; {_LABEL_KEY}")
        return labels


def answer(reward: Reward, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a remote-reward request: plain lists with one entry per query, as of `columns`.

    Args:
        reward: what grades. Where strangers ask, make it with `paths=False`.
        request: as of `rows_of`.

    Errors:
        PrismError: a request that has not this shape. Never anything about one row.
    """
    rows = rows_of(request)
    return columns([reward(label, solution) for label, solution in rows])


def rows_of(request: Mapping[str, Any]) -> list[tuple[Any, str | None]]:
    """Return (label, solution) for each query of a request; the solution is None if the prompt is not in the query.

    Args:
        request: `query` (a list of texts), `labels` (their references) and `prompts`, which may be left out where a
            query is the solution alone.

    Errors:
        PrismError: a request that has not this shape.
    """
    queries = request.get("query", request.get("queries"))
    labels, prompts = request.get("labels"), request.get("prompts")
    if not isinstance(queries, list):
        raise PrismError('request: has no list "query"')
    if "labels" not in request:
        raise PrismError(f"request: {no_column('labels', 'labels', request)}")
    lists = {"labels": labels, "prompts": [""] * len(queries) if prompts is None else prompts}
    raise_faults(
        f'request: "{name}" is no list with an entry for each of the {len(queries)} queries'
        for name, rows in lists.items() if not isinstance(rows, list) or len(rows) != len(queries)
    )  # fmt: skip
    solutions = [solution_of(*row) for row in zip(queries, prompts or [""] * len(queries), strict=True)]
    return list(zip(labels or [], solutions, strict=True))


def solution_of(query: Any, prompt: Any) -> str | None:
    """Return the part of a query after its prompt, without special tokens at its end; None if the prompt is not found.

    >>> solution_of("<s>Find $v$.<|assistant|>$v = a t$</s>", "Find $v$.<|assistant|>")
    '$v = a t$'
    """
    if not isinstance(query, str):
        return None
    told = prompt if isinstance(prompt, str) else ""
    at, length = query.find(told), len(told)
    for length_of_tail in (n for n in _TAILS if n < len(told)):
        if at < 0:  # the last place of a tail: rather lose of the solution than take the problem for it
            at, length = query.rfind(told[-length_of_tail:]), length_of_tail
    return None if at < 0 else _SPECIAL.sub("", query[at + length :])


def columns(found: Sequence[Rewarded]) -> dict[str, Any]:
    """Return rewards as lists: `rewards`, `scores`, `extra_logs` and, in words, `faults`, mostly empty texts.

    A reward whose value is None counts as 0.
    """
    rewards = [each.value or 0.0 for each in found]
    logs = {name: [each.scalars[name] for each in found] for name in SCALARS}
    faults = [each.fault for each in found]
    return {"rewards": rewards, "scores": list(rewards), "extra_logs": logs, "faults": faults}
