"""The report: its figures, its page, what it does with hostile texts and with files that do not fit each other."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jinja2 import UndefinedError
from rich.console import Console
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.errors import DataFileError, PrismError
from prism.grading.result import GradedFormula
from prism.grading.row import json_line, score_row
from prism.problem.source import problem_path
from prism.reports.cross_tables import Crossing
from prism.reports.html import svg
from prism.reports.html.markup import MarkLink, TextPart, marked_text, prose, visible
from prism.reports.html.mathml import as_mathml
from prism.reports.html.page import html_page
from prism.reports.html.rendering import environment
from prism.reports.report_tables import report_parts
from prism.reports.summary import BINS, build_report, count_bins, missed_nodes
from prism.reports.tables import rich_parts
from prism.runs.score_files import grade_of
from tests.support.html_pages import Checked, checked

HOSTILE = (
    "<script>alert(1)</script> $h = \\frac12 g t^2$ \u202eabc \x00 \ud800 </pre></mark></details>"
    "<img src=x onerror=b()>$v = \\href{javascript:alert(1)}{g} t$ <!-- ]]> "
    "$$\\text{</mtext></math><script>} = 3$$ &lt;\r\n\r$x<y$"
)
EVIL = '</title><b onclick="c()" \'\u202e\x1b[2J'


# Material: two shipped problems with their students, graded once. -----------------------------------------------


class Material:
    """Score rows and rollouts of two problems, and files of them."""

    def __init__(self, folder: Path, names=("free_fall", "scoring_figure")) -> None:
        self.folder = folder
        self.rows: list[dict[str, Any]] = []
        self.rollouts: list[dict[str, str]] = []
        (folder / "problems").mkdir()
        for name in names:
            problem = prism.load_problem(problem_path(name))
            shutil.copy(problem_path(name), folder / "problems")
            prepared = prism.prepare(problem)
            for k, student in enumerate(problem.students):
                self.add(prepared, f"{name} {student.name}", student.solution, f"model {k % 2}")

    def add(self, prepared, sample_id, text, model):
        grade = prism.grade(prepared, text, sample_id=sample_id)
        self.rows.append({**score_row(prepared.problem, text, grade), "meta": {"model": model}})
        self.rollouts.append({"problem_id": prepared.problem.id, "sample_id": sample_id, "response": text})

    def file(self, name, rows):
        path = self.folder / name
        path.write_bytes(b"".join(json_line(row) + b"\n" for row in rows))
        return path

    def report(self, rows=None, **options):
        options = {"problems": str(self.folder / "problems"), "replicates": 20, **options}
        texts = self.file("texts.jsonl", self.rollouts)
        return build_report(self.file("rows.jsonl", self.rows if rows is None else rows), rollouts=texts, **options)


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    return Material(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def judges(material):
    path = material.folder / "judge.jsonl"
    judged = [
        {**{key: one[key] for key in ("problem_id", "sample_id")}, "score": k % 2, "reason": EVIL}
        for k, one in enumerate(material.rollouts)
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in judged))
    return path


@pytest.fixture(scope="module")
def page(material, judges):
    return html_page(material.report(judges=[judges]))


# A page is sound. -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_page_is_sound(page, material):
    found = checked(page)
    assert found.tags["math"] > 20
    assert found.tags["details"] >= len(material.rows)
    assert "differs: <code>" in page  # a witness
    assert found.tags["mark"] > 20


def test_the_page_is_the_same_twice_and_names_no_place(page, material, judges):
    assert html_page(material.report(judges=[judges])) == page
    assert str(material.folder) not in page
    assert "/prism" not in page


def test_a_hostile_text_is_shown_and_does_nothing(material, tmp_path):
    own = Material(tmp_path, ())
    problem = prism.prepare(problem_path("free_fall"))
    own.add(problem, EVIL, HOSTILE, EVIL)
    judge = tmp_path / "judge.jsonl"
    judge.write_text(json.dumps({"problem_id": "free_fall", "sample_id": EVIL, "score": 1, "reason": HOSTILE}))
    found = own.report(judges=[judge], problems="free_fall")
    html = html_page(found, title=EVIL)
    text = "".join(checked(html).text)
    for said in ("<script>alert(1)</script>", "⟨U+202E⟩", "⟨U+0000⟩", "⟨U+D800⟩", "⟨U+001B⟩", "</title><b onclick"):
        assert said in text
    assert "javascript:" in text
    assert found.unfit == {}
    console = Console(width=100, markup=False, highlight=False, record=True, file=io.StringIO())
    console.print(*rich_parts(report_parts(found), 100))
    shown = console.export_text(styles=False)
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_a_file_without_rows_and_a_page_of_one(material):
    empty = html_page(material.report(rows=[]))
    assert "No rollout has a score." in checked(empty).text
    assert "1 rollout of 1 problem by 1 model" in html_page(material.report(rows=material.rows[:1]))


# Figures. -------------------------------------------------------------------------------------------------------


def test_figures_are_those_of_the_rows(material):
    found = material.report()
    scores = [row["score"] for row in material.rows]
    assert found.overall.mean.value == pytest.approx(sum(scores) / len(scores))
    assert found.overall.final.value == sum(row["final_correct"] for row in material.rows) / len(scores)
    assert found.overall.strict.value == pytest.approx(
        sum(row["policies"]["strict"] for row in material.rows) / len(scores)
    )
    assert sum(found.overall.bins) == sum(sum(one.bins) for one in found.models) == len(scores)
    assert [one.name for one in found.domains] == ["Atomic, Nuclear, and Particle Physics", "Mechanics"]
    assert [one.name for one in found.levels] == ["Easy", "Medium"]
    means = [one.group.mean.value for one in found.problems]
    assert means == sorted(means)
    for each in found.problems:
        own = [row for row in material.rows if row["problem_id"] == each.group.name]
        for node in each.nodes:
            assert node.matched == sum(node.index in row["matched"] for row in own)
            assert node.credited == sum(node.index in row["credited"] for row in own)
    worst = [node.n - node.credited for _, node in missed_nodes(found)]
    assert worst == sorted(worst, reverse=True)
    asserting = [item for row in material.rows for item in row["formulas"] if item["status"] != "mention"]
    assert sum(one.n for one in found.formula_statuses) == len(asserting)


@pytest.mark.parametrize("score", [0.0, 1e-6, 0.1, 0.25, 0.3, 0.7, 0.999999, 1.0])
def test_a_score_stands_in_the_bin_that_names_it(score):
    label = BINS[count_bins([score]).index(1)]
    if label.startswith("<"):
        assert float(label[1:]) - 0.1 - 1e-9 <= score < float(label[1:])
    else:
        assert score == float(label)


def test_a_row_without_score_enters_no_mean(material):
    killed = {
        **material.rows[0], "status": "killed", "score": None, "matched": [], "credited": [], "policies": {},
        "formulas": [], "sample_id": "killed", "incidents": [{"code": "killed", "where": "rollout", "detail": EVIL}],
    }  # fmt: skip
    found = material.report(rows=[*material.rows, killed, {**killed, "status": "internal", "sample_id": None}])
    assert found.overall.mean.value == material.report().overall.mean.value
    assert found.overall.n_unscored == 2
    html = html_page(found)
    checked(html)
    assert "1 rollout with status killed." in html
    assert "no score: internal" in html


def test_compact_rows_and_none_with_problems_or_texts(material):
    compact = [{key: value for key, value in row.items() if key != "formulas"} for row in material.rows]
    found = build_report(material.file("compact.jsonl", compact))
    html = html_page(found)
    checked(html)
    assert found.n_compact == len(compact)
    assert found.domains == ()
    for said in ("list no formulas", "No problems were named", "No rollouts were named"):
        assert said in html


def test_a_row_is_never_shown_beside_what_it_was_not_made_from(material, tmp_path):
    source = problem_path("free_fall").read_text("utf-8")
    (tmp_path / "free_fall.toml").write_text(source + "\n# another state of the file\n")
    texts = [{**one, "response": one["response"] + " SINCE CHANGED"} for one in material.rollouts[:2]]
    found = build_report(
        material.file("rows.jsonl", material.rows), problems=str(tmp_path), rollouts=material.file("t.jsonl", texts)
    )
    n = Counter(row["problem_id"] for row in material.rows)
    assert found.unfit == {
        "problem_changed": n["free_fall"], "problem_absent": n["scoring_figure"],
        "text_changed": 2, "text_absent": len(material.rows) - 2,
    }  # fmt: skip
    html = html_page(found)
    checked(html)
    assert "SINCE CHANGED" not in html
    assert 'class="dag"' not in html
    assert "has another sha256" in html


def test_a_row_of_another_state_of_a_problem_leads_to_no_node_of_it(material):
    other = [{**row, "problem_sha256": "0" * 64} for row in material.rows[:1]]
    found = material.report(rows=[*other, *material.rows[1:]])
    (own,) = [each for each in found.problems if each.group.name == other[0]["problem_id"]]
    assert {node.n for node in own.nodes} == {own.group.n - 1}
    html = html_page(found)
    checked(html)
    rollout = html.partition('<div id="r1">')[2].partition("</details>")[0]
    assert "Shown without: the problem with this id has another sha256" in rollout
    assert "matched" in rollout
    assert 'href="#p' not in rollout
    alone = material.report(rows=[*other, *material.rows[1:]], problems="")
    assert [each.nodes for each in alone.problems if each.group.name == own.group.name] == [()]


def test_a_row_that_holds_no_grade_is_named(material):
    bad = [material.rows[0], {**material.rows[1], "score": 2}, {**material.rows[1], "matched": ["one"]}]
    with pytest.raises(DataFileError) as caught:
        build_report(material.file("bad.jsonl", bad))
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["row 2", "row 3"]


def test_a_grade_survives_its_row(material):
    problem = prism.load_problem(problem_path("scoring_figure"))
    grade = prism.grade(problem, problem.students[0].solution, sample_id="a")
    assert grade_of(json.loads(json_line(grade.to_dict()))) == grade
    with pytest.raises(PrismError, match="no grade"):
        grade_of({"problem_id": "a"})


# Judges. --------------------------------------------------------------------------------------------------------


def test_judges_stand_beside_the_rules(page, material, judges):
    found = material.report(judges=[judges])
    (against,) = found.judge_comparisons
    expected = Counter((round(row["score"], 2), float(k % 2)) for k, row in enumerate(material.rows))
    assert {(x, y): n for x, y, n in against.points} == expected
    assert found.agreement.pairs[0].raters == ("rules", "judge")
    place = next(k for k, row in enumerate(material.rows, start=1) if row["score"] == 1 and (k - 1) % 2 == 0)
    assert f'href="#r{place}"' in page  # the largest disagreement leads to its rollout


def test_a_scatter_plot_shows_other_scales_whole():
    drawn = svg.scatter([(0.5, 7.0, 3), (1.0, -2.0, 1)], "t", "d", "rules", "judge")
    ticks = re.findall(r">(-?[\d.]+)</text>", drawn)
    assert ("-2" in ticks, "7" in ticks) == (True, True)
    ((width, height),) = re.findall(r'viewBox="0 0 (\d+) (\d+)"', drawn)
    for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', drawn):
        assert 0 < float(x) < int(width)
        assert 0 < float(y) < int(height)


# What there is room for. ----------------------------------------------------------------------------------------


def test_a_page_keeps_its_limit_and_says_what_is_left_out(material):
    found = material.report()
    whole = html_page(found, limit=None)
    size = len(whole.encode())
    texts = whole.count('<pre class="text">')
    assert texts == len(material.rows)
    assert "left out" not in whole
    cuts = {limit: html_page(found, limit=limit) for limit in range(size - 6_000, size, 1_000)}
    assert all(len(cut.encode()) <= limit for limit, cut in cuts.items())
    cut = next(cut for cut in cuts.values() if 0 < cut.count('<pre class="text">') < texts)
    checked(cut)
    assert "To keep the page small" in cut
    kept = [row["score"] for k, row in enumerate(material.rows, 1) if f'<a id="r{k}f' in cut]
    assert any(0 < score < 1 for score in kept)  # rollouts with all points go first
    bare = html_page(found, limit=1)
    checked(bare)
    assert "rollouts more, left out" in bare
    assert 'class="text"' not in bare


def test_texts_are_marked_where_formulas_stand():
    def item(span, status, nodes=()):
        return GradedFormula("x", span, "inline", status, "", nodes)

    items = [
        item((2, 5), "different"),
        item((4, 7), "equivalent", (3,)),
        item((8, 9), "mention"),
        item((8, 99), "unread"),
    ]
    found = marked_text("ab<cd>efgh", items, range(4), "r1", 100)
    assert found.marked == {0, 1}
    links = (MarkLink("D", "", "r1t0"), MarkLink("M 3", "r1f1", "r1t1"))
    assert found.parts == (TextPart("ab"), TextPart("<cd>e", "m", links), TextPart("fgh"))
    assert marked_text("ab<cd>efgh", items, range(4), "r1", 6).n_hidden == 4


@pytest.mark.parametrize("text", ["A mass $m = 2.00$ kg falls.", r"A mass \(m = 2.00\) kg falls."])
def test_a_unit_behind_a_formula_leaves_no_delimiter(text):
    (shown,) = prose(text)
    assert not re.search(r"[$\\]", shown)
    assert shown.startswith("A mass <math>")
    assert shown.endswith("</math> falls.")


def test_an_interval_says_in_words_why_there_is_none(material):
    one = material.file("one.jsonl", [next(row for row in material.rows if row["missing"])])
    shown = CliRunner().invoke(app, ["report", str(one)]).stdout
    assert "one problem" in shown
    assert "one_problem" not in shown
    assert "reference formula" not in shown
    assert "Formulas of nodes, domains and difficulty are not shown: no --problems" in shown


def test_an_expression_alone_is_told_apart_from_what_asserts_something(tmp_path):
    own = Material(tmp_path, ())
    own.add(prism.prepare(problem_path("free_fall")), "a", r"$$x^2 + 1$$ and $6370 \, \text{km}$ and $v = g t$", "m")
    found = own.report(problems="free_fall")
    alone = sum(one.n for one in found.formula_statuses if one.reason == "no_relation")
    assert alone
    assert f"of which {alone} stand" in html_page(found)


def test_a_value_in_a_template_is_text_and_an_unknown_name_an_error():
    template = environment().from_string("<b>{{ text }}</b>")
    assert template.render(text="<i a='b'>&\u202e") == "<b>&lt;i a=&#39;b&#39;&gt;&amp;⟨U+202E⟩</b>"
    with pytest.raises(UndefinedError):
        template.render(txt="")


def test_signs_that_mislead_are_written_out():
    assert visible("a\u202eb\x00\ud83dc\r\nd\re\ufeff\U0001ffff😀") == (
        "a⟨U+202E⟩b⟨U+0000⟩⟨U+D83D⟩c\nd⟨U+000D⟩e⟨U+FEFF⟩⟨U+1FFFF⟩😀"
    )
    assert not re.search(r"[$\\]", "".join(prose("It is \\[ a = 1 \\] or $$b$$.")))
    assert prose("Mass $m$ falls\n\nfar <b>.") == (
        "Mass <math><mi>m</mi></math> falls",
        "far &lt;b&gt;.",
    )


# Formulas as MathML. --------------------------------------------------------------------------------------------

REFUSED = (
    r"\href{javascript:alert(1)}{x}", r"\style{position:fixed}{x}", r"\color{red}x", r"\hspace{-100em}x",
    r"\rule{99em}{99em}", r"\mystery{x}", r"\frac{1", r"\newcommand{\a}{\a\a}\a", r"\def\a{\a\a}\a", r"\unicode{x202e}",
    "a\u202eb", "\ud800", "x\x00", "{" * 99 + "}" * 99, "x + " * 999, r"\left(" * 50, "", r"\begin{array}{c}a&b",
    "a & b", r"\text{\u0000&#x202e;}", "&#x202e;", r"\char`x",
)  # fmt: skip


@pytest.mark.parametrize("latex", REFUSED)
def test_what_is_not_safe_has_no_mathml(latex):
    assert as_mathml(latex) == ""


@pytest.mark.parametrize(
    "latex", [r"\text{</mtext></math><script>alert(1)</script>}", "a<b>c", r"\text{\"onclick=1}", r"x\&"]
)
def test_what_looks_like_html_is_text(latex):
    html = as_mathml(latex)
    found = [element.tag for element in ET.fromstring(html or "<math/>").iter()]
    assert set(found) <= {"math", "mi", "mo", "mtext", "mrow"}


def test_a_box_is_no_part_of_a_formula_and_a_function_has_its_space():
    assert as_mathml(r"\boxed{a}") == "<math><mrow><mi>a</mi></mrow></math>"
    assert as_mathml(r"\cancel{a}") == ""
    space = '<mspace width="0.167em"></mspace>'
    assert as_mathml(r"\sin x") == f"<math><mi>sin</mi>{space}<mi>x</mi></math>"


@pytest.mark.slow
def test_shipped_formulas_have_sound_mathml():
    latex = [node.latex for path in sorted(problem_path("bucket").parent.glob("*.toml"))
             for node in prism.load_problem(path).nodes if not node.is_text]  # fmt: skip
    drawn = [as_mathml(one) for one in latex]
    for one in filter(None, drawn):
        ET.fromstring(one)
    assert sum(not one for one in drawn) <= len(latex) // 50


# Drawings. ------------------------------------------------------------------------------------------------------


def test_nodes_stand_apart_and_edges_lead_to_the_right():
    for name in ("radial_field", "shear_block", "lambda_decay"):
        dag = prism.load_problem(problem_path(name)).dag
        drawn = svg.layout(dag)
        places = list(drawn.places.values())
        assert len(places) == len(dag.nodes)
        for k, (x, y) in enumerate(places):
            assert 0 < x < drawn.width
            assert 0 < y < drawn.height
            assert all(abs(x - a) >= svg.WIDTH or abs(y - b) >= svg.HEIGHT for a, b in places[:k])
        ends = {(path[0], path[-1]) for path in drawn.edges}
        assert ends == {
            (drawn.places[before], drawn.places[node.index]) for node in dag.nodes for before in node.prerequisites
        }
        for path in drawn.edges:
            assert [x for x, _ in path] == sorted({x for x, _ in path})
            for x, y in path[1:-1]:  # a long edge passes no node
                assert all(x != a or abs(y - b) > svg.HEIGHT / 2 for a, b in places)


def test_a_node_says_by_its_letter_what_became_of_it():
    problem = prism.load_problem(problem_path("free_fall"))
    drawn = svg.dag_of_one(svg.layout(problem.dag), "e1", problem.dag, lambda k: "mcx"[k % 3], "told")
    assert re.findall(r'#g([mcx])"', drawn) == ["mcx"[k % 3] for k in problem.dag.indices]
    assert re.findall(r">(\d+ .)</text>", drawn) == [f"{k} {'MC–'[k % 3]}" for k in problem.dag.indices]
    assert "<title>Reference DAG</title><desc>told</desc>" in drawn


# The command. ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_writes_a_page_and_prints_the_same_figures(material, tmp_path):
    results, texts = material.file("rows.jsonl", material.rows), material.file("texts.jsonl", material.rollouts)
    out = tmp_path / "report.html"
    folder, few = str(material.folder / "problems"), ["--replicates", "20"]
    done = CliRunner().invoke(
        app, ["report", str(results), "-o", str(out), "--problems", folder, "--rollouts", str(texts), "--json", *few]
    )
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told == json.loads(json_line(material.report().to_dict()))
    html = out.read_text("utf-8")
    assert html == html_page(material.report())
    assert f"{told['overall']['step_accuracy']['value']:.1%}" in html
    table = CliRunner().invoke(app, ["report", str(results), "--problems", folder, *few])
    assert table.exit_code == 0
    assert f"{told['overall']['step_accuracy']['value']:.3f}" in table.stdout
    assert "Nodes that most rollouts miss" in table.stdout


def test_exit_codes_of_the_command(material, tmp_path):
    def code(*words):
        return CliRunner().invoke(app, ["report", *map(str, words)]).exit_code

    results = material.file("rows.jsonl", material.rows)
    assert code(results, "-o", tmp_path / "report.txt") == 2
    assert code(tmp_path / "absent.jsonl") == 3
    assert code(results, "--problems", tmp_path / "absent") == 3
    assert code(results, "--rollouts", results) == 3  # no solution in it
    assert code(material.file("none.jsonl", []), "-o", tmp_path / "none.html") == 5
    assert (tmp_path / "none.html").exists()


def test_a_page_that_is_there_is_kept_without_force(material, tmp_path):
    results, out = material.file("rows.jsonl", material.rows), tmp_path / "report.html"
    out.write_text("mine", encoding="utf-8")
    refused = CliRunner().invoke(app, ["report", str(results), "-o", str(out)])
    assert (refused.exit_code, "--force" in refused.stderr, out.read_text("utf-8")) == (3, True, "mine")
    forced = CliRunner().invoke(app, ["report", str(results), "-o", str(out), "--force"])
    assert (forced.exit_code, "<html" in out.read_text("utf-8")) == (0, True)


def test_a_row_of_an_older_version_is_read(material):
    old = {
        key: material.rows[0][key]
        for key in ("problem_id", "sample_id", "status", "score", "matched", "incidents", "grader")
    }
    found = material.report(rows=[old])
    checked(html_page(found))
    assert found.unfit == {"problem_changed": 1, "text_changed": 1}


# What is wrong, where it is asked for. --------------------------------------------------------------------------


def test_a_diagnosis_stands_at_its_formula_and_counts_the_first_wrong_steps(tmp_path):
    material = Material(tmp_path, names=())
    shutil.copy(problem_path("free_fall"), tmp_path / "problems")
    prepared = prism.prepare(prism.load_problem(problem_path("free_fall")))
    wrong = r"$$t_f = \sqrt{\frac{h}{2g}}$$ and so $$v_f = \sqrt{\frac{gh}{2}}$$"
    for name, text in (("wrong", wrong), ("right", r"$$t_f = \sqrt{\frac{2h}{g}}$$")):
        material.add(prepared, name, text, "m")
    material.rows.append({key: value for key, value in material.rows[0].items() if key != "formulas"})
    material.rows[-1]["sample_id"] = "compact"
    found = material.report(diagnosed=True)
    assert [row.diagnosis is not None for row in found.rows] == [True, True, False]
    assert (found.first_wrong, found.to_dict()["first_wrong"]) == ({"DCE": 1}, {"DCE": 1})
    html = html_page(found)
    Checked(html)
    assert html.count("First wrong step (DCE)") == 1
    assert "<strong>DCE:</strong> Off by a factor" in html
    assert "<strong>Follows from an earlier error.</strong>" in html
    plain = material.report()
    assert plain.first_wrong is None
    assert "First wrong" not in html_page(plain)
    refused = CliRunner().invoke(app, ["report", str(tmp_path / "rows.jsonl"), "--diagnose"])
    assert refused.exit_code == 2


def test_a_final_answer_that_is_credited_and_not_stated_is_said_to_be_so(tmp_path):
    material = Material(tmp_path, names=())
    nodes = [
        {"index": k, "formula": f"x_{k} = {k}.57", "dependency": list(range(1, k)), "is_final_answer": True}
        for k in (1, 2)
    ]
    problem = {"id": "p", "context": "", "grading_standard": nodes}
    (tmp_path / "problems" / "p.json").write_text(json.dumps(problem), encoding="utf-8")
    prepared = prism.prepare(tmp_path / "problems" / "p.json")
    for name, text in (("last", "$x_2 = 2.57$"), ("both", "$x_1 = 1.57$, $x_2 = 2.57$")):
        material.add(prepared, name, text, "m")
    html = html_page(material.report())
    assert html.count("Final answer credited, not stated: node 1.") == 1


# Problems of answers alone ----------------------------------------------------------------------------------------


def answers_alone(folder, **metadata):
    """A material with one more problem, which has nothing but its answer, and two rollouts of it, one of them right."""
    material = Material(folder)
    data = {
        "id": "only", "context": "How long does it fall?", "metadata": metadata,
        "grading_standard": [
            {"index": 1, "formula": r"2.0\unit{s}", "dependency": [], "is_final_answer": True},
        ],
    }  # fmt: skip
    (folder / "problems" / "only.json").write_text(json.dumps(data))
    prepared = prism.prepare(prism.load_problem(folder / "problems" / "only.json"))
    material.add(prepared, "right", r"\boxed{2.0\,\mathrm{s}}", "model 0")
    material.add(prepared, "wrong", r"\boxed{3.0\,\mathrm{s}}", "model 0")
    return material


def test_scores_of_answers_alone_are_in_no_mean_with_step_scores(tmp_path, material):
    (tmp_path / "a").mkdir()
    mixed = answers_alone(tmp_path / "a", dag="answer").report()
    plain = material.report()
    assert mixed.overall.mean == plain.overall.mean
    assert mixed.overall.final.n == plain.overall.final.n + 2
    assert sum(not row.is_in_scores for row in mixed.rows) == 2
    (tmp_path / "b").mkdir()
    usual = answers_alone(tmp_path / "b").report()
    assert usual.overall.mean.n == plain.overall.mean.n + 2


def test_a_run_of_answers_alone_has_its_mean(tmp_path):
    (tmp_path / "a").mkdir()
    material = answers_alone(tmp_path / "a", dag="answer")
    alone = material.report([row for row in material.rows if row["problem_id"] == "only"])
    assert (alone.overall.mean.n, alone.overall.mean.value) == (2, 0.5)
    crossing = Crossing(("model",), (), ("score", "strict", "final"), False, None)
    assert all(row.is_in_scores for row in alone.rows)
    mixed = material.report(crossing=crossing)
    assert {row.is_in_scores for row in mixed.rows if row.grade.problem_id == "only"} == {False}
