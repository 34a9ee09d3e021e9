"""Commands on formulas and single solutions: `check`, `grade`, `explain`, `demo`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

import prism
from prism.cli import options as take
from prism.cli.application import FormulaCommand, HelpHeading, app
from prism.cli.output import print_json, print_tables, print_unit_hints, print_verdict, spinner, with_progress
from prism.cli.references import require_gradable
from prism.cli.talk import CHECK_CODES, GATE_FAILED, INCIDENTS, fail, named_in_errors, tell
from prism.errors import count_of
from prism.resources import n_processors

if TYPE_CHECKING:
    from rich.console import RenderableType

    from prism.diagnosis.follow_through import CarriedNode
    from prism.equivalence.verdict import Verdict
    from prism.grading.prepared import PreparedProblem
    from prism.grading.result import Grade
    from prism.latex.documents.document import Document
    from prism.physics.context import Context
    from prism.problem.problem_file import Student
    from prism.problem.schema import Problem


_SHOWN = "scoring_figure"  # the shipped problem whose first solution `demo` shows formula by formula


# A formula may begin with a minus, and one of a height with -h.
@app.command(
    cls=FormulaCommand, rich_help_panel=HelpHeading.TEACH,
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
)  # fmt: skip
def check(
    reference: str = take.argument("Reference formula, LaTeX."),
    claim: str = take.argument("Formula to compare with it, LaTeX."),
    context: str = take.option('What the problem gives, as JSON: {"symbols": {"x": "real"}}.', ""),
    macros: take.MacroFile = "",
    as_json: take.AsJson = False,
) -> None:
    """Say whether two formulas are the same: exit code 0 equivalent, 1 different, 4 undecided."""
    given = take.parse_context(context, macros)
    verdict = prism.equivalent(reference, claim, context=given)
    if as_json:
        print_json({**verdict.to_dict(), "trials": _trials(reference, claim, given, verdict)})
    else:
        unread = take.name_unread(reference, claim, given) if verdict.reason == "parse_error" else ""
        print_verdict(verdict, detail_of=unread)
        if verdict.status == "different":
            print_unit_hints(reference, claim, given)
    raise typer.Exit(CHECK_CODES[verdict.status])


def _trials(reference: str, claim: str, given: Context | None, verdict: Verdict) -> dict[str, int] | None:
    """Return how the points of a comparison came out; None where none decide."""
    from prism.equivalence.points.trial_counts import count_trials
    from prism.physics.context import context_of, parse

    if verdict.reason in ("parse_error", "too_large"):
        return None
    context = context_of(given)
    counts = count_trials(parse(reference, context=context), parse(claim, context=context), context, verdict)
    return None if counts is None else counts.to_dict()


def _graded(problem: str, solution: str, macros: str, *, allow_faults: bool) -> tuple[PreparedProblem, Document, Grade]:
    """Load a problem, read a solution and grade it; exits with code 3 if one of them cannot be used."""
    from prism.grading.prepared import prepare

    loaded = take.load_problem_or_exit(problem, macros)
    given = take.read_documents([solution])[0]
    require_gradable(problem, {loaded.id: loaded}, allow_faults=allow_faults)
    with named_in_errors("the solution" if take.is_text(solution) else solution):
        prepared = prepare(loaded)
        return prepared, given, prism.grade(prepared, given.solution)


@app.command(rich_help_panel=HelpHeading.TEACH)
def grade(
    problem: take.OneProblem,
    solution: take.OneSolution,
    max_incidents: int = take.option("Failures of the grader that are put up with.", 0),
    follow_through: bool = take.switch(
        "Also pay for steps that go on rightly from a mistake, and say which.", "--follow-through"
    ),
    macros: take.MacroFile = "",
    allow_faults: take.AllowFaults = False,
    as_json: take.AsJson = False,
) -> None:
    """Grade one solution: each reference node with what matched it, each other formula with the reason."""
    from prism.diagnosis.follow_through import carried_lines, follow_through_of
    from prism.grading.row import score_row
    from prism.reports import tables

    prepared, given, result = _graded(problem, solution, macros, allow_faults=allow_faults)
    loaded = prepared.problem
    carried: tuple[CarriedNode, ...] = ()
    if follow_through:
        result, carried = follow_through_of(prepared, result)
    if as_json:
        told = {"carried": [each.to_dict() for each in carried]} if follow_through else {}
        print_json({**score_row(loaded, given.solution, result), **told})
    else:
        print_tables(*tables.grade_tables(loaded, result), *carried_lines(result, carried))
    if len(result.incidents) > max_incidents:
        for incident in result.incidents:
            tell(f"incident {incident.code}: {incident.where}: {incident.detail}")
        raise typer.Exit(INCIDENTS)


@app.command(rich_help_panel=HelpHeading.TEACH)
def explain(
    problem: take.OneProblem,
    solution: take.OneSolution,
    trace: bool = take.switch("Name for each decision its rule and the files of the code.", "--trace"),
    macros: take.MacroFile = "",
    allow_faults: take.AllowFaults = False,
    as_json: take.AsJson = False,
) -> None:
    """Say why each formula matches a node or none: what was put in, what is wrong, and the first wrong step."""
    from prism.diagnosis.explanations import explain as explained
    from prism.diagnosis.rule_map import trace_of
    from prism.grading.row import score_row

    prepared, given, result = _graded(problem, solution, macros, allow_faults=allow_faults)
    loaded = prepared.problem
    with spinner("diagnosing"):
        diagnosis = prism.diagnose(prepared, result)
    if as_json:
        traced = {"trace": trace_of(result)} if trace else {}
        print_json({"diagnosis": diagnosis.to_dict(), "grade": score_row(loaded, given.solution, result), **traced})
    else:
        print(explained(loaded, result, diagnosis, trace=trace, place_of=given.place_of))


@app.command(rich_help_panel=HelpHeading.GATE)
def demo(
    problems: list[str] | None = take.argument(
        "Problem files, or ids of shipped problems; all shipped ones without any.",
        None,
        autocompletion=take.complete_problem,
    ),
    allow_faults: take.AllowFaults = False,
    as_json: take.AsJson = False,
) -> None:
    """Grade the solutions that stand in problem files, and compare with their labels; exit code 1 if one differs."""
    from prism.problem.schema import in_alternative
    from prism.problem.source import shipped_files
    from prism.reports import tables

    paths = [take.problem_file(name) for name in problems] if problems else shipped_files()
    if len(paths) > 1 and not sys.stderr.isatty():  # where no bar is drawn
        tell(f"the solutions of {len(paths)} problems are being graded")
    loaded = [take.load_problem_or_exit(str(path)) for path in paths]
    for name, problem in zip(problems or (), loaded, strict=False):
        require_gradable(name, {problem.id: problem}, allow_faults=allow_faults)
    answered = [(problem, student) for problem in loaded for student in problem.students]
    graded = _grades_of(answered) if problems else _grades_by_workers(answered)
    rows = [(*each, grade) for each, grade in zip(with_progress(answered, "grading solutions"), graded, strict=True)]
    reports: list[RenderableType] = []
    for problem, student, result in [row for row in rows if row[0].id == _SHOWN][:1]:
        head = f"{problem.title}: the solution of “{student.name}”\n"
        reports = [head, *tables.grade_tables(problem, result), ""]
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
        raise typer.Exit(GATE_FAILED)


def _grades_of(answered: Sequence[tuple[Problem, Student]]) -> Iterator[Grade]:
    """Yield the grades of students in this process; those of one problem stand together, and it is prepared once."""
    prepared = None
    for problem, student in answered:
        if prepared is None or prepared.problem is not problem:
            prepared = prism.prepare(problem)
        yield prism.grade(prepared, student.solution, sample_id=student.name)


def _grades_by_workers(answered: Sequence[tuple[Problem, Student]]) -> Iterator[Grade]:
    """Yield the grades of the students of many problems, which all processors share, with compiled kernels."""
    prism.warm()  # there are so many formulas that compiling once takes less time
    problems = {problem.id: problem for problem, _ in answered}
    rollouts = [prism.Rollout(problem.id, student.solution, student.name) for problem, student in answered]
    workers = n_processors() if n_processors() > 1 else 0
    return prism.grade_many(list(problems.values()), rollouts, workers=workers)
