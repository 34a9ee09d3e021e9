"""What each function and condition of the core is needed for: each is switched off in turn, over rows, pairs and texts.

A *switch* is a function in the source of the chosen folders that may find nothing, which is switched off so that it
does, or one condition: the test of an `if` or of a conditional expression, which is switched off as if it never held,
or an operand of `and` or `or`, which is switched off as if it were not there (`switches.py`). A row is a test of
`tests/test_cases.py`; a labelled pair counts with its status, right or wrong, a collected text with the formulas that
are read in it. A switch is *needed* by what comes out otherwise without it, and *idle* if nothing does. What is idle
can be deleted, unless it guards what no row may try, as budgets, errors and damaged files, or only saves time.

Each switch runs in a process of its own, in which nothing is remembered; a run that ends in an exception, or not in
time, counts as another outcome.

    python -m benchmarks.accuracy.ablate prism/equivalence prism/latex --to ablation.jsonl
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.accuracy.switches import Recorder, install

_GUARD = re.compile(
    r"exhaust|spend|budget|account|afford|charge|cost|MAX|[Ll]imit|[Mm]ost|too_|is (?:not )?None|isinstance|len\(.*[<>]"
)
FIRST = 25  # rows that are tried first, for most switches change one of them


# Evidence ---------------------------------------------------------------------------------------------------------

Evidence = tuple[str, Callable[[], object]]  # a name, and what comes out


def rows() -> Iterator[Evidence]:
    """Yield each test of `tests/test_cases.py` that has parameters, with its outcome."""
    from tests import test_cases

    def outcome(test: Callable[..., None], values: dict[str, Any]) -> object:
        try:
            test(**values)
        except AssertionError:
            return "fails"
        except Exception as error:  # noqa: BLE001
            return type(error).__name__
        return "passes"

    for name, test in sorted(vars(test_cases).items()):
        for mark in getattr(test, "pytestmark", ()) if name.startswith("test_") else ():
            if mark.name != "parametrize" or name.startswith(("test_loader", "test_an_id")):
                continue
            names = [mark.args[0]] if isinstance(mark.args[0], str) else list(mark.args[0])
            for param in mark.args[1]:
                values = dict(zip(names, param.values, strict=True))
                yield f"{name.removeprefix('test_')}:{param.id}", partial(outcome, test, values)


def labelled_pairs(folder: Path) -> Iterator[Evidence]:
    """Yield the pairs of the collected files of labels, with the status that each gets."""
    import prism

    def status(line: dict[str, Any]) -> object:
        try:
            if line.get("kind") == "verify":
                return str(prism.verify(line["a"], line["b"]).status)
            one, other = (line["gold"], line["answer"]) if "gold" in line else (line["a"], line["b"])
            return str(prism.equivalent(one, other, context=line.get("context") or None).status)
        except Exception as error:  # noqa: BLE001
            return type(error).__name__

    for name in ("pairs", "physics_pairs", "beyond_pairs", "adversary_pairs", "red_pairs", "field"):
        for line in lines_of(folder / f"{name}_dev.jsonl"):
            yield f"{name}:{line['id']}", partial(status, line)


def texts(folder: Path) -> Iterator[Evidence]:
    """Yield the collected solutions, with the formulas that are found in each and what they are read as."""
    import prism

    def formulas(text: str) -> object:
        read = []
        for found in prism.extract(text):
            try:
                read.append(str(prism.parse(found.latex)))
            except prism.LatexSyntaxError as fault:
                read.append(str(fault))
        return tuple(read)

    for name, field in (("worked", "solution"), ("rollouts", "response"), ("rollouts_more", "response")):
        for number, line in enumerate(lines_of(folder / f"{name}.jsonl")):
            yield f"{name}:{number}", partial(formulas, line[field])


def lines_of(file: Path) -> list[dict[str, Any]]:
    """Read a file of JSON Lines; one that is not on this machine is empty."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.is_file() else []


def forget() -> None:
    """Empty what this process remembers of formulas, pairs, cells and problems."""
    from benchmarks import memories
    from tests import test_cases

    memories.forget()
    test_cases._prepared.cache_clear()


# Switching --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Base:
    """What comes out with everything on.

    Attributes:
        evidence: names and what runs them.
        outcomes: what comes out, one for each.
        seconds: what each takes.
        takers: for each switch, the numbers of the evidence in which its condition made a difference to the flow.
    """

    evidence: list[Evidence]
    outcomes: list[object]
    seconds: list[float]
    takers: dict[int, list[int]]


def base_of(evidence: list[Evidence], recorder: Recorder) -> Base:
    """Run all evidence with everything on."""
    base = Base(evidence, [], [], {})
    for number, (_, run) in enumerate(evidence):
        forget()
        recorder.taken.clear()
        begin = time.process_time()
        base.outcomes.append(run())
        base.seconds.append(time.process_time() - begin)
        for switch in recorder.taken:
            base.takers.setdefault(switch, []).append(number)
        if number % 1000 == 0:
            print(f"{number} of {len(evidence)}", file=sys.stderr, flush=True)
    forget()
    return base


def needed_by(switch: int, base: Base, recorder: Recorder, most: float, wanted: int) -> tuple[list[str], int, bool]:
    """Run the evidence of a switch without it, in a process of its own.

    Args:
        most: seconds for all of it.
        wanted: how many names are enough.

    Returns:
        Names of what comes out otherwise; how many were tried; True if all were.
    """
    takers = sorted(base.takers.get(switch, ()), key=lambda number: base.seconds[number])
    cheap = takers[: max(FIRST, len(takers) // 2)]
    drawn = random.Random(switch).sample(cheap, min(FIRST, len(cheap)))
    order = list(dict.fromkeys([*drawn, *takers]))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        recorder.off |= {switch}
        for number in order:
            try:
                is_same = base.evidence[number][1]() == base.outcomes[number]
            except BaseException:  # noqa: BLE001
                is_same = False
            os.write(writer, f"{number} {int(is_same)}\n".encode())
        os.write(writer, b"end\n")
        os._exit(0)
    os.close(writer)
    try:
        return _told(reader, order, base, most, wanted)
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _told(reader: int, order: list[int], base: Base, most: float, wanted: int) -> tuple[list[str], int, bool]:
    """Follow what a process without one switch says; the evidence in which it hangs or dies needs the switch."""
    names: list[str] = []
    tried, rest, begin = 0, b"", time.monotonic()
    while time.monotonic() - begin < most:
        patience = 5 + 20 * base.seconds[order[tried]] if tried < len(order) else 5
        ready, _, _ = select.select([reader], [], [], patience)
        said = os.read(reader, 65536) if ready else b""
        if not said:
            return [*names, f"{base.evidence[order[tried]][0]} (no end)"], tried + 1, False
        *lines, rest = (rest + said).split(b"\n")
        for line in lines:
            if line == b"end":
                return names, tried, True
            number, is_same = map(int, line.split())
            tried += 1
            if not is_same:
                names.append(base.evidence[number][0])
            if len(names) >= wanted:
                return names, tried, tried == len(order)
    return names, tried, False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=["prism/equivalence"], help="folders or files of the checkout")
    parser.add_argument("--to", type=Path, required=True, help="JSON Lines: one object for each switch")
    parser.add_argument("--seconds", type=float, default=60, help="for all evidence of one switch")
    parser.add_argument("--names", type=int, default=3, help="how many names are told for one switch")
    parser.add_argument(
        "--greedy", action="store_true", help="what is idle stays off for the switches behind it; guards stay on"
    )
    parser.add_argument("--only", choices=("rules", "conditions"), help="functions or conditions only")
    parser.add_argument("--part", default="1/1", help="`2/3` for the second of three processes")
    parser.add_argument("--kinds", default="", help="names of the kinds of rows, by commas; all without")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    switches, recorder = install(arguments.folders)
    from tests.support import external_data

    data = external_data.DATA
    evidence = [*rows(), *labelled_pairs(data), *texts(data)]
    kinds = tuple(filter(None, arguments.kinds.split(",")))
    evidence = [each for each in evidence if not kinds or each[0].startswith(kinds)]
    print(f"{len(switches)} switches, {len(evidence)} rows and pairs", file=sys.stderr)
    import prism

    prism.warm()
    base = base_of(evidence, recorder)
    print(f"{sum(base.seconds):.0f} s with everything on", file=sys.stderr)
    part, parts = map(int, arguments.part.split("/"))
    with arguments.to.open("w", encoding="utf-8") as out:
        for switch in switches[part - 1 :: parts]:
            if arguments.only and (switch.kind == "rule") != (arguments.only == "rules"):
                continue
            names, tried, is_whole = needed_by(switch.id, base, recorder, arguments.seconds, arguments.names)
            if arguments.greedy and is_whole and not names and not _GUARD.search(f"{switch.inside} {switch.text}"):
                recorder.off.add(switch.id)
            takers = len(base.takers.get(switch.id, ()))
            found = {**asdict(switch), "takers": takers, "tried": tried, "whole": is_whole, "needed_by": names}
            out.write(json.dumps(found, ensure_ascii=False) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
