"""Settings that hold for every test: hypothesis draws the same examples on every machine.

`HYPOTHESIS_PROFILE=explore` draws new ones, for a person who hunts a fault by hand. `--one-row-in=5` runs a fifth of
the equivalence rows, where each takes long: interpreted and with coverage.
"""

from __future__ import annotations

import os
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,  # the first example may load compiled kernels
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", settings.get_profile("ci"), derandomize=False, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--one-row-in", type=int, default=1, metavar="N", help="of the equivalence rows run one in N, chosen by its id"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Which rows are left out depends on their ids alone: a new row moves no other one."""
    share = config.getoption("one_row_in")
    left_out = [
        item
        for item in items
        if item.nodeid.partition("[")[0].endswith("test_cases.py::test_equivalence")
        and crc32(item.name.encode()) % share
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
