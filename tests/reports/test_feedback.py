"""Feedback for a class: pages without answers, sums that hold, corrections beside the rule, faults told at once."""

from __future__ import annotations

import csv
import html
import io
import json
import random
import re
import shutil
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import prism
from benchmarks.accuracy.diagnosis import all_faults, usable
from prism.cli import app
from prism.diagnosis.wording import DIFFERENCES
from prism.equivalence.facts import numeric_of
from prism.grading.scoring import scoring_of
from prism.grading.selection import WithheldReason
from prism.latex import one_line
from prism.problem.source import problem_path
from prism.reports.feedback.marking import (
    MarkedSolution,
    _part_points,
    in_hundredths,
    mark_class,
    mark_solution,
    node_parts,
    part_fulls,
    points_text,
)
from prism.reports.feedback.student_page import student_page
from prism.reports.feedback.student_words import HINTS, SLIPS, WITHHELD, hint_of, student_steps
from prism.reports.feedback.submissions import Submission, read_submissions
from prism.reports.html.mathml import as_mathml
from tests.support.html_pages import checked

PROBLEMS = ("free_fall", "rod_and_coil", "stirling_engine")
N_STUDENTS = 30
run = CliRunner()


# A class of thirty. ---------------------------------------------------------------------------------------------


def solution_of(prepared: Any, grade: prism.Grade, faults: Sequence[Any], k: int) -> str:
    """A worked solution of a shipped problem with a fault put into up to three of its formulas, cut off for some.

    Args:
        grade: of the solution as it is.
        faults: of the problem's nodes, of which some say the same after all.
    """
    rng = random.Random(f"{prepared.problem.id}.{k}")
    text = prepared.problem.students[0].solution
    spots = {item.nodes[0]: item.span for item in grade.formulas if len(item.nodes) == 1}
    chosen: dict[int, str] = {}
    for each in rng.sample(faults, len(faults)):
        if len(chosen) == k % 4:
            break
        if each.node in spots and each.node not in chosen and (latex := usable(prepared, each)):
            chosen[each.node] = latex
    end = len(text)
    if k % 4 == 3:  # ran out of time: the last third of the formulas is not there
        end = sorted(span for span in spots.values())[2 * len(spots) // 3][0]
    for node, latex in sorted(chosen.items(), key=lambda item: spots[item[0]], reverse=True):
        start, stop = spots[node]
        if stop <= end:
            text, end = text[:start] + latex + text[stop:], end + len(latex) - (stop - start)
    return text[:end]


@pytest.fixture(scope="module")
def class_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three problems and the solutions of thirty students, `PROBLEM/STUDENT.md`."""
    folder = tmp_path_factory.mktemp("class")
    (folder / "problems").mkdir()
    for name in PROBLEMS:
        shutil.copy(problem_path(name), folder / "problems")
        prepared = prism.prepare(name)
        grade = prism.grade(prepared, prepared.problem.students[0].solution)
        faults = list(all_faults(prepared, random.Random(name)))
        (folder / "solutions" / name).mkdir(parents=True)
        for k in range(N_STUDENTS):
            if (name, k) != (PROBLEMS[1], 7):  # who has handed in two of three
                path = folder / "solutions" / name / f"student {k + 1:02d}.md"
                path.write_text(solution_of(prepared, grade, faults, k), encoding="utf-8")
    (folder / "corrections.toml").write_text(
        '[[correction]]\nstudent = "student 03"\nproblem = "free_fall"\nnode = 6\ncredited = true\n'
        'by = "M. Roe"\nwhy = "Said at the blackboard."\n'
        '[[correction]]\nstudent = "student 01"\nproblem = "rod_and_coil"\nnode = 1\ncredited = false\n'
        'by = "M. Roe"\nwhy = "Not in this hand."\n'
    )
    return folder


def answers_of(problem: prism.Problem) -> list[tuple[int, list[str]]]:
    """Of each node everything that would be its answer on a page: LaTeX, MathML, and digits of its number."""
    found = []
    for way in (problem, *problem.alternatives):
        for node in way.nodes:
            told = [one_line(node.latex), *(one_line(each.latex) for each in node.accept if each.latex)]
            told += [str(drawn) for latex in tuple(told) if (drawn := as_mathml(latex))]
            sides = [side for latex in told[:1] for side in latex.split("=")[1:]]
            told += [
                text for side in sides if len(side.strip()) > 8 for text in (side.strip(), str(as_mathml(side))) if text
            ]
            number = None if node.is_text else numeric_of(node.formula)
            if number is not None:
                told += [digits for digits in re.findall(r"\d+\.?\d*", node.latex.split("=")[-1]) if len(digits) > 3]
            found.append((node.index, told))
    return found


def without_points(page: str) -> str:
    """The part of a page that may hold formulas: without its figures, whose digits are points and counts."""
    page = re.sub(r"(?s)<style>.*?</style>|<header>.*?</header>|<table.*?</table>", "", page)
    return re.sub(r"<strong>[\d.]+ of [\d.]+ points.</strong>", "", page)


@pytest.mark.slow  # grades and diagnoses 89 solutions
@pytest.mark.compiled
def test_feedback_for_thirty_students_of_three_problems(class_folder: Path) -> None:
    out = class_folder / "out"
    done = run.invoke(
        app, ["feedback", str(class_folder / "problems"), str(class_folder / "solutions"), "-o", str(out), "--points",
              "10", "--corrections", str(class_folder / "corrections.toml")],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "30 students, 89 solutions; mean" in done.stdout
    assert "of 30 points; corrections: 2, of which 2 change the rule's verdict" in done.stdout
    pages = {
        path.stem.replace("student-", "student "): path.read_text("utf-8") for path in (out / "students").iterdir()
    }
    assert len(pages) == N_STUDENTS
    n_absent = _check_that_no_page_holds_an_answer(class_folder, pages, (out / "class.html").read_text("utf-8"))
    assert n_absent > 500
    _check_gradebook(out)
    _check_steps(out)
    links = {f"students/student-{k + 1:02d}.html" for k in range(N_STUDENTS)}
    found = checked((out / "class.html").read_text("utf-8"), links=links)
    assert "".join(found.text).count("–") > 0  # not handed in
    assert sum("Look again" in page for page in pages.values()) > N_STUDENTS / 3
    for page in pages.values():
        checked(page)
    assert "The marker says" in pages["student 03"]
    assert "Said at the blackboard." in pages["student 03"]
    assert "Not handed in: A rod falls" in pages["student 08"]


def _check_that_no_page_holds_an_answer(folder: Path, pages: dict[str, str], of_class: str) -> int:
    """Check each page against each node, but for what the student has written; return how many were looked for."""
    n_looked_for = 0
    of_student = {student: _TextsOfStudent(folder, student, page) for student, page in pages.items()}
    class_places = _places(of_class)
    for name in PROBLEMS:
        problem = prism.load_problem(name)
        prepared = prism.prepare(problem)
        nodes = answers_of(problem)
        for index, told in nodes:
            for answer in told:
                assert answer not in class_places[_is_digits(answer)][1], (name, index)
        for student, texts in of_student.items():
            path = folder / "solutions" / name / f"{student}.md"
            for index, told in nodes:
                for answer in told:
                    if any(answer in written for written in texts.own):
                        continue
                    n_looked_for += 1
                    for place in texts.places[_is_digits(answer)]:
                        assert answer not in place, (student, name, index, answer)
            if path.exists() and student[-1] in "37":  # a diagnosis takes a while
                shown, _ = texts.places[True]
                _check_that_no_finding_is_told(prepared, path.read_text("utf-8"), shown, texts.own[0])
    return n_looked_for


def _is_digits(answer: str) -> bool:
    """Whether an answer is digits alone, which are looked for in what holds no points."""
    return re.fullmatch(r"[\d.]+", answer) is not None


def _places(page: str) -> dict[bool, tuple[str, str]]:
    """Where an answer is looked for, by whether it is digits: a part of the page as it is written and as it is read."""
    return {
        is_digits: (place, html.unescape(place)) for is_digits, place in ((False, page), (True, without_points(page)))
    }


class _TextsOfStudent:
    """What a student has written, as text, as MathML and on one line, and where answers are looked for on the page."""

    def __init__(self, folder: Path, student: str, page: str) -> None:
        text = "\n".join(each.read_text("utf-8") for each in (folder / "solutions").glob(f"*/{student}.md"))
        formulas = "".join(str(as_mathml(item.latex)) for item in prism.extract(text))
        self.own = (text, formulas, one_line(text))
        self.places = _places(page)


def _check_that_no_finding_is_told(prepared: Any, text: str, shown: str, own: str) -> None:
    """Check that neither the sentence for teachers of a finding nor a witness is on a page."""
    grade = prism.grade(prepared, text)
    for finding in prism.diagnose(prepared, grade).findings:
        if finding.difference is not None:
            assert finding.difference.full not in html.unescape(shown)
            assert one_line(finding.difference.should) not in shown or finding.difference.should in own
    for item in grade.formulas:
        numbers = re.findall(r"\d\.\d{4,}", item.witness)
        assert not [number for number in numbers if number in shown and number not in own]


def _check_gradebook(out: Path) -> None:
    with (out / "gradebook.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["student"] for row in rows] == [f"student {k + 1:02d}" for k in range(N_STUDENTS)]
    parts = {"free_fall": "ab", "rod_and_coil": "abcd", "stirling_engine": "abc"}
    n_changed = 0
    for row in rows:
        whole = [Fraction(row[f"{name}.points"] or 0) for name in PROBLEMS]
        assert sum(whole) == Fraction(row["points"])
        assert sum(Fraction(row[f"{name}.by_rule"] or 0) for name in PROBLEMS) == Fraction(row["points_by_rule"])
        for name, points in zip(PROBLEMS, whole, strict=True):
            cells = [row[f"{name}.{letter}"] for letter in parts[name]]
            assert sum(Fraction(cell or 0) for cell in cells) == points <= 10
        assert row["full_points"] == "30"
        n_changed += row["points"] != row["points_by_rule"]
    assert rows[7]["rod_and_coil.points"] == rows[7]["rod_and_coil.a"] == ""
    assert [row["corrections"] for row in rows[:3]] == ["1", "0", "1"]
    assert n_changed == 2
    assert len({row["points"] for row in rows}) > 5


def _check_steps(out: Path) -> None:
    with (out / "steps.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    corrected = [
        (row["student"], row["node"], row["rule"], row["marker"], row["share"]) for row in rows if row["marker"]
    ]
    assert ("student 01", "1", "matched", "not credited", "0") in corrected
    assert len(corrected) == 2
    by_student = sum(float(row["weight"]) for row in rows if row["student"] == "student 01")
    assert by_student == pytest.approx(3, abs=1e-4)


# Words. ---------------------------------------------------------------------------------------------------------

RAMP: dict[str, Any] = {
    "id": "ramp",
    "title": "A ramp",
    "context": r"A block slides from the height $h$ with $g$, over a patch of length $d$ with $\mu$. $v_1$, $v_2$.",
    "subquestions": [{"letter": "a", "subproblem": "Find $v_1$."}, {"letter": "b", "subproblem": "Find $v_2$."}],
    "grading_standard": [
        {"index": 1, "formula": r"\frac{v_1^2}{2} = g h", "dependency": []},
        {"index": 2, "formula": r"v_1 = \sqrt{2 g h}", "dependency": [1], "is_final_answer": True},
        {"index": 3, "formula": r"v_2^2 = v_1^2 - 2 \mu g d", "dependency": [1]},
        {"index": 4, "formula": r"v_2 = \sqrt{2 g h - 2 \mu g d}", "dependency": [3], "is_final_answer": True},
    ],
}


def marked(solution: str, scoring: str = "closure", problem: Any = RAMP, **options: Any) -> MarkedSolution:
    prepared = prism.prepare(problem)
    return mark_solution(prepared, Submission(prepared.problem.id, "anna", solution), scoring_of(scoring), **options)


def told(solution: str, problem: Any = RAMP) -> list[tuple[str, str]]:
    one = marked(solution, problem=problem)
    return [
        (each.state, each.says) for each in student_steps(one.grade, one.diagnosis, one.problem.context, one.carried)
    ]


@pytest.mark.parametrize(
    ("solution", "says"),
    [
        (r"$v_2^2 = v_1^2 + 2\mu g d$", "Look again at the sign of the second term on the right side."),
        (r"$v_1 = \sqrt{g h}$", "Look again at the constant factor on the right side."),
        (r"$v_2 = \sqrt{2 g d - 2\mu g d}$", "Look again at whether the right quantity stands on the right side."),
        (r"$v_2^2 = v_1^2$", "Look again at whether everything is counted here: a term is missing."),
        (r"$\mu = 2 + 2 = 5$", "Look again at this chain: two neighbours in it are not equal."),
    ],
)
def test_a_hint_says_where_to_look(solution: str, says: str) -> None:
    assert told(solution) == [("look again", says)]


def test_what_stands_what_goes_on_and_what_is_right_besides() -> None:
    found = told(
        r"$v_1 = \sqrt{g h}$, so $v_2 = \sqrt{g h - 2 \mu g d}$. And $v_2^2 = v_1^2 - 2\mu g d$, $g h = v_1^2/2$."
    )
    assert [state for state, _ in found] == ["look again", "goes on", "stands", "stands"]
    assert (
        found[1][1]
        == "This goes on from step 1, which needs another look: it is an error carried forward. Mend that step first."
    )


def test_of_a_step_that_counts_in_part_both_is_said() -> None:
    ((state, says),) = told(r"$v_1 = \sqrt{2 g h} = \sqrt{4 g h}$")
    assert state == "stands"
    assert says.startswith("This stands, and something else that it says does not count. Look again at this chain")


def test_a_wrong_number_behind_a_formula_that_stands_is_hinted_at_without_the_right_one() -> None:
    """The formula earns its node; the number after it is not passed over, nor are the numbers that go on from it."""
    from tests.diagnosis.test_explanations import FALL

    solution = r"$v = \sqrt{2gh} = 7.0$ m/s, so $E = \frac12 m v^2 = 49$ J. Or $v = \sqrt{2gh} = 198$ m/s."
    marks = mark_class(
        {"fall": prism.load_problem(FALL)}, [Submission("fall", "anna", solution)], scoring_of("closure")
    )
    stands = "The formula of this step stands, the number behind it does not."
    assert told(solution.split(" Or ", maxsplit=1)[0], FALL) == [
        ("look again", f"{stands} Work the number out again."),
        (
            "goes on",
            (
                f"{stands} This goes on from step 1, which needs another look: it is an error carried forward. "
                "Mend that step first."
            ),
        ),
    ]
    assert told(solution.split(" Or ")[1], FALL) == [
        ("look again", f"{stands} Look again at the units and the powers of ten.")
    ]
    page = student_page(marks, "anna")
    assert "the number behind it does not" in page
    assert "392" not in page
    assert "19.8" not in page


def test_of_guesses_none_is_told_to_be_right() -> None:
    """Whether a right value stands among several or not, the same is said of each."""
    problem = {
        "id": "n", "context": "Find the speed $v$.", "subquestions": [{"letter": "a", "subproblem": "Find $v$."}],
        "grading_standard": [
            {"index": 1, "formula": r"v = 12.5\,\mathrm{m/s}", "dependency": [], "is_final_answer": True}
        ],
    }  # fmt: skip
    text = " ".join(rf"$v = {number}\,\mathrm{{m/s}}$." for number in ("11.5", "12.5", "13.5", "14.5"))
    said = told(text, problem)
    assert len(said) == 4
    assert len(set(said)) == 1
    assert said[0][0] == "does not count"


def test_every_kind_and_reason_has_its_words_and_none_says_a_value() -> None:
    assert HINTS.keys() == SLIPS.keys() == DIFFERENCES.keys()
    assert WITHHELD.keys() == set(WithheldReason)
    allowed = {"place", "within", "of"}
    for text in (*HINTS.values(), *WITHHELD.values()):
        assert set(re.findall(r"\{(\w+)\}", text)) <= allowed
        assert not re.search(r"\d|\$|\\", text)
        assert text.endswith(".")


def test_a_part_that_the_student_has_not_written_is_not_shown() -> None:
    (finding,) = prism.diagnose(RAMP, prism.grade(RAMP, r"$v_1 = \sqrt{g h}$")).findings
    assert finding.difference is not None
    context = prism.load_problem(RAMP).context
    assert hint_of(finding.difference, r"v_1 = \sqrt{g h}", context)[1] == r"\sqrt{g h}"
    assert hint_of(finding.difference, r"v_1 = (h g)^{1/2}", context)[1] == ""


def test_a_page_is_of_one_student_alone_and_hostile_text_does_nothing() -> None:
    from tests.reports.test_report import EVIL, HOSTILE

    problem = prism.load_problem(RAMP)
    handed_in = [Submission("ramp", EVIL, HOSTILE), Submission("ramp", "ben", "$v_1 = g h$")]
    marks = mark_class({"ramp": problem}, handed_in, scoring_of("closure"))
    page = student_page(marks, EVIL)
    checked(page, n_nav=0)
    assert "ben" not in html.unescape(page)


# Marks. ---------------------------------------------------------------------------------------------------------


def test_a_final_answer_that_is_credited_and_not_stated_is_said_to_be_so() -> None:
    problem = {**RAMP, "id": "other", "grading_standard": [
        *RAMP["grading_standard"][:2],
        {"index": 3, "formula": r"v_2^2 = v_1^2 - 2 \mu g d", "dependency": [2]},
        {"index": 4, "formula": r"v_2 = \sqrt{2 g h - 2 \mu g d}", "dependency": [3], "is_final_answer": True},
    ]}  # fmt: skip
    text = r"$v_2 = \sqrt{2 g h - 2\mu g d}$"
    one = marked(text, problem=problem)
    assert one.earned == one.full
    loaded = prism.load_problem(problem)
    page = student_page(mark_class({"other": loaded}, [Submission("other", "a", text)], scoring_of("closure")), "a")
    assert "<td>credited, not stated</td>" in page
    strict = student_page(mark_class({"other": loaded}, [Submission("other", "a", text)], scoring_of("strict")), "a")
    assert "<td>not stated</td>" in strict


def test_the_commands_say_of_a_final_answer_that_it_is_credited_and_not_stated(tmp_path: Path) -> None:
    text = tmp_path / "s.md"
    text.write_text(r"$v_2 = \sqrt{2 g h - 2\mu g d}$")
    problem = {**RAMP, "grading_standard": [*RAMP["grading_standard"]]}
    problem["grading_standard"][2] = {**problem["grading_standard"][2], "dependency": [2]}
    file = tmp_path / "ramp.json"
    file.write_text(json.dumps(problem))
    graded = run.invoke(app, ["grade", str(file), str(text)]).stdout
    assert "final answers not right (node 2 credited, not stated)" in " ".join(graded.split())
    explained = run.invoke(app, ["explain", str(file), str(text)]).stdout
    assert "Final answer credited, not stated: node 2." in explained


def test_points_by_other_scorings() -> None:
    text = r"$v_2 = \sqrt{2 g h - 2\mu g d}$"  # node 4, which rests on 3 and 1
    assert (marked(text).earned, marked(text).full) == (300, 400)
    assert marked(text, "strict", points=Fraction(10)).earned == 250
    assert marked(text, "final").earned == 0
    assert [part.letter for part in marked(text).parts] == ["a", "b"]


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 6)), min_size=1, max_size=7), st.integers(1, 4000),
)  # fmt: skip
def test_parts_sum_to_the_whole_and_none_has_more_than_its_own(parts: list[tuple[int, int]], hundredths: int) -> None:
    total = sum(weight for weight, _ in parts)
    exact = [Fraction(hundredths * weight, 100 * total) for weight, _ in parts]
    fulls = in_hundredths(exact)
    assert sum(fulls) == hundredths
    shares = [Fraction(min(earned, 6), 6) for _, earned in parts]
    earned = _part_points(
        [each * share for each, share in zip(exact, shares, strict=True)], [share == 1 for share in shares], fulls
    )
    assert all(0 <= one <= most for one, most in zip(earned, fulls, strict=True))
    assert all(one == most for one, most, share in zip(earned, fulls, shares, strict=True) if share == 1)
    true = sum((each * share for each, share in zip(exact, shares, strict=True)), Fraction(0)) * 100
    assert abs(sum(earned) - true) <= len(parts)


def test_nodes_find_their_parts() -> None:
    assert node_parts(prism.load_problem("free_fall")) == {1: "a", 2: "a", 3: "a", 4: "a", 5: "b", 6: "b"}
    assert node_parts(prism.load_problem({"answer": "5 m/s"})) == {1: ""}
    for name in ("two_slits", "stirling_engine", "backspin"):
        problem = prism.load_problem(name)
        assert set(node_parts(problem).values()) <= {part.letter for part in problem.subquestions}
        assert sum(part_fulls(problem, 1000).values()) == 1000
    assert points_text(1005) == "10.05"


# The command. ---------------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Path:
    (tmp_path / "ramp.json").write_text(json.dumps(RAMP))
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "anna.md").write_text(r"$v_1 = \sqrt{2 g h}$")
    (tmp_path / "s" / "=ben.md").write_text(r"The speed is what it is.")
    return tmp_path


def feedback(folder: Path, *words: str) -> Any:
    return run.invoke(app, ["feedback", str(folder / "ramp.json"), *(word.replace("%", str(folder)) for word in words)])


def test_files_a_folder_and_records_are_the_same_class(small: Path) -> None:
    records = small / "s.jsonl"
    records.write_text(
        "".join(
            json.dumps({"problem_id": "ramp", "sample_id": path.stem, "response": path.read_text()}) + "\n"
            for path in sorted((small / "s").iterdir())
        )
    )
    books = []
    for place, sources in enumerate((["%/s"], ["%/s/anna.md", "%/s/=ben.md"], ["%/s.jsonl"])):
        done = feedback(small, *sources, "-o", f"%/out{place}")
        assert done.exit_code == 0, done.output
        files = sorted(path for path in (small / f"out{place}").rglob("*") if path.is_file())
        books.append({path.relative_to(small / f"out{place}").as_posix(): path.read_bytes() for path in files})
    assert books[0] == books[1] == books[2]
    assert sorted(books[0]) == ["class.html", "gradebook.csv", "steps.csv", "students/anna.html", "students/ben.html"]
    (first, _) = csv.DictReader(io.StringIO(books[0]["gradebook.csv"].decode()))
    assert first["student"] == "'=ben"  # no spreadsheet works it out
    assert "a person has to read it" in first["needs_a_person"]


@pytest.mark.slow
def test_what_is_there_is_kept_without_force(small: Path) -> None:
    assert feedback(small, "%/s", "-o", "%/out").exit_code == 0
    again = feedback(small, "%/s", "-o", "%/out")
    assert again.exit_code == 3
    assert "class.html: is there already" in again.stderr
    assert feedback(small, "%/s", "-o", "%/out", "--force").exit_code == 0
    assert feedback(small, "%/s", "-o", "%/nowhere/out").exit_code == 3
    assert feedback(small, "%/s", "-o", "%/other", "--points", "ten").exit_code == 2
    assert feedback(small, "%/s", "-o", "%/other", "--scoring", "closur").exit_code == 2


def test_json_has_the_marks_of_rule_and_marker(small: Path) -> None:
    (small / "c.csv").write_text(
        "student,node,credited,by,why\nanna,4,yes,Roe,said it\nanna,1,yes,Roe,so does the rule\n"
    )
    found = json.loads(feedback(small, "%/s", "-o", "%/out", "--corrections", "%/c.csv", "--json").stdout)
    anna = found["students"][1]
    assert (anna["points"], anna["points_by_rule"]) == (3.0, 2.0)
    assert found["corrections"] == {"n": 2, "changed": 1}
    assert [node["marker"] for node in anna["solutions"][0]["nodes"]] == [True, None, None, True]
    page = (small / "out" / "students" / "anna.html").read_text()
    assert "Step 4 of the reference, part (b): credited</strong>, by <bdi>Roe</bdi> (the rule says otherwise)" in page
    assert "Step 1 of the reference, part (a): credited</strong>, by <bdi>Roe</bdi> (so does the rule)" in page


def test_all_faults_of_corrections_come_at_once(small: Path) -> None:
    (small / "c.csv").write_text(
        "student,node,credited,by,why\nana,1,yes,Roe,x\nanna,9,yes,Roe,x\nanna,1,perhaps,Roe,x\nanna,2,no,,x\n"
        "anna,3,no,Roe,x\nanna,3,yes,Roe,x\n"
    )
    done = feedback(small, "%/s", "-o", "%/out", "--corrections", "%/c.csv")
    assert done.exit_code == 3
    assert not (small / "out").exists()
    said = [line.split("c.csv: ")[1] for line in done.stderr.splitlines()]
    assert said == [
        'line 2: student: "ana" has handed in nothing; did you mean "anna"?',
        'line 3: node: "9" is no node; the nodes are 1, 2, 3, 4',
        'line 4: credited: "perhaps" is neither yes nor no',
        "line 5: by: missing",
        'line 7: student "anna", node 3 is corrected in line 6 too',
    ]
    (small / "c.toml").write_text('[[corection]]\nstudent = "anna"\n')
    assert 'did you mean "correction"?' in feedback(small, "%/s", "-o", "%/out", "--corrections", "%/c.toml").stderr
    (small / "d.csv").write_text("student,nod,credited,by,why\nanna,1,yes,Roe,x\n")
    told_of = feedback(small, "%/s", "-o", "%/out", "--corrections", "%/d.csv").stderr
    assert 'line 2: "nod" is unknown; did you mean "node"?' in told_of
    assert "line 2: node: missing" in told_of


def test_all_faults_of_solutions_come_at_once(small: Path) -> None:
    (small / "s" / "a.pdf").write_bytes(b"%PDF-1.7")
    (small / "s" / "b.md").write_bytes("$v_1 = 1$".encode("utf-16"))
    done = feedback(small, "%/s/a.pdf", "%/s/b.md", "%/s/c.md", "%/s", "%/s/d.csv", "-o", "%/out")
    assert done.exit_code == 3
    assert [line.rsplit(": ", 1)[1] for line in done.stderr.splitlines()] == [
        'No such file or directory; did you mean "b.md"?', "is a folder; give one folder alone, or files",
        "is a file of records; give it alone",
    ]  # fmt: skip
    done = feedback(small, "%/s/a.pdf", "%/s/b.md", "-o", "%/out")
    assert done.exit_code == 3
    assert [line.rsplit(": ", 1)[1] for line in done.stderr.splitlines()] == [
        "is a PDF file, which is not read", "is text in UTF-16; text in UTF-8 is read",
    ]  # fmt: skip
    (small / "t").mkdir()
    (small / "t" / "anna.md").write_text("other")
    twice = feedback(small, "%/s/anna.md", "%/t/anna.md", "-o", "%/out")
    assert 'student "anna" has two solutions to problem "ramp"' in twice.stderr
    with pytest.raises(prism.PrismError, match="there are 2"):
        read_submissions(prism.load_problems(["free_fall", "bucket"]), [small / "s" / "anna.md"])


OTHERS = {
    "bert.pdf": b"%PDF-1.7", "cleo.docx": b"PK\x03\x04", "dan.png": b"\x89PNG",
    "eve.md": "$v = \u00e9$".encode("latin-1"),
    "fay.ipynb": b"{}", "gus": b"v = 1", "anna.jpg": b"\xff\xd8\xff",
}  # fmt: skip
"""What a class hands in besides texts."""


def test_what_is_not_read_is_told_counted_and_stands_in_the_gradebook(small: Path) -> None:
    for name, raw in OTHERS.items():
        (small / "s" / name).write_bytes(raw)
    for name in (".DS_Store", "~$cleo.docx"):
        (small / "s" / name).write_bytes(b"\0")
    done = feedback(small, "%/s", "-o", "%/out")
    assert done.exit_code == 0
    assert f"need a person: {len(OTHERS) + 1}, of which {len(OTHERS)} files not read" in done.stdout
    for said in (
        "needs a person: bert.pdf is a PDF file, which is not read", "cleo.docx is a Word document, and is damaged",
        "dan.png is a picture", "eve.md is not UTF-8: byte 5 cannot be read", "fay.ipynb is a notebook",
        "gus has no ending; .md, .tex, .txt, .docx, .html and others are read",
        "passed over, as hidden files are: .DS_Store, ~$cleo.docx",
    ):  # fmt: skip
        assert said in done.stderr
    rows = {row["student"]: row for row in csv.DictReader((small / "out" / "gradebook.csv").open(encoding="utf-8"))}
    assert {"bert", "cleo", "dan", "eve", "fay", "gus"} <= rows.keys()
    assert rows["bert"]["points"] == rows["bert"]["ramp.points"] == ""
    assert rows["bert"]["needs_a_person"] == "bert.pdf is a PDF file, which is not read: a person has to read it."
    assert rows["anna"]["points"] != ""
    assert rows["anna"]["needs_a_person"].startswith("anna.jpg is a picture")
    assert "bert.pdf is a PDF file" in (small / "out" / "class.html").read_text(encoding="utf-8")
    told = json.loads(feedback(small, "%/s", "-o", "%/out", "--force", "--json").stdout)["left_out"]
    assert [each["status"] for each in told] == ["needs_a_person"] * len(OTHERS) + ["passed_over"] * 2
    assert {"file": "bert.pdf", "student": "bert", "problem_id": "ramp", "status": "needs_a_person",
            "reason": "is a PDF file, which is not read"} in told  # fmt: skip


def test_files_that_are_named_are_told_apart_as_those_of_a_folder_are(small: Path) -> None:
    (small / "s" / "bert.pdf").write_bytes(b"%PDF-1.7")
    (small / "s" / "gus").write_text("$v = 1$", encoding="utf-8")
    done = feedback(small, "%/s/anna.md", "%/s/bert.pdf", "%/s/gus", "-o", "%/out")
    assert done.exit_code == 0
    assert "2 students, 2 solutions" in done.stdout
    assert "need a person: 1, of which 1 file not read" in done.stdout


def book_of(folder: Path) -> dict[str, dict[str, str]]:
    """Rows of the gradebook in `out`, by student."""
    text = (folder / "out" / "gradebook.csv").read_text(encoding="utf-8")
    return {row["student"].lstrip("'"): row for row in csv.DictReader(io.StringIO(text))}


def attention_of(folder: Path) -> str:
    """What the page of the class in `out` lists as to be read by a person."""
    page = (folder / "out" / "class.html").read_text(encoding="utf-8")
    return page.partition('<section id="attention"')[2].partition("</section>")[0]


@pytest.mark.parametrize(("credited", "points"), [("yes", "1"), ("no", "0")])
def test_a_markers_word_settles_that_a_person_has_to_read_a_solution(small: Path, credited: str, points: str) -> None:
    (small / "c.csv").write_text(f"student,node,credited,by,why\n=ben,1,{credited},M. Roe,read it\n")
    done = feedback(small, "%/s", "-o", "%/out", "--corrections", "%/c.csv")
    assert "need a person: 0, settled by one: 1" in done.stdout
    ben = book_of(small)["=ben"]
    assert (ben["points"], ben["needs_a_person"]) == (points, "")
    settled = "No formula that states anything was found in this solution: M. Roe has decided."
    assert ben["settled_by_a_person"] == f"ramp: {settled}"
    assert attention_of(small) == ""
    page = (small / "out" / "students" / "ben.html").read_text(encoding="utf-8")
    assert settled in page
    assert "a person has to read it" not in page
    told = json.loads(feedback(small, "%/s", "-o", "%/out", "--force", "--corrections", "%/c.csv", "--json").stdout)
    (solution,) = told["students"][0]["solutions"]
    assert (solution["needs_a_person"], solution["settled_by_a_person"]) == ([], [settled])


def test_a_marker_gives_points_to_who_handed_in_only_a_file_that_is_not_read(small: Path) -> None:
    (small / "s" / "bert.pdf").write_bytes(b"%PDF-1.7")
    (small / "s" / "cleo.pdf").write_bytes(b"%PDF-1.7")
    (small / "c.csv").write_text(
        "student,node,credited,by,why\nbert,1,yes,M. Roe,on page 1\nbert,4,no,M. Roe,not there\n"
    )
    done = feedback(small, "%/s", "-o", "%/out", "--points", "10", "--corrections", "%/c.csv")
    assert done.exit_code == 0, done.output
    assert "3 students, 2 solutions, 1 marked by hand; mean 2.5 of 10 points" in done.stdout
    assert "corrections: 2, of which 0 change the rule's verdict" in done.stdout
    assert "need a person: 2, of which 1 file not read, settled by one: 1" in done.stdout
    assert "bert.pdf" not in done.stderr
    assert "needs a person: cleo.pdf" in done.stderr
    bert = book_of(small)["bert"]
    assert (bert["points"], bert["points_by_rule"], bert["ramp.points"], bert["ramp.by_rule"]) == ("2.5", "", "2.5", "")
    assert (bert["ramp.a"], bert["ramp.b"], bert["corrections"], bert["needs_a_person"]) == ("2.5", "0", "2", "")
    settled = "bert.pdf is a PDF file, which is not read: M. Roe has decided."
    assert bert["settled_by_a_person"] == settled
    assert book_of(small)["cleo"]["needs_a_person"].startswith("cleo.pdf is a PDF file")
    assert "bert" not in attention_of(small)
    assert "cleo.pdf" in attention_of(small)
    page = (small / "out" / "students" / "bert.html").read_text(encoding="utf-8")
    checked(page, n_nav=0)
    assert settled in page
    assert "2.5 of 10 points" in page
    assert "(the rule has read nothing)" in page
    assert "Your text" not in page
    assert "Your steps were compared" not in page
    of_class = (small / "out" / "class.html").read_text(encoding="utf-8")
    assert "3 students, 2 solutions of 1 problem, 1 marked by hand; points by closure" in of_class
    steps = [row for row in csv.DictReader((small / "out" / "steps.csv").open(encoding="utf-8"))
             if row["student"] == "bert"]  # fmt: skip
    assert [(row["rule"], row["share_by_rule"], row["marker"], row["share"]) for row in steps] == [
        ("not read", "", "credited", "1"), ("not read", "", "", "0"), ("not read", "", "", "0"),
        ("not read", "", "not credited", "0"),
    ]  # fmt: skip
    again = feedback(small, "%/s", "-o", "%/out", "--force", "--corrections", "%/c.csv", "--json")
    told = json.loads(again.stdout)
    (_, _, bert_told) = told["students"]
    assert (bert_told["points"], bert_told["points_by_rule"]) == (1.0, None)
    assert [each["status"] for each in told["left_out"]] == ["settled_by_a_person", "needs_a_person"]


def test_a_file_of_no_known_problem_is_settled_when_every_problem_has_its_points(small: Path) -> None:
    (small / "p").mkdir()
    for name in ("one", "two"):
        (small / "p" / f"{name}.json").write_text(json.dumps({**RAMP, "id": name}))
        (small / "t" / name).mkdir(parents=True)
        (small / "t" / name / "anna.md").write_text(r"$v_1 = \sqrt{2 g h}$")
    (small / "t" / "bert.pdf").write_bytes(b"%PDF-1.7")
    word = "{},bert,1,yes,M. Roe,on page 1\n"
    for problems, needs in ((("one",), True), (("one", "two"), False)):
        entries = "".join(word.format(name) for name in problems)
        (small / "c.csv").write_text("problem,student,node,credited,by,why\n" + entries)
        done = run.invoke(app, ["feedback", str(small / "p"), str(small / "t"), "-o", str(small / "out"), "--force",
                                "--corrections", str(small / "c.csv")])  # fmt: skip
        assert done.exit_code == 0, done.output
        assert bool(book_of(small)["bert"]["needs_a_person"]) == needs
        assert bool(book_of(small)["bert"]["settled_by_a_person"]) != needs


def test_who_handed_in_nothing_is_still_a_fault_of_the_corrections(small: Path) -> None:
    (small / "s" / "bert.pdf").write_bytes(b"%PDF-1.7")
    (small / "c.csv").write_text("student,node,credited,by,why\nbart,1,yes,M. Roe,x\n")
    done = feedback(small, "%/s", "-o", "%/out", "--corrections", "%/c.csv")
    assert done.exit_code == 3
    assert 'line 2: student: "bart" has handed in nothing; did you mean "bert"?' in done.stderr


def test_points_of_markers_alone_are_nothing_graded(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("prism.runs.bulk.grade", fail)
    (small / "s" / "bert.pdf").write_bytes(b"%PDF-1.7")
    (small / "c.csv").write_text("student,node,credited,by,why\nbert,1,yes,M. Roe,x\n")
    assert feedback(small, "%/s", "-o", "%/out", "--corrections", "%/c.csv").exit_code == 5


def test_nothing_graded_has_its_exit_code(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("prism.runs.bulk.grade", fail)
    done = feedback(small, "%/s", "-o", "%/out")
    assert done.exit_code == 5
    assert "need a person: 2" in done.stdout
