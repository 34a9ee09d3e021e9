"""JSON Schemas of the files that protocols read: one file each, `NAME.schema.json`, beside this module."""

from __future__ import annotations

from pathlib import Path

from prism.errors import PrismError
from prism.inputs import did_you_mean, shown

_ENDING = ".schema.json"


def schema_names() -> tuple[str, ...]:
    """Return the names of all schemas, sorted."""
    return tuple(sorted(path.name.removesuffix(_ENDING) for path in Path(__file__).parent.glob(f"*{_ENDING}")))


def schema_text(name: str) -> str:
    """Return the text of a schema.

    Errors:
        PrismError: there is none of this name.
    """
    names = schema_names()
    if name not in names:
        raise PrismError(f"no schema {shown(name)}; there are {', '.join(names)}{did_you_mean(name, names)}")
    return Path(__file__).with_name(f"{name}{_ENDING}").read_text(encoding="utf-8")
