r"""The comparison that the kinds of two formulas need (semantics Z.7, Z.8).

Equations and bare expressions are compared by what they are zero for; inequalities by their boundary and its sides;
sets, tuples and intervals entry by entry; other relations word for word.
"""

from __future__ import annotations

from dataclasses import replace

from prism.algebra.alternatives import as_product
from prism.algebra.calculus import evaluate_operations, possible_unknowns
from prism.algebra.expr import Expr, Formula, canonical, formula, ops_of, substitute, symbol, symbols, walk
from prism.algebra.noncommutative import order_operator_products
from prism.algebra.symbols import symbol_of
from prism.budget import charge_steps
from prism.engine.lowering import Mismatch
from prism.engine.tape import TapeTooLarge
from prism.equivalence.facts import FormulaFacts, facts_of
from prism.equivalence.identities import is_worked_out, work_out_same_operation
from prism.equivalence.inequality_sides import compare_inequality_sides
from prism.equivalence.notation.choice import with_matching_calls
from prism.equivalence.points.screens import STEPS, STEPS_PER_NODE
from prism.equivalence.points.zero_sets import compare_zero_sets, is_identity
from prism.equivalence.verdict import OTHER_KIND, RANK, Status, Verdict
from prism.physics.context import EMPTY_CONTEXT, Context

MAX_ENTRIES = 24  # of a set or tuple: each entry of one is compared with each of the other

_COLLECTIONS = {"set": "set", "list": "set", "tuple": "tuple", "interval": "interval", "union": "union"}
_MIRRORED = {"<<": ">>", ">>": "<<", "<~": ">~", ">~": "<~"}
_CHOOSING_FUNCTIONS = frozenset(("max", "min", "sgn", "sign", r"\Theta"))
_OPEN_REASONS = ("identity", "too_few_points", "unsupported")  # with which two identities may be left undecided
_DEARER = 3  # times what a refutation by screens takes
_ENTRYWISE = frozenset(("tuple", "interval"))
_SAME_FORM = Verdict(Status.EQUIVALENT, "same_form", "proved")


def compare(a: Formula, b: Formula, context: Context = EMPTY_CONTEXT, *, approximate: bool = False) -> Verdict:
    """Compare two formulas as they are, by the comparison that their kinds need; nothing is substituted.

    Args:
        a, b: the reference and the claim, in base units.
        context: kinds of symbols.
        approximate: decimals count as equal within their own precision.

    Returns:
        Verdict; undecided if a formula is too large for the engine, or has a vector where a number belongs.
    """
    one, two = facts_of(a), facts_of(b)
    charge_steps(_DEARER * (STEPS + STEPS_PER_NODE * (one.n_nodes + two.n_nodes)))
    try:
        return _compare_by_kind(one, two, context, approximate=approximate)
    except TapeTooLarge as error:
        return Verdict(Status.UNDECIDED, "too_large", detail=str(error))
    except Mismatch as error:
        return Verdict(Status.UNDECIDED, "unsupported", detail=str(error))


def _compare_by_kind(one: FormulaFacts, two: FormulaFacts, context: Context, *, approximate: bool) -> Verdict:
    """Make the comparison that the kinds of two formulas (equation, inequality, set, ...) need; see `compare`."""
    as_written = a, b = one.formula, two.formula
    if not (one.is_plain and two.is_plain):
        as_written = with_matching_calls(a, b)
        a, b = map(as_product, order_operator_products(*evaluate_operations(*as_written)))
    if a.kind == b.kind == "equation":
        verdict = _compare_equations(a, b, as_written, context, approximate=approximate)
        is_settled = verdict.status != Status.EQUIVALENT or as_written == (a, b)
        return verdict if is_settled else _unless_factors_vary(a, b, as_written, context, verdict)
    if a.kind == "expression" and b.kind == "equation":
        return _compare_any_member(a, b, context)
    if a.relations == b.relations == ("propto",) and _is_copy(a, b):
        return _SAME_FORM
    if a.relations == ("propto",) and (b.relations == a.relations or b.kind == "equation"):
        return _compare_proportions(a, b, context)
    if a.kind != b.kind:
        return OTHER_KIND
    if a.kind == "chain":
        return Verdict(Status.UNDECIDED, "unsupported", detail="a chain against a chain")
    if a.parts:
        return Verdict(Status.UNDECIDED, "unsupported", detail="several formulas in one")
    if a.kind == "statement":
        return _compare_statements(a, b, context)
    if a.kind == "expression" and (_collection_kind(a.members[0]) or _collection_kind(b.members[0])):
        return _compare_collections(a, b, context)
    verdict = compare_zero_sets(a, b, context, approximate=approximate)
    if a.kind == "inequality" and verdict.status == Status.EQUIVALENT:
        verdict = compare_inequality_sides(a, b, context, verdict)
    if a.kind == "inequality" and verdict.status == Status.UNDECIDED and _is_copy(a, b):
        return _SAME_FORM
    return verdict


def _compare_equations(
    a: Formula, b: Formula, as_written: tuple[Formula, Formula], context: Context, *, approximate: bool
) -> Verdict:
    """Compare two equations, as `compare` does.

    Args:
        a, b: after derivatives and limits were evaluated, operators ordered and alternatives joined; `as_written`:
            before.
    """
    verdict = compare_zero_sets(a, b, context, approximate=approximate)
    is_numeric = all(symbol_of(name).is_unit for name in symbols(*a.members))
    if verdict.reason == "identity" and is_numeric and _is_copy(a, b):
        return _SAME_FORM
    return _with_operations_checked(a, b, as_written, context, verdict) if is_worked_out(as_written[0]) else verdict


def _unless_factors_vary(
    a: Formula, b: Formula, as_written: tuple[Formula, Formula], context: Context, verdict: Verdict
) -> Verdict:
    """Return `equivalent` as it is, unless it only is so where an unknown function of an equation is a constant."""
    pairs = possible_unknowns(as_written[0]) | possible_unknowns(as_written[1])
    varying = frozenset(pair for pair in pairs if pair[0] not in context.givens)
    if not varying:
        return verdict
    one, two = map(as_product, order_operator_products(*evaluate_operations(*as_written, varying)))
    if (one, two) == (a, b):
        return verdict
    second = _compare_equations(one, two, as_written, context, approximate=verdict.approximate)
    if second.status == Status.EQUIVALENT:
        return verdict
    return Verdict(Status.UNDECIDED, "unsupported", detail="whether a letter below a derivative varies")


def _with_operations_checked(
    a: Formula, b: Formula, as_written: tuple[Formula, Formula], context: Context, verdict: Verdict
) -> Verdict:
    """Correct the verdict on a reference that states the result of an integral or derivative.

    A claim that holds whatever its symbols are, and has no such operation, states no result: it is made different. A
    claim that works out the same operation is made equivalent.

    Args:
        a, b: reference and claim after derivatives and limits were evaluated; `as_written`: before.
        verdict: on `a` and `b`.
    """
    if verdict.status == Status.EQUIVALENT:
        has_operation = is_worked_out(as_written[1]) or not is_identity(a, context)
        return verdict if has_operation else replace(verdict, status=Status.DIFFERENT, reason="identity", proof=None)
    if verdict.reason in _OPEN_REASONS and work_out_same_operation(a, b, as_written, context):
        return Verdict(Status.EQUIVALENT, "same_value", "tested")
    return verdict


def _is_copy(a: Formula, b: Formula) -> bool:
    """Return True if two formulas have the same relations and canonically the same members, not all of them alike."""
    first, second = ([canonical(member) for member in f.members] for f in (a, b))
    return a.relations == b.relations and first == second and len(set(first)) > 1


def _compare_any_member(a: Formula, b: Formula, context: Context) -> Verdict:
    """Compare a bare expression with each member (`a`, `b` of `a = b`) of a claim; the best verdict counts."""
    verdicts = [compare(a, formula((member,), (), "", b.depends), context) for member in b.members]
    return min(verdicts, key=lambda verdict: RANK[verdict.status])


def _compare_statements(a: Formula, b: Formula, context: Context) -> Verdict:
    r"""Compare relations other than equality and order, such as `!=`, `\in`, `\ll`.

    `a != b` is compared as `a = b`, membership by the entries, all others only by canonical form.
    """
    if a.relations != b.relations and _MIRRORED.get(a.relations[0]) == b.relations[0]:
        b = replace(b, members=b.members[::-1], relations=a.relations)
    if a.relations != b.relations:
        return OTHER_KIND
    if a.relations == ("!=",):
        one, two = (replace(f, kind="equation", relations=("=",)) for f in (a, b))
        return compare(one, two, context)
    if [canonical(member) for member in a.members] == [canonical(member) for member in b.members]:
        return _SAME_FORM
    if a.relations == ("in",):
        return _joint_verdict([compare(*pair, context) for pair in _entry_pairs(a, b, a.members, b.members)])
    return Verdict(Status.UNDECIDED, "unsupported", detail=f"the relation {a.relations[0]}")


def _compare_proportions(a: Formula, b: Formula, context: Context) -> Verdict:
    r"""Compare a proportion `T \propto \sqrt L` with another one, or with an equation `T = 2\pi\sqrt{L/g}`.

    With G = ln(left/right), each formula says that G is constant. They say the same if one G is a number times the
    other one plus a constant, for all values of the reference's symbols. Symbols that only the claim has are constants.
    """
    names = symbols(*a.members)
    if not names <= symbols(*b.members) or (b.relations == a.relations and names != symbols(*b.members)):
        return Verdict(Status.DIFFERENT, "live_variables")
    ones, twos = (
        [Expr("ln", (_with_suffix(Expr("div", f.members), names, place),)) for place in ("", "'1", "'2", "'3")]
        for f in (a, b)
    )
    first = Expr("mul", (Expr("sub", (ones[0], ones[1])), Expr("sub", (twos[2], twos[3]))))
    second = Expr("mul", (Expr("sub", (ones[2], ones[3])), Expr("sub", (twos[0], twos[1]))))
    if not is_identity(formula((first, second), ("=",)), context):
        return Verdict(Status.DIFFERENT, "ratio")
    if any(_has_choice(f) for f in (a, b)):
        return Verdict(Status.UNDECIDED, "unsupported", detail="a proportion between cases")
    if any(is_identity(formula((side[0], side[1]), ("=",)), context) for side in (ones, twos)):
        return Verdict(Status.DIFFERENT, "identity")
    return Verdict(Status.EQUIVALENT, "same_zero_set", "tested")


def _has_choice(f: Formula) -> bool:
    """Return True if a formula has cases, a sign, a floor or a maximum: random points may miss one of its branches."""
    nodes = (node for member in f.members for node in walk(member))
    return any(
        node.op in ("cases", "floor", "ceil") or (node.op == "apply" and node.name in _CHOOSING_FUNCTIONS)
        for node in nodes
    )


def _with_suffix(node: Expr, names: frozenset[str], suffix: str) -> Expr:
    """Rename the symbols `names` in an expression by a suffix, so that they stand for values of their own."""
    return substitute(node, {symbol(name): symbol(name + suffix) for name in names})


def _collection_kind(node: Expr) -> str:
    """Return `set`, `tuple`, `interval` or `union` for such a collection; an empty string for any other expression."""
    return _COLLECTIONS.get(node.op, "")


def _compare_collections(a: Formula, b: Formula, context: Context) -> Verdict:
    """Compare two collections: sets in any order of elements, tuples and intervals entry by entry."""
    one, two = a.members[0], b.members[0]
    kinds = [_collection_kind(one), _collection_kind(two)]
    if sorted(kinds) == ["interval", "tuple"] and len(one.args) == len(two.args) == 2:
        kinds, one, two = ["interval"] * 2, _as_interval(one), _as_interval(two)  # (0, 9) beside [0, 9)
    if kinds[0] != kinds[1]:
        if {"set", "tuple"} != set(kinds):
            return OTHER_KIND
        if len(one.args) == len(two.args):  # values in round brackets: the same, if they stand in the same order
            verdict = _joint_verdict([compare(*pair, context) for pair in _entry_pairs(a, b, one.args, two.args)])
            if verdict.status == Status.EQUIVALENT:
                return verdict
        return Verdict(Status.UNDECIDED, "unsupported", detail="a set and a tuple")
    if max(len(one.args), len(two.args)) > MAX_ENTRIES:
        return Verdict(Status.UNDECIDED, "too_large", detail=f"more than {MAX_ENTRIES} entries")
    if "dots" in ops_of(one, two):
        same = canonical(one) == canonical(two)
        return _SAME_FORM if same else Verdict(Status.UNDECIDED, "unsupported", detail="dots")
    if kinds[0] in _ENTRYWISE:
        if len(one.args) != len(two.args) or (kinds[0] == "interval" and one.name != two.name):
            return OTHER_KIND
        return _joint_verdict([compare(*pair, context) for pair in _entry_pairs(a, b, one.args, two.args)])
    return _compare_elements(a, b, one.args, two.args, context)


def _as_interval(node: Expr) -> Expr:
    """Return an interval as it is, and a tuple `(a, b)` as the open interval."""
    return node if node.op == "interval" else Expr("interval", node.args, name="()")


def _entry_pairs(
    a: Formula, b: Formula, entries_a: tuple[Expr, ...], entries_b: tuple[Expr, ...]
) -> list[tuple[Formula, Formula]]:
    """Pair the entries of two tuples or intervals by position, each as a formula that is a bare expression."""
    return [(_as_expression(a, one), _as_expression(b, two)) for one, two in zip(entries_a, entries_b, strict=True)]


def _as_expression(f: Formula, value: Expr) -> Formula:
    """Return an expression taken from formula `f` as a formula of its own without relation."""
    return formula((value,), (), "", f.depends)


def _compare_elements(
    a: Formula, b: Formula, elements_a: tuple[Expr, ...], elements_b: tuple[Expr, ...], context: Context
) -> Verdict:
    """Compare two sets: each element of either set has to equal one of the other."""
    table = [
        [compare(_as_expression(a, one), _as_expression(b, two), context) for two in elements_b] for one in elements_a
    ]
    best = [min(row, key=lambda verdict: RANK[verdict.status]) for row in table]
    best += [min(column, key=lambda verdict: RANK[verdict.status]) for column in zip(*table, strict=True)]
    if not best:
        return Verdict(
            Status.EQUIVALENT if len(elements_a) == len(elements_b) else Status.DIFFERENT,
            "same_form" if elements_a == elements_b else "kind",
        )
    return _joint_verdict(best)


def _joint_verdict(verdicts: list[Verdict]) -> Verdict:
    """Join the verdicts on parts that must all match: the worst of them."""
    worst = max(verdicts, key=lambda verdict: RANK[verdict.status])
    if worst.status == Status.EQUIVALENT and any(verdict.proof != "proved" for verdict in verdicts):
        worst = replace(worst, reason="same_value", proof="tested")
    return worst
