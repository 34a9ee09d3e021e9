"""`prism protocol engibench`: its files, its rows, its figures, and the commands that read the rows."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from prism.cli import app
from prism.errors import DataFileError
from prism.protocols.engibench.input import (
    VARIANTS,
    Answer,
    QuestionRow,
    read_answers,
    read_points,
    read_questions,
)
from prism.protocols.engibench.rows import dimension_average, engibench_rows, variant_figures, variant_pairs
from prism.protocols.engibench.rubrics import DIMENSIONS
from prism.protocols.engibench.units import Units
from prism.protocols.rows import Basis, Part, ProtocolRow, Scored
from prism.protocols.schemas import schema_text
from prism.reports.comparison.paired_tests import Differences, paired_tests

FOLDER = Path(__file__).with_name("engibench")
LEVELS, ANSWERS = FOLDER / "levels.csv", FOLDER / "answers.jsonl"
OPEN, OPEN_2025, OPEN_ANSWERS, POINTS = (
    FOLDER / name for name in ("open.csv", "open_2025.csv", "open_answers.jsonl", "open_points.jsonl")
)


def told(*words: object):
    return CliRunner().invoke(app, ["protocol", "engibench", *map(str, words)])


def rows_of(table: Path, answers: Path, points: Path | None = None, units: Units = Units.ASKED) -> list[ProtocolRow]:
    questions = read_questions(table)
    entries = read_points(points, questions)[0] if points else []
    return engibench_rows(
        questions, read_answers(answers, questions, mapping={}, keep=("model",)), entries, units=units
    )


def written(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


# Levels 1 and 2. ------------------------------------------------------------------------------------------------


def test_each_answer_has_a_row_by_the_key_of_its_variant() -> None:
    rows = {row.about.problem_id: row for row in rows_of(LEVELS, ANSWERS)}
    # 2 % of 2000 W (the question names the unit) are 40 W: 2.03 kW are right. 2 % of 3.92 kW are 0.08 kW: 2.35 are not.
    assert {name: row.score for name, row in rows.items()} == {
        "1-original": 1, "1-perturbed": 1, "1-knowledge": 1, "1-abstract": 1, "2-original": 1, "2-perturbed": 0,
        "2-knowledge": 1, "3-original": 1, "3-perturbed": 0, "4-original": 1, "4-perturbed": 1, "5-original": None,
    }  # fmt: skip
    words = rows["5-original"]
    assert (words.status, words.final_correct) == ("undecided", None)
    assert [words.score_low, words.score_high] == [0, 1]
    assert words.parts[0].basis is Basis.NONE
    assert words.notes == ("key: neither a number nor a formula",)
    assert rows["1-abstract"].notes[0].startswith("abstraction")
    assert rows["2-perturbed"].about.meta == {
        "model": "m", "row": 2, "variant": "perturbed", "level": "Level 2", "subfield": "Systems & Control",
        "category": "Mechanical",
    }  # fmt: skip


def test_which_column_is_question_and_key_of_a_variant() -> None:
    data = {name: f"{k}" for k, pair in enumerate(VARIANTS.values()) for name in pair if "answer" in name}
    data |= {question: "" for question, _ in VARIANTS.values()}
    questions = {1: QuestionRow(1, 1, data)}
    for variant, (_, key) in VARIANTS.items():
        right, wrong = (
            Answer(1, variant, name, rf"\boxed{{{value}}}") for name, value in (("a", data[key]), ("b", 99))
        )
        assert [row.score for row in engibench_rows(questions, [right, wrong])] == [1, 0]
    assert VARIANTS["knowledge"][1] == VARIANTS["original"][1]
    assert VARIANTS["perturbed_knowledge"][1] == VARIANTS["perturbed"][1]


def test_null_is_no_answer_and_an_empty_text_is_a_wrong_one(tmp_path) -> None:
    answers = written(tmp_path / "a.jsonl", *({"row": 1, "sample_id": str(k), "response": text}
                                              for k, text in enumerate((None, "", r"\boxed{460}"))))  # fmt: skip
    rows = rows_of(LEVELS, answers)
    assert [row.score for row in rows] == [None, 0, 1]
    assert rows[0].notes == ("response: is null",)


def test_units_are_a_setting_of_the_run(tmp_path) -> None:
    answers = written(tmp_path / "a.jsonl", {"row": 2, "response": r"$\boxed{4.2}$"})
    found = {units: rows_of(LEVELS, answers, units=units)[0] for units in Units}
    assert {units: row.score for units, row in found.items()} == {Units.ASKED: 1, Units.ALWAYS: 0, Units.NEVER: 1}
    assert found[Units.NEVER].settings == {"units": "never", "within": 0.02}
    assert len({row.fingerprint for row in found.values()}) == 3


def test_ids_of_converted_problems_and_other_shapes_of_answers_are_read(tmp_path) -> None:
    questions = read_questions(LEVELS)
    answers = written(
        tmp_path / "a.jsonl",
        {"problem_id": "4-perturbed_knowledge", "response": "0.6", "model": "m"},
        {"row": "1", "variant": "Knowledge", "sample_id": 7, "completion": [{"role": "assistant", "content": "460"}]},
        {"row": 1, "messages": "ignored", "out": {"text": "3"}},
    )
    found = read_answers(answers, questions, mapping={}, keep=())
    assert [each.key for each in found] == [
        (4, "perturbed_knowledge", "1"),
        (1, "knowledge", "7"),
        (1, "original", "3"),
    ]
    assert found[1].response == "460"
    mapped = written(tmp_path / "b.jsonl", {"n": 1, "kind": "abstract", "who": "x", "out": {"text": "460"}})
    (one,) = read_answers(
        mapped, questions, mapping={"row": "n", "variant": "kind", "sample_id": "who", "response": "out.text"}, keep=()
    )
    assert (one.key, one.response) == ((1, "abstract", "x"), "460")
    table = tmp_path / "c.csv"
    table.write_text('row,variant,response\n1,original,"460 W"\n', encoding="utf-8")
    assert read_answers(table, questions, mapping={}, keep=())[0].key == (1, "original", "1")


def test_all_faults_of_the_answers_are_told_at_once(tmp_path) -> None:
    answers = written(
        tmp_path / "a.jsonl",
        {"row": 9, "response": "1"},
        {"row": 1, "variant": "rewritten", "response": "1"},
        {"row": 1.5, "response": "1"},
        {"variant": "original", "response": "1"},
        {"row": 1, "model": "m"},
        {"row": 1, "response": 7},
        {"row": 1, "sample_id": "s", "response": "1"},
        {"row": 1, "sample_id": "s", "response": "2"},
    )
    with pytest.raises(DataFileError) as caught:
        read_answers(answers, read_questions(LEVELS), mapping={}, keep=())
    text = str(caught.value)
    for each in (
        "line 1: row 9: the table has rows 1 to 5", 'line 2: variant: "rewritten" is none of original',
        'line 3: row: "1.5" is no number of a row', "line 4: row: is missing", "line 5: response: no field with one",
        'line 6: response: "7" is neither text nor a list', 'line 8: row 1, original, sample "s": stands twice',
    ):  # fmt: skip
        assert each in text


def test_a_table_of_another_kind_and_levels_that_there_are_not(tmp_path) -> None:
    table = tmp_path / "t.csv"
    for text, fault in (
        ("question,answer\n1,2\n", "neither `problem` nor a rubric column"),
        ("problem,answer,difficulty\n1,2,Level 4\n", '"Level 4" is no level'),
        ("problem,answer\n", "holds no rows"),
        ("row,problem,answer\n2,1,2\n2,1,2\n", 'row "2": stands twice'),
        ("row,problem,answer\n2,1,2\n,1,2\n", 'row "": stands twice'),
        ("row,problem,answer\nb,1,2\n", 'row "b": is no number'),
        ("row,problem,answer\n0,1,2\n", 'row "0": is no number'),
    ):
        table.write_text(text, encoding="utf-8")
        with pytest.raises(DataFileError, match=fault):
            read_questions(table)


def test_a_row_may_say_its_number(tmp_path) -> None:
    table = written(tmp_path / "t.jsonl", {"row": 7, "problem": "p", "answer": "2"}, {"problem": "p", "answer": "3"})
    answers = written(tmp_path / "a.jsonl", {"row": 7, "response": "2"}, {"id": "2-original", "response": "3"})
    assert {row.about.problem_id: row.score for row in rows_of(table, answers)} == {"7-original": 1, "2-original": 1}


# Level 3. -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [OPEN, OPEN_2025])
def test_each_answer_to_an_open_question_has_a_row_for_each_dimension(table: Path) -> None:
    rows = {row.about.problem_id: row for row in rows_of(table, OPEN_ANSWERS, POINTS)}
    scores = {name: (row.score, row.score_low, row.score_high) for name, row in rows.items()}
    tenths = {name: tuple(None if each is None else each * 10 for each in found) for name, found in scores.items()}
    assert tenths == {
        "1-original-information_extraction": (8, 8, 8),  # 4 + 4
        "1-original-domain_specific_reasoning": (7, 7, 7),  # 5 + 2
        "1-original-multi_objective_decision": (Fraction(17, 2),) * 3,  # 8.5, between 7 and 10
        "1-original-uncertainty_handling": (8, 8, 8),  # 6 + 2
        "1-perturbed-information_extraction": (4, 4, 4),  # 4 + 0
        "1-perturbed-domain_specific_reasoning": (5, 5, 5),  # 3 + 2
        "1-perturbed-multi_objective_decision": (5, 5, 5),
        "1-perturbed-uncertainty_handling": (None, 2, 8),  # 4 is none of 6, 3, 0; and 2
        "2-original-information_extraction": (5, 5, 5),
        "2-original-domain_specific_reasoning": (None, 9, 10),  # 6 + 3 of a rubric of nine points
        "2-original-multi_objective_decision": (None, 0, 10),  # its cell is empty
        "2-original-uncertainty_handling": (None, 0, 10),  # the file gives null
    }
    assert {row.scale for row in rows.values()} == {10}
    assert rows["1-perturbed-domain_specific_reasoning"].notes == ("total: 6 in the file, 5 from its points",)
    assert rows["1-original-domain_specific_reasoning"].notes == ()
    assert rows["2-original-multi_objective_decision"].notes == ("not scored: the cell is empty",)
    assert rows["2-original-multi_objective_decision"].parts == ()


def test_an_open_question_has_its_subquestion_and_needs_no_rubric_only_where_one_is_written(tmp_path) -> None:
    row = {"question": "Plan.", "subquestion": "How many?", "question_modified": "Arrange.", "subquestion_modified": ""}
    table = written(tmp_path / "t.jsonl", row)
    found = read_questions(table, needs_rubric=False)[1]
    assert (found.level, found.asked("original"), found.asked("perturbed")) == (3, "Plan.\n\nHow many?", "Arrange.")
    with pytest.raises(DataFileError, match="nor a rubric column"):
        read_questions(table)
    rubric = {"row": 4, "dimension": "uncertainty_handling", "text": "10 points: all"}
    found = read_questions(written(table, rubric | row))[4]
    assert (found.asked("original"), found.asked("perturbed")) == ("Plan.\n\nHow many?", "Arrange.")
    assert read_questions(written(table, rubric | {"question": "Plan."}))[4].asked("perturbed") == "Plan."


def test_the_rubric_file_of_a_conversion_is_a_table_too(tmp_path) -> None:
    columns = ("redundant_information", "domain_knowledge", "multi_objective_decision", "uncertainty_handling")
    questions = read_questions(OPEN)
    table = written(
        tmp_path / "rubric.jsonl",
        *(
            {"row": number, "dimension": name, "text": question.text(cells[0]), "question": "Advise it."}
            for number, question in questions.items()
            for name, cells in zip(columns, DIMENSIONS.values(), strict=True)
        ),
    )
    found, wanted = (
        [(row.about.problem_id, row.score, row.parts, row.notes) for row in rows_of(each, OPEN_ANSWERS, POINTS)]
        for each in (table, OPEN)
    )
    assert found == wanted
    with pytest.raises(DataFileError, match='dimension "style": is none'):
        read_questions(written(table, {"row": 1, "dimension": "style", "text": ""}))


@pytest.mark.slow  # starts two processes
def test_workers_give_the_rows_of_one_process() -> None:
    questions = read_questions(LEVELS)
    answers = read_answers(ANSWERS, questions, mapping={}, keep=("model",))
    one, two = (engibench_rows(questions, answers, workers=n) for n in (0, 2))
    assert one == two


def test_a_failure_of_the_grader_is_an_incident_and_no_score(monkeypatch) -> None:
    from prism.grading import pipeline

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr(pipeline, "locate_claims", fail)
    (row,) = engibench_rows(read_questions(LEVELS), [Answer(1, "original", "a", r"$P = 460\,\mathrm{W}$")])
    assert (row.status, row.score, row.notes) == ("internal", None, ("grader: internal",))
    assert [one.code for one in row.about.incidents] == ["internal"]


def test_an_empty_cell_is_not_scored_whatever_the_file_says(tmp_path) -> None:
    points = written(
        tmp_path / "p.jsonl",
        {"row": 2, "sample_id": "s1", "dimension": "multi_objective_tradeoff", "points": [{"head": 1, "got": 10}]},
    )
    rows = rows_of(OPEN, written(tmp_path / "a.jsonl"), points)
    assert [row.about.problem_id for row in rows] == [f"2-original-{name}" for name in DIMENSIONS]
    own = next(row for row in rows if row.about.meta["dimension"] == "multi_objective_decision")
    assert own.score is None
    assert own.notes == ("not scored: the cell is empty", "points: left out, for a cell that is empty")
    # It is in no figure, and not in the bounds either.
    assert "multi_objective_decision" not in {figure.group for figure in variant_figures(rows)}


def test_all_faults_of_the_points_are_told_at_once(tmp_path) -> None:
    sound = {"row": 1, "sample_id": "s", "dimension": "uncertainty_handling"}
    points = written(
        tmp_path / "p.jsonl",
        {**sound, "dimension": "style"},
        {**sound, "row": 3},
        {**sound, "variant": "knowledge"},
        {**sound, "points": [{"head": 0, "got": 1}, {"head": 1, "got": -1}, {"head": 2, "got": "4"}]},
        {**sound, "points": [{"head": 1}, {"head": 1}]},
        sound,
        sound,
        {"row": 1, "sample_id": "s"},
    )
    with pytest.raises(DataFileError) as caught:
        read_points(points, read_questions(OPEN))
    text = str(caught.value)
    for each in (
        'dimension: "style" is none of', "row 3: the table has rows 1 to 2", 'variant: "knowledge" is none of',
        "points, item 1, head: 0", "points, item 2, got: -1", "points, item 3, got: \"4\"", "head 1 stands twice",
        "uncertainty_handling: stands twice", "dimension: is missing",
    ):  # fmt: skip
        assert each in text
    with pytest.raises(DataFileError, match="has a key and no rubric"):
        read_points(written(points, sound), read_questions(LEVELS))


def test_points_in_a_code_fence_are_read_and_said_to_be(tmp_path) -> None:
    points = tmp_path / "p.json"
    entry = {
        "row": 1,
        "sample_id": "s1",
        "dimension": "uncertainty_handling",
        "points": [{"head": 1, "got": 6}, {"head": 2, "got": 4}],
    }
    points.write_text(f"Here they are:\n```json\n{json.dumps(entry, indent=1)}\n```\n", encoding="utf-8")
    rows = rows_of(OPEN, OPEN_ANSWERS, points)
    own = next(row for row in rows if row.about.problem_id == "1-original-uncertainty_handling")
    assert own.score == 1
    assert own.notes[-1].startswith("findings, line")


# Figures, worked by hand. ---------------------------------------------------------------------------------------


def made(
    number: int, variant: str, score: Fraction | None, *, sample: str = "s", group: str = "Level 1", note: str = ""
):
    meta = {"row": number, "variant": variant, **({"dimension": group} if group in DIMENSIONS else {"level": group})}
    low, high = (Fraction(0), Fraction(1)) if score is None else (score, score)
    return ProtocolRow(
        "engibench", "paper", Scored(f"{number}-{variant}-{group}", sample, {"level": "", **meta}), score, low, high,
        (Part("answer", score, Basis.RULES),), notes=(note,) if note else (),
    )  # fmt: skip


def test_means_of_variants_and_the_drop_row_by_row() -> None:
    right, wrong = Fraction(1), Fraction(0)
    rows = [
        *(made(number, "original", right) for number in (1, 2, 3)), made(3, "original", wrong, sample="t"),
        made(4, "original", None), made(2, "perturbed", right),
        *(made(number, "perturbed", wrong) for number in (1, 3, 4)),
    ]  # fmt: skip
    original, perturbed = variant_figures(rows)
    # 3 of 4 decided; with the undecided one 3 to 4 of 5.
    assert (original.mean, original.low, original.high) == (Fraction(3, 4), Fraction(3, 5), Fraction(4, 5))
    assert (original.n, original.n_undecided) == (5, 1)
    assert (perturbed.mean, perturbed.n_undecided) == (Fraction(1, 4), 0)
    (pairs,) = variant_pairs(rows)
    # Row 3 has the mean 1/2 of its two answers; row 4 has no original: -1, 0, -1/2, of which the mean is -1/2.
    assert pairs.rows == (1, 2, 3)
    assert list(pairs.differences) == [-1, 0, Fraction(-1, 2)]
    assert pairs.mean_difference == Fraction(-1, 2)
    (test,) = paired_tests([Differences(np.array([-1.0, 0.0, -0.5]), np.arange(3))])
    # Signs of -1 and -1/2 can be turned four ways: two of the sums are as far from 0 as -3/2.
    assert (test.difference.value, test.p) == (-0.5, 0.5)


def test_the_average_of_dimensions_is_the_mean_of_their_means() -> None:
    scores = dict(zip(DIMENSIONS, (Fraction(8, 10), Fraction(6, 10), Fraction(5, 10), Fraction(3, 10)), strict=True))
    rows = [made(1, "original", score, group=name) for name, score in scores.items()]
    rows.append(made(2, "original", Fraction(1), group="uncertainty_handling"))
    figures = {figure.group: figure.mean for figure in variant_figures(rows)}
    # (3 + 10) / 2 = 6.5 of ten in the last one: (8 + 6 + 5 + 6.5) / 4 = 6.375, and not the mean of the five scores.
    assert figures["uncertainty_handling"] == Fraction(65, 100)
    assert figures["average"] == Fraction(6375, 10000)
    assert list(figures) == [*DIMENSIONS, "average"]
    assert dimension_average([Fraction(1), None, Fraction(1), Fraction(1)]) is None


SCORES = st.sampled_from([None, Fraction(0), Fraction(1, 2), Fraction(1)])
MADE = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from(["original", "perturbed", "abstract"]), SCORES), max_size=12
)


@given(MADE, st.randoms())
def test_the_order_of_answers_changes_no_figure(drawn, random) -> None:
    rows = [made(number, variant, score, sample=str(k)) for k, (number, variant, score) in enumerate(drawn)]
    shuffled = random.sample(rows, len(rows))
    assert variant_figures(shuffled) == variant_figures(rows)
    assert variant_pairs(shuffled) == variant_pairs(rows)


@given(MADE, st.data())
def test_bounds_hold_whatever_is_undecided(drawn, data) -> None:
    rows = [made(number, variant, score, sample=str(k)) for k, (number, variant, score) in enumerate(drawn)]
    decided = [
        made(
            number,
            variant,
            data.draw(SCORES.filter(lambda one: one is not None)) if score is None else score,
            sample=str(k),
        )
        for k, (number, variant, score) in enumerate(drawn)
    ]
    for before, after in zip(variant_figures(rows), variant_figures(decided), strict=True):
        assert after.mean is not None
        assert before.low <= after.mean <= before.high
        assert (after.low, after.high) == (after.mean, after.mean)


@given(MADE, st.integers(1, 4))
def test_what_is_not_scored_is_in_no_figure(drawn, number: int) -> None:
    rows = [made(n, variant, score, sample=str(k)) for k, (n, variant, score) in enumerate(drawn)]
    more = [*rows, made(number, "original", None, sample="more", note="not scored: the cell is empty")]
    assert variant_figures(more) == variant_figures(rows)
    assert variant_pairs(more) == variant_pairs(rows)


# The command. ---------------------------------------------------------------------------------------------------


def test_the_command_prints_means_changes_and_rows() -> None:
    found = told(LEVELS, ANSWERS)
    assert found.exit_code == 0
    assert "Mean by variant" in found.stdout
    assert "Beside the original" in found.stdout
    assert "12 rows (11 ok, 1 undecided)" in found.stdout


def test_json_has_figures_pairs_and_rows() -> None:
    found = json.loads(told(LEVELS, ANSWERS, "--json").stdout)
    by_place = {(one["group"], one["variant"]): one for one in found["figures"]}
    assert by_place["Level 1", "original"] == {
        "model": "m", "group": "Level 1", "variant": "original", "answers": 3, "undecided": 1, "mean": 1.0,
        "low": 0.666667, "high": 1.0,
    }  # fmt: skip
    pairs = {(one["group"], one["variant"]): one for one in found["paired_with_original"]}
    drop = pairs["Level 2", "perturbed"]
    assert (drop["rows"], drop["original"], drop["mean"], drop["difference"]) == (2, 1.0, 0.0, -1.0)
    assert (drop["low"], drop["high"], drop["p"]) == (-1.0, -1.0, 0.5)
    assert len(found["rows_list"]) == 12


@pytest.mark.slow
def test_rows_are_score_rows_that_other_commands_read(tmp_path) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.parquet"):
        assert told(LEVELS, ANSWERS, "-o", tmp_path / name).exit_code == 0
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    runner, rows = CliRunner(), str(tmp_path / "a.jsonl")
    crossed = runner.invoke(
        app, ["report", rows, "--by", "level", "--across", "variant", "--measure", "score", "--json"]
    )
    assert crossed.exit_code == 0, crossed.output
    same = runner.invoke(app, ["compare", rows, str(tmp_path / "c.parquet"), "--fail-on", "any-drop"])
    assert same.exit_code == 0, same.output
    judge = tmp_path / "judge.jsonl"
    written(judge, *({"problem_id": f"{k}-original", "sample_id": "s1", "score": k % 2} for k in range(1, 5)))
    assert runner.invoke(app, ["agree", rows, str(judge)]).exit_code == 0


def test_exit_codes_and_faults(tmp_path) -> None:
    assert told(LEVELS, tmp_path / "none.jsonl").exit_code == 3
    assert told(LEVELS, ANSWERS, "--units", "sometimes").exit_code == 2
    assert told(LEVELS, ANSWERS, "-o", tmp_path / "rows.txt").exit_code == 3
    undecided = written(tmp_path / "a.jsonl", {"row": 5, "response": "No."})
    assert told(LEVELS, undecided).exit_code == 5
    wrong = told(
        OPEN, OPEN_ANSWERS, "--rubric", written(tmp_path / "p.jsonl", {"row": 8, "sample_id": "s", "dimension": "x"})
    )
    assert wrong.exit_code == 3
    assert 'dimension: "x" is none of' in wrong.stderr


def test_open_questions_print_four_dimensions_and_their_average() -> None:
    found = json.loads(told(OPEN, OPEN_ANSWERS, "--rubric", POINTS, "--json").stdout)
    means = {one["group"]: one["mean"] for one in found["figures"] if one["variant"] == "original"}
    # (8 + 5) / 2, 7, 8.5 and 8 of ten: their mean is (6.5 + 7 + 8.5 + 8) / 4 = 7.5.
    assert means == {
        "information_extraction": 0.65, "domain_specific_reasoning": 0.7, "multi_objective_decision": 0.85,
        "uncertainty_handling": 0.8, "average": 0.75,
    }  # fmt: skip


# Schemas. -------------------------------------------------------------------------------------------------------


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(("name", "path"), [("engibench", POINTS), ("engibench_answers", ANSWERS)])
def test_the_schemas_fit_the_fixtures(name: str, path: Path) -> None:
    schema = json.loads(schema_text(name))
    jsonschema.Draft202012Validator.check_schema(schema)
    for entry in lines_of(path):
        jsonschema.validate(entry, schema)


@pytest.mark.parametrize(
    "wrong",
    [
        {"row": 0},
        {"row": "1"},
        {"variant": "knowledge"},
        {"dimension": "style"},
        {"points": [{"got": 1}]},
        {"points": [{"head": 1, "got": -1}]},
        {"points": [{"head": 1, "got": "4"}]},
        {"points": {"1": 4}},
        {"total": "10"},
        {"sample_id": None},
    ],
)
def test_what_the_schema_of_points_refuses_the_reader_refuses(wrong: dict[str, Any], tmp_path) -> None:
    entry = {"row": 1, "sample_id": "s", "dimension": "uncertainty_handling", **wrong}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(entry, json.loads(schema_text("engibench")))
    with pytest.raises(DataFileError):
        read_points(written(tmp_path / "p.jsonl", entry), read_questions(OPEN))


def test_the_fixtures_have_the_columns_of_both_snapshots() -> None:
    def head(path: Path) -> list[str]:
        with path.open(encoding="utf-8", newline="") as file:
            return next(csv.reader(file))

    assert {name for pair in VARIANTS.values() for name in pair} | {"subfield", "category", "difficulty"} == set(
        head(LEVELS)
    )
    for columns, path in ((0, OPEN), (-1, OPEN_2025)):
        assert {names[columns] for names in DIMENSIONS.values()} <= set(head(path))


def test_kept_fields_are_plain_values_as_in_every_run(tmp_path) -> None:
    answers = tmp_path / "a.jsonl"
    line = '{"row": 1, "sample_id": "a", "response": "455 W", "model": %s}\n'
    answers.write_text(line % "1e999" + line.replace('"a"', '"b"') % "NaN" + line.replace('"a"', '"c"') % "null")
    out = tmp_path / "o.jsonl"
    assert told(LEVELS, answers, "-o", out).exit_code == 0
    rows = map(json.loads, out.read_text("utf-8").splitlines())
    assert [row["meta"].get("model") for row in rows] == ["Infinity", "NaN", None]
