"""Read the formulas of a solution for its diagnosis, and keep what is known while they are gone through in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from prism.algebra.expr import Expr, Formula, symbols, symbols_of
from prism.diagnosis.repairs import Change
from prism.equivalence.statements import statements_of
from prism.equivalence.verdict import Status
from prism.errors import LatexSyntaxError
from prism.grading.claims.claim import Claim
from prism.grading.claims.own_symbols import with_names
from prism.grading.match_matrix import Cell, MatchMatrix, build_match_matrix
from prism.grading.prepared import PreparedProblem
from prism.grading.references import ReferenceNode
from prism.grading.result import Grade, GradedFormula
from prism.physics.context import Context, parse
from prism.physics.tables import Dimension

MAX_NODES = 8  # nodes that one formula is compared with; farther ones share too few symbols
MAX_FORMS = 4  # readings of one formula: as written, with the solution's own definitions and names


@dataclass(frozen=True, slots=True)
class ReadFormula:
    """One formula of the solution, parsed, with its possible readings and its comparison with every node.

    Attributes:
        position: index in `Grade.formulas`. graded: the formula there.
        claim: the formula as it is compared. outcomes: the cell of each node, by node index.
        forms: its statements in each reading: as written, with the solution's definitions, with the solution's names.
        defines: the solution uses this formula as the definition of one of its own symbols.
    """

    position: int
    graded: GradedFormula
    claim: Claim
    outcomes: Mapping[int, Cell]
    forms: tuple[tuple[Formula, ...], ...]
    defines: bool = False


@dataclass(frozen=True, slots=True)
class WrongStep:
    """A formula that is wrong, or that follows from an earlier wrong one, with all that later steps may take from it.

    Attributes:
        source: position of the wrong formula. stated: the statements of this formula.
        derived: formulas that follow from it. change, node: repair and its node if this is the wrong formula itself.
        slips: replacements of one symbol (old, new) that repair the whole formula.
    """

    source: int
    stated: tuple[Formula, ...]
    derived: tuple[Formula, ...]
    change: Change | None = None
    node: int | None = None
    slips: tuple[tuple[Expr, Expr], ...] = ()


@dataclass(slots=True)
class DiagnosisState:
    """What is known while the formulas of a solution are diagnosed in order: laws that hold, and wrong steps so far.

    Attributes:
        prepared: the problem. laws: equations that hold: nodes, definitions, matched formulas.
        derived: formulas that follow from the laws. matched: nodes that some formula matches.
        symbols: names of all symbols of the solution.
        wrong: the wrong formulas so far, and those that follow from them.
        numbers: value [SI] and dimension of each quantity for which one of these states a number.
        sources: position of the wrong formula behind each of these numbers.
        is_cut: the operations did not suffice for something.
    """

    prepared: PreparedProblem
    laws: tuple[Formula, ...]
    derived: tuple[Formula, ...]
    matched: frozenset[int]
    symbols: frozenset[str]
    wrong: list[WrongStep] = field(default_factory=list)
    numbers: dict[str, tuple[float, Dimension]] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)
    is_cut: bool = False

    @property
    def context(self) -> Context:
        """The physical context (givens, declared symbols, definitions) of the problem."""
        return self.prepared.task.context


def read_formulas(prepared: PreparedProblem, grade: Grade) -> list[ReadFormula]:
    """Parse each formula of a grade that asserts something, and compare it with all nodes as `grade` does."""
    task = prepared.task
    read: list[tuple[int, GradedFormula, Formula]] = []
    for position, item in enumerate(grade.formulas):
        if item.status in ("mention", "unread") or item.kind == "text" or item.reason == "too_large":
            continue
        try:
            read.append((position, item, parse(item.latex, context=task.context)))
        except LatexSyntaxError:  # a grade that was made elsewhere
            continue
    written = [Claim(f, item.kind == "boxed") for _, item, f in read]
    latest = dict.fromkeys(reversed(written))  # equal formulas in several places are one claim, at the last of them
    places = {claim: place for place, claim in enumerate(reversed(latest))}
    found = build_match_matrix(task, list(places))
    defining = {one.place for one in found.own_symbols.definitions}
    forms = [_statements_by_reading(claim, found) for claim in found.claims]
    return [
        ReadFormula(position, item, found.claims[place], found.rows[place], forms[place], place in defining)
        for (position, item, _), place in zip(read, map(places.__getitem__, written), strict=True)
    ]


def _statements_by_reading(claim: Claim, found: MatchMatrix) -> tuple[tuple[Formula, ...], ...]:
    """Return, for each reading of a claim (as written, definitions expanded, symbols renamed), what it states."""
    forms = [claim.formula, *claim.expansions]
    if found.own_symbols.names:
        forms += [with_names(each, found.own_symbols.names) for each in forms]
    kept = list(dict.fromkeys(forms))[:MAX_FORMS]
    return tuple(tuple(each.formula for each in statements_of(form)) for form in kept)


def candidate_nodes(item: ReadFormula, state: DiagnosisState) -> list[ReferenceNode]:
    """Return the nodes that a formula may be meant for: those with its left side first, then unmatched, then nearest.

    The nearest has the fewest symbols that only one side has.
    """
    references = {each.index: each for each in state.prepared.task.references}
    ranked = sorted(item.outcomes.values(), key=lambda each: (
        not has_left_side_of(item, references[each.node]), each.node in state.matched, each.n_unshared, each.node
    ))  # fmt: skip
    own = frozenset[str]().union(*(symbols_of(f) for stated in item.forms for f in stated))
    shared = [each.node for each in ranked if own & _symbols_of_node(references[each.node])]
    return [references[index] for index in shared[:MAX_NODES]]


def has_left_side_of(item: ReadFormula, reference: ReferenceNode) -> bool:
    """Return True if a statement of a formula has the left side of a formula of a node, which is no number."""
    wanted = {f.members[0] for f in reference.formulas if f.kind == "equation" and symbols(f.members[0])}
    return any(f.kind == "equation" and f.members[0] in wanted for stated in item.forms for f in stated)


def node_of_left_side(item: ReadFormula, state: DiagnosisState) -> int | None:
    """Return the index of the first node that has the left side of a formula; None if no node has it."""
    first = next(iter(candidate_nodes(item, state)), None)
    return first.index if first is not None and has_left_side_of(item, first) else None


def is_refuted_at(node: int | None, item: ReadFormula, state: DiagnosisState) -> bool:
    """Return True if a formula differs from a node, and no node that is as near to it is undecided.

    What cannot be told of a node with another left side, or with more symbols that only one side has, hides no
    refutation.
    """
    own = None if node is None else item.outcomes.get(node)
    if own is None or own.status != Status.DIFFERENT:
        return False
    references = {each.index: each for each in state.prepared.task.references}

    def distance(cell: Cell) -> tuple[bool, int]:
        return not has_left_side_of(item, references[cell.node]), cell.n_unshared

    undecided = (each for each in item.outcomes.values() if each.status not in (Status.DIFFERENT, Status.EQUIVALENT))
    return all(distance(own) < distance(each) for each in undecided)


def _symbols_of_node(reference: ReferenceNode) -> frozenset[str]:
    """Return the symbols of all formulas of a node."""
    return frozenset[str]().union(*(symbols_of(f) for f in reference.formulas))
