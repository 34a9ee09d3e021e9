"""The folder that a desk works on: its problem files, solutions, runs, and what is kept between two requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from prism.desk.author import History
from prism.desk.edits import has_nodes
from prism.desk.files import file_in, names_in, read_version
from prism.desk.marking import GradeStore
from prism.errors import PrismError
from prism.inputs import parse_toml
from prism.problem.review import NOT_DRAFTED, Review, review_of
from prism.problem.source import NODE_LISTS


@dataclass(frozen=True, slots=True)
class ProblemLine:
    """A problem file in the list: its name, title, number of nodes, and what is open; `fault` if it cannot be read."""

    name: str
    title: str = ""
    n_node: int = 0
    review: Review = NOT_DRAFTED
    fault: str = ""


@dataclass(slots=True)
class Desk:
    """What the requests of a desk share.

    Attributes:
        folder: that it works on.
        history: versions that edits have replaced.
        grades: of solutions, kept while the desk runs.
        marker: name under which something was last certified, corrected or adjudicated.
    """

    folder: Path
    history: History = field(default_factory=History)
    grades: GradeStore = field(default_factory=GradeStore)
    marker: str = ""

    def problem_path(self, name: str) -> Path:
        """Return the path of a problem file of the folder.

        Errors:
            PrismError: there is none of this name.
        """
        return file_in(self.folder, name, ".toml")

    def problem_lines(self) -> Iterator[ProblemLine]:
        """Yield the problem files of the folder; other TOML files are passed over."""
        for name in names_in(self.folder, ".toml"):
            try:
                data = parse_toml(read_version(self.folder / name).text)
            except PrismError as error:
                yield ProblemLine(name, fault=str(error))
                continue
            if has_nodes(data):
                n_node = next(len(value) for key in NODE_LISTS if isinstance(value := data.get(key), list))
                title = str(data.get("title") or data.get("id") or name)
                yield ProblemLine(name, title, n_node, review_of(data))
