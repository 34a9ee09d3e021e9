r"""Do two formulas hold for the same values of a letter? Sets, solutions with `\pm`, families, regions with their ends.

One letter takes all values, the others are drawn. Both conditions are tested at every point where one of them may begin
or cease to hold, and on either side of it (semantics X.14).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

from prism.algebra.expr import Expr, Formula, number, substitute, symbol, symbols, symbols_of, walk, with_members
from prism.algebra.terms import terms_of
from prism.engine.intervals import precision
from prism.equivalence.interpretation.conditions.lines import REACH, Line
from prism.equivalence.interpretation.conditions.predicates import (
    ELEMENT,
    Comparison,
    Junction,
    Predicate,
    Whole,
    comparisons_of,
    names_of,
    read_predicate,
    walk_predicate,
)
from prism.equivalence.interpretation.conditions.scales import has_extreme_number
from prism.equivalence.interpretation.decision import Outcome
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.signature import Signature, signature_of
from prism.equivalence.interpretation.source import Source
from prism.equivalence.interpretation.values import PRECISION, Unvalued, real_number
from prism.equivalence.verdict import Status
from prism.physics.context import Context

_DRAWS = 3  # of the other letters, along each line, of which something is seen
_MOST_DRAWS = 7  # that are tried for it
_FAR_SIZES = (0.1, 10.0)  # of the other letters, in further draws where a number stands beside letters
_MOST_LINES = 5  # letters that take all values in turn
_SIDE = symbol("#side")
_STRICT = frozenset(("<", ">"))
_OF_ANGLES = frozenset(("sin", "cos", "tan", "asin", "acos", "atan"))
_WITH_ENDS = frozenset(("interval", "union", "intersection", "set", "tuple"))
_SAME = 1e-12  # relative difference of two numbers that are one
_APART = 1e-7  # relative distance below which two ends are one


def compare_memberships(a: Formula, b: Formula, context: Context, so_far: Status | None) -> Outcome:
    """Compare two formulas by the values of their letters for which they hold.

    Args:
        a, b: the reference and the claim.
        context: what the problem knows.
        so_far: the verdict; None on two regions, which nothing else compares. A difference refutes `equivalent`
            only if a formula shows that its letters take the signs for which it is one; agreement refutes another
            verdict only if it is one for either sign.
    """
    with precision(PRECISION):
        try:
            a, b = _with_one_side(*map(_with_interval, (a, b)))
            if (a.kind == "expression") != (b.kind == "expression"):
                return Outcome(None, "a set and a statement")
            signature = signature_of(a, b, context)
            pair = _with_ranks((read_predicate(a), read_predicate(b)), signature)
            are_regions = so_far is None
            _refuse_other_kinds(signature, *pair, are_regions=are_regions)
            if so_far == Status.EQUIVALENT and _angles(pair):
                raise Unvalued("an angle of which not all values are meant")
            subjects = _shown_signs(a, b, *pair) if so_far in (None, Status.EQUIVALENT) else _possible_signs(*pair)
            subjects |= {name: True for name in subjects if context.kinds.get(name) == "real"}
            have_ends = (_names_set(a) and _names_set(b)) or all(map(_counts, pair))
            return _compare(pair, signature, subjects, have_ends=have_ends, are_regions=are_regions)
        except Unvalued as reason:
            return Outcome(None, str(reason))
        except (ZeroDivisionError, ValueError, OverflowError, RecursionError) as error:
            return Outcome(None, type(error).__name__)


def _with_one_side(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    r"""Return two formulas with a letter for the left side of an equation that both have: `1/\lambda`."""
    sides = [
        {part.members[0] for part in (f, *f.parts) if part.kind == "equation" and part.members[0].op != "sym"}
        for f in (a, b)
    ]
    common = {side for side in sides[0] & sides[1] if symbols(side) and side.op not in ("tuple", "list")}
    if len(common) != 1:
        return a, b
    put = {common.pop(): _SIDE}

    def written(f: Formula) -> Formula:
        """Return a formula with the letter put in."""
        parts = tuple(written(part) for part in f.parts)
        return replace(f, members=tuple(substitute(member, put) for member in f.members), parts=parts)

    one, two = written(a), written(b)
    left = symbols(*put) & (symbols_of(one) | symbols_of(two))
    return (a, b) if left else (one, two)


def _with_interval(f: Formula) -> Formula:
    """Return `[a, b]` as an interval, which is read as a commutator where it stands alone; another formula as it is."""
    if f.kind != "expression" or f.members[0].op != "commutator":
        return f
    return with_members(f, (Expr("interval", f.members[0].args, "[]"),))


def _refuse_other_kinds(signature: Signature, one: Predicate, two: Predicate, *, are_regions: bool) -> None:
    """Raise Unvalued for letters that are no real numbers, conditions of other letters, or numbers out of the way."""
    unit = {signature.notation.unit} if signature.notation.is_complex else set()
    names = names_of(one) | names_of(two)
    if names_of(one) - unit != names_of(two) - unit and not are_regions:
        raise Unvalued("other letters")
    others = (signature.functions, signature.tensors, signature.operators, signature.matrices, signature.fields,
              signature.notation.vectors, names & signature.notation.complexes)  # fmt: skip
    if any(others):
        raise Unvalued("letters that are no real numbers")
    sides = [side for each in (*comparisons_of(one), *comparisons_of(two)) for side in (each.left, each.right)]
    if any(map(has_extreme_number, sides)):
        raise Unvalued("a number out of the ordinary")
    if any(node.op in ("pm", "tuple", "list", "set") for side in sides for node in walk(side)):
        raise Unvalued("several values in a condition")


def _with_ranks(pair: tuple[Predicate, Predicate], signature: Signature) -> tuple[Predicate, Predicate]:
    """Return two conditions with 1, 2, ... for the numbers that a letter is compared with, of which the order counts.

    So it is where nothing else is said of the letter: `400 < x < 700`, with whatever units.
    """
    parts = [part for each in pair for part in walk_predicate(each)]
    every = [part for part in parts if isinstance(part, Comparison)]
    counted = {part.name for part in parts if isinstance(part, Whole)}
    counted |= {part.letter for part in parts if isinstance(part, Junction)}
    put: dict[Expr, dict[Expr, Expr]] = {}
    evaluator = Evaluator(Draw(0, signature))
    for letter in map(symbol, sorted(frozenset().union(*map(names_of, pair)) - counted)):
        sides = [(each.left, each.right) for each in every if letter.name in symbols(each.left, each.right)]
        bounds = {side for each in sides for side in each} - {letter}
        if any(letter not in each for each in sides) or symbols(*bounds):
            continue
        with suppress(Unvalued, ArithmeticError, ValueError):
            put[letter] = _ranks({bound: real_number(evaluator.number(bound, Scope())) for bound in bounds})

    def ordered(predicate: Predicate) -> Predicate:
        """Return a condition with the ranks put in."""
        if isinstance(predicate, Junction):
            return replace(predicate, parts=tuple(map(ordered, predicate.parts)))
        if isinstance(predicate, Whole):
            return predicate
        ranks = put.get(predicate.left) or put.get(predicate.right) or {}
        sides = (ranks.get(side, side) for side in (predicate.left, predicate.right))
        return Comparison(predicate.sign, *sides)

    return ordered(pair[0]), ordered(pair[1])


def _ranks(values: Mapping[Expr, float]) -> dict[Expr, Expr]:
    """Return the places of numbers among those of their sign, counted from 0, which stays."""
    found = {node: number(0) for node, value in values.items() if not value}
    for sign in (1, -1):
        rank, before = 0, 0.0
        for size, node in sorted(((sign * value, node) for node, value in values.items()), key=lambda each: each[0]):
            if size > before * (1 + _SAME):
                rank, before = rank + 1, size
            if size > 0:
                found[node] = number(rank) if sign > 0 else Expr("neg", (number(rank),))
    return found


def _names_set(f: Formula) -> bool:
    """Return True for a formula that says of something that it belongs to a set with ends, or that is a set."""
    is_member = f.relations == ("in",) and f.members[1].op in _WITH_ENDS
    return f.kind == "expression" or is_member or any(map(_names_set, f.parts))


def _counts(predicate: Predicate) -> bool:
    """Return True for a condition with a letter that runs through whole numbers."""
    return any(isinstance(part, Whole) for part in walk_predicate(predicate))


def _compare(
    pair: tuple[Predicate, Predicate],
    signature: Signature,
    subjects: Mapping[str, bool],
    *,
    have_ends: bool,
    are_regions: bool,
) -> Outcome:
    """Compare two conditions along the lines of their letters.

    Raises Unvalued if they have no letter.

    Args:
        subjects: the letters that take all values in turn, each with whether it takes negative ones.
        have_ends: the ends of regions count whatever their signs are.
        are_regions: an angle of the first quadrant is meant where a sine of a letter is taken (semantics Z.4).
    """
    if not subjects or len(subjects) > _MOST_LINES:
        raise Unvalued("conditions of what?")
    signs = [{each.sign for each in comparisons_of(predicate) if each.sign not in ("=", "!=")} for predicate in pair]
    kinds = [{sign in _STRICT for sign in every} for every in signs]
    are_ends_alike = not have_ends and {frozenset(kind) for kind in kinds} == {
        frozenset((True,)), frozenset((False,))}  # fmt: skip
    signed = frozenset(name for name, is_signed in subjects.items() if is_signed and name != ELEMENT)
    angles = _angles(pair) - signature.declared.keys() if are_regions else frozenset()
    declared = {**signature.declared, **dict.fromkeys(sorted(angles), "angle")}
    signature = replace(signature, signed=signature.signed | signed, declared=declared)
    bounded = frozenset.intersection(*(_compared_with_zero(predicate) for predicate in pair))
    informed = dict.fromkeys(subjects, 0)
    others = sorted(names_of(pair[0]) | names_of(pair[1]))
    for name, is_signed in subjects.items():
        least = -math.inf if is_signed else 0.0 if name in bounded else _APART
        ends = (least, math.pi / 2 - _APART) if name in angles else (least, math.inf)
        cuts = [end for end in ends if math.isfinite(end) and (are_regions or not end)]
        for count in range(_MOST_DRAWS):
            seen: set[bool] = set()
            line = Line(Draw(count, signature, sizes=_sizes(count, others)), name)
            for truths in _truths(line, pair, ends, cuts, has_ends=not are_ends_alike):
                if truths[0] != truths[1]:
                    return Outcome(False)
                seen.add(truths[0])
            informed[name] += len(seen) > 1
            if informed[name] == _DRAWS:
                break
        for size in _FAR_SIZES if _has_number_beside_letters(pair) else ():
            line = Line(Draw(0, signature, sizes=dict.fromkeys(others, size)), name)
            if any(one != two for one, two in _truths(line, pair, ends, cuts, has_ends=not are_ends_alike)):
                return Outcome(False)
    return Outcome(True) if max(informed.values()) == _DRAWS else Outcome(None, "nothing to tell")


def _angles(pair: tuple[Predicate, Predicate]) -> frozenset[str]:
    """Return the letters of sines and the like."""
    sides = (side for predicate in pair for each in comparisons_of(predicate) for side in (each.left, each.right))
    return symbols(*(node for side in sides for node in walk(side) if node.op in _OF_ANGLES))


def _has_number_beside_letters(pair: tuple[Predicate, Predicate]) -> bool:
    """Return True if letters are compared with a number, or added to one, so that their size matters."""
    sides = {side for predicate in pair for each in comparisons_of(predicate) for side in (each.left, each.right)}
    terms = [term for side in sides for term in terms_of(side)]
    return len(set().union(*map(names_of, pair))) > 1 and any(term.value for term in terms)


def _compared_with_zero(predicate: Predicate) -> frozenset[str]:
    """Return the letters that a condition compares with 0 by an ordering: `K` of `[0, 60)`, and of `K > 0` too."""
    pairs = [(each.left, each.right) for each in comparisons_of(predicate) if each.sign not in ("=", "!=")]
    return frozenset(
        side.name for pair in pairs for side, other in (pair, pair[::-1]) if side.op == "sym" and other.value == 0
    )


def _sizes(number: int, names: list[str]) -> dict[str, float]:
    """Return factors by which letters are larger or smaller in a draw; none in the first two."""
    source = Source(f"{number}/sizes")
    return {name: 3.0 ** source.sign() for name in names} if number > 1 else {}


def _truths(
    line: Line, pair: tuple[Predicate, Predicate], ends: tuple[float, float], cuts: list[float], *, has_ends: bool
) -> Iterator[tuple[bool, bool]]:
    """Yield whether each of two conditions holds, at all points of a line where it may matter.

    Args:
        ends: the smallest and the largest value that the letter takes; `cuts`: those up to which it is tested.
        has_ends: the ends of regions count, not only what is between them.
    """
    found = [x for predicate in pair for x in line.prepare(predicate, is_signed=ends[0] < 0)]
    places = _distinct(sorted([*found, *cuts]))
    limits = [max(map(abs, found)) for found in line.members.values() if found]
    is_family = bool(limits)
    if is_family:
        limit = min(limits)
        places = [x for x in places if abs(x) <= max(REACH, limit / 4) and abs(x) <= 0.9 * limit]
    beyond = [] if is_family else [places[0] - 1.3, places[-1] + 1.3] if places else [0.8]
    between = [(x + y) / 2 for x, y in pairwise(places)]
    for x in sorted({*(places if has_ends else ()), *between, *beyond}):
        if ends[0] <= x <= ends[1]:
            yield line.holds(pair[0], x), line.holds(pair[1], x)


def _distinct(places: list[float]) -> list[float]:
    """Return numbers in order without those that are the same as the one before."""
    found: list[float] = []
    for x in places:
        if not found or abs(x - found[-1]) > _APART * (1 + abs(x)):
            found.append(x)
    return found


# Which letters take all values. ---------------------------------------------------------------------------------


def _shown_signs(a: Formula, b: Formula, one: Predicate, two: Predicate) -> dict[str, bool]:
    """Return the letters that take all values in turn, each with whether a formula shows that it may be negative.

    So it does in a modulus, beside a negative number, and where one part of a system is that it is positive. Then the
    letters that are multiplied by nothing but letters may be negative too. Raises Unvalued for an angle of which not
    all values are meant.
    """
    if lone := _lone_subjects(one, two):
        return lone
    every = [*comparisons_of(one), *comparisons_of(two)]
    below = _in_denominators(every)
    signed: set[str] = set()
    for each in every:
        for side, other in ((each.left, each.right), (each.right, each.left)):
            if side.op == "sym" and other.op == "neg":
                signed.add(side.name)
            signed |= symbols(*(node for node in walk(side) if node.op == "abs")) - below
    required = _required_to_be_positive(a, b)
    composed = symbols(*(side for each in every for side in (each.left, each.right) if side.op != "sym"))
    if not required.isdisjoint(composed):
        signed |= required | {name for name in names_of(one) if _is_linear(name, every)}
    return {name: name in signed for name in sorted(names_of(one) | names_of(two))}


def _required_to_be_positive(a: Formula, b: Formula) -> frozenset[str]:
    """Return the letters of which a part of a system says that they are positive, and nothing else."""
    bounds = [part for f in (a, b) for part in f.parts if part.kind == "inequality" and part.members[1].value == 0]
    return frozenset(
        part.members[0].name for part in bounds if part.relations[0] in (">", ">=") and part.members[0].op == "sym"
    )


def _possible_signs(one: Predicate, two: Predicate) -> dict[str, bool]:
    """Return the letters that take all values in turn, each with whether it may be negative at all."""
    if lone := _lone_subjects(one, two):
        return lone
    positive = _in_denominators([*comparisons_of(one), *comparisons_of(two)])
    return {name: name not in positive for name in sorted(names_of(one))}


def _lone_subjects(one: Predicate, two: Predicate) -> dict[str, bool]:
    """Return the letter of a set, of a whole number, or that one of the formulas gives several values."""
    common = names_of(one) & names_of(two)
    if ELEMENT in common:
        return {ELEMENT: True}
    found: set[str] = set()
    for part in (part for predicate in (one, two) for part in walk_predicate(predicate)):
        if isinstance(part, Whole):
            found.add(part.name)
        elif isinstance(part, Junction) and part.kind == "any":
            every = [each for each in comparisons_of(part) if each.sign == "="]
            names = [each.left.name for each in every if each.left.op == "sym"]
            found |= set(names) if len(set(names)) == 1 else set()
        elif isinstance(part, Junction) and part.kind == "family":
            found |= {each.left.name for each in comparisons_of(part) if each.sign == "=" and each.left.op == "sym"}
    return dict.fromkeys(sorted(found & common), True)


def _in_denominators(comparisons: list[Comparison]) -> frozenset[str]:
    """Return the letters in denominators, below roots and in logarithms."""
    nodes = [node for each in comparisons for side in (each.left, each.right) for node in walk(side)]
    below = [node.args[1] for node in nodes if node.op == "div"]
    return symbols(*below, *(node for node in nodes if node.op in ("sqrt", "root", "ln", "log10")))


def _is_linear(name: str, comparisons: list[Comparison]) -> bool:
    """Return True if a letter stands in no power, quotient or function."""
    nodes = [node for each in comparisons for side in (each.left, each.right) for node in walk(side)]
    return all(name not in symbols(node) for node in nodes if node.op not in ("add", "sub", "neg", "mul", "sym", "num"))
