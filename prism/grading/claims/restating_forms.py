r"""Formulas that say their value twice, read as what they say once: `\eta = 0.564\ (56.4\%)`, "0.564 or 56.4 %".

A bracket behind a number restates it only if it holds a unit, a percent or degree sign, begins with `=` or `\approx`,
or is a decimal apart from a closed form, and agrees within the last place of a number; else it multiplies (semantics
F.7). Alternatives that restate
their first one are that one (semantics F.7).
"""

from __future__ import annotations

import re
from collections.abc import Collection

from prism.algebra.expr import Expr, Formula, formula, ops_of, symbol, symbols
from prism.equivalence.statements import Statement
from prism.errors import LatexSyntaxError
from prism.grading.claims.restatements import restates
from prism.physics.context import Context, parse
from prism.physics.units import find_unit_product
from prism.problem.answers.typed import typed_quantity

_SPACE = r"(?:\\[ ,;:!]|~|\\q?quad|\s)*"
_BRACKET = re.compile(
    rf"(?P<head>[^()]*?[^()\s~\\])(?P<gap>{_SPACE})(?:\\left)?\((?P<inner>[^()]{{1,60}}?)(?:\\right)?\)(?P<end>[\s.,;]*)"
)
# `12.3(4)`, the last figure with its uncertainty, at the end or before a unit or a power of ten.
_UNCERTAIN = re.compile(
    r"(?P<value>\d\.\d+)\(\d{1,2}\)(?=\s*(?:[.,;]?\s*$|\\(?:[,;:! ~]|times|cdot|unit|mathrm|text|rm\b)|~))"
)
_SAYS_UNIT = re.compile(r"\\%|\\circ|°|\\unit|\\mathrm|\\text|\\rm\b|^\s*(?:=|\\approx)")
_UNIT_IN_BRACKETS = re.compile(
    rf"{_SPACE}\[\s*\\(?:mathrm|text|textrm|unit|rm)\s*\{{(?P<unit>[^{{}}]{{1,30}})\}}\s*\][\s.]*$"
)
_DECIMAL = re.compile(r"\s*[-+−]?\d*\.\d+\s*")
_CLOSED = re.compile(r"/|\\(?:[dt]?frac|sqrt|pi)(?![A-Za-z])")  # a form that is no decimal itself
_RELATION = re.compile(r"^\s*(?:=|\\approx|\\simeq)")
_LONGEST = 400  # characters of a formula that is searched for a bracket
_VALUE = symbol(r"\value")


def read_once(latex: str, context: Context, known: Collection[str] = frozenset()) -> Formula:
    r"""Parse a formula, and drop what only restates its value: a bracket at its end, alternatives.

    Args:
        latex, context: as of `parse`.
        known: symbols of the problem and its reference; with them a bracket behind a number without a unit is a factor,
            `\frac{17}{5}(3 b)`, and no quantity.

    Errors:
        LatexSyntaxError: as of `parse`.
    """
    read = parse(_with_unit_in_brackets(_UNCERTAIN.sub(r"\g<value>", latex)), context=context)
    read = without_restatements(read, context)
    if read.kind in ("alternatives", "system") and all(part.kind == "expression" for part in read.parts):
        return formula((Expr("list", tuple(part.members[0] for part in read.parts)),), (), latex, read.depends)
    bracket = _BRACKET.fullmatch(latex) if latex.endswith((")", ").", "),")) and len(latex) <= _LONGEST else None
    if bracket is None:
        return read
    typed = [typed_quantity(bracket[name]) for name in ("head", "inner")]
    is_decimal = bool(bracket["gap"]) and _DECIMAL.fullmatch(bracket["inner"]) and _CLOSED.search(bracket["head"])
    if not (_SAYS_UNIT.search(bracket["inner"]) or typed[1] or is_decimal):
        return read
    try:
        head = parse(typed[0] or bracket["head"], context=context)
        inner = parse(typed[1] or _RELATION.sub("", bracket["inner"]), context=context)
    except LatexSyntaxError:
        return read
    if not head.members or inner.kind != "expression":
        return read
    if typed[1] and "unit" not in ops_of(head.members[-1]) and not symbols(read.members[-1]).isdisjoint(known):
        return read
    return head if _says_the_same(inner.members[0], head.members[-1], context) else read


def without_restatements(read: Formula, context: Context) -> Formula:
    """Return the first of alternatives that all say the same, "402 keV or 0.402 MeV"; any other formula as it is."""
    return read.parts[0] if read.kind == "alternatives" and _restate_first(read.parts, context) else read


def _with_unit_in_brackets(latex: str) -> str:
    r"""Return a formula with a unit in square brackets at its end, `v = 5\;[\mathrm{m/s}]`, as a unit behind it."""
    found = _UNIT_IN_BRACKETS.search(latex) if "[" in latex else None
    if found is None or find_unit_product(found["unit"]) is None:
        return latex
    return latex[: found.start()] + rf"\,\unit{{{found['unit']}}}"


def _restate_first(parts: tuple[Formula, ...], context: Context) -> bool:
    """Return True if all alternatives are equations, or values, that restate the first one or are the same."""
    if all(part.kind == "expression" for part in parts):
        return all(_says_the_same(part.members[0], parts[0].members[0], context) for part in parts[1:])
    first = Statement(parts[0])
    return all(part.kind == "equation" for part in parts) and all(
        part.members == parts[0].members
        or restates(Statement(part), first, context)
        or restates(first, Statement(part), context)
        for part in parts[1:]
    )


def _says_the_same(later: Expr, earlier: Expr, context: Context) -> bool:
    """Return True if one of two values is the other, rounded."""
    one, other = (Statement(formula((_VALUE, value), ("=",))) for value in (later, earlier))
    return restates(one, other, context) or restates(other, one, context)
