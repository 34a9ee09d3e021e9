"""Prepared problems on disk: what is read back is what was kept, and nothing is read that another user could write."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import prism
from prism import budget
from prism.grading import json_line, prepared_files, score_row
from prism.grading.prepared_cache import PreparedCache
from prism.problem.collection import list_problems

PROBLEM: dict[str, Any] = {
    "id": "fall",
    "context": "A stone falls for $t = 2$ s with $g = 9.81$ m/s^2.",
    "grading_standard": [
        {"index": 1, "formula": "v = g t", "dependency": []},
        {"index": 2, "formula": r"h = \frac{1}{2} g t^2", "dependency": [1], "is_final_answer": True},
    ],
}
TEXT = json.dumps(PROBLEM)
SOLUTION = r"$v = t g$, $2h/t = v$ and \boxed{h = 19.62\unit{m}}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of caches, of this test alone."""
    monkeypatch.setenv("PRISM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "prepared"


def new_cache(*, training: bool = False) -> PreparedCache:
    """A cache of a process that has prepared nothing."""
    return PreparedCache({}, size=4, training=training, paths=True)


def row(prepared: prism.grading.prepared.PreparedProblem) -> bytes:
    """The score row of the solution, by a process that remembers nothing."""
    budget.forget()
    return json_line(score_row(prepared.problem, SOLUTION, prism.grade(prepared, SOLUTION)))


def no_preparing(*_: object, **__: object) -> None:
    raise AssertionError("prepared anew")


def test_a_problem_is_prepared_once_for_all_processes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    budget.forget()
    fresh = row(prism.prepare(TEXT))
    made = new_cache().get(TEXT)
    assert row(made) == fresh
    monkeypatch.setattr("prism.grading.prepared_cache.prepare", no_preparing)
    read = new_cache().get(TEXT)
    assert read == made
    assert row(read) == row(made) == fresh  # with its cost
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(AssertionError, match="prepared anew"):
        new_cache(training=True).get(TEXT)


def test_what_is_read_but_not_loaded_is_kept_too(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fall.json"
    path.write_text(TEXT, encoding="utf-8")
    new_cache().get(list_problems(path)["fall"])
    monkeypatch.setattr("prism.grading.prepared_cache.prepare", no_preparing)
    assert new_cache().get(list_problems(path)["fall"]).problem.id == "fall"
    path.write_text(TEXT.replace("9.81", "9.8"), encoding="utf-8")
    with pytest.raises(AssertionError, match="prepared anew"):
        new_cache().get(list_problems(path)["fall"])


def test_a_loaded_problem_and_faults_are_not_kept(folder: Path) -> None:
    new_cache().get(prism.load_problem(TEXT))
    with pytest.raises(prism.PrismError, match="is missing"):
        new_cache().get('{"id": "broken"}')
    assert not folder.exists() or not list(folder.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="no modes here")
@pytest.mark.parametrize("which", ["folder", "file"])
def test_what_others_can_write_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch, which: str) -> None:
    new_cache().get(TEXT)
    (path,) = folder.iterdir()
    (folder if which == "folder" else path).chmod(0o777)
    monkeypatch.setattr("pickle.loads", no_preparing)
    assert new_cache().get(TEXT).problem.id == "fall"


def test_a_damaged_file_is_told_and_made_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new_cache().get(TEXT)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"?")
    assert new_cache().get(TEXT).problem.id == "fall"
    assert "is damaged or was altered" in capsys.readouterr().err
    assert path.read_bytes() == whole


def test_the_older_half_goes_when_there_are_too_many(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_files, "MOST_FILES", 3)
    cache = new_cache()
    for n in range(4):
        cache.get(TEXT.replace("fall", f"fall {n}"))
    assert len(list(folder.iterdir())) == 2
