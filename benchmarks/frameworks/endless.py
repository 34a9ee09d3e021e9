"""200 steps of a scripted policy through problems without end, in reasoning-gym and in verifiers: same scores again?

Each framework runs in an environment of its own, as those of `doors.py` do, and twice: in two processes with other
seeds of Python's hashes. No model and no network: the policy has five ways to answer (worked out, finals only, another
problem's steps, the first half, nothing), draws one by its step, and learns from the scores alone which ones pay.

- reasoning_gym: an `Experiment` over a composite with the data set `prism`; its scoreboard; the curriculum is raised
  where the last steps went well.
- verifiers: `prism.rewards.verifiers.environment`, whose `generate` asks a client for two completions a step.
- tags: verifiers' own environment for reasoning-gym, which scores what stands between `<answer>` tags.

Exit code 0 if the scores of both runs of each are equal, and the policy earns more at the end than at the start.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.frameworks.doors import DOORS, NO_DATA, OFFLINE, Door, environment  # noqa: E402

SEED = 26
STEPS = 200
TAGGED = 20  # steps of the door `tags`, of each kind of answer
WINDOW = 40  # steps at each end that are compared, and before each look at the level
GOOD = 0.6  # mean score from which the curriculum is raised
EXPLORING = 0.25  # share of the steps at which a way is drawn
GROUP = 2  # completions of a step in verifiers
TEMPLATES = ["braking", "coaxial_cable", "glass_surface", "pulley", "thin_lens"]
WAYS = ("nothing", "half", "another_one", "finals", "worked")


def drawn(*words: object) -> float:
    """A number in [0, 1) for some words: the same everywhere."""
    digest = hashlib.sha256("\0".join(map(str, words)).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


class Policy:
    """Takes the way with the best mean score so far, and sometimes another one."""

    def __init__(self) -> None:
        """Know nothing."""
        self.scores: dict[str, list[float]] = {way: [] for way in WAYS}

    def way(self, *place: object) -> str:
        """The way at a step."""
        if drawn("explore", *place) < EXPLORING or not any(self.scores.values()):
            return WAYS[int(drawn("way", *place) * len(WAYS))]
        return max(WAYS, key=self.mean)  # of equal ones the first

    def mean(self, way: str) -> float:
        """The mean score of a way; 0 for one that was not tried."""
        return sum(self.scores[way]) / len(self.scores[way]) if self.scores[way] else 0.0

    def learn(self, way: str, score: float) -> None:
        """Keep what a way earned."""
        self.scores[way].append(score)


def solution(way: str, problem: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """The text that a way makes of a problem; `other` is another problem, for a bad memory."""
    nodes = problem["grading_standard"]
    formulas = [node["formula"] for node in nodes]
    if way == "nothing":
        return "I do not know."
    if way == "half":
        formulas = formulas[: len(formulas) // 2]
    elif way == "finals":
        formulas = [node["formula"] for node in nodes if node.get("is_final_answer")] or formulas[-1:]
    elif way == "another_one":
        formulas = [node["formula"] for node in other["grading_standard"]]
    return "\n".join(f"${formula}$" for formula in formulas)


def summary(scores: Sequence[float], policy: Policy, **further: Any) -> dict[str, Any]:
    """What a run says."""
    digest = hashlib.sha256(json.dumps(list(scores)).encode()).hexdigest()
    mean = {way: round(policy.mean(way), 6) for way in WAYS}
    return {
        "steps": STEPS, "scores": len(scores), "sha256_of_scores": digest, "mean_by_way": mean,
        "tried": {way: len(policy.scores[way]) for way in WAYS},
        "first": round(sum(scores[:WINDOW]) / WINDOW, 6), "last": round(sum(scores[-WINDOW:]) / WINDOW, 6), **further,
    }  # fmt: skip


# In the environment of a framework. -----------------------------------------------------------------------------


def reasoning_gym() -> dict[str, Any]:
    """200 entries of an `Experiment`, scored by id, with a curriculum that is raised by the scores."""
    from reasoning_gym.coaching import Experiment
    from reasoning_gym.composite import CompositeConfig, CompositeDataset, DatasetSpec
    from reasoning_gym.factory import create_curriculum
    from reasoning_gym.version_manager import DatasetVersionManager

    from prism.rewards.reasoning_gym import register

    register()
    curriculum = create_curriculum("prism")
    config = {"templates": TEMPLATES, "seed": SEED}
    start = curriculum.generate_configuration(config)
    spec = DatasetSpec(name="prism", weight=1.0, config=vars(start))
    composite = CompositeDataset(
        CompositeConfig(size=STEPS, seed=SEED, datasets=[spec]), version_manager=DatasetVersionManager()
    )
    experiment, policy = Experiment("endless", composite), Policy()
    scores: list[float] = []
    raised: list[int] = []
    for step in range(STEPS):
        entry, other = experiment.get_dataset_entry(step), experiment.get_dataset_entry(step + STEPS)
        way = policy.way(step)
        text = solution(way, *(json.loads(each["metadata"]["problem"]) for each in (entry, other)))
        score = experiment.score_answer_with_id(text, entry["metadata"]["entry_id"])
        policy.learn(way, score)
        scores.append(score)
        if (step + 1) % WINDOW == 0 and sum(scores[-WINDOW:]) / WINDOW >= GOOD and curriculum.increment_global_level():
            raised.append(step + 1)
            harder = curriculum.generate_configuration(config)
            composite.update_dataset_config("prism", vars(harder))
    (board,) = experiment.score_board.aggregate().values()
    told = {str(dict(key)): len(values) for key, values in board.scores.items()}
    return summary(scores, policy, level_raised_after=raised, scores_by_difficulty=told)


def verifiers() -> dict[str, Any]:
    """200 steps of `generate` over the rows of the environment, two completions each, by a scripted client."""
    from prism.rewards.verifiers import environment as prism_environment

    rows, env = _environment(lambda: prism_environment(TEMPLATES, SEED, STEPS, 10, scoring="strict"))
    problems = [json.loads(row["answer"]) for row in rows]
    policy, scores, metrics = Policy(), [], []
    for step, row in enumerate(rows):
        ways = [policy.way(step, place) for place in range(GROUP)]
        texts = [solution(way, problems[step], problems[step - 1]) for way in ways]
        found = _generated(env, [row] * GROUP, texts)
        for way, each in zip(ways, found, strict=True):
            policy.learn(way, each["reward"])
            scores.append(each["reward"])
        metrics.append(found[0]["metrics"])
    final = sum(each["prism_final"] for each in metrics) / len(metrics)
    bad = sum(each["prism_bad_reference"] for each in metrics)
    evaluated = len(env.get_eval_dataset())
    return summary(scores, policy, mean_final=round(final, 6), bad_references=bad, rows_to_evaluate=evaluated)


def tags() -> dict[str, Any]:
    """What verifiers' environment for reasoning-gym pays for steps, and for finals, outside and inside of the tags."""
    from verifiers.legacy.envs.integrations.reasoninggym_env import ReasoningGymEnv

    from prism.rewards.reasoning_gym import register

    register()
    gym: list[Any] = [{"name": "prism", "weight": 1.0, "config": {"templates": TEMPLATES, "seed": SEED}}]
    rows, env = _environment(lambda: ReasoningGymEnv(gym, TAGGED, 1, seed=SEED))
    entries = [env.rg_dataset[int(row["answer"])] for row in rows]
    found = {}
    for name in ("steps_outside", "all_inside", "finals_inside", "finals_untagged"):
        texts = []
        for entry in entries:
            problem = json.loads(entry["metadata"]["problem"])
            steps, finals = solution("worked", problem, problem), entry["answer"]
            texts.append({
                "steps_outside": f"{steps}\n<answer>see above</answer>", "all_inside": f"<answer>{steps}</answer>",
                "finals_inside": f"<answer>{finals}</answer>", "finals_untagged": finals,
            }[name])  # fmt: skip
        rewards = [each["reward"] for each in _generated(env, rows, texts)]
        found[name] = round(sum(rewards) / len(rewards), 6)
    return {"steps": TAGGED, "mean_reward": found}


def _environment(make: Callable[[], Any]) -> tuple[list[dict[str, Any]], Any]:
    """The rows to train on of an environment of verifiers, and the environment, without progress bars."""
    import datasets

    datasets.disable_progress_bars()
    env = make()
    return list(env.get_dataset()), env


def _generated(env: Any, rows: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> list[dict[str, Any]]:
    """What an environment of verifiers makes of completions: a client answers with them, in order."""
    from verifiers.clients import Client
    from verifiers.types import Response, ResponseMessage

    waiting = list(texts)

    class Scripted(Client):  # type: ignore[misc]
        async def get_response(self, *_arguments: Any, **_settings: Any) -> Response:
            message = ResponseMessage(content=waiting.pop(0), finish_reason="stop", is_truncated=False)
            return Response(id="0", created=0, model="scripted", message=message)

        def setup_client(self, _config: Any) -> Any:
            return None

        async def close(self) -> None:
            return None

        to_native_tool = to_native_prompt = get_native_response = get_response
        raise_from_native_response = from_native_response = get_response

    made = env.generate(
        [dict(row) for row in rows], client=Scripted(None), model="scripted", max_concurrent=1,
        on_start=_silent, on_progress=_silent, on_log=_silent,
    )  # fmt: skip
    return list(asyncio.run(made)["outputs"])


def _silent(*_arguments: Any, **_settings: Any) -> None:
    """Show no progress."""


RUNS: dict[str, tuple[str, Door, Callable[[], dict[str, Any]]]] = {
    "reasoning_gym": (
        "reasoning_gym",
        Door("reasoning-gym==0.1.25", "reasoning_gym", DOORS["verifiers_0_3"].run),
        reasoning_gym,
    ),
    "verifiers": ("verifiers_0_3", DOORS["verifiers_0_3"], verifiers),
    "tags": (
        "verifiers_rg",
        Door("verifiers==0.3.1", "reasoning_gym", DOORS["verifiers_0_3"].run, first=("reasoning-gym==0.1.25",)),
        tags,
    ),
}
"""Name of a run: its environment, what is installed there, and what is run in it."""


# Here, and there. -----------------------------------------------------------------------------------------------


def run_twice(name: str, folder: Path) -> dict[str, Any]:
    """What a run printed, and whether a second process printed the same."""
    where, door, _ = RUNS[name]
    python = environment(where, door, folder)
    if isinstance(python, str):
        return {"not_run": python}
    told = []
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [str(python), str(Path(__file__).resolve()), "--inside", name],
            capture_output=True, text=True, check=False,
            env={**os.environ, **OFFLINE, "PYTHONHASHSEED": hash_seed},
        )  # fmt: skip
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            return {"failed": (done.stderr.strip().splitlines() or ["?"])[-1]}
        told.append(json.loads(done.stdout.splitlines()[-1]))
    return {**told[0], "repeated": told[0] == told[1]}


def run_inside(name: str) -> dict[str, Any]:
    """In the framework's environment: what a run says, with the versions."""
    _, door, run = RUNS[name]
    wanted = [re.split("==", each)[0] for each in (*door.first, door.package)]
    return {"packages": {each: metadata.version(each) for each in wanted}, **run()}


def is_good(found: Mapping[str, Any]) -> bool:
    """True if a run was repeated, and earned more at its end than at its start."""
    return bool(found.get("repeated")) and found.get("last", 1.0) > found.get("first", 0.0)


def main() -> int:
    """0 if all that could be run is good; 77 if nothing could be."""
    parser = script.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(RUNS))
    parser.add_argument("--environments", type=Path, default=ROOT / ".venv-doors")
    parser.add_argument("--inside", choices=RUNS, help="run inside the environment of this framework")
    asked = parser.parse_args()
    if asked.inside:
        print(json.dumps(run_inside(asked.inside), sort_keys=True))
        return 0
    if unknown := set(asked.names) - set(RUNS):
        parser.error(f"no run is named {', '.join(sorted(unknown))}")
    found = {name: run_twice(name, asked.environments) for name in asked.names or RUNS}
    if asked.json:
        print(json.dumps(found))
    else:
        for name, each in found.items():
            print(f"{name}:", json.dumps(each, sort_keys=True))
    if all("not_run" in each for each in found.values()):
        return NO_DATA
    return int(not all(is_good(each) for each in found.values() if "not_run" not in each))


if __name__ == "__main__":
    sys.exit(main())
