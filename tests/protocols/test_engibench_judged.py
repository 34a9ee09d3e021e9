"""What a judge or a person says of answers to Levels 1 and 2 of EngiBench: what rules leave open, and conflicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prism.cli import app

TABLE = """problem,answer,difficulty
"A heater on 230 V draws 2.0 A. What power?",460,Level 1
Are closer stirrups better in shear?,yes,Level 1
"""
ANSWERS = """{"row": 1, "sample_id": "a", "response": "$P = 455\\\\,\\\\mathrm{W}$"}
{"row": 2, "sample_id": "a", "response": "Yes, they are."}
{"row": 2, "sample_id": "b", "response": null}
"""


@pytest.fixture(autouse=True)
def _in_a_folder_with_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(TABLE, encoding="utf-8")
    Path("answers.jsonl").write_text(ANSWERS, encoding="utf-8")


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["protocol", "engibench", *words])


def rows_with(*judged: dict[str, Any], more: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    Path("judged.jsonl").write_text("".join(json.dumps(each) + "\n" for each in judged))
    done = run("rows.csv", "answers.jsonl", "--judged", "judged.jsonl", "-o", "out.jsonl", "--force", *more)
    assert done.exit_code == 0, done.output
    assert not done.stderr
    return [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]


def test_a_word_decides_what_rules_leave_open_and_null_stays_null() -> None:
    rows = rows_with({"row": 2, "variant": "original", "sample_id": "a", "correct": True, "judge": "anna"})
    assert [(row["score"], row["parts"][0]["basis"], row["final_correct"]) for row in rows] == [
        (1.0, "rules", True), (1.0, "file", True), (None, "none", None)
    ]  # fmt: skip
    assert rows[1]["findings_sha256"]
    assert rows[0]["findings_sha256"] is None


@pytest.mark.parametrize(("prefer", "score"), [("file", 0.0), ("rules", 1.0)])
def test_where_a_word_contradicts_a_rule_both_are_told(prefer: str, score: float) -> None:
    rows = rows_with({"row": 1, "sample_id": "a", "correct": False}, more=("--prefer", prefer))
    part = rows[0]["parts"][0]
    assert (rows[0]["score"], part["basis"]) == (score, "conflict")
    assert {"rules: True", "file: False"} <= set(part["findings"])
    assert rows[0]["settings"]["prefer"] == prefer


def test_what_made_a_word_is_no_unknown_key() -> None:
    assert rows_with({"row": 1, "sample_id": "a", "correct": True, "judged": {"task": "engibench-answer"}})


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"row": 9, "sample_id": "a", "correct": true}', "row 9"),
        ('{"row": 1, "sample_id": "a"}', "correct: is missing"),
        ('{"row": 1, "sample_id": "a", "correct": "yes"}', "correct"),
        ('{"row": 1, "sample_id": "a", "correct": true}\n{"row": 1, "sample_id": "a", "correct": false}', "twice"),
        ('{"row": 1, "variant": "mirror", "sample_id": "a", "correct": true}', "mirror"),
    ],
)
def test_faults_of_a_file_of_judgements_are_told(line: str, told: str) -> None:
    Path("judged.jsonl").write_text(line + "\n")
    done = run("rows.csv", "answers.jsonl", "--judged", "judged.jsonl")
    assert done.exit_code == 3
    assert told in done.stderr
