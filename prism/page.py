"""A report as one HTML page: no scripts, nothing loaded from anywhere, the same bytes for the same input.

The page comes in this order: what the run earned, where it fails, judges beside the rules, then each problem with its
rollouts, folded. A browser without scripts unfolds what a link leads into. A policy in the head forbids everything but
the style in the page, so that no slip in escaping could run or load anything.

A page has a limit on its size. What stands above the rollouts is always there; the rollouts' tables come next and their
texts last, both from the most interesting rollout on (`_interest`), until the page is full. What is left away is
counted, and each rollout says it of itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from prism import svg
from prism.agreement import LEVEL, REASONS, Estimate
from prism.attempts import STAGES
from prism.explaining import steps_of
from prism.grading import FLAGS, Grade, GradedFormula, why
from prism.markup import (
    Cell,
    folded,
    formula,
    latex_of,
    legend,
    marked_text,
    name_of,
    one_line,
    prose,
    scrolled,
    table,
    text_of,
)
from prism.panel import RULES, UNALIGNED, Agreement, Pair
from prism.problem import Problem
from prism.report import BINS, UNFIT, Against, Group, ProblemFigures, Report, Row, missed, reason_of

LIMIT = 10_000_000  # bytes of a page: 640 rollouts fit, and a browser still scrolls
_RESERVE = 2_000  # bytes for what the page says of itself at the end
_SAID_OF_CUT = 150  # bytes for what a rollout says of what is left out of it
_MAX_TEXT = 60_000  # characters of a solution that are shown; longer ones repeat themselves
_MAX_REASON = 400  # characters of what a rater said
_TO_TEXT = re.compile(r' <a href="#r\d+f\d+">in the text</a>')
_PARTS = 5  # of each axis, in the table of a scatter plot
_SMALL_MANY = 24  # groups that get a histogram of their own
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_SHOWN_GROUPS = 30  # of a table; of more it is folded
_COEFFICIENTS = {
    "kendall_tau_b": "Kendall tau b", "spearman": "Spearman rho", "pearson": "Pearson r",
    "mae": "mean absolute difference", "bias": "mean difference, second less first", "cohen_kappa": "Cohen kappa",
    "cohen_kappa_linear": "Cohen kappa, linear weights", "cohen_kappa_quadratic": "Cohen kappa, quadratic weights",
    "percent_agreement": "share of equal ratings", "fleiss_kappa": "Fleiss kappa",
    "krippendorff_alpha_nominal": "Krippendorff alpha, nominal",
    "krippendorff_alpha_ordinal": "Krippendorff alpha, ordinal",
    "krippendorff_alpha_interval": "Krippendorff alpha, interval",
    "krippendorff_alpha_ratio": "Krippendorff alpha, ratio", "gwet_ac1": "Gwet AC1", "gwet_ac2": "Gwet AC2",
    "pabak": "PABAK",
}  # fmt: skip
_STATES = {"m": "matched", "c": "credited", "x": "missing"}
_KEY = (
    "A square node with a solid edge and the letter M is matched: a formula of the solution says it. A round one with a"
    " dashed edge and C is credited: a matched node rests on it. A pointed one with a dotted edge and – is missing. A"
    " line under the number marks a final answer."
)


def html_page(found: Report, *, title: str = "PRISM report", limit: int | None = LIMIT) -> str:
    """The page of a report.

    Args:
        found: the figures, with their rows.
        title: of the page.
        limit: bytes that it may have; None for no limit.
    """
    style = (Path(__file__).with_name("page.css")).read_text(encoding="utf-8")
    places: dict[tuple[str, str], int] = {}
    for row in found.rows:
        places.setdefault((row.grade.problem_id, str(row.grade.sample_id)), row.place)
    parts = [_problem(k, each) for k, each in enumerate(found.problems, start=1)]
    head = [
        _head(title, style), _header(found, title), _summary(found), _groups(found), _distribution(found),
        _formulas(found), _judges(found, places),
    ]  # fmt: skip
    fixed = sum(_size(text) for text in head) + sum(_size(text) for part in parts for text in part.fixed)
    kept = _chosen(found, parts, None if limit is None else limit - fixed - _RESERVE, places)
    problems = (
        "".join((part.fixed[0], *(_assembled(one, kept[one.place]) for one in part.rollouts), part.fixed[1]))
        for part in parts
    )
    return "".join((*head, _problem_list(found), *problems, "</section>\n", _footer(found, parts, kept)))


def _size(text: str) -> int:
    return len(text.encode("utf-8"))


# Head and foot. -------------------------------------------------------------------------------------------------


def _head(title: str, style: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<link rel="icon" href="data:,">\n<title>{text_of(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n'
        '<a class="skip" href="#main">Skip to the figures</a>\n'
    )


def _header(found: Report, title: str) -> str:
    links = [("summary", "Summary"), ("groups", "Where it fails"), ("scores", "Scores"), ("formulas", "Formulas")]
    links += [("judges", "Judges")] if found.agreement else []
    links += [("problems", "Problems"), ("about", "About this page")]
    listed = "".join(f'<li><a href="#{name}">{label}</a></li>' for name, label in links)
    n = len(found.rows)
    what = f"{_count(n, 'rollout')} of {_count(len(found.problems), 'problem')}"
    what += f" by {_count(len(found.models), 'model')}" if found.models else ""
    return (
        f'<header><h1>{text_of(title)}</h1><p class="quiet">{what}, graded by rule, formula by formula.</p>'
        f'<nav aria-label="Sections"><ul>{listed}</ul></nav></header>\n{svg.SHAPES}\n<main id="main">\n'
    )


def _footer(found: Report, parts: Sequence[_ProblemPart], kept: Mapping[int, int]) -> str:
    rollouts = [one for part in parts for one in part.rollouts]
    no_text = sum(bool(one.text) and kept[one.place] < 2 for one in rollouts)
    no_table = sum(kept[one.place] < 1 for one in rollouts)
    absent = sum(kept[one.place] < 0 for one in rollouts)
    cut = ""
    if no_text or no_table:
        cut = (
            f"<p>To keep the page small, {_count(no_text, 'solution')}, the tables of {_count(no_table, 'rollout')} "
            f"and all but the figures of {absent} are left out: texts first, then tables, then all. Those with all "
            "points go first; then those with no points and no formula, with no points, with some points; then "
            "failures of the grader, and large disagreements last. <code>prism report --full</code> keeps all.</p>"
        )
    graders = "".join(
        f"<li>PRISM {text_of(version)}, fingerprint <code>{text_of(sign)}</code></li>"
        for version, sign in found.graders
    )
    return (
        f'</main>\n<footer id="about"><h2>About this page</h2>{cut}'
        f"<p>Results: sha256 <code>{found.sha256}</code>. Graded by:</p><ul>{graders or '<li>no rows</li>'}</ul>"
        f"<p>Intervals are of {LEVEL:.0%}, by a bootstrap that draws problems with all their rollouts, as rollouts of "
        "one problem are not independent. A rollout on which the grader failed has no score, and enters no mean.</p>"
        "<p>The page holds no script and loads nothing. In print what is folded stays folded, except the problems, "
        "which print open; unfold the rollouts that are to be printed.</p></footer>\n</body>\n</html>\n"
    )


# Figures. -------------------------------------------------------------------------------------------------------


def _summary(found: Report) -> str:
    whole = found.overall
    cards = [
        ("Step-level accuracy", _percent(whole.mean), f"mean score, {_told(whole.mean)}"),
        ("Final-answer accuracy", _percent(whole.final), f"all final answers right, {_told(whole.final)}"),
        ("Matched without closure", _percent(whole.strict), f"strict score, {_told(whole.strict)}"),
        ("Graded", str(whole.n - whole.n_unscored),
         f"of {_count(whole.n, 'rollout')}; incidents of the grader: {found.n_incident}"),
    ]  # fmt: skip
    listed = "".join(
        f'<div><dt>{name}</dt><dd class="big">{value}</dd><dd class="quiet">{more}</dd></div>'
        for name, value, more in cards
    )
    return (
        f'<section id="summary" aria-labelledby="summary-h"><h2 id="summary-h">Summary</h2>\n{_notes(found)}'
        f'<dl class="figures">{listed}</dl>\n{_in_short(found)}</section>\n'
    )


def _notes(found: Report) -> str:
    """What the page lacks, and what the grader has not done."""
    notes = []
    if not found.has_problems:
        notes.append("No problems were named (<code>--problems</code>): there are no DAGs, domains and formulas.")
    if not found.has_texts:
        notes.append("No rollouts were named (<code>--rollouts</code>): there are no solutions to read.")
    notes += [f"{_count(n, 'row')} shown without: {UNFIT[key]}." for key, n in sorted(found.unfit.items())]
    if found.n_compact:
        notes.append(f"{_count(found.n_compact, 'row')} list no formulas, as <code>prism run --compact</code> writes.")
    failed = {name: n for name, n in sorted(found.statuses.items()) if name != "ok"}
    notes += [f"{_count(n, 'rollout')} with status {text_of(name)}." for name, n in failed.items()]
    if len(found.graders) > 1:
        notes.append(f"The rows come from {len(found.graders)} graders: their scores cannot be compared.")
    listed = "".join(f"<li>{note}</li>" for note in notes)
    return f'<ul class="notes">{listed}</ul>\n' if notes else ""


def _in_short(found: Report) -> str:
    """Three sentences that the tables below bear out."""
    bins = found.overall.bins
    scored = sum(bins)
    if not scored:
        return "<p>No rollout has a score.</p>"
    told = [f"{bins[0]} of {_count(scored, 'rollout')} earn nothing, and {bins[-1]} earn all points."]
    for groups, kind in ((found.models, "model"), (found.domains, "domain"), (found.levels, "level")):
        ranked = [one for one in _ranked(groups) if one.mean.value is not None]
        if len(ranked) > 1:
            best, worst = ranked[0], ranked[-1]
            told.append(
                f"By {kind}, {name_of(best.name)} has the highest mean score ({_percent(best.mean)}), "
                f"{name_of(worst.name)} the lowest ({_percent(worst.mean)})."
            )
    return f"<p>{' '.join(told)}</p>\n"


def _ranked(groups: Iterable[Group]) -> list[Group]:
    return sorted(groups, key=lambda one: (-1 if one.mean.value is None else one.mean.value, one.name), reverse=True)


def _groups(found: Report) -> str:
    parts = [
        _group_table(f"by-{kind}", f"By {kind}", kind, groups)
        for kind, groups in (
            ("model", _ranked(found.models)), ("domain", _ranked(found.domains)), ("difficulty", list(found.levels)),
        )
        if groups
    ]  # fmt: skip
    order = {id(each): k for k, each in enumerate(found.problems, start=1)}
    rows: list[tuple[str | Cell, ...]] = []
    for each, node in missed(found):
        known = _node_formulas(each.problem, formula).get(node.index, "")
        rows.append((
            f'<a href="#p{order[id(each)]}n{node.index}">{name_of(each.group.name)}, node {node.index}</a>',
            known, Cell(f"{node.n - node.credited} of {node.n}"), Cell(str(node.matched)),
        ))  # fmt: skip
    if rows:
        heads = ("node", "reference formula", "rollouts without credit", "matched")
        parts.append(table("missed", "Nodes that most rollouts miss", heads, rows))
    if found.flags:
        flagged = [
            (text_of(name), text_of(FLAGS.get(name, "")), Cell(str(n))) for name, n in sorted(found.flags.items())
        ]
        parts.append(table("flags", "Flags", ("flag", "means", "rollouts"), flagged))
    body = "".join(parts) or "<p>There is nothing to compare.</p>"
    return f'<section id="groups" aria-labelledby="groups-h"><h2 id="groups-h">Where it fails</h2>\n{body}</section>\n'


def _group_table(name: str, caption: str, kind: str, groups: Sequence[Group]) -> str:
    heads = (kind, "rollouts", "step-level accuracy", "interval", "final-answer accuracy", "interval", "strict")
    rows = [
        (name_of(one.name), Cell(_n_of(one)), Cell(_bar(one.mean)), _interval(one.mean), Cell(_bar(one.final)),
         _interval(one.final), Cell(_percent(one.strict)))
        for one in groups
    ]  # fmt: skip
    drawn = table(name, caption, heads, rows)
    return drawn if len(rows) <= _SHOWN_GROUPS else folded(f"{caption}: {len(rows)} of them", drawn)


def _n_of(one: Group) -> str:
    return f"{one.n}" if not one.n_unscored else f"{one.n} ({one.n_unscored} without score)"


def _distribution(found: Report) -> str:
    counts = found.overall.bins
    told = ", ".join(f"{label}: {n}" for label, n in zip(BINS, counts, strict=True))
    parts = [scrolled(svg.histogram(counts, BINS, "Distribution of scores", told), "Distribution of scores")]
    rows: list[list[str | Cell]] = [
        [name_of(one.name), *(Cell(str(n)) for n in one.bins)] for one in (found.overall, *_ranked(found.models))
    ]
    labels = tuple(text_of(label) for label in BINS)
    parts.append(folded("The same as a table", table("bins", "Rollouts by score", ("model", *labels), rows)))
    many = _ranked(found.models)[:_SMALL_MANY]
    if len(many) > 1:
        drawn = "".join(
            f"<li>{svg.histogram(one.bins, BINS, 'Scores of one model', 'As in the table above.', small=True)}"
            f"<p>{name_of(one.name)}, mean {_percent(one.mean)}</p></li>"
            for one in many
        )
        parts.append(f'<h3>By model, from no points to all</h3><ul class="many">{drawn}</ul>')
    return (
        '<section id="scores" aria-labelledby="scores-h"><h2 id="scores-h">Scores</h2>\n'
        f"<p>No points and all points stand apart, the rest in tenths.</p>{''.join(parts)}</section>\n"
    )


def _formulas(found: Report) -> str:
    total = sum(one.n for one in found.fates)
    rows = [
        (text_of(one.status), text_of(reason_of(one.reason)), Cell(str(one.n)), Cell(f"{one.n / total:.1%}"))
        for one in found.fates
    ]
    body = table("fates", "What became of formulas", ("status", "reason", "formulas", "share"), rows) if rows else ""
    return (
        '<section id="formulas" aria-labelledby="formulas-h"><h2 id="formulas-h">Formulas</h2>\n'
        f"<p>{_count(total, 'formula')} that assert something. Lone symbols and numbers, which assert nothing, are not"
        f" counted.</p>{body}</section>\n"
    )


def _percent(found: Estimate) -> str:
    return "–" if found.value is None else f"{found.value:.1%}"


def _interval(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return f'<span class="quiet">{text_of(_short(found.reason))}</span>'
    return f"{found.low:.1%} to {found.high:.1%}"


def _short(reason: str) -> str:
    return {"one_problem": "one problem", "no_items": "no score", "": ""}.get(reason, REASONS.get(reason, reason))


def _told(found: Estimate) -> str:
    return f"n = {found.n}, {_interval(found)}"


def _bar(found: Estimate) -> str:
    return (
        "–"
        if found.value is None
        else f'{svg.bar(found.value, found.low, found.high)}<span class="v">{_percent(found)}</span>'
    )


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


# Judges. --------------------------------------------------------------------------------------------------------


def _judges(found: Report, places: Mapping[tuple[str, str], int]) -> str:
    agreed = found.agreement
    if agreed is None:
        return ""
    against = {one.rater: one for one in found.against}
    parts = [_alignment(agreed)]
    for k, pair in enumerate(agreed.pairs, start=1):
        parts.append(f"<h3>{name_of(pair.raters[0])} and {name_of(pair.raters[1])}</h3>\n")
        if pair.raters[0] == RULES and pair.raters[1] in against:
            parts.append(_scatter(against[pair.raters[1]], k))
        parts.append(_coefficients(f"j{k}c", "Coefficients", pair.coefficients))
        parts.append(_disagreements(pair, k, places))
    if agreed.together:
        parts.append(f"<h3>All raters</h3>\n{_coefficients('jall', 'Coefficients of all raters', agreed.together)}")
    repeated = [
        (name_of(one.rater), name, *_estimate(each))
        for one in agreed.reliability
        for name, each in (("flips", one.flip_rate), ("flips with order", one.order_flip_rate),
                           ("shift with order", one.order_shift))
    ]  # fmt: skip
    if repeated:
        parts.append(table("repeated", "Repeated judgements", ("rater", "", "value", "interval", "n"), repeated))
    return (
        '<section id="judges" aria-labelledby="judges-h"><h2 id="judges-h">Judges beside the rules</h2>\n'
        f"{''.join(parts)}</section>\n"
    )


def _alignment(agreed: Agreement) -> str:
    rows = [
        (name_of(one.rater), Cell(str(one.n_judgement)), Cell(str(one.aligned)),
         "; ".join(f"{n}: {text_of(UNALIGNED[key])}" for key, n in sorted(one.dropped.items())) or "none",
         Cell(str(one.unrated)))
        for one in agreed.alignment
    ]  # fmt: skip
    return table("aligned", "Judgements", ("rater", "read", "aligned", "dropped", "rollouts unrated"), rows)


def _scatter(one: Against, k: int) -> str:
    n = sum(count for _, _, count in one.points)
    above = sum(count for x, y, count in one.points if y > x)
    below = sum(count for x, y, count in one.points if y < x)
    told = f"{n} rollouts; the judge gives more than the rules to {above}, less to {below}, as much to the others."
    drawn = svg.scatter(one.points, "Score of the rules against score of the judge", told, "rules", "judge")
    low, high = svg.limits(one.points)
    ends = [low + (high - low) * k / _PARTS for k in range(_PARTS + 1)]
    parts: Counter[tuple[int, int]] = Counter()
    for x, y, count in one.points:
        parts[sum(x >= end for end in ends[1:-1]), sum(y >= end for end in ends[1:-1])] += count
    labels = [f"{a:.3g} to {b:.3g}" for a, b in pairwise(ends)]
    rows: list[list[str | Cell]] = [
        [labels[y], *(Cell(str(parts[x, y])) for x in range(_PARTS))] for y in reversed(range(_PARTS))
    ]
    heads = ("judge \\ rules", *labels)
    return (
        f"{scrolled(drawn, 'Scatter plot')}<p>{told} The larger a circle, the more rollouts; on the line both agree."
        f"</p>{folded('The same as a table', table(f'j{k}t', 'Rollouts by both scores', heads, rows))}"
    )


def _coefficients(name: str, caption: str, found: Mapping[str, Estimate]) -> str:
    rows = [(text_of(_COEFFICIENTS.get(key, key)), *_estimate(each)) for key, each in found.items()]
    return table(name, caption, ("coefficient", "value", "interval", "n"), rows)


def _estimate(found: Estimate) -> tuple[Cell, str, Cell]:
    value = "undefined" if found.value is None else _number(found.value)
    interval = text_of(REASONS.get(found.reason, ""))
    if found.low is not None and found.high is not None:
        interval = f"{_number(found.low)} to {_number(found.high)}"
    return Cell(value), interval, Cell(str(found.n))


def _number(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}"  # no minus before a zero


def _disagreements(pair: Pair, k: int, places: Mapping[tuple[str, str], int]) -> str:
    rows: list[tuple[str | Cell, ...]] = []
    for one in pair.disagreements:
        place = places.get((one.problem_id, one.sample_id))
        name = f"{name_of(one.problem_id)}, {name_of(one.sample_id)}"
        said = [one_line(reason) for reason in one.reasons]
        rows.append((
            f'<a href="#r{place}">{name}</a>' if place else name,
            *(Cell(f"{score:.3g}") for score in one.scores),
            *(text_of(text[:_MAX_REASON]) + (" …" if len(text) > _MAX_REASON else "") for text in said),
        ))  # fmt: skip
    first, second = map(name_of, pair.raters)
    heads = ("problem, sample", first, second, f"why, {first}", f"why, {second}")
    return table(f"j{k}d", "Largest disagreements", heads, rows) if rows else "<p>They disagree on nothing.</p>"


# Problems. ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _RolloutPart:
    """A rollout: its head, its tables and its text; the last two only if there is room."""

    place: int
    row: Row
    head: str
    tables: str
    text: str


@dataclass(frozen=True, slots=True)
class _ProblemPart:
    """A problem: what stands above and below its rollouts."""

    fixed: tuple[str, str]
    rollouts: tuple[_RolloutPart, ...]


def _problem_list(found: Report) -> str:
    rows: list[tuple[str | Cell, ...]] = []
    for k, each in enumerate(found.problems, start=1):
        known, one = each.problem, each.group
        title = f" {text_of(known.title)}" if known and known.title else ""
        rows.append((
            f'<a href="#p{k}">{name_of(one.name)}</a>{title}', text_of(known.domain) if known else "",
            text_of(known.difficulty.level or "") if known else "", Cell(_n_of(one)), Cell(_bar(one.mean)),
            Cell(_percent(one.final)),
        ))  # fmt: skip
    heads = ("problem", "domain", "difficulty", "rollouts", "step-level accuracy", "final-answer accuracy")
    return (
        '<section id="problems" aria-labelledby="problems-h"><h2 id="problems-h">Problems</h2>\n'
        f"{table('listed', 'Problems, the hardest first', heads, rows) if rows else '<p>There are none.</p>'}"
        f'<p class="quiet">{_KEY} In the drawing of all solutions each node has a bar: solid for the share that matches'
        " it, light for the share that has credit for it.</p>\n"
    )


def _node_formulas(problem: Problem | None, show: Callable[[str], str]) -> dict[int, str]:
    """The reference formula of each node; of an answer in words the words."""
    nodes = () if problem is None else problem.nodes
    return {node.index: text_of(node.latex) if node.is_text else show(node.latex) for node in nodes}


def _problem(k: int, each: ProblemFigures) -> _ProblemPart:
    problem, one = each.problem, each.group
    title = f" {text_of(problem.title)}" if problem and problem.title else ""
    head = f"<h3>{name_of(one.name)}</h3>{title} {_bar(one.mean)} <span class=quiet>{_count(one.n, 'rollout')}</span>"
    body = [f'<div id="p{k}">']
    drawn = None
    if problem is not None:
        known = [text for text in (problem.domain, problem.difficulty.level) if text]
        body += [f"<p class=quiet>{text_of(' · '.join(known))}</p>" if known else "", _statement(problem)]
        drawn = svg.layout(problem.dag)
        shares = {node.index: (node.matched / node.n, node.credited / node.n) for node in each.nodes if node.n}
        told = "; ".join(f"node {n.index}: {n.matched} match, {n.credited} credited of {n.n}" for n in each.nodes)
        whole = svg.dag_of_all(drawn, f"e{k}", problem.dag, shares, told)
        body += [svg.edges(drawn, f"e{k}"), scrolled(whole, "Reference DAG, all solutions")]
    body.append(_node_table(k, each))
    layouts = None if drawn is None else (drawn, f"e{k}")
    listed = {node.index for node in each.nodes} | _node_formulas(problem, str).keys()
    # Where a row was made from another state of the problem, its nodes are not those above: no link leads to them.
    rollouts = tuple(_rollout(k if row.problem is problem and listed else None, row, layouts) for row in each.rows)
    top = f'<details class="problem"><summary>{head}</summary>{"".join(body)}'
    return _ProblemPart((top, "</div></details>\n"), rollouts)


def _statement(problem: Problem) -> str:
    parts = [prose(problem.statement)] if problem.statement.strip() else []
    parts += [
        f"<p><strong>{text_of(part.letter)})</strong></p>{prose(part.text)}"
        for part in problem.subquestions
        if part.text
    ]
    return "".join(parts)


def _node_table(k: int, each: ProblemFigures) -> str:
    problem = each.problem
    latex = _node_formulas(problem, formula)
    prerequisites = {node.index: node.prerequisites for node in problem.dag.nodes} if problem else {}
    finals = problem.dag.finals if problem else frozenset()
    points = {node.index: node.points for node in problem.nodes} if problem else {}
    counts = {node.index: node for node in each.nodes}
    rows, ids = [], []
    for index in sorted(latex.keys() | counts.keys()):
        one = counts.get(index)
        cells: list[str | Cell] = [f"{index}{' final' if index in finals else ''}"]
        if problem is not None:
            cells += [", ".join(map(str, prerequisites.get(index, ()))) or "–", str(points.get(index, "")),
                      latex.get(index, "")]  # fmt: skip
        cells += [Cell(_share(n, one.n)) for n in (one.matched, one.credited)] if one and one.n else ["–", "–"]
        rows.append(cells)
        ids.append(f"p{k}n{index}")
    known = ("from", "points", "reference formula") if problem is not None else ()
    return table(f"p{k}t", "Nodes", ("node", *known, "matched", "credited"), rows, ids) if rows else ""


def _share(part: int, whole: int) -> str:
    return f"{svg.bar(part / whole)}{part} of {whole}"


# Rollouts. ------------------------------------------------------------------------------------------------------


def _rollout(k: int | None, row: Row, layouts: tuple[svg.Layout, str] | None) -> _RolloutPart:
    grade = row.grade
    name = name_of("(no sample id)" if grade.sample_id is None else grade.sample_id)
    model = f" · {name_of(row.model)}" if row.model and row.model != grade.sample_id else ""
    if grade.score is None:
        earned = f"no score: {text_of(grade.status)}"
    else:
        final = "final answers right" if grade.final_correct else "final answers not right"
        earned = f"{svg.bar(grade.score)}{grade.score:.3f} · {final}"
    flags = "".join(f" · {text_of(flag)}" for flag in grade.flags)
    head = f"<h4>{name}</h4>{model} · {earned}{flags}"
    shown = [item for item in grade.formulas if item.status != "mention"]
    prefix = f"r{row.place}"
    told_at = _first_alike(shown)
    text = ""
    marked: frozenset[int] = frozenset()
    if row.text is not None:
        found = marked_text(row.text, shown, told_at, prefix, _MAX_TEXT)
        marked = found.marked
        text = legend(shown[n].status for n in sorted(marked)) + found.html
    tables = [
        _facts(row),
        _drawn(row, layouts),
        _matched_table(k, row, shown, marked),
        _formula_table(k, row, shown, told_at),
    ]
    return _RolloutPart(row.place, row, head, "".join(tables), text)


def _facts(row: Row) -> str:
    grade = row.grade
    told = []
    if grade.score is not None:
        policies = ", ".join(f"{text_of(name)} {value:.3f}" for name, value in sorted(grade.policies.items()))
        told.append(f"Score {grade.score:.3f}; other policies: {policies or 'none'}.")
        told.append(f"{grade.share_by_closure:.0%} of it by way of prerequisites." if grade.score else "")
    told.append(f"Formulas unread: {grade.unread}, undecided: {grade.undecided}.")
    if grade.left_out.characters or grade.left_out.formulas:
        told.append(
            f"Left out as too long: {grade.left_out.characters} characters, {grade.left_out.formulas} formulas."
        )
    told += [f"Flag {text_of(flag)}: {text_of(FLAGS.get(flag, ''))}." for flag in grade.flags]
    told += [f"Incident of the grader, {text_of(one.code)}, {text_of(one.where)}: {text_of(one.detail[:_MAX_REASON])}."
             for one in grade.incidents]  # fmt: skip
    told += [f"Shown without: {UNFIT[key]}." for key in row.unfit]
    return f"<p>{' '.join(part for part in told if part)}</p>"


def _state(grade: Grade, index: int) -> str:
    return "m" if index in grade.matched else "c" if index in grade.credited else "x"


def _drawn(row: Row, layouts: tuple[svg.Layout, str] | None) -> str:
    if layouts is None or row.problem is None or not row.grade.credited:
        return ""
    grade = row.grade
    told = "; ".join(
        f"{_STATES[key]}: {', '.join(map(str, own)) or 'none'}"
        for key in _STATES
        for own in [[k for k in row.problem.dag.indices if _state(grade, k) == key]]
    )
    return scrolled(
        svg.dag_of_one(layouts[0], layouts[1], row.problem.dag, lambda k: _state(grade, k), told), "Reference DAG"
    )


def _matched_table(k: int | None, row: Row, shown: Sequence[GradedFormula], marked: Collection[int]) -> str:
    """The nodes, each with the formula that matched it and what that took."""
    grade = row.grade
    if not (grade.matched or grade.credited):
        nodes = "nodes of the problem" if k is None else f'<a href="#p{k}t">nodes of the problem</a>'
        return f"<p>No node is matched: all the {nodes} are missing.</p>"
    latex = _node_formulas(row.problem, latex_of)
    by: dict[int, tuple[int, GradedFormula]] = {}
    for n, item in enumerate(shown):
        for index in item.nodes:
            by.setdefault(index, (n, item))
    rows = []
    for index in sorted(latex.keys() | set(grade.credited) | set(grade.missing)):
        own = _state(grade, index)
        cells = [_node_link(k, index), f"{svg.LETTERS[own]} {_STATES[own]}"]
        cells += [latex[index]] if index in latex else []
        if index in by:
            n, item = by[index]
            link = f' <a href="#r{row.place}f{n}">in the text</a>' if n in marked else ""
            said = text_of(item.latex) if item.kind == "text" else formula(item.latex)
            cells += [f"{said}{link}", _how(item, index)]
        else:
            cells += ["follows from a matched node" if own == "c" else "", ""]
        rows.append(cells)
    heads = ("node", "state", *(("reference formula",) if latex else ()), "matched by", "because")
    return table(f"r{row.place}n", "Nodes", heads, rows) if rows else ""


def _how(item: GradedFormula, index: int) -> str:
    match = next((one for one in item.matches if one.node == index), None)
    if match is None:
        return text_of(reason_of(item.reason))
    stage = STAGES[match.stage] if 0 <= match.stage < len(STAGES) else str(match.stage)
    steps = steps_of(match)
    told = "".join(f"<li>{text_of(step)}</li>" for step in steps)
    body = f'<ol class="steps">{told}</ol>' if len(steps) > 1 else text_of(steps[0])
    return f"{body}<span class=quiet> Stage {match.stage}: {text_of(stage)}</span>"


def _node_link(k: int | None, index: int) -> str:
    """A node of the problem with this number on the page; None where its nodes are others."""
    return str(index) if k is None else f'<a href="#p{k}n{index}">{index}</a>'


def _first_alike(shown: Sequence[GradedFormula]) -> list[int]:
    """Of each formula the first one that is the same in what is told of it."""
    first: dict[tuple[object, ...], int] = {}
    return [
        first.setdefault((one_line(one.latex), one.status, one.reason, one.nodes, one.nearest, one.witness), n)
        for n, one in enumerate(shown)
    ]


def _formula_table(k: int | None, row: Row, shown: Sequence[GradedFormula], told_at: Sequence[int]) -> str:
    """The formulas, in the order of the text, with what became of each; where they match, the table above says how."""
    times = Counter(told_at)
    rows, ids = [], []
    for n in sorted(times):
        item = shown[n]
        nodes = item.nodes or (() if item.nearest is None else (item.nearest,))
        again = f"{times[n]} times" if times[n] > 1 else ""
        links = ", ".join(_node_link(k, index) for index in nodes)
        rows.append((f"{latex_of(item.latex)}{again}", text_of(item.status), links, _because(item)))
        ids.append(f"r{row.place}t{n}")
    if not rows:
        return ""
    heads = ("formula", "status", "node, or nearest", "reason")
    return table(f"r{row.place}o", "All formulas", heads, rows, ids)


def _because(item: GradedFormula) -> str:
    if item.nodes:
        return "see the nodes"
    reason = reason_of(item.reason)
    more = why(item).split("\n")[0] if item.detail else ""
    if item.witness:
        return f"differs: <code>{text_of(one_line(item.witness))}</code>"
    return f"{text_of(reason)}{f': <code>{text_of(one_line(more))}</code>' if more and more != reason else ''}"


# What there is room for. ----------------------------------------------------------------------------------------


def _assembled(one: _RolloutPart, level: int) -> str:
    """A rollout with as much as was chosen for it: 0 its line, 1 its tables, 2 its text too; nothing at -1."""
    if level < 0:
        return ""
    tables = one.tables if level > 1 else _TO_TEXT.sub("", one.tables)
    tables = tables if level > 0 else "<p>The tables are left out, to keep the page small.</p>"
    text = one.text if level > 1 else "<p>The solution is left out, to keep the page small.</p>" if one.text else ""
    return _rollout_html(one, f"{tables}{text}")


def _rollout_html(one: _RolloutPart, body: str) -> str:
    return folded(one.head, f'<div id="r{one.place}">{body}</div>', "rollout")


def _chosen(
    found: Report, parts: Sequence[_ProblemPart], room: int | None, places: Mapping[tuple[str, str], int]
) -> dict[int, int]:
    """How much of each rollout is shown: tables of the most interesting ones first, then their texts."""
    rollouts = [one for part in parts for one in part.rollouts]
    if room is None:
        return {one.place: 2 for one in rollouts}
    disputed = {
        places.get((item.problem_id, item.sample_id))
        for pair in (found.agreement.pairs if found.agreement else ())
        for item in pair.disagreements
    }
    rollouts.sort(key=lambda one: (one.place not in disputed, _interest(one.row.grade), one.place))
    kept = {one.place: 0 if one.place in disputed else -1 for one in rollouts}  # what a list above leads to is there
    sizes = (
        [_size(_rollout_html(one, "")) + _SAID_OF_CUT for one in rollouts],
        [_size(one.tables) for one in rollouts],
        [_size(one.text) for one in rollouts],
    )
    for level, needed in enumerate(sizes):
        for one, size in zip(rollouts, needed, strict=True):
            room -= size
            if room < 0:
                return kept
            kept[one.place] = level
    return kept


def _interest(grade: Grade) -> int:
    """Failures of the grader first; then some points, no points, nothing to grade, all points."""
    if grade.score is None or grade.incidents:
        return 0
    if 0 < grade.score < 1:
        return 1
    if grade.score == 0:
        return 2 if grade.formulas else 3
    return 4
