"""PRISM's generated problems as a data set of reasoning-gym, under the name `prism`.

    import reasoning_gym
    from prism.rewards.reasoning_gym import register

    register()
    problems = reasoning_gym.create_dataset("prism", templates=["braking"], seed=1, size=200)
    entry = problems[17]
    problems.score_answer(answer, entry)

It is a `ProceduralDataset` with a configuration and a curriculum, so composites, experiments and `ReseedingDataset`
take it. Its items do not come of `seed + idx` as those of that library do: chunk 1 of a `ReseedingDataset` shares
nothing with chunk 0.

Good for final answers: the environment that verifiers has for reasoning-gym hands `score_answer` only what stands
between `<answer>` tags, so steps outside of them earn nothing. For rewards of steps take
`prism.rewards.verifiers.environment`, or hand `score_answer` the whole solution.

Read in the source of reasoning-gym 0.1.25 (`dataset.py`, `factory.py`, `composite.py`, `coaching/`), and run with it:
`benchmarks/frameworks/endless.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from prism.errors import PrismError
from prism.generation.template import PERTURBED
from prism.rewards.curriculum import Curriculum, RangeAttributeDefinition
from prism.rewards.data_sets import made_on_first_use
from prism.rewards.generated import HIGHEST_C3, LOWEST_C3, Restriction, check_settings, endless

NAME = "prism"


@dataclass
class PrismConfig:
    """The configuration of the data set; `register` takes a subclass with other defaults, under a name of its own.

    Attributes:
        seed: of the run; None for one that reasoning-gym draws.
        size: number of entries.
        templates: ids of shipped templates, or paths; empty for all shipped ones.
        variants: of `prism.generate`.
        weights: of the templates, in their order; empty for equal ones.
        min_c3, max_c3, cases, level: as of `prism.rewards.endless`; the curriculum sets them.
        style: of the prompts. scoring: what a score pays. thinking: as of `prism.rewards.endless`.
        registered_as: the name of the data set; entries say it, and a composite looks it up.
    """

    seed: int | None = None
    size: int = 500
    templates: Sequence[str] = ()
    variants: Sequence[str] = (PERTURBED,)
    weights: Sequence[float] = ()
    min_c3: int = LOWEST_C3
    max_c3: int = HIGHEST_C3
    cases: int | Sequence[str] | None = None
    level: int | None = None
    style: str = "prism"
    scoring: str | Mapping[str, float] = "closure"
    thinking: bool = False
    registered_as: str = NAME

    def validate(self) -> None:
        """Raise PrismError with all that is wrong; the templates themselves are checked by the data set."""
        restriction = Restriction(self.min_c3, self.max_c3, self.cases, self.level)
        check_settings(0 if self.seed is None else self.seed, self.variants, self.size, restriction, self.style)


def register(name: str = NAME, config_cls: type[PrismConfig] = PrismConfig) -> None:
    """Register the data set with reasoning-gym, and the curriculum of its templates; a second call does nothing.

    Args:
        name: for `reasoning_gym.create_dataset` and the like.
        config_cls: whose default templates the curriculum is made of.

    Errors:
        PrismError: the configuration has another name.
        ValueError: reasoning-gym has another data set of this name.
    """
    from reasoning_gym.factory import DATASETS, register_dataset

    if config_cls().registered_as != name:
        own = config_cls().registered_as
        raise PrismError(f"registered_as: {config_cls.__name__} says {own!r}, and is to be registered as {name!r}")
    own_dataset, own_curriculum = __getattr__("PrismDataset"), __getattr__("PrismCurriculum")
    if DATASETS.get(name) != (own_dataset, config_cls):
        curriculum = type(f"{config_cls.__name__}Curriculum", (own_curriculum,), {"config_cls": config_cls})
        register_dataset(name, own_dataset, config_cls, curriculum)


def _make_dataset() -> type:
    """Return the class `PrismDataset`."""
    from reasoning_gym.dataset import ProceduralDataset

    class PrismDataset(ProceduralDataset):  # type: ignore[misc, unused-ignore]
        """Generated problems of templates; picklable.

        Attributes:
            problems: the same without reasoning-gym, without end.
        """

        def __init__(self, config: PrismConfig) -> None:
            """Check the configuration and solve the templates.

            Errors:
                PrismError: all that is wrong with either.
            """
            super().__init__(config=config, seed=config.seed, size=config.size)
            self.problems = endless(
                list(config.templates), self.seed, config.variants, weights=config.weights, min_c3=config.min_c3,
                max_c3=config.max_c3, cases=config.cases, level=config.level, style=config.style,
                scoring=config.scoring, thinking=config.thinking,
            )  # fmt: skip

        @property
        def category(self) -> str:
            """Return the category of the data set."""
            return "physics"

        def __getitem__(self, idx: int) -> dict[str, Any]:
            """Return an entry: as of `prism.rewards.endless`, from the registered name.

            As in reasoning-gym the size bounds iteration only.
            """
            entry = self.problems.entry(idx)
            entry["metadata"]["source_dataset"] = self.config.registered_as
            return entry

        def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
            """Return what an answer to an entry earns; never raises."""
            return self.problems.score_answer(answer, entry)

    return PrismDataset


def _make_curriculum() -> type:
    """Return the class `PrismCurriculum`."""
    from reasoning_gym import coaching

    class PrismCurriculum(coaching.BaseCurriculum):  # type: ignore[misc, unused-ignore]
        """The levels that the templates of a configuration have: `c3`, `cases` and `range`.

        Attributes:
            config_cls: whose default templates are looked at.
        """

        config_cls: ClassVar[type[PrismConfig]] = PrismConfig

        def __init__(self) -> None:
            """Look at the templates."""
            super().__init__(type(self).__name__, self.config_cls)
            for each in Curriculum(list(self.config_cls().templates)).attributes:
                own = {"name": each.name, "levels": list(each.levels), "description": each.description}
                if isinstance(each, RangeAttributeDefinition):
                    own |= {"lower_field_name": each.lower_field_name, "upper_field_name": each.upper_field_name}
                    self._define_attributes(coaching.RangeAttributeDefinition(**own))
                else:
                    own["field_name"] = each.field_name
                    self._define_attributes(coaching.ScalarAttributeDefinition(**own))

    return PrismCurriculum


__getattr__ = made_on_first_use(globals(), {"PrismDataset": _make_dataset, "PrismCurriculum": _make_curriculum})
