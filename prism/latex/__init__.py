"""Text to formulas to expressions: `extract` finds formulas in a solution, `parse` reads one, `write` prints it.

Each name is loaded on first use: who only reads single formulas does not load the extractor.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prism.latex.extraction.messages import Solution as Solution
    from prism.latex.extraction.messages import SolutionText as SolutionText
    from prism.latex.extraction.messages import solution_text as solution_text
    from prism.latex.extraction.text import Extraction as Extraction
    from prism.latex.extraction.text import LeftOut as LeftOut
    from prism.latex.extraction.text import LocatedFormula as LocatedFormula
    from prism.latex.extraction.text import extract as extract
    from prism.latex.parser import parse as parse
    from prism.latex.words import one_line as one_line
    from prism.latex.writer import write as write

_MODULES = {
    **dict.fromkeys(("Solution", "SolutionText", "solution_text"), "extraction.messages"),
    **dict.fromkeys(("Extraction", "LeftOut", "LocatedFormula", "extract"), "extraction.text"),
    "one_line": "words",
    "parse": "parser",
    "write": "writer",
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    """Load a public name from its module on first use (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module 'prism.latex' has no attribute {name!r}")
    value = getattr(import_module(f"prism.latex.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
