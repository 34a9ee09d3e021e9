r"""Derivatives and differentials: `\frac{dy}{dx}`, `dy/dx`, `\partial_x f`, `d^2y/dx^2`, and `dx` where it is one.

An upright d is always a differential. An italic one may be a distance, so one decision is made for the whole formula
(`is_italic_d_differential`): nobody uses both in one formula without writing them differently.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from prism.latex.parsing.names import spell_name
from prism.latex.parsing.tokens import Fault, Token, has_type, split_at

MATERIAL = "D"  # the order of a material derivative, `\frac{D\rho}{Dt}`, and the text of its sign
_DERIVED = ("SYM", "DERIVATIVE")  # what an italic d makes a differential of
_DERIVED_BODIES = frozenset(("SYM", "DERIVATIVE", "PAREN", "APPLY", "BRACKET", "ABS"))  # between d and the slash
_TERM_ENDS = frozenset(("PLUS", "MINUS", "PM", "REL", "COMMA", "ROW", "IMPLIES", "OR"))
_MAX_REPEATED = 6  # order of one variable among several
_NO_ORDER = 99  # stands for an order that is no number among several variables; no derivative has it
_SEVERAL_VARIABLES = re.compile("[rstuvxyz]{2,4}")  # an index of which each letter is a variable


def is_d_sign(item: Token) -> bool:
    """Return True if an item can be the d of `dx`: an upright d, or the letter d without subscript."""
    return item.type == "D" or (item.type == "SYM" and item.text == "d")


# Is d a differential? ---------------------------------------------------------------------------------------


def is_italic_d_differential(items: list[Token]) -> bool:
    """Return True if each italic `dx` of a formula is a differential, False if it is a product of d and x.

    It is a differential if d is no symbol of its own (`d_1`, `2d`) and there is further evidence: two such pairs or
    `dx` and `d(`, an upright d, a derivative, an integral, `x + dx`, or nothing but `dx`. `F = dm` stays a product.

    Args:
        items: the whole formula at its outer level.
    """
    pairs = own = brackets = 0
    certain = (
        len(items) == 2 and is_d_sign(items[0]) and items[0].sup is None and items[1].type == "SYM"
    )  # nothing but `dx`
    alone: set[str] = set()
    derived: set[str] = set()
    stack = [items]
    while stack:
        siblings = stack.pop()
        for index, item in enumerate(siblings):
            stack.extend(item.args)
            if item.sup is not None:
                stack.append(item.sup)
            if item.type == "SYM" and not (index and is_d_sign(siblings[index - 1])):
                alone.add(item.text)
            if item.type in ("INTEGRAL", "D", "NABLA"):
                certain = True
            elif item.type == "FRAC" and _match_derivative(item) is not None:
                certain = True
                for part in item.args:  # what stands in it is no evidence of its own, and is still to be counted
                    lone, paired = _count_italic_d(part)
                    own -= lone
                    pairs -= paired
            elif item.type == "SYM" and item.text.startswith("d_"):
                own += 1
            elif item.type == "SYM" and item.text.startswith("\\delta "):
                pairs += 1  # an inexact differential
            elif item.type == "SYM" and item.text == "d":
                if _is_operator_with_slash(siblings, index):
                    certain = True
                else:
                    lone, paired = _classify_italic_d(siblings, index)
                    own += lone
                    pairs += paired
                    brackets += index + 1 < len(siblings) and siblings[index + 1].type == "PAREN"
                    if paired and item.sup is None and index and siblings[index - 1].type in ("PLUS", "MINUS"):
                        derived.add(siblings[index + 1].text)
    return own <= 0 and (pairs >= 2 or certain or bool(alone & derived) or bool(pairs and brackets))  # `x + dx`


def _classify_italic_d(siblings: list[Token], index: int) -> tuple[int, int]:
    r"""Count the d at an index as (symbols, pairs): (1, 0) for `2d`, (0, 1) for `dx`, (0, 0) for `d(`, `d\sin`."""
    after = siblings[index + 1] if index + 1 < len(siblings) else None
    if after is not None and after.type in _DERIVED and not is_d_sign(after):
        return (1, 0) if siblings[index].sup is not None and after.sup is not None else (0, 1)
    return (0, 0) if after is not None and after.type in ("FUNCTION", "PAREN") else (1, 0)


def _count_italic_d(siblings: list[Token]) -> tuple[int, int]:
    """Return how many italic d among items are symbols (`2d`), and how many begin a pair `dx`."""
    found = [
        _classify_italic_d(siblings, index)
        for index, item in enumerate(siblings)
        if item.type == "SYM" and is_d_sign(item)
    ]
    return sum(lone for lone, _ in found), sum(pair for _, pair in found)


def _is_operator_with_slash(siblings: list[Token], index: int) -> bool:
    """Return True if the d at an index begins the operator `d/dx`: a slash and a second d stand behind it."""
    return index + 2 < len(siblings) and siblings[index + 1].type == "SLASH" and is_d_sign(siblings[index + 2])


# Fractions that are derivatives -----------------------------------------------------------------------------


@dataclass(slots=True)
class _DerivativeShape:
    """The parts of a fraction that is a derivative, as of `d^2y/dx^2`.

    Attributes:
        kind: DERIVATIVE or PARTIAL, the type of the token.
        order: as written, `2` or `n`; `1` if nothing is written.
        body: items that are differentiated, y here; empty for the operator `d/dx` alone.
        variables: one list of items a variable, x here; several variables stand each as often as its order says.
    """

    kind: str
    order: str
    body: list[Token]
    variables: list[list[Token]]


_RAISED = [[letter] for letter in (r"\alpha", r"\beta", r"\rho", r"\sigma", r"\lambda", r"\kappa", r"\gamma")]


def derivative_order(sup: list[Token] | None) -> str | None:
    """Return the order of a derivative from a superscript: `2`, `n` or `m-1`, `1` for None; None if it is neither."""
    if sup is None:
        return "1"
    if len(sup) == 1 and sup[0].sup is None and sup[0].type in ("NUM", "SYM"):
        return sup[0].text
    is_shifted = [part.type for part in sup] in (["SYM", "PLUS", "NUM"], ["SYM", "MINUS", "NUM"])
    return "".join(part.text for part in sup) if is_shifted and not any(part.sup for part in sup) else None


def _match_derivative(item: Token) -> _DerivativeShape | None:
    r"""Return the parts of a FRAC token that is a derivative, `\frac{d^2y}{dx^2}`, or None if it is none.

    Orders that differ above and below raise a Fault; for italic d without an order above they give None.
    """
    above, below = item.args
    if not above or not below:
        return None
    head = above[0]
    partial = head.type == "PARTIAL_SIGN"
    if not (partial or is_d_sign(head)) or head.sub is not None:
        return None
    order = derivative_order(head.sup)
    variables = _match_variables(below, partial)
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
    if head.text == MATERIAL and order != "1":
        raise Fault(item.pos, "a material derivative of higher order", "its terms written out")
    order = MATERIAL if head.text == MATERIAL else order
    return _DerivativeShape("PARTIAL" if partial else "DERIVATIVE", order, above[1:], kept)


def _total_order(powers: list[str]) -> str:
    """Return the sum of the orders of several variables, `3` for `2` and `1`; a single order as written, `n`."""
    if len(powers) == 1:
        return powers[0]
    return str(sum(int(power) if power.isdigit() else _NO_ORDER for power in powers))


def _match_variables(below: list[Token], partial: bool) -> list[tuple[list[Token], str]] | None:
    r"""Return (items, order) of each variable in the denominator of a derivative, `dx^2` or `\partial x \partial y`.

    None means that the denominator is not of this form.

    Args:
        partial: the signs have to be `\partial` in place of d.
    """
    found: list[tuple[list[Token], str]] = []
    index = 0
    while index < len(below):
        head = below[index]
        if not (head.type == "PARTIAL_SIGN" if partial else is_d_sign(head)) or head.sup is not None:
            return None
        index += 1
        start = index
        while index < len(below) and not (below[index].type == "PARTIAL_SIGN" if partial else is_d_sign(below[index])):
            index += 1
        segment = below[start:index]
        single = len(segment) == 1 and segment[0].type in ("SYM", "DERIVATIVE", "PAREN")
        function = len(segment) == 2 and segment[0].type == "FUNCTION" and segment[1].type in ("SYM", "PAREN")
        if not (single or function):
            return None
        if single and segment[0].type == "PAREN" and head.type == "SYM" and len(segment[0].args[0]) == 1:
            return None  # d(x) below a fraction may be a product
        last = segment[-1]
        if partial and last.text == "x" and last.sup is not None and [each.text for each in last.sup] in _RAISED:
            last = Token(last.type, f"x^{{{last.sup[0].text}}}", last.pos, last.gap)
            segment = [*segment[:-1], last]
        power = derivative_order(last.sup)
        if power is None:
            return None
        if last.sup is not None:
            segment = [*segment[:-1], Token(last.type, last.text, last.pos, args=last.args, expr=last.expr)]
        found.append((segment, power))
    return found or None


def _derivative_token(shape: _DerivativeShape, item: Token) -> Token:
    """Make the token of a derivative, or DERIVE for the operator `d/dx` alone, whose operand is attached later.

    Args:
        item: the fraction, which gives the position and power of the result.
    """
    if not shape.body:
        order = (Token("order", shape.order, 0),)
        return Token("DERIVE", shape.kind, item.pos, item.gap, args=shape.variables, raw=order)
    return Token(shape.kind, shape.order, item.pos, item.gap, args=[shape.body, *shape.variables], sup=item.sup)


# In a row of siblings ---------------------------------------------------------------------------------------


def resolve_derivatives(items: list[Token], *, everywhere: bool, inside: bool = False) -> list[Token]:
    """Return the items with derivatives for fractions such as `dy/dx`, and a differential for `dx` where it is one.

    Raises Fault for a fraction with differentials that is no derivative.

    Args:
        everywhere: italic `dx` is a differential in the whole formula.
        inside: the items stand under an integral sign.
    """
    out: list[Token] = []
    index = 0
    while index < len(items):
        item = items[index]
        kind = item.type
        if kind == "INTEGRAL":
            inside = True
        elif kind == "PAREN" and item.text in ("(", "[") and inside and (opened := _opened_bracket(items, index)):
            items = [*items[:index], *opened, *items[index + 1 :]]
            continue
        elif kind in ("REL", "COMMA"):
            inside = False
        if kind == "FRAC":
            shape = _match_derivative(item)
            if shape is not None:
                out.append(_derivative_token(shape, item))
            else:
                if any(part.type == "PARTIAL_SIGN" and part.sub is None for arg in item.args for part in arg):
                    found = "a fraction with a partial sign that is no derivative"
                    raise Fault(item.pos, found, r"\frac{\partial f}{\partial x}")
                if inside:
                    item.args = [resolve_derivatives(item.args[0], everywhere=everywhere, inside=True), item.args[1]]
                out.append(item)
            index += 1
        elif kind == "PARTIAL_SIGN" or is_d_sign(item):
            index += _append_inline_derivative(items, index, out, everywhere=everywhere, inside=inside)
        else:
            out.append(item)
            index += 1
    return out


def _opened_bracket(items: list[Token], index: int) -> list[Token]:
    r"""Return what stands in the bracket that ends an integral if it holds the measure, `\int (p\,dV)`; else nothing.

    Args:
        items: a row of siblings with an integral sign before the bracket.
        index: of the bracket.
    """
    start = max((at for at in range(index) if items[at].type == "INTEGRAL"), default=0)
    behind = items[index + 1].type if index + 1 < len(items) else "REL"
    inner, body = items[index].args[0], items[start:index]
    n_signs = int(inner[0].type == "MINUS")
    terms = split_at(inner, ("PLUS", "MINUS"))
    if items[index].sup is None and index == start + 1 and behind in _TERM_ENDS and len(terms) > 1:
        return inner if all(_has_measure(term) for term in terms) else []  # `\oint (P\,dx + Q\,dy)`
    is_factor = items[index].sup is None and (not index or items[index - 1].type != "FUNCTION")
    is_single = is_factor and not has_type(inner[n_signs:], "PLUS", "MINUS", "PM", "COMMA", "REL")
    if behind not in _TERM_ENDS or not is_single or _has_measure(body) or not _has_measure(inner):
        return []
    minus_one = Token("PAREN", "(", inner[0].pos, args=[[inner[0], Token("NUM", "1", inner[0].pos)]])
    return [*([minus_one] if n_signs else []), *inner[n_signs:]]


def _has_measure(items: list[Token]) -> bool:
    r"""Return True if a differential such as `dx` stands among items, or above a fraction among them."""
    return any(
        (is_d_sign(item) and behind.type in _DERIVED) or (item.type == "FRAC" and _has_measure(item.args[0]))
        for item, behind in zip(items, [*items[1:], *items[-1:]], strict=True)
    )


def _append_inline_derivative(
    items: list[Token], index: int, out: list[Token], *, everywhere: bool, inside: bool
) -> int:
    r"""Read `dy/dx`, `d/dx`, `\partial_x` or `dx` at an index, append its token, and return how many items it spans.

    A d which begins none of these is appended as the letter d; a lone `\partial` raises a Fault.

    Args:
        everywhere: italic `dx` is a differential in the whole formula.
        inside: the items stand under an integral sign.
    """
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
        if plain and (below[0].type == "PARTIAL_SIGN" if partial else is_d_sign(below[0])):
            shape = _match_derivative(Token("FRAC", "", head.pos, head.gap, args=[[head, *body], below]))
            if shape is not None:
                out.append(_derivative_token(shape, Token("FRAC", "", head.pos, head.gap)))
                return slash + 2 + len(below)
    if partial:
        if head.sub is None and head.sup is not None and head.sup[0].type == "SYM" and len(head.sup) == 1:
            variable = [Token("SYM", f"^{head.sup[0].text}", head.pos)]  # the index of \partial^\mu
            out.append(Token("DERIVE", "PARTIAL", head.pos, head.gap, args=[variable], raw=_inline_marks("1")))
            return 1
        if head.sub is None:
            raise Fault(head.pos, r"the sign \partial outside a derivative", r"\frac{\partial f}{\partial x}")
        order = derivative_order(head.sup)
        if order is None:
            raise Fault(head.pos, "a power of a partial sign that is no order")
        order, variables = _variables_of_index(spell_name(head.raw), order)
        named = [[Token("SYM", name, head.pos)] for name in variables]
        out.append(Token("DERIVE", "PARTIAL", head.pos, head.gap, args=named, raw=_inline_marks(order)))
        return 1
    after = rest[0] if rest else None
    roman = head.type == "D"
    if after is not None and (roman or inside or everywhere):
        taken = _append_differential(head, rest, roman or everywhere, inside, out)
        if taken:
            return taken
    if roman:
        out.append(Token("ROMAN", "math", head.pos, head.gap, sup=head.sup, raw=(Token("letter", "d", head.pos),)))
    else:
        out.append(head)
    return 1


def _variables_of_index(index: str, order: str) -> tuple[str, Sequence[str]]:
    r"""Return order and variables of a derivative by the index of its sign: `\partial_{xx}` is the second by x.

    Several small letters are a variable each, those of numbered or Greek indices one name.
    """
    if order != "1" or not _SEVERAL_VARIABLES.fullmatch(index):
        return order, (index,)
    return str(len(index)), index[:1] if len(set(index)) == 1 else tuple(index)


def _inline_marks(order: str) -> tuple[Token, Token]:
    r"""Return the raw tokens of a DERIVE token for `\partial_x`: its order, and the mark `inline`.

    The mark says that the operand of an operator before it ends here: `\partial_x f \partial_y g` is a product.
    """
    return Token("order", order, 0), Token("inline", "", 0)


def _append_differential(head: Token, rest: list[Token], certain: bool, inside: bool, out: list[Token]) -> int:
    """Append the differential of the symbol, bracket or function behind a d; return how many items it has with the d.

    Nothing is appended for the result 0: `d^2 m` is the square of a distance times m.

    Args:
        head: the d.
        rest: the items behind it, at least one.
        certain: `dx` is a differential anywhere in the formula; brackets and functions have one only then.
        inside: the d stands under an integral sign.
    """
    after = rest[0]
    order = derivative_order(head.sup)
    if order is None or (order != "1" and head.type == "SYM" and not inside and not (certain and after.sup is None)):
        return 0  # d^2 m is the square of a distance; `d^3 r` is a measure
    text = "" if order == "1" else order
    if after.type in _DERIVED and not is_d_sign(after):
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
