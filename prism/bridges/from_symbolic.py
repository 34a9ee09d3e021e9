r"""Formulas out of sympy objects.

Read are relations, tuples, lists and logical combinations of them, and expressions. What PRISM has no operator for is
refused by name. A symbol is found under its own name, or under the one that sympy prints for it (`alpha` is `\alpha`,
`x1` is `x_1`); assumptions are not carried, since only a problem declares what its symbols are. A function of symbols
only, `v(t)`, is a symbol that depends on them, as `v(t)` in LaTeX is.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from prism import budget
from prism.algebra.expr import Expr, Formula, formula, number, symbol
from prism.bridges.symbol_names import latex_of, symbol_of
from prism.bridges.to_symbolic import CALLS, FUNCTIONS, RELATIONS, load
from prism.errors import ConversionError, named_type
from prism.latex.writing.writer import write

_MAX_NODES = 20_000  # of the sympy object: larger ones come from no formula that a person wrote
_MAX_DEPTH = 200  # levels of the sympy object
_NODE = 100  # operations for each node that is converted
_ONE = number(1)
_MAX_PLAIN = 12  # digits before or behind the point of a decimal without a power of ten

_OPS = {name: op for op, name in FUNCTIONS.items()}
_CALLS = {name: call for call, name in CALLS.items()}
_RELATIONS = {
    "Equality": "=", "Unequality": "!=", "StrictLessThan": "<", "LessThan": "<=", "StrictGreaterThan": ">",
    "GreaterThan": ">=",
}  # fmt: skip
_RECIPROCALS = {"sec": "cos", "csc": "sin", "sech": "cosh", "csch": "sinh"}
_RATIOS = {"cot": ("cos", "sin"), "coth": ("cosh", "sinh")}
_BOUND = {"Integral": "integral", "Sum": "sum", "Product": "product"}
_CONSTANTS = {
    "Pi": Expr("const", name="pi"), "Exp1": Expr("const", name="e"), "Infinity": Expr("infinity"),
    "NegativeInfinity": Expr("neg", (Expr("infinity"),)), "ImaginaryUnit": symbol("i"),
}  # fmt: skip
assert set(RELATIONS) == set(_RELATIONS.values())


def from_sympy(expr: Any) -> Formula:
    """Return a sympy object as a formula, with its canonical LaTeX as text.

    Args:
        expr: an expression, a relation, an `Or` or `Implies` of relations, or several relations as an `And`, `Tuple` or
            list: a chain (`a = b = c`) where each begins with what the one before ends with, else a system.

    Errors:
        ConversionError: naming what PRISM has nothing for: a class of sympy, a symbol that it would read otherwise.
        PrismError: sympy is not installed.

    >>> import sympy
    >>> force, mass, a = sympy.symbols("F m a")
    >>> print(from_sympy(sympy.Eq(force, mass * a)))
    F = a*m
    """
    sympy = load("sympy", "prism.from_sympy")
    if isinstance(expr, list | tuple):
        expr = sympy.Tuple(*expr)
    if not isinstance(expr, sympy.Basic):
        raise ConversionError("PRISM", named_type(expr), "expected a sympy expression or relation")
    _measure(expr)
    found = _Reader(sympy).statement(expr)
    return Formula(found.kind, found.members, found.relations, write(found), found.parts, found.depends)


def _measure(expr: Any) -> None:
    """Charge for an object and refuse one that is too large or too deep to be walked."""
    waiting, nodes = [(expr, 1)], 0
    while waiting:
        node, depth = waiting.pop()
        nodes += 1
        if nodes > _MAX_NODES or depth > _MAX_DEPTH:
            raise ConversionError("PRISM", "an object as large", f"more than {_MAX_NODES} nodes or {_MAX_DEPTH} levels")
        waiting += [(arg, depth + 1) for arg in node.args]
    budget.charge(nodes * _NODE)


class _Reader:
    """One conversion.

    Attributes:
        sympy: the module.
        names: PRISM's symbol or unit for each symbol met, and that symbol.
        depends: (symbol, variable) for functions of symbols.
    """

    def __init__(self, sympy: Any) -> None:
        """Start with no names."""
        self.sympy = sympy
        self.names: dict[Expr, Any] = {}
        self.depends: set[tuple[str, str]] = set()

    def statement(self, expr: Any) -> Formula:
        """Return a relation, several of them, or an expression as a formula.

        Raises ConversionError for what has no formula.
        """
        kind = type(expr).__name__
        if kind in _RELATIONS:
            sides = self.node(expr.lhs), self.node(expr.rhs)
            return formula(sides, (_RELATIONS[kind],), depends=frozenset(self.depends))
        if kind in ("Tuple", "And", "Or", "Implies"):
            parts = [self.statement(arg) for arg in expr.args]
            if len(parts) < 2 or any(part.kind in ("expression", "system", "chain") for part in parts):
                raise ConversionError("PRISM", kind, f"of what is no relation, or of one only: {expr}")
            return self.joined("system" if kind in ("Tuple", "And") else _JOINTS[kind], tuple(parts))
        if not isinstance(expr, self.sympy.Expr):
            raise ConversionError("PRISM", kind, str(expr))
        members = (self.node(expr),)
        return formula(members, (), depends=frozenset(self.depends))

    def joined(self, kind: str, parts: tuple[Formula, ...]) -> Formula:
        """Return several formulas as one; a system in which each goes on where the last ended is a chain."""
        goes_on = all(
            not one.parts and not two.parts and one.members[-1] == two.members[0] for one, two in pairwise(parts)
        )
        if kind == "system" and goes_on:
            members = parts[0].members[:1] + tuple(part.members[-1] for part in parts)
            relations = tuple(part.relations[0] for part in parts)
            return formula(members, relations, depends=frozenset(self.depends))
        return Formula(kind, (), (), parts=parts, depends=frozenset(self.depends))

    def node(self, expr: Any) -> Expr:
        """Return an expression; raise ConversionError naming the class that PRISM has no operator for."""
        kind = type(expr).__name__
        if isinstance(expr, self.sympy.Rational):
            return _rational(Fraction(int(expr.p), int(expr.q)))
        if isinstance(expr, self.sympy.Float):
            return _decimal(expr)
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        if isinstance(expr, self.sympy.Symbol):
            return self.symbol(expr)
        if kind in ("Add", "Mul", "Pow", "Derivative") or kind in _BOUND:
            found: Expr = getattr(self, kind if kind not in _BOUND else "Bound")(expr)
            return found
        if isinstance(expr, self.sympy.core.function.AppliedUndef):
            return self.applied(expr)
        return self.function(kind, expr)

    def function(self, kind: str, expr: Any) -> Expr:
        """Return a function of sympy's; raises ConversionError for one that PRISM lacks."""
        if kind == "log" and len(expr.args) == 2:
            above, below = map(self.node, expr.args)
            if below.value == 10:
                return Expr("log10", (above,))
            return Expr("div", (Expr("ln", (above,)), Expr("ln", (below,))))
        if kind not in (*_OPS, *_CALLS, *_RECIPROCALS, *_RATIOS):
            raise ConversionError("PRISM", kind, str(expr))
        args = tuple(map(self.node, expr.args))
        if kind in _OPS:
            return Expr(_OPS[kind], args)
        if kind in _CALLS:  # sympy sorts arguments of Max and Min, numbers first
            return Expr("apply", tuple(sorted(args, key=lambda arg: arg.op in ("num", "neg"))), _CALLS[kind])
        if kind in _RECIPROCALS:
            return Expr("div", (_ONE, Expr(_RECIPROCALS[kind], args)))
        above_op, below_op = _RATIOS[kind]
        return Expr("div", (Expr(above_op, args), Expr(below_op, args)))

    def Add(self, expr: Any) -> Expr:  # noqa: N802 - named as sympy's class
        """Return a sum, or the difference of two terms: of temperatures it is another thing than their sum."""
        terms = tuple(map(self.node, expr.args))
        if len(terms) == 2 and terms[1].op == "neg":
            return Expr("sub", (terms[0], terms[1].args[0]))
        return Expr("add", terms) if len(terms) > 1 else terms[0]

    def Mul(self, expr: Any) -> Expr:  # noqa: N802
        """Return a product, with its negative powers as the denominator of one quotient, its sign in front."""
        factors = list(expr.args)
        root = self.odd_root(factors)
        above: list[Expr] = [] if root is None else [root]
        below: list[Expr] = []
        negative = False
        commutes = expr.is_commutative is not False
        for factor in factors:
            if factor == -1 and isinstance(factor, self.sympy.Integer):
                negative = not negative
                continue
            inverse = self.inverse(factor) if commutes else None
            (above if inverse is None else below).append(self.node(factor) if inverse is None else inverse)
        product = _product(above)
        if below:
            product = Expr("div", (product, _product(below)))
        return Expr("neg", (product,)) if negative else product

    def odd_root(self, factors: list[Any]) -> Expr | None:
        """Take sign(a) and |a|^(1/n) with odd n out of the factors; return the real root, None where they are not."""
        signs = {factor.args[0]: factor for factor in factors if type(factor).__name__ == "sign"}
        for factor in factors:
            if type(factor).__name__ != "Pow" or type(factor.base).__name__ != "Abs":
                continue
            base, exponent = factor.base.args[0], factor.exp
            if base in signs and getattr(exponent, "p", None) == 1 and exponent.q % 2 == 1 and exponent.q > 1:
                factors.remove(signs[base])
                factors.remove(factor)
                return Expr("root", (self.node(base), number(int(exponent.q))))
        return None

    def inverse(self, factor: Any) -> Expr | None:
        """Return what a factor divides by: b of b^(-1), b^n of b^(-n); None if it does not divide."""
        if type(factor).__name__ != "Pow" or not isinstance(factor.exp, self.sympy.Rational) or factor.exp >= 0:
            return None
        return self.node(factor.base) if factor.exp == -1 else self.power(factor.base, -factor.exp)

    def Pow(self, expr: Any) -> Expr:  # noqa: N802
        """Return a power, square root or quotient."""
        inverse = self.inverse(expr) if expr.is_commutative is not False else None
        return Expr("div", (_ONE, inverse)) if inverse is not None else self.power(expr.base, expr.exp)

    def power(self, base: Any, exponent: Any) -> Expr:
        """Return a power; an even root of the form that PRISM reads."""
        if isinstance(exponent, self.sympy.Rational) and exponent.p == 1 and exponent.q % 2 == 0:
            inner = self.node(base)
            return Expr("sqrt", (inner,)) if exponent.q == 2 else Expr("root", (inner, number(int(exponent.q))))
        return Expr("pow", (self.node(base), self.node(exponent)))

    def Derivative(self, expr: Any) -> Expr:  # noqa: N802
        """Return a derivative; a partial one by several symbols, or of a function of several.

        Raises ConversionError by what is no symbol.
        """
        by = [(self.node(variable), int(count)) for variable, count in expr.variable_count if count.is_Integer]
        if len(by) != len(expr.variable_count) or not by or any(variable.op != "sym" for variable, _ in by):
            raise ConversionError("PRISM", "Derivative", f"by what is no symbol, or as often as a symbol says: {expr}")
        body = self.node(expr.expr)
        order = str(sum(count for _, count in by))
        if len(by) == 1:
            several = isinstance(expr.expr, self.sympy.core.function.AppliedUndef) and len(expr.expr.args) > 1
            return Expr("partial" if several else "derivative", (body, by[0][0]), order)
        return Expr("partial", (body, *(variable for variable, count in by for _ in range(count))), order)

    def Bound(self, expr: Any) -> Expr:  # noqa: N802
        """Return an integral, sum or product, one within the other for several variables.

        Raises ConversionError with one bound alone.
        """
        op = _BOUND[type(expr).__name__]
        body = self.node(expr.function)
        for limits in expr.limits:
            if len(limits) == 2:
                raise ConversionError("PRISM", type(expr).__name__, f"with one bound: {expr}")
            body = Expr(op, (body, *map(self.node, limits)))
        return body

    def applied(self, expr: Any) -> Expr:
        """Return an undefined function: a symbol that depends on its arguments if these are symbols, else a call."""
        name = str(expr.func.__name__)
        args = tuple(map(self.node, expr.args))
        if all(arg.op == "sym" for arg in args) and not (len(name) > 1 and name.isalpha()):
            spelled = self.symbol(self.sympy.Symbol(name))
            self.depends.update((spelled.name, arg.name) for arg in args)
            return spelled
        return Expr("apply", args, name)

    def symbol(self, found: Any) -> Expr:
        r"""Return a symbol, or the unit that `\unit{km}` names.

        Raises ConversionError where another symbol would come back.
        """
        if type(found).__name__ != "Symbol":
            raise ConversionError("PRISM", type(found).__name__, str(found))
        spelled = symbol_of(found.name, latex_of(found.name, self.sympy))
        if self.names.setdefault(spelled, found) != found:
            if self.names[spelled].name != found.name:
                raise ConversionError("PRISM", "two symbols of one name", f"{self.names[spelled]} and {found}")
            raise ConversionError("PRISM", "one name with different assumptions", str(found))
        return spelled


_JOINTS = {"Or": "alternatives", "Implies": "implication"}


def _rational(value: Fraction) -> Expr:
    """Return an exact number as it is written: a fraction as a quotient, with its sign in front."""
    size = abs(value)
    whole = size.denominator == 1
    node = number(size) if whole else Expr("div", (number(size.numerator), number(size.denominator)))
    return node if value >= 0 else Expr("neg", (node,))


def _decimal(value: Any) -> Expr:
    """Return a Float as the shortest decimal of its precision, with a point, so that it stays a decimal.

    Raises ConversionError for infinity and nan.
    """
    exact = Decimal(str(value)) if value.is_finite else None
    if exact is None or not exact.is_finite():
        raise ConversionError("PRISM", "Float", str(value))
    _, shown, power = exact.as_tuple()
    assert isinstance(power, int)
    written = "".join(map(str, shown)).lstrip("0")
    digits = written.rstrip("0") or "0"
    power += len(written) - len(digits) if written else 0
    first = power + len(digits) - 1  # the power of ten of the first digit
    if -_MAX_PLAIN < first < _MAX_PLAIN:
        whole, decimals = (digits.ljust(first + 1, "0"), "") if power >= 0 else (
            (digits[:power] or "0"), digits[power:].rjust(-power, "0"))  # fmt: skip
        text = f"{whole}.{decimals or '0'}"
    else:
        text = f"{digits[0]}.{digits[1:] or '0'}e{first}"
    node = number(Fraction(text), written=text)
    return Expr("neg", (node,)) if exact.is_signed() else node


def _product(factors: list[Expr]) -> Expr:
    """Return the product of factors; the number 1 if there are none."""
    if not factors:
        return _ONE
    return factors[0] if len(factors) == 1 else Expr("mul", tuple(factors))
