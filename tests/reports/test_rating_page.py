"""The page on which people rate scores: what it shows, in which order, and that its files are read by the protocol."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prism import load_problem
from prism.cli import app
from prism.reports.html.whole_pages import RATINGS, rated_solution, rating_page

run = CliRunner()
ROW = {
    "problem_id": "free_fall", "sample_id": "a", "score": 0.72, "scale": 10,
    "parts": [
        {"name": "EQUATION_SELECTION", "score": 0.3, "findings": ["MAJOR: <b>wrong</b> law"]},
        {"name": "ASSUMPTIONS", "score": None, "findings": []},
    ],
}  # fmt: skip


def made(sample_id: str = "a") -> str:
    problem = load_problem("free_fall")
    one = rated_solution(1, problem, sample_id, "It is $v = g t$.", ROW, ROW | {"score": None})
    return rating_page([one], title="Scores", names=["judge.jsonl", "rules.jsonl"])


def test_scores_are_hidden_until_the_solution_is_judged() -> None:
    page = made()
    blind, scores = page.index('class="blind"'), page.index('class="scores" hidden')
    assert blind < scores < page.index("EQUATION_SELECTION")
    assert page.count('name="part-1-1"') == len(RATINGS)
    assert "ASSUMPTIONS" not in page  # a part without score has nothing to rate
    assert "3 of 10" in page
    assert "<b>wrong</b>" not in page


def test_two_scores_stand_under_names_that_say_nothing() -> None:
    pages = [made(name) for name in "abcdefgh"]
    shown = [re.findall(r'name="nearer-1" value="(\d)"', page) for page in pages]
    assert {tuple(each) for each in shown} == {("1", "2", "0"), ("2", "1", "0")}
    assert all("A: " in page and "B: " in page and "undecided" in page for page in pages)
    body = pages[0][pages[0].index("<article") : pages[0].index("</article>")]
    assert "judge.jsonl" not in body
    assert made() == made()


def test_the_command_writes_a_page_whose_ratings_the_protocol_reads(tmp_path: Path) -> None:
    findings, rollouts, rows, page = (tmp_path / name for name in ("f.jsonl", "r.jsonl", "rows.jsonl", "page.html"))
    stages = {"EQUATION_SELECTION": {"errors": [{"description": "e", "severity": "MAJOR", "penalty": 7}]}}
    findings.write_text(json.dumps({"problem_id": "free_fall", "sample_id": "a", "stages": stages}) + "\n", "utf-8")
    rollouts.write_text(
        json.dumps({"problem_id": "free_fall", "sample_id": "a", "solution": "$v = g t$"}) + "\n", "utf-8"
    )
    assert run.invoke(app, ["protocol", "engjudge", str(findings), "-o", str(rows)]).exit_code in (0, 5)
    ran = run.invoke(app, ["protocol", "page", "free_fall", str(rollouts), str(rows), "-o", str(page)])
    assert (ran.exit_code, ran.stdout.strip()) == (0, f"{page}: 1 solution")
    part = re.findall(r'data-part="(\w+)"', page.read_text("utf-8"))[0]
    saved = tmp_path / "ratings.jsonl"  # as the script of the page writes it
    saved.write_text(
        json.dumps({"problem_id": "free_fall", "sample_id": "a", "rater": "me", "part": part, "rating": RATINGS[1]})
        + "\n",
        "utf-8",
    )
    ran = run.invoke(app, ["protocol", "engjudge", str(findings), "--corrections", str(saved), "--json"])
    assert json.loads(ran.stdout)["corrections"]["ratings"] == 1


def test_rows_of_other_rollouts_make_no_page(tmp_path: Path) -> None:
    rollouts, rows = tmp_path / "r.jsonl", tmp_path / "rows.jsonl"
    rollouts.write_text('{"problem_id": "free_fall", "sample_id": "b", "solution": "v"}\n', "utf-8")
    rows.write_text(json.dumps(ROW) + "\n", "utf-8")
    ran = run.invoke(app, ["protocol", "page", "free_fall", str(rollouts), str(rows), "-o", str(tmp_path / "p.html")])
    assert ran.exit_code == 3


def test_ratings_are_the_words_of_the_protocol() -> None:
    from prism.protocols.engjudge.corrections import Rating

    assert set(RATINGS) == {str(each) for each in Rating}


@pytest.mark.parametrize("score", [None, 0.5])
def test_a_score_without_scale_is_a_share(score: float | None) -> None:
    one = rated_solution(
        1, load_problem("free_fall"), "a", "v", {"parts": [{"name": "p", "score": 0.5}], "score": score}
    )
    assert one.parts[0]["score"] == "0.5 of 1"
