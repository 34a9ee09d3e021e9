"""Draws: the test vector of the format, bounds, and that nothing else takes part in a value."""

from __future__ import annotations

import hashlib
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.generation.exact_values import rounded
from prism.generation.values import (
    draw_index,
    draw_integer,
    draw_log_uniform,
    draw_uniform,
    draw_unit,
    draw_weighted,
)


def test_the_vector_of_the_format() -> None:
    u = draw_unit("braking", 0, 1, "v_0")
    assert u == Fraction(6654453149154075181, 2**64)
    assert rounded(draw_uniform(u, Fraction(15), Fraction(35)), 3) == Fraction("22.2")


def test_a_draw_is_the_digest_of_its_names() -> None:
    """The twin, from the formula: SHA-256 over the parts with NUL between them."""
    key = b"prism-template-1\0" + b"a\0" + b"12\0" + b"3\0" + b"\\mu"
    wanted = int.from_bytes(hashlib.sha256(key).digest()[:8], "big")
    assert draw_unit("a", 12, 3, "\\mu") == Fraction(wanted, 2**64)


@given(st.integers(0, 2**64 - 1), st.integers(-50, 50), st.integers(1, 60))
def test_draws_stay_within_their_bounds(number: int, low: int, width: int) -> None:
    u = Fraction(number, 2**64)
    assert low <= draw_integer(u, low, low + width) <= low + width
    assert low <= draw_uniform(u, Fraction(low), Fraction(low + width)) < low + width
    assert 0 <= draw_index(u, width) < width
    bottom = Fraction(abs(low) + 1, 7)
    assert bottom * (1 - Fraction(1, 10**40)) <= draw_log_uniform(u, bottom, bottom + width)
    assert draw_log_uniform(u, bottom, bottom + width) <= (bottom + width) * (1 + Fraction(1, 10**40))


def test_all_places_are_drawn_and_the_ends_too() -> None:
    seen = {draw_integer(draw_unit("t", seed, 1, "n"), 3, 6) for seed in range(100)}
    assert seen == {3, 4, 5, 6}
    last = Fraction(2**64 - 1, 2**64)
    assert draw_integer(last, 3, 6) == 6
    assert draw_integer(Fraction(0), 3, 6) == 3


def test_the_middle_of_a_logarithmic_range_is_the_geometric_mean() -> None:
    with localcontext() as context:
        context.prec = 45
        mean = Decimal(2 * 300).sqrt()
    assert abs(draw_log_uniform(Fraction(1, 2), Fraction(2), Fraction(300)) - Fraction(mean)) < Fraction(1, 10**40)


@pytest.mark.parametrize(("u", "place"), [("0", 0), ("0.249", 0), ("0.25", 1), ("0.99", 1)])
def test_weights(u: str, place: int) -> None:
    assert draw_weighted(Fraction(u), [Fraction(1), Fraction(3)]) == place
