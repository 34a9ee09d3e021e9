"""Render prompts and findings from the templates of a task, in Jinja's sandbox.

A name that is not there is a fault and no empty text. Texts of students and models stand in a fence that is longer than
any in them (`fenced`), so that none can close it and speak to the judge as the task does.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined, TemplateError, UndefinedError
from jinja2.environment import TemplateExpression
from jinja2.sandbox import ImmutableSandboxedEnvironment

from prism.errors import PrismError
from prism.grading.row import json_line

_TICKS = re.compile(r"`{3,}")


def fenced(text: object) -> str:
    """Return a text in a code fence that is longer than any in it.

    >>> print(fenced("a ``` b"))
    ````
    a ``` b
    ````
    """
    body = str(text)
    fence = "`" * max([3, *(len(found) + 1 for found in _TICKS.findall(body))])
    return f"{fence}\n{body}\n{fence}"


def _as_json(value: Any) -> str:
    """Return a value as JSON, keys sorted, as it stands in a findings file.

    Errors:
        UndefinedError: it holds what a name that is not there stands for.
    """
    try:
        return json_line(value).decode("utf-8")
    except TypeError:
        _require_defined(value)
        raise


def _require_defined(value: Any) -> None:
    """Raise Jinja's UndefinedError, which has the name, if a value holds what is not there."""
    if isinstance(value, StrictUndefined):
        str(value)
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            _require_defined(each)


class UnknownName(PrismError):
    """Raised where a template names what is not there."""


class _Environment(ImmutableSandboxedEnvironment):
    """The sandbox, in which `step.values` is the entry of that name, and not the method that all tables have."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an entry of a table, else what Jinja takes a name behind a dot for."""
        if isinstance(obj, Mapping) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


class Templates:
    """The templates of a folder.

    Attributes:
        folder: where they stand; a template can include others of it, and nothing else.
    """

    def __init__(self, folder: Path) -> None:
        """Make an environment of the folder; nothing is read yet."""
        self.folder = folder
        self._environment = _Environment(
            loader=FileSystemLoader(folder), auto_reload=False, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True, autoescape=False,  # prompts and JSON are no HTML
        )  # fmt: skip
        self._conditions: dict[str, TemplateExpression] = {}
        self._environment.filters.update(tojson=_as_json, fenced=fenced)

    def compile(self, name: str) -> None:
        """Compile a template.

        Errors:
            TemplateError: it is none.
        """
        self._environment.get_template(name)

    def compile_condition(self, text: str) -> None:
        """Compile an expression; `holds` asks those that have been.

        Errors:
            TemplateError: it is none.
        """
        self._conditions[text] = self._environment.compile_expression(text, undefined_to_none=False)

    def holds(self, condition: str, values: Mapping[str, Any]) -> bool:
        """Return whether an expression holds of values; an empty one always does.

        Errors:
            UnknownName: it names what is not there.
            PrismError: it cannot be worked out.
        """
        if not condition:
            return True
        try:
            return bool(self._conditions[condition](**values))
        except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
            raise _kind(error)(f"{self.folder.name}, when {condition!r}: {error}") from error

    def render(self, name: str, values: Mapping[str, Any]) -> str:
        """Return a template filled with values, without blank space around it.

        Errors:
            UnknownName: it names what is not there.
            PrismError: it works out what cannot be.
        """
        try:
            return self._environment.get_template(name).render(values).strip()
        except (TemplateError, TypeError, ValueError, ArithmeticError, AttributeError, LookupError) as error:
            raise _kind(error)(f"{self._place(error, name)}: {error}") from error

    def _place(self, error: Exception, name: str) -> str:
        """Return the file and line of a template that an error comes from, which may be one that `name` includes."""
        frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename.endswith(".jinja")]
        if not frames:
            return f"{self.folder.name}/{name}"
        return f"{self.folder.name}/{Path(frames[-1].filename).name}: line {frames[-1].lineno}"


def _kind(error: Exception) -> type[PrismError]:
    """Return what an error of Jinja's is told as."""
    return UnknownName if isinstance(error, UndefinedError) else PrismError
