r"""Judgements: what people and judge models said of solutions, in the files of others.

A file is told by what it holds, not by its name: rows of PRISM, samples of lm-eval, logs of Inspect (`.json`, or
`.eval`, a zip), output of promptfoo, judgements of FastChat's MT-bench, output of an OpenAI batch, or a table of any
other make, in which the fields are looked for by name or said by a map. A judgement without a readable score stays,
with the reason: what is missing is never a 0.

Read in the sources of lm-evaluation-harness (`loggers/evaluation_tracker.py`), inspect_ai (`log/_log.py`,
`scorer/_metric.py`), promptfoo (`src/types/index.ts`), FastChat (`llm_judge/common.py`) and OpenAI's batch reference.
"""

from __future__ import annotations

import json
import math
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from prism.errors import DataFileError
from prism.runs.records import ABSENT, Keys, at_path, fields_told, id_of, mapped, records
from prism.runs.score_files import is_score_row

SCORE_FIELDS = (
    "score", "grade", "rating", "judge_score", "human_score", "graded_correct", "is_correct", "correct", "passed",
    "pass", "verdict", "label", "value", "points",
)  # fmt: skip
"""Where a score is looked for, in this order."""

PROBLEM_FIELDS = ("problem_id", "problem", "task_id", "question_id", "doc_id", "item_id", "id")
SAMPLE_FIELDS = ("sample_id", "rollout_id", "completion_id", "response_id", "answer_id", "uid", "custom_id", "id")
RATER_FIELDS = ("rater", "judge", "grader", "annotator", "judge_model", "judge_name")
REASON_FIELDS = ("reason", "explanation", "rationale", "comment", "feedback", "judgment", "judgement", "critique")
ORDER_FIELDS = ("order", "position", "permutation", "swapped")
MAPPED = ("score", "problem_id", "sample_id", "rater", "reason", "order", "model")  # what a map may name

DROPPED = {
    "no_score": "the judge gave none",
    "unreadable": "no score can be read from what it said",
    "failed": "its request failed",
    "pairwise": "compares two solutions, and scores neither",
}
"""Why a judgement has no score."""

_WORDS = {
    **dict.fromkeys(("correct", "right", "yes", "true", "pass", "passed", "accept", "accepted"), 1.0),
    **dict.fromkeys(("incorrect", "wrong", "no", "false", "fail", "failed", "reject", "rejected"), 0.0),
    **dict.fromkeys(("partial", "partially correct", "partly correct"), 0.5),
}
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # Inspect's: correct, partial, incorrect, no answer
_NUMBER = r"[-+]?\d{1,15}(?:\.\d{1,15})?"
_IN_BRACKETS = re.compile(rf"\[\[({_NUMBER})\]\]")  # FastChat's own way
_NAMED = re.compile(
    rf"(?:score|rating|grade|points)\W{{0,6}}(?:is|of)?\W{{0,4}}({_NUMBER})(?:\s*(?:/|out of)\s*({_NUMBER}))?", re.I
)
_VERDICT = re.compile(r"(?:verdict|judg(?:e)?ment|grade|result)\W{0,6}(?:is\W{0,4})?([a-z]+)\W*$", re.I | re.M)
_FENCE = re.compile(r"\s*```(?:json)?\s*(\{.*\})\s*```\s*", re.S)
_PEEKED = 10_000  # records that are looked at for the field of the problem
_MAX_TEXT = 200_000  # characters of an answer in which a score is looked for
_INSPECT_META = ("problem_id", "sample_id", "model")


@dataclass(frozen=True, slots=True)
class Judgement:
    """One score that someone gave one solution.

    Attributes:
        problem_id, sample_id: of the solution; None where the file names none.
        model: that wrote the solution, by which it may be found; None where the file names none.
        rater: name within the file; empty if it has one only.
        score: None where there is none.
        dropped: why there is none, a key of `DROPPED`; empty otherwise.
        reason: what the rater said for it.
        order: in which order things were shown, where that was varied; None elsewhere.
    """

    problem_id: str | None
    sample_id: str | None
    score: float | None
    rater: str = ""
    reason: str = ""
    model: str | None = None
    order: str | None = None
    dropped: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """A score that was looked for, and why none was found; exactly one of the two says something."""

    score: float | None
    dropped: str = ""


def scored(value: Any) -> Scored:
    """The score that a value states: a number, true or false, a numeral, a fraction or a word such as `correct`.

    >>> scored(" Correct "), scored("7/10"), scored(None)
    (Scored(score=1.0, dropped=''), Scored(score=0.7, dropped=''), Scored(score=None, dropped='no_score'))
    """
    if value is None or value == "":
        return Scored(None, "no_score")
    if isinstance(value, (bool, int, float)):
        number = float(value)
        return Scored(number) if math.isfinite(number) else Scored(None, "no_score")
    if not isinstance(value, str):
        return Scored(None, "unreadable")
    text = value.strip().strip(".*_[]()\"'").strip().lower()
    if text in _WORDS:
        return Scored(_WORDS[text])
    if text in ("nan", "none", "null", "n/a", "na"):
        return Scored(None, "no_score")
    found = re.fullmatch(rf"({_NUMBER})(?:\s*/\s*({_NUMBER}))?", text)
    return _quotient(found[1], found[2]) if found else Scored(None, "unreadable")


def scored_text(text: str) -> Scored:
    """The score in the answer of a judge model: JSON, `[[7]]`, `Score: 7/10`, `Verdict: correct`, or nothing else.

    The last of several counts, as judges reason before they decide.

    >>> scored_text("The sign is wrong. Score: 3/4"), scored_text("It is 90 % right, I think.")
    (Scored(score=0.75, dropped=''), Scored(score=None, dropped='unreadable'))
    """
    text = text[-_MAX_TEXT:]
    fenced = _FENCE.fullmatch(text)
    try:
        loaded = json.loads(fenced[1] if fenced else text)
    except (json.JSONDecodeError, RecursionError):
        loaded = None
    if isinstance(loaded, Mapping):
        key = _first_of(loaded, SCORE_FIELDS)
        return scored(loaded[key]) if key else Scored(None, "unreadable")
    if (bare := scored(text)).score is not None or not text.strip():
        return bare
    if brackets := _IN_BRACKETS.findall(text):
        return Scored(float(brackets[-1]))
    if named := _NAMED.findall(text):
        return _quotient(*named[-1])
    if verdicts := _VERDICT.findall(text):
        return scored(verdicts[-1])
    return Scored(None, "unreadable")


def _quotient(part: str, whole: str | None) -> Scored:
    if not whole:
        return Scored(float(part))
    return Scored(float(part) / float(whole)) if float(whole) else Scored(None, "unreadable")


def judgements(
    source: Path, *, mapping: Mapping[str, str] | None = None, problem_ids: Collection[str] = ()
) -> Iterator[Judgement]:
    """The judgements of a file or a folder, in order.

    Args:
        source: the file.
        mapping: fields of a table, by the names of `MAPPED`; of a file of a known make they take precedence.
        problem_ids: ids that are known, which tell the field of the problem from others.

    Errors:
        DataFileError: a file that is not what its ending says, or in which no score is found.
        PrismError: a map that names what is no field of a judgement.
    """
    named = mapped(mapping or {}, MAPPED)
    known = frozenset(problem_ids)
    fields: _Fields | None = None
    for n, record in enumerate(_records(source), start=1):
        read = None if "score" in named else _reader_of(record)
        if read is not None:
            found = read(record, known)
        else:
            if fields is None:
                fields = _fields_of(record, named, known, source)
            found = _of_table(record, fields, f"record {n}", source)
        yield from found


# Makes of files. ------------------------------------------------------------------------------------------------


def _records(source: Path) -> Iterator[Mapping[str, Any]]:
    """Records, those of files that are one object with a list inside among them."""
    if source.suffix == ".eval":
        yield from _of_archive(source)
        return
    for record in records(source):
        data = record.data
        inner = at_path(data, ("results", "results"))
        inner = at_path(data, ("results",)) if inner is ABSENT else inner
        if "eval" in data and isinstance(data.get("samples"), list):
            yield from ({**sample, "_inspect": True} for sample in data["samples"] if isinstance(sample, Mapping))
        elif isinstance(inner, list) and all(isinstance(row, Mapping) for row in inner):
            yield from inner
        else:
            yield data


def _of_archive(source: Path) -> Iterator[Mapping[str, Any]]:
    """Samples of an Inspect log, each a file of its own in the zip, by epoch and id."""
    try:
        with zipfile.ZipFile(source) as archive:
            for name in sorted(each for each in archive.namelist() if re.fullmatch(r"samples/.+\.json", each)):
                sample = json.loads(archive.read(name))
                if not isinstance(sample, Mapping):
                    raise DataFileError(str(source), (f"{name}: no object, but {type(sample).__name__}",))
                yield {**sample, "_inspect": True}
    except NotImplementedError as error:
        fault = f"{error}: compressed in a way that this Python does not read; `inspect log convert --to json` helps"
        raise DataFileError(str(source), (fault,)) from error
    except (OSError, zipfile.BadZipFile, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise DataFileError(str(source), (f"cannot be read: {error}",)) from error


def _reader_of(record: Mapping[str, Any]) -> Any:
    """What reads a record of a known make; None of any other."""
    if is_score_row(record):
        return _of_score_row
    if record.get("_inspect"):
        return _of_inspect
    if "gradingResult" in record or ("testIdx" in record and "promptIdx" in record):
        return _of_promptfoo
    if "g1_winner" in record and "g2_winner" in record:
        return _of_fastchat_pair
    if {"question_id", "judge", "score", "model"} <= record.keys() and isinstance(record["judge"], list):
        return _of_fastchat
    if "custom_id" in record and ("response" in record or "error" in record) and "score" not in record:
        return _of_batch
    if "doc_id" in record and ("resps" in record or "filtered_resps" in record):
        return _of_lm_eval
    return None


def _of_score_row(record: Mapping[str, Any], _known: Collection[str]) -> Iterator[Judgement]:
    found = scored(record["score"])
    yield Judgement(
        id_of(record["problem_id"]), id_of(record["sample_id"]), found.score, reason=row_reason(record),
        model=id_of(at_path(record, ("meta", "model"))), dropped=found.dropped,
    )  # fmt: skip


def row_reason(row: Mapping[str, Any]) -> str:
    """What a score row says for its score, in a line."""
    nodes = {name: " ".join(map(str, row.get(name) or ())) or "none" for name in ("matched", "credited", "missing")}
    final = "right" if row.get("final_correct") else "not right"
    return "; ".join([*(f"{name}: {listed}" for name, listed in nodes.items()), f"final answers {final}"])


def _of_inspect(record: Mapping[str, Any], _known: Collection[str]) -> Iterator[Judgement]:
    """A sample: each scorer is a rater, and each key of a score that has several."""
    meta = record.get("metadata") if isinstance(record.get("metadata"), Mapping) else {}
    named = {name: id_of(meta.get(name)) for name in _INSPECT_META} if isinstance(meta, Mapping) else {}
    epoch = record.get("epoch")
    own = None if epoch in (None, 1) else str(epoch)  # of the first epoch the id alone says which
    base = Judgement(
        named.get("problem_id") or id_of(record.get("id")),
        named.get("sample_id") or own,
        None,
        model=named.get("model"),
    )
    scores = record.get("scores")
    if not isinstance(scores, Mapping) or not scores:
        yield replace(base, dropped="failed" if record.get("error") else "no_score")
        return
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, Mapping) else score
        reason = _text(score.get("explanation")) if isinstance(score, Mapping) else ""
        many = value if isinstance(value, Mapping) else {"": value}
        for key, each in many.items():
            found = scored(_LETTERS.get(each, each) if isinstance(each, str) else each)
            rater = f"{scorer}/{key}" if key else str(scorer)
            yield replace(base, rater=rater, score=found.score, dropped=found.dropped, reason=reason)


def _of_promptfoo(record: Mapping[str, Any], _known: Collection[str]) -> Iterator[Judgement]:
    """A result: its variables or metadata name the problem, else its number among the tests does."""
    result = record.get("gradingResult")
    places = [record.get("vars"), record.get("metadata"), at_path(record, ("testCase", "metadata"))]
    problem = next((id_of(place[key]) for key in ("problem_id", "id") for place in places if _has(place, key)), None)
    sample = next((id_of(place["sample_id"]) for place in places if _has(place, "sample_id")), None)
    provider = record.get("provider")
    model = id_of(provider.get("label") or provider.get("id")) if isinstance(provider, Mapping) else id_of(provider)
    value = result.get("score") if isinstance(result, Mapping) else None
    found = scored(record.get("score") if value is None and result is None and not record.get("error") else value)
    failed = (bool(record.get("error")) and found.score is None) or record.get("failureReason") == 2
    yield Judgement(
        problem or id_of(record.get("testIdx")), sample, None if failed else found.score, model=model,
        reason=_text(result.get("reason")) if isinstance(result, Mapping) else _text(record.get("error")),
        dropped="failed" if failed else found.dropped,
    )  # fmt: skip


def _of_fastchat(record: Mapping[str, Any], _known: Collection[str]) -> Iterator[Judgement]:
    """A single judgement of MT-bench, from 1 to 10; -1 says that the judge's answer held no rating."""
    found = scored(record["score"])
    if found.score is not None and found.score < 0:
        found = Scored(None, "unreadable")
    turn = record.get("turn", 1)
    model = id_of(record["model"])
    own = model if turn in (None, 1) else f"{model}/{turn}"
    yield Judgement(
        id_of(record["question_id"]), own, found.score, rater=_judge(record), reason=_text(record.get("judgment")),
        model=own, dropped=found.dropped,
    )  # fmt: skip


def _of_fastchat_pair(record: Mapping[str, Any], _known: Collection[str]) -> Iterator[Judgement]:
    """A comparison of MT-bench, played in both orders: two judgements of whether the first model wins."""
    values = {"model_1": 1.0, "tie": 0.5, "model_2": 0.0}
    sample = f"{record.get('model_1')} : {record.get('model_2')}, turn {record.get('turn', 1)}"
    is_played = "m1_score" not in record  # else the winner was told from two single scores, in no order
    for order in ("1", "2") if is_played else ("1",):
        score = values.get(str(record[f"g{order}_winner"]))
        yield Judgement(
            id_of(record.get("question_id")), sample, score, rater=_judge(record), order=order if is_played else None,
            reason=_text(record.get(f"g{order}_judgment")), dropped="pairwise" if score is not None else "unreadable",
        )  # fmt: skip


def _judge(record: Mapping[str, Any]) -> str:
    judge = record.get("judge")
    return str(judge[0]) if isinstance(judge, list) and judge else _text(judge)


def _of_batch(record: Mapping[str, Any], _known: Collection[str]) -> Iterator[Judgement]:
    """A line of a batch: the score is in the text of the answer, the `custom_id` says of what."""
    body = at_path(record, ("response", "body"))
    status = at_path(record, ("response", "status_code"))
    base = Judgement(None, id_of(record["custom_id"]), None)
    if not isinstance(body, Mapping) or record.get("error") or (isinstance(status, int) and status >= 400):
        yield replace(base, dropped="failed", reason=_text(at_path(record, ("error", "message"))))
        return
    text = at_path(body, ("choices", "0", "message", "content"))
    if text is ABSENT:  # the newer interface: a list of outputs, each a list of parts
        parts = [part for item in body.get("output") or () for part in (item.get("content") or ())]
        text = "".join(_text(part.get("text")) for part in parts if isinstance(part, Mapping))
    found = scored_text(text) if isinstance(text, str) else Scored(None, "no_score")
    yield replace(base, score=found.score, dropped=found.dropped, rater=_text(body.get("model")), reason=_text(text))


def _of_lm_eval(record: Mapping[str, Any], known: Collection[str]) -> Iterator[Judgement]:
    """A sample: each metric is a rater, and each filter where a task has several."""
    document = record.get("doc")
    named = [id_of(document.get(key)) for key in ("problem_id", "id")] if isinstance(document, Mapping) else []
    ids = [each for each in (*named, id_of(record["doc_id"])) if each is not None]
    problem = next((each for each in ids if each in known), ids[0] if ids else None)
    sample = id_of(document.get("sample_id")) if isinstance(document, Mapping) else None
    listed = record.get("metrics")
    metrics = [str(name) for name in listed] if isinstance(listed, list) else [
        name for name, value in record.items() if isinstance(value, (int, float)) and name not in ("doc_id", "target")
    ]  # fmt: skip
    kind = record.get("filter")
    for metric in metrics:
        found = scored(record.get(metric))
        rater = metric if kind in (None, "none") else f"{metric},{kind}"
        yield Judgement(problem, sample, found.score, rater=rater, dropped=found.dropped)


# Tables. --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Fields:
    """Where a table keeps what a judgement is made of; None for what it has not."""

    score: Keys
    problem_id: Keys | None
    sample_id: Keys | None
    rater: Keys | None
    reason: Keys | None
    order: Keys | None
    model: Keys | None


def _fields_of(record: Mapping[str, Any], named: Mapping[str, Keys], known: Collection[str], source: Path) -> _Fields:
    def first(name: str, usual: Collection[str]) -> Keys | None:
        if name in named:
            return named[name]
        key = _first_of(record, usual)
        return None if key is None else (key,)

    score = first("score", SCORE_FIELDS)
    if score is None:
        fault = f"no score among the fields {fields_told(record)}; say `--map score=FIELD`"
        raise DataFileError(str(source), (f"record 1: {fault}",))
    problem = named.get("problem_id") or _problem_field(record, known, source)
    sample = first("sample_id", [name for name in SAMPLE_FIELDS if (name,) != problem])
    if problem is None and sample is None:
        raise DataFileError(str(source), ("record 1: nothing says of which solution; say `--map sample_id=FIELD`",))
    return _Fields(
        score, problem, sample, first("rater", RATER_FIELDS), first("reason", REASON_FIELDS),
        first("order", ORDER_FIELDS), first("model", ("model",)),
    )  # fmt: skip


def _problem_field(record: Mapping[str, Any], known: Collection[str], source: Path) -> Keys | None:
    """The field whose values are most often known ids: a file may begin with problems that nobody asks about."""
    usual = [name for name in PROBLEM_FIELDS if id_of(record.get(name)) is not None]
    if not usual:
        return None
    hits = dict.fromkeys(usual, 0)
    if known and len(usual) > 1:
        for other in islice(_records(source), _PEEKED):
            for name in usual:
                hits[name] += id_of(other.get(name)) in known
    return (max(usual, key=lambda name: hits[name]),)


def _of_table(record: Mapping[str, Any], fields: _Fields, place: str, source: Path) -> Iterator[Judgement]:
    """One record: a score; or an object with one a rater; either may be a list with one an item."""

    def text(path: Keys | None) -> str:
        return "" if path is None else _text(at_path(record, path))

    def name(path: Keys | None) -> str | None:
        return None if path is None else id_of(at_path(record, path))

    base = Judgement(
        name(fields.problem_id), name(fields.sample_id), None, rater=text(fields.rater), reason=text(fields.reason),
        model=name(fields.model), order=None if fields.order is None else text(fields.order),
    )  # fmt: skip
    if base.problem_id is None and base.sample_id is None:
        raise DataFileError(str(source), (f"{place}: nothing says of which solution",))
    value = at_path(record, fields.score)
    raters = value if isinstance(value, Mapping) else {base.rater: None if value is ABSENT else value}
    for rater, given in raters.items():
        items = given if isinstance(given, list) else [given]
        for k, each in enumerate(items, start=1):
            found = scored(each)
            own = f"{base.sample_id}/{k}" if base.sample_id is not None else str(k)
            yield replace(
                base, rater=str(rater), score=found.score, dropped=found.dropped,
                sample_id=own if isinstance(given, list) else base.sample_id,
            )  # fmt: skip


def _first_of(record: Mapping[str, Any], names: Collection[str]) -> str | None:
    return next((name for name in names if name in record), None)


def _has(place: Any, key: str) -> bool:
    return isinstance(place, Mapping) and id_of(place.get(key)) is not None


def _text(value: Any) -> str:
    return "" if value is None or value is ABSENT else str(value)
