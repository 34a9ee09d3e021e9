r"""The server under attack: what honest clients wait beside those that post the dearest texts, and a soak.

*Attack*: eight honest clients, each with one request at a time, alone and then beside four that post dear texts as fast
as they are answered; in turns, so that what else the machine does falls on both. All come from one address. Honest
texts are those of the shipped problems' students, each with formulas of its own that no worker has met; dear ones are
nested integrals, sums, products, binomials and functions, none sent twice. Every honest row is compared with the one
graded directly.

*Clients*: the same with an address of its own for each client. A hostile one has two requests at a time: dear texts,
and `FRESH` problems at once that no worker has met, each with a solution.

*Soak*: honest clients for so many minutes, while workers are killed at moments drawn from a seeded generator, and
clients post dear texts and fresh problems, send bodies byte by byte, hang up at any point, send what is no HTTP, and
open more connections than the server has descriptors (256). A refused honest request is sent again; none may be lost,
and each row is compared. The memory of the server and of its workers is read on the way.

    python benchmarks/robustness/server_under_attack.py [--only PART ...] [--seconds S] [--rounds N] [--json]
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.processes import children, resident  # noqa: E402
from benchmarks.robustness.shipped import DAGS  # noqa: E402
from benchmarks.speed.server import ask, quantiles  # noqa: E402
from prism import grade, load_problems, prepare, warm  # noqa: E402
from prism.grading.prepared import PreparedProblem  # noqa: E402
from prism.grading.row import score_row  # noqa: E402
from prism.problem.schema import read_problem  # noqa: E402
from prism.problem.source import NODE_LISTS, shipped_files  # noqa: E402

WORKERS = 2
HONEST, ATTACKERS = 8, 4  # clients
SECONDS, ROUNDS = 40.0, 3  # of each phase; phases alone and beside attackers
MINUTES = 30.0
MOST_RATIO = {"attack": 2.0, "clients": 3.0}  # of the honest p99 beside attackers to that without them
FRESH = 200  # problems of a hostile request
MOST_GROWTH = 1.1  # of the server's memory from the second quarter of the soak to the last
MEETINGS = 20  # passes over the students' texts, until each of the workers has met most formulas
DESCRIPTORS = 256
PATIENCE = 120.0  # seconds after which an answer is counted as lost
_SEED = 3
_START_WITHIN = 180.0
_ROUTE = "/grade"
LARGEST = max(load_problems(DAGS).values(), key=lambda problem: len(problem.nodes)).id  # where a formula costs most


# Texts ------------------------------------------------------------------------------------------------------------


NESTED: dict[str, tuple[str, int, str]] = {
    "integrals": (r"\int_0^1 # dx", 4, "e^{x^2 + @}"),
    "infinite integrals": (r"\int_0^\infty # dx", 3, "@ e^{-x^2}"),
    "integrals up to a symbol": (r"\int_0^{q} (x + #) dx", 5, "@ x"),
    "sums": (r"\sum_{k=1}^{200} #", 3, r"\frac{q + @}{k}"),
    "products": (r"\prod_{k=1}^{200} #", 2, r"\frac{q + @}{k}"),
    "sums of integrals": (r"\sum_{k=1}^{10} \int_0^1 # dx", 3, "e^{@ x^2 k}"),
    "binomials": (r"\binom{q}{#}", 18, "q + @"),
    "functions": ("f(#)", 24, "q + @"),
    "roots": (r"\sqrt{q + #}", 24, "@ q"),
    "fractions": (r"\frac{1}{q + #}", 24, "@ q"),
}
"""A construct with `#` for what is within, how deep it is nested, and what is innermost, with `@` for a number."""

ROWS: dict[str, str] = {
    "double sums": r"V_{@} = @ \sum_{k=1}^{200} \sum_{i=1}^{200} \frac{q}{k + i}",
    "integrals": r"V = \int_0^{@} e^{-x^3} \sin(@ x q) \, dx",
    "sines": "V = " + " + ".join(rf"\sin(@ q + {i})" for i in range(20)),
}
"""Formulas, with `@` for a number, of which a text has many."""

IN_A_ROW = 40  # formulas
FEW_NODES = 11  # of a problem of honest clients
OWN_FORMULAS = 6  # of an honest text


def nested(name: str, number: int) -> str:
    """A formula of one construct in itself."""
    shape, depth, formula = NESTED[name]
    for _ in range(depth):
        formula = shape.replace("#", formula)
    return f"$V = {formula}$".replace("@", str(number))


def in_a_row(name: str, number: int) -> str:
    """Many formulas of one shape."""
    return " ".join(f"${ROWS[name]}$.".replace("@", str(number + k)) for k in range(IN_A_ROW))


def dear_texts(seed: int) -> Iterator[str]:
    """Dear texts without end, no two alike: each construct, then several in one text."""
    generator = random.Random(seed)
    while True:
        for make, names in ((nested, NESTED), (in_a_row, ROWS)):
            for name in names:
                yield make(name, generator.randrange(2, 10**6))
        yield " ".join(nested(name, generator.randrange(2, 10**6)) for name in NESTED)


def honest_students() -> list[tuple[str, str]]:
    """Students' solutions of the problems with few nodes, with the names of these."""
    few = [problem for problem in load_problems(DAGS).values() if len(problem.nodes) <= FEW_NODES]
    return [(problem.id, str(student.solution)) for problem in few for student in problem.students]


def honest_texts(seed: int) -> Iterator[tuple[str, str]]:
    """Students' solutions with their problems, without end; each has formulas of its own, and costs 20 to 100 ms."""
    generator = random.Random(seed)
    students = honest_students()
    while True:
        generator.shuffle(students)
        for name, text in students:
            own = (f"$q_{k} = {generator.randrange(2, 10**6)} x + {k} y^2$" for k in range(OWN_FORMULAS))
            yield name, f"{text}\n\nAs a check, {', '.join(own)}."


def body_of(problem: str, text: str) -> bytes:
    """A request for one solution."""
    return json.dumps({"problem": problem, "solution": text}).encode()


def dear_bodies(seed: int) -> Iterator[bytes]:
    """Requests for one dear text each, without end."""
    return (body_of(LARGEST, text) for text in dear_texts(seed))


def fresh_bodies(seed: int) -> Iterator[bytes]:
    """Requests of many problems, without end: each is a shipped one with nodes of its own, and so is its solution."""
    generator = random.Random(seed)
    shipped = [dict(read_problem(path).data or {}) for path in shipped_files()]
    while True:
        items = []
        for _ in range(FRESH):
            number, data = generator.randrange(2, 10**9), dict(generator.choice(shipped))
            key = next(key for key in NODE_LISTS if key in data)
            own = [f"Q_{{{k}}} = {number} \\sin({k} q) + q^{k}" for k in range(1, 4)]
            nodes = [{"index": 900 + k, "formula": each, "dependency": []} for k, each in enumerate(own)]
            last = {"index": 990, "formula": f"Q = {number} q", "dependency": [900, 901, 902], "is_final_answer": True}
            data |= {"id": f"p{number}", "students": [], key: [*cast("list[Any]", data[key]), *nodes, last]}
            items.append({"problem": data, "solution": f"${own[0]}$ and $Q = {number} q$"})
        yield json.dumps({"items": items}).encode()


class Grader:
    """Rows as of `prism.grade` in this process."""

    def __init__(self) -> None:
        """Load the kernels and the shipped problems."""
        warm()
        self._problems = dict(load_problems(DAGS))
        self._prepared: dict[str, PreparedProblem] = {}

    def row(self, problem: str, text: str) -> Any:
        """The row that the server has to answer."""
        if problem not in self._prepared:
            self._prepared[problem] = prepare(self._problems[problem])
        result = grade(self._prepared[problem], text, sample_id="1")
        return json.loads(json.dumps(score_row(self._problems[problem], text, result)))


# The server -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Server:
    """A process that serves the shipped problems."""

    process: subprocess.Popen[bytes]
    port: int

    async def metrics(self) -> dict[str, float]:
        """What it says of itself."""
        _, body = await ask(self.port, "/metrics", None)
        lines = [line.rpartition(" ") for line in body.decode().splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in lines}


@asynccontextmanager
async def served(descriptors: int | None = None) -> AsyncIterator[Server]:
    """A server for as long as the block lasts, with a limit on its descriptors or not."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "prism", "serve", str(DAGS), "--port", str(port), "--workers", str(WORKERS)]

    if descriptors is not None:
        command = ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", *command]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    start = time.perf_counter()
    try:
        while True:
            with suppress(OSError):
                if (await ask(port, "/healthz", None))[0] == 200:
                    break
            if process.poll() is not None or time.perf_counter() - start > _START_WITHIN:
                raise SystemExit("the server does not start")
            await asyncio.sleep(0.1)
        yield Server(process, port)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


# Attack -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Phase:
    """What clients met while it lasted."""

    honest: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    dear: list[float] = field(default_factory=list)
    dear_statuses: Counter[int] = field(default_factory=Counter)
    answers: list[tuple[str, str, Any]] = field(default_factory=list)

    def join(self, other: Phase) -> None:
        """Add what was met in another phase of the same kind."""
        self.honest += other.honest
        self.dear += other.dear
        self.statuses += other.statuses
        self.dear_statuses += other.dear_statuses
        self.answers += other.answers


async def phase(
    server: Server, seconds: float, honest: Iterator[tuple[str, str]], honest_at: Sequence[str],
    hostile: Sequence[tuple[str, Iterator[bytes]]] = (),
) -> Phase:  # fmt: skip
    """Honest clients for so long, each at an address, beside attackers with an address and requests."""
    found = Phase()
    end = time.perf_counter() + seconds

    async def ask_honestly(address: str) -> None:
        while (start := time.perf_counter()) < end:
            problem, text = next(honest)
            status, answer = await ask(server.port, _ROUTE, body_of(problem, text), address=address)
            found.honest.append(time.perf_counter() - start)
            found.statuses[status] += 1
            found.answers.append((problem, text, json.loads(answer) if status == 200 else None))

    async def attack(address: str, bodies: Iterator[bytes]) -> None:
        while (start := time.perf_counter()) < end:
            status, _ = await ask(server.port, _ROUTE, next(bodies), address=address)
            found.dear.append(time.perf_counter() - start)
            found.dear_statuses[status] += 1
            await asyncio.sleep(0.05 * (status != 200))

    attacking = [asyncio.create_task(attack(*each)) for each in hostile]
    await asyncio.gather(*map(ask_honestly, honest_at))
    for task in attacking:
        task.cancel()
    await asyncio.gather(*attacking, return_exceptions=True)
    return found


async def meet(server: Server) -> None:
    """Have the workers meet the problems and what the students say: what is new to all costs ten times as much."""
    texts = list(islice(honest_texts(_SEED + 2), MEETINGS * len(honest_students())))

    async def one_after_the_other() -> None:
        while texts:
            await ask(server.port, _ROUTE, body_of(*texts.pop()))

    await asyncio.gather(*(one_after_the_other() for _ in range(HONEST)))


LOOPBACK = "127.0.0.1"


def behind_a_proxy() -> tuple[list[str], list[tuple[str, Iterator[bytes]]]]:
    """All at one address: honest clients, and attackers with dear texts."""
    dear = dear_bodies(_SEED)
    return [LOOPBACK] * HONEST, [(LOOPBACK, dear)] * ATTACKERS


def each_by_itself() -> tuple[list[str], list[tuple[str, Iterator[bytes]]]]:
    """Each at an address of its own; an attacker has dear texts and fresh problems."""
    kinds = dear_bodies(_SEED), fresh_bodies(_SEED)
    return (
        [f"127.0.1.{k + 1}" for k in range(HONEST)],
        [(f"127.0.2.{k + 1}", bodies) for k in range(ATTACKERS) for bodies in kinds],
    )


async def attacked(part: str, seconds: float, rounds: int, grader: Grader) -> dict[str, Any]:
    """Honest waiting times alone and beside attackers."""
    alone, beside = Phase(), Phase()
    honest = honest_texts(_SEED)
    at, hostile = {"attack": behind_a_proxy, "clients": each_by_itself}[part]()
    async with served() as server:
        await meet(server)
        for _ in range(rounds):
            alone.join(await phase(server, seconds, honest, at))
            beside.join(await phase(server, seconds, honest, at, hostile))
        metrics = await server.metrics()
    found = {"alone": _told(alone), "beside": _told(beside)}
    ratios = {name: round(found["beside"]["ms"][name] / found["alone"]["ms"][name], 2) for name in ("p50", "p99")}
    pairs = [(grader.row(problem, text), row) for problem, text, row in (*alone.answers, *beside.answers)]
    return {
        "workers": WORKERS, "honest": HONEST, "attackers": ATTACKERS, "seconds": seconds, "rounds": rounds, **found,
        "attack": {
            "ms": quantiles(beside.dear), "statuses": _by_name(beside.dear_statuses),
            "requests_at_a_time": len(hostile),
        },
        "load_of_the_machine": [round(each, 1) for each in os.getloadavg()],
        "ratio": ratios, "rows_that_differ": sum(row != own for own, row in pairs), "differ_in": _differ_in(pairs),
        "metrics": {name: value for name, value in metrics.items() if "_total" in name},
    }  # fmt: skip


def _differ_in(pairs: Sequence[tuple[Any, Any]]) -> list[str]:
    """The fields in which rows differ from those graded directly; `row` for one that is not there."""
    faults = [(own, row) for own, row in pairs if own != row]
    for own, row in faults[:3]:
        told = {name: (own[name], row[name]) for name in own if own[name] != row[name]} if row else "no row"
        print(f"{own['problem_id']}: {told}", file=sys.stderr)
    return sorted(
        {name for own, row in faults for name in (own if row else ["row"]) if not row or own[name] != row[name]}
    )


def _told(phases: Phase) -> dict[str, Any]:
    return {"ms": quantiles(phases.honest), "requests": len(phases.honest), "statuses": _by_name(phases.statuses)}


def _by_name(counts: Counter[int]) -> dict[str, int]:
    return {str(name): counts[name] for name in sorted(counts)}


# Soak -------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Soak:
    """What was done and met while it lasted.

    Attributes:
        held: seconds since the start, and what the server and the largest of its workers held [MiB].
    """

    server: Server
    end: float
    counts: Counter[str] = field(default_factory=Counter)
    waited: list[float] = field(default_factory=list)
    held: list[tuple[float, float, float, float]] = field(default_factory=list)
    generator: random.Random = field(default_factory=lambda: random.Random(_SEED))

    def goes_on(self) -> bool:
        """Whether time is left."""
        return time.perf_counter() < self.end

    async def pause(self, least: float, most: float) -> None:
        """Wait for a time that chance chooses, but not beyond the end."""
        seconds = min(self.generator.uniform(least, most), max(0.0, self.end - time.perf_counter()))
        await asyncio.sleep(seconds)


async def honest_client(soak: Soak, rows: Sequence[tuple[bytes, Any]], address: str) -> None:
    """Ask again and again, each time until there is a row, and compare it."""
    while soak.goes_on():
        body, row = soak.generator.choice(rows)
        start = time.perf_counter()
        while True:
            try:
                status, answer = await asyncio.wait_for(ask(soak.server.port, _ROUTE, body, address=address), PATIENCE)
            except (OSError, TimeoutError):
                status, answer = 0, b""
            if status == 200 or time.perf_counter() - start > PATIENCE:
                break
            soak.counts[f"honest refused with {status}, and sent again"] += 1
            await asyncio.sleep(0.2)
        soak.waited.append(time.perf_counter() - start)
        soak.counts["honest requests"] += 1
        soak.counts["honest requests lost"] += status != 200
        for name in _differ_in([(row, json.loads(answer))]) if status == 200 else ():
            soak.counts[f"honest rows that differ in {name}"] += 1


async def hostile_client(soak: Soak, kind: str, bodies: Iterator[bytes], address: str) -> None:
    """Post what is dear; now and then hang up before the answer."""
    while soak.goes_on():
        asking = asyncio.create_task(ask(soak.server.port, _ROUTE, next(bodies), address=address))
        patience = PATIENCE if soak.generator.random() < 0.7 else soak.generator.uniform(0.01, 2)
        with suppress(OSError, TimeoutError):
            status, _ = await asyncio.wait_for(asking, patience)
            soak.counts[f"{kind} answered {status}"] += 1
        soak.counts[kind] += 1


async def slow_client(soak: Soak) -> None:
    """Send a request a few bytes at a time, until the server has enough of it."""
    head = b"POST /grade HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n"
    while soak.goes_on():
        is_body = soak.generator.random() < 0.5
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", soak.server.port)
            writer.write(head + (b"\r\n" if is_body else b""))
            while soak.goes_on() and not reader.at_eof() and not writer.is_closing():
                writer.write(b" " if is_body else b"X-More: x\r\n" * soak.generator.randrange(2))
                await writer.drain()
                with suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(1024), 1.0)
            writer.close()
        soak.counts["slow requests"] += 1


_POST = b"POST /grade HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
_CHUNKED = b"Transfer-Encoding: chunked\r\n"
BROKEN = (
    _POST + b"Content-Length: 50\r\n\r\n{",
    _POST.replace(b"\r\n", b"\n") + b"Content-Length: 2\n\n{}",
    _POST + b"Content-Length: 5\r\n" + _CHUNKED + b"\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n",
    _POST + _CHUNKED + b"\r\nzz\r\n",
    b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"NONSENSE\r\n\r\n",
    b"\r\n" * 1000,
    b"",
)


async def broken_client(soak: Soak, rows: Sequence[tuple[bytes, Any]]) -> None:
    """Send what is no request, or hang up in the middle of one, in its body or before its answer."""
    while soak.goes_on():
        body, _ = soak.generator.choice(rows)
        whole = _POST + b"Content-Length: %d\r\n\r\n" % len(body) + body
        sent = soak.generator.choice((*BROKEN, whole, whole[: soak.generator.randrange(len(whole))]))
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", soak.server.port)
            writer.write(sent)
            await writer.drain()
            await asyncio.sleep(soak.generator.uniform(0, 0.2))
            writer.transport.abort() if soak.generator.random() < 0.5 else writer.close()
        soak.counts["broken requests"] += 1
        await soak.pause(0, 0.5)


async def flood(soak: Soak) -> None:
    """Open more connections than the server has descriptors, hold them for a while, and let go."""
    while soak.goes_on():
        await soak.pause(20, 60)
        writers = []
        for _ in range(2 * DESCRIPTORS):
            with suppress(OSError, TimeoutError):
                writers.append((await asyncio.wait_for(asyncio.open_connection("127.0.0.1", soak.server.port), 1))[1])
        await soak.pause(2, 10)
        for writer in writers:
            writer.close()
        soak.counts["floods of connections"] += 1


async def killer(soak: Soak) -> None:
    """Kill a worker now and then."""
    while soak.goes_on():
        await soak.pause(10, 40)
        if workers := children(soak.server.process.pid):
            with suppress(ProcessLookupError):
                os.kill(soak.generator.choice(workers), signal.SIGKILL)
                soak.counts["workers killed"] += 1


async def watcher(soak: Soak, start: float) -> None:
    """Read the memory, and ask how it is."""
    while soak.goes_on():
        pid = soak.server.process.pid
        workers = [resident(one) / 1024 for one in children(pid)]
        own = resident(pid) / 1024
        soak.held.append((time.perf_counter() - start, own, max(workers, default=0.0), own + sum(workers)))
        with suppress(OSError, TimeoutError):
            status, _ = await asyncio.wait_for(ask(soak.server.port, "/healthz", None), 10)
            soak.counts[f"healthz {status}"] += 1
        soak.counts["server ended"] += soak.server.process.poll() is not None
        await soak.pause(5, 5)


async def soaked(minutes: float, grader: Grader) -> dict[str, Any]:
    """Honest clients among all kinds of others."""
    texts = islice(honest_texts(_SEED + 1), 300)
    rows = [(body_of(problem, text), grader.row(problem, text)) for problem, text in texts]
    async with served(DESCRIPTORS) as server:
        start = time.perf_counter()
        soak = Soak(server, start + 60 * minutes)
        dear, fresh = dear_bodies(_SEED + 1), fresh_bodies(_SEED + 1)
        await asyncio.gather(
            *(honest_client(soak, rows, f"127.0.1.{k + 1}") for k in range(4)),
            *(hostile_client(soak, "dear texts", dear, f"127.0.2.{k + 1}") for k in range(2)),
            hostile_client(soak, "many fresh problems", fresh, "127.0.2.3"),
            *(slow_client(soak) for _ in range(4)), *(broken_client(soak, rows) for _ in range(3)),
            flood(soak), killer(soak), watcher(soak, start),
        )  # fmt: skip
        await asyncio.sleep(2)
        body, row = rows[0]
        status, answer = await ask(server.port, _ROUTE, body)
        soak.counts["honest at the end"] += status == 200 and json.loads(answer) == row
        metrics = await server.metrics()
        code = server.process.poll()
    return {
        "load_of_the_machine": [round(each, 1) for each in os.getloadavg()], "minutes": minutes,
        "descriptors": DESCRIPTORS, "counts": dict(sorted(soak.counts.items())),
        "honest_ms": quantiles(soak.waited), "memory_mb": _memory(soak.held), "ended_early": code is not None,
        "metrics": metrics,
    }  # fmt: skip


def _memory(held: Sequence[tuple[float, float, float, float]]) -> dict[str, Any]:
    """What was held in each quarter of the time, at the median and at most, and how the server's own part grew."""
    quarters = [held[k * len(held) // 4 : (k + 1) * len(held) // 4] for k in range(4)]
    if not all(quarters):
        return {}
    own = [statistics.median(one[1] for one in quarter) for quarter in quarters]
    return {
        "server": [round(one, 1) for one in own],
        "largest_worker": [round(max(one[2] for one in quarter), 1) for quarter in quarters],
        "all": [round(statistics.median(one[3] for one in quarter), 1) for quarter in quarters],
        "all_at_most": round(max(one[3] for one in held), 1),
        "server_grows_by": round(own[3] / own[1] - 1, 4),
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------------------------


def is_as_told(result: dict[str, Any]) -> bool:
    """Whether nothing was lost or wrong, honest clients did not wait too long, and memory stayed level."""
    soak = result.get("soak")
    is_fair = all(
        found["ratio"]["p99"] <= most and found["rows_that_differ"] == 0
        and set(found["alone"]["statuses"]) | set(found["beside"]["statuses"]) == {"200"}
        for part, most in MOST_RATIO.items() if (found := result.get(part)) is not None
    )  # fmt: skip
    counts = Counter() if soak is None else Counter(soak["counts"])
    is_steady = soak is None or (
        counts["honest requests lost"] + counts["server ended"] == 0
        and not any(name.startswith("honest rows that differ") for name in counts)
        and counts["honest at the end"] == 1 and soak["memory_mb"].get("server_grows_by", 0) <= MOST_GROWTH - 1
    )  # fmt: skip
    return is_fair and is_steady


def main() -> int:
    parser = script.parser("The server among those who wish it ill.")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each phase of the attack")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="phases of each kind")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of the soak")
    parser.add_argument("--only", choices=(*MOST_RATIO, "soak"), nargs="*", default=(*MOST_RATIO, "soak"), help="parts")
    options = parser.parse_args()
    grader = Grader()
    result: dict[str, Any] = {}
    for part in MOST_RATIO:
        if part in options.only:
            result[part] = asyncio.run(attacked(part, options.seconds, options.rounds, grader))
    if "soak" in options.only:
        result["soak"] = asyncio.run(soaked(options.minutes, grader))
    print(json.dumps(result, sort_keys=True, indent=None if options.json else 1))
    return int(not is_as_told(result))


if __name__ == "__main__":
    raise SystemExit(main())
