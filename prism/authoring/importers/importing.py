"""Convert the rows of a published data set into problems; what cannot be is told row by row and counted by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prism.authoring.conversions import Conversion, ConvertedProblem, EntryFault
from prism.authoring.importers.entries import (
    REFUSALS,
    Choice,
    Dataset,
    DatasetEntry,
    Refusal,
    RefusedError,
    SourceRow,
    language_of,
    longest_text,
)
from prism.authoring.importers.entry_problems import make_problem
from prism.authoring.importers.published.engibench import is_open_ended, rubric_rows
from prism.authoring.importers.rows import read_rows
from prism.errors import PrismError, count_of


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row, or one variant of it, that became no problem."""

    row: SourceRow
    refusal: Refusal

    @property
    def fault(self) -> EntryFault:
        """Place, id and reason: `fund.json, entry 3, fund-1.2: its unit cannot be read: "ells"`."""
        named = f", {self.refusal.id}" if self.refusal.id else ""
        return EntryFault(f"{self.row.file.name}, {self.row.place}{named}", str(self.refusal))

    def __str__(self) -> str:
        """Return place, id and reason in words."""
        return str(self.fault)


@dataclass(frozen=True, slots=True)
class DatasetConversion:
    """What became of the rows of a data set.

    Attributes:
        dataset: what was read.
        n_rows: read in all, data sheets and rows of other languages included.
        n_skipped: rows that ask nothing that was wanted: data sheets, other languages, other variants.
        problems: in order of the rows.
        refused: in order of the rows.
        rubrics: rows of a rubric file, of open-ended questions.
        n_undrafted: problems of answers alone though the row has a solution.
    """

    dataset: Dataset
    n_rows: int
    n_skipped: int
    problems: tuple[ConvertedProblem, ...]
    refused: tuple[RefusedRow, ...]
    rubrics: tuple[dict[str, Any], ...] = ()
    n_undrafted: int = 0

    @property
    def conversion(self) -> Conversion:
        """The problems and faults in the shape of every other conversion."""
        return Conversion(self.problems, tuple(each.fault for each in self.refused))

    @property
    def own_golds(self) -> dict[str, tuple[int, int]]:
        """Map what the nodes are to how many rows' own golds score 1, and of how many that have one."""
        golds = [(each.data["metadata"]["dag"], each.gold.score) for each in self.problems if each.gold is not None]
        n_all, n_whole = Counter(dag for dag, _ in golds), Counter(dag for dag, score in golds if score == 1)
        return {dag: (n_whole[dag], n) for dag, n in sorted(n_all.items())}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        reasons = Counter(each.refusal.code for each in self.refused)
        dags = Counter(each.data["metadata"]["dag"] for each in self.problems)
        golds = {dag: {"at_1": whole, "of": n} for dag, (whole, n) in self.own_golds.items()}
        return {
            **self.conversion.to_dict(),
            "dataset": self.dataset.name, "licence": self.dataset.licence, "rows": self.n_rows,
            "skipped": self.n_skipped, "dags": dict(sorted(dags.items())), "refused": dict(sorted(reasons.items())),
            "rubrics": list(self.rubrics), "own_golds": golds,
        }  # fmt: skip

    def summary(self) -> str:
        """Return one line: rows, problems by what their nodes are, and refused rows by reason."""
        dags = Counter(each.data["metadata"]["dag"] for each in self.problems)
        reasons = Counter(each.refusal.code for each in self.refused)
        made = ", ".join(f"{n} {name}" for name, n in sorted(dags.items()))
        why = ", ".join(f"{n} {REFUSALS[code]}" for code, n in reasons.most_common())
        rubrics = f"; {count_of(len(self.rubrics), 'rubric row')}" if self.rubrics else ""
        golds = ", ".join(f"{whole} of {n} {dag}" for dag, (whole, n) in self.own_golds.items())
        return (
            f"{count_of(self.n_rows, 'row')}: {count_of(len(self.problems), 'problem')}"
            f"{f' ({made})' if made else ''}; {len(self.refused)} refused{f' ({why})' if why else ''}"
            f"{f'; {self.n_skipped} not asked for' if self.n_skipped else ''}{rubrics}"
            f"{f'; own gold at 1: {golds}' if golds else ''}"
        )


def import_dataset(path: Path, dataset: Dataset, choice: Choice, *, is_drafted: bool = False) -> DatasetConversion:
    """Convert the rows of a file, or of a folder in the data set's layout.

    Args:
        choice: variant and language that are wanted.
        is_drafted: draft a DAG where a row has a solution.

    Errors:
        DataFileError: the file cannot be read at all.
    """
    check_choice(dataset, choice)
    rows = read_rows(path, dataset)
    problems: list[ConvertedProblem] = []
    refused: list[RefusedRow] = []
    rubrics: list[dict[str, Any]] = []
    taken: Counter[str] = Counter()
    n_skipped = n_undrafted = 0
    for row in rows:
        found = list(entries_of(row, dataset, choice))
        if dataset.name == "engibench" and not row.fault and is_open_ended(row):
            rubrics += rubric_rows(row)
        elif not found:
            n_skipped += 1
        for each in found:
            made = _problem_or_refusal(each, row, dataset, is_drafted=is_drafted)
            if isinstance(made, Refusal):
                refused.append(RefusedRow(row, made))
                continue
            is_alone = made.data["metadata"]["dag"] == "answer"
            n_undrafted += is_alone and isinstance(each, DatasetEntry) and bool(each.solution.strip())
            problems.append(_with_own_id(made, taken))
    return DatasetConversion(
        dataset, len(rows), n_skipped, tuple(problems), tuple(refused), tuple(rubrics), n_undrafted
    )


def check_choice(dataset: Dataset, choice: Choice) -> None:
    """Raise PrismError for a variant or language that a data set does not have."""
    if choice.variant and choice.variant not in dataset.variants:
        names = f"; they are {', '.join(dataset.variants)}" if dataset.variants else ""
        raise PrismError(f"{dataset.name} has no variant {choice.variant}{names}")
    if choice.language and not dataset.has_languages:
        raise PrismError(f"{dataset.name} is in one language")
    if choice.language not in ("", "en", "zh"):
        raise PrismError(f"{choice.language} is no language of {dataset.name}; they are en, zh")


def entries_of(row: SourceRow, dataset: Dataset, choice: Choice) -> Iterator[DatasetEntry | Refusal]:
    """Yield what a row asks, in the wanted language; a refusal for a row that cannot be read."""
    if row.fault:
        yield Refusal("", "not-read", row.fault)
        return
    name = dataset.id_of(row) or f"{row.file.stem}-{row.number}"
    try:
        for each in dataset.read(row):
            if choice.variant not in ("", each.variant):
                continue
            if isinstance(each, Refusal):
                yield each
            elif choice.language in ("", language_of(each.question)):
                yield replace(each, id=each.id or name)
    except RefusedError as error:
        if choice.language in ("", language_of(longest_text(row.data))):
            yield Refusal(name, error.code, error.why)


def _problem_or_refusal(
    each: DatasetEntry | Refusal, row: SourceRow, dataset: Dataset, *, is_drafted: bool
) -> ConvertedProblem | Refusal:
    """Return the problem of an entry, or the reason that there is none."""
    if isinstance(each, Refusal):
        return each
    try:
        return make_problem(each, row, dataset, is_drafted=is_drafted)
    except RefusedError as error:
        return Refusal(each.id, error.code, error.why)


def _with_own_id(made: ConvertedProblem, taken: Counter[str]) -> ConvertedProblem:
    """Return a problem whose id no earlier one has: a repeated id gets `~2`, and the problem says so."""
    name = str(made.data["id"])
    taken[name] += 1
    if taken[name] == 1:
        return made
    message = f"its id {name} stands {taken[name]} times in the data set"
    metadata = dict(made.data["metadata"])
    metadata["remarks"] = [*metadata.get("remarks", []), message]
    return replace(
        made, data={**made.data, "id": f"{name}~{taken[name]}", "metadata": metadata}, remarks=(*made.remarks, message)
    )
