"""What a quick run (`make test`) leaves to `make test-all`: of what repeats or searches it has a sample.

A test of many cases, of a row each or of a problem each, runs a few of them. Which ones depends on their ids alone, so
that a new row moves no other one. What takes half a second by itself is marked `slow` where it stands.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from zlib import crc32

import pytest

EXAMPLES = 15  # that hypothesis draws for a test which does not say how many; 100 otherwise
SHARE = 12  # one case in so many of a test that has more than FEW
FEW = 6

SHARES = {
    "test_cases.py::test_equivalence[zz_": 8,
    "test_cases.py::test_equivalence[yet_to_be_evaluated": 8,
}
"""One in so many of the rows beyond algebra, which take nine tenths of the time of all equivalence rows."""

_SLOW_FILE = re.compile(r"(?m)^pytestmark = \[?pytest\.mark\.slow\b")


def is_slow_file(path: Path) -> bool:
    """Return True for a file of tests that are all marked `slow`."""
    return path.suffix == ".py" and _SLOW_FILE.search(path.read_text("utf-8")) is not None


def left_out(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the cases that a quick run has not."""
    tests = [item.nodeid.partition("[")[0] for item in items]
    cases = Counter(tests)
    shares = [
        next((share for start, share in SHARES.items() if start in item.nodeid), SHARE if cases[test] > FEW else 1)
        for item, test in zip(items, tests, strict=True)
    ]
    return {item for item, share in zip(items, shares, strict=True) if crc32(item.name.encode()) % share}
