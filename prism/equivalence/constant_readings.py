"""Letters read as constants of nature, by what they are in other constants: hbar as h/2pi (semantics O.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from prism.algebra.expr import spell, substituted, symbol
from prism.algebra.noncommutative import names_of_operators_and_operands
from prism.equivalence.context_facts import Identity, facts_of_context
from prism.equivalence.facts import facts_of
from prism.equivalence.substitutions import Attempt
from prism.equivalence.verdict import Stage
from prism.physics.context import Context

MAX_READ = 4  # symbols of one pair that are read as constants


def express_constants(attempt: Attempt, context: Context) -> Iterator[Attempt]:
    r"""Yield the pair of formulas with constants of nature rewritten by other constants: `\hbar` as `h/2\pi`.

    Only symbols that one formula has and the other lacks are rewritten, and only so that the symbols of one formula
    then include those of the other.
    """
    a, b = attempt.reference, attempt.claim
    first, second = facts_of(a).names, facts_of(b).names
    identities = facts_of_context(context).identities
    names = sorted((first ^ second) & identities.keys())
    if not names:
        return
    fixed = names_of_operators_and_operands(a, b)
    names = [name for name in names if name not in fixed][:MAX_READ]
    new = frozenset[str]().union(*(each.names for name in names for each in identities[name]))
    if not (first.difference(names, second) <= new or second.difference(names, first) <= new):
        return  # whatever is read, each formula keeps a symbol that the other never has
    for combination in product(*((None, *identities[name]) for name in names)):
        chosen = {name: each for name, each in zip(names, combination, strict=True) if each}
        one, two = _names_after(first, chosen), _names_after(second, chosen)
        if not chosen or not (one <= two or two <= one):
            continue
        replacement = {symbol(name): identity.expr for name, identity in chosen.items()}
        readings = (f"constant: {name} = {spell(each.expr)} ({each.constant})" for name, each in chosen.items())
        yield Attempt(
            substituted(a, replacement),
            substituted(b, replacement),
            (*attempt.readings, *readings),
            max(attempt.stage, Stage.CONSTANTS),
        )


def _names_after(names: frozenset[str], chosen: Mapping[str, Identity]) -> frozenset[str]:
    """Return the symbol names of a formula after the letters in `chosen` have been replaced by their identities."""
    return (names - chosen.keys()).union(*(chosen[name].names for name in chosen if name in names))
