r"""What `extract` finds in the responses of many models, beside an extractor that knows delimiters only.

Per model of `rollouts.jsonl`: formulas with a relation per response, the share of responses in which nothing but a box
is found, and the share of what is found that parses. "Delimiters only" takes what stands between `$`, `$$`, `\( \)`,
`\[ \]` and in `\boxed{}`, whole.

Precision and recall are against labels made by hand (`extraction_labels/*.json`): stretches of a response that hold a
relation, and boxed answers; a stretch may hold several formulas or rows. Only items that hold a relation or are boxed
count. A label is *found* if such items cover at least 80 % of it; an item is *right* if at least 90 % of it lies in
labels. Both are shares of characters that carry something: not space, layout (`\\`, `&`, environments, spacing, tags,
`\boxed`, delimiters, a remark in `\text` behind a wide space, an `\implies` between two formulas), braces or the
punctuation of the sentence. A lone arrow (`x \to 0`, a reaction) counts neither way, since one person labels it and
another does not. Intervals are Wilson's, 95 %, over labels and items;
those of one response are not independent, so the true ones are wider.

    python benchmarks/accuracy/extraction.py [--data FOLDER] [--verbose] [--json]
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.intervals import wilson  # noqa: E402
from benchmarks.material import DATA, DELIMITED  # noqa: E402
from prism import LatexSyntaxError  # noqa: E402
from prism.latex import extract, parse  # noqa: E402

LABELS = Path(__file__).resolve().parent / "extraction_labels"
FOUND = 0.8  # of a label, covered by items
RIGHT = 0.9  # of an item, inside labels

_RELATION = re.compile(
    r"[=<>≈≃≅≡≤≥⩽⩾≪≫≠∝∼≲≳]|\\(?:approx|approxeq|simeq|cong|sim|equiv|propto|leq?|geq?|leqslant|geqslant|leqq"
    r"|geqq|ll|gg|neq?|lt|gt|lesssim|gtrsim|lessapprox|gtrapprox|doteq|triangleq|coloneqq|in|subset|perp|parallel)"
    r"(?![a-zA-Z])"
)
_BOX = re.compile(r"\\boxed\s*\{")
_SCRIPT = re.compile(r"[_^]\s*\{[^{}]*\}")
_LAYOUT = re.compile(
    r"\\(?:begin|end)\s*\{[a-zA-Z]+\*?\}(?:\{[lcr|@{}\s]{0,20}\})?|\\(?:boxed|fbox)(?![a-zA-Z])|\\\\(?:\[[^\]\n]{0,8}\])?"
    r"|\\q?quad\s*\\text\s*\{[^{}]*\}|\\(?:tag|label)\*?\s*\{[^{}]*\}"
    r"|\\(?:q?quad|left|right|displaystyle|nonumber|notag|implies|iff|Rightarrow|Longrightarrow)(?![a-zA-Z])"
    r"|\\[,;:!>() \[\]]|[⇒⟹\s{}&$.,;:*`]"
)


@dataclass(frozen=True, slots=True)
class Item:
    """A formula that an extractor found: where, what it reads, whether it is a box, whether it stands in thinking."""

    start: int
    end: int
    latex: str
    is_boxed: bool = False
    is_thought: bool = False

    @property
    def counts(self) -> bool:
        """Holds a relation outside scripts, or is boxed."""
        return self.is_boxed or has_relation(self.latex)


@dataclass(frozen=True, slots=True)
class Response:
    """One response of a model, with the items of both extractors, and its labels if it has been labelled."""

    id: str
    model: str
    text: str
    now: tuple[Item, ...]
    before: tuple[Item, ...]
    labels: tuple[tuple[int, int], ...] | None


def has_relation(latex: str) -> bool:
    """Whether a relation stands outside subscripts and superscripts."""
    return bool(_RELATION.search(_SCRIPT.sub(" ", latex)))


# The two extractors -----------------------------------------------------------------------------------------


def ours(text: str) -> Iterator[Item]:
    """What `extract` finds, thinking included."""
    for item in extract(text):
        yield Item(*item.span, item.latex, item.kind == "boxed", item.kind == "thinking")


_LONGEST_BOX = 3000


def delimited(text: str) -> Iterator[Item]:
    """What stands between delimiters, whole, and what stands in boxes."""
    for match in DELIMITED.finditer(text):
        start, end = match.span(match.lastindex or 0)
        if not _BOX.match(text[start:end].strip()):
            yield Item(start, end, text[start:end])
    for match in _BOX.finditer(text):
        depth, at = 1, match.end()
        while depth and at < min(len(text), match.end() + _LONGEST_BOX):
            depth += (text[at] == "{") - (text[at] == "}")
            at += 1
        if not depth:
            yield Item(match.end(), at - 1, text[match.end() : at - 1], is_boxed=True)


# Against the labels -----------------------------------------------------------------------------------------


def carrying(text: str) -> bytearray:
    """One byte a character: 1 if it is more than space, layout, braces or punctuation."""
    marks = bytearray(b"\1" * len(text))
    for match in _LAYOUT.finditer(text):
        marks[match.start() : match.end()] = bytes(match.end() - match.start())
    return marks


def covered(spans: Iterable[tuple[int, int]], size: int) -> bytearray:
    """One byte a character: 1 if it lies in a span."""
    marks = bytearray(size)
    for start, end in spans:
        marks[start:end] = b"\1" * (min(end, size) - start)
    return marks


def portion(span: tuple[int, int], inside: bytearray, counted: bytearray) -> float:
    """Share of what a span carries that lies inside; 1 of a span that carries nothing."""
    start, end = span
    total = sum(counted[start:end])
    part = sum(a & b for a, b in zip(inside[start:end], counted[start:end], strict=True))
    return part / total if total else 1.0


def decided(text: str, start: int, end: int) -> bool:
    """Whether a label holds more than an arrow: a relation, or a box."""
    return has_relation(text[start:end]) or bool(_BOX.search(text, max(0, start - 12), end))


@dataclass(frozen=True, slots=True)
class Compared:
    """Labels and items of one response, each with the share of it that is covered."""

    labels: tuple[tuple[tuple[int, int], float], ...]
    items: tuple[tuple[Item, float], ...]


def compare(response: Response, items: Iterable[Item]) -> Compared:
    """Hold items against the labels of a response."""
    text, every = response.text, response.labels or ()
    labels = [(start, end) for start, end in every if decided(text, start, end)]
    kept = [item for item in items if item.counts]
    counted = carrying(text)
    by_items = covered(((item.start, item.end) for item in kept), len(text))
    by_labels = covered(every, len(text))
    return Compared(
        tuple((span, portion(span, by_items, counted)) for span in labels),
        tuple((item, portion((item.start, item.end), by_labels, counted)) for item in kept),
    )


def agreement(responses: list[Response], of: Callable[[Response], tuple[Item, ...]]) -> dict[str, Any]:
    """Precision and recall of an extractor, counted over all labels and items of these responses."""
    found = [compare(response, of(response)) for response in responses]
    labels = [share >= FOUND for each in found for _, share in each.labels]
    items = [share >= RIGHT for each in found for _, share in each.items]
    return {"recall": wilson(sum(labels), len(labels)), "precision": wilson(sum(items), len(items))}


# Per model --------------------------------------------------------------------------------------------------


def now(response: Response) -> tuple[Item, ...]:
    """The items of `extract`."""
    return response.now


def before(response: Response) -> tuple[Item, ...]:
    """The items of the delimiters."""
    return response.before


def parses(latex: str) -> bool:
    """Whether the reader reads it."""
    try:
        parse(latex)
    except LatexSyntaxError:
        return False
    return True


def figures(responses: list[Response]) -> dict[str, Any]:
    """All figures of some responses, with both extractors side by side."""
    n = len(responses)
    labelled = [response for response in responses if response.labels is not None]
    kept = [item for response in responses for item in response.now if item.counts]
    row: dict[str, Any] = {
        "responses": n,
        "share_parsed": round(sum(parses(item.latex) for item in kept) / len(kept), 4) if kept else None,
        "labelled": {"responses": len(labelled), "labels": sum(len(each.labels or ()) for each in labelled)},
    }
    for name, of in (("extract", now), ("delimiters", before)):
        related = sum(has_relation(item.latex) for response in responses for item in of(response))
        only_box = sum(all(item.is_boxed for item in of(response)) for response in responses)
        row[name] = {
            "formulas_with_a_relation_per_response": round(related / n, 2),
            "share_of_responses_with_a_box_or_nothing": round(only_box / n, 4),
        }
        if name == "extract":
            thought = sum(item.is_thought and has_relation(item.latex) for each in responses for item in each.now)
            row[name]["of_them_thinking"] = round(thought / n, 2)
        if labelled:
            row[name] |= agreement(labelled, of)
    return row


def read_labels(folder: Path) -> dict[tuple[str, str], tuple[tuple[int, int], ...]]:
    """Labels by id and model of the response; a file that is not finished is named and left out."""
    labels: dict[tuple[str, str], tuple[tuple[int, int], ...]] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            rows = json.loads(path.read_text(encoding="utf-8"))["responses"]
        except json.JSONDecodeError as error:
            print(f"{path.name}: {error}; left out", file=sys.stderr)
            continue
        labels |= {(row["id"], row["model"]): tuple((start, end) for start, end in row["formulas"]) for row in rows}
    return labels


def read_responses(data: Path, folder: Path) -> list[Response]:
    """Every response of the file, through both extractors."""
    labels = read_labels(folder)
    responses = []
    for line in (data / "rollouts.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text, key = row["response"], (row["id"], row["model"])
        responses.append(Response(*key, text, tuple(ours(text)), tuple(delimited(text)), labels.get(key)))
    if unknown := labels.keys() - {(response.id, response.model) for response in responses}:
        raise SystemExit(f"labels of responses that are not in the data: {sorted(unknown)}")
    return responses


# The report -------------------------------------------------------------------------------------------------


def _interval(row: dict[str, Any]) -> str:
    if row["share"] is None:
        return "-"
    return f"{row['share']:.1%} ({row['low']:.1%}-{row['high']:.1%}, {row['part']}/{row['of']})"


def report(table: dict[str, dict[str, Any]]) -> None:
    head = ("with = /resp.", "box or nothing", "parsed", "recall", "precision")
    print(f"{'model':38}{'':12}{head[0]:>14}{head[1]:>16}{head[2]:>9}  {head[3]:34}{head[4]}")
    for model, row in table.items():
        for name in ("extract", "delimiters"):
            each = row[name]
            per = each["formulas_with_a_relation_per_response"]
            parsed = f"{row['share_parsed']:.1%}" if name == "extract" and row["share_parsed"] is not None else ""
            shares = [_interval(each[word]) if word in each else "-" for word in ("recall", "precision")]
            only_box = each["share_of_responses_with_a_box_or_nothing"]
            title = model if name == "extract" else ""
            print(f"{title:38}{name:12}{per:14.2f}{only_box:16.1%}{parsed:>9}  {shares[0]:34}{shares[1]}")


def findings(responses: list[Response]) -> None:
    """Missed labels and wrong items, response by response. Text of the data: for the terminal, never for a file."""
    for response in sorted((each for each in responses if each.labels is not None), key=lambda each: each.model):
        compared = compare(response, response.now)
        missed = [(span, share) for span, share in compared.labels if share < FOUND]
        wrong = [(item, share) for item, share in compared.items if share < RIGHT]
        if not missed and not wrong:
            continue
        print(f"\n## {response.model}  {response.id}")
        for (start, end), share in missed:
            print(f"- missed [{start}, {end}], {share:.0%} covered: {_around(response.text, start, end)}")
            beside = (item for item in response.now if item.start < end and item.end > start)
            for item in islice(beside, 6):
                print(f"    - item [{item.start}, {item.end}]: {item.latex!r}")
        for item, share in wrong:
            print(f"- wrong [{item.start}, {item.end}], {share:.0%} in labels: {item.latex[:300]!r}")
            print(f"    - in: {_around(response.text, item.start, item.end)}")


def _around(text: str, start: int, end: int) -> str:
    return f"{text[max(0, start - 40) : start]!r} >> {text[start:end]!r} << {text[end : end + 40]!r}"


def main() -> int:
    parser = script.parser("What `extract` finds, per model, and against labels.", data=DATA)
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument("--verbose", action="store_true", help="missed labels and wrong items; for the terminal only")
    options = parser.parse_args()
    script.require(options.data / "rollouts.jsonl")
    responses = read_responses(options.data, options.labels)
    models = sorted({response.model for response in responses})
    table = {"all": figures(responses)}
    table |= {model: figures([each for each in responses if each.model == model]) for model in models}
    if options.json:
        print(json.dumps(table, sort_keys=True))
        return 0
    report(table)
    if options.verbose:
        findings(responses)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
