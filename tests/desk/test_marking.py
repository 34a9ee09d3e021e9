"""Marking over HTTP: verdicts beside the reference, a marker's words as `prism feedback` reads them, cases of them."""

from __future__ import annotations

import re
import shutil
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import prism
from prism.desk import create_desk
from prism.desk.marking import open_room
from prism.problem.schema import load_problem
from prism.reports.feedback.corrections import read_corrections
from prism.resources import resource
from tests.desk.conftest import TOKEN

RIGHT = r"$v_f = \sqrt{2 g h}$ and $t_f = \sqrt{2h/g}$."
WRONG = r"$v_f = \sqrt{g h}$ and $t_f = \sqrt{2h/g}$. <script>alert(1)</script>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(resource("dags/free_fall.toml"), tmp_path)
    solutions = tmp_path / "solutions"
    solutions.mkdir()
    (solutions / "anna.md").write_text(RIGHT, encoding="utf-8")
    (solutions / "<b>ben.md").write_text(WRONG, encoding="utf-8")
    (solutions / "cem.pdf").write_bytes(b"%PDF-1.7\n")
    return tmp_path


def page_of(client: TestClient, student: str) -> str:
    return client.get("/mark/one", params={"problem": "free_fall", "student": student}).text


def send(client: TestClient, student: str, op: str, **values: Any) -> Any:
    digest = re.search(r'"digest": "(\w+)"', page_of(client, student))
    assert digest is not None
    body = {"digest": digest[1], "problem": "free_fall", "student": student, **values, "op": op}
    return client.post("/mark/one", json={key: str(value) for key, value in body.items()})


def listed(client: TestClient) -> str:
    for _ in range(100):
        text = client.get("/mark/rows").text
        if "…" not in text:
            return text
        time.sleep(0.1)
    raise AssertionError(text)


def test_the_list_is_graded_meanwhile_and_tells_who_needs_a_person(client: TestClient) -> None:
    assert client.get("/mark").status_code == 200
    text = listed(client)
    assert text.index("&lt;b&gt;ben") < text.index("anna") < text.index("cem")
    assert "is a PDF file" in text
    assert "<b>ben" not in text


def test_a_solution_stands_beside_its_reference(client: TestClient) -> None:
    text = page_of(client, "<b>ben")
    assert "<script>alert" not in text
    assert text.count('<article id="n') == len(load_problem("free_fall").nodes)
    assert 'data-digit="1"' in text
    assert "differs" in text
    assert "satisfies the reference" in text  # a witness


def test_a_word_is_a_correction_of_feedback(client: TestClient, folder: Path) -> None:
    node = next(each.index for each in load_problem("free_fall").nodes if each.is_final)
    answer = send(client, "<b>ben", "word", node=node, credited="true", by="M. Roe", why="the root is in the sketch")
    assert answer.status_code == 200
    assert "the root is in the sketch" in answer.text
    problems = {"free_fall": load_problem(folder / "free_fall.toml")}
    (word,) = read_corrections(folder / "corrections.toml", problems, {("<b>ben", "free_fall")})
    assert (word.student, word.node, word.credited, word.by) == ("<b>ben", node, True, "M. Roe")
    assert send(client, "<b>ben", "word", node=node, credited="false", by="M. Roe", why="no").status_code == 200
    assert len(tomllib.loads((folder / "corrections.toml").read_text(encoding="utf-8"))["correction"]) == 1
    assert '<option value="no">' in page_of(client, "anna")  # offered again
    assert 'value="M. Roe"' in page_of(client, "anna")
    assert send(client, "<b>ben", "withdraw", node=node).status_code == 200
    assert tomllib.loads((folder / "corrections.toml").read_text(encoding="utf-8")) == {}


def test_a_word_needs_a_name_and_a_reason(client: TestClient) -> None:
    assert send(client, "anna", "word", node=1, credited="false", by="", why="no").status_code == 422
    assert send(client, "anna", "word", node=1, credited="false", by="M", why=" ").status_code == 422


def test_a_word_on_what_was_not_read_gives_its_points(client: TestClient) -> None:
    assert "is a PDF file" in page_of(client, "cem")
    answer = send(client, "cem", "word", node=1, credited="true", by="M. Roe", why="page 1")
    assert answer.status_code == 200
    assert '<p class="points" aria-live="polite">1 /' in answer.text
    assert "light green" in listed(client)


def test_two_markers_do_not_overwrite_each_other(client: TestClient, folder: Path) -> None:
    digest = open_room(folder).digest
    body = {"op": "word", "digest": digest, "problem": "free_fall", "student": "anna", "credited": "false"}
    assert client.post("/mark/one", json={**body, "node": 1, "by": "A", "why": "w"}).status_code == 200
    assert client.post("/mark/one", json={**body, "node": 2, "by": "B", "why": "w"}).status_code == 409


def test_a_solution_becomes_a_sample_with_the_markers_label(client: TestClient, folder: Path) -> None:
    final = max(each.index for each in load_problem("free_fall").nodes if each.is_final)
    send(client, "<b>ben", "word", node=final, credited="false", by="M. Roe", why="guessed")
    assert send(client, "<b>ben", "sample").status_code == 200
    problem = load_problem(folder / "free_fall.toml")
    kept = problem.students[-1]
    assert (kept.name, kept.solution, kept.why) == ("<b>ben", WRONG, f"node {final}: guessed")
    assert kept.expected is not None
    assert final not in kept.expected.matched
    assert send(client, "<b>ben", "sample").status_code == 422


def test_a_changed_verdict_becomes_a_case(client: TestClient, folder: Path) -> None:
    grade = prism.grade(load_problem(folder / "free_fall.toml"), WRONG)
    node = next(item.nearest for item in grade.formulas if item.nearest)
    assert send(client, "<b>ben", "case", node=node).status_code == 422
    send(client, "<b>ben", "word", node=node, credited="true", by="M. Roe", why="in other units")
    assert send(client, "<b>ben", "case", node=node).status_code == 200
    (row,) = tomllib.loads((folder / "cases.toml").read_text(encoding="utf-8"))["case"]
    assert (row["b"], row["expect"], row["source"]) == (r"v_f = \sqrt{g h}", "equivalent", "M. Roe: in other units")


def test_a_changed_reference_grades_again_and_tells_what_moved(client: TestClient, folder: Path) -> None:
    page_of(client, "anna")
    path = folder / "free_fall.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(r"\sqrt{2 g h}", r"\sqrt{3 g h}"), encoding="utf-8")
    assert "moved since the reference was changed" in page_of(client, "anna")


def test_faults_of_files_are_told(client: TestClient, folder: Path) -> None:
    (folder / "corrections.toml").write_text("[[correction]]\nstudent = 'nobody'\n", encoding="utf-8")
    answer = client.get("/mark")
    assert answer.status_code == 422
    assert "missing" in answer.text
    assert client.get("/mark/one", params={"problem": "x", "student": "y"}).status_code == 422


def test_a_word_that_agrees_with_the_rule_takes_nothing_back(client: TestClient) -> None:
    final = max(each.index for each in load_problem("free_fall").nodes if each.is_final)
    answer = send(client, "<b>ben", "word", node=final, credited="false", by="M", why="right, as the rule says")
    assert "Confirmed:" in answer.text
    assert "Taken back:" not in answer.text


def test_a_problem_that_is_not_loaded_is_told_and_its_solutions_wait(client: TestClient, folder: Path) -> None:
    path = folder / "free_fall.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("is_final_answer = true", ""), encoding="utf-8")
    shutil.copy(resource("dags/bucket.toml"), folder)
    answer = client.get("/mark")
    assert answer.status_code == 200
    assert "final answer" in answer.text
    assert "There are no solutions here" not in answer.text


def test_the_words_of_a_marker_are_no_problem_file(client: TestClient, folder: Path) -> None:
    send(client, "anna", "word", node=1, credited="false", by="M", why="no")
    assert (folder / "corrections.toml").is_file()
    assert set(prism.load_problems(folder)) == {"free_fall"}


def test_a_folder_without_solutions_says_where_they_go(tmp_path: Path) -> None:
    with TestClient(create_desk(tmp_path, token=TOKEN), base_url="http://127.0.0.1:8779") as client:
        client.get(f"/?token={TOKEN}")
        assert "STUDENT.md" in client.get("/mark").text
