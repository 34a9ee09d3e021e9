"""Faults that people and models make in formulas: each kind takes one node of a right formula and puts in a wrong one.

A kind is a function of a node and of the symbols of its formula that yields what may stand there instead. Nothing here
knows whether the formula still says the same: `cos(-x)` for `cos x` is no fault after all, and `near_misses.py` asks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

from prism.algebra.expr import Expr, Formula, canonical_zero, formula, number, symbol

Fault = Callable[[Expr, tuple[str, ...]], Iterator[Expr]]
Path = tuple[int, ...]

PI, TWO, HALF = Expr("const", name="pi"), number(2), number(Fraction(1, 2))
TWINS = {
    "sin": ("cos",), "cos": ("sin",), "tan": ("sin", "cos"), "exp": ("cosh",), "sinh": ("cosh", "sin"),
    "cosh": ("sinh", "cos"), "tanh": ("tan", "sinh"), "asin": ("acos", "atan"), "acos": ("asin",), "atan": ("asin",),
}  # fmt: skip
CONFUSED = {
    "h": (r"\hbar",), r"\hbar": ("h",), "k_B": ("R",), "R": ("k_B",), r"\epsilon_0": (r"\mu_0", r"\epsilon"),
    r"\mu_0": (r"\epsilon_0", r"\mu"), "G": ("g",), "g": ("G",), "c": ("v",), "e": ("q", "m_e"), "M": ("m",),
    "m": ("M", "m_0"), r"\sigma": (r"\epsilon",), r"\omega": ("f", r"\nu"), "f": (r"\omega",), "r": ("R", "d"),
}  # fmt: skip
"""What is taken for what, although the formula may not hold it. Some are constants that PRISM reads by their letter;
two letters of one constant (`k_B` and `k`) are no fault."""

OF_A_NUMBER = frozenset(
    "exp ln log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh".split()
)  # functions with one argument


# Trees --------------------------------------------------------------------------------------------------------------


def places(root: Expr, path: Path = ()) -> Iterator[tuple[Path, Expr]]:
    """Every node with the way to it, parents first."""
    yield path, root
    for position, arg in enumerate(root.args):
        yield from places(arg, (*path, position))


def put(root: Expr, path: Path, new: Expr) -> Expr:
    """The tree with another node at one place.

    >>> str(put(product(symbol("a"), symbol("b")), (1,), number(3)))
    'a*3'
    """
    if not path:
        return new
    at, *rest = path
    args = (*root.args[:at], put(root.args[at], tuple(rest), new), *root.args[at + 1 :])
    return Expr(root.op, args, root.name, root.value)


def product(*args: Expr) -> Expr:
    return Expr("mul", args)


def power(base: Expr, exponent: int | Fraction) -> Expr:
    return Expr("pow", (base, number(exponent)))


def without(args: tuple[Expr, ...], position: int, op: str) -> Expr:
    """A sum or product that has lost one operand."""
    rest = args[:position] + args[position + 1 :]
    return rest[0] if len(rest) == 1 else Expr(op, rest)


def exchanged(root: Expr, one: str, other: str) -> Expr:
    """The tree with two symbols exchanged everywhere."""
    if root.op == "sym":
        return symbol(other if root.name == one else one) if root.name in (one, other) else root
    return Expr(root.op, tuple(exchanged(arg, one, other) for arg in root.args), root.name, root.value)


# Kinds of fault -----------------------------------------------------------------------------------------------------


def factor_two(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op not in ("num", "const", "neg"):
        yield product(TWO, node)
        yield Expr("div", (node, TWO))


def factor_pi(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op in ("sym", "mul", "div"):
        yield product(PI, node)
        yield product(number(4), PI, node)
        yield Expr("div", (node, product(TWO, PI)))
    if node.op == "const":
        yield number(1)


def sign(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op == "sub":
        yield Expr("add", node.args)
        if node.args[1].op == "add":  # the bracket opened without turning its signs
            yield Expr("add", (Expr("sub", (node.args[0], node.args[1].args[0])), *node.args[1].args[1:]))
    elif node.op == "add":
        for position, arg in enumerate(node.args):
            turned = arg.args[0] if arg.op == "neg" else Expr("neg", (arg,))
            yield Expr("add", (*node.args[:position], turned, *node.args[position + 1 :]))
    elif node.op == "neg":
        yield node.args[0]
    elif node.op in ("sym", "mul", "div"):
        yield Expr("neg", (node,))


def exponent(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op == "pow" and node.args[1].value is not None:
        yield power(node.args[0], node.args[1].value + 1)
        if node.args[1].value != 1:
            yield power(node.args[0], node.args[1].value - 1)
    elif node.op == "sym":
        yield power(node, 2)


def exponent_sign(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op == "pow":
        value = node.args[1].value
        yield power(node.args[0], -value) if value else Expr("pow", (node.args[0], Expr("neg", (node.args[1],))))
    elif node.op == "exp":
        inner = node.args[0]
        yield Expr("exp", (inner.args[0] if inner.op == "neg" else Expr("neg", (inner,)),))


def root_lost(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op in ("sqrt", "root") or (node.op == "pow" and node.args[1].value == 2):
        yield node.args[0]
    elif node.op in ("div", "mul"):
        yield Expr("sqrt", (node,))


def other_symbol(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op == "sym":
        yield from (symbol(name) for name in names if name != node.name)


def wrong_constant(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    r"""A symbol taken for another that the formula does not hold: `\hbar` for `h`."""
    if node.op == "sym":
        yield from (symbol(name) for name in CONFUSED.get(node.name, ()) if name not in names)


def index(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """The same letter with the index of another: `m_1` for `m_2`."""
    if node.op == "sym":
        head = node.name.partition("_")[0]
        yield from (symbol(name) for name in names if name != node.name and name.partition("_")[0] == head)


def swapped(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """Two neighbours of a sum, product or quotient exchanged, with all that is like them below."""
    if node.op in ("add", "sub", "mul", "div"):
        own = tuple(dict.fromkeys(inner.name for _, inner in places(node) if inner.op == "sym"))
        yield from (exchanged(node, one, other) for one, other in pairwise(own))


def number_off(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op == "num" and node.value is not None:
        yield from (number(value) for value in (node.value + 1, node.value - 1, node.value * 10))


def lost_term(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op == "add":
        yield from (without(node.args, position, "add") for position in range(len(node.args)))
    elif node.op == "sub":
        yield node.args[0]
        yield Expr("neg", (node.args[1],))


def lost_factor(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op == "mul":
        yield from (without(node.args, position, "mul") for position in range(len(node.args)))
    elif node.op == "div":
        yield node.args[0]


def doubled_factor(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op == "mul":
        yield from (Expr("mul", (*node.args, arg)) for arg in node.args if arg.op != "num")
    elif node.op == "div" and node.args[1].op != "num":
        yield Expr("div", (node, node.args[1]))


def inverted(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op == "div":
        yield Expr("div", node.args[::-1])


def other_function(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    yield from (Expr(twin, node.args) for twin in TWINS.get(node.op, ()))


def other_base(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op in ("ln", "log10"):
        yield Expr("log10" if node.op == "ln" else "ln", node.args)


def argument(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op in OF_A_NUMBER:
        yield Expr(node.op, (product(TWO, node.args[0]),))
        yield Expr(node.op, (Expr("div", (node.args[0], TWO)),))


def degrees(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op in ("sin", "cos", "tan"):
        yield Expr(node.op, (product(Expr("div", (PI, number(180))), node.args[0]),))


def near_one(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A factor that is nearly harmless: 1.001 or 0.9999."""
    if node.op not in ("num", "const", "neg"):
        yield product(number(Fraction(1001, 1000), written="1.001"), node)
        yield product(number(Fraction(9999, 10000), written="0.9999"), node)


def small_term(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A term that is nearly harmless: a thousandth, plain or times a symbol."""
    small = number(Fraction(1, 1000), written="0.001")
    if node.op in ("add", "sub", "mul", "div"):
        yield Expr("add", (node, small))
        yield from (Expr("add", (node, product(small, symbol(name)))) for name in names[:3])
        yield product(node, Expr("add", (number(1), product(small, symbol(names[-1])))))


def one_summand(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A factor or denominator of a sum that reaches its first term only: `a(b + c)` to `ab + c`."""
    if node.op == "mul":
        for position, arg in enumerate(node.args):
            if arg.op in ("add", "sub"):
                reached = Expr("mul", (*node.args[:position], arg.args[0], *node.args[position + 1 :]))
                yield Expr(arg.op, (reached, *arg.args[1:]))
    elif node.op == "div" and node.args[0].op in ("add", "sub"):
        upper = node.args[0]
        yield Expr(upper.op, (Expr("div", (upper.args[0], node.args[1])), *upper.args[1:]))


def term_by_term(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A power, root, quotient or function taken of each term of a sum: `(a + b)^2` to `a^2 + b^2`."""
    if node.args and node.args[-1].op in ("add", "sub") and (node.op == "sqrt" or node.op in OF_A_NUMBER):
        inner = node.args[0]
        yield Expr(inner.op, tuple(Expr(node.op, (arg,)) for arg in inner.args))
    elif node.op == "pow" and node.args[0].op in ("add", "sub"):
        inner = node.args[0]
        yield Expr(inner.op, tuple(Expr("pow", (arg, node.args[1])) for arg in inner.args))
    elif node.op == "div" and node.args[1].op in ("add", "sub"):
        inner = node.args[1]
        yield Expr(inner.op, tuple(Expr("div", (node.args[0], arg)) for arg in inner.args))


FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        factor_two, factor_pi, sign, exponent, exponent_sign, root_lost, other_symbol, wrong_constant, index, swapped,
        number_off, lost_term, lost_factor, doubled_factor, inverted, other_function, other_base, argument, degrees,
        near_one, small_term, one_summand, term_by_term,
    )
}  # fmt: skip


# Choosing -----------------------------------------------------------------------------------------------------------


def near_misses(f: Formula, names: tuple[str, ...], rng: random.Random) -> Iterator[tuple[str, Formula]]:
    """Formulas with one fault, the kinds taking turns, places and variants at random; each canonical form once."""
    waiting = {}
    for kind, fault in FAULTS.items():
        found = [
            (side, path, new) for side in (0, 1) for path, node in places(f.members[side]) for new in fault(node, names)
        ]
        rng.shuffle(found)
        waiting[kind] = found
    seen: set[str] = set()
    while any(waiting.values()):
        for kind, found in waiting.items():
            while found:
                side, path, new = found.pop()
                members = list(f.members)
                members[side] = put(members[side], path, new)
                wrong = formula((members[0], members[1]), f.relations)
                form = canonical_zero(Expr("sub", wrong.members))
                if form not in seen:
                    seen.add(form)
                    yield kind, wrong
                    break
