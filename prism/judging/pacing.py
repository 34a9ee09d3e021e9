"""How many calls are on their way at once, and how long to wait, as the endpoint says.

While an endpoint refuses (429, 503), half as many calls go out, and none before the time that it names; each reply
after that lets a little more go out again, up to what was asked for. An endpoint that tells how many calls or tokens
are left is not asked until it refuses: at 0 left the wait is that of its reset. Each model has a pace of its own.

None of it decides a result: replies are kept by what was asked, and findings follow from them alone.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping
from contextlib import asynccontextmanager, suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

FIRST_WAIT = 0.5  # seconds behind the first failure without a word on when to come back; twice that behind the next
LONGEST_OWN_WAIT = 60.0  # seconds, of those that double
LONGEST_WAIT = 600.0  # seconds that an endpoint may ask for; beyond, the run ends and says so

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_IN_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_LEFT = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("ratelimit-remaining", "ratelimit-reset"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
)
_MOST_SECONDS = 1e9  # a header that says more is a time of the clock, which is not read


def seconds_of(text: str) -> float | None:
    """Return a duration as limit headers write it: `2`, `1.5s`, `6m0s`, `250ms`; None for anything else.

    >>> seconds_of("6m0.5s"), seconds_of("20ms"), seconds_of("soon")
    (360.5, 0.02, None)
    """
    text = text.strip().lower()
    try:
        plain = float(text)
    except ValueError:
        pieces = _DURATION.findall(text)
        if not pieces or "".join(number + unit for number, unit in pieces) != text:
            return None
        plain = sum(float(number) * _IN_SECONDS[unit] for number, unit in pieces)
    return plain if math.isfinite(plain) and 0 <= plain < _MOST_SECONDS else None


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait before the next call; None where it says nothing.

    Retry-After may be a date: it is held against the date of the answer, so that no clock of this machine counts.

    >>> asked_wait({"retry-after": "3"}), asked_wait({"retry-after-ms": "1500"}), asked_wait({})
    (3.0, 1.5, None)
    """
    found = seconds_of(headers.get("retry-after-ms", ""))
    if found is not None:
        return found / 1000
    text = headers.get("retry-after", "")
    found = seconds_of(text)
    if found is not None:
        return found
    try:
        asked = parsedate_to_datetime(text) - parsedate_to_datetime(headers.get("date", ""))
    except (ValueError, TypeError):
        return None
    return max(0.0, asked.total_seconds())


def wait_for_reset(headers: Mapping[str, str]) -> float:
    """Return the seconds until a limit of which nothing is left begins anew; 0 where something is left.

    >>> wait_for_reset({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s"})
    1.0
    """
    waits = [
        seconds_of(headers.get(reset, "")) or 0.0
        for left, reset in _LEFT if (remaining := seconds_of(headers.get(left, ""))) is not None and remaining < 1
    ]  # fmt: skip
    return max(waits, default=0.0)


def own_wait(n_failed: int) -> float:
    """Return the seconds to wait behind so many failures of one call in a row, where the endpoint does not say.

    >>> own_wait(1), own_wait(3), own_wait(20)
    (0.5, 2.0, 60.0)
    """
    return float(min(FIRST_WAIT * 2 ** min(n_failed - 1, 20), LONGEST_OWN_WAIT))


class Pace:
    """The pace of the calls of one model at one endpoint.

    Attributes:
        most: calls at once that were asked for.
        width: calls at once now.
    """

    def __init__(self, most: int) -> None:
        """Begin with all that was asked for."""
        self.most = most
        self.width = float(most)
        self._active = 0
        self._not_before = 0.0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until a call may go out, and count it while it is on its way."""
        loop = asyncio.get_running_loop()
        async with self._changed:
            while self._active >= max(1, self.width // 1) or loop.time() < self._not_before:
                rest = self._not_before - loop.time()
                with suppress(TimeoutError):
                    async with asyncio.timeout(rest if rest > 0 else None):
                        await self._changed.wait()
            self._active += 1
        try:
            yield
        finally:
            async with self._changed:
                self._active -= 1
                self._changed.notify_all()

    def answered(self, headers: Mapping[str, str]) -> None:
        """Take in the headers of a reply: let more out, or wait for the reset of a limit that is used up."""
        self.width = min(float(self.most), self.width + 1 / self.width)
        self._pause(min(wait_for_reset(headers), LONGEST_WAIT))

    def refused(self, wait: float) -> None:
        """Let half as many out, and none before so many seconds."""
        self.width = max(1.0, self.width / 2)
        self._pause(wait)

    async def let_all_out(self) -> None:
        """End all waiting: nothing is going to be asked any more."""
        async with self._changed:
            self.width, self._not_before = float("inf"), 0.0
            self._changed.notify_all()

    def _pause(self, wait: float) -> None:
        """Let none out before so many seconds."""
        if wait > 0:
            self._not_before = max(self._not_before, asyncio.get_running_loop().time() + wait)
