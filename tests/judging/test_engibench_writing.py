"""The tasks that write what EngiBench is made of: rubrics and variants, and the commands that read them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prism.authoring.importers.published.engibench import VARIANTS
from prism.cli import app
from prism.judging.conversations import ASKED_FOR, check_faults
from prism.judging.tasks import CHECKS, SHIPPED, load_task
from prism.protocols.engibench.input import read_questions
from prism.protocols.engibench.rubrics import DIMENSIONS, read_rubric
from tests.support.imitation import Imitation, imitating, prompt_of

HEATER = "A heater on 230 V draws 2.0 A. What power does it take?"
ROWS = [
    {"problem": "", "answer": "", "difficulty": "Level 1"},
    {
        "problem": HEATER, "answer": "460 W", "difficulty": "Level 1", "subfield": "Systems & Control",
        "category": "Electrical",
    },
]  # fmt: skip
ABSTRACT = {"steps": [], "problem": "Let x = 230 and y = 2.0. Find z = x y.", "answer": "460"}
OVEN: dict[str, Any] = {
    "kind": "both",
    "problem": "Find the power of an oven on 400 V and 5.0 A.",
    "steps": [],
    "answer": "2000 W",
}
OVEN_ABSTRACT = {"steps": [], "problem": "Let x = 400 and y = 5.0. Find z = x y.", "answer": "2000"}
GIVEN = {"given": ["P = U I", "the supply is constant"]}
PLAN: dict[str, Any] = {"question": "Plan the stock of a repair shop.", "subquestion": "How many motors?"}
CELL = "(1) What varies (6 points)\n6 points: two things\n3 points: one\n(2) What it changes (4 points)\n4 points: said"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> Any:
    done = CliRunner().invoke(app, [*words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def written(name: str, *rows: dict[str, Any]) -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def judged(own: Imitation, task: str, *inputs: str, code: int = 0) -> list[dict[str, Any]]:
    done = run("judge", task, *inputs, "--endpoint", own.url, "--model", "m", "-o", f"{task}.jsonl")
    assert done.exit_code == code, done.output
    return [json.loads(line) for line in Path(f"{task}.jsonl").read_text("utf-8").splitlines()]


def author(perturbed: dict[str, Any]) -> Callable[[dict[str, Any]], str]:
    """A model that writes variants of the heater's row."""

    def say(body: dict[str, Any]) -> str:
        prompt = prompt_of(body).partition(ASKED_FOR)[0]
        if prompt.startswith("You change"):
            return json.dumps(perturbed)
        if prompt.startswith("You list"):
            return json.dumps(GIVEN)
        return json.dumps(OVEN_ABSTRACT if "oven" in prompt else ABSTRACT)

    return say


# Variants. ------------------------------------------------------------------------------------------------------


def test_a_row_gets_all_columns_of_its_variants_and_keeps_its_own() -> None:
    with imitating(say=author(OVEN)) as own:
        (row,) = judged(own, "engibench-variants", written("rows.jsonl", *ROWS))
    assert row.items() >= ROWS[1].items()
    assert {name for pair in VARIANTS.values() for name in pair} <= row.keys()
    assert (row["row"], row["perturbation"], row["judged"]["calls"]) == (2, "both", 5)
    assert (row["rewritten_problem"], row["rewritten_answer"]) == (OVEN["problem"], "2000 W")
    assert (row["converted_problem"], row["converted_problem_llm_answer"]) == (ABSTRACT["problem"], "460")
    assert row["rewritten_converted_problem"] == OVEN_ABSTRACT["problem"]
    given = "Given:\n- P = U I\n- the supply is constant\nProblem:\n"
    assert row["knowledge_enhanced_problem"] == given + HEATER
    assert row["rewritten_knowledge_enhanced_problem"] == given + OVEN["problem"]


def test_no_prompt_of_an_abstraction_or_of_knowledge_shows_the_key() -> None:
    with imitating(say=author(OVEN)) as own:
        judged(own, "engibench-variants", written("rows.jsonl", *ROWS))
    shown = [prompt_of(body)[:8] for body in own.bodies.values() if "460 W" in prompt_of(body)]
    assert shown == ["You chan"]


@pytest.mark.parametrize(
    ("kind", "problem", "key"),
    [("wording", OVEN["problem"], "460 W"), ("numbers", OVEN["problem"], "2000 W"), ("none", HEATER, "460 W")],
)
def test_a_key_is_the_models_only_where_numbers_changed(kind: str, problem: str, key: str) -> None:
    with imitating(say=author(OVEN | {"kind": kind})) as own:
        (row,) = judged(own, "engibench-variants", written("rows.jsonl", *ROWS))
    assert (row["rewritten_problem"], row["rewritten_answer"]) == (problem, key)
    of_what = ABSTRACT if problem == HEATER else OVEN_ABSTRACT
    assert row["rewritten_converted_problem"] == of_what["problem"]


def test_a_variant_without_a_usable_reply_leaves_its_cells_empty_and_none_of_an_older_one() -> None:
    old = {"rewritten_problem": "an old one", "rewritten_answer": "7", "rewritten_converted_problem": "old"}

    def behave(request: Any) -> str:
        return "prose" if prompt_of(request.body).startswith("You change") else "good"

    with imitating(behave, say=author(OVEN)) as own:
        (row,) = judged(own, "engibench-variants", written("rows.jsonl", ROWS[1] | old), code=4)
    assert {row[name] for name in row if name.startswith("rewritten")} == {""}
    assert row["converted_problem"] == ABSTRACT["problem"]
    run("convert", "engibench-variants.jsonl", "--from", "engibench", "-o", "problems")
    assert sorted(path.stem for path in Path("problems").glob("*.toml")) == ["1-abstract", "1-knowledge", "1-original"]


def test_run_and_the_protocol_know_variants_by_the_number_of_their_row() -> None:
    with imitating(say=author(OVEN)) as own:
        judged(own, "engibench-variants", written("rows.jsonl", *ROWS))
    said = {name: r"$\boxed{460}$" if "abstract" in name else r"$\boxed{460\,\mathrm{W}}$" for name in VARIANTS}
    written("answers.jsonl", *({"problem_id": f"2-{name}", "id": "a", "response": said[name]} for name in said))
    assert run("convert", "engibench-variants.jsonl", "--from", "engibench", "-o", "problems").exit_code == 0
    doors = {
        "run": ["run", "problems", "answers.jsonl"],
        "engibench": ["protocol", "engibench", "engibench-variants.jsonl", "answers.jsonl"],
    }
    for name, door in doors.items():
        done = run(*door, "--workers", "0", "-o", f"{name}.jsonl")
        assert done.exit_code == 0, done.output
        rows = [json.loads(line) for line in Path(f"{name}.jsonl").read_text("utf-8").splitlines()]
        scores = {row["problem_id"]: row["score"] for row in rows}
        assert scores == {f"2-{each}": float(not each.startswith("perturbed")) for each in VARIANTS}, name
    assert "\nrow = 2\n" in Path("problems/2-abstract.toml").read_text("utf-8")


@pytest.mark.parametrize(("answer", "code"), [("2000", 0), ("2100", 3)])
def test_lint_tells_an_abstraction_that_comes_to_another_answer(answer: str, code: int) -> None:
    def say(body: dict[str, Any]) -> str:
        said = author(OVEN)(body)
        return said.replace('"answer": "2000"', f'"answer": "{answer}"') if "You turn" in prompt_of(body) else said

    with imitating(say=say) as own:
        judged(own, "engibench-variants", written("rows.jsonl", *ROWS))
    done = run("lint", "--dataset", "engibench-variants.jsonl", "--from", "engibench")
    assert done.exit_code == code
    assert ("variants-disagree" in done.stdout) == bool(code)


def test_a_row_of_level_3_gets_other_words_for_question_and_subquestion() -> None:
    new = {"question": "A shop repairs motors; plan its stock.", "subquestion": "How many?"}
    with imitating(say=lambda _body: json.dumps(new)) as own:
        (row,) = judged(own, "engibench-variants", written("open.jsonl", PLAN))
    assert row["judged"]["calls"] == 1
    assert (row["question"], row["question_modified"], row["subquestion_modified"]) == (PLAN["question"], *new.values())


def test_the_rubric_file_of_a_conversion_gets_other_words_and_stays_a_table() -> None:
    cells = [{"row": 4, "dimension": name, "text": CELL, **PLAN} for name in DIMENSIONS]
    new = {"question": "A shop repairs motors; plan its stock.", "subquestion": "How many?"}
    with imitating(say=lambda _body: json.dumps(new)) as own:
        judged(own, "engibench-variants", written("rubric.jsonl", *cells))
    row = read_questions(Path("engibench-variants.jsonl"))[4]
    assert row.asked("perturbed") == "A shop repairs motors; plan its stock.\n\nHow many?"
    assert {row.text(columns[0]) for columns in DIMENSIONS.values()} == {CELL}


# Rubrics. -------------------------------------------------------------------------------------------------------


def rubric(cell: str) -> dict[str, str]:
    return {"demands": "much", **dict.fromkeys(DIMENSIONS, ""), "uncertainty_handling": cell}


def test_a_rubric_of_nine_points_goes_back_and_one_of_ten_is_read_by_what_marks_by_it() -> None:
    def say(body: dict[str, Any]) -> str:
        is_again = len(body["messages"]) > 1
        return json.dumps(rubric(CELL if is_again else CELL.replace("4 points", "3 points")))

    with imitating(say=say) as own:
        (row,) = judged(own, "engibench-write-rubric", written("open.jsonl", PLAN))
    assert (row["uncertainty_handling_score"], row["information_extraction_score"]) == (CELL, "")
    (again,) = (body for body in own.bodies.values() if len(body["messages"]) > 1)
    assert "uncertainty_handling: rubric: its heads add up to 9, not to 10" in again["messages"][2]["content"]
    written("answers.jsonl", {"row": 1, "sample_id": "a", "response": "Nine."})
    points = {"points": [{"head": 1, "got": 3}, {"head": 2, "got": 4}]}
    with imitating(say=lambda _body: json.dumps(points)) as own:
        judged(own, "engibench-rubric", "engibench-write-rubric.jsonl", "answers.jsonl")
    assert all("How many motors?" in prompt_of(body) for body in own.bodies.values())
    inputs = ["engibench-write-rubric.jsonl", "answers.jsonl", "--rubric", "engibench-rubric.jsonl"]
    done = run("protocol", "engibench", *inputs, "-o", "rows.jsonl")
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text("utf-8").splitlines()]
    assert [row["score"] for row in rows] == [None, None, None, 0.7]


def test_a_rubric_that_never_adds_up_is_told_and_makes_no_row() -> None:
    with imitating(say=lambda _body: json.dumps(rubric("ten points for all"))) as own:
        assert run("judge", "engibench-write-rubric", written("open.jsonl", PLAN), "--endpoint", own.url, "--model",
                   "m", "-o", "out.jsonl").exit_code == 5  # fmt: skip
    assert len(own.asked) == 1 + 3


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (CELL, []),
        ("10 points: all\n5 points: half", []),
        ("", ["no dimension has a rubric"]),
        ("much", ["uncertainty_handling: rubric: no heads with points are found in the cell"]),
        (CELL.replace("(2)", "(1)"), ["uncertainty_handling: rubric: head 1 stands twice in the cell"]),
        (
            CELL.replace("\n4 points: said", ""),
            ["uncertainty_handling: head 2 is worth 4 points, and it has no levels"],
        ),
        (
            CELL.replace("6 points: two", "8 points: two"),
            ["uncertainty_handling: head 1 is worth 6 points, and its levels are 8, 3"],
        ),
    ],
)
def test_what_a_written_rubric_lacks(cell: str, told: list[str]) -> None:
    assert check_faults("rubric", rubric(cell)) == told


def test_every_check_that_a_task_can_name_is_one() -> None:
    for name in CHECKS:
        assert check_faults(name, {})


def test_the_rubric_task_names_the_dimensions_and_shows_a_form_that_is_read() -> None:
    task = load_task("engibench-write-rubric")
    assert set(task.calls[0].schema["properties"]) == {"demands", *DIMENSIONS}
    prompt = (SHIPPED / "engibench-write-rubric" / "prompt.jinja").read_text("utf-8")
    assert all(f"- {name}:" in prompt for name in DIMENSIONS)
    shown = read_rubric(prompt.split("```")[1])
    assert not shown.fault
    assert [head.levels_text for head in shown.heads] == ["6, 3, 0", "4, 2"]


# What they are about. -------------------------------------------------------------------------------------------


def test_the_way_a_source_marks_is_shown_and_an_earlier_finding_is_not_taken_for_a_column() -> None:
    own_marks = {"official_scoring_standard": "40 % for the model", "judged": {"task": "engibench-variants"}}
    with imitating(say=lambda _body: json.dumps(rubric(CELL))) as own:
        (row,) = judged(own, "engibench-write-rubric", written("open.jsonl", PLAN | own_marks))
    assert all("```\n40 % for the model\n```" in prompt_of(body) for body in own.bodies.values())
    assert row["judged"]["task"] == "engibench-write-rubric"


def test_a_table_of_the_other_level_has_nothing_to_ask() -> None:
    with Path("rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["problem", "answer"], [HEATER, "460 W"]])
    with imitating() as own:
        done = run(
            "judge", "engibench-write-rubric", "rows.csv", "--endpoint", own.url, "--model", "m", "-o", "o.jsonl"
        )
    assert done.exit_code == 5
    assert not own.asked


def test_a_table_without_questions_is_told() -> None:
    written("other.jsonl", {"id": "a", "text": "no question"})
    done = run("judge", "engibench-variants", "other.jsonl", "--dry-run")
    assert done.exit_code == 3
    assert "neither `problem` nor" in done.stderr
