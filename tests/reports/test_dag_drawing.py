"""Drawings of the DAG: figures drawn by hand, edges read back from the picture, labels that need escaping."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.problem.dag import Node, ReferenceDag, reference_dag
from prism.reports.dag_drawing import RailRow, dot, is_drawable, mermaid, rails
from prism.resources import resource
from tests.problem.test_dag import dags

SHIPPED = sorted(resource("dags").glob("*.toml"))
run = CliRunner()


def dag_of(edges: dict[int, tuple[int, ...]]) -> ReferenceDag:
    """Nodes that nothing follows from are final."""
    used = {earlier for joined in edges.values() for earlier in joined}
    return reference_dag(
        Node(index, prerequisites=joined, is_final=index not in used) for index, joined in edges.items()
    )


def drawn(dag: ReferenceDag, *, in_unicode: bool = True) -> str:
    return "\n".join(row.line.rstrip() for row in rails(dag, in_unicode=in_unicode))


# In the terminal ----------------------------------------------------------------------------------------------

BRANCHES: dict[int, tuple[int, ...]] = {
    1: (), 2: (), 3: (1,), 4: (1, 2), 5: (3,), 6: (4,), 7: (), 8: (5, 7), 9: (6,), 10: (8, 9), 11: (2,), 12: (11,),
    13: (10, 12), 14: (13,), 15: (), 16: (15,), 17: (3, 16), 18: (14,), 19: (17,), 20: (18, 19), 21: (7, 20), 22: (13,),
    23: (22,), 24: (21, 23),
}  # fmt: skip
BY_HAND = """\
●
│ ●
├─│─●
●─┤ │
│ │ ├─●
● │ │ │
│ │ │ │ ●
│ │ │ ●─┤
● │ │ │ │
●─│─│─┘ │
│ ● │   │
│ ● │   │
●─┘ │   │
├─● │   │
│ │ │ ● │
│ │ │ ● │
│ │ ●─┘ │
│ ● │   │
│ │ ●   │
│ ●─┘   │
│ ●─────┘
● │
● │
■─┘"""


def test_twenty_four_nodes_with_branches_and_merges() -> None:
    assert drawn(dag_of(BRANCHES)) == BY_HAND


def test_in_ascii_an_end_is_not_a_joint_that_goes_on() -> None:
    """In row 10 the rail of 8 ends; what begins under it is another."""
    lines = drawn(dag_of(BRANCHES), in_unicode=False).splitlines()
    assert lines[7:10] == ["| | | o-+", "o | | | |", "o-|-|-' |"]
    assert lines[-1] == "#-'"


@pytest.mark.parametrize(("edges", "figure"), [
    ({1: ()}, "■"),
    ({1: (), 2: (1,), 3: (2,)}, "●/●/■"),  # a chain is one lane
    ({1: (), 2: (), 3: ()}, "■/  ■/■"),  # what does not follow from the node above never touches it
    ({1: (), 2: (1,), 3: (1,), 4: (2, 3)}, "●/├─●/● │/■─┘"),
    ({1: (), 2: (), 3: (), 4: (1, 2, 3)}, "●/│ ●/│ │ ●/└─■─┘"),
    ({1: (), 2: (), 3: (1,), 4: (3, 2), 5: (2, 1)}, "●/│ ●/├─│─●/│ ├─■/■─┘"),  # the line of 3 crosses, that of 4 joins
])  # fmt: skip
def test_small_figures(edges: dict[int, tuple[int, ...]], figure: str) -> None:
    assert drawn(dag_of(edges)) == figure.replace("/", "\n")


def read_back(rows: tuple[RailRow, ...]) -> set[tuple[int, int]]:
    """Edges as a person finds them: from each node upwards, and along its level line to the rails that it joins."""
    grid = [row.line for row in rows]

    def source(row: int, column: int) -> int | None:
        """The node from which a line comes down into this cell, if one does."""
        while row > 0:
            row -= 1
            if grid[row][column] in "●■o#":
                return rows[row].index
            if grid[row][column] not in "│├┤┼|+":
                return None
        return None

    edges: set[tuple[int, int]] = set()
    for place, row in enumerate(rows):
        (column,) = (at for at, char in enumerate(row.line) if char in "●■o#")
        found = [source(place, column)]
        for step in (-1, 1):
            at = column + step
            while 0 <= at < len(row.line) and row.line[at] in "─-":
                at += step
                if row.line[at] in "├┤┼└┘┴+'":
                    found.append(source(place, at))
                at += step
        edges |= {(earlier, row.index) for earlier in found if earlier is not None}
        assert None not in found[1:]
    return edges


@given(dags(most=24), st.booleans())
def test_the_edges_can_be_read_back(dag: ReferenceDag, in_unicode: bool) -> None:
    rows = rails(dag, in_unicode=in_unicode)
    assert read_back(rows) == {(earlier, node.index) for node in dag.nodes for earlier in node.prerequisites}
    assert {row.index for row in rows if set(row.line) & set("■#")} == dag.finals
    assert len({len(text) for row in rows for text in (row.line, row.below)}) == 1


@given(dags(most=24))
def test_rails_go_on_between_the_rows(dag: ReferenceDag) -> None:
    """What stands below a row joins it to the next: a formula of several lines does not tear the drawing."""
    rows = rails(dag)
    torn = tuple(part for row in rows for part in (row, RailRow(0, row.below, row.below)))
    for above, between, beneath in zip(torn[::2], torn[1::2], torn[2::2], strict=False):
        for top, middle, end in zip(above.line, between.line, beneath.line, strict=True):
            assert (middle == "│") <= (top in "●■│├┤┼" and end in "●■│├┤┼└┘┴")
            assert (top in "│├┤┼") <= (middle == "│")
    assert not rows[-1].below.strip()


def test_drawable() -> None:
    assert [is_drawable(name) for name in ("utf-8", "ascii", "latin-1", "cp437", None, "no-such")] == [True] + [
        False
    ] * 5


# For other programs -------------------------------------------------------------------------------------------


def problem(*formulas: str, **changes: Any) -> prism.Problem:
    """A chain of formulas, the last one final."""
    nodes = [
        {"index": index, "formula": text, "dependency": [index - 1] if index > 1 else []}
        for index, text in enumerate(formulas, start=1)
    ]
    nodes[-1] = {**nodes[-1], "is_final_answer": True}
    return prism.load_problem({"id": "p", "context": "", "grading_standard": nodes} | changes)


HOSTILE = (
    r"\nu < \frac{a_1 * b}{c}",
    "$$|\\psi|^2 = \n \\left[x\\right]$$",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix} = M",
    r'\text{in "rest" #quot; &lt; x %% ω}',
)
WORDS = {"final_answer_form": "text-based", "final_answer_instructions": "should be 'stable/unstable'"}


def test_mermaid_by_hand() -> None:
    # Looked at in Mermaid 11: each label shows the LaTeX as it stands.
    title = 'A "title": x < y & more'
    assert mermaid(problem(*HOSTILE, title=title, **WORDS)).splitlines() == [
        "---",
        r'title: "A \"title\": x \uff1c y \uff06 more"',
        "---",
        "flowchart TD",
        '    n1["(1) #92;#8288;nu #60; #92;frac{a#95;1 #42; b}{c}"]',
        '    n2["(2) |#92;psi|^2 = #92;left#91;x#92;right#93;"]',
        '    n3["(3) #92;begin{pmatrix} a #38; b #92;#92; c #38; d #92;end{pmatrix} = M"]',
        '    n4["(4) #92;text{in #34;rest#34; #35;quot#59; #38;lt#59; x #37;#37; #969;}<br/>final answer"]:::final',
        "    n1 --> n2",
        "    n2 --> n3",
        "    n3 --> n4",
        "    classDef final stroke-width:4px",
    ]


def test_dot_by_hand() -> None:
    # Looked at in Graphviz 16: each label shows the LaTeX as it stands.
    assert dot(problem(*HOSTILE, title='A "title": x < y & more', **WORDS)).splitlines() == [
        "digraph {",
        r'    graph [label="A \"title\": x < y &amp; more", labelloc="t"]',
        '    node [shape="box"]',
        r'    n1 [label="(1) \\nu < \\frac{a_1 * b}{c}"]',
        r'    n2 [label="(2) |\\psi|^2 = \\left[x\\right]"]',
        r'    n3 [label="(3) \\begin{pmatrix} a &amp; b \\\\ c &amp; d \\end{pmatrix} = M"]',
        r'    n4 [label="(4) \\text{in \"rest\" #quot; &amp;lt; x %% &#969;}\nfinal answer", peripheries=2]',
        "    n1 -> n2",
        "    n2 -> n3",
        "    n3 -> n4",
        "}",
    ]


def test_points_stand_where_they_are_not_all_equal() -> None:
    figure = prism.load_problem(resource("dags/scoring_figure.toml"))
    assert '(2) T#95;K = E#95;K - m#95;K<br/>20 points"]' in mermaid(figure)
    assert r"= \\pi\nfinal answer b, 10 points" in dot(figure)
    assert "point" not in mermaid(prism.load_problem(resource("dags/free_fall.toml")))


@given(st.text(max_size=40))
def test_no_text_leaves_its_label(text: str) -> None:
    said = problem("x = y", title=text)
    graph = dot(said).splitlines()[1]
    assert re.fullmatch(r'    graph \[label="(?:[^"\\]|\\.)*", labelloc="t"\]', graph)
    assert json.loads(mermaid(said).splitlines()[1].removeprefix("title: ")) is not None
    assert mermaid(said).isascii()


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_problems_have_all_nodes_and_edges(path: Path) -> None:
    loaded = prism.load_problem(path)
    edges = {(earlier, node.index) for node in loaded.dag.nodes for earlier in node.prerequisites}
    for text, arrow in ((mermaid(loaded), "-->"), (dot(loaded), "->")):
        assert {(int(a), int(b)) for a, b in re.findall(rf"^ +n(\d+) {arrow} n(\d+)$", text, re.M)} == edges
        assert [int(index) for index in re.findall(r"^ +n(\d+) ?\[", text, re.M)] == list(loaded.dag.indices)
    n_final = sum(len(each.dag.finals) for each in (loaded, *loaded.alternatives))
    assert mermaid(loaded).count(":::final") == dot(loaded).count("peripheries") == n_final


@pytest.mark.slow
def test_alternatives_are_drawn_beside_the_first_reference() -> None:
    loaded = prism.load_problem("backspin")
    assert 'subgraph a1["angular momentum first"]' in mermaid(loaded)
    assert "a1n4 --> a1n7" in mermaid(loaded)
    assert 'label="angular momentum first"' in dot(loaded)
    assert "a1n4 -> a1n7" in dot(loaded)
    shown = run.invoke(app, ["show", "backspin"]).stdout
    assert "Alternative: angular momentum first" in shown
    facts = json.loads(run.invoke(app, ["show", "backspin", "--json"]).stdout)
    assert [len(way["nodes"]) for way in facts["alternatives"]] == [10]


# On the command line ------------------------------------------------------------------------------------------


def test_show_draws_the_dag_beside_the_formulas() -> None:
    lines = run.invoke(app, ["show", "free_fall"]).stdout.splitlines()
    head = next(at for at, line in enumerate(lines) if line.split() == ["node", "from", "formula"])
    rows = [line.split("   ")[0].strip() for line in lines[head + 2 : head + 8]]
    assert rows == ["●", "●", "├─●", "│ ■", "● │", "■─┘"]
    assert "points" not in lines[head]
    assert "points" in run.invoke(app, ["show", "scoring_figure"]).stdout


def test_rails_go_on_beside_a_formula_of_several_lines(tmp_path: Path) -> None:
    long = " + ".join(rf"\frac{{a_{{{k}}}}}{{b_{{{k}}}}}" for k in range(12))
    nodes = [
        {"index": 1, "formula": f"$$y = {long}$$", "dependency": []},
        {"index": 2, "formula": "z = y", "dependency": [1], "is_final_answer": True},
    ]
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"id": "long", "context": "", "dag": nodes}), encoding="utf-8")
    lines = run.invoke(app, ["show", str(path)]).stdout.splitlines()[4:]
    assert [line[1] for line in lines[:5]] == ["●", "│", "│", "│", "■"]
    assert max(map(len, lines)) <= 110


def test_show_in_ascii_where_the_terminal_knows_no_more(tmp_path: Path) -> None:
    path = tmp_path / "greek.json"
    path.write_text(json.dumps({"id": "g", "title": "ω", "context": "", "dag": [
        {"index": 1, "formula": "ω = 2 f", "dependency": []}, {"index": 2, "formula": "f = 1/T", "dependency": []},
        {"index": 3, "formula": "ω = 2/T", "dependency": [1, 2], "is_final_answer": True},
    ]}), encoding="utf-8")  # fmt: skip
    done = CliRunner(charset="ascii").invoke(app, ["show", str(path)])
    assert done.exit_code == 0
    assert done.stdout.isascii()
    assert "#-'" in done.stdout
    assert "+---" not in done.stdout.split("A line leads")[0]


@pytest.mark.parametrize(("option", "first"), [("--mermaid", "---\n"), ("--dot", "digraph {\n")])
def test_show_prints_source_for_other_programs(option: str, first: str) -> None:
    done = run.invoke(app, ["show", "bucket", option])
    assert (done.exit_code, done.stdout.startswith(first)) == (0, True)


def test_show_prints_one_thing_at_a_time() -> None:
    assert run.invoke(app, ["show", "bucket", "--mermaid", "--dot"]).exit_code == 2
    assert run.invoke(app, ["show", "bucket", "--json", "--dot"]).exit_code == 2
