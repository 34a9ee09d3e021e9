"""Find the shipped data (`grammar/`, `dags/` and the like), and the folder in which a user's caches stand.

The data folders stand at the root of the repository, where people who do not program find them. A wheel
carries them as `prism/data/...`; an editable install and a checkout read them where they stand.

A cache is loaded only from a folder that nobody but its user and root can write: what is read from it becomes code
(compiled kernels, prepared problems) or decides what a formula means (tables of the grammar). So owner and mode are
looked at first, as OpenSSH does with keys. A digest is no substitute: who can write the folder can write it too.

Where there are no owners and modes (Windows) nothing is looked at: the usual folder is in the user's profile, and a
folder that is chosen instead is the user's word. In a container in which everything belongs to user 0 that user is
trusted, and a volume of another owner, or of mode 777, is not.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent

_CACHE_VARIABLE = "PRISM_CACHE_DIR"

ENVIRONMENT_VARIABLES: Mapping[str, str] = {
    _CACHE_VARIABLE: "the folder of caches: tables of the grammar, compiled kernels, prepared problems; must be its "
    "user's alone",
    "PRISM_KERNELS": "`interpreted` or `compiled`: which kernels run; without it PRISM chooses",
    "NUMBA_CACHE_DIR": "the folder of compiled kernels, before that of all caches; must be its user's alone",
    "XDG_CACHE_HOME": "the folder in which the folder of caches stands, where no `PRISM_CACHE_DIR` is given (Linux)",
    "LOCALAPPDATA": "the same on Windows",
    "COLUMNS": "how wide tables are, where they go to no terminal or the terminal is to be overruled",
    "NO_COLOR": "any value: no colours",
    "GITHUB_STEP_SUMMARY": "the file of the job summary, which `prism compare --github` writes to",
    "OPENAI_API_KEY": "the key that `prism judge` shows an endpoint; `--key-env` names another variable",
    "RAY_ADDRESS": "the cluster that `prism run --ray auto` joins",
    "RAY_TMPDIR": "where Ray tells the address of the cluster that was started last on this machine",
    "RAY_USAGE_STATS_ENABLED": "set to 0, unless it is set, for a cluster that PRISM starts: it reports to nobody",
}
"""Every environment variable that PRISM reads or sets, and what it does. None of them changes a verdict."""


def resource(name: str) -> Path:
    """Return the path of a shipped file or folder.

    Args:
        name: path below the data root, with forward slashes, e.g. `constants/units.toml`.

    Errors:
        FileNotFoundError: the installation lacks it (a broken wheel, never a user's mistake).

    >>> resource("grammar").is_dir()
    True
    """
    for root in (PACKAGE / "data", PACKAGE.parent):
        path = root / name
        if path.exists():
            return path
    raise FileNotFoundError(f"{name}: not in {PACKAGE / 'data'} nor in {PACKAGE.parent}; reinstall prism-dag")


@cache
def meanings(name: str) -> Mapping[str, str]:
    """Return what codes or names mean in words, a table of `meanings.toml` such as `lint.problem`, in its order."""
    import tomllib

    found = tomllib.loads((PACKAGE / "meanings.toml").read_text("utf-8"))
    for part in name.split("."):
        found = found[part]
    return found


def cache_folder() -> Path | None:
    """Return the folder of a user's caches: `PRISM_CACHE_DIR`, else the usual place; None if there is none."""
    chosen = os.environ.get(_CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
        return Path(base) / "prism" / "Cache" if base else None
    given = os.environ.get("XDG_CACHE_HOME", "")
    try:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "prism"
        return (Path(given) if given.startswith("/") else Path.home() / ".cache") / "prism"  # relative: to be ignored
    except RuntimeError:  # an account without a home
        return None


def private_folder(folder: Path | None) -> Path | None:
    """Return a folder of caches with links followed, made if it is missing, for its user alone.

    None if it cannot be made, or if others can write there, which is told on stderr.
    """
    if folder is None:
        return None
    folder = folder.absolute()
    try:
        for missing in reversed([place for place in (folder, *folder.parents) if not place.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)
        real = folder.resolve(strict=True)
        reason = why_not_private(real)
    except (OSError, RuntimeError):  # a file stands in its place, a loop of links, no permission
        return None
    if reason:
        tell_once(f"prism: the cache folder {folder} is not used: {reason}")
        return None
    return real


def write_whole(path: Path, content: bytes) -> bool:
    """Write a file by a temporary one that replaces it, and return True; False if it cannot be written."""
    from tempfile import NamedTemporaryFile

    try:
        with NamedTemporaryFile("wb", dir=path.parent, suffix=".tmp", delete=False) as file:
            half = Path(file.name)
            file.write(content)
    except OSError:
        return False
    try:
        half.replace(path)
    except OSError:
        half.unlink(missing_ok=True)
        return False
    return True


def why_not_private(path: Path) -> str | None:
    """Return what lets another user write a file or folder, or put another one in its place; None if nothing does.

    Looked at are its owner and mode, and those of the folders above it, up to the user's home. Above it, sticky folders
    (`/tmp`) are no danger, and neither is a group that has this user only.

    Args:
        path: absolute, with links followed.
    """
    if os.name != "posix":
        return None
    try:
        home = Path.home().resolve()
    except RuntimeError:  # an account without one
        home = None
    for place in (path, *path.parents[:-1]):
        state = place.stat()
        if state.st_uid not in (os.geteuid(), 0):
            return f"{place} belongs to another user ({state.st_uid})"
        writers = state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if place != path and (state.st_mode & stat.S_ISVTX or (writers == stat.S_IWGRP and _is_alone_in_group(state))):
            writers = 0
        if writers:
            return f"{place} can be written by others (mode {stat.S_IMODE(state.st_mode):o}); `chmod go-w` mends it"
        if place == home:
            break
    return None


def _is_alone_in_group(state: os.stat_result) -> bool:
    """Return True if the group of a file is its owner's own: of the same name, without other members."""
    import grp
    import pwd

    try:
        name, group = pwd.getpwuid(state.st_uid).pw_name, grp.getgrgid(state.st_gid)
    except KeyError:
        return False
    return group.gr_name == name and set(group.gr_mem) <= {name}


def n_processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def tell_once(line: str) -> None:
    """Print a line to stderr, unless this process has printed the same before."""
    with suppress(AttributeError, OSError, ValueError):  # a process may have no stderr, or a closed one
        sys.stderr.write(f"{line}\n")
