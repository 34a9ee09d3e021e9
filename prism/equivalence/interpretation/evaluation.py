"""The value of an expression under an interpretation."""

from __future__ import annotations

import math
from collections.abc import Callable, Set
from dataclasses import replace
from fractions import Fraction
from functools import cache

from flint import acb, arb

from prism.algebra.expr import Expr, canonical, walk
from prism.algebra.macaulay import is_step
from prism.algebra.symbols import replace_index, symbol_of
from prism.algebra.terms import number_of
from prism.budget import STEP, charge
from prism.equivalence.interpretation import functions as named
from prism.equivalence.interpretation.conditions.cases import cases_value
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.held import held_value, jacobian_value
from prism.equivalence.interpretation.letters import Letters, Scope, conjugate
from prism.equivalence.interpretation.names import (
    CHOICES,
    STEPS,
    factors_by_index,
    harmonic_indices,
    index_range,
    is_coordinate,
    is_greek,
    is_jacobian,
    letters_of,
    order_of,
    paired_letters,
    placed_variable,
)
from prism.equivalence.interpretation.quantum.operators import component, numbered_state
from prism.equivalence.interpretation.quantum.operators import value as operator_value
from prism.equivalence.interpretation.quantum.quanta import (
    FUNCTION_DEGREE,
    is_number_of_state,
    is_vector_of_operators,
)
from prism.equivalence.interpretation.series.monomials import NTH, is_derivative
from prism.equivalence.interpretation.signature import variable_key
from prism.equivalence.interpretation.value_functions import CALLS
from prism.equivalence.interpretation.values import (
    UNNAMED,
    DividesByZero,
    Dual,
    Scalar,
    Table,
    Unvalued,
    Value,
    add,
    ball,
    column,
    cross,
    dot,
    exponential,
    identity,
    inverse,
    multiply,
    plain,
    real_number,
    scalar,
    slope_of,
    transpose,
    whole_number,
)
from prism.latex.parsing.marks import condition_in

_MOST_POWER = 256  # of a matrix
_METRICS = frozenset(("g", r"\eta", r"\delta"))
_MOST_KEPT = 2048  # values below indices that hold for some bound variables alone
_INDICES = 8  # beside it, for each pair of indices around a node
_STEPS = 4 * STEP  # charged for each node that is worked out, with a sum or product of balls, beside its arguments
_LETTER = 3 * STEP // 2
_ARGUMENT = STEP // 2


class Evaluator(Letters):
    """Evaluates expressions under one interpretation."""

    def value(self, node: Expr, scope: Scope) -> Value:
        """Return the value of an expression; Unvalued if a part has none.

        It is kept in the draw with the names that were looked up for it, and holds wherever none of these is bound,
        solved for or shifted: in the search for a root only what depends on the letter is worked out again.
        """
        if scope.slopes:
            return self._worked_out(node, scope)
        if node.op == "sym" and node.name in scope.values and not self._has_indices(node):
            charge(STEP)
            self.met.add(node.name)
            return scope.values[node.name]
        draw, place = self.draw, scope.place and scope.place_of(node)
        kept = draw.values.get((node, place))
        if kept is not None:
            value, names = kept
            if not names:
                return value
            if _is_untouched(names, draw, scope):
                self.met |= names
                return value
        if scope.bound and (again := self.kept.get((node, place, scope.bound))) is not None:
            self.met |= again[1]
            return again[0]
        around, self.met = self.met, set()
        try:
            value = self._worked_out(node, scope)
            if kept is None and _is_untouched(self.met, draw, scope):
                draw.values[node, place] = value, self.met
            elif scope.bound and UNNAMED not in self.met:
                if len(self.kept) >= _MOST_KEPT:
                    self.kept.clear()
                self.kept[node, place, scope.bound] = value, self.met
        finally:
            around |= self.met
            self.met = around
        return value

    def _worked_out(self, node: Expr, scope: Scope) -> Value:
        """Return the value of an expression that is not known, see `value`; raises Unvalued for what has no rule."""
        price = _LETTER if node.op == "sym" else _STEPS + _ARGUMENT * len(node.args)
        charge(price + _INDICES * len(scope.place) ** 2)
        if self.signature.tensors:
            paired = [each for each in paired_letters(node) if each in self.signature.tensors - scope.indices.keys()]
            if paired:
                grouped = self._by_index(node, tuple(paired))
                return self._contracted(node, paired[0], scope) if grouped == node else self.value(grouped, scope)
        handler = _HANDLERS.get(node.op)
        if handler is None:
            raise Unvalued(node.op)
        return handler(self, node, scope)

    def _has_indices(self, node: Expr) -> bool:
        """Return True for a letter that is an index of tensors, or has two that are the same."""
        tensors = self.signature.tensors
        return bool(tensors) and (node.name in tensors or bool(paired_letters(node)))

    def component(self, letter: str, axis: int, scope: Scope) -> Value:
        """Return a component of a vector of operators."""
        space = self.signature.space
        assert space is not None
        return operator_value(
            space, self.draw.number, component(axis, letter), {},
            lambda name: plain(scalar(self.symbol(Expr("sym", name=name), scope))) if name else acb(1),
        )  # fmt: skip

    def _by_index(self, node: Expr, letters: tuple[str, ...]) -> Expr:
        """Return a product whose factors commute with those of each index together; any other node as it is."""
        signature = self.signature
        if node.op != "mul" or signature.matrices or signature.operators or signature.space is not None:
            return node
        return node if any(map(_open_operator, node.args)) else factors_by_index(node, letters)

    def _contracted(self, node: Expr, letter: str, scope: Scope) -> Value:
        """Return the sum of a term over the values of an index that it has twice."""
        total: Value = acb(0)
        for k in index_range(letter):
            inner = scope.with_index(letter, k)
            if not self._has_vanishing_metric(node, inner):
                part = self.value(node, inner)
                total = part if isinstance(total, acb) and total.is_zero() else add(total, part)
        return total

    def _has_vanishing_metric(self, node: Expr, scope: Scope) -> bool:
        """Return True for a product with a metric or Kronecker symbol that is 0, whatever the other factors are."""
        if node.op != "mul" or not _METRICS.isdisjoint(self.signature.varying_heads):
            return False
        named_so = [arg for arg in node.args if arg.op == "sym" and symbol_of(arg.name).head in _METRICS]
        fixed = [arg for arg in named_so if len(letters := letters_of(arg.name)) == 2 and scope.indices.keys() >= {
            *letters}]  # fmt: skip
        return any(isinstance(found := self.symbol(arg, scope), acb) and found.is_zero() for arg in fixed)


def _is_untouched(names: Set[str], draw: Draw, scope: Scope) -> bool:
    """Return True if none of some names is bound, solved for or shifted, and all that a value depends on is named."""
    return (
        names.isdisjoint(scope.values) and names.isdisjoint(draw.fixed) and names.isdisjoint(draw.shifts)
        and UNNAMED not in names
    )  # fmt: skip


# What each operator means. ------------------------------------------------------------------------------------------


def _sum_of(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a sum or a difference."""
    total = evaluator.value(node.args[0], scope)
    for arg in node.args[1:]:
        total = add(total, evaluator.value(arg, scope), -1 if node.op == "sub" else 1)
    return total


def _negative(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return the negative."""
    return multiply(acb(-1), evaluator.value(node.args[0], scope))


def _product_of(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a product in its order; an open derivative acts on what stands behind it, Unvalued if nothing does."""
    total: Value | None = None
    for k, arg in enumerate(node.args):
        if (opened := _open_operator(arg)) is not None:
            rest = node.args[k + 1 :]
            if not rest:
                raise Unvalued("an operator without operand")
            operand = rest[0] if len(rest) == 1 else Expr("mul", rest)
            acted = opened(evaluator, operand, scope)
            return acted if total is None else multiply(total, acted)
        value = evaluator.value(arg, scope)
        total = value if total is None else multiply(total, value)
    assert total is not None
    return total


def _open_operator(node: Expr) -> Callable[[Evaluator, Expr, Scope], Value] | None:
    r"""Return how `\vec v\cdot\nabla` acts on what follows; None for anything else."""
    if node.op == "dot" and node.args[1].op == "opaque" and node.args[1].name == "nabla":
        return lambda evaluator, operand, scope: _directional(evaluator, node.args[0], operand, scope)
    return None


def _directional(evaluator: Evaluator, direction: Expr, operand: Expr, scope: Scope) -> Value:
    """Return the derivative of an operand along a vector; raises Unvalued for what is no vector."""
    vector = evaluator.value(direction, scope)
    if not isinstance(vector, Table) or len(vector.entries) != 3:
        raise Unvalued("a derivative along what is no vector")
    total: Value | None = None
    for part, slope in zip(
        vector.entries, evaluator.gradient(lambda inner: evaluator.value(operand, inner), scope), strict=True
    ):
        term = multiply(part, slope)
        total = term if total is None else add(total, term)
    assert total is not None
    return total


def _quotient(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a quotient by a number; raises DividesByZero, or Unvalued where the divisor is 0 within the error."""
    below = evaluator.number(node.args[1], scope)
    above = evaluator.value(node.args[0], scope)
    if plain(below).contains(0):
        raise DividesByZero("a division by zero") if plain(below).is_zero() else Unvalued("a division by zero")
    return above.each(lambda entry: entry / below) if isinstance(above, Table) else above / below


def _power_of(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a power of a number, a vector (its square) or a square matrix; Unvalued for others and if undefined."""
    if is_vector_of_operators(node.args[0], evaluator.signature.space):
        return _power_of_vector(evaluator, node, scope)
    if is_step(node):
        raise Unvalued("bracket")
    base = evaluator.value(node.args[0], scope)
    if not isinstance(base, Table):
        exponent = evaluator.number(node.args[1], scope)
        found = named.power(base, acb(1) / exponent if node.op == "root" else exponent)
        if not plain(found).is_finite():
            raise Unvalued("undefined")
        return found
    exponent_value = number_of(node.args[1])
    if exponent_value is None:
        exponent_value = Fraction(whole_number(evaluator.number(node.args[1], scope)))
    if exponent_value.denominator != 1 or not -1 <= exponent_value <= _MOST_POWER:
        raise Unvalued("a power of a table")
    if base.is_vector and exponent_value == 2:
        return dot(base, base)
    if exponent_value == -1:
        _refuse_cut(evaluator)
        return inverse(base)
    return evaluator.draw.power_of(base, int(exponent_value))


def _power_of_vector(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return an even power of a vector of operators; raises Unvalued for any other exponent."""
    exponent = number_of(node.args[1])
    if exponent is None or exponent.denominator != 1 or exponent % 2 or not 2 <= exponent <= 4:
        raise Unvalued("a power of a vector of operators")
    square = _dot_of_operators(evaluator, node.args[0], node.args[0], scope)
    return square if exponent == 2 else multiply(square, square)


def _dot_of_operators(evaluator: Evaluator, a: Expr, b: Expr, scope: Scope) -> Value:
    """Return the scalar product of two vectors, one at least of operators; Unvalued for what is no vector."""
    sides: list[list[Value]] = []
    for node in (a, b):
        if (parts := _components_of_operators(evaluator, node, scope)) is not None:
            sides.append(parts)
            continue
        found = evaluator.value(node, scope)
        if not isinstance(found, Table) or len(found.entries) != 3:
            raise Unvalued("a scalar product of what is no vector")
        sides.append(list(found.entries))
    total = multiply(sides[0][0], sides[1][0])
    for one, two in zip(sides[0][1:], sides[1][1:], strict=True):
        total = add(total, multiply(one, two))
    return total


def _components_of_operators(evaluator: Evaluator, node: Expr, scope: Scope) -> list[Value] | None:
    """Return the components of a vector of operators, alone or times a number; None for another expression."""
    factors = node.args if node.op == "mul" else (node,)
    for k, factor in enumerate(factors):
        if is_vector_of_operators(factor, evaluator.signature.space):
            parts = [evaluator.component(factor.name, axis, scope) for axis in range(3)]
        elif factor.op == "div" and (above := _components_of_operators(evaluator, factor.args[0], scope)) is not None:
            below = acb(1) / evaluator.number(factor.args[1], scope)
            parts = [multiply(below, part) for part in above]
        else:
            continue
        for arg in (*factors[:k], *factors[k + 1 :]):
            number = evaluator.number(arg, scope)
            parts = [multiply(number, part) for part in parts]
        return parts
    return None


def _scalar_product(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a scalar product, of vectors of operators too."""
    space = evaluator.signature.space
    if space is not None and any(is_vector_of_operators(part, space) for arg in node.args for part in walk(arg)):
        return _dot_of_operators(evaluator, node.args[0], node.args[1], scope)
    return dot(evaluator.value(node.args[0], scope), evaluator.value(node.args[1], scope))


def _refuse_cut(evaluator: Evaluator) -> None:
    """Raise Unvalued where operators are tables cut off at a state: for inverses, traces and exponentials."""
    space = evaluator.signature.space
    if space is not None and space.kind == "ladder":
        raise Unvalued("an operator between number states")


def _elementary(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return an elementary function; of a square matrix by a series or as an unknown one; Unvalued of other tables."""
    x = evaluator.value(node.args[0], scope)
    if isinstance(x, Table):
        if node.op == "abs" and x.is_vector:
            return named.call("sqrt", dot(x, x))
        if node.op == "abs" or x.rows != x.columns:
            raise Unvalued("a function of a table")
        _refuse_cut(evaluator)
        return exponential(x) if node.op == "exp" else _function_of_operator(evaluator, node.op, x)
    return named.call(node.op, x)


def _derivative(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a derivative, total ones with all that depends on the variable; Unvalued above order 6, or held unsaid."""
    if is_jacobian(node):
        return jacobian_value(evaluator, node, scope)
    key = canonical(node)
    evaluator.met.add(key)
    if key in scope.values:
        return scope.values[key]
    if evaluator.signature.states_space is not None:
        raise Unvalued("a derivative that does not say what is held")
    operand, *variables = node.args
    is_ratio = len(variables) == 1 and variables[0].op not in ("sym", "derivative", "partial")
    if node.op == "derivative" and node.name == "1" and (is_ratio or (
        evaluator.signature.differentials and operand.op == "sym")):  # fmt: skip
        above, below = (_differential_of(evaluator, each, scope) for each in (operand, variables[0]))
        ratio = multiply(above, acb(1) / scalar(below))
        if scope.slopes and not isinstance(ratio, Table):  # d of a rate is a differential of its own
            return Dual(plain(ratio), evaluator.draw.number_of("d" + canonical(node), "real"), scope.slopes)
        return ratio
    if node.name.isdigit():
        order = int(node.name)
        steps = variables * order if len(variables) == 1 else variables
        if len(steps) != order or order > 6:
            raise Unvalued("a derivative of this order")
    else:
        raise Unvalued("a derivative")
    return _differentiated(evaluator, operand, steps, scope, is_partial=node.op == "partial")


def _differentiated(evaluator: Evaluator, operand: Expr, steps: list[Expr], scope: Scope, *, is_partial: bool) -> Value:
    """Return an operand differentiated by several variables in turn."""
    if not steps:
        return evaluator.value(operand, scope)
    variable, rest = steps[0], steps[1:]
    name, sign = _resolved_variable(evaluator, variable, scope)
    evaluator.met.add(name)
    start = evaluator._variable(name, scope) if not is_coordinate(name) else (
        scalar(scope.values[name]) if name in scope.values else evaluator.draw.number_of(name, "real")
    )  # fmt: skip
    if is_partial:
        scope = _with_others_held(evaluator, name, scope)
    tag = evaluator.new_tag()
    inner = scope.with_value(name, Dual(start, acb(1), tag))
    found = _differentiated(evaluator, operand, rest, inner, is_partial=is_partial)
    if isinstance(found, Table):
        return found.each(lambda entry: acb(sign) * slope_of(entry, tag))
    return acb(sign) * slope_of(found, tag)


def _resolved_variable(evaluator: Evaluator, variable: Expr, scope: Scope) -> tuple[str, int]:
    r"""Return the name of a variable of differentiation and the sign of a raised index: `x_2` for j = 2."""
    name = variable_key(variable)
    letter, raised = placed_variable(name)
    if letter in scope.indices and letter in evaluator.signature.tensors:
        k = scope.indices[letter]
        return f"x_{k}", -1 if raised and k else 1
    letter = next(iter(letters_of(name)), "")
    is_index = is_greek(letter) and letter in scope.indices and letter in evaluator.signature.tensors
    if is_index and name in (f"x^{{{letter}}}", f"x_{letter}"):
        k = scope.indices[letter]
        return f"x_{k}", -1 if symbol_of(name).sub and k else 1
    for index, number in scope.indices.items():
        name = replace_index(name, index, str(number))
    return name, 1


def _with_others_held(evaluator: Evaluator, name: str, scope: Scope) -> Scope:
    """Return the scope of a partial derivative: the other variables keep their values, unless it carries them along."""
    values = dict(scope.values)
    every = {each for variables in evaluator.signature.functions.values() for each in variables}
    for other in sorted(every - {name, "#place"}):
        if other not in values and (other, name) not in evaluator.signature.carried:
            try:
                values[other] = evaluator._variable(other, scope)
            except Unvalued:
                continue
    return replace(scope, values=values)


def _differential(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return the value of a differential."""
    return _differential_of(evaluator, node.args[0], scope)


def _differential_of(evaluator: Evaluator, operand: Expr, scope: Scope) -> Value:
    """Return the differential of an expression: the sum of its slopes times the differentials of its letters."""
    tag = evaluator.new_tag()
    found = evaluator.value(operand, replace(scope, slopes=tag))
    return found.each(lambda e: slope_of(e, tag)) if isinstance(found, Table) else slope_of(found, tag)


def _held(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a value at a point, or a derivative at constant others; Unvalued for other constructs of this kind."""
    if node.name == "held" and len(node.args) == 2:
        return held_value(evaluator, node, scope)
    if node.name == "point" and len(node.args) == 3 and node.args[1].op == "sym":
        return evaluator.value(node.args[0], scope.with_value(node.args[1].name, evaluator.number(node.args[2], scope)))
    if is_derivative(node):
        return _nth_derivative(evaluator, node, scope)
    raise Unvalued("at")


def _nabla(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a gradient, divergence, curl or Laplacian; Unvalued for others, and for div or curl of a number."""
    operand = node.args[0]

    def field(inner: Scope) -> Value:
        """Return the operand at a place."""
        return evaluator.value(operand, inner)

    if node.name == "laplace":
        total: Value | None = None
        for k in range(3):
            second = evaluator.slope_along(k, lambda inner, k=k: evaluator.slope_along(k, field, inner), scope)  # type: ignore[misc]
            total = second if total is None else add(total, second)
        assert total is not None
        return total
    slopes = evaluator.gradient(field, scope)
    if node.name in ("grad", ""):
        return column(*(scalar(slope) for slope in slopes))
    if not all(isinstance(slope, Table) and len(slope.entries) == 3 for slope in slopes):
        raise Unvalued("a divergence or curl of a number")
    entries = [slope.entries for slope in slopes if isinstance(slope, Table)]
    if node.name == "div":
        return entries[0][0] + entries[1][1] + entries[2][2]
    if node.name == "curl":
        return column(entries[1][2] - entries[2][1], entries[2][0] - entries[0][2], entries[0][1] - entries[1][0])
    raise Unvalued("nabla")


def _matrix(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a matrix that is written out."""
    rows = [row.args if row.op == "row" else (row,) for row in node.args]
    entries = tuple(evaluator.number(entry, scope) for row in rows for entry in row)
    return Table(len(rows), len(rows[0]), entries)


def _opaque(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a conjugate, transposed or adjoint; raises Unvalued for other opaque constructs."""
    if len(node.args) != 1:
        raise Unvalued("opaque")
    value = evaluator.value(node.args[0], scope)
    if node.name in ("*", r"\bar", "^{*}"):
        return conjugate(value)
    if node.name in ("T", "^T", "^{T}", r"\top") and isinstance(value, Table):
        return transpose(value)
    if node.name == r"\dagger":
        return conjugate(transpose(value) if isinstance(value, Table) else value)
    raise Unvalued("opaque")


def _commutator(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return A B - B A, of an anticommutator A B + B A; a Poisson bracket has no value."""
    if node.name == "poisson":
        raise Unvalued("poisson")
    a, b = (evaluator.value(arg, scope) for arg in node.args)
    return add(multiply(a, b), multiply(b, a), 1 if node.name == "anti" else -1)


def _bracket(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a ket (a column), a bra (a row), a matrix element, or a mean in one state; Unvalued for other brackets."""
    size = evaluator.draw.rows()

    def state(label: Expr) -> Table:
        """Return the state of a label."""
        return _state(evaluator, label, scope)

    def dual(label: Expr) -> Table:
        """Return the conjugated row."""
        found = conjugate(transpose(state(label)))
        assert isinstance(found, Table)
        return found

    if node.name == "ket" and len(node.args) == 1:
        return state(node.args[0])
    if node.name == "bra" and len(node.args) == 1:
        return dual(node.args[0])
    if node.name == "braket":
        middle: Value = identity(size)
        for arg in node.args[1:-1]:
            middle = multiply(middle, evaluator.value(arg, scope))
        return multiply(dual(node.args[0]), multiply(middle, state(node.args[-1])))
    if node.name == "mean" and len(node.args) == 1 and evaluator.signature.operators:
        anyone = Expr("sym", name="#")
        total = multiply(dual(anyone), multiply(evaluator.value(node.args[0], scope), state(anyone)))
        return multiply(total, acb(1) / scalar(multiply(dual(anyone), state(anyone))))
    raise Unvalued("bracket")


def _state(evaluator: Evaluator, label: Expr, scope: Scope) -> Table:
    """Return a number state, one of an orthonormal set, or any state, by its label; Unvalued without a named axis."""
    space, number = evaluator.signature.space, evaluator.draw.number
    size = evaluator.draw.rows()
    if space is not None and space.kind == "ladder" and is_number_of_state(label):
        return space.state(whole_number(evaluator.number(label, scope)), number)
    name = canonical(label)
    if label.op == "sym" and name in scope.indices and 1 <= scope.indices[name] <= size:
        return numbered_state(str(scope.indices[name] - 1), size) or Table(0, 0, ())
    if label.op in ("num", "sym") and (found := numbered_state(label.name, size)) is not None:
        if label.name in ("+", "-") and space is not None:
            raise Unvalued("a state of an axis that is not named")
        return found
    for index, value in scope.indices.items():
        name = replace_index(name, index, str(value))
    drawn = evaluator.draw.table("|" + name, size, 1, "complex")
    return drawn if space is None else space.within(drawn, number)


def _call(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a function that is called: known by its name, of an order, or unknown; Unvalued for `O(x)` and its kin."""
    name = node.name
    read = symbol_of(name)
    if read.head in (r"\delta", "O", r"\mathcal{O}", r"\mathcal{L}", r"\mathcal{F}") and not read.sub:
        raise Unvalued("a call of " + name)
    args = [evaluator.value(arg, scope) for arg in node.args]
    if name in evaluator.signature.functions or name not in CALLS:
        indices = harmonic_indices(name)
        if indices is not None and len(args) == 1 and isinstance(args[0], Table) and len(args[0].entries) == 3:
            args = [*_angles(args[0])]
        if indices is not None and len(args) == 2:
            first, second = (_index_value(evaluator, index, scope) for index in indices)
            return named.spherical_harmonic(first, second, scalar(args[0]), scalar(args[1]))
        if len(args) == 1 and (order := order_of(name)) is not None:
            return named.special_value(order[0], _index_value(evaluator, order[1], scope), scalar(args[0]))
        if name in ("K", "E") and len(args) == 1 and _is_parameter(node.args[0]):
            args = [named.call("sqrt", scalar(args[0]))]
        if len(args) == 1 and name in named.RULES:
            return named.call(name, scalar(args[0]))
        if read.primes and len(args) == 1:
            if isinstance(args[0], Table) and evaluator.signature.space is not None:
                return _function_of_operator(evaluator, name, args[0])
            return _primed_call(evaluator, read.unprimed, read.primes, scalar(args[0]))
        if len(args) == 1 and isinstance(args[0], Table) and evaluator.signature.space is not None:
            return _function_of_operator(evaluator, name, args[0])
        point = tuple(entry for arg in args for entry in (arg.entries if isinstance(arg, Table) else (arg,)))
        return evaluator.draw.value_of(name, point, is_complex=name in evaluator.signature.notation.complexes)
    if name in ("det", "tr", "Tr"):
        _refuse_cut(evaluator)
    value = CALLS[name](args)
    if name in CHOICES:
        is_second = real_number(scalar(value)) > 0 if name in STEPS else value is not scalar(args[0])
        evaluator.draw.met.add((node, int(is_second)))
    return value


def _is_parameter(argument: Expr) -> bool:
    """Return True for the parameter of an elliptic integral, the square of its modulus: `m`, or what is a square."""
    if argument.op == "div":
        return all(_is_parameter(arg) or arg.value == 1 for arg in argument.args)
    return argument == Expr("sym", name="m") or (argument.op == "pow" and argument.args[1].value == 2)


def _angles(direction: Table) -> tuple[Scalar, Scalar]:
    """Return the spherical angles of a vector."""
    x, y, z = (plain(entry) for entry in direction.entries)
    across = (x * x + y * y).sqrt()
    return _phase_of(z, across), _phase_of(x, y)


def _phase_of(x: acb, y: acb) -> Scalar:
    """Return the angle of a point in a plane."""
    return acb(arb.atan2(y.real, x.real))


def _function_of_operator(evaluator: Evaluator, name: str, x: Table) -> Value:
    """Return an unknown function of an operator, a polynomial of fourth order; Unvalued for more than two primes."""
    base, primes = symbol_of(name).unprimed, symbol_of(name).primes
    if primes > 2 or x.rows != x.columns:
        raise Unvalued("a function of an operator")
    total: Value = identity(x.rows).each(lambda _: acb(0))
    power: Value = identity(x.rows)
    for k in range(primes, FUNCTION_DEGREE + 1):
        factor = evaluator.draw.number_of(f"{base}#{k}", "real") * acb(math.perm(k, primes))
        total = add(total, multiply(factor, power))
        power = multiply(power, x)
    return total


def _nth_derivative(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a derivative of an unknown function at a point, of an order that may be an index."""
    place, order = node.args
    name = node.name.removeprefix(NTH)
    unknown = evaluator.draw.function(name, 1, is_complex=name in evaluator.signature.notation.complexes)
    return unknown.derivative(evaluator.number(place, scope), whole_number(evaluator.number(order, scope)))


def _primed_call(evaluator: Evaluator, name: str, order: int, x: Scalar) -> Scalar:
    """Return the derivative of an unknown function at a point."""
    if not order:
        return evaluator.draw.value_of(name, (x,), is_complex=name in evaluator.signature.notation.complexes)
    tag = evaluator.new_tag()
    return slope_of(_primed_call(evaluator, name, order - 1, x + Dual(acb(0), acb(1), tag)), tag)


def _index_value(evaluator: Evaluator, index: str, scope: Scope) -> Scalar:
    """Return the order of a special function: a number, or a letter plus a whole number; Unvalued for others."""
    said = condition_in(Expr("sym", name=index))
    if said is None:
        raise Unvalued("an order")
    return scalar(evaluator.value(said.members[0], scope))


def _factorial(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a factorial."""
    return named.call(r"\Gamma", evaluator.number(node.args[0], scope) + acb(1))


def _binomial(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a binomial coefficient of whole numbers."""
    n, k = (whole_number(evaluator.number(arg, scope)) for arg in node.args)
    if not 0 <= k <= n:
        return acb(0)
    total = acb(1)
    for j in range(k):
        total = total * acb(n - j) / acb(j + 1)
    return total


def _literal(_: Evaluator, node: Expr, __: Scope) -> Value:
    """Return a number; raises Unvalued where it has no value."""
    if node.value is None:
        raise Unvalued("a number without value")
    return ball(node.value)


def _constant(_: Evaluator, node: Expr, __: Scope) -> Value:
    """Return pi or e."""
    return acb.pi() if node.name == "pi" else acb(1).exp()


def _units(evaluator: Evaluator, node: Expr, _: Scope) -> Value:
    """Return a positive number for a unit."""
    return evaluator.draw.number_of("unit " + node.name, "positive")


@cache
def _loaded(name: str) -> Callable[[Evaluator, Expr, Scope], Value]:
    """Return a function of the modules above this one, which are loaded when it is first asked for."""
    from prism.equivalence.interpretation.integrals import infinite

    found: Callable[[Evaluator, Expr, Scope], Value] = getattr(infinite, name)
    return found


def _late(name: str) -> Callable[[Evaluator, Expr, Scope], Value]:
    """Return a handler that loads such a function when it is called."""

    def handle(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
        """Return the value of a sum, product, integral or limit."""
        return _loaded(name)(evaluator, node, scope)

    return handle


_HANDLERS: dict[str, Callable[[Evaluator, Expr, Scope], Value]] = {
    "num": _literal, "const": _constant, "unit": _units, "sym": Evaluator.symbol, "add": _sum_of, "sub": _sum_of,
    "neg": _negative, "mul": _product_of, "div": _quotient, "pow": _power_of, "root": _power_of,
    **dict.fromkeys(("sqrt", "abs", "exp", "ln", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
                     "tanh", "asinh", "acosh", "atanh"), _elementary),
    "derivative": _derivative, "partial": _derivative, "differential": _differential, "at": _held, "nabla": _nabla,
    "dot": _scalar_product,
    "cross": lambda e, node, s: cross(e.value(node.args[0], s), e.value(node.args[1], s)),
    "matrix": _matrix, "opaque": _opaque, "commutator": _commutator, "bracket": _bracket, "apply": _call,
    "factorial": _factorial, "binomial": _binomial, "cases": cases_value, "sum": _late("sum_value"),
    "product": _late("sum_value"), "integral": _late("integral_value"), "limit": _late("limit_value"),
}  # fmt: skip
"""How each operator is evaluated."""
