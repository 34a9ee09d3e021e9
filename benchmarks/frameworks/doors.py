"""Every door of a framework, run once with the framework itself: does it give what `Reward` and `prism run` give?

Each framework is installed into an environment of its own, `.venv-doors/NAME` or below `--environments`; one that is
there already is used as it is. In it this file runs again with `--door NAME`, hands rows to the framework's own scoring
(no network; TRL trains a tiny model, the others see no model), and prints what the framework made of them. The rows are
students of shipped problems, and one row whose reference does not exist. Then doors of evaluations make prompts of two
problems, of which the second has an image: what does the framework read in each?

A further door is a row of DOORS and a function: rows -> what the framework reports. `table.py` writes the pages from
`results/doors.json`.
"""

from __future__ import annotations

import base64
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import script
from benchmarks.frameworks import trainers
from benchmarks.frameworks.seen import ROOT, Row, Seen, scores_of_run

NO_DATA = 77  # exit code of a script that can measure nothing on this machine
PROBLEMS = ("bucket", "free_fall", "two_slits")
# One white pixel.
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEANl9ngAAAAABJRU5ErkJggg==")
NOWHERE = ""
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


@dataclass(frozen=True, slots=True)
class Door:
    """One framework.

    Attributes:
        package: as pip installs it.
        module: of PRISM.
        run: what is run in its environment.
        first: what is to be installed before it.
        steps: what is installed, with the options of pip, one step after the other; by default the package alone.
        python: the version that it wants, if not this one.
    """

    package: str
    module: str
    run: Callable[[Sequence[Row], Path], Seen]
    first: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    python: str = ""

    @property
    def commands(self) -> list[str]:
        """The commands of pip, one after the other, before PRISM itself is installed."""
        return [f"pip install {each}" for each in (*self.first, *(self.steps or (self.package,)))]


def rows() -> list[Row]:
    """Students of shipped problems; the last row has no reference."""
    import prism
    from prism.resources import resource

    found = []
    for name in PROBLEMS:
        path = resource(f"dags/{name}.toml")
        told = prism.load_problem(path).students
        found += [Row(f"{name}-{student.name}", str(path), student.solution) for student in told]
    return [*found, Row("nowhere", NOWHERE, found[0].solution)]


PROMPTS = [["text"], ["image", "text"]]  # what every framework should read in the prompts of `pictured`


def pictured(folder: Path) -> Path:
    """A folder with two problems, of which the second has an image."""
    made = folder / "pictured"
    made.mkdir()
    (made / "ramp.png").write_bytes(PNG)
    node = {"index": 1, "formula": "v^2 = 2 g h", "dependency": [], "is_final_answer": True}
    for name, images in (("plain", []), ("ramp", [{"location": "ramp.png", "caption": "the ramp"}])):
        data = {"id": name, "context": "Find $v$ for $g$ and $h$.", "images": images, "grading_standard": [node]}
        (made / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    return made


def prompt_lines(folder: Path) -> list[dict[str, Any]]:
    """The lines that `prism prompt FOLDER` writes of the problems of `pictured`."""
    from prism.problem.prompts import Prompt, make_prompts, rows_of

    return rows_of(make_prompts(pictured(folder)).values(), Prompt.to_row)


def kinds_of(messages: Sequence[Any]) -> list[str]:
    """The kinds of content in the messages of a framework: `image` and `text`."""
    parts = [part for each in messages for part in ([each.content] if isinstance(each.content, str) else each.content)]
    return ["text" if isinstance(part, str) else part.type.removesuffix("_url") for part in parts]


# Doors; each runs in the environment of its framework. ----------------------------------------------------------


def verifiers_rubric(given: Sequence[Row], folder: Path) -> Seen:
    """A `vf.Rubric` scores a group of states; completions are messages of the library's own type."""
    import asyncio

    import verifiers as vf
    from verifiers.types import AssistantMessage
    from verifiers.utils.message_utils import normalize_messages

    from prism.rewards.verifiers import prompt_rows, rubric

    states = [
        vf.State(prompt=[], completion=[AssistantMessage(content=row.solution)], answer=row.reference, info={},
                 trajectory=[])
        for row in given
    ]  # fmt: skip
    scorer = rubric()
    asyncio.run(scorer.score_group(states))
    alone = vf.State(states[0])
    asyncio.run(scorer.score_rollout(alone))
    assert alone["reward"] == states[0]["reward"]
    *good, bad = states
    return Seen(
        [state["reward"] for state in good],
        {"reward": bad["reward"], **bad["metrics"]},
        {"metrics_of_first_row": states[0]["metrics"]},
        [kinds_of(normalize_messages(row["prompt"], field_name="prompt"))
         for row in import_module("datasets").Dataset.from_list(prompt_rows(pictured(folder)))],
    )  # fmt: skip


def verifiers_task(given: Sequence[Row], folder: Path) -> Seen:
    """A `verifiers.v1` task scores its trace, with the reward plugged in by the name of a file."""
    import asyncio

    import verifiers.v1 as vf
    from verifiers.v1.configs.task import RewardFunctionConfig
    from verifiers.v1.graph import MessageNode
    from verifiers.v1.trace import AgentInfo, TraceTask
    from verifiers.v1.types import AssistantMessage

    from prism.rewards.verifiers import prompt_rows

    class Data(vf.TaskData):  # type: ignore[misc]
        reference: str

    path = folder / "my_rewards.py"
    path.write_text(
        "from prism.rewards import VerifiersTaskReward\n\nprism = VerifiersTaskReward()\n", encoding="utf-8"
    )
    config = vf.TaskConfig(rewards={"prism": RewardFunctionConfig(fn=f"{path}:prism", weight=0.5)})

    class Worked(vf.Task[Data]):  # type: ignore[misc]
        pass

    async def trace_of(row: Row) -> Any:
        task = Worked(Data(prompt="Solve.", reference=row.reference), config)
        trace: Any = vf.Trace.model_construct(
            task=TraceTask.model_construct(type="Worked", data=task.data),
            agent=AgentInfo.model_construct(config=None),
            nodes=[MessageNode(message=AssistantMessage(content=row.solution), sampled=True)],
            rewards={}, metrics={}, info={}, root_reply=None,
        )  # fmt: skip
        await task.score(trace)
        return trace

    async def all_traces() -> list[Any]:
        return [await trace_of(row) for row in given]

    *good, bad = asyncio.run(all_traces())
    return Seen(
        [trace.rewards["prism"].score for trace in good],
        {"reward": bad.rewards["prism"].score, **bad.metrics},
        {"metrics_of_first_row": good[0].metrics, "info_of_first_row": good[0].info,
         "weight": good[0].rewards["prism"].weight},
        [kinds_of(Data(**row).prompt) for row in prompt_rows(pictured(folder), column="reference")],
    )  # fmt: skip


def inspect(given: Sequence[Row], folder: Path) -> Seen:
    """An Inspect task with a mock model; `inspect score` over its log with precomputed scores; the example."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate

    import prism
    from prism.grading.row import score_row
    from prism.rewards.inspect_scorer import precomputed_scores_jsonl, prism_samples, prism_score

    said = {row.id: row.solution for row in given}

    def answer(messages: Any, *_others: Any) -> Any:
        output = ModelOutput.from_content("mockllm/model", said[messages[-1].text])
        output.usage = ModelUsage()  # else tokens are counted, with a table that is fetched
        return output

    samples = [Sample(id=row.id, input=row.id, target=row.reference) for row in given]
    model = get_model("mockllm/model", custom_outputs=answer)
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=prism_score())
    (log,) = evaluate(task, model=model, log_dir=str(folder / "logs"), display="none")
    assert log.status == "success", log.error.message
    scores = {str(each.id): each.scores["prism_score"] for each in log.samples}

    graded = [score_row(prism.load_problem(Path(row.reference)), row.solution,
                        prism.grade(Path(row.reference), row.solution, sample_id=row.id))
              for row in given[:-1]]  # fmt: skip
    (folder / "scores.jsonl").write_text(precomputed_scores_jsonl(graded), encoding="utf-8")
    command = [
        "inspect",
        "score",
        log.location,
        "--scorer",
        "precomputed_scores",
        "-S",
        f"scores={folder}/scores.jsonl",
    ]
    command += ["--action", "append", "--output-file", str(folder / "scored.eval"), "--display", "none"]
    subprocess.run(
        [str(Path(sys.executable).with_name("inspect")), *command[1:]], check=True, stdout=subprocess.DEVNULL
    )
    scored = read_eval_log(str(folder / "scored.eval"))
    both = [(str(each.id), each.scores) for each in scored.samples]
    again = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "inspect_task.py"), str(folder / "logs")],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return Seen(
        [scores[row.id].value for row in given[:-1]],
        {"value": str(scores["nowhere"].value), "reason": scores["nowhere"].reason},
        {"metrics": _metrics(log), "precomputed": {
            "same_values": all(each["prism_score"].value == each["precomputed_scores"].value
                               for name, each in both if name != "nowhere"),
            "metrics": _metrics(scored, "precomputed_scores")},
         "metadata_of_first_row": sorted(scores[given[0].id].metadata),
         "example": again.stdout.splitlines()},
        [["text"] if isinstance(each.input, str) else kinds_of(each.input) for each in prism_samples(pictured(folder))],
    )  # fmt: skip


def _metrics(log: Any, name: str = "prism_score") -> dict[str, Any]:
    (score,) = [each for each in log.results.scores if each.name == name]
    told = {metric.name: round(metric.value, 6) for metric in score.metrics.values()}
    return {**told, "scored": score.scored_samples, "not_scored": score.unscored_samples}


def lm_eval(given: Sequence[Row], folder: Path) -> Seen:
    """`simple_evaluate` over a task in YAML, with a model that knows the answers."""
    import lm_eval as harness
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    from prism.rewards import LMEvalResults

    data = [{"question": row.id, "reference": row.reference} for row in given]
    (folder / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in data), encoding="utf-8")
    listed = "".join(
        f"  - metric: {each['metric']}\n    aggregation: mean\n    higher_is_better: {each['higher_is_better']}\n"
        for each in LMEvalResults().metric_list
    )
    (folder / "prism_worked.yaml").write_text(
        "task: prism_worked\ndataset_path: json\n"
        f"dataset_kwargs:\n  data_files:\n    test: {folder}/rows.jsonl\n"
        "test_split: test\noutput_type: generate_until\n"
        'doc_to_text: "{{question}}"\ndoc_to_target: "{{reference}}"\n'
        'generation_kwargs:\n  until: ["</s>"]\n'
        f"process_results: !function prism.rewards.lm_eval.process_results\nmetric_list:\n{listed}",
        encoding="utf-8",
    )
    said = {row.id: row.solution for row in given}

    class Knowing(LM):  # type: ignore[misc]
        def generate_until(self, requests: Any) -> list[str]:
            return [said[request.args[0]] for request in requests]

        def loglikelihood(self, requests: Any) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    found = harness.simple_evaluate(
        model=Knowing(), tasks=["prism_worked"], task_manager=TaskManager(include_path=str(folder)), log_samples=True
    )
    *good, bad = sorted(found["samples"]["prism_worked"], key=lambda each: each["doc_id"])
    return Seen(
        [each["prism"] for each in good],
        {key: bad[key] for key in bad["metrics"]},
        {"results": {key: value for key, value in found["results"]["prism_worked"].items() if "prism" in key}},
        _prompts_of_lm_eval(folder),
    )


def _prompts_of_lm_eval(folder: Path) -> list[list[str]]:
    """What a model of the harness is handed where a task names `doc_to_text` and `doc_to_image`."""
    from lm_eval.tasks import TaskManager

    lines = "".join(json.dumps(each) + "\n" for each in prompt_lines(folder))
    (folder / "prompts.jsonl").write_text(lines, encoding="utf-8")
    (folder / "prism_prompts.yaml").write_text(
        f"task: prism_prompts\ndataset_path: json\ndataset_kwargs:\n  data_files:\n    test: {folder}/prompts.jsonl\n"
        "test_split: test\noutput_type: generate_until\ndoc_to_target: '{{problem_id}}'\n"
        "doc_to_text: !function prism.rewards.lm_eval.doc_to_text\n"
        "doc_to_image: !function prism.rewards.lm_eval.doc_to_image\n"
        "process_results: !function prism.rewards.lm_eval.process_results\nmetric_list:\n  - metric: prism\n"
        "    aggregation: mean\n    higher_is_better: true\n",
        encoding="utf-8",
    )
    task = TaskManager(include_path=str(folder)).load(["prism_prompts"])["tasks"]["prism_prompts"]
    task.build_all_requests()
    handed = [(request.args[0], request.args[2]["visual"]) for request in task.instances]
    return [["image"] * min(len(images), text.count("<image>")) + ["text"] for text, images in handed]


def lighteval(given: Sequence[Row], folder: Path) -> Seen:
    """`apply_metric` over documents and responses, and the aggregation of a results table."""
    from lighteval.logging.info_loggers import MetricsLogger
    from lighteval.metrics import apply_metric
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    from prism.rewards.lighteval import prism_doc, prism_metric

    metric = prism_metric()
    docs = [Doc(query=row.id, choices=[row.reference], gold_index=0, specific=None) for row in given]
    found = apply_metric([ModelResponse(text=[row.solution]) for row in given], docs, [metric])
    logger = MetricsLogger()
    for each in found:
        logger.log("prism|0", each)
    logger.aggregate({"prism|0": SimpleNamespace(aggregation=metric.get_corpus_aggregations)}, bootstrap_iters=1000)
    table = {key: float(value) for key, value in logger.metric_aggregated["prism|0"].items()}
    prompted = [prism_doc(line, "prism") for line in prompt_lines(folder)]
    prompts = [["image"] * len(each.images or ()) + ["text"] * bool(each.query) for each in prompted]
    return Seen([each["prism"] for each in found[:-1]], found[-1], {"results": table}, prompts)


TORCH = "torch==2.13.0"  # the build for a processor alone, where pip finds one
DOORS = {
    "trl": Door("trl==1.16.0", "trl", trainers.trl, (TORCH,), ("trl==1.16.0 transformers datasets accelerate",)),
    "verl": Door("verl==0.9.1", "verl", trainers.verl, (TORCH,)),
    # What it requires (flash-attn, vLLM, DeepSpeed) wants a GPU; what its executor imports does not.
    "openrlhf": Door(
        "openrlhf==0.11.2",
        "openrlhf",
        trainers.openrlhf,
        (TORCH,),
        ("--no-deps openrlhf==0.11.2", "ray transformers datasets accelerate"),
    ),
    "nemo_gym": Door("nemo-gym==0.4.0", "nemo_gym", trainers.nemo_gym, python="3.12"),
    "reasoning_gym": Door("reasoning-gym==0.1.25", "reasoning_gym", trainers.reasoning_gym),
    "verifiers_0_3": Door("verifiers==0.3.1", "verifiers", verifiers_rubric),
    "verifiers_0_4": Door("verifiers==0.4.0", "verifiers", verifiers_task),
    "inspect": Door("inspect-ai==0.3.285", "inspect_scorer", inspect),
    "lm_eval": Door("lm-eval==0.4.13", "lm_eval", lm_eval, first=("pillow",)),
    "lighteval": Door("lighteval==0.13.0", "lighteval", lighteval, first=(TORCH, "pillow")),
}


# Here, and there. -----------------------------------------------------------------------------------------------


def run_inside(door: Door) -> dict[str, Any]:
    """In the framework's environment: what it made of the rows, beside what `Reward` and `prism run` give."""
    from prism.rewards import Reward

    given = rows()
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        seen = door.run(given, Path(folder))
        seconds = time.perf_counter() - start
        by_run = scores_of_run(seen.graded or given[:-1], Path(folder))
    reward = Reward()
    direct = [reward(row.reference, row.solution).value for row in seen.graded or given[:-1]]
    name = door.package.split("==")[0]
    return {
        "package": {name: metadata.version(name)},
        "module": f"prism.rewards.{door.module}",
        "python": platform.python_version(),
        "commands": [*door.commands, "pip install -e ."],
        "seconds": round(seconds, 1),
        "rows": len(seen.rewards),
        "rewards_that_differ_from_run": sum(a != b for a, b in zip(seen.rewards, by_run, strict=True)),
        "same_as_reward": seen.rewards == direct,
        **({} if seen.prompts is None else {"prompts_with_images": seen.prompts == PROMPTS}),
        **({"rewards": seen.rewards} if seen.graded is None else {}),
        "bad_reference": seen.bad,
        "reported": seen.reported,
    }


def environment(name: str, door: Door, folder: Path) -> Path | str:
    """The Python of the framework's environment, which is made if it is not there; or why there is none."""
    python = folder / name / "bin" / "python"
    if (folder / name / ".made").exists():
        return python
    maker = shutil.which(f"python{door.python}") if door.python else sys.executable
    if maker is None:
        return f"not installed: there is no Python {door.python} here"
    steps = [[maker, "-m", "venv", str(folder / name)]]
    steps += [[str(python), "-m", *command.split()] for command in door.commands]
    steps += [[str(python), "-m", "pip", "install", "-e", str(ROOT)]]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"not installed: {(done.stderr.strip().splitlines() or ['?'])[-1]}"
    (folder / name / ".made").touch()
    return python


def run_outside(name: str, folder: Path) -> dict[str, Any]:
    """What running a door in its environment printed."""
    found = environment(name, DOORS[name], folder)
    if isinstance(found, str):
        return {"not_run": found, "commands": DOORS[name].commands}
    done = subprocess.run(
        [str(found), str(Path(__file__).resolve()), "--door", name],
        capture_output=True, text=True, check=False, env={**os.environ, **OFFLINE},
    )  # fmt: skip
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return {"failed": (done.stderr.strip().splitlines() or ["?"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    """0 if every door that could be installed gives what `Reward` gives; 77 if none could be."""
    parser = script.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(DOORS))
    parser.add_argument("--environments", type=Path, default=ROOT / ".venv-doors")
    parser.add_argument("--door", choices=DOORS, help="run inside the environment of this framework")
    asked = parser.parse_args()
    if asked.door:
        print(json.dumps(run_inside(DOORS[asked.door])))
        return 0
    if unknown := set(asked.names) - set(DOORS):
        parser.error(f"no door is named {', '.join(sorted(unknown))}")
    found = {name: run_outside(name, asked.environments) for name in asked.names or DOORS}
    if asked.json:
        print(json.dumps(found))
    else:
        for name, each in found.items():
            same = [
                each.get(key, "") for key in ("same_as_reward", "rewards_that_differ_from_run", *("not_run", "failed"))
            ]
            print(f"{name}:", *same, each.get("package", ""))
    if all("not_run" in each for each in found.values()):
        return NO_DATA
    wrong = (
        each.get("rewards_that_differ_from_run")
        or False in (each.get("same_as_reward"), each.get("prompts_with_images"))
        for each in found.values()
    )
    return int(any("failed" in each for each in found.values()) or any(wrong))


if __name__ == "__main__":
    sys.exit(main())
