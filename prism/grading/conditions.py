r"""Claims to which a neighbour adds a condition that the problem does not make (semantics Z.8).

`x = \sqrt{2gh}, \quad g = 3h` says something of one case only: the second formula ties letters of the first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from prism.algebra.expr import Formula, canonical, symbols_of
from prism.latex import LocatedFormula

_LONGEST = 24  # characters between a claim and its condition
_BESIDE = re.compile(
    r"(?:[\s,;:$(\[\\{}~]|quad|displaystyle|begin|end|cases|aligned)*"
    r"(?:for|if|when|with|where|and|as|provided|given|assuming)?(?: that)?[\s$(\\:]*"
)


def conditioned_orders(
    located: Sequence[LocatedFormula],
    formulas: Sequence[Formula | None],
    text: str,
    known: Collection[str],
    stated: Collection[Formula],
) -> frozenset[int]:
    """Return the ordinals of the formulas behind which, with no prose between, an equation ties symbols of theirs.

    Args:
        located: the formulas where they stand in the text.
        formulas: as parsed; None where one could not be read.
        text: of the solution.
        known: symbols of the problem and its reference.
        stated: formulas of the problem and of its reference; what they say is no condition.
    """
    forms = {_form(f) for f in stated if len(f.members) == 2}
    found = set()
    for k in range(1, len(formulas)):
        claim, tie = formulas[k - 1], formulas[k]
        if claim is None or tie is None or not claim.members or tie.kind != "equation" or len(tie.members) != 2:
            continue
        if _form(tie) in forms:
            continue
        tied = symbols_of(tie)
        between = text[located[k - 1].span[1] : located[k].span[0]]
        if (
            len(tied) > 1
            and tied <= symbols_of(claim)
            and not (claim.members[0].op == "sym" and claim.members[0].name in tied)
            and tied <= set(known)
            and len(between) <= _LONGEST
            and "\n\n" not in between
            and _BESIDE.fullmatch(between)
        ):
            found.add(k - 1)
    return frozenset(found)


def _form(f: Formula) -> tuple[str, ...]:
    """Return one value for all equations with the same two sides."""
    return tuple(sorted(map(canonical, f.members)))
