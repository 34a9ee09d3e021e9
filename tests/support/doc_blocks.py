"""Runs the blocks of a page and shows what they print, so that no page can drift from the code.

A page is run in an empty folder, its blocks in order and its Python in one namespace, as after an install: shipped
problems are reached by id, files are those that the page makes.

| block | what is done |
|---|---|
| ```` ```python ```` | is run; what it prints must stand in a ```` ```text ```` block right below it |
| ```` ```console ```` | lines `$ command` are run, each with its output below; `; echo $?` shows the exit code |
| ```` ```toml title="name.toml" ```` (any language) | is written to that file in the folder, Python too, and not run |
| `<!-- append name.toml -->` before a block | adds the block to that file |
| `<!-- change a.toml to b.toml: "old" -> "new" -->` before a block | writes b.toml, which is a.toml with each change |
| `<!-- not run: reason -->` before a block | is only read: names of `prism`, options, `make` targets must exist |
| `toml`, `json`, `jsonl` without a title | must be such |

In an expected output a line `...` stands for any lines, though not for all. Commands are `prism ...`, `python file.py`
and `cat file`.
`python -m tests.support.doc_blocks --write PAGE...` writes the outputs anew; read what it changed.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer
from typer.testing import CliRunner

from prism.cli import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md")),
    *(path for folder in ("docs", "dags", "examples") for path in sorted((ROOT / folder).rglob("*.md"))),
]
WIDTH = "110"  # columns of tables on a page
BLOCK = re.compile(
    r"(?:^<!-- (?P<order>[^\n]*?) -->\n)?"
    r"^(?P<fence>```+)(?P<language>[\w-]*)(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=fence)[ ]*$",
    re.DOTALL | re.MULTILINE,
)
OUTPUT = re.compile(r"(?P<gap>\n+)```text\n(?P<body>.*?)^```[ ]*$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
CHECKOUT = frozenset(("tests", "benchmarks", "examples"))  # packages that an install does not bring


@dataclass
class Page:
    """A page while it is run: its folder's files and its names live on from block to block.

    Attributes:
        faults: what does not hold, each with its line.
    """

    text: str
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})
    faults: list[str] = field(default_factory=list)


def run_page(text: str) -> tuple[str, list[str]]:
    """Run a page in an empty folder; return it with its outputs as they are now, and its faults."""
    page, parts, end = Page(text), [], 0
    if re.search(r"^[ ]+```", text, re.MULTILINE):
        page.faults.append("a block is indented: it would not be run")
    with TemporaryDirectory() as folder, chdir(folder), as_in_a_pipe():
        for found in BLOCK.finditer(text):
            if found.start() < end:  # the output of the block before
                continue
            place = f"line {text.count(chr(10), 0, found.start()) + 1}"
            parts.append(text[end : found.start()])
            end = found.end()
            try:
                block, end = renewed(page, found, end)
            except Exception as error:  # noqa: BLE001 - whatever a page's code raises is a fault of the page
                page.faults.append(f"{place}: {type(error).__name__}: {error}")
                block = text[found.start() : end]
            parts.append(block)
    return "".join((*parts, text[end:])), page.faults


def renewed(page: Page, found: re.Match[str], end: int) -> tuple[str, int]:
    """Run one block; return its text, with its output, as it is now, and where in the page the old one ends."""
    order, language, body = found["order"] or "", found["language"], found["body"]
    title = re.search(r'title="([^"]+)"', found["info"])
    whole = found[0]
    if re.match(r"not run: \S", order):
        check_unrun(language, body)
        return whole, end
    if change := re.match(r"change (\S+) to (\S+):", order):
        write_changed(Path(change[1]), Path(change[2]), order)
    if append := re.match(r"append (\S+)$", order):
        path = Path(append[1])
        path.write_text(path.read_text("utf-8") + "\n" + body, encoding="utf-8")
    elif title:
        Path(title[1]).parent.mkdir(parents=True, exist_ok=True)
        Path(title[1]).write_text(body, encoding="utf-8")
    elif language == "console":
        return whole.replace(body, COMMAND.sub(with_output, body)), end
    elif language == "python":
        shown = OUTPUT.match(page.text, end)
        printed = output_of_python(body, page.names)
        if bool(printed) != bool(shown):
            raise ValueError("what it prints is not shown" if printed else "prints nothing of what is shown")
        if shown:
            kept = shown["body"] if fits(printed, shown["body"]) else printed
            return f"{whole}{shown['gap']}```text\n{kept}```", shown.end()
    elif not language and body.startswith("$ "):
        raise ValueError("commands stand in a console block")
    check_format(language, body)
    return whole, end


def with_output(found: re.Match[str]) -> str:
    """A command with what it prints now; what stands there is kept where it fits."""
    command, shown = found[1], found[2]
    printed = output_of_command(command)
    return f"$ {command}\n{shown if fits(printed, shown) else printed}"


def fits(printed: str, shown: str) -> bool:
    """Return True if an output is as shown, where a line `...` stands for any lines, but not for all of them."""
    if shown.strip() == "...":
        return False
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(f"{line}\n") for line in shown.splitlines())
    return re.fullmatch(pattern, printed) is not None


def output_of_python(code: str, names: dict[str, Any]) -> str:
    """Run Python of a page, which must not import what only a checkout has; return what it prints."""
    imported = {module.partition(".")[0] for module, _ in imports_of(ast.parse(code))}
    if imported & CHECKOUT:
        raise ImportError(f"{', '.join(imported & CHECKOUT)}: not there after an install")
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "page", "exec"), names)
    return without_trailing_blanks(printed.getvalue())


def output_of_command(line: str) -> str:
    """Run a command of a page; return what it prints, to both streams."""
    command, _, rest = line.partition("; ")
    verb, *arguments = shlex.split(command)
    code = 0
    if verb == "prism":
        done = CliRunner().invoke(app, arguments, prog_name="prism")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        printed, code = done.output, done.exit_code
    elif verb == "python" and arguments[0].endswith(".py"):
        stream = io.StringIO()
        with redirect_stdout(stream):
            runpy.run_path(arguments[0], run_name="__main__")
        printed = stream.getvalue()
    elif verb == "cat":
        printed = "".join(Path(name).read_text("utf-8") for name in arguments)
    else:
        raise ValueError(f"`{command}`: only prism, python FILE.py and cat are run")
    if rest:
        assert rest == "echo $?", rest
        printed += f"{code}\n"
    return without_trailing_blanks(printed)


def without_trailing_blanks(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip().splitlines())


def write_changed(source: Path, target: Path, order: str) -> None:
    """Write the target, which is the source with each change that an order names."""
    text = source.read_text("utf-8")
    changes = re.findall(r'"([^"]*)" -> "([^"]*)"', order)
    assert changes, order
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {source}"
        text = text.replace(old, new)
    target.write_text(text, encoding="utf-8")


def check_unrun(language: str, body: str) -> None:
    """Raise unless code that is not run can be compiled, and commands have the options and targets that there are."""
    if language == "python":
        for module, name in imports_of(compile(body, "page", "exec", flags=ast.PyCF_ONLY_AST)):
            if module.partition(".")[0] == "prism":
                check_import(module, name)
    elif language == "console":
        commands = [command for command, _ in COMMAND.findall(body.replace("\\\n", " "))]
        assert commands, "a console block shows a command behind `$ `"
        for command in commands:
            check_command(shlex.split(command, comments=True))
    else:
        check_format(language, body)


def imports_of(code: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (module, name) for each import; the name is empty where a whole module is imported."""
    for node in ast.walk(code):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", one.name) for one in node.names)
        elif isinstance(node, ast.Import):
            yield from ((one.name, "") for one in node.names)


def check_import(module: str, name: str) -> None:
    """Raise if a module of PRISM is not there, or defines no such name; one that needs another package is let pass."""
    try:
        found = import_module(module)
        if name and not hasattr(found, name):
            raise ImportError(f"{module} has no {name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "prism":
            raise


def check_command(words: list[str]) -> None:
    """Raise if `prism` has no such command or option, or the Makefile no such target."""
    if words[:1] == ["make"]:
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        assert set(words[1:]) <= set(targets), words
    if words[:1] != ["prism"]:
        return
    import click  # an install does not bring it, and README needs no check of a command that is not run

    words = words[1 : next((n for n, word in enumerate(words) if word in ("|", "&", ";", ">", "&&")), None)]
    group: Any = typer.main.get_command(app)
    if words[:1] and words[0].startswith("-"):  # an option of the whole program
        group.make_context("prism", words, resilient_parsing=True)
        return
    with click.Context(group, info_name="prism") as context:
        name, command, rest = group.resolve_command(context, words)
        try:
            command.make_context(name, [*rest], parent=context)
        except click.UsageError as error:  # a file that the reader has is not here
            if "does not exist" not in str(error):
                raise


def check_format(language: str, body: str) -> None:
    """Raise if a block is not of the language that it names."""
    if language == "toml":
        tomllib.loads(body)
    elif language == "json":
        json.loads(body)
    elif language == "jsonl":
        for line in body.splitlines():
            json.loads(line)


@contextmanager
def as_in_a_pipe() -> Iterator[None]:
    """Output as of a pipe of a known width, without colour, whatever terminal the tests run in."""
    changed = {"COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb", "FORCE_COLOR": None, "GITHUB_STEP_SUMMARY": None}
    before = {name: os.environ.get(name) for name in changed}
    try:
        set_variables(changed)
        yield
    finally:
        set_variables(before)


def set_variables(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def main(arguments: list[str]) -> int:
    """Check pages, or with `--write` renew them; with no page named, all."""
    named = [Path(name).resolve() for name in arguments if name != "--write"]
    failed = False
    for path in named or PAGES:
        text = path.read_text("utf-8")
        new, faults = run_page(text)
        if "--write" in arguments and new != text:
            path.write_text(new, encoding="utf-8")
        for fault in (*faults, *(["an output has changed"] if new != text else [])):
            sys.stdout.write(f"{path.relative_to(ROOT)}: {fault}\n")
        failed |= bool(faults) or (new != text and "--write" not in arguments)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
