r"""Letters before brackets, and letters with primes, as the other formula and the integrals around them show them.

`g(t - s)` is read as a product where nothing in its own formula calls g a function; it is a call if the other formula
shows a function g, and g stands before brackets only. `t''` is no second derivative where it is integrated over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from prism.algebra.expr import Expr, Formula, number, rewritten, symbol, symbols, walk, with_args, with_members
from prism.algebra.symbols import symbol_of
from prism.engine.lowering import conjugation_base
from prism.equivalence.interpretation.integrals.kinks import DELTAS
from prism.equivalence.interpretation.names import NAMED, joined, may_be_called, order_of, with_called
from prism.equivalence.interpretation.values import Unvalued
from prism.latex.parsing.marks import written_marks

_UNKNOWN = symbol("?")
_QUARTER = Expr("div", (Expr("const", name="pi"), number(2)))
_IN_BRACKETS = frozenset(("add", "sub", "neg", "mul", "div", "pow", "abs", "sqrt", "asin", "acos", "atan"))


def with_primed_variables(f: Formula) -> Formula:
    r"""Return a formula in which `t''` is a name wherever it is integrated over."""
    bound = {node.args[1] for member in f.members for node in walk(member) if node.op == "integral" and node.args[1:]}
    primed = {each for each in bound if each.op == "derivative" and each.args[1] == _UNKNOWN and each.name.isdigit()}
    if not primed:
        return f
    return rewritten(f, lambda node: symbol(node.args[0].name + "'" * int(node.name)) if node in primed else node)


def with_calls(f: Formula, other: Formula) -> Formula:
    """Return a formula in which a letter is called that stands before brackets only, if the other one calls it.

    So is x of the difference quotient `x(t + h) - x(t)` in a limit, if the other one differentiates it, and K of a
    complete elliptic integral, if the other one writes such an integral out.
    """
    shown = {name for name, variable in other.depends if variable != ","} | called_letters(other)
    if any(node.op == "limit" for member in f.members for node in walk(member)):
        shown |= {
            node.args[0].name for member in other.members for node in walk(member)
            if node.op in ("derivative", "partial") and node.args[0].op == "sym"
        }  # fmt: skip
    if any(map(_is_over_quarter, (node for member in other.members for node in walk(member)))):
        shown |= {"K", "E"}
    shown |= may_be_called(f) | may_be_called(other)
    own = {name for name, _ in f.depends} | called_letters(f)
    bound = {
        node.args[1] for member in f.members for node in walk(member)
        if node.op == "integral" and len(node.args) > 1 and node.args[1].op == "sym"
    } | {
        symbol(name) for member in other.members for node in walk(member)
        if node.op == "apply" and node.name in DELTAS for name in symbols(*node.args)
    }  # fmt: skip
    written = Counter(node.name for member in f.members for node in walk(member) if node.op == "sym")
    written -= Counter(  # the g of a mean `\\langle g\\rangle`
        part.name for member in f.members for node in walk(member) if node.op == "bracket" for part in walk(node)
    )
    before: Counter[str] = Counter()
    for member in f.members:
        for node in walk(member):
            for left, right in zip(node.args, node.args[1:], strict=False) if node.op == "mul" else ():
                if left.op == "sym" and (_is_argument(right, bound) or left.name in written_marks(f.latex).called):
                    before[left.name] += 1
    names = {name for name, count in before.items() if name in shown - own and count == written[name]}
    if not names:
        return f
    return rewritten(f, lambda node: with_called(node, names))


def _is_over_quarter(node: Expr) -> bool:
    r"""Return True for an integral from 0 to pi/2 with a square root, as a complete elliptic integral has it."""
    is_quarter = node.op == "integral" and len(node.args) == 4 and node.args[2].value == 0
    return is_quarter and node.args[3] == _QUARTER and any(part.op == "sqrt" for part in walk(node.args[0]))


def called_letters(f: Formula) -> frozenset[str]:
    """Return the letters of unknown functions that a formula calls."""
    return frozenset(
        node.name for member in f.members for node in walk(member)
        if node.op == "apply" and node.name not in NAMED and order_of(node.name) is None
    )  # fmt: skip


def _is_argument(node: Expr, bound: set[Expr]) -> bool:
    """Return True for what may be the argument of a call: something in brackets, or a variable.

    Args:
        bound: variables of integration, and what stands in a delta function of the other formula.
    """
    is_power_of_letter = node.op == "pow" and node.args[0].op == "sym"  # `a r^2` has no brackets
    return (node.op in _IN_BRACKETS and not is_power_of_letter) or node in bound


def refuse_inverse_functions(f: Formula) -> None:
    """Raise Unvalued for a formula with `f^{-1}(x)`, which is the inverse function of f as often as its reciprocal."""
    if (called := called_letters(f)) and not called.isdisjoint(written_marks(f.latex).inverted):
        raise Unvalued("an inverse function or a reciprocal")


def with_one_argument(formulas: Iterable[Formula]) -> tuple[Formula, ...]:
    """Return formulas in which a letter that is written with unlike single variables is called with each.

    `f(s)` below an integral over s and `f(t)` beside it are two values of one function, and not a function of s and t.
    """
    found = tuple(formulas)
    written = {pair for f in found for pair in f.depends}
    several = {name for name, variable in written if variable == ","}
    found = tuple(_with_called_derivatives(f, found) for f in found)
    called: dict[str, set[str]] = {}
    for f in found:
        for member in f.members:
            for node in walk(member):
                if node.op == "apply" and len(node.args) == 1 and node.args[0].op == "sym":
                    called.setdefault(node.name, set()).add(node.args[0].name)
                elif node.op == "apply":
                    called.setdefault(node.name, set()).add("#")
    names: set[str] = set()
    of_base: dict[str, set[str]] = {}
    for name, variable in (*written, *((name, each) for name, own in called.items() for each in own)):
        of_base.setdefault(symbol_of(name).unprimed, set()).add(symbol_of(variable).unstyled)
    for name in {name for name, _ in written} - several:
        if not symbol_of(name).primes and len(of_base[name]) > 1:
            names.add(name)
    return tuple(_spelled_out(f, names) for f in found) if names else found


def _with_called_derivatives(f: Formula, formulas: Iterable[Formula]) -> Formula:
    r"""Return a formula beside a derivative of a delta function in which `g''` before a factor is called, if g is."""
    nodes = (node for each in formulas for member in each.members for node in walk(member))
    if not any(node.op == "apply" and node.name in DELTAS[1:] for node in nodes):
        return f  # there it may be a product
    shown = {name for each in formulas for name, _ in each.depends}.union(*map(called_letters, formulas))

    def called(left: Expr, right: Expr) -> Expr | None:
        """Return a derivative of an unknown argument called with the factor behind it; None for other factors."""
        is_its = left.op == "derivative" and left.args[1] == _UNKNOWN and left.args[0].name in shown
        return Expr("apply", (right,), left.args[0].name + "'" * int(left.name)) if is_its else None

    return rewritten(f, lambda node: joined(node, called))


def _spelled_out(f: Formula, names: set[str]) -> Formula:
    """Return a formula in which each of the letters `names` is called with its only variable there."""
    own = {
        name: variables for name in {name for name, _ in f.depends if conjugation_base(name) in names}
        if len(variables := [variable for each, variable in f.depends if each == name]) == 1
    }  # fmt: skip

    def spelled(node: Expr) -> Expr:
        """Return a node with its letters called."""
        if node.op == "sym" and node.name in own:
            call = Expr("apply", (symbol(own[node.name][0]),), conjugation_base(node.name))
            return call if call.name == node.name else Expr("opaque", (call,), "*")
        if node.op in ("derivative", "partial") and len(node.args) > 1:
            args = (spelled(node.args[0]), *node.args[1:])
        else:
            args = tuple(map(spelled, node.args))
        return with_args(node, args)

    depends = frozenset(
        (name, variable) for name, variable in f.depends if conjugation_base(symbol_of(name).unprimed) not in names
    )
    return replace(with_members(f, tuple(map(spelled, f.members))), depends=depends)
