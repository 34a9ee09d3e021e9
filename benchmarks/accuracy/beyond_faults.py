r"""Faults in formulas beyond algebra: limits, dummies, Jacobians, orders of derivatives and of operators, indices.

As in `tests/support/faults.py`, a kind is a function of a node and of the symbols of its formula that yields what may
stand there instead, and knows nothing of whether that changes anything: two factors that commute may be exchanged, and
`\cos(-x)` is `\cos x`. `beyond.py` asks that apart.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from prism.algebra.expr import Expr, Formula, number, plain_parts, substitute, symbol, symbols
from tests.support.faults import (
    HALF,
    TWO,
    Fault,
    Path,
    exponent,
    index,
    lost_term,
    places,
    power,
    product,
    put,
    without,
)

RANGED = frozenset(("integral", "contour", "sum", "product"))
ZERO, ONE = number(0), number(1)
COORDINATES = ("t", "x", "y", "z", "r", r"\theta", r"\phi", r"\rho", "q", "p", "T", "V")
WHOLE = frozenset(("n", "m", "l", "k", "j", "i", "N", r"\ell"))
TWINS = {
    "sin": ("cos", "sinh"), "cos": ("sin", "cosh"), "tan": ("sin",), "exp": ("cosh",), "sinh": ("cosh", "sin"),
    "cosh": ("sinh", "cos"), "tanh": ("sinh",), "asin": ("acos",), "acos": ("asin",), "atan": ("asin",), "ln": ("exp",),
}  # fmt: skip
CALLED = {
    "Re": ("Im",), "Im": ("Re",), "max": ("min",), "min": ("max",), "J_0": ("J_1",), "J_1": ("J_0", "J_2"),
    "P_1": ("P_2",), "P_2": ("P_1", "P_3"), "H_2": ("H_1", "H_3"), "erf": ("erfc",), "erfc": ("erf",), "det": ("Tr",),
    "Tr": ("det",), "sgn": (r"\Theta",), r"\Theta": ("sgn",), r"\Gamma": (r"\zeta",),
}  # fmt: skip
TURNED = {
    "<": (">", "<="), ">": ("<", ">="), "<=": (">=", "<"), ">=": ("<=", ">"), "=": ("!=",), "<= <=": ("< <",),
    "<= <": ("< <=",), "< <=": ("<= <",),
}  # fmt: skip
_SCRIPT = re.compile(r"(?P<sign>[_^])(?:\{(?P<many>[^{}]+)\}|(?P<one>\\[A-Za-z]+|[A-Za-z0-9]))")
_LETTERS = re.compile(r"\\[A-Za-z]+|[A-Za-z]|\d")
_STARRED = re.compile(r"\^\{?(\*|\\dagger|T|\\top)\s*\}?")
_INDEX = frozenset(r"i j k l m n a b \mu \nu \alpha \beta \lambda \sigma \rho 1 2 3".split())


def _negative(node: Expr) -> Expr:
    return node.args[0] if node.op == "neg" else Expr("neg", (node,))


def _changed(node: Expr, position: int, new: Expr) -> Expr:
    """A node with one operand replaced."""
    return Expr(node.op, (*node.args[:position], new, *node.args[position + 1 :]), node.name, node.value)


# Integrals, sums and products -----------------------------------------------------------------------------------


def limit(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A limit of an integral or sum taken for another: doubled, one off, zero, of the other sign; both exchanged."""
    if node.op not in RANGED or len(node.args) != 4:
        return
    lower, upper = node.args[2:]
    for position, own in ((2, lower), (3, upper)):
        if own.value == 0:
            changes: tuple[Expr, ...] = (ONE, number(-1)) if node.op != "integral" else (ONE, _negative(upper))
        elif own.op == "infinity" or (own.op == "neg" and own.args[0].op == "infinity"):
            changes = (ZERO,) if position == 2 else (number(2),)
        else:
            changes = (product(TWO, own), Expr("add", (own, ONE)), Expr("sub", (own, ONE)), _negative(own))
        yield from (_changed(node, position, new) for new in changes)
    yield Expr(node.op, (*node.args[:2], upper, lower), node.name)


def jacobian(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A factor of the measure lost or put in: r, r^2, the sine of the angle."""
    if node.op != "integral" or len(node.args) < 2:
        return
    body, variable = node.args[:2]
    if body.op == "mul":
        for position, arg in enumerate(body.args):
            if variable.name in symbols(arg) and arg.op in ("sym", "pow", "sin", "div", "sqrt"):
                yield _changed(node, 0, without(body.args, position, "mul"))
    elif body == variable:
        yield _changed(node, 0, ONE)
    elif body.op == "pow" and body.args[0] == variable:
        yield _changed(node, 0, variable)
    yield _changed(node, 0, product(variable, body))


def dummy(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A bound variable confused with a free one: in the body, in one place of it, or as what is integrated over."""
    if node.op not in RANGED | {"limit"} or len(node.args) < 3 or node.args[1].op != "sym":
        return
    body, variable = node.args[:2]
    others = [arg for limit in node.args[2:] for arg in (limit, *limit.args) if arg.op == "sym"]
    others += [symbol(name) for name in sorted(symbols(body)) if symbol(name) != variable]
    for other in list(dict.fromkeys(others))[:3]:
        yield _changed(node, 0, substitute(body, {variable: other}))
        yield _changed(node, 0, substitute(body, {other: variable}))
        yield _changed(node, 1, other)
        for path in [path for path, inner in places(body) if inner == variable][:2]:
            yield _changed(node, 0, put(body, path, other))


def shifted(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A summand off by one, all of it or in one place."""
    if node.op not in ("sum", "product") or len(node.args) < 2 or node.args[1].op != "sym":
        return
    body, variable = node.args[:2]
    for op in ("add", "sub"):
        yield _changed(node, 0, substitute(body, {variable: Expr(op, (variable, ONE))}))
    for path in [path for path, inner in places(body) if inner == variable][:3]:
        yield _changed(node, 0, put(body, path, Expr("add", (variable, ONE))))


def target(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A limit taken, or a point put in, elsewhere."""
    if node.op == "limit" and len(node.args) > 2:
        yield _changed(node, 2, ZERO if node.args[2].op == "infinity" else ONE)
    elif node.op == "at" and node.name == "point" and len(node.args) > 1:
        yield _changed(node, len(node.args) - 1, ONE if node.args[-1].value == 0 else ZERO)


# Derivatives ----------------------------------------------------------------------------------------------------


def variable_of_derivative(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A derivative by another variable: d/dx for d/dt."""
    if node.op in ("derivative", "partial") and len(node.args) > 1:
        own = [name for name in COORDINATES if name in names] or ["t", "x"]
        others = [name for name in dict.fromkeys((*own, "t", "x")) if symbol(name) not in node.args[1:]]
        yield from (_changed(node, 1, symbol(name)) for name in others[:3])


def order_of_derivative(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A derivative too many or too few."""
    if node.op in ("derivative", "partial") and node.name.isdigit() and len(node.args) == 2:
        if node.name == "1":
            yield node.args[0]
        else:
            yield Expr(node.op, node.args, str(int(node.name) - 1))
        yield Expr(node.op, node.args, str(int(node.name) + 1))
    elif node.op == "sym" and node.name.endswith("'"):
        yield symbol(node.name[:-1])
        yield symbol(node.name + "'")


def inner_derivative(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """One factor lost."""
    if node.op == "mul":
        yield from (without(node.args, position, "mul") for position in range(len(node.args)))
    elif node.op == "div":
        yield node.args[0]


def total_for_partial(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """What is differentiated loses a factor to the front of the derivative, or takes one in."""
    if node.op in ("derivative", "partial") and len(node.args) == 2 and node.args[0].op == "mul":
        first, *rest = node.args[0].args
        yield product(first, _changed(node, 0, rest[0] if len(rest) == 1 else product(*rest)))
    elif node.op == "mul":
        for position, arg in enumerate(node.args):
            if arg.op in ("derivative", "partial") and len(arg.args) == 2:
                rest = [*node.args[:position], *node.args[position + 1 :]]
                yield _changed(arg, 0, product(*rest, arg.args[0]))


def held(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """Another letter held constant, or none."""
    if node.op == "at" and node.name == "held" and len(node.args) == 2:
        yield node.args[0]
        free = [name for name in names if symbol(name) not in (*node.args[1:], *node.args[0].args)]
        yield from (_changed(node, 1, symbol(name)) for name in free[:2])


def nabla(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """Divergence for curl, gradient for Laplacian, and back; a factor taken out of the derivative."""
    if node.op == "nabla":
        twin = {"grad": "laplace", "laplace": "grad", "div": "curl", "curl": "div"}.get(node.name)
        if twin is not None:
            yield Expr("nabla", node.args, twin)
        if node.args and node.args[0].op == "mul":
            first, *rest = node.args[0].args
            yield product(first, _changed(node, 0, rest[0] if len(rest) == 1 else product(*rest)))


# Order, indices, conjugates -------------------------------------------------------------------------------------


def order(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """Two neighbours of a product of operators or matrices exchanged, the rows or the diagonal of a matrix."""
    if node.op in ("cross", "commutator") or (node.op == "dot" and any(arg.op == "opaque" for arg in node.args)):
        yield Expr(node.op, node.args[::-1], node.name)
    elif node.op == "mul":
        for position, (one, two) in enumerate(pairwise(node.args)):
            if _may_not_commute(one, names) and _may_not_commute(two, names) and one != two:
                args = (*node.args[:position], two, one, *node.args[position + 2 :])
                yield Expr("mul", args)
    elif node.op == "bracket" and node.name == "braket" and len(node.args) > 2:
        yield Expr(node.op, node.args[::-1], node.name)
    elif node.op == "matrix" and node.args:
        yield Expr(node.op, node.args[::-1], node.name)
        yield from _transposed(node)


def _transposed(node: Expr) -> Iterator[Expr]:
    rows = [row.args for row in node.args]
    if all(row.op == "row" for row in node.args) and len({len(row) for row in rows}) == 1:
        yield Expr(node.op, tuple(Expr("row", column) for column in zip(*rows, strict=True)), node.name)


def _may_not_commute(node: Expr, names: tuple[str, ...]) -> bool:
    """Return True for what has an operator, a matrix or a bold letter; plain capitals where there are no others."""
    capitals = all(name[:1].isupper() or name.startswith("\\") for name in names)
    return any(
        inner.op in ("matrix", "opaque", "commutator")
        or (inner.op == "bracket" and inner.name in ("bra", "ket"))
        or (inner.op == "sym" and inner.name.startswith((r"\hat", r"\vec", r"\sigma_")))
        or (inner.op == "sym" and capitals and inner.name[:1].isupper())
        for _, inner in places(node)
    )


def tensor_index(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """Indices of a tensor exchanged, raised, lowered, or one taken for another; nothing for labels of a word."""
    if node.op != "sym":
        return
    for match in _SCRIPT.finditer(node.name):
        written = match["many"] or match["one"]
        letters = _LETTERS.findall(written)
        if "".join(letters) != written or not _INDEX.issuperset(letters):
            continue
        before, after = node.name[: match.start()], node.name[match.end() :]
        changes = [[*letters[:k], letters[k + 1], letters[k], *letters[k + 2 :]] for k in range(len(letters) - 1)]
        used = dict.fromkeys(
            letter for name in names for found in _SCRIPT.finditer(name)
            for letter in _LETTERS.findall(found["many"] or found["one"]) if letter in _INDEX
        )  # fmt: skip
        changes += [[new, *letters[1:]] for new in [letter for letter in used if letter not in letters][:2]]
        for new in changes:
            yield symbol(f"{before}{match['sign']}{_script(new)}{after}")
        if letters[0].startswith("\\") and not before.endswith("}"):
            yield symbol(f"{before}{'^' if match['sign'] == '_' else '_'}{_script(letters)}{after}")


def _script(letters: list[str]) -> str:
    return letters[0] if len(letters) == 1 else "{" + "".join(letters) + "}"


def conjugate(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A star, dagger or transposition dropped or put in, an absolute value dropped."""
    if node.op == "sym":
        plain = _STARRED.sub("", node.name)
        if plain != node.name:
            yield symbol(plain)
        else:
            yield from (symbol(name) for name in names if name != node.name and _STARRED.sub("", name) == node.name)
        if node.name.startswith(r"\bar{"):
            yield symbol(node.name[5:-1])
        if node.name == "i":
            yield Expr("neg", (node,))
    elif (
        (node.op == "opaque" and len(node.args) == 1)
        or node.op == "abs"
        or (node.op == "pow" and node.args[1] in (symbol("T"), symbol("*"), symbol(r"\dagger")))
    ):
        yield node.args[0]


def metric(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """The sign of one square, or of one term with a differential or derivative, of a sum."""
    if node.op == "add":
        for position, arg in enumerate(node.args):
            if _has_square(arg):
                yield _changed(node, position, _negative(arg))
    elif node.op == "sub" and _has_square(node.args[1]):
        yield Expr("add", node.args)


def _has_square(node: Expr) -> bool:
    return any(inner.op in ("pow", "differential", "derivative", "partial") for _, inner in places(node))


# Numbers and signs ----------------------------------------------------------------------------------------------


def factor(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A factor of 2, 1/2 or -1 on one term or factor."""
    if node.op in ("mul", "div", "apply", "integral", "sum", "derivative", "partial", "dot", "cross", "nabla", "sym"):
        yield product(TWO, node)
        yield product(HALF, node)
        yield Expr("neg", (node,))
    elif node.op == "neg":
        yield node.args[0]


def sign(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    if node.op == "sub":
        yield Expr("add", node.args)
    elif node.op == "add":
        yield from (_changed(node, position, _negative(arg)) for position, arg in enumerate(node.args))
    elif node.op == "neg":
        yield node.args[0]


def one_off(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """One more or less than a whole number: `n + 1` for `n`."""
    if node.op == "sym" and node.name in WHOLE:
        yield Expr("add", (node, ONE))
        yield Expr("sub", (node, ONE))
    elif node.op == "num" and node.value is not None and node.value.denominator == 1:
        yield number(node.value + 1)
        yield number(node.value - 1)


def other_function(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    yield from (Expr(twin, node.args) for twin in TWINS.get(node.op, ()))
    if node.op == "apply":
        yield from (Expr("apply", node.args, twin) for twin in CALLED.get(node.name, ()))
    elif node.op in ("cross", "dot"):
        yield Expr("dot" if node.op == "cross" else "cross", node.args)


def case(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """The condition of a case turned; the values of two cases exchanged; the argument of a step turned."""
    if node.op == "relation":
        yield from (Expr("relation", node.args, twin) for twin in TURNED.get(node.name, ()))
    elif node.op == "cases" and all(row.op == "row" and len(row.args) == 2 for row in node.args):
        rows = node.args
        for position, (one, two) in enumerate(pairwise(rows)):
            turned = Expr("row", (two.args[0], one.args[1])), Expr("row", (one.args[0], two.args[1]))
            yield Expr("cases", (*rows[:position], *turned, *rows[position + 2 :]))
    elif node.op == "apply" and node.args and node.name in (r"\Theta", r"\theta", "u", "H", "sgn", r"\delta"):
        yield _changed(node, 0, Expr("neg", (node.args[0],)))


def swapped_letters(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """One letter in one place taken for another of the formula."""
    if node.op == "sym":
        yield from (symbol(name) for name in names if name != node.name)


def doubled_exponent(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """An exponent one off, an exponential of the other sign, a root lost."""
    if node.op == "exp":
        yield Expr("exp", (_negative(node.args[0]),))
    elif node.op == "sqrt":
        yield node.args[0]
    elif node.op == "abs":
        yield power(node, 2)
    yield from (new for new in exponent(node, names) if node.op != "sym")


FAULTS: dict[str, Fault] = {
    "limit of an integral or sum": limit, "factor of the measure": jacobian, "bound variable": dummy,
    "summand off by one": shifted, "point of a limit": target, "variable of a derivative": variable_of_derivative,
    "order of a derivative": order_of_derivative, "inner derivative": inner_derivative,
    "factor across a derivative": total_for_partial, "what is held": held, "kind of nabla": nabla, "order": order,
    "index of a tensor": tensor_index, "conjugate": conjugate, "sign of a square": metric, "factor": factor,
    "sign": sign, "one off": one_off, "function": other_function, "case": case, "letter": swapped_letters,
    "exponent": doubled_exponent, "lost summand": lost_term, "index": index,
}  # fmt: skip


def mutants(written: Formula, rng: random.Random) -> Iterator[tuple[str, Formula]]:
    """Formulas with one fault, the kinds taking turns, places and variants at random; each spelling once."""
    waiting: dict[str, list[tuple[int, int, Path, Expr]]] = {}
    parts = list(plain_parts(written))
    names = tuple(sorted(symbols(*(member for part in parts for member in part.members))))
    for kind, fault in FAULTS.items():
        found = [
            (at, side, path, new)
            for at, part in enumerate(parts) for side, member in enumerate(part.members)
            for path, node in places(member) if not _is_bound(member, path) for new in fault(node, names)
        ]  # fmt: skip
        rng.shuffle(found)
        waiting[kind] = found
    seen = {str(written)}
    while any(waiting.values()):
        for kind, found in waiting.items():
            while found:
                wrong = _with_fault(written, parts, *found.pop())
                if str(wrong) not in seen:
                    seen.add(str(wrong))
                    yield kind, wrong
                    break


def _is_bound(root: Expr, path: Path) -> bool:
    """Return True for a place in what a sum or integral runs over: `bound variable` changes that with its body."""
    node = root
    for position in path:
        if position == 1 and node.op in RANGED | {"limit"}:
            return True
        node = node.args[position]
    return False


def _with_fault(written: Formula, parts: list[Formula], at: int, side: int, path: Path, new: Expr) -> Formula:
    """The formula with another node in one member of one of its parts; without its text, which no longer fits."""
    members = list(parts[at].members)
    members[side] = put(members[side], path, new)
    changed = replace(parts[at], members=tuple(members), latex="")
    if not written.parts:
        return changed
    position = iter(range(len(parts)))
    return _rebuilt(written, at, changed, position)


def _rebuilt(written: Formula, at: int, changed: Formula, position: Iterator[int]) -> Formula:
    """A formula with its plain part number `at` replaced."""
    if not written.parts:
        return changed if next(position) == at else written
    return replace(written, parts=tuple(_rebuilt(part, at, changed, position) for part in written.parts), latex="")
