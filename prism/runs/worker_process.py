"""A worker process: it grades what its supervisor sends, and ends when that ends, however it does."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import pickle
import queue
import signal
import sys
import threading
import time
from functools import partial
from typing import IO, Any

from prism.engine.kernels import warm
from prism.runs.pipes import WorkerDied, pickled, receive, send
from prism.runs.worker_memory import Memory, bound_memory, lower_limit, relax_garbage_collection
from prism.runs.workers import Setup, Source, new_prepared_cache, run_job

MEMORY = 1 << 30  # bytes that a worker may take beyond what it holds when it is ready: ends what escapes the account
_PR_SET_PDEATHSIG = 1  # of Linux's <sys/prctl.h>


def main() -> None:
    """Run a worker process: grade what arrives on stdin, write results to stdout, until stdin is closed.

    Its argument is the process id of its supervisor.
    """
    _die_with_supervisor(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of Ctrl-C the supervisor hears too, and ends this process
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no result
    messages: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read_messages, args=(incoming, messages), daemon=True).start()
    setup: Setup = pickle.loads(messages.get())  # noqa: S301 - from the process that has started this one
    prepared = new_prepared_cache(training=setup.training, kept=setup.kept_problems)
    warm()
    relax_garbage_collection()
    memory = Memory()
    bound_memory(MEMORY)
    try:
        job: Any = None
        while True:
            message = pickle.loads(messages.get())  # noqa: S301 - from the same
            if not isinstance(message, tuple):
                job = message
                send(outgoing, pickled("ready"))
                continue
            rollouts, (places, packed) = message
            problems: list[Source] = [pickle.loads(each) for each in packed]  # noqa: S301
            for (rollout, options), place in zip(rollouts, places, strict=True):
                _bound_processor_time(setup.kill_after)
                ready = partial(prepared.get, problems[place])
                send(outgoing, pickled(run_job(job, ready, rollout, options, setup.prepares)))
                memory.keep_level()
    except WorkerDied:  # the supervisor has ended, or was killed
        os._exit(0)


def _read_messages(incoming: IO[bytes], messages: queue.SimpleQueue[bytes]) -> None:
    """Pass on what the supervisor sends, and end the process when that has ended, whatever it is at (a thread)."""
    with contextlib.suppress(WorkerDied):
        while True:
            messages.put(receive(incoming))
    os._exit(0)


def _die_with_supervisor(supervisor: int) -> None:
    """Ask Linux to kill this process with its supervisor; end now if the supervisor has ended before it was asked."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # a C library without it: then `_read_messages` ends it
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if sys.platform != "win32" and os.getppid() != supervisor:  # there a launcher stands between
        os._exit(0)


def _bound_processor_time(seconds: float) -> None:
    """Allow this process so many seconds of processor time from now on; then SIGXCPU ends it (not on Windows)."""
    if sys.platform != "win32":
        import resource

        lower_limit(resource.RLIMIT_CPU, math.ceil(time.process_time() + seconds) + 1)
