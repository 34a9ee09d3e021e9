"""The images of problems on a page: embedded as `data:` URLs, up to a size, with their captions as text beside them.

A page loads nothing, so an image is in it or is not shown; one that is left out says why. The limit counts for the page
as a whole: what problems show is always there, and rollouts share what is left of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prism.errors import PrismError
from prism.problem.images import ProblemImage, image_content

MAX_IMAGE = 1_000_000  # bytes of an image on a page; a larger one is a scan or a photograph that nobody made smaller
MAX_IMAGES = 3_000_000  # bytes of all images of a page, which leaves most of it for rollouts


@dataclass(frozen=True, slots=True)
class Figure:
    """An image of a problem on a page.

    Attributes:
        number: of the image in its problem, from 1.
        caption: empty if the problem file has none.
        alt: what stands in its place for who cannot see it.
        data_url: the image; empty if it is not shown.
        why_absent: why it is not shown, in words; empty if it is.
    """

    number: int
    caption: str
    alt: str
    data_url: str
    why_absent: str


class ImageRoom:
    """The bytes that images of one page may still take."""

    def __init__(self, left: int = MAX_IMAGES) -> None:
        """Begin with all of the room."""
        self.left = left

    def figures(self, images: Sequence[ProblemImage]) -> tuple[Figure, ...]:
        """Return the images of a problem as figures; those that are shown take their bytes of the room."""
        return tuple(self._figure(number, image) for number, image in enumerate(images, start=1))

    def _figure(self, number: int, image: ProblemImage) -> Figure:
        """Return an image as a figure, or as the note that and why it is not shown."""
        alt = image.caption or f"Figure {number}, without a caption"
        try:
            content = image_content(image)
        except PrismError as error:
            return Figure(number, image.caption, alt, "", str(error))
        size = len(content.raw)
        if size > MAX_IMAGE:
            why = f"image {image.location} is left out: {size} bytes; a page shows up to {MAX_IMAGE}"
        elif size > self.left:
            why = f"image {image.location} is left out: the images of a page may have {MAX_IMAGES} bytes in all"
        else:
            self.left -= size
            return Figure(number, image.caption, alt, content.data_url, "")
        return Figure(number, image.caption, alt, "", why)
