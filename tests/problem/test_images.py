"""Images of a problem file: they are found beside it and nowhere else, and nothing about them stops a load."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from prism import PrismError, load_problem, load_problems
from prism.problem import images
from prism.problem.images import MAX_IMAGES, ProblemImage, image_content, image_path
from tests.support.pictures import PNG

PROBLEM: dict[str, Any] = {
    "id": "ramp",
    "context": "A block slides down from the height $h$; $g$ is the gravity, $v$ its speed at the bottom.",
    "grading_standard": [{"index": 1, "formula": r"v = \sqrt{2 g h}", "dependency": [], "is_final_answer": True}],
}


def with_images(*entries: object) -> dict[str, Any]:
    return {**PROBLEM, "images": list(entries)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a picture in a folder of its own, and one beside it that is not to be read."""
    (tmp_path / "set" / "figures").mkdir(parents=True)
    (tmp_path / "set" / "figures" / "ramp.png").write_bytes(PNG)
    (tmp_path / "secret.png").write_bytes(PNG)
    return tmp_path / "set"


def test_an_image_stands_below_the_folder_of_its_file(folder: Path) -> None:
    file = folder / "ramp.json"
    file.write_text(json.dumps(with_images({"location": "figures/ramp.png", "caption": " the ramp "})))
    problem = load_problem(file)
    assert problem.images == (ProblemImage("figures/ramp.png", "the ramp"),)
    assert image_path(problem.images[0]) == folder / "figures" / "ramp.png"
    content = image_content(problem.images[0])
    assert (content.raw, content.media_type) == (PNG, "image/png")
    assert content.data_url.startswith("data:image/png;base64,iVBORw0KGgo")
    assert pickle.loads(pickle.dumps(problem)) == problem


def test_a_set_in_one_file_finds_its_images_beside_that_file(folder: Path) -> None:
    for name, text in (
        ("set.jsonl", json.dumps(with_images({"location": "figures/ramp.png"})) + "\n"),
        ("set.json", json.dumps([with_images({"location": "figures/ramp.png"})])),
    ):
        (folder / name).write_text(text)
        (image,) = load_problems(folder / name)["ramp"].images
        assert image_content(image).raw == PNG


def test_a_table_has_the_folder_that_is_named(folder: Path) -> None:
    data = with_images({"location": "figures/ramp.png"})
    assert image_content(load_problem(data, folder=folder).images[0]).raw == PNG
    with pytest.raises(PrismError, match="read from no file"):
        image_path(load_problem(data).images[0])


@pytest.mark.parametrize(
    "location",
    ["../secret.png", "figures/../../secret.png", "..\\secret.png", "/etc/passwd", "C:\\x.png", "C:x.png",
     "https://example.org/x.png", "file:///etc/passwd", "data:image/png;base64,AAAA", "a\0b.png"],
)  # fmt: skip
def test_what_leads_out_of_the_folder_is_a_warning_and_is_never_read(folder: Path, location: str) -> None:
    problem = load_problem(with_images({"location": location}), folder=folder)
    (warning,) = problem.warnings
    assert warning.startswith("images, entry 1, location: ")
    with pytest.raises(PrismError, match=r"leads out of|is an address|null character"):
        image_content(problem.images[0])


def test_a_link_out_of_the_folder_is_not_followed(folder: Path) -> None:
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    (folder / "inside.png").symlink_to(folder / "figures" / "ramp.png")
    (folder / "circle.png").symlink_to(folder / "circle.png")
    with pytest.raises(PrismError, match="link out of the folder"):
        image_content(ProblemImage("link.png", folder=folder))
    assert image_content(ProblemImage("inside.png", folder=folder)).raw == PNG
    with pytest.raises(PrismError, match="no such file"):
        image_content(ProblemImage("circle.png", folder=folder))


def test_a_file_says_by_its_first_bytes_what_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {
        b"\xff\xd8\xff\xe0": "image/jpeg", b"GIF89a": "image/gif", b"RIFF\0\0\0\0WEBPVP8 ": "image/webp",
    }  # fmt: skip
    for raw, kind in kinds.items():
        (folder / "one.png").write_bytes(raw)
        assert image_content(ProblemImage("one.png", folder=folder)).media_type == kind
    for raw in (b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"%PDF-1.7", b"RIFF\0\0\0\0WAVE"):
        (folder / "one.png").write_bytes(raw)
        with pytest.raises(PrismError, match=r'image "one\.png" is no PNG, JPEG, GIF or WebP'):
            image_content(ProblemImage("one.png", folder=folder))
    with pytest.raises(PrismError, match="no such file beside"):
        image_content(ProblemImage("figures", folder=folder))  # a folder
    monkeypatch.setattr(images, "MAX_BYTES", len(PNG) - 1)
    with pytest.raises(PrismError, match="longer than"):
        image_content(ProblemImage("figures/ramp.png", folder=folder))


def test_entries_that_name_no_image_are_warnings_and_left_out() -> None:
    problem = load_problem(with_images("1.png", {}, {"location": " "}, {"location": "1.png", "caption": 3, "size": 1}))
    assert [image.location for image in problem.images] == ["1.png"]
    assert [warning.partition(":")[0] for warning in problem.warnings] == [
        "images, entry 1", "images, entry 2", "images, entry 3", "images, entry 4, size", "images, entry 4, caption",
    ]  # fmt: skip
    assert load_problem({**PROBLEM, "images": "1.png"}).images == ()
    many = load_problem(with_images(*[{"location": "1.png"}] * (MAX_IMAGES + 1)))
    assert len(many.images) == MAX_IMAGES
    assert many.warnings == (f"images: {MAX_IMAGES + 1} entries; at most {MAX_IMAGES} are shown",)


def test_images_do_not_change_a_grade_s_problem() -> None:
    plain, shown = load_problem(PROBLEM), load_problem(with_images({"location": "1.png", "caption": "$v = 3$"}))
    assert (shown.context, shown.nodes, shown.dag) == (plain.context, plain.nodes, plain.dag)
    answer = load_problem({"answer": "5 m/s", "images": [{"location": "1.png"}]})
    assert [image.location for image in answer.images] == ["1.png"]
