r"""Does a change leave every grade as it was? Score rows and reports of two trees of this project, byte for byte.

Each tree grades the students of its shipped problems and, where the collected material is on this machine, the
responses of `benchmarks/rollout_problems.py`. It writes two files: `rows.jsonl` has the score row of each solution,
`reports.jsonl` what `prism explain --json` prints for it. Then the files of the two trees are compared.

The responses' problems are drafted by the tree of DRAFTER, whatever tree grades them: drafting is itself under change.
Their digest stands in `DIGEST`; the texts stay on this machine.

    python benchmarks/robustness/same_grades.py [--base COMMIT] [--tree FOLDER] [--data FOLDER] [--json]

compares this checkout, or another one (`--tree`), with the commit BASE, which is checked out into a worktree of its
own. What is made of a commit is kept in `.same_grades/` and made only once. Keys and values that were renamed on
purpose since BASE stand in `renamed_since_base.toml` and are applied to its side, and so do lines that differ on
purpose, and fields of certain formulas that are compared in neither tree; `grader`, `schema`, `cost`, `alternative` and
`is_complete` are left out. The exit code is 1 if any other byte differs.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA  # noqa: E402

BASE = "1627b3646130aa5df966ddb3ac507b1dfeb46720"
DRAFTER = "230750245c5fe5f8705e6adf7b6969cd919b4165"
DIGEST = "74d86f73530a1adf9459bfae221e3ee6558fc3acd1946d9791cd42edaad7dbfe"
KEPT = ROOT / ".same_grades"
RENAMED = Path(__file__).with_name("renamed_since_base.toml")
FILES = ("rows.jsonl", "reports.jsonl")
LEFT_OUT = frozenset(("grader", "schema", "cost", "is_complete", "alternative"))
SHOWN = 20  # differences that are printed

GRADE = r"""
import json, sys
from pathlib import Path

tree, material, out, part, parts = sys.argv[1:4] + [int(each) for each in sys.argv[4:6]]
import prism
assert Path(prism.__file__).is_relative_to(tree), prism.__file__
from prism.grading import json_line, score_row

prism.warm()
problems = prism.load_problems(Path(tree) / "dags")
texts = [(name, f"{name} {each.name}", each.solution) for name, one in problems.items() for each in one.students]
if material:
    problems = {**problems, **prism.load_problems(Path(material) / "problems.jsonl")}
    lines = (Path(material) / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
    texts += [(row["problem_id"], row["sample_id"], row["response"]) for row in map(json.loads, lines)]
names = sorted({name for name, _, _ in texts})[part::parts]
prepared = {name: prism.prepare(problems[name]) for name in names}
with (open(Path(out) / f"rows.jsonl.{part}", "wb") as rows, open(Path(out) / f"reports.jsonl.{part}", "wb") as reports):
    for name, sample, text in texts:
        if name in prepared:
            grade = prism.grade(prepared[name], text, sample_id=sample)
            row = score_row(problems[name], text, grade)
            told = prism.diagnose(prepared[name], grade).to_dict()
            rows.write(json_line(row) + b"\n")
            reports.write(json_line({"diagnosis": told, "grade": row}) + b"\n")
"""
"""The program that grades in either tree: public names only, and those that `prism.grading` gives away."""


def checkout(commit: str) -> Path:
    """A worktree of a commit, made on first use."""
    path = KEPT / commit[:12]
    if not path.exists():
        KEPT.mkdir(exist_ok=True)
        _run(["git", "worktree", "add", "--force", "--detach", str(path), commit], ROOT)
    return path


def material(base: str, data: Path) -> Path | None:
    """Problems and rollouts as the base drafts them; None where the collected material is not on this machine."""
    if not (data / "rollouts.jsonl").is_file():
        return None
    folder = KEPT / f"material-{base[:12]}"
    if not (folder / "rollouts.jsonl").is_file():
        tree = checkout(base)
        _run([sys.executable, "benchmarks/rollout_problems.py", str(folder), "--data", str(data)], tree)
    return folder


def digest_of(folder: Path) -> str:
    """sha256 over the drafted problems and the rollouts."""
    parts = ((folder / name).read_bytes() for name in ("problems.jsonl", "rollouts.jsonl"))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def grade(tree: Path, found: Path | None, out: Path, jobs: int) -> None:
    """Write the two files of a tree into a folder; as many processes as jobs share the problems."""
    out.mkdir(parents=True, exist_ok=True)
    commands = [
        [sys.executable, "-c", GRADE, str(tree), str(found or ""), str(out), str(part), str(jobs)]
        for part in range(jobs)
    ]
    started = [subprocess.Popen(each, cwd=tree, env=_environment(tree)) for each in commands]
    codes = [each.wait() for each in started]
    if any(codes):
        raise SystemExit(f"{tree}: the solutions were not graded")
    for name in FILES:
        parts = [out / f"{name}.{part}" for part in range(jobs)]
        lines = sorted(line for part in parts for line in part.read_bytes().splitlines(keepends=True))
        (out / name).write_bytes(b"".join(lines))
        for part in parts:
            part.unlink()


def _environment(tree: Path) -> dict[str, str]:
    caches = {"NUMBA_CACHE_DIR": ".numba_cache", "PRISM_CACHE_DIR": ".prism_cache"}
    paths = {key: str(tree / name) for key, name in caches.items()}
    return {**os.environ, **paths, "PYTHONPATH": str(tree), "PRISM_KERNELS": "compiled"}


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, env=_environment(folder), check=True, stdout=subprocess.DEVNULL)


# Comparison -------------------------------------------------------------------------------------------------------


def renamed() -> dict[str, dict[str, str]]:
    """Keys, and values of keys, that have another name now: `{"": {old key: new key}, key: {old value: new value}}`."""
    names = tomllib.loads(RENAMED.read_text(encoding="utf-8"))
    return {key: table for key, table in names.items() if key not in ("deliberate", "uncompared")}


@cache
def uncompared() -> dict[str, list[dict[str, Any]]]:
    """Fields that are compared in neither tree, by the list they stand in: `of` which items, `fields`, and `why`."""
    return tomllib.loads(RENAMED.read_text(encoding="utf-8")).get("uncompared", {})


def deliberate() -> dict[str, dict[str, str]]:
    """Lines that differ on purpose, by file and solution: the case that shows it, and the digest of the new line."""
    return tomllib.loads(RENAMED.read_text(encoding="utf-8")).get("deliberate", {})


def canonical(data: Any, names: Mapping[str, Mapping[str, str]], key: str = "") -> Any:
    """The data without what is left out, and with the new names in place of the old ones."""
    if isinstance(data, dict):
        keys = names.get("keys", {})
        rules = [rule for rule in uncompared().get(key, ()) if rule["of"].items() <= data.items()]
        left_out = LEFT_OUT.union(*(rule["fields"] for rule in rules))
        return {keys.get(k, k): canonical(v, names, k) for k, v in data.items() if k not in left_out}
    if isinstance(data, list):
        return [canonical(each, names, key) for each in data]
    return names.get(key, {}).get(data, data) if isinstance(data, str) else data


def read(path: Path, names: Mapping[str, Mapping[str, str]]) -> dict[str, bytes]:
    """The lines of a file by problem and sample, as bytes in one spelling."""
    rows: dict[str, bytes] = {}
    for line in path.read_bytes().splitlines():
        row = json.loads(line)
        one = row.get("grade", row)
        rows[f"{one['problem_id']} / {one['sample_id']}"] = json.dumps(canonical(row, names), sort_keys=True).encode()
    return rows


def compare(old: Path, new: Path) -> dict[str, list[str]]:
    """Of each file the solutions whose lines differ, or that stand in one of the two only."""
    found = {}
    for name in FILES:
        before, after = read(old / name, renamed()), read(new / name, {})
        known = deliberate().get(name, {})
        found[name] = [
            key
            for key in sorted(before | after)
            if before.get(key) != after.get(key)
            and known.get(key, "").rpartition(" ")[2] != line_digest(after.get(key))
        ]
    return found


def line_digest(line: bytes | None) -> str:
    """The digest by which a deliberate difference is known: it covers no later change of the same line."""
    return hashlib.sha256(line or b"").hexdigest()[:16]


def changes(old: Any, new: Any, where: str = "") -> Iterable[str]:
    """Where two rows differ, with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from changes(old.get(key), new.get(key), f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for k, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from changes(one, other, f"{where}[{k}]")
    elif old != new:
        yield f"{where}: {json.dumps(old)[:200]} -> {json.dumps(new)[:200]}"


def main() -> int:
    parser = script.parser("Compare the grades of two trees, byte for byte.", data=DATA)
    parser.add_argument("--base", default=BASE, help="commit whose grades count")
    parser.add_argument("--tree", type=Path, default=ROOT, help="checkout that is held against it")
    parser.add_argument("--jobs", type=int, default=2, help="processes that grade")
    options = parser.parse_args()
    found = material(DRAFTER, options.data)
    if found is not None and digest_of(found) != DIGEST:
        raise SystemExit(f"{found}: sha256 {digest_of(found)}, and not {DIGEST}: other material, or another drafting")
    kept = KEPT / f"grades-{options.base[:12]}{'' if found else '-shipped'}"
    if not (kept / FILES[-1]).is_file():
        grade(checkout(options.base), found, kept, options.jobs)
    now = KEPT / "now"
    grade(options.tree.resolve(), found, now, options.jobs)
    differ = compare(kept, now)
    counts = {name: len(read(now / name, {})) for name in FILES}
    result = {"base": options.base, "has_responses": found is not None, "solutions": counts, "differ": differ}
    if options.json:
        print(json.dumps(result, sort_keys=True))
    else:
        for name in FILES:
            size = sum(map(len, read(now / name, {}).values()))
            print(f"{name}: {counts[name]} solutions, {size} bytes compared, {len(differ[name])} differ")
        old, new = (read(path / FILES[-1], names) for path, names in ((kept, renamed()), (now, {})))
        for key in differ[FILES[-1]][:SHOWN]:
            print(key)
            one, other = (json.loads(side[key]) if key in side else None for side in (old, new))
            print("".join(f"    {line}\n" for line in list(changes(one, other))[:SHOWN]), end="")
    return int(any(differ.values()))


if __name__ == "__main__":
    raise SystemExit(main())
