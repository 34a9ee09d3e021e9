"""Batch files both ways: what a network run asks stands in them, and their output gives the same findings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prism.cli import app
from tests.support.imitation import completion, imitating, said_of


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ({"problem_id": "free_fall", "id": n, "response": f"$v = {n} g t$"} for n in "abc")
    Path("rollouts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def judge(*more: str, task: str = "outcome", out: str = "out.jsonl") -> Any:
    done = CliRunner().invoke(app, ["judge", task, "free_fall", "rollouts.jsonl", "-o", out, *more])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def answered(name: str, *, spoil: int = -1) -> Iterator[str]:
    """The output of a batch, in another order than its input; one reply may be none."""
    lines = [json.loads(line) for line in Path(name).read_text("utf-8").splitlines()]
    for place, line in reversed(list(enumerate(lines))):
        assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
        text = "no JSON" if place == spoil else said_of(line["body"])
        body = completion(text, line["body"])
        yield json.dumps({
            "id": f"b{place}", "custom_id": line["custom_id"], "error": None,
            "response": {"status_code": 200, "request_id": "r", "body": body},
        })  # fmt: skip


def write_output(name: str, lines: Iterator[str] | list[str]) -> None:
    Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_a_batch_gives_the_findings_of_the_network() -> None:
    with imitating() as own:
        judge("--endpoint", own.url, "--model", "m", out="network.jsonl")
    done = judge("--model", "m", "--write-batch", "in.jsonl")
    assert done.exit_code == 0
    assert not Path("out.jsonl").exists(), "nothing is found yet"
    assert "in.jsonl: 3 calls to be made" in done.stderr
    write_output("output.jsonl", answered("in.jsonl"))
    done = judge("--model", "m", "--read-batch", "output.jsonl")
    assert done.exit_code == 0, done.output
    assert "replies taken: 3" in done.stderr
    assert Path("out.jsonl").read_bytes() == Path("network.jsonl").read_bytes()


def test_a_reply_that_cannot_be_used_stands_in_the_next_batch() -> None:
    judge("--model", "m", "--write-batch", "in.jsonl")
    write_output("output.jsonl", answered("in.jsonl", spoil=1))
    done = judge("--model", "m", "--read-batch", "output.jsonl", "--write-batch", "next.jsonl")
    assert done.exit_code == 0
    (line,) = map(json.loads, Path("next.jsonl").read_text().splitlines())
    assert len(line["body"]["messages"]) == 3
    write_output("output.jsonl", answered("next.jsonl"))
    assert judge("--model", "m", "--read-batch", "output.jsonl").exit_code == 0
    assert len(Path("out.jsonl").read_text().splitlines()) == 3


def test_lines_without_a_reply_are_told_and_stay_open() -> None:
    judge("--model", "m", "--write-batch", "in.jsonl")
    lines = [json.loads(line) for line in answered("in.jsonl")]
    lines[0]["response"] = {"status_code": 429, "body": {"error": {"message": "slow down"}}}
    lines[1] |= {"response": None, "error": {"code": "batch_expired", "message": "too late"}}
    strange = {**lines[2], "custom_id": "f" * 64}
    write_output("output.jsonl", [json.dumps(line) for line in (*lines, strange)])
    done = judge("--model", "m", "--read-batch", "output.jsonl", "--write-batch", "next.jsonl")
    assert done.exit_code == 0
    assert "slow down" in done.stderr
    assert "too late" in done.stderr
    assert "1 line that answer nothing which is open" in done.stderr or "answer nothing" in done.stderr
    assert len(Path("next.jsonl").read_text().splitlines()) == 2


def test_a_network_goes_on_where_a_batch_has_ended() -> None:
    judge("--model", "m", "--write-batch", "in.jsonl")
    write_output("output.jsonl", list(answered("in.jsonl"))[:2])
    with imitating() as own:
        done = judge("--model", "m", "--read-batch", "output.jsonl", "--endpoint", own.url)
    assert done.exit_code == 0, done.output
    assert len(own.asked) == 1


@pytest.mark.parametrize("text", ["", "{}", "[1]", "no JSON", '{"custom_id": 3}'])
def test_a_file_that_is_no_output_of_a_batch_is_told(text: str) -> None:
    Path("output.jsonl").write_text(f"{text}\n")
    done = judge("--model", "m", "--read-batch", "output.jsonl")
    assert done.exit_code == (3 if text else 5)


def test_a_batch_file_is_not_written_over() -> None:
    Path("in.jsonl").write_text("mine\n")
    assert judge("--model", "m", "--write-batch", "in.jsonl").exit_code == 3
    assert Path("in.jsonl").read_text() == "mine\n"


@pytest.mark.parametrize("text", ["mine\n", None])
def test_writing_a_batch_leaves_the_findings_alone(text: str | None) -> None:
    with imitating() as own:
        judge("--endpoint", own.url, "--model", "m")
    if text:
        Path("out.jsonl").write_text(text)
    before = Path("out.jsonl").read_bytes()
    for model in ("m", "n"):
        done = judge("--model", model, "--write-batch", f"{model}.jsonl")
        assert done.exit_code == 0, done.output
        assert not done.stdout, "there is nothing to say of findings"
    assert Path("out.jsonl").read_bytes() == before


def test_what_is_open_behind_a_batch_is_told_with_the_way_on() -> None:
    judge("--model", "m", "--write-batch", "in.jsonl")
    write_output("output.jsonl", list(answered("in.jsonl"))[:2])
    done = judge("--model", "m", "--read-batch", "output.jsonl")
    assert done.exit_code == 4
    told = "1 item with calls that are not made yet; write the next batch (--write-batch), or name an --endpoint"
    assert told in done.stderr
    assert "the same command" not in done.stderr


def test_models_share_a_batch_file_or_have_one_each() -> None:
    judge("--model", "m,n", "--write-batch", "both.jsonl")
    models = [json.loads(line)["body"]["model"] for line in Path("both.jsonl").read_text().splitlines()]
    assert models == ["m", "n"] * 3
    for model in "mn":
        judge("--model", model, "--write-batch", f"{model}.jsonl")
        write_output(f"{model}_out.jsonl", answered(f"{model}.jsonl"))
    assert judge("--model", "m,n", "--read-batch", "m_out.jsonl").exit_code == 4
    assert judge("--model", "m,n", "--read-batch", "n_out.jsonl").exit_code == 0
    assert [json.loads(line)["judge"] for line in Path("out.jsonl").read_text().splitlines()] == ["m", "n"] * 3
