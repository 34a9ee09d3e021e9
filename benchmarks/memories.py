"""What a process remembers of formulas and pairs, and how a benchmark empties it."""

from __future__ import annotations

import sys


def forget() -> None:
    """Empty the memories of formulas, pairs and cells; tables of grammar, units and constants are kept.

    Both kinds are emptied: `functools.lru_cache`, if it keeps more than one result, and `prism.budget.remembered`.
    """
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] == "prism":
            for value in list(vars(module).values()):
                parameters = getattr(value, "cache_parameters", None)
                if hasattr(value, "cache_clear") and (parameters is None or (parameters()["maxsize"] or 1) > 1):
                    value.cache_clear()
