"""Numbers that papers print, and whether arithmetic gives them again.

A number is kept as the text that was printed, so that its digits are known. It *replays* if the exact result lies
within half a unit of its last digit, ends included: a tie may have been rounded either way. What does not replay is a
fault of the paper or of its printing, and stands in `faults.csv` beside the tables, with both numbers.

Refused: a tolerance. A table that is copied with one wrong digit has to be noticed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Cell:
    """A printed number beside the exact result of the arithmetic that should give it.

    Attributes:
        name: of the cell: the name of its row, and of its column where a relation has cells of several columns.
        printed: the number as it was printed.
        exact: what comes out.
    """

    name: str
    printed: str
    exact: Fraction

    @property
    def replays(self) -> bool:
        """True if the exact result lies within half a unit of the last printed digit, ends included."""
        return abs(self.exact - Fraction(self.printed)) <= unit_in_last_place(self.printed) / 2

    @property
    def recomputed(self) -> str:
        """The exact result with as many decimals as were printed."""
        digits = Decimal(self.printed).as_tuple().exponent
        assert isinstance(digits, int)
        value = Decimal(self.exact.numerator) / Decimal(self.exact.denominator)
        return f"{value.quantize(Decimal(1).scaleb(min(digits, 0)), ROUND_HALF_EVEN)}"


def unit_in_last_place(printed: str) -> Fraction:
    """Return one unit in the last place of a printed number: 1/100 for `16.30`, 1 for `450`."""
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)
    return Fraction(10) ** exponent


def rows_of(paper: str, table: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a printed table by the names in its head: `rows_of("engtrace", "table_8")`."""
    with (FOLDER / paper / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file, strict=True))


def statements_of(paper: str) -> dict[str, str]:
    """Return the numbers that a paper prints outside of its tables, by name."""
    return {row["name"]: row["printed"] for row in rows_of(paper, "statements")}


def listed_faults(paper: str, relation: str) -> set[tuple[str, str, str]]:
    """Return what does not replay of a relation, as it is listed: name of the cell, printed number, exact result."""
    return {
        (row["cell"], row["printed"], row["exact"]) for row in rows_of(paper, "faults") if row["relation"] == relation
    }


def found_faults(cells: Iterable[Cell]) -> set[tuple[str, str, str]]:
    """Return what does not replay of some cells, in the same form."""
    return {(cell.name, cell.printed, cell.recomputed) for cell in cells if not cell.replays}


def share_of_count(name: str, printed: str, n: int, *, percent: bool = True) -> Cell:
    """Return the cell of a printed share beside k / n for the nearest whole number k: it replays if any k gives it."""
    scale = 100 if percent else 1
    k = nearest_count(printed, n, percent=percent)
    return Cell(name, printed, Fraction(scale * k, n))


def nearest_count(printed: str, n: int, *, percent: bool = True) -> int:
    """Return the whole number k of n whose share is nearest to a printed one."""
    return round(Fraction(printed) / (100 if percent else 1) * n)


def weighted_mean(values: Iterable[str | Fraction], weights: Iterable[int]) -> Fraction:
    """Return the exact mean of values with whole weights."""
    pairs = [(Fraction(value), weight) for value, weight in zip(values, weights, strict=True)]
    return sum((value * weight for value, weight in pairs), Fraction(0)) / sum(weight for _, weight in pairs)
