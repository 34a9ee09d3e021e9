"""What went wrong, by model: outcomes of rollouts, first wrong steps, formulas by status, withheld nodes, flags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prism.reports.report_rows import NOT_SAID, ReportRow

Label = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """Counts of one kind of label, by model.

    Attributes:
        id: name of the kind: `formulas`.
        title: in words.
        of: what the totals count: `rollouts`.
        heads: what the two parts of a label are; the second is empty where it has one part.
        counts: by model, then by label.
        totals: of each model: what shares are of.
    """

    id: str
    title: str
    of: str
    heads: tuple[str, str]
    counts: Mapping[str, Mapping[Label, int]]
    totals: Mapping[str, int]

    @property
    def labels(self) -> list[Label]:
        """Labels, the most frequent over all models first."""
        summed: Counter[Label] = Counter()
        for each in self.counts.values():
            summed.update(each)
        return [label for label, _ in sorted(summed.items(), key=lambda one: (-one[1], one[0]))]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values for JSON."""
        names = [head for head in self.heads if head]
        return {
            "kind": self.id, "of": self.of, "totals": dict(sorted(self.totals.items())),
            "labels": [
                {
                    **dict(zip(names, label, strict=False)),
                    "n": {model: each[label] for model, each in sorted(self.counts.items()) if each.get(label)},
                }
                for label in self.labels
            ],
        }  # fmt: skip


def errors_by_model(rows: Sequence[ReportRow]) -> tuple[ErrorCounts, ...]:
    """Count each kind of label by model; a kind without any is left out.

    Shares of first wrong steps are of the rollouts that were diagnosed, those of formulas and of withheld nodes of the
    formulas that are no mention, those of flags and outcomes of all rollouts.
    """
    kinds = (
        _counted("outcomes", "Outcomes of rollouts", "rollouts", ("outcome", ""), rows, _outcome, lambda _: 1),
        _counted("first-wrong", "First wrong steps", "diagnosed", ("label", ""), rows, _first_wrong,
                 lambda row: int(row.diagnosis is not None)),
        _counted("formulas", "What became of formulas", "formulas", ("status", "reason"), rows, _statuses, _n_formula),
        _counted("withheld", "Nodes stated and withheld", "formulas", ("reason", ""), rows, _withheld, _n_formula),
        _counted("flags", "Flags", "rollouts", ("flag", ""), rows,
                 lambda row: [(flag, "") for flag in row.grade.flags], lambda _: 1),
    )  # fmt: skip
    return tuple(kind for kind in kinds if any(kind.counts.values()))


def _counted(
    kind: str, title: str, of: str, heads: tuple[str, str], rows: Iterable[ReportRow],
    labels_of: Callable[[ReportRow], Iterable[Label]], total_of: Callable[[ReportRow], int],
) -> ErrorCounts:  # fmt: skip
    """Count the labels of rows by model; `total_of` is what a row adds to the total."""
    counts: dict[str, Counter[Label]] = {}
    totals: Counter[str] = Counter()
    for row in rows:
        model = row.model or NOT_SAID
        counts.setdefault(model, Counter()).update(labels_of(row))
        totals[model] += total_of(row)
    return ErrorCounts(kind, title, of, heads, counts, totals)


def _outcome(row: ReportRow) -> list[Label]:
    """Return what became of a rollout: its status unless that is ok, else how much it earned."""
    grade = row.grade
    if grade.score is None or grade.status != "ok":
        return [(grade.status, "")]
    earned = "all points" if grade.score == 1 else "no points" if grade.score == 0 else "some points"
    return [(f"{earned}, final answers {'right' if grade.final_correct else 'not right'}", "")]


def _first_wrong(row: ReportRow) -> list[Label]:
    """Return the label of the first wrong step of a rollout, such as `DCE`; empty where none is known."""
    found = row.diagnosis
    return [(found.label, "")] if found is not None and found.first_wrong is not None else []


def _statuses(row: ReportRow) -> list[Label]:
    """Return status and reason of each formula that is no mention."""
    return [(one.status, one.reason) for one in row.grade.formulas if one.status != "mention"]


def _n_formula(row: ReportRow) -> int:
    """Return the number of formulas that are no mention."""
    return len(_statuses(row))


def _withheld(row: ReportRow) -> list[Label]:
    """Return the reason of each node that a formula states and does not match."""
    return [(reason, "") for one in row.grade.formulas for _, reason in one.withheld]
