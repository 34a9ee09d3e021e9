"""The comparison of two trees' grades: what it leaves out, what it renames, and what it lets pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

same_grades = pytest.importorskip("benchmarks.robustness.same_grades", reason="an sdist has no benchmarks")


def folder(path: Path, **changes: Any) -> Path:
    row = {
        "problem_id": "p",
        "sample_id": "s",
        "score": 1.0,
        "flags": ["spam"],
        "schema": 3,
        "grader": {"version": "1"},
    }
    row |= changes
    path.mkdir()
    (path / "rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (path / "reports.jsonl").write_text(json.dumps({"grade": row, "diagnosis": {}}) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "n_differing"),
    [({}, 0), ({"schema": 4, "grader": {}, "cost": 7}, 0), ({"score": 0.5}, 2), ({"flags": []}, 2)],
)
def test_a_byte_that_differs_is_found(tmp_path: Path, changes: dict[str, Any], n_differing: int) -> None:
    found = same_grades.compare(folder(tmp_path / "old"), folder(tmp_path / "new", **changes))
    assert sum(map(len, found.values())) == n_differing


def test_renamed_keys_and_values_are_applied_to_the_old_side() -> None:
    names = {"keys": {"flags": "marks"}, "flags": {"spam": "too_many"}}
    assert same_grades.canonical({"flags": ["spam", "hedged"]}, names) == {"marks": ["too_many", "hedged"]}


def test_fields_are_left_uncompared_only_of_the_items_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = {"of": {"status": "different"}, "fields": ["nearest"], "why": "a test"}
    monkeypatch.setattr(same_grades, "uncompared", lambda: {"formulas": [rule]})
    items = [{"status": "different", "reason": "witness", "nearest": 1}, {"status": "undecided", "nearest": 1}]
    old = folder(tmp_path / "old", formulas=items)
    for name, place, change, n in (
        ("a", 0, {"nearest": 2}, 0),
        ("b", 0, {"reason": "ratio"}, 2),
        ("c", 1, {"nearest": 2}, 2),
        ("d", 0, {"status": "undecided"}, 2),
    ):
        new = folder(
            tmp_path / name, formulas=[{**one, **change} if k == place else one for k, one in enumerate(items)]
        )
        assert sum(map(len, same_grades.compare(old, new).values())) == n, name


def test_a_deliberate_difference_passes_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = folder(tmp_path / "old"), folder(tmp_path / "new", score=0.5)
    line = same_grades.read(new / "rows.jsonl", {})["p / s"]
    known = {"rows.jsonl": {"p / s": f"case c {same_grades.line_digest(line)}"}}
    monkeypatch.setattr(same_grades, "deliberate", lambda: known)
    assert same_grades.compare(old, new) == {"rows.jsonl": [], "reports.jsonl": ["p / s"]}
    other = folder(tmp_path / "other", score=0.25)
    assert same_grades.compare(old, other)["rows.jsonl"] == ["p / s"]
