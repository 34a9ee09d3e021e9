"""Run a desk on this machine: a socket that listens, its address with the token, kernels compiled meanwhile."""

from __future__ import annotations

import socket
import threading

from fastapi import FastAPI

import prism
from prism.errors import PrismError
from prism.inputs import why_failed

HOST, PORT = "127.0.0.1", 8779
_GRACE = 5  # seconds that a request has to end when the desk is stopped


def listen(port: int) -> socket.socket:
    """Return a socket of this machine that listens already, so that who has read the address can ask; 0 is any port.

    Errors:
        PrismError: the port is in use.
    """
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise PrismError(f"port {port} of {HOST}: {why_failed(error)}; name another with --port") from error


def address_of(listening: socket.socket, token: str) -> str:
    """Return the address by which a browser is let in."""
    return f"http://{HOST}:{listening.getsockname()[1]}/?token={token}"


def run(app: FastAPI, listening: socket.socket) -> None:
    """Serve a desk over loopback until Ctrl-C; kernels are compiled meanwhile."""
    import uvicorn

    threading.Thread(target=prism.warm, daemon=True).start()
    config = uvicorn.Config(
        app, access_log=False, log_level="warning", server_header=False, ws="none", http="h11",
        timeout_graceful_shutdown=_GRACE,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])
