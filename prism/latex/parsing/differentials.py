r"""Derivatives and differentials: `\frac{dy}{dx}`, `dy/dx`, `\partial_x f`, `d^2y/dx^2`, and `dx` where it is one.

An upright d is always a differential. An italic one may be a distance, so the whole formula is asked first
(`d_is_differential`): one decision for all of it, because nobody uses both in one formula without writing it.
"""

from __future__ import annotations

from dataclasses import dataclass

from prism.latex.parsing.names import spell
from prism.latex.parsing.tokens import Fault, Token

_DERIVED = ("SYM", "DERIVATIVE")  # what an italic d makes a differential of
_DERIVED_BODIES = frozenset(("SYM", "DERIVATIVE", "PAREN", "APPLY", "BRACKET", "ABS"))  # between d and the slash
_MAX_REPEATED = 6  # order of one variable among several
_UNKNOWN_ORDER = 99  # stands for an order that is no number among several variables; no derivative has it


def is_d(item: Token) -> bool:
    """A head of a differential: an upright d, or the letter d without subscript."""
    return item.type == "D" or (item.type == "SYM" and item.text == "d")


# Is d a differential? ---------------------------------------------------------------------------------------


def d_is_differential(items: list[Token]) -> bool:
    """Whether italic `dx` is a differential: two such pairs, a derivative or an integral, and no d of its own.

    A single pair without any of these (`F = dm`) may be a product and stays one.
    """
    pairs = own = brackets = 0
    certain = len(items) == 2 and is_d(items[0]) and items[0].sup is None and items[1].type == "SYM"  # nothing but `dx`
    alone: set[str] = set()
    derived: set[str] = set()
    stack = [items]
    while stack:
        siblings = stack.pop()
        for index, item in enumerate(siblings):
            stack.extend(item.args)
            if item.sup is not None:
                stack.append(item.sup)
            if item.type == "SYM" and not (index and is_d(siblings[index - 1])):
                alone.add(item.text)
            if item.type in ("INTEGRAL", "D"):
                certain = True
            elif item.type == "FRAC" and _derivative_shape(item) is not None:
                certain = True
                for part in item.args:  # what stands in it is no evidence of its own, and is still to be counted
                    lone, paired = _lone_and_paired(part)
                    own -= lone
                    pairs -= paired
            elif item.type == "SYM" and item.text.startswith("d_"):
                own += 1
            elif item.type == "SYM" and item.text.startswith("\\delta "):
                pairs += 1  # an inexact differential
            elif item.type == "SYM" and item.text == "d":
                if _is_quotient(siblings, index):
                    certain = True
                else:
                    lone, paired = _evidence(siblings, index)
                    own += lone
                    pairs += paired
                    brackets += index + 1 < len(siblings) and siblings[index + 1].type == "PAREN"
                    if paired and item.sup is None and index and siblings[index - 1].type in ("PLUS", "MINUS"):
                        derived.add(siblings[index + 1].text)
    return own <= 0 and (pairs >= 2 or certain or bool(alone & derived) or bool(pairs and brackets))  # `x + dx`


def _evidence(siblings: list[Token], index: int) -> tuple[int, int]:
    """What an italic d says, as (d of its own, pair): before a function or a bracket it says neither."""
    after = siblings[index + 1] if index + 1 < len(siblings) else None
    if after is not None and after.type in _DERIVED and not is_d(after):
        return (1, 0) if siblings[index].sup is not None and after.sup is not None else (0, 1)
    return (0, 0) if after is not None and after.type in ("FUNCTION", "PAREN") else (1, 0)


def _lone_and_paired(siblings: list[Token]) -> tuple[int, int]:
    """The evidence of all italic d among siblings, summed."""
    found = [_evidence(siblings, index) for index, item in enumerate(siblings) if item.type == "SYM" and is_d(item)]
    return sum(lone for lone, _ in found), sum(pair for _, pair in found)


def _is_quotient(siblings: list[Token], index: int) -> bool:
    """`d/d`: the operator written with a slash."""
    return index + 2 < len(siblings) and siblings[index + 1].type == "SLASH" and is_d(siblings[index + 2])


# Fractions that are derivatives -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Shape:
    """A fraction that is a derivative.

    Attributes:
        kind: DERIVATIVE or PARTIAL.
        order: as written, `1` if nothing is written.
        body: what is derived; empty for the operator alone.
        variables: one list a variable, repeated variables once.
    """

    kind: str
    order: str
    body: list[Token]
    variables: list[list[Token]]


def order_of(sup: list[Token] | None) -> str | None:
    """Order of a derivative from a superscript; None if it is no order."""
    if sup is None:
        return "1"
    if len(sup) == 1 and sup[0].sup is None and sup[0].type in ("NUM", "SYM"):
        return sup[0].text
    return None


def _derivative_shape(item: Token) -> _Shape | None:
    r"""The derivative that a \frac is, or None."""
    above, below = item.args
    if not above or not below:
        return None
    head = above[0]
    partial = head.type == "PARTIAL_SIGN"
    if not (partial or is_d(head)) or head.sub is not None:
        return None
    order = order_of(head.sup)
    variables = _variables(below, partial)
    if order is None or variables is None:
        return None
    total = _total_order([power for _, power in variables])
    if total != order:
        strict = partial or head.type == "D" or (head.sup is not None)
        if strict:
            raise Fault(item.pos, f"a derivative of order {order} above and {total} below", "the same order in both")
        return None
    kept = [single for single, _ in variables]
    if len(variables) > 1 and all(power.isdigit() and int(power) <= _MAX_REPEATED for _, power in variables):
        kept = [single for single, power in variables for _ in range(int(power))]  # x, x, y: the orders count
        kept.sort(key=lambda single: single[0].text)
    return _Shape("PARTIAL" if partial else "DERIVATIVE", order, above[1:], kept)


def _total_order(powers: list[str]) -> str:
    if len(powers) == 1:
        return powers[0]
    return str(sum(int(power) if power.isdigit() else _UNKNOWN_ORDER for power in powers))


def _variables(below: list[Token], partial: bool) -> list[tuple[list[Token], str]] | None:
    r"""Variables of a denominator such as `dx^2` or `\partial x \partial y`, with their orders; None if it is none."""
    found: list[tuple[list[Token], str]] = []
    index = 0
    while index < len(below):
        head = below[index]
        if not (head.type == "PARTIAL_SIGN" if partial else is_d(head)) or head.sup is not None:
            return None
        index += 1
        start = index
        while index < len(below) and not (below[index].type == "PARTIAL_SIGN" if partial else is_d(below[index])):
            index += 1
        segment = below[start:index]
        single = len(segment) == 1 and segment[0].type in ("SYM", "DERIVATIVE", "PAREN")
        function = len(segment) == 2 and segment[0].type == "FUNCTION" and segment[1].type in ("SYM", "PAREN")
        if not (single or function):
            return None
        if single and segment[0].type == "PAREN" and head.type == "SYM" and len(segment[0].args[0]) == 1:
            return None  # d(x) below a fraction may be a product
        last = segment[-1]
        power = order_of(last.sup)
        if power is None:
            return None
        if last.sup is not None:
            segment = [*segment[:-1], Token(last.type, last.text, last.pos, args=last.args, expr=last.expr)]
        found.append((segment, power))
    return found or None


def _derived(shape: _Shape, item: Token) -> Token:
    """The construct of a shape: a finished derivative, or an operator that still looks for its operand."""
    if not shape.body:
        order = (Token("order", shape.order, 0),)
        return Token("DERIVE", shape.kind, item.pos, item.gap, args=shape.variables, raw=order)
    return Token(shape.kind, shape.order, item.pos, item.gap, args=[shape.body, *shape.variables], sup=item.sup)


# In a row of siblings ---------------------------------------------------------------------------------------


def with_derivatives(items: list[Token], *, everywhere: bool, inside: bool = False) -> list[Token]:
    """Fractions and quotients of differentials to derivatives, and `dx` to a differential where it is one.

    Args:
        everywhere: italic `dx` is a differential in the whole formula.
        inside: the list stands under an integral sign.
    """
    out: list[Token] = []
    count = len(items)
    index = 0
    while index < count:
        item = items[index]
        kind = item.type
        if kind == "INTEGRAL":
            inside = True
        elif kind in ("REL", "COMMA"):
            inside = False
        if kind == "FRAC":
            shape = _derivative_shape(item)
            if shape is not None:
                out.append(_derived(shape, item))
            else:
                _refuse_half_derivative(item)
                if inside:
                    item.args = [with_derivatives(item.args[0], everywhere=everywhere, inside=True), item.args[1]]
                out.append(item)
            index += 1
        elif kind == "PARTIAL_SIGN" or is_d(item):
            index += _inline(items, index, out, everywhere=everywhere, inside=inside)
        else:
            out.append(item)
            index += 1
    return out


def _refuse_half_derivative(item: Token) -> None:
    r"""`\frac{\partial f}{x}` and the like have no reading."""
    if any(token.type == "PARTIAL_SIGN" and token.sub is None for siblings in item.args for token in siblings):
        raise Fault(item.pos, "a fraction with a partial sign that is no derivative", r"\frac{\partial f}{\partial x}")


def _inline(items: list[Token], index: int, out: list[Token], *, everywhere: bool, inside: bool) -> int:
    r"""`dy/dx`, `d/dx`, `\partial_x f`, `dx`: append what stands here, and say how many siblings it takes."""
    head = items[index]
    partial = head.type == "PARTIAL_SIGN"
    rest = items[index + 1 :]
    slash = next((at for at in (0, 1, 2) if len(rest) > at and rest[at].type == "SLASH"), None)
    if slash is not None and len(rest) > slash + 2:
        body, below = rest[:slash], rest[slash + 1 : slash + 3]
        plain = not body or (len(body) == 1 and body[0].type in _DERIVED_BODIES)
        function = len(body) == 2 and body[0].type == "FUNCTION" and body[1].type in ("SYM", "PAREN")
        if function and below[-1].type == "FUNCTION" and len(rest) > slash + 3:  # \partial\ln\psi / \partial\ln x
            below = rest[slash + 1 : slash + 4]
        plain = plain or function
        if plain and (below[0].type == "PARTIAL_SIGN" if partial else is_d(below[0])):
            shape = _derivative_shape(Token("FRAC", "", head.pos, head.gap, args=[[head, *body], below]))
            if shape is not None:
                out.append(_derived(shape, Token("FRAC", "", head.pos, head.gap)))
                return slash + 2 + len(below)
    if partial:
        if head.sub is None and head.sup is not None and head.sup[0].type == "SYM" and len(head.sup) == 1:
            variable = [Token("SYM", f"^{head.sup[0].text}", head.pos)]  # the index of \partial^\mu
            out.append(Token("DERIVE", "PARTIAL", head.pos, head.gap, args=[variable], raw=_inline_order("1")))
            return 1
        if head.sub is None:
            raise Fault(head.pos, r"the sign \partial outside a derivative", r"\frac{\partial f}{\partial x}")
        variable = [Token("SYM", spell(head.raw), head.pos)]
        order = order_of(head.sup)
        if order is None:
            raise Fault(head.pos, "a power of a partial sign that is no order")
        out.append(Token("DERIVE", "PARTIAL", head.pos, head.gap, args=[variable], raw=_inline_order(order)))
        return 1
    after = rest[0] if rest else None
    roman = head.type == "D"
    if after is not None and (roman or inside or everywhere):
        taken = _differential(head, rest, roman or everywhere, inside, out)
        if taken:
            return taken
    if roman:
        out.append(Token("ROMAN", "math", head.pos, head.gap, sup=head.sup, raw=(Token("letter", "d", head.pos),)))
    else:
        out.append(head)
    return 1


def _inline_order(order: str) -> tuple[Token, Token]:
    r"""The order of `\partial_x`, with a mark that the operator stands in the line and reaches to the next one."""
    return Token("order", order, 0), Token("inline", "", 0)


def _differential(head: Token, rest: list[Token], certain: bool, inside: bool, out: list[Token]) -> int:
    """A differential of a symbol, a bracket or a function; 0 if none stands here."""
    after = rest[0]
    order = order_of(head.sup)
    if order is None or (order != "1" and head.type == "SYM" and not inside and not (certain and after.sup is None)):
        return 0  # d^2 m is the square of a distance; `d^3 r` is a measure
    text = "" if order == "1" else order
    if after.type in _DERIVED and not is_d(after):
        power = after.sup
        bare = Token(after.type, after.text, after.pos, args=after.args, expr=after.expr)
        out.append(Token("DIFFERENTIAL", text, head.pos, head.gap, args=[[bare]], sup=power))
        return 2
    if certain and after.type == "PAREN":
        bare = Token("PAREN", after.text, after.pos, args=after.args, raw=after.raw)
        out.append(Token("DIFFERENTIAL", text, head.pos, head.gap, args=[[bare]], sup=after.sup))
        return 2
    if certain and after.type == "FUNCTION" and len(rest) > 1 and rest[1].type in ("SYM", "PAREN"):
        out.append(Token("DIFFERENTIAL", text, head.pos, head.gap, args=[[after, rest[1]]]))
        return 3
    return 0
