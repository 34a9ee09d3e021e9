"""The counter of `benchmarks/lines.py`: what is a line of code, a memory and a pattern."""

from __future__ import annotations

import ast

from benchmarks.lines import lines_of_code, memories, patterns

MODULE = '''"""A docstring
of two lines."""

import re
from functools import lru_cache

KNOWN: dict[str, int] = {}  # a memory
FIXED = ("a", "b")

# a comment


@lru_cache
def found(
    text: str,
) -> str:
    """Another docstring."""
    return re.sub("a", """b
    c""", text)
'''


def test_comments_blank_lines_and_docstrings_are_no_code() -> None:
    assert lines_of_code(MODULE) == 10


def test_what_keeps_results_or_can_be_changed_is_a_memory() -> None:
    assert memories(ast.parse(MODULE)) == 2


def test_calls_of_re_are_patterns() -> None:
    assert patterns(ast.parse(MODULE)) == 1
