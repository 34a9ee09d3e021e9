"""A leaderboard as one HTML page: no scripts, nothing loaded from anywhere, the same bytes for the same input."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from prism.reports.html.rendering import environment
from prism.reports.rankings import Leaderboard, known_grader


def leaderboard_page(found: Leaderboard, *, title: str = "PRISM leaderboard") -> str:
    """Render a leaderboard as one HTML page: a table for each board, what it was graded by, and why it stands apart."""
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    return (
        environment()
        .get_template("leaderboard.html.jinja")
        .render(
            found=found,
            title=title,
            style=Markup(style),  # noqa: S704 - our file
            known={board.grader: known_grader(board.grader) for board in found.boards},
            n_entry=sum(len(board.entries) for board in found.boards),
        )
    )
