"""A desk that runs as a user runs it, and a page of a real browser that has opened it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fastapi.testclient import TestClient
    from playwright.sync_api import Browser, Page

TOKEN = "0123456789abcdef"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@dataclass
class RunningDesk:
    """A process of `prism desk`, which can be killed and started again over the same folder."""

    folder: Path
    process: subprocess.Popen[str] | None = None
    address: str = ""

    @property
    def base(self) -> str:
        """Its address without the token."""
        return self.address.partition("/?")[0]

    def start(self) -> None:
        command = [sys.executable, "-m", "prism", "desk", str(self.folder), "--port", "0"]
        environment = {**os.environ, "PRISM_KERNELS": "interpreted"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=\S{32}", self.address)

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    """A client that has opened the desk of a test module's `folder`, and sends what htmx sends."""
    from fastapi.testclient import TestClient

    from prism.desk import create_desk

    with TestClient(create_desk(folder, token=TOKEN), base_url="http://127.0.0.1:8779") as one:
        one.get(f"/?token={TOKEN}")
        one.headers["hx-request"] = "true"
        yield one


@pytest.fixture
def running(tmp_path: Path) -> Iterator[RunningDesk]:
    found = RunningDesk(tmp_path)
    yield found
    found.stop()


def sync_api() -> Any:
    """Playwright's module; None where the extra `browser` is not installed."""
    try:
        from playwright import sync_api as found
    except ImportError:
        return None
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found_api = sync_api()
    if found_api is None:
        pytest.skip("no browser: the extra `browser` is not installed")
    if CHROMIUM is None:
        pytest.skip("no browser: Debian's package chromium is not installed")
    with found_api.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@dataclass
class Watched:
    """What a page has asked for and complained of."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


def watched_page(browser: Browser, desk: RunningDesk, seen: Watched, **context: Any) -> Page:
    """Open the first page of a desk in a window of its own; dialogs and errors are complaints."""

    def dismiss(dialog: Any) -> None:
        seen.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context}).new_page()
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("console", lambda said: seen.complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("dialog", dismiss)
    page.set_default_timeout(20_000)
    page.goto(desk.address)
    return page


@pytest.fixture
def seen(running: RunningDesk) -> Iterator[Watched]:
    """Everything that pages of a test have asked for is the desk's own, and none has complained."""
    found = Watched()
    yield found
    provoked = (
        "409",
        "422",
    )  # what a test asks for; and a picture puts a style into the page, which the policy refuses
    told = [each for each in found.complaints if not any(code in each for code in provoked)]
    assert [each for each in told if not ("inline style" in each and "PRISM_SCREENSHOTS" in os.environ)] == []
    assert [each for each in found.requests if not each.startswith((running.base, "data:"))] == []
