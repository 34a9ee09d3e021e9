"""Settings that hold for every test: hypothesis draws the same examples on every machine.

`HYPOTHESIS_PROFILE=explore` draws new ones, for a person who hunts a fault by hand. `--one-row-in=5` runs a fifth of
the equivalence rows, where each takes long: interpreted and with coverage. Of the attacks on
problems, and of the properties of claims on their students, one in five runs unless `--all-attacks` is given.

`--quick` is for the run that a newcomer waits for (`make test`): one case in twelve of a test that has many, all else
that is not `slow`, and fewer examples of hypothesis (`tests/support/quick_run.py`). Files that are slow as a whole are
not even imported. `make test-all` runs everything.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from tests.support import case_rows, quick_run

for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):  # tables are those that nobody's terminal has bent
    os.environ.pop(name, None)

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,  # the first example may load compiled kernels
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", settings.get_profile("ci"), derandomize=False, max_examples=2000)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=quick_run.EXAMPLES)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


ATTACKS_LEFT = 5  # one attack in so many runs by default; the evidence has them all
_ROWS = ("test_cases.py::test_equivalence",)
_COMPILED_ROWS = ("identities_and_zeros:integral-that-is-zero",)  # its quadrature takes 23 million operations
_ATTACKS = ("test_attacks.py::test_no_gain", "test_selection_properties.py::")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--one-row-in", type=int, default=1, metavar="N", help="of the slow rows run one in N, chosen by its id"
    )
    parser.addoption("--all-attacks", action="store_true", help="run every attack on every problem")
    parser.addoption("--quick", action="store_true", help="run a sample of the tests that repeat or search")


def pytest_configure(config: pytest.Config) -> None:
    """Fewer examples, before any test is made of them."""
    if config.getoption("quick") and "HYPOTHESIS_PROFILE" not in os.environ:
        settings.load_profile("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file whose tests are all slow is not imported for a quick run."""
    return True if config.getoption("quick") and quick_run.is_slow_file(collection_path) else None


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """`-k ID` with the id of a row runs that row only, in this process: nothing else is collected, no worker starts.

    A path on the command line is collected as it stands.
    """
    files = case_rows.files_with(config.option.keyword)
    if files and config.args_source is not pytest.Config.ArgsSource.ARGS:
        case_rows.asked_files = frozenset(files)
        config.args[:] = case_rows.tests_of(files)
        config.option.numprocesses = 0
        places = ", ".join(path.relative_to(case_rows.TESTS.parent).as_posix() for path in files)
        sys.stderr.write(f"row {config.option.keyword} of {places}; name a path to run other tests\n")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Which rows are left out depends on their ids alone: a new row moves no other one."""
    for item in items:
        if any(row in item.name for row in _COMPILED_ROWS):
            item.add_marker(pytest.mark.compiled)
    shares = dict.fromkeys(_ROWS, config.getoption("one_row_in"))
    if not config.getoption("all_attacks"):
        shares |= dict.fromkeys(_ATTACKS, ATTACKS_LEFT)
    left_out = {
        item
        for item in items
        for test, share in shares.items()
        if test in item.nodeid and crc32(item.name.encode()) % share
    }
    if config.getoption("quick"):
        left_out |= quick_run.left_out(items)
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]
