"""Rewards at tokens: where a formula is found in them, what each token is paid, and advantages from these."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prism
from prism.resources import resource
from prism.rewards import Reward, step_advantages, token_offsets, token_rewards, tokens_of_steps, verl_steps
from prism.rewards.tokens import place_rewards
from prism.rewards.verl_steps import StepScore, spread_scores

ROOT = Path(__file__).resolve().parents[2]
SAID = "Zuerst gilt $s = g t^2/2$ – für h: $t_f = \\sqrt{2h/g}$, also $v_f = g t_f$ 😀."
EOS = 256


class Bytes:
    """A tokenizer of one token a byte, as of a model that writes a character in pieces; 256 is special."""

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        assert skip_special_tokens
        return bytes(one for one in ids if one < EOS).decode(errors="replace")


class Words:
    """A fast tokenizer of words with the spaces before them, with an offset mapping, as Hugging Face's."""

    is_fast = True
    all_special_ids = (EOS,)

    def __init__(self) -> None:
        self.words: list[str] = []

    def __call__(self, text: str, *, add_special_tokens: bool, return_offsets_mapping: bool) -> dict[str, Any]:
        assert not add_special_tokens
        assert return_offsets_mapping
        spans = [found.span() for found in re.finditer(r"\s*\S+|\s+", text)]
        for begin, end in spans:
            if text[begin:end] not in self.words:
                self.words.append(text[begin:end])
        return {"input_ids": [1000 + self.words.index(text[a:b]) for a, b in spans], "offset_mapping": spans}

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        assert skip_special_tokens
        return "".join(self.words[one - 1000] for one in ids if one != EOS)


class Strips(Bytes):
    """As some tokenizers, it drops a space at the start of what it decodes."""

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        return super().decode(ids, skip_special_tokens=skip_special_tokens).removeprefix(" ")


@pytest.fixture(scope="module")
def reward() -> Reward:
    return Reward(problems="free_fall")


GRADE = prism.grade("free_fall", "$v = g t$")


# Offsets. -------------------------------------------------------------------------------------------------------


def test_a_token_writes_its_characters_and_pieces_of_one_are_held_back() -> None:
    ids = [*SAID.encode(), EOS]
    offsets = token_offsets(Bytes(), ids, SAID)
    assert "".join(SAID[a:b] for a, b in offsets) == SAID
    assert offsets[-1] == (len(SAID), len(SAID))  # a special token writes nothing
    at = SAID.encode().index("😀".encode())
    assert [b - a for a, b in offsets[at : at + 4]] == [0, 0, 0, 1]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_whatever_was_written_is_found_in_its_bytes(text: str) -> None:
    if "\ufffd" not in text:
        offsets = token_offsets(Bytes(), list(text.encode()), text)
        assert "".join(text[a:b] for a, b in offsets) == text
        assert all(a <= b for a, b in offsets)
        assert [a for a, _ in offsets] == sorted(a for a, _ in offsets)


def test_a_tokenizer_s_own_mapping_is_taken_where_it_encodes_to_the_same_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Words()
    encoded = words(SAID, add_special_tokens=False, return_offsets_mapping=True)
    split = [encoded["input_ids"][0], 999, *encoded["input_ids"][1:]]  # generated otherwise than it would be encoded
    words.words.insert(0, "")
    with monkeypatch.context() as patch:
        patch.setattr(Words, "decode", None)  # then nothing is decoded
        again = words(SAID, add_special_tokens=False, return_offsets_mapping=True)
        offsets = token_offsets(words, [*again["input_ids"], EOS, EOS], SAID)
        assert offsets == [*again["offset_mapping"], *[(len(SAID), len(SAID))] * 2]
    other = [one + 1 if one != 999 else 1000 for one in split]
    offsets = token_offsets(words, other, SAID)
    assert [SAID[a:b] for a, b in offsets] == [words.decode([one], skip_special_tokens=True) for one in other]


def test_the_text_may_be_a_part_of_what_was_written() -> None:
    written = f"<think>{SAID}</think>"
    offsets = token_offsets(Bytes(), list(written.encode()), SAID)
    assert "".join(SAID[a:b] for a, b in offsets) == SAID
    assert offsets[0] == (0, 0)
    assert offsets[-1] == (len(SAID), len(SAID))
    with pytest.raises(prism.PrismError, match="do not decode to the text of 3 characters"):
        token_offsets(Bytes(), list(b"$v = g t$"), "abc")


def test_what_a_token_writes_may_depend_on_the_one_before() -> None:
    text = "v = g t and so on"
    assert "".join(text[a:b] for a, b in token_offsets(Strips(), list(text.encode()), text)) == text


# Formulas and rewards. ------------------------------------------------------------------------------------------


def test_each_formula_is_found_in_the_tokens(reward: Reward) -> None:
    found = reward("free_fall", SAID)
    ids = list(SAID.encode())
    offsets = token_offsets(Bytes(), ids, SAID)
    spans = tokens_of_steps(found.steps, offsets)
    assert [bytes(ids[a:b]).decode() for a, b in spans] == [SAID[slice(*each.span)] for each in found.steps]
    assert len(spans) == 3
    cut = offsets[: spans[1][0]]
    assert tokens_of_steps(found.steps, cut) == [spans[0], (len(cut), len(cut)), (len(cut), len(cut))]


def test_a_formula_is_paid_where_it_ends_and_all_of_it_is_the_reward(reward: Reward) -> None:
    found = reward("free_fall", SAID)
    offsets = token_offsets(Bytes(), [*SAID.encode(), EOS], SAID)
    paid = token_rewards(reward, found, offsets)
    ends = [last - 1 for _, last in tokens_of_steps(found.steps, offsets)]
    assert [k for k, each in enumerate(paid) if each] == ends
    assert [paid[k] for k in ends] == [float(each.credit) for each in found.steps]
    assert sum(paid) == pytest.approx(found.value)
    assert token_rewards(reward, found, []) == []
    assert token_rewards(reward, reward("nowhere", SAID), offsets) == [0.0] * len(offsets)


@pytest.mark.parametrize(("scoring", "share"), [({"closure": 0.5, "final": 0.5}, 0.5), ("final", 0.0), ("strict", 0.0)])
def test_what_is_no_credit_of_a_step_is_paid_at_the_last_token(scoring: Any, share: float) -> None:
    reward = Reward(scoring, problems="free_fall")
    text = SAID + r" Thus $v_f = \sqrt{2gh}$."
    found = reward("free_fall", text)
    paid = token_rewards(reward, found, token_offsets(Bytes(), list(text.encode()), text))
    assert found.value
    assert sum(paid) == pytest.approx(found.value, abs=1e-5)
    assert sum(paid[:-1]) == pytest.approx(share * float(sum(each.credit for each in found.steps)))


def test_tokens_that_are_not_those_of_the_text_are_paid_at_the_end(reward: Reward) -> None:
    found = reward("free_fall", SAID)
    chat = [{"role": "assistant", "content": SAID}]
    assert place_rewards(reward, found, Bytes(), list(SAID.encode()), chat).is_placed
    placed = place_rewards(reward, found, Bytes(), list(b"something else"), chat)
    assert (placed.is_placed, placed.rewards[:-1], placed.rewards[-1]) == (False, [0.0] * 13, found.value)
    assert place_rewards(reward, found, Bytes(), [], SAID).rewards == []


# Advantages. ----------------------------------------------------------------------------------------------------


def advantages_twin(rewards: Sequence[Sequence[float] | None], *, scale: bool) -> list[list[float]]:
    """From the formula: rewards to go less the group's mean at the same token, over the deviation of the scores."""
    there = [each for each in rewards if each is not None]
    scores = [sum(each) for each in there]
    mean = sum(scores) / len(scores)
    spread = (sum((each - mean) ** 2 for each in scores) / (len(scores) - 1)) ** 0.5
    return [
        [(sum(each[t:]) - sum(sum(other[t:]) for other in there) / len(there)) / (spread + 1e-4 if scale else 1.0)
         for t in range(len(each))]
        for each in (each or () for each in rewards)
    ]  # fmt: skip


@pytest.mark.parametrize("scale", [True, False])
def test_advantages_are_rewards_to_go_less_the_mean_of_the_group(scale: bool) -> None:
    first: list[Sequence[float] | None] = [[0.0, 0.5, 0.0, 0.5], [0.25], None, [0.0, 0.0, 0.1]]
    second: list[Sequence[float] | None] = [[1.0, 0.0], [0.0, 0.0], [0.5, 0.0], [0.0, 0.5]]
    found = step_advantages([*first, *second], group=4, scale=scale)
    twin = advantages_twin(first, scale=scale) + advantages_twin(second, scale=scale)
    assert [each.tolist() for each in found] == [pytest.approx(each) for each in twin]
    scores = np.array([1.0, 0.0, 0.5, 0.5])
    grpo = (scores - scores.mean()) / (scores.std(ddof=1) + 1e-4 if scale else 1.0)
    assert [each[0] for each in found[4:]] == pytest.approx(grpo)  # at the first token it is GRPO's


def test_a_group_that_says_nothing_has_no_advantages() -> None:
    groups: list[list[Sequence[float] | None]] = [
        [[0.5, 0.5], [1.0, 0.0]], [[0.3], None], [None, None], [[], []],
    ]  # fmt: skip
    for rewards in groups:
        assert [each.tolist() for each in step_advantages(rewards, group=2)] == [
            [0.0] * len(each or ()) for each in rewards
        ]
    assert step_advantages([], group=4) == []
    with pytest.raises(prism.PrismError, match="3 completions are no groups of 2"):
        step_advantages([[1.0]] * 3, group=2)


# The public call. -----------------------------------------------------------------------------------------------


def test_step_credits_take_whatever_names_a_problem() -> None:
    path = resource("dags/free_fall.toml")
    loaded = prism.load_problem(path)
    table = tomllib.loads(path.read_text("utf-8"))
    expected = prism.step_credits(loaded, GRADE)
    assert [(each.latex, each.nodes) for each in expected] == [("v = g t", (1, 2))]
    for problem in ("free_fall", str(path), path, table, json.dumps(table), prism.prepare(loaded)):
        assert prism.step_credits(problem, GRADE) == expected
    for wrong, name in ((None, "problem"), (3, "problem")):
        with pytest.raises(prism.PrismError, match=name):
            prism.step_credits(wrong, GRADE)  # type: ignore[arg-type]
    with pytest.raises(prism.PrismError, match=r"^grade: found nothing; expected what `prism\.grade` returns"):
        prism.step_credits("free_fall", None)  # type: ignore[arg-type]
    with pytest.raises(prism.PrismError, match="the grade is of problem free_fall"):
        prism.step_credits("bucket", GRADE)


# Frameworks. ----------------------------------------------------------------------------------------------------


class Row(list):
    """As a row of a tensor."""


class Tensor:
    """As a tensor of two dimensions: what `spread_scores` asks of one."""

    def __init__(self, rows: list[list[float]]) -> None:
        self.rows = [Row(row) for row in rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, k: int) -> Row:
        return self.rows[k]

    def __setitem__(self, where: Any, value: float) -> None:
        assert where is ...
        for row in self.rows:
            row[:] = [value] * len(row)

    def clone(self) -> Tensor:
        return Tensor([list(row) for row in self.rows])


def test_scores_of_verl_are_spread_over_the_tokens() -> None:
    last = Tensor([[0.0, 0.0, 0.75], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]])
    column = ["[[0, 0.25], [2, 0.5]]", "[[1, 0.5]]", "[]"]
    assert spread_scores(last, column).rows == [[0.25, 0.0, 0.5], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]]
    assert last[0] == [0.0, 0.0, 0.75]
    for wrong, told in ((["[]"], "1 texts"), (["[[3, 1.0]]", "[]", "[]"], "token 3 of a response of 3"),
                        (["nothing", "[]", "[]"], "row 0: is no list"), (["[]", "[]", "[1]"], "row 2: is no list"),
                        (["[]", "[]", None], "row 2: is no list")):  # fmt: skip
        with pytest.raises(prism.PrismError, match=re.escape(told)):
            spread_scores(last, wrong)  # type: ignore[arg-type]


def test_a_score_of_verl_keeps_its_tokens_through_a_pickle() -> None:
    score = StepScore(0.75, [(0, 0.25), (2, 0.5)])
    twin = pickle.loads(pickle.dumps(score))
    assert (twin, twin.tokens, float(twin)) == (score, ((0, 0.25), (2, 0.5)), 0.75)


def test_classes_of_frameworks_are_made_on_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    from prism.rewards import trl_steps

    for module in (verl_steps, trl_steps):
        with pytest.raises(AttributeError):
            module.nothing  # noqa: B018 - asked for, and not there
    naive = ModuleType("naive")
    naive.NaiveRewardManager = type("NaiveRewardManager", (), {})  # type: ignore[attr-defined]
    name = "verl.experimental.reward_loop.reward_manager.naive"
    parents = [name.rsplit(".", k)[0] for k in range(1, 5)]
    for each in parents:
        monkeypatch.setitem(sys.modules, each, SimpleNamespace(__path__=[]))
    monkeypatch.setitem(sys.modules, name, naive)
    monkeypatch.delitem(vars(verl_steps), "StepRewardManager", raising=False)
    made = verl_steps.StepRewardManager
    assert made is verl_steps.StepRewardManager
    assert issubclass(made, naive.NaiveRewardManager)
    monkeypatch.delitem(vars(verl_steps), "StepRewardManager")


def in_environment(folder: str, *command: str) -> dict[str, Any]:
    python = ROOT / folder / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no environment {folder}; {command[0]} says how to make it")
    done = subprocess.run(
        [str(python), *command], cwd=ROOT, capture_output=True, text=True, check=True, timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    return found


@pytest.mark.slow
def test_trl_trains_with_an_advantage_for_each_token() -> None:
    found = in_environment(".venv-trl", "examples/trl_grpo.py", "--json", "--steps", "--workers", "1")
    ((n_completion, n_token),) = found["advantages"]
    assert n_completion == 8
    assert n_token > 1
    assert found["largest_change_of_a_weight"] > 0
    assert all(each["prism/steps_unplaced"] == 0.0 for each in found["steps"])


@pytest.mark.slow
def test_verl_takes_rewards_of_tokens() -> None:
    found = in_environment(".venv-verl", "examples/verl/score_steps.py")
    assert found["assembled_and_spread_agree"]
    assert found["sums_to_the_reward"]
    assert found["rows_whose_advantage_differs_by_token"]["reinforce_plus_plus"] > 0
    for row in found["rows"].values():
        assert sum(row["tokens"].values()) == pytest.approx(row["reward"], abs=1e-5)
