r"""PRISM: step-level grading of worked physics solutions, by rule.

Public names are loaded when they are first used, so that `import prism` stays cheap: no numba, sympy, pint or
lark until something needs them.

>>> import prism
>>> prism.equivalent("F = ma", r"a = \frac{F}{m}").status
'equivalent'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prism.bulk import grade_many as grade_many
    from prism.context import Context as Context
    from prism.context import parse as parse
    from prism.diagnosis import Diagnosis as Diagnosis
    from prism.diagnosis import diagnose as diagnose
    from prism.equivalence import Verdict as Verdict
    from prism.errors import DagError as DagError
    from prism.errors import DataFileError as DataFileError
    from prism.errors import LatexSyntaxError as LatexSyntaxError
    from prism.errors import PrismError as PrismError
    from prism.expr import Formula as Formula
    from prism.grading import Grade as Grade
    from prism.grading import grade as grade
    from prism.grading import prepare as prepare
    from prism.kernels import warm as warm
    from prism.latex import extract as extract
    from prism.latex import write as write
    from prism.linting import lint as lint
    from prism.matching import equivalent as equivalent
    from prism.problem import Problem as Problem
    from prism.problem import load_problem as load_problem
    from prism.problem_set import load_problems as load_problems
    from prism.rollouts import Rollout as Rollout

__version__ = "0.1.0"

_ROOMS = {
    "Context": "context", "DagError": "errors", "DataFileError": "errors", "Diagnosis": "diagnosis",
    "Formula": "expr", "Grade": "grading", "LatexSyntaxError": "errors", "PrismError": "errors", "Problem": "problem",
    "Rollout": "rollouts", "Verdict": "equivalence", "diagnose": "diagnosis", "equivalent": "matching",
    "extract": "latex", "grade": "grading", "grade_many": "bulk", "lint": "linting", "load_problem": "problem",
    "load_problems": "problem_set", "parse": "context", "prepare": "grading", "warm": "kernels", "write": "latex",
}  # fmt: skip

__all__ = ["__version__", *sorted(_ROOMS)]


def __getattr__(name: str) -> Any:
    """Load a public name from its room on first use (PEP 562)."""
    if name not in _ROOMS:
        raise AttributeError(f"module 'prism' has no attribute {name!r}")
    value = getattr(import_module(f"prism.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
