r"""Pieces of HTML: text that is safe to show, tables, formulas, a solution with its formulas marked.

Whatever a solution, a model or a file says comes through `text_of` before it stands in a page, and stands between tags
only: no attribute, id, link or style is made from it. Signs that change how others are shown are written out, since a
grade has to be read beside what was graded: `\u202e` becomes `⟨U+202E⟩`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from prism.grading.result import GradedFormula
from prism.latex import extract, one_line
from prism.reports.html.mathml import as_mathml

# Controls, signs of direction, signs without width, half pairs, and code points that are no characters (Unicode 15,
# sections 23.2, 23.7, 23.8; HTML forbids some, and shows none of them).
_UNSEEN = re.compile(
    "\r\n?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufdd0-\ufdef"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]|[\U0001fffe-\U0010ffff]"
)
_PLANE_END = 0xFFFE  # the last two code points of each plane are no characters
_DELIMITERS = {"$$": "$$", "$": "$", r"\[": r"\]", r"\(": r"\)"}
_PARAGRAPH = re.compile(r"\n\s*\n")
_MAX_LATEX = 600  # characters of a formula in a table; the text has it whole

MARKS = {
    "equivalent": ("m", "M", "matches the nodes whose numbers follow"),
    "withheld": ("w", "W", "says what a node says, and does not count"),
    "different": ("d", "D", "differs from every node"),
    "undecided": ("u", "U", "could not be decided"),
    "unread": ("r", "R", "could not be read"),
}
"""How a formula of each status is marked in a text: class, letter, legend. A mention is not marked."""


def text_of(value: object) -> str:
    r"""A value as text of a page.

    >>> text_of("<b>a & b\u202e")
    '&lt;b&gt;a &amp; b⟨U+202E⟩'
    """
    return escape(visible(str(value)), quote=True)


def visible(text: str) -> str:
    """Text in which every sign can be seen and none changes how others are shown."""
    return _UNSEEN.sub(_seen, text)


def _seen(found: re.Match[str]) -> str:
    sign = found[0]
    if sign == "\r\n":
        return "\n"
    code = ord(sign)
    if code > 0xFFFF and code & 0xFFFE != _PLANE_END and not 0xE0000 <= code <= 0xE0FFF:
        return sign
    return f"⟨U+{code:04X}⟩"


def name_of(value: object) -> str:
    """A name or id that others chose, apart from the direction of what stands around it."""
    return f"<bdi>{text_of(value)}</bdi>"


def latex_of(latex: str) -> str:
    """A formula as the code that it is, cut where it is very long."""
    line = one_line(latex)
    more = f" … and {len(line) - _MAX_LATEX} characters more" if len(line) > _MAX_LATEX else ""
    return f"<code>{text_of(line[:_MAX_LATEX])}</code>{more}"


def formula(latex: str) -> str:
    """A formula as mathematics, if that can be had, and beside it as LaTeX."""
    drawn = as_mathml(latex)
    return f'<span class="math">{drawn}</span> {latex_of(latex)}' if drawn else latex_of(latex)


def prose(text: str) -> str:
    """An author's text in paragraphs, its formulas as mathematics where that can be had."""
    parts, at = [], 0
    for found in extract(text):
        start, end = found.span
        drawn = as_mathml(found.latex) if start >= at and found.kind in ("inline", "display") else ""
        if drawn:
            before, behind = text[at:start].rstrip(), text[end:].lstrip()
            opening = next((sign for sign in _DELIMITERS if before.endswith(sign)), "")
            if opening and behind.startswith(_DELIMITERS[opening]):
                start = at + len(before) - len(opening)
                end = len(text) - len(behind) + len(_DELIMITERS[opening])
            parts += [text_of(text[at:start]), drawn]
            at = end
    whole = "".join([*parts, text_of(text[at:])])
    return "".join(f'<p class="prose">{each.strip()}</p>' for each in _PARAGRAPH.split(whole) if each.strip())


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell whose content is a number: it stands to the right."""

    html: str


def table(
    name: str, caption: str, heads: Sequence[str], rows: Iterable[Sequence[str | Cell]], ids: Sequence[str] = ()
) -> str:
    """A table in a box of its own, which scrolls where it is too wide; the first cell of a row is its head.

    Args:
        name: id of the caption.
        caption, heads, rows: HTML.
        ids: of the rows, in order; none without any.
    """
    lines = []
    numeric: set[int] = set()  # columns
    for k, row in enumerate(rows):
        numeric.update(n for n, cell in enumerate(row) if n and isinstance(cell, Cell))
        own = f' id="{ids[k]}"' if k < len(ids) and ids[k] else ""
        cells = [f"<td class=n>{cell.html}</td>" if isinstance(cell, Cell) else f"<td>{cell}</td>" for cell in row[1:]]
        first = row[0].html if isinstance(row[0], Cell) else row[0]
        lines.append(f'<tr{own}><th scope="row">{first}</th>{"".join(cells)}</tr>\n')
    top = "".join(f'<th scope="col"{" class=n" if n in numeric else ""}>{head}</th>' for n, head in enumerate(heads))
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{name}"><table><caption id="{name}">'
        f"{caption}</caption><thead><tr>{top}</tr></thead><tbody>\n{''.join(lines)}</tbody></table></div>\n"
    )


def scrolled(drawing: str, name: str) -> str:
    """A drawing in a box that scrolls where it is too wide, under a name of ours."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">{drawing}</div>\n'


def folded(head: str, body: str, kind: str = "") -> str:
    """Something to unfold."""
    named = f' class="{kind}"' if kind else ""
    return f"<details{named}><summary>{head}</summary>{body}</details>\n"


# A solution with its formulas marked. ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Marked:
    """A text with marks, and the formulas that have one.

    Attributes:
        html: of the text.
        marked: ordinals of the formulas.
    """

    html: str
    marked: frozenset[int]


def marked_text(text: str, formulas: Sequence[GradedFormula], rows: Sequence[int], prefix: str, limit: int) -> Marked:
    """A solution as it was written, each formula in a mark that says what became of it and leads to its row.

    Formulas that overlap share one mark. A place outside the text marks nothing.

    Args:
        text: of the solution.
        formulas: of its grade.
        rows: of each formula the one in whose row of the table it is told of: repeated ones share a row.
        prefix: of ids: formula 3, if it matches a node, is at PREFIXf3, its row at PREFIXt3.
        limit: characters that are shown.
    """
    shown = text[:limit]
    places = sorted(
        (item.span[0], -item.span[1], k)
        for k, item in enumerate(formulas)
        if item.status in MARKS and 0 <= item.span[0] < item.span[1] <= len(shown)
    )
    marks: list[tuple[int, int, list[int]]] = []
    for start, minus_end, k in places:
        if marks and start < marks[-1][1]:
            first, end, held = marks[-1]
            marks[-1] = (first, max(end, -minus_end), [*held, k])
        else:
            marks.append((start, -minus_end, [k]))
    parts, at = [], 0
    for start, end, held in marks:
        best = min(held, key=lambda k: list(MARKS).index(formulas[k].status))
        labels = "".join(_label(formulas[k], k, rows[k], prefix) for k in held)
        kind = MARKS[formulas[best].status][0]
        parts += [text_of(shown[at:start]), f'<mark class="{kind}">{labels}{text_of(shown[start:end])}</mark>']
        at = end
    more = f"\n… {len(text) - limit} characters more are not shown" if len(text) > limit else ""
    html = f'<pre class="text">{"".join(parts)}{text_of(shown[at:])}{more}</pre>'
    return Marked(html, frozenset(k for _, _, k in places))


def _label(item: GradedFormula, k: int, row: int, prefix: str) -> str:
    own = f' id="{prefix}f{k}"' if item.nodes else ""
    nodes = "".join(f" {index}" for index in item.nodes)
    return f'<a{own} href="#{prefix}t{row}">{MARKS[item.status][1]}{nodes}</a>'


def legend(present: Iterable[str]) -> str:
    """What the marks of these statuses mean."""
    there = set(present)
    told = [f'<mark class="{kind}"><b>{letter}</b></mark> {words}'
            for status, (kind, letter, words) in MARKS.items() if status in there]  # fmt: skip
    return f'<p class="legend">Formulas are marked: {"; ".join(told)}.</p>' if told else ""
