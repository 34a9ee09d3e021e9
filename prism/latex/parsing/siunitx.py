r"""Numbers, angles and quantities of the package siunitx: `\num{1.2e3}`, `\ang{30;15;}`, `\SI{2.50(5)}{m/s}`.

A number is written there as on a calculator (siunitx manual, 4.2): blanks group digits, `e` and `d` begin an exponent,
`x` multiplies, and `(5)` or `+-` is an uncertainty, which elsewhere may be a factor or a signed term. The unit stays a
roman text, for `unit_text` to read.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from prism.latex.parsing.leaves import Cursor, read_power
from prism.latex.parsing.names import flat_argument
from prism.latex.parsing.tokens import EXPONENT_READ, MAX_DIGITS, MAX_TEN_EXPONENT, Fault, Token, unit_token

_ARC = ("deg", "arcmin", "arcsec")
_NUMBERED = frozenset((r"\SI", r"\qty", r"\num", r"\ang"))  # a number comes first
SIUNITX = _NUMBERED | {r"\si", r"\unit"}
_EXPONENTS = frozenset("eEdD")
_THOUSANDS = 3  # digits behind a comma that may be thousands


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
    """Return the flat tokens of a number in the spelling of formulas: `3 x 10^4`, `1.2d3`, `2.50(5)`, `12 345`.

    Raises Fault beyond MAX_DIGITS digits.
    """
    out: list[Token] = []
    index = 0
    while index < len(inner):
        part = inner[index]
        index += 1
        last = out[-1] if out and out[-1].type == "number" and "e" not in out[-1].text else None
        rest = [each.type for each in inner[index : index + 2]]
        if part.text == "x" and part.type == "letter":
            out.append(Token("TIMES", r"\times", part.pos))
        elif part.text in _EXPONENTS and (digits := _exponent(inner, index)) and (last or not out):
            mantissa = out.pop().text if last else "1"
            out.append(Token("number", f"{mantissa}e{digits}", part.pos))
            index += 1 + (inner[index].type != "number")
        elif last and part.type == "number" and part.text.isdigit():
            out[-1] = replace(last, text=last.text + part.text)
            if len(out[-1].text) > MAX_DIGITS:
                raise Fault(part.pos, f"a number of more than {MAX_DIGITS} digits", kind="limit")
        elif part.type == "PLUS" and rest[:1] == ["MINUS"]:
            out.append(Token("PM", r"\pm", part.pos))
            index += 1
        elif part.text == "," and last and last.text.isdigit() and _is_decimal(inner[index:]):
            out[-1] = Token("number", f"{last.text}.{inner[index].text}", last.pos, last.gap)
            index += 1
        elif part.text == "(" and last and rest == ["number", "CLOSE"]:
            out += [Token("PM", r"\pm", part.pos), Token("number", _in_last_digits(last, inner[index]), part.pos)]
            index += 2
        else:
            out.append(part)
    return out


def _exponent(inner: list[Token], index: int) -> str:
    """Return the whole number with its sign that stands at an index of a number's tokens; empty for none."""
    types = [part.type for part in inner[index : index + 2]]
    signed = types in (["MINUS", "number"], ["PLUS", "number"])
    digits = inner[index + signed].text if signed or types[:1] == ["number"] else ""
    if not digits.isdigit() or int(digits[:EXPONENT_READ]) > MAX_TEN_EXPONENT:
        return ""
    return ("-" if types[0] == "MINUS" else "") + digits


def _is_decimal(rest: list[Token]) -> bool:
    """Return True if the digits behind a comma are decimals: whole, and not three, which may be thousands."""
    return bool(rest) and rest[0].type == "number" and rest[0].text.isdigit() and len(rest[0].text) != _THOUSANDS


def _in_last_digits(number: Token, uncertainty: Token) -> str:
    """Return an uncertainty that is told in the last digits of a number, 0.05 for the 5 of `2.50(5)`.

    Errors:
        Fault: the uncertainty is no whole number.
    """
    if not uncertainty.text.isdigit() or "e" in number.text:
        raise Fault(uncertainty.pos, "an uncertainty that is no whole number of last digits")
    n_decimals = len(number.text.partition(".")[2])
    return format(Decimal(uncertainty.text).scaleb(-n_decimals), "f")


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
