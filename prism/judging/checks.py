"""What a reply can be checked for beyond its JSON Schema; what it lacks is told to the model, and it is asked again.

| check | of the reply | asks |
|---|---|---|
| `problem` | the key `problem` | does `prism lint` find no fault; warnings and notes are for an author |
| `rubric` | a cell for each dimension of EngiBench | can points out of ten be given by each cell that is not empty |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prism.authoring.linting import lint
from prism.inputs import shown
from prism.protocols.engibench_rubrics import DIMENSIONS, points_text, read_rubric

_NAMELESS = "rewritten"  # the id of a problem that its record will name
_MOST = 10  # faults of a reply that are told at once


def check_faults(check: str, reply: Mapping[str, Any]) -> list[str]:
    """Return what a reply lacks of what it is checked for; empty without a check, or where it passes."""
    return list(_CHECKS[check](reply))[:_MOST] if check else []


def _problem_faults(reply: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of a problem, in the words of `prism lint`."""
    problem = reply.get("problem")
    if not isinstance(problem, dict):
        yield f"problem: {shown(problem)} is no object"
        return
    yield from (str(each) for each in lint({"id": _NAMELESS, **problem}) if each.kind == "fault")


def _rubric_faults(reply: Mapping[str, Any]) -> Iterator[str]:
    """Yield why no points can be given by a cell: its heads, their sum, a head whose points no level gives."""
    cells = {name: cell for name in DIMENSIONS if (cell := str(reply.get(name, "")).strip())}
    if not cells:
        yield "no dimension has a rubric"
    for name, cell in cells.items():
        rubric = read_rubric(cell)
        if rubric.fault:
            yield f"{name}: {rubric.fault}"
        for head in rubric.heads:
            if max((high for _, high in head.levels), default=None) != head.points:
                levels = f"its levels are {head.levels_text}" if head.levels else "it has no levels"
                yield f"{name}: head {head.number} is worth {points_text(head.points)} points, and {levels}"


_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "problem": _problem_faults, "rubric": _rubric_faults,
}  # fmt: skip
