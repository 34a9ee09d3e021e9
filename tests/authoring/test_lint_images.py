"""`prism lint` on the images of a file: those that are not there are warnings, with the line, and no fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from prism import lint
from prism.cli import app
from tests.support.pictures import PNG

TEXT = r"""
id = "ramp"
context = 'A block slides down from $h$ with the gravity $g$, as figure 1 shows. Find its speed $v$.'

[[images]]
location = "figures/ramp.png"
caption = "the ramp"

[[grading_standard]]
index = 1
formula = 'v = \sqrt{2 g h}'
dependency = []
is_final_answer = true
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "ramp.toml").write_text(TEXT)
    return tmp_path / "ramp.toml"


def test_a_missing_image_is_a_warning_at_its_line(file: Path) -> None:
    (found,) = lint(file)
    assert (found.kind, found.code, found.entry, found.field, found.line) == (
        "warning", "image", "images, entry 1", "location", 6,
    )  # fmt: skip
    assert "no such file beside the problem file" in found.text
    done = CliRunner().invoke(app, ["lint", str(file)])
    assert (done.exit_code, "1 warning" in done.stdout) == (0, True)


def test_an_image_that_is_there_is_silent_and_one_that_is_none_is_not(file: Path) -> None:
    image = file.parent / "figures" / "ramp.png"
    image.parent.mkdir()
    image.write_bytes(PNG)
    assert lint(file) == ()
    image.write_bytes(b"%PDF-1.7")
    assert [(each.code, "is no PNG" in each.text) for each in lint(file)] == [("image", True)]
