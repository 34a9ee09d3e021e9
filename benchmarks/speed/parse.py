r"""What reading one formula costs: each character, each formula, each length, each attack, and the first one of all.

*uncached* is the reader itself: the cache of strings is passed by, and every figure is the best of several passes over
the same formulas, after one that is dropped. The cache's effect stands apart. `lengths` grows formulas of a few kinds
up to the limits of the reader, to show that the cost of a character does not grow with them. `hostile` is text made
to hurt. `cold` is the first parse of a process, without and with the tables of the grammar in the cache folder.
`yardstick_ms` is a fixed loop beside the figures: compare it first, before two runs are compared.

`rivals` are other readers on the same formulas, each in a process of its own, in the environment that `make bench`
builds (or that of the interpreter named by PRISM_BENCH_PYTHON) and in its best configuration; one that is absent is
left out with its reason. What a reader refuses is counted, and its times are those of what it reads.

    python benchmarks/speed/parse.py [--data FOLDER] [--rivals N] [--slice] [--json]

`--slice` reads the formulas of `tests/cases/` instead of the real ones, and leaves out rivals and cold starts.
"""

from __future__ import annotations

import inspect
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA, NO_DATA, texts  # noqa: E402
from prism import LatexSyntaxError  # noqa: E402
from prism.latex import extract, parse  # noqa: E402
from prism.latex.parsing.parser import CACHE_SIZE  # noqa: E402
from prism.latex.parsing.tokens import MAX_DEPTH, MAX_LENGTH  # noqa: E402

CASES = ROOT / "tests" / "cases"
CLOCK = ROOT / "benchmarks" / "rivals" / "clock.py"
PASSES = 5
RIVALS = ("prism", "math-verify", "latex2sympy2_extended", "sympy")
FOR_RIVALS = 200  # formulas, evenly out of all: sympy needs about a tenth of a second for each
RIVAL_LIMIT = 3600.0  # seconds for all of one rival
COLD_RUNS = 7  # processes; the first one, which may write byte code, is dropped

uncached: Callable[[str], object] = inspect.unwrap(parse)


# Formulas -----------------------------------------------------------------------------------------------------


def sources(folder: Path | None) -> dict[str, list[str]]:
    """Distinct formulas by where they come from."""
    if folder is None:
        return {"tests/cases": list(dict.fromkeys(written()))}
    listed = texts(folder, "formulas.jsonl")
    worked = [found.latex for text in texts(folder, "worked.jsonl") for found in extract(text)]
    return {"formulas.jsonl": list(dict.fromkeys(listed)), "worked.jsonl": list(dict.fromkeys(worked))}


def written() -> Iterator[str]:
    """Formulas of the rows of the cases."""
    for path in sorted((*CASES.glob("parse/*.toml"), *CASES.glob("equivalence/*.toml"))):
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            yield from (row[key] for key in ("latex", "a", "b") if key in row)


def repeated(unit: str, joint: str, length: int) -> str:
    """As many equal parts as fit into a length."""
    return joint.join([unit] * max(1, (length + len(joint)) // (len(unit) + len(joint))))


def nested(opening: str, closing: str, length: int) -> str:
    """As many equal parts inside each other as fit, at most to the depth that is read."""
    levels = min((length - 1) // (len(opening) + len(closing)), MAX_DEPTH - 2)
    return opening * levels + "x" + closing * levels


KINDS: dict[str, Callable[[int], str]] = {
    "sum": lambda length: repeated("k_{1} x^{2}", " + ", length),
    "product": lambda length: repeated(r"\alpha_{0} v", r" \cdot ", length),
    "sum of fractions": lambda length: repeated(r"\frac{a + 1}{b^2}", " - ", length),
    "chain": lambda length: repeated(r"m g h", " = ", length),
    "functions": lambda length: repeated(r"\sin\left(\omega t\right)", " + ", length),
    "units": lambda length: repeated(r"3 \mathrm{~m/s}", " + ", length),
    "integrals": lambda length: repeated(r"\int_0^L f(x)\, dx", " + ", length),
    "nested fractions": lambda length: nested(r"\frac{1}{1 + ", "}", length),
    "nested brackets": lambda length: nested("2 (1 + ", ")", length),
}
LENGTHS = (60, 125, 250, 500, 1000, 2000, MAX_LENGTH)

HOSTILE: dict[str, Callable[[], str]] = {
    "10,000 nested braces": lambda: "{" * 10_000 + "x" + "}" * 10_000,
    "braces nested to the length": lambda: "{" * (MAX_LENGTH // 2 - 1) + "x" + "}" * (MAX_LENGTH // 2 - 1),
    "brackets that never close": lambda: "(" * MAX_LENGTH,
    "powers of ten to the length": lambda: "10^{" * 790 + "10" + "}" * 790,
    "10^{10^{10}}": lambda: "10^{10^{10}}",
    "a number of 3,999 digits": lambda: "9" * (MAX_LENGTH - 1),
    "NUL bytes": lambda: "a\0" * (MAX_LENGTH // 2),
    "unclosed math": lambda: r"$\frac{a}{b",
    "dollars": lambda: "$" * MAX_LENGTH,
    "blanks": lambda: "a" + " " * (MAX_LENGTH - 2) + "b",
    r"\left without its bracket": lambda: r"\left   " * (MAX_LENGTH // 8),
    r"\label without its brace": lambda: r"\label{" * (MAX_LENGTH // 7),
    "commas between digits": lambda: "1," * (MAX_LENGTH // 2),
    "slashes": lambda: "/".join("a" * (MAX_LENGTH // 2)),
    "bars": lambda: "|" * MAX_LENGTH,
    "accents": lambda: r"\vec" * (MAX_LENGTH // 4),
    "tokens without end": lambda: "a+" * (MAX_LENGTH // 2),
    "10 MB": lambda: "a + " * 2_500_000,
}
HOSTILE_TEXTS: dict[str, Callable[[], str]] = {
    "10 MB of prose": lambda: "The mass is $m$ and $F = m a$ holds.\n" * 270_000,
    "1 MB of dollars": lambda: "$" * 1_000_000,
    "1 MB of unclosed math": lambda: r"\[ a = b \( c " * 70_000,
    "1 MB of braces": lambda: "$" + "{" * 1_000_000,
    "1 MB of NUL bytes": lambda: "$a\0$" * 250_000,
}


# Measuring ----------------------------------------------------------------------------------------------------


def yardstick() -> float:
    """Milliseconds of a fixed loop: shared machines are at times half as fast, and no pass is long enough to see it."""
    times = []
    for _ in range(30):
        start = time.perf_counter()
        total = 0
        for number in range(20_000):
            total += number % 7
        times.append(time.perf_counter() - start)
    return round(1e3 * min(times), 3)


def is_read(latex: str) -> bool:
    try:
        uncached(latex)
    except LatexSyntaxError:
        return False
    return True


def seconds(read: Callable[[str], object], latex: str) -> float:
    start = time.perf_counter()
    with suppress(LatexSyntaxError):
        read(latex)
    return time.perf_counter() - start


def best(read: Callable[[str], object], formulas: Sequence[str]) -> list[float]:
    """The shortest time of each formula; whole passes, so that no formula meets a processor that has just seen it."""
    passes = [[seconds(read, latex) for latex in formulas] for _ in range(PASSES + 1)]
    return [min(times) for times in zip(*passes[1:], strict=True)]


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def figures(formulas: Sequence[str], times: Sequence[float]) -> dict[str, float]:
    """Microseconds a character and a formula."""
    if not formulas:
        return {"formulas": 0}
    by_character = [1e6 * time / max(1, len(latex)) for latex, time in zip(formulas, times, strict=True)]
    return {
        "formulas": len(formulas),
        "characters_median": statistics.median(map(len, formulas)),
        "us_a_character_median": round(statistics.median(by_character), 2),
        "us_a_character_p90": round(quantile(by_character, 0.9), 2),
        "us_a_character_overall": round(1e6 * sum(times) / sum(map(len, formulas)), 2),
        "us_a_formula_median": round(1e6 * statistics.median(times), 1),
        "us_a_formula_p99": round(1e6 * quantile(times, 0.99), 1),
        "us_a_formula_max": round(1e6 * max(times), 1),
    }


def reading(formulas: Sequence[str]) -> dict[str, dict[str, float]]:
    """What is read and what is refused, apart; and the same again out of the cache of strings."""
    read = [latex for latex in formulas if is_read(latex)]
    refused = sorted(set(formulas) - set(read))
    kept = read[:CACHE_SIZE]
    for latex in kept:
        parse(latex)
    return {
        "uncached": figures(read, best(uncached, read)),
        "refused": figures(refused, best(uncached, refused)),
        "cached": figures(kept, best(parse, kept)),
    }


def outcome(latex: str) -> str:
    """How a reading ends, in a few words."""
    try:
        uncached(latex)
    except LatexSyntaxError as fault:
        return fault.found[:60]
    except Exception as error:  # noqa: BLE001 - a bug of ours, which the table has to show
        return f"RAISED {type(error).__name__}"
    return "read"


def lengths() -> dict[str, list[dict[str, Any]]]:
    """Cost against length, kind by kind."""
    table: dict[str, list[dict[str, Any]]] = {}
    for kind, build in KINDS.items():
        found = table.setdefault(kind, [])
        for latex in dict.fromkeys(build(length) for length in LENGTHS):
            (once,) = best(uncached, [latex])
            found.append(
                {
                    "characters": len(latex),
                    "ms": round(1e3 * once, 3),
                    "us_a_character": round(1e6 * once / len(latex), 2),
                    "outcome": outcome(latex),
                }
            )
    return table


def hostile() -> dict[str, dict[str, Any]]:
    """Attacks on the reader of one formula: time and how it ends."""
    table = {}
    for name, build in HOSTILE.items():
        latex = build()
        (once,) = best(outcome, [latex])
        table[name] = {"characters": len(latex), "ms": round(1e3 * once, 3), "outcome": outcome(latex)}
    return table


def hostile_texts() -> dict[str, dict[str, Any]]:
    """Attacks on the extractor: time and how many formulas are found. Once each: they are long."""
    table = {}
    for name, build in HOSTILE_TEXTS.items():
        text = build()
        start = time.perf_counter()
        found = len(extract(text))
        once = time.perf_counter() - start
        table[name] = {"characters": len(text), "ms": round(1e3 * once, 1), "formulas": found}
    return table


# In other processes -------------------------------------------------------------------------------------------

COLD = """
import time
start = time.perf_counter()
from prism.latex import parse
loaded = time.perf_counter()
parse(r"T = 2\\pi\\sqrt{L/g}")
print(loaded - start, time.perf_counter() - loaded)
"""


def cold() -> dict[str, dict[str, float]]:
    """Milliseconds to import the reader and to read the first formula, without and with cached tables."""
    table = {}
    for name in ("tables made", "tables cached"):
        with tempfile.TemporaryDirectory() as folder:
            runs = []
            for run in range(COLD_RUNS):
                where = Path(folder) / (str(run) if name == "tables made" else "one")
                environment = {**os.environ, "PRISM_CACHE_DIR": str(where)}
                done = subprocess.run(
                    [sys.executable, "-c", COLD], env=environment, capture_output=True, text=True, check=True, cwd=ROOT
                )
                runs.append([1e3 * float(word) for word in done.stdout.split()])
        imports, firsts = zip(*runs[1:], strict=True)
        table[name] = {
            "import_ms": round(statistics.median(imports), 1),
            "first_parse_ms": round(statistics.median(firsts), 1),
            "first_parse_ms_min": round(min(firsts), 1),
            "first_parse_ms_max": round(max(firsts), 1),
        }
    return table


def rivals(formulas: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The same formulas in every reader."""
    bench = Path(os.environ.get("PRISM_BENCH_PYTHON") or ROOT / ".venv-bench" / "bin" / "python")
    return {name: rival(name, Path(sys.executable) if name == "prism" else bench, formulas) for name in RIVALS}


def rival(name: str, python: Path, formulas: Sequence[str]) -> dict[str, Any]:
    """One reader in its own process: figures of what it reads, and counts of what it does not."""
    if not python.exists():
        return {"skipped": f"{python.name} of its environment is absent; `make bench` builds it"}
    try:
        done = subprocess.run(
            [str(python), "-I", str(CLOCK), name],
            input=json.dumps(formulas), capture_output=True, text=True, check=False, timeout=RIVAL_LIMIT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"skipped": f"not done after {RIVAL_LIMIT:.0f} s"}
    if done.returncode:
        return {"skipped": (done.stderr.strip().splitlines() or ["no reason given"])[-1]}
    answer = json.loads(done.stdout)
    ended = [(latex, row["status"], row["seconds"]) for latex, row in zip(formulas, answer["rows"], strict=True)]
    read = [(latex, once) for latex, status, once in ended if status == "read"]
    return {
        "versions": answer["versions"],
        "failed": sum(status == "failed" for _, status, _ in ended),
        "timeout": sum(status == "timeout" for _, status, _ in ended),
        "read": figures([latex for latex, _ in read], [once for _, once in read]),
        "us_a_formula_median_with_failures": round(1e6 * statistics.median(once for _, _, once in ended), 1),
    }


# Reporting ----------------------------------------------------------------------------------------------------


def table(title: str, found: dict[str, dict[str, Any]]) -> None:
    """One line a row, one column a figure."""
    columns = list(dict.fromkeys(key for row in found.values() for key in row))
    print(f"\n{title}\n{'':34}" + "".join(f"{column.replace('us_a_', 'us/')[:22]:>23}" for column in columns))
    for name, row in found.items():
        print(f"{name:34}" + "".join(f"{row.get(column, '')!s:>23.60}" for column in columns))


def show(result: dict[str, Any]) -> None:
    print("yardstick, ms: {before} before, {after} after".format(**result["yardstick_ms"]))
    for source, parts in result["reading"].items():
        table(source, parts)
    flat = {f"{kind}, {row['characters']}": row for kind, found in result["lengths"].items() for row in found}
    table("cost against length", flat)
    table("hostile formulas", result["hostile"])
    if "hostile_texts" in result:
        table("hostile texts", result["hostile_texts"])
        table("the first parse of a process", result["cold"])
        flat = {name: {**row.pop("read", {}), **row} for name, row in result["rivals"].items()}
        table("readers side by side", flat)


def main() -> int:
    parser = script.parser("What reading one formula costs.", data=DATA)
    parser.add_argument("--rivals", type=int, default=FOR_RIVALS, metavar="N", help="formulas that the rivals read too")
    parser.add_argument("--slice", action="store_true", help="formulas of tests/cases; no rivals, no cold starts")
    options = parser.parse_args()
    if not options.slice and not (options.data / "formulas.jsonl").exists():
        print(f"no formulas.jsonl in {options.data}", file=sys.stderr)
        return NO_DATA
    found = sources(None if options.slice else options.data)
    before = yardstick()
    result: dict[str, Any] = {
        "reading": {source: reading(formulas) for source, formulas in found.items()},
        "yardstick_ms": {"before": before, "after": yardstick()},
        "lengths": lengths(),
        "hostile": hostile(),
    }
    if not options.slice:
        every = [latex for formulas in found.values() for latex in formulas]
        chosen = every[:: max(1, len(every) // max(1, options.rivals))][: options.rivals]
        result |= {"hostile_texts": hostile_texts(), "cold": cold(), "rivals": rivals(chosen)}
    script.tell(result, show, as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
