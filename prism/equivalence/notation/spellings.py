r"""Letters that are written in several ways: unit vectors, the imaginary unit, elements of integrals, operators.

Refused: one spelling for all when a formula is read. A bold i may be a current and j an index; only a formula beside
that has the other spelling, and no letter of its own for it, tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, walk
from prism.algebra.symbols import symbol_of
from prism.budget import forgettable
from prism.equivalence.facts import FORMULAS_KEPT, facts_of
from prism.equivalence.notation.choice import magnitude_name
from prism.equivalence.notation.marks import marks_of

_AXES = {"i": "x", "j": "y", "k": "z", r"\imath": "x", r"\jmath": "y"}
_ELEMENTS = {
    **dict.fromkeys((r"\vec{l}", r"\vec{\ell}", r"\vec{s}", r"\vec{r}"), "line element"),
    **dict.fromkeys((r"\vec{A}", r"\vec{S}", r"\vec{a}", r"\vec{\sigma}"), "surface element"),
}
_IMAGINARY_UNIT = "imaginary unit"
_OPERATOR = "operator "


def respelled(reference: Formula, claim: Formula, declared: Set[str]) -> dict[str, str]:
    r"""Map letters that only the claim has to the reference's letters for the same thing: `\vec{e}_r` to `\hat{r}`.

    What one formula spells with two letters is left out.

    Args:
        reference, claim: two formulas.
        declared: symbols of the problem, which mean what it says.
    """
    names = facts_of(reference).names, facts_of(claim).names
    marks = marks_of(reference), marks_of(claim)
    is_turned = any(r"\omega" in each.names or each.turned for each in marks)
    has_operators = any(each.has_operators for each in marks)
    spelled: list[dict[str, str]] = []
    for f, own, other in ((reference, *names), (claim, *names[::-1])):
        found: dict[str, set[str]] = {}
        things = _things_by_letter(f)
        for name in own - other - declared:
            for thing in things[name]:
                found.setdefault(thing, set()).add(name)
        spelled.append({thing: min(letters) for thing, letters in found.items() if len(letters) == 1})
    first, second = spelled
    return {
        second[thing]: first[thing]
        for thing in sorted(first.keys() & second.keys())
        if (is_turned or thing != _IMAGINARY_UNIT) and (has_operators or not thing.startswith(_OPERATOR))
    }


@forgettable
@lru_cache(FORMULAS_KEPT)
def _things_by_letter(f: Formula) -> Mapping[str, tuple[str, ...]]:
    """Return for each letter of a formula what it may be a spelling of."""
    return {name: tuple(_things(f, name)) for name in facts_of(f).names}


def _things(f: Formula, name: str) -> Iterator[str]:
    """Yield the things that a letter of a formula may be a spelling of."""
    if name in ("i", "j") and name not in marks_of(f).summed:
        yield _IMAGINARY_UNIT
    read = symbol_of(name)
    is_unit = name == read.letter and (read.is_hat or (read.is_vector and read.base in ("i", "j", "k")))
    if is_unit or (read.is_accented and read.base == "e" and read.sub):
        letter = read.sub or read.base
        yield f"unit vector {_AXES.get(letter, letter)}"
    if name in _ELEMENTS and _is_element(f, name):
        yield _ELEMENTS[name]
    if _is_place(f, name):
        yield f"place {magnitude_name(name) or name}"
    yield _OPERATOR + (read.unstyled if read.is_hat else name)


def _is_place(f: Formula, name: str) -> bool:
    r"""Return True if a letter stands nowhere in a formula but as an argument: `\Phi(\vec{r}_e)` is `\Phi(r_e)`."""
    nodes = [node for member in f.members for node in walk(member)]
    place = Expr("sym", name=name)
    calls = [node for node in nodes if node.op == "apply" and node.args == (place,)]
    return nodes.count(place) == len(calls) > 0


def _is_element(f: Formula, name: str) -> bool:
    """Return True if a letter stands nowhere in a formula but as the element that integrals are taken over."""
    nodes = [node for member in f.members for node in walk(member)]
    elements = [node.args[1] for node in nodes if node.op in ("integral", "contour") and len(node.args) > 1]
    element = Expr("sym", name=name)
    return nodes.count(element) == elements.count(element) > 0
