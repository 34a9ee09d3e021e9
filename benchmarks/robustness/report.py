r"""The report as people meet it: how long it takes, how large it gets, and what a browser makes of it.

*Rollouts*: responses of `rollouts.jsonl` against DAGs made by rule (`rollout_problems.py`), graded by `prism run`, with
the grades that came with them as a judge. Fewer responses have a DAG than the 640 that a page has to hold, so their
rows are taken again, from the first on, under other sample ids, until there are 640: texts and formulas are as long as
real ones, and only problems and headings repeat. *Shipped*: the students of the shipped problems, which have titles,
domains and levels.

Each page is written by `prism report` in a new process: seconds by the clock, the most memory it held, bytes. Then
Chromium opens it, without a display: what it asks the network for, errors and violations of the page's policy, how far
it is wider than a phone of 360 px (as it opens, and with everything unfolded), whether the keyboard reaches what can be
unfolded, whether a link unfolds what it leads into, the lowest contrast of text with what is behind it in light and in
dark (WCAG 2.2, 1.4.3, asks for 4.5), and pages in print. `--shots` keeps pictures, to be looked at.

    python benchmarks/robustness/report.py [--data FOLDER] [--shots FOLDER] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.material import DATA, NO_DATA  # noqa: E402
from benchmarks.processes import done  # noqa: E402
from benchmarks.robustness.chromium import Page, browser, installed  # noqa: E402
from benchmarks.robustness.shipped import DAGS, rollouts  # noqa: E402
from benchmarks.robustness.shipped import write as write_rows  # noqa: E402
from benchmarks.rollout_problems import is_here, material, write  # noqa: E402

N = 640  # rollouts that a page has to hold
PHONE, DESK = (360, 740), (1200, 1500)  # px
_TABS = 60

# The least contrast of any text that is shown, with the text: luminance and ratio as WCAG 2.2 defines them.
_CONTRAST = """(() => {
  const number = c => c.match(/[\\d.]+/g).map(Number);
  const part = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
  const behind = e => { for (; e; e = e.parentElement) {
      const c = number(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; }
    return matchMedia('(prefers-color-scheme: dark)').matches ? [0, 0, 0] : [255, 255, 255]; };
  let least = [99, ''];
  for (const e of document.querySelectorAll('body *')) {
    if (e.closest('svg, math') || !e.checkVisibility()) continue;
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const a = light(number(getComputedStyle(e).color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least[0]) least = [ratio, e.tagName + ' ' + e.className];
  }
  return [Math.round(least[0] * 100) / 100, least[1]];
})()"""
_SVG_CONTRAST = """(() => { const s = getComputedStyle(document.documentElement), names = ['--accent', '--on-accent'];
  return names.map(n => s.getPropertyValue(n).trim()); })()"""


# Pages ------------------------------------------------------------------------------------------------------------


def rollout_files(data: Path, folder: Path) -> dict[str, Path]:
    """Results, problems, rollouts and judgements of N rows; real ones again and again until there are so many."""
    found = material(data)
    problems, responses = write(found, folder)
    results = folder / "graded.jsonl"
    done([problems, responses, "-o", results, "--workers", "1"])
    lines = (data / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
    given = {f"{row['id']} | {row['model']}": row["graded_correct"] for row in map(json.loads, lines)}
    rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    paths = {"problems": problems}
    for name in ("results", "rollouts", "judge"):
        source = found.rollouts if name == "rollouts" else rows
        listed = []
        for k, row in enumerate(islice(cycle(source), N)):
            own = {**row, "sample_id": f"{row['sample_id']} ({k // len(source) + 1})"}
            score = given[row["sample_id"]]
            listed.append({"problem_id": row["problem_id"], "sample_id": own["sample_id"], "score": score}
                          if name == "judge" else own)  # fmt: skip
        paths[name] = write_rows(listed, folder / f"{name}.jsonl")
    return paths


def shipped_files(folder: Path) -> dict[str, Path]:
    """The same of the shipped problems' students, without a judge."""
    rows = [{key: value for key, value in row.items() if key != "model"} for row in rollouts()]
    responses = write_rows(rows, folder / "students.jsonl")
    results = folder / "students_graded.jsonl"
    done([DAGS, responses, "-o", results, "--workers", "1"])
    return {"problems": DAGS, "results": results, "rollouts": responses}


def built(paths: dict[str, Path], page: Path, *more: str) -> dict[str, Any]:
    """Write a page in a process of its own."""
    words = [str(paths["results"]), "-o", str(page), "--force", *more]
    for name in ("problems", "rollouts", "judge"):
        words += [f"--{name}", str(paths[name])] if name in paths else []
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "prism", "report", *words], cwd=ROOT, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise RuntimeError(f"prism report {' '.join(words)}: status {status}")
    html = page.read_text(encoding="utf-8")
    return {
        "seconds": round(seconds, 2), "processor_s": round(used.ru_utime + used.ru_stime, 2),
        "peak_mb": round(used.ru_maxrss / 1024, 1), "bytes": page.stat().st_size,
        "rollouts": html.count('<details class="rollout">'), "texts": html.count('<pre class="text">'),
        "tables": html.count("<table>"), "drawings": html.count('<svg class="dag"'), "mathml": html.count("<math>"),
    }  # fmt: skip


# In the browser ---------------------------------------------------------------------------------------------------


def seen(page: Page, path: Path) -> dict[str, Any]:
    """What Chromium makes of a page."""
    page.look(*DESK)
    start = time.perf_counter()
    page.open(path)
    seconds = time.perf_counter() - start
    found: dict[str, Any] = {"load_s": round(seconds, 2), "keyboard": keyboard(page), "links": links(page)}
    for scheme in ("light", "dark"):
        page.look(*DESK, scheme)
        found[f"contrast_{scheme}"] = page.run(_CONTRAST)
        found[f"contrast_node_{scheme}"] = ratio(*page.run(_SVG_CONTRAST))
    page.look(*PHONE)
    page.open(path)
    found["overflow_px"] = overflow(page)
    pdf = page.pdf()
    found["print"] = {"pages": len(re.findall(rb"/Type\s*/Page\b", pdf)), "bytes": len(pdf)}
    page.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    found["overflow_unfolded_px"] = overflow(page)
    found["requests"] = page.requests()
    found["trouble"] = page.trouble()
    found["scripts"] = page.run("document.scripts.length")
    return found


def overflow(page: Page) -> int:
    """By how much the page is wider than the window [px]."""
    return int(page.run("document.documentElement.scrollWidth - innerWidth"))


def keyboard(page: Page) -> dict[str, Any]:
    """Where the tabulator leads, and whether the entry key unfolds."""
    page.run("document.querySelector('#problems-h').scrollIntoView(); document.activeElement.blur()")
    first = ""
    reached = 0
    opened = False
    page.run("scrollTo(0, 0)")
    for n in range(_TABS):
        page.press("Tab")
        told = str(page.run("document.activeElement.tagName + ' ' + document.activeElement.className"))
        first = first if n else told
        if told.startswith("SUMMARY"):
            reached += 1
            if not opened:
                page.press("Enter")
                opened = bool(page.run("document.activeElement.parentElement.open"))
    ring = page.run("getComputedStyle(document.activeElement).outlineStyle")
    return {"first": first, "summaries_in_60_tabs": reached, "enter_unfolds": opened, "focus_ring": ring}


def links(page: Page) -> dict[str, bool]:
    """Whether following a link unfolds what it leads into: a problem, and a rollout within one."""
    found = {}
    for name, target in (("problem", "p1"), ("rollout", "r1")):
        page.run(f"location.hash = '{target}'")
        found[name] = bool(page.run(f"(() => {{ let e = document.getElementById('{target}'), all = true;"
                                    " for (; e; e = e.parentElement) if (e.tagName === 'DETAILS') all &&= e.open;"
                                    " return all; })()"))  # fmt: skip
    return found


def ratio(one: str, other: str) -> float:
    """Contrast of two colours `#rrggbb` or `#rgb` (WCAG 2.2)."""
    lights = []
    for colour in (one, other):
        digits = colour.lstrip("#")
        digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
        parts = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        lights.append(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    return round((max(lights) + 0.05) / (min(lights) + 0.05), 2)


def shots(page: Page, path: Path, folder: Path, name: str) -> None:
    """Pictures of the summary, the judges, one problem and one rollout, on a desk in light and dark and on a phone."""
    folder.mkdir(parents=True, exist_ok=True)
    best = "[...document.querySelectorAll('details.rollout')].find(e => e.querySelector('svg.dag'))"
    views = {
        "summary": "scrollTo(0, 0)",
        "scores": "document.querySelector('#scores').scrollIntoView()",
        "judges": "(document.querySelector('#judges') || document.body).scrollIntoView()",
        "problem": f"(() => {{ const e = {best}.closest('details.problem'); e.open = true; e.scrollIntoView(); }})()",
        "rollout": f"(() => {{ const e = {best}; e.open = true; e.scrollIntoView(); }})()",
        "text": f"{best}.querySelector('pre').scrollIntoView()",
    }
    for look, size, scheme in (("light", DESK, "light"), ("dark", DESK, "dark"), ("phone", PHONE, "light")):
        page.look(*size, scheme)
        page.open(path)
        for view, script in views.items():
            page.run(script)
            page.shot(folder / f"{name}_{view}_{look}.png")


def measured(data: Path, folder: Path, pictures: Path | None) -> dict[str, Any]:
    """Both pages, and that of the rollouts without its limit."""
    found: dict[str, Any] = {}
    for name, paths in (("rollouts", rollout_files(data, folder)), ("shipped", shipped_files(folder))):
        page = folder / f"{name}.html"
        found[name] = {"built": built(paths, page)}
        again = folder / "again.html"
        built(paths, again)
        found[name]["same_bytes"] = again.read_bytes() == page.read_bytes()
        if name == "rollouts":
            found[name]["full"] = built(paths, folder / "full.html", "--full")
        if installed():
            with browser() as window:
                found[name]["browser"] = {
                    "version": window.ask("Browser.getVersion")["product"], **seen(window, page),
                }  # fmt: skip
                if pictures is not None:
                    shots(window, page, pictures, name)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build reports, and look at them in a browser.")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--shots", type=Path, help="folder for pictures")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    options = parser.parse_args(arguments)
    if not is_here(options.data):
        return NO_DATA
    if not installed():
        print("no Chromium on this machine: pages are built, and not opened", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        found = measured(options.data, Path(folder), options.shots)
    if options.json:
        print(json.dumps(found, sort_keys=True))
    else:
        for name, each in found.items():
            for key, value in each.items():
                print(f"{name}, {key}: {value}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
