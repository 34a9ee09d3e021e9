"""The server under load: what it grades in a second, and what it does with twice as much, rubbish, and 50 MB.

Starts `prism serve` with two workers on this machine and asks it over loopback; the client runs on the same processors.
The work is every solution that ships with a problem, one a request. `first` is each of them once, with all problems new
to the workers. `closed` is the same over and over, when each worker has met most of their formulas before: so many
clients that wait for their answers. `open` sends at twice the rate that `closed` has reached, whatever comes back.
Beside it stands one process without a server, the first time and again. Every part is bounded by a number of requests
and by a time.

python benchmarks/speed/server.py [--json] [--slice]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import prism
from prism.grading.prepared import PreparedProblem
from prism.problem.collection import load_problems
from prism.resources import resource

WORKERS = 2
CLIENTS = 8  # that wait for their answers
QUEUE = 16  # requests that the server takes in
BATCH = 64
MEETINGS = 4  # passes until each of the workers has met most formulas
OVERLOAD = 2.0
LARGE = 50_000_000  # bytes
START_WITHIN = 180.0  # s; the kernels may have to be compiled
STOP_WITHIN = 60.0  # s
JSON = "Content-Type: application/json\r\n"
RUBBISH = {
    "empty": b"",
    "no JSON": b"{",
    "no UTF-8": b'{"problem": "\xff"}',
    "nested too deep": b"[" * 100_000,
    "an integer of 5000 digits": b'{"problem": ' + b"9" * 5000 + b"}",
    "no object": b"[]",
    "no problem": b'{"problem": "nowhere", "solution": ""}',
    "half a surrogate pair": b'{"problem": "free_fall", "solution": "\\ud800 $v = g t$"}',
}


@dataclass(slots=True)
class Counted:
    """What came back, with times in seconds."""

    statuses: Counter[int] = field(default_factory=Counter)
    accepted: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)

    def add(self, status: int, seconds: float) -> None:
        """Count an answer."""
        self.statuses[status] += 1
        (self.accepted if status == 200 else self.refused).append(seconds)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        n = sum(self.statuses.values())
        return {
            "requests": n,
            "statuses": {str(status): self.statuses[status] for status in sorted(self.statuses)},
            "share_429": round(self.statuses[429] / n, 3) if n else None,
            "accepted_ms": quantiles(self.accepted),
            "refused_ms": quantiles(self.refused),
        }


def quantiles(seconds: Sequence[float]) -> dict[str, float] | None:
    """Median, 99th percentile and maximum [ms]."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, round(0.99 * (len(ordered) - 1)))]
    shown = {"p50": statistics.median(ordered), "p99": p99, "max": ordered[-1]}
    return {name: round(1000 * value, 1) for name, value in shown.items()}


# The client: one request a connection. ---------------------------------------------------------------------------


async def ask(
    port: int, path: str, body: bytes | None, *, chunks: AsyncIterator[bytes] | None = None, address: str = "127.0.0.1"
) -> tuple[int, bytes]:
    """Status and answer; 0 if the connection ended without one. The address of loopback is that of the client."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    method = "GET" if body is None and chunks is None else "POST"
    length = "" if body is None else f"Content-Length: {len(body)}\r\n"
    coding = "" if chunks is None else "Transfer-Encoding: chunked\r\n"
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{JSON}{length}{coding}\r\n"

    async def send() -> None:
        writer.write(head.encode() + (body or b""))
        await writer.drain()
        if chunks is not None:
            async for chunk in chunks:
                writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
            await writer.drain()

    sending = asyncio.create_task(send())
    try:
        answer = await reader.read()
    except ConnectionError:
        answer = b""
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        writer.close()
    top, _, rest = answer.partition(b"\r\n\r\n")
    return (int(top.split(b" ", 2)[1]) if top else 0), rest


async def closed(port: int, bodies: Sequence[bytes], n: int, seconds: float) -> tuple[Counted, float]:
    """Clients that wait for their answers; and the time that all of it took [s]."""
    counted = Counted()
    work = iter(islice(cycle(bodies), n))
    end = time.perf_counter() + seconds

    async def client() -> None:
        for body in work:
            start = time.perf_counter()
            if start > end:
                return
            status, _ = await ask(port, "/grade", body)
            counted.add(status, time.perf_counter() - start)

    start = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return counted, time.perf_counter() - start


async def opened(port: int, bodies: Sequence[bytes], rate: float, seconds: float) -> Counted:
    """Requests at a rate, whatever comes back; a request that cannot be sent in time counts from when it was due."""
    counted = Counted()
    begin = time.perf_counter()

    async def one(due: float, body: bytes) -> None:
        status, _ = await ask(port, "/grade", body)
        counted.add(status, time.perf_counter() - due)

    async with asyncio.TaskGroup() as group:
        for k, body in enumerate(islice(cycle(bodies), int(rate * seconds))):
            due = begin + k / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(one(due, body))
    return counted


async def healthy(port: int, times: list[float]) -> None:
    """Ask how it is, ten times a second, until cancelled."""
    while True:
        start = time.perf_counter()
        status, _ = await ask(port, "/healthz", None)
        times.append(time.perf_counter() - start if status == 200 else float("inf"))
        await asyncio.sleep(0.1)


async def large() -> AsyncIterator[bytes]:
    for _ in range(LARGE // 65536 + 1):
        yield b" " * 65536


# The server. -----------------------------------------------------------------------------------------------------


@contextmanager
def server(own: Sequence[str] = ()) -> Iterator[tuple[subprocess.Popen[bytes], int, dict[str, Any]]]:
    """A process that serves the shipped problems, or runs a script of its own; its port, and the time until ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = time.perf_counter()
    served = ["-m", "prism", "serve", str(resource("dags")), "--workers", str(WORKERS), "--queue", str(QUEUE)]
    command = [sys.executable, *(own or served), "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                if asyncio.run(ask(port, "/healthz", None))[0] == 200:
                    break
            except OSError:
                pass
            if process.poll() is not None or time.perf_counter() - start > START_WITHIN:
                raise SystemExit("the server does not start")
            time.sleep(0.1)
        yield process, port, {"ready_after_s": round(time.perf_counter() - start, 2)}
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def family(pid: int) -> list[int]:
    """A process and its children; empty where /proc does not tell."""
    found = [pid] if Path(f"/proc/{pid}").exists() else []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if parent == pid:
            found.append(int(path.parent.name))
    return found


def memory(pid: int) -> list[dict[str, int]]:
    """Of the server and of each worker, what it holds now and what it held at most [MB]."""
    found = []
    for one in family(pid):
        try:
            status = Path(f"/proc/{one}/status").read_text()
        except OSError:
            continue
        values = {line.partition(":")[0]: line.split()[1] for line in status.splitlines() if line.startswith("Vm")}
        if "VmRSS" in values:
            found.append({"now_mb": int(values["VmRSS"]) // 1024, "most_mb": int(values["VmHWM"]) // 1024})
    return found


def stopped(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """SIGTERM: how long it takes to end, and how many of its workers are still there."""
    workers = family(process.pid)[1:]
    start = time.perf_counter()
    process.send_signal(signal.SIGTERM)
    process.wait(STOP_WITHIN)
    seconds = time.perf_counter() - start
    return {"seconds": round(seconds, 2), "workers_left": sum(Path(f"/proc/{pid}").exists() for pid in workers)}


# The measurement. ------------------------------------------------------------------------------------------------


def without_server(items: Sequence[tuple[str, str]], known: dict[str, Any]) -> dict[str, float]:
    """Solutions a second in this process, with warm kernels: the first time, problems and all, and the third."""
    prism.warm()
    prepared: dict[str, PreparedProblem] = {}
    rates = []
    for _ in range(3):
        start = time.perf_counter()
        for name, solution in items:
            if name not in prepared:
                prepared[name] = prism.prepare(known[name])
            prism.grade(prepared[name], solution)
        rates.append(round(len(items) / (time.perf_counter() - start), 2))
    return {"first_per_s": rates[0], "again_per_s": rates[-1]}


async def measure(port: int, pid: int, bodies: Sequence[bytes], batch: bytes, n: int, seconds: float) -> dict[str, Any]:
    once, took_once = await closed(port, bodies, len(bodies), 4 * seconds)
    await closed(port, bodies, MEETINGS * len(bodies), 4 * seconds)
    first = await ask(port, "/grade", bodies[0])
    times: list[float] = []
    watching = asyncio.create_task(healthy(port, times))
    counted, took = await closed(port, bodies, n, seconds)
    rate = sum(counted.statuses.values()) / took
    rate_once = sum(once.statuses.values()) / took_once
    result: dict[str, Any] = {
        "first": {"clients": CLIENTS, "requests_per_s": round(rate_once, 2), **once.to_dict()},
        "closed": {"clients": CLIENTS, "requests_per_s": round(rate, 2), **counted.to_dict()},
        "memory_after_closed": memory(pid),
    }
    start = time.perf_counter()
    status, _ = await ask(port, "/grade", batch)
    batched = BATCH / (time.perf_counter() - start)
    result["batch"] = {"items": BATCH, "status": status, "solutions_per_s": round(batched, 2)}
    overload = await opened(port, bodies, OVERLOAD * rate, seconds)
    result["open"] = {"times_capacity": OVERLOAD, "seconds": seconds, "queue": QUEUE, **overload.to_dict()}
    result["memory_after_open"] = memory(pid)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    result["healthz_under_load_ms"] = quantiles(times)
    result["rubbish"] = {name: (await ask(port, "/grade", body))[0] for name, body in RUBBISH.items()}
    result["large"] = {}
    for name, whole, chunks in (("with a length", b" " * LARGE, None), ("in chunks", None, large())):
        start = time.perf_counter()
        status, _ = await ask(port, "/grade", whole, chunks=chunks)
        result["large"][name] = {"status": status, "ms": round(1000 * (time.perf_counter() - start), 1)}
    result["memory_after_large"] = memory(pid)
    result["same_row_at_the_end"] = await ask(port, "/grade", bodies[0]) == first
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="The server under load.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--slice", action="store_true", help="a few seconds of each part")
    options = parser.parse_args()
    n, seconds = (60, 4.0) if options.slice else (2000, 30.0)
    known = load_problems(resource("dags"))
    items = [(name, str(one.solution)) for name, problem in known.items() for one in problem.students]
    items = items[::4] if options.slice else items
    asked = [{"problem": name, "solution": solution} for name, solution in items]
    bodies = [json.dumps(one).encode() for one in asked]
    batch = json.dumps({"items": list(islice(cycle(asked), BATCH))}).encode()
    result: dict[str, Any] = {"workers": WORKERS, "solutions": len(items)}
    result["one_process_without_server"] = without_server(items, dict(known))
    with server() as (process, port, ready):
        result |= ready
        result |= asyncio.run(measure(port, process.pid, bodies, batch, n, seconds))
        result["stop"] = stopped(process)
    if options.json:
        print(json.dumps(result))
    else:
        print(json.dumps(result, indent=1))
    statuses = {result["closed"]["statuses"].keys() == {"200"}, result["batch"]["status"] == 200}
    is_as_told = statuses == {True} and result["same_row_at_the_end"] and result["stop"]["workers_left"] == 0
    sys.exit(0 if is_as_told and set(result["open"]["statuses"]) <= {"200", "429"} else 1)


if __name__ == "__main__":
    main()
