r"""Formulas as objects of sympy and of symengine.

What has no counterpart is refused by name (`ConversionError`), and so is what has one that means something else: a sum
over an index within names (`m_i`), an integral over what its integrand does not show, a derivative by what the body
does not show. sympy would take all these for constants.

A symbol is a plain `Symbol` of PRISM's name, without assumptions, `i` and vectors too, for only a problem says what
they are; a unit is one named `\unit{km}`, an operator of quantum mechanics one that does not commute. A symbol that the
formula writes as a function (`v(t)`), or differentiates (`dx/dt`), is that function wherever it stands. An odd root is
the real one, as PRISM reads it. A decimal is a `Float` of at least 15 digits, all else is exact; how many digits were
written (`2.00`) is not carried.

Refused: positive symbols, which PRISM's are unless the problem says otherwise (`subs("m", 2)` would not find them, and
`sqrt(x**2)` would become x also where the problem declares x as real), and sympy's own reader of LaTeX.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib import import_module
from types import MappingProxyType
from typing import Any

from prism import budget
from prism.algebra.expr import Expr, Formula, plain_parts, symbols, walk
from prism.algebra.noncommutative import operator_names, shows_operators
from prism.algebra.symbols import replace_index
from prism.bridges.symbol_names import latex_of, symbol_of
from prism.errors import ConversionError, PrismError, needs_extra

FUNCTIONS = MappingProxyType({
    "abs": "Abs", "exp": "exp", "ln": "log", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
    "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh",
    "atanh": "atanh", "floor": "floor", "ceiling": "ceiling", "factorial": "factorial", "binomial": "binomial",
})  # fmt: skip
"""Operators that sympy has as functions, and their names there."""
CALLS = MappingProxyType({"max": "Max", "min": "Min", "Re": "re", "Im": "im", "arg": "arg", "sgn": "sign"})
"""Functions by name (`apply` nodes), and their names in sympy."""
RELATIONS = MappingProxyType({"=": "Eq", "!=": "Ne", "<": "Lt", "<=": "Le", ">": "Gt", ">=": "Ge"})
JOINTS = MappingProxyType({"system": "and", "alternatives": "Or", "implication": "Implies"})
_NODE = 100  # operations for each node that is converted
_MAX_FOLDED = 1_000  # exponent or factorial of a number that a library works out exactly; 9^(9^9) fills any memory
_MIN_DIGITS = 15  # of a Float: the precision of a double


def load(library: str, call: str) -> Any:
    """Import a library of the extra `sympy`; raise a PrismError that names the extra if it is not installed.

    Args:
        library: its name. call: what needs it, for the message.
    """
    try:
        return import_module(library)
    except ImportError as missing:
        raise PrismError(needs_extra(f"{call} needs {library} of", "sympy")) from missing


def to_sympy(written: Formula, *, evaluate: bool) -> Any:
    """Return a formula as a sympy object; see `Formula.to_sympy`."""
    return _formula(written, _Target("sympy", load("sympy", "Formula.to_sympy"), evaluate=evaluate))


def to_symengine(written: Formula) -> Any:
    """Return a formula as a symengine object; see `Formula.to_symengine`."""
    return _formula(written, _Target("symengine", load("symengine", "Formula.to_symengine"), evaluate=True))


class _Target:
    """One library, as what its objects are made by; and what of the formula all its nodes have to know.

    Attributes:
        library: its name. module: the same, imported.
        evaluate: it may put in order, cancel and fold what it builds.
        depends: symbols that are functions, each with its variables.
        operators: names of symbols that do not commute.
    """

    def __init__(self, library: str, module: Any, *, evaluate: bool) -> None:
        """Start with a formula without functions and operators."""
        self.library = library
        self.module = module
        self.evaluate = evaluate
        self.depends: dict[str, tuple[str, ...]] = {}
        self.operators: frozenset[str] = frozenset()

    def make(self, name: str, *args: Any) -> Any:
        """Call the library's constructor `name`.

        Raises ConversionError if it has none, or finds the value undefined.
        """
        found = getattr(self.module, name, None)
        if found is None:
            raise ConversionError(self.library, name, "no such function there")
        made = found(*args) if self.evaluate else found(*args, evaluate=False)
        if made in (self.module.nan, self.module.zoo):
            raise ConversionError(
                self.library, "value that it finds undefined", f"{name} of {', '.join(map(str, args))}"
            )
        return made

    def refuse(self, construct: str, why: str = "") -> ConversionError:
        """Return the error that names a construct and says why the library cannot carry it."""
        return ConversionError(self.library, construct, why)


def _formula(written: Formula, target: _Target) -> Any:
    """Return a formula, or the conjunction of its parts, in the target's library."""
    parts = tuple(plain_parts(written))
    budget.charge(sum(member.size for part in parts for member in part.members) * _NODE)
    target.depends = _dependencies(written)
    target.operators = frozenset(name for part in parts if shows_operators(part) for name in operator_names(part, part))
    return _statement(written, target)


def _statement(written: Formula, target: _Target) -> Any:
    """Return a formula or one of its parts; systems and chains as a `Tuple` of relations, in order.

    Raises ConversionError for kinds that the library lacks.
    """
    if written.parts:
        name = JOINTS.get(written.kind)
        if name is None or target.library != "sympy":
            raise target.refuse(written.kind)
        parts = [_statement(part, target) for part in written.parts]
        if any(not isinstance(part, target.module.logic.boolalg.Boolean) for part in parts):
            raise target.refuse(written.kind, "one of its parts is no single relation")
        if name == "and":
            return target.module.Tuple(*parts)
        return getattr(target.module, name)(*parts, evaluate=False)
    for relation in written.relations:
        if relation not in RELATIONS:
            raise target.refuse(f"relation {relation}")
    members = [_node(member, target) for member in written.members]
    if not written.relations:
        return members[0]
    links = [
        _relation(RELATIONS[relation], left, right, target)
        for relation, left, right in zip(written.relations, members, members[1:], strict=False)
    ]
    if len(links) == 1:
        return links[0]
    if target.library != "sympy":
        raise target.refuse("chain")
    return target.module.Tuple(*links)


def _relation(name: str, left: Any, right: Any, target: _Target) -> Any:
    """Return a relation, never what the library decides of it: `Eq(x, x)` is no `True` here.

    Raises ConversionError where the library decides.
    """
    if target.library == "sympy":
        return getattr(target.module, name)(left, right, evaluate=False)
    found = target.make(name, left, right)
    if not found.args:
        raise target.refuse("relation that it decides", f"{left} and {right}")
    return found


def _dependencies(written: Formula) -> dict[str, tuple[str, ...]]:
    """Map each symbol that is written as a function, or differentiated by itself, to its variables, in order."""
    found: dict[str, set[str]] = {}
    for part in plain_parts(written):
        names = symbols(*part.members)
        for name, variable in part.depends:
            if name in names:
                found.setdefault(name, set()).add(variable)
        for member in part.members:
            for node in walk(member):
                if node.op in ("derivative", "partial") and node.args[0].op == "sym":
                    found.setdefault(node.args[0].name, set()).update(arg.name for arg in node.args[1:])
    return {name: tuple(sorted(variables - {name})) for name, variables in found.items()}


# Nodes ------------------------------------------------------------------------------------------------------------


def _node(node: Expr, target: _Target) -> Any:
    """Return an expression in the target's library; raise ConversionError naming the construct it cannot carry."""
    if node.op in FUNCTIONS:
        args = [_node(arg, target) for arg in node.args]
        if (
            target.evaluate
            and node.op in ("factorial", "binomial")
            and any(_is_number(arg) and abs(arg) > _MAX_FOLDED for arg in args)
        ):
            raise target.refuse(f"{node.op} of a number, which it would work out", f"above {_MAX_FOLDED}")
        return target.make(FUNCTIONS[node.op], *args)
    writer = _WRITERS.get(node.op)
    if writer is None:
        raise target.refuse(f"{node.op} {node.name}".strip() if node.op in ("opaque", "nabla") else node.op)
    return writer(node, target)


def _number(node: Expr, target: _Target) -> Any:
    """Return a literal: exact, unless it is written as a decimal; raises ConversionError for one without value."""
    if node.value is None:
        raise target.refuse("number without value", node.name)
    if "." in node.name or "e" in node.name:
        digits = sum(sign.isdigit() for sign in node.name.partition("e")[0])
        if target.library == "sympy":
            return target.module.Float(node.name, max(_MIN_DIGITS, digits))
        return target.module.RealDouble(_double(node, target))
    return _exact(node.value, target)


def _double(node: Expr, target: _Target) -> float:
    """Return the double next to a decimal; raise ConversionError where the range of doubles ends."""
    assert node.value is not None
    try:
        found = float(node.value)
    except OverflowError:
        found = 0.0
    if node.value and not found:
        raise target.refuse("decimal beyond the range of doubles", node.name)
    return found


def _exact(value: Fraction, target: _Target) -> Any:
    """Return an exact number."""
    return target.module.Integer(value.numerator) if value.denominator == 1 else target.module.Rational(
        value.numerator, value.denominator)  # fmt: skip


def _literal(node: Expr) -> Fraction | None:
    """Return the value of a whole number or a fraction, with its sign; None for a decimal and anything else."""
    if node.op == "neg":
        inner = _literal(node.args[0])
        return None if inner is None else -inner
    if node.op == "div":
        above, below = map(_literal, node.args)
        return above / below if above is not None and below else None
    return node.value if node.op == "num" and not {".", "e"} & set(node.name) else None


def _symbol(node: Expr, target: _Target) -> Any:
    """Return a symbol, or the function of its variables that it stands for."""
    variables = target.depends.get(node.name, ())
    if variables:
        return target.module.Function(node.name)(*(_plain_symbol(name, target) for name in variables))
    return _plain_symbol(node.name, target)


def _plain_symbol(name: str, target: _Target) -> Any:
    """Return the symbol of a name; raises ConversionError if it would not come back, or does not commute."""
    if name in target.operators:
        if target.library != "sympy":
            raise target.refuse("operator", f"{name} does not commute")
        return target.module.Symbol(name, commutative=False)
    if target.library == "sympy" and len(name) > 1 and name.isalpha():
        found = symbol_of(name, latex_of(name, target.module))
        if found.name != name:
            raise target.refuse(f"symbol {name}", f"which comes back as {found.name}")
    return target.module.Symbol(name)


def _unit(node: Expr, target: _Target) -> Any:
    r"""Return a unit as a symbol named `\unit{km}`."""
    return target.module.Symbol(rf"\unit{{{node.name}}}")


def _constant(node: Expr, target: _Target) -> Any:
    """Return pi, e or infinity; raises ConversionError for others."""
    if node.op == "infinity":
        return target.module.oo
    if node.name not in ("pi", "e"):
        raise target.refuse(f"constant {node.name}")
    return target.module.E if node.name == "e" else target.module.pi


def _sum_of_terms(node: Expr, target: _Target) -> Any:
    """Return a sum or difference."""
    terms = [_node(arg, target) for arg in node.args]
    if node.op == "sub":
        terms[1] = _minus(node.args[1], terms[1], target)
    return target.make("Add", *terms)


def _negative(node: Expr, target: _Target) -> Any:
    """Return the negative of an operand."""
    return _minus(node.args[0], _node(node.args[0], target), target)


def _minus(operand: Expr, converted: Any, target: _Target) -> Any:
    """Return minus an operand: a literal changes its sign, anything else gets the factor -1."""
    literal = operand.op == "num" or _literal(operand) is not None
    return -converted if literal else target.make("Mul", target.module.Integer(-1), converted)


def _product(node: Expr, target: _Target) -> Any:
    """Return a product."""
    return target.make("Mul", *(_node(arg, target) for arg in node.args))


def _quotient(node: Expr, target: _Target) -> Any:
    """Return a quotient; one of two literals is one number; raises ConversionError for a divisor of 0."""
    exact = _literal(node)
    if exact is not None:
        return _exact(exact, target)
    above, below = node.args
    if _literal(below) == 0:
        raise target.refuse("division by zero")
    inverse = target.make("Pow", _node(below, target), target.module.Integer(-1))
    return inverse if above.value == 1 else target.make("Mul", _node(above, target), inverse)


def _power(node: Expr, target: _Target) -> Any:
    """Return a power; an exponent of literals is one number.

    Raises ConversionError for powers of 0, and for exponents above _MAX_FOLDED.
    """
    exact = _literal(node.args[1])
    if _literal(node.args[0]) == 0 and (exact is None or exact <= 0):
        raise target.refuse("power of zero")
    exponent = _node(node.args[1], target) if exact is None else _exact(exact, target)
    base = _node(node.args[0], target)
    if target.evaluate and _is_number(base) and _is_number(exponent) and abs(exponent) > _MAX_FOLDED:
        raise target.refuse("power of numbers, which it would work out", f"exponent above {_MAX_FOLDED}")
    return target.make("Pow", base, exponent)


def _is_number(converted: Any) -> bool:
    """Return True for an exact number of either library."""
    return bool(getattr(converted, "is_Rational", False))


def _root(node: Expr, target: _Target) -> Any:
    """Return a root: an odd one as sign(a) |a|^(1/n), since a^(1/n) is complex for negative a in both libraries.

    Raises ConversionError for a degree that is no whole number.
    """
    degree = Fraction(2) if node.op == "sqrt" else _literal(node.args[1])
    if degree is None or degree.denominator != 1 or degree < 1:
        raise target.refuse("root whose degree is no whole number")
    base, exponent = _node(node.args[0], target), _exact(1 / degree, target)
    if degree % 2 == 0:
        return target.make("Pow", base, exponent)
    if degree == 1:
        return base
    size = target.make("Pow", target.make("Abs", base), exponent)
    return target.make("Mul", target.make("sign", base), size)


def _log10(node: Expr, target: _Target) -> Any:
    """Return a logarithm to the base 10."""
    return target.make("log", _node(node.args[0], target), target.module.Integer(10))


def _call(node: Expr, target: _Target) -> Any:
    """Return a function applied to its arguments: the library's own, or an undefined one of the same name.

    Raises ConversionError for one of symbols only.
    """
    args = [_node(arg, target) for arg in node.args]
    if node.name in CALLS:
        return target.make(CALLS[node.name], *args)
    if not (len(node.name) > 1 and node.name.isalpha()) and all(arg.op == "sym" for arg in node.args):
        raise target.refuse("apply", f"{node.name} of symbols only, which comes back as a symbol that depends on them")
    return target.module.Function(node.name)(*args)


def _derivative(node: Expr, target: _Target) -> Any:
    """Return a derivative by symbols that its body shows; raises ConversionError for any other."""
    body, *by = node.args
    if not node.name.isdigit() or any(arg.op != "sym" or arg.name[0] in "?^" for arg in by):
        raise target.refuse(f"{node.op} whose order or variable is open")
    if len(by) > 1 and len(by) != int(node.name):
        raise target.refuse(f"{node.op} that is mixed, of another order than it has variables")
    several = len(target.depends.get(body.name, ())) > 1 if body.op == "sym" else len(set(by)) > 1
    if several != (node.op == "partial"):  # there is one derivative in sympy, and its function says which it is
        raise target.refuse(f"{node.op} of what shows {'several variables' if several else 'one variable'}", str(node))
    converted = _node(body, target)
    variables = [_plain_symbol(arg.name, target) for arg in by]
    if any(variable not in converted.free_symbols or arg.name in target.depends
           for arg, variable in zip(by, variables, strict=True)):  # fmt: skip
        raise target.refuse(f"{node.op} by what its body does not show", str(node))
    steps = variables if len(by) > 1 else variables * int(node.name)
    return target.module.Derivative(converted, *steps)


def _bound(node: Expr, target: _Target) -> Any:
    """Return an integral, or a sum or product over an index, if the term shows its variable.

    Raises ConversionError for any other.
    """
    term, variable, *limits = node.args
    name = variable.name
    if node.name or variable.op != "sym" or name in target.depends or len(limits) not in (0, 2):
        raise target.refuse(f"{node.op} with a variable or bounds that are no plain symbol and pair", str(node))
    if node.op != "integral" and (not limits or not name.isalpha()):
        raise target.refuse(f"{node.op} without bounds")
    names = symbols(term)
    if any(replace_index(each, name, "0") != each for each in names):
        raise target.refuse(f"{node.op} over the index of a name", ", ".join(sorted(names)))
    if names and name not in names:
        raise target.refuse(f"{node.op} over what it does not show", str(node))
    if any(name in symbols(limit) for limit in limits):
        raise target.refuse(f"{node.op} up to its own variable", str(node))
    kind = getattr(target.module, {"integral": "Integral", "sum": "Sum", "product": "Product"}[node.op], None)
    if kind is None:
        raise target.refuse(node.op)
    variable_there = _plain_symbol(name, target)
    bounds = tuple(_node(limit, target) for limit in limits)
    return kind(_node(term, target), (variable_there, *bounds) if bounds else variable_there)


_WRITERS: dict[str, Callable[[Expr, _Target], Any]] = {
    "num": _number, "sym": _symbol, "unit": _unit, "const": _constant, "infinity": _constant, "add": _sum_of_terms,
    "sub": _sum_of_terms, "neg": _negative, "mul": _product, "div": _quotient, "pow": _power, "root": _root,
    "sqrt": _root, "log10": _log10, "apply": _call, "derivative": _derivative, "partial": _derivative,
    "integral": _bound, "sum": _bound, "product": _bound,
}  # fmt: skip


def carried() -> Iterator[str]:
    """Yield the operators that sympy has, keys of `OPS`; some of their uses are refused all the same."""
    yield from (*FUNCTIONS, *_WRITERS)
