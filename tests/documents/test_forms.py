"""One right solution in the forms in which people have it: each is read whole, or refused by its name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import prism
from prism.grading.prepared import PreparedProblem
from prism.latex.documents.kinds import NOT_READ, READ, kind_of
from prism.latex.documents.reading import read_document
from tests.support.document_forms import MARKDOWN, REFUSED, read_forms, write_form

FORMS = read_forms()


@cache
def free_fall() -> PreparedProblem:
    return prism.prepare(prism.load_problem("free_fall"))


def grade_of(solution: prism.Solution) -> prism.Grade:
    return prism.grade(free_fall(), solution)


@pytest.mark.parametrize("name", FORMS)
def test_each_form_is_read_whole(name: str, tmp_path: Path) -> None:
    document = read_document(write_form(tmp_path, FORMS[name]))
    grade, expected = grade_of(document.solution), grade_of(MARKDOWN)
    assert document.not_read == ()
    assert (sorted(grade.matched), grade.score, len(grade.formulas)) == (
        sorted(expected.matched), expected.score, len(expected.formulas),
    )  # fmt: skip
    assert expected.matched == (1, 2, 3, 4, 5, 6)
    assert not [item.latex for item in grade.formulas if not item.matches]


@pytest.mark.parametrize("name", REFUSED)
def test_each_other_file_is_refused_by_its_name(name: str, tmp_path: Path) -> None:
    raw, said = REFUSED[name]
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(prism.PrismError) as error:
        read_document(tmp_path / name)
    assert said in str(error.value)


def test_no_ending_is_of_two_types() -> None:
    endings = [ending for kind in (*READ, *NOT_READ) for ending in kind.endings]
    assert len(endings) == len(set(endings))
    assert all(kind_of(Path(f"ANNA{ending.upper()}")) is not None for ending in endings)


def test_the_page_lists_each_type_with_its_endings() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "solution_files.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in page.splitlines() if line[:2] == "| "]
    listed = {row[0]: sorted(row[1].replace("`", "").split()) for row in rows if row[1][:1] == "`"}
    assert listed == {kind.name: sorted(kind.endings) for kind in (*READ, *NOT_READ)}
    advised = {row[0]: row[2] for row in rows if len(row) == 3}
    assert all(advised[kind.name] == kind.advice for kind in NOT_READ)


@pytest.mark.parametrize("ending", [".md", ".txt", ".tex", ""])
@pytest.mark.parametrize(
    "text",
    ["", "\r\n$v = g t$\r\n", "\ufeff$v = gt$", "% \\input{b}\n$v = gt$", "```math\nv = gt\n```", "<math>v = gt</math>",
     '{"messages": []}', "a \\\\input is a command", r"\inputs{b} $v = gt$"],
)  # fmt: skip
def test_plain_texts_stay_as_they_are(ending: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / f"a{ending}"
    (tmp_path / "b.tex").write_text("$v = 2 g t$")
    file.write_bytes(text.encode())
    assert read_document(file).solution == text.removeprefix("\ufeff")


def test_places_lead_back_into_the_file(tmp_path: Path) -> None:
    def places(name: str) -> list[str]:
        document = read_document(write_form(tmp_path / name, FORMS[name]))
        assert isinstance(document.solution, str)
        return [document.place_of(document.solution.index("The distance")), document.place_of(len(document.solution))]

    assert places("notebook with outputs") == ["cell 1", "cell 2"]
    assert places("overleaf") == ["parts/a.tex, from line 1 on", "main.tex, from line 22 on"]
    assert places("word") == ["paragraph 1", "paragraph 6"]
    assert places("org") == ["line 5", "line 20"]
    assert places("markdown") == ["", ""]
