"""Plan how the quantities of a template follow from its formulas, once; then work them out for every seed.

A formula in which one symbol has no value yet gives that symbol. Where each has several, as in the two equations of
a pulley, one is solved for a symbol and put into the others. A formula that is not evaluated, with an integral or a
vector, gives nothing and contradicts nothing.

Closed forms come first, for all quantities of a template. Only where they do not reach, an equation gives its one open
symbol as its root (`root_search`), which costs hundreds of times as much for each seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from prism.algebra.expr import EQUALITIES, Expr, Formula, plain_parts, substitute, symbol, symbols
from prism.equivalence.facts import in_base_units
from prism.generation.exact_values import Value, are_same, compares, digits, evaluate, is_evaluated
from prism.generation.inverting import solutions
from prism.generation.root_search import ImplicitEquation, Interval, find_roots, implicit_equation
from prism.physics.quantities import resolve_units

_MAX_PUT_IN = 6  # equations that are put into others, one after the other
_MAX_TRIES = 200  # ways to do so that are tried for one template
_SHOWN = 4  # figures of a value that a message names
_MAX_NAMED = 3  # intervals that a message names

Domains = Mapping[str, Interval]
"""Lowest and highest value [SI] of symbols by name, where a root is looked for."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Two sides that a formula of a node relates, in base units.

    Attributes:
        index: of the node, as the author numbers it; 0 for a condition.
        left, right: the sides.
        relation: key of `RELATIONS` between them.
    """

    index: int
    left: Expr
    right: Expr
    relation: str = "="

    @property
    def names(self) -> frozenset[str]:
        """Return the symbols of both sides, without base units."""
        return frozenset(name for name in symbols(self.left, self.right) if not name.startswith(r"\unit{"))


@dataclass(frozen=True, slots=True)
class Step:
    """One quantity that a plan works out.

    Attributes:
        name: the symbol.
        ways: the expressions that it may be, of which the admissible one is taken; none for a root.
        index: of the node whose formula it follows from.
        may_be_negative: the symbol has either sign.
        relation: whose root it is; None for a closed form.
        equation: that relation, prepared.
    """

    name: str
    ways: tuple[Expr, ...]
    index: int
    may_be_negative: bool = False
    relation: Relation | None = None
    equation: ImplicitEquation | None = None

    @property
    def names(self) -> frozenset[str]:
        """Return the symbols that it is worked out from, of a root itself too."""
        return symbols(*self.ways) if self.relation is None else self.relation.names


class Unsolved(Exception):
    """Raised where values give a quantity no value, or two; the message says which, for an author."""


class Ambiguous(Unsolved):
    """Raised where an equation has several roots, or may have; no condition of a template chooses between them."""


def relations_of(f: Formula, index: int) -> tuple[Relation, ...]:
    """Return the relations of a formula that can be evaluated: of a chain those between neighbours; else none."""
    found = []
    for part in plain_parts(f):
        if f.kind not in ("system", part.kind):
            return ()
        members = in_base_units(part).members
        for left, relation, right in zip(members, part.relations, members[1:], strict=False):
            sides = resolve_units(left), resolve_units(right)
            if all(map(is_evaluated, sides)):
                found.append(Relation(index, *sides, "=" if relation in EQUALITIES else relation))
    return tuple(found)


# Plans. ----------------------------------------------------------------------------------------------------------


def plan_steps(
    relations: Sequence[Relation],
    known: Iterable[str],
    wanted: Iterable[str],
    signed: frozenset[str],
    domains: Domains | None = None,
) -> tuple[Step, ...] | None:
    """Return the steps that work out the wanted symbols, in order; None if the relations do not determine one.

    Args:
        relations: equations, in the order of their nodes.
        known: symbols that have values.
        signed: symbols that may be negative.
        domains: of symbols, if roots count where closed forms do not reach; None for closed forms only.
    """
    equations = [each for each in relations if each.relation == "="]
    have, asked = frozenset(known), frozenset(wanted)
    found = _plan(equations, have, asked, _Search(signed, None, [_MAX_TRIES]), _MAX_PUT_IN)
    if found is None and domains is not None:
        found = _plan(equations, have, asked, _Search(signed, domains, [_MAX_TRIES]), _MAX_PUT_IN)
    return None if found is None else _needed(found, frozenset(wanted))


def _needed(steps: Sequence[Step], wanted: frozenset[str]) -> tuple[Step, ...]:
    """Return the steps that the wanted symbols rest on."""
    needed, kept = set(wanted), []
    for step in reversed(steps):
        if step.name in needed:
            kept.append(step)
            needed |= step.names
    return tuple(reversed(kept))


@dataclass(frozen=True, slots=True)
class _Search:
    """What a search for a plan has throughout.

    Attributes:
        signed, domains: as of `plan_steps`.
        tries: one number, which counts down.
    """

    signed: frozenset[str]
    domains: Domains | None
    tries: list[int]


def _plan(
    equations: list[Relation], known: frozenset[str], wanted: frozenset[str], search: _Search, depth: int
) -> tuple[Step, ...] | None:
    """Return steps as `plan_steps`, with some that nothing needs, and `depth` further equations put in.

    None where no way is found within the depth and the tries of the search.
    """
    steps = solved_one_by_one(equations, known, search.signed, search.domains)
    known = known.union(step.name for step in steps)
    if wanted <= known:
        return tuple(steps)
    left = [each for each in equations if each.names - known]
    for equation in sorted(left, key=lambda each: len(each.names - known)):
        for name in _for_putting_in(equation, known):
            if depth <= 0 or search.tries[0] <= 0:
                return None
            search.tries[0] -= 1
            ways = solutions(equation.left, equation.right, name)
            if len(ways) != 1:
                continue
            new = {symbol(name): ways[0]}
            others = [
                Relation(each.index, substitute(each.left, new), substitute(each.right, new), each.relation)
                for each in left
                if each is not equation
            ]
            open_names = symbols(ways[0]) - known
            still = (wanted - {name}) | (open_names if name in wanted else set())
            rest = _plan(others, known, still, search, depth - 1)
            if rest is not None:
                last = Step(name, ways, equation.index, name in search.signed)
                is_given = not symbols(ways[0]) - known - {step.name for step in rest}
                return (*steps, *rest, *((last,) if is_given else ()))
    return None


def solved_one_by_one(
    equations: Sequence[Relation], known: frozenset[str], signed: frozenset[str], domains: Domains | None = None
) -> list[Step]:
    """Return a step for each equation in which one symbol has no value yet, until none is left.

    Args:
        domains: as of `plan_steps`: where no equation is solved in closed form, the first one gives a root.
    """
    steps: list[Step] = []
    have = set(known)
    while True:
        step = next(_single_steps(equations, have, signed), None)
        if step is None and domains is not None:
            step = next(_root_steps(equations, have, signed, domains), None)
        if step is None:
            return steps
        steps.append(step)
        have.add(step.name)


def _single_steps(equations: Iterable[Relation], have: set[str], signed: frozenset[str]) -> Iterator[Step]:
    """Yield a step for each equation that is solved for its only symbol without a value."""
    for equation in equations:
        open_names = equation.names - have
        if len(open_names) == 1:
            (name,) = open_names
            if ways := solutions(equation.left, equation.right, name):
                yield Step(name, ways, equation.index, name in signed)


def _root_steps(
    equations: Iterable[Relation], have: set[str], signed: frozenset[str], domains: Domains
) -> Iterator[Step]:
    """Yield a step for each equation whose root its only symbol without a value is."""
    for equation in equations:
        open_names = equation.names - have
        if len(open_names) == 1:
            (name,) = open_names
            is_signed = name in signed
            found = implicit_equation(
                equation.left, equation.right, name, may_be_negative=is_signed, domain=domains.get(name)
            )
            if found is not None:
                yield Step(name, (), equation.index, is_signed, equation, found)


def _for_putting_in(equation: Relation, known: frozenset[str]) -> Iterator[str]:
    """Yield the open symbols of an equation that it may be solved for: one that stands alone first."""
    open_names = equation.names - known
    alone = [side.name for side in (equation.left, equation.right) if side.op == "sym" and side.name in open_names]
    yield from alone
    yield from sorted(open_names - set(alone))


# Values. ---------------------------------------------------------------------------------------------------------


def work_out(steps: Sequence[Step], given: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values of all symbols [SI] that steps work out, with the given ones.

    Errors:
        Unsolved: a step has no value, or two.
    """
    values = dict(given)
    for step in steps:
        values[step.name] = work_out_step(step, values)
    return values


def work_out_step(step: Step, values: Mapping[str, Value]) -> Value:
    """Return the one value of a step that its symbol may have.

    Errors:
        Unsolved: it has none, or two.
    """
    if step.equation is not None:
        return _only_root(step, step.equation, values)
    found: list[Value] = []
    for way in step.ways:
        value = evaluate(way, values)
        if value is not None and not any(are_same(value, other) for other in found):
            found.append(value)
    if len(found) > 1 and not step.may_be_negative:
        found = [value for value in found if compares(value, ">=", Fraction(0))]
    if len(found) != 1:
        why = "no value" if not found else "two values; write the formula solved for it"
        raise Unsolved(f"node {step.index} gives {step.name} {why}")
    return found[0]


def _only_root(step: Step, equation: ImplicitEquation, values: Mapping[str, Value]) -> Value:
    """Return the one root of a step's equation.

    Errors:
        Unsolved: it has none; `Ambiguous` if it has several, or may have.
    """
    roots = find_roots(equation, values)
    if not roots.unsure and len(roots.found) == 1:
        return roots.found[0]
    if not roots.unsure and not roots.found:
        raise Unsolved(f"node {step.index} gives {step.name} no value")
    what, others = [], "values"
    if roots.found:
        others = "others"
        what.append(f"the values {', '.join(digits(value, _SHOWN) for value in roots.found)}")
    for low, high in roots.unsure[:_MAX_NAMED]:
        middle = (low + high) / 2
        is_narrow = digits(low, _SHOWN) == digits(high, _SHOWN)
        where = f"near {digits(middle, _SHOWN)}" if is_narrow else f"from {digits(low, 2)} to {digits(high, 2)}"
        what.append(f"perhaps {others} {where}")
    how = f"a `domain` of {step.name} in `symbols`, or the formula solved for it, says which is meant"
    raise Ambiguous(f"node {step.index} gives {step.name} not one value, but (in SI units) {'; '.join(what)}; {how}")


def broken_relation(relations: Sequence[Relation], values: Mapping[str, Value]) -> Relation | None:
    """Return the first equation whose symbols all have values and whose sides differ; None if all hold."""
    for each in relations:
        left, right = evaluate(each.left, values), evaluate(each.right, values)
        if left is not None and right is not None and each.relation == "=" and not are_same(left, right):
            return each
    return None


def holds(condition: Relation, values: Mapping[str, Value], margin: Fraction) -> bool:
    """Return True if a condition holds with its margin; False if a side has no value."""
    left, right = evaluate(condition.left, values), evaluate(condition.right, values)
    return left is not None and right is not None and compares(left, condition.relation, right, margin)
