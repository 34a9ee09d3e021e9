"""Numbers, symbols, powers and opaque atoms; `lower_node` sends every node to its construct."""

from __future__ import annotations

import math
from fractions import Fraction

from prism.algebra.expr import Expr, canonical, number, symbol, symbols, walk
from prism.algebra.macaulay import is_step
from prism.algebra.operators import OPS
from prism.algebra.symbols import symbol_of
from prism.algebra.terms import digits_of, last_place_of
from prism.engine.lowering.arithmetic import (
    MAX_COMPLEX_POWER,
    Mismatch,
    NoValue,
    Pair,
    Scope,
    Table,
    Value,
    apply_binary,
    apply_to_pair,
    apply_unary,
    combine_pairs,
    complex_power,
    conjugate,
    norm,
    power_of_table,
    real_pair,
    repeated_product,
)
from prism.engine.lowering.notation import PLAIN, component_names, conjugation_base
from prism.engine.tape import MAX_FOLD_BITS, MAX_IMMEDIATE

_CERTAIN_FIGURES = 2  # decimals of at most two figures are exact (semantics N.1)

_MAX_UNCERTAINTY = 0.005  # upper limit, however few figures are written

ONE = number(1)

_COUNTING = frozenset(
    ("a", "b", "i", "j", "k", "l", "m", "n", "p", "q", "r", "s", "N", "M", "K", "L", "J", r"\ell", r"\nu")
)


def lower_node(node: Expr, scope: Scope) -> Value:
    """Write the instructions of an expression onto the tape; return its value: real, complex or table of numbers.

    A construct that has no instructions becomes an opaque atom. Raises Mismatch where shapes do not fit.
    """
    builder, op = scope.builder, node.op
    builder.count_step()
    special = scope.constructs.get(op)
    if special is not None:
        try:
            return _lowered_once(node, scope) if op == "integral" else special(node, scope)
        except NoValue:
            return _opaque_atom(node, scope)
    if OPS[op].opcode is None:
        return _opaque_atom(node, scope)
    if op == "sub" and scope.under_integral and node.args[0].op == "exp" and node.args[1] == ONE:
        half = Expr("div", (node.args[0].args[0], number(2)))  # e^u - 1 without cancellation
        return lower_node(Expr("mul", (number(2), Expr("exp", (half,)), Expr("sinh", (half,)))), scope)
    args = [lower_node(arg, scope) for arg in node.args]
    try:
        if len(args) == 1:
            return apply_unary(op, args[0], scope)
        value = args[0]
        for arg in args[1:]:
            if value.__class__ is tuple and arg.__class__ is tuple and value[1] is arg[1] is None:  # two real numbers
                value = builder.combine(op, value[0], arg[0]), None
            else:
                value = apply_binary(op, value, arg, scope)
        return value
    except NoValue:  # an arctangent of a complex number
        return _opaque_atom(node, scope)


def _lowered_once(node: Expr, scope: Scope) -> Value:
    """Lower an integral, or return what it was lowered to before under the same bindings.

    One in another would otherwise be written once for each of its points. Raises NoValue, again too, where there is
    no value.
    """
    builder = scope.builder
    names = symbols(node) & scope.bound.keys()
    if len(node.args) == 4 and node.args[1].name not in symbols(*node.args[2:]):
        names -= {node.args[1].name}  # its own variable
    bindings = tuple((name, scope.bound[name]) for name in sorted(names))
    key = node, bindings, scope.under_integral, scope.written_in & symbols(node)
    value: Value | NoValue
    if key in builder.lowered:
        value, first, last = builder.lowered[key]
        if bindings:  # a quadrature around it asks which instructions depend on its variable
            builder.request_again(first, last)
    else:
        first = len(builder.requested)
        try:
            value = scope.constructs[node.op](node, scope)
        except NoValue as error:
            value = error
        builder.lowered[key] = value, first, len(builder.requested)
    if isinstance(value, NoValue):
        raise NoValue(*value.args)
    return value


def lower_number(node: Expr, scope: Scope) -> Pair:
    """Lower an expression that has to be a real or complex number; raise Mismatch for a vector or matrix."""
    value = lower_node(node, scope)
    if isinstance(value, Table):
        raise Mismatch(f"{node.op} where a number is expected")
    return value


def lower_real(node: Expr, scope: Scope) -> int:
    """Lower an expression that has to be real; return its instruction. NoValue if complex, Mismatch for a table."""
    re, im = lower_number(node, scope)
    if im is not None:
        raise NoValue(f"{node.op} of a complex number")
    return re


def lower_literal(node: Expr, scope: Scope) -> Pair:
    """Lower a written number, with the relative uncertainty of a decimal such as `9.81`."""
    assert node.value is not None
    return scope.builder.number(node.value, decimal_uncertainty(node)), None


def decimal_uncertainty(node: Expr) -> float:
    """Return the relative uncertainty of a written decimal (`9.81`: half its last place); 0 for integers and `0.5`."""
    if node.name.isdigit() or ("." not in node.name and "e" not in node.name):
        return 0.0
    if not node.value or (len(digits_of(node)) <= _CERTAIN_FIGURES and "e" not in node.name):
        return 0.0
    return min(float(last_place_of(node) / 2 / abs(node.value)), _MAX_UNCERTAINTY)


def lower_constant(node: Expr, scope: Scope) -> Pair:
    """Lower the constant `e` or pi to a float."""
    value = math.e if node.name == "e" else math.pi
    return scope.builder.constant(value, value * 2.0**-53), None


def lower_symbol(node: Expr, scope: Scope) -> Value:
    """Lower a symbol: bound variable, vector, matrix, length, imaginary unit, complex number or plain variable."""
    builder, notation, name = scope.builder, scope.notation, node.name
    if name in scope.bound:
        return scope.bound[name]
    if notation is PLAIN:
        return builder.variable(name), None
    if name in notation.vectors:
        return _lower_vector(name, scope)
    for matrix, (rows, columns) in notation.matrices:
        if name == matrix:
            places = [f"{name}_{{{r + 1}{c + 1}}}" for r in range(rows) for c in range(columns)]
            return Table(rows, columns, tuple(_component_variable(scope, name, place) for place in places))
    for length, vector in notation.lengths:
        if name == length:
            return norm(lower_symbol(symbol(vector), scope), scope)
    if notation.is_complex and name == notation.unit:
        return builder.number(0), builder.number(1)
    if notation.is_complex and (base := conjugation_base(name)) != name and base in notation.complexes:
        return conjugate(lower_symbol(symbol(base), scope), scope)
    if name in notation.complexes:
        return _component_variable(scope, name, name)
    return builder.variable(name), None


def _lower_vector(name: str, scope: Scope) -> Value:
    r"""Lower a vector symbol to a column of components.

    A basis vector becomes numbers (`\hat x`: 1, 0, 0), a direction `\hat a` becomes `\vec a/|\vec a|`, any other vector
    one variable a component. Raises Mismatch for an axis beyond the dimension.
    """
    builder, notation = scope.builder, scope.notation
    for axis, place in notation.basis:
        if name == axis:
            if place >= notation.dimension:
                raise Mismatch("an axis beyond the components that are written out")
            return Table(notation.dimension, 1, tuple(
                real_pair(builder.number(int(k == place))) for k in range(notation.dimension)
            ))  # fmt: skip
    for direction, vector in notation.directions:
        if name == direction:
            whole = _lower_vector(vector, scope)
            return apply_binary("div", whole, norm(whole, scope), scope)
    return Table(notation.dimension, 1, tuple(
        _component_variable(scope, name, place) for place in component_names(name, notation)
    ))  # fmt: skip


def _component_variable(scope: Scope, name: str, component: str) -> Pair:
    """Write the real (or complex: two) variable `component` (`A_x`) of the symbol `name` (`A`), of either sign."""
    builder = scope.builder
    if name not in scope.notation.complexes:
        builder.kinds[component] = "real"
        return builder.variable(component), None
    return _complex_variable(scope, component)


def _complex_part_names(name: str) -> tuple[str, str]:
    r"""Return the names of the variables for real and imaginary part of a symbol: `\Re z`, `\Im z`."""
    return rf"\Re {name}", rf"\Im {name}"


def _complex_variable(scope: Scope, name: str) -> Pair:
    """Write a complex symbol as two variables of either sign, real and imaginary part; return their instructions."""
    real, imaginary = _complex_part_names(name)
    scope.builder.kinds.update({real: "real", imaginary: "real"})
    return scope.builder.variable(real), scope.builder.variable(imaginary)


def lower_unit(node: Expr, scope: Scope) -> Pair:
    r"""Lower a physical unit whose value is not known to the variable `\unit{name}`."""
    return scope.builder.variable(rf"\unit{{{node.name}}}"), None


def _opaque_atom(node: Expr, scope: Scope) -> Value:
    """Lower a construct that is not evaluated to one variable named by its canonical form; a vector to one a component.

    `v(0)` and `x(T)` are values with a name of their own (semantics Z.10), so they raise no doubt and are not listed
    among the atoms; everything else is, and atoms that differ leave a pair undecided. Raises NoValue if a bound
    variable of an integral occurs, Mismatch for most constructs with a vector inside.
    """
    names = symbols(node)
    if not names.isdisjoint(scope.bound):
        raise NoValue(node.op)  # it is not the same for every value of the bound variable
    name = canonical(node)
    word = len(node.name) > 1 and node.name.isalpha()  # gcd(a, b) is no value at a point
    plain = node.op == "apply" and not word and all(not arg.args for arg in node.args)
    if node.op in ("differential", "derivative") and names & scope.notation.vectors:
        dimension = scope.notation.dimension
        places = [f"{name}_{k + 1}" for k in range(dimension)]
        scope.builder.atoms.update(dict.fromkeys(places, node.op))
        return Table(dimension, 1, tuple(_component_variable(scope, name, place) for place in places))
    if names & scope.notation.vectors and node.op not in ("apply", "nabla"):
        raise Mismatch(node.op)
    value = _complex_variable(scope, name) if scope.notation.is_complex else (scope.builder.variable(name), None)
    if not plain:
        scope.builder.atoms.update(
            dict.fromkeys(_complex_part_names(name) if scope.notation.is_complex else (name,), node.op)
        )
    return value


def lower_derivative(node: Expr, scope: Scope) -> Value:
    """Lower `dy/dx` to the quotient of the atoms `dy` and `dx`; NoValue for a higher order (semantics Z.10)."""
    if node.name != "1":
        raise NoValue("derivative")
    above, below = (Expr("differential", (arg,)) for arg in node.args)
    return apply_binary("div", lower_node(above, scope), lower_node(below, scope), scope)


def lower_power(node: Expr, scope: Scope) -> Value:
    """Lower `x^n` or an n-th root: with an integer instruction if possible, else as a real or complex power.

    Raises NoValue for `(-1)^{ft}` and for steps in angle brackets, Mismatch for a table to an unsuitable power.
    """
    builder = scope.builder
    if is_step(node):
        raise NoValue("bracket")
    if node.args[0].op == "tuple" and node.args[1] == symbol("T"):
        return lower_node(Expr("opaque", node.args[:1], name="T"), scope)
    base, exponent = lower_node(node.args[0], scope), lower_number(node.args[1], scope)
    value = builder.exact.get(exponent[0]) if exponent[1] is None else None
    if isinstance(base, Table):
        return power_of_table(base, value, scope)
    if node.op == "root":
        if value is not None and value.denominator == 1 and 1 <= value <= MAX_IMMEDIATE and base[1] is None:
            return (
                builder.combine("sqrt", base[0])
                if value == 2
                else builder.write_instruction("root", base[0], int(value))
            ), None
        exponent = combine_pairs("div", real_pair(builder.number(1)), exponent, scope)
        value = builder.exact.get(exponent[0]) if exponent[1] is None else None
    if base[1] is not None or exponent[1] is not None:
        if value is not None and value.denominator == 1 and -MAX_COMPLEX_POWER <= value <= MAX_COMPLEX_POWER:
            return repeated_product(base, int(value), scope)
        return complex_power(base, exponent, scope)
    if value == Fraction(1, 2):
        return apply_to_pair("sqrt", base, scope)
    if value is not None and value.denominator == 1 and -MAX_IMMEDIATE <= value <= MAX_IMMEDIATE:
        exact = builder.exact.get(base[0])
        if exact is not None and (exact or value > 0):
            power = Fraction(exact) ** int(value)
            if max(power.numerator.bit_length(), power.denominator.bit_length()) <= MAX_FOLD_BITS:
                return builder.number(power), None
        if value == 1:
            return base
        return builder.write_instruction("ipow", base[0], int(value)), None
    known = builder.exact.get(base[0])
    if known is not None and known < 0:
        if scope.notation.is_complex:
            return complex_power((base[0], builder.number(0)), exponent, scope)
        letters = {symbol_of(inner.name).head for inner in walk(node.args[1]) if inner.op == "sym"}
        if not letters <= _COUNTING:
            raise NoValue("pow")  # `(-1)^{ft}`
        mark_integer_symbols(node.args[1], scope)  # (-1)^n is real for whole n only (semantics Z.4)
    return builder.combine("pow", base[0], exponent[0]), None


def mark_integer_symbols(node: Expr, scope: Scope) -> None:
    """Declare the free symbols of an expression integers, so that integers are drawn for them (semantics Z.4)."""
    names = {inner.name for inner in walk(node) if inner.op == "sym" and inner.name not in scope.bound}
    scope.builder.kinds.update(dict.fromkeys(sorted(names), "integer"))


def lower_absolute(node: Expr, scope: Scope) -> Value:
    r"""Lower `|x|` or the length `|\vec a|`; NoValue for an opaque vector or an amplitude `\langle a|b \rangle`."""
    value = lower_node(node.args[0], scope)
    if not isinstance(value, Table) and any(symbol_of(inner.name).is_vector for inner in walk(node)):
        raise NoValue("abs")
    if any(inner.op == "bracket" and inner.name != "mean" for inner in walk(node)):
        raise NoValue("abs")  # an amplitude is complex
    return apply_unary("abs", value, scope)
