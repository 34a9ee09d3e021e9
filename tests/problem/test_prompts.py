"""Prompts: they say what the problem says and never its reference, in each style, for each part, for whole sets."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import prism
from prism.problem.prompts import STAGES, STYLES, make_prompts, prompt, prompt_messages, rows_of
from prism.problem.schema import Problem, load_problem
from prism.problem.source import shipped_files
from tests.support.pictures import PNG

SHIPPED = pytest.mark.parametrize("path", shipped_files(), ids=lambda path: path.stem)
STYLE = pytest.mark.parametrize("style", STYLES)
RAMP: dict[str, Any] = {
    "id": "ramp",
    "context": "A block of mass $m = 2.00$ kg slides down from the height $h$.",
    "givens": {"m": "2.00 kg", "h": "0.50 m", "g": "9.81 m/s^2"},
    "subquestions": [
        {"letter": "a", "subproblem": "(a) Find its speed $v$.", "final_answer_form": "numerical",
         "significant_figures": 3, "final_answer_instructions": "in m/s."},
        {"letter": "b", "subproblem": "Does it come to rest?", "final_answer_form": "text-based",
         "final_answer_instructions": "'yes/no'"},
    ],
    "grading_standard": [
        {"index": 1, "formula": r"v = 3.13\unit{m/s}", "dependency": [], "is_final_answer": True},
        {"index": 2, "formula": r"\text{no}", "dependency": [1], "is_final_answer": True},
    ],
}  # fmt: skip


def told(problem: Problem) -> str:
    """All that the problem itself says."""
    givens = (f"${name} = {text}$" for name, text in problem.context.givens.items())
    parts = (text for part in problem.subquestions for text in (part.text, part.final_answer_instructions))
    return "\n\n".join((problem.statement, *givens, *parts))


# Nothing of the reference. ---------------------------------------------------------------------------------------


@SHIPPED
def test_a_prompt_does_not_depend_on_the_reference(path: Path) -> None:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    other = {key: value for key, value in table.items() if key not in ("students", "alternatives", "definitions")}
    other["grading_standard"] = [{"index": 1, "formula": "Q_{99} = 17", "dependency": [], "is_final_answer": True}]
    for style in STYLES:
        assert prompt(other, style) == prompt(table, style) == prompt(path.stem, style)


@SHIPPED
def test_no_formula_of_a_node_stands_in_a_prompt_but_where_the_problem_says_it(path: Path) -> None:
    problem = load_problem(path)
    said = re.sub(r"\s", "", told(problem))
    for style in STYLES:
        shown = re.sub(r"\s", "", prompt(problem, style))
        for node in problem.nodes:
            for latex in (node.latex, *(each.latex for each in node.accept)):
                assert re.sub(r"\s", "", latex) not in shown or re.sub(r"\s", "", latex) in said, (style, latex)


@SHIPPED
def test_who_copies_a_prompt_earns_what_the_problem_itself_says(path: Path) -> None:
    """As the grader sees it: in no form, and under no rewriting, is a node in the words of the format."""
    prepared = prism.prepare(load_problem(path))
    matched = set(prism.grade(prepared, told(prepared.problem)).matched)
    for style in STYLES:
        assert set(prism.grade(prepared, prompt(prepared, style)).matched) <= matched, style


# What it says. ----------------------------------------------------------------------------------------------------


@STYLE
def test_a_prompt_has_statement_values_parts_and_answer_forms(style: str) -> None:
    text = prompt(RAMP, style)
    assert "A block of mass $m = 2.00$ kg slides down from the height $h$." in text
    assert "Given values:\n- $h$ = 0.50 m\n- $g$ = 9.81 m/s^2\n" in text  # m stands in the text already
    assert "\n(a) Find its speed $v$.\nAnswer format: numerical, with its unit if it has one; 3 significant" in text
    assert "3 significant figures; in m/s.\n" in text
    assert "\n(b) Does it come to rest?\nAnswer format: in words; 'yes/no'.\n" in text
    assert "(a) (a)" not in text
    assert "Figure" not in text
    assert max(text.count(line) for line in text.splitlines() if line and "END_STEP" not in line) == 1


def test_each_style_asks_for_the_marks_of_its_format() -> None:
    plain, traced, judged = (prompt(RAMP, style) for style in ("prism", "engtrace", "engjudge"))
    assert r"\boxed{SYMBOL = VALUE}" in plain
    assert "`Answer: WORDS`" in plain
    heads = re.findall(r"(?m)^## (.+)$", traced)
    assert heads == ["Given", "Find", "Formulae", "Solution", "Final Answer"]
    assert "`**Step N:**`" in traced
    assert "`(a) **Answer:** VALUE UNIT`" in traced
    assert re.findall(r"(?m)^###### (?!END)(\w+) ######$", judged) == list(STAGES)
    assert judged.count("\n###### END_STEP ######\n") == len(STAGES) == 8
    assert r"\boxed" not in traced
    physics = prompt(RAMP, "prism-physics")
    assert "$$SYMBOL = VALUE$$" in physics
    assert "single dollar signs" in physics
    assert r"\boxed" not in physics


def test_words_are_asked_for_only_where_an_answer_is_in_words() -> None:
    assert "WORDS" not in prompt("free_fall")
    assert "WORDS" in prompt(RAMP, part="b")
    assert "WORDS" not in prompt(RAMP, part="a")


def test_a_part_alone_is_told_with_those_before_it() -> None:
    first, second = prompt(RAMP, part="a"), prompt(RAMP, part="b")
    assert "Does it come to rest?" not in first
    assert "not asked here" not in first
    assert "The parts before it, which are not asked here:\n(a) Find its speed $v$.\n\n(b) Does it" in second
    assert second.count("Answer format") == 1
    with pytest.raises(prism.PrismError, match=r'no part "c"; the parts are a, b'):
        prompt(RAMP, part="c")
    with pytest.raises(prism.PrismError, match="the problem has no parts"):
        prompt({"answer": "5 m/s"}, part="a")


def test_a_problem_without_parts_has_no_letters() -> None:
    text = prompt({"answer": "5 m/s", "question": "How fast is it after $t = 2$ s?"})
    assert "How fast is it after $t = 2$ s?" in text
    assert "(a)" not in text
    assert "Begin each part" not in text
    shared = prompt({**RAMP, "subquestions": None, "final_answer_form": "algebraic"})
    assert "height $h$.\n\nGiven values:\n- $h$ = 0.50 m\n- $g$ = 9.81 m/s^2\n\nAnswer format: algebraic, in" in shared
    assert "5" not in text.replace("2", "")


def test_macros_of_the_problem_are_written_out() -> None:
    data = {
        "id": "f", "context": r"A force $\vc F$ acts.", "macros": {r"\vc": r"\vec{#1}"},
        "grading_standard": [{"index": 1, "formula": r"\vc F = 0", "dependency": [], "is_final_answer": True}],
    }  # fmt: skip
    assert r"\vc" not in prompt(data)
    assert r"\vec" in prompt(data)


def test_an_unknown_style_names_those_there_are() -> None:
    with pytest.raises(prism.PrismError, match=r'style: "engtrase" is unknown.*did you mean "engtrace"'):
        prompt(RAMP, "engtrase")
    with pytest.raises(prism.PrismError, match="style"):
        make_prompts([RAMP], "plain")


@pytest.mark.parametrize("form", ["id", "path", "prepared", "problem", "json"])
def test_a_problem_may_be_named_in_every_way(form: str) -> None:
    path = shipped_files()[0]
    loaded = prism.load_problem(path)
    given: Any = {
        "id": path.stem, "path": path, "prepared": prism.prepare(loaded), "problem": loaded,
        "json": '{"id": "x", "question": "Find $v$.", "answer": "v = 2"}',
    }[form]  # fmt: skip
    assert ("Find $v$." if form == "json" else loaded.statement.strip()) in prism.prompt(given)


# Images, messages and rows. --------------------------------------------------------------------------------------


@pytest.fixture
def pictured(tmp_path: Path) -> Problem:
    (tmp_path / "a.png").write_bytes(PNG)
    entries = [{"location": "a.png", "caption": "the ramp of height $h$"}, {"location": "a.png"}]
    return load_problem({**RAMP, "images": entries}, folder=tmp_path)


def test_messages_have_a_role_and_the_images_before_the_text(pictured: Problem) -> None:
    assert prompt_messages(RAMP) == [{"role": "user", "content": prompt(RAMP)}]
    (message,) = prism.prompt_messages(pictured, "engjudge")
    *images, text = message["content"]
    assert message["role"] == "user"
    assert text == {"type": "text", "text": prompt(pictured, "engjudge")}
    assert [image["type"] for image in images] == ["image_url"] * 2
    assert images[0]["image_url"]["url"].startswith("data:image/png;base64,")
    assert "\nFigure 1: the ramp of height $h$\nFigure 2\n" in text["text"]


def test_rows_name_paths_and_all_missing_images_are_told_at_once(pictured: Problem, tmp_path: Path) -> None:
    made = make_prompts([pictured])["ramp"]
    assert made.to_row() == {"problem_id": "ramp", "prompt": made.text, "images": [(tmp_path / "a.png").as_posix()] * 2}
    gone = [{"location": "b.png"}, {"location": "../a.png"}]
    problems = [load_problem({**RAMP, "id": name, "images": gone}, folder=tmp_path) for name in ("p", "q")]
    with pytest.raises(prism.PrismError) as raised:
        rows_of(make_prompts(problems).values(), lambda each: each.to_row())
    assert [line.partition('"')[0] for line in str(raised.value).splitlines()] == [
        "p: image ", "p: image ", "q: image ", "q: image ",
    ]  # fmt: skip
    assert "b.png" in str(raised.value)
    assert prompt(problems[0])  # the text alone needs no image
