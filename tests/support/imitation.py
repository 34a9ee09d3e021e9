"""An endpoint on this machine that imitates a judge model: good replies, and everything that can go wrong with one.

What it says follows from the prompt alone (`prism.judging.imitation`), so that two runs get the same replies whatever
the order. How it behaves is said for each request by a function of the caller.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from prism.judging.imitation import imitated_reply

HUGE = 17_000_000  # characters, more than is read


def prompt_of(body: dict[str, Any]) -> str:
    """The first message of a request, as text."""
    content = body["messages"][0]["content"]
    return content if isinstance(content, str) else content[-1]["text"]


def said_of(body: dict[str, Any]) -> str:
    """The text of a good reply to a request."""
    return imitated_reply(prompt_of(body))


@dataclass(frozen=True)
class Request:
    """A request as it came: its body, the digest of it, how often it has come before, and the headers."""

    body: dict[str, Any]
    sha256: str
    n_before: int
    headers: dict[str, str]

    @property
    def number(self) -> int:
        return int(self.sha256[:12], 16)

    @property
    def is_again(self) -> bool:
        """Whether a reply was complained of in it."""
        return len(self.body["messages"]) > 1


Behave = Callable[[Request], str]
Say = Callable[[dict[str, Any]], str]


@dataclass
class Imitation:
    """The endpoint, and what it has seen.

    Attributes:
        asked: digests of all requests, in the order in which they came.
        answered: those that got a reply of status 200 with a choice.
        most_at_once: requests that were in work together.
        on_request: called before each request is answered.
    """

    behave: Behave = lambda _request: "good"
    say: Say = said_of
    on_request: Callable[[Request], object] = lambda _request: None
    url: str = ""
    asked: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)
    most_at_once: int = 0
    slowness: float = 0.05
    retry_after: str = "0.02"
    extra_headers: dict[str, str] = field(default_factory=dict)
    _active: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _seen: Counter[str] = field(default_factory=Counter)

    def begin(self, body: dict[str, Any], headers: dict[str, str]) -> Request:
        sha256 = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        with self._lock:
            request = Request(body, sha256, self._seen[sha256], headers)
            self._seen[sha256] += 1
            self.asked.append(sha256)
            self.bodies.setdefault(sha256, body)
            self._active += 1
            self.most_at_once = max(self.most_at_once, self._active)
        return request

    def end(self) -> None:
        with self._lock:
            self._active -= 1


def completion(text: str | None, body: dict[str, Any], *, finish: str = "stop", refusal: str | None = None) -> Any:
    """The body of an answer of a chat endpoint."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return {
        "id": "c", "object": "chat.completion", "created": 0, "model": f"{body['model']}-imitated",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": len(prompt_of(body)) // 4, "completion_tokens": len(text or "") // 4,
                  "total_tokens": 0},
    }  # fmt: skip


ERRORS: dict[str, tuple[int, dict[str, Any]]] = {
    "busy": (429, {"message": "slow down", "code": "rate_limit_exceeded"}),
    "overloaded": (503, {"message": "too many of you"}),
    "broken": (500, {"message": "it broke"}),
    "unauthorized": (401, {"message": "Incorrect API key provided: {key}", "code": "invalid_api_key"}),
    "no_model": (404, {"message": "The model `nobody` does not exist", "code": "model_not_found"}),
    "bad_request": (400, {"message": "context is too long"}),
    "quota": (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}),
}


def texts(request: Request, good: str) -> dict[str, Any]:
    """Bodies of status 200, by behaviour."""
    body = request.body
    return {
        "good": completion(good, body),
        "slow": completion(good, body),
        "fenced": completion(f"Here is my judgement:\n```json\n{good}\n```\nI hope that helps.", body),
        "wrapped": completion(f"I judge: {good}", body),
        "cut": completion(good[: len(good) * 2 // 3], body, finish="length"),
        "refusing": completion(None, body, refusal="I cannot judge this."),
        "filtered": completion(None, body, finish="content_filter"),
        "empty": completion("", body),
        "prose": completion("The solution is right, in my opinion.", body),
        "two": completion(f"{good}\n{json.dumps({**json.loads(good), 'reason': 'another one'})}", body),
        "nan": completion('{"score": NaN}', body),
        "deep": completion("[" * 50_000 + '{"a": ' * 50_000, body),
        "escape": completion("\x1b[2J\x1b]0;owned\x07 no JSON \ud800", body),
        "misfit": completion('{"score": 11, "ids": ["somebody else"]}', body),
        "key": completion(f"{good} my key is {request.headers.get('authorization', '')}", body),
        "no_choices": {"object": "chat.completion", "choices": []},
        "list": [1, 2, 3],
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    imitation: Imitation

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the base class
        pass

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        own = self.imitation
        request = own.begin(json.loads(raw), {name.lower(): value for name, value in self.headers.items()})
        try:
            own.on_request(request)
            self._answer(request, own.behave(request))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            own.end()

    def _answer(self, request: Request, how: str) -> None:
        own = self.imitation
        if how == "slow":
            time.sleep(own.slowness)
        if how == "dropped":
            self.close_connection = True
            return
        if how in ERRORS:
            status, error = ERRORS[how]
            key = request.headers.get("authorization", "").removeprefix("Bearer ")
            told = {**error, "message": error["message"].replace("{key}", key)}
            self._send(status, json.dumps({"error": told}).encode())
            return
        if how == "html":
            self._send(200, b"<html><body>Welcome to the portal</body></html>", kind="text/html")
            return
        if how == "huge":
            self._send(200, b'{"choices": "' + b"x" * HUGE)
            return
        data = json.dumps(texts(request, own.say(request.body))[how]).encode()
        if how not in ("no_choices", "list"):
            own.answered.append(request.sha256)
        self._send(200, data)

    def _send(self, status: int, data: bytes, *, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if status in (429, 503):
            self.send_header("Retry-After", self.imitation.retry_after)
        for name, value in self.imitation.extra_headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no fault of the server."""


@contextmanager
def imitating(behave: Behave = lambda _request: "good", say: Say = said_of, **settings: Any) -> Iterator[Imitation]:
    """An endpoint while the block runs."""
    own = Imitation(behave, say, **settings)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"imitation": own}))
    own.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield own
    finally:
        server.shutdown()
        server.server_close()
