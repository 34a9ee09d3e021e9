r"""Decimal commas: `v = 3,57\,\mathrm{m/s}` in a text that writes its numbers so, read as `3.57` (semantics C.6).

One reading holds for a whole text, from signs that leave no doubt: no number has a decimal point, and some number has a
comma where no list and no thousand has one, as `\num{0,72}`, `0,72`, or `3,57` before a unit. Then a comma between the
only two digits of a number is its decimal comma; in an index and in a pair in brackets it parts a list as before. In
braces, `2{,}845`, it is one if another number shows that, as `1{,}84` does.

Refused: reading `3,57` by what would fit, and a lone `1,234 m`, which may be a thousand.
"""

from __future__ import annotations

import re

from prism.latex.words import UNIT_EXPRESSION, compiled

_POINT = re.compile(r"\d\.\d")
_COMMA = re.compile(r"(?<=\d),(?=\d)")
_ALONE = r"(?<![\d.,])"  # no other comma or point belongs to the number
_UNDOUBTED = re.compile(rf"\\(?:num|SI|qty)\{{\d+,\d+\}}|{_ALONE}(?<![(\[|])(?<!(?<!boxed)\{{)0,\d{{2,}}(?![\d,])")
_BEFORE_UNIT = (
    rf"{_ALONE}\d{{1,9}},(?:\d{{1,2}}|\d{{4,9}})(?![\d,])\s?\$?(?:\\[,;: ]|[ ~])?\s?"
    rf"(?:\\(?:text|mathrm|unit|si|rm)\s?\{{\s?{UNIT_EXPRESSION}|{UNIT_EXPRESSION}(?![A-Za-z]))"
)
_BRACED = re.compile(r"\d\{,\}\d")
_DECIMAL_BRACED = re.compile(r"(?<![\d}.])(?:0\{,\}\d+|\d{1,9}\{,\}(?:\d{1,2}|\d{4,9}))(?![\d{])")  # no thousands
_OPEN_BRACED = re.compile(r"(?<![\d}.])(\d{1,3})\{,\}(\d{3})(?![\d{])")
_DECIMAL = re.compile(r"(?<![\d,])(?<!_\{)(?P<open>[(\[]?)\d{1,20},\d{1,20}(?![\d,])(?P<close>[)\]]?)")


def with_decimal_points(text: str) -> str:
    r"""Return a text with points in place of its decimal commas, offsets unchanged; the same text if it has none.

    >>> with_decimal_points(r"$v = 3,57\,\mathrm{m/s}$ at $n = 1,2,3$")
    '$v = 3.57\\,\\mathrm{m/s}$ at $n = 1,2,3$'
    >>> with_decimal_points("$(x, y) = (3,57)$, 1,234 m")
    '$(x, y) = (3,57)$, 1,234 m'
    >>> with_decimal_points("$a = 2{,}845$, $b = 1{,}84$"), with_decimal_points("$a = 2{,}845$, $b = 12{,}000$")
    ('$a = 2.845  $, $b = 1{,}84$', '$a = 2{,}845$, $b = 12{,}000$')
    """
    if _POINT.search(text):
        return text
    is_decimal = bool(_COMMA.search(text)) and bool(_UNDOUBTED.search(text) or compiled(_BEFORE_UNIT).search(text))
    if _BRACED.search(text) and (is_decimal or _DECIMAL_BRACED.search(text)):
        text = _OPEN_BRACED.sub(r"\1.\2  ", text)  # as long as it was
    return _DECIMAL.sub(_with_point, text) if is_decimal else text


def _with_point(number: re.Match[str]) -> str:
    """Return a number with a point for its comma; a pair in brackets as it stands."""
    return number[0] if number["open"] and number["close"] else number[0].replace(",", ".")
