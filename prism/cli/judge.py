"""The command `prism judge`."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import prism
from prism.cli import options as take
from prism.cli.application import HelpHeading, app
from prism.cli.options import names, option, switch, with_options
from prism.cli.output import plain_table, print_json, print_tables, progress_bar, tell_scanned
from prism.cli.talk import INCIDENTS, STOPPED, as_usage, exit_unless_graded, fail, in_words, tell
from prism.errors import count_of

if TYPE_CHECKING:
    from prism.judging.conversations import Item, Judge
    from prism.judging.pacing import Purse
    from prism.judging.results import Results
    from prism.judging.running import Answers, Board

KEY_VARIABLE = "OPENAI_API_KEY"
_SHOWN_FAILURES = 10
_WITH_PROBLEMS = ("rollouts", "parts", "problems")


def _print_tasks(wanted: bool) -> None:
    """Print the shipped tasks, and exit (callback of `--list`)."""
    if not wanted:
        return
    from prism.judging.tasks import load_task, shipped_tasks

    table = plain_table(("task", "reads", "asks"))
    for task in map(load_task, shipped_tasks()):
        table.add_row(task.name, str(task.input), task.about)
    print_tables(table)
    raise typer.Exit


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Who is asked, how, and what becomes of the replies: options of `judge`."""

    out: Path | None = option("Findings file, .jsonl.", None, "--out", "-o")
    endpoint: str = option("OpenAI-compatible, up to /v1; or imitation: replies that mean nothing.", "", metavar="URL")
    model: list[str] = names("As the endpoint names it; several are several judges.", metavar="NAME,...")
    samples: int = option("Replies of each model, each a judge of its own.", 1, min=1)
    temperature: str = option("A number, or none to leave it to the endpoint.", "0")
    seed: int | None = option("Sent along; further samples have the next ones.")
    settings: str = option('Further fields of a request: {"max_tokens": 2000}.', "", "--set", metavar="JSON")
    at_once: int = option("Calls on their way together, at most.", 8, min=1, max=256)
    tries: int = option("Of a call, where something passing goes wrong.", 6, min=1, max=100)
    timeout: float = option("Seconds for one call.", 300, min=0.1)
    max_calls: int | None = option("Of the whole run, kept replies included.", min=1)
    max_tokens: int | None = option("The same, in and out together.", min=1)
    max_money: str = option("The same; needs the prices.", "")
    price_in: str = option("Of a million tokens of prompts.", "")
    price_out: str = option("Of a million tokens of replies.", "")
    key_env: str = option("The environment variable that holds the key.", KEY_VARIABLE)
    replies: Path | None = option("Where replies are kept. [default: OUT with .replies.jsonl behind it]")
    write_batch: Path | None = option("Write the open calls as a batch file; asks no endpoint.")
    read_batch: Path | None = option("Take replies from the output of a batch.")
    dry_run: bool = switch("Show the first prompt and count the calls.", "--dry-run")
    mapping: take.RolloutMap = field(default_factory=list)
    keep: list[str] = names("Further fields, as `meta` of prompts.", metavar="FIELD,...")
    skip_unknown: bool = switch("Skip records of problems that the set does not have.", "--skip-unknown")
    max_failures: int = option("Calls without a usable reply that are put up with.", 0, min=0)
    lists_tasks: bool = switch("List the shipped tasks.", "--list", callback=_print_tasks, is_eager=True)
    force: take.Force = False
    as_json: take.AsJson = False

    @property
    def judges(self) -> list[str]:
        """Return the names of the models; those of an imitation say so."""
        from prism.judging.imitation import IMITATION

        if self.endpoint != IMITATION:
            return self.model
        return [f"{IMITATION}-{name}" for name in self.model] or [IMITATION]

    @property
    def has_endpoint(self) -> bool:
        """Return True if an endpoint answers, and no batch is written in its place."""
        return bool(self.endpoint) and self.write_batch is None

    def checked_purse(self) -> Purse:
        """Return the limits and prices of a run; exits with code 2 where options do not go together."""
        from prism.judging.pacing import Limits, Prices, Purse

        offline = self.write_batch or self.read_batch or self.dry_run
        if not (offline or (self.endpoint and self.judges)):
            message = "name --endpoint and --model; or work without a network: --write-batch, --read-batch"
            raise typer.BadParameter(message)
        if self.out is None and not self.dry_run:
            raise typer.BadParameter("name the findings file with -o; the replies are kept beside it")
        purse = Purse(
            Limits(self.max_calls, self.max_tokens, _amount("--max-money", self.max_money)),
            Prices(_amount("--price-in", self.price_in), _amount("--price-out", self.price_out)),
        )
        if purse.limits.money is not None and purse.money is None:
            raise typer.BadParameter("--max-money: needs --price-in and --price-out")
        return purse


@app.command("judge", rich_help_panel=HelpHeading.EVALUATE)
@with_options
def judge(
    task: str = take.argument("A shipped task (--list), or the folder of one of your own."),
    problems: str = take.argument("What the task is about: problems, gold traces, a table, records."),
    rollouts: Path | None = take.argument("Rollouts, predictions or answers, for a task that is about some.", None),
    *,
    options: JudgeOptions,
) -> None:
    """Ask a judge model what no rule decides, and write findings that `prism protocol`, `agree` and `report` read."""
    from prism.judging.imitation import rehearse
    from prism.judging.items import Source, read_items
    from prism.judging.replies import ReplyFile
    from prism.judging.results import lost_findings
    from prism.judging.running import Board
    from prism.judging.tasks import load_task

    purse, judges, out = options.checked_purse(), _judges(options), options.out
    loaded = load_task(task)
    if loaded.input in _WITH_PROBLEMS and not take.is_json(problems):
        take.problem_file(problems)
    told = partial(tell_scanned, rollouts=rollouts or Path())
    fields = take.parse_field_map(options.mapping)
    items = read_items(loaded, Source(problems, rollouts, fields, options.keep, options.skip_unknown, on_scanned=told))
    if out is None or options.dry_run:
        rehearse(loaded, judges[0], items[0])
        _show_first(Board(loaded, judges, items, ReplyFile(Path(os.devnull))))
        return
    kept_in = options.replies or out.with_name(f"{out.name}.replies.jsonl")
    _prepare(out, kept_in)
    take.refuse_existing(_written_first(out, kept_in, options.write_batch), force=options.force)
    board = Board(loaded, judges, items, ReplyFile(kept_in))
    board.check()
    rehearse(loaded, judges[0], items[0])
    if options.write_batch is None and (lost := lost_findings(out, board)):
        take.refuse_existing([out], force=options.force, holding=lost)
    n_before = len(board.reply_file.replies)
    found = _findings(board, items, purse, options, out)
    _tell(found, purse, options, n_before, len(board.reply_file.replies))
    is_written = options.write_batch is None
    exit_unless_graded(bool(found.rows) or not is_written)
    if (found.n_open and is_written) or len(found.failures) > options.max_failures:
        raise typer.Exit(INCIDENTS)


def _findings(board: Board, items: Sequence[Item], purse: Purse, options: JudgeOptions, out: Path) -> Results:
    """Ask what is open, or write it as a batch, and write the findings; what is kept is told if that is broken off."""
    from prism.judging.results import write_findings
    from prism.judging.running import Board

    n_before = len(board.reply_file.replies)
    try:
        if options.read_batch is not None:
            _take(board, options.read_batch)
            board = Board(board.task, board.judges, items, board.reply_file) if options.has_endpoint else board
        purse.add(board.reply_file.replies.values())
        if options.has_endpoint:
            _ask(board, purse, options)
        if options.write_batch is not None:
            _write_batch(board, options.write_batch)
        found = _collected(board, n_before)
        if options.write_batch is None and (found.rows or out.exists()):
            write_findings(out, found.rows)
    except (prism.PrismError, OSError) as error:
        fail(f"{in_words(error)}\n{_kept_note(board, n_before)}")
    except KeyboardInterrupt:
        tell(f"stopped; {_kept_note(board, n_before)}")
        raise typer.Exit(STOPPED) from None
    finally:
        board.reply_file.close()
    return found


def _prepare(out: Path, kept_in: Path) -> None:
    """Exit with code 3 if findings cannot be written: another ending, no folder."""
    if out.suffix not in (".jsonl", ".ndjson"):
        fail(f"{out}: findings are lines of JSON; name a file that ends in .jsonl")
    take.require_folder(out)
    take.require_folder(kept_in)


def _written_first(out: Path, kept_in: Path, write_batch: Path | None) -> list[Path]:
    """Return the files that a run writes and no earlier one has: a batch, or findings without the replies to them."""
    if write_batch is not None:
        return [write_batch]
    return [] if kept_in.exists() else [out]


def _key(variable: str) -> str:
    """Return the key that an environment variable holds; empty where the usual one is not set.

    Exits with code 2 if one was named, and is not set. Exits with code 2 if a named one is not set.
    """
    found = os.environ.get(variable, "").strip()
    if not found and variable != KEY_VARIABLE:
        raise typer.BadParameter(f"--key-env {variable}: there is no such environment variable, or it is empty")
    return found


def _judges(options: JudgeOptions) -> list[Judge]:
    """Return the judges of a run: each model, as often as it is asked; exits with code 2 for faulty options."""
    from prism.inputs import parse_json, refuse_constant
    from prism.judging.conversations import Judge

    with as_usage(f"--set {options.settings}: no JSON"):
        more = parse_json(options.settings or "{}", constant=refuse_constant)
    if not isinstance(more, dict) or {"model", "messages", "temperature", "seed", "stream", "n"} & more.keys():
        raise typer.BadParameter("--set: expected an object without model, messages, temperature, seed, stream and n")
    try:
        warmth = None if options.temperature == "none" else float(options.temperature)
        if warmth is not None and not 0 <= warmth <= 100:
            raise ValueError
    except ValueError:
        message = f"--temperature {options.temperature}: expected a number such as 0.7, or none"
        raise typer.BadParameter(message) from None
    models = options.judges or ["MODEL"]
    if twice := sorted({name for name in models if models.count(name) > 1}):
        raise typer.BadParameter(f"--model: {', '.join(twice)} stands twice; --samples asks a model several times")
    return [Judge(name, n, warmth, options.seed, more) for name in models for n in range(1, options.samples + 1)]


def _amount(option: str, text: str) -> Fraction | None:
    """Parse an amount of money exactly; None for an empty text; exits with code 2 for anything else."""
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
    tell(f"{board.task.name}: {about}; the first, shown here, is about {first.place}")


def _take(board: Board, path: Path) -> None:
    """Take replies from the output of a batch, and tell what it has besides.

    Raises PrismError for a file that is no such output.
    """
    from prism.judging.replies import custom_ids
    from prism.judging.running import take_batch

    try:
        lines = custom_ids(take.read_text(str(path)))
    except prism.PrismError as error:
        raise prism.PrismError(f"{path}: {error}") from error
    taken = take_batch(board, lines)
    tell(f"{path}: replies taken: {taken.n}")
    for why in sorted(set(taken.failed.values()))[:_SHOWN_FAILURES]:
        n = list(taken.failed.values()).count(why)
        tell(f"{path}: {count_of(n, 'line')} without a reply: {why}")
    if taken.n_strange:
        tell(f"{path}: {count_of(taken.n_strange, 'line')} that answer nothing which is open")


def _write_batch(board: Board, path: Path) -> None:
    """Write the open calls as the input of a batch."""
    from prism.grading.row import json_line
    from prism.judging.running import batch_line, take_batch

    take_batch(board, {})
    lines = [json_line(batch_line(ask)).decode("utf-8") for ask in board.unanswered.values()]
    take.write_text(path, "".join(f"{line}\n" for line in lines))
    tell(f"{path}: {count_of(len(lines), 'call')} to be made")


def _ask(board: Board, purse: Purse, options: JudgeOptions) -> None:
    """Ask the endpoint what is open, with a progress bar."""
    from prism.judging.running import Manners, ask_all

    manners = Manners(options.at_once, options.tries)
    with progress_bar(len(board.conversations) * len(board.task.calls), "asking") as advance:
        asyncio.run(ask_all(board, _opened(options), purse, manners, lambda: advance(1)))


def _opened(options: JudgeOptions) -> Answers:
    """Return who answers; tells it where a key goes over a network without encryption."""
    from prism.judging.endpoint import Endpoint
    from prism.judging.imitation import IMITATION, ImitatedEndpoint

    key = _key(options.key_env)
    if options.endpoint == IMITATION:
        tell("the endpoint is an imitation: what it says means nothing")
        return ImitatedEndpoint()
    endpoint = Endpoint(options.endpoint, key=key, timeout=options.timeout)
    if key and endpoint.is_open_to_listeners:
        tell(f"{options.endpoint} is no https, and not this machine: the key can be read on the way")
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
    n = len(board.reply_file.replies)
    new = f", {n - n_before} of them new" if n_before else ""
    are = "1 reply is" if n == 1 else f"{n} replies are"
    return f"{are} kept in {board.reply_file.path}{new}; {way_on}"


def _tell(found: Results, purse: Purse, options: JudgeOptions, n_before: int, n_after: int) -> None:
    """Print what a run has come to, before which so many replies were kept, and after it."""
    spent = {
        "calls": purse.calls, "tokens_in": purse.tokens_in, "tokens_out": purse.tokens_out,
        "seconds": round(purse.seconds, 3), "money": None if purse.money is None else float(purse.money),
    }  # fmt: skip
    if options.as_json:
        print_json({
            "items": found.n_items, "judges": found.n_judges, "findings": len(found.rows), "open": found.n_open,
            "mended": found.n_mended,
            "replies_kept_before": n_before, "replies_new": n_after - n_before, "spent": spent,
            "failures": list(found.failures), "limit_reached": bool(purse.reached),
        })  # fmt: skip
        return
    money = "" if purse.money is None else f", {float(purse.money):.4g} in money"
    out = None if options.write_batch else options.out
    if out is not None:
        judges = f" by {found.n_judges} judges" if found.n_judges > 1 else ""
        print(
            f"{out}: {count_of(len(found.rows), 'finding')} on {count_of(found.n_items, 'item')}{judges}; "
            f"{count_of(n_after - n_before, 'call')} now, {n_before} kept before; "
            f"{purse.tokens_in} tokens in, {purse.tokens_out} out{money}"
        )
    if found.n_mended:
        tell(f"read after repair: {found.n_mended} of the replies; `judged` says which")
    for failure in found.failures[:_SHOWN_FAILURES]:
        tell(f"{failure}")
    if len(found.failures) > _SHOWN_FAILURES:
        tell(f"and {len(found.failures) - _SHOWN_FAILURES} more calls without a usable reply")
    if found.n_open and out is not None:
        limit = f"--max-{purse.reached} is reached: " if purse.reached else ""
        left = f"{count_of(found.n_open, 'item')} with calls that are not made yet"
        tell(f"{limit}{left}; {_way_on(purse, options)}")


def _way_on(purse: Purse, options: JudgeOptions) -> str:
    """Say how calls that are open can be made."""
    if purse.reached:
        return "the same command with a higher one goes on"
    if options.endpoint:
        return "the same command goes on"
    return "write the next batch (--write-batch), or name an --endpoint"
