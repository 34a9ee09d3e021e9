r"""Rewards of single steps: the credit of each formula at the token that completes it, and advantages from these.

A step is a formula; `step_credits` says what it earned and at which characters it stands. A trainer has tokens:
`token_offsets` says which characters each of them wrote, and `token_rewards` puts what a formula earned on the token
with its last character. The rewards of a completion sum to its reward, whatever the scoring: what is no credit of a
step, as a bonus for right final answers, stands at the last token.

>>> from prism.rewards import Reward
>>> problem = {"id": "f", "context": "A mass $m$ feels the force $F$ and accelerates with $a$ for the time $t$.",
...            "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": []},
...                                 {"index": 2, "formula": "v = a t", "dependency": [1], "is_final_answer": True}]}
>>> reward, text = Reward(), "$F = m a$, $v = a t$."
>>> offsets = [(k, k + 1) for k in range(len(text))]  # of a tokenizer with one token a character
>>> {k: each for k, each in enumerate(token_rewards(reward, reward(problem, text), offsets)) if each}
{7: 0.5, 18: 0.5}

Refused: advantages from rewards of steps that are normalised one by one, as in process supervision with a reward model
(DeepSeekMath, arXiv 2402.03300, section 4.1.3). There a solution of many steps has each mean subtracted, so that of two
solutions with the same score the one with fewer steps is preferred, and the final answer alone to a worked solution.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prism.errors import PrismError
from prism.grading.scoring import StepCredit
from prism.latex import solution_text
from prism.rewards.reward import Reward, Rewarded

Offsets = Sequence[tuple[int, int]]
"""Of each token the first character that it writes and the one behind its last; equal for one that writes nothing."""

_UNFINISHED = "\ufffd"  # what a tokenizer shows of a character of which bytes are missing
_LEAST_SPREAD = 1e-4  # added to a standard deviation of scores, as TRL does
_ALIKE = 1e-8  # a standard deviation of scores below which a group says nothing


# Tokens. --------------------------------------------------------------------------------------------------------


def token_offsets(tokenizer: Any, ids: Sequence[int], text: str) -> list[tuple[int, int]]:
    """Return which characters of a text each of its tokens writes, special tokens none.

    Args:
        tokenizer: of Hugging Face's kind: `decode(ids, skip_special_tokens=True)`; where it can encode with an offset
            mapping to the same ids, that is taken.
        ids: the tokens, as generated; they need not be those into which the text would be encoded.
        text: what was graded: what the tokens decode to, or a part of it.

    Errors:
        PrismError: the tokens do not decode to the text.
    """
    ids = [int(each) for each in ids]
    found = _encoded_offsets(tokenizer, ids, text)
    if found is not None:
        return found
    pieces = _decoded_pieces(tokenizer, ids)
    begin = "".join(pieces).find(text)
    if begin < 0:
        raise PrismError(f"the {len(ids)} tokens do not decode to the text of {len(text)} characters that was graded")
    offsets, at = [], -begin
    for piece in pieces:
        offsets.append((_within(at, text), _within(at + len(piece), text)))
        at += len(piece)
    return offsets


def _within(at: int, text: str) -> int:
    """Return a position, moved into the text."""
    return min(max(at, 0), len(text))


def _encoded_offsets(tokenizer: Any, ids: list[int], text: str) -> list[tuple[int, int]] | None:
    """Return the tokenizer's own offset mapping where it encodes the text to these ids and special tokens behind them.

    None where it does not, or has no such mapping.
    """
    if not getattr(tokenizer, "is_fast", False):
        return None
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    known = list(encoded["input_ids"])
    if ids[: len(known)] != known or set(ids[len(known) :]) - set(getattr(tokenizer, "all_special_ids", ())):
        return None
    offsets = [(int(first), int(last)) for first, last in encoded["offset_mapping"]]
    return [*offsets, *([(len(text), len(text))] * (len(ids) - len(known)))]


def _decoded_pieces(tokenizer: Any, ids: list[int]) -> list[str]:
    """Return what each token adds to the decoded text; one that ends within a character adds nothing.

    Decoded anew is only what follows the token before the last that added something: its own text may depend on it.
    """

    def decode(first: int, last: int) -> str:
        return str(tokenizer.decode(ids[first:last], skip_special_tokens=True))

    pieces: list[str] = []
    first = done = 0
    for k in range(len(ids)):
        before, after = decode(first, done), decode(first, k + 1)
        is_whole = not after.endswith(_UNFINISHED) or k == len(ids) - 1
        pieces.append(after[len(before) :] if is_whole else "")
        if is_whole and len(after) > len(before):
            first, done = done, k + 1
    return pieces


# Rewards. -------------------------------------------------------------------------------------------------------


def tokens_of_steps(steps: Sequence[StepCredit], offsets: Offsets) -> list[tuple[int, int]]:
    """Return for each formula the token with its first character, and the one behind that with its last.

    They are equal, the number of tokens, for a formula behind the last token, as where a completion was cut.
    """
    first_of = [first for first, _ in offsets]
    last_of = [last for _, last in offsets]
    begins = [bisect_right(last_of, step.span[0]) for step in steps]
    return [
        (begin, max(begin, _last_before(first_of, step.span[1]) + 1)) for begin, step in zip(begins, steps, strict=True)
    ]


def _last_before(starts: Sequence[int], position: int) -> int:
    """Return the last token that begins before a position; -1 if none does."""
    return bisect_left(starts, position) - 1


def token_rewards(reward: Reward, found: Rewarded, offsets: Offsets) -> list[float]:
    """Return the reward of each token; they sum to the reward of the completion.

    The credit of a formula, times the weight that the scoring gives `closure`, stands at the token with its last
    character; what else the scoring pays stands at the last token. Where it gives `closure` no weight, all of it does.

    Args:
        reward: what graded.
        found: its reward of the completion; all are 0 where it has no value.
        offsets: of the tokens of the text that was graded.
    """
    rewards = [0.0] * len(offsets)
    if not rewards or found.value is None:
        return rewards
    weight = dict(reward.scoring.weights).get("closure", 0.0)
    starts = [first for first, _ in offsets]
    paid = [weight * float(step.credit) for step in found.steps]
    for step, each in zip(found.steps, paid, strict=True):
        rewards[max(0, _last_before(starts, step.span[1]))] += each
    rest = found.value - math.fsum(paid)
    if abs(rest) > 1e-6:  # a value is rounded
        rewards[-1] += rest
    return rewards


@dataclass(frozen=True, slots=True)
class PlacedRewards:
    """The rewards of the tokens of one completion.

    Attributes:
        rewards: of each token.
        is_placed: False where the tokens do not decode to the text that was graded, as where a template took something
            out of it: then all of the reward stands at the last token.
    """

    rewards: list[float]
    is_placed: bool


def place_rewards(reward: Reward, found: Rewarded, tokenizer: Any, ids: Sequence[int], solution: Any) -> PlacedRewards:
    """Return the rewards of generated tokens; never raises on what a model has written.

    Args:
        reward, found: as of `token_rewards`.
        tokenizer, ids: as of `token_offsets`.
        solution: what was graded: a text, chat messages or steps.
    """
    try:
        offsets = token_offsets(tokenizer, ids, solution_text(solution).text)
    except PrismError:
        at_the_end = [0.0] * len(ids)
        if len(ids):
            at_the_end[-1] = found.value or 0.0
        return PlacedRewards(at_the_end, is_placed=False)
    return PlacedRewards(token_rewards(reward, found, offsets), is_placed=True)


# Advantages. ----------------------------------------------------------------------------------------------------


def step_advantages(
    rewards: Sequence[Sequence[float] | None], *, group: int, scale: bool = True
) -> list[NDArray[np.float64]]:
    """Return the advantage of each token of completions that come in groups of one prompt.

    It is what the completion still earns from this token on, less the mean of its group at the same token, over the
    standard deviation of the group's scores: REINFORCE with rewards to go and a baseline that depends on the time. At
    the first token that is the advantage of GRPO; a group whose scores are alike has none.

    Args:
        rewards: of each token of each completion; None where it has no reward: it counts in no mean, and gets 0.
        group: completions of a prompt, which follow each other.
        scale: divide by the standard deviation.

    Errors:
        PrismError: the completions are no groups of this size.

    Source: Williams, Machine Learning 8 (1992) 229; Greensmith, Bartlett and Baxter, JMLR 5 (2004) 1471.

    >>> early, late = step_advantages([[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]], group=2, scale=False)
    >>> early.tolist(), late.tolist()
    ([0.5, 0.25, 0.25], [-0.5, -0.25, -0.25])
    """
    if group < 1 or len(rewards) % group:
        raise PrismError(f"group: {len(rewards)} completions are no groups of {group}")
    advantages: list[NDArray[np.float64]] = []
    for at in range(0, len(rewards), group):
        advantages += _advantages_of_group(rewards[at : at + group], scale=scale)
    return advantages


def _advantages_of_group(rewards: Sequence[Sequence[float] | None], *, scale: bool) -> list[NDArray[np.float64]]:
    """Return the advantages of the completions of one prompt; arguments as of `step_advantages`."""
    length = max((len(each) for each in rewards if each is not None), default=0)
    kept = [k for k, each in enumerate(rewards) if each is not None]
    to_go = np.zeros((len(rewards), max(length, 1)))
    for k in kept:
        each = np.asarray(rewards[k], dtype=np.float64)
        to_go[k, : len(each)] = each[::-1].cumsum()[::-1]
    scores = to_go[kept, 0]
    spread = float(scores.std(ddof=1)) if len(kept) > 1 else 0.0
    if spread < _ALIKE:
        return [np.zeros(len(each or ())) for each in rewards]
    centred = (to_go - to_go[kept].mean(axis=0)) / (spread + _LEAST_SPREAD if scale else 1.0)
    return [np.zeros(0) if each is None else centred[k, : len(each)] for k, each in enumerate(rewards)]
