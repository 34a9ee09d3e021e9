r"""What its sentence ties the letters of a formula to: values put in, and cases that are shut out (semantics C.2).

"For $a = 3f$: $b = \frac32 f$" takes no $b = \frac{af}{a - f}$ back, as it follows from it; nor does $u(R) = 0$ take
$u = k(R^2 - r^2)$ back. What stands under `$a < f$` where the problem says that `a > f` is said of another case.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

from prism.algebra.expr import Formula, substituted, symbol, symbols, symbols_of
from prism.grading.match_matrix import CellTable
from prism.grading.references import ReferenceNode
from prism.latex import LocatedFormula
from prism.latex.word_lists import any_word

_MOST = 3  # ties of a sentence that are put in
_END = re.compile(r"[.;!?。！？](?=\s|\Z|[^\x00-\x7f])|\n\s*\n")
_UNDER = re.compile(
    rf"(?:as long as|provided(?: that)?|only|{any_word('conditions')}|{any_word('connectives')})[\s$(\\]*\Z",
    re.IGNORECASE,
)
_ORDERS = frozenset(("<", "<=", ">", ">="))


def tied_formulas(
    located: Sequence[LocatedFormula], formulas: Sequence[Formula | None], text: str
) -> list[tuple[Formula, ...]]:
    """Return for each formula those before it in its sentence, the nearest first, and an order right behind it.

    Args:
        located: the formulas where they stand in the text.
        formulas: as parsed; None where one could not be read.
        text: of the solution.
    """
    found: list[tuple[Formula, ...]] = []
    run: list[Formula] = []
    for k, f in enumerate(formulas):
        before = text[located[k - 1].span[1] : located[k].span[0]] if k else ""
        if _END.search(before):
            run = []
        found.append(tuple(reversed(run[-_MOST:])))
        is_under = f is not None and not _ORDERS.isdisjoint(f.relations) and bool(_UNDER.search(before))
        if f is None:
            continue
        if is_under and k and not _END.search(before) and formulas[k - 1] is not None:
            found[k - 1] = (f, *found[k - 1])  # "A for a < f"
        else:
            run.append(f)
    return found


def is_shut_out(claim: Formula | None, tied: Collection[Formula], stated: Collection[Formula]) -> bool:
    """Return True if the nearest order of letters of a claim reverses one that the problem states: `a < f`, `a > f`.

    A problem that states both asks about both.
    """
    under = next((f for f in tied if len(f.members) == 2 and f.relations[0] in _ORDERS), None)
    if claim is None or under is None or not symbols_of(under) <= symbols_of(claim):
        return False
    sign = under.relations[0][0]
    found = {
        (members == under.members) == (other == sign)
        for f in stated
        for other in "<>"
        for members in combinations(f.members, 2)
        if {*f.relations} == {other} and members in (under.members, under.members[::-1])
    }
    return found == {False}


def is_special_case(
    stated: Formula, nodes: Collection[ReferenceNode], tied: Collection[Formula], cells: CellTable
) -> bool:
    """Return True if a statement is what a node says where the values are put in that its sentence ties letters to.

    Args:
        stated: that differs from the nodes.
        nodes: about its quantity.
        tied: equations in its sentence.
        cells: of the problem.
    """
    return any(
        cells.are_equivalent(special, said)
        for node in nodes
        for wanted in node.formulas
        for special, said in _special_cases(wanted, stated, node, tied, cells)
    )


def _special_cases(
    wanted: Formula, stated: Formula, node: ReferenceNode, tied: Collection[Formula], cells: CellTable
) -> Iterator[tuple[Formula, Formula]]:
    """Yield a node's formula with a value put in for a letter, and what it has to be equal to."""
    asked = {subject for each in cells.task.references for subject in each.subjects}  # a wrong one is no special case
    names = symbols(*wanted.members) - symbols(*asked)
    for f in tied:
        if f.kind == "equation":
            for letter, value in (f.members, f.members[::-1]):
                if letter.op == "sym" and letter.name in names and letter.name not in symbols(value):
                    yield substituted(wanted, {letter: value}), stated
    for side in stated.members:
        if side.op == "apply" and symbol(side.name) in node.subjects and len(side.args) == 1:
            said = substituted(stated, {side: symbol(side.name)})
            yield from ((substituted(wanted, {symbol(name): side.args[0]}), said) for name in sorted(names))
