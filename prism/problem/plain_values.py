"""Figures as plain values for JSON: under what name a field of a dataclass is written stands at the field.

Properties that are written too are named by the class, in `derived`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any


def named(name: str) -> Mapping[str, str]:
    """Return the metadata of a field that JSON has under another name."""
    return {"json": name}


UNLISTED = named("")
"""Metadata of a field that JSON does not have."""

SPREAD = named("*")
"""Metadata of a field with a mapping, whose entries JSON has in the place of the field."""


def plain(value: Any, digits: int | None = None) -> Any:
    """Return a value as plain values for JSON: dataclasses as dictionaries, an empty `reason` as null.

    Args:
        digits: decimals of all numbers that are no whole ones; None leaves them as they are.

    >>> plain((Fraction(1, 3), -0.00001, {"n": 2}), 3)
    [0.333, 0.0, {'n': 2}]
    """
    if is_dataclass(value):
        found: dict[str, Any] = {}
        for one in fields(value):
            name, own = one.metadata.get("json", one.name), getattr(value, one.name)
            if name == "*":
                found |= plain(own, digits)
            elif name:
                found[name] = (plain(own, digits) or None) if name == "reason" else plain(own, digits)
        return found | {name: plain(getattr(value, name), digits) for name in getattr(value, "derived", ())}
    if isinstance(value, Mapping):
        return {key: plain(each, digits) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, digits) for each in value]
    if isinstance(value, float | Fraction) and digits is not None:
        return round(float(value), digits) + 0.0
    return value
