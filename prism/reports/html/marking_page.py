"""A marking sheet as one HTML page: statement and solution of each row, labels to choose, and a button that saves CSV.

Nothing is loaded from anywhere and nothing is sent. The one script, `marking.js`, stands in the page, and the policy in
its head allows that script by its hash and no other, so that no slip in escaping could run anything. Without scripts
the page can be read and printed, and the sheet that is CSV is marked in its place.

The page knows no more than a marker may: no score, no node, no model, no id of the rollout.
"""

from __future__ import annotations

from prism.reports.html.rendering import page
from prism.reports.marking_sheets import COLUMNS, MarkingSheet, problem_text
from prism.reports.spreadsheets import FORMULA

_MAX_TEXT = 60_000  # characters of a solution that are shown; longer ones repeat themselves


def marking_page(sheet: MarkingSheet, *, title: str = "Marking sheet") -> str:
    """Render a marking sheet as one HTML page."""
    items = [
        {
            "id": item.row.id, "problem_id": item.row.problem_id, "check": item.check, "title": item.problem.title,
            "statement": problem_text(item.problem), "text": item.text[:_MAX_TEXT],
            "n_hidden": max(0, len(item.text) - _MAX_TEXT),
        }
        for item in sheet.items
    ]  # fmt: skip
    return page(
        "marking", styles=("page.css", "marking.css"), script="marking.js", title=title, sheet=sheet.key.sheet,
        labels=sheet.key.scheme.labels, columns=",".join(COLUMNS), formula=FORMULA, items=items,
    )  # fmt: skip
