import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.errors import DataFileError, PrismError
from prism.grading.steps import Step
from prism.problem.collection import list_problems, load_problems
from prism.runs import workers
from prism.runs.bulk import Options, grade_rollout, run
from prism.runs.rollouts import Rollout, scan
from prism.runs.score_files import score_rows
from prism.runs.workers import Task, run_in_workers

FALL = {
    "id": "fall",
    "context": "A stone falls for a time $t$ with the acceleration $g$.",
    "subquestions": [{"letter": "a", "subproblem": "Find its speed $v$.", "final_answer_form": "algebraic"}],
    "grading_standard": [{"index": 1, "formula": "v = g t", "dependency": [], "is_final_answer": True}],
}
TEXTS = ["$v = gt$", "$v = 2gt$", "no formula", "$v = g \\frac{", "$t = v/g$", "half a pair: \ud800 $v = gt$"]


def _rollouts(n: int) -> list[dict[str, str]]:
    return [{"problem_id": "fall", "sample_id": f"s{k:03}", "response": TEXTS[k % len(TEXTS)]} for k in range(n)]


@pytest.fixture
def files(tmp_path):
    """Problems and rollouts as files."""
    (tmp_path / "problems.jsonl").write_text(json.dumps(FALL), encoding="utf-8")
    (tmp_path / "rollouts.jsonl").write_text("\n".join(map(json.dumps, _rollouts(20))), encoding="utf-8")
    return tmp_path


def _ran(folder: Path, out: str, rollouts: str = "rollouts.jsonl", **options):
    known = load_problems(folder / "problems.jsonl")
    source = folder / rollouts
    return run(known, source, scan(source, known), folder / out, **{"workers": 0, **options})


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def _fail(problem, solution, **options):
    raise ZeroDivisionError


def _stay(shards):
    """Instead of `Shards.finish`: leave the folder as a kill would."""


@pytest.fixture
def started_fast(monkeypatch):
    """Workers that load no compiled kernels."""
    monkeypatch.setenv("PRISM_KERNELS", "interpreted")


# Grades of values. ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_grades_come_in_the_order_of_the_rollouts(workers, started_fast):
    found = list(prism.grade_many(FALL, iter(_rollouts(30)), workers=workers))
    assert [grade.sample_id for grade in found] == [f"s{k:03}" for k in range(30)]
    assert found == [prism.grade(FALL, row["response"], sample_id=row["sample_id"]) for row in _rollouts(30)]


def test_rollouts_are_taken_as_they_are_needed():
    taken: list[int] = []

    def endless():
        while True:
            taken.append(len(taken))
            yield Rollout("fall", "$v = gt$", str(len(taken)))

    grades = prism.grade_many(FALL, endless())
    assert [next(grades).sample_id for _ in range(3)] == ["1", "2", "3"]
    assert len(taken) <= 4


def test_what_is_no_rollout_raises_where_it_stands():
    grades = prism.grade_many(FALL, [{"response": "$v = gt$"}, {"reply": "$v = gt$"}])
    assert next(grades).score == 1
    with pytest.raises(PrismError, match="rollout 2: no solution among the fields reply"):
        next(grades)


@pytest.mark.slow
def test_what_stands_before_a_fault_is_graded_by_workers_too(started_fast):
    grades = prism.grade_many(FALL, [{"response": "$v = gt$"}, {"reply": "$v = gt$"}], workers=1)
    assert next(grades).score == 1
    with pytest.raises(PrismError, match="rollout 2"):
        next(grades)


def test_faults_of_problems_are_told_before_any_rollout_is_taken():
    broken = {**FALL, "id": "broken", "grading_standard": []}
    with pytest.raises(DataFileError, match=r'2\. <dict>: the id "fall" is that of 1\. <dict> too') as caught:
        prism.grade_many([FALL, FALL, broken], iter(()))
    assert "3. <dict>: nodes: there are none" in str(caught.value)
    with pytest.raises(PrismError, match="workers = -1"):
        prism.grade_many(FALL, iter(()), workers=-1)


def test_an_exception_of_the_grader_is_an_incident_of_one_grade(monkeypatch):
    monkeypatch.setattr("prism.runs.bulk.grade", _fail)
    (grade,) = prism.grade_many(FALL, [{"response": "$v = gt$", "sample_id": "s"}])
    assert (grade.status, grade.score, grade.missing) == ("internal", None, (1,))
    assert grade.incidents[0].detail.startswith("ZeroDivisionError")


# Problems that are loaded when a rollout names them. ------------------------------------------------------------

BROKEN = {**FALL, "id": "broken", "grading_standard": [{"index": 1, "formula": "v = g (", "dependency": [9]}]}


def _with_problems(folder: Path, *problems: object) -> Path:
    path = folder / "set.jsonl"
    path.write_text("\n".join(map(json.dumps, problems)), encoding="utf-8")
    return path


def test_a_problem_that_no_rollout_names_is_not_loaded(files, monkeypatch):
    rows = _ran(files, "loaded.jsonl") and (files / "loaded.jsonl").read_bytes()
    known = list_problems(_with_problems(files, BROKEN, FALL))
    source = files / "rollouts.jsonl"
    run(known, source, scan(source, known), files / "listed.jsonl", workers=0)
    assert (files / "listed.jsonl").read_bytes() == rows
    again = run(known, source, scan(source, known), files / "listed.jsonl", workers=0, resume=True)
    assert (again.n, again.n_new) == (20, 0)


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_faults_of_all_problems_that_rollouts_name_are_told_at_the_first(files, workers):
    worse = {**BROKEN, "id": "worse"}
    path = _with_problems(files, FALL, BROKEN, worse, {**BROKEN, "id": "not named"})
    named = [{"problem_id": name, "sample_id": name, "response": "$v = gt$"} for name in ("broken", "fall", "worse")]
    (files / "named.jsonl").write_text("\n".join(map(json.dumps, named)), encoding="utf-8")
    asked = ["run", str(path), str(files / "named.jsonl"), "-o", str(files / "out.jsonl"), "--workers", str(workers)]
    found = CliRunner().invoke(app, asked)
    assert (found.exit_code, found.stdout) == (3, "")
    for line in (2, 3):
        assert f"problems: {path}:{line}: node 1, formula: `v = g (` does not parse" in found.stderr
        assert f"problems: {path}:{line}: node 1, dependency: 9" in found.stderr
    assert f"{path}:4" not in found.stderr
    assert not (files / "out.jsonl").exists()
    if not workers:  # no row was written before: the mended command is the same one
        assert not list(files.glob("out.jsonl.parts*"))


def test_faults_that_need_no_formula_are_told_before_anything_is_graded(files):
    path = _with_problems(files, FALL, FALL, BROKEN, {"context": "", "grading_standard": []})
    with pytest.raises(DataFileError) as caught:
        list_problems(path)
    told = str(caught.value)
    assert f'{path}:2: the id "fall" is that of {path}:1 too' in told
    assert f"{path}:3: node 1, formula: " in told  # once something is wrong, all is told
    assert f"{path}:4: id: is missing" in told


# Workers. -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_who_stops_early_leaves_no_process(started_fast):
    problem = prism.load_problem(FALL)
    tasks = (Task(k, Rollout("fall", "$v = gt$", str(k)), problem) for k in range(1000))
    others = set(_children(os.getpid()))
    found = run_in_workers(tasks, partial(grade_rollout, options=Options()), workers=2, training=False)
    assert next(found).result.score == 1
    mine = set(_children(os.getpid())) - others
    assert len(mine) >= 2
    found.close()
    assert not mine & set(_children(os.getpid()))


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for path in listed for child in path.read_text().split()]


@pytest.mark.slow
def test_workers_that_cannot_start_are_an_error(monkeypatch):
    monkeypatch.setattr("prism.runs.workers._START", "raise SystemExit(3)  # {path}")
    with pytest.raises(PrismError, match="ended 5 times before it was ready, the last time with code 3"):
        list(prism.grade_many(FALL, [{"response": "$v = gt$"}], workers=1))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_workers_that_are_killed_before_they_are_ready_are_started_again(monkeypatch, tmp_path):
    n_killed = workers.STARTS + 2
    dies = f"import os, pathlib; seen = pathlib.Path({str(tmp_path / 'starts')!r}); seen.open('a').write('x')"
    dies += f"; len(seen.read_text()) > {n_killed} or os.kill(os.getpid(), 9); "
    monkeypatch.setattr(workers, "_START", dies + workers._START)
    monkeypatch.setattr(workers, "_RESPAWN", 0.01)
    (row,) = prism.grade_many(FALL, [{"response": "$v = gt$"}], workers=1)
    assert row.status != "killed"
    assert (tmp_path / "starts").read_text() == "x" * (n_killed + 1)


# Runs. ----------------------------------------------------------------------------------------------------------


def test_a_run_writes_rows_in_the_order_of_the_input(files):
    summary = _ran(files, "out.jsonl")
    rows = _rows(files / "out.jsonl")
    assert [row["sample_id"] for row in rows] == [f"s{k:03}" for k in range(20)]
    assert (summary.n, summary.n_new, summary.n_graded) == (20, 20, 20)
    assert summary.mean_score == pytest.approx(sum(row["score"] for row in rows) / 20)
    assert list(rows[0]) == sorted(rows[0])
    assert {path.name for path in files.iterdir()} == {"out.jsonl", "problems.jsonl", "rollouts.jsonl"}


def test_a_row_is_the_grade_and_what_is_kept_beside_it(files):
    _ran(files, "out.jsonl", options=Options(formulas=False))
    row = _rows(files / "out.jsonl")[0]
    assert row["score"] == 1
    assert row["meta"] == {}
    assert "formulas" not in row


class _Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("after", [0, 1, 7, 19])
def test_a_run_that_ends_at_any_row_is_resumed_to_the_same_bytes(files, monkeypatch, after):
    _ran(files, "whole.jsonl")
    left = after
    calls: list[str] = []

    def grade(problem, solution, **options):
        nonlocal left
        if left == 0:
            raise _Killed
        left -= 1
        calls.append(options["sample_id"])
        return prism.grade(problem, solution, **options)

    monkeypatch.setattr("prism.runs.bulk.grade", grade)
    with pytest.raises(_Killed):
        _ran(files, "out.jsonl")
    left = -1
    with pytest.raises(PrismError, match="--resume goes on with it, --force begins anew"):
        _ran(files, "out.jsonl")
    told: list[int] = []
    summary = _ran(files, "out.jsonl", resume=True, on_done=told.append)
    assert (files / "out.jsonl").read_bytes() == (files / "whole.jsonl").read_bytes()
    assert len(calls) == len(set(calls)) == 20
    assert (summary.n, summary.n_new, sum(told)) == (20, 20 - after, 20)


def test_lines_that_were_cut_or_damaged_are_graded_again(files, monkeypatch):
    _ran(files, "whole.jsonl")
    monkeypatch.setattr("prism.runs.bulk.Shards.finish", _stay)
    _ran(files, "out.jsonl")
    monkeypatch.undo()
    (files / "out.jsonl").unlink()
    (shard,) = (files / "out.jsonl.parts").glob("*.rows")
    content = bytearray(shard.read_bytes())
    lines = content.split(b"\n")
    content[len(lines[0]) + 200] ^= 1  # in the second line
    shard.write_bytes(content[: -len(lines[-2]) // 2])  # and the last one cut
    summary = _ran(files, "out.jsonl", resume=True)
    assert summary.n_new == 2
    assert (files / "out.jsonl").read_bytes() == (files / "whole.jsonl").read_bytes()


def test_a_row_of_another_content_is_graded_again(files, monkeypatch):
    monkeypatch.setattr("prism.runs.bulk.Shards.finish", _stay)
    _ran(files, "out.jsonl")
    monkeypatch.undo()
    rows = _rollouts(20)
    rows[3]["response"] = "$v = gt$, changed"
    (files / "rollouts.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert _ran(files, "out.jsonl", resume=True).n_new == 1
    _ran(files, "whole.jsonl")
    assert (files / "out.jsonl").read_bytes() == (files / "whole.jsonl").read_bytes()


def test_an_output_is_written_over_with_force_only(files):
    _ran(files, "out.jsonl")
    first = (files / "out.jsonl").read_bytes()
    (files / "rollouts.jsonl").write_text("\n".join(map(json.dumps, _rollouts(7))), encoding="utf-8")
    with pytest.raises(PrismError, match="is there already, and whole; --force writes over it, --resume takes over"):
        _ran(files, "out.jsonl")
    assert (files / "out.jsonl").read_bytes() == first
    assert _ran(files, "out.jsonl", force=True).n_new == 7
    assert len(_rows(files / "out.jsonl")) == 7
    with pytest.raises(PrismError, match=r"'.txt'; expected .jsonl or .parquet"):
        _ran(files, "out.txt")


@pytest.mark.parametrize("out", ["out.jsonl", "out.parquet"])
def test_a_finished_run_is_resumed_to_itself(files, out):
    written = _ran(files, out)
    content = (files / out).read_bytes()
    again = _ran(files, out, resume=True)
    assert again == replace(written, n_new=0)
    assert (files / out).read_bytes() == content
    for options in (Options(formulas=False),):
        with pytest.raises(PrismError, match="of another input or grader"):
            _ran(files, out, resume=True, options=options)
    (files / "rollouts.jsonl").write_text("\n".join(map(json.dumps, _rollouts(19))), encoding="utf-8")
    with pytest.raises(PrismError, match="of another input or grader"):
        _ran(files, out, resume=True)


def test_a_forced_run_that_is_killed_leaves_the_old_output_and_is_resumed(files, monkeypatch):
    _ran(files, "out.jsonl")
    first = (files / "out.jsonl").read_bytes()
    (files / "rollouts.jsonl").write_text("\n".join(map(json.dumps, _rollouts(21)[1:])), encoding="utf-8")

    def grade(problem, solution, **options):
        if options["sample_id"] == "s015":
            raise _Killed
        return prism.grade(problem, solution, **options)

    monkeypatch.setattr("prism.runs.bulk.grade", grade)
    with pytest.raises(_Killed):
        _ran(files, "out.jsonl", force=True)
    monkeypatch.undo()
    assert (files / "out.jsonl").read_bytes() == first
    assert _ran(files, "out.jsonl", resume=True).n_new == 6
    assert [row["sample_id"] for row in _rows(files / "out.jsonl")][::19] == ["s001", "s020"]


def test_force_begins_anew_beside_an_interrupted_run(files, monkeypatch):
    monkeypatch.setattr("prism.runs.bulk.Shards.finish", _stay)
    _ran(files, "out.jsonl")
    monkeypatch.undo()
    assert _ran(files, "out.jsonl", force=True).n_new == 20
    assert not (files / "out.jsonl.parts").exists()


def test_run_takes_force_as_other_commands_and_not_with_resume(files):
    assert _cli(files).exit_code == 0
    again = _cli(files)
    assert (again.exit_code, "--force" in again.stderr, "--resume" in again.stderr) == (3, True, True)
    assert _cli(files, "--force").exit_code == 0
    assert _cli(files, "--force", "--resume").exit_code == 2


def test_two_runs_do_not_write_one_output(files, monkeypatch):
    def grade(problem, solution, **options):
        for resume in (True, False):  # never to remove the folder of the first, or to resume it
            with pytest.raises(PrismError) as caught:
                _ran(files, "out.jsonl", resume=resume)
            told = f"another run (process {os.getpid()}) is writing it; let it end, or name another output"
            assert str(caught.value) == f"{files / 'out.jsonl'}: {told}"
        raise _Killed

    monkeypatch.setattr("prism.runs.bulk.grade", grade)
    with pytest.raises(_Killed):
        _ran(files, "out.jsonl")
    with pytest.raises(PrismError, match=r"an interrupted run left out\.jsonl\.parts: --resume goes on with it"):
        _ran(files, "out.jsonl")


def test_a_run_longer_than_a_shard(files, monkeypatch):
    _ran(files, "whole.jsonl")
    monkeypatch.setattr("prism.runs.bulk.SHARD", 7)
    _ran(files, "out.jsonl")
    assert (files / "out.jsonl").read_bytes() == (files / "whole.jsonl").read_bytes()


def test_parquet_holds_the_same_rows(files):
    _ran(files, "out.jsonl")
    _ran(files, "out.parquet")
    pairs = zip(score_rows(files / "out.parquet"), score_rows(files / "out.jsonl"), strict=True)
    lost = [row["sample_id"] for mine, row in pairs if mine != row]
    assert lost == []
    for name, content in (("no.jsonl", b'{"score": 1}'), ("no.jsonl", b"{"), ("no.parquet", b"PAR1")):
        (files / name).write_bytes(content)
        with pytest.raises(DataFileError, match=name):
            list(score_rows(files / name))


# Command line. --------------------------------------------------------------------------------------------------


def _cli(folder: Path, *more: str):
    arguments = [
        "run",
        str(folder / "problems.jsonl"),
        str(folder / "rollouts.jsonl"),
        "-o",
        str(folder / "out.jsonl"),
        *more,
    ]
    return CliRunner().invoke(app, [*arguments, "--workers", "0"])


def test_cli_run_says_what_it_wrote(files):
    result = _cli(files, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["rollouts"], told["statuses"], told["incidents"]) == (20, {"ok": 20}, 0)
    rows = _rows(files / "out.jsonl")
    assert told["cost"] == sum(row["cost"] for row in rows)
    costs = sorted((row["cost"] for row in rows), reverse=True)
    assert [each["cost"] for each in told["dearest"]] == costs[:10]
    assert {each["sample_id"] for each in told["dearest"]} <= {row["sample_id"] for row in rows}
    assert _cli(files).exit_code == 3


def test_cli_run_tells_how_fast_it_was_and_what_cost_most(files):
    told = _cli(files).stderr
    assert re.search(r"prism: \d+\.\d rollouts a second; the dearest took \d+% of [\d,]+ M operations: ", told), told
    shares = re.search(r"prism: the time of the workers, \d+\.\d s: (.*)", told)
    assert shares, told
    assert [each.split()[0] for each in shares[1].split(", ")] == [step.value for step in Step]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 1])
def test_a_run_tells_where_its_time_went(files, workers):
    """Seconds of each step stand in the summary alone: no row may depend on a clock."""
    told = _ran(files, "out.jsonl", workers=workers)
    assert list(told.seconds) == list(told.to_dict()["seconds"]) == list(Step)
    assert sum(told.seconds.values()) > 0
    assert not any("seconds" in row for row in _rows(files / "out.jsonl"))


def test_a_run_that_grades_nothing_has_no_time(files):
    assert _cli(files).exit_code == 0
    assert json.loads(_cli(files, "--json", "--resume").stdout)["seconds"] == {}


@pytest.mark.slow
def test_cli_run_exit_codes(files, monkeypatch):
    assert _cli(files, "--map", "response").exit_code == 2
    assert _cli(files, "--map", "response=reply").exit_code == 3
    monkeypatch.setattr("prism.runs.bulk.grade", _fail)
    assert _cli(files).exit_code == 5
    (files / "out.jsonl").unlink()
    monkeypatch.setattr(
        "prism.runs.bulk.grade",
        lambda problem, text, **options: 1 / 0 if "2" in text else prism.grade(problem, text, **options),
    )
    assert _cli(files).exit_code == 4
    (files / "out.jsonl").unlink()
    assert _cli(files, "--max-incidents", "4").exit_code == 0


@pytest.mark.slow
def test_a_killed_run_is_resumed_by_the_command_line(files, started_fast):
    """SIGKILL to the supervisor while it grades; `make evidence` does it at many moments."""
    (files / "rollouts.jsonl").write_text("\n".join(map(json.dumps, _rollouts(400))), encoding="utf-8")
    command = [sys.executable, "-m", "prism", "run", "problems.jsonl", "rollouts.jsonl", "--workers", "1", "-o"]
    process = subprocess.Popen([*command, "out.jsonl"], cwd=files)
    shards = files / "out.jsonl.parts"
    rng = random.Random(7)
    while not any(path.stat().st_size > rng.randrange(20_000) for path in shards.glob("*.rows")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (files / "out.jsonl").exists()
    resumed = subprocess.run([*command, "out.jsonl", "--resume", "--json"], cwd=files, capture_output=True, check=True)
    assert 0 < json.loads(resumed.stdout)["graded_now"] < 400
    assert _ran(files, "whole.jsonl").n == 400
    assert (files / "out.jsonl").read_bytes() == (files / "whole.jsonl").read_bytes()


def test_skipped_records_are_counted_and_leave_the_other_rows_alone(tmp_path):
    path = tmp_path / "mixed.jsonl"
    rows = [
        {"problem_id": name, "id": str(k), "response": "$v = g t$"} for k, name in enumerate(("x", "free_fall", "y"))
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    known = load_problems("free_fall")
    scanned = scan(path, known, skip_unknown=True)
    summary = run(known, path, scanned, tmp_path / "out.jsonl", workers=0)
    assert (summary.n, summary.n_skipped, summary.to_dict()["skipped"]) == (1, 2, 2)
    assert run(known, path, scanned, tmp_path / "out.jsonl", workers=0, resume=True).n_skipped == 2
    path.write_text(json.dumps(rows[1]), encoding="utf-8")
    run(known, path, scan(path, known), tmp_path / "alone.jsonl", workers=0)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "alone.jsonl").read_bytes()
