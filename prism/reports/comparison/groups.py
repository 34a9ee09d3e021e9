"""Compare the models of one run, or its groups by any kept field: each pair of them, problem by problem.

Rollouts of two models share no sample ids, so what is paired is the problem: a model's score on it is the mean over
its rollouts of it, and a difference of two models is the mean over the problems that both have scores on. Every such
pair is tested (`paired_tests`), and its p-value adjusted for the number of pairs, for scores and final answers each.

What `gates.compare_results` refuses is refused here too: rows of two graders, and two states of one problem file. A row
that does not say its group is left out, and counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

from prism.errors import PrismError, count_of, raise_faults
from prism.inputs import did_you_mean, shown
from prism.problem.plain_values import SPREAD, UNLISTED, named, plain
from prism.reports.agreement import LEVEL, REPLICATES, Estimate, mean_estimate
from prism.reports.comparison.paired_tests import DIGITS, Differences, PairedTest, paired_tests
from prism.reports.gates import (
    ComparedItem,
    Grader,
    Key,
    compared_item,
    describe,
    first_and_count,
    grader_of,
    name_grader,
)

MEASURES = {"score": "score", "final": "final answers right"}
"""What is compared, with its title."""


@dataclass(frozen=True, slots=True)
class Group:
    """The rollouts of one model, or of one value of other fields.

    Attributes:
        name: values of the fields, with commas between.
        n: rows.
        n_unscored: rows on which the grader failed.
        n_problem: problems with a score.
        means: of `MEASURES`, over the rows with a score; intervals by a bootstrap over problems.
        by_problem: mean over the rows of a problem, by measure and problem id.
        n_incident: failures of the grader.
    """

    name: str
    n: int = field(metadata=named("rollouts"))
    n_unscored: int = field(metadata=named("unscored"))
    n_problem: int = field(metadata=named("problems"))
    means: Mapping[str, Estimate] = field(metadata=SPREAD)
    by_problem: Mapping[str, Mapping[str, Fraction]] = field(metadata=UNLISTED)
    n_incident: int = field(metadata=named("incidents"))


@dataclass(frozen=True, slots=True)
class GroupPair:
    """Two groups, by name, with the test of each of `MEASURES`: of the mean of `new` less that of `base`."""

    base: str
    new: str
    tests: Mapping[str, PairedTest]


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """All groups of some score rows, and the pairs of them that were compared.

    Attributes:
        files: names of the files.
        fields: kept fields that name the groups.
        groups: by name.
        pairs: by name; the first one of a pair is its base.
        n_left_out: rows that lack one of the fields.
    """

    files: tuple[str, ...]
    fields: tuple[str, ...] = field(metadata=named("by"))
    groups: tuple[Group, ...]
    pairs: tuple[GroupPair, ...] = field(metadata=UNLISTED)
    n_left_out: int = field(metadata=named("left_out"))

    @property
    def is_empty(self) -> bool:
        """Return True if no two groups have scores on one problem."""
        return not any(test.difference.n for pair in self.pairs for test in pair.tests.values())

    @property
    def n_incident(self) -> int:
        """Number of failures of the grader, over all groups."""
        return sum(group.n_incident for group in self.groups)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values for JSON."""
        pairs = [
            {"base": one.base, "new": one.new, **{name: test.to_dict() for name, test in one.tests.items()}}
            for one in self.pairs
        ]
        return {**plain(self, DIGITS), "pairs": pairs, "level": LEVEL}


def compare_groups(
    files: Mapping[str, Iterable[Mapping[str, Any]]],
    fields: Sequence[str],
    *,
    against: str = "",
    allow_changed: bool = False,
    across_rules: bool = False,
    replicates: int = REPLICATES,
) -> GroupComparison:
    """Compare each two groups of score rows.

    Args:
        files: rows by the name of their file, as `score_files.score_rows` reads them; all are taken together.
        fields: kept fields, keys of `meta`, whose values name a group.
        against: a group with which each other one is compared, instead of all pairs; empty for all.
        allow_changed: compare also where a problem id has two problem files.
        across_rules: compare also rows of other rules, as of an older PRISM.
        replicates: bootstrap samples behind the intervals; 0 for none.

    Errors:
        PrismError: all faults of the rows at once; fewer than two groups; no group of the name `against`.
    """
    rows = [(f"{file}: row {place}", row) for file, found in files.items() for place, row in enumerate(found, 1)]
    known = [(name, place, row) for place, row in rows if (name := group_name(row, fields)) is not None]
    if not known:
        _refuse_fields([row for _, row in rows], fields, ", ".join(files))
    items = _items_by_group(known, allow_changed=allow_changed, across_rules=across_rules)
    if len(items) < 2:
        only = f"; all rows are of {shown(next(iter(items)))}" if items else ""
        raise PrismError(f"{', '.join(files)}: fewer than two groups by {', '.join(fields)}{only}")
    if against and against not in items:
        names = ", ".join(map(shown, sorted(items)))
        near = did_you_mean(against, sorted(items))
        raise PrismError(f"--against: no rows are of {shown(against)}{near}; groups are {names}")
    groups = {name: group_of(name, items[name], replicates) for name in sorted(items)}
    chosen = [(against, name) for name in groups if name != against] if against else list(combinations(groups, 2))
    tests = {measure: pairwise_tests(groups, chosen, measure, replicates) for measure in MEASURES}
    pairs = (
        GroupPair(base, new, {measure: found[k] for measure, found in tests.items()})
        for k, (base, new) in enumerate(chosen)
    )
    return GroupComparison(tuple(files), tuple(fields), tuple(groups.values()), tuple(pairs), len(rows) - len(known))


# Rows. ----------------------------------------------------------------------------------------------------------


def kept_fields(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields that were kept beside a grade, with `prism run --keep`; empty without any."""
    meta = row.get("meta")
    return meta if isinstance(meta, Mapping) else {}


def group_name(row: Mapping[str, Any], fields: Sequence[str]) -> str | None:
    """Return the values of the fields with commas between; None if the row lacks one."""
    meta = kept_fields(row)
    values = [meta.get(name) for name in fields]
    return None if any(value is None for value in values) else ", ".join(map(str, values))


def _refuse_fields(rows: Sequence[Mapping[str, Any]], fields: Sequence[str], files: str) -> None:
    """Raise a PrismError that names the fields that no row has."""
    if not rows:
        return
    kept = sorted({str(name) for row in rows for name in kept_fields(row)})
    known = f"; the rows keep {', '.join(kept)}" if kept else "; the rows keep no fields, see `prism run --keep`"
    unknown = [f"no row has the field {shown(name)}{did_you_mean(name, kept)}" for name in fields if name not in kept]
    raise PrismError(f"{files}: {'; '.join(unknown) or 'no row has all of the fields ' + ', '.join(fields)}{known}")


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A score row with the name of its group: the item that it is, its grader, where it stands, and itself."""

    name: str
    item: ComparedItem
    grader: Grader
    place: str
    data: Mapping[str, Any]


def named_rows(rows: Iterable[tuple[str, str, Mapping[str, Any]]], faults: list[str]) -> list[NamedRow]:
    """Read score rows, each behind its group and its place; bad scores and second rows of an item are faults."""
    found: list[NamedRow] = []
    seen: dict[tuple[str, Key], str] = {}
    for name, place, row in rows:
        item, fault = compared_item(row, 0)
        if item is None:
            faults.append(f"{place}: {fault}")
            continue
        if (first := seen.setdefault((name, item.key), place)) != place:
            faults.append(f"{place}: {describe(item.key)} of {shown(name)} stands in {first} too")
        found.append(NamedRow(name, item, grader_of(row), place, row))
    return found


def _items_by_group(
    rows: Iterable[tuple[str, str, Mapping[str, Any]]], *, allow_changed: bool, across_rules: bool
) -> dict[str, list[ComparedItem]]:
    """Read the rows as items by group, and check that groups can be compared.

    Errors:
        PrismError: all faults: two graders; two rows of a group with the same ids; two files of a problem; bad scores.
    """
    items: dict[str, list[ComparedItem]] = defaultdict(list)
    graders: dict[Grader, str] = {}
    problems: dict[str, dict[str, str]] = defaultdict(dict)
    faults: list[str] = []
    for each in named_rows(rows, faults):
        graders.setdefault(each.grader, each.place)
        problems[each.item.problem_id].setdefault(each.item.problem_sha256, each.place)
        items[each.name].append(each.item)
    if any(not one.is_same_as(next(iter(graders)), across_rules=across_rules) for one in graders):
        places = ", ".join(f"{place} by {name_grader(one)}" for one, place in graders.items())
        faults.append(f"graded by {len(graders)} graders: {places}; --across-rules compares them all the same")
    if not allow_changed:
        faults += [
            f"problem {shown(name)} has {len(states)} files, to the byte, first in {', '.join(states.values())}; "
            "--allow-changed compares all the same"
            for name, states in problems.items()
            if len(states) > 1
        ]
    raise_faults(first_and_count(faults))
    return dict(items)


# Figures. -------------------------------------------------------------------------------------------------------


def group_of(name: str, items: Sequence[ComparedItem], replicates: int) -> Group:
    """Compute the means of a group, over its rows and by problem; the order of the rows changes no digit."""
    scored = [(one, one.score) for one in sorted(items, key=lambda one: one.key) if one.score is not None]
    values: dict[str, list[Fraction]] = {
        "score": [score for _, score in scored], "final": [Fraction(one.final_correct) for one, _ in scored],
    }  # fmt: skip
    ids = [one.problem_id for one, _ in scored]
    return Group(
        name, len(items), len(items) - len(scored), len(set(ids)),
        {measure: mean_estimate(list(map(float, found)), ids, replicates=replicates)
         for measure, found in values.items()},
        {measure: _means_by_problem(ids, found) for measure, found in values.items()},
        sum(one.n_incident for one in items),
    )  # fmt: skip


def _means_by_problem(ids: Sequence[str], values: Sequence[Fraction]) -> dict[str, Fraction]:
    """Return the exact mean of the values of each problem, by id."""
    gathered: dict[str, list[Fraction]] = defaultdict(list)
    for name, value in zip(ids, values, strict=True):
        gathered[name].append(value)
    return {name: sum(found, Fraction(0)) / len(found) for name, found in gathered.items()}


def pairwise_tests(
    groups: Mapping[str, Group], pairs: Sequence[tuple[str, str]], measure: str, replicates: int
) -> tuple[PairedTest, ...]:
    """Test each pair of groups, named (base, new), on the problems that both have scores on."""
    compared = []
    for base, new in pairs:
        first, second = groups[base].by_problem[measure], groups[new].by_problem[measure]
        common = sorted(first.keys() & second.keys())
        compared.append(Differences([float(second[name] - first[name]) for name in common], common))
    return paired_tests(compared, replicates=replicates)


def family_text(found: GroupComparison) -> str:
    """Say over how many comparisons p-values are adjusted, and what else the tables do not show."""
    n = len(found.pairs)
    left = (
        f" {count_of(found.n_left_out, 'row')} without {' or '.join(found.fields)} left out."
        if found.n_left_out
        else ""
    )
    family = f" p (Holm) is adjusted for {count_of(n, 'comparison')}." if n > 1 else ""
    return f"Differences are of problem means, over the problems that both have.{family}{left}"
