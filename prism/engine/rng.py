"""A counter-based random number generator: the same numbers on every machine and in every version."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def uniform(key: int, count: int, start: int = 0) -> NDArray[np.float64]:
    """Return `count` pseudo-random numbers in [0, 1) of the stream numbered `key`, from index `start`: float64[count].

    Source: SplitMix64 (Steele, Lea, Flood 2014).
    """
    counter = np.arange(start + 1, start + count + 1, dtype=np.uint64)
    z = np.uint64(key) + counter * np.uint64(0x9E3779B97F4A7C15)  # arrays wrap at 64 bits without a warning
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53
