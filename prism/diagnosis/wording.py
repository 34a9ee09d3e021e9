"""Word the difference of two formulas: one sentence for the student, who is to find it, and one for the teacher.

Nothing is decided here. The hint names the student's own part of the formula and what kind of thing to look for there,
never what would be right; that stands in the other sentence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from prism.algebra.expr import Expr, number, symbols
from prism.latex import write
from prism.latex.writing.variants import with_variants
from prism.problem.plain_values import plain

_SHORT = 1000  # largest denominator of a number that is shown as a fraction

DIFFERENCES = {
    "sign": "DCE", "relation": "DCE", "factor": "DCE", "exponent": "DCE", "arithmetic": "DCE",
    "value": "DCE", "symbol": "VRE", "quantity_missing": "VRE", "quantity_extra": "VRE", "term_missing": "VRE",
    "term_extra": "VRE", "unit": "UDE", "dimension": "UDE", "function": "undetermined",
}  # fmt: skip
"""Every kind of difference, with its label; `term_missing` and `term_extra` of a plain number are DCE. Closed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What separates a formula from the node it was meant for, or one member of a chain from the next.

    Attributes:
        kind: key of DIFFERENCES.
        label: `UDE`, `DCE`, `VRE` or `undetermined`.
        node: index of the node that the formula was meant for; None where the fault shows without a node.
        has, should: the part as the student has it and as it would be right, in LaTeX; empty where there is no part.
        amount: the factor that is needed, the term or the quantity, in LaTeX; else empty.
        hint: for the student: where to look, and not what to write.
        full: for a teacher: what is wrong and what would be right.
        also: other kinds of change that repair it too, the likeliest first.
    """

    kind: str
    label: str
    node: int | None
    has: str = ""
    should: str = ""
    amount: str = ""
    hint: str = ""
    full: str = ""
    also: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; the keys are the attribute names."""
        found: dict[str, Any] = plain(self)
        return found


HINT_TEMPLATES = {
    "sign": "Check the sign of {part}.",
    "relation": "Check which side is the larger one.",
    "factor": "A constant factor is not right: look again at {part}.",
    "exponent": "Check the power to which {part} is taken.",
    "function": "Check which function belongs at {part}.",
    "symbol": "Check whether {part} is the quantity that belongs here.",
    "quantity_missing": "A quantity on which this depends does not stand in {part}.",
    "quantity_extra": "{part} depends on a quantity more than it should.",
    "term_missing": "Something is not counted here: a term is missing.",
    "term_extra": "One of the terms does not belong here.",
    "unit": "The size is off by the factor of a unit or a power of ten: check the conversion.",
    "dimension": "Check the units: what stands here cannot be compared.",
    "value": "The number is not right, though nothing simple is wrong with it: work it out again.",
    "arithmetic": "Two members of this chain are not equal: check the step from {part}.",
}
"""For the student, by kind; `part` is a part of what the student wrote."""

FULL_TEMPLATES = {
    "sign": "The sign is turned: {has}, where {should} is right.",
    "relation": "The inequality points the other way.",
    "factor": "Off by a factor: {has} has to be multiplied by {amount}.",
    "exponent": "The exponent is wrong: {has}, where {should} is right.",
    "function": "The function is wrong: {has}, where {should} is right.",
    "symbol": "The wrong quantity: {has}, where {should} is right.",
    "quantity_missing": "A factor is missing: {has}, where {should} is right.",
    "quantity_extra": "A factor too many: {has}, where {should} is right.",
    "term_missing": "A term is missing: {amount}, in {has}.",
    "term_extra": "A term too many: {amount}, in {has}.",
    "unit": "Off by the factor of a unit or a power of ten: {has} has to be multiplied by {amount}.",
    "dimension": "Its units cannot agree: {detail}.",
    "value": "The number is {has}, where {should} is right ({detail}).",
    "arithmetic": "{has} is not {should}: {detail}.",
}
"""For the teacher, by kind; the fields are those of a difference, and what else is known."""


def describe_difference(
    kind: str,
    node: int | None,
    has: Expr | None,
    should: Expr | None,
    *,
    detail: str = "",
    amount: Expr | None = None,
    also: tuple[str, ...] = (),
    is_written: bool = True,
) -> Difference:
    """Return a `Difference` with its label, its hint for the student and its full sentence for the teacher.

    Args:
        kind: key of DIFFERENCES. node, has, should, amount, also: as in `Difference`.
        detail: what else is known, for the kinds whose sentence has room for it.
        is_written: the part stands in what the student wrote; otherwise the hint does not name it.
    """
    label = DIFFERENCES[kind]
    if kind in ("term_missing", "term_extra") and amount is not None and not symbols(amount):
        label = "DCE"
    if is_written:  # what stands in a text stays as it is written; the other part is worked out
        should = should and _as_one_fraction(should)
    else:
        has = has and _as_one_fraction(has)
    written = {"has": _latex_of(has), "should": _latex_of(should), "amount": _latex_of(amount)}
    part = f"${written['has']}$" if written["has"] and is_written else "this formula"
    fields = {name: f"${text}$" if text else "this" for name, text in written.items()}
    return Difference(
        kind, label, node, **written,
        hint=HINT_TEMPLATES[kind].format(part=part),
        full=FULL_TEMPLATES[kind].format(detail=detail or "no more is known", **fields),
        also=also,
    )  # fmt: skip


def with_written_letters(difference: Difference, *sources: str) -> Difference:
    r"""Return a difference whose texts have `\varphi` where the first of the sources with that letter has it."""
    texts = (difference.has, difference.should, difference.amount, difference.hint, difference.full)
    has, should, amount, hint, full = (with_variants(text, *sources) for text in texts)
    return replace(difference, has=has, should=should, amount=amount, hint=hint, full=full)


def _as_one_fraction(node: Expr) -> Expr:
    """Return a fraction of fractions as one, without the factors that both its parts have; else the node as it is."""
    if node.op != "div":
        return node
    above, below = (_factors_of_fraction(side) for side in node.args)
    upper, lower = [*above[0], *below[1]], [*above[1], *below[0]]
    for factor in tuple(upper):
        if factor in lower:
            upper.remove(factor)
            lower.remove(factor)
    one, other = (Expr("mul", tuple(side)) if len(side) > 1 else (*side, number(1))[0] for side in (upper, lower))
    return Expr("div", (one, other)) if lower else one


def _factors_of_fraction(node: Expr) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """Return the factors above and below the line of a side of a fraction, those of its factors that are one too."""
    above: tuple[Expr, ...] = ()
    below: tuple[Expr, ...] = ()
    for factor in node.args if node.op == "mul" else (node,):
        upper, lower = factor.args if factor.op == "div" else (factor, None)
        above += upper.args if upper.op == "mul" else (upper,)
        below += () if lower is None else lower.args if lower.op == "mul" else (lower,)
    return above, below


def _latex_of(node: Expr | None) -> str:
    """Return a part in LaTeX, empty for None; a fraction with a large denominator as a decimal of six figures."""
    if node is None:
        return ""
    if node.op == "num" and node.value is not None and node.value.denominator > _SHORT:
        return f"{float(node.value):.6g}"
    return write(node)
