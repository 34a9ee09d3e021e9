"""Score rows that are made, not graded: problems, models and rollouts with figures that a test can work out."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from prism.grading.row import json_line

DOMAINS = (
    "Atomic, Nuclear, and Particle Physics", "Electromagnetism", "Mechanics", "Optics", "Quantum Mechanics",
    "Solid State Physics and Miscellaneous Topics", "Thermodynamics and Statistical Physics",
)  # fmt: skip
LEVELS = ("Easy", "Medium", "Hard")
MODELS = ("Claude-sonnet-4", "DeepSeek_R1 50%", "GPT-5 & co", "Größe-α")


def made_row(
    problem_id: str, sample_id: str, score: float | None, *, final: bool = False, **kept: Any
) -> dict[str, Any]:
    """Return a score row; `kept` are the fields of its rollout that `--keep` would copy."""
    return {
        "problem_id": problem_id, "sample_id": sample_id, "status": "killed" if score is None else "ok",
        "score": score, "final_correct": final, "matched": [], "credited": [], "missing": [1], "incidents": [],
        "policies": {} if score is None else {"strict": score / 2, "final": float(final)},
        "grader": {"version": "0", "fingerprint": "f"}, "cost": 1000, "formulas": [], "meta": kept,
    }  # fmt: skip


def paper_rows(n_problem: int = 2, n_sample: int = 2, seed: int = 7) -> list[dict[str, Any]]:
    """Return rows of four models on problems of seven domains and three levels, several rollouts of each."""
    drawn = random.Random(seed)
    return [
        made_row(
            f"{domain[:4]} {level} {problem}", f"{model} {sample}", round(drawn.random(), 3),
            final=drawn.random() < 0.4, model=model, domain=domain, difficulty=level, seconds=drawn.uniform(1, 90),
            completion_tokens=drawn.randint(100, 9000), effort=drawn.choice(("low", "medium", "high")),
        )
        for model in MODELS
        for domain in DOMAINS
        for level in LEVELS
        for problem in range(n_problem)
        for sample in range(n_sample)
    ]  # fmt: skip


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as JSON Lines."""
    path.write_bytes(b"".join(json_line(row) + b"\n" for row in rows))
    return path
