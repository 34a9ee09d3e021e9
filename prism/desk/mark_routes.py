"""The routes of marking: the list of solutions, one of them beside the reference, a marker's word, a case of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from prism.desk.folder import Desk
from prism.desk.marking import (
    GradeStore,
    Key,
    Room,
    earlier_reasons,
    keep_as_case,
    keep_as_sample,
    marked,
    open_room,
    write_word,
)
from prism.desk.pages import html_page, language_of, words_of
from prism.desk.reference_view import drawing
from prism.desk.solution_text import formula_lines, text_pieces
from prism.reports.feedback.attention import doubts_of
from prism.reports.feedback.corrections import Correction
from prism.reports.feedback.marking import MarkedNode, MarkedSolution, points_text

Word = Annotated[str, Field(max_length=2000)]


class Mark(BaseModel):
    """What a form of the marking page sends: a word on a node, its withdrawal, or a case made of the solution."""

    model_config = ConfigDict(extra="ignore")
    op: Literal["word", "withdraw", "sample", "case"]
    digest: str
    problem: str
    student: str
    node: int = 0
    credited: bool = False
    by: Word = ""
    why: Word = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A solution in the list: its points as text, empty while it is not graded, and what asks for a person."""

    key: Key
    address: str
    points: str
    full: str
    concerns: tuple[str, ...]
    n_word: int
    n_changed: int
    moved: tuple[int, ...]

    @property
    def needs_a_person(self) -> bool:
        """True if something asks for a person, and no marker has said anything."""
        return bool(self.concerns) and not self.n_word


def add_routes(app: FastAPI) -> None:
    """Add the routes of marking to the application of a desk."""
    app.add_api_route("/mark", _list, methods=["GET"])
    app.add_api_route("/mark/rows", _rows, methods=["GET"])
    app.add_api_route("/mark/one", _one, methods=["GET"])
    app.add_api_route("/mark/one", _mark, methods=["POST"])


def address_of(key: Key | None) -> str:
    """Return the address of the page of one solution; empty for none."""
    return "" if key is None else f"/mark/one?{urlencode({'problem': key[0], 'student': key[1]})}"


def _list(request: Request) -> Response:
    """Answer the list of all solutions, and grade them meanwhile."""
    return _list_page(request, "mark")


def _rows(request: Request) -> Response:
    """Answer the rows of the list again, while solutions are graded."""
    return _list_page(request, "mark_rows")


def _list_page(request: Request, template: str) -> Response:
    """Answer a template with the list of all solutions."""
    desk: Desk = request.app.state.desk
    room = open_room(desk.folder)
    desk.grades.grade_all(room)
    lines = [_line(room, desk.grades, key) for key in room.submissions]
    return html_page(
        request, template, lines=lines, broken=room.broken, n_waiting=sum(not each.points for each in lines),
        n_word=sum(each.n_word for each in lines), n_changed=sum(each.n_changed for each in lines),
        n_problem=len(room.problems),
    )  # fmt: skip


def _line(room: Room, store: GradeStore, key: Key) -> Line:
    """Return a solution as the list shows it."""
    is_known = store.has(room.problems[key[0]], room.submissions[key])
    words = room.corrections.get(key, {})
    if not is_known:
        return Line(key, address_of(key), "", "", (), len(words), 0, ())
    found = marked(room, store, key)
    n_changed = sum(each.is_changed for each in found.corrections)
    return Line(
        key, address_of(key), points_text(found.earned), points_text(found.full), _concerns(room, found, key),
        len(words), n_changed, store.moved.get(key, ()),
    )  # fmt: skip


def _concerns(room: Room, found: MarkedSolution, key: Key) -> tuple[str, ...]:
    """Return in words what asks for a person at a solution."""
    files = tuple(each.what for each in room.unread.get(key, ()))
    return (*(doubts_of(found.grade) if found.is_read else ()), *files)


def _one(request: Request, problem: str, student: str) -> Response:
    """Answer the page of one solution."""
    return _solution_page(request, "mark_one", (problem, student))


def _mark(mark: Mark, request: Request) -> Response:
    """Write a marker's word or a case, and answer the solution as it is now."""
    desk: Desk = request.app.state.desk
    key = (mark.problem, mark.student)
    said = ""
    if mark.op in ("word", "withdraw"):
        desk.marker = mark.by.strip() or desk.marker
        word = Correction(mark.student, mark.problem, mark.node, mark.credited, mark.by, mark.why)
        write_word(desk.folder, mark.digest, word, is_gone=mark.op == "withdraw")
    else:
        room = open_room(desk.folder)
        found = marked(room, desk.grades, key)
        is_sample = mark.op == "sample"
        path = desk.problem_path(room.names[mark.problem])
        said = keep_as_sample(path, found) if is_sample else keep_as_case(desk.folder, found, mark.node)
    return _solution_page(request, "marking", key, said)


def _solution_page(request: Request, template: str, key: Key, said: str = "") -> Response:
    """Answer a template with one solution beside its reference."""
    desk: Desk = request.app.state.desk
    room = open_room(desk.folder)
    found = marked(room, desk.grades, key)
    keys = list(room.submissions)
    at = keys.index(key)
    behind = [each for each in (*keys[at + 1 :], *keys[:at]) if _line(room, desk.grades, each).needs_a_person]
    states = {each.index: "said" if each.correction else each.rule for each in found.nodes}
    label = words_of(language_of(request))["graph"]
    return html_page(
        request, template, key=key, found=found, digest=room.digest, by=desk.marker, said=said,
        pieces=text_pieces(found.text, found.grade.formulas),
        lines=formula_lines(found.grade.formulas, found.diagnosis),
        nodes=[_node(found, each) for each in found.nodes], reasons=earlier_reasons(room),
        concerns=_concerns(room, found, key), moved=desk.grades.moved.get(key, ()),
        drawing=drawing(found.problem.dag, lambda index: states[index].replace(" ", "-"), (), label),
        earned=points_text(found.earned), full=points_text(found.full), place=at + 1, n=len(keys),
        before=address_of(room.next_to(key, -1)), after=address_of(room.next_to(key, 1)),
        open_next=address_of(behind[0] if behind else None), statement=found.problem.statement,
        parts=[(each.letter, each.text) for each in found.problem.subquestions if each.text],
    )  # fmt: skip


def _node(found: MarkedSolution, node: MarkedNode) -> dict[str, Any]:
    """Return a node of the reference as the page shows it: the rule's verdict, by which formula, the marker's word."""
    latex = next(each.latex for each in found.problem.nodes if each.index == node.index)
    formulas = found.grade.formulas
    by = next((item.latex for item in formulas if node.index in item.nodes), "")
    near = next((item.latex for item in formulas if item.nearest == node.index), "")
    withheld = [item.latex for item in formulas if any(index == node.index for index, _ in item.withheld)]
    return {
        "index": node.index, "latex": latex, "is_final": node.is_final, "part": node.part, "rule": node.rule,
        "earns": node.share > 0, "by_rule": node.share_by_rule > 0, "word": node.correction, "by": by, "near": near,
        "withheld": withheld, "is_changed": node.is_changed,
    }  # fmt: skip
