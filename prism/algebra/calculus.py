r"""Evaluation of derivatives and values at a point in expressions that are given.

An operation is replaced by its result: `\frac{d}{dt} A\cos\omega t` becomes `-A\omega\sin\omega t`. What
stays open (the derivative of a symbol alone) is kept, so that the atoms of both formulas can meet (semantics Z.9).
A symbol varies with a variable where either formula differentiates it by that variable or writes it as a function
of it, or of what varies with it, and where physics hardly ever uses its letter for a constant: `\frac{d}{dr}(r^2 E_r)`
stays open. In an expression that holds the variable, every other symbol is a constant. An expression that does not hold
it (`\frac{d}{dt}(mv)`) leaves open what varies: all its symbols do, and so do those of a term in which nothing varies,
if the variable only stands in rates beside it: V of `\frac{d}{dt}(\frac12 m\dot x^2 + V)`. What stands before the
variable in a differential equation may be its unknown function: q of `\frac{d}{dt}(q e^{t/RC}) = \frac{V}{R}e^{t/RC}`.

Refused: a CAS (its simplification takes unbounded time); seven rules and a chain rule are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from prism import budget
from prism.algebra.expr import (
    Expr,
    Formula,
    nodes_with,
    number,
    ops_of,
    substitute,
    symbols,
    traits_of,
    walk,
    with_args,
    with_members,
)
from prism.algebra.symbols import symbol_of

MAX_ORDER = 4  # of a derivative that is worked out; each order multiplies the terms
MAX_NODES = 3000  # of a result: a longer one is left as it was written
_MAX_OPERAND = 20_000  # nodes of what is differentiated, and of the derivative of one product: n factors make n times n
_FORMULAS_KEPT = 4096  # formulas of which the derivatives are remembered in a process
_MAX_BITS = 4096  # of an exact power: `((2^{64})^{64})^{64}` would fill the memory
_DERIVATIVE = 500  # operations for each node that is differentiated
_LIMIT = 100  # and for each that is looked at

# Letters that vary with a variable as a rule; with an index they are values (`v_0`), but for a component (`E_r`).
_PLACES = ("x", "y", "z", "r", "s", r"\rho", r"\theta", r"\phi", r"\varphi")
_FIELDS = frozenset(
    ("y", "u", "v", "f", "h", "E", "B", "T", "P", "p", "V", "J", "\\phi", "\\varphi", "\\psi", "\\Phi", "\\Psi")
)
_POTENTIALS = frozenset(("F", "G", "H", "U", "S", "E", "Z", "\\Omega"))
_VARYING = {
    "t": frozenset(
        ("x", "y", "z", "r", "s", "v", "u", "p", "\\theta", "\\phi", "\\varphi", "\\psi", "\\Psi", "\\dot{x}")
    ),
    **dict.fromkeys(_PLACES, _FIELDS),
    **dict.fromkeys(("T", r"\beta"), _POTENTIALS),
    **dict.fromkeys(("V", "P", "p", "S", "N"), _POTENTIALS | {"P", "p", "T"}),
}
_COMPONENTS = frozenset((*_PLACES, *(one + two for one in "xyz" for two in "xyz")))


def usually_varies(name: str, variable: str) -> bool:
    """Return True if physics hardly ever uses the letter `name` for a constant where `variable` varies.

    >>> usually_varies("E_r", "r"), usually_varies("y", "x"), usually_varies("v_0", "t"), usually_varies("A", "t")
    (True, True, False, False)
    """
    read = symbol_of(name)
    base = read.base if read.is_vector else read.head
    if read.sub:
        return read.sub in _COMPONENTS and variable in (*_PLACES, "t")
    return base != variable and base in _VARYING.get(variable, ())


_USUAL_CONSTANTS = frozenset(
    ("m", "M", "g", "c", "k", "k_B", r"\hbar", "h", "e", "G", "R", r"\epsilon_0", r"\mu_0", "i")
)
_OPERATIONS = frozenset(("derivative", "partial", "limit", "at"))
_UNEVALUATED = _OPERATIONS | {"integral", "contour", "sum", "product", "apply", "differential", "opaque", "infinity"}
_SUMS = ("add", "sub", "neg")
_QUANTITIES = frozenset(("sym", "apply", "nabla", "bracket"))  # a side of an equation that a derivative works out
_ZERO, _ONE, _TWO = number(0), number(1), number(2)


class NotEvaluated(Exception):
    """Raised for a derivative that no rule here evaluates; the expression then stays as it is written."""


@dataclass(frozen=True, slots=True)
class KnownVariation:
    """Which symbols depend on which variables, as two compared formulas show it.

    Attributes:
        varying: (symbol, variable) pairs: the symbol depends on the variable.
        total: those pairs whose derivative is written with d or a prime: the symbol depends on no other variable.
    """

    varying: frozenset[tuple[str, str]]
    total: frozenset[tuple[str, str]]

    def varies(self, name: str, variable: str) -> bool:
        """Return True if the symbol `name` is known to depend on `variable`."""
        return (name, variable) in self.varying


def evaluate_operations(
    a: Formula, b: Formula, varying: frozenset[tuple[str, str]] = frozenset()
) -> tuple[Formula, Formula]:
    """Evaluate the derivatives and values at a point in two formulas that are compared.

    An operation without a rule here stays as it is written.

    Args:
        a, b: the formulas.
        varying: (symbol, variable) pairs of which the formulas do not show that the symbol depends on the variable.
    """
    if _OPERATIONS.isdisjoint(traits_of(a).ops) and _OPERATIONS.isdisjoint(traits_of(b).ops):
        return a, b
    one, two = _read_derivatives(a), _read_derivatives(b)
    total = one.total | two.total | varying
    shown = a.depends | b.depends | total | one.partial | two.partial
    carried = {
        (name, other) for name, variable in shown for inner, other in shown if inner == variable and name != other
    }
    known = KnownVariation(shown | carried, total)
    return _evaluate_members(a, one, known), _evaluate_members(b, two, known)


@budget.remembered(_FORMULAS_KEPT)
def possible_unknowns(f: Formula) -> frozenset[tuple[str, str]]:
    r"""Return what may be the unknown function of a differential equation, each with its variable.

    It is q in `\frac{d}{dt}(q e^{t/RC}) = \frac{V_0}{R}e^{t/RC}`: a factor of what is differentiated that stands
    nowhere else, in an equation that has the variable outside of the derivative too, and no quantity alone as a side.
    """
    if (
        f.kind != "equation"
        or "derivative" not in traits_of(f).ops
        or any(each.op in _QUANTITIES for each in f.members)
    ):
        return frozenset()
    found: set[tuple[str, str]] = set()
    for node in (node for member in f.members for node in nodes_with(member, "derivative")):
        operand, *variables = node.args
        if len(variables) != 1 or variables[0].name not in symbols(operand):
            continue
        rest = [substitute(member, {node: _ONE}) for member in f.members]
        outside = frozenset().union(*[_open_symbols(member, variables[0]) for member in rest])
        if variables[0].name in outside:
            factors = _factors(operand) - outside - _USUAL_CONSTANTS - {variables[0].name}
            found |= {(name, variables[0].name) for name in factors}
    return frozenset(found)


def _factors(node: Expr) -> frozenset[str]:
    """Return the symbols that are factors of the terms of an expression."""
    if node.op == "sym":
        return frozenset((node.name,))
    inner = node.args[:1] if node.op == "div" else node.args if node.op in ("add", "sub", "neg", "mul") else ()
    return frozenset().union(*map(_factors, inner))


@dataclass(frozen=True, slots=True)
class _Derivatives:
    """The derivatives of lone symbols in one formula.

    Attributes:
        total, partial: (symbol, variable) pairs, of derivatives written with d and with a round d.
        are_all: the formula has no other operation, so none is evaluated, whatever varies.
    """

    total: frozenset[tuple[str, str]]
    partial: frozenset[tuple[str, str]]
    are_all: bool


@budget.forgettable
@lru_cache(_FORMULAS_KEPT)
def _read_derivatives(f: Formula) -> _Derivatives:
    """Return the derivatives of lone symbols in a formula."""
    nodes = [node for member in f.members for node in nodes_with(member, *_OPERATIONS)]
    lone = [node for node in nodes if node.op in ("derivative", "partial") and node.args[0].op == "sym"]
    total, partial = (
        frozenset((node.args[0].name, node.args[1].name) for node in lone if node.op == op and len(node.args) == 2)
        for op in ("derivative", "partial")
    )
    return _Derivatives(total, partial, len(lone) == len(nodes))


def _evaluate_members(f: Formula, derivatives: _Derivatives, known: KnownVariation) -> Formula:
    """Evaluate the derivatives and values at a point in each member (`a` and `b` of `a = b`) of a formula."""
    if _OPERATIONS.isdisjoint(traits_of(f).ops):
        return f
    budget.charge(sum(member.size for member in f.members) * _LIMIT)
    if derivatives.are_all:
        return f
    names = traits_of(f).names
    own = [frozenset([pair for pair in pairs if pair[0] in names]) for pairs in (known.varying, known.total)]
    return _with_members_evaluated(f, *own)


@budget.remembered(_FORMULAS_KEPT)
def _with_members_evaluated(
    f: Formula, varying: frozenset[tuple[str, str]], total: frozenset[tuple[str, str]]
) -> Formula:
    """Evaluate the operations in each member of a formula; what is known of its symbols is as in `KnownVariation`."""
    return with_members(f, _evaluate_all(f.members, KnownVariation(varying, total)))


def _evaluate_all(nodes: tuple[Expr, ...], known: KnownVariation) -> tuple[Expr, ...]:
    """Evaluate the derivatives and values at a point in several expressions."""
    return tuple([node if _OPERATIONS.isdisjoint(ops_of(node)) else _evaluate(node, known) for node in nodes])


def _evaluate(node: Expr, known: KnownVariation) -> Expr:
    """Evaluate the derivatives and values at a point in an expression, inner ones first.

    Operations without a rule stay as they are written.
    """
    args = _evaluate_all(node.args, known)
    node = with_args(node, args)
    try:
        if node.op in ("derivative", "partial"):
            return _evaluate_derivative(node, known)
        if node.op == "limit":
            return _evaluate_limit(node)
        if node.op == "at" and node.name == "limits" and len(node.args) == 3:
            return _evaluate_between_limits(node)
        if node.op == "at" and node.name == "point" and len(node.args) == 3:
            return _evaluate_at_point(node)
    except (NotEvaluated, RecursionError):
        return node
    return node


def _within_max_nodes(node: Expr) -> Expr:
    """Return the expression itself; raise NotEvaluated if it has more than MAX_NODES nodes."""
    if node.size > MAX_NODES + 1:
        raise NotEvaluated
    return node


# Derivatives. -------------------------------------------------------------------------------------------------


def _evaluate_derivative(node: Expr, known: KnownVariation) -> Expr:
    """Differentiate the operand of a derivative node, as often as the order of the node says.

    Raises NotEvaluated if the operand is a lone symbol, or the order is above MAX_ORDER.
    """
    if len(node.args) != 2 or node.args[1].op != "sym" or not node.name.isdigit() or node.args[0].op == "sym":
        raise NotEvaluated
    operand, variable = node.args
    order = int(node.name)
    if order > MAX_ORDER:
        raise NotEvaluated
    for _ in range(order):
        operand = _within_max_nodes(derivative(operand, variable, known, op=node.op))
    return operand


def derivative(node: Expr, variable: Expr, known: KnownVariation, *, op: str = "derivative") -> Expr:
    """Differentiate an expression by the symbol `variable`.

    Args:
        node: the expression; if it does not contain the variable, all its symbols are taken to depend on it.
        variable: a symbol.
        known: which symbols depend on the variable; others are constants, unless they usually vary.
        op: `derivative` or `partial`: the operator with which the derivative of a lone symbol is written in the result.

    Errors:
        NotEvaluated: a construct without a rule, or a longer expression than is differentiated.
    """
    if node.size > _MAX_OPERAND:
        raise NotEvaluated
    budget.charge(node.size * _DERIVATIVE)
    rule = _Differentiation(variable, known, variable.name in symbols(node), op)
    if not rule.contains_variable or variable.name in _open_symbols(node, variable):
        return _differentiate(node, rule)
    return _differentiate_beside_rates(node, rule)


def _open_symbols(node: Expr, variable: Expr) -> frozenset[str]:
    """Return the symbols of an expression, but for those that only say by what a derivative by `variable` is taken."""
    if node.op in ("derivative", "partial") and variable in node.args[1:]:
        return symbols(node.args[0])
    if node.op == "sym":
        return frozenset((node.name,))
    return frozenset().union(*[_open_symbols(arg, variable) for arg in node.args])


def _differentiate_beside_rates(node: Expr, rule: _Differentiation) -> Expr:
    """Return the derivative of a sum in which the variable only stands in rates: a term without any varies itself."""
    if node.op in _SUMS:
        return _combine_derivatives(node.op, [_differentiate_beside_rates(arg, rule) for arg in node.args])
    return _differentiate(
        node, replace(rule, contains_variable=not _is_without_rates(node, rule.variable, rule.varies))
    )


def _is_without_rates(term: Expr, variable: Expr, varies: Callable[[str], bool]) -> bool:
    """Return True for a term in which nothing varies as far as anyone knows, and nothing is a value at the start."""
    names = symbols(term)
    return variable.name not in names and not any(
        varies(name) or usually_varies(name, variable.name) or symbol_of(name).sub == "0" for name in names
    )


def letters_beside_rates(operand: Expr, variable: Expr, varies: Callable[[str], bool]) -> frozenset[str]:
    r"""Return the letters that vary since nothing else does in their term: V of `\frac{d}{dt}(\frac12 m\dot x^2 + V)`.

    Args:
        operand: what is differentiated by `variable`; if the variable stands elsewhere than in rates there are none.
        varies: if a letter is known to depend on the variable.
    """
    if variable.name not in symbols(operand) or variable.name in _open_symbols(operand, variable):
        return frozenset()
    terms = [operand]
    while any(term.op in _SUMS for term in terms):
        terms = [part for term in terms for part in (term.args if term.op in _SUMS else (term,))]
    return symbols(*[term for term in terms if _is_without_rates(term, variable, varies)])


@dataclass(frozen=True, slots=True)
class _Differentiation:
    """Settings of one differentiation.

    Attributes:
        variable: the symbol by which an expression is differentiated.
        known: which symbols depend on it.
        contains_variable: the expression contains the variable; if not, all its symbols are taken to depend on it.
        op: `derivative` or `partial`, the operator with which the derivative of a lone symbol is written.
    """

    variable: Expr
    known: KnownVariation
    contains_variable: bool
    op: str

    def varies(self, name: str) -> bool:
        """Return True if the symbol `name` is known to depend on the variable of this differentiation."""
        return self.known.varies(name, self.variable.name)


def _differentiate(node: Expr, rule: _Differentiation) -> Expr:
    """Return the derivative of a node by the variable of `rule`; raise NotEvaluated for a construct without a rule."""
    if node == rule.variable:
        return _ONE
    if node.op in ("num", "const", "unit", "infinity"):
        return _ZERO
    if node.op == "sym":
        if not rule.contains_variable or rule.varies(node.name) or usually_varies(node.name, rule.variable.name):
            total = (node.name, rule.variable.name) in rule.known.total
            return Expr("derivative" if total else rule.op, (node, rule.variable), name="1")
        return _ZERO
    if node.op in ("add", "sub", "neg"):
        return _combine_derivatives(node.op, [_differentiate(arg, rule) for arg in node.args])
    if node.op == "mul":
        inner = [_differentiate(arg, rule) for arg in node.args]
        turns = [k for k, each in enumerate(inner) if each != _ZERO]
        if len(turns) * len(inner) > _MAX_OPERAND:
            raise NotEvaluated
        budget.charge(len(turns) * len(inner) * _LIMIT)
        return _sum([_product([*node.args[:k], inner[k], *node.args[k + 1 :]]) for k in turns])
    if node.op == "div":
        a, b = node.args
        da, db = _differentiate(a, rule), _differentiate(b, rule)
        if db == _ZERO:
            return _quotient(da, b)
        return _quotient(_difference(_product([da, b]), _product([a, db])), Expr("pow", (b, _TWO)))
    if node.op in ("pow", "root"):
        return _differentiate_power(node, rule)
    if node.op in (rule.op, "derivative", "partial") and len(node.args) == 2 and node.name.isdigit():
        return _next_order(node, rule)
    slope = _SLOPES.get(node.op)
    if slope is None:
        names = symbols(node)
        if rule.contains_variable and rule.variable.name not in names and not any(map(rule.varies, names)):
            return _ZERO
        raise NotEvaluated
    by_operand = _differentiate(node.args[0], rule)
    return _ZERO if by_operand == _ZERO else _product([slope(node.args[0]), by_operand])


def _next_order(node: Expr, rule: _Differentiation) -> Expr:
    """Return the derivative of a symbol's derivative, `d^2x/dt^2` for `dx/dt`; else raise NotEvaluated."""
    operand, variable = node.args
    if variable == rule.variable and operand.op == "sym":
        return Expr(node.op, node.args, name=str(int(node.name) + 1))
    raise NotEvaluated


def _differentiate_power(node: Expr, rule: _Differentiation) -> Expr:
    """Differentiate a power or root: u^n gives n u^(n-1) u', and u^v gives u^v (v ln u)'."""
    base, exponent = node.args
    if node.op == "root":
        exponent = _quotient(_ONE, exponent)
    du, dv = _differentiate(base, rule), _differentiate(exponent, rule)
    if dv == _ZERO:
        if du == _ZERO:
            return _ZERO
        lower = number(exponent.value - 1) if exponent.value is not None else Expr("sub", (exponent, _ONE))
        power = base if lower == _ONE else Expr("pow", (base, lower))
        return _product([exponent, power, du])
    terms = [_product([dv, Expr("ln", (base,))])]
    if du != _ZERO:
        terms.append(_product([exponent, _quotient(du, base)]))
    return _product([node, _sum(terms)])


def _one_minus_square(u: Expr) -> Expr:
    """Return the expression 1 - u^2."""
    return Expr("sub", (_ONE, Expr("pow", (u, _TWO))))


def _one_plus_square(u: Expr) -> Expr:
    """Return the expression 1 + u^2."""
    return Expr("add", (_ONE, Expr("pow", (u, _TWO))))


def _inverse(u: Expr) -> Expr:
    """Return the expression 1/u."""
    return Expr("div", (_ONE, u))


_SLOPES: Mapping[str, Callable[[Expr], Expr]] = {
    "sqrt": lambda u: _inverse(Expr("mul", (_TWO, Expr("sqrt", (u,))))),
    "exp": lambda u: Expr("exp", (u,)),
    "ln": _inverse,
    "log10": lambda u: _inverse(Expr("mul", (u, Expr("ln", (number(10),))))),
    "sin": lambda u: Expr("cos", (u,)),
    "cos": lambda u: Expr("neg", (Expr("sin", (u,)),)),
    "tan": lambda u: _inverse(Expr("pow", (Expr("cos", (u,)), _TWO))),
    "asin": lambda u: _inverse(Expr("sqrt", (_one_minus_square(u),))),
    "acos": lambda u: Expr("neg", (_inverse(Expr("sqrt", (_one_minus_square(u),))),)),
    "atan": lambda u: _inverse(_one_plus_square(u)),
    "sinh": lambda u: Expr("cosh", (u,)),
    "cosh": lambda u: Expr("sinh", (u,)),
    "tanh": lambda u: _inverse(Expr("pow", (Expr("cosh", (u,)), _TWO))),
    "asinh": lambda u: _inverse(Expr("sqrt", (_one_plus_square(u),))),
    "acosh": lambda u: _inverse(Expr("sqrt", (Expr("sub", (Expr("pow", (u, _TWO)), _ONE)),))),
    "atanh": lambda u: _inverse(_one_minus_square(u)),
}
"""Derivative of each function of one argument by it. Twin: tests/reference.py::TWINS, by differences."""


def _combine_derivatives(op: str, args: list[Expr]) -> Expr:
    """Return the sum, difference or negative of derivatives as an expression without terms that are 0.

    Args:
        op: `add`, `sub` or `neg`.
        args: the derivatives of its operands.
    """
    if op == "neg":
        return _ZERO if args[0] == _ZERO else Expr("neg", (args[0],))
    return _difference(*args) if op == "sub" else _sum(args)


def _sum(terms: list[Expr]) -> Expr:
    """Return the sum of terms as an expression, without terms that are 0; the number 0 if none is left."""
    kept = [term for term in terms if term != _ZERO]
    if not kept:
        return _ZERO
    return kept[0] if len(kept) == 1 else Expr("add", tuple(kept))


def _difference(a: Expr, b: Expr) -> Expr:
    """Return a - b as an expression; if a or b is 0, just -b or a."""
    if b == _ZERO:
        return a
    return Expr("neg", (b,)) if a == _ZERO else Expr("sub", (a, b))


def _product(factors: list[Expr]) -> Expr:
    """Return the product of factors as an expression, without factors that are 1; the number 0 if one factor is 0."""
    if _ZERO in factors:
        return _ZERO
    kept = [factor for factor in factors if factor != _ONE]
    if not kept:
        return _ONE
    return kept[0] if len(kept) == 1 else Expr("mul", tuple(kept))


def _quotient(a: Expr, b: Expr) -> Expr:
    """Return a/b as an expression; the number 0 if a is 0."""
    return _ZERO if a == _ZERO else Expr("div", (a, b))


# Values at a point. --------------------------------------------------------------------------------------------


def _evaluate_between_limits(node: Expr) -> Expr:
    r"""Evaluate `\left[\frac{x^3}{3}\right]_0^L` to the value at the upper limit minus that at the lower.

    Raises NotEvaluated if a limit is infinite, or if it is not clear which symbol the limits are put in for.
    """
    body, low, high = node.args
    free = symbols(body) - symbols(low, high)
    if len(symbols(body)) == 1:
        free = symbols(body)
    if len(free) != 1 or "infinity" in ops_of(low, high):
        raise NotEvaluated
    (name,) = free
    variable = Expr("sym", name=name)
    values = tuple(_within_max_nodes(substitute(body, {variable: end})) for end in (high, low))
    return _within_max_nodes(Expr("sub", values))


def _evaluate_at_point(node: Expr) -> Expr:
    r"""Evaluate `\left.x^2\right|_{x=a}` to the operand with the point put in.

    Raises NotEvaluated if the operand does not contain the variable, or anything that is not evaluated at a point.
    """
    body, variable, point = node.args
    if variable.op != "sym" or variable not in walk(body) or not _UNEVALUATED.isdisjoint(ops_of(body, point)):
        raise NotEvaluated
    return _within_max_nodes(substitute(body, {variable: point}))


def _evaluate_limit(node: Expr) -> Expr:
    """Return the body of a limit in which its variable does not stand; raises NotEvaluated for any other limit."""
    if len(node.args) != 3 or node.args[1].op != "sym":
        raise NotEvaluated
    body, variable, _ = node.args
    if variable.name in symbols(body):
        raise NotEvaluated
    if any(name[:1].isupper() or usually_varies(name, variable.name) for name in symbols(body)):
        raise NotEvaluated  # the expression may depend on the variable without showing it
    return body
