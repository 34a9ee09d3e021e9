"""Ask an OpenAI-compatible endpoint by the `openai` package: one request, one reply or the reason why there is none.

The package makes the request and tells a refusal from a broken connection; when to come back, and how often, is decided
here (`pacing`), for its own retries know nothing of the calls beside them. The key comes from the environment. Whatever
an endpoint sends back is searched for it, since some repeat it in their errors: it stands in no file and no message.

What can go wrong is of three kinds: what passes (429, 5xx, a connection that breaks, an answer of another shape), what
is of one request (400, 413, 422), and what no request will get by (401, 402, 403, 404, a quota that is used up).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from prism.errors import PrismError, importing
from prism.inputs import parse_json, shown
from prism.judging.pacing import LONGEST_WAIT, wait_of_headers
from prism.judging.replies import Reply, reply_of
from prism.judging.tasks import NEEDS_JUDGE

if TYPE_CHECKING:
    from types import TracebackType

MAX_BODY = 16_000_000  # bytes of an answer: a judge's reply is a page, and memory is not the endpoint's to fill
_NO_KEY = "none"  # what a local endpoint without keys is sent; the package wants one
_HERE = frozenset(("127.0.0.1", "::1", "localhost"))
_HIDDEN = "[key]"
_LEAST_KEY = 6  # characters of a key that is looked for in what comes back
_ENDS = {
    401: "the endpoint does not take the key (status 401)",
    402: "the endpoint wants to be paid (status 402)",
    403: "the endpoint does not let this key in (status 403)",
    404: "the endpoint knows no such model or address (status 404)",
}
_END_CODES = frozenset(("model_not_found", "insufficient_quota", "invalid_api_key", "account_deactivated"))
_OF_ONE = frozenset((400, 409, 413, 414, 415, 422))
_REFUSALS = frozenset((429, 503, 529))


class Kind(StrEnum):
    """What a failure is of."""

    PASSING = "passing"
    REQUEST = "request"
    END = "end"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request has no reply.

    Attributes:
        why: in words, without the key.
        wait: seconds that the endpoint asks for; None where it says nothing.
        is_refusal: it asks for fewer calls.
        was_sent: the model may have answered, and be paid for.
    """

    kind: Kind
    why: str
    wait: float | None = None
    is_refusal: bool = False
    was_sent: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply with the headers that it came with."""

    reply: Reply
    headers: Mapping[str, str] = field(default_factory=dict)


def check_endpoint(url: str) -> None:
    """Refuse an address that is none of an endpoint.

    Errors:
        PrismError: no address of http or https; one with a name or password in it, which would end up in files.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise PrismError(f"--endpoint {shown(url)}: expected an address such as http://127.0.0.1:8000/v1")
    if parts.username or parts.password or parts.query:
        raise PrismError("--endpoint: holds a name, a password or a query; keys come from the environment (--key-env)")


class Endpoint:
    """An endpoint, open while it is used as a context."""

    def __init__(self, url: str, *, key: str, timeout: float) -> None:
        """Remember the address and the key.

        Args:
            url: up to `/v1`.
            key: empty for an endpoint without keys.
            timeout: seconds for one request.

        Errors:
            PrismError: a bad address; the extra `judge` is not installed.
        """
        check_endpoint(url)
        with importing(NEEDS_JUDGE):
            import openai
        self._openai = openai
        self._key, self._timeout = key, timeout
        self._client = openai.AsyncOpenAI(api_key=key or _NO_KEY, base_url=url, max_retries=0, timeout=timeout)

    @property
    def is_open_to_listeners(self) -> bool:
        """Whether what is sent goes over a network without encryption."""
        url = self._client.base_url
        return url.scheme == "http" and url.host not in _HERE

    async def __aenter__(self) -> Endpoint:
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self._client.close()

    async def ask(self, body: Mapping[str, Any]) -> Answered | Failure:
        """Make one request."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self._timeout):
                raw, headers = await self._send(body)
            found = reply_of(parse_json(raw.decode("utf-8", "replace"), table=dict))
        except self._openai.APIStatusError as error:
            return self._of_status(error)
        except (self._openai.APITimeoutError, TimeoutError):
            return self._broken("no answer in time", f"{self._timeout:g} s")
        except self._openai.APIConnectionError as error:
            return self._broken("no connection", str(error.__cause__ or error))
        except PrismError as error:
            return self._broken("no answer of a chat endpoint", str(error))
        except Exception as error:  # noqa: BLE001 - a stream that breaks raises whatever the transport below it has
            return self._broken("the connection broke", str(error) or type(error).__name__)
        return Answered(replace(self._cleaned(found), seconds=round(loop.time() - began, 3)), headers)

    def _broken(self, what: str, why: str) -> Failure:
        """Return a call that came to nothing on the way, and may have been answered."""
        return Failure(Kind.PASSING, f"{what}: {self._clean(why)}", was_sent=True)

    async def _send(self, body: Mapping[str, Any]) -> tuple[bytes, Mapping[str, str]]:
        """Return the body of the answer, up to `MAX_BYTES`, and its headers.

        Errors:
            PrismError: the answer is longer.
        """
        chosen = dict(body)
        model, messages = chosen.pop("model"), chosen.pop("messages")
        create = self._client.chat.completions.with_streaming_response.create
        async with create(model=model, messages=messages, extra_body=chosen) as response:
            pieces, size = [], 0
            async for piece in response.iter_bytes():
                size += len(piece)
                if size > MAX_BODY:
                    raise PrismError(f"it is longer than {MAX_BODY} bytes")
                pieces.append(piece)
            return b"".join(pieces), {name.lower(): value for name, value in response.headers.items()}

    def _of_status(self, error: Any) -> Failure:
        """Return a refusal with a status as a failure."""
        status, headers = error.status_code, error.response.headers
        told = error.body if isinstance(error.body, Mapping) else {}
        why = self._clean(str(told.get("message") or error.message))
        if status in _ENDS:
            return Failure(Kind.END, f"{_ENDS[status]}: {why}")
        if str(told.get("code") or "") in _END_CODES:
            return Failure(Kind.END, f"the endpoint refuses (status {status}): {why}")
        if status in _OF_ONE:
            return Failure(Kind.REQUEST, f"status {status}: {why}")
        wait = wait_of_headers({name.lower(): value for name, value in headers.items()})
        if wait is not None and wait > LONGEST_WAIT:
            return Failure(Kind.END, f"the endpoint asks to come back in {wait:.0f} s (status {status}): {why}", wait)
        return Failure(Kind.PASSING, f"status {status}: {why}", wait, is_refusal=status in _REFUSALS)

    def _clean(self, text: str) -> str:
        """Return a message of an endpoint without the key, cut, and without what a terminal would obey."""
        return shown(self._hidden(text), 200)

    def _hidden(self, text: str) -> str:
        """Return a text without the key."""
        return text.replace(self._key, _HIDDEN) if len(self._key) >= _LEAST_KEY else text

    def _cleaned(self, reply: Reply) -> Reply:
        """Return a reply without the key."""
        return replace(
            reply, text=self._hidden(reply.text), refusal=self._hidden(reply.refusal),
            answered_by=self._hidden(reply.answered_by), finish=self._hidden(reply.finish),
        )  # fmt: skip
