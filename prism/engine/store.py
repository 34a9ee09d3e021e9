"""The one bounded store of a process for what the engine computes: tapes, draws and zero sets.

Refused: a cache for each function (the bounds add up to an unknown total).
"""

from __future__ import annotations

from prism.budget import Store, remembered

STORE_SIZE = 6144  # results; a zero set takes about 10 KB, the others less

stored = remembered(Store(STORE_SIZE))
"""Decorate a function of hashable positional arguments to keep its results in the store; never change a result."""
