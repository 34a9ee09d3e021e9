"""Does each style of `prism prompt` work from prompt to grade: the tiny model of `examples/trl_grpo.py`, per style.

For each style a fresh model is taught to answer the prompts of two problems in the format that they ask for (the
reference, written so), then samples answers, and these are graded. The model has two layers and one token a byte, and
knows nothing but what it was taught: the scores say that prompts, formats and grades go together, and nothing about
which format a real model does best in. That every format is read in full is a test (`tests/grading`).

    .venv-trl/bin/python benchmarks/frameworks/prompts.py --json

Runs in the environment that `examples/trl_grpo.py` describes.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.material import NO_DATA  # noqa: E402
from prism.problem.prompts import STYLES  # noqa: E402
from tests.support.prompted_solutions import WRITERS  # noqa: E402

PROBLEMS = ("free_fall", "bucket")
TAUGHT = 250  # steps, after which the tiny model has learnt its answers by heart
SAMPLES = 4  # of each problem
TEMPERATURE = 0.5
SEED = 7


def measured(style: str, steps: int) -> dict[str, Any]:
    """Teach a fresh model one style, sample from it, and grade what it writes."""
    import torch

    example = import_module("trl_grpo")
    example.set_seed(SEED)
    torch.set_num_threads(1)
    words = example.tokenizer()
    model = example.tiny_model(words)
    problems = [prism.load_problem(name) for name in PROBLEMS]
    pairs = [(prism.prompt(each, style) + "\n\n", WRITERS[style](each)) for each in problems]
    start = time.perf_counter()
    loss = _teach(model, words, pairs, steps)
    found = []
    for problem, (asked, answer) in zip(problems, pairs, strict=True):
        given = words([asked], return_tensors="pt")
        made = model.generate(
            **given, do_sample=True, temperature=TEMPERATURE, num_return_sequences=SAMPLES,
            max_new_tokens=len(answer.encode()) + 40,
        )  # fmt: skip
        said = words.batch_decode(made[:, given["input_ids"].shape[1] :], skip_special_tokens=True)
        found += [prism.grade(problem, text) for text in said]
    return {
        "prompt_bytes": [len(asked.encode()) for asked, _ in pairs],
        "loss": round(loss, 3),
        "answers": len(found),
        "mean_score": round(sum(each.score or 0.0 for each in found) / len(found), 3),
        "final_right": sum(each.final_correct for each in found),
        "formulas": sum(len(each.formulas) for each in found),
        "unread": sum(each.unread for each in found),
        "incidents": sum(len(each.incidents) for each in found),
        "seconds": round(time.perf_counter() - start, 1),
    }


def _teach(model: Any, words: Any, pairs: list[tuple[str, str]], steps: int) -> float:
    """Train on the answers behind their prompts, which are seen and not learnt; the last loss."""
    import torch

    words.padding_side = "right"
    batch = words([asked + answer + words.eos_token for asked, answer in pairs], return_tensors="pt", padding=True)
    words.padding_side = "left"
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    for row, (asked, _) in enumerate(pairs):
        labels[row, : len(asked.encode())] = -100
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    loss = torch.tensor(0.0)
    for _ in range(steps):
        loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss.item())


def main() -> int:
    """0 if every style gave answers that were graded; 77 without the frameworks."""
    parser = script.parser("From prompt to grade with a tiny model, by style.")
    parser.add_argument("--steps", type=int, default=TAUGHT, help="of training, for each style")
    asked = parser.parse_args()
    try:
        import_module("trl_grpo")
    except ImportError as error:
        print(f"prompts: {error}; examples/trl_grpo.py says how to make its environment", file=sys.stderr)
        return NO_DATA
    found = {style: measured(style, asked.steps) for style in STYLES}
    print(json.dumps({"problems": list(PROBLEMS), "steps": asked.steps, "styles": found}))
    return int(any(each["incidents"] or not each["formulas"] for each in found.values()))


if __name__ == "__main__":
    sys.exit(main())
