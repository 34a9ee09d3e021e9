"""What a run may spend: calls, tokens, money; and what it has spent.

All that the file of replies holds for this run counts, not only what this call of the command has asked: a run that is
killed and goes on has one purse. What is on its way is counted by an estimate, so that calls at once do not run past a
limit together; a reply may still be longer than estimated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from prism.grading.row import json_line
from prism.judging.replies import Reply

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
