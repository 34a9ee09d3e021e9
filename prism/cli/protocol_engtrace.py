"""`prism protocol engtrace`: predicted traces beside gold traces, by the arithmetic of EngTrace."""

from __future__ import annotations

import re
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from prism.cli.options import AsJson, Force, is_json, n_processors, problem_file, split_names
from prism.cli.output import progress_bar
from prism.cli.protocols import (
    Keep,
    MaxIncidents,
    Out,
    PreferRules,
    Workers,
    faults_told,
    finish,
    prefers_rules,
    prepare_output,
    protocols,
    tell_warnings,
)
from prism.errors import count_of

_NAMED = ("nodes", "lexical")


@protocols.command("engtrace")
def engtrace(
    gold: Annotated[Path, typer.Argument(help="Gold traces: JSON Lines with id, seed, question, solution.")],
    predictions: Annotated[
        Path | None, typer.Argument(help="Predictions: id, seed, sample_id, generation. [default: in GOLD]")
    ] = None,
    variant: Annotated[str, typer.Option(help="Whose rules: paper, released.")] = "paper",
    votes: Annotated[Path | None, typer.Option(help="Votes of judges on pairs of steps, for tier 2.")] = None,
    similarity: Annotated[
        str, typer.Option(metavar="nodes|lexical|FILE", help="When texts of steps agree; FILE brings a measure.")
    ] = "nodes",
    problems: Annotated[
        str, typer.Option(metavar="PROBLEMS", help="Problems by the same ids, for nodes and for the root cause.")
    ] = "",
    step_tolerance: Annotated[
        str, typer.Option(help="Relative tolerance of the numbers of steps. [default: 0.02]")
    ] = "",
    accept_share: Annotated[
        str, typer.Option(help="Share of gold steps above which a right chain is accepted. [default: 0.7]")
    ] = "",
    threshold: Annotated[str, typer.Option(help="What a measure of FILE has to be above. [default: 0.7]")] = "",
    prefer: PreferRules = "",
    keep: Keep = "model",
    workers: Workers = None,
    out: Out = None,
    force: Force = False,
    max_incidents: MaxIncidents = 0,
    as_json: AsJson = False,
) -> None:
    """Score predicted traces by EngTrace: verified steps, one-to-one alignment, precision, recall and F1."""
    from prism.problem.collection import load_problems
    from prism.protocols.engtrace import PROTOCOL, EngTraceOptions
    from prism.protocols.engtrace_files import read_traces
    from prism.protocols.engtrace_runs import score_traces
    from prism.protocols.engtrace_similarity import Similarity
    from prism.protocols.engtrace_steps import Variant

    if variant not in tuple(Variant):
        raise typer.BadParameter(f"--variant {variant}: expected {' or '.join(Variant)}")
    chosen = {
        name: _share(option, text)
        for option, name, text in (
            ("--step-tolerance", "step_tolerance", step_tolerance), ("--accept-share", "accept_share", accept_share),
            ("--threshold", "threshold", threshold),
        ) if text
    }  # fmt: skip
    if chosen and variant == Variant.RELEASED:
        raise typer.BadParameter("--step-tolerance, --accept-share and --threshold are fixed in the released script")
    if "threshold" in chosen and similarity in _NAMED:
        raise typer.BadParameter("--threshold is about the measure of a file; name one with --similarity")
    is_named = similarity in _NAMED
    options = EngTraceOptions(
        Variant(variant), Similarity(similarity) if is_named else Similarity.FILE,
        prefers_rules=prefers_rules(prefer), **chosen,
    )  # fmt: skip
    prepare_output(out, force=force)
    shares = None if is_named else Path(similarity)
    with faults_told():
        known = load_problems(problems if is_json(problems) else problem_file(problems)) if problems else None
        files = read_traces(gold, predictions, votes=votes, shares=shares, keep=split_names(keep))
        for path, warning in files.warnings:
            tell_warnings([warning], path)
        if files.n_unpredicted:
            print(f"prism: {gold}: {count_of(files.n_unpredicted, 'gold')} without a prediction", file=sys.stderr)
        scored = score_traces(
            files.pairs, options, problems=known, votes_file=votes, shares_file=shares,
            workers=n_processors() if workers is None else workers,
        )  # fmt: skip
        rows = []
        with progress_bar(len(files.pairs), "scoring") as advance:
            for row in scored:
                rows.append(row)
                advance(1)
    causes = Counter(str(row.about.meta["root_cause"]) for row in rows if row.about.meta.get("root_cause"))
    n_right = sum(row.final_correct is True for row in rows)
    finish(
        rows, protocol=PROTOCOL, variant=variant, out=out, as_json=as_json, max_incidents=max_incidents,
        extra={"final_correct": n_right, "root_causes": dict(sorted(causes.items()))},
    )  # fmt: skip


def _share(option: str, text: str) -> Fraction:
    """Parse a share from 0 to 1 exactly."""
    share = Fraction(text) if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?|\.\d{1,9}", text, re.ASCII) else Fraction(-1)
    if not 0 <= share <= 1:
        raise typer.BadParameter(f"{option} {text}: expected a number from 0 to 1, such as 0.8")
    return share
