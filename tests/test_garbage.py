"""The garbage collector rests while a solution is graded, and is left as it was."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

import prism
from prism.garbage import without_collection


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """Leave the collector on, whatever a test does."""
    yield
    gc.enable()


def test_the_collector_rests_and_goes_on() -> None:
    with without_collection():
        assert not gc.isenabled()
        with without_collection():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    with without_collection():
        pass
    prism.grade("free_fall", "$v = g t$")
    assert not gc.isenabled()


def test_the_collector_goes_on_after_an_exception() -> None:
    with pytest.raises(ZeroDivisionError), without_collection():
        raise ZeroDivisionError
    assert gc.isenabled()


GRADED_TWICE = r"""
import gc, prism
text = "$v = g t$, $s = \\frac{1}{2} g t^2$, $v_f = \\sqrt{2 g h} = 3$ m/s and $\\frac{$"
prism.grade("free_fall", text)
gc.collect()
prism.grade("free_fall", text.replace("3", "4"))
print(gc.collect())
"""


@pytest.mark.slow
def test_grading_leaves_no_cycles_behind() -> None:
    """In a process of its own, in which no thread of another test leaves any."""
    done = subprocess.run([sys.executable, "-c", GRADED_TWICE], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
