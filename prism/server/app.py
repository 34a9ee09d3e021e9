"""Grades over HTTP: routes that bound what comes in, and leave the grading to worker processes.

    run(create_app("dags", workers=2))        # what `prism serve dags` does

Everything that a stranger can make big is bounded before it costs anything: connections, requests at once, the time
until headers, body and answer are through, the bytes of a body, of all bodies together, items of a request, an inline
problem, the operations that all solutions may cost. Solutions are hostile (a model learns from what they earn) and are
graded in processes that can be killed, the dear ones behind the cheap, and the problems that come with them are loaded
there too. The event loop does neither, so `/healthz` answers while everything else is busy. Each client, by its token
or its address, has a share of what is admitted and of the work.

Requests are pydantic models, and FastAPI derives the OpenAPI document from them. Solutions and problems are `Any` in
them: a text may hold half a surrogate pair, which pydantic's strings refuse, and an author wants all faults of a
problem, which `load_problem` lists. What is wrong with a request is answered without repeating its content.
"""

from __future__ import annotations

import asyncio
import json
import math
import socket
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

from prism.budget import SOLUTION
from prism.engine.kernels import INTERPRETED, forced
from prism.errors import PrismError
from prism.grading.row import fingerprint, json_line
from prism.grading.scoring import Scoring, reward_scoring
from prism.inputs import distinct_keys, why_failed
from prism.problem.collection import list_problems
from prism.problem.schema import ProblemSource
from prism.rewards import nemo_gym, openrlhf
from prism.server.guard import CLIENT, DEFAULT_LIMITS, InFlight, Limits, RefusedRequest, RequestGuard, faults_as_json
from prism.server.metrics import TYPE, Gauge, Metrics
from prism.server.page import POLICY, documentation_page
from prism.server.service import PROBLEM_SCHEMA, Budget, GradeItem, GradingService, ProblemField
from prism.version import __version__

T = TypeVar("T")

HOST, PORT = "127.0.0.1", 8777
GRACE = 30  # seconds that requests have to end when the server is stopped
LEAST_TOKEN = 16  # characters: a shorter one can be guessed over a network


def create_app(
    problems: ProblemSource | Iterable[ProblemSource],
    *,
    scoring: str | Mapping[str, float] | Scoring = "closure",
    token: str | Sequence[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    workers: int = 0,
    thinking: bool = False,
    hosts: Collection[str] = (),
) -> FastAPI:
    """Return the FastAPI application that grades over HTTP; workers start when the ASGI server runs its lifespan.

    Args:
        problems: what ids stand for, as `load_problems` takes them; each is loaded when a request names it.
        scoring: what `/get_reward` and `/verify` pay for; `/grade` answers whole score rows.
        token: what a request has to show, as `Authorization: Bearer` or as the password of `Basic`. Without, anybody
            who reaches the server is answered, over loopback under names of this machine only. With several each is a
            client with a share of its own; else clients are told apart by their addresses.
        workers: processes, beside one for dear solutions; 0 grades in a thread, where nothing can be killed.
        thinking: also count formulas before the end of a thinking block.
        hosts: further names by which a server without token is asked over loopback, as by a proxy on this machine.

    Errors:
        DataFileError: faults of the problems, as far as no formula is read.
        PrismError: faults of the other arguments.
    """
    if workers < 0:
        raise PrismError(f"workers = {workers}: expected 0 or more")
    for each in (token,) if isinstance(token, str) else token or ():
        check_token(each)
    metrics, in_flight = Metrics(), InFlight(limits)
    service = GradingService(list_problems(problems), reward_scoring(scoring), limits, workers, thinking, metrics)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        """Start the worker processes before the first request, and stop them when the server ends."""
        await asyncio.to_thread(service.start)
        try:
            yield
        finally:
            await asyncio.to_thread(service.stop)

    app = FastAPI(
        title="PRISM", version=__version__, summary=_SUMMARY, lifespan=lifespan, docs_url=None, redoc_url=None
    )
    app.state.service, app.state.in_flight, app.state.metrics = service, in_flight, metrics
    app.add_exception_handler(RefusedRequest, _answer_refused)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(Exception, _answer_failure)
    _add_routes(app)
    app.add_middleware(
        RequestGuard, token=token, in_flight=in_flight, metrics=metrics, hosts=hosts, paths=(*_PATHS, "/openapi.json")
    )
    return app


def check_token(token: str) -> None:
    """Raise PrismError if a token cannot protect a server: too short to be safe, or not fit for an HTTP header.

    Errors:
        PrismError: a token that is too short, or holds what an HTTP header cannot.
    """
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise PrismError(f"token: expected at least {LEAST_TOKEN} printable ASCII characters without blanks")


def run(app: FastAPI, *, host: str = HOST, port: int = PORT) -> None:
    """Serve the application with uvicorn until SIGTERM or Ctrl-C; running requests then have `GRACE` seconds to end.

    Errors:
        PrismError: the address cannot be listened on, as where the port is in use; told before the workers start.
    """
    import uvicorn

    from prism.server.connections import Connections, most_descriptors, protocol_for, share_descriptors

    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        raise PrismError(f"port {port} of {host}: {why_failed(error)}; name another port or host") from error
    service: GradingService = app.state.service
    shares = share_descriptors(most_descriptors(), service.limits.connections, service.workers + 1)
    uvicorn.run(
        app, host=host, port=port, access_log=False, server_header=False, ws="none", lifespan="on",
        http=protocol_for(Connections(service.limits, app.state.metrics, shares.connections)), backlog=shares.backlog,
        timeout_graceful_shutdown=GRACE,
    )  # fmt: skip


# Answers without a grade. ---------------------------------------------------------------------------------------


def json_response(body: bytes, status: int = 200) -> Response:
    """Return a response with a body that is already encoded as JSON."""
    return Response(body, status, media_type="application/json")


async def _answer_refused(_: Request, error: Exception) -> Response:
    """Answer a `RefusedRequest` with its HTTP status and its faults as JSON (exception handler)."""
    assert isinstance(error, RefusedRequest)
    return Response(faults_as_json(error.faults), error.status_code, error.headers, "application/json")


async def _answer_invalid(_: Request, error: Exception) -> Response:
    """Answer 422 with a line for each fault that pydantic found in a request (exception handler)."""
    assert isinstance(error, RequestValidationError)
    return json_response(faults_as_json([_pydantic_fault_line(each) for each in error.errors()]), 422)


async def _answer_failure(_: Request, error: Exception) -> Response:
    """Answer 500 with the type of an unexpected exception only; the traceback goes to the log (exception handler)."""
    return json_response(faults_as_json([f"the server failed: {type(error).__name__}"]), 500)


def _pydantic_fault_line(error: Mapping[str, Any]) -> str:
    """Return one pydantic error as a line, `items[2].problem: missing`, without quoting what the client sent."""
    _, *place = error["loc"]
    is_batch = place[:1] == ["several"]
    steps = place[1:] if place[:1] in (["one"], ["several"]) else place
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{str(step)[:80]}" for step in steps).lstrip(".")
    if error["type"] == "extra_forbidden" and is_batch and len(steps) == 1:
        return f"beside items: {where}; expected nothing but a budget"
    expected = _EXPECTED.get(error["type"], error["msg"])
    return f"{where or 'the body'}: {expected}"


_BUDGET = f"expected a whole number of operations from 1 to {SOLUTION}"
_EXPECTED = {
    "missing": "missing",
    "extra_forbidden": "no such key; expected problem, solution, sample_id, budget",
    "model_attributes_type": "expected an object",
    "model_type": "expected an object",
    "dict_type": "expected an object",
    "list_type": "expected a list",
    "too_short": "expected a list with at least one entry",
    "value_error": "expected a text",
    "int_type": _BUDGET,
    "greater_than_equal": _BUDGET,
    "less_than_equal": _BUDGET,
}
"""What is said of the types of error that pydantic reports; its own message says the rest."""


# Grading. -------------------------------------------------------------------------------------------------------


class GradeBatch(BaseModel):
    """The body of a `/grade` request for several solutions: `{"items": [...]}`.

    Attributes:
        budget: of each item that has none of its own.
    """

    model_config = ConfigDict(extra="forbid")
    items: Annotated[list[GradeItem], Field(min_length=1)]
    budget: Budget = None


def _grade_request_tag(data: Any) -> str:
    """Return "several" for a `/grade` body with the key `items`, else "one".

    The word selects the model that pydantic reads the body with: `GradeBatch` or `GradeItem` (a discriminator tag).
    """
    return "several" if isinstance(data, dict) and "items" in data else "one"


GradeRequest = Annotated[
    Annotated[GradeItem, Tag("one")] | Annotated[GradeBatch, Tag("several")], Discriminator(_grade_request_tag)
]


_TEXT_SCHEMA, _OBJECT_SCHEMA = {"type": "string"}, {"type": "object"}
TextsField = Annotated[Any, WithJsonSchema({"type": "array", "items": _TEXT_SCHEMA})]


class RewardRequest(BaseModel):
    """The body of OpenRLHF's `/get_reward`: texts with labels; `rewards.openrlhf.rows_of` compares their lengths."""

    query: TextsField = None
    prompts: TextsField = None
    labels: Annotated[Any, WithJsonSchema({"type": "array", "items": PROBLEM_SCHEMA})] = None


class VerifyRequest(BaseModel):
    """The body of NeMo Gym's `/verify`: a row of its data with the model's response; unknown keys are sent back."""

    response: Annotated[Any, WithJsonSchema(_OBJECT_SCHEMA)] = None
    problem: ProblemField = None
    problem_id: Annotated[Any, WithJsonSchema(_TEXT_SCHEMA)] = None
    verifier_metadata: Annotated[Any, WithJsonSchema(_OBJECT_SCHEMA)] = None


# Routes. --------------------------------------------------------------------------------------------------------


class StrictRequest(Request):
    """A request whose `json()` refuses NaN, Infinity, anything but a JSON object, and lists of too many solutions."""

    async def json(self) -> Any:
        """Parse the body in a thread, once, and return the JSON object.

        Errors:
            RefusedRequest: no JSON of an object (400, 422), or too many solutions (413).
        """
        if not hasattr(self, "_json"):
            service: GradingService = self.app.state.service
            self._json = await service.in_thread(_parse_json, await self.body())
            for key in ("items", "query", "queries"):
                listed = self._json.get(key)
                if isinstance(listed, list) and len(listed) > service.limits.items:
                    most = service.limits.items
                    raise RefusedRequest(413, [f"{len(listed)} solutions in a request; {most} are taken at a time"])
        return self._json


class StrictRoute(APIRoute):
    """A FastAPI route that hands a `StrictRequest`, not a plain `Request`, to its handler."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler of this route, wrapped so that it is called with a `StrictRequest`."""
        handler = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            """Call FastAPI's handler with the request as a `StrictRequest`."""
            return await handler(StrictRequest(request.scope, request.receive))

        return handle_strictly


async def _grade_route(body: GradeRequest, request: Request) -> Response:
    """Grade one solution (`GradeItem`) or several (`GradeBatch`) and answer score rows in the order of the request."""
    service: GradingService = request.app.state.service
    is_batch = isinstance(body, GradeBatch)
    items = body.items if isinstance(body, GradeBatch) else [body]
    numbered = [
        GradeItem(
            problem=item.problem, solution=item.solution,
            sample_id=str(n) if item.sample_id is None else item.sample_id,
            budget=body.budget if item.budget is None else item.budget,
        )
        for n, item in enumerate(items, start=1)
    ]  # fmt: skip
    places = [f"items[{k}]." if is_batch else "" for k in range(len(items))]
    rows = [each.row for each in await service.grade_items(request.scope[CLIENT], numbered, places)]
    return json_response(b'{"items": [' + b", ".join(rows) + b"]}" if is_batch else rows[0])


async def _get_reward_route(_body: RewardRequest, request: Request) -> Response:
    """Answer the rewards of OpenRLHF's remote-reward request, one for each query."""
    service: GradingService = request.app.state.service
    rows = await service.in_thread(_read_or_refuse, openrlhf.rows_of, await request.json())
    items = await service.row_items(rows)
    return json_response(json_line(openrlhf.columns(await service.reward_items(request.scope[CLIENT], items))))


async def _verify_route(_body: VerifyRequest, request: Request) -> Response:
    """Grade a NeMo Gym row and answer the row with its reward added."""
    service: GradingService = request.app.state.service
    data = await request.json()
    solution = await service.in_thread(_read_or_refuse, nemo_gym.solution_of, data)
    items = await service.row_items([(_read_or_refuse(nemo_gym.reference_of, data), solution)])
    (graded_item,) = await service.grade_items(request.scope[CLIENT], items, [""])
    return json_response(await service.in_thread(_encode_json_answer, nemo_gym.answer(data, graded_item.reward)))


async def _seed_session_route() -> Response:
    """Answer an empty object to NeMo Gym's agents, which call this before a session: the server keeps no sessions."""
    return json_response(b"{}")


async def _healthz_route(request: Request) -> Response:
    """Answer 200 if solutions are taken and work gets done, else 503; the body says what runs and what waits."""
    service: GradingService = request.app.state.service
    in_flight: InFlight = request.app.state.in_flight
    now = asyncio.get_running_loop().time()
    status = "not ready" if not service.is_ready else "stalled" if service.scheduler.is_stalled(now) else "ok"
    state = {
        "status": status, "version": __version__,
        "fingerprint": fingerprint(), "kernels": INTERPRETED if forced() == INTERPRETED else "compiled",
        "warm": service.is_ready, "problems": len(service.problems), "scoring": dict(service.scoring.weights),
        "workers": service.workers, "requests": in_flight.requests.total, "queue": in_flight.limits.queue,
        "solutions": service.scheduler.state(now),
    }  # fmt: skip
    return json_response(json_line(state), 200 if status == "ok" else 503)


async def _metrics_route(request: Request) -> Response:
    """Answer what was done and what waits, in Prometheus' text format."""
    service: GradingService = request.app.state.service
    in_flight: InFlight = request.app.state.in_flight
    metrics: Metrics = request.app.state.metrics
    gauges = [
        Gauge("requests_in_flight", in_flight.requests.total), Gauge("bytes_in_flight", in_flight.bytes.total),
        *service.scheduler.gauges(asyncio.get_running_loop().time()),
    ]  # fmt: skip
    return Response(metrics.text(gauges), headers={"content-type": TYPE})


async def _docs_route(request: Request) -> Response:
    """Answer a page that shows every route, made from the OpenAPI document; it has no scripts and loads nothing."""
    return HTMLResponse(documentation_page(request.app.openapi()), headers={"content-security-policy": POLICY})


async def _root_route() -> Response:
    """Answer where the documentation is."""
    return json_response(json_line({"name": "PRISM", "version": __version__, "documentation": "/docs"}))


_POST_ROUTES: Mapping[str, Callable[..., Coroutine[Any, Any, Response]]] = {
    "/grade": _grade_route, "/get_reward": _get_reward_route, "/verify": _verify_route,
    "/seed_session": _seed_session_route,
}  # fmt: skip
_PATHS = (*_POST_ROUTES, "/", "/healthz", "/metrics", "/docs")


def _add_routes(app: FastAPI) -> None:
    """Add four POST routes, whose JSON is parsed as `StrictRequest` says, and four GET routes to the application."""
    app.router.route_class = StrictRoute
    for path, handler in _POST_ROUTES.items():
        summary = (handler.__doc__ or "").strip()
        app.post(path, summary=summary, response_class=JSONResponse, responses=_ANSWERS)(handler)
    app.get("/healthz", summary=_healthz_route.__doc__, response_class=JSONResponse)(_healthz_route)
    app.get("/metrics", summary=_metrics_route.__doc__, response_class=PlainTextResponse)(_metrics_route)
    app.get("/", include_in_schema=False)(_root_route)
    app.get("/docs", include_in_schema=False)(_docs_route)


def _parse_json(body: bytes) -> dict[str, Any]:
    """Parse a request body and return its JSON object.

    Errors:
        RefusedRequest: no JSON, or a key twice in one object (400); something else than an object (422).
    """
    try:
        data = json.loads(
            body, object_pairs_hook=distinct_keys, parse_constant=_refuse_constant, parse_float=_parse_finite_float
        )
    except PrismError as error:
        raise RefusedRequest(400, [f"the body: {error}"]) from error
    except RecursionError as error:
        raise RefusedRequest(400, ["the body is nested too deep"]) from error
    except (ValueError, MemoryError) as error:  # ValueError: no JSON, no UTF-8, an integer of too many digits
        raise RefusedRequest(400, [f"the body is no JSON: {error}"]) from error
    if not isinstance(data, dict):
        raise RefusedRequest(422, [f"the body is a {type(data).__name__}; expected an object"])
    return data


def _refuse_constant(name: str) -> float:
    """Raise ValueError for NaN and Infinity, which Python's JSON parser would accept (`parse_constant` hook)."""
    raise ValueError(f"{name} is no number of JSON")


def _parse_finite_float(digits: str) -> float:
    """Return the float of a JSON number; raise ValueError if it overflows to infinity (`parse_float` hook)."""
    found = float(digits)
    if not math.isfinite(found):
        raise ValueError(f"{digits[:40]} is too large a number")
    return found


def _encode_json_answer(data: Mapping[str, Any]) -> bytes:
    """Encode an answer that repeats the client's own request.

    Errors:
        RefusedRequest: the answer cannot be encoded (422), for example because of an integer of too many digits.
    """
    try:
        return json_line(data)
    except (RecursionError, ValueError) as error:
        raise RefusedRequest(422, ["the request cannot be written out again"]) from error


def _read_or_refuse(reader: Callable[[Mapping[str, Any]], T], data: Mapping[str, Any]) -> T:
    """Return `reader(data)`, such as the solution that `nemo_gym.solution_of` takes from the JSON of a request.

    Errors:
        RefusedRequest: the reader raised a PrismError; status 422, one fault per line of its message.
    """
    try:
        return reader(data)
    except PrismError as error:
        raise RefusedRequest(422, str(error).split("\n")) from error


_SUMMARY = "Step-by-step grades of worked physics solutions, by rule."
_ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {"description": text}
    for status, text in (
        (400, "No JSON."), (401, "No valid token."), (404, "An id that stands for no problem."),
        (408, "The body came in too slowly."), (413, "Too many bytes, or too many solutions."),
        (415, "Another type than application/json."), (421, "A header Host of another machine, without a token."),
        (422, "All that is wrong with the request or its problems."),
        (429, "All places are taken, or too much work waits; Retry-After says when to come back."),
        (503, "The workers do not start."),
    )
}  # fmt: skip
