"""The data sets that `prism convert --from NAME` and `prism lint --dataset` know, by name."""

from __future__ import annotations

from prism.authoring.importers.entries import Dataset
from prism.authoring.importers.published.answer_types import OLYMPIADBENCH, UGPHYSICS
from prism.authoring.importers.published.engibench import ENGIBENCH
from prism.authoring.importers.published.engtrace import ENGTRACE
from prism.authoring.importers.published.hipho import HIPHO
from prism.authoring.importers.published.physreason import PHYSREASON
from prism.authoring.importers.published.single_questions import (
    ABENCH,
    ENGVQA,
    PHOPILE,
    PHYBENCH,
    PHYSICS,
    PRISM_PHYSICS,
    SCIBENCH,
    THEOREMQA,
    TPBENCH,
)
from prism.errors import PrismError
from prism.inputs import nearest_name, shown

DATASETS: tuple[Dataset, ...] = (
    ENGTRACE, ENGIBENCH, PHYBENCH, UGPHYSICS, SCIBENCH, TPBENCH, PHYSICS, HIPHO, OLYMPIADBENCH, PRISM_PHYSICS,
    PHYSREASON, PHOPILE, ABENCH, THEOREMQA, ENGVQA,
)  # fmt: skip
NAMES: tuple[str, ...] = tuple(dataset.name for dataset in DATASETS)


def dataset_of(name: str) -> Dataset:
    """Return the data set of a name.

    Errors:
        PrismError: no data set has the name.
    """
    found = next((each for each in DATASETS if each.name == name.lower()), None)
    if found is None:
        near = nearest_name(name, NAMES)
        hint = f"; did you mean {near}?" if near else ""
        raise PrismError(f"{shown(name)} is no data set that is read{hint}; they are {', '.join(NAMES)}")
    return found
