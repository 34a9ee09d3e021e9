"""The page at `/docs`: every route of the OpenAPI document as plain HTML, without scripts and without other sites."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Content-Security-Policy of the page: its own style, and nothing else."""


def documentation_page(document: Mapping[str, Any]) -> str:
    """Return the page of an OpenAPI document: its routes with what they answer, and the shapes of requests."""
    made = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=False)  # noqa: S701 - by `e`
    made.filters.update(e=escape, bodies=_bodies, shown=partial(json.dumps, indent=1))
    return made.get_template("page.html.jinja").render({"components": {}, **document})


def _bodies(route: Mapping[str, Any]) -> list[str]:
    """Return the names of the shapes that a route takes as JSON."""
    content = route.get("requestBody", {}).get("content", {})
    return [name.rpartition("/")[2] for name in _references(content.get("application/json", {}).get("schema", {}))]


def _references(schema: Any) -> list[str]:
    """Return the references in a schema, in order."""
    if isinstance(schema, Mapping):
        own = [schema["$ref"]] if "$ref" in schema else []
        return own + [name for key, part in schema.items() if key != "discriminator" for name in _references(part)]
    return [name for part in schema for name in _references(part)] if isinstance(schema, list) else []
