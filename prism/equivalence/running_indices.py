r"""The running index of a recursion: `a_{k+1} = r a_k` and `a_n = r a_{n-1}` say one thing (semantics X.9).

A letter runs if a quantity has it as an index at two places, n and n + 1. Which letter it is, and from where it is
counted, says nothing; both formulas get the letter of the reference, and count from the first of their places.

Labels of names that are written in two ways, with and without commas or as a transpose and as a power T, become one.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from functools import partial

from prism.algebra.expr import Expr, Formula, number, rewritten, symbol, traits_of, walk
from prism.algebra.symbols import TURNED, Symbol, labels_of, relabelled, spelled, symbol_of

_BINDERS = frozenset(("sum", "product", "integral", "contour", "limit"))
_COORDINATES = frozenset((*"ijklmnrtxyz0123456789", r"\theta", r"\phi"))
_NAMED = frozenset(("sym", "apply"))


@dataclass(frozen=True, slots=True)
class _Run:
    """The running index of a formula: its letter, the first of its places, and what has it at several."""

    letter: str
    start: int
    heads: frozenset[str]


def with_one_running_index(reference: Formula, claim: Formula, fixed: Set[str]) -> tuple[Formula, Formula]:
    """Return two recursions of the same quantities with one running index, and two other formulas as they are.

    Args:
        fixed: letters that run nowhere, since the problem gives their values.
    """
    one, two = _run_of(reference), _run_of(claim)
    if one is None or two is None or one.heads != two.heads or (one.letter, one.start) == (two.letter, two.start):
        return reference, claim
    if {one.letter, two.letter} & fixed or (one.letter != two.letter and one.letter in _letters(claim)):
        return reference, claim
    first, second = (_counted(f, run, one.letter) for f, run in ((reference, one), (claim, two)))
    return first, second


def with_indices_alike(reference: Formula, claim: Formula) -> tuple[Formula, Formula]:
    r"""Return two formulas without commas between the labels of an index, if one has `c_{k\sigma}` for it.

    Left as they are: letters of places and tensors, `u_{i,j}`, where a comma may be a derivative, and numbers.
    """
    names = traits_of(reference).names | traits_of(claim).names
    listed = {name for name in names if "," in name and _is_list(symbol_of(name))}
    heads = {(read.head, len(labels_of(read.sub))) for read in map(symbol_of, names - listed)}
    if not any((symbol_of(name).head, len(labels_of(symbol_of(name).sub))) in heads for name in listed):
        return reference, claim

    def changed(node: Expr) -> Expr:
        """Return a node with the labels in its name side by side."""
        read = symbol_of(node.name)
        if node.name not in listed:
            return node
        return Expr(node.op, node.args, spelled(read.head, "".join(labels_of(read.sub)), read.sup))

    return rewritten(reference, changed), rewritten(claim, changed)


def with_transposes_alike(reference: Formula, claim: Formula) -> tuple[Formula, Formula]:
    r"""Return two formulas with `A^T` as the transpose of A, if one of them writes `A^\top` for it."""
    names = traits_of(reference).names | traits_of(claim).names
    turned = {symbol_of(name).body: name for name in names if symbol_of(name).sup in TURNED} if "T" in names else {}
    if not turned:
        return reference, claim

    def changed(node: Expr) -> Expr:
        """Return a node with the power T of a letter as its transpose."""
        is_turned = node.op == "pow" and node.args[1] == symbol("T") and node.args[0].name in turned
        return symbol(turned[node.args[0].name]) if is_turned else node

    return rewritten(reference, changed), rewritten(claim, changed)


def _is_list(read: Symbol) -> bool:
    r"""Return True for an index with a comma that is no derivative: of a delta, or with labels of several kinds."""
    labels = labels_of(read.sub)
    is_tensor = _COORDINATES.issuperset(labels) or all(label[:1] == "\\" and "'" not in label for label in labels)
    return "," in read.sub and (read.base == r"\delta" or not is_tensor)


def _run_of(f: Formula) -> _Run | None:
    """Return the running index of an equation; None without one, with several, or with one that is bound."""
    if f.kind != "equation" or not any("+" in name or "-" in name for name in traits_of(f).names):
        return None  # as nearly all formulas: nothing is walked
    nodes = [node for member in f.members for node in walk(member)]
    if any(node.op in _BINDERS for node in nodes):
        return None
    places: dict[str, dict[str, set[int]]] = {}
    for name in dict.fromkeys(node.name for node in nodes if node.op in _NAMED):
        for letter, place in map(_place_of, labels_of(symbol_of(name).sub)):
            places.setdefault(letter, {}).setdefault(symbol_of(name).head, set()).add(place)
    places.pop("", None)
    running = [letter for letter, found in places.items() if any(len(each) > 1 for each in found.values())]
    if len(running) != 1:
        return None
    found = places[running[0]]
    return _Run(running[0], min(map(min, found.values())), frozenset(head for head in found if len(found[head]) > 1))


def _place_of(label: str) -> tuple[str, int]:
    """Return the letter of a label and what is added to it, (n, 1) for `n+1`; an empty letter for any other label."""
    letter, added = label[:1], label[1:] or "+0"
    is_place = letter.islower() and added[:1] in "+-" and added[1:].isdigit()
    return (letter, int(added)) if is_place else ("", 0)


def _letters(f: Formula) -> frozenset[str]:
    """Return the letters of a formula, and those of its indices."""
    names = {node.name for member in f.members for node in walk(member) if node.op in _NAMED}
    return frozenset(names).union(
        *({letter for letter, _ in map(_place_of, labels_of(symbol_of(n).sub))} for n in names)
    )


def _counted(f: Formula, run: _Run, letter: str) -> Formula:
    """Return a formula with another letter as its running index, counted from the first place."""
    named = partial(_renamed, run=run, letter=letter)
    value = Expr("sub", (symbol(letter), number(run.start))) if run.start else symbol(letter)

    def changed(node: Expr) -> Expr:
        """Return a node with the index in its name, or in the place of the index, changed."""
        if node.op == "sym" and node.name == run.letter:
            return value
        return Expr(node.op, node.args, named(node.name)) if node.op in _NAMED else node

    depends = frozenset((named(name), named(variable)) for name, variable in f.depends)
    return replace(rewritten(f, changed), depends=depends)


def _renamed(name: str, run: _Run, letter: str) -> str:
    """Return a name with its running index renamed and counted from the first place."""
    read, labels = symbol_of(name), dict[str, str]()
    for label in labels_of(read.sub):
        own, place = _place_of(label)
        if own == run.letter:
            labels[label] = f"{letter}{place - run.start:+d}" if place != run.start else letter
    if not labels:
        return name
    below = symbol_of(relabelled(f"{read.head}_{{{read.sub}}}", labels)).sub
    return spelled(read.head, below, read.sup)
