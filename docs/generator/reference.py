"""The pages of the reference, as Markdown, from what the code says: its names, commands, enums, constants, tables."""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from types import ModuleType
from typing import Any

import prism
from docs.generator import code_facts, papers
from docs.generator.contributors_map import contributors_map
from prism.reports.html.mathml import as_mathml

ROOT = code_facts.ROOT
_PROBLEM = "free_fall"
_SOLUTION = "The stone falls $s = g t^2/2$ and lands after $t_f = \\sqrt{2h/g}$, so $v_f = g t_f/2$."


def cell(text: object) -> str:
    """Return text for a cell of a table: one line, with what Markdown would read as markup taken as it stands."""
    parts = re.split(r"(`[^`]*`)", " ".join(str(text).split()))
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"([\\*_\[\]$])", r"\\\1", parts[k]).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(parts).replace("|", "\\|")


def code(text: object) -> str:
    """Return text as code for a cell of a table."""
    return f"`` {text} ``" if "`" in str(text) else f"`{text}`".replace("|", "\\|")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def page(title: str, *parts: str) -> str:
    """Return a page: its title, then its parts."""
    return "\n\n".join([f"# {title}", *(part.strip() for part in parts)]) + "\n"


def python_api() -> str:
    """Return the page of public names, each filled in from its docstring by mkdocstrings."""
    import prism.rewards

    parts = [
        """What `prism` and `prism.rewards` export is the public contract; all other names may change. Every name is
        loaded on first use, so `import prism` costs next to nothing.""",
    ]
    for module, names in ((prism, prism.__all__), (prism.rewards, prism.rewards.__all__)):
        objects = {name: getattr(module, name) for name in names if not name.startswith("__")}
        for heading, wanted in (("functions", True), ("values and errors", False)):
            chosen = [name for name, value in objects.items() if inspect.isfunction(value) is wanted]
            if chosen:
                parts.append(f"## {module.__name__}: {heading}")
                parts += [_documented(module, name, objects[name]) for name in chosen]
    return page("Python API", *parts)


def _documented(module: ModuleType, name: str, value: Any) -> str:
    """Return what mkdocstrings replaces by a docstring; a name for a union of types has no place of its own."""
    named = f"{module.__name__}.{name}"
    place = (
        f"{value.__module__}.{value.__qualname__}"
        if hasattr(value, "__qualname__")
        else f"prism.{module.__dict__['_MODULES'][name]}.{name}"
    )
    return f"::: {place}\n    options:\n      heading: {named}\n      toc_label: {named}\n"


_EXIT_CODES = (
    ("0", "done; no gate has fired", "equivalent"),
    ("1", "a gate has fired (`compare`), a label differs (`demo`), the bytes differ (`verify-determinism`)",
     "different"),
    ("2", "the command line is wrong: a name, an option or a gate that there is not", "the same"),
    ("3", "an extra is missing; a file has faults, is in the way, or is of another grader; an endpoint refuses",
     "a `--context` with faults"),
    ("4", "the grader failed on more rows than `--max-incidents` allows; a judge left calls without a reply",
     "undecided"),
    ("5", "nothing was graded, or nothing that is in both files", ""),
    ("130", "stopped by Ctrl-C", "the same"),
)  # fmt: skip


def commands() -> str:
    """Return the page of commands: arguments, options, defaults."""
    import typer

    from prism.cli import app
    from prism.cli.application import by_heading

    program: Any = typer.main.get_command(app)
    parts = [
        table(["to do", "commands"], [[door, ", ".join(f"`{name}`" for name in own)]
                                      for door, own in by_heading(program.commands).items()]),
        """Standard output is data (a table for people, `--json` for programs), standard error is talk.
        `prism --install-completion` makes the shell complete commands and options.""",
        "## Exit codes",
        table(["code", "means", "of `prism check`"], [[*map(cell, row)] for row in _EXIT_CODES]),
    ]  # fmt: skip
    if program.params:
        parts += ["## prism", str(program.help or ""), _parameters(program.params)]
    for name, command in _commands("prism", program.commands):
        parts += [
            f"## {name}",
            cell(command.help or ""),
            f"```\n{_usage(name, command)}\n```",
            _parameters(command.params),
        ]
    return page("Commands", *parts)


def _commands(prefix: str, found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, command in found.items():
        if hasattr(command, "commands"):
            yield from _commands(f"{prefix} {name}", command.commands)
        elif not command.hidden:
            yield f"{prefix} {name}", command


def _usage(name: str, command: Any) -> str:
    arguments = [_argument(one) for one in command.params if one.param_type_name == "argument"]
    needed = [
        f"{one.opts[0]} {_value(one)}" for one in command.params if one.param_type_name == "option" and one.required
    ]
    return " ".join([name, *arguments, *needed, "[OPTIONS]"])


def _argument(one: Any) -> str:
    text = (one.metavar or one.name).upper() + ("..." if one.nargs == -1 else "")
    return text if one.required else f"[{text}]"


def _value(one: Any) -> str:
    return "" if getattr(one, "is_flag", False) else (one.metavar or one.name).upper()


def _parameters(found: Sequence[Any]) -> str:
    rows = []
    for one in found:
        if getattr(one, "hidden", False):
            continue
        if one.param_type_name == "argument":
            names = code(_argument(one))
        else:
            names = ", ".join(code(f"{option} {_value(one)}".strip()) for option in (*one.opts, *one.secondary_opts))
        rows.append([names, cell(one.help or ""), _default(one)])
    return table(["", "means", "unless said"], rows) if rows else "It takes no arguments."


def _default(one: Any) -> str:
    if one.required:
        return "required"
    default = one.default
    if default is None or default == "" or default == () or default is False or callable(default):
        return ""
    return code("on" if default is True else default)


def problem_file() -> str:
    """Return the page of problem files: every key of the schema."""
    schema = json.loads((ROOT / "dags" / "problem.schema.json").read_text(encoding="utf-8"))
    headings = {"node": "[[grading_standard]]: a node", "subquestion": "[[subquestions]]: a part", "symbol": "symbols",
                "student": "[[students]]: a solution that comes along", "expected": "expected: its label"}  # fmt: skip
    parts = [
        """A problem is a TOML or JSON file. This page lists its keys, from the schema that an editor reads
        ([how your editor gets it](problem_files.md#help-from-your-editor)). [Problem files](problem_files.md) says
        what they mean together, with examples.""",
        "## The whole problem", _keys(schema),
    ]  # fmt: skip
    for name, part in schema["$defs"].items():
        if name in headings:
            inner = next((one for one in part.get("oneOf", ()) if "properties" in one), part)
            parts += [f"## {headings[name]}", cell(part.get("description", "")), _keys(inner)]
    kinds = schema["$defs"]["kind"]
    parts += ["## Kinds of symbols", cell(kinds["description"])]
    return page("Keys of a problem file", *parts)


def _keys(part: Mapping[str, Any]) -> str:
    rows = [
        [code(key), cell(_type(one)), cell(str(one.get("description", "")).replace(" Required.", "")),
         "required" if key in part.get("required", ()) else ""]
        for key, one in part["properties"].items()
    ]  # fmt: skip
    return table(["key", "is", "means", ""], rows)


def _type(one: Mapping[str, Any]) -> str:
    """Return in words what may stand in a key."""
    if "enum" in one:
        return ", ".join(f"`{value}`" for value in one["enum"] if value)
    if "$ref" in one:
        return str(one["$ref"]).rpartition("/")[2]
    if "anyOf" in one:
        return " or ".join(_type(each) for each in one["anyOf"] if each.get("type") != "null")
    types = one.get("type", "any value")
    words = [word for word in ([types] if isinstance(types, str) else types) if word != "null"]
    entries = one.get("items", {})
    if words == ["array"]:
        return f"list of {_type(entries)}s" if entries else "list"
    return " or ".join({"object": "table", "string": "text"}.get(word, word) for word in words)


def score_row() -> str:
    """Return the page of score rows: the fields of a grade, what a row adds, and a row made for the page."""
    from prism.grading.result import Grade, GradedFormula, Incident, Match
    from prism.grading.row import SCHEMA, score_row

    problem = prism.load_problems(_PROBLEM)[_PROBLEM]
    row = score_row(problem, _SOLUTION, prism.grade(problem, _SOLUTION))
    added = {
        "schema": f"number of this form of a row: {SCHEMA}; rows of schemas 1 to {SCHEMA - 1} stay readable",
        "grader": "`version`, number of the `rules` (from schema 6 on), and `fingerprint`: the SHA-256 of version, "
        "rules, grammar, constants and policy",
        "problem_sha256": "of the problem file", "solution_sha256": "of the text of the solution, in UTF-8",
        "meta": "fields of the rollout that `--keep` names (`model`, unless said otherwise); rows of `prism run` only",
    }  # fmt: skip
    missing = row.keys() - added.keys() - {one.name for one in fields(Grade)}
    if missing:
        raise ValueError(f"no word on these fields of a score row: {sorted(missing)}")
    parts = [
        f"""A score row is one line of JSON, or of Parquet: what `prism grade --json` prints and `prism run` writes.
        This is schema {SCHEMA}. Keys are sorted, and the same input gives the same bytes on every machine.""",
        "## Fields of the grade", _attributes(Grade),
        "## What the row adds", table(["field", "means"], [[code(name), cell(words)] for name, words in added.items()]),
        "## formulas: each formula", _attributes(GradedFormula), "## matches of a formula", _attributes(Match),
        "## incidents: failures of the grader", cell(Incident.__doc__ or ""),
        table(["field", "is"], [[code(one.name), code(one.type)] for one in fields(Incident)]),
        "## left_out", "`characters` and `formulas`: what lies beyond a limit and was not read.",
        "## A row",
        f"Of this solution of the shipped problem `{_PROBLEM}`, graded when this page was built:",
        f"```latex\n{_SOLUTION}\n```",
        f"```json\n{json.dumps(row, sort_keys=True, ensure_ascii=False, indent=2)}\n```",
    ]  # fmt: skip
    return page("Score row", *parts)


def _attributes(kind: type) -> str:
    """Return the table of a dataclass's fields, with the words of its docstring's section `Attributes`."""
    words: dict[str, str] = {}
    import griffe

    text = code_facts.one_name_an_entry(inspect.getdoc(kind) or "")
    for section in griffe.Docstring(text, lineno=1).parse("google", warnings=False):
        if section.kind is griffe.DocstringSectionKind.attributes:
            words = {one.name: one.description for one in section.value}
    rows = [[code(one.name), code(one.type), cell(words[one.name])] for one in fields(kind)]
    return table(["field", "is", "means"], rows)


def reasons() -> str:
    """Return the page of reasons, flags and statuses: every code that a row, a verdict or a diagnosis can hold."""
    from prism.equivalence.chains.links import REASONS as LINKS
    from prism.equivalence.verdict import REASONS, STAGES, Stage, Status
    from prism.grading.result import FLAGS
    from prism.grading.scoring import PARTS, STATUSES
    from prism.grading.selection import WITHHELD_REASONS
    from prism.reports.agreement import REASONS as COEFFICIENTS

    formulas = {
        "equivalent": "says what at least one node says, and counts for it",
        "withheld": "says what a node says, and is no claim that stands",
        "different": "differs from every node",
        "undecided": "could not be told from some node, and earns nothing",
        "unread": "could not be read as a formula",
        "mention": "is a lone symbol or number, which asserts nothing",
    }
    if not set(STATUSES) <= formulas.keys():
        raise ValueError("a status of a formula has no words")
    grades = {
        "ok": "all of the text was read and graded",
        "too_large": "the text exceeds a limit; what is within it is graded",
        "killed": "the grader was stopped on this solution, which has no score",
        "internal": "the grader failed on this solution as a whole, which has no score",
    }
    return page(
        "Reasons, flags and statuses",
        "Each list is closed: the code refuses any other word, so that a program may rely on them."
        " Other words are explained in the [glossary](glossary.md).",
        "## Statuses of a comparison", _codes({status.value: _STATUS_WORDS[status.value] for status in Status}),
        "## Reasons of a comparison", _codes(REASONS),
        "## Stages of a comparison",
        "How much of the problem had to be put in before two formulas matched (semantics O.0).",
        table(["stage", "name", "means"], [[str(int(one)), code(one.name), cell(STAGES[one])] for one in Stage]),
        "## Statuses of a formula", _codes(formulas),
        "## Reasons for withholding", "Why a formula that matches a node earns nothing.", _codes(WITHHELD_REASONS),
        "## Flags of a grade", _codes(FLAGS),
        "## Statuses of a grade", _codes(grades),
        "## Reasons of a chain's link",
        "Why a link of `a = b = c` is confirmed, refuted or left open (semantics C.1).", _codes(LINKS),
        "## What a score may be made of", "Names that `--scoring` and a reward's weights take.", _codes(PARTS),
        "## Reasons of an undefined coefficient", "Why `prism agree` leaves a coefficient open.", _codes(COEFFICIENTS),
    )  # fmt: skip


_STATUS_WORDS = {
    "equivalent": "both say the same",
    "different": "they do not, and a witness shows where it is known",
    "undecided": "PRISM cannot tell; it earns nothing",
}


def _codes(found: Mapping[str, str]) -> str:
    return table(["code", "means"], [[code(str(name)), cell(words)] for name, words in found.items()])


def limits() -> str:
    """Return the page of limits, by folder."""
    by_folder: dict[str, list[code_facts.Limit]] = {}
    for one in code_facts.limits():
        by_folder.setdefault(code_facts.folder_of(one.name), []).append(one)
    parts = [
        """Limits count operations and sizes, never seconds, so a verdict does not depend on the machine. Each is a
        named constant in the module that enforces it. Those of `prism.budget` are in operations, of which one is
        ten to twenty-five nanoseconds of one core; [Determinism and budgets](../explanation/budgets.md) says what is
        counted.""",
    ]
    for folder in sorted(by_folder, key=lambda name: (name != "budget", name)):
        rows = [[code(_number(one.value)), code(one.name), cell(one.meaning)] for one in by_folder[folder]]
        parts += [f"## {folder}", table(["value", "name", "of what, and why"], rows)]
    return page("Limits", *parts)


def _number(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_number(one)}" for key, one in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)


def units_and_constants() -> str:
    """Return the tables of `constants/`, beneath the page that explains them."""
    parts = ["## All units", "Symbols and words as they may be written; the factor leads to coherent SI units."]
    rows = []
    for one in tomllib.loads((ROOT / "constants" / "units.toml").read_text(encoding="utf-8"))["unit"]:
        factor = (
            one["factor"]
            + (f" pi^{one['pi']}" if "pi" in one else "")
            + (f" + {one['offset']}" if "offset" in one else "")
        )
        spellings = ", ".join(code(word) for word in (*one.get("spellings", ()), *one.get("words", ())))
        rows.append(
            [
                cell(one["name"]),
                spellings,
                code(factor),
                code(one.get("dimension") or "1"),
                cell(one.get("prefixes", "")),
            ]
        )
    parts.append(table(["unit", "written", "factor", "dimension", "prefixes"], rows))
    rows = []
    for one in tomllib.loads((ROOT / "constants" / "constants.toml").read_text(encoding="utf-8"))["constant"]:
        value = f"{one['value']} {one['unit']}".strip() if "value" in one else ""
        symbols, same = (", ".join(map(_typeset, one.get(key, ()))) for key in ("symbols", "identities"))
        rows.append([cell(one["name"]), symbols, value and code(value), same, cell(one.get("source", ""))])
    parts += ["## All constants", table(["constant", "symbols", "value", "the same as", "source"], rows)]
    return "\n\n".join(parts) + "\n"


def _typeset(latex: str) -> str:
    """Return LaTeX as mathematics for a cell, or as code where the site cannot typeset it."""
    return f"${latex}$" if as_mathml(latex) else code(latex)


def environment() -> str:
    """Return the page of environment variables."""
    from prism.resources import ENVIRONMENT_VARIABLES

    rows = [[code(name), cell(words)] for name, words in ENVIRONMENT_VARIABLES.items()]
    return page("Environment variables", "None of them changes a verdict.", table(["variable", "does"], rows))


def extras() -> str:
    """Return the page of what is installed, and of the extras."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    rows = [
        [code(name), ", ".join(code(one) for one in packages)]
        for name, packages in project["optional-dependencies"].items()
    ]
    return page(
        "Extras",
        """The distribution is `prism-dag`, the import name `prism`. Ranges, never pins: frameworks that install
        PRISM beside themselves have pins of their own.
        [Architecture](../explanation/architecture.md#dependencies-and-why-each) says what each package is for.""",
        f"Python {project['requires-python']}. Always installed: {', '.join(map(code, project['dependencies']))}.",
        table(["extra", "brings"], rows),
        f"From a checkout: `pip install '.[report]'`; from a wheel, with its whole name:"
        f" `pip install 'prism_dag-{prism.__version__}-py3-none-any.whl[report]'`.",
    )


def known_gaps() -> str:
    """Return the page of verdicts that are known to be wrong."""
    gaps = code_facts.known_gaps()
    parts = [
        f"""Each of these {len(gaps)} verdicts is wrong today, and known to be. A row stays marked until it passes:
        the test suite fails when a marked row starts to pass, so this list is complete as far as the rows go. Made
        from the rows marked `known_gap` in `tests/cases/` and from the labels of the shipped problems.""",
    ]
    for path in dict.fromkeys(gap.path for gap in gaps):
        rows = [[code(gap.id), cell(gap.why)] for gap in gaps if gap.path == path]
        parts += [f"## {path.removeprefix('tests/cases/')}", table(["row", "why it is wrong"], rows)]
    return page("Known gaps", *parts)


def papers_page() -> str:
    """Return the page of what four papers have beyond the score, and where it is here."""
    parts = [
        """What four papers have beyond the score itself: the place in the paper, and the command, file or test that has
        it here. *Not here* is nowhere in PRISM; *in part* says what lacks. Printed numbers that are computed again
        stand in `benchmarks/papers/`, with those that do not come out.""",
    ]
    heads = ["place", "what", "by", "state", "what came out"]
    for name, rows in papers.table_rows().items():
        parts += [f"## {name}", table(heads, [[cell(each) for each in row] for row in rows])]
    return page("What the papers have", *parts)


PAGES: Mapping[str, Callable[[], str]] = {
    "reference/api.md": python_api,
    "reference/commands.md": commands,
    "reference/problem_file.md": problem_file,
    "reference/score_row.md": score_row,
    "reference/reasons.md": reasons,
    "reference/limits.md": limits,
    "reference/environment.md": environment,
    "reference/extras.md": extras,
    "reference/papers.md": papers_page,
    "explanation/known_gaps.md": known_gaps,
    "project/contributors_map.md": lambda: contributors_map(page="../explanation/semantics.md"),
}
"""Each page that has no file: its place below `docs/`, and what makes it."""
