"""What is EngTrace's: `prism protocol engtrace`, predicted traces beside gold ones, and `tribunal`, rated templates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from prism.cli import options as take
from prism.cli import protocols as shared
from prism.cli.output import plain_table, print_json, print_tables, with_progress
from prism.cli.references import require_gradable
from prism.cli.talk import require_one_of, tell
from prism.errors import count_of
from prism.resources import n_processors

if TYPE_CHECKING:
    from prism.protocols.engtrace.audit import Audit
    from prism.protocols.engtrace.causes import RootCause
    from prism.protocols.engtrace.files import TraceFiles
    from prism.protocols.engtrace.rows import EngTraceOptions
    from prism.protocols.rows import ProtocolRow

_NAMED = ("nodes", "lexical")


@shared.protocols.command("engtrace")
def engtrace(
    gold: Path = take.argument("Gold traces: JSON Lines with id, seed, question, solution."),
    predictions: Path | None = take.argument("Predictions: id, seed, sample_id, generation. [default: in GOLD]", None),
    variant: str = take.option("Whose rules: paper, released.", "paper"),
    votes: Path | None = take.option("Votes of judges on pairs of steps, for tier 2."),
    causes: Path | None = take.option("Root causes of wrong traces, by a judge or a person."),
    failed: bool = take.switch("Only rows of traces whose final answer is wrong.", "--failed"),
    similarity: str = take.option(
        "When texts of steps agree; FILE brings a measure.", "nodes", metavar="nodes|lexical|FILE"
    ),
    problems: str = take.option("Problems by the same ids, for nodes and for the root cause.", "", metavar="PROBLEMS"),
    step_tolerance: str = take.option("Relative tolerance of the numbers of steps. [default: 0.02]", ""),
    accept_share: str = take.option("Share of gold steps above which a right chain is accepted. [default: 0.7]", ""),
    threshold: str = take.option("What a measure of FILE has to be above. [default: 0.7]", ""),
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
    from prism.protocols.engtrace.causes import read_causes

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
    from prism.protocols.engtrace.causes import with_cause_of_file

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
    from prism.protocols.engtrace.rows import EngTraceOptions
    from prism.protocols.engtrace.similarity import Similarity
    from prism.protocols.engtrace.steps import Variant

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
    from prism.protocols.engtrace.files import read_traces

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
    from prism.protocols.engtrace.rows import score_traces
    from prism.runs.workers import RunWorkers

    known = shared.read_problems(problems) if problems else None
    processes = n_processors() if workers is None else workers
    if known is not None:
        with RunWorkers(processes) as running:
            require_gradable(problems, known, allow_faults=allow_faults, workers=running)
    scored = score_traces(files.pairs, options, problems=known, votes_file=votes, shares_file=shares, workers=processes)
    return list(with_progress(scored, "scoring", n=len(files.pairs)))


def _share(option: str, text: str) -> Fraction:
    """Parse a share from 0 to 1 exactly; exits with code 2 for anything else."""
    share = Fraction(text) if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?|\.\d{1,9}", text, re.ASCII) else Fraction(-1)
    if not 0 <= share <= 1:
        raise typer.BadParameter(f"{option} {text}: expected a number from 0 to 1, such as 0.8")
    return share


@shared.protocols.command("tribunal")
def tribunal(
    ratings: Path = take.argument("JSON Lines: template, judge, flag, a number for each dimension."),
    experts: Path | None = take.option("What experts decide: template, accepted."),
    threshold: float = take.option("What the median of each dimension has to reach.", 4, min=0),
    out: Path | None = take.option("A line for each template: .jsonl.", None, "--out", "-o"),
    force: take.Force = False,
    as_json: take.AsJson = False,
) -> None:
    """Keep or reject rated templates as EngTrace does; beside experts, with the filter's rate of false positives."""
    from fractions import Fraction

    from prism.grading.row import json_line
    from prism.protocols.engtrace.audit import audit, read_experts, read_ratings

    shared.prepare_output(out, force=force)
    found = audit(read_ratings(ratings), Fraction(str(threshold)), None if experts is None else read_experts(experts))
    if out is not None:
        take.write_text(out, "".join(f"{json_line(each.to_dict()).decode()}\n" for each in found.verdicts))
    if as_json:
        print_json(_as_dict(found))
    else:
        _print_audit(found)


def _as_dict(found: Audit) -> dict[str, object]:
    """Return an audit as plain values."""
    counts = found.false_positives
    return {
        "templates": [each.to_dict() for each in found.verdicts], "passed": sum(each.passes for each in found.verdicts),
        "false_positives": None if counts is None else {"passed": counts[0], "rejected_by_experts": counts[1]},
    }  # fmt: skip


def _print_audit(found: Audit) -> None:
    """Print a table of the templates, and what they say together."""
    numbers = ("passes", "least median", "flags", "disagreement", "experts")
    table = plain_table(("template", *numbers), numbers)
    for each in found.verdicts:
        least = min(each.medians.values(), default=None)
        said = "" if each.expert is None else "yes" if each.expert else "no"
        table.add_row(
            each.template, "yes" if each.passes else "no", "" if least is None else f"{float(least):g}",
            str(each.n_flag), f"{each.disagreement:.3f}", said,
        )  # fmt: skip
    print_tables(table)
    print(f"{sum(each.passes for each in found.verdicts)} of {len(found.verdicts)} pass", end="")
    counts = found.false_positives
    print("" if counts is None else f"; of {counts[1]} that the experts reject {counts[0]} pass")
