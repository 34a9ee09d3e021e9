"""A leaderboard as one HTML page: no scripts, nothing loaded from anywhere, the same bytes for the same input."""

from __future__ import annotations

from prism.reports.html.rendering import page
from prism.reports.rankings import Leaderboard, known_grader


def leaderboard_page(found: Leaderboard, *, title: str = "PRISM leaderboard") -> str:
    """Render a leaderboard as one HTML page: a table for each board, what it was graded by, and why it stands apart."""
    known = {board.grader: known_grader(board.grader) for board in found.boards}
    n_entry = sum(len(board.entries) for board in found.boards)
    return page("leaderboard", found=found, title=title, known=known, n_entry=n_entry)
