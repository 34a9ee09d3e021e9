"""Data sets by name: each published shape is read, converted and told; what was made loads and grades its answer."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from prism import DataFileError, PrismError, grade, lint, load_problem, load_problems
from prism.authoring.importers.catalogue import DATASETS, NAMES, dataset_of
from prism.authoring.importers.entries import Choice
from prism.authoring.importers.importing import DatasetConversion, import_dataset
from prism.cli import app
from tests.support.dataset_rows import (
    ENGIBENCH,
    HIPHO,
    LAYOUTS,
    OLYMPIADBENCH,
    PHYBENCH,
    PHYSICS,
    PIXEL,
    RUBRIC,
    SCIBENCH,
    UGPHYSICS,
    write_dataset,
)

# Of the invented rows: what becomes of them without and with --draft, and why rows are refused.
EXPECTED: dict[str, tuple[dict[str, int], dict[str, int], dict[str, int]]] = {
    "engtrace": ({"answer": 2}, {"drafted": 2}, {"no-answer": 1}),
    "engibench": ({"answer": 7}, {"answer": 7}, {"no-question": 4, "answer-in-words": 1}),
    "phybench": ({"answer": 3}, {"drafted": 2, "answer": 1}, {"no-answer": 1}),
    "ugphysics": ({"answer": 4}, {"drafted": 2, "answer": 2}, {"answer-unread": 1}),
    "scibench": ({"answer": 3}, {"drafted": 1, "answer": 2}, {"unit-unread": 1}),
    "tpbench": ({"answer": 1}, {"drafted": 1}, {}),
    "physics": ({"answer": 2}, {"drafted": 2}, {"answer-in-words": 1}),
    "hipho": ({"marking": 3}, {"marking": 3}, {"answer-interval": 1}),
    "olympiadbench": ({"answer": 2}, {"drafted": 2}, {"answer-interval": 1}),
    "prism-physics": ({"published": 1}, {"published": 1}, {"no-formula": 1}),
    "physreason": ({"steps": 1}, {"steps": 1}, {"no-question": 1}),
    "phopile": ({}, {"drafted": 1}, {"no-answer": 2}),
    "abench": ({"answer": 2}, {"answer": 2}, {"unit-unread": 1}),
    "theoremqa": ({"answer": 4}, {"answer": 4}, {}),
    "engvqa": ({"answer": 1}, {"drafted": 1}, {"answer-in-words": 1}),
}


def imported(folder: Path, name: str, *, is_drafted: bool = False, **wanted: str) -> DatasetConversion:
    """What became of the rows of a data set below a folder."""
    return import_dataset(folder, dataset_of(name), Choice(**wanted), is_drafted=is_drafted)


def by_id(made: DatasetConversion) -> dict[str, dict[str, Any]]:
    """The problems by id."""
    return {str(each.data["id"]): dict(each.data) for each in made.problems}


def formulas(problem: dict[str, Any]) -> list[str]:
    """The formulas of a problem's nodes."""
    return [node["formula"] for node in problem["grading_standard"]]


def run(*args: str) -> Result:
    return CliRunner().invoke(app, list(args))


def test_every_data_set_has_a_fixture_and_its_expectation() -> None:
    assert set(NAMES) == set(LAYOUTS) == set(EXPECTED)
    assert len(DATASETS) == 15


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("is_drafted", [False, True])
def test_rows_are_converted_or_told(name: str, is_drafted: bool, tmp_path: Path) -> None:
    write_dataset(tmp_path, name)
    made = imported(tmp_path, name, is_drafted=is_drafted)
    assert Counter(each.data["metadata"]["dag"] for each in made.problems) == EXPECTED[name][is_drafted]
    refused = EXPECTED[name][2] if not (is_drafted and name == "phopile") else {"no-answer": 1}
    assert Counter(each.refusal.code for each in made.refused) == refused
    assert made.n_rows == len(LAYOUTS[name][2])
    ids = [each.data["id"] for each in made.problems]
    assert len(set(ids)) == len(ids)
    for each in made.problems:
        load_problem(each.data)
        assert not [finding for finding in lint(each.data) if finding.kind == "fault"]
        metadata = each.data["metadata"]
        assert metadata["dataset"] == name
        assert each.data["source"]
        assert metadata.get("licence", "") == dataset_of(name).licence


@pytest.mark.parametrize("name", NAMES)
def test_two_runs_give_the_same_bytes(name: str, tmp_path: Path) -> None:
    write_dataset(tmp_path, name)
    first, second = (imported(tmp_path, name, is_drafted=True).to_dict() for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


@pytest.mark.parametrize(
    ("name", "problem_id", "right", "wrong"),
    [
        ("engtrace", "plane_wall-11", "q = 720 W", "q = 730 W"),
        ("engibench", "1-perturbed", r"$P = 517.5\,\mathrm{W}$", r"$P = 690\,\mathrm{W}$"),
        ("engibench", "2-original", "The answer is yes.", "The answer is no."),
        ("phybench", "9002", r"$F = \frac{q Q k}{r^2}$", r"$F = \frac{k q Q}{r}$"),
        ("ugphysics", "Electrodynamics-78", r"\boxed{True}", r"\boxed{False}"),
        ("ugphysics", "Atomic Physics-80", r"\boxed{A}", r"\boxed{B}"),
        ("scibench", "fund-3.4", r"$E = 3.31\times10^{-19}\,\mathrm{J}$", r"$E = 3.31\,\mathrm{J}$"),
        ("tpbench", "P9", r"$$E = \hbar\omega$$", r"$$E = \hbar\omega/2$$"),
        ("physics", "optics/9-1", r"$$d = \frac{\lambda}{2 n}$$", r"$$d = \frac{\lambda}{4 n}$$"),
        ("hipho", "XPhO_2025_1_A_1", r"$v^2 = 2 g h$", r"$v^2 = g h$"),
        ("olympiadbench", "9001", r"$s = \frac{g t^2}{2}$", r"$s = g t^2$"),
        ("prism-physics", "1", r"$$E = \frac{p p}{2 m}$$", r"$$E = \frac{p^2}{m}$$"),
        ("physreason", "P-1", r"(a) $v = \sqrt{2 g h}$ (b) $\mu = h/l$", r"(a) $v = \sqrt{2 g h}$ (b) $\mu = l/h$"),
        ("abench", "65-0", r"$s = 1.4\times10^{-2}\,\mathrm{m}$", r"$s = 1.4\,\mathrm{m}$"),
        ("abench", "66-0", r"\boxed{-50\,\mathrm{mm}}", r"\boxed{50\,\mathrm{mm}}"),
        ("theoremqa", "ours/motion1", r"$s = 462\,\mathrm{m}$", r"$s = 426\,\mathrm{m}$"),
        ("theoremqa", "ours/mean1", r"\boxed{[1, 2]}", r"\boxed{[2, 1]}"),
        ("theoremqa", "ours/convex1", "The answer is false.", "The answer is true."),
        ("engvqa", "fm_1", r"$v = 3.0\,\mathrm{m/s}$", r"$v = 0.3\,\mathrm{m/s}$"),
        ("theoremqa", "ours/law1", r"\boxed{c}", r"\boxed{b}"),
    ],
)
def test_the_recorded_answer_is_right_and_another_one_wrong(
    name: str, problem_id: str, right: str, wrong: str, tmp_path: Path
) -> None:
    write_dataset(tmp_path, name)
    problem = by_id(imported(tmp_path, name))[problem_id]
    assert grade(problem, right).final_correct
    assert not grade(problem, wrong).final_correct


# What is particular to one data set -------------------------------------------------------------------------------


def test_a_draft_ends_in_the_recorded_answer_and_keeps_the_steps_before_it(tmp_path: Path) -> None:
    write_dataset(tmp_path, "scibench", SCIBENCH[:1])
    problem = by_id(imported(tmp_path, "scibench", is_drafted=True))["fund-3.4"]
    assert [node.get("is_final_answer", False) for node in problem["grading_standard"]] == [False, True]
    assert problem["grading_standard"][1]["dependency"] == [1]


def test_an_answer_that_the_solution_does_not_state_stays_alone_and_is_told(tmp_path: Path) -> None:
    write_dataset(tmp_path, "phybench", PHYBENCH[3:])
    made = imported(tmp_path, "phybench", is_drafted=True)
    assert formulas(by_id(made)["9004"]) == ["E = 2 h f"]
    assert any("answer-not-in-solution" in remark for remark in made.problems[0].remarks)


def test_template_and_seed_of_an_instance_are_kept(tmp_path: Path) -> None:
    write_dataset(tmp_path, "engtrace")
    made = by_id(imported(tmp_path, "engtrace"))
    assert made["plane_wall-12"]["metadata"]["template"] == {"id": "plane_wall", "seed": 12}


def test_all_quantities_behind_the_tag_are_answers_but_those_in_brackets(tmp_path: Path) -> None:
    row = LAYOUTS["engtrace"][2][0]
    rows = [
        row | {"seed": 1, "solution": "**Answer:** The speed is 6.0 m/s, and the way 9.0 m (29.5 ft)"},
        row | {"seed": 2, "solution": "**Answer:** With 3 pumps Re = 4 * 500 = 2000"},
    ]
    write_dataset(tmp_path, "engtrace", rows)
    made = by_id(imported(tmp_path, "engtrace"))
    assert formulas(made["plane_wall-1"]) == [r"6.0\unit{m/s}", r"9.0\unit{m}"]
    assert formulas(made["plane_wall-2"]) == [r"\mathrm{{Re}} = 2000"]


def test_of_the_variants_one_can_be_chosen_and_a_models_key_is_said_to_be_one(tmp_path: Path) -> None:
    write_dataset(tmp_path, "engibench")
    made = imported(tmp_path, "engibench", variant="abstract")
    assert list(by_id(made)) == ["1-abstract"]
    assert "model" in by_id(made)["1-abstract"]["metadata"]["key"]
    assert [each.refusal.id for each in made.refused] == ["2-abstract"]
    with pytest.raises(PrismError, match="no variant upside"):
        imported(tmp_path, "engibench", variant="upside")


def test_open_ended_rows_become_a_rubric_file(tmp_path: Path) -> None:
    path = tmp_path / "level3_modeling.csv"
    path.write_text(LAYOUTS["engibench"][1](RUBRIC), encoding="utf-8")
    out = tmp_path / "rubric.jsonl"
    ran = run("convert", str(path), "--from", "engibench", "-o", str(out))
    assert ran.exit_code == 0, ran.output
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [(row["row"], row["is_scored"], row["total"]) for row in rows] == [
        (1, True, 10), (1, True, 9), (1, False, 0), (1, True, 10),
    ]  # fmt: skip
    assert rows[0]["heads"] == [{"head": 1, "name": "Loads", "points": 6}, {"head": 2, "name": "Rest", "points": 4}]
    assert rows[0]["question"] == RUBRIC[0]["question"]


def test_a_row_of_engibench_may_say_its_number(tmp_path: Path) -> None:
    path = tmp_path / "variants.jsonl"
    path.write_text(json.dumps({"row": 7, "problem": "Find I.", "answer": "2 A"}) + "\n", encoding="utf-8")
    (made,) = import_dataset(path, dataset_of("engibench"), Choice(variant="original")).problems
    assert (made.data["id"], made.data["metadata"]["row"]) == ("7-original", 7)


def test_languages_are_told_by_the_text_and_not_by_the_file(tmp_path: Path) -> None:
    write_dataset(tmp_path, "ugphysics")
    assert list(by_id(imported(tmp_path, "ugphysics", language="zh"))) == ["Quantum Mechanics-79-zh"]
    assert len(imported(tmp_path, "ugphysics", language="en").problems) == 3
    write_dataset(tmp_path / "s", "scibench")
    with pytest.raises(PrismError, match="in one language"):
        imported(tmp_path / "s", "scibench", language="zh")


def test_answers_that_share_a_box_have_a_part_and_a_unit_each(tmp_path: Path) -> None:
    write_dataset(tmp_path, "ugphysics", UGPHYSICS[:1])
    problem = by_id(imported(tmp_path, "ugphysics"))["Thermodynamics-77"]
    assert formulas(problem) == [r"p = 99.8 \unit{kPa}", "N = 1.20"]  # as its solution names them
    assert [part["letter"] for part in problem["subquestions"]] == ["a", "b"]
    assert {part["final_answer_form"] for part in problem["subquestions"]} == {"numerical"}


def test_a_power_of_ten_in_the_unit_is_multiplied_into_the_number(tmp_path: Path) -> None:
    write_dataset(tmp_path, "scibench")
    assert formulas(by_id(imported(tmp_path, "scibench"))["fund-3.4"]) == [r"3.31 \times 10^{-19}\unit{J}"]


def test_code_of_a_data_set_is_kept_and_never_run(tmp_path: Path) -> None:
    write_dataset(tmp_path, "tpbench")
    problem = by_id(imported(tmp_path, "tpbench"))["P9"]
    assert problem["metadata"]["reference_implementation"] == "raise SystemExit('never run')"


def test_parquet_files_are_read(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.Table.from_pylist(LAYOUTS["tpbench"][2]), tmp_path / "train-00000.parquet")
    assert list(by_id(imported(tmp_path, "tpbench"))) == ["P9"]


def test_the_first_scheme_makes_the_nodes_and_an_answer_that_none_states_is_final_without_points(
    tmp_path: Path,
) -> None:
    write_dataset(tmp_path, "hipho", HIPHO[:3])
    made = by_id(imported(tmp_path, "hipho"))
    first, second = made["XPhO_2025_1_A_1"], made["XPhO_2025_1_A_2"]
    assert [node["points"] for node in first["grading_standard"]] == [0.5]
    assert first["metadata"]["criteria_in_words"][0]["points"] == 0.1
    assert len(first["metadata"]["other_ways"]) == 1
    assert [(node["points"], node.get("is_final_answer", False)) for node in second["grading_standard"]] == [
        (0.5, False), (0, True),
    ]  # fmt: skip
    assert second["metadata"]["needs_image"] is True


def test_a_criterion_in_words_makes_no_node(tmp_path: Path) -> None:
    row = HIPHO[1] | {
        "marking": ["Award 0.3 pt if the answer mentions energy.", "Award 0.3 pt if it gives $v = \\sqrt{2 g h}$."]
    }
    write_dataset(tmp_path, "hipho", [row])
    problem = by_id(imported(tmp_path, "hipho"))["XPhO_2025_1_A_1"]
    assert formulas(problem) == [r"v = \sqrt{2 g h}"]
    assert [each["points"] for each in problem["metadata"]["criteria_in_words"]] == [0.3]


def test_a_proof_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "TP_TO_physics_en_COMP.json"
    path.write_text(json.dumps(OLYMPIADBENCH[:1]), encoding="utf-8")
    made = imported(path, "olympiadbench")
    assert [each.refusal.code for each in made.refused] == ["proof"]
    assert not made.problems


def test_several_answers_of_one_text_are_several_parts(tmp_path: Path) -> None:
    write_dataset(tmp_path, "olympiadbench", OLYMPIADBENCH[1:2])
    assert formulas(by_id(imported(tmp_path, "olympiadbench"))["9002"]) == [r"F = 945 \unit{N}", r"F_0 = 785 \unit{N}"]


def test_an_order_of_steps_is_no_dependency(tmp_path: Path) -> None:
    row = LAYOUTS["physreason"][2][0] | {
        "answer": [r"$v = \sqrt{2 g h}$", r"$F = k q$"],
        "steps_analysis": {
            "step_1": {"result_quantity": [{"name": "v", "value": "N/A", "equation": r"$v = \sqrt{2 g h}$"}]},
            "step_3": {"result_quantity": [{"name": "F", "value": "N/A", "equation": "$F = k q$"}]},
        },
    }
    write_dataset(tmp_path, "physreason", [row])
    problem = by_id(imported(tmp_path, "physreason"))["P-1"]
    assert [(node["formula"], node["dependency"]) for node in problem["grading_standard"]] == [
        (r"v = \sqrt{2 g h}", []), ("F = k q", []),
    ]  # fmt: skip


def test_an_id_that_stands_twice_is_told_and_made_distinct(tmp_path: Path) -> None:
    write_dataset(tmp_path, "phybench", [PHYBENCH[0], PHYBENCH[1] | {"id": 9001}])
    made = imported(tmp_path, "phybench")
    assert list(by_id(made)) == ["9001", "9001~2"]
    assert any("stands 2 times" in remark for remark in made.problems[1].remarks)


def test_an_answer_in_words_among_others_is_left_out_and_told(tmp_path: Path) -> None:
    write_dataset(tmp_path, "physics", PHYSICS[:1])
    made = imported(tmp_path, "physics")
    assert formulas(by_id(made)["optics/9-1"]) == [r"d = \frac{\lambda}{2n}"]
    assert any(remark.startswith("answer b is left out") for remark in made.problems[0].remarks)


# Files that are no good -------------------------------------------------------------------------------------------


def test_a_line_that_is_no_json_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    path = write_dataset(tmp_path, "physics", PHYSICS[1:2])
    path.write_text("{broken\n" + path.read_text(encoding="utf-8") + "[1]\n", encoding="utf-8")
    made = imported(path, "physics")
    assert len(made.problems) == 1
    assert [(each.row.place, each.refusal.code) for each in made.refused] == [
        ("line 1", "not-read"), ("line 3", "not-read"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["3", "{", ""])
def test_a_file_that_is_no_table_stops(text: str, tmp_path: Path) -> None:
    path = tmp_path / "PHYBench-x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataFileError):
        imported(path, "phybench")


def test_a_folder_without_the_layout_says_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"testset/\*\*/\*\.jsonl"):
        imported(tmp_path, "engtrace")


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_any_shape_never_raise(name: str, tmp_path: Path) -> None:
    fields = list(dataset_of(name).fields)
    odd: list[Any] = [None, 7, True, "", [], {}, [[]], {"a": [1]}, "\\boxed{", "x" * 300]
    rows = [{}, *(dict.fromkeys(fields, value) for value in odd)]
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    made = imported(path, name, is_drafted=True)
    assert made.n_rows == len(rows)
    for each in made.problems:
        load_problem(each.data)


# The command ------------------------------------------------------------------------------------------------------


def test_the_command_writes_files_and_images_and_tells_rows(tmp_path: Path) -> None:
    write_dataset(tmp_path, "physics")
    out = tmp_path / "problems"
    ran = run("convert", str(tmp_path), "--from", "physics", "-o", str(out))
    assert ran.exit_code == 3
    assert "3 rows: 2 problems (2 answer); 1 refused" in ran.stdout
    assert "optics_dataset.jsonl, line 3, mechanics/9-3: its answer is words" in ran.stderr
    assert (out / "optics_9-1_1.gif").read_bytes() == PIXEL
    loaded = load_problems(out)
    assert set(loaded) == {"optics/9-1", "mechanics/9-2"}
    assert loaded["optics/9-1"].images[0].location == "optics_9-1_1.gif"
    assert not [finding for finding in lint(out / "optics_9-1.toml") if finding.kind == "fault"]
    again = run("convert", str(tmp_path), "--from", "physics", "-o", str(out), "--partial")
    assert again.exit_code == 3
    assert "is there already" in again.stderr
    forced = run("convert", str(tmp_path), "--from", "physics", "-o", str(out), "--partial", "--force")
    assert forced.exit_code == 0


@pytest.mark.slow
def test_a_non_commercial_licence_is_told_once(tmp_path: Path) -> None:
    write_dataset(tmp_path, "ugphysics")
    ran = run("convert", str(tmp_path), "--from", "ugphysics", "-o", str(tmp_path / "u.jsonl"), "--partial")
    assert ran.exit_code == 0
    assert ran.stderr.count("CC BY-NC-SA 4.0") == 1
    write_dataset(tmp_path / "s", "scibench", SCIBENCH[:1])
    assert "no commercial use" not in run("convert", str(tmp_path / "s"), "--from", "scibench").stderr


def test_json_has_problems_counts_and_refusals(tmp_path: Path) -> None:
    write_dataset(tmp_path, "scibench")
    ran = run("convert", str(tmp_path), "--from", "scibench", "--json")
    told = json.loads(ran.stdout)
    assert (told["rows"], told["dags"], told["refused"]) == (4, {"answer": 3}, {"unit-unread": 1})
    assert [each["problem"]["id"] for each in told["problems"]] == ["fund-3.4", "thermo-2.2", "thermo-2.3"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--from", "scibnech"), "did you mean scibench?"),
        (("--from", "scibench", "--variant", "hard"), "has no variant hard"),
        (("--draft",), "go with --from NAME"),
        (("--from", "ugphysics", "--language", "fr"), "no language"),
    ],
)
def test_a_wrong_option_is_a_usage_error(args: tuple[str, ...], said: str, tmp_path: Path) -> None:
    path = write_dataset(tmp_path, "scibench")
    ran = run("convert", str(path), *args)
    assert ran.exit_code == 2
    assert said in " ".join(ran.stderr.replace("│", " ").split())


def test_the_same_table_gives_the_same_answers_in_every_variant(tmp_path: Path) -> None:
    write_dataset(tmp_path, "engibench", ENGIBENCH[:1])
    made = by_id(imported(tmp_path, "engibench"))
    assert formulas(made["1-original"]) == formulas(made["1-knowledge"])
    assert formulas(made["1-perturbed"]) == formulas(made["1-perturbed_knowledge"])
