r"""What deciding the equivalence of two physics equations costs, beside three others that do the same work.

Pairs are the rows of the physics files of `tests/cases/equivalence/` that hold two plain equations and need no context,
a near-miss of every third of them, and `physics_pairs_dev.jsonl` where it is.

- `kernels`: points of both formulas and both crossings, as the engine calls them: its own calls are recorded and made
  again. Beside it Algorithm 1 of the paper on sympy (`tests/reference.py`), on expressions already built, in a process
  that is killed after 30 s; such a pair counts as 30 s.
- `strings`: `prism.equivalent` on two strings: `cold` with every cache of formulas emptied before each pair, `stream`
  with caches emptied once, `warm` with all of them full: the verdict itself is remembered. Beside it math-verify's
  parse and verify (`rivals/verdicts.py`).
- `c`: the same tapes and points, all formulas against all, through numba and through `core.c` (gcc -O2).
- `matrix`: 20 reference nodes against 30 formulas of a solution: as `grade` compares them, and by kernels alone.
- `start`: first compile and warm load of the kernels, each in a process of its own, with peak memory.
- `tables`: cost against the number of formulas, of variables, of instructions.

A time is the processor's, the best of several passes over all pairs, one pass dropped. A ratio is taken pair by pair
and at the medians; rivals run between two halves of our passes, so that a machine that slows down slows both. `shares`
say where the time goes, in per cent. No time here decides any test.

    python benchmarks/speed/equivalence.py [--data FOLDER] [--slice] [--json]

`--slice` takes every eleventh pair, and leaves out rivals and cold starts.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.material import DATA  # noqa: E402
from benchmarks.memories import forget  # noqa: E402
from benchmarks.rivals.algorithm_1 import times_of  # noqa: E402
from benchmarks.speed.calls import Call, bare, call_overhead, recorded, replayed  # noqa: E402
from benchmarks.speed.clocks import (  # noqa: E402
    PASSES,
    best,
    clock,
    figures,
    milliseconds,
    passes_us,
    ratios,
    seconds,
    shortest,
    usual,
    yardstick,
)
from benchmarks.speed.pool import Loops, Pool, c_compiler, loops_of_c, loops_of_numba, pool_of  # noqa: E402
from benchmarks.speed.sampling import Profile, sampled  # noqa: E402
from prism.algebra.expr import Expr, Formula, walk  # noqa: E402
from prism.algebra.operators import OPS  # noqa: E402
from prism.engine.kernels import source, warm  # noqa: E402
from prism.engine.lowering import build_tape  # noqa: E402
from prism.engine.tape import Tape  # noqa: E402
from prism.equivalence.matching import match  # noqa: E402
from prism.equivalence.points.trials import MIN_POINTS  # noqa: E402
from prism.physics.context import Context, parse  # noqa: E402

CASES = ROOT / "tests" / "cases" / "equivalence"
TOPICS = (
    "circuits", "dynamics", "electrostatics", "fluids", "kinematics", "magnetism", "optics", "oscillations_and_waves",
    "relativity_and_quantum", "statistics", "thermodynamics",
)  # fmt: skip
MECHANICS = ("kinematics", "dynamics", "oscillations_and_waves")  # they share symbols, as the formulas of one solution
DEV = "physics_pairs_dev.jsonl"
VERDICTS = ROOT / "benchmarks" / "rivals" / "verdicts.py"

RIVAL_LIMIT = 3600.0
SLICE = 11
NODES, CLAIMS = 20, 30
LOADS = 5  # processes that load compiled kernels; the first one is dropped
SAMPLED_SECONDS = 6.0


# Pairs. -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """Two equations as LaTeX, and whether their author calls them equivalent."""

    a: str
    b: str
    is_equivalent: bool


def written(topics: Sequence[str]) -> Iterator[tuple[Pair, list[Pair]]]:
    """Rows of the cases, each with its near-misses."""
    for topic in topics:
        for row in tomllib.loads((CASES / f"{topic}.toml").read_text("utf-8"))["case"]:
            if "context" not in row and is_plain(row["a"]) and is_plain(row["b"]):
                near = [Pair(row["a"], latex, False) for latex in row.get("near_misses", ()) if is_plain(latex)]
                yield Pair(row["a"], row["b"], row["expect"] == "equivalent"), near


def physics_pairs(folder: Path) -> list[Pair]:
    """The pairs of the module's docstring, in a fixed order."""
    pairs = []
    for count, (row, near) in enumerate(written(TOPICS)):
        pairs += [row, *(near[:1] if count % 3 == 0 else ())]
    if (folder / DEV).is_file():
        rows = [json.loads(line) for line in (folder / DEV).read_text("utf-8").splitlines()]
        pairs += [
            Pair(row["gold"], row["answer"], row["equal"])
            for row in rows
            if is_plain(row["gold"]) and is_plain(row["answer"])
        ]
    return pairs


def is_plain(latex: str) -> bool:
    """Whether this is one equation, all of which has a value."""
    try:
        f = prism.parse(latex)
    except prism.LatexSyntaxError:
        return False
    return f.kind == "equation" and all(OPS[node.op].opcode is not None for side in f.members for node in walk(side))


# Kernels of a pair. -----------------------------------------------------------------------------------------------


def calls_of(pair: Pair, module: ModuleType) -> list[Call]:
    """What the engine asks of the kernels for a pair."""
    calls: list[Call] = []
    forget()
    with recorded(module, calls):
        prism.equivalent(pair.a, pair.b)
    return calls


def kernel_times(pairs: Sequence[Pair], module: ModuleType, *, with_rival: bool) -> dict[str, Any]:
    """Kernels against Algorithm 1."""
    every = [calls_of(pair, module) for pair in pairs]
    needed = [(pair, calls, bare(calls)) for pair, calls in zip(pairs, every, strict=True) if bare(calls)]
    work = [four for _, _, four in needed]
    first = [replayed(work) for _ in range(PASSES)]
    rival = times_of([(pair.a, pair.b) for pair, _, _ in needed]) if with_rival else None
    passes = [*first, *(replayed(work) for _ in range(PASSES))]
    ours = best(passes)
    whole = best([replayed([calls for _, calls, _ in needed]) for _ in range(PASSES)])
    result = {
        "pairs": len(pairs),
        "without_kernels": len(pairs) - len(needed),
        "us": figures(ours),
        "us_equivalent": figures([t for t, (pair, _, _) in zip(ours, needed, strict=True) if pair.is_equivalent]),
        "us_different": figures([t for t, (pair, _, _) in zip(ours, needed, strict=True) if not pair.is_equivalent]),
        "us_median_of_passes": passes_us(passes),
        "us_all_calls_of_the_engine": figures(whole),
        "calls_of_the_engine": dict(sorted(_counted(calls for _, calls, _ in needed).items())),
        "us_of_one_call_without_work": {
            name: round(1e6 * call_overhead(name, every), 2)
            for name in ("find_zero_points", "cross_evaluate", "evaluate")
        },
    }
    if rival:
        once = usual(passes)  # the rival was run once, so ours is no best of many either
        result |= {"algorithm_1": rival.figures(), "us_beside_it": figures(once)}
        for name, wanted in (("ratio", (True, False)), ("ratio_equivalent", (True,)), ("ratio_different", (False,))):
            chosen = [place for place, (pair, _, _) in enumerate(needed) if pair.is_equivalent in wanted]
            result[name] = ratios([rival.seconds[place] for place in chosen], [once[place] for place in chosen])
    elif with_rival:
        result |= {"algorithm_1": {"skipped": "sympy is absent"}}
    return result


def _counted(work: Iterator[list[Call]]) -> dict[str, float]:
    """Calls of each kernel, on average over pairs."""
    total: dict[str, float] = {}
    n = 0
    for calls in work:
        n += 1
        for call in calls:
            total[call.name] = total.get(call.name, 0) + 1
    return {name: round(count / max(n, 1), 1) for name, count in total.items()}


# Strings. ---------------------------------------------------------------------------------------------------------


def cold_pass(pairs: Sequence[Pair]) -> list[float]:
    times = []
    for pair in pairs:
        forget()
        times.append(seconds(partial(prism.equivalent, pair.a, pair.b)))
    return times


def warm_pass(pairs: Sequence[Pair]) -> list[float]:
    times = []
    for pair in pairs:
        prism.equivalent(pair.a, pair.b)
        times.append(seconds(partial(prism.equivalent, pair.a, pair.b)))
    return times


def stream_pass(pairs: Sequence[Pair]) -> list[float]:
    forget()
    return [seconds(partial(prism.equivalent, pair.a, pair.b)) for pair in pairs]


def string_times(pairs: Sequence[Pair], module: ModuleType, *, with_rival: bool) -> dict[str, Any]:
    """`prism.equivalent` on strings against math-verify."""
    kinds = {"cold": cold_pass, "stream": stream_pass, "warm": warm_pass}
    passes = {kind: [run(pairs) for _ in range(PASSES + 1)][1:] for kind, run in kinds.items()}
    rival = math_verify(pairs) if with_rival else {}
    for kind, run in kinds.items():
        passes[kind] += [run(pairs) for _ in range(PASSES)]
    ours = {kind: best(found) for kind, found in passes.items()}
    statuses = [prism.equivalent(pair.a, pair.b).status for pair in pairs]
    result: dict[str, Any] = {
        "statuses": {status: statuses.count(status) for status in sorted(set(statuses))},
        **{f"us_{kind}": figures(times) for kind, times in ours.items()},
        "us_median_of_cold_passes": passes_us(passes["cold"]),
        "shares_cold": shares(lambda: cold_pass(pairs), module),
        "shares_warm": shares(lambda: warm_pass(pairs), module),
    }
    if "rows" in rival:
        ended = [row["status"] for row in rival["rows"]]
        theirs = [row["seconds"] for row in rival["rows"]]
        decided = [place for place, status in enumerate(ended) if status in ("equal", "different")]
        result["math_verify"] = {
            "versions": rival["versions"],
            "ms": figures(theirs, 1e3, 3),
            "outcomes": {status: ended.count(status) for status in sorted(set(ended))},
            "right": sum(
                status == ("equal" if pair.is_equivalent else "different")
                for status, pair in zip(ended, pairs, strict=True)
            ),
        }
        result["ratio"] = {kind: ratios(theirs, times) for kind, times in ours.items()}
        result["ratio_where_it_decides"] = {
            kind: ratios([theirs[place] for place in decided], [times[place] for place in decided])
            for kind, times in ours.items()
        }
    elif rival:
        result["math_verify"] = rival
    return result


def shares(work: Callable[[], object], module: ModuleType) -> dict[str, Any]:
    """Where the time of some work goes."""
    profile = Profile()
    with sampled(profile, module):
        end = clock() + SAMPLED_SECONDS
        while clock() < end:
            work()
    return profile.shares()


def math_verify(pairs: Sequence[Pair]) -> dict[str, Any]:
    """The same pairs in math-verify, in its own environment."""
    python = Path(os.environ.get("PRISM_BENCH_PYTHON") or ROOT / ".venv-bench" / "bin" / "python")
    if not python.exists():
        return {"skipped": "its environment is absent; `make bench` builds it"}
    asked = json.dumps([[pair.a, pair.b] for pair in pairs])
    command = [str(python), "-I", str(VERDICTS)]
    try:
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False, timeout=RIVAL_LIMIT)
    except subprocess.TimeoutExpired:
        return {"skipped": f"not done after {RIVAL_LIMIT:.0f} s"}
    if done.returncode:
        return {"skipped": (done.stderr.strip().splitlines() or ["no reason given"])[-1]}
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


# Tapes in C. ------------------------------------------------------------------------------------------------------


def tapes_of(latex: Sequence[str]) -> list[Tape]:
    """Tapes of equations that have one residual; no integral or infinite sum."""
    found = []
    for text in dict.fromkeys(latex):
        members = prism.parse(text).members
        tape = build_tape(Expr("sub", (members[0], members[1])))
        if len(tape.roots) == 1 and tape.names and not tape.is_estimate:
            found.append(tape)
    return found


def against_c(loops: Loops, pool: Pool) -> dict[str, Any]:
    """Every formula at the points of every other, in numba and in C."""
    compiler = c_compiler()
    if compiler is None:
        return {"skipped": "no C compiler on this machine"}
    with tempfile.TemporaryDirectory() as folder:
        c = loops_of_c(compiler, Path(folder))
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
        result: dict[str, Any] = {
            "compiler": version.splitlines()[0],
            "formulas": pool.n,
            "pairs": pool.n**2,
            "agreement": agreement(loops, c, pool),
        }
        for name, work in (("crossings", "cross"), ("evaluations_and_gradients", "evaluate")):
            numba, gcc = [], []
            for _ in range(4 * PASSES):  # one after the other, so that both meet the same machine
                numba.append(seconds(partial(getattr(loops, work), pool)))
                gcc.append(seconds(partial(getattr(c, work), pool)))
            each = sorted(ours / theirs for ours, theirs in zip(numba, gcc, strict=True))
            result[name] = {
                "numba_ms": milliseconds(sorted(numba)),
                "c_ms": milliseconds(sorted(gcc)),
                "numba_over_c": {
                    "of_bests": round(min(numba) / min(gcc), 2),
                    "median": round(statistics.median(each), 2),
                    "min": round(each[0], 2),
                    "max": round(each[-1], 2),
                },
            }
    return result


def agreement(numba: Loops, c: Loops, pool: Pool) -> dict[str, Any]:
    """Whether C says the same: every count, mask and mismatch of every pair, every flag; values within their bounds."""
    ours, theirs = numba.cross(pool), c.cross(pool)
    flags, values, bounds, slopes = numba.evaluate(pool)
    flags_c, values_c, bounds_c, slopes_c = c.evaluate(pool)
    gap = np.abs(values - values_c)
    return {
        "pairs_that_differ": int(np.any(ours != theirs, axis=2).sum()),
        "verdicts_that_differ": int((ours[..., source.MISMATCH] != theirs[..., source.MISMATCH]).sum()),
        "flags": len(flags),
        "flags_that_differ": int((flags != flags_c).sum()),
        "values_beyond_their_bound": int((gap > bounds + bounds_c).sum()),
        "values_of_other_bits": int((values != values_c).sum()),
        "bounds_of_other_bits": int((bounds != bounds_c).sum()),
        "gradients_of_other_bits": int((slopes != slopes_c).sum()),
    }


# A matrix of nodes and claims. ------------------------------------------------------------------------------------


def nodes_and_claims() -> tuple[list[str], list[str]]:
    """Reference formulas, and what a solution says: each row's other form, then near-misses."""
    rows = list(written(MECHANICS))[:NODES]
    said = [row.b for row, _ in rows] + [near[0].b for _, near in rows if near]
    return [row.a for row, _ in rows], said[:CLAIMS]


def compare_all(references: Sequence[Formula], claims: Sequence[Formula]) -> int:
    """As `grade` compares them; how many match."""
    context = Context()
    verdicts = [match(node, claim, context) for claim in claims for node in references]
    return sum(verdict.status == "equivalent" for verdict in verdicts)


def matrix(loops: Loops, module: ModuleType) -> dict[str, Any]:
    """20 nodes against 30 claims, stage by stage."""
    nodes, said = nodes_and_claims()
    context = Context()

    def read() -> list[Formula]:
        return [parse(latex, context=context) for latex in (*nodes, *said)]

    def graded() -> int:
        read_again = read()
        return compare_all(read_again[: len(nodes)], read_again[len(nodes) :])

    def cold(work: Callable[[], object]) -> dict[str, float]:
        times = []
        for _ in range(PASSES + 1):
            forget()
            times.append(seconds(work))
        return milliseconds(sorted(times[1:]))

    def prepared_pass() -> float:
        """References known, as in a class of students: only the solution is new."""
        forget()
        references = [parse(latex, context=context) for latex in nodes]
        compare_all(references, references)
        return seconds(lambda: compare_all(references, [parse(latex, context=context) for latex in said]))

    def tapes() -> list[Tape]:
        return [build_tape(Expr("sub", f.members[:2])) for f in read()]

    def first_seen() -> int:
        forget()
        return graded()

    read_ms, tape_ms = cold(read), milliseconds(shortest(tapes))
    every = tapes()
    pool = pool_of(every)
    stages = {
        "parse": read_ms,
        "tapes": tape_ms,
        "draws_and_layout": cold(lambda: pool_of(every)),
        "points": milliseconds(shortest(lambda: fill(loops, pool), 4 * PASSES)),
        "pairs": milliseconds(shortest(lambda: pairs_of_matrix(loops, pool, len(nodes)), 4 * PASSES)),
    }
    out = pairs_of_matrix(loops, pool, len(nodes))
    agreed = (out[..., source.MISMATCH] < 0) & (out[..., source.AGREED] >= MIN_POINTS)
    prepared = sorted([prepared_pass() for _ in range(PASSES + 1)][1:])
    return {
        "nodes": len(nodes),
        "claims": len(said),
        "ms_as_grade_compares": cold(graded),
        "ms_as_grade_compares_references_known": milliseconds(prepared),
        "ms_as_grade_compares_all_known": milliseconds(shortest(graded)),
        "matches": graded(),
        "ms_by_kernels": {**stages, "sum_of_bests": round(sum(stage["best"] for stage in stages.values()), 3)},
        "matches_by_kernels": int((agreed & agreed.swapaxes(0, 1))[: len(nodes), len(nodes) :].sum()),
        "shares_as_grade_compares": shares(first_seen, module),
        "shares_references_known": shares(prepared_pass, module),
    }


def fill(loops: Loops, pool: Pool) -> None:
    assert loops.fill is not None
    loops.fill(pool)


def pairs_of_matrix(loops: Loops, pool: Pool, n_node: int) -> np.ndarray[Any, Any]:
    """Crossings of nodes and claims, both ways: not of nodes with nodes, nor of claims with claims."""
    return loops.cross(pool, n_node)


# Cold starts. -----------------------------------------------------------------------------------------------------

START = """
import json, time
def spent():
    return time.perf_counter(), time.process_time()
def memory():  # ru_maxrss would count what the parent held before this program was loaded
    with open("/proc/self/status") as lines:
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
def between(a, b):
    return [b[0] - a[0], b[1] - a[1]]
found = {"bare_mb": memory()}
start = spent()
import prism.equivalence.matching, prism.grading.pipeline
found["prism"] = between(start, spent())
found["prism_mb"] = memory()
start = spent()
import numba
found["numba"] = between(start, spent())
found["numba_mb"] = memory()
from prism.engine.kernels import marking
each = {}
plain = marking.marker
def timed(module):
    mark = plain(module)
    def with_signature(signature):
        decorate = mark(signature)
        def of(function):
            start = spent()
            kernel = decorate(function)
            each[function.__name__] = between(start, spent())
            return kernel
        return of
    return with_signature
marking.marker = timed
start = spent()
from prism.engine.kernels import warm
warm()
found["kernels"] = between(start, spent())
found["kernels_mb"] = memory()
start = spent()
prism.equivalent("2 h = g t^2", "g = 2 h / t^2")
found["first_pair"] = between(start, spent())
found["worker_mb"] = memory()
found["each"] = each
print(json.dumps(found))
"""


def started(cache: Path) -> dict[str, Any]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PRISM_KERNELS": "compiled", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", START], env=environment, capture_output=True, text=True, check=True, cwd=ROOT
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def starts() -> dict[str, Any]:
    """Seconds on the clock, and of the processor, to compile and to load; megabytes at the most. Linux only."""
    if not Path("/proc/self/status").exists():
        return {"skipped": "no /proc on this machine"}
    with tempfile.TemporaryDirectory() as folder:
        first = started(Path(folder))
        loads = [started(Path(folder)) for _ in range(LOADS + 1)][1:]
        files = [path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()]

    def of(key: str, place: int) -> dict[str, float]:
        values = sorted(float(load[key][place]) for load in loads)
        return {
            "median": round(statistics.median(values), 3), "min": round(values[0], 3), "max": round(values[-1], 3)
        }  # fmt: skip

    slowest = sorted(first["each"], key=lambda name: -first["each"][name][1])
    steps = ("prism", "numba", "kernels", "first_pair")
    return {
        "first_compile_s": {"clock": round(first["kernels"][0], 2), "processor": round(first["kernels"][1], 2)},
        "first_compile_processor_s_of": {name: round(first["each"][name][1], 2) for name in slowest},
        "load_s": {step: {"clock": of(step, 0), "processor": of(step, 1)} for step in steps},
        "load_processor_s_of": {
            name: round(statistics.median(load["each"][name][1] for load in loads), 3) for name in slowest[:10]
        },
        "cache_mb": round(sum(files) / 2**20, 2),
        "peak_mb": {
            step: round(max(load[f"{step}_mb"] for load in loads), 1)
            for step in ("bare", "prism", "numba", "kernels", "worker")
        },
        "peak_mb_while_compiling": round(first["kernels_mb"], 1),
    }


# Tables. ----------------------------------------------------------------------------------------------------------


def sum_of_products(n: int) -> Pair:
    """2 n + 1 variables, solved for two of them."""
    terms = [f"a_{{{i}}} b_{{{i}}}" for i in range(1, n + 1)]
    rest = "".join(f" - {term}" for term in terms[1:])
    return Pair("y = " + " + ".join(terms), rf"a_{{1}} = \frac{{y{rest}}}{{b_{{1}}}}", True)


def series(n: int) -> Pair:
    """Terms in two variables, one over and over; divided by it, in another order."""
    terms = [rf"\frac{{x^{{{i}}}}}{{{i * i + 1}}}" for i in range(1, n + 1)]
    divided = [rf"\frac{{x^{{{i - 1}}}}}{{{i * i + 1}}}" for i in range(n, 0, -1)]
    return Pair("y = " + " + ".join(terms), r"\frac{y}{x} = " + " + ".join(divided), True)


def waves(n: int) -> Pair:
    """Sines, solved for an amplitude."""
    terms = [rf"A_{{{i}}} \sin({i + 1} k x + {i} \omega t)" for i in range(1, n + 1)]
    rest = "".join(f" - {term}" for term in terms[1:])
    first = r"\sin(2 k x + \omega t)"
    return Pair("y = " + " + ".join(terms), rf"A_{{1}} = \frac{{y{rest}}}{{{first}}}", True)


GROWING = {
    "variables": (sum_of_products, (1, 2, 4, 8, 16)),
    "terms of a power series": (series, (2, 4, 8, 16, 32)),
    "sines": (waves, (1, 2, 4, 8, 16)),
}


def growth(module: ModuleType) -> dict[str, list[dict[str, Any]]]:
    """Cost of one pair against its size."""
    table: dict[str, list[dict[str, Any]]] = {}
    for name, (make, sizes) in GROWING.items():
        table[name] = []
        for size in sizes:
            pair = make(size)
            tapes = tapes_of((pair.a, pair.b))
            calls = calls_of(pair, module)
            four = bare(calls)
            verdict = prism.equivalent(pair.a, pair.b)
            table[name].append({
                "size": size,
                "variables": len(tapes[0].names),
                "instructions": [tape.n_op for tape in tapes],
                "status": f"{verdict.status}: {verdict.reason}",
                "us_kernels": round(1e6 * min(replayed([four])), 1) if four else None,
                "us_all_calls": round(1e6 * min(replayed([calls])), 1),
                "us_cold": round(1e6 * min(cold_pass([pair] * PASSES)), 1),
                "us_warm": round(1e6 * min(warm_pass([pair] * PASSES)), 1),
            })  # fmt: skip
    return table


def numbers_of_formulas(loops: Loops, latex: Sequence[str], sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Cost of all formulas against all, by kernels alone, and as `prism.equivalent` is called."""
    table = []
    for n in sizes:
        chosen = list(dict.fromkeys(latex))[:n]
        pool = pool_of(tapes_of(chosen))
        half = len(chosen) // 2
        row = {
            "formulas": pool.n,
            "pairs": pool.n**2,
            "ms_points": round(1e3 * shortest(partial(fill, loops, pool))[0], 3),
            "ms_pairs": round(1e3 * shortest(partial(loops.cross, pool))[0], 3),
        }
        row["us_points_a_formula"] = round(1e3 * row["ms_points"] / pool.n, 2)
        row["us_a_crossing"] = round(1e3 * row["ms_pairs"] / pool.n**2, 3)
        if n <= 40:
            forget()
            formulas = [prism.parse(text) for text in chosen]
            once = seconds(partial(compare_all, formulas[:half], formulas[half:]))
            row["us_a_pair_as_grade_compares"] = round(1e6 * once / (half * (len(chosen) - half)), 1)
        table.append(row)
    return table


# Reporting. -------------------------------------------------------------------------------------------------------


def show(found: Any, indent: int = 0) -> None:
    """Nested figures, one a line."""
    for key, value in found.items():
        if isinstance(value, dict) and any(isinstance(part, dict | list) for part in value.values()):
            print(f"{'':{indent}}{key}")
            show(value, indent + 2)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            print(f"{'':{indent}}{key}")
            for row in value:
                print(f"{'':{indent + 2}}" + ", ".join(f"{name} {part}" for name, part in row.items()))
        elif isinstance(value, dict):
            print(f"{'':{indent}}{key}: " + ", ".join(f"{name} {part}" for name, part in value.items()))
        else:
            print(f"{'':{indent}}{key}: {value}")


PARTS = ("kernels", "strings", "c", "matrix", "start", "tables")


def measured(parts: Sequence[str], folder: Path, *, small: bool) -> dict[str, Any]:
    """All that was asked for, in one process with compiled kernels."""
    module = warm()
    every = physics_pairs(folder)
    pairs = every[::SLICE] if small else every
    latex = [text for pair in pairs for text in (pair.a, pair.b)]
    loops = loops_of_numba(module)
    result: dict[str, Any] = {"yardstick_ms": {"before": yardstick()}}
    if "kernels" in parts:
        result["kernels"] = kernel_times(pairs, module, with_rival=not small)
    if "strings" in parts:
        result["strings"] = string_times(pairs, module, with_rival=not small)
    if "c" in parts:
        pool = pool_of(tapes_of(latex))
        fill(loops, pool)
        result["c"] = against_c(loops, pool)
    if "matrix" in parts:
        result["matrix"] = matrix(loops, module)
    if "start" in parts and not small:
        result["start"] = starts()
    if "tables" in parts:
        sizes = (10, 20) if small else (10, 20, 40, 80, 160, 320)
        result["tables"] = {"formulas": numbers_of_formulas(loops, latex, sizes), **growth(module)}
    result["yardstick_ms"]["after"] = yardstick()
    return result


def main() -> int:
    parser = script.parser("What deciding the equivalence of two physics equations costs.", data=DATA)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"all of them, or some: {', '.join(PARTS)}")
    parser.add_argument("--slice", action="store_true", help="every eleventh pair; no rivals, no cold starts")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part is named {', '.join(sorted(unknown))}")
    os.environ["PRISM_KERNELS"] = "compiled"
    result = measured(options.parts or PARTS, options.data, small=options.slice)
    script.tell(result, show, as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
