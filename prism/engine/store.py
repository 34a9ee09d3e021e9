"""The one bounded store of a process for what the engine computes: tapes, draws and zero sets.

Refused: a cache for each function (the bounds add up to an unknown total).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

STORE_SIZE = 6144  # results; a zero set takes about 10 KB, the others less

P = ParamSpec("P")
T = TypeVar("T")


def stored(build: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function to cache its results by hashable arguments, in one bounded store; never change a result."""

    @wraps(build)
    def look_up(*args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result cached for these arguments; compute it if there is none."""
        result: T = _cached_result(build, *args, **kwargs)  # type: ignore[arg-type]
        return result

    return look_up


@lru_cache(maxsize=STORE_SIZE)
def _cached_result(build: Callable[..., Any], *args: Hashable, **kwargs: Hashable) -> Any:
    """Return `build(*args, **kwargs)`, remembered by `lru_cache`: the one store that all decorated functions share."""
    return build(*args, **kwargs)
