"""Docstrings as mkdocstrings reads them: an entry such as `left, right: values` becomes one for each name."""

from __future__ import annotations

from typing import Any

import griffe

from docs.generator.code_facts import one_name_an_entry


class OneNameAnEntry(griffe.Extension):
    """Applies `one_name_an_entry` to every docstring that is read for the reference."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring:
            obj.docstring.value = one_name_an_entry(obj.docstring.value)
