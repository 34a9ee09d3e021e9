r"""Ellipses as sums and products: `1^2 + 2^2 + \ldots + n^2`, `n(n-1)\cdots(n-k+1)`, `1 - x + x^2 - \cdots`.

One law has to give all terms that are written, the last too: a counter in the last term, a difference or a ratio. Where
two laws do, an ellipsis stays what it is. An endless one says as much as its terms, up to the next power.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from prism.algebra.expr import Expr, number, substitute, symbol, symbols, walk, with_args
from prism.algebra.symbols import labels_of, symbol_of
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.names import letters_of, order_letter, renamed
from prism.equivalence.interpretation.series.monomials import Monomial, monomial_of
from prism.equivalence.interpretation.signature import Signature
from prism.equivalence.interpretation.values import Unvalued, Value, add, compare_to_zero, scalar, size_of

_COUNTERS = ("k", "j", "l", "p", "q", "s")  # letters for the index of what an ellipsis stands for
_STARTS = range(-2, 7)  # values of the counter in the first term
_MOST_TERMS = 8  # that are written on one side of an ellipsis
_MOST_STEPS = 400  # of a ratio, to the last term
_LARGEST_RATIO = 1000  # of its numbers
_CHECKED = 2  # interpretations in which two laws, or a law and a term, are compared
_INFINITY = Expr("infinity")


def with_ellipses(node: Expr, signature: Signature) -> Expr:
    """Return an expression in which each ellipsis with one law is a sum or a product.

    Args:
        node: an expression.
        signature: of letters that are numbers, for comparing terms.
    """
    if not any(part.op == "dots" for part in walk(node)):
        return node
    args = tuple(with_ellipses(arg, signature) for arg in node.args)
    node = with_args(node, args)
    if node.op in ("add", "sub"):
        return _read(list(_signed_terms(node)), node, "sum", signature)
    if node.op == "mul":
        return _read(list(node.args), node, "product", signature)
    return node


def _signed_terms(node: Expr) -> Iterator[Expr]:
    """Yield the terms of a sum, negative ones as negatives."""
    if not any(_is_dots(part) for part in walk(node)):
        yield node  # in brackets
    elif node.op == "add":
        for arg in node.args:
            yield from _signed_terms(arg)
    elif node.op == "sub":
        yield from _signed_terms(node.args[0])
        for arg in node.args[1:]:
            yield from (_negative(term) for term in _signed_terms(arg))
    elif node.op == "neg" and node.args[0].op in ("add", "sub", "neg"):
        yield from (_negative(term) for term in _signed_terms(node.args[0]))
    else:
        yield node


def _negative(term: Expr) -> Expr:
    """Return the negative of a term."""
    return term.args[0] if term.op == "neg" else Expr("neg", (term,))


def _is_dots(term: Expr) -> bool:
    """Return True for an ellipsis, with either sign."""
    return term.op == "dots" or (term.op == "neg" and _is_dots(term.args[0]))


def _read(terms: list[Expr], node: Expr, op: str, signature: Signature) -> Expr:
    """Return what the terms of a sum or the factors of a product with an ellipsis stand for; else the node itself."""
    places = [k for k, term in enumerate(terms) if _is_dots(term)]
    if not places or len(terms) > 2 * _MOST_TERMS:
        return node
    is_endless = places[-1] == len(terms) - 1
    if len(places) > 1 + is_endless or (is_endless and op == "product"):
        return node
    first, last = terms[: places[0]], terms[places[0] + 1 : len(terms) - (1 if is_endless else 0)]
    signs = {term.op == "neg" for term in (*first, *last)}
    if not first or (op == "sum" and len(signs) == 1 and any((terms[k].op == "neg") not in signs for k in places)):
        return node  # `1 + 2 - \ldots` has no law
    if not last:
        found = _up_to_the_next_power(first) if 2 <= len(first) <= _MOST_TERMS else None
        return node if found is None else found
    if op == "sum":
        found = _only(_readings(first, last, op, signature, is_endless=is_endless), signature)
        return node if found is None else found
    for k in range(len(first)):  # other factors may stand before and behind
        for end in range(len(last), 0, -1):
            found = _only(_readings(first[k:], last[:end], op, signature, is_endless=False), signature)
            if found is not None:
                return Expr("mul", (number(1), *first[:k], found, *last[end:]))
    return node


def _only(readings: list[Expr], signature: Signature) -> Expr | None:
    """Return the one reading there is; None if there is none, or if two have unlike values."""
    if not readings or not all(_are_equal(readings[0], other, signature) for other in readings[1:]):
        return None
    return readings[0]


def _are_equal(a: Expr, b: Expr, signature: Signature) -> bool:
    """Return True if two expressions have the same value in each of some interpretations."""
    if a == b:
        return True
    for count in range(_CHECKED):
        evaluator = Evaluator(_drawn_apart(2 * count + 1, signature, symbols(a, b)))
        try:
            one, two = evaluator.value(a, Scope()), evaluator.value(b, Scope())
            if compare_to_zero(add(one, two, -1), size_of(one) + size_of(two)) is not True:
                return False
        except (Unvalued, ArithmeticError, ValueError):
            return False
    return True


def _drawn_apart(number_of_draw: int, signature: Signature, names: frozenset[str]) -> Draw:
    """Return an interpretation in which no two of some whole numbers are equal: the n of one law is no k of another."""
    draw = Draw(number_of_draw, signature)
    fixed: dict[str, Value] = {}
    for name in sorted(names & signature.whole):
        value = draw.number_of(name, "integer")
        while any(size_of(value - scalar(other)) == 0 for other in fixed.values()):
            value = value + 1
        fixed[name] = value
    return replace(draw, fixed=fixed)


# With a last term. ----------------------------------------------------------------------------------------------------


def _readings(first: list[Expr], last: list[Expr], op: str, signature: Signature, *, is_endless: bool) -> list[Expr]:
    """Return all sums or products that terms before and behind an ellipsis may stand for."""
    if not symbols(last[-1]) and symbols(first[0]) and not is_endless:
        first, last = last[::-1], first[::-1]
    index = _fresh(*first, *last)
    if index is None or len(first) > _MOST_TERMS or len(last) > _MOST_TERMS:
        return []
    found = list(_by_counter(first, last, index, op, signature, is_endless=is_endless))
    if not is_endless and (by_difference := _by_difference(first, last, index, op, signature)) is not None:
        found.append(by_difference)
    if not is_endless and (by_ratio := _by_ratio(first, last, index, op)) is not None:
        found.append(by_ratio)
    return found


def _fresh(*terms: Expr) -> Expr | None:
    """Return a letter that stands nowhere in some terms, not in a subscript either.

    None if all of the usual index letters are used.
    """
    names = symbols(*terms)
    used = names | {letter for name in names for letter in letters_of(name)}
    return next((symbol(letter) for letter in _COUNTERS if letter not in used), None)


def _by_counter(
    first: list[Expr], last: list[Expr], index: Expr, op: str, signature: Signature, *, is_endless: bool
) -> Iterator[Expr]:
    """Yield the readings in which a letter of the last term is the counter of all."""
    general = last[-1]
    labels = [labels_of(symbol_of(name).sub) for name in symbols(general)]
    orders = [order_letter(*each) for each in labels if len(each) == 1]
    letters = symbols(general).union(order[0] for order in orders if order is not None)
    for letter in sorted(letters):
        if len(first) == 1 and not _counts_from_one_term(first[0], general, letter):
            continue
        law = renamed(general, letter, index)
        before = [
            (_at(law, index, Expr("sub", (symbol(letter), number(k)))), last[-1 - k]) for k in range(1, len(last))
        ]
        if not all(_are_equal(one, other, signature) for one, other in before):
            continue
        for start in _STARTS:
            if all(_are_equal(_at(law, index, number(start + k)), term, signature) for k, term in enumerate(first)):
                yield Expr(op, (law, index, number(start), _INFINITY if is_endless else symbol(letter)))


def _counts_from_one_term(term: Expr, general: Expr, letter: str) -> bool:
    """Return True if a term and a general one differ by 1 or 0 in place of a letter, as `R_1` and `R_n`."""
    return any(renamed(general, letter, number(start)) == term for start in (0, 1))


def _at(law: Expr, index: Expr, place: Expr) -> Expr:
    """Return the term of a law at a place; a subscript only at a whole number."""
    return renamed(law, index.name, place) if place.op == "num" else substitute(law, {index: place})


def _by_difference(first: list[Expr], last: list[Expr], index: Expr, op: str, signature: Signature) -> Expr | None:
    """Return the reading in which one place of the terms grows by the same number from each to the next.

    None where several places grow, by different numbers, or not a whole number of times.
    """
    if len(first) < 2:
        return None
    holes = _holes([*first, *last])
    if holes is None or len({tuple(hole) for hole in holes}) != 1:
        return None
    values, count = holes[0], len(first)
    if values[0].value is None and not symbols(values[0]):
        return None
    steps = {_whole_step(values[k], values[k + 1], signature) for k in range(count - 1)}
    steps |= {_whole_step(values[k], values[k + 1], signature) for k in range(count, len(values) - 1)}
    step = steps.pop()
    if steps or not step:
        return None
    extent = Expr("div", (Expr("sub", (values[-1], values[0])), number(step)))
    if not _is_whole(extent, signature):
        return None
    place = Expr("add", (values[0], Expr("mul", (number(step), index))))
    return Expr(op, (_filled([*first, *last], place), index, number(0), extent))


def _by_ratio(first: list[Expr], last: list[Expr], index: Expr, op: str) -> Expr | None:
    """Return the reading in which numbers grow by one ratio.

    None for other terms than numbers, a ratio that changes or is too large, and a last number that no power reaches.
    """
    values = [term.value for term in (*first, *last) if term.value]
    if len(values) != len(first) + len(last) or len(first) < 2 or len(last) != 1:
        return None
    ratio = values[1] / values[0]
    if abs(ratio) == 1 or any(b / a != ratio for a, b in pairwise(values[:-1])):
        return None
    if max(ratio.numerator, ratio.denominator, -ratio.numerator) > _LARGEST_RATIO:
        return None
    count = next((k for k in range(1, _MOST_STEPS) if values[0] * ratio**k == values[-1]), 0)
    if not count:
        return None
    law = Expr("mul", (number(values[0]), Expr("pow", (number(ratio), index))))
    return Expr(op, (law, index, number(0), number(count)))


def _whole_step(one: Expr, two: Expr, signature: Signature) -> int:
    """Return by which whole number an expression is larger than another one; 0 if by none."""
    if one.value is not None and two.value is not None:
        step = two.value - one.value
        return int(step) if step.denominator == 1 else 0
    return next((step for step in (1, -1, 2, -2, 3) if _are_equal(Expr("add", (one, number(step))), two, signature)), 0)


def _is_whole(node: Expr, signature: Signature) -> bool:
    """Return True if an expression is a whole number whatever whole numbers its letters are."""
    for count in range(4):
        try:
            found = Evaluator(Draw(count, signature)).number(node, Scope())
            size = float(found.real.mid()) if hasattr(found, "real") else math.nan
        except (Unvalued, ArithmeticError, ValueError):
            return False
        if not abs(size - round(size)) < 1e-9:
            return False
    return True


def _holes(terms: Sequence[Expr]) -> list[list[Expr]] | None:
    """Return, for each place at which terms of one form differ, what stands there in each; None if there is none."""
    if all(term == terms[0] for term in terms):
        return []
    lead = terms[0]
    is_alike = all((term.op, term.name, len(term.args)) == (lead.op, lead.name, len(lead.args)) for term in terms)
    is_number = all(term.value is not None for term in terms)
    if not is_alike or is_number or not lead.args:
        return [list(terms)]
    inner = [_holes([term.args[k] for term in terms]) for k in range(len(lead.args))]
    changed = [hole for holes in inner for hole in holes or []]
    return changed if len({tuple(hole) for hole in changed}) == 1 or lead.op not in ("add", "sub") else [list(terms)]


def _filled(terms: Sequence[Expr], place: Expr) -> Expr:
    """Return the form of some terms with something else at each place where they differ."""
    lead = terms[0]
    if all(term == lead for term in terms):
        return lead
    if _holes(terms) == [list(terms)]:
        return place
    args = tuple(_filled([term.args[k] for term in terms], place) for k in range(len(lead.args)))
    return Expr(lead.op, args, lead.name, lead.value)


# Endless. -------------------------------------------------------------------------------------------------------------


def _exponents(monomials: Sequence[Monomial]) -> dict[Expr, tuple[Fraction, Fraction]] | None:
    """Return for each base its first exponent and by how much it grows from term to term; None if not steadily."""
    found = {}
    for base in dict.fromkeys(base for each in monomials for base in each.powers):
        exponents = [each.powers.get(base, Fraction(0)) for each in monomials]
        step = exponents[1] - exponents[0]
        if any(b - a != step for a, b in pairwise(exponents)):
            return None
        found[base] = (exponents[0], step)
    return found


def _up_to_the_next_power(terms: list[Expr]) -> Expr | None:
    """Return terms with the order of the next power of a letter, `mc^2 + p^2/2m + O(p^4)`; None if none grows."""
    found = [monomial_of(term) for term in terms]
    monomials = [each for each in found if each is not None]
    powers = _exponents(monomials) if len(monomials) == len(terms) else None
    growing = [base for base, (_, step) in (powers or {}).items() if step > 0 and base.op == "sym"]
    if not powers or not growing:
        return None
    base = min(growing, key=lambda each: each.name)
    start, step = powers[base]
    order = Expr("apply", (Expr("pow", (base, number(start + step * len(terms)))),), "O")
    return Expr("add", (*terms, order))
