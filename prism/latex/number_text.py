r"""Numbers as people type them: `1,250`, `-3.5e-4`, `1.6 x 10^{-19}`, `10^3`, `1/2`.

One pattern reads them in givens, in typed answers and in answers that a data set records.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from prism.errors import PrismError

MAX_TEN_POWER = 400  # beyond floating point, and a fraction of a billion digits is an attack on memory
_WHOLE = r"[-+]?\d{1,9}"
_SEPARATOR = re.compile(r",|\{,\}|\\,|\\!")  # of thousands
_NUMBER = re.compile(
    r"\s*(?P<sign>[-+−]?)\s*(?:(?P<over>\d+)/(?P<under>\d+)(?![\d.]*[A-Za-z^])"
    r"|(?:(?!10\s*\^)(?P<digits>\d{1,3}(?:(?:,|\{,\}|\\,|\\!)\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d*)?|\.\d+)"
    rf"(?:[eE](?P<exponent>{_WHOLE}))?(?:\s*(?:\\times|\\cdot|×|·|[xX*])(?=\s*10\s*\^))?)?"
    rf"(?:\s*10\s*\^\s*(?:(?P<bare>{_WHOLE})|\{{\s*(?P<braced>{_WHOLE})\s*\}}|\(\s*(?P<bracketed>{_WHOLE})\s*\)))?)"
)

NUMBER = (
    r"[-+−]?(?:\d{1,3}(?:,\d{3})+|\d{1,300})(?:\.\d{1,300})?"
    r"(?:[eE][-+−]?\d{1,3}\b|\s*(?:\\times|\\cdot|[×x*·])\s*10\s*\^\s*(?:\{[-+−]?\d{1,3}\}|[-+−]?\d{1,3}))?"
)
"""Pattern of a number within a text, which is searched for one."""


@dataclass(frozen=True, slots=True)
class NumberText:
    """A number that a text begins with.

    Attributes:
        mantissa: sign and digits, without separators of thousands; or a fraction, `1/2`.
        power: of ten.
        end: offset behind it.
        has_groups: separators of thousands parted its digits.
    """

    mantissa: str
    power: int
    end: int
    has_groups: bool = False

    @property
    def value(self) -> Fraction:
        """Return the exact value.

        Errors:
            PrismError: it divides by zero, or is beyond what can be computed with.
        """
        if abs(self.power) > MAX_TEN_POWER:
            raise PrismError(f"10^{self.power} is beyond what can be computed with")
        over, _, under = self.mantissa.partition("/")
        if under and not int(under):
            raise PrismError(f"{self.mantissa!r} divides by zero")
        return Fraction(over) / int(under or 1) * Fraction(10) ** self.power

    @property
    def latex(self) -> str:
        """Return the number as LaTeX."""
        over, slash, under = self.mantissa.partition("/")
        written = rf"\frac{{{over}}}{{{under}}}" if slash else self.mantissa
        return rf"{written} \times 10^{{{self.power}}}" if self.power else written


def read_number_text(text: str) -> NumberText | None:
    r"""Return the number that a text begins with; None if it begins with none.

    >>> [read_number_text(text).latex for text in ("1,250 m", "- 3.5e-4", r"1.6 x 10^{-19}", "10^3 Pa", "1/2 h")]
    ['1250', '-3.5 \\times 10^{-4}', '1.6 \\times 10^{-19}', '1 \\times 10^{3}', '\\frac{1}{2}']
    """
    found = _NUMBER.match(text)
    parts = {} if found is None else {name: part for name, part in found.groupdict().items() if part}
    if found is None or not parts.keys() - {"sign"}:
        return None
    sign = "-" if parts.get("sign") in ("-", "−") else ""
    digits = f"{parts['over']}/{parts['under']}" if "over" in parts else parts.get("digits", "1")
    plain = _SEPARATOR.sub("", digits)
    tens = parts.get("bare") or parts.get("braced") or parts.get("bracketed") or 0
    return NumberText(sign + plain, int(parts.get("exponent", 0)) + int(tens), found.end(), plain != digits)
