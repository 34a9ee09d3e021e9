"""Every Python and console block of README, docs, dags and examples runs, and prints what its page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.doc_blocks import PAGES, ROOT, run_page

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_shows_what_its_blocks_print(page: Path) -> None:
    text = page.read_text("utf-8")
    shown, faults = run_page(text)
    assert not faults
    assert shown.splitlines() == text.splitlines(), (
        f"`python -m tests.support.doc_blocks --write {page.name}` renews it"
    )


def page_of(*blocks: str) -> tuple[str, list[str]]:
    return run_page("\n\n".join(blocks) + "\n")


@pytest.mark.parametrize(
    ("blocks", "fault"),
    [
        (["```python\nprint(1)\n```"], "what it prints is not shown"),
        (["```python\nx = 1\n```", "```text\n1\n```"], "prints nothing of what is shown"),
        (["```python\nimport tests\n```"], "not there after an install"),
        (["```python\nopen('dags/free_fall.toml')\n```"], "No such file"),
        (["<!-- not run: wants a GPU -->\n```python\nx =\n```"], "SyntaxError"),
        (["<!-- not run: wants a GPU -->\n```python\nfrom prism.rewards import Rewards\n```"], "has no Rewards"),
        (["<!-- not run: wants a GPU -->\n```console\n$ prism run a b -o c --wrkers 2\n```"], "No such option"),
        (["<!-- not run: wants a GPU -->\n```console\n$ prism ran a b\n```"], "No such command"),
        (["<!-- not run: slow -->\n```console\n$ make tests-all\n```"], "tests-all"),
        (["```console\n$ ls\n```"], "only prism, python FILE.py and cat are run"),
        (["```\n$ prism warm\n```"], "commands stand in a console block"),
        (["```toml\nid = \n```"], "TOMLDecodeError"),
        (["1. First:\n\n    ```python\n    x =\n    ```"], "a block is indented"),
    ],
)
def test_a_block_that_does_not_hold_is_told(blocks: list[str], fault: str) -> None:
    (found,) = page_of(*blocks)[1]
    assert fault in found


def test_outputs_are_renewed_and_those_that_fit_are_kept() -> None:
    code = "```python\nfor n in range(3):\n    print(n)\n```"
    assert page_of(code, "```text\n7\n```")[0] == f"{code}\n\n```text\n0\n1\n2\n```\n"
    assert page_of(code, "```text\n...\n```")[0] == f"{code}\n\n```text\n0\n1\n2\n```\n"
    kept = [f"{code}\n```text\n0\n...\n```", 'A file:\n\n```json title="a.json"\n{"a": 1}\n```',
            '```console\n$ cat a.json\n{"a": 1}\n```']  # fmt: skip
    assert page_of(*kept) == ("\n\n".join(kept) + "\n", [])
    assert page_of(kept[1], "```console\n$ cat a.json\nold\n```")[0].endswith('$ cat a.json\n{"a": 1}\n```\n')


def test_names_and_files_live_on_from_block_to_block() -> None:
    first = '```toml title="a.toml"\na = 1\n```'
    changed = '<!-- change a.toml to b.toml: "1" -> "2" -->\n```console\n$ cat b.toml\na = 2\n```'
    appended = "<!-- append a.toml -->\n```toml\nb = 3\n```"
    assert page_of(first, changed, appended, "```console\n$ cat a.toml\na = 1\n\nb = 3\n```")[1] == []
    assert page_of("```python\nx = 1\n```", "```python\nassert x == 1\n```")[1] == []
