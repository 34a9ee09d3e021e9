"""Decide which formulas of a text can be nodes of a reference, which are one node, and which the linter faults.

Drafting from a solution and converting a marking scheme share these decisions, and the engine makes them: two formulas
are one node if a copy of the one would match the other, whatever they look like.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from prism.algebra.expr import EQUALITIES, Expr, Formula, canonical, formula, plain_parts, symbols, symbols_of, walk
from prism.authoring.linting import LAST_VALUE_FREE_STAGE, find_faults
from prism.budget import STATED, share
from prism.engine.lowering import Mismatch
from prism.engine.tape import TapeTooLarge
from prism.equivalence.facts import in_base_units, numeric_of
from prism.equivalence.interpretation.names import is_plain_algebra
from prism.equivalence.matching import match
from prism.equivalence.numbers.comparison import NumberSpec
from prism.equivalence.numbers.stated import stated_number
from prism.equivalence.points.zero_sets import is_identity
from prism.equivalence.statements import is_mention
from prism.equivalence.verdict import Stage
from prism.errors import DataFileError, LatexSyntaxError
from prism.latex import extract, one_line, write
from prism.physics.context import Context, parse
from prism.physics.italic_units import italic_units_as_quantity
from prism.physics.units import find_unit
from prism.problem.schema import Problem, load_problem

_OF_A_VALUE = frozenset(("num", "neg", "mul", "div", "pow", "unit", "sym"))
_OPERATIONS = frozenset(("add", "sub", "mul", "div", "pow", "sqrt", "cross", "dot", "integral", "derivative"))
_AS_NODE = NumberSpec(is_node=True)
MAX_DEAR = 2  # pairs of which a formula may be too dear; a third would tell nothing new
_FIGURES_OF_A_VALUE = 2  # fewest significant figures of a number whose letters may be units


@dataclass(frozen=True, slots=True)
class NodeCandidate:
    """A formula written as the text of a node; `why_not` is the reason that it cannot be a node, empty if it can."""

    latex: str
    why_not: str = ""


def statement_context(problem: str) -> Context:
    """Return the context (givens, declared symbols, definitions) that the loader reads from a problem statement."""
    node = {"index": 1, "formula": "0 = 0", "dependency": [], "is_final_answer": True}
    return load_problem({"id": "draft", "context": problem, "grading_standard": [node]}).context


def read_italic_units(formulas: Sequence[Formula], context: Context) -> list[Formula]:
    r"""Return the formulas with italic letters after a number read as units, unless they are symbols elsewhere.

    A node has to be unambiguous: `\lambda = 655\, nm` becomes `\lambda = 655\unit{nm}`. Letters are
    symbols where the problem or any other member has them; not so the one that the formula is solved for, as it
    cannot stand on both sides of `W = 0.18\, kW`. A number of one figure is the coefficient of a law: `2 m g`; not so
    before a quotient, `0.02 m^3/s`, and behind a calculation with numbers alone: `s = 6\cdot 3/2 = 9 m`. Behind zero
    they are units: `E = 0 J`.

    >>> from prism.latex import parse
    >>> said = [parse(text) for text in (r"W = Q - R = 0.18\, kW", "F = 2 m g", "v = 9.81 t", "t = 12 s", "E = 0 J")]
    >>> [str(f) for f in read_italic_units(said, Context())]
    ['W = Q - R = 0.18*[kW]', 'F = 2*m*g', 'v = 9.81*t', 't = 12*[s]', 'E = 0*[J]']
    >>> [str(f) for f in read_italic_units([parse("h = 6*3/2 = 9 m"), parse("Q = 0.02 m^3/s")], Context())]
    ['h = 6*(3/2) = 9*[m]', 'Q = 0.02*[m]^3*[s]^(-1)']
    """
    parts = [part for f in formulas for part in plain_parts(f)]
    worked_out = frozenset(canonical(part.members[-1]) for part in parts if _ends_a_calculation(part))
    others = [
        member for part in parts for member in part.members
        if not (canonical(member) in worked_out or _may_be_quantity(member, context))
    ]  # fmt: skip
    taken = context.declared.union(*map(symbols, others))
    return [_with_italic_units(f, taken, worked_out, context) for f in formulas]


def _may_be_quantity(member: Expr, context: Context) -> bool:
    r"""Return True for a number of two figures or more followed by letters that may be a unit: `0.18\, kW`."""
    figures = next((node.name.lower().partition("e")[0] for node in walk(member) if node.op == "num"), "")
    n_figure = len("".join(letter for letter in figures if letter.isdigit()).lstrip("0"))
    is_zero = bool(figures) and not n_figure  # as a factor it would leave no letters
    is_quotient = member.op == "div" and all(map(symbols, member.args))  # `0.02 m^3/s`
    is_value = n_figure >= _FIGURES_OF_A_VALUE or is_zero or (bool(n_figure) and is_quotient)
    return is_value and italic_units_as_quantity(member, context.declared) is not None


def _ends_a_calculation(f: Formula) -> bool:
    """Return True for `s = 6 * 3/2 = 9 m`: behind numbers alone the letters of the last member can only be a unit."""
    return f.kind == "chain" and any(member.args and not symbols(member) for member in f.members[1:-1])


def _with_italic_units(f: Formula, taken: frozenset[str], worked_out: frozenset[str], context: Context) -> Formula:
    """Return a formula with italic units in its members read as units; names in `taken` stay symbols.

    Args:
        worked_out: members that end a calculation, in which the letters are units whatever they are elsewhere.
    """
    if f.parts:
        return replace(f, parts=tuple(_with_italic_units(part, taken, worked_out, context) for part in f.parts))
    if f.kind not in ("equation", "chain"):
        return f
    own = frozenset((f.members[0].name,)) if f.members[0].op == "sym" else frozenset[str]()

    def read(member: Expr) -> Expr:
        """Return a member with italic units, or as it is."""
        is_worked_out = canonical(member) in worked_out
        symbolic = frozenset[str]() if is_worked_out else taken - own
        may_have = is_worked_out or _may_be_quantity(member, context)
        return (italic_units_as_quantity(member, symbolic, f.latex) if may_have else None) or member

    return replace(f, members=tuple(map(read, f.members)))


def split_statement(f: Formula) -> Iterator[Formula | str]:
    """Yield each formula that a formula states: `a = b` and `a = c` of `a = b = c`, each part of a system.

    A piece that states none is yielded as a text that says why.
    """
    if f.kind in ("system", "implication"):
        for part in f.parts:
            yield from split_statement(part)
        return
    if f.kind != "chain":
        yield f
        return
    run: list[Expr] = [f.members[0]]
    for relation, member in zip(f.relations, f.members[1:], strict=True):
        if relation in EQUALITIES:
            run.append(member)
            continue
        yield from _split_equalities(run, f)
        yield formula((run[-1], member), (relation,), "", f.depends)
        run = [member]
    yield from _split_equalities(run, f)


def _split_equalities(run: Sequence[Expr], f: Formula) -> Iterator[Formula | str]:
    """Yield `a = b` and `a = c` for the members of `a = b = c`; of several numbers only the last one."""
    first, others = run[0], run[1:]
    last = max((k for k, member in enumerate(others) if stated_number(member) is not None), default=-1)
    for k, member in enumerate(others):
        is_number, is_put_in = stated_number(member) is not None, _is_put_in(member)
        if k == last or not (is_number or is_put_in):
            yield formula((first, member), ("=",), "", f.depends)
        elif is_put_in and k == len(others) - 1:
            yield "values put in and not worked out"


def is_step(f: Formula) -> bool:
    """Return True for an equation with an operation on symbols; False for a condition such as `t = 0` or `r > R`."""
    return f.kind in ("equation", "chain", "system") and any(
        symbols(node) and node.args and node.op in _OPERATIONS
        for part in plain_parts(f) for member in part.members for node in walk(member)
    )  # fmt: skip


def is_worked_out(f: Formula) -> bool:
    r"""Return True for a chain that works a number out of numbers, `q = 0.9 \cdot 12.5 / 0.25 = 45`.

    >>> from prism.latex import parse
    >>> [is_worked_out(parse(text)) for text in ("q = 2*3 = 6", "q = 6", "q = k A = 6", "a = 2 = b")]
    [True, False, False, False]
    """
    if f.kind != "chain" or f.members[0].op != "sym" or stated_number(f.members[-1]) is None:
        return False
    return any(member.args and (_is_put_in(member) or not symbols(member)) for member in f.members[1:-1])


def has_values_put_in(f: Formula) -> bool:
    r"""Return True for an equation with a side that is a calculation with numbers alone, not carried out.

    >>> from prism.latex import parse
    >>> [has_values_put_in(parse(text)) for text in (r"F = 2.0 \cdot 9.81", "F = m g", "F = 19.6", "k x = 2 * 9.81")]
    [True, False, False, True]
    """
    return f.kind == "equation" and any(member.args and _is_put_in(member) for member in f.members)


def _is_put_in(member: Expr) -> bool:
    """Return True for a calculation with numbers alone, or with their units, that is not carried out."""
    has_unit = any(node.op == "unit" for node in walk(member))
    return (not symbols(member) or has_unit) and stated_number(member) is None


def is_value_in_letters(f: Formula) -> bool:
    r"""Return True for `k = 0.8\,\mathrm{W}/(m K)` and `P = 200 lbf / 4 in^2`: the letters behind numbers are units.

    Products and quotients only, of a number that is written with a unit or is followed by several letters of one.

    >>> from prism.latex import parse
    >>> said = (r"k = 0.8\,\mathrm{W}/(m K)", r"P = 200 l b f/4\,\mathrm{in^2}", "v = 9.81 t", "W = m g h")
    >>> [is_value_in_letters(parse(text)) for text in said]
    [True, True, False, False]
    """
    if f.kind != "equation" or f.members[0].op != "sym":
        return False
    right = f.members[1]
    nodes = list(walk(right))
    if any(node.op not in _OF_A_VALUE for node in nodes) or not any(node.op == "unit" for node in nodes):
        return False
    letters = [node.name for node in nodes if node.op == "sym"]
    return bool(letters) and (
        all(find_unit(name) is not None for name in letters) or find_unit("".join(letters)) is not None
    )


def is_stated_by(node: Formula, said: Formula) -> bool:
    """Return True if a candidate states what an answer says: the same formula, or its right side for a bare one."""
    return _is_answer(node, said, Context())


def node_candidate(f: Formula, source: str, context: Context, *, is_whole: bool) -> NodeCandidate:
    """Return a formula written as the text of a node, or with the reason that it cannot be a node.

    Args:
        f: the formula as it was read.
        source: the LaTeX that it, or the formula it is a part of, was read from.
        context: of the problem.
        is_whole: it is all of the source.
    """
    if f.kind == "text":
        return NodeCandidate(source, "words")
    if is_mention(f) or f.kind == "expression":
        return NodeCandidate(source, "no relation")
    for latex in (write(f), *([source] if is_whole else [])):
        try:
            read = parse(latex, context=context)
        except LatexSyntaxError:
            continue
        if _canonical_form(read) == _canonical_form(f):
            fault_text = "true whatever its symbols are" if f.kind == "equation" and _is_identity(f, context) else ""
            return NodeCandidate(latex, fault_text)
    return NodeCandidate(source, "cannot be written by itself")


def _canonical_form(f: Formula) -> tuple[object, ...]:
    """Return a value that is equal for formulas written alike, whatever the spelling of their units."""
    return f.kind, f.relations, tuple(canonical(member) for member in f.members), f.parts


def _is_identity(f: Formula, context: Context) -> bool:
    """Return True if an equation holds for all values of its symbols (`x = x`); False if it cannot be evaluated."""
    with share(STATED):
        try:
            if is_identity(in_base_units(f), context):
                return True
        except (TapeTooLarge, Mismatch):
            pass
        if not is_plain_algebra(f) and len(f.members) == 2:  # sums have no tape
            left, right = (formula((member,), (), f.latex) for member in f.members)
            verdict = match(left, right, context, _AS_NODE)
            return verdict.status == "equivalent" and verdict.stage == Stage.PLAIN
    return False


def is_same_node(a: Formula, b: Formula, context: Context, dear: Counter[Formula]) -> bool:
    """Return True if two formulas are equivalent without values inserted, so that one node does for both.

    One that is another with the values of the problem put in is one with it.

    Two that cost more than `STATED` operations to be compared are taken for different.

    Args:
        dear: how often a formula was one of two such; after `MAX_DEAR` times it is not compared any more.
    """
    numbers = [numeric_of(f) for f in (a, b)]
    if (numbers[0] is None) != (numbers[1] is None):
        return False
    if numbers[0] is not None and numbers[1] is not None and numbers[0].subject != numbers[1].subject:
        return False
    names = symbols_of(a), symbols_of(b)
    if numbers[0] is None and not (names[0] <= names[1] or names[0] >= names[1]):  # one may divide out: `m a = m g`
        return False
    if max(dear[a], dear[b]) >= MAX_DEAR:
        return False
    with share(STATED):
        verdict = match(a, b, context, _AS_NODE)
        is_free = verdict.stage <= LAST_VALUE_FREE_STAGE or has_values_put_in(a) or has_values_put_in(b)
        return verdict.status == "equivalent" and (numbers[0] is not None or is_free)
    dear.update((a, b))
    return False


def answer_index(answer: str, formulas: Sequence[Formula], context: Context) -> int | None:
    """Return the index of the last formula that states an answer, or has it as a side; None if there is none.

    Args:
        answer: LaTeX, with or without delimiters and box.

    Errors:
        LatexSyntaxError: an answer that cannot be parsed.
    """
    read = read_answer(answer, context)
    places_back = range(len(formulas) - 1, -1, -1)
    return next((k for k in places_back if _is_answer(formulas[k], read, context)), None)


def read_answer(answer: str, context: Context) -> Formula:
    """Return an answer, with or without delimiters and box, as a formula.

    Errors:
        LatexSyntaxError: it cannot be parsed.
    """
    return parse(_without_box(answer), context=context)


def _without_box(answer: str) -> str:
    r"""Return the LaTeX of an answer without its delimiters and `\boxed{}`."""
    items = [item.latex for item in extract(answer)]
    return next((latex for latex in items if "=" in latex), items[0] if len(items) == 1 else answer)


def _is_answer(node: Formula, answer: Formula, context: Context) -> bool:
    """Return True if a node states an answer (`E = mc^2`), or has a bare answer (`mc^2`) as its right side."""
    statement = answer
    if answer.kind == "expression" and node.kind == "equation":
        statement = formula((node.members[0], answer.members[0]), ("=",), answer.latex, answer.depends)
    with share(STATED):
        return match(node, statement, context, _AS_NODE).status == "equivalent"
    return False


@dataclass(frozen=True, slots=True)
class FaultyNodes:
    """The nodes of a problem that the loader or the linter rejects.

    Attributes:
        why: the fault of each, by position.
        problem: None if it does not load.
        is_cut: the linter did not finish.
    """

    why: Mapping[int, str]
    problem: Problem | None = None
    is_cut: bool = False


def find_faulty_nodes(data: Mapping[str, Any], operations: float) -> FaultyNodes:
    """Return the nodes of a problem file that the loader or the linter rejects.

    Args:
        operations: that the linter may spend.

    Errors:
        DataFileError: a fault that belongs to no node.
    """
    try:
        problem = load_problem(data)
    except DataFileError as error:
        faulty = {_node_position(fault): fault.partition(": ")[2] for fault in error.faults}
        if -1 in faulty:
            raise
        return FaultyNodes(faulty)
    found = find_faults(problem, operations)
    why = {
        at: one_line(each.text) for each in found if each.kind == "fault" and (at := _node_position(each.entry)) >= 0
    }
    return FaultyNodes(why, problem, any(each.code == "too_large" and each.kind != "fault" for each in found))


def _node_position(entry: str) -> int:
    """Return 2 for `node 3` or a fault that begins with it (positions count from 0); -1 for any other text."""
    word, _, rest = entry.partition(" ")
    digits = rest.partition(",")[0].partition(":")[0]
    return int(digits) - 1 if word == "node" and digits.isdigit() else -1
