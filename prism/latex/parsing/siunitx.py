r"""Numbers, angles and quantities of the package siunitx: `\num{1.2e3}`, `\ang{30;15;}`, `\SI{2.50(5)}{m/s}`.

A number is written there as on a calculator (siunitx manual, 4.2): blanks group digits, `e` and `d` begin an exponent,
`x` multiplies, and `(5)` or `+-` is an uncertainty, which elsewhere may be a factor or a signed term. The unit stays a
roman text, for `unit_text` to read.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from prism.latex.parsing.leaves import Cursor, read_power
from prism.latex.parsing.names import flat_argument
from prism.latex.parsing.tokens import Fault, Token, tokenize, unit_token

_ARC = ("deg", "arcmin", "arcsec")
_NUMBERED = frozenset((r"\SI", r"\qty", r"\num", r"\ang"))  # a number comes first
SIUNITX = _NUMBERED | {r"\si", r"\unit"}
_SPELLINGS = tuple((re.compile(pattern), spelled) for pattern, spelled in (
    (r"(?<=\d) +(?=\d)", ""),
    (r"(?<![A-Za-z\\])x(?![A-Za-z])", r"\\times "),
    (r"(?<![A-Za-z\\]) *[eEdD] *(?=[-+]?\d)", "e"),
    (r"(?<!\d)e(?=[-+]?\d)", "1e"),
    (r"\+ *-", r"\\pm "),
    (r"(?<![\d.,])(\d+),(\d\d?|\d{4,})(?![\d.])", r"\1.\2"),  # three digits may be thousands
))  # fmt: skip
_UNCERTAIN = re.compile(r"\d(?:\.(?P<decimals>\d*))?(?P<mark>\((?P<last>[^()]*)\))")


def read_siunitx(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Read a command of siunitx and append number and unit: `\SI{2.5e3}{m/s}`, `\qty`, `\num`, `\ang`, `\si`.

    Raises Fault without a number.
    """
    name = token.text
    option = _read_option(cursor)
    if name == r"\unit" and option:
        items.extend(cursor.read_apart(option, token.pos, depth=cursor.depth))  # `\unit[5]{m}` of the package units
    if name in _NUMBERED:
        inner, cursor.index = flat_argument(cursor.tokens, cursor.index)
        number = _numeral(inner)
        if name == r"\ang" and any(part.text == ";" for part in number):
            items.append(_read_angle_in_parts(cursor, token, number))
            return
        body = cursor.read_apart(number, token.pos, depth=cursor.depth)
        if not body:
            raise Fault(token.pos, f"{name} without a number")
        items.append(body[0] if len(body) == 1 else Token("PAREN", "{", token.pos, token.gap, args=[body]))
    if name == r"\ang":
        items.append(unit_token("deg", token.pos))
    elif name != r"\num":
        inner, cursor.index = flat_argument(cursor.tokens, cursor.index)
        items.append(Token("ROMAN", "unit", token.pos, token.gap, raw=inner))
        if cursor.tokens[cursor.index].type == "^":
            cursor.index += 1
            items[-1].sup = read_power(cursor)


def _numeral(inner: list[Token]) -> list[Token]:
    r"""Return the flat tokens of a number in the spelling of formulas: `3 x 10^4`, `1.2d3`, `2.50(5)`, `12 345`."""
    if not inner:
        return []
    text = "".join(f"{' ' * bool(part.gap)}{part.text}{' ' * part.text.startswith(chr(92))}" for part in inner)
    for pattern, spelled in _SPELLINGS:
        text = pattern.sub(spelled, text)
    uncertain = _UNCERTAIN.search(text)
    if uncertain is not None:
        if not uncertain["last"].isdigit():
            raise Fault(inner[0].pos, "an uncertainty that is no whole number of last digits")
        spread = Decimal(uncertain["last"]).scaleb(-len(uncertain["decimals"] or ""))
        text = rf"{text[: uncertain.start('mark')]} \pm {spread:f}{text[uncertain.end() :]}"
    return [replace(part, pos=inner[0].pos) for part in tokenize(" " * inner[0].pos + text)[:-1]]


def _read_option(cursor: Cursor) -> list[Token]:
    """Return the tokens of a number in square brackets at the cursor; skip any other option and return no tokens."""
    start = cursor.index
    if cursor.tokens[start].text != "[":
        return []
    end = start + 1
    while cursor.tokens[end].text != "]":
        if cursor.tokens[end].type == "END":
            return []
        end += 1
    cursor.index = end + 1
    option = list(cursor.tokens[start + 1 : end])
    return option if option and option[0].type == "number" else []


def _read_angle_in_parts(cursor: Cursor, token: Token, inner: list[Token]) -> Token:
    r"""Return `\ang{30;15;36}` as a bracket with the sum of degrees, minutes and seconds of arc.

    Raises Fault for other parts than plain numbers, and for none.

    Args:
        inner: tokens of the argument.
    """
    sign = [Token("MINUS", "-", token.pos)] if inner[0].type == "MINUS" else []
    numbers: list[list[Token]] = [[]]
    for part in inner[len(sign) :]:
        if part.text == ";":
            numbers.append([])
        else:
            numbers[-1].append(part)
    if len(numbers) > len(_ARC) or any([part.type for part in digits] not in ([], ["number"]) for digits in numbers):
        raise Fault(token.pos, "an angle in parts that are no plain numbers", "degrees;minutes;seconds")
    body: list[Token] = []
    for name, digits in zip(_ARC, numbers, strict=False):
        if digits:
            body += [Token("PLUS", "+", digits[0].pos)] * bool(body)
            body += [*cursor.read_apart(digits, token.pos, depth=cursor.depth), unit_token(name, digits[0].pos)]
    if not body:
        raise Fault(token.pos, "an angle without a number")
    whole = Token("PAREN", "(", token.pos, token.gap, args=[body])
    return Token("PAREN", "(", token.pos, token.gap, args=[[*sign, whole]]) if sign else whole
