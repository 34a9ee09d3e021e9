"""Find the stages of a solution by their tags: `###### FINAL_ANSWER ######` ... `###### END_STEP ######`.

The paper's text has END_STAGE for the end tag and its prompt END_STEP; both are read, and tags without blanks inside.
A stage without an end tag ends where the next one begins, or with the text. Tags in a thinking block are none: the
solution is what follows it.

Source: EngVQA / EngJudge, arXiv 2606.10833.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from prism.inputs import nearest_name, shown
from prism.latex import SolutionText
from prism.latex.extraction.blocks import blank_spans
from prism.latex.extraction.masking import thinking_spans
from prism.protocols.engjudge_topology import NAMES

_TAG = re.compile(r"#{6}[ \t]*+([A-Z]++(?:_[A-Z]++)*+)[ \t]*+#{6}")
_ENDS = frozenset(("END_STEP", "END_STAGE"))
_MOST_UNKNOWN = 5  # tags that name no stage, of which each is told


@dataclass(frozen=True, slots=True)
class TaggedStages:
    """The stages of a solution.

    Attributes:
        spans: of each stage that the text has, by name in the order of the stages: where its text begins and ends,
            once for each time that it is opened.
        notes: tags that do not fit: unknown, open to the end, opened twice, without text.
    """

    spans: Mapping[str, tuple[tuple[int, int], ...]]
    notes: tuple[str, ...] = ()

    @property
    def has_tags(self) -> bool:
        """Whether any stage is there."""
        return bool(self.spans)


def stages_of(solution: SolutionText) -> TaggedStages:
    """Return the stages that a solution has by its tags, outside of its thinking blocks."""
    return find_stages(blank_spans(solution.text, sorted([*thinking_spans(solution.text), *solution.thinking])))


def find_stages(text: str) -> TaggedStages:
    """Return the stages that a text has by its tags.

    >>> find_stages("###### FINAL_ANSWER ###### a = 2 ###### END_STEP ######").spans
    {'FINAL_ANSWER': ((26, 33),)}
    """
    found: dict[str, list[tuple[int, int]]] = {}
    notes: list[str] = []
    unknown: dict[str, None] = {}
    opened: tuple[str, int] | None = None
    for tag in _TAG.finditer(text):
        is_end = tag[1] in _ENDS
        if not is_end and tag[1] not in NAMES:
            unknown[tag[1]] = None
            continue
        if opened is not None:
            found.setdefault(opened[0], []).append((opened[1], tag.start()))
            if not is_end:
                notes.append(f"tags: {opened[0]} has no end tag; it ends where {tag[1]} begins")
        opened = None if is_end else (tag[1], tag.end())
    if opened is not None:
        found.setdefault(opened[0], []).append((opened[1], len(text)))
        notes.append(f"tags: {opened[0]} has no end tag; it ends with the text")
    for name in list(unknown)[:_MOST_UNKNOWN]:
        near = nearest_name(name, NAMES)
        notes.append(f"tags: {shown(name)} is no stage{f'; {near} is near' if near else ''}")
    notes += [f"tags: {name} is opened {len(spans)} times" for name, spans in found.items() if len(spans) > 1]
    notes += [
        f"tags: {name} has no text"
        for name, spans in found.items()
        if not any(text[start:end].strip() for start, end in spans)
    ]
    return TaggedStages({name: tuple(found[name]) for name in NAMES if name in found}, tuple(notes))
