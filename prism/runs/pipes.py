"""Messages between the supervisor of a run and its worker processes: pickled, their length first."""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any

_LENGTH = struct.Struct(">Q")


class WorkerDied(Exception):
    """Raised when the process at the other end of a pipe has ended."""


def pickled(value: Any) -> bytes:
    """Return a value pickled with the newest protocol."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def send(pipe: IO[bytes] | None, message: bytes) -> None:
    """Write a message to a pipe, its length first.

    Errors:
        WorkerDied: nobody reads the pipe any more.
    """
    assert pipe is not None
    try:
        pipe.write(_LENGTH.pack(len(message)))
        pipe.write(message)
        pipe.flush()
    except (OSError, ValueError) as error:  # ValueError: closed by `stop`
        raise WorkerDied from error


def receive(pipe: IO[bytes] | None) -> bytes:
    """Read one message from a pipe, its length first.

    Errors:
        WorkerDied: the pipe ends before the message does.
    """
    assert pipe is not None
    try:
        head = pipe.read(_LENGTH.size)
        body = pipe.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""
    except (OSError, ValueError) as error:
        raise WorkerDied from error
    if len(head) < _LENGTH.size or len(body) < _LENGTH.unpack(head)[0]:
        raise WorkerDied
    return body
