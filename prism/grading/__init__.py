"""From the text of a solution to its grade: claims, the match matrix, the selection of claims that stand, the score.

`pipeline.grade` reads from top to bottom. What other programs need of this folder can be imported from here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prism.grading.pipeline import grade as grade
    from prism.grading.prepared import prepare as prepare
    from prism.grading.result import Grade as Grade
    from prism.grading.row import json_line as json_line
    from prism.grading.row import score_row as score_row

_MODULES = {"Grade": "result", "grade": "pipeline", "json_line": "row", "prepare": "prepared", "score_row": "row"}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    """Load a public name from its module on first use (PEP 562); raises AttributeError for other names."""
    if name not in _MODULES:
        raise AttributeError(f"module 'prism.grading' has no attribute {name!r}")
    value = getattr(import_module(f"prism.grading.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
