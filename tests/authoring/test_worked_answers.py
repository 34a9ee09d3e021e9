"""Answers at the end of a worked text in plain words, their names and labels, and what becomes of them in a problem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prism import grade, load_problem
from prism.authoring.importers.catalogue import dataset_of
from prism.authoring.importers.entries import Choice
from prism.authoring.importers.importing import DatasetConversion, import_dataset
from prism.authoring.importers.worked_answers import named_numbers, worked_answers
from prism.cli import app
from prism.physics.context import Context
from tests.support.external_data import DATA

TEMPLATES = DATA / "engtrace_seed0.jsonl"


@pytest.mark.parametrize(
    ("answer", "question", "found"),
    [
        ("The rate is 440 W (1,500 Btu/hr)", "", [(r"440\unit{W}", "")]),
        ("Re = 4 * 500 = 2000", "", [(r"\mathrm{{Re}} = 2000", "")]),
        ("At t = 2.5 s the place is (2.99 m, 0.331 m).", "Where is it at t = 2.5 s?", [
            (r"2.99\unit{m}", ""), (r"0.331\unit{m}", "")]),
        ("After 54.0 % the amounts are:\n- A2(g): 9.83 mol\n- B2(g): 21.29 mol", "", [
            (r"9.83\unit{mol}", "A2(g)"), (r"21.29\unit{mol}", "B2(g)")]),
        ("The ratio is **0.331**.\nThe frequency is 19.77 rad/s.", "", [("0.331", ""), (r"19.77\unit{rad/s}", "")]),
        ("The volume at 518.27 K is 170.9 L.", "Find the volume at 518.27 K.", [(r"170.9\unit{L}", "")]),
        ("E = <0.0, 0.0, 47.2> V/m", "", [(r"47.2\unit{V/m}", "")]),
        ("a) Memoryless: **No**\nb) Causal: **Yes**", "", [("no", "Memoryless"), ("yes", "Causal")]),
        ("so the system is **not linear**.", "Is the system linear?", [("nonlinear", "")]),
        ("It swings.", "", []),
    ],
)  # fmt: skip
def test_each_line_behind_the_tag_is_read_for_itself(answer: str, question: str, found: list[tuple[str, str]]) -> None:
    assert [(each.latex, each.label) for each in worked_answers(f"**Answer:** {answer}", question)] == found


@pytest.mark.parametrize(
    ("solution", "number", "named"),
    [
        ("$N_B = 32.83 - 11.54 = 21.29$ mol", r"21.29\unit{mol}", r"N_B = 21.29 \unit{mol}"),
        ("a = 48.49 m/s^2\na = 48.95 m/s^2", r"48.95\unit{m/s^2}", r"a = 48.95 \unit{m/s^{2}}"),
        ("$C_A = 0.0187$", r"0.0187\unit{mol/L}", "C_A = 0.0187"),
        ("v = g t", r"9.81\unit{m/s}", ""),
        ("v = 3 m/s", "v = 3", ""),
    ],
)
def test_a_number_has_the_name_of_the_formula_that_comes_out_at_it(solution: str, number: str, named: str) -> None:
    assert named_numbers(solution, "", Context()).named(number) == named


REACTION: dict[str, Any] = {
    "seed": 1, "branch": "chemical_engineering", "domain": "kinetics", "area": "batch", "id": "moles", "level": "Easy",
    "question": "30.0 mol of A2 and 40.0 mol of B2 are charged, and 0.50 of A2 react, one to one. How much is left?",
    "solution": "**Step 1:** the balances are\nN_A = N_A0 * (1 - X)\nN_B = N_B0 - N_A0 * X\n\n**Step 2:** with the "
    "numbers\nN_A = 30.0 * (1 - 0.50) = 15.0 mol\nN_B = 40.0 - 30.0 * 0.50 = 25.0 mol\n\n**Final Answer**\nAfter a "
    "conversion of 50.0 % there are:\n- A2(g): 15.0 mol\n- B2(g): 25.0 mol",
}  # fmt: skip


def converted(folder: Path, row: dict[str, Any], *, is_drafted: bool) -> DatasetConversion:
    file = folder / "rows.jsonl"
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return import_dataset(file, dataset_of("engtrace"), Choice(), is_drafted=is_drafted)


def test_nameless_values_of_a_draft_are_finals_under_their_names_and_keep_their_labels(tmp_path: Path) -> None:
    (made,) = converted(tmp_path, REACTION, is_drafted=True).problems
    finals = [node["formula"] for node in made.data["grading_standard"] if node.get("is_final_answer")]
    assert made.data["metadata"]["dag"] == "drafted"
    assert finals == [r"N_A = 15.0 \unit{mol}", r"N_B = 25.0 \unit{mol}"]
    assert [part["subproblem"] for part in made.data["subquestions"]] == ["A2(g)", "B2(g)"]
    assert made.data["metadata"]["recorded_answers"][1].startswith("B2(g):")
    assert grade(load_problem(made.data), REACTION["solution"]).score == 1


def test_nameless_values_alone_are_named_where_the_own_gold_needs_it(tmp_path: Path) -> None:
    (made,) = converted(tmp_path, REACTION, is_drafted=False).problems
    assert made.data["metadata"]["dag"] == "answer"
    assert made.gold is not None
    assert made.gold.score == 1


def test_an_answer_in_words_ends_a_draft(tmp_path: Path) -> None:
    row = REACTION | {
        "question": "Is the system y = x^3 linear?",
        "solution": "**Step 1:** of the sum it is s = (x_1 + x_2)^3\n\n**Step 2:** the sum of both is\n"
        "p = x_1^3 + x_2^3\n\n**Answer:** The two differ, so the system is **not linear**.",
    }
    (made,) = converted(tmp_path, row, is_drafted=True).problems
    last = made.data["grading_standard"][-1]
    assert (last["formula"], last["is_final_answer"], last["dependency"]) == ("nonlinear", True, [last["index"] - 1])
    assert made.data["final_answer_instructions"] == "'linear/nonlinear'"


def test_an_own_gold_below_1_is_told_with_what_it_lacks(tmp_path: Path) -> None:
    row = REACTION | {"solution": "**Step 1:** think\n\n**Answer:** The force is <-3.488e-04, -1.221e-03> N."}
    made = converted(tmp_path, row, is_drafted=True)
    assert made.own_golds == {"answer": (0, 1)}
    assert made.problems[0].remarks[0].startswith("its own solution scores 0, without 2 nodes: -3.488 ")
    assert "own gold at 1: 0 of 1 answer" in made.summary()
    out = tmp_path / "made.jsonl"
    ran = CliRunner().invoke(app, ["convert", str(tmp_path / "rows.jsonl"), "--from", "engtrace", "-o", str(out)])
    assert ran.exit_code == 0
    assert "moles-1: its own solution scores 0" in ran.output


@pytest.mark.slow  # drafts and grades the solutions of ninety templates
@pytest.mark.skipif(not TEMPLATES.is_file(), reason="PRISM_DATA names no folder with engtrace_seed0.jsonl")
def test_most_templates_become_a_dag_whose_own_gold_scores_1() -> None:
    made = import_dataset(TEMPLATES, dataset_of("engtrace"), Choice(), is_drafted=True)
    n_whole, n_drafted = made.own_golds["drafted"]
    assert made.n_rows == 90
    assert n_whole == n_drafted >= 80
