"""From settled tokens to expressions.

The grammar in `grammar/latex.lark` is the reference for what is accepted. `automaton` runs it, and calls `_Builder` at
each reduction; no parse tree is built. It is read on the first parse, so that `import prism` does not pay for it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from prism.algebra.expr import Expr, Formula, formula, number, symbol
from prism.errors import LatexSyntaxError
from prism.latex.parsing.disambiguate import Settled, settled
from prism.latex.parsing.lalr import Machine, Unexpected, machine, reduced, tables
from prism.latex.parsing.tokens import RELATION_TEXT, Fault, Token
from prism.resources import resource

CACHE_SIZE = 4096  # formulas kept parsed; a bulk run meets the same reference nodes again and again
_LEAVES_KEPT = 8192
_MAX_EXPECTED = 3  # more alternatives than this tell a reader nothing


@lru_cache(maxsize=CACHE_SIZE)
def parse(latex: str, words: frozenset[str] = frozenset()) -> Formula:
    r"""Read one formula.

    Dollars, brackets of display mode, sizes, spacing, fonts without meaning, labels and the punctuation of the
    sentence are no part of it. Limits on length, depth and numbers stand in `tokens`.

    Args:
        latex: the formula.
        words: names of several letters that are one symbol here.

    Errors:
        LatexSyntaxError: what is not read, with its position in `latex`; nothing is dropped in silence.

    >>> str(parse(r"$T = 2\pi\sqrt{L/g}$."))
    'T = 2*pi*sqrt(L/g)'
    >>> str(parse("1/2 m v^2"))
    '1/2*m*v^2'
    """
    try:
        whole = settled(latex, words)
    except Fault as fault:
        position = min(fault.position, len(latex))  # the LaTeX of a Unicode sign is longer than the sign
        raise LatexSyntaxError(latex, position, fault.found, fault.expected, fault.kind) from None
    return _formula(latex, whole, latex)


def _formula(latex: str, whole: Settled, shown: str) -> Formula:
    """One formula, or several with their parts, each with the text it was read from."""
    if not whole.kind:
        return _built(latex, whole, shown)
    parts = tuple(_formula(latex, part, latex[part.start : part.end].strip()) for part in whole.parts)
    return Formula(whole.kind, (), (), shown, parts)


def _built(latex: str, whole: Settled, shown: str) -> Formula:
    try:
        members, relations = reduced(_machine(), whole.tokens)
    except Unexpected as error:
        token = error.token
        position = len(latex.rstrip()) if token is None else min(token.pos, len(latex))
        found = _word(token.type, token.text) if token else _WORDS["$END"]
        kind = "fragment" if token is None else "syntax"
        raise LatexSyntaxError(latex, position, found, _expected(error.accepted), kind) from None
    return formula(members, relations, shown, whole.depends)


@lru_cache(maxsize=1)
def _machine() -> Machine:
    """The LALR automaton of the grammar, with the methods of `_Builder`."""
    return machine(tables(resource("grammar/latex.lark").read_text(encoding="utf-8")), _Builder())


# Building ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=_LEAVES_KEPT)
def _number(text: str) -> Expr:
    return number(Fraction(text), written=text)


_RUN = "run"  # a product still open: its factors join the explicit product around it


class _Builder:
    """One method a rule of the grammar; children arrive left to right, tokens included."""

    def start(self, children: list[Any]) -> tuple[tuple[Expr, ...], tuple[str, ...]]:
        members = tuple(_closed(child) for child in children[::2])
        return members, tuple(RELATION_TEXT[token.text] for token in children[1::2])

    def leaf(self, children: list[Token]) -> Expr:
        token = children[0]
        if token.expr is not None:
            return token.expr
        return _number(token.text) if token.type == "NUM" else symbol(token.text)

    def inside(self, children: list[Any]) -> Expr:
        return _closed(children[1])

    def terms(self, children: list[Any]) -> Expr:
        parts: list[Expr] = []
        sign = "PLUS"
        for child in children:
            if isinstance(child, Token):
                sign = child.type + child.text
                continue
            term = _closed(child)
            if sign.startswith("PM"):
                mark = "∓" if sign.endswith("mp") else "±"
                parts = [Expr("pm", (*((_sum(parts),) if parts else ()), term), name=mark)]
            else:
                parts.append(Expr("neg", (term,)) if sign.startswith("MINUS") else term)
        return _sum(parts)

    def factors(self, children: list[Any]) -> Any:
        return _product(children)

    def sign(self, children: list[Any]) -> Expr:
        value = _closed(children[1])
        return Expr("neg", (value,)) if children[0].type == "MINUS" else value

    def ratio(self, children: list[Any]) -> Expr:
        return Expr("div", (_closed(children[0]), _closed(children[2])))

    def juxtaposed(self, children: list[Expr]) -> tuple[str, list[Expr]]:
        return _RUN, children

    def power(self, children: list[Any]) -> Expr:
        return Expr("pow", (children[0], children[2]))

    def factorial(self, children: list[Any]) -> Expr:
        return Expr("factorial", (children[0],))

    def factorial_power(self, children: list[Any]) -> Expr:
        return Expr("pow", (Expr("factorial", (children[0],)), children[3]))

    def absolute(self, children: list[Any]) -> Expr:
        return Expr("abs", (_closed(children[1]),))

    def fraction(self, children: list[Any]) -> Expr:
        return Expr("div", (children[1], children[2]))

    def square_root(self, children: list[Any]) -> Expr:
        return Expr("sqrt", (children[1],))

    def root(self, children: list[Any]) -> Expr:
        return Expr("root", (children[2], children[1]))

    def function(self, children: list[Any]) -> Expr:
        return Expr(children[0].text, (children[1],))

    def construct(self, children: list[Any]) -> Expr:
        token = children[0]
        name = token.text
        if token.type == "SERIES":
            op, _, mark = name.partition(" ")
            return Expr(op, tuple(children[1:]), name=mark)
        return Expr(_CONSTRUCTS[token.type], tuple(children[1:]), name=name)

    def set_operation(self, children: list[Any]) -> Expr:
        sides = [_closed(child) for child in children[::2]]
        value = sides[0]
        for token, side in zip(children[1::2], sides[1:], strict=True):
            op = _SET_OPERATIONS.get(token.text, "opaque")
            name = token.text if op == "opaque" else ""
            value = Expr(op, (*value.args, side) if (value.op, value.name) == (op, name) else (value, side), name=name)
        return value

    def listed(self, children: list[Any]) -> Expr:
        token = children[0]
        args = tuple(_closed(child) for child in children[2:-1] if not isinstance(child, Token))
        if token.type == "APPLY":
            return Expr("apply", args, name=token.text)
        op, _, name = token.text.partition(" ")
        return Expr(op, args, name=name)

    def relation(self, children: list[Any]) -> Expr:
        sides = tuple(_closed(child) for child in children[::2])
        return Expr("relation", sides, name=" ".join(RELATION_TEXT[token.text] for token in children[1::2]))


_OTHER_PRODUCTS = {r"\otimes": "tensor", r"\wedge": "wedge", r"\|": "parallel", "//": "parallel", r"\bmod": "modulo"}
_CONSTRUCTS = {
    "DIFFERENTIAL": "differential", "DERIVATIVE": "derivative", "PARTIAL": "partial", "INTEGRAL": "integral",
    "CONTOUR": "contour", "LIMIT": "limit", "NABLA": "nabla", "AT": "at", "BRACKET": "bracket",
}  # fmt: skip


_SET_OPERATIONS = {r"\cup": "union", r"\cap": "intersection"}


def _closed(child: Any) -> Expr:
    """An operand as one expression: an open run becomes a product."""
    if isinstance(child, Expr):
        return child
    return Expr("mul", tuple(child[1]))


def _sum(parts: list[Expr]) -> Expr:
    """Terms as one sum; two of which the second is negative are a difference."""
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2 and parts[1].op == "neg":
        return Expr("sub", (parts[0], parts[1].args[0]))
    return Expr("add", tuple(parts))


def _product(children: list[Any]) -> Expr:
    r"""An explicit product; `\times` and `\cdot` between vectors are cross and dot, cross binding first.

    The signs that are no multiplication (`\otimes`, `\parallel`) bind loosest, from left to right.
    """
    pieces = [child[1] if isinstance(child, tuple) else [child] for child in children[::2]]
    signs = [token.text for token in children[1::2]]
    for wanted, op in ((r"\angle", "phasor"), (r"\times", "cross"), (r"\cdot", "dot")):
        index = 0
        while index < len(signs):
            left, right = pieces[index], pieces[index + 1]
            if signs[index] == wanted and (op == "phasor" or _vectors_meet(left, right)):
                size = _angle_size(right) if op == "phasor" else len(right)
                pieces[index : index + 2] = [[Expr(op, (_joined(left), _joined(right[:size]))), *right[size:]]]
                del signs[index]
            else:
                index += 1
    value: Expr | None = None
    last = ""
    start = 0
    for end in [at + 1 for at, sign in enumerate(signs) if sign in _OTHER_PRODUCTS] + [len(pieces)]:
        side = _joined([factor for piece in pieces[start:end] for factor in piece])
        if value is None:
            value = side
        else:
            op = _OTHER_PRODUCTS[last]
            value = Expr(op, (*value.args, side) if value.op == op and start > 1 else (value, side))
        last = signs[end - 1] if end <= len(signs) else ""
        start = end
    assert value is not None
    return value


def _angle_size(factors: list[Expr]) -> int:
    """How many factors behind the sign of a phasor are its angle: a number with its degrees, or one."""
    degrees = len(factors) > 1 and factors[1].op == "unit" and factors[1].name in ("deg", "rad")
    return 2 if degrees else 1


def _joined(factors: list[Expr]) -> Expr:
    return factors[0] if len(factors) == 1 else Expr("mul", tuple(factors))


def _vectors_meet(left: list[Expr], right: list[Expr]) -> bool:
    """Whether both sides are vectors; hats make one, and so do values in round brackets."""
    kinds = [max((_vector_rank(factor) for factor in side), default=0) for side in (left, right)]
    return min(kinds) > 0


def _vector_rank(node: Expr) -> int:
    r"""2 for an expression whose value is a vector, 1 if only hats or a tuple say so, 0 otherwise."""
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
    if node.op in ("div", "derivative", "differential", "partial", "integral", "at"):
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


def _word(kind: str, text: str) -> str:
    return _WORDS.get(kind) or (f"`{text}`" if text else kind.lower())


def _expected(kinds: frozenset[str]) -> tuple[str, ...]:
    words = []
    if kinds & _OPERANDS:
        words.append("a number or a symbol")
    if kinds & _OPERATORS and not kinds & _OPERANDS:
        words.append("an operator")
    words += sorted(_WORDS[kind] for kind in kinds if kind in _WORDS and kind not in ("LP", "LG"))
    return tuple(words[:_MAX_EXPECTED])
