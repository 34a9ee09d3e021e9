"""A marking sheet as one HTML page: statement and solution of each row, labels to choose, and a button that saves CSV.

Nothing is loaded from anywhere and nothing is sent. The one script, `marking.js`, stands in the page, and the policy in
its head allows that script by its hash and no other, so that no slip in escaping could run anything. Without scripts
the page can be read and printed, and the sheet that is CSV is marked in its place.

The page knows no more than a marker may: no score, no node, no model, no id of the rollout.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from prism.reports.html.rendering import environment
from prism.reports.marking_sheets import COLUMNS, MarkingSheet, SheetItem, problem_text
from prism.reports.spreadsheets import FORMULA

_MAX_TEXT = 60_000  # characters of a solution that are shown; longer ones repeat themselves


@dataclass(frozen=True, slots=True)
class ItemSection:
    """What the page shows of one row.

    Attributes:
        statement: LaTeX prose.
        text: of the solution.
        n_hidden: characters of the solution beyond the limit, which are not in `text`.
    """

    id: str
    problem_id: str
    check: str
    title: str
    statement: str
    text: str
    n_hidden: int


def marking_page(sheet: MarkingSheet, *, title: str = "Marking sheet") -> str:
    """Render a marking sheet as one HTML page."""
    folder = Path(__file__).parent
    script = (folder / "marking.js").read_text(encoding="utf-8")
    styles = [(folder / name).read_text(encoding="utf-8") for name in ("page.css", "marking.css")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment().get_template("marking.html.jinja").render(
        title=title, sheet=sheet.key.sheet, labels=sheet.key.scheme.labels, columns=",".join(COLUMNS), formula=FORMULA,
        items=[_section(item) for item in sheet.items],
        script=Markup(script), script_hash=Markup(digest), style=Markup("".join(styles)),  # noqa: S704 - our files
    )  # fmt: skip


def _section(item: SheetItem) -> ItemSection:
    """Return what the page shows of one row."""
    return ItemSection(
        item.row.id, item.row.problem_id, item.check, item.problem.title, problem_text(item.problem),
        item.text[:_MAX_TEXT], max(0, len(item.text) - _MAX_TEXT),
    )  # fmt: skip
