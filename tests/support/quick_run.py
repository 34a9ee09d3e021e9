"""What a quick run (`make test`) leaves to `make test-all`: of what repeats or searches it has a sample.

The sample is fixed: which rows are in it depends on their ids alone, so that a new row moves no other one.
"""

from __future__ import annotations

import re
from pathlib import Path

EXAMPLES = 25  # that hypothesis draws for a test which does not say how many; 100 otherwise

SHARES = {
    "test_cases.py::test_equivalence[zz_": 8,
    "test_cases.py::test_equivalence[yet_to_be_evaluated": 8,
    "test_cases.py::test_grading[guesses": 4,
    "test_linting.py::test_shipped_problems_are_clean": 6,
    "test_instances.py::test_grades_are_the_labels": 4,
    "test_template_linting.py::test_findings": 6,
    "test_chain_links.py::test_nothing_raises": 8,
    "test_damaged_parts.py::test_a_damaged_part_is_graded_again": 4,
    "test_doc_blocks.py::test_a_page_shows": 3,
}
"""Of the tests whose id begins so one in so many runs. The rows beyond algebra are four in ten of all equivalence rows,
and take nine tenths of their time."""

_SLOW_FILE = re.compile(r"(?m)^pytestmark = \[?pytest\.mark\.slow\b")


def is_slow_file(path: Path) -> bool:
    """Return True for a file of tests that are all marked `slow`."""
    return path.suffix == ".py" and _SLOW_FILE.search(path.read_text("utf-8")) is not None
