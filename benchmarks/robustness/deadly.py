"""A job that some rollouts kill: what a fault in compiled code would do to whoever grades them. Actors import it."""

from __future__ import annotations

import os
import signal

from prism.grading.prepared import PreparedProblem
from prism.runs.bulk import Options, grade_rollout
from prism.runs.rollouts import Rollout

DEATHS = ("exit", "kill", "endless")  # sample ids


def score(prepared: PreparedProblem, rollout: Rollout) -> float | None:
    """The score, unless the rollout is one of the deadly ones."""
    if rollout.sample_id == "exit":
        os._exit(7)
    if rollout.sample_id == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    while rollout.sample_id == "endless":
        pass
    return grade_rollout(prepared, rollout, options=Options(formulas=False)).score
