"""The stages of EngJudge and the graphs over which a stage takes over the faults of those before it.

The paper's figure with the edges of the graph cannot be read in its source, so the graph is data: three are named here,
and a file brings any other. What the text says holds in the default: PC and AS affect all later stages, VI feeds ES, ES
and LR feed AA, AA feeds FA, and PI feeds nothing (its section D.3.2; its Appendix A has PI feed FA).

Source: EngVQA / EngJudge, arXiv 2606.10833.

Find the stages of a solution by their tags: `###### FINAL_ANSWER ######` ... `###### END_STEP ######`.

The paper's text has END_STAGE for the end tag and its prompt END_STEP; both are read, and tags without blanks inside.
A stage without an end tag ends where the next one begins, or with the text. Tags in a thinking block are none: the
solution is what follows it.

Source: EngVQA / EngJudge, arXiv 2606.10833.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any

from prism.errors import DataFileError, named_type, raise_faults
from prism.inputs import decode, did_you_mean, nearest_name, parse_json, parse_toml, read_bytes, shown
from prism.latex import SolutionText
from prism.latex.extraction.blocks import blank_spans
from prism.latex.extraction.masking import thinking_spans
from prism.problem.prompts import STAGES

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


NAMES = tuple(STAGES)
"""The stages in order, by their full names."""

SHORT_NAMES = dict(zip(("PC", "AS", "VI", "ES", "LR", "AA", "PI", "FA"), NAMES, strict=True))
"""The stages by the initials that the paper has for them."""

_MOST_BYTES = 100_000  # of a file with a topology: eight stages need some hundred


@dataclass(frozen=True, slots=True)
class Topology:
    """A graph over the eight stages.

    Attributes:
        name: a key of `TOPOLOGIES`, or the name of a file.
        parents: the stages that each stage follows from, by name; a stage without any is a root.
        order: all stages, each behind its parents.
    """

    name: str
    parents: Mapping[str, tuple[str, ...]]
    order: tuple[str, ...]

    def to_dict(self) -> dict[str, list[str]]:
        """Return the parents of each stage by initials, as a file has them."""
        short = {name: initials for initials, name in SHORT_NAMES.items()}
        return {short[name]: [short[parent] for parent in self.parents[name]] for name in NAMES}


def stage_name(text: str) -> str | None:
    """Return the full name of a stage for its initials or its full name; None for anything else."""
    return SHORT_NAMES.get(text, text if text in STAGES else None)


def read_topology(source: Mapping[str, Any], name: str) -> Topology:
    """Return a graph from the parents of each stage; a stage that is not named is a root.

    Args:
        source: lists of stages by stage, full names or initials: `{"AS": ["PC"], "FA": ["AA"]}`.
        name: what it is called; faults begin with it.

    Errors:
        DataFileError: unknown stages, values that are no lists of stages, a cycle; all faults at once.

    >>> read_topology({"AS": ["PC"], "VI": ["AS"]}, "two").parents["VISUAL_INTERPRETATION"]
    ('ASSUMPTIONS',)
    """
    parents: dict[str, tuple[str, ...]] = dict.fromkeys(NAMES, ())
    faults: list[str] = []
    seen: set[str] = set()
    for key, listed in source.items():
        stage = stage_name(key)
        if stage is None:
            faults.append(f"{shown(key)} is no stage{did_you_mean(key, (*SHORT_NAMES, *NAMES))}")
            continue
        if stage in seen:
            faults.append(f"{key}: named twice, by its name and by its initials")
        seen.add(stage)
        if not isinstance(listed, list | tuple):
            faults.append(f"{key}: found {named_type(listed)}; expected a list of stages")
            continue
        found = [stage_name(each) if isinstance(each, str) else None for each in listed]
        faults += [f"{key}: {shown(each)} is no stage" for each, known in zip(listed, found, strict=True) if not known]
        parents[stage] = tuple(dict.fromkeys(each for each in found if each is not None))
    try:
        order = tuple(TopologicalSorter({name: parents[name] for name in NAMES}).static_order())
    except CycleError as error:
        faults.append(f"the stages {' <- '.join(error.args[1])} follow from each other")
    raise_faults(faults, name)
    return Topology(name, parents, order)


def load_topology(text: str) -> Topology:
    """Return a named topology, or the one in a JSON or TOML file.

    Errors:
        DataFileError: no such name or file, a file that is no table, or one with the faults of `read_topology`.
    """
    if text in TOPOLOGIES:
        return TOPOLOGIES[text]
    path = Path(text)
    if not path.exists():
        why = f"no topology and no file; topologies are {', '.join(TOPOLOGIES)}{did_you_mean(text, TOPOLOGIES)}"
        raise DataFileError(text, (why,))
    try:
        content = decode(read_bytes(path, _MOST_BYTES))
        source = parse_toml(content) if path.suffix == ".toml" else parse_json(content)
    except DataFileError:
        raise
    except ValueError as error:
        raise DataFileError(text, (str(error),)) from error
    if not isinstance(source, Mapping):
        raise DataFileError(text, (f"found {named_type(source)}; expected lists of stages by stage",))
    return read_topology(source, text)


TOPOLOGIES = {
    "default": read_topology(
        {
            "AS": ["PC"], "VI": ["PC", "AS"], "ES": ["AS", "VI"], "LR": ["AS", "ES"], "AA": ["ES", "LR"],
            "PI": ["AS", "ES"], "FA": ["AA"],
        },
        "default",
    ),
    "flat": read_topology({}, "flat"),
    "linear": read_topology({after: [before] for before, after in pairwise(SHORT_NAMES)}, "linear"),
}  # fmt: skip
"""The named topologies: ours for what the paper says, and its two controls."""
