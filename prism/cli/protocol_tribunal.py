"""`prism protocol tribunal`: ratings of templates by judges, by the rule of EngTrace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli.options import AsJson, Force, write_text
from prism.cli.output import plain_table, print_json, print_tables
from prism.cli.protocols import prepare_output, protocols

if TYPE_CHECKING:
    from prism.protocols.engtrace_audit import Audit


@protocols.command("tribunal")
def tribunal(
    ratings: Annotated[Path, typer.Argument(help="JSON Lines: template, judge, flag, a number for each dimension.")],
    experts: Annotated[Path | None, typer.Option(help="What experts decide: template, accepted.")] = None,
    threshold: Annotated[float, typer.Option(min=0, help="What the median of each dimension has to reach.")] = 4,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A line for each template: .jsonl.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Keep or reject rated templates as EngTrace does; beside experts, with the filter's rate of false positives."""
    from fractions import Fraction

    from prism.grading.row import json_line
    from prism.protocols.engtrace_audit import audit, read_experts, read_ratings

    prepare_output(out, force=force)
    found = audit(read_ratings(ratings), Fraction(str(threshold)), None if experts is None else read_experts(experts))
    if out is not None:
        write_text(out, "".join(f"{json_line(each.to_dict()).decode()}\n" for each in found.verdicts))
    if as_json:
        print_json(_as_dict(found))
    else:
        _print(found)


def _as_dict(found: Audit) -> dict[str, object]:
    """Return an audit as plain values."""
    counts = found.false_positives
    return {
        "templates": [each.to_dict() for each in found.verdicts], "passed": sum(each.passes for each in found.verdicts),
        "false_positives": None if counts is None else {"passed": counts[0], "rejected_by_experts": counts[1]},
    }  # fmt: skip


def _print(found: Audit) -> None:
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
