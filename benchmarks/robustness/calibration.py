r"""Does an operation cost the same everywhere? Processor time over charged operations, on inputs of every construct.

Families: a construct that grows with a number n, as n delta functions below n integrals, a derivative of order n of an
unknown function, a commutator of n factors; and composites of them, drawn by the seed. Each goes through the calls at
n = 1, 2, 3, 4, 6, 8, ... until it takes more than `LAST` seconds, each time in a process forked from one that is warm,
three times, of which the fastest counts. Kept are inputs that take more than `LEAST` seconds.

`--slice`, which CI runs, looks at no clock: in place of time it counts the calls of functions, Python's and C's, that
the profiler of the interpreter sees, of a few inputs.

A finding is an input whose processor time over charged operations is more than `APART` times the median of all inputs,
or one that takes more than `MAX_CPU`. Cheaper than the median finds nothing: a bound that is too careful is none.

    python benchmarks/robustness/calibration.py [--families WORD ...] [--calls WORD ...] [--composites N]
        [--times N] [--slice] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.robustness import costs  # noqa: E402
from prism import budget  # noqa: E402
from prism.authoring.drafting import draft  # noqa: E402

SIZES: Final = (1, 2, 4, 8, 16, 32, 128)
LEAST: Final = 0.02  # seconds from which on the clock says something
LAST: Final = 0.5  # seconds after which a family is not grown further
MAX_CPU: Final = 1.0  # seconds, promised for an input
APART: Final = 5.0  # times the median
A_CALL: Final = 2e-7  # seconds that a counted call stands for
SLICE: Final = (
    ("interpret", "delta functions", 1), ("interpret", "delta functions of a wide function", 1),
    ("interpret", "integrals of an unknown function", 1), ("interpret", "integral of a product", 2),
    ("interpret", "derivative of order", 2), ("interpret", "derivatives in each other", 1),
    ("interpret", "derivative of functions in each other", 2), ("interpret", "commutator of a product", 2),
    ("interpret", "power of an operator", 4), ("interpret", "products of matrices", 2),
    ("interpret", "determinant", 4), ("interpret", "sum over an array", 1), ("interpret", "products in each other", 1),
    ("interpret", "tensors", 2), ("interpret", "cases", 1), ("interpret", "whole powers", 8),
    ("interpret", "curls in each other", 2), ("interpret", "values at a place", 4),
    ("diagnose text", "unknown derivatives", 4), ("draft", "boxes of one letter", 16), ("draft", "definitions", 4),
)  # fmt: skip
"""Inputs of the slice: call, family and size."""
CAP: Final = 20  # seconds of processor time after which a process is ended
TIMES: Final = 3  # of which the fastest counts
COMPOSITES: Final = 60
SEED: Final = 20261128
LETTERS: Final = "abcdghkmpqrsuvw"


def _names(letter: str, n: int) -> list[str]:
    return [f"{letter}_{{{k}}}" for k in range(1, n + 1)]


def _deltas(n: int, *, more: int = 0) -> str:
    places, values = _names("x", n), _names("a", n)
    before = "".join(rf"\int_{{-\infty}}^{{\infty}}\delta({x}-{a})" for x, a in zip(places, values, strict=True))
    return before + f"f({','.join([*places, *_names('y', more)])})" + "".join(rf"\,d{x}" for x in reversed(places))


def _nested(template: str, inside: str, n: int) -> str:
    for k in range(1, n + 1):
        inside = template.replace("@", inside).replace("#", str(k))
    return inside


def _operators(n: int) -> str:
    return " ".join(rf"\hat{{A}}_{{{k}}}" for k in range(n))


def _matrix(n: int) -> str:
    rows = r" \\ ".join(" & ".join(f"a_{{{r}{c}}}" for c in range(1, n + 1)) for r in range(1, n + 1))
    return rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}"


FAMILIES: Final[dict[str, Callable[[int], str]]] = {
    "delta functions": _deltas,
    "delta functions of a wide function": lambda n: _deltas(2, more=4 * n),
    "integrals of an unknown function": lambda n: (
        r"\int_0^1" * n + f"f({','.join(_names('x', n))})" + "".join(rf"\,d{x}" for x in _names("x", n))
    ),
    "integrals over the line": lambda n: _nested(r"\int_{-\infty}^{\infty} e^{-x_{#}^2} @ \,dx_{#}", "f(x_1)", n),
    "integral of a product": lambda n: r"\int_0^1 " + "".join(f"f_{{{k}}}(x)" for k in range(n)) + r"\,dx",
    "integral of special functions": lambda n: r"\int_0^1 x " + "".join(f"J_{{{k}}}(x)" for k in range(n)) + r"\,dx",
    "wide function": lambda n: rf"\frac{{d}}{{dt}} f(t,{','.join(_names('y', 4 * n))})",
    "derivative of order": lambda n: rf"\frac{{d^{{{n}}}}}{{dx^{{{n}}}}} f(x)",
    "derivative of order, cubed": lambda n: rf"\left(\frac{{d^{{{n}}}}}{{dx^{{{n}}}}} f(x)\right)^3",
    "power of a derivative": lambda n: rf"\left(\frac{{d^2}}{{dx^2}} f(x)\right)^{{{n}}}",
    "derivatives in each other": lambda n: _nested(r"\frac{d}{dx}\left(x @\right)", "f(x)", n),
    "derivative of functions in each other": lambda n: rf"\frac{{d}}{{dx}} {_nested('f(@)', 'x', n)}",
    "second derivative of functions in each other": lambda n: rf"\frac{{d^2}}{{dx^2}} {_nested('f(@)', 'x', n)}",
    "derivative of a product": lambda n: r"\frac{d^2}{dx^2}\left(" + "".join(f"f_{{{k}}}(x)" for k in range(n)) + ")",
    "mixed derivatives": lambda n: "+".join(
        rf"\frac{{\partial^2}}{{\partial x \partial y}} f_{{{k}}}(x,y)" for k in range(n)
    ),
    "primes": lambda n: "+".join(f"f_{{{k}}}''(x)" for k in range(n)),
    "commutators in each other": lambda n: _nested(r"[\hat{A}, @]", r"\hat{B}", n),
    "commutator of a product": lambda n: rf"[{_operators(n)}, \hat{{B}}]",
    "product of commutators": lambda n: "".join(rf"[\hat{{A}}_{{{k}}}, \hat{{B}}]" for k in range(n)),
    "power of an operator": lambda n: rf"[\hat{{A}}^{{{n}}}, \hat{{B}}]",
    "ladder operators": lambda n: rf"\langle m | (\hat{{a}} + \hat{{a}}^\dagger)^{{{n}}} | m \rangle",
    "angular momenta": lambda n: rf"[\hat{{L}}_x, \hat{{L}}_y^{{{n}}}]",
    "place and momentum": lambda n: rf"[\hat{{x}}^{{{n}}}, \hat{{p}}]",
    "matrix elements": lambda n: rf"\langle\psi|{_operators(n)}|\phi\rangle",
    "determinant": lambda n: rf"\det {_matrix(n)}",
    "power of a matrix": lambda n: rf"\operatorname{{tr}} {_matrix(3)}^{{{n}}}",
    "products of matrices": lambda n: r"\operatorname{tr}(" + _matrix(n) + _matrix(n) + ")",
    "exponential of a matrix": lambda n: rf"\operatorname{{tr}} e^{{{_matrix(n)}}}",
    "sums in each other": lambda n: _nested(r"\sum_{k_{#}=1}^{2} @", "f(k_1)", n),
    "sum over an array": lambda n: r"\sum_{i} \left(" + "+".join(f"x_i^{{{k}}} y_i" for k in range(1, n + 1)) + ")",
    "sums over arrays": lambda n: _nested(r"\sum_{i} x_i @", r"\sum_{j} y_j f(x_j)", n),
    "products in each other": lambda n: _nested(r"\prod_{k_{#}=1}^{2} @", "f(k_1)", n),
    "infinite sum": lambda n: r"\sum_{k=1}^{\infty} \frac{1}{k!} \left(" + "+".join(_names("q", n)) + r"\right)^k",
    "sum of special functions": lambda n: "+".join(rf"\frac{{d}}{{dx}} K_{{{k}}}(x)" for k in range(n)),
    "special functions in each other": lambda n: _nested(r"J_{#}\left(@\right)", "x", n),
    "derivatives of a special function": lambda n: rf"\frac{{d^{{{n}}}}}{{dx^{{{n}}}}} J_2(x)",
    "polynomial of high order": lambda n: rf"\frac{{d}}{{dx}} P_{{{n}}}(x)",
    "gamma functions": lambda n: "".join(rf"\Gamma(x + {k})" for k in range(n)),
    "gradient": lambda n: r"\nabla \left(" + "".join(f"f_{{{k}}}" for k in range(n)) + ")",
    "laplacians in each other": lambda n: _nested(r"\nabla^2 \left(@\right)", r"\phi", n),
    "curls in each other": lambda n: _nested(r"\nabla \times \left(@\right)", r"\vec{E}", n),
    "divergences": lambda n: "+".join(rf"\nabla \cdot (\phi_{{{k}}} \vec{{E}})" for k in range(n)),
    "cross products": lambda n: r"\vec{c} \cdot " + _nested(r"\left(\vec{a} \times @\right)", r"\vec{b}", n),
    "tensors": lambda n: "".join(f"T_{{{a}{b}}}" for a, b in zip("ijklmn"[:n], "jklmni"[:n], strict=True)),
    "tensor equation": lambda n: "+".join(rf"\partial_\mu F_{{{k}}}^{{\mu\nu}} A_\nu" for k in range(n)),
    "cases": lambda n: _nested(r"\begin{cases} @ & x < # \\ x^{#} & x \ge # \end{cases}", "x", n),
    "steps": lambda n: "+".join(rf"\Theta(x-{k}) f(x)" for k in range(n)),
    "maxima": lambda n: _nested(r"\max(@, q_{#})", "q", n),
    "absolute values": lambda n: _nested(r"\left|@ - #\right|", "x", n),
    "limits in each other": lambda n: _nested(r"\lim_{x_{#} \to 0} \frac{\sin(x_{#} @)}{x_{#}}", "q", n),
    "limit of a quotient": lambda n: rf"\lim_{{h \to 0}} \frac{{f(x+h)^{{{n}}} - f(x)^{{{n}}}}}{{h}}",
    "whole powers": lambda n: rf"\frac{{d}}{{dx}} \left(f(x) + q\right)^{{{min(n, 64)}}}",
    "sum of sums": lambda n: "".join(rf"\left(\frac{{d f(x)}}{{dx}} + q_{{{k}}}\right)" for k in range(n)),
    "fourier integrals": lambda n: rf"\int_{{-\infty}}^{{\infty}} x^{{{n}}} e^{{-x^2}} e^{{i k x}} \,dx",
    "values at a place": lambda n: "+".join(rf"\left.\frac{{df_{{{k}}}}}{{dx}}\right|_{{x={k}}}" for k in range(n)),
}
"""Right sides of an equation, by construct."""

TEXTS: Final[dict[str, Callable[[int], str]]] = {
    "boxes of one letter": lambda n: r"$\boxed{V=iq}$ or " * n,
    "boxes": lambda n: " ".join(rf"$\boxed{{V_{{{k}}} = {k} q}}$ or" for k in range(n)),
    "definitions": lambda n: (
        " ".join(f"Let $x_{{{k + 1}}} = x_{{{k}}}^2 + q$." for k in range(n)) + f" $V = x_{{{n}}}$."
    ),
    "same definition": lambda n: " ".join(f"$x_{{{k}}} = a b$." for k in range(n)),
    "unknown derivatives": lambda n: " ".join(f"$V = {k} f_{{{k}}}''(r)$." for k in range(1, n + 1)),
    "functions in each other": lambda n: " ".join(f"$V = {k} {_nested('f(@)', 'r', k)}$." for k in range(1, n + 1)),
    "repairs": lambda n: " ".join(rf"$V = \frac{{{k} q}}{{r^2 + {k} q r}}$." for k in range(1, n + 1)),
    "integrals": lambda n: " ".join(rf"$V = {k} \int_0^r f(x)\,dx$." for k in range(1, n + 1)),
    "sums": lambda n: " ".join(rf"$V = {k} \sum_{{i}} \frac{{q_i}}{{r_i}}$." for k in range(1, n + 1)),
}
"""Texts of a solution, which are graded, diagnosed and made into a draft."""

FORMULA_CALLS: Final = ("interpret", "equivalent", "grade", "diagnose", "verify")
TEXT_CALLS: Final = ("grade text", "diagnose text", "draft", "lint")


@dataclass(frozen=True, slots=True)
class Input:
    """One family at one size, through one call."""

    call: str
    family: str
    n: int
    text: str


@dataclass(slots=True)
class Timing:
    """What an input took: the fastest of some times, and what was charged."""

    call: str
    family: str
    n: int
    characters: int
    cpu: float
    operations: int
    outcome: str

    @property
    def per_operation(self) -> float:
        """Nanoseconds of processor time for an operation."""
        return 1e9 * self.cpu / max(self.operations, 1)


def composites(number: int, seed: int) -> dict[str, Callable[[int], str]]:
    """Sums, products and powers of two families, drawn by the seed."""
    draw = random.Random(seed)
    found: dict[str, Callable[[int], str]] = {}
    for _ in range(number):
        one, two = draw.sample(sorted(FAMILIES), 2)
        shape = draw.choice((r"{} + {}", r"\left({}\right) \left({}\right)", r"\left({} + {}\right)^2"))
        name = f"{one} and {two} as {shape}"
        found[name] = lambda n, one=one, two=two, shape=shape: shape.replace("{}", "%s") % (  # type: ignore[misc]
            FAMILIES[one](n), FAMILIES[two](n)
        )  # fmt: skip
    return found


def interpret(a: str, b: str) -> str:
    """Compare two formulas under random interpretations, whether or not algebra decides them."""
    from prism.equivalence.interpretation.decision import compare_by_interpretation
    from prism.physics.context import Context, parse

    context = Context()
    outcome = compare_by_interpretation(parse(a, context=context), parse(b, context=context), context)
    return f"{outcome.same} {outcome.why}"


def _problem(latex: str) -> dict[str, Any]:
    node = {"index": 1, "formula": latex, "dependency": [], "is_final_answer": True}
    return {"id": "calibration", "context": "Find $V$.", "grading_standard": [node]}


def perform(asked: Input) -> str:
    """Make one call; what came of it in a word or two."""
    text = asked.text
    match asked.call:
        case "interpret":
            with budget.share(budget.INTERPRETED) as work:
                return interpret(f"V = {text}", f"3 V = 2 \\left({text}\\right) + V")
            return f"too_large {work.is_exhausted}"
        case "equivalent":
            verdict = prism.equivalent(f"V = {text}", f"2 V = 2 \\left({text}\\right)")
            return f"{verdict.status} {verdict.reason}"
        case "grade":
            return prism.grade(_problem(f"V = {text}"), f"So $2 V = 2 \\left({text}\\right)$.").status
        case "diagnose":
            problem = prism.prepare(prism.load_problem(_problem(f"V = {text}")))
            found = prism.diagnose(problem, prism.grade(problem, f"So $V = 2 \\left({text}\\right)$."))
            return str(len(found.findings))
        case "verify":
            return prism.verify(f"V = {text}", f"So $\\boxed{{2 V = 2 \\left({text}\\right)}}$.").status
        case "grade text":
            return prism.grade(costs.PROBLEM, text).status
        case "diagnose text":
            problem = prism.prepare(prism.load_problem(costs.PROBLEM))
            return str(len(prism.diagnose(problem, prism.grade(problem, text)).findings))
        case "draft":
            return str(len(draft(text, problem="Find $V$.").nodes))
        case _:
            return str(len(prism.lint(costs.problem_with("context", text))))


def timed(asked: Input) -> Timing:
    """Time one call in this process."""
    with budget.share(math.inf) as account:
        begun = time.process_time()
        try:
            outcome = perform(asked)
        except prism.PrismError as error:
            outcome = type(error).__name__
        cpu = time.process_time() - begun
    return Timing(asked.call, asked.family, asked.n, len(asked.text), cpu, account.spent, outcome)


def counted(asked: Input) -> Timing:
    """Count the calls of functions in one call: the same on every machine, each taken for `A_CALL` seconds."""
    calls = 0

    def count(_frame: object, event: str, _what: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        found = timed(asked)
    finally:
        sys.setprofile(None)
    found.cpu = calls * A_CALL
    return found


def _forked(asked: Input, measure: Callable[[Input], Timing]) -> Timing | None:
    """Measure one call in a process of its own, which knows nothing of it; None if it was ended."""
    inward, outward = os.pipe()
    pid = os.fork()
    if not pid:
        used = math.ceil(time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (used + CAP, used + CAP))
        os.write(outward, json.dumps(asdict(measure(asked))).encode())
        os._exit(0)
    os.close(outward)
    with os.fdopen(inward, "rb") as pipe:
        heard = pipe.read()
    os.waitpid(pid, 0)
    return Timing(**json.loads(heard)) if heard else None


def fastest(asked: Input, times: int) -> Timing:
    """Time one call some times; the fastest, or the cap where it was ended."""
    best: Timing | None = None
    for _ in range(times):
        found = _forked(asked, timed)
        if found is None:
            return Timing(asked.call, asked.family, asked.n, len(asked.text), CAP, 0, "ended")
        best = found if best is None or found.cpu < best.cpu else best
        if best.cpu < LEAST / 2:
            break
    assert best is not None
    return best


def all_timings(asked: argparse.Namespace) -> Iterator[Timing]:
    """Time all families through all calls, each until it takes long."""
    formulas = {**FAMILIES, **composites(asked.composites, asked.seed)}
    jobs = [(call, name, formulas[name]) for name in formulas for call in FORMULA_CALLS]
    jobs += [(call, name, text) for name, text in TEXTS.items() for call in TEXT_CALLS]
    for call, name, text in jobs:
        if asked.families and not any(word in name for word in asked.families):
            continue
        if asked.calls and not any(word == call for word in asked.calls):
            continue
        for n in SIZES:
            if len(text(n)) > costs.MAX_CHARACTERS:
                break
            found = fastest(Input(call, name, n, text(n)), asked.times)
            if found.cpu >= LEAST:
                yield found
            if found.cpu > LAST or "too_large" in found.outcome:
                break


def sliced() -> Iterator[Timing]:
    """Count the calls of the inputs of the slice."""
    for call, name, n in SLICE:
        found = _forked(Input(call, name, n, {**FAMILIES, **TEXTS}[name](n)), counted)
        yield found or Timing(call, name, n, 0, CAP, 0, "ended")


def summary(timings: list[Timing], *, by_clock: bool) -> dict[str, Any]:
    """The median, the dearest ten, the ten that are charged least, and findings."""
    middle = statistics.median(each.per_operation for each in timings) if timings else 0.0
    rows = sorted(timings, key=lambda each: -each.per_operation)
    wrong = [each for each in rows if each.per_operation > APART * middle or (by_clock and each.cpu > MAX_CPU)]
    return {
        "inputs": len(timings),
        "median_nanoseconds": round(middle, 1),
        "largest_factor": round(rows[0].per_operation / middle, 2) if rows else 0.0,
        "smallest_factor": round(rows[-1].per_operation / middle, 2) if rows else 0.0,
        "dearest": [_row(each, middle) for each in sorted(timings, key=lambda each: -each.cpu)[:10]],
        "least_charged": [_row(each, middle) for each in rows[:10]],
        "most_charged": [_row(each, middle) for each in rows[-10:]],
        "findings": [_row(each, middle) for each in wrong],
    }


def _row(each: Timing, middle: float) -> dict[str, Any]:
    row = asdict(each) | {"cpu": round(each.cpu, 3), "factor": round(each.per_operation / middle, 2)}
    return {key: value for key, value in row.items() if value != ""}


def show(result: dict[str, Any]) -> None:
    """Print the tables for people."""
    print(f"\n{result['inputs']} inputs, {result['median_nanoseconds']} ns an operation in the middle")
    for title in ("dearest", "least_charged", "most_charged", "findings"):
        print(f"\n{title.replace('_', ' ')}: CPU s, operations, factor, call, input, outcome")
        for row in result[title]:
            print(f"{row['cpu']:8.3f} {row['operations']:>11} {row['factor']:6.2f} {row['call']:14} "
                  f"{row['family']} {row['n']} | {row.get('outcome', '')}")  # fmt: skip


def main() -> int:
    """Measure; 1 if there is a finding."""
    parser = script.parser("Processor time over charged operations.")
    parser.add_argument("--families", nargs="*", help="words in the names of the families")
    parser.add_argument("--calls", nargs="*", help="names of calls")
    parser.add_argument("--composites", type=int, default=COMPOSITES, help="composites of two families")
    parser.add_argument("--times", type=int, default=TIMES, help="times of each input, of which the fastest counts")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--slice", action="store_true", help="the part that CI runs: calls are counted, not seconds")
    asked = parser.parse_args()
    costs.warm_up()
    perform(Input("interpret", "", 1, r"\frac{d}{dx} f(x) + \int_0^1 g(x) \,dx"))
    gc.collect()
    gc.freeze()
    timings = []
    for found in sliced() if asked.slice else all_timings(asked):
        timings.append(found)
        if not asked.json:
            print(f"{found.cpu:8.3f} {found.operations:>11} {found.per_operation:8.1f} ns {found.call:14} "
                  f"{found.family} {found.n} | {found.outcome}", flush=True)  # fmt: skip
    result = summary(timings, by_clock=not asked.slice)
    print(json.dumps(result)) if asked.json else show(result)
    return int(bool(result["findings"]))


if __name__ == "__main__":
    sys.exit(main())
