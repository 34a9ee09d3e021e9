"""Write the figures of README.md and of docs/explanation/benchmarks.md from `benchmarks/results/*.json`.

They stand between two markers in each. README has one table and one line, the page has all. `--one-version` fails where
what both show is of several versions of what is measured: of commits that differ in one of the folders `MEASURED`.

python benchmarks/readme_figures.py [--check] [--one-version]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.evidence import git  # noqa: E402

README = ROOT / "README.md"
PAGE = ROOT / "docs" / "explanation" / "benchmarks.md"
RESULTS = ROOT / "benchmarks" / "results"
JUDGES = ("prism", "math-verify", "latex2sympy2_extended + simplify", "sympy's parser + simplify")
NOT_SHOWN = ("suites, core, units",)  # pairs of units, which the result file has
MEASURED = ("prism", "grammar", "constants", "dags")
START, END = "<!-- figures: written by benchmarks/readme_figures.py -->", "<!-- end of figures -->"


_shown: dict[str, dict[str, Any]] = {}  # the results that were asked for, by name


def result(name: str) -> dict[str, Any]:
    if name not in _shown:
        _shown[name] = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return _shown[name]


def provenance(data: dict[str, Any]) -> str:
    return f"commit {data['commit'][:10]}, {data['commit_date'][:10]}, `{data['command']}`"


def accuracy() -> list[str]:
    data = result("near_misses")
    found = data["result"]
    lines = [
        f"Generated from {found['formulas']} physics formulas ({provenance(data)}):",
        "",
        "| | n | equivalent | different | undecided |",
        "|---|---|---|---|---|",
    ]
    names = {
        "near_misses": "one fault put in",
        "same_after_all": "a fault that changes nothing",
        "rewrites": "rewritten, same meaning",
    }
    for key, name in names.items():
        if counts := found.get(key):
            row = [str(counts.get(status, 0)) for status in ("equivalent", "different", "undecided")]
            lines.append(f"| {name} | {sum(counts.values())} | {' | '.join(row)} |")
    shares = {
        "false accepts": "false_accepts",
        "false rejects": "false_rejects",
        "undecided rewrites": "undecided_same",
    }
    if all(key in found for key in shares.values()):
        words = [
            f"{name} {found[key]['share']:.2%} ({found[key]['low']:.2%} to {found[key]['high']:.2%})"
            for name, key in shares.items()
        ]
        lines += ["", f"With 95 % intervals: {', '.join(words)}."]
    return lines


def graded() -> list[str]:
    data = result("graded_cases")
    lines = [
        f"Labelled development cases, 12 problems with four students each ({provenance(data)});",
        "graded with what problem and solution define put in, and without, each against its own label:",
        "",
        "| student | definitions | nodes | labels right | missed | falsely matched | exact sets |",
        "|---|---|---|---|---|---|---|",
    ]
    for label in ("with definitions", "without definitions"):
        for kind, row in data["result"][label].items():
            share = f"{row['right']} ({row['right'] / row['nodes']:.1%})"
            exact = f"{row['exact']} of {row['solutions']}"
            used = label.removesuffix(" definitions")
            lines.append(f"| {kind} | {used} | {row['nodes']} | {share} | {row['missed']} | {row['false']} | {exact} |")
    return lines


def claims() -> list[str]:
    data = result("attacks")
    found, labels = data["result"]["attacks"], data["result"]["labels"]
    return [
        f"Policies that aim at the score without solving ({provenance(data)}): {found['policies']} of them on",
        (
            f"{found['problems']} problems, {found['trials']} trials. Beyond its honest part a policy gains in "
            f"{found.get('gains', 0)}; in {found.get('gains, permitted', 0)}"
        ),
        (
            f"a rule lets a step on the way through, and {found.get('gains, known gaps', 0)} are faults that are known "
            f"({found['policies with a known gap']} policies)."
        ),
        (
            f"Of {labels['nodes']} nodes of the {labels['solutions']} shipped solutions {labels['differ']} differ from "
            f"their label and {labels['known gaps']} are known gaps."
        ),
    ]


def itself() -> list[str]:
    data = result("worked")
    own = data["result"]["self"]
    lines = [
        f"Worked solutions of others against a DAG of their own display formulas ({provenance(data)}):",
        f"{own['matched']} of {own['nodes']} nodes are matched. Neighbours of their chains:",
        "",
        "| chains of | links | confirmed | refuted | approximate | undecided |",
        "|---|---|---|---|---|---|",
    ]
    for name in ("worked.jsonl", "rollouts.jsonl"):
        row = data["result"][f"links of {name}"]
        statuses = ("confirmed", "refuted", "approximate", "undecided")
        counts = [row["links"], *(row["statuses"].get(status, 0) for status in statuses)]
        lines.append(f"| {name.removesuffix('.jsonl')} | {' | '.join(map(str, counts))} |")
    return lines


def context_costs() -> list[str]:
    data = result("context_speed")
    row = data["result"]
    total, median = f"{row['added_share_of_total']:.0%}", f"{row['added_share_median']:.0%}"
    return [
        f"What problem and solution define and give adds to the time of a grade, {row['n']} model responses",
        f"({provenance(data)}): {total} in all, {median} at the median.",
    ]


def reading() -> list[str]:
    data = result("reader")
    lines = [
        f"Distinct formulas of collected material ({provenance(data)});",
        "what is no mathematics is told apart by rules of the script, not of the reader:",
        "",
        "| formulas | n | no mathematics | of the rest read |",
        "|---|---|---|---|",
    ]
    names = {
        "formulas.jsonl, as they stand": "of 49 constructs, uncut",
        "worked.jsonl": "of 400 worked solutions",
        "rollouts.jsonl": "of 640 model responses",
    }
    for source, name in names.items():
        row = data["result"]["sources"][source]
        lines.append(f"| {name} | {row['formulas']} | {row['outside']} | {row['share_read']:.1%} |")
    return lines


def extraction() -> list[str]:
    data = result("extraction")
    total = data["result"]["all"]
    labelled = total["labelled"]
    lines = [
        f"Formulas found in model responses, against {labelled['labels']} hand-made labels",
        f"in {labelled['responses']} of them ({provenance(data)}):",
        "",
        "| | with a relation, a response | recall | precision |",
        "|---|---|---|---|",
    ]
    for name, key in (("`prism.extract`", "extract"), ("only what stands between delimiters", "delimiters")):
        row = total[key]
        found = f"{row['formulas_with_a_relation_per_response']:.1f}"
        shares = [
            f"{row[kind]['share']:.1%} ({row[kind]['low']:.1%} to {row[kind]['high']:.1%})"
            for kind in ("recall", "precision")
        ]
        lines.append(f"| {name} | {found} | {' | '.join(shares)} |")
    return lines


def pairs() -> list[str]:
    data = result("pairs")
    lines = [
        f"Labelled pairs of formulas ({provenance(data)});",
        "each judge in its best configuration and a process of its own:",
        "",
        "| pairs | judge | right | missed | falsely accepted |",
        "|---|---|---|---|---|",
    ]
    for name, size in data["result"]["sets"].items():
        for judge in () if name in NOT_SHOWN else JUDGES:
            found = data["result"]["judges"][judge]
            row = found["sets"][name]["all"]
            right = row["right"]
            share = f"{right['part']} ({right['share']:.1%}, {right['low']:.1%} to {right['high']:.1%})"
            wrong = f"{row['missed equal']['part']} | {row['false accepts']['part']}"
            lines.append(f"| {name}, {size['pairs']} | {judge} | {share} | {wrong} |")
    return lines


def speed() -> list[str]:
    data = result("start_up")
    lines = [f"Cold starts on {data['cores']} cores, median of separate processes ({provenance(data)}):", ""]
    lines += ["| | seconds |", "|---|---|"]
    lines += [f"| {name} | {row['median_s']:.2f} |" for name, row in sorted(data["result"].items())]
    return lines


def is_measured(*names: str) -> bool:
    return all((RESULTS / f"{name}.json").exists() for name in names)


def bulk() -> list[str]:
    """Bulk runs; nothing before they have been measured."""
    if not is_measured("bulk_speed"):
        return []
    data = result("bulk_speed")
    found, warm = data["result"]["runs"], data["result"]["warm"]
    lines = [
        f"`prism run` over {found['1 workers']['rollouts']} model responses, from end to end ({provenance(data)}):",
        "",
        "| workers | seconds | rollouts a second | a processor second | peak of a worker | incidents |",
        "|---|---|---|---|---|---|",
    ]
    for n in (1, 2):
        row = found[f"{n} workers"]
        rates = f"{row['rollouts_a_second']} | {row['rollouts_a_processor_second']}"
        lines.append(f"| {n} | {row['seconds']:.0f} | {rates} | {row['worker_peak_mb']:.0f} MB | {row['incidents']} |")
    loops = [found[name]["gain"] for name in ("loops_before", "loops_after")]
    shares = ", ".join(f"{name} {share:.0%}" for name, share in warm["shares"].items())
    first, again = (warm[name]["rollouts_a_processor_second"] for name in ("first", "again"))
    return [
        *lines,
        "",
        f"Two workers gained {found['gain']}; two plain loops at once gained {loops[0]} before and {loops[1]} after.",
        f"Warm, in one process: {first} rollouts a processor second ({shares}), {again} when they come again.",
    ]


def served() -> list[str]:
    """The server under load; nothing before it has been measured."""
    if not is_measured("server"):
        return []
    data = result("server")
    found = data["result"]
    met, new, twice = found["closed"], found["first"], found["open"]
    slow = [f"p99 {part['accepted_ms']['p99']:.0f} ms" for part in (met, twice)]
    return [
        f"`prism serve` on 2 cores, {found['workers']} workers, {met['clients']} clients ({provenance(data)}):",
        f"{met['requests_per_s']} requests a second of solutions met before ({slow[0]}), {new['requests_per_s']}",
        f"of new ones. At twice that {twice['share_429']:.0%} are sent away at once (429), the others have {slow[1]}.",
    ]


def survival() -> list[str]:
    """What runs survive, and whether their output is always the same; nothing before it has been measured."""
    if not is_measured("kills", "same_output", "threads"):
        return []
    killed, same, threads = (result(name) for name in ("kills", "same_output", "threads"))
    workers, supervisors = (killed["result"][kind] for kind in ("workers", "supervisors"))
    differ = workers["outputs that differ"] + supervisors["outputs that differ"]
    ways, together, memory = same["result"], threads["result"]["threads"], threads["result"]["memory"]
    grows = f"{memory['second_half_grows_by']:.1%}"
    return [
        f"SIGKILL to a worker {workers['kills']} times, and {supervisors['kills']} times to a run that is then resumed",
        f"({provenance(killed)}): {differ} outputs differ, {supervisors['graded twice']} rollouts are graded twice.",
        f"One run in {len(ways['sha256'])} ways: workers, order, hash seeds, formats ({provenance(same)}):",
        f"{len(ways['differ'])} outputs differ. From {together['threads']} threads ({provenance(threads)}):",
        f"{together['differ']} of {together['grades']} grades differ.",
        f"In {memory['calls']:,} calls the second half adds {grows} of memory.",
    ]


def rewards() -> list[str]:
    """Rewards beside math-verify's; nothing before they have been measured."""
    if not is_measured("rewards"):
        return []
    data = result("rewards")
    lines = [
        f"Rewards for {data['result']['rollouts']} of these responses ({provenance(data)}); math-verify compares one",
        "answer, PRISM every formula with every node:",
        "",
        "| function, thread | rewarded | raised | timeout | processor ms, median | p99 |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in data["result"]["functions"].items():
        counts = " | ".join(str(row["outcomes"].get(key, 0)) for key in ("rewarded", "raised", "timeout"))
        times = " | ".join(str(row["processor_ms"].get(key, "")) for key in ("median", "p99"))
        lines.append(f"| {name} | {counts} | {times} |")
    return lines


def share(part: dict[str, Any]) -> str:
    """A share with its interval, as `intervals.py` makes it."""
    return f"{part['count']} of {part['n']} ({part['share']:.1%}, {part['low']:.1%} to {part['high']:.1%})"


def diagnoses() -> list[str]:
    """What is told of single faults; nothing before it has been measured."""
    if not is_measured("diagnosis"):
        return []
    data = result("diagnosis")
    names = {"shipped": "shipped problems", "collected": "collected problems"}
    rows = [
        f"| {names[source]}, {place} | {share(found['right'])} | {found['milliseconds']['median']:.0f} |"
        for source in names
        if source in data["result"]
        for place, found in (
            ("the fault alone", data["result"][source]["alone"]),
            ("among right formulas", data["result"][source]["among_right_ones"]),
        )
    ]
    return [
        f"Single faults put into formulas and numbers of reference DAGs ({provenance(data)});",
        "the class that is told, at the right node:",
        "",
        "| faults | right | ms, median |",
        "|---|---|---|",
        *rows,
    ]


def drafts() -> list[str]:
    """Drafted problem files, and their edges beside hand-made ones; nothing before they have been measured."""
    if not is_measured("drafting"):
        return []
    data = result("drafting")
    found = data["result"]
    made = found["drafts"]
    faults = sum(n for name, n in made["findings"].items() if name.startswith("fault"))
    n_file = made["rows"] - made["rows without a node"]
    matched = f"{made['nodes matched by their own solution']} of {made['nodes']}"
    lines = [
        f"`prism draft` on {made['rows']} worked solutions of others ({provenance(data)}):",
        f"{n_file} files, {faults} lint faults, {matched} nodes matched by their own solution. Who follows from whom,",
        "beside DAGs made by hand (ancestors, the hand-made nodes given):",
        "",
        "| DAGs | rule | precision | recall | hand-made pairs |",
        "|---|---|---|---|---|",
    ]
    for source, name in (("edges of cases", "12 collected"), ("edges of dags", "27 shipped")):
        for rule, row in found.get(source, {}).get("given_the_nodes", {}).items():
            if rule != "problems":
                own = row["ancestors"]
                lines.append(f"| {name} | {rule} | {own['precision']:.2f} | {own['recall']:.2f} | {own['hand_made']} |")
    return lines


def raters() -> list[str]:
    """Agreement of raters on collected material; nothing before it has been measured."""
    if not is_measured("agreement"):
        return []
    data = result("agreement")
    found = data["result"]
    people = found["people"]["pairs"][0]
    judged = found["judge"]["by_score"]["score"]["pairs"][0]
    rows = []
    for name, pair in (("two people, rubric items", people), ("a published judge and PRISM, drafted DAGs", judged)):
        for key in ("kendall_tau_b", "cohen_kappa", "krippendorff_alpha_interval"):
            one = pair["coefficients"][key]
            words = key.replace("_", " ")
            rows.append(
                f"| {name} | {words} | {one['value']:.3f} | {one['low']:.3f} to {one['high']:.3f} | {one['n']} |"
            )
    worst = max(
        value
        for table in (*found["differences_from_oracles"].values(), *(t["differences"] for t in found["time"].values()))
        for value in table.values()
    )
    seconds = found["time"]["twenty_steps"]["seconds"]
    return [
        f"`prism agree` ({provenance(data)}), intervals by bootstrap over problems:",
        "",
        "| raters | coefficient | value | 95 % | items |",
        "|---|---|---|---|---|",
        *rows,
        "",
        f"Largest difference from scipy, scikit-learn and statsmodels: {worst:.1g}. All coefficients of 100,000",
        f"items on 21 steps with their intervals: {seconds} s. The DAGs are drafts that nobody checked: the judge's",
        "rows say what agreement looks like, not who is right.",
    ]


def paper() -> list[str]:
    """Return the comparison with the paper's algorithm, pair by pair."""
    data = result("algorithm1")
    found = data["result"]
    right, seconds = found["right_in_disagreement"], found["seconds"]
    stopped = f"{seconds['killed']} after {seconds['limit']:.0f} s"
    return [
        f"The paper's Algorithm 1 beside PRISM, {found['pairs']} pairs ({provenance(data)}):",
        f"they agree on {found['agree']}; on {found['no_verdict']} Algorithm 1 has no verdict. Each of the other",
        f"{found['disagree']} was read: PRISM is right in {right['prism']}, Algorithm 1 in {right['algorithm_1']}, and",
        f"{right['convention']} is a matter of convention. Algorithm 1 takes {seconds['median']} s at the median,",
        f"and was stopped on {stopped}.",
        *_with_real_roots(found),
    ]


def _with_real_roots(found: dict[str, Any]) -> list[str]:
    """Return what becomes of the disagreements with all real solutions; nothing of a run that did not ask."""
    if "with_real_roots" not in found:
        return []
    again = found["with_real_roots"]
    before = again["outcomes_by_who_and_before"]["prism"]["too_few_trials"]
    return [
        f"With all real solutions in place of the positive ones {again['disagree_still']} disagreements stay; of",
        f"{sum(before.values())} with too few trials in which PRISM is right it agrees in {before['equivalent']}.",
    ]


def parsing() -> list[str]:
    """Return the times of readers on the same formulas."""
    data = result("parse_speed")
    rows = [(name, row["read"], row["failed"] + row["timeout"]) for name, row in data["result"]["rivals"].items()]
    lines = [
        f"The same formulas, read for the first time ({provenance(data)}); times of those that are read:",
        "",
        "| reader | read | not read | median, µs | p99, µs |",
        "|---|---|---|---|---|",
    ]
    for name, row, failed in rows:
        times = f"{row['us_a_formula_median']:,.0f} | {row['us_a_formula_p99']:,.0f}"
        lines.append(f"| {name} | {row['formulas']} | {failed} | {times} |")
    return lines


def reports() -> list[str]:
    """Return what a report costs, and what a browser makes of it."""
    data = result("report")
    built, seen = data["result"]["rollouts"]["built"], data["result"]["rollouts"]["browser"]
    cost = f"{built['seconds']:.0f} s, {built['peak_mb']:.0f} MB, a page of {built['bytes'] / 1e6:.1f} MB"
    counts = f"{len(seen['requests'])} requests, {len(seen['trouble'])} messages, {seen['scripts']} scripts"
    return [
        f"`prism report` of {built['rollouts']} rollouts ({provenance(data)}):",
        f"{cost}. {seen['version']} shows it in {seen['load_s']} s,",
        f"with {counts}, and {seen['overflow_px']} pixels too wide on a telephone.",
    ]


def everywhere() -> list[str]:
    """Return whether verdicts depend on kernels, order, hash seed, worker or thread."""
    data, calls = result("same_everywhere"), result("reward_calls")
    found, reward = data["result"], calls["result"]
    same = f"{reward['different_from_one_thread']} of {reward['compared']}"
    return [
        f"{found['pairs']} pairs decided in {len(found['verdicts'])} ways, with other kernels, orders, hash seeds and",
        f"workers ({provenance(data)}): {len(found['differ'])} verdicts differ.",
        f"{reward['calls']:,} rewards from {reward['threads']} threads ({provenance(calls)}):",
        f"{reward['failures']} failures, {same} differ from those of one thread.",
    ]


def new_problems() -> list[str]:
    """One response to each of many new problems, beside the tree before; nothing before it has been measured."""
    if not is_measured("beside_before"):
        return []
    data = result("beside_before")
    lines = []
    for name in ("problems of display formulas", "drafted problems"):
        found = data["result"][name]
        ours, ratio = found["this tree"], found["ratios"]["tree before"]
        before = data["result"]["base"][:7]
        stopped = found["tree before"]["outcomes"].get("timeout", 0)
        rate = f"{ratio['mean']} times" + f", {stopped} of which that tree had not ended after a minute" * bool(stopped)
        beside = f"at the median {ratio['median']} times the rate of {before}, at the mean {rate}"
        lines.append(f"{ours['a_second']} on {name} ({found['responses']}; {beside})")
    of = f"one of {data['cores']} cores, {data['machine']}; {provenance(data)}"
    return [f"A processor second grades, each response to a new problem: {' and '.join(lines)} ({of})."]


def headline() -> list[str]:
    """Return the one table and the one line of README."""
    data, bulk_data, start = result("pairs"), result("bulk_speed"), result("start_up")
    sets = [name for name in data["result"]["sets"] if name not in NOT_SHOWN]
    lines = [
        f"Labelled pairs of formulas, each judge in its best configuration ({provenance(data)}):",
        "",
        "| judge | pairs | right | missed | falsely accepted |",
        "|---|---|---|---|---|",
    ]
    for judge in JUDGES:
        rows = [data["result"]["judges"][judge]["sets"][name]["all"] for name in sets]
        right, missed, false = (
            sum(row[key]["part"] for row in rows) for key in ("right", "missed equal", "false accepts")
        )
        n = sum(data["result"]["sets"][name]["pairs"] for name in sets)
        lines.append(f"| {judge} | {n} | {right} ({right / n:.1%}) | {missed} | {false} |")
    run, check = bulk_data["result"]["runs"]["2 workers"], start["result"]["prism check, interpreted kernels"]
    groups = f"Two workers grade {run['rollouts_a_second']} responses of groups a second ({provenance(bulk_data)})"
    first = f"a first `prism check` takes {check['median_s']:.1f} s ({provenance(start)})"
    return [
        *lines,
        "",
        *new_problems(),
        f"{groups}; {first}.",
    ]


BESIDE_ANOTHER = {"beside_before", "algorithm1"}  # another tree, another algorithm; each names its commit
SECTIONS = {
    "Are two formulas the same?": (accuracy, pairs, paper),
    "Is a solution graded right?": (graded, claims, itself),
    "What is wrong with a formula, and drafts of problem files": (diagnoses, drafts),
    "Agreement of raters": (raters,),
    "Reading": (reading, extraction, parsing),
    "Speed": (context_costs, speed, new_problems, bulk, served, rewards, reports),
    "What a run survives": (survival, everywhere),
}


def everything() -> str:
    """Return all tables under their headings."""
    found = []
    for heading, parts in SECTIONS.items():
        found.append(f"## {heading}")
        found += ["\n".join(lines) for lines in (part() for part in parts) if lines]
    return "\n\n".join(found)


def filled(path: Path, body: str) -> str:
    """Return the text of a file with what stands between its markers replaced."""
    before, rest = path.read_text("utf-8").split(START)
    return f"{before}{START}\n\n{body}\n\n{END}{rest.split(END)[1]}"


def versions() -> dict[str, list[str]]:
    """Map the commits of each version of what is measured to the results, of those that are shown, of that version.

    Commits that differ only in benchmarks, tests and texts measure the same thing. What is held beside another tree or
    algorithm stands alone.
    """
    found: dict[str, list[str]] = {}
    names: dict[str, set[str]] = {}
    for name in sorted(_shown.keys() - BESIDE_ANOTHER):
        commit = result(name)["commit"]
        trees = [git("rev-parse", f"{commit}:{folder}") for folder in MEASURED]
        version = " ".join(trees) if all(trees) else commit
        found.setdefault(version, []).append(name)
        names.setdefault(version, set()).add(commit[:10])
    return {" ".join(sorted(names[version])): results for version, results in found.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the figures of README and of the page on benchmarks.")
    parser.add_argument("--check", action="store_true", help="only say whether both are current")
    parser.add_argument("--one-version", action="store_true", help="fail if what is shown is of several versions")
    options = parser.parse_args()
    current = {path: filled(path, body) for path, body in ((README, "\n".join(headline())), (PAGE, everything()))}
    stale = [path for path, text in current.items() if path.read_text("utf-8") != text]
    for path in stale:
        if options.check or options.one_version:
            print(f"{path.relative_to(ROOT)}: its figures are not those of benchmarks/results")
        else:
            path.write_text(current[path], encoding="utf-8")
    several = options.one_version and len(versions()) > 1
    for commits, names in versions().items() if several else ():
        print(f"{commits}: {', '.join(names)}")
    return int(several or (options.check and bool(stale)))


if __name__ == "__main__":
    raise SystemExit(main())
