"""Derive what follows from equations by substituting one into another, and compare formulas with the result.

A step that the reference leaves out is no mistake, and a step that goes on from a mistake is no second one. Both are
found the same way: equations are substituted into one another, once or twice, and the engine compares the results with
the step. Equations that are solved for a quantity go first and are substituted twice; the others are solved for each
symbol that occurs once, by inverting one operator after another, and substituted once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from prism.algebra.expr import Expr, Formula, number, substitute, symbol, symbols, symbols_of, walk
from prism.budget import charge, charge_steps, remembered
from prism.engine.lowering import Mismatch
from prism.engine.tape import TapeTooLarge
from prism.equivalence.facts import numeric_of, subject_of
from prism.equivalence.matching import match
from prism.equivalence.numbers.comparison import NumberSpec, tolerance
from prism.equivalence.numbers.known_values import KnownValues, closed_form_number, evaluate_with_units
from prism.equivalence.numbers.stated import Numeric, StatedNumber
from prism.physics.context import Context, given_values
from prism.physics.tables import Dimension

ROUNDS = 2  # of substituting solved equations into one another
MAX_DERIVED = 600  # formulas from all substitutions
FORMULAS_KEPT = 1024  # whose solved forms are remembered in a process
MAX_IDLE = 1  # symbols of a derived formula that may divide out of it
MAX_COMPARED = 24  # derived formulas that one formula is compared with
COMPARISONS_KEPT = 2048  # comparisons of two formulas that are remembered in a process
_SUBSTITUTED = 16  # steps of an equation that is substituted into another, beside those for its nodes
_PAIR = 60  # operations of looking whether one equation can be substituted into another
_ROUNDED = Fraction(1, 100)  # relative tolerance of a number computed from rounded ones
_AS_GIVEN = Fraction(1, 1000)  # relative tolerance of a given that is restated
_ANY = NumberSpec()


def are_equivalent(reference: Formula, claim: Formula, context: Context, spec: NumberSpec = _ANY) -> bool:
    """Return True if the engine calls two formulas equivalent; False also if the engine fails on them."""
    return _are_equivalent(reference, claim, context, spec)


@remembered(COMPARISONS_KEPT)
def _are_equivalent(reference: Formula, claim: Formula, context: Context, spec: NumberSpec) -> bool:
    """Compare two formulas; arguments as above."""
    try:
        return match(reference, claim, context, spec).status == "equivalent"
    except (TapeTooLarge, Mismatch, ArithmeticError, ValueError):
        return False


def is_symbolic_equation(f: Formula) -> bool:
    """Return True for one equation between quantities (`v = g t`); False for a stated number (`v = 9.8`)."""
    return f.kind == "equation" and not f.parts and numeric_of(f) is None and closed_form_number(f) is None


def combine_formulas(formulas: Sequence[Formula], laws: Sequence[Formula]) -> tuple[Formula, ...]:
    """Derive new equations by substituting laws into formulas and formulas into laws; fewest substitutions first.

    >>> from prism.physics.context import parse
    >>> [str(each) for each in combine_formulas([parse("F = ma")], [parse("a = v/t")])][:2]
    ['F = m*(v/t)', 'F/m = v/t']
    """
    found: dict[Formula, None] = {}
    last = list(formulas)
    for _ in range(ROUNDS):
        new = _substitute_once(last, laws, _solved_as_written, MAX_DERIVED // 2 - len(found))
        last = [f for f in new if f not in found]
        found |= dict.fromkeys(last)
    more = _substitute_once((*formulas, *found), laws, _solved_for_symbols, MAX_DERIVED - len(found))
    return tuple(dict.fromkeys((*found, *more)))


_Solutions = tuple[tuple[Expr, Expr], ...]  # symbols, each with its expression


def _substitute_once(
    formulas: Sequence[Formula], laws: Sequence[Formula], solved: Callable[[Formula], _Solutions], most: int
) -> list[Formula]:
    """Substitute each law into each formula and each formula into each law; return at most `most` results.

    Args:
        solved: returns the symbols that an equation is solved for, each with its expression.
    """
    found: dict[Formula, None] = {}
    described = [(law, symbols(*law.members), solved(law)) for law in laws]
    for f in formulas:
        names, solutions = symbols(*f.members), solved(f)
        charge(_PAIR * len(described))
        for law, names_of_law, solutions_of_law in described:
            if f == law:
                continue
            pairs = [(f, each) for each in solutions_of_law if each[0].name in names]
            pairs += [(law, each) for each in solutions if each[0].name in names_of_law]
            for one, (subject, solution) in pairs:
                if len(found) >= most:
                    return list(found)
                charge_steps(_SUBSTITUTED)
                members = tuple(substitute(member, {subject: solution}) for member in one.members)
                if len(set(members)) == len(members):
                    found[replace(one, members=members, latex="")] = None
    return list(found)


@remembered(FORMULAS_KEPT)
def _solved_as_written(f: Formula) -> _Solutions:
    """Return ((symbol, expression),) if a side of the equation is a lone symbol, as in `a = v/t`; empty otherwise."""
    subject = subject_of(f)
    if subject is None or subject.op != "sym":
        return ()
    solution = f.members[1] if f.members[0] == subject else f.members[0]
    return () if subject.name in symbols(solution) else ((subject, solution),)


@remembered(FORMULAS_KEPT)
def _solved_for_symbols(f: Formula) -> _Solutions:
    """Return (symbol, expression) for every symbol that occurs once in the equation and can be isolated."""
    inner = Counter(node.name for member in f.members for node in walk(member) if node.op == "sym")
    once = [name for name, count in inner.items() if count == 1]
    charge_steps(sum(member.size + len(once) * member.depth for member in f.members))
    found = [(symbol(name), solution) for name in once if (solution := _isolate(f, name)) is not None]
    return tuple(found)


def _isolate(f: Formula, name: str) -> Expr | None:
    """Return the expression of a symbol that occurs once in an equation; None if an operator has no inverse."""
    node, solution = f.members if name in symbols(f.members[0]) else f.members[::-1]
    while node.op != "sym":
        at = next((k for k, arg in enumerate(node.args) if name in symbols(arg)), None)
        if at is None:
            return None
        rest = node.args[:at] + node.args[at + 1 :]
        if node.op in ("add", "mul"):
            other = rest[0] if len(rest) == 1 else Expr(node.op, rest)
            solution = Expr("sub" if node.op == "add" else "div", (solution, other))
        elif node.op in ("sub", "div"):
            back = "add" if node.op == "sub" else "mul"
            solution = Expr(back, (solution, rest[0])) if at == 0 else Expr(node.op, (rest[0], solution))
        elif node.op == "neg":
            solution = Expr("neg", (solution,))
        elif node.op == "sqrt":
            solution = Expr("pow", (solution, number(2)))
        elif node.op == "pow" and at == 0 and node.args[1].value:
            solution = Expr("pow", (solution, number(1 / node.args[1].value)))
        elif node.op in ("exp", "ln"):
            solution = Expr("ln" if node.op == "exp" else "exp", (solution,))
        else:
            return None
        node = node.args[at]
    return solution


def matches_any(f: Formula, derived: Sequence[Formula], context: Context) -> bool:
    """Return True if a formula is equivalent to a derived one; only those with nearly its symbols are tried."""
    charge(_PAIR * len(derived))
    names, known = symbols_of(f), given_values(context).keys()
    apart = [(len(symbols_of(one) - names - known), one) for one in derived if names - symbols_of(one) <= known]
    near = sorted((each for each in apart if each[0] <= MAX_IDLE), key=lambda each: each[0])
    return any(are_equivalent(one, f, context) for _, one in near[:MAX_COMPARED])


def restates_given(f: Formula, context: Context) -> bool:
    """Return True if a formula states the value that the problem gives for its quantity: `g = 9.81`."""
    numeric = numeric_of(f)
    given = None if numeric is None else given_values(context).get(numeric.subject.name)
    if numeric is None or given is None:
        return False
    stated, quantity = numeric.number, given.quantity
    has_unit = stated.unit is None or stated.dimension == quantity.dimension
    return has_unit and abs(stated.in_si - quantity.value) <= _AS_GIVEN * abs(quantity.value)


def find_source_formula(
    numeric: Numeric, laws: Sequence[Formula], known: KnownValues, context: Context
) -> Formula | None:
    """Return the first law that gives the stated number when all other values are inserted; None if no law does.

    Args:
        numeric: quantity and number. laws: formulas that may give it.
        known: value [SI] and dimension of quantities that are not given.
    """
    others = {name: solution for name, solution in known.items() if name != numeric.subject.name}
    charge(_PAIR * len(laws))
    for law in laws:
        if len(law.members) != 2:
            continue
        for subject, side in (law.members, law.members[::-1]):
            if subject != numeric.subject or numeric.subject.name in symbols(side):
                continue
            measured = evaluate_with_units(side, context, others)
            if measured is not None and _is_stated_value(numeric.number, *measured):
                return law
    return None


def _is_stated_value(stated: StatedNumber, value: Fraction, dimension: Dimension) -> bool:
    """Return True if a stated number has this value [SI] and dimension, within the tolerance of rounded inputs."""
    has_unit = stated.unit is None or stated.dimension == dimension
    return has_unit and abs(stated.in_si - value) <= max(_ROUNDED, tolerance(stated.shown or 3, _ANY)) * abs(value)


def stated_values(formulas: Sequence[Formula]) -> Mapping[str, tuple[float, Dimension]]:
    """Return value [SI] and dimension of each symbol that a formula states a number for; later formulas override."""
    stated = [numeric for f in formulas if (numeric := numeric_of(f)) is not None and numeric.subject.op == "sym"]
    return {each.subject.name: (float(each.number.in_si), each.number.dimension) for each in stated}
