"""Features of a formula within its problem: which substitutions can apply to it, and what it states there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, nodes_with
from prism.algebra.symbols import HAT, VECTOR, symbol_of
from prism.budget import forgettable, free_property, remembered, remembered_property
from prism.engine.lowering import Mismatch, conjugation_base
from prism.engine.tape import TapeTooLarge
from prism.equivalence.context_facts import ContextFacts, facts_of_context, names_with_definitions
from prism.equivalence.facts import (
    FORMULAS_KEPT,
    UNNAMED,
    FormulaFacts,
    Literal,
    facts_of,
    in_base_units,
    numeric_of,
)
from prism.equivalence.notation.choice import magnitude_name
from prism.equivalence.numbers.known_values import number_in_constants
from prism.equivalence.numbers.stated import Numeric, literal_precision
from prism.equivalence.points.screens import Screen, screen_of
from prism.equivalence.points.zero_sets import is_identity
from prism.physics.constants import constants_with_value
from prism.physics.context import Context
from prism.physics.dimensions import inconsistency
from prism.physics.italic_units import italic_units_as_quantity
from prism.physics.quantities import Quantity, single_unit

DERIVATIVES = frozenset(("derivative", "partial"))


class Hint(StrEnum):
    """What a formula may have that a kind of substitution concerns."""

    ITALIC_UNIT = "italic unit"
    VECTOR = "vector"
    PRIME = "prime"
    CALL = "call"
    PARTIAL = "partial"
    MODULUS = "modulus"
    MEAN = "mean"
    TABLE = "table"
    SPELLING = "spelling"
    CONSTANT = "constant"
    DEFINITION = "definition"
    VALUE = "value"
    UNIT = "unit"


@dataclass(frozen=True, slots=True)
class Meanings:
    """The symbols that a number with its units may stand for.

    Attributes:
        givens: with this given value.
        constants: letters of constants of nature with this value, which count if no given has it.
    """

    givens: frozenset[str]
    constants: frozenset[str]

    def among(self, names: frozenset[str]) -> str | None:
        """Return the one symbol of `names` that the number may stand for; None if there is none, or several."""
        found = names & self.givens or names & self.constants
        return next(iter(found)) if len(found) == 1 else None


@dataclass(frozen=True)
class Features:
    """Facts about a formula within a problem, each computed on first use; get the record from `features_of`.

    Attributes:
        facts: about the formula as it is written.
        known: facts about the context.
    """

    facts: FormulaFacts
    known: ContextFacts

    def __hash__(self) -> int:
        """Return a hash of formula and context."""
        return self._hash

    @free_property
    def _hash(self) -> int:
        """Return the hash, which each of the other properties asks for."""
        return hash((self.facts.formula, self.known.context))

    @free_property
    def plain(self) -> FormulaFacts:
        """Return the facts about the formula in base units."""
        return facts_of(self.facts.in_base_units)

    @property
    def screen(self) -> Screen | None:
        """Return the screen of the formula in base units; None if it has none."""
        return screen_of(self.plain.formula, self.known.context)

    @free_property
    def hints(self) -> frozenset[Hint]:
        """Return what the formula has: a rule of substitution that concerns nothing of it may be left out."""
        ops, names, known = self.plain.ops, self.plain.names, self.known
        found = {
            Hint.ITALIC_UNIT: any(self.italic_quantities),
            Hint.VECTOR: self.plain.has_vector,
            Hint.PRIME: self.plain.has_prime,
            Hint.CALL: "apply" in ops,
            Hint.PARTIAL: "partial" in ops,
            Hint.MODULUS: "abs" in ops or any(conjugation_base(name) != name for name in names),
            Hint.MEAN: "bracket" in ops,
            Hint.TABLE: "matrix" in ops,
            Hint.SPELLING: any(name in ("i", "j") or symbol_of(name).style in (VECTOR, HAT) for name in names),
            Hint.CONSTANT: not names.isdisjoint(known.identities),
            Hint.DEFINITION: self._mentions_definition(),
            Hint.UNIT: "unit" in self.facts.ops,
            Hint.VALUE: bool(self.valued) or not names.isdisjoint(known.context.givens),
        }
        return frozenset(hint for hint, is_there in found.items() if is_there)

    @property
    def number(self) -> Numeric | None:
        """Return the quantity and its number if the formula is `quantity = number` or the reverse, else None."""
        return numeric_of(self.facts.formula)

    @remembered_property
    def claimed_number(self) -> Numeric | None:
        """Return the quantity and number that the formula states as a claim, or None if it states none.

        Beyond `R = 202 km` it reads letters as units (`f = 50 Hz` in italics) and constants as units (`v = 0.8 c`).
        """
        f = self.facts.formula
        if self.number is not None or f.kind != "equation":
            return self.number
        read = self.italic_quantities
        members = tuple([new or old for new, old in zip(read, f.members, strict=True)])
        found = numeric_of(replace(f, members=members)) if any(read) else None
        return found or number_in_constants(f, self.known.context)

    # Its notation.

    @free_property
    def italic_quantities(self) -> tuple[Expr | None, ...]:
        """Return each member with the letters behind its number as units, as `50 Hz`; None where it has none."""
        f, taken = self.facts.formula, self.known.context.declared
        return tuple([italic_units_as_quantity(each, taken, f.latex) for each in f.members])

    @free_property
    def magnitudes(self) -> frozenset[str]:
        """Return the names of the lengths of the formula's vectors."""
        return frozenset(magnitude_name(name) for name in self.plain.names if symbol_of(name).is_vector)

    @free_property
    def differentiated(self) -> Mapping[bool, frozenset[str]]:
        """Return the symbols of which the formula has a total derivative, by whether its variable is named."""
        nodes = [node for member in self.plain.formula.members for node in nodes_with(member, "derivative")]
        pairs = [node.args for node in nodes if len(node.args) == 2 and node.args[0].op == "sym"]
        return {
            is_named: frozenset(subject.name for subject, by in pairs if (by != UNNAMED) == is_named)
            for is_named in (True, False)
        }

    @free_property
    def primed(self) -> frozenset[str]:
        """Return the symbols that the formula has with a prime, or a derivative of which is written with primes."""
        return self.differentiated[False].union(
            symbol_of(name).unprimed for name in self.plain.names if symbol_of(name).primes
        )

    @free_property
    def called(self) -> frozenset[str]:
        """Return the letters that have an argument in brackets."""
        return frozenset(node.name for member in self.plain.formula.members for node in nodes_with(member, "apply"))

    # What the problem knows of it.

    def _mentions_definition(self) -> bool:
        """Return True if a definition of the problem applies to a symbol or derivative of the formula."""
        if not self.known.context.definitions:
            return False
        if not self.plain.names.isdisjoint(self.known.definitions):
            return True
        return not DERIVATIVES.isdisjoint(self.plain.ops) and bool(self.known.definitions or self.known.partial_dots)

    @free_property
    def names_with_definitions(self) -> frozenset[str]:
        """Return the symbols of the formula as it is written, and those in their definitions."""
        return names_with_definitions(self.facts.formula, self.known.context)

    @free_property
    def valued(self) -> frozenset[str]:
        """Return the symbols of the formula and of its definitions with a value that a number may be."""
        return self.names_with_definitions & self.known.valued

    @remembered_property
    def meanings(self) -> Mapping[Literal, Meanings]:
        """Map each number in the formula that is the value of a given or a constant to the symbols with that value."""
        found = {literal: self._meanings_of(literal, value) for literal, value in self.facts.literals.items()}
        return {literal: each for literal, each in found.items() if each.givens or each.constants}

    def _meanings_of(self, literal: Literal, value: Quantity) -> Meanings:
        """Return the symbols that a number may stand for; `value` is the quantity that it is, with its units."""
        number, *units = literal
        unit = single_unit(Expr("mul", tuple(units))) if units else None
        dimension = value.dimension if units else None
        scale = unit.factor if unit and not unit.pi else Fraction(1)
        figures = 0 if "/" in number.name else literal_precision(number, has_unit=bool(units))[0]
        return Meanings(
            frozenset(
                name
                for name, amount in self.known.unique_amounts.items()
                if amount[0] == value.value and dimension in (None, amount[1])
            ),
            frozenset(constants_with_value(value.value, dimension, figures, among=self.known.constants, scale=scale)),
        )

    @remembered_property
    def replaceable_numbers(self) -> frozenset[str]:
        """Return the symbols that the formula lacks, for which one of its numbers may stand."""
        found = (names for each in self.meanings.values() for names in (each.givens, each.constants))
        return frozenset[str]().union(*found) - self.names_with_definitions

    @free_property
    def letters_of_constants(self) -> frozenset[str]:
        """Return the symbols of the formula that an identity of constants of nature can replace."""
        return self.plain.names & self.known.identities.keys()

    @free_property
    def names_of_constants(self) -> frozenset[str]:
        r"""Return the symbols that identities of constants would bring into the formula, as `h` for `\hbar`."""
        letters = self.letters_of_constants
        return frozenset[str]().union(*(each.names for name in letters for each in self.known.identities[name]))

    @remembered_property
    def dimension_fault(self) -> str:
        """Return why the dimensions in the formula cannot fit, in words; an empty string if they may fit."""
        known = self.known.given_dimensions
        if "unit" not in self.facts.ops and not (
            known and any(each in known or symbol_of(each).is_unit for each in self.plain.names)
        ):
            return ""
        return inconsistency(self.plain.formula, known)


@forgettable
@lru_cache(maxsize=FORMULAS_KEPT)
def features_of(f: Formula, context: Context) -> Features:
    """Return the cached record of features of a formula in a context."""
    return Features(facts_of(f), facts_of_context(context))


def claimed_number(claim: Formula, context: Context) -> Numeric | None:
    """Return the quantity and number that a claim states, or None; see `Features.claimed_number`."""
    return features_of(claim, context).claimed_number


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
