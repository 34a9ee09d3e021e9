"""What is made of problems, on disk: prepared ones, and their nodes that nothing matches, so that a run begins at once.

A file is named by a digest of all that it is made of: the problem's content, PRISM's sources, rules,
grammar and constants, Python and the libraries that compute. So it is never stale. What is pickled runs when it is
loaded: a file is read only where nobody else can write (`prism.resources`), and one that is damaged, which a digest of
its content shows, is made anew. No result and no cost depends on it: an account pays for what is remembered, and it
is the same whether that is here, in memory or nowhere.

Only what was read from a text is kept. Refused: problems that a caller has loaded, whose digest does not tell what was
changed since, and problems with images, which stand in other files; faults, which are to be told as they are now.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from prism.grading.row import fingerprint
from prism.resources import PACKAGE, cache_folder, private_folder, tell_once, why_not_private, write_whole

MOST_FILES = 4096  # that are kept, of some 10 kB each; the older half is removed beyond it
MAX_FILE = 4_000_000  # bytes of a file: the longest problems take half of it
_LIBRARIES = ("numpy", "numba", "python-flint")
_DIGEST = 32  # bytes of a SHA-256


def read_made(content: str, kind: str) -> Any:
    """Return what was made of a problem of some content, a digest; None if none of this kind is kept."""
    path = _path(content, kind)
    if path is None:
        return None
    try:
        if why_not_private(path) is not None:
            return None
        with path.open("rb") as file:
            kept = file.read(MAX_FILE + _DIGEST)
    except OSError:  # mostly as there is none
        return None
    if hashlib.sha256(kept[_DIGEST:]).digest() == kept[:_DIGEST]:
        return pickle.loads(kept[_DIGEST:])  # noqa: S301 - only this user can have written it
    tell_once(f"prism: {path} is damaged or was altered; the problem is prepared anew")
    with suppress(OSError):
        path.unlink()
    return None


def keep_made(content: str, kind: str, made: object) -> None:
    """Keep what was made of a problem that has no images, if there is a folder to write."""
    path = _path(content, kind)
    if path is None:
        return
    packed = pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL)
    if len(packed) <= MAX_FILE and write_whole(path, hashlib.sha256(packed).digest() + packed):
        _remove_oldest(path.parent)


def _path(content: str, kind: str) -> Path | None:
    """Return the file of what is made of a problem, which need not be there; None if nothing can be kept."""
    grader, folder = _grader(), cache_folder()
    home = private_folder(folder / "prepared") if grader and folder else None
    name = hashlib.sha256(f"{grader}\0{content}\0{kind}".encode()).hexdigest()
    return None if home is None else home / f"{name}.pickle"


def _remove_oldest(folder: Path) -> None:
    """Remove the older half of the files in a folder, if there are more than `MOST_FILES`."""
    files = list(folder.iterdir())
    if len(files) <= MOST_FILES:
        return
    with suppress(OSError):  # another process removes them
        for path in sorted(files, key=lambda each: each.stat().st_mtime_ns)[: len(files) // 2]:
            path.unlink(missing_ok=True)


@cache
def _grader() -> str | None:
    """Return a digest of what makes a prepared problem out of a text; None if PRISM is installed without sources."""
    digest = hashlib.sha256(f"{sys.version}\0{fingerprint()}\0".encode())
    sources = sorted(PACKAGE.rglob("*.py"))
    try:
        for library in _LIBRARIES:
            digest.update(f"{library} {version(library)}\0".encode())
        for path in sources:
            digest.update(f"{path.relative_to(PACKAGE).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    except (OSError, PackageNotFoundError):
        return None
    return digest.hexdigest() if sources else None
