"""Rows of data sets that the doors make: the one prompt, a reference that the same door finds, images in its shape."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import prism
from prism.rewards import (
    LightevalScores,
    LMEvalResults,
    Reward,
    TRLReward,
    VerifiersReward,
    inspect_scorer,
    nemo_gym,
    trl,
    verifiers,
)
from prism.rewards import verl as verl_door
from prism.rewards.lighteval import prism_doc
from prism.rewards.lm_eval import doc_to_image, doc_to_text
from tests.support.pictures import PNG

RIGHT = r"$v = \sqrt{2 g h}$"


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    """A folder with a problem that has an image and one that has none."""
    (tmp_path / "a.png").write_bytes(PNG)
    node = {"index": 1, "formula": r"v = \sqrt{2 g h}", "dependency": [], "is_final_answer": True}
    for name, images in (("plain", []), ("ramp", [{"location": "a.png", "caption": "the ramp"}])):
        data = {
            "id": name, "context": "A block slides down from $h$ with the gravity $g$. Find its speed $v$.",
            "images": images, "grading_standard": [node],
        }  # fmt: skip
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    return tmp_path


@pytest.fixture
def pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for Pillow, which is not among the dependencies: an image is its bytes."""

    class Image:
        def __init__(self, file: Any) -> None:
            self.raw = file.read()

        def load(self) -> None:
            if not self.raw.startswith(b"\x89PNG"):
                raise OSError("image file is truncated")

    monkeypatch.setitem(sys.modules, "PIL", ModuleType("PIL"))
    monkeypatch.setitem(sys.modules, "PIL.Image", SimpleNamespace(open=Image))


def expected(problems: Path, style: str = "prism") -> dict[str, str]:
    return {name: prism.prompt(problems / f"{name}.json", style) for name in ("plain", "ramp")}


def test_rows_for_trl(problems: Path, pillow: None) -> None:
    rows = trl.prompt_rows(problems, style="engtrace")
    said = expected(problems, "engtrace")
    assert [row["prompt"] for row in rows] == [[{"role": "user", "content": text}] for text in said.values()]
    assert [[image.raw for image in row["images"]] for row in rows] == [[], [PNG]]
    reward = TRLReward(problems=problems)
    assert reward(completions=[RIGHT] * 2, reference=[row["reference"] for row in rows]) == [1.0, 1.0]
    assert trl.prompt_rows([problems / "plain.json"], column="problem") == [
        {"prompt": [{"role": "user", "content": expected(problems)["plain"]}],
         "problem": "plain"},
    ]  # fmt: skip


def test_rows_for_verifiers_have_one_type_of_content(problems: Path) -> None:
    rows = verifiers.prompt_rows(problems)
    contents = [row["prompt"][0]["content"] for row in rows]
    assert [[part["type"] for part in content] for content in contents] == [["text"], ["image_url", "text"]]
    assert [content[-1]["text"] for content in contents] == list(expected(problems).values())
    assert contents[1][0]["image_url"]["url"].startswith("data:image/png;base64,")
    assert [VerifiersReward(problems=problems)(completion=RIGHT, answer=row["answer"]) for row in rows] == [1.0, 1.0]
    (alone,) = verifiers.prompt_rows([problems / "plain.json"], column="reference")
    assert alone == {"prompt": prism.prompt_messages(problems / "plain.json"), "reference": "plain"}


def test_rows_for_verl_have_a_mark_for_each_image(problems: Path) -> None:
    plain, ramp = verl_door.prompt_rows(problems)
    said = expected(problems)
    assert plain["prompt"][0]["content"] == said["plain"]
    assert ramp["prompt"][0]["content"] == f"<image>\n\n{said['ramp']}"
    assert (plain["images"], ramp["images"]) == ([], [{"bytes": PNG}])
    assert plain["reward_model"] == {"style": "rule", "ground_truth": "plain"}
    assert ramp["extra_info"] == {"index": 1, "problem_id": "ramp"}
    found = verl_door.compute_score("prism", RIGHT, ramp["reward_model"]["ground_truth"], problems=str(problems))
    assert found["score"] == 1.0
    assert "images" not in verl_door.prompt_rows([problems / "plain.json"])[0]


def test_rows_for_nemo_gym_are_inputs_of_responses(problems: Path) -> None:
    plain, ramp = nemo_gym.prompt_rows(problems, style="engjudge")
    said = expected(problems, "engjudge")
    assert plain == {
        "responses_create_params": {"input": [{"role": "user", "content": said["plain"]}]},
        "verifier_metadata": {"problem_id": "plain"},
    }
    image, text = ramp["responses_create_params"]["input"][0]["content"]
    assert (image["type"], text) == ("input_image", {"type": "input_text", "text": said["ramp"]})
    assert image["image_url"].startswith("data:image/png;base64,")
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": RIGHT}]}
    found = nemo_gym.verify(Reward(problems=problems), {**ramp, "response": {"output": [message]}})
    assert found["reward"] == 1.0


def test_samples_for_inspect(problems: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {name: ModuleType(name) for name in ("inspect_ai", "inspect_ai.dataset", "inspect_ai.model")}
    for name, module in made.items():
        monkeypatch.setitem(sys.modules, name, module)
    dataset: Any = made["inspect_ai.dataset"]
    model: Any = made["inspect_ai.model"]
    dataset.Sample = model.ChatMessageUser = model.ContentImage = model.ContentText = SimpleNamespace
    plain, ramp = inspect_scorer.prism_samples(problems)
    said = expected(problems)
    assert (plain.id, plain.target, plain.input) == ("plain", "plain", said["plain"])
    (message,) = ramp.input
    image, text = message.content
    assert (ramp.target, text.text) == ("ramp", said["ramp"])
    assert image.image.startswith("data:image/png;base64,")


@pytest.fixture
def lines(problems: Path) -> list[dict[str, Any]]:
    """The lines of `prism prompt FOLDER`."""
    from typer.testing import CliRunner

    from prism.cli import app

    done = CliRunner().invoke(app, ["prompt", str(problems)])
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_documents_for_lm_eval(problems: Path, lines: list[dict[str, Any]], pillow: None) -> None:
    said = expected(problems)
    assert [doc_to_text(line) for line in lines] == [said["plain"], f"<image>\n\n{said['ramp']}"]
    assert [[image.raw for image in doc_to_image(line)] for line in lines] == [[], [PNG]]
    results = LMEvalResults(problems=problems, column="problem_id")
    assert [results(line, [RIGHT])["prism"] for line in lines] == [1.0, 1.0]


def test_documents_for_lighteval(
    problems: Path, lines: list[dict[str, Any]], pillow: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("lighteval", "lighteval.tasks"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "lighteval.tasks.requests", SimpleNamespace(Doc=SimpleNamespace))
    plain, ramp = (prism_doc(line, "worked") for line in lines)
    assert [plain.query, ramp.query] == list(expected(problems).values())
    assert (plain.images, [image.raw for image in ramp.images], ramp.task_name) == (None, [PNG], "worked")
    scores = LightevalScores(problems=problems)
    assert scores.compute(ramp, SimpleNamespace(final_text=[RIGHT]))["prism"] == 1.0


def test_images_that_cannot_be_had_are_told_by_name(problems: Path, pillow: None) -> None:
    (problems / "a.png").write_bytes(b"no image")
    for rows in (trl.prompt_rows, verifiers.prompt_rows, verl_door.prompt_rows, nemo_gym.prompt_rows):
        with pytest.raises(prism.PrismError, match=r'ramp: image "a\.png" is no PNG'):
            rows(problems)
    with pytest.raises(prism.PrismError, match=r"a\.png: image file is truncated"):
        doc_to_image({"images": [str(problems / "a.png")]})
    with pytest.raises(prism.PrismError, match=r"b\.png: cannot be read"):
        doc_to_image({"images": [str(problems / "b.png")]})
    with pytest.raises(prism.PrismError, match="style"):
        trl.prompt_rows(problems, style="plain")


def test_without_pillow_a_door_says_what_to_install(problems: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(prism.PrismError, match="pip install pillow"):
        trl.prompt_rows(problems)
    assert doc_to_image({"prompt": "x"}) == []
