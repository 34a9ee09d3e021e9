"""Text to formulas to expressions: `extract` finds formulas in a solution, `parse` reads one.

Each name is loaded on first use: who only reads single formulas does not load the extractor.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prism.latex.parser import parse as parse
    from prism.latex.text import LocatedFormula as LocatedFormula
    from prism.latex.text import extract as extract

_MODULES = {"LocatedFormula": "text", "extract": "text", "parse": "parser"}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    """Load a public name from its module on first use (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module 'prism.latex' has no attribute {name!r}")
    value = getattr(import_module(f"prism.latex.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
