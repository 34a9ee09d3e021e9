"""The server: each route, every bound, and that nothing that is sent brings it down."""

from __future__ import annotations

import asyncio
import base64
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel
from typer.testing import CliRunner

import prism
from prism import server
from prism.cli import app as command
from prism.grading.row import score_row
from prism.grading.scoring import SCALARS
from prism.problem.collection import load_problems
from prism.rewards import Reward
from prism.rewards.nemo_gym import resources_server
from prism.runs.workers import Killed, WorkerPool
from prism.server import Limits, create_app
from tests.grading.test_alternatives import OTHER_WAY, SLIDE

FIGURE = load_problems("scoring_figure")["scoring_figure"]
STUDENTS = {student.name: student.solution for student in FIGURE.students}
RIGHT = r"Newton says $a = \frac{F}{m}$."
NEWTON = {
    "id": "newton",
    "context": "A mass $m$ feels the force $F$ and accelerates with $a$.",
    "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}],
}
TOKEN = "a-token-of-24-characters"
MANY = 50_000_000


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app([FIGURE, NEWTON], limits=Limits(items=8))) as one:
        yield one


def graded(solution: Any, sample_id: str = "1") -> dict[str, Any]:
    return score_row(FIGURE, solution, prism.grade(FIGURE, solution, sample_id=sample_id))


# A client of our own, for what a library would not send. ---------------------------------------------------------


def asked(
    app: Any,
    *,
    headers: dict[str, str] | None = None,
    path: str = "/grade",
    receive: Callable[[], Awaitable[Any]],
    sent: list[Any] | None = None,
) -> tuple[int, dict[str, str], dict[str, Any]]:
    """Status, headers and answer to a request whose body comes as `receive` says; `sent` gets all messages."""
    sent = [] if sent is None else sent

    async def send(message: Any) -> None:
        sent.append(message)

    told = {"content-type": "application/json", **(headers or {})}
    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in told.items()], "root_path": "",
        "http_version": "1.1", "scheme": "http", "client": None, "server": None,
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    answer = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answer, json.loads(b"".join(message.get("body", b"") for message in sent[1:]))


async def never() -> Any:
    await asyncio.Event().wait()


# Grades. ---------------------------------------------------------------------------------------------------------


def test_one_solution_gets_its_score_row(client: TestClient) -> None:
    for solution in STUDENTS.values():
        answer = client.post("/grade", json={"problem": "scoring_figure", "solution": solution})
        assert answer.status_code == 200
        assert answer.json() == json.loads(json.dumps(graded(solution)))


def test_several_get_theirs_in_order(client: TestClient) -> None:
    name = next(iter(STUDENTS))
    chat = [{"role": "user", "content": "Find $v$."}, {"role": "assistant", "content": STUDENTS[name]}]
    items = [
        {"problem": "newton", "solution": RIGHT, "sample_id": 17},
        {"problem": "scoring_figure", "solution": chat},
        {"problem": NEWTON, "solution": ["First $F = 2 m a$.", "Then nothing."]},
        {"problem": json.dumps(NEWTON), "solution": RIGHT},
        {"problem": "newton", "solution": ""},
    ]
    rows = client.post("/grade", json={"items": items}).json()["items"]
    assert [(row["problem_id"], row["sample_id"]) for row in rows] == [
        ("newton", "17"), ("scoring_figure", "2"), ("newton", "3"), ("newton", "4"), ("newton", "5"),
    ]  # fmt: skip
    assert [row["score"] for row in rows] == [1.0, graded(chat)["score"], 0.0, 1.0, 0.0]


def test_all_faults_of_an_inline_problem_are_told_at_once(client: TestClient) -> None:
    bad = {"id": "bad", "grading_standard": [{"index": 1, "formula": "F = ", "dependency": [7]}]}
    answer = client.post("/grade", json={"problem": bad, "solution": RIGHT})
    assert answer.status_code == 422
    with pytest.raises(prism.DataFileError) as known:
        prism.load_problem(bad)
    assert answer.json()["faults"] == [f"problem: {fault}" for fault in known.value.faults]
    assert len(known.value.faults) > 1


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        pytest.param({"problem": "nowhere", "solution": ""}, 404, ["no id 'nowhere'"], id="unknown id"),
        pytest.param({"problem": "dags/bucket.toml", "solution": ""}, 404, ["no id"], id="a path is an id"),
        pytest.param({"problem": "\x0b[", "solution": ""}, 404, ["no id"], id="a path that looks like JSON"),
        pytest.param({"problem": "\ud800", "solution": ""}, 404, ["no id"], id="half a pair as id"),
        pytest.param({"problem": None, "solution": ""}, 422, ["problem: found nothing"], id="no problem"),
        pytest.param({"problem": "{", "solution": ""}, 422, ["problem: "], id="a problem that is no JSON"),
        pytest.param({"problem": "newton"}, 422, ["solution: missing"], id="no solution"),
        pytest.param({"problem": "newton", "solution": 4}, 422, ["solution: found"], id="a solution of no shape"),
        pytest.param({"problem": "newton", "solution": "", "id": 1}, 422, ["id: no such key"], id="another key"),
        pytest.param({"problem": "newton", "solution": "", "sample_id": []}, 422, ["sample_id"], id="sample_id"),
        pytest.param({"items": []}, 422, ["at least one"], id="no items"),
        pytest.param({"items": 3}, 422, ["expected a list"], id="items of no shape"),
        pytest.param({"items": [], "problem": "newton"}, 422, ["at least one", "beside items"], id="both forms"),
        pytest.param({"items": [3, {}]}, 422, ["items[0]:", "items[1].problem", "items[1].solution"], id="all at once"),
        pytest.param({"items": [{"problem": "newton", "solution": ""}] * 9}, 413, ["9 solutions"], id="too many"),
        pytest.param({"items": [{}] * 1000}, 413, ["1000 solutions"], id="too many to list their faults"),
        pytest.param({"problem": {**NEWTON, "title": "x" * 300_000}, "solution": ""}, 422, ["longer"], id="long"),
        pytest.param([], 422, ["expected an object"], id="no object"),
    ],
)
def test_what_is_wrong_is_told(client: TestClient, body: Any, status: int, told: list[str]) -> None:
    answer = client.post("/grade", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code == status
    assert len(answer.json()["faults"]) == len(told)
    for fault, part in zip(answer.json()["faults"], told, strict=True):
        assert part in fault


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="cut off"),
        pytest.param(b"\xff\xfe\x00", id="no text"),
        pytest.param(b'{"problem": "\xff"}', id="no UTF-8"),
        pytest.param(b'{"problem": NaN}', id="no number"),
        pytest.param(b'{"problem": 1e999}', id="beyond all floats"),
        pytest.param(b'{"problem": ' + b"9" * 5000 + b"}", id="an integer of too many digits"),
        pytest.param(b'{"problem": ' + b"[" * 200_000, id="nested too deep"),
        pytest.param(b'{"problem": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", id="nested too deep, and whole"),
    ],
)
@pytest.mark.parametrize("path", ["/grade", "/get_reward", "/verify"])
def test_what_is_no_json_is_refused(client: TestClient, path: str, body: bytes) -> None:
    answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("path", ["/grade", "/get_reward", "/verify"])
def test_a_key_that_stands_twice_in_a_request_is_refused_by_its_name(client: TestClient, path: str) -> None:
    for body, key in (
        (b'{"problem": "newton", "solution": "$F = m a$", "solution": "none"}', "solution"),
        (b'{"query": ["x"], "labels": [{"id": "a", "id": "b"}]}', "id"),
    ):
        answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400
        assert answer.json()["faults"] == [f'the body: key "{key}" stands twice in one object']


@pytest.mark.parametrize(
    "solution",
    [
        "\ud800 $F = m a$ \udfff",
        "$" + "{" * 3000 + "}" * 3000 + "$",
        "$F = " + "(" * 500,
        "\x00\x1b$F = m a$",
        "$$" * 2000,
        [],
    ],
)
def test_no_solution_brings_it_down(client: TestClient, solution: Any) -> None:
    body = json.dumps({"problem": "newton", "solution": solution})
    answer = client.post("/grade", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"
    assert answer.json()["incidents"] == []


# Rewards. --------------------------------------------------------------------------------------------------------


def test_openrlhf_gets_lists(client: TestClient) -> None:
    prompt = "<|user|>Find $a$; $F = m a$ is asked for.<|assistant|>"
    queries = [f"<s>{prompt}{said}<|end|>" for said in (RIGHT, "$a = 2 F/m$", RIGHT, "")]
    labels = ["newton", "newton", "nowhere", json.dumps(NEWTON)]
    answer = client.post("/get_reward", json={"query": queries, "prompts": [prompt] * 4, "labels": labels})
    assert answer.status_code == 200
    assert answer.json()["rewards"] == answer.json()["scores"] == [1.0, 0.0, 0.0, 0.0]
    logs = answer.json()["extra_logs"]
    assert set(logs) == set(SCALARS)
    assert logs["bad_reference"] == [0.0, 0.0, 1.0, 0.0]
    assert [bool(fault) for fault in answer.json()["faults"]] == [False, False, True, False]
    assert "nowhere" in answer.json()["faults"][2]


@pytest.mark.parametrize(
    ("body", "status"),
    [({}, 422), ({"query": "text"}, 422), ({"query": ["a"], "labels": []}, 422), ({"query": ["a"] * 9}, 413)],
)
def test_a_request_for_rewards_of_another_shape_is_refused(client: TestClient, body: Any, status: int) -> None:
    answer = client.post("/get_reward", json=body)
    assert answer.status_code == status
    assert answer.json()["faults"]


def said(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    thought = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": RIGHT}]}
    message = {"type": "message", "role": "assistant", "id": "m", "content": [part], "status": "completed"}
    call = {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"}
    return {"id": "resp", "output": [thought, call, message]}


@pytest.mark.parametrize(
    ("row", "reward"),
    [
        ({"problem_id": "newton", "response": said(RIGHT)}, 1.0),
        ({"problem": NEWTON, "response": said("$a = 2 F/m$")}, 0.0),
        ({"verifier_metadata": {"problem_id": "newton"}, "response": said(RIGHT)}, 1.0),
        ({"problem_id": "newton", "response": {"output": []}}, 0.0),
    ],
)
def test_nemo_gym_gets_its_request_with_a_reward(client: TestClient, row: dict[str, Any], reward: float) -> None:
    request = {"responses_create_params": {"input": "Find $a$."}, **row}
    answer = client.post("/verify", json=request).json()
    assert answer["reward"] == answer["prism_closure"] == reward
    assert {key: answer[key] for key in request} == request
    assert answer.keys() - request.keys() == {"reward", *(f"prism_{name}" for name in SCALARS)}
    assert client.post("/seed_session", json=request).json() == {}


@pytest.mark.parametrize(
    ("row", "status"),
    [
        ({"response": said(RIGHT)}, 422),
        ({"problem_id": "newton"}, 422),
        ({"problem_id": "nowhere", "response": said(RIGHT)}, 404),
    ],
)
def test_a_row_of_nemo_gym_that_cannot_be_verified(client: TestClient, row: dict[str, Any], status: int) -> None:
    assert client.post("/verify", json=row).status_code == status


def test_a_scoring_is_what_rewards_pay_for_and_training_is_prepared() -> None:
    with TestClient(create_app(NEWTON, scoring={"training": 0.5, "final": 0.25})) as client:
        answer = client.post("/get_reward", json={"query": [RIGHT], "labels": ["newton"]})
        assert answer.json()["rewards"] == [0.75]
        row = client.post("/grade", json={"problem": "newton", "solution": RIGHT}).json()
        assert row["policies"]["training"] == 1.0


def test_a_solution_on_which_workers_died_says_so(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    graded = WorkerPool.submit

    def killed(self: WorkerPool, problem: Any, rollout: Any, options: Any) -> Future[Any]:
        if options["killed"] == "overran":  # the row without a score
            return graded(self, problem, rollout, options)
        future: Future[Any] = Future()
        future.set_result(Killed("overran"))
        return future

    monkeypatch.setattr(WorkerPool, "submit", killed)
    row = client.post("/grade", json={"problem": "newton", "solution": RIGHT}).json()
    assert (row["status"], row["score"]) == ("killed", None)
    answer = client.post("/verify", json={"problem_id": "newton", "response": said(RIGHT)}).json()
    assert (answer["reward"], answer["mask_sample"], answer["prism_killed"]) == (0.0, True, 1.0)


def test_a_problem_whose_loading_kills_workers_is_refused(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(Killed("overran"))
        return future

    monkeypatch.setattr(WorkerPool, "submit", killed)
    answer = client.post("/grade", json={"items": [{"problem": NEWTON, "solution": RIGHT}]})
    assert answer.status_code == 422
    assert answer.json()["faults"] == ["items[0].problem: cannot be loaded: the process that did it overran"]
    answer = client.post("/get_reward", json={"query": [RIGHT], "labels": [NEWTON]}).json()
    assert (answer["rewards"], answer["extra_logs"]["bad_reference"]) == ([0.0], [1.0])


def test_a_problem_that_cannot_be_prepared_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prism.grading.prepared.find_dear_formulas", lambda _: ["node 1 is dear"])
    monkeypatch.setattr("prism.grading.prepared_cache.read_made", lambda *_, **__: None)
    with TestClient(create_app(NEWTON)) as client:
        answer = client.post("/grade", json={"items": [{"problem": "newton", "solution": RIGHT}] * 2})
    assert (answer.status_code, answer.json()["faults"]) == (422, ["newton: node 1 is dear"])


def test_a_faulty_problem_of_the_set_is_told_when_a_request_names_it() -> None:
    nodes = [{"index": 1, "formula": "F = (", "dependency": [2], "is_final_answer": True}]
    with TestClient(create_app([NEWTON, {**NEWTON, "id": "broken", "grading_standard": nodes}])) as client:
        answer = client.post("/grade", json={"items": [{"problem": "broken", "solution": RIGHT}] * 2})
        told = answer.json()["faults"]
        assert answer.status_code == 422
        assert [fault.partition(": ")[0] for fault in told] == ["broken", "broken"]
        assert "node 1, formula: `F = (` does not parse" in told[0]
        assert told[1].startswith("broken: node 1, dependency: ")
        rewards = client.post("/get_reward", json={"query": [RIGHT] * 2, "labels": ["broken", "newton"]}).json()
        assert rewards["rewards"][1] == 1
        assert "broken: node 1, formula: " in rewards["faults"][0]


def test_a_failure_of_the_server_shows_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Future[Any]:
        raise RuntimeError("a secret")

    monkeypatch.setattr(WorkerPool, "submit", fails)
    with TestClient(create_app(NEWTON), raise_server_exceptions=False) as client:
        answer = client.post("/grade", json={"problem": "newton", "solution": RIGHT})
    assert answer.status_code == 500
    assert answer.json() == {"detail": "the server failed: RuntimeError", "faults": ["the server failed: RuntimeError"]}


# Bounds. ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "most_read"),
    [
        pytest.param({"content-length": str(MANY)}, 0, id="its header says so"),
        pytest.param({}, 1_000_000, id="in chunks"),
        pytest.param({"content-length": "10"}, 1_000_000, id="its header is not true"),
    ],
)
def test_a_large_body_is_refused_before_it_is_in(headers: dict[str, str], most_read: int) -> None:
    """And what comes after that is thrown away, so that a client that only sends hears the answer."""
    chunk, taken, taken_before = b"x" * 65536, 0, 0
    sent: list[Any] = []

    async def receive() -> Any:
        nonlocal taken, taken_before
        taken += len(chunk)
        taken_before = taken if not sent else taken_before
        return {"type": "http.request", "body": chunk, "more_body": taken < MANY}

    app = create_app(NEWTON, limits=Limits(body=1_000_000))
    status, _, told = asked(app, headers=headers, receive=receive, sent=sent)
    assert status == 413
    assert "1000000 bytes" in told["detail"]
    assert taken_before <= most_read + len(chunk) * bool(most_read)
    assert taken >= MANY


def test_a_body_without_end_is_closed_on() -> None:
    taken = 0

    async def receive() -> Any:
        nonlocal taken
        taken += 1 << 20
        return {"type": "http.request", "body": b"x" * (1 << 20), "more_body": True}

    assert asked(create_app(NEWTON), receive=receive)[0] == 413
    assert taken < 100 << 20


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    status, _, _ = asked(create_app(NEWTON, limits=Limits(read_seconds=0.01)), receive=never)
    assert status == 408


def test_who_hangs_up_leaves_his_place() -> None:
    in_flight = server.InFlight(Limits())

    async def gone() -> Any:
        return {"type": "http.disconnect"}

    door = server.RequestGuard(None, token=None, in_flight=in_flight)  # type: ignore[arg-type]
    with pytest.raises(IndexError):  # nothing is sent
        asked(door, receive=gone)
    assert (in_flight.requests.total, in_flight.bytes.total) == (0, 0)


@pytest.mark.parametrize("limits", [Limits(queue=1), Limits(body=10, bodies=10)], ids=["places", "bytes"])
def test_when_all_places_are_taken_the_next_is_sent_away(limits: Limits) -> None:
    statuses: list[tuple[int, str | None]] = []

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["body"] == b"x" * 8
        await asyncio.Event().wait()

    async def body() -> Any:
        return {"type": "http.request", "body": b"x" * 8, "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append((message["status"], dict(message["headers"]).get(b"retry-after", b"").decode()))

    in_flight = server.InFlight(limits)
    door = server.RequestGuard(inside, token=None, in_flight=in_flight)
    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", b"application/json")]}

    async def two() -> None:
        first = asyncio.create_task(door(scope, body, send))
        await asyncio.sleep(0)
        await door(scope, body, send)
        assert statuses == [(429, "1")]
        assert (in_flight.requests.total, in_flight.bytes.total) == (1, 8)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert (in_flight.requests.total, in_flight.bytes.total) == (0, 0)

    asyncio.run(two())


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_only_json_is_taken(client: TestClient, kind: str) -> None:
    body = json.dumps({"problem": "newton", "solution": RIGHT})
    assert client.post("/grade", content=body, headers={"Content-Type": kind}).status_code == 415


def basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        (None, 401), ("", 401), ("Bearer", 401), (f"Bearer {TOKEN}x", 401), (f"Bearer {TOKEN[:-1]}", 401),
        (TOKEN, 401), (f"Token {TOKEN}", 401), ("Bearer \xe9", 401), ("Basic ???", 401),
        (basic(TOKEN, ""), 401), (basic("", TOKEN), 200), (basic("prism", TOKEN), 200),
        (f"Bearer {TOKEN}", 200), (f"bearer  {TOKEN}", 200),
    ],
)  # fmt: skip
def test_a_token_is_asked_for(shown: str | None, status: int) -> None:
    headers = {} if shown is None else {"Authorization": shown}
    body = {"problem": "newton", "solution": "no formula"}
    with TestClient(create_app(NEWTON, token=TOKEN)) as client:
        answer = client.post(
            "/grade", json=body, headers={name.encode(): value.encode() for name, value in headers.items()}
        )
        assert answer.status_code == status
        assert client.get("/healthz").status_code == 200


# Health, and the command. ----------------------------------------------------------------------------------------


def test_health(client: TestClient) -> None:
    found = client.get("/healthz").json()
    assert found["status"] == "ok"
    assert found["warm"] is True
    assert found["version"] == prism.__version__
    assert found["problems"] == 2
    assert found["fingerprint"] == graded("")["grader"]["fingerprint"]


def test_without_its_lifespan_it_says_that_it_is_not_ready() -> None:
    client = TestClient(create_app(NEWTON))
    assert client.get("/healthz").status_code == 503
    assert client.post("/grade", json={"problem": "newton", "solution": RIGHT}).status_code == 503


def test_the_documentation_names_all_routes(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert set(paths) == {"/grade", "/get_reward", "/verify", "/seed_session", "/healthz", "/metrics"}
    assert {"413", "429"} <= set(paths["/grade"]["post"]["responses"])
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert set(schemas["GradeItem"]["required"]) == {"problem", "solution"}
    assert {"GradeBatch", "RewardRequest", "VerifyRequest"} <= set(schemas)
    assert client.get("/grade").status_code == 405
    assert client.post("/nowhere", json={}).status_code == 404


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["scoring_figure", "--host", "0.0.0.0"], 2, "--token-file"),
        (["scoring_figure", "--host", "::"], 2, "--token-file"),
        (["scoring_figure", "--token-env", "PRISM_NO_SUCH_VARIABLE"], 2, "at least 16"),
        (["scoring_figure", "--max-body", "many"], 2, "8MiB"),
        (["scoring_figure", "--scoring", "final=much"], 2, "--scoring"),
        (["scoring_figure", "--scoring", "luck"], 3, "luck"),
        (["nowhere"], 3, "nowhere"),
    ],
)
def test_the_command_refuses(arguments: list[str], code: int, told: str) -> None:
    done = CliRunner().invoke(command, ["serve", *arguments])
    assert done.exit_code == code
    assert told in done.output


def test_the_command_serves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran: list[Any] = []
    monkeypatch.setattr(server, "run", lambda app, **where: ran.append((app, where)))
    (tmp_path / "token").write_text(f"{TOKEN}\n", encoding="utf-8")
    arguments = ["--host", "0.0.0.0", "--port", "9", "--workers", "0", "--token-file", str(tmp_path / "token")]
    weights = ["--scoring", "final=0.3,closure=0.7", "--max-body", "100MiB"]
    done = CliRunner().invoke(command, ["serve", "scoring_figure", *arguments, *weights])
    assert done.exit_code == 0, done.output
    ((app, where),) = ran
    assert where == {"host": "0.0.0.0", "port": 9}
    with TestClient(app) as client:
        assert client.get("/healthz").json()["scoring"] == {"closure": 0.7, "final": 0.3}
        assert client.post("/grade", json={}).status_code == 401


@pytest.mark.parametrize("limits", [{"body": 0}, {"queue": -1}, {"body": 100, "bodies": 10}])
def test_limits_that_make_no_sense(limits: dict[str, Any]) -> None:
    with pytest.raises(prism.PrismError, match="limits, "):
        Limits(**limits)


@pytest.mark.slow
def test_a_real_one_answers_while_it_grades_and_ends_when_told(tmp_path: Path) -> None:
    """With a worker process, over a socket: a row as of `prism grade`, a large body answered, nothing left behind."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "newton.json").write_text(json.dumps(NEWTON), encoding="utf-8")
    command_line = [sys.executable, "-m", "prism", "serve", str(tmp_path), "--port", str(port), "--workers", "1"]
    with subprocess.Popen(command_line, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            ready = next((line for line in process.stderr if "running on" in line), None)
            assert ready is not None, "it has ended"
            url = f"http://127.0.0.1:{port}"
            with httpx.Client(base_url=url, timeout=60) as client:
                row = client.post("/grade", json={"problem": "newton", "solution": RIGHT}).json()
                problem = prism.load_problem(tmp_path / "newton.json")
                own = score_row(problem, RIGHT, prism.grade(problem, RIGHT, sample_id="1"))
                assert row == json.loads(json.dumps(own))
                large = client.post("/grade", content=b" " * MANY, headers={"Content-Type": "application/json"})
                assert large.status_code == 413
                assert client.get("/healthz").json()["status"] == "ok"
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
            assert process.returncode in (0, -signal.SIGTERM)
        finally:
            process.kill()


# NeMo Gym's own server, with classes of its shape: the framework itself takes Ray. --------------------------------


def test_a_resources_server_of_nemo_gym(monkeypatch: pytest.MonkeyPatch) -> None:
    class Request(BaseModel):
        responses_create_params: dict[str, Any]
        response: dict[str, Any]

    class Answer(Request):
        reward: float

    class Simple:
        async def verify(self, body: Any) -> Any:
            raise NotImplementedError

    base = ModuleType("nemo_gym.base_resources_server")
    vars(base).update(BaseVerifyRequest=Request, BaseVerifyResponse=Answer, SimpleResourcesServer=Simple)
    monkeypatch.setitem(sys.modules, "nemo_gym", ModuleType("nemo_gym"))
    monkeypatch.setitem(sys.modules, "nemo_gym.base_resources_server", base)
    app = FastAPI()
    app.post("/verify")(resources_server(Reward(problems=[NEWTON]))().verify)
    row = {"responses_create_params": {"input": "Find $a$."}, "problem_id": "newton", "response": said(RIGHT)}
    with TestClient(app) as client:
        answer = client.post("/verify", json=row)
        refused = [
            client.post("/verify", json=bad) for bad in ({**row, "problem_id": "newtom"}, {**row, "response": {}})
        ]
    assert [each.status_code for each in refused] == [422, 422]
    assert "newtom" in refused[0].json()["detail"]
    assert "no response with a list of output" in refused[1].json()["detail"]
    assert answer.status_code == 200
    assert answer.json()["reward"] == answer.json()["prism_closure"] == 1.0
    assert {key: answer.json()[key] for key in row} == row


def test_a_problem_with_alternatives_is_graded_by_the_best(client: TestClient) -> None:
    """Inline, as a trainer sends it; the row names the reference that counts."""
    answer = client.post("/grade", json={"problem": SLIDE, "solution": OTHER_WAY})
    assert answer.status_code == 200, answer.text
    assert {key: answer.json()[key] for key in ("alternative", "score")} == {"alternative": "kinematics", "score": 0.75}
    bad = {**SLIDE, "alternatives": [{"name": "a"}]}
    assert (
        "alternative a, grading_standard: is missing"
        in client.post("/grade", json={"problem": bad, "solution": OTHER_WAY}).text
    )
