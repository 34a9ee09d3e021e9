"""A solution as it is read: its sentences, each formula typeset where it stands, with what the grade says of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from prism.diagnosis.explanations import match_steps
from prism.diagnosis.findings import Diagnosis
from prism.grading.result import GradedFormula, reason_in_words
from prism.grading.selection import WITHHELD_REASONS
from prism.reports.html.markup import MARKS
from prism.reports.html.mathml import as_mathml

_OPENS = re.compile(r"(?P<sign>\$\$?|\\\[|\\\(|\\begin\{[a-z]+\*?\})\s*(?:\\boxed\s*\{\s*)?\Z")
_CLOSES = re.compile(r"\s*\}?(?P<end>\s*[.,;:!]?)\s*(?:\$\$?|\\\]|\\\)|\\end\{[a-z]+\*?\})")
NO_MATH = Markup("")
MAX_TEXT = 60_000  # characters of a solution that are shown; longer ones repeat themselves


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Consecutive characters of a solution.

    Attributes:
        text: as they stand there.
        math: the formula typeset; empty for text, and for a formula that cannot be.
        css, letter: of the mark of the formula's status; empty for text and mentions.
        nodes: that it matches.
        row: ordinal of the formula in the grade; None for text.
        is_display: it stands on lines of its own.
    """

    text: str
    math: Markup = NO_MATH
    css: str = ""
    letter: str = ""
    nodes: tuple[int, ...] = ()
    row: int | None = None
    is_display: bool = False


@dataclass(frozen=True, slots=True)
class FormulaLine:
    """What the grade says of one formula: its status, nodes, reasons in words, witness, and the diagnosis."""

    row: int
    latex: str
    status: str
    nodes: tuple[int, ...]
    nearest: int | None
    reasons: tuple[str, ...]
    finding: str


def text_pieces(text: str, formulas: Sequence[GradedFormula]) -> tuple[TextPiece, ...]:
    """Split the text of a solution at its formulas; of two that overlap the first counts."""
    shown = text[:MAX_TEXT]
    pieces: list[TextPiece] = []
    at = 0
    for row, item in sorted(enumerate(formulas), key=lambda each: each[1].span):
        start, end = item.span
        if not at <= start < end <= len(shown):
            continue
        before, after = _OPENS.search(shown[at:start]), _CLOSES.match(shown[end:])
        left = start - len(before[0]) if before else start
        right = end + len(after[0]) if after else end
        pieces.append(TextPiece(shown[at:left]))
        mark = MARKS.get(item.status)
        math = NO_MATH if item.kind == "text" else as_mathml(item.latex)
        css, letter = (mark.css, mark.letter) if mark else ("", "")
        is_display = before is not None and before["sign"] not in ("$", r"\(")
        pieces.append(TextPiece(shown[start:end], math, css, letter, item.nodes, row, is_display))
        if after and after["end"].strip():
            pieces.append(TextPiece(after["end"]))
        at = right
    if len(text) > MAX_TEXT:
        return (*pieces, TextPiece(shown[at:]), TextPiece(f" … {len(text) - MAX_TEXT}"))
    return (*pieces, TextPiece(shown[at:]))


def formula_lines(formulas: Sequence[GradedFormula], diagnosis: Diagnosis | None) -> tuple[FormulaLine, ...]:
    """Return what a grade says of each formula that states something, in the order of the text."""
    findings = {} if diagnosis is None else {
        (each.span, each.latex): each.difference.full for each in diagnosis.findings if each.difference is not None
    }  # fmt: skip
    return tuple(
        FormulaLine(row, item.latex, item.status, item.nodes, item.nearest, _reasons(item),
                    findings.get((item.span, item.latex), ""))
        for row, item in enumerate(formulas) if item.status != "mention"
    )  # fmt: skip


def _reasons(item: GradedFormula) -> tuple[str, ...]:
    """Return in words why a formula has its status: how it matches, why it is withheld, where it differs."""
    matched = tuple(step for one in item.matches for step in match_steps(one))
    withheld = tuple(f"{node}: {WITHHELD_REASONS.get(reason, reason)}" for node, reason in item.withheld)
    other = reason_in_words(item) if not (matched or withheld) else ""
    return tuple(dict.fromkeys(each for each in (*matched, *withheld, other) if each))
