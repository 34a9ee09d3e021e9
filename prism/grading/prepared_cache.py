"""Problems that a process keeps prepared: each is prepared once, however often rows refer to it.

Problems are kept by their content, the latest so many of them: a trainer hands over the same problem thousands of
times, as an equal string and seldom as the same object. Faults are kept too: a broken row costs one reading.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from numbers import Integral
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any

from prism.errors import DataFileError, PrismError
from prism.grading.prepared import PreparedProblem, prepare
from prism.problem.collection import ENDINGS, SHAPES, ProblemSource, named_type
from prism.problem.schema import Problem

Reference = ProblemSource | int


class ReadyProblems:
    """The problems that rows refer to, prepared; the latest so many are kept. Safe to use from many threads.

    Attributes:
        by_id: the problem set.
        size: how many prepared problems are kept.
        training: prepare them so that the policy `training` is there.
        paths: a string may be a path. A server that hears strangers says no.
    """

    def __init__(self, by_id: Mapping[str, Problem], *, size: int, training: bool, paths: bool = False) -> None:
        self.by_id = dict(by_id)
        self.size = size
        self.training = training
        self.paths = paths
        self._kept: OrderedDict[str, PreparedProblem | str] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, reference: object) -> PreparedProblem:
        """The prepared problem of a reference.

        Errors:
            PrismError: there is none, with what is wrong.
        """
        if isinstance(reference, PreparedProblem):
            if reference.given is not None or not self.training:
                return reference
            reference = reference.problem
        source = self._source(reference)
        key = _content(source)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
        if kept is None or (isinstance(kept, PreparedProblem) and isinstance(source, Problem)
                            and kept.problem != source):  # fmt: skip
            kept = self._prepared(source)  # outside the lock: two threads may do it at once, and nobody waits
            with self._lock:
                self._kept[key] = kept
                self._kept.move_to_end(key)
                while len(self._kept) > self.size:
                    self._kept.popitem(last=False)
        if isinstance(kept, str):
            raise PrismError(kept)
        return kept

    def _source(self, reference: object) -> Problem | Mapping[str, Any] | str | Path:
        """The reference without names: what an id stands for, and paths as paths."""
        if isinstance(reference, Integral) and not isinstance(reference, bool):
            reference = str(reference)
        if isinstance(reference, str):
            if reference in self.by_id:
                return self.by_id[reference]
            if reference.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
                return reference
            if self.paths and reference.lower().endswith(ENDINGS):
                return Path(reference)
            ids = f"no id among {len(self.by_id)} problems" if self.by_id else "no id, for there is no problem set"
            raise PrismError(f"reference {reference[:60]!r}: {ids}; {SHAPES}")
        if isinstance(reference, PathLike) and self.paths:
            return Path(reference)
        if isinstance(reference, Problem | Mapping):
            return reference
        raise PrismError(f"reference: found {named_type(reference)}; {SHAPES}")

    def _prepared(self, source: Problem | Mapping[str, Any] | str | Path) -> PreparedProblem | str:
        try:
            return prepare(source, training=self.training)
        except PrismError as error:
            return str(error)


def _content(source: Problem | Mapping[str, Any] | str | Path) -> str:
    """What a source is kept by: a digest of its content."""
    if isinstance(source, Problem):
        return source.sha256
    try:
        if isinstance(source, Path):
            raw = source.suffix.encode() + b"\0" + source.read_bytes()
        else:
            text = source if isinstance(source, str) else json.dumps(source, sort_keys=True)
            raw = text.encode("utf-8", "surrogatepass")
    except OSError as error:
        raise DataFileError(str(source)[:200], (f"cannot be read: {error.strerror or error}",)) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise PrismError(f"reference: holds what JSON cannot hold: {error}") from error
    return f"{type(source).__name__} {hashlib.sha256(raw).hexdigest()}"
