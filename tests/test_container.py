"""The steps of `Containerfile`, run without a builder: in folders that stand in for those of the image."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "Containerfile").read_text("utf-8")
STEPS = [(step[0], step[1]) for step in re.findall(r"(?m)^([A-Z]+) (.+)$", TEXT)]
FOLDERS = ("/src", "/opt/prism", "/home/prism")  # of the image, each of which a folder of the test stands in for
HEALTH = next(rest.partition("CMD ")[2] for name, rest in STEPS if name == "HEALTHCHECK")


def test_the_image_runs_as_nobody_in_particular_with_kernels_compiled() -> None:
    last = STEPS[max(k for k, (name, _) in enumerate(STEPS) if name == "FROM") :]
    user = last.index(("USER", "prism"))
    assert last.index(("RUN", "prism warm")) > user, "what root compiles, another user does not load"
    assert any(rest.startswith("useradd") for name, rest in last[:user] if name == "RUN")
    assert not any(name == "USER" for name, _ in last[user + 1 :])
    assert (last[-2], last[-1]) == (("ENTRYPOINT", '["prism"]'), ("CMD", '["--help"]'))


def test_all_that_the_wheel_holds_is_copied() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    copied = {word for name, rest in STEPS if name == "COPY" and "--from" not in rest for word in rest.split()[:-1]}
    assert copied >= {*wheel["packages"], *wheel["force-include"], "pyproject.toml", project["project"]["readme"]}
    assert all((ROOT / name).exists() for name in copied)


@pytest.mark.slow
@pytest.mark.compiled
def test_its_steps_make_a_server_that_is_well(tmp_path: Path) -> None:
    folders = {name: tmp_path / name.strip("/").replace("/", "_") for name in FOLDERS}
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folders["/home/prism"])}
    environment |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "http"))}
    here = tmp_path

    def in_test(text: str) -> str:
        for name, folder in folders.items():
            text = text.replace(name, str(folder))
        return text

    for name, rest in STEPS:
        if name == "WORKDIR":
            here = Path(in_test(rest))
            here.mkdir(exist_ok=True)
        elif name == "ENV":
            key, _, value = rest.partition("=")
            environment[key] = f"{in_test(value)}:{os.environ['PATH']}" if key == "PATH" else in_test(value)
        elif name == "COPY" and "--from" not in rest:
            *sources, to = rest.split()
            for each in sources:
                if (ROOT / each).is_dir():
                    shutil.copytree(ROOT / each, here / to, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(ROOT / each, here / to)
        elif name == "RUN" and not rest.startswith("useradd"):
            subprocess.run(["bash", "-c", in_test(rest)], cwd=here, env=environment, check=True, capture_output=True)

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    words = [*json.loads(dict(STEPS)["ENTRYPOINT"]), "serve", "free_fall", "--host", "0.0.0.0", "--token-env", "TOKEN"]
    server = subprocess.Popen(
        [shutil.which(words[0], path=environment["PATH"]) or "", *words[1:], "--port", port, "--workers", "1"],
        cwd=here, env=environment | {"TOKEN": "x" * 40}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        health = [sys.executable, *shlex.split(HEALTH.replace("8777", port))[1:]]
        for _ in range(120):
            if subprocess.run(health, check=False, capture_output=True).returncode == 0:
                break
            assert server.poll() is None
            time.sleep(0.5)
        else:
            pytest.fail("no health")
    finally:
        server.terminate()
        said = server.communicate(timeout=40)[1]
    assert "compiled now" not in said, "the image has them"
