"""Tables of PRISM-Physics (arXiv 2510.03185), replayed in exact fractions and by `report`."""

from __future__ import annotations

from fractions import Fraction

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
from prism.problem.vocabulary import shipped_vocabulary
from prism.reports.cross_tables import Crossing, CrossTable, cross_table
from prism.reports.report_rows import ReportRow, row_frame

PAPER = "prism_physics"
LEVELS = {"Easy": 469, "Medium": 508, "Hard": 527}
"""Problems of each level: the smallest counts for which every final-answer cell of the text rows is a whole number."""

TABLE = rows_of(PAPER, "table_1")
TEXT, IMAGE = ([row for row in TABLE if row["modality"] == each] for each in ("text", "image"))


def named(row: dict[str, str]) -> str:
    return f"{row['model']} {row['effort']} {row['modality']}"


def averages(rows: list[dict[str, str]], what: str) -> list[Cell]:
    """The averages of a column, each beside the mean of the three printed cells weighted by the problems."""
    return [
        Cell(
            named(row),
            row[f"average {what}"],
            weighted_mean([row[f"{each} {what}"] for each in LEVELS], LEVELS.values()),
        )
        for row in rows
    ]


def count_cells(rows: list[dict[str, str]]) -> list[Cell]:
    return [
        share_of_count(f"{named(row)}, {each}", row[f"{each} final"], n) for row in rows for each, n in LEVELS.items()
    ]


def averages_from_counts(rows: list[dict[str, str]]) -> list[Cell]:
    counts = [sum(nearest_count(row[f"{each} final"], n) for each, n in LEVELS.items()) for row in rows]
    n_all = sum(LEVELS.values())
    return [
        Cell(named(row), row["average final"], Fraction(100 * k, n_all)) for row, k in zip(rows, counts, strict=True)
    ]


def test_table_1_has_21_rows_of_text_and_7_of_images() -> None:
    assert (len(TEXT), len(IMAGE), sum(LEVELS.values())) == (21, 7, 1504)


def test_each_final_answer_cell_is_a_whole_number_of_problems() -> None:
    assert not found_faults(count_cells(TEXT))
    faults = found_faults(count_cells(IMAGE))
    assert faults == listed_faults(PAPER, "counts")
    assert len({name.split(",")[0] for name, _, _ in faults}) == 7 - 3


@pytest.mark.slow
def test_no_smaller_numbers_of_problems_give_the_cells() -> None:
    for level, n in LEVELS.items():
        printed = [row[f"{level} final"] for row in TEXT]
        fitting = [k for k in range(1, n + 1) if not found_faults(share_of_count("", each, k) for each in printed)]
        assert fitting == [n]


@pytest.mark.parametrize(("what", "n_text", "n_image"), [("final", 21, 3), ("step", 21, 4), ("time", 17, 3)])
def test_averages_are_the_weighted_means_of_the_printed_cells(what: str, n_text: int, n_image: int) -> None:
    text, image = averages(TEXT, what), averages(IMAGE, what)
    assert (sum(cell.replays for cell in text), sum(cell.replays for cell in image)) == (n_text, n_image)
    assert found_faults([*text, *image]) == listed_faults(PAPER, f"average {what}")


def test_the_paper_averages_rounded_cells() -> None:
    cells = averages_from_counts(TEXT)
    assert sum(cell.replays for cell in cells) == 19
    assert found_faults(cells) == listed_faults(PAPER, "average final from counts")


# By `prism report`. ---------------------------------------------------------------------------------------------


def report_row(place: int, name: str, level: str, row: dict[str, str], *, is_right: bool) -> ReportRow:
    """A rollout of a model whose rollouts of a level have all the printed step score and time."""
    score = float(Fraction(row[f"{level} step"]) / 100)
    grade = Grade(
        f"{level} {place}", name, "ok", score, (), (), (), is_right, {"strict": score}, (), 0, 0, ()
    )  # fmt: skip
    kept = {"model": name, "difficulty": level, "seconds": float(row[f"{level} time"])}
    return ReportRow(place, grade, name, False, fields=kept)


def report_of(rows: list[dict[str, str]]) -> CrossTable:
    """The table of `prism report --by model --across difficulty --measure score,final,seconds --totals`."""
    made = [
        report_row(k, named(row), level, row, is_right=k < nearest_count(row[f"{level} final"], n))
        for row in rows
        for level, n in LEVELS.items()
        for k in range(n)
    ]
    crossing = Crossing(("model",), ("difficulty",), ("score", "final", "seconds"), has_totals=True)
    return cross_table(row_frame(made), crossing, replicates=0)


@pytest.mark.slow
def test_report_crossed_by_model_and_difficulty_gives_the_table() -> None:
    found = report_of(TEXT)
    for row, final in zip(TEXT, averages_from_counts(TEXT), strict=True):
        for level, n in LEVELS.items():
            cell = found.cells[(named(row),), (level,)]
            share = Fraction(nearest_count(row[f"{level} final"], n), n)
            values = [one.value for one in cell.estimates]
            wanted = [Fraction(row[f"{level} step"]) / 100, share, Fraction(row[f"{level} time"])]
            assert values == pytest.approx([float(each) for each in wanted], rel=1e-12)
            assert cell.n == cell.n_problem == n
        step, time = (averages([row], what)[0] for what in ("step", "time"))
        whole = [one.value for one in found.cells[(named(row),), (None,)].estimates]
        wanted = [step.exact / 100, final.exact / 100, time.exact]
        assert whole == pytest.approx([float(each) for each in wanted], rel=1e-12)


def test_latency_over_that_of_low_effort() -> None:
    stated = statements_of(PAPER)
    seconds = {effort: Fraction(stated[f"GPT-5 {effort}, s"]) for effort in ("low", "medium", "high")}
    cells = [
        Cell(f"{effort} over low, %", stated[f"{effort} over low, %"], 100 * (seconds[effort] / seconds["low"] - 1))
        for effort in ("medium", "high")
    ]
    assert not found_faults(cells)
    table = {row["effort"]: row["average time"] for row in TEXT if row["model"] == "GPT-5"}
    assert table == {effort.title(): stated[f"GPT-5 {effort}, s"] for effort in seconds}


# What the text says of the table, and Figure 9. -----------------------------------------------------------------


def drop(row: dict[str, str]) -> Fraction:
    """By how much final answers fall from easy to medium problems, in per cent of those of the easy ones."""
    return 100 * (1 - Fraction(row["Medium final"]) / Fraction(row["Easy final"]))


def test_hard_finals_that_are_not_below_ten_per_cent() -> None:
    stated = statements_of(PAPER)["hard finals are below, %"]
    above = {(named(row), stated, row["Hard final"]) for row in TEXT if Fraction(row["Hard final"]) >= Fraction(stated)}
    assert len(above) == 6
    assert above == listed_faults(PAPER, "hard finals")


def test_drops_that_are_not_over_forty_per_cent() -> None:
    """The mean final answers fall by 42.0 %; seven models by less than 40 %."""
    stated = statements_of(PAPER)["finals drop from easy to medium by more than, %"]
    below = {(named(row), stated, f"{float(drop(row)):.1f}") for row in TEXT if drop(row) <= Fraction(stated)}
    assert len(below) == 7
    assert below == listed_faults(PAPER, "drops")
    easy, medium = (sum(Fraction(row[f"{level} final"]) for row in TEXT) for level in ("Easy", "Medium"))
    assert f"{float(100 * (1 - medium / easy)):.1f}" == "42.0"


def test_finals_by_effort_go_up_and_down() -> None:
    """Called consistent: 20.48, 21.94 and 20.35. The last step is within chance: twice its error is 3.0 points."""
    low, medium, high = (Fraction(row["average final"]) for row in TEXT if row["model"] == "GPT-5")
    steps = f"{float(medium - low):+.2f}, {float(high - medium):+.2f}"
    assert listed_faults(PAPER, "finals by effort") == {("GPT-5, low to medium to high", "consistent", steps)}
    error = (sum(each / 100 * (1 - each / 100) for each in (medium, high)) / sum(LEVELS.values())) ** 0.5 * 100
    assert f"{2 * error:.1f}" == "3.0"


def test_figure_9_is_the_gap_of_image_and_text_by_model() -> None:
    """Its bars have no digits; those of `figure_9.csv` are the differences of the printed averages."""
    text = {(row["model"], row["effort"]): row for row in TEXT}
    for row, image in zip(rows_of(PAPER, "figure_9"), IMAGE, strict=True):
        beside = text[image["model"], image["effort"]]
        assert (row["model"], row["effort"]) == (image["model"], image["effort"])
        for what in ("final", "step"):
            assert Fraction(row[what]) == Fraction(image[f"average {what}"]) - Fraction(beside[f"average {what}"])
    gains = [row["model"] for row in rows_of(PAPER, "figure_9") if Fraction(row["final"]) > 0]
    assert gains == ["Gemini-2.5-Flash", "Gemini-2.5-Pro", "Grok-4"]


def test_subtopics_that_are_printed_beside_their_number() -> None:
    schemes = shipped_vocabulary().schemes.values()
    named = sum(len(each["PRISM-Physics"]) for each in schemes if each is not None)
    cell = Cell("printed names", statements_of(PAPER)["subtopics"], Fraction(named))
    assert found_faults([cell]) == listed_faults(PAPER, "subtopics")


def test_table_2_is_a_record_of_figures_that_exclude_chance() -> None:
    """Its 70 pairs of scores are not published: nothing is computed, only the order of the coefficients is told."""
    rows = sorted(rows_of(PAPER, "table_2"), key=lambda row: Fraction(row["tau_b"]))
    assert [row["method"] for row in rows] == ["PSAS-S", "LLM-as-Judge", "PRISM-DAG"]
    assert [float(row["asymptotic p"]) for row in rows] == sorted(
        (float(r["asymptotic p"]) for r in rows), reverse=True
    )
