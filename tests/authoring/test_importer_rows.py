"""Awkward rows of published data sets: what a problem is made of, and what is told where something is left out."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prism import grade, load_problem
from prism.authoring.importers.catalogue import NAMES, dataset_of
from prism.authoring.importers.dataset_lint import check_dataset
from prism.authoring.importers.entries import AnswerKind, Choice, RecordedAnswer
from prism.authoring.importers.importing import DatasetConversion, import_dataset
from prism.authoring.importers.recorded_answers import answer_nodes
from prism.cli import app
from tests.support.dataset_rows import (
    ENGIBENCH,
    HIPHO,
    LAYOUTS,
    OLYMPIADBENCH,
    PHYSICS,
    PHYSREASON,
    PIXEL,
    RUBRIC,
    UGPHYSICS,
    write_dataset,
)


def imported(folder: Path, name: str, *rows: dict[str, Any], **wanted: str) -> DatasetConversion:
    """What becomes of rows."""
    return import_dataset(write_dataset(folder, name, rows), dataset_of(name), Choice(**wanted))


def only(made: DatasetConversion) -> dict[str, Any]:
    """The one problem that was made."""
    assert [str(each) for each in made.refused] == []
    (problem,) = made.problems
    return dict(problem.data)


def formulas(problem: dict[str, Any]) -> list[str]:
    return [node["formula"] for node in problem["grading_standard"]]


def nodes(text: str, unit: str = "", kind: AnswerKind = AnswerKind.UNKNOWN) -> list[tuple[str, str]]:
    return [(node.latex, node.form) for node in answer_nodes(RecordedAnswer(text, kind, unit), "")]


@pytest.mark.parametrize(("text", "unit"), [("35", "%"), ("35", "\\%"), ("35", "$\\%$"), ("35%", ""), ("35\\%", "")])
def test_a_per_cent_sign_is_no_comment(text: str, unit: str, tmp_path: Path) -> None:
    row = OLYMPIADBENCH[0] | {"final_answer": [text], "unit": unit, "answer_type": "Numerical", "solution": []}
    problem = load_problem(only(imported(tmp_path, "olympiadbench", row)))
    assert grade(problem, r"$\eta = 35\%$").final_correct
    assert not grade(problem, r"$\eta = 53\%$").final_correct


def test_units_behind_several_answers_are_units() -> None:
    assert nodes("I = 2 A, R = 115 ohm") == [(r"I = 2\unit{A}", "numerical"), (r"R = 115\unit{ohm}", "numerical")]


def test_several_numbers_in_brackets_are_no_number() -> None:
    assert nodes("(1, 2)") == [("(1, 2)", "algebraic")]


def test_a_system_in_an_environment_is_read_as_a_whole() -> None:
    assert [latex for latex, _ in nodes(r"\begin{cases} v = a t \\ s = b t \end{cases}")] == ["v = a t", "s = b t"]


def test_a_choice_beyond_the_fourth_has_as_many_options() -> None:
    (node,) = answer_nodes(RecordedAnswer("E", AnswerKind.CHOICE), "Which one?")
    assert node.instructions == "'A/B/C/D/E'"


def test_a_value_of_a_published_step_keeps_its_unit(tmp_path: Path) -> None:
    row = PHYSREASON[0] | {
        "question_structure": {"context": "A cart of 2 kg is pushed with 6 N.", "sub_question_1": "Find $a$."},
        "answer": ["3 m/s^2"], "explanation_steps": {"sub_question_1": {"step_1": "Newton"}},
        "steps_analysis": {"step_1": {"result_quantity": [{"name": "a", "value": "3 m/s^2", "equation": "a = F/m"}]}},
    }  # fmt: skip
    problem = only(imported(tmp_path, "physreason", row))
    assert problem["metadata"]["dag"] == "steps"
    loaded = load_problem(problem)
    assert grade(loaded, r"$a = 3\,\mathrm{m/s^2}$").final_correct
    assert not grade(loaded, r"$a = 3\,\mathrm{m/s}$").final_correct


def test_a_folder_with_all_levels_gives_problems_and_rubric(tmp_path: Path) -> None:
    for folder, rows in (("Level1_2", ENGIBENCH[:1]), ("Level3", RUBRIC[:1])):
        write_dataset(tmp_path / folder, "engibench", rows)
    table = next((tmp_path / "Level3").rglob("*.csv"))
    table.rename(table.with_name("level3_modeling.csv"))
    made = import_dataset(tmp_path, dataset_of("engibench"), Choice())
    assert made.problems
    assert made.rubrics
    assert made.n_rows == 2


def test_an_image_as_data_url_is_kept_where_others_are_named(tmp_path: Path) -> None:
    url = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"
    row = HIPHO[1] | {"image_question": [url], "modality": "text+data figure"}
    (problem,) = imported(tmp_path, "hipho", row).problems
    assert [raw for _, raw in problem.images] == [PIXEL]
    assert problem.data["images"] == [{"location": problem.images[0][0]}]


def test_a_mark_of_an_image_names_its_file(tmp_path: Path) -> None:
    row = OLYMPIADBENCH[0] | {"question": "See <img_4362>. Find the way $s$."}
    path = write_dataset(tmp_path, "olympiadbench", [row])
    (path.parent.parent / "images").mkdir(exist_ok=True)
    (path.parent.parent / "images" / "img_4362.jpg").write_bytes(PIXEL)
    (problem,) = import_dataset(path, dataset_of("olympiadbench"), Choice()).problems
    assert problem.data["metadata"]["needs_image"] is True
    assert [raw for _, raw in problem.images] == [PIXEL]


def test_answers_between_dollars_of_one_text_are_split(tmp_path: Path) -> None:
    row = OLYMPIADBENCH[0] | {
        "final_answer": ["$3$, $5$"], "is_multiple_answer": True, "answer_type": "Numerical", "unit": "m",
    }  # fmt: skip
    assert formulas(only(imported(tmp_path, "olympiadbench", row))) == [r"3\unit{m}", r"5\unit{m}"]


def test_an_answer_that_a_merged_formula_states_is_in_the_draft(tmp_path: Path) -> None:
    row = PHYSICS[1] | {
        "questions": "Find the thickness $d$.", "final_answers": ["\\frac{\\lambda}{2n}"], "graphs": None,
        "solutions": "$$N = 1$$ $$2 n d = N \\lambda$$ $$2 n d = \\lambda$$ so $$d = \\frac{\\lambda}{2n}$$",
    }  # fmt: skip
    path = write_dataset(tmp_path, "physics", [row])
    problem = only(import_dataset(path, dataset_of("physics"), Choice(), is_drafted=True))
    assert problem["metadata"]["dag"] == "drafted"
    final = [node["formula"] for node in problem["grading_standard"] if node.get("is_final_answer")]
    assert final == ["d = \\frac{\\lambda}{2 n}"]
    assert grade(load_problem(problem), r"The answer is $\boxed{\frac{\lambda}{2n}}$.").final_correct


def test_a_graph_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    problem = only(imported(tmp_path, "physics", PHYSICS[1] | {"graphs": [{"type": "image_url"}, 5]}))
    assert "2 graphs cannot be read" in problem["metadata"]["remarks"]
    assert problem["metadata"]["needs_image"] is True


def test_answers_without_a_recorded_unit_are_told(tmp_path: Path) -> None:
    row = HIPHO[1] | {
        "answer": ["\\boxed{12.5}", "\\boxed{3.0}"], "answer_type": ["Numerical Value"] * 2, "unit": ["m/s"],
        "marking": [],
    }  # fmt: skip
    problem = only(imported(tmp_path, "hipho", row))
    assert "1 unit for 2 answers: the last have none" in problem["metadata"]["remarks"]


def test_types_and_answers_that_do_not_agree_are_counted(tmp_path: Path) -> None:
    rows = [
        UGPHYSICS[0] | {"index": k, "answers": text, "answer_type": "NV, NV", "problem": f"Find both {k}."}
        for k, text in enumerate((r"\boxed{1, 2, 3}", r"\boxed{1}", ""))
    ]
    made = imported(tmp_path, "ugphysics", *rows)
    assert [each.refusal.why for each in made.refused] == ["2 types for 3 answers in the box",
                                                           "2 types for 1 answer in the box", ""]  # fmt: skip
    assert made.refused[2].refusal.code == "no-answer"


def test_a_row_of_another_language_is_not_refused(tmp_path: Path) -> None:
    row = UGPHYSICS[0] | {"answer_type": "XX", "problem": "Find the speed of the cart at the bottom of the hill."}
    made = imported(tmp_path, "ugphysics", row, language="zh")
    assert (made.n_skipped, made.refused) == (1, ())
    assert len(imported(tmp_path, "ugphysics", row, language="en").refused) == 1


def test_the_lint_tells_of_a_problem_that_cannot_be_made(tmp_path: Path) -> None:
    node = {"index": 1, "formula": "a = b", "dependency": [1], "is_final_answer": True}
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"id": 1, "context": "Find $a$.", "grading_standard": [node]}) + "\n")
    findings = check_dataset(path, dataset_of("prism-physics")).findings
    assert "faulty" in {each.code for each in findings}


def test_half_a_surrogate_pair_is_printed_as_an_escape(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(HIPHO[1] | {"id": "\ud800", "answer": ["$x \ud800$"]}) + "\n")
    for args in (["lint", "--dataset", str(path), "--from", "hipho"], ["convert", str(path), "--from", "hipho"]):
        result = CliRunner().invoke(app, args)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception


def test_fields_of_the_table_form_are_known(tmp_path: Path) -> None:
    row = OLYMPIADBENCH[0] | {
        "question_type": "Open-ended", "modality": "Text-only", "difficulty": "Competition", "subject": "Physics",
        "language": "English", "images": [],
    }  # fmt: skip
    findings = check_dataset(write_dataset(tmp_path, "olympiadbench", [row]), dataset_of("olympiadbench")).findings
    assert "unknown-field" not in {each.code for each in findings}


@pytest.mark.slow  # drafts each row with each field spoiled
@pytest.mark.parametrize("name", NAMES)
def test_a_field_of_any_shape_is_a_finding_and_no_crash(name: str, tmp_path: Path) -> None:
    place, _, rows = LAYOUTS[name]
    odd: list[Any] = [None, -0.5, [None, 3, ["x"], {"a": 1}], {"a": [1]}]
    file = (tmp_path / place).with_suffix(".jsonl")
    file.parent.mkdir(parents=True, exist_ok=True)
    spoiled = [{**rows[0], key: value} for key in rows[0] for value in odd]
    file.write_text("".join(json.dumps(row) + "\n" for row in spoiled))
    dataset = dataset_of(name)
    made = import_dataset(file, dataset, Choice(), is_drafted=True)
    assert made.n_rows == len(spoiled)
    told = {place for each in made.problems for place in [each.data["metadata"]["row"]]}
    told |= {each.row.number for each in made.refused}
    assert len(told) == len(spoiled) - made.n_skipped
    assert check_dataset(file, dataset).n_rows == len(spoiled)
