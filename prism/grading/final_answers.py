r"""Which formula of a solution answers which final question: settled before anything is compared (semantics F.1-F.5).

Read are the text, the solution's formulas, and of the reference only what is asked: the left side of a final answer,
its unit and its part. Its value is never looked at: a grader that chooses among answers by their values pays for lists
of guesses.

A bare answer, such as `\boxed{5 m/s}` or "Answer: 5 m/s", is read as `v = 5 m/s` where v is the final answer that it
must be meant for. A final answer that the author gives bare has a nameless subject (`prism.problem.answers`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from prism.algebra.expr import Expr, Formula, canonical, formula, symbol, symbols, symbols_of, walk
from prism.budget import charge_steps
from prism.equivalence.facts import numeric_of
from prism.equivalence.stated_numbers import StatedNumber, is_subject, stated_number
from prism.grading.own_symbols import may_denote
from prism.latex import LocatedFormula
from prism.physics.context import Context, given_values
from prism.physics.tables import Dimension
from prism.problem.answers import is_nameless

_STEPS = 10  # of one formula at one final answer
_LONGEST_VERB = 40  # characters between a name and its value


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    r"""A final answer of the problem, as far as it is asked for.

    Attributes:
        letter: of the part that asks for it, or an empty text.
        subject: the side that asks: a symbol, a derivative, a ratio; nameless if the author gives a bare answer.
        dimension: of its number; None if it is no number.
        has_unit: it is a number with a unit.
        others: what the author accepts as its name beside the subject.
    """

    letter: str
    subject: Expr
    dimension: Dimension | None = None
    has_unit: bool = False
    others: frozenset[Expr] = frozenset()

    @property
    def names(self) -> frozenset[Expr]:
        """The subject with what is accepted as its name."""
        return self.others | {self.subject}


def final_answer_of(formulas: Sequence[Formula], letter: str) -> FinalAnswer | None:
    """Return what a final node asks for in part `letter`; None if neither side of its formula can be asked for.

    Args:
        formulas: its own, then those that its author accepts in its place.
    """
    found = [answer for f in formulas if (answer := _asked_by(f, letter)) is not None]
    if not found or _asked_by(formulas[0], letter) is None:
        return None
    return replace(found[0], others=frozenset(each.subject for each in found[1:]) - {found[0].subject})


def _asked_by(f: Formula, letter: str) -> FinalAnswer | None:
    """Return what one formula asks for, without other names; None if neither side can be asked for."""
    if f.kind != "equation" or len(f.members) != 2:
        return None
    for side, other in (f.members, f.members[::-1]):
        if (side.op == "sym" or (side is f.members[0] and _is_asked(side))) and side not in walk(other):
            number = stated_number(other)
            dimension = None if number is None else number.dimension
            return FinalAnswer(letter, side, dimension, number is not None and number.unit is not None)
    return None


def _is_asked(side: Expr) -> bool:
    r"""Return True for a symbol, value, derivative, mean, modulus, differential, ratio or relative change of these."""
    if side.op in ("abs", "differential"):
        return _is_asked(side.args[0])
    if side.op != "div":
        return is_subject(side)
    above, below = side.args
    changed = above.args if above.op == "sub" else (above,)
    return is_subject(below) and all(map(is_subject, changed))


# Assignment. ------------------------------------------------------------------------------------------------------


def with_subjects(
    finals: Sequence[FinalAnswer],
    located: Sequence[LocatedFormula],
    formulas: Sequence[Formula | None],
    letters: Sequence[tuple[str, ...]],
    text: str,
    context: Context,
    known: Collection[str],
    question: str,
) -> list[Formula | None]:
    r"""Return the formulas, with `v = 5` for a bare answer `\boxed{5}` that must be meant for the final answer v.

    Args:
        finals: the final answers of the problem, in order.
        located: the formulas of the solution where they stand.
        formulas: as parsed, one for each of `located`; None where one could not be read.
        letters: the parts that each formula stands in.
        text: of the solution.
        context: of the problem.
        known: symbols of the problem and its reference; all others are the solution's own.
        question: the statement and its subquestions; empty if they are not known.
    """
    answered = _with_values_in_words(located, formulas, text)
    read_at = {k: f for k, f in enumerate(answered) if f is not None}
    read = list(read_at.items())
    charge_steps(_STEPS * len(read) * len(finals))
    for scope in dict.fromkeys(letters[k] for k, _ in read):
        here = [(k, f) for k, f in read if letters[k] == scope]
        asked = [answer for answer in finals if answer.letter in scope] or list(finals)
        presented = [(k, f) for k, f in here if is_answer(located[k])]
        assigned = dict(_bare_answers(asked, presented, here, context)) or _members_of_list(asked, presented)
        if not assigned and len(asked) == 1:
            placed = [(k, f) for k, f in here if is_answer(located[k]) or not (presented or located[k].in_passing)]
            in_words = {k for k, _ in placed if _is_named_in_words(text[: located[k].span[0]], question)}
            assigned = dict(_answer_in_words(asked[0], placed, here, known, in_words, is_presented=bool(presented)))
        for place, answers in assigned.items():
            answered[place] = _with_subjects(answers, read_at[place])
        denied = [k for k, f in enumerate(formulas) if f is None and letters[k] == scope and _denies(located[k])]
        if len(asked) == 1:
            for place in denied:
                answered[place] = formula((asked[0].subject, NOTHING), ("=",), located[place].latex)
    return answered


def is_answer(item: LocatedFormula) -> bool:
    """Return True if the solution presents a formula as its answer: in a box, or announced."""
    return item.kind == "boxed" or item.is_announced


_Placed = tuple[int, Formula]  # the ordinal of a formula in the text, and the formula


def _bare_answers(
    asked: Sequence[FinalAnswer], presented: Sequence[_Placed], here: Sequence[_Placed], context: Context
) -> Iterator[tuple[int, tuple[FinalAnswer, ...]]]:
    """Yield (ordinal of a bare answer, the final answer that it is for) for one part of a solution (semantics F.4).

    Of k final answers that no presented formula names, the last k bare ones are for these, in order. Fewer are for
    those that no formula names at all, if these are as many; else each is for the one that its unit fits alone, else
    for the one whose claim before it repeats, else for the one that the text has named last.

    Args:
        asked: the final answers of the part.
        presented: the formulas that the solution presents as answers.
        here: all formulas of the part.
        context: of the problem.
    """
    subjects = {name for answer in asked for name in answer.names}
    givens = _givens_named_in([f for _, f in presented], context)
    bare = [
        (k, f) for k, f in presented
        if f.kind == "expression" and f.members[0] not in subjects and _value_in_si(f.members[0]) not in givens
    ]  # fmt: skip
    waiting = [answer for answer in asked if answer.names.isdisjoint(_sides_of(presented))]
    if len(bare) < len(waiting):
        unnamed = [answer for answer in waiting if answer.names.isdisjoint(_sides_of(here))]
        if len(unnamed) != len(bare):
            found = dict(_answers_by_unit(bare, waiting))
            yield from found.items()
            yield from _answers_by_place([(k, f) for k, f in bare if k not in found], waiting, here)
            return
        waiting = unnamed
    for (k, f), answer in zip(bare[len(bare) - len(waiting) :], waiting, strict=True):
        if not (answer.has_unit and _is_plain_given(f.members[0], context)):
            yield k, (answer,)


def _answers_by_place(
    bare: Sequence[_Placed], waiting: Sequence[FinalAnswer], here: Sequence[_Placed]
) -> Iterator[tuple[int, tuple[FinalAnswer, ...]]]:
    """Yield the other bare answers, each with the final answer whose claim it repeats, else with the one named last."""
    named = [
        (place, answer, set(map(canonical, f.members)))
        for place, f in here
        for answer in waiting
        if f.kind != "expression" and not answer.names.isdisjoint(f.members[:2])
    ]
    for k, f in bare:
        before = [(answer, values) for place, answer, values in named if place < k]
        repeated = [answer for answer, values in before if canonical(f.members[0]) in values]
        last = [answer for answer, _ in before[-1:]]
        if chosen := (repeated or last)[-1:]:
            yield k, tuple(chosen)


def _members_of_list(asked: Sequence[FinalAnswer], presented: Sequence[_Placed]) -> dict[int, tuple[FinalAnswer, ...]]:
    """Return the last list in one box whose members are as many as the final answers, with these; empty if none is."""
    lists = [k for k, f in presented if f.kind == "expression" and f.members[0].op == "list"]
    sizes = {k: len(f.members[0].args) for k, f in presented if k in lists}
    return {lists[-1]: tuple(asked)} if lists and sizes[lists[-1]] == len(asked) > 1 else {}


def _sides_of(placed: Sequence[_Placed]) -> set[Expr]:
    """Return the sides of formulas that name what they state."""
    return {member for _, f in placed if f.kind != "expression" for member in f.members[:2]}


def _answers_by_unit(
    bare: Sequence[_Placed], waiting: Sequence[FinalAnswer]
) -> Iterator[tuple[int, tuple[FinalAnswer, ...]]]:
    """Yield the bare answers with a unit that one of the waiting final answers alone has."""
    for k, f in bare:
        number = stated_number(f.members[0])
        fitting = [answer for answer in waiting if number and number.unit and answer.dimension == number.dimension]
        if len(fitting) == 1:
            yield k, (fitting[0],)


def _answer_in_words(
    asked: FinalAnswer,
    placed: Sequence[_Placed],
    here: Sequence[_Placed],
    known: Collection[str],
    in_words: Collection[int],
    *,
    is_presented: bool,
) -> Iterator[tuple[int, tuple[FinalAnswer, ...]]]:
    """Yield the last formula `own = X`, or X in "the speed is X", if no formula names the final answer (semantics F.5).

    `own` is a symbol of the solution alone. What is not presented as the answer has to be a name of the same letter,
    unless the final answer has no name. A name beside the asked symbol in some formula means something else.

    Args:
        in_words: the ordinals of the formulas that words of the question name.
    """
    if not asked.names.isdisjoint(_sides_of(here)):
        return
    is_any = is_presented or is_nameless(asked.subject)
    beside = {name for _, f in here if (names := symbols_of(f)) & symbols(asked.subject) for name in names}
    own = [
        k for k, f in placed
        if (f.kind == "expression" and k in in_words)
        or (f.kind in ("equation", "chain") and _is_own(f.members[0], known) and _is_of_problem(f, known)
            and symbols(f.members[0]).isdisjoint(beside) and (is_any or may_denote(f.members[0], asked.subject.name)))
    ]  # fmt: skip
    if own:
        yield own[-1], (asked,)


def _is_named_in_words(before: str, question: str) -> bool:
    """Return True if a text ends with "the speed at the ground is", in words of which the question has one."""
    named = _NAMED.search(before[-_LONGEST_CLAUSE:])
    if named is None or FORMULA_SIGNS.search(named["words"]):
        return False
    asked = set(_WORD.findall(question.lower()))
    return not asked or not asked.isdisjoint(_WORD.findall(named["words"].lower()))


def _is_own(side: Expr, known: Collection[str]) -> bool:
    """Return True for a quantity whose symbols neither the problem nor its reference has."""
    return _is_asked(side) and symbols(side).isdisjoint(known)


def _is_of_problem(f: Formula, known: Collection[str]) -> bool:
    """Return True if what stands behind the first member is a number, or has a symbol of the problem."""
    return any(not symbols(each) or not symbols(each).isdisjoint(known) for each in f.members[1:])


def _with_subjects(answers: Sequence[FinalAnswer], f: Formula) -> Formula:
    """Return what a bare answer, a list of them, or the right side of `own = X` states of the final answers."""
    if len(answers) > 1:
        parts = [
            formula((answer.subject, value), ("=",), f.latex, f.depends)
            for answer, value in zip(answers, f.members[0].args, strict=True)
        ]
        return Formula("system", (), (), f.latex, tuple(parts), f.depends)
    if f.kind == "expression":
        return formula((answers[0].subject, f.members[0]), ("=",), f.latex, f.depends)
    return replace(f, members=(answers[0].subject, *f.members[1:]))


# Answers in sentences. --------------------------------------------------------------------------------------------

NOTHING = symbol(r"\nothing")  # what a solution answers that says that there is no answer
_ADVERB = r"(?: (?:then|thus|therefore|just|simply|equal to|given by))?"
_IS = re.compile(rf"[$\\)\]}}*_\s]{{0,8}}\b(?:is|are|equals|becomes){_ADVERB}:?[$\\(\[{{*_\s]{{0,8}}")
_NAMED = re.compile(
    rf"\b[Tt]he (?P<words>[^.;:\n]{{3,80}}?) (?:is|are|equals|becomes){_ADVERB}:?[$\\(\[{{*_\s]{{0,8}}$"
)
FORMULA_SIGNS = re.compile(r"[$\\=<>]")
_WORD = re.compile(r"[a-z]{4,}")
_LONGEST_CLAUSE = 120  # characters before a value that may name it
_NONE = re.compile(
    r"\b(?:none|cannot|can't|not|no|never|nothing|impossible|undetermined|indeterminate|undefined|unknown|insufficient)\b",
    re.IGNORECASE,
)


def _denies(item: LocatedFormula) -> bool:
    r"""Return True for an answer in words that says that there is none: `\boxed{\text{cannot be determined}}`."""
    return is_answer(item) and r"\text" in item.latex and _NONE.search(item.latex) is not None


def _with_values_in_words(
    located: Sequence[LocatedFormula], formulas: Sequence[Formula | None], text: str
) -> list[Formula | None]:
    """Return the formulas, each bare value behind "the value of $a$ is" as the equation `a = value` (semantics F.3)."""
    found = list(formulas)
    for k in range(1, len(formulas)):
        name, value = formulas[k - 1], formulas[k]
        if name is None or value is None or name.kind != "expression" or value.kind != "expression":
            continue
        between = text[located[k - 1].span[1] : located[k].span[0]]
        if is_subject(name.members[0]) and len(between) <= _LONGEST_VERB and _IS.fullmatch(between):
            found[k] = formula((name.members[0], value.members[0]), ("=",), value.latex, value.depends)
    return found


_ValueInSI = tuple[Fraction, Dimension]


def _value_in_si(member: Expr) -> _ValueInSI | None:
    """Return (value in coherent SI, dimension) of a written number with its unit; None for anything else."""
    stated = stated_number(member)
    return None if stated is None else (stated.in_si, stated.dimension)


def _givens_named_in(boxed: Sequence[Formula], context: Context) -> set[_ValueInSI]:
    """Return (value, dimension) in SI of each given value that a box repeats with its symbol, as `m = 2 kg`."""
    numbers = [numeric for f in boxed if (numeric := numeric_of(f)) is not None]
    return {
        (each.number.in_si, each.number.dimension)
        for each in numbers
        if each.subject.name in context.givens and _is_value_of(each.subject.name, each.number, context)
    }


def _is_value_of(name: str, number: StatedNumber, context: Context) -> bool:
    """Return True if a number equals the value that the problem gives for the symbol `name`, in SI."""
    given = given_values(context)[name].quantity
    return (given.value, given.dimension) == (number.in_si, number.dimension)


def _is_plain_given(member: Expr, context: Context) -> bool:
    """Return True if a member is a number without unit that the problem gives for a dimensionless symbol."""
    stated = stated_number(member)
    if stated is None or stated.unit is not None:
        return False
    return any(_is_value_of(name, stated, context) for name in context.givens)
