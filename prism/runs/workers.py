"""Supervised worker processes: one that dies is replaced and its rollout tried again; one that overruns is killed.

Each worker is a new Python process (nothing is forked, and no script of the caller is run again) that reads tasks from
its standard input and writes results to its standard output; so this works from threads, from actors and from scripts
without a `__main__` guard. A thread of the supervisor starts each worker and waits for it. Clock, processor time and
memory of a worker are backstops: a grade has an account of operations that ends it long before, and the row of a
rollout whose worker was killed has the status `killed`.

A death may be the machine's, and is tried again; an overrun is the rollout's own, and is not. A worker dies with its
supervisor: the kernel sees to it on Linux, and everywhere a thread of the worker that reads to the end of its input.

`RunWorkers` take iterators of tasks, one after the other; a `WorkerPool` takes tasks one by one, from any thread.

Refused: killing a worker whose task is cancelled (what it is at ends within its account, in about the time in which a
new process loads the kernels), and `RLIMIT_AS` (threads and allocators reserve address space by the number of
processors; `RLIMIT_DATA` counts what can be written).
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

from prism.engine.kernels import warm
from prism.errors import PrismError
from prism.grading.prepared import PreparedProblem
from prism.grading.prepared_cache import PreparedCache
from prism.grading.steps import Step, watched
from prism.problem.schema import Problem, load_problem
from prism.problem.source import PlainProblem
from prism.runs.affine_queue import AffineQueue
from prism.runs.pipes import WorkerDied, pickled, receive, send
from prism.runs.rollouts import Rollout

KILL_AFTER = 300.0  # seconds that one rollout may take; half a second is usual
TRIES = 3  # of a rollout whose worker dies: one death may be the machine's; after an overrun there is no second one
STARTS = 5  # of a worker that ends by itself before it is ready: then something is wrong with the installation
PREPARED = 128  # problems that a process keeps ready; the next rollout is mostly of the same
_CHUNK = 8  # rollouts that a worker is given at a time
_AHEAD = 4  # unfinished chunks a worker; bounds how far the input is read ahead
_WINDOW = 1024  # rollouts between the oldest unfinished one and the newest: bounds the reorder buffer of the caller
_TICK = 1.0  # seconds between two looks at the clock
_RESPAWN = 1.0  # seconds until a process that the system has refused is asked for again
_SPAWNS = 60  # times that it is, as descriptors or memory may become free
_KILLED = tuple(-getattr(signal, name) for name in ("SIGKILL", "SIGTERM") if hasattr(signal, name))  # by others
_OVERRAN = "overran"  # how a worker ended that took too long
_START = "import sys; sys.path[:] = {path!r}; from prism.runs.worker_process import main; main()"

_inherited: list[subprocess.Popen[bytes]] = []  # of a parent, and never closed: threads of it may hold their locks

Job = Callable[..., Any]
"""Called with a prepared problem and a rollout, and with the options of the task as keywords.

A job that `prepares` is called with what returns the problem, or raises PrismError, and counts the cost of that itself.
"""


Source = Problem | PlainProblem | PreparedProblem | Mapping[str, Any] | str | Path
"""A problem, loaded or not: what `PreparedCache.get` of a worker prepares. A text is JSON; a path is absolute."""


class UnusableProblem(PrismError):
    """Raised for a task whose problem cannot be prepared."""


NO_PROBLEM = (
    '{"id": "none", "context": "", "grading_standard": '
    '[{"index": 1, "formula": "x = 1", "dependency": [], "is_final_answer": true}]}'
)
"""Stands in where a task has no problem: workers prepare one for every task. Nothing is compared with it."""


@dataclass(frozen=True, slots=True)
class Task:
    """A rollout with its problem, its position in the input (`ordinal`, from 0) and further arguments of the job."""

    ordinal: int
    rollout: Rollout
    problem: Source
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def listed(self) -> Problem | PlainProblem:
        """The problem of a task that was given a loaded one, or one that is read, as those of a run are."""
        assert isinstance(self.problem, Problem | PlainProblem)
        return self.problem

    @property
    def loaded(self) -> Problem:
        """The problem of a task of a run, loaded if need be."""
        return load_problem(self.listed)


@dataclass(frozen=True, slots=True)
class Killed:
    """The result of a task on which a worker overran or `TRIES` workers died; `reason` says how each of them ended."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unprepared:
    """The result of a task whose problem cannot be prepared, with the fault; the worker goes on."""

    fault: PrismError


@dataclass(frozen=True, slots=True)
class Done:
    """A finished task.

    Attributes:
        result: what the job returned; `Killed` if the workers died on it; `Unprepared` if its problem is faulty.
        seconds: how long each step took, by the clock; empty where nobody looked at one.
    """

    task: Task
    result: Any
    seconds: Mapping[Step, float] = field(default_factory=dict, hash=False)


class _Stopwatch:
    """How long the steps of one task take, by the clock."""

    def __init__(self) -> None:
        """Start with the preparation of the problem."""
        self._step, self._since = Step.PREPARING, time.perf_counter()
        self._seconds: dict[Step, float] = {}

    def begin(self, step: Step) -> None:
        """End the present step and begin another."""
        now = time.perf_counter()
        self._seconds[self._step] = self._seconds.get(self._step, 0.0) + now - self._since
        self._step, self._since = step, now

    def stop(self) -> dict[Step, float]:
        """End the last step and return the seconds of all."""
        self.begin(self._step)
        return self._seconds


def run_job(
    job: Job, prepared: Callable[[], PreparedProblem], rollout: Rollout, options: Mapping[str, Any],
    prepares: bool = False,
) -> tuple[Any, dict[Step, float]]:  # fmt: skip
    """Return what a job makes of a rollout, or `Unprepared`, and how long each of its steps took."""
    stopwatch = _Stopwatch()
    with watched(stopwatch.begin):
        try:
            problem = prepared if prepares else prepared()
        except PrismError as error:
            return Unprepared(error), stopwatch.stop()
        result = job(problem, rollout, **options)
    return result, stopwatch.stop()


def new_prepared_cache(*, training: bool, kept: int = PREPARED) -> PreparedCache:
    """Return an empty cache of up to `kept` prepared problems for one grading process."""
    return PreparedCache({}, size=kept, training=training, paths=True)


def _with_result(done: Done) -> Done:
    """Return a finished task unchanged.

    Errors:
        UnusableProblem: its problem cannot be prepared.
    """
    if isinstance(done.result, Unprepared):
        raise UnusableProblem(str(done.result.fault))
    return done


def run_serial(tasks: Iterator[Task], job: Job, *, training: bool) -> Iterator[Done]:
    """Run the job on each task in this process, in order; nothing is killed."""
    prepared = new_prepared_cache(training=training)
    for task in tasks:
        yield _with_result(Done(task, *run_job(job, partial(prepared.get, task.problem), task.rollout, task.options)))


class RunWorkers:
    """Worker processes for several jobs, one after the other; they start with the first job, and end with the block.

    With 0 workers this process runs the jobs, in the order of the tasks, and nothing is killed.
    """

    def __init__(self, workers: int, *, training: bool = False, kill_after: float = KILL_AFTER) -> None:
        """Store the settings.

        Args:
            kill_after: seconds that one rollout may take before its worker is killed [s].
        """
        self._workers, self._training = workers, training
        self._results: queue.Queue[Done | Exception] = queue.Queue()
        self._setup = Setup(training, kill_after)
        self._processes: _Processes | None = None

    def __enter__(self) -> RunWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the processes, whatever they are doing; a further job starts new ones."""
        if self._processes is not None:
            self._processes.stop()
            self._processes = None

    def run(self, tasks: Iterator[Task], job: Job) -> Generator[Done]:
        """Run the job on tasks; results are yielded as they finish, in any order.

        At most `_AHEAD` chunks a worker are in memory, whatever the number of tasks.

        Args:
            job: a function of a module, or a `partial` of one: workers import it.

        Errors:
            PrismError: workers that do not start.
            UnusableProblem: a problem that cannot be prepared.
        """
        if not self._workers:
            yield from run_serial(tasks, job, training=self._training)
            return
        if self._processes is None:
            self._processes = _Processes(self._setup, self._workers, self._results.put, job)
            self._processes.start()
        self._processes.job = job
        yield from _feed_tasks(self._processes, tasks, self._results, most=_AHEAD * _CHUNK * self._workers)


def run_in_workers(
    tasks: Iterator[Task], job: Job, *, workers: int, training: bool = False, kill_after: float = KILL_AFTER
) -> Generator[Done]:
    """Run one job in worker processes of its own, as `RunWorkers.run` does; with 0 workers in this process."""
    with RunWorkers(workers, training=training, kill_after=kill_after) as processes:
        yield from processes.run(tasks, job)


class WorkerPool:
    """A persistent worker pool. `submit` is thread-safe and returns a Future.

    The number of waiting rollouts is not bounded here; callers bound it. A future that is cancelled while its rollout
    waits takes it out of the queue; a rollout that has begun is ended by its account. With 0 workers one thread of this
    process runs the jobs, and nothing is killed.
    """

    def __init__(
        self, job: Job, *, workers: int, training: bool, kill_after: float = KILL_AFTER, kept: int = PREPARED,
        prepares: bool = False,
    ) -> None:  # fmt: skip
        """Store the settings; `start` starts the processes.

        Args:
            job: a function of a module, or a `partial` of one: workers import it.
            workers: processes; 0 for a thread of this one.
            kill_after: seconds that one rollout may take before its worker is killed [s].
            kept: prepared problems that each process keeps.
            prepares: the job prepares its problems itself.
        """
        self._job, self._prepares = job, prepares
        self._prepared = new_prepared_cache(training=training, kept=kept)
        setup = Setup(training, kill_after, kept, prepares)
        self._processes = _Processes(setup, workers, self._resolve_futures, job, self._is_wanted) if workers else None
        self._thread = ThreadPoolExecutor(1, "prism worker") if not workers else None
        self._numbers = count()
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self._fault: Exception | None = PrismError("the workers have not been started")

    @property
    def is_ready(self) -> bool:
        """True while rollouts are accepted: started, not stopped, and no worker has failed to start."""
        return self._fault is None

    @property
    def n_alive(self) -> int:
        """Number of processes that live now; 0 if a thread does the work."""
        return self._processes.n_alive if self._processes is not None else 0

    @property
    def n_ended(self) -> int:
        """Number of processes that died or were killed since they were ready, and were or will be replaced."""
        return self._processes.n_ended if self._processes is not None else 0

    def start(self) -> None:
        """Start the processes and load the kernels; returns when rollouts can be submitted.

        Errors:
            PrismError: workers that do not start.
        """
        if self._processes is not None:
            self._processes.start(is_eager=True)
        else:
            warm()
        self._fault = None

    def submit(
        self, problem: Source, rollout: Rollout, options: Mapping[str, Any] = MappingProxyType({})
    ) -> Future[Any]:
        """Queue a rollout. The future's result is what the job returns, `Killed` or `Unprepared`.

        Args:
            options: further arguments of the job, by name.

        Errors:
            PrismError: not started, stopped, or a worker that did not start again; the future raises it too.
        """
        return self.submit_chunk([(problem, rollout)], options)[0]

    def submit_chunk(
        self, rows: Iterable[tuple[Source, Rollout]], options: Mapping[str, Any] = MappingProxyType({})
    ) -> list[Future[Any]]:
        """Queue rollouts that one worker is to run one after the other; return a future of each, as of `submit`."""
        with self._lock:
            if self._fault is not None:
                raise PrismError(str(self._fault)) from self._fault
            if self._thread is not None:
                return [self._thread.submit(self._run_in_thread, *row, options) for row in rows]
            chunk = [Task(next(self._numbers), rollout, problem, dict(options)) for problem, rollout in rows]
            futures: list[Future[Any]] = [Future() for _ in chunk]
            self._waiting.update((task.ordinal, future) for task, future in zip(chunk, futures, strict=True))
        assert self._processes is not None
        self._processes.queue_chunk(chunk)
        return futures

    def stop(self) -> None:
        """End all processes, whatever they are doing; waiting futures get a PrismError."""
        self._resolve_futures(PrismError("the workers have been stopped"))
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
        if self._processes is not None:
            self._processes.stop()

    def let_go(self) -> None:
        """Forget the processes, which are the parent's, in a child that was forked; they go on."""
        if self._processes is not None:
            self._processes.let_go()

    def _run_in_thread(self, problem: Source, rollout: Rollout, options: Mapping[str, Any]) -> Any:
        """Run the job in the thread that stands in for worker processes when there are 0."""
        return run_job(self._job, partial(self._prepared.get, problem), rollout, options, self._prepares)[0]

    def _is_wanted(self, task: Task) -> bool:
        """Return False, and forget the task, if nobody waits for its result any more."""
        with self._lock:
            future = self._waiting.get(task.ordinal)
            if future is not None and not future.cancelled():
                return True
            self._waiting.pop(task.ordinal, None)
            return False

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


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker process is told before it is given rollouts; arguments of a `WorkerPool`."""

    training: bool
    kill_after: float
    kept_problems: int = PREPARED
    prepares: bool = False


@dataclass(slots=True, eq=False)
class _Worker:
    """One worker of the pool: its current process, replaced when it dies, and the time of its current rollout.

    Attributes:
        since: monotonic time at which the present rollout began [s]; None while the worker is idle.
        overran: its process was killed because a rollout took too long.
        job: what its process was given to run.
    """

    process: subprocess.Popen[bytes] | None = None
    since: float | None = None
    overran: bool = False
    job: Job | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


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
        yield _with_result(done)


class _Processes:
    """Worker processes, each with a supervising thread, and the queue of chunks from which all of them take.

    Attributes:
        job: what is run on the tasks; set anew only while there are none.
        report: called by the supervising threads with each finished task, or with the error that ends a thread.
    """

    def __init__(
        self,
        setup: Setup,
        workers: int,
        report: Callable[[Done | Exception], None],
        job: Job,
        is_wanted: Callable[[Task], bool] = lambda _: True,
    ) -> None:
        """Store the settings; `start` starts processes and threads.

        Args:
            is_wanted: asked before a task is begun; False takes it out of its chunk, without a result.
        """
        self._setup = pickled(setup)
        self._kill_after = setup.kill_after
        self._workers = [_Worker() for _ in range(workers)]
        self._chunks: AffineQueue[Sequence[Task] | None] = AffineQueue()
        self.job, self.report = job, report
        self._is_wanted = is_wanted
        self._threads: list[threading.Thread] = []
        self._stopping = threading.Event()
        self._n_ended = 0

    @property
    def n_alive(self) -> int:
        """Number of processes that live now."""
        processes = [worker.process for worker in self._workers]
        return sum(process is not None and process.poll() is None for process in processes)

    @property
    def n_ended(self) -> int:
        """Number of processes that died or were killed since they were ready."""
        return self._n_ended

    def start(self, *, is_eager: bool = False) -> None:
        """Start the first process alone, so that it compiles the kernels for all, then a thread for each worker.

        Args:
            is_eager: also start the other processes now, and wait for them; else each when it has something to do.

        Errors:
            PrismError: a process that does not start.
        """
        for some in (self._workers[:1], self._workers[1:]):
            starts: list[Future[None]] = [Future() for _ in some]
            for worker, started in zip(some, starts, strict=True):
                is_now = is_eager or worker is self._workers[0]
                self._start_thread(self._run_worker, worker, started, is_now)
            for started in starts:
                started.result()
        self._start_thread(self._kill_overrunning)

    def _start_thread(self, body: Callable[..., None], *arguments: Any) -> None:
        """Start a thread that `stop` joins."""
        thread = threading.Thread(target=body, args=arguments, daemon=True, name="prism worker")
        self._threads.append(thread)
        thread.start()

    def queue_chunk(self, chunk: Sequence[Task]) -> None:
        """Queue a list of tasks that one worker is to run one after the other."""
        self._chunks.put(chunk, _source_key(chunk[0].problem))

    def stop(self) -> None:
        """End all processes, whatever they are doing."""
        self._stopping.set()
        for _ in self._workers:
            self._chunks.put(None, None)
        for worker in self._workers:
            self._kill(worker)
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            self._kill(worker)  # one that its thread had just started

    def let_go(self) -> None:
        """Forget the processes in a forked child: its copies of their pipes lead nowhere from now on.

        Else what was half written when it was forked would be written twice, and the workers would see no end of their
        input while the child lives.
        """
        nowhere = os.open(os.devnull, os.O_RDWR)
        for worker in self._workers:
            process, worker.process = worker.process, None
            if process is not None:
                _inherited.append(process)
                process.returncode = 0  # a child of another process: this one cannot wait for it
                for pipe in (process.stdin, process.stdout):
                    if pipe is not None and not pipe.closed:
                        os.dup2(nowhere, pipe.fileno(), inheritable=False)
        os.close(nowhere)

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

    def _run_worker(self, worker: _Worker, started: Future[None], is_now: bool) -> None:
        """Start a worker's process, now or with its first chunk, and run chunks on it until there are no more.

        The body of a thread that lives as long as the worker: where the thread that started it ends, Linux counts the
        supervisor as dead. An error is that of `started`, and later is reported.
        """
        try:
            if is_now:
                self._process_of(worker)
        except Exception as error:  # noqa: BLE001 - raised by `start`
            started.set_exception(error)
            return
        started.set_result(None)
        last: str | int | None = None  # the problem that the process was at
        done: Done | None = None
        try:
            while True:
                coming = self._chunks.ask(last)
                if done is not None:
                    self.report(done)
                if (chunk := coming.result()) is None or self._stopping.is_set():
                    return
                last = _source_key(chunk[-1].problem)
                done = self._run_chunk(worker, chunk)
                if done is not None and isinstance(done.result, Killed):
                    self.report(done)
                    done = None
                if is_now and not self._stopping.is_set():
                    self._process_of(worker)  # the place of one that has ended is filled before it is asked for
        except Exception as error:  # noqa: BLE001 - reported to the thread that waits for results
            if not self._stopping.is_set():
                self.report(error)

    def _run_chunk(self, worker: _Worker, chunk: Sequence[Task]) -> Done | None:
        """Run a chunk on one worker and report each result, or `Killed` for a task that ends its workers.

        Returns the last result, which is not reported, for the worker asks for more first; None if there is none.
        """
        endings: list[str] = []  # how the processes ended that tried the first unfinished task
        while (chunk := [task for task in chunk if self._is_wanted(task)]) and not self._stopping.is_set():
            process = self._process_of(worker)
            try:
                send(process.stdin, pickled(_message(chunk)))
                while chunk:
                    result, seconds = self._receive_result(worker, process)
                    done = Done(chunk[0], result, seconds)
                    chunk, endings = chunk[1:], []
                    if not chunk:
                        return done
                    self.report(done)
            except WorkerDied:
                if self._stopping.is_set():
                    return None
                endings.append(_ending(worker, process))
                self._kill(worker)
                self._n_ended += 1
                if endings[-1] == _OVERRAN or len(endings) == TRIES:
                    done = Done(chunk[0], Killed("; ".join(endings)))
                    chunk, endings = chunk[1:], []
                    if not chunk:
                        return done
                    self.report(done)
        return None

    def _receive_result(self, worker: _Worker, process: subprocess.Popen[bytes]) -> Any:
        """Return what `run_job` returned in the process; `worker.since` is set meanwhile, for the clock."""
        with worker.lock:
            worker.since = time.monotonic()
        try:
            return pickle.loads(receive(process.stdout))  # noqa: S301 - from a process that this one has started
        finally:
            with worker.lock:
                worker.since = None

    def _process_of(self, worker: _Worker) -> subprocess.Popen[bytes]:
        """Return the worker's process, started first if it has none or only a dead one.

        Errors:
            PrismError: it ended by itself `STARTS` times before it was ready, or was killed `_SPAWNS` times.
        """
        code: int | None = None
        n_ended = n_killed = 0
        while n_ended < STARTS and n_killed < _SPAWNS:
            with worker.lock:
                old = worker.process
            if old is not None and old.poll() is None:
                with contextlib.suppress(WorkerDied):
                    self._give_job(worker, old)
                    return old
            if old is not None:  # it died while it had nothing to do
                self._kill(worker)
                self._n_ended += 1
            process = self._spawn()
            with worker.lock:
                worker.process, worker.overran, worker.job = process, False, None
            if self._stopping.is_set():  # `stop` may have looked before this process was there
                break
            try:
                send(process.stdin, self._setup)
                self._give_job(worker, process)
            except WorkerDied:
                code = process.wait()
                self._kill(worker)
                if code in _KILLED:  # by a person or the machine, which is no fault of the installation
                    n_killed += 1
                    self._stopping.wait(_RESPAWN)
                else:
                    n_ended += 1
                if self._stopping.is_set():
                    break
            else:
                return process
        n_starts = n_ended + n_killed
        raise PrismError(f"a worker process ended {n_starts} times before it was ready, the last time with code {code}")

    def _give_job(self, worker: _Worker, process: subprocess.Popen[bytes]) -> None:
        """Send the job to a process that has another or none, and wait until it is imported there.

        Errors:
            WorkerDied: the process has ended.
        """
        if worker.job is not self.job:
            send(process.stdin, pickled(self.job))
            receive(process.stdout)
            worker.job = self.job

    def _spawn(self) -> subprocess.Popen[bytes]:
        """Return a new process; what the system refuses is asked for again each second, as others may let go of it.

        Errors:
            PrismError: it is still refused.
        """
        command = [sys.executable, "-c", _START.format(path=sys.path), str(os.getpid())]
        for n in range(_SPAWNS, -1, -1):
            try:
                return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - this Python
            except OSError as error:
                if n == 0 or self._stopping.wait(_RESPAWN):
                    raise PrismError(f"a worker process cannot be started: {error.strerror or error}") from error
        raise AssertionError("unreachable")


def _ending(worker: _Worker, process: subprocess.Popen[bytes]) -> str:
    """Return how a process ended that was at work, in words."""
    code = process.wait()
    has_used_up = hasattr(signal, "SIGXCPU") and code == -signal.SIGXCPU
    return _OVERRAN if worker.overran or has_used_up else f"ended with code {code}"


def _message(chunk: Sequence[Task]) -> tuple[list[tuple[Rollout, Mapping[str, Any]]], tuple[list[int], list[bytes]]]:
    """Return what a worker is sent of a chunk: rollouts with their options, and their problems."""
    return [(task.rollout, task.options) for task in chunk], _pickled_problems(chunk)


def _pickled_problems(chunk: Sequence[Task]) -> tuple[list[int], list[bytes]]:
    """Return the index of each task's problem among the distinct problems of the chunk, and these problems, pickled."""
    keys = [_source_key(task.problem) for task in chunk]
    distinct = {key: task.problem for key, task in zip(keys, chunk, strict=True)}
    places = {key: k for k, key in enumerate(distinct)}
    return [places[key] for key in keys], [pickled(problem) for problem in distinct.values()]


def _source_key(source: Source) -> str | int:
    """Return a key that two equal problems of a chunk share, if they are loaded, texts or the same object."""
    if isinstance(source, Problem | PlainProblem):
        return source.sha256
    return source if isinstance(source, str) else id(source)
