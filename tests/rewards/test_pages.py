"""The pages of the frameworks name metrics that there are; `tests/test_doc_blocks.py` runs what they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prism.grading.scoring import SCALARS

PAGES = sorted((Path(__file__).resolve().parents[2] / "docs" / "how-to" / "frameworks").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_names_metrics_that_there_are(page: Path) -> None:
    assert set(re.findall(r"`prism/(\w+)`", page.read_text("utf-8"))) <= {
        *SCALARS,
        "NAME",
        "prism_score",
        "steps_unplaced",
    }
