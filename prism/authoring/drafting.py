r"""Draft a reference DAG from a worked solution, by rule and for a person to correct.

Nodes are what the solution claims in its displays and boxes (in its text where it has neither): of a chain
`a = b = c` each member that says something new about a, and computed numbers but no intermediate sums. In its text
these are formulas that say how a quantity comes about, numbers that are worked out (`q = 2 \cdot 3 = 6`), and the
number that the solution ends with: it is the answer, and the law before it is not. Two formulas that are equivalent to
the engine become one node. Edges come from `dependencies`; final answers are the boxes, else what is announced as the
answer, else the last formula of each part, or of a part what the author says its answer is.

A draft is graded before it is returned: a node that the linter faults, that the problem itself states or that the
solution does not match is left out, with the reason. So every draft loads, has no fault, and gives its own solution all
points; what it cannot be is right about physics. Refused: guessing at formulas that are written in words.

Each step has operations of its own. One that they do not suffice for is cut, and a remark says so; the draft is then
one without what the step would have found.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from prism.algebra.expr import Formula, formula, symbol
from prism.authoring.candidates import (
    answer_index,
    find_faulty_nodes,
    has_values_put_in,
    is_same_node,
    is_stated_by,
    is_step,
    is_value_in_letters,
    is_worked_out,
    node_candidate,
    read_answer,
    read_italic_units,
    split_statement,
    statement_context,
)
from prism.authoring.dependencies import QUESTIONS, RULES, Dependencies, infer_dependencies
from prism.authoring.drafts import Draft, DraftEdge, DraftNode, OmittedFormula
from prism.authoring.marking_schemes import CONDITION
from prism.authoring.plain_answers import plain_names, quantities_of, tagged_answer
from prism.budget import ANSWERS, CHARACTER, DRAFT, GIVEN, MERGING, ORIGINS, READING, SOLUTION, Account, share
from prism.equivalence.facts import numeric_of, subject_of
from prism.equivalence.numbers.stated import stated_number
from prism.errors import LatexSyntaxError, PrismError
from prism.grading.located_claims import LocatedClaim, locate_claims
from prism.grading.parts.division import Part, divide_into_parts
from prism.grading.pipeline import grade
from prism.grading.selection import WITHHELD_REASONS
from prism.latex import Extraction, LeftOut, Solution, extract, one_line
from prism.physics.context import Context, describe_syntax_error
from prism.physics.quantities import read_quantity
from prism.problem.given_nodes import find_given_nodes
from prism.problem.schema import Problem

MAX_NODES = 30  # a longer reference is not read; the formulas nearest before the answers stay
LETTERS = "abcdefgh"  # parts that a problem may mark
ANSWER = "ans"  # symbol of an answer without a name
_IN_TEXT = "a value in the text; box or display it if it is an answer"
_NAMED = "it is the answer that was named"
_IN_A_BOX = "in a box"
_CLAUSE = 200  # characters before a number that say what it is
_PUT_IN = re.compile(  # `using G = ..., R = 6.4 km`: values that are put in, and not what comes out
    r"\b(?:using|where|with|taking)\b(?!.*\b(?:gives?|get|find|found|have|obtain|yields?|becomes|so|thus|hence|then)\b)"
    r"[^.;]*(?:\.\d[^.;]*)*$", re.IGNORECASE | re.DOTALL,
)  # fmt: skip
_ANNOUNCED = "announced as the answer"
_DISPLAYED, _IN_SENTENCE = "displayed", "in the text"
_ANSWER_IN_BOX, _IS_ANNOUNCED = "the answer stands in a box", f"it is {_ANNOUNCED}"
_LAST_OF_PARTS = "nothing is boxed, so the last formula of its part, and of all, is an answer"
_LAST = "it is the last formula"
NODE_REASONS = (
    _NAMED, _IN_A_BOX, _ANNOUNCED, _DISPLAYED, _IN_SENTENCE, _ANSWER_IN_BOX, _IS_ANNOUNCED, _LAST_OF_PARTS, _LAST,
)  # fmt: skip
"""Why a formula is a node, and why it is an answer; a node has one of them or several."""

DRAFTED, DRAFTED_AND_CHECKED = (
    "by rule from a worked solution; not checked by a person",
    "by rule from a worked solution",
)
"""What the metadata of a drafted file say of it, before and after a person has certified it."""
_CUT = "the operations of a draft did not suffice"
_CUT_READING = f"{_CUT} to look at all formulas: the last ones are missing"
_CUT_MERGING = f"{_CUT} to compare all formulas with each other: look for two nodes that say the same"
_CUT_ANSWERS = f"{_CUT} to look for all answers that were named"
_CUT_ORIGINS = f"{_CUT} to test what each formula follows from: look at the edges"
_CUT_CHECKS = f"{_CUT} to check all nodes: some may be faulty, stated by the problem or not in the solution"


def draft(solution: Solution, *, problem: str = "", answers: Sequence[str] = (), name: str = "draft") -> Draft:
    """Draft a problem file from a worked solution.

    Args:
        solution: the text of a worked solution, with LaTeX; or messages, or steps, as `grade` takes them.
        problem: its problem statement.
        answers: the final answers in LaTeX, if known, each instead of those of its part, or of all where no parts are
            marked; by default the boxes, or the last formula of each part.
        name: the id of the problem.

    Errors:
        PrismError: no formula of the solution can be a node; an answer cannot be read.
    """
    extraction = extract(solution)
    if names := plain_names(extraction.text, problem):
        extraction = extract(solution, symbols=names)
    with share(math.inf) as account:  # each step has a limit of its own
        account.allow(DRAFT + CHARACTER * (len(extraction.text) + len(problem)))
        made = _draft_extracted(extraction, problem, answers, name, account)
    return made  # noqa: RET504 - a share may end its block


def _draft_extracted(
    extraction: Extraction, problem: str, answers: Sequence[str], name: str, account: Account
) -> Draft:
    """Draft a problem file from the formulas of a solution; arguments as of `draft`, `account` that of the draft."""
    parts = _marked_parts(problem, extraction.text)
    drafting = _Drafting(name, problem, statement_context(problem), parts, account)
    found = [item for item in extraction if item.kind != "thinking"]
    divided = divide_into_parts(extraction.text, [part.letter for part in parts])
    claims = _read_units(locate_claims(found, extraction.text, divided, (), drafting.context), drafting.context)
    found_here: list[_Candidate] = []
    with share(drafting.left(READING)) as reading:
        found_here += _collect_candidates(claims, drafting, named=_readable(answers))
        if not found_here:  # a solution in sentences: take what they state
            drafting.left_out.clear()
            found_here += _collect_candidates(claims, drafting, in_sentences=True)
        found_here = _with_bare_boxes_joined(found_here)
        found_here = _with_last_numbers(found_here, claims, extraction.text, drafting.context)
    drafting.remark_if(reading.is_exhausted, _CUT_READING)
    candidates = _merge_duplicates(found_here, drafting)
    _skip_values_in_text(claims, candidates, drafting)
    named = [answer for answer in answers if answer.strip()]
    steps = _limit_nodes(_mark_finals(candidates, named, drafting), drafting)
    return _drop_rejected(steps, extraction.text, drafting)


def _read_units(claims: Sequence[LocatedClaim], context: Context) -> list[LocatedClaim]:
    """Return the claims with letters after a number (`5 m`) read as units, unless they are symbols elsewhere."""
    readable = [claim.formula for claim in claims if claim.formula is not None]
    read = iter(read_italic_units(readable, context))
    return [claim if claim.formula is None else replace(claim, formula=next(read)) for claim in claims]


@dataclass(slots=True)
class _Drafting:
    """What the steps of a draft share.

    Attributes:
        name, problem, context, parts: of the problem: its id, statement, context and marked parts, before it has nodes.
        account: of the draft, whose allowance they may spend.
        remarks: what a person should know of the draft.
        left_out: formulas that become no node, each with its position in the text.
    """

    name: str
    problem: str
    context: Context
    parts: tuple[Part, ...]
    account: Account
    remarks: list[str] = field(default_factory=list)
    left_out: list[tuple[int, OmittedFormula]] = field(default_factory=list)

    def left(self, operations: float) -> float:
        """Return so many operations, or what is left of the allowance."""
        return max(min(operations, self.account.allowance - self.account.spent), 0)

    def skip(self, order: int, latex: str, why: str) -> None:
        """Leave a formula out."""
        self.left_out.append((order, OmittedFormula(latex, why)))

    def remark_if(self, is_cut: bool, remark: str) -> None:
        """Add a remark that a step was cut, once."""
        if is_cut and remark not in self.remarks:
            self.remarks.append(remark)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A formula of the solution that may become a node, with its position and the reasons for it.

    Attributes:
        formula, latex: the formula, parsed and as text.
        order: position in the text, last: position of its last repetition.
        is_boxed: a box gives it as an answer.
        letter: of the part that it stands in; else empty.
        why: why it is a node, in words.
        is_final: it is a final answer.
    """

    formula: Formula
    latex: str
    order: int
    last: int
    is_boxed: bool
    letter: str
    why: tuple[str, ...]
    is_final: bool = False


def question_parts(problem: str) -> tuple[Part, ...]:
    """Return the parts (a), (b) ... that a problem statement marks, at least two and at most eight; else none."""
    asked: tuple[Part, ...] = ()
    for n in range(2, len(LETTERS) + 1):
        parts = tuple(part for part in divide_into_parts(problem, LETTERS[:n]) if part.letter)
        distinct = {part.start for part in parts}  # a letter that is not marked stands where the one before it does
        if [part.letter for part in parts] == list(LETTERS[:n]) and len(distinct) == n:
            asked = parts
    return asked


def statement_and_parts(problem: str, parts: Sequence[Part]) -> tuple[str, list[dict[str, str]]]:
    """Return the text before the parts of a problem statement, and the table of each part without its mark."""
    tables = [{"letter": each.letter, "subproblem": _without_mark(problem[each.start : each.end])} for each in parts]
    return problem[: parts[0].start].rstrip(), tables


def _marked_parts(problem: str, text: str) -> tuple[Part, ...]:
    """Return the parts (a), (b) ... of the problem statement; empty unless the solution marks at least two of them."""
    asked = question_parts(problem)
    answered = {part.letter for part in divide_into_parts(text, [part.letter for part in asked]) if part.letter}
    return asked if len(answered) > 1 else ()


# Candidates. ----------------------------------------------------------------------------------------------------


def _collect_candidates(
    claims: Sequence[LocatedClaim], drafting: _Drafting, *, named: Sequence[Formula] = (), in_sentences: bool = False
) -> Iterator[_Candidate]:
    """Yield the candidates that displays and boxes state, chains split into equations; others are left out.

    A value in a sentence is one where it is an answer that was named.
    """
    for claim in claims:
        is_boxed = claim.located.kind == "boxed"
        is_set_off = is_boxed or claim.located.kind == "display"
        if not (is_set_off or in_sentences) and (
            claim.formula is None or not (_is_step_in_text(claim) or _states_one_of(claim.formula, named))
        ):
            continue
        if claim.formula is None:
            drafting.skip(claim.order, claim.located.latex, f"not read: {one_line(claim.fault)}")
            continue
        if claim.located.in_passing and not in_sentences:
            drafting.skip(claim.order, claim.located.latex, "said in passing")
            continue
        pieces = list(split_statement(claim.formula))
        for stated in pieces:
            if isinstance(stated, str):
                drafting.skip(claim.order, claim.located.latex, stated)
                continue
            said = _name_answer(stated) if is_boxed else stated
            picked = node_candidate(said, claim.located.latex, drafting.context, is_whole=said is claim.formula)
            if picked.why_not:
                drafting.skip(claim.order, picked.latex, picked.why_not)
                continue
            is_end = claim.formula.kind != "chain" or stated is pieces[-1]  # of a chain in a box its end is the answer
            yield _candidate_of(claim, said, picked.latex, is_boxed=is_boxed and is_end)


def _candidate_of(claim: LocatedClaim, said: Formula, latex: str, *, is_boxed: bool, why: str = "") -> _Candidate:
    """Return the candidate that a claim states, with where it stands as the reason, and `why` if there is more."""
    how = {"boxed": _IN_A_BOX, "display": _DISPLAYED}.get(claim.located.kind, _IN_SENTENCE)
    letter = claim.letters[0] if len(claim.letters) == 1 else ""
    return _Candidate(said, latex, claim.order, claim.order, is_boxed, letter, (how, *([why] if why else [])))


def _is_step_in_text(claim: LocatedClaim) -> bool:
    """Return True for a formula in a sentence that is a step: it has operations on symbols, or works out a number."""
    f = claim.formula
    return f is not None and ((is_step(f) and not is_value_in_letters(f)) or is_worked_out(f))


def _readable(answers: Sequence[str]) -> list[Formula]:
    """Return the named answers that can be read; the others are told where they are looked for."""
    found = []
    for answer in answers:
        with suppress(LatexSyntaxError):
            found.append(read_answer(answer, Context()))
    return found


def _states_one_of(f: Formula, named: Sequence[Formula]) -> bool:
    """Return True for a formula that comes out at a number which is one of the named answers."""
    return any(
        isinstance(piece, Formula)
        and piece.kind == "equation"
        and stated_number(piece.members[1]) is not None
        and any(is_stated_by(piece, answer) for answer in named)
        for piece in (split_statement(f) if named else ())
    )


def _with_last_numbers(
    found: Sequence[_Candidate], claims: Sequence[LocatedClaim], text: str, context: Context
) -> list[_Candidate]:
    """Return the candidates with the numbers that the solution, or a part of it, ends with, and what it announces.

    `so p = 8.7 kPa`, in the text behind the last formula of its part, is the answer; the law before it is not. Not so
    where boxes say what the answers are, or the last formula is a number itself.
    """
    added = list(found)
    if any(each.is_boxed for each in found):
        return added
    stated = _announced(added, claims, text, context)
    if stated:
        return stated
    letters = {each.letter for each in found}
    for letter in sorted(letters):
        end = max(each.order for each in found if each.letter == letter)
        if any(numeric_of(each.formula) is not None for each in found if each.order == end):
            continue
        behind = [claim for claim in claims if claim.order > end and letter in (*claim.letters, "")]
        last = next((claim for claim in reversed(behind) if _ends_in_number(claim, text)), None)
        if last is None or last.formula is None:
            continue
        picked = node_candidate(last.formula, last.located.latex, context, is_whole=True)
        if not picked.why_not:
            added.append(_candidate_of(last, last.formula, picked.latex, is_boxed=False, why="the number at its end"))
    return sorted(added, key=lambda each: each.order)


def _ends_in_number(claim: LocatedClaim, text: str) -> bool:
    """Return True for a claim in a sentence that states the number of a quantity, and is no condition of another."""
    if claim.formula is None or claim.located.in_passing or numeric_of(claim.formula) is None:
        return False
    before = text[: claim.located.span[0]][-_CLAUSE:]
    return not (CONDITION.search(before) or _PUT_IN.search(before))


def _announced(
    found: Sequence[_Candidate], claims: Sequence[LocatedClaim], text: str, context: Context
) -> list[_Candidate]:
    """Return the candidates with those marked that the solution announces as its answers; empty if it announces none.

    `**Answer:** 720 W` marks the formula before it that states this number; one that nothing states is a new one.
    """
    marked = list(found)
    is_any = False
    for claim in claims:
        if not claim.located.is_announced or claim.formula is None:
            continue
        said = claim.formula
        at = next((k for k in range(len(marked) - 1, -1, -1) if is_stated_by(marked[k].formula, said)), None)
        if at is not None:
            marked[at] = replace(marked[at], is_boxed=True, last=max(marked[at].last, claim.order))
        else:
            named = _name_answer(said)
            picked = node_candidate(named, claim.located.latex, context, is_whole=named is said)
            if picked.why_not:
                continue
            marked.append(_candidate_of(claim, named, picked.latex, is_boxed=True, why=_ANNOUNCED))
        is_any = True
    if is_any:
        return sorted(marked, key=lambda each: each.order)
    return _announced_in_words(marked, text, context)


def _announced_in_words(found: Sequence[_Candidate], text: str, context: Context) -> list[_Candidate]:
    """Return the candidates with those marked whose numbers the answer line names; empty if it names none of them."""
    formulas = [each.formula for each in found]
    end = max((each.last for each in found), default=0)
    places = {
        at for quantity in quantities_of(tagged_answer(text) or "")
        if (at := answer_index(quantity, formulas, context)) is not None
    }  # fmt: skip
    return (
        [
            replace(each, is_boxed=True, last=end + 1 if k == max(places) else each.last) if k in places else each
            for k, each in enumerate(found)
        ]
        if places
        else []
    )


def _with_bare_boxes_joined(found: Sequence[_Candidate]) -> list[_Candidate]:
    r"""Return the candidates without boxes of a bare value that an earlier formula of its part states: it is final.

    After `E = 25\,\mathrm{J}` the box `\boxed{25\,\mathrm{J}}` adds nothing but that E is the answer.
    """
    kept: list[_Candidate] = []
    for each in found:
        bare = each.formula.members[1] if each.is_boxed and _is_nameless(each.formula) else None
        said = None if bare is None else replace(each.formula, kind="expression", members=(bare,), relations=())
        at = None if said is None else next(
            (k for k in range(len(kept) - 1, -1, -1)
             if kept[k].letter in (each.letter, "") and is_stated_by(kept[k].formula, said)), None,
        )  # fmt: skip
        if at is None:
            kept.append(each)
        else:
            kept[at] = replace(kept[at], is_boxed=True, last=each.last, why=(*kept[at].why, *each.why))
    return kept


def _is_nameless(f: Formula) -> bool:
    """Return True for `ans = x`, an answer without a name."""
    return f.kind == "equation" and f.members[0] == symbol(ANSWER)


def _skip_values_in_text(claims: Sequence[LocatedClaim], candidates: Sequence[_Candidate], drafting: _Drafting) -> None:
    """Leave out the numbers that a solution states in a sentence, `$v = 3$ m/s`, beside formulas that are set off.

    They are no nodes, since most repeat what is given or used; an answer may be among them, so they are told. Numbers
    of what the problem gives, and those that a candidate or another one states, are not.
    """
    told = {numeric_of(each.formula) for each in candidates}
    skipped = {order for order, _ in drafting.left_out}
    for claim in claims:
        numeric = None if claim.formula is None else numeric_of(claim.formula)
        if numeric is None or numeric in told or claim.order in skipped or claim.located.in_passing:
            continue
        told.add(numeric)
        if numeric.subject.name not in drafting.context.givens:
            drafting.skip(claim.order, one_line(claim.located.latex), _IN_TEXT)


def _name_answer(f: Formula) -> Formula:
    """Return `ans = x` for a bare boxed expression `x`; any other formula as it is."""
    if f.kind != "expression" or f.members[0].op in ("sym", "list"):
        return f
    return formula((symbol(ANSWER), f.members[0]), ("=",), f.latex, f.depends)


# One node for what is one formula. -------------------------------------------------------------------------------


def _merge_duplicates(found: Sequence[_Candidate], drafting: _Drafting) -> list[_Candidate]:
    """Return the candidates with equivalent ones merged into one; the formulas dropped are left out.

    The position is that of the first, since formulas after it may depend on it; the form is one solved for a symbol.
    """
    kept: list[_Candidate] = []
    dear: Counter[Formula] = Counter()
    n_compared = 0
    with share(drafting.left(MERGING)) as merging:
        for each in found:
            context = drafting.context
            if has_values_put_in(each.formula):
                context = _with_numbers(kept, context)
            same = (_is_same_candidate(other, each, context, dear) for other in kept)
            at = next((k for k, is_same in enumerate(same) if is_same), None)
            if at is None:
                kept.append(each)
            else:
                kept[at] = _merged(kept[at], each, drafting)
            n_compared += 1
    drafting.remark_if(merging.is_exhausted or bool(dear), _CUT_MERGING)
    return [*kept, *found[n_compared:]]


def _with_numbers(stated: Sequence[_Candidate], context: Context) -> Context:
    r"""Return the context with the numbers that candidates state, as values that a later formula may have put in.

    A number that no given value can be written as, such as `4\pi\cdot 10^{-7}\unit{H/m}`, is not among them.
    """
    found = {}
    for each in stated:
        number = numeric_of(each.formula)
        if number is not None and number.subject.op == "sym":
            text = each.latex.partition("=")[2].strip()
            with suppress(PrismError):
                read_quantity(text)
                found[number.subject.name] = text
    return replace(context, givens={**found, **context.givens})


def _merged(first: _Candidate, again: _Candidate, drafting: _Drafting) -> _Candidate:
    """Return one candidate for two that are the same; the dropped one, if it is written otherwise, is left out."""
    is_put_in = has_values_put_in(first.formula), has_values_put_in(again.formula)
    better = again if not _is_solved(first.formula) and _is_solved(again.formula) else first
    if is_put_in[0] != is_put_in[1]:
        better = again if is_put_in[0] else first
    gone = first if better is again else again
    if gone.latex != better.latex:  # a repetition letter by letter is nothing to look at
        drafting.skip(gone.order, gone.latex, f"the same as {better.latex}")
    return replace(
        better, order=first.order, last=again.last, is_boxed=first.is_boxed or again.is_boxed,
        letter=again.letter if again.is_boxed else first.letter, why=tuple(dict.fromkeys(first.why + again.why)),
    )  # fmt: skip


def _is_solved(f: Formula) -> bool:
    """Return True if a formula states a number or has a symbol alone on one side."""
    return numeric_of(f) is not None or subject_of(f) is not None


def _is_same_candidate(a: _Candidate, b: _Candidate, context: Context, dear: Counter[Formula]) -> bool:
    """Return True if two candidates make one node; equal numbers of different parts do not."""
    apart = a.letter != b.letter and a.letter and b.letter and numeric_of(a.formula) is not None
    return not apart and is_same_node(a.formula, b.formula, context, dear)


# Answers. ---------------------------------------------------------------------------------------------------------


def _mark_finals(found: list[_Candidate], answers: Sequence[str], drafting: _Drafting) -> list[_Candidate]:
    """Return the candidates up to the last answer, with the final answers marked; the rest is left out.

    A named answer stands for all others of its part, and for all without a part; other parts keep theirs.

    Errors:
        PrismError: there are no candidates; an answer cannot be read.
    """
    if not found:
        raise PrismError(
            "; ".join(("no formula of the solution can be a node", *drafting.remarks, _reasons_text(drafting)))
        )
    named: set[int] = set()
    with share(drafting.left(ANSWERS)) as looking:
        _find_answers(found, answers, drafting, named)
    drafting.remark_if(looking.is_exhausted, _CUT_ANSWERS)
    why = _usual_answers(found)
    letters = {found[k].letter for k in named}
    replaced = [k for k in why if named and (not found[k].letter or found[k].letter in letters)]
    why = {k: said for k, said in why.items() if k not in replaced} | dict.fromkeys(named, _NAMED)
    if gone := [one_line(found[k].latex) for k in replaced if found[k].is_boxed and k not in named]:
        told = f"in a box, and no answer beside what was named: {'; '.join(gone)}; name it too if it is one"
        drafting.remarks.append(told)
    marked = [
        replace(each, is_final=True, why=(*each.why, why[k])) if k in why else each for k, each in enumerate(found)
    ]
    end = max((each for each in marked if each.is_final), key=lambda each: each.last)
    marked = sorted((replace(each, order=each.last) if each is end else each for each in marked), key=lambda e: e.order)
    at = max(k for k, each in enumerate(marked) if each.is_final)
    for each in marked[at + 1 :]:
        drafting.skip(each.order, each.latex, "it stands below the last answer")
    return marked[: at + 1]


def _usual_answers(found: Sequence[_Candidate]) -> dict[int, str]:
    """Map the indices of the candidates that are answers where none is named to the reason: boxes, else last ones."""
    boxed = [k for k, each in enumerate(found) if each.is_boxed]
    if boxed:
        return {k: _ANSWER_IN_BOX if _IN_A_BOX in found[k].why else _IS_ANNOUNCED for k in boxed}
    last = {each.letter: k for k, each in enumerate(found)}
    places = {k for letter, k in last.items() if letter} | {len(found) - 1}
    return dict.fromkeys(sorted(places), _LAST_OF_PARTS)


def _find_answers(found: list[_Candidate], answers: Sequence[str], drafting: _Drafting, places: set[int]) -> None:
    """Add to `places` the indices of the candidates that state the given answers; one not stated adds a remark.

    Errors:
        PrismError: answers that cannot be read.
    """
    formulas = [each.formula for each in found]
    unread: list[str] = []
    for answer in answers:
        try:
            at = answer_index(answer, formulas, drafting.context)
        except LatexSyntaxError as error:
            unread.append(f"the answer {one_line(answer)} cannot be read: {one_line(describe_syntax_error(error))}")
            continue
        if at is not None:
            places.add(at)
        else:
            drafting.remarks.append(f"no formula of the solution is seen to state the answer {one_line(answer)}")
    if unread:
        raise PrismError("; ".join(unread))


def _limit_nodes(found: list[_Candidate], drafting: _Drafting) -> list[_Candidate]:
    """Return at most `MAX_NODES` candidates: all final answers, and of the others the last in the text."""
    finals = [each for each in found if each.is_final]
    n_free = max(MAX_NODES - len(finals), 0)
    others = [each for each in found if not each.is_final]
    dropped = others[: max(len(others) - n_free, 0)]
    for each in dropped:
        drafting.skip(each.order, each.latex, f"more than {MAX_NODES} nodes")
    return [each for each in found if each not in dropped]


# The checks. ------------------------------------------------------------------------------------------------------


def _drop_rejected(steps: list[_Candidate], text: str, drafting: _Drafting) -> Draft:
    """Build the draft; leave out the nodes that loader, linter or grader reject, and repeat until none is rejected.

    Errors:
        PrismError: no node is left.
    """
    while True:
        finals = {k for k, each in enumerate(steps) if each.is_final}
        derived = infer_dependencies(
            [each.formula for each in steps], finals, drafting.context, operations=drafting.left(ORIGINS)
        )
        data = _problem_data(steps, derived, drafting)
        refused = _rejected_nodes(data, text, drafting)
        if not refused:
            break
        for k, why in sorted(refused.items()):
            drafting.skip(steps[k].order, steps[k].latex, why)
        steps = _without_refused(steps, refused, drafting.remarks)
        if not steps:
            raise PrismError("no formula of the solution can be a node; " + _reasons_text(drafting))
    drafting.remark_if(derived.is_cut, _CUT_ORIGINS)
    gone = tuple(each for _, each in sorted(drafting.left_out, key=lambda each: each[0]))
    nodes = _draft_nodes(steps, derived)
    notes = {"left_out": [{"formula": each.latex, "why": each.why} for each in gone], "remarks": list(drafting.remarks)}
    data["metadata"] = {"drafted": DRAFTED, **{key: value for key, value in notes.items() if value}}
    return Draft(data, nodes, gone, tuple(drafting.remarks))


def _without_refused(steps: Sequence[_Candidate], refused: Collection[int], remarks: list[str]) -> list[_Candidate]:
    """Return the candidates that are not refused; for a refused answer an earlier formula of its part becomes final."""
    kept = [each for k, each in enumerate(steps) if k not in refused]
    for k in sorted(refused):
        lost = steps[k]
        if not lost.is_final:
            continue
        before = [each for each in kept if each.letter == lost.letter and each.order <= lost.order]
        remarks.append(f"{lost.latex} seemed to be an answer and is no node; the formula before it stands for it")
        if before and not any(each.is_final and each.letter == lost.letter for each in kept):
            kept[kept.index(before[-1])] = _as_final(before[-1])
    if kept and not kept[-1].is_final:
        kept[-1] = _as_final(kept[-1])
    return kept


def _as_final(each: _Candidate) -> _Candidate:
    """Return the candidate marked as a final answer."""
    return replace(each, is_final=True, why=(*each.why, _LAST))


def _rejected_nodes(data: Mapping[str, Any], text: str, drafting: _Drafting) -> Mapping[int, str]:
    """Return the reason, by position, for each node that is faulty, given by the problem or not in the solution."""
    found = find_faulty_nodes(data, drafting.left(math.inf))
    if found.why or found.problem is None:
        return found.why
    problem = found.problem
    given: dict[int, str] = {}
    with share(drafting.left(GIVEN)) as looking:
        given = {each.index - 1: f"the problem states it ({each.where})" for each in find_given_nodes(problem)}
    drafting.remark_if(found.is_cut or looking.is_exhausted, _CUT_CHECKS)
    if given and len(given) < len(problem.nodes):
        return given
    return _nodes_not_stated(problem, text, drafting)


def _nodes_not_stated(problem: Problem, text: str, drafting: _Drafting) -> dict[int, str]:
    """Return (by position) why the solution itself does not match a node; empty if it matches no node at all.

    Empty also if the operations do not suffice to see it.
    """
    left = drafting.left(SOLUTION + CHARACTER * len(text))
    result = grade(problem, text, budget=int(left)) if left >= 1 else None
    if result is None or (result.status == "too_large" and result.left_out == LeftOut()):
        drafting.remark_if(True, _CUT_CHECKS)
        return {}
    missed = [node.index for node in problem.nodes if node.index not in result.matched]
    why = {
        index: WITHHELD_REASONS[reason]
        for item in result.formulas
        for index, reason in item.withheld
        if index in missed
    }
    if len(missed) == len(problem.nodes):
        return {}
    return {index - 1: why.get(index, "the solution is not seen to state it") for index in missed}


# The file. --------------------------------------------------------------------------------------------------------


def _problem_data(steps: Sequence[_Candidate], derived: Dependencies, drafting: _Drafting) -> dict[str, Any]:
    """Return the content of a problem file as a dictionary: id, text, parts and nodes with dependencies."""
    standard: list[dict[str, Any]] = []
    for k, each in enumerate(steps):
        node: dict[str, Any] = {
            "index": k + 1, "formula": each.latex,
            "dependency": [edge.origin + 1 for edge in derived.edges[k] if not edge.is_implied],
        }  # fmt: skip
        if each.is_final:
            node["is_final_answer"] = True
        standard.append(node | _marks_of_review(derived, k))
    data: dict[str, Any] = {"id": drafting.name, "context": drafting.problem.rstrip(), "grading_standard": standard}
    if drafting.parts:
        data["context"], data["subquestions"] = statement_and_parts(drafting.problem, drafting.parts)
        for node, each in zip(standard, steps, strict=True):
            if each.letter and each.is_final:
                node["subquestion"] = each.letter
    return data


def _marks_of_review(derived: Dependencies, place: int) -> dict[str, Any]:
    """Return the keys of a drafted node that say what a person has still to look at, and why its edges are there."""
    notes = [
        {"from": edge.origin + 1, "why": edge.why, "reviewed": False}
        for edge in derived.edges[place]
        if not edge.is_implied
    ]
    notes += [
        {"from": each.origin + 1, "why": QUESTIONS[each.rule], "question": True} for each in derived.doubtful[place]
    ]
    return {"reviewed": False, **({"edges": notes} if notes else {})}


def _without_mark(text: str) -> str:
    """Return the text of a part without the mark `(a)` that it begins with."""
    return re.sub(rf"^\s*\(?[{LETTERS}]\)\s*", "", text).strip()


def _draft_nodes(steps: Sequence[_Candidate], derived: Dependencies) -> tuple[DraftNode, ...]:
    """Return the nodes of the draft with edges and reasons in words; indices count from 1."""
    found = []
    for each, edges, doubtful in zip(steps, derived.edges, derived.doubtful, strict=True):
        own_edges = tuple(DraftEdge(edge.origin + 1, RULES[edge.rule], edge.is_implied) for edge in edges)
        maybe = tuple(each.origin + 1 for each in doubtful)
        found.append(DraftNode(each.latex, each.letter, each.is_final, each.why, own_edges, maybe))
    return tuple(found)


def _reasons_text(drafting: _Drafting) -> str:
    """Return the distinct reasons for omitted formulas, at most five, as one text for an error message."""
    reasons = dict.fromkeys(each.why for _, each in drafting.left_out)
    return "; ".join(list(reasons)[:5]) if reasons else "it has none that is displayed, boxed or in dollars"
