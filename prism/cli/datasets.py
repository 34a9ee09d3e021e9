"""Published data sets on the command line: `convert --from NAME` and `lint --dataset FILE --from NAME`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import prism
from prism.cli.options import AsJson, Force, option, require_folder, switch, write_new
from prism.cli.output import print_json, printable, spinner
from prism.cli.talk import BAD_FILE, as_usage, tell
from prism.errors import count_of

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
class ConvertOptions:
    """What of a data set is wanted, and what becomes of it: options of `convert`."""

    variant: str = option("Of the data set's variants this one only.", "")
    language: str = option("Of a data set in two languages this one only: en, zh.", "")
    draft: bool = switch("Draft a DAG where a row has a worked solution.", "--draft")
    partial: bool = switch("Exit code 0 although rows were refused.", "--partial")
    force: Force = False
    as_json: AsJson = False


def _dataset(name: str) -> Dataset:
    """Return the data set of a name, or exit with code 2."""
    from prism.authoring.importers.catalogue import dataset_of

    with as_usage("--from"):
        return dataset_of(name)


def convert_rows(path: Path, name: str, fields: Mapping[str, str], wanted: ConvertOptions, out: Path | None) -> bool:
    """Convert the rows of a published data set, or of questions with answers; return False if a file holds neither.

    Exits with code 3 if a row was refused, unless `wanted.partial`.

    Args:
        name: of the data set; empty for questions.
        fields: what the fields of questions are called, where the user says so.
    """
    from prism.authoring.importers.question_rows import question_rows

    if name:
        if fields:
            message = "--map goes with rows of questions; of a data set that --from names the fields are known"
            raise typer.BadParameter(message)
        _convert_dataset(path, _dataset(name), wanted, out)
        return True
    try:
        found = question_rows(path, fields)
    except prism.DataFileError:
        raise
    except prism.PrismError as error:
        raise typer.BadParameter(f"--map: {error}") from error
    if found is None:
        return False
    tell(f"{path}: rows of questions: {found}")
    if found.like:
        tell(f"{path}: has the fields of {found.like}; --from {found.like} reads all of them")
    _convert_dataset(path, found.dataset, wanted, out)
    return True


def _convert_dataset(path: Path, dataset: Dataset, wanted: ConvertOptions, out: Path | None) -> None:
    """Convert the rows of a data set; exits with code 3 if one was refused, unless `wanted.partial`."""
    from prism.authoring import conversions
    from prism.authoring.conversions import EntryFault
    from prism.authoring.importers.entries import Choice
    from prism.authoring.importers.importing import check_choice, import_dataset

    choice = Choice(wanted.variant, wanted.language)
    with as_usage():
        check_choice(dataset, choice)
    require_folder(out)
    with spinner("converting"):
        made = import_dataset(path, dataset, choice, is_drafted=wanted.draft)
    texts = conversions.problem_files(made.conversion, out)
    beside = {} if out is None else _files_beside(made, out)
    _tell_licence(dataset)
    write_new({**dict(texts), **beside}, force=wanted.force)
    if wanted.as_json:
        print_json(made.to_dict())
    elif out is None:
        print(printable("".join(conversions.problem_texts(made.conversion))), end="")
    else:
        remarks = [EntryFault(str(each.data["id"]), remark) for each in made.problems for remark in each.remarks]
        for line in conversions.count_equal_faults(remarks):
            print(printable(line))
        counts = (len(texts), "file"), (len(beside) - bool(made.rubrics), "image")
        print(f"{made.summary()}; {', '.join(count_of(n, noun) for n, noun in counts)}")
    _tell_rows(made, path, out, is_drafted=wanted.draft)
    if made.refused and not wanted.partial:
        raise typer.Exit(BAD_FILE)


def _tell_licence(dataset: Dataset) -> None:
    """Tell a non-commercial licence on standard error, once."""
    if dataset.is_non_commercial:
        tell(f"{dataset.name} is published under {dataset.licence}: no commercial use")


def _tell_rows(made: DatasetConversion, path: Path, out: Path | None, *, is_drafted: bool) -> None:
    """Tell on standard error of each refused row, and what could have been had besides."""
    from prism.authoring.conversions import count_equal_faults

    for line in count_equal_faults(each.fault for each in made.refused):
        tell(f"{line}")
    if made.n_undrafted and not is_drafted:
        told = f"{count_of(made.n_undrafted, 'problem')} of answers alone though the row has a solution"
        tell(f"{path}: {told}; --draft drafts a DAG where that is possible")
    n_image = sum(len(each.images) for each in made.problems)
    if n_image and out is None:
        tell(f"{path}: {count_of(n_image, 'image')} not written; -o FOLDER writes them")
    if out is None:
        tell(f"{path}: {made.summary()}")
    elif made.problems:
        n_drafted = sum(each.data["metadata"]["dag"] == "drafted" for each in made.problems)
        first = f"read {count_of(n_drafted, 'draft')} through, then: " if n_drafted else ""
        tell(f"next: {first}prism lint {out}")


def _files_beside(made: DatasetConversion, out: Path) -> dict[Path, str | bytes]:
    """Return what stands beside the problem files: the rubric file of open-ended questions, the images."""
    from prism.grading.row import json_line

    folder = out.parent if out.suffix else out
    found: dict[Path, str | bytes] = {folder / name: raw for each in made.problems for name, raw in each.images}
    if made.rubrics:
        path = out if out.suffix == ".jsonl" and not made.problems else folder / "rubric.jsonl"
        found[path] = "".join(f"{json_line(row).decode()}\n" for row in made.rubrics)
    return found


def lint_dataset(path: Path | None, name: str, problems: Sequence[str], *, notes: bool, as_json: bool) -> None:
    """List the findings of a data set, row by row, and their counts; exits with code 3 if one is a fault."""
    from prism.authoring.importers.dataset_lint import CODES, check_dataset

    if path is None or not name:
        raise typer.BadParameter("a data set is checked with both --dataset FILE and --from NAME")
    if problems:
        raise typer.BadParameter("give problem files or --dataset FILE, and not both")
    dataset = _dataset(name)
    with spinner("checking"):
        checked = check_dataset(path, dataset)
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
