r"""Claims to which a neighbour adds a condition that the problem does not make (semantics X.14).

`$x = \sqrt{2gh}$, $g = 3h$` says something of one case only, as `x = \sqrt{2gh}, g = 3h` in one formula does: what
stands between two formulas makes them one, and `prism.equivalence.added_conditions` decides.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import partial

from prism.algebra.expr import Formula, symbols_of
from prism.equivalence.added_conditions import added_condition, other_definition
from prism.equivalence.matching import agree_without_givens
from prism.equivalence.numbers.comparison import NumberSpec
from prism.equivalence.statements import statements_of
from prism.latex import LocatedFormula
from prism.latex.word_lists import any_word
from prism.physics.context import Context

_LONGEST = 40  # characters between a claim and its condition
_BESIDE = re.compile(
    r"(?:[\s,;:$(\[\\{}~&∧⇔]|quad|displaystyle|text|mathrm|begin|end|cases|aligned"
    r"|(?:land|wedge|iff|Leftrightarrow|Longleftrightarrow)(?![A-Za-z]))*"
    r"(?P<words>(?:but )?(?:only )?(?:for|if|when|with|where|and|as|provided|given|assuming|at"
    rf"|{any_word('conditions', without='english')}|{any_word('connectives')})?(?: that)?)[\s$(\\:{{}}]*"
)
_TIED = frozenset(("equation", "chain", "expression"))
_ENDS = re.compile(r"(?:\$?,? and \$[^$]*(?=\$))*[\s$)\]}\\,]*(?:only)?(?:[.;\n]|\Z)")  # of a condition's clause


def conditioned_orders(
    located: Sequence[LocatedFormula],
    formulas: Sequence[Formula | None],
    text: str,
    known: Collection[str],
    stated: Collection[Formula],
    context: Context,
) -> frozenset[int]:
    """Return the ordinals of the formulas behind which, with no prose between, another one adds a condition.

    Args:
        located: the formulas where they stand in the text.
        formulas: as parsed; None where one could not be read.
        text: of the solution.
        known: symbols of the problem and its reference.
        stated: formulas of the problem and of its reference; what they say is no condition.
        context: of the problem.
    """
    spec = NumberSpec(is_node=True, is_final=True, settled=tuple(stated))
    agree = partial(agree_without_givens, context=context)
    found = set()
    for k in range(1, len(formulas)):
        claim, tie = formulas[k - 1], formulas[k]
        if claim is None or tie is None or claim.kind not in _TIED or not symbols_of(tie) <= {*known}:
            continue
        start, end = located[k - 1].span[1], located[k].span[0]
        between = _BESIDE.fullmatch(text, start, end) if 0 <= end - start <= _LONGEST else None
        if between is None or "\n\n" in between[0]:
            continue
        if between["words"] and not _ENDS.match(text, located[k].span[1]):
            continue
        required, more = statements_of(claim), statements_of(tie)
        if claim.kind == "expression":  # as an answer; a value of its letters explains it
            other = other_definition(required, more, context, spec, agree)
        else:
            other = added_condition(required, (*required, *more), tie, context, spec, agree)
        if other is not None:
            found.add(k - 1)
    return frozenset(found)
