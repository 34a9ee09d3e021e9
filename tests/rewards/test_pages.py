"""The pages of the frameworks: blocks marked `run` need none of them, are run, and print what stands below them.

After a change of an output, `python -m tests.rewards.test_pages` writes the pages anew; read what it changed.
"""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import prism.rewards
from prism.grading.scoring import SCALARS

PAGES = sorted((Path(__file__).resolve().parents[2] / "examples" / "rewards").glob("*.md"))
BLOCK = re.compile(r"<!-- run -->\n```python\n(?P<code>.*?)```\n```text\n(?P<output>.*?)```", re.DOTALL)


def rewritten(page: str) -> str:
    """The page with what its blocks print now."""

    def block(found: re.Match[str]) -> str:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(found["code"], "page", "exec"), {"__name__": "page"})
        return f"<!-- run -->\n```python\n{found['code']}```\n```text\n{printed.getvalue()}```"

    return BLOCK.sub(block, page)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_shows_what_its_blocks_print(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("<!-- run -->") == len(BLOCK.findall(text)) >= 1
    assert rewritten(text) == text


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_names_what_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    root = page.parents[2]
    assert all((root / name).exists() for name in re.findall(r"`(examples/[\w/.]+)`", text))
    assert all(hasattr(prism.rewards, name) for name in re.findall(r"from prism\.rewards import (\w+)", text))
    assert set(re.findall(r"`prism/(\w+)`", text)) <= {*SCALARS, "NAME"}


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
