"""Made-up solutions that copy the formulas of a reference, graded: what the linter asks the grader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from prism.algebra.expr import Formula, spell
from prism.budget import CHARACTER, SOLUTION
from prism.equivalence.facts import subject_of
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem
from prism.grading.result import GradedFormula
from prism.latex import LeftOut, parse
from prism.problem.answers import is_nameless
from prism.problem.schema import ProblemNode

_BETWEEN = "We write "  # words between two formulas, so that the second does not continue the first


@dataclass(frozen=True, slots=True)
class GradedCopy:
    """The grade of a made-up solution that copies one formula of every node.

    Attributes:
        formulas: graded formulas of the copy of each node, by index; several if it was split, empty if not extracted.
        failed: where the grader failed, with the error.
        is_cut: the operations did not suffice to grade all of it.
    """

    formulas: Mapping[int, tuple[GradedFormula, ...]]
    failed: tuple[str, ...]
    is_cut: bool = False


def as_answer(node: ProblemNode) -> str:
    r"""Return the LaTeX of a node, in a box if it is a final answer that its author gives bare."""
    is_bare = node.formula.kind == "equation" and is_nameless(node.formula.members[0])
    return rf"\boxed{{{node.latex}}}" if is_bare else node.latex


def accepted_text(accepted: Formula) -> str:
    """Return the LaTeX of what is accepted in place of a node, behind its quantity where its author gives it bare."""
    if parse(accepted.latex).kind != "expression":
        return accepted.latex
    if is_nameless(accepted.members[0]):
        return rf"\boxed{{{accepted.latex}}}"
    subject = subject_of(accepted)
    return accepted.latex if subject is None else f"{spell(subject)} = {accepted.latex}"


def grade_copy(problem: PreparedProblem, texts: Mapping[int, str], operations: float) -> GradedCopy:
    """Grade a made-up solution that states these formulas (by node index) one after the other."""
    if operations < 1:
        return GradedCopy({}, (), is_cut=True)
    solution = ""
    spans: dict[int, tuple[int, int]] = {}
    for index, latex in texts.items():
        start = len(solution)
        solution += f"{_BETWEEN}{_displayed(latex)}\n\n"
        spans[index] = (start, len(solution))
    result = grade(problem, solution, budget=int(min(operations, SOLUTION + CHARACTER * len(solution))))
    formulas = {
        index: tuple(item for item in result.formulas if start <= item.span[0] < end and item.kind != "text")
        for index, (start, end) in spans.items()
    }
    failed = tuple(f"{incident.where}: {incident.detail}" for incident in result.incidents)
    return GradedCopy(formulas, failed, result.status == "too_large" and result.left_out == LeftOut())


def _displayed(latex: str) -> str:
    """Return LaTeX between `$$`, unless it has delimiters already."""
    inner = latex.strip()
    return inner if inner.startswith(("$", r"\[", r"\(")) else f"$$ {inner} $$"
