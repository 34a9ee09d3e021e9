"""Count a set of problems: its sizes, the shape of its DAGs, and its problems by domain and difficulty.

The entropy of a DAG is that of PRISM-Physics (arXiv 2510.03185), the sum over its layers of log(width); its depth is
the number of its layers. Of a problem with alternatives the first reference counts, as its difficulty is of that one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from prism.problem.dag import layers
from prism.problem.schema import Problem

LEVELS = ("Easy", "Medium", "Hard")
UNRATED, NO_DOMAIN = "(not rated)", "(not said)"

_DIGITS = 6  # of a mean or an entropy in JSON


@dataclass(frozen=True, slots=True)
class Spread:
    """How a measure is spread over the problems of a set.

    Attributes:
        total: its sum; of counts a whole number.
        low, middle, high: its lowest value, median and highest value.
        n: number of problems.
    """

    total: float
    low: float
    middle: float
    high: float
    n: int

    @property
    def mean(self) -> float:
        """Return the mean over the problems."""
        return self.total / self.n

    def to_dict(self) -> dict[str, float]:
        """Return plain values for JSON, rounded to six decimals."""
        numbers = {
            "total": self.total, "mean": self.mean, "lowest": self.low, "median": self.middle, "highest": self.high,
        }  # fmt: skip
        return {name: value if isinstance(value, int) else round(value, _DIGITS) for name, value in numbers.items()}


MEASURES: Mapping[str, Callable[[Problem], float]] = {
    "nodes": lambda problem: len(problem.nodes),
    "edges": lambda problem: sum(len(node.prerequisites) for node in problem.dag.nodes),
    "depth": lambda problem: len(layers(problem.dag)),
    "entropy": lambda problem: problem.difficulty.entropy,
    "final answers": lambda problem: len(problem.dag.finals),
    "parts": lambda problem: len(problem.subquestions),
    "alternatives": lambda problem: len(problem.alternatives),
    "worked solutions": lambda problem: len(problem.students),
}
"""What is counted of each problem."""


@dataclass(frozen=True, slots=True)
class SetCounts:
    """Counts of a set of problems.

    Attributes:
        n: number of problems; those below are over all of them.
        spreads: of `MEASURES`, by name.
        domains: domain -> level -> number of problems, the domains by name; `LEVELS` and `UNRATED` are the levels.
        subtopics: (domain, subtopic) -> number of problems, of those that name a subtopic.
        forms: number of final answers by the form that their part asks for, empty where it asks for none.
        sha256: problem id -> sha256, which says what was counted.
    """

    n: int
    spreads: Mapping[str, Spread]
    domains: Mapping[str, Mapping[str, int]]
    subtopics: Mapping[tuple[str, str], int]
    forms: Mapping[str, int]
    sha256: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values for JSON."""
        return {
            "problems": self.n, "measures": {name: one.to_dict() for name, one in self.spreads.items()},
            "domains": {name: dict(levels) for name, levels in self.domains.items()},
            "subtopics": [
                {"domain": domain, "subtopic": name, "problems": n} for (domain, name), n in self.subtopics.items()
            ],
            "final_answer_forms": dict(self.forms), "sha256": dict(self.sha256),
        }  # fmt: skip


def count_problems(problems: Iterable[Problem]) -> SetCounts:
    """Count a set of one or more problems."""
    found = sorted(problems, key=lambda one: one.id)
    levels: dict[str, Counter[str]] = {}
    for one in found:
        levels.setdefault(one.domain or NO_DOMAIN, Counter())[one.difficulty.level or UNRATED] += 1
    forms = Counter(form for one in found for form in _final_forms(one))
    topics = Counter((one.domain or NO_DOMAIN, one.subtopic) for one in found if one.subtopic)
    return SetCounts(
        n=len(found), spreads={name: _spread_of([measure(one) for one in found]) for name, measure in MEASURES.items()},
        domains={name: {level: levels[name][level] for level in (*LEVELS, UNRATED)} for name in sorted(levels)},
        subtopics=dict(sorted(topics.items())), forms=dict(sorted(forms.items())),
        sha256={one.id: one.sha256 for one in found},
    )  # fmt: skip


def _spread_of(values: list[float]) -> Spread:
    """Return how values are spread; their sum is exact, whatever their order."""
    middle = median(values)
    if all(isinstance(value, int) for value in values):
        return Spread(sum(values), min(values), int(middle) if middle == int(middle) else middle, max(values),
                      len(values))  # fmt: skip
    return Spread(math.fsum(values), min(values), middle, max(values), len(values))


def _final_forms(problem: Problem) -> list[str]:
    """Return for each final answer the form that its part asks for; of an unlettered one the only part's, or none."""
    forms = {part.letter: part.final_answer_form for part in problem.subquestions}
    shared = next(iter(forms.values())) if len(set(forms.values())) == 1 else ""
    return [forms.get(node.subquestion, "") or shared for node in problem.nodes if node.is_final]
