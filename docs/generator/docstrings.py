"""Docstrings as mkdocstrings reads them: an entry such as `left, right: values` becomes one for each name."""

from __future__ import annotations

import re
from typing import Any

import griffe

_SHARED = re.compile(r"(?m)^( +)(\w+(?:, \w+)+): (.*(?:\n\1 +\S.*)*)")


def one_name_an_entry(docstring: str) -> str:
    r"""Return a docstring in which each entry of a section names one thing.

    >>> one_name_an_entry("Args:\n    low, high: bounds,\n        included.")
    'Args:\n    low: bounds,\n        included.\n    high: bounds,\n        included.'
    """
    return _SHARED.sub(
        lambda entry: "\n".join(f"{entry[1]}{name}: {entry[3]}" for name in entry[2].split(", ")), docstring
    )


class OneNameAnEntry(griffe.Extension):
    """Applies `one_name_an_entry` to every docstring that is read for the reference."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring:
            obj.docstring.value = one_name_an_entry(obj.docstring.value)
