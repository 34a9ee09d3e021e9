r"""Names of the several values of one quantity: `x_{1,2}`, `x_\pm`, `x_1` with `x_2`, `x_+` with `x_-` (semantics F.9).

Roots that a text gives under such names are one claim of all of them. Which of them a text means is never chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from prism.algebra.alternatives import MAX_BRANCHES, signed_branches
from prism.algebra.expr import Expr, Formula, formula, substitute, symbol, symbols, traits_of
from prism.algebra.symbols import symbol_of

_OF_ALL = ("1,2", r"\pm", "+,-", r"\mp")
_SIGNS = ("+", "-")


def index_in_family(name: str, subject: str) -> str | None:
    r"""Return the index that a name adds to that of a quantity: `1` of `x_1`, `\pm` of `x_\pm` for x; None if none.

    >>> [index_in_family(name, "x") for name in (r"x_{1,2}", r"x_\pm", "x_1", "y_1", "x")]
    ['1,2', '\\pm', '1', None, None]
    """
    read = symbol_of(name)
    is_its = read.head == subject and read.sub and not read.sup and "{" not in read.sub
    return read.sub.replace(" ", "") if is_its else None


def is_name_of_all(name: str, subject: str) -> bool:
    """Return True for a name of all values of a quantity, as `x_{1,2}` for x."""
    return index_in_family(name, subject) in _OF_ALL


def quantity_of_all(name: Expr, *, among: Formula) -> Expr:
    r"""Return x for the symbol `x_{1,2}`, and for `x_\pm` if the formula `among` gives x itself; else the symbol.

    The numbers of roots say nothing, but the two signs may mean two things: `E_\pm = a \pm b` is not `E_\pm = a \mp b`.
    """
    subject = symbol(symbol_of(name.name).head)
    index = index_in_family(name.name, subject.name)
    is_given = any(side == subject for part in (among, *among.parts) for side in part.members[:1])
    return subject if index == "1,2" or (index in _OF_ALL and is_given) else name


def is_whole_family(indices: tuple[str, ...]) -> bool:
    """Return True for the indices 1 to k, at least two of them, or both signs, in any order."""
    count = len(indices)
    wanted = {str(k) for k in range(1, count + 1)}
    return 2 <= count <= MAX_BRANCHES and (set(indices) == wanted or sorted(indices) == sorted(_SIGNS))


def union_of(subject: Expr, values: Mapping[str, Expr], latex: str) -> Formula:
    """Return the alternatives `x = a or x = b` of the values that a text gives under names of a family.

    Args:
        subject: the quantity.
        values: by name, in the order of the text; a value may use an earlier one.
        latex: of the formula that they stand in.
    """
    found: dict[Expr, Expr] = {}
    for name, value in values.items():
        found[symbol(name)] = substitute(value, {**found})
    parts = tuple(formula((subject, value), ("=",), latex) for value in found.values())
    return Formula("alternatives", (), (), latex, parts)


def with_one_name(f: Formula, subject: Expr, known: frozenset[str]) -> Formula:
    r"""Return what a formula says of a quantity with several values: `x = \pm 2` for `x_{1,2} = \pm 2`.

    A system that gives a whole family, or the quantity itself each time, becomes its alternatives. Any other formula is
    returned as it is.

    Args:
        subject: the quantity, a symbol.
        known: names that mean something else.
    """
    first = f.members[0] if f.members else None
    if f.kind in ("equation", "chain") and first is not None and first.op == "sym":
        is_its = first.name not in known and is_name_of_all(first.name, subject.name)
        return replace(f, members=(subject, *f.members[1:])) if is_its else f
    if f.kind != "system" or not all(part.kind == "equation" and part.members[0].op == "sym" for part in f.parts):
        return f
    names = [part.members[0].name for part in f.parts]
    values = [part.members[1] for part in f.parts]
    if set(names) == {subject.name} and 2 <= len(names) <= MAX_BRANCHES:
        free = all(subject.name not in symbols(value) for value in values)
        parts = tuple(formula((subject, value), ("=",), f.latex) for value in values)
        return Formula("alternatives", (), (), f.latex, parts) if free else f
    indices = tuple(index_in_family(name, subject.name) or "" for name in names)
    if known.isdisjoint(names) and is_whole_family(indices):
        return union_of(subject, dict(zip(names, values, strict=True)), f.latex)
    return f


def split_among_names(f: Formula, known: frozenset[str]) -> Formula:
    r"""Return `v_1 = a + b, v_2 = a - b` for `v_{1,2} = a \pm b` where `v_1` and `v_2` are known; else the formula."""
    first = f.members[0] if f.members else None
    if f.kind != "equation" or first is None or first.op != "sym" or first.name in known:
        return f
    head = symbol_of(first.name).head
    if index_in_family(first.name, head) != "1,2":
        return f
    names = [f"{head}_{k}" for k in (1, 2)]
    listed = f.members[1].op == "list" and len(f.members[1].args) == len(names)
    if not known.issuperset(names) or not (listed or "pm" in traits_of(f).ops):
        return f
    values = f.members[1].args if listed else tuple(each.members[1] for each in signed_branches(f))
    parts = tuple(formula((symbol(n), value), ("=",), f.latex) for n, value in zip(names, values, strict=True))
    return Formula("system", (), (), f.latex, parts)
