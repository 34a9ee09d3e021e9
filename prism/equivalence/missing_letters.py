r"""What tells two formulas apart that no evaluation compares: a letter of one that the other has nowhere.

A letter that stands in one place of a formula has its effect there, whatever the construct around it is: no other
place takes it away. A formula that has no such letter, in no style and with no index, says something else. Not asked
about are letters that a value, a definition or a constant of nature may stand for, bound variables, indices, arguments
that are left out (`U(x)` is `U`), formulas that share a member (`\dot x = at` and `v = at` may be one quantity by two
names), and two formulas of calculus that share a letter: one may be the other at a point, for a region, or solved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from prism.algebra.expr import Formula, canonical, symbols, walk
from prism.budget import forgettable, remembered
from prism.engine.zero_set import value_at
from prism.equivalence.facts import FORMULAS_KEPT
from prism.equivalence.interpretation.constructs import base_letter, constructs_of
from prism.equivalence.interpretation.source import Source
from prism.physics.constants import constant_table
from prism.physics.context import Context, may_be_constant

_CHANGE = 1e-6  # relative change of a member that a letter makes
CONTEXTS_KEPT = 256  # contexts whose letters a process remembers
_KINDS = frozenset(("equation", "chain", "inequality"))


def differ_in_letters(a: Formula, b: Formula, context: Context) -> bool:
    """Return True if one formula depends on a letter that the other has nowhere, and no member of both is the same."""
    if not (a.kind in _KINDS and b.kind in _KINDS and not a.parts and not b.parts):
        return False
    one, two = constructs_of(a), constructs_of(b)
    known = _names_with_a_meaning(context)
    if _share_no_letter(a, b, known):
        return True
    if one.has_calculus and two.has_calculus and one.letters & two.letters:
        return False
    is_delicate = any(each.is_delicate or each.is_misread or each.has_calculus for each in (one, two))
    is_delicate &= bool(one.letters & two.letters)
    missing = {
        name
        for f, other, here, there in ((a, b, one, two), (b, a, two, one))
        for letter, name in (*here.single.items(), *(() if is_delicate else _seen_in_a_member(f).items()))
        if letter not in there.letters | there.bound | _letters(other)
    }
    return not missing <= known and _members(a).isdisjoint(_members(b))


def _share_no_letter(a: Formula, b: Formula, known: frozenset[str]) -> bool:
    """Return True if two formulas have no letter in common, bound ones included, and each has one without meaning."""
    if any(symbols(*f.members) <= known for f in (a, b)):
        return False
    return _letters(a).isdisjoint(_letters(b))


@forgettable
@lru_cache(FORMULAS_KEPT)
def _letters(f: Formula) -> frozenset[str]:
    """Return the letters of all names in a formula, bound ones and functions included."""
    called = {node.name for member in f.members for node in walk(member) if node.op == "apply"}
    return frozenset(map(base_letter, symbols(*f.members) | called))


@remembered(FORMULAS_KEPT)
def _seen_in_a_member(f: Formula) -> Mapping[str, str]:
    """Return the letters that change the value of one member of a formula and stand in no other, with their names.

    Only a member that can be evaluated shows it. A letter of several names is left out.
    """
    found: dict[str, str] = {}
    for k, member in enumerate(f.members):
        names = sorted(symbols(member))
        others = {base_letter(name) for each in (*f.members[:k], *f.members[k + 1 :]) for name in symbols(each)}
        letters = Counter(map(base_letter, names))
        values = {name: Source(f"missing/{name}").uniform(0.6, 1.7) for name in names}
        lone = [name for name in names if base_letter(name) not in others and letters[base_letter(name)] == 1]
        if not lone or (before := value_at(member, values)) is None:
            continue
        for name in lone:
            after = value_at(member, {**values, name: 1.3 * values[name]})
            if after is not None and abs(after - before) > _CHANGE * abs(before):
                found[base_letter(name)] = name
    return found


@remembered(FORMULAS_KEPT)
def _members(f: Formula) -> frozenset[str]:
    """Return the members of a formula in canonical form, but for numbers."""
    return frozenset(canonical(member) for member in f.members if symbols(member))


@forgettable
@lru_cache(CONTEXTS_KEPT)
def _names_with_a_meaning(context: Context) -> frozenset[str]:
    """Return the names that a given value, a definition or a constant of nature may stand for."""
    defined = symbols(*(member for written in context.definitions for member in written.members))
    constants = frozenset(name for name in constant_table().by_symbol if may_be_constant(context, name))
    return constants | defined | frozenset(context.givens)
