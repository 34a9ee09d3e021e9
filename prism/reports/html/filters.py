"""Filters of a page without scripts: radio buttons, and style rules that hide what is not of the chosen kind.

A rule is `body:has(#m-2:checked) .rollout:not(.m-2) {display: none}`: a browser that does not know `:has` shows all, as
does print. Figures and drawings stay those of all rollouts, and the page says so. They need no script, unlike the
sorting of tables (`tables.js`), so that they work where a mail program or a policy lets none run.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from markupsafe import Markup

from prism.problem.schema import Problem
from prism.reports.report_rows import NOT_SAID, UNRATED, ReportRow
from prism.reports.summary import Report

_MAX_CHOICES = 30  # buttons of a filter; of more kinds none is offered
_OUTCOMES = {"full": "all points", "part": "some points", "none": "no points", "failed": "no score"}
_FINALS = {"right": "right", "wrong": "not right"}


@dataclass(frozen=True, slots=True)
class Choice:
    """A button of a filter: its id, which is also the class of what it shows, its label, and how many it shows."""

    id: str
    label: str
    n: int


@dataclass(frozen=True, slots=True)
class Filter:
    """A group of buttons, of which one is chosen; `what` is what they count, such as `rollouts`."""

    name: str
    legend: str
    what: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of a page.

    Attributes:
        groups: those that have at least two kinds to choose from.
        rules: style rules of the kinds that are not the same on every page.
        models, domains, levels: names in the order of their buttons.
    """

    groups: tuple[Filter, ...]
    rules: Markup
    models: tuple[str, ...]
    domains: tuple[str, ...]
    levels: tuple[str, ...]

    def rollout_marks(self, row: ReportRow) -> str:
        """Return the classes of a rollout."""
        model = self.models.index(row.model or NOT_SAID) + 1
        return f"o-{outcome_of(row)} f-{'right' if row.grade.final_correct else 'wrong'} m-{model}"

    def problem_marks(self, problem: Problem | None) -> str:
        """Return the classes of a problem."""
        domain = self.domains.index(_domain_of(problem)) + 1
        return f"d-{domain} l-{self.levels.index(_level_of(problem)) + 1}"


def make_filters(found: Report) -> Filters:
    """Find the kinds of rollouts and problems that a page can be filtered by."""
    outcomes = Counter(outcome_of(row) for row in found.rows)
    finals = Counter("right" if row.grade.final_correct else "wrong" for row in found.rows)
    models = Counter(row.model or NOT_SAID for row in found.rows)
    domains = Counter(_domain_of(each.problem) for each in found.problems)
    levels = Counter(_level_of(each.problem) for each in found.problems)
    numbered = (("m", "Model", "rollouts", models), ("d", "Domain", "problems", domains),
                ("l", "Difficulty", "problems", levels))  # fmt: skip
    groups = [
        _fixed_filter("o", "Points", _OUTCOMES, outcomes), _fixed_filter("f", "Final answers", _FINALS, finals),
        *(
            Filter(name, legend, what, tuple(
                Choice(f"{name}-{k}", kind, kinds[kind]) for k, kind in enumerate(sorted(kinds), start=1)
            ))
            for name, legend, what, kinds in numbered
        ),
    ]  # fmt: skip
    shown = tuple(one for one in groups if 1 < len(one.choices) <= _MAX_CHOICES)
    rules = [
        f"body:has(#{choice.id}:checked) {hidden}:not(.{choice.id}) {{ display: none; }}"
        for one in shown
        for hidden in ([".rollout"] if one.name == "m" else [".kind"] if one.name in "dl" else [])
        for choice in one.choices
    ]
    style = Markup("\n".join(rules))  # noqa: S704 - letters and numbers of ours
    return Filters(shown, style, tuple(sorted(models)), tuple(sorted(domains)), tuple(sorted(levels)))


def outcome_of(row: ReportRow) -> str:
    """Return how much a rollout earned, as a key of the filter: `full`, `part`, `none`, or `failed` without a score."""
    score = row.grade.score
    return "failed" if score is None else "full" if score == 1 else "part" if score > 0 else "none"


def _fixed_filter(name: str, legend: str, labels: dict[str, str], counts: Counter[str]) -> Filter:
    """Return a filter whose kinds are the same on every page, without those that nothing is of."""
    choices = tuple(Choice(f"{name}-{key}", label, counts[key]) for key, label in labels.items() if counts[key])
    return Filter(name, legend, "rollouts", choices)


def _domain_of(problem: Problem | None) -> str:
    """Return the domain of a problem; "(not said)" where it is unknown."""
    return (problem and problem.domain) or NOT_SAID


def _level_of(problem: Problem | None) -> str:
    """Return the level of a problem's difficulty; "(not rated)" where it is unknown."""
    return (problem and problem.difficulty.level) or UNRATED
