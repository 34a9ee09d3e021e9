"""The problem file: what is refused and how, what is only a warning, and the problems that are shipped."""

from __future__ import annotations

import hashlib
import json
import pickle
import tomllib
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import prism
from prism.algebra.expr import canonical
from prism.errors import DataFileError
from prism.problem.dag import ancestor_closure, implied_edges, is_final_correct, score
from prism.problem.problem_file import AlternativeEntry, Expected, NodeEntry, PartEntry, ProblemFile, Student
from prism.problem.schema import Difficulty, Problem, Subquestion, in_alternative, load_problem
from prism.resources import resource

FAULTY = Path(__file__).parents[1] / "cases" / "problems"
FAULTS: dict[str, list[str]] = {
    row["file"]: row["faults"] for row in tomllib.loads((FAULTY / "faults.toml").read_text(encoding="utf-8"))["case"]
}
SHIPPED = sorted(resource("dags").glob("*.toml"))
LABELLED = [
    (path, student["name"]) for path in SHIPPED for student in tomllib.loads(path.read_text("utf-8"))["students"]
]


def minimal(**changes: Any) -> dict[str, Any]:
    """The smallest problem with two nodes, as fresh data."""
    problem: dict[str, Any] = {
        "id": "p",
        "context": "A mass $m$ with the speed $v$.",
        "grading_standard": [
            {"index": 1, "formula": "$$p = m v$$", "dependency": []},
            {"index": 2, "formula": r"$$E = \frac{p^2}{2 m}$$", "dependency": [1], "is_final_answer": True},
        ],
    }
    return problem | changes


def with_nodes(*changes: dict[str, Any]) -> dict[str, Any]:
    problem = minimal()
    problem["grading_standard"] = [
        node | change for node, change in zip(problem["grading_standard"], changes, strict=True)
    ]
    return problem


def faults_of(source: Any) -> tuple[str, ...]:
    with pytest.raises(DataFileError) as caught:
        load_problem(source)
    return caught.value.faults


# What is read -------------------------------------------------------------------------------------------------


def test_the_smallest_problem() -> None:
    problem = load_problem(minimal())
    assert (problem.id, problem.statement) == ("p", "A mass $m$ with the speed $v$.")
    assert (problem.title, problem.domain, problem.kind, problem.origin) == ("", "", "", "")
    assert problem.difficulty == Difficulty(None, None, 1, 0.0)
    assert problem.subquestions == (Subquestion(""),)
    assert [node.index for node in problem.nodes] == list(problem.dag.indices) == [1, 2]
    assert [node.formula.kind for node in problem.nodes] == ["equation", "equation"]
    assert problem.dag.finals == {2}
    assert problem.context.declared == {"m", "v"}
    assert problem.students == ()
    assert problem.warnings == ()


def test_an_id_that_is_a_number_becomes_text() -> None:
    assert load_problem(minimal(id=1001)).id == "1001"


@pytest.mark.parametrize("key", ["grading_standard", "dag", "grading", "core_formulas"])
def test_the_list_of_nodes_has_four_names(key: str) -> None:
    data = minimal()
    data[key] = data.pop("grading_standard")
    assert len(load_problem(data).nodes) == 2


def test_entries_may_stand_in_any_order() -> None:
    data = minimal()
    data["grading_standard"].reverse()
    assert [node.index for node in load_problem(data).nodes] == [1, 2]


@pytest.mark.parametrize(("points", "exact"), [(2, Fraction(2)), (0.1, Fraction(1, 10)), (0, Fraction(0))])
def test_points_are_read_as_written(points: float, exact: Fraction) -> None:
    problem = load_problem(with_nodes({"points": points}, {}))
    assert problem.nodes[0].points == problem.dag.nodes[0].points == exact


def test_null_is_the_same_as_absent() -> None:
    empty = dict.fromkeys(
        ("subquestions", "students", "difficulty", "givens", "symbols", "definitions", "title", "dag")
    )
    nodes = {"accept": None, "points": None, "subquestion": None, "is_final_answer": None}
    assert load_problem(with_nodes(nodes, {}) | empty).nodes == load_problem(minimal()).nodes


def test_accepted_formulas_are_read() -> None:
    problem = load_problem(with_nodes({"accept": ["v = p/m", "$m = p/v$"]}, {}))
    assert [formula.kind for formula in problem.nodes[0].accept] == ["equation", "equation"]


def test_finals_belong_to_subquestions_in_order() -> None:
    parts = [{"letter": "a", "subproblem": "Find $p$."}, {"letter": "b", "subproblem": "Find $E$."}]
    data = with_nodes({"is_final_answer": True}, {}) | {"subquestions": parts}
    assert [node.subquestion for node in load_problem(data).nodes] == ["a", "b"]
    named = with_nodes({"is_final_answer": True, "subquestion": "b"}, {"subquestion": "a"}) | {"subquestions": parts}
    assert [node.subquestion for node in load_problem(named).nodes] == ["b", "a"]
    fewer = minimal(subquestions=parts)
    assert [node.subquestion for node in load_problem(fewer).nodes] == ["", ""]


def test_answer_keys_of_the_problem_hold_for_its_parts() -> None:
    own = {"letter": "b", "final_answer_form": "algebraic", "significant_figures": 2}
    data = minimal(
        subquestions=[{"letter": "a"}, own],
        final_answer_form="numerical",
        final_answer_instructions="in J",
        significant_figures=3,
    )
    assert load_problem(data).subquestions == (
        Subquestion("a", "", "numerical", "in J", 3),
        Subquestion("b", "", "algebraic", "in J", 2),
    )


def test_statement_parts_givens_and_symbols_declare() -> None:
    data = minimal(
        subquestions=[{"letter": "a", "subproblem": "Find $E$.", "final_answer_instructions": "in terms of $q$"}],
        givens={"k": "2 kg"},
        symbols={r"\theta": "angle"},
        definitions=["w = 2 u"],
    )
    assert load_problem(data).context.declared == {"m", "v", "E", "q", "k", r"\theta", "w", "u"}


def test_difficulty_and_metadata() -> None:
    problem = load_problem(minimal(difficulty={"C1": 1, "C2": 3}, metadata={"anything": [1, 2]}, images=[], source=""))
    assert problem.difficulty == Difficulty(1, 3, 1, 0.0)
    assert problem.warnings == ()


@pytest.mark.parametrize(("marks", "total", "level"), [
    ((1, 1, 1), 3, "Easy"), ((1, 2, 1), 4, "Easy"), ((2, 2, 1), 5, "Medium"), ((1, 2, 3), 6, "Medium"),
    ((3, 1, 3), 7, "Hard"), ((3, 3, 3), 9, "Hard"), ((None, None, 2), None, None),
])  # fmt: skip
def test_levels_of_difficulty(marks: tuple[int | None, int | None, int], total: int | None, level: str | None) -> None:
    difficulty = Difficulty(*marks, 0.0)
    assert (difficulty.total, difficulty.level) == (total, level)
    assert difficulty.to_dict() == dict(zip(("C1", "C2", "C3"), marks, strict=True)) | {
        "total": total, "level": level, "entropy": 0.0,
    }  # fmt: skip


@pytest.mark.slow
def test_difficulty_of_the_shipped_problems() -> None:
    found = {path.stem: load_problem(path).difficulty for path in SHIPPED}
    by_hand = {"free_fall": (3, "Easy"), "bucket": (5, "Medium"), "scoring_figure": (5, "Medium")}
    assert {name: (found[name].total, found[name].level) for name in by_hand} == by_hand


def test_file_string_and_dictionary_are_the_same_problem(tmp_path: Path) -> None:
    text = json.dumps(minimal())
    file = tmp_path / "p.json"
    file.write_text(text, encoding="utf-8")
    marked = tmp_path / "marked.JSON"
    marked.write_bytes(b"\xef\xbb\xbf" + text.encode())
    from_file, from_text, from_dict = load_problem(file), load_problem(text), load_problem(minimal())
    assert from_file == from_text == load_problem(str(file))
    assert from_file.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert from_dict.sha256 == load_problem(dict(reversed(minimal().items()))).sha256
    assert from_dict.nodes == from_file.nodes == load_problem(marked).nodes
    assert from_dict.context.digest == from_file.context.digest


def test_a_problem_survives_a_pickle() -> None:
    problem = load_problem(minimal())
    assert pickle.loads(pickle.dumps(problem)) == problem


# What is only a warning ---------------------------------------------------------------------------------------


def test_unknown_keys_are_warnings() -> None:
    data = with_nodes({"dependancy": [], "zzz": 1}, {}) | {"contxt": ""}
    data["subquestions"] = [{"letter": "a", "hint": ""}]
    data["students"] = [
        {"name": "s", "solution": "", "note": "", "expected": {
            "matched": [], "credited": [], "score": 0, "final_correct": False, "sure": True}}
    ]  # fmt: skip
    assert load_problem(data).warnings == (
        "contxt: unknown key, ignored; did you mean context?",
        "node 1, dependancy: unknown key, ignored; did you mean dependency?",
        "node 1, zzz: unknown key, ignored",
        "subquestion a, hint: unknown key, ignored",
        "student s, expected, sure: unknown key, ignored; did you mean score?",
        "student s, note: unknown key, ignored",
    )


def test_an_implied_edge_is_a_warning() -> None:
    data = minimal()
    data["grading_standard"] = [
        {"index": 1, "formula": "a = b", "dependency": []},
        {"index": 2, "formula": "b = c", "dependency": [1]},
        {"index": 3, "formula": "c = d", "dependency": [1, 2], "is_final_answer": True},
    ]
    problem = load_problem(data)
    assert problem.warnings == ("node 3, dependency: 1 is implied by the others; list direct causes only",)
    assert ancestor_closure(problem.dag, {3}) == {1, 2, 3}


def test_a_formula_of_the_statement_that_does_not_parse_is_a_warning() -> None:
    problem = load_problem(minimal(context=r"A mass $m$ and $\frac{a$ and $v$."))
    (warning,) = problem.warnings
    assert warning.startswith(r"context: `\frac{a` does not parse: ")
    assert warning.endswith("; its symbols stay undeclared")
    assert problem.context.declared == {"m", "v"}


def test_a_list_of_symbols_declares_each() -> None:
    problem = load_problem(minimal(context=r"Volumes $V_i, V_f$ and times $t_1 = 2, t_2 = 3$."))
    assert problem.context.declared == {"V_i", "V_f", "t_1", "t_2"}
    assert not problem.warnings


def test_a_superscript_on_a_word_is_no_fault_and_declares_nothing() -> None:
    problem = load_problem(minimal(context=r"A mass $m$ of $^{12}$C in cm$^{-3}$ with the speed $v$."))
    assert problem.context.declared == {"m", "v"}
    assert problem.warnings == ()


def test_an_unknown_answer_form_is_a_warning() -> None:
    (warning,) = load_problem(minimal(final_answer_form="number")).warnings
    assert warning == "final_answer_form: number is none of algebraic, numerical, text-based"


# What is refused ----------------------------------------------------------------------------------------------


def test_every_faulty_file_is_listed() -> None:
    files = {path.name for path in FAULTY.iterdir()} - {"faults.toml", "README.md"}
    assert files == set(FAULTS)


@pytest.mark.parametrize("name", FAULTS)
def test_all_faults_of_a_file_come_at_once(name: str) -> None:
    with pytest.raises(DataFileError) as caught:
        load_problem(FAULTY / name)
    error = caught.value
    assert error.file == str(FAULTY / name)
    assert len(error.faults) == len(FAULTS[name]), "\n".join(error.faults)
    for told, expected in zip(error.faults, FAULTS[name], strict=True):
        assert expected in told
        assert "\n" not in told
    assert pickle.loads(pickle.dumps(error)).faults == error.faults


def test_six_faults_are_six() -> None:
    assert len(faults_of(FAULTY / "six_faults.toml")) == 6


@pytest.mark.parametrize(("place", "text", "told"), [
    ("formula", "E = \x0crac{1}{2} m v^2", "node 1, formula: holds the character \\x0c"),
    ("formula", "x = 2\tau", "node 1, formula: holds the character \\t"),
    ("formula", "E = h\nu", "node 1, formula: holds the character \\n"),
    ("accept", "x = \rho", "node 1, accept, entry 1: holds the character \\r"),
    ("context", "The charge $\x08eta$.", "context: holds the character \\x08"),
    ("subproblem", "Find $\tau$.", "subquestion a, subproblem: holds the character \\t"),
    ("definitions", "\tau = R C", "definitions, entry 1: holds the character \\t"),
])  # fmt: skip
def test_a_backslash_that_double_quotes_have_eaten_is_a_fault(place: str, text: str, told: str) -> None:
    node: dict[str, Any] = {"index": 1, "formula": "x = y", "dependency": [], "is_final_answer": True}
    data: dict[str, Any] = {"id": "p", "context": "", "subquestions": [{"letter": "a", "subproblem": ""}]}
    target = {"formula": node, "accept": node, "subproblem": data["subquestions"][0]}.get(place, data)
    target[place] = [text] if place in ("accept", "definitions") else text
    (fault,) = faults_of({**data, "grading_standard": [node]})
    assert fault.startswith(told)
    assert "write it between single quotes" in fault


def test_blanks_and_ends_of_lines_are_no_eaten_backslash() -> None:
    node = {"index": 1, "formula": "x =\n\t y", "dependency": [], "is_final_answer": True}
    load_problem({"id": "p", "context": "\tA body\r\nis\tat rest.\nuntil", "grading_standard": [node]})


def test_a_misspelt_required_key_is_one_fault_and_named() -> None:
    nodes = [
        {"index": 1, "formula": "F = m a", "dependency": []},
        {"index": 2, "formula": "p = F t", "dependancy": [1], "is_final_answer": True},
    ]
    told = faults_of({"id": "p", "context": "", "grading_standard": nodes})
    assert list(told) == ["node 2, dependency: is missing; is `dependancy` meant for it?"]
    assert "id: is missing; is `idd` meant for it?" in faults_of({"idd": "p", "context": "", "grading_standard": []})


def test_a_node_leads_nowhere_unless_a_later_edge_may_have_meant_it() -> None:
    nodes = [
        {"index": 1, "formula": "F = m a", "dependency": []},
        {"index": 2, "formula": "p = F t", "dependency": [7], "is_final_answer": True},
    ]
    told = faults_of({"id": "p", "context": "", "grading_standard": nodes})
    assert list(told) == ["node 2, dependency: 7 is not a node; nodes are 1..2"]


def test_sources_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bytes.json").write_bytes(b'{"id": "\xff"}')
    (tmp_path / "deep.json").write_text('{"a": ' + "[" * 200_000, encoding="utf-8")
    (tmp_path / "bare").write_text("{}", encoding="utf-8")
    assert faults_of(tmp_path / "missing.toml")[0].startswith("cannot be read: No such file or directory; give a")
    assert faults_of("no such file.toml")[0].startswith("cannot be read: ")
    assert faults_of("a\0b.json")[0].startswith("cannot be read: ")
    assert faults_of(tmp_path)[0].startswith("cannot be read: ")
    assert faults_of(tmp_path / "bytes.json") == ("is not UTF-8: byte 8 cannot be read",)
    assert faults_of(tmp_path / "deep.json") == ("is not JSON: nested too deeply",)
    assert faults_of(tmp_path / "bare")[0].startswith("is named without an ending")
    assert faults_of("[1]") == ("holds no table: a problem is one { ... } with the keys of dags/README.md",)
    assert faults_of('{"id": 1' + "0" * 5000 + "}") == (
        "is not JSON: a whole number of 5001 digits; at most 300 are read",
    )
    assert faults_of(minimal(metadata={1, 2}))[0].startswith("holds what JSON cannot hold: ")


@pytest.mark.slow
def test_a_shipped_problem_is_reached_by_its_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    by_path = load_problem(resource("dags/free_fall.toml"))
    assert load_problem("free_fall") == by_path
    assert prism.grade("free_fall", "$v = g t$") == prism.grade(by_path, "$v = g t$")
    assert prism.diagnose("free_fall", prism.grade("free_fall", "$v = g$")).problem_id == "free_fall"
    assert prism.lint("free_fall") == prism.lint(by_path)
    (tmp_path / "free_fall").write_text("{}", encoding="utf-8")
    assert faults_of("free_fall")[0].startswith("is named without an ending")  # a file goes before an id
    assert faults_of("fre_fall")[0].endswith("; did you mean free_fall?")
    assert faults_of("dags/free_fall.toml")[0].endswith("; did you mean free_fall?")


def test_names_of_the_source_in_messages() -> None:
    with pytest.raises(DataFileError, match=r"^<dict>: id: is missing"):
        load_problem({"context": "", "dag": []})
    with pytest.raises(DataFileError, match=r"^<string>: id: is missing"):
        load_problem('{"context": "", "dag": []}')


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("../fall", '"../fall" leads out of a folder; an id has no part `..` and begins with no slash'),
        ("a\\..\\b", '"a\\\\..\\\\b" leads out of a folder; an id has no part `..` and begins with no slash'),
        ("/etc/fall", '"/etc/fall" leads out of a folder; an id has no part `..` and begins with no slash'),
        ("..", '".." leads out of a folder; an id has no part `..` and begins with no slash'),
        ("a\nb", "holds the character U+000A, which nobody sees; an id has letters, digits, signs and blanks"),
        ("a\x00", "holds the character U+0000, which nobody sees; an id has letters, digits, signs and blanks"),
        ("a\u202eb", "holds the character U+202E, which nobody sees; an id has letters, digits, signs and blanks"),
        ("x" * 10_000, "has 10000 characters; an id has at most 200"),
    ],
)
def test_an_id_is_a_short_visible_text_that_stays_in_its_folder(name: str, fault: str) -> None:
    """One rule for all by which others name something: the id, letters of parts, names of students."""
    assert faults_of(minimal(id=name)) == (f"id: {fault}",)
    assert [each.text for each in prism.lint(minimal(id=name))] == [fault]
    assert faults_of(minimal(subquestions=[{"letter": name}])) == (f"subquestions, entry 1, letter: {fault}",)
    assert faults_of(minimal(students=[{"name": name, "solution": ""}])) == (f"students, entry 1, name: {fault}",)


@pytest.mark.parametrize("name", ["a/b 1..2", "phys (2) – Übung 3", "v1...2", "it's 5.1", "x" * 200])
def test_an_id_may_have_blanks_signs_and_folders(name: str) -> None:
    assert load_problem(minimal(id=name, subquestions=[{"letter": name}])).id == name


def test_an_empty_id_and_wrong_flags_are_refused() -> None:
    assert faults_of(minimal(id="")) == ("id: is empty",)
    assert faults_of(minimal(id=True)) == ("id: true is no text",)
    assert faults_of(with_nodes({"points": True}, {})) == ("node 1, points: true is no finite number >= 0",)
    assert faults_of(minimal(difficulty="hard")) == ('difficulty: "hard" is no table of C1 and C2, each 1, 2 or 3',)
    assert faults_of(with_nodes({"index": 1.5}, {"index": 1, "dependency": []})) == (
        "grading_standard, entry 1, index: 1.5 is no whole number; indices count from 1",
    )
    assert faults_of(minimal(students={})) == ("students: {} is no list",)
    assert faults_of(with_nodes({"subquestion": "a"}, {})) == (
        "node 1, subquestion: a is unknown; there are no subquestions",
    )
    assert faults_of(minimal(subquestions=[{"letter": "a"}, {"letter": "a"}])) == (
        "subquestion a, letter: stands twice",
    )


# What is shipped ----------------------------------------------------------------------------------------------


@pytest.fixture(params=SHIPPED, ids=lambda path: path.stem)
def shipped(request: pytest.FixtureRequest) -> Problem:
    return load_problem(request.param)


def student_of(path: Path, name: str) -> tuple[Problem, Student]:
    problem = load_problem(path)
    return problem, next(student for student in problem.students if student.name == name)


def test_shipped_problems_are_clean(shipped: Problem) -> None:
    assert shipped.warnings == ()
    assert implied_edges(shipped.dag) == ()
    spelled = [tuple(sorted(canonical(member) for member in node.formula.members)) for node in shipped.nodes]
    assert len(set(spelled)) == len(spelled)


def test_shipped_problems_have_students_of_every_sort(shipped: Problem) -> None:
    assert len(shipped.students) >= 2
    labels = [student.expected for student in shipped.students]
    assert all(label is not None for label in labels)
    assert any(label.final_correct for label in labels if label)
    assert any(not label.final_correct for label in labels if label)


@pytest.mark.parametrize(("path", "name"), LABELLED, ids=[f"{path.stem}:{name}" for path, name in LABELLED])
def test_labels_follow_from_matched(path: Path, name: str) -> None:
    problem, student = student_of(path, name)
    assert student.expected is not None
    assert student.why
    dag = in_alternative(problem, student.expected.alternative).dag
    closure = ancestor_closure(dag, student.expected.matched)
    assert sorted(closure) == list(student.expected.credited)
    assert abs(score(dag, closure) - Fraction(student.expected.score)) < 1e-6
    assert student.expected.final_correct == is_final_correct(dag, student.expected.matched)


def test_the_scoring_figure_is_the_papers() -> None:
    problem, student = student_of(resource("dags/scoring_figure.toml"), "figure")
    assert [node.points for node in problem.nodes] == [20, 20, 20, 30, 10]
    assert {node.index: node.prerequisites for node in problem.dag.nodes if node.prerequisites} == {3: (1, 2), 5: (4,)}
    assert problem.dag.finals == {3, 5}
    assert student.expected is not None
    assert student.expected.matched == (1, 3, 4)
    assert student.expected.credited == (1, 2, 3, 4)
    assert score(problem.dag, student.expected.credited) == Fraction(90, 100)


def test_the_readme_of_the_problem_files_is_true() -> None:
    """Its example loads, its score is right, and every key that is read stands in it."""
    text = resource("dags/README.md").read_text(encoding="utf-8")
    example = text.split("```toml\n")[1].split("```")[0]
    problem = load_problem(tomllib.loads(example))
    assert [finding for finding in prism.lint(problem) if finding.kind != "note"] == []
    assert score(problem.dag, ancestor_closure(problem.dag, {2})) == Fraction(1, 2)
    shapes = (ProblemFile, NodeEntry, PartEntry, AlternativeEntry, Student, Expected)
    keys = {each.name for shape in shapes for each in fields(shape)}
    assert not [key for key in sorted(keys) if f"`{key}`" not in text]
