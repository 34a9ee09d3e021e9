"""The command line: a thin door. stdout is data (a table for people, `--json` for programs), stderr is talk.

Exit codes: 0 done (`check`: equivalent), 1 a gate failed (`check`: different), 2 usage, 3 bad problem or input
file or a missing extra, 4 more incidents than `--max-incidents` (`check`: undecided), 5 nothing graded.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

import prism
from prism.cli.helptext import HELP_NAMES, CommandGroup, FormulaCommand
from prism.cli.options import (
    BAD_FILE,
    AsJson,
    Force,
    MacroFile,
    ManyProblems,
    OneProblem,
    complete_problem,
    fail,
    files_to_lint,
    in_words,
    load_problem_or_exit,
    make_folder,
    n_processors,
    name_unread,
    parse_context,
    parse_field_map,
    parse_interval,
    parse_scoring,
    parse_size,
    problem_file,
    read_macro_file,
    read_results,
    read_solution,
    read_text,
    read_token,
    refuse_existing,
    require_folder,
    require_scipy,
    split_names,
    step_summary_path,
    unknown_name,
)
from prism.cli.output import (
    describe_run,
    drafted_sizes,
    make_console,
    print_converted,
    print_json,
    print_tables,
    print_unit_hints,
    print_verdict,
    progress_bar,
    spinner,
    tell_pace,
    tell_scanned,
    with_progress,
    write_problem,
    write_text,
)
from prism.errors import count_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from prism.grading.result import Grade
    from prism.problem.schema import Problem
    from prism.problem.students import Student
    from prism.reports.gates import Comparison, GateOutcome

_CHECK_CODES = {"equivalent": 0, "different": 1, "undecided": 4}
_GATE_FAILED = 1
_INCIDENTS = 4
_NOTHING_GRADED = 5
_STOPPED = 130  # by Ctrl-C, as shells count
_SHOWN = "scoring_figure"  # the shipped problem whose first solution `demo` shows formula by formula

app = typer.Typer(
    name="prism", cls=CommandGroup, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    context_settings={"help_option_names": HELP_NAMES}, help="Grade worked physics solutions step by step, by rule.",
)  # fmt: skip


def main() -> None:
    """Entry point of the console script and of `python -m prism`."""
    app()


def _print_version(wanted: bool) -> None:
    """Print the version and the folder that runs, and exit (callback of `--version`)."""
    if wanted:
        print(f"prism-dag {prism.__version__} ({Path(prism.__file__).parent})")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True,
                                          help="Version, and the folder that runs.")] = False,
) -> None:  # fmt: skip
    """Grade worked physics solutions step by step, by rule."""


# A formula may begin with a minus, and one of a height with -h.
@app.command(cls=FormulaCommand, context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
def check(
    reference: Annotated[str, typer.Argument(help="Reference formula, LaTeX.")],
    claim: Annotated[str, typer.Argument(help="Formula to compare with it, LaTeX.")],
    context: Annotated[str, typer.Option(help='What the problem gives, as JSON: {"symbols": {"x": "real"}}.')] = "",
    macros: MacroFile = "",
    as_json: AsJson = False,
) -> None:
    """Say whether two formulas are the same: exit code 0 equivalent, 1 different, 4 undecided."""
    given = parse_context(context, macros)
    verdict = prism.equivalent(reference, claim, context=given)
    if as_json:
        print_json(verdict.to_dict())
    else:
        unread = name_unread(reference, claim, given) if verdict.reason == "parse_error" else ""
        print_verdict(verdict, detail_of=unread)
        if verdict.status == "different":
            print_unit_hints(reference, claim, given)
    raise typer.Exit(_CHECK_CODES[verdict.status])


@app.command()
def grade(
    problem: OneProblem,
    solution: Annotated[str, typer.Argument(help="Solution: text, or .json with messages or steps; - is stdin.")],
    max_incidents: Annotated[int, typer.Option(help="Failures of the grader that are put up with.")] = 0,
    macros: MacroFile = "",
    as_json: AsJson = False,
) -> None:
    """Grade one solution: each reference node with what matched it, each other formula with the reason."""
    from prism.grading.row import score_row
    from prism.reports import tables

    loaded = load_problem_or_exit(problem, macros)
    given = read_solution(solution)
    try:
        result = prism.grade(loaded, given)
    except prism.PrismError as error:
        fail(f"{solution}: {error}")
    if as_json:
        print_json(score_row(loaded, given, result))
    else:
        print_tables(*tables.grade_tables(loaded, result))
    if len(result.incidents) > max_incidents:
        for incident in result.incidents:
            print(f"prism: incident {incident.code}: {incident.where}: {incident.detail}", file=sys.stderr)
        raise typer.Exit(_INCIDENTS)


@app.command()
def explain(
    problem: OneProblem,
    solution: Annotated[str, typer.Argument(help="Solution: text, or .json with messages or steps; - is stdin.")],
    trace: Annotated[
        bool, typer.Option("--trace", help="Name for each decision its rule and the files of the code.")
    ] = False,
    macros: MacroFile = "",
    as_json: AsJson = False,
) -> None:
    """Say why each formula matches a node or none: what was put in, what is wrong, and the first wrong step."""
    from prism.diagnosis.explanations import explain as explained
    from prism.diagnosis.rule_map import trace_of
    from prism.grading.prepared import prepare
    from prism.grading.row import score_row

    loaded = load_problem_or_exit(problem, macros)
    given = read_solution(solution)
    try:
        prepared = prepare(loaded)
        result = prism.grade(prepared, given)
    except prism.PrismError as error:
        fail(f"{solution}: {error}")
    with spinner("diagnosing"):
        diagnosis = prism.diagnose(prepared, result)
    if as_json:
        traced = {"trace": trace_of(result)} if trace else {}
        print_json({"diagnosis": diagnosis.to_dict(), "grade": score_row(loaded, given, result), **traced})
    else:
        print(explained(loaded, result, diagnosis, trace=trace))


@app.command("list")
def list_problems(as_json: AsJson = False) -> None:
    """List the shipped problems: the id by which every command takes one, title, nodes, worked solutions."""
    from prism.problem.source import shipped_files
    from prism.reports import tables

    rows = [tables.problem_summary(path) for path in shipped_files()]
    if as_json:
        print_json({"problems": rows})
    else:
        print_tables(tables.list_table(rows))


@app.command()
def show(
    problem: OneProblem,
    as_mermaid: Annotated[bool, typer.Option("--mermaid", help="Print the DAG as a Mermaid flowchart.")] = False,
    as_dot: Annotated[bool, typer.Option("--dot", help="Print the DAG in the language of Graphviz.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a problem as the grader knows it: its DAG, values, definitions, constants, what of its text is not used."""
    from prism.reports import dag_drawing as drawing
    from prism.reports import tables

    if as_mermaid + as_dot + as_json > 1:
        raise typer.BadParameter("--mermaid, --dot and --json exclude each other")
    loaded = load_problem_or_exit(problem)
    if as_json:
        print_json(tables.problem_facts(loaded))
    elif as_mermaid or as_dot:
        print(drawing.mermaid(loaded) if as_mermaid else drawing.dot(loaded))
    else:
        in_unicode = drawing.is_drawable(sys.stdout.encoding)
        if not in_unicode and isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # the author's own text may hold what this terminal cannot show
        print_tables(*tables.problem_tables(loaded, make_console().width, in_unicode=in_unicode))


@app.command()
def lint(
    problems: Annotated[
        list[str], typer.Argument(help="Problem files, folders of them.", autocompletion=complete_problem)
    ],
    notes: Annotated[bool, typer.Option("--notes", help="Also what may be meant so.")] = False,
    sarif: Annotated[Path | None, typer.Option(help="Also a file for code scanning: SARIF 2.1.0.")] = None,
    macros: MacroFile = "",
    as_json: AsJson = False,
) -> None:
    """List what is wrong with problem files, by line, node and field; exit code 3 if there is a fault."""
    from prism.problem.source import problem_path

    problems, beside = files_to_lint(problems), read_macro_file(macros)
    named = with_progress(problems, "checking")
    found = [(name, finding) for name in named for finding in prism.lint(problem_path(name), macros=beside)]
    missing = {name: said for name in problems if (said := unknown_name(name))}  # told below, and not as a finding
    count = Counter(finding.kind for _, finding in found)
    if sarif is not None:
        from prism.reports import ci_formats

        paths = {name: str(problem_path(name)) for name in problems}
        shown = [(paths[name], finding) for name, finding in found if notes or finding.kind != "note"]
        write_text(sarif, ci_formats.sarif(shown))
    if as_json:
        listed = [{"file": name, **finding.to_dict()} for name, finding in found]
        print_json({"findings": listed, **{f"{kind}s": count[kind] for kind in ("fault", "warning", "note")}})
    else:
        for name, finding in found:
            if name not in missing and (notes or finding.kind != "note"):
                place = name if finding.line is None else f"{name}:{finding.line}"
                print(f"{place}: {finding.kind}: {finding}")
        more = f", {count_of(count['note'], 'note')}" if count["note"] else ""
        counts = f"{count_of(count['fault'], 'fault')}, {count_of(count['warning'], 'warning')}{more}"
        print(f"{count_of(len(problems), 'file')}: {counts}")
    for name, said in missing.items():
        print(f"prism: {name}: {said}", file=sys.stderr)
    if count["fault"]:
        raise typer.Exit(BAD_FILE)


@app.command()
def draft(
    solutions: Annotated[
        list[str],
        typer.Argument(
            metavar="SOLUTION...",
            help="Worked solution: text, or .json with messages or steps; - is stdin. A further one is another way.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Problem file: .toml or .json. [default: TOML on stdout]")
    ] = None,
    problem: Annotated[str, typer.Option(help="File with the problem's text.")] = "",
    answer: Annotated[
        list[str] | None,
        typer.Option(
            help="Final answer, LaTeX, instead of those of its part, or of all if no parts (a), (b) are marked in "
            "PROBLEM and SOLUTION; repeatable. [default: boxes, else last formulas]"
        ),
    ] = None,
    name: Annotated[str, typer.Option("--id", help="Id of the problem. [default: name of OUT or SOLUTION]")] = "",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a first problem file from worked solutions, by rule: nodes, edges and answers, each with its reason."""
    from prism.authoring.draft_alternatives import draft_alternatives

    require_folder(out)
    refuse_existing([out] if out else [], force=force)
    first, source = solutions[0], ", ".join(solutions)
    named = name or Path(out or ("draft" if first == "-" else first)).stem
    text = read_text(problem) if problem else ""
    try:
        given = [read_solution(each) for each in solutions]
        ways = [Path(each).stem for each in solutions]
        with spinner("comparing formulas"):
            made = draft_alternatives(given, names=ways, problem=text, answers=answer or (), name=named)
    except prism.PrismError as error:
        fail(f"{source}: {error}")
    for remark in made.remarks:
        print(f"prism: {source}: {remark}", file=sys.stderr)
    if out is not None:
        write_problem(out, made.data, made.toml)
    if as_json:
        print_json(made.to_dict())
    elif out is None:
        print(made.toml(), end="")
    else:
        print(f"{out}: {drafted_sizes(made)}; read it through, then: prism lint {out}")


@app.command()
def convert(
    file: Annotated[Path, typer.Argument(help="Problems or marking schemes: .json, .jsonl, .toml, .csv.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A .toml, .json or .jsonl file, or a folder. [default: stdout]"),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make problem files from the published dataset shape and from marking schemes; exit code 3 if one cannot be."""
    from prism.authoring import conversions, converting

    try:
        with spinner("converting"):
            made = converting.convert(file)
        texts = conversions.problem_files(made, out)
    except prism.PrismError as error:
        fail(str(error))
    refuse_existing([path for path, _ in texts], force=force)
    for path, text in texts:
        make_folder(path.parent)
        write_text(path, text)
    if as_json:
        print_json(made.to_dict())
    elif out is None:
        print("".join(text for text in conversions.problem_texts(made)), end="")
    else:
        print_converted(made, [path for path, _ in texts])
    for fault in made.faults:
        print(f"prism: {file}: {fault}", file=sys.stderr)
    if made.faults:
        raise typer.Exit(BAD_FILE)


@app.command()
def demo(
    problems: Annotated[
        list[str] | None,
        typer.Argument(
            help="Problem files, or ids of shipped problems; all shipped ones without any.",
            autocompletion=complete_problem,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Grade the solutions that stand in problem files, and compare with their labels; exit code 1 if one differs."""
    from prism.problem.schema import in_alternative
    from prism.problem.source import shipped_files
    from prism.reports import tables

    rows: list[tuple[Problem, Student, Grade]] = []
    reports: list[RenderableType] = []
    if not problems:
        prism.warm()  # there are so many formulas that compiling once takes less time
    paths = [problem_file(name) for name in problems] if problems else shipped_files()
    if len(paths) > 1 and not sys.stderr.isatty():  # where no bar is drawn
        print(f"prism: the solutions of {len(paths)} problems are being graded", file=sys.stderr)
    for path in with_progress(paths, "grading problems"):
        loaded = load_problem_or_exit(str(path))
        prepared = prism.prepare(loaded)
        for student in loaded.students:
            result = prism.grade(prepared, student.solution, sample_id=student.name)
            rows.append((loaded, student, result))
            if loaded.id == _SHOWN and not reports:
                reports = [
                    f"{loaded.title}: the solution of “{student.name}”\n",
                    *tables.grade_tables(loaded, result),
                    "",
                ]
    if not rows:
        fail(f"{', '.join(problems or ())}: no [[students]] to grade")
    labels = [tables.label_differences(student, result) for _, student, result in rows]
    wrong = sum(len(label["wrong"]) for label in labels)
    if as_json:
        grades = [{**result.to_dict(), **label} for (_, _, result), label in zip(rows, labels, strict=True)]
        print_json({"grades": grades})
    else:
        gaps = sum(len(label["gaps"]) for label in labels)
        nodes = sum(len(in_alternative(problem, result.alternative).nodes) for problem, _, result in rows)
        last = (
            f"{count_of(len(rows), 'solution')} graded; of {count_of(nodes, 'node')} known gaps: {gaps};"
            f" that differ from their label: {wrong}"
        )
        print_tables(*reports, tables.demo_table(rows), last)
    if wrong:
        raise typer.Exit(_GATE_FAILED)


@app.command()
def run(
    problems: ManyProblems,
    rollouts: Annotated[Path, typer.Argument(help="Rollouts: .jsonl, .json, .csv, .parquet, or a folder of texts.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Result file: .jsonl or .parquet.")],
    workers: Annotated[
        int | None, typer.Option(min=0, help="Processes; 0 grades in this one. [default: processors]")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what an interrupted run has left.")] = False,
    mapping: Annotated[
        str, typer.Option("--map", help="Fields: response=FIELD,problem_id=FIELD,sample_id=FIELD.")
    ] = "",
    keep: Annotated[str, typer.Option(help="Further fields that go beside each grade.")] = "model",
    training: Annotated[bool, typer.Option("--training", help="Also the policy `training`.")] = False,
    thinking: Annotated[bool, typer.Option("--thinking", help="Count formulas of thinking blocks too.")] = False,
    compact: Annotated[bool, typer.Option("--compact", help="Leave the formulas out of the rows.")] = False,
    kill_after: Annotated[float, typer.Option(min=1, help="Seconds that a worker may take for one rollout.")] = 300,
    max_incidents: Annotated[int, typer.Option(min=0, help="Failures of the grader that are put up with.")] = 0,
    ray: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Grade on a Ray cluster: auto, local, or HOST:PORT; extra `ray`.")
    ] = "",
    macros: MacroFile = "",
    as_json: AsJson = False,
) -> None:
    """Grade many rollouts into a file of score rows, in input order; it can be killed at any moment and resumed."""
    from prism.problem.collection import load_problems
    from prism.runs import bulk
    from prism.runs import ray as on_ray
    from prism.runs.rollouts import scan

    require_folder(out)
    if not problems.lstrip().startswith("{"):  # a problem itself, as JSON
        problem_file(problems)
    options = bulk.Options(thinking=thinking, training=training, formulas=not compact)
    grade_all: Callable[..., bulk.Summary] = partial(on_ray.run, address=ray) if ray else bulk.run
    try:
        known = load_problems(problems, macros=read_macro_file(macros))
        scanned = scan(rollouts, known, mapping=parse_field_map(mapping), keep=split_names(keep))
        tell_scanned(scanned, rollouts)
        began = perf_counter()
        with progress_bar(scanned.n, "grading") as advance:
            summary = grade_all(
                known, rollouts, scanned, out, options=options, kill_after=kill_after, resume=resume, on_done=advance,
                workers=(0 if ray else n_processors()) if workers is None else workers,
            )  # fmt: skip
    except prism.PrismError as error:
        fail(str(error))
    except OSError as error:  # a full disk, say
        fail(f"{in_words(error)}; the same command with --resume goes on beside {out}")
    except KeyboardInterrupt:
        print(f"prism: stopped; the same command with --resume goes on beside {out}", file=sys.stderr)
        raise typer.Exit(_STOPPED) from None
    if as_json:
        print_json(summary.to_dict())
    else:
        print(describe_run(summary, out))
        tell_pace(summary, perf_counter() - began)
    if not summary.n_graded:
        raise typer.Exit(_NOTHING_GRADED)
    if summary.n_incident > max_incidents:
        raise typer.Exit(_INCIDENTS)


@app.command()
def compare(
    base: Annotated[
        Path, typer.Argument(help="Results that are kept: .jsonl or .parquet, as `prism run` writes them.")
    ],
    new: Annotated[Path, typer.Argument(help="Results that are held against them.")],
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GATE", help="any-drop, any-lost-node, any-missing, item<-0.1, mean<-0.01, final<-0.02; repeatable."
        ),
    ] = None,
    min_mean: Annotated[float | None, typer.Option(min=0, max=1, help="What NEW's mean score must reach.")] = None,
    min_item: Annotated[float | None, typer.Option(min=0, max=1, help="What each score of NEW must reach.")] = None,
    allow_changed: Annotated[
        bool, typer.Option("--allow-changed", help="Compare where problem files or options of the run have changed.")
    ] = False,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Instead make BASE a copy of NEW; no gate is judged.")
    ] = False,
    junit: Annotated[Path | None, typer.Option(help="Also a file of JUnit XML.")] = None,
    summary: Annotated[Path | None, typer.Option(help="Append a summary in Markdown to this file.")] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Annotate, on standard error; --summary is $GITHUB_STEP_SUMMARY.")
    ] = False,
    max_incidents: Annotated[int, typer.Option(min=0, help="Failures of the grader in NEW that are put up with.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Hold new results against old ones, item by item; exit code 1 if a gate fires, 3 if they cannot be compared."""
    from prism.reports import gates as gating
    from prism.reports import tables

    try:
        gates = gating.parse_gates(fail_on or (), min_mean=min_mean, min_item=min_item)
    except prism.PrismError as error:
        raise typer.BadParameter(f"--fail-on: {error}\n{gating.GRAMMAR}") from error
    if update_baseline and (gates or junit or summary or github):
        raise typer.BadParameter("--update-baseline judges nothing; leave the gates and reports out")
    if github and summary is None:
        summary = step_summary_path()
    if update_baseline:
        _accept_results(new, base, max_incidents, as_json=as_json)
        return
    try:
        result = gating.compare_results(read_results(base), read_results(new), allow_changed=allow_changed)
    except prism.PrismError as error:
        fail(str(error))
    outcomes = gating.apply_gates(result, gates)
    _write_comparison(result, outcomes, junit, summary, is_annotated=github)
    if as_json:
        print_json(gating.to_dict(result, outcomes))
    else:
        print_tables(*tables.comparison_tables(result, outcomes))
    if not result.compared:
        raise typer.Exit(_NOTHING_GRADED)
    if any(outcome.has_fired for outcome in outcomes):
        raise typer.Exit(_GATE_FAILED)
    if result.new.n_incident > max_incidents:
        raise typer.Exit(_INCIDENTS)


def _write_comparison(
    result: Comparison,
    outcomes: Sequence[GateOutcome],
    junit: Path | None,
    summary: Path | None,
    *,
    is_annotated: bool,
) -> None:
    """Write a comparison to a JUnit file, append it to a Markdown summary, and annotate it for GitHub, as asked for."""
    from prism.reports import ci_formats

    if junit is not None:
        write_text(junit, ci_formats.junit(result, outcomes))
    if summary is not None:
        taken = summary.stat().st_size if summary.exists() else 0
        text = ci_formats.job_summary(result, outcomes, room=ci_formats.SUMMARY_LIMIT - 1 - taken)
        write_text(summary, text, is_added=True)
    for line in ci_formats.workflow_commands(result, outcomes) if is_annotated else ():
        print(line, file=sys.stderr)  # GitHub reads both streams, and the other one is data


@app.command("verify-determinism")
def verify_determinism(
    problem: Annotated[
        str | None,
        typer.Argument(
            help="Problem file, or the id of a shipped one. [default: all shipped ones]",
            autocompletion=complete_problem,
        ),
    ] = None,
    solutions: Annotated[
        list[str] | None, typer.Argument(help="Solutions, as `grade` takes them. [default: those in the problem]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Grade twice, with other kernels, hash seed and order; exit code 1 unless the bytes are the same."""
    from prism.problem.collection import load_problems
    from prism.resources import resource
    from prism.runs import determinism

    source = resource("dags") if problem is None else problem_file(problem)
    try:
        known = load_problems(source)
        if solutions and len(known) != 1:
            fail(f"{problem}: holds {len(known)} problems; solutions are of one")
        given = {name: read_solution(name) for name in solutions or ()}
        samples = [determinism.Sample(one, name, text) for one in known for name, text in given.items()] or [
            determinism.Sample(one.id, student.name, student.solution)
            for one in known.values()
            for student in one.students
        ]
        with spinner(f"grading {count_of(len(samples), 'solution')} twice"):
            found = determinism.check_determinism(source, samples, environment=os.environ)
    except prism.PrismError as error:
        fail(str(error))
    if as_json:
        print_json(found.to_dict())
    else:
        for name, digest in found.sha256.items():
            print(f"{digest}  {count_of(found.n, 'solution')}, {name}")
        for one in found.differences:
            print(f"{one.problem_id}/{one.sample_id}: {one.path}: {' and '.join(one.values)}")
        n = len(found.differences)
        print(f"{count_of(n, 'solution')} {'differs' if n == 1 else 'differ'}" if n else "the same bytes")
    if found.differences:
        raise typer.Exit(_GATE_FAILED)


@app.command()
def agree(
    results: Annotated[Path, typer.Argument(help="Score rows of `prism run`; or judgements, people against people.")],
    judges: Annotated[
        list[Path] | None,
        typer.Argument(help="Judgements: .jsonl, .csv, .parquet, or of lm-eval, Inspect, promptfoo, FastChat, OpenAI."),
    ] = None,
    mapping: Annotated[
        str,
        typer.Option("--map", help="Fields: score=FIELD,problem_id=FIELD,sample_id=FIELD,rater=FIELD."),
    ] = "",
    score: Annotated[str, typer.Option(help="Number of a score row: score, final_correct, policies.strict.")] = "score",
    scale: Annotated[str, typer.Option(help="Lowest and highest score of the judges, 1:10; they become 0 and 1.")] = "",
    cut: Annotated[float | None, typer.Option(help="Compare pass and fail: scores from here up pass.")] = None,
    replicates: Annotated[int, typer.Option(min=0, help="Bootstrap samples behind the intervals.")] = 1000,
    top: Annotated[int, typer.Option(min=0, help="Largest disagreements that are listed of each pair.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Say how far raters agree: rules with judges, people with people; each coefficient with its interval and n."""
    from prism.reports import tables
    from prism.reports.ratings import agreement_of, rating_table

    require_scipy("prism agree")
    try:
        found = rating_table(
            results, judges or (), score=score, mapping=parse_field_map(mapping), scale=parse_interval(scale), cut=cut
        )
        with spinner("drawing samples for the intervals"):
            agreed = agreement_of(found, replicates=replicates, top=top)
    except (prism.PrismError, OSError) as error:
        fail(in_words(error))
    if as_json:
        print_json(agreed.to_dict())
    else:
        print_tables(*tables.agreement_tables(agreed))
    if not any(pair.n for pair in agreed.pairs):
        print("prism: no two raters have an item in common; say which fields with --map", file=sys.stderr)
        raise typer.Exit(_NOTHING_GRADED)


@app.command()
def report(
    results: Annotated[Path, typer.Argument(help="Score rows, .jsonl or .parquet, as `prism run` writes them.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Page to write, .html; without it tables are printed.")
    ] = None,
    problems: Annotated[
        str, typer.Option(help="What was graded against: a folder, a file (.toml, .json, .jsonl), or a shipped id.")
    ] = "",
    rollouts: Annotated[Path | None, typer.Option(help="What was graded, for its texts: as `run` takes it.")] = None,
    judge: Annotated[
        list[Path] | None, typer.Option(help="Judgements of the same rollouts, as `agree` takes them; repeatable.")
    ] = None,
    mapping: Annotated[
        str, typer.Option("--map", help="Fields of the judgements: score=FIELD,problem_id=FIELD,sample_id=FIELD.")
    ] = "",
    fields: Annotated[
        str, typer.Option("--map-rollouts", help="Fields of the rollouts: response=FIELD,problem_id=FIELD.")
    ] = "",
    scale: Annotated[str, typer.Option(help="Lowest and highest score of the judges, 1:10; they become 0 and 1.")] = "",
    replicates: Annotated[int, typer.Option(min=0, help="Bootstrap samples behind the intervals.")] = 1000,
    diagnose: Annotated[
        bool, typer.Option("--diagnose", help="Say also what is wrong with formulas, and the first wrong step; slow.")
    ] = False,
    title: Annotated[str, typer.Option(help="Of the page.")] = "PRISM report",
    full: Annotated[bool, typer.Option("--full", help="Leave nothing out of the page, however large it gets.")] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show what a run earned: tables, or one HTML page with every problem, solution and reason; it loads nothing."""
    from prism.reports import tables
    from prism.reports.summary import build_report

    if out is not None and out.suffix not in (".html", ".htm"):
        raise typer.BadParameter(f"--out {out}: expected a file .html")
    if diagnose and not problems:
        raise typer.BadParameter("--diagnose needs --problems")
    if judge:
        require_scipy("prism report --judge")
    require_folder(out)
    refuse_existing([out] if out else [], force=force)
    if problems:
        problem_file(problems)
    try:
        found = build_report(
            results, problems=problems, rollouts=rollouts, judges=judge or (), fields=parse_field_map(fields),
            mapping=parse_field_map(mapping), scale=parse_interval(scale), replicates=replicates, diagnosed=diagnose,
            watched=lambda rows: with_progress(rows, "diagnosing"),
        )  # fmt: skip
    except (prism.PrismError, OSError) as error:
        fail(in_words(error))
    if out is not None:
        from prism.reports.html import page

        write_text(out, page.html_page(found, title=title, limit=None if full else page.LIMIT))
    if as_json:
        print_json(found.to_dict())
    elif out is None:
        print_tables(*tables.report_tables(found))
    else:
        print(f"{out}: {count_of(len(found.rows), 'rollout')}, {out.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
    if not any(row.grade.score is not None for row in found.rows):
        raise typer.Exit(_NOTHING_GRADED)


@app.command()
def serve(
    problems: ManyProblems,
    host: Annotated[str, typer.Option(help="Address; any other than this machine's own needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8777,
    workers: Annotated[
        int | None, typer.Option(min=0, help="Processes; 0 grades in this one. [default: processors]")
    ] = None,
    scoring: Annotated[
        str, typer.Option(help="What /get_reward and /verify pay for: closure, or final=0.3,closure=0.7.")
    ] = "closure",
    token_file: Annotated[Path | None, typer.Option(help="File with the token that requests have to show.")] = None,
    token_env: Annotated[str, typer.Option(help="Or the environment variable that holds it.")] = "",
    max_body: Annotated[str, typer.Option(help="Size of a request: 500kB, 8MiB.")] = "8MiB",
    max_items: Annotated[int, typer.Option(min=1, help="Solutions in a request.")] = 256,
    queue: Annotated[int, typer.Option(min=1, help="Requests that are taken in before the next is sent away.")] = 256,
    thinking: Annotated[bool, typer.Option("--thinking", help="Count formulas of thinking blocks too.")] = False,
    kill_after: Annotated[float, typer.Option(min=1, help="Seconds that a worker may take for one solution.")] = 60,
) -> None:
    """Grade over HTTP: /grade, /get_reward (OpenRLHF), /verify (NeMo Gym), /healthz; /docs tells more."""
    try:
        from prism import server
    except ImportError as error:
        fail(str(error))
    problem_file(problems)
    token = read_token(token_file, token_env)
    if token is None and not server.is_loopback(host):
        raise typer.BadParameter(f"--host {host} is open to others: name a token with --token-file or --token-env")
    body = parse_size(max_body)
    weights = parse_scoring(scoring)
    limits = server.Limits(
        body=body, bodies=max(server.Limits().bodies, body), items=max_items, queue=queue, kill_after=kill_after
    )
    try:
        served = server.create_app(
            problems, scoring=weights, token=token, limits=limits,
            workers=n_processors() if workers is None else workers, thinking=thinking,
        )  # fmt: skip
        server.run(served, host=host, port=port)
    except prism.PrismError as error:
        fail(str(error))


@app.command()
def warm() -> None:
    """Compile the kernels once, so that long jobs start fast."""
    with spinner("compiling"):
        prism.warm()
    print("kernels compiled and loaded", file=sys.stderr)


# Reading what the caller named. ---------------------------------------------------------------------------------


def _accept_results(new: Path, base: Path, max_incidents: int, *, as_json: bool) -> None:
    """Replace the base file with the new results (`--accept`), unless more incidents occurred than allowed."""
    from prism.reports.gates import decimal, rounded
    from prism.runs.score_files import accept_as_base

    try:
        results = read_results(new)
        if not results.scored:
            print(f"prism: {new}: no row has a score; {base} is kept", file=sys.stderr)
            raise typer.Exit(_NOTHING_GRADED)
        if results.n_incident > max_incidents:
            print(f"prism: {new}: incidents: {results.n_incident}; {base} is kept", file=sys.stderr)
            raise typer.Exit(_INCIDENTS)
        accept_as_base(new, base)
    except prism.PrismError as error:
        fail(str(error))
    if as_json:
        print_json({"baseline": str(base), "items": len(results.items), "mean": rounded(results.mean)})
    else:
        print(f"{base}: {count_of(len(results.items), 'item')}, mean score {decimal(results.mean)}")


# Showing. -------------------------------------------------------------------------------------------------------
