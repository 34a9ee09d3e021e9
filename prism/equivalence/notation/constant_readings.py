"""Letters read as constants: hbar as h/2pi (semantics O.2), and e as Euler's number (semantics O.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from prism.algebra.expr import Expr, Formula, nodes_with, spell, substituted, symbol, symbols
from prism.algebra.noncommutative import names_of_operators_and_operands
from prism.equivalence.context_facts import Identity, facts_of_context
from prism.equivalence.facts import facts_of
from prism.equivalence.substitutions import Attempt, one_includes_other
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
    if not may_express_constants(first, second, identities):
        return
    fixed = names_of_operators_and_operands(a, b)
    names = sorted(((first ^ second) & identities.keys()) - fixed)[:MAX_READ]
    for combination in product(*((None, *identities[name]) for name in names)):
        chosen = {name: each for name, each in zip(names, combination, strict=True) if each}
        one, two = _names_after(first, chosen), _names_after(second, chosen)
        if not chosen or not one_includes_other(one, two):
            continue
        replacement = {symbol(name): identity.expr for name, identity in chosen.items()}
        readings = (f"constant: {name} = {spell(each.expr)} ({each.constant})" for name, each in chosen.items())
        yield Attempt(
            substituted(a, replacement),
            substituted(b, replacement),
            (*attempt.readings, *readings),
            max(attempt.stage, Stage.CONSTANTS),
        )


def may_express_constants(
    first: frozenset[str], second: frozenset[str], identities: Mapping[str, tuple[Identity, ...]]
) -> bool:
    """Return True if identities of constants may bring the symbols of one formula among those of the other.

    Otherwise each formula keeps a symbol that the other never has, whatever is read.

    Args:
        first, second: the symbols of the two formulas.
        identities: of constants of nature, by letter.
    """
    names = (first ^ second) & identities.keys()
    new = frozenset[str]().union(*(each.names for name in names for each in identities[name]))
    return bool(names) and (first.difference(names, second) <= new or second.difference(names, first) <= new)


def _names_after(names: frozenset[str], chosen: Mapping[str, Identity]) -> frozenset[str]:
    """Return the symbol names of a formula after the letters in `chosen` have been replaced by their identities."""
    return (names - chosen.keys()).union(*(chosen[name].names for name in chosen if name in names))


EULER_READING = "e is Euler's number"
_EULER = {symbol("e"): Expr("const", name="e")}
_BESIDE_A_CHARGE = frozenset((r"\epsilon_0", r"\varepsilon_0", "k_e", r"\hbar", "m_e"))


def with_euler(a: Formula, b: Formula, context: Context) -> tuple[Formula, Formula] | None:
    r"""Return two formulas with e as Euler's number, where one of them shows it: `e - e^{-1}` beside `2\sinh 1`.

    A decimal in place of e shows it too: `V_0/e` beside `0.368 V_0`. None where the problem has an e, the formulas
    speak of charges, or symbols stand in an exponent: `e^2e^{-r/a}/r`.
    """
    one, two = facts_of(a), facts_of(b)
    names = one.names | two.names
    if "e" not in names or "e" in context.declared or not _BESIDE_A_CHARGE.isdisjoint(names):
        return None
    powers = [node for f in (a, b) for member in f.members for node in nodes_with(member, "exp")]
    if powers:
        is_shown = not any(symbols(node) for node in powers)
    else:
        other = two if "e" in one.names else one
        is_shown = one.names ^ two.names == {"e"} and bool(other.decimal_uncertainty)
    return (substituted(a, _EULER), substituted(b, _EULER)) if is_shown else None
