"""An Inspect task over problems that ship with PRISM, scored by PRISM; with a mock model it needs no network.

    pip install inspect-ai .   # in the checkout
    python examples/inspect_task.py                                   # a mock model: the students in the problem files
    inspect eval examples/inspect_task.py --model openai/gpt-4o-mini  # a real one, with a key

Each problem is a sample: its prompt is the input, its id the target. The mock model answers with the first worked
student of the problem; on every second problem with the last, which has faults.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval, task  # noqa: A004 - that is Inspect's name for it
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

import prism
from prism.resources import resource
from prism.rewards.inspect_scorer import prism_samples, prism_score

PROBLEMS = ("antenna_feed", "bucket", "compton", "free_fall", "two_slits", "van_der_waals")


def problem_files() -> list[str]:
    """The files of the problems."""
    return [str(resource(f"dags/{name}.toml")) for name in PROBLEMS]


@task
def worked_physics() -> Task:
    """Worked solutions of the shipped problems, scored by ancestor closure."""
    files = problem_files()
    return Task(dataset=prism_samples(files), solver=generate(), scorer=prism_score(problems=files))


def students() -> dict[str, str]:
    """What the mock model says: input -> solution."""
    found = {}
    for place, problem in enumerate(prism.load_problems(problem_files()).values()):
        found[prism.prompt(problem)] = problem.students[-1 if place % 2 else 0].solution
    return found


def main(log_dir: str) -> dict[str, Any]:
    """Run the task with the mock model, and say what Inspect reports."""
    said = students()

    def answer(messages: Any, *_others: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", said[messages[-1].text])
        output.usage = ModelUsage()  # else Inspect counts tokens with a table that it fetches
        return output

    (log,) = eval(
        worked_physics(), model=get_model("mockllm/model", custom_outputs=answer), log_dir=log_dir, display="none"
    )
    if log.status != "success" or log.results is None or log.samples is None:
        raise SystemExit(f"Inspect: {log.status}: {log.error.message if log.error else 'no results'}")
    (score,) = log.results.scores
    return {
        "metrics": {name: round(metric.value, 6) for name, metric in score.metrics.items()},
        "samples": {
            str(each.id): {"value": found.value, **{key: found.metadata[key] for key in ("matched", "missing")}}
            for each in log.samples
            for found in (each.scores or {}).values()
            if found.metadata is not None
        },
    }


if __name__ == "__main__":
    found = main(sys.argv[1] if len(sys.argv) > 1 else str(Path("logs")))
    for kind in found.values():
        for name, told in kind.items():
            print(name, json.dumps(told))
