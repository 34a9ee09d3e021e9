"""Shares with their intervals: one definition for all scripts."""

from __future__ import annotations

import math
from typing import Any

Z = 1.959964  # two-sided 95 %


def wilson(part: int, whole: int) -> dict[str, Any]:
    """A share with its 95 % interval (Wilson, J. Am. Stat. Assoc. 22, 1927)."""
    if not whole:
        return {"part": part, "of": whole, "share": None, "low": None, "high": None}
    low, high = bounds(part, whole)
    return {"part": part, "of": whole, "share": round(part / whole, 4), "low": round(low, 4), "high": round(high, 4)}


def bounds(part: int, whole: int) -> tuple[float, float]:
    """The interval of a share, unrounded."""
    share = part / whole
    middle = (share + Z * Z / (2 * whole)) / (1 + Z * Z / whole)
    half = Z / (1 + Z * Z / whole) * math.sqrt(share * (1 - share) / whole + Z * Z / (4 * whole * whole))
    return max(0.0, middle - half), min(1.0, middle + half)
