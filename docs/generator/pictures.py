"""Pictures of the pages, as SVG inside the page: they take its colours, light and dark, and load nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape

from docs.generator import code_facts

_ROW, _CELL, _NAMES, _HEAD = 26, 26, 112, 96  # px of a row, of a cell, of the column of names, of the slanted heads
_STEP, _WIDTH, _BOX, _ARROW = 96, 460, 52, 44  # px from box to box, of the figure, of a box, of an arrow


@dataclass(frozen=True, slots=True)
class Box:
    """One step of the pipeline: what it makes, how, the folder that does it, and what comes in beside."""

    title: str
    how: str
    folder: str
    beside: str = ""


PIPELINE = (
    Box("Text of a solution", "LaTeX, Markdown, plain lines; chat messages, steps", "", ""),
    Box("Located formulas", "found between delimiters and in sentences", "latex", ""),
    Box("Claims", "parsed, split at chains and alternatives, with their place", "grading", "grammar"),
    Box(
        "Match matrix",
        "each claim beside each node, as it stands and with what is known",
        "equivalence",
        "problem file",
    ),
    Box("Matches that stand", "chains, final answers, parts, guesses are looked at", "grading", ""),
    Box("Credited nodes", "each match with all its prerequisites", "problem", "reference DAG"),
    Box("Score row", "share of points, reasons, fingerprint, cost", "grading", ""),
)


def pipeline() -> str:
    """Return the figure of the way from a text to its score, top to bottom, so that it fits a telephone."""
    height = _STEP * (len(PIPELINE) - 1) + _BOX + 8
    parts = []
    for k, box in enumerate(PIPELINE):
        y = 4 + k * _STEP
        parts.append(f'<rect class="box" x="4" y="{y}" width="{_WIDTH - 8}" height="{_BOX}" rx="6"/>')
        parts.append(f'<text class="strong" x="18" y="{y + 22}">{escape(box.title)}</text>')
        parts.append(f'<text class="small" x="18" y="{y + 41}">{escape(box.how)}</text>')
        if box.folder:
            parts.append(
                f'<text class="code" x="{_WIDTH - 18}" y="{y + 22}" text-anchor="end">prism/{box.folder}/</text>'
            )
        if k:
            top = y - _ARROW + 4
            parts.append(f'<path class="arrow" d="M40 {top}V{y - 8}M34 {y - 15}L40 {y - 7}L46 {y - 15}"/>')
            if box.beside:
                parts.append(f'<text class="small" x="56" y="{top + 19}">with the {escape(box.beside)}</text>')
    label = "From the text of a solution to its score row: " + ", ".join(box.title.lower() for box in PIPELINE)
    return _figure(_WIDTH, height, label, parts)


def import_matrix() -> str:
    """Return the matrix of imports between folders: the layers of the contract, and how many modules import from each.

    Row imports from column. The contract holds as long as every number stands below the diagonal.
    """
    counts, names = code_facts.imports(), [name for layer in code_facts.layers() for name in reversed(layer)][::-1]
    sizes = Counter(code_facts.folder_of(code_facts.dotted(path)) for path in code_facts.modules())
    n, strongest = len(names), max(counts.values())
    parts = []
    for k, name in enumerate(names):
        y, x = _HEAD + k * _ROW, _NAMES + k * _CELL
        parts.append(
            f'<text class="code" x="{_NAMES - 8}" y="{y + 17}" text-anchor="end">{name}'
            f"<title>{sizes[name]} modules</title></text>"
        )
        parts.append(f'<text class="code" transform="translate({x + 16} {_HEAD - 6}) rotate(-60)">{name}</text>')
        parts.append(f'<rect class="own" x="{x}" y="{y}" width="{_CELL - 2}" height="{_ROW - 2}"/>')
        for j, other in enumerate(names):
            if number := counts[name, other]:
                place, ink = _NAMES + j * _CELL, 0.15 + 0.6 * number / strongest
                parts.append(
                    f'<rect class="cell" x="{place}" y="{y}" width="{_CELL - 2}" height="{_ROW - 2}" '
                    f'fill-opacity="{ink:.2f}"><title>{number} modules of {name} import from {other}</title></rect>'
                )
                parts.append(f'<text class="small" x="{place + 12}" y="{y + 16}" text-anchor="middle">{number}</text>')
    label = f"Imports between the {n} folders and modules below prism: every import goes to a lower layer"
    return _figure(_NAMES + n * _CELL + 60, _HEAD + n * _ROW + 4, label, parts)


def _figure(width: int, height: int, label: str, parts: list[str]) -> str:
    """Return SVG in a `div` that scrolls by itself where the window is narrower than the figure stays legible."""
    legible = f"max-width:{width}px;min-width:{0.7 * width:.0f}px"
    svg = f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {width} {height}" style="{legible}">'
    return f'<div class="picture">{svg}{"".join(parts)}</svg></div>'
