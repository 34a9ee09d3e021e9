"""The data set of reasoning-gym, with that library itself, where it is installed: `pip install '.[reasoning-gym]'`."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pytest

import prism
from prism.rewards import endless

pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed; benchmarks/frameworks/endless.py runs it")

from reasoning_gym.coaching import Experiment
from reasoning_gym.composite import CompositeConfig, CompositeDataset, DatasetSpec
from reasoning_gym.dataset import ReseedingDataset
from reasoning_gym.factory import create_curriculum, create_dataset
from reasoning_gym.version_manager import DatasetVersionManager

from prism.rewards.reasoning_gym import PrismConfig, register

register()
register()  # a second time does nothing

TWO = ["braking", "coaxial_cable"]


@dataclass
class OwnConfig(PrismConfig):
    """Other defaults, under a name of their own."""

    templates: Any = ("braking",)
    registered_as: str = "brakes"


@dataclass
class OtherConfig(PrismConfig):
    """Of the name that is taken."""


def test_a_data_set_is_made_by_its_name() -> None:
    problems = create_dataset("prism", templates=TWO, seed=3, size=4)
    entries = list(problems)
    own = list(endless(TWO, 3, size=4))
    assert (len(problems), len(entries), problems.category) == (4, 4, "physics")
    assert [entry["question"] for entry in entries] == [entry["question"] for entry in own]
    assert {entry["metadata"]["source_dataset"] for entry in entries} == {"prism"}
    assert [problems.score_answer(entry["answer"], entry) for entry in entries] == [1.0] * 4
    assert problems.score_answer(None, entries[0]) == 0.0
    copy = pickle.loads(pickle.dumps(problems))
    assert (list(copy), copy.score_answer("", entries[0])) == (entries, 0.0)


def test_chunks_share_nothing() -> None:
    problems = ReseedingDataset(create_dataset("prism", templates=TWO, seed=3, size=4), chunk_size=4)
    assert len({entry["question"] for entry in islice(problems, 16)}) == 16


def test_a_configuration_tells_its_faults() -> None:
    with pytest.raises(prism.PrismError, match=r"size: 0(.|\n)*variants: found x(.|\n)*cases: 0"):
        create_dataset("prism", templates=TWO, seed=3, size=0, variants=["x"], cases=0)


def test_an_experiment_scores_by_id_and_goes_up() -> None:
    curriculum = create_curriculum("prism")
    config = {"templates": TWO, "seed": 5}
    spec = DatasetSpec(name="prism", weight=1.0, config=vars(curriculum.generate_configuration(config)))
    composite = CompositeDataset(
        CompositeConfig(size=6, seed=5, datasets=[spec]), version_manager=DatasetVersionManager()
    )
    experiment = Experiment("worked", composite)
    first = experiment.get_dataset_entry(0)
    assert experiment.score_answer_with_id(first["answer"], first["metadata"]["entry_id"]) == 1.0
    assert composite.score_answer(first["answer"], first) == 1.0  # which looks the data set up by its name
    assert {entry["metadata"]["difficulty"]["C3"] for entry in composite} == {1}
    assert curriculum.increment_global_level()
    composite.update_dataset_config("prism", vars(curriculum.generate_configuration(config)))
    assert {entry["metadata"]["difficulty"]["C3"] for entry in composite} == {1, 2}
    assert experiment.score_answer_with_id(first["answer"], first["metadata"]["entry_id"]) == 1.0
    assert experiment.score_board.aggregate()


def test_one_s_own_templates_have_a_name_and_a_curriculum() -> None:
    register("brakes", OwnConfig)
    with pytest.raises(ValueError, match="already registered"):
        register("prism", OtherConfig)
    with pytest.raises(prism.PrismError, match="says 'brakes'"):
        register("prism", OwnConfig)
    problems = create_dataset("brakes", seed=1, size=2)
    assert {entry["metadata"]["source_dataset"] for entry in problems} == {"brakes"}
    assert {json.loads(entry["metadata"]["problem"])["title"] for entry in problems} == {"An emergency stop"}
    assert list(create_curriculum("brakes").attributes) == ["cases"]
    assert isinstance(create_curriculum("brakes").generate_configuration(), OwnConfig)
