"""Who is given what: values in order, to takers that were at the same, else to the one that came last."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable

from prism.runs.affine_queue import AffineQueue


def waiting(queue: AffineQueue[str], found: dict[str, str], name: str, last: Hashable) -> threading.Thread:
    """A thread that waits for a value."""
    before = len(queue._takers)
    thread = threading.Thread(target=lambda: found.update({name: queue.get(last)}), daemon=True)
    thread.start()
    while len(queue._takers) == before:
        time.sleep(0.001)
    return thread


def test_values_that_wait_are_taken_in_order_whatever_they_are_about() -> None:
    queue: AffineQueue[str] = AffineQueue()
    for value in ("a1", "b1", "a2"):
        queue.put(value, value[0])
    assert [queue.get("b"), queue.get("b"), queue.get("b")] == ["a1", "b1", "a2"]


def test_a_value_goes_to_the_taker_that_was_at_the_same_else_to_the_last_one() -> None:
    queue: AffineQueue[str] = AffineQueue()
    found: dict[str, str] = {}
    threads = [waiting(queue, found, name, last) for name, last in (("one", "a"), ("two", "b"), ("three", "c"))]
    queue.put("b1", "b")
    queue.put("z1", "z")
    queue.put("z2", "z")
    for thread in threads:
        thread.join(5)
    assert found == {"one": "z2", "two": "b1", "three": "z1"}
