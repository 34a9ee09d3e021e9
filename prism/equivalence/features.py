"""Features of a formula within its problem: which substitutions can apply to it, and what it states there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from prism.algebra.expr import Formula
from prism.budget import remembered, remembered_property
from prism.engine.lowering import Mismatch, conjugation_base
from prism.engine.tape import TapeTooLarge
from prism.equivalence.context_facts import ContextFacts, facts_of_context, names_with_definitions
from prism.equivalence.facts import FORMULAS_KEPT, FormulaFacts, facts_of, in_base_units, numeric_of
from prism.equivalence.known_values import number_in_constants
from prism.equivalence.stated_numbers import Numeric
from prism.equivalence.zero_sets import is_identity
from prism.physics.context import Context, given_values
from prism.physics.dimensions import inconsistency
from prism.physics.quantities import italic_units_as_quantity

DERIVATIVES = frozenset(("derivative", "partial"))


@dataclass(frozen=True)
class Features:
    """Facts about a formula within a problem, each computed on first use; get the record from `features_of`.

    Attributes:
        facts: about the formula as it is written.
        known: facts about the context.
    """

    facts: FormulaFacts
    known: ContextFacts

    @remembered_property
    def plain(self) -> FormulaFacts:
        """Return the facts about the formula in base units."""
        return facts_of(self.facts.in_base_units)

    @remembered_property
    def may_be_real(self) -> bool:
        """Return True if the formula has a modulus or a conjugate, which one with real symbols can do without."""
        return "abs" in self.plain.ops or any(conjugation_base(name) != name for name in self.plain.names)

    @remembered_property
    def mentions_definition(self) -> bool:
        """Return True if a definition of the problem applies to a symbol or derivative of the formula."""
        if not self.known.context.definitions:
            return False
        if not self.plain.names.isdisjoint(self.known.definitions):
            return True
        return not DERIVATIVES.isdisjoint(self.plain.ops) and bool(self.known.definitions or self.known.partial_dots)

    @remembered_property
    def mentions_given(self) -> bool:
        """Return True if the problem gives a value for a symbol of the formula."""
        return not self.plain.names.isdisjoint(self.known.context.givens)

    @remembered_property
    def has_constant_with_value(self) -> bool:
        """Return True if a symbol of the formula may be a constant of nature with a value."""
        return any(map(self.known.is_constant_with_value, self.plain.names))

    @remembered_property
    def has_symbol_with_value(self) -> bool:
        """Return True if a symbol of the formula, or of its definitions, is a given or constant with a value."""
        context = self.known.context
        names = names_with_definitions(self.facts.formula, context)
        if not names.isdisjoint(self.known.unique_amounts):
            return True
        return any(map(self.known.is_constant_with_value, names - given_values(context).keys()))

    @remembered_property
    def fixed_names(self) -> frozenset[str]:
        """Return the symbols of the formula that no identity of constants of nature can replace."""
        return self.plain.names - self.known.identities.keys()

    @remembered_property
    def names_of_constants(self) -> frozenset[str]:
        r"""Return the symbols that identities of constants would bring into the formula, as `h` for `\hbar`."""
        letters = self.plain.names & self.known.identities.keys()
        return frozenset[str]().union(*(each.names for name in letters for each in self.known.identities[name]))

    @remembered_property
    def dimension_fault(self) -> str:
        """Return why the dimensions in the formula cannot fit, in words; an empty string if they may fit."""
        known = {name: value.quantity.dimension for name, value in given_values(self.known.context).items()}
        if not known and "unit" not in self.facts.ops:
            return ""
        return inconsistency(self.facts.in_base_units, known)


@lru_cache(maxsize=FORMULAS_KEPT)
def features_of(f: Formula, context: Context) -> Features:
    """Return the cached record of features of a formula in a context."""
    return Features(facts_of(f), facts_of_context(context))


@remembered(FORMULAS_KEPT)
def claimed_number(claim: Formula, context: Context) -> Numeric | None:
    """Return the quantity and number that a claim states, or None if it states none.

    Beyond `R = 202 km` it reads letters as units (`f = 50 Hz` in italics) and constants as units (`v = 0.8 c`).
    """
    plain = numeric_of(claim)
    if plain is not None or claim.kind != "equation":
        return plain
    members = tuple(italic_units_as_quantity(member, context.declared) or member for member in claim.members)
    found = None if members == claim.members else numeric_of(replace(claim, members=members))
    return found or number_in_constants(claim, context)


def dimension_fault(f: Formula, context: Context) -> str:
    """Return in words why the units and given values in a formula cannot fit together; "" if they may."""
    return features_of(f, context).dimension_fault


@remembered(FORMULAS_KEPT)
def is_tautology(f: Formula, context: Context) -> bool:
    """Return True if a formula is an equation that holds whatever its symbols are: `(a + b)^2 = a^2 + 2ab + b^2`."""
    if f.parts or f.kind != "equation":
        return False
    try:
        return is_identity(in_base_units(f), context)
    except (TapeTooLarge, Mismatch):
        return False
