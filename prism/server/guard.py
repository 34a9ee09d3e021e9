"""Middleware before anything is parsed: a token, the size and pace of bodies, and how many requests are in flight."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prism.errors import PrismError
from prism.grading.row import json_line

_RETRY_AFTER = "1"  # seconds, for who comes when all places are taken
_THROWN_AWAY = 64 << 20  # bytes of a refused body that are read and dropped; then the connection is closed on it
_SHOWN_FAULTS = 50  # of a request; the rest is counted


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a server: a request that exceeds one is refused with the HTTP status in brackets.

    Attributes:
        body: bytes of a request (413).
        bodies: bytes of all requests that are being read, wait or are graded (429).
        problem: characters of an inline problem as JSON (422). Loading takes about a second for every 5000, and nothing
            kills it; the longest that ships with PRISM has 10,000. What is longer goes into the problem set.
        items: solutions of a request (413).
        queue: requests that are being read, wait or are graded (429).
        read_seconds: that a body may take to come in (408) [s].
        kill_after: seconds that a worker process may take for one solution [s].
    """

    body: int = 8 << 20
    bodies: int = 64 << 20
    problem: int = 64 << 10
    items: int = 256
    queue: int = 256
    read_seconds: float = 30.0
    kill_after: float = 60.0

    def __post_init__(self) -> None:
        """Raise PrismError unless all limits are positive and `bodies` is at least `body`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        faults = [f"{name}: {value}; expected more than 0" for name, value in values.items() if value <= 0]
        if self.bodies < self.body:
            faults.append(f"bodies: {self.bodies} is less than body, {self.body}")
        if faults:
            raise PrismError("\n".join(f"limits, {fault}" for fault in faults))


DEFAULT_LIMITS = Limits()


class RefusedRequest(HTTPException):
    """An HTTP error raised to refuse a request: its status, and a list of faults as the answer.

    Attributes:
        status_code: of HTTP.
        faults: everything that is wrong with the request, one line a fault.
    """

    def __init__(self, status: int, faults: Sequence[str]) -> None:
        """Store the HTTP status and the faults, at least one."""
        super().__init__(status, faults[0])
        self.faults = tuple(faults)


def faults_as_json(faults: Sequence[str]) -> bytes:
    """Return the JSON body of an error answer: at most `_SHOWN_FAULTS` faults, then how many more there are."""
    more = [f"and {len(faults) - _SHOWN_FAULTS} more"] if len(faults) > _SHOWN_FAULTS else []
    shown = [*faults[:_SHOWN_FAULTS], *more]
    return json_line({"detail": shown[0] if len(shown) == 1 else f"{len(faults)} faults", "faults": shown})


class InFlight:
    """Counts of the requests that are being received, queued or graded, and of their bytes; for one event loop only."""

    def __init__(self, limits: Limits) -> None:
        """Start both counters at 0."""
        self.limits = limits
        self.n_request = 0
        self.n_byte = 0


class RequestGuard:
    """ASGI middleware that reads a whole POST body and passes it on, or answers 400, 401, 408, 413, 415 or 429."""

    def __init__(self, app: ASGIApp, *, token: str | None, in_flight: InFlight) -> None:
        """Wrap an ASGI application; `token` None lets every client in."""
        self._app = app
        self._token = token
        self._in_flight = in_flight

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request: a POST is checked, read and passed on, or refused; anything else is passed on."""
        if scope["type"] != "http" or scope["method"] != "POST":  # only those have work done
            await self._app(scope, receive, send)
            return
        try:
            self._refuse_early({name.lower(): value for name, value in scope["headers"]})
            await self._read_and_forward(scope, receive, send)
        except RefusedRequest as refused:
            await _send_refusal(refused, receive, send, self._in_flight.limits)
        except ClientDisconnected:
            return

    async def _read_and_forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body and call the wrapped application, counting the request and its bytes as in flight meanwhile."""
        in_flight = self._in_flight
        n_byte = 0
        in_flight.n_request += 1
        try:
            body = await _read_body(receive, in_flight)
            n_byte = len(body)
            in_flight.n_byte += n_byte
            await self._app(scope, _replay_body(body, receive), send)
        finally:
            in_flight.n_request -= 1
            in_flight.n_byte -= n_byte

    def _refuse_early(self, headers: Mapping[bytes, bytes]) -> None:
        """Raise RefusedRequest for a bad token (401), type (415), declared length (413) or too many requests (429)."""
        limits = self._in_flight.limits
        if self._token is not None and not _carries_token(headers.get(b"authorization", b""), self._token):
            raise RefusedRequest(401, ["no valid token: send the header Authorization: Bearer TOKEN"])
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":  # a page of another site can make a browser post other types
            raise RefusedRequest(415, ["send the header Content-Type: application/json"])
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > limits.body:
            raise RefusedRequest(413, [_too_large_message(limits.body)])
        if self._in_flight.n_request >= limits.queue:
            raise RefusedRequest(429, [f"{limits.queue} requests are being worked on; come back later"])


class ClientDisconnected(Exception):
    """Raised when the client closed the connection before its body was read."""


async def _read_body(receive: Receive, in_flight: InFlight) -> bytes:
    """Read a request body; `in_flight.n_byte` counts its bytes until the function returns or raises.

    Bytes are counted as they arrive: the Content-Length header is not trusted.

    Errors:
        RefusedRequest: the body, or all bodies in flight, too large (413, 429); too slow (408); empty (400).
        ClientDisconnected: the client closed the connection.
    """
    limits = in_flight.limits
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
                if in_flight.n_byte + len(chunk) > limits.bodies:
                    full = f"the requests that are being worked on hold {limits.bodies} bytes; come back later"
                    raise RefusedRequest(429, [full])
                body += chunk
                in_flight.n_byte += len(chunk)
                is_over = not message.get("more_body", False)
    except TimeoutError as error:
        raise RefusedRequest(408, [f"the body has not come in within {limits.read_seconds:g} seconds"]) from error
    finally:
        in_flight.n_byte -= len(body)
    if not body:
        raise RefusedRequest(400, ["the body is empty; expected a JSON object"])
    return bytes(body)


def _too_large_message(most: int) -> str:
    """Return the message of a 413 answer; `most` is the limit in bytes."""
    return f"the body is larger than {most} bytes; send fewer solutions at a time"


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return an ASGI `receive` that gives the body already read, then the client's further messages."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def next_message() -> Message:
        """Return the body as one message the first time, then what `receive` gives."""
        for message in messages:
            return message
        return await receive()

    return next_message


async def _send_refusal(refused: RefusedRequest, receive: Receive, send: Send, limits: Limits) -> None:
    """Send the answer of a refused request at once, then read and drop the rest of its body, up to a time and size.

    Were the connection closed while the client sends, most clients would report a broken pipe instead of the answer.
    """
    body = faults_as_json(refused.faults)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refused.status_code == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refused.status_code == 429:
        headers.append((b"retry-after", _RETRY_AFTER.encode()))
    await send({"type": "http.response.start", "status": refused.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    n_byte = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(limits.read_seconds):
            while n_byte < _THROWN_AWAY:
                message = await receive()
                n_byte += len(message.get("body", b""))
                if not message.get("more_body", False):
                    break
    await send({"type": "http.response.body", "body": b""})


def _carries_token(header: bytes, token: str) -> bool:
    """Return True if an Authorization header (`Bearer` or `Basic`) holds the token, compared in constant time.

    The token may be the password of `Basic`: a client that cannot set headers is given http://prism:TOKEN@host.
    """
    scheme, _, shown = header.partition(b" ")
    shown = shown.strip()
    if scheme.lower() == b"basic":
        try:
            shown = base64.b64decode(shown, validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return False
    elif scheme.lower() != b"bearer":
        return False
    return hmac.compare_digest(shown, token.encode())
