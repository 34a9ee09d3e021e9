"""The order of attempts with what the problem knows (semantics O): plain first, then constants.

Two formulas are compared as they stand. Only where that fails, and only where it can make their symbols meet, a
symbol that the problem leaves undeclared is read as a constant of nature: `k` as 1/(4 pi epsilon_0). The verdict
says what was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, product

from prism.context import Context, Declaration, may_be_constant, parse
from prism.equivalence import RANK, Verdict
from prism.errors import LatexSyntaxError
from prism.expr import (
    EQUALITIES,
    ORDERINGS,
    Expr,
    Formula,
    formula,
    number,
    plain_parts,
    spell,
    substitute,
    symbol,
    symbols,
    traits_of,
    walk,
)
from prism.fields import written_out
from prism.kinds import compare
from prism.lowering import uncertainty
from prism.notation import VECTOR, holds_matrix, length_of
from prism.operators import names_kept
from prism.quantities import constant_table, with_italic_units, with_units_resolved
from prism.regions import are_regions, compare_regions

MAX_ATTEMPTS = 12  # for one pair; a formula of nothing but constants has hundreds of readings
MAX_EQUATIONS = 6  # of two systems that are solved together
MAX_READ = 4  # symbols of one pair that are read as constants
MAX_ALTERNATIVES = 6  # joined by `or`; more are a list of guesses
MACHINE_PRECISION = 1e-10  # relative, of a decimal that a machine has written out
_REACHES = (3e3, 3e6)  # of the unknowns of two systems, from minus to plus: where else to look for solutions
MAX_CHAIN = 12  # members; a longer chain is a list of guesses
PAIRS_KEPT = 16384  # verdicts remembered in a process
FORMULAS_KEPT = 4096  # formulas whose marks and statements are remembered in a process
_WHOLE_NUMBERS = {r"\mathbb{N}": "N", r"\mathbb{Z}": "Z", r"\mathbb{N}_0": "0", r"\mathbb{N}^{*}": "1"}
_UNNAMED = symbol("?")  # the variable of a derivative that is written with primes
_NOTHING_KNOWN = Context()
_NOTHING_TAKEN: frozenset[str] = frozenset()


def equivalent(a: Formula | str, b: Formula | str, *, context: Context | None = None) -> Verdict:
    r"""Decide whether two formulas say the same thing.

    Points are drawn on the zero set of each formula and tested on the other. Agreement at ten points from each
    side is strong evidence, not proof; one disagreement is proof, and is returned as a witness.

    Args:
        a, b: reference and claim: formulas, or LaTeX in any form that `parse` reads. The decision is symmetric but
            for bare expressions and chains: a chain as the claim states several formulas, and one must agree; a
            chain as the reference needs all its links.
        context: symbols, domains, constants and values of the problem; by default every symbol is a positive real
            number.

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
    if are_regions(reference, claim):
        return compare_regions(resolved(reference), resolved(claim), context)
    if reference.kind == "implication":
        return _in_order(reference, claim, context)
    stated = _statements(claim)
    verdicts = [_best(needed, stated, context) for needed in _statements(reference, needed=True)]
    worst = max(verdicts, key=lambda verdict: RANK[verdict.status])
    if worst.status != "equivalent" and (joint := _joint(reference, claim, context)) is not None:
        return replace(joint, cost=joint.cost + sum(verdict.cost for verdict in verdicts))
    return worst


def _joint(a: Formula, b: Formula, context: Context) -> Verdict | None:
    """Two systems of equations by their common solutions: `x + y = 3, x - y = 1` is `x = 2, y = 1`.

    A system is also what the rows of an equation between matrices say. As many equations as symbols leave nothing to
    draw: the unknowns have either sign, and Newton's method has to begin near each solution to find it. So it begins
    in wide ranges too, and they have to agree: `x = 1` is not `x^2 - 1001x + 1000 = 0`. None for anything else.
    """
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


@dataclass(frozen=True, slots=True)
class _Statement:
    """One formula that a text states.

    Attributes:
        formula: what is stated.
        conditions: that the text names for it.
        whole: symbols that the text runs through whole numbers (`n = 1, 2, ...`), and which.
        settled: symbols of which the text says more beside it (`n = 7`, `n = 1, 3, 5`).
    """

    formula: Formula
    conditions: tuple[Formula, ...] = ()
    whole: tuple[tuple[str, str], ...] = ()
    settled: frozenset[str] = frozenset()


@lru_cache(maxsize=FORMULAS_KEPT)
def _statements(
    written: Formula,
    conditions: tuple[Formula, ...] = (),
    settled: frozenset[str] = frozenset(),
    *,
    needed: bool = False,
) -> tuple[_Statement, ...]:
    """What a formula states, each part with its conditions: bounds, sets and ranges that stand beside equations.

    Args:
        conditions, settled: of the whole that the formula is a part of; see `_Statement`.
        needed: of a chain only its links, which a claim has to say one by one; no ranges and sets, and no bounds on
            what an equation beside them speaks of.
    """
    if written.kind == "conditional":
        named = tuple(plain for part in written.parts[1:] for plain in plain_parts(part))
        return _statements(written.parts[0], conditions + named, settled | _settled(named), needed=needed)
    if written.parts and written.kind != "alternatives":
        bounds = tuple(part for part in written.parts if _is_condition(part, written))
        found: list[_Statement] = []
        for part in written.parts:
            if needed and part in bounds and (not _is_bound(part) or _limits_another(part, written)):
                continue
            beside = settled | _settled(tuple(other for other in written.parts if other is not part))
            named = conditions + (() if part in bounds else bounds)
            found += _statements(part, named, beside, needed=needed)
        return tuple(found)
    formulas = stated_formulas(written)
    if needed and written.kind == "chain":
        formulas = formulas[: len(written.relations)]
    ranges = {condition: _range(condition) for condition in conditions}
    whole = tuple(named for named in ranges.values() if named)
    plain = tuple(condition for condition in conditions if not ranges[condition])
    return tuple(_Statement(stated, plain, whole, settled) for stated in formulas)


def _settled(parts: tuple[Formula, ...]) -> frozenset[str]:
    r"""Symbols of which a part says more than a range of whole numbers: `n = 7`, `n = 1, 3`, `n = 2k`, `n \neq 2`."""
    return frozenset(
        member.name
        for part in parts
        if len(part.members) == 2 and part.relations[0] in (*EQUALITIES, "in", "!=") and not _range(part)
        for member in part.members
        if member.op == "sym"
    )


def _is_bound(part: Formula) -> bool:
    """Whether a part is an inequality, or a chain of them."""
    return part.kind == "inequality" or (part.kind == "chain" and ORDERINGS.issuperset(part.relations))


def _limits_another(bound: Formula, written: Formula) -> bool:
    """Whether a bound limits a symbol that an equation beside it depends on, or speaks of such symbols only.

    What the equation gives is none of them: `T > T_0` beside `T = ...` is a result of its own.
    """
    limited = {member.name for member in bound.members if member.op == "sym"}
    for part in written.parts:
        if part.kind != "equation":
            continue
        subject = part.members[0]
        known = symbols(*part.members) - ({subject.name} if subject.op == "sym" else set())
        if limited & known or symbols(*bound.members) <= known:
            return True
    return False


def _is_condition(part: Formula, written: Formula) -> bool:
    """Whether a part only says for which values the others hold: a bound, a set, a range of whole numbers."""
    if part.kind == "inequality" or (_is_bound(part) and any(not _is_bound(other) for other in written.parts)):
        return True
    about = part.kind == "statement" and part.relations == ("in",) and part.members[0].op == "sym"
    if not (about or _range(part)):
        return False
    name = part.members[0].name
    return any(
        name in symbols(*plain.members) for other in written.parts if other is not part for plain in plain_parts(other)
    )


def _range(f: Formula) -> tuple[str, str] | None:
    r"""The symbol that a formula runs through whole numbers (`n = 1, 2, ...`, `n \in \mathbb{N}`), and which.

    The first of them, `N` where 0 is left open, `Z` for those of either sign.
    """
    if len(f.members) != 2 or f.members[0].op != "sym":
        return None
    subject, values = f.members
    if f.relations == ("in",) and values.op == "sym" and values.name in _WHOLE_NUMBERS:
        return subject.name, _WHOLE_NUMBERS[values.name]
    if f.relations != ("=",) or values.op != "list" or values.args[-1].op != "dots" or len(values.args) < 3:
        return None
    whole = [arg.value for arg in values.args[:-1]]
    first = whole[0]
    if first is None or first.denominator != 1 or whole != [first + k for k in range(len(whole))]:
        return None
    return subject.name, str(first)


def _in_order(reference: Formula, claim: Formula, context: Context) -> Verdict:
    """An implication against another: each part of the one says what the part of the other in its place says."""
    if claim.kind != "implication" or len(claim.parts) != len(reference.parts):
        return Verdict("undecided", "unsupported", detail="an implication")
    pairs = zip(reference.parts, claim.parts, strict=True)
    verdicts = [equivalent(wanted, said, context=context) for wanted, said in pairs]
    if all(verdict.status == "equivalent" for verdict in verdicts):
        return verdicts[0]
    return Verdict("undecided", "unsupported", detail="an implication", cost=sum(verdict.cost for verdict in verdicts))


def _united(written: Formula) -> Formula:
    """Alternatives between equations as the one equation that they are: `x = 1 or x = 2` is `(x - 1)(x - 2) = 0`."""
    plain = all(part.kind == "equation" for part in written.parts)
    if written.kind != "alternatives" or not plain or len(written.parts) > MAX_ALTERNATIVES:
        return written
    factors = tuple(Expr("sub", part.members) for part in written.parts)
    depends = frozenset(pair for part in written.parts for pair in part.depends)
    return formula((Expr("mul", factors), number(0)), ("=",), written.latex, depends)


def _conditions_meet(needed: _Statement, stated: _Statement, context: Context) -> bool:
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
    table = [[_best(_Statement(one), (_Statement(two),), context).status for two in named] for one in wanted]
    lines = [*table, *zip(*table, strict=True)]
    return all("equivalent" in line for line in lines)


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


def stated_formulas(written: Formula) -> tuple[Formula, ...]:
    """The formulas with two members that a chain states, in order; any other formula states itself.

    A chain `a = b = c` states each pair of neighbours, and that its first member equals each of the others, as far
    as equalities join them (semantics C.1). Alternatives state their union, never one of them
    (semantics Z.8).

    >>> from prism.expr import symbol
    >>> a, b, c = symbol("a"), symbol("b"), symbol("c")
    >>> [str(claim) for claim in stated_formulas(formula((a, b, c), ("=", "=")))]
    ['a = b', 'b = c', 'a = c']
    """
    if written.kind != "chain":
        return (_united(written),)
    members = written.members[:MAX_CHAIN]
    relations = written.relations[: len(members) - 1]
    said = written.latex, written.depends
    links = [formula((members[k], members[k + 1]), (relation,), *said) for k, relation in enumerate(relations)]
    ends = []
    for k in range(1, len(relations)):
        if not EQUALITIES.issuperset(relations[: k + 1]):
            break
        ends.append(formula((members[0], members[k + 1]), ("=",), *said))
    return tuple(links + ends)


def _best(needed: _Statement, stated: tuple[_Statement, ...], context: Context) -> Verdict:
    """The first statement that is equivalent, else the nearest to it; the cost is that of all attempts."""
    best: Verdict | None = None
    cost = 0
    for statement in stated:
        known = context
        if needed.whole or statement.whole:
            known = _with_whole_numbers(context, frozenset(name for name, _ in (*needed.whole, *statement.whole)))
        verdict = _attempt(needed.formula, statement.formula, known)
        cost += verdict.cost
        if verdict.status == "equivalent" and not _conditions_meet(needed, statement, context):
            verdict = Verdict("undecided", "unsupported", detail="the conditions under which they hold")
        if best is None or RANK[verdict.status] < RANK[best.status]:
            best = verdict
        if best.status == "equivalent":
            break
    assert best is not None
    return best if best.cost == cost else replace(best, cost=cost)


def _with_whole_numbers(context: Context, names: frozenset[str]) -> Context:
    """The context with symbols of which it says nothing declared as whole numbers."""
    return replace(context, symbols={**{name: Declaration("integer") for name in sorted(names)}, **context.symbols})


@lru_cache(maxsize=FORMULAS_KEPT)
def resolved(f: Formula) -> Formula:
    """The formula with its units as factors of the seven base units; 20 °C is 20 K where a difference is stated."""
    if f.parts:
        return replace(f, parts=tuple(resolved(part) for part in f.parts))
    if "unit" not in traits_of(f).ops:
        return f
    difference = any(_is_difference(member) for member in f.members)
    return replace(f, members=tuple(with_units_resolved(member, difference=difference) for member in f.members))


def _is_difference(member: Expr) -> bool:
    return member.op == "sub" or (member.op == "sym" and member.name.startswith((r"\Delta ", r"\delta ")))


@lru_cache(maxsize=PAIRS_KEPT)
def _attempt(reference: Formula, claim: Formula, context: Context) -> Verdict:
    """Stages 0 to 2 of semantics O: as they stand, with notation that needs a guess, with constants.

    Remembered: the rollouts of a problem say the same things again and again.
    """
    a, b = _resolved_pair(reference, claim)
    plain = compare(a, b, context)
    if plain.status == "equivalent":
        return plain
    cost = plain.cost
    attempts = chain(
        _italic_unit_attempts(reference, claim, context),
        _length_attempts(a, b),
        _prime_attempts(a, b),
        _field_attempts(a, b),
        _constant_attempts(a, b, context),
    )
    for attempt in attempts:
        verdict = compare(attempt.reference, attempt.claim, context)
        cost += verdict.cost
        if verdict.status == "equivalent":
            return replace(verdict, readings=attempt.readings, cost=cost)
    if _may_be_approximate(a, b):
        verdict = compare(a, b, context, approximate=True)
        cost += verdict.cost
        if verdict.status == "equivalent" or verdict.reason == "imprecise":
            return replace(verdict, cost=cost)
    return plain if plain.cost == cost else replace(plain, cost=cost)


@dataclass(frozen=True, slots=True)
class _Marks:
    """What the attempts ask of one formula.

    Attributes:
        names: its symbols.
        is_in_hertz, is_in_radians: a unit of that kind is written.
        may_be_quantity: letters behind a number could be units, if nothing else speaks of them.
        has_vector: an arrow is written.
        has_prime: a prime is written, or a derivative by a variable that is not named.
        uncertainty: of its least certain decimal, relative.
    """

    names: frozenset[str]
    is_in_hertz: bool
    is_in_radians: bool
    may_be_quantity: bool
    has_vector: bool
    has_prime: bool
    uncertainty: float


@lru_cache(maxsize=FORMULAS_KEPT)
def _marks_of(f: Formula) -> _Marks:
    nodes = [node for member in f.members for node in walk(member)]
    names, units = traits_of(f).names, {node.name for node in nodes if node.op == "unit"}
    return _Marks(
        names=names,
        is_in_hertz=any(name.endswith("Hz") for name in units),
        is_in_radians="rad" in units,
        may_be_quantity=any(with_italic_units(member, _NOTHING_TAKEN) is not None for member in f.members),
        has_vector=any(VECTOR in name for name in names),
        has_prime=_UNNAMED.name in names or any(name.endswith("'") for name in names),
        uncertainty=max((uncertainty(node) for node in nodes if node.op == "num"), default=0.0),
    )


def _may_be_approximate(a: Formula, b: Formula) -> bool:
    """Whether measured decimals may make the two equal (semantics N.1).

    Not where a number is all that is stated: 0.333 is not 1/3. There a decimal counts as another spelling of an exact
    number only with the figures of a machine.
    """
    one, two = _marks_of(a), _marks_of(b)
    unsure = max(one.uncertainty, two.uncertainty)
    bare = min(len(one.names), len(two.names)) <= len(a.members) - 1
    return 0 < unsure <= MACHINE_PRECISION if bare else unsure > 0


def _mixes_hertz_and_radian(a: Formula, b: Formula) -> bool:
    """Whether one formula is in hertz, the other in radians: both are 1/s in the table, but 50 Hz is not 50 rad/s."""
    one, two = _marks_of(a), _marks_of(b)
    return one.is_in_hertz != two.is_in_hertz and (two if one.is_in_hertz else one).is_in_radians


def _resolved_pair(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Both with units resolved; beside hertz the radian is a unit of its own, and has to stand on both sides."""
    if _mixes_hertz_and_radian(a, b):
        kept = {Expr("unit", name="rad"): symbol(r"\unit{rad}")}
        a, b = _with_constants(a, kept), _with_constants(b, kept)
    return resolved(a), resolved(b)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Two formulas after constant substitution, and what was read."""

    reference: Formula
    claim: Formula
    readings: tuple[str, ...]


def _italic_unit_attempts(a: Formula, b: Formula, context: Context) -> Iterator[_Attempt]:
    """Italic letters behind a number read as units (`f = 50 Hz`), where they are no symbols of problem or formulas."""
    if not (_marks_of(a).may_be_quantity or _marks_of(b).may_be_quantity):
        return
    vocabulary = context.declared | symbols(
        *(member for f in (a, b) for member in f.members if with_italic_units(member, context.declared) is None)
    )
    one, two = _with_italic_units(a, vocabulary), _with_italic_units(b, vocabulary)
    reading = ("letters behind a number read as units",)
    for first, second in dict.fromkeys(((one, two), (one, b), (a, two))):
        if (first, second) != (a, b):
            yield _Attempt(*_resolved_pair(first, second), reading)


def _with_italic_units(f: Formula, vocabulary: frozenset[str]) -> Formula:
    return replace(f, members=tuple(with_italic_units(member, vocabulary) or member for member in f.members))


def _length_attempts(a: Formula, b: Formula) -> Iterator[_Attempt]:
    r"""`\vec F = m\vec a` beside `F = ma`: where each side is one vector times positive numbers, its length.

    Only where the other formula speaks of these lengths: `A = \lambda` is not `A\vec v = \lambda\vec v`.
    """
    vectors = [_marks_of(f).has_vector for f in (a, b)]
    if vectors[0] == vectors[1]:
        return
    names, others = (_marks_of(f).names for f in ((a, b) if vectors[0] else (b, a)))
    if not {length_of(name) for name in names if VECTOR in name} <= others:
        return
    one, two = (_lengths(f) if has_vector else f for f, has_vector in zip((a, b), vectors, strict=True))
    if one is not None and two is not None:
        yield _Attempt(one, two, ("vectors read by their length",))


def _lengths(f: Formula) -> Formula | None:
    """The formula between lengths, or None where a side is not one vector times positive numbers."""
    if f.kind != "equation":
        return None
    members = []
    for member in f.members:
        names = [node.name for node in walk(member) if node.op == "sym" and VECTOR in node.name]
        plain = all(node.op in ("sym", "num", "const", "mul", "div", "pow", "sqrt", "unit") for node in walk(member))
        if len(names) != 1 or not plain or any(node.op == "num" and (node.value or 0) < 0 for node in walk(member)):
            return None
        members.append(substitute(member, {symbol(names[0]): symbol(length_of(names[0]))}))
    return replace(f, members=tuple(members))


def _prime_attempts(a: Formula, b: Formula) -> Iterator[_Attempt]:
    r"""`y' = ky` beside `\frac{dy}{dx} = ky`: primes are derivatives where the other formula differentiates y.

    Where one formula has both, or both have the prime, the prime is a label: in `x' = x + v\frac{dx}{dt}` it is the
    place in another frame.
    """
    if not (_marks_of(a).has_prime or _marks_of(b).has_prime):
        return
    variables = {one.name: by for f in (a, b) for one, by in _derivatives(f) if by != _UNNAMED}
    labels = {name for name in variables if _is_label(name + "'", name, a, b)}
    one, two = (_with_primes_read(f, variables, labels) for f in (a, b))
    if (one, two) != (a, b):
        yield _Attempt(one, two, ("primes read as derivatives",))


def _field_attempts(a: Formula, b: Formula) -> Iterator[_Attempt]:
    r"""`\nabla\times(f\vec A)` beside its terms: both in Cartesian components."""
    in_components = written_out(a, b)
    if in_components is not None:
        yield _Attempt(*in_components, ("nabla written out in Cartesian components",))


def _derivatives(f: Formula) -> Iterator[tuple[Expr, Expr]]:
    """Symbols that are differentiated, each with the variable."""
    for member in f.members:
        for node in walk(member):
            if node.op == "derivative" and len(node.args) == 2 and node.args[0].op == "sym":
                yield node.args[0], node.args[1]


def _is_label(primed: str, bare: str, a: Formula, b: Formula) -> bool:
    """Whether a primed symbol stands in both formulas, or beside a derivative of the bare one."""
    holding = [f for f in (a, b) if primed in traits_of(f).names]
    return len(holding) > 1 or any(one.name == bare and by != _UNNAMED for f in holding for one, by in _derivatives(f))


def _with_primes_read(f: Formula, variables: Mapping[str, Expr], labels: Set[str]) -> Formula:
    replacement = {}
    for name in traits_of(f).names:
        if name.endswith("'") and name[:-1] in variables.keys() - labels:
            replacement[symbol(name)] = Expr("derivative", (symbol(name[:-1]), variables[name[:-1]]), "1")
    named = {one.name for one, by in _derivatives(f) if by == _UNNAMED} & variables.keys()
    if len({variables[name] for name in named}) == 1:
        replacement[_UNNAMED] = variables[named.pop()]
    return _with_constants(f, replacement) if replacement else f


def _constant_attempts(a: Formula, b: Formula, context: Context) -> Iterator[_Attempt]:
    """Readings of symbols that stand on one side only, where they make one side's symbols include the other's."""
    mine, yours = _marks_of(a).names, _marks_of(b).names
    choices = [
        (name, _identities(name))
        for name in sorted((mine ^ yours) - names_kept(a, b))
        if _identities(name) and may_be_constant(context, name)
    ]
    attempts = 0
    for combination in product(*((None, *options) for _, options in choices[:MAX_READ])):
        chosen = {name: each for (name, _), each in zip(choices, combination, strict=False) if each}
        one, two = _names_with(mine, chosen), _names_with(yours, chosen)
        if not chosen or not (one <= two or two <= one):
            continue
        attempts += 1
        if attempts > MAX_ATTEMPTS:
            return
        replacement = {symbol(name): identity.expr for name, identity in chosen.items()}
        yield _Attempt(
            _with_constants(a, replacement),
            _with_constants(b, replacement),
            tuple(f"{name} = {spell(identity.expr)} ({identity.constant})" for name, identity in chosen.items()),
        )


@dataclass(frozen=True, slots=True)
class _Identity:
    """What a letter may stand for: an expression in other constants, its symbols, and the constant's name."""

    expr: Expr
    names: frozenset[str]
    constant: str


@cache
def _identities(name: str) -> tuple[_Identity, ...]:
    """Every identity of the constants that a letter may stand for, in the order of the table."""
    readings = constant_table().readings(name)
    return tuple(
        _Identity(reading.expr, symbols(reading.expr), reading.constant) for reading in readings if reading.expr
    )


def _names_with(names: frozenset[str], chosen: Mapping[str, _Identity]) -> frozenset[str]:
    """Symbols of a formula after some of them have been read as constants."""
    return (names - chosen.keys()).union(*(chosen[name].names for name in chosen if name in names))


def _with_constants(f: Formula, replacement: dict[Expr, Expr]) -> Formula:
    return replace(f, members=tuple(substitute(member, replacement) for member in f.members))
