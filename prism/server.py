"""Grades over HTTP: a thin door that bounds what comes in, and leaves the grading to workers.

    uvicorn.run(create_app("dags", workers=2))        # what `prism serve dags` does

Everything that a stranger can make big is bounded before it costs anything: requests at once, the bytes of a body, of
all bodies together, the time that a body takes to come in, items of a request, an inline problem. Solutions are hostile
(a model learns from what they earn) and are graded in processes that can be killed; problems are the author's, and are
loaded in a thread of this one. The loop that answers does neither, so `/healthz` answers while everything else is busy.

Refused: models of pydantic for what comes in. They reject half surrogate pairs, which a solution may hold, stop at
shapes where an author wants all faults, and repeat the input in what they answer. The schemas of the documentation are
written by hand instead.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import json
import math
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from ipaddress import ip_address
from typing import Any, TypeVar

import prism
from prism.engine.kernels import INTERPRETED, forced
from prism.errors import DataFileError, PrismError
from prism.grading.prepared import PreparedProblem
from prism.grading.result import Grade
from prism.grading.row import fingerprint, json_line, score_row
from prism.grading.scoring import Scoring, scalars, score_by, scoring_of
from prism.latex import solution_text
from prism.problem.collection import ProblemSource, load_problems
from prism.problem.schema import Problem, load_problem
from prism.rewards import nemo_gym, openrlhf
from prism.rewards.reward import Rewarded
from prism.runs.bulk import Options, graded, without_score
from prism.runs.rollouts import Rollout
from prism.runs.workers import Desk, Killed

try:
    from fastapi import FastAPI, Request, Response
    from fastapi.responses import JSONResponse
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ImportError as missing:
    raise ImportError('the server needs the extra: pip install "prism-dag[serve]"') from missing

T = TypeVar("T")

HOST, PORT = "127.0.0.1", 8777
LEAST_TOKEN = 16  # characters: a shorter one can be guessed over a network
GRACE = 30  # seconds that requests have to end when the server is stopped
_RETRY_AFTER = "1"  # seconds, for who comes when all places are taken
_THROWN_AWAY = 64 << 20  # bytes of a refused body that are read and dropped; then the connection is closed on it
_LOADED = 512  # inline problems that are kept; a trainer sends the same ones over and over
_SHOWN_FAULTS = 50  # of a request; the rest is counted


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server takes in before it refuses.

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
        wrong = [name for name in _BOUNDS if getattr(self, name) <= 0]
        faults = [f"{name}: {getattr(self, name)}; expected more than 0" for name in wrong]
        if self.bodies < self.body:
            faults.append(f"bodies: {self.bodies} is less than body, {self.body}")
        if faults:
            raise PrismError("\n".join(f"limits, {fault}" for fault in faults))


_BOUNDS = ("body", "bodies", "problem", "items", "queue", "read_seconds", "kill_after")


def create_app(
    problems: ProblemSource | Iterable[ProblemSource],
    *,
    scoring: str | Mapping[str, float] | Scoring = "closure",
    token: str | None = None,
    limits: Limits = Limits(),
    workers: int = 0,
    thinking: bool = False,
) -> FastAPI:
    """The application, for any ASGI server that runs its lifespan: nothing is started before.

    Args:
        problems: what ids stand for, as `load_problems` takes them.
        scoring: what `/get_reward` and `/verify` pay for; `/grade` answers whole score rows.
        token: what a request has to show, as `Authorization: Bearer` or as the password of `Basic`. Without, anybody
            who reaches the server is answered.
        workers: processes; 0 grades in a thread of this one, where nothing can be killed.
        thinking: also count formulas before the end of a thinking block.

    Errors:
        DataFileError: faults of the problems.
        PrismError: faults of the other arguments.
    """
    if workers < 0:
        raise PrismError(f"workers = {workers}: expected 0 or more")
    if token is not None:
        check_token(token)
    office = _Office(load_problems(problems), scoring_of(scoring), limits, workers, thinking)
    room = _Room(limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(office.start)
        try:
            yield
        finally:
            await asyncio.to_thread(office.stop)

    app = FastAPI(title="PRISM", version=prism.__version__, summary=_SUMMARY, lifespan=lifespan)
    app.add_middleware(_Door, token=token, room=room)
    app.add_exception_handler(_Refused, _refusal)
    app.add_exception_handler(Exception, _failure)
    _add_routes(app, office, room)
    return app


def check_token(token: str) -> None:
    """Whether a token can be one.

    Errors:
        PrismError: one that is too short, or holds what a header cannot.
    """
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise PrismError(f"token: expected at least {LEAST_TOKEN} printable ASCII characters without blanks")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server at this address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def run(app: FastAPI, *, host: str = HOST, port: int = PORT) -> None:
    """Serve until SIGTERM or Ctrl-C: then nothing new is taken, and what runs has `GRACE` seconds."""
    import uvicorn

    uvicorn.run(
        app, host=host, port=port, access_log=False, server_header=False, ws="none", lifespan="on",
        timeout_graceful_shutdown=GRACE,
    )  # fmt: skip


# What is answered with something else than a grade. -------------------------------------------------------------


class _Refused(Exception):
    """A request that is not answered with grades.

    Attributes:
        status: of HTTP.
        faults: what is wrong, all of it.
    """

    def __init__(self, status: int, faults: Sequence[str]) -> None:
        self.status = status
        self.faults = tuple(faults)
        super().__init__(*faults)


def _told(faults: Sequence[str]) -> bytes:
    more = [f"and {len(faults) - _SHOWN_FAULTS} more"] if len(faults) > _SHOWN_FAULTS else []
    shown = [*faults[:_SHOWN_FAULTS], *more]
    return json_line({"detail": shown[0] if len(shown) == 1 else f"{len(faults)} faults", "faults": shown})


def _as_json(body: bytes, status: int = 200) -> Response:
    return Response(body, status, media_type="application/json")


async def _refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, _Refused)
    return _as_json(_told(error.faults), error.status)


async def _failure(_: Request, error: Exception) -> Response:
    return _as_json(_told([f"the server failed: {type(error).__name__}"]), 500)  # the log has the rest


# The door: before anything is read or parsed. -------------------------------------------------------------------


class _Room:
    """How many requests are inside, and how many bytes they hold. Touched by the loop alone."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.n = 0
        self.n_byte = 0


class _Door:
    """Lets a request in, with its body read whole, or answers it: 401, 408, 413, 415, 429."""

    def __init__(self, app: ASGIApp, *, token: str | None, room: _Room) -> None:
        self._app = app
        self._token = token
        self._room = room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":  # only those have work done
            await self._app(scope, receive, send)
            return
        try:
            self._check({name.lower(): value for name, value in scope["headers"]})
            await self._let_in(scope, receive, send)
        except _Refused as refused:
            await _refuse(refused, receive, send, self._room.limits)
        except _GoneAway:
            return

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        room = self._room
        n_byte = 0
        room.n += 1
        try:
            body = await _read_whole(receive, room)
            n_byte = len(body)
            room.n_byte += n_byte
            await self._app(scope, _with_body(body, receive), send)
        finally:
            room.n -= 1
            room.n_byte -= n_byte

    def _check(self, headers: Mapping[bytes, bytes]) -> None:
        limits = self._room.limits
        if self._token is not None and not _shows(headers.get(b"authorization", b""), self._token):
            raise _Refused(401, ["no valid token: send the header Authorization: Bearer TOKEN"])
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":  # a page of another site can make a browser post other types
            raise _Refused(415, ["send the header Content-Type: application/json"])
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > limits.body:
            raise _Refused(413, [_too_large(limits.body)])
        if self._room.n >= limits.queue:
            raise _Refused(429, [f"{limits.queue} requests are being worked on; come back later"])


class _GoneAway(Exception):
    """The client has hung up."""


async def _read_whole(receive: Receive, room: _Room) -> bytes:
    """Read a body, counted as it comes in: its header may have said anything, or nothing.

    Errors:
        _Refused: as soon as it is too large, and when it takes too long.
        _GoneAway: nobody is there to be answered.
    """
    limits = room.limits
    body = bytearray()
    is_over = False
    try:
        async with asyncio.timeout(limits.read_seconds):
            while not is_over:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise _GoneAway
                chunk = message.get("body", b"")
                if len(body) + len(chunk) > limits.body:
                    raise _Refused(413, [_too_large(limits.body)])
                if room.n_byte + len(chunk) > limits.bodies:
                    full = f"the requests that are being worked on hold {limits.bodies} bytes; come back later"
                    raise _Refused(429, [full])
                body += chunk
                room.n_byte += len(chunk)
                is_over = not message.get("more_body", False)
    except TimeoutError as error:
        raise _Refused(408, [f"the body has not come in within {limits.read_seconds:g} seconds"]) from error
    finally:
        room.n_byte -= len(body)
    return bytes(body)


def _too_large(most: int) -> str:
    return f"the body is larger than {most} bytes; send fewer solutions at a time"


def _with_body(body: bytes, receive: Receive) -> Receive:
    """The channel of a request whose body has been read: first the body, then what comes after it."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def next_message() -> Message:
        for message in messages:
            return message
        return await receive()

    return next_message


async def _refuse(refused: _Refused, receive: Receive, send: Send, limits: Limits) -> None:
    """Answer at once, and then throw away what comes in of the body, within bounds.

    Were the connection closed on it, most clients would be told of a broken pipe instead of the answer.
    """
    body = _told(refused.faults)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refused.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refused.status == 429:
        headers.append((b"retry-after", _RETRY_AFTER.encode()))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
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


def _shows(header: bytes, token: str) -> bool:
    """Whether a header shows the token, compared in a time that does not depend on where they differ.

    It may be the password of `Basic` too: a client that sends no headers of one's own is given http://prism:TOKEN@host.
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


# The office: problems, and who grades. --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Item:
    """One solution to grade.

    Attributes:
        place: in the request, for what is wrong with it.
        reference: of its problem: an id, or the problem.
        solution: text, messages or steps; nothing has been checked.
        sample_id: kept in the row.
    """

    place: str
    reference: Any
    solution: Any
    sample_id: str


@dataclass(frozen=True, slots=True)
class _Served:
    """What came of one solution.

    Attributes:
        row: its score row, as a line of JSON.
        rewarded: without the grade, which has gone into the row.
    """

    row: bytes
    rewarded: Rewarded


class _UnknownProblem(PrismError):
    """An id that stands for no problem."""


class _Office:
    """Who knows the problems and has solutions graded; all of its time goes by in threads and in the workers."""

    def __init__(
        self, problems: Mapping[str, Problem], scoring: Scoring, limits: Limits, workers: int, thinking: bool
    ) -> None:
        self.problems = problems
        self.scoring = scoring
        self.limits = limits
        self.workers = workers
        self._options = Options(thinking=thinking, training=scoring.needs_training)
        self._served = partial(_served, scoring=scoring, options=self._options)
        self._desk = Desk(
            self._served, workers=workers, training=scoring.needs_training, kill_after=limits.kill_after
        )  # fmt: skip
        self._reading = ThreadPoolExecutor(1, "prism reading")
        self._loading = ThreadPoolExecutor(1, "prism loading")
        self._inline: OrderedDict[str, Problem | tuple[str, ...]] = OrderedDict()

    @property
    def is_ready(self) -> bool:
        """Whether solutions are taken, which includes that kernels are loaded."""
        return self._desk.is_ready

    def start(self) -> None:
        self._desk.start()

    def stop(self) -> None:
        self._desk.stop()
        for pool in (self._reading, self._loading):
            pool.shutdown(wait=False, cancel_futures=True)

    async def read(self, act: Callable[..., T], *arguments: Any) -> T:
        """Do something that takes as long as a body is: parse it, or write it out."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, act, *arguments)

    async def served(self, items: Sequence[_Item]) -> list[_Served]:
        """Grade all of them.

        Errors:
            _Refused: what is wrong with their problems and with the shapes of their solutions, all of it.
        """
        problems: list[Problem] = []
        faults: list[str] = []
        n_unknown = 0
        for item in items:
            try:
                problems.append(await self._problem(item.reference))
            except _UnknownProblem as error:
                n_unknown += 1
                faults.append(f"{item.place}problem: {error}")
            except PrismError as error:
                told = error.faults if isinstance(error, DataFileError) else str(error).split("\n")
                faults += [f"{item.place}problem: {fault}" for fault in told]
            if fault := _shape_fault(item.solution):
                faults.append(f"{item.place}{fault}")
        if faults:
            raise _Refused(404 if n_unknown == len(faults) else 422, faults)
        return await self._graded(zip(problems, items, strict=True))

    async def rewarded(self, items: Sequence[_Item]) -> list[Rewarded]:
        """What all of them are worth; what has no value says so itself."""
        found: list[Rewarded | None] = []
        fit: list[tuple[Problem, _Item]] = []
        for item in items:
            try:
                problem = await self._problem(item.reference)
            except PrismError as error:
                found.append(Rewarded(None, scalars(None, bad_reference=True), None, str(error)))
                continue
            if fault := _shape_fault(item.solution):
                found.append(Rewarded(0.0, scalars(None, bad_solution=True), None, fault))
                continue
            found.append(None)
            fit.append((problem, item))
        graded = iter(await self._graded(fit))
        return [next(graded).rewarded if each is None else each for each in found]

    async def _graded(self, asked: Iterable[tuple[Problem, _Item]]) -> list[_Served]:
        rollouts = [(problem, Rollout(problem.id, item.solution, item.sample_id)) for problem, item in asked]
        try:
            futures = [asyncio.wrap_future(self._desk.submit(*each)) for each in rollouts]
            results = await asyncio.gather(*futures)
        except PrismError as error:
            raise _Refused(503, [str(error)]) from error
        return [
            self._killed(problem, rollout, found.reason) if isinstance(found, Killed) else found
            for (problem, rollout), found in zip(rollouts, results, strict=True)
        ]

    def _killed(self, problem: Problem, rollout: Rollout, reason: str) -> _Served:
        return _as_served(problem, rollout, without_score(problem, rollout, "killed", reason), self.scoring)

    async def _problem(self, reference: Any) -> Problem:
        """The problem of a reference.

        Errors:
            DataFileError: an inline problem with faults.
            _UnknownProblem: an id that is not there.
            PrismError: something else.
        """
        if isinstance(reference, int) and not isinstance(reference, bool):
            reference = str(reference)
        if isinstance(reference, str) and reference in self.problems:
            return self.problems[reference]
        is_text = isinstance(reference, str) and reference.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")  # never a path
        if isinstance(reference, str) and not is_text:
            raise _UnknownProblem(f"no id {reference[:80]!r} among {len(self.problems)}")
        if not isinstance(reference, str | dict):
            kind = "nothing" if reference is None else f"a value of type {type(reference).__name__}"
            raise PrismError(f"found {kind}; expected an id, or a problem as an object")
        found = await asyncio.get_running_loop().run_in_executor(self._loading, self._loaded, reference)
        if isinstance(found, tuple):
            raise DataFileError("problem", found)
        return found

    def _loaded(self, source: str | dict[str, Any]) -> Problem | tuple[str, ...]:
        """An inline problem, or what is wrong with it; of the thread that loads."""
        try:
            text = source if isinstance(source, str) else json.dumps(source, sort_keys=True)
        except RecursionError:
            return ("is nested too deep",)
        if len(text) > self.limits.problem:
            return (f"is longer than {self.limits.problem} characters; put it into the problem set",)
        key = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        found = self._inline.pop(key, None)
        if found is None:
            found = _loaded(source)
        self._inline[key] = found
        if len(self._inline) > _LOADED:
            self._inline.popitem(last=False)
        return found


def _loaded(source: str | dict[str, Any]) -> Problem | tuple[str, ...]:
    try:
        return load_problem(source)
    except DataFileError as error:
        return error.faults
    except Exception as error:  # noqa: BLE001 - whatever is in it, the server goes on
        return (f"cannot be read: {type(error).__name__}",)


def _shape_fault(solution: Any) -> str:
    try:
        solution_text(solution)
    except PrismError as error:
        return str(error)
    return ""


def _served(prepared: PreparedProblem, rollout: Rollout, *, scoring: Scoring, options: Options) -> _Served:
    """The job of a worker."""
    return _as_served(prepared.problem, rollout, graded(prepared, rollout, options=options), scoring)


def _as_served(problem: Problem, rollout: Rollout, result: Grade, scoring: Scoring) -> _Served:
    row = json_line(score_row(problem, rollout.solution, result))
    return _Served(row, Rewarded(score_by(scoring, result), scalars(result), None))


# Routes. --------------------------------------------------------------------------------------------------------


def _add_routes(app: FastAPI, office: _Office, room: _Room) -> None:
    async def grade(request: Request) -> Response:
        data = await office.read(_parsed, await request.body())
        items = await office.read(_items, data, office.limits.items)
        rows = [each.row for each in await office.served(items)]
        return _as_json(b'{"items": [' + b", ".join(rows) + b"]}" if "items" in data else rows[0])

    async def get_reward(request: Request) -> Response:
        data = await office.read(_parsed, await request.body())
        rows = await office.read(_shaped, openrlhf.rows_of, data)
        _check_number(len(rows), office.limits.items)
        found = await office.rewarded([_Item("", label, solution, str(k)) for k, (label, solution) in enumerate(rows)])
        return _as_json(json_line(openrlhf.columns(found)))

    async def verify(request: Request) -> Response:
        data = await office.read(_parsed, await request.body())
        solution = await office.read(_shaped, nemo_gym.solution_of, data)
        (found,) = await office.served([_Item("", _shaped(nemo_gym.reference_of, data), solution, "1")])
        return _as_json(await office.read(_written, nemo_gym.answer(data, found.rewarded)))

    async def seed_session(_: Request) -> Response:
        return _as_json(b"{}")

    async def healthz() -> Response:
        state = {
            "status": "ok" if office.is_ready else "not ready", "version": prism.__version__,
            "fingerprint": fingerprint(), "kernels": INTERPRETED if forced() == INTERPRETED else "compiled",
            "warm": office.is_ready, "problems": len(office.problems), "scoring": dict(office.scoring.weights),
            "workers": office.workers, "requests": room.n, "queue": room.limits.queue,
        }  # fmt: skip
        return _as_json(json_line(state), 200 if office.is_ready else 503)

    for act, path, told in (
        (grade, "/grade", "Grade one solution, or several: score rows, in order."),
        (get_reward, "/get_reward", "Rewards, as OpenRLHF asks a remote reward model for them."),
        (verify, "/verify", "A reward, as NeMo Gym asks a resources server for it."),
        (seed_session, "/seed_session", "Nothing: there is no state to begin. NeMo Gym's agents ask it."),
    ):
        app.post(path, summary=told, response_class=JSONResponse, responses=_ANSWERS, openapi_extra=_body_of(path))(act)
    app.get("/healthz", summary="Whether solutions are taken, and by what.", response_class=JSONResponse)(healthz)


def _parsed(body: bytes) -> dict[str, Any]:
    """The JSON object of a body.

    Errors:
        _Refused: no JSON (400), or something else than an object (422).
    """
    try:
        data = json.loads(body, parse_constant=_no_number, parse_float=_finite)
    except RecursionError as error:
        raise _Refused(400, ["the body is nested too deep"]) from error
    except (ValueError, MemoryError) as error:  # ValueError: no JSON, no UTF-8, an integer of too many digits
        raise _Refused(400, [f"the body is no JSON: {error}"]) from error
    if not isinstance(data, dict):
        raise _Refused(422, [f"the body is a {type(data).__name__}; expected an object"])
    return data


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _finite(digits: str) -> float:
    found = float(digits)
    if not math.isfinite(found):
        raise ValueError(f"{digits[:40]} is too large a number")
    return found


def _written(data: Mapping[str, Any]) -> bytes:
    try:
        return json_line(data)
    except (RecursionError, ValueError) as error:  # ValueError: an integer of too many digits
        raise _Refused(422, ["the request cannot be written out again"]) from error


def _shaped(read: Callable[[Mapping[str, Any]], T], data: Mapping[str, Any]) -> T:
    """What a door makes of a request."""
    try:
        return read(data)
    except PrismError as error:
        raise _Refused(422, str(error).split("\n")) from error


def _items(data: Mapping[str, Any], most: int) -> list[_Item]:
    """The solutions of a `/grade` request: one, or those of its `items`."""
    if "items" not in data:
        return [_item(data, "", "1")]
    listed = data["items"]
    if len(data) > 1:
        raise _Refused(422, [f"beside items: {', '.join(sorted(data.keys() - {'items'}))}; expected nothing"])
    if not isinstance(listed, list) or not listed:
        raise _Refused(422, ["items: expected a list with at least one entry"])
    _check_number(len(listed), most)
    found: list[_Item] = []
    faults: list[str] = []
    for k, one in enumerate(listed):
        try:
            found.append(_item(one, f"items[{k}].", str(k + 1)))
        except _Refused as refused:
            faults += refused.faults
    if faults:
        raise _Refused(422, faults)
    return found


def _check_number(n: int, most: int) -> None:
    if n > most:
        raise _Refused(413, [f"{n} solutions in a request; {most} are taken at a time"])


def _item(one: Any, place: str, number: str) -> _Item:
    if not isinstance(one, dict):
        raise _Refused(422, [f"{place or 'the body'}: expected an object with problem and solution"])
    faults = [f"{place}{name}: missing" for name in ("problem", "solution") if name not in one]
    if unknown := sorted(one.keys() - {"problem", "solution", "sample_id"}):
        faults += [f"{place}{name[:80]}: no such key; expected problem, solution, sample_id" for name in unknown]
    sample_id = one.get("sample_id")
    if isinstance(sample_id, bool) or not isinstance(sample_id, str | int | None):
        faults.append(f"{place}sample_id: expected a text")
    if faults:
        raise _Refused(422, faults)
    return _Item(place, one["problem"], one["solution"], number if sample_id is None else str(sample_id))


# The documentation that FastAPI shows. --------------------------------------------------------------------------

_SUMMARY = "Step-by-step grades of worked physics solutions, by rule."
_TEXT = {"type": "string"}
_SOLUTION = {
    "description": "The text; or chat messages, of which the assistant's are graded; or a list of steps.",
    "anyOf": [_TEXT, {"type": "array", "items": {"anyOf": [_TEXT, {"type": "object"}]}}],
}
_PROBLEM = {"description": "An id in the problem set, or a problem.", "anyOf": [_TEXT, {"type": "object"}]}
_ONE = {
    "type": "object", "required": ["problem", "solution"], "additionalProperties": False,
    "properties": {"problem": _PROBLEM, "solution": _SOLUTION, "sample_id": _TEXT},
}  # fmt: skip
_SEVERAL = {"type": "object", "required": ["items"], "properties": {"items": {"type": "array", "items": _ONE}}}
_TEXTS = {"type": "array", "items": _TEXT}
_BODIES: Mapping[str, Any] = {
    "/grade": {"anyOf": [_ONE, _SEVERAL]},
    "/get_reward": {
        "type": "object", "required": ["query", "labels"],
        "properties": {"query": _TEXTS, "prompts": _TEXTS, "labels": {"type": "array", "items": _PROBLEM}},
    },
    "/verify": {
        "type": "object", "required": ["response"],
        "properties": {"response": {"type": "object"}, "problem": _PROBLEM, "problem_id": _TEXT,
                       "verifier_metadata": {"type": "object"}},
    },
    "/seed_session": {"type": "object"},
}  # fmt: skip
_ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {"description": told}
    for status, told in (
        (400, "No JSON."), (401, "No valid token."), (404, "An id that stands for no problem."),
        (408, "The body came in too slowly."), (413, "Too many bytes, or too many solutions."),
        (415, "Another type than application/json."), (422, "All that is wrong with the request or its problems."),
        (429, "All places are taken; Retry-After says when to come back."), (503, "The workers do not start."),
    )
}  # fmt: skip


def _body_of(path: str) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": _BODIES[path]}}}}
