"""The routes of comparing: the items by disagreement, one of them with its text and reasons, a person's decision."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from prism.desk.answers import go_to, html_page
from prism.desk.comparing import (
    ENDINGS,
    MAX_SHOWN,
    Choice,
    Comparison,
    Item,
    compare_files,
    record_files,
    shown_solution,
    write_decision,
)
from prism.desk.files import file_in
from prism.desk.folder import Desk
from prism.desk.pages import HEADERS
from prism.desk.solution_text import formula_lines, text_pieces
from prism.errors import PrismError
from prism.reports.html.page import html_page as report_page
from prism.reports.html.rendering import own_files
from prism.reports.summary import build_report

REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'"
)
"""Policy of a report: its own style, and its script by the hash; no form, an origin of its own, nothing of the desk."""

Word = Annotated[str, Field(max_length=2000)]


class Settle(BaseModel):
    """What the form of an item sends: the score that a person decides on, and why."""

    model_config = ConfigDict(extra="ignore")
    digest: str
    problem: str
    sample: str
    results: str
    others: str = ""
    texts: str = ""
    score: Word
    by: Word = ""
    why: Word = ""


def add_routes(app: FastAPI) -> None:
    """Add the routes of comparing and seeing to the application of a desk."""
    app.add_api_route("/compare", _compare, methods=["GET"])
    app.add_api_route("/compare/item", _item, methods=["GET"])
    app.add_api_route("/compare/item", _settle, methods=["POST"])
    app.add_api_route("/see", _see, methods=["GET"])
    app.add_api_route("/see/report", _report, methods=["GET"])


def address_of(choice: Choice, item: Item | None = None) -> str:
    """Return the address of a comparison, or of one item of it."""
    query = [("results", choice.results), *(("other", each) for each in choice.others), ("texts", choice.texts)]
    if item is None:
        return f"/compare?{urlencode(query)}"
    return f"/compare/item?{urlencode([*query, ('problem', item[0]), ('sample', item[1])])}"


def _choice(request: Request) -> Choice:
    """Return the files that an address names."""
    query = request.query_params
    others = tuple(each for each in query.getlist("other") if each and each != query.get("results"))
    return Choice(query.get("results", ""), others, query.get("texts", ""))


def _compare(request: Request) -> Response:
    """Answer the choice of files, and the items of those that are chosen."""
    desk: Desk = request.app.state.desk
    choice = _choice(request)
    is_chosen = bool(choice.results and choice.others)
    found = compare_files(desk.folder, choice) if is_chosen else None
    template = "compare_table" if request.headers.get("hx-target") == "table" else "compare"
    return html_page(
        request, template, files=record_files(desk.folder), choice=choice, found=found, most=MAX_SHOWN,
        address=lambda item: address_of(choice, item),
    )  # fmt: skip


def _item(request: Request, problem: str, sample: str) -> Response:
    """Answer one item: the text, what the rules say of its formulas, each rater's score and reason."""
    desk: Desk = request.app.state.desk
    choice = _choice(request)
    found = compare_files(desk.folder, choice)
    places = {each.item: k for k, each in enumerate(found.items)}
    if (problem, sample) not in places:
        raise PrismError(f"no file has {sample!r} of {problem!r}")
    at = places[problem, sample]
    shown = shown_solution(desk.folder, choice, (problem, sample))
    neighbours = {step: found.items[at + step].item for step in (-1, 1) if 0 <= at + step < len(found.items)}
    return html_page(
        request, "compare_item", one=found.items[at], found=found, choice=choice, place=at + 1, by=desk.marker,
        pieces=text_pieces(shown.text, shown.formulas) if shown.text else (),
        lines=formula_lines(shown.formulas, None), back=address_of(choice),
        before=address_of(choice, neighbours[-1]) if -1 in neighbours else "",
        after=address_of(choice, neighbours[1]) if 1 in neighbours else "",
    )  # fmt: skip


def _settle(settle: Settle, request: Request) -> Response:
    """Write a decision, and open the next item on which raters differ and nobody has decided."""
    desk: Desk = request.app.state.desk
    choice = Choice(settle.results, tuple(settle.others.split("\n")) if settle.others else (), settle.texts)
    item = (settle.problem, settle.sample)
    desk.marker = settle.by.strip() or desk.marker
    write_decision(desk.folder, settle.digest, item, settle.score, settle.by, settle.why)
    upcoming = _next_open(compare_files(desk.folder, choice), item)
    return go_to(address_of(choice, upcoming))


def _next_open(found: Comparison, item: Item) -> Item | None:
    """Return the next item on which raters differ and nobody has decided, then from the top; None for none."""
    places = [each.item for each in found.items]
    at = places.index(item) if item in places else 0
    behind = (*found.items[at + 1 :], *found.items[: at + 1])
    return next((each.item for each in behind if each.spread > 0 and each.decision is None), None)


# See. -----------------------------------------------------------------------------------------------------------


def _see(request: Request) -> Response:
    """Answer the runs of the folder, each with its report."""
    desk: Desk = request.app.state.desk
    runs = [name for name, is_run in record_files(desk.folder).items() if is_run]
    return html_page(request, "see", runs=[(name, f"/see/report?{urlencode({'run': name})}") for name in runs])


def _report(request: Request, run: str) -> Response:
    """Answer the report of a run, which can do nothing to the desk: it stands in a sandbox."""
    desk: Desk = request.app.state.desk
    found = build_report(file_in(desk.folder, run, *ENDINGS), replicates=0)
    text = report_page(found, title=run)
    policy = REPORT_POLICY.format(own_files((), "tables.js")["script_hash"])
    headers = {**HEADERS, "content-security-policy": policy}
    return Response(text.encode("utf-8", "replace"), 200, headers, "text/html; charset=utf-8")
