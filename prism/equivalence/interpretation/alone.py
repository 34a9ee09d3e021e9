"""What the interpretation of a formula alone shows, worked out once: it refutes most pairs that are asked about.

What a letter is, the values of all parts in the first interpretation, a root, and that there is no value or no letter
to solve for are facts of one formula. They hold beside any other one in which its letters are the same; where the
other formula says more of a letter, both have to be read together.

Refused: roots of all letters beforehand (most are never asked for).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from flint import acb

from prism.algebra.expr import Formula, symbols, walk
from prism.algebra.noncommutative import with_operators_at_times
from prism.algebra.symbols import symbol_of
from prism.budget import remembered
from prism.engine.intervals import precision
from prism.equivalence.interpretation.decision import Outcome, antiderivatives, converges_near_zero
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.integrals.distributions import is_distribution
from prism.equivalence.interpretation.integrals.kinks import DELTAS, POINT_SOURCE
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.names import STEPS, is_special, special_factors
from prism.equivalence.interpretation.reading import read_together
from prism.equivalence.interpretation.series.orders import has_order
from prism.equivalence.interpretation.series.shorthand import written_out
from prism.equivalence.interpretation.signature import Signature, signature_of
from prism.equivalence.interpretation.solving import (
    STARTS,
    is_drawn_freely,
    nearby,
    residual_of,
    root_of,
    unknowns,
    with_value,
)
from prism.equivalence.interpretation.values import (
    PRECISION,
    Table,
    Unvalued,
    Value,
    add,
    compare_to_zero,
    size_of,
)
from prism.physics.context import Context

_FAILURES = (Unvalued, ZeroDivisionError, ValueError, OverflowError, RecursionError)
_TRIED = 3  # interpretations after which a formula is given up that had no value in any
_SEVERAL_WAYS = frozenset(
    ("nabla", "limit", "dots", "contour", "cases")
)  # constructs that are read in more than one way
_OWN_WAYS = frozenset(("matrix", "bracket"))  # with which formulas are compared in ways of their own
_READ_BY_THE_OTHER = frozenset(("?", "d"))  # the variable of a prime, and what may be a differential
_SETS_OF_LETTERS = (
    "tensors", "operators", "states", "matrices", "whole", "fields", "signed", "varied", "series", "integrable",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Alone:
    """A formula under the first interpretation of its letters, by what it shows of them itself.

    What is written and shown settles all else.

    Attributes:
        written: the formula before it is read.
        shown: what another formula shows of its letters.
        context: what the problem knows.
        formula: as it is read.
        kinds: what each of its letters is.
        frame: what is said of no letter: the coordinates, if there are differentials or complex numbers.
        draw: the interpretation, with the values of all parts.
        has_value: False if it has none in any interpretation that is tried.
        value: of an expression, or left minus right of an equation; None where there is none, or where it depends on
            more than this, as that of a tensor does on its indices.
        scale: the size of its terms.
    """

    written: Formula
    shown: Shown
    context: Context
    formula: Formula = field(compare=False)
    kinds: Mapping[str, Hashable] = field(compare=False)
    frame: Hashable = field(compare=False)
    draw: Draw = field(compare=False)
    has_value: bool = field(compare=False)
    value: Value | None = field(compare=False)
    scale: float = field(compare=False)

    @property
    def is_refused(self) -> bool:
        """True for operators of too high an order, beside which no formula has a value."""
        space = self.draw.signature.space
        return space is not None and space.kind == "refused"

    @property
    def is_zero(self) -> bool | None:
        """True for an equation that holds; None where its error leaves that open."""
        return None if self.value is None else compare_to_zero(self.value, self.scale)

    def moved(self, solved: Draw) -> Draw:
        """Return this interpretation with what another formula was solved for."""
        return replace(self.copied_draw(), fixed=solved.fixed, shifts=solved.shifts)

    def copied_draw(self) -> Draw:
        """Return the interpretation to work in: what is added to it would make the next pair cheaper than the first."""
        draw = self.draw
        return replace(
            draw,
            values=dict(draw.values),
            drawn=dict(draw.drawn),
            integrals=dict(draw.integrals),
            places=dict(draw.places),
            powers=dict(draw.powers),
            conditions=dict(draw.conditions),
        )


@dataclass(frozen=True, slots=True)
class Shown:
    """What another formula shows, beside what a formula shows of its letters itself.

    Attributes:
        functions: letters that vary, each with its variables.
        differentials: it has differentials.
        unit: its imaginary unit; empty without complex numbers.
    """

    functions: frozenset[tuple[str, tuple[str, ...]]] = frozenset()
    differentials: bool = False
    unit: str = ""


_NOTHING = Shown()
_OTHER = Outcome(False)


def outcome_of_each_alone(a: Formula, b: Formula, context: Context) -> Outcome | None:
    """Return what each of two formulas shows alone: that they differ, or that they cannot be compared; else None."""
    one, two = read_alone(a, context, _NOTHING), read_alone(b, context, _NOTHING)
    if one is None or two is None:
        return None
    if one.is_refused or two.is_refused:
        return Outcome(None, "operators of too high an order")
    pair = _beside(one, two), _beside(two, one)
    if pair[0] is None or pair[1] is None:
        return None
    one, two = pair[0], pair[1]
    common = one.kinds.keys() & two.kinds.keys()
    if one.frame != two.frame or any(one.kinds[name] != two.kinds[name] for name in common):
        return None
    if not (one.has_value and two.has_value):
        return Outcome(None, "no value")
    with precision(PRECISION):
        try:
            return None if one.value is None or two.value is None else _differ(one, two)
        except _FAILURES:
            return None


def _beside(one: Alone, two: Alone) -> Alone | None:
    """Return a formula with the letters that vary, and the kinds of numbers, that another one shows.

    None where its own letter may be the imaginary unit of the other one, where it may call or differentiate a letter
    as the other one does, or have the length of its vector.
    """
    mine, other = one.draw.signature, two.draw.signature
    functions: set[tuple[str, tuple[str, ...]]] = set()
    for name in one.kinds.keys() & two.kinds.keys():
        own, more = mine.functions.get(name, ()), other.functions.get(name, ())
        if not set(more) <= set(own):
            functions.add((name, tuple(sorted({*own, *more}))))
    is_called = not {name for name, _ in functions}.isdisjoint(name for name, _ in two.formula.depends)
    is_called = is_called or any(_is_derivative_by_subscript(name, other.functions) for name in one.kinds)
    unit = other.notation.unit if other.notation.is_complex and not mine.notation.is_complex else ""
    if is_called or unit in one.kinds or _is_in_both_styles(one, two):
        return None
    shown = Shown(frozenset(functions), other.differentials and not mine.differentials, unit)
    return one if shown == _NOTHING else read_alone(one.written, one.context, shown)


def _is_derivative_by_subscript(name: str, functions: Mapping[str, tuple[str, ...]]) -> bool:
    """Return True for `u_t` and `u_{xx}` where u is a function of t and x."""
    read = symbol_of(name)
    return read.head in functions and bool(read.sub) and set(read.sub) <= set(functions[read.head])


def _is_in_both_styles(one: Alone, two: Alone) -> bool:
    """Return True if a letter is a vector in one of two formulas, and stands in the other one without its arrow."""
    return any(
        (read := symbol_of(name)).is_accented and read.unstyled in other.kinds
        for f, other in ((one, two), (two, one)) for name in f.kinds.keys() - other.kinds.keys()
    )  # fmt: skip


def _differ(one: Alone, two: Alone) -> Outcome | None:
    """Return that two expressions have other values, or that what solves one does not solve the other; else None."""
    assert one.value is not None
    assert two.value is not None
    is_table, is_other_table = isinstance(one.value, Table), isinstance(two.value, Table)
    if is_table != is_other_table:
        return _OTHER
    if is_table:
        return None
    if len(one.formula.members) == 1:
        return _OTHER if compare_to_zero(add(one.value, two.value, -1), one.scale + two.scale) is False else None
    if one.is_zero or two.is_zero:
        return _OTHER if one.is_zero is not None and two.is_zero is not None and one.is_zero != two.is_zero else None
    return _missed(one, two) or _missed(two, one)


def _missed(one: Alone, two: Alone) -> Outcome | None:
    """Return that the first solution of an equation does not solve another one, or that it has none; else None."""
    solved = next(_solutions(one, two), None)
    if solved is None:
        return Outcome(None, "no solution")
    draw = two.moved(solved)
    residual, scale = residual_of(draw, two.formula, Scope())
    apart = size_of(residual_of(nearby(draw, two.draw), two.formula, Scope())[0])
    return _OTHER if compare_to_zero(residual, max(scale, apart)) is False else None


def _solutions(one: Alone, two: Alone) -> Iterator[Draw]:
    """Yield interpretations that satisfy an equation, by its lone letter or by those that another one has too.

    Its own interpretation is left as it is: what one pair added to it would be free for the next one.
    """
    draw = one.copied_draw()
    members, signature = one.formula.members, draw.signature
    for member, other in (members, members[::-1]):
        is_lone = member.op == "sym" and member.name not in symbols(other)
        is_lone = is_lone and not signature.functions.get(member.name)
        if is_lone and is_drawn_freely(member.name, signature):
            yield with_value(draw, member.name, Evaluator(draw).value(other, Scope()))
    inside = symbols(*(node for f in (one.formula, two.formula) for m in f.members for node in walk(m)
                       if node.op == "integral"))  # fmt: skip
    letters = sorted(unknowns(signature, one.formula, two.formula), key=lambda each: each[0] in inside)
    for name, is_shift in letters:
        found = first_root(one, name, is_shift)
        if found is not None:
            yield replace(draw, shifts={name: found}) if is_shift else with_value(draw, name, found)


@remembered(8192)
def first_root(one: Alone, name: str, is_shift: bool) -> acb | None:
    """Return the first root of an equation in a letter, or in a multiple of a function.

    None if no start leads to one.
    """
    with precision(PRECISION):
        draw = one.copied_draw()
        ways = [(start, False) for start in STARTS] + ([] if is_shift else [(STARTS[0], True)])
        for start, is_inverse in ways:
            try:
                found, is_only = root_of(draw, one.formula, name, start, is_shift=is_shift, is_inverse=is_inverse)
            except _FAILURES:
                continue
            if found is not None:
                return found.shifts[name] if is_shift else found.fixed[name]  # type: ignore[return-value]
            if is_only:
                break
    return None


@remembered(4096)
def read_alone(f: Formula, context: Context, shown: Shown) -> Alone | None:
    """Return a formula under the first interpretation; None if it is compared in a way of its own, or not at all."""
    with precision(PRECISION):
        try:
            read, _ = read_together(*written_out(*with_operators_at_times(f, f), context))
        except Unvalued:
            return None
        ops = {node.op for member in read.members for node in walk(member)}
        if not ops.isdisjoint(_SEVERAL_WAYS) or _is_compared_otherwise(f, read):
            return None
        signature = _with_shown(signature_of(read, read, context), shown)
        draw = Draw(0, signature)
        kinds = {name: _kind_of(name, signature) for name in symbols(*read.members)}
        called = {node.name for member in read.members for node in walk(member) if node.op == "apply"}
        kinds |= {name: ("called", kinds.get(name)) for name in called}
        value, scale, has_value = None, 0.0, False
        for number in range(_TRIED):
            try:
                value, scale = _value_of(read, draw if not number else Draw(number, signature))
                has_value = True
                break
            except _FAILURES:
                continue
        is_plain = not number and ops.isdisjoint(_OWN_WAYS) and _is_of_numbers(signature)
        value = value if is_plain else None
        return Alone(f, shown, context, read, kinds, _frame_of(signature), draw, has_value, value, scale)


def _with_shown(signature: Signature, shown: Shown) -> Signature:
    """Return a signature with what another formula shows."""
    notation = signature.notation
    return replace(
        signature,
        functions={**signature.functions, **dict(shown.functions)},
        differentials=signature.differentials or shown.differentials,
        notation=replace(notation, is_complex=True, unit=shown.unit) if shown.unit else notation,
    )


def _is_compared_otherwise(f: Formula, read: Formula) -> bool:
    """Return True for what is compared by orders or test functions, near 0, or by how the other formula calls it."""
    nodes = [node for member in f.members for node in walk(member)]
    if not _READ_BY_THE_OTHER.isdisjoint(symbols(*read.members)):
        return True
    if special_factors(nodes) or has_order(read) or converges_near_zero(read):
        return True
    called = {node.name for member in read.members for node in walk(member) if node.op == "apply"}
    if any(is_special(name) or symbol_of(name).primes for name in called) or antiderivatives(read):
        return True
    if any(node.op in ("sum", "product") and len(node.args) != 4 for node in nodes):
        return True  # whose limit the other formula may name
    return not called.isdisjoint(STEPS.union(DELTAS, (POINT_SOURCE,))) or any(map(is_distribution, read.members))


def _value_of(f: Formula, draw: Draw) -> tuple[Value, float]:
    """Return the value of an expression, or left minus right of an equation, with the size of its terms."""
    if len(f.members) > 1:
        return residual_of(draw, f, Scope())
    found = Evaluator(draw).value(f.members[0], Scope())
    return found, size_of(found)


def _is_of_numbers(signature: Signature) -> bool:
    """Return True where no letter is an index, a matrix or an operator."""
    return not (signature.tensors or signature.matrices or signature.operators or signature.space)


def _kind_of(name: str, signature: Signature) -> Hashable:
    """Return what a letter is: of which variables a function, and whether a vector, complex, whole, ..."""
    notation = signature.notation
    named = tuple(dict(pairs).get(name) for pairs in (notation.lengths, notation.basis, notation.directions))
    sets = tuple(name in getattr(signature, each) for each in _SETS_OF_LETTERS)
    components = tuple(vector for vector, names in notation.components if name in names)
    return (
        tuple(signature.functions.get(name, ())), name in notation.vectors, name in notation.complexes, named, sets,
        components,
    )  # fmt: skip


def _frame_of(signature: Signature) -> Hashable:
    """Return what an interpretation says of no letter."""
    notation = signature.notation
    return (
        signature.system, signature.has_nabla, signature.differentials, signature.has_kets, signature.space,
        notation.is_complex, notation.unit if notation.is_complex else "", notation.dimension,
        signature.states_space is None,
    )  # fmt: skip
