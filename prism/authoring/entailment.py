r"""Decide if an equation follows from others: is it zero wherever all of them are?

`v_f = \sqrt{2gh}` follows from `v_f = g t_f` and `t_f = \sqrt{2h/g}`: it holds at every point where both hold. So
a step of elimination is found without solving for anything: Newton's method finds points of the premises, and the
conclusion is tested there, as a claim is tested at points of a reference (semantics Z.1). Steps beyond algebra are not
found: an integration, a limit, a value inserted at an instant, an approximation.

Refused: solving for the eliminated symbol and comparing the result. It needs a solver, and one premise that can be
solved; points need neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prism.algebra.expr import Expr, Formula, formula, number, symbols
from prism.budget import ENTAILED, charge_steps, share
from prism.engine.kernels import active_kernels, source
from prism.engine.systems import cross_evaluate_system, sample_system, unsolved_system
from prism.engine.tape import TapeTooLarge
from prism.engine.zero_set import special_samplings
from prism.equivalence.facts import facts_of, in_base_units
from prism.equivalence.notation.choice import notation_of
from prism.equivalence.points.pairs import prepare_pair
from prism.physics.context import Context, Declaration

MAX_PREMISES = 4  # Newton's method in as many variables; with more it rarely converges
MIN_POINTS = 6  # points at which the conclusion has to hold; six agreements are no coincidence
_WANTED = 12  # points looked for
_STEPS = 250  # for the two columns of one test


def is_entailed(conclusion: Formula, premises: Sequence[Formula], context: Context) -> bool | None:
    r"""Return True if an equation holds wherever all premises do, False if not, None if that cannot be tested.

    What costs more than `ENTAILED` operations is not tested: where an equation holds, points are soon found.

    Args:
        conclusion: an equation of symbols that the premises have too.
        premises: equations, at most `MAX_PREMISES`.
        context: of the problem.

    >>> from prism.latex import parse
    >>> premises = [parse("v_f = g t_f"), parse(r"t_f = \sqrt{\frac{2 h}{g}}")]
    >>> [is_entailed(parse(text), premises, Context()) for text in (r"v_f = \sqrt{2 g h}", r"v_f = \sqrt{g h}")]
    [True, False]
    """
    if not 1 <= len(premises) <= MAX_PREMISES or any(f.kind != "equation" for f in (conclusion, *premises)):
        return None
    known = symbols(*(member for f in premises for member in f.members))
    if not symbols(*conclusion.members) <= known:
        return False
    found: bool | None = None
    with share(ENTAILED):
        one, two = _as_column([in_base_units(f) for f in premises]), _as_column([in_base_units(conclusion)])
        found = _test_at_points(one, two, context)
        if found is None:  # positive quantities have no point in common: `F = -m g \sin\theta` beside `F = m a`
            either = {name: Declaration("real") for name in known if name not in context.symbols}
            found = _test_at_points(one, two, replace(context, symbols={**context.symbols, **either}))
    return found


def _test_at_points(premises: Formula, conclusion: Formula, context: Context) -> bool | None:
    """Return True if the conclusion holds at points where the premises do, False at a counterexample, None untested."""
    charge_steps(_STEPS)
    try:
        pair = prepare_pair(premises, conclusion, context, notation_of(premises, conclusion, context))
    except TapeTooLarge:
        return None
    if pair is None:
        return None
    module, digest = active_kernels(), context.digest
    special = [special_samplings(tape, pair.samplings) for tape in pair.tapes]
    there = sample_system(pair.tapes[0], special[0], digest, _WANTED, module)
    claim = unsolved_system(pair.tapes[1], special[1], digest, _WANTED, module)
    if there.is_identity or claim.is_identity or there.n_point < MIN_POINTS:
        return None
    found = cross_evaluate_system(claim, there, module)
    if found.out[source.MISMATCH] >= 0:
        return False
    return True if found.out[source.AGREED] >= MIN_POINTS else None


def _as_column(equations: Sequence[Formula]) -> Formula:
    """Return several equations as one: a column of their residuals (left minus right) equal to 0."""
    rows = tuple(Expr("row", (facts_of(f).residual,)) for f in equations)
    depends = frozenset(pair for f in equations for pair in f.depends)
    return formula((Expr("matrix", rows), number(0)), ("=",), "", depends)
