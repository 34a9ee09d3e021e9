"""GRPO with rewards of single steps in TRL: a trainer whose advantages differ from token to token.

    from prism.rewards import TRLReward
    from prism.rewards.trl_steps import StepGRPOTrainer

    trainer = StepGRPOTrainer(model="your/model", reward_funcs=[TRLReward("closure")], train_dataset=dataset)

TRL's reward functions return one number a completion, and its trainer one advantage; of advantages with a second
dimension its loss takes one a token ("to support subclasses", `GRPOTrainer._compute_loss`). `StepGRPOTrainer` is such a
subclass: it has the formulas of each completion found in its tokens, and replaces the advantages by those of
`tokens.step_advantages`. What is logged as reward stays the reward of the completion.

Read in the source of TRL 1.16.0 (`trl/trainer/grpo_trainer.py`: `_calculate_rewards`,
`_generate_and_score_completions`, `_compute_loss`), and run with it: `examples/trl_grpo.py --steps`. It overrides
methods that are TRL's own, so another version may need another subclass.
"""

from __future__ import annotations

from typing import Any

from prism.errors import raise_faults
from prism.rewards.data_sets import made_on_first_use
from prism.rewards.tokens import place_rewards, step_advantages
from prism.rewards.trl import TRLReward


def _make_trainer() -> type:
    """Return the class `StepGRPOTrainer`."""
    import torch
    from accelerate.utils import gather_object
    from trl import GRPOTrainer

    class StepGRPOTrainer(GRPOTrainer):  # type: ignore[misc, unused-ignore]
        """TRL's GRPO trainer with an advantage for each token, from what each formula earned.

        It takes one reward function, a `TRLReward`, and scales by the group's standard deviation or not at all.
        """

        def __init__(self, *arguments: Any, **settings: Any) -> None:
            """Take the arguments of `GRPOTrainer`.

            Errors:
                PrismError: another reward function than one `TRLReward`; settings of TRL that take one advantage a
                    completion.
            """
            super().__init__(*arguments, **settings)
            _check_trainer(self)

        def _calculate_rewards(self, inputs: Any, prompts: Any, completions: Any, completion_ids_list: Any) -> Any:
            """Return TRL's tensor of rewards, and keep those of the tokens."""
            rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
            (reward,) = self.reward_funcs
            tokenizer = getattr(self.processing_class, "tokenizer", self.processing_class)
            placed = [
                place_rewards(reward.reward, found, tokenizer, ids, completion)
                for found, ids, completion in zip(reward.found, completion_ids_list, completions, strict=True)
            ]
            self._token_rewards = [
                None if found.value is None else each.rewards for found, each in zip(reward.found, placed, strict=True)
            ]
            n_unplaced = sum(not each.is_placed for each in placed)
            self._log_metric(f"{reward.__name__}/steps_unplaced", n_unplaced / max(len(placed), 1))
            return rewards

        def _generate_and_score_completions(self, inputs: Any) -> Any:
            """Return TRL's batch with advantages of the shape (completions, tokens)."""
            output = super()._generate_and_score_completions(inputs)
            own = self._token_rewards
            group = self.num_generations if self.model.training else self.num_generations_eval
            everywhere = gather_object(own)  # a group may be spread over processes
            found = step_advantages(everywhere, group=group, scale=self.scale_rewards != "none")
            begin = self.accelerator.process_index * len(own)
            ids = output["completion_ids"]
            advantages = torch.zeros(ids.shape, dtype=torch.float32, device=ids.device)
            for row, each in enumerate(found[begin : begin + len(own)]):
                n_token = min(len(each), ids.shape[1])
                advantages[row, :n_token] = torch.as_tensor(each[:n_token], dtype=torch.float32)
            output["advantages"] = advantages
            return output

    return StepGRPOTrainer


def _check_trainer(trainer: Any) -> None:
    """Check that a trainer of TRL can take an advantage for each token.

    Errors:
        PrismError: another reward function than one `TRLReward`; settings that take one advantage a completion.
    """
    faults = []
    if len(trainer.reward_funcs) != 1 or not isinstance(trainer.reward_funcs[0], TRLReward):
        faults.append("reward_funcs: expected one TRLReward, which knows the steps")
    if trainer.scale_rewards not in ("group", "none"):
        faults.append(f"scale_rewards: {trainer.scale_rewards!r}; expected 'group' or 'none'")
    if getattr(trainer.args, "use_liger_kernel", False):
        faults.append("use_liger_kernel: takes one advantage a completion; expected False")
    raise_faults(faults)


__getattr__ = made_on_first_use(globals(), {"StepGRPOTrainer": _make_trainer})
