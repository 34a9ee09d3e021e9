r"""Which formula of a solution answers which final question: settled before anything is compared (semantics F.1-F.5).

Read are the text, the solution's formulas, and of the reference only what is asked: the left side of a final answer,
its unit and its part. Its value is never looked at: a grader that chooses among answers by their values pays for lists
of guesses.

A bare answer, such as `\boxed{5 m/s}` or "Answer: 5 m/s", is read as `v = 5 m/s` where v is the final answer that it
must be meant for. A final answer that the author gives bare has a nameless subject (`prism.problem.answers`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from prism.algebra.alternatives import REGIONS, has_several_values
from prism.algebra.expr import (
    EQUALITIES,
    Expr,
    Formula,
    canonical,
    formal_ratio,
    formula,
    symbol,
    symbols,
    symbols_of,
    walk,
)
from prism.algebra.symbols import symbol_of
from prism.budget import charge_steps
from prism.equivalence.chains.links import free_names
from prism.equivalence.facts import numeric_of
from prism.equivalence.numbers.stated import StatedNumber, is_subject, stated_number
from prism.equivalence.several_values import index_in_family
from prism.grading.answers.named_in_words import named_orders
from prism.grading.answers.set_answers import SetForm, in_form_of_answer, set_form_of, subject_of_set
from prism.grading.answers.several_answers import (
    AskedQuantity,
    are_listed,
    by_definitions,
    with_joined_values,
    with_repeated_values,
)
from prism.grading.claims.own_symbols import may_denote
from prism.latex import LocatedFormula
from prism.physics.context import Context, given_values
from prism.physics.italic_units import italic_units_as_quantity
from prism.physics.tables import Dimension
from prism.problem.answers import is_nameless

_STEPS = 10  # of one formula at one final answer
_EULER = frozenset(("e",))  # a letter that one member may have, and another as a number
_WITH_CONDITIONS = ("restricted", "conditional")  # kinds of formulas of which the first part is what they state
_LONGEST_VERB = 40  # characters between a name and its value


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    r"""A final answer of the problem, as far as it is asked for.

    Attributes:
        letter: of the part that asks for it, or an empty text.
        subject: the side that asks: a symbol, a derivative, a ratio; nameless if the author gives a bare answer.
        dimension: of its number; None if it is no number.
        has_unit: it is a number with a unit.
        has_several: it has several values: a set, or alternatives.
        form: in which it is a set of values of the subject, if it is one.
        others: what the author accepts as its name beside the subject.
    """

    letter: str
    subject: Expr
    dimension: Dimension | None = None
    has_unit: bool = False
    has_several: bool = False
    form: SetForm = ""
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
    found = [answer for f in formulas if (answer := _final_answer_from(f, letter)) is not None]
    if not found or _final_answer_from(formulas[0], letter) is None:
        return None
    return replace(found[0], others=frozenset(each.subject for each in found[1:]) - {found[0].subject})


def _final_answer_from(f: Formula, letter: str) -> FinalAnswer | None:
    """Return what one formula asks for, without other names; None if neither side can be asked for."""
    form = set_form_of(f)
    bounded = subject_of_set(f) if form == "bounds" else None
    if bounded is not None:
        return FinalAnswer(letter, bounded, has_several=True, form=form)
    if f.kind == "alternatives" or f.relations == ("in",):
        firsts = {part.members[0] if part.members else None for part in f.parts or (f,)}
        subject = firsts.pop()
        is_one = subject is not None and not firsts and subject.op == "sym"
        return FinalAnswer(letter, subject, has_several=True, form=form) if subject is not None and is_one else None
    if f.kind == "chain" and f.relations[0] in EQUALITIES and _is_quantity(f.members[0]):
        is_alone = all(f.members[0] not in walk(other) for other in f.members[1:])
        return FinalAnswer(letter, f.members[0]) if is_alone else None
    if f.kind != "equation" or len(f.members) != 2:
        return None
    for side, other in (f.members, f.members[::-1]):
        if (side.op == "sym" or (side is f.members[0] and _is_quantity(side))) and side not in walk(other):
            number = stated_number(other)
            dimension = None if number is None else number.dimension
            return FinalAnswer(
                letter,
                side,
                dimension,
                number is not None and number.unit is not None,
                number is None and has_several_values(f),
                form,
            )
    return None


def _is_quantity(side: Expr) -> bool:
    r"""Return True for a symbol, value, derivative, mean, modulus, differential, ratio or relative change of these."""
    if side.op in ("abs", "differential"):
        return _is_quantity(side.args[0])
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
    answered = [_without_argument(f, finals, context) for f in _with_values_in_words(located, formulas, text)]
    answered = _without_moduli(answered, finals)
    _read_sets_in_form(answered, finals, located, letters, known, question)
    finals = [answer for answer in finals if answer.form != "bounds"]
    for scope in dict.fromkeys(letters):
        _join_pieces(answered, scope, finals, located, letters, text, context, frozenset(known))
    read_at = {k: f for k, f in enumerate(answered) if f is not None}
    read = list(read_at.items())
    charge_steps(_STEPS * len(read) * len(finals))
    for scope in dict.fromkeys(letters[k] for k, _ in read):
        here = [(k, f) for k, f in read if letters[k] == scope]
        asked = [answer for answer in finals if answer.letter in scope] or list(finals)
        presented = [(k, f) for k, f in here if is_answer(located[k])]
        listed = set(_listed(located, answered, text))
        bare = [(k, f) for k, f in presented if len(asked) > 1 or k not in listed]
        marked = _of_the_mark(asked, len(bare), scope)
        named = named_orders(located, [k for k, _ in bare], text, question)
        assigned = _members_of_list(asked, presented[-1:]) or dict(_bare_answers(marked, bare, here, context, named))
        assigned = assigned or _members_of_list(asked, presented)
        if not assigned and len(asked) == 1:
            placed = [(k, f) for k, f in here if is_answer(located[k]) or not (presented or located[k].in_passing)]
            placed = [(k, f) for k, f in placed if not _is_condition(located[k], text)] or placed
            in_words = _named_in_sentences(placed, here, located, text, question)
            near = [(k, f) for k, f in read if not scope or letters[k] in (scope, ())]  # with what is common to all
            assigned = dict(
                _answer_in_words(asked[0], placed, near, known, in_words, context, is_presented=bool(presented))
            )
            assigned = {k: each for k, each in assigned.items() if not _is_one_of_box(k, placed, located)}
            later = [(k, f) for k, f in read if not letters[k] and is_answer(located[k])] if scope else []
            assigned |= dict(_under_another_name(assigned, later, known))
        for place, answers in assigned.items():
            answered[place] = _with_subjects(answers, read_at[place], known)
        if len(asked) == 1:
            _add_denials(answered, asked[0].subject, scope, located, letters, text)
    return answered


def _add_denials(
    answered: list[Formula | None],
    subject: Expr,
    scope: tuple[str, ...],
    located: Sequence[LocatedFormula],
    letters: Sequence[tuple[str, ...]],
    text: str,
) -> None:
    """Say within one part that its answer does not exist where words say so; arguments as of `with_subjects`."""
    nothing = formula((subject, NOTHING), ("=",))
    for k, f in enumerate(answered):
        if f is None and letters[k] == scope and _denies(located[k]):
            answered[k] = replace(nothing, latex=located[k].latex)
    for k in _denied_behind(located, text):
        before = answered[k]
        if letters[k] == scope and before is not None:
            answered[k] = Formula("system", (), (), before.latex, (before, nothing), before.depends)


def _read_sets_in_form(
    answered: list[Formula | None],
    finals: Sequence[FinalAnswer],
    located: Sequence[LocatedFormula],
    letters: Sequence[tuple[str, ...]],
    known: Collection[str],
    question: str,
) -> None:
    """Replace what a part presents as the one final answer that is a set by what it states in the form asked for.

    Arguments as of `with_subjects`. Without anything presented the last formula is taken, if the answer has no name.
    """
    for scope in dict.fromkeys(letters):
        asked = [answer for answer in finals if answer.letter in scope or not scope]
        here = [k for k, f in enumerate(answered) if f is not None and letters[k] == scope]
        presented = [k for k in here if is_answer(located[k])]
        if len(asked) != 1 or not asked[0].form:
            continue
        answer, is_any = asked[0], is_nameless(asked[0].subject)
        for k in presented or (here[-1:] if is_any else []):
            if (f := answered[k]) is not None:
                own = symbols_of(f) - frozenset(known)
                read = in_form_of_answer(f, answer.subject, answer.form, question=question, own=own, is_any=is_any)
                answered[k] = read or f


def _of_the_mark(asked: Sequence[FinalAnswer], n_bare: int, scope: Sequence[str]) -> Sequence[FinalAnswer]:
    """Return the final answers of the letter that marks a section, if the section has as many bare answers; else all.

    A section answers letters without a mark too (`prism.grading.parts.division`), but a bare answer is for the marked
    one.
    """
    own = [answer for answer in asked if answer.letter == scope[0]] if len(scope) > 1 else []
    return own if len(own) == n_bare > 0 else asked


def _join_pieces(
    answered: list[Formula | None],
    scope: tuple[str, ...],
    finals: Sequence[FinalAnswer],
    located: Sequence[LocatedFormula],
    letters: Sequence[tuple[str, ...]],
    text: str,
    context: Context,
    known: frozenset[str],
) -> None:
    """Replace the formulas of one part that give an answer in pieces, or of a ratio for its name, by what they state.

    Arguments as of `with_subjects`; of a value in a box and one outside only the first is presented.
    """
    asked = [
        AskedQuantity(each.subject, each.has_several, each.dimension is not None)
        for each in finals
        if each.subject.op == "sym" and (each.letter in scope or not scope)
    ]
    spans = [item.span for item in located]
    for is_presented in (False, True):
        read = {
            k: f
            for k, f in enumerate(answered)
            if f is not None and letters[k] == scope and is_answer(located[k]) == is_presented
        }
        for pieces in (
            by_definitions(asked, read, context),
            with_repeated_values(asked, read, spans, text),
            with_joined_values(asked, read, spans, text, known),
        ):
            for place, f in pieces:
                answered[place] = f


def is_answer(item: LocatedFormula) -> bool:
    """Return True if the solution presents a formula as its answer: in a box, or announced."""
    return item.kind == "boxed" or item.is_announced


_Placed = tuple[int, Formula]  # the ordinal of a formula in the text, and the formula


def _bare_answers(
    asked: Sequence[FinalAnswer],
    presented: Sequence[_Placed],
    here: Sequence[_Placed],
    context: Context,
    named: Mapping[int, Collection[str]],
) -> Iterator[tuple[int, tuple[FinalAnswer, ...]]]:
    """Yield (ordinal of a bare answer, the final answer that it is for) for one part of a solution (semantics F.4).

    Of k final answers that no presented formula names, the last k bare ones are for these, in order; where they are
    more or fewer, those that words name are for the quantity so named. Fewer are for those that no equation gives, if
    these are as many and words name none; else each is for the one that its unit fits alone, else for the one
    whose claim before it repeats, else for the one that the text has named last.

    Args:
        asked: the final answers of the part.
        presented: the formulas that the solution presents as answers.
        here: all formulas of the part.
        context: of the problem.
        named: the symbols of the problem that words name right before a bare answer, by its ordinal.
    """
    subjects = {name for answer in asked for name in answer.names}
    givens = _givens_named_in([f for _, f in presented], context)
    bare = [
        (k, f) for k, f in presented
        if _is_bare(f) and f.members[0] not in subjects and _value_in_si(f.members[0]) not in givens
    ]  # fmt: skip
    waiting = [answer for answer in asked if answer.names.isdisjoint(_sides_of(presented))]
    settled: dict[int, tuple[FinalAnswer, ...]] = {}
    if len(bare) != len(waiting):
        in_words = [
            (k, [answer for answer in waiting if answer.subject.name in named[k]]) for k, _ in bare if k in named
        ]
        settled = {k: tuple(fitting) for k, fitting in in_words if len(fitting) < 2}  # nobody's, or of one alone
        yield from ((k, fitting) for k, fitting in settled.items() if fitting)
        bare = [(k, f) for k, f in bare if k not in settled]
        waiting = [answer for answer in waiting if (answer,) not in settled.values()]
    if len(bare) < len(waiting):
        unnamed = [answer for answer in waiting if answer.names.isdisjoint(_subjects_of(here))]
        if settled or len(unnamed) != len(bare):
            found = dict(_answers_by_unit(bare, waiting))
            yield from found.items()
            yield from _answers_by_place([(k, f) for k, f in bare if k not in found], waiting, here)
            return
        waiting = unnamed
    for (k, f), answer in zip(bare[len(bare) - len(waiting) :], waiting, strict=True):
        if not (answer.has_unit and _is_plain_given(f.members[0], context)):
            yield k, (answer,)


def _is_bare(f: Formula) -> bool:
    r"""Return True for a value alone, or written twice: `\frac35`, `\frac35 = 0.6`, `\sqrt2 a \approx 1.4a`."""
    if f.kind == "expression":
        return True
    names = {free_names(member) - _EULER for member in f.members}
    return EQUALITIES.issuperset(f.relations) and len(names) == 1 and not any(map(is_subject, f.members))


def _answers_by_place(
    bare: Sequence[_Placed], waiting: Sequence[FinalAnswer], here: Sequence[_Placed]
) -> Iterator[tuple[int, tuple[FinalAnswer, ...]]]:
    """Yield the other bare answers, each with the final answer whose claim it repeats, else with the one named last."""
    named = [
        (place, answer, set(map(canonical, f.members)))
        for place, f in here
        for answer in waiting
        if f.members[1:] and EQUALITIES.issuperset(f.relations) and not answer.names.isdisjoint(f.members[:2])
    ]
    for k, f in bare:
        before = [(answer, values) for place, answer, values in named if place < k]
        repeated = [answer for answer, values in before if canonical(f.members[0]) in values]
        last = [answer for answer, _ in before[-1:]]
        if chosen := (repeated or last)[-1:]:
            yield k, tuple(chosen)


def _members_of_list(asked: Sequence[FinalAnswer], presented: Sequence[_Placed]) -> dict[int, tuple[FinalAnswer, ...]]:
    """Return the last boxed list or tuple with as many members as there are final answers, with these, or nothing."""
    lists = [k for k, f in presented if f.kind == "expression" and f.members[0].op in ("list", "tuple")]
    sizes = {k: len(f.members[0].args) for k, f in presented if k in lists}
    return {lists[-1]: tuple(asked)} if lists and sizes[lists[-1]] == len(asked) > 1 else {}


def _subjects_of(placed: Sequence[_Placed]) -> set[Expr]:
    """Return the left sides of equations that say nothing of them on the right."""
    return {
        f.members[0]
        for _, f in placed
        if f.members[1:]
        and EQUALITIES.issuperset(f.relations)
        and symbols(f.members[0]).isdisjoint(symbols(*f.members[1:]))
    }


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
    context: Context,
    *,
    is_presented: bool,
) -> Iterator[tuple[int, tuple[FinalAnswer, ...]]]:
    """Yield the last formula `own = X`, or X in "the speed is X", if no formula names the final answer (semantics F.5).

    `own` is a symbol of the solution alone. What is not presented as the answer has to be a name of the same letter,
    unless the final answer has no name. A name beside the asked symbol in some formula means something else, and so
    does one of another letter that a formula has on its right side.

    Args:
        in_words: the ordinals of the formulas that words of the question name.
        context: of the problem; where the answer has no name, no symbol but its givens names another quantity.
    """
    if not asked.names.isdisjoint(_sides_of(here)):
        return
    is_any = is_presented or is_nameless(asked.subject)
    others = context.givens.keys() if is_nameless(asked.subject) else known
    beside = {name for _, f in here if (names := symbols_of(f)) & symbols(asked.subject) for name in names}
    used = {name for _, f in here for member in f.members[1:] for name in symbols(member)} - set(known)
    stated = [(k, _one_of(f)) for k, f in placed]
    own = [
        k for k, f in stated
        if (f.kind == "expression" and k in in_words)
        or (f.kind in ("equation", "chain") and _is_of_problem(f, known) and (
            _without_angle(f.members[0]) == asked.subject
            or (_is_own(f.members[0], others) and symbols(f.members[0]).isdisjoint(beside)
                and (may_denote(f.members[0], asked.subject.name)
                     or symbols(f.members[0]).isdisjoint(used))
                and _may_name(f.members[0], asked.subject, is_any=is_any))))
    ]  # fmt: skip
    if own:
        yield own[-1], (asked,)


def _is_one_of_box(place: int, placed: Sequence[_Placed], located: Sequence[LocatedFormula]) -> bool:
    r"""Return True if a box gives values under other names of one letter, `\boxed{\omega_1 = 5, \omega_2 = 7}`."""
    in_box = [f.members[0] for k, f in placed if f.members and located[k].block == located[place].block]
    letters = {symbol_of(side.name).head if side.op == "sym" else None for side in in_box}
    return located[place].kind == "boxed" and len(set(in_box)) > 1 and len(letters) == 1 and None not in letters


def _under_another_name(
    assigned: Mapping[int, tuple[FinalAnswer, ...]], later: Sequence[_Placed], known: Collection[str]
) -> Iterator[tuple[int, tuple[FinalAnswer, ...]]]:
    """Yield the answers below all parts, under a name of the solution's own, to what such a name has answered before.

    Args:
        assigned: the formulas of a part that stand for its final answer under an own name.
        later: what is presented as an answer in text common to all parts.
    """
    for place, (answer, *_) in assigned.items():
        for k, f in later:
            is_own = k > place and f.kind in ("equation", "chain") and _is_own(f.members[0], known)
            if is_own and may_denote(f.members[0], answer.subject.name):
                yield k, (answer,)


def _one_of(f: Formula) -> Formula:
    """Return the formula that has conditions, the first of alternatives of one quantity; any other as it is."""
    is_union = f.kind == "alternatives" and len({part.members[0] if part.members else None for part in f.parts}) == 1
    return f.parts[0] if f.kind in _WITH_CONDITIONS or is_union else f


def _without_angle(side: Expr) -> Expr | None:
    r"""Return E for `E(60^\circ)`, the value of a quantity at an angle, which is read as a product; None for others."""
    if side.op != "mul" or len(side.args) != 2 or side.args[0].op != "sym":
        return None
    angle = stated_number(side.args[1])
    return side.args[0] if angle and angle.unit and angle.unit.pi else None


def _may_name(own: Expr, asked: Expr, *, is_any: bool) -> bool:
    r"""Return True if a name of the solution may mean what is asked: one of its letter, or any (`is_any`).

    `n_0` may mean `n(0)` and the other way round, `E'(60^\circ)` may mean `E'`; `n_1` and `n(1)` never mean `n(0)`.
    """
    value, name = (asked, own) if asked.op == "apply" else (own, asked)
    if value.op == "apply" and value.args[0].value is not None and value.name == symbol_of(name.name).head:
        index = index_in_family(name.name, value.name) if name.op == "sym" else ""
        return index == value.args[0].name if asked.op == "apply" or index else True
    if own.name.count("'") != asked.name.count("'"):
        return is_any
    plain = Expr(own.op, own.args, own.name.replace("'", ""), own.value)
    return is_any or may_denote(plain, asked.name.replace("'", ""))


def _is_condition(item: LocatedFormula, text: str) -> bool:
    r"""Return True for a formula behind words that make it a condition: `\text{(with } x = 0`, "for $m = 1$ g"."""
    return _UNDER.search(text[max(0, item.span[0] - _LONGEST_VERB) : item.span[0]]) is not None


def _named_in_sentences(
    placed: Sequence[_Placed],
    here: Sequence[_Placed],
    located: Sequence[LocatedFormula],
    text: str,
    question: str,
) -> set[int]:
    """Return the ordinals of those of the `placed` formulas that `_is_named_in_words`; `here`: all of the part."""
    last = placed[-1][0] if placed and placed[-1][0] == here[-1][0] else None
    return {k for k, _ in placed if _is_named_in_words(text[: located[k].span[0]], question, is_last=k == last)}


def _is_named_in_words(before: str, question: str, *, is_last: bool) -> bool:
    """Return True if a text ends with "the speed at the ground is", in words of which the question has one.

    Before the last formula of a text any words will do behind "therefore" and the like.
    """
    named = _NAMED.search(before[-_LONGEST_CLAUSE:])
    if named is None or FORMULA_SIGNS.search(named["words"]):
        return False
    if is_last and _CONCLUDES.search(before[-_LONGEST_CLAUSE:][: named.start()]):
        return True
    asked = set(_WORD.findall(question.lower()))
    return not asked or not asked.isdisjoint(_WORD.findall(named["words"].lower()))


def _is_own(side: Expr, known: Collection[str]) -> bool:
    """Return True for a quantity whose symbols neither the problem nor its reference has."""
    return _is_quantity(side) and symbols(side).isdisjoint(known)


def _is_of_problem(f: Formula, known: Collection[str]) -> bool:
    """Return True if behind the first member stands a number, with a unit or not, or something of the problem."""
    return any(
        not symbols(each)
        or not symbols(each).isdisjoint(known)
        or italic_units_as_quantity(each, frozenset(known), f.latex) is not None
        for each in f.members[1:]
    )


def _with_differentials(node: Expr) -> Expr:
    r"""Return an expression in which each letter d before a symbol makes a differential: `\frac12 E dq` for dF."""
    args = [_with_differentials(arg) for arg in node.args]
    if node.op == "mul":
        merged: list[Expr] = []
        for arg in args:
            if merged and merged[-1] == symbol("d") and arg.op == "sym":
                merged[-1] = Expr("differential", (arg,))
            else:
                merged.append(arg)
        args = merged
    return args[0] if node.op == "mul" and len(args) == 1 else Expr(node.op, tuple(args), node.name, node.value)


def _with_subjects(answers: Sequence[FinalAnswer], f: Formula, known: Collection[str]) -> Formula:
    """Return what a bare answer, a list of them, or the right side of `own = X` states of the final answers."""
    if f.kind in _WITH_CONDITIONS:
        return replace(f, parts=(_with_subjects(answers, f.parts[0], known), *f.parts[1:]))
    if f.kind == "alternatives":
        return replace(f, parts=tuple(_with_subjects(answers, part, known) for part in f.parts))
    if len(answers) > 1:
        parts = [
            formula((answer.subject, value), ("=",), f.latex, f.depends)
            for answer, value in zip(answers, f.members[0].args, strict=True)
        ]
        return Formula("system", (), (), f.latex, tuple(parts), f.depends)
    if _is_bare(f):
        if answers[0].subject.op == "differential" and "d" not in known:
            f = replace(f, members=tuple(map(_with_differentials, f.members)))
        relation = "in" if f.members[0].op in REGIONS else "="
        return formula((answers[0].subject, *f.members), (relation, *f.relations), f.latex, f.depends)
    return replace(f, members=(answers[0].subject, *f.members[1:]))


# Answers in sentences. --------------------------------------------------------------------------------------------

NOTHING = symbol(r"\nothing")  # what a solution answers that says that there is no answer
_ADVERB = r"(?: (?:then|thus|therefore|just|simply|equal to|given by))?"
_ENDS_CLAUSE = re.compile(r"[\s$)?!\\]{0,4}(?:[.,;?!)\n]|\Z)")
_IS = re.compile(rf"[$\\)\]}}*_\s]{{0,8}}\b(?:is|are|equals|becomes){_ADVERB}:?[$\\(\[{{*_\s]{{0,8}}")
_NAMED = re.compile(
    rf"\b[Tt]he (?P<words>[^.;:\n]{{3,80}}?) (?:is|are|equals|becomes){_ADVERB}:?[$\\(\[{{*_\s]{{0,8}}$"
)
_CONCLUDES = re.compile(r"\b(?:therefore|hence|thus|so|consequently|finally|in conclusion),?\s*\Z", re.IGNORECASE)
FORMULA_SIGNS = re.compile(r"[$\\=<>]")
_UNDER = re.compile(r"\b(?:with|for|where|when|at|if|as|since)\s*[}$\\(\s]*$")
_WORD = re.compile(r"[a-z]{4,}")
_LONGEST_CLAUSE = 120  # characters before a value that may name it
_NONE = re.compile(
    r"\b(?:none|cannot|can't|not|no|never|nothing|impossible|undetermined|indeterminate|undefined|unknown|insufficient)\b",
    re.IGNORECASE,
)
# "Final answer: cannot be determined", without a formula.
_ANNOUNCED_NONE = re.compile(
    r"\b(?:answer|result)\b[*_\s]{0,6}(?:is|:|=)[*_:\s]{0,6}(?:that (?:it|there|this) )?[^$\\.;:\n]{0,30}?"
    r"\b(?:none|cannot be|can't be|impossible|undetermined|indeterminate|undefined|insufficient|does not exist|"
    r"no (?:answer|solution|such))\b",
    re.IGNORECASE,
)


def _denies(item: LocatedFormula) -> bool:
    r"""Return True for an answer in words that says that there is none: `\boxed{\text{cannot be determined}}`."""
    return is_answer(item) and r"\text" in item.latex and _NONE.search(item.latex) is not None


def _listed(located: Sequence[LocatedFormula], formulas: Sequence[Formula | None], text: str) -> Iterator[int]:
    """Yield the ordinals of bare values outside of boxes that are members of one list: "$2$ or $3$"."""
    for k in range(1, len(formulas)):
        one, two = formulas[k - 1], formulas[k]
        if one is None or two is None or not (one.kind == two.kind == "expression") or one.members == two.members:
            continue
        is_boxed = "boxed" in (located[k - 1].kind, located[k].kind)
        if not is_boxed and are_listed(text[located[k - 1].span[1] : located[k].span[0]]):
            yield from (k - 1, k)


def _denied_behind(located: Sequence[LocatedFormula], text: str) -> Iterator[int]:
    """Yield the ordinal of the formula before each "the answer is: none", which announces that there is no answer."""
    for found in _ANNOUNCED_NONE.finditer(text):
        before = [k for k, item in enumerate(located) if item.span[1] <= found.start()]
        if before:
            yield before[-1]


def _with_values_in_words(
    located: Sequence[LocatedFormula], formulas: Sequence[Formula | None], text: str
) -> list[Formula | None]:
    """Return the formulas, each bare value behind "the value of $a$ is" as the equation `a = value` (semantics F.3).

    So is one that a list goes on with behind a multiple of it: `$P = 5$ kW, $11$ kW`, up to the end of its clause.
    """
    found = list(formulas)
    listed = set(_listed(located, formulas, text))
    for k in range(1, len(formulas)):
        name, value = formulas[k - 1], formulas[k]
        between = text[located[k - 1].span[1] : located[k].span[0]]
        before = found[k - 1]
        if before is not None and value is not None and _goes_on_with(before, value, between):
            if _ENDS_CLAUSE.match(text, located[k].span[1]):
                found[k] = formula((before.members[0], value.members[0]), ("=",), value.latex, value.depends)
            continue
        if name is None or value is None or name.kind != "expression" or value.kind != "expression":
            continue
        if k in listed:
            continue
        if is_subject(name.members[0]) and len(between) <= _LONGEST_VERB and _IS.fullmatch(between):
            found[k] = formula((name.members[0], value.members[0]), ("=",), value.latex, value.depends)
    return found


def _goes_on_with(before: Formula, value: Formula, between: str) -> bool:
    """Return True if a bare value stands in a list behind an equation for a multiple of it, with a unit or letters."""
    if before.kind != "equation" or value.kind != "expression" or not are_listed(between):
        return False
    has_unit = bool(symbols(*value.members)) or any(node.op == "unit" for node in walk(value.members[0]))
    return has_unit and formal_ratio(value.members[0], before.members[1]) is not None


def _without_argument(f: Formula | None, finals: Sequence[FinalAnswer], context: Context) -> Formula | None:
    """Return `C = ...` for `C(T) = ...` if C is asked, and T stands behind it by a definition of the problem.

    Any other formula, and None, is returned as it is.
    """
    head = f.members[0] if f is not None and f.kind in ("equation", "chain") else None
    if f is None or head is None or head.op != "apply" or len(head.args) != 1 or head.args[0].op != "sym":
        return f
    used = symbols(*f.members[1:])
    through = [d for d in context.definitions if d.members[0].op == "sym" and d.members[0].name in used]
    is_through = any(head.args[0].name in symbols(*d.members[1:]) for d in through)
    is_asked = any(answer.subject == symbol(head.name) for answer in finals)
    return replace(f, members=(symbol(head.name), *f.members[1:])) if is_through and is_asked else f


def _without_moduli(formulas: Sequence[Formula | None], finals: Sequence[FinalAnswer]) -> list[Formula | None]:
    r"""Return the formulas with `x = 29` for `|x| = 29` if a number is asked for x, and no formula gives x another.

    So the size stands for the quantity where that is positive, and for no negative one.
    """
    equations = [f for f in formulas if f is not None and f.kind in ("equation", "chain") and f.members]
    given = {f.members[0] for f in equations if stated_number(f.members[-1])}
    asked = {answer.subject for answer in finals if answer.dimension is not None} - given

    def read(f: Formula | None) -> Formula | None:
        """Return one formula, without the bars around what is asked; None for None."""
        head = f.members[0] if f is not None and f.kind in ("equation", "chain") else None
        size = stated_number(f.members[-1]) if f is not None and head is not None and head.op == "abs" else None
        if f is None or head is None or size is None or size.in_si <= 0 or head.args[0] not in asked:
            return f
        return replace(f, members=(head.args[0], *f.members[1:]))

    return [read(f) for f in formulas]


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
