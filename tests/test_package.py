"""A stranger's installation: sdist, wheel built from it, new environment, first commands, away from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
DATA = ("constants", "dags", "grammar", "templates", "vocabulary")

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command that sees neither the checkout nor the settings of this test run."""
    hidden = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PRISM_KERNELS", "NUMBA_CACHE_DIR", "COVERAGE_PROCESS_START")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel made from what the sdist holds and nothing else.

    Built with the hatchling of this environment, so that no second one is downloaded.
    """
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)  # the wheel from the sdist
    (sdist,) = out.glob("*.tar.gz")
    (wheel,) = out.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel and what it declares that it needs, and nothing else.

    What it needs is linked from this environment: to download all of numba once more takes a minute of CI.
    """
    home = tmp_path_factory.mktemp("env")
    run(sys.executable, "-m", "venv", home / "venv", cwd=home)
    python = home / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps", built[1], cwd=home)
    (packages,) = (home / "venv" / "lib").glob("python3*/site-packages")
    for name in needed():
        found = metadata.distribution(name)
        for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (packages / top).symlink_to(Path(str(found.locate_file(top))))
    return python


def needed() -> set[str]:
    """Names of the distributions that the project needs to run, and of those that these need."""
    names: set[str] = set()
    waiting = ["prism-dag"]
    while waiting:
        wanted = (Requirement(text) for text in metadata.requires(waiting.pop()) or ())
        new = {each.name for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})} - names
        names |= new
        waiting += sorted(new)
    return names


def test_wheel_carries_the_data(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as wheel:
        inside = set(wheel.namelist())
    for folder in DATA:
        files = [path for path in (ROOT / folder).rglob("*") if path.is_file() and path.parent.name != "__pycache__"]
        assert files, f"{folder}/ is empty"
        assert {f"prism/data/{path.relative_to(ROOT).as_posix()}" for path in files} <= inside
    assert "prism/py.typed" in inside
    assert not [name for name in inside if name.startswith(("tests/", "benchmarks/", "dags/"))]


def test_wheel_is_pure(built: tuple[Path, Path]) -> None:
    assert built[1].name.endswith("-py3-none-any.whl")


def test_first_commands_of_a_user(installed: Path, tmp_path: Path) -> None:
    """`prism demo` and `prism check`, by both names, in a folder that holds nothing."""
    script = installed.with_name("prism")
    demo = run(script, "demo", "scoring_figure", "free_fall", cwd=tmp_path)
    assert "scoring_figure" in demo.stdout
    assert "0.900" in demo.stdout  # 90 of 100 points, as in the published figure
    run(script, "check", r"v = \sqrt{2gh}", "v^2 = 2gh", cwd=tmp_path)
    run(installed, "-m", "prism", "--help", cwd=tmp_path)
    where = run(installed, "-c", "import prism; print(prism.__file__)", cwd=tmp_path).stdout
    assert str(ROOT) not in where


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_nothing_generated_is_tracked() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    generated = (".venv", ".numba_cache", "dist", "build", "__pycache__")
    assert not [name for name in listed if set(generated) & set(name.split("/"))]
