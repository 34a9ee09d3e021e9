r"""Deciding whether a solution's final answer is a gold answer: a grade of the problem that is nothing but its answer.

>>> verify(r"v = \sqrt{2gh}", r"Energy is conserved, so $v^2 = 2gh$ and $\boxed{v = \sqrt{2 g h}}$.").status
'equivalent'
>>> bool(verify("75", "The answer is $74$."))
False
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from numbers import Real

from prism.algebra.expr import Formula
from prism.equivalence.facts import numeric_of
from prism.equivalence.numbers.comparison import NumberSpec
from prism.equivalence.verdict import RANK, Stage, Status, Verdict
from prism.errors import DataFileError, PrismError, named_type
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem, prepare
from prism.grading.references import ReferenceNode
from prism.grading.result import Grade, GradedFormula, reason_in_words
from prism.latex import Solution, write
from prism.latex.extraction.joined import RELATED
from prism.problem.answers import ANSWER, QUESTION
from prism.problem.answers.typed import typed_quantity

KEPT = 256  # gold answers that a process keeps prepared
Gold = str | float | Real | Formula


@dataclass(frozen=True, slots=True)
class VerifiedAnswer:
    """A verdict on a final answer, and the grade that it is read from."""

    verdict: Verdict
    grade: Grade


def verify(
    gold: Gold | Sequence[Gold],
    solution: Solution | Gold | None,
    *,
    question: str = "",
    within: float | Fraction | None = None,
    units: bool = True,
    exact: bool | None = None,
    last_line: bool = True,
) -> Verdict:
    """Decide whether what a solution gives as its final answer is the gold answer.

    Args:
        gold: the answer as a formula, a number with its unit, or a bare expression, in LaTeX with or without
            delimiters, or as `prism.parse` returns it; or the words of an option; of a list all have to be given.
        solution: the text, with LaTeX; or chat messages; or a list of steps; or the answer alone, as a number or as
            `prism.parse` returns it; None where there is none.
        question: what was asked: it tells what the symbols mean, which values are given and which unit is wanted.
        within: relative tolerance of numbers, ends included; by default what the figures of the gold answer allow.
        units: count them; else a number is right also where only its unit is missing or another.
        exact: a whole number, with a unit too, is met by an equal one alone (True), or rounded as a measured one is
            (False); by default the question decides (semantics N.2).
        last_line: where no answer is boxed or announced, an expression that is all of the last line is the answer.

    Returns:
        Verdict, true where the answer is right. Of the claims only the one counts that the solution stands by: the last
        in a box or announced, else the last that names the quantity, else the last under a name of its own.

    Errors:
        DataFileError: a gold answer that is no formula; all faults of a list.
        PrismError: one that is neither text nor number, formula or list; a tolerance that is not in [0, 1).

    Source: ours (semantics F.1 to F.5).
    """
    return verify_answer(
        gold, solution, question=question, within=within, units=units, exact=exact, last_line=last_line
    ).verdict


def verify_answer(
    gold: Gold | Sequence[Gold],
    solution: Solution | Gold | None,
    *,
    question: str = "",
    within: float | Fraction | None = None,
    units: bool = True,
    exact: bool | None = None,
    last_line: bool = True,
) -> VerifiedAnswer:
    """Decide as `verify` does, and return the grade too; arguments and errors as there."""
    if within is not None and not 0 <= within < 1:
        raise PrismError(f"within: {within}; expected a relative tolerance from 0 up to 1")
    tolerance = None if within is None else Fraction(str(within))
    prepared = _prepared(gold_texts(gold), question, tolerance, units=units, exact=exact)
    written = _written_solution(solution)
    graded = grade(prepared, with_presented_answer(written) if last_line else written)
    return VerifiedAnswer(_verdict_of(prepared, graded), graded)


def gold_texts(gold: object) -> tuple[str, ...]:
    r"""Return the texts of a gold answer, or of a list of them, as an author would write them.

    Errors:
        DataFileError: an empty list.
        PrismError: what is no answer, of a list each.

    >>> gold_texts("5 m/s"), gold_texts(5), gold_texts(["2", 20.5])
    (('5 m/s',), ('5',), ('2', '20.5'))
    """
    if isinstance(gold, Sequence) and not isinstance(gold, str | bytes):
        found = [(f"gold, entry {place}", _gold_text(each), each) for place, each in enumerate(gold, start=1)]
    else:
        found = [("gold", _gold_text(gold), gold)]
    faults = [
        f"{where}: {'nan is no answer' if each != each else f'found {named_type(each)}'}; {_GOLDS}"
        for where, text, each in found
        if text is None
    ]
    if not found:
        raise DataFileError("gold answer", (f"is empty; {_GOLDS}",))
    if faults:
        raise PrismError("\n".join(faults))
    return tuple(text for _, text, _ in found if text is not None)


def _gold_text(gold: object) -> str | None:
    """Return the text of one gold answer; None for what is none."""
    if isinstance(gold, Formula):
        return gold.latex or write(gold)
    if isinstance(gold, Real) and not isinstance(gold, bool) and isfinite(gold):
        return str(gold)
    return str.__str__(gold) if isinstance(gold, str) else None


_GOLDS = "expected a gold answer as a text, a number or a formula of prism.parse, or a list of these"


def _written_solution(solution: Solution | Gold | None) -> Solution:
    """Return a solution as it is written: a parsed formula or a number in a box, nothing as an empty text."""
    if solution is None:
        return ""
    alone = None if isinstance(solution, str) else _gold_text(solution)
    return rf"\boxed{{{alone}}}" if alone is not None else solution  # type: ignore[return-value]


def with_presented_answer(solution: Solution) -> Solution:
    r"""Return a solution with the last line of its text, or of its last message, in a box if that is the answer.

    What is no text there, such as the parts of a message, stays as it is; rules: `with_last_line_boxed`.

    >>> with_presented_answer([{"role": "user", "content": "Solve."}, {"role": "assistant", "content": "$7$"}])[1]
    {'role': 'assistant', 'content': '\\boxed{7}'}
    """
    if isinstance(solution, str):
        return with_last_line_boxed(solution)
    if not isinstance(solution, Sequence) or not solution or isinstance(solution, bytes):
        return solution
    last = solution[-1]
    if (
        isinstance(last, Mapping)
        and isinstance(last.get("content"), str)
        and last.get("role") in ("assistant", "model")
    ):
        return [*solution[:-1], {**last, "content": with_last_line_boxed(last["content"])}]
    return solution


def with_last_line_boxed(text: str) -> str:
    r"""Return a text with the expression that is all of its last line in a box, if it presents no answer itself.

    So is a quantity that the line says in one sentence, "It takes $120$ minutes.". Left as it is: a line that states
    something, `v = 2`, which is a claim anyway, and one with other words around it.

    >>> with_last_line_boxed("So we get\n\n$x^2 + 1$"), with_last_line_boxed("The answer is\n\n$7$")
    ('So we get\n\n\\boxed{x^2 + 1}', 'The answer is\n\n$7$')
    """
    if _PRESENTS.search(text):
        return text
    said = None if RELATED.search(text) else _SAID.search(text)
    if said and (typed_quantity(said["latex"] + said["unit"]) is not None or (said["open"] and not said["unit"])):
        return rf"{text[: said.start('shown')]}\boxed{{{said['latex']}{said['unit']}}}"
    last = _LAST_DISPLAY.search(text) or _LAST_LINE.search(text)
    if last is None or RELATED.search(last["latex"]) or not last["latex"].strip():
        return text
    if _PROSE.search(last["latex"]) and text.strip().count(" ") > 1 and typed_quantity(last["latex"]) is None:
        return text
    behind = text[last.end("latex") :] if " where " in last.group() else ""
    return rf"{text[: last.start()]}\boxed{{{last['latex'].strip()}}}{behind[behind.find(',') :] if behind else ''}"


_PRESENTS = re.compile(r"\\(?:boxed|fbox|framebox)(?![A-Za-z])|####|<answer>|\b(?:answer|result)s?\b", re.IGNORECASE)
_LAST_DISPLAY = re.compile(r"(?:\$\$|\\\[)(?P<latex>[^$]{1,2000}?)(?:\$\$|\\\])\s*\.?\s*\Z")
_LAST_LINE = re.compile(
    r"(?<![^\n])[ \t]*(?P<bold>\*\*|__)?(?P<open>\$|\\\()?(?P<latex>[^$\n*]{1,2000}?)(?(open)(?:\$|\\\))[ \t]*)"
    r"\.?(?(bold)(?P=bold)\.?)(?(open)(?:,? where \$[^\n]{1,400})?)\s*\Z"
)
_SAID = re.compile(  # one sentence, with nothing between its verb and the quantity
    r"(?<![^\n])[ \t]*(?:(?:So|Thus|Hence|Therefore),? )?(?:[Ii]t|[Tt]his|[Tt]hat|[Tt]he(?: [a-z]{2,}){1,4}) "
    r"(?:is|takes|equals|lasts|weighs|needs)(?: about| approximately)? "
    r"(?P<shown>(?P<open>\$)?(?P<latex>[^$\n=<>]{1,200}?)(?(open)\$)(?P<unit>(?: [a-z]+){0,6}))\.?\s*\Z"
)
_PROSE = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}[,;]?[ ~]+[A-Za-z]{2,}")


@lru_cache(maxsize=KEPT)
def _prepared(
    gold: tuple[str, ...], question: str, within: Fraction | None, *, units: bool, exact: bool | None
) -> PreparedProblem:
    """Prepare the problem of a gold answer; further arguments as of `verify`.

    Errors:
        DataFileError: what is wrong, said of a gold answer.
    """
    try:
        prepared = prepare({ANSWER: list(gold) if len(gold) > 1 else gold[0], QUESTION: question})
    except DataFileError as error:
        raise DataFileError("gold answer", tuple(fault.removeprefix(f"{ANSWER}: ") for fault in error.faults)) from None
    # "Show that ...": who asks for the answer alone cannot ask for the way to it
    prepared = replace(prepared, shown=frozenset(), showing={})
    if within is None and units and exact is None and question:
        return prepared
    references = tuple(
        replace(node, number_spec=_overruled(node, within, units=units, exact=exact, question=question))
        for node in prepared.task.references
    )
    return replace(prepared, task=replace(prepared.task, references=references))


def _overruled(
    node: ReferenceNode, within: Fraction | None, *, units: bool, exact: bool | None, question: str
) -> NumberSpec:
    """Return how precisely a node's number has to be stated, with what the caller of `verify` says."""
    spec = node.number_spec
    is_measured = spec.is_measured if exact is None else not exact
    if exact and within is None and any(n and n.number.is_written_whole for n in map(numeric_of, node.formulas)):
        within = Fraction(0)
    return replace(
        spec, within=within, ignores_units=not units, is_measured=is_measured, is_unasked=not question.strip()
    )


def _verdict_of(prepared: PreparedProblem, graded: Grade) -> Verdict:
    """Return what a grade says of the final answers together: the worst of their verdicts."""
    indices = [node.index for node in prepared.problem.nodes]
    return max((_verdict_on(index, graded) for index in indices), key=lambda verdict: RANK[verdict.status])


def _verdict_on(index: int, graded: Grade) -> Verdict:
    """Return the verdict on one final answer: of the formula that gives it, else of the last one."""
    for item in graded.formulas:
        for match in item.matches:
            if match.node == index:
                return Verdict(
                    Status.EQUIVALENT, match.reason, readings=match.readings, cost=graded.cost or 0, detail=item.latex,
                    stage=Stage(match.stage),
                )  # fmt: skip
    stated = [item for item in graded.formulas if item.status != "mention"]
    if not stated:
        return Verdict(Status.UNDECIDED, "no_answer", cost=graded.cost or 0)
    in_words = (item for item in stated if item.kind == "text" and item.reason == "other_option")
    withheld = (item for item in reversed(stated) if _withheld_at(item, index))
    item = next(in_words, None) or next(withheld, None) or _last_presented(stated)
    detail = f"{item.latex}: {reason_in_words(item)}" if item.status != "withheld" else f"{item.latex}: {item.detail}"
    if item.status in (Status.DIFFERENT, Status.UNDECIDED):
        return Verdict(Status(item.status), item.reason, cost=graded.cost or 0, detail=detail)
    reason = "taken_back" if item.status == "withheld" else "parse_error" if item.status == "unread" else "no_answer"
    return Verdict(
        Status.UNDECIDED if reason == "parse_error" else Status.DIFFERENT, reason, cost=graded.cost or 0, detail=detail
    )


def _withheld_at(item: GradedFormula, index: int) -> bool:
    """Return True if a formula says what the final answer says, and does not count."""
    return any(node == index for node, _ in item.withheld)


def _last_presented(stated: Sequence[GradedFormula]) -> GradedFormula:
    """Return the last formula in a box, else the last one."""
    return next((item for item in reversed(stated) if item.kind == "boxed"), stated[-1])
