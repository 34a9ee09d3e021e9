r"""Delta functions, and derivatives of what has steps and kinks, under a random test function.

`x\,\delta'(x)` and `-\delta(x)` are one, since both have the same integral with any test function. The integral of a
derivative is minus that with the derivative of the test function, whatever has a step; so `d\theta/dt` is `\delta(t)`.
A wave that is integrated over all x, `\int e^{ikx}\,dx`, is `2\pi\,\delta(k)`, a delta function of the slope of its
phase.
"""

from __future__ import annotations

from collections.abc import Iterator

from prism.algebra.expr import (
    Expr,
    Formula,
    canonical,
    number,
    rewritten,
    substitute,
    symbol,
    symbols,
    walk,
)
from prism.algebra.terms import number_of
from prism.budget import charge_steps
from prism.equivalence.interpretation.draws import TEST
from prism.equivalence.interpretation.integrals.exponential_terms import IMAGINARY, parts_of
from prism.equivalence.interpretation.integrals.gaussian import degree_in
from prism.equivalence.interpretation.integrals.kinks import DELTAS, has_delta
from prism.equivalence.interpretation.names import STEPS
from prism.equivalence.interpretation.values import Unvalued

_RUNNING = "xtEk"  # letters of variables that are integrated over first
_DERIVATIVES = ("derivative", "partial")
_INFINITY = Expr("infinity")
_LINE = Expr("neg", (_INFINITY,)), _INFINITY


def is_distribution(node: Expr) -> bool:
    """Return True for an expression with a delta function, or a derivative of what has a step or, twice, a kink."""
    return has_delta(node) or any(map(_is_rough, _outside_integrals(node)))


def _is_rough(node: Expr) -> bool:
    """Return True for a delta function, and for a derivative of what has a step, or one of second order of a kink."""
    if node.op == "apply":
        return node.name in DELTAS
    if node.op not in _DERIVATIVES or not node.args[1:]:
        return False
    steep = node.name != "1" or any(part.op in _DERIVATIVES for part in walk(node.args[0]))
    return any(
        (part.op == "apply" and (part.name in STEPS or part.name in DELTAS) and len(part.args) == 1)
        or (part.op == "abs" and steep and node.args[1] in walk(part))
        for part in _outside_integrals(node.args[0])
    )


def _outside_integrals(node: Expr) -> Iterator[Expr]:
    """Yield the parts of an expression that stand below no integral."""
    yield node
    for arg in node.args if node.op != "integral" else ():
        yield from _outside_integrals(arg)


def variable_of(a: Expr, b: Expr) -> Expr:
    """Return the variable of two distributions: by which one is differentiated, else what all delta functions have.

    Of several letters x comes before t before the others; Unvalued if there is none.
    """
    nodes = [node for each in (a, b) for node in _outside_integrals(each) if _is_rough(node)]
    variables = {name for node in nodes if node.op in _DERIVATIVES for name in symbols(*node.args[1:])}
    inside = [frozenset(symbols(node.args[0])) for node in nodes if node.op == "apply"]
    common = frozenset.intersection(*inside) if inside else frozenset(variables)
    common = common & variables or common
    if not common or not variables <= common:
        raise Unvalued("delta functions of several variables")
    return symbol(min(common, key=lambda name: (name not in _RUNNING, _RUNNING.find(name), name)))


def under_test(node: Expr, variable: Expr) -> Expr:
    """Return the integral of a distribution times a test function."""
    terms = tuple(
        Expr("integral", (body, variable, *_LINE)) for body in _paired(node, Expr("apply", (variable,), TEST), variable)
    )
    return terms[0] if len(terms) == 1 else Expr("add", terms)


def _paired(node: Expr, test: Expr, variable: Expr) -> Iterator[Expr]:
    """Yield integrands whose sum has the integral of a distribution times a test function.

    Errors:
        Unvalued: a product of distributions, or a derivative by another variable.
    """
    charge_steps(1)
    if node.op in ("add", "sub", "neg"):
        for k, arg in enumerate(node.args):
            is_taken = node.op == "neg" or (node.op == "sub" and k > 0)
            yield from _paired(arg, Expr("neg", (test,)) if is_taken else test, variable)
        return
    rough = [k for k, arg in enumerate(node.args) if is_distribution(arg)]
    if node.op in _DERIVATIVES and _is_rough(node):
        if node.args[1:] != (variable,) or node.name not in ("1", "2"):
            raise Unvalued("a distribution that is differentiated by another variable")
        moved = Expr(node.op, (test, variable), node.name)
        yield from _paired(node.args[0], moved if node.name == "2" else Expr("neg", (moved,)), variable)
    elif node.op == "mul" and len(rough) == 1:
        others = (*node.args[: rough[0]], *node.args[rough[0] + 1 :])
        yield from _paired(node.args[rough[0]], Expr("mul", (*others, test)), variable)
    elif node.op == "div" and rough == [0]:
        yield from _paired(node.args[0], Expr("div", (test, node.args[1])), variable)
    elif rough and node.op != "apply":
        raise Unvalued("a distribution in this expression")
    else:
        yield Expr("mul", (node, test))


# Waves over all x. ----------------------------------------------------------------------------------------------------


def with_waves_as_deltas(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Return two formulas, of which one has a delta function, with delta functions in place of waves over all x."""
    if not any(part.op == "apply" and part.name in DELTAS for f in (a, b) for m in f.members for part in walk(m)):
        return a, b
    return rewritten(a, _with_deltas), rewritten(b, _with_deltas)


def _with_deltas(node: Expr) -> Expr:
    """Return delta functions in place of waves that are integrated over all x; any other node as it is."""
    if node.op != "integral" or len(node.args) != 4 or node.args[1].op != "sym" or node.args[3] != _INFINITY:
        return node
    body, variable, low, _ = node.args
    is_half = low.value == 0 and _is_even_wave(body, variable.name)
    if low != _LINE[0] and not is_half:
        return node
    terms = [_delta_of(part, variable) for part in parts_of(body, variable.name)]
    found = tuple(term for term in terms if term is not None)
    if len(found) < len(terms):
        return node
    total = found[0] if len(found) == 1 else Expr("add", found)
    return Expr("div", (total, number(2))) if is_half else total


def _is_even_wave(body: Expr, name: str) -> bool:
    r"""Return True for a cosine of a multiple of a variable, times what does not depend on it."""
    factors = [each for each in (body.args if body.op == "mul" else (body,)) if name in symbols(each)]
    if len(factors) != 1 or factors[0].op != "cos" or degree_in(factors[0].args[0], name) != 1:
        return False
    return canonical(substitute(factors[0].args[0], {symbol(name): number(0)})) == "0"


def _delta_of(part: Expr, variable: Expr) -> Expr | None:
    r"""Return `2\pi c\,\delta(s)` for a wave `c e^{isx}`, and `2\pi(-i)^n\,\delta^{(n)}(s)` times x^n; else None."""
    above, below = part.args if part.op == "div" else (part, number(1))
    if variable.name in symbols(below):
        return None
    order, phases, rest = 0, [], []
    for factor in _flat(above):
        power = number_of(factor.args[1]) if factor.op == "pow" and factor.args[0] == variable else None
        if variable.name not in symbols(factor):
            rest.append(factor)
        elif factor.op == "exp" and degree_in(factor.args[0], variable.name) == 1:
            phases.append(factor.args[0])
        elif factor == variable or power in (1, 2):
            order += int(power or 1)
        else:
            return None
    if not phases or order >= len(DELTAS):
        return None
    phase = phases[0] if len(phases) == 1 else Expr("add", tuple(phases))
    start, end = (substitute(phase, {variable: number(k)}) for k in (0, 1))
    slope = Expr("div", (Expr("sub", (end, start)), IMAGINARY))
    turns = (Expr("neg", (IMAGINARY,)),) * order
    delta = Expr("apply", (slope,), DELTAS[order])
    whole = Expr("mul", (number(2), Expr("const", name="pi"), *turns, *rest, Expr("exp", (start,)), delta))
    return Expr("div", (whole, below))


def _flat(node: Expr) -> Iterator[Expr]:
    """Yield the factors of a product, those of its factors too."""
    for arg in node.args if node.op == "mul" else (node,):
        if arg.op == "mul":
            yield from _flat(arg)
        elif arg.op == "neg":
            yield number(-1)
            yield from _flat(arg.args[0])
        elif arg.op == "div":
            yield from _flat(arg.args[0])
            yield Expr("div", (number(1), arg.args[1]))
        else:
            yield arg
