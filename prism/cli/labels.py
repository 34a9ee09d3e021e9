"""What `prism agree` does with names in place of numbers: labels, an adjudicator, a sample that people mark."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import prism
from prism.cli import options as take
from prism.cli.options import names, option
from prism.cli.output import print_json, print_parts, spinner
from prism.cli.talk import as_usage, tell
from prism.errors import count_of

if TYPE_CHECKING:
    from prism.reports.label_agreement import LabelScheme, LabelTable, Settlement
    from prism.reports.marking_sheets import SheetKey
    from prism.reports.ratings import RatingTable

_PAGES = (".html", ".htm")


@dataclass(frozen=True, slots=True)
class RaterFiles:
    """The files that raters are read from, and how: arguments of `ratings.rating_table`."""

    results: Annotated[Path, typer.Argument(help="Score rows of `prism run`; or judgements, people against people.")]
    judges: Annotated[
        list[Path] | None,
        typer.Argument(help="Judgements: .jsonl, .csv, .parquet, or of lm-eval, Inspect, promptfoo, FastChat, OpenAI."),
    ] = None
    mapping: list[str] = names("Fields: score=FIELD,problem_id=FIELD,sample_id=FIELD,rater=FIELD.", "--map")
    score: str = option("Number of a score row: score, final_correct, policies.strict.", "score")
    scale: take.JudgeScale = ""

    @property
    def options(self) -> dict[str, Any]:
        """Return the keyword arguments that all readers of these files take."""
        scale = take.parse_interval(self.scale)
        return {"mapping": take.parse_field_map(self.mapping), "score": self.score, "scale": scale}

    @property
    def are_marked(self) -> bool:
        """Return True if one of the files is a marking sheet."""
        from prism.reports.marking_sheets import is_marking_sheet

        return any(is_marking_sheet(path) for path in (self.results, *(self.judges or ())))


@dataclass(frozen=True, slots=True)
class AgreementOptions:
    """How agreement is computed and shown, or a sample is drawn: options of `agree`."""

    cut: list[str] = names("Compare pass and fail: scores from here up pass; or between labels.", metavar="SCORE,...")
    labels: list[str] = names("Compare names, without an order.", keeps_empty=True, metavar="A,B,...")
    order: list[str] = names("Compare names, in this order.", keeps_empty=True, metavar="LOW,...,HIGH")
    distance: list[str] = names("Weights of disagreement, for a weighted kappa of names.", metavar="A:B=WEIGHT,...")
    adjudicator: str = option("Whose word settles where raters differ.", "", metavar="RATER")
    key: Path | None = option("Key of marking sheets, where it does not stand beside them.")
    sample: int | None = option("Instead draw N rollouts for people to mark.", min=1, metavar="N")
    strata: list[str] = names(
        "Of the sample: score, problem, model, domain, level, or kept fields.", metavar="FIELD,..."
    )
    seed: int = option("Of the sample.", 0, min=0)
    oversample: float = option("How much more is drawn where rules and judges differ.", 3.0, metavar="TIMES")
    problems: str = option("Of the sample: what was graded against, as `report` takes it.", "")
    rollouts: Path | None = option("Of the sample: what was graded, as `run` takes it.")
    fields: take.RolloutFields = field(default_factory=list)
    title: str = option("Of the sheet's page.", "Marking sheet")
    out: Path | None = option(
        "Of a sample a folder, or a file .html or .csv; of an adjudicator a file .csv.", None, "--out", "-o"
    )
    replicates: take.Replicates = 1000
    top: int = option("Largest disagreements that are listed of each pair.", 5, min=0)
    force: take.Force = False
    as_json: take.AsJson = False


def parse_cuts(given: Sequence[str]) -> tuple[float, ...]:
    """Parse `--cut SCORE,...`; exits with code 2 for what is no number."""
    try:
        return tuple(float(each) for each in given)
    except ValueError as error:
        message = f"--cut {','.join(given)}: expected a score, or several between labels: 0.25,0.75"
        raise typer.BadParameter(message) from error


def parse_labels(labels: Sequence[str], order: Sequence[str], cuts: tuple[float, ...]) -> LabelScheme | None:
    """Parse `--labels A,B,...` or `--order LOW,...,HIGH` into a vocabulary; None if neither is given.

    Exits with code 2 for both.
    """
    from prism.reports.label_agreement import make_scheme

    if labels and order:
        raise typer.BadParameter("--labels and --order exclude each other; --order names the labels too")
    if not labels and not order:
        return None
    with as_usage("--order" if order else "--labels"):
        return make_scheme(order or labels, is_ordered=bool(order), cuts=cuts)


def write_sample(files: RaterFiles, scheme: LabelScheme | None, asked: AgreementOptions) -> None:
    """Draw a sample, write sheet and key, and print the strata; exits with code 2 or 3 where that cannot be done."""
    from prism.reports import marking_sheets, report_tables
    from prism.reports.label_agreement import make_scheme

    out = asked.out
    if asked.sample is None or out is None or not asked.problems or asked.rollouts is None:
        raise typer.BadParameter("--sample needs --problems and --rollouts, which the sheet shows, and -o to write it")
    if asked.oversample <= 0:
        raise typer.BadParameter(f"--oversample {asked.oversample:g}: expected a number above 0")
    targets = _targets(out)
    take.require_folder(out)
    take.refuse_existing(targets.values(), force=asked.force)
    take.problem_file(asked.problems)
    sheet = marking_sheets.draw_sheet(
        files.results, asked.sample, scheme or make_scheme(marking_sheets.DEFAULT_LABELS, is_ordered=True),
        problems=asked.problems, rollouts=asked.rollouts, judges=files.judges or (),
        fields=take.parse_field_map(asked.fields), strata=tuple(asked.strata),
        oversampling=asked.oversample, seed=asked.seed, **files.options,
    )  # fmt: skip
    if not out.suffix:
        take.make_folder(out)
    if "page" in targets:
        from prism.reports.html.whole_pages import marking_page

        take.write_text(targets["page"], marking_page(sheet, title=asked.title))
    if "csv" in targets:
        take.write_text(targets["csv"], marking_sheets.csv_text(sheet))
    take.write_text(targets["key"], marking_sheets.key_text(sheet.key))
    if asked.as_json:
        print_json({**sheet.key.to_dict(), "files": {name: str(path) for name, path in targets.items()}})
    else:
        print_parts(report_tables.sample_parts(sheet.key))
    sheets = ", ".join(str(path) for name, path in targets.items() if name != "key")
    print(f"{sheets}: to be marked; keep {targets['key']}, and show it to no marker", file=sys.stderr)


def _targets(out: Path) -> dict[str, Path]:
    """Return the files that a sample is written to, by what they hold: page, csv, key.

    Exits with code 2 for another ending.
    """
    if out.suffix in _PAGES:
        return {"page": out, "key": out.with_suffix(".key.json")}
    if out.suffix == ".csv":
        return {"csv": out, "key": out.with_suffix(".key.json")}
    if out.suffix and not out.is_dir():
        raise typer.BadParameter(f"--out {out}: expected a folder, or a file .html or .csv")
    return {"page": out / "sheet.html", "csv": out / "sheet.csv", "key": out / "key.json"}


def agree_in_labels(files: RaterFiles, scheme: LabelScheme | None, asked: AgreementOptions) -> int:
    """Print how far raters agree who give names; return the most items that two of them share. PrismError of faults."""
    from prism.reports.label_agreement import label_table
    from prism.reports.marking_sheets import read_marked

    if files.are_marked:
        marked = read_marked(files.results, files.judges or (), key=asked.key, scheme=scheme, **files.options)
        return _print_labels(marked.table, marked.key, asked)
    return _print_labels(label_table(files.results, files.judges or (), scheme, **files.options), None, asked)


def agree_in_scores(files: RaterFiles, cut: float | None, asked: AgreementOptions) -> int:
    """Print how far raters agree who give scores, or names that are no scores; return as `agree_in_labels`."""
    from prism.reports.label_agreement import label_table
    from prism.reports.ratings import RULES, agreement_of, rating_table
    from prism.reports.report_tables import agreement_parts

    found = rating_table(files.results, files.judges or (), cut=cut, **files.options)
    if not any(each.aligned for each in found.alignment if each.rater != RULES):
        if RULES not in found.raters:
            with suppress(prism.PrismError):  # no vocabulary: then the counts say that nothing was read
                return _print_labels(label_table(files.results, files.judges or (), None, **files.options), None, asked)
        elif any("unreadable" in each.dropped for each in found.alignment):
            tell("if the judges give names, say which: --order LOW,...,HIGH or --labels")
    settled = _settled(found, None, None, asked)
    if settled is not None:
        found = settled.table
    with spinner("drawing samples for the intervals"):
        agreed = agreement_of(found, replicates=asked.replicates, top=asked.top)
    if asked.as_json:
        print_json({**agreed.to_dict(), **({} if settled is None else {"settled": settled.to_dict()})})
    else:
        print_parts(agreement_parts(agreed))
    return max((pair.n for pair in agreed.pairs), default=0)


def _print_labels(found: LabelTable, key: SheetKey | None, asked: AgreementOptions) -> int:
    """Print how far raters agree in a table of labels; return the most items that two of them share."""
    from prism.reports import report_tables
    from prism.reports.label_agreement import label_agreement_of, read_distances

    apart = read_distances(",".join(asked.distance), found.scheme) if asked.distance else None
    settled = _settled(found.table, found.scheme, key, asked)
    if settled is not None:
        found = replace(found, table=settled.table)
    with spinner("drawing samples for the intervals"):
        agreed = label_agreement_of(found, replicates=asked.replicates, top=asked.top, apart=apart)
    if asked.as_json:
        print_json({**agreed.to_dict(), "settled": None if settled is None else settled.to_dict()})
    else:
        print_parts(report_tables.label_parts(agreed, settled))
    return max((pair.n for pair in agreed.pairs), default=0)


def _settled(
    table: RatingTable, scheme: LabelScheme | None, key: SheetKey | None, asked: AgreementOptions
) -> Settlement | None:
    """Settle ratings by the adjudicator and write what is settled, as asked for; None without an adjudicator.

    Exits with code 2 for a file that is no .csv.
    """
    from prism.reports.label_agreement import settle
    from prism.reports.marking_sheets import settled_text

    if not asked.adjudicator:
        return None
    out = asked.out
    if out is not None and out.suffix != ".csv":
        raise typer.BadParameter(f"--out {out}: what is settled is written as .csv")
    take.require_new(out, force=asked.force)
    settled = settle(table, asked.adjudicator)
    if out is not None:
        take.write_text(out, settled_text(settled.table, scheme, settled.settled_by, key))
        n_open = settled.count("")
        n = len(settled.settled_by) - n_open
        print(f"{out}: {count_of(n, 'item')} settled, {n_open} open", file=sys.stderr)
    return settled
