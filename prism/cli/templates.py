"""The command `generate`, and what `lint` does with templates."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import prism
from prism.cli.application import app
from prism.cli.options import AsJson, Force, fail, make_folder, refuse_existing, split_names
from prism.cli.output import print_json, write_text
from prism.errors import count_of


@app.command()
def generate(
    templates: Annotated[list[str], typer.Argument(metavar="TEMPLATE...", help="Template files, or shipped ids.")],
    n: Annotated[int, typer.Option("-n", min=1, help="Seeds of each template.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    variants: Annotated[
        str, typer.Option(help="Of original, perturbed, knowledge, abstract; comma-separated.")
    ] = "perturbed",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Folder of DIR/ID/VARIANT-SEED.toml.")
    ] = None,
    jsonl: Annotated[Path | None, typer.Option(metavar="FILE", help="A file with one line for each instance.")] = None,
    level: Annotated[
        int | None, typer.Option(min=1, help="Level of parameters that have some, from 1. [default: whole ranges]")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make problem files from templates, the same from a seed everywhere; exit code 3 for a bad template."""
    from prism.generation.instances import generate as instances
    from prism.generation.preparing import prepare_template
    from prism.grading.row import json_line

    if out is None and jsonl is None:
        raise typer.BadParameter("name a folder with -o, or a file with --jsonl")
    made: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    faults, prepared = [], []
    for name in templates:
        try:
            prepared.append(prepare_template(name))
        except prism.PrismError as error:
            faults.append(str(error))
    if faults:
        fail("\n".join(faults))
    rows: list[str] = []
    try:
        for instance in instances(
            *prepared, n=n, seed=seed, variants=split_names(variants), level=None if level is None else level - 1,
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
    except prism.PrismError as error:
        fail(str(error))
    if jsonl is not None:
        refuse_existing([jsonl], force=force)
        write_text(jsonl, "".join(rows))
    for each in skipped:
        told = f"seed {each['seed']} skipped, its final numbers are those of seed {each['like']}"
        print(f"prism: {each['template']}: {told}", file=sys.stderr)
    if as_json:
        print_json({"instances": made, "skipped": skipped})
    else:
        place = " and ".join(str(each) for each in (out, jsonl) if each is not None)
        print(f"{place}: {count_of(len(made), 'instance')} of {count_of(len(prepared), 'template')}")
