"""Commands on problem files: `list`, `show`, `prompt`, `lint`, `draft`, `convert`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import prism
from prism.cli import options as take
from prism.cli import output
from prism.cli.application import HelpHeading, app
from prism.cli.datasets import ConvertOptions, FromDataset, convert_rows, lint_dataset
from prism.cli.options import with_options
from prism.cli.output import print_json, print_tables, spinner
from prism.cli.talk import BAD_FILE, as_usage, fail, named_in_errors, tell
from prism.cli.templates import lint_templates
from prism.errors import count_of
from prism.inputs import shown

if TYPE_CHECKING:
    from prism.authoring.lint_findings import LintFinding
    from prism.problem.vocabulary import Vocabulary


@app.command("list", rich_help_panel=HelpHeading.WRITE)
def list_problems(as_json: take.AsJson = False) -> None:
    """List the shipped problems: the id by which every command takes one, title, nodes, worked solutions."""
    from prism.problem.source import shipped_files
    from prism.reports import tables

    rows = [tables.problem_summary(path) for path in shipped_files()]
    if as_json:
        print_json({"problems": rows})
    else:
        print_tables(tables.list_table(rows))


@app.command(rich_help_panel=HelpHeading.WRITE)
def show(
    problem: str = take.argument(
        "Problem file, or shipped id; or a set: a folder, a .jsonl file, a .json list.",
        autocompletion=take.complete_problem,
    ),
    as_mermaid: bool = take.switch("Print the DAG as a Mermaid flowchart.", "--mermaid"),
    as_dot: bool = take.switch("Print the DAG in the language of Graphviz.", "--dot"),
    as_json: take.AsJson = False,
) -> None:
    """Show a problem as the grader knows it: DAG, values, definitions, constants, unused text; or count a set."""
    from prism.problem.collection import is_problem_set
    from prism.reports import dag_drawing as drawing
    from prism.reports import tables

    if as_mermaid + as_dot + as_json > 1:
        raise typer.BadParameter("--mermaid, --dot and --json exclude each other")
    if is_problem_set(take.problem_file(problem)):
        if as_mermaid or as_dot:
            raise typer.BadParameter("--mermaid and --dot draw one problem, and not a set")
        _show_set(problem, as_json=as_json)
        return
    loaded = take.load_problem_or_exit(problem)
    if as_json:
        print_json(tables.problem_facts(loaded))
    elif as_mermaid or as_dot:
        print(drawing.mermaid(loaded) if as_mermaid else drawing.dot(loaded))
    else:
        in_unicode = drawing.is_drawable(sys.stdout.encoding)
        if not in_unicode and isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # the author's own text may hold what this terminal cannot show
        print_tables(*tables.problem_tables(loaded, output.make_console().width, in_unicode=in_unicode))


def _show_set(name: str, *, as_json: bool) -> None:
    """Count a set of problems; exits with code 3 if one cannot be loaded."""
    from prism.problem.collection import count_problems, load_problems
    from prism.reports.tables import set_parts

    with spinner("loading"):
        found = count_problems(load_problems(name).values())
    if as_json:
        print_json(found.to_dict())
    else:
        output.print_parts(set_parts(found))


@app.command("prompt", rich_help_panel=HelpHeading.EVALUATE)
def print_prompt(
    problems: take.ManyProblems,
    style: str = take.option("Answer format: prism, engtrace, engjudge, prism-physics.", "prism"),
    part: str = take.option("Ask this part only; of one problem.", "", metavar="LETTER"),
    out: Path | None = take.option(
        "File of JSON lines: problem_id, prompt, images. [default: stdout]", None, "--out", "-o"
    ),
    macros: take.MacroFile = "",
    force: take.Force = False,
    as_json: take.AsJson = False,
) -> None:
    """Print what a model is given for a problem: text and answer format, no answer; of a set, JSON lines."""
    from prism.grading.row import json_line
    from prism.problem import prompts

    take.require_new(out, force=force)
    with as_usage():
        prompts.checked_style(style)
    path, beside = take.problem_file(problems), take.read_macro_file(macros)
    loaded = list(prism.load_problems(path, macros=beside).values())
    if part and len(loaded) > 1:
        raise typer.BadParameter(f"--part is for one problem, and {problems} holds {len(loaded)}")
    made = [prompts.make_prompt(each, style, part=part) for each in loaded]
    is_one = len(made) == 1 and not path.is_dir() and path.suffix != ".jsonl"
    if is_one and out is None and not as_json:
        print(made[0].text.encode("utf-8", "replace").decode("utf-8"))  # JSON may hold half of a surrogate pair
        output.tell_images(made[0])
        return
    rows = prompts.rows_of(made, prompts.Prompt.to_dict if as_json and out is None else prompts.Prompt.to_row)
    lines = "".join(f"{json_line(row).decode()}\n" for row in rows)
    if out is not None:
        take.write_text(out, lines)
        told = {"out": str(out), "prompts": len(rows)}
        print_json(told) if as_json else print(f"{out}: {count_of(len(rows), 'prompt')}")
    elif as_json:
        print_json(rows[0] if is_one else {"prompts": rows})
    else:
        print(lines, end="")


@app.command(rich_help_panel=HelpHeading.WRITE)
def lint(
    problems: list[str] | None = take.argument(
        "Problem files, folders, sets: .jsonl.", None, autocompletion=take.complete_problem
    ),
    notes: bool = take.switch("Also what may be meant so.", "--notes"),
    sarif: Path | None = take.option("Also a file for code scanning: SARIF 2.1.0."),
    vocabulary: Path | None = take.option(
        "Domains and subtopics, TOML. [default: vocabulary/domains.toml]", None, metavar="FILE"
    ),
    macros: take.MacroFile = "",
    dataset: Path | None = take.option(
        "A published data set instead: file or folder; needs --from.", None, metavar="FILE"
    ),
    origin: FromDataset = "",
    seeds: int = take.option("Of each template: seeds that are made and graded.", 200, min=1),
    as_json: take.AsJson = False,
) -> None:
    """List what is wrong with problem files, templates or a data set; exit code 3 if there is a fault."""
    if dataset is not None or origin:
        lint_dataset(dataset, origin, problems or [], notes=notes, as_json=as_json)
        return
    if not problems:
        raise typer.BadParameter("name a problem file, or a data set with --dataset FILE --from NAME")
    from prism.generation.loading import is_template
    from prism.problem.source import problem_path
    from prism.problem.vocabulary import read_vocabulary, shipped_vocabulary

    problems, beside = take.files_to_lint(problems), take.read_macro_file(macros)
    if templates := [name for name in problems if is_template(name)]:
        if len(templates) < len(problems):
            fail(f"{templates[0]}: is a template; check templates and problem files one after the other")
        beside_templates = {"--sarif": sarif, "--vocabulary": vocabulary, "--macros": macros}
        if ignored := [option for option, value in beside_templates.items() if value]:
            raise typer.BadParameter(f"{', '.join(ignored)}: for problem files, and {templates[0]} is a template")
        lint_templates(templates, n_seeds=seeds, as_json=as_json)
        return
    known = shipped_vocabulary() if vocabulary is None else read_vocabulary(vocabulary)
    found = list(_findings_in(problems, beside, known))
    missing = {name: said for name in problems if (said := take.unknown_name(name))}  # told below, and not as a finding
    count: Counter[str] = Counter(finding.kind for _, finding in found)
    if sarif is not None:
        from prism.reports import ci_formats

        placed = [(str(problem_path(name)), each) for name, each in found if notes or each.kind != "note"]
        take.write_text(sarif, ci_formats.sarif(placed))
    if as_json:
        listed = [{"file": name, **finding.to_dict()} for name, finding in found]
        print_json({"findings": listed, **{f"{kind}s": count[kind] for kind in ("fault", "warning", "note")}})
    else:
        _print_findings([each for each in found if each[0] not in missing], count, len(problems), notes=notes)
    for name, said in missing.items():
        tell(f"{name or shown(name)}: {said}")
    if count["fault"]:
        raise typer.Exit(BAD_FILE)


def _findings_in(
    names: Sequence[str], macros: Mapping[str, object] | None, known: Vocabulary
) -> Iterator[tuple[str, LintFinding]]:
    """Yield the findings of problem files, and of files with many problems, each with its file or place."""
    from prism.authoring.linting import lint_entries
    from prism.problem.collection import entries_of_set
    from prism.problem.source import problem_path

    for name in output.with_progress(names, "checking"):
        path = problem_path(name)
        if entries := entries_of_set(path):
            found = lint_entries(entries, macros=macros, vocabulary=known)
            yield from ((each.place, each.finding) for each in found)
        else:
            yield from ((name, each) for each in prism.lint(path, macros=macros, vocabulary=known))


def _print_findings(found: list[tuple[str, LintFinding]], count: Counter[str], n_files: int, *, notes: bool) -> None:
    """Print findings by file and line, notes only if they are asked for, and a line of counts."""
    for name, finding in found:
        if notes or finding.kind != "note":
            place = name if finding.line is None else f"{name}:{finding.line}"
            print(f"{place}: {finding.kind}: {finding}")
    more = f", {count_of(count['note'], 'note')}" if count["note"] else ""
    counts = f"{count_of(count['fault'], 'fault')}, {count_of(count['warning'], 'warning')}{more}"
    print(f"{count_of(n_files, 'file')}: {counts}")


@app.command(rich_help_panel=HelpHeading.WRITE)
def draft(
    solutions: list[str] = take.argument(
        "Worked solution, as `grade` takes one. A further one is another way.", metavar="SOLUTION..."
    ),
    out: Path | None = take.option("Problem file: .toml or .json. [default: TOML on stdout]", None, "--out", "-o"),
    problem: str = take.option("File with the problem's text.", ""),
    answer: list[str] | None = take.option(
        "Final answer, LaTeX, instead of those of its part, or of all if no parts (a), (b) are marked in "
        "PROBLEM and SOLUTION; repeatable. [default: boxes, else last formulas]",
        None,
    ),
    name: str = take.option("Id of the problem. [default: name of OUT or SOLUTION]", "", "--id"),
    force: take.Force = False,
    as_json: take.AsJson = False,
) -> None:
    """Make a first problem file from worked solutions, by rule: nodes, edges and answers, each with its reason."""
    from prism.authoring.draft_alternatives import draft_alternatives

    take.require_new(out, force=force)
    names = ["" if each == "-" or take.is_text(each) else Path(each).stem for each in solutions]
    source = ", ".join("the solution" if take.is_text(each) else each for each in solutions)
    named = name or (out.stem if out else names[0]) or "draft"
    text = take.read_text(problem) if problem else ""
    given = take.read_solutions(solutions)
    with named_in_errors(source), spinner("comparing formulas"):
        made = draft_alternatives(given, names=names, problem=text, answers=answer or (), name=named)
    for remark in made.remarks:
        tell(f"{source}: {remark}")
    if out is not None:
        output.write_problem(out, made.data, made.toml)
    if as_json:
        print_json(made.to_dict())
    elif out is None:
        print(made.toml(), end="")
    else:
        print(f"{out}: {output.drafted_sizes(made)}; read it through, then: prism lint {out}")


@app.command(rich_help_panel=HelpHeading.WRITE)
@with_options
def convert(
    file: Path = take.argument(
        "Questions, problems or schemes: .jsonl, .json, .csv, .parquet, .toml; with --from a folder too."
    ),
    out: Path | None = take.option(
        "A .toml, .json or .jsonl file, or a folder. [default: stdout]", None, "--out", "-o"
    ),
    origin: FromDataset = "",
    mapping: list[str] = take.names("Fields of the rows: question=FIELD,answer=FIELD,id, solution, unit.", "--map"),
    *,
    wanted: ConvertOptions,
) -> None:
    """Make problem files from rows of questions, data sets and marking schemes; exit code 3 if one cannot be."""
    if convert_rows(file, origin, take.parse_field_map(mapping), wanted, out):
        return
    if wanted.variant or wanted.language:
        raise typer.BadParameter("--variant and --language go with --from NAME")
    if wanted.draft or wanted.partial:
        told = "--draft and --partial go with --from NAME or rows of questions, and the file has none under known names"
        raise typer.BadParameter(f"{told}: --map question=FIELD,answer=FIELD,solution=FIELD says which these are")
    from prism.authoring import conversions, converting

    with spinner("converting"):
        made = converting.convert(file)
    texts = dict(conversions.problem_files(made, out))
    take.write_new(texts, force=wanted.force)
    if wanted.as_json:
        print_json(made.to_dict())
    elif out is None:
        print("".join(conversions.problem_texts(made)), end="")
    else:
        output.print_converted(made, len(texts))
    for fault in conversions.count_equal_faults(made.faults):
        tell(f"{file}: {fault}")
    if made.faults:
        raise typer.Exit(BAD_FILE)
