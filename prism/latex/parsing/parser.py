"""`parse`: LaTeX of a formula to a Formula, by disambiguated tokens and the grammar.

The grammar in `grammar/latex.lark` is the reference for what is accepted. `lalr` runs it, and calls
`_ExpressionBuilder` at each reduction; no parse tree is built. It is read on the first parse, so that `import prism`
does not pay for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from prism import budget
from prism.algebra.columns import with_columns
from prism.algebra.expr import Expr, Formula, formula, nodes_with, number, ops_of, substitute, symbol, symbols
from prism.algebra.macaulay import MACAULAY, may_be_macaulay, shows_macaulay
from prism.errors import LatexSyntaxError
from prism.latex.macros import expand, package_macros, uses_packages
from prism.latex.parsing.disambiguate import DisambiguatedFormula, disambiguate_formula
from prism.latex.parsing.lalr import LalrParser, UnexpectedTokenError, bind_builder, load_tables, run_parser
from prism.latex.parsing.tokens import MAX_LENGTH, MAX_NESTING, RELATION_TEXT, UNIT_VECTORS, Fault, Token
from prism.resources import resource

MAX_OPERATIONS = 20_000_000  # of one formula: the longest one that is read costs half of them
_CHARACTER, _TERMINAL = 500, 200  # operations for each character, and for each token of the grammar
CACHE_SIZE = 4096  # parsed formulas; a bulk run meets the same reference nodes again and again
_MAX_KEPT = 300  # characters of a formula that is kept; the trees of 4,096 long ones would fill a gigabyte
_NUMBER_CACHE_SIZE = 8192
_MAX_EXPECTED = 3  # alternatives in an error message; more of them help no reader


class _ShortFormulas(budget.Store):
    """The short formulas that a process has read; a long one is remembered for its account alone."""

    def keep(self, key: Any, found: Any) -> None:
        """Keep a formula, by parser and arguments, if its LaTeX is short."""
        if len(key[1][0]) <= _MAX_KEPT:
            super().keep(key, found)


@budget.remembered(_ShortFormulas(CACHE_SIZE))
def parse(latex: str, words: frozenset[str] = frozenset(), functions: frozenset[str] = frozenset()) -> Formula:
    r"""Parse the LaTeX of one formula, or of several joined ones, into a Formula.

    Dollars, brackets of display mode, sizes, spacing, fonts without meaning, labels and the punctuation of the
    sentence are dropped. Limits on length, depth and numbers stand in `tokens`.

    Args:
        latex: the formula.
        words: names of several letters that are one symbol here.
        functions: letters whose bracket holds an argument, E of `E[X]`; `ANY_LETTER` for all that are no usual factor
            and stand before a square bracket, or with the power -1 before a round one.

    Errors:
        LatexSyntaxError: a part that is not read, with its position in `latex`; nothing else is dropped in silence.

    >>> str(parse(r"$T = 2\pi\sqrt{L/g}$."))
    'T = 2*pi*sqrt(L/g)'
    >>> str(parse("1/2 m v^2"))
    '1/2*m*v^2'
    >>> from prism.latex.parsing.calls import ANY_LETTER
    >>> str(parse("E[X]^2")), str(parse("E[X]^2", frozenset(), ANY_LETTER))
    ('E*X^2', 'apply[E](X)^2')
    """
    with budget.share(MAX_OPERATIONS):
        budget.charge(min(len(latex), MAX_LENGTH) * _CHARACTER)
        if not uses_packages(latex):
            return _parse(latex, words, functions)
        page = expand(latex, package_macros())
        try:
            return replace(_parse(page.text, words, functions), latex=latex)
        except LatexSyntaxError as fault:
            place, _ = page.span_in_original((fault.position, fault.position))
            raise LatexSyntaxError(latex, place, fault.found, fault.expected, fault.kind) from None
    raise LatexSyntaxError(latex, 0, "a formula that is too large to be read", (), "limit")


def _parse(latex: str, words: frozenset[str], functions: frozenset[str]) -> Formula:
    """Parse LaTeX without commands of packages; arguments and errors as of `parse`."""
    try:
        return _build_formula(latex, disambiguate_formula(latex, words, functions), latex)
    except Fault as fault:
        position = min(fault.position, len(latex))  # the LaTeX of a Unicode sign is longer than the sign
        raise LatexSyntaxError(latex, position, fault.found, fault.expected, fault.kind) from None


def _build_formula(latex: str, whole: DisambiguatedFormula, shown: str) -> Formula:
    """Build the Formula of disambiguated tokens; of joined formulas (`a = 1, b = 2`) one Formula with a part for each.

    Args:
        latex: the whole text, which error positions refer to.
        whole: the disambiguated tokens, or parts with tokens of their own.
        shown: the LaTeX that the Formula stores as its own.
    """
    if not whole.kind:
        return _run_grammar(latex, whole, shown)
    parts = tuple(_build_formula(latex, part, latex[part.start : part.end].strip()) for part in whole.parts)
    return Formula(whole.kind, (), (), shown, parts)


def _run_grammar(latex: str, whole: DisambiguatedFormula, shown: str) -> Formula:
    """Run the grammar over the tokens of one formula and build its Formula.

    Args:
        latex: the whole text, which error positions refer to.
        shown: the LaTeX that the Formula stores as its own.

    Errors:
        LatexSyntaxError: a token that the grammar does not allow at its place.
    """
    try:
        budget.charge(len(whole.tokens) * _TERMINAL)
        members, relations = run_parser(_grammar_parser(), whole.tokens)
    except UnexpectedTokenError as error:
        token = error.token
        position = len(latex.rstrip()) if token is None else min(token.pos, len(latex))
        kind_found, text = (token.type, token.text) if token else ("$END", "")
        found = _WORDS.get(kind_found) or (f"`{text}`" if text else kind_found.lower())
        kind = "fragment" if token is None else "syntax"
        raise LatexSyntaxError(latex, position, found, _describe_expected(error.accepted), kind) from None
    if any(member.depth > MAX_NESTING for member in members):
        raise LatexSyntaxError(latex, 0, f"operators nested more than {MAX_NESTING} deep", (), "limit")
    return formula(_with_macaulay(with_columns(members)), relations, shown, whole.depends)


def _with_macaulay(members: tuple[Expr, ...]) -> tuple[Expr, ...]:
    r"""Return the members with means as brackets of Macaulay, if a power shows one: `P\langle x - a\rangle^2`."""
    powers = [node for member in members for node in nodes_with(member, "pow") if shows_macaulay(node)]
    if not powers:
        return members
    brackets = {node for member in members for node in nodes_with(member, "bracket")}
    shown = {power.args[0] for power in powers} | {node for node in brackets if may_be_macaulay(node)}
    return tuple(
        substitute(member, {node: Expr("bracket", node.args, MACAULAY) for node in shown}) for member in members
    )


@lru_cache(maxsize=1)
def _grammar_parser() -> LalrParser:
    """Return the parser of `grammar/latex.lark`, made on the first parse and cached."""
    return bind_builder(load_tables(resource("grammar/latex.lark").read_text(encoding="utf-8")), _ExpressionBuilder())


# Building ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=_NUMBER_CACHE_SIZE)
def _number_leaf(text: str) -> Expr:
    """Return the expression of a number, which stores its digits as written."""
    return number(Fraction(text), written=text)


_OF_UNITS = frozenset(("unit", "mul", "div", "pow", "num", "neg"))  # what a product of units is made of
_OPEN_PRODUCT = "run"  # marks factors side by side, which join the explicit product around them


def _node_builder(op: str, *indices: int) -> Callable[[Any, list[Any]], Expr]:
    """Return a method for one grammar rule: it makes a node of operator `op` from the children at these indices."""
    return lambda _, children: Expr(op, tuple([_as_expression(children[place]) for place in indices]))


class _ExpressionBuilder:
    """Makes expressions from the rules of `grammar/latex.lark`, one method for each rule.

    Children arrive left to right, tokens included. Each is an Expr, a token, or the pair `(_OPEN_PRODUCT, factors)` of
    `juxtaposed`, whose factors an enclosing product takes up one by one.
    """

    def start(self, children: list[Any]) -> tuple[tuple[Expr, ...], tuple[str, ...]]:
        """Return the members of a chain (`a`, `b`, `c` of `a = b < c`) and the relations between them."""
        members = tuple(_as_expression(child) for child in children[::2])
        return _in_one_direction(members, tuple(RELATION_TEXT[token.text] for token in children[1::2]))

    def leaf(self, children: list[Token]) -> Expr:
        """Return the expression of a number, symbol, constant, unit or infinity."""
        token = children[0]
        if token.expr is not None:
            return token.expr
        return _number_leaf(token.text) if token.type == "NUM" else symbol(token.text)

    def inside(self, children: list[Any]) -> Expr:
        """Return the expression between two brackets, the second of three children."""
        return _as_expression(children[1])

    def terms(self, children: list[Any]) -> Expr:
        """Build a sum of signed terms: `a + b - c`, `-a`, `a ± b`."""
        parts: list[Expr] = []
        sign = "PLUS"
        for child in children:
            if isinstance(child, Token):
                sign = child.type + child.text
                continue
            term = _as_expression(child)
            if sign.startswith("PM"):
                mark = "∓" if sign.endswith("mp") else "±"
                parts = [Expr("pm", (*((_build_sum(parts),) if parts else ()), term), name=mark)]
            else:
                parts.append(Expr("neg", (term,)) if sign.startswith("MINUS") else term)
        return _with_common_unit(parts) or _build_sum(parts)

    def factors(self, children: list[Any]) -> Expr:
        """Build a product with explicit signs, of operands and product signs in turn."""
        return _build_product(children)

    def sign(self, children: list[Any]) -> Expr:
        """Build a term behind a plus or minus that stands inside a product or sum: `a + -b`."""
        value = _as_expression(children[1])
        return Expr("neg", (value,)) if children[0].type == "MINUS" else value

    def juxtaposed(self, children: list[Expr]) -> tuple[str, list[Expr]]:
        """Return factors side by side, such as `2ab`, as an open product that an enclosing product can take up."""
        return _OPEN_PRODUCT, children

    ratio = _node_builder("div", 0, 2)
    power = _node_builder("pow", 0, 2)
    factorial = _node_builder("factorial", 0)
    absolute = _node_builder("abs", 1)
    fraction = _node_builder("div", 1, 2)
    square_root = _node_builder("sqrt", 1)
    root = _node_builder("root", 2, 1)

    def factorial_power(self, children: list[Any]) -> Expr:
        """Build a power of a factorial, `n!^2`."""
        return Expr("pow", (Expr("factorial", (children[0],)), children[3]))

    def double_factorial(self, children: list[Any]) -> Expr:
        """Build a double factorial, `(2n-1)!!`, from factorials.

        Errors:
            Fault: its operand is neither even nor odd by its form.
        """
        found = _double_factorial(children[0])
        if found is None:
            raise Fault(children[2].pos, "a double factorial of what is neither even nor odd", "`(2n)!!` or `(2n-1)!!`")
        return found

    def function(self, children: list[Any]) -> Expr:
        """Build a known function such as `sin` with its argument."""
        return Expr(children[0].text, (children[1],))

    def construct(self, children: list[Any]) -> Expr:
        """Build an integral, derivative, sum, limit, evaluation at a point or angle bracket from its parts."""
        token = children[0]
        name = token.text
        if token.type == "SERIES":
            op, _, mark = name.partition(" ")
            return Expr(op, tuple(children[1:]), name=mark)
        return Expr(_CONSTRUCTS[token.type], tuple(children[1:]), name=name)

    def set_operation(self, children: list[Any]) -> Expr:
        """Build unions, intersections and opaque set operations, nested from left to right."""
        sides = [_as_expression(child) for child in children[::2]]
        value = sides[0]
        for token, side in zip(children[1::2], sides[1:], strict=True):
            op = _SET_OPERATIONS.get(token.text, "opaque")
            name = token.text if op == "opaque" else ""
            value = Expr(op, (*value.args, side) if (value.op, value.name) == (op, name) else (value, side), name=name)
        return value

    def listed(self, children: list[Any]) -> Expr:
        """Build a call `f(a, b)`, or a list, matrix, interval or other construct with any number of parts."""
        token = children[0]
        args = tuple(_as_expression(child) for child in children[2:-1] if not isinstance(child, Token))
        if token.type == "APPLY":
            return Expr("apply", args, name=token.text)
        op, _, name = token.text.partition(" ")
        return Expr(op, args, name=name)

    def relation(self, children: list[Any]) -> Expr:
        """Build a relation that is one item of a list, as in `P(X < 2)`."""
        members = tuple(_as_expression(child) for child in children[::2])
        sides, names = _in_one_direction(members, tuple(RELATION_TEXT[token.text] for token in children[1::2]))
        return Expr("relation", sides, name=" ".join(names))


_REVERSED = {"supset": "subset", "ni": "in"}


def _in_one_direction(
    members: tuple[Expr, ...], relations: tuple[str, ...]
) -> tuple[tuple[Expr, ...], tuple[str, ...]]:
    r"""Return members and relations with `A \supset B` as `B \subset A`, a chain of them from right to left.

    Raises Fault for a chain in both directions.
    """
    if _REVERSED.keys().isdisjoint(relations):
        return members, relations
    if len(set(relations)) > 1:
        raise Fault(0, "relations of sets in both directions", "one direction")
    return members[::-1], tuple(_REVERSED[name] for name in relations)


_OTHER_PRODUCTS = {r"\otimes": "tensor", r"\wedge": "wedge", r"\|": "parallel", "//": "parallel", r"\bmod": "modulo"}
_CONSTRUCTS = {
    "DIFFERENTIAL": "differential", "DERIVATIVE": "derivative", "PARTIAL": "partial", "INTEGRAL": "integral",
    "CONTOUR": "contour", "LIMIT": "limit", "NABLA": "nabla", "AT": "at", "BRACKET": "bracket",
}  # fmt: skip


_SET_OPERATIONS = {r"\cup": "union", r"\cap": "intersection"}


def _as_expression(child: Any) -> Expr:
    """Return an operand as one expression: an open product `(_OPEN_PRODUCT, factors)` becomes a `mul` node."""
    if isinstance(child, Expr):
        return child
    return Expr("mul", tuple(child[1]))


def _build_sum(parts: list[Expr]) -> Expr:
    """Return terms as one expression: a term alone as it is, `a - b` as a difference, others as a sum."""
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2 and parts[1].op == "neg":
        return Expr("sub", (parts[0], parts[1].args[0]))
    return Expr("add", tuple(parts))


def _with_common_unit(parts: list[Expr]) -> Expr | None:
    r"""Return components whose last alone has a unit behind it, `3\hat i + 4\hat j\,\mathrm N`, as a vector times it.

    None for other terms.
    """
    last = parts[-1].args[0] if parts[-1].op == "neg" else parts[-1]
    if len(parts) < 2 or last.op != "mul" or "unit" in ops_of(*parts[:-1]):
        return None
    if not all(len(symbols(part) & UNIT_VECTORS) == 1 for part in parts):
        return None
    n_units = len(last.args)
    while n_units and "unit" in (ops := ops_of(last.args[n_units - 1])) and ops <= _OF_UNITS:
        n_units -= 1
    bare, units = last.args[:n_units], last.args[n_units:]
    if not units or "unit" in ops_of(*bare):
        return None
    component = bare[0] if len(bare) == 1 else Expr("mul", bare)
    signed = Expr("neg", (component,)) if last is not parts[-1] else component
    return Expr("mul", (_build_sum([*parts[:-1], signed]), *units))


def _build_product(children: list[Any]) -> Expr:
    r"""Build an explicit product; between vectors `\times` and `\cdot` are cross and dot, cross binding first.

    The signs that are no multiplication (`\otimes`, `\parallel`) bind loosest, from left to right.

    Args:
        children: operands and product signs in turn.
    """
    pieces = [child[1] if isinstance(child, tuple) else [child] for child in children[::2]]
    signs = [token.text for token in children[1::2]]
    for wanted, op in ((r"\angle", "phasor"), (r"\times", "cross"), (r"\cdot", "dot")):
        index = 0
        while index < len(signs):
            left, right = pieces[index], pieces[index + 1]
            if signs[index] == wanted and (op == "phasor" or _are_both_vectors(left, right)):
                in_degrees = len(right) > 1 and right[1].op == "unit" and right[1].name in ("deg", "rad")
                size = len(right) if op != "phasor" else 2 if in_degrees else 1  # of a phasor, the factors of its angle
                pieces[index : index + 2] = [
                    [Expr(op, (_product_or_single(left), _product_or_single(right[:size]))), *right[size:]]
                ]
                del signs[index]
            else:
                index += 1
    value: Expr | None = None
    last = ""
    start = 0
    for end in [at + 1 for at, sign in enumerate(signs) if sign in _OTHER_PRODUCTS] + [len(pieces)]:
        side = _product_or_single([factor for piece in pieces[start:end] for factor in piece])
        if value is None:
            value = side
        else:
            op = _OTHER_PRODUCTS[last]
            value = Expr(op, (*value.args, side) if value.op == op and start > 1 else (value, side))
        last = signs[end - 1] if end <= len(signs) else ""
        start = end
    assert value is not None
    return value


def _product_or_single(factors: list[Expr]) -> Expr:
    """Return a single factor as it is, several as a product."""
    return factors[0] if len(factors) == 1 else Expr("mul", tuple(factors))


def _are_both_vectors(left: list[Expr], right: list[Expr]) -> bool:
    r"""Return True if each side has a factor that is a vector; `\hat{x}` and the tuple `(1, 2)` count as vectors."""
    kinds = [max((_vector_rank(factor) for factor in side), default=0) for side in (left, right)]
    return min(kinds) > 0


def _vector_rank(node: Expr) -> int:
    r"""Return 2 for a vector (`\vec{F}`, a gradient), 1 for a tuple or a symbol with a hat, possibly one; else 0."""
    if node.op == "sym":
        bare = node.name.removeprefix(r"\Delta ").removeprefix(r"\delta ")
        return 2 if bare.startswith(r"\vec{") else 1 if bare.startswith(r"\hat{") else 0
    if node.op == "cross":
        return 2
    if node.op == "tuple":
        return 1
    if node.op == "nabla":
        return 2 if node.name in ("grad", "curl") else _vector_rank(node.args[0]) if node.name == "laplace" else 0
    if node.op == "opaque" and node.name == "nabla":
        return 2
    if node.op in ("add", "sub", "neg", "mul", "pm"):
        return max(_vector_rank(arg) for arg in node.args)
    if node.op == "partial":  # by a vector it is a gradient
        return max(map(_vector_rank, node.args))
    if node.op in ("div", "derivative", "differential", "integral", "at"):
        return _vector_rank(node.args[0])
    if node.op == "apply":
        return 2 if node.name.startswith(r"\vec{") else 0
    return 0


# What went wrong, in a reader's words -----------------------------------------------------------------------

_OPERANDS = frozenset((
    "NUM SYM CONST UNIT INFINITY FRAC SQRT ROOT FUNCTION DIFFERENTIAL DERIVATIVE PARTIAL INTEGRAL CONTOUR SERIES LIMIT "
    "NABLA AT BRACKET APPLY LISTED LP LBAR"
).split())  # fmt: skip
_OPERATORS = frozenset(("PLUS", "MINUS", "PM", "TIMES", "SLASH", "REL", "CARET", "BANG"))
_WORDS = {
    "RG": "the end of the braces", "RP": "a closing bracket", "RBAR": "a closing bar", "LG": "an opening brace",
    "COMMA": "a comma", "$END": "the end of the formula", "LP": "an opening bracket",
}  # fmt: skip


def _describe_expected(kinds: frozenset[str]) -> tuple[str, ...]:
    """Describe the token types that the grammar accepts next, for an error message; `_MAX_EXPECTED` phrases at most."""
    words = []
    if kinds & _OPERANDS:
        words.append("a number or a symbol")
    if kinds & _OPERATORS and not kinds & _OPERANDS:
        words.append("an operator")
    words += sorted(_WORDS[kind] for kind in kinds if kind in _WORDS and kind not in ("LP", "LG"))
    return tuple(words[:_MAX_EXPECTED])


def _double_factorial(node: Expr) -> Expr | None:
    """Return `n!!` in factorials, for a whole number, `2k`, `2k + c` or `2k - c`; None for any other operand.

    With K = n/2 for an even n it is 2^K K!, with K = (n + 1)/2 for an odd one (2K)!/(2^K K!).
    """
    shift = 0
    even = node
    if node.op in ("add", "sub") and len(node.args) == 2 and (last := node.args[1].value) is not None:
        even, shift = node.args[0], int(last) if node.op == "add" else -int(last)
        if last.denominator != 1:
            return None
    if node.op == "num" and node.value is not None and node.value.denominator == 1:
        half: Expr | None = None
        count = int(node.value)
    elif even.op == "mul" and even.args[0].value == 2:
        half = even.args[1] if len(even.args) == 2 else Expr("mul", even.args[1:])
        count = shift
    else:
        return None
    more, is_odd = (count + count % 2) // 2, bool(count % 2)
    terms = [each for each in (half, number(abs(more)) if more or half is None else None) if each is not None]
    upper = terms[0] if len(terms) == 1 else Expr("add" if more > 0 else "sub", tuple(terms))
    even_factors = Expr("mul", (Expr("pow", (number(2), upper)), Expr("factorial", (upper,))))
    if not is_odd:
        return even_factors
    return Expr("div", (Expr("factorial", (Expr("mul", (number(2), upper)),)), even_factors))
