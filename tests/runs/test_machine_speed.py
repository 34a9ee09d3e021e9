"""What `prism bench` measures and prints: the shape of its table, and sums that hold at any speed."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from prism.cli import app
from prism.problem.source import shipped_files
from prism.runs import machine_speed
from prism.runs.machine_speed import GROUP, ROLLOUTS, Kind, measure_machine, variants, worker_counts

run = CliRunner()


@pytest.fixture(scope="module")
def told() -> dict:
    """What the command says of this machine as JSON, measured for a second with one worker."""
    done = run.invoke(app, ["bench", "--seconds", "1", "--workers", "1", "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_row_says_how_many_were_graded_and_how_long_a_step_takes(told: dict) -> None:
    (row,) = told["rows"]
    assert row.keys() == {"workers", "worker_megabytes", "answers", "answers_in_groups", "whole", "whole_in_groups"}
    assert (row["workers"], told["rollouts"], told["group"]) == (1, ROLLOUTS, GROUP)
    assert 20 < row["worker_megabytes"] < 5_000
    for kind in Kind:
        pace = row[kind.value]
        assert pace["graded"] >= 1
        assert pace["seconds"] * pace["per_second"] == pytest.approx(ROLLOUTS, rel=0.01)


@pytest.mark.slow
def test_kernels_were_there_or_compiled(told: dict) -> None:
    assert [name for name in ("compiling", "loading") if told[name] is not None] != ["compiling", "loading"]
    assert told["processors"] >= 1


def test_the_table_has_a_row_for_each_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    def pace(_chunks: object, kind: Kind, workers: int, _seconds: float) -> tuple[machine_speed.Pace, float]:
        return machine_speed.Pace(10, (100.0 if kind.is_whole else 1000.0) * workers), 300.0

    monkeypatch.setattr(machine_speed, "measure_pace", pace)
    printed = run.invoke(app, ["bench", "--workers", "3", "--step", "4096", "--within", "10"]).stdout
    lines = [line for line in printed.splitlines() if " s (" in line]
    assert [line.split()[1] for line in lines] == ["1", "2", "3"]
    assert [line.count(" s (") for line in lines] == [4, 4, 4]
    assert "4 s (1,000.0)" in lines[0]
    assert "14 s (300.0)" in lines[2]
    assert "Seconds for 4,096 rollouts" in printed
    assert "Workers for 4,096 rollouts within 10 s" in printed
    assert "1 (300 MB) │     1 (300 MB) │ 5 (1,500 MB) │   5 (1,500 MB)" in printed
    measured = measure_machine(workers=3)
    assert measured.rows[1].workers == 2
    assert [each.workers for each in measured.needed(1_000_000, 10).values()] == [100, 100, 1000, 1000]


def test_each_shipped_solution_is_measured_once_or_as_one_group() -> None:
    problems = machine_speed.measured_problems()
    assert len(problems) == len(shipped_files())
    responses = [student.solution for problem in problems for student in problem.students]
    for kind in Kind:
        chunks = list(machine_speed.measured_chunks(problems, kind))
        assert len(chunks) == len(responses)
        assert {len(chunk) for chunk in chunks} == {GROUP if kind.is_grouped else 1}
        if not kind.is_grouped:
            assert sorted(str(rollout.solution) for ((_, rollout),) in chunks) == sorted(responses)


def test_variants_of_a_response_lack_each_piece_once() -> None:
    text = "First $a = b; c$. Then $$d\n= e$$ and more.\nAt last $f$."
    assert variants(text)[:4] == (
        "Then $$d\n= e$$ and more.\nAt last $f$.", "First $a = b; c$. At last $f$.",
        "First $a = b; c$. Then $$d\n= e$$ and more.\n", text,
    )  # fmt: skip


def test_numbers_of_workers_double() -> None:
    assert [worker_counts(n) for n in (1, 2, 3, 8)] == [(1,), (1, 2), (1, 2, 3), (1, 2, 4, 8)]
