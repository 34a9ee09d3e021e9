"""What commands take: solutions as files or texts, lists in two forms, references that can be graded with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.core import TyperCommand
from typer.testing import CliRunner

from prism.cli import app

run = CliRunner()

# Solutions. -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [r"$v_f = \sqrt{2gh}$", "v_f^2 = 2 g h", "By energy\nv_f^2 = 2gh", r"\(v_f^2 = 2gh\)"])
def test_a_solution_may_be_the_text_itself(text: str) -> None:
    graded = run.invoke(app, ["grade", "free_fall", text, "--json"])
    assert graded.exit_code == 0, graded.stderr
    assert 6 in json.loads(graded.stdout)["matched"]


@pytest.mark.parametrize("command", [
    ["grade", "free_fall"], ["explain", "free_fall"], ["draft"], ["verify-determinism", "free_fall"],
])  # fmt: skip
def test_an_empty_argument_and_a_wrong_name_of_a_file_are_told_as_such(command: list[str]) -> None:
    for empty in ("", "  "):
        told = run.invoke(app, [*command, empty])
        assert (told.exit_code, "the solution is empty" in told.stderr) == (3, True)
    told = run.invoke(app, [*command, "solution.txt"])
    assert (told.exit_code, "solution.txt: cannot be read: No such file or directory" in told.stderr) == (3, True)


@pytest.mark.parametrize("command", [["explain", "free_fall"], ["draft"]])
def test_other_commands_take_a_text_too(command: list[str]) -> None:
    done = run.invoke(app, [*command, r"So $v_f = \sqrt{2gh}$."])
    assert done.exit_code == 0, done.stderr


def test_a_file_whose_name_looks_like_a_text_is_read(tmp_path: Path) -> None:
    file = tmp_path / "t=3.md"
    file.write_text(r"$v_f = \sqrt{2gh}$", encoding="utf-8")
    assert 6 in json.loads(run.invoke(app, ["grade", "free_fall", str(file), "--json"]).stdout)["matched"]


# Lists. ---------------------------------------------------------------------------------------------------------

COMMA_BELONGS = {("draft", "answer")}  # LaTeX, in which a comma is part of a formula: repeated only


def _options(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield each option of each command, behind the words that call the command."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _options(command, (*path, name))
        else:
            yield from ((" ".join((*path, name)), each) for each in command.params if each.param_type_name == "option")


OPTIONS = list(_options(typer.main.get_command(app)))
LISTS = [(command, each) for command, each in OPTIONS if each.multiple and (command, each.name) not in COMMA_BELONGS]


def _value(option: Any, *texts: str) -> Any:
    """Return what a command with this option alone is given."""
    words = [word for text in texts for word in (option.opts[0], text)]
    return TyperCommand("one", params=[option]).make_context("one", words).params[option.name]


@pytest.mark.parametrize(("command", "option"), LISTS, ids=lambda each: getattr(each, "name", each))
def test_each_list_takes_commas_and_repetitions(command: str, option: Any) -> None:
    expected = [type(each)(word) for word, each in zip(("a=1", "b=2", "c=3"), _value(option, "x,y,z"), strict=True)]
    assert _value(option, "a=1,b=2,c=3") == expected
    assert _value(option, "a=1", "b=2", "c=3") == expected
    assert _value(option, "a=1, b=2", "c=3") == expected


def test_each_option_that_reads_as_a_list_is_one() -> None:
    signs = (",...", "comma", "repeatable", "=FIELD,", ",closure=")
    shown = [(command, each, f"{each.metavar} {each.help}") for command, each in OPTIONS]
    lists = {(command, each.name) for command, each, text in shown if any(sign in text for sign in signs)}
    assert lists == {(command, each.name) for command, each in LISTS} | COMMA_BELONGS
    assert len(LISTS) > 30


def test_fields_that_are_kept_one_by_one_are_all_kept(tmp_path: Path) -> None:
    rollouts, out = tmp_path / "r.jsonl", tmp_path / "o.jsonl"
    rollouts.write_text(json.dumps({"problem_id": "free_fall", "response": "", "model": "m", "kind": "k", "n": 1}))
    words = ["run", "free_fall", str(rollouts), "-o", str(out), "--workers", "0"]
    for more, kept in (
        (["--keep", "model", "--keep", "kind"], {"model": "m", "kind": "k"}),
        (["--keep", "model,kind", "--keep", "n"], {"model": "m", "kind": "k", "n": 1}),
        ([], {"model": "m"}),
        (["--keep", ""], {}),
    ):
        assert run.invoke(app, [*words, *more, "--force"]).exit_code == 0
        assert json.loads(out.read_text())["meta"] == kept


def test_a_file_with_a_comma_in_its_name_is_one(tmp_path: Path) -> None:
    file = tmp_path / "a,b.jsonl"
    file.touch()
    (judge,) = [each for command, each in LISTS if command == "report" and each.name == "judge"]
    assert _value(judge, str(file)) == [file]
    assert _value(judge, "a.jsonl,b.jsonl") == [Path("a.jsonl"), Path("b.jsonl")]


# References. ----------------------------------------------------------------------------------------------------

SLED = {
    "id": "sled",
    "context": r"A sled slides for $t = 0.5\,\mathrm{s}$ with the acceleration $a = 9.9\,\mathrm{m/s^2}$.",
    "grading_standard": [
        {"index": 1, "formula": "v = a t", "dependency": []},
        {"index": 2, "formula": r"v = 4,95\,\mathrm{m/s}", "dependency": [1], "is_final_answer": True},
    ],
    "students": [{"name": "s", "solution": "$v = at$", "matched": [1]}],
}  # fmt: skip
"""A point in the statement and a comma in a node: 4 and 95 there, and no student writes that."""


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """A folder with a reference that has a node nothing matches, a good one, a solution, and rollouts of both."""
    node = {"index": 1, "formula": "v = a t", "dependency": [], "is_final_answer": True}
    good = {**SLED, "id": "good", "grading_standard": [node], "students": []}
    (tmp_path / "set").mkdir()
    for name, problem in (("sled", SLED), ("good", good)):
        (tmp_path / "set" / f"{name}_file.json").write_text(json.dumps(problem), encoding="utf-8")
    (tmp_path / "s.md").write_text("$v = at$", encoding="utf-8")
    for names in ("sled", "good", "sled good"):
        rows = [json.dumps({"problem_id": name, "response": "$v = at$"}) for name in names.split()]
        (tmp_path / f"{names.replace(' ', '_')}.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


GRADING = {
    "grade": "{sled} {dir}/s.md", "explain": "{sled} {dir}/s.md", "demo": "{sled}",
    "feedback": "{set} {dir}/sled_good.jsonl -o {dir}/fb",
    "run": "{set} {dir}/sled_good.jsonl -o {dir}/o.jsonl --workers 0",
    "protocol psas": "{set} {dir}/sled_good.jsonl --workers 0",
    "protocol worded": "{set} {dir}/sled_good.jsonl --workers 0",
    "protocol errors": "{set} {dir}/sled_good.jsonl --workers 0",
    "protocol engjudge": "--rules {set} {dir}/sled_good.jsonl --workers 0 --stages none",
    "protocol compare": "--rules {set} {dir}/sled_good.jsonl --workers 0",
}  # fmt: skip


def _words(folder: Path, command: str, arguments: str) -> list[str]:
    known = {"sled": folder / "set" / "sled_file.json", "set": folder / "set", "dir": folder}
    return [*command.split(), *(word.format(**known) for word in arguments.split())]


@pytest.mark.parametrize("command", GRADING)
def test_a_node_that_nothing_matches_stops_whatever_grades(faulty: Path, command: str) -> None:
    stopped = run.invoke(app, _words(faulty, command, GRADING[command]))
    assert stopped.exit_code == 3
    assert "sled_file.json: node 2, formula: a copy of it does not match it" in stopped.stderr
    assert "--allow-faults" in stopped.stderr
    allowed = run.invoke(app, [*_words(faulty, command, GRADING[command]), "--allow-faults"])
    assert allowed.exit_code in (0, 5), allowed.stderr  # a judge's stages alone are no score
    assert "1 node that no solution can match: graded all the same" in allowed.stderr


def test_every_command_that_takes_problems_to_grade_by_has_the_option_to_go_on() -> None:
    have = {command for command, each in OPTIONS if each.name == "allow_faults"}
    assert have == {*GRADING, "protocol engtrace"}


def test_only_problems_that_rollouts_name_are_looked_at(faulty: Path) -> None:
    words = ["run", str(faulty / "set"), str(faulty / "good.jsonl"), "-o", str(faulty / "o.jsonl"), "--workers", "0"]
    assert run.invoke(app, words).exit_code == 0


def test_all_nodes_of_all_references_are_told(tmp_path: Path) -> None:
    nodes = [*SLED["grading_standard"], {"index": 3, "formula": "x = x", "dependency": [], "is_final_answer": True}]
    way = {"name": "other", "grading_standard": SLED["grading_standard"]}
    file = tmp_path / "p.json"
    file.write_text(json.dumps({**SLED, "students": [], "grading_standard": nodes, "alternatives": [way]}))
    told = run.invoke(app, ["grade", str(file), "$v = at$"])
    for place in ("node 2", "node 3", "alternative other, node 2"):
        assert f"p.json: {place}, formula: " in told.stderr
    assert "3 nodes that no solution can match" in told.stderr


@pytest.mark.slow
def test_workers_share_the_look_at_many_references(tmp_path: Path) -> None:
    names = [f"p{k}" for k in range(22)]
    rows = [json.dumps({"problem_id": name, "response": "$v = at$"}) for name in names]
    sets = [json.dumps({**SLED, "id": name}) for name in names]
    for name, lines in (("r.jsonl", rows), ("set.jsonl", sets)):
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    words = ["run", str(tmp_path / "set.jsonl"), str(tmp_path / "r.jsonl"), "-o", str(tmp_path / "o"), "--workers", "1"]
    stopped = run.invoke(app, words)
    assert stopped.exit_code == 3
    assert "22 nodes that no solution can match" in stopped.stderr
    assert all(f"set.jsonl:{k}: node 2" in stopped.stderr for k in range(1, 23))


def test_an_argument_that_is_no_solution_says_what_would_be_one(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"problem_id": "free_fall", "response": "$v = gt$"}\n')
    told = ((str(rows), "prism run"), ("The stone falls", "standard input"), ("a" * 5000, "No such file"))
    for argument, said in told:
        found = run.invoke(app, ["grade", "free_fall", argument])
        assert found.exit_code == 3, found.output
        assert said in " ".join(found.output.split()), found.output
