"""What people do wrong without noticing: each is told, and no silent 0 or silent file comes of it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.diagnosis.explanations import explain
from prism.errors import needs_extra
from prism.grading.result import FLAGS
from prism.grading.scoring import SCALARS
from prism.reports.html.markup import prose
from prism.resources import resource
from prism.rewards import Reward

ROOT = Path(__file__).resolve().parent.parent
RIGHT = r"$t_f = \sqrt{2h/g}$"
WORDS = "The stone falls quickly and lands at 4.95 m/s."

run = CliRunner()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(name: str, *records: object) -> str:
    text = "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in records)
    Path(name).write_text(text, encoding="utf-8")
    return name


def told(*words: str, code: int = 3) -> str:
    """What a command says on standard error."""
    done = run.invoke(app, list(words))
    assert done.exit_code == code, (words, done.output, done.exception)
    return done.stderr


# Records of another problem. ------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["problem_id", "task_id", "id", "problem"])
@pytest.mark.parametrize("ids", [("free_fall", "slide"), ("slide", "free_fall")])
def test_one_problem_refuses_records_of_another_id(field: str, ids: tuple[str, str]) -> None:
    rollouts = lines("mix.jsonl", *({field: each, "response": RIGHT} for each in ids))
    said = told("run", "free_fall", rollouts, "-o", "out.jsonl")
    assert f"line {ids.index('slide') + 1}" in said
    assert '"slide"' in said
    assert "free_fall" in said
    assert not Path("out.jsonl").exists()


def test_a_field_that_names_samples_is_said_to_be_one() -> None:
    rollouts = lines("mix.jsonl", *({"id": each, "response": RIGHT} for each in ("slide", "free_fall")))
    said = told("run", "free_fall", rollouts, "-o", "out.jsonl")
    assert "`--map sample_id=id`" in said
    told("run", "free_fall", rollouts, "-o", "out.jsonl", "--workers", "0", "--map", "sample_id=id", code=0)
    rows = [json.loads(line) for line in Path("out.jsonl").read_text("utf-8").splitlines()]
    assert [(row["problem_id"], row["sample_id"]) for row in rows] == [
        ("free_fall", "slide"),
        ("free_fall", "free_fall"),
    ]
    assert '"slide"' in told("run", "free_fall", rollouts, "-o", "other.jsonl", "--map", "problem_id=id")


def test_ids_of_samples_alone_are_no_fault() -> None:
    rollouts = lines("samples.jsonl", *({"id": each, "response": RIGHT} for each in "ab"))
    told("run", "free_fall", rollouts, "-o", "out.jsonl", "--workers", "0", code=0)


# All faults at once. --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("records", "begin"),
    [
        (({"problem_id": 1}, {"x": 2}), ["line 1: no solution", "line 2: no solution"]),
        (
            ({"problem_id": "slide", "response": ""}, {"x": 2}, "nope"),
            ["line 1: no problem has", "line 2: no field", "line 2: no problem id", "line 3: no JSON"],
        ),
        (
            ({"x": 2}, {"problem_id": "slide", "response": ""}),
            ["line 1: no solution", 'line 2: no problem has the id "slide"'],
        ),
    ],
)
def test_every_bad_record_is_told(records: tuple[object, ...], begin: list[str]) -> None:
    said = told("run", "free_fall", lines("bad.jsonl", *records), "-o", "out.jsonl").removeprefix("prism: ")
    faults = [line.removeprefix("bad.jsonl: ") for line in said.splitlines()]
    assert [fault[: len(start)] for fault, start in zip(faults, begin, strict=True)] == begin


def test_a_record_without_both_fields_has_both_faults(folder: Path) -> None:
    said = told("run", str(resource("dags")), lines("bad.jsonl", {"x": 1}), "-o", "out.jsonl")
    assert "no solution among the fields x" in said
    assert "no problem id among the fields x" in said


def test_every_bad_line_of_what_is_converted_is_told() -> None:
    said = told("convert", lines("set.jsonl", "nope", {"id": "a"}, "{"))
    assert [line.partition(": cannot")[0][-6:] for line in said.splitlines()] == ["line 1", "line 3"]
    said = told("convert", lines("set.jsonl", 3, {"id": "a"}, "[]"))
    assert said.count("is no table") == 2


def test_every_faulty_problem_of_a_set_is_told() -> None:
    Path("set").mkdir()
    Path("set/a.json").write_text("{", encoding="utf-8")
    Path("set/b.toml").write_text("id = 'b'\n", encoding="utf-8")
    Path("set/c.toml").write_bytes(b"%PDF-1.7")
    said = told("run", "set", lines("r.jsonl", {"response": "x"}), "-o", "out.jsonl")
    assert all(name in said for name in ("a.json", "b.toml: context", "b.toml: grading_standard", "c.toml: is a PDF"))


# What holds nothing readable. -----------------------------------------------------------------------------------

UNREADABLE = ["", " \n", WORDS, "I do not know.", "$v$ is a speed", r"$v = \frac{1}{$", r"$6370 \, \text{km}$"]
READABLE = ["$v = 2gt$", RIGHT, r"$a = 1$ and $v = \frac{1}{$"]


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_text_without_a_readable_formula_is_flagged(text: str) -> None:
    grade = prism.grade("free_fall", text)
    assert (grade.score, grade.flags) == (0.0, ("no_formulas",))
    assert FLAGS["no_formulas"] in explain(prism.load_problem("free_fall"), grade, prism.diagnose("free_fall", grade))


@pytest.mark.parametrize("text", READABLE)
def test_a_text_with_a_readable_formula_is_not(text: str) -> None:
    assert prism.grade("free_fall", text).flags == ()


@pytest.mark.parametrize(
    ("gold", "text"), [("75", r"\boxed{74}"), ("75", "the answer is 74"), ("v = gt", r"\boxed{gt^2}")]
)
def test_a_wrong_answer_is_no_unreadable_one(gold: str, text: str) -> None:
    assert prism.grade({"answer": gold}, text).flags == ()


def test_what_is_cut_is_told_as_that_alone() -> None:
    grade = prism.grade("free_fall", RIGHT, budget=1)
    assert (grade.status, grade.flags) == ("too_large", ())


@pytest.mark.slow
def test_answers_in_words_are_readable() -> None:
    problem = prism.load_problem("stability")
    (index,) = (node.index for node in problem.nodes if node.is_text)
    assert index in prism.grade(problem, problem.students[0].solution).credited
    assert prism.grade(problem, "I do not know.").flags == ("no_formulas",)
    assert prism.grade(problem, "The equilibrium is stable.").flags == ()


@pytest.mark.slow
def test_grade_explain_run_and_report_tell_it(folder: Path) -> None:
    (folder / "words.md").write_text(WORDS, encoding="utf-8")
    said = run.invoke(app, ["grade", "free_fall", "words.md"]).output
    assert "Score 0 is no verdict here" in said
    assert "flags: no_formulas" in said
    said = run.invoke(app, ["explain", "free_fall", "words.md"]).output
    assert "Flag no_formulas" in said
    assert "No formula is known to be wrong" not in said
    rollouts = lines("r.jsonl", {"response": WORDS}, {"response": None}, {"response": RIGHT})
    said = told("run", "free_fall", rollouts, "-o", "out.jsonl", "--workers", "0", code=0)
    assert "1 of 3 solutions are null, the first in line 2" in said
    assert "in 2 of 3 rollouts no formula could be read (flag no_formulas)" in said
    rows = [json.loads(line) for line in Path("out.jsonl").read_text("utf-8").splitlines()]
    assert [row["flags"] for row in rows] == [["no_formulas"], ["no_formulas"], []]
    counted = json.loads(
        run.invoke(app, ["run", "free_fall", rollouts, "-o", "b.jsonl", "--workers", "0", "--json"]).stdout
    )
    assert counted["no_formulas"] == 2
    report = json.loads(run.invoke(app, ["report", "out.jsonl", "--json"]).stdout)
    assert report["flags"] == {"no_formulas": 2}


def test_nothing_is_said_of_runs_that_were_read() -> None:
    rollouts = lines("r.jsonl", {"response": RIGHT})
    assert told("run", "free_fall", rollouts, "-o", "out.jsonl", "--workers", "0", code=0) == ""


def test_rewards_and_verify_tell_it() -> None:
    assert "no_formulas" in SCALARS
    reward = Reward()
    assert reward("free_fall", WORDS).scalars["no_formulas"] == 1.0
    assert reward("free_fall", RIGHT).scalars["no_formulas"] == 0.0
    assert prism.verify("75", WORDS).reason == "no_answer"
    assert prism.verify("75", r"the answer is $\frac{7}{$").status == "undecided"
    nothing = reward(None, RIGHT)
    assert (nothing.value, nothing.scalars["bad_reference"]) == (None, 1.0)
    assert "found nothing" in nothing.fault


@pytest.mark.slow
@pytest.mark.parametrize(
    ("raw", "word"),
    [
        ("$v = gt$".encode("utf-16"), "UTF-16"), ("$v = gt$".encode("utf-16-le"), "UTF-16"),
        (b"%PDF-1.7 v = gt", "PDF"),
        (b"PK\x03\x04", "zip"), ("$v = \u03bcgt$".encode("iso8859-7"), "not UTF-8: byte 5"),
        (b"v = gt, and so on\x00", "binary"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_text_are_named(raw: bytes, word: str, folder: Path) -> None:
    Path("texts").mkdir()
    for name in ("solution.md", "texts/free_fall.md", "r.jsonl", "problem.toml"):
        (folder / name).write_bytes(raw)
    for words in (
        ("grade", "free_fall", "solution.md"), ("explain", "free_fall", "solution.md"), ("draft", "solution.md"),
        ("run", "free_fall", "texts", "-o", "out.jsonl"), ("run", "free_fall", "r.jsonl", "-o", "out.jsonl"),
        ("run", "problem.toml", "texts", "-o", "out.jsonl"), ("show", "problem.toml"),
    ):  # fmt: skip
        said = told(*words)
        assert word in said or words[2:3] == ("r.jsonl",), (words, said)  # of lines each tells its own byte


def test_an_empty_file_or_folder_holds_no_rollouts() -> None:
    Path("empty").mkdir()
    assert "no rollouts; expected .md" in told("run", "free_fall", "empty", "-o", "out.jsonl")
    assert "no rollouts" in told("run", "free_fall", lines("empty.jsonl"), "-o", "out.jsonl")
    Path("head.csv").write_text("problem_id,response\n", encoding="utf-8")
    assert "no rollouts" in told("run", "free_fall", "head.csv", "-o", "out.jsonl")


# What every call takes. -----------------------------------------------------------------------------------------


def sources() -> dict[str, Any]:
    path = resource("dags/free_fall.toml")
    table = tomllib.loads(path.read_text("utf-8"))
    loaded = prism.load_problem(path)
    return {
        "id": "free_fall", "path": path, "text": str(path), "table": table, "JSON": json.dumps(table),
        "problem": loaded, "prepared": prism.prepare(loaded),
    }  # fmt: skip


def public_calls() -> dict[str, Callable[[Any], object]]:
    from prism.authoring.case_files import grade_solution

    graded = prism.grade("free_fall", RIGHT)
    return {
        "load_problem": lambda source: prism.load_problem(source).id,
        "load_problems": lambda source: list(prism.load_problems(source)),
        "prepare": lambda source: prism.prepare(source).problem.id,
        "prepare for training": lambda source: prism.prepare(source, training=True).given,
        "grade": lambda source: prism.grade(source, RIGHT),
        "grade_many": lambda source: list(prism.grade_many(source, [{"response": RIGHT, "sample_id": "a"}])),
        "diagnose": lambda source: prism.diagnose(source, graded),
        "lint": lambda source: [str(each) for each in prism.lint(source)],
        "Reward": lambda source: Reward()(source, RIGHT).value,
        "Reward of a set": lambda source: Reward(problems=source)("free_fall", RIGHT).value,
        "prism_grade": lambda source: grade_solution(source, RIGHT).grade,
    }


@pytest.mark.parametrize("call", public_calls())
def test_every_call_takes_an_id_a_path_a_table_and_a_problem(call: str) -> None:
    done = {name: public_calls()[call](source) for name, source in sources().items()}
    assert all(each == done["path"] for each in done.values()), done
    assert call == "lint" or done["path"] not in (None, [], {})


def test_a_prepared_problem_is_not_prepared_again() -> None:
    prepared = prism.prepare("free_fall", training=True)
    assert prism.prepare(prepared) is prepared
    assert prism.prepare(prepared, training=True) is prepared
    assert prism.prepare(prism.prepare("free_fall"), training=True).given is not None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: prism.equivalent("F = ma", None), "b: found nothing; expected LaTeX as text, or a Formula"),  # type: ignore[arg-type]
        (lambda: prism.equivalent(3, "a"), "a: found a value of type int"),  # type: ignore[arg-type]
        (lambda: prism.parse(None), "latex: found nothing"),  # type: ignore[arg-type]
        (lambda: prism.write("a = b"), "write: found a value of type str; expected a formula"),  # type: ignore[arg-type]
        (lambda: prism.read_quantity(None), "quantity: found nothing"),  # type: ignore[arg-type]
        (lambda: prism.extract(None), "solution: found nothing"),  # type: ignore[arg-type]
        (lambda: prism.grade(None, "x"), "found nothing; give a .json or .toml file"),  # type: ignore[arg-type]
        (lambda: prism.grade("free_fall", None), "solution: found nothing"),  # type: ignore[arg-type]
        (lambda: prism.grade("", "x"), "found an empty text"),
        (lambda: prism.load_problems(""), "found an empty text"),  # it would be the folder that one stands in
        (lambda: prism.verify(None, "x"), "gold: found nothing"),  # type: ignore[arg-type]
        (lambda: prism.verify("", "x"), "holds no formula"),
        (lambda: prism.diagnose("free_fall", None), "grade: found nothing"),  # type: ignore[arg-type]
        (lambda: prism.grade_many("free_fall", None), "rollouts: found nothing"),  # type: ignore[arg-type]
        (lambda: prism.grade_many("free_fall", "r.jsonl"), "`prism run` reads files"),  # type: ignore[arg-type]
        (lambda: prism.grade_many("free_fall", {"response": "x"}), "rollouts: found a value of type dict"),  # type: ignore[dict-item]
    ],
)  # fmt: skip
def test_a_value_of_another_kind_is_told(call: Callable[[], object], said: str) -> None:
    with pytest.raises(prism.PrismError, match=re.escape(said)):
        call()


def test_if_equivalent_means_what_it_says() -> None:
    assert not prism.equivalent("a = b", "a = c")
    assert prism.equivalent("a = b", "b = a")


# Names that are not found. --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_nearest_name_is_suggested(folder: Path) -> None:
    (folder / "answer.md").write_text(RIGHT, encoding="utf-8")
    (folder / "mine.toml").write_text(resource("dags/free_fall.toml").read_text("utf-8"), encoding="utf-8")
    rows = lines("rows.jsonl", {"response": RIGHT})
    assert 'did you mean "answer.md"?' in told("grade", "free_fall", "anwser.md")
    assert "did you mean free_fall?" in told("grade", "free_fal", "answer.md")
    assert "did you mean mine.toml?" in told("grade", "mien.toml", "answer.md")
    assert "did you mean free_fall?" in told("lint", "fre_fall")
    assert 'did you mean "rows.jsonl"?' in told("run", "free_fall", "row.jsonl", "-o", "out.jsonl")
    assert 'did you mean "rows.jsonl"?' in told("report", "row.jsonl")
    assert 'did you mean "response"?' in told("run", "free_fall", rows, "-o", "out.jsonl", "--map", "respnse=x")
    assert "Did you mean 'list'?" in told("lst", code=2)
    with pytest.raises(prism.DataFileError, match=r"did you mean free_fall\?"):
        prism.grade("free_fal", RIGHT)
    assert 'did you mean "free_fall"?' in Reward()("free_fal", RIGHT).fault
    assert 'did you mean "free_fall"?' in Reward(problems="free_fall")("free_fal", RIGHT).fault
    with pytest.raises(prism.PrismError, match=r'did you mean "free_fall"\?'):
        list(prism.grade_many(["free_fall", "bucket"], [{"problem_id": "free_fal", "response": "x"}]))


def test_an_empty_name_is_not_this_folder() -> None:
    for words in (("grade", "", "x.md"), ("run", "", "r.jsonl", "-o", "out.jsonl"), ("show", ""), ("lint", "")):
        assert 'prism: "": no such file' in told(*words)


def test_a_file_without_an_ending_that_is_not_there_is_missing() -> None:
    assert "cannot be read: No such file or directory" in told("run", "free_fall", "rollouts", "-o", "out.jsonl")


# Files that are written. ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_file_is_written_over_and_no_folder_made_unasked(folder: Path) -> None:
    (folder / "answer.md").write_text(RIGHT, encoding="utf-8")
    rollouts = lines("r.jsonl", {"response": RIGHT})
    writers: dict[str, tuple[str, ...]] = {
        "rows.jsonl": ("run", "free_fall", rollouts, "--workers", "0"), "page.html": ("report", "rows.jsonl"),
        "draft.toml": ("draft", "answer.md"),
    }  # fmt: skip
    for name, words in writers.items():
        assert "there is no folder" in told(*words, "-o", f"nowhere/{name}")
        told(*words, "-o", name, code=0)
        before = (folder / name).read_bytes()
        assert "is there already" in told(*words, "-o", name)
        assert (folder / name).read_bytes() == before
    assert not (folder / "nowhere").exists()


# What messages and pages tell to install. -----------------------------------------------------------------------


def test_no_text_installs_from_an_index_what_is_not_there() -> None:
    """`prism-dag` is on no index: to install it by name fails, or brings what somebody else has put there."""
    files = [
        path
        for folder in ("prism", "docs", "examples", "dags", "constants", "grammar")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".md", ".yml", ".toml", ".lark", ".html", ".ipynb")
    ]
    files += [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "mkdocs.yml")]
    by_name = re.compile(
        r"(?:pip3? install|uv add|uv tool install|pipx install)\b[^\n`]*[\s\"']prism(?:-dag)?(?:\[|[\s\"'`=<>]|$)"
    )
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]}" for path in files for hit in by_name.finditer(path.read_text("utf-8"))
    ]
    assert found == []
    assert by_name.search('pip install "prism-dag[serve]"')
    assert by_name.search("pip install inspect-ai prism-dag\n")
    assert not by_name.search(needs_extra("it needs", "serve"))


def test_an_extra_is_named_with_checkout_and_wheel() -> None:
    assert needs_extra("it needs", "serve") == (
        'it needs the extra serve: pip install ".[serve]" in the checkout, or'
        ' its wheel as "prism_dag-VERSION-py3-none-any.whl[serve]"'
    )


# Others. --------------------------------------------------------------------------------------------------------


def test_words_in_the_column_of_formulas_are_no_node() -> None:
    Path("scheme.csv").write_text(
        "criterion,formula,points\nfirst,Use energy conservation,1\nspeed,v = \\sqrt{2gh},2\nlast,Say it,1\n",
        encoding="utf-8",
    )
    done = run.invoke(app, ["convert", "scheme.csv", "--json"])
    (problem,) = json.loads(done.stdout)["problems"]
    assert [node["formula"] for node in problem["problem"]["grading_standard"]] == [r"v = \sqrt{2 g h}"]
    assert problem["points_lost"] == 2


def test_a_lone_expression_is_told_as_what_it_is() -> None:
    reasons = {item.reason for item in prism.grade("free_fall", r"$6370 \, \text{km}$, $x^2$, $dS$").formulas}
    assert "kind" not in reasons


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A mass $m = 2.00$ kg slides.", "A mass M slides."), (r"with \(k = 800\) N/m now", "with M now"),
        ("has $a$ and $b = 2$.", "has M and M."), ("Then $$E = mc^2$$ holds", "Then M holds"),
        ("costs $5 and $v = 3$ m/s", "costs $5 and M"),
    ],
)  # fmt: skip
def test_a_page_prints_no_stray_delimiter(text: str, shown: str) -> None:
    (paragraph,) = prose(text)
    assert re.sub(r"<math.*?</math>", "M", str(paragraph)) == shown
