r"""Feed every call with broken real texts, millions of them, over many runs: nothing escapes, nothing is dear.

Inputs are formulas and stretches of real solutions (the collected material if it is on this machine, else the shipped
problems and the rows of `tests/cases`), mutated: characters and tokens deleted, doubled, swapped and inserted, texts
spliced, cut, nested, a construct of `constructs.py` put around a stretch, delimiters and Unicode inserted. Each goes
through `parse` and, as a solution, through `extract`; every `DEEP`th through `grade` and `diagnose` too. Findings are:

- `parse` raises anything but a `PrismError`, or any other call anything at all;
- a grade has an incident or the status `internal`, or costs more than its account allows;
- an input costs more than `MAX_CPU` seconds of CPU, twice.

Guidance: an input that shows what none has shown before joins the corpus, and half of the inputs are made from it. By
default what counts as new are features of the *results*: words of a fault, pairs of operators, reasons of verdicts,
flags, powers of two of the cost. That is not coverage of the code; it costs nothing and follows what the program says.
With `--atheris` (the package has to be installed; a third of the speed) the same checks run under libFuzzer, guided by
coverage of PRISM's branches, and what reaches new ones is part of the corpus of later runs.

A run goes on where the last one stopped: counters, findings and corpus stand in the folder `--state`. Each chunk of
inputs has a seed of its own and runs in a forked process with a limit on CPU; a killed run loses one chunk at most.

    python benchmarks/robustness/fuzz.py [--count N] [--until N] [--state FOLDER] [--atheris] [--slice] [--json]
"""

from __future__ import annotations

import gc
import hashlib
import json
import mmap
import os
import pickle
import random
import re
import resource
import signal
import struct
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

if "--atheris" in sys.argv:  # modules are instrumented as they are imported, but for the kernels, which numba reads
    import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]

    from prism.engine import kernels

    kernels.warm()
    atheris.instrument_imports(include=["prism"]).__enter__()

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.accuracy import fuzz as mutations  # noqa: E402
from benchmarks.material import DATA, missing  # noqa: E402
from benchmarks.robustness.constructs import CONSTRUCTS, RELATIONS  # noqa: E402
from benchmarks.robustness.costs import import_all, solution_limit  # noqa: E402
from prism.algebra.expr import Expr, Formula  # noqa: E402

SEED: Final = 20261123
COUNT: Final = 2_000_000  # inputs of an evidence run through parse and extract
SLICE: Final = 2_000
CHUNK: Final = 2_000  # inputs of one seed and one process
DEEP: Final = 20  # every so manieth input goes through grade and diagnose
WHOLE: Final = 8  # every so manieth of these is a long text
MAX_FORMULA: Final = 300  # characters of a mutated formula
MAX_STRETCH: Final = 700  # characters of a stretch of a solution
MAX_WHOLE: Final = 4_900  # characters of a long text: what is promised a second
MAX_CPU: Final = 1.0  # seconds of one call, promised for a text of MAX_WHOLE
CPU_CAP: Final = 5.0  # seconds of one call after which it is ended
CHUNK_CAP: Final = 600  # seconds of CPU of one chunk: what an alarm cannot reach
KEPT: Final = 5  # findings kept of one kind at one place
CORPUS: Final = 20_000  # inputs kept
SOWN: Final = 500  # formulas, and inputs of the corpus, that libFuzzer begins with
PROBLEMS: Final = 12  # problems that texts are graded against

# Inputs -----------------------------------------------------------------------------------------------------------

_TEMPLATES: Final = tuple(CONSTRUCTS.values()) + tuple(RELATIONS.values())
_DELIMITERS: Final = (
    r"$ $$ \( \) \[ \] \begin{align} \end{align} \boxed{ } ` ``` ** ~~ | & \\ \text{ # > - (a) (b) <think> </think>"
).split()
_WORDS: Final = (
    "therefore ", "not ", "wait, ", "or ", "where ", "let ", "so ", "\n\n", "\n- ", "Answer: ", "step 2: ", "i.e. ",
)  # fmt: skip


def put_into_construct(text: str, rng: random.Random, other: str) -> str:
    """Put a stretch of the text into a construct."""
    start, end = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
    template = rng.choice(_TEMPLATES).replace("#", str(rng.choice((1, 2, 3, 7, 60))))
    return text[:start] + template.replace("@", text[start:end] or "q") + text[end:]


def splice_in_words(text: str, rng: random.Random, other: str) -> str:
    """Put a stretch of another text into this one, cut at spaces."""
    words, others = text.split(" "), other.split(" ")
    at, start = rng.randrange(len(words) + 1), rng.randrange(len(others))
    return " ".join((*words[:at], *others[start : start + rng.choice((1, 3, 10))], *words[at:]))


def insert_delimiter(text: str, rng: random.Random, other: str) -> str:
    """Insert a delimiter of formulas, parts or marks."""
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(_DELIMITERS) + text[at:]


def insert_word(text: str, rng: random.Random, other: str) -> str:
    """Insert a word by which solutions steer what counts."""
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(_WORDS) + text[at:]


MUTATIONS: Final = (
    *mutations.MUTATIONS, put_into_construct, put_into_construct, splice_in_words, insert_delimiter, insert_word,
)  # fmt: skip
_WRAPPERS: Final = (
    ("$", "$"), ("So $$", "$$ holds."), (r"\(", r"\)"), (r"Then \[", r"\]"), (r"$\boxed{", "}$"), ("", ""),
    ("(a) ", ""), ("We get ", " and so on."), ("**Answer:** $", "$"), (r"\begin{align*} ", r" \end{align*}"),
)  # fmt: skip


@dataclass(slots=True)
class Seeds:
    """What inputs are made from: real formulas, real solutions, and the problems that they are graded against."""

    formulas: list[str]
    solutions: list[str]
    problems: list[Any]


def load_seeds(folder: Path, kept: Path | None) -> Seeds:
    """The seeds, and problems ready to be graded against; texts come from the file `kept` if there is one."""
    if kept and kept.exists():
        formulas, solutions = json.loads(kept.read_text(encoding="utf-8"))
    else:
        formulas, solutions = mutations.seeds(folder)
        if kept:  # a run that goes on makes its inputs from what it began with
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps([formulas, solutions]), encoding="utf-8")
    files = sorted((ROOT / "dags").glob("*.toml"))[:PROBLEMS]
    problems = [prism.load_problem(file) for file in files]
    for problem in problems:
        formulas += [node.latex for node in problem.nodes]
        solutions += [student.solution for student in problem.students]
    return Seeds(formulas, solutions, [prism.prepare(problem) for problem in problems])


def mutate(text: str, seeds: list[str], rng: random.Random) -> str:
    """A text after one mutation or several."""
    for _ in range(rng.choice((1, 1, 2, 2, 3, 5))):
        text = rng.choice(MUTATIONS)(text, rng, rng.choice(seeds))
    return text


def _stretch(texts: list[str], rng: random.Random, length: int) -> str:
    text = rng.choice(texts)
    at = rng.randrange(max(1, len(text) - length // 2))
    return text[at : at + rng.randrange(20, length)]


def make_input(position: int, seeds: Seeds, corpus: list[str], rng: random.Random) -> str:
    """The input at a position of the run: mostly a formula, a stretch of a solution where it is graded."""
    if position % DEEP:
        if corpus and rng.random() < 0.5:
            return mutate(rng.choice(corpus), seeds.formulas, rng)[:MAX_FORMULA]
        return mutate(rng.choice(seeds.formulas), seeds.formulas, rng)[:MAX_FORMULA]
    length = MAX_STRETCH if position // DEEP % WHOLE else MAX_WHOLE
    text = rng.choice(corpus) if corpus and rng.random() < 0.4 else _stretch(seeds.solutions, rng, length)
    return mutate(text, seeds.solutions if rng.random() < 0.3 else seeds.formulas, rng)[:length]


# Checks -----------------------------------------------------------------------------------------------------------


class Broken(Exception):
    """A promise that was not kept."""


class TooSlow(BaseException):
    """Raised by the alarm; no handler of the library may swallow it."""


def _alarm(number: int, frame: FrameType | None) -> None:
    raise TooSlow(f"longer than {CPU_CAP} s")


@dataclass(frozen=True, slots=True)
class Finding:
    """A promise broken: by which call, how, where in the code, on which input."""

    call: str
    error: str
    place: str
    text: str
    trace: str = ""


@dataclass(slots=True)
class Tally:
    """What a chunk has counted and found; chunks add up."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    new: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    dearest: dict[str, tuple[float, str]] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Take in what another chunk has found."""
        self.counts.update(other.counts)
        for finding in other.findings:
            self.keep(finding)
        for call, pair in other.dearest.items():
            self.dearest[call] = max(self.dearest.get(call, (0.0, "")), pair)

    def keep(self, finding: Finding) -> None:
        """Keep a finding unless enough of its kind are kept; it is counted in any case."""
        kind = finding.call, finding.error.partition(":")[0], finding.place
        if sum((each.call, each.error.partition(":")[0], each.place) == kind for each in self.findings) < KEPT:
            self.findings.append(finding)


_NAMES = re.compile(r"[\d\W_]+|\b\w\b")


def _pairs(node: Expr, pairs: set[str]) -> None:
    for arg in node.args:
        if arg.op not in ("num", "sym"):
            pairs.add(f"{node.op}>{arg.op}")
            _pairs(arg, pairs)


def features_of_formula(value: Formula) -> set[str]:
    """Its kind and relations, and which operator stands in which."""
    pairs = {f"kind:{value.kind}:{'/'.join(sorted(set(value.relations)))}"}
    for member in value.members:
        pairs.add(f"top>{member.op}")
        _pairs(member, pairs)
    for part in value.parts:
        pairs |= {
            f"{value.kind}/{feature}" if feature.startswith("kind") else feature
            for feature in features_of_formula(part)
        }
    return pairs


def read(text: str) -> set[str]:
    """Parse a text; anything but a PrismError gets through."""
    try:
        return features_of_formula(prism.parse(text))
    except prism.LatexSyntaxError as fault:
        return {f"fault:{fault.kind}:{_NAMES.sub(' ', fault.found)[:60]}"}


def find(text: str) -> set[str]:
    """Extract formulas; spans lie in the text."""
    found = prism.extract(text)
    for item in found:
        if not 0 <= item.span[0] <= item.span[1] <= len(text):
            raise Broken(f"span {item.span} outside the {len(text)} characters")
    return {f"kinds:{'/'.join(sorted({item.kind for item in found}))}:{len(found).bit_length()}"}


def grade(prepared: Any, text: str, kept: list[Any]) -> set[str]:
    """Grade a text: no incident, nothing beyond the account. The grade goes into `kept`."""
    found = prism.grade(prepared, text)
    if found.incidents or found.status == "internal":
        raise Broken(f"incident: {found.incidents}"[:300])
    if found.cost is None or found.cost > solution_limit(len(text)):
        raise Broken(f"cost {found.cost} beyond the account")
    kept[:] = [found]
    shown = {f"formula:{item.status}:{item.reason}" for item in found.formulas}
    shown |= {f"flag:{flag}" for flag in found.flags} | {f"grade:{found.status}:{found.cost.bit_length()}"}
    return shown | {f"withheld:{reason}" for item in found.formulas for _, reason in item.withheld}


def diagnose(prepared: Any, found: Any) -> set[str]:
    """Explain a grade."""
    findings = prism.diagnose(prepared, found).findings
    return {f"diagnosis:{item.status}:{item.difference.kind if item.difference else ''}" for item in findings}


def attempt(call: str, check: Callable[..., set[str]], args: tuple[Any, ...], text: str, tally: Tally) -> set[str]:
    """Make one call with an alarm, and keep what is wrong with it; the features of its result."""
    tally.counts[call] += 1
    start = time.process_time()
    try:
        shown = check(*args)
    except (Exception, TooSlow) as error:  # noqa: BLE001 - whatever comes out is what is looked for
        signal.setitimer(signal.ITIMER_VIRTUAL, CPU_CAP)
        tally.counts[f"{call}: findings"] += 1
        trace = "".join(traceback.format_exception(error)[-3:])[-1500:]
        tally.keep(Finding(call, f"{type(error).__name__}: {error}"[:300], mutations._place(error), text, trace))
        return {f"broken:{type(error).__name__}"}
    seconds = time.process_time() - start
    if seconds > MAX_CPU:
        start = time.process_time()
        check(*args)
        seconds = min(seconds, time.process_time() - start)
        if seconds > MAX_CPU:
            tally.counts[f"{call}: findings"] += 1
            tally.keep(Finding(call, "more than a second of CPU", "", text, f"{seconds:.2f} s"))
    if seconds > tally.dearest.get(call, (0.0, ""))[0]:
        tally.dearest[call] = (round(seconds, 4), text)
    return shown


def check_input(position: int, text: str, seeds: Seeds, rng: random.Random, tally: Tally) -> set[str]:
    """Take one input through its calls; the features of all results."""
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_CAP)
    shown = attempt("parse", read, (text,), text, tally)
    if position % DEEP:
        before, behind = rng.choice(_WRAPPERS)
        solution = before + text + behind
    else:
        solution = text
    shown |= attempt("extract", find, (solution,), solution, tally)
    if position % DEEP == 0:
        prepared = rng.choice(seeds.problems)
        kept: list[Any] = []
        shown |= attempt("grade", grade, (prepared, solution, kept), solution, tally)
        if kept:
            shown |= attempt("diagnose", diagnose, (prepared, kept[0]), solution, tally)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return shown


# A chunk, in a process of its own ---------------------------------------------------------------------------------


class Desk:
    """Memory shared with the parent process: the input at work, for the case that the process is ended."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1 << 16)

    def lay(self, text: str) -> None:
        """Note the input that is begun."""
        data = text.encode("utf-8", "surrogatepass")[: (1 << 16) - 4]
        self._memory[: len(data) + 4] = struct.pack("I", len(data)) + data

    def text(self) -> str:
        """The input that was at work."""
        (size,) = struct.unpack("I", self._memory[:4])
        return bytes(self._memory[4 : 4 + size]).decode("utf-8", "replace")


def run_chunk(number: int, size: int, seeds: Seeds, corpus: list[str], known: set[str], desk: Desk) -> Tally:
    """Make and check the inputs of one chunk, by its seed and the corpus before it."""
    rng = random.Random(SEED * 1_000_003 + number)
    tally = Tally()
    seen: set[str] = set()
    for position in range(number * CHUNK, number * CHUNK + size):
        text = make_input(position, seeds, corpus, rng)
        desk.lay(text)
        new = check_input(position, text, seeds, rng, tally) - known - seen
        if new:
            seen |= new
            tally.new.append((text, tuple(sorted(new))))
    return tally


def run_forked(number: int, size: int, seeds: Seeds, corpus: list[str], known: set[str]) -> Tally:
    """Run a chunk in a forked process; one that is ended is a finding, with the input that was at work."""
    desk = Desk()
    inward, outward = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(inward)
        resource.setrlimit(resource.RLIMIT_CPU, (CHUNK_CAP, CHUNK_CAP + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGVTALRM, _alarm)
        with os.fdopen(outward, "wb") as pipe:
            pickle.dump(run_chunk(number, size, seeds, corpus, known, desk), pipe)
        os._exit(0)
    os.close(outward)
    with os.fdopen(inward, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(pid, 0)
    if data and not status:
        tally: Tally = pickle.loads(data)  # noqa: S301 - written by this program's own child
        return tally
    code = os.waitstatus_to_exitcode(status)  # below zero: a signal
    broken = Tally(Counter({"chunks ended": 1}))
    broken.keep(Finding("any", f"process ended with {code}", "", desk.text()))
    return broken


# State ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class State:
    """How far all runs have come: the next chunk, what was counted and found, the corpus with its features."""

    folder: Path
    chunk: int = 0
    tally: Tally = field(default_factory=Tally)
    corpus: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    of_tree: dict[str, int] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> State:
        """The state of a folder, or a new one."""
        state = cls(folder)
        if (file := folder / "state.json").exists():
            data = json.loads(file.read_text(encoding="utf-8"))
            state.chunk, state.of_tree = data["chunk"], data["of_tree"]
            findings = [Finding(**each) for each in data["findings"]]
            dearest = {call: (seconds, text) for call, (seconds, text) in data["dearest"].items()}
            state.tally = Tally(Counter(data["counts"]), findings, dearest=dearest)
        if (file := folder / "corpus.jsonl").exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                state.corpus.append(row["text"])
                state.known.update(row["features"])
        found = sorted((folder / "atheris").glob("*"))  # what reached new branches
        state.corpus += [file.read_text(encoding="utf-8", errors="replace") for file in found]
        return state

    def forget(self) -> None:
        """Drop what was found; what was counted stays."""
        self.tally.findings.clear()
        for name in [name for name in self.tally.counts if name.endswith((": findings", " ended"))]:
            del self.tally.counts[name]

    def take(self, tally: Tally, tree: str) -> None:
        """Add a chunk, and write everything: counters by replacing the file, the corpus by appending."""
        self.chunk += 1
        self.tally.add(tally)
        self.of_tree[tree] = self.of_tree.get(tree, 0) + tally.counts["parse"]
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "corpus.jsonl").open("a", encoding="utf-8") as file:
            for text, features in tally.new:
                if len(self.corpus) < CORPUS:
                    self.corpus.append(text)
                    self.known.update(features)
                    file.write(json.dumps({"text": text, "features": features}) + "\n")
        data = {
            "chunk": self.chunk, "counts": dict(sorted(self.tally.counts.items())), "of_tree": self.of_tree,
            "findings": [asdict(each) for each in self.tally.findings], "dearest": self.tally.dearest,
        }  # fmt: skip
        new = self.folder / "state.json.new"
        new.write_text(json.dumps(data, indent=1), encoding="utf-8")
        new.replace(self.folder / "state.json")


def tree_digest() -> str:
    """A digest of the package's sources: findings of an old tree are told from those of this one."""
    whole = hashlib.sha256()
    for path in sorted((ROOT / "prism").rglob("*.py")):
        whole.update(path.read_bytes())
    return whole.hexdigest()[:12]


def run(state: State, seeds: Seeds, count: int) -> None:
    """So many inputs more, rounded up to chunks."""
    tree = tree_digest()
    for _ in range(-(-count // CHUNK)):
        state.take(run_forked(state.chunk, CHUNK, seeds, state.corpus, state.known), tree)


def run_under_atheris(state: State, seeds: Seeds, count: int) -> None:
    """So many inputs more under libFuzzer, which ends the process; inputs that reach new branches join the corpus."""
    signal.signal(signal.SIGVTALRM, _alarm)
    folder = state.folder / "atheris"
    folder.mkdir(parents=True, exist_ok=True)
    tree, tally, done = tree_digest(), Tally(), 0
    rng = random.Random(SEED + state.chunk)

    def one(data: bytes) -> None:
        nonlocal tally, done
        text = data.decode("utf-8", "replace")
        new = check_input(done, text, seeds, rng, tally) - state.known
        if new and len(text) <= MAX_FORMULA:
            state.known |= new
            tally.new.append((text, tuple(sorted(new))))
        done += 1
        if done % CHUNK == 0 or done == count:
            tally.counts["parse under atheris"] = tally.counts["parse"]
            state.take(tally, tree)
            tally = Tally()

    def mutator(data: bytes, max_size: int, seed: int) -> bytes:
        local = random.Random(seed)
        text = mutate(data.decode("utf-8", "replace"), seeds.formulas, local)[:MAX_FORMULA]
        return text.encode("utf-8", "replace")[:max_size]

    sown = seeds.formulas[:: max(1, len(seeds.formulas) // SOWN)] + state.corpus[-SOWN:]
    for number, text in enumerate([] if any(folder.iterdir()) else sown):
        (folder / f"seed{number}").write_bytes(text[:MAX_FORMULA].encode("utf-8", "replace"))
    words = [sys.argv[0], f"-runs={count}", f"-seed={SEED + state.chunk}", "-timeout=60", "-rss_limit_mb=4000"]
    words += [f"-max_len={4 * MAX_FORMULA}", "-verbosity=0", "-print_final_stats=0", str(folder)]
    atheris.Setup(words, one, custom_mutator=mutator)
    atheris.Fuzz()


# The report -------------------------------------------------------------------------------------------------------


def report(state: State, *, real: bool, seeds: Seeds) -> dict[str, Any]:
    """What all runs of this state have counted and found."""
    return {
        "seed": SEED,
        "real": real,
        "seeds": {"formulas": len(seeds.formulas), "solutions": len(seeds.solutions), "problems": len(seeds.problems)},
        "chunks": state.chunk,
        "counts": dict(sorted(state.tally.counts.items())),
        "inputs_of_this_tree": state.of_tree.get(tree_digest(), 0),
        "corpus": len(state.corpus),
        "features": len(state.known),
        "dearest": {
            call: {"seconds": seconds, "characters": len(text)}
            for call, (seconds, text) in sorted(state.tally.dearest.items())
        },
        "findings": [asdict(each) for each in state.tally.findings],
    }


def main() -> int:
    """Run; 1 if there is a finding."""
    parser = script.parser("Feed every call with broken real texts.", data=DATA)
    parser.add_argument("--count", type=int, help="inputs of this run")
    parser.add_argument("--until", type=int, help=f"go on until all runs have had so many; {COUNT} if neither is given")
    parser.add_argument("--state", type=Path, default=ROOT / ".benchmarks" / "fuzz", help="where runs go on from")
    parser.add_argument("--forget", action="store_true", help="drop kept findings (mended since), keep the counters")
    parser.add_argument("--atheris", action="store_true", help="under libFuzzer, if the package is installed")
    parser.add_argument("--slice", action="store_true", help="a few, from shipped texts, without a state: what CI runs")
    asked = parser.parse_args()
    import_all()
    prism.warm()
    folder = ROOT / "no data" if asked.slice else asked.data
    seeds = load_seeds(folder, None if asked.slice else asked.state / "seeds.json")
    state = State.load(asked.state) if not asked.slice else State(asked.state)
    gc.collect()
    gc.freeze()  # what all chunks share is not walked through in each
    if asked.slice:
        state.tally.add(run_forked(0, asked.count or SLICE, seeds, [], set()))
    else:
        if asked.forget:
            state.forget()
        count = max(0, (asked.until or COUNT) - state.tally.counts["parse"]) if asked.count is None else asked.count
        (run_under_atheris if asked.atheris else run)(state, seeds, count)
    result = report(state, real=not missing(folder), seeds=seeds)
    print(json.dumps(result, sort_keys=True, indent=None if asked.json else 1))
    return 1 if state.tally.findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
