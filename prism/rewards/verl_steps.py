"""Rewards of single steps for verl: a reward manager that knows at which token each formula was earned.

    reward.reward_manager.source=importlib
    reward.reward_manager.name=StepRewardManager
    reward.reward_manager.module.path=pkg://prism.rewards.verl_steps
    reward.custom_reward_function.path=pkg://prism.rewards.verl
    reward.custom_reward_function.name=compute_score

It takes the keywords of `compute_score` from `reward.custom_reward_function.reward_kwargs`, and returns what the naive
manager does, with two things more. The score is a `StepScore`: a float, the reward of the whole response, that has the
rewards of its tokens; from it `assemble_rm_scores`, the method by which a verl manager builds the tensor `rm_scores`,
puts each on its token. And the extra information has them in `step_rewards`, as a JSON text, since verl keeps a column
of equal types: `spread_scores` makes the tensor from that column.

verl 0.9.1 calls `assemble_rm_scores` where rewards are made for a whole batch (`RewardLoopManager.compute_rm_score`).
Its agent loop, which rewards each response as it is there, writes one float at the last token, whatever the manager
says: there training is as with the naive manager, and a trainer of one's own calls `spread_scores` before advantages
are computed. Of the estimators `gae` and `reinforce_plus_plus` read rewards of tokens; `grpo` adds them up.

Read in the source of verl 0.9.1 (`verl/experimental/reward_loop/`, `verl/experimental/agent_loop/agent_loop.py`,
`verl/trainer/ppo/core_algos.py`). Its loading of managers, `assemble_rm_scores` and its estimators were run with this
manager on a processor, `examples/verl/score_steps.py`; its training was not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prism.errors import PrismError
from prism.rewards.data_sets import made_on_first_use
from prism.rewards.rows import check_row
from prism.rewards.tokens import place_rewards
from prism.rewards.verl import cached_reward, column_of, reference_of_row, score_fields

COLUMN = "step_rewards"  # of the extra information: [[token, reward], ...] as a JSON text

_SETTINGS = ("scoring", "problems", "thinking", "workers", "reference_key")


class StepScore(float):
    """The reward of a response, with that of each token which has one.

    Attributes:
        tokens: (token, reward), by token from 0; they sum to the reward.
    """

    __slots__ = ("tokens",)

    tokens: tuple[tuple[int, float], ...]

    def __new__(cls, value: float, tokens: Iterable[tuple[int, float]] = ()) -> StepScore:
        """Return a float with the rewards of its tokens."""
        made = super().__new__(cls, value)
        made.tokens = tuple(tokens)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle both: Ray sends scores from process to process."""
        return StepScore, (float(self), self.tokens)


def spread_scores(rm_scores: Any, column: Sequence[str]) -> Any:
    """Return a copy of `rm_scores` with each response's reward on the tokens where it was earned.

    Args:
        rm_scores: tensor of shape (responses, tokens), as verl's agent loop leaves it: one number a response.
        column: `step_rewards` of each response, from the extra information.

    Errors:
        PrismError: a text of the column that is not of `StepRewardManager`, or of more tokens than there are.
    """
    if len(column) != len(rm_scores):
        raise PrismError(f"{COLUMN}: {len(column)} texts; expected one for each of the {len(rm_scores)} responses")
    spread = rm_scores.clone()
    spread[...] = 0.0
    for row, text in enumerate(column):
        try:
            pairs = [(int(token), float(reward)) for token, reward in json.loads(text)]
        except (TypeError, ValueError) as error:
            raise PrismError(f"{COLUMN}, row {row}: is no list of tokens with rewards: {error}") from error
        _place(spread[row], pairs)
    return spread


def _place(row: Any, pairs: Iterable[tuple[int, float]]) -> None:
    """Add rewards to the tokens of one response.

    Errors:
        PrismError: a token that it does not have.
    """
    for token, reward in pairs:
        if not 0 <= token < len(row):
            raise PrismError(f"{COLUMN}: token {token} of a response of {len(row)} tokens")
        row[token] += reward


def _settings_of(config: Any) -> dict[str, Any]:
    """Return the keywords of `compute_score` in verl's configuration, `reference_key` among them."""
    function = config.reward.get("custom_reward_function") or {}
    given = function.get("reward_kwargs") or {}
    known = {name: given[name] for name in _SETTINGS if name in given}
    return {"scoring": "closure", "problems": None, "thinking": False, "workers": 0, "reference_key": None, **known}


def _make_manager() -> type:
    """Return the class `StepRewardManager`."""
    from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager

    class StepRewardManager(NaiveRewardManager):  # type: ignore[misc, unused-ignore]
        """verl's naive reward manager with the rewards of single tokens."""

        async def run_single(self, data: Any) -> dict[str, Any]:
            """Return the reward of the last response of a trajectory, a `StepScore`, and its extra information.

            Errors:
                PrismError: a setting of the reward that cannot be used; a row without the key `reference_key`.
            """
            item = data[-1:][0]
            ids = item.batch["responses"]
            n_token = int(item.batch["attention_mask"][-ids.shape[-1] :].sum())
            row = item.non_tensor_batch
            found: dict[str, Any] = await self.loop.run_in_executor(None, self._rewarded, ids[:n_token], row)
            return found

        def _rewarded(self, ids: Any, row: Mapping[str, Any]) -> dict[str, Any]:
            """Return the reward of one response (in a thread)."""
            settings = _settings_of(self.config)
            key = settings.pop("reference_key")
            reward = cached_reward(settings.pop("scoring"), settings.pop("problems"), **settings)
            text = self.tokenizer.decode(ids, skip_special_tokens=True)
            reference = reference_of_row(row["reward_model"].get("ground_truth"), row.get("extra_info"), key)
            found = reward(reference, text)
            check_row(reward, reference, found, column=column_of(key))
            tokens = [int(each) for each in ids]
            placed = place_rewards(reward, found, self.tokenizer, tokens, text)
            pairs = [(token, each) for token, each in enumerate(placed.rewards) if each]
            fields = score_fields(found)
            return {
                "reward_score": StepScore(fields["score"], pairs),
                "reward_extra_info": {**fields, COLUMN: json.dumps(pairs)},
            }

        @classmethod
        def assemble_rm_scores(cls, data: Any, scores: Sequence[float]) -> Any:
            """Return the tensor `rm_scores` of a batch, with each reward on its token."""
            assembled = super().assemble_rm_scores(data, [float(each) for each in scores])
            for row, score in enumerate(scores):
                if isinstance(score, StepScore) and score.tokens:
                    assembled[row] = 0.0
                    _place(assembled[row], score.tokens)
            return assembled

    return StepRewardManager


__getattr__ = made_on_first_use(globals(), {"StepRewardManager": _make_manager})
