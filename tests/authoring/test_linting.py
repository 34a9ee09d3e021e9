"""What lint says of a problem, held against what a grade does: rows stand in `tests/cases/lint/`."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import prism
from prism.authoring.lint_details import DerivedNumber, check_names, derive_numbers
from prism.authoring.lint_findings import CODES, LintFinding, find_line, plain_lines
from prism.authoring.linting import lint
from prism.equivalence.facts import numeric_of
from prism.problem.answers.numbers import derive_expected_numbers
from prism.problem.answers.worded import is_text
from prism.problem.dag import policies_with
from prism.problem.given_nodes import find_given_nodes
from prism.problem.schema import Problem, load_problem
from prism.resources import resource
from tests.test_cases import LintRow, cases, problem_of

LOADING = [
    pytest.param(row, id=name)
    for name, row in cases("lint", LintRow)
    if not any(code == "file" for _, code in row.faults)
]
SHIPPED = sorted(resource("dags").glob("*.toml"))

# What lint warns of in shipped problems, each looked at by a person: (file, entry, code).
KNOWN = [
    ("radial_field.toml", "node 3", "equal"),  # the gradients of r and of 1/r: the chain rule is no step to the engine
]


def nodes(*formulas: str, **keys: Any) -> dict[str, Any]:
    """A problem of these formulas, each resting on the one before it."""
    standard = [
        {"index": k, "formula": latex, "dependency": [k - 1] if k > 1 else [], "is_final_answer": k == len(formulas)}
        for k, latex in enumerate(formulas, start=1)
    ]
    return {"id": "p", "context": "", "grading_standard": standard, **keys}


# Lint and grade agree ---------------------------------------------------------------------------------------------


def copied(problem: Problem, index: int | None = None) -> str:
    """A solution that copies the reference, or one node of it."""
    texts = [node.latex for node in problem.nodes if index in (None, node.index)]
    return "\n\n".join(f"Answer: {text}" if is_text(text) else f"We write $${text}$$" for text in texts)


@pytest.mark.parametrize("row", LOADING)
def test_a_copy_of_the_reference_earns_all_but_what_lint_calls_unmatched(row: LintRow) -> None:
    """So no student loses points by an author's error that lint lets pass."""
    problem = load_problem(problem_of(row))
    named = {where for where, code in row.faults if code == "unmatched"}
    unmatched = {index for index in problem.dag.indices if f"node {index}, formula" in named}
    grade = prism.grade(problem, copied(problem))
    assert set(grade.matched) >= set(problem.dag.indices) - unmatched
    assert grade.final_correct == problem.dag.finals.isdisjoint(unmatched)
    assert not any(index in prism.grade(problem, copied(problem, index)).matched for index in unmatched)


@pytest.mark.parametrize("row", LOADING)
def test_a_number_that_lint_lets_pass_is_matched_by_what_its_parents_give(row: LintRow) -> None:
    problem = load_problem(problem_of(row))
    asking = derive_expected_numbers(problem)
    suspect = {where.partition(",")[0] for where, code in (*row.warnings, *row.faults) if code != "equal"}
    for node in problem.nodes:
        number = numeric_of(node.formula)
        found = derive_numbers(node, problem, asking)
        if number is None or number.number.is_exact or not found or f"node {node.index}" in suspect:
            continue
        value = float((found[0].value or Fraction(0)) - number.number.value) / float(number.number.value)
        assert abs(value) < 0.05
        unit = node.latex[node.latex.index(r"\unit") :]
        stated = f"${node.latex.partition('=')[0]} = {float(found[0].value or 0):.5g}{unit}$"
        assert node.index in prism.grade(problem, stated).matched, stated


@pytest.mark.parametrize("row", LOADING)
def test_who_copies_the_text_earns_nothing_under_the_policy_for_training(row: LintRow) -> None:
    problem = load_problem(problem_of(row))
    given = {found.index for found in find_given_nodes(problem)}
    text = "\n\n".join((problem.statement, *(part.text for part in problem.subquestions)))
    matched = set(prism.grade(problem, text).matched) - {node.index for node in problem.nodes if node.is_text}
    assert matched <= given
    assert policies_with(given)["training"](problem.dag, matched) == frozenset()


def test_every_code_has_a_row() -> None:
    said = {code for _, row in cases("lint", LintRow) for _, code in (*row.faults, *row.warnings, *(row.notes or []))}
    assert said == set(CODES) - {"too_large"}  # its rows would take seconds; see `test_limits.py`


def test_a_code_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a code"):
        LintFinding("fault", "wrong", "", "", "")


@pytest.mark.slow
@pytest.mark.compiled  # the integrals of some of them take minutes as plain Python
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_problems_are_clean_but_for_what_is_known(path: Path) -> None:
    found = [(path.name, finding.entry, finding.code) for finding in lint(path) if finding.kind != "note"]
    assert found == [known for known in KNOWN if known[0] == path.name]


def test_names_in_an_index_may_be_slips() -> None:
    """One letter too few, too many, wrong, two swapped, or another case; never the letter before the index."""
    text = "Speeds $v_{empty}$, $v_t$, $R_L$ and $q_{in}$; $E$ is an energy of $m$."
    for name, near in (
        ("v_{emty}", "v_{empty}"), ("v_{emptyy}", "v_{empty}"), ("v_{enpty}", "v_{empty}"), ("v_{emtpy}", "v_{empty}"),
        ("R_l", "R_L"), ("V_t", ""), ("u_{empty}", ""), ("q_{out}", ""), ("v_0", ""),
    ):  # fmt: skip
        problem = load_problem(nodes(f"E = m {name} v_t R_L", context=text))
        (lonely,) = check_names(problem)
        assert lonely.text.startswith(f"`{name}` stands in no other node")
        assert lonely.text.endswith(f"is it `{near}`?" if near else "may call it otherwise")


# What it takes and gives ------------------------------------------------------------------------------------------


def test_lint_takes_what_load_takes() -> None:
    path = resource("dags/free_fall.toml")
    assert lint(path) == lint(load_problem(path)) == lint(str(path))
    assert lint(nodes("p = m v")) == lint(json.dumps(nodes("p = m v")))


def test_faults_of_the_load_are_findings() -> None:
    (finding,) = lint(nodes("p = m v") | {"id": ""})
    said = {"kind": "fault", "code": "file", "entry": "", "field": "id", "text": "is empty", "line": None}
    assert finding.to_dict() == said
    (missing,) = lint("no-such-file.toml")
    assert (missing.kind, missing.code) == ("fault", "file")


PROBLEM = r"""# index = 2, in a comment
id = "p"
titel = 'Hooke'
context = '''
id = 1
[[grading_standard]]
index = 2
'''

[symbols]
'\omega' = "reel"

[[subquestions]]
subproblem = "x"
letter = "a"

[[grading_standard]]  # the law
formula = 'F = m a'
index = 1

[[grading_standard]]
index = 12
formula = "'index = 2"
accept = [
    'a = F / m',
]

[[students]]
name = "one"
solution = '''
index = 2
expected = 1
'''
expected = { matched = [], score = 1 }
"""
JSON = '{"grading_standard": [\n  {"index": 1},\n  {"formula": "x", "index": 2}\n], "id": ""}'


@pytest.mark.parametrize(("entry", "field", "text", "line"), [
    ("node 1", "formula", PROBLEM, 18), ("node 1", "points", PROBLEM, 19), ("node 12", "", PROBLEM, 22),
    ("node 12", "accept, entry 1", PROBLEM, 24), ("node 12, accept", "entry 1", PROBLEM, 24),
    ("node 2", "formula", PROBLEM, None), ("grading_standard, entry 2", "index", PROBLEM, 22),
    ("subquestion a", "subproblem", PROBLEM, 14), ("symbols", r"\omega", PROBLEM, 11), ("", "titel", PROBLEM, 3),
    ("", "id", PROBLEM, 2), ("student one, expected", "score", PROBLEM, 34), ("", "", PROBLEM, None),
    ("student two", "solution", PROBLEM, None), ("node 2", "formula", JSON, 3), ("", "id", JSON, 4),
    ("", "is not TOML", PROBLEM, 7),
])  # fmt: skip
def test_a_finding_is_found_in_its_file(entry: str, field: str, text: str, line: int | None) -> None:
    assert find_line(plain_lines(text), entry, field, "it stands twice (at line 7, column 4)") == line


@pytest.mark.parametrize(("entry", "field", "line"), [
    ("", "\t", "\t"), ("", " " * 60, " "), ("student  ", "name", "name = "), ("student a", "name", "name = "),
    ("symbols", "x", "x"), ("", "," * 60, ","), ("student a", "name", "name = 'a' "), ("", "x" * 10**6, "x"),
])  # fmt: skip
def test_looking_for_a_line_takes_a_time_that_grows_as_the_file_does(entry: str, field: str, line: str) -> None:
    """Within a line of a million blanks a search that begins anew at each of them would take hours."""
    for end in ("", "x", "\n"):
        assert find_line(plain_lines(line * 4 + line[-1] * 1_000_000 + end), entry, field, "") in (None, 1)


def test_keys_with_blanks_and_without_are_found() -> None:
    for key, line in (("a b", "'a b' = 1"), ("a b", '{"a b" : 1}'), ("ab", "ab = 1"), ("ab", "{c = 1, 'ab' = 2}")):
        assert find_line(["id = 1", line], "", key, "") == 2
        assert find_line(["id = 1", line.replace("b", "bb")], "", key, "") is None


def test_lint_says_the_lines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(PROBLEM, encoding="utf-8")
    found = {(each.entry, each.field): each.line for each in lint(path)}
    assert (found["symbols", r"\omega"], found["node 12", "formula"]) == (11, 23)
    assert {each.line for each in lint(json.dumps(nodes("p = m v") | {"id": ""}))} == {None}


def test_a_finding_reads_as_a_line() -> None:
    assert str(LintFinding("fault", "same", "node 3", "formula", "is wrong")) == "node 3, formula: is wrong"
    assert str(LintFinding("fault", "file", "", "", "is wrong")) == "is wrong"


def test_findings_say_what_is_wrong_and_what_to_do() -> None:
    (finding,) = lint(nodes("v = g t", "g t = v", "s = v t"))
    assert str(finding) == (
        "node 2, formula: nodes 1 and 2 are one formula; whoever writes one is credited with all: keep one"
    )
    wrong = nodes("v = g t", "v = 30.0\\unit{m/s}", givens={"g": "9.81 m/s^2", "t": "2.00 s"})
    (number,) = [each for each in lint(wrong) if each.code == "number"]
    assert number.text.startswith("v = 30 is stated, but node 1 makes it 19.62 with unrounded numbers")


def test_formulas_that_the_reader_would_run_together_are_told_apart() -> None:
    """A copy puts words between two formulas: the first ends as if it went on."""
    problem = nodes(r"k_+^2 = \omega^2 + b k_+", r"k_-^2 = \omega^2 - b k_-")
    assert [finding for finding in lint(problem) if finding.kind == "fault"] == []


# Numbers ----------------------------------------------------------------------------------------------------------


def test_every_formula_before_a_number_is_asked() -> None:
    problem = load_problem(
        {
            **nodes("v = g t", "v = 2 s/t", "v = 19.6\\unit{m/s}"),
            "givens": {"g": "9.81 m/s^2", "t": "2.00 s", "s": "20.0 m"},
        }
    )
    found = derive_numbers(problem.nodes[2], problem, derive_expected_numbers(problem))
    assert [each.origin for each in found] == [2, 1]
    assert [round(float(each.value or 0), 3) for each in found] == [20.0, 19.62]


def test_units_that_do_not_fit_are_said_in_words() -> None:
    problem = load_problem({**nodes("v = g t", "v = 19.6\\unit{kg}"), "givens": {"g": "9.81 m/s^2", "t": "2.00 s"}})
    (found,) = derive_numbers(problem.nodes[1], problem, derive_expected_numbers(problem))
    assert found == DerivedNumber(1, None, "v is in kg, g*t in m s^-1")


def test_numbers_of_another_branch_are_not_put_in() -> None:
    """What a node does not rest on says nothing about it, though the letter is the same."""
    problem = nodes("v = 3.0\\unit{m/s}", "p = m v", "p = 8.0\\unit{kg m/s}", givens={"m": "2.0 kg"})
    problem["grading_standard"][0]["is_final_answer"] = True
    problem["grading_standard"][1]["dependency"] = []
    loaded = load_problem(problem)
    assert derive_numbers(loaded.nodes[2], loaded, derive_expected_numbers(loaded)) == ()


def test_every_code_stands_in_the_readme_of_the_problem_files() -> None:
    text = resource("dags/README.md").read_text(encoding="utf-8")
    assert [code for code in CODES if f"`{code}`" not in text] == []
