"""What lies in a folder of solutions beside texts: told with its reason, by every command, and never a fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prism.cli import app
from prism.runs.input_files import files_in
from prism.runs.rollouts import scan

run = CliRunner()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder `PROBLEM/SAMPLE.md` with a text, and files that are none."""
    texts = tmp_path / "texts"
    (texts / "free_fall").mkdir(parents=True)
    (texts / ".git").mkdir()
    for name, raw in {
        "free_fall/a.md": b"$v = g t$", "free_fall/b.PDF": b"%PDF-1.7", "free_fall/c.md": b"%PDF-1.7",
        "free_fall/d.djt": b"$v = g t$", ".git/config": b"", "free_fall/.DS_Store": b"\0", "Thumbs.db": b"\0",
    }.items():  # fmt: skip
        (texts / name).write_bytes(raw)
    return texts


def test_each_file_is_a_text_or_told_with_its_reason(folder: Path) -> None:
    scanned = scan(folder, ("free_fall",))
    assert scanned.n == 1
    assert {file.place: (file.kind.value, file.reason) for file in scanned.left_out} == {
        ".git/config": ("passed_over", "is hidden, or of the system"),
        "Thumbs.db": ("passed_over", "is hidden, or of the system"),
        "free_fall/.DS_Store": ("passed_over", "is hidden, or of the system"),
        "free_fall/b.PDF": ("needs_a_person", "is a PDF file, which is not read"),
        "free_fall/c.md": ("needs_a_person", "is a PDF file; text in UTF-8 is read"),
        "free_fall/d.djt": ("needs_a_person", "has the ending .djt; .md, .tex, .txt, .docx, .html and others are read"),
    }
    assert len(list(files_in(folder))) == 7


def test_run_counts_them_in_its_last_line(folder: Path, tmp_path: Path) -> None:
    words = ["run", "free_fall", str(folder), "-o", str(tmp_path / "o.jsonl"), "--workers", "0"]
    done = run.invoke(app, words)
    assert done.exit_code == 0
    assert done.stdout.endswith("; need a person: 3 files not read\n")
    assert "prism: needs a person: free_fall/b.PDF is a PDF file, which is not read" in done.stderr
    assert "passed over, as hidden files are: .git/config, Thumbs.db, free_fall/.DS_Store" in done.stderr
    told = json.loads(run.invoke(app, [*words, "--force", "--json"]).stdout)["left_out"]
    assert [each["status"] for each in told].count("needs_a_person") == 3


def test_a_folder_of_other_files_alone_is_a_fault_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(b"PK\x03\x04")
    done = run.invoke(app, ["run", "free_fall", str(tmp_path), "-o", str(tmp_path / "o.jsonl")])
    assert done.exit_code == 3
    assert "a.docx: is a Word document, and is damaged: File is not a zip file" in done.stderr


@pytest.mark.parametrize("command", [["grade", "free_fall"], ["explain", "free_fall"], ["draft"]])
def test_a_single_solution_is_told_in_the_same_words(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "a.doc").write_text("{}")
    told = run.invoke(app, [*command, str(tmp_path / "a.doc")])
    said = "a.doc: is a Word document of the old kind, which is not read; save it as .docx: a person has to read it"
    assert (told.exit_code, said in told.stderr) == (3, True)
    (tmp_path / "a.ipynb").write_text("{}")
    told = run.invoke(app, [*command, str(tmp_path / "a.ipynb")])
    assert (told.exit_code, "a.ipynb: is a notebook, and holds no list of cells" in told.stderr) == (3, True)
    told = run.invoke(app, [*command, str(tmp_path)])
    assert (told.exit_code, "is a folder; name a file in it" in told.stderr) == (3, True)


def test_draft_tells_all_files_that_it_cannot_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("$v = g t$")
    told = run.invoke(app, ["draft", str(tmp_path / "a.md"), str(tmp_path / "b.pdf"), str(tmp_path / "c.doc")]).stderr
    assert all(said in told for said in ("b.pdf: is a PDF file", "c.doc: is a Word document"))
