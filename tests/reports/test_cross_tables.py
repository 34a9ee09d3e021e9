"""Figures crossed by fields: the same as those that are counted one by one, and the table of a paper by one command."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from itertools import product
from statistics import mean

import pytest
from typer.testing import CliRunner

from prism.cli import app
from prism.errors import PrismError
from prism.problem.source import problem_path
from prism.reports.agreement import Estimate
from prism.reports.cross_tables import Crossing, cross_data_table, cross_table
from prism.reports.report_rows import ReportRow, row_frame
from prism.reports.run_figures import length_figures
from prism.reports.summary import build_report
from tests.reports.test_table_formats import check_latex
from tests.support.made_rows import DOMAINS, LEVELS, MODELS, made_row, paper_rows, write_rows


def read_rows(path, rows) -> tuple[ReportRow, ...]:
    return build_report(write_rows(path / "rows.jsonl", rows), replicates=0).rows


def crossed(rows, **options):
    return cross_table(row_frame(rows), Crossing(**options), replicates=20)


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    return write_rows(tmp_path_factory.mktemp("paper") / "rows.jsonl", paper_rows())


@pytest.fixture(scope="module")
def rows(paper):
    return build_report(paper, replicates=0).rows


def told(*words):
    return CliRunner().invoke(app, ["report", *map(str, words)])


# Figures. -------------------------------------------------------------------------------------------------------


def test_every_cell_is_what_one_counts_by_hand(rows):
    found = crossed(rows, by=("model", "domain"), across=("difficulty",), measures=("score", "final", "time"))
    assert len(found.cells) == len(MODELS) * len(DOMAINS) * len(LEVELS)
    for (by, across), cell in found.cells.items():
        own = [
            row for row in rows if (row.fields["model"], row.fields["domain"], row.fields["difficulty"]) == by + across
        ]
        assert (cell.n, cell.n_problem, cell.n_unscored) == (4, 2, 0)
        values = [
            mean(row.grade.score for row in own), mean(row.grade.final_correct for row in own),
            mean(row.fields["seconds"] for row in own),
        ]  # fmt: skip
        assert [one.value for one in cell.estimates] == pytest.approx(values)
        assert all(one.low <= one.value <= one.high for one in cell.estimates)
    assert found.row_problems == (6,) * 28


def test_totals_are_those_of_all_values_of_the_last_fields(rows):
    found = crossed(rows, by=("model", "domain"), across=("difficulty",), has_totals=True)
    assert found.columns == (("Easy",), ("Medium",), ("Hard",), (None,))
    assert found.rows[:8] == (*((MODELS[0], domain) for domain in DOMAINS), (MODELS[0], None))
    assert found.rows[-1] == (None, None)
    assert found.cells[(None, None), (None,)].estimates[0].value == pytest.approx(mean(r.grade.score for r in rows))
    own = [row.grade.score for row in rows if row.fields["model"] == MODELS[1] and row.fields["difficulty"] == "Hard"]
    assert found.cells[(MODELS[1], None), ("Hard",)].estimates[0].value == pytest.approx(mean(own))


def test_values_stand_in_their_own_order(tmp_path):
    kept = [("low", 10, True), ("high", 9, False), ("Medium", 2.5, True), (None, None, None)]
    made = [made_row(f"p{k}", "", 0.5, effort=effort, size=size, tools=tools, config={"top": {"p": k}})
            for k, (effort, size, tools) in enumerate(kept)]  # fmt: skip
    rows = read_rows(tmp_path, made)

    def names(field):
        return [key[0] for key in crossed(rows, by=(field,)).rows]

    assert names("effort") == ["low", "Medium", "high", "(not said)"]
    assert names("size") == ["2.5", "9", "10", "(not said)"]
    assert names("tools") == ["false", "true", "(not said)"]
    assert names("config.top.p") == ["0", "1", "2", "3"]
    assert names("meta.effort") == names("effort")
    assert names("config")[0] == '{"top": {"p": 0}}'
    assert names("problem") == ["p0", "p1", "p2", "p3"]
    assert names("status") == ["ok"]


def test_a_rollout_without_score_is_counted_and_enters_no_figure(tmp_path):
    made = [made_row("p", "1", 0.5, seconds=2.0), made_row("p", "2", None, seconds=900.0), made_row("q", "1", 1.0)]
    found = crossed(read_rows(tmp_path, made), by=("status",), measures=("score", "time", "pass@2", "strict"))
    ok, killed = found.cells[("ok",), ()], found.cells[("killed",), ()]
    assert (ok.n, ok.n_unscored, killed.n, killed.n_unscored) == (2, 0, 1, 1)
    assert [one.value for one in ok.estimates] == [0.75, 2.0, None, 0.375]
    assert [one.reason for one in killed.estimates] == ["no_items"] * 4
    assert ok.estimates[2].reason == "too_few_rollouts"
    assert found.notes == (
        "pass@2: in 2 of 2 cases a model has fewer than 2 scored rollouts of a problem in a cell; they are left out.",
        "1 of 3 rollouts have no score, and enter no figure.",
    )


def test_a_kept_field_goes_before_one_of_the_problem(tmp_path):
    shutil.copy(problem_path("free_fall"), tmp_path)
    made = [made_row("free_fall", "1", 0.5, domain="Falling"), made_row("free_fall", "2", 1.0)]
    source = write_rows(tmp_path / "rows.jsonl", made)
    with pytest.raises(PrismError, match=r"--by: difficulty: .*--problems"):
        build_report(source, crossing=Crossing(("difficulty",)))
    found = build_report(source, crossing=Crossing(("domain",)), replicates=0).crossed
    assert found is not None
    assert [key[0] for key in found.rows] == ["Falling", "(not said)"]


def test_fields_of_the_problem_need_one_that_fits(tmp_path):
    import prism
    from prism.grading.row import score_row

    problem = prism.load_problem(problem_path("free_fall"))
    row = score_row(problem, "$v = g t$", prism.grade(problem, "$v = g t$", sample_id="1"))
    source = write_rows(tmp_path / "rows.jsonl", [row])
    by = ("domain", "difficulty", "C1", "C2", "C3", "kind", "origin", "alternative")
    found = build_report(source, problems="free_fall", crossing=Crossing(by), replicates=0).crossed
    assert found is not None
    known = problem.difficulty
    assert found.rows == (
        (problem.domain, known.level, str(known.concepts), str(known.computation), str(known.structure),
         problem.kind or "(not said)", problem.origin or "(not said)", "(not said)"),
    )  # fmt: skip


def test_all_unknown_fields_and_figures_are_told_at_once(rows):
    with pytest.raises(PrismError) as caught:
        crossed(rows, by=("modell", "nothing"), across=("efort",), measures=("finl", "pass@0", "score"))
    said = str(caught.value).splitlines()
    assert [line.partition(":")[0] for line in said] == ["--by", "--by", "--across", "--measure", "--measure"]
    for hint in ('did you mean "model"', 'did you mean "effort"', 'did you mean "final"', "k goes from 1", "--keep"):
        assert hint in str(caught.value)


def test_figures_that_rows_have_are_found_by_their_usual_names(rows):
    found = crossed(rows, by=("effort",), measures=("tokens", "completion_tokens", "time", "meta.seconds", "cost"))
    heads = [column.head for column in cross_data_table(found).columns]
    assert heads[3::2] == ["tokens", "completion_tokens", "time", "meta.seconds", "operations"]
    for cell in found.cells.values():
        tokens, same, time, seconds, cost = (one.value for one in cell.estimates)
        assert (tokens == same, time == seconds, cost) == (True, True, 1000)


def test_names_may_hold_half_a_surrogate_pair(tmp_path):
    half = "\ud800"
    made = [
        made_row("p" + half, str(k), 0.5, model="m" + half, effort=half, template=half, variant=variant, pair=half)
        for k, variant in enumerate(("original", "perturbed", "knowledge"))
    ]
    asked = Crossing(("model", "effort", "variant"), measures=("score", "pass@1"))
    found = build_report(write_rows(tmp_path / "rows.jsonl", made), crossing=asked, replicates=5)
    assert [one.name for one in found.models] == ["m" + half]
    assert found.crossed is not None
    assert {key[:2] for key in found.crossed.rows} == {("m" + half, half)}
    assert json.dumps(found.to_dict())


def test_what_is_no_number_has_no_mean(tmp_path):
    kept = [3, 5.0, True, "7", None, 10**400, [1]]
    rows = read_rows(tmp_path, [made_row(f"p{k}", "", 0.5, size=size, tokens=size) for k, size in enumerate(kept)])
    size = crossed(rows, by=("status",), measures=("size",)).cells[("ok",), ()].estimates[0]
    assert (size.value, size.n) == (4.0, 2)
    lengths = length_figures(row_frame(rows), replicates=0)
    assert lengths is not None
    assert (lengths.unit, lengths.n_unknown, lengths.overall[0].n) == ("tokens", 5, 2)
    with pytest.raises(PrismError, match="size is named twice"):
        crossed(rows, by=("size",), across=("size",))


def test_a_cell_that_no_rollout_is_in_is_empty(tmp_path):
    rows = read_rows(tmp_path, [made_row("p", "1", 0.5, model="a", v="x"), made_row("p", "2", 1.0, model="b", v="y")])
    table = cross_data_table(crossed(rows, by=("model",), across=("v",), measures=("score",)))
    cells = [[cell.value if isinstance(cell, Estimate) else cell for cell in row[2:]] for row in table.rows]
    assert cells == [[0.5, None], [None, 1.0]]
    unknown = crossed(rows, by=("model",), measures=("characters",)).cells[("a",), ()].estimates[0]
    assert (unknown.value, unknown.reason) == (None, "not_known")
    told = crossed(rows, by=("model",), across=("v",)).to_dict()
    assert [cell["values"] for cell in told["cells"]] == [{"model": "a", "v": "x"}, {"model": "b", "v": "y"}]


# The tables of papers. ------------------------------------------------------------------------------------------

PAPER = ("--by", "domain,difficulty", "--across", "model", "--measure", "final,score", "--totals", "--percent")


@pytest.mark.slow
def test_the_table_of_seven_domains_three_levels_and_four_models(paper, rows, tmp_path):
    done = told(paper, *PAPER, "--format", "csv")
    assert done.exit_code == 0
    heads, *lines = csv.reader(io.StringIO(done.stdout))
    figures = [f"{model}: {head}" for model in (*MODELS, "all") for head in ("final", "step-level")]
    assert heads == ["domain", "difficulty", "problems", *figures]
    assert [tuple(line[:2]) for line in lines] == [*product(DOMAINS, (*LEVELS, "all")), ("all", "all")]
    cells = {(*line[:2], head): float(cell) for line in lines for head, cell in zip(heads[3:], line[3:], strict=True)}
    for domain, level, model in product(DOMAINS, LEVELS, MODELS):
        own = [row.grade for row in rows if row.fields["domain"] == domain and row.fields["difficulty"] == level
               and row.fields["model"] == model]  # fmt: skip
        expected = (100 * mean(one.final_correct for one in own), 100 * mean(one.score for one in own))
        found = (cells[domain, level, f"{model}: final"], cells[domain, level, f"{model}: step-level"])
        assert found == pytest.approx(expected, abs=5e-5)
    out = tmp_path / "table.tex"
    assert told(paper, *PAPER, "-o", out).exit_code == 0
    text = out.read_text("utf-8")
    check_latex(text)
    assert text == told(paper, *PAPER, "--format", "latex").stdout
    assert r"\multicolumn{2}{c}{GPT-5 \& co}" in text
    assert text.count(r"\addlinespace") == 7
    if engine := shutil.which("pdflatex"):
        document = f"\\documentclass{{article}}\\usepackage{{booktabs}}\\begin{{document}}\n{text}\\end{{document}}\n"
        (tmp_path / "paper.tex").write_text(document, "utf-8")
        command = [engine, "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "paper.tex"]
        compiled = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert compiled.returncode == 0, compiled.stdout[-1500:]


# PRISM-Physics (arXiv 2510.03185), table 1, final-answer accuracy of text-only rows [%]: Easy, Medium, Hard, Avg. 469,
# 508 and 527 problems are the smallest counts that give all of its cells.
PUBLISHED = {
    "Deepseek-V3": "30.70 18.11 7.97 18.48", "GPT-5 Medium": "32.20 20.87 13.85 21.94",
    "Gemini-2.5-Pro": "31.98 23.43 12.90 22.41", "Llama-3.3-70B": "22.81 12.20 2.66 12.17",
}  # fmt: skip


@pytest.mark.slow
def test_a_published_table_comes_out_digit_by_digit(tmp_path):
    sizes = dict(zip(LEVELS, (469, 508, 527), strict=True))
    made = [
        made_row(f"{level} {k}", model, 0.5, final=k < round(float(share) * n / 100), model=model, difficulty=level)
        for model, cells in PUBLISHED.items()
        for (level, n), share in zip(sizes.items(), cells.split(), strict=False)
        for k in range(n)
    ]
    source = write_rows(tmp_path / "rows.jsonl", made)
    options = ("--by", "model", "--across", "difficulty", "--measure", "final", "--totals", "--percent")
    done = told(source, *options, "--replicates", 0, "--format", "markdown")
    rows = [[cell.strip().replace("\\", "") for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()]
    assert {row[0]: " ".join(row[2:]) for row in rows if row and row[0] in PUBLISHED} == PUBLISHED
    assert {row[1] for row in rows if row and row[0] in PUBLISHED} == {"1504"}


# The command. ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_table_stands_in_json_text_page_and_folder(paper, tmp_path):
    options = ("--by", "model", "--measure", "score,pass@2", "--replicates", 20)
    found = json.loads(told(paper, *options, "--json").stdout)["crossed"]
    assert [cell["values"]["model"] for cell in found["cells"]] == list(MODELS)
    shown = f"{found['cells'][0]['score']['value']:.3f}"
    text = told(paper, *options).stdout
    assert shown in text
    assert "All rollouts" not in text
    assert told(paper, *options, "-o", tmp_path / "page.html").exit_code == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert '<caption id="t-crossed">By model (per cent)' in page
    folder = tmp_path / "tables"
    assert told(paper, *options, "--format", "csv", "-o", folder).exit_code == 0
    written = {path.stem: path.read_text("utf-8") for path in folder.iterdir()}
    assert {"all", "by-model", "crossed", "scores", "samples", "by-length", "problems", "outcomes-by-model"} <= set(
        written
    )
    assert written["crossed"] == told(paper, *options, "--format", "csv").stdout
    assert len({len(row) for row in csv.reader(io.StringIO(written["problems"]))}) == 1
    assert written["problems"].count("\n") == 1 + 42
    kept = told(paper, *options, "--format", "csv", "-o", folder)
    assert (kept.exit_code, "--force" in kept.stderr) == (3, True)
    assert told(paper, *options, "--format", "csv", "-o", folder, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "csv"], "CSV holds one table"),
        (["--across", "model"], "--by"),
        (["--measure", "final"], "--by"),
        (["--format", "latex", "--json"], "--json"),
        (["-o", "x.csv", "--format", "latex"], "holds csv, not latex"),
        (["-o", "x.html", "--format", "latex"], "a page has no --format"),
        (["-o", "folder"], "need --format"),
        (["-o", "x.pdf"], "expected a file .html, .csv"),
        (["--table", "by-modle"], "by-model"),
        (["--format", "pdf"], "'pdf'"),
        (["-o", "x.html", "--table", "all"], "not of a page"),
        (["--json", "--percent"], "not of a page or of --json"),
    ],
)
def test_options_that_contradict_each_other_are_usage_errors(paper, words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = told(paper, "--replicates", 0, *words)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_field_has_exit_code_3(paper):
    done = told(paper, "--by", "modell", "--replicates", 0)
    assert done.exit_code == 3
    assert 'did you mean "model"?' in done.stderr


@pytest.mark.slow
def test_every_table_is_written_in_every_format(paper):
    for form in ("markdown", "latex"):
        text = told(paper, "--replicates", 20, "--format", form).stdout
        for title in ("All rollouts", "By model", "Several rollouts of a problem", "By length of the solution"):
            assert title in text
    one = told(paper, "--replicates", 20, "--format", "csv", "--table", "by-model").stdout
    assert one.startswith("model,rollouts,unscored,step-level,step-level low,step-level high,final,")
    two = told(paper, "--replicates", 20, "--table", "problems,by-model").stdout
    assert two.index("Problems, the hardest first") < two.index("By model")
    assert "incidents of the grader" not in two
