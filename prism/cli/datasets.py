"""Published data sets on the command line: `convert --from NAME` and `lint --dataset FILE --from NAME`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import prism
from prism.cli.options import BAD_FILE, fail, make_folder, refuse_existing, require_folder
from prism.cli.output import print_json, printable, spinner, write_text
from prism.errors import count_of
from prism.inputs import why_failed

if TYPE_CHECKING:
    from prism.authoring.importers.entries import Dataset
    from prism.authoring.importers.importing import DatasetConversion


def _complete_name(incomplete: str) -> list[str]:
    """Return the names of data sets that begin so."""
    from prism.authoring.importers.catalogue import NAMES

    return [name for name in NAMES if name.startswith(incomplete)]


FromDataset = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="NAME",
        help="The file is of this published data set: engtrace, engibench, phybench, ugphysics, scibench, tpbench, "
        "physics, hipho, olympiadbench, prism-physics, physreason, phopile, abench, theoremqa, engvqa.",
        autocompletion=_complete_name,
    ),
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a data set is wanted: variant and language, empty for all; drafts; code 0 with refused rows."""

    variant: str
    language: str
    is_drafted: bool
    is_partial: bool


def _dataset(name: str) -> Dataset:
    """Return the data set of a name, or exit with code 2."""
    from prism.authoring.importers.catalogue import dataset_of

    try:
        return dataset_of(name)
    except prism.PrismError as error:
        raise typer.BadParameter(f"--from: {error}") from error


def convert_rows(
    path: Path, name: str, fields: Mapping[str, str], wanted: Wanted, out: Path | None, *, force: bool, as_json: bool
) -> bool:
    """Convert the rows of a published data set, or of questions with answers; return False if a file holds neither.

    Exits with code 3 if a row was refused, unless `wanted.is_partial`.

    Args:
        name: of the data set; empty for questions.
        fields: what the fields of questions are called, where the user says so.
    """
    from prism.authoring.importers.question_rows import question_rows

    if name:
        if fields:
            raise typer.BadParameter(
                "--map goes with rows of questions; of a data set that --from names the fields are known"
            )
        _convert_dataset(path, _dataset(name), wanted, out, force=force, as_json=as_json)
        return True
    try:
        found = question_rows(path, fields)
    except prism.DataFileError as error:
        fail(str(error))
    except prism.PrismError as error:
        raise typer.BadParameter(f"--map: {error}") from error
    if found is None:
        return False
    print(f"prism: {path}: rows of questions: {found}", file=sys.stderr)
    if found.like:
        print(f"prism: {path}: has the fields of {found.like}; --from {found.like} reads all of them", file=sys.stderr)
    _convert_dataset(path, found.dataset, wanted, out, force=force, as_json=as_json)
    return True


def _convert_dataset(
    path: Path, dataset: Dataset, wanted: Wanted, out: Path | None, *, force: bool, as_json: bool
) -> None:
    """Convert the rows of a data set; exits with code 3 if one was refused, unless `wanted.is_partial`."""
    from prism.authoring import conversions
    from prism.authoring.conversions import EntryFault
    from prism.authoring.importers.entries import Choice
    from prism.authoring.importers.importing import check_choice, import_dataset

    choice = Choice(wanted.variant, wanted.language)
    try:
        check_choice(dataset, choice)
    except prism.PrismError as error:
        raise typer.BadParameter(str(error)) from error
    require_folder(out)
    try:
        with spinner("converting"):
            made = import_dataset(path, dataset, choice, is_drafted=wanted.is_drafted)
        texts = conversions.problem_files(made.conversion, out)
        rubric = _rubric_file(made, out)
    except prism.PrismError as error:
        fail(str(error))
    _tell_licence(dataset)
    images = _image_files(made, out)
    refuse_existing([path for path, _ in (*texts, *rubric)] + [path for path, _ in images], force=force)
    for file, text in (*texts, *rubric):
        make_folder(file.parent)
        write_text(file, text)
    for file, raw in images:
        _write_bytes(file, raw)
    if as_json:
        print_json(made.to_dict())
    elif out is None:
        print(printable("".join(conversions.problem_texts(made.conversion))), end="")
    else:
        remarks = [EntryFault(str(each.data["id"]), told) for each in made.problems for told in each.remarks]
        for line in conversions.told_once(remarks):
            print(printable(line))
        counts = (len(texts), "file"), (len(images), "image")
        print(f"{made.summary()}; {', '.join(count_of(n, noun) for n, noun in counts)}")
    _tell_rows(made, path, out, is_drafted=wanted.is_drafted)
    if made.refused and not wanted.is_partial:
        raise typer.Exit(BAD_FILE)


def _tell_licence(dataset: Dataset) -> None:
    """Tell a non-commercial licence on standard error, once."""
    if dataset.is_non_commercial:
        print(f"prism: {dataset.name} is published under {dataset.licence}: no commercial use", file=sys.stderr)


def _tell_rows(made: DatasetConversion, path: Path, out: Path | None, *, is_drafted: bool) -> None:
    """Tell on standard error of each refused row, and what could have been had besides."""
    from prism.authoring.conversions import told_once

    for line in told_once(each.fault for each in made.refused):
        print(f"prism: {line}", file=sys.stderr)
    if made.n_undrafted and not is_drafted:
        told = f"{count_of(made.n_undrafted, 'problem')} of answers alone though the row has a solution"
        print(f"prism: {path}: {told}; --draft drafts a DAG where that is possible", file=sys.stderr)
    n_image = sum(len(each.images) for each in made.problems)
    if n_image and out is None:
        print(f"prism: {path}: {count_of(n_image, 'image')} not written; -o FOLDER writes them", file=sys.stderr)
    if out is None:
        print(f"prism: {path}: {made.summary()}", file=sys.stderr)
    elif made.problems:
        n_drafted = sum(each.data["metadata"]["dag"] == "drafted" for each in made.problems)
        first = f"read {count_of(n_drafted, 'draft')} through, then: " if n_drafted else ""
        print(f"prism: next: {first}prism lint {out}", file=sys.stderr)


def _rubric_file(made: DatasetConversion, out: Path | None) -> list[tuple[Path, str]]:
    """Return path and text of the rubric file of open-ended questions; none without them, or without a place for it."""
    from prism.grading.row import json_line

    if not made.rubrics or out is None:
        return []
    path = out if out.suffix == ".jsonl" and not made.problems else _folder_of(out) / "rubric.jsonl"
    return [(path, "".join(f"{json_line(row).decode()}\n" for row in made.rubrics))]


def _folder_of(out: Path) -> Path:
    """Return the folder that files go to: that of a file, or the folder itself."""
    return out.parent if out.suffix else out


def _image_files(made: DatasetConversion, out: Path | None) -> list[tuple[Path, bytes]]:
    """Return path and content of each image, beside the problem files."""
    if out is None:
        return []
    return [(_folder_of(out) / name, raw) for each in made.problems for name, raw in each.images]


def _write_bytes(path: Path, raw: bytes) -> None:
    """Write an image, or exit with code 3."""
    try:
        path.write_bytes(raw)
    except OSError as error:
        fail(f"{path}: cannot be written: {why_failed(error)}")


def lint_dataset(path: Path | None, name: str, problems: Sequence[str], *, notes: bool, as_json: bool) -> None:
    """List the findings of a data set, row by row, and their counts; exits with code 3 if one is a fault."""
    from prism.authoring.importers.dataset_lint import CODES, check_dataset

    if path is None or not name:
        raise typer.BadParameter("a data set is checked with both --dataset FILE and --from NAME")
    if problems:
        raise typer.BadParameter("give problem files or --dataset FILE, and not both")
    dataset = _dataset(name)
    try:
        with spinner("checking"):
            checked = check_dataset(path, dataset)
    except prism.PrismError as error:
        fail(str(error))
    _tell_licence(dataset)
    counts = Counter(finding.code for finding in checked.findings)
    kinds = Counter(CODES[finding.code].kind for finding in checked.findings)
    if as_json:
        print_json(checked.to_dict())
    else:
        for line in checked.lines(with_notes=notes):
            print(printable(line))
        for code, n in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
            print(f"{n:6d} {code} ({CODES[code].kind}): {CODES[code].meaning}")
        told = ", ".join(count_of(kinds[kind], kind) for kind in ("fault", "warning", "note"))
        print(f"{count_of(checked.n_rows, 'row')}: {told}")
    if kinds["fault"]:
        raise typer.Exit(BAD_FILE)
