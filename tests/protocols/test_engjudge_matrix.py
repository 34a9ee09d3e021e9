"""The matrix of raw stages, by hand: caps and stages that nobody judged change no coefficient."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prism.cli import app

run = CliRunner()


def stage(penalty: int, *, cap: int | None = None) -> dict[str, Any]:
    severity = {2: "MINOR", 4: "MODERATE", 7: "MAJOR", 10: "CRITICAL"}
    errors = [{"description": "e", "severity": severity[penalty], "penalty": penalty}] if penalty else []
    fatal = [{"type": "dimensionally_inconsistent", "description": "f", "score_cap": cap}] if cap is not None else []
    return {"errors": errors, "fatal_errors": fatal}


def test_the_matrix_is_of_raw_scores(tmp_path: Path) -> None:
    """ES 10, 6, 3 beside AA 10, 6, 3: r = 1, though a cap takes one AA to 2. LR 10, 8 beside ES 10, 6; AS is 10."""
    given = [(0, 0, 0, None), (4, 4, 2, 2), (7, 7, None, None)]
    path = tmp_path / "findings.jsonl"
    rows = []
    for k, (es, aa, lr, cap) in enumerate(given):
        stages = {"EQUATION_SELECTION": stage(es), "ALGEBRAIC_ACCURACY": stage(aa, cap=cap), "ASSUMPTIONS": stage(0)}
        stages |= {} if lr is None else {"LOGICAL_REASONING": stage(lr)}
        rows.append({"problem_id": "p", "sample_id": f"s{k}", "stages": stages})
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    ran = run.invoke(app, ["protocol", "engjudge", str(path), "--matrix", "--json"])
    matrix = json.loads(ran.stdout)["matrix"]
    assert matrix["pearson"]["ES"]["AA"] == matrix["pearson"]["AA"]["ES"] == pytest.approx(1)
    assert (matrix["n"]["ES"]["LR"], matrix["pearson"]["ES"]["LR"]) == (2, pytest.approx(1))
    assert (matrix["pearson"]["ES"]["AS"], matrix["pearson"]["PC"]["PC"]) == (None, None)
    assert set(matrix["pearson"]) == {"PC", "AS", "VI", "ES", "LR", "AA", "PI", "FA"}
    assert "Pearson's r of raw stages" in run.invoke(app, ["protocol", "engjudge", str(path), "--matrix"]).stdout


def test_rules_alone_have_no_raw_scores(tmp_path: Path) -> None:
    rollouts = tmp_path / "r.jsonl"
    rollouts.write_text('{"problem_id": "free_fall", "solution": "v"}\n', encoding="utf-8")
    ran = run.invoke(app, ["protocol", "engjudge", "--rules", "free_fall", str(rollouts), "--matrix", "--workers", "0"])
    assert ran.exit_code == 2
