r"""Model responses with one published answer: is the answer that a response gives the published one?

PRISM grades the problem that is nothing but its answer (`prism.verify`), beside Math-Verify by default and with the
settings of TRL's accuracy reward, each in a process of its own, in one run. The label of a response is that of the data
set, a judge made of sympy and a language model; where a reader of the response finds otherwise,
`final_answers_read.toml` says so and why, and the second column of figures goes by what was read.

Left out are answers that are no mathematics, by what is written and not by what a program can read: the letter of an
option, and prose, which is nothing but a text. An answer that PRISM cannot load counts as one that it does not credit.

    python benchmarks/accuracy/final_answers.py [--data FOLDER] [--only FUNCTION] [--json]
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.intervals import wilson  # noqa: E402
from benchmarks.material import DATA  # noqa: E402
from benchmarks.rivals.rewarder import FUNCTIONS  # noqa: E402
from benchmarks.rivals.workers import ISOLATED, Answer, RivalError, asked  # noqa: E402

FILE = "rollouts.jsonl"
READ = Path(__file__).with_name("final_answers_read.toml")
REWARDER = ROOT / "benchmarks" / "rivals" / "rewarder.py"
OURS = "prism"
TIME_LIMIT = 60.0  # seconds a response; the rivals have limits of their own
_PROSE = re.compile(r"\s*\\text\{[^{}$]*\}\s*")
_OPTION = re.compile(r"\s*\(?(?:\\text\{\(?)?[A-Ha-h]\)?\}?\)?\s*")


@dataclass(frozen=True, slots=True)
class Response:
    """A response and the one answer of its problem.

    Attributes:
        key: id of the problem and name of the model.
        gold, text: the published answer, LaTeX without delimiters, and the response.
        is_right: by the data set.
        is_right_by_reading: by the data set, or by who read it.
    """

    key: str
    gold: str
    text: str
    is_right: bool
    is_right_by_reading: bool


def is_mathematics(gold: str) -> bool:
    """True unless the answer is prose, or the letter of an option."""
    return not (_OPTION.fullmatch(gold) or _PROSE.fullmatch(gold))


def responses(folder: Path) -> list[Response]:
    """The responses whose problem has one answer, which is mathematics; half-right ones left out."""
    readings = tomllib.loads(READ.read_text(encoding="utf-8"))["read"]
    found = []
    for line in (folder / FILE).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if len(row["gold"]) != 1 or row["graded_correct"] not in (0, 1) or not is_mathematics(row["gold"][0]):
            continue
        key = f"{row['id']} | {row['model']}"
        is_right = row["graded_correct"] == 1
        by_reading = readings[key]["right"] if key in readings else is_right
        found.append(Response(key, row["gold"][0], row["response"], is_right, by_reading))
    return found


def ask(function: str, items: Sequence[Response]) -> tuple[list[Answer], dict[str, str]]:
    """What a function makes of each response, and the packages that it ran with."""
    python = sys.executable if function == OURS else str(ROOT / ".venv-bench" / "bin" / "python")
    versions: dict[str, str] = {}
    questions: Any = [
        [{"id": f"{k}", "answer": each.gold}, each.text, f"${each.gold}$"] for k, each in enumerate(items)
    ]  # fmt: skip
    command = [python, *ISOLATED, str(REWARDER), function, "main"]
    return list(asked(command, questions, versions, limit=TIME_LIMIT)), versions


def is_credited(answer: Answer) -> bool:
    return answer.status == "rewarded" and answer.content["reward"] == 1


def counts(decided: Sequence[tuple[Response, bool]], *, by_reading: bool) -> dict[str, Any]:
    """Credited among the right ones and among the wrong ones."""
    groups: dict[bool, list[bool]] = {True: [], False: []}
    for each, credited in decided:
        groups[each.is_right_by_reading if by_reading else each.is_right].append(credited)
    return {name: wilson(sum(groups[key]), len(groups[key])) for key, name in ((True, "right"), (False, "wrong"))}


def show(result: dict[str, Any]) -> None:
    print(f"{result['responses']} responses with one answer that is mathematics")
    print(f"{'':26}{'credited, of the right':>26}{'credited, of the wrong':>26}")
    for name, found in result["functions"].items():
        for label, group in (("by the data set", found["labelled"]), ("by reading", found["read"])):
            cells = [
                f"{group[key]['part']} of {group[key]['of']} ({group[key]['share']:.1%})" for key in ("right", "wrong")
            ]
            print(f"{name + ', ' + label:42}{cells[0]:>22}{cells[1]:>24}")
    for item in result["unread disagreements"]:
        print(f"to be read: {item}")
    for name, reason in result["absent"].items():
        print(f"{name}: {reason}")


def main() -> int:
    parser = script.parser("Final answers of model responses beside the published ones.", data=DATA)
    parser.add_argument("--only", action="append", choices=sorted(FUNCTIONS))
    options = parser.parse_args()
    script.require(options.data / FILE)
    items = responses(options.data)
    result: dict[str, Any] = {
        "responses": len(items), "functions": {}, "absent": {}, "disagreements by reading": [],
        "unread disagreements": [],
    }  # fmt: skip
    for function in options.only or FUNCTIONS:
        try:
            answers, versions = ask(function, items)
        except (RivalError, FileNotFoundError):
            result["absent"][function] = "no environment; `make bench` builds it"
            continue
        decided = [(each, is_credited(answer)) for each, answer in zip(items, answers, strict=True)]
        result["functions"][function] = {
            "versions": versions,
            "labelled": counts(decided, by_reading=False),
            "read": counts(decided, by_reading=True),
        }
        if function == OURS:
            known = tomllib.loads(READ.read_text(encoding="utf-8"))["read"]
            result["unread disagreements"] = [
                each.key for each, credited in decided if credited != each.is_right and each.key not in known
            ]
            result["disagreements by reading"] = [
                each.key for each, credited in decided if credited != each.is_right_by_reading
            ]
    script.tell(result, show, as_json=options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
