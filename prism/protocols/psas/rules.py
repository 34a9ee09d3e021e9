r"""Which nodes a solution states in each part, by rule: what the grader found, and what it left undecided.

A node is stated in a part if a formula of the text of that part matches it and counts (semantics C.2); text that is
common to all parts belongs to each. It is undecided there if a formula of that text is, which has the node's symbols,
all but one, givens and constants aside; and wherever the grader could read no formula in a text, or left text out. A
formula that cannot be read states nothing, as for the closure score: rows count it in a note. An empty text states no
node, and that is decided.

With units ignored, a number without its unit is compared with the node's number without its own: `3 km` states `3 m`.

Responses in the format of PhysReason, `sub_question_1:`, `step_1:`, `sub_question_1_answer:`, are rewritten to the
labels of the problem before they are graded.

PSAS-S over many graded rollouts: references in, rows out.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from prism.algebra.expr import Expr, Formula, number
from prism.budget import CELL, MATCHING, share
from prism.equivalence.facts import numeric_of
from prism.equivalence.matching import match
from prism.equivalence.verdict import Status
from prism.errors import LatexSyntaxError
from prism.grading.claims.claim import n_unaccounted
from prism.grading.match_matrix import MAX_UNSHARED, CellTable
from prism.grading.parts.division import Part, divide_into_parts
from prism.grading.prepared import PreparedProblem, in_alternative
from prism.grading.references import ReferenceNode
from prism.grading.result import Grade, GradedFormula
from prism.latex import LeftOut, solution_text
from prism.physics.context import Context, parse
from prism.physics.italic_units import with_italic_units
from prism.problem.collection import load_problems
from prism.problem.schema import Problem
from prism.problem.source import problem_path
from prism.protocols.graded_rollouts import GradedRollout
from prism.protocols.psas.findings import Findings, with_findings
from prism.protocols.psas.rows import POLICIES, PROTOCOL, Marked, Stated, Variant, marks_by_rules, psas_row
from prism.protocols.psas.steps import PsasReference, is_published_shape, load_published, parts_of
from prism.protocols.rows import ProtocolRow, lost_row
from prism.runs.rollouts import Rollout


def load_references(source: str) -> dict[str, PsasReference]:
    """Load problems with their steps: problem files as `load_problems` takes them, or the published shape.

    Errors:
        DataFileError: all faults of the files.
    """
    path = problem_path(source) if not source.lstrip().startswith("{") else Path()
    if path != Path() and is_published_shape(path):
        return load_published(path)
    loaded = load_problems(source if path == Path() else path)
    return {name: PsasReference(problem, parts_of(problem)) for name, problem in loaded.items()}


def psas_rows(
    graded: Iterable[GradedRollout[StatedNodes]],
    references: Mapping[str, PsasReference],
    *,
    variant: Variant,
    units: str = "count",
    findings: Findings | None = None,
    prefer_rules: bool = False,
) -> list[ProtocolRow]:
    """Return the rows of graded rollouts, in order.

    Args:
        graded: with what `psas_rules.stated_nodes` found of each.
        references: by problem id.
        units: `count` or `ignore`, as the rules were told.
        findings: of a judge or a person, by response.
        prefer_rules: in a conflict the rules count.

    Errors:
        PrismError: two findings about one thing that contradict each other.
    """
    settings = {"units": units, **({} if findings is None else {"prefer": "rules" if prefer_rules else "file"})}
    rows = []
    for one in graded:
        if one.more is None:
            rows.append(lost_row(PROTOCOL, str(variant), one.about, POLICIES, settings))
            continue
        reference = references[one.problem.id]
        parts = reference.parts_by(one.grade.alternative)
        marks = tuple(marks_by_rules(part, one.more.by_letter[part.letter]) for part in parts)
        marked = Marked(one.about, parts, marks, _notes(one, one.more, reference))
        if findings is not None:
            marked = with_findings(marked, findings, prefer_rules=prefer_rules)
        rows.append(psas_row(marked, variant=variant, settings=settings))
    return rows


def _notes(one: GradedRollout[StatedNodes], found: StatedNodes, reference: PsasReference) -> tuple[str, ...]:
    """Return what a reader of a row should know of the text and of the reference."""
    notes = []
    if found.n_unread:
        notes.append(f"unread formulas, which state nothing: {found.n_unread}")
    if found.is_empty:
        notes.append("the response is empty")
    elif "no_formulas" in one.grade.flags:
        notes.append("no formula could be read, so nothing is decided")
    if reference.n_unreadable:
        notes.append(f"unreadable in the reference, so undecided: {reference.n_unreadable}")
    if one.grade.alternative:
        notes.append(f"steps of the alternative: {one.grade.alternative}")
    return tuple(notes)


# `sub_question_1:`, `**sub_question_2_answer**:`, `step_3:` at the beginning of a line.
_MARK = re.compile(r"^[*# \t]*sub_?question_?(\d{1,2})(_?answer)?[*]*[ \t]*:[* \t]*", re.IGNORECASE | re.MULTILINE)
_STEP = re.compile(r"^[*# \t]*step_(\d{1,3})[*]*[ \t]*:[* \t]*", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StatedNodes:
    """What a solution states, by the letter of each part.

    Attributes:
        by_letter: the letters of the problem, and the empty one for nodes of no part.
        n_unread: formulas that could not be read.
        is_empty: the solution has no text.
    """

    by_letter: Mapping[str, Stated]
    n_unread: int
    is_empty: bool = False


def stated_nodes(
    prepared: PreparedProblem, rollout: Rollout, grade: Grade, *, ignores_units: bool = False
) -> StatedNodes:
    """Find the nodes that a graded rollout states in each part (a `then` of `grade_rollouts`)."""
    reference = in_alternative(prepared, grade.alternative)
    letters = tuple(each.letter for each in reference.problem.subquestions)
    text = solution_text(rollout.solution).text
    is_empty = not text.strip()
    parts = divide_into_parts(text, letters)
    stated: dict[str, set[int]] = defaultdict(set)
    undecided: dict[str, set[int]] = defaultdict(set)
    all_letters = tuple(dict.fromkeys((*letters, "")))
    own = {node.index: node.subquestion for node in reference.problem.nodes if node.is_text}
    for item in grade.formulas:
        where = _letters_of(item, parts) or all_letters
        for letter in (*where, ""):
            stated[letter].update(item.nodes)
        if item.kind == "text":  # an answer in words was looked for in the text of its own part
            for index in item.nodes:
                stated[own.get(index, "")].add(index)
    for beside, indices in _open_nodes(reference, grade, ignores_units=ignores_units):
        target = stated if beside.is_stated else undecided
        for letter in (*(_letters_of(beside.formula, parts) or all_letters), ""):
            target[letter].update(indices)
    if ("no_formulas" in grade.flags and not is_empty) or grade.left_out != LeftOut():
        for letter in all_letters:
            undecided[letter].update(node.index for node in reference.problem.nodes)
    return StatedNodes(
        {
            letter: Stated(frozenset(stated[letter]), frozenset(undecided[letter] - stated[letter]))
            for letter in all_letters
        },
        grade.unread,
        is_empty,
    )


def _letters_of(item: GradedFormula, parts: Sequence[Part]) -> tuple[str, ...]:
    """Return the letters of the parts that a formula stands in, or runs over; empty where it counts for all."""
    start, end = item.span
    return tuple(dict.fromkeys(each.letter for each in parts if each.letter and each.start < end and start < each.end))


@dataclass(frozen=True, slots=True)
class _Beside:
    """A formula, and whether it states some nodes, or leaves open whether it does."""

    formula: GradedFormula
    is_stated: bool


def _open_nodes(
    prepared: PreparedProblem, grade: Grade, *, ignores_units: bool
) -> Iterator[tuple[_Beside, frozenset[int]]]:
    """Yield formulas of a graded solution with the nodes that they leave open, or state but for the unit."""
    context = prepared.problem.context
    table = CellTable(prepared.task)
    with share(math.inf) as account:
        account.allow(MATCHING, each=CELL)
        for item in grade.formulas:
            if item.status not in ("undecided", "different", "withheld") or item.kind == "text":
                continue
            try:
                read = parse(item.latex, context=context)
            except LatexSyntaxError:
                continue
            if item.status == "undecided":
                nodes = (node for node in prepared.task.references if _is_open(table, node, read, context))
                yield _Beside(item, is_stated=False), frozenset(node.index for node in nodes)
            elif ignores_units and item.status == "different":
                nodes = (node for node in prepared.task.references if _has_number(node, read, context))
                yield _Beside(item, is_stated=True), frozenset(node.index for node in nodes)


def _is_open(table: CellTable, node: ReferenceNode, read: Formula, context: Context) -> bool:
    """Return True if it is undecided whether a formula states a node whose symbols it has, all but one."""
    return any(
        n_unaccounted(wanted, read, context) <= MAX_UNSHARED
        and table.cell(node, wanted, read).status not in (Status.EQUIVALENT, Status.DIFFERENT)
        for wanted in node.formulas
    )


# Units. ---------------------------------------------------------------------------------------------------------


def _has_number(node: ReferenceNode, read: Formula, context: Context) -> bool:
    """Return True if a formula states the number of a node of the same quantity, whatever the units of both."""
    spoken = with_italic_units(read, context.declared)
    claimed = numeric_of(spoken)
    for wanted in node.formulas:
        asked = numeric_of(wanted)
        if asked is None or claimed is None or asked.subject != claimed.subject:
            continue
        bare = [replace(f, members=tuple(map(_without_units, f.members))) for f in (wanted, spoken)]
        if match(bare[0], bare[1], Context(), node.number_spec).status == Status.EQUIVALENT:
            return True
    return False


def _without_units(expr: Expr) -> Expr:
    """Return an expression with each unit replaced by 1."""
    if expr.op == "unit":
        return number(1)
    return Expr(expr.op, tuple(map(_without_units, expr.args)), expr.name, expr.value) if expr.args else expr


# The format of PhysReason. --------------------------------------------------------------------------------------


def with_part_labels(problem: Problem, rollout: Rollout) -> Rollout:
    """Return a rollout with `sub_question_2:` as `(b)`, the problem's letter, and `step_3:` as `Step 3:`.

    A rollout without such marks is returned as it is; a number that the problem has no part for stays.
    """
    text = solution_text(rollout.solution).text
    if not _MARK.search(text):
        return rollout
    letters = [each.letter for each in problem.subquestions]

    def label(mark: re.Match[str]) -> str:
        """Return the label of a part, or of its answer."""
        place = int(mark[1]) - 1
        answer = "Answer: " if mark[2] else ""
        if not 0 <= place < max(len(letters), 1):
            return mark[0]
        return f"\n\n({letters[place]}) {answer}" if len(letters) > 1 else f"\n\n{answer}"

    marked = _MARK.sub(label, text)
    return replace(rollout, solution=_STEP.sub(lambda mark: f"\nStep {mark[1]}: ", marked))
