"""How a browser shows the token of a desk: once in the address that `prism desk` prints, then in a cookie.

The guard of the server asks for the header Authorization, which no browser sends by itself. This middleware stands
before it, and makes the header of the cookie. The cookie is for this host alone, unseen by scripts, and never sent with
a request that another site has caused.
"""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_CLOSED = "This desk is opened by the address that `prism desk` has printed, with its token.\n"


class TokenDoor:
    """ASGI middleware that lets a browser in by `?token=` and by the cookie that it is given then."""

    def __init__(self, app: ASGIApp, *, token: str) -> None:
        """Wrap an ASGI application."""
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request: give the cookie, or make the header that the guard asks for of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        port = (scope.get("server") or ("", ""))[1]
        name = f"prism_desk_{port}"  # cookies are shared by all ports of a host
        headers = dict(scope["headers"])
        shown = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if scope["method"] == "GET" and shown and hmac.compare_digest(shown.encode(), self._token.encode()):
            answer = RedirectResponse(scope["path"] or "/", 303, {"referrer-policy": "no-referrer"})
            answer.set_cookie(name, self._token, httponly=True, samesite="strict", path="/")
            await answer(scope, receive, send)
            return
        if b"authorization" not in headers:
            cookie = _cookie(headers.get(b"cookie", b"").decode("latin-1"), name)
            if not cookie and scope["method"] == "GET":
                await PlainTextResponse(_CLOSED, 401)(scope, receive, send)
                return
            header = (b"authorization", f"Bearer {cookie}".encode("latin-1"))
            scope = {**scope, "headers": [*scope["headers"], header]}
        await self._app(scope, receive, send)


def _cookie(header: str, name: str) -> str:
    """Return the value of a cookie; empty without it."""
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return found.value if found else ""
