"""Where compiled kernels are kept on disk, and which of them are loaded.

What stands in numba's cache is pickled: loading it runs it. So ours is a folder below one that only this user can write
(`prism.resources.private_folder`), and it is named by digests of the sources and of its own files: one that is damaged
or was altered is told, removed and made anew. The folder is in `NUMBA_CACHE_DIR`, if that is set; where others can
write there, and by default, it is in the user's cache folder. Without any the kernels are compiled in each process.

Refused: numba's own choice of a folder. It looks at no owner and no mode.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from prism.engine.kernels.marking import SOURCES, UNFINISHED, source_digest
from prism.resources import cache_folder, private_folder, tell_once, why_not_private


def kept_kernels() -> Path | None:
    """Return the folder of kernels compiled from these sources, with files as its name says; None if there is none."""
    home = _home()
    if home is None:
        return None
    for folder in sorted(home.glob(f"kernels-{_origin()}-*")):
        with suppress(OSError):
            if folder.name == _name(folder) and why_not_private(folder) is None:
                return folder
        tell_once(f"prism: {folder} is damaged or was altered; the kernels are compiled anew")
        shutil.rmtree(folder, ignore_errors=True)
    return None


@contextmanager
def kernels_on_disk() -> Iterator[Path | None]:
    """Make numba load kernels from our folder and keep there what it has to compile; in no folder if there is none.

    Gives the folder, or None. The name of one into which kernels have to be compiled ends in UNFINISHED.
    """
    home = _home()
    folder = kept_kernels()
    if folder is None:
        folder = _new_folder(home)
        how_often = "once for this machine" if folder else "in each process, as no folder can keep them"
        tell_once(f"prism: the numerical kernels are compiled now, {how_often}, in about 20 seconds")
    try:
        with numba_keeping_in(folder):
            yield folder
        if home is not None and folder is not None:
            _publish(folder, home)
    finally:
        if folder is not None and folder.suffix == UNFINISHED:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def numba_keeping_in(folder: Path | None) -> Iterator[None]:
    """Make numba keep what it compiles in a folder, nowhere for None; afterwards it is as it was."""
    import numba

    config: Any = numba.config
    config.reload_config()  # numba reads a changed environment when it compiles, and would undo what is set here
    before = {name: getattr(config, name) for name in ("CACHE_DIR", "CACHE_LOCATOR_CLASSES") if hasattr(config, name)}
    for name in before:
        setattr(config, name, str(folder or "") if name == "CACHE_DIR" else "UserProvidedCacheLocator")
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)


def _home() -> Path | None:
    """Return the folder in which folders of compiled kernels stand, of this user alone; None if there is none."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    for folder in (Path(chosen) if chosen else None, cache_folder()):
        home = private_folder(folder)
        if home is not None and os.access(home, os.W_OK):  # numba takes another folder for one that it cannot write
            return home
    return None


def _new_folder(home: Path | None) -> Path | None:
    """Return a new folder for kernels that are being compiled; None where none can be made."""
    try:
        return Path(mkdtemp(prefix="kernels-", suffix=UNFINISHED, dir=home)) if home is not None else None
    except OSError:
        return None


@cache
def _origin() -> str:
    """Return a digest of all that numba looks at when it decides whether kernels have to be compiled again.

    Two installations of the same sources, or two machines of one home, would else write into each other's folder.
    """
    import llvmlite.binding as llvm
    import numba

    files = [(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(SOURCES.glob("*.py"))]
    asked = source_digest(), str(SOURCES), files, numba.__version__, sys.version, llvm.get_host_cpu_name()
    return blake2b(repr(asked).encode(), digest_size=8).hexdigest()


def _name(folder: Path) -> str:
    """Return the name of a folder of compiled kernels: a digest of where they come from and one of its files."""
    content = blake2b(digest_size=16)
    for path in sorted(folder.rglob("*.nb[ic]")):  # numba tries with other files whether it can write
        data = path.read_bytes()
        content.update(f"{path.relative_to(folder).as_posix()}\0{len(data)}\0".encode())
        content.update(data)
    return f"kernels-{_origin()}-{content.hexdigest()}"


def _publish(folder: Path, home: Path) -> None:
    """Give a folder of compiled kernels the name of its content, unless another process was first with the same."""
    if folder.suffix == UNFINISHED and kept_kernels() is not None:
        return
    with suppress(OSError):
        if folder.name != (name := _name(folder)):
            folder.rename(home / name)
