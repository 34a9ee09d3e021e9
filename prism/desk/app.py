"""The application of the desk: its pages behind the guard of the server, its own two scripts, no other origin.

    run(create_desk(Path("problems"), token="a-long-token-of-mine"))        # what `prism desk problems` does

Pages are made here whole; htmx puts parts of them in place. Every form sends JSON, which no page of another site can
make a browser send, and shows the digest of the file that it was made from.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse

from prism.desk import author_routes, compare_routes, mark_routes
from prism.desk.answers import html_page, message
from prism.desk.door import TokenDoor
from prism.desk.files import StaleFile
from prism.desk.folder import Desk
from prism.desk.pages import HEADERS, STATIC, static_text
from prism.desk.words import LANGUAGES
from prism.errors import PrismError
from prism.inputs import why_failed
from prism.server.app import check_token
from prism.server.guard import DEFAULT_LIMITS, InFlight, RequestGuard
from prism.version import __version__

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
