"""Problems without end for training: instance `idx` of a run is drawn from templates, and an answer to it is scored.

The object has the shape of reasoning-gym's `ProceduralDataset` without importing it: `len`, an index, iteration, and
`score_answer(answer, entry)`. There an item is `Random(seed + idx)`, so that a chunk repeats all but one item of the
one before it. Here seed and index are hashed apart, and runs share nothing.

An entry has its whole problem in its metadata, so that any process can score it.

Read in the source of reasoning-gym 0.1.25 (`reasoning_gym/dataset.py`, `factory.py`, `coaching/`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from prism.errors import PrismError
from prism.generation.drawing import draw_index, draw_weighted
from prism.generation.exact_values import full_precision
from prism.generation.instances import (
    Instance,
    Unsatisfiable,
    checked_variants,
    make_instance,
    solve_original,
    solve_seed,
)
from prism.generation.loading import TemplateSource, template_files
from prism.generation.preparing import PreparedTemplate, prepare_template
from prism.generation.template import ORIGINAL, PERTURBED
from prism.generation.values import draw_case
from prism.grading.row import json_line
from prism.grading.scoring import Scoring
from prism.problem.dag import structural_difficulty
from prism.problem.prompts import prompt
from prism.problem.schema import load_problem
from prism.rewards.reward import Reward, reward_of

_TRIES = 200  # seeds of one index, of which the first that has an allowed case is taken
_BYTES = 8  # of a digest that make a number


@dataclass(frozen=True, slots=True)
class Level:
    """What of the templates is drawn, from easy to hard: the parts of a curriculum.

    Attributes:
        structure: highest C3 of a case that is drawn, 1 to 3; None for all.
        ranges: place from 0 among the `levels` of parameters that have some; None for whole ranges.
        cases: names of cases that are drawn; None for all. Templates without cases are always drawn.
    """

    structure: int | None = None
    ranges: int | None = None
    cases: tuple[str, ...] | None = None


class EndlessProblems:
    """Entries of a run by their index; picklable, and the same in every process.

    Attributes:
        size: number of entries; None for no end.
        seed: of the run.
        variants: of which each entry is one.
        level: of a curriculum.
        reward: what scores answers.
    """

    def __init__(
        self,
        templates: Sequence[TemplateSource] | None = None,
        seed: int = 0,
        *,
        variants: Sequence[str] = (PERTURBED,),
        size: int | None = None,
        weights: Sequence[float] | None = None,
        level: Level = Level(),
        scoring: str | Mapping[str, float] | Scoring | Reward = "closure",
    ) -> None:
        """Check all arguments, and load and solve the templates.

        Args:
            templates: ids, paths or tables; None for all shipped ones.
            seed: of the run.
            variants: of `generation.template.VARIANTS`.
            size: None for no end.
            weights: of the templates, in their order; None for equal ones.
            level: of a curriculum.
            scoring: as of `Reward`.

        Errors:
            DataFileError: all faults of the templates.
            PrismError: an argument that cannot be used, or a level that leaves no case of any template.
        """
        sources = template_files() if templates is None else templates
        if isinstance(sources, str) or not sources:
            raise PrismError(f"templates: found {sources!r}; expected a list of ids, paths or tables")
        if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 0):
            raise PrismError(f"size: {size!r} is no whole number from 0 on")
        self.size, self.seed, self.level = size, seed, level
        self.variants = checked_variants(tuple(variants))
        self.reward = reward_of(scoring, problems=None, thinking=False)
        self._prepared = [prepare_template(each) for each in sources]
        self._weights = _checked_weights(weights, len(self._prepared))
        self._cases = [_allowed_cases(each, level) for each in self._prepared]
        self._weights = [w if cases else Fraction(0) for w, cases in zip(self._weights, self._cases, strict=True)]
        if not any(self._weights):
            raise PrismError("level: no case of any template is left")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle templates and settings; the copy solves the templates anew."""
        weights = [float(weight) for weight in self._weights]
        templates = [each.template for each in self._prepared]
        return _rebuilt, (templates, self.seed, self.variants, self.size, weights, self.level, self.reward)

    def __len__(self) -> int:
        """Return the size.

        Errors:
            TypeError: there is no end.
        """
        if self.size is None:
            raise TypeError("an endless data set has no length; give it a size")
        return self.size

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Return the entry of an index.

        Errors:
            IndexError: below 0, or beyond the size.
        """
        instance = self.instance(idx)
        problem = load_problem({key: value for key, value in instance.data.items() if key != "students"})
        metadata: dict[str, Any] = instance.data["metadata"]["template"]
        return {
            "question": prompt(problem),
            "answer": instance.answer,
            "metadata": {
                "source_dataset": f"prism/{instance.template}",
                "source_index": idx,
                "difficulty": {"C3": problem.difficulty.structure, "case": metadata["case"]},
                "template": metadata,
                "problem": json_line(instance.data).decode(),
            },
        }

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the entries from the first on."""
        idx = 0
        while self.size is None or idx < self.size:
            yield self[idx]
            idx += 1

    def instance(self, idx: int, *, with_students: bool = False) -> Instance:
        """Return the instance of an index, with students' solutions if they are asked for.

        Errors:
            IndexError: below 0, or beyond the size.
        """
        if idx < 0 or (self.size is not None and idx >= self.size):
            raise IndexError(f"{idx} is no index from 0 to {'any' if self.size is None else self.size - 1}")
        place = draw_weighted(self._draw(idx, "template"), self._weights)
        variant = self.variants[draw_index(self._draw(idx, "variant"), len(self.variants))]
        prepared, cases = self._prepared[place], self._cases[place]
        with full_precision():
            if variant == ORIGINAL:
                return make_instance(prepared, solve_original(prepared), variant, with_students=with_students)
            for attempt in range(_TRIES):
                seed = self._template_seed(idx, attempt)
                if draw_case(prepared.template, seed) not in cases:
                    continue
                try:
                    solved = solve_seed(prepared, seed, level=self.level.ranges)
                except Unsatisfiable:  # the linter tells of such a seed; a training run goes on
                    continue
                return make_instance(prepared, solved, variant, level=self.level.ranges, with_students=with_students)
        raise PrismError(f"{prepared.template.id}: none of {_TRIES} seeds of index {idx} makes an instance")

    def score_answer(self, answer: str | None, entry: Mapping[str, Any]) -> float:
        """Return the reward of an answer to an entry; 0 for None, and for whatever cannot be scored. Never raises."""
        if answer is None:
            return 0.0
        try:
            reference = entry["metadata"]["problem"]
        except (KeyError, TypeError):
            return 0.0
        return self.reward(reference, answer).value or 0.0

    def _template_seed(self, idx: int, attempt: int) -> int:
        """Return the seed of a template for an index: a digest of run seed and index."""
        key = f"{self.seed}\0{idx}" + (f"\0{attempt}" if attempt else "")
        return int.from_bytes(hashlib.sha256(key.encode()).digest()[:_BYTES], "big")

    def _draw(self, idx: int, what: str) -> Fraction:
        """Return the number in [0, 1) by which an index has its template or variant."""
        digest = hashlib.sha256(f"{self.seed}\0{idx}\0{what}".encode()).digest()
        return Fraction(int.from_bytes(digest[:_BYTES], "big"), 2 ** (8 * _BYTES))


def endless(
    templates: Sequence[TemplateSource] | None = None,
    seed: int = 0,
    variants: Sequence[str] = (PERTURBED,),
    **settings: Any,
) -> EndlessProblems:
    """Return the problems of a run without end; arguments as of `EndlessProblems`.

    >>> run = endless(["braking"], seed=7)
    >>> entry = run[0]
    >>> run.score_answer(entry["answer"], entry), run.score_answer(None, entry)
    (1.0, 0.0)
    """
    return EndlessProblems(templates, seed, variants=variants, **settings)


def levels_of(templates: Sequence[TemplateSource] | None = None) -> dict[str, list[Any]]:
    """Return what a curriculum over templates can be made of, each list from easy to hard.

    Returns:
        `structure`: the values of C3 that cases have; `ranges`: places of the levels of parameters; `cases`: names.
    """
    prepared = [prepare_template(each) for each in (template_files() if templates is None else templates)]
    cases = [case for each in prepared for case in each.cases.values()]
    most = max((len(each.levels) for one in prepared for each in one.template.parameters.values()), default=0)
    return {
        "structure": sorted({structural_difficulty(case.dag) for case in cases}),
        "ranges": list(range(most)),
        "cases": sorted({case.name for case in cases} - {""}),
    }


def _allowed_cases(prepared: PreparedTemplate, level: Level) -> frozenset[str]:
    """Return the names of the cases of a template that a level allows."""
    return frozenset(
        name
        for name, case in prepared.cases.items()
        if (level.structure is None or structural_difficulty(case.dag) <= level.structure)
        and (level.cases is None or not name or name in level.cases)
    )


def _checked_weights(weights: Sequence[float] | None, n: int) -> list[Fraction]:
    """Return the weights of n templates, exactly.

    Errors:
        PrismError: another number of them, or one that is no number from 0 on.
    """
    found = [1.0] * n if weights is None else list(weights)
    if len(found) != n or not all(isinstance(each, int | float) and 0 <= each < float("inf") for each in found):
        raise PrismError(f"weights: {found!r} are not {n} numbers from 0 on")
    return [Fraction(each) for each in found]


def _rebuilt(
    templates: Sequence[TemplateSource],
    seed: int,
    variants: Sequence[str],
    size: int | None,
    weights: Sequence[float],
    level: Level,
    reward: Reward,
) -> EndlessProblems:
    """Return the problems with these settings, when they are unpickled."""
    return EndlessProblems(templates, seed, variants=variants, size=size, weights=weights, level=level, scoring=reward)
