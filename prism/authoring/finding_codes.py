"""The codes of findings, which `finding_codes.toml` keeps with what each means."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from prism.inputs import parse_toml


@cache
def finding_codes() -> dict[str, dict[str, Any]]:
    """Return the meaning of each code by what it is found in; of data sets by kind and code."""
    return parse_toml(Path(__file__).with_name("finding_codes.toml").read_text("utf-8"))
