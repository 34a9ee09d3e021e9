"""Middleware before anything is parsed: who asks, the size and pace of bodies, and how many requests are in flight.

A page of another site must not reach a server on loopback that asks for no token. It cannot send JSON without being
allowed to, and if its own name is made to point here (DNS rebinding), the header Host still says that name: where a
connection came in on loopback, only names of loopback and those that the server was given are answered.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import re
from collections.abc import Awaitable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from ipaddress import ip_address

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prism.errors import raise_faults
from prism.grading.row import json_line
from prism.server.fair_queue import Held
from prism.server.metrics import Metrics

CLIENT = "prism.client"  # of a scope: who asks
_THROWN_AWAY = 64 << 20  # bytes of a refused body that are read and dropped; then the connection is closed on it
_SHOWN_FAULTS = 50  # of a request; the rest is counted
_OPEN_PATHS = ("/healthz",)  # asked without a token by whatever keeps the server running


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a server: a request that exceeds one is refused with the HTTP status in brackets.

    Attributes:
        body: bytes of a request (413).
        bodies: bytes of all requests that are being read, wait or are graded (429).
        problem: characters of an inline problem as JSON (422); the longest that ships with PRISM has 10,000. What is
            longer goes into the problem set.
        items: solutions of a request (413).
        queue: requests that wait or are graded (429).
        work: operations, for each worker, that the solutions which wait or are graded may cost together (429). One of
            1000 characters may cost a hundred million, a second; a client's only request is taken whatever it costs.
            Of `bodies`, `queue` and `work` each client has an equal part in any case, whatever others hold.
        connections: that are open; fewer where the system allows fewer descriptors (503).
        header_seconds: until the headers of a request are there (408) [s].
        read_seconds: that a body may take to come in (408) [s].
        answer_seconds: in which a client has to take what it is sent (the connection is closed) [s].
        kill_after: seconds that a worker process may take for one solution [s].
        stall_seconds: that a solution may wait while none is finished, until `/healthz` answers 503 [s].
    """

    body: int = 8 << 20
    bodies: int = 64 << 20
    problem: int = 64 << 10
    items: int = 256
    queue: int = 256
    work: int = 25_000_000_000
    connections: int = 1024
    header_seconds: float = 10.0
    read_seconds: float = 30.0
    answer_seconds: float = 60.0
    kill_after: float = 60.0
    stall_seconds: float = 20.0

    def __post_init__(self) -> None:
        """Raise PrismError unless all limits are positive and `bodies` is at least `body`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        faults = [f"{name}: {value}; expected more than 0" for name, value in values.items() if value <= 0]
        if self.bodies < self.body:
            faults.append(f"bodies: {self.bodies} is less than body, {self.body}")
        raise_faults(f"limits, {fault}" for fault in faults)


DEFAULT_LIMITS = Limits()


class RefusedRequest(HTTPException):
    """An HTTP error raised to refuse a request: its status, and a list of faults as the answer.

    Attributes:
        status_code: of HTTP.
        faults: everything that is wrong with the request, one line a fault.
        headers: of the answer: for 401 how to show a token, for 429 when to come back.
    """

    def __init__(self, status: int, faults: Sequence[str], *, retry_after: int = 1) -> None:
        """Store the HTTP status and the faults, at least one; `retry_after`: seconds, for status 429."""
        headers = {401: {"www-authenticate": "Bearer"}, 429: {"retry-after": str(retry_after)}}.get(status)
        super().__init__(status, faults[0], headers)
        self.faults = tuple(faults)


def faults_as_json(faults: Sequence[str]) -> bytes:
    """Return the JSON body of an error answer: at most `_SHOWN_FAULTS` faults, then how many more there are."""
    more = [f"and {len(faults) - _SHOWN_FAULTS} more"] if len(faults) > _SHOWN_FAULTS else []
    shown = [*faults[:_SHOWN_FAULTS], *more]
    return json_line({"detail": shown[0] if len(shown) == 1 else f"{len(faults)} faults", "faults": shown})


class InFlight:
    """The requests of each client that wait or are graded, and the bytes of its bodies; for one event loop only."""

    def __init__(self, limits: Limits) -> None:
        """Begin without any."""
        self.limits = limits
        self.requests: Held[str] = Held(limits.queue)
        self.bytes: Held[str] = Held(limits.bodies)


class RequestGuard:
    """ASGI middleware that answers 401 or 421 to who may not ask, and reads a POST's whole body before it passes it on.

    Of the latter it answers 400, 408, 413, 415 or 429 to what is too much or not fit to be read.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str | Sequence[str] | None,
        in_flight: InFlight,
        metrics: Metrics | None = None,
        hosts: Collection[str] = (),
        paths: Collection[str] = (),
    ) -> None:
        """Wrap an ASGI application.

        Args:
            token: what has to be shown, or one for each client; None lets every client in.
            hosts: names that the header Host may say beside those of loopback.
            paths: by which metrics tell requests apart; all others are one.
        """
        self._app = app
        self._tokens = (token,) if isinstance(token, str) else tuple(token or ())
        self._in_flight = in_flight
        self._metrics = Metrics() if metrics is None else metrics
        self._hosts = frozenset(host.lower() for host in hosts)
        self._paths = frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request: check it, read a POST's body, and pass it on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer, body = _Answer(send), _Body(receive)
        headers = {name.lower(): value for name, value in scope["headers"]}
        try:
            scope[CLIENT] = client = self._client_of(scope, headers)
            if scope["method"] == "POST":  # only those have work done
                self._refuse_early(headers, client)
                await self._read_and_forward(scope, client, body.receive, answer)
            else:
                await self._app(scope, body.receive, answer.send)
        except RefusedRequest as refused:
            await _send_refusal(refused, body, answer.send, self._in_flight.limits)
        except ClientDisconnected:
            self._metrics.add("clients_gone")
        finally:
            if answer.status:
                path = scope.get("path", "")
                route = path if path in self._paths else "other"
                self._metrics.add("requests", route=route, code=str(answer.status))

    async def _read_and_forward(self, scope: Scope, client: str, receive: Receive, answer: _Answer) -> None:
        """Read the body and call the wrapped application, counting the request and its bytes as in flight meanwhile.

        Errors:
            ClientDisconnected: the client has closed the connection; the application is cancelled.
            RefusedRequest: of the body (see `_read_body`); or all places are taken by now.
        """
        in_flight = self._in_flight
        body = await _read_body(receive, in_flight, client)
        self._refuse_when_full(client)
        in_flight.requests.add(client, 1)
        in_flight.bytes.add(client, len(body))
        try:
            await _call_while_connected(self._app(scope, _replay_body(body), answer.send), receive, answer)
        finally:
            in_flight.requests.add(client, -1)
            in_flight.bytes.add(client, -len(body))

    def _client_of(self, scope: Scope, headers: Mapping[bytes, bytes]) -> str:
        """Return the client that asks: the number of its token where there are several, else its address.

        Errors:
            RefusedRequest: a bad token (401), or a page of another site that reaches loopback (421).
        """
        address = (scope.get("client") or ("",))[0]
        if self._tokens:
            shown = _shown_token(headers.get(b"authorization", b""))
            carried = [number for number, one in enumerate(self._tokens) if hmac.compare_digest(shown, one.encode())]
            if not carried and scope.get("path") not in _OPEN_PATHS:
                raise RefusedRequest(401, ["no valid token: send the header Authorization: Bearer TOKEN"])
            return f"token {carried[0]}" if carried and len(self._tokens) > 1 else address
        host = _host_name(headers.get(b"host", b"localhost").decode("latin-1"))
        if is_loopback((scope.get("server") or ("",))[0]) and not is_loopback(host) and host not in self._hosts:
            raise RefusedRequest(421, ["the header Host names another machine: ask localhost, or start with a token"])
        return address

    def _refuse_early(self, headers: Mapping[bytes, bytes], client: str) -> None:
        """Raise RefusedRequest for a bad type (415), declared length (413, 400), or too many requests (429)."""
        limits = self._in_flight.limits
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":  # a page of another site can make a browser post other types
            raise RefusedRequest(415, ["send the header Content-Type: application/json"])
        if b"content-length" in headers and b"transfer-encoding" in headers:  # two readers may see two ends
            raise RefusedRequest(400, ["the headers have both Content-Length and Transfer-Encoding; send one"])
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > limits.body:
            raise RefusedRequest(413, [_too_large_message(limits.body)])
        self._refuse_when_full(client)

    def _refuse_when_full(self, client: str) -> None:
        """Raise RefusedRequest (429) if all places are taken, and of them those of a client."""
        requests = self._in_flight.requests
        if not requests.has_room(client, 1):
            raise RefusedRequest(429, [f"{requests.total} requests are being worked on; come back later"])


class _Body:
    """An ASGI `receive` that notes whether there is more of the body; `is_over`: no, or the client has gone."""

    def __init__(self, receive: Receive) -> None:
        """Wrap an ASGI `receive`."""
        self._receive = receive
        self.is_over = False

    async def receive(self) -> Message:
        """Return the next message."""
        message = await self._receive()
        self.is_over = not message.get("more_body", False)
        return message


class _Answer:
    """An ASGI `send` that remembers what was answered.

    Attributes:
        status: of HTTP; 0 before there is an answer.
        is_complete: the last message was sent.
    """

    def __init__(self, send: Send) -> None:
        """Wrap an ASGI `send`."""
        self._send = send
        self.status = 0
        self.is_complete = False

    async def send(self, message: Message) -> None:
        """Send a message on, after a note of it."""
        self.status = message.get("status", self.status)
        self.is_complete = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)


async def _call_while_connected(call: Awaitable[None], receive: Receive, answer: _Answer) -> None:
    """Await a call of the application; cancel it if the client hangs up before it is answered.

    Errors:
        ClientDisconnected: the client has hung up.
    """
    calling, watching = asyncio.ensure_future(call), asyncio.ensure_future(receive())
    try:
        await asyncio.wait((calling, watching), return_when=asyncio.FIRST_COMPLETED)
        if not calling.done() and not answer.is_complete and watching.result()["type"] == "http.disconnect":
            raise ClientDisconnected
        await calling
    finally:
        calling.cancel()
        watching.cancel()
        await asyncio.gather(calling, watching, return_exceptions=True)


class ClientDisconnected(Exception):
    """Raised when the client closed the connection before its body was read."""


async def _read_body(receive: Receive, in_flight: InFlight, client: str) -> bytes:
    """Read a request body; `in_flight.bytes` counts them until the function returns or raises.

    Bytes are counted as they arrive: the Content-Length header is not trusted. A body within its connection's equal
    share is read even where others hold all that is allowed, so that a few large ones do not keep small ones out.

    Errors:
        RefusedRequest: the body, or all bodies in flight, too large (413, 429); too slow (408); empty (400).
        ClientDisconnected: the client closed the connection.
    """
    limits = in_flight.limits
    share = limits.bodies // limits.connections
    body = bytearray()
    is_over = False
    try:
        async with asyncio.timeout(limits.read_seconds):
            while not is_over:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnected
                chunk = message.get("body", b"")
                if len(body) + len(chunk) > limits.body:
                    raise RefusedRequest(413, [_too_large_message(limits.body)])
                if len(body) + len(chunk) > share and not in_flight.bytes.has_room(client, len(chunk)):
                    full = f"the requests that are being worked on hold {limits.bodies} bytes; come back later"
                    raise RefusedRequest(429, [full])
                body += chunk
                in_flight.bytes.add(client, len(chunk))
                is_over = not message.get("more_body", False)
    except TimeoutError as error:
        raise RefusedRequest(408, [f"the body has not come in within {limits.read_seconds:g} seconds"]) from error
    finally:
        in_flight.bytes.add(client, -len(body))
    if not body:
        raise RefusedRequest(400, ["the body is empty; expected a JSON object"])
    return bytes(body)


def _too_large_message(most: int) -> str:
    """Return the message of a 413 answer; `most` is the limit in bytes."""
    return f"the body is larger than {most} bytes; send fewer solutions at a time"


def _replay_body(body: bytes) -> Receive:
    """Return an ASGI `receive` that gives the body already read, and then nothing: the guard hears of the client."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def next_message() -> Message:
        """Return the body as one message the first time; then wait for ever."""
        for message in messages:
            return message
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    return next_message


async def _send_refusal(refused: RefusedRequest, rest: _Body, send: Send, limits: Limits) -> None:
    """Send the answer of a refused request at once, then read and drop the rest of its body, up to a time and size.

    Were the connection closed while the client sends, most clients would report a broken pipe instead of the answer.
    """
    body = faults_as_json(refused.faults)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(name.encode(), value.encode()) for name, value in (refused.headers or {}).items()]
    if refused.status_code == 400:  # what follows may be part of what was not understood
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refused.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    n_byte = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(limits.read_seconds):
            while not rest.is_over and n_byte < _THROWN_AWAY:
                n_byte += len((await rest.receive()).get("body", b""))
    await send({"type": "http.response.body", "body": b""})


def _shown_token(header: bytes) -> bytes:
    """Return what an Authorization header (`Bearer` or `Basic`) shows as a token; empty for another one.

    The token may be the password of `Basic`: a client that cannot set headers is given http://prism:TOKEN@host.
    """
    scheme, _, shown = header.partition(b" ")
    shown = shown.strip()
    if scheme.lower() == b"basic":
        try:
            shown = base64.b64decode(shown, validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return b""
    return shown if scheme.lower() in (b"basic", b"bearer") else b""


def is_loopback(host: str) -> bool:
    """Return True if a host (`127.0.0.1`, `::1`, `localhost`) can be reached from this machine only."""
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost"
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _host_name(host: str) -> str:
    """Return the name or address in a header Host, without port, brackets and final dot; empty for what is no host.

    >>> [_host_name(host) for host in ("LocalHost:8777", "[::1]:8777", "evil.example.:80", "[::1].evil.example")]
    ['localhost', '::1', 'evil.example', '']
    """
    found = _HOST.fullmatch(host)
    return "" if found is None else (found["address"] or found["name"]).rstrip(".").lower()


_HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:]*))(?::[0-9]*)?")  # RFC 3986, 3.2.2 and 3.2.3
