r"""Break real formulas and solutions at random: what is not read is refused with a place, and nothing else happens.

Mutations (`MUTATIONS`) delete, double, swap and insert characters and tokens, cut, splice two formulas, flip braces,
nest, insert Unicode and NUL; one to five of them a formula. Of each mutated formula is asked:

- `parse` raises nothing but `LatexSyntaxError`, whose place lies in the text, and ends within `MAX_SECONDS`;
- it says the same twice, without its cache: the same value, or the same fault at the same place;
- what parses has at most `MAX_NODES` nodes, prints, and has a canonical form;
- on a sample, `equivalent(x, x)` raises nothing, and answers `different` only of identities, which match nothing,
  and of chains and systems that hold one.

Of each mutated solution: `extract` raises nothing, spans lie in the text, limits on number and length hold, and it says
the same twice. Seeds are the real formulas and solutions if they are on this machine, else the rows of `tests/cases`.
The first crashes of each place in the code are listed with the smallest input found that still crashes; the exit code
is 1 if there is any.

    python benchmarks/accuracy/fuzz.py [--count N] [--data FOLDER] [--slice] [--json]
"""

from __future__ import annotations

import inspect
import json
import random
import re
import signal
import sys
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.material import DATA, FIELDS, missing, texts  # noqa: E402
from prism.algebra.expr import Formula, canonical, walk  # noqa: E402
from prism.latex import extract, parse  # noqa: E402
from prism.latex.extraction.pipeline import MAX_FORMULAS  # noqa: E402
from prism.latex.parsing.tokens import MAX_LENGTH, MAX_TOKENS  # noqa: E402

SEED = 20261122
COUNT = 200_000  # mutated formulas
SLICE = 3_000
FORMULAS_A_SOLUTION = 40  # a mutated solution costs as much as so many formulas
FORMULAS_A_COMPARISON = 100
JOBS = 2
CHUNK = 2_500  # formulas of one task; each has a seed of its own, so that the number of processes changes nothing
MAX_SECONDS = 10  # of one call: a backstop for what should stop itself
SLOW = 0.05  # seconds, above which a call is timed again: the collector of garbage may have run in it
MAX_NODES = 4 * MAX_TOKENS  # nodes of a formula: a token opens at most a reciprocal function of an argument kept twice
MAX_GROWTH = 40  # characters of all formulas over those of the solution: left sides are repeated, within their bounds
KEPT = 3  # crashes listed of one place in the code
SHRINKS = 400  # attempts to make a crash smaller

# Mutations --------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+|\s+|.", re.DOTALL)
_PIECES = (
    r"{ } ( ) [ ] | \ ^ _ & $ $$ % # ~ ' ! . , ; : = < > + - * / \\ \frac \sqrt \left \right \left( \right) \left. "
    r"\right| \begin{aligned} \end{aligned} \begin{pmatrix} \end{pmatrix} \begin{cases} \end{array} \begin \end \int "
    r"\oint \sum \prod \lim \partial \nabla \sin \log \exp \vec \hat \dot \ddot \mathrm{ \text{ \mathbf \rm \bf \over "
    r"\langle \rangle \pm \mp \approx \to \Rightarrow \in \infty \prime \dagger \circ \degree \unit{ \SI{ \qty{ \, "
    r"\quad \not \boxed{ \tag{1} \cancel{ \underbrace{ \overset{ \substack{ d dx e i 10^ e9 1e400 0 1 .5 {,} ^^ __ '' "
    r"\displaystyle \limits \operatorname{ \begin{ \end{ \x \foo"
).split()
_STRANGE = "\0\t\r\n\u00a0\u2009\u200b\u200d\ufeff½²⁻₀₁′″−–·×÷√∫∑∂∇∞≈≤→⇒⟨⟩‖°µΩÅπħℏ∆éß中文🙂\U0001d453\u0301\u202e\ud800"

Mutation = Callable[[str, random.Random, str], str]


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def delete_characters(text: str, rng: random.Random, other: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + text[at + rng.choice((1, 1, 1, 2, 8)) :]


def double_characters(text: str, rng: random.Random, other: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[: at + rng.choice((1, 1, 3))] + text[at:]


def swap_characters(text: str, rng: random.Random, other: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]


def insert_character(text: str, rng: random.Random, other: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + chr(rng.randrange(32, 127)) + text[at:]


def delete_token(text: str, rng: random.Random, other: str) -> str:
    words = _tokens(text)
    at = rng.randrange(len(words) + 1)
    return "".join(words[:at] + words[at + rng.choice((1, 1, 2, 5)) :])


def double_token(text: str, rng: random.Random, other: str) -> str:
    words = _tokens(text)
    at = rng.randrange(len(words) + 1)
    return "".join(words[: at + rng.choice((1, 1, 2, 6))] + words[at:])


def swap_tokens(text: str, rng: random.Random, other: str) -> str:
    words = _tokens(text)
    if len(words) > 1:
        first, second = rng.randrange(len(words)), rng.randrange(len(words))
        words[first], words[second] = words[second], words[first]
    return "".join(words)


def insert_token(text: str, rng: random.Random, other: str) -> str:
    words = _tokens(text)
    words.insert(rng.randrange(len(words) + 1), rng.choice(_PIECES))
    return "".join(words)


def replace_token(text: str, rng: random.Random, other: str) -> str:
    words = _tokens(text) or [""]
    words[rng.randrange(len(words))] = rng.choice(_PIECES)
    return "".join(words)


def cut(text: str, rng: random.Random, other: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] if rng.random() < 0.5 else text[at:]


def splice(text: str, rng: random.Random, other: str) -> str:
    return text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other) + 1) :]


def flip_brace(text: str, rng: random.Random, other: str) -> str:
    braces = [at for at, sign in enumerate(text) if sign in "{}()[]|"]
    if not braces:
        return text + "}"
    at = rng.choice(braces)
    return text[:at] + rng.choice("{}()[]|") + text[at + 1 :]


_NESTS = (
    ("{", "}"), ("(", ")"), (r"\left(", r"\right)"), (r"\sqrt{", "}"), (r"\frac{", "}{2}"), ("x^{", "}"), ("x_{", "}"),
    ("|", "|"), (r"\sin ", ""), (r"\vec{", "}"), (r"\text{", "}"), (r"\begin{aligned}", r"\end{aligned}"),
    (r"\boxed{", "}"), (r"\int_{", "} x dx"), (r"\langle ", r" \rangle"), ("e^{", "}"), ("-", ""), (r"\mathrm{", "}"),
    (r"\sum_{i=", "}^n i"), (r"\left\{", r"\right."), ("$", "$"), (r"\cancel{", "}"), (r"\overset{", "}{=}"),
)  # fmt: skip


def nest(text: str, rng: random.Random, other: str) -> str:
    left, right = rng.choice(_NESTS)
    times = rng.choice((1, 1, 1, 1, 2, 2, 3, 8, 40, 200))
    start, end = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
    return text[:start] + left * times + text[start:end] + right * times + text[end:]


def insert_strange(text: str, rng: random.Random, other: str) -> str:
    at = rng.randrange(len(text) + 1)
    code = rng.randrange(0x110000)
    strange = chr(code) if rng.random() < 0.3 else rng.choice(_STRANGE)
    return text[:at] + strange + text[at:]


MUTATIONS: tuple[Mutation, ...] = (
    delete_characters, double_characters, swap_characters, insert_character, delete_token, double_token, swap_tokens,
    insert_token, replace_token, cut, splice, flip_brace, nest, insert_strange,
)  # fmt: skip


def mutated(seeds: list[str], rng: random.Random, numbers: tuple[int, ...]) -> str:
    """A seed after one mutation or several: as many as one of the numbers says."""
    text = rng.choice(seeds)
    for _ in range(rng.choice(numbers)):
        text = rng.choice(MUTATIONS)(text, rng, rng.choice(seeds))
    return text


# What must hold ---------------------------------------------------------------------------------------------


class Broken(Exception):
    """A promise that was not kept."""


class TooSlow(BaseException):
    """Raised by the alarm; no handler of the library may swallow it."""


def _alarm(number: int, frame: FrameType | None) -> None:
    raise TooSlow(f"longer than {MAX_SECONDS} s")


def _once(latex: str) -> Formula | tuple[int, str, tuple[str, ...]]:
    """The value, or place and words of the fault, without the cache of formulas."""
    try:
        return inspect.unwrap(parse)(latex)
    except prism.LatexSyntaxError as fault:
        if not 0 <= fault.position <= len(latex):
            raise Broken(f"place {fault.position} outside the {len(latex)} characters") from None
        if not fault.found or not str(fault):
            raise Broken("a fault without words") from None
        return fault.position, fault.found, fault.expected


def parts(value: Formula) -> Iterator[Formula]:
    """A formula and those that it joins, at any depth."""
    stack = [value]
    while stack:
        part = stack.pop()
        stack.extend(part.parts)
        yield part


def check_formula(latex: str) -> bool:
    """Hold one formula to the promises; whether it is read."""
    value = _once(latex)
    if value != _once(latex):
        raise Broken("parsed twice, two results")
    if not isinstance(value, Formula):
        return False
    if len(latex) > MAX_LENGTH + 100:
        raise Broken(f"read a formula of {len(latex)} characters")
    members = [member for part in parts(value) for member in part.members]
    nodes = sum(1 for member in members for _ in walk(member))
    if nodes > MAX_NODES:
        raise Broken(f"{nodes} nodes of {len(latex)} characters")
    if not str(value) or not all(canonical(member) for member in members):
        raise Broken("prints nothing")
    return True


def check_solution(text: str) -> int:
    """Hold one solution to the promises; the number of its formulas."""
    found = extract(text)
    if found != extract(text):
        raise Broken("extracted twice, two results")
    if len(found) > MAX_FORMULAS:
        raise Broken(f"{len(found)} formulas")
    for item in found:
        if not 0 <= item.span[0] <= item.span[1] <= len(text):
            raise Broken(f"span {item.span} outside the {len(text)} characters")
    if (size := sum(len(item.latex) for item in found)) > MAX_GROWTH * (len(text) + 100):
        raise Broken(f"{size} characters of formulas out of {len(text)}")
    return len(found)


def check_pair(latex: str) -> str:
    """Compare a formula with itself; status and reason."""
    verdict = prism.equivalent(latex, latex)
    is_tautology = verdict.reason == "identity"
    if verdict.reason == "kind":
        whole = prism.parse(latex)
        is_tautology = len(whole.members) > 2 or bool(whole.parts)  # one link or part of it is an identity
    if verdict.status == "different" and not is_tautology:
        raise Broken(f"different from itself: {verdict.reason}")
    return f"{verdict.status} ({verdict.reason})"


# Running ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Crash:
    """A promise broken: by what, where in the code, and on which text."""

    check: str
    error: str
    place: str
    text: str
    trace: str


@dataclass(slots=True)
class Tally:
    """Counts of one task; they add up."""

    counts: Counter[str] = field(default_factory=Counter)
    crashes: list[Crash] = field(default_factory=list)
    slowest: dict[str, tuple[float, str]] = field(default_factory=dict)  # by check: CPU seconds, and on which text

    def add(self, other: Tally) -> None:
        """Take in the counts of another task, and its crashes at places that are not known yet."""
        self.counts.update(other.counts)
        places = Counter((crash.check, crash.error.partition(":")[0], crash.place) for crash in self.crashes)
        for crash in other.crashes:
            if places[crash.check, crash.error.partition(":")[0], crash.place] < KEPT:
                self.crashes.append(crash)
        for name, pair in other.slowest.items():
            self.slowest[name] = max(self.slowest.get(name, (0.0, "")), pair)


def attempt(check: Callable[[str], Any], text: str, tally: Tally) -> Any:
    """Run a check with an alarm; a crash is counted and kept, smaller."""
    start = time.process_time()
    signal.alarm(MAX_SECONDS)
    try:
        answer = check(text)
    except (Exception, TooSlow) as error:  # noqa: BLE001 - whatever comes out is what is looked for
        signal.alarm(0)
        tally.counts[f"{check.__name__}: crashes"] += 1
        error_place = _place(error)
        if sum(crash.place == error_place for crash in tally.crashes) < KEPT:
            small = text if isinstance(error, TooSlow) else shrunk(check, text, error)
            trace = "".join(traceback.format_exception(error)[-4:])
            head = f"{type(error).__name__}: {error}"
            tally.crashes.append(Crash(check.__name__, head, error_place, small, trace))
        return None
    finally:
        signal.alarm(0)
    seconds = time.process_time() - start
    if seconds > SLOW:
        start = time.process_time()
        check(text)
        seconds = min(seconds, time.process_time() - start)
    tally.slowest[check.__name__] = max(tally.slowest.get(check.__name__, (0.0, "")), (seconds, text))
    return answer


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "prism" in Path(frame.filename).parts] or list(frames)
    return f"{Path(inside[-1].filename).name}:{inside[-1].name}"


def shrunk(check: Callable[[str], Any], text: str, error: BaseException) -> str:
    """A shorter text that crashes in the same way, found by leaving out ever smaller stretches."""
    wanted = (type(error), _place(error))
    size, tried = len(text) // 2, 0
    while size and tried < SHRINKS:
        at = 0
        while at < len(text) and tried < SHRINKS:
            shorter = text[:at] + text[at + size :]
            tried += 1
            signal.alarm(MAX_SECONDS)
            try:
                check(shorter)
            except (Exception, TooSlow) as other:  # noqa: BLE001 - as above
                if (type(other), _place(other)) == wanted:
                    text = shorter
                    continue
            finally:
                signal.alarm(0)
            at += size
        size //= 2
    return text


@dataclass(frozen=True, slots=True)
class Task:
    """Some mutated formulas, with their share of solutions and comparisons."""

    seed: int
    formulas: int
    solutions: int
    comparisons: int


_SEEDS: dict[str, list[str]] = {}  # of this process, filled once


def prepare(folder: str) -> None:
    """Load the seeds, and arm the alarm."""
    _SEEDS["formulas"], _SEEDS["solutions"] = seeds(Path(folder))
    signal.signal(signal.SIGALRM, _alarm)


def run(task: Task) -> Tally:
    """Make and check the texts of one task."""
    rng = random.Random(task.seed)
    tally = Tally()
    read: list[str] = []
    for _ in range(task.formulas):
        latex = mutated(_SEEDS["formulas"], rng, (1, 1, 1, 1, 2, 2, 3, 5))
        tally.counts["formulas"] += 1
        if attempt(check_formula, latex, tally):
            tally.counts["formulas read"] += 1
            read.append(latex)
    for _ in range(task.solutions):
        tally.counts["solutions"] += 1
        tally.counts["formulas extracted"] += (
            attempt(check_solution, mutated(_SEEDS["solutions"], rng, (1, 2, 4, 8, 16)), tally) or 0
        )
    for latex in rng.sample(read, min(task.comparisons, len(read))):
        tally.counts["compared with themselves"] += 1
        if status := attempt(check_pair, latex, tally):
            tally.counts[f"compared with themselves: {status}"] += 1
    return tally


# Seeds ------------------------------------------------------------------------------------------------------


def seeds(folder: Path) -> tuple[list[str], list[str]]:
    """Formulas and solutions: the real ones, or the rows of the cases."""
    if not missing(folder):
        formulas, *solutions = ([text for text in texts(folder, file) if text] for file in FIELDS)
        whole = [text for of_file in solutions for text in of_file]
        return [*formulas, *_found(whole)], whole
    formulas, whole = [], []
    folders = ("parse", "equivalence", "extract", "grading")
    for path in sorted(path for name in folders for path in (ROOT / "tests" / "cases" / name).glob("*.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8")).get("case", ()):
            formulas += [row[key] for key in ("latex", "a", "b") if isinstance(row.get(key), str) and row[key]]
            whole += [row[key] for key in ("text", "solution") if isinstance(row.get(key), str) and row[key]]
    return formulas, whole


def _found(texts: Iterable[str]) -> list[str]:
    """Formulas of the solutions, each once, in a fixed order."""
    return list(dict.fromkeys(item.latex for text in texts for item in extract(text)))


# The report -------------------------------------------------------------------------------------------------


def tasks(count: int) -> list[Task]:
    """The work, cut into pieces that do not depend on the number of processes."""
    sizes = [min(CHUNK, count - start) for start in range(0, count, CHUNK)]
    return [
        Task(SEED + number, size, -(-size // FORMULAS_A_SOLUTION), -(-size // FORMULAS_A_COMPARISON))
        for number, size in enumerate(sizes)
    ]


def measure(count: int, folder: Path, jobs: int) -> tuple[Tally, dict[str, int]]:
    """All tasks, in order, and the number of seeds."""
    prism.warm()
    prepare(str(folder))
    total = Tally()
    if jobs == 1:
        for task in tasks(count):
            total.add(run(task))
    else:
        with ProcessPoolExecutor(jobs, get_context("spawn"), prepare, (str(folder),)) as pool:
            for tally in pool.map(run, tasks(count)):
                total.add(tally)
    return total, {name: len(texts) for name, texts in _SEEDS.items()}


def main() -> int:
    parser = script.parser("Break formulas and solutions at random.", data=DATA)
    parser.add_argument("--count", type=int, default=COUNT, help="mutated formulas")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--slice", action="store_true", help="a few, from the rows of the cases: what CI runs")
    options = parser.parse_args()
    count, folder, jobs = options.count, options.data, options.jobs
    if options.slice:
        count, folder, jobs = SLICE, ROOT / "no data", 1
    tally, sown = measure(count, folder, jobs)
    result: dict[str, Any] = {
        "seed": SEED,
        "seeds": sown,
        "real": not missing(folder),
        "counts": dict(sorted(tally.counts.items())),
        "crashes": [asdict(crash) for crash in tally.crashes],
        "slowest": {name: {"ms": round(seconds * 1e3, 1), "characters": len(text)}
                    for name, (seconds, text) in sorted(tally.slowest.items())},
    }  # fmt: skip
    print(json.dumps(result, sort_keys=True, indent=None if options.json else 1))
    if not options.json:
        for name, (seconds, text) in sorted(tally.slowest.items()):
            print(f"slowest {name}, {seconds:.3f} s: {text[:3000]!r}", file=sys.stderr)
    for crash in tally.crashes:
        print(f"{crash.check}: {crash.error} in {crash.place}\n  {crash.text!r}\n{crash.trace}", file=sys.stderr)
    return 1 if tally.crashes else 0


if __name__ == "__main__":
    raise SystemExit(main())
