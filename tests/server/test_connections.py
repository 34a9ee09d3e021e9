"""Connections of a real uvicorn over sockets: late headers, answers that nobody takes, too many, and odd framing."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from prism.server.connections import Connections, Descriptors, protocol_for, share_descriptors
from prism.server.guard import InFlight, Limits, RequestGuard
from prism.server.metrics import Metrics

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
LARGE = 32 << 20  # bytes: more than the buffers of any socket


class Served:
    """A bare application behind the guard, on a port of its own."""

    def __init__(self, limits: Limits, most: int) -> None:
        self.metrics = Metrics()
        self.connections = Connections(limits, self.metrics, most)
        self.in_flight = InFlight(limits)
        self.go_on = asyncio.Event()
        self.begun = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.port = 0

    async def app(self, scope: Any, _: Any, send: Any) -> None:
        body = b"fine"
        if scope["path"] == "/large":
            body = b"x" * LARGE
        if scope["path"] == "/wait":
            self.begun.set()
            try:
                await self.go_on.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def counted(self, line: str) -> bool:
        return line in self.metrics.text([]).decode().split("\n")

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def asked(self, request: bytes) -> bytes:
        """All that comes back before the connection is closed."""
        reader, writer = await self.open()
        writer.write(request)
        answer = await reader.read()
        writer.close()
        return answer


@asynccontextmanager
async def served(limits: Limits, most: int = 100) -> AsyncIterator[Served]:
    """Serve in this event loop for as long as the block lasts."""
    one = Served(limits, most)
    guarded = RequestGuard(one.app, token=None, in_flight=one.in_flight, metrics=one.metrics)
    config = uvicorn.Config(
        guarded, http=protocol_for(one.connections), lifespan="off", access_log=False, log_level="critical",
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(config)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        one.port = listening.getsockname()[1]
        serving = asyncio.create_task(server._serve([listening]))
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            yield one
        finally:
            one.go_on.set()
            server.should_exit = True
            await serving


def played(scene: Callable[[], Awaitable[None]]) -> None:
    """Run a scene; one that hangs fails."""
    asyncio.run(asyncio.wait_for(scene(), 60))


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: local", id="half of the headers"),
        pytest.param(GET + b"GET / HT", id="half of the headers of a second request"),
    ],
)
def test_headers_that_do_not_come_are_not_waited_for(sent: bytes) -> None:
    async def scene() -> None:
        async with served(Limits(header_seconds=0.05)) as one:
            answer = await one.asked(sent)
            assert answer.endswith(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 200 OK") == sent.startswith(GET)
            assert one.counted('prism_connections_closed_total{why="headers"} 1')
            assert not one.connections.idle

    played(scene)


def test_a_request_that_is_worked_on_is_not_taken_for_a_late_one() -> None:
    async def scene() -> None:
        async with served(Limits(header_seconds=0.05)) as one:
            reader, writer = await one.open()
            writer.write(GET.replace(b"/ ", b"/wait ", 1))
            await one.begun.wait()
            assert (await one.asked(b"")).startswith(b"HTTP/1.1 408")  # another, which was opened later
            one.go_on.set()
            assert (await reader.readline()) == b"HTTP/1.1 200 OK\r\n"
            writer.close()

    played(scene)


@pytest.mark.slow
def test_an_answer_that_is_not_taken_is_dropped() -> None:
    async def scene() -> None:
        async with served(Limits(answer_seconds=0.05)) as one:
            with socket.socket() as lazy:
                lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                lazy.connect(("127.0.0.1", one.port))
                lazy.sendall(GET.replace(b"/ ", b"/large ", 1))
                while not one.counted('prism_connections_closed_total{why="answer"} 1'):
                    await asyncio.sleep(0.01)
        async with served(Limits()) as one:  # whoever reads gets it all
            reader, writer = await one.open()
            writer.write(GET.replace(b"/ ", b"/large ", 1))
            await reader.readuntil(b"\r\n\r\n")
            assert len(await reader.readexactly(LARGE)) == LARGE
            writer.close()

    played(scene)


def test_the_connection_that_is_idle_longest_makes_way() -> None:
    async def scene() -> None:
        async with served(Limits(), most=2) as one:
            (first, writing), (second, also_writing) = await one.open(), await one.open()
            also_writing.write(GET)
            assert (await second.readline()) == b"HTTP/1.1 200 OK\r\n"  # both are there
            third, last_writing = await one.open()
            assert await first.read() == b""
            last_writing.write(GET)
            assert (await third.readline()) == b"HTTP/1.1 200 OK\r\n"
            assert one.counted('prism_connections_closed_total{why="idle"} 1')
            for writer in (writing, also_writing, last_writing):
                writer.close()

    played(scene)


def test_where_all_connections_are_busy_the_next_is_refused() -> None:
    async def scene() -> None:
        async with served(Limits(), most=1) as one:
            reader, writer = await one.open()
            writer.write(GET.replace(b"/ ", b"/wait ", 1))
            await one.begun.wait()
            assert (await one.asked(b"")).startswith(b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n")
            assert one.counted("prism_connections_refused_total 1")
            one.go_on.set()
            assert (await reader.readline()) == b"HTTP/1.1 200 OK\r\n"
            writer.close()
            await reader.read()
            assert b"fine" in await one.asked(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))

    played(scene)


def test_who_hangs_up_is_not_worked_for() -> None:
    async def scene() -> None:
        async with served(Limits()) as one:
            _, writer = await one.open()
            writer.write(POST.replace(b"/ ", b"/wait ", 1) + b"Content-Length: 2\r\n\r\n{}")
            await one.begun.wait()
            assert one.in_flight.requests.total == 1
            writer.close()
            await one.cancelled.wait()
            while one.in_flight.requests.total:
                await asyncio.sleep(0)
            assert one.in_flight.bytes.total == 0
            assert one.counted("prism_clients_gone_total 1")

    played(scene)


@pytest.mark.parametrize(
    ("request_bytes", "begins", "n_answer"),
    [
        pytest.param(
            POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + GET, b"400", 1,
            id="two lengths: refused, and what follows is not read as a request",
        ),
        pytest.param(POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", b"400", 1, id="two different lengths"),
        pytest.param(POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", b"400", 1, id="another coding"),
        pytest.param(
            POST.replace(b"\r\n", b"\n") + b"Content-Length: 2\nConnection: close\n\n{}", b"200", 1,
            id="bare line feeds: h11 takes them as RFC 9112 allows",
        ),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", b"400", 1, id="no Host"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400", 1, id="two of them"),
        pytest.param(b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", b"400", 1, id="a blank before the colon"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00", b"400", 1, id="TLS"),
        pytest.param(b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n", b"400", 1, id="a long address"),
    ],
)  # fmt: skip
def test_odd_framing(request_bytes: bytes, begins: bytes, n_answer: int) -> None:
    """What h11 makes of it, as a proxy before the server might see other requests."""

    async def scene() -> None:
        async with served(Limits()) as one:
            answer = await one.asked(request_bytes)
            assert answer.startswith(b"HTTP/1.1 " + begins)
            assert answer.count(b"HTTP/1.1 ") == n_answer

    played(scene)


@pytest.mark.parametrize(
    ("most", "workers", "expected"),
    [
        (None, 2, Descriptors(1024, 2048)), (1 << 20, 2, Descriptors(1024, 2048)),
        (1024, 2, Descriptors(720, 256)), (256, 3, Descriptors(136, 64)), (16, 3, Descriptors(1, 4)),
    ],
)  # fmt: skip
def test_descriptors_are_left_for_workers(most: int | None, workers: int, expected: Descriptors) -> None:
    assert share_descriptors(most, 1024, workers) == expected
