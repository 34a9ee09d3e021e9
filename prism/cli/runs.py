"""Commands on many solutions: `run`, `bench`, `verify-determinism`, `serve`, `warm`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

import prism
from prism.cli import options as take
from prism.cli.application import HelpHeading, app
from prism.cli.options import names, option, switch, with_options
from prism.cli.output import (
    describe_run,
    print_json,
    print_speed,
    progress_bar,
    spinner,
    tell_pace,
    tell_scanned,
    tell_unreadable,
)
from prism.cli.references import require_gradable
from prism.cli.talk import GATE_FAILED, STOPPED, exit_unless_graded, fail, in_words, tell
from prism.errors import count_of
from prism.resources import n_processors

if TYPE_CHECKING:
    from prism.runs.bulk import Summary
    from prism.runs.rollouts import Scanned

Workers = Annotated[int | None, typer.Option(min=0, help="Processes; 0 grades in this one. [default: processors]")]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How rollouts are read and graded: options of `run`."""

    workers: Workers = None
    resume: bool = switch("Go on with what an interrupted run has left.", "--resume")
    mapping: take.RolloutMap = field(default_factory=list)
    keep: list[str] = names(
        "Further fields that go beside each grade. [default: model]", metavar="FIELD,...", default=("model",)
    )
    skip_unknown: take.SkipUnknown = False
    training: bool = switch("Also the policy `training`.", "--training")
    follow_through: bool = switch("Also the policy `follow_through`; diagnoses each rollout.", "--follow-through")
    thinking: take.Thinking = False
    compact: bool = switch("Leave the formulas out of the rows.", "--compact")
    kill_after: float = option("Seconds that a worker may take for one rollout.", 300, min=1)
    max_incidents: take.MaxIncidents = 0
    ray: str = option("Grade on a Ray cluster: auto, local, or HOST:PORT; extra `ray`.", "", metavar="ADDRESS")
    macros: take.MacroFile = ""
    allow_faults: take.AllowFaults = False
    force: take.Force = False
    as_json: take.AsJson = False


@app.command(rich_help_panel=HelpHeading.EVALUATE)
@with_options
def run(
    problems: take.ManyProblems,
    rollouts: take.Rollouts,
    out: Path = take.option("Result file: .jsonl or .parquet.", ..., "--out", "-o"),
    *,
    asked: RunOptions,
) -> None:
    """Grade many rollouts into a file of score rows, in input order; it can be killed at any moment and resumed."""
    from prism.runs.bulk import Shards

    if asked.resume and asked.force:
        raise typer.BadParameter("--resume goes on with what is there and --force writes over it: give one of them")
    take.require_folder(out)
    if not take.is_json(problems):
        take.problem_file(problems)
    try:
        found = _graded(problems, rollouts, out, asked)
    except prism.PrismError as error:
        left = isinstance(error, prism.DataFileError) and Shards(out).is_unfinished()
        fail(f"{error}\n{out}: the same command with --resume goes on once that is mended" if left else str(error))
    except OSError as error:  # a full disk, say
        fail(f"{in_words(error)}; the same command with --resume goes on beside {out}")
    except KeyboardInterrupt:
        tell(f"stopped; the same command with --resume goes on beside {out}")
        raise typer.Exit(STOPPED) from None
    summary, left_out = found.summary, found.scanned.left_out
    if asked.as_json:
        print_json({**summary.to_dict(), "left_out": [file.to_dict() for file in left_out]})
    else:
        print(describe_run(summary, out, left_out))
        tell_unreadable(summary, out)
        tell_pace(summary, found.seconds)
    exit_unless_graded(bool(summary.n_graded), summary.n_incident, asked.max_incidents)


def _graded(problems: str, rollouts: Path, out: Path, asked: RunOptions) -> _Run:
    """Scan and grade the rollouts; errors and Ctrl-C are the caller's to tell."""
    from prism.problem.collection import list_problems, load_problems
    from prism.runs import bulk
    from prism.runs import ray as on_ray
    from prism.runs.rollouts import scan
    from prism.runs.workers import RunWorkers

    options = bulk.Options(
        thinking=asked.thinking, training=asked.training, formulas=not asked.compact,
        follow_through=asked.follow_through,
    )  # fmt: skip
    known = (load_problems if asked.ray else list_problems)(problems, macros=take.read_macro_file(asked.macros))
    fields = take.parse_field_map(asked.mapping)
    scanned = scan(rollouts, known, mapping=fields, keep=asked.keep, skip_unknown=asked.skip_unknown)
    tell_scanned(scanned, rollouts)
    processes = n_processors() if asked.workers is None else asked.workers
    graded_by = {name: problem for name, problem in known.items() if name in scanned.problem_ids}
    with RunWorkers(processes, training=asked.training, kill_after=asked.kill_after) as workers:
        require_gradable(problems, graded_by, allow_faults=asked.allow_faults, workers=workers)
        grade_all: Callable[..., Summary] = partial(bulk.run, run_tasks=workers.run)
        if asked.ray:
            workers.stop()
            n_actor = 0 if asked.workers is None else processes
            grade_all = partial(on_ray.run, address=asked.ray, workers=n_actor, kill_after=asked.kill_after)
        began = perf_counter()
        with progress_bar(scanned.n, "grading") as advance:
            summary = grade_all(
                known, rollouts, scanned, out, options=options, resume=asked.resume, force=asked.force, on_done=advance
            )
    return _Run(summary, scanned, perf_counter() - began)


@dataclass(frozen=True, slots=True)
class _Run:
    """What a run has made, what it has read, and the seconds that grading took."""

    summary: Summary
    scanned: Scanned
    seconds: float


@app.command(rich_help_panel=HelpHeading.EVALUATE)
def bench(
    seconds: float = take.option("That all measurements together take.", 60, min=1),
    workers: int | None = take.option("The most processes. [default: processors]", min=1),
    step: int = take.option("Rollouts of a step of training, to tell its workers for.", 256, min=1),
    within: float = take.option("Seconds in which they are to be graded.", 10, min=0.1),
    as_json: take.AsJson = False,
) -> None:
    """Measure what this machine does: answers and grades a second, by the number of workers, on shipped solutions."""
    from prism.runs.machine_speed import measure_machine

    with spinner("measuring"):
        measured = measure_machine(workers=workers, seconds=seconds)
    if as_json:
        needed = {kind.value: each.to_dict() for kind, each in measured.needed(step, within).items()}
        print_json({**measured.to_dict(), "step": {"rollouts": step, "within": within, **needed}})
    else:
        print_speed(measured, step, within)


@app.command("verify-determinism", rich_help_panel=HelpHeading.GATE)
def verify_determinism(
    problem: str | None = take.argument(
        "Problem file, or the id of a shipped one. [default: all shipped ones]",
        None,
        autocompletion=take.complete_problem,
    ),
    solutions: list[str] | None = take.argument(
        "Solutions, as `grade` takes them. [default: those in the problem]", None
    ),
    as_json: take.AsJson = False,
) -> None:
    """Grade twice, with other kernels, hash seed and order; exit code 1 unless the bytes are the same."""
    from prism.problem.collection import load_problems
    from prism.resources import resource
    from prism.runs import determinism

    source = resource("dags") if problem is None else take.problem_file(problem)
    known = load_problems(source)
    if solutions and len(known) != 1:
        fail(f"{problem}: holds {len(known)} problems; solutions are of one")
    given = dict(zip(solutions or (), take.read_solutions(solutions or ()), strict=True))
    samples = [determinism.Sample(one, name, text) for one in known for name, text in given.items()] or [
        determinism.Sample(one.id, student.name, student.solution) for one in known.values() for student in one.students
    ]
    with spinner(f"grading {count_of(len(samples), 'solution')} twice"):
        found = determinism.check_determinism(source, samples, environment=os.environ)
    if as_json:
        print_json(found.to_dict())
    else:
        for name, digest in found.sha256.items():
            print(f"{digest}  {count_of(found.n, 'solution')}, {name}")
        for one in found.differences:
            print(f"{one.problem_id}/{one.sample_id}: {one.path}: {' and '.join(one.values)}")
        n = len(found.differences)
        print(f"{count_of(n, 'solution')} {'differs' if n == 1 else 'differ'}" if n else "the same bytes")
    if found.differences:
        raise typer.Exit(GATE_FAILED)


@app.command(rich_help_panel=HelpHeading.TRAIN)
def serve(
    problems: take.ManyProblems,
    host: str = take.option("Address; any other than this machine's own needs a token.", "127.0.0.1"),
    port: int = take.option("Port; 0 takes a free one.", 8777, min=0, max=65535),
    workers: Workers = None,
    scoring: list[str] = take.names(
        "What /get_reward and /verify pay for, or final=0.3,closure=0.7. [default: closure]",
        metavar="NAME[=WEIGHT],...",
        default=("closure",),
    ),
    token_file: Path | None = take.option("File with the token that requests show, or one a line."),
    token_env: take.TokenVariable = "",
    max_body: str = take.option("Size of a request: 500kB, 8MiB.", "8MiB"),
    max_items: int = take.option("Solutions in a request.", 256, min=1),
    queue: int = take.option("Requests that are taken in before the next is sent away.", 256, min=1),
    thinking: take.Thinking = False,
    kill_after: float = take.option("Seconds that a worker may take for one solution.", 60, min=1),
) -> None:
    """Grade over HTTP: /grade, /get_reward (OpenRLHF), /verify (NeMo Gym), /healthz; /docs tells more."""
    from prism import server

    take.problem_file(problems)
    tokens = take.read_tokens(token_file, token_env)
    if not tokens and not server.is_loopback(host):
        raise typer.BadParameter(f"--host {host} is open to others: name a token with --token-file or --token-env")
    body = take.parse_size(max_body)
    limits = server.Limits(
        body=body, bodies=max(server.Limits().bodies, body), items=max_items, queue=queue, kill_after=kill_after
    )
    served = server.create_app(
        problems, scoring=take.parse_scoring(scoring), token=tokens, limits=limits,
        workers=n_processors() if workers is None else workers, thinking=thinking,
    )  # fmt: skip
    server.run(served, host=host, port=port)


@app.command(rich_help_panel=HelpHeading.TRAIN)
def warm() -> None:
    """Compile the kernels once, so that long jobs start fast."""
    with spinner("compiling"):
        prism.warm()
    print("kernels compiled and loaded", file=sys.stderr)
