"""Substitutions of what the problem knows: definitions, givens, and constants written as numbers (semantics O.3-O.6).

Definitions replace symbols, a literal that is a given's value is lifted to its symbol, and last the values of givens
replace symbols that one side only has. `plan` puts these in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from prism.algebra.expr import Expr, Formula, number, spell, substituted, symbol, symbols, traits_of, walk, with_args
from prism.algebra.symbols import symbol_of
from prism.budget import free_property, remembered_property
from prism.equivalence.context_facts import definitions_of, facts_of_context
from prism.equivalence.facts import Literal, both_in_base_units, facts_of, literals_in, subject_of
from prism.equivalence.features import Features, features_of
from prism.equivalence.verdict import Stage
from prism.physics.context import Context, given_values
from prism.physics.units import find_unit

MAX_DEFINED = 4  # rounds in which definitions replace symbols of one another

_DERIVATIVES = frozenset(("derivative", "partial"))


@dataclass(frozen=True, slots=True)
class Attempt:
    """Two formulas to compare, after substitutions, with an account of these.

    Attributes:
        reference, claim: the formulas.
        readings: what was substituted or assumed, in order.
        stage: the highest stage of the substitutions.
        before_givens: the attempt into which values of givens were substituted, if any were.
        givens: names of these givens.
        is_unitless: units were read as 1 afterwards.
    """

    reference: Formula
    claim: Formula
    readings: tuple[str, ...] = ()
    stage: Stage = Stage.PLAIN
    before_givens: Attempt | None = None
    givens: tuple[str, ...] = ()
    is_unitless: bool = False

    @property
    def names(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the symbols of the reference and those of the claim."""
        return facts_of(self.reference).names, facts_of(self.claim).names


def one_includes_other(one: frozenset[str], two: frozenset[str]) -> bool:
    """Return True if the symbols of one formula include those of the other."""
    return one <= two or two <= one


def are_same_symbols(one: frozenset[str], two: frozenset[str]) -> bool:
    """Return True if two formulas have the same symbols, base units not counted."""
    return one == two or all(symbol_of(name).is_unit for name in one ^ two)


# Definitions. ---------------------------------------------------------------------------------------------------


def substitute_definitions(attempt: Attempt, context: Context) -> Attempt:
    """Replace symbols that one formula has and the other lacks by their definitions, repeatedly.

    Returns the attempt itself if there is nothing to replace.
    """
    defined = definitions_of(context)
    if dots := facts_of_context(context).partial_dots:
        written = _differentiated(attempt.reference) | _differentiated(attempt.claim)
        if found := {node: dots[node] for node in sorted(written & dots.keys(), key=spell)}:
            attempt = _replace_defined(attempt, found)
    for _ in range(MAX_DEFINED):
        names = _names_to_define(*attempt.names, defined)
        if not names:
            break
        attempt = _replace_defined(attempt, {symbol(name): defined[name] for name in names})
    return attempt


def _names_to_define(one: frozenset[str], two: frozenset[str], defined: Mapping[str, Expr]) -> list[str]:
    """Return the defined symbols that formulas with the symbols `one` and `two` do not share, even by definition."""
    apart = one ^ two
    return [
        name
        for name, expr in defined.items()
        if name in apart or (name in one and name in two and not symbols(expr).isdisjoint(apart))
    ]


def names_once_defined(
    one: frozenset[str], two: frozenset[str], defined: Mapping[str, Expr]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the symbols that two formulas have once definitions are substituted, from those that they have now."""
    for _ in range(MAX_DEFINED):
        found = _names_to_define(one, two, defined)
        if not found:
            break
        one, two = (
            names.difference(found).union(*(symbols(defined[name]) for name in found if name in names))
            for names in (one, two)
        )
    return one, two


def define_differentiated_functions(attempt: Attempt, context: Context) -> Attempt | None:
    r"""Replace functions of which the formulas take different derivatives by their definitions.

    With a trial function `\psi` defined, only its definition shows if `\int (\frac{d\psi}{dx})^2 dx` and
    `-\int \psi \frac{d^2\psi}{dx^2} dx` are the same. Returns None if there is no such function.
    """
    defined = definitions_of(context)
    if not defined:
        return None
    one, two = (_differentiated(f) for f in (attempt.reference, attempt.claim))
    names = sorted({node.args[0].name for node in one ^ two} & defined.keys())
    if not names or not are_same_symbols(*attempt.names):
        return None
    return _replace_defined(attempt, {symbol(name): defined[name] for name in names})


def _replace_defined(attempt: Attempt, defined: dict[Expr, Expr]) -> Attempt:
    """Replace symbols or derivatives in both formulas by their definitions, and note it among the readings."""
    readings = (f"definition: {spell(node)} = {spell(expr)} (problem)" for node, expr in defined.items())
    return Attempt(
        substituted(attempt.reference, defined),
        substituted(attempt.claim, defined),
        (*attempt.readings, *readings),
        Stage.DEFINITIONS,
    )


def _differentiated(f: Formula) -> frozenset[Expr]:
    """Return the derivatives of lone symbols in a formula."""
    if _DERIVATIVES.isdisjoint(traits_of(f).ops):
        return frozenset()
    nodes = (node for member in f.members for node in walk(member) if node.op in _DERIVATIVES)
    return frozenset(node for node in nodes if node.args[0].op == "sym")


def expand_definitions(f: Formula, subject: Expr, context: Context) -> Formula:
    """Replace symbols in a formula by their definitions, except `subject` and symbols with a given value."""
    defined = {
        symbol(name): expr
        for name, expr in definitions_of(context).items()
        if symbol(name) != subject and name not in context.givens and subject not in walk(expr)
    }
    for _ in range(MAX_DEFINED):
        if traits_of(f).names.isdisjoint(node.name for node in defined):
            break
        f = substituted(f, defined)
    return f


# Literals. ------------------------------------------------------------------------------------------------------


def lift_literals(attempt: Attempt, context: Context) -> Attempt:
    """Replace numbers by the symbols whose values they are: 9.81 by g, where only the other formula has g.

    Both formulas are as written, units unresolved. Returns the attempt itself if there is nothing to replace.
    """
    one, two = features_of(attempt.reference, context), features_of(attempt.claim, context)
    a, from_a = _lift_literals_of(one, two)
    b, from_b = _lift_literals_of(two, one)
    return Attempt(a, b, (*attempt.readings, *from_a, *from_b), Stage.LITERALS) if from_a or from_b else attempt


def count_angle_units(attempt: Attempt) -> int:
    """Count the units in both formulas that are plain numbers, such as degrees."""
    if "unit" not in traits_of(attempt.reference).ops | traits_of(attempt.claim).ops:
        return 0
    nodes = (node for member in (*attempt.reference.members, *attempt.claim.members) for node in walk(member))
    return sum(
        node.op == "unit" and (known := find_unit(node.name)) is not None and not any(known.dimension) for node in nodes
    )


def _lift_literals_of(one: Features, other: Features) -> tuple[Formula, tuple[str, ...]]:
    """Replace numbers in the first formula by symbols that only the other one has; return it with the readings."""
    f, names = one.facts.formula, other.names_with_definitions - one.names_with_definitions
    found = ((literal, meanings.among(names)) for literal, meanings in one.meanings.items())
    lifts = {literal: symbol(name) for literal, name in found if name}
    if not lifts:
        return f, ()
    used: dict[str, None] = {}
    members = tuple(_lift_literals_in(member, lifts, used) for member in f.members)
    return (replace(f, members=members), tuple(used)) if used else (f, ())


def _lift_literals_in(node: Expr, lifts: Mapping[Literal, Expr], used: dict[str, None]) -> Expr:
    """Replace numbers in an expression by symbols, except in exponents.

    Args:
        lifts: the symbol for each number with its units.
        used: collects what was replaced, as text, in its keys.
    """
    if node.op == "num":
        return _lifted_literal((node,), lifts, used) or node
    if node.op == "pow":
        return Expr("pow", (_lift_literals_in(node.args[0], lifts, used), node.args[1]))
    if node.op != "mul":
        args = tuple(_lift_literals_in(arg, lifts, used) for arg in node.args)
        return with_args(node, args)
    parts: list[Expr] = []
    for run in literals_in(node):
        found = _lifted_literal(run, lifts, used) if run[0].op == "num" else None
        parts += [found] if found else run if len(run) > 1 else [_lift_literals_in(run[0], lifts, used)]
    return parts[0] if len(parts) == 1 else Expr("mul", tuple(parts))


def _lifted_literal(literal: Literal, lifts: Mapping[Literal, Expr], used: dict[str, None]) -> Expr | None:
    """Return the symbol for a number with its units, and note it in `used`; None if there is none."""
    found = lifts.get(literal)
    if found is not None:
        used[f"literal: {spell(_literal_as_expr(literal))} is {found.name}"] = None
    return found


def _literal_as_expr(literal: Literal) -> Expr:
    """Return a number with its units as a product."""
    return literal[0] if len(literal) == 1 else Expr("mul", literal)


# Givens. --------------------------------------------------------------------------------------------------------


def substitute_givens(attempt: Attempt, written: Formula, context: Context) -> Iterator[Attempt]:
    """Yield both formulas with given values substituted for symbols that one formula has and the other lacks.

    Nothing is yielded if both formulas have such givens: `E = mgh` is not `E = mv^2/2`, though the values of a fall
    make them equal. At least two symbols have to be left, or the one that both formulas are solved for, unless it is
    given too: otherwise every true formula of the problem, or a copy of the given, would match.

    Args:
        attempt: the pair, in base units.
        written: the claim as it is written. If it has numbers without units, and no given is replaced in it, a second
            attempt reads all base units as 1.
        context: gives the values.
    """
    one, two = attempt.names
    if not may_substitute_givens(one, two, context):
        return
    values = given_values(context)
    replaced = {name: values[name] for name in sorted((one ^ two) & values.keys())}
    exprs = {name: value.expr for name, value in replaced.items()}
    full = _with_values(attempt, exprs, is_unitless=False)
    readings = (*attempt.readings, *(f"given: {name} = {value.text}" for name, value in replaced.items()))
    names = full.names
    left = {name for name in names[0] & names[1] if not symbol_of(name).is_unit}
    subject = subject_of(full.reference)
    is_one_subject = subject is not None and subject == subject_of(full.claim) and not left <= values.keys()
    if not (len(left) > 1 or is_one_subject):
        return
    yield replace(full, readings=readings)
    if (
        two.isdisjoint(replaced)
        and _has_numbers_without_units(written)
        and all(abs(value.quantity.value) != 1 for value in replaced.values())
        and any(symbol_of(name).is_unit for name in names[0] | names[1])
    ):
        unitless = _with_values(attempt, exprs, is_unitless=True)
        yield replace(unitless, readings=(*readings, "unit: numbers without units are read in SI units"))


def may_substitute_givens(one: frozenset[str], two: frozenset[str], context: Context) -> bool:
    """Return True if all symbols that only one of two formulas has are given, and all of them in the same formula.

    Args:
        one, two: the symbols of the formulas; base units are not counted.
    """
    apart = {name for name in one ^ two if not symbol_of(name).is_unit}
    return bool(apart) and apart <= context.givens.keys() and (apart <= one or apart <= two)


def _with_values(attempt: Attempt, values: Mapping[str, Expr], *, is_unitless: bool) -> Attempt:
    """Replace symbols by values in both formulas; if `is_unitless`, also base units by 1."""
    replacement = {symbol(name): value for name, value in values.items()}
    a, b = substituted(attempt.reference, replacement), substituted(attempt.claim, replacement)
    if is_unitless:
        units = (name for name in facts_of(a).names | facts_of(b).names if symbol_of(name).is_unit)
        ones = {symbol(name): number(1) for name in units}
        a, b = substituted(a, ones), substituted(b, ones)
    return Attempt(a, b, attempt.readings, Stage.GIVENS, attempt, tuple(values), is_unitless)


def sensitivity_checks(attempt: Attempt, context: Context) -> Iterator[Attempt]:
    """Yield, for each given value that was substituted, both formulas with that value doubled.

    A doubled value that still matches means that the comparison does not depend on it: masses of some MeV, in joules,
    vanish beside a mass that is drawn between 1 and 10.
    """
    if attempt.before_givens is None:
        return
    values = given_values(context)
    for doubled in attempt.givens:
        exprs = {name: values[name].expr for name in attempt.givens}
        exprs[doubled] = Expr("mul", (number(2), exprs[doubled]))
        yield _with_values(attempt.before_givens, exprs, is_unitless=attempt.is_unitless)


def _has_numbers_without_units(written: Formula) -> bool:
    """Return True if a formula has no units, but numbers other than 0, 1 and exponents."""
    if "unit" in traits_of(written).ops:
        return False
    stack = list(written.members)
    while stack:
        node = stack.pop()
        if node.op == "num" and node.value not in (0, 1, None):
            return True
        stack.extend(node.args[:1] if node.op == "pow" else node.args)
    return False


@dataclass(frozen=True)
class Forms:
    """A pair of formulas and its forms after successive substitutions, each made on first use.

    Attributes:
        written: the pair as it is written.
        context: what the problem knows.
    """

    written: Attempt
    context: Context

    @free_property
    def plain(self) -> Attempt:
        """Return the pair in base units."""
        return _in_base_units(self.written)

    @remembered_property
    def defined(self) -> Attempt:
        """Return the pair in base units with definitions substituted; the object `plain` if there are none."""
        return substitute_definitions(self.plain, self.context)

    @remembered_property
    def lifted(self) -> Attempt:
        """Return the pair as written with numbers replaced by symbols; the object `written` if there are none."""
        return lift_literals(self.written, self.context)

    @remembered_property
    def lifted_and_defined(self) -> Attempt:
        """Return the pair with numbers replaced by symbols, then in base units with definitions substituted."""
        if self.lifted is self.written:
            return self.defined
        return substitute_definitions(_in_base_units(self.lifted), self.context)


def _in_base_units(attempt: Attempt) -> Attempt:
    """Return an attempt with both formulas in base units; the attempt itself if nothing changes."""
    a, b = both_in_base_units(attempt.reference, attempt.claim)
    if a is attempt.reference and b is attempt.claim:
        return attempt
    return Attempt(a, b, attempt.readings, attempt.stage)
