"""What is to be asked about one item, and what came of it: worked out anew from the replies that are kept.

`look` is a function of the item, the task and the replies so far, and of nothing else. So a run that was killed, a
batch file and a run over the network are one thing: replies come in, in whatever order, and what is asked next, and
what is found in the end, follows from them.

A reply that cannot be used is asked for again once, in the same conversation and with the reason; then the call has
failed. A reply that fails its check (`Call.check`) is asked for again as often as the task has rounds; and a call that
sends another one back has it made anew, with what was said.

What a reply can be checked for beyond its JSON Schema; what it lacks is told to the model, and it is asked again.

| check | of the reply | asks |
|---|---|---|
| `problem` | the key `problem` | does `prism lint` find no fault; warnings and notes are for an author |
| `rubric` | a cell for each dimension of EngiBench | can points out of ten be given by each cell that is not empty |

Read the reply of a judge model: the one object in it that fits the schema, or why there is none.

What stands around the object, and a code fence, is taken off as a findings file is read. An object
that was cut off is no reply, though what is left may fit: a list of faults that lacks its end makes a judge mild. Two
objects that fit and differ are none either, for the one may be what the judged text would like to be said.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prism.authoring.linting import lint
from prism.errors import PrismError
from prism.grading.row import json_line
from prism.inputs import parse_json, refuse_constant, shown, value_faults
from prism.judging.replies import Reply
from prism.judging.tasks import Call, Task, value_misfits
from prism.protocols.engibench.rubrics import DIMENSIONS, points_text, read_rubric
from prism.protocols.entry_files import AROUND, FENCE, find_values

_NAMELESS = "rewritten"  # the id of a problem that its record will name
_MOST = 10  # faults of a reply that are told at once


def check_faults(check: str, reply: Mapping[str, Any]) -> list[str]:
    """Return what a reply lacks of what it is checked for; empty without a check, or where it passes."""
    return list(_CHECKS[check](reply))[:_MOST] if check else []


def _problem_faults(reply: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of a problem, in the words of `prism lint`."""
    problem = reply.get("problem")
    if not isinstance(problem, dict):
        yield f"problem: {shown(problem)} is no object"
        return
    yield from (str(each) for each in lint({"id": _NAMELESS, **problem}) if each.kind == "fault")


def _rubric_faults(reply: Mapping[str, Any]) -> Iterator[str]:
    """Yield why no points can be given by a cell: its heads, their sum, a head whose points no level gives."""
    cells = {name: cell for name in DIMENSIONS if (cell := str(reply.get(name, "")).strip())}
    if not cells:
        yield "no dimension has a rubric"
    for name, cell in cells.items():
        rubric = read_rubric(cell)
        if rubric.fault:
            yield f"{name}: {rubric.fault}"
        for head in rubric.heads:
            if max((high for _, high in head.levels), default=None) != head.points:
                levels = f"its levels are {head.levels_text}" if head.levels else "it has no levels"
                yield f"{name}: head {head.number} is worth {points_text(head.points)} points, and {levels}"


_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "problem": _problem_faults, "rubric": _rubric_faults,
}  # fmt: skip


MAX_REPLY = 400_000  # characters of a reply that are looked at; a judge's is a page
_WHOLE = (FENCE, AROUND)  # repairs that change nothing inside of an object


@dataclass(frozen=True, slots=True)
class ReadReply:
    """What was read of a reply.

    Attributes:
        value: the object; None if none can be used.
        faults: why, in words that the model is told.
        remarks: what was taken off around it.
    """

    value: Mapping[str, Any] | None
    faults: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def read_reply(text: str, schema: Mapping[str, Any], *, is_cut: bool = False, refusal: str = "") -> ReadReply:
    r"""Return the one object of a reply that fits the schema.

    Args:
        is_cut: the endpoint says that it ended at its limit.
        refusal: what the endpoint says in place of a text.

    >>> read_reply('```json\n{"score": 1}\n```', {"type": "object", "required": ["score"]}).value
    {'score': 1}
    """
    if refusal or not text.strip():
        return ReadReply(None, (f"refused: {shown(refusal)}" if refusal else "the reply is empty",))
    if len(text) > MAX_REPLY:
        return ReadReply(None, (f"the reply has {len(text)} characters; at most {MAX_REPLY} are read",))
    try:
        whole = parse_json(text, constant=refuse_constant)
    except PrismError:
        return _among(text, schema, is_cut=is_cut)
    return _fitting([(whole, ())], schema)


def _among(text: str, schema: Mapping[str, Any], *, is_cut: bool) -> ReadReply:
    """Return the object that fits among those that stand in a text."""
    found = find_values(text)
    cut = [one for one in found if set(one.remarks) - set(_WHOLE)]
    if is_cut or cut:
        return ReadReply(None, ("the reply was cut off before its object ended",))
    if not found:
        return ReadReply(None, ("there is no JSON object in the reply",))
    if faults := [one.fault for one in found if one.fault]:
        return ReadReply(None, tuple(faults[:1]))
    return _fitting([(one.value, one.remarks) for one in found], schema)


def _fitting(candidates: list[tuple[Any, tuple[str, ...]]], schema: Mapping[str, Any]) -> ReadReply:
    """Return the one value that fits; faults are those of the first one."""
    fits: dict[bytes, ReadReply] = {}
    faults: list[str] = []
    for value, remarks in candidates:
        own = value_faults(value) or ([] if isinstance(value, dict) else ["the reply is no JSON object"])
        own = own or value_misfits(value, schema)
        if own:
            faults = faults or own
        else:
            fits[json_line(value)] = ReadReply(value, (), remarks)
    if len(fits) > 1:
        return ReadReply(None, (f"there are {len(fits)} different objects in the reply; expected one",))
    return next(iter(fits.values()), ReadReply(None, tuple(faults)))


MISFITS = 1  # times that a reply which cannot be used is asked for again
ASKED_FOR = "Reply with one JSON object and nothing else. It has to fit this JSON Schema:\n"
"""Stands between a prompt and the schema of its reply."""
_AGAIN = "Give the whole reply again, as one JSON object and nothing else."


@dataclass(frozen=True, slots=True)
class Judge:
    """A model with its settings, which decide what it is asked.

    Attributes:
        model: as the endpoint names it.
        sample: number of the reply, from 1, where a model is asked the same several times.
        temperature: None leaves it to the endpoint.
        seed: of the first sample; the others have the next ones. None sends none.
        more: further fields of the body of a request.
    """

    model: str
    sample: int = 1
    temperature: float | None = 0.0
    seed: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """The name of the judge in findings: the model's, with a number from the second sample on."""
        return self.model if self.sample == 1 else f"{self.model}#{self.sample}"

    @property
    def own_seed(self) -> int | None:
        """The seed of this sample: that of the run, one more for each sample before it; None if the run has none."""
        return None if self.seed is None else self.seed + self.sample - 1

    def body(self, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the body of a request."""
        chosen = {"temperature": self.temperature, "seed": self.own_seed}
        return {
            **self.more, "model": self.model, "messages": list(messages),
            **{name: value for name, value in chosen.items() if value is not None},
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Item:
    """What a task is asked about, such as a solution.

    Attributes:
        place: in words, for messages: `free_fall, sample a`.
        values: what its templates see.
        images: `data:` URLs that go before the text of a prompt.
    """

    place: str
    values: Mapping[str, Any] = field(hash=False)
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """One request.

    Attributes:
        digest: of prompt, model and settings; its reply is kept under it.
        body: of the request.
        place: item and call, for messages.
        call: name of the call.
    """

    digest: str
    body: Mapping[str, Any] = field(hash=False)
    place: str = ""
    call: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """Where the conversation about an item stands.

    Attributes:
        asks: what can be asked now; empty when all has been said.
        values: the reply of each call, as it was read; a call that failed or was left out is not among them.
        failures: `call: why` of each call without a reply that can be used.
        remarks: `call: what was repaired`.
        used: the replies that were used, asked-again ones too, by digest.
    """

    asks: tuple[Ask, ...]
    values: Mapping[str, Mapping[str, Any]] = field(hash=False)
    failures: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    used: Mapping[str, Reply] = field(default_factory=dict, hash=False)


def digest_of(body: Mapping[str, Any], sample: int) -> str:
    """Return the digest of a request: all that the reply may depend on and that is known before."""
    return hashlib.sha256(json_line({"body": body, "sample": sample})).hexdigest()


def look(
    task: Task, judge: Judge, item: Item, kept: Mapping[str, Reply], refused: Mapping[str, str] | None = None
) -> Look:
    """Return where the conversation about an item stands.

    Args:
        kept: replies by digest.
        refused: why a request will have no reply, by digest.

    Errors:
        PrismError: a template of the task that asks for what is not there.
    """
    feedback: dict[str, list[dict[str, Any]]] = {}
    state = _State(task, judge, item, kept, refused or {})
    for turn in range(task.rounds + 1):
        state.begin(feedback)
        for call in task.calls:
            state.make(call)
        back = [call for call in task.calls if _is_sent_back(call, state.values)]
        if state.asks or not back or turn == task.rounds:
            break
        for call in back:
            said = {"reply": state.values[call.back_to], "review": state.values[call.name]}
            feedback.setdefault(call.back_to, []).append(said)
    return Look(tuple(state.asks), state.values, tuple(state.failures), tuple(state.remarks), state.used)


def _is_sent_back(call: Call, values: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return True if the reply of a call does not accept that of the one before."""
    return bool(call.back_to) and call.name in values and not values[call.name].get(call.accepting_key)


class _State:
    """One pass over the calls of a task."""

    def __init__(
        self, task: Task, judge: Judge, item: Item, kept: Mapping[str, Reply], refused: Mapping[str, str]
    ) -> None:
        """Remember what is known; `begin` starts a pass."""
        self.task, self.judge, self.item = task, judge, item
        self.kept, self.refused = kept, refused
        self.used: dict[str, Reply] = {}
        self.begin({})

    def begin(self, feedback: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Start a pass with what reviews have said so far; what was used in earlier passes stays used."""
        self.feedback = feedback
        self.asks: list[Ask] = []
        self.values: dict[str, Mapping[str, Any]] = {}
        self.failures: list[str] = []
        self.remarks: list[str] = []
        self.left_out: set[str] = set()

    def make(self, call: Call) -> None:
        """Make a call as far as the replies go: its reply, a failure, or the next ask."""
        if missing := [name for name in call.needs if name not in self.values]:
            if any(name in self.left_out for name in missing):
                self.left_out.add(call.name)
            return  # behind an open ask, or behind a failure, which is told there
        seen = {
            **self.item.values, "call": {"name": call.name, **call.parameters}, "judge": self.judge.name,
            "replies": {name: self.values[name] for name in call.needs},
            "feedback": list(self.feedback.get(call.name, ())),
        }  # fmt: skip
        if not self.task.templates.holds(call.condition, seen):
            self.left_out.add(call.name)
            return
        prompt = self.task.templates.render(call.prompt, seen)
        self._converse(call, [_message(prompt, call, self.item.images if self.task.has_images else ())])

    def _converse(self, call: Call, messages: list[dict[str, Any]]) -> None:
        """Follow a conversation from its first message on, while its replies are kept."""
        misfits, unmet = MISFITS, self.task.rounds
        while True:
            body = self.judge.body(messages)
            digest = digest_of(body, self.judge.sample)
            reply = self.kept.get(digest)
            if reply is None:
                if digest in self.refused:
                    self.failures.append(f"{call.name}: {self.refused[digest]}")
                else:
                    self.asks.append(Ask(digest, body, f"{self.item.place}, {call.name}", call.name))
                return
            self.used[digest] = reply
            read = read_reply(reply.text, call.schema, is_cut=reply.finish == "length", refusal=reply.refusal)
            faults = list(read.faults)
            if read.value is None:
                misfits -= 1
                is_last = misfits < 0
            else:
                faults = check_faults(call.check, read.value)
                unmet -= bool(faults)
                is_last = unmet < 0
            if read.value is not None and not faults:
                self.values[call.name] = read.value
                self.remarks += [f"{call.name}: {', '.join(read.remarks)}"] if read.remarks else []
                return
            if is_last:
                self.failures.append(f"{call.name}: {'; '.join(faults)}")
                return
            said = {"role": "assistant", "content": _sendable(reply.text)}
            messages = [*messages, said, _complaint(faults)]


def _message(prompt: str, call: Call, images: Sequence[str]) -> dict[str, Any]:
    """Return the first message of a conversation: images, prompt, and the schema of the reply."""
    text = _sendable(f"{prompt}\n\n{ASKED_FOR}{json.dumps(call.schema, ensure_ascii=False)}")
    if not images:
        return {"role": "user", "content": text}
    shown = [{"type": "image_url", "image_url": {"url": url}} for url in images]
    return {"role": "user", "content": [*shown, {"type": "text", "text": text}]}


def _complaint(faults: Sequence[str]) -> dict[str, Any]:
    """Return the message that asks for a reply again, with what is wrong with it."""
    listed = "\n".join(f"- {fault}" for fault in faults)
    return {"role": "user", "content": _sendable(f"This reply cannot be used:\n{listed}\n{_AGAIN}")}


def _sendable(text: str) -> str:
    """Return a text that UTF-8 can hold: half a surrogate pair, which JSON may hold, as its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
