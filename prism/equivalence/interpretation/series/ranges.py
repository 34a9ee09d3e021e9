r"""Ranges of sums and products as limits of one index, whatever way they are written.

`\sum_{\substack{j=1\\j\ne i}}^N`, `\sum_{1\le i<j\le N}`, `\sum_{s=\pm1}`, `\sum_{n\,odd}`, `\sum_{n=1,3,5,\ldots}`,
`\sum_{n=-\infty}^\infty`. A range that is not understood stays what it is, and has no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

from prism.algebra.expr import Expr, Formula, formula, number, substitute, symbol, symbols, walk
from prism.algebra.symbols import symbol_of
from prism.algebra.terms import whole_number
from prism.equivalence.interpretation.names import harmonic_indices, is_harmonic_of_letters, letters_of, renamed
from prism.latex.parsing.marks import condition_in

_SUMS = ("sum", "product")
_ZERO, _ONE, _INFINITY = number(0), number(1), Expr("infinity")
_BLANK = "blank"
_PARITIES = {"odd": 1, "even": 2}  # with the first number of a sum
_SIGNS = {(): ",", ("<",): "<", (">",): ">", ("!=",): r"\neq "}
_COUNTERS = ("n", "k", "j", "l", "p", "q")


def upper_limit(formulas: Iterable[Formula]) -> Expr | None:
    """Return the one letter up to which the sums of some formulas go; None without one, or with several."""
    found = {
        node.args[3] for f in formulas for member in f.members for node in walk(member)
        if node.op in _SUMS and len(node.args) == 4 and node.args[3].op == "sym"
    }  # fmt: skip
    return found.pop() if len(found) == 1 else None


def with_range(node: Expr, upper: Expr | None) -> Expr:
    """Return a sum or product with an index and limits; any other node as it is.

    Args:
        node: of an expression.
        upper: of sums without limits; see `upper_limit`.
    """
    if node.op not in _SUMS or len(node.args) < 2:
        return node
    body, index, *limits = node.args
    if len(limits) == 1 and limits[0].op == "pm" and index.op == "sym" and (size := limits[0].args[-1:]):
        return _over(node.op, body, index, [size[0], Expr("neg", size)])
    low, high = limits if len(limits) == 2 else (Expr(_BLANK), None)
    if index.op == "sym" and low.op != _BLANK and high is not None:
        return _with_limits(node.op, body, index, low, high)
    if index.name == "m" and not limits and (degree := _degree_of_harmonics(body)) is not None:
        return Expr(node.op, (body, index, Expr("neg", (degree,)), degree))
    said = condition_in(index) if index.op == "sym" else formula((index,), ())
    return node if said is None else _written(node.op, body, said, high, upper) or node


def _degree_of_harmonics(body: Expr) -> Expr | None:
    """Return l if an expression has spherical harmonics of this degree and of order m; None without one."""
    names = symbols(body) | {part.name for part in walk(body) if part.op == "apply"}
    indices = {harmonic_indices(name) for name in names if is_harmonic_of_letters(name)}
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
    """Return a letter that stands nowhere in some expressions; None if all of the usual index letters are used."""
    names = symbols(*nodes)
    used = names | {letter for name in names for letter in letters_of(name)}
    return next((symbol(letter) for letter in _COUNTERS if letter not in used), None)


def _is_subscript(body: Expr, letter: str) -> bool:
    """Return True if a letter stands in a subscript."""
    return any(letter in letters_of(name) for name in symbols(body))


def _written(op: str, body: Expr, said: Formula, high: Expr | None, upper: Expr | None) -> Expr | None:
    """Return a sum whose range is written below the sign; None if that is not understood.

    Args:
        op: `sum` or `product`.
        body: the term.
        said: what stands below the sign.
        high: what stands above, if anything does.
        upper: where a sum without an upper limit ends.
    """
    parts = said.parts or (said,)
    if any(part.parts for part in parts):
        return None
    sides = [side for part in parts for side in part.members]
    letters, start, value = _letters(sides[0]), whole_number(sides[-1]), sides[-1]
    first, ends = whole_number(sides[0]), (*parts[0].relations[:1], *parts[-1].relations[-1:])
    if ends == ("<=", "<=") and first is not None and len(sides) < 5 and value.op == "sym" and high is None:
        inner = said.members[1:-1] or (Expr("list", tuple(sides[1:-1])),)
        index = _indices(formula(inner, said.relations[1:-1]))
        return None if index is None else Expr(op, (body, index, number(first), value))
    if said.parts:
        return _with_condition(op, body, said.parts, high or upper)
    if letters and start is not None and said.relations == ("=",) and high is not None:
        for letter in letters:
            body = _with_limits(op, body, symbol(letter), number(start), high)
        return body
    if len(letters) == 1 and said.relations in (("=",), ("in",)) and value.op in ("list", "set"):
        return _listed(op, body, sides[0], value.args, high)
    if len(letters) == 1 and start is not None and said.relations in ((">",), (">=",)) and high is None:
        return _with_limits(op, body, sides[0], number(start + (said.relations == (">",))), _INFINITY)
    if (parity := _parity(said)) and high in (None, _INFINITY):
        return _stepped(op, body, _factors(sides[0])[0], _PARITIES[parity], 2)
    index, end = _indices(said), high or upper
    return None if index is None or end is None else Expr(op, (body, index, _ONE, end))


def _factors(node: Expr) -> tuple[Expr, ...]:
    """Return the factors of a product; of anything else, itself."""
    return node.args if node.op == "mul" else (node,)


def _letters(subject: Expr) -> list[str]:
    """Return the names of an index, or of several in a list; nothing for anything else."""
    each = subject.args if subject.op == "list" else (subject,)
    return [part.name for part in each] if all(part.op == "sym" for part in each) else []


def _parity(said: Formula) -> str:
    r"""Return `odd` or `even` behind an index, `n\,odd` and `n \in odd`; empty for anything else."""
    word = "".join(part.name for part in [part for side in said.members for part in _factors(side)][1:])
    return word if said.relations in ((), ("in",)) and word in _PARITIES else ""


def _indices(said: Formula) -> Expr | None:
    r"""Return the symbol of an index, or of two and what stands between: `i<j`, `i\neq j`, `i,j`; None for others."""
    sides = said.members if said.relations else said.members[0].args or said.members
    sign = "" if said.members[0].op == "mul" else _SIGNS.get(said.relations)
    if sign is None or not all(side.op == "sym" and side.name.isalpha() for side in sides):
        return None
    name = sign.join(side.name for side in sides)
    return symbol(name) if not sign or len(sides) == 1 or len(name.replace(sign, "")) == 2 else None


def _with_condition(op: str, body: Expr, parts: tuple[Formula, ...], high: Expr | None) -> Expr | None:
    r"""Return a sum with a condition in a second line, as `j = 1` above `j \ne i`; None for other conditions."""
    first, condition = parts[0], parts[1]
    letters, start = _letters(first.members[0]), whole_number(first.members[-1]) if first.relations else 1
    if high is None or start is None or len(parts) > 2 or first.relations not in ((), ("=",)):
        return None
    if parity := _parity(condition):
        is_usual = len(letters) == 1 and letters[0] in symbols(*condition.members) and high == _INFINITY
        low = 1 if parity == "odd" else 2 * start
        return _stepped(op, body, first.members[0], low, 2) if is_usual and start in (0, 1) else None
    index = _indices(condition) if condition.relations else None
    is_about = set(letters) <= symbols(*condition.members) and all(map(str.isalpha, letters))
    return Expr(op, (body, index, number(start), high)) if index is not None and letters and is_about else None


def _listed(op: str, body: Expr, index: Expr, entries: tuple[Expr, ...], high: Expr | None) -> Expr | None:
    """Return a sum over listed values, or over those that begin an endless list.

    None for fewer than two whole numbers, and for an endless list whose steps differ.
    """
    is_endless = entries[-1].op == "dots"
    written = entries[:-1] if is_endless else entries
    values = [value for value in map(whole_number, written) if value is not None]
    if len(values) < max(len(written), 2):
        return None
    if not is_endless:
        return None if high is not None else _over(op, body, index, written)
    steps = {b - a for a, b in pairwise(values)}
    return _stepped(op, body, index, values[0], steps.pop()) if len(steps) == 1 and high in (None, _INFINITY) else None


def _stepped(op: str, body: Expr, index: Expr, start: int, step: int) -> Expr | None:
    """Return the infinite sum over values with a step; None if the index is a subscript."""
    if index.op != "sym" or _is_subscript(body, index.name) or step < 1:
        return None
    place = Expr("add", (number(start), Expr("mul", (number(Fraction(step)), index))))
    return Expr(op, (substitute(body, {index: place}), index, _ZERO, _INFINITY))
