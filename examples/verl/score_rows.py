"""Verl's own reward managers over rows of two shipped problems, on a processor and without a model.

The reward function is loaded by verl from its setting, given its keywords by verl, and called by verl's managers, from
threads, as in training; only what the model would have written is put in: the solutions that come with the problems.

    python -m venv .venv-verl
    .venv-verl/bin/pip install torch==2.13.0
    .venv-verl/bin/pip install verl==0.9.1 .
    .venv-verl/bin/python examples/verl/score_rows.py

Prints JSON.
"""

from __future__ import annotations

import asyncio
import json
from importlib import metadata
from typing import Any

import numpy as np
import torch
from omegaconf import DictConfig, OmegaConf
from tensordict import TensorDict
from verl import DataProto
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
from verl.trainer.ppo.reward import get_custom_reward_fn
from verl.workers.reward_manager.batch import BatchRewardManager

import prism
from prism.resources import resource

PROBLEMS = ("free_fall", "scoring_figure")
SCORING = {"closure": 0.7, "final": 0.3}


class Bytes:
    """A tokenizer with one token a byte."""

    def decode(self, tokens: Any, *, skip_special_tokens: bool = True) -> str:  # noqa: ARG002 - verl passes it
        """The text of the tokens."""
        return bytes(int(token) for token in tokens).decode()


def settings(name: str) -> DictConfig:
    """As on verl's command line: `reward.custom_reward_function.path=...`."""
    problems = [str(resource(f"dags/{each}.toml")) for each in PROBLEMS]
    function = {
        "path": "pkg://prism.rewards.verl", "name": name, "reward_kwargs": {"scoring": SCORING, "problems": problems},
    }  # fmt: skip
    return OmegaConf.create({"reward": {"custom_reward_function": function}})


def data(solution: str, ground_truth: str) -> DataProto:
    """One row, as the rollout hands it on."""
    prompt, response = torch.tensor([[1, 2, 3]]), torch.tensor([list(solution.encode())])
    mask = torch.ones(1, 3 + response.shape[1], dtype=torch.long)
    table = {
        "data_source": "prism",
        "reward_model": {"style": "rule", "ground_truth": ground_truth},
        "extra_info": {"index": 0},
    }
    columns = {name: np.array([value], dtype=object) for name, value in table.items()}
    tensors = {"prompts": prompt, "responses": response, "attention_mask": mask}
    return DataProto(batch=TensorDict(tensors, batch_size=[1]), non_tensor_batch=columns)


def rows() -> list[tuple[str, str, str]]:
    """Name, solution and reference; the last has no reference."""
    found = []
    for name in PROBLEMS:
        problem = prism.load_problem(resource(f"dags/{name}.toml"))
        found += [(f"{name}, {each.name}", each.solution, problem.id) for each in problem.students]
    return [*found, ("unknown", "$v = g t$", "")]


async def from_threads() -> list[dict[str, Any]]:
    """What the reward loop gets, all rows at once."""
    config = settings("compute_score")
    manager = NaiveRewardManager(config=config, tokenizer=Bytes(), compute_score=get_custom_reward_fn(config))
    return await asyncio.gather(*(manager.run_single(data(solution, reference)) for _, solution, reference in rows()))


def in_batches() -> list[float]:
    """The same from the batch manager, where a reward is a tensor with one entry at the last token."""
    manager = BatchRewardManager(Bytes(), 0, get_custom_reward_fn(settings("compute_score_batched")))
    return [round(float(manager(data(solution, reference)).sum()), 6) for _, solution, reference in rows()]


def main() -> None:
    """Print both."""
    single = asyncio.run(from_threads())
    batch = in_batches()
    found = {
        "versions": {name: metadata.version(name) for name in ("verl", "torch", "tensordict", "prism-dag")},
        "rows": {
            name: {"single": each["reward_score"], "batch": other, "scalars": len(each["reward_extra_info"])}
            for (name, _, _), each, other in zip(rows(), single, batch, strict=True)
        },
        "same_keys": len({tuple(each["reward_extra_info"]) for each in single}) == 1,
    }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
