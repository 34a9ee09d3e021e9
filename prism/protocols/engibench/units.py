"""When the unit of an answer to EngiBench counts: a module of its own, since the command line loads nothing else."""

from __future__ import annotations

from enum import StrEnum


class Units(StrEnum):
    """When the unit of an answer counts."""

    ASKED = "asked"  # where the question is about units
    ALWAYS = "always"
    NEVER = "never"
