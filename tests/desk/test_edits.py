"""Edits of a problem file: what they make of nodes, edges, notes and labels, and what they leave as it is."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import pytest

import prism
from prism.desk import edits
from prism.desk.blocks import joined, split_blocks
from prism.desk.edits import Sheet
from prism.errors import PrismError
from prism.problem.review import certificate_digest, review_of
from prism.resources import resource

SHIPPED = sorted(resource("dags").glob("*.toml"))
FALL = r"""# The whole file.
id = 'fall'  # its name
context = 'A stone falls from the height $h$ in the time $t$ and has the speed $v$; $g$ is the gravity.'

# Node: displayed
[[grading_standard]]
formula = 'v = g t'  # the first
index = 1
dependency = []
reviewed = false

# Node: a chain
# of two
[[grading_standard]]
index = 2
formula = 'h = \frac{g t^2}{2}'
dependency = []
edges = [{ from = 1, why = 'perhaps', question = true }]

# Node: boxed
[[grading_standard]]
index = 3
formula = 'v^2 = 2 g h'
dependency = [1, 2]
edges = [{ from = 1, why = 'w', reviewed = false }, { from = 2, why = 'w', reviewed = false }]

[[grading_standard]]
index = 4
formula = 'v = \sqrt{2 g h}'
dependency = [3]
is_final_answer = true

# About the student.
[[students]]
name = 's'
solution = '''
[[not a table]]
$v = g t$ and $v^2 = 2 g h$'''
[students.expected]
matched = [1, 3]  # by a physicist
credited = [1, 2, 3]
score = 0.75
final_correct = false
"""


def after(change: Callable[[Sheet], None], text: str = FALL) -> dict[str, Any]:
    return tomllib.loads(edits.edited(text, "", change))


def accepted(text: str, index: int) -> str:
    return edits.edited(text, "", lambda sheet: edits.accept_node(sheet, index, with_edges=True))


def formulas(data: dict[str, Any]) -> list[str]:
    return [node["formula"] for node in data["grading_standard"]]


def dependencies(data: dict[str, Any]) -> list[list[int]]:
    assert [node["index"] for node in data["grading_standard"]] == list(range(1, len(data["grading_standard"]) + 1))
    return [node["dependency"] for node in data["grading_standard"]]


@pytest.mark.parametrize("text", [FALL, *(path.read_text(encoding="utf-8") for path in SHIPPED)])
def test_what_is_not_edited_stays_byte_for_byte(text: str) -> None:
    assert joined(split_blocks(text)) == text
    assert edits.close_sheet(edits.open_sheet(text)) == text


def test_windows_line_ends_stay() -> None:
    text = FALL.replace("\n", "\r\n")
    assert edits.close_sheet(edits.open_sheet(text)) == text


def test_comments_and_order_of_keys_stay_at_their_node() -> None:
    text = edits.edited(FALL, "", lambda sheet: edits.drop_node(sheet, 2))
    assert "# Node: a chain" not in text
    assert "# Node: displayed\n[[grading_standard]]\nformula = 'v = g t'  # the first\nindex = 1" in text
    assert "# Node: boxed\n[[grading_standard]]\nindex = 2" in text
    assert "# About the student." in text
    assert "[students.expected]\nmatched = [1, 2]  # by a physicist\ncredited = [1, 2]\n" in text


def test_a_dropped_node_hands_its_edges_on_and_labels_follow() -> None:
    data = after(lambda sheet: edits.drop_node(sheet, 3))
    assert dependencies(data) == [[], [], [1, 2]]
    assert [note["reviewed"] for note in data["grading_standard"][2]["edges"]] == [False, False]
    assert data["students"][0]["expected"] == {
        "matched": [1], "credited": [1], "score": 0.333333, "final_correct": False,
    }  # fmt: skip
    assert prism.load_problem(data).review.count("edge") == 2


def test_a_cut_edge_changes_what_a_label_is_credited_with() -> None:
    def change(sheet: Sheet) -> None:
        edits.cut_edge(sheet, 3, 2)
        edits.draw_edge(sheet, 4, 2)

    data = after(change)
    assert dependencies(data)[2:] == [[1], [2, 3]]
    assert data["students"][0]["expected"]["credited"] == [1, 3]
    assert data["grading_standard"][2]["edges"] == [{"from": 1, "why": "w", "reviewed": False}]


def test_yes_to_a_question_draws_the_edge_and_no_takes_the_question_away() -> None:
    node = after(lambda sheet: edits.draw_edge(sheet, 2, 1))["grading_standard"][1]
    assert node["dependency"] == [1]
    assert node["edges"] == [{"from": 1, "why": "perhaps"}]
    node = after(lambda sheet: edits.cut_edge(sheet, 2, 1))["grading_standard"][1]
    assert node["dependency"] == []
    assert "edges" not in node


def test_an_edge_leads_forward_only() -> None:
    with pytest.raises(PrismError, match="can follow from earlier nodes only"):
        after(lambda sheet: edits.draw_edge(sheet, 2, 3))
    with pytest.raises(PrismError, match="there is no node 9"):
        after(lambda sheet: edits.draw_edge(sheet, 2, 9))


def test_accepting_all_leaves_questions_open() -> None:
    text = FALL
    for index in (1, 2, 3):
        text = accepted(text, index)
    assert [(each.kind, each.node, each.origin) for each in review_of(tomllib.loads(text)).open] == [("question", 2, 1)]


def test_a_chain_splits_into_its_links() -> None:
    chain = FALL.replace(r"v = \sqrt{2 g h}", r"v = \sqrt{2 g h} = g t").replace("[3]\nis_final", "[3]\nis_final")
    data = after(lambda sheet: edits.split_node(sheet, 4, []), chain)
    assert len(formulas(data)) == 5
    assert dependencies(data)[3:] == [[3], [4]]
    assert [node.get("is_final_answer") for node in data["grading_standard"][3:]] == [None, True]
    with pytest.raises(PrismError, match="one formula is no two nodes"):
        after(lambda sheet: edits.split_node(sheet, 1, []))


def test_what_rested_on_a_split_node_rests_on_its_last_piece() -> None:
    data = after(lambda sheet: edits.split_node(sheet, 3, ["v^2 = g^2 t^2", "v^2 = 2 g h"]))
    assert dependencies(data) == [[], [], [1, 2], [3], [4]]
    assert data["students"][0]["expected"]["matched"] == [1, 3]


def test_two_nodes_become_one_that_accepts_both() -> None:
    data = after(lambda sheet: edits.join_nodes(sheet, 3, 4))
    assert formulas(data)[-1] == "v^2 = 2 g h"
    assert data["grading_standard"][2]["accept"] == [r"v = \sqrt{2 g h}"]
    assert data["grading_standard"][2]["is_final_answer"]
    assert dependencies(data) == [[], [], [1, 2]]
    assert data["students"][0]["expected"] == {
        "matched": [1, 3], "credited": [1, 2, 3], "score": 1.0, "final_correct": True,
    }  # fmt: skip


def test_a_join_that_would_turn_an_edge_round_is_refused() -> None:
    with pytest.raises(PrismError, match="node 3 rests on node 1; cut that edge first"):
        after(lambda sheet: edits.join_nodes(sheet, 1, 4))


def test_a_new_node_moves_the_indices_behind_it() -> None:
    data = after(lambda sheet: edits.add_node(sheet, 1, "s = v t"))
    assert formulas(data)[1] == "s = v t"
    assert dependencies(data) == [[], [], [], [1, 3], [4]]
    assert data["students"][0]["expected"]["matched"] == [1, 4]


def test_a_certificate_needs_all_reviewed_and_ends_with_the_next_edit() -> None:
    with pytest.raises(PrismError, match="not reviewed"):
        edits.certify(FALL, "A. Author", "2026-11-30")
    text = FALL
    for index in (1, 3):
        text = accepted(text, index)
    text = edits.edited(text, "", lambda sheet: edits.cut_edge(sheet, 2, 1))
    text = edits.certify(text, " A. Author ", "2026-11-30")
    data = tomllib.loads(text)
    review = prism.load_problem(data).review
    assert (review.certified_by, review.certified_on, review.is_current) == ("A. Author", "2026-11-30", True)
    assert "id = 'fall'  # its name\n" in text
    again = tomllib.loads(edits.edited(text, "", lambda sheet: edits.accept_node(sheet, 1)))
    assert again["certified_by"] == "A. Author"  # nothing was changed
    assert "certified_by" not in tomllib.loads(edits.edited(text, "", lambda sheet: edits.cut_edge(sheet, 3, 1)))


def test_the_digest_is_of_what_a_grade_rests_on() -> None:
    data = tomllib.loads(FALL)
    assert certificate_digest({**data, "title": "t", "students": [], "certified_by": "x"}) == certificate_digest(data)
    assert certificate_digest({**data, "context": "t"}) != certificate_digest(data)


def test_alternatives_have_nodes_of_their_own() -> None:
    text = FALL + (
        "\n[[alternatives]]\nname = 'short'\n\n[[alternatives.grading_standard]]\nindex = 1\nformula = 'v^2 = 2 g h'\n"
        "dependency = []\n\n# last\n[[alternatives.grading_standard]]\nindex = 2\nformula = 'v = \\sqrt{2 g h}'\n"
        "dependency = [1]\nreviewed = false\n"
    )
    assert edits.ways_of(text) == ("", "short")
    assert edits.close_sheet(edits.open_sheet(text, "short")) == text
    changed = tomllib.loads(edits.edited(text, "short", lambda sheet: edits.drop_node(sheet, 1)))
    assert [node["formula"] for node in changed["alternatives"][0]["grading_standard"]] == [r"v = \sqrt{2 g h}"]
    assert changed["grading_standard"] == tomllib.loads(text)["grading_standard"]
    assert review_of(tomllib.loads(text)).open[-1].way == "short"


def test_the_linter_tells_what_is_open_and_a_certificate_that_does_not_hold() -> None:
    data = tomllib.loads(FALL)
    told = {each.code: each.text for each in prism.lint(data)}
    assert told["unreviewed"].startswith("1 node, 2 edges, 1 question not reviewed, at nodes 1, 2, 3;")
    certified = {**data, "certified_by": "A", "certified_on": "2026-11-30", "certified_digest": "x"}
    assert "not all of it is reviewed" in {each.code: each.text for each in prism.lint(certified)}["certificate"]
    nodes = [{key: value for key, value in node.items() if key not in ("reviewed", "edges")}
             for node in data["grading_standard"]]  # fmt: skip
    told = {each.code: each.text for each in prism.lint({**certified, "grading_standard": nodes})}
    assert "A has certified something else" in told["certificate"]
    digest = certificate_digest({**data, "grading_standard": nodes})
    good = {**certified, "grading_standard": nodes, "certified_digest": digest}
    assert "certificate" not in {each.code for each in prism.lint(good)}
