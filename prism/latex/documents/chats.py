"""Chats as programs and interfaces save them in JSON: the messages of the one conversation that a file holds.

All that the assistant says is the solution, as in a list of messages: what is said later goes before (semantics C.2),
and what stands in an earlier turn was said. Calls of tools and what they answer are no part of it. Of an exported
conversation with several branches the one is read that was open last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from prism.errors import PrismError, count_of, named_type
from prism.inputs import decode, parse_json, value_faults
from prism.latex.documents.document import Document
from prism.latex.extraction.solution_input import Solution, solution_text

_EXPECTED = "expected a text, a list of messages or steps, or a chat with messages"


def read_json_solution(raw: bytes) -> Document:
    """Read a JSON file that holds a solution: a text, a list of messages or steps, or a chat.

    Errors:
        PrismError: no text in UTF-8, no JSON, no solution, or several conversations.
    """
    try:
        value = parse_json(decode(raw))
    except PrismError as error:
        raise PrismError(f"holds no JSON: {error}") from error
    solution = chat_messages(value)
    solution_text(solution)
    return Document(solution)


def chat_messages(value: Any) -> Solution:
    """Return the solution in a value of JSON; a text and a list of messages or steps are one already.

    Errors:
        PrismError: an object that is no known chat; several conversations.
    """
    is_list = isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)
    if is_list and all(_reader_of(each) for each in value):
        if len(value) > 1:
            raise PrismError(f"holds {count_of(len(value), 'conversation')}; a solution is one: save it alone")
        value = value[0]
    if not isinstance(value, Mapping):
        return value  # type: ignore[no-any-return]  # of another shape it is refused where it is read
    if faults := value_faults(value):
        raise PrismError("; ".join(faults))
    if read := _reader_of(value):
        return read(value)
    raise PrismError(f"holds an object with the keys {', '.join(map(str, value))[:200] or '(none)'}; {_EXPECTED}")


def _reader_of(value: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], list[Mapping[str, Any]]] | None:
    """Return the reader of a chat, by the key that its kind has; None for an object of no known kind."""
    return next((read for key, (kind, read) in _READERS.items() if isinstance(value.get(key), kind)), None)


def _plain_messages(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the messages of a chat that keeps them as interfaces take them."""
    return _messages_in(value["messages"])


def _messages_in(value: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Return a list of messages.

    Errors:
        PrismError: it holds something else.
    """
    if wrong := [each for each in value if not isinstance(each, Mapping)]:  # null and "" too
        raise PrismError(f"its list of messages holds {named_type(wrong[0])}; {_EXPECTED}")
    return list(value)


def _exported_thread(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what the assistant says in a conversation that ChatGPT has exported, on the branch that was open last."""
    nodes = value["mapping"]
    at = value.get("current_node")
    if not isinstance(at, str) or at not in nodes:
        at = next(reversed(nodes), None)
    thread: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(at, str) and at not in seen and isinstance(node := nodes.get(at), Mapping):
        seen.add(at)
        if isinstance(message := node.get("message"), Mapping):
            thread.append(message)
        at = node.get("parent")
    return [found for message in reversed(thread) for found in _exported_message(message)]


def _exported_message(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return an exported message of the assistant to the reader as messages; none for others and calls of tools."""
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, Mapping) else None
    if role != "assistant" or message.get("recipient", "all") != "all" or not isinstance(content, Mapping):
        return []
    thoughts = content.get("thoughts")
    if isinstance(thoughts, list):
        said = [each.get("content") for each in thoughts if isinstance(each, Mapping)]
        return [
            {
                "role": role,
                "content": [{"type": "thinking", "thinking": text} for text in said if isinstance(text, str)],
            }
        ]
    parts = content.get("parts")
    texts = [each for each in parts if isinstance(each, str)] if isinstance(parts, list) else []
    return [{"role": role, "content": text} for text in texts]


def _sent_messages(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the messages of a conversation that Claude has exported."""
    return [
        {"role": "assistant", "content": each.get("content") or each.get("text") or ""}
        for each in _messages_in(value["chat_messages"])
        if each.get("sender") == "assistant"
    ]


def _single(answers: Any, what: str) -> Mapping[str, Any]:
    """Return the one answer that an endpoint has given.

    Errors:
        PrismError: there are several, or none.
    """
    found = _messages_in(answers)
    if len(found) != 1:
        raise PrismError(f"holds {count_of(len(found), what)}; a solution is one: save it alone")
    return found[0]


def _chosen_message(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the message of an answer by an OpenAI-compatible endpoint.

    Errors:
        PrismError: it holds several answers, or none.
    """
    choice = _single(value["choices"], "choice")
    message = choice.get("message")
    if not isinstance(message, Mapping):
        return [{"role": "assistant", "content": str(choice.get("text") or "")}]
    return [message]


def _parts_of_candidate(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the message of an answer by Gemini.

    Errors:
        PrismError: it holds several answers, or none.
    """
    content = _single(value["candidates"], "candidate").get("content")
    return _messages_with_parts([content] if isinstance(content, Mapping) else [])


def _messages_with_parts(value: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Return messages whose texts stand in `parts`."""
    return [
        {"role": "assistant", "content": part["text"]}
        for each in _messages_in(value)
        if each.get("role", "model") == "model" and isinstance(each.get("parts"), list)
        for part in each["parts"]
        if isinstance(part, Mapping) and isinstance(part.get("text"), str) and not part.get("thought")
    ]


def _chunks(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the messages of a chat that AI Studio keeps: chunks with parts, or with a text alone."""
    chunks = value["chunkedPrompt"].get("chunks")
    return _messages_with_parts(
        [
            each
            if isinstance(each.get("parts"), list)
            else {**each, "parts": [{**each, "thought": each.get("isThought")}]}
            for each in _messages_in(chunks if isinstance(chunks, list) else [])
        ]
    )


def _response_items(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the messages among the items of an answer, beside which its calls of tools stand."""
    return [each for each in _messages_in(value["output"]) if each.get("type", "message") == "message"]


_READERS: dict[str, tuple[type, Callable[[Mapping[str, Any]], list[Mapping[str, Any]]]]] = {
    "messages": (list, _plain_messages),
    "mapping": (dict, _exported_thread),
    "chat_messages": (list, _sent_messages),
    "choices": (list, _chosen_message),
    "candidates": (list, _parts_of_candidate),
    "contents": (list, lambda value: _messages_with_parts(value["contents"])),
    "chunkedPrompt": (dict, _chunks),
    "output": (list, _response_items),
}
