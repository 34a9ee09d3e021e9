"""A cache of prepared problems: each problem is prepared once, however often rows refer to it.

Problems are cached by content, the least recently used dropped first: a trainer passes the same problem thousands of
times, as an equal string and seldom as the same object. Faults are cached too: a broken row is read once. What another
process has prepared is taken from disk (`prepared_files`).
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

from prism.errors import DataFileError, PrismError, count_of, named_type
from prism.grading.prepared import PreparedProblem, prepare
from prism.grading.prepared_files import keep_made, read_made
from prism.inputs import did_you_mean
from prism.problem.collection import ENDINGS, SHAPES
from prism.problem.schema import Problem, ProblemSource
from prism.problem.source import PlainProblem, problem_path, shipped_file, shipped_files

Reference = ProblemSource | int
_Source = Problem | PlainProblem | Mapping[str, Any] | str | Path


class PreparedCache:
    """Prepared problems of references, the most recently used ones cached. Safe to use from many threads.

    Attributes:
        by_id: the problem set.
        size: maximal number of cached problems.
        training: prepare them for the policy `training`.
        paths: a string may be a path; False in a server, whose clients must not read files.
    """

    def __init__(
        self, by_id: Mapping[str, Problem | PlainProblem], *, size: int, training: bool, paths: bool = False
    ) -> None:
        """Create an empty cache; the arguments are described in the class."""
        self.by_id = dict(by_id)
        self.size = size
        self.training = training
        self.paths = paths
        self._cached: OrderedDict[str, PreparedProblem | PrismError] = OrderedDict()  # or the fault of the problem
        self._lock = Lock()

    def __len__(self) -> int:
        """Return the number of cached problems, faulty ones included."""
        return len(self._cached)

    def get(self, reference: object) -> PreparedProblem:
        """Return the prepared problem that a reference names, from the cache if it is there.

        Args:
            reference: id of the problem set (without one, of a shipped problem), JSON text, dictionary, path, or a
                loaded or prepared problem.

        Errors:
            PrismError: the reference has no problem, or the problem is faulty.
        """
        if isinstance(reference, PreparedProblem):
            if reference.given is not None or not self.training:
                return reference
            reference = reference.problem
        source = self.source(reference)
        key = _content_key(source)
        with self._lock:
            cached = self._cached.get(key)
            if cached is not None:
                self._cached.move_to_end(key)
        if cached is None or (isinstance(cached, PreparedProblem) and isinstance(source, Problem)
                              and cached.problem != source):  # fmt: skip
            cached = self._prepared(source, key)  # outside the lock: two threads may do it at once, and neither waits
            with self._lock:
                self._cached[key] = cached
                self._cached.move_to_end(key)
                while len(self._cached) > self.size:
                    self._cached.popitem(last=False)
        if isinstance(cached, PrismError):
            raise cached.with_traceback(None)
        return cached

    def source(self, reference: object) -> _Source:
        """Return the problem of an id, or a dictionary, JSON text or path as given, unprepared.

        Errors:
            PrismError: anything else; an id that is not in the set.
        """
        if isinstance(reference, Integral) and not isinstance(reference, bool):
            reference = str(reference)
        if isinstance(reference, str):
            if reference in self.by_id:
                return self.by_id[reference]
            if reference.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
                return reference
            if self.paths and reference.lower().endswith(ENDINGS):
                return Path(reference)
            if not self.by_id and (shipped := shipped_file(reference)):  # a set has all the problems that are meant
                return shipped
            raise PrismError(f"reference {reference[:60]!r}: {self._why_no_id(reference)}; {SHAPES}")
        if isinstance(reference, PathLike) and self.paths:
            return problem_path(reference)
        if isinstance(reference, Problem | PlainProblem | Mapping):
            return reference
        raise PrismError(f"reference: found {named_type(reference)}; {SHAPES}")

    def _why_no_id(self, reference: str) -> str:
        """Return why a text is no id, with the nearest one."""
        if not self.by_id:
            near = did_you_mean(reference, (path.stem for path in shipped_files()))
            return f"no id of a shipped problem, and there is no problem set{near}"
        return f"no such id in a set of {count_of(len(self.by_id), 'problem')}{did_you_mean(reference, self.by_id)}"

    def _prepared(self, source: _Source, key: str) -> PreparedProblem | PrismError:
        """Return the prepared problem, from disk if it is there, or its faults if it cannot be loaded."""
        is_kept = not isinstance(source, Problem)
        kind = f"prepared {self.training}"
        if is_kept and isinstance(kept := read_made(key, kind), PreparedProblem):
            return kept
        try:
            prepared = prepare(source, training=self.training)
        except PrismError as error:
            return error.with_traceback(None)
        if is_kept and not prepared.problem.images:
            keep_made(key, kind, prepared)
        return prepared


def _content_key(source: _Source) -> str:
    """Return the cache key of a source, a digest of its content.

    Raises DataFileError for a file that cannot be read, PrismError for what JSON cannot hold.
    """
    if isinstance(source, Problem):
        return source.sha256
    if isinstance(source, PlainProblem):
        return f"{source.sha256} {source.folder or ''}"  # where its images are
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
