r"""What each statement of a claim asserts of a node: it supports it, contradicts it, leaves it open, or is neutral.

A reduction of the match matrix at its finest grain: the readings of a statement (as written, with definitions
substituted, under other names) beside the parts of a node. Statements about other quantities are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from prism.algebra.expr import (
    EQUALITIES,
    Expr,
    Formula,
    formula,
    number,
    plain_parts,
    substitute,
    substituted,
    symbol,
    symbols,
    symbols_of,
    walk,
)
from prism.algebra.symbols import HAT, VECTOR, symbol_of
from prism.budget import charge_steps
from prism.equivalence.added_conditions import has_unevaluated
from prism.equivalence.context_facts import facts_of_context
from prism.equivalence.facts import is_free_function, numeric_of
from prism.equivalence.features import claimed_number
from prism.equivalence.numbers.comparison import compare_numbers
from prism.equivalence.numbers.known_values import closed_form_number, root_near
from prism.equivalence.numbers.stated import Numeric, is_subject
from prism.equivalence.statements import Statement, statements_of
from prism.equivalence.verdict import Status, Verdict
from prism.grading.claims.claim import Claim, n_unaccounted, with_left_side
from prism.grading.claims.own_symbols import OwnSymbols, fresh_quantities, may_denote, with_names
from prism.grading.claims.restatements import shuts_out
from prism.grading.match_matrix import CellTable, MatchMatrix
from prism.grading.references import MAX_IDLE, MatchTask, ReferenceNode
from prism.physics.context import Context

FAR = 0.05  # relative: a number further away is another one, where it is not stated but follows (`2E = 1 MeV`)
_IDLE_TRIALS = ((2, 3), (7, 5))  # values of symbols that may divide out: no ratio, product, sum or difference in common
_WITH_IDLE = ("equation", "inequality")  # kinds of formula out of which a symbol may divide
_EXACT = frozenset(("=", "equiv"))
_STYLES = frozenset((VECTOR, HAT, "mathcal"))
_STEPS = 10  # of one reading beside one part of a node, besides their cell
_CONTRADICTIONS = frozenset(("witness", "other_number", "dimension", "other_factor", "ratio", "exact", "opposite_side"))
"""Reasons of a difference by which two formulas of the same symbols contradict each other."""


_ONE_TO_ONE = frozenset(("ln", "log10", "exp", "sqrt", "sinh", "atan"))
_OPERATIONS = frozenset(("integral", "contour", "sum", "product", "limit", "commutator"))
_DERIVATIVES = frozenset(("derivative", "partial"))


class Stance(StrEnum):
    """How a statement relates to a node about the same quantity.

    SUPPORTS: it states what the node states. CONTRADICTS: it states something different about the same quantity.
    UNKNOWN: it uses the same symbols, but equivalence is undecided. NEUTRAL: it gives the node's quantity by other
    variables, or only a part of the node, and contradicts nothing.
    """

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    UNKNOWN = "unknown"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class Assertion:
    """What one statement of a solution says about one node. The attributes from `place` on are set by `selection`.

    Attributes:
        statement: as it is written, such as `v = 2` of `t = 1, v = 2`; all of a formula where only all of it matches.
        stance: towards the node.
        is_number: it gives a number, not a formula.
        is_solved: it is solved for the node's quantity.
        is_approximate: its relation sign says that it holds approximately.
        is_unfinished: it leaves to be worked out what the node has worked out.
        has_same_symbols: it has the symbols of the node, all and no other, one of which the node is solved for.
        is_other: it is decided to be another formula of the node's quantity, though it may be true beside the node.
        place: ordinals of its formula in the text, and of the statement within that formula.
        letters: marks of the parts in whose answer it stands.
        is_presented: it stands in a box, or is announced as the answer.
        is_in_passing: its sentence mentions it in passing.
        is_broken: its chain has a refuted link between its two members, such as `2 = 3`.
        is_copy: it only repeats what the problem says.
        is_conditioned: the formula behind it ties its letters.
        names_case: words of its clause name a case that cannot be checked.
    """

    statement: Statement
    stance: Stance
    is_number: bool = False
    is_solved: bool = False
    is_approximate: bool = False
    is_unfinished: bool = False
    has_same_symbols: bool = False
    is_other: bool = False
    place: tuple[int, int] = (0, 0)
    letters: tuple[str, ...] = ()
    is_presented: bool = False
    is_in_passing: bool = False
    is_broken: bool = False
    is_copy: bool = False
    is_conditioned: bool = False
    names_case: bool = False


@dataclass(frozen=True, slots=True)
class _ReadStatement:
    """One statement of a claim with all formulas that it may be read as.

    Attributes:
        statement: as it is written.
        readings: its formula as written, with the solution's definitions substituted, and with own symbols renamed.
        names: symbols of the readings.
        quantities: quantities that a side of a reading is about.
        is_number: a reading gives a number.
    """

    statement: Statement
    readings: tuple[Formula, ...]
    names: frozenset[str]
    quantities: frozenset[Expr]
    is_number: bool


def _read_statement(statement: Statement, readings: Sequence[Formula], context: Context) -> _ReadStatement:
    """Bundle a statement with its readings, their symbols, and the quantities that a side of a reading is about."""
    distinct = tuple(dict.fromkeys(readings))
    return _ReadStatement(
        statement=statement,
        readings=distinct,
        names=frozenset[str]().union(*(symbols(*f.members) for f in distinct)),
        quantities=frozenset(quantity_of(side) for f in distinct if len(f.members) == 2 for side in f.members),
        is_number=any(claimed_number(f, context) or closed_form_number(f) for f in distinct),
    )


def assertions_of(matrix: MatchMatrix, k: int, nodes: Iterable[ReferenceNode]) -> dict[int, tuple[Assertion, ...]]:
    """Map each node's index to what the statements of the k-th claim assert of it: support, contradiction, and so on.

    Statements about other quantities than the node's are left out.

    Empty for a node at which the engine failed on the claim, which `matrix.incidents` reports.
    """
    claim, row, own = matrix.claims[k], matrix.rows[k], matrix.own_symbols
    written = statements_of(claim.formula)
    forms = [written]
    forms += [more for f in claim.expansions if len(more := statements_of(f)) == len(written)]
    statements = []
    for n, statement in enumerate(written):
        readings = [form[n].formula for form in forms]
        readings += [bare for f in readings if (bare := _without_function(f)) is not None]
        if own.names:
            readings += [with_names(reading, own.names) for reading in readings]
        statements.append(_read_statement(statement, readings, matrix.cells.task.context))
    return {
        node.index: _assertions_on_node(claim, statements, node, matrix, is_match=row[node.index].is_match)
        if node.index in row
        else ()
        for node in nodes
    }


def _without_function(f: Formula) -> Formula | None:
    r"""Return `a = b` for `\ln a = \ln b` and other functions that take no value twice; None for other formulas."""
    if f.kind != "equation" or len({side.op for side in f.members}) > 1 or f.members[0].op not in _ONE_TO_ONE:
        return None
    return formula(tuple(side.args[0] for side in f.members), f.relations, f.latex, f.depends)


def _assertions_on_node(
    claim: Claim, statements: Sequence[_ReadStatement], node: ReferenceNode, matrix: MatchMatrix, *, is_match: bool
) -> tuple[Assertion, ...]:
    """Return what the statements of a claim assert of a node, without those about other quantities.

    If the claim matches the node (`is_match`) and no single statement does, the whole formula is one assertion more.
    """
    assertions = []
    explained = {f.members for wanted in node.formulas for each in statements_of(wanted) for f in each.conditions}
    for plain in statements:
        if plain.statement.formula.members in explained:
            continue
        if _is_denied(plain.statement, node, matrix.cells):
            assertions.append(Assertion(plain.statement, Stance.CONTRADICTS, node.is_number, is_solved=True))
            continue
        read = plain
        more = [other for f in plain.readings for other in _with_taken_names(f, node, matrix.own_symbols)]
        if more:
            read = _read_statement(plain.statement, (*plain.readings, *more), matrix.cells.task.context)
        is_bare = read.statement.formula.kind == "expression"
        is_solved = _is_solved(read, node, matrix.own_symbols.known) or (is_bare and claim.is_committed)
        if plain.statement.is_union:  # of several values, each under the name of the quantity
            named = (quantity_of(side) for part in claim.formula.parts for side in part.members)
            is_solved = is_solved or not node.subjects.isdisjoint(named)
        if is_solved or not node.names.isdisjoint(read.names):
            stance = _stance(read, node, matrix.cells, claim, is_match=is_match, is_solved=is_solved)
            if is_solved or stance != Stance.NEUTRAL:
                is_approximate = _is_approximate(read.statement)
                is_unfinished = stance == Stance.SUPPORTS and is_less_evaluated(read.statement, node)
                is_number = read.is_number or _speaks_of_number(read, node, stance)
                same = {symbols_of(wanted) for wanted in node.formulas}
                has_same_symbols = is_solved_for_symbol(node) and any(symbols_of(f) in same for f in plain.readings)
                is_other = is_solved and stance == Stance.NEUTRAL and _is_other_formula(read, node, matrix.cells)
                assertions.append(
                    Assertion(
                        read.statement, stance, is_number, is_solved, is_approximate, is_unfinished, has_same_symbols,
                        is_other,
                    )
                )  # fmt: skip
    if is_match and not any(assertion.stance == Stance.SUPPORTS for assertion in assertions):
        sides = list(claim.formula.members) if len(claim.formula.members) == 2 else []
        is_solved = not node.subjects.isdisjoint(map(quantity_of, sides))
        whole = Statement(claim.formula)
        assertions.append(
            Assertion(
                whole, Stance.SUPPORTS, is_solved=is_solved, is_unfinished=is_less_evaluated(whole, node),
                has_same_symbols=symbols_of(claim.formula) == node.all_names,
            )
        )  # fmt: skip
    return tuple(assertions)


def _is_other_formula(read: _ReadStatement, node: ReferenceNode, cells: CellTable) -> bool:
    """Return True if a statement differs from a node and has only symbols of it, or that nothing ties to them.

    It has not the quantity alone. What a derivative of the node leaves undecided, and has none, is another too.
    """
    return any(
        len(symbols_of(stated)) > 1
        and symbols_of(stated) != symbols_of(wanted)
        and symbols_of(stated) - cells.task.free <= symbols_of(wanted)
        and (status := cells.cell(node, wanted, stated).status) != Status.EQUIVALENT
        and (status == Status.DIFFERENT or (has_unevaluated(wanted) and not has_unevaluated(stated)))
        for wanted in node.formulas
        for stated in read.readings
    )


def _speaks_of_number(read: _ReadStatement, node: ReferenceNode, stance: Stance) -> bool:
    """Return True if a statement gives the quantity of a numeric node, alone, another number: `2E = 1 MeV`."""
    return stance == Stance.CONTRADICTS and node.is_number and read.names == node.all_names


def _is_denied(statement: Statement, node: ReferenceNode, cells: CellTable) -> bool:
    r"""Return True if a statement denies what the node says: `v_f \ne \sqrt{2gh}`, or a bound that shuts it out."""
    f = statement.formula
    if len(f.members) != 2:
        return False
    if f.relations == ("!=",):
        equation = formula(f.members, ("=",), f.latex, f.depends)
        return any(cells.cell(node, wanted, equation).is_match for wanted in node.formulas)
    return f.kind == "inequality" and any(shuts_out(f, wanted, cells.task.context) for wanted in node.formulas)


# Worked out. ------------------------------------------------------------------------------------------------------


def is_less_evaluated(statement: Statement, node: ReferenceNode) -> bool:
    """Return True if a statement leaves to be worked out what the node has worked out (semantics F.6).

    That is an integral, a sum, a product, a limit, a commutator or the derivative of a given expression where the node
    has none; or an equation or inequality with the asked symbol in several places for a node that is solved for it.
    """
    stated = statement.formula
    operations = _operations_in(stated) - frozenset[str]().union(*map(_operations_in, node.formulas))
    if operations and not any(_has_special_function(each) for each in node.formulas):
        return True
    names = frozenset[str]().union(*map(_isolated_in, node.formulas))
    return not statement.is_union and any(
        _n_places(name, part) > 1 for part in plain_parts(stated) for name in names & symbols(*part.members)
    )


def _n_places(name: str, f: Formula) -> int:
    """Count how often a symbol is written in the members of a formula."""
    return sum(node.op == "sym" and node.name == name for member in f.members for node in walk(member))


def _isolated_in(f: Formula) -> frozenset[str]:
    """Return the symbols that stand alone, and in no other member, in all parts of a formula."""
    found = [
        {m.name for m in part.members if m.op == "sym"}.difference(*(symbols(m) for m in part.members if m.args))
        for part in plain_parts(f)
    ]
    return frozenset(found[0].intersection(*found[1:])) if found else frozenset()


def _operations_in(f: Formula) -> frozenset[str]:
    """Return those of the operations in a formula that can be carried out; a derivative only of what is given."""
    nodes = [node for part in plain_parts(f) for member in part.members for node in walk(member)]
    found = {node.op for node in nodes if node.op in _OPERATIONS}
    if any(node.op in _DERIVATIVES and not is_subject(node.args[0]) and node.args[0].args for node in nodes):
        found.add("derivative")
    return frozenset(found)


def _has_special_function(f: Formula) -> bool:
    """Return True if a formula has a function that is defined by an integral or a sum, such as `erf`."""
    nodes = (node for part in plain_parts(f) for member in part.members for node in walk(member))
    return any(node.op == "apply" and not is_free_function(node.name) for node in nodes)


def is_solved_for_symbol(node: ReferenceNode) -> bool:
    """Return True if a node is about symbols, and not about a construct such as a derivative."""
    return bool(node.subjects) and all(each.op == "sym" for each in node.subjects)


def _is_approximate(statement: Statement) -> bool:
    """Return True if the only equality signs of a statement are approximate ones."""
    relations = statement.formula.relations
    return _EXACT.isdisjoint(relations) and not EQUALITIES.isdisjoint(relations)


def _with_taken_names(f: Formula, node: ReferenceNode, own: OwnSymbols) -> Iterator[Formula]:
    r"""Yield a formula with an own symbol of the solution replaced by a subject of the node that another one means.

    If `v_1` means the problem's v, `v_2 = 3` is read as `v = 3` too: a solution with `v_1 = ...`, `v_2 = ...` and
    `v_3 = ...` lists three guesses for v. So it is with `\cos v_1` where the node is solved for `\cos v`.
    """
    if not own.names:
        return
    asked = symbols(*node.subjects).intersection(own.names.values())
    for member in f.members if asked else ():
        atoms = fresh_quantities(formula((member,), ()), own.known)
        if len(atoms) != 1 or atoms[0] in own.names:
            continue
        for name in sorted(asked):
            if may_denote(atoms[0], name) and substitute(member, {atoms[0]: symbol(name)}) in node.subjects:
                yield with_names(f, {atoms[0]: name})


def _stance(
    read: _ReadStatement, node: ReferenceNode, cells: CellTable, claim: Claim, *, is_match: bool, is_solved: bool
) -> Stance:
    """Decide the stance of one statement towards a node, by comparing each of its readings with each part of the node.

    The first of SUPPORTS, NEUTRAL, CONTRADICTS and UNKNOWN that some comparison gives; NEUTRAL if none does.

    Args:
        claim: the formula that contains the statement.
        is_match: the claim as a whole matches the node.
        is_solved: the statement is solved for a subject of the node.
    """
    stances: set[Stance] = set()
    for part in node.parts:
        for reading in read.readings:
            charge_steps(_STEPS)
            stated = with_left_side(part, reading, is_committed=claim.is_committed)
            stated = _without_idle_symbols(part, _with_constants_of(part, stated, cells.task.context), cells)
            cell = cells.cell(node, part, stated)
            if cell.is_match:
                if part not in node.formulas:
                    stances.add(Stance.NEUTRAL)
                elif is_match:
                    stances.add(Stance.SUPPORTS)
            elif cell.status == Status.UNDECIDED and symbols_of(part) <= symbols_of(stated):
                stances.add(Stance.UNKNOWN)
            elif cell.status == Status.DIFFERENT and Stance.CONTRADICTS not in stances:
                # a symbol does not divide out of the formula that is differentiated in it
                wanted = part if has_unevaluated(part) else _without_idle_symbols(stated, part, cells)
                if _contradicts(wanted, stated, cell.verdict, node, cells.task, is_solved=is_solved):
                    stances.add(Stance.CONTRADICTS)
    order = (Stance.SUPPORTS, Stance.NEUTRAL, Stance.CONTRADICTS, Stance.UNKNOWN)
    return next((stance for stance in order if stance in stances), Stance.NEUTRAL)


def _contradicts(
    wanted: Formula, stated: Formula, verdict: Verdict, node: ReferenceNode, task: MatchTask, *, is_solved: bool
) -> bool:
    """Return True if a statement that does not match a formula of a node states something different about its quantity.

    Args:
        wanted: the node's formula.
        stated: the statement's formula.
        verdict: of their comparison, not equivalent.
        is_solved: the statement is solved for a subject of the node.
    """
    if verdict.reason == "unstated":  # it gives no number yet, but its value is another one
        expected, value = numeric_of(wanted), closed_form_number(stated)
        if expected is None:
            return False
        if value is None or expected.subject != value.subject:
            return _is_far_from(expected, stated, task.context)
        return compare_numbers(expected, value.number, node.number_spec).status == Status.DIFFERENT
    if verdict.reason == "identity" and is_solved and not symbols_of(wanted):
        return True
    if verdict.status != Status.DIFFERENT or verdict.reason not in _CONTRADICTIONS:
        return False
    if _is_of_function(stated, wanted, node):
        return False
    if symbols_of(stated) == symbols_of(wanted):
        return True
    if wanted.kind == "inequality" and stated.kind == "equation":
        return False  # a value within the bound, `n = 2 + \epsilon` beside `n < 3`, is a case of it
    # a formula by other givens contradicts nothing; a number is the value of all of them
    uses_givens = node.is_number or claimed_number(stated, task.context) or closed_form_number(stated)
    context = task.context if uses_givens else task.context_without_givens
    return is_solved and not n_unaccounted(wanted, stated, context)


def _is_of_function(stated: Formula, wanted: Formula, node: ReferenceNode) -> bool:
    r"""Return True if a statement is about a function: `s(t_f) = h`, or `\int u\,dr` where the node has u by r."""
    subjects, names = symbols(*node.subjects), symbols_of(wanted)
    return any(
        (each.op == "apply" and not subjects.isdisjoint(symbols(*each.args)))
        or (each.op == "integral" and each.args[1].name in names and not subjects.isdisjoint(symbols(each.args[0])))
        for member in stated.members
        for each in walk(member)
    )


def _is_far_from(expected: Numeric, stated: Formula, context: Context) -> bool:
    """Return True if an equation of one quantity alone, as `2E = 1 MeV`, gives it another number than expected."""
    name, number = expected.subject.name, expected.number
    if expected.subject.op != "sym" or symbols_of(stated) != {name} or stated.kind != "equation":
        return False
    root = root_near(stated, name, float(number.in_si), number.dimension, context, {})
    return root is not None and abs(root - float(number.in_si)) > FAR * abs(float(number.in_si))


def _is_solved(read: _ReadStatement, node: ReferenceNode, known: frozenset[str]) -> bool:
    r"""Return True if a side of a statement is about a subject of the node, the quantity that it is solved for.

    A subject in another style, such as `\hat v_f` for `v_f`, is the same one unless the problem knows it. For a
    statement that gives a number where the node asks for a formula, any symbol of the node will do.

    Args:
        known: symbols of the problem and its reference.
    """
    sides = (side for f in read.readings if len(f.members) == 2 for side in f.members)
    if not (node.subjects.isdisjoint(read.quantities) and node.subjects.isdisjoint(sides)):
        return True
    names = {each.name for each in node.subjects if each.op == "sym"}
    own = (symbol_of(each.name) for each in read.quantities if each.op == "sym" and each.name not in known)
    if not names.isdisjoint(each.unstyled if each.style in _STYLES else each.name for each in own):
        return True
    is_value = read.is_number and not node.is_number
    return is_value and any(each.op == "sym" and each.name in node.all_names for each in read.quantities)


def quantity_of(side: Expr) -> Expr:
    """Return the one quantity that a side is about: `v` of `-v`, `2v`, `v^2` and `v(h)`; else the side itself."""
    while side.op in ("neg", "mul", "pow", "sqrt", "abs", "apply"):
        if side.op == "apply":
            return symbol(side.name)
        open_args = [arg for arg in side.args if symbols(arg)]
        if len(open_args) != 1:
            break
        side = open_args[0]
    return side


def _with_constants_of(reference: Formula, stated: Formula, context: Context) -> Formula:
    r"""Return a statement with a constant of nature by that of the reference: `2\pi\hbar` for h beside `\hbar`."""
    wanted, identities = symbols_of(reference), facts_of_context(context).identities
    put = {
        symbol(name): each.expr
        for name in sorted((symbols_of(stated) - wanted) & identities.keys())
        for each in identities[name]
        if each.names <= wanted
    }
    return substituted(stated, put) if put else stated


def _without_idle_symbols(reference: Formula, stated: Formula, cells: CellTable) -> Formula:
    r"""Return a statement with a number in place of each symbol that divides out: m in `m v^2 = 2 m g h`.

    Only symbols that the reference lacks, at most MAX_IDLE, and only if the reference has no others; else unchanged.
    """
    idle = symbols_of(stated) - symbols_of(reference)
    if (
        not 0 < len(idle) <= MAX_IDLE
        or not symbols_of(reference) <= symbols_of(stated)
        or stated.kind not in _WITH_IDLE
    ):
        return stated
    trials = []
    for numbers in _IDLE_TRIALS:
        values = {symbol(name): number(n) for name, n in zip(sorted(idle), numbers, strict=False)}
        trials.append(replace(stated, members=tuple(substitute(member, {**values}) for member in stated.members)))
    return trials[0] if cells.are_equivalent(*trials) else stated
