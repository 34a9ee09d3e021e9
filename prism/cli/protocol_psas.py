"""The command `prism protocol psas`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from prism.cli import options as take
from prism.cli import protocols as shared
from prism.cli.option_groups import with_options
from prism.cli.talk import require_one_of


@shared.protocols.command("psas")
@with_options
def psas(
    problems: take.ManyProblems,
    rollouts: take.Rollouts,
    variant: Annotated[
        str, typer.Option(help="released, as the published script counts; or judged: a step by what it has.")
    ] = "released",
    units: Annotated[str, typer.Option(help="count: a wrong unit is wrong; or ignore, as published.")] = "count",
    findings: Annotated[
        Path | None, typer.Option(help="What a judge or a person says of answers and steps, with error labels.")
    ] = None,
    prefer: shared.PreferRules = "file",
    out: shared.Out = None,
    *,
    grading: shared.Grading,
) -> None:
    """Score step by step, each by its value and equation, without dependencies (PSAS-S of PhysReason)."""
    from prism.protocols.psas import Variant
    from prism.protocols.psas_findings import by_response, read_findings
    from prism.protocols.psas_rules import stated_nodes, with_part_labels
    from prism.protocols.psas_run import load_references, psas_rows

    require_one_of("--variant", variant, Variant)
    require_one_of("--units", units, ("count", "ignore"))
    prefer_rules = shared.prefers_rules(prefer)
    shared.prepare_output(out, force=grading.force)
    references = load_references(problems)
    judged = None
    if findings is not None:
        judged = by_response(
            shared.after_warnings(read_findings(findings)), {name: each.parts for name, each in references.items()}
        )
    graded = shared.graded_input(
        problems, rollouts, grading, problems={name: each.problem for name, each in references.items()},
        rewrite=with_part_labels, then=partial(stated_nodes, ignores_units=units == "ignore"),
    )  # fmt: skip
    rows = psas_rows(
        graded, references, variant=Variant(variant), units=units, findings=judged, prefer_rules=prefer_rules
    )
    shared.finish(rows, grading, protocol="psas", variant=variant, out=out)
