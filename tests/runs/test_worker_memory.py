"""A process that only grades forgets what it remembers when that becomes too much, and no row depends on it."""

from __future__ import annotations

import sys

import pytest

import prism
from prism.equivalence.facts import facts_of
from prism.runs import worker_memory
from prism.runs.worker_memory import Memory

SOLUTION = r"$v = \sqrt{2 g h}$ and $E = \frac{1}{2} m v^2 = m g h$"


def test_what_is_remembered_is_forgotten_beyond_a_level(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = prism.prepare("free_fall")
    before = prism.grade(prepared, SOLUTION)
    memory = Memory()
    memory.keep_level()
    assert facts_of.cache_info().currsize
    monkeypatch.setattr(worker_memory, "REMEMBERED", -sys.getallocatedblocks())
    Memory().keep_level()
    assert not facts_of.cache_info().currsize
    assert prism.grade(prepared, SOLUTION) == before  # with its cost
