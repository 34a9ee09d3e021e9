"""All rows of published data sets where they lie: each is converted or told, and what was made loads.

The material has the fields of other collections; here they are given their published names again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from prism import load_problem
from prism.authoring.importers.catalogue import dataset_of
from prism.authoring.importers.entries import Choice
from prism.authoring.importers.importing import import_dataset
from tests.support.external_data import DATA

Row = Mapping[str, Any]
WORKED, MARKED = DATA / "worked.jsonl", DATA / "marking_rubrics.jsonl"
pytestmark = pytest.mark.skipif(
    not WORKED.is_file() or not MARKED.is_file(), reason="PRISM_DATA names no folder with worked.jsonl"
)


def rows_of(path: Path) -> Iterator[Row]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def as_physics(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"], "questions": row["problem"], "solutions": row["solution"], "final_answers": row["answer"],
        "graphs": None,
    }  # fmt: skip


def as_phybench(row: Row) -> dict[str, Any]:
    return {
        "id": int(row["id"].split("/")[1]), "tag": "MECHANICS", "content": row["problem"],
        "solution": row["solution"], "answer": row["answer"],
    }  # fmt: skip


def as_scibench(row: Row) -> dict[str, Any]:
    _, book, number = row["id"].split("/")
    return {
        "problem_text": row["problem"], "answer_latex": row["answer"], "answer_number": row["answer"],
        "unit": row.get("unit", ""), "source": book, "problemid": number, "comment": " ", "solution": row["solution"],
    }  # fmt: skip


def as_hipho(row: Row) -> dict[str, Any]:
    kept = ("id", "marking", "answer", "answer_type", "unit", "points", "modality", "field")
    return {
        **{key: row[key] for key in kept}, "context": "", "question": row["problem"], "source": Path(row["path"]).stem,
        "image_question": [],
    }  # fmt: skip


# Of each data set: where its rows are, how they are named again, how many there are, and how many become a problem.
SETS: dict[str, tuple[Path, str, Callable[[Row], dict[str, Any]], int, int]] = {
    "physics": (WORKED, "yale-nlp/Physics", as_physics, 288, 265),
    "phybench": (WORKED, "phybench", as_phybench, 32, 32),
    "scibench": (WORKED, "scibench", as_scibench, 26, 25),
    "hipho": (MARKED, "HiPhO", as_hipho, 105, 100),
}


@pytest.mark.slow  # drafts hundreds of problems
@pytest.mark.parametrize("name", SETS)
def test_all_rows_are_converted_or_told_and_all_problems_load(name: str, tmp_path: Path) -> None:
    path, source, named_again, n_row, n_problem = SETS[name]
    rows = [named_again(row) for row in rows_of(path) if source in row["source_repo"]]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    made = import_dataset(file, dataset_of(name), Choice())
    assert made.n_rows == n_row == len(made.problems) + len(made.refused)
    assert len(made.problems) >= n_problem
    assert all(str(each) for each in made.refused)
    loaded = [load_problem(each.data) for each in made.problems]
    assert len({problem.id for problem in loaded}) == len(loaded)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dag", "least"), [("scibench", "drafted", 25), ("phybench", "drafted", 26), ("hipho", "marking", 84)]
)
def test_own_golds_score_1_by_what_was_made_of_them(name: str, dag: str, least: int, tmp_path: Path) -> None:
    """Of yale-nlp/Physics, 234 of 234 drafts; left out here, for it takes minutes."""
    path, source, named_again, _, _ = SETS[name]
    rows = [named_again(row) for row in rows_of(path) if source in row["source_repo"]]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    n_whole, n = import_dataset(file, dataset_of(name), Choice(), is_drafted=True).own_golds[dag]
    assert n_whole >= least
    assert n_whole == n or dag == "marking"
