"""The files of EngTrace: golds and predictions as the benchmark writes them, votes of judges, measures of texts.

A trace is named by its `id` and `seed`, a prediction by these and its `sample_id`. Golds and predictions stand in two
files, or in one whose rows have both. Every reader collects all faults of all entries before it raises them.

Tier 2: what judges say of a pair of steps, read as data, and what is made of several judges.

Each vote gives a class, or the score itself. Classes are those of the released script; for the score there are three:
1 for a step that is right another way, 1/2 for the right formula with a wrong number, 0 for the rest. What the script
writes where its judge failed is no vote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from prism.inputs import shown
from prism.problem.shapes import (
    PASSES_UNKNOWN,
    Id,
    LoadReport,
    Reader,
    Text,
    WholeSentenceError,
    exact_number,
    one_of,
    quoted_value,
    read_shape,
    whole_number,
)
from prism.protocols.entry_files import ENTRY, Entry, EntryFile, Table, read_entries

CLASS_SCORES: dict[str, Fraction] = {
    "Alternative Correct": Fraction(1),
    "Calculation Error": Fraction(1, 2),
    "Input Error": Fraction(1, 2),
    "Conceptual Error": Fraction(0),
    "Other": Fraction(0),
}
"""The five classes that a judge chooses from. The paper's scores are not readable; these are ours."""

NO_VOTE = ("Analysis Skipped", "Analysis Failed", "Formatting Error")
"""What the released script writes in place of a class where its judge gave none."""


@dataclass(frozen=True, slots=True)
class Vote:
    """What one judge says of a pair of steps.

    Attributes:
        answer: the class, or the score as it was written.
        score: None where the judge gave none.
    """

    judge: str
    answer: str
    score: Fraction | None


def consensus(votes: Sequence[Vote]) -> Fraction | None:
    """Return the score that more than half of the judges give, else the lowest; None if none gives any.

    >>> consensus([Vote("A", "1", Fraction(1)), Vote("B", "1", Fraction(1)), Vote("C", "0", Fraction(0))])
    Fraction(1, 1)
    >>> consensus([Vote("A", "1", Fraction(1)), Vote("B", "0", Fraction(0))])
    Fraction(0, 1)
    """
    scores = [vote.score for vote in votes if vote.score is not None]
    if not scores:
        return None
    score, n = Counter(scores).most_common(1)[0]
    return score if 2 * n > len(scores) else min(scores)


def in_words(votes: Sequence[Vote]) -> tuple[str, ...]:
    """Return votes as findings, in the order of the judges' names: `vote A: Alternative Correct`."""
    return tuple(f"vote {vote.judge}: {vote.answer}" for vote in sorted(votes, key=lambda one: (one.judge, one.answer)))


T = TypeVar("T")
GROUPS = ("level", "branch", "domain", "area")  # fields of the benchmark that go beside each score
Name = tuple[str, str]  # id and seed of a trace; the seed is empty where there is none
Place = tuple[int, int]  # gold step and predicted step, from 0


def _gold_text(value: Any) -> str:
    """Return a gold trace; raises ValueError for what is no text, or empty."""
    if not isinstance(value, str):
        raise ValueError("is no text")
    if not value.strip():
        raise WholeSentenceError("is empty; a gold trace has at least one step")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class _GoldRow:
    """What is read of a row with a gold trace."""

    __pydantic_config__: ClassVar = PASSES_UNKNOWN
    id: Id
    seed: Id = ""
    solution: Annotated[str, Reader(_gold_text)]
    question: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PredictionRow:
    """What is read of a row with a prediction."""

    __pydantic_config__: ClassVar = PASSES_UNKNOWN
    id: Id
    seed: Id = ""
    sample_id: Id = ""
    generation: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PairRow:
    """What names a pair of steps."""

    id: Id
    seed: Id = ""
    sample_id: Id = ""
    gold_step: Annotated[int, whole_number(1)]
    predicted_step: Annotated[int, whole_number(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _VoteRow(_PairRow):
    """A vote."""

    judge: Id
    class_: Annotated[str | None, one_of((*CLASS_SCORES, *NO_VOTE))] = None
    score: Annotated[Fraction | None, exact_number(0, 1)] = None
    explanation: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShareRow(_PairRow):
    """A measure of two texts; it may lie outside of 0 to 1, as that of a cross-encoder may."""

    similarity: Annotated[Fraction, exact_number()]


@dataclass(frozen=True, slots=True)
class Gold:
    """A problem with its gold trace."""

    name: Name
    solution: str
    question: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted trace.

    Attributes:
        sample_id: empty where the row has none.
        generation: empty where it is null.
    """

    name: Name
    sample_id: str
    generation: str
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PairEntry:
    """What an entry says of a pair of steps: a vote, or a measure of their texts."""

    name: Name
    sample_id: str
    place: Place
    vote: Vote | None = None
    share: Fraction | None = None


@dataclass(frozen=True, slots=True)
class TracePair:
    """A prediction with its gold, and what files say of its pairs of steps.

    Attributes:
        problem_id: the id, with the seed behind it where there is one: `pipe_friction-3`.
        votes, shares: by gold step and predicted step; `shares` is None where no file gives any.
        entries: of these files, on this prediction.
        notes: on the row of the prediction, where it had to be repaired.
    """

    gold: Gold
    prediction: Prediction
    sample_id: str
    votes: Mapping[Place, Sequence[Vote]] = field(default_factory=dict)
    shares: Mapping[Place, Fraction] | None = None
    entries: tuple[Entry[PairEntry], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def problem_id(self) -> str:
        """The name of the trace as one id."""
        return "-".join(filter(None, self.gold.name))


@dataclass(frozen=True, slots=True)
class TraceFiles:
    """All that the files hold, in the order of the predictions, and what is to be told of them on standard error."""

    pairs: tuple[TracePair, ...]
    warnings: tuple[tuple[Path, str], ...] = ()
    n_unpredicted: int = 0


def read_traces(
    golds: Path,
    predictions: Path | None = None,
    *,
    votes: Path | None = None,
    shares: Path | None = None,
    keep: Sequence[str] = (),
) -> TraceFiles:
    """Read all files of a run.

    Args:
        golds: rows with `solution`; with `generation` too where there is no second file.
        predictions: rows with `generation`.
        votes, shares: entries on pairs of steps.
        keep: further fields of a prediction that go beside its score.

    Errors:
        DataFileError: all faults of a file; a prediction without gold; an entry on no prediction.
    """
    if predictions is None:
        both = read_entries(
            golds, lambda row, report: (_gold(row, report), _prediction(row, report, keep)), is_checked=False
        )
        of_golds: EntryFile[Gold] = _part_of(both, lambda value: value[0])
        of_predictions: EntryFile[Prediction] = _part_of(both, lambda value: value[1])
    else:
        of_golds = read_entries(golds, _gold, is_checked=False)
        of_predictions = read_entries(predictions, lambda row, report: _prediction(row, report, keep), is_checked=False)
    by_name = _golds_by_name(of_golds)
    pairs = _with_golds(of_predictions, by_name)
    files = [(of_predictions.path, one) for one in of_predictions.warnings]
    for path, reader in ((votes, _vote), (shares, _share)):
        if path is not None:
            entries = read_entries(path, reader, is_checked=False)
            pairs = _with_entries(pairs, entries, is_votes=reader is _vote)
            files += [(path, one) for one in entries.warnings]
    predicted = {pair.gold.name for pair in pairs}
    return TraceFiles(tuple(pairs), tuple(files), len(by_name.keys() - predicted))


# Rows. ----------------------------------------------------------------------------------------------------------


def _gold(row: Table, report: LoadReport) -> Gold:
    """Read the gold of a row."""
    found = read_shape(_GoldRow, row, report, ENTRY)
    groups = {key: row[key] for key in GROUPS if row.get(key) is not None}
    return Gold((found.id, found.seed), found.solution, found.question, groups)


def _prediction(row: Table, report: LoadReport, keep: Sequence[str]) -> Prediction:
    """Read the prediction of a row; a null is an empty text, a missing one a fault."""
    if "generation" not in row:
        report.faults.append("generation: is missing; a null stands for a model that gave none")
    found = read_shape(_PredictionRow, row, report, ENTRY)
    kept = {key: row[key] for key in keep if key in row}
    return Prediction((found.id, found.seed), found.sample_id, found.generation, kept)


def _part_of(both: EntryFile[tuple[Gold, Prediction]], part: Callable[[tuple[Gold, Prediction]], T]) -> EntryFile[T]:
    """Return one half of a file whose rows hold gold and prediction."""
    entries = tuple(Entry(part(one.value), one.place, one.notes, one.sha256) for one in both.entries)
    return EntryFile(both.path, entries, both.warnings, both.faults)


def _golds_by_name(file: EntryFile[Gold]) -> dict[Name, Gold]:
    """Return the golds by their name; two of one name must say the same."""
    faults, found, places = file.faults, dict[Name, Gold](), dict[Name, str]()
    for entry in file.entries:
        gold = entry.value
        if gold.name in found and found[gold.name].solution != gold.solution:
            faults.add(f"another solution than in {places[gold.name]}, for {_trace_name(gold.name)}", entry.place)
        found.setdefault(gold.name, gold)
        places.setdefault(gold.name, entry.place)
    faults.check(file.path)
    return found


def _with_golds(file: EntryFile[Prediction], golds: Mapping[Name, Gold]) -> list[TracePair]:
    """Return the predictions with their golds; a prediction without sample id is named by its place in the file."""
    faults, pairs, taken = file.faults, list[TracePair](), dict[tuple[Name, str], str]()
    for number, entry in enumerate(file.entries, start=1):
        one = entry.value
        sample_id = one.sample_id or str(number)
        if one.name not in golds:
            faults.add(f"no gold has {_trace_name(one.name)}", entry.place)
        elif (earlier := taken.setdefault((one.name, sample_id), entry.place)) != entry.place:
            faults.add(f"sample_id: {shown(sample_id)} of {_trace_name(one.name)} stands in {earlier} too", entry.place)
        else:
            pairs.append(TracePair(golds[one.name], one, sample_id, notes=entry.notes))
    faults.check(file.path)
    return pairs


def _trace_name(name: Name) -> str:
    """Return the name of a trace in words."""
    return f"id {shown(name[0])}" + (f", seed {name[1]}" if name[1] else "")


# Entries on pairs of steps. -------------------------------------------------------------------------------------


def _vote(table: Table, report: LoadReport) -> PairEntry:
    """Read a vote: a judge with a class, or with a score from 0 to 1."""
    row = read_shape(_VoteRow, table, report, ENTRY)
    if (table.get("class") is None) == (table.get("score") is None):
        report.faults.append("class, score: one of them is needed, and not both")
    score = CLASS_SCORES.get(row.class_) if row.class_ else row.score
    return _pair(row, vote=Vote(row.judge, row.class_ or quoted_value(table.get("score")), score))


def _share(table: Table, report: LoadReport) -> PairEntry:
    """Read a measure of two texts."""
    row = read_shape(_ShareRow, table, report, ENTRY)
    return _pair(row, share=row.similarity)


def _pair(row: _PairRow, *, vote: Vote | None = None, share: Fraction | None = None) -> PairEntry:
    """Return what an entry says of a pair of steps, which count from 1 in the file."""
    return PairEntry((row.id, row.seed), row.sample_id, (row.gold_step - 1, row.predicted_step - 1), vote, share)


def _with_entries(pairs: Sequence[TracePair], file: EntryFile[PairEntry], *, is_votes: bool) -> list[TracePair]:
    """Give each prediction the entries on it; an entry without sample id is on the only prediction of its trace."""
    faults = file.faults
    samples: dict[Name, list[str]] = {}
    for pair in pairs:
        samples.setdefault(pair.gold.name, []).append(pair.sample_id)
    of_sample: dict[tuple[Name, str], list[Entry[PairEntry]]] = {}
    seen: dict[tuple[Any, ...], str] = {}
    for entry in file.entries:
        one = entry.value
        there = samples.get(one.name, [])
        sample_id = one.sample_id or (there[0] if len(there) == 1 else "")
        if sample_id not in there:
            said = f", sample_id {shown(sample_id)}" if sample_id else ""
            faults.add(f"no one prediction has {_trace_name(one.name)}{said}", entry.place)
            continue
        key = one.name, sample_id, one.place, one.vote.judge if one.vote else ""
        if (earlier := seen.setdefault(key, entry.place)) != entry.place:
            faults.add(f"stands in {earlier} too: the same steps{', the same judge' * is_votes}", entry.place)
        of_sample.setdefault((one.name, sample_id), []).append(entry)
    faults.check(file.path)
    return [_with_own(pair, of_sample.get((pair.gold.name, pair.sample_id), []), is_votes=is_votes) for pair in pairs]


def _with_own(pair: TracePair, entries: Sequence[Entry[PairEntry]], *, is_votes: bool) -> TracePair:
    """Return a prediction with the entries on it, which are votes or measures."""
    votes: dict[Place, list[Vote]] = {}
    shares: dict[Place, Fraction] = {}
    for entry in entries:
        one = entry.value
        if one.vote is not None:
            votes.setdefault(one.place, []).append(one.vote)
        if one.share is not None:
            shares[one.place] = one.share
    both = (*pair.entries, *entries)
    return replace(pair, votes=votes, entries=both) if is_votes else replace(pair, shares=shares, entries=both)
