"""Arguments and files of the command line: each function reads one kind, or exits with a code and a message."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from importlib.util import find_spec
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

import prism
from prism.cli.talk import as_usage, fail, named_in_errors, tell
from prism.errors import needs_extra
from prism.inputs import decode, near_file, parse_json, parse_toml, read_bytes, refuse_constant, shown, why_failed
from prism.latex.documents.document import Document
from prism.latex.documents.reading import read_document
from prism.reports.formats import Format
from prism.runs.input_files import advice_for, why_unread

if TYPE_CHECKING:
    from prism.latex import Solution
    from prism.problem.schema import Problem
    from prism.reports.gates import Results

_MAX_TEXT = 1 << 28  # bytes of a text, of which far fewer are read as a solution
_SIGNS_OF_TEXT = ("$", "\\", "=", "\n", "\r")  # names of files hardly have one

SIZES = {"": 1, "B": 1, "kB": 10**3, "KiB": 2**10, "MB": 10**6, "MiB": 2**20, "GB": 10**9, "GiB": 2**30}


def require_report(command: str) -> None:
    """Exit with code 3 if pandas or scipy is not installed, naming the command that needs them and the extra."""
    if any(find_spec(name) is None for name in ("pandas", "scipy")):
        fail(needs_extra(f"{command} needs pandas and scipy of", "report"))


def parse_context(text: str, macros: str = "") -> prism.Context | None:
    """Parse the JSON of `--context` into a `Context`, with the macros of a file; None if both are empty.

    Bad JSON, and a faulty file, exit with code 3.
    """
    beside = read_macro_file(macros)
    if not text and not beside:
        return None
    with named_in_errors(f'--context: {shown(text)} is no JSON such as {{"symbols": {{"x": "real"}}}}'):
        data = parse_json(text or "{}", constant=refuse_constant)
    if beside and isinstance(data, dict):
        own = data.get("macros", {})
        data["macros"] = {**beside, **own} if isinstance(own, dict) else own
    with named_in_errors("--context"):
        return prism.Context.from_dict(data)


def read_macro_file(name: str) -> dict[str, object]:
    """Read the table `macros` of a TOML file; empty for an empty name. Exits with code 3, and all faults, if one is."""
    if not name:
        return {}
    from prism.latex.macros import read_macros

    with named_in_errors(f"{name}: no TOML"):
        data = parse_toml(read_text(name))
    faults: list[str] = []
    if "macros" not in data:
        faults.append(r"holds no table `macros`; write [macros], and below it '\vc' = '\vec{#1}'")
    read_macros(data.get("macros", {}), faults)
    if faults:
        fail("\n".join(f"{name}: {fault}" for fault in faults))
    return dict(data["macros"])


def name_unread(reference: str, claim: str, context: prism.Context | None) -> str:
    """Return which of two formulas cannot be read, `the reference` first; empty if both can."""
    from prism.physics.context import parse

    for name, latex in (("the reference", reference), ("the claim", claim)):
        try:
            parse(latex, context=context)
        except prism.LatexSyntaxError:
            return name
    return ""


def unknown_name(name: str) -> str:
    """What to say of a name that is neither a file nor a shipped id: the nearest id, and where the ids stand.

    Empty if there is such a file or id.
    """
    from prism.problem.source import nearest_problem, problem_path

    path = problem_path(name)
    try:
        if path.exists() and name.strip():  # an empty name would be that of this folder
            return ""
    except (OSError, ValueError):  # too long for a name; a null character
        pass
    near = nearest_problem(name)
    hint = f"did you mean {near}? " if near else ""
    return f"no such file, and no shipped problem has this id; {hint}`prism list` shows the ids"


def problem_file(name: str) -> Path:
    """The path of a problem file or folder, or of a shipped problem by its id; exits with code 3 if there is none."""
    from prism.problem.source import problem_path

    if said := unknown_name(name):
        fail(f"{name or shown(name)}: {said}")
    return problem_path(name)


def is_json(name: str) -> bool:
    """Return True for an argument that is a problem itself, as JSON, and no name of one."""
    return name.lstrip().startswith("{")


def load_problem_or_exit(name: str, macros: str = "") -> Problem:
    """Load a problem by path or shipped id, with the macros of a file, or exit with code 3."""
    return prism.load_problem(name if is_json(name) else problem_file(name), macros=read_macro_file(macros))


def files_to_lint(names: Sequence[str]) -> list[str]:
    """Return the names with those of folders replaced by their problem files; exits with code 3 if one has none."""
    from prism.problem.collection import ENDINGS, problem_files
    from prism.problem.source import problem_path

    found: list[str] = []
    for name in names:
        if unknown_name(name) or not problem_path(name).is_dir():
            found.append(name)
            continue
        if not (files := [str(path) for path in problem_files(Path(name), ENDINGS)]):
            fail(f"{name}: no problem file in this folder; expected .toml or .json")
        found += files
    return found


def complete_problem(incomplete: str) -> list[str]:
    """Return what may stand for a problem that begins so: ids of shipped problems, and files and folders."""
    from prism.problem.source import shipped_files

    before, _, last = incomplete.rpartition("/")
    folder = Path(before or ("/" if incomplete.startswith("/") else "."))
    try:
        here = sorted(path for path in folder.iterdir() if path.name.startswith(last))
    except (OSError, ValueError):
        here = []
    head = incomplete[: len(incomplete) - len(last)]
    files = [f"{head}{path.name}{'/' if path.is_dir() else ''}" for path in here]
    return [*(path.stem for path in shipped_files() if path.stem.startswith(incomplete)), *files]


def argument(help_text: str, default: Any = ..., **shown: Any) -> Any:
    """Return an argument with what `--help` says of it; without a default it has to be given."""
    return typer.Argument(default, help=help_text, **shown)


def option(help_text: str, default: Any = None, *flags: str, **shown: Any) -> Any:
    """Return an option with what `--help` says of it: a default of a parameter, or of a field as of `with_options`.

    Args:
        help_text: what it says.
        default: the value where the option is not given.
        flags: `--keep`; without any, the name of the parameter.
        shown: as of `typer.Option`.
    """
    return typer.Option(default, *flags, help=help_text, **shown)


def switch(help_text: str, *flags: str, **shown: Any) -> Any:
    """Return an option that is True where one of the flags is given."""
    return option(help_text, False, *flags, **shown)


NO_NAMES: list[str] = []  # the default of lists of names


def names(help_text: str, *flags: str, default: Sequence[str] = (), keeps_empty: bool = False, **shown: Any) -> Any:
    """Return an option of a list: names with commas between them, several such lists, or both.

    Args:
        help_text, flags, shown: as of `option`.
        default: the names where the option is not given; `--keep ""` gives none.
        keeps_empty: an empty name is no slip to pass over, as in `a,,b`, but a fault that the command tells.
    """
    return option(help_text, NO_NAMES, *flags, callback=_split_names(default, keeps_empty), **shown)


def names_option(*flags: str, default: Sequence[str] = (), keeps_empty: bool = False, **shown: Any) -> Any:
    """Return the same for an annotation, by default `NO_NAMES`; `flags` and `shown` are those of `typer.Option`."""
    return typer.Option(*flags, callback=_split_names(default, keeps_empty), **shown)


def _split_names(default: Sequence[str], keeps_empty: bool) -> Callable[[list[str] | None], list[str]]:
    """Return what splits the lists that were given for an option."""

    def split(given: list[str] | None) -> list[str]:
        names = [name.strip() for text in given or () for name in text.split(",")]
        return [name for name in names if name or keeps_empty] if given else [*default]

    return split


def paths_option(*flags: str, **shown: Any) -> Any:
    """Return an option of a list of files, as `names_option`; a file that has a comma in its name stands alone."""

    def split(given: list[Path] | None) -> list[Path]:
        parts = ([str(path)] if path.exists() else str(path).split(",") for path in given or ())
        return [Path(name.strip()) for part in parts for name in part]

    return typer.Option(*flags, callback=split, **shown)


def with_options(command: Callable[..., None], *, without: Collection[str] = ()) -> Callable[..., None]:
    """Return a command that has an option for each field of a parameter that is a dataclass, in its place.

    It takes one value for many options, and hands it on as it is.

    Args:
        without: fields that are no options of this command, and keep their defaults.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    taken: list[Parameter] = []
    for one in signature(command).parameters.values():
        kind = hints[one.name]
        taken += _options_of(kind, without) if one.name in groups else [one.replace(annotation=kind)]

    @wraps(command)
    def run(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in fields(kind) if each.name in given})
        command(**given)

    run.__signature__ = Signature([one.replace(kind=Parameter.KEYWORD_ONLY) for one in taken])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in taken}
    return run


def _options_of(kind: Any, without: Collection[str]) -> Iterator[Parameter]:
    """Yield a parameter for each field of a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    for each in fields(kind):
        if each.name not in without:
            default = each.default if each.default_factory is MISSING else each.default_factory()
            given = Parameter.empty if default is MISSING else default
            yield Parameter(each.name, Parameter.KEYWORD_ONLY, default=given, annotation=hints[each.name])


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, one object, instead of a table.")]
MacroFile = Annotated[
    str, typer.Option("--macros", metavar="FILE", help=r"TOML file with a table `macros`: '\vc' = '\vec{#1}'.")
]
AllowFaults = Annotated[
    bool, typer.Option("--allow-faults", help="Grade although the reference has nodes that nothing matches.")
]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]
TableFormat = Annotated[Format, typer.Option("--format", help="Of the tables.")]
Percent = Annotated[bool, typer.Option("--percent", help="Shares in the tables as 12.34, not 0.123.")]
Replicates = Annotated[int, typer.Option(min=0, help="Bootstrap samples behind the intervals.")]
JudgeScale = Annotated[str, typer.Option(help="Lowest and highest score of the judges, 1:10; they become 0 and 1.")]
RolloutFields = Annotated[
    list[str], names_option("--map-rollouts", help="Fields of the rollouts: response=FIELD,problem_id=FIELD.")
]
PageOrTables = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Page to write, .html; or tables: .csv, .md, .tex, or a folder for --format."),
]
OneProblem = Annotated[
    str,
    typer.Argument(
        help="Problem file (JSON or TOML), or the id of a shipped problem.", autocompletion=complete_problem
    ),
]
OneSolution = Annotated[
    str,
    typer.Argument(
        help="Solution: a file (.md, .tex, .docx, .ipynb, .html, .json and others); - is stdin; or the text."
    ),
]
Rollouts = Annotated[Path, typer.Argument(help="Rollouts: .jsonl, .json, .csv, .parquet, or a folder of texts.")]
RolloutMap = Annotated[
    list[str], names_option("--map", help="Fields: response=FIELD,problem_id=FIELD,sample_id=FIELD.")
]
SkipUnknown = Annotated[
    bool, typer.Option("--skip-unknown", help="Skip and count records of problems that the set does not have.")
]
Thinking = Annotated[bool, typer.Option("--thinking", help="Count formulas of thinking blocks too.")]
MaxIncidents = Annotated[
    int, typer.Option("--max-incidents", min=0, help="Failures of the grader that are put up with.")
]
TokenVariable = Annotated[str, typer.Option(help="Or the environment variable that holds it.")]
ManyProblems = Annotated[
    str,
    typer.Argument(
        help="Problems: a folder, a file (.toml, .json, .jsonl), or a shipped id.", autocompletion=complete_problem
    ),
]


def refuse_existing(paths: Iterable[Path], *, force: bool, holding: str = "") -> None:
    """Exit with code 3 if one of the files that are to be written is there, unless `force` says to write over it.

    Args:
        holding: what is in it and would be lost, where that is known.
    """
    for path in paths:
        if path.exists() and not force:
            what = f", with {holding}" if holding else ""
            fail(f"{path}: is there already{what}; --force writes over it, or name another")


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, or exit with code 3."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"{folder}: the folder cannot be made: {why_failed(error)}")


def require_new(out: Path | None, *, force: bool) -> None:
    """Exit with code 3 if a file cannot be written: there is no folder, or it is there already."""
    require_folder(out)
    refuse_existing([] if out is None else [out], force=force)


def write_new(texts: Mapping[Path, str | bytes], *, force: bool) -> None:
    """Write files and make their folders; exits with code 3, before any is written, if one is there already."""
    refuse_existing(texts, force=force)
    for path, text in texts.items():
        make_folder(path.parent)
        write_text(path, text)


def write_text(path: Path, text: str | bytes, *, is_added: bool = False) -> None:
    """Write or append a file, or exit with code 3."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    try:
        with path.open("ab" if is_added else "wb") as file:
            file.write(raw)
    except OSError as error:
        fail(f"{path}: cannot be written: {why_failed(error)}")


def require_folder(out: Path | None) -> None:
    """Exit with code 3 if the folder that a file is to be written to is not there, before any work is done."""
    if out is not None and not out.parent.is_dir():
        fail(f"{out}: there is no folder {out.parent}; make it first, or name another")


def read_solutions(arguments: Sequence[str]) -> list[Solution]:
    """Read solutions as `read_documents` does."""
    return [each.solution for each in read_documents(arguments)]


def read_documents(arguments: Sequence[str]) -> list[Document]:
    """Read solutions: files of any type that is read, or the text itself; what of a file is not read is told.

    Exits with code 3 if one is none, an argument that holds nothing among them.
    """
    if unread := [f"{each}: {why}" for each in arguments if (why := _why_no_solution(each))]:
        fail("\n".join(unread))
    return [Document(each) if is_text(each) else _read_solution_file(each) for each in arguments]


def _why_no_solution(argument: str) -> str:
    """Return why an argument names no solution, as far as its name says; empty if it may."""
    if not argument.strip():
        return "the solution is empty: name a file, or give the text itself"
    if is_text(argument):
        return ""
    if _holds(Path.is_dir, argument):
        return "is a folder; name a file in it"
    if argument.lower().endswith(".jsonl"):
        return "holds rows, one solution each; `prism run` grades them"
    if why := why_unread(Path(argument)):
        advice = advice_for(Path(argument))
        return f"{why}; {advice + ': ' if advice else ''}a person has to read it, or give its text"
    if argument != "-" and not _holds(Path.exists, argument):
        near = near_file(Path(argument)) or "; a solution given as text has a dollar, a backslash, `=` or a line break"
        return f"cannot be read: No such file or directory{near}; `-` reads standard input"
    return ""


def _read_solution_file(name: str) -> Document:
    """Read the solution in a file, or exit with code 3."""
    if name == "-":
        return Document(read_text(name))
    try:
        found = read_document(Path(name))
    except prism.PrismError as error:
        fail(f"{name}: {error}{near_file(Path(name))}")
    if found.not_read:
        tell(f"{name}: is read, but for {', '.join(found.not_read)}")
    return found


def is_text(argument: str) -> bool:
    r"""Return True for an argument that is a solution itself: has `$`, `\\`, `=` or a line break, and is no file."""
    if not any(sign in argument for sign in _SIGNS_OF_TEXT):
        return False
    return not _holds(Path.exists, argument)


def _holds(test: Callable[[Path], bool], name: str) -> bool:
    """Return what a test says of a path; False for what no file is named, as it is too long."""
    try:
        return test(Path(name))
    except (OSError, ValueError):  # longer than a name can be; a null character
        return False


def parse_field_map(given: Iterable[str]) -> dict[str, str]:
    """Parse the pairs NAME=FIELD of `--map` into a dictionary; exits with code 2 for other texts."""
    pairs = [pair.partition("=") for pair in given]
    if wrong := [name for name, _, path in pairs if not (name and path)]:
        raise typer.BadParameter(f"--map: {', '.join(wrong)}: expected NAME=FIELD,NAME=FIELD")
    return {name.strip(): path.strip() for name, _, path in pairs}


def read_tokens(file: Path | None, variable: str) -> list[str]:
    """The server tokens from the lines of a file or an environment variable; none if neither is given.

    Exits with code 2 for both.
    """
    from prism.server import check_token

    if file is None and not variable:
        return []
    if file is not None and variable:
        raise typer.BadParameter("--token-file and --token-env exclude each other")
    text = os.environ.get(variable, "") if file is None else read_text(str(file))
    found = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    with as_usage(str(file or variable)):
        for each in found:
            check_token(each)
    return found


def parse_size(text: str) -> int:
    """Parse a size such as 8MiB into bytes; exits with code 2 for other texts."""
    found = re.fullmatch(r"(\d{1,15})\s*(B|kB|KiB|MB|MiB|GB|GiB|)", text.strip())
    size = int(found[1]) * SIZES[found[2]] if found else 0
    if not size:
        raise typer.BadParameter(f"--max-body {text}: expected a size such as 500kB or 8MiB")
    return size


def parse_scoring(given: Sequence[str]) -> str | dict[str, float]:
    """Parse `--scoring`: the name of a scoring, or weights by policy."""
    text = ",".join(given)
    if "=" not in text:
        return text
    with as_usage(f"--scoring {text}"):
        return {name.strip(): float(weight) for name, _, weight in (pair.partition("=") for pair in given)}


def step_summary_path() -> Path:
    """Path of GitHub's job summary file; exits with code 2 outside of GitHub."""
    name = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if not name:
        raise typer.BadParameter("--github: no GITHUB_STEP_SUMMARY in the environment; name a file with --summary")
    return Path(name)


def read_results(path: Path) -> Results:
    """Read a file of score rows for `compare`, or exit with code 3."""
    from prism.reports.gates import index_results
    from prism.runs.score_files import score_rows

    return index_results(str(path), score_rows(path))


def parse_interval(text: str) -> tuple[float, float] | None:
    """Parse LOW:HIGH into two numbers; None for an empty text; exits with code 2 for other texts."""
    if not text:
        return None
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError as error:
        raise typer.BadParameter(f"--scale {text}: expected LOW:HIGH") from error


def read_text(name: str) -> str:
    """The text of a file, or of standard input for `-`; exits with code 3 if it is none."""
    try:
        if name == "-":
            return decode(sys.stdin.buffer.read(_MAX_TEXT))
        return decode(read_bytes(Path(name), _MAX_TEXT))
    except prism.PrismError as error:
        fail(f"{name}: {error}{near_file(Path(name))}")
