"""Tables of EngVQA and EngJudge (arXiv 2606.10833), replayed in exact fractions: counts, shares, topologies."""

from __future__ import annotations

from fractions import Fraction

from benchmarks.papers.printed import Cell, found_faults, listed_faults, rows_of, share_of_count, statements_of

PAPER = "engjudge"
STATED = statements_of(PAPER)
N = {name: int(value) for name, value in STATED.items() if value.isdigit()}


def test_points_of_the_study_and_calls_of_a_solution() -> None:
    assert N["stage points"] + N["meta points"] == N["points"] == 393
    assert N["raters"] * N["problems a rater"] * N["meta checks"] == N["meta points"] == 108
    assert sum(int(row["points"]) for row in rows_of(PAPER, "meta_checks")) == N["meta points"]
    assert N["stages"] + N["meta checks"] == N["calls a solution"]
    whole = N["raters"] * N["problems a rater"] * N["stages"]
    assert found_faults([Cell("all", STATED["stage points"], Fraction(whole))]) == listed_faults(PAPER, "stage points")


def test_share_of_scores_that_raters_found_about_right() -> None:
    assert Cell("", STATED["about right, %"], Fraction(100 * N["about right"], N["points"])).replays


def test_ratings_of_nine_people() -> None:
    rows = rows_of(PAPER, "ratings")
    with_count = [row for row in rows if row["raters"]]
    assert len(with_count) == 7
    assert not found_faults(Cell("", row["share"], Fraction(100 * int(row["raters"]), 9)) for row in with_count)
    cells = [share_of_count(f"{row['question']}, {row['answer']}", row["share"], 9) for row in rows]
    assert found_faults(cells) == listed_faults(PAPER, "ratings")
    counts = {row["answer"]: int(row["raters"]) for row in with_count}
    assert counts["Good"] + counts["Very Good"] == counts["Good or Very Good"]
    assert sum(int(row["raters"]) for row in with_count if row["question"] == "penalty scale") == N["raters"]


def test_base_scores_fall_from_flat_to_dag_to_linear_chain() -> None:
    rows = rows_of(PAPER, "topology")
    assert len(rows) == 2
    for row in rows:
        flat, dag, linear = (Fraction(row[name]) for name in ("flat", "dag", "linear chain"))
        assert flat >= dag >= linear


def test_relative_error_of_the_example() -> None:
    stated, wanted = (Fraction(STATED[f"example {each}, W"]) for each in ("predicted", "reference"))
    assert Cell("", STATED["example relative error"], abs(stated - wanted) / wanted).replays


def test_arithmetic_errors_of_the_text_are_one_fewer_than_in_figure_6() -> None:
    counted = Fraction(STATED["arithmetic errors in the figure"])
    cells = [Cell("text", STATED["arithmetic errors"], counted)]
    assert found_faults(cells) == listed_faults(PAPER, "arithmetic errors")


def test_cap_of_a_wrong_governing_equation_has_two_values() -> None:
    printed = STATED["cap of a wrong governing equation"]
    inside = Fraction(STATED["cap of a wrong governing equation in the prompt"])
    example = next(row for row in rows_of(PAPER, "few_shot") if row["prompt"] == "EQUATION_SELECTION")
    assert Fraction(example["caps"]) == inside
    relation = "cap of a wrong governing equation"
    assert found_faults([Cell("C.2", printed, inside)]) == listed_faults(PAPER, relation)
