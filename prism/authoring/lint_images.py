"""Check the images of a problem: is each a file beside the problem file that a page and a model can show."""

from __future__ import annotations

from collections.abc import Iterator

from prism.authoring.lint_findings import LintFinding, warning
from prism.errors import PrismError
from prism.problem.images import image_content, is_beside
from prism.problem.schema import Problem


def check_images(problem: Problem) -> Iterator[LintFinding]:
    """Yield a warning for each image that is not there or cannot be shown, and one that has no caption.

    A location out of the folder is a warning of the load already; without a folder no file is looked for.
    """
    for place, image in enumerate(problem.images, start=1):
        entry = f"images, entry {place}"
        if image.folder is not None and is_beside(image):
            try:
                image_content(image)
            except PrismError as error:
                yield warning("image", entry, "location", str(error))
        if not image.caption:
            text = (
                "has no caption: a model that reads text only, and a reader who sees no pictures, learns nothing of it"
            )
            yield LintFinding("note", "image", entry, "caption", text)
