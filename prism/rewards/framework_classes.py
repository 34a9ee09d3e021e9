"""Classes that inherit from those of a framework: made on first use, since nothing here imports a framework before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def made_on_first_use(module: dict[str, Any], makers: Mapping[str, Callable[[], Any]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module (PEP 562) that makes some of its names when they are first asked for.

    Args:
        module: its `globals()`, in which what was made is kept.
        makers: what makes each name.
    """

    def load(name: str) -> Any:
        """Return a name of the module; AttributeError for any other."""
        if name not in makers:
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        if name not in module:
            made = makers[name]()
            if isinstance(made, type):
                made.__module__, made.__qualname__ = module["__name__"], name
            module.setdefault(name, made)  # two threads may come first; both take the same one
        return module[name]

    return load
