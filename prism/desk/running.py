"""Run a desk on this machine: a free port, a browser if asked, kernels compiled behind the first page."""

from __future__ import annotations

import socket
import threading
import webbrowser

from fastapi import FastAPI

import prism
from prism.errors import PrismError
from prism.inputs import why_failed

HOST, PORT = "127.0.0.1", 8779
_GRACE = 5  # seconds that a request has to end when the desk is stopped


def free_port(port: int) -> int:
    """Return a port that can be listened on; 0 stands for any.

    Errors:
        PrismError: the port is in use.
    """
    try:
        with socket.create_server((HOST, port)) as held:
            found: int = held.getsockname()[1]
    except OSError as error:
        raise PrismError(f"port {port} of {HOST}: {why_failed(error)}; name another with --port") from error
    return found


def run(app: FastAPI, *, port: int, token: str, opens_browser: bool) -> None:
    """Serve a desk over loopback until Ctrl-C."""
    import uvicorn

    address = f"http://{HOST}:{port}/?token={token}"
    threading.Thread(target=prism.warm, daemon=True).start()
    if opens_browser:
        threading.Timer(1, webbrowser.open, (address,)).start()
    uvicorn.run(
        app, host=HOST, port=port, access_log=False, log_level="warning", server_header=False, ws="none", http="h11",
        timeout_graceful_shutdown=_GRACE,
    )  # fmt: skip
