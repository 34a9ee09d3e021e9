"""Two steps of GRPO on a processor, with PRISM as the reward: a tiny model made here, two shipped problems.

Nothing is downloaded: the tokenizer has one token a byte, and the model is a Qwen2 of two layers made from a config. As
it is, it would write noise and earn nothing. So it is first taught two short solutions for some seconds, and then
samples with errors of its own: some completions of a group are better than others, which is what GRPO learns from.

    python -m venv .venv-trl
    .venv-trl/bin/pip install torch==2.13.0
    .venv-trl/bin/pip install trl transformers datasets accelerate .
    .venv-trl/bin/python examples/trl_grpo.py

With `--json` what was seen comes as JSON. With `--workers 2` two processes grade. With `--steps` each formula is paid
at the token that completes it, and the advantages of TRL's trainer differ from token to token. With `--answers` only
final answers are paid: the references are gold answers. `--group 128 --updates 10` is ten steps of 256 completions.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, PrinterCallback, Qwen2Config, Qwen2ForCausalLM, set_seed
from trl import GRPOConfig, GRPOTrainer

import prism
from prism.resources import resource
from prism.rewards import TRLReward
from prism.rewards.trl_steps import StepGRPOTrainer

PROBLEMS = ("free_fall", "scoring_figure")
SOLUTIONS = {  # what the model is taught: short, so that some seconds are enough
    "free_fall": r"(a) $v = g t$ so $s = g t^2/2$ and $t_f = \sqrt{2h/g}$ (b) $v_f = g t_f$",
    "scoring_figure": r"(a) $S = (E_K + m_p)^2 - p_K^2$ and $T_K = E_K - m_K$ (b) $\theta_{1,max} = \pi$",
}
LENGTH = 128  # tokens, which are bytes
GROUP = 4
UPDATES = 2
TAUGHT = 120  # steps; after 220 it makes no errors, and all completions of a group are alike
SEED = 7


def tokenizer() -> PreTrainedTokenizerFast:
    """One token a byte, and two special ones."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["<pad>", "<eos>"]
    vocabulary = {token: place for place, token in enumerate([*special, *alphabet])}
    bytewise = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bytewise.decoder = decoders.ByteLevel()
    pad, eos = special
    return PreTrainedTokenizerFast(tokenizer_object=bytewise, pad_token=pad, eos_token=eos, padding_side="left")


def tiny_model(words: PreTrainedTokenizerFast) -> Qwen2ForCausalLM:
    """A language model of two layers."""
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(words), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=512, tie_word_embeddings=True,
            pad_token_id=words.pad_token_id, eos_token_id=words.eos_token_id, bos_token_id=None,
        )
    )  # fmt: skip


def rows() -> list[dict[str, str]]:
    """A prompt and the id of its problem for each problem."""
    return [{"prompt": f"Problem {name}: ", "reference": name} for name in PROBLEMS]


def answers() -> list[dict[str, Any]]:
    """Problems of nothing but their final answers, under the same ids."""
    found = [prism.load_problem(name) for name in PROBLEMS]
    return [
        {"id": each.id, "answer": [node.latex for node in each.nodes if node.is_final], "question": each.statement}
        for each in found
    ]


def teach(model: Qwen2ForCausalLM, words: PreTrainedTokenizerFast) -> float:
    """Plain training on the solutions; the last loss."""
    texts = [row["prompt"] + SOLUTIONS[row["reference"]] + words.eos_token for row in rows()]
    batch = words(texts, return_tensors="pt", padding=True)
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    loss = torch.tensor(0.0)
    for _ in range(TAUGHT):
        loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


class Watched(TRLReward):
    """The reward, which keeps what it saw for the report; otherwise `reward_funcs=[TRLReward(...)]` is all to do."""

    def __init__(self, workers: int, *, of_answers: bool) -> None:
        """Reward with the score of a grade, of final answers alone or of all steps; all else by default."""
        files = [resource(f"dags/{name}.toml") for name in PROBLEMS]
        super().__init__("closure", problems=answers() if of_answers else files, workers=workers)
        self.seen: list[dict[str, Any]] = []

    def __call__(self, *arguments: Any, **columns: Any) -> list[float | None]:
        """Reward a batch as `TRLReward` does."""
        rewards = super().__call__(*arguments, **columns)
        self.seen.extend(
            {"reference": name, "completion": text, "reward": value}
            for name, text, value in zip(columns["reference"], columns["completions"], rewards, strict=True)
        )
        return rewards


def run(
    folder: Path, *, workers: int = 0, steps: bool = False, of_answers: bool = False, group: int = GROUP,
    updates: int = UPDATES,
) -> dict[str, Any]:  # fmt: skip
    """Steps of GRPO; what the trainer logged, and every completion with its reward."""
    set_seed(SEED)
    torch.set_num_threads(1)
    words = tokenizer()
    model = tiny_model(words)
    taught = teach(model, words)
    reward = Watched(workers, of_answers=of_answers)
    settings = GRPOConfig(
        output_dir=str(folder), max_steps=updates, per_device_train_batch_size=group * len(PROBLEMS),
        num_generations=group, max_completion_length=LENGTH, temperature=1.0, learning_rate=1e-3, logging_steps=1,
        report_to=[], save_strategy="no", use_cpu=True, bf16=False, seed=SEED, disable_tqdm=True,
    )  # fmt: skip
    before = [parameter.detach().clone() for parameter in model.parameters()]
    trainer = (StepGRPOTrainer if steps else GRPOTrainer)(
        model=model, reward_funcs=[reward], args=settings, train_dataset=Dataset.from_list(rows()),
        processing_class=words,
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    shapes: set[tuple[int, ...]] = set()
    compute_loss = trainer._compute_loss

    def watched_loss(model: Any, inputs: Any) -> Any:
        """The loss, and the shape of the advantages that went into it."""
        shapes.add(tuple(inputs["advantages"].shape))
        return compute_loss(model, inputs)

    trainer._compute_loss = watched_loss
    trainer.train()
    reward.reward.close()
    after = list(trainer.model.parameters())
    moved = max(float((new.detach() - old).abs().max()) for old, new in zip(before, after, strict=True))
    return {
        "versions": {name: metadata.version(name) for name in ("trl", "transformers", "torch", "datasets")}
        | {"prism-dag": prism.__version__},
        "taught_loss": round(taught, 4),
        "steps": [
            {name: round(value, 6) for name, value in entry.items()}
            for entry in trainer.state.log_history
            if "reward" in entry
        ],
        "completions": reward.seen,
        "advantages": sorted(map(list, shapes)),
        "largest_change_of_a_weight": round(moved, 6),
    }


def main() -> None:
    """Run, and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--workers", type=int, default=0, help="processes that grade")
    parser.add_argument("--group", type=int, default=GROUP, help="completions of a prompt")
    parser.add_argument("--updates", type=int, default=UPDATES, help="steps of the trainer")
    parser.add_argument("--answers", action="store_true", help="pay final answers alone")
    parser.add_argument("--steps", action="store_true", help="pay each formula at its token")
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
    with tempfile.TemporaryDirectory() as folder:
        found = run(
            Path(folder), workers=asked.workers, steps=asked.steps, of_answers=asked.answers, group=asked.group,
            updates=asked.updates,
        )  # fmt: skip
    if asked.json:
        json.dump(found, sys.stdout, indent=1, sort_keys=True)
        return
    for each in found["completions"]:
        print(f"{each['reward']:.6f}  {each['reference']}: {each['completion']!r}")
    for step, entry in enumerate(found["steps"], start=1):
        logged = {name: round(value, 3) for name, value in sorted(entry.items()) if name.startswith(("rew", "prism/"))}
        print(f"step {step}: {logged}")
    print(f"shape of the advantages: {found['advantages']}")
    print(f"largest change of a weight: {found['largest_change_of_a_weight']:.2g}; {found['versions']}")


if __name__ == "__main__":
    main()
