"""Where `report`, `compare` and `leaderboard` put tables: standard output, one file, or a folder with files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from prism.cli.options import refuse_existing, require_folder, write_new, write_text
from prism.cli.output import print_parts
from prism.cli.talk import as_usage
from prism.reports.formats import ENDINGS, Format

if TYPE_CHECKING:
    from prism.reports.summary import Report
    from prism.reports.table_formats import Part

_PAGES = (".html", ".htm")


@dataclass(frozen=True, slots=True)
class TableTarget:
    """Where the output goes, and which tables.

    Attributes:
        path: None for standard output.
        form: of the tables.
        names: ids of the tables; empty for all.
        percent: shares are written in per cent.
        force: what is there is written over.
    """

    path: Path | None
    form: Format
    names: tuple[str, ...] = ()
    percent: bool = False
    force: bool = False

    @property
    def page(self) -> Path | None:
        """Return the page to write; None where tables are asked for."""
        return self.path if self.path is not None and self.path.suffix in _PAGES else None

    @property
    def is_folder(self) -> bool:
        """Return True if each table gets a file in a folder."""
        return self.path is not None and not self.path.suffix

    def check_path(self) -> None:
        """Exit with code 3 if the folder of the file is not there, or the file is and must not be written over."""
        require_folder(self.path)
        refuse_existing([self.path] if self.path and not self.is_folder else [], force=self.force)


def table_target(
    out: Path | None,
    form: Format,
    table: Sequence[str],
    *,
    percent: bool,
    force: bool,
    as_json: bool,
    has_page: bool = True,
) -> TableTarget:
    """Return where the output goes, by the ending of a name; options that contradict each other are usage errors.

    Args:
        out: `--out`. form: `--format`. table: `--table`. percent, force, as_json: the options of these names.
        has_page: the command can write a page.
    """
    ending = "" if out is None else out.suffix
    pages = _PAGES if has_page else ()
    if ending in ENDINGS and form in (Format.TEXT, ENDINGS[ending]):
        form = ENDINGS[ending]
    elif ending in ENDINGS:
        raise typer.BadParameter(f"--out {out}: a file {ending} holds {ENDINGS[ending]}, not {form}")
    elif ending in pages:
        if form is not Format.TEXT:
            raise typer.BadParameter(f"--out {out}: a page has no --format; name a file .csv, .md or .tex, or a folder")
    elif ending:
        names = ", ".join((*pages[:1], ".csv", ".md"))
        raise typer.BadParameter(f"--out {out}: expected a file {names} or .tex, or a folder")
    elif out is not None and form is Format.TEXT:
        raise typer.BadParameter(f"--out {out}: tables in a folder need --format csv, markdown or latex")
    if as_json and form is not Format.TEXT:
        raise typer.BadParameter("--json prints all figures; leave --format and files of tables out")
    target = TableTarget(out, form, tuple(table), percent, force)
    if (table or percent) and (as_json or target.page is not None):
        raise typer.BadParameter("--table and --percent are of tables, not of a page or of --json, which have them all")
    return target


def write_report_tables(found: Report, target: TableTarget) -> None:
    """Print or write the tables of a report; without names only the tables of `--by`, where they were asked for."""
    from prism.reports.report_tables import crossed_tables, report_parts

    if found.crossed and not target.names and not target.is_folder:
        target = replace(target, names=tuple(table.id for table in crossed_tables(found)))
    write_tables(report_parts(found), target)


def write_tables(parts: Iterable[Part], target: TableTarget) -> None:
    """Print or write the tables that were named; without names all of them, and the lines between them.

    Exits with code 2 for several tables in one CSV.
    """
    from prism.reports.report_tables import chosen_tables
    from prism.reports.table_formats import DataTable, in_percent, written, written_parts

    parts = [in_percent(part) if target.percent and isinstance(part, DataTable) else part for part in parts]
    with as_usage("--table"):
        chosen = chosen_tables(parts, target.names)
    if target.path is not None and target.is_folder:
        ending = next(ending for ending, each in ENDINGS.items() if each is target.form)
        texts = {target.path / f"{one.id}{ending}": written(one, target.form) for one in chosen}
        write_new(texts, force=target.force)
        return
    if target.form is Format.CSV and len(chosen) != 1:
        ids = ", ".join(one.id for one in chosen)
        raise typer.BadParameter(f"CSV holds one table: name it with --table, or a folder with -o; there are {ids}")
    shown: Sequence[Part] = chosen if target.names else parts
    if target.form is Format.TEXT:
        print_parts(shown)
        return
    text = written(chosen[0], target.form) if len(chosen) == 1 else written_parts(shown, target.form)
    if target.path is None:
        print(text, end="")
    else:
        write_text(target.path, text)
