r"""What tells two formulas apart that no evaluation compares: a letter of one that the other has nowhere.

A letter that stands in one place of a formula has its effect there, whatever the construct around it is: no other
place takes it away. A formula that has no such letter, in no style and with no index, says something else. Not asked
about are letters that a value, a definition or a constant of nature may stand for, bound variables, indices, arguments
that are left out (`U(x)` is `U`), formulas that share a member (`\dot x = at` and `v = at` may be one quantity by two
names), and two formulas of calculus that share a letter: one may be the other at a point, for a region, or solved.
"""

from __future__ import annotations

from prism.algebra.expr import Formula, canonical, symbols
from prism.budget import remembered
from prism.equivalence.facts import FORMULAS_KEPT
from prism.equivalence.interpretation.constructs import constructs_of
from prism.physics.constants import constant_table
from prism.physics.context import Context, may_be_constant

CONTEXTS_KEPT = 256  # contexts whose letters a process remembers
_KINDS = frozenset(("equation", "chain", "inequality"))


def differ_in_letters(a: Formula, b: Formula, context: Context) -> bool:
    """Return True if one formula depends on a letter that the other has nowhere, and no member of both is the same."""
    if not (a.kind in _KINDS and b.kind in _KINDS and not a.parts and not b.parts):
        return False
    one, two = constructs_of(a), constructs_of(b)
    if one.has_calculus and two.has_calculus and one.letters & two.letters:
        return False
    missing = {
        name
        for here, there in ((one, two), (two, one))
        for letter, name in here.single.items()
        if letter not in there.letters and letter not in there.bound
    }
    return not missing <= _names_with_a_meaning(context) and _members(a).isdisjoint(_members(b))


@remembered(FORMULAS_KEPT)
def _members(f: Formula) -> frozenset[str]:
    """Return the members of a formula in canonical form, but for numbers."""
    return frozenset(canonical(member) for member in f.members if symbols(member))


@remembered(CONTEXTS_KEPT)
def _names_with_a_meaning(context: Context) -> frozenset[str]:
    """Return the names that a given value, a definition or a constant of nature may stand for."""
    defined = symbols(*(member for written in context.definitions for member in written.members))
    constants = frozenset(name for name in constant_table().by_symbol if may_be_constant(context, name))
    return constants | defined | frozenset(context.givens)
