"""Do two formulas say the same under random interpretations? What solves one has to solve the other, in each draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from math import pi

from flint import acb

from prism.algebra.columns import has_vectors
from prism.algebra.expr import Expr, Formula, is_infinite, symbol, symbols, walk
from prism.algebra.noncommutative import with_operators_at_times
from prism.budget import remembered
from prism.engine.intervals import precision
from prism.equivalence.interpretation.conditions.predicates import Comparison, read_case
from prism.equivalence.interpretation.conditions.scales import TooManySizes, sizes_of
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.held import may_be_compared, relate_same_derivatives
from prism.equivalence.interpretation.integrals.distributions import is_distribution
from prism.equivalence.interpretation.integrals.kinks import DELTAS
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.names import CHOICES, free_letters, index_range
from prism.equivalence.interpretation.reading import may_be_any_input, read_together, with_unknown_steps
from prism.equivalence.interpretation.series.orders import has_order, same_to_order
from prism.equivalence.interpretation.series.shorthand import written_out
from prism.equivalence.interpretation.signature import Signature, signatures_of
from prism.equivalence.interpretation.solving import (
    STARTS,
    is_drawn_freely,
    kept,
    nearby,
    residual_of,
    root_of,
    unknowns,
    value_and_size,
    with_value,
)
from prism.equivalence.interpretation.tensors.shapes import with_shapes
from prism.equivalence.interpretation.tensors.solved_equations import solves_for_column, solves_for_components
from prism.equivalence.interpretation.values import (
    PRECISION,
    Diverges,
    Misfit,
    NoCase,
    Scalar,
    Table,
    Unvalued,
    Value,
    add,
    compare_to_zero,
    error_of,
    is_beyond_reals,
    multiply,
    plain,
    scalar,
    size_of,
)
from prism.physics.context import Context

DRAWS = 4  # interpretations that have to agree
NUMBER_DRAWS = 2  # of formulas whose letters are all numbers
CHOICE_DRAWS = 12  # of formulas with cases, so that each case is met
_LINE_DRAWS = 6  # of formulas whose cases are all met along a line that is integrated over
MOST_WHOLE = 3000  # largest whole number that is drawn for the sake of a written one
_MOST_COMPONENTS, _EVERY = 30, 3  # of a tensor that are all compared; of more, every third, those of equal indices too
_MOST_ROOTS = 4  # solutions of one equation that are tested in the other one
_ON_EITHER_SIDE = (0.63, 1.57)  # of a written number, as a share of it
SMALL = 0.3  # size of all letters where a series converges
_ONLY_ERROR = 1e-20  # size of an integral that is 0 but for its error
_NOTHING = 1e-40  # size of what vanishes
_VANISHING = 1e-9  # size, with its error, of what may vanish
_TELLING = 2  # of the interpretations that have to agree, those in which the formulas do not vanish
_WIDER = (0.1, 10.0)  # sizes of all letters at which two formulas must not differ
_REAL_ABOVE_ZERO = frozenset(("ln", "sqrt"))  # operations that have a real value of positive numbers alone
_SAME_ROOT = 1e-9  # relative distance of two roots that are one


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the interpretations say of two formulas.

    Attributes:
        same: True if each solves the other in every draw, False if one does not, None if that is open.
        why: what has no value, if it is open.
        is_misfit: one of them has products or sums of tables that do not fit, and the other one has not.
    """

    same: bool | None
    why: str = ""
    is_misfit: bool = False


@remembered(4096)
def compare_by_interpretation(a: Formula, b: Formula, context: Context) -> Outcome:
    """Compare two equations, or two expressions, under random interpretations."""
    with precision(PRECISION):
        try:
            a, b = written_out(*with_operators_at_times(a, b), context)
            a, b = read_together(a, b)
            is_about_same = may_be_compared(a, b)
        except Unvalued as reason:
            return Outcome(None, str(reason))
        if not is_about_same:
            return Outcome(None, "derivatives of other quantities")
        outcome = _compare_as_read(a, b, context)
        if outcome.same is False or (smooth := with_unknown_steps((a, b))) is None:
            return outcome
        if outcome.same and not may_be_any_input((a, b)):
            return outcome
        as_any_function = _compare_as_read(*smooth, context)
        if as_any_function.same or not outcome.same:
            return as_any_function if as_any_function.same else outcome
        return Outcome(None, "a letter may be a step or any function")


def _compare_as_read(a: Formula, b: Formula, context: Context) -> Outcome:
    """Compare two formulas that are read, in all the ways that their letters leave open."""
    outcomes = [_compare(a, b, signature) for signature in signatures_of(a, b, context, systems=_systems(a, b))]
    settled = {outcome.same for outcome in outcomes}
    return outcomes[0] if len(settled) == 1 else Outcome(None, "what varies, or the coordinates, are not named")


def _systems(a: Formula, b: Formula) -> tuple[str, ...]:
    """Return the systems of coordinates that two formulas may mean."""
    names = frozenset().union(*(symbols(*f.members) for f in (a, b)))
    nodes = [node for f in (a, b) for member in f.members for node in walk(member)]
    if not any(node.op == "nabla" for node in nodes):
        return ("cartesian",)
    names |= {variable for f in (a, b) for _, variable in f.depends}
    if r"\theta" in names and "r" in names:
        return ("spherical",)
    derived = [symbols(node.args[0]) for node in nodes if node.op in ("derivative", "partial")]
    if any(r"\rho" in inside for inside in derived):
        return ("cartesian",)  # a field: nobody differentiates a coordinate beside a nabla
    operands = [symbols(node.args[0]) for node in nodes if node.op == "nabla"]
    if any(r"\rho" in inside or r"\hat{\rho}" in inside for inside in operands):
        is_named = not names.isdisjoint((r"\phi", r"\hat{\phi}", r"\hat{\rho}", r"\hat{z}"))
        return ("cylindrical",) if is_named else ("cartesian", "cylindrical")
    if r"\rho" in names and any(
        node.op in ("derivative", "partial") and symbol(r"\rho") in node.args[1:] for node in nodes
    ):
        return ("cylindrical",)
    return ("cartesian",)


def _compare(a: Formula, b: Formula, signature: Signature) -> Outcome:
    """Compare two formulas in one system of coordinates."""
    if has_order(a) or has_order(b):
        return _compare_orders(a, b, signature)
    try:
        signature = with_shapes(signature, a, b)
    except Unvalued as reason:
        return Outcome(None, str(reason))
    agreed, vanished, why, has_converged = 0, 0, "no value", False
    known: dict[int, Draw] = {}
    met: set[tuple[Expr, int]] = set()
    wanted = _draws_wanted(a, b)
    is_of_numbers = not (signature.functions or signature.tensors or signature.fields or signature.matrices)
    has_bounds = bool(signature.whole - _bound_letters(a, b)) or _has_array(a) or _has_array(b)
    is_of_numbers = is_of_numbers and not (signature.operators or has_bounds)
    is_of_numbers = is_of_numbers and signature.space is None
    wanted = NUMBER_DRAWS if is_of_numbers and wanted == DRAWS else wanted
    least = 0 if signature.space is None else signature.space.draws
    for number in range(2 * max(wanted, least)):
        try:
            draw, same = _drawn_and_compared(number, signature, a, b)
            if not draw.sizes:
                known[number] = draw
        except Unvalued as reason:
            why = str(reason)
            if _only_one_has_limit(Draw(number, signature), a, b):
                return Outcome(None, why)
            if isinstance(reason, Misfit) and _is_misfit(a, signature) != _is_misfit(b, signature):
                return Outcome(None, why, is_misfit=True)
            if number >= max(2, least) and not agreed:
                break
            continue
        except (ZeroDivisionError, ValueError, OverflowError, RecursionError) as error:
            return Outcome(None, type(error).__name__)
        if same is False:
            if not (is_of_numbers and _leaves_reals(draw, a, b)):
                return Outcome(False)
            why = "beyond the real numbers"
            continue
        met |= draw.met
        if same:
            agreed += 1
            has_converged |= not draw.diverging
        elif draw.vanished:
            vanished += 1
        else:
            why = "too inaccurate"
            continue
        is_enough = agreed >= min(_TELLING, wanted) and agreed + vanished >= wanted and number + 1 >= least
        if is_enough and has_converged and not _misses_a_case(met):
            return _at_other_sizes(a, b, signature, known)
    return Outcome(None, "a case that no draw falls into" if _misses_a_case(met) else why)


def _leaves_reals(draw: Draw, a: Formula, b: Formula) -> bool:
    """Return True if a logarithm or root of real letters has no real value in an interpretation (semantics Z.3)."""
    if draw.signature.notation.is_complex or not draw.signature.notation.complexes.isdisjoint(symbols(*a.members)):
        return False
    evaluator = Evaluator(draw)
    nodes = (node for f in (a, b) for member in f.members for node in walk(member) if node.op in _REAL_ABOVE_ZERO)
    return any(_is_complex(evaluator, node) for node in nodes)


def _is_complex(evaluator: Evaluator, node: Expr) -> bool:
    """Return True if an expression has a value that is no real number."""
    try:
        return is_beyond_reals(evaluator.value(node, Scope()))
    except (Unvalued, ArithmeticError, ValueError):
        return False


def _misses_a_case(met: set[tuple[Expr, int]]) -> bool:
    """Return True if a step, an extreme or cases have a case of more than single points that was not met."""
    return any((node, place) not in met for node in {node for node, _ in met} for place in _places(node))


def _places(node: Expr) -> Iterator[int]:
    """Yield the places of the cases of a node that hold at more than single points."""
    if node.op == "apply":
        yield from (0, 1)
    else:
        for place, row in enumerate(node.args):
            if not (isinstance(case := read_case(row.args[1]), Comparison) and case.sign == "="):
                yield place


def _is_misfit(f: Formula, signature: Signature) -> bool:
    """Return True if a formula has a product or a sum of tables that do not fit."""
    evaluator = Evaluator(Draw(0, signature))
    try:
        values = [evaluator.value(member, Scope()) for member in f.members]
        if len(values) > 1:
            add(values[0], values[1], -1)
    except Misfit:
        return True
    except (Unvalued, ZeroDivisionError, ValueError, OverflowError, RecursionError):
        return False
    return False


def _drawn_and_compared(number: int, signature: Signature, a: Formula, b: Formula) -> tuple[Draw, bool | None]:
    """Return an interpretation, and if two formulas say the same in it; None where that stays open.

    Where a series may need small letters, all letters are drawn small once more if the usual ones give no value,
    diverge or leave it open: so a modulus is below 1. Raises Unvalued if these give no value either.
    """
    draw = Draw(number, signature)
    may_be_smaller = converges_near_zero(a) or converges_near_zero(b)
    try:
        same = same_in(draw, a, b)
    except Unvalued:
        if not may_be_smaller:
            raise
    else:
        if same or not may_be_smaller or (same is False and not draw.diverging) or draw.vanished:
            return draw, same
    draw = Draw(number, signature, sizes=dict.fromkeys(symbols(*a.members, *b.members), SMALL))
    return draw, same_in(draw, a, b)


def _only_one_has_limit(draw: Draw, a: Formula, b: Formula) -> bool:
    """Return True if two formulas have limits, and in an interpretation those of one of them exist only."""
    found = [[node for member in f.members for node in walk(member) if node.op == "limit"] for f in (a, b)]
    if not all(found):
        return False
    exist = [True, True]
    for k, limits in enumerate(found):
        try:
            for limit in limits:
                Evaluator(draw).value(limit, Scope())
        except Unvalued:
            exist[k] = False
    return exist[0] != exist[1]


def converges_near_zero(f: Formula) -> bool:
    """Return True if a formula has an infinite sum or an elliptic integral."""
    return any(
        (node.op in ("sum", "product") and len(node.args) == 4 and node.args[3].op == "infinity")
        or (node.op == "apply" and node.name in ("K", "E") and len(node.args) == 1)
        for member in f.members for node in walk(member)
    )  # fmt: skip


def _compare_orders(a: Formula, b: Formula, signature: Signature) -> Outcome:
    """Compare two formulas of which one is known up to an order."""
    try:
        return Outcome(same_to_order(a, b, signature), "another order")
    except (Unvalued, ArithmeticError, ValueError) as reason:
        return Outcome(None, str(reason))


def _at_other_sizes(a: Formula, b: Formula, signature: Signature, known: Mapping[int, Draw]) -> Outcome:
    """Return if two formulas that agree at ordinary sizes of their letters agree at those that their numbers need.

    Args:
        known: the draws at ordinary sizes; integrals without the letter have their values at others too.
    """
    try:
        sizes = sizes_of(a, b)
    except TooManySizes:
        return Outcome(None, "too many numbers out of the ordinary")
    letters = symbols(*a.members, *b.members)
    names = sorted(letters) if sizes else []
    is_wider = 0 not in known or known[0].has_size_of(letters)
    for size in _WIDER:
        wider = Draw(0, signature, sizes=dict.fromkeys(letters, size))
        with suppress(Unvalued, ArithmeticError, ValueError):
            if _only_one_has_limit(wider, a, b) or (is_wider and same_in(wider, a, b) is False):
                return Outcome(None, "at another size")
    n_vanished = 0
    for name, size, number in product(names, sizes, range(2)):
        if name in signature.whole and not (1 < size < MOST_WHOLE):
            continue
        n_vanished = n_vanished if number else 0
        fixed: dict[str, Value] = {}
        if name in signature.whole:
            fixed = {name: acb(round(size * (1.2 + number)) + number)}
        elif signature.is_number(name):
            fixed = {name: acb(size * _ON_EITHER_SIDE[number])}
        try:
            draw = Draw(number, signature, fixed=fixed, sizes={name: size})
            if number in known:
                draw.integrals.update(_without(known[number].integrals, name, signature))
            same = same_in(draw, a, b)
        except (Unvalued, ZeroDivisionError, ValueError, OverflowError) as error:
            return Outcome(None, f"at another size: {error}")
        n_vanished += same is None and bool(draw.vanished)
        if not same and not (draw.vanished and n_vanished == 1):
            return Outcome(same, "at another size")
    return Outcome(True)


def _without(known: Mapping[tuple[Expr, ...], Value], name: str, signature: Signature) -> dict[tuple[Expr, ...], Value]:
    """Return the integrals that do not depend on a letter."""
    variables = {letter for letter, own in signature.functions.items() if name in own}
    return {key: value for key, value in known.items() if symbols(*key).isdisjoint(variables | {name})}


def _bound_letters(*formulas: Formula) -> frozenset[str]:
    """Return the indices of the sums and products in some formulas."""
    return frozenset(
        node.args[1].name for f in formulas for member in f.members for node in walk(member)
        if node.op in ("sum", "product") and len(node.args) > 1
    )  # fmt: skip


def _has_array(f: Formula) -> bool:
    """Return True if a formula has a sum without limits, or one of letters with its index."""
    return any(
        node.op in ("sum", "product") and (len(node.args) != 4 or any("_" in name for name in symbols(node.args[0])))
        for member in f.members for node in walk(member)
    )  # fmt: skip


def _draws_wanted(a: Formula, b: Formula) -> int:
    """Return in how many interpretations two formulas have to agree: in more if they have cases."""
    met: frozenset[str] = frozenset()
    found = {kind for f in (a, b) for member in f.members for kind in _choices(member, met)}
    return CHOICE_DRAWS if False in found else _LINE_DRAWS if found else DRAWS


def _choices(node: Expr, met: frozenset[str]) -> Iterator[bool]:
    """Yield for cases, steps, absolute values, extremes and delta functions if all their cases are met along a line.

    Args:
        met: variables that run through all of a line.
    """
    is_modulus = node.op == "abs" and not has_vectors(node)
    if node.op in ("cases", "floor") or is_modulus or (node.op == "apply" and node.name in CHOICES | {*DELTAS}):
        yield not met.isdisjoint(symbols(node))
    for arg in node.args:
        is_line = node.op == "integral" and len(node.args) == 4 and all(map(is_infinite, node.args[2:]))
        yield from _choices(arg, met | symbols(node.args[1]) if is_line else met)


def same_in(draw: Draw, a: Formula, b: Formula) -> bool | None:
    """Return True if two formulas say the same in one interpretation; None if its values are too inaccurate."""
    letters = _common_letters(a, b, draw.signature)
    if variables := antiderivatives(a) | antiderivatives(b):
        return _differ_by_constant(draw, a, b, variables)
    if len(a.members) == 1:
        return _joint(iter(_without_vanished(draw, [
            _are_equal(Evaluator(draw), a.members[0], b.members[0], scope) for scope in _scopes(letters)
        ])))  # fmt: skip
    if not letters and (sides := _sides_of_one_letter(draw, a, b)) is not None:
        return _are_equal(Evaluator(draw), *sides, Scope())
    if not letters and len(set(a.members)) == 2 and _have_same_side(draw, a, b):
        return True
    first = _residuals(draw, a, letters)
    one = _joint(compare_to_zero(*each) for each in first)
    try:
        second = _residuals(draw, b, letters)
        two = _joint(compare_to_zero(*each) for each in second)
    except Diverges:
        return False  # where that of the reference converges
    if one or two:
        if not (one and two):
            return False if one is not None and two is not None else None
        return True if relate_same_derivatives(a, b) else _same_sides(draw, a, b, letters)
    if not letters and _is_one_residual(*first, *second):
        return True
    return _joint(_solves(draw, *pair, letters) for pair in ((a, b), (b, a)))


def _without_vanished(draw: Draw, found: list[bool | None]) -> list[bool | None]:
    """Return what was found of components without those that are 0 in both, unless no others agree."""
    if True not in found or found.count(None) != len(draw.vanished):
        return found
    draw.vanished.clear()
    return [each for each in found if each is not None]


def _sides_of_one_letter(draw: Draw, a: Formula, b: Formula) -> tuple[Expr, Expr] | None:
    """Return the other sides of two equations that are solved for one letter, `y = A` and `y = B`; else None."""
    for k, lone in enumerate(a.members):
        if lone.op == "sym" and lone in b.members and is_drawn_freely(lone.name, draw.signature):
            sides = a.members[1 - k], b.members[1 - b.members.index(lone)]
            if lone.name not in symbols(*sides):
                return sides
    return None


def _have_same_side(draw: Draw, a: Formula, b: Formula) -> bool:
    """Return True if two equations have one side in common, which is no number, and other sides of the same value."""
    for k, side in enumerate(a.members):
        if side in b.members and symbols(side):
            others = a.members[1 - k], b.members[1 - b.members.index(side)]
            return _are_equal(Evaluator(draw), *others, Scope()) is True
    return False


def antiderivatives(f: Formula) -> frozenset[str]:
    """Return the variables of integrals without limits."""
    nodes = (node for member in f.members for node in walk(member))
    return frozenset(
        node.args[1].name for node in nodes
        if node.op == "integral" and len(node.args) == 2 and node.name in ("", "1") and node.args[1].op == "sym"
        and node.args[1].name != r"\Omega"
    )  # fmt: skip


def _differ_by_constant(draw: Draw, a: Formula, b: Formula, variables: frozenset[str]) -> bool | None:
    """Return True if two expressions, or other sides of one letter, differ by the same at two values of a variable.

    None where the computing error hides it; raises Unvalued where the integrals have several variables.
    """
    if len(variables) != 1 or len(a.members) != len(b.members):
        raise Unvalued("several integrals without limits")
    (variable,) = variables
    sides = []
    for f in (a, b):
        if len(f.members) == 1:
            sides.append(f.members[0])
            continue
        lone = [k for k in (0, 1) if f.members[k].op == "sym" and f.members[k] == a.members[0]]
        if not lone:
            raise Unvalued("an integral without limits in an equation")
        sides.append(f.members[1 - lone[0]])
    differences, scale = [], 0.0
    for place in (acb(0.8), acb(1.7)):
        values = [Evaluator(draw).value(side, Scope().with_value(variable, place)) for side in sides]
        differences.append(add(values[0], values[1], -1))
        scale += sum(map(size_of, values))
    return compare_to_zero(add(differences[0], differences[1], -1), scale)


def _joint(found: Iterator[bool | None]) -> bool | None:
    """Return False if one is False, else None if one is None, else True."""
    answer: bool | None = True
    for each in found:
        if each is False:
            return False
        answer = None if each is None else answer
    return answer


def _common_letters(a: Formula, b: Formula, signature: Signature) -> tuple[str, ...]:
    """Return the free indices of two formulas; Unvalued if they differ."""
    if not signature.tensors:
        return ()
    found = [
        frozenset().union(*(free_letters(member, signature.tensors).keys() for member in f.members)) for f in (a, b)
    ]
    if found[0] != found[1]:
        raise Unvalued("other indices")
    return tuple(sorted(found[0]))


def _scopes(letters: tuple[str, ...]) -> Iterator[Scope]:
    """Yield a scope for all values of the free indices; of many, for every third."""
    every = list(product(*(index_range(letter) for letter in letters)))
    for values in every[:: _EVERY if len(every) > _MOST_COMPONENTS else 1]:
        scope = Scope()
        for letter, value in zip(letters, values, strict=True):
            scope = scope.with_index(letter, value)
        yield scope


def _are_equal(evaluator: Evaluator, a: Expr, b: Expr, scope: Scope) -> bool | None:
    """Return True if two expressions have the same value.

    None where both vanish whatever the letters are, or the computing error hides a difference.
    """
    if is_distribution(a) or is_distribution(b):
        raise Unvalued("a delta function without an integral")
    one, size = value_and_size(evaluator, a, scope) if b.value == 0 else (evaluator.value(a, scope), 0.0)
    try:
        two, other = value_and_size(evaluator, b, scope) if a.value == 0 else (evaluator.value(b, scope), 0.0)
    except (NoCase, Diverges):
        return False  # the reference has a value here
    one, two = kept(evaluator.draw, one), kept(evaluator.draw, two)
    if isinstance(one, Table) and isinstance(two, Table) and len(one.entries) != len(two.entries):
        return False
    sizes = size_of(one), size_of(two)
    if evaluator.signature.whole and min(sizes) == 0 and max(sizes) < _ONLY_ERROR:
        return True  # a Kronecker symbol beside another one, or an integral that vanishes but for its error
    is_nothing = not scope.indices and max(sizes) < _NOTHING
    if a != b and symbols(a) and symbols(b) and is_nothing:
        evaluator.draw.vanished.append(str(a))
        return None  # both vanish whatever the letters are, which says nothing
    same = compare_to_zero(add(one, two, -1), max(sum(sizes), size, other))
    if same is None and max(size_of(one) + error_of(one), size_of(two) + error_of(two)) < _VANISHING:
        evaluator.draw.vanished.append(str(a))
    return same


def _same_sides(draw: Draw, a: Formula, b: Formula, letters: tuple[str, ...]) -> bool | None:
    """Return True if two identities have sides of the same values, up to a sign; else None, never False."""
    answer: bool | None = True
    for scope in _scopes(letters):
        evaluator = Evaluator(draw)
        one, two = (kept(draw, evaluator.value(f.members[0], scope)) for f in (a, b))
        other = kept(draw, evaluator.value(b.members[1], scope))
        scale = size_of(one) + size_of(two)
        equal = [
            compare_to_zero(add(one, multiply(acb(sign), each)), scale) for sign in (1, -1) for each in (two, other)
        ]
        if True not in equal:
            answer = None if None in equal else False
            break
    return answer if answer is not False else None


# Solving one equation, and testing the other. -----------------------------------------------------------------------


def _solves(draw: Draw, a: Formula, b: Formula, letters: tuple[str, ...]) -> bool | None:
    """Return True if what solves `a` solves `b` in an interpretation; Unvalued if `a` has no solution here.

    None where the computing error hides it.
    """
    if letters:
        return _solves_for_tensor(draw, a, b, letters)
    if (found := solves_for_column(draw, a, b, residual_of)) is not None:
        return found
    answer: bool | None = None
    for n, solved in enumerate(solutions(draw, a, b)):
        residual, scale = residual_of(solved, b, Scope())
        apart = size_of(residual_of(nearby(solved, draw), b, Scope())[0])
        answer = compare_to_zero(residual, max(scale, apart))
        if answer is not True or n + 1 == _MOST_ROOTS:
            return answer
    return _are_multiples(draw, a, b) if answer is None else answer


def solutions(draw: Draw, a: Formula, b: Formula) -> Iterator[Draw]:
    """Yield interpretations that satisfy an equation, by one of its letters or of its functions."""
    for member, other in (a.members, a.members[::-1]):
        is_lone = member.op == "sym" and member.name not in symbols(other)
        is_lone = is_lone and not draw.signature.functions.get(member.name)
        if is_lone and is_drawn_freely(member.name, draw.signature):
            yield with_value(draw, member.name, Evaluator(draw).value(other, Scope()))
    inside = symbols(*(node for f in (a, b) for member in f.members for node in walk(member) if node.op == "integral"))
    letters = sorted(unknowns(draw.signature, a, b), key=lambda each: each[0] in inside)
    n_found = 0
    for name, is_shift in letters:
        if n_found and name in inside:
            break  # each step of a search would cost an integral
        roots: list[Draw] = []
        for start in STARTS:
            found, is_only = root_of(draw, a, name, start, is_shift=is_shift)
            found = None if found is not None and _leaves_principal_range(found, name, a, b) else found
            if found is not None and not any(_is_same_root(found, other, name) for other in roots):
                roots.append(found)
                n_found += 1
                yield found
            if is_only or (found is not None and is_shift):
                break
        inverse = None if n_found or is_shift else root_of(draw, a, name, STARTS[0], is_inverse=True)[0]
        if inverse is not None:
            n_found += 1
            yield inverse


def _leaves_principal_range(draw: Draw, name: str, a: Formula, b: Formula) -> bool:
    """Return True if an equation gives a letter by an inverse function, and its value is none of that function."""
    sides = [each for f in (a, b) if f.kind == "equation" for each in (f.members, f.members[::-1])]
    inverses = {right.op for left, right in sides if left.op == "sym" and left.name == name} & _PRINCIPAL.keys()
    value = draw.fixed.get(name)
    if not inverses or value is None:
        return False
    at = float(plain(scalar(value)).real)
    return not all(low <= at <= high for low, high in map(_PRINCIPAL.__getitem__, inverses))


_PRINCIPAL = {"acos": (0.0, pi), "asin": (-pi / 2, pi / 2), "atan": (-pi / 2, pi / 2)}  # values of inverse functions


def _is_same_root(one: Draw, two: Draw, name: str) -> bool:
    """Return True if two interpretations have one value of a letter."""
    x, y = one.fixed.get(name), two.fixed.get(name)
    return x is not None and y is not None and size_of(add(x, y, -1)) < _SAME_ROOT * size_of(x)


def _residuals(draw: Draw, f: Formula, letters: tuple[str, ...]) -> Iterable[tuple[Value, float]]:
    """Return left minus right side and size of the terms: one, or with free indices, as they are asked for, of each."""
    found = (residual_of(draw, f, scope) for scope in _scopes(letters))
    return found if letters else list(found)


def _is_one_residual(one: tuple[Value, float], two: tuple[Value, float]) -> bool:
    """Return True if left minus right side of two equations is the same up to a sign: their terms were only moved."""
    (first, size), (second, other) = one, two
    shapes = [(each.rows, each.columns) if isinstance(each, Table) else None for each in (first, second)]
    if shapes[0] != shapes[1]:
        return False
    return any(compare_to_zero(add(first, second, sign), size + other) is True for sign in (1, -1))


def _are_multiples(draw: Draw, a: Formula, b: Formula) -> bool | None:
    """Return True if the residuals of two equations between tables are multiples of each other.

    Raise Unvalued for numbers: any two are. None where the computing error hides it.
    """
    (one, _), (two, _) = (residual_of(draw, f, Scope()) for f in (a, b))
    if not isinstance(one, Table) or not isinstance(two, Table) or len(one.entries) != len(two.entries):
        raise Unvalued("no letter to solve for")
    if one.rows == one.columns > 1 and all(map(_is_multiple_of_unit, (one, two))):
        raise Unvalued("an equation between numbers")
    signature = draw.signature
    if signature.space is not None and signature.operators <= frozenset(signature.space.names):
        raise Unvalued("an equation between operators that are known")
    return _have_one_ratio(list(one.entries), list(two.entries))


def _solves_for_tensor(draw: Draw, a: Formula, b: Formula, letters: tuple[str, ...]) -> bool | None:
    """Return True if two tensor equations are multiples of each other, or one is the other solved for a tensor.

    None where the computing error hides it; raises Unvalued where both have too few components, and none can be
    solved for.
    """
    agree: bool | None = None
    too_few: Unvalued | None = None
    try:
        agree = _components_agree(draw, a, b, letters)
    except Unvalued as reason:
        too_few = reason
    if agree is True:
        return True
    found = solves_for_components(draw, a, b, list(_scopes(letters)), residual_of)
    if found is None and too_few is not None:
        raise too_few
    return agree if found is None else found


def _is_multiple_of_unit(table: Table) -> bool:
    """Return True for a number times the unit matrix."""
    size = size_of(table)
    rest = (
        size_of(table.at(j, k) - table.at(0, 0)) if j == k else size_of(table.at(j, k))
        for j in range(table.rows) for k in range(table.columns)
    )  # fmt: skip
    return max(rest) <= 1e-12 * size


def _components_agree(draw: Draw, a: Formula, b: Formula, letters: tuple[str, ...]) -> bool | None:
    """Return True if the components of two tensor equations are multiples of each other by one factor.

    None where the computing error hides it; raises Unvalued for fewer than two components that are not 0.
    """
    pairs = [
        (scalar(residual_of(draw, a, scope)[0]), scalar(residual_of(draw, b, scope)[0])) for scope in _scopes(letters)
    ]
    return _have_one_ratio([one for one, _ in pairs], [two for _, two in pairs])


def _have_one_ratio(one: list[Scalar], two: list[Scalar]) -> bool | None:
    """Return True if two lists of numbers have one ratio, None if the computing error hides it.

    Raises Unvalued if all but one entry of the first are 0.
    """
    sizes = [size_of(entry) for entry in one]
    lead = max(range(len(one)), key=sizes.__getitem__)
    if sum(size > 1e-12 * sizes[lead] for size in sizes) < 2:
        raise Unvalued("too few components")
    scale = sizes[lead] * max(size_of(entry) for entry in two)
    return _joint(compare_to_zero(x * two[lead] - y * one[lead], scale) for x, y in zip(one, two, strict=True))
