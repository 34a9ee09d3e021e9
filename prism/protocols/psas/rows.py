"""PSAS-S: a response step by step, each step by its value and its equation, without dependencies between steps.

Source: PhysReason (arXiv 2502.12054), the step-level score; the baseline of PRISM-Physics (arXiv 2510.03185). There a
model says whether a step holds; here the nodes that a solution's formulas match say it, never by closure.

1. A part whose final answer is right scores 1, and no step of it is looked at.
2. Else each reference step of the part: its value holds if every value of it is stated, and then its equation holds
   too; otherwise its equation holds if every equation of it is stated. A step is half its equation and half its value.
3. A part is the mean of its steps, a problem the mean of its parts, weighted by their numbers of steps.

`released` keeps what the published script does: a step without a value stays at half, since no value holds. `judged`
(ours) takes a step that has only one of the two by that one alone, and leaves a step with neither out.

What is undecided is null, and the bounds take it as not stated and as stated: holding more never lowers a score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from prism.protocols.psas.steps import UNREADABLE, ReferencePart, ReferenceStep
from prism.protocols.rows import Basis, Part, ProtocolRow, Scored

PROTOCOL = "psas"
POLICIES = ("psas_unweighted", "psas_released", "psas_judged")
ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)


class Variant(StrEnum):
    """What a step without a value, or without an equation, can earn."""

    RELEASED = "released"
    JUDGED = "judged"


@dataclass(frozen=True, slots=True)
class Stated:
    """Which nodes a solution states in one part, and of which that is undecided; of all others it is decided not."""

    stated: frozenset[int] = frozenset()
    undecided: frozenset[int] = frozenset()

    def holds(self, nodes: Iterable[int]) -> bool | None:
        """Return True if all nodes are stated, False if one is not, else None."""
        known = [None if index in self.undecided or index == UNREADABLE else index in self.stated for index in nodes]
        return False if False in known else None if None in known else True


@dataclass(frozen=True, slots=True)
class StepMarks:
    """Whether value and equation of a step hold, None where that is undecided, and what decided it.

    Attributes:
        value, equation: False where the reference has none.
        labels: error labels from a file.
    """

    value: bool | None
    equation: bool | None
    basis: Basis = Basis.RULES
    findings: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartMarks:
    """Whether the final answer of a part is right, None where that is undecided, and the marks of its steps."""

    answer: bool | None
    steps: tuple[StepMarks, ...]
    basis: Basis = Basis.RULES
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """The lowest and the highest score that is possible; a score is decided where they are one."""

    low: Fraction
    high: Fraction

    @property
    def score(self) -> Fraction | None:
        """The score; None where it is undecided."""
        return self.low if self.low == self.high else None


def marks_by_rules(part: ReferencePart, found: Stated) -> PartMarks:
    """Return the marks of a part by what a solution states in it.

    Args:
        found: of all the text of the part.
    """
    answer = found.holds(part.finals) if part.finals else False
    steps = tuple(
        StepMarks(
            value=found.holds(step.values) if step.values else False,
            equation=found.holds(step.equations) if step.equations else False,
            findings=_findings(step, found),
        )
        for step in part.steps
    )
    return PartMarks(answer, steps, findings=(f"final answer: {_nodes(part.finals)}",))


def step_bounds(step: ReferenceStep, marks: StepMarks, variant: Variant) -> Bounds | None:
    """Return the bounds of a step's score; None for a step that is left out."""
    if variant == Variant.JUDGED and not step.nodes:
        return None
    ends = []
    for end in (False, True):  # of what is undecided
        value, equation = (end if mark is None else mark for mark in (marks.value, marks.equation))
        ends.append(_step_score(step, value=value, equation=equation, variant=variant))
    return Bounds(*ends)


def _step_score(step: ReferenceStep, *, value: bool, equation: bool, variant: Variant) -> Fraction:
    """Return the score of a step whose marks are decided."""
    if variant == Variant.JUDGED and not (step.equations and step.values):
        return ONE if (value if step.values else equation) else ZERO
    equation = equation or value
    return HALF * equation + HALF * value


def part_bounds(part: ReferencePart, marks: PartMarks, variant: Variant) -> tuple[Bounds, int]:
    """Return the bounds of a part's score, and its weight: the number of steps that count."""
    found = [step_bounds(step, each, variant) for step, each in zip(part.steps, marks.steps, strict=True)]
    counted = [each for each in found if each is not None]
    n = len(counted)
    low = sum((each.low for each in counted), ZERO) / n if n else ZERO
    high = sum((each.high for each in counted), ZERO) / n if n else ZERO
    if marks.answer:
        return Bounds(ONE, ONE), n
    return Bounds(low, ONE if marks.answer is None else high), n


def mean_bounds(parts: Sequence[tuple[Bounds, int]]) -> Bounds:
    """Return the mean of the parts' bounds, each with its weight; the plain mean if no part has any."""
    total = sum(weight for _, weight in parts)
    weights = [Fraction(weight, total) if total else Fraction(1, len(parts)) for _, weight in parts]
    pairs = list(zip((bounds for bounds, _ in parts), weights, strict=True))
    return Bounds(
        sum((bounds.low * weight for bounds, weight in pairs), ZERO),
        sum((bounds.high * weight for bounds, weight in pairs), ZERO),
    )


# Rows. ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Marked:
    """A response with the marks of each part of its problem.

    Attributes:
        notes: for the row.
    """

    about: Scored
    parts: tuple[ReferencePart, ...]
    marks: tuple[PartMarks, ...]
    notes: tuple[str, ...] = field(default=())


def psas_row(marked: Marked, *, variant: Variant, settings: Mapping[str, str]) -> ProtocolRow:
    """Return the row of a response."""
    pairs = list(zip(marked.parts, marked.marks, strict=True))
    by_variant = {each: [part_bounds(part, marks, each) for part, marks in pairs] for each in Variant}
    means = {each: mean_bounds(found) for each, found in by_variant.items()}
    chosen = by_variant[variant]
    plain = mean_bounds([(bounds, 1) for bounds, _ in chosen])
    answers = [marks.answer for marks in marked.marks]
    return ProtocolRow(
        protocol=PROTOCOL, variant=str(variant), about=marked.about,
        score=means[variant].score, score_low=means[variant].low, score_high=means[variant].high,
        parts=tuple(each for part, marks in pairs for each in _row_parts(part, marks, variant)),
        policies={
            "psas_unweighted": plain.score,
            **{f"psas_{each}": bounds.score for each, bounds in means.items()},
        },
        final_correct=False if False in answers else None if None in answers else True,
        settings=dict(settings), notes=(*marked.notes, *(told for pair in pairs for told in _conflicts(*pair))),
    )  # fmt: skip


def _conflicts(part: ReferencePart, marks: PartMarks) -> Iterator[str]:
    """Yield the conflict about an answer that does not count as right: its part then has no entry of its own."""
    if marks.basis is Basis.CONFLICT and not marks.answer:
        yield f"conflict: {part.name}, {', '.join(marks.findings)}"


def _row_parts(part: ReferencePart, marks: PartMarks, variant: Variant) -> list[Part]:
    """Return the entries of a part: its answer alone if that is right, else its steps, which count then.

    An undecided answer stands before the steps, unless they earn everything anyway.
    """
    answer = Part(part.name, None, marks.basis, marks.findings)
    if marks.answer:
        return [replace(answer, score=ONE)]
    steps = [
        Part(step.name, found.score, each.basis, (*each.findings, *(f"label: {label}" for label in each.labels)))
        for step, each in zip(part.steps, marks.steps, strict=True)
        if (found := step_bounds(step, each, variant)) is not None
    ]
    steps = [replace(each, basis=Basis.NONE) if each.score is None else each for each in steps]
    if marks.answer is None and part_bounds(part, marks, variant)[0].score is None:
        return [replace(answer, basis=Basis.NONE), *steps]
    return steps


def _findings(step: ReferenceStep, found: Stated) -> tuple[str, ...]:
    """Return what was found of the nodes of a step: `equation: node 1`, `undecided: node 2`, `not stated: node 3`."""
    kinds = (("equation", step.equations), ("value", step.values))
    told = []
    for kind, nodes in kinds:
        by_word: dict[str, list[int]] = {}
        for index in nodes:
            if index == UNREADABLE:
                word = f"unreadable {kind} of the reference"
            elif index in found.stated:
                word = kind
            else:
                word = f"undecided {kind}" if index in found.undecided else f"no {kind}"
            by_word.setdefault(word, []).append(index)
        told += [word if indices == [UNREADABLE] else f"{word}: {_nodes(indices)}" for word, indices in by_word.items()]
    return tuple(told)


def _nodes(indices: Sequence[int]) -> str:
    """Return `node 1`, `nodes 1, 2`, or `no node`."""
    known = [str(index) for index in indices if index != UNREADABLE]
    return "no node" if not known else f"node{'s' if len(known) > 1 else ''} {', '.join(known)}"
