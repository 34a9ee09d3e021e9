"""What EngVQA prints of EngJudge (arXiv 2606.10833), by the arithmetic of `prism protocol engjudge` itself."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from benchmarks.papers.printed import Cell, rows_of, statements_of
from prism.problem.shapes import LoadReport
from prism.protocols.engjudge.corrections import Correction, Rating, summarize_corrections
from prism.protocols.engjudge.findings import CAPS, error_band, read_findings, relative_error, stage_cap
from prism.protocols.engjudge.scoring import PENALTIES, Ablation, Checks, ScoringOptions, final_score
from prism.protocols.engjudge.topology import NAMES, TOPOLOGIES

PAPER = "engjudge"
STATED = statements_of(PAPER)
FEW_SHOT = {row["prompt"]: row for row in rows_of(PAPER, "few_shot")}
SEVERITIES = {points: name for name, points in PENALTIES.items()}


def numbers(text: str) -> list[int]:
    return [int(each) for each in text.split()]


def part_of(row: dict[str, str]) -> dict[str, object]:
    """One example as a part of a findings row, its totals as they are printed."""
    faults = [{"severity": SEVERITIES[points], "penalty": points} for points in numbers(row["penalties"])]
    totals = {"total_penalties": int(row["total"]), "raw_score": int(row["raw"]), "capped_score": int(row["capped"])}
    if row["prompt"] not in NAMES:
        return {"violations": faults, **totals}
    kinds = [
        kind for cap in numbers(row["caps"]) for kind in CAPS if stage_cap(kind, row["prompt"]) == cap
    ]  # fmt: skip
    caps = [
        {"type": kind, "score_cap": cap} for kind, cap in zip(kinds[:1], numbers(row["caps"]), strict=True)
    ]  # fmt: skip
    return {"errors": faults, "fatal_errors": caps, **totals}


@pytest.mark.parametrize("name", FEW_SHOT)
def test_each_example_of_a_prompt_has_its_totals(name: str) -> None:
    """Total, raw and capped are recomputed, and no note tells a difference."""
    row, report = FEW_SHOT[name], LoadReport([], [])
    place = "stages" if name in NAMES else "meta"
    found = read_findings({"problem_id": "p", "sample_id": "s", place: {name: part_of(row)}}, report)
    assert not report.faults
    assert not found.notes
    if name == "sanity":  # its score is no factor; that its check is not passed is one
        assert found.sanity is not None
        assert not found.sanity.is_sane
        return
    judged = found.stages.get(name) or found.coverage or found.verbosity
    assert judged is not None
    assert judged.score == int(row["capped"])


def test_all_examples_are_there() -> None:
    assert len(FEW_SHOT) == 11
    assert set(NAMES) < FEW_SHOT.keys()


def test_an_example_with_a_wrong_digit_is_told() -> None:
    row = {**FEW_SHOT["VISUAL_INTERPRETATION"], "total": "7"}
    report = LoadReport([], [])
    found = read_findings({"problem_id": "p", "sample_id": "s", "stages": {row["prompt"]: part_of(row)}}, report)
    assert found.notes == ("total: 7 in the file, 4 from its penalties (VISUAL_INTERPRETATION)",)


def test_the_example_of_a_final_answer() -> None:
    stated, wanted = (Fraction(STATED[f"example {each}, W"]) for each in ("predicted", "reference"))
    error = relative_error(stated, wanted)
    assert error is not None
    assert Cell("", STATED["example relative error"], error).replays
    assert error_band(stated, wanted) == STATED["example band"]


def test_the_ablation_of_the_topology_has_the_order_of_the_study() -> None:
    """Base scores without checks and missing stages: flat is the highest, the chain the lowest."""
    stages: dict[str, Fraction | None] = {
        name: Fraction(value) for name, value in zip(NAMES, (10, 8, 6, 3, 8, 3, 10, 6), strict=True)
    }
    without = frozenset((Ablation.META, Ablation.MISSING))
    flat, dag, linear = (
        final_score(stages, Checks(), ScoringOptions(TOPOLOGIES[name], without)).final
        for name in ("flat", "default", "linear")
    )
    assert flat > dag > linear


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scores", "expected"),
    [((*(Fraction(k, 100) for k in range(1001)),), 0.949), ((0, 3, 6, 10), 0.972), ((0, 3, 10), 0.982)],
)
def test_a_correlation_like_the_printed_one_comes_from_moves_at_random(scores, expected: float) -> None:
    """393 made-up scores, moved by nobody's opinion: 48.9 % stay, and the mean move is near 0.67 before clipping.

    The shares of moves by 1 and by 2, p and q, are p + q = 0.511 and p + 2 q = 0.67: q = 0.159, p = 0.352.
    """
    moves = [*Rating]
    weights = [0.0795, 0.176, 0.489, 0.176, 0.0795]
    draw, found = random.Random(1), []
    for _ in range(30):
        judge = {("p", str(k), "coverage"): Fraction(draw.choice(scores)) for k in range(int(STATED["points"]))}
        rated = [
            Correction("p", sample, part, rating)
            for (_, sample, part), rating in zip(judge, draw.choices(moves, weights, k=len(judge)), strict=True)
        ]
        summary = summarize_corrections(judge, rated)
        assert summary.correlation is not None
        found.append(summary.correlation)
    assert sum(found) / len(found) == pytest.approx(expected, abs=0.004)
