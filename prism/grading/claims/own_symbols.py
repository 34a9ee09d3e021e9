r"""A solution's own symbols: those that it defines, and its names for the problem's symbols (semantics O.3, O.5).

A student who writes `u = v_0\cos\theta` and then `x = ut` has said `x = v_0 t\cos\theta`. Only fresh symbols are
eliminated, those in neither the problem nor its reference, and on the student's side only: the problem's own words
keep their meaning. A student who writes `C_{v,m}` throughout where the problem says C has said C; such a name is taken
for the problem's only where a whole formula becomes the reference's, never for the sake of a number.

Refused: eliminating what the reference derives (a final number would match everything upstream), and names that
differ in their letter (`x` for `s`): what a letter means is the reader's guess, and an RL policy would make it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import product

from prism.algebra.expr import (
    EQUALITIES,
    Expr,
    Formula,
    ops_of,
    plain_parts,
    spell,
    substitute,
    substituted,
    symbols,
    symbols_of,
    traits_of,
    walk,
)
from prism.algebra.symbols import labels_of, symbol_of
from prism.budget import charge, charge_steps
from prism.equivalence.chains.links import check_link
from prism.equivalence.context_facts import without_factor, without_power
from prism.equivalence.facts import numeric_of
from prism.equivalence.numbers.known_values import KnownValues, evaluate_with_units
from prism.equivalence.numbers.stated import StatedNumber
from prism.equivalence.statements import statements_of
from prism.physics.context import EMPTY_CONTEXT, Context

MAX_ROUNDS = 6  # of substituting definitions into one another
MAX_NODES = 300  # of a formula with definitions substituted; real ones have under 100
SAME_VALUE = 0.02  # relative: two symbols of one value, with its rounding
MAX_RENAMED = 3  # names of one formula that are taken for others
_LOOK = 40  # operations for one definition, or one node of a formula, that is looked at
_STEPS_OF_NAMES = 10  # of Python for one name that may stand for one symbol

_EXACT = frozenset(("=", "equiv"))
_GENERAL = frozenset(("differential", "integral", "contour"))
_CALLS = frozenset(("apply", "bracket"))  # one of which may be a quantity although its symbols are the problem's
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

_FONTS = frozenset(("mathcal", "mathscr", "mathfrak", "mathit", "mathsf"))


@dataclass(frozen=True, slots=True)
class Definition:
    r"""A formula of the solution that defines one of its own symbols.

    Attributes:
        subject: the symbol, or a derivative or call of fresh symbols (`\dot m`).
        expr: the defining expression.
        place: ordinal of the formula that states it.
        is_solved: it is stated of the symbol alone, or of a power of it, and not of twice the symbol.
    """

    subject: Expr
    expr: Expr
    place: int
    is_solved: bool = True


@dataclass(frozen=True)
class OwnSymbols:
    """Symbols that a solution introduces itself, with what it states of them.

    Attributes:
        definitions: in the order of the text.
        known: symbols of the problem and its reference; all others are the solution's own.
        names: names of the problem by the solution's own symbol, as far as they were learnt.
        numbers: the numbers that the solution states of its own symbols.
        used: symbols of the problem that the solution uses in formulas of their own.
        known_values: value and dimension of the reference's symbols, as far as its numbers settle them.
        letters: of the parts in whose answer each formula stands, by its ordinal; empty for common text.
        joined: ordinals of the formulas that a word such as "where" joins to the one before.
        settled: own symbols that a formula in passing sets equal to a symbol of the problem; no match settles them.
    """

    definitions: tuple[Definition, ...] = ()
    known: frozenset[str] = frozenset()
    names: Mapping[Expr, str] = field(default_factory=dict, hash=False)
    numbers: Mapping[Expr, tuple[StatedNumber, ...]] = field(default_factory=dict, hash=False)
    used: frozenset[str] = frozenset()
    known_values: KnownValues = field(default_factory=dict, hash=False)
    letters: tuple[Sequence[str], ...] = ()
    joined: frozenset[int] = frozenset()
    settled: frozenset[str] = frozenset()

    def is_in_reach(self, definition: Definition, place: int) -> bool:
        """Return True if a definition may serve formula `place`: it stands before it, or behind it in its part."""
        if definition.place <= place or not self.letters:
            return definition.place != place
        there, here = self.letters[definition.place], self.letters[place]
        return not set(here).isdisjoint(there) or not (here or there)

    @cached_property
    def of_subject(self) -> Mapping[Expr, Sequence[Definition]]:
        """The definitions of each symbol."""
        return _grouped(self.definitions, lambda definition: definition.subject)

    def first_place(self, subject: Expr, beside: int) -> int:
        """Return the ordinal of the first formula but `beside` that defines a symbol; -1 if no other one does."""
        return next((each.place for each in self.of_subject[subject] if each.place != beside), -1)

    @cached_property
    def by_expr(self) -> Mapping[Expr, Sequence[Definition]]:
        """The definitions with each defining expression."""
        return _grouped(self.definitions, lambda definition: definition.expr)


def _grouped(definitions: Iterable[Definition], key: Callable[[Definition], Expr]) -> dict[Expr, list[Definition]]:
    """Return the definitions by a key, in their order."""
    groups: dict[Expr, list[Definition]] = {}
    for definition in definitions:
        groups.setdefault(key(definition), []).append(definition)
    return groups


def collect_own_symbols(
    formulas: Iterable[Formula],
    known: frozenset[str],
    known_values: KnownValues | None = None,
    *,
    asides: Collection[int] = (),
    letters: Sequence[Sequence[str]] = (),
    joined: Collection[int] = (),
) -> OwnSymbols:
    """Collect what a solution states of its own symbols, those that the problem does not know, from its formulas.

    Args:
        known: symbols of the problem and its reference.
        known_values: value and dimension of the reference's symbols, as far as they are settled.
        asides: ordinals of formulas that the solution mentions in passing; they define nothing.
        letters: of the parts in whose answer each formula stands; empty if no part is told.
        joined: ordinals of the formulas that a word such as "where" joins to the one before.
    """
    definitions: list[Definition] = []
    numbers: dict[Expr, tuple[StatedNumber, ...]] = {}
    used: set[str] = set()
    settled: set[str] = set()
    for place, f in enumerate(formulas):
        used |= _known_symbols_used_in(f, known)
        if not fresh_quantities(f, known):
            continue
        if place not in asides:
            definitions += _definitions_in(f, place, known)
        elif is_alias(f):
            settled |= symbols_of(f) - known
        for statement in statements_of(f):
            numeric = numeric_of(statement.formula)
            if numeric is not None and is_fresh(numeric.subject, known):
                numbers[numeric.subject] = (*numbers.get(numeric.subject, ()), numeric.number)
    return OwnSymbols(
        tuple(definitions), known, {}, numbers, frozenset(used), known_values or {}, tuple(letters), frozenset(joined),
        frozenset(settled),
    )  # fmt: skip


def _known_symbols_used_in(f: Formula, known: frozenset[str]) -> frozenset[str]:
    r"""Return those of the problem's symbols (`known`) that a formula calculates with.

    `R_a = R_1` and `R_1 = 5` use none, nor does a symbol within a quantity of the solution's own, nor a law in
    differentials: the T of `dS = \delta Q/T` is any temperature.
    """
    parts = [part for part in plain_parts(f) if not is_alias(part) and numeric_of(part) is None]
    parts = [part for part in parts if traits_of(part).ops.isdisjoint(_GENERAL)]
    used: set[str] = set()
    stack = [member for part in parts for member in part.members]
    while stack:
        node = stack.pop()
        if node.op == "sym":
            used.add(node.name)
        elif not (is_fresh(node, known) or _is_mean_value(node)):
            stack.extend(node.args)
    return frozenset(used & known)


def is_alias(f: Formula) -> bool:
    """Return True if a formula only sets one symbol or mean value equal to another, as `R = R_T`."""
    return f.kind == "equation" and all(member.op == "sym" or _is_mean_value(member) for member in f.members)


def _definitions_in(f: Formula, place: int, known: frozenset[str]) -> Iterator[Definition]:
    """Yield the definitions that one formula states, the best one for each symbol that the problem does not know.

    Best is a symbol of the problem (`R = R_T`), then an expression of such symbols, then another one, then a number.
    """
    best: dict[Expr, Definition] = {}
    for part in plain_parts(f) if f.kind != "alternatives" else ():
        stated = list(_definitions_of_members(part, place, known))
        if not stated or _has_refuted_link(part):
            continue  # `\eta = 1 = 3` settles nothing
        for new in stated:
            held = best.get(new.subject)
            if held is None or _definition_rank(new, known) > _definition_rank(held, known):
                best[new.subject] = new
    yield from best.values()


def _definitions_of_members(part: Formula, place: int, known: frozenset[str]) -> Iterator[Definition]:
    """Yield what neighbouring members of a formula say of symbols that the problem does not know, as definitions."""
    for left, right, relation in zip(part.members, part.members[1:], part.relations, strict=False):
        if relation not in EQUALITIES:
            continue
        for one, two in ((left, right), (right, left)):
            alone, rest = without_factor(one, two)
            subject, other = without_power(alone, rest, EMPTY_CONTEXT)
            if not is_fresh(subject, known) or any(node == subject for node in walk(other)):
                continue
            if not symbols(other) and subject != alone and not (alone.args[1].value or 1) % 2:
                continue  # \zeta^2 = 1 leaves both signs
            if relation not in _EXACT and not symbols(other):
                continue  # a number that holds approximately is a value, `\mu \approx m` says what is meant
            yield Definition(subject, other, place, is_solved=alone == one)


def _has_refuted_link(f: Formula) -> bool:
    """Return True if two neighbouring members of a chain are other numbers, or a multiple of each other."""
    pairs = zip(f.members[1:], f.members[2:], strict=False) if f.kind == "chain" else ()
    return any(check_link(one, other, EMPTY_CONTEXT).status == "refuted" for one, other in pairs)


def _definition_rank(definition: Definition, known: frozenset[str]) -> tuple[int, bool]:
    """Return the sort key of alternative definitions of a symbol, best highest: by expression, then solved."""
    return _expression_rank(definition.expr, known), definition.is_solved


def _expression_rank(expr: Expr, known: frozenset[str]) -> int:
    """Rank a defining expression: 3 for one symbol of the problem, 2 for an expression of such symbols only.

    1 for an expression with other symbols, and 0 for a number. `known` are the symbols of the problem.
    """
    if expr.op == "sym" and expr.name in known:
        return 3
    names = symbols(expr)
    return 2 if names and names <= known else 1 if names else 0


def is_fresh(node: Expr, known: frozenset[str]) -> bool:
    """Return True if an expression node is one quantity that the solution introduces itself.

    That is a symbol, call, derivative or the like without symbols in `known`, the symbols of the problem.
    """
    if node.op not in _ATOMS:
        return False
    if _is_event(node):
        return node.name not in known
    return bool(symbols(node)) and (symbols(node) | {node.name}).isdisjoint(known)


def _is_event(node: Expr) -> bool:
    r"""Return True for a function of a relation, as `\operatorname{Prob}(0 \le x \le a)`: it is one quantity."""
    return node.op == "apply" and len(node.args) == 1 and node.args[0].op == "relation"


def _is_mean_value(node: Expr) -> bool:
    r"""Return True for the mean value of a symbol, such as `\langle T\rangle`, which a problem may call T."""
    return node.op == "bracket" and len(node.args) == 1 and node.args[0].op == "sym"


def fresh_quantities(f: Formula, known: frozenset[str]) -> tuple[Expr, ...]:
    r"""List the quantities of a formula that the problem does not know, in order: `\dot q` for q unknown, and not q.

    The mean value of any symbol is one of them, since the problem may write T for `\langle T\rangle`.
    """
    found: dict[Expr, None] = {}
    stack = [member for part in plain_parts(f) for member in part.members][::-1]
    while stack:
        node = stack.pop()
        if symbols(node) <= known and ops_of(node).isdisjoint(_CALLS):
            continue
        if is_fresh(node, known) or _is_mean_value(node):
            found[node] = None
        else:
            stack.extend(reversed(node.args))
    return tuple(found)


# Definitions. ---------------------------------------------------------------------------------------------------


def expansions_of(f: Formula, own: OwnSymbols, place: int) -> dict[Formula, tuple[str, ...]]:
    r"""Substitute the solution's definitions into a formula: map each result to the definitions used, in words.

    Each symbol has one definition: the nearest before its use, else the first after it. Where a symbol has several,
    a second result uses the first of all: `\delta = 2t` says what \delta is, `\delta = m\lambda` what follows; not
    where the two have the same symbols, for then the later one takes the first back. A symbol that the formula itself
    defines stays, or the formula would become a tautology. Empty if no symbol of the formula is defined.

    Args:
        place: ordinal of the formula in the solution.
    """
    expansions: dict[Formula, tuple[str, ...]] = {}
    met: set[Expr] = set()
    for first in (False, True):
        expanded = _with_definitions_substituted(f, own, place, met, first=first)
        if expanded is not None:
            expansions.setdefault(*expanded)
        if all(len(own.of_subject[subject]) == 1 for subject in met):
            break  # there is no other choice of definitions
    return expansions


def _with_definitions_substituted(
    f: Formula, own: OwnSymbols, place: int, met: set[Expr], *, first: bool
) -> tuple[Formula, tuple[str, ...]] | None:
    """Return a formula with the solution's definitions substituted, and the definitions in words; None if none applies.

    Args:
        place: ordinal of the formula in the solution.
        met: collects the defined symbols that are met.
        first: prefer the first definition of each symbol to the nearest.
    """
    if f.parts:
        parts = [_with_definitions_substituted(part, own, place, met, first=first) for part in f.parts]
        if not any(parts):
            return None
        formulas = tuple(old if new is None else new[0] for old, new in zip(f.parts, parts, strict=True))
        return replace(f, parts=formulas), tuple(dict.fromkeys(text for new in parts if new for text in new[1]))
    readings: dict[str, None] = {}
    members = f.members
    used: set[Expr] = set()
    for _ in range(MAX_ROUNDS):
        nodes = dict.fromkeys(node for member in members for node in walk(member))
        charge(_LOOK * len(nodes))
        subjects = [node for node in nodes if node in own.of_subject and node not in used]
        met.update(subjects)
        put: dict[Expr, Expr] = {}
        for subject in sorted(subjects, key=lambda subject: own.first_place(subject, place)):
            definition = _definition_in_force(own, subject, place, first=first)
            if definition is not None:
                put[subject] = definition.expr
        if not put:
            break
        used |= put.keys()
        new_members = tuple(substitute(member, {**put}) for member in members)
        if sum(member.size for member in new_members) > MAX_NODES:
            break
        members = new_members
        readings |= dict.fromkeys(
            f"definition: {spell(subject)} = {spell(expr)} (solution)" for subject, expr in put.items()
        )
    return (replace(f, members=members), tuple(readings)) if readings else None


def _definition_in_force(own: OwnSymbols, subject: Expr, place: int, *, first: bool) -> Definition | None:
    r"""Return the definition of a symbol for the formula of ordinal `place`; None if no other formula defines it.

    That is one joined right behind it ("where $k = 2$"), else the nearest before it (with `first`, the first of all),
    else the first one after it in its part, if those there agree.

    A symbol that is set equal to one of the problem has that meaning everywhere: `\mathcal{E} \equiv E` precedes all
    other definitions. Not where the symbol has been defined before its use and is set equal to one of the problem only
    afterwards: of `s = L - x`, and `s = L` at the end of a bar, the second is a value at one place.
    """
    chosen: Definition | None = None
    reached = [each for each in own.of_subject[subject] if own.is_in_reach(each, place)]
    for new in reached:
        charge(_LOOK)
        is_nearer = new.place < place and not (first and not _has_same_symbols(new, chosen))
        is_alias = _is_alias_of_known(new, own)
        is_name = is_alias and (new.place < place or not _is_formula_before(chosen, place))
        if chosen is None or is_nearer or is_name:
            chosen = new
            if is_alias:
                break
    beside = next((each for each in reached if each.place == place + 1 and each.place in own.joined), None)
    is_name = chosen is not None and _is_alias_of_known(chosen, own)
    if beside is not None and not is_name and (not first or _has_same_symbols(beside, chosen)):
        chosen = beside
    if chosen is not None and chosen.place > place:
        # what stands below all parts defines nothing for one of them, and may take back a definition that does
        common = [each for each in own.of_subject[subject] if own.letters and not own.letters[each.place]]
        others = [each for each in (*reached, *common) if chosen is not beside or each.place > place]
        if not all(_agree(chosen, each, own) for each in others):
            return None
    return chosen


def _agree(one: Definition, other: Definition, own: OwnSymbols) -> bool:
    """Return True if two definitions of a symbol may both hold: two formulas or two numbers only if they are equal."""
    are_unlike = bool(symbols(one.expr)) != bool(symbols(other.expr))
    if one is other or are_unlike or _is_alias_of_known(one, own) != _is_alias_of_known(other, own):
        return True
    link = check_link(one.expr, other.expr, EMPTY_CONTEXT)
    return link.status == "confirmed" or link.reason == "rounding"


def _has_same_symbols(new: Definition, old: Definition | None) -> bool:
    """Return True if two definitions of a symbol have the same symbols on the right; False if `old` is None."""
    return old is not None and symbols(new.expr) == symbols(old.expr)


def _is_formula_before(definition: Definition | None, place: int) -> bool:
    """Return True if a definition gives a formula, not a number, and stands before the formula of ordinal `place`."""
    return definition is not None and definition.place < place and bool(symbols(definition.expr))


def _is_alias_of_known(definition: Definition, own: OwnSymbols) -> bool:
    """Return True if a definition sets its symbol equal to one symbol of the problem, as `R = R_T`."""
    return definition.expr.op == "sym" and definition.expr.name in own.known


# Names. ---------------------------------------------------------------------------------------------------------


@lru_cache(4096)
def letter_of(name: str) -> str:
    r"""Return the letter of a symbol without index, prime and font; accents stay, as they distinguish symbols.

    A difference has the letter of its quantity: `\Delta H` is no other name for `\Delta U`.

    >>> letter_of("C_{v,m}"), letter_of("P'_e"), letter_of(r"\tilde{\nu}_0"), letter_of(r"\Delta T_a")
    ('C', 'P', '\\tilde{\\nu}', '\\Delta T')
    """
    read = symbol_of(name)
    inner = symbol_of(read.base)
    base = inner.base if inner.style in _FONTS else read.base
    return read.change + (base if not read.style or read.style in _FONTS else rf"\{read.style}{{{base}}}")


def _index_labels(name: str) -> tuple[str, ...]:
    """Return the letters and digits in the subscript of a symbol, without commands."""
    return tuple(label for label in labels_of(symbol_of(name).sub) if label[0] != "\\")


@lru_cache(4096)
def may_denote(fresh: Expr, name: str) -> bool:
    r"""Return True if a solution's own symbol may mean the problem's symbol `name`: same letter, or a usual variant.

    `v_1` may mean `v_0`, `\langle T\rangle` T. Never with a prime or without a letter, nor `x_\mu` for `x^\mu`.
    """
    own = fresh.args[0].name if _is_mean_value(fresh) else fresh.name if fresh.op in ("sym", "apply") else ""
    if not own or "'" in own or "'" in name:
        return False
    heights = [[sum(label[0] == "\\" for label in labels_of(script)) for script in (read.sub, read.sup)]
               for read in (symbol_of(own), symbol_of(name))]  # fmt: skip
    if heights[0] != heights[1] and all(map(any, heights)):
        return False
    letter, variants = letter_of(own), _VARIANTS.get(letter_of(name), frozenset())
    if _is_mean_value(fresh) and letter_of(name) == rf"\bar{{{letter}}}":
        return True
    return letter == letter_of(name) or own in variants or letter in variants


def _indices_agree(fresh: Expr, name: str) -> bool:
    """Return True if one symbol's index begins with the other's, as `P_{external}` and `P_e`, or both have none."""
    a, b = _index_labels(fresh.name), _index_labels(name)
    return bool(a) == bool(b) and all(one == other for one, other in zip(a, b, strict=False))


@dataclass(frozen=True, slots=True)
class OwnNames:
    """The quantities of one claim that the problem does not know: which of its symbols they may mean.

    Attributes:
        members: of the claim.
        taken: those whose name is learnt, with the problem's symbol.
        open: the others.
        beside: symbols that none of these may mean: the claim's own beside them, and the names that are taken.
        denotable: for each of the open ones the problem's symbols of such a letter.
    """

    members: tuple[Expr, ...]
    taken: Mapping[Expr, str]
    open: tuple[Expr, ...]
    beside: frozenset[str]
    denotable: tuple[frozenset[str], ...]


def own_names_of(claim: Formula, atoms: Sequence[Expr], own: OwnSymbols) -> OwnNames:
    """Return what the quantities `atoms` of a claim, unknown to the problem, may mean."""
    taken = {atom: own.names[atom] for atom in atoms if atom in own.names}
    beside = symbols(*claim.members).difference([node.name for atom in atoms for node in walk(atom)])
    still_open = tuple([atom for atom in atoms if atom not in taken])
    few = still_open if len(still_open) <= MAX_RENAMED else ()
    denotable = [frozenset([name for name in own.known if may_denote(atom, name)]) for atom in few]
    return OwnNames(claim.members, taken, still_open, beside.union(taken.values()), tuple(denotable))


def renamings(reference: Formula, claim: OwnNames, own: OwnSymbols, context: Context) -> Iterator[dict[Expr, str]]:
    """Yield the ways to rename the own symbols of a claim to symbols that only the reference has, one-to-one.

    Only the ways whose indices agree best, always with the names already learnt. A symbol that the solution defines is
    not renamed, unless the claim is its definition, or both have the same value by the numbers of the problem.
    """
    charge_steps(_STEPS_OF_NAMES)
    if not claim.open:
        if claim.taken:
            yield dict(claim.taken)
        return
    if len(claim.open) > MAX_RENAMED:
        return
    candidates = symbols_of(reference) - claim.beside
    if not len(claim.open) <= len(candidates) <= MAX_RENAMED:
        return
    charge_steps(_STEPS_OF_NAMES * len(claim.open) * len(candidates))
    if any(map(candidates.isdisjoint, claim.denotable)):
        return
    possible = [
        [
            name for name in sorted(candidates & names)
            if _may_take_name(atom, name, own)
            and (atom in claim.members or _agrees_in_value(atom, name, own, context))
        ]
        for atom, names in zip(claim.open, claim.denotable, strict=True)
    ]  # fmt: skip
    charge_steps(math.prod(map(len, possible)))
    ways = [
        dict(zip(claim.open, chosen, strict=True)) for chosen in product(*possible) if len(set(chosen)) == len(chosen)
    ]
    misfits = [sum(not _indices_agree(atom, name) for atom, name in pairs.items()) for pairs in ways]
    for pairs, n_misfit in zip(ways, misfits, strict=True):
        if n_misfit == min(misfits):
            yield {**claim.taken, **pairs}


def _agrees_in_value(atom: Expr, name: str, own: OwnSymbols, context: Context) -> bool:
    """Return True if the solution defines `atom`, an own symbol, with the value that the reference gives `name`.

    Also if no definition of `atom` uses the problem's symbols alone: then nothing speaks against the name.
    """
    definitions = [
        definition.expr
        for definition in own.of_subject.get(atom, ())
        if definition.is_solved and _expression_rank(definition.expr, own.known) == 2
    ]
    if not definitions:
        return True
    wanted = own.known_values.get(name)
    values = [evaluate_with_units(expr, context, own.known_values) for expr in definitions]
    return wanted is not None and all(
        value is not None and value[1] == wanted[1] and abs(float(value[0]) - wanted[0]) <= SAME_VALUE * abs(wanted[0])
        for value in values
    )


def _may_take_name(atom: Expr, name: str, own: OwnSymbols) -> bool:
    """Return True if own symbol `atom` may mean the problem's symbol `name`, as neither means something else.

    A solution that uses both `R_1` and `R_a` means two things by them, unless it sets them equal; one with `V = V_0`
    does not mean V_T by V.
    """
    if not own.settled.isdisjoint(symbols(atom)):
        return False
    others = {other for other, taken in own.names.items() if taken == name}
    others |= {definition.subject for definition in own.by_expr.get(Expr("sym", name=name), ())}
    equal = {definition.expr for definition in own.of_subject.get(atom, ())}
    equal |= {definition.subject for definition in own.by_expr.get(atom, ())}
    aliases = {expr.name for expr in equal if expr.op == "sym" and expr.name in own.known}
    if aliases:
        return name in aliases
    return name not in own.used and others <= equal | {atom}


def with_names(f: Formula, names: Mapping[Expr, str]) -> Formula:
    """Return a formula with symbols renamed; `names` maps the solution's own symbols to symbols of the problem."""
    return substituted(f, {atom: Expr("sym", name=name) for atom, name in names.items()})
