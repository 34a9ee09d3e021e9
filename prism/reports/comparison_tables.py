"""Comparisons of models, leaderboards and counts of a problem set as tables and lines for a terminal.

Nothing is decided here. `cli` prints what these functions give, and loads rich through them only when it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table

from prism.errors import count_of
from prism.latex import one_line
from prism.problem.set_counts import LEVELS, UNRATED, SetCounts
from prism.reports.agreement import LEVEL, Estimate
from prism.reports.group_comparison import MEASURES, GroupComparison, family_text
from prism.reports.html.markup import visible
from prism.reports.paired_tests import interval_text, method_text, p_text, signed
from prism.reports.rankings import Leaderboard, grader_text


def group_tables(found: GroupComparison) -> list[RenderableType]:
    """Return tables and lines that show a comparison of groups: their means, and each pair of them."""
    by = ", ".join(found.fields)
    heads = ("rollouts", "unscored", "problems", "score", "interval", "final", "interval")
    groups = _table(f"By {by}", (by,), heads)
    for one in found.groups:
        shares = [text for name in MEASURES for text in _estimate_cells(one.means[name])]
        groups.add_row(_one_line(one.name), str(one.n), str(one.n_unscored), str(one.n_problem), *shares)
    parts: list[RenderableType] = [groups]
    for name, title in MEASURES.items():
        adjusted = ("p (Holm)",) if len(found.pairs) > 1 else ()
        table = _table(f"Change of {title}", ("from", "to"), ("change", "interval", "p", *adjusted, "problems"))
        for pair in found.pairs:
            test = pair.tests[name]
            p_values = (p_text(test.p), *((p_text(test.holm),) if adjusted else ()))
            table.add_row(
                _one_line(pair.base), _one_line(pair.new), signed(test.difference.value), interval_text(test),
                *p_values, str(test.n_problem),
            )  # fmt: skip
        parts.append(table)
    tests = [test for pair in found.pairs for test in pair.tests.values()]
    method = method_text(tests)
    how = f" ({method})" if method else ""
    return [*parts, f"{family_text(found)} Intervals of {LEVEL:.0%} by a bootstrap over problems{how}."]


def leaderboard_tables(found: Leaderboard) -> list[RenderableType]:
    """Return tables and lines that show a leaderboard: one table for each board, and why the others stand apart."""
    parts: list[RenderableType] = []
    heads = ("rollouts", "score", "interval", "to first", "p (Holm)", "strict", "final")
    for number, board in enumerate(found.boards):
        title = "Ranking" if not number else f"Apart {number}"
        has_runs = len({one.run for one in board.entries}) > 1
        table = _table(title, ("rank", "model", *(("run",) if has_runs else ())), heads)
        for one in board.entries:
            test = one.to_first
            beside = ("", "") if test is None else (signed(test.difference.value), p_text(test.holm))
            unscored = f" ({one.group.n_unscored} unscored)" if one.group.n_unscored else ""
            table.add_row(
                "-" if one.rank is None else str(one.rank), _one_line(one.model),
                *((_one_line(one.run),) if has_runs else ()), f"{one.group.n}{unscored}", *_estimate_cells(one.mean),
                *beside, _estimate_cells(one.strict)[0], _estimate_cells(one.group.means["final"])[0],
            )  # fmt: skip
        parts += [table, *(f"Not ranked with the first table: {_one_line(reason)}." for reason in board.apart)]
        parts += [f"{_one_line(grader_text(board.grader))}; {count_of(len(board.ids), 'problem')}.", ""]
    return parts[:-1]


def set_tables(found: SetCounts) -> list[RenderableType]:
    """Return tables and lines that count a set of problems: its measures, domains by difficulty, subtopics, answers."""
    heads = ("total", "mean", "lowest", "median", "highest")
    measures = _table(count_of(found.n, "problem"), ("of a problem",), heads)
    for name, one in found.spreads.items():
        measures.add_row(name, *map(_number, (one.total, one.mean, one.low, one.middle, one.high)))
    levels = [level for level in (*LEVELS, UNRATED) if any(row[level] for row in found.domains.values())]
    domains = _table("By domain and difficulty", ("domain",), (*levels, "all"))
    for name, row in found.domains.items():
        domains.add_row(_one_line(name), *(str(row[level]) for level in levels), str(sum(row.values())))
    if len(found.domains) > 1:
        sums = [sum(row[level] for row in found.domains.values()) for level in levels]
        domains.add_row("all", *map(str, sums), str(found.n))
    parts: list[RenderableType] = [measures, domains]
    if found.subtopics:
        topics = _table("By subtopic", ("domain", "subtopic"), ("problems",))
        for (domain, topic), n in found.subtopics.items():
            topics.add_row(_one_line(domain), _one_line(topic), str(n))
        parts.append(topics)
    forms = ", ".join(f"{n} {_one_line(form) or 'of no stated form'}" for form, n in found.forms.items())
    return [*parts, f"Final answers: {forms}."]


def _table(title: str, words: Iterable[str], numbers: Iterable[str]) -> Table:
    """Return an empty table: columns of words at the left, columns of numbers at the right."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for head in words:
        table.add_column(head, overflow="fold")
    for head in numbers:
        table.add_column(head, justify="right", overflow="fold")
    return table


def _estimate_cells(found: Estimate) -> Sequence[str]:
    """Return the cells of an estimate: its value, and its interval or why there is none."""
    value = "none" if found.value is None else f"{found.value:.3f}"
    if found.low is None or found.high is None:
        return value, found.reason or "none"
    return value, f"{found.low:.3f} to {found.high:.3f}"


def _number(value: float) -> str:
    """Write a whole number without decimals, and any other with two."""
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def _one_line(text: str) -> str:
    """Return text on one line, with control and invisible characters written out."""
    return visible(one_line(text))
