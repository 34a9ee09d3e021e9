"""What the doors of frameworks share where they make rows of a data set from problems: prompts, references, images.

A row names its problem by the id that the problem set gives it, so that the reward of the same door finds it with the
same `problems=`. Images go along in the shape that the framework reads; Pillow is asked for only where there are any.

Classes that inherit from those of a framework: made on first use, since nothing here imports a framework before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from prism.errors import PrismError, importing
from prism.inputs import read_bytes
from prism.problem.collection import ProblemSet
from prism.problem.images import MAX_BYTES, image_content
from prism.problem.prompts import Prompt, make_prompts, rows_of
from prism.problem.schema import ProblemSource


def made_on_first_use(module: dict[str, Any], makers: Mapping[str, Callable[[], Any]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module (PEP 562) that makes some of its names when they are first asked for.

    Args:
        module: its `globals()`, in which what was made is kept.
        makers: what makes each name.
    """

    def load(name: str) -> Any:
        """Return a name of the module; AttributeError for any other."""
        if name not in makers:
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        if name not in module:
            made = makers[name]()
            if isinstance(made, type):
                made.__module__, made.__qualname__ = module["__name__"], name
            module.setdefault(name, made)  # two threads may come first; both take the same one
        return module[name]

    return load


Problems = ProblemSet | Mapping[str, ProblemSource]
IMAGE_MARK = "<image>"  # where an image stands in a text, for frameworks that read one text with marks


def prompts_with_ids(problems: Problems, style: str) -> list[tuple[str, Prompt]]:
    """Return id and prompt of each problem of a set, in its order.

    Errors:
        PrismError: an unknown style, all faults of the set, or all images that cannot be read.
    """
    made = make_prompts(problems, style)
    rows_of(made.values(), image_bytes)  # all faults at once, before a row is made
    return list(made.items())


def image_bytes(prompt: Prompt) -> list[bytes]:
    """Return the content of each image of a prompt.

    Errors:
        PrismError: one that cannot be read.
    """
    return [image_content(image).raw for image in prompt.images]


def opened(images: Iterable[bytes | str]) -> list[Any]:
    """Return images as objects of Pillow, from their content or their path.

    Errors:
        PrismError: a file that cannot be read or is no image; Pillow is not installed.
    """
    found = []
    for image in images:
        name = "an image" if isinstance(image, bytes) else f"image {image}"
        with importing("images need Pillow: pip install pillow"):
            pillow = import_module("PIL.Image")
        try:
            raw = image if isinstance(image, bytes) else read_bytes(Path(image), MAX_BYTES)
            read = pillow.open(BytesIO(raw))
            read.load()
        except (PrismError, OSError, SyntaxError, ValueError) as error:  # as Pillow says that a file is damaged
            raise PrismError(f"{name}: {error}") from error
        found.append(read)
    return found


def marked_text(text: str, n_images: int) -> str:
    """Return a prompt with a mark for each image before it, in a paragraph of their own."""
    return f"{IMAGE_MARK * n_images}\n\n{text}" if n_images else text
