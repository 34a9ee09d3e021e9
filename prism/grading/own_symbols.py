r"""The words of a solution: symbols that it defines itself, and its own names for the problem's symbols (semantics O).

A student who writes `u = v_0\cos\theta` and then `x = ut` has said `x = v_0 t\cos\theta`. Only fresh symbols are
eliminated, those in neither the problem nor its reference, and on the student's side only: the problem's own words
keep their meaning. A student who writes `C_{v,m}` throughout where the problem says C has said C; such a name is taken
for the problem's only where a whole formula becomes the reference's, never for the sake of a number.

Refused: eliminating what the reference derives (a final number would match everything upstream), and names that
differ in their letter (`x` for `s`): what a letter means is the reader's guess, and an RL policy would make it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import permutations

from prism.algebra.expr import (
    EQUALITIES,
    Expr,
    Formula,
    plain_parts,
    spell,
    substitute,
    substituted,
    symbols,
    symbols_of,
    traits_of,
    walk,
)
from prism.equivalence.numbers import Known, StatedNumber, measure, numeric_of
from prism.equivalence.statements import statements_of
from prism.equivalence.substitutions import without_factor, without_power
from prism.physics.context import Context

MAX_ROUNDS = 6  # definitions that are put into one another
MAX_NODES = 300  # of a formula with definitions put in; real ones have under 100, and each meets every node
SAME_VALUE = 0.02  # relative: two symbols of one value, with its rounding
FORMULAS_KEPT = 4096  # formulas remembered in a process
MAX_RENAMED = 3  # names of one formula that are taken for others

_NOTHING_KNOWN = Context()
_GENERAL = frozenset(("differential", "integral", "contour"))
_ATOMS = ("sym", "derivative", "apply", "bracket", "partial")
_VARIANTS: Mapping[str, frozenset[str]] = {
    letter: frozenset(others.split())
    for letter, others in {
        "P": "Prob Pr prob", "n": "moles mol", "m": "mass Mass", "K": "KE K_E E_k E_{k} E_{kin} E_{kinetic} T_{kin}",
        "U": "PE P_E E_p E_{p} E_{pot} E_{potential}", "R": "range Range", "T": "Temp temp", "V": "Vol vol Volume",
        "v": "speed velocity", "F": "force Force thrust", "t": "time", "E": "energy Energy", "l": r"\ell",
        r"\ell": "l", "W": "work Work", "L": "length", "I": "current",
    }.items()
}  # fmt: skip
"""Words and abbreviations that stand for a letter in textbooks."""

_HEAD = re.compile(r"\\[A-Za-z]+\{\\?[A-Za-z]+\}|\\[A-Za-z]+|[A-Za-z]+|.")
_DIFFERENCE = re.compile(r"\\[Dd]elta (?=.)")
_FONTS = re.compile(r"\\(?:mathcal|mathscr|mathfrak|mathit|mathsf)\{([A-Za-z])\}")


@dataclass(frozen=True, slots=True)
class Definition:
    r"""What a solution says one of its own symbols is.

    Attributes:
        subject: the symbol, or a derivative or call of fresh symbols (`\dot m`).
        expr: what it is.
        place: ordinal of the formula that says so.
        is_solved: it says so of the symbol alone, or of a power of it, and not of twice the symbol.
    """

    subject: Expr
    expr: Expr
    place: int
    is_solved: bool = True


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a solution's own symbols mean.

    Attributes:
        definitions: in the order of the text.
        known: symbols of the problem and of its reference; all others are fresh.
        names: the solution's names that have been taken for the problem's.
        numbers: what the solution states its own symbols to be, in numbers.
        used: the problem's symbols that the solution itself writes, other than to name or state them.
        worth: value and dimension of the reference's symbols, as far as its numbers settle them.
    """

    definitions: tuple[Definition, ...] = ()
    known: frozenset[str] = frozenset()
    names: Mapping[Expr, str] = field(default_factory=dict, hash=False)
    numbers: Mapping[Expr, tuple[StatedNumber, ...]] = field(default_factory=dict, hash=False)
    used: frozenset[str] = frozenset()
    worth: Known = field(default_factory=dict, hash=False)


def vocabulary_of(formulas: Iterable[Formula], known: frozenset[str]) -> Vocabulary:
    """The definitions that the formulas of a solution state, in order."""
    found: list[Definition] = []
    numbers: dict[Expr, tuple[StatedNumber, ...]] = {}
    used: set[str] = set()
    for place, f in enumerate(formulas):
        used |= _used_in(f, known)
        if not fresh_atoms(f, known):
            continue
        found += _definitions_in(f, place, known)
        for statement in statements_of(f):
            numeric = numeric_of(statement.formula)
            if numeric is not None and is_fresh(numeric.subject, known):
                numbers[numeric.subject] = (*numbers.get(numeric.subject, ()), numeric.number)
    return Vocabulary(tuple(found), known, numbers=numbers, used=frozenset(used))


def _used_in(f: Formula, known: frozenset[str]) -> frozenset[str]:
    r"""The problem's symbols that a formula uses; one that only names or states a quantity uses none.

    `R_a = R_1` and `R_1 = 5` use none, nor does what stands within a quantity of the solution's own, nor a law in
    differentials: the T of `dS = \delta Q/T` is any temperature.
    """
    parts = [part for part in plain_parts(f) if not is_naming(part) and numeric_of(part) is None]
    parts = [part for part in parts if traits_of(part).ops.isdisjoint(_GENERAL)]
    found: set[str] = set()
    stack = [member for part in parts for member in part.members]
    while stack:
        node = stack.pop()
        if node.op == "sym":
            found.add(node.name)
        elif not (is_fresh(node, known) or _is_mean(node)):
            stack.extend(node.args)
    return frozenset(found & known)


def is_naming(f: Formula) -> bool:
    """Whether a formula sets one quantity equal to another and says no more."""
    return f.kind == "equation" and all(member.op == "sym" or _is_mean(member) for member in f.members)


def _definitions_in(f: Formula, place: int, known: frozenset[str]) -> Iterator[Definition]:
    """Definitions that one formula states: one a fresh symbol, a name of the problem before all else."""
    best: dict[Expr, Definition] = {}
    for part in plain_parts(f):
        for left, right, relation in zip(part.members, part.members[1:], part.relations, strict=False):
            if relation not in EQUALITIES:
                continue
            for one, two in ((left, right), (right, left)):
                alone, rest = without_factor(one, two)
                subject, other = without_power(alone, rest, _NOTHING_KNOWN)
                if not is_fresh(subject, known) or any(node == subject for node in walk(other)):
                    continue
                found = Definition(subject, other, place, is_solved=alone == one)
                if subject not in best or _rank(found, known) > _rank(best[subject], known):
                    best[subject] = found
    yield from best.values()


def _rank(one: Definition, known: frozenset[str]) -> tuple[int, bool]:
    return _worth(one.expr, known), one.is_solved


def _worth(expr: Expr, known: frozenset[str]) -> int:
    """A name of the problem says most, a number least."""
    if expr.op == "sym" and expr.name in known:
        return 3
    names = symbols(expr)
    return 2 if names and names <= known else 1 if names else 0


def is_fresh(node: Expr, known: frozenset[str]) -> bool:
    """Whether a node is one quantity that the problem does not know."""
    if node.op not in _ATOMS:
        return False
    if _is_event(node):
        return node.name not in known
    return bool(symbols(node)) and (symbols(node) | {node.name}).isdisjoint(known)


def _is_event(node: Expr) -> bool:
    r"""Whether this is a word applied to a condition, such as `\operatorname{Prob}(0 \le x \le a)`: one quantity."""
    return node.op == "apply" and len(node.args) == 1 and node.args[0].op == "relation"


def _is_mean(node: Expr) -> bool:
    r"""Whether this is `\langle T\rangle`, which may be what a problem calls T."""
    return node.op == "bracket" and len(node.args) == 1 and node.args[0].op == "sym"


@lru_cache(maxsize=FORMULAS_KEPT)
def fresh_atoms(f: Formula, known: frozenset[str]) -> tuple[Expr, ...]:
    """Quantities of a formula that the problem does not know, in order; what lies within one of them is not counted.

    A mean value of what the problem knows is one of them: the problem may call it by the letter alone.
    """
    found: dict[Expr, None] = {}
    stack = [member for part in plain_parts(f) for member in part.members][::-1]
    while stack:
        node = stack.pop()
        if is_fresh(node, known) or _is_mean(node):
            found[node] = None
        else:
            stack.extend(reversed(node.args))
    return tuple(found)


# Definitions. ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Expanded:
    """A formula with definitions put in, and which."""

    formula: Formula
    readings: tuple[str, ...]


def expansions_of(f: Formula, vocabulary: Vocabulary, place: int) -> tuple[Expanded, ...]:
    r"""A formula with the solution's own symbols eliminated; nothing if it has none that are defined.

    Each symbol has one definition: the nearest before its use, else the first after it. Where a symbol has several,
    the first of all is tried too: `\delta = 2t` says what \delta is, `\delta = m\lambda` what follows. Not where the
    two are of the same symbols: then the later one takes the first back. What a formula itself defines stays, or it
    would say nothing.
    """
    found = (_with_definitions(f, vocabulary, place, first=first) for first in (False, True))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _with_definitions(f: Formula, vocabulary: Vocabulary, place: int, *, first: bool) -> Expanded | None:
    if f.parts:
        parts = [_with_definitions(part, vocabulary, place, first=first) for part in f.parts]
        if not any(parts):
            return None
        formulas = tuple(own if new is None else new.formula for own, new in zip(f.parts, parts, strict=True))
        said = tuple(dict.fromkeys(text for new in parts if new for text in new.readings))
        return Expanded(replace(f, parts=formulas), said)
    in_force = _in_force(vocabulary, place, first=first)
    readings: dict[str, None] = {}
    members = f.members
    used: set[Expr] = set()
    for _ in range(MAX_ROUNDS):
        there = {node for member in members for node in walk(member)}
        put = {subject: expr for subject, expr in in_force.items() if subject in there and subject not in used}
        if not put:
            break
        used |= put.keys()
        new = tuple(substitute(member, {**put}) for member in members)
        if sum(1 for member in new for _ in walk(member)) > MAX_NODES:
            break
        members = new
        readings |= dict.fromkeys(
            f"definition: {spell(subject)} = {spell(expr)} (solution)" for subject, expr in put.items()
        )
    if not readings:
        return None
    return Expanded(replace(f, members=members), tuple(readings))


def _in_force(vocabulary: Vocabulary, place: int, *, first: bool) -> dict[Expr, Expr]:
    r"""The definition of each symbol that holds at a place of the text; of several the first, if that is asked for.

    What a symbol is called in the problem it is everywhere: `\mathcal{E} \equiv E` is a definition before all others.
    Not where the symbol has been defined before it is used and is set equal to one of the problem only after that: of
    `s = L - x`, and `s = L` at the end of a bar, the second is a value at one place.
    """
    found: dict[Expr, Definition] = {}
    for one in vocabulary.definitions:
        before = found.get(one.subject)
        if one.place == place or (before is not None and _is_known_name(before, vocabulary)):
            continue
        is_nearer = one.place < place and not (first and not _takes_back(one, before))
        is_name = _is_known_name(one, vocabulary) and (one.place < place or not _is_said_before(before, place))
        if before is None or is_nearer or is_name:
            found[one.subject] = one
    return {subject: one.expr for subject, one in found.items()}


def _takes_back(one: Definition, before: Definition | None) -> bool:
    """Whether a definition says something else of the same symbols as one before it."""
    return before is not None and symbols(one.expr) == symbols(before.expr)


def _is_said_before(one: Definition | None, place: int) -> bool:
    """Whether a definition says before a place what a symbol is in terms of others, and not its number."""
    return one is not None and one.place < place and bool(symbols(one.expr))


def _is_known_name(one: Definition, vocabulary: Vocabulary) -> bool:
    return one.expr.op == "sym" and one.expr.name in vocabulary.known


# Names. ---------------------------------------------------------------------------------------------------------


def head_of(name: str) -> str:
    r"""The letter of a symbol without its index, prime and font; accents stay, as they tell symbols apart.

    A difference has the letter of what differs: `\Delta H` is no other name for `\Delta U`.

    >>> head_of("C_{v,m}"), head_of("P'_e"), head_of(r"\tilde{\nu}_0"), head_of(r"\mathcal{E}"), head_of(r"\Delta T_a")
    ('C', 'P', '\\tilde{\\nu}', 'E', '\\Delta T')
    """
    name = _FONTS.sub(r"\1", name)
    lead = _DIFFERENCE.match(name)
    rest = name[lead.end() :] if lead else name
    found = _HEAD.match(rest)
    return (lead[0] if lead else "") + (found[0] if found else rest)


def _index_of(name: str) -> str:
    return re.sub(r"\\[a-z]+|[{}\s,']", "", name.partition("_")[2])


def may_name(fresh: Expr, name: str) -> bool:
    """Whether a solution's own symbol may be its name for a symbol of the problem: the same letter, or a variant."""
    own = fresh.args[0].name if _is_mean(fresh) else fresh.name if fresh.op in ("sym", "apply") else ""
    if not own or "'" in own or "'" in name:
        return False
    letter, variants = head_of(own), _VARIANTS.get(head_of(name), frozenset())
    if _is_mean(fresh) and head_of(name) == rf"\bar{{{letter}}}":
        return True
    return letter == head_of(name) or own in variants or letter in variants


def _fits(fresh: Expr, name: str) -> bool:
    """Whether the index fits too, one being the beginning of the other: `P_{external}` for `P_e`."""
    mine, yours = _index_of(fresh.name), _index_of(name)
    return mine.startswith(yours) or yours.startswith(mine) if mine and yours else mine == yours


def renamings(
    reference: Formula, claim: Formula, vocabulary: Vocabulary, context: Context
) -> Iterator[dict[Expr, str]]:
    """Ways to take the fresh symbols of a claim for symbols that only the reference has, one for each.

    Where indices tell which is which, only the ways that fit them best. What the solution itself defines is no other
    name for something else, unless the claim is where it does so, or the two are one by the numbers of the problem.
    """
    atoms = fresh_atoms(claim, vocabulary.known)
    taken = {atom: vocabulary.names[atom] for atom in atoms if atom in vocabulary.names}
    open_atoms = [atom for atom in atoms if atom not in taken]
    if not open_atoms:
        if taken:
            yield taken
        return
    if len(open_atoms) > MAX_RENAMED:
        return
    wanted = sorted(symbols_of(reference) - _names_beside(claim, vocabulary.known).union(taken.values()))
    if not len(open_atoms) <= len(wanted) <= MAX_RENAMED:
        return
    ways = []
    for chosen in permutations(wanted, len(open_atoms)):
        pairs = dict(zip(open_atoms, chosen, strict=True))
        if all(
            may_name(atom, name)
            and _is_free(atom, name, vocabulary)
            and (atom in claim.members or _may_be_defined_as(atom, name, vocabulary, context))
            for atom, name in pairs.items()
        ):
            ways.append(pairs)
    misfits = [sum(not _fits(atom, name) for atom, name in pairs.items()) for pairs in ways]
    for pairs, n_misfit in zip(ways, misfits, strict=True):
        if n_misfit == min(misfits):
            yield {**taken, **pairs}


@lru_cache(maxsize=FORMULAS_KEPT)
def _names_beside(claim: Formula, known: frozenset[str]) -> frozenset[str]:
    """Symbols of a claim beside its fresh quantities."""
    return symbols(*claim.members) - {node.name for atom in fresh_atoms(claim, known) for node in walk(atom)}


def _may_be_defined_as(atom: Expr, name: str, vocabulary: Vocabulary, context: Context) -> bool:
    """Whether what the solution says a symbol of its own is has the value that the reference gives another.

    What the solution does not define in terms of the problem's symbols may be anything.
    """
    definitions = [
        one.expr
        for one in vocabulary.definitions
        if one.subject == atom and one.is_solved and _worth(one.expr, vocabulary.known) == 2
    ]
    if not definitions:
        return True
    worth = vocabulary.worth.get(name)
    found = [measure(expr, context, vocabulary.worth) for expr in definitions]
    return worth is not None and all(
        each is not None and each[1] == worth[1] and abs(float(each[0]) - worth[0]) <= SAME_VALUE * abs(worth[0])
        for each in found
    )


def _is_free(atom: Expr, name: str, vocabulary: Vocabulary) -> bool:
    """Whether nothing else in the solution has this name, and this symbol no other, but for what they are set equal to.

    Who writes both `R_1` and `R_a` means two things by them; who says `V = V_0` does not mean V_T by V.
    """
    others = {other for other, taken in vocabulary.names.items() if taken == name}
    others |= {one.subject for one in vocabulary.definitions if one.expr == Expr("sym", name=name)}
    equal = {one.expr for one in vocabulary.definitions if one.subject == atom}
    equal |= {one.subject for one in vocabulary.definitions if one.expr == atom}
    called = {expr.name for expr in equal if expr.op == "sym" and expr.name in vocabulary.known}
    if called:
        return name in called
    return name not in vocabulary.used and others <= equal | {atom}


def with_names(f: Formula, names: Mapping[Expr, str]) -> Formula:
    """A formula with the solution's names put as the problem's."""
    return substituted(f, {atom: Expr("sym", name=name) for atom, name in names.items()})
