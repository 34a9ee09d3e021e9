"""Two fresh processes that differ in kernels, hash seed and order write the same bytes, and another byte is seen."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prism.cli import app
from prism.errors import PrismError
from prism.grading.row import json_line
from prism.runs import determinism
from prism.runs.determinism import SETTINGS, Sample

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = [Sample("free_fall", name, "$v = g t$") for name in ("one", "two")]


@pytest.mark.slow
@pytest.mark.compiled
def test_a_problem_and_its_students_get_the_same_bytes() -> None:
    result = CliRunner().invoke(app, ["verify-determinism", "free_fall", "--json"])
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["solutions"], data["same"], data["differences"]) == (3, True, [])
    assert set(data["sha256"]) == {setting.name for setting in SETTINGS}
    assert len(set(data["sha256"].values())) == 1


def test_the_settings_differ_in_all_that_must_not_matter() -> None:
    one, other = SETTINGS
    assert one.hash_seed != other.hash_seed
    assert {one.kernels, other.kernels} == {"interpreted", "compiled"}
    assert one.is_reversed != other.is_reversed


def test_a_difference_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the first key that differs, for each solution."""
    right = [json_line({"score": 1.0, "formulas": [{"detail": "x"}]}), json_line({"score": 1.0, "formulas": []})]
    wrong = [json_line({"score": 1.0, "formulas": [{"detail": "y"}]}), right[1]]
    written = {SETTINGS[0].name: right, SETTINGS[1].name: wrong}
    monkeypatch.setattr(
        determinism, "_grade_in_new_process", lambda _problems, _samples, setting, _environment: written[setting.name]
    )
    found = determinism.check_determinism(Path("p.toml"), SAMPLES, environment={})
    (difference,) = found.differences
    assert (difference.sample_id, difference.path, difference.values) == ("one", "formulas[0].detail", ('"x"', '"y"'))
    assert len(set(found.sha256.values())) == 2


def test_the_command_exits_with_one_where_bytes_differ(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = {setting.name: [json_line({"score": n / 2})] for n, setting in enumerate(SETTINGS)}
    monkeypatch.setattr(
        determinism, "_grade_in_new_process", lambda _problems, _samples, setting, _environment: rows[setting.name]
    )
    solution = tmp_path / "s.md"
    solution.write_text("$v = g t$", encoding="utf-8")
    result = CliRunner().invoke(app, ["verify-determinism", "free_fall", str(solution)])
    assert result.exit_code == 1
    assert "score: 0.0 and 0.5" in result.stdout
    assert "1 solution differs" in result.stdout


@pytest.mark.slow
def test_a_process_that_does_not_grade_says_why(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text("id = 'p'\n", encoding="utf-8")
    with pytest.raises(PrismError, match=r"interpreted, hash seed 1, in order: prism: "):
        determinism.check_determinism(path, SAMPLES, environment=dict(os.environ))


def test_without_solutions_there_is_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(PrismError, match="no solution"):
        determinism.check_determinism(tmp_path, [], environment={})
