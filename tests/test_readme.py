"""README is short, and its picture is the grade that PRISM gives today."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks import readme_picture

README = (Path(__file__).resolve().parents[1] / "README.md").read_text("utf-8")


def test_readme_has_at_most_150_lines() -> None:
    assert len(README.splitlines()) <= 150


def test_the_picture_is_a_grade_of_today() -> None:
    assert f"({readme_picture.PICTURE.relative_to(readme_picture.ROOT).as_posix()})" in README
    assert readme_picture.drawing() == readme_picture.PICTURE.read_text("utf-8"), "python benchmarks/readme_picture.py"


def test_the_picture_loads_nothing() -> None:
    picture = readme_picture.PICTURE.read_text("utf-8")
    assert not re.findall(r"<script|href=|url\((?!#)|@import", picture)
