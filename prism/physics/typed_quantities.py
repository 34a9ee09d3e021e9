r"""Chains of typed quantities, `V = 5.0 mA * 2.2 kΩ = 11 V`: units without `\mathrm`, known by what they come to.

Letters behind a number may be units or symbols. Two sides of one chain settle it: if both are products of numbers and
of letters that are units, of one dimension and one value, and their units are not the same ones, they are quantities.
As symbols they would be a law that nobody writes: `72 k m/h = 20 m/s`.

Refused: one side alone (`v = 5 m/s`), and two with the same single letters (`3 m g = 2 m g + m g`); what the problem
says of the letters decides there (semantics U.4).
"""

from __future__ import annotations

import re
from itertools import combinations

from prism.errors import LatexSyntaxError
from prism.latex import parse as parse_latex
from prism.physics.quantities import read_product
from prism.physics.tables import PI, Unit
from prism.physics.units import find_unit

_SAME_VALUE = 0.05  # relative: every step of a calculation is rounded
_RELATION = re.compile(r"[=≈]|\\approx(?![a-z])")
_DIGIT = re.compile(r"\d")
_TYPED = re.compile(r"\d\}?(?:[ ~]|\\[, ;])?(?:[A-Za-zµμΩ]|\\Omega(?![a-z]))")
_NAME = re.compile(
    r"\\(?:mathrm|text|textrm|unit|operatorname)\s*\{[^{}]*\}|(?<=\d)[eE][-+]?\d|\\(?!Omega(?![a-z]))(?:[A-Za-z]+|.)"
    r"|(?P<unit>\\Omega|[A-Za-zµμΩ]+)"
)


def with_typed_quantities(latex: str) -> str:
    r"""Return LaTeX with the units of typed quantities upright, where two sides of a chain show that they are units.

    >>> with_typed_quantities("v = 72 km/h = 20 m/s")
    'v = 72 \\mathrm{km}/\\mathrm{h} = 20 \\mathrm{m}/\\mathrm{s}'
    """
    if not _TYPED.search(latex) or len(sides := _RELATION.split(latex)) < 3:
        return latex
    read = {k: found for k, side in enumerate(sides) if (found := _as_quantity(side)) is not None}
    shown = next((one for (one, _), (other, _) in combinations(read.values(), 2) if _agree(one, other)), None)
    if shown is None:
        return latex
    names = {frozenset(_units(sides[k])) for k, (unit, _) in read.items() if _agree(shown, unit)}
    if len(names) < 2 and all(len(name) == 1 for name in names.pop()):
        return latex
    marked = [read[k][1] if k in read and read[k][0].dimension == shown.dimension else s for k, s in enumerate(sides)]
    signs = [*(found[0] for found in _RELATION.finditer(latex)), ""]
    return "".join(side + sign for side, sign in zip(marked, signs, strict=True))


def _as_quantity(side: str) -> tuple[Unit, str] | None:
    """Return a side as one quantity, with its units upright; None if it is no product of numbers and units."""
    if not _DIGIT.search(side) or any(find_unit(name) is None for name in _units(side)):
        return None
    marked = _NAME.sub(lambda name: rf"\mathrm{{{name[0]}}}" if name["unit"] else name[0], side)
    try:
        read = parse_latex(marked)
    except LatexSyntaxError:
        return None
    unit = read_product(read.members[0]) if read.kind == "expression" else None
    return None if unit is None else (unit, marked)


def _units(side: str) -> list[str]:
    """Return the runs of letters of a side that stand in italics."""
    return [name["unit"].replace(r"\Omega", "Ω") for name in _NAME.finditer(side) if name["unit"]]


def _agree(one: Unit, other: Unit) -> bool:
    """Return True for two quantities of one dimension that differ by no more than rounding."""
    values = [unit.factor * PI**unit.pi for unit in (one, other)]
    return (
        one.dimension == other.dimension
        and any(one.dimension)
        and abs(values[0] - values[1]) <= _SAME_VALUE * abs(values[0])
    )
