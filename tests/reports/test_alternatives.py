"""Reports, comparisons and tables of a problem with several references (semantics S.2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import prism
from prism.authoring.case_files import Expectation, describe_unmet, grade_solution
from prism.cli import app
from prism.grading.row import json_line, score_row
from prism.problem.toml_writer import problem_toml
from prism.reports import gates
from prism.reports.html.page import html_page
from prism.reports.judgements import score_row_summary
from prism.reports.summary import Report, build_report
from tests.grading.test_alternatives import FIRST_WAY, OTHER_WAY, SLIDE
from tests.support.html_pages import Checked

TEXTS = {"first": FIRST_WAY, "other": OTHER_WAY, "none": "$v = 2$"}
run = CliRunner()


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    problem = prism.load_problem(SLIDE)
    found = {name: prism.grade(problem, text, sample_id=name) for name, text in TEXTS.items()}
    return [{**score_row(problem, TEXTS[name], grade), "meta": {}} for name, grade in found.items()]


@pytest.fixture(scope="module")
def found(rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("alternatives")
    (folder / "slide.json").write_text(json.dumps(SLIDE), encoding="utf-8")
    digest = prism.load_problem(folder / "slide.json").sha256
    lines = [json_line({**row, "problem_sha256": digest}) for row in rows]
    (folder / "rows.jsonl").write_bytes(b"\n".join(lines))
    texts = [{"problem_id": "slide", "sample_id": name, "response": text} for name, text in TEXTS.items()]
    (folder / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)), encoding="utf-8")
    problems, rollouts = str(folder / "slide.json"), folder / "texts.jsonl"
    return build_report(folder / "rows.jsonl", problems=problems, rollouts=rollouts, replicates=0, diagnosed=True)


def test_nodes_are_counted_by_the_reference_that_counts(found: Report) -> None:
    (figures,) = found.problems
    assert figures.group.n == 3
    counts = {str(node): (node.matched, node.credited, node.n) for node in figures.nodes}
    assert counts == {
        "1": (1, 1, 2), "2": (1, 1, 2), "3": (1, 1, 2), "1 by kinematics": (1, 1, 1), "2 by kinematics": (1, 1, 1),
        "3 by kinematics": (1, 1, 1), "4 by kinematics": (0, 0, 1),
    }  # fmt: skip
    assert [node["alternative"] for node in figures.to_dict()["nodes"]] == [""] * 3 + ["kinematics"] * 4
    assert found.unfit == {}


def test_the_page_shows_both_references(found: Report) -> None:
    page = html_page(found)
    checked = Checked(page)
    assert len(checked.ids) == len(set(checked.ids))
    assert {link[1:] for link in checked.links if link.startswith("#")} <= set(checked.ids)
    assert {"p1n3", "p1a1n4", "p1t", "p1a1t"} <= set(checked.ids)
    assert "Alternative: kinematics" in page
    assert "Graded by the alternative kinematics." in page
    assert "node 4 by kinematics" in page


def test_a_row_of_an_alternative_that_the_file_lacks_is_unfit(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "slide.json").write_text(json.dumps(SLIDE), encoding="utf-8")
    digest = prism.load_problem(tmp_path / "slide.json").sha256
    forged = [{**row, "problem_sha256": digest, "alternative": "<b>"} for row in rows]
    (tmp_path / "rows.jsonl").write_bytes(b"\n".join(map(json_line, forged)))
    found = build_report(tmp_path / "rows.jsonl", problems=str(tmp_path / "slide.json"), replicates=0)
    assert found.unfit == {"problem_changed": 3}
    assert "<b>" not in html_page(found)


def test_a_comparison_sees_another_way(rows: list[dict[str, Any]]) -> None:
    """Nodes of two references are not held beside each other; that the way is another is a change."""
    base = gates.index_results("base", [{**rows[1], "solution_sha256": "a"}])
    new = gates.index_results("new", [{**rows[0], "sample_id": "other", "solution_sha256": "b"}])
    (pair,) = gates.compare_results(base, new).pairs
    assert (pair.lost, pair.gained, pair.kind) == ((), (), "rose")
    other = gates.index_results("new", [{**rows[1], "alternative": "", "solution_sha256": "b"}])
    (pair,) = gates.compare_results(base, other).pairs
    assert (pair.kind, pair.has_changed) == ("same", True)
    same_text = gates.index_results("new", [{**rows[1], "alternative": "", "solution_sha256": "a"}])
    with pytest.raises(prism.PrismError, match="the grade is not"):
        gates.compare_results(base, same_text)


def test_a_summary_of_a_row_names_the_way(rows: list[dict[str, Any]]) -> None:
    assert score_row_summary(rows[1]).startswith("by kinematics; matched: 1 2 3; ")
    assert score_row_summary(rows[0]).startswith("matched: 1 2 3; ")


def test_the_commands_name_the_way(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text(OTHER_WAY, encoding="utf-8")
    student = {"name": "s", "solution": OTHER_WAY, "why": "w"}
    label = {"matched": [1, 2, 3], "credited": [1, 2, 3], "score": 0.75, "final_correct": False}
    path = tmp_path / "slide.toml"
    for way, code, told in (("kinematics", 0, "as labelled, by kinematics"), ("", 1, "differs")):
        own = label if way else {**label, "score": 1.0, "final_correct": True}
        labelled = {**student, "expected": {**own, **({"alternative": way} if way else {})}}
        path.write_text(problem_toml({**SLIDE, "students": [labelled]}), encoding="utf-8")
        done = run.invoke(app, ["demo", str(path)])
        assert (done.exit_code, told in " ".join(done.stdout.split())) == (code, True), done.stdout
    shown = run.invoke(app, ["explain", str(path), str(tmp_path / "other.md")]).stdout
    assert "Graded by the alternative kinematics, of 2 references." in shown
    graded = grade_solution(path, OTHER_WAY)
    assert describe_unmet(graded, Expectation(matched=(1, 2, 3), alternative="kinematics")) == ""
    assert "graded by the alternative kinematics, expected the first reference" in describe_unmet(
        graded, Expectation(matched=(1, 2, 3), alternative="")
    )
    assert "node 4 is missing" in describe_unmet(graded, Expectation(score=1.0))
    with pytest.raises(prism.PrismError, match="no alternative"):
        describe_unmet(graded, Expectation(alternative="energy"))
