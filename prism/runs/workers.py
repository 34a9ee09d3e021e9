"""Supervised worker processes: one that dies or takes too long is replaced, and its rollout is tried again.

Each worker is a new Python process (nothing is forked, and no script of the caller is run again) that reads tasks from
its standard input and writes results to its standard output; so this works from threads, from actors and from scripts
without a `__main__` guard. A thread of the supervisor waits for each worker. The clock here is a backstop: a grade has
budgets that count operations, and the row of a rollout whose worker was killed has the status `killed`.

`run_in_workers` takes an iterator of tasks; a `WorkerPool` takes tasks one by one, from any thread.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from typing import IO, Any

from prism.engine.kernels import warm
from prism.errors import PrismError
from prism.grading.prepared import PreparedProblem
from prism.grading.prepared_cache import PreparedCache
from prism.problem.schema import Problem
from prism.runs.rollouts import Rollout

KILL_AFTER = 300.0  # seconds that one rollout may take; half a second is usual
TRIES = 3  # of a rollout whose worker dies: one death may be the machine's
STARTS = 5  # of a worker before it is ready: then something is wrong with the installation
PREPARED = 128  # problems that a process keeps ready; the next rollout is mostly of the same
_CHUNK = 8  # rollouts that a worker is given at a time
_AHEAD = 4  # unfinished chunks a worker; bounds how far the input is read ahead
_WINDOW = 1024  # rollouts between the oldest unfinished one and the newest: bounds the reorder buffer of the caller
_TICK = 1.0  # seconds between two looks at the clock
_COLLECT_AFTER = (50_000, 20, 50)  # thresholds of the garbage collector's three generations
_LENGTH = struct.Struct(">Q")
_START = "import sys; sys.path[:] = {path!r}; from prism.runs.workers import main; main()"

Job = Callable[[PreparedProblem, Rollout], Any]


@dataclass(frozen=True, slots=True)
class Task:
    """A rollout with its problem and its position in the input (`ordinal`, from 0)."""

    ordinal: int
    rollout: Rollout
    problem: Problem


@dataclass(frozen=True, slots=True)
class Killed:
    """The result of a task on which `TRIES` workers died; `reason` says how each of them ended."""

    reason: str


@dataclass(frozen=True, slots=True)
class Done:
    """A finished task; `result` is what the job returned, or a `Killed` if the workers died on it."""

    task: Task
    result: Any


def new_prepared_cache(*, training: bool) -> PreparedCache:
    """Return an empty cache of prepared problems for one grading process."""
    return PreparedCache({}, size=PREPARED, training=training)


def run_serial(tasks: Iterator[Task], job: Job, *, training: bool) -> Iterator[Done]:
    """Run the job on each task in this process, in order; nothing is killed."""
    prepared = new_prepared_cache(training=training)
    for task in tasks:
        yield Done(task, job(prepared.get(task.problem), task.rollout))


def run_in_workers(
    tasks: Iterator[Task], job: Job, *, workers: int, training: bool, kill_after: float = KILL_AFTER
) -> Generator[Done]:
    """Run the tasks in worker processes; results are yielded as they finish, in any order.

    At most `_AHEAD` chunks a worker are in memory, whatever the number of tasks.

    Args:
        job: a function of a module, or a `partial` of one: workers import it.
        kill_after: seconds that one rollout may take before its worker is killed [s].

    Errors:
        PrismError: workers that do not start.
    """
    results: queue.Queue[Done | Exception] = queue.Queue()
    processes = _Processes(job, workers, training, kill_after, results.put)
    try:
        processes.start()
        yield from _feed_tasks(processes, tasks, results, most=_AHEAD * _CHUNK * workers)
    finally:
        processes.stop()


class WorkerPool:
    """A persistent worker pool. `submit` is thread-safe and returns a Future.

    The number of waiting rollouts is not bounded here; callers bound it. With 0 workers one thread of this process
    runs the jobs, and nothing is killed.
    """

    def __init__(self, job: Job, *, workers: int, training: bool, kill_after: float = KILL_AFTER) -> None:
        """Store the settings; `start` starts the processes.

        Args:
            job: a function of a module, or a `partial` of one: workers import it.
            workers: processes; 0 for a thread of this one.
            kill_after: seconds that one rollout may take before its worker is killed [s].
        """
        self._job = job
        self._prepared = new_prepared_cache(training=training)
        self._processes = _Processes(job, workers, training, kill_after, self._resolve_futures) if workers else None
        self._thread = ThreadPoolExecutor(1, "prism worker") if not workers else None
        self._numbers = count()
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self._fault: Exception | None = PrismError("the workers have not been started")

    @property
    def is_ready(self) -> bool:
        """True while rollouts are accepted: started, not stopped, and no worker has failed to start."""
        return self._fault is None

    def start(self) -> None:
        """Start the processes and load the kernels; returns when rollouts can be submitted.

        Errors:
            PrismError: workers that do not start.
        """
        if self._processes is not None:
            self._processes.start()
        else:
            warm()
        self._fault = None

    def submit(self, problem: Problem, rollout: Rollout) -> Future[Any]:
        """Queue a rollout. The future's result is what the job returns, or `Killed`.

        Errors:
            PrismError: not started, stopped, or a worker that did not start again; the future raises it too.
        """
        with self._lock:
            if self._fault is not None:
                raise PrismError(str(self._fault)) from self._fault
            if self._thread is not None:
                return self._thread.submit(self._run_in_thread, problem, rollout)
            task = Task(next(self._numbers), rollout, problem)
            future: Future[Any] = Future()
            self._waiting[task.ordinal] = future
        assert self._processes is not None
        self._processes.queue_chunk([task])
        return future

    def stop(self) -> None:
        """End all processes, whatever they are doing; waiting futures get a PrismError."""
        self._resolve_futures(PrismError("the workers have been stopped"))
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
        if self._processes is not None:
            self._processes.stop()

    def _run_in_thread(self, problem: Problem, rollout: Rollout) -> Any:
        """Run the job in the thread that stands in for worker processes when there are 0."""
        return self._job(self._prepared.get(problem), rollout)

    def _resolve_futures(self, outcome: Done | Exception) -> None:
        """Resolve the future of a finished task; an exception fails all waiting futures and closes the pool."""
        with self._lock:
            if isinstance(outcome, Exception):
                self._fault = outcome
                futures, self._waiting = list(self._waiting.values()), {}
            else:
                ordinal = outcome.task.ordinal
                futures = [self._waiting.pop(ordinal)] if ordinal in self._waiting else []
        for future in futures:
            if not future.set_running_or_notify_cancel():
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome.result)


# The supervisor. ------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Worker:
    """One worker of the pool: its current process, replaced when it dies, and the time of its current rollout.

    Attributes:
        since: monotonic time at which the present rollout began [s]; None while the worker is idle.
        overran: its process was killed because a rollout took too long.
    """

    process: subprocess.Popen[bytes] | None = None
    since: float | None = None
    overran: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class _WorkerDied(Exception):
    """Raised when the worker process at the other end of a pipe has ended."""


def _feed_tasks(
    processes: _Processes, tasks: Iterator[Task], results: queue.Queue[Done | Exception], *, most: int
) -> Iterator[Done]:
    """Feed tasks to the processes in chunks, at most `most` unfinished at a time, and yield results as they finish.

    Errors:
        Exception: the one that a supervising thread put into `results` in place of a result.
    """
    waiting: dict[int, None] = {}  # ordinals of unfinished tasks, the oldest first
    newest = 0
    is_over = False
    while True:
        while not is_over and len(waiting) + _CHUNK <= most and newest - next(iter(waiting), newest) < _WINDOW:
            chunk = [task for _, task in zip(range(_CHUNK), tasks, strict=False)]
            is_over = len(chunk) < _CHUNK
            if chunk:
                waiting.update((task.ordinal, None) for task in chunk)
                newest = chunk[-1].ordinal
                processes.queue_chunk(chunk)
        if not waiting:
            return
        done = results.get()
        if isinstance(done, Exception):
            raise done
        del waiting[done.task.ordinal]
        yield done


class _Processes:
    """Worker processes, each with a supervising thread, and the queue of chunks from which all of them take.

    Attributes:
        report: called by the supervising threads with each finished task, or with the error that ends a thread.
    """

    def __init__(
        self, job: Job, workers: int, training: bool, kill_after: float, report: Callable[[Done | Exception], None]
    ) -> None:
        """Store the settings; `start` starts processes and threads."""
        self._setup = _pickled((job, training))
        self._kill_after = kill_after
        self._workers = [_Worker() for _ in range(workers)]
        self._chunks: queue.Queue[Sequence[Task] | None] = queue.Queue()
        self.report = report
        self._threads: list[threading.Thread] = []
        self._stopping = threading.Event()

    def start(self) -> None:
        """Start the first process alone, so that it compiles the kernels for all, then a thread for each worker."""
        self._process_of(self._workers[0])
        self._threads = [
            threading.Thread(target=self._run_chunks, args=(worker,), daemon=True, name="prism worker")
            for worker in self._workers
        ]
        self._threads.append(threading.Thread(target=self._kill_overrunning, daemon=True, name="prism clock"))
        for thread in self._threads:
            thread.start()

    def queue_chunk(self, chunk: Sequence[Task]) -> None:
        """Queue a list of tasks that one worker is to run one after the other."""
        self._chunks.put(chunk)

    def stop(self) -> None:
        """End all processes, whatever they are doing."""
        self._stopping.set()
        for _ in self._workers:
            self._chunks.put(None)
        for worker in self._workers:
            self._kill(worker)
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            self._kill(worker)  # one that its thread had just started

    def _kill_overrunning(self) -> None:
        """Every `_TICK` seconds, kill workers whose rollout takes more than `kill_after` seconds (body of a thread)."""
        while not self._stopping.wait(_TICK):
            now = time.monotonic()
            for worker in self._workers:
                with worker.lock:
                    is_over = worker.since is not None and now - worker.since > self._kill_after
                    if is_over and worker.process is not None:
                        worker.overran = True
                        worker.process.kill()

    def _kill(self, worker: _Worker) -> None:
        """Kill the worker's process, if it has one, and close its pipes."""
        with worker.lock:
            process = worker.process
            worker.process = None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                try:
                    pipe.close()
                except OSError:  # what was not sent yet has nobody to read it
                    continue

    def _run_chunks(self, worker: _Worker) -> None:
        """Run chunk after chunk on one worker until the queue gives None; an error is reported (body of a thread)."""
        try:
            while (chunk := self._chunks.get()) is not None and not self._stopping.is_set():
                self._run_chunk(worker, chunk)
        except Exception as error:  # noqa: BLE001 - reported to the thread that waits for results
            if not self._stopping.is_set():
                self.report(error)

    def _run_chunk(self, worker: _Worker, chunk: Sequence[Task]) -> None:
        """Run a chunk on one worker and report each result, or `Killed` for a task on which `TRIES` processes died."""
        endings: list[str] = []  # how the processes ended that tried the first unfinished task
        while chunk and not self._stopping.is_set():
            process = self._process_of(worker)
            try:
                _send(process.stdin, _pickled(([task.rollout for task in chunk], _pickled_problems(chunk))))
                while chunk:
                    result = self._receive_result(worker, process)
                    self.report(Done(chunk[0], result))
                    chunk, endings = chunk[1:], []
            except _WorkerDied:
                if self._stopping.is_set():
                    return
                endings.append("overran" if worker.overran else f"ended with code {process.wait()}")
                self._kill(worker)
                if len(endings) == TRIES:
                    self.report(Done(chunk[0], Killed("; ".join(endings))))
                    chunk, endings = chunk[1:], []

    def _receive_result(self, worker: _Worker, process: subprocess.Popen[bytes]) -> Any:
        """Return the result of the task that the process runs; `worker.since` is set meanwhile, for the clock."""
        with worker.lock:
            worker.since = time.monotonic()
        try:
            return pickle.loads(_receive(process.stdout))  # noqa: S301 - from a process that this one has started
        finally:
            with worker.lock:
                worker.since = None

    def _process_of(self, worker: _Worker) -> subprocess.Popen[bytes]:
        """Return the worker's process, started first if it has none.

        Errors:
            PrismError: it ended `STARTS` times before it was ready.
        """
        code: int | None = None
        for _ in range(STARTS):
            with worker.lock:
                if worker.process is not None:
                    return worker.process
            process = subprocess.Popen(  # noqa: S603 - this Python
                [sys.executable, "-c", _START.format(path=sys.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            with worker.lock:
                worker.process, worker.overran = process, False
            if self._stopping.is_set():  # `stop` may have looked before this process was there
                break
            try:
                _send(process.stdin, self._setup)
                _receive(process.stdout)
            except _WorkerDied:
                code = process.wait()
                self._kill(worker)
                if self._stopping.is_set():
                    break
            else:
                return process
        raise PrismError(f"a worker process ended {STARTS} times before it was ready, the last time with code {code}")


def _pickled_problems(chunk: Sequence[Task]) -> tuple[list[int], list[bytes]]:
    """Return the index of each task's problem among the distinct problems of the chunk, and these problems, pickled."""
    distinct = list({task.problem.sha256: task.problem for task in chunk}.values())
    places = {problem.sha256: k for k, problem in enumerate(distinct)}
    return [places[task.problem.sha256] for task in chunk], [_pickled(problem) for problem in distinct]


def _pickled(value: Any) -> bytes:
    """Return a value pickled with the newest protocol."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def _send(pipe: IO[bytes] | None, message: bytes) -> None:
    """Write a message to a pipe, its length first.

    Errors:
        _WorkerDied: nobody reads the pipe any more.
    """
    assert pipe is not None
    try:
        pipe.write(_LENGTH.pack(len(message)))
        pipe.write(message)
        pipe.flush()
    except (OSError, ValueError) as error:  # ValueError: closed by `stop`
        raise _WorkerDied from error


def _receive(pipe: IO[bytes] | None) -> bytes:
    """Read one message from a pipe, its length first.

    Errors:
        _WorkerDied: the pipe ends before the message does.
    """
    assert pipe is not None
    try:
        head = pipe.read(_LENGTH.size)
        body = pipe.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""
    except (OSError, ValueError) as error:
        raise _WorkerDied from error
    if len(head) < _LENGTH.size or len(body) < _LENGTH.unpack(head)[0]:
        raise _WorkerDied
    return body


# The worker. ----------------------------------------------------------------------------------------------------


def relax_garbage_collection() -> None:
    """Make the garbage collector skip all present objects and run seldom; for processes that only grade.

    A grade leaves no cycles behind, and loaded modules and caches are large: scanning them again and again took a tenth
    of the time. In the caller's own process the collector is left alone.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def main() -> None:
    """Run a worker process: grade what arrives on stdin, write results to stdout, until stdin is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of Ctrl-C the supervisor hears too, and ends this process
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no result
    try:
        job, training = pickle.loads(_receive(incoming))  # noqa: S301 - from the process that has started this one
        prepared = new_prepared_cache(training=training)
        warm()
        relax_garbage_collection()
        _send(outgoing, _pickled("ready"))
        while True:
            rollouts, (places, packed) = pickle.loads(_receive(incoming))  # noqa: S301
            problems = [prepared.get(pickle.loads(each)) for each in packed]  # noqa: S301
            for rollout, place in zip(rollouts, places, strict=True):
                _send(outgoing, _pickled(job(problems[place], rollout)))
    except _WorkerDied:  # the supervisor has ended, or was killed
        os._exit(0)
