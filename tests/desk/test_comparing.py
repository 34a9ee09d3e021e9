"""Comparing over HTTP: items by disagreement, decisions that `prism agree` reads, reports that can do nothing."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient

import prism
from prism.desk import create_desk
from prism.grading.row import score_row
from prism.reports.judgements import read_judgements
from prism.resources import resource
from tests.desk.conftest import TOKEN

TEXTS = {"right": r"$v_f = \sqrt{2 g h}$ and $t_f = \sqrt{2h/g}$.", "half": r"$t_f = \sqrt{2h/g}$.", "<b>none": "No."}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(resource("dags/free_fall.toml"), tmp_path)
    problem = prism.load_problem(tmp_path / "free_fall.toml")
    rows = [score_row(problem, text, prism.grade(problem, text, sample_id=name)) for name, text in TEXTS.items()]
    other = [{**row, "score": 0.0} if row["sample_id"] == "right" else row for row in rows]
    judged = [{"problem_id": "free_fall", "sample_id": name, "score": 0.5, "reason": "<i>so so</i>"} for name in TEXTS]
    texts = [{"problem_id": "free_fall", "sample_id": name, "response": text} for name, text in TEXTS.items()]
    for name, lines in (("new", rows), ("old", other), ("judge", judged), ("rollouts", texts)):
        text = "".join(json.dumps(line, default=str) + "\n" for line in lines)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with TestClient(create_desk(folder, token=TOKEN), base_url="http://127.0.0.1:8779") as one:
        one.get(f"/?token={TOKEN}")
        yield one


CHOICE = {"results": "new.jsonl", "other": ["old.jsonl", "judge.jsonl"], "texts": "rollouts.jsonl"}


def samples_of(text: str) -> list[str]:
    return re.findall(r'<a id="i\d+"[^>]*>([^<]*)</a>', text)


def test_the_files_of_the_folder_can_be_chosen(client: TestClient) -> None:
    text = client.get("/compare").text
    assert text.count('type="radio" name="results"') == 4
    assert text.count('<span class="tag">run</span>') == 2


def test_what_raters_differ_on_most_stands_first(client: TestClient) -> None:
    text = client.get("/compare", params=CHOICE).text
    assert samples_of(text)[0] == "right"
    assert "&lt;b&gt;none" in text
    assert "Solutions <b>3</b>" in text
    assert "<b>none" not in text
    part = client.get("/compare", params=CHOICE, headers={"hx-target": "table"}).text
    assert part.startswith('<div id="table">')


def test_an_item_shows_text_verdicts_and_reasons(client: TestClient) -> None:
    text = client.get("/compare/item", params={**CHOICE, "problem": "free_fall", "sample": "right"}).text
    assert '<mark class="m"' in text
    assert "matched: " in text  # the reason of a run
    assert "&lt;i&gt;so so&lt;/i&gt;" in text
    assert client.get("/compare/item", params={**CHOICE, "problem": "x", "sample": "y"}).status_code == 422


def test_a_decision_is_a_rater_of_agree_and_leads_to_the_next(client: TestClient, folder: Path) -> None:
    body = {
        "digest": "none", "problem": "free_fall", "sample": "right", "results": "new.jsonl",
        "others": "old.jsonl\njudge.jsonl", "texts": "", "score": "1", "by": "M. Roe", "why": "all is there",
    }  # fmt: skip
    answer = client.post("/compare/item", json=body)
    assert answer.status_code == 204
    assert parse_qs(urlsplit(answer.headers["hx-redirect"]).query)["sample"] != ["right"]
    (found,) = read_judgements(folder / "adjudicated.jsonl")
    assert (found.sample_id, found.score, found.rater, found.reason) == ("right", 1.0, "M. Roe", "all is there")
    assert "<b>1</b>" in client.get("/compare", params=CHOICE).text
    assert client.post("/compare/item", json=body).status_code == 409
    assert client.post("/compare/item", json={**body, "score": "much"}).status_code == 422
    assert client.post("/compare/item", json={**body, "by": " "}).status_code == 422


def test_files_that_do_not_belong_together_are_told(client: TestClient, folder: Path) -> None:
    (folder / "torn.jsonl").write_text("{", encoding="utf-8")
    assert client.get("/compare").status_code == 200
    assert client.get("/compare", params={"results": "new.jsonl", "other": "rollouts.jsonl"}).status_code == 422
    assert client.get("/compare", params={"results": "../x", "other": "new.jsonl"}).status_code == 422


def test_a_report_stands_in_a_sandbox(client: TestClient) -> None:
    assert client.get("/see").text.count("/see/report?run=") == 2
    found = client.get("/see/report", params={"run": "new.jsonl"})
    assert found.status_code == 200
    assert found.headers["content-security-policy"].startswith(
        "sandbox allow-scripts; default-src 'none'; script-src 'sha256-"
    )
    assert "allow-same-origin" not in found.headers["content-security-policy"]
    assert "3 rollouts" in found.text or "free_fall" in found.text
