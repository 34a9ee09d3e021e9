"""Read the reply of a judge model: the one object in it that fits the schema, or why there is none.

What stands around the object, and a code fence, is taken off as a findings file is read (`repaired_json`). An object
that was cut off is no reply, though what is left may fit: a list of faults that lacks its end makes a judge mild. Two
objects that fit and differ are none either, for the one may be what the judged text would like to be said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prism.errors import PrismError
from prism.grading.row import json_line
from prism.inputs import parse_json, refuse_constant, shown, value_faults
from prism.judging.tasks import value_misfits
from prism.protocols.repaired_json import AROUND, FENCE, find_values

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
