"""Turns and room: clients have equal shares, and of a client its requests, whatever each has and whenever it came."""

from __future__ import annotations

import pytest

from prism.server import fair_queue
from prism.server.fair_queue import Clients, FairQueue, Held, Share


class Shop:
    """A queue whose values cost what they say, served one after the other."""

    def __init__(self, **clients: str) -> None:
        """Begin with nothing; `a="one"` says that the request a is of the client one, which is else its own."""
        self.queue: FairQueue[str] = FairQueue()
        self.clients = Clients()
        self.client_of = clients
        self.requests: dict[str, Share] = {}

    def put(self, *values: str) -> None:
        """Add values; the first letter names the request."""
        for value in values:
            name = value[0]
            if name not in self.requests:
                self.requests[name] = self.clients.request(self.client_of.get(name, name))
            self.requests[name].enter()
            self.queue.put(self.requests[name], value)

    def serve(self, n: int, cost: float = 100) -> list[str]:
        """Serve so many values."""
        found = []
        for _ in range(n):
            request = self.queue.next()
            assert request is not None
            found.append(self.queue.take(request))
            request.reserve(cost)
            request.spend(cost, cost)
            request.leave()
        return found


ONE_CLIENT = dict.fromkeys("abcdefghijklmnopqrstuvwxyz", "one")


@pytest.mark.parametrize("clients", [{}, ONE_CLIENT], ids=["each of a client", "all of one client"])
def test_requests_take_turns_and_each_has_its_order(clients: dict[str, str]) -> None:
    shop = Shop(**clients)
    shop.put("a1", "a2", "a3", "b1", "b2", "c1")
    assert shop.serve(6) == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert shop.queue.next() is None
    assert len(shop.queue) == 0


@pytest.mark.parametrize("clients", [{}, ONE_CLIENT], ids=["each of a client", "all of one client"])
def test_what_was_spent_decides_and_not_how_often(clients: dict[str, str]) -> None:
    shop = Shop(**clients)
    shop.put("a1", "a2", "b1", "b2", "b3", "b4")
    assert shop.serve(1, cost=300) == ["a1"]
    assert shop.serve(4) == ["b1", "b2", "b3", "a2"]


def test_many_requests_of_one_client_have_the_turns_of_one() -> None:
    shop = Shop(**dict.fromkeys("abcdefghij", "many"), z="few")
    shop.put(*(f"{letter}{k}" for letter in "abcdefghij" for k in range(3)), *(f"z{k}" for k in range(10)))
    assert "".join(value[0] for value in shop.serve(20)).count("z") == 10


def test_of_a_client_the_requests_have_equal_shares() -> None:
    shop = Shop(a="one", b="one", z="other")
    shop.put(*(f"a{k}" for k in range(40)), *(f"b{k}" for k in range(40)), *(f"z{k}" for k in range(40)))
    served = "".join(value[0] for value in shop.serve(40))
    assert [served.count(letter) for letter in "abz"] == [10, 10, 20]


def test_a_large_request_has_its_share_while_small_ones_keep_coming() -> None:
    """Beside it there is always one of one value of another client, so it has half of the turns."""
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


def test_who_has_had_more_than_its_share_is_not_first_by_coming_back() -> None:
    shop = Shop(a="dear", b="dear")
    shop.put("a1", *(f"z{k}" for k in range(6)))
    assert shop.serve(1, cost=490) == ["a1"]
    shop.serve(2)
    shop.put("b1")  # a new request of the client that has had 490 where the other has had 200
    assert shop.serve(4) == ["z2", "z3", "z4", "b1"]


def test_a_correction_is_what_was_reserved_and_not_used() -> None:
    clients = Clients()
    one, other = clients.request("one"), clients.request("other")
    one.enter()
    other.enter()
    one.reserve(50)
    one.spend(10, 50)
    assert (one.rank, other.rank) == ((10, 10), (0, 0))
    assert [other.is_before(one, reserved) for reserved in (10, 11)] == [True, False]
    assert [other.is_before(one, 12, reserved) for reserved in (1, 2)] == [False, True]
    third = clients.request("third")
    third.enter()
    assert third.rank == (5, 0)  # 10 operations of two


def test_of_one_client_requests_are_compared_by_themselves() -> None:
    clients = Clients()
    first, second = clients.request("one"), clients.request("one")
    first.enter()
    second.enter()
    first.reserve(50)
    assert [second.is_before(first, reserved) for reserved in (50, 51)] == [True, False]


def test_idle_clients_are_forgotten_at_last_and_busy_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_queue, "_KEPT_CLIENTS", 2)
    clients = Clients()
    busy, idle = clients.request("busy"), clients.request("idle")
    busy.enter()
    for name in ("third", "fourth"):
        clients.request(name)
    assert clients.request("busy").client is busy.client
    assert clients.request("idle").client is not idle.client


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
    request = Clients().request("")
    for value in ("a1", "b1", "a2", "c1"):
        queue.put(request, value)
    assert queue.take(request, lambda value: value.startswith("z"), lambda value: value.startswith("b")) == "b1"
    assert queue.take(request, lambda value: value == "a2") == "a2"
    assert queue.take(request, lambda value: value == "z") == "a1"
    assert queue.take(request) == "c1"
    assert queue.next() is None


def test_a_client_has_what_is_left_and_in_any_case_an_equal_part() -> None:
    held: Held[str] = Held(12)
    held.add("a", 12)
    assert not held.has_room("a", 1)
    assert held.has_room("b", 6)
    assert not held.has_room("b", 7)
    held.add("b", 6)
    assert (held.total, held.n_client) == (18, 2)
    assert held.has_room("c", 4)
    assert not held.has_room("b", 1)
    held.add("a", -12)
    assert (held.of("a"), held.total, held.n_client) == (0, 6, 1)
    assert held.has_room("b", 6)
    assert not held.has_room("b", 7)
