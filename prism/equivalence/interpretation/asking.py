"""Whether random interpretations are asked about two formulas, and the verdict that follows.

What they need is loaded when they are first asked.
"""

from __future__ import annotations

from functools import partial

from prism.algebra.expr import ORDERINGS, Formula, canonical, symbols, traits_of, walk
from prism.algebra.symbols import symbol_of
from prism.budget import may_begin_extra, most_interpreted, share
from prism.equivalence.interpretation.constructs import constructs_of
from prism.equivalence.interpretation.names import has_choice, has_folds, is_plain_algebra
from prism.equivalence.interpretation.quantum.quantum_names import may_be_matrices_reordered
from prism.equivalence.verdict import Status, Verdict, Witness
from prism.physics.context import Context

_SETS = frozenset(("set", "list", "interval", "union", "intersection", "pm"))
_STATED = frozenset(("in", "notin", "!="))
_ONE_ALONE = "a value for which only one of them holds"
_NOT_SAID = Verdict(Status.UNDECIDED, "unsupported", detail="what a letter may be, or an integral that may diverge")


def decide_by_interpretation(a: Formula, b: Formula, context: Context, plain: Verdict) -> Verdict | None:
    """Return the verdict of random interpretations on two formulas beyond algebra; None where they leave it open.

    Args:
        a, b: the reference and the claim.
        context: what the problem knows.
        plain: the verdict without interpretations.
    """
    if {a.kind, b.kind} == {"equation", "system"}:
        return _decide_with_system(a, b, context, plain)
    if plain.status == Status.EQUIVALENT and may_be_matrices_reordered(a, b):
        return _NOT_SAID
    if is_plain_algebra(a) and is_plain_algebra(b):
        return None
    one, two = constructs_of(a), constructs_of(b)
    is_beyond = one.is_beyond or two.is_beyond
    if plain.reason == "unsupported":
        is_beyond = is_beyond or one.has_cases or two.has_cases
    if a.kind != b.kind or one.is_excluded or two.is_excluded or not is_beyond:
        return None
    if plain.status == Status.EQUIVALENT:
        if (a.members, a.relations) == (b.members, b.relations):
            return None
        is_asked = one.is_delicate or two.is_delicate or one.may_diverge or two.may_diverge
    elif plain.status == Status.UNDECIDED or plain.reason == "kind":
        is_asked = one.may_say_what(two)
    else:
        is_misread = one.is_misread or two.is_misread or one.calls_what_is_not(two)
        is_asked = (is_misread or one.is_delicate or two.is_delicate) and one.may_say_what(two)
    if not is_asked or _says_nothing(a) or _says_nothing(b) or not may_begin_extra():
        return None
    from prism.equivalence.interpretation.alone import outcome_of_each_alone
    from prism.equivalence.interpretation.decision import compare_by_interpretation

    with share(most_interpreted()) as work:
        settled = None if plain.status == Status.EQUIVALENT else outcome_of_each_alone(a, b, context)
        outcome = settled or compare_by_interpretation(a, b, context)
    if work.is_exhausted:
        return None
    if plain.status == Status.EQUIVALENT:
        is_of_matrices = outcome.same is None and (one.has_matrices or two.has_matrices or outcome.is_misfit)
        return _NOT_SAID if outcome.same is False or is_of_matrices else None
    if outcome.same is False and plain.status == Status.UNDECIDED and None is not one.drawn == two.drawn:
        return _refuted_in_usual_draws(a, b, context)
    return _tested(a) if outcome.same is True else None


def _refuted_in_usual_draws(a: Formula, b: Formula, context: Context) -> Verdict | None:
    """Return the verdict on two formulas that usual interpretations tell apart; None if they agree in one."""
    from prism.equivalence.interpretation.conditions.witnesses import draw_apart, witness_in

    with share(most_interpreted()) as work:
        apart = draw_apart(a, b, context)
    if work.is_exhausted or apart is None:
        return None
    return Verdict(Status.DIFFERENT, "witness", witness=Witness.pending(partial(witness_in, *apart)))


def _tested(a: Formula) -> Verdict:
    """Return the verdict on a formula and one that said the same in all tests."""
    return Verdict(Status.EQUIVALENT, "same_value" if a.kind == "expression" else "same_zero_set", "tested")


def _says_nothing(f: Formula) -> bool:
    """Return True for an equation of two sides that are written alike: it is as true as any other identity."""
    return f.kind == "equation" and len(f.members) == 2 and canonical(f.members[0]) == canonical(f.members[1])


def review_by_membership(a: Formula, b: Formula, context: Context, verdict: Verdict) -> Verdict:
    """Return the verdict on two formulas of which one is a set, a region, a family, or gives several values.

    It is changed if the formulas hold for the same values of a letter though it is not `equivalent`, or if it is and
    they do not: a root, an end or a member is lost or added.

    Args:
        a, b: the reference and the claim.
        context: what the problem knows.
        verdict: the one so far.
    """
    is_equal = verdict.status == Status.EQUIVALENT
    are_bounds = a.kind == b.kind == "inequality"
    is_asked = are_bounds or _has_set(a) or _has_set(b)
    if (_has_interval(a) or _has_interval(b)) and "equation" in (a.kind, b.kind):
        return verdict  # a value is no interval, however narrow
    if is_equal and not are_bounds:
        is_asked = is_asked and verdict.reason == "same_zero_set" and not (a.parts or b.parts)
    if not is_asked or verdict.reason == "too_large" or context.givens or not may_begin_extra():
        return verdict
    from prism.equivalence.interpretation.conditions.membership import compare_memberships

    with share(most_interpreted()) as work:
        outcome = compare_memberships(a, b, context, verdict.status)
    if work.is_exhausted or outcome.same in (None, is_equal):
        return verdict
    if is_equal:
        if are_bounds:
            return Verdict(Status.DIFFERENT, "opposite_side", detail=_ONE_ALONE)
        return Verdict(Status.UNDECIDED, "unsupported", detail=_ONE_ALONE)
    return Verdict(Status.EQUIVALENT, "same_zero_set", "tested")


def review_by_courses(a: Formula, b: Formula, context: Context, verdict: Verdict) -> Verdict:
    r"""Return the verdict on two formulas with cases: `equivalent` if they agree on all pieces of a line.

    What was equivalent at all points that were drawn is not if a piece is told apart that none of them met: where
    `v = \sin t + |\sin t|` is 0, no point is drawn.

    Args:
        a, b: the reference and the claim.
        context: what the problem knows.
        verdict: the one so far.
    """
    is_equal = verdict.status == Status.EQUIVALENT
    if verdict.reason == "too_large" or not (has_choice(a) or has_choice(b)):
        return verdict
    may_cancel = verdict.proof != "proved" and (has_folds(a) or has_folds(b))
    if is_equal and not (may_cancel or constructs_of(a).has_cases or constructs_of(b).has_cases):
        return verdict
    if context.givens or not may_begin_extra():
        return verdict
    from prism.equivalence.interpretation.conditions.courses import compare_courses

    with share(most_interpreted()) as work:
        outcome = compare_courses(a, b, context, verdict.status)
    if work.is_exhausted or outcome.same in (None, is_equal):
        return verdict
    if is_equal:
        return Verdict(Status.UNDECIDED, "unsupported", detail="a piece on which they give other values")
    return _tested(a)


def are_regions(a: Formula, b: Formula) -> bool:
    """Return True for formulas that state regions: chains of inequalities, intervals, unions and systems of these.

    Not for two single inequalities without a modulus, into which a problem's definitions may be put first.
    """
    are_bounds = a.kind == b.kind == "inequality" and not (_bounds_modulus(a) or _bounds_modulus(b))
    return _is_region(a) and _is_region(b) and not are_bounds


def compare_regions(a: Formula, b: Formula, context: Context) -> Verdict:
    """Return the verdict on two formulas that state regions: whether they hold at the same points (semantics Z.8)."""
    if a.members and a.relations == b.relations and list(map(canonical, a.members)) == list(map(canonical, b.members)):
        return Verdict(Status.EQUIVALENT, "same_form", "proved")
    from prism.equivalence.interpretation.conditions.membership import compare_memberships

    with share(most_interpreted()) as work:
        outcome = compare_memberships(a, b, context, None)
    if work.is_exhausted:
        return Verdict(Status.UNDECIDED, "too_large", detail="regions of too many bounds")
    if outcome.same is None:
        return Verdict(Status.UNDECIDED, "unsupported", detail=outcome.why)
    return _tested(a) if outcome.same else Verdict(Status.DIFFERENT, "opposite_side", detail=_ONE_ALONE)


def _bounds_modulus(f: Formula) -> bool:
    """Return True for an inequality with a modulus whose letters the other side has not."""
    return any(
        node.op == "abs" and symbols(node).isdisjoint(symbols(other))
        for member, other in (f.members, f.members[::-1]) for node in walk(member)
    )  # fmt: skip


def _has_interval(f: Formula) -> bool:
    """Return True for a formula with an interval."""
    return "interval" in traits_of(f).ops


def _is_region(f: Formula) -> bool:
    """Return True for inequalities and memberships alone."""
    if f.parts:
        return f.kind in ("system", "alternatives") and all(map(_is_region, f.parts))
    return bool(f.relations) and all(sign in ORDERINGS or sign in _STATED for sign in f.relations)


def _has_set(f: Formula) -> bool:
    r"""Return True for a formula with a set, an interval, `\pm`, or a letter that runs through whole numbers."""
    if f.parts:
        return any(map(_has_set, f.parts))
    if not _STATED.isdisjoint(f.relations):
        return True
    return not traits_of(f).ops.isdisjoint(_SETS)


def _decide_with_system(a: Formula, b: Formula, context: Context, plain: Verdict) -> Verdict | None:
    """Return the verdict on an equation between vectors and a system of its components; None for any others."""
    equation, system = (a, b) if a.kind == "equation" else (b, a)
    traits = traits_of(equation)
    has_vector = "matrix" in traits.ops or any(symbol_of(name).is_vector for name in traits.names)
    if plain.status == Status.EQUIVALENT or not has_vector or len(system.parts) < 2 or not may_begin_extra():
        return None
    from prism.equivalence.interpretation.tensors.component_systems import compare_with_system

    with share(most_interpreted()) as work:
        outcome = compare_with_system(equation, system, context)
    if work.is_exhausted or outcome.same is not True:
        return None
    return Verdict(Status.EQUIVALENT, "same_zero_set", "tested")
