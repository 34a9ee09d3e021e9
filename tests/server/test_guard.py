"""Who may ask: names of this machine on loopback without a token, anybody with one; and what is open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from prism.server import InFlight, Limits, RequestGuard, create_app, is_loopback

NEWTON = {
    "id": "newton", "context": "A mass $m$ feels the force $F$ and accelerates with $a$.",
    "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}],
}  # fmt: skip
TOKEN = "a-token-of-24-characters"
LOCAL = "http://127.0.0.1:8777"


def client(base: str = LOCAL, **options: Any) -> TestClient:
    """A client of a server that it reaches over loopback, or under another address."""
    return TestClient(create_app(NEWTON, **options), base_url=base)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8777", 200), ("localhost:8777", 200), ("LOCALHOST", 200), ("localhost.", 200), ("[::1]:8777", 200),
        ("127.8.9.1", 200), ("evil.example:8777", 421), ("evil.example", 421), ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example", 421), ("10.0.0.1", 421), ("0.0.0.0", 421), ("", 421), ("[::2]", 421),
        ("evil.example:80:127.0.0.1", 421), ("\xff", 421), ("[::1].evil.example", 421), ("[::1]evil.example:80", 421),
        ("[::1", 421), ("::1", 421), ("[localhost]", 421), ("localhost:80.evil.example", 421), ("[::1]", 200),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/openapi.json", "/metrics", "/docs", "/nowhere"])
def test_over_loopback_only_names_of_this_machine_are_answered(host: str, status: int, path: str) -> None:
    answer = client().get(path, headers={b"Host": host.encode("latin-1")})
    assert answer.status_code == (404 if path == "/nowhere" and status == 200 else status)


@pytest.mark.parametrize("path", ["/grade", "/get_reward", "/verify"])
def test_a_page_of_another_name_gets_nothing_graded(path: str) -> None:
    answer = client().post(path, json={"problem": "newton", "solution": ""}, headers={"Host": "evil.example"})
    assert answer.status_code == 421


def test_a_server_can_be_given_further_names() -> None:
    with client(hosts=["Proxy.Example"]) as one:
        assert one.get("/healthz", headers={"Host": "proxy.example:443"}).status_code == 200
        assert one.get("/healthz", headers={"Host": "other.example"}).status_code == 421


@pytest.mark.parametrize("make", [
    lambda: client("http://grader.lan:8777"),  # another address than loopback's
    lambda: client(token=TOKEN),  # a page of another site does not know it
])  # fmt: skip
def test_elsewhere_and_with_a_token_any_name_will_do(make: Callable[[], TestClient]) -> None:
    headers = {"Host": "grader.example", "Authorization": f"Bearer {TOKEN}"}
    assert make().get("/metrics", headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/docs", "/openapi.json", "/metrics", "/nowhere", "/grade", "/redoc"])
def test_with_a_token_nothing_but_health_is_open(path: str) -> None:
    with client(token=TOKEN) as one:
        assert one.get(path).status_code == 401
        assert one.get(path).headers["www-authenticate"] == "Bearer"
        assert one.get(path, headers={"Authorization": f"Bearer {TOKEN}"}).status_code in (200, 404, 405)
        assert one.get("/healthz").status_code == 200


def test_addresses_of_this_machine() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1", "localhost")))
    assert not any(map(is_loopback, ("", "0.0.0.0", "::", "10.0.0.1", "localhost.example", "testserver")))


def test_a_few_large_bodies_that_do_not_end_keep_no_small_one_out() -> None:
    """Of 1000 bytes for all bodies each of 10 connections has 100, whatever the others hold."""
    in_flight = InFlight(Limits(body=1000, bodies=1000, connections=10))
    statuses: list[int] = []

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "http.request"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(message: Any) -> None:
        statuses.extend([message["status"]] if message["type"] == "http.response.start" else [])

    def body_of(n: int, *, is_whole: bool) -> Callable[[], Any]:
        messages = iter([{"type": "http.request", "body": b"x" * n, "more_body": not is_whole}])

        async def receive() -> Any:
            for message in messages:
                return message
            return await asyncio.get_running_loop().create_future()

        return receive

    guard = RequestGuard(inside, token=None, in_flight=in_flight)
    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", b"application/json")]}

    async def scene() -> None:
        large = asyncio.create_task(guard(scope, body_of(1000, is_whole=False), send))
        await asyncio.sleep(0)
        assert in_flight.bytes.total == 1000
        await guard(scope, body_of(100, is_whole=True), send)
        await guard(scope, body_of(101, is_whole=True), send)
        assert statuses == [200, 429]
        large.cancel()
        await asyncio.gather(large, return_exceptions=True)
        assert in_flight.bytes.total == 0

    asyncio.run(scene())


def test_places_are_shared_by_clients_told_apart_by_address_or_by_token() -> None:
    """Of two places one client has both, and another one still has one, by its address or by its token."""
    other = "another-token-of-30-characters"

    def statuses(token: Any, *asked: tuple[str, str]) -> list[int]:
        found: list[int] = []
        in_flight = InFlight(Limits(queue=2))

        async def inside(_: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await asyncio.Event().wait()

        async def receive() -> Any:
            return {"type": "http.request", "body": b"{}", "more_body": False}

        async def send(message: Any) -> None:
            found.extend([message["status"]] if message["type"] == "http.response.start" else [])

        async def scene() -> None:
            guard = RequestGuard(inside, token=token, in_flight=in_flight)
            running = []
            for address, shown in asked:
                headers = [(b"content-type", b"application/json"), (b"authorization", f"Bearer {shown}".encode())]
                scope = {"type": "http", "method": "POST", "headers": headers, "client": (address, 1)}
                running.append(asyncio.create_task(guard(scope, receive, send)))
                await asyncio.sleep(0.01)
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            assert (in_flight.requests.total, in_flight.bytes.total) == (0, 0)

        asyncio.run(scene())
        return found

    here, there = "10.0.0.1", "10.0.0.2"
    both_places = (here, ""), (here, ""), (here, "")
    assert statuses(None, *both_places, (there, ""), (there, "")) == [200, 200, 429, 200, 429]
    assert statuses(TOKEN, (here, TOKEN), (here, TOKEN), (here, TOKEN), (there, TOKEN)) == [200, 200, 429, 200]
    both = [TOKEN, other]
    assert statuses(both, (here, TOKEN), (there, TOKEN), (there, TOKEN), (here, other)) == [200, 200, 429, 200]
    assert statuses(both, (here, TOKEN), (here, "no-token-at-all-of-any")) == [200, 401]
