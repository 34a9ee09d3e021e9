"""What the routes say beside grades: budgets, how it stands, what was done, and the page of the documentation."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from fastapi.testclient import TestClient

import prism
from prism import budget
from prism.grading.row import score_row
from prism.server import Limits, create_app, run

PROBLEM = prism.load_problem({
    "id": "newton", "context": "A mass $m$ feels the force $F$ and accelerates with $a$.",
    "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}],
})  # fmt: skip
RIGHT = r"Newton says $a = \frac{F}{m}$."


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(PROBLEM)) as one:
        yield one


def row(limit: int | None, sample_id: str = "1") -> Any:
    graded = prism.grade(PROBLEM, RIGHT, sample_id=sample_id, budget=limit)
    return json.loads(json.dumps(score_row(PROBLEM, RIGHT, graded)))


def test_a_request_may_allow_less(client: TestClient) -> None:
    body: dict[str, Any] = {"problem": "newton", "solution": RIGHT}
    assert client.post("/grade", json={**body, "budget": 1000}).json() == row(1000)
    assert row(1000)["status"] == "too_large"
    items = [body, {**body, "budget": budget.SOLUTION}]
    answer = client.post("/grade", json={"items": items, "budget": 1000})
    assert answer.json()["items"] == [row(1000), row(None, "2")]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "1000", True, [1], budget.SOLUTION + 1, 10**30])
def test_a_budget_of_no_use_is_told(client: TestClient, wrong: Any) -> None:
    body = {"problem": "newton", "solution": RIGHT, "budget": wrong}
    answer = client.post("/grade", json=body)
    assert answer.status_code == 422
    assert answer.json()["faults"] == [f"budget: expected a whole number of operations from 1 to {budget.SOLUTION}"]
    answer = client.post("/grade", json={"items": [body]})
    assert answer.json()["faults"] == [
        f"items[0].budget: expected a whole number of operations from 1 to {budget.SOLUTION}"
    ]


def test_metrics_are_in_the_format_of_prometheus() -> None:
    with TestClient(create_app(PROBLEM)) as client:
        client.post("/grade", json={"problem": "newton", "solution": RIGHT})
        client.post("/grade", json={"problem": "nowhere", "solution": RIGHT})
        client.get("/a/path/of/the/client's/own")
        answer = client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    values: dict[str, float] = {}
    kinds: dict[str, str] = {}
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            kinds[name] = kind
        elif not line.startswith("# HELP "):
            name, _, value = line.rpartition(" ")
            assert name.partition("{")[0] in kinds
            values[name] = float(value)
    assert answer.text.endswith("\n")
    assert values['prism_requests_total{route="/grade",code="200"}'] == 1
    assert values['prism_requests_total{route="/grade",code="404"}'] == 1
    assert values['prism_requests_total{route="other",code="404"}'] == 1
    assert values['prism_solutions_total{outcome="graded"}'] == 1
    assert values["prism_operations_total"] > 0
    assert values["prism_requests_in_flight"] == values['prism_waiting_solutions{queue="first"}'] == 0
    assert values["prism_oldest_seconds"] == values["prism_workers_alive"] == 0
    assert kinds["prism_requests_total"] == "counter"
    assert kinds["prism_oldest_seconds"] == "gauge"


def test_refusals_for_too_much_work_are_told_and_counted() -> None:
    app = create_app(PROBLEM, limits=Limits(work=1))
    with TestClient(app) as client:
        assert client.post("/grade", json={"problem": "newton", "solution": RIGHT}).status_code == 200
        scheduler = app.state.service.scheduler
        scheduler.admitted.add(scheduler.clients.request("testclient").client, 1)  # as if something was being graded
        answer = client.post("/grade", json={"problem": "newton", "solution": RIGHT})
        assert answer.status_code == 429
        assert answer.headers["retry-after"] == "2"
        assert 'route="/grade",code="429"} 1' in client.get("/metrics").text


def test_health_says_whether_work_gets_done(monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(PROBLEM)
    with TestClient(app) as client:
        assert client.get("/healthz").json()["solutions"] == {"waiting": 0, "running": 0, "oldest_seconds": 0.0}
        monkeypatch.setattr(app.state.service.scheduler, "is_stalled", lambda _: True)
        answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (503, "stalled")


def test_the_page_has_all_routes_and_nothing_from_elsewhere(client: TestClient) -> None:
    answer = client.get("/docs")
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'unsafe-inline'")
    for shown in ("POST /grade", "GET /metrics", 'id="GradeItem"', "budget", "Retry-After"):
        assert shown in answer.text
    for absent in ("<script", "http:", "https:", "//", "src="):
        assert absent not in answer.text.replace("<!doctype html>", "")
    assert client.get("/redoc").status_code == 404
    assert client.get("/").json() == {"name": "PRISM", "version": prism.__version__, "documentation": "/docs"}


def test_the_nearest_id_is_told_once_in_a_request(client: TestClient) -> None:
    items = [{"problem": name, "solution": RIGHT} for name in ("newtn", "nevton", "pendulum")]
    answer = client.post("/grade", json={"items": items})
    assert (answer.status_code, answer.json()["faults"]) == (404, [
        "items[0].problem: no id 'newtn' among 1; did you mean \"newton\"?",
        "items[1].problem: no id 'nevton' among 1",
        "items[2].problem: no id 'pendulum' among 1",
    ])  # fmt: skip


def test_a_port_in_use_is_told_before_workers_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn, "run", lambda *_, **__: pytest.fail("the server was started"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(prism.PrismError, match=f"port {port} of 127.0.0.1: .*in use; name another port or host"):
            run(create_app(PROBLEM), port=port)
