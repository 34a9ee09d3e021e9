"""A server with few descriptors: more connections than it has, a worker that dies meanwhile, and all is well again."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

NEWTON = {
    "id": "newton", "context": "A mass $m$ feels the force $F$ and accelerates with $a$.",
    "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}],
}  # fmt: skip
DESCRIPTORS = 256
ITEM = {"problem": "newton", "solution": r"$a = \frac{F}{m}$"}


def graded(client: httpx.Client) -> Any:
    """The score that the server answers in the end: it may refuse for a while."""
    end = time.monotonic() + 60
    while True:
        with suppress(httpx.TransportError):
            answer = client.post("/grade", json=ITEM)
            if answer.status_code == 200:
                return answer.json()["score"]
        assert time.monotonic() < end
        time.sleep(0.1)


def wait_for_metric(client: httpx.Client, name: str) -> None:
    """Wait until a metric has been counted: what waits to be accepted is accepted in the server's own time."""
    end = time.monotonic() + 60
    while True:
        with suppress(httpx.TransportError):
            if name in client.get("/metrics").text:
                return
        assert time.monotonic() < end, name
        time.sleep(0.1)


def children(pid: int) -> list[str]:
    """Process ids of the children of all threads of a process."""
    return [child for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_more_connections_than_descriptors(tmp_path: Path) -> None:
    (tmp_path / "newton.json").write_text(json.dumps(NEWTON), encoding="utf-8")
    serve = [sys.executable, "-m", "prism", "serve", str(tmp_path), "--port", "0", "--workers", "1"]
    command = ["sh", "-c", f'ulimit -n {DESCRIPTORS}; exec "$@"', "sh", *serve]
    environment = {**os.environ, "PRISM_KERNELS": "interpreted"}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=environment
    ) as process, ExitStack() as stack:  # fmt: skip
        stack.callback(process.kill)
        assert process.stderr is not None
        line = next((line for line in process.stderr if "running on" in line), "")
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert found is not None, "it has ended"
        port = int(found[1])
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            assert graded(client) == 1.0
            with ExitStack() as many:
                for k in range(2 * DESCRIPTORS):
                    one = many.enter_context(socket.socket())
                    one.setblocking(False)
                    with suppress(BlockingIOError, ConnectionError):
                        one.connect(("127.0.0.1", port))
                    with suppress(OSError):
                        one.send(b"GET / HTTP/1.1\r\n" if k % 2 else b"")
                wait_for_metric(client, 'prism_connections_closed_total{why="idle"}')
                n_descriptor = len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
                assert n_descriptor < DESCRIPTORS
                os.kill(int(children(process.pid)[0]), signal.SIGKILL)
                assert graded(client) == 1.0  # beside them
            assert graded(client) == 1.0
            assert client.get("/healthz").json()["status"] == "ok"
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        assert process.wait(60) in (0, -signal.SIGTERM)
