"""A chapter of a textbook, of 8 kB with more than 60 formulas: a draft ends within its account, with a file."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.latex import extract

CHAPTER = Path(__file__).with_name("chapter.md")


@pytest.mark.slow
def test_a_chapter_is_drafted_within_its_account(tmp_path: Path) -> None:
    text = CHAPTER.read_text(encoding="utf-8")
    n_formula = sum("=" in each.latex for each in extract(text))
    assert len(text) > 7_900
    assert n_formula > 60
    out = tmp_path / "chapter.toml"
    start = time.process_time()
    done = CliRunner().invoke(app, ["draft", str(CHAPTER), "-o", str(out), "--json"])
    assert done.exit_code == 0, done.stderr
    assert time.process_time() - start < 120  # it takes some seconds
    told = json.loads(done.stdout)
    assert len(told["nodes"]) == 30
    assert {each["why"] for each in told["left_out"] if "30 nodes" in each["why"]} == {"more than 30 nodes"}
    assert len(prism.load_problem(out).nodes) == 30
    linted = CliRunner().invoke(app, ["lint", str(out)])
    assert linted.exit_code == 0, linted.stdout
