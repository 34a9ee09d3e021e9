"""The Jinja environment of the desk: autoescape, visible signs, formulas as MathML, labels in a language.

Templates and style are those of the reports where they can be. What a file, a student or a model says is text
wherever a template writes it; the policy lets nothing run but the two scripts that the desk serves itself.

Answers of the desk: a page, a part of one that htmx puts in place, a message; in the language of who asks.

The words of the desk in its languages: labels from `words.toml`, and the reasons of drafts in other languages.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fastapi import Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from prism.errors import count_of
from prism.inputs import parse_toml
from prism.latex import one_line
from prism.reports.html.markup import prose
from prism.reports.html.mathml import as_mathml
from prism.reports.html.rendering import visible_value

LANGUAGES = ("en", "de")
_FILE = Path(__file__).with_name("words.toml")


@cache
def words_of(language: str) -> Mapping[str, Any]:
    """Return the labels of a language by name; `why` maps reasons as files have them to those of the language."""
    found: Mapping[str, Any] = parse_toml(_FILE.read_text(encoding="utf-8"))[language]
    return found


def chosen_language(chosen: str, accepted: str) -> str:
    """Return the language that a person chose, else the first of those that a browser asks for that there is.

    Args:
        chosen: as a cookie says it; may be anything.
        accepted: the header Accept-Language.

    >>> chosen_language("", "fr, de-AT;q=0.8, en;q=0.5"), chosen_language("en", "de"), chosen_language("x", "")
    ('de', 'en', 'en')
    """
    if chosen in LANGUAGES:
        return chosen
    asked = (each.partition(";")[0].strip()[:2].lower() for each in accepted.split(","))
    return next((each for each in asked if each in LANGUAGES), LANGUAGES[0])


FOLDER = Path(__file__).parent
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy: the desk's own files, no inline script or style, no other origin, no form without htmx."""

HEADERS = {
    "content-security-policy": POLICY, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
    "cache-control": "no-store", "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}  # fmt: skip

STATIC = {"htmx.min.js": "text/javascript", "desk.js": "text/javascript", "desk.css": "text/css"}
_STYLES = (FOLDER.parent / "reports" / "html" / "page.css", FOLDER / "static" / "desk.css")


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the Jinja environment of the templates; cached."""
    found = Environment(
        loader=FileSystemLoader(FOLDER / "templates"), autoescape=True, undefined=StrictUndefined,
        finalize=visible_value, trim_blocks=True, lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    found.filters.update(count=count_of, mathml=as_mathml, prose=prose, one_line=one_line)
    return found


def rendered(template: str, language: str, **values: object) -> str:
    """Render `templates/TEMPLATE.html.jinja` with the labels of a language as `w`."""
    labels = SimpleNamespace(**words_of(language))  # a dictionary would give a template its methods, as `items`
    known = {"w": labels, "language": language, "languages": LANGUAGES}
    return environment().get_template(f"{template}.html.jinja").render(**known, **values)


@lru_cache(maxsize=len(STATIC))
def static_text(name: str) -> str:
    """Return a file of the desk by one of the names of `STATIC`; the style sheet holds that of the reports too."""
    if name == "desk.css":
        return "".join(path.read_text(encoding="utf-8") for path in _STYLES)
    return (FOLDER / "static" / name).read_text(encoding="utf-8")


_COOKIE = "prism_desk_language"


def language_of(request: Request) -> str:
    """Return the language in which a request is answered."""
    return chosen_language(request.cookies.get(_COOKIE, ""), request.headers.get("accept-language", ""))


def html_page(request: Request, template: str, status: int = 200, **values: object) -> Response:
    """Answer a page, or a part of one, from a template."""
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    text = rendered(template, language_of(request), here=here, **values)
    return Response(text.encode("utf-8", "replace"), status, HEADERS, "text/html; charset=utf-8")


def message(request: Request, kind: str, why: str, *, status: int) -> Response:
    """Answer a message about what was not done or not found; as a page to who did not ask by a form.

    Args:
        kind: the label that leads it: `stale`, `refused`, or `not_shown` for a page.
    """
    template = "message" if request.headers.get("hx-request") else "message_page"
    said = words_of(language_of(request))[kind]
    return html_page(request, template, status, said=said, why=why, is_stale=kind == "stale")


def go_to(address: str) -> Response:
    """Answer that the browser is to open another page of the desk."""
    return Response(status_code=204, headers={**HEADERS, "hx-redirect": address})
