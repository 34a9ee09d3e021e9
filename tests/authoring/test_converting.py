"""Conversions: a problem stays what it is, a marking scheme becomes nodes with its points, all faults come at once."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prism import DataFileError, PrismError, lint, load_problem
from prism.authoring.conversions import ConvertedProblem, problem_files
from prism.authoring.converting import convert
from prism.cli import app

PUBLISHED = {
    "id": 1001,
    "context": r"A stone falls through $h$ with $g$; its speed is $v$, it's called \unit{m/s}.",
    "source": "a book",
    "images": [{"caption": "the stone", "location": "1.png"}],
    "subquestions": [
        {"letter": "a", "subproblem": "Find $v$.", "solution": "$$v = ...$$", "final_answer_form": "algebraic",
         "final_answer_instructions": "in terms of $g$ and $h$"},
        {"letter": "b", "subproblem": "Find $t$ for $h = 5.00$ m.", "final_answer_form": "numerical",
         "significant_figures": 3},
    ],
    "core_formulas": [
        {"index": 1, "formula": r"$$\frac{1}{2} m v^2 = m g h$$", "dependency": []},
        {"index": 2, "formula": r"$$v = \sqrt{2 g h} + 0$$", "dependency": [1], "is_final_answer": True},
        {"index": 3, "formula": r"$$t = v/g$$", "dependency": [1, 2]},
        {"index": 4, "formula": r"$$t = 1.01\unit{s}$$", "dependency": [3], "is_final_answer": True, "points": 0.5},
    ],
    "authors": ["someone"],
}  # fmt: skip

SCHEME = {
    "id": "spring",
    "problem": "A block of mass $m$ hangs on a spring of constant $k$. Find its period $T$.",
    "marking": [
        "Award 0.5 pt if the answer says that the motion is small. Otherwise, award 0 pt.",
        r"Award 1.0 pt if the answer gives $m a = -k x$, where $x = 0$ is the rest. Otherwise, award 0 pt.",
        r"2 points: $\omega^2 = \frac{k}{m}$ or $\omega = 2\pi f + 3 \omega_0$; partial points: 1 for $\omega = k m$.",
        r"Award 1.5 pts for the period $T = \frac{2\pi}{\omega} = 2\pi\sqrt{\frac{m}{k}}$ for $x > 0$.",
    ],
    "answer": [r"\boxed{$2\pi\sqrt{m/k}$}"],
    "unit": [None],
    "field": "Mechanics",
}


def written(folder: Path, name: str, data: object) -> Path:
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def one(path: Path) -> ConvertedProblem:
    """The only problem of a file, seen to load from its TOML as it is, without a fault of the nodes."""
    made = convert(path)
    assert not made.faults
    (found,) = made.problems
    assert tomllib.loads(found.toml()) == found.data
    assert not [finding for finding in lint(found.data) if finding.kind == "fault"]
    return found


def test_a_published_problem_keeps_what_it_says(tmp_path: Path) -> None:
    found = one(written(tmp_path, "p.json", PUBLISHED))
    before, after = load_problem(PUBLISHED), load_problem(found.data)
    for old, new in zip(before.nodes, after.nodes, strict=True):
        assert (new.formula.members, new.formula.relations) == (old.formula.members, old.formula.relations)
    assert [node.points for node in after.nodes] == [node.points for node in before.nodes]
    assert after.subquestions == before.subquestions
    assert (after.id, after.dag.finals, after.dag.ancestors) == ("1001", before.dag.finals, before.dag.ancestors)
    assert found.data["grading_standard"][0]["formula"] == r"\frac{1}{2} m v^2 = m g h"
    assert found.data["grading_standard"][2]["dependency"] == [2]
    assert found.data["metadata"]["authors"] == ["someone"]
    assert found.data["images"] == PUBLISHED["images"]
    assert "images are not copied; put beside the file: 1.png" in found.remarks
    assert [(image.location, image.caption) for image in after.images] == [("1.png", "the stone")]
    told = " ".join(found.remarks)
    assert all(word in told for word in ("images", "authors", "implied"))


@pytest.mark.parametrize("name", ["dags/free_fall.toml", "dags/compton.toml", "dags/scoring_figure.toml"])
def test_a_shipped_problem_is_converted_to_itself(name: str) -> None:
    path = Path(__file__).parents[2] / name
    before, after = load_problem(path), load_problem(one(path).data)
    assert after.nodes == before.nodes
    assert (after.dag, after.context, after.students) == (before.dag, before.context, before.students)


def test_a_marking_scheme_becomes_nodes_with_its_points(tmp_path: Path) -> None:
    found = one(written(tmp_path, "s.json", SCHEME))
    nodes = found.data["grading_standard"]
    assert [(node["formula"], node["points"]) for node in nodes] == [
        ("m a = -k x", 1),
        (r"\omega^{2} = \frac{k}{m}", 2),
        (r"T = 2 \pi \sqrt{\frac{m}{k}}", 1.5),
    ]
    assert nodes[1]["accept"] == [r"\omega = 2 \pi f + 3 \omega_0"]
    assert [node.get("is_final_answer", False) for node in nodes] == [False, False, True]
    assert found.lost == 0.5
    assert found.data["metadata"]["criteria_in_words"][0]["points"] == 0.5
    assert found.data["metadata"]["field"] == "Mechanics"
    assert "1 of 4 criteria have no formula" in " ".join(found.remarks)


def test_several_formulas_of_a_criterion_share_its_points(tmp_path: Path) -> None:
    words = r"Award 1 pt for $x = v t \cos\alpha$, $y = v t \sin\alpha$ and $z = w t + 2 u$. Otherwise, award 0 pt."
    found = one(written(tmp_path, "s.json", {"id": "s", "problem": "", "marking": [words]}))
    assert [node["points"] for node in found.data["grading_standard"]] == [0.333, 0.333, 0.334]


def test_a_plain_list_with_its_own_edges(tmp_path: Path) -> None:
    rows = 'formula,points,dependency\nF = m a,1,\n"v = a t, t > 0",2,\n$p = m v$,0.5,1;2\n'
    found = one(written(tmp_path, "list.csv", rows))
    nodes = found.data["grading_standard"]
    assert [node["points"] for node in nodes] == [1, 2, 0.5]
    assert [node["dependency"] for node in nodes] == [[], [], [1, 2]]
    assert found.data["id"] == "list"
    listed = [{"formula": "F = m a", "points": 1}, {"formula": "p = F t", "points": 2}]
    assert [n["points"] for n in one(written(tmp_path, "l.json", listed)).data["grading_standard"]] == [1, 2]


def test_ways_to_an_answer_are_told_and_kept(tmp_path: Path) -> None:
    ways = [["1 pt for $F = m a$"], ["1 pt for $E = m v^2/2$"]]
    found = one(written(tmp_path, "s.json", {"id": "s", "problem": "", "marking": ways}))
    assert [node["formula"] for node in found.data["grading_standard"]] == ["F = m a"]
    assert found.data["metadata"]["other_ways"] == [["1 pt for $E = m v^2/2$"]]


def test_all_faults_come_at_once_and_the_sound_problems_with_them(tmp_path: Path) -> None:
    bad_points = {"id": "two", "problem": "", "marking": [{"formula": "a = b c", "points": "many"}, {"points": -1}, 7]}
    words = {"id": "three", "problem": "", "marking": ["1 pt for an idea"]}
    cyclic = {**PUBLISHED, "id": "four", "core_formulas": [{"index": 1, "formula": "\\frac{", "dependency": [1]}]}
    ahead = {"id": "six", "marking": [{"formula": "a = b + c", "dependency": [2]}, {"formula": "d = a e"}]}
    rows: list[Any] = [SCHEME, bad_points, words, cyclic, {"id": "five"}, ahead]
    made = convert(written(tmp_path, "all.jsonl", "\n".join(json.dumps(row) for row in rows)))
    assert [each.data["id"] for each in made.problems] == ["spring"]
    told = "\n".join(map(str, made.faults))
    assert "line 2, two: marking, entry 1, points: 'many'" in told
    assert "line 2, two: marking, entry 2, formula: is missing" in told
    assert "line 2, two: marking, entry 2, points: -1" in told
    assert "line 2, two: marking, entry 3: '7'" in told
    assert "line 3, three: marking: no criterion has a formula" in told
    assert "line 4, four: node 1, formula" in told
    assert "line 4, four: node 1, dependency" in told
    assert "line 5, five: has neither nodes" in told
    assert "line 6, six: marking, entry 1, dependency: 2 is no earlier line" in told


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.json", "{"), ("a.json", "[]"), ("a.json", '{"id": NaN}'), ("a.jsonl", "[1]"), ("a.txt", ""), ("a.toml", "=")],
)
def test_a_file_that_holds_no_problem_is_refused(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(DataFileError):
        convert(written(tmp_path, name, text))


def test_a_formula_that_is_not_read_is_told_and_the_rest_converted(tmp_path: Path) -> None:
    text = "formula,points\nF = m a,2\n\\frac{a,3\nF = - k x + \\frac{1,1\n"
    source = written(tmp_path, "s.csv", text)
    made = convert(source)
    assert [each.data["grading_standard"][0]["formula"] for each in made.problems] == ["F = m a"]
    assert [fault[: fault.index("`")] for fault in map(str, made.faults)] == ["row 2, formula: ", "row 3, formula: "]
    assert "closing brace" in str(made.faults[0])
    done = CliRunner().invoke(app, ["convert", str(source), "-o", str(tmp_path / "s.toml")])
    assert (done.exit_code, done.stderr.count("does not parse"), (tmp_path / "s.toml").exists()) == (3, 2, True)


def test_the_place_of_an_unread_formula_is_that_of_its_criterion(tmp_path: Path) -> None:
    read, unread = "2 points: $F = m a$", r"1 pt: $\frac{a$ is stated"
    both = r"$p = m v$ and then $\frac{a$"
    for marking, place in (
        ([read, unread], "q: marking, entry 2: "),
        ([read, {"criterion": unread}], "q: marking, entry 2, criterion: "),
        ([[read, unread], [read]], "q: marking, way 1, entry 2: "),
        ([unread], "q: marking, entry 1: "),
    ):
        made = convert(written(tmp_path, "s.json", {"id": "q", "marking": marking}))
        (fault,) = map(str, made.faults)
        assert (fault[: fault.index("`")], len(made.problems)) == (place, int(marking != [unread]))
    (problem,) = convert(written(tmp_path, "s.json", {"id": "q", "marking": [both]})).problems
    assert not problem.faults  # the criterion is a node, and what is missing of it is a remark
    assert "does not parse" in problem.remarks[0]


@pytest.mark.parametrize(("criterion", "formula"), [
    ("the answer is well explained", None), ("energy is conserved", None), ("clear diagram", None),
    ("it follows that p = m v", "p = m v"), ("theta = omega t", r"\theta = \omega t"),
    ("m g h + k x^2", "m g h + k x^2"), (r"E_{total} = m c^2", "E_{total} = m c^{2}"),
    (r"v = \sqrt{2 g h} at the bottom", r"v = \sqrt{2 g h}"),
])  # fmt: skip
def test_words_of_a_criterion_are_no_formula(tmp_path: Path, criterion: str, formula: str | None) -> None:
    found = one(written(tmp_path, "s.csv", f"formula,points\nF = m a,2\n{criterion},1\n"))
    assert [node["formula"] for node in found.data["grading_standard"]][1:] == ([formula] if formula else [])


def test_files_are_named_by_their_problems(tmp_path: Path) -> None:
    rows = [{**SCHEME, "id": name} for name in ("a/b", "A b", "..._", "x" * 150)]
    made = convert(written(tmp_path, "all.json", rows))
    names = [path.name for path, _ in problem_files(made, tmp_path / "out")]
    assert names == ["a_b.toml", "A_b~2.toml", "problem.toml", f"{'x' * 100}.toml"]
    with pytest.raises(PrismError, match="do not go into one"):
        problem_files(made, tmp_path / "out.toml")
    (lines,) = problem_files(made, tmp_path / "out.jsonl")
    assert [json.loads(line)["id"] for line in lines[1].splitlines()] == ["a/b", "A b", "..._", "x" * 150]


@pytest.mark.slow
def test_on_the_command_line(tmp_path: Path) -> None:
    source = written(tmp_path, "s.json", SCHEME)
    out = tmp_path / "spring.toml"
    done = CliRunner().invoke(app, ["convert", str(source), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "1 of 4 criteria" in done.output
    assert len(load_problem(out).nodes) == 3
    broken = written(tmp_path, "b.json", {"id": "b"})
    assert CliRunner().invoke(app, ["convert", str(broken)]).exit_code == 3
    solution = written(tmp_path, "solution.md", r"$$m a = -k x$$ $$\omega = \sqrt{k/m}$$ $$T = 2\pi/\omega$$")
    for suffix in (".toml", ".json"):
        drafted = tmp_path / f"draft{suffix}"
        done = CliRunner().invoke(app, ["draft", str(solution), "-o", str(drafted)])
        assert done.exit_code == 0, done.output
        assert len(load_problem(drafted).nodes) == 3
    assert CliRunner().invoke(app, ["draft", str(source), "-o", "x.txt"]).exit_code in (2, 3)
    as_json = CliRunner().invoke(app, ["draft", str(solution), "--json"])
    assert {"problem", "nodes", "left_out", "remarks", "alternatives"} == json.loads(as_json.stdout).keys()


def test_the_solution_that_a_problem_brings_is_graded_by_it_and_below_1_is_told(tmp_path: Path) -> None:
    node = {"index": 1, "formula": "$$E = m c^2$$", "dependency": [], "is_final_answer": True}
    problem = {"id": "rest", "context": "A mass $m$ at rest has the energy $E$.", "grading_standard": [node]}
    parts = [{"letter": "a", "subproblem": "Find $E$.", "solution": "$$E = m c^2$$"}]
    good = one(written(tmp_path, "good.json", problem | {"subquestions": parts}))
    assert good.gold is not None
    assert (good.gold.score, good.remarks) == (1, ())
    bad = one(written(tmp_path, "bad.json", problem | {"subquestions": [parts[0] | {"solution": "$$E = m c$$"}]}))
    assert bad.remarks[-1] == "its own solution scores 0, without 1 node: E = m c^2"
    assert bad.data["metadata"]["remarks"] == list(bad.remarks)
    assert one(written(tmp_path, "none.json", problem)).gold is None
