"""A solution as it is read: its sentences, each formula typeset where it stands, with what the grade says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from prism.diagnosis.explanations import match_steps
from prism.diagnosis.findings import Diagnosis
from prism.grading.result import GradedFormula, reason_in_words
from prism.grading.selection import WITHHELD_REASONS
from prism.reports.html.markup import marked_text
from prism.reports.html.typeset import TypesetPart, typeset

MAX_TEXT = 60_000  # characters of a solution that are shown; longer ones repeat themselves


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


def text_pieces(text: str, formulas: Sequence[GradedFormula]) -> tuple[TypesetPart, ...]:
    """Split the text of a solution at its formulas, each typeset where it stands; what is not shown is counted."""
    found = marked_text(text, formulas, range(len(formulas)), "f", MAX_TEXT)
    hidden = [TypesetPart(Markup(" … {}").format(found.n_hidden))] if found.n_hidden else []
    return (*typeset(found.parts), *hidden)


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
