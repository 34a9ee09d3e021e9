"""The application of the desk: its pages behind the guard of the server, its own two scripts, no other origin.

    run(create_desk(Path("problems"), token="a-long-token-of-mine"))        # what `prism desk problems` does

Pages are made here whole; htmx puts parts of them in place. Every form sends JSON, which no page of another site can
make a browser send, and shows the digest of the file that it was made from.

How a browser shows the token of a desk: once in the address that `prism desk` prints, then in a cookie.

The guard of the server asks for the header Authorization, which no browser sends by itself. This middleware stands
before it, and makes the header of the cookie. The cookie is for this host alone, unseen by scripts, and never sent with
a request that another site has caused.

Run a desk on this machine: a socket that listens, its address with the token, kernels compiled meanwhile.
"""

from __future__ import annotations

import hmac
import socket
import threading
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

import prism
from prism.desk import author_routes, compare_routes, mark_routes
from prism.desk.files import StaleFile
from prism.desk.folder import Desk
from prism.desk.pages import HEADERS, LANGUAGES, STATIC, html_page, message, static_text
from prism.errors import PrismError
from prism.inputs import why_failed
from prism.server.app import check_token
from prism.server.guard import DEFAULT_LIMITS, InFlight, RequestGuard
from prism.version import __version__

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


LANGUAGE_COOKIE = "prism_desk_language"
_YEAR = 365 * 24 * 3600  # seconds


def create_desk(folder: Path, *, token: str) -> FastAPI:
    """Return the application that edits, marks and compares what stands in a folder.

    Args:
        token: what a browser has to show: in the address once, then as a cookie.

    Errors:
        PrismError: no folder; a token that is too short.
    """
    check_token(token)
    if not folder.is_dir():
        raise PrismError(f"{folder}: is no folder")
    app = FastAPI(title="PRISM desk", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.desk = Desk(folder)
    app.add_exception_handler(StaleFile, _answer_stale)
    app.add_exception_handler(PrismError, _answer_refused)
    app.add_exception_handler(OSError, _answer_refused)
    app.add_exception_handler(RequestValidationError, _answer_refused)
    app.add_api_route("/", _front, methods=["GET"])
    app.add_api_route("/static/{name}", _static, methods=["GET"])
    app.add_api_route("/language/{code}", _language, methods=["GET"])
    author_routes.add_routes(app)
    mark_routes.add_routes(app)
    compare_routes.add_routes(app)
    app.add_middleware(RequestGuard, token=token, in_flight=InFlight(DEFAULT_LIMITS))
    app.add_middleware(TokenDoor, token=token)
    return app


def _front(request: Request) -> Response:
    """Answer the first page: the problem files of the folder, and what of each is open."""
    desk: Desk = request.app.state.desk
    return html_page(request, "front", lines=list(desk.problem_lines()), folder=str(desk.folder))


def _static(name: str) -> Response:
    """Answer a file of the desk."""
    if name not in STATIC:
        return Response(status_code=404, headers=HEADERS)
    return Response(static_text(name), media_type=STATIC[name], headers=HEADERS)


def _language(code: str, request: Request) -> Response:
    """Remember the language that a person chose, and go back to where they were."""
    back = request.query_params.get("back", "/")
    is_ours = back.startswith("/") and not back.startswith(("//", "/\\"))
    answer = RedirectResponse(back if is_ours else "/", 303)
    if code in LANGUAGES:
        answer.set_cookie(LANGUAGE_COOKIE, code, max_age=_YEAR, samesite="strict", httponly=True)
    return answer


def _answer_stale(request: Request, error: Exception) -> Response:
    """Answer 409: the file was changed since the page was made (exception handler)."""
    return message(request, "stale", str(error), status=409)


def _answer_refused(request: Request, error: Exception) -> Response:
    """Answer 422 with what is wrong, in words (exception handler)."""
    why = why_failed(error)
    if isinstance(error, RequestValidationError):
        why = "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in error.errors())
    return message(request, "not_shown" if request.method == "GET" else "refused", why, status=422)


HOST, PORT = "127.0.0.1", 8779
_GRACE = 5  # seconds that a request has to end when the desk is stopped


def listen(port: int) -> socket.socket:
    """Return a socket of this machine that listens already, so that who has read the address can ask; 0 is any port.

    Errors:
        PrismError: the port is in use.
    """
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise PrismError(f"port {port} of {HOST}: {why_failed(error)}; name another with --port") from error


def address_of(listening: socket.socket, token: str) -> str:
    """Return the address by which a browser is let in."""
    return f"http://{HOST}:{listening.getsockname()[1]}/?token={token}"


def run(app: FastAPI, listening: socket.socket) -> None:
    """Serve a desk over loopback until Ctrl-C; kernels are compiled meanwhile."""
    import uvicorn

    threading.Thread(target=prism.warm, daemon=True).start()
    config = uvicorn.Config(
        app, access_log=False, log_level="warning", server_header=False, ws="none", http="h11",
        timeout_graceful_shutdown=_GRACE,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])
