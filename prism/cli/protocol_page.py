"""`prism protocol page`: a page on which people rate the scores of a protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from prism.cli import options as take
from prism.cli.protocols import protocols, read_problems
from prism.cli.talk import fail
from prism.errors import count_of


@protocols.command("page")
def page(
    problems: take.ManyProblems,
    rollouts: take.Rollouts,
    scores: Annotated[Path, typer.Argument(help="Rows of a protocol, whose parts are rated.")],
    other: Annotated[Path | None, typer.Argument(help="Rows of another one: which score is nearer.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page: .html.")] = Path("rate.html"),
    title: Annotated[str, typer.Option(help="Of the page.")] = "Scores to rate",
    force: take.Force = False,
) -> None:
    """Make a page to rate scores: right or wrong unseen, then each score in five words, then one of two scores."""
    from prism.reports.html.rating_page import rated_solution, rating_page
    from prism.runs.rollouts import read, scan
    from prism.runs.score_files import score_rows

    take.require_new(out, force=force)
    known = read_problems(problems)
    first, second = _by_ids(score_rows(scores)), None if other is None else _by_ids(score_rows(other))
    given = list(read(rollouts, scan(rollouts, known).fields, known))
    made = [
        rated_solution(
            number, known[each.problem_id], each.sample_id, _text_of(each.solution),
            first[each.problem_id, each.sample_id],
            None if second is None else second.get((each.problem_id, each.sample_id)),
        )
        for number, each in enumerate(given, start=1)
        if (each.problem_id, each.sample_id) in first
    ]  # fmt: skip
    if not made:
        fail(f"{scores}: has no row of a rollout of {rollouts}")
    names = [path.name for path in (scores, other) if path is not None]
    take.write_text(out, rating_page(made, title=title, names=names))
    print(f"{out}: {count_of(len(made), 'solution')}")


def _by_ids(rows: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """Map score rows by problem and sample."""
    return {(str(row.get("problem_id")), str(row.get("sample_id"))): row for row in rows}


def _text_of(solution: Any) -> str:
    """Return a solution as one text."""
    from prism.latex import extract

    return solution if isinstance(solution, str) else extract(solution).text
