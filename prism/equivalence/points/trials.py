"""Points on the zero sets of two formulas: how many are drawn, by which rules, and which of them count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from prism.engine.kernels import active_kernels, source
from prism.engine.systems import SystemZeroSet, cross_evaluate_system, sample_system, unsolved_system
from prism.engine.tape import Tape
from prism.engine.zero_set import (
    ORDINARY,
    Crossing,
    Sampling,
    ZeroSet,
    cross_evaluate,
    sample_zero_set,
    special_samplings,
    unsolved_zero_set,
    without_negative_roots,
)
from prism.equivalence.points.pairs import FormulaPair

MIN_POINTS = 10  # agreeing points from each side; five let no machine-made near-miss through, ten is twice that
_SPARE = 1.6  # points drawn for each that must agree: some are skipped by the other formula

AnyPoints = ZeroSet | SystemZeroSet


def draw_points(
    tape: Tape, samplings: Mapping[str, Sampling], trial: Trial, spectators: frozenset[str] = frozenset()
) -> AnyPoints:
    """Draw points on the zero set of a formula: random values of all its variables but one, which is solved for.

    Args:
        tape: the compiled formula.
        samplings: from which numbers each variable is drawn.
        trial: settings.
        spectators: variables that are never solved for.
    """
    special = special_samplings(tape, samplings)
    if trial.is_system:
        return sample_system(tape, special, trial.digest, trial.want, trial.module)
    return sample_zero_set(tape, special, spectators, trial.digest, trial.want, trial.module)


def cross_points(tested: AnyPoints, points: AnyPoints, trial: Trial) -> Crossing:
    """Evaluate the formula `tested` at the points of another one; return how many agree, differ, are skipped."""
    if isinstance(tested, SystemZeroSet) and isinstance(points, SystemZeroSet):
        return cross_evaluate_system(tested, points, trial.module, trial.rules)
    assert isinstance(tested, ZeroSet)
    assert isinstance(points, ZeroSet)
    return cross_evaluate(tested, points, trial.module, trial.rules)


@dataclass(frozen=True, slots=True)
class Trial:
    """The settings of one comparison by points.

    Attributes:
        tapes: the compiled reference and claim.
        digest: the key of the random generator.
        want: points to draw for each formula.
        module: the kernels; a process may switch to compiled ones, but not within a pair.
        rules: flags for evaluating a formula at the other's points: EXACT or MEASURED where decimals are written,
            IN_RANGE for inverse functions.
        is_exact: exact arithmetic is asked too, where points leave something open.
    """

    tapes: tuple[Tape, Tape]
    digest: str
    want: int
    module: ModuleType
    rules: int = 0
    is_exact: bool = True

    @property
    def is_system(self) -> bool:
        """Return True if the reference or the claim is a system of several equations."""
        return len(self.tapes[0].roots) > 1 or len(self.tapes[1].roots) > 1


def decimal_rule(tapes: tuple[Tape, Tape], *, approximate: bool) -> int:
    """Return the flag that says how the decimals in two formulas are to be compared.

    MEASURED (known to their last digit) if `approximate`, else EXACT; 0 if neither formula has decimals.
    """
    if not any(tape.is_measured for tape in tapes):
        return 0
    return source.MEASURED if approximate else source.EXACT


def points_wanted(n_variable: int) -> int:
    """Return how many points are drawn for a pair: MIN_POINTS of them, and one for each variable, have to agree."""
    return int(_SPARE * max(MIN_POINTS, n_variable))


def trial_for(pair: FormulaPair, rules: int = 0) -> Trial:
    """Return the settings for comparing a pair.

    Args:
        rules: flags as in `Trial`.
    """
    want = points_wanted(len(pair.samplings))
    return Trial(pair.tapes, pair.context.digest, want, active_kernels(), rules)


def prepare_crossing(tape: Tape, samplings: Mapping[str, Sampling], trial: Trial) -> AnyPoints:
    """Prepare a formula for evaluation at the points of another one, without drawing points of its own."""
    special = special_samplings(tape, samplings)
    if trial.is_system:
        return unsolved_system(tape, special, trial.digest, trial.want, trial.module)
    return unsolved_zero_set(tape, special, trial.digest, trial.want, trial.module)


def draw_one_side(which: int, samplings: Mapping[str, Sampling], trial: Trial) -> AnyPoints:
    """Draw points on the zero set of the reference (`which` = 0) or the claim (1).

    Symbols that only this formula has are not solved for if all their roots are 0: of `ma = 0` beside `a = 0` only a.
    """
    tape, others = trial.tapes[which], trial.tapes[1 - which].names
    points = draw_points(tape, samplings, trial)
    if len(others) >= len(tape.names) or not isinstance(points, ZeroSet) or not set(others) < set(tape.names):
        return points
    roots = [root for name, root in points.solved if name not in others]
    if roots and not any(roots):
        return draw_points(tape, samplings, trial, frozenset(tape.names) - frozenset(others))
    return points


def draw_both(trial: Trial, samplings: Mapping[str, Sampling]) -> tuple[AnyPoints, AnyPoints]:
    """Draw points on the zero sets of both formulas, without the negative roots that `with_positive_roots` drops."""
    one, two = (draw_one_side(which, samplings, trial) for which in (0, 1))
    if isinstance(one, ZeroSet) and isinstance(two, ZeroSet):
        return with_positive_roots(one, two, samplings, trial.module)
    return one, two


def with_positive_roots(
    a: ZeroSet, b: ZeroSet, samplings: Mapping[str, Sampling], module: ModuleType
) -> tuple[ZeroSet, ZeroSet]:
    """Drop points at which a variable has a negative root, if at other points its root is positive.

    A quantity that is always negative keeps its sign, as in `E = -E_0`. So does the subject that a formula is solved
    for: `f = 1 - x/a` says that f is negative for large x.
    """
    negative_roots = frozenset(name for name in a.negative_roots | b.negative_roots if samplings[name] is ORDINARY)
    positive_roots = (a.positive_roots | b.positive_roots) & (negative_roots - a.subjects - b.subjects)
    if not positive_roots:
        return a, b
    return without_negative_roots(a, positive_roots & a.negative_roots, module), without_negative_roots(
        b, positive_roots & b.negative_roots, module
    )


def always_negative_symbols(points: ZeroSet) -> frozenset[str]:
    """Return the variables all of whose roots are negative."""
    return points.negative_roots - {name for name, root in points.solved if root >= 0}
