r"""Two formulas as an interpretation reads them: what one of them shows about a letter holds in both.

`y''` is a derivative by the variable of y, `u_{xx}` one if u is differentiated by x, `g'(x + vt)` a call if g is,
`d\ln p` a differential beside other differentials, `\langle N\rangle` a number unless there are operators.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from prism.algebra.expr import Expr, Formula, canonical, number, symbol, symbols, walk, with_args, with_members
from prism.algebra.macaulay import MACAULAY, is_macaulay, is_step
from prism.algebra.noncommutative import adjoint_of, operator_names
from prism.algebra.symbols import ADJOINT, TURNED, labels_of, spelled, symbol_of
from prism.budget import charge_steps
from prism.equivalence.interpretation.calls import (
    refuse_inverse_functions,
    with_calls,
    with_one_argument,
    with_primed_variables,
)
from prism.equivalence.interpretation.conditions.steps import with_steps_and_deltas
from prism.equivalence.interpretation.integrals.boundaries import with_interiors
from prism.equivalence.interpretation.integrals.kinks import DELTAS
from prism.equivalence.interpretation.integrals.regions import with_iterated_integrals
from prism.equivalence.interpretation.names import (
    NAMED,
    STEPS,
    harmonic_indices,
    has_bare_differentials,
    is_harmonic_of_letters,
    is_lone_differential,
    is_special,
    joined,
    order_of,
    with_raised_indices,
)
from prism.equivalence.interpretation.quantum.acting import (
    with_material_derivatives,
    with_values_at_limits,
)
from prism.equivalence.interpretation.quantum.quantum_names import is_anticommutator
from prism.equivalence.interpretation.shared_nodes import with_shared_nodes
from prism.equivalence.interpretation.tensors.components import in_indices
from prism.equivalence.interpretation.tensors.unit_matrices import with_unit_matrices
from prism.equivalence.interpretation.values import Unvalued
from prism.equivalence.notation.primes import may_be_by

_READING = 5  # steps charged for each node that is read, and looked at for what its letters are
_UNKNOWN = symbol("?")
_VARIABLES = frozenset(("x", "y", "z", "r", "t", r"\theta", r"\phi"))


def read_together(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Return two formulas with what the other one shows about their letters.

    Raises Unvalued for a prime or dot beside a derivative.
    """
    charge_steps(_READING * sum(member.size for f in (a, b) for member in f.members))
    a, b = _in_common_notation(a, b)
    nodes = [node for f in (a, b) for member in f.members for node in walk(member)]
    if any(_is_written_both_ways(f) for f in (a, b)) or _are_rates_of_two_kinds(nodes):
        raise Unvalued("a prime or dot beside a derivative")
    called = {node.name for node in nodes if node.op == "apply"}
    has_differentials = any(node.op == "differential" for node in nodes) or any(
        is_lone_differential(f) or has_bare_differentials(f, other) for f, other in ((a, b), (b, a))
    )
    operators = operator_names(a, b)
    keeps_means = bool(operators)
    depends = a.depends | b.depends | {pair for pair in _only_calls(nodes) if pair[1] not in operators}
    by = _variables_of_derivatives(depends, nodes)
    _refuse_other_variables(by, (a, b))
    bound = {node.args[1] for node in nodes if node.op == "integral" and len(node.args) > 1}

    def read(node: Expr) -> Expr:
        """Return a node as it is read, inner ones first."""
        if is_step(node):
            return symbol(rf"\mean{{{canonical(node)}}}")
        args = tuple(read(arg) for arg in node.args)
        node = with_args(node, args)
        if node.op == "opaque" and node.name == ADJOINT and (turned := adjoint_of(node.args[0], operators)):
            return turned
        if is_macaulay(node) or (node.op == "bracket" and node.name == "mean" and not keeps_means):
            return symbol(rf"\mean{{{canonical(node)}}}")
        if node.op == "sym":
            if (meant := _meant_by_symbol(node, depends, called)) is not None:
                return meant
            return node if node in bound else _derivative_by_subscript(node, by)
        if node.op == "apply" and node.name not in NAMED and not is_special(node.name) and _is_own_call(node, depends):
            return read(symbol(node.name)) if symbol_of(node.name).primes else symbol(node.name)
        degree = symbol_of(node.args[0].name).sub if node.op == "pow" else ""
        if len(degree) == 1 and node.args[0].name == f"Y_{degree}" and (node.args[0].name, r"\theta") in depends:
            name = spelled("Y", degree, canonical(node.args[1]))
            return Expr("apply", (symbol(r"\theta"), symbol(r"\phi")), name)
        if node.op == "pow" and node.args[1] == symbol("T") and _may_be_matrix(node.args[0]):
            return Expr("opaque", (node.args[0],), "^T")
        if node.op == "derivative" and node.args[1] == _UNKNOWN:
            variables = by.get(node.args[0].name, set()) - {"?"}
            if len(variables) == 1:
                return Expr("derivative", (node.args[0], symbol(*variables)), node.name)
            return node
        if is_anticommutator(node) or (node.op == "commutator" and node.name == "anti"):
            return Expr("add", (Expr("mul", node.args), Expr("mul", node.args[::-1])))
        if node.op == "mul":
            return _with_calls_and_differentials(node, called, has_differentials=has_differentials)
        return node

    one, two = (with_members(f, tuple(read(member) for member in f.members)) for f in (a, b))
    return with_shared_nodes(replace(one, depends=depends), replace(two, depends=depends))


def _meant_by_symbol(node: Expr, depends: Collection[tuple[str, str]], called: Collection[str]) -> Expr | None:
    """Return the transpose, spherical harmonic or call of a known function that a symbol stands for; None for others.

    Args:
        depends: names and the variables that they depend on.
        called: names that stand before brackets elsewhere.
    """
    read = symbol_of(node.name)
    own = sorted({variable for name, variable in depends if _is_name_of(name, node.name)} - {","})
    if read.sup in TURNED:
        return Expr("opaque", (symbol(read.body),), "^T")
    is_harmonic = own == [r"\phi", r"\theta"] or (not own and is_harmonic_of_letters(node.name))
    if harmonic_indices(node.name) is not None and is_harmonic:
        harmonic = Expr("apply", (symbol(r"\theta"), symbol(r"\phi")), node.name)
        return Expr("opaque", (harmonic,), "*") if "*" in read.sup else harmonic
    is_named = node.name in NAMED.intersection(called) or order_of(node.name) is not None
    return Expr("apply", (symbol(own[0]),), node.name) if is_named and len(own) == 1 else None


def _in_common_notation(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Return two formulas in which indices, operators, calls, integrals and limits are written alike."""
    for f in (a, b):
        refuse_inverse_functions(f)
    a, b = in_indices(*with_material_derivatives(with_raised_indices(a), with_raised_indices(b)))
    a, b = (with_primed_variables(with_unit_matrices(f)) for f in (a, b))
    a, b = with_steps_and_deltas(a, b)
    a, b = with_calls(a, b), with_calls(b, a)
    a, b = with_one_argument((a, b))
    a, b = map(with_iterated_integrals, with_interiors((a, b)))
    a, b = (with_values_at_limits(f, (a, b)) for f in (a, b))
    return _with_means((a, b))


def _with_means(formulas: tuple[Formula, Formula]) -> tuple[Formula, Formula]:
    r"""Return formulas in which `\langle\psi|A|\psi\rangle` is the mean of A, if one has means and one state."""
    nodes = [node for f in formulas for member in f.members for node in walk(member) if node.op == "bracket"]
    written = [node for node in nodes if node.name not in ("mean", MACAULAY)]
    states = {state for node in written for state in (node.args[0], node.args[-1])}
    if len(written) == len(nodes) or len(states) != 1 or any(node.name != "braket" for node in written):
        return formulas

    def meant(node: Expr) -> Expr:
        """Return a node with means in place of matrix elements."""
        node = with_args(node, tuple(map(meant, node.args)))
        if node.op != "bracket" or node.name == "mean":
            return node
        inner = node.args[1:-1]
        if not inner:
            return number(1)
        return Expr("bracket", (inner[0] if len(inner) == 1 else Expr("mul", inner),), "mean")

    one, two = (with_members(f, tuple(map(meant, f.members))) for f in formulas)
    return one, two


def _is_name_of(written: str, name: str) -> bool:
    """Return True for a name, and for that of the derivative of a special function, `J'_0` of `J_0`."""
    return written == name or (written.replace("'_", "_") == name and order_of(name) is not None)


def _is_written_both_ways(f: Formula) -> bool:
    r"""Return True if a formula has `x'` beside `dx/dt`, so that the prime hardly is a derivative."""
    nodes = [node for member in f.members for node in walk(member)]
    derived = {node.args[0].name for node in nodes if node.op in ("derivative", "partial") and node.args[1] != _UNKNOWN}
    primed = {read.unprimed for node in nodes if node.op == "sym" and (read := symbol_of(node.name)).primes}
    return not derived.isdisjoint(primed)


def _refuse_other_variables(by: dict[str, set[str]], formulas: tuple[Formula, Formula]) -> None:
    """Raise Unvalued for primes that would be read as derivatives by a variable that is not theirs."""
    for subject, variables in by.items():
        found = variables - {"?"}
        if len(found) == 1 and not may_be_by(symbol(*found), subject, formulas):
            raise Unvalued("primes by another variable")


def _are_rates_of_two_kinds(nodes: Iterable[Expr]) -> bool:
    """Return True if a letter alone is differentiated by one variable in total and in part."""
    found: dict[tuple[str, Expr], set[str]] = {}
    for node in nodes:
        if node.op in ("derivative", "partial") and len(node.args) == 2 and node.args[0].op == "sym":
            found.setdefault((node.args[0].name, node.args[1]), set()).add(node.op)
    return any(len(ops) > 1 for ops in found.values())


def _only_calls(nodes: Iterable[Expr]) -> frozenset[tuple[str, str]]:
    """Return (letter, variable) pairs of letters that are called with the same letters wherever they stand."""
    calls: dict[str, set[tuple[Expr, ...]]] = {}
    bare = {node.name for node in nodes if node.op == "sym"}
    for node in nodes:
        if node.op == "apply" and node.name not in NAMED and order_of(node.name) is None:
            calls.setdefault(node.name, set()).add(node.args)
    return frozenset(
        (name, arg.name) for name, found in calls.items() if len(found) == 1
        for args in found if (name not in bare or len(args) > 1) and len(set(args)) == len(args)
        if not (symbol_of(name).primes and symbol_of(name).unprimed in bare | calls.keys())
        if all(arg.op == "sym" for arg in args) and harmonic_indices(name) is None
        for arg in args
    )  # fmt: skip


def _is_own_call(node: Expr, depends: frozenset[tuple[str, str]]) -> bool:
    """Return True for a call of a letter with the only variables of which it is written a function."""
    own = {variable for name, variable in depends if name == node.name} - {","}
    args = {arg.name for arg in node.args if arg.op == "sym"}
    return bool(own) and own == args and len(args) == len(node.args)


def _may_be_matrix(node: Expr) -> bool:
    """Return True for an expression with a bold letter, a capital or a matrix that is written out."""
    return any(
        inner.op == "matrix" or (inner.op == "sym" and (symbol_of(inner.name).is_vector or inner.name[:1].isupper()))
        for inner in walk(node)
    )


def _variables_of_derivatives(depends: Iterable[tuple[str, str]], nodes: Iterable[Expr]) -> dict[str, set[str]]:
    """Return for each letter the variables by which it is differentiated, or of which it is written a function.

    Args:
        depends: letters with a variable of which they are written functions.
        nodes: of both formulas.
    """
    found: dict[str, set[str]] = {}
    for name, written in depends:
        if written != ",":
            found.setdefault(symbol_of(name).unprimed, set()).add(written)
    for node in nodes:
        if node.op in ("derivative", "partial"):
            for variable in node.args[1:]:
                for inner in walk(node.args[0]):
                    if inner.op == "sym" and variable.op == "sym" and inner != variable:
                        found.setdefault(inner.name, set()).add(variable.name)
        elif node.op == "integral" and len(node.args) > 1 and node.args[1].op == "sym":
            for inner in walk(node.args[0]):
                if inner.op == "derivative" and inner.args[1] == _UNKNOWN and inner.args[0].op == "sym":
                    found.setdefault(inner.args[0].name, set()).add(node.args[1].name)
    return found


def _derivative_by_subscript(node: Expr, by: dict[str, set[str]]) -> Expr:
    """Return `u_{xx}` as a derivative if u is differentiated by x; `y''` as one by its only variable."""
    read = symbol_of(node.name)
    letters = labels_of(read.sub) if read.is_light and not (read.primes or read.sup) else ()
    if 0 < len(letters) < 4 and _VARIABLES & by.get(read.base, set()) >= set(letters):
        result = symbol(read.base)
        for letter in dict.fromkeys(letters):
            result = Expr("partial", (result, symbol(letter)), str(letters.count(letter)))
        return result
    if read.primes and len(variables := by.get(read.unprimed, set()) - {"?"}) == 1:
        return Expr("derivative", (symbol(read.unprimed), symbol(*variables)), str(read.primes))
    return node


def _is_primed_call(node: Expr, called: set[str]) -> bool:
    """Return True for `g'` if g is called, and for a derivative of the delta function."""
    read = symbol_of(node.name)
    return node.op == "sym" and read.primes > 0 and (read.unprimed in called or read.unprimed == r"\delta")


def _with_calls_and_differentials(node: Expr, called: set[str], *, has_differentials: bool) -> Expr:
    """Return a product in which `d` before a factor is a differential, and `g'` before one the derivative of a call."""

    def made(left: Expr, right: Expr) -> Expr | None:
        """Return a differential or a call of two factors; None where they are a product."""
        if left == symbol("d") and has_differentials:
            return Expr("differential", (right,))
        return Expr("apply", (right,), left.name) if _is_primed_call(left, called) else None

    return joined(node, made)


def may_be_any_input(formulas: tuple[Formula, Formula]) -> bool:
    r"""Return True if all steps of two formulas may be any function that is integrated: `u(s)` in `\int_0^tu(s)\,ds`.

    They are where both formulas have some and integrate over all, or where all begin with their integral, so that
    nobody would write the step.
    """
    kinds = [set(_kinds_of_steps([(member, {}) for member in f.members])) for f in formulas]
    found = set.union(*kinds)
    return found == {"idle"} or (all(kinds) and "free" not in found)


def _kinds_of_steps(waiting: list[tuple[Expr, dict[str, Expr]]]) -> Iterator[str]:
    """Yield of each step `idle` if it begins where its integral does, else `input` if integrated over, else `free`.

    Args:
        waiting: expressions, each with the dummies around it and their lower limits.
    """
    while waiting:
        node, lower = waiting.pop()
        if node.op == "apply" and node.name in STEPS:
            (argument,) = node.args[:1]
            begins = argument.op == "sym" and lower.get(argument.name) == number(0)
            yield "idle" if begins else "input" if not symbols(node).isdisjoint(lower) else "free"
        if node.op == "integral" and len(node.args) == 4 and node.args[1].op == "sym":
            waiting.append((node.args[0], {**lower, node.args[1].name: node.args[2]}))
            waiting += [(bound, lower) for bound in node.args[2:]]
        else:
            waiting += [(arg, lower) for arg in node.args]


def with_unknown_steps(formulas: tuple[Formula, Formula]) -> tuple[Formula, Formula] | None:
    r"""Return formulas in which the letter of a step is that of any function; None if neither calls one.

    What holds for any function holds for a step: `u(t - s)` in a convolution may be an input.
    """
    called = {node.name for f in formulas for member in f.members for node in walk(member) if node.op == "apply"}
    if called.isdisjoint(STEPS) or not called.isdisjoint(DELTAS):
        return None

    def renamed(node: Expr) -> Expr:
        """Return a node with other names of steps."""
        node = with_args(node, tuple(map(renamed, node.args)))
        return (
            Expr("apply", node.args, rf"\tilde{{{node.name}}}") if node.op == "apply" and node.name in STEPS else node
        )

    one, two = (with_members(f, tuple(map(renamed, f.members))) for f in formulas)
    return one, two
