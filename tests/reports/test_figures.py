"""Images of problems on a page: embedded up to a size, with their captions, and told where they are not shown."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import prism
from prism.grading.row import json_line, score_row
from prism.problem.images import ProblemImage
from prism.reports.html import problem_section
from prism.reports.html.page import html_page
from prism.reports.html.problem_section import ImageRoom
from prism.reports.summary import build_report
from tests.support.pictures import PNG

CAPTION = 'the ramp of height $h$, <b>steep</b> & "smooth"\u202e'


class Pictures(HTMLParser):
    """The attributes of each image of a page, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.images: list[dict[str, str | None]] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "img":
            self.images.append(dict(attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(folder: Path, *images: dict[str, str]) -> Pictures:
    data: dict[str, Any] = {
        "id": "ramp", "context": "A block slides down from $h$ with the gravity $g$; its speed is $v$.",
        "images": list(images),
        "grading_standard": [{"index": 1, "formula": r"v = \sqrt{2 g h}", "dependency": [], "is_final_answer": True}],
    }  # fmt: skip
    (folder / "ramp.json").write_text(json.dumps(data))
    problem = prism.load_problem(folder / "ramp.json")
    row = score_row(problem, "$v = g$", prism.grade(problem, "$v = g$", sample_id="1"))
    (folder / "rows.jsonl").write_bytes(json_line(row) + b"\n")
    found = build_report(folder / "rows.jsonl", problems=str(folder / "ramp.json"), replicates=20)
    html = html_page(found)
    assert html == html_page(found)
    assert str(folder) not in html
    return Pictures(html)


def test_an_image_is_in_the_page_with_its_caption_as_text(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    page = page_of(tmp_path, {"location": "a.png", "caption": CAPTION}, {"location": "a.png"})
    first, second = page.images
    assert first["src"] == second["src"] == prism.problem.images.image_content(
        ProblemImage("a.png", folder=tmp_path)
    ).data_url  # fmt: skip
    assert first["alt"] == CAPTION.replace("\u202e", "⟨U+202E⟩")
    assert second["alt"] == "Figure 2, without a caption"
    assert 'Figure 1: the ramp of height h, <b>steep</b> & "smooth"⟨U+202E⟩' in page.text
    assert "b" not in page.tags


def test_an_image_that_cannot_be_shown_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"<svg onload='alert(1)'/>")
    page = page_of(tmp_path, {"location": "a.png", "caption": "one"}, {"location": "b.png"}, {"location": "../c.png"})
    assert page.images == []
    assert 'Figure 1: one (image "a.png" is no PNG, JPEG, GIF or WebP)' in page.text
    assert 'Figure 2 (image "b.png": no such file beside the problem file)' in page.text
    assert 'Figure 3 (image "../c.png" leads out of the folder' in page.text


def test_a_page_has_room_for_so_many_bytes_of_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    images = [ProblemImage("a.png", folder=tmp_path)] * 3
    shown = ImageRoom(2 * len(PNG)).figures(images)
    assert [bool(one.data_url) for one in shown] == [True, True, False]
    assert "in all" in shown[2].why_absent
    monkeypatch.setattr(problem_section, "MAX_IMAGE", len(PNG) - 1)
    assert [one.data_url for one in ImageRoom().figures(images)] == ["", "", ""]
    assert problem_section.MAX_IMAGES * 4 / 3 < prism.reports.html.page.LIMIT / 2  # rollouts keep most of the page
