"""The number of the rules and the changelog go together: who changes a grade raises `RULES`, so that rows differ."""

from __future__ import annotations

import hashlib
from pathlib import Path

from prism.version import RULES

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"
GRADES = (
    "2f92a2e7abe9f316",
    "5ded9a784e3db3aa",
    "ed4ebdac28790a28",
    "6045cecec68a3ca0",
    "4133ea229c79fd42",
    "f3ad7d25f26c741c",
    "1c2fc5d7613fa878",
    "3536306b7f56f427",
    "638f6ae40ab0e995",
    "5e16e1cd18b99abf",
    "a48a7941a55c303f",
    "95db07feedf72f53",
    "530a2f57754068ac",
    "54349a66fb2bf67c",
    "0aedb67fbb3cee93",
    "6449ba045f0d41f5",
    "8f0467de114914ec",
    "c84a4373497beae4",
    "e0efbd638f71e2c0",
    "bf538d08913933f2",
    "117242d1cd148e78",
    "c69b5eab2e0629ff",
    "1b81ac4b4204dfbf",
    "e28b9162734b99a7",
    "4ed6cee0b088f94b",
    "bea798ee3b085ac5",
    "ad4ad4122cbd445e",
    "f77ffcaeae7df4ae",
    "773f95251269221f",
    "aed3b04f8aa91f96",
    "3ea4e6c2587bcc31",
    "17509cecfec7e532",
)
"""Digest of all that stands under Grades in the changelog, for each number of rules from 1 on."""


def digest_of_grades() -> str:
    """Return the first digits of the sha256 over all sections `### Grades`."""
    sections = CHANGELOG.read_text(encoding="utf-8").split("### Grades\n")[1:]
    text = "".join(section.partition("\n#")[0] for section in sections)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_a_change_under_grades_raises_the_number_of_the_rules() -> None:
    assert len(GRADES) == RULES, "one digest for each number of rules: append, never alter"
    assert GRADES[-1] == digest_of_grades(), (
        f"what stands under Grades has changed: raise RULES in prism/version.py and append {digest_of_grades()!r} here"
    )
