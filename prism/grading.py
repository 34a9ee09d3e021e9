"""The pipeline, readable top to bottom in `grade`: extract, match, close, score.

A scoring policy is a value from `dag.POLICIES`. Nothing here raises on a solution: what cannot be read is counted
and reported, and an exception below is an incident of the grader, never a student's zero.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import prism
from prism.answers import stated_answers, text_answer
from prism.asking import asking_of
from prism.attempts import subject_of
from prism.claims import (
    Claim,
    claims_of,
    is_bare_number,
    is_committed,
    is_mention,
    match_claim,
    match_renamed,
    with_sign_flipped,
)
from prism.context import parse
from prism.dag import POLICIES, ancestor_closure, is_final_correct, score
from prism.equivalence import RANK, REASONS, Verdict
from prism.errors import LatexSyntaxError
from prism.expr import OPS, Expr, Formula, formula, symbols, symbols_of, walk
from prism.latex import LeftOut, LocatedFormula, Solution, extract, solution_text
from prism.problem import Problem, load_problem
from prism.resources import resource
from prism.stated import Asked, Known
from prism.vocabulary import Vocabulary, fresh_atoms

BASE_FORMULAS, FORMULAS_PER_NODE = 20, 10  # distinct formulas that count; a list of guesses is longer (semantics C.7)
MAX_FREE = 3  # symbols whose sign is free; every choice of them is one more grading of the solution
STRICT_STAGE = 3  # definitions; names, literals and values count as readings that a strict grader would not make
SCHEMA = 1  # of the score row

_POLICY = "closure"
_DIGITS = 6  # of a score, rounded once from the exact fraction


@dataclass(frozen=True, slots=True)
class Match:
    """A node that a formula matches, and what that took.

    Attributes:
        node: its index.
        stage: how much was put in, as an index of `attempts.STAGES`.
        reason: key of `equivalence.REASONS`.
        readings: what was used, in order, as in a `Verdict`.
    """

    node: int
    stage: int
    reason: str
    readings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GradedFormula:
    """One formula of the solution and what became of it.

    Attributes:
        latex: what was parsed.
        span: offsets in the solution.
        kind: display, inline, boxed, plain or thinking; text for an answer in words.
        status: `equivalent` to at least one node, `different`, `undecided`, `unread`, or `mention` (a lone symbol
            or number, which asserts nothing).
        reason: why, as a key of `equivalence.REASONS`; empty for a mention.
        nodes: indices of the nodes it matched, ascending.
        detail: for a person: what was read of constants, the witness, the fault of the LaTeX.
        matches: of each of these nodes, what it took.
    """

    latex: str
    span: tuple[int, int]
    kind: str
    status: str
    reason: str
    nodes: tuple[int, ...] = ()
    detail: str = ""
    matches: tuple[Match, ...] = ()


@dataclass(frozen=True, slots=True)
class Incident:
    """The grader failed, not the student."""

    code: str
    where: str
    detail: str


@dataclass(frozen=True, slots=True)
class Grade:
    """What a solution earned.

    Attributes:
        problem_id, sample_id: text; sample_id is None where nobody gave one.
        status: `ok`, `too_large`, `killed` or `internal`.
        score: share of points of the credited nodes, in [0, 1]; None unless the status is ok or too_large.
        matched, credited, missing: node indices, ascending.
        final_correct: every final answer matched itself.
        policies: the score under `strict`, `prefix` and `final`.
        score_strict: the score, had only matches up to STRICT_STAGE counted: no name and no value was put in.
        formulas: in the order of the text.
        unread, undecided: formulas that could not be read or decided; facts about the solution.
        left_out: what was not even looked at, because the solution is longer than a limit: characters before the end
            that is read, and formulas. With any of it the status is `too_large`.
        incidents: failures of the grader.
    """

    problem_id: str
    sample_id: str | None
    status: str
    score: float | None
    matched: tuple[int, ...]
    credited: tuple[int, ...]
    missing: tuple[int, ...]
    final_correct: bool
    policies: Mapping[str, float]
    formulas: tuple[GradedFormula, ...]
    unread: int
    undecided: int
    incidents: tuple[Incident, ...]
    left_out: LeftOut = field(default_factory=LeftOut)
    score_strict: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the keys are those of the attributes."""
        return {
            "problem_id": self.problem_id, "sample_id": self.sample_id, "status": self.status, "score": self.score,
            "matched": list(self.matched), "credited": list(self.credited), "missing": list(self.missing),
            "final_correct": self.final_correct, "policies": dict(self.policies),
            "score_strict": self.score_strict,
            "formulas": [
                {"latex": f.latex, "span": list(f.span), "kind": f.kind, "status": f.status, "reason": f.reason,
                 "nodes": list(f.nodes), "detail": f.detail,
                 "matches": [{"node": m.node, "stage": m.stage, "reason": m.reason, "readings": list(m.readings)}
                             for m in f.matches]}
                for f in self.formulas
            ],
            "unread": self.unread, "undecided": self.undecided,
            "left_out": {"characters": self.left_out.characters, "formulas": self.left_out.formulas},
            "incidents": [{"code": i.code, "where": i.where, "detail": i.detail} for i in self.incidents],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reference:
    """One node as claims are held against it.

    Attributes:
        index: of the node.
        formulas: its own and those that the author accepts in its place.
        asked: how its number is asked for.
    """

    index: int
    formulas: tuple[Formula, ...]
    asked: Asked


@dataclass(frozen=True, slots=True)
class PreparedProblem:
    """A problem ready to grade.

    Attributes:
        references: its nodes, in order.
        known: symbols of the problem and its reference; all others are a solution's own.
        finals: equations among the final answers, by index, with what they are solved for: a bare number in a box
            may answer them.
        worth: value and dimension of the reference's symbols, as far as they are settled.
        uses_definitions: whether symbols that a solution defines are eliminated.
    """

    problem: Problem
    references: tuple[Reference, ...]
    known: frozenset[str]
    finals: tuple[tuple[int, Expr], ...]
    worth: Known = field(default_factory=dict, hash=False)
    uses_definitions: bool = True


def prepare(problem: Problem | Path | str | Mapping[str, object]) -> PreparedProblem:
    """Load what is not loaded and gather the reference formulas; do it once for many solutions.

    Errors:
        DataFileError: a problem file with faults.
    """
    loaded = problem if isinstance(problem, Problem) else load_problem(problem)
    asking = asking_of(loaded)
    references = tuple(
        Reference(node.index, (node.formula, *node.accept), asking.nodes[node.index])
        for node in loaded.nodes
        if not node.is_text
    )
    own = frozenset[str]().union(*(symbols_of(f) for each in references for f in each.formulas))
    finals = [(node.index, subject_of(node.formula)) for node in loaded.nodes if node.is_final and not node.is_text]
    return PreparedProblem(
        loaded, references, loaded.context.declared | own,
        tuple((index, subject) for index, subject in finals if subject is not None), asking.worth,
    )  # fmt: skip


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

    Source: PRISM-Physics (arXiv 2510.03185), Algorithm 2.
    """
    prepared = problem if isinstance(problem, PreparedProblem) else prepare(problem)
    if not definitions:
        prepared = _without_definitions(prepared)
    dag = prepared.problem.dag
    incidents: list[Incident] = []
    extraction = extract(solution)
    found = [item for item in extraction if thinking or item.kind != "thinking"]
    first = {(item.latex, is_committed(item)): item for item in reversed(found)}
    latest = list({(item.latex, is_committed(item)): None for item in reversed(found)})
    cap = BASE_FORMULAS + FORMULAS_PER_NODE * len(prepared.problem.nodes)
    counted = sorted((first[key] for key in latest[:cap]), key=lambda item: item.span)
    known = {key: _not_counted(first[key], cap) for key in latest[cap:]}
    known |= {
        (item.latex, is_committed(item)): result
        for item, result in zip(counted, _grade_formulas(prepared, counted, incidents), strict=True)
    }
    formulas = [_placed(known[item.latex, is_committed(item)], item) for item in found]
    formulas += _in_words(prepared.problem, extraction.text)
    matched = {index for item in formulas for index in item.nodes}
    credited = ancestor_closure(dag, matched)
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
            name: _rounded(score(dag, policy(dag, matched))) for name, policy in POLICIES.items() if name != _POLICY
        },
        formulas=tuple(formulas),
        unread=sum(item.status == "unread" for item in formulas),
        undecided=sum(item.status == "undecided" for item in formulas),
        incidents=tuple(incidents),
        left_out=extraction.left_out,
        score_strict=_rounded(score(dag, ancestor_closure(dag, _strictly_matched(formulas)))),
    )


def _strictly_matched(formulas: list[GradedFormula]) -> set[int]:
    return {match.node for item in formulas for match in item.matches if match.stage <= STRICT_STAGE}


def _rounded(share: Fraction) -> float:
    return round(float(share), _DIGITS)


def _not_counted(located: LocatedFormula, cap: int) -> GradedFormula:
    detail = f"only the latest {cap} distinct formulas of a solution count"
    return GradedFormula(located.latex, located.span, located.kind, "undecided", "too_large", (), detail)


def _placed(item: GradedFormula, located: LocatedFormula) -> GradedFormula:
    """The same result at another place of the text."""
    return replace(item, span=located.span, kind=located.kind)


def _without_definitions(prepared: PreparedProblem) -> PreparedProblem:
    known = replace(prepared.problem, context=replace(prepared.problem.context, definitions=()))
    return replace(prepared, problem=known, uses_definitions=False)


def _in_words(problem: Problem, text: str) -> list[GradedFormula]:
    """Answers in words, where a node asks for one: decided by the options of its instructions."""
    nodes = [node for node in problem.nodes if node.is_text]
    if not nodes:
        return []
    places = stated_answers(text)
    parts = {part.letter: part for part in problem.subquestions}
    worded = [part for part in problem.subquestions if part.final_answer_form == "text-based"]
    found = []
    for node in nodes:
        part = parts.get(node.subquestion) or worded[0]
        said = text_answer(node.latex, part.final_answer_instructions, places)
        reason = {"equivalent": "same_option", "different": "other_option"}.get(said.status, "no_option")
        is_match = said.status == "equivalent"
        matches = (Match(node.index, 0, reason),) if is_match else ()
        place = places[0] if places else ""
        start = max(text.find(place), 0)
        found.append(
            GradedFormula(
                place, (start, start + len(place)), "text", said.status, reason,
                (node.index,) if is_match else (), said.detail, matches,
            )
        )  # fmt: skip
    return found


def _grade_formulas(
    prepared: PreparedProblem, located: list[LocatedFormula], incidents: list[Incident]
) -> list[GradedFormula]:
    """What became of each formula: parsed, read with the solution's own words, compared with every node."""
    context = prepared.problem.context
    results: list[GradedFormula | None] = []
    claimed: list[tuple[int, Formula, bool]] = []
    for place, item in enumerate(located):
        try:
            written = parse(item.latex, context=context)
        except LatexSyntaxError as error:
            results.append(GradedFormula(item.latex, item.span, item.kind, "unread", "parse_error", (), str(error)))
            continue
        except _FAILURES as error:
            incidents.append(Incident("internal", item.latex, f"{type(error).__name__}: {error}"))
            results.append(GradedFormula(item.latex, item.span, item.kind, "unread", "parse_error", (), str(error)))
            continue
        results.append(None)
        claimed.append((place, written, is_committed(item)))
    answers = _with_questions(prepared, [(located[place], written) for place, written, _ in claimed])
    asserted = []
    for (place, _, committed), written in zip(claimed, answers, strict=True):
        if is_mention(written):
            item = located[place]
            results[place] = GradedFormula(item.latex, item.span, item.kind, "mention", "")
        else:
            asserted.append((place, written, committed))
    best = _weighed(prepared, asserted, incidents)
    for names in _conventions(prepared):
        flipped = [(place, with_sign_flipped(written, names), committed) for place, written, committed in asserted]
        other = _weighed(prepared, flipped, incidents)
        if _matched(other) > _matched(best):  # nothing is right by the reference's sign alone
            best = _Weighed(other.claims, [_said_flipped(mine, names) for mine in other.outcomes])
    for (place, _, _), claim, mine in zip(asserted, best.claims, best.outcomes, strict=True):
        results[place] = _graded(located[place], claim.formula, mine)
    return [result for result in results if result is not None]


@dataclass(frozen=True, slots=True)
class _Weighed:
    """The claims of a solution, and what became of each against every node, by index."""

    claims: tuple[Claim, ...]
    outcomes: list[dict[int, _Outcome]]


def _weighed(
    prepared: PreparedProblem, asserted: list[tuple[int, Formula, bool]], incidents: list[Incident]
) -> _Weighed:
    """Claims with the solution's own words read, each compared with every node."""
    written = [(formula, committed) for _, formula, committed in asserted]
    claims, vocabulary = claims_of(written, prepared.known, prepared.worth, expand=prepared.uses_definitions)
    outcomes = [_outcomes(prepared, claim, incidents) for claim in claims]
    _with_names_read(prepared, claims, vocabulary, outcomes, incidents)
    return _Weighed(claims, outcomes)


def _conventions(prepared: PreparedProblem) -> Iterator[tuple[str, ...]]:
    """Which of the symbols whose sign is free a solution may count the other way, in all of its formulas."""
    symbols_said = prepared.problem.context.symbols
    free = sorted(name for name, said in symbols_said.items() if said.is_sign_free)[:MAX_FREE]
    for size in range(1, len(free) + 1):
        yield from combinations(free, size)


def _matched(weighed: _Weighed) -> set[int]:
    outcomes = (outcome for mine in weighed.outcomes for outcome in mine.values())
    return {outcome.index for outcome in outcomes if outcome.verdict.status == "equivalent"}


def _said_flipped(outcomes: dict[int, _Outcome], names: tuple[str, ...]) -> dict[int, _Outcome]:
    said = tuple(f"notation: {name} has the other sign in the whole solution" for name in names)
    return {
        index: replace(outcome, verdict=replace(outcome.verdict, readings=(*said, *outcome.verdict.readings)))
        for index, outcome in outcomes.items()
    }


def _with_questions(prepared: PreparedProblem, written: list[tuple[LocatedFormula, Formula]]) -> list[Formula]:
    """Formulas, each bare number in a box as the answer to its question: the k-th box to the k-th final answer.

    Only where there are as many boxes as answers; of more boxes than one answer has, the last one counts
    (semantics C.2).
    """
    boxes = [k for k, (located, _) in enumerate(written) if located.kind == "boxed"]
    finals = prepared.finals
    if len(finals) == 1:
        boxes = boxes[-1:]
    found = [each for _, each in written]
    if len(boxes) == len(finals):
        for k, (_, subject) in zip(boxes, finals, strict=True):
            located, each = written[k]
            if is_bare_number(located, each):
                found[k] = formula((subject, each.members[0]), ("=",), each.latex)
    return found


def _outcomes(prepared: PreparedProblem, claim: Claim, incidents: list[Incident]) -> dict[int, _Outcome]:
    """One claim against every node; the one place where a formula's failure is caught."""
    outcomes: dict[int, _Outcome] = {}
    for reference in prepared.references:
        for each in reference.formulas:
            try:
                verdict = match_claim(each, claim, prepared.problem.context, reference.asked)
            except _FAILURES as error:
                incidents.append(_incident(reference, claim, error))
                continue
            _keep(outcomes, _Outcome(reference.index, verdict, _distance(each, claim.formula)))
            if verdict.status == "equivalent":
                break
    return outcomes


def _keep(outcomes: dict[int, _Outcome], new: _Outcome) -> None:
    """The best outcome of a node that accepts several formulas."""
    old = outcomes.get(new.index)
    if old is None or RANK[new.verdict.status] < RANK[old.verdict.status]:
        outcomes[new.index] = new


_FAILURES = (Exception,)  # whatever it is, a solution does not raise: the grader has failed, and says so


def _incident(reference: Reference, claim: Claim, error: Exception) -> Incident:
    where = f"node {reference.index}, {claim.formula.latex}"
    return Incident("internal", where, f"{type(error).__name__}: {error}")


def _with_names_read(
    prepared: PreparedProblem,
    claims: tuple[Claim, ...],
    vocabulary: Vocabulary,
    outcomes: list[dict[int, _Outcome]],
    incidents: list[Incident],
) -> None:
    """Claims that match under names of the solution's own: learnt from formulas first, then read in all of them."""
    for learn in (True, False):
        if not learn and not vocabulary.names:
            return
        for claim, mine in zip(claims, outcomes, strict=True):
            if not fresh_atoms(claim.formula, vocabulary.known):
                continue
            for reference in prepared.references:
                if mine.get(reference.index) and mine[reference.index].verdict.status == "equivalent":
                    continue
                for each in reference.formulas:
                    try:
                        found = match_renamed(
                            each, claim, vocabulary, prepared.problem.context, reference.asked, learn=learn
                        )
                    except _FAILURES as error:
                        incidents.append(_incident(reference, claim, error))
                        continue
                    if found is not None:
                        vocabulary = found.vocabulary
                        _keep(mine, _Outcome(reference.index, found.verdict, 0))
                        break


def _graded(located: LocatedFormula, claim: Formula, outcomes: dict[int, _Outcome]) -> GradedFormula:
    """What to say of a formula after it has met every node."""
    if not outcomes:
        return GradedFormula(located.latex, located.span, located.kind, "undecided", "unsupported")
    matches = tuple(
        Match(index, outcome.verdict.stage, outcome.verdict.reason, outcome.verdict.readings)
        for index, outcome in sorted(outcomes.items())
        if outcome.verdict.status == "equivalent"
    )
    told = _telling(claim, list(outcomes.values()))
    status, reason = told.verdict.status, told.verdict.reason
    nodes = tuple(match.node for match in matches)
    return GradedFormula(located.latex, located.span, located.kind, status, reason, nodes, _explained(told), matches)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One formula against one node; distance is the number of symbols that only one of them has."""

    index: int
    verdict: Verdict
    distance: int


def _distance(reference: Formula, claim: Formula) -> int:
    return len(symbols(*reference.members) ^ symbols(*claim.members))


def _telling(claim: Formula, outcomes: list[_Outcome]) -> _Outcome:
    """The outcome to report: a match; else what is undecided because of this formula; else the nearest difference.

    A formula without unevaluated constructs is not undecided merely because some node has one.
    """
    own = any(OPS[node.op].opcode is None and node.op != "unit" for member in claim.members for node in walk(member))

    def rank(outcome: _Outcome) -> tuple[int, int]:
        verdict = outcome.verdict
        if verdict.status == "equivalent":
            return 0, 0
        if verdict.status == "undecided" and (own or verdict.reason != "unsupported"):
            return 1, outcome.distance
        if verdict.status == "different":
            return (2 if verdict.witness else 3), outcome.distance
        return 4, outcome.distance

    return min(outcomes, key=rank)


def _explained(outcome: _Outcome) -> str:
    verdict = outcome.verdict
    parts = [*verdict.readings, verdict.detail]
    if verdict.witness:
        parts.append(f"nearest is node {outcome.index}: {verdict.witness}")
    elif verdict.status != "equivalent":
        parts.append(REASONS[verdict.reason])
    return "; ".join(part for part in parts if part)


# The score row: what `prism grade --json` prints and bulk runs write. -----------------------------------------


@cache
def fingerprint(policy: str = _POLICY) -> str:
    """sha256 over what can change a grade and is PRISM's own: version, grammar, constants, policy."""
    digest = hashlib.sha256(f"{prism.__version__}\0{policy}\0".encode())
    for folder, endings in (("grammar", (".lark",)), ("constants", (".toml",))):
        for path in sorted(resource(folder).iterdir()):
            if path.suffix in endings:
                digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def score_row(problem: Problem, solution: Solution, result: Grade) -> dict[str, Any]:
    """One line of a result file: the grade, and what it was computed from."""
    return {
        **result.to_dict(),
        "schema": SCHEMA,
        "grader": {"version": prism.__version__, "fingerprint": fingerprint()},
        "problem_sha256": problem.sha256,
        "solution_sha256": hashlib.sha256(solution_text(solution).text.encode()).hexdigest(),
    }
