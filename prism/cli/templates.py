"""The command `generate`, and what `lint` does with templates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from prism.cli.application import HelpHeading, app
from prism.cli.options import AsJson, Force, argument, make_folder, names, option, refuse_existing, write_text
from prism.cli.output import print_json, progress_bar
from prism.cli.talk import BAD_FILE, fail, tell
from prism.errors import count_of, noted

if TYPE_CHECKING:
    from prism.generation.preparing import PreparedTemplate


@app.command(rich_help_panel=HelpHeading.TRAIN)
def generate(
    templates: list[str] = argument("Template files, or shipped ids.", metavar="TEMPLATE..."),
    n: int = option("Seeds of each template.", 1, "-n", min=1),
    seed: int = option("The first seed.", 0, min=0),
    variants: list[str] = names(
        "Of original, perturbed, knowledge, abstract. [default: perturbed]", metavar="NAME,...", default=("perturbed",)
    ),
    out: Path | None = option("Folder of DIR/ID/VARIANT-SEED.toml.", None, "--out", "-o", metavar="DIR"),
    jsonl: Path | None = option("A file with one line for each instance.", metavar="FILE"),
    level: int | None = option("Level of parameters that have some, from 1. [default: whole ranges]", min=1),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make problem files from templates, the same from a seed everywhere; exit code 3 for a bad template."""
    from prism.generation.instances import generate as instances
    from prism.grading.row import json_line

    if out is None and jsonl is None:
        raise typer.BadParameter("name a folder with -o, or a file with --jsonl")
    if jsonl is not None:
        refuse_existing([jsonl], force=force)
    made: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    prepared = _prepared_or_exit(templates)
    rows: list[str] = []
    if out is not None:
        names = [f"{kind}-{at}.toml" for kind in variants for at in range(seed, seed + n)]  # beyond: as they are made
        refuse_existing([out / each.template.id / name for each in prepared for name in names], force=force)
    for instance in instances(
        *prepared, n=n, seed=seed, variants=variants, level=None if level is None else level - 1,
        on_skip=lambda name, at, earlier: skipped.append({"template": name, "seed": at, "like": earlier}),
    ):  # fmt: skip
        path = None if out is None else out / f"{instance.name}.toml"
        if path is not None:
            refuse_existing([path], force=force)
            make_folder(path.parent)
            write_text(path, instance.toml())
        if jsonl is not None:
            rows.append(json_line(instance.to_dict()).decode() + "\n")
        made.append({"id": instance.data["id"], "file": None if path is None else str(path)})
    if jsonl is not None:
        write_text(jsonl, "".join(rows))
    for each in skipped:
        tell(f"{each['template']}: seed {each['seed']} skipped, its final numbers are those of seed {each['like']}")
    if as_json:
        print_json({"instances": made, "skipped": skipped})
    else:
        place = " and ".join(str(each) for each in (out, jsonl) if each is not None)
        print(f"{place}: {count_of(len(made), 'instance')} of {count_of(len(prepared), 'template')}")


def _prepared_or_exit(sources: list[str]) -> list[PreparedTemplate]:
    """Load and solve templates, or exit with code 3 and the faults of all of them."""
    from prism.generation.preparing import prepare_template

    faults: list[str] = []
    prepared = []
    for name in sources:
        with noted(faults):
            prepared.append(prepare_template(name))
    ids = [each.template.id for each in prepared]
    faults += [f"{name}: two templates have this id" for name in dict.fromkeys(ids) if ids.count(name) > 1]
    if faults:
        fail("\n".join(faults))
    return prepared


def lint_templates(names: list[str], *, n_seeds: int, as_json: bool) -> None:
    """List what is wrong with templates; exits with code 3 if there is a fault."""
    from prism.generation.linting import lint_template

    with progress_bar(n_seeds * len(names), "checking") as advance:
        reports = [(name, lint_template(name, n_seeds=n_seeds, advance=advance)) for name in names]
    n_faults = sum(report.n_faults for _, report in reports)
    n_warnings = sum(len(report.findings) for _, report in reports) - n_faults
    if as_json:
        listed = [{"file": name, **report.to_dict()} for name, report in reports]
        print_json({"templates": listed, "faults": n_faults, "warnings": n_warnings})
    else:
        for name, report in reports:
            for finding in report.findings:
                print(f"{name}: {finding.kind}: {finding}")
            if report.acceptance is not None:
                cases = "".join(f", {case} {n}" for case, n in report.cases if case)
                shared = f"{report.n_shared} of {report.n_pairs} pairs share all final numbers"
                print(
                    f"{name}: {report.n_seeds} seeds{cases}, acceptance {report.acceptance:.2f}, "
                    f"{report.n_students} solutions graded, {shared}"
                )
        counts = f"{count_of(n_faults, 'fault')}, {count_of(n_warnings, 'warning')}"
        print(f"{count_of(len(reports), 'template')}: {counts}")
    if n_faults:
        raise typer.Exit(BAD_FILE)
