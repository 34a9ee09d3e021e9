"""Score rows of schema 5 with their cost, rows of older schemas, and files that are damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import prism
from prism.errors import DataFileError
from prism.grading.row import SCHEMA, fingerprint, json_line, score_row
from prism.reports.gates import compare_results, index_results
from prism.runs.bulk import without_score
from prism.runs.rollouts import Rollout
from prism.runs.score_files import grade_of, schema, score_rows, writer_of

FALL = {
    "id": "fall",
    "context": "A stone falls for a time $t$ with the acceleration $g$.",
    "grading_standard": [{"index": 1, "formula": "v = g t", "dependency": [], "is_final_answer": True}],
}
BEYOND = {3: ("cost",), 2: ("cost", "nearest", "witness")}
BEYOND[1] = (*BEYOND[2], "flags", "score_strict", "share_by_closure")
"""Keys that rows of an older schema lack, in the row or in its formulas."""


def row(text: str = "$v = gt$", sample_id: str = "s") -> dict[str, Any]:
    problem = prism.load_problem(FALL)
    return {**score_row(problem, text, prism.grade(problem, text, sample_id=sample_id)), "meta": {}}


def written(path: Path, *rows: dict[str, Any]) -> Path:
    with path.open("wb") as file:
        writer_of(path)(file, iter([[json_line(each) for each in rows]]))
    return path


def test_a_row_has_the_cost_of_its_grade() -> None:
    graded = row()
    assert (graded["schema"], SCHEMA) == (6, 6)
    assert isinstance(graded["cost"], int)
    assert graded["cost"] > 0
    assert grade_of(graded) == prism.grade(FALL, "$v = gt$", sample_id="s")


def test_a_row_without_a_grade_has_no_cost() -> None:
    problem = prism.load_problem(FALL)
    for status in ("killed", "internal"):
        grade = without_score(problem, Rollout("fall", "", "s"), status, "why")
        assert score_row(problem, "", grade)["cost"] is None
        assert grade_of(score_row(problem, "", grade)) == grade


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet"])
def test_files_hold_costs_and_their_absence(tmp_path: Path, name: str) -> None:
    rows = [row(), {**row(sample_id="t"), "cost": None}]
    assert list(score_rows(written(tmp_path / name, *rows))) == rows
    assert str(schema().field("cost").type) == "int64"


@pytest.mark.parametrize("number", BEYOND)
def test_rows_of_older_schemas_stay_readable(tmp_path: Path, number: int) -> None:
    old = {key: value for key, value in row().items() if key not in BEYOND[number]} | {"schema": number}
    old["formulas"] = [{key: each[key] for key in each if key not in BEYOND[number]} for each in old["formulas"]]
    path = tmp_path / "old.jsonl"
    path.write_bytes(json_line(old) + b"\n")
    (found,) = score_rows(path)
    assert found == old
    grade = grade_of(found)
    assert (grade.score, grade.matched, grade.cost) == (1, (1,), None)
    results = index_results("old", score_rows(path))
    assert compare_results(results, results).compared


def test_an_older_parquet_file_stays_readable(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = written(tmp_path / "rows.parquet", {**row(), "schema": 3})
    pq.write_table(pq.read_table(path).drop_columns(["cost"]), path)
    (found,) = score_rows(path)
    assert "cost" not in found
    assert (grade_of(found).cost, grade_of(found).score) == (None, 1)


def test_all_faults_of_a_file_of_rows_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    good = json_line(row())
    lines = [b"{", good, b'{"score": ' + b"9" * 10_000 + b"}", b"[" * 5000, b'{"score": 1}', b'"\xff"', good,
             json_line({**row(), "matched": 3}), b"3"]  # fmt: skip
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(DataFileError) as caught:
        list(score_rows(path))
    assert [fault.split(": ")[0] for fault in caught.value.faults] == [f"line {n}" for n in (1, 3, 4, 5, 6)]
    assert caught.value.faults[3].endswith("; 2 more like it, the last in line 9")
    assert "digits" in caught.value.faults[1]
    assert "is not UTF-8: byte 1" in caught.value.faults[4]
    path.write_bytes(b"%PDF-1.7")
    with pytest.raises(DataFileError, match="line 1: no JSON: is a PDF file"):
        list(score_rows(path))


@pytest.mark.parametrize("damage", [
    lambda raw: raw[: len(raw) // 2], lambda raw: raw[:-8], lambda raw: raw[:0], lambda raw: b"PAR1" + raw[4:][::-1],
    lambda raw: raw[:20] + b"\xff" * 40 + raw[60:],
])  # fmt: skip
def test_a_damaged_parquet_file_is_a_fault(tmp_path: Path, damage: Any) -> None:
    path = written(tmp_path / "rows.parquet", *[row(sample_id=str(k)) for k in range(5)])
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataFileError, match=r"rows\.parquet"):
        list(score_rows(path))


def test_another_number_of_rules_is_another_grader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prism.grading.row.RULES", 999)
    assert fingerprint.__wrapped__() != fingerprint()
