"""What four papers have beyond the score, and where it is here: a table for each paper, from `papers.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

_KEYS = ("paper", "place", "what", "command", "state", "figure")
_STATES = {"here": "here", "part": "in part", "open": "not here"}


def paper_rows() -> tuple[Mapping[str, str], ...]:
    """Return the rows of `papers.toml`, in its order.

    Errors:
        ValueError: a key is missing, unknown or no text, a state is none of the three, or there is no command where
            something is here; all faults at once.
    """
    file = Path(__file__).with_name("papers.toml")
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["row"]
    faults = [f"row {k} ({row.get('place')}): {fault}" for k, row in enumerate(rows, start=1) for fault in _faults(row)]
    if faults:
        raise ValueError(f"{file.name}: " + "; ".join(faults))
    return tuple(rows)


def _faults(row: Mapping[str, object]) -> list[str]:
    if row.keys() != set(_KEYS) or not all(isinstance(value, str) for value in row.values()):
        return [f"expected the keys {', '.join(_KEYS)}, each with text"]
    faults = [] if row["state"] in _STATES else [f"state: {row['state']!r} is none of {', '.join(_STATES)}"]
    if row["state"] in ("here", "part") and not row["command"]:
        faults.append("command: is missing")
    return faults


def table_rows() -> dict[str, list[list[str]]]:
    """Return the cells of each paper's table: place, what, command, state, figure."""
    found: dict[str, list[list[str]]] = {}
    for row in paper_rows():
        found.setdefault(row["paper"], []).append(
            [row["place"], row["what"], f"`{row['command']}`" if row["command"] else "",
             _STATES[row["state"]], row["figure"]]
        )  # fmt: skip
    return found
