"""How many calls are on their way at once, and how long to wait, as the endpoint says.

While an endpoint refuses (429, 503), half as many calls go out, and none before the time that it names; each reply
after that lets a little more go out again, up to what was asked for. An endpoint that tells how many calls or tokens
are left is not asked until it refuses: at 0 left the wait is that of its reset. Each model has a pace of its own.

None of it decides a result: replies are kept by what was asked, and findings follow from them alone.

What a run may spend: calls, tokens, money; and what it has spent.

All that the file of replies holds for this run counts, not only what this call of the command has asked: a run that is
killed and goes on has one purse. What is on its way is counted by an estimate, so that calls at once do not run past a
limit together; a reply may still be longer than estimated.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from prism.grading.row import json_line
from prism.judging.replies import Reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

BYTES_A_TOKEN = 3  # of a prompt, for the estimate of what is on its way
TOKENS_OF_REPLY = 500  # the same, where nothing bounds a reply
_MILLION = 1_000_000
_BOUNDS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in and out; None where it was not said."""

    tokens_in: Fraction | None = None
    tokens_out: Fraction | None = None

    def cost(self, tokens_in: int, tokens_out: int) -> Fraction | None:
        """Return what tokens cost; None without prices.

        >>> Prices(Fraction(3), Fraction(15)).cost(1_000_000, 100_000)
        Fraction(9, 2)
        """
        if self.tokens_in is None and self.tokens_out is None:
            return None
        prices = self.tokens_in or Fraction(0), self.tokens_out or Fraction(0)
        return (prices[0] * tokens_in + prices[1] * tokens_out) / _MILLION


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may spend; None for no bound."""

    calls: int | None = None
    tokens: int | None = None
    money: Fraction | None = None


@dataclass(slots=True)
class Purse:
    """What was spent, and what is on its way.

    Attributes:
        calls, tokens_in, tokens_out: of replies, and of calls that may have been answered.
        seconds: of the replies, added up.
        reached: the limit that a request would have gone past: `calls`, `tokens` or `money`; empty before.
    """

    limits: Limits
    prices: Prices
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    reached: str = ""

    def add(self, replies: Iterable[Reply]) -> None:
        """Count replies."""
        for reply in replies:
            self.calls += 1
            self.tokens_in += reply.tokens_in or 0
            self.tokens_out += reply.tokens_out or 0
            self.seconds += reply.seconds or 0.0

    @property
    def money(self) -> Fraction | None:
        """What it costs; None without prices."""
        return self.prices.cost(self.tokens_in, self.tokens_out)

    def reserve(self, body: Mapping[str, Any]) -> Reservation | None:
        """Set aside what a request may cost; None, and nothing set aside, where that would go past a limit."""
        wanted = Reservation(len(json_line(body["messages"])) // BYTES_A_TOKEN, _most_of_reply(body))
        tokens = self.tokens_in + self.tokens_out + wanted.tokens_in + wanted.tokens_out
        money = self.prices.cost(self.tokens_in + wanted.tokens_in, self.tokens_out + wanted.tokens_out)
        for name, spent, limit in (
            ("calls", self.calls + 1, self.limits.calls), ("tokens", tokens, self.limits.tokens),
            ("money", money, self.limits.money),
        ):  # fmt: skip
            if limit is not None and spent is not None and spent > limit:
                self.reached = name
                return None
        self._count_estimate(wanted, 1)
        return wanted

    def settle(self, reserved: Reservation, reply: Reply | None, *, was_sent: bool = True) -> None:
        """Count what a request has cost in place of what was set aside; of one that was not sent, nothing."""
        self._count_estimate(reserved, -1)
        if reply is not None:
            self.add([reply])
        elif was_sent:
            self.calls += 1

    def _count_estimate(self, reserved: Reservation, sign: int) -> None:
        """Count an estimate, or take it back."""
        self.calls += sign
        self.tokens_in += sign * reserved.tokens_in
        self.tokens_out += sign * reserved.tokens_out


@dataclass(frozen=True, slots=True)
class Reservation:
    """Tokens that a request is estimated to take."""

    tokens_in: int
    tokens_out: int


def _most_of_reply(body: Mapping[str, Any]) -> int:
    """Return the tokens that a reply is estimated to take: its bound, where the request has one."""
    bounds = [value for name in _BOUNDS if isinstance(value := body.get(name), int)]
    return min(bounds, default=TOKENS_OF_REPLY)


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


def wait_of_headers(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait before the next call; None where it says nothing.

    Retry-After may be a date: it is held against the date of the answer, so that no clock of this machine counts.

    >>> wait_of_headers({"retry-after": "3"}), wait_of_headers({"retry-after-ms": "1500"}), wait_of_headers({})
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
