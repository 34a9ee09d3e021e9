"""The same equation in other words: rewrites that keep its zeros wherever its symbols are in their domain.

`IDENTITIES` change one node by a law that holds wherever both sides are defined; laws that need a positive operand ask
`is_positive` first, which looks at the form only. `sides` changes both sides of the equation alike, `solved` and
`solved_twice` solve it for a symbol; what could lose or add zeros (squares, roots, logarithms, an inverse function) is
done only where the sides, or what is solved for, are positive by their form. Points where both sides of a product or
quotient vanish at once are thin and not counted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product as combinations

from benchmarks.accuracy.zero_sets import angles
from prism.algebra.expr import Expr, Formula, formula, number, symbol, symbols, walk
from tests.support.faults import HALF, PI, TWO, Path, places, power, product, put, without

ONE, ZERO, TEN = number(1), number(0), number(10)
PLACES = 2  # at which one identity is tried in one formula
CHAINED = 3  # identities of a combined rewrite
COMBINED = 3  # combined rewrites of one formula
MAX_NODES = 160  # of a rewrite: longer is not what people write
MAX_DEGREE = 2  # of an equation that is solved for a symbol that occurs more than once
MAX_TERMS = 12  # of a product that is multiplied out


@dataclass(frozen=True, slots=True)
class Domain:
    """What is known of the symbols of one formula: declared kinds, the angles among the others, and all of them."""

    kinds: Mapping[str, str]
    acute: frozenset[str]
    names: frozenset[str]

    def is_acute(self, node: Expr) -> bool:
        """Whether an argument lies between 0 and a right angle: an angle, or a part of one."""
        if node.op == "div" and node.args[1].op == "num":
            return (node.args[1].value or 0) >= 1 and self.is_acute(node.args[0])
        return node.op == "sym" and node.name in self.acute and self.kinds.get(node.name, "angle") == "angle"

    def is_positive(self, node: Expr) -> bool:
        """Whether an expression is positive by its form."""
        if node.op == "sym":
            return self.kinds.get(node.name, "positive") in ("positive", "angle", "integer")
        if node.op == "num":
            return node.value is not None and node.value > 0
        if node.op in ("add", "mul", "div", "sqrt", "root", "abs", "sinh", "tanh", "atan"):
            return all(self.is_positive(arg) for arg in node.args)
        if node.op == "pow":
            return self.is_positive(node.args[0])
        if node.op in ("sin", "cos", "tan"):
            return self.is_acute(node.args[0])
        return node.op in ("const", "exp", "cosh")


CONSTANTS = {
    r"\hbar": Expr("div", (symbol("h"), product(TWO, PI))),
    "k_B": Expr("div", (symbol("R"), symbol("N_A"))),
    r"\epsilon_0": Expr("div", (ONE, product(symbol(r"\mu_0"), power(symbol("c"), 2)))),
}
Identity = Callable[[Expr, Domain], Iterator[Expr]]


def negated(node: Expr) -> Expr:
    return node.args[0] if node.op == "neg" else Expr("neg", (node,))


def over(upper: Expr, lower: Expr) -> Expr:
    return Expr("div", (upper, lower))


def plus(*args: Expr) -> Expr:
    return Expr("add", args)


def minus(one: Expr, other: Expr) -> Expr:
    return Expr("sub", (one, other))


def of(op: str, arg: Expr) -> Expr:
    return Expr(op, (arg,))


def square(node: Expr) -> Expr:
    return power(node, 2)


def terms_of(node: Expr) -> tuple[Expr, ...]:
    """The terms of a sum, signs included; of anything else, itself."""
    if node.op == "add":
        return tuple(term for arg in node.args for term in terms_of(arg))
    if node.op == "sub":
        return terms_of(node.args[0]) + tuple(negated(term) for term in terms_of(node.args[1]))
    return (node,)


# Identities of one node -----------------------------------------------------------------------------------------------


def reordered(node: Expr, domain: Domain) -> Iterator[Expr]:
    if node.op in ("add", "mul"):
        yield Expr(node.op, node.args[::-1])
    elif node.op == "sub":
        yield plus(negated(node.args[1]), node.args[0])


def multiplied_out(node: Expr, domain: Domain) -> Iterator[Expr]:
    factors: tuple[Expr, ...] = node.args
    if node.op == "pow" and node.args[1].value in (2, 3):
        factors = (node.args[0],) * int(node.args[1].value)
    elif node.op != "mul":
        return
    sums = [terms_of(arg) for arg in factors]
    count = 1
    for terms in sums:
        count *= len(terms)
    if 1 < count <= MAX_TERMS:
        yield plus(*(product(*chosen) for chosen in combinations(*sums)))


def common_denominator(node: Expr, domain: Domain) -> Iterator[Expr]:
    if node.op in ("add", "sub") and any(arg.op == "div" for arg in node.args):
        first, *rest = node.args
        upper, lower = first.args if first.op == "div" else (first, ONE)
        for arg in rest:
            other_upper, other_lower = arg.args if arg.op == "div" else (arg, ONE)
            upper = Expr(node.op, (product(upper, other_lower), product(other_upper, lower)))
            lower = product(lower, other_lower)
        yield over(upper, lower)


def fraction_split(node: Expr, domain: Domain) -> Iterator[Expr]:
    if node.op == "div" and node.args[0].op in ("add", "sub"):
        yield Expr(node.args[0].op, tuple(over(arg, node.args[1]) for arg in node.args[0].args))
    elif node.op == "div" and node.args[0].op == "mul":
        first, *rest = node.args[0].args
        yield product(over(first, node.args[1]), *rest)


def factored(node: Expr, domain: Domain) -> Iterator[Expr]:
    """A common factor of two terms taken out, else the first term: `a + b` is `a (1 + b/a)`."""
    if node.op in ("add", "sub") and len(node.args) == 2:
        parts = [arg.args if arg.op == "mul" else (arg,) for arg in node.args]
        for arg in parts[0]:
            if arg in parts[1] and arg.op != "num":
                rest = [without(part, part.index(arg), "mul") if len(part) > 1 else ONE for part in parts]
                yield product(arg, Expr(node.op, tuple(rest)))
        if domain.is_positive(node.args[0]):
            yield product(node.args[0], Expr(node.op, (ONE, over(node.args[1], node.args[0]))))


def difference_of_squares(node: Expr, domain: Domain) -> Iterator[Expr]:
    if node.op == "sub":
        bases = [
            arg.args[0] if arg.op == "pow" and arg.args[1].value == 2 else arg if arg == ONE else None
            for arg in node.args
        ]
        if bases[0] is not None and bases[1] is not None:
            yield product(plus(bases[0], bases[1]), minus(bases[0], bases[1]))
        elif all(domain.is_positive(arg) for arg in node.args):
            roots = [of("sqrt", arg) for arg in node.args]
            yield product(plus(*roots), minus(*roots))


def power_spelt(node: Expr, domain: Domain) -> Iterator[Expr]:
    if node.op == "sqrt":
        yield Expr("pow", (node.args[0], HALF))
    elif node.op == "pow" and node.args[1].value in (2, 3):
        yield product(*(node.args[0],) * int(node.args[1].value))
    elif node.op == "pow" and node.args[1].value == Fraction(3, 2):
        yield product(node.args[0], of("sqrt", node.args[0]))
    elif node.op == "pow" and node.args[1].op != "num" and domain.is_positive(node.args[0]):
        yield of("exp", product(node.args[1], of("ln", node.args[0])))
    elif node.op == "div":
        yield product(node.args[0], power(node.args[1], -1))


def root_split(node: Expr, domain: Domain) -> Iterator[Expr]:
    if node.op == "sqrt" and node.args[0].op in ("mul", "div"):
        if domain.is_positive(node.args[0]):
            yield Expr(node.args[0].op, tuple(of("sqrt", arg) for arg in node.args[0].args))
    elif node.op == "mul":
        for position, arg in enumerate(node.args):
            rest = without(node.args, position, "mul")
            if arg.op == "sqrt" and domain.is_positive(rest):
                yield of("sqrt", product(square(rest), arg.args[0]))
    elif node.op == "pow" and node.args[0].op in ("mul", "div") and domain.is_positive(node.args[0]):
        inner = node.args[0]
        yield Expr(inner.op, tuple(Expr("pow", (arg, node.args[1])) for arg in inner.args))


def twice_inverted(node: Expr, domain: Domain) -> Iterator[Expr]:
    if node.op in ("sym", "add", "sub", "div"):
        yield over(ONE, over(ONE, node))
    if node.op == "div":
        yield over(ONE, over(node.args[1], node.args[0]))


def cancelled(node: Expr, domain: Domain) -> Iterator[Expr]:
    """Something that drops out: a factor above and below, a term added and taken away."""
    names = sorted(symbols(node))
    if node.op in ("div", "sym") and names:
        extra = plus(ONE, symbol(names[0])) if domain.is_positive(symbol(names[0])) else TWO
        upper, lower = node.args if node.op == "div" else (node, ONE)
        yield over(product(upper, extra), product(lower, extra))
    if node.op in ("mul", "div") and names:
        yield minus(plus(node, symbol(names[-1])), symbol(names[-1]))


def double_angle(node: Expr, domain: Domain) -> Iterator[Expr]:
    if node.op == "sin":
        half = over(node.args[0], TWO)
        yield product(TWO, of("sin", half), of("cos", half))
    elif node.op == "cos":
        half = over(node.args[0], TWO)
        yield minus(ONE, product(TWO, square(of("sin", half))))
        yield minus(product(TWO, square(of("cos", half))), ONE)
    elif node.op == "pow" and node.args[1].value == 2 and node.args[0].op in ("sin", "cos"):
        double = of("cos", product(TWO, node.args[0].args[0]))
        yield over(Expr("sub" if node.args[0].op == "sin" else "add", (ONE, double)), TWO)


def pythagoras(node: Expr, domain: Domain) -> Iterator[Expr]:
    if node.op == "pow" and node.args[1].value == 2 and node.args[0].op in ("sin", "cos"):
        other = "cos" if node.args[0].op == "sin" else "sin"
        yield minus(ONE, square(of(other, node.args[0].args[0])))
    elif node.op == "tan":
        yield over(of("sin", node.args[0]), of("cos", node.args[0]))
    elif node.op in ("sin", "cos"):
        yield of("cos" if node.op == "sin" else "sin", minus(over(PI, TWO), node.args[0]))
        if node.op == "cos" and domain.is_acute(node.args[0]):
            yield of("sqrt", minus(ONE, square(of("sin", node.args[0]))))


def angle_sum(node: Expr, domain: Domain) -> Iterator[Expr]:
    if node.op in ("sin", "cos") and node.args[0].op in ("add", "sub") and len(node.args[0].args) == 2:
        a, b = node.args[0].args
        one, other = ("sin", "cos") if node.op == "sin" else ("cos", "sin")
        first = product(of(one, a), of("cos", b))
        second = product(of(other, a), of("sin", b))
        same = (node.args[0].op == "add") == (node.op == "sin")
        yield plus(first, second) if same else minus(first, second)


def hyperbolic(node: Expr, domain: Domain) -> Iterator[Expr]:
    if node.op == "exp":
        yield plus(of("cosh", node.args[0]), of("sinh", node.args[0]))
    elif node.op in ("sinh", "cosh"):
        both = (of("exp", node.args[0]), of("exp", negated(node.args[0])))
        yield over(Expr("sub" if node.op == "sinh" else "add", both), TWO)
    elif node.op == "tanh":
        double = of("exp", product(TWO, node.args[0]))
        yield over(minus(double, ONE), plus(double, ONE))
        yield over(of("sinh", node.args[0]), of("cosh", node.args[0]))


def exponentials(node: Expr, domain: Domain) -> Iterator[Expr]:
    if node.op == "exp":
        yield over(ONE, of("exp", negated(node.args[0])))
        yield square(of("exp", over(node.args[0], TWO)))
        if node.args[0].op in ("add", "sub"):
            parts = tuple(of("exp", arg) for arg in node.args[0].args)
            yield product(*parts) if node.args[0].op == "add" else over(*parts)
    elif node.op == "pow" and node.args[1].op in ("add", "sub") and domain.is_positive(node.args[0]):
        parts = tuple(Expr("pow", (node.args[0], arg)) for arg in node.args[1].args)
        yield product(*parts) if node.args[1].op == "add" else over(*parts)


def logarithms(node: Expr, domain: Domain) -> Iterator[Expr]:
    if node.op not in ("ln", "log10"):
        return
    inner = node.args[0]
    if node.op == "log10":
        yield over(of("ln", inner), of("ln", TEN))
    yield product(TWO, of(node.op, of("sqrt", inner)))
    yield negated(of(node.op, over(ONE, inner)))
    if inner.op in ("mul", "div") and all(domain.is_positive(arg) for arg in inner.args):
        yield Expr("add" if inner.op == "mul" else "sub", tuple(of(node.op, arg) for arg in inner.args))
    elif inner.op == "pow" and domain.is_positive(inner.args[0]):
        yield product(inner.args[1], of(node.op, inner.args[0]))


def decimals(node: Expr, domain: Domain) -> Iterator[Expr]:
    """A fraction of numbers as a decimal of at most three figures: `1/2` as 0.5."""
    values = [arg.value for arg in node.args if arg.op == "num" and arg.value is not None]
    if node.op == "div" and len(values) == 2 and values[1] and (values[0] / values[1] * 1000).denominator == 1:
        yield number(values[0] / values[1], written=f"{float(values[0] / values[1]):.3f}".rstrip("0").rstrip("."))


def constants(node: Expr, domain: Domain) -> Iterator[Expr]:
    """A constant of nature by its definition, where the problem leaves the letter free."""
    if node.op == "sym" and node.name in CONSTANTS and node.name not in domain.kinds:
        new = CONSTANTS[node.name]
        if not symbols(new) & domain.names:
            yield new


IDENTITIES: dict[str, Identity] = {
    identity.__name__: identity
    for identity in (
        reordered, multiplied_out, common_denominator, fraction_split, factored, difference_of_squares, power_spelt,
        root_split, twice_inverted, cancelled, double_angle, pythagoras, angle_sum, hyperbolic, exponentials,
        logarithms, decimals,
    )
}  # fmt: skip


# Both sides -----------------------------------------------------------------------------------------------------------


def equation(left: Expr, right: Expr) -> Formula:
    return formula((left, right), ("=",))


def sides(f: Formula, domain: Domain) -> Iterator[tuple[str, Formula]]:
    """Both sides changed alike, in ways that add no zeros and lose none."""
    left, right = f.members
    seven = number(7)
    yield "swapped", equation(right, left)
    yield "moved", equation(minus(left, right), ZERO)
    yield "multiplied", equation(product(seven, left), product(right, seven))
    for position, side in enumerate(f.members):
        if side.op in ("add", "sub"):
            other = f.members[1 - position]
            last = side.args[-1] if side.op == "add" else negated(side.args[-1])
            yield "term_moved", equation(minus(other, last), without(side.args, len(side.args) - 1, "add"))
        if side.op == "div" and any(domain.is_positive(arg) for arg in side.args):  # else 0/0 would hold as well
            yield "crossed", equation(product(f.members[1 - position], side.args[1]), side.args[0])
    if any(side.op == "num" for side in f.members):
        return  # dividing by a side that may be 0 changes the meaning
    yield "ratio", equation(over(left, right), ONE)
    yield "added", equation(plus(left, right), product(TWO, right))
    yield "inverted", equation(over(ONE, left), over(ONE, right))
    yield "cubed", equation(power(left, 3), power(right, 3))
    yield "exponentiated", equation(of("exp", over(left, right)), Expr("const", name="e"))
    name = min(symbols(left, right))
    if domain.is_positive(symbol(name)):
        yield "multiplied_by_symbol", equation(product(left, symbol(name)), product(symbol(name), right))
    if all(domain.is_positive(side) for side in f.members):
        yield "squared", equation(square(left), square(right))
        yield "rooted", equation(of("sqrt", left), of("sqrt", right))
        yield "logs", equation(of("ln", left), of("ln", right))
        yield "normalized", equation(over(minus(left, right), plus(left, right)), ZERO)


INVERSES = {
    "exp": "ln", "ln": "exp", "sinh": "asinh", "asinh": "sinh", "tanh": "atanh", "atanh": "tanh", "asin": "sin",
    "acos": "cos", "atan": "tan", "acosh": "cosh",
}  # fmt: skip


def solved(f: Formula, domain: Domain) -> Iterator[tuple[str, Formula]]:
    """Solved for each symbol that occurs once, by taking the inverse of one operation after the other."""
    for name in sorted(symbols(*f.members)):
        where = [side for side in f.members for node in walk(side) if node == symbol(name)]
        if len(where) == 1:
            other = f.members[1] if where[0] is f.members[0] else f.members[0]
            result = _peeled(where[0], other, name, domain)
            if result is not None and where[0] != symbol(name):
                yield "solved", equation(symbol(name), result)


def _peeled(node: Expr, other: Expr, name: str, domain: Domain) -> Expr | None:
    """What the symbol is, given that `node`, which holds it once, equals `other`; None where it is not so simple."""
    while node.op != "sym":
        if other == ZERO and node.op in ("mul", "div"):
            return None
        at = next(position for position, arg in enumerate(node.args) if name in symbols(arg))
        inner = node.args[at]
        undone = _undone(node, at, other, domain)
        if undone is None:
            return None
        node, other = inner, undone
    return other


def _undone(node: Expr, at: int, other: Expr, domain: Domain) -> Expr | None:
    """What operand `at` of a node is, given that the node equals `other`."""
    inner = node.args[at]
    if node.op == "add":
        return minus(other, without(node.args, at, "add"))
    if node.op == "mul":
        return over(other, without(node.args, at, "mul"))
    if node.op == "sub":
        return plus(other, node.args[1]) if at == 0 else minus(node.args[0], other)
    if node.op == "div":
        return product(other, node.args[1]) if at == 0 else over(node.args[0], other)
    if node.op == "neg":
        return negated(other)
    if node.op in ("sqrt", "root", "abs"):  # what they give is not negative
        if at or not domain.is_positive(other) or (node.op == "abs" and not domain.is_positive(inner)):
            return None
        return square(other) if node.op == "sqrt" else other if node.op == "abs" else Expr("pow", (other, node.args[1]))
    if node.op == "pow" and domain.is_positive(node.args[0]):
        if at == 1:
            return over(of("ln", other), of("ln", node.args[0]))
        value = node.args[1].value
        if value == 2:
            return of("sqrt", other)
        if value and (1 / value).denominator == 1 and not (1 / value) % 2 and not domain.is_positive(other):
            return None
        return Expr("pow", (other, number(1 / value) if value else over(ONE, node.args[1])))
    if node.op == "log10":
        return Expr("pow", (TEN, other))
    if node.op in ("sin", "cos", "tan") and domain.is_acute(inner):
        return of(f"a{node.op}", other)
    if node.op == "cosh" and domain.is_positive(inner):
        return of("acosh", other)
    if node.op in ("asin", "acos", "atan") and not (domain.is_acute(other) or other.op == "sym"):
        return None
    if node.op == "acosh" and not domain.is_positive(other):
        return None
    return of(INVERSES[node.op], other) if node.op in INVERSES else None


# A symbol that occurs more than once: the equation as a polynomial in it, if that is of low degree. -------------------

Polynomial = tuple[tuple[Expr, ...], ...]  # terms of the coefficient of each power, lowest first


def _multiplied(p: Polynomial, q: Polynomial) -> Polynomial | None:
    result: list[tuple[Expr, ...]] = [()] * (len(p) + len(q) - 1)
    for i, coefficients in enumerate(p):
        for j, others in enumerate(q):
            result[i + j] += tuple(
                b if a == ONE else a if b == ONE else product(a, b) for a in coefficients for b in others
            )
    fits = len(result) <= MAX_DEGREE + 1 and all(len(terms) <= MAX_TERMS for terms in result)
    return tuple(result) if fits else None


def _summed(p: Polynomial, q: Polynomial, *, less: bool) -> Polynomial:
    size = max(len(p), len(q))
    one, other = p + ((),) * (size - len(p)), q + ((),) * (size - len(q))
    return tuple(a + (tuple(negated(term) for term in b) if less else b) for a, b in zip(one, other, strict=True))


def _fraction(node: Expr, name: str) -> tuple[Polynomial, Polynomial] | None:
    """An expression as numerator and denominator in one symbol."""
    constant: Polynomial = ((ONE,),)
    if name not in symbols(node):
        return ((node,) if node != ZERO else (),), constant
    if node.op == "sym":
        return ((), (ONE,)), constant
    if node.op == "pow" and node.args[1].value == 2:
        return _fraction(product(node.args[0], node.args[0]), name)
    parts = [_fraction(arg, name) for arg in node.args]
    if node.op not in ("add", "sub", "neg", "mul", "div") or any(part is None for part in parts):
        return None
    fractions = [part for part in parts if part is not None]
    upper, lower = fractions[0]
    if node.op == "neg":
        return tuple(tuple(negated(term) for term in terms) for terms in upper), lower
    for over_, under in fractions[1:]:
        if node.op in ("mul", "div"):
            first, second = (over_, under) if node.op == "mul" else (under, over_)
            tops = [_multiplied(upper, first)]
            bottom = _multiplied(lower, second)
        else:
            tops = [_multiplied(upper, under), _multiplied(over_, lower)]
            bottom = _multiplied(lower, under)
        if bottom is None or any(top is None for top in tops):
            return None
        known = [top for top in tops if top is not None]
        upper = known[0] if len(known) == 1 else _summed(known[0], known[1], less=node.op == "sub")
        lower = bottom
    return upper, lower


def solved_twice(f: Formula, domain: Domain) -> Iterator[tuple[str, Formula]]:
    """Solved for each symbol that occurs more than once and to the first or second power.

    Of a quadratic only where the signs of its coefficients leave one positive root.
    """
    for name in sorted(symbols(*f.members)):
        if sum(node == symbol(name) for member in f.members for node in walk(member)) < 2:
            continue
        fraction = _fraction(minus(*f.members), name)
        if fraction is None or not fraction[0][0] or not fraction[0][-1]:
            continue
        sums = [plus(*terms) if len(terms) > 1 else terms[0] if terms else ZERO for terms in fraction[0]]
        if len(sums) == 2:
            yield "solved_twice", equation(symbol(name), negated(over(sums[0], sums[1])))
        elif len(sums) == 3 and domain.kinds.get(name, "positive") == "positive":
            c, b, a = sums
            if _sign(a, domain) * _sign(c, domain) < 0:
                root = of("sqrt", minus(square(b), product(number(4), a, c)))
                upper = plus(negated(b), root) if _sign(a, domain) > 0 else minus(negated(b), root)
                yield "solved_twice", equation(symbol(name), over(upper, product(TWO, a)))


def _sign(node: Expr, domain: Domain) -> int:
    """1 or -1 if the form shows the sign, else 0."""
    if node.op == "add":
        signs = {_sign(arg, domain) for arg in node.args}
        return signs.pop() if len(signs) == 1 else 0
    if node.op == "neg":
        return -_sign(node.args[0], domain)
    if node.op in ("mul", "div"):
        total = 1
        for arg in node.args:
            total *= _sign(arg, domain)
        return total
    return int(domain.is_positive(node))


# Choosing -------------------------------------------------------------------------------------------------------------


def changed(f: Formula, identity: Identity, domain: Domain, rng: random.Random) -> list[Formula]:
    """The formula with one identity used at one place, for each place and variant, in random order."""
    if identity is twice_inverted and ZERO in f.members:
        return []  # 1/(1/u) is not defined where u = 0
    found: list[tuple[int, Path, Expr]] = [
        (side, path, new) for side in (0, 1) for path, node in places(f.members[side]) for new in identity(node, domain)
    ]
    rng.shuffle(found)
    results = []
    for side, path, new in found:
        members = list(f.members)
        members[side] = put(members[side], path, new)
        results.append(formula((members[0], members[1]), f.relations))
    return results


def rewrites(f: Formula, kinds: Mapping[str, str], rng: random.Random) -> Iterator[tuple[str, Formula]]:
    """The same equation in other words, with the kind of rewriting."""
    domain = Domain(kinds, angles(f), symbols(*f.members))
    yield from sides(f, domain)
    yield from solved(f, domain)
    yield from solved_twice(f, domain)
    yield from (("constants", result) for result in changed(f, constants, domain, rng)[:1])
    for kind, identity in IDENTITIES.items():
        for result in changed(f, identity, domain, rng)[:PLACES]:
            yield kind, result
    yield from (("combined", combined(f, domain, rng)) for _ in range(COMBINED))


def combined(f: Formula, domain: Domain, rng: random.Random) -> Formula:
    """Several identities, one after the other, then both sides changed or the equation solved."""
    current = f
    for identity in rng.sample(list(IDENTITIES.values()), len(IDENTITIES))[: 2 * CHAINED]:
        options = changed(current, identity, domain, rng)
        if options and sum(1 for member in options[0].members for _ in walk(member)) < MAX_NODES:
            current = options[0]
    return rng.choice([*sides(current, domain), *solved(current, domain)])[1]


def disguised(f: Formula, kinds: Mapping[str, str], rng: random.Random) -> Formula:
    """Both sides changed alike, or the equation solved: so that a fault need not stand where it was made."""
    domain = Domain(kinds, angles(f), symbols(*f.members))
    return rng.choice([*sides(f, domain), *solved(f, domain)])[1]
