"""The matrix of a trace: which gold step each predicted step verifies, by rule (tier 1), or by judge or rule (tier 2).

Tier 1 verifies a pair if the two numbers agree and the two texts do. By the paper a chain is accepted at once if its
final answer is right and more than a share of its gold steps is verified; any other chain is escalated, and there each
pair that tier 1 has not verified is judged. A rule judges it where both steps say the same: 1 if they state the same
number of one quantity, or the gold states none; 1/2 if they state different ones. It judges 0 where every formula of
the one is proved to differ from every formula of the other. Votes judge the rest, and count against the rule in a
conflict. What neither decides is open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from prism.protocols.engtrace.files import Vote, consensus, in_words
from prism.protocols.engtrace.formulas import Meeting, StepPair, StepPairs
from prism.protocols.engtrace.scores import best_assignment, total
from prism.protocols.engtrace.similarity import Measure, Similarity
from prism.protocols.engtrace.steps import Trace, Variant, numbers_agree
from prism.protocols.rows import Basis, settle

STEP_TOLERANCE = Fraction(2, 100)  # relative, of the numbers of steps; in the paper it is not readable
ACCEPT_SHARE = Fraction(7, 10)  # of gold steps, that is to be exceeded; in the paper it is not readable
FINAL_TOLERANCE = {Variant.PAPER: Fraction(2, 100), Variant.RELEASED: Fraction(1, 100)}
_HALF = Fraction(1, 2)

Votes = Mapping[tuple[int, int], Sequence[Vote]]  # by gold step and predicted step, both from 0


@dataclass(frozen=True, slots=True)
class PairValue:
    """What a pair of steps is worth.

    Attributes:
        value: None where nobody decided.
    """

    value: Fraction | None
    basis: Basis
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TierMatrix:
    """The pairs of two traces.

    Attributes:
        rows: a row for each gold step.
        alignment: share of gold steps that tier 1 verifies, by the best assignment.
        is_accepted: the chain is accepted without tier 2; always so by the released script.
        n_lexical: pairs that their words have decided.
        notes: what a reader should know.
    """

    rows: tuple[tuple[PairValue, ...], ...]
    alignment: Fraction
    is_accepted: bool
    n_lexical: int = 0
    notes: tuple[str, ...] = ()

    @property
    def values(self) -> list[list[Fraction | None]]:
        """The values alone."""
        return [[pair.value for pair in row] for row in self.rows]


@dataclass(frozen=True, slots=True)
class TierRules:
    """What is chosen for a run."""

    variant: Variant
    step_tolerance: Fraction = STEP_TOLERANCE
    accept_share: Fraction = ACCEPT_SHARE
    prefers_rules: bool = False


def final_is_right(gold: Trace, predicted: Trace, variant: Variant) -> bool | None:
    """Decide the final answer: None if the gold has no number, False if only the prediction has none."""
    if gold.answer is None:
        return None
    if predicted.answer is None:
        return False
    is_strict = variant is Variant.RELEASED
    return numbers_agree(gold.answer, predicted.answer, FINAL_TOLERANCE[variant], is_strict=is_strict)


def build_tiers(
    measure: Measure, pairs: Callable[[], StepPairs], votes: Votes, rules: TierRules, *, final_right: bool | None
) -> TierMatrix:
    """Build the matrix of a trace.

    Args:
        measure: decides whether texts agree; it holds the traces.
        pairs: gives what the formulas of the steps say of each other; asked for an escalated chain only.
        votes: on pairs; without any effect by the released script.
    """
    first = [
        [_verify(measure, i, j, rules) for j in range(len(measure.predicted.steps))]
        for i in range(len(measure.gold.steps))
    ]
    n_lexical = sum(pair.is_lexical for row in first for pair in row)
    verified = [[Fraction(pair.is_verified is True) for pair in row] for row in first]
    alignment = total(verified, best_assignment(verified)) / (len(first) or 1)
    if rules.variant is Variant.RELEASED:
        return TierMatrix(_first_tier(first), alignment, True, n_lexical, _unused(votes, "the released script"))
    if final_right and alignment > rules.accept_share:
        return TierMatrix(_first_tier(first), alignment, True, n_lexical, _unused(votes, "an accepted chain"))
    beside = pairs().rows
    judged = [
        [_judge(pair, beside[i][j], votes.get((i, j), ()), rules) for j, pair in enumerate(row)]
        for i, row in enumerate(first)
    ]
    n_spare = sum(first[i][j].is_verified is True for i, j in votes)
    notes = (f"votes unused: {n_spare} on pairs that tier 1 has verified",) if n_spare else ()
    return TierMatrix(tuple(tuple(row) for row in judged), alignment, False, n_lexical, notes)


# Tier 1. --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _FirstTier:
    """What tier 1 says of a pair.

    Attributes:
        is_verified: None where the texts are not decided.
        asks_no_number: the gold step has none, or the numbers agree.
        basis: of what is said.
    """

    is_verified: bool | None
    asks_no_number: bool
    is_lexical: bool = False
    basis: Basis = Basis.RULES


def _verify(measure: Measure, i: int, j: int, rules: TierRules) -> _FirstTier:
    """Verify a pair by its numbers and its texts; the texts are compared only where the numbers agree."""
    gold, predicted = measure.gold.steps[i].value, measure.predicted.steps[j].value
    if gold is None or predicted is None:
        return _FirstTier(False, gold is None)
    is_strict = rules.variant is Variant.RELEASED
    if not numbers_agree(gold, predicted, rules.step_tolerance, is_strict=is_strict):
        return _FirstTier(False, False)
    text = measure.compare(i, j)
    basis = Basis.FILE if measure.similarity is Similarity.FILE else Basis.RULES
    return _FirstTier(text.agrees, True, text.is_lexical, basis if text.agrees is not None else Basis.NONE)


def _first_tier(rows: Sequence[Sequence[_FirstTier]]) -> tuple[tuple[PairValue, ...], ...]:
    """Return the values of pairs by tier 1 alone."""
    return tuple(tuple(_value_of(pair) for pair in row) for row in rows)


def _value_of(pair: _FirstTier) -> PairValue:
    """Return the value of a pair by tier 1."""
    if pair.is_verified is None:
        return PairValue(None, Basis.NONE, ("numbers agree, texts undecided",))
    findings = ("tier 1: lexical" if pair.is_lexical else "tier 1",) if pair.is_verified else ()
    return PairValue(Fraction(pair.is_verified), pair.basis, findings)


def _unused(votes: Votes, where: str) -> tuple[str, ...]:
    """Say that votes have no effect."""
    n = sum(map(len, votes.values()))
    return (f"votes unused: {n}, {where} asks for none",) if n else ()


# Tier 2. --------------------------------------------------------------------------------------------------------


def _judge(first: _FirstTier, beside: StepPair, votes: Sequence[Vote], rules: TierRules) -> PairValue:
    """Return what a pair of an escalated chain is worth."""
    if first.is_verified:
        return _value_of(first)
    by_rules, reason = _by_rule(first, beside)
    settled = settle(by_rules, consensus(votes), prefer_rules=rules.prefers_rules)
    findings = (*((f"tier 2: {reason}",) if reason else ()), *in_words(votes), *settled.findings)
    return PairValue(settled.value, settled.basis, findings)


def _by_rule(first: _FirstTier, beside: StepPair) -> tuple[Fraction | None, str]:
    """Judge a pair by its formulas: its value and the reason; None and an empty reason where no rule decides."""
    if beside.meeting not in (Meeting.SAME, Meeting.DIFFERENT):
        return None, ""
    if beside.meeting is Meeting.DIFFERENT:
        return Fraction(0), "proved different"
    shared = ", ".join(beside.findings)
    if beside.same_number or (first.asks_no_number and not beside.differences):
        return Fraction(1), f"the same, {shared}"
    if beside.differences:
        return _HALF, f"the same with another number, {shared}"
    return None, ""
