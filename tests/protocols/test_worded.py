"""Answers in words, read by a model or a person: apart from the grade, named, and never against what rules decide."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.errors import DataFileError
from prism.protocols.graded_rollouts import grade_rollouts
from prism.protocols.rows import Basis, ProtocolRow
from prism.protocols.schemas import schema_text
from prism.protocols.worded import by_response, read_readings, worded_nodes, worded_rows
from prism.runs.rollouts import Rollout

run = CliRunner()
SCHEMA = json.loads(schema_text("worded_readings"))
PROBLEM: dict[str, Any] = {
    "id": "beam",
    "context": "A ball of mass $m$ lies on a bowl of radius $R$; it is pushed by $x$ and has the energy $E$.",
    "subquestions": [{"letter": "a", "subproblem": "Is the ball stable?", "final_answer_form": "text-based",
                      "final_answer_instructions": "'The ball is stable/unstable'"}],
    "grading_standard": [
        {"index": 1, "formula": r"E = \frac{m g x^2}{2R}", "dependency": []},
        {"index": 2, "formula": r"\text{The ball is stable}", "dependency": [1], "is_final_answer": True},
    ],
}  # fmt: skip
OPEN = r"$E = \frac{m g x^2}{2R}$, so it comes back whenever one pushes it."
SAID = r"$E = \frac{m g x^2}{2R}$, so the ball is stable."
DENIED = r"$E = \frac{m g x^2}{2R}$, so the ball is unstable."


def written(folder: Path, *entries: Mapping[str, Any]) -> Path:
    path = folder / "readings.jsonl"
    base = {"problem_id": "beam", "sample_id": "1", "node": 2, "says_same": True, "reader": "m-1", "kind": "model"}
    path.write_text("".join(json.dumps({**base, **entry}) + "\n" for entry in entries), encoding="utf-8")
    return path


def row_of(text: str, readings: Path | None = None) -> ProtocolRow:
    problems = {"beam": prism.load_problem(PROBLEM)}
    told = {} if readings is None else by_response(read_readings(readings), problems)
    graded = list(grade_rollouts(problems, [Rollout("beam", text, "1")], then=worded_nodes))
    (row,) = worded_rows(graded, told)
    return row


def test_without_a_reading_what_no_rule_decides_has_bounds() -> None:
    row = row_of(OPEN)
    assert (row.score, row.score_low, row.score_high, row.final_correct) == (None, Fraction(1, 2), Fraction(1), None)
    assert [(part.name, part.score, part.basis) for part in row.parts] == [("node 2", None, Basis.NONE)]
    assert row.policies == {"worded_rules": Fraction(1, 2)}


@pytest.mark.parametrize(("says_same", "score"), [(True, Fraction(1)), (False, Fraction(1, 2))])
def test_a_reading_settles_it_and_is_named(tmp_path: Path, says_same: bool, score: Fraction) -> None:
    row = row_of(OPEN, written(tmp_path, {"says_same": says_same, "reader": "A. Marker", "kind": "person"}))
    assert (row.score, row.final_correct) == (score, says_same)
    assert row.parts[0].basis == Basis.FILE
    assert row.parts[0].findings[1] == f"person A. Marker: {'the same' if says_same else 'not the same'}"
    assert row.notes == ("read by a person: node 2, A. Marker",)
    assert row.policies == {"worded_rules": Fraction(1, 2)}  # the grade stays what it is
    assert (row.about.matched, row.about.findings_sha256 is None) == ((1,), False)


@pytest.mark.parametrize(("text", "says_same", "score"), [(SAID, False, Fraction(1)), (DENIED, True, Fraction(1, 2))])
def test_a_reading_never_changes_what_rules_decide(tmp_path: Path, text: str, says_same: bool, score: Fraction) -> None:
    row = row_of(text, written(tmp_path, {"says_same": says_same}))
    assert (row.score, row.parts[0].basis) == (score, Basis.CONFLICT)
    assert row.notes == ("a reading contradicts the rules, which count: node 2, model m-1",)


def test_a_reading_that_agrees_with_the_rules_is_both(tmp_path: Path) -> None:
    assert row_of(SAID, written(tmp_path, {})).parts[0].basis == Basis.BOTH


def test_a_guess_stays_a_guess_whoever_reads_it(tmp_path: Path) -> None:
    row = row_of("It comes back whenever one pushes it.", written(tmp_path, {}))
    assert (row.score, row.parts[0].score) == (Fraction(0), Fraction(0))
    assert row.parts[0].findings[-1] == "withheld: nothing that it follows from is there"


def test_an_empty_response_says_nothing() -> None:
    assert row_of("").score == 0


def test_no_grade_knows_of_readings(tmp_path: Path) -> None:
    """The score of `grade` is the policy `worded_rules`, with readings or without."""
    for text in (OPEN, SAID, DENIED):
        grade = prism.grade(prism.load_problem(PROBLEM), text)
        assert grade.score == float(row_of(text, written(tmp_path, {})).policies["worded_rules"] or 0)


def test_all_faults_of_readings_are_told_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, {"node": 1}, {"problem_id": "else"}, {"kind": "oracle"}, {"says_same": None},
                   {"reader": None}, {}, {"says_same": False, "reader": "B"})  # fmt: skip
    with pytest.raises(DataFileError) as caught:
        row_of(OPEN, path)
    told = "\n".join(caught.value.faults)
    for words in ("node 1: its nodes in words are 2", "no problem has the id else", "is none of model, person",
                  "says_same: is", "reader: is missing", "m-1 says otherwise on line 6"):  # fmt: skip
        assert words in told, told


@pytest.mark.parametrize(("entry", "is_right"), [
    ({}, True), ({"comment": "clear", "says_same": False}, True), ({"kind": "judge"}, False), ({"node": 0}, False),
    ({"reader": None}, False), ({"says_same": "yes"}, False), ({"node": "2"}, False),
])  # fmt: skip
def test_the_schema_and_the_reader_agree(tmp_path: Path, entry: dict[str, Any], is_right: bool) -> None:
    path = written(tmp_path, entry)
    whole = json.loads(path.read_text("utf-8"))
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(whole) == is_right
    assert (not read_readings(path).faults) == is_right


def test_the_command_writes_ordinary_rows(tmp_path: Path) -> None:
    (tmp_path / "beam.json").write_text(json.dumps(PROBLEM), encoding="utf-8")
    rows = [{"problem_id": "beam", "sample_id": k, "response": text} for k, text in (("1", OPEN), ("2", SAID))]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = ["protocol", "worded", str(tmp_path / "beam.json"), str(tmp_path / "r.jsonl"), "--workers", "0", "--json"]
    alone = json.loads(run.invoke(app, command).stdout)
    read = json.loads(run.invoke(app, [*command, "--readings", str(written(tmp_path, {}))]).stdout)
    assert [row["score"] for row in alone["rows_list"]] == [None, 1.0]
    assert [row["score"] for row in read["rows_list"]] == [1.0, 1.0]
    assert [row["policies"]["worded_rules"] for row in read["rows_list"]] == [0.5, 1.0]
