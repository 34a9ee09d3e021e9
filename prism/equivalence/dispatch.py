r"""Which comparison the kinds of two formulas need (semantics Z.7, Z.8).

Equations and bare expressions are compared by what they are zero for; inequalities by their boundary and its sides;
sets, tuples and intervals entry by entry; other relations word for word.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from prism.algebra.alternatives import united
from prism.algebra.calculus import worked_out
from prism.algebra.expr import Expr, Formula, canonical, formula, substitute, symbol, symbols, traits_of, walk
from prism.algebra.noncommutative import speaks_of_operators, with_ordered_products
from prism.engine.lowering import Mismatch
from prism.engine.tape import TapeTooLarge
from prism.equivalence.identities import do_correspond, is_worked_out
from prism.equivalence.notation import with_calls
from prism.equivalence.verdict import RANK, Verdict
from prism.equivalence.zero_sets import compare_sides, compare_zero_sets, is_identity
from prism.physics.context import Context

FORMULAS_KEPT = 4096  # formulas remembered in a process
MAX_ENTRIES = 24  # of a set or tuple; each entry of the one is compared with each of the other

_NOTHING_KNOWN = Context()
_COLLECTIONS = {"set": "set", "list": "set", "tuple": "tuple", "interval": "interval", "union": "union"}
_MIRRORED = {"<<": ">>", ">>": "<<", "<~": ">~", ">~": "<~"}
_WORKED = frozenset(  # what is worked out, spread or called before a comparison
    ("derivative", "partial", "integral", "contour", "sum", "product", "limit", "at", "pm", "set", "list")
)
_CHOICES = frozenset(("max", "min", "sgn", "sign", r"\Theta"))
_OF_IDENTITIES = ("identity", "too_few_points", "unsupported")  # reasons with which two of them are left
_ENTRYWISE = frozenset(("tuple", "interval"))


def compare(a: Formula, b: Formula, context: Context = _NOTHING_KNOWN, *, approximate: bool = False) -> Verdict:
    """Decide whether two formulas say the same thing as they stand: no constant is read, no value put in.

    Args:
        a, b: the reference and the claim, units already resolved.
        context, approximate: see `equivalence.compare_zero_sets`.

    What grows beyond the limits, or has no value where it is asked for one, leaves a pair undecided: here is the one
    place that says so, whichever comparison it was.
    """
    try:
        return _compared(a, b, context, approximate=approximate)
    except TapeTooLarge as error:
        return Verdict("undecided", "too_large", detail=str(error))
    except Mismatch as error:
        return Verdict("undecided", "unsupported", detail=str(error))


def _compared(a: Formula, b: Formula, context: Context, *, approximate: bool) -> Verdict:
    """The comparison that the kinds of two formulas need."""
    if _is_simple(a) and _is_simple(b):
        verdict = compare_zero_sets(a, b, context, approximate=approximate)
        if verdict.reason == "identity" and not symbols(*a.members) and _is_copy(a, b):
            return Verdict("equivalent", "same_form", "proved", cost=verdict.cost)
        return verdict
    as_written = with_calls(a, b)
    a, b = (united(f) for f in with_ordered_products(*worked_out(*as_written)))
    if a.kind == "expression" and b.kind == "equation":
        return _any_member(a, b, context)
    if a.relations == b.relations == ("propto",) and _is_copy(a, b):
        return Verdict("equivalent", "same_form", "proved")
    if a.relations == ("propto",) and (b.relations == a.relations or b.kind == "equation"):
        return _compare_proportions(a, b, context)
    if a.kind != b.kind:
        return Verdict("different", "kind")
    if a.kind == "chain":
        return Verdict("undecided", "unsupported", detail="a chain against a chain")
    if a.parts:
        return Verdict("undecided", "unsupported", detail="several formulas in one")
    if a.kind == "statement":
        return _compare_statements(a, b, context)
    if a.kind == "expression" and (_collection(a.members[0]) or _collection(b.members[0])):
        return _compare_collections(a, b, context)
    verdict = compare_zero_sets(a, b, context, approximate=approximate)
    if a.kind == "inequality" and verdict.status == "equivalent":
        verdict = compare_sides(a, b, context, verdict)
    is_open = a.kind == "inequality" and verdict.status == "undecided"
    is_arithmetic = a.kind == "equation" and verdict.reason == "identity" and not symbols(*a.members)
    if (is_open or is_arithmetic) and _is_copy(a, b):
        return Verdict("equivalent", "same_form", "proved", cost=verdict.cost)
    if a.kind == "equation" and is_worked_out(as_written[0]):
        return _with_operations_seen(a, b, as_written, context, verdict)
    return verdict


@lru_cache(maxsize=FORMULAS_KEPT)
def _is_simple(f: Formula) -> bool:
    """Whether a formula is an equation that is compared as it stands: what most formulas are."""
    return f.kind == "equation" and traits_of(f).ops.isdisjoint(_WORKED) and not speaks_of_operators(f)


def _with_operations_seen(
    a: Formula, b: Formula, as_written: tuple[Formula, Formula], context: Context, verdict: Verdict
) -> Verdict:
    """A reference that says what an integral or a derivative comes to is matched by what says so, up to a factor."""
    if verdict.status == "equivalent":
        is_said = is_worked_out(as_written[1]) or not is_identity(a, context)
        return verdict if is_said else replace(verdict, status="different", reason="identity", proof=None)
    if verdict.reason in _OF_IDENTITIES and do_correspond(a, b, as_written, context):
        return Verdict("equivalent", "same_value", "tested", cost=verdict.cost)
    return verdict


def _is_copy(a: Formula, b: Formula) -> bool:
    """Whether two formulas have the same members, which are not the same as each other, and the same relation."""
    mine, yours = ([canonical(member) for member in f.members] for f in (a, b))
    return a.relations == b.relations and mine == yours and len(set(mine)) > 1


def _any_member(a: Formula, b: Formula, context: Context) -> Verdict:
    """A bare reference against an equation: it matches any whole member (semantics Z.8)."""
    verdicts = [compare(a, formula((member,), (), "", b.depends), context) for member in b.members]
    return min(verdicts, key=lambda verdict: RANK[verdict.status])


def _compare_statements(a: Formula, b: Formula, context: Context) -> Verdict:
    """Relations other than equality and order: `a != b` has the boundary `a = b`; the rest only word for word."""
    if a.relations != b.relations and _MIRRORED.get(a.relations[0]) == b.relations[0]:
        b = replace(b, members=b.members[::-1], relations=a.relations)
    if a.relations != b.relations:
        return Verdict("different", "kind")
    if a.relations == ("!=",):
        one, two = (replace(f, kind="equation", relations=("=",)) for f in (a, b))
        return compare(one, two, context)
    if [canonical(member) for member in a.members] == [canonical(member) for member in b.members]:
        return Verdict("equivalent", "same_form", "proved")
    if a.relations == ("in",):
        return _worst([compare(*pair, context) for pair in _entries_of(a, b, a.members, b.members)])
    return Verdict("undecided", "unsupported", detail=f"the relation {a.relations[0]}")


def _compare_proportions(a: Formula, b: Formula, context: Context) -> Verdict:
    r"""`T \propto \sqrt L` beside `T^2 \propto L`, or beside `T = 2\pi\sqrt{L/g}` (semantics Z.8).

    With G the logarithm of left over right, both say that G is constant: so they do iff one G is the other times a
    number and plus one, for all values of the symbols of the reference. Symbols that only the claim has are its
    factor, and the same at every place.
    """
    names = symbols(*a.members)
    if not names <= symbols(*b.members) or (b.relations == a.relations and names != symbols(*b.members)):
        return Verdict("different", "live_variables")
    ones, twos = (
        [Expr("ln", (_at_place(Expr("div", f.members), names, place),)) for place in ("", "'1", "'2", "'3")]
        for f in (a, b)
    )
    first = Expr("mul", (Expr("sub", (ones[0], ones[1])), Expr("sub", (twos[2], twos[3]))))
    second = Expr("mul", (Expr("sub", (ones[2], ones[3])), Expr("sub", (twos[0], twos[1]))))
    if not is_identity(formula((first, second), ("=",)), context):
        return Verdict("different", "ratio")
    if any(_chooses(f) for f in (a, b)):
        return Verdict("undecided", "unsupported", detail="a proportion between cases")
    if any(is_identity(formula((side[0], side[1]), ("=",)), context) for side in (ones, twos)):
        return Verdict("different", "identity")
    return Verdict("equivalent", "same_zero_set", "tested")


def _chooses(f: Formula) -> bool:
    """Whether a case, a sign, a whole part or the larger of two stands in it: its draws may fall to one side only."""
    nodes = (node for member in f.members for node in walk(member))
    return any(
        node.op in ("cases", "floor", "ceil") or (node.op == "apply" and node.name in _CHOICES) for node in nodes
    )


def _at_place(node: Expr, names: frozenset[str], place: str) -> Expr:
    return substitute(node, {symbol(name): symbol(name + place) for name in names})


def _collection(node: Expr) -> str:
    """Kind of a set, tuple or interval; empty for an expression with a value."""
    return _COLLECTIONS.get(node.op, "")


def _compare_collections(a: Formula, b: Formula, context: Context) -> Verdict:
    """Sets whatever their order, tuples and intervals in theirs."""
    one, two = a.members[0], b.members[0]
    kinds = [_collection(one), _collection(two)]
    if sorted(kinds) == ["interval", "tuple"] and len(one.args) == len(two.args) == 2:
        kinds, one, two = ["interval"] * 2, _as_interval(one), _as_interval(two)  # (0, 9) beside [0, 9)
    if kinds[0] != kinds[1]:
        if {"set", "tuple"} != set(kinds):
            return Verdict("different", "kind")
        if len(one.args) == len(two.args):  # values in round brackets: the same, if they stand in the same order
            verdict = _worst([compare(*pair, context) for pair in _entries_of(a, b, one.args, two.args)])
            if verdict.status == "equivalent":
                return verdict
        return Verdict("undecided", "unsupported", detail="a set and a tuple")
    if max(len(one.args), len(two.args)) > MAX_ENTRIES:
        return Verdict("undecided", "too_large", detail=f"more than {MAX_ENTRIES} entries")
    if any(inner.op == "dots" for node in (one, two) for inner in walk(node)):
        same = canonical(one) == canonical(two)
        return (
            Verdict("equivalent", "same_form", "proved") if same else Verdict("undecided", "unsupported", detail="dots")
        )
    if kinds[0] in _ENTRYWISE:
        if len(one.args) != len(two.args) or (kinds[0] == "interval" and one.name != two.name):
            return Verdict("different", "kind")
        return _worst([compare(*pair, context) for pair in _entries_of(a, b, one.args, two.args)])
    return _same_elements(a, b, one.args, two.args, context)


def _as_interval(node: Expr) -> Expr:
    return node if node.op == "interval" else Expr("interval", node.args, name="()")


def _entries_of(
    a: Formula, b: Formula, ones: tuple[Expr, ...], twos: tuple[Expr, ...]
) -> list[tuple[Formula, Formula]]:
    return [(_bare(a, one), _bare(b, two)) for one, two in zip(ones, twos, strict=True)]


def _bare(f: Formula, value: Expr) -> Formula:
    return formula((value,), (), "", f.depends)


def _same_elements(a: Formula, b: Formula, ones: tuple[Expr, ...], twos: tuple[Expr, ...], context: Context) -> Verdict:
    """Each element of the one is in the other, and the other way round."""
    table = [[compare(_bare(a, one), _bare(b, two), context) for two in twos] for one in ones]
    best = [min(row, key=lambda verdict: RANK[verdict.status]) for row in table]
    best += [min(column, key=lambda verdict: RANK[verdict.status]) for column in zip(*table, strict=True)]
    if not best:
        return Verdict("equivalent" if len(ones) == len(twos) else "different", "same_form" if ones == twos else "kind")
    return _worst(best)


def _worst(verdicts: list[Verdict]) -> Verdict:
    """What several verdicts that are all needed say together."""
    worst = max(verdicts, key=lambda verdict: RANK[verdict.status])
    if worst.status == "equivalent" and any(verdict.proof != "proved" for verdict in verdicts):
        worst = replace(worst, reason="same_value", proof="tested")
    return replace(worst, cost=sum(verdict.cost for verdict in verdicts))
