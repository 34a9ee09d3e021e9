"""The pipeline, readable top to bottom in `grade`: extract, compare, commit, close, score.

A scoring policy is a value from `dag.POLICIES`. Nothing here raises on a solution: what cannot be read is counted
and reported, and an exception below is an incident of the grader, never a student's zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from prism.algebra.expr import OPS, Formula, walk
from prism.equivalence.statements import Statement
from prism.grading.chains import is_result, is_unbroken
from prism.grading.located_claims import Key, Saying, distinct, latest, sayings_of
from prism.grading.match_matrix import (
    Bearing,
    Outcome,
    Reference,
    Setting,
    Weighed,
    bearings_of,
    weighed,
)
from prism.grading.parts import Part, parts_of
from prism.grading.prepared import PreparedProblem, prepare, without_definitions
from prism.grading.result import Grade, GradedFormula, Incident, Match
from prism.grading.row import POLICY
from prism.grading.selection import OUT_OF_SCOPE, REFUSALS, Said, entering, in_scope, refusals
from prism.latex import LeftOut, Solution, extract
from prism.problem.dag import POLICIES, ReferenceDag, ancestor_closure, is_final_correct, policies_with, score
from prism.problem.schema import Problem
from prism.problem.worded_answers import stated_answers, text_answer

BASE_FORMULAS, FORMULAS_PER_NODE = 20, 10  # distinct formulas that count; a list of guesses is longer (semantics C.7)
STRICT_STAGE = 3  # definitions; names, literals and values count as readings that a strict grader would not make


_DIGITS = 6  # of a score, rounded once from the exact fraction


def grade(
    problem: PreparedProblem | Problem | Path | str | Mapping[str, object],
    solution: Solution,
    *,
    sample_id: str | None = None,
    thinking: bool = False,
    definitions: bool = True,
) -> Grade:
    r"""Grade a worked solution against a problem's reference DAG.

    Args:
        problem: a problem, prepared or not; a path, a JSON string or a dictionary is loaded first.
        solution: the student's or model's full text, with LaTeX; or chat messages, of which the assistant's are
            graded; or a list of steps.
        sample_id: kept in the result.
        thinking: also count formulas before the end of a thinking block.
        definitions: put in what the problem and the solution define; without, a formula has to say it in the
            reference's own symbols.

    Errors:
        DataFileError: a problem file with faults.
        PrismError: a solution that is none of the three. Never anything about what it says.

    Source: PRISM-Physics (arXiv 2510.03185), Algorithm 2; what a solution claims, and what it only mentions, is ours.
    """
    prepared = problem if isinstance(problem, PreparedProblem) else prepare(problem)
    if not definitions:
        prepared = without_definitions(prepared)
    dag = prepared.problem.dag
    incidents: list[Incident] = []
    extraction = extract(solution)
    found = [item for item in extraction if thinking or item.kind != "thinking"]
    parts = parts_of(extraction.text, [part.letter for part in prepared.problem.subquestions])
    sayings, failed = sayings_of(found, extraction.text, parts, prepared.questions, prepared.problem.context)
    incidents += [Incident("internal", where, _named_error(error)) for where, error in failed]
    cap = BASE_FORMULAS + FORMULAS_PER_NODE * len(prepared.problem.nodes)
    counted = latest(sayings, cap)
    compared = weighed(prepared.setting, [(each.formula, each.is_committed) for each in counted])
    incidents += [Incident("internal", each.where, _named_error(each.error)) for each in compared.failures]
    places = {each.key: k for k, each in enumerate(counted)}
    try:
        stands = _stands(prepared, sayings, places, compared)
    except Exception as error:  # noqa: BLE001 - as at a pair: the grader has failed, and nobody is paid for it
        incidents.append(Incident("internal", "claims", _named_error(error)))
        failed_on = dict.fromkeys(compared.matched, "failed")
        stands = {each.order: failed_on for each in sayings}
    formulas = [_graded(each, places, compared, stands.get(each.order, {}), cap) for each in sayings]
    formulas += _in_words(prepared.problem, extraction.text, parts)
    formulas = _without_guesses(prepared, formulas)
    matched = {index for item in formulas for index in item.nodes}
    credited = ancestor_closure(dag, matched)
    policies = POLICIES if prepared.given is None else policies_with(prepared.given)
    strictly = entering(dag, _strictly_matched(formulas), prepared.guessable)
    return Grade(
        problem_id=prepared.problem.id,
        sample_id=sample_id,
        status="ok" if extraction.left_out == LeftOut() else "too_large",
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
        undecided=sum(item.status == "undecided" for item in formulas),
        incidents=tuple(incidents),
        left_out=extraction.left_out,
        score_strict=_rounded(score(dag, ancestor_closure(dag, strictly))),
        share_by_closure=_share_by_closure(dag, matched, credited),
        flags=_flags(formulas, is_spam=len(distinct(sayings)) > cap),
    )


def _share_by_closure(dag: ReferenceDag, matched: set[int], credited: frozenset[int]) -> float:
    earned = score(dag, credited)
    return _rounded(1 - score(dag, matched) / earned) if earned else 0.0


def _flags(formulas: Sequence[GradedFormula], *, is_spam: bool) -> tuple[str, ...]:
    reasons = {reason for item in formulas for _, reason in item.withheld}
    noted = {
        "broken_chain": "broken_chain" in reasons,
        "hedged": not reasons.isdisjoint(("contradicted", "one_of_many")),
        "spam": is_spam,
    }
    return tuple(sorted(name for name, holds in noted.items() if holds))


def _in_words(problem: Problem, text: str, parts: Sequence[Part]) -> list[GradedFormula]:
    """Answers in words, where a node asks for one: decided by the options of its instructions."""
    nodes = [node for node in problem.nodes if node.is_text]
    if not nodes:
        return []
    questions = {part.letter: part for part in problem.subquestions}
    worded = [part for part in problem.subquestions if part.final_answer_form == "text-based"]
    found = []
    for node in nodes:
        question = questions.get(node.subquestion) or worded[0]
        for own in _texts_of(node.subquestion, text, parts):
            places = stated_answers(own)
            said = text_answer(node.latex, question.final_answer_instructions, places)
            if said.option or said.status != "undecided":
                break
        reason = {"equivalent": "same_option", "different": "other_option"}.get(said.status, "no_option")
        is_match = said.status == "equivalent"
        matches = (Match(node.index, 0, reason),) if is_match else ()
        place = places[0] if places else ""
        start = max(text.find(place), 0)
        found.append(
            GradedFormula(
                place, (start, start + len(place)), "text", said.status, reason,
                (node.index,) if is_match else (), said.detail, matches=matches,
            )
        )  # fmt: skip
    return found


def _texts_of(letter: str, text: str, parts: Sequence[Part]) -> Iterator[str]:
    """Where the answer to a part may stand: in what answers it; where that is silent, in what is common to all."""
    own = "\n\n".join(text[part.start : part.end] for part in parts if part.letter == letter)
    yield own if letter and own else text
    if letter and own:
        yield "\n\n".join(text[part.start : part.end] for part in parts if not part.letter)


def _strictly_matched(formulas: Sequence[GradedFormula]) -> set[int]:
    return {match.node for item in formulas for match in item.matches if match.stage <= STRICT_STAGE}


def _rounded(share: Fraction) -> float:
    return round(float(share), _DIGITS)


def _named_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


# Claims that stand. ---------------------------------------------------------------------------------------------


def _stands(
    prepared: PreparedProblem,
    sayings: Sequence[Saying],
    places: Mapping[Key, int],
    compared: Weighed,
) -> dict[int, dict[int, str]]:
    """Of each formula that says what nodes say, by its ordinal: node to refusal, or to an empty text if it stands."""
    setting = prepared.setting
    references = [each for each in setting.references if each.index in compared.matched]
    bearings = {
        (k, reference.index): bearings_of(setting, compared, k, reference)
        for k in range(len(compared.claims))
        for reference in references
    }
    right: dict[tuple[int, Statement], set[int]] = {}  # what nodes a statement says: it is not held against another
    for (place, index), told in bearings.items():
        for each in told:
            if each.is_same:
                right.setdefault((place, each.statement), set()).add(index)
    finals = prepared.problem.dag.finals
    numeric = [each.index for each in references if each.is_number]
    stands: dict[int, dict[int, str]] = {}
    for reference in sorted(references, key=lambda each: not each.is_number):
        said: list[tuple[int, Said]] = []
        for saying in sayings:
            k = places.get(saying.key)
            if k is None:
                continue
            for n, one in enumerate(bearings[k, reference.index]):
                says = right.get((k, one.statement), set())
                if one.is_same or all(_answers_elsewhere(saying, index, prepared) for index in says):
                    level = _level(saying.letters, prepared.letters.get(reference.index, ""))
                    said.append((level, _said(one, saying, n, reference, setting)))
        n_meant = len(prepared.kin[reference.index] - compared.matched)
        found = refusals(
            in_scope(said), is_final=reference.index in finals, is_number=reference.is_number, n_meant=n_meant
        )
        for one_said in (each for _, each in said if each.is_same):
            refusal = found.get(one_said.place[0], "other_part")
            mine = stands.setdefault(one_said.place[0], {})
            if one_said.is_number and not (refusal or reference.is_number):  # no answer, no formula of it either
                refusal = min((mine[index] for index in numeric if index in mine), default="")
            mine[reference.index] = refusal
    return stands


def _answers_elsewhere(saying: Saying, index: int, prepared: PreparedProblem) -> bool:
    """Whether a node is the answer to another part than the one that a formula stands in: here it is wrong."""
    letter = prepared.letters.get(index, "")
    return bool(letter and saying.letters) and letter not in saying.letters


def _level(said_in: Sequence[str], letter: str) -> int:
    """How near a formula stands to the answer of a part: in it, in what is common to all parts, or in another part."""
    if not letter or letter in said_in:
        return 0
    return OUT_OF_SCOPE if said_in else 1


def _said(one: Bearing, saying: Saying, n: int, reference: Reference, setting: Setting) -> Said:
    ends = saying.formula is not None and one.statement.formula.members[-1:] == saying.formula.members[-1:]
    is_excused = reference.is_number and ends and is_result(one.statement)
    return Said(
        place=(saying.order, n),
        is_same=one.is_same,
        is_apart=not (one.is_same or one.is_otherwise or one.is_open),
        is_open=one.is_open,
        is_aside=saying.located.in_passing,
        is_number=one.is_number,
        is_solved=one.is_solved,
        is_boxed=saying.located.kind == "boxed",
        is_rough=one.is_rough,
        is_broken=not is_excused and not is_unbroken(one.statement, saying.before, setting.context),
        text=str(one.statement.formula),
    )


def _graded(
    saying: Saying, places: Mapping[Key, int], compared: Weighed, stands: Mapping[int, str], cap: int
) -> GradedFormula:
    """What to say of a formula after it has met every node."""
    plain = GradedFormula(saying.located.latex, saying.located.span, saying.located.kind, "mention", "")
    if saying.formula is None:
        return replace(plain, status="unread", reason="parse_error", detail=saying.fault)
    if not saying.asserts:
        return plain
    place = places.get(saying.key)
    if place is None:
        detail = f"only the latest {cap} distinct formulas of a solution count"
        return replace(plain, status="undecided", reason="too_large", detail=detail)
    outcomes = compared.outcomes[place]
    if not outcomes:
        return replace(plain, status="undecided", reason="unsupported")
    said = {index: each.verdict for index, each in sorted(outcomes.items()) if each.verdict.status == "equivalent"}
    matches = tuple(Match(index, each.stage, each.reason, each.readings) for index, each in said.items())
    told = _telling(saying.formula, list(outcomes.values()))
    verdict = told.verdict
    return _with_refusals(
        replace(
            plain, status=verdict.status, reason=verdict.reason, nodes=tuple(each.node for each in matches),
            detail="; ".join(part for part in (*verdict.readings, verdict.detail) if part),
            nearest=told.index if verdict.status == "different" else None,
            witness=str(verdict.witness) if verdict.witness else "", matches=matches,
        ),
        [(index, refusal) for index in said if (refusal := stands.get(index, ""))],
    )  # fmt: skip


def _with_refusals(item: GradedFormula, refused: Sequence[tuple[int, str]]) -> GradedFormula:
    """The same without the nodes that it says and is refused; with none left it is withheld."""
    if not refused:
        return item
    gone = {index for index, _ in refused}
    kept = replace(
        item,
        nodes=tuple(index for index in item.nodes if index not in gone),
        matches=tuple(each for each in item.matches if each.node not in gone),
        withheld=(*item.withheld, *refused),
    )
    if kept.nodes:
        return kept
    detail = "; ".join(f"says node {index}: {REFUSALS[reason]}" for index, reason in kept.withheld)
    return replace(kept, status="withheld", reason=kept.withheld[0][1], detail=detail)


def _without_guesses(prepared: PreparedProblem, formulas: list[GradedFormula]) -> list[GradedFormula]:
    """Formulas without the nodes that can be guessed and rest on nothing that the solution has achieved."""
    matched = {index for item in formulas for index in item.nodes}
    guessed = matched - entering(prepared.problem.dag, matched, prepared.guessable)
    return [_with_refusals(item, [(k, "guessed") for k in item.nodes if k in guessed]) for item in formulas]


def _telling(claim: Formula, outcomes: list[Outcome]) -> Outcome:
    """The outcome to report: a match; else what is undecided because of this formula; else the nearest difference.

    A formula without unevaluated constructs is not undecided merely because some node has one.
    """
    own = any(OPS[node.op].opcode is None and node.op != "unit" for member in claim.members for node in walk(member))

    def rank(outcome: Outcome) -> tuple[int, int]:
        verdict = outcome.verdict
        if verdict.status == "equivalent":
            return 0, 0
        if verdict.status == "undecided" and (own or verdict.reason != "unsupported"):
            return 1, outcome.distance
        if verdict.status == "different":
            return (2 if verdict.witness else 3), outcome.distance
        return 4, outcome.distance

    return min(outcomes, key=rank)


# The score row: what `prism grade --json` prints and bulk runs write. -----------------------------------------
