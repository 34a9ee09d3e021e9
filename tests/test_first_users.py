"""What the first users stumbled over and no other test holds: words for codes, and what is said of an absence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app
from tests.support.doc_blocks import ROOT, run_page

run = CliRunner()
ROWS = [
    {"problem_id": "free_fall", "id": "1", "response": r"$v = g t$, so $t_f = \sqrt{2h/g}$"},
    {"problem_id": "free_fall", "id": "2", "response": "$v = g t$"},
]


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Score rows of two rollouts of one problem."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "rollouts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    out = folder / "scores.jsonl"
    done = run.invoke(app, ["run", "free_fall", str(folder / "rollouts.jsonl"), "-o", str(out), "--workers", "0"])
    assert done.exit_code == 0, done.output
    return out


def test_a_report_says_why_there_is_no_interval_and_no_formula(scores: Path) -> None:
    told = run.invoke(app, ["report", str(scores)]).stdout
    assert "one problem" in told
    assert "one_problem" not in told
    assert "Formulas of nodes, domains and difficulty are not shown: no --problems were named" in told
    assert "reference formula" not in told
    named = run.invoke(app, ["report", str(scores), "--problems", "free_fall"]).stdout
    assert "reference formula" in named
    assert "are not shown" not in named


def test_a_result_file_of_another_kind_is_refused_before_the_work(scores: Path) -> None:
    out = scores.with_name("scores.csv")
    done = run.invoke(app, ["run", "free_fall", str(scores.with_name("rollouts.jsonl")), "-o", str(out)])
    assert done.exit_code != 0
    assert "expected .jsonl or .parquet" in done.stderr
    assert not out.exists()


def test_the_citation_is_of_this_version() -> None:
    version = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)
    assert version is not None
    assert version[1] == prism.__version__
    assert "CITATION.cff" in (ROOT / "README.md").read_text("utf-8")


def test_blocks_of_pages_run_in_a_folder_of_their_own() -> None:
    """So a block that opens `dags/free_fall.toml`, as README's did, fails in the test as it does for a user."""
    shown, faults = run_page('```python\nimport os\nprint(os.listdir("."))\n```\n```text\n[]\n```\n')
    assert not faults
    assert "[]" in shown


def test_the_prose_of_a_student_without_formulas_is_no_verdict() -> None:
    """A student with all answers right in words had 0 and "no formula is known to be wrong"."""
    words = "The stone falls for the square root of twice the height over g. It lands with the root of two g h."
    grade = prism.grade("free_fall", words)
    assert (grade.score, grade.flags) == (0.0, ("no_formulas",))
    told = run.invoke(app, ["explain", "free_fall", "-"], input=words).stdout
    assert "nothing is known of what is right or wrong" in told
    assert "No formula is known to be wrong" not in told
