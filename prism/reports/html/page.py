"""A report as one HTML page: one script of ours, nothing loaded from anywhere, the same bytes for the same input.

The page comes in this order: what the run earned, where it fails, judges beside the rules, then each problem with its
rollouts, folded. A browser without scripts unfolds what a link leads into, and shows all. The script sorts and filters
tables. A policy in the head allows the style in the page and this script, by its hash, and nothing else, so that no
slip in escaping could run or load anything.

A page has a limit on its size. What stands above the rollouts is always there; the rollouts' tables come next and their
texts last, both from the most interesting rollout on (`_interest_rank`), until the page is full. What is left away is
counted, and each rollout says it of itself.

Filters of a page without scripts: radio buttons, and style rules that hide what is not of the chosen kind.

A rule is `body:has(#m-2:checked) .rollout:not(.m-2) {display: none}`: a browser that does not know `:has` shows all, as
does print. Figures and drawings stay those of all rollouts, and the page says so. They need no script, unlike the
sorting of tables (`tables.js`), so that they work where a mail program or a policy lets none run.

Judges beside the rules on a page: the agreement of raters, and scores against scores, as plain data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from prism.errors import count_of
from prism.grading.result import FLAGS, Grade
from prism.problem.schema import Problem
from prism.reports.agreement import Estimate
from prism.reports.html import svg
from prism.reports.html.problem_section import ImageRoom, ProblemSection, anchor_of, make_problem_section
from prism.reports.html.rendering import environment, macro, own_files
from prism.reports.html.rollout_section import Statement, joined_pieces, reference_formulas
from prism.reports.ratings import RULES
from prism.reports.report_rows import NOT_SAID, UNFIT, UNRATED, ReportRow
from prism.reports.report_tables import crossed_tables, error_tables, lengths_table, samples_table
from prism.reports.summary import BINS, Group, JudgeComparison, NodeCount, Report, missed_nodes, reason_text
from prism.reports.table_formats import DataTable, in_percent
from prism.resources import meanings

_COEFFICIENTS: Mapping[str, str] = meanings("reports.coefficients")
_AXIS_PARTS = 5  # of each axis, in the table of a scatter plot


def make_judges_section(report: Report, places: Mapping[tuple[str, str], int]) -> dict[str, Any] | None:
    """Compute all values that the page shows of judges; None for a report without judges.

    Args:
        report: the figures.
        places: number of each rollout on the page, by problem and sample id.
    """
    agreed = report.agreement
    if agreed is None:
        return None
    scatters = {(RULES, one.rater): _scatter(one) for one in report.judge_comparisons}
    return {
        "agreed": agreed, "places": places, "scatters": scatters, "coefficient_names": _COEFFICIENTS,
        "repeated": [
            (one.rater, measure, estimate)
            for one in agreed.reliability
            for measure, estimate in (("flips", one.flip_rate), ("flips with order", one.order_flip_rate),
                                      ("shift with order", one.order_shift))
        ],
    }  # fmt: skip


def _scatter(compared: JudgeComparison) -> dict[str, Any]:
    """Draw a judge's scores against those of the rules, and count them in a table of five ranges for each."""
    points = compared.points
    n = sum(count for _, _, count in points)
    above = sum(count for x, y, count in points if y > x)
    below = sum(count for x, y, count in points if y < x)
    verdict = f"the judge gives more than the rules to {above}, less to {below}, as much to the others"
    summary = f"{count_of(n, 'rollout')}; {verdict}."
    drawing = svg.scatter(points, "Score of the rules against score of the judge", summary, "rules", "judge")
    low, high = svg.axis_limits(points)
    ends = [low + (high - low) * k / _AXIS_PARTS for k in range(_AXIS_PARTS + 1)]
    counts: Counter[tuple[int, int]] = Counter()
    for x, y, count in points:
        counts[sum(x >= end for end in ends[1:-1]), sum(y >= end for end in ends[1:-1])] += count
    labels = [f"{a:.3g} to {b:.3g}" for a, b in pairwise(ends)]
    rows = [(labels[y], [counts[x, y] for x in range(_AXIS_PARTS)]) for y in reversed(range(_AXIS_PARTS))]
    return {"drawing": drawing, "summary": summary, "labels": labels, "rows": rows}


_MAX_CHOICES = 30  # buttons of a filter; of more kinds none is offered
_OUTCOMES = {"full": "all points", "part": "some points", "none": "no points", "failed": "no score"}
_FINALS = {"right": "right", "wrong": "not right"}


# Filters. ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of a page.

    Attributes:
        groups: of buttons, of which one is chosen, with what they count; those that have two kinds at least. A button
            has an id, which is also the class of what it shows, a label, and how many it shows.
        rules: style rules of the kinds that are not the same on every page.
        models, domains, levels: names in the order of their buttons.
    """

    groups: tuple[dict[str, Any], ...]
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
    kinds = [
        ("o", "Points", "rollouts", [(key, label, outcomes[key]) for key, label in _OUTCOMES.items()]),
        ("f", "Final answers", "rollouts", [(key, label, finals[key]) for key, label in _FINALS.items()]),
        *(
            (name, legend, what, [(str(k), kind, own[kind]) for k, kind in enumerate(sorted(own), start=1)])
            for name, legend, what, own in (
                ("m", "Model", "rollouts", models), ("d", "Domain", "problems", domains),
                ("l", "Difficulty", "problems", levels),
            )
        ),
    ]  # fmt: skip
    groups: list[dict[str, Any]] = [
        {"name": name, "legend": legend, "what": what,
         "choices": [{"id": f"{name}-{key}", "label": label, "n": n} for key, label, n in own if n]}
        for name, legend, what, own in kinds
    ]  # fmt: skip
    shown = tuple(one for one in groups if 1 < len(one["choices"]) <= _MAX_CHOICES)
    hidden = {"m": ".rollout", "d": ".kind", "l": ".kind"}
    rules = [
        f"body:has(#{choice['id']}:checked) {hidden[one['name']]}:not(.{choice['id']}) {{ display: none; }}"
        for one in shown if one["name"] in hidden for choice in one["choices"]
    ]  # fmt: skip
    style = Markup("\n".join(rules))  # noqa: S704 - letters and numbers of ours
    return Filters(shown, style, tuple(sorted(models)), tuple(sorted(domains)), tuple(sorted(levels)))


def outcome_of(row: ReportRow) -> str:
    """Return how much a rollout earned, as a key of the filter: `full`, `part`, `none`, or `failed` without a score."""
    score = row.grade.score
    return "failed" if score is None else "full" if score == 1 else "part" if score > 0 else "none"


def _domain_of(problem: Problem | None) -> str:
    """Return the domain of a problem; "(not said)" where it is unknown."""
    return (problem and problem.domain) or NOT_SAID


def _level_of(problem: Problem | None) -> str:
    """Return the level of a problem's difficulty; "(not rated)" where it is unknown."""
    return (problem and problem.difficulty.level) or UNRATED


LIMIT = 10_000_000  # bytes of a page: 640 rollouts fit, and a browser still scrolls
_RESERVE = 800  # bytes for what the page says at its end of what was cut
_WRAPPING = 120  # bytes of the elements around the pieces of a rollout, with its classes
_FOLDED, _UNFOLDED = "<details", "<details open"
_CUT_NOTICE = 150  # bytes for what a rollout or a problem says of what is left out of it


def html_page(found: Report, *, title: str = "PRISM report", limit: int | None = LIMIT, unfold: bool = False) -> str:
    """Render a report as one HTML page.

    Args:
        found: the figures, with their rows.
        title: of the page.
        limit: bytes that the page may have; None for no limit.
        unfold: nothing is folded, as for print from a browser that cannot unfold by style.
    """
    places: dict[tuple[str, str], int] = {}
    for row in found.rows:
        places.setdefault((row.grade.problem_id, str(row.grade.sample_id)), row.place)
    room = ImageRoom()
    sections = [make_problem_section(k, each, room) for k, each in enumerate(found.problems, start=1)]
    heads = [(macro("problem", "summary")(each), macro("problem", "body")(each)) for each in sections]
    template = environment().get_template("page.html.jinja")
    filters = make_filters(found)
    marks = {row.place: filters.rollout_marks(row) for row in found.rows}
    kinds = [filters.problem_marks(each.problem) for each in found.problems]
    values = {
        **_template_values(found, sections), "title": title, "judges": make_judges_section(found, places),
        "filters": filters, "kinds": kinds,
    }  # fmt: skip
    levels = {pieces.place: 2 for each in sections for pieces in each.rollouts}
    if limit is not None:
        frame = [
            _problem_pieces(replace(each, rollouts=()), *head, kind, {}, {})
            for each, head, kind in zip(sections, heads, kinds, strict=True)
        ]
        fixed = _byte_size(template.render(values, problems=frame, cut=None)) + _RESERVE + _CUT_NOTICE * len(sections)
        levels = _chosen_levels(found, sections, limit - fixed, places)
    problems = (
        _problem_pieces(each, *head, kind, levels, marks)
        for each, head, kind in zip(sections, heads, kinds, strict=True)
    )
    html = template.render(values, problems=problems, cut=_cut_counts(sections, levels))
    return html.replace(_FOLDED, _UNFOLDED) if unfold else html  # what is text has no tag: it is escaped


def _byte_size(text: str) -> int:
    """Return the length of text in UTF-8 [bytes]."""
    return len(text.encode("utf-8"))


# Figures. -------------------------------------------------------------------------------------------------------


def _template_values(found: Report, sections: Sequence[ProblemSection]) -> dict[str, Any]:
    """Return the variables of `page.html.jinja` for everything above the rollouts, by name."""
    models, domains = _sorted_by_mean(found.models), _sorted_by_mean(found.domains)
    n_formula = sum(one.n for one in found.formula_statuses)
    n_alone = sum(one.n for one in found.formula_statuses if one.reason == "no_relation")
    return {
        **own_files(("page.css",), "tables.js"),
        "report": found, "whole": found.overall, "models": models, "domains": domains, "sections": sections,
        "unfit": [(n, UNFIT[key]) for key, n in sorted(found.unfit.items())],
        "failed": [(n, name) for name, n in sorted(found.statuses.items()) if name != "ok"],
        "extremes": [
            (kind, rated[0], rated[-1])
            for kind, groups in (("model", models), ("domain", domains), ("level", _sorted_by_mean(found.levels)))
            if len(rated := [one for one in groups if one.mean.value is not None]) > 1
        ],
        "missed": _missed_node_rows(found),
        "flags": [(name, FLAGS.get(name, ""), n) for name, n in sorted(found.flags.items())],
        "distribution": ", ".join(f"{label}: {n}" for label, n in zip(BINS, found.overall.bins, strict=True)),
        "n_formula": n_formula, "n_alone": n_alone, "tables": _tables(found), "curves": _length_curves(found),
        "statuses": [
            (one.status, reason_text(one.reason), one.n, f"{one.n / n_formula:.1%}") for one in found.formula_statuses
        ],
    }  # fmt: skip


def _tables(found: Report) -> dict[str, list[DataTable]]:
    """Return the tables that the page shows as the terminal does, by where they stand, with shares in per cent."""
    tables = {
        "crossed": crossed_tables(found),
        "samples": [samples_table(found.samples)] if found.samples else [],
        "lengths": [lengths_table(found.lengths)] if found.lengths else [],
        "errors": error_tables(found),
    }
    return {name: [in_percent(table) for table in each] for name, each in tables.items()}


def _length_curves(found: Report) -> list[tuple[str, Markup]]:
    """Draw scores against length: of all rollouts, then small of each model; nothing where there is one bin only."""
    lengths = found.lengths
    if lengths is None or len(lengths.overall) < 2:
        return []
    drawn = []
    for k, (name, bins) in enumerate([("all", lengths.overall), *lengths.models]):
        points = [
            svg.CurvePoint(one.middle, (_share(one.score), _share(one.final))) for one in bins if one.middle is not None
        ]
        said = "; ".join(
            f"{one.low:.0f} to {one.high:.0f}: {one.score.value:.1%}, {one.final.value:.1%}"
            for one in bins
            if one.score.value is not None and one.final.value is not None
        )
        drawing = svg.curves(
            points, "Scores against length", said, f"length of the solution [{lengths.unit}]",
            ("step-level accuracy", "final-answer accuracy"), small=k > 0,
        )  # fmt: skip
        drawn.append((name, drawing))
    return drawn


def _share(found: Estimate) -> tuple[float, float | None, float | None]:
    """Return the value of a mean of rollouts that are there, and its interval."""
    return found.value or 0.0, found.low, found.high


def _sorted_by_mean(groups: Iterable[Group]) -> list[Group]:
    """Sort groups by mean score, highest first; groups without a mean come last."""
    return sorted(groups, key=lambda one: (-1 if one.mean.value is None else one.mean.value, one.name), reverse=True)


def _missed_node_rows(found: Report) -> list[tuple[str, str, NodeCount, Statement | None]]:
    """Return anchor and id of the problem, counts and reference formula of the nodes that most rollouts miss."""
    numbers = {id(each): k for k, each in enumerate(found.problems, start=1)}
    return [
        (
            anchor_of(each.problem, numbers[id(each)], node.alternative), each.group.name, node,
            reference_formulas(each.problem, node.alternative).get(node.index),
        )
        for each, node in missed_nodes(found)
    ]  # fmt: skip


# What there is room for. ----------------------------------------------------------------------------------------


def _problem_pieces(
    section: ProblemSection, summary: Markup, body: Markup, kind: str, levels: Mapping[int, int],
    marks: Mapping[int, str],
) -> dict[str, Any]:  # fmt: skip
    """Join summary and body of a problem with its rollouts, each shown up to its level.

    Args:
        kind: classes of the problem, by which filters choose it.
        marks: those of each rollout, by number of its row.
        levels: level of each rollout as in `joined_pieces`, by number of its row.
    """
    chosen = [levels[pieces.place] for pieces in section.rollouts]
    rollouts = tuple(
        joined_pieces(pieces, level, marks[pieces.place])
        for pieces, level in zip(section.rollouts, chosen, strict=True)
    )
    return {
        "number": section.number, "summary": summary, "body": body, "rollouts": rollouts,
        "n_absent": sum(level < 0 for level in chosen), "marks": kind,
    }  # fmt: skip


def _cut_counts(sections: Iterable[ProblemSection], levels: Mapping[int, int]) -> dict[str, int]:
    """Count the rollouts that are shown without text, without tables, or not at all.

    Args:
        levels: level of each rollout as in `joined_pieces`, by number of its row.
    """
    rollouts = [(pieces, levels[pieces.place]) for each in sections for pieces in each.rollouts]
    return {
        "texts": sum(bool(pieces.text) and level < 2 for pieces, level in rollouts),
        "tables": sum(level < 1 for _, level in rollouts), "rollouts": sum(level < 0 for _, level in rollouts),
    }  # fmt: skip


def _chosen_levels(
    found: Report, sections: Sequence[ProblemSection], room: int, places: Mapping[tuple[str, str], int]
) -> dict[int, int]:
    """Choose how much of each rollout is shown: tables of the most interesting ones first, then their texts.

    Args:
        found: the report; rollouts on whose score raters disagree are always there, as its lists link to them.
        sections: the problems with their rollouts.
        room: bytes for all rollouts.
        places: number of each rollout, by problem and sample id.

    Returns:
        The level of each rollout, by place, as in `joined_pieces`.
    """
    rollouts = [pieces for each in sections for pieces in each.rollouts]
    disputed = {
        places.get((item.problem_id, item.sample_id))
        for pair in (found.agreement.pairs if found.agreement else ())
        for item in pair.disagreements
    }
    rollouts.sort(key=lambda one: (one.place not in disputed, _interest_rank(one.source.row.grade), one.place))
    levels = {one.place: 0 if one.place in disputed else -1 for one in rollouts}
    sizes = (
        [_byte_size(one.head) + _WRAPPING + _CUT_NOTICE for one in rollouts],
        [_byte_size(one.tables) for one in rollouts],
        [_byte_size(one.text) for one in rollouts],
    )
    for level, needed in enumerate(sizes):
        for one, size in zip(rollouts, needed, strict=True):
            room -= size
            if room < 0:
                return levels
            levels[one.place] = level
    return levels


def _interest_rank(grade: Grade) -> int:
    """Return the rank of a grade in the order in which rollouts get room on the page, most interesting first.

    0: the grader failed; 1: some points; 2: no points; 3: no formulas; 4: all points.
    """
    if grade.score is None or grade.incidents:
        return 0
    if 0 < grade.score < 1:
        return 1
    if grade.score == 0:
        return 2 if grade.formulas else 3
    return 4
