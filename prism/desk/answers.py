"""Answers of the desk: a page, a part of one that htmx puts in place, a message; in the language of who asks."""

from __future__ import annotations

from fastapi import Request, Response

from prism.desk.pages import HEADERS, rendered
from prism.desk.words import chosen_language, words_of

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
