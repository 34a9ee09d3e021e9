"""How the points of a comparison came out, one by one: the counts that PRISM-Physics (arXiv 2510.03185, B.2) names.

A trial is one draw for one of the two formulas. It is equal if the draw has a root and the other formula holds there,
unequal if the other does not, and failed if there is no root, or no decision at it. A comparison stops at its first
unequal point; here all are looked at. No verdict rests on these counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from prism.algebra.alternatives import as_product
from prism.algebra.calculus import evaluate_operations
from prism.algebra.expr import Formula
from prism.algebra.noncommutative import order_operator_products
from prism.budget import PAIR, share
from prism.engine.kernels import source
from prism.engine.lowering import Mismatch
from prism.engine.tape import TapeTooLarge
from prism.engine.zero_set import ZeroSet, cross_evaluate
from prism.equivalence.facts import both_in_base_units, facts_of
from prism.equivalence.features import features_of
from prism.equivalence.notation.choice import notation_of, with_matching_calls
from prism.equivalence.plan import plan_attempts
from prism.equivalence.points.pairs import FormulaPair, prepare_pair
from prism.equivalence.points.trials import MIN_POINTS, Trial, decimal_rule, draw_both, trial_for
from prism.equivalence.verdict import Status, Verdict
from prism.physics.context import Context

_BY_NUMBER = ("same_number", "other_number", "unstated")  # reasons of a comparison of stated numbers
_COMPARED = ("equation", "expression")  # kinds that are compared by one set of points each


@dataclass(frozen=True, slots=True)
class TrialCounts:
    """What the trials of two formulas came to.

    Attributes:
        n_eq, n_neq, n_fail: equal, unequal and failed trials; together `T_max`.
        N_succ: equal trials without which points alone make nothing equivalent.
        T_max: draws for both formulas together.
    """

    n_eq: int
    n_neq: int
    n_fail: int
    N_succ: int
    T_max: int

    def to_dict(self) -> dict[str, int]:
        """Return the counts as JSON values."""
        return asdict(self)


def count_trials(reference: Formula, claim: Formula, context: Context, verdict: Verdict) -> TrialCounts | None:
    """Count the trials of two formulas, with the substitutions of the verdict on them put in.

    None where formulas are not compared by points that are solved for one variable: stated numbers, inequalities,
    systems, words, constructs without a value, statements that hold always or never; nor where an equivalence was found
    between other forms of the two than these, as after an operation was worked out.
    """
    if verdict.reason in _BY_NUMBER:
        return None
    with share(PAIR):
        counts = _counts_in(*_with_readings(reference, claim, context, verdict), context, verdict)
    is_of_other_forms = counts is not None and counts.n_neq > 0 and verdict.status == Status.EQUIVALENT
    return None if is_of_other_forms else counts


def _counts_in(a: Formula, b: Formula, context: Context, verdict: Verdict) -> TrialCounts | None:
    """Return the counts of two formulas as they are compared at last.

    None where their kinds are not compared at points, or they are too large or do not fit each other.
    """
    if a.kind not in _COMPARED or b.kind != a.kind:
        return None
    try:
        pair = _prepared(a, b, context)
    except (TapeTooLarge, Mismatch):
        return None
    return None if pair is None else _counts(pair, is_approximate=verdict.approximate)


def _with_readings(reference: Formula, claim: Formula, context: Context, verdict: Verdict) -> tuple[Formula, Formula]:
    """Return both formulas in base units, with what the verdict names as put in."""
    for attempt in plan_attempts(features_of(reference, context), features_of(claim, context)):
        if verdict.readings and attempt.readings == verdict.readings:
            return attempt.reference, attempt.claim
    return both_in_base_units(reference, claim)


def _prepared(a: Formula, b: Formula, context: Context) -> FormulaPair | None:
    """Return two formulas of one kind as they are compared; None where no points decide."""
    if not (facts_of(a).is_plain and facts_of(b).is_plain):
        a, b = map(as_product, order_operator_products(*evaluate_operations(*with_matching_calls(a, b))))
    if facts_of(a).is_trivial or facts_of(b).is_trivial:
        return None
    pair = prepare_pair(a, b, context, notation_of(a, b, context))
    return None if pair is None or pair.tapes[0].atoms.keys() ^ pair.tapes[1].atoms.keys() else pair


def _counts(pair: FormulaPair, *, is_approximate: bool) -> TrialCounts | None:
    """Return the counts of a pair; None unless both have zero sets that are no identities."""
    trial = trial_for(pair, decimal_rule(pair.tapes, approximate=is_approximate))
    one, two = draw_both(trial, pair.samplings)
    if not isinstance(one, ZeroSet) or not isinstance(two, ZeroSet) or one.is_identity or two.is_identity:
        return None
    found = [*_outcomes(two, one, trial), *_outcomes(one, two, trial)]
    equal, unequal = found.count(source.AGREED), found.count(source.MISMATCH)
    most = 2 * trial.want
    enough = 2 * max(MIN_POINTS, len(one.live | two.live))
    return TrialCounts(equal, unequal, most - equal - unequal, enough, most)


def _outcomes(tested: ZeroSet, points: ZeroSet, trial: Trial) -> Iterator[int]:
    """Yield for each point of a formula which entry of a crossing it counts for, when the other formula is tested."""
    for k in range(points.n_point):
        at = slice(3 * k, 3 * k + 3)
        one = replace(points, spot=points.spot[at], root=points.root[at], n_point=1)
        out = cross_evaluate(tested, one, trial.module, trial.rules).out
        yield source.MISMATCH if out[source.MISMATCH] >= 0 else source.AGREED if out[source.AGREED] else source.SKIPPED
