"""The pipeline, readable top to bottom in `grade`: extract, compare, commit, close, score.

A scoring policy is a value from `dag.POLICIES`. Nothing here raises on a solution: what cannot be read is counted
and reported, and an exception below is an incident of the grader, never a student's zero.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import prism
from prism.answers import stated_answers, text_answer
from prism.asking import asking_of
from prism.attempts import subject_of
from prism.chains import is_result, is_unbroken
from prism.commitment import OUT_OF_SCOPE, REFUSALS, Said, entering, in_scope, is_guessable, refusals
from prism.dag import POLICIES, ReferenceDag, ancestor_closure, is_final_correct, policies_with, score
from prism.equivalence import REASONS
from prism.expr import OPS, Formula, symbols_of, walk
from prism.latex import LeftOut, Solution, extract, solution_text
from prism.outcomes import (
    Bearing,
    Outcome,
    Reference,
    Setting,
    Weighed,
    bearings_of,
    kin_of,
    weighed,
    with_shared_subjects,
)
from prism.parts import Part, parts_of
from prism.problem import Problem, load_problem
from prism.resources import resource
from prism.sayings import Key, Question, Saying, distinct, latest, sayings_of
from prism.stated import numeric_of
from prism.statements import Statement
from prism.unearned import given_nodes

BASE_FORMULAS, FORMULAS_PER_NODE = 20, 10  # distinct formulas that count; a list of guesses is longer (semantics C.7)
STRICT_STAGE = 3  # definitions; names, literals and values count as readings that a strict grader would not make
SCHEMA = 3  # of the score row

FLAGS = {
    "broken_chain": "a chain that says what a node says has a refuted link",
    "hedged": "the solution says of a node also something else, and does not stand by what is right",
    "spam": "more distinct formulas than count",
}
"""What a grade may note about a solution besides its score, in words. Closed; none of them is an incident."""

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
        status: `equivalent` to at least one node, `withheld` (equivalent to one, but no claim that stands),
            `different`, `undecided`, `unread`, or `mention` (a lone symbol or number, which asserts nothing).
        reason: why, as a key of `equivalence.REASONS`, or of `commitment.REFUSALS` where it is withheld; empty for a
            mention.
        nodes: indices of the nodes it matched, ascending.
        detail: for a person: what was read of constants, the fault of the LaTeX.
        nearest: the node that it comes nearest to, where it was seen to differ from each; else None.
        witness: where it differs from that node; empty where that is not known.
        matches: of each of these nodes, what it took.
        withheld: nodes that it says too, and does not match: index and key of `commitment.REFUSALS`.
    """

    latex: str
    span: tuple[int, int]
    kind: str
    status: str
    reason: str
    nodes: tuple[int, ...] = ()
    detail: str = ""
    nearest: int | None = None
    witness: str = ""
    matches: tuple[Match, ...] = ()
    withheld: tuple[tuple[int, str], ...] = ()


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
        policies: the score under `strict`, `prefix` and `final`; and `training`, if the problem was prepared for it.
        score_strict: the score, had only matches up to STRICT_STAGE counted: no name and no value was put in.
        share_by_closure: of the points earned, those of nodes that no formula matches; 0 where there are none.
        flags: keys of FLAGS, sorted.
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
    share_by_closure: float = 0.0
    flags: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the keys are those of the attributes."""
        return {
            "problem_id": self.problem_id, "sample_id": self.sample_id, "status": self.status, "score": self.score,
            "matched": list(self.matched), "credited": list(self.credited), "missing": list(self.missing),
            "final_correct": self.final_correct, "policies": dict(self.policies),
            "score_strict": self.score_strict, "share_by_closure": self.share_by_closure, "flags": list(self.flags),
            "formulas": [
                {"latex": f.latex, "span": list(f.span), "kind": f.kind, "status": f.status, "reason": f.reason,
                 "nodes": list(f.nodes), "detail": f.detail, "nearest": f.nearest, "witness": f.witness,
                 "matches": [{"node": m.node, "stage": m.stage, "reason": m.reason, "readings": list(m.readings)}
                             for m in f.matches],
                 "withheld": [{"node": node, "reason": reason} for node, reason in f.withheld]}
                for f in self.formulas
            ],
            "unread": self.unread, "undecided": self.undecided,
            "left_out": {"characters": self.left_out.characters, "formulas": self.left_out.formulas},
            "incidents": [{"code": i.code, "where": i.where, "detail": i.detail} for i in self.incidents],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class PreparedProblem:
    """A problem ready to grade.

    Attributes:
        setting: its nodes, and what claims are compared with them by.
        questions: final answers that a box without a subject may give.
        letters: of each final answer its part, if it has one. Another node is no answer: it may be said anywhere.
        guessable: nodes that count only where something that they follow from is achieved.
        kin: of each node those that say something else of the same.
        given: nodes that repeat what the problem says; None where the policy for training is not asked for.
    """

    problem: Problem
    setting: Setting
    questions: tuple[Question, ...]
    letters: Mapping[int, str]
    guessable: frozenset[int]
    kin: Mapping[int, frozenset[int]] = field(default_factory=dict, hash=False)
    given: frozenset[int] | None = None


def prepare(problem: Problem | Path | str | Mapping[str, object], *, training: bool = False) -> PreparedProblem:
    """Load what is not loaded and gather the reference formulas; do it once for many solutions.

    Args:
        training: find the nodes that repeat the problem, so that grades have the policy `training` too, which gives
            nothing for a copy of what was given. It takes about as long as a grade.

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
    finals = [
        (node.subquestion, subject_of(node.formula), _has_unit(node.formula))
        for node in loaded.nodes
        if node.is_final and not node.is_text
    ]
    references = with_shared_subjects(references, loaded.context)
    setting = Setting(references, loaded.context, loaded.context.declared | own, asking.worth)
    return PreparedProblem(
        loaded,
        setting,
        tuple(Question(letter, subject, has_unit) for letter, subject, has_unit in finals if subject is not None),
        {node.index: node.subquestion for node in loaded.nodes if node.is_final and node.subquestion},
        frozenset(node.index for node in loaded.nodes if is_guessable(node)),
        kin_of(setting),
        frozenset(given.index for given in given_nodes(loaded, asking)) if training else None,
    )


def _has_unit(f: Formula) -> bool:
    numeric = numeric_of(f)
    return numeric is not None and numeric.number.unit is not None


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
        prepared = _without_definitions(prepared)
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
            name: _rounded(score(dag, policy(dag, matched))) for name, policy in policies.items() if name != _POLICY
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


def _without_definitions(prepared: PreparedProblem) -> PreparedProblem:
    setting = replace(
        prepared.setting, context=replace(prepared.setting.context, definitions=()), uses_definitions=False
    )
    return replace(prepared, setting=setting)


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


def why(item: GradedFormula) -> str:
    """In words, what a formula took or where it differs: at least the sentence of its reason; empty for a mention."""
    where = f"nearest is node {item.nearest}: {item.witness}" if item.witness else ""
    told = "; ".join(part for part in (item.detail, where) if part)
    return told or REASONS.get(item.reason, item.reason)


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
        "solution_sha256": hashlib.sha256(solution_text(solution).text.encode("utf-8", "surrogatepass")).hexdigest(),
    }


def json_line(data: object) -> bytes:
    r"""Data as one line of JSON in UTF-8, keys sorted: the same bytes on every machine.

    Half a surrogate pair, which JSON may hold and UTF-8 may not, stays the escape that it is in JSON.

    >>> json_line({"b": 1, "a": "α \ud800"})
    b'{"a": "\xce\xb1 \\ud800", "b": 1}'
    """
    return json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")
