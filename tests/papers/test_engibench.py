"""Tables of EngiBench, replayed in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from benchmarks.papers.printed import Cell, found_faults, listed_faults, rows_of, statements_of, weighted_mean
from prism.protocols.engibench.rows import PROTOCOL, VARIANT, variant_figures, variant_pairs
from prism.protocols.engibench.rubrics import DIMENSIONS
from prism.protocols.rows import ProtocolRow, Scored

PAPER = "engibench"
STATED = statements_of(PAPER)
VERSIONS = ("original", "rewritten")
FIGURE = rows_of(PAPER, "figure_5a")


def scored(number: int, variant: str, score: Fraction, **meta: str) -> ProtocolRow:
    """A row of the protocol with a score."""
    about = Scored(f"{number}-{variant}", "a", {"row": number, "variant": variant, **meta})
    return ProtocolRow(PROTOCOL, VARIANT, about, score, score, score, ())


def average_in_the_protocol(points: list[Fraction]) -> Fraction:
    """The average of `prism protocol engibench` for an answer with so many points out of ten in the four dimensions."""
    rows = [scored(1, "original", each / 10, dimension=name) for name, each in zip(DIMENSIONS, points, strict=True)]
    (average,) = (figure.mean for figure in variant_figures(rows) if figure.group == "average")
    assert average is not None
    return 10 * average


def averages() -> list[Cell]:
    return [
        Cell(
            f"{row['who']} {version}", row[f"average {version}"],
            average_in_the_protocol([Fraction(row[f"dimension {k} {version}"]) for k in range(1, 5)]),
        )
        for row in FIGURE
        for version in VERSIONS
    ]  # fmt: skip


def test_figure_5a_averages_are_the_means_of_four_dimensions() -> None:
    cells = averages()
    faults = found_faults(cells)
    assert (len(cells), sum(cell.replays for cell in cells)) == (34, 28)
    assert len({name.rsplit(" ", 1)[0] for name, _, _ in faults}) == 17 - 11
    assert faults == listed_faults(PAPER, "averages")


def test_the_human_average_is_printed_in_two_ways_beside_its_own_dimensions() -> None:
    exact = next(cell.exact for cell in averages() if cell.name == "Human Expert original")
    cells = [
        Cell("4.2.1", STATED["human original in the text"], exact),
        Cell("Figure 5a, G.3", STATED["human original"], exact),
    ]
    assert found_faults(cells) == listed_faults(PAPER, "human")
    assert {f"average {each}": STATED[f"human {each}"] for each in VERSIONS}.items() <= FIGURE[0].items()


def test_means_over_the_16_models_are_not_those_of_the_text() -> None:
    _, *models = FIGURE
    assert len(models) == 16
    cells = [
        Cell(each, STATED[f"models {each}"], weighted_mean([row[f"average {each}"] for row in models], [1] * 16))
        for each in VERSIONS
    ]
    assert found_faults(cells) == listed_faults(PAPER, "mean over models")


def test_difference_of_the_versions_in_the_text() -> None:
    original, rewritten = (Fraction(STATED[f"models {each}"]) for each in VERSIONS)
    assert Cell("", STATED["difference, %"], 100 * (original - rewritten) / original).replays


@pytest.mark.parametrize(
    ("stated", "more", "less"),
    [
        ("level 2 drop", "original", "perturbed"),
        ("level 2 gain of knowledge over perturbed", "knowledge-enhanced", "perturbed"),
    ],
)
def test_differences_of_the_variants_of_level_2(stated: str, more: str, less: str) -> None:
    row = rows_of(PAPER, "levels")[1]
    assert Cell("", STATED[stated], Fraction(row[more]) - Fraction(row[less])).replays
    # The same by the protocol, for a thousand rows of which so many are right.
    level = {"level": "Level 2"}
    right = [int(Fraction(row[each]) * 10) for each in (less, more)]
    rows = [
        scored(k, variant, Fraction(k < n), **level)
        for variant, n in zip(("original", "perturbed"), right, strict=True)
        for k in range(1000)
    ]
    (pairs,) = variant_pairs(rows)
    assert pairs.mean_difference is not None
    assert Cell("", STATED[stated], 100 * pairs.mean_difference).replays


def test_problems_of_the_three_subfields_add_up() -> None:
    *parts, total = (int(row["problems"]) for row in rows_of(PAPER, "problems"))
    assert sum(parts) == total == 1717


def test_small_models_are_not_all_under_the_printed_tier_of_level_3() -> None:
    """The text has smaller models under 4.0; of those of at most ten billion parameters two in the figure are not."""
    tier = Fraction(STATED["small models on level 3 under"])
    small = ("GLM-4-9B", "Qwen2.5-7B", "Mixtral-8x7B")
    averages = {row["who"]: Fraction(row["average original"]) for row in FIGURE}
    above = {(name, STATED["small models on level 3 under"], f"{float(averages[name]):.1f}") for name in small
             if averages[name] >= tier}  # fmt: skip
    assert above == listed_faults(PAPER, "small models on level 3")
