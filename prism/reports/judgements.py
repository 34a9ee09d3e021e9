r"""Read judgements: scores that people and judge models gave solutions, from the files of other tools.

A file is told by what it holds, not by its name: rows of PRISM, samples of lm-eval, logs of Inspect (`.json`, or
`.eval`, a zip), output of promptfoo, judgements of FastChat's MT-bench, output of an OpenAI batch, or a table of any
other make, in which the fields are looked for by name or said by a map. A judgement without a readable score stays,
with the reason: what is missing is never a 0.

Read in the sources of lm-evaluation-harness (`loggers/evaluation_tracker.py`), inspect_ai (`log/_log.py`,
`scorer/_metric.py`), promptfoo (`src/types/index.ts`), FastChat (`llm_judge/common.py`) and OpenAI's batch reference.
"""

from __future__ import annotations

import math
import re
import sys
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from prism.errors import DataFileError, PrismError
from prism.inputs import decode, parse_json, why_failed
from prism.resources import meanings
from prism.runs.records import ABSENT, MAX_RECORD, Keys, at_path, field_names, id_of, parse_mapping, read_records
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
_USUAL = {
    "score": SCORE_FIELDS, "sample_id": SAMPLE_FIELDS, "rater": RATER_FIELDS, "reason": REASON_FIELDS,
    "order": ORDER_FIELDS, "model": ("model",),
}  # fmt: skip
MAPPED = ("score", "problem_id", "sample_id", "rater", "reason", "order", "model")  # what a map may name

DROPPED: Mapping[str, str] = meanings("reports.dropped")
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
_PEEKED = 10_000  # records that are read to find the field of the problem
_MAX_TEXT = 200_000  # characters of an answer in which a score is looked for
_INSPECT_META = ("problem_id", "sample_id", "model")


@dataclass(frozen=True, slots=True)
class Judgement:
    """One score that one rater (a person or a judge model) gave one solution.

    Attributes:
        problem_id, sample_id: of the solution; None where the file names none.
        model: the model that wrote the solution, by which it may be identified; None where the file names none.
        rater: name within the file; empty if it has one only.
        score: None where none can be read.
        dropped: why there is no score, a key of `DROPPED`; empty otherwise.
        reason: the rater's explanation.
        order: the order in which the solutions were shown, where that was varied; None elsewhere.
        label: what the rater said, where a table holds a text in place of a number; else empty.
    """

    problem_id: str | None
    sample_id: str | None
    score: float | None
    rater: str = ""
    reason: str = ""
    model: str | None = None
    order: str | None = None
    dropped: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class ScoreReading:
    """The result of reading a score: the score, or None with the reason, a key of `DROPPED`."""

    score: float | None
    dropped: str = ""


def read_score(value: Any) -> ScoreReading:
    """Read a score from a value of a file: a number, a bool, or text such as `0.5`, `7/10`, `correct`.

    >>> read_score(" Correct ").score, read_score("7/10").score, read_score(None).score
    (1.0, 0.7, None)
    """
    if value is None or value == "":
        return ScoreReading(None, "no_score")
    if isinstance(value, (bool, int, float)):
        number = float(value) if abs(value) <= sys.float_info.max else math.inf  # also of a whole number that is larger
        return ScoreReading(number) if math.isfinite(number) else ScoreReading(None, "no_score")
    if not isinstance(value, str):
        return ScoreReading(None, "unreadable")
    text = value.strip().strip(".*_[]()\"'").strip().lower()
    if text in _WORDS:
        return ScoreReading(_WORDS[text])
    if text in ("nan", "none", "null", "n/a", "na"):
        return ScoreReading(None, "no_score")
    found = re.fullmatch(rf"({_NUMBER})(?:\s*/\s*({_NUMBER}))?", text)
    return _score_quotient(found[1], found[2]) if found else ScoreReading(None, "unreadable")


def word_score(text: str) -> float | None:
    """Return the score of a usual word for one, such as `incorrect`; None for any other text.

    >>> word_score("Incorrect"), word_score("partial"), word_score("unclear")
    (0.0, 0.5, None)
    """
    return _WORDS.get(text.strip().lower())


def score_in_text(text: str) -> ScoreReading:
    """Read the score from the answer of a judge model: JSON, `[[7]]`, `Score: 7/10`, or `Verdict: correct`.

    The last of several counts, as judges reason before they decide.

    >>> score_in_text("The sign is wrong. Score: 3/4"), score_in_text("It is 90 % right, I think.")
    (ScoreReading(score=0.75, dropped=''), ScoreReading(score=None, dropped='unreadable'))
    """
    text = text[-_MAX_TEXT:]
    fenced = _FENCE.fullmatch(text)
    try:
        loaded = parse_json(fenced[1] if fenced else text, table=dict)
    except PrismError:
        loaded = None
    if isinstance(loaded, Mapping):
        key = _first_present(loaded, SCORE_FIELDS)
        return read_score(loaded[key]) if key else ScoreReading(None, "unreadable")
    if (bare := read_score(text)).score is not None or not text.strip():
        return bare
    if brackets := _IN_BRACKETS.findall(text):
        return _score_quotient(brackets[-1], None)
    if named := _NAMED.findall(text):
        return _score_quotient(*named[-1])
    if verdicts := _VERDICT.findall(text):
        return read_score(verdicts[-1])
    return ScoreReading(None, "unreadable")


def _score_quotient(part: str, whole: str | None) -> ScoreReading:
    """Return the score `part / whole` of two numerals, `part` without a whole; unreadable for a whole of 0."""
    score = float(part) / (float(whole or 1) or math.nan)
    return ScoreReading(score) if math.isfinite(score) else ScoreReading(None, "unreadable")


def read_judgements(
    source: Path, *, mapping: Mapping[str, str] | None = None, problem_ids: Collection[str] = ()
) -> Iterator[Judgement]:
    """Yield the judgements of a file in order, in the format that its records show.

    Args:
        source: the file.
        mapping: fields of a table, by the names of `MAPPED`; of a file of a known make they take precedence.
        problem_ids: known problem ids, by which the field of the problem id is recognised.

    Errors:
        DataFileError: a file that is not what its ending says, or in which no score is found, or nowhere a field that
            the map names.
        PrismError: a map that names what is no field of a judgement.
    """
    named = parse_mapping(mapping or {}, MAPPED)
    known = frozenset(problem_ids)
    fields: dict[str, Keys] | None = None
    missing = set(named)  # names of the map whose field no record has had so far
    last: Mapping[str, Any] = {}
    for n, record in enumerate(_judgement_records(source), start=1):
        read = None if "score" in named else _reader_for(record)
        if read is not None:
            found = read(record, known)
        else:
            if fields is None:
                fields = _fields_of(record, named, known, source)
            found = _read_table(record, fields, f"record {n}", source)
        missing -= {name for name in missing if at_path(record, named[name]) is not ABSENT}
        last = record
        yield from found
    if missing and last:
        absent = ", ".join(".".join(named[name]) for name in MAPPED if name in missing)
        raise DataFileError(str(source), (f"no record has a field {absent}; there are {field_names(last)}",))


# Makes of files. ------------------------------------------------------------------------------------------------


def _judgement_records(source: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a file of judgements; entries of a list of results or samples inside one object singly."""
    if source.suffix == ".eval":
        yield from _read_inspect_archive(source)
        return
    for record in read_records(source):
        data = record.data
        inner = at_path(data, ("results", "results"))
        inner = at_path(data, ("results",)) if inner is ABSENT else inner
        if "eval" in data and isinstance(data.get("samples"), list):
            yield from ({**sample, "_inspect": True} for sample in data["samples"] if isinstance(sample, Mapping))
        elif isinstance(inner, list) and all(isinstance(row, Mapping) for row in inner):
            yield from inner
        else:
            yield data


def _read_inspect_archive(source: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the samples of an Inspect log `.eval` (a zip archive), sorted by file name; DataFileError if unreadable."""
    try:
        with zipfile.ZipFile(source) as archive:
            for name in sorted(each for each in archive.namelist() if re.fullmatch(r"samples/.+\.json", each)):
                with archive.open(name) as member:
                    raw = member.read(MAX_RECORD + 1)
                if len(raw) > MAX_RECORD:
                    raise DataFileError(str(source), (f"{name}: longer than {MAX_RECORD} bytes",))
                sample = parse_json(decode(raw))
                if not isinstance(sample, Mapping):
                    raise DataFileError(str(source), (f"{name}: no object, but {type(sample).__name__}",))
                yield {**sample, "_inspect": True}
    except NotImplementedError as error:
        fault = f"{error}: compressed in a way that this Python does not read; `inspect log convert --to json` helps"
        raise DataFileError(str(source), (fault,)) from error
    except DataFileError:
        raise
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError, PrismError) as error:  # Runtime: encrypted
        raise DataFileError(str(source), (f"cannot be read: {why_failed(error)}",)) from error


def _reader_for(record: Mapping[str, Any]) -> Any:
    """Return the `_read_...` function for the tool that wrote a record, found by its keys; None for any other table."""
    if is_score_row(record):
        return _read_score_row
    if record.get("_inspect"):
        return _read_inspect
    if "gradingResult" in record or ("testIdx" in record and "promptIdx" in record):
        return _read_promptfoo
    if "g1_winner" in record and "g2_winner" in record:
        return _read_fastchat_pair
    if {"question_id", "judge", "score", "model"} <= record.keys() and isinstance(record["judge"], list):
        return _read_fastchat
    if "custom_id" in record and ("response" in record or "error" in record) and "score" not in record:
        return _read_batch
    if "doc_id" in record and ("resps" in record or "filtered_resps" in record):
        return _read_lm_eval
    return None


def _read_score_row(record: Mapping[str, Any], _known: Collection[str]) -> Iterator[Judgement]:
    """Yield one judgement: the score of a PRISM score row, with a summary of the row as its reason."""
    found = read_score(record["score"])
    yield Judgement(
        id_of(record["problem_id"]), id_of(record["sample_id"]), found.score, reason=score_row_summary(record),
        model=id_of(at_path(record, ("meta", "model"))), dropped=found.dropped,
    )  # fmt: skip


def score_row_summary(row: Mapping[str, Any]) -> str:
    """Summarize a score row in one line: nodes matched, credited and missing, and the final answers."""
    nodes = {name: " ".join(map(str, row.get(name) or ())) or "none" for name in ("matched", "credited", "missing")}
    final = "right" if row.get("final_correct") else "not right"
    way = [f"by {row['alternative']}"] if row.get("alternative") else []
    return "; ".join([*way, *(f"{name}: {listed}" for name, listed in nodes.items()), f"final answers {final}"])


def _read_inspect(record: Mapping[str, Any], _known: Collection[str]) -> Iterator[Judgement]:
    """Yield the judgements of an Inspect sample: one rater for each scorer, or for each key of a score with several.

    A sample without scores yields one judgement, marked as dropped: failed, or without a score.
    """
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
            found = read_score(_LETTERS.get(each, each) if isinstance(each, str) else each)
            rater = f"{scorer}/{key}" if key else str(scorer)
            yield replace(base, rater=rater, score=found.score, dropped=found.dropped, reason=reason)


def _read_promptfoo(record: Mapping[str, Any], _known: Collection[str]) -> Iterator[Judgement]:
    """Yield the judgement of a promptfoo result; without a problem id in it, the test number is the problem id."""
    result = record.get("gradingResult")
    places = [record.get("vars"), record.get("metadata"), at_path(record, ("testCase", "metadata"))]
    problem = next((id_of(place[key]) for key in ("problem_id", "id") for place in places if _has_id(place, key)), None)
    sample = next((id_of(place["sample_id"]) for place in places if _has_id(place, "sample_id")), None)
    provider = record.get("provider")
    model = id_of(provider.get("label") or provider.get("id")) if isinstance(provider, Mapping) else id_of(provider)
    value = result.get("score") if isinstance(result, Mapping) else None
    found = read_score(record.get("score") if value is None and result is None and not record.get("error") else value)
    failed = (bool(record.get("error")) and found.score is None) or record.get("failureReason") == 2
    yield Judgement(
        problem or id_of(record.get("testIdx")), sample, None if failed else found.score, model=model,
        reason=_text(result.get("reason")) if isinstance(result, Mapping) else _text(record.get("error")),
        dropped="failed" if failed else found.dropped,
    )  # fmt: skip


def _read_fastchat(record: Mapping[str, Any], _known: Collection[str]) -> Iterator[Judgement]:
    """Yield the judgement of an MT-bench record of one answer, from 1 to 10; unreadable for -1 (no rating found)."""
    found = read_score(record["score"])
    if found.score is not None and found.score < 0:
        found = ScoreReading(None, "unreadable")
    turn = record.get("turn", 1)
    model = id_of(record["model"])
    own = model if turn in (None, 1) else f"{model}/{turn}"
    yield Judgement(
        id_of(record["question_id"]), own, found.score, rater=_judge(record), reason=_text(record.get("judgment")),
        model=own, dropped=found.dropped,
    )  # fmt: skip


def _read_fastchat_pair(record: Mapping[str, Any], _known: Collection[str]) -> Iterator[Judgement]:
    """Yield judgements of an MT-bench comparison of two models, one for each order of the answers.

    The score is 1 if the first model wins, 0.5 for a tie, 0 if the second wins; `dropped` is `pairwise`.
    """
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
    """Return the name of the judge in an MT-bench record, the first if `judge` is a list."""
    judge = record.get("judge")
    return str(judge[0]) if isinstance(judge, list) and judge else _text(judge)


def _read_batch(record: Mapping[str, Any], _known: Collection[str]) -> Iterator[Judgement]:
    """Yield the judgement of a line of OpenAI batch output: score from the answer, `custom_id` as sample id."""
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
    found = score_in_text(text) if isinstance(text, str) else ScoreReading(None, "no_score")
    yield replace(base, score=found.score, dropped=found.dropped, rater=_text(body.get("model")), reason=_text(text))


def _read_lm_eval(record: Mapping[str, Any], known: Collection[str]) -> Iterator[Judgement]:
    """Yield the judgements of an lm-eval sample, one rater for each metric; `METRIC,FILTER` if a filter is named."""
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
        found = read_score(record.get(metric))
        rater = metric if kind in (None, "none") else f"{metric},{kind}"
        yield Judgement(problem, sample, found.score, rater=rater, dropped=found.dropped)


# Tables. --------------------------------------------------------------------------------------------------------


def _fields_of(
    record: Mapping[str, Any], named: Mapping[str, Keys], known: Collection[str], source: Path
) -> dict[str, Keys]:
    """Find the fields of a table by the user's map or by their usual names; return their paths by names of `MAPPED`.

    Args:
        record: the first record.
        named: paths by names of `MAPPED`.
        known: known problem ids.
        source: the file.

    Errors:
        DataFileError: no field holds a score, or none an id.
    """
    found = dict(named)
    if problem := named.get("problem_id") or _problem_field(record, known, source):
        found["problem_id"] = problem
    for name, usual in _USUAL.items():
        key = _first_present(record, [each for each in usual if name != "sample_id" or (each,) != problem])
        if key is not None:
            found.setdefault(name, (key,))
    if "score" not in found:
        fault = f"no score among the fields {field_names(record)}; say `--map score=FIELD`"
        raise DataFileError(str(source), (f"record 1: {fault}",))
    if "problem_id" not in found and "sample_id" not in found:
        raise DataFileError(str(source), ("record 1: nothing says of which solution; say `--map sample_id=FIELD`",))
    return found


def _problem_field(record: Mapping[str, Any], known: Collection[str], source: Path) -> Keys | None:
    """Return the field of the problem id: of those with a usual name the one with most known ids; None without any."""
    usual = [name for name in PROBLEM_FIELDS if id_of(record.get(name)) is not None]
    if not usual:
        return None
    hits = dict.fromkeys(usual, 0)
    if known and len(usual) > 1:
        for other in islice(_judgement_records(source), _PEEKED):
            for name in usual:
                hits[name] += id_of(other.get(name)) in known
    return (max(usual, key=lambda name: hits[name]),)


def _read_table(record: Mapping[str, Any], fields: Mapping[str, Keys], place: str, source: Path) -> Iterator[Judgement]:
    """Yield the judgements of a table record: one score, a dict of scores by rater, or a list of scores by sample.

    Args:
        fields: paths by names of `MAPPED`.
        place: number of the record, for errors: `record 3`.

    Errors:
        DataFileError: the record has neither problem id nor sample id.
    """
    given = {name: at_path(record, fields[name]) if name in fields else ABSENT for name in MAPPED}
    base = Judgement(
        id_of(given["problem_id"]), id_of(given["sample_id"]), None, rater=_text(given["rater"]),
        reason=_text(given["reason"]), model=id_of(given["model"]),
        order=_text(given["order"]) if "order" in fields else None,
    )  # fmt: skip
    if base.problem_id is None and base.sample_id is None:
        raise DataFileError(str(source), (f"{place}: nothing says of which solution",))
    value = given["score"]
    raters = value if isinstance(value, Mapping) else {base.rater: None if value is ABSENT else value}
    for rater, said in raters.items():
        items = said if isinstance(said, list) else [said]
        for k, each in enumerate(items, start=1):
            found = read_score(each)
            own = f"{base.sample_id}/{k}" if base.sample_id is not None else str(k)
            yield replace(
                base, rater=str(rater), score=found.score, dropped=found.dropped,
                label=each.strip() if isinstance(each, str) else "",
                sample_id=own if isinstance(said, list) else base.sample_id,
            )  # fmt: skip


def _first_present(record: Mapping[str, Any], names: Collection[str]) -> str | None:
    """Return the first of `names` that is a key of the record; None if none is."""
    return next((name for name in names if name in record), None)


def _has_id(place: Any, key: str) -> bool:
    """Return True if a value is a mapping with an id (text or whole number) under `key`."""
    return isinstance(place, Mapping) and id_of(place.get(key)) is not None


def _text(value: Any) -> str:
    """Return a value as text; empty for None and `ABSENT`."""
    return "" if value is None or value is ABSENT else str(value)
