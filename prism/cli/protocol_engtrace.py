"""`prism protocol engtrace`: predicted traces beside gold traces, by the arithmetic of EngTrace."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli import options as take
from prism.cli import protocols as shared
from prism.cli.output import with_progress
from prism.cli.references import require_gradable
from prism.cli.talk import require_one_of, tell
from prism.errors import count_of
from prism.resources import n_processors

if TYPE_CHECKING:
    from prism.protocols.engtrace import EngTraceOptions
    from prism.protocols.engtrace_causes import RootCause
    from prism.protocols.engtrace_files import TraceFiles
    from prism.protocols.rows import ProtocolRow

_NAMED = ("nodes", "lexical")


@shared.protocols.command("engtrace")
def engtrace(
    gold: Annotated[Path, typer.Argument(help="Gold traces: JSON Lines with id, seed, question, solution.")],
    predictions: Annotated[
        Path | None, typer.Argument(help="Predictions: id, seed, sample_id, generation. [default: in GOLD]")
    ] = None,
    variant: Annotated[str, typer.Option(help="Whose rules: paper, released.")] = "paper",
    votes: Annotated[Path | None, typer.Option(help="Votes of judges on pairs of steps, for tier 2.")] = None,
    causes: Annotated[Path | None, typer.Option(help="Root causes of wrong traces, by a judge or a person.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only rows of traces whose final answer is wrong.")] = False,
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
    prefer: shared.PreferRules = "",
    keep: shared.Keep = take.NO_NAMES,
    workers: shared.Workers = None,
    out: shared.Out = None,
    force: take.Force = False,
    max_incidents: take.MaxIncidents = 0,
    allow_faults: take.AllowFaults = False,
    as_json: take.AsJson = False,
) -> None:
    """Score predicted traces by EngTrace: verified steps, one-to-one alignment, precision, recall and F1."""
    given = {"--step-tolerance": step_tolerance, "--accept-share": accept_share, "--threshold": threshold}
    options = _options(variant, similarity, prefer, {name: text for name, text in given.items() if text})
    shared.prepare_output(out, force=force)
    shares = None if similarity in _NAMED else Path(similarity)
    files = _read(gold, predictions, votes, shares, keep)
    of_file = {} if causes is None else _read_causes(causes, files)
    rows = _score(files, options, problems, votes, shares, workers, allow_faults=allow_faults)
    rows = _with_causes(rows, of_file, options)
    n_right = sum(row.final_correct is True for row in rows)
    rows = [row for row in rows if row.final_correct is False] if failed else rows
    found = Counter(str(row.about.meta["root_cause"]) for row in rows if row.about.meta.get("root_cause"))
    asked = shared.Grading(as_json=as_json, max_incidents=max_incidents)
    extra = {"final_correct": n_right, "root_causes": dict(sorted(found.items()))}
    shared.finish(rows, asked, protocol="engtrace", variant=variant, out=out, extra=extra)


def _read_causes(path: Path, files: TraceFiles) -> dict[tuple[str, str], RootCause]:
    """Read root causes; one of a trace that is not predicted is told on standard error."""
    from prism.protocols.engtrace_causes import read_causes

    found = read_causes(path)
    known = {(pair.problem_id, pair.sample_id) for pair in files.pairs}
    shared.tell_warnings(
        [f"no prediction is {name}, sample_id {sample}" for name, sample in sorted(found.keys() - known)], path
    )
    return found


def _with_causes(
    rows: list[ProtocolRow], of_file: Mapping[tuple[str, str], RootCause], options: EngTraceOptions
) -> list[ProtocolRow]:
    """Return the rows with the causes that a file names."""
    from prism.protocols.engtrace_causes import with_cause_of_file

    return [
        with_cause_of_file(
            row, of_file.get((row.about.problem_id, row.about.sample_id)), prefers_rules=options.prefers_rules
        )
        for row in rows
    ]


def _options(variant: str, similarity: str, prefer: str, given: Mapping[str, str]) -> EngTraceOptions:
    """Read the options of a run.

    Exits with code 2 where they do not go together.

    Args:
        given: the shares that are not left at their defaults, by their option.
    """
    from prism.protocols.engtrace import EngTraceOptions
    from prism.protocols.engtrace_similarity import Similarity
    from prism.protocols.engtrace_steps import Variant

    require_one_of("--variant", variant, Variant)
    if given and variant == Variant.RELEASED:
        raise typer.BadParameter(f"{', '.join(given)}: fixed in the released script")
    if "--threshold" in given and similarity in _NAMED:
        raise typer.BadParameter("--threshold is about the measure of a file; name one with --similarity")
    return EngTraceOptions(
        Variant(variant), Similarity(similarity) if similarity in _NAMED else Similarity.FILE,
        prefers_rules=shared.prefers_rules(prefer),
        **{name.removeprefix("--").replace("-", "_"): _share(name, text) for name, text in given.items()},
    )  # fmt: skip


def _read(gold: Path, predictions: Path | None, votes: Path | None, shares: Path | None, keep: list[str]) -> TraceFiles:
    """Read the files of a run, and tell on standard error what is no fault of them."""
    from prism.protocols.engtrace_files import read_traces

    files = read_traces(gold, predictions, votes=votes, shares=shares, keep=keep)
    for path, warning in files.warnings:
        shared.tell_warnings([warning], path)
    if files.n_unpredicted:
        tell(f"{gold}: {count_of(files.n_unpredicted, 'gold')} without a prediction")
    return files


def _score(
    files: TraceFiles, options: EngTraceOptions, problems: str, votes: Path | None, shares: Path | None,
    workers: int | None, *, allow_faults: bool,
) -> list[ProtocolRow]:  # fmt: skip
    """Score all predictions, with a progress bar; `problems` as on the command line, empty for none."""
    from prism.protocols.engtrace_runs import score_traces

    known = shared.read_problems(problems) if problems else None
    processes = n_processors() if workers is None else workers
    if known is not None:
        require_gradable(problems, known, allow_faults=allow_faults, workers=processes)
    scored = score_traces(files.pairs, options, problems=known, votes_file=votes, shares_file=shares, workers=processes)
    return list(with_progress(scored, "scoring", n=len(files.pairs)))


def _share(option: str, text: str) -> Fraction:
    """Parse a share from 0 to 1 exactly; exits with code 2 for anything else."""
    share = Fraction(text) if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?|\.\d{1,9}", text, re.ASCII) else Fraction(-1)
    if not 0 <= share <= 1:
        raise typer.BadParameter(f"{option} {text}: expected a number from 0 to 1, such as 0.8")
    return share
