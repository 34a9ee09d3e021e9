"""Rewards of single steps with verl: its reward manager, its tensor of rewards, and its advantages, on a processor.

What the model would have written is put in: the solutions that come with two problems, with a tokenizer of one token a
byte. The manager is loaded by verl from its settings; what it says goes through verl's `assemble_rm_scores` and, as
its agent loop leaves it, through `spread_scores`; then verl computes advantages.

    python -m venv .venv-verl
    .venv-verl/bin/pip install torch==2.13.0
    .venv-verl/bin/pip install verl==0.9.1 .
    .venv-verl/bin/python examples/verl/score_steps.py

Prints JSON.
"""

from __future__ import annotations

import asyncio
import json
import pickle
from importlib import metadata
from typing import Any

import numpy as np
import torch
from omegaconf import OmegaConf
from tensordict import TensorDict
from verl import DataProto
from verl.trainer.config import AlgoConfig
from verl.trainer.ppo.core_algos import get_adv_estimator_fn
from verl.trainer.ppo.reward import load_reward_manager

import prism
from prism.resources import resource
from prism.rewards.verl_steps import COLUMN, spread_scores

PROBLEMS = ("free_fall", "scoring_figure")
ESTIMATORS = ("reinforce_plus_plus", "grpo")


class Bytes:
    """A tokenizer with one token a byte."""

    def decode(self, tokens: Any, *, skip_special_tokens: bool = True) -> str:  # noqa: ARG002 - verl passes it
        """The text of the tokens."""
        return bytes(int(token) for token in tokens).decode(errors="replace")


def settings() -> Any:
    """As on verl's command line."""
    problems = [str(resource(f"dags/{each}.toml")) for each in PROBLEMS]
    function = {"path": "pkg://prism.rewards.verl", "name": "compute_score", "reward_kwargs": {"problems": problems}}
    manager = {
        "source": "importlib", "name": "StepRewardManager", "module": {"path": "pkg://prism.rewards.verl_steps"},
    }  # fmt: skip
    return OmegaConf.create({"reward": {"custom_reward_function": function, "reward_manager": manager}})


def batch() -> tuple[list[str], DataProto]:
    """The students of the problems as verl's batch; responses are padded on the right, one row a student."""
    rows = [
        (name, each.name, each.solution)
        for name in PROBLEMS
        for each in prism.load_problem(resource(f"dags/{name}.toml")).students
    ]
    said = [torch.tensor(list(text.encode())) for _, _, text in rows]
    responses = torch.nn.utils.rnn.pad_sequence(said, batch_first=True)
    written = torch.nn.utils.rnn.pad_sequence([torch.ones_like(each) for each in said], batch_first=True)
    prompts = torch.ones(len(rows), 3, dtype=torch.long)
    tensors = {
        "prompts": prompts, "responses": responses, "response_mask": written,
        "attention_mask": torch.cat([prompts, written], dim=1),
    }  # fmt: skip
    models = [{"style": "rule", "ground_truth": name} for name, _, _ in rows]
    columns = {
        "data_source": ["prism"] * len(rows), "reward_model": models, "uid": [name for name, _, _ in rows],
    }  # fmt: skip
    proto = DataProto(
        batch=TensorDict(tensors, batch_size=[len(rows)]),
        non_tensor_batch={key: np.array(value, dtype=object) for key, value in columns.items()},
    )
    return [f"{name}, {student}" for name, student, _ in rows], proto


def advantages_by(data: DataProto, scores: torch.Tensor, estimator: str) -> torch.Tensor:
    """What verl makes of these rewards of tokens."""
    advantages, _ = get_adv_estimator_fn(estimator)(
        token_level_rewards=scores.clone(), response_mask=data.batch["response_mask"],
        config=AlgoConfig(adv_estimator=estimator), index=data.non_tensor_batch["uid"],
    )  # fmt: skip
    return advantages


def main() -> None:
    """Print the rewards of tokens of each row, and whether the ways to them agree."""
    names, data = batch()
    manager = load_reward_manager(settings(), Bytes())

    async def all_rows() -> list[dict[str, Any]]:
        """The manager's answers, all at once, each sent through a pickle as Ray does."""
        found = await asyncio.gather(*(manager.run_single(data[k : k + 1]) for k in range(len(data))))
        return [pickle.loads(pickle.dumps(each)) for each in found]  # noqa: S301 - made in the same line

    found = manager.loop.run_until_complete(all_rows())
    scores = [each["reward_score"] for each in found]
    assembled = type(manager).assemble_rm_scores(data, scores)
    last = torch.zeros_like(assembled)
    last[torch.arange(len(scores)), data.batch["response_mask"].sum(dim=1) - 1] = torch.tensor(scores)
    spread = spread_scores(last, [each["reward_extra_info"][COLUMN] for each in found])
    per_token = {}
    for estimator in ESTIMATORS:
        made = advantages_by(data, spread, estimator)
        per_token[estimator] = sum(
            len(set(row[mask.bool()].tolist())) > 1 for row, mask in zip(made, data.batch["response_mask"], strict=True)
        )
    print(json.dumps({
        "versions": {name: metadata.version(name) for name in ("verl", "torch", "tensordict")}
        | {"prism-dag": prism.__version__},
        "rows": {
            name: {"reward": float(score), "tokens": {token: round(each, 6) for token, each in score.tokens}}
            for name, score in zip(names, scores, strict=True)
        },
        "assembled_and_spread_agree": bool(torch.equal(assembled, spread)),
        "sums_to_the_reward": bool(torch.allclose(spread.sum(dim=1), torch.tensor(scores), atol=1e-5)),
        "rows_whose_advantage_differs_by_token": per_token,
        "n_rows": len(names),
    }, indent=1))  # fmt: skip


if __name__ == "__main__":
    main()
