"""A report as one HTML page: no scripts, nothing loaded from anywhere, the same bytes for the same input.

The page comes in this order: what the run earned, where it fails, judges beside the rules, then each problem with its
rollouts, folded. A browser without scripts unfolds what a link leads into. A policy in the head forbids everything but
the style in the page, so that no slip in escaping could run or load anything.

A page has a limit on its size. What stands above the rollouts is always there; the rollouts' tables come next and their
texts last, both from the most interesting rollout on (`_interest`), until the page is full. What is left away is
counted, and each rollout says it of itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from prism.grading.result import FLAGS, Grade
from prism.latex import one_line
from prism.reports.agreement import LEVEL, REASONS, Estimate
from prism.reports.html import svg
from prism.reports.html.markup import (
    Cell,
    folded,
    formula,
    name_of,
    scrolled,
    table,
    text_of,
)
from prism.reports.html.problem_section import (
    ProblemPart,
    assembled,
    bar_of,
    count_of,
    interval,
    node_formulas,
    percent,
    problem_part,
    rollout_html,
    told_of,
)
from prism.reports.ratings import RULES, UNALIGNED, Agreement, Pair
from prism.reports.summary import BINS, UNFIT, Against, Group, Report, missed, reason_of

LIMIT = 10_000_000  # bytes of a page: 640 rollouts fit, and a browser still scrolls
_RESERVE = 2_000  # bytes for what the page says of itself at the end
_SAID_OF_CUT = 150  # bytes for what a rollout or a problem says of what is left out of it
_MAX_REASON = 400  # characters of what a rater said
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
    parts = [problem_part(k, each) for k, each in enumerate(found.problems, start=1)]
    head = [
        _head(title, style), _header(found, title), _summary(found), _groups(found), _distribution(found),
        _formulas(found), _judges(found, places),
    ]  # fmt: skip
    listed = _problem_list(found)
    fixed = sum(_size(text) for text in (*head, listed, *(text for part in parts for text in part.fixed)))
    fixed += _RESERVE + _SAID_OF_CUT * len(parts)
    kept = _chosen(found, parts, None if limit is None else limit - fixed, places)
    problems = (f"{part.fixed[0]}{_assembled_all(part, kept)}{part.fixed[1]}" for part in parts)
    return "".join((*head, listed, *problems, "</section>\n", _footer(found, parts, kept)))


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
    what = f"{count_of(n, 'rollout')} of {count_of(len(found.problems), 'problem')}"
    what += f" by {count_of(len(found.models), 'model')}" if found.models else ""
    return (
        f'<header><h1>{text_of(title)}</h1><p class="quiet">{what}, graded by rule, formula by formula.</p>'
        f'<nav aria-label="Sections"><ul>{listed}</ul></nav></header>\n{svg.SHAPES}\n<main id="main">\n'
    )


def _footer(found: Report, parts: Sequence[ProblemPart], kept: Mapping[int, int]) -> str:
    rollouts = [one for part in parts for one in part.rollouts]
    no_text = sum(bool(one.text) and kept[one.place] < 2 for one in rollouts)
    no_table = sum(kept[one.place] < 1 for one in rollouts)
    absent = sum(kept[one.place] < 0 for one in rollouts)
    cut = ""
    if no_text or no_table:
        cut = (
            f"<p>To keep the page small, {count_of(no_text, 'solution')}, the tables of "
            f"{count_of(no_table, 'rollout')} and all but the figures of {absent} are left out: texts first, then "
            "tables, then all. Those with all points go first; then those with no points and no formula, with no "
            "points, with some points; then failures of the grader, and large disagreements last. "
            "<code>prism report --full</code> keeps all.</p>"
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
        ("Step-level accuracy", percent(whole.mean), f"mean score, {told_of(whole.mean)}"),
        ("Final-answer accuracy", percent(whole.final), f"all final answers right, {told_of(whole.final)}"),
        ("Matched without closure", percent(whole.strict), f"strict score, {told_of(whole.strict)}"),
        ("Graded", str(whole.n - whole.n_unscored),
         f"of {count_of(whole.n, 'rollout')}; incidents of the grader: {found.n_incident}"),
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
    notes += [f"{count_of(n, 'row')} shown without: {UNFIT[key]}." for key, n in sorted(found.unfit.items())]
    if found.n_compact:
        notes.append(
            f"{count_of(found.n_compact, 'row')} list no formulas, as <code>prism run --compact</code> writes."
        )
    failed = {name: n for name, n in sorted(found.statuses.items()) if name != "ok"}
    notes += [f"{count_of(n, 'rollout')} with status {text_of(name)}." for name, n in failed.items()]
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
    told = [f"{bins[0]} of {count_of(scored, 'rollout')} earn nothing, and {bins[-1]} earn all points."]
    for groups, kind in ((found.models, "model"), (found.domains, "domain"), (found.levels, "level")):
        ranked = [one for one in _ranked(groups) if one.mean.value is not None]
        if len(ranked) > 1:
            best, worst = ranked[0], ranked[-1]
            told.append(
                f"By {kind}, {name_of(best.name)} has the highest mean score ({percent(best.mean)}), "
                f"{name_of(worst.name)} the lowest ({percent(worst.mean)})."
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
        known = node_formulas(each.problem, formula).get(node.index, "")
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
        (name_of(one.name), Cell(_n_of(one)), Cell(bar_of(one.mean)), interval(one.mean), Cell(bar_of(one.final)),
         interval(one.final), Cell(percent(one.strict)))
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
            f"<p>{name_of(one.name)}, mean {percent(one.mean)}</p></li>"
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
    if found.first_wrong:
        labels = [(text_of(label), Cell(str(n))) for label, n in sorted(found.first_wrong.items())]
        body += table("wrong", "First wrong steps, where one is known", ("label", "rollouts"), labels)
    return (
        '<section id="formulas" aria-labelledby="formulas-h"><h2 id="formulas-h">Formulas</h2>\n'
        f"<p>{count_of(total, 'formula')} that assert something. Lone symbols and numbers, which assert nothing, are"
        f" not counted.</p>{body}</section>\n"
    )


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


def _problem_list(found: Report) -> str:
    rows: list[tuple[str | Cell, ...]] = []
    for k, each in enumerate(found.problems, start=1):
        known, one = each.problem, each.group
        title = f" {text_of(known.title)}" if known and known.title else ""
        rows.append((
            f'<a href="#p{k}">{name_of(one.name)}</a>{title}', text_of(known.domain) if known else "",
            text_of(known.difficulty.level or "") if known else "", Cell(_n_of(one)), Cell(bar_of(one.mean)),
            Cell(percent(one.final)),
        ))  # fmt: skip
    heads = ("problem", "domain", "difficulty", "rollouts", "step-level accuracy", "final-answer accuracy")
    return (
        '<section id="problems" aria-labelledby="problems-h"><h2 id="problems-h">Problems</h2>\n'
        f"{table('listed', 'Problems, the hardest first', heads, rows) if rows else '<p>There are none.</p>'}"
        f'<p class="quiet">{_KEY} In the drawing of all solutions each node has a bar: solid for the share that matches'
        " it, light for the share that has credit for it.</p>\n"
    )


# What there is room for. ----------------------------------------------------------------------------------------


def _assembled_all(part: ProblemPart, kept: Mapping[int, int]) -> str:
    absent = sum(kept[one.place] < 0 for one in part.rollouts)
    more = f"<p>{count_of(absent, 'rollout')} more, left out to keep the page small.</p>\n" if absent else ""
    return "".join(assembled(one, kept[one.place]) for one in part.rollouts) + more


def _chosen(
    found: Report, parts: Sequence[ProblemPart], room: int | None, places: Mapping[tuple[str, str], int]
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
        [_size(rollout_html(one, "")) + _SAID_OF_CUT for one in rollouts],
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
