"""The replies of a judge model, kept in an append-only file: one line each, under the digest of what was asked.

A line is written in one step when its reply is there, so that a killed run loses what was on its way and nothing else.
Half a line, at the end or between two runs, is passed over and asked for again. Errors of an endpoint are never kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from prism.errors import DataFileError, PrismError
from prism.grading.row import json_line
from prism.inputs import parse_json, why_failed

_DIGITS = 64  # of a digest


@dataclass(frozen=True, slots=True)
class Reply:
    """What an endpoint answered.

    Attributes:
        text: of the first choice.
        finish: why it ended, in the endpoint's word: `stop`, `length`.
        refusal: what the endpoint said in place of a text; empty elsewhere.
        tokens_in, tokens_out: None where the endpoint does not say.
        seconds: from the request to the reply, by the clock; no part of any finding.
        answered_by: the model by the name that the endpoint gave.
    """

    text: str
    finish: str = "stop"
    refusal: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float | None = None
    answered_by: str = ""


def reply_of(body: Any, *, seconds: float | None = None) -> Reply:
    """Return the reply in the body of an answer of `/chat/completions`.

    Errors:
        PrismError: it has no choice, or one of another shape.
    """
    choices = body.get("choices") if isinstance(body, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(first, Mapping) or not isinstance(message, Mapping):
        raise PrismError("the answer holds no choice with a message")
    text, refusal = message.get("content"), message.get("refusal")
    finish = str(first.get("finish_reason") or "")
    if finish == "content_filter" and not text:
        refusal = refusal or "content_filter"
    usage = body.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    return Reply(
        text if isinstance(text, str) else "", finish[:40], refusal if isinstance(refusal, str) else "",
        _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), seconds,
        str(body.get("model") or "")[:200],
    )  # fmt: skip


def _count(value: Any) -> int | None:
    """Return a number of tokens; None for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else None


class ReplyFile:
    """The replies of a file, and the file, to which new ones are added.

    Attributes:
        replies: by digest.
        n_broken: lines that could not be read.
    """

    def __init__(self, path: Path) -> None:
        """Read what is there.

        Errors:
            DataFileError: the file is there and cannot be read, or holds something else.
        """
        self.path = path
        self.replies: dict[str, Reply] = {}
        self.n_broken = 0
        self._file: IO[bytes] | None = None
        try:
            lines = path.read_bytes().split(b"\n") if path.exists() else []
        except OSError as error:
            raise DataFileError(str(path), (f"cannot be read: {why_failed(error)}",)) from error
        self._is_whole = not lines or not lines[-1]
        for line in filter(None, lines):
            self._read(line)
        if self.n_broken and not self.replies:
            raise DataFileError(str(path), ("holds no replies; name another file with --replies",))

    def _read(self, line: bytes) -> None:
        """Take in one line; one that is no reply is counted, and so is one without a digest."""
        try:
            found = parse_json(line.decode("utf-8"))
            digest = found.pop("digest")
            if not isinstance(digest, str) or len(digest) != _DIGITS:
                raise PrismError("no digest")
            self.replies[digest] = Reply(**found)
        except (PrismError, UnicodeDecodeError, TypeError, KeyError, AttributeError):
            self.n_broken += 1

    def add(self, digest: str, reply: Reply) -> None:
        """Keep a reply.

        Errors:
            OSError: the file cannot be written.
        """
        if self._file is None:
            self._file = self.path.open("ab", buffering=0)
            if not self._is_whole:
                self._file.write(b"\n")
        self._file.write(json_line({"digest": digest, **asdict(reply)}) + b"\n")
        self.replies[digest] = reply

    def close(self) -> None:
        """Close the file; what was added is on its way to the disk."""
        if self._file is not None:
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None


def custom_ids(text: str) -> dict[str, Any]:
    """Return the lines of a batch's output by their `custom_id`.

    Errors:
        PrismError: a line that is no object with a `custom_id`, by its number.
    """
    found: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise PrismError(f"line {number}: no JSON: {error}") from error
        if not isinstance(value, dict) or not isinstance(value.get("custom_id"), str):
            raise PrismError(f"line {number}: no object with a custom_id, as a line of a batch's output is")
        found[value["custom_id"]] = value
    return found
