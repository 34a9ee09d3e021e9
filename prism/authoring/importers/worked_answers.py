r"""Answers as the end of a worked text states them, and the names that the text gives to their numbers.

Behind `**Answer:**` each line is read for itself: its equations are answers as they stand, else its quantities are,
without those that the question gives. What stands before a colon (`H2O(g): 21.29 mol`) is the label of a value.

A number without a name is no good final where there are several: nothing says which of them a solution means. Its
name is that of the formula of the worked text that comes out at it, `N_B = 32.83 - 11.54 = 21.29`. Refused: a name
made out of the label, which no formula of a solution could have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from prism.algebra.expr import Expr, Formula
from prism.authoring.candidates import is_stated_by, read_italic_units, split_statement
from prism.authoring.plain_answers import first_quantity, numbers_of, plain_names, quantities_of, tagged_span
from prism.budget import STATED, share
from prism.equivalence.facts import subject_of
from prism.equivalence.numbers.comparison import NumberSpec, compare_numbers
from prism.equivalence.numbers.stated import Numeric, stated_number
from prism.equivalence.verdict import Status
from prism.errors import LatexSyntaxError
from prism.latex import LocatedFormula, extract, parse, write
from prism.physics.context import Context

_LABEL = re.compile(r"\s*(?:[-*•]\s+|\(?[a-z0-9]{1,2}[.)]\s+)?(?P<label>[^:=]{1,80}?)\s*:(?=\s|\*)\s*(?P<rest>.*\S.*)")
_SEVERAL_NUMBERS = re.compile(
    r"[(<]\s*(?P<inner>[^()<>,]*\d[^()<>,]*(?:,\s+[^()<>,]*\d[^()<>,]*)+)[)>](?P<unit>[^.;,(<]*)"
)
_PROPERTY = re.compile(r"\*\*(?P<negated>not\s+)?(?P<word>[a-z]{4,20})\*\*", re.IGNORECASE)
_YES_OR_NO = re.compile(r"\**(?P<word>yes|no)\**\.?", re.IGNORECASE)
_ZERO = re.compile(r"[-+]?[0.]+(?:e[-+]?\d+)?", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\((?=[^()]*\d)[^()]*\)")
_ANY_UNIT = NumberSpec(is_node=True, ignores_units=True)


@dataclass(frozen=True, slots=True)
class WorkedAnswer:
    """One answer of a worked text.

    Attributes:
        latex: an equation or a quantity; of an answer in words these.
        label: what the text calls it; empty if it does not.
        options: what an answer in words is one of; empty for any other.
    """

    latex: str
    label: str = ""
    options: tuple[str, ...] = ()


def worked_answers(solution: str, question: str) -> tuple[WorkedAnswer, ...]:
    r"""Return the answers that stand behind the tag of a worked text, in order; empty if no line has one.

    >>> [each.latex for each in worked_answers("**Answer:**\n- rate: 6 m/s\n- way after 2 s: 9.0 m", "After 2 s?")]
    ['6\\unit{m/s}', '9.0\\unit{m}']
    """
    extraction = extract(solution, symbols=plain_names(solution, question))
    span = tagged_span(extraction.text)
    if span is None:
        return ()
    equations = [each for each in extraction if span[0] <= each.span[0] < span[1] and not each.in_passing]
    given = frozenset(numbers_of(question))
    found: dict[str, WorkedAnswer] = {}
    at = span[0]
    for line in extraction.text[span[0] : span[1]].splitlines(keepends=True):
        own = [each for each in equations if at <= each.span[0] < at + len(line)]
        at += len(line)
        for each in _answers_of_line(line, own, given):
            found.setdefault(f"{each.latex} {each.label if not numbers_of(each.latex) else ''}", each)
    return tuple(found.values()) or _property(extraction.text[span[0] : span[1]], question)


def _property(text: str, question: str) -> tuple[WorkedAnswer, ...]:
    r"""Return what a text that is only words says of a property that its question names; empty if nothing.

    >>> _property("so it is **not linear**.", "Is this system linear?")[0].options
    ('linear', 'nonlinear')
    """
    for found in reversed(list(_PROPERTY.finditer(text))):
        word = found["word"].lower()
        if re.search(rf"\b{word}\b", question, re.IGNORECASE):
            return (WorkedAnswer(f"non{word}" if found["negated"] else word, options=(word, f"non{word}")),)
    return ()


def _answers_of_line(line: str, own: Sequence[LocatedFormula], given: frozenset[str]) -> Iterator[WorkedAnswer]:
    """Yield the answers that one line states: its equations, else its quantities."""
    if line.rstrip().endswith(":"):  # it announces those below
        return
    labelled = _LABEL.fullmatch(line.rstrip("\n"))
    label = labelled["label"].replace("*", "").replace("$", "").strip() if labelled else ""
    equations = [latex for each in own if (latex := _equation(each.latex)) and not _is_given(latex, given)]
    if equations:
        yield from (WorkedAnswer(latex, label) for latex in equations)
        return
    if labelled and (said := _YES_OR_NO.fullmatch(labelled["rest"].strip())):
        yield WorkedAnswer(said["word"].lower(), label)
        return
    found = list(_quantities_of_line(labelled["rest"] if labelled else line))
    new = [each for each in found if not given.intersection(numbers_of(each))]
    yield from (WorkedAnswer(each, label) for each in new or found)


def _equation(latex: str) -> str:
    r"""Return an equation that says one thing, of a longer chain what it comes out at; empty for anything else."""
    try:
        read = parse(latex)
    except LatexSyntaxError:
        return ""
    if read.kind == "chain":
        *_, last = split_statement(read)
        return write(last) if isinstance(last, Formula) and last.kind == "equation" else ""
    return latex if read.kind == "equation" and all(member.op != "list" for member in read.members) else ""


def _is_given(latex: str, given: frozenset[str]) -> bool:
    """Return True for a number that stands in the question: `t = 2.5 s`, the instant that is asked of."""
    numbers = numbers_of(latex.partition("=")[2])
    return len(numbers) == 1 and numbers[0] in given


def _quantities_of_line(text: str) -> Iterator[str]:
    """Yield the quantities of a line: the members of its tuples, its numbers with units, else what stands behind `=`.

    Numbers in brackets are the same in other units, or say more of it. No member is 0, which nothing has to be
    worked out for.
    """
    for several in _SEVERAL_NUMBERS.finditer(text):
        members = [each.strip() for each in re.split(r",\s+", several["inner"]) if not _ZERO.fullmatch(each.strip())]
        read = [first_quantity(member) or "" for member in members]
        yield from (
            each if "\\unit" in each else first_quantity(f"{member} {several['unit']}") or each
            for each, member in zip(read, members, strict=True)
        )
    outside = _IN_BRACKETS.sub(" ", _SEVERAL_NUMBERS.sub(" ", text))
    found = quantities_of(outside)
    with_unit = [each for each in dict.fromkeys(found) if "\\unit" in each]
    if with_unit or _SEVERAL_NUMBERS.search(text):
        yield from with_unit
        return
    _, sign, behind = outside.rpartition("=")
    yield from quantities_of(behind) if sign else found[:1]


# Names of numbers --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedNumbers:
    """The equations of a worked text that come out at a number, in order: `N_B = 21.29` of a longer chain."""

    equations: tuple[Formula, ...]

    def named(self, latex: str) -> str:
        r"""Return the equation that states a number; empty if none does, or it is no number.

        Of several it is the one of the very digits, with a unit, for a symbol and not for a term, and the last.
        """
        read = _number(latex)
        if read is None:
            return ""
        own = numbers_of(latex)
        stated = [each for each in self.equations if is_stated_by(each, read) or _has_value_of(each, read)]
        best = max(
            range(len(stated)),
            key=lambda k: (numbers_of(write(stated[k])) == own, _has_unit(stated[k]), _is_name(stated[k]), k),
            default=None,
        )
        return "" if best is None else write(stated[best])


def named_numbers(solution: str, question: str, context: Context) -> NamedNumbers:
    """Return the equations of a worked text that come out at a number."""
    names = plain_names(solution, question)
    pieces = [piece for each in extract(solution, symbols=names) for piece in _pieces_of(each, context)]
    return NamedNumbers(tuple(pieces))


def _pieces_of(located: LocatedFormula, context: Context) -> Iterable[Formula]:
    """Return the equations of one formula that state a number for something with a name."""
    if located.in_passing or located.kind == "thinking":
        return []
    try:
        (read,) = read_italic_units([parse(located.latex)], context)
    except LatexSyntaxError:
        return []
    return [
        replace(piece, latex="") for piece in split_statement(read)
        if isinstance(piece, Formula) and piece.kind == "equation"
        and stated_number(piece.members[0]) is None and stated_number(piece.members[1]) is not None
    ]  # fmt: skip


def _has_unit(f: Formula) -> bool:
    """Return True for an equation whose number has a unit."""
    stated = stated_number(f.members[1])
    return stated is not None and stated.unit is not None


def _is_name(f: Formula) -> bool:
    """Return True if what stands left of an equation has a value of its own: a symbol, `x(2)`, an absolute value."""
    left: Expr = f.members[0]
    return subject_of(f) == left or left.op in ("apply", "abs", "derivative", "at")


def _number(latex: str) -> Formula | None:
    """Return a number without a name as a formula; None for anything else."""
    try:
        read = parse(latex)
    except LatexSyntaxError:
        return None
    return read if read.kind == "expression" and stated_number(read.members[0]) is not None else None


def _has_value_of(equation: Formula, read: Formula) -> bool:
    """Return True if an equation states a number without unit that is the one read, whatever the unit of that is."""
    own, wanted = stated_number(equation.members[1]), stated_number(read.members[0])
    if own is None or wanted is None or own.unit is not None:
        return False
    with share(STATED):
        found = compare_numbers(Numeric(equation.members[0], own), wanted, _ANY_UNIT)
        return found.status == Status.EQUIVALENT
    return False
