"""The page at `/docs`: every route of the OpenAPI document as plain HTML, without scripts and without other sites."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Content-Security-Policy of the page: its own style, and nothing else."""

_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "pre{background:#f4f4f4;padding:1rem;overflow:auto}td{padding-right:1rem;vertical-align:top}"
)


def documentation_page(document: Mapping[str, Any]) -> str:
    """Return the page of an OpenAPI document: its routes with what they answer, and the shapes of requests."""
    info = document["info"]
    parts = [f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info.get('summary', ''))}</p>"]
    parts += [
        _route(method, path, route)
        for path, methods in document["paths"].items()
        for method, route in methods.items()
    ]  # fmt: skip
    for name, schema in sorted(document.get("components", {}).get("schemas", {}).items()):
        parts.append(f'<h2 id="{escape(name)}">{escape(name)}</h2><pre>{escape(json.dumps(schema, indent=1))}</pre>')
    parts.append('<p>The whole document: <a href="openapi.json">openapi.json</a></p>')
    head = f'<meta charset="utf-8"><title>{escape(info["title"])}</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>'


def _route(method: str, path: str, route: Mapping[str, Any]) -> str:
    """Return the section of one route."""
    rows = "".join(
        f"<tr><td>{escape(code)}</td><td>{escape(answer.get('description', ''))}</td></tr>"
        for code, answer in sorted(route.get("responses", {}).items())
    )
    schema = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    names = [name.rpartition("/")[2] for name in _references(schema)]
    body = ", ".join(f'<a href="#{escape(name)}">{escape(name)}</a>' for name in names)
    return (
        f"<h2>{escape(method.upper())} {escape(path)}</h2><p>{escape(route.get('summary', ''))}</p>"
        + (f"<p>Body: {body}</p>" if body else "")
        + f"<table>{rows}</table>"
    )


def _references(schema: Any) -> list[str]:
    """Return the references in a schema, in order."""
    if isinstance(schema, Mapping):
        own = [schema["$ref"]] if "$ref" in schema else []
        return own + [name for key, part in schema.items() if key != "discriminator" for name in _references(part)]
    return [name for part in schema for name in _references(part)] if isinstance(schema, list) else []
