r"""A verifier for NeMo Gym: the class of a resources server, and the same verification as a function and over HTTP.

The whole `app.py` of a resources server is:

    from prism.rewards import Reward
    from prism.rewards.nemo_gym import resources_server

    PrismResourcesServer = resources_server(Reward("closure", problems="/data/problems"))

    if __name__ == "__main__":
        PrismResourcesServer.run_webserver()

A row of the data set says its problem in `problem` or `problem_id`, or its gold answer in `expected_answer`, itself or
in its `verifier_metadata`: an id in the problem set, a problem as an object or as a JSON string, a gold answer. The
answer to `/verify` is the request with `reward` and the numbers of `scoring.SCALARS`, each with `prism_` before its
name, so that the metrics of NeMo Gym take them up. Where the grader failed, `mask_sample` is true: that reward measures
nothing. A row whose problem cannot be used is a mistake of the data set: it is refused with status 422 and all its
faults, which NeMo Gym's agent prints and fails at.

`prompt_rows` makes the rows of a data set from problems.

Read in the source of NeMo Gym (`nemo_gym/base_resources_server.py`, `nemo_gym/openai_utils.py`,
`resources_servers/math_with_judge/app.py`, of 2026); the class was run with 0.4.0, by
`benchmarks/frameworks/trainers.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prism.errors import PrismError
from prism.problem.images import image_content
from prism.problem.prompts import Prompt
from prism.rewards.data_sets import Problems, prompts_with_ids
from prism.rewards.generated import GeneratedProblems, entries_from
from prism.rewards.reward import Reward, Rewarded

_FIELDS = ("problem", "problem_id", "expected_answer")
_METADATA = "verifier_metadata"
_FAILED = {"killed": "the grader was stopped on this solution", "internal": "the grader failed on this solution"}


def verify(reward: Reward, request: Mapping[str, Any]) -> dict[str, Any]:
    """Grade a `/verify` request of NeMo Gym in this process and return the answer to it.

    Errors:
        PrismError: a request that has not this shape, or whose problem cannot be used: a mistake of the data set.
    """
    found = reward(reference_of(request), solution_of(request))
    if found.value is None:
        raise PrismError(found.fault)
    return answer(request, found)


def reference_of(request: Mapping[str, Any]) -> Any:
    """Return the reference of a request: the first of `_FIELDS` that it has, or else that its metadata has.

    Errors:
        PrismError: nothing of the kind.
    """
    metadata = request.get(_METADATA)
    for place in (request, metadata if isinstance(metadata, Mapping) else {}):
        for name in _FIELDS:
            if place.get(name) is not None:
                return place[name]
    raise PrismError(f"request: no {', '.join(_FIELDS)}, neither itself nor in its {_METADATA}")


def solution_of(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    r"""Return the model's output as chat messages; reasoning items are marked as reasoning.

    Errors:
        PrismError: no response with a list of output.

    >>> text = {"type": "output_text", "text": "$v = a t$", "annotations": []}
    >>> solution_of({"response": {"output": [{"type": "message", "role": "assistant", "content": [text]}]}})
    [{'role': 'assistant', 'content': '$v = a t$'}]
    """
    response = request.get("response")
    output = response.get("output") if isinstance(response, Mapping) else None
    if not isinstance(output, list):
        raise PrismError("request: no response with a list of output")
    found: list[dict[str, Any]] = []
    for item in output:
        kind = item.get("type") if isinstance(item, Mapping) else None
        if kind == "message" and item.get("role", "assistant") == "assistant":
            found.append({"role": "assistant", "content": _content_text(item.get("content"), "output_text")})
        elif kind == "reasoning":
            thought = _content_text(item.get("content"), "reasoning_text") or _content_text(
                item.get("summary"), "summary_text"
            )
            found.append({"role": "assistant", "content": "", "reasoning": thought})
    return found


def answer(request: Mapping[str, Any], found: Rewarded) -> dict[str, Any]:
    """Return the request with `reward`, its `prism_` scalars and, if the grader failed, `mask_sample` added."""
    status = next((name for name in _FAILED if found.scalars[name]), None)
    failed = {} if status is None else {"mask_sample": True, "failure_reason": _FAILED[status]}
    numbers = {f"prism_{name}": value for name, value in found.scalars.items()}
    return {**request, **numbers, **failed, "reward": found.value or 0.0}


def resources_server(reward: Reward) -> Any:
    """Return a NeMo Gym resources server class whose `verify` grades with this reward, and refuses bad rows (422)."""
    from fastapi import HTTPException
    from nemo_gym.base_resources_server import BaseVerifyRequest, BaseVerifyResponse, SimpleResourcesServer
    from pydantic import ConfigDict
    from starlette.concurrency import run_in_threadpool

    class PrismVerifyRequest(BaseVerifyRequest):  # type: ignore[misc, unused-ignore]
        """A NeMo Gym verify request that keeps unknown keys."""

        model_config = ConfigDict(extra="allow")

    class PrismVerifyResponse(BaseVerifyResponse):  # type: ignore[misc, unused-ignore]
        """A NeMo Gym verify response that keeps unknown keys."""

        model_config = ConfigDict(extra="allow")

    class PrismResourcesServer(SimpleResourcesServer):  # type: ignore[misc, unused-ignore]
        """The resources server that grades with `reward`."""

        async def verify(self, body: Any) -> Any:
            """Grade one request in a thread, so that the event loop stays free, and return the response.

            Errors:
                HTTPException: 422, with the text of what `verify` raises about a row.
            """
            row = body.model_dump()
            try:
                found = await run_in_threadpool(verify, reward, row)  # the loop goes on answering
            except PrismError as error:
                raise HTTPException(422, str(error)) from error
            return PrismVerifyResponse(**found)

    # The web framework reads these as classes, and they are known only here.
    PrismResourcesServer.verify.__annotations__ = {"body": PrismVerifyRequest, "return": PrismVerifyResponse}
    return PrismResourcesServer


def prompt_rows(problems: Problems, *, style: str = "prism") -> list[dict[str, Any]]:
    """Return the rows of a data set for NeMo Gym: the prompt as the input of a response, the id in the metadata.

    Images stand before the text, as `input_image` with a `data:` URL. Write each row as a line of JSON.

    Args:
        problems: as of `Reward`, which finds them by the same ids.
        style: of `prism.prompt`.

    Errors:
        PrismError: an unknown style, all faults of the set, or images that cannot be read.
    """
    return [
        {"responses_create_params": {"input": _as_input(each)}, _METADATA: {"problem_id": name}}
        for name, each in prompts_with_ids(problems, style)
    ]


def _as_input(prompt: Prompt) -> list[dict[str, Any]]:
    """Return a prompt as the input of OpenAI's Responses API: one message of the user."""
    if not prompt.images:
        return [{"role": "user", "content": prompt.text}]
    images = [
        {"type": "input_image", "image_url": image_content(image).data_url, "detail": "auto"} for image in prompt.images
    ]
    return [{"role": "user", "content": [*images, {"type": "input_text", "text": prompt.text}]}]


def generated_rows(problems: GeneratedProblems, n: int | None = None, *, start: int = 0) -> Iterator[dict[str, Any]]:
    """Yield rows of generated problems for NeMo Gym, each a line of its JSONL; the problem stands in the metadata.

    Args:
        problems: made by `prism.rewards.endless`.
        n, start: number of rows, and the index of the first; without n up to the size, or without end.

    Errors:
        PrismError: a start or a number below 0.
    """
    return (
        {
            "responses_create_params": {"input": [{"role": "user", "content": entry["question"]}]},
            _METADATA: entry["metadata"],
        }
        for entry in entries_from(problems, start, n)
    )


def _content_text(content: Any, kind: str) -> str:
    """Return the text of a message's content: the string itself, or its parts whose `type` is `kind`, joined."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == kind]
    return "".join(part for part in parts if isinstance(part, str))
