r"""Problems without end to train on: drawn from templates, asked with the answer format, scored by PRISM.

`endless` makes an object of the shape that users of reasoning-gym know, without importing it: `len`, indices, `iter`
and `score_answer`. An entry is a pure function of the run's seed and the index, so any process can make any of them.

Run and index are hashed together: instance `idx` of run `seed` has the template seed SHA-256(seed NUL idx), its first 8
bytes. Runs share nothing, and two neighbouring ones neither.

Refused: `Random(seed + idx)`, as data sets of this kind use; run 1 is run 0 moved by one there.

>>> problems = endless("braking", seed=1, size=100)
>>> len(problems), problems[17]["metadata"]["source_dataset"]
(100, 'prism/braking')
>>> problems.score_answer(problems[17]["answer"], problems[17])
1.0
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, islice
from operator import index as as_index
from typing import Any

from prism.errors import PrismError, noted, raise_faults
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
from prism.generation.preparing import PreparedTemplate, Solved, prepare_template
from prism.generation.template import ORIGINAL, PERTURBED
from prism.generation.values import draw_index, draw_unit, draw_weighted, template_seed
from prism.grading.scoring import Scoring
from prism.inputs import did_you_mean
from prism.problem.dag import structural_difficulty
from prism.problem.prompts import checked_style, make_prompt
from prism.rewards.reward import Reward, reward_of

Templates = TemplateSource | PreparedTemplate | Sequence[TemplateSource | PreparedTemplate] | None
"""What `endless` takes for templates: one or several of what `prism.generate` takes; None or () for all shipped."""

KEPT = 512  # prepared problems: each stands in the groups of one step, and hardly ever again
MAX_SEEDS = 20  # further seeds that are tried where the conditions of a template hold for none of a seed's attempts
LOWEST_C3, HIGHEST_C3 = 1, 3
_DRAW = "endless"  # in place of a template's id, for the draw of the template


@dataclass(frozen=True, slots=True)
class Restriction:
    """Which part of its templates a run draws from: the levels of a curriculum are such restrictions.

    Attributes:
        min_c3, max_c3: of the structural difficulty C3 of a case's DAG, 1 to 3.
        cases: how many cases of a template are drawn, in the order of its file, easy ones first; or their names, beside
            which templates without cases are drawn; None for all.
        level: place from 0 among the `levels` of parameters that have some; None for whole ranges.
    """

    min_c3: int = LOWEST_C3
    max_c3: int = HIGHEST_C3
    cases: int | Sequence[str] | None = None
    level: int | None = None

    @property
    def names(self) -> Sequence[str] | None:
        """Return the names of the cases that are drawn; None where they are not named."""
        return self.cases if isinstance(self.cases, list | tuple) else None

    def faults(self) -> list[str]:
        """Return what is wrong with it."""
        found = []
        names = self.names
        is_named = names is not None and all(isinstance(each, str) for each in names)
        if not (self.cases is None or is_named or _is_count(self.cases, 1)):
            found.append(f"cases: {self.cases!r} is neither a whole number from 1 on nor a list of names")
        if self.level is not None and not _is_count(self.level, 0):
            found.append(f"level: {self.level!r} is no whole number from 0 on")
        bounds = [
            f"{name}: {value!r} is none of 1, 2, 3"
            for name, value in (("min_c3", self.min_c3), ("max_c3", self.max_c3))
            if not _is_count(value, LOWEST_C3) or value > HIGHEST_C3
        ]
        if not bounds and self.min_c3 > self.max_c3:
            bounds = [f"min_c3: {self.min_c3} is above max_c3, {self.max_c3}"]
        return bounds + found


@dataclass(frozen=True, slots=True)
class _Source:
    """A template with what a run draws of it.

    Attributes:
        prepared: the template.
        cases: names that may be drawn.
        variants: that may be drawn; without `original` where its case may not.
        weight: how often it is drawn, against the others.
    """

    prepared: PreparedTemplate
    cases: tuple[str, ...]
    variants: tuple[str, ...]
    weight: Fraction


class GeneratedProblems:
    """A sequence of generated problems, with or without an end; build it with `endless`.

    It may be used from many threads, and pickled: the copy solves its templates anew.

    Attributes:
        templates: all of them, restricted or not.
        seed: of the run.
        size: number of entries; None without end.
        variants: of `prism.generate`.
        style: of the prompts.
        restriction: which part of the templates is drawn.
        reward: what scores an answer.
    """

    def __init__(
        self,
        templates: Templates,
        seed: int,
        variants: Sequence[str] = (PERTURBED,),
        size: int | None = None,
        *,
        weights: Mapping[str, float] | Sequence[float] = (),
        restriction: Restriction,
        style: str = "prism",
        scoring: str | Mapping[str, float] | Scoring | Reward = "closure",
        thinking: bool = False,
    ) -> None:
        """Check all arguments and solve the templates; arguments and errors as of `endless`."""
        check_settings(seed, variants, size, restriction, style)
        self.templates = prepared_templates(templates)
        self.seed = seed
        self.size = size
        self.variants = checked_variants(variants)
        self.style = style
        self.restriction = restriction
        self._weights = _weights_of(self.templates, weights)
        self._sources = _sources(self.templates, self._weights, self.variants, restriction)
        if isinstance(scoring, Reward):
            self.reward = reward_of(scoring, problems=None, thinking=thinking)
        else:
            self.reward = Reward(scoring, thinking=thinking, paths=False, kept=KEPT)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings and the templates as loaded."""
        templates = tuple(each.template for each in self.templates)
        settings = (self.seed, self.variants, self.size, self._weights, self.restriction, self.style, self.reward)
        return _rebuild, (templates, *settings)

    def __repr__(self) -> str:
        """Return seed, size and templates, `<GeneratedProblems seed 1, without end, of braking>`."""
        size = "without end" if self.size is None else f"{self.size} entries"
        names = ", ".join(each.template.id for each in self.templates)
        return f"<GeneratedProblems seed {self.seed}, {size}, of {names}>"

    def __bool__(self) -> bool:
        """Return True: there always is an entry."""
        return True

    def __len__(self) -> int:
        """Return the number of entries.

        Errors:
            TypeError: they have no end.
        """
        if self.size is None:
            raise TypeError("these problems have no end, and so no len; give size=")
        return self.size

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the entries from the first on; without a size they have no end."""
        return (self.entry(idx) for idx in (count() if self.size is None else range(self.size)))

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Return an entry, made anew on each call; a negative index counts from the end of a sized run.

        Errors:
            IndexError: there is none.
            Unsatisfiable: see `entry`.
        """
        place = as_index(idx)
        if place < 0 and self.size is not None:
            place += self.size
        if place < 0 or (self.size is not None and place >= self.size):
            raise IndexError(f"index {idx} of {self!r}")
        return self.entry(place)

    def entry(self, idx: int) -> dict[str, Any]:
        """Return the entry of an index from 0 on, whatever the size: `question`, `answer` and `metadata`.

        The question is the prompt with its answer format, the answer the final answers in boxes; `metadata.problem` is
        the whole problem as JSON, with which any reward grades.

        Errors:
            Unsatisfiable: no seed fulfils the conditions of the template; `prism lint` finds such templates.
        """
        instance, c3 = self._instance(idx)
        template = instance.data["metadata"]["template"]
        difficulty = {"C3": c3, "case": template["case"]}
        if self.restriction.level is not None:
            difficulty["level"] = self.restriction.level
        return {
            "question": make_prompt(instance.data, self.style).text,
            "answer": instance.answer,
            "metadata": {
                "source_dataset": f"prism/{instance.template}",
                "source_index": idx,
                "difficulty": difficulty,
                "template": template,
                "problem": json.dumps(instance.data, ensure_ascii=False, sort_keys=True),
            },
        }

    def score_answer(self, answer: object, entry: object) -> float:
        """Return what an answer to an entry earns; never raises.

        Args:
            answer: a text, chat messages or a list of steps. None earns 0, as all else that is no solution.
            entry: of this or any other run; what has no problem in it earns 0.
        """
        return 0.0 if answer is None else self.reward(problem_of(entry), answer).value or 0.0

    def _instance(self, idx: int) -> tuple[Instance, int]:
        """Return the instance of an index, and the C3 of its DAG."""
        seed = template_seed(self.seed, idx)
        place = draw_weighted(draw_unit(_DRAW, seed, 0, "template"), [each.weight for each in self._sources])
        source = self._sources[place]
        variant = source.variants[draw_index(draw_unit(_DRAW, seed, 0, "variant"), len(source.variants))]
        with full_precision():
            solved = solve_original(source.prepared) if variant == ORIGINAL else self._solved(source, seed, idx)
            made = make_instance(source.prepared, solved, variant, level=self.restriction.level, with_students=False)
        return made, structural_difficulty(solved.case.dag)

    def _solved(self, source: _Source, seed: int, idx: int) -> Solved:
        """Return the values of a seed in one of the cases that may be drawn, or of a further seed if it has none.

        Raises the error of the last seed if none has values.
        """
        cases = source.prepared.template.cases
        chosen = [each for each in cases if each.name in source.cases]
        for _ in range(MAX_SEEDS):
            u = draw_unit(source.prepared.template.id, seed, 0, "case")
            case = chosen[draw_weighted(u, [each.weight for each in chosen])].name if chosen else ""
            try:
                return solve_seed(source.prepared, seed, level=self.restriction.level, case=case)
            except Unsatisfiable as error:
                told = error
                seed = template_seed(seed, idx)
        raise told


def endless(
    templates: Templates = (),
    seed: int = 0,
    variants: Sequence[str] = (PERTURBED,),
    size: int | None = None,
    *,
    weights: Mapping[str, float] | Sequence[float] = (),
    min_c3: int = LOWEST_C3,
    max_c3: int = HIGHEST_C3,
    cases: int | Sequence[str] | None = None,
    level: int | None = None,
    style: str = "prism",
    scoring: str | Mapping[str, float] | Scoring | Reward = "closure",
    thinking: bool = False,
) -> GeneratedProblems:
    """Return problems of templates, drawn by a seed: as many as wanted, each with its question, answer and score.

    Args:
        templates: ids of shipped templates, paths, tables; one or several; () for all shipped ones.
        seed: of the run, any whole number.
        variants: of `prism.generate`, drawn evenly.
        size: number of entries; None for no end, where `len` raises TypeError.
        weights: how often each template is drawn: by id, 1 for those that are not named, or in the order of
            `templates`.
        min_c3, max_c3: only DAGs with such a structural difficulty C3.
        cases: only the first so many cases of a template, where those that C3 leaves out do not count; or their names.
        level: place from 0 among the `levels` of parameters; the last one stands for those beyond.
        style: of `prism.prompt`, in which questions ask for the solution.
        scoring: a name of `scoring.PARTS`, names with weights, or a reward. `training` pays nothing for what a problem
            tells itself, as the variants `knowledge` and `abstract` do; a whole solution then earns less than 1.
        thinking: also count formulas before the end of a thinking block.

    Errors:
        DataFileError: a template has faults, all of them told.
        PrismError: an argument that cannot be used; nothing that the restrictions leave.
    """
    restriction = Restriction(min_c3, max_c3, cases, level)
    return GeneratedProblems(
        templates, seed, variants, size, weights=weights, restriction=restriction, style=style, scoring=scoring,
        thinking=thinking,
    )  # fmt: skip


def problem_of(entry: object) -> Any:
    """Return the problem of an entry as JSON; None where there is none."""
    metadata = entry.get("metadata") if isinstance(entry, Mapping) else None
    return metadata.get("problem") if isinstance(metadata, Mapping) else None


def entries_from(problems: GeneratedProblems, start: int = 0, n: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield n entries from an index on; without n up to the size, or without end.

    Errors:
        PrismError: a start or a number below 0, or no whole number.
    """
    for name, value in (("start", start), ("n", 0 if n is None else n)):
        if not _is_count(value, 0):
            raise PrismError(f"{name}: {value!r} is no whole number from 0 on")
    stop = None if problems.size is None else max(problems.size - start, 0)
    left = min((each for each in (n, stop) if each is not None), default=None)
    return (problems.entry(idx) for idx in islice(count(start), left))


def check_settings(
    seed: object, variants: Sequence[str], size: int | None, restriction: Restriction, style: str
) -> None:
    """Raise PrismError with all that is wrong with these; the templates are not looked at."""
    faults = []
    if not isinstance(seed, int) or isinstance(seed, bool):
        faults.append(f"seed: {seed!r} is no whole number")
    if size is not None and not _is_count(size, 1):
        faults.append(f"size: {size!r} is no whole number from 1 on; None is without end")
    if isinstance(variants, str):
        faults.append(f"variants: {variants!r} is a text; give a list of them")
    else:
        with noted(faults):
            checked_variants(variants)
    with noted(faults):
        checked_style(style)
    faults += restriction.faults()
    raise_faults(faults)


def prepared_templates(templates: Templates) -> tuple[PreparedTemplate, ...]:
    """Return templates, solved; all shipped ones for an empty sequence.

    Errors:
        PrismError: all faults of all of them; two of one id.
    """
    several: list[Any] = list(templates) if isinstance(templates, list | tuple) else [templates]
    several = [] if templates is None else several
    found: list[PreparedTemplate] = []
    faults: list[str] = []
    for each in several or template_files():
        with noted(faults):
            found.append(prepare_template(each))
    names = [each.template.id for each in found]
    faults += [f"templates: {name} stands twice" for name in sorted({name for name in names if names.count(name) > 1})]
    raise_faults(faults)
    return tuple(found)


def eligible_cases(prepared: PreparedTemplate, restriction: Restriction) -> tuple[str, ...]:
    """Return the names of a template's cases that a restriction leaves, in the order of the file."""
    within = [
        name
        for name, case in prepared.cases.items()
        if restriction.min_c3 <= structural_difficulty(case.dag) <= restriction.max_c3
    ]
    if restriction.names is not None:
        return tuple(name for name in within if not name or name in restriction.names)
    return tuple(within[: restriction.cases] if isinstance(restriction.cases, int) else within)


def _is_count(value: object, least: int) -> bool:
    """Return True for a whole number from `least` on; bool is none."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _weights_of(
    prepared: Sequence[PreparedTemplate], weights: Mapping[str, float] | Sequence[float]
) -> tuple[float, ...]:
    """Return the weight of each template.

    Errors:
        PrismError: a weight that is none, another number of them, an unknown id, or no weight above 0.
    """
    names = [each.template.id for each in prepared]
    if isinstance(weights, Mapping):
        faults = [f"weights: no template {each!r}{did_you_mean(str(each), names)}" for each in weights
                  if each not in names]  # fmt: skip
        found = tuple(weights.get(name, 1.0) for name in names)
    else:
        found = tuple(weights) or (1.0,) * len(names)
        faults = [f"weights: {len(found)} of them for {len(names)} templates"] if len(found) != len(names) else []
    faults += [
        f"weights: {each!r} is no finite number from 0 on"
        for each in found
        if isinstance(each, bool) or not isinstance(each, int | float) or not 0 <= each < float("inf")
    ]
    if not faults and not any(found):
        faults.append("weights: none is above 0")
    raise_faults(faults)
    return found


def _sources(
    templates: Iterable[PreparedTemplate], weights: Iterable[float], variants: tuple[str, ...], restriction: Restriction
) -> tuple[_Source, ...]:
    """Return the templates that may be drawn, each with its cases and variants.

    Errors:
        DataFileError: the original of a template is asked for and missing, or breaks a condition.
        PrismError: the restriction leaves nothing.
    """
    every = list(templates)
    found = []
    if restriction.names is not None:
        names = [name for prepared in every for name in prepared.cases if name]
        raise_faults(
            f"cases: no template has the case {name!r}{did_you_mean(name, names)}"
            for name in restriction.names if name not in names
        )  # fmt: skip
    for prepared, weight in zip(every, weights, strict=True):
        cases = eligible_cases(prepared, restriction)
        own = variants
        if ORIGINAL in variants:
            with full_precision():
                is_left = solve_original(prepared).case.name in cases
            own = variants if is_left else tuple(each for each in variants if each != ORIGINAL)
        if cases and own and weight:
            found.append(_Source(prepared, cases, own, Fraction(weight)))
    if not found:
        raise PrismError(f"templates: nothing of them is left with {restriction}")
    return tuple(found)


def _rebuild(
    templates: Any, seed: int, variants: Any, size: int | None, weights: Any, restriction: Restriction, style: str,
    reward: Reward,
) -> GeneratedProblems:  # fmt: skip
    """Return the problems with these settings, when they are unpickled."""
    return GeneratedProblems(
        templates, seed, variants, size, weights=weights, restriction=restriction, style=style, scoring=reward
    )
