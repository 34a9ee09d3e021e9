"""Doors of trainers for `doors.py`: what TRL, verl, OpenRLHF, NeMo Gym and reasoning-gym make of rows of solutions.

Each function runs in the environment of its framework, without a network: models, tokenizers and data are made here.
TRL trains; of the others their own scoring is called with the solutions in place of what a model would have written.
"""

from __future__ import annotations

import asyncio
import importlib.util
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from benchmarks.frameworks.seen import ROOT, Row, Seen

COMPLETIONS = 256  # of a step of the trainer
UPDATES = 10  # steps of the trainer
ENTRIES = 40  # of reasoning-gym


def example(name: str) -> ModuleType:
    """A script of `examples/`, as a module."""
    spec = importlib.util.spec_from_file_location(Path(name).stem, ROOT / "examples" / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def trl(_: Sequence[Row], folder: Path) -> Seen:
    """`GRPOTrainer` and `StepGRPOTrainer` train a tiny model: gold answers, then each formula at its token."""
    grpo = example("trl_grpo.py")
    graded: list[Row] = []
    rewards: list[float] = []
    reported: dict[str, Any] = {"completions_a_step": COMPLETIONS, "updates": UPDATES}
    problems = grpo.answers()
    for kind, options in (("answers", {"of_answers": True}), ("steps", {"steps": True})):
        start = time.perf_counter()
        found = grpo.run(folder / kind, group=COMPLETIONS // len(grpo.PROBLEMS), updates=UPDATES, **options)
        seconds = time.perf_counter() - start
        reported[kind] = {
            "seconds": round(seconds, 1), "seconds_a_step": [round(each["step_time"], 2) for each in found["steps"]],
            "mean_reward": [round(each["reward"], 4) for each in found["steps"]], "versions": found["versions"],
            "advantages": found["advantages"], "largest_change_of_a_weight": found["largest_change_of_a_weight"],
        }  # fmt: skip
        by_id = dict(zip(grpo.PROBLEMS, problems, strict=True))
        for number, each in enumerate(found["completions"]):
            reference = by_id[each["reference"]] if kind == "answers" else each["reference"]
            graded.append(Row(f"{kind}-{number}", reference, each["completion"]))
            rewards.append(each["reward"])
    return Seen(rewards, {}, reported, graded=graded)


def verl(given: Sequence[Row], _: Path) -> Seen:
    """The naive manager, row by row from threads, and the batch manager, whose rewards are tensors."""
    from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
    from verl.trainer.ppo.reward import get_custom_reward_fn
    from verl.workers.reward_manager.batch import BatchRewardManager

    score = example("verl/score_rows.py")
    vars(score)["SCORING"] = "closure"
    rows = [(row, score.data(row.solution, row.reference)) for row in given]

    async def single() -> list[dict[str, Any]]:
        config = score.settings("compute_score")
        manager = NaiveRewardManager(config=config, tokenizer=score.Bytes(), compute_score=get_custom_reward_fn(config))
        return await asyncio.gather(*(manager.run_single(one) for _, one in rows))

    *good, bad = asyncio.run(single())
    batch = BatchRewardManager(score.Bytes(), 0, get_custom_reward_fn(score.settings("compute_score_batched")))
    sums = [round(float(batch(one).sum()), 6) for _, one in rows]
    rewards = [each["reward_score"] for each in good]
    return Seen(
        rewards, {"score": bad["reward_score"], "bad_reference": bad["reward_extra_info"]["bad_reference"]},
        {"batch_manager_is_the_same": sums[:-1] == rewards},
    )  # fmt: skip


def openrlhf(given: Sequence[Row], folder: Path) -> Seen:
    """The single-turn executor loads the reward function from a file; what the model says is put in."""
    import torch
    from openrlhf.utils.agent import SingleTurnAgentExecutor

    path = folder / "reward_func.py"
    path.write_text(
        "from prism.rewards import OpenRLHFReward\n\nreward_func = OpenRLHFReward('closure')\n", encoding="utf-8"
    )
    said: Iterator[str] = iter(())

    class Bytes:
        """A tokenizer with one token a byte."""

        def __call__(self, text: str, **_: Any) -> dict[str, Any]:
            return {"input_ids": torch.tensor([list(text.encode())])}

        def decode(self, tokens: Sequence[int], **_: Any) -> str:
            return bytes(tokens).decode()

    class Knowing:
        """An engine that knows the answers."""

        async def generate(self, _: Any, __: Any, **___: Any) -> Any:
            text = next(said)
            output = SimpleNamespace(token_ids=list(text.encode()), text=text, finish_reason="stop", logprobs=None)
            return SimpleNamespace(outputs=[output])

    async def reward(row: Row) -> dict[str, Any]:
        nonlocal said
        said = iter([row.solution])
        sampling = SimpleNamespace(max_tokens=4096, logprobs=None)
        return await executor.execute("Solve. ", row.reference, sampling, 100_000, Bytes(), Knowing())

    executor = SingleTurnAgentExecutor(str(path))
    *good, bad = [asyncio.run(reward(row)) for row in given]
    logs = {key: float(value[0]) for key, value in bad["extra_logs"].items() if key == "bad_reference"}
    return Seen([round(float(each["reward"]), 6) for each in good], {"reward": float(bad["reward"]), **logs}, {})


def nemo_gym(given: Sequence[Row], _: Path) -> Seen:
    """A resources server of NeMo Gym's own class answers `/verify` over its own routes, without its model server."""
    from fastapi.testclient import TestClient
    from nemo_gym.base_resources_server import BaseResourcesServerConfig
    from nemo_gym.server_utils import ServerClient

    from prism.rewards import Reward
    from prism.rewards.nemo_gym import resources_server

    config = BaseResourcesServerConfig(host="", port=0, entrypoint="", name="prism", domain="other")
    server = resources_server(Reward("closure"))(config=config, server_client=ServerClient.model_construct())
    client = TestClient(server.setup_webserver())

    def answer(row: Row) -> Any:
        said = {"type": "output_text", "text": row.solution, "annotations": []}
        message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [said]}
        response = {
            "id": "r", "created_at": 0, "model": "none", "object": "response", "output": [message],
            "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        }  # fmt: skip
        asked = {"input": [{"role": "user", "content": "Solve."}]}
        return client.post(
            "/verify", json={"responses_create_params": asked, "response": response, "problem": row.reference or None}
        )

    *good, bad = map(answer, given)
    return Seen(
        [each.json()["reward"] for each in good], {"status": bad.status_code},
        {"keys_of_first_row": sorted(key for key in good[0].json() if key.startswith("prism_"))},
    )  # fmt: skip


def reasoning_gym(_: Sequence[Row], __: Path) -> Seen:
    """The data set `prism` by the library's factory: each entry's own answer, the first half of it, and nothing."""
    import json

    from reasoning_gym import create_dataset

    from prism.rewards.reasoning_gym import register

    register()
    data = create_dataset("prism", seed=5, size=ENTRIES)
    graded, rewards = [], []
    for place in range(ENTRIES):
        entry = data[place]
        problem = json.loads(entry["metadata"]["problem"])
        formulas = [node["formula"] for node in problem["grading_standard"] if "formula" in node]
        half = " ".join(f"${each}$" for each in formulas[: len(formulas) // 2])
        for kind, text in (("answer", entry["answer"]), ("half", half), ("nothing", "")):
            graded.append(Row(f"{place}-{kind}", problem, text))
            rewards.append(data.score_answer(text, entry))
    return Seen(rewards, {"value": data.score_answer(None, data[0])}, {"entries": ENTRIES}, graded=graded)
