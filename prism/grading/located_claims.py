"""What a solution says, formula by formula: read once, in its place, with what the place tells about it.

The place tells which part of the problem a formula answers, which chain a row goes on, and which question a box without
a subject answers. What the formulas say of the nodes is for `outcomes` and `commitment`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from prism.algebra.expr import Expr, Formula, formula
from prism.equivalence.numbers import StatedNumber, numeric_of, stated_number
from prism.equivalence.statements import is_mention
from prism.errors import LatexSyntaxError
from prism.grading.chains import runs_before
from prism.grading.claims import is_committed
from prism.grading.parts import Part, letters_at
from prism.latex import LocatedFormula
from prism.physics.context import Context, parse, values_of
from prism.physics.units import Dimension

Key = tuple[Formula | str, bool]  # what makes two formulas one claim: what is said, and whether it is committed


@dataclass(frozen=True, slots=True)
class Saying:
    """One formula where it stands in the solution.

    Attributes:
        order: ordinal in the text.
        located: where, and as what.
        formula: what it was read as; None if it could not be read.
        before: members of the chain that it goes on.
        letters: parts of the problem that it stands in the answer to; none where the text is common to all.
        fault: why it could not be read.
    """

    order: int
    located: LocatedFormula
    formula: Formula | None = None
    before: tuple[Expr, ...] = ()
    letters: tuple[str, ...] = ()
    fault: str = ""

    @property
    def is_committed(self) -> bool:
        """Whether the solution presents it as a result."""
        return is_committed(self.located)

    @property
    def asserts(self) -> bool:
        """Whether it was read, and says more than the name of a quantity."""
        return self.formula is not None and not is_mention(self.formula)

    @property
    def key(self) -> Key:
        """What makes two of them one claim."""
        return self.formula or self.located.latex, self.is_committed


@dataclass(frozen=True, slots=True)
class Question:
    """A final answer as a box may give it.

    Attributes:
        letter: of the part that asks, or an empty text.
        subject: what it is solved for.
        has_unit: it is a number with a unit.
    """

    letter: str
    subject: Expr
    has_unit: bool = False


def sayings_of(
    found: Sequence[LocatedFormula], text: str, parts: Sequence[Part], questions: Sequence[Question], context: Context
) -> tuple[list[Saying], list[tuple[str, Exception]]]:
    """The formulas of a solution parsed, with the questions of bare boxes and the chains that rows go on.

    Args:
        found: in the order of the text.
        text: what their spans count in.
        parts: which stretches of it answer which part of the problem.
        questions: what the problem asks for, in order.
        context: of the problem.

    Returns:
        The sayings, and the formulas on which the reader failed, with what it raised.
    """
    read: dict[str, Formula | str] = {}
    failed: list[tuple[str, Exception]] = []
    for item in found:
        if item.latex in read:
            continue
        try:
            read[item.latex] = parse(item.latex, context=context)
        except LatexSyntaxError as error:
            read[item.latex] = str(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, a solution does not raise: the grader has failed
            failed.append((item.latex, error))
            read[item.latex] = str(error)
    formulas = [each if isinstance(each, Formula) else None for each in (read[item.latex] for item in found)]
    runs = runs_before(found, formulas, text)
    letters = [letters_at(parts, item.span[0]) for item in found]
    asked = _with_questions(questions, found, formulas, letters, context)
    sayings = [
        Saying(order, item, asked[order], runs[order], letters[order], "" if formulas[order] else str(read[item.latex]))
        for order, item in enumerate(found)
    ]
    return sayings, failed


def _with_questions(
    questions: Sequence[Question],
    found: Sequence[LocatedFormula],
    formulas: Sequence[Formula | None],
    letters: Sequence[tuple[str, ...]],
    context: Context,
) -> list[Formula | None]:
    """Formulas, each box without a subject as the answer to a question that no other box answers, in their order.

    Only where boxes and questions of a part correspond: as many as there are, or some times as many where the answers
    are said again. Of more boxes than one question has, the last one counts (semantics C.2). A box that repeats a given
    beside one that names it answers nothing.
    """
    asked = list(formulas)
    boxes = [k for k, item in enumerate(found) if item.kind == "boxed" and formulas[k] is not None]
    for scope in dict.fromkeys(letters[k] for k in boxes):
        here = [(k, f) for k in boxes if letters[k] == scope and (f := formulas[k]) is not None]
        given = _values_in_boxes([f for _, f in here], context)
        bare = [k for k, f in here if _is_bare(f) and _worth(f.members[0]) not in given]
        answered = {member for _, f in here if not _is_bare(f) for member in f.members[:2]}
        here_asked = [question for question in questions if question.letter in scope] or questions
        waiting = [question for question in here_asked if question.subject not in answered]
        if not waiting or len(bare) % len(waiting):
            continue
        for k, place in enumerate(bare):
            each = formulas[place]
            assert each is not None
            question = waiting[k % len(waiting)]
            if question.has_unit and _is_plain_given(each.members[0], context):
                continue
            members = question.subject, each.members[0]
            asked[place] = formula(members, ("=",), each.latex, each.depends)
    return asked


def _is_bare(f: Formula) -> bool:
    """Whether a formula has no subject: a number or an expression, and not a lone symbol."""
    return f.kind == "expression" and f.members[0].op != "sym"


_Worth = tuple[Fraction, Dimension]


def _worth(member: Expr) -> _Worth | None:
    """A stated number in coherent SI, with its dimension."""
    stated = stated_number(member)
    return None if stated is None else (stated.in_si, stated.dimension)


def _values_in_boxes(boxed: Sequence[Formula], context: Context) -> set[_Worth]:
    """Values of givens that a box gives by name."""
    numbers = [numeric for f in boxed if (numeric := numeric_of(f)) is not None]
    return {
        (each.number.in_si, each.number.dimension)
        for each in numbers
        if each.subject.name in context.givens and _is_value_of(each.subject.name, each.number, context)
    }


def _is_value_of(name: str, number: StatedNumber, context: Context) -> bool:
    given = values_of(context)[name].quantity
    return (given.value, given.dimension) == (number.in_si, number.dimension)


def _is_plain_given(member: Expr, context: Context) -> bool:
    """Whether a number without unit is one that the problem gives, without unit too."""
    stated = stated_number(member)
    if stated is None or stated.unit is not None:
        return False
    return any(_is_value_of(name, stated, context) for name in context.givens)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A formula that is compared, once for all places where it stands."""

    key: Key
    formula: Formula
    is_committed: bool


def distinct(sayings: Sequence[Saying]) -> dict[Key, Saying]:
    """The first of each formula that occurs, the latest ones first."""
    first = {each.key: each for each in reversed(sayings)}
    return {each.key: first[each.key] for each in reversed(sayings)}


def latest(sayings: Sequence[Saying], cap: int) -> list[Claimed]:
    """The formulas that count, each where it occurs first, in the order of the text."""
    kept = sorted(list(distinct(sayings).values())[:cap], key=lambda each: each.order)
    return [Claimed(each.key, each.formula, each.is_committed) for each in kept if each.formula and each.asserts]
