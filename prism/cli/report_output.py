"""Where `prism report` puts its tables: standard output, one file, or a folder with a file for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from prism.cli.options import make_folder, refuse_existing
from prism.cli.output import make_console, print_tables, write_text
from prism.errors import PrismError
from prism.reports.formats import ENDINGS, Format

if TYPE_CHECKING:
    from prism.reports.report_tables import Part
    from prism.reports.summary import Report

_PAGES = (".html", ".htm")


@dataclass(frozen=True, slots=True)
class TableTarget:
    """Where the output goes.

    Attributes:
        path: None for standard output.
        form: of the tables.
    """

    path: Path | None
    form: Format

    @property
    def page(self) -> Path | None:
        """Return the page to write; None where tables are asked for."""
        return self.path if self.path is not None and self.path.suffix in _PAGES else None

    @property
    def is_folder(self) -> bool:
        """Return True if each table gets a file in a folder."""
        return self.path is not None and not self.path.suffix


def table_target(out: Path | None, form: Format, *, has_table_options: bool, as_json: bool) -> TableTarget:
    """Return where the output goes, by the ending of a name; options that contradict each other are usage errors.

    Args:
        has_table_options: `--table` or `--percent` is given.
    """
    ending = "" if out is None else out.suffix
    if ending in ENDINGS and form in (Format.TEXT, ENDINGS[ending]):
        form = ENDINGS[ending]
    elif ending in ENDINGS:
        raise typer.BadParameter(f"--out {out}: a file {ending} holds {ENDINGS[ending]}, not {form}")
    elif ending in _PAGES:
        if form is not Format.TEXT:
            raise typer.BadParameter(f"--out {out}: a page has no --format; name a file .csv, .md or .tex, or a folder")
    elif ending:
        raise typer.BadParameter(f"--out {out}: expected a file .html, .csv, .md or .tex, or a folder")
    elif out is not None and form is Format.TEXT:
        raise typer.BadParameter(f"--out {out}: tables in a folder need --format csv, markdown or latex")
    if as_json and form is not Format.TEXT:
        raise typer.BadParameter("--json prints all figures; leave --format and files of tables out")
    target = TableTarget(out, form)
    if has_table_options and (as_json or target.page is not None):
        raise typer.BadParameter("--table and --percent are of tables, not of a page or of --json, which have them all")
    return target


def write_report_tables(
    found: Report, target: TableTarget, names: Sequence[str], *, percent: bool, force: bool
) -> None:
    """Print or write the tables of a report.

    Without names all of them and the lines between them; where a crossed table was asked for, that one alone.
    """
    from prism.reports.report_tables import chosen_tables, report_parts
    from prism.reports.table_formats import DataTable, in_percent, written, written_parts
    from prism.reports.tables import rich_parts

    parts: list[Part] = [
        in_percent(part) if percent and isinstance(part, DataTable) else part for part in report_parts(found)
    ]
    wanted = tuple(names) or (("crossed",) if found.crossed and not target.is_folder else ())
    try:
        chosen = chosen_tables(parts, wanted)
    except PrismError as error:
        raise typer.BadParameter(f"--table: {error}") from error
    if target.is_folder:
        assert target.path is not None
        _write_folder(target.path, {one.id: written(one, target.form) for one in chosen}, target.form, force=force)
        return
    if target.form is Format.CSV and len(chosen) != 1:
        ids = ", ".join(one.id for one in chosen)
        raise typer.BadParameter(f"CSV holds one table: name it with --table, or a folder with -o; there are {ids}")
    shown: Sequence[Part] = chosen if wanted else parts
    if target.form is Format.TEXT:
        print_tables(*rich_parts(shown, make_console().width))
        return
    text = written(chosen[0], target.form) if len(chosen) == 1 else written_parts(shown, target.form)
    if target.path is None:
        print(text, end="")
    else:
        write_text(target.path, text)


def _write_folder(folder: Path, texts: dict[str, str], form: Format, *, force: bool) -> None:
    """Write each text to a file of its name in a folder, which is made; those that are there are kept without force."""
    ending = next(ending for ending, each in ENDINGS.items() if each is form)
    paths = {folder / f"{name}{ending}": text for name, text in texts.items()}
    refuse_existing(paths, force=force)
    make_folder(folder)
    for path, text in paths.items():
        write_text(path, text)
