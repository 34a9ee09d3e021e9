"""The files of a folder as versions: what is written replaces exactly what was read, whole or not at all.

Each form of a page carries the digest of the file it was made from. Who writes shows it; if the file is another one by
now (a second tab, an editor, git), nothing is written and `StaleFile` says so. A new version is written beside the file
and put in its place in one step, so that a program that is killed leaves the old version or the new one.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from prism.errors import PrismError
from prism.inputs import decode, read_bytes, why_failed

MAX_FILE = 64 << 20  # bytes of a file that is read here
MAX_FILES = 2_000  # of a folder that are listed
NOTHING = "none"
"""The digest of a file that is not there."""

_WRITING = threading.Lock()


class StaleFile(PrismError):
    """Raised when a file is not the version that a page was made from."""


@dataclass(frozen=True, slots=True)
class Version:
    """The text of a file and its digest; empty, with the digest `NOTHING`, where there is no file."""

    text: str
    digest: str


def read_version(path: Path) -> Version:
    """Read a file.

    Errors:
        PrismError: it cannot be read, or is no text in UTF-8.
    """
    if not path.exists():
        return Version("", NOTHING)
    raw = read_bytes(path, MAX_FILE)
    return Version(decode(raw), hashlib.sha256(raw).hexdigest())


def write_version(path: Path, digest: str, text: str) -> Version:
    """Put a text in the place of the version of a file that has this digest.

    Errors:
        StaleFile: the file is another version by now.
        PrismError: it cannot be written.
    """
    raw = text.encode("utf-8", "replace")
    with _WRITING:
        if read_version(path).digest != digest:
            raise StaleFile(path.name)
        try:
            _replace(path, raw)
        except OSError as error:
            raise PrismError(f"{path.name}: cannot be written: {why_failed(error)}") from error
    return Version(text, hashlib.sha256(raw).hexdigest())


def _replace(path: Path, raw: bytes) -> None:
    """Write a file beside another, with its permissions, and rename it over it."""
    target = path.resolve()  # a link stays one
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    half = None
    try:
        with NamedTemporaryFile("wb", dir=target.parent, prefix=".", suffix=".tmp", delete=False) as file:
            half = Path(file.name)
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        half.chmod(mode)
        half.replace(target)
    except BaseException:
        if half is not None:
            half.unlink(missing_ok=True)
        raise


def _umask() -> int:
    """Return the mask of new files, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def names_in(folder: Path, *endings: str) -> tuple[str, ...]:
    """Return the names of the files of a folder with these endings, sorted: no hidden ones, none that no page can hold.

    Errors:
        PrismError: the folder cannot be read.
    """
    try:
        found = sorted(_listed(folder, endings))
    except OSError as error:
        raise PrismError(f"{folder}: cannot be read: {why_failed(error)}") from error
    return tuple(found[:MAX_FILES])


def _listed(folder: Path, endings: tuple[str, ...]) -> Iterator[str]:
    """Yield the names of files with these endings that are text in UTF-8."""
    for path in folder.iterdir():
        is_ours = path.suffix.lower() in endings and not path.name.startswith(".") and path.is_file()
        if is_ours and path.name.isprintable():
            yield path.name


def file_in(folder: Path, name: str, *endings: str) -> Path:
    """Return the path of a file that `names_in` lists: no name of a page leads out of the folder.

    Errors:
        PrismError: there is no such file.
    """
    if name not in names_in(folder, *endings):
        raise PrismError(f"no file of the folder is called {name!r}")
    return folder / name
