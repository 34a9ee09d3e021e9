"""Folders and single files of any type, through the commands: each file is read, refused or needs a person, by name."""

from __future__ import annotations

import csv
import json
from pathlib import Path, PurePath

import pytest
from typer.testing import CliRunner, Result

from prism.cli import app
from tests.support.document_forms import (
    MARKDOWN,
    REFUSED,
    latex_document,
    read_forms,
    word_body,
    word_document,
    write_form,
)

FORMS = {name: files for name, files in read_forms().items() if len(files) == 1}


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def book_of(out: Path) -> dict[str, dict[str, str]]:
    """The rows of a gradebook by student."""
    with (out / "gradebook.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.mark.slow
def test_a_class_of_all_forms_loses_nobody(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    read, unread = set(), set()
    for name, files in FORMS.items():
        file, content = next(iter(files.items()))
        if not file.endswith(".json"):
            write_form(folder, {f"{name}{PurePath(file).suffix}": content})
            read.add(name)
    for number, (file, (raw, _)) in enumerate(REFUSED.items()):
        write_form(folder, {f"r{number}{PurePath(file).suffix}": raw})
        unread.add(f"r{number}")
    done = run("feedback", "free_fall", folder, "-o", tmp_path / "out", "--points", "6")
    assert done.exit_code == 0, done.stderr
    book = book_of(tmp_path / "out")
    assert set(book) == read | unread
    assert {name for name, row in book.items() if row["points"] == "6" and not row["needs_a_person"]} == read
    assert {name for name, row in book.items() if not row["points"] and row["needs_a_person"]} == unread


def test_run_reads_documents_of_a_folder(tmp_path: Path) -> None:
    for name in ("word", "notebook", "mathml", "typst"):
        content = next(iter(FORMS[name].values()))
        ending = PurePath(next(iter(FORMS[name]))).suffix
        write_form(tmp_path / "in" / "free_fall", {f"{name}{ending}": content})
    write_form(tmp_path / "in" / "free_fall", {"half.html": "<p>$v = g t$</p><img src=a.png>", "a.pdf": b"%PDF-1.7"})
    done = run("run", "free_fall", tmp_path / "in", "-o", tmp_path / "o.jsonl", "--workers", "0", "--json")
    assert done.exit_code == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert {row["sample_id"].partition("/")[2]: row["matched"] for row in rows} == {
        "half.html": [2], "mathml.html": [1, 2, 3, 4, 5, 6], "notebook.ipynb": [1, 2, 3, 4, 5, 6],
        "typst.typ": [1, 2, 3, 4, 5, 6], "word.docx": [1, 2, 3, 4, 5, 6],
    }  # fmt: skip
    assert {each["file"]: each["reason"] for each in json.loads(done.stdout)["left_out"]} == {
        "free_fall/a.pdf": "is a PDF file, which is not read",
        "free_fall/half.html": "is read, but for 1 picture",
    }


def test_a_file_puts_in_no_file_of_another_student(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    first, _, second = MARKDOWN.partition("(b)")
    write_form(folder, {"bob.tex": latex_document(MARKDOWN), "cat.tex": r"\input{bob} \input{../class/bob}"})
    write_form(folder, {
        "lea.tex": latex_document(r"\input{lea/a}\include{lea/b}"), "lea/a.tex": first, "lea/b.tex": f"(b) {second}",
    })  # fmt: skip
    done = run("feedback", "free_fall", folder, "-o", tmp_path / "out", "--points", "6", "--json")
    assert {name: row["points"] for name, row in book_of(tmp_path / "out").items()} == {
        "bob": "6",
        "cat": "0",
        "lea": "6",
    }
    told = {each["file"]: (each["status"], each["reason"]) for each in json.loads(done.stdout)["left_out"]}
    assert told["lea/a.tex"] == told["lea/b.tex"] == ("part_of_another", "is part of lea.tex")
    assert told["cat.tex"][0] == "needs_a_person"
    assert '"bob" is not in the folder' in told["cat.tex"][1]
    named = run(
        "feedback", "free_fall", folder / "bob.tex", folder / "cat.tex", "-o", tmp_path / "named", "--points", "6"
    )
    assert named.exit_code == 0
    assert book_of(tmp_path / "named")["cat"]["points"] == "0"


def test_of_two_files_of_a_student_one_is_read_and_the_other_told(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    files: dict[str, str | bytes] = {
        "ada.docx": word_document(word_body()),
        "ada.md": "$v = g t$",
        "ada.tex": "$v = 2 g t$",
    }
    write_form(folder, {**files, "bo.html": MARKDOWN, "bo.org": "$v = g t$"})
    done = run("feedback", "free_fall", folder, "-o", tmp_path / "out", "--points", "6")
    assert done.exit_code == 0, done.stderr
    book = book_of(tmp_path / "out")
    assert [book[name]["points"] for name in ("ada", "bo")] == ["2", "6"]
    for file, kept in {"ada.docx": "ada.md", "ada.tex": "ada.md", "bo.org": "bo.html"}.items():
        assert (
            f"needs a person: {file} is a second file of {file[: file.index('.')]}, of whom {kept} is read"
            in done.stderr
        )


def test_documents_beside_tables_are_told(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text('{"problem_id": "free_fall", "response": "$v = g t$"}\n')
    (tmp_path / "in" / "report.html").write_text("<p>Report")
    done = run("run", "free_fall", tmp_path / "in", "-o", tmp_path / "o.jsonl", "--workers", "0")
    assert done.exit_code == 0, done.stderr
    assert "needs a person: report.html is a web page beside tables, which are read" in done.stderr


@pytest.mark.parametrize("command", [("grade", "free_fall"), ("explain", "free_fall"), ("draft",)])
def test_a_single_document_is_read_and_what_is_not_is_told(command: tuple[str, ...], tmp_path: Path) -> None:
    picture = "<w:p><w:r><w:drawing/></w:r></w:p>"
    file = write_form(tmp_path, {"ada.docx": word_document(word_body() + picture)})
    done = run(*command, file)
    assert done.exit_code == 0, done.stderr
    assert f"prism: {file}: is read, but for 1 picture" in done.stderr
    assert "v = g" in done.stdout


def test_explain_names_the_place_in_the_file(tmp_path: Path) -> None:
    file = write_form(tmp_path, FORMS["notebook with outputs"])
    assert "; cell 2]" in run("explain", "free_fall", file).stdout
    file = write_form(tmp_path / "b", FORMS["markdown"])
    assert "; " not in run("explain", "free_fall", file).stdout.partition("]")[0]
