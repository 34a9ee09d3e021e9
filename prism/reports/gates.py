"""Two files of results: what changed between them, item by item, and which gates that fires.

An item is one solution of one problem, by its ids. Only what both files can be right about is compared: results of
another grader, or of a problem file that has changed, are refused, for a score then moves with nobody's work. A
solution that has changed is what a comparison is for. A row without score is a failure of the grader: it enters no
mean, as a zero or otherwise, and an item that has lost its score counts as dropped.

Differences are exact: scores are decimals, so `mean<-0.01` does not fire at -0.01, whatever the order of the rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from prism.errors import PrismError, count_of, raise_faults
from prism.problem.plain_values import plain
from prism.reports.agreement import REPLICATES
from prism.reports.comparison.paired_tests import DIGITS, Differences, PairedTest, paired_tests
from prism.reports.html.markup import visible
from prism.resources import meanings
from prism.runs.records import Faults

GRAMMAR = """\
gate    = "any-drop" | "any-lost-node" | "any-missing" | measure "<" number
measure = "item" | "mean" | "final"
number  = a decimal from -1 to 0
"""
"""Of `--fail-on`. All of it is about changes; what a result has to reach by itself is `--min-mean` and `--min-item`."""

DEFAULT_GATE = "item<0"
"""What is judged where no gate is named: no item may have a lower score."""

MEASURES: Mapping[str, str] = meanings("reports.measures")
"""What a gate is about."""

_GATE = re.compile(r"\s*(item|mean|final)\s*<\s*(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))\s*")
_SCORED = ("ok", "too_large")  # statuses of rows that have a score
_SHOWN_FAULTS = 20  # of a file, or of a pair of files; the rest is counted
_SHOWN_HEX = 12  # of a sha256

Key = tuple[str, str]
"""Problem id and sample id; a row without a sample id has an empty one."""

PER_ITEM = ("any-drop", "any-lost-node", "any-missing", "item", "min-item")
"""Measures that say of each item whether it fires the gate."""

Kind = Literal["fell", "rose", "same", "only_in_base", "only_in_new", "unscored"]


@dataclass(frozen=True, slots=True)
class ComparedItem:
    """One item (a solution of a problem) of a results file: the values of its score row that a comparison uses.

    Attributes:
        score: exact; None where the grader failed.
        matched: node indices.
        place: number of its row, from 1.
        alternative: the reference DAG that its nodes are of.
    """

    problem_id: str
    sample_id: str
    status: str
    score: Fraction | None
    final_correct: bool
    matched: tuple[int, ...]
    n_incident: int
    problem_sha256: str
    solution_sha256: str
    place: int
    alternative: str = ""

    @property
    def key(self) -> Key:
        """Problem id and sample id, by which the row of the same item is found in the other results file."""
        return self.problem_id, self.sample_id


@dataclass(frozen=True, slots=True)
class Results:
    """The items of one file of score rows, all graded by the same version of the grader.

    Attributes:
        file: its name.
        items: by key, in file order.
        grader: version, fingerprint, and schema of the rows; None if there are none.
    """

    file: str
    items: Mapping[Key, ComparedItem]
    grader: Grader | None

    @property
    def scored(self) -> tuple[ComparedItem, ...]:
        """Items that have a score."""
        return tuple(item for item in self.items.values() if item.score is not None)

    @property
    def mean(self) -> Fraction | None:
        """Exact mean score of the items that have one; None if no item has one."""
        return _mean([item.score for item in self.items.values() if item.score is not None])

    @property
    def n_incident(self) -> int:
        """Number of failures of the grader, summed over all rows."""
        return sum(item.n_incident for item in self.items.values())


@dataclass(frozen=True, slots=True)
class ItemPair:
    """One item with its row in the base and its row in the new file, None where a file lacks it; see `_paired_item`.

    Attributes:
        change: new score less old score; None unless both have one.
        kind: how the item changed.
        lost, gained: indices of nodes matched in one file only; empty where the problem files differ.
        has_lost_final: all final answers were right in the base and are not all right in the new file.
        is_other_way: the item is graded by another reference DAG.
    """

    key: Key
    base: ComparedItem | None
    new: ComparedItem | None
    change: Fraction | None
    kind: Kind

    lost: tuple[int, ...] = ()
    gained: tuple[int, ...] = ()
    has_lost_final: bool = False
    is_other_way: bool = False

    @property
    def is_missing(self) -> bool:
        """True if only one of the two files has the item."""
        return self.base is None or self.new is None

    @property
    def has_changed(self) -> bool:
        """True if score, matched nodes or final answers of the item differ, or a file lacks the item."""
        return self.kind != "same" or bool(self.lost or self.gained) or self.has_lost_final or self.is_other_way

    @property
    def is_drop(self) -> bool:
        """True if `any-drop` fires: a lower score, a lost right final answer, a lost score, or a missing row."""
        has_lost_score = self.kind == "unscored" and self.base is not None and self.base.score is not None
        return self.kind == "fell" or self.has_lost_final or has_lost_score or self.is_missing


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two results files with their items paired.

    Attributes:
        pairs: in the order of the base; then items that only the new file has.
        tests: mean change, interval and p-value of `score` and of `final`, over the compared pairs.
    """

    base: Results
    new: Results
    pairs: tuple[ItemPair, ...]
    tests: Mapping[str, PairedTest] = field(default_factory=dict)

    @property
    def compared(self) -> tuple[ItemPair, ...]:
        """Pairs with a score in both files, over which changes of means are computed."""
        return tuple(pair for pair in self.pairs if pair.change is not None)

    @property
    def mean_change(self) -> Fraction | None:
        """Mean change of the score over the compared pairs; None without any."""
        return _mean([pair.change for pair in self.pairs if pair.change is not None])

    @property
    def final_change(self) -> Fraction | None:
        """Change of the share of items whose final answers are all right, over `compared`; None without any."""
        both = [(pair.base, pair.new) for pair in self.compared]
        return _mean([Fraction(new.final_correct - base.final_correct) for base, new in both if base and new])

    @property
    def changed_problems(self) -> tuple[str, ...]:
        """Ids of problems whose file differs between the two results."""
        return tuple(dict.fromkeys(pair.key[0] for pair in self.pairs if _differs_in(pair, "problem_sha256")))

    @property
    def n_changed_solution(self) -> int:
        """Number of items whose solution text differs."""
        return sum(_differs_in(pair, "solution_sha256") for pair in self.pairs)

    def of_kind(self, kind: Kind) -> tuple[ItemPair, ...]:
        """Return the pairs of one kind, such as `fell` or `only_in_new`."""
        return tuple(pair for pair in self.pairs if pair.kind == kind)


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition on a comparison, such as `mean<-0.01`.

    Attributes:
        text: the condition as it is shown.
        measure: key of `MEASURES`.
        bound: least value of the measure that passes; 0 where the measure is yes or no.
    """

    text: str
    measure: str
    bound: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """The outcome of one gate for a comparison.

    Attributes:
        value: of its measure, where that is one number; else None.
        keys: of the items that fired it, the worst first; for a mean, of the items whose score fell.
    """

    gate: Gate
    has_fired: bool
    value: Fraction | None
    keys: tuple[Key, ...]


def index_results(file: str, rows: Iterable[Mapping[str, Any]]) -> Results:
    """Index score rows by problem and sample id, and check that they can be compared.

    Args:
        file: name of the file, for errors.
        rows: as `score_files.score_rows` reads them.

    Errors:
        DataFileError: all faults: rows of two graders, two rows with the same ids, an invalid score.
    """
    items: dict[Key, ComparedItem] = {}
    graders: dict[Grader, int] = {}
    faults = Faults()
    for place, row in enumerate(rows, start=1):
        graders.setdefault(grader_of(row), place)
        item, fault = compared_item(row, place)
        if item is None:
            faults.add(f"row {place}: {fault}")
        elif item.key in items:
            twice = f"row {place}: {describe(item.key)} stands in row {items[item.key].place} too"
            faults.add(f"{twice}; each rollout needs a sample id of its own")
        else:
            items[item.key] = item
    if len(graders) > 1:
        places = ", ".join(f"row {place} by {name_grader(one)}" for one, place in graders.items())
        faults.add(f"graded by {len(graders)} graders: {places}")
    faults.check(Path(file))
    return Results(file, items, next(iter(graders), None))


class Grader(NamedTuple):
    """What graded a row.

    Attributes:
        version: of PRISM.
        fingerprint: SHA-256 of version, rules, grammar, constants and policy.
        schema: of the row, and its protocol behind a comma.
        rules: number of the rules; empty in rows of schemas below 6.
    """

    version: str
    fingerprint: str
    schema: str
    rules: str = ""

    @property
    def protocol(self) -> str:
        """Return the protocol of the row, empty for a grade."""
        return self.schema.partition(", ")[2]

    def is_same_as(self, other: Grader, *, across_rules: bool) -> bool:
        """Return True if rows of both may be compared: the version may differ, and with `across_rules` the rules."""
        return self.protocol == other.protocol if across_rules else self[1:] == other[1:]


def grader_of(row: Mapping[str, Any]) -> Grader:
    """Return the grader of a score row."""
    by = row["grader"] if isinstance(row["grader"], Mapping) else {}
    protocol = f", protocol {row['protocol']} ({row.get('variant')})" if row.get("protocol") else ""
    rules = by.get("rules")
    return Grader(
        str(by.get("version")), str(by.get("fingerprint")), f"{row.get('schema')}{protocol}",
        "" if rules is None else str(rules),
    )  # fmt: skip


def compared_item(row: Mapping[str, Any], place: int) -> tuple[ComparedItem | None, str]:
    """Read a score row as an item, with an empty text; or None with what is wrong with the row.

    Args:
        place: number of the row in its file, from 1.
    """
    score, status = row["score"], row["status"]
    if (score is not None) != (status in _SCORED):
        return None, f"the status {status} does not go with the score {score}"
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1):
        return None, f"the score {score} is no number from 0 to 1"
    sample = row["sample_id"]
    return ComparedItem(
        problem_id=str(row["problem_id"]), sample_id="" if sample is None else str(sample), status=str(status),
        score=None if score is None else _exact_score(score), final_correct=row.get("final_correct") is True,
        matched=tuple(row["matched"] or ()), n_incident=len(row["incidents"] or ()),
        problem_sha256=str(row.get("problem_sha256")), solution_sha256=_input_sha256(row), place=place,
        alternative=str(row.get("alternative") or ""),
    ), ""  # fmt: skip


def _input_sha256(row: Mapping[str, Any]) -> str:
    """Return the digest of a row's solution; of a protocol's row with that of the findings it was made from."""
    found = row.get("findings_sha256")
    return f"{row.get('solution_sha256')}{f' {found}' if found else ''}"


@lru_cache(maxsize=4096)
def _exact_score(score: float) -> Fraction:
    """Return a score as the exact fraction of its shortest decimal: 0.1 is 1/10, not the nearest double."""
    return Fraction(str(score))


def compare_results(
    base: Results,
    new: Results,
    *,
    allow_changed: bool = False,
    across_rules: bool = False,
    replicates: int = REPLICATES,
) -> Comparison:
    """Pair the items of two results, after checking that a comparison of them means something.

    Args:
        base, new: the results.
        allow_changed: compare also where a problem file has changed, or the options of the run.
        across_rules: compare also rows of other rules, as of an older PRISM.
        replicates: bootstrap samples behind the intervals; 0 for none.

    Errors:
        PrismError: all of these: different graders; a problem id with different files; an item whose text, problem
            and grader are the same while its grade is not.
    """
    keys = dict.fromkeys((*base.items, *new.items))
    result = Comparison(base, new, tuple(_paired_item(key, base.items.get(key), new.items.get(key)) for key in keys))
    if faults := tuple(_comparison_obstacles(result, allow_changed=allow_changed, across_rules=across_rules)):
        raise PrismError("\n".join(f"{new.file} is not compared with {base.file}: {fault}" for fault in faults))
    return replace(result, tests=_tests_of_change(result.compared, replicates))


def _tests_of_change(pairs: Iterable[ItemPair], replicates: int) -> dict[str, PairedTest]:
    """Test the changes of `score` and of `final` over pairs with two scores, each by itself."""
    both = [(pair.base, pair.new, pair.change) for pair in pairs]
    known = [(base, new, change) for base, new, change in both if base and new and change is not None]
    problems = [base.problem_id for base, _, _ in known]
    changes = {
        "score": [float(change) for _, _, change in known],
        "final": [float(new.final_correct - base.final_correct) for base, new, _ in known],
    }
    return {
        name: paired_tests([Differences(values, problems)], replicates=replicates)[0]
        for name, values in changes.items()
    }


def _paired_item(key: Key, base: ComparedItem | None, new: ComparedItem | None) -> ItemPair:
    """Pair the rows of an item in both files (None where a file lacks it) and classify the change."""
    if base is None or new is None:
        return ItemPair(key, base, new, None, "only_in_base" if new is None else "only_in_new")
    is_other_way = base.alternative != new.alternative
    if base.score is None or new.score is None:
        return ItemPair(key, base, new, None, "unscored", is_other_way=is_other_way)
    change = new.score - base.score
    is_same = base.problem_sha256 == new.problem_sha256 and not is_other_way
    one, other = (set(item.matched) if is_same else set() for item in (base, new))
    return ItemPair(
        key, base, new, change, "same" if not change else "fell" if change < 0 else "rose",
        lost=tuple(sorted(one - other)), gained=tuple(sorted(other - one)),
        has_lost_final=base.final_correct and not new.final_correct, is_other_way=is_other_way,
    )  # fmt: skip


def _comparison_obstacles(result: Comparison, *, allow_changed: bool, across_rules: bool) -> Iterator[str]:
    """Yield each reason, as a sentence, why two results must not be compared; nothing if they may be."""
    base, new = result.base.grader, result.new.grader
    if base and new and not base.is_same_as(new, across_rules=across_rules):
        yield (
            f"they are graded by {name_grader(base)} and {name_grader(new)}; grade the rollouts of the baseline again "
            "with this PRISM, take over the new results with --update-baseline"
            + (", or compare them with --across-rules" if base.protocol == new.protocol else "")
        )
        return  # all further differences follow from this one
    if allow_changed or (base and new and base[1:] != new[1:]):
        return
    if result.changed_problems:
        names = ", ".join(first_and_count(result.changed_problems))
        yield f"other problem files, to the byte, have the same id: {names}; --allow-changed compares all the same"
    same = (pair for pair in result.pairs if pair.base and pair.new and not _differs_in(pair, "problem_sha256"))
    unlike = [
        pair for pair in same
        if not _differs_in(pair, "solution_sha256") and pair.change is not None
        and (pair.change or pair.lost or pair.gained or pair.is_other_way)
    ]  # fmt: skip
    for pair in unlike[:_SHOWN_FAULTS]:
        yield (
            f"{describe(pair.key)}: text, problem and grader are the same, and the grade is not "
            f"({_score(pair.base)} and {_score(pair.new)}); was one run made with other options, as --thinking, or a "
            "row edited? --allow-changed compares all the same"
        )


def _differs_in(pair: ItemPair, name: str) -> bool:
    """Return True if both files have the item and its attribute `name`, such as `problem_sha256`, differs."""
    return pair.base is not None and pair.new is not None and getattr(pair.base, name) != getattr(pair.new, name)


# Gates. ---------------------------------------------------------------------------------------------------------


def parse_gates(
    texts: Iterable[str], *, min_mean: float | None = None, min_item: float | None = None
) -> tuple[Gate, ...]:
    """Parse the conditions of `--fail-on`, `--min-mean` and `--min-item` into gates, without repetitions.

    Args:
        texts: conditions in the grammar `GRAMMAR`, separated by commas.
        min_mean, min_item: least mean and least score of an item; None for no such gate.

    Errors:
        PrismError: all conditions that the grammar does not have.

    >>> [gate.text for gate in parse_gates(["any-drop, mean < -0.01"], min_item=0.5)]
    ['any-drop', 'mean<-0.01', 'min-item 0.5']
    """
    gates: dict[str, Gate] = {}
    faults = []
    for text in (part for whole in texts for part in whole.split(",")):
        found = _GATE.fullmatch(text)
        if text.strip().startswith("any-") and text.strip() in MEASURES:
            gate = Gate(text.strip(), text.strip())
        elif found and -1 <= Fraction(found[2]) <= 0:
            gate = Gate(f"{found[1]}<{found[2]}", found[1], Fraction(found[2]))
        else:
            hint = (
                "the number is a change, from -1 to 0" if found else "expected any-drop, any-missing, mean<-0.01, ..."
            )
            least = "; what the mean has to reach is --min-mean, and an item --min-item" if found else ""
            faults.append(f"{text.strip()!r}: {hint}{least}")
            continue
        gates.setdefault(gate.text, gate)
    for name, value in (("min-mean", min_mean), ("min-item", min_item)):
        if value is not None:
            gates.setdefault(name, Gate(f"{name} {value}", name, Fraction(str(value))))
    raise_faults(faults)
    return tuple(gates.values())


def apply_gates(result: Comparison, gates: Iterable[Gate]) -> tuple[GateOutcome, ...]:
    """Apply each gate to a comparison, in order.

    A gate of items fires if it names any; one of a mean if that is below its bound or undefined, and names none then
    that does not.
    """
    found = []
    for gate in gates:
        value, keys = _measured(result, gate)
        has_fired = bool(keys) if gate.measure in PER_ITEM else value is None or value < gate.bound
        found.append(GateOutcome(gate, has_fired, value, tuple(keys) if has_fired else ()))
    return tuple(found)


def _measured(result: Comparison, gate: Gate) -> tuple[Fraction | None, list[Key]]:
    """Return the value of a gate's measure, where it is one number, and the items that the gate is about."""
    worst = worst_first(result.pairs)
    low = sorted((item.score, item.key) for item in result.new.scored if item.score is not None)
    below = [key for score, key in low if score < gate.bound]
    match gate.measure:
        case "any-drop":
            return None, [pair.key for pair in worst if pair.is_drop]
        case "any-lost-node":
            return None, [pair.key for pair in worst if pair.lost]
        case "any-missing":
            return None, [pair.key for pair in worst if pair.is_missing]
        case "item":
            fell = [pair for pair in worst if pair.change is not None and pair.change < gate.bound]
            return fell[0].change if fell else None, [pair.key for pair in fell]
        case "mean":
            return result.mean_change, [pair.key for pair in worst if pair.kind == "fell"]
        case "final":
            return result.final_change, [pair.key for pair in result.compared if pair.has_lost_final]
        case "min-mean":
            return result.new.mean, below
    unscored = [item.key for item in result.new.items.values() if item.score is None]
    return low[0][0] if low else None, [*unscored, *below]


# Text and JSON. -------------------------------------------------------------------------------------------------------


def worst_first(pairs: Iterable[ItemPair]) -> list[ItemPair]:
    """Sort pairs by change of score, lowest first; pairs without two scores come first, ties keep their order."""
    return sorted(pairs, key=lambda pair: -2 if pair.change is None else pair.change)


def describe(key: Key) -> str:
    r"""Write an item's ids as `PROBLEM/SAMPLE` on one line; line breaks become blanks, control characters text.

    >>> describe(("free_fall", "3")), describe(("free_fall", "")), describe(("p", "a\n::error::b"))
    ('free_fall/3', 'free_fall', 'p/a ::error::b')
    """
    return visible(" ".join("/".join(part for part in key if part).split()))


def describe_pair(pair: ItemPair) -> str:
    """Describe the change of an item in one line.

    >>> item = ComparedItem("p", "1", "ok", Fraction(1), True, (1, 2), 0, "", "", 1)
    >>> describe_pair(_paired_item(item.key, item, None))
    'stands in the base only, with 1'
    """
    if pair.new is None or pair.base is None:
        return f"stands in the {'base' if pair.new is None else 'new file'} only, with {_score(pair.base or pair.new)}"
    words = [f"score {_score(pair.base)} -> {_score(pair.new)}"]
    if pair.change:
        words[0] += f" ({signed(pair.change)})"
    if pair.change is not None:
        words += [f"{word} {', '.join(map(str, nodes))}" for word, nodes in
                  (("lost node", pair.lost), ("gained node", pair.gained)) if nodes]  # fmt: skip
    words += ["final answers were right"] if pair.has_lost_final else []
    return "; ".join(words)


def describe_outcome(one: GateOutcome) -> str:
    """Describe a gate's outcome in one line, without the gate's name: its value and how many items fired it."""
    value = "" if one.value is None else decimal(one.value) if one.gate.measure[:3] == "min" else signed(one.value)
    n = len(one.keys)
    items = count_of(n, "item") if n else ""
    if one.has_fired and not n and one.value is None:
        items = "no item has a score to judge"
    return "; ".join(part for part in (value, items) if part) or "nothing"


def decimal(value: Fraction | None) -> str:
    """Write a value with at most six digits; `none` for None.

    >>> decimal(Fraction(1, 3)), decimal(Fraction(1)), decimal(None)
    ('0.333333', '1', 'none')
    """
    return "none" if value is None else f"{round(float(value), DIGITS):g}"


def signed(value: Fraction) -> str:
    """Write a change with its sign: `+0.5`."""
    return f"{'+' if value > 0 else ''}{decimal(value)}"


def to_dict(result: Comparison, gates: Iterable[GateOutcome]) -> dict[str, Any]:
    """Return a comparison as plain values for JSON: both files, the changes, the gates, each item that changed."""
    gates = tuple(gates)
    missing: tuple[Kind, ...] = ("only_in_base", "only_in_new", "unscored")
    counted: tuple[Kind, ...] = ("fell", "rose", "same")
    found: dict[str, Any] = plain({
        "base": _results_facts(result.base), "new": _results_facts(result.new), "compared": len(result.compared),
        "mean_change": result.mean_change, "final_change": result.final_change,
        **{kind: len(result.of_kind(kind)) for kind in counted},
        **{kind: [_ids(pair.key) for pair in result.of_kind(kind)] for kind in missing},
        "changed_problems": result.changed_problems, "changed_solutions": result.n_changed_solution,
        "passed": not any(one.has_fired for one in gates),
        "gates": [
            {"gate": one.gate.text, "fired": one.has_fired, "value": one.value, "ids": list(map(_ids, one.keys))}
            for one in gates
        ],
        "items": [
            {
                **_ids(pair.key), "kind": pair.kind, "base": pair.base and pair.base.score,
                "new": pair.new and pair.new.score, "change": pair.change, "lost": pair.lost, "gained": pair.gained,
                "final_lost": pair.has_lost_final,
            }
            for pair in worst_first(result.pairs)
            if pair.has_changed
        ],
    }, DIGITS)  # fmt: skip
    return {**found, "tests": {name: test.to_dict() for name, test in result.tests.items()}}


def _results_facts(results: Results) -> dict[str, Any]:
    """Return counts and mean of a results file."""
    return {
        "file": results.file, "items": len(results.items), "scored": len(results.scored), "mean": results.mean,
        "incidents": results.n_incident,
    }  # fmt: skip


def _ids(key: Key) -> dict[str, str]:
    """Return the ids of an item by the names that JSON has for them."""
    return {"problem_id": key[0], "sample_id": key[1]}


def _mean(values: list[Fraction]) -> Fraction | None:
    """Return the exact mean of fractions; None for an empty list."""
    return sum((value * n for value, n in Counter(values).items()), Fraction(0)) / len(values) if values else None


def _score(item: ComparedItem | None) -> str:
    """Write the score of an item with at most six digits: `0.5`; `none (STATUS)` without score, `none` without item."""
    return "none" if item is None else decimal(item.score) if item.score is not None else f"none ({item.status})"


def name_grader(grader: Grader) -> str:
    """Name a grader: version, number of the rules, start of the fingerprint, schema of its rows."""
    version, fingerprint, schema, rules = map(visible, grader)
    by = f"rules {rules}, " if rules else ""
    return f"PRISM {version} ({by}{fingerprint[:_SHOWN_HEX]}, rows of schema {schema})"


def first_and_count(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the first 20 texts, followed by `and N more` if there are more."""
    every = tuple(texts)
    more = len(every) - _SHOWN_FAULTS
    return (*every[:_SHOWN_FAULTS], f"and {more} more") if more > 0 else every
