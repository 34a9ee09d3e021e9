"""Compiled kernels on disk: only what this user has written is loaded, for loading it runs it."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from prism.engine import kernels
from prism.engine.kernels import disk_cache
from prism.engine.kernels.disk_cache import kept_kernels, kernels_on_disk
from prism.resources import tell_once

pytestmark = [pytest.mark.compiled, pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX's")]


COMPILING = "prism: the numerical kernels are compiled now, once for this machine, in about 20 seconds"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of `NUMBA_CACHE_DIR`; the user's own is beside it."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    monkeypatch.setenv("PRISM_CACHE_DIR", str(tmp_path / "own"))
    tell_once(COMPILING)  # told now, if it was not before, and by no test below
    return tmp_path / "numba"


def numba_folder() -> str:
    """Where numba keeps what it compiles now; empty for nowhere."""
    import numba

    return str(vars(numba.config)["CACHE_DIR"])


def compiled_by(content: bytes) -> Path:
    """Let one file be written where numba writes; the folder that it is then found in."""
    with kernels_on_disk():
        folder = Path(numba_folder())
        (folder / "kernel.nbi").write_bytes(content)
    kept = kept_kernels()
    assert kept is not None
    assert not folder.exists()
    return kept


def test_the_folder_is_named_by_its_content(home: Path) -> None:
    first = compiled_by(b"one")
    assert first.parent == home
    shutil.rmtree(first)
    assert compiled_by(b"two").name != first.name


def test_a_first_compilation_is_told_in_one_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    tell_once.cache_clear()
    compiled_by(b"one")
    assert capsys.readouterr().err == f"{COMPILING}\n"
    tell_once.cache_clear()
    with kernels_on_disk():
        assert capsys.readouterr().err == ""


def test_numba_is_left_as_it_was(home: Path) -> None:
    compiled_by(b"one")
    assert numba_folder() == str(home)


def test_a_compilation_that_fails_leaves_nothing(home: Path) -> None:
    with pytest.raises(MemoryError), kernels_on_disk():
        raise MemoryError
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("damage", ["altered", "removed", "added", "writable by others"])
def test_a_damaged_folder_is_told_and_removed(home: Path, damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    kept = compiled_by(b"one")
    if damage == "altered":
        (kept / "kernel.nbi").write_bytes(b"two")
    elif damage == "removed":
        (kept / "kernel.nbi").unlink()
    elif damage == "added":
        (kept / "another.nbi").write_bytes(b"")
    else:
        kept.chmod(0o777)
    assert kept_kernels() is None
    assert not kept.exists()
    assert (
        capsys.readouterr().err.removeprefix(f"{COMPILING}\n")
        == f"prism: {kept} is damaged or was altered; the kernels are compiled anew\n"
    )


def test_where_others_can_write_the_user_s_own_folder_serves(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = compiled_by(b"one")
    home.chmod(0o777)
    assert kept_kernels() is None
    own = compiled_by(b"one")
    assert own.parent == home.with_name("own")
    assert kept.exists()
    assert len(capsys.readouterr().err.removeprefix(f"{COMPILING}\n").splitlines()) == 1


def test_a_folder_that_cannot_be_written_is_passed_over(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda folder, _: Path(folder) != home)
    assert compiled_by(b"one").parent == home.with_name("own")


def test_without_any_folder_kernels_are_compiled_in_memory(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (home, home.with_name("own")):
        place.write_text("", encoding="utf-8")
    with kernels_on_disk():
        assert not numba_folder()
    assert kept_kernels() is None


class Poison:
    """Unpickling it leaves a trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.trace),)


def load(numba: Path, own: Path) -> subprocess.CompletedProcess[str]:
    """Load the compiled kernels in a process with these folders."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(numba), "PRISM_CACHE_DIR": str(own)}
    environment.pop("PRISM_KERNELS", None)
    return subprocess.run(
        [sys.executable, "-c", "import prism; print(prism.warm().__name__)"],
        env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled kernels: those of this run, else of a process that compiles them."""
    kernels.warm()
    kept = kept_kernels()
    if kept is None:
        home = tmp_path_factory.mktemp("made")
        load(home, home)
        (kept,) = home.iterdir()
    return kept


@pytest.mark.slow
@pytest.mark.parametrize("processors", [1, 2])
def test_all_entries_are_compiled_by_one_process_or_by_two(home: Path, processors: int) -> None:
    """Each of them can be called from Python, also those that the other process has compiled."""
    code = (
        "from prism.engine import kernels; from prism.engine.kernels import marking;"
        f"kernels.n_processors = lambda: {processors}; kernels.warm();"
        "print(*(name for name, one in marking._compilable.items() if one.role is marking.Role.ENTRY"
        " and one.dispatcher.signatures))"
    )
    environment = {**os.environ, "PRISM_KERNELS": "compiled"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    kept = kept_kernels()
    assert kept is not None
    assert sorted(done.stdout.split()) == sorted(
        {path.name.split(".")[1].split("-")[0] for path in kept.rglob("*.nbi")}
    )
    assert "cross_evaluate_system" in done.stdout
    assert done.stderr == f"{COMPILING}\n"


@pytest.mark.slow
@pytest.mark.parametrize("mode", [0o775, 0o777, 0o1777])
def test_a_poisoned_kernel_does_not_run(made: Path, home: Path, mode: int) -> None:
    own, trace = home.with_name("own"), home.with_name("trace")
    for place in (home, own):
        place.mkdir(mode=0o700)
        shutil.copytree(made, place / made.name)
    for path in (home / made.name).rglob("*.nbi"):
        path.write_bytes(pickle.dumps(Poison(trace)))
    (home / made.name).rename(home / disk_cache._name(home / made.name))
    home.chmod(mode)
    done = load(home, own)
    assert done.stdout == "prism.engine.kernels.compiled\n"
    assert not trace.exists()
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"prism: the cache folder {home} is not used: {home} can be written by others")
    home.chmod(0o700)  # in a folder that is safe the same files do run
    load(home, own)
    assert trace.exists()
