r"""Do two formulas give the same value along a line? Definitions by cases, steps, moduli, extremes, Macaulay brackets.

One letter takes all values, the others are drawn. Where a case may begin, a step or a bend lies, the line is cut, and
the values are compared on each piece, not at the cuts: `V_0\,\theta(x)` is V_0 for x > 0 and 0 for x < 0, whatever it
is at 0. A letter of whole numbers is counted, and there each value counts (semantics X.14).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise, product

from flint import acb

from prism.algebra.expr import (
    EQUALITIES,
    Expr,
    Formula,
    number,
    substitute,
    symbol,
    symbols,
    symbols_of,
    walk,
    with_args,
)
from prism.algebra.macaulay import MACAULAY
from prism.algebra.symbols import symbol_of
from prism.engine.intervals import precision
from prism.equivalence.interpretation.conditions.lines import Line, has_waves
from prism.equivalence.interpretation.conditions.predicates import (
    Comparison,
    NoLaw,
    Predicate,
    Whole,
    all_of,
    comparisons_of,
    names_of,
    read_case,
    read_predicate,
    walk_predicate,
)
from prism.equivalence.interpretation.conditions.scales import has_extreme_number
from prism.equivalence.interpretation.decision import Outcome
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.names import STEPS, has_choice, with_called
from prism.equivalence.interpretation.reading import read_together
from prism.equivalence.interpretation.signature import Signature, signature_of
from prism.equivalence.interpretation.values import (
    PRECISION,
    DividesByZero,
    NoCase,
    Unvalued,
    Value,
    add,
    compare_to_zero,
    is_beyond_reals,
    size_of,
)
from prism.equivalence.verdict import Status
from prism.physics.context import Context

_DRAWS, _MOST_DRAWS = 4, 40  # interpretations in which the pieces have to agree, and those that are tried for it
_MOST_LINES = 4  # letters on which cases depend
_PLACES = (0.23, 0.71)  # of a piece, where values are compared
_OTHER_SIZES = (0.2, 5.0)  # of the letters beside that of a line, so that bounds lie in either order
_NEAR = 1e-7  # relative distance of places that are one
_COUNTED = 13  # whole numbers up to it are counted
_POSITIVE = frozenset(("r", "R", r"\rho", r"\omega", "f", "T", "n", "m", "N", "M", "L", r"\lambda", r"\nu", "c"))
_EITHER_SIGN = frozenset(("x", "y", "z", "t", "v", "q", "s", "u", "a", "b", r"\theta", r"\phi", r"\varphi", r"\xi"))
_NOTHING = 1e-30  # of the largest value: what is smaller is 0
_OF_COMPLEX = frozenset(("Re", "Im", "arg"))
_BENDS = frozenset(("abs",))


@dataclass(frozen=True)
class Course:
    """What a formula gives, and where.

    Attributes:
        body: the value.
        where: the conditions beside it.
    """

    body: Expr
    where: Predicate

    @property
    def is_bounded(self) -> bool:
        """True if it may be undefined somewhere."""
        return self.where != all_of() or any(node.op == "cases" for node in walk(self.body))


def compare_courses(a: Formula, b: Formula, context: Context, so_far: Status) -> Outcome:
    """Compare the values that two formulas give for one quantity, or as expressions, along the lines of their cases.

    Args:
        a, b: the reference and the claim.
        context: what the problem knows.
        so_far: the verdict. If it is `equivalent` the letters a and b are lengths, as they are elsewhere, of one sign.
    """
    with precision(PRECISION):
        try:
            one, two = _read(a, b), _read(b, a)
            sides = [f.members[:-1] for f, _ in (one, two)]
            if sides[0] != sides[1]:
                return Outcome(None, "other quantities")
            first, second = read_together(one[0], two[0])
            courses = Course(first.members[-1], one[1]), Course(second.members[-1], two[1])
            heads = _heads(first) | _heads(second)
            depends = first.depends | second.depends
            variables = frozenset(by for name, by in depends if symbol_of(name).unprimed in heads)
            given = _with_quantity_put_in(first.members[0], courses) if so_far == Status.EQUIVALENT else courses
            outcome = _compare(
                given,
                signature_of(first, second, context),
                heads,
                variables - {","},
                is_equal=so_far == Status.EQUIVALENT,
            )
            is_only_solution = given == courses
            return outcome if is_only_solution or outcome.same is False else Outcome(None, "a quantity by itself")
        except NoLaw as reason:
            return Outcome(False, str(reason))
        except Unvalued as reason:
            return Outcome(None, str(reason))
        except (ZeroDivisionError, ValueError, OverflowError, RecursionError) as error:
            return Outcome(None, type(error).__name__)


def _read(f: Formula, other: Formula) -> tuple[Formula, Predicate]:
    """Return the equation or expression of a formula, and the conditions beside it.

    Raises Unvalued for several formulas, and for an equation that is not solved.
    """
    parts = f.parts or (f,)
    claims = [part for part in parts if part.kind == "expression" or (
        part.kind == "equation" and part.relations[0] in EQUALITIES and not _is_range(part))]  # fmt: skip
    if len(claims) != 1 or f.kind == "alternatives":
        raise Unvalued("several formulas")
    where = [read_predicate(part) for part in parts if part is not claims[0]]
    claim = claims[0]
    steps = _steps_before_brackets(claim, other)
    members = tuple(_with_steps(member, claim, steps, is_cut=has_choice(other)) for member in claim.members)
    solved = replace(claim, members=members)
    if members[0].op != "sym" and not _heads(solved).isdisjoint(symbols(members[-1])):
        raise Unvalued("an equation that is not solved")
    return solved, all_of(*where)


def _heads(f: Formula) -> frozenset[str]:
    """Return the letters of what an equation gives a value.

    Of a derivative those of what is differentiated, unless the other side has them: a law of motion gives a rate for
    each value of what moves.
    """
    if len(f.members) == 1:
        return frozenset()
    rates = [node for node in walk(f.members[0]) if node.op in ("derivative", "partial")]
    inside = symbols(*(node.args[0] for node in rates))
    outside = symbols(*map(_without_rates, f.members[:-1]))
    return outside if not inside.isdisjoint(symbols(f.members[-1])) else outside | inside


def _without_rates(node: Expr) -> Expr:
    """Return an expression with 1 in place of its derivatives."""
    if node.op in ("derivative", "partial"):
        return number(1)
    return with_args(node, tuple(map(_without_rates, node.args)))


def _with_quantity_put_in(quantity: Expr, courses: tuple[Course, Course]) -> tuple[Course, Course]:
    """Return two courses of a quantity; if one of them has it on its own side, it comes second, with the other put in.

    What the first gives then has to be a solution of the second.
    """
    own = [quantity.op == "sym" and quantity.name in symbols(course.body) for course in courses]
    if own[0] == own[1]:
        return courses
    solved, unsolved = courses[::-1] if own[0] else courses
    return solved, replace(unsolved, body=substitute(unsolved.body, {quantity: solved.body}))


def _is_range(f: Formula) -> bool:
    r"""Return True for a letter and a list: `n = 1, 2, \ldots`."""
    return f.members[0].op in ("sym", "list") and f.members[-1].op == "list"


def _steps_before_brackets(f: Formula, other: Formula) -> frozenset[str]:
    r"""Return the letters of steps that only stand before brackets, `\theta(r - R)`, and not in the other formula."""
    if not any(
        node.op == "cases" for part in (other, *other.parts) for member in part.members for node in walk(member)
    ):
        return frozenset()
    nodes = [node for member in f.members for node in walk(member)]
    before = [
        one.name for node in nodes if node.op == "mul" for one, two in pairwise(node.args) if two.op in ("add", "sub")
    ]
    alone = [node.name for node in nodes if node.op == "sym"]
    return frozenset(
        name
        for name in STEPS & set(before)
        if before.count(name) == alone.count(name) and name not in symbols_of(other)
    )


def _with_steps(node: Expr, f: Formula, steps: frozenset[str], *, is_cut: bool) -> Expr:
    r"""Return an expression in which `u`, written `u(t)`, is a step, and `\langle x - a\rangle` is cut off at 0.

    Args:
        node: of the formula f.
        steps: letters of steps before brackets.
        is_cut: the other formula has cases, so that the bracket is no mean.
    """
    args = tuple(_with_steps(arg, f, steps, is_cut=is_cut) for arg in node.args)
    if node.op == "mul" and not steps.isdisjoint(arg.name for arg in args):
        return with_called(with_args(node, args), steps)
    if node.op == "sym" and node.name in STEPS:
        own = sorted({variable for name, variable in f.depends if name == node.name} - {","})
        return Expr("apply", (symbol(own[0]),), node.name) if len(own) == 1 else node
    cut = node.op == "bracket" and node.name in ("mean", MACAULAY) and len(args) == 1
    if cut and is_cut and args[0].op in ("add", "sub"):
        return Expr("apply", (number(0), args[0]), "max")
    if node.op == "pow" and node.args[0].op == "bracket" and args[1].value == 0 and args[0].op == "apply":
        return Expr("apply", (args[0].args[1],), "H")
    if node.op == "row" and args[0].op == "infinity":
        return Expr("row", (symbol("#infinity"), *args[1:]))
    return with_args(node, args)


# Lines. ---------------------------------------------------------------------------------------------------------------


def _compare(
    courses: tuple[Course, Course],
    signature: Signature,
    heads: frozenset[str],
    variables: frozenset[str],
    *,
    is_equal: bool,
) -> Outcome:
    """Compare two courses along each letter on which their cases depend.

    Raises Unvalued for letters that are no real numbers, a quantity that is defined by itself, extreme numbers, and no
    letter or too many.

    Args:
        heads: the letters that the courses are of; `variables`: those that they are written as functions of.
    """
    notation = signature.notation
    if notation.is_complex or notation.complexes or notation.vectors or signature.operators or signature.matrices or (
        signature.tensors or signature.fields or any(node.op == "apply" and node.name in _OF_COMPLEX for course in
        courses for node in walk(course.body))):  # fmt: skip
        raise Unvalued("letters that are no real numbers")
    if not heads.isdisjoint(symbols(*(course.body for course in courses))):
        raise Unvalued("a quantity that is defined by itself")
    cuts = [list(_cuts(course)) for course in courses]
    every = [*cuts[0], *cuts[1]]
    sides = [side for each in comparisons_of(all_of(*every)) for side in (each.left, each.right)]
    if any(map(has_extreme_number, (*sides, *(course.body for course in courses)))):
        raise Unvalued("a number out of the ordinary")
    whole = {part.name: part for course in courses for each in (*every, course.where) for part in walk_predicate(each)
             if isinstance(part, Whole)}  # fmt: skip
    names = sorted(names_of(all_of(*every, courses[0].where, courses[1].where)) - heads)
    bodies = [symbols(course.body) for course in courses]
    names = [name for name in names if any(name in inside for inside in bodies)]
    names = [name for name in names if name in variables] or names
    between = _between_bounds(every)
    names = [name for name in names if name in between] or names
    if not _in_rates(courses).isdisjoint(names):
        raise Unvalued("cases of what is differentiated")
    if not names or len(names) > _MOST_LINES:
        raise Unvalued("cases of what?")
    signature = replace(signature, whole=signature.whole | whole.keys())
    if _have_unlike_conditions(courses, signature, cuts):
        return Outcome(False, "conditions on other letters")
    answers: list[bool | None] = []
    for name in names:
        either = _EITHER_SIGN - {"a", "b"} if is_equal else _EITHER_SIGN
        is_signed = name in variables - _POSITIVE or name in signature.signed or name in either
        is_signed |= name in between and any(side.op == "neg" for side in sides)
        answers.append(_agree_along(name, signature, courses, cuts, is_signed=is_signed))
        if answers[-1] is False:
            return Outcome(False)
    return Outcome(None, "values left open") if None in answers else Outcome(True)


def _in_rates(courses: tuple[Course, Course]) -> frozenset[str]:
    """Return the letters in derivatives of unknown functions: along the line of one of these all are constant."""
    nodes = (node for course in courses for node in walk(course.body) if node.op in ("derivative", "partial"))
    return symbols(*(node for node in nodes if node.args[0].op in ("sym", "apply")))


def _agree_along(
    name: str,
    signature: Signature,
    courses: tuple[Course, Course],
    cuts: list[list[Predicate]],
    *,
    is_signed: bool,
) -> bool | None:
    """Return True if two courses agree along a letter, for several values of the others, small and large ones too.

    None where a value cannot be told, or in too few draws the cases follow each other.
    """
    is_whole = name in signature.whole
    agreed = 0
    for draw_number in range(_MOST_DRAWS):
        line = Line(Draw(draw_number, signature), name)
        if not _are_in_order(line, courses):
            continue
        answer = _agree(line, courses, cuts, is_whole=is_whole, is_signed=is_signed)
        if answer is not True:
            return answer
        agreed += 1
        if agreed == _DRAWS:
            break
    if agreed < _DRAWS:
        return None  # cases that do not follow each other
    for other, size in product(sorted(_letters_of_bounds(courses) - {name} - signature.whole), _OTHER_SIZES):
        line = Line(Draw(0, signature, sizes={other: size}), name)
        with suppress(Unvalued, ArithmeticError, ValueError):
            if _are_in_order(line, courses) and (
                _agree(line, courses, cuts, is_whole=is_whole, is_signed=is_signed) is False
            ):
                return False
    return True


def _letters_of_bounds(courses: tuple[Course, Course]) -> frozenset[str]:
    """Return the letters of the conditions of all cases but those of waves, which would only have more zeros."""
    found = [each for course in courses for case in _cases_in(course) for each in comparisons_of(case)]
    return frozenset(symbols(*(side for each in found for side in (each.left, each.right) if not has_waves(each))))


def _cases_in(course: Course) -> Iterator[Predicate]:
    """Yield the conditions of the cases of a course."""
    for node in walk(course.body):
        for row in node.args if node.op == "cases" else ():
            if len(row.args) == 2 and (condition := read_case(row.args[1])) is not None:
                yield condition


def _have_unlike_conditions(courses: tuple[Course, Course], signature: Signature, cuts: list[list[Predicate]]) -> bool:
    """Return True if each of two courses with conditions beside it has a value where the other one has none.

    The letters of the conditions take either sign here, so that a bound on `t_1` is none on `t`.
    """
    wheres = [course.where for course in courses]
    if all_of() in wheres or wheres[0] == wheres[1]:
        return False
    lacking: set[int] = set()
    names = sorted(names_of(all_of(*wheres)) - signature.whole)
    for name, draw_number in product(names[:_MOST_LINES], range(_DRAWS)):
        line = Line(Draw(draw_number, signature), name)
        places = sorted({0.0, *(x for own in cuts for cut in own for x in line.prepare(cut, is_signed=True))})
        for x in _on_pieces(places):
            has_value = [_value(line, course, x, is_whole=False) is not None for course in courses]
            lacking |= {k for k in (0, 1) if not has_value[k] and has_value[1 - k]}
    return len(lacking) == len(courses)


def _cuts(course: Course) -> Iterator[Predicate]:
    """Yield the conditions at whose ends a line is cut: cases, and comparisons of what a step or a bend depends on.

    Raises Unvalued where cuts cannot be found.
    """
    if course.where != all_of():
        yield course.where
    yield from _cases_in(course)
    zero = number(0)
    for node in walk(course.body):
        if node.op in _BENDS or (node.op == "apply" and node.name in STEPS and len(node.args) == 1):
            yield Comparison("=", node.args[0], zero)
        elif node.op == "apply" and node.name in ("max", "min"):
            yield from (Comparison("=", one, two) for k, one in enumerate(node.args) for two in node.args[k + 1 :])
        elif node.op in ("floor", "ceiling", "modulo") or (
            node.op in ("integral", "sum", "product") and any(map(_has_cut, walk(node)))
        ):
            raise Unvalued("cuts that are not found so")


def _has_cut(node: Expr) -> bool:
    """Return True for a node that has a step, a bend or cases."""
    named = node.op == "apply" and (node.name in STEPS or node.name in ("max", "min"))
    return named or node.op in _BENDS or node.op in ("cases", "floor", "ceiling", "modulo")


def _between_bounds(cuts: Iterable[Predicate]) -> frozenset[str]:
    """Return the letters of what a case bounds on both sides, x of `-a < x < a`."""
    found: set[str] = set()
    for cut in cuts:
        bounds = [(each.left, each.right) for each in comparisons_of(cut) if each.sign[0] in "<>"]
        found |= symbols(*(one for _, one in bounds for other, _ in bounds if one == other))
    return frozenset(found)


def _are_in_order(line: Line, courses: tuple[Course, Course]) -> bool:
    """Return True if the bounds of each case are in order: a below b in `a < x < b`, and what is required holds."""
    cases = [case for course in courses for case in _cases_in(course)]
    conditions = [course.where for course in courses]
    for condition in (*conditions, *cases):
        fixed = [each for each in comparisons_of(condition) if line.name not in symbols(each.left, each.right)]
        if condition in conditions and not all(line.holds(each, 0.0) for each in fixed):
            return False
        bounds = [each for each in comparisons_of(condition) if each not in fixed and each.sign[0] in "<>"]
        low = [each.right if each.sign[0] == ">" else each.left for each in bounds if line.name not in symbols(
            each.right if each.sign[0] == ">" else each.left)]  # fmt: skip
        high = [each.right if each.sign[0] == "<" else each.left for each in bounds if line.name not in symbols(
            each.right if each.sign[0] == "<" else each.left)]  # fmt: skip
        if not all(line.holds(Comparison("<", one, two), 0.0) for one in low for two in high if one != two):
            return False
    return True


def _agree(
    line: Line, courses: tuple[Course, Course], cuts: list[list[Predicate]], *, is_whole: bool, is_signed: bool
) -> bool | None:
    """Return True if two courses have the same values along a line, and the claim has one wherever it is asked for.

    None where a difference cannot be told from zero, no point has both values, or the claim is wider than the
    reference.
    """
    found = [sorted(x for cut in own for x in line.prepare(cut, is_signed=True)) for own in cuts]
    places = sorted({*found[0], *found[1], 0.0})
    tested = _counted(line) if is_whole else list(_on_pieces(places))
    if not is_signed:
        tested = [x for x in tested if x > 0]
    values = {x: [_value(line, course, x, is_whole=is_whole) for course in courses] for x in tested}
    values = {x: pair for x, pair in values.items() if not any(map(is_beyond_reals, pair))}
    tested = list(values)
    pairs = {x: (one, two) for x, (one, two) in values.items() if one is not None and two is not None}
    largest = max((size_of(value) for pair in pairs.values() for value in pair), default=0.0)
    for one, two in pairs.values():
        scale = size_of(one) + size_of(two)
        same = scale < _NOTHING * largest or compare_to_zero(add(one, two, -1), scale)
        if same is not True:
            return same
    defined = list(pairs)
    if not defined:
        return None
    reference, claim = (course.where for course in courses)
    beyond = [x for x, (one, two) in values.items() if one is None and two is not None]
    if all_of() not in (reference, claim) and not all(line.holds(reference, x) for x in beyond):
        return None  # the claim has bounds of its own, which are wider
    if not is_whole and _leaves_out_a_point(line, courses, found[0]):
        return False
    if any(one is not None and two is None for one, two in values.values()):
        return _covers(courses[0], found[0], defined, [x for x in tested if x not in defined])
    return True


def _leaves_out_a_point(line: Line, courses: tuple[Course, Course], cuts: list[float]) -> bool:
    r"""Return True if a claim excludes a point, `x \ne 1`, where both have a value and the reference has no cut."""
    reference, claim = courses
    excluded = [each for each in comparisons_of(claim.where) if each.sign == "!="]
    bare = replace(claim, where=all_of())
    return any(
        not any(abs(x - cut) <= _NEAR * (1 + abs(x)) for cut in cuts)
        and all(_value(line, course, x, is_whole=False) is not None for course in (reference, bare))
        for each in excluded for x in line.zeros(each, is_signed=True)
    )  # fmt: skip


def _covers(reference: Course, cuts: list[float], defined: list[float], missing: list[float]) -> bool | None:
    """Return True if a claim leaves out nothing but what lies beyond all cases of a reference that names no bounds.

    None if the reference has no cuts: then nothing says how far it reaches.
    """
    if any(defined[0] < x < defined[-1] for x in missing):
        return False
    if reference.is_bounded:
        return False
    return all(defined[0] < cut < defined[-1] for cut in cuts) if cuts else None


def _counted(line: Line) -> list[float]:
    """Return the whole numbers that are counted."""
    return [float(k) for k in range(1 if line.name in _POSITIVE else -_COUNTED, _COUNTED + 1)]


def _on_pieces(places: list[float]) -> Iterator[float]:
    """Yield points on each of the pieces into which places cut a line, and on both of its ends."""
    apart = [x for k, x in enumerate(places) if not k or x - places[k - 1] > _NEAR * (1 + abs(x))]
    ends = [apart[0] - 2.0, *apart, apart[-1] + 2.0] if apart else [-2.0, 2.0]
    for low, high in pairwise(ends):
        yield from (low + share * (high - low) for share in _PLACES)


def _value(line: Line, course: Course, x: float, *, is_whole: bool) -> Value | None:
    """Return the value at a point; None where none of the cases, or not the conditions, hold."""
    if not line.holds(course.where, x):
        return None
    scope = Scope().with_index(line.name, int(x)) if is_whole else Scope().with_value(line.name, acb(x))
    try:
        return line.evaluator.value(course.body, scope)
    except NoCase:
        return None
    except DividesByZero:
        if is_whole:
            raise  # one number of those that are counted
        return None
