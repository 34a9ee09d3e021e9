r"""Which formulas of a text can be nodes of a reference, one by one; which nodes are one, and what is wrong with them.

Drafting from a solution and converting a marking scheme ask the same questions here, and the engine answers them: two
formulas are one if a copy of the one would match the other, whatever they look like.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from prism.algebra.expr import EQUALITIES, Expr, Formula, canonical, formula, plain_parts, symbols, symbols_of, walk
from prism.authoring.linting import ONE_FORMULA, lint
from prism.engine.lowering import Mismatch
from prism.engine.tape import TapeTooLarge
from prism.equivalence.matching import match
from prism.equivalence.numbers import Asked, numeric_of, stated_number
from prism.equivalence.statements import is_mention
from prism.equivalence.substitutions import resolved
from prism.equivalence.zero_sets import is_identity
from prism.errors import DataFileError, LatexSyntaxError
from prism.grading.claims import Claim, match_claim
from prism.latex import extract, one_line, write
from prism.physics.context import Context, parse
from prism.physics.units import with_italic_units
from prism.problem.schema import Problem, load_problem

_OPERATIONS = frozenset(("add", "sub", "mul", "div", "pow", "sqrt", "cross", "dot", "integral", "derivative"))
_AS_NODE = Asked(is_node=True)
_FIGURES_OF_A_VALUE = 2  # least significant figures of a number whose letters may be units


@dataclass(frozen=True, slots=True)
class Picked:
    """A formula as the text of a node, and why it can be none; one of the two says nothing."""

    latex: str
    why_not: str = ""


def context_of(problem: str) -> Context:
    """What the text of a problem gives. The loader knows how to read it; it wants a node, which says nothing here."""
    node = {"index": 1, "formula": "0 = 0", "dependency": [], "is_final_answer": True}
    return load_problem({"id": "draft", "context": problem, "grading_standard": [node]}).context


def with_units_read(formulas: Sequence[Formula], context: Context) -> list[Formula]:
    r"""Formulas with italic letters behind a number read as units, where nothing else knows them as symbols.

    A formula that is to be a node must say which: `\lambda = 655\, nm` becomes `\lambda = 655\unit{nm}`. Letters are
    symbols where the problem or any other member has them; not so the one that the formula is solved for, as it
    cannot stand on both sides of `W = 0.18\, kW`. A number of one figure is the coefficient of a law: `2 m g`.

    >>> from prism.latex import parse
    >>> said = [parse(text) for text in (r"W = Q - R = 0.18\, kW", "F = 2 m g", "v = 9.81 t", "t = 12 s")]
    >>> [str(f) for f in with_units_read(said, Context())]
    ['W = Q - R = 0.18*[kW]', 'F = 2*m*g', 'v = 9.81*t', 't = 12*[s]']
    """
    members = [member for f in formulas for part in plain_parts(f) for member in part.members]
    taken = context.declared.union(*(symbols(each) for each in members if not _may_be_quantity(each, context)))
    return [_with_units(f, taken, context) for f in formulas]


def _may_be_quantity(member: Expr, context: Context) -> bool:
    figures = next((node.name.lower().partition("e")[0] for node in walk(member) if node.op == "num"), "")
    n_figure = len("".join(letter for letter in figures if letter.isdigit()).lstrip("0"))
    return n_figure >= _FIGURES_OF_A_VALUE and with_italic_units(member, context.declared) is not None


def _with_units(f: Formula, taken: frozenset[str], context: Context) -> Formula:
    if f.parts:
        return replace(f, parts=tuple(_with_units(part, taken, context) for part in f.parts))
    if f.kind not in ("equation", "chain"):
        return f
    own = frozenset((f.members[0].name,)) if f.members[0].op == "sym" else frozenset[str]()
    read = (
        with_italic_units(member, taken - own) if _may_be_quantity(member, context) else None for member in f.members
    )
    members = tuple(new or member for new, member in zip(read, f.members, strict=True))
    return f if members == f.members else replace(f, members=members)


def pieces_of(f: Formula) -> Iterator[Formula | str]:
    """The formulas that one states: the parts of a system, of a chain what each member adds; or why there is none."""
    if f.kind in ("system", "implication"):
        for part in f.parts:
            yield from pieces_of(part)
        return
    if f.kind != "chain":
        yield f
        return
    run: list[Expr] = [f.members[0]]
    for relation, member in zip(f.relations, f.members[1:], strict=True):
        if relation in EQUALITIES:
            run.append(member)
            continue
        yield from _of_run(run, f)
        yield formula((run[-1], member), (relation,), "", f.depends)
        run = [member]
    yield from _of_run(run, f)


def _of_run(run: Sequence[Expr], f: Formula) -> Iterator[Formula | str]:
    """What the members of `a = b = c` say of the first: each that has symbols, and the last number."""
    first, others = run[0], run[1:]
    last = max((k for k, member in enumerate(others) if stated_number(member) is not None), default=-1)
    for k, member in enumerate(others):
        is_number = stated_number(member) is not None
        is_put_in = not symbols(member) or any(inner.op == "unit" for inner in walk(member))
        if k == last or not (is_number or is_put_in):
            yield formula((first, member), ("=",), "", f.depends)
        elif is_put_in and not is_number and k == len(others) - 1:
            yield "values put in and not worked out"


def is_step(f: Formula) -> bool:
    """Whether a formula is an equation with an operation on symbols, and no condition such as `t = 0` or `r > R`."""
    return f.kind in ("equation", "chain", "system") and any(
        symbols(node) and node.args and node.op in _OPERATIONS
        for part in plain_parts(f) for member in part.members for node in walk(member)
    )  # fmt: skip


def node_of(f: Formula, source: str, context: Context, *, is_whole: bool) -> Picked:
    """A formula as a node.

    Args:
        f: it, as it was read.
        source: the LaTeX that it, or what it is a piece of, was read from.
        context: of the problem.
        is_whole: it is all of the source.
    """
    if f.kind == "text":
        return Picked(source, "words")
    if is_mention(f) or f.kind == "expression":
        return Picked(source, "no relation")
    for latex in (write(f), *([source] if is_whole else [])):
        try:
            read = parse(latex, context=context)
        except LatexSyntaxError:
            continue
        if _spelled(read) == _spelled(f):
            told = "true whatever its symbols are" if f.kind == "equation" and _says_nothing(f, context) else ""
            return Picked(latex, told)
    return Picked(source, "cannot be written by itself")


def _spelled(f: Formula) -> tuple[object, ...]:
    """A formula in one spelling; a unit is written in more ways than it is read."""
    return f.kind, f.relations, tuple(canonical(member) for member in f.members), f.parts


def _says_nothing(f: Formula, context: Context) -> bool:
    try:
        return is_identity(resolved(f), context)
    except (TapeTooLarge, Mismatch):
        return False


def is_same_node(a: Formula, b: Formula, context: Context) -> bool:
    """Whether a copy of one would match the other, without a value put in; numbers by what they say."""
    numbers = [numeric_of(f) for f in (a, b)]
    if (numbers[0] is None) != (numbers[1] is None):
        return False
    if numbers[0] is not None and numbers[1] is not None and numbers[0].subject != numbers[1].subject:
        return False
    names = symbols_of(a), symbols_of(b)
    if numbers[0] is None and not (names[0] <= names[1] or names[0] >= names[1]):  # one may divide out: `m a = m g`
        return False
    verdict = match(a, b, context, _AS_NODE)
    return verdict.status == "equivalent" and (numbers[0] is not None or verdict.stage <= ONE_FORMULA)


def place_of(answer: str, formulas: Sequence[Formula], context: Context) -> int | None:
    """The last of some formulas that says what an answer says, or has it for its other side; None if none does.

    Args:
        answer: LaTeX, with its delimiters and box or without.

    Errors:
        LatexSyntaxError: an answer that is not read.
    """
    read = parse(_bare(answer), context=context)
    places_back = range(len(formulas) - 1, -1, -1)
    return next((k for k in places_back if _is_answer(formulas[k], read, context)), None)


def _bare(answer: str) -> str:
    """An answer without its delimiters and box."""
    items = [item.latex for item in extract(answer)]
    return next((latex for latex in items if "=" in latex), items[0] if len(items) == 1 else answer)


def _is_answer(node: Formula, answer: Formula, context: Context) -> bool:
    """Whether a node is an answer: it says the same, or has it for its other side."""
    said = answer
    if answer.kind == "expression" and node.kind == "equation":
        said = formula((node.members[0], answer.members[0]), ("=",), answer.latex, answer.depends)
    return match_claim(node, Claim(said, is_committed=True), context, _AS_NODE).status == "equivalent"


def faulty_nodes(data: Mapping[str, Any]) -> tuple[dict[int, str], Problem | None]:
    """Places of the nodes that the loader or the linter faults, with the reason; and the problem, if it loads.

    Errors:
        DataFileError: a fault that is no node's.
    """
    try:
        problem = load_problem(data)
    except DataFileError as error:
        faulty = {_place(fault): fault.partition(": ")[2] for fault in error.faults}
        if -1 in faulty:
            raise
        return faulty, None
    faults = [finding for finding in lint(problem) if finding.kind == "fault"]
    return {at: one_line(each.text) for each in faults if (at := _place(each.entry)) >= 0}, problem


def _place(entry: str) -> int:
    """The place of `node 3` or of a fault that begins so; -1 for anything else."""
    word, _, rest = entry.partition(" ")
    digits = rest.partition(",")[0].partition(":")[0]
    return int(digits) - 1 if word == "node" and digits.isdigit() else -1
