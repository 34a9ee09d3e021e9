"""Whether a claim says what a reference says, with all that the problem knows (semantics O and N).

A claim states several things, and a reference may need several. Each pair is compared as it stands, then attempt by
attempt with more of the problem put in, and the verdict says what was used. A reference that is a number is no
equation to be satisfied: its number has to be stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, formula, number, substituted, symbols, walk
from prism.engine.lowering import Mismatch
from prism.engine.tape import TapeTooLarge
from prism.equivalence.dispatch import compare
from prism.equivalence.notation import holds_matrix
from prism.equivalence.numbers import (
    Asked,
    Compared,
    Numeric,
    closed_number_of,
    compare_numbers,
    measure,
    number_in_constants,
    numeric_of,
    stated_number,
    worked_out_number,
)
from prism.equivalence.regions import are_regions, compare_regions
from prism.equivalence.statements import Statement, statements_of
from prism.equivalence.substitutions import (
    STAGES,
    Attempt,
    attempts,
    inconsistency_of,
    may_be_approximate,
    probes,
    resolved,
    resolved_pair,
    with_defined_put_in,
)
from prism.equivalence.verdict import RANK, Verdict
from prism.equivalence.zero_sets import is_identity
from prism.errors import LatexSyntaxError
from prism.physics.context import Context, Declaration, parse
from prism.physics.units import with_italic_units

MAX_EQUATIONS = 6  # of two systems that are solved together
_REACHES = (3e3, 3e6)  # of the unknowns of two systems, from minus to plus: where else to look for solutions
FORMULAS_KEPT = 4096  # formulas whose links and numbers are remembered in a process
_APART = Fraction(5, 100)  # relative, of two members of a chain that contradict each other (semantics C.1)
PAIRS_KEPT = 16384  # verdicts remembered in a process
_TO_BE_WORKED_OUT = frozenset(("sym", "integral", "sum", "product", "limit", "derivative", "partial", "at"))
_KINDS_KEPT = frozenset(("equation", "inequality", "expression"))  # which no value that is put in changes
_VALUES = STAGES.index("givens put in")
_TIED = 2  # quantities of a formula that a condition has to connect for it to be a special case
_MANY_TO_ONE = frozenset(("sin", "cos", "tan", "cot", "sec", "csc", "cosh"))
_NOTHING_KNOWN = Context()
_AS_IT_STANDS = Asked()


def equivalent(a: Formula | str, b: Formula | str, *, context: Context | None = None) -> Verdict:
    r"""Decide whether two formulas say the same thing.

    Points are drawn on the zero set of each formula and tested on the other. Agreement at ten points from each
    side is strong evidence, not proof; one disagreement is proof, and is returned as a witness.

    Args:
        a, b: reference and claim: formulas, or LaTeX in any form that `parse` reads. The decision is symmetric but
            for bare expressions, chains and stated numbers: a chain as the claim states several formulas, and one
            must agree; a chain as the reference needs all its links; a measured number as the reference has to be
            stated, within the tolerance of its figures.
        context: symbols, domains, constants, definitions and values of the problem; by default every symbol is a
            positive real number.

    Returns:
        Verdict. `different` carries a witness where there is one; `undecided` a reason such as `too_few_points`,
        `unsupported`, `too_large`, `parse_error`. Never an exception for LaTeX.

    Source: PRISM-Physics (arXiv 2510.03185), Algorithm 1. Twin: tests/reference.py::equivalent

    >>> equivalent(r"2 h = g t^2", r"t = \sqrt{2h/g}").status
    'equivalent'
    >>> equivalent(r"E = \frac12 m v^2", r"E = m v^2").reason
    'witness'
    """
    context = context or _NOTHING_KNOWN
    try:
        reference = parse(a, context=context) if isinstance(a, str) else a
        claim = parse(b, context=context) if isinstance(b, str) else b
    except LatexSyntaxError as error:
        return Verdict("undecided", "parse_error", detail=str(error))
    return match(reference, claim, context)


def match(reference: Formula, claim: Formula, context: Context, asked: Asked = _AS_IT_STANDS) -> Verdict:
    """As `equivalent`, for formulas; a reference that is a number is taken as it is asked for."""
    if are_regions(reference, claim):
        return compare_regions(resolved(reference), resolved(claim), context)
    if reference.kind == "implication":
        return _in_order(reference, claim, context)
    stated = statements_of(claim)
    verdicts = [_best(needed, stated, context, asked) for needed in _needed(reference, context)]
    worst = max(verdicts, key=lambda verdict: RANK[verdict.status])
    if worst.status != "equivalent" and (joint := _joint(reference, claim, context)) is not None:
        return replace(joint, cost=joint.cost + sum(verdict.cost for verdict in verdicts))
    return worst


@lru_cache(maxsize=FORMULAS_KEPT)
def _needed(reference: Formula, context: Context) -> tuple[Statement, ...]:
    r"""What a claim has to say of a reference: of a chain its links, but for steps of algebra and arithmetic.

    Of `x = 2 \times 3 = 6` and `y = (a + b)^2 = a^2 + 2ab + b^2` the second link says nothing of its own.
    """
    needed = statements_of(reference, needed=True)
    if len(needed) == 1:
        return needed
    return tuple(each for each in needed if not says_nothing(each.formula, context)) or needed


def says_nothing(f: Formula, context: Context) -> bool:
    """Whether a formula is an equation that holds whatever its symbols are."""
    if f.parts or f.kind != "equation":
        return False
    try:
        return is_identity(resolved(f), context)
    except (TapeTooLarge, Mismatch):
        return False


def _joint(a: Formula, b: Formula, context: Context) -> Verdict | None:
    """Two systems of equations by their common solutions: `x + y = 3, x - y = 1` is `x = 2, y = 1`.

    A system is also what the rows of an equation between matrices say. As many equations as symbols leave nothing to
    draw: the unknowns have either sign, and Newton's method has to begin near each solution to find it. So it begins
    in wide ranges too, and they have to agree: `x = 1` is not `x^2 - 1001x + 1000 = 0`. None for anything else.
    """
    if a.kind != "system" and b.kind != "system" and not holds_matrix((*a.members, *b.members)):
        return None
    parts = [_equations(f) for f in (a, b)]
    if not all(parts) or max(map(len, parts)) == 1 or max(map(len, parts)) > MAX_EQUATIONS:
        return None
    names = frozenset(name for each in parts for part in each for name in symbols(*part.members))
    one, two = (_stacked(resolved(f)) if f.parts else resolved(f) for f in (a, b))
    if len(names) != max(map(len, parts)):
        return compare(one, two, context)
    verdicts: list[Verdict] = []
    for domain in (None, *((-reach, reach) for reach in _REACHES)):
        unknown = Declaration("real", domain)
        known = replace(context, symbols={**dict.fromkeys(sorted(names), unknown), **context.symbols})
        verdicts.append(compare(one, two, known))
        if verdicts[-1].status != "equivalent":
            break
    return replace(verdicts[-1], cost=sum(verdict.cost for verdict in verdicts))


def _equations(f: Formula) -> tuple[Formula, ...]:
    """The equations of a system; an equation between matrices is one; none of anything else."""
    parts = f.parts if f.kind == "system" else (f,) if f.kind == "equation" and holds_matrix(f.members) else ()
    return parts if all(part.kind == "equation" for part in parts) else ()


def _stacked(system: Formula) -> Formula:
    """A system as one equation between columns."""
    rows = tuple(Expr("row", (Expr("sub", part.members),)) for part in system.parts)
    depends = frozenset(pair for part in system.parts for pair in part.depends)
    return formula((Expr("matrix", rows), number(0)), ("=",), system.latex, depends)


def _in_order(reference: Formula, claim: Formula, context: Context) -> Verdict:
    """An implication against another: each part of the one says what the part of the other in its place says."""
    if claim.kind != "implication" or len(claim.parts) != len(reference.parts):
        return Verdict("undecided", "unsupported", detail="an implication")
    pairs = zip(reference.parts, claim.parts, strict=True)
    verdicts = [match(wanted, said, context) for wanted, said in pairs]
    if all(verdict.status == "equivalent" for verdict in verdicts):
        return verdicts[0]
    return Verdict("undecided", "unsupported", detail="an implication", cost=sum(verdict.cost for verdict in verdicts))


def _conditions_meet(needed: Statement, stated: Statement, context: Context) -> bool:
    """Whether two statements that both name conditions name the same; one that only one side names is let pass.

    Each condition of the one is one of the other, both ways: a list of conditions that contradict each other meets
    nothing.
    """
    spans, others = dict(needed.whole), dict(stated.whole)
    if not spans.keys().isdisjoint(stated.settled):
        return False
    if any(not _same_span(span, spans.get(name, span)) for name, span in others.items()):
        return False
    wanted = tuple(condition for condition in needed.conditions if not _is_first(condition, others))
    named = tuple(condition for condition in stated.conditions if not _is_first(condition, spans))
    if not wanted or not named:
        ranged = spans if named else others
        return not any(symbols(*condition.members) & ranged.keys() for condition in (*wanted, *named))
    if all(part.kind != "statement" or part.relations == ("in",) for part in (*wanted, *named)):
        one, two = (_all_of(conditions) for conditions in (wanted, named))
        if are_regions(one, two) and compare_regions(resolved(one), resolved(two), context).status == "equivalent":
            return True
    table = [[_best(Statement(one), (Statement(two),), context, Asked()).status for two in named] for one in wanted]
    lines = [*table, *zip(*table, strict=True)]
    return all("equivalent" in line for line in lines)


def _is_special_case(needed: Statement, stated: Statement, context: Context, asked: Asked) -> bool:
    r"""Whether a statement is restricted to an equation between its own quantities that the problem does not make.

    `F = ma \text{ for } m = 3a` speaks of one body only. A value of one quantity (`at t = 0`), an approximation, a
    symbol that the solution introduces, and what the problem or its reference says restrict nothing.
    """
    if needed.conditions or not stated.restrictions:
        return False
    own = symbols(*needed.formula.members, *stated.formula.members)
    for condition in stated.restrictions:
        tied = symbols(*condition.members)
        is_exact = bool(condition.relations) and {"=", "equiv"}.issuperset(condition.relations)
        if not is_exact or len(tied & own) < _TIED or says_nothing(condition, context):
            continue
        lone = {member.name for member in condition.members if member.op == "sym"}
        is_new = bool(lone - context.declared - symbols(*needed.formula.members))
        known = (*context.definitions, *asked.settled)
        if not is_new and not any(_says_as_it_stands(each, condition, context) for each in known):
            return True
    return False


def _is_of_values_only(reference: Formula, claim: Formula, context: Context, asked: Asked) -> bool:
    r"""Whether a claim takes a function of both sides that does not tell their arguments apart.

    `\sin F = \sin ma` does not say that `F = ma`; without its sines it would. Where the reference has one of these
    functions itself (`n_1 \sin\theta_1 = n_2 \sin\theta_2`) the claim is what it says.
    """
    taken = dict.fromkeys(node for member in claim.members for node in _outermost(member))
    if not taken or any(node in taken for member in reference.members for node in _outermost(member)):
        return False
    bare = substituted(claim, {node: node.args[0] for node in taken})
    return _decided(reference, bare, context, asked).status == "equivalent"


def _outermost(node: Expr) -> Iterator[Expr]:
    """Functions with the same value at several arguments, those that stand in no other one."""
    if node.op in _MANY_TO_ONE and symbols(node):
        yield node
    else:
        for arg in node.args:
            yield from _outermost(arg)


def _says_as_it_stands(one: Formula, other: Formula, context: Context) -> bool:
    """Whether one formula is the other before any value is put in."""
    verdict = _best(Statement(one), (Statement(other),), context, Asked())
    return verdict.status == "equivalent" and verdict.stage < _VALUES


def _all_of(conditions: tuple[Formula, ...]) -> Formula:
    return conditions[0] if len(conditions) == 1 else Formula("system", (), (), parts=conditions)


def _same_span(one: str, other: str) -> bool:
    """Whether two ranges of whole numbers are one; the natural numbers begin with 0 or with 1."""
    return one == other or {one, other} in ({"N", "0"}, {"N", "1"})


def _is_first(condition: Formula, spans: Mapping[str, str]) -> bool:
    r"""Whether a bound only says where a range begins: `n \ge 1` and `n > 0` beside `n = 1, 2, \ldots`."""
    if condition.kind != "inequality":
        return False
    subject, limit = condition.members
    relation = condition.relations[0]
    if relation in ("<", "<="):
        subject, limit, relation = limit, subject, {"<": ">", "<=": ">="}[relation]
    if subject.op != "sym" or limit.value is None or relation not in (">", ">="):
        return False
    span = spans.get(subject.name)
    if span is None or span == "Z" or limit.value.denominator != 1:
        return False
    first = str(limit.value + 1 if relation == ">" else limit.value)
    return _same_span(span, first)


def _best(needed: Statement, stated: tuple[Statement, ...], context: Context, asked: Asked) -> Verdict:
    """The first statement that is equivalent, else the nearest to it; the cost is that of all attempts."""
    best: Verdict | None = None
    cost = 0
    for statement in stated:
        known = context
        if needed.whole or statement.whole:
            known = _with_whole_numbers(context, frozenset(name for name, _ in (*needed.whole, *statement.whole)))
        verdict = _decided(needed.formula, statement.formula, known, asked)
        cost += verdict.cost
        if verdict.status == "equivalent" and not _conditions_meet(needed, statement, context):
            verdict = Verdict("undecided", "unsupported", detail="the conditions under which they hold")
        elif verdict.status == "equivalent" and _is_special_case(needed, statement, context, asked):
            verdict = Verdict("undecided", "unsupported", detail="a condition that the problem does not make")
        elif verdict.status == "equivalent" and _is_of_values_only(needed.formula, statement.formula, known, asked):
            verdict = Verdict("undecided", "unsupported", detail="equal values do not make equal arguments")
        elif verdict.status == "equivalent" and _is_taken_back(needed.formula, statement.formula, stated, context):
            verdict = Verdict("different", "other_number", detail="the formula beside it gives another number")
        if best is None or RANK[verdict.status] < RANK[best.status]:
            best = verdict
        if best.status == "equivalent":
            break
    assert best is not None
    return best if best.cost == cost else replace(best, cost=cost)


def _is_taken_back(reference: Formula, claim: Formula, stated: tuple[Statement, ...], context: Context) -> bool:
    """Whether a number that stands for a formula comes from another formula, which gives something else.

    `K = m v^2 = 9 J`, where half of it is 9 J, says that K is m v^2.
    """
    said = number_of(claim, context) or closed_number_of(claim)
    if said is None or numeric_of(reference) is not None:
        return False
    for other in stated:
        if other.formula.kind != "equation":
            continue
        for subject, expr in (other.formula.members, other.formula.members[::-1]):
            found = measure(expr, context) if subject == said.subject and _is_of_givens(expr, context) else None
            if found is not None and abs(found[0] - said.number.in_si) > _APART * abs(found[0]):
                return True
    return False


def _is_of_givens(expr: Expr, context: Context) -> bool:
    return bool(names := symbols(expr)) and names <= context.givens.keys()


def _with_whole_numbers(context: Context, names: frozenset[str]) -> Context:
    """The context with symbols of which it says nothing declared as whole numbers."""
    return replace(context, symbols={**{name: Declaration("integer") for name in sorted(names)}, **context.symbols})


@lru_cache(maxsize=PAIRS_KEPT)
def _decided(reference: Formula, claim: Formula, context: Context, asked: Asked) -> Verdict:
    """One statement against another.

    Remembered: the rollouts of a problem say the same things again and again.
    """
    if "sim" in claim.relations and "sim" not in reference.relations:
        return Verdict("different", "kind", detail="`\\sim` gives an order of magnitude, and states no equality")
    wanted = numeric_of(reference)
    said = number_of(claim, context)
    if wanted is not None and said is not None and said.subject == wanted.subject:
        if not wanted.number.is_exact or (asked.is_node and not said.number.is_exact):
            return _by_number(wanted, said, asked)
    elif wanted is not None and asked.is_node and claim.kind == "equation" and not _is_worked_out(claim, wanted):
        return Verdict("different", "unstated")
    if wanted is None and said is not None and (refused := _refused_beside(said, asked)) is not None:
        return Verdict(refused.status, refused.reason, detail=refused.detail)
    verdict = _attempted(reference, claim, context)
    if verdict.status != "equivalent" and context.givens:
        return _by_worked_out_number(reference, claim, context, asked, verdict)
    return verdict


def _is_worked_out(claim: Formula, wanted: Numeric) -> bool:
    r"""Whether a claim without a number of its own says an exact one, and does not leave it to be found by the engine.

    `3n = 6` says that n is 2; `n = 2b/b` and `Z = \int_0^\pi \sin x dx` say only how it would be found. Zero has to be
    written as 0 (semantics N.3), as in `2Q = 0`. A measured number is never said in this way.
    """
    if not wanted.number.is_exact:
        return False
    if not wanted.number.value:
        named = any(node == wanted.subject for member in claim.members for node in walk(member))
        return not named or any(_is_zero(member) for member in claim.members)
    others = [member for member in claim.members if member != wanted.subject]
    if len(others) == len(claim.members):
        return True
    nodes = [node for member in others for node in walk(member)]
    return _TO_BE_WORKED_OUT.isdisjoint(node.op for node in nodes)


def _is_zero(member: Expr) -> bool:
    """Whether a member is written as 0: with a sign or a unit, or as a table of nothing else."""
    if member.op in ("matrix", "row", "tuple", "list"):
        return all(_is_zero(arg) for arg in member.args)
    number = stated_number(member)
    return number is not None and not number.value


@lru_cache(maxsize=FORMULAS_KEPT)
def number_of(claim: Formula, context: Context) -> Numeric | None:
    """The number that a claim states; letters behind it may be units (`f = 50 Hz`)."""
    found = numeric_of(claim)
    if found is not None or claim.kind != "equation":
        return found
    members = tuple(with_italic_units(member, context.declared) or member for member in claim.members)
    found = None if members == claim.members else numeric_of(replace(claim, members=members))
    return found or number_in_constants(claim, context)


def _refused_beside(said: Numeric, asked: Asked) -> Compared | None:
    """Why no other node that states a number of this quantity takes it; None if one does, or there is none."""
    found = [
        compare_numbers(number, said.number, how) for number, how in asked.beside if number.subject == said.subject
    ]
    return None if not found or any(each.status == "equivalent" for each in found) else found[0]


def _by_number(wanted: Numeric, said: Numeric, asked: Asked) -> Verdict:
    found = compare_numbers(wanted, said.number, asked)
    proof = "tested" if found.status == "equivalent" else None
    return Verdict(found.status, found.reason, proof, readings=found.readings, detail=found.detail)


def _by_worked_out_number(
    reference: Formula, claim: Formula, context: Context, asked: Asked, otherwise: Verdict
) -> Verdict:
    """A formula whose inputs are all given is stated by its number too (semantics N.4), as a final answer would be."""
    said = number_of(claim, context) or closed_number_of(claim)
    wanted = worked_out_number(with_defined_put_in(reference, said.subject, context), said, context) if said else None
    if said is None or wanted is None:
        return otherwise
    found = _by_number(wanted, said, Asked(figures=3, is_final=asked.is_node, is_node=asked.is_node))
    if found.status != "equivalent":
        return otherwise if otherwise.status == "undecided" else replace(found, cost=otherwise.cost)
    return replace(found, readings=(*found.readings, "given: all that it depends on"), stage=6, cost=otherwise.cost)


def _differ_in_kind(reference: Formula, claim: Formula) -> bool:
    """Whether two formulas are of different kinds, whatever is put into them."""
    kinds = {reference.kind, claim.kind}
    return len(kinds) > 1 and kinds <= _KINDS_KEPT and (reference.kind, claim.kind) != ("expression", "equation")


def _tried(attempt: Attempt, context: Context, *, approximate: bool = False) -> Verdict:
    """One attempt; a match that does not depend on a value that was put in is none."""
    verdict = compare(attempt.reference, attempt.claim, context, approximate=approximate)
    cost = verdict.cost
    for probe in probes(attempt, context) if verdict.status == "equivalent" else ():
        other = compare(probe.reference, probe.claim, context, approximate=approximate)
        cost += other.cost
        if other.status == "equivalent":
            return Verdict("undecided", "too_few_points", detail="a given value is too small to be seen", cost=cost)
    return replace(verdict, cost=cost)


def _attempted(reference: Formula, claim: Formula, context: Context) -> Verdict:
    """The stages of semantics O, in order, up to the first that makes the two the same."""
    tried: list[Attempt] = [Attempt(*resolved_pair(reference, claim))]
    plain = verdict = compare(tried[0].reference, tried[0].claim, context)
    cost = plain.cost
    if plain.status == "equivalent":
        return plain
    tries = () if _differ_in_kind(reference, claim) else attempts(reference, claim, context)
    for attempt in tries:
        tried.append(attempt)
        verdict = _tried(attempt, context)
        cost += verdict.cost
        if verdict.status == "equivalent":
            return replace(verdict, readings=attempt.readings, stage=attempt.stage, cost=cost)
    imprecise: Verdict | None = None
    for attempt in tried:
        if not may_be_approximate(attempt.reference, attempt.claim):
            continue
        verdict = _tried(attempt, context, approximate=True)
        cost += verdict.cost
        if verdict.status == "equivalent":
            return replace(verdict, readings=attempt.readings, stage=7, cost=cost)
        if verdict.reason == "imprecise" and imprecise is None:
            imprecise = verdict
    if imprecise is not None:
        return replace(imprecise, cost=cost)
    if plain.status == "different" and (fault := inconsistency_of(claim, context)):
        return replace(plain, reason="dimension", detail=fault, cost=cost)
    return plain if plain.cost == cost else replace(plain, cost=cost)
