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

from prism.judging.conversations import ASKED_FOR
from prism.judging.endpoint import Answered
from prism.judging.replies import Reply

IMITATION = "imitation"  # in place of an address, and the name of its model
_ENTRIES = 9  # of an object whose keys are open: numbers from 1 on


def imitated_reply(prompt: str, judge: str = "") -> str:
    """Return a reply to a prompt, as JSON that fits the schema at its end.

    Args:
        judge: another one may say something else.

    >>> imitated_reply('Why?' + ASKED_FOR + '{"type": "object", "required": ["a"], "properties": {"a": {"enum": [1]}}}')
    '{"a": 1}'
    """
    schema = json.loads(prompt.rpartition(ASKED_FOR)[2])
    return json.dumps(_fitting(schema, f"{judge}/{prompt}", schema), ensure_ascii=False)


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

    async def ask(self, body: Mapping[str, Any]) -> Answered:
        """Answer a request."""
        content = body["messages"][0]["content"]
        prompt = content if isinstance(content, str) else content[-1]["text"]
        return Answered(Reply(imitated_reply(prompt, f"{body['model']}, {body.get('seed')}")))
