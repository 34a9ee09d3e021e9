"""Bulk runs on a Ray cluster: actors of Ray Data grade, the driver reads and writes (extra `ray`).

Input and output stay with the driver, the process that was started: it reads rollouts one after another as any run does
and keeps what is done in the same shards. So fields, places in the input, `resume` and the bytes of the output are
those of a run without Ray, for all formats. Ray Data's own readers would not do: they number no rows, and a record may
hold several solutions. Nor would a data set of all rollouts: it is held as a whole. Reading takes far less time than
grading, so one reader feeds hundreds of actors.

What Ray Data holds are the numbers of blocks, of which it gives each actor one after another, several at a time. The
actor asks for the block of that number, which the driver has put into a store on its own node. Only `AHEAD` blocks for
each actor are there, read and not done, whatever the size of the input.

A rollout whose grade raises is a row with an incident. One on which an actor's process dies, or overruns, takes the
actor with it; Ray starts another and gives it the same block, which it then grades in a worker process of its own (see
`workers`), so that a row says `killed` where a run without Ray says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import os
import pickle
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from prism.engine.kernels import warm
from prism.errors import PrismError, importing, needs_extra
from prism.grading.row import fingerprint
from prism.inputs import why_failed
from prism.problem.schema import Problem
from prism.runs import bulk
from prism.runs.bulk import Options, Summary
from prism.runs.rollouts import Rollout, Scanned
from prism.runs.worker_memory import Memory, relax_garbage_collection
from prism.runs.workers import KILL_AFTER, Done, Job, Task, new_prepared_cache, run_in_workers
from prism.version import __version__

BLOCK = 32  # rollouts of a block, at most, unless there were more than `MOST_BLOCKS`
MOST_BLOCKS = 10_000  # Ray Data keeps the numbers of all
SHARES = 8  # blocks for each actor at least, if there are rollouts enough: the last ones end at about the same time
AHEAD = 4  # blocks for each actor that have been read and are not done
_PATIENCE = 10.0  # seconds for the head of a cluster to answer
_IN_FLIGHT = 2  # numbers that an actor holds: the one that it is at, and the next
_NEEDED = needs_extra("Ray needs", "ray")
_LOCKED = (
    "wants its token: set RAY_AUTH_MODE=token, and have the token of its head in ~/.ray/auth_token, in the file that "
    "RAY_AUTH_TOKEN_PATH names, or in RAY_AUTH_TOKEN"
)


def run(
    problems: Mapping[str, Problem],
    source: Path,
    scanned: Scanned,
    out: Path,
    *,
    address: str,
    options: Options,
    workers: int = 0,
    kill_after: float = KILL_AFTER,
    resume: bool = False,
    force: bool = False,
    on_done: Callable[[int], None] = lambda _: None,
) -> Summary:
    """Grade a file of rollouts into a file of score rows as `bulk.run` does, with the actors of a Ray cluster.

    Args:
        address: `auto`, the cluster that this machine is a node of; `local`, one that is started here and stopped at
            the end; or an address, HOST:PORT.
        workers: actors, each of one processor; 0: as many as the cluster has processors.

    Errors:
        PrismError: as `bulk.run`; Ray is not installed, no cluster answers, or it gives up.
    """
    if workers < 0:
        raise PrismError(f"workers = {workers}: expected 0 or more")
    with _cluster(address) as n_processor:
        run_tasks = partial(
            run_on_ray, problems=problems, n_most=scanned.n, workers=workers or n_processor,
            training=options.training, kill_after=kill_after,
        )  # fmt: skip
        return bulk.run(
            problems, source, scanned, out, options=options, resume=resume, force=force, on_done=on_done,
            run_tasks=run_tasks,
        )  # fmt: skip


def run_on_ray(
    tasks: Iterator[Task],
    job: Job,
    *,
    problems: Mapping[str, Problem],
    n_most: int,
    workers: int,
    training: bool,
    kill_after: float = KILL_AFTER,
) -> Iterator[Done]:
    """Run the tasks in actors of the connected cluster; yield results in the order of the tasks.

    Args:
        job: a function of a module, or a `partial` of one: actors import it.
        problems: all problems that tasks may refer to; sent to each actor once.
        n_most: upper bound of the number of tasks; sets the size of blocks.

    Errors:
        PrismError: actors that do not start, a cluster that is gone.
    """
    ray = _import_ray()
    size = max(-(-n_most // MOST_BLOCKS), min(BLOCK, -(-n_most // (SHARES * workers))), 1)
    blocks = iter(lambda: list(islice(tasks, size)), [])
    first = list(islice(blocks, AHEAD * workers))
    if not first:
        return
    setup = _Setup(job, dict(problems), training, kill_after, fingerprint())
    try:
        store = _start_block_store(ray, setup)
        waiting: dict[int, list[Task]] = {}
        n_read = 0
        for block in first:
            _send_block(store, n_read, block, waiting)
            n_read += 1
        for number, results in _block_results(ray, store, -(-n_most // size), workers):
            done = waiting.pop(number, [])
            if block := next(blocks, []):
                _send_block(store, n_read, block, waiting)
                n_read += 1
            else:
                store.end.remote(n_read)
            store.drop.remote(number)
            yield from map(Done, done, results)
    except (ray.exceptions.RayError, ray.data.exceptions.SystemException) as error:
        raise PrismError(f"Ray: {_last_line(error)}") from error


# The driver. ----------------------------------------------------------------------------------------------------


def _import_ray() -> Any:
    """Import Ray, with its data logs silenced.

    Errors:
        PrismError: Ray is not installed.
    """
    with importing(_NEEDED):
        import ray
        import ray.data
        import ray.data.exceptions
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    return ray


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[int]:
    """Connect to a Ray cluster for the time of the context and give its number of processors, at least 1.

    Raises PrismError if there is none, or it is locked.
    """
    ray = _import_ray()
    is_ours = not ray.is_initialized()
    if is_ours:
        if address == "local":
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # else what we start here reports to Ray's makers
        try:
            _check_listening(address)
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            if _is_token_error(error):
                raise PrismError(f"Ray: the cluster at {address} {_LOCKED}") from error
            raise PrismError(f"Ray: no cluster at {address}: {_last_line(error)}") from error
    try:
        yield max(int(ray.cluster_resources().get("CPU", 1)), 1)
    finally:
        if is_ours:
            ray.shutdown()


def _check_listening(address: str) -> None:
    """Connect to the address for a moment and raise OSError if no process listens there: Ray itself tries for minutes.

    Errors:
        OSError: no process does.
    """
    if address == "auto":
        address = os.environ.get("RAY_ADDRESS") or _last_started_address()
    host, _, port = address.rpartition(":")
    if port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()


def _last_started_address() -> str:
    """Return the cluster address that `ray start` last noted on this machine, perhaps stale; empty without a note."""
    try:
        return (Path(os.environ.get("RAY_TMPDIR", "/tmp")) / "ray/ray_current_cluster").read_text().strip()  # noqa: S108
    except OSError:
        return ""


def _start_block_store(ray: Any, setup: _Setup) -> Any:
    """Start a `_BlockStore` actor on the driver's own node and return its handle."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    actor = ray.remote(num_cpus=0, max_concurrency=10_000, scheduling_strategy=here)(_BlockStore)
    return actor.remote(pickle.dumps(setup))


def _send_block(store: Any, number: int, block: list[Task], waiting: dict[int, list[Task]]) -> None:
    """Send block `number` to the store (an actor handle) and add it to `waiting`, the blocks without results."""
    waiting[number] = block
    store.put.remote(number, pickle.dumps([(task.ordinal, task.rollout) for task in block]))


def _block_results(ray: Any, store: Any, n_block: int, workers: int) -> Iterator[tuple[int, list[Any]]]:
    """Grade all blocks in Ray actors; yield each block's number and its list of results, in the order of the blocks.

    Args:
        ray: the imported module. store: handle of the `_BlockStore` actor.
    """
    # No reading tasks (`ray.data.range` has them): where actors hold all processors, those never start (ray #44687).
    numbers = ray.data.from_items([{"block": number} for number in range(n_block)], override_num_blocks=n_block)
    grades = numbers.map_batches(
        _Grader,
        fn_constructor_args=(store,),
        batch_size=1,
        batch_format="numpy",
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=_IN_FLIGHT),
    )
    grades.context.execution_options.preserve_order = True
    grades.context.enable_progress_bars = False  # the run has its own
    grades.context.print_on_execution_start = False
    # Without prefetching: a result that waits for the next one to come would hold up the reading of the next block.
    for batch in grades.iter_batches(prefetch_batches=0, batch_size=None, batch_format="numpy"):
        for number, results in zip(batch["block"], batch["results"], strict=True):
            yield int(number), pickle.loads(results)  # noqa: S301 - from an actor of ours


def _is_token_error(error: BaseException | None) -> bool:
    """Return True if an error, or one of its causes, says that Ray refused a missing or wrong token."""
    while error is not None:
        if "AuthenticationError" in f"{type(error).__name__} {error}":  # a class that Ray 2.51 does not have
            return True
        error = error.__cause__
    return False


def _last_line(error: BaseException) -> str:
    """Return the last line of an error's message (Ray begins with a traceback), or its type if it is empty."""
    lines = [line.strip() for line in why_failed(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


# Actors. --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Setup:
    """Settings that the driver sends to each actor once.

    Attributes:
        fingerprint: of the driver's grader; an actor with another one refuses to grade.
    """

    job: Job
    problems: Mapping[str, Problem]
    training: bool
    kill_after: float
    fingerprint: str


class _BlockStore:
    """A Ray actor on the driver's node that holds the blocks of rollouts which are read but not graded yet."""

    def __init__(self, setup: bytes) -> None:
        """Hold no blocks; `setup` is the pickled `_Setup` that graders fetch."""
        self._setup = setup
        self._blocks: dict[int, bytes] = {}
        self._times_taken: Counter[int] = Counter()
        self._end: int | None = None
        self._cond = asyncio.Condition()

    async def setup(self) -> bytes:
        """Return the pickled `_Setup`."""
        return self._setup

    async def put(self, number: int, block: bytes) -> None:
        """Store a pickled block of rollouts until it is dropped."""
        async with self._cond:
            self._blocks[number] = block
            self._cond.notify_all()

    async def end(self, n_block: int) -> None:
        """Note that there are no blocks from number `n_block` on, so that `take` stops waiting for one."""
        async with self._cond:
            self._end = n_block
            self._cond.notify_all()

    async def take(self, number: int) -> tuple[bytes | None, int]:
        """Wait for block `number`; return it, or None if there is no such block, and how often it was taken so far."""
        async with self._cond:
            await self._cond.wait_for(lambda: number in self._blocks or (self._end is not None and number >= self._end))
        self._times_taken[number] += 1
        return self._blocks.get(number), self._times_taken[number]

    async def drop(self, number: int) -> None:
        """Forget a block whose results have arrived."""
        self._blocks.pop(number, None)
        self._times_taken.pop(number, None)


class _Grader:
    """The actor class of Ray Data that grades blocks; prepared problems and kernels stay loaded between blocks."""

    def __init__(self, store: Any) -> None:
        """Fetch the settings and load the kernels; PrismError if this actor's grader is not the driver's."""
        self._ray = _import_ray()
        self._store = store
        self._setup: _Setup = pickle.loads(self._ray.get(store.setup.remote()))  # noqa: S301 - from the driver
        if self._setup.fingerprint != fingerprint():
            raise PrismError(f"an actor has another PRISM than the driver: {__version__}, {fingerprint()[:12]}")
        self._prepared = new_prepared_cache(training=self._setup.training)
        warm()
        relax_garbage_collection()
        self._memory = Memory()

    def __call__(self, batch: Mapping[str, Sequence[int]]) -> dict[str, list[Any]]:
        """Grade the block whose number is in `batch["block"]`; return its number and its pickled results."""
        (number,) = (int(each) for each in batch["block"])
        block, times = self._ray.get(self._store.take.remote(number))
        rollouts: list[tuple[int, Rollout]] = pickle.loads(block) if block else []  # noqa: S301 - from the driver
        tasks = [Task(ordinal, each, self._setup.problems[each.problem_id]) for ordinal, each in rollouts]
        results = [self._grade_task(task) for task in tasks] if times == 1 else self._grade_in_worker(tasks)
        return {"block": [number], "results": [pickle.dumps(results)]}

    def _grade_task(self, task: Task) -> Any:
        """Grade one task; a watchdog thread ends this process if grading takes longer than `kill_after` seconds."""
        prepared = self._prepared.get(task.problem)
        faulthandler.dump_traceback_later(self._setup.kill_after, exit=True)  # its clock needs no Python to run
        try:
            return self._setup.job(prepared, task.rollout)
        finally:
            faulthandler.cancel_dump_traceback_later()
            self._memory.keep_level()

    def _grade_in_worker(self, tasks: list[Task]) -> list[Any]:
        """Grade a block on which an actor died before, in a separate worker process that may be killed."""
        done = run_in_workers(
            iter(tasks), self._setup.job, workers=1, training=self._setup.training, kill_after=self._setup.kill_after
        )
        results = {each.task.ordinal: each.result for each in done}
        return [results[task.ordinal] for task in tasks]
