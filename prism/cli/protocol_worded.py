"""The command `prism protocol worded`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prism.cli.options import NO_NAMES, AsJson, Force, ManyProblems
from prism.cli.protocols import (
    Keep,
    Mapping,
    MaxIncidents,
    Out,
    Rollouts,
    SkipUnknown,
    Thinking,
    Workers,
    faults_told,
    finish,
    graded_input,
    prepare_output,
    protocols,
    read_problems,
    tell_warnings,
)
from prism.cli.references import AllowFaults


@protocols.command("worded")
def worded(
    problems: ManyProblems,
    rollouts: Rollouts,
    readings: Annotated[
        Path | None, typer.Option(help="What a model or a person reads in answers in words, .jsonl.")
    ] = None,
    out: Out = None,
    workers: Workers = None,
    mapping: Mapping = NO_NAMES,
    keep: Keep = NO_NAMES,
    skip_unknown: SkipUnknown = False,
    thinking: Thinking = False,
    allow_faults: AllowFaults = False,
    max_incidents: MaxIncidents = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Score with answers in words that a model or a person has read, beside the score by rules alone."""
    from prism.protocols.worded import PROTOCOL, VARIANT, by_response, read_readings, worded_nodes, worded_rows

    prepare_output(out, force=force)
    with faults_told():
        known = read_problems(problems)
        told = {}
        if readings is not None:
            file = read_readings(readings)
            tell_warnings(file.warnings, readings)
            told = dict(by_response(file, known))
        graded = graded_input(
            problems, rollouts, problems=known, mapping=mapping, keep=keep, skip_unknown=skip_unknown,
            thinking=thinking, allow_faults=allow_faults, workers=workers, then=worded_nodes,
        )  # fmt: skip
        rows = worded_rows(graded, told)
    finish(rows, protocol=PROTOCOL, variant=VARIANT, out=out, as_json=as_json, max_incidents=max_incidents)
