"""The plan of a comparison: which substitutions are tried for a pair of formulas, and in which order (semantics O.0).

A pair is compared as it stands first. Then notation that needs a guess is read, constants of nature, the problem's
definitions, literals that are the value of a given or a constant, and last the values of givens that stand on one side
only. Each kind is one row of `RULES`; a rule is left out if the features of the two formulas show that it would find
nothing to begin with, as with most pairs. Every attempt says what it substituted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from prism.algebra.expr import Formula
from prism.equivalence.constant_readings import express_constants
from prism.equivalence.features import Features, features_of
from prism.equivalence.notation_readings import (
    read_calls,
    read_italic_units,
    read_magnitudes,
    read_primes,
    read_real_symbols,
    read_total_derivatives,
    write_nabla_components,
)
from prism.equivalence.substitutions import (
    Attempt,
    Forms,
    count_angle_units,
    define_differentiated_functions,
    has_same_symbols,
    one_includes_other,
    substitute_givens,
)
from prism.equivalence.verdict import Stage
from prism.physics.context import Context

MAX_ATTEMPTS = 12  # with what the problem knows, for one pair; a formula of constants only has hundreds of readings

_NABLA = frozenset(("nabla", "opaque"))  # operators that may act on fields


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of substitution that is tried on a pair of formulas.

    Attributes:
        stage: the stage of its attempts, if nothing further is substituted in them.
        needs: a quick test on the features of reference and claim; if False, `apply` would yield nothing.
        apply: yields the pair after each substitution, as attempts in order.
    """

    stage: Stage
    needs: Callable[[Features, Features], bool]
    apply: Callable[[Forms], Iterator[Attempt]]


def plan_attempts(reference: Formula, claim: Formula, context: Context) -> tuple[Attempt, ...]:
    """Return the substitutions to try if a pair differs as it stands, in order; empty if no rule can apply."""
    one, two = features_of(reference, context), features_of(claim, context)
    rules = applicable_rules(one, two)
    return substitution_rounds(rules, Forms(Attempt(reference, claim), context)) if rules else ()


def applicable_rules(reference: Features, claim: Features) -> Sequence[Rule]:
    """Return the rules of `RULES` whose quick test passes; all of them if a formula has several parts."""
    if reference.facts.formula.parts or claim.facts.formula.parts:
        return RULES
    return [rule for rule in RULES if rule.needs(reference, claim)]


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
        if one_includes_other(forms.defined):
            yield forms.defined
        yield from express_constants(forms.defined, forms.context)
    elif (operated := define_differentiated_functions(forms.plain, forms.context)) is not None:
        yield operated


def _literal_attempts(forms: Forms) -> Iterator[Attempt]:
    """Yield both formulas with numbers replaced by symbols of the same value, then definitions and constants too."""
    if forms.lifted is forms.written or not _may_lift_literals(features_of(forms.written.reference, forms.context)):
        return
    if has_same_symbols(forms.lifted_and_defined):
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
    context = reference.known.context
    return bool(context.definitions or context.givens) or reference.has_constant_with_value


def _has_literal_for_symbol(reference: Features, claim: Features) -> bool:
    """Return True if one formula has a number and the other a symbol with a value, which the number may be."""
    is_liftable = (claim.has_symbol_with_value and bool(reference.facts.literals)) or (
        reference.has_symbol_with_value and bool(claim.facts.literals)
    )
    return is_liftable and _may_lift_literals(reference)


def _have_primes_and_derivatives(reference: Features, claim: Features) -> bool:
    """Return True if a symbol with a prime and a derivative occur in the two formulas."""
    return (
        reference.plain.has_prime or claim.plain.has_prime
    ) and "derivative" in reference.plain.ops | claim.plain.ops


def _can_express_constants(reference: Features, claim: Features) -> bool:
    """Return True if identities of constants may bring the symbols of one formula among those of the other."""
    if reference.fixed_names == reference.plain.names and claim.fixed_names == claim.plain.names:
        return False
    new = reference.names_of_constants | claim.names_of_constants
    return reference.fixed_names - claim.plain.names <= new or claim.fixed_names - reference.plain.names <= new


def _mentions_definition(reference: Features, claim: Features) -> bool:
    """Return True if a definition of the problem applies to a symbol of either formula."""
    return reference.mentions_definition or claim.mentions_definition


def _mentions_given(reference: Features, claim: Features) -> bool:
    """Return True if the problem has givens, and either formula mentions one, maybe by a definition."""
    is_mentioned = reference.mentions_given or claim.mentions_given or _mentions_definition(reference, claim)
    return bool(reference.known.context.givens) and is_mentioned


# Conditions take the features of the reference (a) and of the claim (b).
RULES = (
    Rule(
        Stage.NOTATION, lambda a, b: a.facts.may_have_italic_units or b.facts.may_have_italic_units, read_italic_units
    ),
    Rule(Stage.NOTATION, lambda a, b: a.plain.has_vector != b.plain.has_vector, read_magnitudes),
    Rule(Stage.NOTATION, _have_primes_and_derivatives, read_primes),
    Rule(Stage.NOTATION, lambda a, b: "apply" in a.plain.ops | b.plain.ops, read_calls),
    Rule(Stage.NOTATION, lambda a, b: "derivative" in a.plain.ops and "partial" in b.plain.ops, read_total_derivatives),
    Rule(Stage.NOTATION, lambda _, b: b.may_be_real, read_real_symbols),
    Rule(Stage.NOTATION, lambda a, b: not _NABLA.isdisjoint(a.plain.ops | b.plain.ops), write_nabla_components),
    Rule(Stage.CONSTANTS, _can_express_constants, _constant_attempts),
    Rule(Stage.DEFINITIONS, _mentions_definition, _definition_attempts),
    Rule(Stage.LITERALS, _has_literal_for_symbol, _literal_attempts),
    Rule(Stage.GIVENS, _mentions_given, _given_attempts),
)
"""The kinds of substitution, in order."""
