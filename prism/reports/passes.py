r"""Several rollouts of one problem: pass@k, pass^k and best-of-k, each an unbiased estimate from n rollouts.

Of n rollouts of one model to one problem, c have all final answers right. k of the n, drawn without replacement, hold
at least one right with probability 1 - C(n-c, k) / C(n, k) (pass@k; Chen et al., arXiv 2107.03374, equation 1), and are
all right with C(c, k) / C(n, k) (pass^k; Yao et al., arXiv 2406.12045). Best-of-k is the mean of the highest score
among them: with the scores in ascending order the sum of s_i C(i-1, k-1) / C(n, k), where s_i is the highest of
C(i-1, k-1) draws. All need n >= k: of fewer rollouts the values are not known, and the pair of model and problem is
left out.

Refused: 1 - (1 - c/n)^k, which is biased downwards, as the paper shows.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prism.reports.agreement import Estimate
from prism.reports.report_rows import NOT_SAID, ReportRow, estimate_to_dict, problem_mean

MAX_K = 10_000  # of pass@k; binomials grow with it


def pass_at_k(n: int, right: int, k: int) -> float:
    """Return the probability that of k drawn from n rollouts at least one is right.

    >>> pass_at_k(4, 1, 2), pass_at_k(4, 3, 2), pass_at_k(4, 0, 2)
    (0.5, 1.0, 0.0)
    """
    return 1.0 - math.comb(n - right, k) / math.comb(n, k)


def pass_power_k(n: int, right: int, k: int) -> float:
    """Return the probability that k drawn from n rollouts are all right.

    >>> pass_power_k(4, 2, 1), pass_power_k(4, 2, 3)
    (0.5, 0.0)
    """
    return math.comb(right, k) / math.comb(n, k)


def best_of_k(scores: Sequence[float], k: int) -> float:
    """Return the mean of the highest score among k rollouts, over all ways to draw k of them.

    >>> best_of_k([0.0, 1.0, 0.5], 2), best_of_k([0.0, 1.0, 0.5], 3)
    (0.8333333333333333, 1.0)
    """
    ways = math.comb(len(scores), k)
    ranked = enumerate(sorted(scores))
    return math.fsum(score * (math.comb(rank, k - 1) / ways) for rank, score in ranked if rank >= k - 1)


def _n_right(rows: Sequence[ReportRow]) -> int:
    """Return the number of rollouts whose final answers are all right."""
    return sum(row.grade.final_correct for row in rows)


def _pass_at(rows: Sequence[ReportRow], k: int) -> float:
    """Return pass@k of the scored rollouts of one model to one problem."""
    return pass_at_k(len(rows), _n_right(rows), k)


def _pass_power(rows: Sequence[ReportRow], k: int) -> float:
    """Return pass^k of the scored rollouts of one model to one problem."""
    return pass_power_k(len(rows), _n_right(rows), k)


def _best(rows: Sequence[ReportRow], k: int) -> float:
    """Return best-of-k of the scored rollouts of one model to one problem."""
    return best_of_k([row.grade.score for row in rows if row.grade.score is not None], k)


OF_SAMPLES: Mapping[str, Callable[[Sequence[ReportRow], int], float]] = {
    "pass@": _pass_at, "pass^": _pass_power, "best@": _best,
}  # fmt: skip
"""Values of the rollouts of one model to one problem, by how their names begin: `pass@4`."""


@dataclass(frozen=True, slots=True)
class SampleFigures:
    """What k rollouts of a model to a problem give.

    Attributes:
        model: its name, or "(not said)".
        k: rollouts that are drawn.
        n_short: problems with fewer scored rollouts than k, which are left out.
        estimates: of each of `OF_SAMPLES`, its mean over problems with an interval.
    """

    model: str
    k: int
    n_short: int
    estimates: tuple[Estimate, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON."""
        names = (f"{name}k" for name in OF_SAMPLES)
        return {
            "model": self.model, "k": self.k, "left_out": self.n_short,
            **{name: estimate_to_dict(one) for name, one in zip(names, self.estimates, strict=True)},
        }  # fmt: skip


def samples(rows: Iterable[ReportRow]) -> dict[tuple[str, str], list[ReportRow]]:
    """Gather the scored rollouts of each model to each problem, by model and problem id."""
    found: dict[tuple[str, str], list[ReportRow]] = defaultdict(list)
    for row in rows:
        if row.grade.score is not None:
            found[row.model or NOT_SAID, row.grade.problem_id].append(row)
    return found


def sample_values(name: str, k: int, rows: Iterable[ReportRow]) -> list[tuple[str, float]]:
    """Return problem id and value of each pair of model and problem with at least k scored rollouts.

    Args:
        name: key of `OF_SAMPLES`.
    """
    return [(problem_id, OF_SAMPLES[name](own, k)) for (_, problem_id), own in samples(rows).items() if len(own) >= k]


def sample_figures(rows: Sequence[ReportRow], *, replicates: int) -> tuple[SampleFigures, ...]:
    """Compute pass@k, pass^k and best-of-k of each model for k = 1, 2, 4, ... as far as a problem has k rollouts.

    Empty if no model has two scored rollouts to one problem.
    """
    sizes: dict[str, list[int]] = defaultdict(list)
    for (model, _), own in samples(rows).items():
        sizes[model].append(len(own))
    if max((n for each in sizes.values() for n in each), default=0) < 2:
        return ()
    found = []
    for model, counts in sorted(sizes.items()):
        own = [row for row in rows if (row.model or NOT_SAID) == model]
        for k in (1 << power for power in range(max(counts).bit_length())):
            values = (sample_values(name, k, own) for name in OF_SAMPLES)
            estimates = tuple(problem_mean(each, replicates=replicates) for each in values)
            found.append(SampleFigures(model, k, sum(n < k for n in counts), estimates))
    return tuple(found)
