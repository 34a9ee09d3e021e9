"""The command `prism judge`."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import prism
from prism.cli.application import INCIDENTS, NOTHING_GRADED, STOPPED, app
from prism.cli.helptext import Door
from prism.cli.options import (
    NO_NAMES,
    AsJson,
    Force,
    fail,
    in_words,
    is_json,
    names_option,
    parse_field_map,
    problem_file,
    read_text,
    refuse_existing,
    require_folder,
)
from prism.cli.output import print_json, print_tables, progress_bar, tell_scanned, write_text
from prism.errors import count_of

if TYPE_CHECKING:
    from prism.judging.conversations import Judge
    from prism.judging.limits import Purse
    from prism.judging.results import Results
    from prism.judging.running import Answers, Board, Manners

KEY_VARIABLE = "OPENAI_API_KEY"
_SHOWN_FAILURES = 10
_WITH_PROBLEMS = ("rollouts", "parts", "problems")


def _print_tasks(wanted: bool) -> None:
    """Print the shipped tasks, and exit (callback of `--list`)."""
    if not wanted:
        return
    from rich.table import Table

    from prism.judging.tasks import load_task, shipped_tasks

    table = Table(box=None, pad_edge=False)
    for name in ("task", "reads", "asks"):
        table.add_column(name)
    try:
        for task in map(load_task, shipped_tasks()):
            table.add_row(task.name, str(task.input), task.about)
    except prism.PrismError as error:
        fail(str(error))
    print_tables(table)
    raise typer.Exit


@app.command("judge", rich_help_panel=Door.EVALUATE)
def judge(
    task: Annotated[str, typer.Argument(help="A shipped task (--list), or the folder of one of your own.")],
    problems: Annotated[str, typer.Argument(help="What the task is about: problems, gold traces, a table, records.")],
    rollouts: Annotated[
        Path | None, typer.Argument(help="Rollouts, predictions or answers, for a task that is about some.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Findings file, .jsonl.")] = None,
    endpoint: Annotated[
        str, typer.Option(metavar="URL", help="OpenAI-compatible, up to /v1; or imitation: replies that mean nothing.")
    ] = "",
    model: Annotated[
        list[str], names_option(metavar="NAME,...", help="As the endpoint names it; several are several judges.")
    ] = NO_NAMES,
    samples: Annotated[int, typer.Option(min=1, help="Replies of each model, each a judge of its own.")] = 1,
    temperature: Annotated[str, typer.Option(help="A number, or none to leave it to the endpoint.")] = "0",
    seed: Annotated[int | None, typer.Option(help="Sent along; further samples have the next ones.")] = None,
    settings: Annotated[
        str, typer.Option("--set", metavar="JSON", help='Further fields of a request: {"max_tokens": 2000}.')
    ] = "",
    at_once: Annotated[int, typer.Option(min=1, max=256, help="Calls on their way together, at most.")] = 8,
    tries: Annotated[int, typer.Option(min=1, max=100, help="Of a call, where something passing goes wrong.")] = 6,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one call.")] = 300,
    max_calls: Annotated[int | None, typer.Option(min=1, help="Of the whole run, kept replies included.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="The same, in and out together.")] = None,
    max_money: Annotated[str, typer.Option(help="The same; needs the prices.")] = "",
    price_in: Annotated[str, typer.Option(help="Of a million tokens of prompts.")] = "",
    price_out: Annotated[str, typer.Option(help="Of a million tokens of replies.")] = "",
    key_env: Annotated[str, typer.Option(help="The environment variable that holds the key.")] = KEY_VARIABLE,
    replies: Annotated[
        Path | None, typer.Option(help="Where replies are kept. [default: OUT with .replies.jsonl behind it]")
    ] = None,
    write_batch: Annotated[
        Path | None, typer.Option(help="Write the open calls as a batch file; asks no endpoint.")
    ] = None,
    read_batch: Annotated[Path | None, typer.Option(help="Take replies from the output of a batch.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the first prompt and count the calls.")] = False,
    mapping: Annotated[
        list[str], names_option("--map", help="Fields: response=FIELD,problem_id=FIELD,sample_id=FIELD.")
    ] = NO_NAMES,
    keep: Annotated[
        list[str], names_option(metavar="FIELD,...", help="Further fields, as `meta` of prompts.")
    ] = NO_NAMES,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Skip records of problems that the set does not have.")
    ] = False,
    max_failures: Annotated[int, typer.Option(min=0, help="Calls without a usable reply that are put up with.")] = 0,
    _list_tasks: Annotated[
        bool, typer.Option("--list", callback=_print_tasks, is_eager=True, help="List the shipped tasks.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Ask a judge model what no rule decides, and write findings that `prism protocol`, `agree` and `report` read."""
    from prism.judging.imitation import IMITATION, rehearse
    from prism.judging.items import Source, read_items
    from prism.judging.limits import Limits, Prices, Purse
    from prism.judging.replies import ReplyFile
    from prism.judging.results import lost_findings, write_findings
    from prism.judging.running import Board, Manners
    from prism.judging.tasks import load_task

    if endpoint == IMITATION:
        model = [f"{IMITATION}-{name}" for name in model] or [IMITATION]
    offline = write_batch or read_batch or dry_run
    if not (offline or (endpoint and model)):
        raise typer.BadParameter("name --endpoint and --model; or work without a network: --write-batch, --read-batch")
    if out is None and not dry_run:
        raise typer.BadParameter("name the findings file with -o; the replies are kept beside it")
    judges = _judges(model or ["MODEL"], samples, temperature, seed, settings)
    purse = Purse(
        Limits(max_calls, max_tokens, _amount("--max-money", max_money)),
        Prices(_amount("--price-in", price_in), _amount("--price-out", price_out)),
    )
    if purse.limits.money is not None and purse.money is None:
        raise typer.BadParameter("--max-money: needs --price-in and --price-out")
    try:
        loaded = load_task(task)
        if loaded.input in _WITH_PROBLEMS and not is_json(problems):
            problem_file(problems)
        source = Source(
            problems, rollouts, parse_field_map(mapping), keep, skip_unknown,
            on_scanned=lambda found: tell_scanned(found, rollouts or Path()),
        )  # fmt: skip
        items = read_items(loaded, source)
        if out is None or dry_run:
            rehearse(loaded, judges[0], items[0])
            _show_first(Board(loaded, judges, items, ReplyFile(Path(os.devnull))))
            return
        kept_in = replies or out.with_name(f"{out.name}.replies.jsonl")
        _prepare(out, kept_in)
        refuse_existing(_written_first(out, kept_in, write_batch), force=force)
        board = Board(loaded, judges, items, ReplyFile(kept_in))
        board.check()
        rehearse(loaded, judges[0], items[0])
        if write_batch is None and (lost := lost_findings(out, board)):
            refuse_existing([out], force=force, holding=lost)
    except (prism.PrismError, OSError) as error:
        fail(in_words(error))
    n_before = len(board.kept.replies)
    try:
        if read_batch is not None:
            _take(board, read_batch)
            board = Board(loaded, judges, items, board.kept) if endpoint and not write_batch else board
        purse.add(board.kept.replies.values())
        if endpoint and not write_batch:
            asked = Asked(endpoint, _key(key_env), timeout, Manners(at_once, tries))
            _ask(board, purse, asked)
        if write_batch is not None:
            _write_batch(board, write_batch)
        found = _collected(board, n_before)
        if write_batch is None and (found.rows or out.exists()):
            write_findings(out, found.rows)
    except (prism.PrismError, OSError) as error:
        fail(f"{in_words(error)}\n{_kept_note(board, n_before)}")
    except KeyboardInterrupt:
        print(f"prism: stopped; {_kept_note(board, n_before)}", file=sys.stderr)
        raise typer.Exit(STOPPED) from None
    finally:
        board.kept.close()
    written = None if write_batch else out
    _tell(found, purse, Told(written, n_before, len(board.kept.replies), has_endpoint=bool(endpoint)), as_json=as_json)
    if not found.rows and not write_batch:
        raise typer.Exit(NOTHING_GRADED)
    if (found.n_open and not write_batch) or len(found.failures) > max_failures:
        raise typer.Exit(INCIDENTS)


@dataclass(frozen=True, slots=True)
class Asked:
    """The endpoint that is asked, and how."""

    endpoint: str
    key: str
    timeout: float
    manners: Manners


def _prepare(out: Path, kept_in: Path) -> None:
    """Exit with code 3 if findings cannot be written: another ending, no folder."""
    if out.suffix not in (".jsonl", ".ndjson"):
        fail(f"{out}: findings are lines of JSON; name a file that ends in .jsonl")
    require_folder(out)
    require_folder(kept_in)


def _written_first(out: Path, kept_in: Path, write_batch: Path | None) -> list[Path]:
    """Return the files that a run writes and no earlier one has: a batch, or findings without the replies to them."""
    if write_batch is not None:
        return [write_batch]
    return [] if kept_in.exists() else [out]


def _key(variable: str) -> str:
    """Return the key that an environment variable holds; empty where the usual one is not set.

    Exits with code 2 if one was named, and is not set.
    """
    found = os.environ.get(variable, "").strip()
    if not found and variable != KEY_VARIABLE:
        raise typer.BadParameter(f"--key-env {variable}: there is no such environment variable, or it is empty")
    return found


def _judges(models: Sequence[str], samples: int, temperature: str, seed: int | None, settings: str) -> list[Judge]:
    """Return the judges of a run: each model, as often as it is asked."""
    from prism.inputs import parse_json, refuse_constant
    from prism.judging.conversations import Judge

    try:
        more = parse_json(settings or "{}", constant=refuse_constant)
    except prism.PrismError as error:
        raise typer.BadParameter(f"--set {settings}: no JSON: {error}") from error
    if not isinstance(more, dict) or {"model", "messages", "temperature", "seed", "stream", "n"} & more.keys():
        raise typer.BadParameter("--set: expected an object without model, messages, temperature, seed, stream and n")
    try:
        warmth = None if temperature == "none" else float(temperature)
        if warmth is not None and not 0 <= warmth <= 100:
            raise ValueError
    except ValueError:
        raise typer.BadParameter(f"--temperature {temperature}: expected a number such as 0.7, or none") from None
    if twice := sorted({name for name in models if models.count(name) > 1}):
        raise typer.BadParameter(f"--model: {', '.join(twice)} stands twice; --samples asks a model several times")
    return [Judge(name, n, warmth, seed, more) for name in models for n in range(1, samples + 1)]


def _amount(option: str, text: str) -> Fraction | None:
    """Parse an amount of money exactly; None for an empty text."""
    if not text:
        return None
    if not re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text, re.ASCII):
        raise typer.BadParameter(f"{option} {text}: expected an amount such as 2.50")
    return Fraction(text)


def _show_first(board: Board) -> None:
    """Print the first prompt of a run, and on standard error how many calls it begins with."""
    first = board.take()
    if first is None:
        return
    n = 1
    while board.take() is not None:
        n += 1
    content = first.body["messages"][0]["content"]
    print(content if isinstance(content, str) else content[-1]["text"])
    judges = f" and {len(board.judges)} judges" if len(board.judges) > 1 else ""
    about = f"{count_of(board.n_items, 'item')}{judges}, {count_of(n, 'call')} to begin with"
    print(f"prism: {board.task.name}: {about}; the first, shown here, is about {first.place}", file=sys.stderr)


def _take(board: Board, path: Path) -> None:
    """Take replies from the output of a batch, and tell what it has besides."""
    from prism.judging.replies import custom_ids
    from prism.judging.running import take_batch

    try:
        lines = custom_ids(read_text(str(path)))
    except prism.PrismError as error:
        raise prism.PrismError(f"{path}: {error}") from error
    taken = take_batch(board, lines)
    print(f"prism: {path}: replies taken: {taken.n}", file=sys.stderr)
    for why in sorted(set(taken.failed.values()))[:_SHOWN_FAILURES]:
        n = list(taken.failed.values()).count(why)
        print(f"prism: {path}: {count_of(n, 'line')} without a reply: {why}", file=sys.stderr)
    if taken.n_strange:
        print(f"prism: {path}: {count_of(taken.n_strange, 'line')} that answer nothing which is open", file=sys.stderr)


def _write_batch(board: Board, path: Path) -> None:
    """Write the open calls as the input of a batch."""
    from prism.grading.row import json_line
    from prism.judging.running import batch_line, take_batch

    take_batch(board, {})
    lines = [json_line(batch_line(ask)).decode("utf-8") for ask in board.left.values()]
    write_text(path, "".join(f"{line}\n" for line in lines))
    print(f"prism: {path}: {count_of(len(lines), 'call')} to be made", file=sys.stderr)


def _ask(board: Board, purse: Purse, asked: Asked) -> None:
    """Ask the endpoint what is open, with a progress bar."""
    from prism.judging.running import ask_all

    with progress_bar(len(board.conversations) * len(board.task.calls), "asking") as advance:
        asyncio.run(ask_all(board, _opened(asked), purse, asked.manners, lambda: advance(1)))


def _opened(asked: Asked) -> Answers:
    """Return who answers; tells it where a key goes over a network without encryption."""
    from prism.judging.endpoint import Endpoint
    from prism.judging.imitation import IMITATION, ImitatedEndpoint

    if asked.endpoint == IMITATION:
        print("prism: the endpoint is an imitation: what it says means nothing", file=sys.stderr)
        return ImitatedEndpoint()
    endpoint = Endpoint(asked.endpoint, key=asked.key, timeout=asked.timeout)
    if asked.key and endpoint.is_open_to_listeners:
        told = "is no https, and not this machine: the key can be read on the way"
        print(f"prism: {asked.endpoint} {told}", file=sys.stderr)
    return endpoint


def _collected(board: Board, n_before: int) -> Results:
    """Return the findings of a run; exits with code 3, and says what is to be mended, if their template makes none."""
    from prism.judging.results import collect
    from prism.judging.tasks import FINDINGS_FILE

    try:
        return collect(board)
    except prism.PrismError as error:
        way_on = f"mend {FINDINGS_FILE}, and the same command makes findings of them"
        fail(f"{in_words(error)}\n{_kept_note(board, n_before, way_on)}")


def _kept_note(board: Board, n_before: int, way_on: str = "the same command goes on from there") -> str:
    """Say how many replies are kept, and how to go on."""
    n = len(board.kept.replies)
    new = f", {n - n_before} of them new" if n_before else ""
    are = "1 reply is" if n == 1 else f"{n} replies are"
    return f"{are} kept in {board.kept.path}{new}; {way_on}"


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of a run besides its findings.

    Attributes:
        out: the file that they were written to; None where a batch was written instead.
        n_before, n_after: replies that were kept before it, and are now.
        has_endpoint: one was named to ask.
    """

    out: Path | None
    n_before: int
    n_after: int
    has_endpoint: bool


def _tell(found: Results, purse: Purse, told: Told, *, as_json: bool) -> None:
    """Print what a run has come to."""
    spent = {
        "calls": purse.calls, "tokens_in": purse.tokens_in, "tokens_out": purse.tokens_out,
        "seconds": round(purse.seconds, 3), "money": None if purse.money is None else float(purse.money),
    }  # fmt: skip
    if as_json:
        print_json({
            "items": found.n_items, "judges": found.n_judges, "findings": len(found.rows), "open": found.n_open,
            "mended": found.n_mended,
            "replies_kept_before": told.n_before, "replies_new": told.n_after - told.n_before, "spent": spent,
            "failures": list(found.failures), "limit_reached": bool(purse.reached),
        })  # fmt: skip
        return
    money = "" if purse.money is None else f", {float(purse.money):.4g} in money"
    if told.out is not None:
        judges = f" by {found.n_judges} judges" if found.n_judges > 1 else ""
        print(
            f"{told.out}: {count_of(len(found.rows), 'finding')} on {count_of(found.n_items, 'item')}{judges}; "
            f"{count_of(told.n_after - told.n_before, 'call')} now, {told.n_before} kept before; "
            f"{purse.tokens_in} tokens in, {purse.tokens_out} out{money}"
        )
    if found.n_mended:
        print(f"prism: read after repair: {found.n_mended} of the replies; `judged` says which", file=sys.stderr)
    for failure in found.failures[:_SHOWN_FAILURES]:
        print(f"prism: {failure}", file=sys.stderr)
    if len(found.failures) > _SHOWN_FAILURES:
        print(f"prism: and {len(found.failures) - _SHOWN_FAILURES} more calls without a usable reply", file=sys.stderr)
    if found.n_open and told.out is not None:
        limit = f"--max-{purse.reached} is reached: " if purse.reached else ""
        left = f"{count_of(found.n_open, 'item')} with calls that are not made yet"
        print(f"prism: {limit}{left}; {_way_on(purse, told)}", file=sys.stderr)


def _way_on(purse: Purse, told: Told) -> str:
    """Say how calls that are open can be made."""
    if purse.reached:
        return "the same command with a higher one goes on"
    if told.has_endpoint:
        return "the same command goes on"
    return "write the next batch (--write-batch), or name an --endpoint"
