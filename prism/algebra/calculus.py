r"""Derivatives, limits and values at a point of expressions that are given, worked out.

What a formula writes as an operation becomes its result: `\frac{d}{dt} A\cos\omega t` is `-A\omega\sin\omega t`. What
stays open (the derivative of a symbol alone) is kept, so that the atoms of both formulas can meet (semantics Z.9).
A symbol varies with a variable where either formula differentiates it by that variable or writes it as a function
of it, and where physics hardly ever uses its letter for a constant: `\frac{d}{dr}(r^2 E_r)` stays open. In an
expression that holds the variable, every other symbol is a constant. An expression that does not hold it
(`\frac{d}{dt}(mv)`) leaves open what varies: all its symbols do.

Refused: a CAS (its simplification takes what time it wants); seven rules and a chain rule are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, number, ops_of, substitute, symbols, traits_of, walk

FORMULAS_KEPT = 4096  # formulas remembered in a process
MAX_ORDER = 4  # of a derivative that is worked out; each order multiplies the terms
MAX_NODES = 3000  # of a result: a longer one is left as it was written
MAX_HOSPITAL = 4  # applications of l'Hospital's rule

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
_COMPONENTS = frozenset((*_PLACES, *(f"{{{one}{two}}}" for one in "xyz" for two in "xyz")))


def usually_varies(name: str, variable: str) -> bool:
    """Whether a symbol that nothing is said about is hardly ever a constant beside this variable.

    >>> usually_varies("E_r", "r"), usually_varies("y", "x"), usually_varies("v_0", "t"), usually_varies("A", "t")
    (True, True, False, False)
    """
    base, _, index = name.removeprefix(r"\vec{").replace("}", "").partition("_")
    if index:
        return index in _COMPONENTS and variable in (*_PLACES, "t")
    return base != variable and base in _VARYING.get(variable, ())


_OPERATIONS = frozenset(("derivative", "partial", "limit", "at"))
_NONE: frozenset[tuple[str, str]] = frozenset()
_ZERO, _ONE, _TWO = number(0), number(1), number(2)


class Left(Exception):
    """Not worked out: it stays as it is written."""


@dataclass(frozen=True, slots=True)
class Known:
    """What both formulas say about what varies.

    Attributes:
        varying: names that vary with a variable.
        total: those whose derivative by it is written with d or a prime: they vary with nothing else.
    """

    varying: frozenset[tuple[str, str]]
    total: frozenset[tuple[str, str]]

    def varies(self, name: str, variable: str) -> bool:
        """Whether this symbol varies with that one."""
        return (name, variable) in self.varying


def worked_out(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Both formulas with their derivatives, limits and values at a point worked out as far as they go."""
    if _OPERATIONS.isdisjoint(traits_of(a).ops) and _OPERATIONS.isdisjoint(traits_of(b).ops):
        return a, b
    total = _differentiated(a, "derivative") | _differentiated(b, "derivative")
    partial = _differentiated(a, "partial") | _differentiated(b, "partial")
    known = Known(a.depends | b.depends | total | partial, total)
    return _of_formula(a, known), _of_formula(b, known)


@lru_cache(maxsize=FORMULAS_KEPT)
def _differentiated(f: Formula, op: str) -> frozenset[tuple[str, str]]:
    """Symbols that this operation stands before, with its variable."""
    if op not in traits_of(f).ops:
        return _NONE
    nodes = (node for member in f.members for node in walk(member) if node.op == op and len(node.args) == 2)
    return frozenset((node.args[0].name, node.args[1].name) for node in nodes if node.args[0].op == "sym")


def _of_formula(f: Formula, known: Known) -> Formula:
    members = tuple(_worked(member, known) for member in f.members)
    return f if members == f.members else replace(f, members=members)


def _worked(node: Expr, known: Known) -> Expr:
    """The expression with every operation in it that can be worked out, the inner ones first."""
    if _OPERATIONS.isdisjoint(ops_of(node)):
        return node
    args = tuple(_worked(arg, known) for arg in node.args)
    node = node if args == node.args else Expr(node.op, args, node.name, node.value)
    try:
        if node.op in ("derivative", "partial"):
            return _differentiated_expression(node, known)
        if node.op == "limit":
            return _limit(node, known)
        if node.op == "at" and node.name == "limits" and len(node.args) == 3:
            return _between(node)
    except (Left, RecursionError):
        return node
    return node


def _small(node: Expr) -> Expr:
    for count, _ in enumerate(walk(node)):
        if count > MAX_NODES:
            raise Left
    return node


# Derivatives. -------------------------------------------------------------------------------------------------


def _differentiated_expression(node: Expr, known: Known) -> Expr:
    if len(node.args) != 2 or node.args[1].op != "sym" or not node.name.isdigit() or node.args[0].op == "sym":
        raise Left
    operand, variable = node.args
    order = int(node.name)
    if order > MAX_ORDER:
        raise Left
    for _ in range(order):
        operand = _small(derivative(operand, variable, known, op=node.op))
    return operand


def derivative(node: Expr, variable: Expr, known: Known, *, op: str = "derivative") -> Expr:
    """Derivative of an expression by a symbol.

    Args:
        known: what varies with the variable. If the expression does not hold the variable, every symbol does.
        op: `derivative` or `partial`, as the derivatives of those are written.

    Errors:
        Left: a construct without a rule.
    """
    return _by(node, _Rule(variable, known, variable.name in symbols(node), op))


@dataclass(frozen=True, slots=True)
class _Rule:
    """One differentiation: by what, what is known, whether the expression holds the variable, how it is written."""

    variable: Expr
    known: Known
    holds: bool
    op: str

    def varies(self, name: str) -> bool:
        return self.known.varies(name, self.variable.name)


def _by(node: Expr, rule: _Rule) -> Expr:
    if node == rule.variable:
        return _ONE
    if node.op in ("num", "const", "unit", "infinity"):
        return _ZERO
    if node.op == "sym":
        if not rule.holds or rule.varies(node.name) or usually_varies(node.name, rule.variable.name):
            total = (node.name, rule.variable.name) in rule.known.total
            return Expr("derivative" if total else rule.op, (node, rule.variable), name="1")
        return _ZERO
    if node.op in ("add", "sub", "neg"):
        return _combined(node.op, [_by(arg, rule) for arg in node.args])
    if node.op == "mul":
        return _sum(
            [_product([*node.args[:k], _by(arg, rule), *node.args[k + 1 :]]) for k, arg in enumerate(node.args)]
        )
    if node.op == "div":
        a, b = node.args
        da, db = _by(a, rule), _by(b, rule)
        if db == _ZERO:
            return _quotient(da, b)
        return _quotient(_difference(_product([da, b]), _product([a, db])), Expr("pow", (b, _TWO)))
    if node.op in ("pow", "root"):
        return _power(node, rule)
    if node.op in (rule.op, "derivative", "partial") and len(node.args) == 2 and node.name.isdigit():
        return _next_order(node, rule)
    slope = _SLOPES.get(node.op)
    if slope is None:
        names = symbols(node)
        if rule.holds and rule.variable.name not in names and not any(map(rule.varies, names)):
            return _ZERO
        raise Left
    inner = _by(node.args[0], rule)
    return _ZERO if inner == _ZERO else _product([slope(node.args[0]), inner])


def _next_order(node: Expr, rule: _Rule) -> Expr:
    """The derivative of a derivative by the same variable is of the next order; by another one it is left."""
    operand, variable = node.args
    if variable == rule.variable and operand.op == "sym":
        return Expr(node.op, node.args, name=str(int(node.name) + 1))
    raise Left


def _power(node: Expr, rule: _Rule) -> Expr:
    """u^n by n u^(n-1) u', and u^v by u^v (v ln u)'."""
    base, exponent = node.args
    if node.op == "root":
        exponent = _quotient(_ONE, exponent)
    du, dv = _by(base, rule), _by(exponent, rule)
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
    return Expr("sub", (_ONE, Expr("pow", (u, _TWO))))


def _one_plus_square(u: Expr) -> Expr:
    return Expr("add", (_ONE, Expr("pow", (u, _TWO))))


def _inverse(u: Expr) -> Expr:
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


def _combined(op: str, args: list[Expr]) -> Expr:
    if op == "neg":
        return _ZERO if args[0] == _ZERO else Expr("neg", (args[0],))
    return _difference(*args) if op == "sub" else _sum(args)


def _sum(terms: list[Expr]) -> Expr:
    kept = [term for term in terms if term != _ZERO]
    if not kept:
        return _ZERO
    return kept[0] if len(kept) == 1 else Expr("add", tuple(kept))


def _difference(a: Expr, b: Expr) -> Expr:
    if b == _ZERO:
        return a
    return Expr("neg", (b,)) if a == _ZERO else Expr("sub", (a, b))


def _product(factors: list[Expr]) -> Expr:
    if _ZERO in factors:
        return _ZERO
    kept = [factor for factor in factors if factor != _ONE]
    if not kept:
        return _ONE
    return kept[0] if len(kept) == 1 else Expr("mul", tuple(kept))


def _quotient(a: Expr, b: Expr) -> Expr:
    return _ZERO if a == _ZERO else Expr("div", (a, b))


# Values at a point, and limits. ---------------------------------------------------------------------------------


def _between(node: Expr) -> Expr:
    r"""`\left[\frac{x^3}{3}\right]_0^L`: the value at the upper end less that at the lower one, in the one variable."""
    body, low, high = node.args
    free = symbols(body) - symbols(low, high)
    if len(symbols(body)) == 1:
        free = symbols(body)
    if len(free) != 1 or "infinity" in {inner.op for end in (low, high) for inner in walk(end)}:
        raise Left
    (name,) = free
    variable = Expr("sym", name=name)
    return Expr("sub", (substitute(body, {variable: high}), substitute(body, {variable: low})))


def _limit(node: Expr, known: Known) -> Expr:
    """A limit: put in, where numerator and denominator do not both vanish there; else by l'Hospital's rule."""
    if len(node.args) != 3 or node.args[1].op != "sym":
        raise Left
    body, variable, target = node.args
    if variable.name not in symbols(body):
        if any(name[:1].isupper() or usually_varies(name, variable.name) for name in symbols(body)):
            raise Left  # what stands there may depend on it without saying so
        return body
    if any(usually_varies(name, variable.name) or known.varies(name, variable.name) for name in symbols(body)):
        raise Left
    if target.op == "infinity" or any(inner.op == "infinity" for inner in walk(target)):
        return _limit_at_infinity(body, variable, target)
    above, below = _as_quotient(body)
    place = {variable: target}
    for _ in range(MAX_HOSPITAL + 1):
        top, bottom = substitute(above, place), substitute(below, place)
        if _value(bottom) != 0:
            if not _is_continuous(above, variable, target) or not _is_continuous(below, variable, target):
                raise Left
            return top if bottom == _ONE else Expr("div", (top, bottom))
        if _value(top) != 0:
            raise Left
        above, below = (_small(derivative(side, variable, known)) for side in (above, below))
    raise Left


def _as_quotient(node: Expr) -> tuple[Expr, Expr]:
    """Numerator and denominator of a quotient, or of a product that holds quotients."""
    if node.op == "div":
        return node.args[0], node.args[1]
    if node.op != "mul" or all(factor.op != "div" for factor in node.args):
        return node, _ONE
    above = [factor.args[0] if factor.op == "div" else factor for factor in node.args]
    below = [factor.args[1] for factor in node.args if factor.op == "div"]
    return _product(above), _product(below)


def _limit_at_infinity(body: Expr, variable: Expr, target: Expr) -> Expr:
    """A quotient of polynomials at infinity: the ratio of its leading terms, if they are of one degree."""
    if target.op != "infinity":
        raise Left
    above, below = _as_quotient(body)
    top, bottom = (_leading(side, variable) for side in (above, below))
    if top[0] > bottom[0]:
        raise Left
    return _ZERO if top[0] < bottom[0] else Expr("div", (top[1], bottom[1]))


def _leading(node: Expr, variable: Expr) -> tuple[int, Expr]:
    """Degree and leading coefficient of a polynomial in the variable."""
    if variable.name not in symbols(node):
        return 0, node
    if node == variable:
        return 1, _ONE
    if node.op == "neg":
        degree, lead = _leading(node.args[0], variable)
        return degree, Expr("neg", (lead,))
    if node.op in ("add", "sub"):
        parts = [_leading(arg, variable) for arg in node.args]
        top = max(degree for degree, _ in parts)
        signs = [1 if node.op == "add" or not k else -1 for k in range(len(parts))]
        leads = [lead if sign > 0 else Expr("neg", (lead,))
                 for (degree, lead), sign in zip(parts, signs, strict=True) if degree == top]  # fmt: skip
        if len(leads) > 1:
            raise Left  # they may cancel
        return top, leads[0]
    if node.op == "mul":
        parts = [_leading(arg, variable) for arg in node.args]
        return sum(degree for degree, _ in parts), _product([lead for _, lead in parts])
    if node.op == "div" and variable.name not in symbols(node.args[1]):
        degree, lead = _leading(node.args[0], variable)
        return degree, Expr("div", (lead, node.args[1]))
    exponent = node.args[1].value if node.op == "pow" else None
    if exponent is not None and exponent.denominator == 1 and exponent > 0:
        degree, lead = _leading(node.args[0], variable)
        return degree * int(exponent), Expr("pow", (lead, node.args[1]))
    raise Left


def _value(node: Expr) -> Fraction | None:
    """The number that an expression is by exact arithmetic and the plainest values of functions; None if it is open.

    An expression that is open is taken to be no zero only if it has no difference in it that could vanish.
    """
    if node.op == "num":
        return node.value
    values = [_value(arg) for arg in node.args]
    known = [value for value in values if value is not None]
    if node.op == "mul" and 0 in known:
        return Fraction(0)
    if node.op == "div" and values[0] == 0 and values[1] != 0:
        return Fraction(0)
    if node.op == "pow" and values[0] == 0 and values[1] is not None and values[1] > 0:
        return Fraction(0)
    if len(known) != len(values) or not values:
        if node.op in ("sym", "const", "mul", "div", "pow", "exp", "sqrt") or _is_sum(node):
            return None
        raise Left  # a difference of symbols may vanish, and nobody knows
    if node.op in ("add", "mul"):
        total = Fraction(node.op == "mul")
        for value in known:
            total = total + value if node.op == "add" else total * value
        return total
    if node.op in ("sub", "neg"):
        return known[0] - known[1] if node.op == "sub" else -known[0]
    if node.op == "div":
        return known[0] / known[1] if known[1] else None
    if node.op == "pow" and known[1].denominator == 1 and abs(known[1]) <= 64 and (known[0] or known[1] > 0):
        return known[0] ** int(known[1])
    return _AT_ZERO.get(node.op) if known == [0] else _AT_ONE.get(node.op) if known == [1] else None


_AT_ZERO = {
    name: Fraction(0) for name in ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "sqrt", "abs")
}
_AT_ZERO |= {name: Fraction(1) for name in ("cos", "exp", "cosh")}
_AT_ONE = {"ln": Fraction(0), "log10": Fraction(0), "acosh": Fraction(0), "sqrt": Fraction(1), "abs": Fraction(1)}


def _is_sum(node: Expr) -> bool:
    return node.op in ("add", "neg") and all(arg.op != "neg" for arg in node.args)


def _is_continuous(node: Expr, variable: Expr, target: Expr) -> bool:
    """Whether nothing in the expression jumps or has a pole at the target, by its form."""
    for inner in walk(node):
        if variable.name not in symbols(inner):
            continue
        if inner.op == "div" and _value(substitute(inner.args[1], {variable: target})) == 0:
            return False
        if inner.op not in ("add", "sub", "mul", "div", "neg", "pow", "sqrt", "sym") and inner.op not in _SLOPES:
            return False
    return True
