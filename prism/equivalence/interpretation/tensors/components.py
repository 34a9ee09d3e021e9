r"""Vectors in index notation: `(\vec v\cdot\nabla)\vec v` is `v_k\partial_k v_i`, beside a formula that writes indices.

Two formulas of which one writes indices and the other vectors are brought to indices, and the free ones to the same
letters. What is summed gets letters that neither formula has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from prism.algebra.expr import Expr, Formula, number, substituted, symbol, walk, with_args, with_members
from prism.algebra.symbols import HAT, VECTOR, relabelled, spelled, symbol_of
from prism.equivalence.interpretation.names import (
    INDICES,
    covariant_index,
    free_letters,
    is_greek,
    letters_of,
    placed_letters,
    placed_variable,
    trace_letters,
)
from prism.equivalence.interpretation.values import Unvalued

_FRESH = ("k", "l", "m", "n", "p", "q", "r", "s", "a", "b", "i", "j")
_FRESH_GREEK = (r"\lambda", r"\tau", r"\rho", r"\sigma", r"\alpha")
_DERIVATIVES = ("partial", "derivative")
_PRODUCTS = (*_DERIVATIVES, "mul", "div", "neg", "sym", "differential")
_EPSILON = r"\epsilon_{%s%s%s}"


def in_indices(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Return two formulas in index notation if one of them is so, and with the same free indices; else as they are."""
    _refuse_pairs_of_one_height(a, b)
    _refuse_covariant_derivatives(a, b)
    a, b = _with_traces(a), _with_traces(b)
    nodes = [node for f in (a, b) for member in f.members for node in walk(member)]
    indexed = {symbol_of(node.name).head for node in nodes if node.op == "sym" and letters_of(node.name)}
    vectors = {base for node in nodes if (base := _base_of_vector(node))}
    by = Counter(arg.name for node in nodes if node.op == "partial" for arg in node.args[1:])
    places = Counter(node.name for node in nodes if node.op == "sym")  # a coordinate stands elsewhere too
    by_index = any(name in INDICES and places[name] <= count for name, count in by.items())
    has_two = any(len(letters_of(node.name)) > 1 for node in nodes if node.op == "sym")
    if not (by_index or (indexed and has_two) or vectors & indexed):
        return a, b
    has_nabla = by_index and any(node.op == "nabla" for node in nodes)
    if vectors & indexed or has_nabla:
        free = sorted({letter for f in (a, b) for member in f.members for letter in free_letters(member)})
        used = {letter for node in nodes if node.op == "sym" for letter in (*letters_of(node.name), node.name)}
        writer = _Components(used)
        a, b = (writer.rewritten(f, free) for f in (a, b))
    return a, _with_free_letters_of(b, a)


def _refuse_pairs_of_one_height(*formulas: Formula) -> None:
    """Raise Unvalued for a product with a Greek index twice above or twice below, where indices stand above and below.

    Where all of them stand below, as many write them, a pair is a sum all the same.
    """
    terms = [_heights(node) for f in formulas for member in f.members for node in walk(member) if node.op in _PRODUCTS]
    heights = {is_above for found in terms for _, is_above in found}
    if len(heights) > 1 and any(count > 1 for found in terms for count in found.values()):
        raise Unvalued("an index twice above, or twice below")


def _refuse_covariant_derivatives(*formulas: Formula) -> None:
    r"""Raise Unvalued for `\nabla_\mu` with a Greek index, or beside a connection; `\nabla_i` alone is `\partial_i`."""
    nodes = [node for f in formulas for member in f.members for node in walk(member)]
    indices = [index for node in nodes if (index := covariant_index(node))]
    has_connection = any(node.op == "sym" and symbol_of(node.name).head == r"\Gamma" != node.name for node in nodes)
    if indices and (has_connection or all(map(is_greek, indices))):
        raise Unvalued("a covariant derivative")


def _heights(node: Expr) -> Counter[tuple[str, bool]]:
    """Return how often each Greek index stands above (True) and below (False) in a product."""
    found: Counter[tuple[str, bool]] = Counter()
    if node.op == "sym":
        found.update(place for place in placed_letters(node.name) if is_greek(place[0]))
    elif node.op in _DERIVATIVES:
        found.update(_heights(node.args[0]))
        places = (placed_variable(arg.name) for arg in node.args[1:] if arg.op == "sym")
        found.update(place for place in places if is_greek(place[0]) and place[0] in INDICES)
    elif node.op in _PRODUCTS:
        for arg in node.args:
            found.update(_heights(arg))
    return found


def _with_traces(f: Formula) -> Formula:
    r"""Return a formula with the traces of tensors by an index: R of `R\,g_{\mu\nu}` as `R^\kappa{}_\kappa`."""
    nodes = [node for member in f.members for node in walk(member)]
    traces = trace_letters(nodes)
    if not traces:
        return f
    used = {letter for node in nodes if node.op == "sym" for letter in (*letters_of(node.name), node.name)}
    letter = next(each for each in (*_FRESH_GREEK, r"\kappa") if each not in used or each == r"\kappa")
    return substituted(f, {symbol(name): symbol(spelled(name, letter, letter)) for name in traces})


def _with_letters(node: Expr, letters: Mapping[str, str]) -> Expr:
    """Return an expression with other letters of indices."""
    args = tuple(_with_letters(arg, letters) for arg in node.args)
    if node.op in _DERIVATIVES:
        args = (args[0], *(symbol(letters[arg.name]) if arg.name in letters else arg for arg in args[1:]))
    if node.op == "sym" and not letters.keys().isdisjoint(letters_of(node.name)):
        return symbol(relabelled(node.name, letters))
    return with_args(node, args)


def _with_free_letters_of(f: Formula, other: Formula) -> Formula:
    """Return an equation with the free indices of another equation: it says the same for all their values.

    They are paired by a side that is one tensor in both; where the letters differ, by the first tensor of both.
    """
    if f.kind != "equation" or other.kind != "equation":
        return f
    own, wanted = ({letter for member in each.members for letter in free_letters(member)} for each in (f, other))
    if not own or len(own) != len(wanted):
        return f
    pairs = dict(zip(sorted(own), sorted(wanted), strict=True)) if len(own) == 1 else _paired(f, other, own, wanted)
    if any(is_greek(one) != is_greek(two) for one, two in pairs.items()):
        return f
    back = dict(zip(sorted(pairs.values() - pairs.keys()), sorted(pairs.keys() - pairs.values()), strict=True))
    if all(one == two for one, two in pairs.items()):
        return f
    return with_members(f, tuple(_with_letters(member, {**pairs, **back}) for member in f.members))


def _paired(f: Formula, other: Formula, own: set[str], wanted: set[str]) -> dict[str, str]:
    """Return the free indices of an equation with those of another one in the same places; empty if that is open."""
    nodes, others = f.members, other.members
    if own != wanted:
        nodes, others = (tuple(node for member in each.members for node in walk(member)) for each in (f, other))
    placed = {key: letters for node in reversed(nodes) for key, letters in [_places(node)] if set(letters) == own}
    for node in others:
        key, letters = _places(node)
        if set(letters) == wanted and len(letters) == len(wanted) and len(placed.get(key, ())) == len(own):
            return dict(zip(placed[key], letters, strict=True))
    return {}


def _places(node: Expr) -> tuple[str, tuple[str, ...]]:
    """Return a tensor, or the derivative of one, with `?` for the letters of its indices, and these letters in order.

    An empty name and no letters for any other expression.
    """
    if node.op == "partial" and all(arg.op == "sym" for arg in node.args):
        key, letters = _places(node.args[0])
        places = [placed_variable(arg.name) for arg in node.args[1:]]
        raised = "".join("^" if is_above else "_" for _, is_above in places)
        return f"d{raised} {key}", (*(letter for letter, _ in places), *letters)
    if node.op != "sym":
        return "", ()
    letters = letters_of(node.name)
    return relabelled(node.name, dict.fromkeys(letters, "?")).replace("{", "").replace("}", ""), letters


# Vectors by their components. -----------------------------------------------------------------------------------------


def _base_of_vector(node: Expr) -> str:
    """Return the letter of a vector or a direction, without its index; empty for anything else."""
    read = symbol_of(node.name)
    return read.base if node.op == "sym" and read.style in (VECTOR, HAT) and not (read.primes or read.sup) else ""


class _Components:
    """Writes vectors by their components."""

    def __init__(self, used: set[str]) -> None:
        """Keep the letters that are in use."""
        self._letters: Iterator[str] = iter([letter for letter in _FRESH if letter not in used])

    def _fresh(self) -> str:
        """Return a letter that is not in use; raises Unvalued if all are."""
        found = next(self._letters, "")
        if not found:
            raise Unvalued("too many indices")
        return found

    def rewritten(self, f: Formula, free: list[str]) -> Formula:
        """Return a formula by components; those of a vector have the only free index.

        Raises Unvalued for a vector beside several free indices.
        """
        is_vector = any(map(self.is_vector, f.members))
        if is_vector and len(free) != 1:
            raise Unvalued("a vector and several free indices")
        return with_members(f, tuple(
            self.component(member, free[0]) if is_vector and member.value != 0 else self.scalar(member) for member in
            f.members))  # fmt: skip

    def is_vector(self, node: Expr) -> bool:
        """Return True for a vector."""
        if node.op == "sym":
            return bool(_base_of_vector(node))
        if node.op in ("add", "sub", "neg"):
            return any(map(self.is_vector, node.args))
        if node.op == "mul":
            return sum(map(self.is_vector, node.args)) == 1
        if node.op in ("div", *_DERIVATIVES):
            return self.is_vector(node.args[0])
        if node.op == "nabla":
            return node.name in ("grad", "", "curl") or (node.name == "laplace" and self.is_vector(node.args[0]))
        return node.op == "cross"

    def component(self, node: Expr, index: str) -> Expr:
        """Return the component of a vector with an index; Unvalued for a number."""
        if base := _base_of_vector(node):
            return symbol(f"{base}_{index}")
        if node.op in ("add", "sub", "neg"):
            return Expr(node.op, tuple(self.component(arg, index) for arg in node.args))
        if node.op == "mul":
            return self._product(node.args, index)
        if node.op == "div":
            return Expr("div", (self.component(node.args[0], index), self.scalar(node.args[1])))
        if node.op in _DERIVATIVES:
            return Expr(node.op, (self.component(node.args[0], index), *node.args[1:]), node.name)
        if node.op == "nabla" and node.name in ("grad", ""):
            return _by(self.scalar(node.args[0]), index)
        if node.op == "nabla" and node.name == "laplace":
            letter = self._fresh()
            return _by(_by(self.component(node.args[0], index), letter), letter)
        if node.op == "cross" or (node.op == "nabla" and node.name == "curl"):
            one, two = self._fresh(), self._fresh()
            epsilon = symbol(_EPSILON % (index, one, two))
            if node.op == "cross":
                return Expr("mul", (epsilon, self.component(node.args[0], one), self.component(node.args[1], two)))
            return Expr("mul", (epsilon, _by(self.component(node.args[0], two), one)))
        raise Unvalued("a vector of this form")

    def _product(self, factors: tuple[Expr, ...], index: str) -> Expr:
        """Return the component of a product; an open derivative acts on what follows."""
        for k, factor in enumerate(factors):
            if factor.op == "dot" and factor.args[1].op == "opaque" and factor.args[1].name == "nabla":
                rest = factors[k + 1] if len(factors) == k + 2 else Expr("mul", factors[k + 1 :])
                letter = self._fresh()
                inner = self.component(rest, index) if index else self.scalar(rest)
                before = tuple(self.scalar(each) for each in factors[:k])
                return Expr("mul", (*before, self.component(factor.args[0], letter), _by(inner, letter)))
        done = [
            self.component(each, index) if index and self.is_vector(each) else self.scalar(each) for each in factors
        ]
        return Expr("mul", tuple(done))

    def scalar(self, node: Expr) -> Expr:
        """Return a number in which vectors are written by components; raises Unvalued for what is a vector itself."""
        if _base_of_vector(node):
            raise Unvalued("a vector where a number belongs")
        if node.op == "mul":
            return self._product(node.args, "")
        if node.op == "dot":  # with a Kronecker symbol, which shows that an index is no label
            one, two = self._fresh(), self._fresh()
            left, right = self.component(node.args[0], one), self.component(node.args[1], two)
            return Expr("mul", (left, symbol(rf"\delta_{{{one}{two}}}"), right))
        if node.op == "nabla" and node.name == "div":
            letter = self._fresh()
            return _by(self.component(node.args[0], letter), letter)
        if node.op == "nabla" and node.name == "laplace":
            one, two = self._fresh(), self._fresh()
            inner = Expr("mul", (symbol(rf"\delta_{{{one}{two}}}"), _by(self.scalar(node.args[0]), two)))
            return _by(inner, one)
        base = node.args[0] if node.args else node
        if node.op == "pow" and node.args[1].value == 2:
            base = base.args[0] if base.op == "abs" else base
            if self.is_vector(base):
                return self.scalar(Expr("dot", (base, base)))
        if node.op == "abs" and self.is_vector(base):
            return Expr("pow", (self.scalar(Expr("dot", (base, base))), Expr("div", (number(1), number(2)))))
        args = tuple(self.scalar(arg) for arg in node.args)
        return with_args(node, args)


def _by(node: Expr, index: str) -> Expr:
    """Return the derivative of an expression by the coordinate of an index."""
    return Expr("partial", (node, symbol(index)), "1")
