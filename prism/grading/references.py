r"""The problem's side of every comparison: reference nodes with their subjects, rival nodes and guessable nodes.

All of it depends on the problem alone and is computed once, when the problem is prepared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from prism.algebra.expr import Expr, Formula, ops_of, symbols, symbols_of, walk
from prism.budget import EACH_NODE, NODE, NODES, STATED, SUBJECTS, OverBudget, share
from prism.equivalence.facts import in_base_units, numeric_of, subject_of
from prism.equivalence.matching import match
from prism.equivalence.numbers.comparison import NumberSpec
from prism.equivalence.numbers.known_values import KnownValues
from prism.equivalence.points.zero_sets import compare_with_itself
from prism.equivalence.statements import statements_of
from prism.equivalence.verdict import Status
from prism.errors import LatexSyntaxError
from prism.latex import parse
from prism.physics.context import Context
from prism.problem.schema import Problem, ProblemNode, formulas_of

MAX_IDLE = 2  # symbols of a formula that may divide out of it, such as m in `m v^2 = 2 m g h`
MAX_GUESSED = 12  # numerator and denominator of a number that one may guess: `5/3`, `3\pi/2`
_ARITHMETIC = frozenset(("add", "sub", "mul", "div", "pow", "neg", "unit"))
_OF_SMALL_NUMBERS = frozenset(("num", "const", "neg", "mul", "div", "sqrt"))
_OPERATIONS = frozenset(("integral", "contour", "sum", "product", "limit", "derivative", "partial"))
_COMPOUND = frozenset(("add", "sub", "mul", "div", "pow", "integral", "contour", "sum", "product", "limit"))


@dataclass(frozen=True, slots=True)
class ReferenceNode:
    """One node of the reference DAG, ready to be compared with claims.

    Attributes:
        index: of the node.
        formulas: its own formula and those that the author accepts in its place.
        number_spec: how its number is asked for.
        shared_subjects: subjects of another node that states the same (see `share_subjects`).
        given: formulas of the problem that already say this final answer (see `copies`).
        parts: `formulas`, then every statement that one of them needs; a claim of one statement contradicts nothing.
        subjects: what the node is solved for: symbols, else a whole side that is one construct, as a derivative.
        names: symbols of its formulas; of compound formulas none.
        all_names: symbols of its formulas and their parts.
        is_number: it asks for a number.
    """

    index: int
    formulas: tuple[Formula, ...]
    number_spec: NumberSpec
    shared_subjects: frozenset[Expr] = frozenset()
    given: tuple[Formula, ...] = ()
    parts: tuple[Formula, ...] = field(init=False, compare=False, repr=False)
    subjects: frozenset[Expr] = field(init=False, compare=False, repr=False)
    names: frozenset[str] = field(init=False, compare=False, repr=False)
    all_names: frozenset[str] = field(init=False, compare=False, repr=False)
    is_number: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Compute the attributes that follow from the formulas: parts, subjects, names, all_names, is_number."""
        statements = (each.formula for f in self.formulas for each in statements_of(f, needed=True))
        derived = {
            "parts": tuple(dict.fromkeys((*self.formulas, *statements))),
            "subjects": self.shared_subjects | _subjects_of(self.formulas),
            "names": frozenset[str]().union(*(symbols(*f.members) for f in self.formulas)),
            "all_names": frozenset[str]().union(*(symbols_of(f) for f in self.formulas)),
            "is_number": any(numeric_of(f) is not None for f in self.formulas),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)


def _subjects_of(formulas: Sequence[Formula]) -> frozenset[Expr]:
    r"""Return the symbols that formulas are solved for; if none, their sides that are one construct, as `dv/dt`.

    Any side is one to which a formula gives a value: `N/N_0` of `N/N_0 = 0.16`.
    """
    lone = frozenset(subject for f in formulas if (subject := subject_of(f)) is not None)
    equations = [f.members for f in formulas if f.kind == "equation"]
    sides = ((side, any(not symbols(each) for each in members)) for members in equations for side in members)
    return lone or frozenset(
        side for side, is_valued in sides if side.args and (side.op not in _ARITHMETIC or (is_valued and symbols(side)))
    )


@dataclass(frozen=True, slots=True)
class MatchTask:
    """All of a problem that the claims of a solution are compared with: its nodes and its context.

    Attributes:
        references: the nodes that have a formula, in order.
        context: of the problem.
        known: symbols of the problem and its reference; all others are a solution's own.
        known_values: value and dimension of the reference's symbols, as far as givens and nodes settle them.
        uses_definitions: symbols that a solution defines are eliminated.
        context_without_givens: `context` without its given values.
        free: letters of the answers' formulas that no node is solved for, so that nothing ties one to another.
    """

    references: tuple[ReferenceNode, ...]
    context: Context
    known: frozenset[str]
    known_values: KnownValues = field(default_factory=dict, hash=False)
    uses_definitions: bool = True
    context_without_givens: Context = field(init=False, compare=False, repr=False)
    free: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Compute `context_without_givens` and `free`."""
        object.__setattr__(self, "context_without_givens", replace(self.context, givens={}))
        answers = [node for node in self.references if node.number_spec.is_final and not node.is_number]
        tied = symbols(*(subject for node in self.references for subject in node.subjects))
        object.__setattr__(self, "free", frozenset[str]().union(*(node.all_names for node in answers)) - tied)

    def __hash__(self) -> int:
        """Return a hash of the context and `uses_definitions`."""
        return hash((self.context, self.uses_definitions))  # cheap; equality separates problems of one context


# Nodes about the same quantity. -----------------------------------------------------------------------------------


def share_subjects(references: Sequence[ReferenceNode], context: Context) -> tuple[ReferenceNode, ...]:
    r"""Return the nodes, each that is solved for no symbol with the subjects of the nodes equivalent to it.

    `nC(T_f - T_i) = -P(V_f - V_i)` with the gas law substituted states T_f as well as `T_f = ...` does, so the same
    claims contradict it. Nodes that cost too much to be compared share none.
    """
    shared: dict[int, frozenset[Expr]] = {}
    with share(SUBJECTS):
        for node in references:
            twins = [each for each in references if each.index != node.index and _states_solved(node, each, context)]
            shared[node.index] = frozenset(subject for twin in twins for subject in twin.subjects)
    return tuple(replace(node, shared_subjects=shared.get(node.index, frozenset())) for node in references)


def _states_solved(unsolved: ReferenceNode, solved: ReferenceNode, context: Context) -> bool:
    """Return True if `unsolved` has no subject and is equivalent to `solved`, which has one; neither is a number."""
    if unsolved.subjects or not solved.subjects or unsolved.is_number or solved.is_number:
        return False
    for a, b in product(unsolved.formulas, solved.formulas):
        if len(symbols_of(a) ^ symbols_of(b)) <= MAX_IDLE and a.kind == b.kind == "equation":
            with share(STATED):
                try:
                    if match(a, b, context).status == Status.EQUIVALENT:
                        return True
                except OverBudget:
                    raise
                except Exception:  # noqa: BLE001, S112 - every claim is compared with these, and reported there
                    continue
    return False


def rival_nodes(references: Sequence[ReferenceNode]) -> dict[int, frozenset[int]]:
    """Map each node index to its rivals: the other nodes with another number or formula for the same quantity.

    A claim that contradicts a node may be meant for one of its rivals.
    """
    return {
        node.index: frozenset(other.index for other in references if _are_rivals(node, other)) for node in references
    }


def _are_rivals(a: ReferenceNode, b: ReferenceNode) -> bool:
    """Return True if two nodes are about the same quantity: a common subject, formulas with the same symbols.

    Both must ask for a number or both for a formula; without any subjects the symbols alone decide.
    """
    if a.index == b.index or a.is_number != b.is_number:
        return False
    if (a.subjects or b.subjects) and a.subjects.isdisjoint(b.subjects):
        return False
    return any(symbols_of(f) == symbols_of(g) for f in a.formulas for g in b.formulas)


# Dear formulas. ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DearFormula:
    """A formula of a problem that costs too much to be compared with: every solution would pay for it.

    Attributes:
        entry, field: where it stands: `node 3`, `accept, entry 1`; an empty entry and `definitions, entry 1`.
        index: of its node; 0 for a definition.
        why: in words, with what to do.
    """

    entry: str
    field: str
    index: int
    why: str

    def __str__(self) -> str:
        """Return `node 3, formula: costs too much ...`."""
        return f"{', '.join(part for part in (self.entry, self.field) if part)}: {self.why}"


def find_dear_formulas(problem: Problem) -> tuple[DearFormula, ...]:
    """Return the definitions and formulas of nodes that cost more than `NODE` operations to be compared with a copy.

    If together they cost more than `NODES` and `EACH_NODE` for each node, no further one is looked at, and the dearest
    one so far is told. Exact arithmetic does not count: it ends at limits of its own, and points decide.
    """
    stated = [("", f"definitions, entry {k}", 0, f) for k, f in enumerate(problem.context.definitions, start=1)]
    for node in problem.nodes:
        keys = ("formula", *(f"accept, entry {k}" for k in range(1, len(node.accept) + 1)))
        stated += [(f"node {node.index}", key, node.index, f) for key, f in zip(keys, formulas_of(node), strict=False)]
    found: list[DearFormula] = []
    most = left = NODES + EACH_NODE * len(problem.nodes)
    dearest, highest = ("", "", 0), 0
    for entry, key, index, f in stated:
        with share(min(NODE, left)) as account:
            _compare_with_copy(f, problem.context)
        left -= account.spent
        if account.is_exhausted and account.limit == NODE:
            why = f"costs more than {NODE} operations to be compared with a copy of it; write it in a simpler form"
            found.append(DearFormula(entry, key, index, why))
        elif account.spent > highest and not account.is_exhausted:
            dearest, highest = (entry, key, index), account.spent
        if not left:
            why = f"costs {highest} operations to be compared with a copy of it, most of formulas that cost more than"
            found += [DearFormula(*dearest, f"{why} {most} together; write it in a simpler form")] if highest else []
            break
    return tuple(found)


def _compare_with_copy(f: Formula, context: Context) -> None:
    """Compare what a formula states with itself at test points, as a claim would be that says it in another form."""
    for part in [each.formula for each in statements_of(f, needed=True)]:
        if part.kind in ("equation", "expression") and numeric_of(part) is None:
            try:
                compare_with_itself(in_base_units(part), context, exactly=False)
            except OverBudget:
                raise
            except Exception:  # noqa: BLE001, S112 - every claim is compared with these, and reported there
                continue


# Guessable nodes. -------------------------------------------------------------------------------------------------


def is_guessable(node: ProblemNode) -> bool:
    r"""Return True if a node, or what is accepted for it, can be guessed: a small number, an inequality, words.

    `m\ddot x + kx = 0` cannot: its other side is a formula, and not one quantity (semantics C.4).

    >>> from prism.latex import parse
    >>> nodes = [ProblemNode(1, "", parse(text)) for text in (r"Q = 0", r"n < 3", r"\theta = \pi/2", r"m a + k x = 0")]
    >>> [is_guessable(node) for node in nodes]
    [True, True, True, False]
    """
    return node.is_text or any(map(_is_guessable_formula, formulas_of(node)))


def is_guess(latex: str) -> bool:
    r"""Return True for a formula that gives one symbol a small number, as any list of guesses does.

    >>> is_guess("P = 1/2"), is_guess("2(P) = 2/2"), is_guess(r"P = \int_0^1 x dx"), is_guess("P = a/2")
    (True, True, False, False)
    """
    try:
        f = parse(latex)
    except LatexSyntaxError:
        return False
    if f.kind != "equation":
        return False
    sides = (f.members, f.members[::-1])
    return any(
        _is_small_number(value) and len(symbols(subject)) == 1 and ops_of(subject).isdisjoint(_OPERATIONS)
        for subject, value in sides
    )


def _is_guessable_formula(f: Formula) -> bool:
    """Return True for an inequality, and for a small number without unit that one quantity equals."""
    if f.kind != "equation":
        return f.kind == "inequality"
    sides = (f.members, f.members[::-1])
    return any(_is_small_number(number) and _is_one_quantity(subject) for subject, number in sides)


def _is_small_number(expr: Expr) -> bool:
    r"""Return True for a number without unit whose integers are at most MAX_GUESSED: `5/3`, `3\pi/2`, `\sqrt 2`."""
    parts = list(walk(expr))
    return all(part.op in _OF_SMALL_NUMBERS for part in parts) and all(
        abs(part.value.numerator) <= MAX_GUESSED and part.value.denominator <= MAX_GUESSED
        for part in parts
        if part.value is not None
    )


def _is_one_quantity(expr: Expr) -> bool:
    """Return True for a symbol or one construct with a symbol, such as `v(0)` or `dv/dt`; no sum or product."""
    return bool(symbols(expr)) and expr.op not in _COMPOUND
