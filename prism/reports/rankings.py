"""A leaderboard from many runs: what may be ranked together is, and the rest stands apart, with the reason.

An entry is a model of a run: the rows of one file that name it. Entries share a board only if one grader made all of
their rows, by its fingerprint, and if they are of the same problems, to the byte; otherwise a score is higher with
nobody's work. Within a board they are ranked by the mean score (ancestor closure), and each is tested against the first
one, problem by problem (`paired_tests`), so that a lead that may be chance is seen to be one.

A fingerprint is a sha256 and says nothing by itself. That of the PRISM that makes the leaderboard is told in words,
rules and policy; of another one only the version is known.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prism.errors import count_of, raise_faults
from prism.grading.row import fingerprint, json_line
from prism.problem.dag import POLICIES
from prism.problem.plain_values import SPREAD, UNLISTED, plain
from prism.reports.agreement import LEVEL, REPLICATES, Estimate, mean_estimate
from prism.reports.comparison.groups import Group, group_name, group_of, named_rows, pairwise_tests
from prism.reports.comparison.paired_tests import DIGITS, PairedTest
from prism.reports.gates import ComparedItem, Grader, first_and_count
from prism.version import RULES

_SHOWN_HEX = 12  # of a sha256

States = frozenset[tuple[str, str]]  # problem id and sha256


@dataclass(frozen=True, slots=True)
class Entry:
    """A model of a run on a leaderboard.

    Attributes:
        model: what its rows say, or the name of the run where they say nothing.
        run: name of the file.
        group: counts and means of its rows.
        strict: mean share of points of nodes that were matched themselves.
        rank: from 1; entries with one mean share it; None without a score.
        to_first: test of its mean score less that of the first entry; None for the first one.
    """

    model: str
    run: str
    group: Group = field(metadata=SPREAD)
    strict: Estimate
    rank: int | None = None
    to_first: PairedTest | None = field(default=None, metadata=UNLISTED)

    @property
    def mean(self) -> Estimate:
        """Return the mean score, by which entries are ranked."""
        return self.group.means["score"]

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as plain values for JSON."""
        found: dict[str, Any] = plain(self, DIGITS)
        del found["name"]
        return {**found, "to_first": self.to_first and self.to_first.to_dict()}


@dataclass(frozen=True, slots=True)
class Board:
    """Entries that may be ranked together.

    Attributes:
        grader: of all of their rows.
        problems: id and sha256 of all of their problems.
        entries: by rank; those without a score last.
        reasons_apart: why they are not ranked with the first board's; empty for that one.
    """

    grader: Grader
    problems: States
    entries: tuple[Entry, ...]
    reasons_apart: tuple[str, ...] = ()

    @property
    def problems_sha256(self) -> str:
        """Return the sha256 of the problems' ids and sha256, which is the same for boards of the same problems."""
        return hashlib.sha256(json_line(sorted(self.problems))).hexdigest()

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of its problems."""
        return tuple(sorted({name for name, _ in self.problems}))

    def to_dict(self) -> dict[str, Any]:
        """Return the board as plain values for JSON."""
        version, sign, schema, _ = self.grader
        rules, policy = known_grader(self.grader)
        return {
            "grader": {
                "version": version, "fingerprint": sign, "schema": schema, "rules": rules, "policy": policy or None,
            },
            "problems": [{"problem_id": name, "problem_sha256": sha256} for name, sha256 in sorted(self.problems)],
            "problems_sha256": self.problems_sha256, "apart": list(self.reasons_apart),
            "entries": [one.to_dict() for one in self.entries],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The boards of some runs, the one with most entries first.

    Attributes:
        runs: sha256 of each file, by its name.
        boards: each with its entries.
    """

    runs: Mapping[str, str]
    boards: tuple[Board, ...]

    @property
    def is_empty(self) -> bool:
        """Return True if no entry has a score."""
        return all(entry.rank is None for board in self.boards for entry in board.entries)

    def to_dict(self) -> dict[str, Any]:
        """Return the leaderboard as plain values for JSON."""
        return {
            "runs": [{"file": name, "sha256": sha256} for name, sha256 in self.runs.items()],
            "boards": [one.to_dict() for one in self.boards], "level": LEVEL,
        }  # fmt: skip


def make_leaderboard(
    files: Mapping[str, Iterable[Mapping[str, Any]]],
    *,
    fields: Sequence[str] = ("model",),
    sha256: Mapping[str, str] | None = None,
    replicates: int = REPLICATES,
) -> Leaderboard:
    """Rank the models of some runs.

    Args:
        files: rows by the name of their file, as `score_files.score_rows` reads them.
        fields: kept fields, keys of `meta`, whose values name a model.
        sha256: of each file, by its name.
        replicates: bootstrap samples behind the intervals; 0 for none.

    Errors:
        DataFileError: faults of the rows of the first file that has any: all of them at once.
    """
    boards: dict[tuple[Grader, States], list[Entry]] = defaultdict(list)
    for file, rows in files.items():
        for (name, grader), (items, strict) in _read_entries(file, rows, fields).items():
            states = frozenset((one.problem_id, one.problem_sha256) for one in items)
            entry = Entry(name, file, group_of(name, items, replicates), _strict_mean(items, strict, replicates))
            boards[grader, states].append(entry)
    found = [Board(*key, _ranked(entries, replicates)) for key, entries in boards.items()]
    found.sort(key=lambda one: (-len(one.entries), one.grader, one.problems_sha256))
    ranked = (found[0], *(replace(one, reasons_apart=_why_apart(found[0], one)) for one in found[1:])) if found else ()
    return Leaderboard(dict(sha256 or {}), ranked)


def known_grader(grader: Grader) -> tuple[int | None, str]:
    """Return number of the rules and policy of a grader; None where its rows tell none, no policy of another PRISM.

    >>> known_grader(Grader("0.1.0", "ab" * 32, "6", "17")), known_grader(Grader("0.1.0", "ab" * 32, "5"))
    ((17, ''), (None, ''))
    """
    policies = {fingerprint(policy): policy for policy in POLICIES}
    if grader.fingerprint in policies:
        return RULES, policies[grader.fingerprint]
    return (int(grader.rules) if grader.rules.isdigit() else None), ""


def grader_text(grader: Grader) -> str:
    """Say in words what a grader is: version, rules, policy, start of the fingerprint."""
    version, sign, schema, _ = grader
    rules, policy = known_grader(grader)
    other = "" if "protocol" in schema else "rules and policy of another PRISM, "
    known = (f"rules {rules}, policy {policy}, " if policy else f"rules {rules}, ") if rules else other
    return f"PRISM {version}, {known}fingerprint {sign[:_SHOWN_HEX]}, rows of schema {schema}"


# Rows. ----------------------------------------------------------------------------------------------------------

_Rows = tuple[list[ComparedItem], list[float | None]]  # items, and the strict score of each


def _read_entries(
    file: str, rows: Iterable[Mapping[str, Any]], fields: Sequence[str]
) -> dict[tuple[str, Grader], _Rows]:
    """Read the rows of a file as items and strict scores, by model and grader.

    Errors:
        DataFileError: all faults: scores that are none, two rows of a model with the same ids.
    """
    found: dict[tuple[str, Grader], _Rows] = {}
    faults: list[str] = []
    places = ((group_name(row, fields) or Path(file).stem, f"row {place}", row) for place, row in enumerate(rows, 1))
    for each in named_rows(places, faults):
        items, strict = found.setdefault((each.name, each.grader), ([], []))
        items.append(each.item)
        strict.append(_strict_score(each.data))
    raise_faults(first_and_count(faults), file)
    return found


def _strict_score(row: Mapping[str, Any]) -> float | None:
    """Return the score of a row by the policy `strict`; None where it has none."""
    policies = row.get("policies")
    value = policies.get("strict") if isinstance(policies, Mapping) else None
    is_share = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if is_share and value is not None else None


def _strict_mean(items: Sequence[ComparedItem], strict: Sequence[float | None], replicates: int) -> Estimate:
    """Return the mean of the strict scores of the items with a score, with its interval."""
    known = sorted(
        (one.problem_id, value)
        for one, value in zip(items, strict, strict=True)
        if one.score is not None and value is not None
    )
    return mean_estimate([value for _, value in known], [name for name, _ in known], replicates=replicates)


# Ranks. ---------------------------------------------------------------------------------------------------------


def _ranked(entries: Sequence[Entry], replicates: int) -> tuple[Entry, ...]:
    """Sort entries by mean score, the highest first, with their ranks and the test of each against the first one."""
    means = [None if one.mean.value is None else round(one.mean.value, DIGITS) for one in entries]
    rated = [(mean, one) for mean, one in zip(means, entries, strict=True) if mean is not None]
    rated.sort(key=lambda pair: (-pair[0], pair[1].model, pair[1].run))
    places = {str(k): one.group for k, (_, one) in enumerate(rated)}
    tests = pairwise_tests(places, [("0", name) for name in list(places)[1:]], "score", replicates)
    ranks = [1 + sum(other > mean for other, _ in rated) for mean, _ in rated]
    ranked = [
        replace(one, rank=rank, to_first=test)
        for (_, one), rank, test in zip(rated, ranks, (None, *tests)[: len(rated)], strict=True)
    ]
    unrated = [one for mean, one in zip(means, entries, strict=True) if mean is None]
    return (*ranked, *sorted(unrated, key=lambda one: (one.model, one.run)))


def _why_apart(first: Board, other: Board) -> tuple[str, ...]:
    """Say why the entries of a board are not ranked with those of the first one."""
    reasons = []
    if other.grader[1:] != first.grader[1:]:
        reasons.append(f"another grader: {grader_text(other.grader)}, beside {grader_text(first.grader)}")
    elif other.grader != first.grader:
        reasons.append(f"another version: {other.grader[0]}, beside {first.grader[0]}")
    own, theirs = set(other.ids), set(first.ids)
    changed = {name for name, _ in other.problems ^ first.problems} & own & theirs
    for names, what in ((theirs - own, "missing"), (own - theirs, "more"), (changed, "with another file")):
        if names:
            listed = ", ".join(sorted(names)[:3]) + (", ..." if len(names) > 3 else "")
            reasons.append(f"{count_of(len(names), 'problem')} {what}: {listed}")
    return tuple(reasons)
