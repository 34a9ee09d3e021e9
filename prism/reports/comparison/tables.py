"""Comparisons of runs and models, and leaderboards, as tables and lines; nothing is decided here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prism.errors import count_of
from prism.reports.agreement import LEVEL
from prism.reports.ci_formats import overview
from prism.reports.comparison.groups import MEASURES, GroupComparison, family_text
from prism.reports.comparison.paired_tests import PairedTest, method_text
from prism.reports.gates import Comparison, GateOutcome, ItemPair, describe_outcome, describe_pair, worst_first
from prism.reports.rankings import Board, Entry, Leaderboard, grader_text
from prism.reports.table_formats import Cell, DataTable, Part, columns, counts, with_intervals

_TESTED = (("change", "changes"), ("p", "p"))


# Of two runs. ---------------------------------------------------------------------------------------------------


def comparison_parts(found: Comparison, outcomes: Iterable[GateOutcome]) -> list[Part]:
    """Return the tables and lines of a comparison of two files: items that changed, mean changes, gates."""
    figures = (("base", "share"), ("new", "share"), ("change", "change"))
    heads = columns("problem", "sample", "what became of it", *figures)
    rows = tuple(_pair_row(pair) for pair in worst_first(found.pairs) if pair.has_changed)
    fired = [f"{'FIRED' if one.has_fired else 'held'} {one.gate.text}: {describe_outcome(one)}" for one in outcomes]
    return [
        DataTable("changed", "Items that changed", heads, rows),
        _tests_table("change", "Mean changes", "of", {MEASURES[name]: one for name, one in found.tests.items()}),
        *overview(found),
        *fired,
    ]


def _pair_row(pair: ItemPair) -> tuple[Cell, ...]:
    """Return the cells of an item that changed."""
    scores = [None if one is None or one.score is None else float(one.score) for one in (pair.base, pair.new)]
    return (*pair.key, describe_pair(pair), *scores, None if pair.change is None else float(pair.change))


def _tests_table(name: str, title: str, head: str, tests: Mapping[str, PairedTest]) -> DataTable:
    """Return a table of tested changes, a row for each."""
    rows = tuple((of, *with_intervals(one.difference), one.p, one.n_problem) for of, one in tests.items())
    return DataTable(name, title, columns(head, *_TESTED, *counts("problems")), rows)


# Of models. -----------------------------------------------------------------------------------------------------


def group_parts(found: GroupComparison) -> list[Part]:
    """Return the tables and lines of a comparison of groups: their means, and each pair of them."""
    by = ", ".join(found.fields)
    rows = tuple(
        (one.name, one.n, one.n_unscored, one.n_problem, *with_intervals(*(one.means[name] for name in MEASURES)))
        for one in found.groups
    )
    heads = columns(by, *counts("rollouts", "unscored", "problems"), ("score", "shares"), ("final", "shares"))
    parts: list[Part] = [DataTable("groups", f"By {by}", heads, rows)]
    parts += [_change_table(found, name, title) for name, title in MEASURES.items()]
    method = method_text([test for pair in found.pairs for test in pair.tests.values()])
    how = f" ({method})" if method else ""
    return [*parts, f"{family_text(found)} Intervals of {LEVEL:.0%} by a bootstrap over problems{how}."]


def _change_table(found: GroupComparison, name: str, title: str) -> DataTable:
    """Return the table of the changes of one measure between the pairs of groups."""
    has_holm = len(found.pairs) > 1
    tested = [(pair, pair.tests[name]) for pair in found.pairs]
    rows = tuple(
        (pair.base, pair.new, *with_intervals(test.difference), test.p, *([test.holm] * has_holm), test.n_problem)
        for pair, test in tested
    )
    heads = columns("from", "to", *_TESTED, *([("p (Holm)", "p")] * has_holm), *counts("problems"))
    return DataTable(f"change-of-{name}", f"Change of {title}", heads, rows)


def leaderboard_parts(found: Leaderboard) -> list[Part]:
    """Return the tables and lines of a leaderboard: one table for each board, and why the others stand apart."""
    parts: list[Part] = []
    for number, board in enumerate(found.boards):
        parts += [""] if number else []
        parts.append(_board_table(board, "ranking" if not number else f"apart-{number}",
                                  "Ranking" if not number else f"Apart {number}"))  # fmt: skip
        parts += [f"Not ranked with the first table: {reason}." for reason in board.reasons_apart]
        parts.append(f"{grader_text(board.grader)}; {count_of(len(board.ids), 'problem')}.")
    return parts


def _board_table(board: Board, name: str, title: str) -> DataTable:
    """Return the table of a board, with columns for runs and for rollouts without a score where some are to be told."""
    has_runs = len({one.run for one in board.entries}) > 1
    has_unscored = any(one.group.n_unscored for one in board.entries)
    heads = columns(
        ("rank", "count"), "model", *(["run"] * has_runs), ("rollouts", "count"),
        *([("unscored", "count")] * has_unscored), ("score", "shares"), ("to first", "change"), ("p (Holm)", "p"),
        ("strict", "share"), ("final", "share"),
    )  # fmt: skip

    def cells(one: Entry) -> tuple[Cell, ...]:
        """Return the cells of an entry; the first one has no difference from itself."""
        beside: tuple[Cell, Cell] = ("", "") if one.to_first is None else (one.to_first.difference, one.to_first.holm)
        return (
            one.rank, one.model, *([one.run] * has_runs), one.group.n, *([one.group.n_unscored] * has_unscored),
            *with_intervals(one.mean), *beside, one.strict, one.group.means["final"],
        )  # fmt: skip

    return DataTable(name, title, heads, tuple(map(cells, board.entries)))
