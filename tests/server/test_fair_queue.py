"""Turns: each request has an equal share of the work, whenever it came and however much it has."""

from __future__ import annotations

from prism.server.fair_queue import FairQueue, RequestShare, VirtualTime


class Shop:
    """A queue whose values cost what they say, served one after the other."""

    def __init__(self) -> None:
        self.queue: FairQueue[str] = FairQueue()
        self.time = VirtualTime()
        self.requests: dict[str, RequestShare] = {}

    def put(self, *values: str) -> None:
        """Add values; the first letter names the request."""
        for value in values:
            request = self.requests.setdefault(value[0], RequestShare())
            self.time.enter(request)
            self.queue.put(request, value)

    def serve(self, n: int, cost: float = 100) -> list[str]:
        """Serve so many values."""
        found = []
        for _ in range(n):
            request = self.queue.next()
            assert request is not None
            found.append(self.queue.take(request))
            request.tag += cost
            self.time.spend(request, cost, cost)
            self.time.leave(request)
        return found


def test_requests_take_turns_and_each_has_its_order() -> None:
    shop = Shop()
    shop.put("a1", "a2", "a3", "b1", "b2", "c1")
    assert shop.serve(6) == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert shop.queue.next() is None
    assert len(shop.queue) == 0


def test_what_was_spent_decides_and_not_how_often() -> None:
    shop = Shop()
    shop.put("a1", "b1")
    shop.serve(1, cost=300)
    shop.serve(1, cost=100)
    shop.put("a2", "b2", "b3", "b4")
    shop.requests["a"].tag, shop.requests["b"].tag = 300, 100
    assert shop.serve(4) == ["b2", "b3", "a2", "b4"]


def test_a_large_request_has_its_share_while_small_ones_keep_coming() -> None:
    """Beside it there is always one of one value, so it has half of the turns."""
    shop = Shop()
    shop.put(*(f"a{k}" for k in range(100)))
    seen = ""
    for n in range(100):
        if not len(shop.queue.requests - {shop.requests["a"]}):
            shop.put(f"{chr(ord('b') + n)}")
        seen += shop.serve(1)[0][0]
    assert 45 <= seen.count("a") <= 55
    assert "aaa" not in seen


def test_who_comes_late_has_no_claim_on_what_was_done_before() -> None:
    shop = Shop()
    shop.put(*(f"a{k}" for k in range(20)))
    shop.serve(10)
    shop.put(*(f"b{k}" for k in range(10)))
    assert "".join(value[0] for value in shop.serve(8)).count("a") == 4


def test_a_correction_is_what_was_reserved_and_not_used() -> None:
    time, one, other = VirtualTime(), RequestShare(), RequestShare()
    time.enter(one)
    time.enter(other)
    one.tag += 50  # reserved
    time.spend(one, 10, 50)
    assert (one.tag, other.tag, time.now) == (10, 0, 5)


def test_values_can_be_removed() -> None:
    shop = Shop()
    shop.put("a1", "a2", "b1")
    a, b = shop.requests["a"], shop.requests["b"]
    assert shop.queue.remove(a, "a1")
    assert not shop.queue.remove(a, "a1")
    assert shop.queue.remove(b, "b1")
    assert not shop.queue.remove(b, "b1")
    assert shop.queue.values() == ["a2"]
    assert shop.serve(1) == ["a2"]


def test_of_a_request_the_first_value_that_fulfils_a_wish_is_taken() -> None:
    queue: FairQueue[str] = FairQueue()
    request = RequestShare()
    for value in ("a1", "b1", "a2", "c1"):
        queue.put(request, value)
    assert queue.take(request, lambda value: value.startswith("z"), lambda value: value.startswith("b")) == "b1"
    assert queue.take(request, lambda value: value == "a2") == "a2"
    assert queue.take(request, lambda value: value == "z") == "a1"
    assert queue.take(request) == "c1"
    assert queue.next() is None
