"""The routes of comparing: the items by disagreement, one of them with its text and reasons, a person's decision.

Comparing on the desk: two runs, or rules beside judges beside people, by how much they differ; and what is decided.

Raters are read as `prism agree` reads them. What a person decides stands in `adjudicated.jsonl`, a table of judgements
that `prism agree` takes as a rater.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import numpy as np
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from prism.desk.files import Version, file_in, names_in, read_version, write_version
from prism.desk.folder import Desk
from prism.desk.pages import HEADERS, go_to, html_page
from prism.desk.solution_text import formula_lines, text_pieces
from prism.errors import PrismError
from prism.grading.result import GradedFormula
from prism.inputs import parse_json
from prism.reports.html.page import html_page as report_page
from prism.reports.html.rendering import own_files
from prism.reports.judgements import read_score
from prism.reports.ratings import RULES, RatingTable, holds_score_rows, rating_table
from prism.reports.summary import build_report, read_solution_texts
from prism.runs.score_files import grade_of, score_rows

ADJUDICATED = "adjudicated.jsonl"
ENDINGS = (".jsonl", ".parquet", ".csv", ".json", ".eval")
MAX_SHOWN = 500  # items of the list; those on which raters differ most
Item = tuple[str, str]  # problem and sample


@dataclass(frozen=True, slots=True)
class Choice:
    """The files that are compared, by name: results, further runs, judges or people, and rollouts with the texts."""

    results: str = ""
    others: tuple[str, ...] = ()
    texts: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person has decided on an item: the score, by whom, and why."""

    score: float
    by: str
    why: str


@dataclass(frozen=True, slots=True)
class Compared:
    """One item with the score that each rater gives it; None where there is none.

    Attributes:
        spread: the largest difference of two raters; 0 where one alone has said something.
    """

    item: Item
    scores: tuple[float | None, ...]
    reasons: tuple[str, ...]
    spread: float
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All items, those on which raters differ most first, and the names of the raters."""

    raters: tuple[str, ...]
    items: tuple[Compared, ...]
    digest: str

    @property
    def n_different(self) -> int:
        """The number of items on which raters differ."""
        return sum(each.spread > 0 for each in self.items)

    @property
    def n_decided(self) -> int:
        """The number of items on which a person has decided."""
        return sum(each.decision is not None for each in self.items)


@dataclass(frozen=True, slots=True)
class Shown:
    """What is known of one solution: its text, and what each run says of its formulas."""

    text: str
    formulas: tuple[GradedFormula, ...]


def record_files(folder: Path) -> dict[str, bool]:
    """Map the names of the files of records in a folder to whether they hold score rows."""
    found: dict[str, bool] = {}
    for name in names_in(folder, *ENDINGS):
        if name == ADJUDICATED:
            continue
        try:
            found[name] = holds_score_rows(folder / name)
        except (PrismError, OSError, ValueError):
            continue
    return found


def compare_files(folder: Path, choice: Choice) -> Comparison:
    """Compare what the chosen files say of the same solutions.

    Errors:
        DataFileError: files that cannot be read, or hold nothing to compare.
        PrismError: no file of the folder has a chosen name.
    """
    paths = [file_in(folder, name, *ENDINGS) for name in (choice.results, *choice.others)]
    table = rating_table(paths[0], paths[1:])
    version = read_version(folder / ADJUDICATED)
    decided = read_decisions(version.text)
    found = [_compared(table, row, decided) for row in range(len(table.items))]
    names = [paths[0].name.split(".")[0] if each == RULES else each for each in table.raters]
    ordered = sorted(found, key=lambda each: (-each.spread, each.item))
    return Comparison(tuple(names), tuple(ordered), version.digest)


def _compared(table: RatingTable, row: int, decided: Mapping[Item, Decision]) -> Compared:
    """Return one row of a table of ratings."""
    ratings = table.ratings[row]
    known = ratings[~np.isnan(ratings)]
    scores = tuple(None if np.isnan(each) else float(each) for each in ratings)
    reasons = tuple(table.reasons.get((row, column), "") for column in range(len(table.raters)))
    spread = float(known.max() - known.min()) if known.size else 0.0
    item = table.items[row]
    return Compared(item, scores, reasons, round(spread, 9), decided.get(item))


def read_decisions(text: str) -> dict[Item, Decision]:
    """Read what was decided.

    Errors:
        PrismError: a line that the desk has not written.
    """
    found: dict[Item, Decision] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            row = parse_json(line)
            key = (str(row["problem_id"]), str(row["sample_id"]))
            found[key] = Decision(float(row["score"]), str(row["rater"]), str(row.get("reason", "")))
        except (KeyError, TypeError, ValueError) as error:
            raise PrismError(f"{ADJUDICATED}, line {number}: is no decision of the desk ({error})") from error
    return found


def write_decision(folder: Path, digest: str, item: Item, score: str, by: str, why: str) -> Version:
    """Write what a person decides on an item, in the place of an earlier decision.

    Errors:
        StaleFile: the file of decisions is another version than the page was made from.
        PrismError: no name, or a score that is no number.
    """
    read = read_score(score.strip().replace(",", "."))
    if read.score is None:
        raise PrismError(f"{score!r} is no score")
    if not by.strip():
        raise PrismError("a decision needs your name")
    path = folder / ADJUDICATED
    known = read_decisions(read_version(path).text)
    known[item] = Decision(read.score, by.strip(), why.strip())
    return write_version(path, digest, "".join(_line(*each) for each in known.items()))


def _line(item: Item, decision: Decision) -> str:
    """Return a decision as a line of JSON."""
    row = {
        "problem_id": item[0], "sample_id": item[1], "rater": decision.by, "score": decision.score,
        "reason": decision.why,
    }  # fmt: skip
    return json.dumps(row, ensure_ascii=True) + "\n"


def shown_solution(folder: Path, choice: Choice, item: Item) -> Shown:
    """Return the text of a solution and what the first run says of its formulas; empty where a file does not say."""
    path = file_in(folder, choice.results, *ENDINGS)
    rows: Sequence[Mapping[str, Any]] = list(score_rows(path)) if holds_score_rows(path) else []
    row = next((each for each in rows if (str(each["problem_id"]), str(each["sample_id"])) == item), None)
    if row is None:
        return Shown("", ())
    text = ""
    if choice.texts:
        known = read_solution_texts(file_in(folder, choice.texts, *ENDINGS), [row], {})
        text = known.by_sha256.get(str(row.get("solution_sha256")), "")
    return Shown(text, grade_of(row).formulas if "formulas" in row else ())


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
    """Answer one item: the text, what the rules say of its formulas, each rater's score and reason.

    Raises PrismError for one that no file has.
    """
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
