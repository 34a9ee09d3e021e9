"""Tables as CSV, Markdown and LaTeX: what stands in a cell arrives, and nothing in it is taken for a command."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.grading.row import score_row
from prism.reports.agreement import Estimate
from prism.reports.formats import ENDINGS, Format
from prism.reports.report_tables import chosen_tables
from prism.reports.table_formats import (
    Column,
    DataTable,
    Kind,
    as_csv,
    as_latex,
    as_markdown,
    columns,
    csv_text,
    in_percent,
    latex_text,
    plain_cell,
    shown_rows,
    written,
    written_parts,
)
from prism.reports.tables import rich_parts

HALF = Estimate(0.5, 0.25, 0.123456, 4)
ALONE = Estimate(1 / 3, None, None, 1, "one_problem")
NONE = Estimate(None, None, None, 0, "no_items")
TABLE = DataTable(
    "by-model", "By model, 50%",
    (Column("model"), Column("level"), Column("n", Kind.COUNT), *columns(("final", "shares"), group="text & image"),
     Column("time", Kind.VALUE, "text & image", 2), Column("formula", Kind.FORMULA)),
    (
        ("a_b", "Easy", 12, HALF, HALF, 1234.5, r"\frac{a}{b} | c"),
        ("a_b", "Hard", 3, ALONE, ALONE, -0.001, "`x`"),
        ("c|d,\n\"e\"", "Easy", 0, NONE, NONE, None, ""),
    ),
    n_keys=2, notes=("Some are 100% left out.",),
)  # fmt: skip
# Signs that TeX, Markdown or a terminal would obey, and letters of several scripts.
HOSTILE = (
    r"\input{/etc/passwd}", r"50% of $a_b^c & #1 ~ {x}", "[2cm]", "* star", "-- --- ''quotes'' ``", "<<a|b>> \"c\"",
    "?`!`", "Größe Ångström Čech łódź Ørsted œuvre ß", "αβγδεζηθικλμνξοπρςστυφχψω ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ",
    "模型 модель", "a\u202eb\x00c\nd", "⟨x⟩ ± 3 × 10° µ ħ ∇ ≤ ≥ → ∞ √ − – — … ‘a’ “b”", "e\u0301 é ǘ", "😀",
    "\\", "{", "}", "%", "^^M",
)  # fmt: skip


def test_cells_are_shown_to_people():
    assert list(shown_rows(TABLE)) == [
        ["a_b", "Easy", "12", "0.500", "0.250 to 0.123", "1234.50", r"\frac{a}{b} | c"],
        ["", "Hard", "3", "0.333", "one problem", "0.00", "`x`"],
        ['c|d, "e"', "Easy", "0", "none", "no score", "–", ""],
    ]


def test_per_cent_is_for_shares_only_and_told():
    told = in_percent(TABLE)
    assert told.title == "By model, 50% (per cent)"
    assert [row[3:6] for row in shown_rows(told)][:2] == [["50.00", "25.00 to 12.35", "1234.50"],
                                                          ["33.33", "one problem", "0.00"]]  # fmt: skip
    plain = DataTable("n", "Counts", (Column("n", Kind.COUNT),), ((1,),))
    assert in_percent(plain) == plain


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        *((text, f"'{text}") for text in ('=HYPERLINK("http://x.y","z")', "+1+1", "-1+1", "@SUM(1)", "=1", "\t=1")),
        *((text, text) for text in ("-", "=", "-0.5", "+2e-3", "v = 1", "'quoted'")),
    ],
)
def test_a_spreadsheet_works_out_no_cell_of_csv(name, cell):
    (row,) = csv.reader(io.StringIO(csv_text([[name]])))
    assert row == [cell]
    assert plain_cell(cell) == name
    table = DataTable("t", "T", (Column("model"), Column("gain", Kind.VALUE, "", 3)), ((name, -0.25),))
    _, (model, gain) = csv.reader(io.StringIO(as_csv(table)))
    assert gain == "-0.25"
    assert model == cell or name.startswith("\t")  # of which a table makes a blank


def test_a_report_writes_names_of_models_as_text(tmp_path):
    problem, said = prism.load_problem("free_fall"), "$v = g t$"
    names = ['=HYPERLINK("http://x.y")', "+1+1", "@SUM(1)", "small"]
    rows = [
        {
            **score_row(problem, said, prism.grade(problem, said, sample_id=f"s{k}")),
            "meta": {"model": name},
        }
        for k, name in enumerate(names)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ["report", str(tmp_path / "rows.jsonl"), "--table", "by-model", "-o", str(tmp_path / "t.csv")]
    done = CliRunner().invoke(app, [*words, "--replicates", "0"])
    assert done.exit_code == 0, done.output
    listed = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text("utf-8"))))
    assert sorted(row["model"] for row in listed) == sorted([*(f"'{name}" for name in names[:3]), "small"])


def test_csv_has_every_name_in_every_row_and_comes_back():
    heads, *rows = csv.reader(io.StringIO(as_csv(TABLE)))
    assert heads == [
        "model", "level", "n", "text & image: final", "text & image: final low", "text & image: final high",
        "text & image: time", "formula",
    ]  # fmt: skip
    assert rows == [
        ["a_b", "Easy", "12", "0.5", "0.25", "0.1235", "1234.5", r"\frac{a}{b} | c"],
        ["a_b", "Hard", "3", "0.3333", "", "", "-0.001", "`x`"],
        ['c|d, "e"', "Easy", "0", "", "", "", "", ""],
    ]
    assert "\r" not in as_csv(TABLE)


def test_markdown_has_as_many_cells_in_every_row():
    lines = as_markdown(TABLE).splitlines()
    assert lines[0] == "**By model, 50%**"
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    assert {len(row) for row in cells} == {7}
    assert [cell.strip() for cell in cells[1]] == ["---", "---", "---:", "---:", "---", "---:", "---"]
    assert cells[2][6].strip() == r"` \frac{a}{b} \| c `"
    assert cells[3][6].strip() == "`` `x` ``"
    assert cells[2][0].strip() == r"a\_b"
    assert lines[-1] == "Some are 100% left out."


@given(st.text(max_size=30))
def test_no_text_leaves_its_cell(text):
    table = DataTable("t", text, (Column("a"), Column(text, group=text)), ((text, text), ("b", "c")), notes=(text,))
    assert len({len(row) for row in csv.reader(io.StringIO(as_csv(table)))}) == 1
    rows = [line for line in as_markdown(table).splitlines() if line.startswith("| ")]
    assert len(rows) == 4
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3 for row in rows)
    check_latex(as_latex(table))


# LaTeX. ---------------------------------------------------------------------------------------------------------

ESCAPED = re.compile(r"\\[\\{}$&#%_]|\\[`'^~=\".]|\\[A-Za-z]+")


def check_latex(text: str) -> None:
    """Assert that a table is ASCII but for comments, closes braces and environments, and has full rows."""
    body = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("%"))
    assert body.isascii()
    bare = ESCAPED.sub(" ", body.replace(r"\ensuremath{^\circ}", ""))
    depth = 0
    for sign in bare:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert not set(re.sub(r"\$-[\d.]+\$", "", bare)) & set("$#%_^\\")
    assert re.findall(r"\\(begin|end)\{(\w+)\}", body) == [
        ("begin", "table"), ("begin", "tabular"), ("end", "tabular"), ("end", "table"),
    ]  # fmt: skip
    (letters,) = re.findall(r"\\begin\{tabular\}\{([lr]+)\}", body)
    for line in map(str.strip, body.partition(r"\toprule")[2].partition(r"\bottomrule")[0].splitlines()):
        if not line.endswith(r"\\"):
            assert re.fullmatch(r"(\s*\\(midrule|addlinespace|cmidrule\(lr\)\{\d+-\d+\}))*", line), line
            continue
        n = len(re.findall(r"(?<!\\)&", re.sub(r"\\\\(?=.)", "", line))) + 1
        spans = [int(width) for width in re.findall(r"\\multicolumn\{(\d+)\}", line)]
        assert n + sum(spans) - len(spans) == len(letters)
        assert not re.match(r"\s*[\[*]", line)  # `\\ [2cm]` would be a space below the row before


def test_latex_has_the_rules_of_booktabs_and_a_head_over_its_groups():
    text = as_latex(TABLE)
    check_latex(text)
    assert r"\caption{By model, 50\%}" in text
    assert r"\label{tab:by-model}" in text
    assert r" &  &  & \multicolumn{3}{c}{text \& image} &  \\" in text
    assert r"\cmidrule(lr){4-6}" in text
    assert r"a\_b & Easy & 12 & 0.500 & 0.250 to 0.123 & 1234.50 & \texttt{\textbackslash{}frac\{a\}\{b\}" in text
    assert text.count(r"\addlinespace") == 1
    assert text.endswith("% Some are 100% left out.\n")
    assert [text.index(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == sorted(
        text.index(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")
    )


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a--b---c", "a-{}-b-{}-{}-c"), ("''", "'{}'"), ("?`", "?{}{`}"), ("Ångström", r'\r{A}ngstr\"{o}m'),
        ("ςΣΑο", r"\ensuremath{\sigma}\ensuremath{\Sigma}Ao"), ("λ", r"\ensuremath{\lambda}"),
        ("模", r"\texttt{U+6A21}"), ("a\u202eb", r"a\ensuremath{\langle}U+202E\ensuremath{\rangle}b"), ("a\n b", "a b"),
        ("\\", r"\textbackslash{}"),
    ],
)  # fmt: skip
def test_a_sign_is_shown_as_it_is(text, latex):
    assert latex_text(text) == latex


def test_tables_compile(tmp_path):
    engine = shutil.which("pdflatex")
    if engine is None:
        pytest.skip("no pdflatex on this machine; the structure is checked above")
    columns = (Column("text"), Column("formula", Kind.FORMULA), Column("n", Kind.VALUE))
    hostile = DataTable("hostile", " ".join(HOSTILE), columns, tuple((one, one, -0.5) for one in HOSTILE))
    text = written_parts((TABLE, "a line with % and \\", hostile, in_percent(TABLE)), Format.LATEX)
    text = text.replace(r"\label{tab:by-model}", "", 1)
    document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{text}\end{{document}}"
    (tmp_path / "t.tex").write_text(document.replace("}%", "}\n%").replace("}\\end{doc", "}\n\\end{doc"), "utf-8")
    done = subprocess.run(
        [engine, "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "t.tex"], cwd=tmp_path,
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "t.log").read_text("utf-8", errors="replace")
    assert not re.search(r"^! |Missing character|Undefined", log, re.MULTILINE)


# All of them. ---------------------------------------------------------------------------------------------------


def test_lines_between_tables_stay_what_they_are():
    text = written_parts((TABLE, "3 ok; 100 %_", ""), Format.MARKDOWN)
    assert text.endswith("\n\n3 ok; 100 %\\_\n")
    assert written_parts((TABLE, "3 ok"), Format.LATEX).endswith("\n\n% 3 ok\n")
    assert set(ENDINGS.values()) == set(Format) - {Format.TEXT}
    assert written(TABLE, Format.CSV) == as_csv(TABLE)


def test_a_name_of_no_table_is_told_with_the_nearest():
    assert chosen_tables(["a line", TABLE], ()) == [TABLE]
    with pytest.raises(ValueError, match='no table "by-modle"; did you mean "by-model"'):
        chosen_tables([TABLE], ("by-modle",))


def test_a_terminal_folds_names_and_no_numbers():
    from rich.console import Console

    wide = DataTable(
        "w", "Wide", (Column("model"), *(Column(f"c{k}", Kind.VALUE, digits=6) for k in range(12))),
        (("a-very-long-name-of-a-model-indeed", *[0.123456] * 12),),
    )  # fmt: skip
    console = Console(width=400, record=True, file=io.StringIO())
    console.print(*rich_parts([wide], 60), sep="\n")
    shown = console.export_text()
    assert shown.count("0.123456") == 12
    assert "a-very-long-name" in shown
    assert "a-very-long-name-of" not in shown
