"""Rewards for reinforcement learning: one object that grades, and a thin door for each framework.

Nothing here imports a framework or looks at a clock, and only a reward with `workers` starts processes and threads.
Each name is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prism.grading.prepared_cache import Reference as Reference
    from prism.rewards.curriculum import Curriculum as Curriculum
    from prism.rewards.generated import GeneratedProblems as GeneratedProblems
    from prism.rewards.generated import endless as endless
    from prism.rewards.lighteval import LightevalScores as LightevalScores
    from prism.rewards.lm_eval import LMEvalResults as LMEvalResults
    from prism.rewards.openrlhf import OpenRLHFReward as OpenRLHFReward
    from prism.rewards.reward import Reward as Reward
    from prism.rewards.reward import Rewarded as Rewarded
    from prism.rewards.tokens import step_advantages as step_advantages
    from prism.rewards.tokens import token_offsets as token_offsets
    from prism.rewards.tokens import token_rewards as token_rewards
    from prism.rewards.tokens import tokens_of_steps as tokens_of_steps
    from prism.rewards.trl import TRLReward as TRLReward
    from prism.rewards.verifiers import VerifiersReward as VerifiersReward
    from prism.rewards.verifiers import VerifiersTaskReward as VerifiersTaskReward

_MODULES = {
    "Curriculum": "rewards.curriculum", "GeneratedProblems": "rewards.generated",
    "LMEvalResults": "rewards.lm_eval", "LightevalScores": "rewards.lighteval", "OpenRLHFReward": "rewards.openrlhf",
    "Reference": "grading.prepared_cache", "Reward": "rewards.reward", "Rewarded": "rewards.reward",
    "TRLReward": "rewards.trl", "VerifiersReward": "rewards.verifiers", "VerifiersTaskReward": "rewards.verifiers",
    "endless": "rewards.generated", "step_advantages": "rewards.tokens", "token_offsets": "rewards.tokens",
    "token_rewards": "rewards.tokens", "tokens_of_steps": "rewards.tokens",
}  # fmt: skip

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    """Load a public name from its module on first use (PEP 562); raises AttributeError for other names."""
    if name not in _MODULES:
        raise AttributeError(f"module 'prism.rewards' has no attribute {name!r}")
    value = getattr(import_module(f"prism.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, without importing their modules."""
    return __all__
