"""The grading of one solution, readable top to bottom in `grade`: extract, parse, match, select, score.

Extraction gives a `LocatedFormula` for each formula of the text; parsing a `LocatedClaim`; matching the `MatchMatrix`
of `Cell`s, one row for each `Claim`; selection, from the `Assertion`s on each node, why a match is withheld; scoring
the `Grade` with its `GradedFormula`s.

Nothing here raises on a solution: formulas that cannot be read are counted and reported, and an exception below is an
incident of the grader, never a student's zero. A scoring policy is a value from `dag.POLICIES`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from prism.algebra.expr import Formula, walk
from prism.algebra.operators import OPS
from prism.budget import CELL, CHARACTER, MATCHING, SELECTION, SOLUTION, Account, OverBudget, share
from prism.equivalence.facts import subject_of
from prism.equivalence.statements import statements_of
from prism.equivalence.verdict import RANK, REASONS, Stage, Status
from prism.garbage import without_collection
from prism.grading.claims.claim import Claim
from prism.grading.claims.italic_units import units_hint
from prism.grading.formula_sheet import is_formula_sheet
from prism.grading.guesses import guesses_behind_work, without_guesses
from prism.grading.located_claims import LocatedClaim, latest_claims, locate_claims, matrix_rows, n_distinct
from prism.grading.match_matrix import Cell, MatchMatrix, build_match_matrix
from prism.grading.parts.division import Part, divide_into_parts
from prism.grading.prepared import PreparedProblem, prepare, without_definitions
from prism.grading.references import ReferenceNode, is_guess
from prism.grading.result import Grade, GradedFormula, Incident, Match, holds_no_formulas, internal_incident
from prism.grading.row import POLICY
from prism.grading.selection import WITHHELD_REASONS, Selection, WithheldReason, select
from prism.grading.steps import Step, begin_step
from prism.latex import Extraction, Joint, LeftOut, LocatedFormula, Solution, extract
from prism.latex.writing.variants import with_variants
from prism.problem.answers.worded import options_of, presented_answers, stated_answers, text_answer
from prism.problem.dag import ReferenceDag, ancestor_closure, is_final_correct, policies_with, score
from prism.problem.schema import Problem, ProblemSource

BASE_FORMULAS, FORMULAS_PER_NODE = 20, 10  # distinct formulas that count; a list of guesses is longer (semantics C.7)
LAST_STRICT_STAGE = Stage.DEFINITIONS  # names, literals and values are readings that a strict grader would not make

_RESERVE = 1.2  # of a lower budget than the default one, a sixth is kept: the last pair may cost more
_DIGITS = 6  # of a score, rounded once from the exact fraction
_LONGEST_NAME = 200  # characters of a text that may be meant as the name of a file
_ENDINGS = (".json", ".md", ".tex", ".txt")


def grade(
    problem: ProblemSource,
    solution: Solution,
    *,
    sample_id: str | None = None,
    thinking: bool = False,
    definitions: bool = True,
    budget: int | None = None,
) -> Grade:
    r"""Grade a worked solution against a problem's reference DAG.

    Args:
        problem: whatever `load_problem` takes: the id of a shipped problem, a path, a dictionary, JSON, or a problem
            that is loaded or prepared (which saves time for many solutions).
        solution: the student's or model's full text, with LaTeX; or chat messages, of which the assistant's are
            graded; or a list of steps. No file is read: a text that is nothing but the name of one gets a warning.
        sample_id: copied into the result.
        thinking: also count formulas before the end of a thinking block.
        definitions: substitute what the problem and the solution define; without, a formula has to be in the
            reference's own symbols.
        budget: operations that the solution may cost; by default what `prism.budget` allows. Beyond, the rest is left
            out and the status is `too_large`.

    Returns:
        Grade: by the reference DAG that it fits best, the score in [0, 1], the indices of the matched, credited and
        missing nodes, and a `GradedFormula` for each formula of the solution, with its status and the nodes it earns.

    Errors:
        DataFileError: a problem file with faults.
        PrismError: a solution that is neither text nor chat messages nor steps. Never raises on what a text contains.

    Source: PRISM-Physics (arXiv 2510.03185), Algorithm 2; claims, and mere mentions, are ours.
    """
    prepared = prepare(problem)
    if not definitions:
        prepared = without_definitions(prepared)

    with without_collection():  # what only this grade needs is gone when the collector may start again
        graded = _grade_within_budget(prepared, solution, budget, sample_id=sample_id, thinking=thinking)
    if isinstance(solution, str) and not graded.formulas:
        _warn_of_file_name(solution)
    return graded


def _grade_within_budget(
    prepared: PreparedProblem, solution: Solution, budget: int | None, *, sample_id: str | None, thinking: bool
) -> Grade:
    """Grade a solution within the operations that it may cost; arguments as of `grade`."""
    extraction: Extraction | None = None
    begin_step(Step.READING)
    with share(math.inf if budget is None else budget) as account:
        context = prepared.problem.context
        extraction = extract(solution, macros=context.macros, symbols=prepared.task.known, thinking=thinking)
        references = (prepared, *prepared.alternatives)
        if budget is None:
            n_read = len(extraction.text) - extraction.left_out.characters
            cells = sum(operations_of_cells(len(each.problem.nodes), len(extraction)) for each in references)
            account.limit = account.spent + len(references) * (SOLUTION + CHARACTER * n_read) + cells
        if len(references) == 1:
            graded = _grade_extracted(prepared, extraction, account, sample_id=sample_id, thinking=thinking)
        else:
            graded = _grade_by_each(references, extraction, account, sample_id=sample_id, thinking=thinking)
    if account.is_exhausted:
        graded = _ungraded(prepared, extraction, sample_id=sample_id, thinking=thinking)
    return replace(graded, cost=account.spent)


def _cap(n_nodes: int) -> int:
    """Return how many distinct formulas of a solution count."""
    return BASE_FORMULAS + FORMULAS_PER_NODE * n_nodes


def operations_of_cells(n_nodes: int, n_formulas: int) -> int:
    """Return what a solution may spend on each of its formulas beside each node, in matching and in selecting."""
    return 2 * CELL * min(n_formulas, _cap(n_nodes)) * n_nodes


def _grade_by_each(
    references: Sequence[PreparedProblem],
    extraction: Extraction,
    account: Account,
    *,
    sample_id: str | None,
    thinking: bool,
) -> Grade:
    """Grade a solution by each reference DAG as if it were the only one, and return the best grade (semantics S.1).

    That is the one with the highest score; of equal ones that with all final answers right, then that by which most
    formulas of the solution are right, then the first. No later one is tried where nothing can be better. Each has an
    equal share of the operations that are left. Incidents of all are kept.
    """
    grades: list[Grade] = []
    for k, reference in enumerate(references):
        begin_step(Step.READING)
        graded = None
        with share((account.limit - account.spent) / (len(references) - k)) as own:
            graded = _grade_extracted(reference, extraction, own, sample_id=sample_id, thinking=thinking)
        if graded is None or own.is_exhausted:
            graded = _ungraded(reference, extraction, sample_id=sample_id, thinking=thinking)
        grades.append(graded)
        if _is_perfect(graded):
            break
    best = max(grades, key=_rank_of)  # the first of equal ones
    incidents = tuple(
        replace(each, where=f"alternative {graded.alternative}, {each.where}") if graded.alternative else each
        for graded in grades
        for each in graded.incidents
    )
    is_complete = _is_perfect(best) or all(graded.status == "ok" for graded in grades)
    return replace(best, incidents=incidents, status=best.status if is_complete else "too_large")


def _rank_of(graded: Grade) -> tuple[float, bool, int]:
    """Return the key by which grades of one solution by several reference DAGs are ordered; the largest counts."""
    n_right = sum(item.status == Status.EQUIVALENT for item in graded.formulas)
    return graded.score or 0.0, graded.final_correct, n_right


def _is_perfect(graded: Grade) -> bool:
    """Return True if no grade of the same solution can rank higher: all points, and all formulas right."""
    all_right = all(item.status in (Status.EQUIVALENT, "mention") for item in graded.formulas)
    return graded.score == 1 and graded.final_correct and all_right


def _ungraded(
    prepared: PreparedProblem, extraction: Extraction | None, *, sample_id: str | None, thinking: bool
) -> Grade:
    """Return the grade of a solution whose operations ended before it was graded: score 0, status too_large.

    Each formula found so far stands in it as too large; extraction is None where they ended before that.
    """
    left_out = LeftOut() if extraction is None else extraction.left_out
    formulas = [_too_large(item) for item in extraction or () if thinking or item.kind != "thinking"]
    return _scored(
        prepared, formulas, [], sample_id=sample_id, is_complete=False, left_out=left_out, is_spam=False, is_sheet=False
    )


def _warn_of_file_name(solution: str) -> None:
    """Warn the caller of `grade` of a solution that is one word and ends as the name of a file does."""
    if len(solution) <= _LONGEST_NAME and len(solution.split()) == 1 and solution.strip().endswith(_ENDINGS):
        told = f"the solution {solution!r} is graded as a text; of a file give what it holds, Path(...).read_text()"
        with suppress(UserWarning):  # where warnings are errors, a student's text still raises none
            warnings.warn(told, stacklevel=3)


def _grade_extracted(
    prepared: PreparedProblem, extraction: Extraction, account: Account, *, sample_id: str | None, thinking: bool
) -> Grade:
    """Grade the formulas extracted from a solution; arguments as of `grade`, `account` that of the solution."""
    formulas = [item for item in extraction if thinking or item.kind != "thinking"]
    parts = divide_into_parts(extraction.text, [part.letter for part in prepared.problem.subquestions])

    context = prepared.problem.context
    located = locate_claims(  # parse
        formulas,
        extraction.text,
        parts,
        prepared.final_answers,
        context,
        prepared.task.known,
        prepared.question,
        prepared.stated,
        prepared.questions,
    )
    incidents = [internal_incident(claim.located.latex, claim.error) for claim in located if claim.error is not None]

    cap = _cap(len(prepared.problem.nodes))
    counted = latest_claims(located, cap)
    rows = matrix_rows(located, counted)
    full = _RESERVE * (MATCHING + SELECTION) + operations_of_cells(len(prepared.problem.nodes), len(formulas))
    part = min(1.0, (account.limit - account.spent) / full)  # of a lower budget than the default one
    to_select, each = part * SELECTION, int(part * CELL)
    account.allow(part * MATCHING, each=each)
    begin_step(Step.MATCHING)
    matrix = build_match_matrix(prepared.task, _claims_of(counted))  # match
    incidents += matrix.incidents
    is_complete = not account.is_cut

    begin_step(Step.SELECTING)
    left = max(account.allowance - account.spent, 0)  # of the matching
    account.allow(left + to_select, each=each, extra=False)
    selection = _selected(prepared, located, rows, matrix, incidents)  # select
    if account.is_cut:  # what was not asked may be what contradicts a match
        selection = {order: dict.fromkeys(nodes, WithheldReason.TOO_LARGE) for order, nodes in selection.items()}
    is_complete = is_complete and not account.is_cut
    begin_step(Step.SCORING)
    graded = [
        _graded(claim, prepared.task.references, matrix.rows[rows[claim.order]], selection.get(claim.order, {}))
        if claim.order in rows and not claim.fault
        else _not_compared(claim, cap)
        for claim in located
    ]
    graded += _worded_answers(prepared.problem, extraction.text, parts)
    graded = _without_guesses(prepared, graded, [claim for claim in located if claim.order in rows])

    is_spam = n_distinct(located) > cap  # score
    return _scored(
        prepared, graded, incidents, sample_id=sample_id, is_complete=is_complete and extraction.left_out == LeftOut(),
        left_out=extraction.left_out, is_spam=is_spam,
        is_sheet=is_formula_sheet([each.formula for each in located if each.formula], prepared.task.known),
    )  # fmt: skip


def _claims_of(counted: Sequence[LocatedClaim]) -> list[Claim]:
    """Return the formulas that count as they are compared with the nodes; those that could not be read are left out."""
    return [
        Claim(
            each.formula,
            each.is_committed,
            is_in_passing=each.located.in_passing or bool(each.fault),
            letters=each.letters,
            is_joined=each.located.joint == Joint.CONDITION,
        )
        for each in counted
        if each.formula
    ]


def _selected(
    prepared: PreparedProblem,
    located: Sequence[LocatedClaim],
    rows: Mapping[int, int],
    matrix: MatchMatrix,
    incidents: list[Incident],
) -> Selection:
    """Return the result of `select`; if it raises, add an incident and return every match as withheld (FAILED)."""
    try:
        return select(prepared, located, rows, matrix)
    except OverBudget:
        raise
    except Exception as error:  # noqa: BLE001 - as in the matrix: the grader has failed, and nothing is paid for it
        incidents.append(internal_incident("claims", error))
        return {claim.order: dict.fromkeys(matrix.matched, WithheldReason.FAILED) for claim in located}


# Score. -----------------------------------------------------------------------------------------------------------


def _scored(
    prepared: PreparedProblem,
    formulas: Sequence[GradedFormula],
    incidents: Sequence[Incident],
    *,
    sample_id: str | None,
    is_complete: bool,
    left_out: LeftOut,
    is_spam: bool,
    is_sheet: bool,
) -> Grade:
    """Build the Grade from graded formulas: the share of points in the ancestor closure of the matched nodes.

    Args:
        sample_id: copied into the result.
        is_complete: nothing was left out because of a limit; else the status is `too_large`.
        left_out: what extraction left out because of its size limits.
        is_spam: the solution has more distinct formulas than the limit, and the earliest of them do not count.
        is_sheet: it recites laws of which most are about nothing that the problem names.
    """
    dag = prepared.problem.dag
    matched = {index for item in formulas for index in item.nodes}
    alone = matched - without_guesses(dag, matched, prepared.guessable, prepared.shown)
    policies = policies_with(prepared.given, alone)
    credited = policies[POLICY](dag, matched)
    return Grade(
        problem_id=prepared.problem.id,
        sample_id=sample_id,
        status="ok" if is_complete else "too_large",
        score=_rounded(score(dag, credited)),
        matched=tuple(sorted(matched)),
        credited=tuple(sorted(credited)),
        missing=tuple(index for index in dag.indices if index not in credited),
        final_correct=is_final_correct(dag, matched),
        policies={
            name: _rounded(score(dag, policy(dag, matched))) for name, policy in policies.items() if name != POLICY
        },
        formulas=tuple(formulas),
        unread=sum(item.status == "unread" for item in formulas),
        undecided=sum(item.status == Status.UNDECIDED for item in formulas),
        incidents=tuple(incidents),
        left_out=left_out,
        score_strict=_rounded(score(dag, strictly_credited(prepared, formulas))),
        share_by_closure=_share_by_closure(dag, matched, credited),
        flags=_flags(formulas, is_complete=is_complete, is_spam=is_spam, is_sheet=is_sheet),
        alternative=prepared.problem.alternative,
        given_answers=tuple(node.index for node in prepared.task.references if node.given),
    )


def strictly_credited(prepared: PreparedProblem, formulas: Sequence[GradedFormula]) -> frozenset[int]:
    """Return the nodes that `score_strict` pays: those credited by matches up to `LAST_STRICT_STAGE`."""
    dag = prepared.problem.dag
    strictly = {match.node for item in formulas for match in item.matches if match.stage <= LAST_STRICT_STAGE}
    return ancestor_closure(dag, without_guesses(dag, strictly, prepared.guessable, prepared.shown))


def _share_by_closure(dag: ReferenceDag, matched: Collection[int], credited: Collection[int]) -> float:
    """Return the share of the earned points that comes from credited but unmatched nodes; 0 if no points are earned."""
    earned = score(dag, credited)
    return _rounded(1 - score(dag, matched) / earned) if earned else 0.0


def _flags(formulas: Sequence[GradedFormula], *, is_complete: bool, is_spam: bool, is_sheet: bool) -> tuple[str, ...]:
    """Return those of FLAGS that hold, sorted: `hedged` is contradicted or one of many."""
    reasons = {reason for item in formulas for _, reason in item.withheld}
    flags = {
        "broken_chain": WithheldReason.BROKEN_CHAIN in reasons,
        "formula_sheet": is_sheet,
        "hedged": not reasons.isdisjoint((WithheldReason.CONTRADICTED, WithheldReason.ONE_OF_MANY)),
        "no_formulas": is_complete and holds_no_formulas(formulas),
        "spam": is_spam,
    }
    return tuple(sorted(name for name, holds in flags.items() if holds))


def _rounded(share: Fraction) -> float:
    """Round an exact share of points to the digits of a score."""
    return round(float(share), _DIGITS)


# Graded formulas. -------------------------------------------------------------------------------------------------


def _not_compared(claim: LocatedClaim, cap: int) -> GradedFormula:
    """Return the GradedFormula of a formula that was compared with no node, so it earns nothing.

    Its status is `unread` if it did not parse, `mention` if it asserts nothing (a lone `v`), and `undecided` if it is
    too large to parse, or more than `cap` distinct formulas follow it.
    """
    plain = GradedFormula(claim.located.latex, claim.located.span, claim.located.kind, "mention", "")
    if claim.formula is None and claim.is_too_large:
        return replace(plain, status=Status.UNDECIDED, reason="too_large", detail=claim.fault)
    if claim.formula is None or claim.fault:
        return replace(plain, status="unread", reason="parse_error", detail=claim.fault)
    if not claim.is_assertion:
        return plain
    detail = f"only the latest {cap} distinct formulas of a solution count"
    return replace(plain, status=Status.UNDECIDED, reason="too_large", detail=detail)


def _too_large(item: LocatedFormula) -> GradedFormula:
    """Return the GradedFormula of a formula in a solution whose operations ended before the first pair was compared."""
    detail = "the operations of the solution are spent"
    return GradedFormula(item.latex, item.span, item.kind, Status.UNDECIDED, "too_large", detail=detail)


def _graded(
    claim: LocatedClaim,
    references: Sequence[ReferenceNode],
    row: Mapping[int, Cell],
    selected: Mapping[int, WithheldReason | None],
) -> GradedFormula:
    """Return the GradedFormula of a formula that was compared with every node.

    Args:
        references: the nodes.
        row: the best cell of the formula at each node, by node index; empty if the engine failed at every node.
        selected: why a matched node is withheld, by its index; None or missing for a match that stands.
    """
    latex, span, kind = claim.located.latex, claim.located.span, claim.located.kind
    if not row or claim.formula is None:
        return GradedFormula(latex, span, kind, Status.UNDECIDED, "unsupported")
    cells = [cell for _, cell in sorted(row.items()) if cell.is_match]
    matches = tuple(
        Match(cell.node, each.stage, each.reason, each.readings) for cell in cells for each in (cell.verdict,)
    )
    decided = _reported_cell(claim.formula, list(row.values())).verdict
    if claim.formula.kind == "expression" and decided.reason == "kind":
        return GradedFormula(latex, span, kind, Status.DIFFERENT, "no_relation")
    nearest = _nearest_cell(claim.formula, row, references) if decided.status == Status.DIFFERENT else None
    verdict = decided if nearest is None else nearest.verdict
    beside = [] if nearest is None else [each.formulas[0].latex for each in references if each.index == nearest.node]
    witness = with_variants(str(verdict.witness or ""), latex, *beside)
    hint = units_hint(claim.formula, [f for each in references for f in each.formulas]) if nearest is not None else ""
    detail = "; ".join(part for part in (hint, *verdict.readings, verdict.detail) if part)
    if not (witness or detail) and verdict.reason != decided.reason:
        detail = REASONS[verdict.reason]
    item = GradedFormula(
        latex, span, kind, decided.status, decided.reason, nodes=tuple(match.node for match in matches),
        detail=detail, nearest=None if nearest is None else nearest.node, witness=witness, matches=matches,
    )  # fmt: skip
    return _withhold(item, [(cell.node, reason) for cell in cells if (reason := selected.get(cell.node))])


def _reported_cell(claim: Formula, cells: Sequence[Cell]) -> Cell:
    """Return the cell (formula beside one node) that gives a formula with several cells its status and its reason.

    That is a match, else an undecided one, else one that differs in letters alone, else the different one whose formula
    shares most symbols, with a witness if there is one. The second and third count only if the formula itself has a
    construct that cannot be evaluated, not merely the node.
    """
    unevaluated = any(
        OPS[node.op].opcode is None and node.op != "unit" for member in claim.members for node in walk(member)
    )

    def rank(cell: Cell) -> tuple[int, int]:
        """Return the key by which cells are ordered; the smallest is reported."""
        verdict = cell.verdict
        if verdict.status == Status.EQUIVALENT:
            return 0, 0
        if verdict.status == Status.UNDECIDED and (unevaluated or verdict.reason != "unsupported"):
            return 1, cell.n_unshared
        if verdict.reason == "other_letters" and unevaluated:
            return 2, cell.n_unshared
        if verdict.status == Status.DIFFERENT:
            return (3 if verdict.witness else 4), cell.n_unshared
        return 5, cell.n_unshared

    return min(cells, key=rank)


def _nearest_cell(claim: Formula, row: Mapping[int, Cell], references: Sequence[ReferenceNode]) -> Cell:
    """Return the different cell of the node that a formula was most likely meant for.

    That is a node that asks for a number of the same quantity, if the formula states a number; else a node with a
    formula for the same quantity; else one with a witness. Of several it is the one that shares most symbols.
    """
    subjects = {subject_of(each.formula) for each in statements_of(claim)} - {None}

    def rank(node: ReferenceNode) -> tuple[int, bool, int]:
        """Return the key by which nodes are ordered; the smallest is the nearest."""
        cell = row[node.index]
        is_same = not subjects.isdisjoint(node.subjects) and cell.verdict.reason != "unstated"
        return (not node.is_number) if is_same else 2, cell.verdict.witness is None, cell.n_unshared

    different = [node for node in references if _differs(row.get(node.index))]
    return row[min(different, key=rank).index]


def _differs(cell: Cell | None) -> bool:
    """Return True for a cell that found a difference."""
    return cell is not None and cell.error is None and cell.verdict.status == Status.DIFFERENT


def _withhold(item: GradedFormula, reasons: Sequence[tuple[int, WithheldReason]]) -> GradedFormula:
    """Return a graded formula that no longer earns certain nodes; its status is `withheld` if it earns no other node.

    Args:
        reasons: pairs of a node's index and the reason why the formula does not earn it.
    """
    if not reasons:
        return item
    taken = {index for index, _ in reasons}
    rest = replace(
        item,
        nodes=tuple(index for index in item.nodes if index not in taken),
        matches=tuple(match for match in item.matches if match.node not in taken),
        withheld=(*item.withheld, *reasons),
    )
    if rest.nodes:
        return rest
    detail = "; ".join(f"says node {index}: {WITHHELD_REASONS[reason]}" for index, reason in rest.withheld)
    return replace(rest, status="withheld", reason=rest.withheld[0][1], detail=detail)


def _without_guesses(
    prepared: PreparedProblem, formulas: Sequence[GradedFormula], claims: Sequence[LocatedClaim]
) -> list[GradedFormula]:
    """Return graded formulas in which guessable nodes are withheld, unless a prerequisite is achieved or worked on.

    A node that only a guess meets counts as guessable: an integral whose value is 1/2, by `P = 1/2`. That a
    prerequisite is worked on helps none of these.
    """
    matched = {index for item in formulas for index in item.nodes}
    earned = {index for item in formulas if item.nodes and not is_guess(item.latex) for index in item.nodes}
    guessable = prepared.guessable | (matched - earned)
    guessed = matched - without_guesses(prepared.problem.dag, matched, guessable, prepared.shown)
    guessed -= guesses_behind_work(prepared, guessed & prepared.guessable - prepared.shown, claims)
    why = {k: WithheldReason.COPIED if k in prepared.shown else WithheldReason.GUESSED for k in guessed}
    return [_withhold(item, [(k, why[k]) for k in item.nodes if k in guessed]) for item in formulas]


# Answers in words. ------------------------------------------------------------------------------------------------


def _worded_answers(problem: Problem, text: str, parts: Sequence[Part]) -> list[GradedFormula]:
    """Grade each node that asks for an answer in words (`stable` or `unstable`) by the options of its instructions.

    Returns one GradedFormula of kind `text` for each such node; empty if the problem has none.
    """
    nodes = [node for node in problem.nodes if node.is_text]
    if not nodes:
        return []
    questions = {part.letter: part for part in problem.subquestions}
    worded = [part for part in problem.subquestions if part.final_answer_form == "text-based"]
    graded = []
    for node in nodes:
        question = questions.get(node.subquestion) or worded[0]
        for own in _texts_of(node.subquestion, text, parts):
            has_options = bool(options_of(question.final_answer_instructions))
            places = stated_answers(own) if has_options else presented_answers(own)
            asked = f"{problem.statement} {question.text} {question.final_answer_instructions}"
            answer = min(  # one option is settled on, and it may be any that the node accepts
                (text_answer(each.latex, question.final_answer_instructions, places, question=asked)
                 for each in (node.formula, *node.accept)),
                key=lambda answer: RANK[answer.status],
            )  # fmt: skip
            if answer.option or answer.status != Status.UNDECIDED:
                break
        reason = {"equivalent": "same_option", "different": "other_option"}.get(answer.status, "no_option")
        is_match = answer.status == Status.EQUIVALENT
        matches = (Match(node.index, Stage.PLAIN, reason),) if is_match else ()
        place = answer.place or next(iter(places), "")
        last = place.rpartition("\n")[2]
        start = max(_found_in_part(last, node.subquestion, text, parts), 0)
        graded.append(
            GradedFormula(
                place, (start, start + len(last)), "text", answer.status, reason,
                (node.index,) if is_match else (), answer.detail, matches=matches,
            )
        )  # fmt: skip
    return graded


def _found_in_part(line: str, letter: str, text: str, parts: Sequence[Part]) -> int:
    """Return where a line of an answer in words stands for the last time in its part, else anywhere; or -1."""
    inside = max((text.rfind(line, part.start, part.end) for part in parts if part.letter == letter), default=-1)
    return inside if inside >= 0 else text.rfind(line)


def _texts_of(letter: str, text: str, parts: Sequence[Part]) -> Iterator[str]:
    """Yield the texts in which part `letter` may be answered: its own, then what is common to all parts.

    The whole solution alone if the letter is empty or no text is marked as this part's.
    """
    own = "\n\n".join(text[part.start : part.end] for part in parts if part.letter == letter)
    yield own if letter and own else text
    if letter and own:
        yield "\n\n".join(text[part.start : part.end] for part in parts if not part.letter)
