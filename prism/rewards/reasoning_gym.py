"""A data set for reasoning-gym: `register()` once, then `reasoning_gym.create_dataset("prism", seed=1, size=500)`.

Its configuration is a dataclass, and its curriculum has the levels that templates have: C3, ranges of parameters and
cases. An item is that of `prism.rewards.endless`, whose index and seed are hashed apart; the score is that of the whole
answer that is handed over.

verifiers' environment for reasoning-gym hands over only what stands between `<answer>` tags, so steps outside earn
nothing there: this door is good for final answers, and `prism.rewards.verifiers.environment` is the one for steps.

Run with reasoning-gym 0.1.25: `benchmarks/frameworks/endless_run.py`. Loading this module imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reasoning_gym.coaching.attributes import ScalarAttributeDefinition
from reasoning_gym.coaching.base_curriculum import BaseCurriculum
from reasoning_gym.dataset import ProceduralDataset
from reasoning_gym.factory import DATASETS, register_dataset

from prism.generation.template import PERTURBED, VARIANTS
from prism.rewards.endless_problems import EndlessProblems, Level

NAME = "prism"


@dataclass
class PrismConfig:
    """What a data set of reasoning-gym is made of.

    Attributes:
        seed, size: as there.
        templates: ids or paths; None for all shipped ones.
        variants: of `original`, `perturbed`, `knowledge`, `abstract`.
        weights: of the templates; None for equal ones.
        structure: highest C3; None for all.
        ranges: place of the levels of parameters; None for whole ranges.
        cases: names of cases; None for all.
        scoring: as of `prism.rewards.Reward`.
    """

    seed: int | None = None
    size: int = 500
    templates: Sequence[str] | None = None
    variants: Sequence[str] = (PERTURBED,)
    weights: Sequence[float] | None = None
    structure: int | None = None
    ranges: int | None = None
    cases: Sequence[str] | None = None
    scoring: str = "closure"

    def validate(self) -> None:
        """Raise AssertionError for a value that cannot be used, as reasoning-gym's own configurations do."""
        assert self.size >= 0, "size must be 0 or more"
        assert self.variants, "variants must not be empty"
        assert set(self.variants) <= set(VARIANTS), f"variants must be among {', '.join(VARIANTS)}"
        assert self.structure in (None, 1, 2, 3), "structure must be 1, 2 or 3"
        assert self.weights is None or self.templates is not None, "weights need templates"


class PrismDataset(ProceduralDataset):  # type: ignore[misc, unused-ignore]
    """The problems of `prism.rewards.endless` as a data set of reasoning-gym."""

    def __init__(self, config: PrismConfig) -> None:
        """Load and solve the templates of a configuration."""
        super().__init__(config, seed=config.seed, size=config.size)
        cases = None if config.cases is None else tuple(config.cases)
        self.problems = EndlessProblems(
            config.templates, self.seed, variants=config.variants, size=config.size, weights=config.weights,
            level=Level(config.structure, config.ranges, cases), scoring=config.scoring,
        )  # fmt: skip

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Return the entry of an index."""
        return self.problems[idx]

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """Return the reward of an answer to an entry."""
        return self.problems.score_answer(answer, entry)


class PrismCurriculum(BaseCurriculum):  # type: ignore[misc, unused-ignore]
    """Levels by C3 and by the ranges of parameters, easy to hard."""

    def __init__(self) -> None:
        """Define the two attributes."""
        super().__init__(PrismCurriculum.__name__, PrismConfig)
        self._define_attributes(
            ScalarAttributeDefinition(
                name="structure", field_name="structure", levels=[1, 2, 3], description="highest C3 of a problem's DAG"
            ),
            ScalarAttributeDefinition(
                name="ranges", field_name="ranges", levels=[0, 1, 2, None], description="levels of parameters, then all"
            ),
        )


def register(name: str = NAME) -> None:
    """Register the data set with reasoning-gym, unless it has one of this name."""
    if name not in DATASETS:
        register_dataset(name, PrismDataset, PrismConfig, PrismCurriculum)
