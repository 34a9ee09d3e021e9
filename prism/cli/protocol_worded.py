"""The command `prism protocol worded`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prism.cli import options as take
from prism.cli import protocols as shared
from prism.cli.option_groups import with_options


@shared.protocols.command("worded")
@with_options
def worded(
    problems: take.ManyProblems,
    rollouts: take.Rollouts,
    readings: Annotated[
        Path | None, typer.Option(help="What a model or a person reads in answers in words, .jsonl.")
    ] = None,
    out: shared.Out = None,
    *,
    grading: shared.Grading,
) -> None:
    """Score with answers in words that a model or a person has read, beside the score by rules alone."""
    from prism.protocols.worded import PROTOCOL, VARIANT, by_response, read_readings, worded_nodes, worded_rows

    shared.prepare_output(out, force=grading.force)
    known = shared.read_problems(problems)
    read_words = {} if readings is None else dict(by_response(shared.after_warnings(read_readings(readings)), known))
    graded = shared.graded_input(problems, rollouts, grading, problems=known, then=worded_nodes)
    shared.finish(worded_rows(graded, read_words), grading, protocol=PROTOCOL, variant=VARIANT, out=out)
