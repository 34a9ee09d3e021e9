"""The generator of dear inputs and the fuzzer: what they are made of, and a slice of each, without the clock."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.robustness import costs, fuzz
from benchmarks.robustness.constructs import CONSTRUCTS, GROWN, LEAF, RELATIONS
from prism import PrismError, grade, load_problem, parse, prepare
from prism.algebra.expr import Formula, walk
from prism.algebra.operators import OPS

ROOT = Path(__file__).resolve().parents[1]
MIN_CONSTRUCTS = 60
TAPE_ONLY = {"ipow", "step", "atan2", "widen"}
SEEDS = fuzz.Seeds(
    formulas=["F = m a", r"v = \sqrt{2 g h}"],
    solutions=["So $F = m a$, and with $h = g t$ nothing else follows."],
    problems=[prepare(load_problem(costs.PROBLEM))],
)


def _ops(value: Formula) -> set[str]:
    own = {node.op for member in value.members for node in walk(member)}
    return own.union(*map(_ops, value.parts))


def _read(latex: str) -> Formula | None:
    try:
        return parse(latex)
    except PrismError:
        return None


def test_constructs_cover_the_table_of_operators():
    formulas = [costs.copy(template, LEAF, 1) for template in (*CONSTRUCTS.values(), *RELATIONS.values())]
    formulas += [grow(4) for grow in GROWN.values()]
    read = [value for value in map(_read, formulas) if value]
    covered = set().union(*map(_ops, read))
    assert OPS.keys() - covered == TAPE_ONLY
    assert len(CONSTRUCTS) >= MIN_CONSTRUCTS
    assert len(read) > 0.8 * len(formulas)


def test_series_grow_and_stay_below_the_bound():
    series = list(costs.all_series(costs.SEED, n_pairs=20))
    assert {each.call for each in series} == set(costs.CALLS)
    for each in series[::97]:
        assert len(each.text(2)) > len(each.text(1)) or each.shape in ("grown", "text"), each
    assert costs.nested(("f(@)",), 3) == "f(f(f(q)))"
    words, nesting = costs.Series("extract", "long line", "text"), costs.Series("parse", "bracket", "nested")
    assert [costs._largest(words, (64, 4096), at, 5_000) for at in (0, 1)] == [64, 1_000]
    assert costs._largest(nesting, (1,), 0, 10) == 0


def test_problems_load_and_the_honest_solution_earns_all():
    assert len(load_problem(costs.large_problem()).nodes) == len(costs.PROBLEM["grading_standard"]) + costs.LARGE
    assert grade(costs.PROBLEM, costs.HONEST).score == 1
    for place in costs.PLACES:
        load_problem(costs.problem_with(place, "2.5 m" if place == "given" else LEAF))


def test_slope_of_a_power_is_its_exponent():
    assert costs.slope([(n, 3.0 * n**2) for n in (1, 2, 4, 8)]) == pytest.approx(2)
    assert costs.slope([(1, 1.0), (2, 0.0), (4, 3.0)]) is None


def test_complaints_name_what_is_wrong():
    def measured(**what: object) -> costs.Measurement:
        return costs.Measurement("grade", "sum", "nested", 4, 100, **what)  # type: ignore[arg-type]

    assert costs.complaints(measured(cpu=0.5, memory=20.0, operations=50_000_000)) == []
    assert costs.complaints(measured(fault="TypeError: x"), by_clock=False) == ["TypeError: x"]
    assert len(costs.complaints(measured(cost=10**9), by_clock=False)) == 1
    assert len(costs.complaints(measured(cpu=1.5, memory=200.0, operations=150_000))) == 3


@pytest.mark.slow
def test_a_hanging_and_a_raising_input_are_findings(monkeypatch: pytest.MonkeyPatch):
    def perform(call, text, note, ready):
        ready()
        while call == "extract":
            pass
        raise TypeError(call)

    monkeypatch.setattr(costs, "perform", perform)
    jobs = [costs.Series(call, "long line", "text") for call in ("extract", "draft")]
    found = {each.call: each for each, _ in costs.measure_all(jobs, 1, (1,), 1)}
    assert found["extract"].fault == "ended by SIGXCPU"
    assert found["draft"].fault == "TypeError: draft"


def test_a_broken_chunk_of_the_fuzzer_is_a_finding_with_its_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def read(text: str) -> set[str]:
        raise RuntimeError(text)

    monkeypatch.setattr(fuzz, "read", read)
    state = fuzz.State(tmp_path)
    state.take(fuzz.run_forked(1, 12, SEEDS, [], set()), "tree")
    assert state.tally.counts["parse: findings"] == state.tally.counts["parse"] == 12
    assert all(each.error.startswith("RuntimeError") for each in state.tally.findings)
    assert len(state.tally.findings) == fuzz.KEPT

    monkeypatch.setattr(fuzz, "check_input", lambda *_: os._exit(9))
    ended = fuzz.run_forked(0, 1, SEEDS, [], set()).findings
    assert [(each.error, bool(each.text)) for each in ended] == [("process ended with 9", True)]


def test_the_fuzzer_goes_on_where_it_stopped(tmp_path: Path):
    def run_chunks(state: fuzz.State, number: int) -> None:
        for _ in range(number):
            state.take(fuzz.run_chunk(state.chunk, 19, SEEDS, state.corpus, state.known, fuzz.Desk()), "tree")

    whole, begun = fuzz.State(tmp_path / "whole"), fuzz.State(tmp_path / "parts")
    run_chunks(whole, 3)
    run_chunks(begun, 1)
    resumed = fuzz.State.load(tmp_path / "parts")
    run_chunks(resumed, 2)
    assert whole.corpus
    assert (resumed.chunk, resumed.corpus, resumed.known) == (whole.chunk, whole.corpus, whole.known)
    assert resumed.tally.counts == whole.tally.counts


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("script", ["calibration", "costs", "fuzz"])
def test_slice_has_no_findings(script: str):
    command = [sys.executable, f"benchmarks/robustness/{script}.py", "--slice", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout)["findings"] == []
