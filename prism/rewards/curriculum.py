"""Levels of difficulty of generated problems: by the structure of their DAGs, by case, and by range.

The definitions are named after those of reasoning-gym (`reasoning_gym/coaching/attributes.py`, read in 0.1.25) and say
the same: a scalar one has a value for each level, a range one reaches from its first level to the present one. Here
their fields are arguments of `endless`. `prism.rewards.reasoning_gym` hands them to that library.

>>> curriculum = Curriculum(["braking", "coaxial_cable"])
>>> [(each.name, each.levels) for each in curriculum.attributes]
[('c3', (1, 2)), ('cases', (1, 2)), ('range', (0, 1))]
>>> curriculum.settings(0), curriculum.settings({"cases": 1})
({'min_c3': 1, 'max_c3': 1, 'cases': 1, 'level': 0}, {'min_c3': 1, 'max_c3': 1, 'cases': 2, 'level': 0})
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prism.errors import PrismError, raise_faults
from prism.inputs import did_you_mean
from prism.problem.dag import structural_difficulty
from prism.rewards.generated import Templates, prepared_templates


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarAttributeDefinition:
    """An attribute with one value a level.

    Attributes:
        name: of the attribute.
        field_name: the argument of `endless`.
        levels: its values, easy to hard.
        description: in words.
    """

    name: str
    field_name: str
    levels: tuple[int, ...]
    description: str

    def settings(self, level: int) -> dict[str, Any]:
        """Return the argument of `endless` at a level."""
        return {self.field_name: self.levels[level]}


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeAttributeDefinition:
    """An attribute that reaches from its first level to the present one, both included.

    Attributes:
        name: of the attribute.
        lower_field_name, upper_field_name: the arguments of `endless`.
        levels: its bounds, easy to hard.
        description: in words.
    """

    name: str
    lower_field_name: str
    upper_field_name: str
    levels: tuple[int, ...]
    description: str

    def settings(self, level: int) -> dict[str, Any]:
        """Return the two arguments of `endless` at a level."""
        return {self.lower_field_name: self.levels[0], self.upper_field_name: self.levels[level]}


AttributeDefinition = ScalarAttributeDefinition | RangeAttributeDefinition


class Curriculum:
    """The attributes by which templates can be made easier or harder, and what `endless` takes at their levels.

    It keeps no present level: that belongs to the one who trains.

    Attributes:
        attributes: those that have more than one level: `c3` (structure of the DAG), `cases` (how many cases of a
            template, in the order of its file) and `range` (`levels` of parameters).
    """

    def __init__(self, templates: Templates = ()) -> None:
        """Look at what the templates have.

        Args:
            templates: as of `endless`.

        Errors:
            PrismError: all faults of all templates.
        """
        prepared = prepared_templates(templates)
        structures = {structural_difficulty(case.dag) for each in prepared for case in each.cases.values()}
        most_cases = max(len(each.cases) for each in prepared)
        ranges = max(len(each.levels) for one in prepared for each in one.template.parameters.values())
        every: tuple[AttributeDefinition, ...] = (
            RangeAttributeDefinition(
                name="c3", lower_field_name="min_c3", upper_field_name="max_c3", levels=tuple(sorted(structures)),
                description="Structural difficulty C3 of the DAG",
            ),
            ScalarAttributeDefinition(
                name="cases", field_name="cases", levels=tuple(range(1, most_cases + 1)),
                description="How many cases of a template are drawn, from its first",
            ),
            ScalarAttributeDefinition(
                name="range", field_name="level", levels=tuple(range(ranges)),
                description="Level of parameters that have some",
            ),
        )  # fmt: skip
        self.attributes = tuple(each for each in every if len(each.levels) > 1)

    @property
    def top(self) -> int:
        """Return the highest level that any attribute has."""
        return max((len(each.levels) - 1 for each in self.attributes), default=0)

    def settings(self, levels: int | Mapping[str, int]) -> dict[str, Any]:
        """Return the arguments of `endless` at a level.

        Args:
            levels: one from 0 on for all attributes, where the last of an attribute stands for those beyond; or a level
                by attribute, 0 for those that are not named.

        Errors:
            PrismError: an unknown attribute, or a level that it does not have.
        """
        if not isinstance(levels, Mapping):
            if not isinstance(levels, int) or isinstance(levels, bool) or levels < 0:
                raise PrismError(f"levels: {levels!r} is no whole number from 0 on")
            levels = {each.name: min(levels, len(each.levels) - 1) for each in self.attributes}
        names = [each.name for each in self.attributes]
        faults = [f"levels: no attribute {name!r} among {', '.join(names) or 'none'}{did_you_mean(str(name), names)}"
                  for name in levels if name not in names]  # fmt: skip
        faults += [
            f"levels, {each.name}: {levels[each.name]!r} is none of 0 to {len(each.levels) - 1}"
            for each in self.attributes
            if each.name in levels and levels[each.name] not in range(len(each.levels))
        ]
        raise_faults(faults)
        found: dict[str, Any] = {}
        for each in self.attributes:
            found |= each.settings(levels.get(each.name, 0))
        return found
