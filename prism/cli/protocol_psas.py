"""The command `prism protocol psas`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from prism.cli.options import NO_NAMES, AsJson, Force, ManyProblems
from prism.cli.protocols import (
    Keep,
    Mapping,
    MaxIncidents,
    Out,
    PreferRules,
    Rollouts,
    SkipUnknown,
    Thinking,
    Workers,
    faults_told,
    finish,
    graded_input,
    prefers_rules,
    prepare_output,
    protocols,
    tell_warnings,
)
from prism.cli.references import AllowFaults


@protocols.command("psas")
def psas(
    problems: ManyProblems,
    rollouts: Rollouts,
    variant: Annotated[
        str, typer.Option(help="released, as the published script counts; or judged: a step by what it has.")
    ] = "released",
    units: Annotated[str, typer.Option(help="count: a wrong unit is wrong; or ignore, as published.")] = "count",
    findings: Annotated[
        Path | None, typer.Option(help="What a judge or a person says of answers and steps, with error labels.")
    ] = None,
    prefer: PreferRules = "file",
    out: Out = None,
    workers: Workers = None,
    mapping: Mapping = NO_NAMES,
    keep: Keep = NO_NAMES,
    skip_unknown: SkipUnknown = False,
    thinking: Thinking = False,
    allow_faults: AllowFaults = False,
    max_incidents: MaxIncidents = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Score step by step, each by its value and equation, without dependencies (PSAS-S of PhysReason)."""
    from prism.protocols.psas import Variant
    from prism.protocols.psas_findings import by_response, read_findings
    from prism.protocols.psas_rules import stated_nodes, with_part_labels
    from prism.protocols.psas_run import load_references, psas_rows

    if variant not in list(Variant):
        raise typer.BadParameter(f"--variant {variant}: expected {' or '.join(Variant)}")
    if units not in ("count", "ignore"):
        raise typer.BadParameter(f"--units {units}: expected count or ignore")
    prefer_rules = prefers_rules(prefer)
    prepare_output(out, force=force)
    with faults_told():
        references = load_references(problems)
        told = None
        if findings is not None:
            file = read_findings(findings)
            tell_warnings(file.warnings, findings)
            told = by_response(file, {name: each.parts for name, each in references.items()})
        graded = graded_input(
            problems, rollouts, problems={name: each.problem for name, each in references.items()},
            rewrite=with_part_labels, mapping=mapping, keep=keep, skip_unknown=skip_unknown, thinking=thinking,
            allow_faults=allow_faults, workers=workers,
            then=partial(stated_nodes, ignores_units=units == "ignore"),
        )  # fmt: skip
        rows = psas_rows(
            graded, references, variant=Variant(variant), units=units, findings=told, prefer_rules=prefer_rules
        )
    finish(rows, protocol="psas", variant=variant, out=out, as_json=as_json, max_incidents=max_incidents)
