"""The routes of the author's page: a problem file with its nodes, an edit of it, its check, a new file by drafting."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import FastAPI, Request, Response

from prism.desk.author import Edit, NewProblem, apply_edit, write_draft
from prism.desk.checks import check, place_of
from prism.desk.files import read_version
from prism.desk.folder import Desk
from prism.desk.pages import go_to, html_page, language_of, words_of
from prism.desk.reference_view import reference_view


def add_routes(app: FastAPI) -> None:
    """Add the author's routes to the application of a desk; those that compute run in threads."""
    app.add_api_route("/new", _new, methods=["GET"])
    app.add_api_route("/new", _draft, methods=["POST"])
    app.add_api_route("/author/{name}", _author, methods=["GET"])
    app.add_api_route("/author/{name}", _edit, methods=["POST"])
    app.add_api_route("/check/{name}", _check, methods=["GET"])


def _new(request: Request) -> Response:
    """Answer the form for a new problem."""
    return html_page(request, "new")


def _draft(new: NewProblem, request: Request) -> Response:
    """Draft a problem file, and open it."""
    desk: Desk = request.app.state.desk
    return go_to(f"/author/{quote(write_draft(desk.folder, new).name)}")


def _author(name: str, request: Request, way: str = "") -> Response:
    """Answer the page of a problem file."""
    return _reference_page(request, "author", name, way)


def _edit(name: str, edit: Edit, request: Request) -> Response:
    """Edit a problem file and answer its nodes as they are now."""
    desk: Desk = request.app.state.desk
    apply_edit(desk.problem_path(name), edit, desk.history)
    if edit.op == "certify":
        desk.marker = edit.text.strip()
    return _reference_page(request, "editor", name, edit.way)


def _reference_page(request: Request, template: str, name: str, way: str) -> Response:
    """Answer a template with a reference of a problem file."""
    desk: Desk = request.app.state.desk
    version = read_version(desk.problem_path(name))
    view = reference_view(version.text, way, words_of(language_of(request))["graph"])
    return html_page(request, template, name=name, digest=version.digest, view=view, by=desk.marker)


def _check(name: str, request: Request, way: str = "") -> Response:
    """Answer the findings on a problem file as it is now, and its samples graded."""
    desk: Desk = request.app.state.desk
    checked = check(read_version(desk.problem_path(name)).text)
    return html_page(request, "check", checked=checked, shown=checked.shown(way), place_of=place_of, name=name, way=way)
