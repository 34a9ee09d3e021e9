"""How far raters agree: PRISM's scores with a published judge, people with people; and whether the figures are right.

Three questions:

- Published judge grades of model responses (`rollouts.jsonl`, a fraction of gold answers, from sympy and a judge model)
  beside PRISM's scores of the same responses. The DAGs are made by rule from worked solutions
  (`rollout_problems.py`) and nobody has looked at them: the figures say what `prism agree` shows on such data, not how
  well PRISM grades.
- Rubric items that two or three people have marked (`human_rubric_grades.jsonl`): each response is a problem of its
  own, its rubric items are what is rated.
- On both, and on 100,000 generated items: the largest difference from scipy (and from scikit-learn and statsmodels,
  where they are installed), and how long it takes.

    python benchmarks/accuracy/agreement.py [--data FOLDER] [--rollouts N] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import rollout_problems  # noqa: E402
from benchmarks.material import DATA, NO_DATA  # noqa: E402
from prism.problem.collection import load_problems  # noqa: E402
from prism.reports.agreement import estimate_coefficients  # noqa: E402
from prism.reports.comparison.paired_tests import kendall_test  # noqa: E402
from prism.reports.ratings import RatingTable, agreement_of, rating_table  # noqa: E402
from prism.runs import bulk  # noqa: E402
from prism.runs.rollouts import scan  # noqa: E402

PEOPLE = "human_rubric_grades.jsonl"
JUDGE = "rollouts.jsonl"
N_TIMED = 100_000
MAX_SQUARE = 1_000
SCORES = ("score", "final_correct")  # of our rows: the share of points; whether the final answers are right


def against_judge(folder: Path, limit: int) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Grade responses, spread evenly over the collection, and compare with the judge's grades of them."""
    with TemporaryDirectory() as name:
        work = Path(name)
        problems, rollouts = rollout_problems.write(rollout_problems.material(folder), work)
        lines = rollouts.read_text(encoding="utf-8").splitlines()
        kept = lines[:: max(1, math.ceil(len(lines) / limit))] if limit else lines
        rollouts.write_text("\n".join(kept) + "\n", encoding="utf-8")
        known = load_problems(problems)
        out = work / "scores.jsonl"
        bulk.run(known, rollouts, scan(rollouts, known), out, workers=0)
        shown, tables = {}, []
        for score in SCORES:
            cut = 0.5 if score == "final_correct" else None
            found = rating_table(out, [folder / JUDGE], score=score, cut=cut)
            shown[score] = without_texts(found)
            tables.append(found.ratings)
        return {"rollouts": len(kept), "by_score": shown}, tables


def people(folder: Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    """People against people, all of them together too."""
    found = rating_table(folder / PEOPLE, mapping={"score": "rubric_item_grades", "problem_id": "id"})
    return without_texts(found), [found.ratings[:, [0, 1]]]


def without_texts(found: RatingTable) -> dict[str, Any]:
    """The agreement as plain values; of disagreements their number, as the material stays where it is."""
    data = agreement_of(found, top=len(found.items)).to_dict()
    for pair in data["pairs"]:
        pair["disagreements"] = len(pair["disagreements"])
    return data


def oracles(ratings: np.ndarray) -> dict[str, float]:
    """The largest difference from each library, over what it defines alike."""
    kept = ratings[~np.isnan(ratings).any(axis=1)]
    own = {name: each.value for name, each in estimate_coefficients(kept, np.arange(len(kept)), replicates=0).items()}
    codes = np.searchsorted(np.unique(kept), kept)
    even = {
        name: each.value
        for name, each in estimate_coefficients(codes * 1.0, np.arange(len(kept)), replicates=0).items()
    }
    differences: dict[str, float] = {}
    for library, compare in (("scipy", of_scipy), ("sklearn", of_sklearn), ("statsmodels", of_statsmodels)):
        if library != "scipy" and codes.max() >= MAX_SQUARE:
            continue  # they make a square table of the distinct ratings
        try:
            other = compare(kept, codes)
        except ImportError:
            continue
        mine = own if library == "scipy" else even
        pairs = [(kendall_test(kept).asymptotic if name == "p" else mine[name], value) for name, value in other.items()]
        differences[library] = max(abs(a - b) for a, b in pairs if a is not None)
    return differences


def of_scipy(ratings: np.ndarray, _codes: np.ndarray) -> Mapping[str, float]:
    stats = import_module("scipy.stats")
    tau = stats.kendalltau(*ratings.T, method="asymptotic")
    return {
        "kendall_tau_b": tau.statistic, "p": tau.pvalue, "spearman": stats.spearmanr(*ratings.T).statistic,
        "pearson": stats.pearsonr(*ratings.T).statistic,
    }  # fmt: skip


def of_sklearn(_ratings: np.ndarray, codes: np.ndarray) -> Mapping[str, float]:
    kappa: Callable[..., float] = import_module("sklearn.metrics").cohen_kappa_score
    forms = (("cohen_kappa", None), ("cohen_kappa_linear", "linear"), ("cohen_kappa_quadratic", "quadratic"))
    return {name: kappa(*codes.T, weights=weights) for name, weights in forms}


def of_statsmodels(_ratings: np.ndarray, codes: np.ndarray) -> Mapping[str, float]:
    rater = import_module("statsmodels.stats.inter_rater")
    table, _ = rater.aggregate_raters(codes)
    return {"fleiss_kappa": rater.fleiss_kappa(table)}


def timed(ratings: np.ndarray) -> dict[str, Any]:
    """Seconds for all coefficients with intervals, four items a problem."""
    start = time.perf_counter()
    found = estimate_coefficients(ratings, np.arange(len(ratings)) // 4)
    seconds = time.perf_counter() - start
    undefined = sorted(name for name, each in found.items() if each.value is None)
    return {
        "items": len(ratings), "distinct_ratings": len(np.unique(ratings)), "seconds": round(seconds, 2),
        "undefined": undefined, "differences": oracles(ratings),
    }  # fmt: skip


def generated() -> dict[str, np.ndarray]:
    """Ratings of 100,000 items: on a scale of twenty steps, and with hardly two alike."""
    chance = np.random.default_rng(1)
    steps = chance.integers(0, 21, N_TIMED) / 20
    other = np.where(chance.random(N_TIMED) < 0.5, steps, chance.integers(0, 21, N_TIMED) / 20)
    smooth = chance.random(N_TIMED)
    return {
        "twenty_steps": np.stack([steps, other], axis=1),
        "hardly_two_alike": np.stack([smooth, smooth + 0.3 * chance.normal(size=N_TIMED)], axis=1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rollouts", type=int, default=0, help="responses that are graded; 0 for all")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    asked = parser.parse_args()
    if not rollout_problems.is_here(asked.data) or not (asked.data / PEOPLE).is_file():
        return NO_DATA
    judge, judge_tables = against_judge(asked.data, asked.rollouts)
    persons, person_tables = people(asked.data)
    result = {
        "judge": judge,
        "people": persons,
        "differences_from_oracles": {
            **{f"judge_{score}": oracles(table) for score, table in zip(SCORES, judge_tables, strict=True)},
            "people": oracles(person_tables[0]),
        },
        "time": {name: timed(ratings) for name, ratings in generated().items()},
    }
    print(json.dumps(result, sort_keys=True, allow_nan=False, indent=None if asked.json else 1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
