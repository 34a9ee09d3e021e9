"""The claims of a solution: formulas that it asserts, each with the solution's own definitions substituted.

A formula in a box, or led by a relation or an arrow, is committed: the solution presents it as a result. Only then may
an expression without a relation stand for the right side of an equation, and a bare number for a final answer
(semantics Z.8). Definitions of the solution are used where the formula alone matches nothing, and its own names for the
problem's symbols are learnt from whole formulas, once for all of it (semantics O.3, O.5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from prism.algebra.expr import Expr, Formula, formula, substitute, symbols, symbols_of, walk
from prism.equivalence.context_facts import facts_of_context
from prism.equivalence.numbers.stated import StatedNumber
from prism.grading.claims.own_symbols import OwnSymbols, is_alias
from prism.latex import LocatedFormula
from prism.latex.number_text import read_number_text
from prism.physics.context import Context, Value, given_values
from prism.physics.tables import PI

MIN_OPERATIONS = 3  # of a bare expression that may stand for the right side of an equation: less is a guess
_SAME_GIVEN = Fraction(5, 100)  # relative: a name stands for a given only if no other value is stated of it


@dataclass(frozen=True, slots=True)
class Claim:
    """A formula that a solution asserts; equal formulas in several places of the text are one claim.

    Attributes:
        formula: as it was parsed.
        is_committed: the solution presents it as a result.
        expansions: the formula with the solution's own symbols eliminated, and the definitions used, in words.
        is_in_passing: the solution mentions it in passing.
        letters: parts of the problem in whose answers it stands; empty where the text is common to all.
        is_joined: a word such as "where" joins it to the formula before.
    """

    formula: Formula
    is_committed: bool = False
    expansions: Mapping[Formula, tuple[str, ...]] = field(default_factory=dict, hash=False)
    is_in_passing: bool = False
    letters: tuple[str, ...] = ()
    is_joined: bool = False


def is_committed(located: LocatedFormula) -> bool:
    r"""Return True if a formula is presented as a result: in a box, announced, or led by a sign: `= 2gh`, `\to 5`."""
    return located.kind == "boxed" or located.is_announced or located.led


def n_unaccounted(reference: Formula, stated: Formula, context: Context) -> int:
    """Count the symbols that only one of two formulas has and that the problem does not let one substitute.

    Not counted are symbols with a given value, defined symbols, symbols in their definitions, and names of constants.
    """
    return len((symbols_of(stated) ^ symbols_of(reference)) - facts_of_context(context).accounted_for)


def with_left_side(reference: Formula, stated: Formula, *, is_committed: bool) -> Formula:
    """Return `v = 2gh` for the bare expression `2gh` and the reference `v = ...`; any other formula as it is.

    Only if the expression is committed and has at least MIN_OPERATIONS operations: a shorter one may be a guess.
    """
    is_bare = stated.kind == "expression" and reference.kind == "equation"
    if is_bare and is_committed and _n_operations(stated.members[0]) >= MIN_OPERATIONS:
        return formula((reference.members[0], stated.members[0]), ("=",), stated.latex, stated.depends)
    return stated


def _n_operations(expression: Expr) -> int:
    """Count the binary operations and function calls of an expression: 2 in `2gh`."""
    return sum(max(len(node.args) - 1, 1) for node in walk(expression) if node.args)


def with_sign_flipped(f: Formula, names: Sequence[str]) -> Formula:
    """Return a formula with the symbols `names` counted with the other sign: for b, `b = -30 cm` becomes `b = 30 cm`.

    An equation for one of the symbols stays solved for that symbol.
    """
    if f.parts:
        return replace(f, parts=tuple(with_sign_flipped(part, names) for part in f.parts))
    flipped = {Expr("sym", name=name): Expr("neg", (Expr("sym", name=name),)) for name in names}
    members = tuple(substitute(member, {**flipped}) for member in f.members)
    if f.kind == "equation" and any(member in flipped.values() for member in members):
        members = tuple(member.args[0] if member.op == "neg" else Expr("neg", (member,)) for member in members)
    return replace(f, members=members)


def may_learn_names(new: Mapping[Expr, str], stated: Formula, own: OwnSymbols, context: Context) -> bool:
    r"""Return True if a formula that matches a node after renaming is evidence for that renaming in the whole solution.

    It must contain a symbol of the problem and do more than equate two symbols: `R = R_T` would match any node that
    equates two. No number that the solution states for an own symbol may differ from the given value of its new name.

    Args:
        new: the renaming: each own symbol of the solution, with the problem's symbol that it would mean.
        stated: the formula, still with the solution's own symbols.
        own: what the solution states of its own symbols.
    """
    if symbols(*stated.members).isdisjoint(own.known) or is_alias(stated):
        return False
    values = given_values(context)
    return all(
        _is_given_value(number, values[name])
        for atom, name in new.items()
        if name in values
        for number in own.numbers.get(atom, ())
    )


def _is_given_value(number: StatedNumber, given: Value) -> bool:
    """Return True if a stated number is within 5 % of a given value.

    A number without unit may be in the unit in which the problem writes the value, or in SI.
    """
    unit = number.unit
    if unit is not None:
        values = [(given.quantity.value - unit.offset) / (unit.factor * PI**unit.pi)]
        return number.dimension == given.quantity.dimension and _is_near_any(number.value, values)
    written = read_number_text(given.text)
    digits = [written.value] if written and not written.power else []
    return _is_near_any(number.value, [given.quantity.value, *digits])


def _is_near_any(value: Fraction, others: Sequence[Fraction]) -> bool:
    """Return True if a value is within 5 % of one of `others`."""
    return any(abs(value - other) <= _SAME_GIVEN * abs(other) for other in others)
