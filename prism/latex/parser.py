"""From settled tokens to expressions: the only user of lark.

The grammar in `grammar/latex.lark` is the reference for what is accepted. It is LALR(1), read once, on the first
parse, so that `import prism` does not pay for it. Lark calls `_Builder` at each reduction; no parse tree is built.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from prism.errors import LatexSyntaxError
from prism.expr import Expr, Formula, formula, number, symbol
from prism.latex.settle import settled
from prism.latex.tokens import RELATION_TEXT, Fault, Token
from prism.resources import resource

if TYPE_CHECKING:
    from lark import Lark

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
        tokens = settled(latex, words)
    except Fault as fault:
        raise LatexSyntaxError(latex, fault.position, fault.found, fault.expected) from None
    return _built(latex, tokens)


def _built(latex: str, tokens: list[Token]) -> Formula:
    from lark.exceptions import UnexpectedToken

    machine: Any = _machine()
    try:
        members, relations = machine.parse(tokens)
    except UnexpectedToken as error:
        token: Any = error.token
        at_end = token.type == "$END"
        position = len(latex.rstrip()) if at_end else token.pos
        found = "the end of the formula" if at_end else _word(token.type, token.text)
        raise LatexSyntaxError(latex, position, found, _expected(error.accepts or error.expected)) from None
    return formula(members, relations, latex)


@lru_cache(maxsize=1)
def _machine() -> Lark:
    """The LALR automaton of the grammar."""
    from lark import Lark
    from lark.lexer import Lexer

    class Settled(Lexer):
        """Lark's lexer over tokens that are ready."""

        def __init__(self, conf: Any) -> None:
            del conf

        def lex(self, tokens: Any) -> Iterator[Any]:  # type: ignore[override]
            return iter(tokens)

    text = resource("grammar/latex.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer=Settled, transformer=_Builder(), maybe_placeholders=False)


# Building ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=_LEAVES_KEPT)
def _number(text: str) -> Expr:
    return number(Fraction(text), written=text)


_symbol = lru_cache(maxsize=_LEAVES_KEPT)(symbol)
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
        return _number(token.text) if token.type == "NUM" else _symbol(token.text)

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
            return Expr(name, tuple(children[1:]))
        return Expr(_CONSTRUCTS[token.type], tuple(children[1:]), name=name)

    def listed(self, children: list[Any]) -> Expr:
        token = children[0]
        args = tuple(_closed(child) for child in children[2:-1] if not isinstance(child, Token))
        return Expr("apply" if token.type == "APPLY" else "opaque", args, name=token.text)

    def relation(self, children: list[Any]) -> Expr:
        sides = tuple(_closed(child) for child in children[::2])
        return Expr("opaque", sides, name=" ".join(RELATION_TEXT[token.text] for token in children[1::2]))


_CONSTRUCTS = {
    "DIFFERENTIAL": "differential", "DERIVATIVE": "derivative", "PARTIAL": "partial", "INTEGRAL": "integral",
    "CONTOUR": "contour", "LIMIT": "limit", "NABLA": "nabla", "AT": "at", "BRACKET": "bracket",
}  # fmt: skip


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
    r"""An explicit product; `\times` and `\cdot` between vectors are cross and dot, cross binding first."""
    pieces = [child[1] if isinstance(child, tuple) else [child] for child in children[::2]]
    signs = [token.text for token in children[1::2]]
    for wanted, op in ((r"\times", "cross"), (r"\cdot", "dot")):
        index = 0
        while index < len(signs):
            left, right = pieces[index], pieces[index + 1]
            if signs[index] == wanted and _vectors_meet(left, right, op):
                pieces[index : index + 2] = [[Expr(op, (_joined(left), _joined(right)))]]
                del signs[index]
            else:
                index += 1
    return _joined([factor for piece in pieces for factor in piece])


def _joined(factors: list[Expr]) -> Expr:
    return factors[0] if len(factors) == 1 else Expr("mul", tuple(factors))


def _vectors_meet(left: list[Expr], right: list[Expr], op: str) -> bool:
    """Whether both sides are vectors; a hat alone makes one only beside a vector, or in a cross product."""
    kinds = [max((_vector_rank(factor) for factor in side), default=0) for side in (left, right)]
    return min(kinds) > 0 and (max(kinds) == 2 or op == "cross")


def _vector_rank(node: Expr) -> int:
    r"""2 for an expression whose value is a vector, 1 if only hats say so, 0 otherwise."""
    if node.op == "sym":
        bare = node.name.removeprefix(r"\Delta ").removeprefix(r"\delta ")
        return 2 if bare.startswith(r"\vec{") else 1 if bare.startswith(r"\hat{") else 0
    if node.op in ("cross",):
        return 2
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
    "NABLA AT BRACKET APPLY OPAQUE LP LBAR"
).split())  # fmt: skip
_OPERATORS = frozenset(("PLUS", "MINUS", "PM", "TIMES", "SLASH", "REL", "CARET", "BANG"))
_WORDS = {
    "RG": "the end of the braces", "RP": "a closing bracket", "RBAR": "a closing bar", "LG": "an opening brace",
    "COMMA": "a comma", "$END": "the end of the formula", "LP": "an opening bracket",
}  # fmt: skip


def _word(kind: str, text: str) -> str:
    return _WORDS.get(kind) or (f"`{text}`" if text else kind.lower())


def _expected(kinds: set[str]) -> tuple[str, ...]:
    words = []
    if kinds & _OPERANDS:
        words.append("a number or a symbol")
    if kinds & _OPERATORS and not kinds & _OPERANDS:
        words.append("an operator")
    words += sorted(_WORDS[kind] for kind in kinds if kind in _WORDS and kind not in ("LP", "LG"))
    return tuple(words[:_MAX_EXPECTED])
