"""A gold answer alone, `{"answer": ...}`, as the reference of each framework, of a run and of the server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from prism.cli import app
from prism.rewards import (
    LightevalScores,
    LMEvalResults,
    Reward,
    TRLReward,
    VerifiersReward,
    VerifiersTaskReward,
)
from prism.rewards.nemo_gym import verify
from prism.rewards.openrlhf import answer
from prism.rewards.verl import compute_score
from prism.server import create_app

GOLD = {"answer": "7.65 L", "question": "Find the volume."}
RIGHT, WRONG = "**Answer:** 7.65 L", r"So $\boxed{7.65\,\mathrm{mL}}$."


def by_reward(text: str) -> Any:
    return Reward()(GOLD, text).value


def by_trl(text: str) -> Any:
    return TRLReward()(prompts=["q"], completions=[text], reference=[GOLD])[0]


def by_verl(text: str) -> Any:
    return compute_score(data_source="d", solution_str=text, ground_truth=GOLD)["score"]


def by_verifiers(text: str) -> Any:
    return VerifiersReward(Reward())(completion=text, answer=json.dumps(GOLD))


def by_verifiers_task(text: str) -> Any:
    trace = SimpleNamespace(last_reply=text, record_metric=lambda *_: None, info={})
    return asyncio.run(VerifiersTaskReward(Reward())(task=SimpleNamespace(reference=GOLD), trace=trace))


def by_openrlhf(text: str) -> Any:
    return answer(Reward(), {"query": ["q" + text], "prompts": ["q"], "labels": [json.dumps(GOLD)]})["rewards"][0]


def by_lm_eval(text: str) -> Any:
    return LMEvalResults(Reward())({"reference": GOLD}, [text])["prism"]


def by_lighteval(text: str) -> Any:
    doc = SimpleNamespace(specific={"reference": GOLD})
    return LightevalScores(Reward()).compute(doc, SimpleNamespace(final_text=[text], text=[text]))["prism"]


def by_nemo_gym(text: str) -> Any:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    return verify(Reward(), {"response": {"output": [said]}, "verifier_metadata": {"problem": GOLD}})["reward"]


DOORS = (
    by_reward,
    by_trl,
    by_verl,
    by_verifiers,
    by_verifiers_task,
    by_openrlhf,
    by_lm_eval,
    by_lighteval,
    by_nemo_gym,
)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_a_gold_answer_is_a_reference(door: Any) -> None:
    assert float(door(RIGHT)) == 1.0
    assert float(door(WRONG)) == 0.0


def test_a_server_takes_a_gold_answer() -> None:
    with TestClient(create_app("free_fall")) as client:
        for text, score in ((RIGHT, 1.0), (WRONG, 0.0)):
            assert client.post("/grade", json={"problem": GOLD, "solution": text}).json()["score"] == score


def test_a_run_takes_gold_answers(tmp_path: Path) -> None:
    golds, rollouts, out = (tmp_path / f"{name}.jsonl" for name in ("golds", "rollouts", "out"))
    golds.write_text(json.dumps({"id": "a", **GOLD}) + "\n" + json.dumps({"id": "b", "answer": "75"}) + "\n", "utf-8")
    rows = [{"problem_id": "a", "response": RIGHT}, {"problem_id": "b", "response": "The answer is 76."}]
    rollouts.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    result = CliRunner().invoke(app, ["run", str(golds), str(rollouts), "-o", str(out), "--workers", "0"])
    assert result.exit_code == 0, result.output
    assert [json.loads(line)["score"] for line in out.read_text("utf-8").splitlines()] == [1.0, 0.0]
