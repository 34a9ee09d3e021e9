"""How fast an endpoint is asked: what its headers say, fewer calls while it refuses, and more again behind that."""

from __future__ import annotations

import asyncio

import pytest

from prism.judging.pacing import LONGEST_OWN_WAIT, Pace, own_wait, seconds_of, wait_for_reset, wait_of_headers


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0"}, 0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "\u0667"}, 7),
    ],
)
def test_what_an_endpoint_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_of_headers(headers) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": "1m"}, 0),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m0.5s"}, 60.5),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms",
          "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "2s"}, 2),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "3"}, 3),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1772000000"}, 0),
        ({"x-ratelimit-remaining-requests": "0"}, 0),
    ],
)  # fmt: skip
def test_limit_headers(headers: dict[str, str], seconds: float) -> None:
    assert wait_for_reset(headers) == seconds


def test_waits_of_our_own_double_and_end() -> None:
    waits = [own_wait(n) for n in range(1, 12)]
    assert waits == sorted(waits)
    assert waits[:4] == [0.5, 1, 2, 4]
    assert waits[-1] == LONGEST_OWN_WAIT
    assert seconds_of("1h2m3s") == 3723


def test_refusals_halve_what_goes_out_and_replies_let_more_out_again() -> None:
    async def go() -> list[float]:
        pace = Pace(16)
        widths = []
        for _ in range(6):
            pace.refused(0)
            widths.append(pace.width)
        for _ in range(200):
            pace.answered({})
        return [*widths, pace.width]

    assert asyncio.run(go()) == [8, 4, 2, 1, 1, 1, 16]


def test_no_more_go_out_than_the_width_and_none_before_the_time() -> None:
    async def go() -> tuple[int, float]:
        loop = asyncio.get_running_loop()
        pace = Pace(3)
        active = most = 0

        async def call() -> None:
            nonlocal active, most
            async with pace.turn():
                active += 1
                most = max(most, active)
                await asyncio.sleep(0.001)
                active -= 1

        await asyncio.gather(*(call() for _ in range(20)))
        pace.answered({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "50ms"})
        began = loop.time()
        await call()
        return most, loop.time() - began

    most, waited = asyncio.run(go())
    assert most == 3
    assert waited >= 0.05
