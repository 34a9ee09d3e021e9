"""Gradebooks that Moodle and Canvas import, and German pages and tables."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from markupsafe import Markup
from typer.testing import CliRunner, Result

import prism
from prism.cli import app
from prism.reports.html.markup import TextPart
from prism.reports.html.mathml import as_mathml
from prism.reports.html.typeset import typeset
from tests.support.document_forms import write_form
from tests.support.html_pages import Checked

RIGHT = r"$v = g t$, so \[ s = \frac{1}{2} g t^2. \]"
WRONG = r"$v = 2 g t$, $t = 0{,}5\,\mathrm{s}$."


def feedback(folder: Path, out: Path, *more: str) -> Result:
    words = ("feedback", "free_fall", str(folder), "-o", str(out), "--points", "5", *more)
    return CliRunner().invoke(app, list(words))


def rows_of(path: Path, separator: str = ",") -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=separator))


def moodle_folder(tmp_path: Path) -> Path:
    write_form(tmp_path / "in", {
        "Anna Berg_4711_assignsubmission_file_/a.md": RIGHT, "Bo_4712_assignsubmission_file_/b.md": WRONG,
        "Cy_4713_assignsubmission_file_/scan.pdf": b"%PDF",
    })  # fmt: skip
    return tmp_path / "in"


def test_moodle_finds_students_by_their_numbers(tmp_path: Path) -> None:
    done = feedback(moodle_folder(tmp_path), tmp_path / "out", "--gradebook", "moodle")
    assert done.exit_code == 0, done.stderr
    head, anna, bo, cy = rows_of(tmp_path / "out" / "moodle.csv")
    assert head == ["Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)", "Feedback comments"]
    title = prism.load_problem("free_fall").title
    says = f"{title} (a): 2.5 of 3.33; {title} (b): 0 of 1.67"
    assert anna == ["Participant 4711", "Anna Berg", "2.5", "5", "-", says]
    assert bo[:3] == ["Participant 4712", "Bo", "0"]
    assert cy[:3] == ["Participant 4713", "Cy", ""]
    assert cy[5].endswith("scan.pdf is a PDF file, which is not read: a person has to read it.")


def test_a_german_moodle_gets_its_own_columns_and_commas(tmp_path: Path) -> None:
    feedback(moodle_folder(tmp_path), tmp_path / "out", "--gradebook", "moodle,canvas", "--language", "de")
    head, anna, *_ = rows_of(tmp_path / "out" / "moodle.csv")
    assert head == [
        "ID", "Vollständiger Name", "Bewertung", "Bestwertung", "Zuletzt geändert (Bewertung)",
        "Feedback als Kommentar",
    ]  # fmt: skip
    assert anna[:4] == ["Teilnehmer/in4711", "Anna Berg", "2,5", "5"]
    book = rows_of(tmp_path / "out" / "gradebook.csv", ";")
    assert book[1][:4] == ["Anna Berg", "2,5", "2,5", "5"]
    steps = rows_of(tmp_path / "out" / "steps.csv", ";")
    assert {row[6] for row in steps[1:]} == {"0,166667"}
    assert rows_of(tmp_path / "out" / "canvas.csv")[2][5] == "2.5"


def test_students_without_a_number_are_named_for_the_import_of_the_gradebook(tmp_path: Path) -> None:
    write_form(tmp_path / "in", {"aberg.md": RIGHT, "=1+1.md": RIGHT})
    feedback(tmp_path / "in", tmp_path / "out", "--gradebook", "moodle", "--gradebook", "canvas")
    moodle, canvas = (rows_of(tmp_path / "out" / f"{name}.csv") for name in ("moodle", "canvas"))
    assert moodle[0] == ["Username", "Grade", "Maximum Grade", "Feedback comments"]
    assert [row[:3] for row in moodle[1:]] == [["'=1+1", "2.5", "5"], ["aberg", "2.5", "5"]]
    title = prism.load_problem("free_fall").title
    assert canvas[:2] == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title],
        ["    Points Possible", "", "", "", "", "5"],
    ]  # fmt: skip
    assert canvas[3] == ["aberg", "", "", "aberg", "", "2.5"]


@pytest.mark.parametrize(("option", "value"), [("--gradebook", "blackboard"), ("--language", "xx")])
def test_what_is_unknown_is_told(option: str, value: str, tmp_path: Path) -> None:
    write_form(tmp_path / "in", {"a.md": RIGHT})
    done = feedback(tmp_path / "in", tmp_path / "out", option, value)
    assert done.exit_code == 2
    assert f"{option} {value}: expected" in re.sub(r"\s*│\s*", " ", done.stderr)


def test_a_german_page_has_no_decimal_point_and_its_text_typeset(tmp_path: Path) -> None:
    feedback(moodle_folder(tmp_path), tmp_path / "out", "--language", "de")
    page = (tmp_path / "out" / "students" / "Bo.html").read_text(encoding="utf-8")
    found = Checked(page)
    assert '<html lang="de">' in page
    assert "Rückmeldung für" in page
    assert not re.search(r"\d\.\d", re.sub(r"(?s)<style>.*?</style>|<svg.*?</svg>|<mspace[^>]*>", "", page))
    assert page.count("<mn>0,5</mn>") == 2  # in the list of steps and in the text
    assert found.tags["math"] >= 4
    assert r"$v = 2 g t$, $t = 0{,}5\,\mathrm{s}$." in page  # as it was handed in
    whole = (tmp_path / "out" / "class.html").read_text(encoding="utf-8")
    assert Checked(whole).tags["svg"] >= 3  # histogram, edges and the graph with shares
    assert "2,5" in whole


def test_corrections_of_a_german_spreadsheet_are_read(tmp_path: Path) -> None:
    sheet = tmp_path / "corrections.csv"
    sheet.write_text(
        "\ufeffstudent;node;credited;by;why\r\nBo;2;yes;M. Roe;so gemeint, siehe Skizze\r\n", encoding="utf-8"
    )
    done = feedback(moodle_folder(tmp_path), tmp_path / "out", "--corrections", str(sheet))
    assert done.exit_code == 0, done.stderr
    assert "corrections: 1, of which 1 changes the rule's verdict" in done.stdout


def test_numbers_with_a_comma_are_one_number() -> None:
    assert as_mathml(r"1{,}25 \mathrm{m}") == Markup("<math><mn>1,25</mn><mtext>m</mtext></math>")
    assert as_mathml("f(1,2)").count("<mo>,</mo>") == 1
    assert as_mathml("1{,}25 + 2.5").count("<mn>") == 3  # both in one formula: as the library has it


@pytest.mark.parametrize(
    ("parts", "typeset_parts"),
    [
        (("so $", "*v=1", "$."), ("so ", "*v=1", ".")),
        (
            ("a\n\\begin{align}\n", "*v &= 1", "\\\\\n", "*u &= 2", "\n\\end{align}\nb"),
            ("a", "**v=1", "", "**u=2", "b"),
        ),
        (("$$", "*v=1", ", \\quad ", "*u=2", "$$"), ("", "**v=1", ", ", "**u=2", "")),
        ((r"\[ \boxed{", "*v=1", "} \\]"), ("", "**v=1", "")),
        (("$", "*v=1", r" \text{ if } u", "$ <b>"), ("", "*v=1", "\xa0if\xa0u ", " &lt;b&gt;")),
        (("by ", "*v=1", " and $u$"), ("by ", "*v=1", " and u")),
        (("x $", "*v=1", " never closed"), ("x $", "*v=1", " never closed")),
    ],
)
def test_delimiters_of_typeset_formulas_are_taken_away(parts: tuple[str, ...], typeset_parts: tuple[str, ...]) -> None:
    given = [TextPart(part.removeprefix("*"), "m" if part.startswith("*") else "") for part in parts]
    found = [
        ("*" * bool(part.css) + "*" * part.is_display + re.sub("<[^>]*>", "", str(part.text)))
        for part in typeset(given)
    ]
    assert tuple(found) == typeset_parts
