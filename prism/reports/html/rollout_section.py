"""One rollout of a page: what each node and formula has to show, as plain data, and its three pieces of HTML.

`page` takes as many pieces as there is room for: the line of the rollout, its tables, and its text with the formulas
marked. Where the text is left out, the tables are made without the links that lead into it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from prism.diagnosis.explanations import match_steps
from prism.diagnosis.findings import FormulaDiagnosis
from prism.equivalence.verdict import STAGES
from prism.errors import count_of
from prism.grading.result import FLAGS, Grade, GradedFormula, unstated_finals_sentence
from prism.grading.selection import WITHHELD_REASONS
from prism.latex import one_line
from prism.problem.schema import Problem, in_alternative
from prism.reports.html import svg
from prism.reports.html.markup import marked_text
from prism.reports.html.rendering import macro
from prism.reports.report_rows import UNFIT, ReportRow
from prism.reports.summary import reason_text
from prism.resources import meanings

_MAX_TEXT = 60_000  # characters of a solution that are shown; longer ones repeat themselves
_MAX_LATEX = 600  # characters of a formula in a table
_CACHE_SIZE = 4_096  # formulas: a report shows each reference formula in many tables
_MAX_DETAIL = 400  # characters of what an incident of the grader says
_STATES = {"m": "matched", "c": "credited", "w": "withheld", "x": "missing"}
_MEANINGS: Mapping[str, str] = meanings("reports.meanings")
_FINDINGS = {"follows": "Follows from an earlier error", "right": "Right, but matches no node"}


@dataclass(frozen=True, slots=True)
class Statement:
    """A formula to show, or an answer in words.

    Attributes:
        latex: the formula, or the words if `is_text`.
        line: the formula on one line, cut where it is very long: the text of the solution has it whole.
        more: what says how much was cut; mostly empty.
    """

    latex: str
    is_text: bool
    line: str
    more: str


@dataclass(frozen=True, slots=True)
class RolloutSource:
    """The values that one rollout is rendered from.

    Attributes:
        number: of its problem on the page, with that of an alternative; None if no link may lead to its nodes.
        row: its row of results.
        layout: of the problem's DAG; None without a problem.
        edges: id of the drawing of the DAG's edges.
    """

    number: str | None
    row: ReportRow
    layout: svg.Layout | None
    edges: str


@dataclass(frozen=True, slots=True)
class RolloutPieces:
    """A rollout as three pieces of HTML: summary line, tables with links into the text, and text (empty if unknown)."""

    source: RolloutSource
    head: Markup
    tables: Markup
    text: Markup

    @property
    def place(self) -> int:
        """Number of the row of results, from 1."""
        return self.source.row.place


@lru_cache(maxsize=_CACHE_SIZE)
def statement(latex: str, *, is_text: bool = False) -> Statement:
    """Prepare a formula, or an answer in words if `is_text`, to be shown: on one line of at most 600 characters."""
    line = one_line(latex)
    more = f" … and {count_of(len(line) - _MAX_LATEX, 'character')} more" if len(line) > _MAX_LATEX else ""
    return Statement(latex, is_text, line[:_MAX_LATEX], more)


def reference_formulas(problem: Problem | None, alternative: str = "") -> dict[int, Statement]:
    """Map each node index of a problem, or of an alternative, to its formula; empty without a problem."""
    nodes = () if problem is None else in_alternative(problem, alternative).nodes
    return {node.index: statement(node.latex, is_text=node.is_text) for node in nodes}


def rollout_pieces(source: RolloutSource) -> RolloutPieces:
    """Render the pieces of one rollout; their data is not stored, as that of 640 rollouts would fill the memory."""
    rollout = _rollout_values(source)
    text = Markup("") if rollout["text"] is None else macro("rollout", "text")(rollout["text"])
    tables = macro("rollout", "tables")(rollout, rollout["text"] is not None)
    return RolloutPieces(source, macro("rollout", "head")(rollout), tables, text)


def joined_pieces(pieces: RolloutPieces, level: int, marks: str) -> Markup:
    """Join the pieces of a rollout up to a level: 0 its summary line, 1 also tables, 2 also text; -1 nothing.

    Args:
        marks: classes of its element, by which filters choose it.
    """
    if level < 0:
        return Markup("")
    tables = Markup("")
    if level > 0:
        is_whole = level > 1 or not pieces.text
        tables = pieces.tables if is_whole else macro("rollout", "tables")(_rollout_values(pieces.source), False)
    return macro("rollout", "whole")(pieces, tables, level, marks)


def _rollout_values(source: RolloutSource) -> dict[str, Any]:
    """Compute all values that the templates show of a rollout; of what is not known they get None or nothing."""
    row, grade = source.row, source.row.grade
    shown = [item for item in grade.formulas if item.status != "mention"]
    row_of = _first_repetitions(shown)
    text = None if row.text is None else marked_text(row.text, shown, row_of, f"r{row.place}", _MAX_TEXT)
    references = reference_formulas(row.problem, grade.alternative)
    wrong = None if row.diagnosis is None else row.diagnosis.first_wrong
    return {
        "row": row, "grade": grade, "number": source.number, "text": text, "drawing": _drawing(source),
        "sample": "(no sample id)" if grade.sample_id is None else str(grade.sample_id),
        "model": row.model if row.model != grade.sample_id else "", "facts": _grade_sentences(row),
        "first_wrong": None if wrong is None else statement(grade.formulas[wrong].latex),
        "has_references": bool(references),
        "has_states": any(_node_state(grade, index) != "x" for index in (*grade.credited, *grade.missing)),
        "nodes": _node_rows(row, shown, references, frozenset() if text is None else text.marked),
        "key": _key(source),
        "formulas": _formula_rows(row, shown, row_of),
    }  # fmt: skip


def _grade_sentences(row: ReportRow) -> list[str]:
    """Write facts on a grade as sentences: score, policies, unread formulas, flags, incidents, missing files."""
    grade = row.grade
    facts = [f"Graded by the alternative {grade.alternative}."] if grade.alternative else []
    if grade.score is not None:
        policies = ", ".join(f"{name} {value:.3f}" for name, value in sorted(grade.policies.items()))
        facts.append(f"Score {grade.score:.3f}; other policies: {policies or 'none'}.")
        facts += [f"{grade.share_by_closure:.0%} of it by way of prerequisites."] if grade.score else []
    if row.problem is not None:
        unstated = unstated_finals_sentence(in_alternative(row.problem, grade.alternative).dag, grade)
        facts += [unstated] if unstated else []
    facts.append(f"Formulas unread: {grade.unread}, undecided: {grade.undecided}.")
    left = grade.left_out
    if left.characters or left.formulas:
        lengths = f"{count_of(left.characters, 'character')}, {count_of(left.formulas, 'formula')}"
        facts.append(f"Left out as too long: {lengths}.")
    facts += [f"Flag {flag}: {FLAGS.get(flag, '')}." for flag in grade.flags]
    facts += [
        f"Incident of the grader, {one.code}, {one.where}: {one.detail[:_MAX_DETAIL]}." for one in grade.incidents
    ]
    return [*facts, *(f"Shown without: {UNFIT[key]}." for key in row.unfit)]


def _node_state(grade: Grade, index: int) -> str:
    """Return the state of a node in a grade, a key of `_STATES`; withheld where nothing else credits it."""
    if index in grade.credited:
        return "m" if index in grade.matched else "c"
    return "w" if any(index == node for item in grade.formulas for node, _ in item.withheld) else "x"


def _states_of(source: RolloutSource) -> dict[str, list[int]]:
    """Return the nodes of each state that occurs; nothing without a DAG."""
    problem, grade = source.row.problem, source.row.grade
    if source.layout is None or problem is None or grade.score is None:
        return {}
    found: dict[str, list[int]] = {}
    for index in in_alternative(problem, grade.alternative).dag.indices:
        found.setdefault(_node_state(grade, index), []).append(index)
    return {key: found[key] for key in _STATES if key in found}


def _drawing(source: RolloutSource) -> Markup:
    """Draw the DAG with the state of each node; empty markup without a DAG, or where the grader failed."""
    states, problem = _states_of(source), source.row.problem
    if source.layout is None or problem is None or not states:
        return Markup("")
    dag = in_alternative(problem, source.row.grade.alternative).dag
    description = "; ".join(f"{_STATES[key]}: {', '.join(map(str, nodes))}" for key, nodes in states.items())
    state_of = {index: key for key, nodes in states.items() for index in nodes}
    return svg.dag_of_one(source.layout, source.edges, dag, state_of.__getitem__, description)


def _key(source: RolloutSource) -> list[tuple[Markup, str]]:
    """Return the signs that the drawing of a rollout holds, with what they mean."""
    states, problem = _states_of(source), source.row.problem
    found = [(svg.node_sign(key), _MEANINGS[key]) for key in states]
    has_finals = problem is not None and in_alternative(problem, source.row.grade.alternative).dag.finals
    return [*found, (svg.final_sign(), "final answer")] if states and has_finals else found


def _node_rows(
    row: ReportRow, shown: Sequence[GradedFormula], references: dict[int, Statement], marked: Collection[int]
) -> list[dict[str, Any]]:
    """Return a rollout's table of nodes, in index order, each with the first formula that matched it.

    Args:
        row: the row of results.
        shown: formulas of the grade without mentions.
        references: reference formula of each node, by index.
        marked: ordinals in `shown` of formulas that are marked in the text.
    """
    grade = row.grade
    matches: dict[int, dict[str, Any]] = {}
    for place, item in enumerate(shown):
        for index in item.nodes:
            if index not in matches:
                steps, stage = _match_steps(item, index)
                matches[index] = {
                    "formula": statement(item.latex, is_text=item.kind == "text"), "steps": steps, "stage": stage,
                    "id": f"r{row.place}f{place}" if place in marked else "",
                }  # fmt: skip
    withheld = {index: (item, reason) for item in reversed(grade.formulas) for index, reason in item.withheld}
    states = {index: _node_state(grade, index) for index in sorted({*references, *grade.credited, *grade.missing})}
    return [
        {"number": index, "state": f"{svg.LETTERS[key]} {_STATES[key]}", "is_credited": key == "c",
         "reference": references.get(index), "match": matches.get(index),
         "withheld": statement(withheld[index][0].latex) if key == "w" else None,
         "why_withheld": WITHHELD_REASONS.get(withheld[index][1], withheld[index][1]) if key == "w" else ""}
        for index, key in states.items()
    ]  # fmt: skip


def _match_steps(item: GradedFormula, index: int) -> tuple[tuple[str, ...], str]:
    """Return why a formula matched the node `index`: sentences, and `Stage N: NAME`.

    For a row that lists no matches: the formula's reason, and an empty stage.
    """
    match = next((one for one in item.matches if one.node == index), None)
    if match is None:
        return (reason_text(item.reason),), ""
    stage = STAGES[match.stage] if 0 <= match.stage < len(STAGES) else str(match.stage)
    return match_steps(match), f"Stage {match.stage}: {stage}"


def _first_repetitions(shown: Sequence[GradedFormula]) -> list[int]:
    """Return for each formula the ordinal of the first formula with the same LaTeX and the same outcome."""
    first: dict[tuple[object, ...], int] = {}
    return [
        first.setdefault((one_line(one.latex), one.status, one.reason, one.nodes, one.nearest, one.witness), n)
        for n, one in enumerate(shown)
    ]


def _formula_rows(row: ReportRow, shown: Sequence[GradedFormula], row_of: Sequence[int]) -> list[dict[str, Any]]:
    """Return a rollout's table of formulas, in the order of the text; repeated formulas share one row.

    Args:
        row: the row of results.
        shown: formulas of the grade without mentions.
        row_of: for each formula the ordinal of the first one like it, from `_first_repetitions`.
    """
    times = Counter(row_of)
    findings = row.diagnosis.findings if row.diagnosis is not None else ()
    diagnosed = {(each.span, each.latex): label for each in findings if (label := _finding_label(each))[0]}
    rows = []
    for place in sorted(times):
        item = shown[place]
        nodes = item.nodes or (() if item.nearest is None else (item.nearest,))
        finding, difference = diagnosed.get((item.span, item.latex), ("", ""))
        reason, detail = _reason_and_detail(item)
        rows.append({
            "id": f"r{row.place}t{place}", "formula": statement(item.latex), "times": times[place],
            "status": item.status, "nodes": nodes, "label": finding, "difference": difference, "reason": reason,
            "detail": detail,
        })  # fmt: skip
    return rows


def _finding_label(found: FormulaDiagnosis) -> tuple[str, str]:
    """Return label and difference of a diagnosis: `Follows from an earlier error`; both empty for an unknown cause."""
    if found.status == "wrong" and found.difference is not None:
        return found.difference.label, found.difference.full
    return _FINDINGS.get(found.status, ""), ""


def _reason_and_detail(item: GradedFormula) -> tuple[str, str]:
    """Return why a formula has its status: a reason in words, and a detail to be shown as code, which may be empty."""
    if item.nodes:
        return "see the nodes", ""
    if item.witness:
        return "differs", one_line(item.witness)
    reason = reason_text(item.reason)
    detail = item.detail.split("\n")[0]
    return reason, one_line(detail) if detail != reason else ""
