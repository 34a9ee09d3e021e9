r"""A graded solution in words for its student: what stands, where to look again, and never what would be right.

Whatever is said of a step is one of the sentences below, with the place in the student's own formula, the number of
another step of the same text, or a part of the formula as the student has written it. Nothing of the reference, of a
witness or of a finding's sentence for teachers comes in, so no sentence can hold an answer.

Of statements that exclude each other the page does not say which one is right: else a list of guesses would be told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from prism.algebra.expr import Expr
from prism.diagnosis.findings import Diagnosis, FormulaDiagnosis
from prism.diagnosis.wording import Difference
from prism.errors import LatexSyntaxError
from prism.grading.result import Grade, GradedFormula
from prism.grading.selection import WithheldReason
from prism.latex import one_line, write
from prism.physics.context import Context, parse
from prism.reports.feedback.wording import ENGLISH, Wording
from prism.reports.html.markup import Mark
from prism.resources import meanings

MARKS = {
    "stands": Mark("m", "✓", "stands"),
    "look again": Mark("d", "!", "look again"),
    "goes on": Mark("w", "→", "goes on from a step that needs another look"),
    "does not count": Mark("u", "~", "does not count, for the reason below"),
    "right": Mark("r", "·", "is right, and no points hang on it"),
    "open": Mark("r", "?", "could not be placed, or not be read"),
}
"""The mark of each state of a step, the most telling first."""

HINTS: Mapping[str, str] = meanings("reports.hints")
"""What a student is told of a wrong step, by the kind of its difference (`prism.diagnosis.wording.DIFFERENCES`)."""

SLIPS: Mapping[str, str] = meanings("reports.slips")
"""The same kinds in a few words, for the page of the class."""

WITHHELD = {WithheldReason(reason): text for reason, text in meanings("reports.withheld").items()}
"""What a student is told of a step that says what is asked for, and does not count."""

_IN_PART = "This stands, and something else that it says does not count."
_NUMBER = "The formula of this step stands, the number behind it does not."
_OPEN = "This step could not be placed. It may be right: ask, if you think that it is."
_UNREAD = "This could not be read: a person has to look at it."
_BARE = "A bare value says nothing: write what it is the value of."
_ANSWER = "Look again at this answer."
_RIGHT = "This is right, and no points hang on it."
_FROM_EARLIER = "This goes on from an earlier step, which needs another look: it is an error carried forward."
_FROM_STEP = "This goes on from step {number}, which needs another look: it is an error carried forward."
_PAID = "It earns its points."
_UNPAID = "Mend that step first."
_HEDGED = (WithheldReason.CONTRADICTED, WithheldReason.ONE_OF_MANY, WithheldReason.GUESSED)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
SENTENCES = (
    *HINTS.values(), *SLIPS.values(), *WITHHELD.values(), *(mark.meaning for mark in MARKS.values()), *_ORDINALS,
    _IN_PART, _NUMBER, _OPEN, _UNREAD, _BARE, _ANSWER, _RIGHT, _FROM_EARLIER, _FROM_STEP, _PAID, _UNPAID,
)  # fmt: skip
"""All that is said here, but for places."""


@dataclass(frozen=True, slots=True)
class StudentStep:
    """A formula of a solution as its student is shown it.

    Attributes:
        number: of the step on the page, from 1. place: in `shown_formulas` of the grade.
        formula: as in the grade. state: key of MARKS.
        says: sentences; none where the state says it all.
        part: what of the formula they are about, in the student's own LaTeX; mostly empty.
    """

    number: int
    place: int
    formula: GradedFormula
    state: str
    says: str
    part: str = ""


class _Carried(Protocol):
    """A node that is carried forward, of which the position of its step is needed here."""

    @property
    def position(self) -> int:
        """Position of the step in `Grade.formulas`."""


def shown_formulas(grade: Grade) -> list[tuple[int, GradedFormula]]:
    """Return the formulas of a grade that assert something, with their positions in it."""
    return [(position, item) for position, item in enumerate(grade.formulas) if item.status != "mention"]


def student_steps(
    grade: Grade,
    diagnosis: Diagnosis | None,
    context: Context,
    carried: Sequence[_Carried] = (),
    *,
    wording: Wording = ENGLISH,
) -> tuple[StudentStep, ...]:
    """Return the steps of a solution in the order of the text; of formulas that are alike the first one alone.

    Args:
        context: of the problem, by which its formulas are read.
        carried: nodes that are carried forward.
        wording: the language of what is said.
    """
    findings = {each.position: each for each in diagnosis.findings} if diagnosis else {}
    hedged = {index for item in grade.formulas for index, reason in item.withheld if reason in _HEDGED}
    paid = {each.position for each in carried}
    numbers: dict[tuple[str, str], int] = {}
    by_position: dict[int, int] = {}
    steps: list[StudentStep] = []
    for place, (position, item) in enumerate(shown_formulas(grade)):
        finding = findings.get(position)
        state, sentences, difference = _state_of(item, finding, hedged)
        says, part = [wording.say(each) for each in sentences], ""
        if difference is not None:
            hint, part = hint_of(difference, item.latex, context, wording)
            says.append(hint)
        number = numbers.setdefault((one_line(item.latex), state), len(steps) + 1)
        by_position[position] = number
        if number > len(steps):
            if finding is not None and finding.source is not None and state == "goes on":
                says.append(_goes_on(by_position.get(finding.source), wording, is_paid=position in paid))
            steps.append(StudentStep(number, place, item, state, " ".join(says), part))
    return tuple(steps)


def step_numbers(grade: Grade, steps: Sequence[StudentStep]) -> list[int]:
    """Return for each formula of `shown_formulas` the number of its step, or of the step that it is like."""
    first = {(one_line(each.formula.latex)): each.number for each in reversed(steps)}
    own = {each.place: each.number for each in steps}
    return [own.get(place, first[one_line(item.latex)]) for place, (_, item) in enumerate(shown_formulas(grade))]


def _state_of(
    item: GradedFormula, finding: FormulaDiagnosis | None, hedged: set[int]
) -> tuple[str, tuple[str, ...], Difference | None]:
    """Return the state of a formula, the sentences that are said of it, and the difference that a hint is about."""
    if item.nodes:
        return _state_of_match(item, finding, hedged)
    if item.withheld:
        return "does not count", (WITHHELD[WithheldReason(item.withheld[0][1])],), None
    if item.status == "unread":
        return "open", (_UNREAD,), None
    if item.reason == "no_relation":
        return "open", (_BARE,), None
    if item.kind == "text":
        return ("look again", (_ANSWER,), None) if item.status == "different" else ("open", (_OPEN,), None)
    if finding is None or finding.status == "undetermined":
        return "open", (_OPEN,), None
    if finding.status == "right":
        return "right", (_RIGHT,), None
    if _is_hedged(item, finding, hedged):
        return "does not count", (WITHHELD[WithheldReason.CONTRADICTED],), None
    if finding.status == "follows" or finding.difference is None:
        return "goes on", (), None
    return "look again", (), finding.difference


def _state_of_match(
    item: GradedFormula, finding: FormulaDiagnosis | None, hedged: set[int]
) -> tuple[str, tuple[str, ...], Difference | None]:
    """Return the same of a formula that matches a node; a finding is about the number behind it."""
    if item.withheld:
        return "stands", (_IN_PART, WITHHELD[WithheldReason(item.withheld[0][1])]), None
    if finding is None:
        return "stands", (), None
    if _is_hedged(item, finding, hedged):
        return "stands", (_IN_PART, WITHHELD[WithheldReason.CONTRADICTED]), None
    return "goes on" if finding.difference is None else "look again", (_NUMBER,), finding.difference


def _is_hedged(item: GradedFormula, finding: FormulaDiagnosis, hedged: set[int]) -> bool:
    """Return True if of what a formula was meant for the solution says different things."""
    nearest = finding.nearest if finding.difference is None else finding.difference.node
    return nearest in hedged or item.nearest in hedged


def _goes_on(source: int | None, wording: Wording, *, is_paid: bool) -> str:
    """Return what is said of a step that follows from the wrong step `source`, the number of which may be unknown."""
    says = wording.say(_FROM_EARLIER) if source is None else wording.say(_FROM_STEP, number=source)
    return f"{says} {wording.say(_PAID if is_paid else _UNPAID)}"


# Hints. -----------------------------------------------------------------------------------------------------------


def hint_of(difference: Difference, latex: str, context: Context, wording: Wording = ENGLISH) -> tuple[str, str]:
    """Return where to look again in a formula, and the part of it that this is about if its text holds that part.

    Args:
        difference: of the formula from what it was meant for; of it the kind and the student's own part are used.
        latex: of the formula, as the student has it.
        wording: the language of the hint.
    """
    template = HINTS[difference.kind]
    place = _place_of(difference.has, latex, context) if difference.has else _THIS_STEP
    nth = wording.say(_ORDINALS[place.number])
    place_words = zip(("place", "within", "of"), place.words, strict=True)
    words = {name: wording.say(text, nth=nth) for name, text in place_words}
    is_about_part = "{" in template and difference.has and _holds(latex, difference.has)
    return wording.say(template, **words), difference.has if is_about_part else ""


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in a formula in words, alone and behind two prepositions, and the number of a term in it, from 0."""

    words: tuple[str, str, str]
    number: int = 0


_THIS_STEP = _Place(("this step", "in this step", "in this step"))
_SIDES = (
    ("the left side", "on the left side", "on the left side"),
    ("the right side", "on the right side", "on the right side"),
)
_TERMS = (
    ("the {nth} term on the left side", "in the {nth} term on the left side", "of the {nth} term on the left side"),
    ("the {nth} term on the right side", "in the {nth} term on the right side", "of the {nth} term on the right side"),
)
PLACES = (*_THIS_STEP.words, *(text for each in (*_SIDES, *_TERMS) for text in each))
"""All that is said of a place."""


def _holds(latex: str, part: str) -> bool:
    """Return True if a part stands in a formula letter by letter, apart from blanks."""
    text, own = (re.sub(r"\s|\\[,;:! ]", "", each) for each in (latex, part))
    return own in text


def _place_of(part: str, latex: str, context: Context) -> _Place:
    """Return where a part stands in a formula: the second term on the right side; else this step."""
    try:
        members = parse(latex, context=context).members
    except LatexSyntaxError:
        return _THIS_STEP
    wanted = _unsigned(part)
    for is_whole in (True, False):
        found: list[_Place] = []
        for side, member in enumerate(members):
            texts = [_unsigned(write(term)) for term in _terms(member)]
            hits = [k for k, text in enumerate(texts) if (text == wanted if is_whole else wanted in text)]
            found += [_term_place(k, len(texts), side if len(members) == 2 else None) for k in hits]
        if len(found) == 1:
            return found[0]
    return _THIS_STEP


def _term_place(number: int, n: int, side: int | None) -> _Place:
    """Return the place of a term; the side itself if that is one term or many, the step if it is a link of a chain."""
    if side is None:
        return _THIS_STEP
    return _Place(_SIDES[side]) if n == 1 or number >= len(_ORDINALS) else _Place(_TERMS[side], number)


def _unsigned(text: str) -> str:
    """Return LaTeX without blanks and without a minus in front of it."""
    return re.sub(r"\s", "", text).removeprefix("-")


def _terms(node: Expr) -> list[Expr]:
    """Return the terms of a sum, from left to right; one for anything else."""
    if node.op in ("add", "sub"):
        return [term for each in node.args for term in _terms(each)]
    return _terms(node.args[0]) if node.op == "neg" else [node]
