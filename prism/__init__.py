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

from prism.version import __version__

if TYPE_CHECKING:
    from prism.algebra.expr import Formula as Formula
    from prism.authoring.linting import lint as lint
    from prism.bridges.from_symbolic import from_sympy as from_sympy
    from prism.bridges.pint_quantities import from_pint as from_pint
    from prism.diagnosis.findings import Diagnosis as Diagnosis
    from prism.diagnosis.findings import diagnose as diagnose
    from prism.engine.kernels import warm as warm
    from prism.equivalence.matching import equivalent as equivalent
    from prism.equivalence.verdict import Verdict as Verdict
    from prism.errors import ConversionError as ConversionError
    from prism.errors import DagError as DagError
    from prism.errors import DataFileError as DataFileError
    from prism.errors import LatexSyntaxError as LatexSyntaxError
    from prism.errors import PrismError as PrismError
    from prism.generation.instances import generate as generate
    from prism.grading.pipeline import grade as grade
    from prism.grading.prepared import prepare as prepare
    from prism.grading.result import Grade as Grade
    from prism.grading.scoring import StepCredit as StepCredit
    from prism.grading.scoring import step_credits as step_credits
    from prism.grading.verifying import verify as verify
    from prism.latex import extract as extract
    from prism.latex import write as write
    from prism.physics.context import Context as Context
    from prism.physics.context import parse as parse
    from prism.physics.quantities import Quantity as Quantity
    from prism.physics.quantities import read_quantity as read_quantity
    from prism.problem.collection import load_problems as load_problems
    from prism.problem.prompts import prompt as prompt
    from prism.problem.prompts import prompt_messages as prompt_messages
    from prism.problem.schema import Problem as Problem
    from prism.problem.schema import load_problem as load_problem
    from prism.runs.bulk import grade_many as grade_many
    from prism.runs.rollouts import Rollout as Rollout

_MODULES = {
    "Context": "physics.context", "ConversionError": "errors", "DagError": "errors", "DataFileError": "errors",
    "Diagnosis": "diagnosis.findings", "Formula": "algebra.expr", "Grade": "grading.result",
    "LatexSyntaxError": "errors", "PrismError": "errors", "Problem": "problem.schema",
    "Quantity": "physics.quantities", "Rollout": "runs.rollouts", "StepCredit": "grading.scoring",
    "Verdict": "equivalence.verdict",
    "diagnose": "diagnosis.findings", "equivalent": "equivalence.matching", "extract": "latex",
    "from_pint": "bridges.pint_quantities", "from_sympy": "bridges.from_symbolic",
    "generate": "generation.instances", "grade": "grading.pipeline",
    "grade_many": "runs.bulk", "lint": "authoring.linting", "load_problem": "problem.schema",
    "load_problems": "problem.collection", "parse": "physics.context", "prepare": "grading.prepared",
    "prompt": "problem.prompts", "prompt_messages": "problem.prompts", "read_quantity": "physics.quantities",
    "step_credits": "grading.scoring", "verify": "grading.verifying", "warm": "engine.kernels", "write": "latex",
}  # fmt: skip

__all__ = ["__version__", *sorted(_MODULES)]


def __getattr__(name: str) -> Any:
    """Load a public name from its module on first use (PEP 562); raises AttributeError for other names."""
    if name not in _MODULES:
        raise AttributeError(f"module 'prism' has no attribute {name!r}")
    value = getattr(import_module(f"prism.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
