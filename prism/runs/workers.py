"""A supervisor over worker processes: one that dies or overruns is replaced, and its rollout is tried again.

Each worker is a new Python process (nothing is forked, and no script of the caller is run again), spoken to over its
standard input and output; so this works from threads, from actors and from scripts without a guard. A thread of the
supervisor waits for each. The clock here is a backstop: a grade has budgets that count operations, and a rollout that
is killed says so instead of a score.

`done_by_workers` is for tasks that are all there; a `Desk` is for those that come one by one, from any thread.
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
from prism.grading.prepared_cache import ReadyProblems
from prism.problem.schema import Problem
from prism.runs.rollouts import Rollout

KILL_AFTER = 300.0  # seconds that one rollout may take; half a second is usual
TRIES = 3  # of a rollout whose worker dies: one death may be the machine's
STARTS = 5  # of a worker before it is ready: then something is wrong with the installation
PREPARED = 128  # problems that a process keeps ready; the next rollout is mostly of the same
_CHUNK = 8  # rollouts that a worker is given at a time
_AHEAD = 4  # chunks for each worker that have been read and are not done
_WINDOW = 1024  # rollouts between the oldest that is not done and the newest: who puts them in order holds no more
_TICK = 1.0  # seconds between two looks at the clock
_COLLECT_AFTER = (50_000, 20, 50)  # new values before the youngest, the middle and the old ones are gone through
_LENGTH = struct.Struct(">Q")
_START = "import sys; sys.path[:] = {path!r}; from prism.runs.workers import main; main()"

Job = Callable[[PreparedProblem, Rollout], Any]


@dataclass(frozen=True, slots=True)
class Task:
    """A rollout, its place in the input, and its problem."""

    ordinal: int
    rollout: Rollout
    problem: Problem


@dataclass(frozen=True, slots=True)
class Killed:
    """Instead of a result: what became of each worker that tried."""

    reason: str


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a task, or that it was killed."""

    task: Task
    result: Any


def bench(*, training: bool) -> ReadyProblems:
    """Where a process that grades keeps its problems."""
    return ReadyProblems({}, size=PREPARED, training=training)


def done_here(tasks: Iterator[Task], job: Job, *, training: bool) -> Iterator[Done]:
    """Do the tasks in this process, in their order."""
    ready = bench(training=training)
    for task in tasks:
        yield Done(task, job(ready.of(task.problem), task.rollout))


def done_by_workers(
    tasks: Iterator[Task], job: Job, *, workers: int, training: bool, kill_after: float = KILL_AFTER
) -> Generator[Done]:
    """Do the tasks in so many processes; what is done first comes first.

    At most `_AHEAD` chunks for each worker are held, whatever the number of tasks.

    Args:
        job: a function of a module, or a `partial` of one: workers import it.
        kill_after: seconds that one rollout may take before its worker is killed [s].

    Errors:
        PrismError: workers that do not start.
    """
    found: queue.Queue[Done | Exception] = queue.Queue()
    crew = _Crew(job, workers, training, kill_after, found.put)
    try:
        crew.start()
        yield from _through(crew, tasks, found, most=_AHEAD * _CHUNK * workers)
    finally:
        crew.stop()


class Desk:
    """Workers that stay: any thread may hand in a rollout, and is told its result by a future.

    Nothing bounds how many wait: whoever hands them in does. Without processes one thread of this process does them,
    and nothing is killed.
    """

    def __init__(self, job: Job, *, workers: int, training: bool, kill_after: float = KILL_AFTER) -> None:
        """Nothing is started yet.

        Args:
            job: a function of a module, or a `partial` of one: workers import it.
            workers: processes; 0 for a thread of this one.
            kill_after: seconds that one rollout may take before its worker is killed [s].
        """
        self._job = job
        self._ready = bench(training=training)
        self._crew = _Crew(job, workers, training, kill_after, self._report) if workers else None
        self._thread = ThreadPoolExecutor(1, "prism worker") if not workers else None
        self._numbers = count()
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self._fault: Exception | None = PrismError("the workers have not been started")

    @property
    def is_ready(self) -> bool:
        """Whether rollouts are taken: it has been started, nothing is wrong, and it has not been stopped."""
        return self._fault is None

    def start(self) -> None:
        """Start the processes and load the kernels; returns when rollouts can be handed in.

        Errors:
            PrismError: workers that do not start.
        """
        if self._crew is not None:
            self._crew.start()
        else:
            warm()
        self._fault = None

    def submit(self, problem: Problem, rollout: Rollout) -> Future[Any]:
        """Hand in a rollout. The result is what the job returns, or `Killed`.

        Errors:
            PrismError: not started, stopped, or a worker that did not start again; of the future too.
        """
        with self._lock:
            if self._fault is not None:
                raise PrismError(str(self._fault)) from self._fault
            if self._thread is not None:
                return self._thread.submit(self._do_here, problem, rollout)
            task = Task(next(self._numbers), rollout, problem)
            future: Future[Any] = Future()
            self._waiting[task.ordinal] = future
        assert self._crew is not None
        self._crew.give([task])
        return future

    def stop(self) -> None:
        """End all processes, whatever they are at; futures that wait get a PrismError."""
        self._report(PrismError("the workers have been stopped"))
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
        if self._crew is not None:
            self._crew.stop()

    def _do_here(self, problem: Problem, rollout: Rollout) -> Any:
        return self._job(self._ready.of(problem), rollout)

    def _report(self, found: Done | Exception) -> None:
        with self._lock:
            if isinstance(found, Exception):
                self._fault = found
                told, self._waiting = list(self._waiting.values()), {}
            else:
                told = [self._waiting.pop(found.task.ordinal)] if found.task.ordinal in self._waiting else []
        for future in told:
            if not future.set_running_or_notify_cancel():
                continue
            if isinstance(found, Exception):
                future.set_exception(found)
            else:
                future.set_result(found.result)


# The supervisor. ------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Worker:
    """A place for one process after another, and what its present one is at.

    Attributes:
        since: when it was given what it is at; None while it waits.
        overran: its process was killed for the time that it took.
    """

    process: subprocess.Popen[bytes] | None = None
    since: float | None = None
    overran: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class _WorkerDied(Exception):
    """The process at the other end is gone."""


def _through(crew: _Crew, tasks: Iterator[Task], found: queue.Queue[Done | Exception], *, most: int) -> Iterator[Done]:
    """Give tasks to the crew, chunk by chunk and never more than so many ahead, and take what is done."""
    waiting: dict[int, None] = {}  # ordinals, the oldest first
    newest = 0
    is_over = False
    while True:
        while not is_over and len(waiting) + _CHUNK <= most and newest - next(iter(waiting), newest) < _WINDOW:
            chunk = [task for _, task in zip(range(_CHUNK), tasks, strict=False)]
            is_over = len(chunk) < _CHUNK
            if chunk:
                waiting.update((task.ordinal, None) for task in chunk)
                newest = chunk[-1].ordinal
                crew.give(chunk)
        if not waiting:
            return
        done = found.get()
        if isinstance(done, Exception):
            raise done
        del waiting[done.task.ordinal]
        yield done


class _Crew:
    """Processes, a thread that waits for each, and the chunks that they take.

    Attributes:
        report: told of each task that is done, by the threads; and of what went wrong where one cannot go on.
    """

    def __init__(
        self, job: Job, workers: int, training: bool, kill_after: float, report: Callable[[Done | Exception], None]
    ) -> None:
        self._setup = _packed((job, training))
        self._kill_after = kill_after
        self._workers = [_Worker() for _ in range(workers)]
        self._chunks: queue.Queue[Sequence[Task] | None] = queue.Queue()
        self.report = report
        self._threads: list[threading.Thread] = []
        self._stopping = threading.Event()

    def start(self) -> None:
        """Start one process alone, which compiles the kernels where there is no cache; then a thread for each."""
        self._ready(self._workers[0])
        self._threads = [
            threading.Thread(target=self._serve, args=(worker,), daemon=True, name="prism worker")
            for worker in self._workers
        ]
        self._threads.append(threading.Thread(target=self._look_at_the_clock, daemon=True, name="prism clock"))
        for thread in self._threads:
            thread.start()

    def give(self, chunk: Sequence[Task]) -> None:
        """Let a worker do these tasks, one after the other."""
        self._chunks.put(chunk)

    def stop(self) -> None:
        """End all processes, whatever they are at."""
        self._stopping.set()
        for _ in self._workers:
            self._chunks.put(None)
        for worker in self._workers:
            self._kill(worker)
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            self._kill(worker)  # one that its thread had just started

    def _look_at_the_clock(self) -> None:
        """Kill workers that have been at one rollout for too long; of a thread."""
        while not self._stopping.wait(_TICK):
            now = time.monotonic()
            for worker in self._workers:
                with worker.lock:
                    is_over = worker.since is not None and now - worker.since > self._kill_after
                    if is_over and worker.process is not None:
                        worker.overran = True
                        worker.process.kill()

    def _kill(self, worker: _Worker) -> None:
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

    def _serve(self, worker: _Worker) -> None:
        """Take chunk after chunk until there are no more; of a thread."""
        try:
            while (chunk := self._chunks.get()) is not None and not self._stopping.is_set():
                self._do(worker, chunk)
        except Exception as error:  # noqa: BLE001 - the thread that waits for results hears of it
            if not self._stopping.is_set():
                self.report(error)

    def _do(self, worker: _Worker, chunk: Sequence[Task]) -> None:
        fates: list[str] = []  # of the first task that is not done
        while chunk and not self._stopping.is_set():
            process = self._ready(worker)
            try:
                _send(process.stdin, _packed(([task.rollout for task in chunk], _problems(chunk))))
                while chunk:
                    result = self._result(worker, process)
                    self.report(Done(chunk[0], result))
                    chunk, fates = chunk[1:], []
            except _WorkerDied:
                if self._stopping.is_set():
                    return
                fates.append("overran" if worker.overran else f"ended with code {process.wait()}")
                self._kill(worker)
                if len(fates) == TRIES:
                    self.report(Done(chunk[0], Killed("; ".join(fates))))
                    chunk, fates = chunk[1:], []

    def _result(self, worker: _Worker, process: subprocess.Popen[bytes]) -> Any:
        with worker.lock:
            worker.since = time.monotonic()
        try:
            return pickle.loads(_receive(process.stdout))  # noqa: S301 - from a process that this one has started
        finally:
            with worker.lock:
                worker.since = None

    def _ready(self, worker: _Worker) -> subprocess.Popen[bytes]:
        """The worker's process, started if there is none."""
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


def _problems(chunk: Sequence[Task]) -> tuple[list[int], list[bytes]]:
    """Of each task the place of its problem among the packed ones: rollouts of a group share theirs."""
    distinct = list({task.problem.sha256: task.problem for task in chunk}.values())
    places = {problem.sha256: k for k, problem in enumerate(distinct)}
    return [places[task.problem.sha256] for task in chunk], [_packed(problem) for problem in distinct]


def _packed(value: Any) -> bytes:
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def _send(pipe: IO[bytes] | None, message: bytes) -> None:
    assert pipe is not None
    try:
        pipe.write(_LENGTH.pack(len(message)))
        pipe.write(message)
        pipe.flush()
    except (OSError, ValueError) as error:  # ValueError: closed by `stop`
        raise _WorkerDied from error


def _receive(pipe: IO[bytes] | None) -> bytes:
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


def collect_less() -> None:
    """Let the garbage collector look at what is new only, and seldom; of a process that does nothing but grade.

    A grade leaves no cycles behind, and what is loaded and remembered is large: to go through it again and again took a
    tenth of the time. In the caller's own process the collector is the caller's.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def main() -> None:
    """What a worker process runs: grade what comes in until the supervisor is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of Ctrl-C the supervisor hears too, and ends this process
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no result
    try:
        job, training = pickle.loads(_receive(incoming))  # noqa: S301 - from the process that has started this one
        ready = bench(training=training)
        warm()
        collect_less()
        _send(outgoing, _packed("ready"))
        while True:
            rollouts, (places, packed) = pickle.loads(_receive(incoming))  # noqa: S301
            problems = [ready.of(pickle.loads(each)) for each in packed]  # noqa: S301
            for rollout, place in zip(rollouts, places, strict=True):
                _send(outgoing, _packed(job(problems[place], rollout)))
    except _WorkerDied:  # the supervisor has ended, or was killed
        os._exit(0)
