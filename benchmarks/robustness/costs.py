r"""Look for the dearest inputs under 5 kB: every construct, repeated and nested, through every call.

Series: a construct or a pair of them (`constructs.py`), a shape (nested in itself, nested in each other, a sum, a
product, a chain, many formulas, definitions that rest on each other) and a call, for n = 1 to 64. Each input
is measured in a process of its own, forked from one that is warm, with limits on CPU and address space: what hangs is
a finding, and hangs nothing. Of each input are kept: CPU, peak of memory beyond the idle process, operations of the
account, what was raised; of each series how the cost grows, as the slope of log cost over log n.

A finding is: an exception that is no `PrismError`, an incident in a grade, more operations than the account allows,
more than `MAX_CPU` or `MAX_MEMORY`, CPU more than `MAX_FACTOR` times what the account charged. `--slice`, which CI
runs, looks at no clock and at no memory. Figures go to a file of JSON lines, from which a later run with the same
`--results` goes on.

    python benchmarks/robustness/costs.py [--sample N] [--seed S] [--calls ...] [--families ...] [--results FILE]
        [--slice] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import random
import re
import resource
import select
import signal
import sys
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, Final

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.robustness.constructs import CONSTRUCTS, GROWN, LEAF, RELATIONS, TEXTS, Prose  # noqa: E402
from prism import budget  # noqa: E402
from prism.grading.pipeline import operations_of_cells  # noqa: E402

SIZES: Final = (1, 2, 4, 8, 16, 24, 32, 64)
MAX_CHARACTERS: Final = 5_000  # of one input
MAX_CPU: Final = 1.0  # seconds, promised for an input of MAX_CHARACTERS
LONG: Final = 200_000  # characters of a long solution
LONG_CPU: Final = 3.0  # seconds, promised for it
LONG_SIZES: Final = (64, 1 << 18)  # the second is cut to what fits
MAX_MEMORY: Final = 100.0  # megabytes beyond the idle process, promised
MAX_FACTOR: Final = 4.0  # CPU over what the account says, from MIN_CPU on
MIN_CPU: Final = 0.2  # seconds, below which the clock says little
EXTRACTION: Final = 4_000  # operations a character at most: 2,600 were seen, in short texts
SECONDS_AN_OPERATION: Final = 1e-8
CPU_CAP: Final = 5  # seconds of CPU after which a process is ended
SLICE_CAP: Final = 60  # the same where no clock counts: only what hangs is ended
SLICE: Final = 120  # series of the slice
SLICE_SIZES: Final = (6, 20, 64)
SPACE_CAP: Final = 3 << 30  # bytes of address space
WALL_CAP: Final = 120.0  # seconds: a process that sleeps
PAIRS: Final = 400  # nestings of two constructs in each other, drawn by the seed
SEED: Final = 20261123

# Inputs -----------------------------------------------------------------------------------------------------------


def copy(template: str, operand: str, number: int) -> str:
    """Fill a template: the operand, and the number of the copy."""
    return template.replace("#", str(number)).replace("@", operand)


def nested(templates: tuple[str, ...], n: int) -> str:
    """Templates in each other, n deep."""
    latex = LEAF
    for level in range(n):
        latex = copy(templates[level % len(templates)], latex, level + 1)
    return latex


def _copies(templates: tuple[str, ...], n: int) -> list[str]:
    return [copy(templates[k % len(templates)], LEAF, k + 1) for k in range(n)]


def _formulas(templates: tuple[str, ...], n: int) -> str:
    return " ".join(f"$V_{{{k}}} = {latex}$." for k, latex in enumerate(_copies(templates, n)))


def _same_name(templates: tuple[str, ...], n: int) -> str:
    return " ".join(f"$V = {k + 1} {latex}$." for k, latex in enumerate(_copies(templates, n)))


def _two_deep(templates: tuple[str, ...], n: int) -> str:
    return " ".join(f"$V = {k + 1} {nested(templates * 2, 2)}$." for k in range(n))


def _definitions(templates: tuple[str, ...], n: int) -> str:
    lines = (f"x_{{{k + 1}}} = {copy(templates[k % len(templates)], f'x_{{{k}}}', k + 1)}" for k in range(n))
    return " ".join(f"Let ${line}$." for line in lines) + f" Then $V = x_{{{n}}}$."


FORMULA_SHAPES: Final[dict[str, Callable[[tuple[str, ...], int], str]]] = {
    "nested": nested,
    "sum": lambda templates, n: " + ".join(_copies(templates, n)),
    "product": lambda templates, n: r" \cdot ".join(f"({latex})" for latex in _copies(templates, n)),
    "quotient": lambda templates, n: r"\frac{1}{" + " + ".join(_copies(templates, n)) + "}",
    "chain": lambda templates, n: " = ".join(_copies(templates, n)),
    "system": lambda templates, n: ", y = ".join(_copies(templates, n)),
}
"""How copies make the right side of one formula."""

TEXT_SHAPES: Final[dict[str, Callable[[tuple[str, ...], int], str]]] = {
    "formulas": _formulas,
    "same name": _same_name,
    "two deep": _two_deep,
    "definitions": _definitions,
}
"""How copies make a text of many formulas."""


def repeated(prose: Prose, n: int) -> str:
    """A text of n copies."""
    return prose.head + "".join(prose.unit.replace("#", str(k + 1)) for k in range(n)) + prose.tail


# Calls ------------------------------------------------------------------------------------------------------------

REFERENCE: Final = r"V = \frac{q}{r}"
PROBLEM: Final[dict[str, Any]] = {
    "id": "costs",
    "context": r"A charge $q$ at the distance $r = 2.0$ m; $V$ is the potential, $E$ the field, $\omega$ a rate.",
    "symbols": {"x": "real"},
    "subquestions": [
        {"letter": "a", "subproblem": "Find $V$.", "final_answer_form": "algebraic"},
        {"letter": "b", "subproblem": "Find $E$ and $R$.", "final_answer_form": "numerical"},
    ],
    "grading_standard": [
        {"index": 1, "formula": REFERENCE, "dependency": [], "is_final_answer": True, "subquestion": "a"},
        {"index": 2, "formula": r"E = \frac{V}{r}", "dependency": [1]},
        {"index": 3, "formula": r"x^2 = \frac{E}{\omega^2} \sin\theta", "dependency": [2]},
        {"index": 4, "formula": r"R = 202\unit{km}", "dependency": [3], "is_final_answer": True, "subquestion": "b"},
    ],
}
LARGE: Final = 40  # nodes more, where a text is graded against a large problem
HONEST: Final = r"(a) So $V = q/r$. (b) $E = q/r^2$ and $\boxed{R = 202\,\mathrm{km}}$."


def large_problem() -> dict[str, Any]:
    """The problem with many nodes more, each a claim about the same few quantities."""
    data: dict[str, Any] = json.loads(json.dumps(PROBLEM))
    forms = (r"V = \frac{# q}{r^{#}} + \omega", r"E_{#} = \sqrt{# + q^2}", r"x_{#} = q \sin(# r)", r"f(#) = q^{#} - r")
    for k in range(LARGE):
        formula = forms[k % len(forms)].replace("#", str(k + 2))
        data["grading_standard"].insert(3, {"index": 0, "formula": formula, "dependency": [2]})
    for index, node in enumerate(data["grading_standard"], 1):
        node["index"] = index
    last = len(data["grading_standard"])
    data["grading_standard"][-1]["dependency"] = list(range(3, last))
    return data


def problem_with(place: str, latex: str) -> dict[str, Any]:
    """The problem with hostile LaTeX, or prose, at one place."""
    data: dict[str, Any] = json.loads(json.dumps(PROBLEM))
    nodes = data["grading_standard"]
    if place == "node":
        nodes[1]["formula"] = latex if "$" in latex else f"E = {latex}"
    elif place == "accept":
        nodes[1]["accept"] = [f"E = {latex}"]
    elif place == "given":
        data["givens"] = {"q": latex}
    elif place == "definition":
        data["definitions"] = [f"u = {latex}"]
        nodes[1]["formula"] = r"E = \frac{u}{r}"
    elif place == "symbol":
        data["symbols"] = {latex: "real"}
    elif place == "instructions":
        data["subquestions"][0] |= {"final_answer_form": "text-based", "final_answer_instructions": latex}
    else:
        data["context"] += " " + (latex if "$" in latex else f"Here $u = {latex}$.")
    return data


def _grade(problem: Any, text: str, note: Callable[[Any], None]) -> None:
    note(prism.grade(problem, text))


def _diagnose(text: str, note: Callable[[Any], None], ready: Callable[[], None]) -> None:
    prepared = prism.prepare(prism.load_problem(PROBLEM))
    grade = prism.grade(prepared, text)
    ready()
    note(prism.diagnose(prepared, grade))


def _draft(text: str) -> None:
    from prism.authoring.drafting import draft

    draft(text, problem=PROBLEM["context"])


def displayed(latex: str) -> str:
    """A formula as a solution."""
    return f"(a) $$V = {latex}$$"


PLACES: Final = ("node", "accept", "given", "definition", "context")


def perform(call: str, text: str, note: Callable[[Any], None], ready: Callable[[], None]) -> None:
    """Do what a call asks with one input; `note` takes results, `ready` says that the measured part begins."""
    verb, _, place = call.partition(" ")
    if verb == "diagnose":
        return _diagnose(text, note, ready)
    if place == "large":
        prepared = prism.prepare(prism.load_problem(large_problem()))
        ready()
        return _grade(prepared, text, note)
    ready()
    match verb:
        case "parse":
            prism.write(prism.parse(text))
        case "extract":
            prism.extract(text)
        case "equivalent":
            pairs = {
                "claim": (REFERENCE, f"V = {text}"),
                "reference": (f"V = {text}", REFERENCE),
                "both": (f"V = {text}", f"V = 2 ({text})"),
                "bare": (text, "q"),
            }
            note(prism.equivalent(*pairs[place]))
        case "grade":
            _grade(problem_with(place, text) if place else PROBLEM, HONEST if place else text, note)
        case "draft":
            _draft(text)
        case "load":
            prism.load_problem(problem_with(place, text))
        case "lint":
            prism.lint(problem_with(place, text))
        case _:
            raise KeyError(call)
    return None


FORMULA_CALLS: Final = (
    "parse", "equivalent claim", "equivalent reference", "equivalent both", "equivalent bare",
    *(f"{verb} {place}" for verb in ("load", "lint", "grade") for place in PLACES),
)  # fmt: skip
SOLUTION_CALLS: Final = ("extract", "grade", "grade large", "diagnose", "draft")
TEXT_CALLS: Final = (*SOLUTION_CALLS, "load context", "lint context", "grade context")
OTHER_CALLS: Final = ("load instructions", "load symbol")
CALLS: Final = tuple(dict.fromkeys((*FORMULA_CALLS, *TEXT_CALLS, *OTHER_CALLS)))


@dataclass(frozen=True, slots=True)
class Series:
    """One input that grows, through one call."""

    call: str
    family: str
    shape: str

    def text(self, n: int) -> str:
        """The input of size n."""
        if self.shape == "text":
            return repeated(TEXTS[self.family], n)
        if self.shape == "grown":
            latex = GROWN[self.family](n)
        else:
            both = CONSTRUCTS | RELATIONS
            templates = tuple(both[name] for name in self.family.split(" * "))
            if self.shape in TEXT_SHAPES:
                return TEXT_SHAPES[self.shape](templates, n)
            latex = FORMULA_SHAPES[self.shape](templates, n)
        return displayed(latex) if self.call in SOLUTION_CALLS else latex


def all_series(seed: int, n_pairs: int = PAIRS) -> Iterator[Series]:
    """Every series: each construct alone, texts, and pairs of constructs drawn by the seed."""
    rng = random.Random(seed)
    names = list(CONSTRUCTS)
    pairs = [" * ".join(rng.sample(names, 2)) for _ in range(n_pairs)]
    for family in chain(CONSTRUCTS, RELATIONS, pairs):
        is_alone = family in CONSTRUCTS
        shapes = FORMULA_SHAPES if is_alone else ("nested",) if " * " in family else ("sum", "chain", "system")
        for shape in shapes:
            yield from (Series(call, family, shape) for call in dict.fromkeys((*FORMULA_CALLS, *TEXT_CALLS)))
        for shape in TEXT_SHAPES:
            if not is_alone and shape in ("two deep", "definitions"):
                continue
            yield from (Series(call, family, shape) for call in TEXT_CALLS)
    for family in GROWN:
        yield from (Series(call, family, "grown") for call in dict.fromkeys((*FORMULA_CALLS, *TEXT_CALLS)))
    for family in TEXTS:
        yield from (Series(call, family, "text") for call in (*TEXT_CALLS, *OTHER_CALLS))


# One measurement --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Measurement:
    """What one input cost.

    Attributes:
        cpu: seconds of process time; the cap where the process was ended.
        memory: megabytes of the peak beyond the idle process.
        operations: all that was charged during the call, the loading of its problem included.
        cost: what the result says that it cost, if it says so.
        outcome: of what came back: status and reason, or the PrismError.
        fault: an exception that is no PrismError, an incident, or how the process was ended; else empty.
    """

    call: str
    family: str
    shape: str
    n: int
    characters: int
    cpu: float = 0.0
    memory: float = 0.0
    operations: int = 0
    cost: int | None = None
    outcome: str = ""
    fault: str = ""


def _status(key: str) -> int:
    line = re.search(rf"^{key}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    return int(line[1]) if line else 0


def _anonymous_peak() -> int:
    """Kilobytes of memory at the peak without mapped files, which count as they are touched."""
    return _status("VmHWM") - _status("RssFile")


def measured(call: str, text: str, write: Callable[[dict[str, Any]], None]) -> None:
    """Make one call in this process and write what it cost, in two lines: one as it begins, one as it ends."""
    found: dict[str, Any] = {"operations": 0, "cost": None, "outcome": "", "fault": ""}
    begin = [time.process_time(), 0.0]
    before = _status("RssAnon")

    def note(result: Any) -> None:
        found["cost"] = getattr(result, "cost", None)
        found["outcome"] = " ".join(str(getattr(result, key)) for key in ("status", "reason") if hasattr(result, key))
        if incidents := getattr(result, "incidents", ()):
            found["fault"] = f"incident: {incidents[0].where}: {incidents[0].detail}"[:300]

    def ready() -> None:
        write({"begun": True})
        begin[:] = time.process_time(), account.spent

    with budget.share(math.inf) as account:
        try:
            perform(call, text, note, ready)
        except prism.PrismError as error:
            found["outcome"] = type(error).__name__
        except BaseException as error:  # noqa: BLE001 - whatever comes out is what is looked for
            found["fault"] = f"{type(error).__name__}: {error}"[:300]
    found["cpu"] = round(time.process_time() - begin[0], 4)
    found["operations"] = account.spent - int(begin[1])
    found["memory"] = round(max(0, _anonymous_peak() - before) / 1024, 1)
    write(found)


@dataclass(slots=True)
class _Child:
    """A forked process at work on one input."""

    pid: int
    pipe: int
    series: Series
    n: int
    text: str
    until: float
    heard: bytes = b""


def _fork(series: Series, n: int, text: str, cap: int = CPU_CAP) -> _Child:
    inward, outward = os.pipe()
    pid = os.fork()
    if pid:
        os.close(outward)
        return _Child(pid, inward, series, n, text, time.monotonic() + WALL_CAP)
    os.close(inward)
    resource.setrlimit(resource.RLIMIT_CPU, (2 * cap, 8 * cap))
    resource.setrlimit(resource.RLIMIT_AS, (SPACE_CAP, SPACE_CAP))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def write(line: dict[str, Any]) -> None:
        if "begun" in line:
            used = math.ceil(time.process_time())
            resource.setrlimit(resource.RLIMIT_CPU, (used + cap, 8 * cap))
        os.write(outward, json.dumps(line).encode() + b"\n")

    measured(series.call, text, write)
    os._exit(0)


def _finish(child: _Child) -> Measurement | None:
    """Collect a process; None if it was ended before the measured part began."""
    os.close(child.pipe)
    _, status, usage = os.wait4(child.pid, 0)
    lines = [json.loads(line) for line in child.heard.decode().splitlines()]
    series = child.series
    found = Measurement(series.call, series.family, series.shape, child.n, len(child.text))
    if lines and "cpu" in lines[-1]:
        for key, value in lines[-1].items():
            setattr(found, key, value)
        return found
    if not lines:
        return None
    found.cpu = round(usage.ru_utime + usage.ru_stime, 1)
    found.memory = round(usage.ru_maxrss / 1024, 1)
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    found.fault = f"ended by {signal.Signals(number).name}" if number else f"exit code {os.WEXITSTATUS(status)}"
    return found


def _largest(series: Series, sizes: tuple[int, ...], at: int, characters: int) -> int:
    """The size at a place, or if its text is too long, the largest that fits between it and the one before; else 0."""
    low, high = sizes[at - 1] if at else 0, sizes[at]
    while len(series.text(high)) > characters:
        high = low + (high - low) // 2
        if high == low:
            return 0
    if high == sizes[at]:
        return high
    return bisect_right(range(2 * high), characters, lo=high, key=lambda n: len(series.text(n))) - 1


def measure_all(
    jobs: Iterable[Series], processes: int, sizes: tuple[int, ...], cap: int, characters: int = MAX_CHARACTERS
) -> Iterator[tuple[Measurement, str]]:
    """Measure every input of every series, the sizes of a series in order until one is ended or raises."""
    waiting = iter(jobs)
    running: dict[int, _Child] = {}
    queue: list[tuple[Series, int]] = []
    while True:
        while len(running) < processes:
            if not queue:
                series = next(waiting, None)
                if series is None:
                    break
                queue.append((series, 0))
            series, at = queue.pop()
            if n := _largest(series, sizes, at, characters):
                child = _fork(series, n, series.text(n), cap)
                running[child.pipe] = child
        if not running:
            return
        for pipe in select.select(list(running), [], [], 1.0)[0]:
            child = running[pipe]
            heard = os.read(pipe, 1 << 16)
            child.heard += heard
            if heard:
                continue
            del running[pipe]
            found = _finish(child)
            if found is not None:
                yield found, child.text
                if not found.fault.startswith("ended") and child.n in sizes[:-1]:
                    queue.append((child.series, sizes.index(child.n) + 1))
        for child in running.values():
            if time.monotonic() > child.until:
                os.kill(child.pid, signal.SIGKILL)


# Findings and growth ----------------------------------------------------------------------------------------------


def solution_limit(characters: int) -> int:
    """Operations that a solution may cost: its account opens when it has been extracted."""
    return budget.SOLUTION + (budget.CHARACTER + EXTRACTION) * characters


def allowed(found: Measurement) -> int | None:
    """Operations that the account allows a call; None where it says nothing."""
    if found.call.startswith("equivalent"):
        return budget.PAIR
    if found.call.startswith(("grade", "diagnose")):  # a diagnosis has no limit of its own: it may cost a solution
        cells = operations_of_cells(LARGE, found.n) if found.call == "grade large" else 0
        return solution_limit(max(found.characters, len(HONEST))) + cells
    return None


def complaints(found: Measurement, *, by_clock: bool = True) -> list[str]:
    """What is wrong with one measurement, in words."""
    said = [found.fault] if found.fault else []
    limit = allowed(found)
    if found.cost is not None and limit is not None and found.cost > limit:
        said.append(f"{found.cost} operations, {limit} allowed")
    if not by_clock:
        return said
    if found.cpu > (MAX_CPU if found.characters <= MAX_CHARACTERS else LONG_CPU):
        said.append(f"{found.cpu:.1f} s of CPU")
    if found.memory > MAX_MEMORY:
        said.append(f"{found.memory:.0f} MB")
    if found.cpu > max(MIN_CPU, MAX_FACTOR * found.operations * SECONDS_AN_OPERATION):
        said.append(f"{found.cpu:.2f} s of CPU for {found.operations} operations")
    return said


def slope(points: list[tuple[int, float]]) -> float | None:
    """The slope of log y over log n by least squares; None with fewer than three points above zero."""
    logs = [(math.log(n), math.log(y)) for n, y in points if y > 0]
    if len(logs) < 3:
        return None
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread


def summary(measurements: list[Measurement], *, by_clock: bool) -> dict[str, Any]:
    """Counts, the dearest ten, the dearest of each call, findings, the steepest series."""
    series: dict[tuple[str, str, str], list[Measurement]] = defaultdict(list)
    for found in measurements:
        series[found.call, found.family, found.shape].append(found)
    growth = {}
    for key, points in series.items():
        rate = slope([(found.n, found.cpu) for found in points if found.cpu > 0.02])
        if rate is not None:
            growth[" | ".join(key)] = round(rate, 2)
    dearest = sorted(measurements, key=lambda found: -found.cpu)
    by_call: dict[str, Measurement] = {}
    for found in dearest:
        by_call.setdefault(found.call, found)
    by_operations = sorted(measurements, key=lambda found: -found.operations)
    wrong = [(found, said) for found in dearest if (said := complaints(found, by_clock=by_clock))]
    return {
        "inputs": len(measurements),
        "series": len(series),
        "families": len({found.family for found in measurements}),
        "constructs": len(CONSTRUCTS) + len(RELATIONS) + len(GROWN) + len(TEXTS),
        "dearest": [_row(found) for found in dearest[:10]],
        "dearest_by_call": {call: _row(found) for call, found in sorted(by_call.items())},
        "most_operations": [_row(found) for found in by_operations[:10]],
        "largest": [_row(found) for found in sorted(measurements, key=lambda found: -found.memory)[:5]],
        "steepest": dict(sorted(growth.items(), key=lambda item: -item[1])[:10]),
        "findings": [_row(found) | {"said": said} for found, said in wrong],
    }


def _row(found: Measurement) -> dict[str, Any]:
    return {key: value for key, value in asdict(found).items() if value not in ("", None)}


def asked_series(asked: argparse.Namespace) -> list[Series]:
    """The series that the command line asks for, shuffled by the seed."""
    jobs = list(all_series(asked.seed, asked.pairs))
    if asked.calls:
        jobs = [each for each in jobs if any(each.call.startswith(word) for word in asked.calls)]
    if asked.families:
        jobs = [each for each in jobs if any(word in each.family for word in asked.families)]
    if asked.shapes:
        jobs = [each for each in jobs if each.shape in asked.shapes]
    random.Random(asked.seed).shuffle(jobs)
    return jobs[: asked.sample]


def read_results(path: Path | None) -> list[Measurement]:
    """What an earlier run has measured."""
    if path is None or not path.exists():
        return []
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Measurement(**{key: value for key, value in row.items() if key != "text"}) for row in rows]


def import_all() -> None:
    """Import what grades: a run of hours never mixes modules of two trees."""
    for name in (
        "algebra",
        "latex",
        "engine",
        "physics",
        "equivalence",
        "problem",
        "grading",
        "diagnosis",
        "authoring",
    ):
        package = import_module(f"prism.{name}")
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)


def warm_up() -> None:
    """Load what the calls load, so that a forked process begins where a used one stands."""
    import_all()
    prism.warm()
    perform("grade", HONEST, lambda _: None, lambda: None)
    perform("diagnose", HONEST + " $E = q r$", lambda _: None, lambda: None)
    perform("draft", HONEST, lambda _: None, lambda: None)
    perform("lint context", HONEST, lambda _: None, lambda: None)
    gc.collect()
    gc.freeze()  # else the collector walks through all of this in every fork, 0.2 s


def show(result: dict[str, Any]) -> None:
    """Print the tables for people."""
    print(f"\n{result['inputs']} inputs, {result['series']} series, {result['families']} families")
    for title in ("dearest", "most_operations", "largest"):
        print(f"\n{title.replace('_', ' ')}: CPU s, MB, operations, call, input")
        for row in result[title]:
            name = f"{row['family']} | {row['shape']} {row['n']}"
            print(f"{row['cpu']:8.3f} {row['memory']:6.1f} {row['operations']:>11} {row['call']:22} {name}")
    print("\nsteepest: slope of log CPU over log n")
    for name, rate in result["steepest"].items():
        print(f"{rate:8.2f} {name}")
    print(f"\n{len(result['findings'])} findings")


def main() -> int:
    """Measure; 1 if there is a finding."""
    parser = script.parser("The dearest inputs under 5 kB.")
    parser.add_argument("--sample", type=int, help="so many series, drawn by the seed")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--calls", nargs="*", help="those that begin so")
    parser.add_argument("--families", nargs="*", help="those that contain one of these words")
    parser.add_argument("--shapes", nargs="*", help="nested, sum, formulas, definitions, grown, text, ...")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--pairs", type=int, default=PAIRS, help="nestings of two constructs in each other")
    parser.add_argument("--jobs", type=int, default=1, help="processes at work at one time")
    parser.add_argument("--results", type=Path, help="JSON lines: read first, what is there is not measured again")
    parser.add_argument("--slice", action="store_true", help="a small fixed part, without the clock: what CI runs")
    parser.add_argument("--long", action="store_true", help=f"texts of {LONG} characters, through extract and grade")
    asked = parser.parse_args()
    if asked.long:
        asked.sizes, asked.calls = LONG_SIZES, asked.calls or ["extract", "grade"]
        asked.shapes = asked.shapes or ["text", *TEXT_SHAPES]
    if asked.slice:
        asked.sample, asked.sizes, asked.seed = asked.sample or SLICE, SLICE_SIZES, SEED
    known = read_results(asked.results)
    done = {(found.call, found.family, found.shape) for found in known}
    jobs = [each for each in asked_series(asked) if (each.call, each.family, each.shape) not in done]
    warm_up()
    out = asked.results.open("a", encoding="utf-8") if asked.results else None
    cap, characters = SLICE_CAP if asked.slice else CPU_CAP, LONG if asked.long else MAX_CHARACTERS
    for found, text in measure_all(jobs, asked.jobs, tuple(asked.sizes), cap, characters):
        known.append(found)
        said = complaints(found, by_clock=not asked.slice)
        if said:
            name = f"{found.call} | {found.family} | {found.shape} {found.n}"
            print(
                f"{name}: {'; '.join(said)}: {text[:150]!r}", file=sys.stderr if asked.json else sys.stdout, flush=True
            )
        if out:
            out.write(json.dumps(asdict(found) | ({"text": text} if said else {})) + "\n")
            out.flush()
    result = summary(known, by_clock=not asked.slice)
    print(json.dumps(result)) if asked.json else show(result)
    return 1 if result["findings"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
