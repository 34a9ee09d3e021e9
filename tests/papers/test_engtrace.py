"""Tables of EngTrace, replayed in exact fractions, by `report` and by the coefficients of `agree`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from benchmarks.papers.printed import (
    Cell,
    found_faults,
    listed_faults,
    nearest_count,
    rows_of,
    share_of_count,
    statements_of,
    weighted_mean,
)
from prism.grading.result import Grade
from prism.reports.agreement import estimate_coefficients
from prism.reports.cross_tables import Crossing, cross_table
from prism.reports.report_rows import ReportRow, row_frame

PAPER = "engtrace"
STATED = statements_of(PAPER)
N = {name: int(STATED[name]) for name in ("templates", "seeds", "instances", "traces a model", "raters")}
LEVELS = ("Easy", "Intermediate", "Advanced")


def table(number: int) -> tuple[dict[str, str], ...]:
    return rows_of(PAPER, f"table_{number}")


def values_of(ratings: list[list[int]], names: tuple[str, ...]) -> list[float]:
    """Coefficients of `prism agree`, of ratings [n_item][n_rater]."""
    found = estimate_coefficients(np.array(ratings, dtype=np.float64), np.arange(len(ratings)), replicates=0)
    values = [found[name].value for name in names]
    assert None not in values
    return [value for value in values if value is not None]


# Accuracy. ------------------------------------------------------------------------------------------------------


def test_instances_are_templates_by_seeds() -> None:
    assert N["instances"] == N["templates"] * N["seeds"] == 3 * int(STATED["instances a branch"])
    assert [int(STATED[f"instances {level}"]) for level in LEVELS] == [
        N["seeds"] * int(table(9)[-1][level]) for level in LEVELS
    ]


def test_table_1_each_final_answer_is_a_whole_number_of_instances() -> None:
    cells = [share_of_count(row["model"], row["final"], N["instances"]) for row in table(1)]
    assert (len(cells), found_faults(cells)) == (27, set())


def test_section_5_3_each_cell_is_a_whole_number_of_its_slice() -> None:
    rows = rows_of(PAPER, "slices")
    cells = [share_of_count(f"{row['model']}, {row['slice']}", row["final"], int(row["instances"])) for row in rows]
    assert (len(cells), found_faults(cells)) == (9, set())


def test_section_5_3_3_domains_are_whole_templates_of_a_branch() -> None:
    """Six counts of domains: each n is 15 times a number of templates, and a branch has 30 of them in three domains."""
    rows = [(int(row["right"]), int(row["instances"])) for row in rows_of(PAPER, "domains")]
    templates = [n // N["seeds"] for _, n in rows]
    assert [n % N["seeds"] for _, n in rows] == [0] * 6
    assert templates == [8, 12, 10, 10, 10, 10]
    assert sum(templates[:3]) == sum(templates[3:]) == int(table(9)[0]["total"])
    shares = [f"{100 * right / n:.2f}" for right, n in rows]
    assert shares == ["26.67", "78.33", "73.33", "60.00", "94.00", "54.00"]
    assert all(right <= n for right, n in rows)


def test_branches_of_gemini_make_its_row_of_table_1_in_the_report() -> None:
    rows = [row for row in rows_of(PAPER, "slices") if row["model"] == "Gemini 3.1 Pro" and row["instances"] == "450"]
    counts = {row["slice"]: nearest_count(row["final"], 450) for row in rows}
    assert counts == {"Chemical": 244, "Electrical": 318, "Mechanical": 321}
    made = [
        ReportRow(k, Grade(f"{branch} {k}", "a", "ok", float(k < right), (), (), (), k < right, {}, (), 0, 0, ()),
                  "", False, fields={"branch": branch})
        for branch, right in counts.items()
        for k in range(450)
    ]  # fmt: skip
    found = cross_table(row_frame(made), Crossing(("branch",), measures=("final",), has_totals=True), replicates=0)
    shares = {key[0]: found.cells[key, ()].estimates[0].value for key in found.rows}
    assert shares.pop(None) == 883 / 1350
    assert shares == {branch: right / 450 for branch, right in counts.items()}
    printed = {row["model"]: row["final"] for row in table(1)}["Gemini 3.1 Pro"]
    assert Cell("", printed, Fraction(100 * 883, 1350)).replays


def test_deepseek_r1_is_not_worst_in_chemical_as_the_text_has_it() -> None:
    printed = {row["model"]: row["final"] for row in table(1)}["DeepSeek R1"]
    chemical = next(row["final"] for row in rows_of(PAPER, "slices") if row["model"] == "DeepSeek R1")
    right, right_of_all = nearest_count(chemical, 450), nearest_count(printed, 1350)
    assert (right, right_of_all) == (292, 824)
    elsewhere = Fraction(100 * (right_of_all - right), 900)
    assert elsewhere < Fraction(chemical)
    assert found_faults([Cell("Chemical, said to be the lowest", chemical, elsewhere)]) == listed_faults(
        PAPER, "DeepSeek R1 by branch"
    )


# Raters of templates. -------------------------------------------------------------------------------------------


def test_table_8_distances_and_exact_agreement() -> None:
    *rows, overall = table(8)
    counts = [nearest_count(row["MAD"], N["templates"], percent=False) for row in rows]
    assert counts == [15, 14, 21]
    for row, k in zip(rows, counts, strict=True):  # where no gap exceeds one, k of the pairs differ by one
        distance, exact = values_of([[4, 5]] * k + [[5, 5]] * (90 - k), ("mae", "percent_agreement"))
        assert distance == pytest.approx(k / 90, abs=1e-12)
        assert exact == pytest.approx(1 - k / 90, abs=1e-12)
        cells = [Cell("", row["MAD"], Fraction(k, 90)), Cell("", row["exact"], 100 - Fraction(100 * k, 90))]
        assert not found_faults(cells)
    mean = Fraction(sum(counts), 3 * N["templates"])
    cells = [
        Cell("MAD", overall["MAD"], mean), Cell("exact", overall["exact"], 100 * (1 - mean)),
        Cell("exact from MAD", overall["exact"], 100 * (1 - Fraction(overall["MAD"]))),
    ]  # fmt: skip
    assert found_faults(cells) == listed_faults(PAPER, "overall of table 8")


def test_table_9_rows_and_columns_add_up() -> None:
    *rows, total = ({name: value for name, value in row.items() if name != "branch"} for row in table(9))
    for name, value in total.items():
        assert sum(int(row[name]) for row in rows) == int(value)
    for row in (*rows, total):
        assert sum(int(row[level]) for level in LEVELS) == int(row["total"])
    assert [int(total[level]) for level in LEVELS] == [34, 34, 22]
    assert int(total["total"]) == N["templates"]
    domains = [Cell("all", STATED["domains"], Fraction(total["domains"]))]
    assert found_faults(domains) == listed_faults(PAPER, "domains")


def test_appendix_k2_raters_of_mechanical_templates() -> None:
    n_same, n_off = int(STATED["K.2 unanimous on 5"]), int(STATED["K.2 one 4 and two 5"])
    assert n_same + n_off == int(STATED["K.2 templates"])
    names = ("percent_agreement", "krippendorff_alpha_interval")
    exact, alpha = values_of([[5, 5, 5]] * n_same + [[4, 5, 5]] * n_off, names)
    # Of three pairs of raters one agrees where one is off: (21 + 9 / 3) / 30 = 24 / 30, or 72 of 90 pairs.
    assert exact == pytest.approx(Fraction(72, 90))
    # D_o = 9 (2 / 3) / 30 = 1 / 5; of 90 ratings 9 are 4 and 81 are 5: D_e = 2 * 9 * 81 / (90 * 89) = 81 / 445.
    assert alpha == pytest.approx(float(1 - Fraction(1, 5) / Fraction(81, 445)), abs=1e-12)
    cells = [
        Cell("exact pairs", STATED["K.2 exact pairs, %"], Fraction(7200, 90)),
        Cell("pairs one apart", STATED["K.2 pairs one apart, %"], Fraction(1800, 90)),
        Cell("alpha", STATED["K.2 alpha"], 1 - Fraction(1, 5) / Fraction(81, 445)),
    ]
    assert found_faults(cells) == listed_faults(PAPER, "K.2")


def test_appendix_k2_one_template_moves_alpha_across_zero() -> None:
    (alpha,) = values_of([[5] * 3] * 20 + [[4] * 3] + [[4, 5, 5]] * 9, ("krippendorff_alpha_interval",))
    # 12 ratings are 4 and 78 are 5: D_e = 2 * 12 * 78 / (90 * 89) = 104 / 445, with the same D_o.
    assert alpha == pytest.approx(float(1 - Fraction(1, 5) / Fraction(104, 445)), abs=1e-12)
    assert round(alpha, 3) == 0.144


# Experts on traces. ---------------------------------------------------------------------------------------------


def test_table_16_columns_and_rows_add_up() -> None:
    *rows, total = table(16)
    assert (int(total["failures"]), [int(total[level]) for level in LEVELS]) == (5708, [828, 836, 536])
    for name in ("failures", *LEVELS):
        assert sum(int(row[name]) for row in rows) == int(total[name])
    assert [sum(int(row[level]) for level in LEVELS) for row in rows] == [N["traces a model"]] * 11
    assert sum(int(total[level]) for level in LEVELS) == 11 * N["traces a model"]


def test_table_17_pabak_is_twice_the_agreement_less_one() -> None:
    *rows, overall = table(17)
    n_pair = 3 * N["traces a model"]
    for row in rows:
        k = nearest_count(row["agree"], n_pair)
        share, pabak = values_of([[0, 0], [1, 1]] * (k // 2) + [[0, 0]] * (k % 2) + [[0, 1]] * (n_pair - k),
                                 ("percent_agreement", "pabak"))  # fmt: skip
        assert (share, pabak) == pytest.approx((k / n_pair, 2 * k / n_pair - 1), abs=1e-12)
        cells = [Cell("", row["PABAK"], 2 * Fraction(k, n_pair) - 1), Cell("", row["agree"], Fraction(100 * k, n_pair))]
        assert not found_faults(cells)
    assert Cell("", overall["PABAK"], 2 * Fraction(overall["agree"]) / 100 - 1).replays


def test_table_17_shares_are_whole_numbers_of_pairs_and_their_mean_is_the_last_row() -> None:
    *rows, overall = table(17)
    n_pair = 3 * N["traces a model"]
    for name in ("agree", "calculation"):
        cells = [share_of_count(row["model"], row[name], n_pair) for row in rows]
        assert (len(cells), found_faults(cells)) == (11, set())
    agree, calculation = (weighted_mean([row[name] for row in rows], [1] * 11) for name in ("agree", "calculation"))
    assert Cell("", overall["agree"], agree).replays
    n_calculation = sum(nearest_count(row["calculation"], n_pair) for row in rows)
    assert (n_calculation, 11 * n_pair) == (3996, 6600)
    exact = Fraction(100 * n_calculation, 11 * n_pair)
    assert abs(exact - calculation) < Fraction(1, 20)
    cells = [Cell("calculation", overall["calculation"], exact)]
    assert found_faults(cells) == listed_faults(PAPER, "overall of table 17")


CLASSES = ("Hallucination", "Setup", "Formula", "Unit", "Sign", "Calculation")


def test_table_18_conceptual_rate_is_the_sum_of_three_classes() -> None:
    cells = [
        Cell(row["model"], row["conceptual"], sum((Fraction(row[name]) for name in CLASSES[:3]), Fraction(0)))
        for row in table(18)
    ]
    assert (len(cells), found_faults(cells)) == (11, set())
    told = [
        Cell(cell.name, STATED["Gemini 3.1 Pro conceptual, %"], cell.exact) for cell in cells if "Gemini" in cell.name
    ]
    assert found_faults(told) == listed_faults(PAPER, "conceptual in 5.4")
    row = next(row for row in table(18) if "Gemini" in row["model"])
    assert Fraction(row["Setup"]) + Fraction(row["Formula"]) == Fraction(STATED["Gemini 3.1 Pro conceptual, %"])


def test_table_18_six_classes_make_all_traces() -> None:
    assert [sum(Fraction(row[name]) for name in CLASSES) for row in table(18)] == [100] * 11
    shares = [row[name] for row in table(18) for name in CLASSES]
    assert not found_faults(share_of_count("", each, N["traces a model"]) for each in shares)


def test_table_18_cliffs_that_the_text_calls_negative_have_no_sign() -> None:
    negative = {"DeepSeek V4 Pro", "DeepSeek R1", "GPT-5"}
    cells = [Cell(row["model"], row["cliff"], -Fraction(row["cliff"])) for row in table(18) if row["model"] in negative]
    assert found_faults(cells) == listed_faults(PAPER, "cliff called negative")
