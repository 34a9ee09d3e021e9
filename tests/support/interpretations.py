"""Formulas under one interpretation, and the same by the kernels: what tests of either compare."""

from __future__ import annotations

from collections.abc import Mapping

from flint import acb, ctx

from prism.algebra.expr import Expr, Formula
from prism.engine.zero_set import value_at
from prism.equivalence.interpretation import jets
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.functions import UnknownFunction
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.reading import read_together
from prism.equivalence.interpretation.signature import Signature, signature_of
from prism.equivalence.interpretation.values import PRECISION, Dual, Scalar, Value, infinitesimals, scalar
from prism.physics.context import Context, parse

PLAIN = Context()


def signature(*texts: str, context: Context = PLAIN) -> Signature:
    """What the letters of one or two formulas are."""
    one, two = (parse(texts[k], context=context) for k in (0, -1))
    return signature_of(*read_together(one, two), context)


def draw_for(text: str, values: Mapping[str, complex] | None = None, number: int = 0) -> Draw:
    """An interpretation of a formula, with the values of some letters given."""
    fixed = {name: acb(value) for name, value in (values or {}).items()}
    return Draw(number, signature(text), fixed=fixed)


def value_of(text: str, values: Mapping[str, complex] | None = None, number: int = 0) -> Value:
    """The value of an expression in an interpretation in which some letters have given values."""
    with ctx.workprec(PRECISION):
        f, _ = read_together(parse(text), parse(text))
        return Evaluator(draw_for(text, values, number)).value(f.members[0], Scope())


def number_of(text: str, values: Mapping[str, complex] | None = None, number: int = 0) -> acb:
    """The value of an expression that is a number without infinitesimal parts."""
    found = scalar(value_of(text, values, number))
    assert isinstance(found, acb)
    return found


def function_at(unknown: UnknownFunction, *point: Scalar) -> Scalar:
    """The value of an unknown function at a point, which may have infinitesimals."""
    tags = infinitesimals(point)
    return jets.nested(unknown.at([jets.flat(x, tags) for x in point], len(tags)), tags)


def leaves(x: Scalar) -> list[acb]:
    """The coefficients of a number with infinitesimals."""
    return [*leaves(x.value), *leaves(x.slope)] if isinstance(x, Dual) else [x]


def by_kernels(text: str, values: Mapping[str, float]) -> float | None:
    """The value of an expression by the kernels; None if it has none there."""
    return value_at(expression(text), values)


def expression(text: str) -> Expr:
    """The expression that a text is."""
    f: Formula = parse(text)
    assert f.kind == "expression", text
    return f.members[0]


def middle(x: acb) -> complex:
    """The middle of a ball."""
    return complex(float(x.real.mid()), float(x.imag.mid()))


def error(x: acb) -> float:
    """The radius of a ball."""
    return float(x.rad())
