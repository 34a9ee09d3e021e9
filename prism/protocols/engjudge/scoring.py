"""The arithmetic of EngJudge in exact fractions: penalties and caps, propagation, coverage, verbosity, sanity, bounds.

A stage has `raw = max(0, 10 - sum of its penalties)` and `Y = min(raw, lowest cap)`. Over the graph of stages
`S_t = Y_t` for a root, else `S_t = Y_t * mean of its parents' S / 10`; so `S_t <= Y_t`. Then

    base  = mean S_t
    blend = max(0, base - 2 for each absent stage)
    final = blend * (1 - COVERAGE) * (1 - VERBOSITY) * 0.9 if sanity fails

with `COVERAGE = min(0.5, (10 - CS) / 10)`, and `VERBOSITY` alike. All of it is on the paper's scale of 0 to 10.

Whether an absent stage is a zero in the mean the paper does not say; here it is left out of the mean and of its
children's parents, unless `AbsentStage.ZERO` is asked for. What nobody decided has no value here: `score_bounds` takes
it as its worst and as its best.

Refused: 10 for what nobody looked at. It would make a judge that says nothing the kindest one.

Source: EngVQA / EngJudge, arXiv 2606.10833.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from itertools import product

from prism.protocols.engjudge.topology import NAMES, TOPOLOGIES, Topology

FULL = Fraction(10)
"""The score of a stage without a fault."""

PENALTIES = {"MINOR": 2, "MODERATE": 4, "MAJOR": 7, "CRITICAL": 10}
"""Points that a fault costs, by its severity."""

ABSENT_PENALTY = 2  # points that an absent stage costs
SANITY_FACTOR = Fraction(9, 10)  # of a solution with a value that cannot be
MOST_PENALTY = Fraction(1, 2)  # of coverage and of verbosity


class Ablation(StrEnum):
    """A part of the score that can be left out: propagation, the three meta checks, the penalty for absent stages."""

    PROPAGATION = "dp"
    META = "meta"
    MISSING = "missing"


class AbsentStage(StrEnum):
    """What an absent stage is in the mean: left out of it, or a zero, also as a parent."""

    LEFT_OUT = "left_out"
    ZERO = "zero"


@dataclass(frozen=True, slots=True)
class StageTotals:
    """The totals of a stage or a check: sum of penalties, what that leaves of ten, the least of that and the caps."""

    penalties: Fraction
    raw: Fraction
    capped: Fraction


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """How stages become a score.

    Attributes:
        topology: the graph of stages.
        without: what is left out.
        absent: what an absent stage is in the mean.
    """

    topology: Topology = field(default_factory=lambda: TOPOLOGIES["default"])
    without: frozenset[Ablation] = frozenset()
    absent: AbsentStage = AbsentStage.LEFT_OUT


@dataclass(frozen=True, slots=True)
class Checks:
    """The three meta checks: capped scores of coverage and verbosity (0 to 10), and whether the values are sane.

    None is a check that nobody has made.
    """

    coverage: Fraction | None = FULL
    verbosity: Fraction | None = FULL
    is_sane: bool | None = True

    @property
    def is_decided(self) -> bool:
        """Whether all three have been made."""
        return None not in (self.coverage, self.verbosity, self.is_sane)


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A final score and what it is made of, 0 to 10.

    Attributes:
        propagated: `S_t` of each stage that counts, in the order of the stages.
        base: their mean. n_absent: absent stages that cost points.
        blend: `base` less these, at least 0.
        coverage, verbosity: the shares that the two checks take, 0 to 0.5. sanity: 1 or 0.9.
        final: the score.
    """

    propagated: Mapping[str, Fraction]
    base: Fraction
    n_absent: int
    blend: Fraction
    coverage: Fraction
    verbosity: Fraction
    sanity: Fraction
    final: Fraction


def stage_totals(penalties: Iterable[Fraction | int], caps: Iterable[Fraction | int] = ()) -> StageTotals:
    """Return the totals of a stage or a check from the penalties and caps of its faults.

    >>> stage_totals([4, 2], [3]).capped, stage_totals([7, 4]).capped
    (Fraction(3, 1), Fraction(0, 1))
    """
    total = sum(map(Fraction, penalties), Fraction(0))
    raw = max(Fraction(0), FULL - total)
    return StageTotals(total, raw, min((raw, *map(Fraction, caps))))


def mean_of(values: Iterable[Fraction]) -> Fraction:
    """Return the mean of fractions; 0 of none."""
    listed = list(values)
    return sum(listed, Fraction(0)) / len(listed) if listed else Fraction(0)


def propagate(stages: Mapping[str, Fraction], topology: Topology) -> dict[str, Fraction]:
    """Return `S_t` of each stage from `Y_t`: what it earns itself, times the mean share that its parents kept.

    Args:
        stages: `Y_t` by name. A stage that is not among them is no parent either; a stage all of whose parents are not
            among them is a root.
    """
    found: dict[str, Fraction] = {}
    for name in topology.order:
        if name in stages:
            parents = [found[parent] for parent in topology.parents[name] if parent in stages]
            found[name] = stages[name] * mean_of(parents) / FULL if parents else stages[name]
    return {name: found[name] for name in NAMES if name in found}


def check_penalty(score: Fraction) -> Fraction:
    """Return the share that a check of this capped score takes: a tenth for each point short of ten, at most a half."""
    return min(MOST_PENALTY, (FULL - score) / FULL)


def final_score(
    stages: Mapping[str, Fraction | None], checks: Checks, options: ScoringOptions | None = None
) -> Breakdown:
    """Return the score of a solution all of whose stages and checks are decided.

    Args:
        stages: `Y_t` by name of each stage; None for one that the solution lacks.
        checks: a check that is None takes nothing; only one that `options` leaves out should be.
    """
    options = options or ScoringOptions()
    absent = [name for name in NAMES if stages[name] is None]
    counted = {name: value for name, value in stages.items() if value is not None}
    if options.absent is AbsentStage.ZERO:
        counted |= dict.fromkeys(absent, Fraction(0))
    if Ablation.PROPAGATION in options.without:
        propagated = {name: counted[name] for name in NAMES if name in counted}
    else:
        propagated = propagate(counted, options.topology)
    base = mean_of(propagated.values())
    n_absent = 0 if Ablation.MISSING in options.without else len(absent)
    blend = max(Fraction(0), base - ABSENT_PENALTY * n_absent)
    if Ablation.META in options.without:
        checks = Checks()
    coverage, verbosity = (
        Fraction(0) if score is None else check_penalty(score) for score in (checks.coverage, checks.verbosity)
    )
    sanity = SANITY_FACTOR if checks.is_sane is False else Fraction(1)
    final = blend * (1 - coverage) * (1 - verbosity) * sanity
    return Breakdown(propagated, base, n_absent, blend, coverage, verbosity, sanity, final)


# What is not decided. -----------------------------------------------------------------------------------------------


class Presence(StrEnum):
    """Whether a solution has a stage."""

    PRESENT = "present"
    ABSENT = "absent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class StageValue:
    """A stage as far as it is known: whether the solution has it, and `Y_t`, None where nobody decided it."""

    presence: Presence = Presence.UNKNOWN
    score: Fraction | None = None

    @property
    def is_decided(self) -> bool:
        """Whether it is absent, or has a score."""
        return self.presence is Presence.ABSENT or self.score is not None


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the greatest score that a solution may have, 0 to 10."""

    low: Fraction
    high: Fraction


def score_bounds(stages: Mapping[str, StageValue], checks: Checks, options: ScoringOptions | None = None) -> Bounds:
    """Return the least and the greatest score over all that the undecided parts may be.

    A stage that nobody decided is 0 or 10, and absent too where the solution may lack it. An unmade check takes a half
    (sanity a tenth) or nothing. These are the extremes: no score falls where a stage or check of it rises.
    """
    options = options or ScoringOptions()
    worst = replace(
        checks,
        coverage=Fraction(0) if checks.coverage is None else checks.coverage,
        verbosity=Fraction(0) if checks.verbosity is None else checks.verbosity,
        is_sane=bool(checks.is_sane),
    )
    low = min(final_score(each, worst, options).final for each in _completions(stages, Fraction(0)))
    high = max(final_score(each, checks, options).final for each in _completions(stages, FULL))
    return Bounds(low, high)


def _completions(stages: Mapping[str, StageValue], unknown: Fraction) -> Iterator[dict[str, Fraction | None]]:
    """Yield the stages with `unknown` for what nobody decided, in every way in which stages may be absent."""
    ways: list[tuple[Fraction | None, ...]] = []
    for name in NAMES:
        value = stages[name]
        if value.presence is Presence.ABSENT:
            ways.append((None,))
        elif value.score is not None:
            ways.append((value.score,))
        else:
            ways.append((unknown,) if value.presence is Presence.PRESENT else (unknown, None))
    for way in product(*ways):
        yield dict(zip(NAMES, way, strict=True))


def decided_score(
    stages: Mapping[str, StageValue], checks: Checks, options: ScoringOptions | None = None
) -> Breakdown | None:  # fmt: skip
    """Return the score of a solution; None if a stage, or a check that counts, is not decided."""
    options = options or ScoringOptions()
    if not all(stages[name].is_decided for name in NAMES):
        return None
    if Ablation.META not in options.without and not checks.is_decided:
        return None
    values = {name: None if stages[name].presence is Presence.ABSENT else stages[name].score for name in NAMES}
    return final_score(values, checks, options)


def propagated_scores(stages: Mapping[str, StageValue], options: ScoringOptions) -> dict[str, Fraction]:
    """Return `S_t` of each stage that is decided together with all that it follows from; the others have none."""
    topology = TOPOLOGIES["flat"] if Ablation.PROPAGATION in options.without else options.topology
    known: dict[str, Fraction] = {}
    is_settled: dict[str, bool] = {}
    for name in topology.order:
        value = stages[name]
        is_absent = value.presence is Presence.ABSENT
        is_settled[name] = value.is_decided and (is_absent or all(is_settled[each] for each in topology.parents[name]))
        if is_settled[name] and not is_absent and value.score is not None:
            known[name] = value.score
        elif is_settled[name] and options.absent is AbsentStage.ZERO:
            known[name] = Fraction(0)
    return propagate(known, topology)


# Baselines. ---------------------------------------------------------------------------------------------------------


def single_pass(stages: Mapping[str, StageValue], options: ScoringOptions) -> Fraction | None:
    """Return the baseline SinglePass, the mean of `Y_t`; None if a stage is not decided."""
    return _baseline(stages, options, frozenset(Ablation))


def single_pass_with_propagation(stages: Mapping[str, StageValue], options: ScoringOptions) -> Fraction | None:
    """Return the baseline SinglePass + DP, the mean of `S_t`; None if a stage is not decided."""
    return _baseline(stages, options, frozenset((Ablation.META, Ablation.MISSING)))


def _baseline(
    stages: Mapping[str, StageValue], options: ScoringOptions, without: frozenset[Ablation]
) -> Fraction | None:
    """Return the score without these parts, whatever else the options leave out; None if a stage is not decided."""
    found = decided_score(stages, Checks(), replace(options, without=without))
    return None if found is None else found.final
