"""The values of an instance: drawn by its seed, or the author's own, as text and in SI units.

Draw the values of a template: each a pure function of the template's id, the seed, the attempt and a name.

A value does not depend on what was drawn before. So a parameter more, or another order in the file, changes no other
value, and any instance can be made alone, in any process. No float and no function of the C library takes part: the
same bytes on every machine.

Refused: `random.Random(seed + index)`, as data sets of this kind use. Its chunks overlap, and one draw more shifts all
that follow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from prism.generation.exact_values import Value, digits, figures_of, in_si, read_digits, rounded
from prism.generation.template import Original, Parameter, Template

_SCHEME = "prism-template-1"  # names this way of drawing; another one would have another name
_BYTES = 8  # of the digest that make a number
_LOGARITHMS = Context(prec=50, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN)


def draw_unit(template: str, seed: int, attempt: int, name: str) -> Fraction:
    """Return the number in [0, 1) that is drawn for a name: the first 8 bytes of a SHA-256 over 2^64.

    >>> draw_unit("braking", 0, 1, "v_0") * 2**64  # u = 0.3607...
    Fraction(6654453149154075181, 1)
    """
    key = "\0".join((_SCHEME, template, str(seed), str(attempt), name))
    digest = hashlib.sha256(key.encode()).digest()
    return Fraction(int.from_bytes(digest[:_BYTES], "big"), 2 ** (8 * _BYTES))


def draw_index(u: Fraction, n: int) -> int:
    """Return the place from 0 of one of n entries for a drawn number u in [0, 1)."""
    return u.numerator * n // u.denominator


def draw_weighted(u: Fraction, weights: Sequence[Fraction]) -> int:
    """Return the place from 0 of one of several entries, by their weights.

    The draw lies below 1, else AssertionError is raised.
    """
    aim, total = u * sum(weights, Fraction(0)), Fraction(0)
    for place, weight in enumerate(weights):
        total += weight
        if aim < total:
            return place
    raise AssertionError("u is below 1")


def draw_integer(u: Fraction, low: int, high: int) -> int:
    """Return a whole number from `low` to `high`, both included."""
    return low + draw_index(u, high - low + 1)


def draw_uniform(u: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Return a number between two bounds, exactly; it is not rounded yet."""
    return low + (high - low) * u


def draw_log_uniform(u: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Return a number between two positive bounds with a uniform logarithm, in decimal arithmetic of 50 digits."""
    return Fraction(_log_uniform(_LOGARITHMS, *(_as_decimal(each) for each in (u, low, high))))


def _log_uniform(context: Context, u: Decimal, low: Decimal, high: Decimal) -> Decimal:
    """Return exp(ln low + u (ln high - ln low)), each step rounded correctly."""
    first, last = context.ln(low), context.ln(high)
    return context.exp(context.add(first, context.multiply(u, context.subtract(last, first))))


def _as_decimal(value: Fraction) -> Decimal:
    """Return a fraction as a decimal of 50 digits."""
    return _LOGARITHMS.divide(Decimal(value.numerator), Decimal(value.denominator))


def template_seed(run: int, index: int) -> int:
    """Return the seed of instance `index` of an endless run: hashed, so that runs share no instance.

    >>> template_seed(1, 0) == template_seed(0, 1)
    False
    """
    return int.from_bytes(hashlib.sha256(f"{run}\0{index}".encode()).digest()[:_BYTES], "big")


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
