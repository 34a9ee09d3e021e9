"""A counter-based random number generator: the same numbers on every machine and in every version."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


def uniform(key: int, count: int, start: int = 0) -> NDArray[np.float64]:
    """Return `count` pseudo-random numbers in [0, 1) of the stream numbered `key`, from index `start`: float64[count].

    Source: SplitMix64 (Steele, Lea, Flood 2014).
    """
    z = np.uint64((key + start * _INCREMENT) % 2**64) + _increments(count)  # arrays wrap at 64 bits without a warning
    z ^= z >> _SHIFTS[0]
    z *= _FACTORS[0]
    z ^= z >> _SHIFTS[1]
    z *= _FACTORS[1]
    z ^= z >> _SHIFTS[2]
    z >>= _SHIFTS[3]
    return z.astype(np.float64) * 2.0**-53


_INCREMENT = 0x9E3779B97F4A7C15
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = tuple(map(np.uint64, (30, 27, 31, 11)))


@lru_cache(maxsize=4)
def _increments(count: int) -> NDArray[np.uint64]:
    """Return how far the counter is beyond the key at each of `count` numbers: uint64[count]."""
    return np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_INCREMENT)
