"""Scores by length, errors by model, and what the page makes of them: pictures, filters, print."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from itertools import pairwise
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.reports.html import svg
from prism.reports.html.page import html_page, make_filters
from prism.reports.report_rows import row_frame
from prism.reports.report_tables import report_parts
from prism.reports.run_figures import MAX_BINS, bin_ends, errors_by_model, length_figures
from prism.reports.summary import build_report
from prism.reports.table_formats import DataTable, as_csv
from tests.support.html_pages import checked
from tests.support.made_rows import MODELS, made_row, paper_rows, write_rows


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    rows = [*paper_rows(), made_row("Mech Easy 0", "dead", None, model=MODELS[0], completion_tokens=5)]
    for k, row in enumerate(rows):
        row["formulas"] = [formula("different", "witness"), formula("withheld", "retracted", [(1, "retracted")])][
            : k % 3
        ]
        row["flags"] = ["hedged"] if k % 5 == 0 else []
    return build_report(write_rows(tmp_path_factory.mktemp("lengths") / "rows.jsonl", rows), replicates=20)


def formula(status, reason, withheld=()):
    return {
        "latex": "x = 1", "span": [0, 1], "kind": "inline", "status": status, "reason": reason,
        "withheld": [{"node": node, "reason": why} for node, why in withheld],
    }  # fmt: skip


# Lengths. -------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60))
def test_bins_hold_each_length_once_and_equal_lengths_together(lengths):
    ends = bin_ends(lengths)
    assert 1 <= len(ends) <= MAX_BINS
    assert ends[0][0] == min(lengths)
    assert ends[-1][1] == max(lengths)
    assert all(low <= high for low, high in ends)
    assert all(high < low for (_, high), (low, _) in pairwise(ends))
    assert all(sum(low <= one <= high for low, high in ends) == 1 for one in lengths)


def test_scores_by_length_are_those_of_the_rollouts_in_it(report):
    found = report.lengths
    assert (found.unit, found.n_unknown, len(found.overall)) == ("completion_tokens", 0, 8)
    scored = [row for row in report.rows if row.grade.score is not None]
    for name, bins in (("", found.overall), *found.models):
        assert [(one.low, one.high) for one in bins] == [(one.low, one.high) for one in found.overall]
        for one in bins:
            own = [row.grade for row in scored if one.low <= row.fields["completion_tokens"] <= one.high
                   and name in ("", row.model)]  # fmt: skip
            assert one.n == len(own)
            assert one.score.value == pytest.approx(mean(grade.score for grade in own))
            assert one.final.value == pytest.approx(mean(grade.final_correct for grade in own))
    sizes = [one.n for one in found.overall]
    assert sum(sizes) == len(scored)
    assert max(sizes) - min(sizes) <= 2


def test_without_tokens_a_length_is_that_of_the_text(tmp_path):
    rows = [made_row("p", str(k), 0.5) for k in range(3)]
    found = build_report(write_rows(tmp_path / "rows.jsonl", rows), replicates=0)
    assert found.lengths is None
    assert "by-length" not in [part.id for part in report_parts(found) if isinstance(part, DataTable)]
    known = [
        type(row)(row.place, row.grade, "", True, text="x" * n) for row, n in zip(found.rows, (5, 7), strict=False)
    ]
    lengths = length_figures(row_frame([*known, found.rows[2]]), replicates=0)
    assert lengths is not None
    assert (lengths.unit, lengths.n_unknown) == ("characters", 1)
    assert [(one.low, one.high, one.n) for one in lengths.overall] == [(5, 7, 2)]


def test_a_curve_stands_in_its_plane_and_says_what_it_shows(report):
    points = [svg.CurvePoint(number, ((share, 0.0, 1.0), (share / 2, None, None)))
              for number, share in ((10.0, 0.0), (100.0, 0.5), (1000.0, 1.0))]  # fmt: skip
    drawn = svg.curves(points, "t", "d", "length", ("first", "second"))
    ((width, height),) = re.findall(r'viewBox="0 0 (\d+) (\d+)"', drawn)
    circles = [(float(x), float(y)) for x, y in re.findall(r'circle class="first" cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    assert all(0 < x < int(width) and 0 < y < int(height) for x, y in circles)
    at = circles[1:]  # the first is that of the legend
    assert at[1][0] - at[0][0] == pytest.approx(at[2][0] - at[1][0], abs=0.2)  # by logarithm
    assert [y for _, y in at] == sorted((y for _, y in at), reverse=True)
    assert drawn.count('class="whisker"') == 3
    for said in (">100%</text>", ">1,000</text>", ">length</text>", "<desc>d</desc>"):
        assert said in drawn
    assert ">nan" not in svg.curves(points[:1], "t", "d", "length", ("a", "b"))


# Errors. --------------------------------------------------------------------------------------------------------


def test_errors_are_counted_by_model(report):
    found = {one.id: one for one in errors_by_model(row_frame(report.rows))}
    assert set(found) == {"outcomes", "formulas", "withheld", "flags"}  # no diagnosis was asked for
    for model in MODELS:
        own = [row.grade for row in report.rows if row.model == model]
        statuses = Counter((one.status, one.reason) for grade in own for one in grade.formulas)
        assert {label: n for label, n in found["formulas"].counts[model].items() if n} == statuses
        assert found["formulas"].totals[model] == statuses.total()
        assert dict(found["withheld"].counts[model]) == {("retracted", ""): statuses["withheld", "retracted"]}
        assert dict(found["flags"].counts[model]) == {("hedged", ""): sum("hedged" in grade.flags for grade in own)}
        assert found["outcomes"].counts[model].sum() == len(own)
    assert found["outcomes"].counts.loc[("killed", ""), MODELS[0]] == 1


def test_a_table_of_errors_has_a_row_for_each_label_and_model(report):
    tables = {part.id: part for part in report_parts(report) if isinstance(part, DataTable)}
    table = tables["formulas-by-model"]
    assert [column.head for column in table.columns] == ["status", "reason", "model", "n", "of formulas", "share"]
    assert len(table.rows) == 2 * len(MODELS)
    assert [row[2] for row in table.rows[:4]] == sorted(MODELS)
    _, *rows = csv.reader(io.StringIO(as_csv(table)))
    assert all(float(row[5]) == pytest.approx(int(row[3]) / int(row[4]), abs=5e-5) for row in rows)
    assert "a point that satisfies one does not satisfy the other" in {row[1] for row in table.rows}


# The page. ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(report):
    return html_page(report)


@pytest.mark.slow
def test_the_page_has_pictures_tables_and_is_sound(page, report):
    checked(page)
    assert page.count('<svg class="curves"') == 1 + len(MODELS)
    for table in ("samples", "by-length", "outcomes-by-model", "formulas-by-model", "flags-by-model"):
        assert page.count(f'<caption id="t-{table}">') == 1
    assert "reference formula" not in page  # no problems were named


def test_each_button_has_a_rule_and_shows_what_it_counts(page, report):
    filters = make_filters(report)
    assert [one["legend"] for one in filters.groups] == ["Points", "Final answers", "Model"]
    classes = [found.split() for found in re.findall(r'<details class="(rollout [^"]*)"', page)]
    assert len(classes) == len(report.rows)
    for group in filters.groups:
        assert f'name="{group["name"]}" id="{group["name"]}-all" checked' in page
        assert sum(choice["n"] for choice in group["choices"]) == len(report.rows)
        for choice in group["choices"]:
            name = choice["id"]
            assert sum(name in marks for marks in classes) == choice["n"]
            assert re.search(rf"body:has\(#{name}:checked\) (details)?\.rollout:not\(\.{name}\)", page)


@pytest.mark.slow
def test_print_can_unfold_everything(page, report):
    assert "body:has(#unfolded:checked) details:not([open])::details-content" in page
    assert '<input type="checkbox" id="unfolded">' in page
    unfolded = html_page(report, unfold=True)
    checked(unfolded)
    assert unfolded.count("<details open") == unfolded.count("<details") == page.count("<details")
    assert unfolded.replace("<details open", "<details") == page
