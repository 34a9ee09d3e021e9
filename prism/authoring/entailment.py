r"""Whether a formula follows from others: is it zero wherever all of them are?

`v_f = \sqrt{2gh}` follows from `v_f = g t_f` and `t_f = \sqrt{2h/g}`: at every point where both hold it holds too. So
a step of elimination is seen without solving for anything: Newton's method finds points of the premises, and the
conclusion is tested there, as a claim is tested at points of a reference (semantics Z.1). What no algebra carries over
is not seen: an integration, a limit, a value put in at an instant, an approximation.

Refused: solving for the eliminated symbol and comparing what comes out. It needs a solver, and one premise that can be
solved; points need neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prism.algebra.expr import Expr, Formula, formula, number, symbols
from prism.engine.kernels import kernels, source
from prism.engine.systems import system_cross, system_points, unsolved_system
from prism.engine.tape import TapeTooLarge
from prism.engine.zero_set import special_of
from prism.equivalence.notation import notation_of
from prism.equivalence.substitutions import resolved
from prism.equivalence.zero_sets import facts_of, read_pair
from prism.physics.context import Context, Declaration

MAX_PREMISES = 4  # Newton's method in as many variables; of more, a point is a matter of luck
MIN_POINTS = 6  # at which the conclusion holds; one chance agreement is rare, six are none
_WANTED = 12  # points looked for


def follows(conclusion: Formula, premises: Sequence[Formula], context: Context) -> bool | None:
    r"""Decide whether an equation holds wherever all premises do; None where that cannot be seen.

    Args:
        conclusion: an equation of symbols that the premises have too.
        premises: equations, at most `MAX_PREMISES`.
        context: of the problem.

    >>> from prism.latex import parse
    >>> premises = [parse("v_f = g t_f"), parse(r"t_f = \sqrt{\frac{2 h}{g}}")]
    >>> [follows(parse(text), premises, Context()) for text in (r"v_f = \sqrt{2 g h}", r"v_f = \sqrt{g h}")]
    [True, False]
    """
    if not 1 <= len(premises) <= MAX_PREMISES or any(f.kind != "equation" for f in (conclusion, *premises)):
        return None
    known = symbols(*(member for f in premises for member in f.members))
    if not symbols(*conclusion.members) <= known:
        return False
    one, two = _stacked([resolved(f) for f in premises]), _stacked([resolved(conclusion)])
    found = _tested(one, two, context)
    if found is None:  # positive quantities have no point in common: `F = -m g \sin\theta` beside `F = m a`
        either = {name: Declaration("real") for name in known if name not in context.symbols}
        found = _tested(one, two, replace(context, symbols={**context.symbols, **either}))
    return found


def _tested(one: Formula, two: Formula, context: Context) -> bool | None:
    """The conclusion at points of the premises, both as columns."""
    try:
        pair = read_pair(one, two, context, notation_of(one, two, context))
    except TapeTooLarge:
        return None
    if pair is None:
        return None
    module, digest = kernels(), context.digest
    special = [special_of(tape, pair.samplings) for tape in pair.tapes]
    there = system_points(pair.tapes[0], special[0], digest, _WANTED, module)
    claim = unsolved_system(pair.tapes[1], special[1], digest, _WANTED, module)
    if there.is_identity or claim.is_identity or there.n_point < MIN_POINTS:
        return None
    found = system_cross(claim, there, module)
    if found.out[source.MISMATCH] >= 0:
        return False
    return True if found.out[source.AGREED] >= MIN_POINTS else None


def _stacked(equations: Sequence[Formula]) -> Formula:
    """Equations as one equation between columns."""
    rows = tuple(Expr("row", (facts_of(f).residual,)) for f in equations)
    depends = frozenset(pair for f in equations for pair in f.depends)
    return formula((Expr("matrix", rows), number(0)), ("=",), "", depends)
