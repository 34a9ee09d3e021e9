"""Fill the blanks of a wording: `@{x}` with symbol and value, `@{x:value}` with the value, `@{case}` with a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from prism.generation.template import CASE_BLANK, Parameter
from prism.generation.values import DrawnValue

_BLANK = re.compile(r"@\{((?:[^{}:]|\{[^{}]*\})*)(:value)?\}")
_MATH = re.compile(r"\$\$.*?\$\$|(?<!\\)\$(?:\\.|[^$\\])*\$|\\\(.*?\\\)|\\\[.*?\\\]", re.DOTALL)
_TRAILING = re.compile(r"[ \t]+(?=\n|$)")


def blanks_of(text: str) -> Iterator[tuple[str, bool]]:
    r"""Yield (name, whether only the value stands there) of each blank of a text.

    >>> list(blanks_of(r"At @{v_{max}} and @{\mu:value}."))
    [('v_{max}', False), ('\\mu', True)]
    """
    for found in _BLANK.finditer(text):
        yield found[1], found[2] is not None


def blanks_in_math(text: str) -> Iterator[str]:
    r"""Yield the name of each blank that stands inside of a formula, where its own dollar signs would end it.

    >>> list(blanks_in_math(r"The mass $m = @{m:value}$ at @{v_0} and $t$."))
    ['m']
    """
    for formula in _MATH.finditer(text):
        yield from (key for key, _ in blanks_of(formula[0]))


def fill_blanks(text: str, filled: Callable[[str, bool], str]) -> str:
    """Return a text with its blanks filled.

    Args:
        filled: returns what stands for a blank, from its name and whether only the value is asked for.
    """
    return _TRAILING.sub("", _BLANK.sub(lambda found: filled(found[1], found[2] is not None), text)).strip()


def with_values(text: str, case_text: str, parameters: Mapping[str, Parameter], drawn: Mapping[str, DrawnValue]) -> str:
    """Return a wording with the text of its case, and with the drawn values."""

    def filled(key: str, is_value_only: bool) -> str:
        return shown_value(parameters[key], drawn[key], is_value_only=is_value_only)

    whole = _BLANK.sub(lambda found: case_text if found[1] == CASE_BLANK else found[0], text)
    return fill_blanks(whole, filled)


def shown_value(parameter: Parameter, value: DrawnValue, *, is_value_only: bool) -> str:
    r"""Return what stands for a blank: `$x = 24.0\unit{m/s}$`, the value alone, or a word."""
    if not parameter.name:
        return value.text
    return f"${number_latex('' if is_value_only else parameter.key, value.text, parameter.unit_text)}$"


def unit_latex(unit: str) -> str:
    r"""Return a unit as it stands behind a number, `\unit{m/s}`; a percent sign begins no comment there."""
    escaped = unit if r"\%" in unit else unit.replace("%", r"\%")
    return rf"\unit{{{escaped}}}" if unit else ""


def number_latex(latex: str, text: str, unit: str) -> str:
    r"""Return a quantity with its number, `s = 58.7\unit{m}`; without a quantity only the number."""
    measured = text + unit_latex(unit)
    return f"{latex} = {measured}" if latex else measured
