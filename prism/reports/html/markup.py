r"""Text for a page: signs that cannot be seen or that mislead, prose with formulas, a solution in marked parts.

Nothing here writes HTML but `prose`, whose formulas are MathML: templates escape the rest. Signs that change how others
are shown are written out, since a grade has to be read beside what was graded: `\u202e` becomes `⟨U+202E⟩`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from prism.grading.result import GradedFormula
from prism.latex import extract
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


def visible(text: str) -> str:
    r"""Replace every character that is invisible or reorders its neighbours by its code point, such as `⟨U+202E⟩`.

    >>> visible("a\u202eb")
    'a⟨U+202E⟩b'
    """
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub(_code_point_label, text)


def _code_point_label(found: re.Match[str]) -> str:
    """Return what replaces a match of `_UNSEEN`: `⟨U+202E⟩`; newline for CR LF; harmless characters stay."""
    sign = found[0]
    if sign == "\r\n":
        return "\n"
    code = ord(sign)
    if code > 0xFFFF and code & 0xFFFE != _PLANE_END and not 0xE0000 <= code <= 0xE0FFF:
        return sign
    return f"⟨U+{code:04X}⟩"


def prose(text: str) -> tuple[Markup, ...]:
    """Split text of a problem's author into paragraphs of HTML, with formulas as MathML where they can be converted."""
    whole = with_drawn_formulas(text)
    return tuple(Markup(each.strip()) for each in _PARAGRAPH.split(whole) if each.strip())  # noqa: S704 - split markup


def with_drawn_formulas(text: str) -> Markup:
    """Return text with its delimited formulas as MathML where they can be converted."""
    parts: list[str] = []
    at = 0
    for found in extract(text):
        start, end = found.span
        drawn = as_mathml(found.latex) if start >= at and found.kind in ("inline", "display") else ""
        if drawn:
            start, end = _with_delimiters(text, at, start, end)
            parts += [visible(text[at:start]), drawn]
            at = end
    return Markup("").join([*parts, visible(text[at:])])  # escapes what is no markup


def _with_delimiters(text: str, at: int, start: int, end: int) -> tuple[int, int]:
    """Return a formula's span with the delimiters that belong to it, of which one may stand within: `$m = 2.00$ kg`.

    Args:
        at: where the text before the formula begins.
    """
    before, within, behind = text[at:start].rstrip(), text[start:end], text[end:].lstrip()
    for left, right in _DELIMITERS.items():
        opens, closes = before.endswith(left), behind.startswith(right)
        if not (opens and (closes or right in within)) and not (closes and left in within):
            continue
        return at + len(before) - len(left) if opens else start, len(text) - len(behind) + len(right) if closes else end
    return start, end


# A solution with its formulas marked. ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of formulas of one status in the text of a solution: CSS class, letter, and meaning in the legend."""

    css: str
    letter: str
    meaning: str


MARKS = {
    "equivalent": Mark("m", "M", "matches the nodes whose numbers follow"),
    "withheld": Mark("w", "W", "says what a node says, and does not count"),
    "different": Mark("d", "D", "differs from every node"),
    "undecided": Mark("u", "U", "could not be decided"),
    "unread": Mark("r", "R", "could not be read"),
}
"""The mark of each status of a formula, the most telling first. A mention is not marked."""


@dataclass(frozen=True, slots=True)
class MarkLink:
    """A link from a formula's mark in the text of a solution to the formula's row in the table of formulas.

    Attributes:
        label: letter of the formula's mark and indices of the nodes that it matches: `M 3`.
        id: of the link itself, if the formula matches a node; else empty.
        target: id of the row.
    """

    label: str
    id: str
    target: str


@dataclass(frozen=True, slots=True)
class TextPart:
    """Consecutive characters of a solution: a marked formula, with `css` the class of its mark, or unmarked text.

    Unmarked text has an empty `css` and no `links`.
    """

    text: str
    css: str = ""
    links: tuple[MarkLink, ...] = ()


@dataclass(frozen=True, slots=True)
class MarkedText:
    """The text of a solution as a sequence of marked and unmarked parts.

    Attributes:
        parts: the text in order.
        marked: ordinals of the formulas that have a mark.
        legend: the marks that occur, in the order of `MARKS`.
        n_hidden: characters beyond the limit, which are not in `parts`.
    """

    parts: tuple[TextPart, ...]
    marked: frozenset[int]
    legend: tuple[Mark, ...]
    n_hidden: int


def marked_text(
    text: str,
    formulas: Sequence[GradedFormula],
    rows: Sequence[int],
    prefix: str,
    limit: int,
    marks: Mapping[str, Mark] = MARKS,
) -> MarkedText:
    """Split the text of a solution at its graded formulas, each in the mark of its status.

    Formulas that overlap share one mark, of the most telling status. A span outside the text marks nothing.

    Args:
        text: of the solution.
        formulas: of its grade.
        rows: of each formula the ordinal of the one in whose table row it is described: repeated ones share a row.
        prefix: of ids: formula 3, if it matches a node, has the id PREFIXf3, and its row PREFIXt3.
        limit: characters that are shown.
        marks: the mark of each status, the most telling first.
    """
    shown = text[:limit]
    spans = sorted(
        (item.span[0], -item.span[1], k)
        for k, item in enumerate(formulas)
        if item.status in marks and 0 <= item.span[0] < item.span[1] <= len(shown)
    )
    groups: list[tuple[int, int, list[int]]] = []  # start, end, ordinals of the formulas in one mark
    for start, minus_end, k in spans:
        if groups and start < groups[-1][1]:
            first, end, members = groups[-1]
            groups[-1] = (first, max(end, -minus_end), [*members, k])
        else:
            groups.append((start, -minus_end, [k]))
    parts, at = [], 0
    for start, end, members in groups:
        best = next(mark for status, mark in marks.items() if any(formulas[k].status == status for k in members))
        links = tuple(_mark_link(formulas[k], marks, f"{prefix}f{k}", f"{prefix}t{rows[k]}") for k in members)
        parts += [TextPart(shown[at:start]), TextPart(shown[start:end], best.css, links)]
        at = end
    marked = frozenset(k for _, _, k in spans)
    statuses = {formulas[k].status for k in marked}
    legend = tuple(mark for status, mark in marks.items() if status in statuses)
    return MarkedText((*parts, TextPart(shown[at:])), marked, legend, max(0, len(text) - limit))


def _mark_link(item: GradedFormula, marks: Mapping[str, Mark], own_id: str, target: str) -> MarkLink:
    """Return the link from a formula's mark, with the id `own_id`, to the table row with the id `target`."""
    label = " ".join((marks[item.status].letter, *map(str, item.nodes)))
    return MarkLink(label, own_id if item.nodes else "", target)
