"""Grade the solution that a problem is published or converted with by the problem itself: below 1 there is a fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prism.authoring.conversions import OwnGold
from prism.grading.pipeline import grade
from prism.problem.schema import load_problem

SOLUTION = "solution"


def solution_gold(data: Mapping[str, Any], text: str) -> OwnGold:
    """Return the grade of a solution by the problem that it is held to be right for."""
    problem = load_problem(data)
    graded = grade(problem, text)
    missing = tuple(node.index for node in problem.nodes if node.index not in graded.credited)
    finals = {node.index for node in problem.nodes if node.is_final}
    return OwnGold(graded.score or 0.0, SOLUTION, missing, tuple(sorted(finals - set(graded.matched))))


def published_solution(data: Mapping[str, Any]) -> str:
    """Return the solutions of a published problem, each with the letter of its part."""
    parts = data.get("subquestions")
    found = [
        f"({part['letter']}) {text}" if part.get("letter") else text
        for part in (parts if isinstance(parts, Sequence) and not isinstance(parts, str) else ())
        if isinstance(part, Mapping) and isinstance(text := part.get("solution"), str) and text.strip()
    ]
    own = data.get("solution")
    return "\n\n".join([*found, *([own] if isinstance(own, str) else [])])
