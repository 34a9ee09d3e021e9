"""Problems, sets of them, grades and comparisons as tables and lines for a terminal.

Nothing is decided here. `cli` prints what these functions give, and loads rich through them only when it does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import TextWrapper, shorten
from typing import Any

from rich import box
from rich.box import Box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from prism.diagnosis.findings import diagnose
from prism.diagnosis.other_letters import other_letters
from prism.errors import DataFileError, count_of
from prism.grading.result import FLAGS, NOTHING_FOUND, Grade, finds_nothing, reason_in_words, unstated_finals_in_words
from prism.problem.collection import LEVELS, UNRATED, SetCounts
from prism.problem.problem_file import Student
from prism.problem.schema import Problem, in_alternative
from prism.problem.source import NODE_LISTS, read_source
from prism.reports.ci_formats import overview
from prism.reports.dag_drawing import has_equal_points, rails
from prism.reports.gates import Comparison, GateOutcome, describe, describe_outcome, describe_pair, worst_first
from prism.reports.html.markup import visible
from prism.reports.table_formats import Cell, DataTable, Kind, Part, columns, counts, in_one_line, shown_rows
from prism.resources import meanings

_COLOURS = {"matched": "green", "credited": "cyan", "missing": "red"}  # a word stands beside each
_SHOWN_TITLE = 100  # characters of a title in a list
_LEAST_ROOM = 12  # columns for formulas beside a wide drawing in a narrow terminal
_SHOWN_ITEMS = 50  # rows of a comparison or of problems on a terminal
_BREAKS = re.compile(r"(\s+)|(?<![\\({])(?=\\)")  # where a line of LaTeX may end: at blanks, before commands
_LEAST_NAME = 16  # columns for names in a table of a report, if they are that long
_UNFOLDED = (Kind.COUNT, Kind.VALUE, Kind.INTERVAL, Kind.P_VALUE)
_ASCII_BOX = "    \n    \n -- \n" + "    \n" * 5  # a line under the heads; uprights would be taken for rails


_UNMATCHED: Mapping[str, str] = meanings("reports.unmatched")
"""Titles of the tables of formulas that match no node, by status; `different` formulas may be right nevertheless."""


def _table(title: str, columns: Iterable[str]) -> Table:
    """Return an empty table with a title and these columns, in the style of all tables."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold", justify="right" if column in ("node", "points", "score") else "left")
    return table


def problem_summary(path: Path) -> dict[str, Any]:
    """Return what a list of problems says of a file, as plain values for JSON: id, title, nodes, students.

    The file is decoded and not checked, so a list of many costs little. Without a title the statement begins. Raises
    DataFileError where it cannot be decoded.
    """
    faults: list[str] = []
    data = read_source(path, faults).data
    if data is None:
        raise DataFileError(str(path), tuple(faults))
    title = in_one_line(str(data.get("title") or data.get("context") or ""))
    nodes = next((found for key in NODE_LISTS if isinstance(found := data.get(key), list)), [])
    students = data.get("students")
    return {
        "id": str(data.get("id", path.stem)), "title": shorten(title, _SHOWN_TITLE, placeholder="..."),
        "nodes": len(nodes), "students": len(students) if isinstance(students, list) else 0,
    }  # fmt: skip


def list_table(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Return a table of problems, one row of `problem_summary` a line."""
    table = _table("Shipped problems", ("id", "title", "nodes", "solutions"))
    for row in rows:
        table.add_row(row["id"], row["title"], str(row["nodes"]), str(row["students"]))
    return table


def grade_tables(problem: Problem, result: Grade) -> list[RenderableType]:
    """Return tables and lines that show a grade: nodes, formulas that match no node, score and flags."""
    problem = in_alternative(problem, result.alternative)
    title = f"Reference nodes, {result.alternative}" if result.alternative else "Reference nodes"
    nodes = _table(title, ("node", "points", "reference formula", "", "by"))
    for node in problem.nodes:
        by = next((item.latex for item in result.formulas if node.index in item.nodes), "")
        credited = "credited" if node.index in result.credited else "missing"
        state = "matched" if node.index in result.matched else credited
        by = by or ("follows from a matched node" if state == "credited" else "")
        cell = Text(state, style=_COLOURS[state])
        nodes.add_row(str(node.index), str(node.points), in_one_line(node.latex), cell, in_one_line(by))
    parts: list[RenderableType] = [nodes]
    parts += _unmatched_tables(problem, result)
    total = sum(node.points for node in problem.nodes)
    earned = sum(node.points for node in problem.nodes if node.index in result.credited)
    policies = ", ".join(f"{name} {value:.3f}" for name, value in sorted(result.policies.items()))
    unstated = unstated_finals_in_words(problem.dag, result)
    final = "right" if result.final_correct else f"not right{f' ({unstated} credited, not stated)' if unstated else ''}"
    points = f"{earned}/{count_of(total, 'point')}"
    parts.append(f"{points}, score {result.score}; final answers {final}; other policies: {policies}")
    if finds_nothing(result):
        parts.append(NOTHING_FOUND)
    if "no_formulas" in result.flags:
        parts.append(f"Score 0 is no verdict here: {FLAGS['no_formulas']}.")
    left = result.left_out
    is_over = left.characters or left.formulas
    lengths = f"{count_of(left.characters, 'character')}, {count_of(left.formulas, 'formula')}"
    over = f"; left out as too long: {lengths}" if is_over else ""
    closure = f"; {result.share_by_closure:.0%} of it by way of prerequisites" if result.score else ""
    flags = f"; flags: {', '.join(result.flags)}" if result.flags else ""
    parts.append(f"{count_of(result.unread, 'formula')} unread, {result.undecided} undecided{over}{closure}{flags}")
    return parts


def _unmatched_tables(problem: Problem, result: Grade) -> list[Table]:
    """Return tables of the formulas that match no node, a table for each kind of reason."""
    others = other_letters(problem, result)
    right = _right_beside_the_nodes(problem, result)
    shown: dict[str, list[tuple[str, str]]] = {title: [] for title in _UNMATCHED.values()}
    for position, item in enumerate(result.formulas):
        if not item.nodes and item.status != "mention":
            other = others.get(position)
            status = "other letter" if other else "right" if position in right else item.status
            title, told = _UNMATCHED[status], other or right.get(position)
            reason = str(told or reason_in_words(item).split("\n")[0])
            shown[title].append((in_one_line(item.latex), in_one_line(reason)))
    tables = []
    for title, rows in shown.items():
        tables += [_table(title, ("formula", "reason"))] if rows else []
        for row in rows:
            tables[-1].add_row(*row)
    return tables


def _right_beside_the_nodes(problem: Problem, result: Grade) -> dict[int, str]:
    """Map the position of each formula that matches no node, and is right all the same, to why it is right."""
    if all(item.status != "different" for item in result.formulas):
        return {}
    findings = diagnose(problem, result).findings
    return {each.position: each.detail for each in findings if each.status == "right"}


def comparison_tables(result: Comparison, outcomes: Iterable[GateOutcome]) -> list[RenderableType]:
    """Return tables and lines that show a comparison: changed items, the worst first, means, gates."""
    parts: list[RenderableType] = []
    changed = [pair for pair in worst_first(result.pairs) if pair.has_changed]
    if changed:
        items = _table("Items that changed", ("item", "what became of it"))
        for pair in changed[:_SHOWN_ITEMS]:
            items.add_row(describe(pair.key), describe_pair(pair))
        parts.append(items)
    more = len(changed) - _SHOWN_ITEMS
    parts += [f"and {more} more; --json lists all of them"] if more > 0 else []
    parts += overview(result)
    parts += [f"{'FIRED' if one.has_fired else 'held '} {one.gate.text}: {describe_outcome(one)}" for one in outcomes]
    return parts


def problem_facts(problem: Problem) -> dict[str, Any]:
    """Return what the grader knows of a problem as plain values for JSON; `source` is `text` or `file`."""
    given = problem.given
    in_text = {stated.name: stated.text for stated in given.statement.givens}
    own = {str(defined.formula) for defined in given.statement.definitions}
    return {
        "id": problem.id,
        "statement": problem.statement,
        "parts": [{"letter": part.letter, "text": part.text} for part in problem.subquestions if part.letter],
        "difficulty": problem.difficulty.to_dict(),
        "nodes": _node_facts(problem),
        "alternatives": [
            {"name": each.alternative, "difficulty": each.difficulty.to_dict(), "nodes": _node_facts(each)}
            for each in problem.alternatives
        ],
        "givens": [
            {"name": name, "value": value, "source": "text" if in_text.get(name) == value else "file"}
            for name, value in problem.context.givens.items()
        ],
        "definitions": [
            {"formula": str(defined), "source": "text" if str(defined) in own else "file"}
            for defined in problem.context.definitions
        ],
        "constants": [{"name": name, "constant": constant} for name, constant in given.constants],
        "symbols": {name: symbol.kind for name, symbol in sorted(problem.context.symbols.items())},
        "conditions": [{"name": stated.name, "value": stated.text} for stated in given.statement.conditions],
        "left_out": [{"name": left.name, "why": left.why} for left in given.left_out],
    }  # fmt: skip


def _node_facts(problem: Problem) -> list[dict[str, Any]]:
    """Return the nodes of one reference DAG as plain values for JSON."""
    return [
        {
            "index": node.index, "formula": in_one_line(node.latex), "points": str(node.points),
            "is_final": node.is_final, "dependency": list(problem.dag.nodes[node.index - 1].prerequisites),
            "subquestion": node.subquestion, "accept": [in_one_line(each.latex) for each in node.accept],
        }
        for node in problem.nodes
    ]  # fmt: skip


def problem_tables(problem: Problem, width: int, *, in_unicode: bool) -> list[RenderableType]:
    """Return tables and lines that show a problem: its text, nodes beside the DAG, values, definitions, unused text.

    Args:
        width: of the terminal, in characters.
        in_unicode: draw with Unicode characters instead of ASCII.
    """
    known = problem_facts(problem)
    mark = "■" if in_unicode else "#"
    parts: list[RenderableType] = [
        *_statement_lines(problem),
        _node_table(problem, known["nodes"], width, in_unicode=in_unicode),
        *(
            _node_table(each, nodes["nodes"], width, in_unicode=in_unicode)
            for each, nodes in zip(problem.alternatives, known["alternatives"], strict=True)
        ),
        f"A line leads down from each formula to what follows from it; {mark} final answer.",
        f"Difficulty: {_difficulty_line(problem)}",
        "",
    ]
    lists = (
        ("Values that may be put in", known["givens"], ("name", "value", "source")),
        ("Definitions used on both sides", known["definitions"], ("formula", "source")),
        ("Constants of nature, by the text or by their value", known["constants"], ("name", "constant")),
        ("Values at an instant, at a place or in a case: never put in", known["conditions"], ("name", "value")),
        ("In the text, and not used", known["left_out"], ("name", "why")),
    )
    for title, rows, heads in lists:
        if rows:
            table = _table("", heads)
            for row in rows:
                table.add_row(*(row[head] for head in heads))
            parts += [title, table]
    return parts


def _statement_lines(problem: Problem) -> list[str]:
    """Return the lines of a problem's text and of its parts, a blank line behind each; none where they are empty."""
    asked = [f"({part.letter}) {part.text.strip()}" for part in problem.subquestions if part.letter]
    texts = [text for text in (problem.statement.strip(), *asked) if text]
    return [line for text in texts for line in (*map(visible, text.splitlines()), "")]


def _node_table(problem: Problem, nodes: list[dict[str, Any]], width: int, *, in_unicode: bool) -> Table:
    """Return a problem's table of nodes with the rails of the DAG; long formulas are wrapped to the width.

    Args:
        nodes: as in `problem_facts`.
        width: of the terminal, in characters.
    """
    drawn = rails(problem.dag, in_unicode=in_unicode)
    columns: dict[str, list[str]] = {"node": [str(node["index"]) for node in nodes]}
    if not has_equal_points(problem):
        columns["points"] = [node["points"] for node in nodes]
    columns["from"] = [_indices(node["dependency"]) for node in nodes]
    answers = [f"final {node['subquestion']}".rstrip() if node["is_final"] else "" for node in nodes]
    taken = sum(max(map(len, (name, *cells))) for name, cells in (*columns.items(), ("", answers)))
    room = width - taken - len(drawn[0].line) - 3 * (len(columns) + 3)  # three blanks between two columns
    wrapper = TextWrapper(max(room, _LEAST_ROOM), break_on_hyphens=False)
    wrapper.wordsep_simple_re = _BREAKS
    formulas = [wrapper.wrap(node["formula"].strip("$")) or [""] for node in nodes]
    columns["formula"] = ["\n".join(lines) for lines in formulas]
    title = f"Alternative: {problem.alternative}" if problem.alternative else problem.title or problem.id
    table = _table(title, ("", *columns, ""))
    if not in_unicode:
        table.box = Box(_ASCII_BOX, ascii=True)
    for row, lines, answer, *cells in zip(drawn, formulas, answers, *columns.values(), strict=True):
        table.add_row("\n".join([row.line, *[row.below] * (len(lines) - 1)]), *cells, answer)
    return table


def _difficulty_line(problem: Problem) -> str:
    """Describe a problem's difficulty in one line: level and points, or why it is not rated."""
    marks = problem.difficulty
    structure = f"structure {marks.structure}; entropy of the layers {marks.entropy:.3f}"
    if marks.level is None:
        return f"not rated, for the file gives no C1 and C2 ({structure})"
    return f"{marks.level} ({marks.total} = concepts {marks.concepts} + computation {marks.computation} + {structure})"


def rich_parts(parts: Iterable[Part], width: int) -> list[RenderableType]:
    """Lay tables out for a terminal, each with its notes below it; lines stay lines.

    Args:
        width: of the terminal, in characters; a table whose numbers need more is wider.
    """
    laid: list[RenderableType] = []
    for part in parts:
        laid += [in_one_line(part)] if isinstance(part, str) else _rich_lines(part, width)
    return laid


def _rich_lines(table: DataTable, width: int) -> list[RenderableType]:
    """Lay one table out for a terminal, then its notes, and how many rows are not shown."""
    rows = list(shown_rows(table, table.shown))
    heads = ["\n".join(filter(None, map(in_one_line, (one.group, one.head)))) for one in table.columns]
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column, head, room in zip(table.columns, heads, _column_widths(table, heads, rows, width), strict=True):
        drawn.add_column(head, overflow="fold", justify="right" if column.is_number else "left", width=room)
    for row in rows:
        drawn.add_row(*row)
    more = len(table.rows) - table.shown if table.shown is not None else 0
    notes = [f"and {more} more; --json and the other formats list all of them"] if more > 0 else []
    title = Text(in_one_line(table.title), style="italic")  # of the table it would be folded to the table's width
    notes += map(in_one_line, table.notes)
    return [title, drawn, *notes, *([""] if notes else [])]


def _column_widths(table: DataTable, heads: list[str], rows: list[list[str]], width: int) -> list[int]:
    """Return the widths of columns: what they need, or if that is too much less for the widest, where they may fold.

    A number is folded nowhere, an interval between its ends, and a name anywhere from `_LEAST_NAME` characters on.
    """
    widths, least = [], []
    for k, column in enumerate(table.columns):
        cells = [row[k] for row in rows]
        words = [word for text in (heads[k], *cells) for word in text.split()]
        widths.append(max((cell_len(line) for text in (heads[k], *cells) for line in text.split("\n")), default=0))
        longest = max(map(cell_len, words), default=0)
        least.append(longest if column.kind in _UNFOLDED else min(longest, _LEAST_NAME))
    excess = sum(widths) + 3 * (len(widths) - 1) + 2 - width  # three blanks between two columns, and one at each edge
    while excess > 0 and any(own > few for own, few in zip(widths, least, strict=True)):
        widest = max(range(len(widths)), key=lambda k: widths[k] if widths[k] > least[k] else -1)
        widths[widest] -= 1
        excess -= 1
    return widths


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
        DataTable("measures", count_of(found.n, "problem"), columns("of a problem", *counts(*heads)), spreads),
        DataTable("domains", "By domain and difficulty", columns("domain", *counts(*levels, "all")), tuple(by_domain)),
    ]
    if found.subtopics:
        topics = tuple((domain, topic, n) for (domain, topic), n in found.subtopics.items())
        parts.append(DataTable("subtopics", "By subtopic", columns("domain", "subtopic", *counts("problems")), topics))
    forms = ", ".join(f"{n} {form or 'of no stated form'}" for form, n in found.forms.items())
    return [*parts, f"Final answers: {forms}."]


def _number(value: float) -> str:
    """Write a whole number without decimals, and any other with two."""
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def label_differences(student: Student, result: Grade) -> dict[str, list[int]]:
    """List the nodes whose match differs from a student's label, as `gaps` (known in the label) and `wrong`."""
    expected = student.expected
    if expected is None:
        return {"gaps": [], "wrong": []}
    if expected.alternative != result.alternative:  # another way, whose nodes are others
        return {"gaps": [], "wrong": sorted({*expected.matched, *result.matched})}
    differs = set(expected.matched) ^ set(result.matched)
    known = set(expected.known_gaps)
    return {"gaps": sorted(differs & known), "wrong": sorted((differs - known) - set(expected.debatable))}


def demo_table(rows: list[tuple[Problem, Student, Grade]]) -> Table:
    """Return the table of `prism demo`: one row for each solution, with how its grade differs from its label."""
    table = _table("Solutions beside their labels", ("problem", "solution", "matched", "credited", "score", "label"))
    for problem, student, result in rows:
        label = label_differences(student, result)
        words = [
            f"{'node' if len(nodes) == 1 else 'nodes'} {_indices(nodes)}: {kind}"
            for kind, nodes in (("known gap", label["gaps"]), ("differs", label["wrong"]))
            if nodes
        ] or ["as labelled"]
        words += [f"by {result.alternative}"] if result.alternative else []
        table.add_row(
            problem.id, student.name, _indices(result.matched), _indices(result.credited), f"{result.score:.3f}",
            ", ".join(words),
        )  # fmt: skip
    return table


def _indices(nodes: Iterable[int]) -> str:
    """Write node indices with blanks between them: `1 2 5`; `none` for no index."""
    return " ".join(map(str, nodes)) or "none"
