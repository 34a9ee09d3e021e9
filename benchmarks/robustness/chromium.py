"""A headless Chromium that is asked over its pipes (DevTools protocol): what a page does when people look at it.

No library for it: JSON messages that end with a zero byte go to file descriptor 3 of the browser, and come from 4.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = ("--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars", "--no-first-run")
_TROUBLE = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")


def installed() -> str | None:
    """The browser on this machine, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Page:
    """One page of a browser.

    Attributes:
        events: what the browser has told since the page was opened.
    """

    def __init__(self, writing: int, reading: int) -> None:
        self._out, self._in = os.fdopen(writing, "wb", 0), os.fdopen(reading, "rb", 0)
        self._buffer, self._n, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> Any:
        """The answer to a command; what comes before it is kept in `events`."""
        self._n += 1
        message = {"id": self._n, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == self._n:
                if "error" in told:
                    raise RuntimeError(f"{method}: {told['error']}")
                return told["result"]
            self.events.append(told)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            read = self._in.read(1 << 20)
            if not read:
                raise RuntimeError("the browser has ended")
            self._buffer += read
        one, _, self._buffer = self._buffer.partition(b"\0")
        told: dict[str, Any] = json.loads(one)
        return told

    def open(self, path: Path) -> None:
        """Load a file and wait until all of it is there."""
        self.visit(path.absolute().as_uri())

    def visit(self, url: str) -> None:
        """Load what stands at an address and wait until all of it is there."""
        self.events.clear()
        self.ask("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def run(self, script: str) -> Any:
        """The value of a script that is put in from outside: a policy in the page does not stop it."""
        told = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in told:
            raise RuntimeError(told["exceptionDetails"])
        return told["result"].get("value")

    def look(self, width: int, height: int, scheme: str = "light") -> None:
        """Make the window so large [px], and the colours those that the reader prefers."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        code = {"Tab": 9, "Enter": 13}[key]
        text = {"Enter": "\r"}.get(key, "")
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **common)

    def shot(self, path: Path) -> None:
        """Keep what the window shows, as PNG."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def pdf(self) -> bytes:
        """The page as it prints."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])

    def requests(self) -> list[str]:
        """Addresses that the page has asked for, without its own."""
        asked = [
            each["params"]["request"]["url"] for each in self.events if each["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked[1:] if not url.startswith("data:")]

    def trouble(self) -> list[str]:
        """Errors and warnings of the console, violations of the page's policy among them."""
        return [json.dumps(each["params"])[:300] for each in self.events if each["method"] in _TROUBLE]


def _high(descriptor: int) -> int:
    """The same file under a number that is not 3 or 4."""
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD, 20)
    os.close(descriptor)
    return high


@contextlib.contextmanager
def browser() -> Iterator[Page]:
    """A page of a new browser, which ends afterwards.

    Errors:
        RuntimeError: there is none on this machine.
    """
    path = installed()
    if path is None:
        raise RuntimeError("no Chromium on this machine")
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    to_read, from_write = _high(to_read), _high(from_write)
    with tempfile.TemporaryDirectory() as folder:
        # A shell puts the pipes where the browser looks for them; a sandbox does not start for the user root.
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        command = [path, *_FLAGS, *root, f"--user-data-dir={folder}", "about:blank"]
        moved = f'exec "$@" 3<&{to_read} 4>&{from_write}'
        process = subprocess.Popen(
            ["bash", "-c", moved, "bash", *command], pass_fds=(to_read, from_write),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(from_write)
        try:
            page = Page(to_write, from_read)
            yield page
            with contextlib.suppress(RuntimeError, BrokenPipeError):
                page.ask("Browser.close")
            process.wait(timeout=30)
        finally:
            process.kill()
            process.wait()
