"""Docstrings as mkdocstrings reads them: one entry for each name of `left, right: values`, examples as code."""

from __future__ import annotations

import re
from typing import Any

import griffe

from docs.generator.code_facts import one_name_an_entry

_EXAMPLE = re.compile(r"(?m)^>>> .*(?:\n(?!\s*$).+)*")


class AsMarkdown(griffe.Extension):
    """Rewrites every docstring that is read for the reference."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring:
            obj.docstring.value = fenced_examples(one_name_an_entry(obj.docstring.value))


def fenced_examples(docstring: str) -> str:
    r"""Return a docstring with fences around its examples, which Markdown would read as quotes.

    >>> fenced_examples("Add.\n\n>>> 1 + 1\n2").split("\n")
    ['Add.', '', '```pycon', '>>> 1 + 1', '2', '```']
    """
    return _EXAMPLE.sub(lambda example: f"```pycon\n{example[0]}\n```", docstring)
