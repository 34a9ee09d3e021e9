"""The plan of a comparison: which substitutions are tried for a pair of formulas, and in which order (semantics O.0).

A pair is compared as it stands first. Then notation that needs a guess is read, constants of nature, the problem's
definitions, literals that are the value of a given or a constant, and last the values of givens that stand on one side
only. Each kind is one row of `RULES`; a rule is left out if the features of the two formulas show that it would find
nothing to begin with, as with most pairs: what it looks for is collected once for each formula. Every attempt says what
it substituted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice

from prism.equivalence.features import DERIVATIVES, Features, Hint, features_of
from prism.equivalence.notation.constant_readings import express_constants, may_express_constants
from prism.equivalence.notation.readings import (
    average_over_draws,
    read_calls,
    read_italic_units,
    read_magnitudes,
    read_primes,
    read_real_symbols,
    read_spellings,
    read_total_derivatives,
    read_units_behind_formulas,
)
from prism.equivalence.substitutions import (
    Attempt,
    Forms,
    are_same_symbols,
    count_angle_units,
    define_differentiated_functions,
    may_substitute_givens,
    names_once_defined,
    one_includes_other,
    substitute_givens,
)
from prism.equivalence.verdict import Stage

MAX_ATTEMPTS = 12  # with what the problem knows, for one pair; a formula of constants only has hundreds of readings


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of substitution that is tried on a pair of formulas.

    Attributes:
        stage: the stage of its attempts, if nothing further is substituted in them.
        hints: what one of the formulas has to have, or `apply` would yield nothing.
        needs: a quick test on the features of reference and claim; if False, `apply` would yield nothing.
        apply: yields the pair after each substitution, as attempts in order.
    """

    stage: Stage
    hints: tuple[Hint, ...]
    needs: Callable[[Features, Features], bool]
    apply: Callable[[Forms], Iterator[Attempt]]


def plan_attempts(reference: Features, claim: Features) -> tuple[Attempt, ...]:
    """Return the substitutions to try if a pair differs as it stands, in order; empty if no rule can apply."""
    rules = applicable_rules(reference, claim)
    if not rules:
        return ()
    written = Attempt(reference.facts.formula, claim.facts.formula)
    return substitution_rounds(rules, Forms(written, reference.known.context))


def applicable_rules(reference: Features, claim: Features) -> Sequence[Rule]:
    """Return the rules of `RULES` whose quick tests pass; all of them if a formula has several parts."""
    if reference.facts.formula.parts or claim.facts.formula.parts:
        return RULES
    return [rule for rule in _rules_concerning(reference.hints | claim.hints) if rule.needs(reference, claim)]


@lru_cache(maxsize=1024)
def _rules_concerning(hints: frozenset[Hint]) -> Sequence[Rule]:
    """Return the rules of `RULES` that look for something of what two formulas have."""
    return [rule for rule in RULES if not hints.isdisjoint(rule.hints)]


def substitution_rounds(rules: Sequence[Rule], forms: Forms) -> tuple[Attempt, ...]:
    """Apply rules to a pair: return all attempts that read notation, then the first MAX_ATTEMPTS of the rest."""
    notation = (rule.apply(forms) for rule in rules if rule.stage == Stage.NOTATION)
    informed = chain.from_iterable(rule.apply(forms) for rule in rules if rule.stage > Stage.NOTATION)
    return (*chain.from_iterable(notation), *islice(informed, MAX_ATTEMPTS))


# Substitutions of what the problem knows. -----------------------------------------------------------------------


def _constant_attempts(forms: Forms) -> Iterator[Attempt]:
    """Yield both formulas with constants of nature expressed by others."""
    return express_constants(forms.plain, forms.context)


def _definition_attempts(forms: Forms) -> Iterator[Attempt]:
    """Yield both formulas with definitions substituted, also with constants after that.

    If there are none on one side only, with functions replaced that the two formulas differentiate differently.
    """
    if forms.defined is not forms.plain:
        if one_includes_other(*forms.defined.names):
            yield forms.defined
        yield from express_constants(forms.defined, forms.context)
    elif (operated := define_differentiated_functions(forms.plain, forms.context)) is not None:
        yield operated


def _literal_attempts(forms: Forms) -> Iterator[Attempt]:
    """Yield both formulas with numbers replaced by symbols of the same value, then definitions and constants too."""
    if forms.lifted is forms.written or not _may_lift_literals(features_of(forms.written.reference, forms.context)):
        return
    if are_same_symbols(*forms.lifted_and_defined.names):
        yield forms.lifted_and_defined
    yield from express_constants(forms.lifted_and_defined, forms.context)


def _given_attempts(forms: Forms) -> Iterator[Attempt]:
    r"""Yield both formulas with given values substituted after definitions, also after numbers became symbols.

    Only with, if that replaced an angle in degrees: `\sin 45°` and `\cos 45°` are one number, but not one formula.
    """
    last = forms.lifted_and_defined
    is_lifted = forms.lifted is not forms.written
    is_angle_lifted = is_lifted and count_angle_units(forms.lifted) < count_angle_units(forms.written)
    for start in (last,) if is_angle_lifted else dict.fromkeys((last, forms.defined)):
        yield from substitute_givens(start, forms.written.claim, forms.context)


def _may_lift_literals(reference: Features) -> bool:
    """Return True if the problem has givens or definitions, or the reference a constant of nature."""
    known = reference.known
    is_told = bool(known.context.definitions or known.context.givens)
    return is_told or not reference.plain.names.isdisjoint(known.constants)


# Quick tests, on the features of the reference and the claim. -----------------------------------------------------


def _may_read_magnitudes(reference: Features, claim: Features) -> bool:
    """Return True if a formula has moduli, or one has vectors and the other letters for the lengths of all of them."""
    if Hint.MODULUS in reference.hints | claim.hints:
        return True
    if reference.plain.has_vector == claim.plain.has_vector:
        return False
    one, two = (reference, claim) if reference.plain.has_vector else (claim, reference)
    return one.magnitudes <= two.plain.names


def _may_read_primes(reference: Features, claim: Features) -> bool:
    """Return True if a symbol has a prime, and there is a derivative of the symbol, in either formula."""
    named = reference.differentiated[True] | claim.differentiated[True]
    return not named.isdisjoint(reference.primed | claim.primed)


def _may_read_calls(reference: Features, claim: Features) -> bool:
    """Return True if one formula calls a letter that the other has and calls nowhere."""
    return any(
        not one.called.isdisjoint(two.plain.names - two.called) for one, two in ((reference, claim), (claim, reference))
    )


def _may_read_total_derivatives(reference: Features, claim: Features) -> bool:
    """Return True if the claim has a partial derivative, and the reference only total ones."""
    ops = reference.plain.ops
    return "derivative" in ops and "partial" not in ops and Hint.PARTIAL in claim.hints


def _may_drop_units(reference: Features, claim: Features) -> bool:
    """Return True if only the claim has units, and symbols beside them."""
    return Hint.UNIT in claim.hints and Hint.UNIT not in reference.hints and bool(claim.facts.names)


def _may_spell_otherwise(reference: Features, claim: Features) -> bool:
    """Return True if each formula has a letter that the other has not."""
    one, two = reference.plain.names, claim.plain.names
    return not one <= two and not two <= one


def _can_express_constants(reference: Features, claim: Features) -> bool:
    """Return True if identities of constants may bring the symbols of one formula among those of the other."""
    if reference.letters_of_constants == claim.letters_of_constants:
        return False
    new = reference.names_of_constants | claim.names_of_constants
    one, two = reference.plain.names, claim.plain.names
    return (
        one.difference(two, reference.letters_of_constants) <= new
        or two.difference(one, claim.letters_of_constants) <= new
    )


def _can_define(reference: Features, claim: Features) -> bool:
    """Return True if definitions may bring the symbols of one formula among those of the other."""
    known, names = reference.known, (reference.plain.names, claim.plain.names)
    has_derivative = not DERIVATIVES.isdisjoint(reference.plain.ops | claim.plain.ops)
    if has_derivative and (known.partial_dots or are_same_symbols(*names)):
        return True
    after = names_once_defined(*names, known.definitions)
    return after != names and (one_includes_other(*after) or may_express_constants(*after, known.identities))


def _can_lift_literals(reference: Features, claim: Features) -> bool:
    """Return True if a number in one formula may be the value of a symbol that only the other one has."""
    return _may_lift_literals(reference) and any(
        one.valued and not one.valued.isdisjoint(other.replaceable_numbers)
        for one, other in ((claim, reference), (reference, claim))
    )


def _can_substitute_givens(reference: Features, claim: Features) -> bool:
    """Return True if given values may take the place of all symbols that only one of the formulas has."""
    context = reference.known.context
    if not context.givens:
        return False
    names = reference.plain.names, claim.plain.names
    if Hint.DEFINITION in reference.hints | claim.hints:
        names = names_once_defined(*names, reference.known.definitions)
    return may_substitute_givens(*names, context) or _can_lift_literals(reference, claim)


# Conditions take the features of the reference (a) and of the claim (b).
RULES = (
    Rule(Stage.NOTATION, (Hint.ITALIC_UNIT,), lambda _a, _b: True, read_italic_units),
    Rule(Stage.NOTATION, (Hint.VECTOR,), _may_read_magnitudes, read_magnitudes),
    Rule(Stage.NOTATION, (Hint.PRIME,), _may_read_primes, read_primes),
    Rule(Stage.NOTATION, (Hint.CALL,), _may_read_calls, read_calls),
    Rule(Stage.NOTATION, (Hint.PARTIAL,), _may_read_total_derivatives, read_total_derivatives),
    Rule(Stage.NOTATION, (Hint.MODULUS,), lambda _, b: Hint.MODULUS in b.hints, read_real_symbols),
    Rule(Stage.NOTATION, (Hint.UNIT,), _may_drop_units, read_units_behind_formulas),
    Rule(Stage.NOTATION, (Hint.SPELLING,), _may_spell_otherwise, read_spellings),
    Rule(Stage.NOTATION, (Hint.MEAN,), lambda _a, _b: True, average_over_draws),
    Rule(Stage.CONSTANTS, (Hint.CONSTANT,), _can_express_constants, _constant_attempts),
    Rule(Stage.DEFINITIONS, (Hint.DEFINITION,), _can_define, _definition_attempts),
    Rule(Stage.LITERALS, (Hint.VALUE,), _can_lift_literals, _literal_attempts),
    Rule(Stage.GIVENS, (Hint.VALUE, Hint.DEFINITION), _can_substitute_givens, _given_attempts),
)
"""The kinds of substitution, in order."""
