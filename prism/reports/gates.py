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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from prism.errors import DataFileError, PrismError

GRAMMAR = """\
gate    = "any-drop" | "any-lost-node" | "any-missing" | measure "<" number
measure = "item" | "mean" | "final"
number  = a decimal from -1 to 0
"""
"""Of `--fail-on`. All of it is about changes; what a result has to reach by itself is `--min-mean` and `--min-item`."""

MEASURES = {
    "any-drop": "an item has a lower score, has lost a right final answer or its score, or stands in one file only",
    "any-lost-node": "an item does not match a node that it matched; the score may be the same, by way of the closure",
    "any-missing": "an item stands in one file only",
    "item": "the change of the score of one item",
    "mean": "the change of the mean score",
    "final": "the change of the share of items whose final answers are all right",
    "min-item": "the score of each item of the new file",
    "min-mean": "the mean score of the new file",
}
"""What a gate is about."""

_GATE = re.compile(r"\s*(item|mean|final)\s*<\s*(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))\s*")
_SCORED = ("ok", "too_large")  # statuses of rows that have a score
_DIGITS = 6  # of what is shown; gates see exact values
_SHOWN_FAULTS = 20  # of a file, or of a pair of files; the rest is counted
_SHOWN_HEX = 12  # of a sha256

Key = tuple[str, str]
"""Problem id and sample id; a row without a sample id has an empty one."""

Kind = Literal["fell", "rose", "same", "only_in_base", "only_in_new", "unscored"]


@dataclass(frozen=True, slots=True)
class Item:
    """What a comparison needs of a score row.

    Attributes:
        score: exact; None where the grader failed.
        matched: node indices.
        place: number of its row, from 1.
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

    @property
    def key(self) -> Key:
        """What the other file has to have too."""
        return self.problem_id, self.sample_id


@dataclass(frozen=True, slots=True)
class Results:
    """A file of score rows of one grader.

    Attributes:
        file: its name.
        items: by key, in file order.
        grader: version, fingerprint, and schema of the rows; None if there are none.
    """

    file: str
    items: Mapping[Key, Item]
    grader: tuple[str, str, str] | None

    @property
    def scored(self) -> tuple[Item, ...]:
        """Items that have a score."""
        return tuple(item for item in self.items.values() if item.score is not None)

    @property
    def mean(self) -> Fraction | None:
        """Of the scores there are; None without any."""
        return _mean([item.score for item in self.items.values() if item.score is not None])

    @property
    def n_incident(self) -> int:
        """Failures of the grader."""
        return sum(item.n_incident for item in self.items.values())


@dataclass(frozen=True, slots=True)
class Pair:
    """One item in both files, or in the one that has it; made by `_pair`.

    Attributes:
        change: of the score; None unless both have one.
        kind: in one word what became of the item.
    """

    key: Key
    base: Item | None
    new: Item | None
    change: Fraction | None
    kind: Kind

    @property
    def has_lost_final(self) -> bool:
        """Its final answers were right, and are not."""
        if self.change is None or self.base is None or self.new is None:
            return False
        return self.base.final_correct and not self.new.final_correct

    @property
    def has_lost_score(self) -> bool:
        """The grader failed on what it has graded before."""
        had = self.base is not None and self.base.score is not None
        return had and self.new is not None and self.new.score is None

    @property
    def is_missing(self) -> bool:
        """It stands in one file only."""
        return self.base is None or self.new is None

    @property
    def has_changed(self) -> bool:
        """There is something to tell of it."""
        return self.kind != "same" or bool(self.lost or self.gained) or self.has_lost_final

    @property
    def is_drop(self) -> bool:
        """See `MEASURES`."""
        return self.kind == "fell" or self.has_lost_final or self.has_lost_score or self.is_missing

    @property
    def lost(self) -> tuple[int, ...]:
        """Nodes that are matched no more; none where the problem file is another."""
        return _without(self.base, self.new)

    @property
    def gained(self) -> tuple[int, ...]:
        """Nodes that are matched now, and were not."""
        return _without(self.new, self.base)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two results side by side.

    Attributes:
        pairs: in the order of the base; then what only the new file has.
    """

    base: Results
    new: Results
    pairs: tuple[Pair, ...]

    @property
    def compared(self) -> tuple[Pair, ...]:
        """Pairs with two scores: what means are about."""
        return tuple(pair for pair in self.pairs if pair.change is not None)

    @property
    def mean_change(self) -> Fraction | None:
        """Of the score, over what is compared."""
        return _mean([pair.change for pair in self.pairs if pair.change is not None])

    @property
    def final_change(self) -> Fraction | None:
        """Of the share of right final answers, over what is compared."""
        both = [(pair.base, pair.new) for pair in self.compared]
        return _mean([Fraction(new.final_correct - base.final_correct) for base, new in both if base and new])

    @property
    def changed_problems(self) -> tuple[str, ...]:
        """Problems whose file is another, by id."""
        return tuple(dict.fromkeys(pair.key[0] for pair in self.pairs if _differ(pair, "problem_sha256")))

    @property
    def n_changed_solution(self) -> int:
        """Items whose text is another."""
        return sum(_differ(pair, "solution_sha256") for pair in self.pairs)

    def of_kind(self, kind: Kind) -> tuple[Pair, ...]:
        """The pairs of one kind."""
        return tuple(pair for pair in self.pairs if pair.kind == kind)


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition on a comparison.

    Attributes:
        text: as it is shown.
        measure: key of `MEASURES`.
        bound: what the measure must not be below; 0 where the measure is yes or no.
    """

    text: str
    measure: str
    bound: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a gate says of a comparison.

    Attributes:
        value: of its measure, where that is one number.
        keys: of the items that fired it, the worst first; of a mean, those that fell.
    """

    gate: Gate
    has_fired: bool
    value: Fraction | None
    keys: tuple[Key, ...]


def results_of(file: str, rows: Iterable[Mapping[str, Any]]) -> Results:
    """The results in score rows, as `score_files.score_rows` reads them.

    Errors:
        DataFileError: rows of two graders, two rows with the same ids, a score that is none; all of them.
    """
    items: dict[Key, Item] = {}
    graders: dict[tuple[str, str, str], int] = {}
    faults: list[str] = []
    for place, row in enumerate(rows, start=1):
        by = row["grader"] if isinstance(row["grader"], Mapping) else {}
        graders.setdefault((str(by.get("version")), str(by.get("fingerprint")), str(row.get("schema"))), place)
        item, fault = _item(row, place)
        if item is None:
            faults.append(f"row {place}: {fault}")
        elif item.key in items:
            said = (
                f"{told(item.key)} stands in row {items[item.key].place} too; each rollout needs a sample id of its own"
            )
            faults.append(f"row {place}: {said}")
        else:
            items[item.key] = item
    if len(graders) > 1:
        places = ", ".join(f"row {place} by {_grader(one)}" for one, place in graders.items())
        faults.append(f"graded by {len(graders)} graders: {places}")
    if faults:
        raise DataFileError(file, _at_most(faults))
    return Results(file, items, next(iter(graders), None))


def _item(row: Mapping[str, Any], place: int) -> tuple[Item | None, str]:
    """The item of a row, or what is wrong with the row."""
    score, status = row["score"], row["status"]
    if (score is not None) != (status in _SCORED):
        return None, f"the status {status} does not go with the score {score}"
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1):
        return None, f"the score {score} is no number from 0 to 1"
    sample = row["sample_id"]
    return Item(
        problem_id=str(row["problem_id"]), sample_id="" if sample is None else str(sample), status=str(status),
        score=None if score is None else _exact(score), final_correct=row.get("final_correct") is True,
        matched=tuple(row["matched"] or ()), n_incident=len(row["incidents"] or ()),
        problem_sha256=str(row.get("problem_sha256")), solution_sha256=str(row.get("solution_sha256")), place=place,
    ), ""  # fmt: skip


@lru_cache(maxsize=4096)
def _exact(score: float) -> Fraction:
    """The decimal that a score is written as, not the double nearest to it."""
    return Fraction(str(score))


def compared(base: Results, new: Results, *, allow_changed: bool = False) -> Comparison:
    """Two results, item by item.

    Args:
        allow_changed: compare also where a problem file has changed, or the options of the run.

    Errors:
        PrismError: another grader; a problem with the same id and another file; and an item of which text, problem
            and grader are the same and the grade is not. All of them.
    """
    keys = dict.fromkeys((*base.items, *new.items))
    result = Comparison(base, new, tuple(_pair(key, base.items.get(key), new.items.get(key)) for key in keys))
    if faults := tuple(_refusals(result, allow_changed=allow_changed)):
        raise PrismError("\n".join(f"{new.file} is not compared with {base.file}: {fault}" for fault in faults))
    return result


def _pair(key: Key, base: Item | None, new: Item | None) -> Pair:
    if base is None or new is None:
        return Pair(key, base, new, None, "only_in_base" if new is None else "only_in_new")
    if base.score is None or new.score is None:
        return Pair(key, base, new, None, "unscored")
    change = new.score - base.score
    return Pair(key, base, new, change, "same" if not change else "fell" if change < 0 else "rose")


def _refusals(result: Comparison, *, allow_changed: bool) -> Iterator[str]:
    base, new = result.base.grader, result.new.grader
    if base and new and base[1:] != new[1:]:
        yield (
            f"they are graded by {_grader(base)} and {_grader(new)}; grade the rollouts of the baseline again with "
            "this PRISM, or take over the new results with --update-baseline"
        )
        return  # what follows from it is not told
    if allow_changed:
        return
    if result.changed_problems:
        names = ", ".join(_at_most(result.changed_problems))
        yield f"other problem files, to the byte, have the same id: {names}; --allow-changed compares all the same"
    same = (pair for pair in result.pairs if pair.base and pair.new and not _differ(pair, "problem_sha256"))
    unlike = [pair for pair in same if not _differ(pair, "solution_sha256") and _has_other_grade(pair)]
    for pair in unlike[:_SHOWN_FAULTS]:
        yield (
            f"{told(pair.key)}: text, problem and grader are the same, and the grade is not ({_score(pair.base)} and "
            f"{_score(pair.new)}); was one run made with other options, as --thinking, or a row edited? "
            "--allow-changed compares all the same"
        )


def _has_other_grade(pair: Pair) -> bool:
    return pair.change is not None and bool(pair.change or pair.lost or pair.gained)


def _differ(pair: Pair, name: str) -> bool:
    return pair.base is not None and pair.new is not None and getattr(pair.base, name) != getattr(pair.new, name)


# Gates. ---------------------------------------------------------------------------------------------------------


def gates_of(texts: Iterable[str], *, min_mean: float | None = None, min_item: float | None = None) -> tuple[Gate, ...]:
    """Gates in the words of `GRAMMAR`, several in one text with commas between; then those of the least values.

    Errors:
        PrismError: what the grammar does not have; all of it.

    >>> [gate.text for gate in gates_of(["any-drop, mean < -0.01"], min_item=0.5)]
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
    if faults:
        raise PrismError("\n".join(faults))
    return tuple(gates.values())


def judged(result: Comparison, gates: Iterable[Gate]) -> tuple[Judged, ...]:
    """What each gate says, in their order."""
    return tuple(_JUDGES[gate.measure](result, gate) for gate in gates)


def _judged_drop(result: Comparison, gate: Gate) -> Judged:
    keys = tuple(pair.key for pair in worst_first(result.pairs) if pair.is_drop)
    return Judged(gate, bool(keys), None, keys)


def _judged_lost_node(result: Comparison, gate: Gate) -> Judged:
    keys = tuple(pair.key for pair in worst_first(result.pairs) if pair.lost)
    return Judged(gate, bool(keys), None, keys)


def _judged_missing(result: Comparison, gate: Gate) -> Judged:
    keys = tuple(pair.key for pair in result.pairs if pair.is_missing)
    return Judged(gate, bool(keys), None, keys)


def _judged_item(result: Comparison, gate: Gate) -> Judged:
    low = [pair for pair in worst_first(result.compared) if pair.change is not None and pair.change < gate.bound]
    keys = tuple(pair.key for pair in low)
    return Judged(gate, bool(keys), low[0].change if low else None, keys)


def _judged_mean(result: Comparison, gate: Gate) -> Judged:
    value = result.mean_change
    has_fired = value is None or value < gate.bound  # what cannot be known does not pass
    fell = tuple(pair.key for pair in worst_first(result.compared) if pair.kind == "fell")
    return Judged(gate, has_fired, value, fell if has_fired else ())


def _judged_final(result: Comparison, gate: Gate) -> Judged:
    value = result.final_change
    has_fired = value is None or value < gate.bound
    return Judged(
        gate, has_fired, value, tuple(p.key for p in result.compared if p.has_lost_final) if has_fired else ()
    )


def _judged_least_mean(result: Comparison, gate: Gate) -> Judged:
    value = result.new.mean
    has_fired = value is None or value < gate.bound
    low = sorted((item.score, item.key) for item in result.new.scored if item.score is not None)
    return Judged(gate, has_fired, value, tuple(key for score, key in low if score < gate.bound) if has_fired else ())


def _judged_least_item(result: Comparison, gate: Gate) -> Judged:
    """A row without score has not reached anything."""
    unscored = [item.key for item in result.new.items.values() if item.score is None]
    low = sorted((item.score, item.key) for item in result.new.scored if item.score is not None)
    keys = (*unscored, *(key for score, key in low if score < gate.bound))
    return Judged(gate, bool(keys), low[0][0] if low else None, keys)


_JUDGES: dict[str, Callable[[Comparison, Gate], Judged]] = {
    "any-drop": _judged_drop,
    "any-lost-node": _judged_lost_node, "any-missing": _judged_missing, "item": _judged_item, "mean": _judged_mean,
    "final": _judged_final, "min-mean": _judged_least_mean, "min-item": _judged_least_item,
}  # fmt: skip


# Telling. -------------------------------------------------------------------------------------------------------


def worst_first(pairs: Iterable[Pair]) -> list[Pair]:
    """Items that are gone or have no score, then by their change, the lowest first; else in their order."""
    return sorted(pairs, key=lambda pair: -2 if pair.change is None else pair.change)


def told(key: Key) -> str:
    r"""An item in one line: the problem, and behind a stroke the sample. An id may hold anything, and starts no line.

    >>> told(("free_fall", "3")), told(("free_fall", "")), told(("p", "a\n::error::b"))
    ('free_fall/3', 'free_fall', 'p/a ::error::b')
    """
    return " ".join("/".join(part for part in key if part).split())


def told_pair(pair: Pair) -> str:
    """What became of an item, in one line.

    >>> item = Item("p", "1", "ok", Fraction(1), True, (1, 2), 0, "", "", 1)
    >>> told_pair(_pair(item.key, item, None))
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


def told_judged(one: Judged) -> str:
    """What a gate says, in one line without its name."""
    value = "" if one.value is None else decimal(one.value) if one.gate.measure[:3] == "min" else signed(one.value)
    n = len(one.keys)
    items = f"{n} item{'' if n == 1 else 's'}" if n else ""
    if one.has_fired and not n and one.value is None:
        items = "no item has a score to judge"
    return "; ".join(part for part in (value, items) if part) or "nothing"


def decimal(value: Fraction | None) -> str:
    """A value as people write it; `none` where there is none.

    >>> decimal(Fraction(1, 3)), decimal(Fraction(1)), decimal(None)
    ('0.333333', '1', 'none')
    """
    return "none" if value is None else f"{round(float(value), _DIGITS):g}"


def signed(value: Fraction) -> str:
    """A change, with its sign."""
    return f"{'+' if value > 0 else ''}{decimal(value)}"


def to_dict(result: Comparison, gates: Iterable[Judged]) -> dict[str, Any]:
    """Plain values for JSON: both files in short, the changes, every gate, and each item that is not the same."""
    gates = tuple(gates)
    return {
        "base": _summary(result.base), "new": _summary(result.new), "compared": len(result.compared),
        "mean_change": rounded(result.mean_change), "final_change": rounded(result.final_change),
        **{kind: len(result.of_kind(kind)) for kind in ("fell", "rose", "same")},
        **{kind: [_ids(pair.key) for pair in result.of_kind(kind)]
           for kind in ("only_in_base", "only_in_new", "unscored")},
        "changed_problems": list(result.changed_problems), "changed_solutions": result.n_changed_solution,
        "passed": not any(one.has_fired for one in gates),
        "gates": [
            {"gate": one.gate.text, "fired": one.has_fired, "value": rounded(one.value),
             "ids": [_ids(key) for key in one.keys]}
            for one in gates
        ],
        "items": [_changes(pair) for pair in worst_first(result.pairs) if pair.has_changed],
    }  # fmt: skip


def _summary(results: Results) -> dict[str, Any]:
    return {
        "file": results.file, "items": len(results.items), "scored": len(results.scored),
        "mean": rounded(results.mean), "incidents": results.n_incident,
    }  # fmt: skip


def _ids(key: Key) -> dict[str, str]:
    return {"problem_id": key[0], "sample_id": key[1]}


def _changes(pair: Pair) -> dict[str, Any]:
    return {
        **_ids(pair.key), "kind": pair.kind, "base": rounded(pair.base.score if pair.base else None),
        "new": rounded(pair.new.score if pair.new else None), "change": rounded(pair.change),
        "lost": list(pair.lost), "gained": list(pair.gained), "final_lost": pair.has_lost_final,
    }  # fmt: skip


def rounded(value: Fraction | None) -> float | None:
    """For JSON, with the digits of a score."""
    return None if value is None else round(float(value), _DIGITS)


def _mean(values: list[Fraction]) -> Fraction | None:
    """Exact; equal values, of which there are many, are added at once."""
    return sum((value * n for value, n in Counter(values).items()), Fraction(0)) / len(values) if values else None


def _without(one: Item | None, other: Item | None) -> tuple[int, ...]:
    """Nodes that one matches and the other does not, where both have a score and the nodes are the same."""
    if one is None or other is None or one.score is None or other.score is None:
        return ()
    is_same = one.problem_sha256 == other.problem_sha256
    return tuple(sorted(set(one.matched) - set(other.matched))) if is_same else ()


def _score(item: Item | None) -> str:
    return "none" if item is None else decimal(item.score) if item.score is not None else f"none ({item.status})"


def _grader(grader: tuple[str, str, str]) -> str:
    version, fingerprint, schema = grader
    return f"PRISM {version} ({fingerprint[:_SHOWN_HEX]}, rows of schema {schema})"


def _at_most(texts: Iterable[str]) -> tuple[str, ...]:
    """The first of them, and how many more there are."""
    every = tuple(texts)
    more = len(every) - _SHOWN_FAULTS
    return (*every[:_SHOWN_FAULTS], f"and {more} more") if more > 0 else every
