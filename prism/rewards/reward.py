r"""One reward: what a solution is worth against its reference, as a number, with named numbers for a log.

The doors of the frameworks all call this object. It chooses a scoring and computes nothing: `prism.grade` does.

>>> problem = {"id": "f", "context": "A mass $m$ feels the force $F$ and accelerates with $a$.",
...            "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}]}
>>> reward = Reward("closure")
>>> reward(problem, r"Newton: $a = \frac{F}{m}$").value
1.0
>>> reward("nowhere.toml", "$a = 1$").value is None
True
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from prism.engine.kernels import warm
from prism.errors import PrismError
from prism.grading.pipeline import grade
from prism.grading.prepared_cache import PreparedCache, Reference
from prism.grading.result import Grade
from prism.grading.scoring import SCALARS, Scoring, StepCredit, reward_scoring, scalars, score_by, step_credits
from prism.latex import solution_text
from prism.problem.collection import ProblemSet, problems_by_id

KEPT = 1024  # prepared problems; one takes some 100 kB
_SHOWN_NAMES = 500  # characters


@dataclass(frozen=True, slots=True)
class Rewarded:
    """The reward of one solution, with its grade and the named numbers (scalars) that frameworks log.

    Attributes:
        value: the number; None only if the reference cannot be used. A solution without a shape that can be graded is
            worth 0: were it worth nothing to a trainer, a model could learn to write none.
        scalars: named numbers, the same keys of `scoring.SCALARS` every time.
        grade: None where there is no value, or the grader failed.
        fault: what is wrong, where grade is None.
        steps: what each formula earned, in the order of the text: for rewards of single steps. They sum to the score.
    """

    value: float | None
    scalars: Mapping[str, float]
    grade: Grade | None
    fault: str = ""
    steps: tuple[StepCredit, ...] = ()


class Reward:
    """A callable that grades a solution against a reference and returns a `Rewarded`; a call never raises.

    It starts no process and no thread, sets no signal and looks at no clock; it may be called from many threads, and
    pickled: the copy has the problem set and prepares anew. Kernels are warmed where it is made or unpickled.

    Attributes:
        scoring: what it pays for.
        thinking: whether formulas before the end of a thinking block count.
        ready: the problem set, and the prepared problems.
    """

    __slots__ = ("ready", "scoring", "thinking")

    def __init__(
        self,
        scoring: str | Mapping[str, float] | Scoring = "closure",
        *,
        problems: ProblemSet | None = None,
        thinking: bool = False,
        paths: bool = True,
        kept: int = KEPT,
    ) -> None:
        """Check all arguments, load the problem set and the numerical kernels.

        Args:
            scoring: a name of `scoring.PARTS`, or names with weights from 0 on. The value is the weighted sum, and
                nothing scales it: weights that sum to 1 keep it in [0, 1].
            problems: what ids stand for: ids with problems, a folder of problem files, or a list of problems.
            thinking: also count formulas before the end of a thinking block.
            paths: a reference may be a path; say no where references come from strangers.
            kept: how many prepared problems to keep.

        Errors:
            PrismError: all that is wrong with these, at once.
        """
        faults: list[str] = []
        chosen, by_id = None, None
        try:
            chosen = reward_scoring(scoring)
        except PrismError as error:
            faults.append(str(error))
        try:
            by_id = problems_by_id(problems)
        except PrismError as error:
            faults.append(str(error))
        faults += [
            f"{name}: {value!r} is neither True nor False"
            for name, value in (("thinking", thinking), ("paths", paths))
            if not isinstance(value, bool)
        ]
        if not isinstance(kept, int) or isinstance(kept, bool) or kept < 1:
            faults.append(f"kept: {kept!r} is no number of problems from 1 on")
        if faults or chosen is None or by_id is None:
            raise PrismError("\n".join(faults))
        self.scoring = chosen
        self.thinking = thinking
        self.ready = PreparedCache(by_id, size=kept, training=chosen.needs_training, paths=paths)
        warm()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings only; the copy loads kernels and prepares problems anew."""
        return _rebuild_reward, (self.scoring, self.ready.by_id, self.thinking, self.ready.paths, self.ready.size)

    def __call__(self, reference: Reference | None, solution: object, *, sample_id: str | None = None) -> Rewarded:
        """Grade one solution against a reference solution DAG and return its reward.

        Args:
            reference: a path, a dictionary, a JSON string, an id in the problem set, or a problem. Anything else is a
                bad reference, and the value is None.
            solution: a text, chat messages or a list of steps.
            sample_id: kept in the grade.
        """
        try:
            prepared = self.ready.get(reference)
        except Exception as error:  # noqa: BLE001 - whatever a row of data holds, a training run goes on
            return Rewarded(None, scalars(None, bad_reference=True), None, _fault_text(error))
        try:
            text: Any = solution
            solution_text(text)
        except Exception as error:  # noqa: BLE001 - the same
            return Rewarded(0.0, scalars(None, bad_solution=True), None, _fault_text(error))
        try:
            graded = grade(prepared, text, sample_id=sample_id, thinking=self.thinking)
            value = score_by(self.scoring, graded)
            return Rewarded(value, scalars(graded), graded, steps=step_credits(prepared, graded))
        except Exception as error:  # noqa: BLE001 - the grader failed: nothing is paid, and the scalars say so
            return Rewarded(0.0, scalars(None), None, _fault_text(error))

    def many(self, references: Iterable[Any], solutions: Iterable[Any]) -> list[Rewarded]:
        """Grade the rows of a batch and return their rewards, in order."""
        return [self(reference, solution) for reference, solution in zip(references, solutions, strict=True)]


# Shared by the frameworks' modules. --------------------------------------------------------------------------------


def reward_of(
    scoring: str | Mapping[str, float] | Scoring | Reward, *, problems: ProblemSet | None, thinking: bool
) -> Reward:
    """Return the given `Reward` unchanged, or make one from a scoring.

    Errors:
        PrismError: as of `Reward`.
    """
    return scoring if isinstance(scoring, Reward) else Reward(scoring, problems=problems, thinking=thinking)


def checked_metrics(metrics: Collection[str]) -> tuple[str, ...]:
    """Return the metrics as a tuple if each is a key of `scoring.SCALARS`.

    Errors:
        PrismError: a string, or others.
    """
    if isinstance(metrics, str) or not set(metrics) <= set(SCALARS):
        raise PrismError(f"metrics: {metrics!r} are not all among {', '.join(SCALARS)}")
    return tuple(metrics)


def check_names(**names: object) -> None:
    """Raise PrismError unless each argument is a non-empty string: `check_names(column="reference")`.

    Errors:
        PrismError: one that is empty, or no string.
    """
    for argument, word in names.items():
        if not isinstance(word, str) or not word:
            raise PrismError(f"{argument}: {word!r} is no name")


def no_column(setting: str, column: str, there: Iterable[object]) -> str:
    """Say that no column of this name came, by which setting it was asked for, and which came: for error or warning.

    Only what did not come at all is told so; a row whose entry is null has a bad reference.
    """
    names = ", ".join(sorted(map(str, there)))[:_SHOWN_NAMES] or "none"
    return f"{setting}: no column {column!r} came with the references; those that came: {names}"


def _rebuild_reward(scoring: Scoring, by_id: Mapping[str, Any], thinking: bool, paths: bool, kept: int) -> Reward:
    """Return the `Reward` with these settings, when it is unpickled; `kept` prepared problems are cached."""
    return Reward(scoring, problems=by_id, thinking=thinking, paths=paths, kept=kept)


def _fault_text(error: Exception) -> str:
    """Return the text of an error for `Rewarded.fault`: the message of a PrismError, `TYPE: message` of any other."""
    return str(error) if isinstance(error, PrismError) else f"{type(error).__name__}: {error}"
