"""One problem and its rollouts as pieces of a page: the statement, the DAG, the nodes, and what each solution has.

A rollout is made in three pieces, of which `page` takes as many as there is room for: its line, its tables, and its
text with the formulas marked. What leads from the tables into the text is cut out where the text is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from prism.diagnosis.explanations import steps_of
from prism.diagnosis.findings import Finding
from prism.equivalence.substitutions import STAGES
from prism.grading.result import FLAGS, Grade, GradedFormula, why
from prism.latex import one_line
from prism.problem.schema import Problem
from prism.reports.agreement import REASONS, Estimate
from prism.reports.html import svg
from prism.reports.html.markup import (
    Cell,
    folded,
    formula,
    latex_of,
    legend,
    marked_text,
    name_of,
    prose,
    scrolled,
    table,
    text_of,
)
from prism.reports.summary import UNFIT, ProblemFigures, Row, reason_of

_MAX_TEXT = 60_000  # characters of a solution that are shown; longer ones repeat themselves
_MAX_DETAIL = 400  # characters of what the grader said of a failure
_TO_TEXT = re.compile(r' <a href="#r\d+f\d+">in the text</a>')
_STATES = {"m": "matched", "c": "credited", "x": "missing"}


# Figures in a line. ---------------------------------------------------------------------------------------------


def percent(found: Estimate) -> str:
    """A share in percent."""
    return "–" if found.value is None else f"{found.value:.1%}"


def interval(found: Estimate) -> str:
    """The interval of a share, or why there is none."""
    if found.low is None or found.high is None:
        return f'<span class="quiet">{text_of(_short(found.reason))}</span>'
    return f"{found.low:.1%} to {found.high:.1%}"


def _short(reason: str) -> str:
    return {"one_problem": "one problem", "no_items": "no score", "": ""}.get(reason, REASONS.get(reason, reason))


def told_of(found: Estimate) -> str:
    """What a share rests on, and its interval."""
    return f"n = {found.n}, {interval(found)}"


def bar_of(found: Estimate) -> str:
    """A share as a bar with its interval, and in percent."""
    return (
        "–"
        if found.value is None
        else f'{svg.bar(found.value, found.low, found.high)}<span class="v">{percent(found)}</span>'
    )


def count_of(n: int, noun: str) -> str:
    """A number of things."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


# Problems. ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RolloutPart:
    """A rollout: its head, its tables and its text; the last two only if there is room."""

    place: int
    row: Row
    head: str
    tables: str
    text: str


@dataclass(frozen=True, slots=True)
class ProblemPart:
    """A problem: what stands above and below its rollouts."""

    fixed: tuple[str, str]
    rollouts: tuple[RolloutPart, ...]


def node_formulas(problem: Problem | None, show: Callable[[str], str]) -> dict[int, str]:
    """The reference formula of each node; of an answer in words the words."""
    nodes = () if problem is None else problem.nodes
    return {node.index: text_of(node.latex) if node.is_text else show(node.latex) for node in nodes}


def problem_part(k: int, each: ProblemFigures) -> ProblemPart:
    """The pieces of a problem, which is the one with number k on the page."""
    problem, one = each.problem, each.group
    title = f" {text_of(problem.title)}" if problem and problem.title else ""
    head = f"<h3>{name_of(one.name)}</h3>{title} {bar_of(one.mean)}"
    head += f" <span class=quiet>{count_of(one.n, 'rollout')}</span>"
    body = [f'<div id="p{k}">']
    drawn = None
    if problem is not None:
        known = [text for text in (problem.domain, problem.difficulty.level) if text]
        body += [f"<p class=quiet>{text_of(' · '.join(known))}</p>" if known else "", _statement(problem)]
        drawn = svg.layout(problem.dag)
        shares = {node.index: (node.matched / node.n, node.credited / node.n) for node in each.nodes if node.n}
        told = "; ".join(f"node {n.index}: {n.matched} match, {n.credited} credited of {n.n}" for n in each.nodes)
        whole = svg.dag_of_all(drawn, f"e{k}", problem.dag, shares, told)
        body += [svg.edges(drawn, f"e{k}"), scrolled(whole, "Reference DAG, all solutions")]
    body.append(_node_table(k, each))
    layouts = None if drawn is None else (drawn, f"e{k}")
    listed = {node.index for node in each.nodes} | node_formulas(problem, str).keys()
    # Where a row was made from another state of the problem, its nodes are not those above: no link leads to them.
    rollouts = tuple(_rollout(k if row.problem is problem and listed else None, row, layouts) for row in each.rows)
    top = f'<details class="problem"><summary>{head}</summary>{"".join(body)}'
    return ProblemPart((top, "</div></details>\n"), rollouts)


def _statement(problem: Problem) -> str:
    parts = [prose(problem.statement)] if problem.statement.strip() else []
    parts += [
        f"<p><strong>{text_of(part.letter)})</strong></p>{prose(part.text)}"
        for part in problem.subquestions
        if part.text
    ]
    return "".join(parts)


def _node_table(k: int, each: ProblemFigures) -> str:
    problem = each.problem
    latex = node_formulas(problem, formula)
    prerequisites = {node.index: node.prerequisites for node in problem.dag.nodes} if problem else {}
    finals = problem.dag.finals if problem else frozenset()
    points = {node.index: node.points for node in problem.nodes} if problem else {}
    counts = {node.index: node for node in each.nodes}
    rows, ids = [], []
    for index in sorted(latex.keys() | counts.keys()):
        one = counts.get(index)
        cells: list[str | Cell] = [f"{index}{' final' if index in finals else ''}"]
        if problem is not None:
            cells += [", ".join(map(str, prerequisites.get(index, ()))) or "–", str(points.get(index, "")),
                      latex.get(index, "")]  # fmt: skip
        cells += [Cell(_share(n, one.n)) for n in (one.matched, one.credited)] if one and one.n else ["–", "–"]
        rows.append(cells)
        ids.append(f"p{k}n{index}")
    known = ("from", "points", "reference formula") if problem is not None else ()
    return table(f"p{k}t", "Nodes", ("node", *known, "matched", "credited"), rows, ids) if rows else ""


def _share(part: int, whole: int) -> str:
    return f"{svg.bar(part / whole)}{part} of {whole}"


# Rollouts. ------------------------------------------------------------------------------------------------------


def _rollout(k: int | None, row: Row, layouts: tuple[svg.Layout, str] | None) -> RolloutPart:
    grade = row.grade
    name = name_of("(no sample id)" if grade.sample_id is None else grade.sample_id)
    model = f" · {name_of(row.model)}" if row.model and row.model != grade.sample_id else ""
    if grade.score is None:
        earned = f"no score: {text_of(grade.status)}"
    else:
        final = "final answers right" if grade.final_correct else "final answers not right"
        earned = f"{svg.bar(grade.score)}{grade.score:.3f} · {final}"
    flags = "".join(f" · {text_of(flag)}" for flag in grade.flags)
    head = f"<h4>{name}</h4>{model} · {earned}{flags}"
    shown = [item for item in grade.formulas if item.status != "mention"]
    prefix = f"r{row.place}"
    told_at = _first_alike(shown)
    text = ""
    marked: frozenset[int] = frozenset()
    if row.text is not None:
        found = marked_text(row.text, shown, told_at, prefix, _MAX_TEXT)
        marked = found.marked
        text = legend(shown[n].status for n in sorted(marked)) + found.html
    tables = [
        _facts(row),
        _drawn(row, layouts),
        _matched_table(k, row, shown, marked),
        _formula_table(k, row, shown, told_at),
    ]
    return RolloutPart(row.place, row, head, "".join(tables), text)


def _facts(row: Row) -> str:
    grade = row.grade
    told = []
    if grade.score is not None:
        policies = ", ".join(f"{text_of(name)} {value:.3f}" for name, value in sorted(grade.policies.items()))
        told.append(f"Score {grade.score:.3f}; other policies: {policies or 'none'}.")
        told.append(f"{grade.share_by_closure:.0%} of it by way of prerequisites." if grade.score else "")
    told.append(f"Formulas unread: {grade.unread}, undecided: {grade.undecided}.")
    if grade.left_out.characters or grade.left_out.formulas:
        told.append(
            f"Left out as too long: {grade.left_out.characters} characters, {grade.left_out.formulas} formulas."
        )
    told += [f"Flag {text_of(flag)}: {text_of(FLAGS.get(flag, ''))}." for flag in grade.flags]
    told += [f"Incident of the grader, {text_of(one.code)}, {text_of(one.where)}: {text_of(one.detail[:_MAX_DETAIL])}."
             for one in grade.incidents]  # fmt: skip
    told += [f"Shown without: {UNFIT[key]}." for key in row.unfit]
    if row.diagnosis is not None and row.diagnosis.first_wrong is not None:
        first = grade.formulas[row.diagnosis.first_wrong]
        told.append(f"First wrong step ({text_of(row.diagnosis.label)}): {latex_of(first.latex)}.")
    return f"<p>{' '.join(part for part in told if part)}</p>"


def _state(grade: Grade, index: int) -> str:
    return "m" if index in grade.matched else "c" if index in grade.credited else "x"


def _drawn(row: Row, layouts: tuple[svg.Layout, str] | None) -> str:
    if layouts is None or row.problem is None or not row.grade.credited:
        return ""
    grade = row.grade
    told = "; ".join(
        f"{_STATES[key]}: {', '.join(map(str, own)) or 'none'}"
        for key in _STATES
        for own in [[k for k in row.problem.dag.indices if _state(grade, k) == key]]
    )
    return scrolled(
        svg.dag_of_one(layouts[0], layouts[1], row.problem.dag, lambda k: _state(grade, k), told), "Reference DAG"
    )


def _matched_table(k: int | None, row: Row, shown: Sequence[GradedFormula], marked: Collection[int]) -> str:
    """The nodes, each with the formula that matched it and what that took."""
    grade = row.grade
    if not (grade.matched or grade.credited):
        nodes = "nodes of the problem" if k is None else f'<a href="#p{k}t">nodes of the problem</a>'
        return f"<p>No node is matched: all the {nodes} are missing.</p>"
    latex = node_formulas(row.problem, latex_of)
    by: dict[int, tuple[int, GradedFormula]] = {}
    for n, item in enumerate(shown):
        for index in item.nodes:
            by.setdefault(index, (n, item))
    rows = []
    for index in sorted(latex.keys() | set(grade.credited) | set(grade.missing)):
        own = _state(grade, index)
        cells = [_node_link(k, index), f"{svg.LETTERS[own]} {_STATES[own]}"]
        cells += [latex[index]] if index in latex else []
        if index in by:
            n, item = by[index]
            link = f' <a href="#r{row.place}f{n}">in the text</a>' if n in marked else ""
            said = text_of(item.latex) if item.kind == "text" else formula(item.latex)
            cells += [f"{said}{link}", _how(item, index)]
        else:
            cells += ["follows from a matched node" if own == "c" else "", ""]
        rows.append(cells)
    heads = ("node", "state", *(("reference formula",) if latex else ()), "matched by", "because")
    return table(f"r{row.place}n", "Nodes", heads, rows) if rows else ""


def _how(item: GradedFormula, index: int) -> str:
    match = next((one for one in item.matches if one.node == index), None)
    if match is None:
        return text_of(reason_of(item.reason))
    stage = STAGES[match.stage] if 0 <= match.stage < len(STAGES) else str(match.stage)
    steps = steps_of(match)
    told = "".join(f"<li>{text_of(step)}</li>" for step in steps)
    body = f'<ol class="steps">{told}</ol>' if len(steps) > 1 else text_of(steps[0])
    return f"{body}<span class=quiet> Stage {match.stage}: {text_of(stage)}</span>"


def _node_link(k: int | None, index: int) -> str:
    """A node of the problem with this number on the page; None where its nodes are others."""
    return str(index) if k is None else f'<a href="#p{k}n{index}">{index}</a>'


def _first_alike(shown: Sequence[GradedFormula]) -> list[int]:
    """Of each formula the first one that is the same in what is told of it."""
    first: dict[tuple[object, ...], int] = {}
    return [
        first.setdefault((one_line(one.latex), one.status, one.reason, one.nodes, one.nearest, one.witness), n)
        for n, one in enumerate(shown)
    ]


def _formula_table(k: int | None, row: Row, shown: Sequence[GradedFormula], told_at: Sequence[int]) -> str:
    """The formulas, in the order of the text, with what became of each; where they match, the table above says how."""
    times = Counter(told_at)
    findings = row.diagnosis.findings if row.diagnosis is not None else ()
    apart = {(each.span, each.latex): told for each in findings if (told := _told(each))}
    rows, ids = [], []
    for n in sorted(times):
        item = shown[n]
        nodes = item.nodes or (() if item.nearest is None else (item.nearest,))
        again = f"{times[n]} times" if times[n] > 1 else ""
        links = ", ".join(_node_link(k, index) for index in nodes)
        rows.append((f"{latex_of(item.latex)}{again}", text_of(item.status), links,
                     f"{apart.get((item.span, item.latex), '')}{_because(item)}"))  # fmt: skip
        ids.append(f"r{row.place}t{n}")
    if not rows:
        return ""
    heads = ("formula", "status", "node, or nearest", "reason")
    return table(f"r{row.place}o", "All formulas", heads, rows, ids)


def _told(found: Finding) -> str:
    """What a diagnosis says of a formula, before the reason that a grade gives; empty where it knows nothing."""
    if found.status == "wrong" and found.difference is not None:
        return f"<strong>{text_of(found.difference.label)}:</strong> {text_of(found.difference.full)} "
    return f"<strong>{_FINDINGS[found.status]}.</strong> " if found.status in _FINDINGS else ""


_FINDINGS = {"follows": "Follows from an earlier error", "right": "Right, but no node"}


def _because(item: GradedFormula) -> str:
    if item.nodes:
        return "see the nodes"
    reason = reason_of(item.reason)
    more = why(item).split("\n")[0] if item.detail else ""
    if item.witness:
        return f"differs: <code>{text_of(one_line(item.witness))}</code>"
    return f"{text_of(reason)}{f': <code>{text_of(one_line(more))}</code>' if more and more != reason else ''}"


def assembled(one: RolloutPart, level: int) -> str:
    """A rollout with as much as was chosen for it: 0 its line, 1 its tables, 2 its text too; nothing at -1."""
    if level < 0:
        return ""
    tables = one.tables if level > 1 else _TO_TEXT.sub("", one.tables)
    tables = tables if level > 0 else "<p>The tables are left out, to keep the page small.</p>"
    text = one.text if level > 1 else "<p>The solution is left out, to keep the page small.</p>" if one.text else ""
    return rollout_html(one, f"{tables}{text}")


def rollout_html(one: RolloutPart, body: str) -> str:
    """The line of a rollout with what it unfolds."""
    return folded(one.head, f'<div id="r{one.place}">{body}</div>', "rollout")
