"""Who is given what: values in order, to takers that were at the same, else to the one that came last."""

from __future__ import annotations

from prism.runs.affine_queue import AffineQueue


def test_values_that_wait_are_taken_in_order_whatever_they_are_about() -> None:
    queue: AffineQueue[str] = AffineQueue()
    for value in ("a1", "b1", "a2"):
        queue.put(value, value[0])
    assert [queue.ask("b").result(0) for _ in range(3)] == ["a1", "b1", "a2"]


def test_a_value_goes_to_the_taker_that_was_at_the_same_else_to_the_last_one() -> None:
    queue: AffineQueue[str] = AffineQueue()
    one, two, three = (queue.ask(last) for last in "abc")
    queue.put("b1", "b")
    queue.put("z1", "z")
    assert (one.done(), two.result(0), three.result(0)) == (False, "b1", "z1")
    queue.put("z2", "z")
    queue.put("z3", "z")
    assert one.result(0) == "z2"
    assert queue.ask("a").result(0) == "z3"
