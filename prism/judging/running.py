"""Run a task over its items: what is open is asked, what is answered is kept, and findings follow in input order.

The board knows which requests are open; who answers them is a network endpoint (`ask_all`) or the output of a batch
(`take_batch`). Both only add replies, so they may follow each other, be killed and begin again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Protocol, Self

from prism.errors import PrismError, raise_faults
from prism.inputs import shown
from prism.judging.conversations import Ask, Item, Judge, Look, look
from prism.judging.endpoint import Answered, Failure, Kind
from prism.judging.pacing import Pace, Purse, own_wait
from prism.judging.replies import Reply, ReplyFile, reply_of
from prism.judging.tasks import Task
from prism.runs.records import SHOWN_FAULTS

NEVER = 10  # calls without one that fits, or is taken at all, after which a run ends instead of asking on


@dataclass(slots=True)
class Conversation:
    """An item and a judge.

    Attributes:
        open: digests of what is on its way.
        end: how it stands when nothing is to be asked any more; None before.
    """

    item: Item
    judge: Judge
    open: set[str] = field(default_factory=set)
    end: Look | None = None


class Board:
    """What is open of a run.

    Attributes:
        judges, n_items: who are asked, and about how many items, each of them about each.
        reply_file: where the replies are kept.
        refused: why a request will have no reply, by digest.
        unanswered: requests that nobody has answered, in order of the input.
    """

    def __init__(self, task: Task, judges: Sequence[Judge], items: Sequence[Item], reply_file: ReplyFile) -> None:
        """Set up the conversations; none is looked at yet."""
        self.task, self.judges, self.n_items, self.reply_file = task, judges, len(items), reply_file
        self.conversations = [Conversation(item, judge) for item in items for judge in judges]
        self.refused: dict[str, str] = {}
        self.unanswered: dict[str, Ask] = {}
        self._unseen = deque(self.conversations)
        self._ready: deque[Ask] = deque()
        self._waiting: dict[str, list[Conversation]] = {}
        self._failing: dict[str, set[int]] = {}
        self._fitted: set[str] = set()

    @property
    def is_open(self) -> bool:
        """Whether calls are not made yet."""
        return any(one.end is None for one in self.conversations)

    def check(self) -> None:
        """Look at all conversations, so that an author's mistake is told before anything is asked.

        Those in which nothing is open are not looked at again until the end.

        Errors:
            PrismError: all prompts that cannot be filled, one a line; or no reply of so many that are kept fits.
        """
        faults: dict[str, None] = {}
        is_open: list[Conversation] = []
        for one in self.conversations:
            try:
                found = look(self.task, one.judge, one.item, self.reply_file.replies)
            except PrismError as error:
                faults[str(error)] = None
                continue
            self._note_end(one, found)
            if one.end is None:
                is_open.append(one)
        raise_faults([*faults][:SHOWN_FAULTS])
        self._unseen = deque(is_open)

    def take(self) -> Ask | None:
        """Return a request that can be made now; None where there is none, though one may come of those on the way."""
        while not self._ready and self._unseen:
            self._look_at(self._unseen.popleft())
        return self._ready.popleft() if self._ready else None

    def has_more(self) -> bool:
        """Return True while requests are on their way."""
        return bool(self._waiting)

    def answer(self, ask: Ask, reply: Reply) -> None:
        """Keep a reply, and look at the conversations that waited for it.

        Errors:
            OSError: it cannot be kept.
            PrismError: no reply of so many has fit.
        """
        self.reply_file.add(ask.digest, reply)
        self._go_on(ask.digest)

    def refuse(self, ask: Ask, why: str) -> None:
        """Note that a request will have no reply in this run."""
        self.refused[ask.digest] = why
        self._go_on(ask.digest)

    def leave(self, ask: Ask) -> None:
        """Note that a request stays open."""
        self.unanswered[ask.digest] = ask
        for conversation in self._waiting.pop(ask.digest, ()):
            conversation.open.discard(ask.digest)

    def _go_on(self, digest: str) -> None:
        """Look again at the conversations that wait for nothing else any more."""
        for conversation in self._waiting.pop(digest, ()):
            conversation.open.discard(digest)
            if not conversation.open:
                self._look_at(conversation)

    def _look_at(self, conversation: Conversation) -> None:
        """Open the requests of a conversation; one that another conversation waits for is made once."""
        found = look(self.task, conversation.judge, conversation.item, self.reply_file.replies, self.refused)
        for ask in found.asks:
            if ask.digest in self.unanswered:
                continue
            conversation.open.add(ask.digest)
            if ask.digest not in self._waiting:
                self._ready.append(ask)
            self._waiting.setdefault(ask.digest, []).append(conversation)
        self._note_end(conversation, found)

    def _note_end(self, conversation: Conversation, found: Look) -> None:
        """Note the end of a conversation, and what failed of calls none of which has a reply that fits.

        Errors:
            RunEnded: it failed in too many conversations.
        """
        conversation.end = None if found.asks else found
        self._fitted.update(found.values)
        for failure in found.failures:
            name, _, why = failure.partition(": ")
            failing = self._failing.setdefault(name, set())
            failing.add(id(conversation))
            if name not in self._fitted and len(failing) >= NEVER:
                raise RunEnded(f"call {name}: none of the first {NEVER} has a reply that can be used; the last: {why}")


class Answers(Protocol):
    """Whoever answers requests: an endpoint of the network, or its imitation; open while it is used as a context."""

    async def __aenter__(self) -> Self:
        """Return itself."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Close what is open."""

    async def ask(self, body: Mapping[str, Any]) -> Answered | Failure:
        """Answer one request."""


class RunEnded(PrismError):
    """Raised where it makes no sense to ask on: the endpoint refuses, or nothing fits."""


@dataclass(frozen=True, slots=True)
class Manners:
    """How an endpoint is asked.

    Attributes:
        at_once: calls on their way together.
        tries: of one call, where what passes goes wrong.
    """

    at_once: int = 8
    tries: int = 6


async def ask_all(
    board: Board, endpoint: Answers, purse: Purse, manners: Manners, on_done: Callable[[], object]
) -> None:
    """Ask the endpoint what is open, until nothing is or a limit is reached (`Purse.reached`).

    Errors:
        PrismError: the endpoint refuses, no reply fits, a template cannot be filled; what came before is kept.
        OSError: a reply cannot be kept.
    """
    crew = _Crew(board, endpoint, purse, manners, on_done)
    async with endpoint, asyncio.TaskGroup() as group:
        for _ in range(manners.at_once):
            group.create_task(crew.work())
    if crew.ended is not None:
        raise crew.ended


class _Crew:
    """Those who make the calls of a run, with what they have to know of each other.

    Attributes:
        ended: why it makes no sense to ask on. What is on its way is waited for and kept, as it is where a limit is
            reached: it is paid for.
    """

    def __init__(
        self, board: Board, endpoint: Answers, purse: Purse, manners: Manners, on_done: Callable[[], object]
    ) -> None:
        """Set up; each of the crew runs `work`."""
        self.board, self.endpoint, self.purse = board, endpoint, purse
        self.manners, self.on_done = manners, on_done
        self.ended: PrismError | OSError | None = None
        self._paces: dict[str, Pace] = {}
        self._changed = asyncio.Condition()
        self._over = asyncio.Event()
        self._n_answered = 0
        self._n_refused = 0
        self._n_lost = 0  # in a row, without a reply between them

    @property
    def is_over(self) -> bool:
        """Whether no further request is to go out."""
        return bool(self.purse.reached) or self.ended is not None

    async def work(self) -> None:
        """Take requests and make them, until none is left."""
        while not self.is_over:
            ask = self._take()
            if ask is not None:
                await self._make(ask)
                async with self._changed:
                    self._changed.notify_all()
            elif not self.is_over and self.board.has_more():
                async with self._changed:
                    await self._changed.wait()
            else:
                break
        await self._wake()

    async def _wake(self) -> None:
        """Wake those who wait for news, and where nothing is asked any more those who wait for their turn too."""
        if self.is_over:
            self._over.set()
            for pace in self._paces.values():
                await pace.let_all_out()
        async with self._changed:
            self._changed.notify_all()

    def _take(self) -> Ask | None:
        """Return the next request; None where there is none now."""
        try:
            return self.board.take()
        except PrismError as error:
            self.ended = error
            return None

    async def _make(self, ask: Ask) -> None:
        """Make one request, again where something passes; it ends as a reply, a refusal, or left open."""
        pace = self._paces.setdefault(str(ask.body["model"]), Pace(self.manners.at_once))
        n_tried, n_answered = 0, self._n_answered
        while True:
            async with pace.turn():
                reserved = None if self.is_over else self.purse.reserve(ask.body)
                if reserved is None:
                    self.board.leave(ask)
                    return
                found = await self.endpoint.ask(ask.body)
                if isinstance(found, Answered):
                    self.purse.settle(reserved, found.reply)
                    pace.answered(found.headers)
                    self._keep(ask, found.reply)
                    return
                self.purse.settle(reserved, None, was_sent=found.was_sent)
                # an endpoint that refuses and serves others in between is busy, and not lost
                n_tried += not (found.is_refusal and self._n_answered > n_answered)
                n_answered = self._n_answered
                wait = own_wait(max(n_tried, 1)) if found.wait is None else found.wait
                if found.is_refusal:
                    pace.refused(wait)
            if found.kind is not Kind.PASSING or n_tried >= self.manners.tries:
                self._give_up(ask, found)
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._over.wait()

    def _keep(self, ask: Ask, reply: Reply) -> None:
        """Keep a reply, and see what follows from it."""
        self._n_answered += 1
        self._n_lost = 0
        try:
            self.board.answer(ask, reply)
        except (PrismError, OSError) as error:
            self.ended = error
        self.on_done()

    def _give_up(self, ask: Ask, found: Failure) -> None:
        """Note that a request has no reply; or end, where no other will have one either."""
        self._n_refused += found.kind is Kind.REQUEST
        self._n_lost += found.kind is Kind.PASSING
        if found.kind is Kind.END:
            why = found.why
        elif self._n_lost and not self._n_answered:
            why = f"no call was answered; after {self.manners.tries} tries: {found.why}"
        elif self._n_lost >= NEVER:
            why = f"the last {NEVER} calls were not answered; {found.why}"
        elif self._n_refused >= NEVER and not self._n_answered:
            why = f"the endpoint takes none of the first {NEVER} requests; the last: {found.why}"
        else:
            self.board.refuse(ask, f"no reply: {found.why}")
            self.on_done()
            return
        self.board.leave(ask)
        self.ended = self.ended or RunEnded(why)


# Without a network. ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BatchTaken:
    """What was taken from the output of a batch.

    Attributes:
        n: replies that were kept.
        failed: why a line holds none, by digest.
        n_strange: lines that answer nothing that is open.
    """

    n: int
    failed: Mapping[str, str]
    n_strange: int


def take_batch(board: Board, lines: Mapping[str, Any]) -> BatchTaken:
    """Answer what is open from the output of a batch, and what follows from that; the rest stays open.

    Args:
        lines: by `custom_id`, which is the digest of a request.

    Errors:
        OSError: a reply cannot be kept.
        RunEnded: no reply fits.
    """
    failed: dict[str, str] = {}
    n = 0
    before = len(lines.keys() & board.reply_file.replies.keys())
    while (ask := board.take()) is not None:
        line = lines.get(ask.digest)
        try:
            reply = None if line is None else batch_reply(line)
        except PrismError as error:
            failed[ask.digest] = str(error)
            reply = None
        if reply is None:
            board.leave(ask)
        else:
            board.answer(ask, reply)
            n += 1
    return BatchTaken(n, failed, len(lines) - n - len(failed) - before)


def batch_reply(line: Mapping[str, Any]) -> Reply:
    """Return the reply in a line of a batch's output.

    Errors:
        PrismError: it failed, or holds none.
    """
    response = line.get("response")
    if isinstance(response, Mapping) and response.get("status_code", 200) == 200 and not line.get("error"):
        return replace(reply_of(response.get("body")), seconds=None)
    error = line.get("error") or (response.get("body") if isinstance(response, Mapping) else None)
    raise PrismError(f"the batch has no reply: {shown(str(error))}")


def batch_line(ask: Ask) -> dict[str, Any]:
    """Return a request as a line of a batch's input."""
    return {"custom_id": ask.digest, "method": "POST", "url": "/v1/chat/completions", "body": dict(ask.body)}
