"""Text to formulas to expressions: `extract` finds formulas in a solution, `parse` reads one, `write` prints it.

Each name is loaded on first use: who only reads single formulas does not load the extractor.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prism.latex.extraction.joints import Joint as Joint
    from prism.latex.extraction.pipeline import Extraction as Extraction
    from prism.latex.extraction.pipeline import LeftOut as LeftOut
    from prism.latex.extraction.pipeline import LocatedFormula as LocatedFormula
    from prism.latex.extraction.pipeline import extract as extract
    from prism.latex.extraction.solution_input import Solution as Solution
    from prism.latex.extraction.solution_input import SolutionText as SolutionText
    from prism.latex.extraction.solution_input import solution_text as solution_text
    from prism.latex.extraction.typed_names import typed_as_latex as typed_as_latex
    from prism.latex.parsing.parser import parse as parse
    from prism.latex.words import one_line as one_line
    from prism.latex.writing.writer import write as write

_MODULES = {
    **dict.fromkeys(("Solution", "SolutionText", "solution_text"), "extraction.solution_input"),
    **dict.fromkeys(("Extraction", "LeftOut", "LocatedFormula", "extract"), "extraction.pipeline"),
    "Joint": "extraction.joints",
    "typed_as_latex": "extraction.typed_names",
    "one_line": "words",
    "parse": "parsing.parser",
    "write": "writing.writer",
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use (PEP 562); raise an AttributeError for other names."""
    if name not in _MODULES:
        raise AttributeError(f"module 'prism.latex' has no attribute {name!r}")
    value = getattr(import_module(f"prism.latex.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
