"""Folders of a class as people have them: each student has a row, whatever was handed in and however it is called."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import prism
from prism.cli import app
from prism.reports.feedback.submissions import read_submissions
from tests.support.document_forms import word_body, word_document, write_form
from tests.support.html_pages import checked

RIGHT = "$v = g t$, so $s = \\frac{1}{2} g t^2$."
HOSTILE = (
    "<script>alert(1)<", "=cmd|'c calc'!A1", "a\u202eb", "line\nbreak", "-o", "CON", "O'Brien, Ann", '"quoted"', "100%",
    "ä ö ü", "名前", "x" * 200, "a&b;c", "$(reboot)", "`id`", "{{7*7}}", "con ", "\\..\\..\\etc", "@SUM(1)", "a.b.c",
)  # fmt: skip
GUARDED = ("=", "-", "@")  # what a spreadsheet would work out stands behind an apostrophe


def feedback(folder: Path, out: Path, *more: str) -> Result:
    words = ("feedback", "free_fall", str(folder), "-o", str(out), *more)
    return CliRunner().invoke(app, list(words))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_no_student_of_a_folder_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    files: dict[str, str | bytes] = {
        "text.md": RIGHT, "paper.pdf": b"%PDF-1.7\n", "word.docx": word_document(word_body()), "photo.PNG": b"\x89PNG",
        "empty.md": "", "huge.md": RIGHT + "so it goes on and on. " * 240_000, "latin.md": "Höhe".encode("latin-1"),
        "twice.md": RIGHT, "twice.tex": RIGHT, "sub/folder/deep.md": RIGHT, "wide.md": RIGHT.encode("utf-16"),
        "nul.md": b"\0\0\0", "broken.docx": b"PK\x03\x04 no zip", "noending": RIGHT, "only.xyz": b"?",
        "archive.zip": b"PK\x05\x06" + bytes(18), "team/table.csv": "a,b\n1,2\n", "team/main.md": RIGHT,
    }  # fmt: skip
    write_form(folder, {**files, **{f"{name}.md": RIGHT for name in HOSTILE}})
    raw = os.fsencode(folder) + b"/\xff\xfe.md"
    Path(os.fsdecode(raw)).write_text(RIGHT)
    done = feedback(folder, tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    book = {row["student"]: row for row in rows_of(tmp_path / "out" / "gradebook.csv")}
    expected = {Path(name).stem for name in files if "/" not in name} | {"sub", "team"}
    hostile = {f"'{name}" if name.startswith(GUARDED) else name for name in HOSTILE}
    assert expected | hostile <= set(book)
    assert len(book) == len(expected) + len(hostile) + 1
    unread = {name for name, row in book.items() if row["needs_a_person"]}
    assert unread == {
        "paper", "photo", "empty", "huge", "latin", "twice", "wide", "nul", "broken", "noending", "only", "archive",
        "team",
    }  # fmt: skip
    assert {name for name in unread if not book[name]["points"]} == unread - {"empty", "huge", "twice", "team"}
    assert all(row["points"] == "3" for name, row in book.items() if name not in unread | {"word"})
    pages = sorted((tmp_path / "out" / "students").iterdir())
    assert len(pages) == sum(bool(row["points"]) for row in book.values())
    for page in pages:
        checked(page.read_text(encoding="utf-8"), n_nav=0)


def test_a_folder_of_moodle_has_a_student_in_each_folder(tmp_path: Path) -> None:
    folder = tmp_path / "Physics-Sheet 3-1234"
    write_form(folder, {
        "Anna Berg_4711_assignsubmission_file_/solution.md": RIGHT,
        "Anna Berg_4711_assignsubmission_onlinetext_/onlinetext.html": "",
        "Ben O_Hara_4712_assignsubmission_file_/main.tex": r"\begin{document}\input{parts/a}\end{document}",
        "Ben O_Hara_4712_assignsubmission_file_/parts/a.tex": RIGHT,
        "Ben O_Hara_4712_assignsubmission_file_/plot.png": b"\x89PNG",
        "Cem_4713_assignsubmission_onlinetext_/onlinetext.html": f"<p>{RIGHT}</p>",
        "Cem_4714_assignsubmission_file_/scan.pdf": b"%PDF",
        "Dora_4715_assignsubmission_file_sheet.md": RIGHT,
    })  # fmt: skip
    found = read_submissions({"free_fall": prism.load_problem("free_fall")}, [folder])
    assert [each.student for each in found.submissions] == ["Anna Berg", "Ben O_Hara", "Cem_4713", "Dora"]
    assert {(each.student, each.file.path.name) for each in found.unread} == {
        ("Anna Berg", "onlinetext.html"), ("Ben O_Hara", "plot.png"), ("Cem_4714", "scan.pdf"),
    }  # fmt: skip
    assert [each.path.name for each in found.passed_over] == ["a.tex"]
    assert found.participants == {
        "Anna Berg": "4711", "Ben O_Hara": "4712", "Cem_4713": "4713", "Cem_4714": "4714", "Dora": "4715",
    }  # fmt: skip


def test_of_several_problems_students_are_below_the_problem(tmp_path: Path) -> None:
    write_form(tmp_path / "in", {
        "free_fall/ann/a.md": RIGHT, "free_fall/bo.md": RIGHT, "stirling_engine/ann.md": "$p V = n R T$",
        "scan.pdf": b"%PDF",
    })  # fmt: skip
    known = prism.load_problems(["free_fall", "stirling_engine"])
    found = read_submissions(known, [tmp_path / "in"])
    assert [(each.student, each.problem_id) for each in found.submissions] == [
        ("ann", "free_fall"), ("ann", "stirling_engine"), ("bo", "free_fall"),
    ]  # fmt: skip
    assert [(each.problem_id, each.student) for each in found.unread] == [("", "scan")]
    write_form(tmp_path / "in", {"freefall/cy.md": RIGHT, "dee.md": RIGHT})
    with pytest.raises(prism.DataFileError) as error:
        read_submissions(known, [tmp_path / "in"])
    assert 'no problem has the id "freefall"; did you mean "free_fall"?' in str(error.value)
    assert "dee.md: is in the folder of no problem" in str(error.value)


def test_an_empty_page_of_moodle_does_not_hide_a_file(tmp_path: Path) -> None:
    write_form(tmp_path / "in", {
        "A_1_assignsubmission_onlinetext_/onlinetext.html": "<p></p>",
        "A_1_assignsubmission_file_/z.docx": word_document(word_body()),
    })  # fmt: skip
    done = feedback(tmp_path / "in", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["students"][0]["points"] == 6
