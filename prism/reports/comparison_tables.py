"""Comparisons of runs and models, leaderboards and counts of a problem set as tables and lines.

Nothing is decided here. The tables are plain data (`table_formats`), so that a terminal, CSV, Markdown and LaTeX show
the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from prism.errors import count_of
from prism.problem.set_counts import LEVELS, UNRATED, SetCounts
from prism.reports.agreement import LEVEL
from prism.reports.ci_formats import overview
from prism.reports.gates import Comparison, GateOutcome, ItemPair, describe_outcome, describe_pair, worst_first
from prism.reports.group_comparison import MEASURES, GroupComparison, family_text
from prism.reports.paired_tests import PairedTest, method_text
from prism.reports.rankings import Board, Entry, Leaderboard, grader_text
from prism.reports.report_tables import Part
from prism.reports.table_formats import Cell, Column, DataTable, Kind, share_columns, with_intervals

_CHANGE = (Column("change", Kind.VALUE, is_share=True, is_signed=True),
           Column("interval", Kind.INTERVAL, is_share=True, is_signed=True), Column("p", Kind.P_VALUE))  # fmt: skip


# Of two runs. ---------------------------------------------------------------------------------------------------


def comparison_parts(found: Comparison, outcomes: Iterable[GateOutcome]) -> list[Part]:
    """Return the tables and lines of a comparison of two files: items that changed, mean changes, gates."""
    names = ("problem", "sample", "what became of it")
    columns = (
        *map(Column, names), Column("base", Kind.VALUE, is_share=True), Column("new", Kind.VALUE, is_share=True),
        _CHANGE[0],
    )  # fmt: skip
    rows = tuple(_pair_row(pair) for pair in worst_first(found.pairs) if pair.has_changed)
    fired = [f"{'FIRED' if one.has_fired else 'held'} {one.gate.text}: {describe_outcome(one)}" for one in outcomes]
    return [
        DataTable("changed", "Items that changed", columns, rows),
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
    return DataTable(name, title, (Column(head), *_CHANGE, Column("problems", Kind.COUNT)), rows)


# Of models. -----------------------------------------------------------------------------------------------------


def group_parts(found: GroupComparison) -> list[Part]:
    """Return the tables and lines of a comparison of groups: their means, and each pair of them."""
    by = ", ".join(found.fields)
    counts = [Column(head, Kind.COUNT) for head in ("rollouts", "unscored", "problems")]
    columns = (Column(by), *counts, *share_columns("score"), *share_columns("final"))
    rows = tuple(
        (one.name, one.n, one.n_unscored, one.n_problem, *with_intervals(*(one.means[name] for name in MEASURES)))
        for one in found.groups
    )
    parts: list[Part] = [DataTable("groups", f"By {by}", columns, rows)]
    parts += [_change_table(found, name, title) for name, title in MEASURES.items()]
    method = method_text([test for pair in found.pairs for test in pair.tests.values()])
    how = f" ({method})" if method else ""
    return [*parts, f"{family_text(found)} Intervals of {LEVEL:.0%} by a bootstrap over problems{how}."]


def _change_table(found: GroupComparison, name: str, title: str) -> DataTable:
    """Return the table of the changes of one measure between the pairs of groups."""
    holm = (Column("p (Holm)", Kind.P_VALUE),) if len(found.pairs) > 1 else ()
    tested = [(pair, pair.tests[name]) for pair in found.pairs]
    rows = tuple(
        (pair.base, pair.new, *with_intervals(test.difference), test.p, *((test.holm,) if holm else ()), test.n_problem)
        for pair, test in tested
    )
    columns = (Column("from"), Column("to"), *_CHANGE, *holm, Column("problems", Kind.COUNT))
    return DataTable(f"change-of-{name}", f"Change of {title}", columns, rows)


def leaderboard_parts(found: Leaderboard) -> list[Part]:
    """Return the tables and lines of a leaderboard: one table for each board, and why the others stand apart."""
    parts: list[Part] = []
    for number, board in enumerate(found.boards):
        parts += [""] if number else []
        parts.append(_board_table(board, "ranking" if not number else f"apart-{number}",
                                  "Ranking" if not number else f"Apart {number}"))  # fmt: skip
        parts += [f"Not ranked with the first table: {reason}." for reason in board.apart]
        parts.append(f"{grader_text(board.grader)}; {count_of(len(board.ids), 'problem')}.")
    return parts


def _board_table(board: Board, name: str, title: str) -> DataTable:
    """Return the table of a board, with columns for runs and for rollouts without a score where some are to be told."""
    has_runs = len({one.run for one in board.entries}) > 1
    has_unscored = any(one.group.n_unscored for one in board.entries)
    columns = (
        Column("rank", Kind.COUNT), Column("model"), *((Column("run"),) if has_runs else ()),
        Column("rollouts", Kind.COUNT), *((Column("unscored", Kind.COUNT),) if has_unscored else ()),
        *share_columns("score"), Column("to first", Kind.VALUE, is_share=True, is_signed=True),
        Column("p (Holm)", Kind.P_VALUE), *share_columns("strict", interval=False),
        *share_columns("final", interval=False),
    )  # fmt: skip

    def cells(one: Entry) -> tuple[Cell, ...]:
        """Return the cells of an entry; the first one has no difference from itself."""
        beside: tuple[Cell, Cell] = ("", "") if one.to_first is None else (one.to_first.difference, one.to_first.holm)
        return (
            one.rank, one.model, *((one.run,) if has_runs else ()), one.group.n,
            *((one.group.n_unscored,) if has_unscored else ()), *with_intervals(one.mean), *beside, one.strict,
            one.group.means["final"],
        )  # fmt: skip

    return DataTable(name, title, columns, tuple(map(cells, board.entries)))


# Of a problem set. ----------------------------------------------------------------------------------------------


def set_parts(found: SetCounts) -> list[Part]:
    """Return the tables and lines that count a set of problems: its measures, domains by difficulty, subtopics."""
    heads = ("total", "mean", "lowest", "median", "highest")
    spreads = tuple(
        (name, *map(_number, (one.total, one.mean, one.low, one.middle, one.high)))
        for name, one in found.spreads.items()
    )
    levels = [level for level in (*LEVELS, UNRATED) if any(row[level] for row in found.domains.values())]
    by_domain: list[tuple[Cell, ...]] = [
        (name, *(row[level] for level in levels), sum(row.values())) for name, row in found.domains.items()
    ]
    if len(found.domains) > 1:
        by_domain.append(("all", *(sum(row[level] for row in found.domains.values()) for level in levels), found.n))
    parts: list[Part] = [
        DataTable("measures", count_of(found.n, "problem"), _columns(("of a problem",), heads), spreads),
        DataTable("domains", "By domain and difficulty", _columns(("domain",), (*levels, "all")), tuple(by_domain)),
    ]
    if found.subtopics:
        topics = tuple((domain, topic, n) for (domain, topic), n in found.subtopics.items())
        parts.append(DataTable("subtopics", "By subtopic", _columns(("domain", "subtopic"), ("problems",)), topics))
    forms = ", ".join(f"{n} {form or 'of no stated form'}" for form, n in found.forms.items())
    return [*parts, f"Final answers: {forms}."]


def _columns(words: Sequence[str], numbers: Sequence[str]) -> tuple[Column, ...]:
    """Return columns of words, and behind them columns of numbers that are written as they are."""
    return (*map(Column, words), *(Column(head, Kind.COUNT) for head in numbers))


def _number(value: float) -> str:
    """Write a whole number without decimals, and any other with two."""
    return str(value) if isinstance(value, int) else f"{value:.2f}"
