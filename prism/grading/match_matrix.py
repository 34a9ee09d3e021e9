"""The match matrix of a solution: the decision about every claim beside every node.

A cell is one reading of a claim (as written, with definitions substituted, a single statement of it, under other names)
beside one formula of a node. Each cell is decided once, in `CellTable`, for all that a solution
states. The *row* of a claim is the best cell of each node, `MatchMatrix.matched` the nodes with an equivalent one;
`stances` reduces the same cells to what each statement asserts of a node.

What a formula alone does not state it may state with the solution's definitions, or under its own names for the
problem's symbols; both are settled once for the whole solution. Where the sign of a symbol is a convention, the matrix
is built once for each convention, and the best one counts in all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from types import ModuleType

from prism.algebra.expr import Expr, Formula, spell, traits_of, without_text
from prism.budget import OverBudget, extra_work, may_begin, may_begin_extra, recalled
from prism.engine.kernels import active_kernels
from prism.equivalence.facts import numeric_of
from prism.equivalence.matching import match_within_budget
from prism.equivalence.numbers.comparison import NumberSpec
from prism.equivalence.statements import Statement, statements_of
from prism.equivalence.verdict import RANK, Stage, Status, Verdict
from prism.grading.claims.claim import Claim, may_learn_names, n_unaccounted, with_left_side, with_sign_flipped
from prism.grading.claims.own_symbols import (
    OwnNames,
    OwnSymbols,
    collect_own_symbols,
    expansions_of,
    fresh_quantities,
    own_names_of,
    renamings,
    with_names,
)
from prism.grading.claims.put_in import PUT_IN, is_about, with_nodes_put_in
from prism.grading.references import MatchTask, ReferenceNode
from prism.grading.result import Incident, internal_incident
from prism.physics.context import Context

MAX_FREE = 3  # symbols whose sign is free; every choice of them is one more matrix of the solution
CELLS_KEPT = 4096  # by a process, for the diagnosis of a solution, and for others that write the same formulas
CELL_KEPT = 8_000  # operations that one of them costs at least by itself: cheaper ones are compared anew
MAX_UNSHARED = 1  # symbols that only one of two formulas has, where definitions are substituted: one may divide out
FAILED = "failed"  # status of a cell beside those of `Status`: the engine raised

_Pair = tuple[ReferenceNode, Formula, Formula]  # a node, one of its formulas, and a reading of a claim
_NO_NODE = -1  # in place of a node's index, for two readings of a claim
_LEFT_OUT = Verdict(Status.UNDECIDED, "too_large", detail="the operations of the solution are spent")
_FAILED_VERDICT = Verdict(Status.UNDECIDED, "unsupported")


@dataclass(slots=True)
class Cell:
    """The comparison of one reading of a claim (as written, with definitions, renamed) with one formula of a node.

    In a row of the matrix: the best of all comparisons of a claim with a node.

    Attributes:
        node: index of the node.
        verdict: of the comparison; without meaning if the engine failed.
        n_unshared: in a row, the number of symbols that only one of claim and formula has.
        error: what the engine raised; None if it did not fail.
        names: the solution's own names under which the reading matches, with the problem's symbols they stand for.
    """

    node: int
    verdict: Verdict
    n_unshared: int = 0
    error: Exception | None = None
    names: Mapping[Expr, str] | None = None

    @property
    def status(self) -> str:
        """Status of the verdict, or FAILED if the engine raised."""
        return self.verdict.status if self.error is None else FAILED

    @property
    def is_match(self) -> bool:
        """True if the reading is equivalent to the node's formula."""
        return self.error is None and self.verdict.status == Status.EQUIVALENT


@dataclass(frozen=True, slots=True)
class CellTable:
    """The cells of a task (one problem), each decided once.

    A failed cell is not remembered, for the failure may be one of the machine, and neither is one that the operations
    of the solution did not suffice for.

    Attributes:
        task: the problem.
        decided: the cells by node, formula of the node and reading.
    """

    task: MatchTask
    decided: dict[tuple[int, Formula, Formula], Cell] = field(default_factory=dict, compare=False, repr=False)

    def decide(self, pairs: Iterable[_Pair]) -> list[Cell]:
        """Return the cell of each (node, formula of the node, reading), with the status FAILED if the engine raised."""
        return [self.cell(*pair) for pair in pairs]

    def cell(self, node: ReferenceNode, wanted: Formula, reading: Formula) -> Cell:
        """Return the cell that compares a reading of a claim with `wanted`, a formula of a node; decided once."""
        return self._cell(node.index, wanted, reading, node.number_spec)

    def are_equivalent(self, a: Formula, b: Formula) -> bool:
        """Return True if two formulas are equivalent given the problem's context; False also if the engine fails."""
        return self._cell(_NO_NODE, a, b, NumberSpec()).is_match

    def _cell(self, index: int, wanted: Formula, reading: Formula, spec: NumberSpec) -> Cell:
        """Look a cell up or decide it.

        Args:
            index: of the node, or `_NO_NODE`.
            wanted: formula of the node.
            reading: of a claim.
            spec: how the node's number is asked for.
        """
        place = index, wanted, reading
        if (cell := self.decided.get(place)) is not None:
            return cell
        if not may_begin():
            return Cell(index, _LEFT_OUT)
        try:
            cell = Cell(index, _verdict(wanted, reading, self.task.context, spec, may_begin_extra(), active_kernels()))
        except Exception as error:  # noqa: BLE001 - a solution never raises: the grader has failed, and reports it
            return _failed_cell(index, error)
        self.decided[place] = cell
        return cell


@recalled(CELLS_KEPT, least=CELL_KEPT)
def _verdict(
    wanted: Formula, reading: Formula, context: Context, spec: NumberSpec, allows_extra: bool, _kernels: ModuleType
) -> Verdict:
    """Match a reading of a claim with a formula of a node within the operations of a pair.

    Args:
        allows_extra: dear parts may be begun.
        _kernels: those in use: what is asked for of others is not paid for by these.
    """
    with extra_work(is_allowed=allows_extra):
        return match_within_budget(wanted, reading, context, spec)


def _failed_cell(index: int, error: Exception) -> Cell:
    """Return the cell of a node for which the engine raised, or the operations of the solution did not suffice."""
    return Cell(index, _LEFT_OUT) if isinstance(error, OverBudget) else Cell(index, _FAILED_VERDICT, error=error)


@dataclass(frozen=True, slots=True)
class MatchMatrix:
    """The claims of a solution beside the nodes of a problem.

    Attributes:
        cells: the decided cells.
        claims: in the order of the text.
        rows: for each claim its best cell at each node, by the node's index; nodes at which the engine failed are
            missing.
        own_symbols: symbols that the solution introduces, with the names that were learnt.
        incidents: cells at which the engine failed.
    """

    cells: CellTable
    claims: tuple[Claim, ...]
    rows: tuple[Mapping[int, Cell], ...]
    own_symbols: OwnSymbols
    incidents: tuple[Incident, ...]

    @property
    def matched(self) -> set[int]:
        """Indices of the nodes that at least one claim is equivalent to."""
        return {cell.node for row in self.rows for cell in row.values() if cell.is_match}


def build_match_matrix(task: MatchTask, claims: Sequence[Claim]) -> MatchMatrix:
    """Compare the claims of a solution, as written and in order, with every node of a task.

    Where a symbol's sign is a convention, the other sign is taken in all claims if the same nodes match and more.
    """
    table = CellTable(task)
    best = _matrix_of_convention(table, claims)
    for names in _sign_conventions(task.context):
        flipped = [replace(claim, formula=with_sign_flipped(claim.formula, names)) for claim in claims]
        other = _matrix_of_convention(table, flipped)
        if other.matched > best.matched:  # no node matches by the reference's sign alone
            best = replace(other, rows=tuple(_with_sign_readings(row, names) for row in other.rows))
    return best


def _sign_conventions(context: Context) -> Iterator[tuple[str, ...]]:
    """Yield each set of symbols whose sign the problem leaves free, and which a solution may count the other way."""
    free = sorted(name for name, declared in context.symbols.items() if declared.is_sign_free)[:MAX_FREE]
    for size in range(1, len(free) + 1):
        yield from combinations(free, size)


def _with_sign_readings(row: Mapping[int, Cell], names: Sequence[str]) -> dict[int, Cell]:
    """Return a row whose cells say, for the report, that the symbols `names` have the other sign."""
    flips = tuple(f"notation: {name} has the other sign in the whole solution" for name in names)
    return {index: _with_more_readings(cell, flips) for index, cell in row.items()}


def _with_more_readings(cell: Cell, readings: Sequence[str], stage: Stage = Stage.PLAIN) -> Cell:
    """Return a cell whose verdict lists `readings`, sentences for the report, before its own; its stage is raised."""
    verdict = cell.verdict
    verdict = replace(verdict, readings=(*readings, *verdict.readings), stage=max(verdict.stage, stage))
    return replace(cell, verdict=verdict)


def _matrix_of_convention(table: CellTable, written: Sequence[Claim]) -> MatchMatrix:
    """Build the match matrix of claims, whose formulas are written in one sign convention."""
    task = table.task
    formulas = [without_text(claim.formula) for claim in written]
    asides = {place for place, claim in enumerate(written) if claim.is_in_passing}
    letters = [claim.letters for claim in written]
    joined = {place for place, claim in enumerate(written) if claim.is_joined}
    own = collect_own_symbols(formulas, task.known, task.known_values, asides=asides, letters=letters, joined=joined)
    claims = []
    for place, (f, claim) in enumerate(zip(formulas, written, strict=True)):
        expansions = expansions_of(f, own, place) if task.uses_definitions and own.definitions else {}
        claims.append(replace(claim, formula=f, expansions=expansions))
    table.decide(plain_pairs(task, claims))
    texts = [claim.formula.latex for claim in written]
    incidents: list[Incident] = []
    rows = [_best_cells_by_node(table, claim, text, incidents) for claim, text in zip(claims, texts, strict=True)]
    own = _match_renamed(table, claims, texts, own, rows, incidents)
    _match_with_nodes_put_in(table, claims, rows)
    return MatchMatrix(table, tuple(claims), tuple(rows), own, tuple(incidents))


def plain_pairs(task: MatchTask, claims: Iterable[Claim]) -> Iterator[_Pair]:
    """Yield (node, its first formula, claim as written) for all claims and nodes: the cells that every matrix needs.

    Where the operations do not suffice, those are compared that may match: first claims with the symbols of the node,
    and of them the shortest.
    """
    shortest = sorted(claims, key=lambda claim: sum(member.size for member in claim.formula.members))
    pairs = [(claim, node) for claim in shortest for node in task.references]
    for claim, node in sorted(pairs, key=_has_other_symbols):
        wanted = node.formulas[0]
        yield node, wanted, with_left_side(wanted, claim.formula, is_committed=claim.is_committed)


def _has_other_symbols(pair: tuple[Claim, ReferenceNode]) -> bool:
    """Return True unless a claim has the same symbols as the formula of a node."""
    claim, node = pair
    return traits_of(claim.formula).names != traits_of(node.formulas[0]).names


# Rows. ------------------------------------------------------------------------------------------------------------


def _best_cells_by_node(table: CellTable, claim: Claim, text: str, incidents: list[Incident]) -> dict[int, Cell]:
    """Return the best cell of a claim at each node, by node index; failures of the engine go to `incidents`."""
    row: dict[int, Cell] = {}
    names = traits_of(claim.formula).names
    for node in table.task.references:
        for wanted in node.formulas:
            cell = _best_cell(table, node, wanted, claim)
            n_unshared = len(names ^ traits_of(wanted).names)
            _keep_if_best(Cell(cell.node, cell.verdict, n_unshared, cell.error), text, row, incidents)
            if cell.is_match:
                break
    return row


def _keep_if_best(cell: Cell, text: str, row: dict[int, Cell], incidents: list[Incident]) -> None:
    """Put a cell into `row` if it is better than the one there; into `incidents` if the engine failed on it."""
    if cell.error is not None:
        incidents.append(internal_incident(f"node {cell.node}, {text}", cell.error))
    elif cell.node not in row or RANK[cell.verdict.status] < RANK[row[cell.node].verdict.status]:
        row[cell.node] = cell


def _best_cell(table: CellTable, node: ReferenceNode, wanted: Formula, claim: Claim) -> Cell:
    """Return the best cell of a claim and one formula of a node: as written, else with the solution's definitions."""
    try:
        best = table.cell(node, wanted, with_left_side(wanted, claim.formula, is_committed=claim.is_committed))
        for expanded, definitions in claim.expansions.items():
            if best.error is not None or (best.is_match and best.verdict.stage <= Stage.DEFINITIONS):
                break
            if not _may_match(wanted, expanded, table.task.context):
                continue
            cell = table.cell(node, wanted, expanded)
            if cell.is_match:
                cell = _with_more_readings(cell, definitions, Stage.DEFINITIONS)
            if cell.error is not None or _cell_rank(cell) < _cell_rank(best):
                best = cell
        return best
    except Exception as error:  # noqa: BLE001 - as in `CellTable`
        return _failed_cell(node.index, error)


def _cell_rank(cell: Cell) -> tuple[int, int]:
    """Return the sort key of cells of one claim and node, best lowest: status, then stage (how much is substituted)."""
    return RANK[cell.verdict.status], cell.verdict.stage


def _may_match(reference: Formula, expanded: Formula, context: Context) -> bool:
    """Return True if a statement of a claim with definitions substituted has the reference's symbols, all but one.

    One may divide out (semantics O.9); givens, defined symbols and constants do not count.
    """
    return any(n_unaccounted(reference, each.formula, context) <= MAX_UNSHARED for each in statements_of(expanded))


def _match_with_nodes_put_in(table: CellTable, claims: Sequence[Claim], rows: Sequence[dict[int, Cell]]) -> None:
    """Add to the rows the cells of nodes that a claim states by way of other nodes which the solution has stated.

    First those for which something has to be put into the claim only.
    """
    references = table.task.references
    stated = {cell.node for row in rows for cell in row.values() if cell.is_match}
    alone = [
        (claim, row)
        for claim, row in zip(claims, rows, strict=True)
        if not (claim.is_in_passing or any(cell.is_match for cell in row.values()))
    ]
    for is_node_changed in (False, True):
        for node in [node for node in references if node.index not in stated and not node.is_number] if alone else ():
            matched = [other for other in references if other.index in stated]
            for claim, row in alone:
                for reading in (each.formula for f in (claim.formula, *claim.expansions) for each in statements_of(f)):
                    cell = _cell_with_nodes_put_in(table, node, reading, matched, is_node_changed=is_node_changed)
                    if cell is not None and not any(other.is_match for other in row.values()):
                        row[node.index] = cell
                        stated.add(node.index)


def _cell_with_nodes_put_in(
    table: CellTable, node: ReferenceNode, reading: Formula, matched: Sequence[ReferenceNode], *, is_node_changed: bool
) -> Cell | None:
    """Return the cell of a node that a reading matches once matched nodes are put in; None if it does not.

    Nor if that says one of the matched nodes again.
    """
    for wanted, stated in with_nodes_put_in(node, reading, matched) if is_about(node, reading) else ():
        if (wanted != node.formulas[0]) != is_node_changed:
            continue
        cell = table.cell(node, wanted, stated)
        if cell.is_match and cell.verdict.stage <= Stage.DEFINITIONS:
            others = [(other, f) for other in matched if is_node_changed for f in other.formulas]
            if not any(table.cell(other, f, stated).is_match for other, f in others):
                return _with_more_readings(cell, (PUT_IN,), Stage.DEFINITIONS)
    return None


# The solution's own names. ----------------------------------------------------------------------------------------


def _match_renamed(
    table: CellTable,
    claims: Sequence[Claim],
    texts: Sequence[str],
    own: OwnSymbols,
    rows: Sequence[dict[int, Cell]],
    incidents: list[Incident],
) -> OwnSymbols:
    """Add to the rows the cells that match once own symbols of the solution are renamed to the problem's symbols.

    Names are learnt from formulas in a first pass, and applied to all claims in a second one. Returns `own` with the
    names learnt: own symbol of the solution -> symbol of the problem.
    """
    fresh = [_fresh_statements(claim, own.known) for claim in claims]
    for learn in (True, False):
        if not learn and not own.names:
            break
        for statements, text, row in zip(fresh, texts, rows, strict=True):
            if not statements:
                continue
            named, known_by = _with_own_names(statements, own), own
            for node in table.task.references:
                if node.index in row and row[node.index].is_match:
                    continue
                if own is not known_by:
                    named, known_by = _with_own_names(statements, own), own
                for wanted in node.formulas:
                    cell = _renamed_cell(table, node, wanted, named, own, learn=learn)
                    if cell is None:
                        continue
                    _keep_if_best(cell, text, row, incidents)
                    if cell.names is not None:
                        own = replace(own, names={**own.names, **cell.names})
                        break
    return own


def _fresh_statements(claim: Claim, known: frozenset[str]) -> dict[Statement, tuple[Expr, ...]]:
    """Map each statement of a claim, also with definitions substituted, to its quantities unknown to the problem.

    Empty if the claim itself has no such quantity.
    """
    if not fresh_quantities(claim.formula, known):
        return {}
    statements = (each for form in (claim.formula, *claim.expansions) for each in statements_of(form))
    return {
        each: atoms
        for each in statements
        if not each.formula.parts and (atoms := fresh_quantities(each.formula, known))
    }


def _with_own_names(
    statements: Mapping[Statement, Sequence[Expr]], own: OwnSymbols
) -> list[tuple[Statement, OwnNames]]:
    """Return statements with what their fresh quantities may mean, by the names learnt so far."""
    return [(each, own_names_of(each.formula, atoms, own)) for each, atoms in statements.items()]


def _renamed_cell(
    table: CellTable,
    node: ReferenceNode,
    wanted: Formula,
    statements: Sequence[tuple[Statement, OwnNames]],
    own: OwnSymbols,
    *,
    learn: bool,
) -> Cell | None:
    """Return the cell of a claim that matches `wanted` once own symbols are renamed; None if no renaming matches.

    Never where given values are substituted too, or decimals are near enough: with both, too much fits (semantics O.5).

    Args:
        statements: of the claim, with what their fresh quantities may mean.
        learn: new names may be taken. Never for a number: a number fits whatever its name is taken for.
    """
    context = table.task.context
    try:
        may_learn = learn and numeric_of(wanted) is None
        for statement, fresh in statements:
            stated = statement.formula
            for names in renamings(wanted, fresh, own, context):
                new = {atom: name for atom, name in names.items() if atom not in own.names}
                if new and not (may_learn and may_learn_names(new, stated, own, context)):
                    continue
                cell = table.cell(node, wanted, with_names(stated, names))
                if cell.error is not None:
                    return cell
                if cell.is_match and cell.verdict.stage <= Stage.RENAMING and not statement.conditions:
                    readings = [f"name: {spell(atom)} is {name}" for atom, name in names.items()]
                    return replace(_with_more_readings(cell, readings, Stage.RENAMING), names=names)
    except Exception as error:  # noqa: BLE001 - as in `CellTable`
        return _failed_cell(node.index, error)
    return None
