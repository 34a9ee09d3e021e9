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
        body = cursor.read_apart(_numeral(inner), token.pos, depth=cursor.depth)
        if not body:
            raise Fault(token.pos, f"{name} without a number")
        items.append(body[0] if len(body) == 1 else Token("PAREN", "{", token.pos, token.gap, args=[body]))
    if name == r"\ang" and not any(part.text == ";" for part in inner):
        items.append(unit_token("deg", token.pos))
    elif name not in (r"\num", r"\ang"):
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
    if ";" in text:
        text = _angle_in_parts(text, inner[0].pos)
    return [replace(part, pos=inner[0].pos) for part in tokenize(" " * inner[0].pos + text)[:-1]]


def _read_option(cursor: Cursor) -> list[Token]:
    """Return the tokens of a number in square brackets at the cursor; skip any other option and return no tokens."""
    start = cursor.index
    if cursor.tokens[start].text != "[":
        return []
    end = next((at for at in range(start, len(cursor.tokens)) if cursor.tokens[at].text == "]"), None)
    cursor.index = start if end is None else end + 1
    option = [] if end is None else list(cursor.tokens[start + 1 : end])
    return option if option and option[0].type == "number" else []


def _angle_in_parts(text: str, pos: int) -> str:
    r"""Return `30;15;36`, degrees with minutes and seconds of arc, as a formula in brackets.

    Raises Fault for other parts than plain numbers, and for none.
    """
    sign = "-" * text.startswith("-")
    numbers = [part.strip() for part in text[len(sign) :].split(";")]
    if len(numbers) > len(_ARC) or not all(part.replace(".", "", 1).isdigit() for part in numbers if part):
        raise Fault(pos, "an angle in parts that are no plain numbers", "degrees;minutes;seconds")
    parts = [rf"{part}\unit{{{name}}}" for name, part in zip(_ARC, numbers, strict=False) if part]
    if not parts:
        raise Fault(pos, "an angle without a number")
    return f"{sign}({'+'.join(parts)})"
