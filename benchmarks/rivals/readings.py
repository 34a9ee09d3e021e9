r"""What a reader made of a formula, in one shape for all readers, and its value at a point.

A term is a tuple: `("num", value)`, `("sym", key)`, or `(operator, *terms)`. Constructs that no two readers evaluate
alike (derivatives, integrals, applications, matrices, ...) have as value a smooth, otherwise arbitrary function of the
values of their parts: two of them agree at random points exactly where kind and parts agree, so that what stands
under an integral is compared by value too.
"""

from __future__ import annotations

import cmath
import math
import random
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from prism.algebra.expr import Expr, Formula

Term = tuple[Any, ...]
Point = Mapping[str, complex]

_TOLERANCE = 1e-7  # of values computed in double precision, in another order of operations
_HUGE = 1e100
_MAX_DEPTH = 200
_EQUAL = ("=", "approx", "equiv")


@dataclass(frozen=True, slots=True)
class Claim:
    """One relation between neighbours of a formula; a bare expression has the relation `value` and no right side."""

    relation: str
    left: Term
    right: Term = ("num", 0.0)


@dataclass(frozen=True, slots=True)
class Reading:
    """A formula as one reader read it."""

    claims: tuple[Claim, ...]

    def mapped(self, change: Callable[[Term], Term]) -> Reading:
        """The same with each node changed, operands first."""
        return Reading(
            tuple(Claim(c.relation, rewritten(c.left, change), rewritten(c.right, change)) for c in self.claims)
        )


def rewritten(term: Term, change: Callable[[Term], Term]) -> Term:
    """A term with each node changed, operands first."""
    return change((term[0], *(rewritten(part, change) if isinstance(part, tuple) else part for part in term[1:])))


def nodes(term: Term) -> list[Term]:
    """All nodes of a term."""
    found = [term]
    for part in term[1:]:
        if isinstance(part, tuple):
            found += nodes(part)
    return found


def symbols(reading: Reading) -> frozenset[str]:
    """Keys of all symbols."""
    sides = [side for claim in reading.claims for side in (claim.left, claim.right)]
    return frozenset(node[1] for side in sides for node in nodes(side) if node[0] == "sym")


# Names ------------------------------------------------------------------------------------------------------

_FONTS = re.compile(r"\\(?:text|mathrm|rm|mathit|operatorname|mbox|textrm|hbox|mathsf|textit)(?![a-z])\*?")
_VARIANTS = re.compile(r"var(epsilon|phi|theta|rho|sigma|pi|kappa)")
_JUNK = str.maketrans("", "", "\\{} ~,")
_GREEK = re.compile("[α-ω]")
_BOLD = re.compile(r"\\(?:mathbf|boldsymbol|bm)(?![a-z])")


@lru_cache(maxsize=65536)
def key(name: str) -> str:
    r"""One key for the spellings of a symbol: without braces, blanks and fonts; primes last.

    >>> key(r"v_{\text{max}}"), key("v_max"), key("x'_1"), key("vec{v}_0")
    ('v_max', 'v_max', "x_1'", 'vecv_0')
    """
    name = _GREEK.sub(lambda letter: unicodedata.name(letter[0]).rpartition(" ")[2].lower(), name)
    bare = _VARIANTS.sub(r"\1", _BOLD.sub("vec", _FONTS.sub("", name.strip()))).translate(_JUNK).rstrip(".")
    primes = bare.count("'") + bare.count("prime")
    return bare.replace("'", "").replace("^prime", "").replace("prime", "") + "'" * primes


# Ours -------------------------------------------------------------------------------------------------------

_UNITS: dict[str, Term] = {  # as the rivals, which know no units, see what was written
    "%": ("num", 0.01), "deg": ("degree",), "angstrom": ("sym", "Å"), "ohm": ("sym", "Omega"),
    "um": ("mul", ("sym", "mu"), ("sym", "m")), "uF": ("mul", ("sym", "mu"), ("sym", "F")),
    "us": ("mul", ("sym", "mu"), ("sym", "s")), "uC": ("mul", ("sym", "mu"), ("sym", "C")),
    "degC": ("mul", ("degree",), ("sym", "C")),
}  # fmt: skip
_SAME = frozenset(
    "add mul neg div pow root sqrt abs exp ln log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh".split()
)


def ours(formula: Formula) -> Reading:
    """PRISM's reading; of several formulas written as one, the claims of all."""
    if formula.parts:
        return Reading(tuple(claim for part in formula.parts for claim in ours(part).claims))
    members = [_with_both_signs(_ours(member)) for member in formula.members]
    if not formula.relations:
        return Reading((Claim("value", members[0]),))
    pairs = zip(formula.relations, members, members[1:], strict=False)
    return Reading(tuple(Claim("=" if rel in _EQUAL else rel, left, right) for rel, left, right in pairs))


def _ours(node: Expr) -> Term:
    op, name = node.op, node.name
    if op == "num":
        assert node.value is not None
        return ("num", _number(node.value))
    if op == "const":
        return ("num", math.e if name == "e" else math.pi)
    if op == "sym":
        return _named(name)
    if op == "unit":
        return _UNITS.get(name, ("sym", key(name)))
    args = tuple(_ours(arg) for arg in node.args)
    if op in _SAME:
        return (op, *args)
    return _our_construct(op, name, args)


def _our_construct(op: str, name: str, args: tuple[Term, ...]) -> Term:
    """Operators whose operands mean something by their place."""
    if op == "sub":
        return ("add", args[0], ("neg", args[1]))
    if op == "differential":
        return ("sym", f"d{args[0][1]}") if args[0][0] == "sym" else ("differential", *args)
    if op in ("derivative", "partial"):
        return derivative(args[0], name, args[1:])
    if op == "apply" and name == "det" and args[0][0] == "matrix" and _is_square(args[0]):
        return ("determinant", *args[0][1:])
    if op == "apply":
        return ("apply", ("sym", key(name)), *args)
    if op == "pm":
        return ("pm", *(args if name == "±" else (*args[:-1], ("neg", args[-1]))))
    if op == "at" and name == "point" and args[1][0] == "sym":
        return rewritten(args[0], lambda term: args[2] if term == args[1] else term)
    if op == "matrix":
        return ("matrix", *(cell for row in args for cell in (row[1:] if row[0] == "row" else (row,))))
    if op == "list":
        return ("set", *args)
    if op in ("nabla", "bracket", "opaque"):
        return (f"{op} {name}", *args)
    return (op, *args)


def _is_square(matrix: Term) -> bool:
    return len(matrix) - 1 in (1, 4, 9, 16)


def derivative(body: Term, order: str, variables: Sequence[Term]) -> Term:
    """A derivative, whatever its notation; variables in any order, each once."""
    return ("derivative", body, ("num", _number_or_zero(order)), *sorted(set(variables), key=repr))


def _named(name: str) -> Term:
    """A symbol; a dot on it is a derivative by the time, whoever wrote it."""
    bare = key(name)
    for dots, order in (("dddot", "3"), ("ddot", "2"), ("dot", "1")):
        if bare.startswith(dots) and len(bare) > len(dots):
            return derivative(("sym", bare.removeprefix(dots)), order, (("sym", "t"),))
    return ("sym", bare)


def _with_both_signs(term: Term) -> Term:
    """A member with plus-minus as the set of its two values: all its signs are the upper ones, or all the lower."""
    if not any(node[0] == "pm" for node in nodes(term)):
        return term
    upper = rewritten(term, lambda node: ("add", *node[1:]) if node[0] == "pm" else node)
    lower = rewritten(term, lambda node: ("add", *node[1:-1], ("neg", node[-1])) if node[0] == "pm" else node)
    return ("set", upper, lower)


def _number(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _number_or_zero(text: str) -> float:
    return float(text) if text.isdigit() else 0.0 if not text else float(sum(map(ord, text)))


# Theirs: the trees of latex_reader.py --------------------------------------------------------------------------

_RELATIONS = {
    "Equality": "=", "StrictLessThan": "<", "LessThan": "<=", "StrictGreaterThan": ">", "GreaterThan": ">=",
    "Unequality": "!=",
}  # fmt: skip
_OPERATORS = {
    "Add": "add", "Mul": "mul", "Pow": "pow", "MatAdd": "add", "MatMul": "mul", "MatPow": "pow", "Abs": "abs",
    "exp": "exp", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh",
    "factorial": "factorial", "sec": "sec", "csc": "csc", "cot": "cot",
}  # fmt: skip
_CONSTANTS: dict[str, Term] = {
    "Pi": ("num", math.pi), "Exp1": ("num", math.e), "ImaginaryUnit": ("const i",), "Infinity": ("infinity",),
    "NegativeInfinity": ("neg", ("infinity",)), "EulerGamma": ("const gamma",), "GoldenRatio": ("const golden",),
}  # fmt: skip
_UNIT_TEXT = re.compile(r"[A-Za-zµμΩÅ°%]+(?:\^?-?\d)?(?:[/·][A-Za-zµμΩÅ°%]+(?:\^?-?\d)?)*")


class UnreadableError(ValueError):
    """A tree that is no formula: nothing at all, or text that the rival did not turn into an object."""


def theirs(tree: Sequence[Any]) -> Reading:
    """A rival's reading.

    Errors:
        UnreadableError: the rival returned no formula.
    """
    return Reading(tuple(_claims(tree)))


def _claims(tree: Sequence[Any]) -> list[Claim]:
    head = tree[0]
    if head in _RELATIONS:
        left = _chain(tree[1])
        claims = left[:-1] if len(left) > 1 else []
        if left[-1].relation != "value":
            claims = left
            last = left[-1].right
        else:
            last = left[0].left
        return [*claims, Claim(_RELATIONS[head], last, _theirs(tree[2]))]
    if head in ("And", "List", "FiniteSet", "Or") and any(item[0] in _RELATIONS for item in tree[1:]):
        return [claim for item in tree[1:] for claim in _claims(item)]
    return [Claim("value", _theirs(tree))]


def _chain(tree: Sequence[Any]) -> list[Claim]:
    """The left side of a relation: a relation again where a chain was nested."""
    return _claims(tree) if tree[0] in _RELATIONS else [Claim("value", _theirs(tree))]


def _theirs(tree: Sequence[Any]) -> Term:
    head, rest = tree[0], tree[1:]
    if head == "Rational":
        return ("num", _number(Fraction(rest[0])))
    if head == "Float":
        return ("num", float(rest[0]))
    if head == "Symbol":
        return _their_symbol(rest[0])
    if head == "Other":
        raise UnreadableError(rest[0])
    if head in _CONSTANTS:
        return _CONSTANTS[head]
    if head == "Apply":
        return ("apply", _named(rest[0]), *map(_theirs, rest[1:]))
    if head == "Matrix":
        return ("matrix", *map(_theirs, rest[1:]))
    args = tuple(_theirs(item) for item in rest)
    if head in _OPERATORS:
        return (_OPERATORS[head], *args)
    return _their_construct(head, args)


def _their_construct(head: str, args: tuple[Term, ...]) -> Term:
    if head == "UnevaluatedExpr":
        return args[0]
    if head == "log":
        return ("ln", args[0]) if len(args) == 1 or args[1] == ("num", math.e) else (
            "div", ("ln", args[0]), ("ln", args[1]))  # fmt: skip
    if head == "Derivative":
        by = args[1:]
        order = sum(int(item[2][1].real) if item[0] == "tuple" and item[2][0] == "num" else 1 for item in by)
        return derivative(args[0], str(order), [item[1] if item[0] == "tuple" else item for item in by])
    if head in ("Integral", "Sum", "Product"):
        term = args[0]
        for limits in args[1:]:
            term = (head.lower(), term, *(limits[1:] if limits[0] == "tuple" else (limits,)))
        return term
    if head == "Limit":
        return ("limit", *args[:3])
    if head == "binomial":
        return ("binomial", *args)
    if head in ("FiniteSet", "List"):
        return ("set", *args)
    if head in ("Interval", "Tuple"):
        return (head.lower(), *(args[:2] if head == "Interval" else args))
    return (head, *args)


def _their_symbol(name: str) -> Term:
    r"""A symbol; the text of a unit such as `\text{ m/s^2}` becomes the product that it writes."""
    bare = _FONTS.sub("", name).strip().strip("{}").replace("~", " ").replace(r"\,", " ").strip()
    if ("/" in bare or "·" in bare) and _UNIT_TEXT.fullmatch(bare):
        return _unit_product(bare)
    return _named(name)


def _unit_product(text: str) -> Term:
    parts: list[Term] = []
    for sign, word, power in re.findall(r"(^|[/·])([A-Za-zµμΩÅ°%]+)(?:\^?(-?\d))?", text):
        factor: Term = ("pow", ("sym", word), ("num", float(power))) if power else ("sym", word)
        parts.append(("div", ("num", 1.0), factor) if sign == "/" else factor)
    return ("mul", *parts)


# Values -----------------------------------------------------------------------------------------------------


def _root(base: complex, degree: complex) -> complex:
    return base ** (1 / degree)


def _inverse_power(base: complex, exponent: complex) -> complex:
    whole = exponent.real if isinstance(exponent, complex) and exponent.imag == 0 else exponent
    return base ** (int(whole.real) if whole == int(whole.real) and abs(whole) < 1e6 else whole)


_FUNCTIONS: dict[str, Callable[..., complex]] = {
    "neg": lambda a: 0 - a, "div": lambda a, b: a / b, "pow": _inverse_power, "root": _root, "sqrt": cmath.sqrt,
    "abs": abs, "exp": cmath.exp, "ln": cmath.log, "log10": cmath.log10, "sin": cmath.sin, "cos": cmath.cos,
    "tan": cmath.tan, "asin": cmath.asin, "acos": cmath.acos, "atan": cmath.atan, "sinh": cmath.sinh,
    "cosh": cmath.cosh, "tanh": cmath.tanh, "asinh": cmath.asinh, "acosh": cmath.acosh, "atanh": cmath.atanh,
    "sec": lambda a: 1 / cmath.cos(a), "csc": lambda a: 1 / cmath.sin(a), "cot": lambda a: 1 / cmath.tan(a),
    "add": lambda *a: sum(a), "mul": lambda *a: math.prod(a), "degree": lambda: math.pi / 180, "const i": lambda: 1j,
    "const gamma": lambda: 0.5772156649015329, "const golden": lambda: 1.618033988749895,
}  # fmt: skip


def value(term: Term, point: Point) -> complex:
    """Value of a term.

    Errors:
        ArithmeticError, ValueError: undefined there, or beyond the range of floating point.
    """
    head = term[0]
    if head == "num":
        return complex(term[1])
    if head == "sym":
        return point[term[1]]
    args = [value(part, point) for part in term[1:]]
    if head in _FUNCTIONS:
        result = complex(_FUNCTIONS[head](*args))
    elif head == "factorial" and len(args) == 1 and args[0].imag == 0 and args[0].real in range(50):
        result = complex(math.factorial(int(args[0].real)))
    elif head == "binomial" and all(arg.imag == 0 and arg.real in range(50) for arg in args):
        result = complex(math.comb(*(int(arg.real) for arg in args)))
    elif head == "determinant":
        result = _determinant(args, round(len(args) ** 0.5))
    elif head == "set":  # has no order
        result = arbitrary("set", [sum(args), sum(arg * arg for arg in args), math.prod(args)])
    else:
        result = arbitrary(head, args)
    if not abs(result) < _HUGE:
        raise OverflowError(head)
    return result


def _determinant(cells: Sequence[complex], size: int) -> complex:
    """Along the first row; the cells row by row."""
    if size == 1:
        return cells[0]
    total = 0j
    for column in range(size):
        rest = [cell for place, cell in enumerate(cells[size:]) if place % size != column]
        total += (-1) ** column * cells[column] * _determinant(rest, size - 1)
    return total


@lru_cache(maxsize=4096)
def _coefficients(kind: str, n_part: int) -> tuple[tuple[float, float, float], ...]:
    draw = random.Random(f"{kind} {n_part}")
    return tuple((draw.uniform(0.5, 2), draw.uniform(0.5, 2), draw.uniform(0, 6)) for _ in range(n_part + 1))


def arbitrary(kind: str, parts: Sequence[complex]) -> complex:
    """A smooth function of the parts that means nothing, but tells kinds and values apart."""
    rows = _coefficients(kind, len(parts))
    total = complex(rows[0][0])
    for (scale, rate, shift), part in zip(rows[1:], parts, strict=True):
        total += scale * cmath.sin(rate * cmath.asinh(part) + shift)
    return total


def points(keys: frozenset[str], count: int) -> list[dict[str, complex]]:
    """Random points off the real axis, where no branch cut lies; the value of a key does not depend on the others."""
    return [{name: _coordinate(name, number) for name in keys} for number in range(count)]


@lru_cache(maxsize=65536)
def _coordinate(name: str, number: int) -> complex:
    draw = random.Random(f"{name} {number}")
    size = 1.0 if number % 2 == 0 else 0.4
    return complex(size * draw.uniform(0.5, 1.9), size * draw.uniform(-0.6, 0.6))


def agree(a: complex, b: complex) -> bool:
    """Whether two values are the same but for rounding."""
    return abs(a - b) <= _TOLERANCE * max(abs(a), abs(b), 1e-60)
