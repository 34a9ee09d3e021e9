r"""Ranges of sums and products as limits of one index, whatever way they are written.

`\sum_{\substack{j=1\\j\ne i}}^N`, `\sum_{1\le i<j\le N}`, `\sum_{s=\pm1}`, `\sum_{n\,odd}`, `\sum_{n=1,3,5,\ldots}`,
`\sum_{n=-\infty}^\infty`. A range that is not understood stays what it is, and has no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

from prism.algebra.expr import Expr, Formula, number, substitute, symbol, symbols, walk, with_args
from prism.algebra.symbols import symbol_of
from prism.equivalence.interpretation.names import harmonic_indices, is_harmonic_of_letters, letters_of, renamed

_SUMS = ("sum", "product")
_ZERO, _ONE, _INFINITY = number(0), number(1), Expr("infinity")
_BLANK = "blank"
_LETTER = r"\\?[A-Za-z]+(?:_\w|_\{\w+\})?"
_START = re.compile(rf"(?P<letters>{_LETTER}(?:,{_LETTER})*)=(?P<start>-?\d+)$")
_VALUES = re.compile(
    rf"(?P<letter>{_LETTER})(?:=|\\in\\\{{)(?P<values>-?\d+(?:,-?\d+)+)(?P<dots>,?(?:\\[lc]?dots|\.\.\.))?(?:\\\}})?$"
)
_AT_LEAST = re.compile(rf"(?P<letter>{_LETTER})(?P<sign>\\geq?|>)(?P<start>-?\d+)$")
_BETWEEN = re.compile(rf"(?P<low>\d+)\\leq?(?P<inner>{_LETTER}(?:(?:<|\\leq?|,){_LETTER})*)\\leq?(?P<high>{_LETTER})$")
_PAIR = re.compile(r"[A-Za-z](?:<|>|\\neq?|,)[A-Za-z]$")
_ODD = re.compile(rf"(?P<letter>{_LETTER})(?:\\in)?(?P<parity>odd|even)$")
_COUNTERS = ("n", "k", "j", "l", "p", "q")


def upper_limit(formulas: Iterable[Formula]) -> Expr | None:
    """Return the one letter up to which the sums of some formulas go; None without one, or with several."""
    found = {
        node.args[3] for f in formulas for member in f.members for node in walk(member)
        if node.op in _SUMS and len(node.args) == 4 and node.args[3].op == "sym"
    }  # fmt: skip
    return found.pop() if len(found) == 1 else None


def with_ranges(node: Expr, upper: Expr | None) -> Expr:
    """Return an expression in which each sum and product has an index and limits.

    Args:
        node: an expression.
        upper: of sums without limits; see `upper_limit`.
    """
    args = tuple(with_ranges(arg, upper) for arg in node.args)
    node = with_args(node, args)
    if node.op not in _SUMS or len(node.args) < 2:
        return node
    body, index, *limits = node.args
    if len(limits) == 1 and limits[0].op == "pm" and index.op == "sym" and (size := limits[0].args[-1:]):
        return _over(node.op, body, index, [size[0], Expr("neg", size)])
    low, high = limits if len(limits) == 2 else (Expr(_BLANK), None)
    if index.op == "mul" and all(arg.op == "sym" for arg in index.args):
        index = symbol("".join(arg.name for arg in index.args))
    if index.op != "sym":
        return node
    if low.op != _BLANK and high is not None:
        return _with_limits(node.op, body, index, low, high)
    if index.name == "m" and not limits and (degree := _degree_of_harmonics(body)) is not None:
        return Expr(node.op, (body, index, Expr("neg", (degree,)), degree))
    found = _written(node.op, body, index.name.replace(" ", ""), high, upper)
    return node if found is None else found


def _degree_of_harmonics(body: Expr) -> Expr | None:
    """Return l if an expression has spherical harmonics of this degree and of order m; None without one."""
    found = {name for name in symbols(body) if is_harmonic_of_letters(name)}
    found |= {part.name for part in walk(body) if part.op == "apply" and is_harmonic_of_letters(part.name)}
    indices = {harmonic_indices(name) for name in found}
    degrees = {each[0] for each in indices if each is not None}
    return symbol(degrees.pop()) if len(degrees) == 1 else None


def _over(op: str, body: Expr, index: Expr, values: Sequence[Expr]) -> Expr:
    """Return the sum or product over listed values of an index."""
    return Expr("add" if op == "sum" else "mul", tuple(renamed(body, index.name, value) for value in values))


def _with_limits(op: str, body: Expr, index: Expr, low: Expr, high: Expr) -> Expr:
    """Return a sum with limits over an index of one letter; one over all whole numbers as two."""
    read = symbol_of(index.name)
    if not read.is_light or read.base != index.name:
        letter = _fresh(body, low, high)
        if letter is None or index not in walk(body):
            return Expr(op, (body, index, low, high))
        body, index = substitute(body, {index: letter}), letter
    if low == Expr("neg", (_INFINITY,)) and high == _INFINITY and op == "sum" and not _is_subscript(body, index.name):
        other = substitute(body, {index: Expr("neg", (index,))})
        return Expr("add", (Expr(op, (body, index, _ZERO, _INFINITY)), Expr(op, (other, index, _ONE, _INFINITY))))
    return Expr(op, (body, index, low, high))


def _fresh(*nodes: Expr) -> Expr | None:
    """Return a letter that stands nowhere in some expressions."""
    names = symbols(*nodes)
    used = names | {letter for name in names for letter in letters_of(name)}
    return next((symbol(letter) for letter in _COUNTERS if letter not in used), None)


def _is_subscript(body: Expr, letter: str) -> bool:
    """Return True if a letter stands in a subscript."""
    return any(letter in letters_of(name) for name in symbols(body))


def _written(op: str, body: Expr, text: str, high: Expr | None, upper: Expr | None) -> Expr | None:
    """Return a sum whose range is written below the sign; None if that is not understood.

    Args:
        op: `sum` or `product`.
        body: the term.
        text: what stands below the sign.
        high: what stands above, if anything does.
        upper: where a sum without an upper limit ends.
    """
    first, _, more = text.partition("\\\\")
    if not more and (comma := re.match(r"(.+=-?\d+),(\w(?:<|>|\\neq?)\w)$", text)) is not None:
        first, more = comma[1], comma[2]
    if more:
        return _with_condition(op, body, first, more, high or upper)
    if (match := _START.match(text)) is not None and high is not None:
        return _several(op, body, match["letters"].split(","), number(int(match["start"])), high)
    if (match := _VALUES.match(text)) is not None:
        return _listed(op, body, match, high)
    if (match := _AT_LEAST.match(text)) is not None and high is None:
        start = int(match["start"]) + (match["sign"] == ">")
        return _several(op, body, [match["letter"]], number(start), _INFINITY)
    if (match := _BETWEEN.match(text)) is not None and high is None:
        inner = re.sub(r"\\leq?", "<=", match["inner"])
        limits = number(int(match["low"])), symbol(match["high"])
        if "<=" in inner or inner.count("<") > 1:
            return None
        return Expr(op, (body, _relation(inner), *limits))
    if (match := _ODD.match(text)) is not None and (high is None or high == _INFINITY):
        start = 1 if match["parity"] == "odd" else 2
        return _stepped(op, body, match["letter"], start, 2)
    if (_PAIR.match(text) or text.isalpha()) and (high or upper) is not None:
        return Expr(op, (body, _relation(text), _ONE, high or upper))  # type: ignore[arg-type]
    return None


def _relation(text: str) -> Expr:
    """Return the symbol of an index or of two, with a space behind a command."""
    return symbol(re.sub(r"\\neq?", r"\\neq ", text))


def _with_condition(op: str, body: Expr, first: str, condition: str, high: Expr | None) -> Expr | None:
    r"""Return a sum with a condition in a second line, as `j = 1` above `j \ne i`."""
    match = _START.match(first)
    letters = match["letters"].split(",") if match is not None else first.split(",")
    if high is None or not all(letter.isalpha() for letter in letters):
        return None
    start = int(match["start"]) if match is not None else 1
    if (parity := _ODD.match(condition)) is not None:
        is_usual = [parity["letter"]] == letters and high == _INFINITY and start in (0, 1)
        return _stepped(op, body, letters[0], 1 if parity["parity"] == "odd" else 2 * start, 2) if is_usual else None
    if not _PAIR.match(condition) or "," in condition or not set(letters) <= set(re.findall("[A-Za-z]+", condition)):
        return None
    return Expr(op, (body, _relation(condition), number(start), high))


def _several(op: str, body: Expr, letters: list[str], low: Expr, high: Expr) -> Expr:
    """Return a sum over several letters from the same to the same."""
    for letter in letters:
        body = _with_limits(op, body, symbol(letter), low, high)
    return body


def _listed(op: str, body: Expr, match: re.Match[str], high: Expr | None) -> Expr | None:
    """Return a sum over listed values, or over those that begin an endless list."""
    values = [int(value) for value in match["values"].split(",")]
    if match["dots"] is None:
        return None if high is not None else _over(op, body, symbol(match["letter"]), [number(v) for v in values])
    steps = {b - a for a, b in pairwise(values)}
    if len(steps) != 1 or high not in (None, _INFINITY):
        return None
    return _stepped(op, body, match["letter"], values[0], steps.pop())


def _stepped(op: str, body: Expr, letter: str, start: int, step: int) -> Expr | None:
    """Return the infinite sum over values with a step; None if the index is a subscript."""
    if _is_subscript(body, letter) or step < 1:
        return None
    place = Expr("add", (number(start), Expr("mul", (number(Fraction(step)), symbol(letter)))))
    return Expr(op, (substitute(body, {symbol(letter): place}), symbol(letter), _ZERO, _INFINITY))
