"""The order of attempts with what the problem knows (semantics O): each puts more of it into the two formulas.

Formulas are compared as they stand first. Then notation that needs a guess is read, constants of nature, the problem's
definitions, literals that are a given or a constant, and last the values of givens that stand on one side only. An
attempt is made only where it makes the symbols of the two meet, and every one says what it used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain, islice, product

from prism.algebra.expr import (
    Expr,
    Formula,
    number,
    ops_of,
    spell,
    substitute,
    substituted,
    symbol,
    symbols,
    traits_of,
    walk,
)
from prism.algebra.noncommutative import names_kept
from prism.engine.lowering import conjugated, uncertainty
from prism.equivalence.notation import VECTOR, length_of
from prism.equivalence.numbers import has_value, stated_number
from prism.equivalence.vector_calculus import written_out
from prism.physics.context import Context, Value, kind_of, may_be_constant, readings_of, values_of
from prism.physics.dimensions import inconsistency
from prism.physics.units import (
    Dimension,
    Quantity,
    constants_of,
    is_unit,
    quantity,
    unit,
    with_italic_units,
    with_units_resolved,
)

MAX_ATTEMPTS = 12  # for one pair; a formula of nothing but constants has hundreds of readings
MAX_READ = 4  # symbols of one pair that are read as constants
MAX_DEFINED = 4  # rounds in which definitions are put into one another
MACHINE_PRECISION = 1e-10  # relative, of a decimal that a machine has written out
FORMULAS_KEPT = 4096  # formulas whose marks are remembered in a process
STAGES = (
    "as they stand", "notation", "constants", "definitions", "literals lifted", "renaming", "givens put in", "decimals",
)  # fmt: skip
"""Stages of semantics O, by number."""

_POSITIVE = frozenset(("positive", "angle", "constant"))  # kinds of symbol that have one root only
_ORDERS = ("1", "2")  # of derivatives that are written with dots
_OF_NUMBERS = frozenset(("num", "const", "mul", "div", "pow", "sqrt"))
MIN_DIGITS = 3  # of a whole number without unit that may be a value

_UNIT = r"\unit{"  # how the names of base units begin
_UNNAMED = symbol("?")  # the variable of a derivative that is written with primes
_NOTHING_TAKEN: frozenset[str] = frozenset()
_DERIVATIVES = frozenset(("derivative", "partial"))
_REWRITTEN = frozenset(("apply", "nabla", "opaque"))  # whatever the other formula has
_NONE: frozenset[Expr] = frozenset()


@dataclass(frozen=True, slots=True)
class Attempt:
    """Two formulas with something put in, what that was, and the highest stage it belongs to (index of `STAGES`).

    Attributes:
        put_into: the attempt before givens were put in, if any were.
        given: names of these givens.
        is_bare: units were read as 1 after that.
    """

    reference: Formula
    claim: Formula
    readings: tuple[str, ...] = ()
    stage: int = 0
    put_into: Attempt | None = None
    given: tuple[str, ...] = ()
    is_bare: bool = False


def attempts(reference: Formula, claim: Formula, context: Context) -> Iterator[Attempt]:
    """Every attempt after the plain comparison, in order, at most MAX_ATTEMPTS with what the problem knows."""
    if _are_closed(_openness(reference, context), _openness(claim, context)):
        return  # as with most pairs: nothing that is known bears on either
    yield from all_attempts(reference, claim, context)


def all_attempts(reference: Formula, claim: Formula, context: Context) -> Iterator[Attempt]:
    """As `attempts`, the long way: every rule is asked, whatever the two formulas hold."""
    a, b = resolved_pair(reference, claim)
    yield from chain(
        _italic_unit_attempts(reference, claim, context),
        _length_attempts(a, b),
        _prime_attempts(a, b),
        _call_attempts(a, b, context),
        _total_attempts(a, b),
        _real_attempts(a, b),
        _field_attempts(a, b),
    )
    plain = Attempt(reference, claim)
    resolved_plain = plain if a is reference and b is claim else Attempt(a, b)
    yield from islice(_informed(plain, resolved_plain, context), MAX_ATTEMPTS)


@dataclass(frozen=True, slots=True)
class _Openness:
    """What of one formula an attempt could begin with, its units resolved.

    Attributes:
        is_open: something that needs nothing of the other formula: letters that may be units, a call, a nabla, a symbol
            that the problem explains.
        has_vector, has_prime, has_derivative, has_partial: of these each attempt needs two to meet.
        may_be_real: a modulus or a conjugate.
        may_be_value: a symbol that a literal of the other formula may stand for.
        has_value: a literal that may stand for a symbol.
        names: its symbols.
        fixed: those of them that are read as no other constants.
        arising: symbols of the constants that the others may be read as.
    """

    is_open: bool
    has_vector: bool
    has_prime: bool
    has_derivative: bool
    has_partial: bool
    may_be_real: bool
    may_be_value: bool
    has_value: bool
    names: frozenset[str]
    fixed: frozenset[str]
    arising: frozenset[str]


@lru_cache(maxsize=FORMULAS_KEPT)
def _openness(f: Formula, context: Context) -> _Openness:
    whole = resolved(f)
    ops, names, marks = traits_of(whole).ops, traits_of(whole).names, _marks_of(whole)
    defined = definitions_of(context)
    explained = not names.isdisjoint(defined.keys() | context.givens.keys())
    explained = explained or (not _DERIVATIVES.isdisjoint(ops) and bool(defined or _dots_of(context)))
    read = {name: each for name in names if (each := _identities_read(name, context))}
    return _Openness(
        is_open=bool(f.parts) or _marks_of(f).may_be_quantity or not _REWRITTEN.isdisjoint(ops) or explained,
        has_vector=marks.has_vector,
        has_prime=marks.has_prime,
        has_derivative="derivative" in ops,
        has_partial="partial" in ops,
        may_be_real="abs" in ops or any(conjugated(name) != name for name in names),
        may_be_value=any(has_value(name) and may_be_constant(context, name) for name in names),
        has_value=bool(_literals_of(f)),
        names=names,
        fixed=names - read.keys() if read else names,
        arising=frozenset[str]().union(*(one.names for each in read.values() for one in each)),
    )


def _are_closed(one: _Openness, two: _Openness) -> bool:
    """Whether no attempt is made for a reference and a claim: each of them would find nothing to begin with."""
    if one.is_open or two.is_open or two.may_be_real or one.has_vector != two.has_vector:
        return False
    if (one.may_be_value and two.has_value) or (two.may_be_value and one.has_value):
        return False
    has_derivative = one.has_derivative or two.has_derivative
    if (has_derivative and (one.has_prime or two.has_prime)) or (one.has_derivative and two.has_partial):
        return False
    if one.fixed == one.names and two.fixed == two.names:
        return True
    arising = one.arising | two.arising
    return not (one.fixed - two.names <= arising or two.fixed - one.names <= arising)


def _informed(plain: Attempt, resolved_plain: Attempt, context: Context) -> Iterator[Attempt]:
    """Stages 2 to 6: constants, definitions, literals, givens; what was put in stays in."""
    yield from _with_constants_read(resolved_plain, context)
    names = _marks_of(resolved_plain.reference).names
    may_lift = any(has_value(name) and may_be_constant(context, name) for name in names)
    if not (context.definitions or context.givens or may_lift):
        return
    defined = _with_definitions(resolved_plain, context)
    if defined is not resolved_plain:
        if _meet(defined):
            yield defined
        yield from _with_constants_read(defined, context)
    elif (operated := _with_operands(resolved_plain, context)) is not None:
        yield operated
    last = defined
    lifted = _with_literals_lifted(plain, context)
    if lifted is not plain:
        last = _with_definitions(_resolved(lifted), context)
        if _is_even(last):
            yield last
        yield from _with_constants_read(last, context)
    # in two ways: a number that happens to be a given's value may be meant as a number all the same; an angle is the
    # given in any case, for the sine and the cosine of 45 degrees are one number, and two formulas
    is_angle_lifted = lifted is not plain and _n_angle(lifted) < _n_angle(plain)
    starts = (last,) if is_angle_lifted or last is defined else dict.fromkeys((last, defined))
    for start in starts:
        yield from _with_givens(start, plain.claim, context)


def _resolved(attempt: Attempt) -> Attempt:
    a, b = resolved_pair(attempt.reference, attempt.claim)
    return replace(attempt, reference=a, claim=b)


def _meet(attempt: Attempt) -> bool:
    """Whether the symbols of one formula include the other's; those that only one has may be dead."""
    one, two = _marks_of(attempt.reference).names, _marks_of(attempt.claim).names
    return one <= two or two <= one


def _is_even(attempt: Attempt) -> bool:
    """Whether both formulas have the same symbols, units apart."""
    one, two = _marks_of(attempt.reference).names, _marks_of(attempt.claim).names
    return one == two or all(name.startswith(_UNIT) for name in one ^ two)


def _with_definitions(attempt: Attempt, context: Context) -> Attempt:
    """Symbols on one side only that the problem defines, put as what they are defined to be."""
    defined = definitions_of(context)
    if dots := _dots_of(context):
        there = {node for f in (attempt.reference, attempt.claim) for node in _differentiated(f)}
        if read := {node: dots[node] for node in sorted(there & dots.keys(), key=spell)}:
            attempt = Attempt(
                substituted(attempt.reference, read),
                substituted(attempt.claim, read),
                (
                    *attempt.readings,
                    *(f"definition: {spell(dot)} = {spell(expr)} (problem)" for dot, expr in read.items()),
                ),
                3,
            )
    for _ in range(MAX_DEFINED):
        one, two = _marks_of(attempt.reference).names, _marks_of(attempt.claim).names
        used = {
            name: expr
            for name, expr in defined.items()
            if name in one ^ two or (name in one & two and not symbols(expr).isdisjoint(one ^ two))
        }
        if not used:
            break
        replacement = {symbol(name): expr for name, expr in used.items()}
        attempt = Attempt(
            substituted(attempt.reference, replacement),
            substituted(attempt.claim, replacement),
            (*attempt.readings, *(f"definition: {name} = {spell(expr)} (problem)" for name, expr in used.items())),
            3,
        )
    return attempt


def _with_operands(attempt: Attempt, context: Context) -> Attempt | None:
    r"""Functions that the problem defines put in where the two differentiate them differently; None if they do not.

    With a trial function \psi given, `\int (\frac{d\psi}{dx})^2 dx` and `-\int \psi \frac{d^2\psi}{dx^2} dx` are of
    the same symbols, and only the function shows whether they are the same.
    """
    defined = definitions_of(context)
    if not defined:
        return None
    one, two = (_differentiated(f) for f in (attempt.reference, attempt.claim))
    names = sorted({node.args[0].name for node in one ^ two} & defined.keys())
    if not names or not _is_even(attempt):
        return None
    replacement = {symbol(name): defined[name] for name in names}
    readings = (f"definition: {name} = {spell(defined[name])} (problem)" for name in names)
    return Attempt(
        substituted(attempt.reference, replacement),
        substituted(attempt.claim, replacement),
        (*attempt.readings, *readings),
        3,
    )


def _differentiated(f: Formula) -> frozenset[Expr]:
    """Derivatives of single symbols in a formula."""
    if _DERIVATIVES.isdisjoint(traits_of(f).ops):
        return _NONE
    nodes = (node for member in f.members for node in walk(member) if node.op in _DERIVATIVES)
    return frozenset(node for node in nodes if node.args[0].op == "sym")


def with_defined_put_in(f: Formula, subject: Expr, context: Context) -> Formula:
    """A formula with what the problem defines put in, but for its subject and for what has a value of its own."""
    defined = {
        symbol(name): expr
        for name, expr in definitions_of(context).items()
        if symbol(name) != subject and name not in context.givens and subject not in walk(expr)
    }
    for _ in range(MAX_DEFINED):
        if traits_of(f).names.isdisjoint(node.name for node in defined):
            break
        f = substituted(f, defined)
    return f


@lru_cache(maxsize=256)
def definitions_of(context: Context) -> Mapping[str, Expr]:
    """What the problem defines symbols to be, by name; definitions that lead back to themselves are left out."""
    found: dict[str, Expr] = {}
    for written in context.definitions:
        members = with_units_resolved(written.members[0]), with_units_resolved(written.members[1])
        sides = (members, members[::-1])
        for one, two in (*sides, *(without_factor(*each) for each in sides)):
            subject, other = without_power(one, two, context)
            if subject.op == "sym" and subject.name not in symbols(other) and subject.name not in found:
                found[subject.name] = other
                break
    circular = {name for name in found if name in _reached(name, found)}
    return {name: expr for name, expr in found.items() if name not in circular}


@lru_cache(maxsize=256)
def _dots_of(context: Context) -> Mapping[Expr, Expr]:
    r"""Total derivatives that the problem says are partial ones: `\dot u = \partial u/\partial t`, and so `\ddot u`."""
    found: dict[Expr, Expr] = {}
    for written in context.definitions:
        for one, two in (written.members, written.members[::-1]):
            if one.op == "derivative" and two == Expr("partial", one.args, one.name) and one.args[0].op == "sym":
                for order in _ORDERS:
                    found[Expr("derivative", one.args, order)] = Expr("partial", one.args, order)
    return found


def without_power(subject: Expr, other: Expr, context: Context) -> tuple[Expr, Expr]:
    r"""The sides of `\omega_0^2 = k/m` as those of \omega_0 = \sqrt{k/m}; any other two as they are.

    Only for a positive symbol, which has one root.
    """
    if subject.op != "pow" or subject.args[0].op != "sym" or kind_of(context, subject.args[0].name) not in _POSITIVE:
        return subject, other
    power = subject.args[1].value
    if power is None or power.denominator != 1 or not power:
        return subject, other
    return subject.args[0], Expr("pow", (other, number(1 / power)))


def without_factor(subject: Expr, other: Expr) -> tuple[Expr, Expr]:
    r"""The sides of `2\gamma = R/m` as those of \gamma = (R/m)/2, and of `1/\tau = R/m` as \tau = 1/(R/m).

    Numbers only: `\hbar k = p` may as well say what p is.
    """
    if subject.op == "neg":
        return without_factor(subject.args[0], Expr("neg", (other,)))
    if subject.op == "mul":
        others = [arg for arg in subject.args if not _is_plain_number(arg)]
        if len(others) == 1 and len(subject.args) > 1:
            numbers = tuple(arg for arg in subject.args if arg is not others[0])
            factor = numbers[0] if len(numbers) == 1 else Expr("mul", numbers)
            return without_factor(others[0], Expr("div", (other, factor)))
    if subject.op == "div":
        above, below = subject.args
        if _is_plain_number(below) and not _is_plain_number(above):
            return without_factor(above, Expr("mul", (below, other)))
        if _is_plain_number(above) and not _is_plain_number(below):
            return without_factor(below, Expr("div", (above, other)))
    return subject, other


def _is_plain_number(node: Expr) -> bool:
    """Whether a factor is a number other than 0, without unit."""
    return all(inner.op in _OF_NUMBERS and inner.value != 0 for inner in walk(node))


def _reached(name: str, defined: Mapping[str, Expr]) -> frozenset[str]:
    """Symbols that a definition leads to."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        for other in symbols(defined[waiting.pop()]) - seen:
            seen.add(other)
            waiting += [other] if other in defined else []
    return frozenset(seen)


# Literals and givens. -------------------------------------------------------------------------------------------

_Amount = tuple[Fraction, Dimension]


def _with_literals_lifted(attempt: Attempt, context: Context) -> Attempt:
    """Literals of one side that are a given of the other, put as its symbol: lift, do not plug (semantics O)."""
    one, two = _names_meant(attempt.reference, context), _names_meant(attempt.claim, context)
    a, from_a = _lifted(attempt.reference, two - one, context)
    b, from_b = _lifted(attempt.claim, one - two, context)
    return Attempt(a, b, (*attempt.readings, *from_a, *from_b), 4) if from_a or from_b else attempt


@lru_cache(maxsize=FORMULAS_KEPT)
def _names_meant(f: Formula, context: Context) -> frozenset[str]:
    """Symbols of a formula, and those that its symbols are defined by."""
    names, defined = traits_of(f).names, definitions_of(context)
    return names.union(*(_reached(name, defined) for name in names & defined.keys()))


def _n_angle(attempt: Attempt) -> int:
    """Units that are plain numbers, as degrees are."""
    if "unit" not in traits_of(attempt.reference).ops | traits_of(attempt.claim).ops:
        return 0
    nodes = (node for member in (*attempt.reference.members, *attempt.claim.members) for node in walk(member))
    return sum(
        node.op == "unit" and (known := unit(node.name)) is not None and not any(known.dimension) for node in nodes
    )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What literals may stand for: givens by their value, where no other given has the same, and constants."""

    amounts: Mapping[_Amount, str]
    constants: frozenset[str]


@lru_cache(maxsize=256)
def _own_amounts(context: Context) -> Mapping[str, _Amount]:
    """The given values, by name, that are not 0 and of which there is only one."""
    amounts = {name: (value.quantity.value, value.quantity.dimension) for name, value in values_of(context).items()}
    counts = Counter(amounts.values())
    return {name: amount for name, amount in amounts.items() if counts[amount] == 1 and amount[0]}


def _wanted(names: Set[str], context: Context) -> _Wanted:
    own, values = _own_amounts(context), values_of(context)
    return _Wanted(
        {own[name]: name for name in sorted(names & own.keys())},
        frozenset(name for name in names - values.keys() if may_be_constant(context, name) and has_value(name)),
    )


def _lifted(f: Formula, names: frozenset[str], context: Context) -> tuple[Formula, tuple[str, ...]]:
    """A formula with its literals lifted to some of these names, and what was read."""
    runs = _literals_of(f)
    if not runs:
        return f, ()
    wanted = _wanted(names, context)
    if not (wanted.amounts or wanted.constants) or not any(_symbol_for(run, wanted, {}) for run in runs):
        return f, ()
    used: dict[str, None] = {}
    members = tuple(_lift(member, wanted, used) for member in f.members)
    return (replace(f, members=members), tuple(used)) if used else (f, ())


@lru_cache(maxsize=FORMULAS_KEPT)
def _literals_of(f: Formula) -> tuple[tuple[Expr, ...], ...]:
    """The literals of a formula that may stand for a value, each with its units, as `_lift` meets them."""
    if "num" not in traits_of(f).ops:
        return ()
    found: dict[tuple[Expr, ...], None] = {}
    stack = list(f.members)
    while stack:
        node = stack.pop()
        if node.op == "num":
            found[node,] = None
        elif node.op == "mul":
            for run in _runs(node):
                if run[0].op == "num":
                    found[run] = None
                if len(run) == 1:
                    stack.append(run[0])
        else:
            stack.extend(node.args[:1] if node.op == "pow" else node.args)
    return tuple(run for run in found if _amount_of(run) is not None)


def _runs(node: Expr) -> list[tuple[Expr, ...]]:
    """The factors of a product, each number together with the units that follow it."""
    runs: list[tuple[Expr, ...]] = []
    for arg in node.args:
        if runs and runs[-1][0].op == "num" and is_unit(arg):
            runs[-1] = (*runs[-1], arg)
        else:
            runs.append((arg,))
    return runs


@lru_cache(maxsize=FORMULAS_KEPT)
def _amount_of(run: tuple[Expr, ...]) -> Quantity | None:
    """What a literal with its units is worth; None where it is no value, or has no figures that tell one."""
    if len(run) == 1 and not _is_telling(run[0]):
        return None
    return quantity(run[0] if len(run) == 1 else Expr("mul", run))


def _lift(node: Expr, names: _Wanted, used: dict[str, None]) -> Expr:
    """One node with its literals lifted; a number takes along the units that follow it in its product."""
    if node.op == "num":
        return _symbol_for((node,), names, used) or node
    if node.op == "pow":
        return Expr("pow", (_lift(node.args[0], names, used), node.args[1]))
    if node.op != "mul":
        args = tuple(_lift(arg, names, used) for arg in node.args)
        return node if args == node.args else Expr(node.op, args, node.name, node.value)
    parts: list[Expr] = []
    for run in _runs(node):
        found = _symbol_for(run, names, used) if run[0].op == "num" else None
        parts += [found] if found else run if len(run) > 1 else [_lift(run[0], names, used)]
    return parts[0] if len(parts) == 1 else Expr("mul", tuple(parts))


def _symbol_for(run: tuple[Expr, ...], names: _Wanted, used: dict[str, None]) -> Expr | None:
    """The symbol that a literal with its units stands for; one without unit only if it is in coherent SI."""
    amount = _amount_of(run)
    if amount is None:
        return None
    whole = run[0] if len(run) == 1 else Expr("mul", run)
    if len(run) > 1:
        found = [names.amounts.get((amount.value, amount.dimension))]
    else:
        found = [name for (value, _), name in names.amounts.items() if value == amount.value]
    if found in ([], [None]) and names.constants:
        found = list(_constants_written(whole, names.constants) or found)
    if len(found) != 1 or found[0] is None:
        return None
    used[f"literal: {spell(whole)} is {found[0]}"] = None
    return symbol(found[0])


@lru_cache(maxsize=FORMULAS_KEPT)
def _constants_written(whole: Expr, among: frozenset[str]) -> tuple[str, ...]:
    """The constants of nature that a literal with its units is the value of; none where it is no stated number."""
    amount, stated = quantity(whole), stated_number(whole)
    if amount is None or stated is None:
        return ()
    unit = stated.unit
    dimension, scale = amount.dimension if unit else None, unit.factor if unit and not unit.pi else Fraction(1)
    return constants_of(amount.value, dimension, stated.figures, among=among, scale=scale)


def _is_telling(literal: Expr) -> bool:
    """Whether a plain number has figures enough to be a value; a 2 may be any 2."""
    digits, _, power = literal.name.partition("e")
    return bool(power) or ("." in digits and "/" not in digits) or len(digits) >= MIN_DIGITS


def _with_givens(attempt: Attempt, written: Formula, context: Context) -> Iterator[Attempt]:
    """Givens put in on the one side where their symbols stand, so that only what is not given is left.

    Where each side has givens of its own, the two are two formulas that may give one number: `E = mgh` is not
    `E = mv^2/2` for the values of a fall. What is left are two symbols at least, or the one that both formulas are
    solved for: with all else put in, every true formula of the problem holds for the same number. If that one is
    given too, a claim may be a copy of the given and nothing more.

    Args:
        written: the claim as it is written: where it has numbers without units, and no symbol of the claim is put in,
            the values are put in without theirs. In `K = m v^2 d` with d = 0.5 m nothing is left out but physics.
    """
    values = values_of(context)
    one, two = _marks_of(attempt.reference).names, _marks_of(attempt.claim).names
    put = {name: values[name] for name in sorted((one ^ two) & values.keys())}
    if not put or not (put.keys() <= one or put.keys() <= two):
        return
    full = _with_values(attempt, {name: value.expr for name, value in put.items()}, is_bare=False)
    readings = (*attempt.readings, *(f"given: {name} = {value.text}" for name, value in put.items()))
    names = _marks_of(full.reference).names | _marks_of(full.claim).names
    shared = _marks_of(full.reference).names & _marks_of(full.claim).names
    left = {name for name in shared if not name.startswith(_UNIT)}
    subject = subject_of(full.reference)
    is_one_subject = subject is not None and subject == subject_of(full.claim) and not left <= values.keys()
    if not _is_even(full) or not (len(left) > 1 or is_one_subject):
        return
    yield replace(full, readings=readings)
    if (
        two.isdisjoint(put)
        and _is_in_numbers(written)
        and all(abs(value.quantity.value) != 1 for value in put.values())
        and any(name.startswith(_UNIT) for name in names)
    ):
        bare = _with_values(attempt, {name: value.expr for name, value in put.items()}, is_bare=True)
        yield replace(bare, readings=(*readings, "unit: numbers without units are read in SI units"))


def _with_values(attempt: Attempt, values: Mapping[str, Expr], *, is_bare: bool) -> Attempt:
    """An attempt with values in the place of symbols, and units read as 1 if that is asked for."""
    replacement = {symbol(name): value for name, value in values.items()}
    a, b = substituted(attempt.reference, replacement), substituted(attempt.claim, replacement)
    if is_bare:
        units = (name for name in _marks_of(a).names | _marks_of(b).names if name.startswith(_UNIT))
        ones = {symbol(name): number(1) for name in units}
        a, b = substituted(a, ones), substituted(b, ones)
    return Attempt(a, b, attempt.readings, 6, attempt, tuple(values), is_bare)


def probes(attempt: Attempt, context: Context) -> Iterator[Attempt]:
    """The attempt with one after the other of the givens that were put in doubled: none of these may be a match.

    A value that may as well be twice as large is one that the comparison has not seen: masses of some MeV, in joules,
    vanish beside a mass that is drawn between 1 and 10.
    """
    if attempt.put_into is None:
        return
    values = values_of(context)
    for doubled in attempt.given:
        put = {name: values[name].expr for name in attempt.given}
        put[doubled] = Expr("mul", (number(2), put[doubled]))
        yield _with_values(attempt.put_into, put, is_bare=attempt.is_bare)


def _amounts(names: Set[str], values: Mapping[str, Value]) -> frozenset[_Amount]:
    known = (values[name].quantity for name in names & values.keys())
    return frozenset((each.value, each.dimension) for each in known)


def _is_in_numbers(written: Formula) -> bool:
    """Whether a formula has no units, but numbers that may stand for values: no exponents, and not 1."""
    if "unit" in traits_of(written).ops:
        return False
    stack = list(written.members)
    while stack:
        node = stack.pop()
        if node.op == "num" and node.value not in (0, 1, None):
            return True
        stack.extend(node.args[:1] if node.op == "pow" else node.args)
    return False


def subject_of(f: Formula) -> Expr | None:
    """The symbol that a formula is solved for: alone on one side, and not on the other."""
    if len(f.members) != 2:
        return None
    for one, other in (f.members, f.members[::-1]):
        if one.op == "sym" and one.name not in symbols(other):
            return one
    return None


# Constants. -----------------------------------------------------------------------------------------------------


def _with_constants_read(attempt: Attempt, context: Context) -> Iterator[Attempt]:
    """Readings of symbols that stand on one side only, where they make one side's symbols include the other's."""
    a, b = attempt.reference, attempt.claim
    mine, yours = _marks_of(a).names, _marks_of(b).names
    choices = [(name, free) for name in sorted(mine ^ yours) if (free := _identities_read(name, context))]
    if not choices:
        return
    kept = names_kept(a, b)
    choices = [each for each in choices if each[0] not in kept][:MAX_READ]
    read = frozenset(name for name, _ in choices)
    new = frozenset[str]().union(*(one.names for _, options in choices for one in options))
    if not (mine - read - yours <= new or yours - read - mine <= new):
        return  # whatever is read, each formula keeps a symbol that the other never has
    for combination in product(*((None, *options) for _, options in choices)):
        chosen = {name: each for (name, _), each in zip(choices, combination, strict=False) if each}
        one, two = _names_with(mine, chosen), _names_with(yours, chosen)
        if not chosen or not (one <= two or two <= one):
            continue
        replacement = {symbol(name): identity.expr for name, identity in chosen.items()}
        said = (f"constant: {name} = {spell(identity.expr)} ({identity.constant})" for name, identity in chosen.items())
        stage = max(attempt.stage, 2)
        yield Attempt(substituted(a, replacement), substituted(b, replacement), (*attempt.readings, *said), stage)


def may_be_read(name: str, context: Context) -> bool:
    """Whether a symbol is the letter of a constant, by value or by identity, and may mean it here."""
    return may_be_constant(context, name) and (has_value(name) or bool(_identities_of(name, context)))


def _is_open(name: str, context: Context) -> bool:
    r"""Whether a symbol that an identity brings in means its constant: `\epsilon_0` always, a c that is no heat."""
    return may_be_constant(context, name) or name == r"\hbar" or ("_" in name and kind_of(context, name) == "positive")


@dataclass(frozen=True, slots=True)
class _Identity:
    """What a letter may stand for: an expression in other constants, its symbols, and the constant's name."""

    expr: Expr
    names: frozenset[str]
    constant: str


@lru_cache(maxsize=FORMULAS_KEPT)
def _identities_of(name: str, context: Context) -> tuple[_Identity, ...]:
    """Every identity of the constants that a letter may stand for in a problem, in the order of the table."""
    readings = readings_of(context, name)
    return tuple(
        _Identity(reading.expr, symbols(reading.expr), reading.constant) for reading in readings if reading.expr
    )


@lru_cache(maxsize=FORMULAS_KEPT)
def _identities_read(name: str, context: Context) -> tuple[_Identity, ...]:
    """Those of them that the problem leaves open; none where the letter means something else in it.

    What a letter is in other letters is no help where the problem means something else by those.
    """
    if not may_be_constant(context, name):
        return ()
    known = _identities_of(name, context)
    return tuple(one for one in known if all(_is_open(other, context) for other in one.names))


def _names_with(names: frozenset[str], chosen: Mapping[str, _Identity]) -> frozenset[str]:
    """Symbols of a formula after some of them have been read as constants."""
    return (names - chosen.keys()).union(*(chosen[name].names for name in chosen if name in names))


# Marks and notation. --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Marks:
    """What the attempts ask of one formula.

    Attributes:
        names: its symbols.
        is_in_hertz, is_in_radians: a unit of that kind is written.
        may_be_quantity: letters behind a number could be units, if nothing else speaks of them.
        has_vector: an arrow is written.
        has_prime: a prime is written, or a derivative by a variable that is not named.
        uncertainty: of its least certain decimal, relative.
    """

    names: frozenset[str]
    is_in_hertz: bool
    is_in_radians: bool
    may_be_quantity: bool
    has_vector: bool
    has_prime: bool
    uncertainty: float


@lru_cache(maxsize=FORMULAS_KEPT)
def _marks_of(f: Formula) -> _Marks:
    nodes = [node for member in f.members for node in walk(member)]
    names, units = traits_of(f).names, {node.name for node in nodes if node.op == "unit"}
    return _Marks(
        names=names,
        is_in_hertz=any(name.endswith("Hz") for name in units),
        is_in_radians="rad" in units,
        may_be_quantity=any(with_italic_units(member, _NOTHING_TAKEN) is not None for member in f.members),
        has_vector=any(VECTOR in name for name in names),
        has_prime=_UNNAMED.name in names or any(name.endswith("'") for name in names),
        uncertainty=max((uncertainty(node) for node in nodes if node.op == "num"), default=0.0),
    )


@lru_cache(maxsize=FORMULAS_KEPT)
def inconsistency_of(f: Formula, context: Context) -> str:
    """What is dimensionally wrong in a formula, by the units of what is given; empty if nothing certainly is."""
    known = {name: value.quantity.dimension for name, value in values_of(context).items()}
    if not known and "unit" not in traits_of(f).ops:
        return ""
    return inconsistency(resolved(f), known)


def may_be_approximate(a: Formula, b: Formula) -> bool:
    """Whether measured decimals may make the two equal (semantics N.1).

    Not where a number is all that is stated: 0.333 is not 1/3. There a decimal counts as another spelling of an exact
    number only with the figures of a machine.
    """
    one, two = _marks_of(a), _marks_of(b)
    unsure = max(one.uncertainty, two.uncertainty)
    bare = min(len(one.names), len(two.names)) <= len(a.members) - 1
    return 0 < unsure <= MACHINE_PRECISION if bare else unsure > 0


def _mixes_hertz_and_radian(a: Formula, b: Formula) -> bool:
    """Whether one formula is in hertz, the other in radians: both are 1/s in the table, but 50 Hz is not 50 rad/s."""
    one, two = _marks_of(a), _marks_of(b)
    return one.is_in_hertz != two.is_in_hertz and (two if one.is_in_hertz else one).is_in_radians


def resolved_pair(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Both with units resolved; beside hertz the radian is a unit of its own, and has to stand on both sides."""
    if _mixes_hertz_and_radian(a, b):
        kept = {Expr("unit", name="rad"): symbol(r"\unit{rad}")}
        a, b = substituted(a, kept), substituted(b, kept)
    return resolved(a), resolved(b)


def _italic_unit_attempts(a: Formula, b: Formula, context: Context) -> Iterator[Attempt]:
    """Italic letters behind a number read as units (`f = 50 Hz`), where they are no symbols of problem or formulas."""
    if not (_marks_of(a).may_be_quantity or _marks_of(b).may_be_quantity):
        return
    vocabulary = context.declared | symbols(
        *(member for f in (a, b) for member in f.members if with_italic_units(member, context.declared) is None)
    )
    one, two = _with_italic_units(a, vocabulary), _with_italic_units(b, vocabulary)
    reading = ("notation: letters behind a number are units",)
    for first, second in dict.fromkeys(((one, two), (one, b), (a, two))):
        if (first, second) != (a, b):
            yield Attempt(*resolved_pair(first, second), reading, 1)


def _with_italic_units(f: Formula, vocabulary: frozenset[str]) -> Formula:
    return replace(f, members=tuple(with_italic_units(member, vocabulary) or member for member in f.members))


def _length_attempts(a: Formula, b: Formula) -> Iterator[Attempt]:
    r"""`\vec F = m\vec a` beside `F = ma`: where each side is one vector times positive numbers, its length.

    Only where the other formula speaks of these lengths: `A = \lambda` is not `A\vec v = \lambda\vec v`.
    """
    vectors = [_marks_of(f).has_vector for f in (a, b)]
    if vectors[0] == vectors[1]:
        return
    names, others = (_marks_of(f).names for f in ((a, b) if vectors[0] else (b, a)))
    if not {length_of(name) for name in names if VECTOR in name} <= others:
        return
    one, two = (_lengths(f) if has_vector else f for f, has_vector in zip((a, b), vectors, strict=True))
    if one is not None and two is not None:
        yield Attempt(one, two, ("notation: vectors by their length",), 1)


def _lengths(f: Formula) -> Formula | None:
    """The formula between lengths, or None where a side is not one vector times positive numbers."""
    if f.kind != "equation":
        return None
    members = []
    for member in f.members:
        names = [node.name for node in walk(member) if node.op == "sym" and VECTOR in node.name]
        plain = all(node.op in ("sym", "num", "const", "mul", "div", "pow", "sqrt", "unit") for node in walk(member))
        if len(names) != 1 or not plain or any(node.op == "num" and (node.value or 0) < 0 for node in walk(member)):
            return None
        members.append(substitute(member, {symbol(names[0]): symbol(length_of(names[0]))}))
    return replace(f, members=tuple(members))


def _prime_attempts(a: Formula, b: Formula) -> Iterator[Attempt]:
    r"""`y' = ky` beside `\frac{dy}{dx} = ky`: primes are derivatives where the other formula differentiates y.

    Where one formula has both, or both have the prime, the prime is a label: in `x' = x + v\frac{dx}{dt}` it is the
    place in another frame.
    """
    if not (_marks_of(a).has_prime or _marks_of(b).has_prime):
        return
    variables = {one.name: by for f in (a, b) for one, by in _derivatives(f) if by != _UNNAMED}
    labels = {name for name in variables if _is_label(name + "'", name, a, b)}
    one, two = (_with_primes_read(f, variables, labels) for f in (a, b))
    if (one, two) != (a, b):
        yield Attempt(one, two, ("notation: primes are derivatives",), 1)


def _call_attempts(a: Formula, b: Formula, context: Context) -> Iterator[Attempt]:
    r"""`E(\alpha)` beside an E that is written in \alpha: E; `f(n - 1)` beside an f of the problem: a product.

    Only where the other formula has the letter and calls it nowhere; `x(T)` beside `x = vt` stays a value at T, and
    `f(c)` beside an f of v the value at c.
    """
    if "apply" not in traits_of(a).ops | traits_of(b).ops:
        return
    one, two = _with_calls_read(a, b, context), _with_calls_read(b, a, context)
    if (one, two) != (a, b):
        yield Attempt(one, two, ("notation: brackets behind a letter as in the other formula",), 1)


def _with_calls_read(f: Formula, other: Formula, context: Context) -> Formula:
    called = {node.name for member in other.members for node in walk(member) if node.op == "apply"}
    plain = traits_of(other).names - called
    variables = {name: {of for each, of in other.depends if each == name} for name, _ in other.depends}
    replacement: dict[Expr, Expr] = {}
    for member in f.members:
        for node in walk(member):
            if node.op != "apply" or len(node.args) != 1 or node.name not in plain:
                continue
            (argument,) = node.args
            if argument.op == "sym" and argument.name in variables.get(node.name, plain):
                replacement[node] = symbol(node.name)
            elif argument.op in ("add", "sub") and node.name in context.declared:
                replacement[node] = Expr("mul", (symbol(node.name), argument))
    return substituted(f, replacement) if replacement else f


def _total_attempts(a: Formula, b: Formula) -> Iterator[Attempt]:
    r"""`\partial U/\partial T` beside a reference with `dU/dT` and no partial derivative."""
    if "partial" not in traits_of(b).ops or "derivative" not in traits_of(a).ops or "partial" in traits_of(a).ops:
        return
    totals = {node for member in a.members for node in walk(member) if node.op == "derivative"}
    replacement: dict[Expr, Expr] = {}
    for node in (node for member in b.members for node in walk(member) if node.op == "partial"):
        total = Expr("derivative", node.args, node.name)
        if total in totals:
            replacement[node] = total
    if replacement:
        yield Attempt(
            a, substituted(b, replacement), ("notation: a partial derivative is the reference's total one",), 1
        )


def _real_attempts(a: Formula, b: Formula) -> Iterator[Attempt]:
    r"""`\int |\psi|^2 dx` beside a reference with `\psi^2`: the reference says that \psi is real."""
    names = _marks_of(a).names
    if not {"abs", "mul"} & traits_of(b).ops:
        return
    both = names & _marks_of(b).names  # alone, `\bar v` may be a mean and `T^*` a critical value
    conjugates = {name: conjugated(name) for name in _marks_of(b).names if conjugated(name) in both - {name}}
    moduli = [
        node for member in b.members if "abs" in ops_of(member) for node in walk(member)
        if node.op == "pow" and node.args[1].value == 2 and node.args[0].op == "abs"
        and node.args[0].args[0].op == "sym" and node.args[0].args[0].name in names
    ]  # fmt: skip
    real = {*conjugates.values(), *(node.args[0].args[0].name for node in moduli)}
    if not real or any(conjugated(name) in real for name in names if conjugated(name) != name):
        return
    if any(node.op == "abs" and symbols(node) & real for member in a.members for node in walk(member)):
        return
    replacement = {symbol(name): symbol(base) for name, base in conjugates.items()}
    replacement |= {node: Expr("pow", (node.args[0].args[0], node.args[1])) for node in moduli}
    yield Attempt(
        a, substituted(b, replacement), (f"notation: {', '.join(sorted(real))} is real, as in the reference",), 1
    )


def _field_attempts(a: Formula, b: Formula) -> Iterator[Attempt]:
    r"""`\nabla\times(f\vec A)` beside its terms: both in Cartesian components."""
    in_components = written_out(a, b)
    if in_components is not None:
        yield Attempt(*in_components, ("notation: nabla in Cartesian components",), 1)


def _derivatives(f: Formula) -> Iterator[tuple[Expr, Expr]]:
    """Symbols that are differentiated, each with the variable."""
    for member in f.members:
        for node in walk(member) if "derivative" in ops_of(member) else ():
            if node.op == "derivative" and len(node.args) == 2 and node.args[0].op == "sym":
                yield node.args[0], node.args[1]


def _is_label(primed: str, bare: str, a: Formula, b: Formula) -> bool:
    """Whether a primed symbol stands in both formulas, or beside a derivative of the bare one."""
    holding = [f for f in (a, b) if primed in traits_of(f).names]
    return len(holding) > 1 or any(one.name == bare and by != _UNNAMED for f in holding for one, by in _derivatives(f))


def _with_primes_read(f: Formula, variables: Mapping[str, Expr], labels: Set[str]) -> Formula:
    replacement = {}
    for name in traits_of(f).names:
        if name.endswith("'") and name[:-1] in variables.keys() - labels:
            replacement[symbol(name)] = Expr("derivative", (symbol(name[:-1]), variables[name[:-1]]), "1")
    named = {one.name for one, by in _derivatives(f) if by == _UNNAMED} & variables.keys()
    if len({variables[name] for name in named}) == 1:
        replacement[_UNNAMED] = variables[named.pop()]
    return substituted(f, replacement) if replacement else f


@lru_cache(maxsize=FORMULAS_KEPT)
def resolved(f: Formula) -> Formula:
    """The formula with its units as factors of the seven base units; 20 °C is 20 K where a difference is stated."""
    if f.parts:
        return replace(f, parts=tuple(resolved(part) for part in f.parts))
    if "unit" not in traits_of(f).ops:
        return f
    difference = any(_is_difference(member) for member in f.members)
    return replace(f, members=tuple(with_units_resolved(member, difference=difference) for member in f.members))


def _is_difference(member: Expr) -> bool:
    return member.op == "sub" or (member.op == "sym" and member.name.startswith((r"\Delta ", r"\delta ")))
