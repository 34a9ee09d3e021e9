"""What a reply can be checked for beyond its JSON Schema: that a problem which it holds can be graded by.

The reply's key `problem` is loaded and linted as `prism lint` does. What lint calls a fault is told to the model, and
it is asked again; warnings and notes are for an author to read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prism.authoring.linting import lint
from prism.inputs import shown

_NAMELESS = "rewritten"  # the id of a problem that its record will name
_MOST = 10  # faults of a problem that are told at once


def check_faults(check: str, reply: Mapping[str, Any]) -> list[str]:
    """Return what a reply lacks of what it is checked for; empty without a check, or where it passes."""
    return _problem_faults(reply.get("problem")) if check == "problem" else []


def _problem_faults(problem: object) -> list[str]:
    """Return the faults of a problem, in the words of `prism lint`."""
    if not isinstance(problem, dict):
        return [f"problem: {shown(problem)} is no object"]
    told = [str(each) for each in lint({"id": _NAMELESS, **problem}) if each.kind == "fault"]
    return told[:_MOST]
