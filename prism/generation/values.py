"""The values of an instance: drawn by its seed, or the author's own, as text and in SI units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from prism.generation.drawing import (
    draw_index,
    draw_integer,
    draw_log_uniform,
    draw_uniform,
    draw_unit,
    draw_weighted,
)
from prism.generation.exact_values import Value, digits, figures_of, in_si, read_digits, rounded
from prism.generation.template import Original, Parameter, Template


@dataclass(frozen=True, slots=True)
class DrawnValue:
    r"""The value of a parameter.

    Attributes:
        text: as it is written, without unit: `24.0`, `1.5\\times 10^{6}`, or a word.
        number: exact, in the parameter's unit; None for a word.
        figures: that the text shows.
    """

    text: str
    number: Fraction | None = None
    figures: int = 0


def draw_case(template: Template, seed: int) -> str:
    """Return the name of the case that a seed has; empty for a template without cases."""
    if not template.cases:
        return ""
    u = draw_unit(template.id, seed, 0, "case")
    return template.cases[draw_weighted(u, [case.weight for case in template.cases])].name


def draw_wording(template: Template, seed: int) -> int:
    """Return the place from 0 of the wording that a seed has."""
    return draw_index(draw_unit(template.id, seed, 0, "wording"), len(template.wordings))


def draw_values(template: Template, seed: int, attempt: int, level: int | None = None) -> dict[str, DrawnValue]:
    """Return the values of one attempt, by the keys of the parameters.

    Args:
        level: place from 0 of the bounds among a parameter's levels; None for its whole range.
    """
    rows = {
        name: draw_index(draw_unit(template.id, seed, attempt, name), len(table.rows))
        for name, table in template.tables.items()
    }
    return {
        key: _draw_value(template, parameter, draw_unit(template.id, seed, attempt, key), rows, level, (seed, attempt))
        for key, parameter in template.parameters.items()
    }


def original_values(template: Template, original: Original) -> dict[str, DrawnValue]:
    """Return the author's own values, by the keys of the parameters."""
    found = {}
    for key, parameter in template.parameters.items():
        if parameter.way == "table":
            found[key] = _value_in_row(template, parameter, original.rows)
        else:
            text = parameter.choices[0] if parameter.way == "value" else original.values[key]
            found[key] = typed_value(text)
    return found


def values_in_si(template: Template, drawn: Mapping[str, DrawnValue]) -> dict[str, Value]:
    """Return the values of the parameters that are symbols, by name [SI]."""
    return {
        parameter.name: in_si(value.number, parameter.unit)
        for key, parameter in template.parameters.items()
        if parameter.name and (value := drawn[key]).number is not None
    }


def _draw_value(
    template: Template,
    parameter: Parameter,
    u: Fraction,
    rows: Mapping[str, int],
    level: int | None,
    place: tuple[int, int],
) -> DrawnValue:
    """Return the value of one parameter for a drawn number u; arguments as of `draw_values`."""
    if parameter.way == "table":
        return _value_in_row(template, parameter, rows)
    sign = 1
    if parameter.sign != "+":
        is_drawn = parameter.sign == "either"
        sign = -1 if not is_drawn or draw_index(draw_unit(template.id, *place, f"{parameter.key} sign"), 2) else 1
    if parameter.way in ("choice", "value"):
        value = typed_value(parameter.choices[draw_index(u, len(parameter.choices))])
        return value if sign == 1 else _negative(value)
    low, high = parameter.bounds
    if level is not None and parameter.levels:
        low, high = parameter.levels[min(level, len(parameter.levels) - 1)]
    if parameter.way == "integer":
        whole = sign * draw_integer(u, int(low), int(high))
        return DrawnValue(str(whole), Fraction(whole), max(len(str(abs(whole))), 1))
    draw = draw_uniform if parameter.way == "uniform" else draw_log_uniform
    number = sign * rounded(draw(u, low, high), parameter.figures)
    return DrawnValue(digits(number, parameter.figures), number, parameter.figures)


def _negative(value: DrawnValue) -> DrawnValue:
    """Return a number with the other sign."""
    assert value.number is not None
    text = value.text.removeprefix("-") if value.number < 0 else f"-{value.text}"
    return DrawnValue(text, -value.number, value.figures)


def _value_in_row(template: Template, parameter: Parameter, rows: Mapping[str, int]) -> DrawnValue:
    """Return the value of a parameter in the row of its table."""
    table = template.tables[parameter.table]
    return typed_value(table.rows[rows[parameter.table]][table.columns.index(parameter.column)])


def typed_value(text: str) -> DrawnValue:
    r"""Return the value that an author typed: a word, or a number with its digits; `1.5e6` as `1.5\times 10^{6}`."""
    number = read_digits(text)
    if number is None:
        return DrawnValue(text)
    mantissa, _, exponent = text.strip().lower().partition("e")
    shown = rf"{mantissa}\times 10^{{{int(exponent)}}}" if exponent else mantissa.lstrip("+")
    return DrawnValue(shown, number, figures_of(text))
