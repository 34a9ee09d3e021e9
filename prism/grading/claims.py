"""What a solution asserts: which of its formulas are claims, and what each says with the solution's own words read.

A formula in a box, or led by a relation or an arrow, is committed: the solution stands by it as a result. Only then
may an expression without a relation stand for the right side of an equation, and a bare number for a final answer
(semantics Z.8). What a solution defines is put in where the formula alone matches nothing, and its own names for the
problem's symbols are learnt from whole formulas, once for all of it (semantics O).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, formula, spell, substitute, symbols, symbols_of, walk
from prism.equivalence.matching import match
from prism.equivalence.numbers import Asked, Known, StatedNumber, numeric_of
from prism.equivalence.statements import statements_of
from prism.equivalence.substitutions import definitions_of, may_be_read
from prism.equivalence.verdict import RANK, Verdict
from prism.grading.own_symbols import (
    Expanded,
    Vocabulary,
    expansions_of,
    fresh_atoms,
    is_naming,
    renamings,
    vocabulary_of,
    with_names,
)
from prism.latex import LocatedFormula
from prism.physics.context import Context, Value, values_of
from prism.physics.units import PI

MAX_APART = 1  # symbols that only one of two formulas has, where definitions are put in
MIN_OPERATIONS = 3  # of a bare expression that may stand for the right side of an equation: less is a guess
DEFINED, RENAMED = 3, 5  # the stages of definitions and of renaming (index of `attempts.STAGES`)
_DIGITS = re.compile(r"[+-]?\d+(?:\.\d+)?(?!\d|[.eE]|\s*(?:\\times|\\cdot|[×*]))")  # a number without power of ten
_AGREES = Fraction(5, 100)  # relative: a name stands for a given only if no other value is stated of it


@dataclass(frozen=True, slots=True)
class Claim:
    """One formula that a solution asserts.

    Attributes:
        formula: as it was parsed.
        is_committed: the solution presents it as a result.
        expansions: with the solution's own symbols eliminated, if it has any that are defined.
    """

    formula: Formula
    is_committed: bool = False
    expansions: tuple[Expanded, ...] = ()


def is_committed(located: LocatedFormula) -> bool:
    """Whether the solution presents this formula as a result."""
    return located.kind == "boxed" or located.led


def claims_of(
    written: Sequence[tuple[Formula, bool]], known: frozenset[str], worth: Known, *, expand: bool = True
) -> tuple[tuple[Claim, ...], Vocabulary]:
    """The claims of a solution, given in the order of the text with whether each is committed, and its vocabulary.

    Args:
        written: formulas and whether they are committed.
        known: symbols of the problem and its reference; all others are the solution's own.
        worth: value and dimension of the reference's symbols, as far as they are settled.
        expand: eliminate what the solution defines.
    """
    formulas = [each for each, _ in written]
    vocabulary = replace(vocabulary_of(formulas, known), worth=worth)
    claims = []
    for place, (each, committed) in enumerate(written):
        expansions = expansions_of(each, vocabulary, place) if expand and vocabulary.definitions else ()
        claims.append(Claim(each, committed, expansions))
    return tuple(claims), vocabulary


def match_claim(reference: Formula, claim: Claim, context: Context, asked: Asked) -> Verdict:
    """Decide whether a student's formula says what a node says.

    A committed bare expression of at least three operations stands for the right side of the reference.
    """
    plain = match(reference, as_read(reference, claim.formula, claim), context, asked)
    best, cost = plain, plain.cost
    for expanded in claim.expansions:
        if best.status == "equivalent" and best.stage <= DEFINED:
            break
        if not _may_meet(reference, expanded.formula, context):
            continue
        verdict = match(reference, expanded.formula, context, asked)
        cost += verdict.cost
        if verdict.status == "equivalent":
            readings = (*expanded.readings, *verdict.readings)
            verdict = replace(verdict, readings=readings, stage=max(verdict.stage, DEFINED))
        if (RANK[verdict.status], verdict.stage) < (RANK[best.status], best.stage):
            best = verdict
    return best if best.cost == cost else replace(best, cost=cost)


def _may_meet(reference: Formula, expanded: Formula, context: Context) -> bool:
    """Whether the symbols of one statement can become those of the reference, but for one that may divide out.

    An attempt is made only where the symbols meet (semantics O).
    """
    return any(n_apart(reference, statement.formula, context) <= MAX_APART for statement in statements_of(expanded))


def n_apart(reference: Formula, stated: Formula, context: Context) -> int:
    """Number of symbols that only one of two formulas has; what is given, defined or a constant can be put in."""
    apart = (symbols_of(stated) ^ symbols_of(reference)) - _put_in(context)
    return sum(not may_be_read(name, context) for name in apart)


@lru_cache(maxsize=256)
def _put_in(context: Context) -> frozenset[str]:
    """Symbols of the problem that may be put in or arise by it: givens, what is defined, and by what."""
    defined = definitions_of(context)
    return frozenset(context.givens).union(defined, *(symbols(expr) for expr in defined.values()))


def as_read(reference: Formula, stated: Formula, claim: Claim) -> Formula:
    """What a claim states, with the left side of the reference where it is committed and has none of its own."""
    bare = stated.kind == "expression" and reference.kind == "equation"
    if bare and claim.is_committed and _operations(stated.members[0]) >= MIN_OPERATIONS:
        return formula((reference.members[0], stated.members[0]), ("=",), stated.latex, stated.depends)
    return stated


def _operations(expression: Expr) -> int:
    return sum(max(len(node.args) - 1, 1) for node in walk(expression) if node.args)


def with_sign_flipped(f: Formula, names: Sequence[str]) -> Formula:
    """A formula by the other sign convention for some symbols; `b = -30 cm` becomes `b = 30 cm`."""
    if f.parts:
        return replace(f, parts=tuple(with_sign_flipped(part, names) for part in f.parts))
    flipped = {Expr("sym", name=name): Expr("neg", (Expr("sym", name=name),)) for name in names}
    members = tuple(substitute(member, {**flipped}) for member in f.members)
    if f.kind == "equation" and any(member in flipped.values() for member in members):
        members = tuple(member.args[0] if member.op == "neg" else Expr("neg", (member,)) for member in members)
    return replace(f, members=members)


# Names. ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Renamed:
    """A claim that says what a node says under names of its own: the verdict, and the vocabulary with them learnt."""

    verdict: Verdict
    vocabulary: Vocabulary


def match_renamed(
    reference: Formula, claim: Claim, vocabulary: Vocabulary, context: Context, asked: Asked, *, learn: bool
) -> Renamed | None:
    """Decide it with the solution's own names taken for the problem's; None if that does not help.

    Never where values are put in too, or decimals are near enough: with both, too much fits (semantics O).

    Args:
        learn: new names may be taken. Never for a number: a number fits whatever its name is taken for.
    """
    numeric = numeric_of(reference)
    for form in (claim.formula, *(expanded.formula for expanded in claim.expansions)):
        for statement in statements_of(form):
            stated = statement.formula
            if stated.parts or not fresh_atoms(stated, vocabulary.known):
                continue
            for names in renamings(reference, stated, vocabulary, context):
                new = {atom: name for atom, name in names.items() if atom not in vocabulary.names}
                if new and (not learn or numeric is not None or not _may_learn(new, stated, vocabulary, context)):
                    continue
                verdict = match(reference, with_names(stated, names), context, asked)
                if verdict.status == "equivalent" and verdict.stage <= RENAMED and not statement.conditions:
                    readings = [f"name: {spell(atom)} is {name}" for atom, name in names.items()]
                    said = (*readings, *verdict.readings)
                    verdict = replace(verdict, readings=said, stage=RENAMED)
                    return Renamed(verdict, replace(vocabulary, names={**vocabulary.names, **new}))
    return None


def _may_learn(new: dict[Expr, str], stated: Formula, vocabulary: Vocabulary, context: Context) -> bool:
    """Whether names may be learnt from a formula: it has a symbol of the problem, and no value speaks against.

    Not from `R = R_T`: that gives a name, and would be whatever statement a node of two symbols makes.
    """
    if symbols(*stated.members).isdisjoint(vocabulary.known) or is_naming(stated):
        return False
    values = values_of(context)
    return all(
        _agrees(number, values[name])
        for atom, name in new.items()
        if name in values
        for number in vocabulary.numbers.get(atom, ())
    )


def _agrees(number: StatedNumber, given: Value) -> bool:
    """Whether a number is about the given one, in the number's own unit; without unit in that of the given or in SI."""
    unit = number.unit
    if unit is not None:
        worth = [(given.quantity.value - unit.offset) / (unit.factor * PI**unit.pi)]
        return number.dimension == given.quantity.dimension and _is_about(number.value, worth)
    digits = _DIGITS.match(given.text)
    return _is_about(number.value, [given.quantity.value, *([Fraction(digits[0])] if digits else [])])


def _is_about(value: Fraction, worth: list[Fraction]) -> bool:
    return any(abs(value - each) <= _AGREES * abs(each) for each in worth)
