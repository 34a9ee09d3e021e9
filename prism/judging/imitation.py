"""A judge that is none (`--endpoint imitation`): replies that fit the schema and mean nothing, to try a task with.

No model, no network and no key: a reply is made from the JSON Schema and the digest of the prompt, so it is the same
every time. It shows what a prompt asks, that the schema can be fulfilled, and that the findings are read; the findings
themselves name a model `imitation`, so that nobody takes them for a judgement. Names behind it are judges of their own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from prism.errors import PrismError
from prism.judging.conversations import ASKED_FOR, Item, Judge, look
from prism.judging.endpoint import Answered, Failure, Kind
from prism.judging.rendering import UnknownName
from prism.judging.replies import Reply
from prism.judging.results import findings_of
from prism.judging.tasks import Task

IMITATION = "imitation"  # in place of an address, and the name of its model
_REHEARSALS = 8  # imitated replies to each prompt: lists with and without entries, and most words of an enumeration
_ENTRIES = 9  # of an object whose keys are open: numbers from 1 on


def imitated_reply(prompt: str, judge: str = "") -> str:
    """Return a reply to a prompt, as JSON that fits the schema at its end.

    Args:
        judge: another one may say something else.

    Errors:
        PrismError: the schema says what no imitation is made of.

    >>> imitated_reply('Why?' + ASKED_FOR + '{"type": "object", "required": ["a"], "properties": {"a": {"enum": [1]}}}')
    '{"a": 1}'
    """
    schema = json.loads(prompt.rpartition(ASKED_FOR)[2])
    try:
        return json.dumps(_fitting(schema, f"{judge}/{prompt}", schema), ensure_ascii=False)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise PrismError("the imitation knows only a part of JSON Schema, and can make no reply to this one") from error


def _fitting(schema: Mapping[str, Any], seed: str, root: Mapping[str, Any]) -> Any:
    """Return a value that fits a schema, chosen by a seed; of the language of schemas the part that tasks need."""
    if "$ref" in schema:
        return _fitting(root["$defs"][schema["$ref"].rpartition("/")[2]], seed, root)
    chance = int.from_bytes(hashlib.sha256(seed.encode("utf-8", "backslashreplace")).digest()[:8])
    if "enum" in schema:
        return schema["enum"][chance % len(schema["enum"])]
    kinds = schema.get("type", "string")
    kind = kinds[chance % len(kinds)] if isinstance(kinds, list) else kinds
    if kind == "object":
        return _fitting_object(schema, seed, root)
    if kind == "array":
        n = max(schema.get("minItems", 0), chance % 2)
        return [_fitting(schema.get("items", {}), f"{seed}/{place}", root) for place in range(n)]
    if kind in ("integer", "number"):
        least = schema.get("minimum", 1)
        spread = int(schema.get("maximum", least) - least) if kind == "integer" else 0  # marks, of which any will do
        return least + (chance % (spread + 1) if spread > 0 else 0)
    return {"boolean": chance % 2 == 0, "null": None}.get(kind, f"imitated {seed.rpartition('/')[2][:20]}")


def _fitting_object(schema: Mapping[str, Any], seed: str, root: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with its required entries, and some of those whose keys are open."""
    properties = schema.get("properties", {})
    made = {name: _fitting(properties.get(name, {}), f"{seed}/{name}", root) for name in schema.get("required", ())}
    if "propertyNames" in schema and isinstance(schema.get("additionalProperties"), Mapping):
        rule = schema["additionalProperties"]
        made |= {str(n): _fitting(rule, f"{seed}/{n}", root) for n in range(1, _ENTRIES + 1)}
    return made


class ImitatedEndpoint:
    """In place of an endpoint."""

    async def __aenter__(self) -> ImitatedEndpoint:
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing: there is no connection."""

    async def ask(self, body: Mapping[str, Any]) -> Answered | Failure:
        """Answer a request."""
        try:
            return Answered(_answer(body, f"{body['model']}, {body.get('seed')}"))
        except PrismError as error:
            return Failure(Kind.END, str(error))


def _answer(body: Mapping[str, Any], judge: str) -> Reply:
    """Return the reply to a request."""
    content = body["messages"][0]["content"]
    return Reply(imitated_reply(content if isinstance(content, str) else content[-1]["text"], judge))


def rehearse(task: Task, judge: Judge, item: Item) -> None:
    """Try the templates of a task on imitated replies about an item, so that a wrong name is told before any call.

    What else goes wrong may be the imitation's own fault, and is not told.

    Errors:
        UnknownName: templates that name what neither the item nor a reply that fits its schema has, one a line.
    """
    faults: dict[str, None] = {}
    for number in range(_REHEARSALS):
        kept: dict[str, Reply] = {}
        try:
            while (found := look(task, judge, item, kept)).asks:
                kept |= {ask.digest: _answer(ask.body, str(number)) for ask in found.asks}
            findings_of(task, judge, item, found)
        except UnknownName as error:
            faults[str(error)] = None
        except PrismError:
            continue
    if faults:
        told = "tried with replies made from the schema; nothing was asked"
        raise UnknownName("\n".join([*faults, f"({told})"]))
