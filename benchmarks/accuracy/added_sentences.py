r"""Sentences about a problem's own letters, added to labelled solutions: none of them may earn a node.

What a solution says of the problem's letters may withhold a credit, and never makes one. So each sentence of SENTENCES
is put before or behind a solution, about letters of its problem chosen by seed. A node that the solution did not match
without the sentence, and that the sentence alone does not match, is a gain. Solutions that gain are listed in
`added_sentences_read.toml`, each read, with the rule by which it does. Material: the rows of `tests/cases/grading`
and `rules`, the shipped problems with their students, and, where PRISM_DATA is set, labelled cases and responses.

    python benchmarks/accuracy/added_sentences.py [--every N] [--each N] [--json]
"""

from __future__ import annotations

import json
import random
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.material import DATA  # noqa: E402
from benchmarks.rollout_problems import material  # noqa: E402
from prism.algebra.expr import symbols_of  # noqa: E402
from prism.algebra.symbols import symbol_of  # noqa: E402

READ = Path(__file__).with_name("added_sentences_read.toml")
EACH = 12  # sentences for one solution
SENTENCES = tuple(
    line.strip()
    for line in r"""
    Let $<a>$ be a function of $<b>$.
    Here $<a>(<b>)$ is a function of $<b>$.
    Let $<a> = <a>(t)$.
    where $<a>$ is complex.
    We write $<a> = |<a>|e^{i\phi}$ for the complex $<a>$.
    Here $<a>$ varies in time.
    Here $<a>$ is a constant.
    Here $<a>$ is real.
    Here $<a>$ may be negative.
    $\vec{<a>}$ is a vector.
    $<a>$ is a matrix.
    $\hat{<a>}$ is an operator.
    $<a>$ is an index.
    $<a>$ is an integer.
    $<a>$ is an angle.
    with $<a> = 0$.
    with $<a> = 1$.
    with $<a> = 2$.
    Let $<a> = 2<b>$.
    where $<a> = <b>$.
    where $<a> = -<b>$.
    where $<a> = <b>^2$.
    Let $<a> := \frac{1}{2}<b>$.
    $\dot{<a>} = <b>$
    $<a>' = <b>$
    $\frac{d<a>}{d<b>} = <c>$
    $<a>^* = <a>$
    $\bar{<a>} = <a>$
    $<a> = E[<b>]$
    $<a> = \langle <b>\rangle$
    $<a> = |<b>|$
    $<a> = \Delta <b>$
    where $<a> = <b><c>$.
    where $<a> = <b>/<c>$.
    where $<a> = <b> + <c>$.
    Let $<a> \equiv <b>$.
    Assume $<a> \ll <b>$.
    Assume $<a> \to 0$.
    For small $<a>$, $\sin <a> \approx <a>$.
    By $<a>$ we denote the value of $<b>$.
    Here $<a>$ stands for $<b>$.
    We write $<a>$ for $<b>$ and $<b>$ for $<a>$.
    The symbol $<a>$ is another name for $<b>$.
    In natural units, $c = 1$ and $\hbar = 1$.
    Here $e$ is Euler's number, and $i$ the imaginary unit.
    Here $<a>$ is the speed of light.
    Here $<a>$ is Boltzmann's constant.
    In units where $<a> = 1$.
    All angles are in degrees.
    The sign convention for $<a>$ is the opposite one.
    Let $\xi = <a><b>$.
    Let $\xi = <a>$.
    Let $<a>_0 = <b>$.
    """.strip().splitlines()
)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A solution of a problem, with the name under which it is reported."""

    name: str
    problem: Any
    solution: str


@dataclass(frozen=True, slots=True)
class Gain:
    """Nodes that a solution matches with a sentence, and neither of the two matches alone."""

    name: str
    sentence: str
    is_before: bool
    nodes: tuple[int, ...]


def of_cases() -> Iterator[Labelled]:
    """Yield the rows of grading and rules that have a solution."""
    for path in chain(*(sorted((ROOT / "tests" / "cases" / folder).glob("*.toml")) for folder in ("grading", "rules"))):
        for row in tomllib.loads(path.read_text("utf-8"))["case"]:
            problem = row.get("problem")
            if problem is not None and isinstance(row.get("solution"), str):
                problem = ROOT / "dags" / problem if isinstance(problem, str) else problem
                yield Labelled(f"{path.parent.name}/{path.stem}:{row['id']}", problem, row["solution"])


def of_students() -> Iterator[Labelled]:
    """Yield the students of the shipped problems, and of the labelled cases of PRISM_DATA."""
    for path in (*sorted((ROOT / "dags").glob("*.toml")), *sorted((DATA / "cases" / "dev").glob("*.json"))):
        problem = prism.load_problem(path)
        yield from (Labelled(f"{path.stem}:{each.name}", problem, each.solution) for each in problem.students)


def of_responses() -> Iterator[Labelled]:
    """Yield collected responses on drafted problems; none where PRISM_DATA is not set."""
    if (DATA / "rollouts.jsonl").exists():
        found = material(DATA)
        problems = {problem["id"]: problem for problem in found.problems}
        for each in found.rollouts:
            yield Labelled(f"{each['problem_id']}:{each['sample_id']}", problems[each["problem_id"]], each["response"])


def sentences_for(problem: prism.Problem, generator: random.Random, count: int) -> Iterator[tuple[str, bool]]:
    """Yield sentences about letters of a problem by chance, each with True if it stands before the solution."""
    written = {name for node in problem.nodes for name in symbols_of(node.formula)} | problem.context.declared
    names = sorted(name for name in written if symbol_of(name).is_light)
    for template in generator.sample(SENTENCES, min(count, len(SENTENCES))):
        chosen = generator.sample(names, min(3, len(names)))
        while chosen and len(chosen) < 3:
            chosen.append(chosen[0])
        sentence = template
        for place, name in zip("abc", chosen, strict=False):
            sentence = sentence.replace(f"<{place}>", name)
        yield sentence, generator.random() < 0.5


def gains(each: Labelled, count: int = EACH) -> Iterator[Gain]:
    """Grade a solution with sentences added, and yield what is gained."""
    problem = each.problem if isinstance(each.problem, prism.Problem) else prism.load_problem(each.problem)
    prepared = prism.prepare(problem)
    before = prism.grade(prepared, each.solution)
    if set(before.matched) == set(problem.dag.indices):
        return
    for sentence, is_first in sentences_for(problem, random.Random(each.name), count):
        text = "\n\n".join((sentence, each.solution) if is_first else (each.solution, sentence))
        after = prism.grade(prepared, text)
        if after.alternative != before.alternative and (after.score or 0) <= (before.score or 0):
            continue  # by another reference, and no more
        found = set(after.matched) - set(before.matched)
        if found and (found := found - set(prism.grade(prepared, sentence).matched)):
            yield Gain(each.name, sentence, is_first, tuple(sorted(found)))


def read_gains() -> dict[str, str]:
    """Read why solutions gain, by their names."""
    return tomllib.loads(READ.read_text("utf-8"))["gains"]


def main() -> int:
    parser = script.parser(__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every so many solutions")
    parser.add_argument("--each", type=int, default=EACH, help="sentences for one solution")
    arguments = parser.parse_args()
    prism.warm()
    counts: dict[str, dict[str, int]] = {}
    found: list[Gain] = []
    for kind, labelled in (("cases", of_cases), ("students", of_students), ("responses", of_responses)):
        solutions = list(labelled())[:: arguments.every]
        gained = [gain for each in solutions for gain in gains(each, arguments.each)]
        counts[kind] = {"solutions": len(solutions), "gains": len(gained)}
        found += gained
    unread = [gain for gain in found if gain.name not in read_gains()]
    result = {
        "sentences": len(SENTENCES),
        "each": arguments.each,
        **counts,
        "unread": [asdict(gain) for gain in unread],
    }
    print(json.dumps(result, indent=None if arguments.json else 1, ensure_ascii=False))
    return bool(unread)


if __name__ == "__main__":
    sys.exit(main())
