"""Draw README's picture, `docs/assets/graded.svg`: a shipped solution as PRISM grades it, beside the reference DAG.

python benchmarks/readme_picture.py [--check]

Formulas are MathML where the viewer knows it, and their LaTeX elsewhere. Colours, words and lines are read off the grade.
"""

from __future__ import annotations

import argparse
from html import escape
from pathlib import Path

import prism
from prism.reports.html.mathml import as_mathml

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "assets" / "graded.svg"
PROBLEM, STUDENT = "free_fall", "wrong-factor"
WIDTH, ROW, TOP = 860, 62, 74
LEFT, RIGHT, BOX, TALL = 24, 500, 336, 50  # where the boxes of both columns begin, their width and height
EDGE_STEP = 13  # between the arcs of edges of different length
COLOURS = {"matched": "#1a7f37", "credited": "#4a8fd1", "wrong": "#cf222e", "follows": "#9a6700", "missing": "#8c959f"}
WORDS = {"credited": "credited: a matched one rests on it", "follows": "follows from the wrong step", "missing": "missing"}
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2328}.small{font-size:11.5px;fill:#59636e}"
    ".head{font-weight:600;font-size:14px}math{font-size:16px;color:#1f2328}"
)


def drawing() -> str:
    """The picture as SVG."""
    problem = prism.load_problem(PROBLEM)
    solution = next(student.solution for student in problem.students if student.name == STUDENT)
    grade = prism.grade(problem, solution)
    findings = {finding.latex: finding for finding in prism.diagnose(problem, grade).findings}
    place = {node.index: TOP + k * ROW for k, node in enumerate(problem.nodes)}
    height = TOP + len(problem.nodes) * ROW + 34

    parts = [f'<text class="head" x="{LEFT}" y="30">The solution</text>']
    parts.append(f'<text class="head" x="{RIGHT}" y="30">The reference, node by node</text>')
    parts.append(f'<text class="small" x="{LEFT}" y="50">{escape(problem.title)}, a student\'s formulas in order</text>')
    parts.append(f'<text class="small" x="{RIGHT}" y="50">a matched node credits all that it rests on</text>')
    for k, item in enumerate(grade.formulas):
        y, finding = TOP + k * ROW, findings.get(item.latex)
        state = "matched" if item.nodes else finding.status if finding else "missing"
        words = f"says node {', '.join(map(str, item.nodes))}" if item.nodes else WORDS.get(state, state)
        if finding and finding.difference:
            words = f"first wrong step. {finding.difference.full.partition(':')[0]}"
        parts.append(box(LEFT, y, item.latex, words, COLOURS.get(state, COLOURS["missing"])))
        parts += [
            f'<path d="M{LEFT + BOX} {y + TALL / 2}C{LEFT + BOX + 60} {y + TALL / 2} {RIGHT - 60} '
            f'{place[node] + TALL / 2} {RIGHT} {place[node] + TALL / 2}" stroke="{COLOURS["matched"]}" '
            'stroke-width="2" fill="none"/>'
            for node in item.nodes
        ]
    for node in problem.nodes:
        y = place[node.index]
        state = next(
            (name for name in ("matched", "credited", "missing") if node.index in getattr(grade, name)), "missing"
        )
        words = f"{node.index}. {'matched' if state == 'matched' else WORDS[state]}{', an answer' if node.is_final else ''}"
        parts.append(box(RIGHT, y, node.latex, words, COLOURS[state]))
        for cause in problem.dag.nodes[node.index - 1].prerequisites:
            x, bend = RIGHT + BOX, RIGHT + BOX - 4 + EDGE_STEP * (node.index - cause)
            parts.append(
                f'<path d="M{x} {place[cause] + TALL - 14}C{bend} {place[cause] + TALL} {bend} {y} {x} {y + 14}" '
                'stroke="#8c959f" fill="none" marker-end="url(#tip)"/>'
            )
    n_points = sum(node.points for node in problem.nodes)
    n_earned = sum(node.points for node in problem.nodes if node.index in grade.credited)
    last = f"{n_earned} of {n_points} points: score {grade.score:g}; no model was asked"
    parts.append(f'<text class="head" x="{RIGHT}" y="{height - 14}">{last}</text>')
    parts.append(f'<text class="small" x="{LEFT}" y="{height - 14}">prism.grade("{PROBLEM}", solution)</text>')
    body = "\n".join(parts)
    described = f"{len(grade.matched)} formulas match nodes of the reference; score {grade.score:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 40} {height}" role="img">\n'
        f"<title>A graded solution</title><desc>{described}</desc>\n"
        f'<style>{STYLE}</style>\n<defs><marker id="tip" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" '
        'markerHeight="6" orient="auto"><path d="M0 0L6 3L0 6z" fill="#8c959f"/></marker></defs>\n'
        f'<rect width="100%" height="100%" rx="8" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def box(x: int, y: int, latex: str, words: str, colour: str) -> str:
    """A formula with words below it, behind a bar of a colour."""
    mathml = str(as_mathml(latex)).replace("<math>", '<math xmlns="http://www.w3.org/1998/Math/MathML">', 1)
    return (
        f'<rect x="{x}" y="{y}" width="{BOX}" height="{TALL}" rx="4" fill="{colour}" fill-opacity="0.09"/>'
        f'<rect x="{x}" y="{y}" width="4" height="{TALL}" fill="{colour}"/>'
        f'<switch><foreignObject requiredExtensions="http://www.w3.org/1999/xhtml" x="{x + 14}" y="{y + 1}" '
        f'width="{BOX - 20}" height="{TALL - 18}"><div xmlns="http://www.w3.org/1999/xhtml" '
        f'style="display:flex;align-items:center;height:100%">{mathml}</div></foreignObject>'
        f'<text x="{x + 14}" y="{y + 21}">{escape(latex)}</text></switch>'
        f'<text class="small" x="{x + 14}" y="{y + TALL - 7}">{escape(words)}</text>'
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Draw README's picture.")
    parser.add_argument("--check", action="store_true", help="only say whether it is current")
    text = drawing()
    if parser.parse_args().check:
        return int(not PICTURE.exists() or PICTURE.read_text("utf-8") != text)
    PICTURE.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
