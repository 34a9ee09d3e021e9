"""Draw README's picture, `docs/assets/graded.svg`: a shipped solution as PRISM grades it, beside the reference DAG.

python benchmarks/readme_picture.py [--check]

Formulas are MathML where the viewer knows it, and their LaTeX elsewhere. Colours, words and lines are read off the
grade.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from html import escape
from pathlib import Path

import prism
from prism.reports.html.mathml import as_mathml

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "assets" / "graded.svg"
PROBLEM, STUDENT = "free_fall", "wrong-factor"
WIDTH, ROW, TOP = 900, 62, 74
LEFT, RIGHT, BOX, TALL = 24, 500, 336, 50  # where the boxes of both columns begin, their width and height
EDGE_STEP = 13  # between the arcs of edges of different length
COLOURS = {"matched": "#1a7f37", "credited": "#4a8fd1", "wrong": "#cf222e", "follows": "#9a6700", "missing": "#8c959f"}
WORDS = {
    "matched": "matched",
    "credited": "credited: a matched one rests on it",
    "missing": "missing",
    "follows": "follows from the wrong step",
}
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2328}.small{font-size:11.5px;fill:#59636e}"
    ".head{font-weight:600;font-size:14px}math{font-size:16px;color:#1f2328}"
)


def drawing() -> str:
    """The picture as SVG."""
    problem = prism.load_problem(PROBLEM)
    solution = next(student.solution for student in problem.students if student.name == STUDENT)
    grade = prism.grade(problem, solution)
    n_points = sum(node.points for node in problem.nodes)
    n_earned = sum(node.points for node in problem.nodes if node.index in grade.credited)
    height = top_of(len(problem.nodes)) + 34
    body = "\n".join((
        text("head", LEFT, 30, "The solution"),
        text("small", LEFT, 50, f"{problem.title}, a student's formulas in order"),
        text("head", RIGHT, 30, "The reference, node by node"),
        text("small", RIGHT, 50, "a matched node credits all that it rests on"),
        *solution_column(problem, grade),
        *reference_column(problem, grade),
        text("small", LEFT, height - 14, f'prism.grade("{PROBLEM}", solution)'),
        text("head", RIGHT, height - 14, f"{n_earned} of {n_points} points: score {grade.score:g}; no model was asked"),
    ))  # fmt: skip
    described = f"{len(grade.matched)} formulas match nodes of the reference; score {grade.score:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">\n'
        f"<title>A graded solution</title><desc>{described}</desc>\n"
        f'<style>{STYLE}</style>\n<defs><marker id="tip" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" '
        f'markerHeight="6" orient="auto"><path d="M0 0L6 3L0 6z" fill="{COLOURS["missing"]}"/></marker></defs>\n'
        f'<rect width="100%" height="100%" rx="8" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def solution_column(problem: prism.Problem, grade: prism.Grade) -> Iterator[str]:
    """Each formula of the solution with what became of it, and a line to each node that it matches."""
    findings = {finding.latex: finding for finding in prism.diagnose(problem, grade).findings}
    for row, item in enumerate(grade.formulas):
        finding = findings.get(item.latex)
        state = "matched" if item.nodes else finding.status if finding else "missing"
        words = f"says node {', '.join(map(str, item.nodes))}" if item.nodes else WORDS.get(state, state)
        if finding and finding.difference:
            words = f"first wrong step. {finding.difference.full.partition(':')[0]}"
        yield box(LEFT, row, item.latex, words, COLOURS.get(state, COLOURS["missing"]))
        start, x = top_of(row) + TALL / 2, LEFT + BOX
        for end in (top_of(node - 1) + TALL / 2 for node in item.nodes):
            yield (
                f'<path d="M{x} {start}C{x + 60} {start} {RIGHT - 60} {end} {RIGHT} {end}" '
                f'stroke="{COLOURS["matched"]}" stroke-width="2" fill="none"/>'
            )


def reference_column(problem: prism.Problem, grade: prism.Grade) -> Iterator[str]:
    """Each node of the reference with what it earned, and an arc to it from each that it rests on."""
    for row, (node, edges) in enumerate(zip(problem.nodes, problem.dag.nodes, strict=True)):
        state = next(name for name in ("matched", "credited", "missing") if node.index in getattr(grade, name))
        words = f"{node.index}. {WORDS[state]}{', an answer' if node.is_final else ''}"
        yield box(RIGHT, row, node.latex, words, COLOURS[state])
        x, end = RIGHT + BOX, top_of(row) + 14
        for cause in edges.prerequisites:
            start, bend = top_of(cause - 1) + TALL - 14, x - 4 + EDGE_STEP * (node.index - cause)
            yield (
                f'<path d="M{x} {start}C{bend} {start + 14} {bend} {end - 14} {x} {end}" '
                f'stroke="{COLOURS["missing"]}" fill="none" marker-end="url(#tip)"/>'
            )


def top_of(row: int) -> int:
    """The upper edge of the boxes of a row, from 0."""
    return TOP + row * ROW


def text(kind: str, x: int, y: int, words: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words, quote=False)}</text>'


def box(x: int, row: int, latex: str, words: str, colour: str) -> str:
    """A formula with words below it, behind a bar of a colour."""
    y = top_of(row)
    mathml = str(as_mathml(latex)).replace("<math>", '<math xmlns="http://www.w3.org/1998/Math/MathML">', 1)
    return (
        f'<rect x="{x}" y="{y}" width="{BOX}" height="{TALL}" rx="4" fill="{colour}" fill-opacity="0.09"/>'
        f'<rect x="{x}" y="{y}" width="4" height="{TALL}" fill="{colour}"/>'
        f'<switch><foreignObject requiredExtensions="http://www.w3.org/1999/xhtml" x="{x + 14}" y="{y + 1}" '
        f'width="{BOX - 20}" height="{TALL - 18}"><div xmlns="http://www.w3.org/1999/xhtml" '
        f'style="display:flex;align-items:center;height:100%">{mathml}</div></foreignObject>'
        f'<text x="{x + 14}" y="{y + 21}">{escape(latex)}</text></switch>'
        f"{text('small', x + 14, y + TALL - 7, words)}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Draw README's picture.")
    parser.add_argument("--check", action="store_true", help="only say whether it is current")
    picture = drawing()
    if parser.parse_args().check:
        return int(not PICTURE.exists() or PICTURE.read_text("utf-8") != picture)
    PICTURE.write_text(picture, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
