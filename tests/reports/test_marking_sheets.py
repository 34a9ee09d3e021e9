"""Marking sheets: what is drawn, what a marker sees, and what comes back."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest
from typer.testing import CliRunner

import prism
from benchmarks.robustness import chromium
from prism.cli import app
from prism.errors import PrismError
from prism.problem.source import problem_path
from prism.reports.html.whole_pages import marking_page
from prism.reports.label_agreement import make_scheme
from prism.reports.marking_sheets import (
    COLUMNS,
    csv_text,
    draw_sheet,
    is_marking_sheet,
    key_text,
    read_key,
    read_marked,
)
from prism.reports.table_formats import FORMULA
from tests.reports.test_judgements import score_row, write

PROBLEMS = ("free_fall", "bucket")
WPC = ("wrong", "partial", "correct")
SCHEME = make_scheme(WPC, is_ordered=True)
HOSTILE = (
    '=1+1 </script><script>alert(1)</script><img src="http://x.y/z"> $v = \\href{javascript:a()}{g} t$ \u202eabc "q",'
    " \n\n;"
)


class Run:
    """Score rows, rollouts, problems and a judge of a made-up run: forty rollouts, scores 0, 1/3, 2/3, 1 in turn."""

    def __init__(self, folder, n=40):
        self.folder, self.n = folder, n
        (folder / "problems").mkdir()
        self.problems = folder / "problems"
        known = {}
        for name in PROBLEMS:
            shutil.copy(problem_path(name), self.problems)
            known[name] = prism.load_problem(problem_path(name))
        self.rows, rollouts, judged = [], [], []
        for k in range(n):
            name = PROBLEMS[k % 3 == 0]
            text = HOSTILE if k == 7 else f"Number {k}: $t_f = \\sqrt{{2h/g}}$.\n\nAnd so $v_f = {k} g t_f$"
            ids = {"problem_id": name, "sample_id": f"SAMPLE{k}"}
            digest = hashlib.sha256(text.encode()).hexdigest()
            more = {
                "problem_sha256": known[name].sha256, "solution_sha256": digest, "formulas": [], "final_correct": True,
                "meta": {"model": f"MODEL{k % 2}", "effort": "high" if k < 10 else "low"},
            }  # fmt: skip
            self.rows.append({**score_row(name, ids["sample_id"], (k % 4) / 3, **more)})
            rollouts.append({**ids, "response": text})
            judged.append({**ids, "judge": "JUDGE", "score": (k % 4) / 3 if k % 8 else 1.0})
        self.results = write(folder / "scores.jsonl", self.rows)
        self.rollouts = write(folder / "rollouts.jsonl", rollouts)
        self.judge = write(folder / "judge.jsonl", judged)

    @property
    def sources(self):
        return ["--problems", self.problems, "--rollouts", self.rollouts]

    def draw(self, n=16, scheme=SCHEME, **options):
        options = {"problems": str(self.problems), "rollouts": self.rollouts, "judges": [self.judge], **options}
        return draw_sheet(options.pop("results", self.results), n, scheme, **options)


@pytest.fixture
def made(tmp_path):
    return Run(tmp_path)


def agree(*words):
    return CliRunner().invoke(app, ["agree", *map(str, words)])


def rows_of(sheet):
    return list(csv.DictReader(io.StringIO(csv_text(sheet).removeprefix("\ufeff"), newline="")))


def fill(path, sheet, label_of, *, delimiter=",", marker="", columns=COLUMNS):
    """Write a filled sheet; `label_of` gives the label of the k-th row."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter=delimiter, extrasaction="ignore")
        writer.writeheader()
        for k, row in enumerate(rows_of(sheet)):
            writer.writerow({**row, "label": label_of(k), "comment": f"of {k}", "marker": marker})
    return path


def keep_key(folder, sheet):
    path = folder / "key.json"
    path.write_text(key_text(sheet.key), encoding="utf-8")
    return path


# Drawing. ----------------------------------------------------------------------------------------------------------


def test_strata_are_those_of_scores_and_judges_and_differences_are_oversampled(made):
    sheet = made.draw()
    found = {each.name: each for each in sheet.key.strata}
    assert {name: each.population for name, each in found.items()} == {
        "score 0, judges agree": 5, "score 0, judges differ": 5, "score 0 to 0.5, judges agree": 10,
        "score 0.5 to 1, judges agree": 10, "score 1, judges agree": 10,
    }  # fmt: skip
    assert sum(each.sampled for each in found.values()) == 16
    chance = {name: each.sampled / each.population for name, each in found.items()}
    assert chance["score 0, judges differ"] > 2 * max(share for name, share in chance.items() if "agree" in name)
    plain = {each.name: each.sampled for each in made.draw(oversampling=1).key.strata}
    assert plain["score 0, judges differ"] == plain["score 0, judges agree"]
    counts = np.bincount(sheet.key.design.of_item).tolist()
    assert counts == [each.sampled for each in sheet.key.strata]


def test_rows_are_of_the_stratum_that_the_key_says(made):
    sheet = made.draw(strata=("effort", "model"), judges=())
    by_id = {row["sample_id"]: row["meta"] for row in made.rows}
    for row in sheet.key.rows:
        meta = by_id[row.sample_id]
        assert sheet.key.strata[row.stratum].name == f"effort {meta['effort']}, model {meta['model']}"


def test_the_same_seed_draws_the_same_sheet_whatever_the_order_of_the_rows(made, tmp_path):
    assert key_text(made.draw(seed=4).key) == key_text(made.draw(seed=4).key)
    assert made.draw(seed=4).key.sheet != made.draw(seed=5).key.sheet
    other = write(tmp_path / "other.jsonl", made.rows[::-1])
    assert made.draw(seed=4, results=other) == made.draw(seed=4)


def test_all_are_taken_if_there_are_not_more(made):
    sheet = made.draw(1000)
    assert len(sheet.items) == made.n
    assert all(each.population == each.sampled for each in sheet.key.strata)


def test_rows_without_a_score_are_not_drawn_from(made, tmp_path):
    rows = [{**row, "score": None, "status": "internal"} if k < 20 else row for k, row in enumerate(made.rows)]
    sheet = made.draw(1000, results=write(tmp_path / "some.jsonl", rows))
    assert (len(sheet.items), sheet.key.n_result) == (20, 40)
    with pytest.raises(PrismError, match="no row has a score"):
        made.draw(judges=(), results=write(tmp_path / "none.jsonl", [{**row, "score": None} for row in made.rows]))


@pytest.mark.parametrize(("options", "told"), [
    ({"strata": ("modle",)}, 'modle: no row has this field; did you mean "model"?'),
    ({"strata": ("effrt", "x")}, "x: no row has this field"),
    ({"strata": ("judges",), "judges": ()}, "judges: no judge is named"),
    ({"strata": ("problem", "model", "score"), "judges": ()}, "draw 16, or name fewer fields"),
])  # fmt: skip
def test_strata_that_cannot_be_are_told(made, options, told):
    with pytest.raises(PrismError) as error:
        made.draw(7, **options)
    assert told in str(error.value)


def test_rows_whose_text_or_problem_is_not_there_are_all_told(made, tmp_path):
    texts = [json.loads(line) for line in made.rollouts.read_text().splitlines()]
    texts[3]["response"] = "another text"
    with pytest.raises(PrismError) as error:
        made.draw(rollouts=write(tmp_path / "changed.jsonl", texts[:-1]))
    assert '"SAMPLE3"' in str(error.value)
    assert '"SAMPLE39"' in str(error.value)
    with pytest.raises(PrismError, match=r'no score "policies\.finl"; 39 more like it'):
        made.draw(judges=(), score="policies.finl")
    with pytest.raises(PrismError, match="another sha256 than the row says"):
        made.draw(results=write(tmp_path / "rows.jsonl", [{**row, "problem_sha256": "0"} for row in made.rows]))


# What a marker sees. -----------------------------------------------------------------------------------------------


class Seen(HTMLParser):
    """Elements and addresses of a page, and its text outside of scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.loaded, self.text, self._skipped = [], [], "", 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self._skipped += tag in ("script", "style")
        self.loaded += [value for name, value in attributes if name in ("src", "href", "action", "srcset") and value]
        self.loaded += [name for name, _ in attributes if name.startswith("on")]

    def handle_endtag(self, tag):
        self._skipped -= tag in ("script", "style")

    def handle_data(self, data):
        self.text += "" if self._skipped else data


@pytest.mark.slow
def test_a_marker_sees_problem_and_solution_and_no_verdict(made):
    sheet = made.draw(1000)
    page, table = marking_page(sheet), csv_text(sheet)
    for text in (re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL), table):
        for secret in ("SAMPLE", "MODEL", "JUDGE", "judges", "stratum", "matched", "credited", "effort", "0.333"):
            assert secret not in text, secret
    seen = Seen(page)
    assert "A stone is dropped from rest" in seen.text
    assert "Find the speed" in seen.text
    assert "Number 12:" in seen.text
    assert "number 12:".title() in table
    assert seen.tags.count("article") == len(sheet.items)
    assert seen.tags.count("input") == 1 + 4 * len(sheet.items)
    orders = [rows_of(made.draw(1000, seed=seed))[0]["solution"] for seed in range(6)]
    assert len(set(orders)) > 3


def test_a_page_runs_its_own_script_alone_and_loads_nothing(made):
    page = marking_page(made.draw(1000))
    seen = Seen(page)
    assert seen.tags.count("script") == 1
    assert set(seen.loaded) <= {"data:,", *(f"#{item}" for item in ("r01",))}
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}';")
    assert not re.search(r"\b(?:fetch|XMLHttpRequest|eval|innerHTML|import)\b", script)
    assert "&lt;script&gt;alert(1)" in page
    assert "⟨U+202E⟩" in page


def test_no_spreadsheet_takes_a_solution_for_a_formula(made):
    cells = [cell for row in rows_of(made.draw(1000)) for cell in row.values()]
    assert any(cell.startswith("'=1+1 </script>") for cell in cells)
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)
    assert f'data-formula="{FORMULA}"' in marking_page(made.draw())  # by which the page's script guards its CSV


@pytest.mark.compiled
def test_a_browser_saves_what_is_marked(made, tmp_path):
    """On a phone, in the dark: nothing scrolls sideways, marks outlive the page, and the CSV is read."""
    if chromium.installed() is None:
        pytest.skip("no Chromium on this machine")
    sheet = made.draw()
    path = tmp_path / "sheet.html"
    path.write_text(marking_page(sheet), encoding="utf-8")
    keep_key(tmp_path, sheet)
    pick = "document.querySelectorAll('article')[{}].querySelectorAll('input')[{}].click()"
    write_in = (
        "{{const it = document.querySelector('{}'); it.value = {!r};"
        "it.dispatchEvent(new Event('input', {{bubbles: true}}))}}"
    )
    with chromium.browser() as page:
        page.ask("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "saved"))
        page.look(390, 844, "dark")
        page.open(path)
        assert page.run("document.documentElement.scrollWidth") == 390
        page.run(pick.format(0, 2))
        page.run(pick.format(3, 0))
        page.run(write_in.format("textarea", '=two, "quoted"; lines\n=1'))
        page.run(write_in.format("#marker", "Zoë"))
        assert page.run("document.getElementById('progress').textContent") == "2 of 16 marked, 14 open, not saved"
        page.run("document.getElementById('save').click()")
        for _ in range(10_000):  # questions to the browser, until it tells that the file is there
            if any(each["params"].get("state") == "completed" for each in page.events):
                break
            page.run("1")
        assert page.requests() == [url for url in page.requests() if url.startswith("blob:")]
        assert page.trouble() == []
        told = ""
        for _ in range(50):  # a browser stores what a page keeps when it has the time
            if told == "2 of 16 marked, 14 open":
                break
            page.open(path)
            told = page.run("document.getElementById('progress').textContent")
        assert told == "2 of 16 marked, 14 open"
    (saved,) = (tmp_path / "saved").iterdir()
    shutil.copy(saved, tmp_path / "saved.csv")
    assert '''"'=two, ""quoted""''' in saved.read_text("utf-8")  # no spreadsheet works it out
    table = read_marked(made.results, [tmp_path / "saved.csv"]).table.table
    assert table.raters == ("rules", "Zoë")
    assert table.ratings[[0, 3], 1].tolist() == [2, 0]
    assert np.isnan(table.ratings[:, 1]).sum() == 14
    assert table.reasons[0, 1] == '=two, "quoted"; lines\n=1'


# What comes back. --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_filled_sheet_gives_figures_of_the_whole_set(made, tmp_path, delimiter):
    sheet = made.draw()
    keep_key(tmp_path, sheet)
    truth = {row["sample_id"]: WPC[(k * 7) % 3] for k, row in enumerate(made.rows)}
    anna = fill(tmp_path / "anna.csv", sheet, lambda k: truth[sheet.key.rows[k].sample_id].upper(), delimiter=delimiter)
    assert is_marking_sheet(anna)
    done = agree(made.results, made.judge, anna, "--replicates", 50, "--json")
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    by = {tuple(pair["raters"]): pair for pair in data["pairs"]}
    weight = {
        row.id: sheet.key.strata[row.stratum].population / sheet.key.strata[row.stratum].sampled
        for row in sheet.key.rows
    }
    rules = {row["sample_id"]: WPC[0 if not row["score"] else 2 if row["score"] == 1 else 1] for row in made.rows}
    same = sum(weight[row.id] for row in sheet.key.rows if rules[row.sample_id] == truth[row.sample_id])
    assert by["rules", "anna"]["coefficients"]["percent_agreement"]["value"] == pytest.approx(same / 40)
    assert sum(map(sum, by["rules", "anna"]["confusion_weighted"])) == pytest.approx(40)
    # Rules and judge are known of all forty, and strata tell where they differ: so the sample misses nothing.
    assert by["rules", "JUDGE"]["coefficients"]["percent_agreement"]["value"] == pytest.approx(35 / 40)
    assert by["rules", "JUDGE"]["standard_error"] == 0
    assert data["sample"]["population"] == 40
    assert data["alignment"][0]["dropped"] == {"not_in_sample": 24}


def test_markers_among_themselves_need_no_results(made, tmp_path):
    sheet = made.draw(judges=())
    keep_key(tmp_path, sheet)
    anna = fill(tmp_path / "anna.csv", sheet, lambda k: WPC[k % 3])
    ben = fill(tmp_path / "saved.csv", sheet, lambda k: "correct" if k % 2 else "", marker="Ben")
    data = json.loads(agree(anna, ben, "--replicates", 0, "--json").stdout)
    assert data["pairs"][0]["raters"] == ["anna", "Ben"]
    assert data["pairs"][0]["n"] == 8
    assert data["alignment"][1]["dropped"] == {"no_score": 8}
    done = agree(anna, made.judge)
    assert (done.exit_code, "judges need the results that they judge" in done.stderr) == (3, True)


def test_rows_and_columns_may_move_and_empty_rows_may_go(made, tmp_path):
    sheet = made.draw()
    keep_key(tmp_path, sheet)
    path = fill(
        tmp_path / "anna.csv", sheet, lambda k: WPC[k % 3], columns=("label", "id", "check", "sheet", "problem_id")
    )
    head, *lines = path.read_text("utf-8-sig").splitlines()
    moved = tmp_path / "moved.csv"
    moved.write_text("\n".join([head, *lines[::-1][:10], ",,,,"]) + "\n")
    table = read_marked(made.results, [moved]).table.table
    whole = read_marked(made.results, [path]).table.table
    assert np.isnan(table.ratings[:6, 1]).all()
    assert table.ratings[6:, 1].tolist() == whole.ratings[6:, 1].tolist() == [k % 3 for k in range(6, 16)]


def test_all_faults_are_told_at_once(made, tmp_path):
    sheet = made.draw()
    keep_key(tmp_path, sheet)
    rows = rows_of(sheet)
    for k, row in enumerate(rows):
        row["label"] = WPC[k % 3]
    rows[0]["label"] = "corect"
    rows[1]["id"] = "r99"
    rows[2]["id"], rows[3]["id"] = rows[3]["id"], rows[2]["id"]
    rows[4]["sheet"] = "m0"
    rows[5]["problem_id"] = "compton"
    rows.append(dict(rows[6]))
    rows[8]["marker"], rows[9]["marker"] = "anna", "ben"
    path = tmp_path / "anna.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    other = fill(tmp_path / "other.csv", sheet, lambda _: "fine")
    changed = [
        {**row, "solution_sha256": "0"} if row["sample_id"] == sheet.key.rows[0].sample_id else row for row in made.rows
    ]
    results = write(tmp_path / "changed.jsonl", [*changed, {**made.rows[0], "sample_id": "SAMPLE40"}])
    done = agree(results, path, other)
    assert done.exit_code == 3
    for told in (
        'anna.csv: line 2: id r01: label "corect" is none of wrong, partial, correct; did you mean "correct"?',
        'anna.csv: line 3: the sheet has no id "r99"',
        "anna.csv: line 4: id r04: problem_id or check is not what was written",
        "anna.csv: line 5: id r03: problem_id or check",
        f'anna.csv: line 6: is of sheet "m0", and the key is of "{sheet.key.sheet}"',
        "anna.csv: line 7: id r06: problem_id or check", "anna.csv: line 18: id r07 stands in line 8 too",
        'anna.csv: has several markers: "anna", "ben"', 'other.csv: line 2: id r01: label "fine"',
        "changed.jsonl: r01 of the sheet", "has another solution than was marked",
        "changed.jsonl: holds other rollouts than the sample was drawn from, so that no weight fits: 41 rows",
    ):  # fmt: skip
        assert told in done.stderr, told


def test_new_scores_of_the_same_rollouts_are_no_fault(made, tmp_path):
    """The rules may have changed: the strata are those of the drawing, and weights hold."""
    sheet = made.draw()
    keep_key(tmp_path, sheet)
    anna = fill(tmp_path / "anna.csv", sheet, lambda k: WPC[k % 3])
    results = write(tmp_path / "new.jsonl", [{**row, "score": 1.0} for row in made.rows[::-1]])
    found = read_marked(results, [anna]).table
    assert (found.table.ratings[:, 0] == 2).all()
    assert found.design is not None
    assert found.design.of_item.tolist() == [row.stratum for row in sheet.key.rows]


@pytest.mark.parametrize(("content", "told"), [
    ("sheet,id,check,problem_id\n", "the head lacks label"),
    ("sheet,id,problem_id,check,label\nNAME,r01,a,b,c,d\n", "6 fields, and the head names 5"),
    (b"sheet,id,problem_id,check,label\nNAME,r01,a,b,\xfc\n",
     "is not UTF-8: byte 52 (in line 2) cannot be read; save it as CSV in UTF-8"),
])  # fmt: skip
def test_a_sheet_that_is_none_is_told(made, tmp_path, content, told):
    sheet = made.draw()
    key = keep_key(tmp_path, sheet)
    path = tmp_path / "anna.csv"
    raw = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(raw.replace(b"NAME", sheet.key.sheet.encode()))
    for words in (("--key", key), ()):
        done = agree(made.results, path, *words)
        assert (done.exit_code, told in done.stderr) == (3, True), done.stderr


@pytest.mark.slow
def test_the_key_is_found_beside_sheet_or_results_or_named(made, tmp_path):
    sheet, other = made.draw(seed=1), made.draw(seed=2)
    away = tmp_path / "downloads"
    away.mkdir()
    anna = fill(away / "anna.csv", sheet, lambda k: WPC[k % 3])
    done = agree(made.results, anna)
    assert done.exit_code == 3
    assert f'no key of sheet "{sheet.key.sheet}"' in done.stderr
    wrong = tmp_path / "other.key.json"
    wrong.write_text(key_text(other.key))
    (tmp_path / "bad key.json").write_text("{}")
    assert agree(made.results, anna).exit_code == 3
    done = agree(made.results, anna, "--key", wrong)
    assert (done.exit_code, "is of sheet" in done.stderr) == (3, True)
    keep_key(tmp_path, sheet)  # beside the results
    assert agree(made.results, anna, "--replicates", 0).exit_code == 0
    (tmp_path / "key.json").rename(away / "first.key.json")
    assert agree(made.results, anna, "--replicates", 0).exit_code == 0


def test_a_key_that_was_changed_is_refused(made, tmp_path):
    path = keep_key(tmp_path, made.draw())
    assert read_key(path) == made.draw().key
    data = json.loads(path.read_text())
    changes: list[dict[str, object]] = [{"seed": 9}, {"format": 2}, {"rows": None}, {"strata": [{}]}]
    for change in changes:
        path.write_text(json.dumps({**data, **change}))
        with pytest.raises(PrismError, match=r"key\.json: (?:was changed|is no key)"):
            read_key(path)


def test_two_sheets_of_one_marker_are_told(made, tmp_path):
    sheet = made.draw()
    keep_key(tmp_path, sheet)
    one, two = (fill(tmp_path / name, sheet, lambda k: WPC[k % 3], marker="Anna") for name in ("a.csv", "b.csv"))
    done = agree(made.results, one, two)
    assert (done.exit_code, 'another sheet has the marker "Anna" too' in done.stderr) == (3, True)


def test_what_is_settled_is_a_sheet_again(made, tmp_path):
    sheet = made.draw()
    keep_key(tmp_path, sheet)
    labels = {"anna": lambda k: WPC[k % 3], "ben": lambda k: WPC[k % 2], "cleo": lambda k: "" if k % 4 else "partial"}
    paths = [fill(tmp_path / f"{name}.csv", sheet, label) for name, label in labels.items()]
    gold = tmp_path / "gold.csv"
    done = agree(made.results, *paths, "--adjudicator", "cleo", "-o", gold, "--replicates", 0, "--json")
    assert done.exit_code == 0, done.output
    first = {tuple(pair["raters"]): pair for pair in json.loads(done.stdout)["pairs"]}["rules", "settled"]
    again = json.loads(agree(made.results, gold, "--replicates", 0, "--json").stdout)["pairs"][0]
    assert again["raters"] == ["rules", "settled"]
    assert again == first
    assert (
        again["coefficients"]["percent_agreement"]["value"]
        != sum(again["confusion"][k][k] for k in range(3)) / again["n"]
    )  # it is weighted


def test_labels_of_ones_own_and_another_order(made, tmp_path):
    scheme = make_scheme(["good", "bad"], is_ordered=False)
    sheet = made.draw(judges=(), scheme=scheme)
    keep_key(tmp_path, sheet)
    anna = fill(tmp_path / "anna.csv", sheet, lambda k: ("good", "bad")[k % 2])
    done = agree(made.results, anna)
    assert (done.exit_code, "rules: scores, and nothing says which label each is" in done.stderr) == (3, True)
    done = agree(made.results, anna, "--order", "bad,good", "--cut", "0.5", "--replicates", 0, "--json")
    assert json.loads(done.stdout)["ordered"] is True
    done = agree(made.results, anna, "--order", "wrong,right")
    assert (done.exit_code, "the sheet has good, bad" in done.stderr) == (3, True)


# The command. ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_writes_sheet_page_and_key(made, tmp_path):
    out = tmp_path / "marking"
    words = ("--sample", 16, made.results, made.judge, *made.sources, "--seed", 3, "-o", out)
    done = agree(*words)
    assert done.exit_code == 0, done.output
    assert "score 0, judges differ" in done.stdout
    assert "show it to no marker" in done.stderr
    assert sorted(path.name for path in out.iterdir()) == ["key.json", "sheet.csv", "sheet.html"]
    assert is_marking_sheet(out / "sheet.csv")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert agree(*words).exit_code == 3  # nothing is written over
    done = agree(*words, "--force", "--json")
    assert json.loads(done.stdout)["sheet"] == read_key(out / "key.json").sheet
    assert before == {path.name: path.read_bytes() for path in out.iterdir()}
    for name in ("one.csv", "one.html"):
        assert agree(*words[:-1], tmp_path / name, "--force").exit_code == 0
    assert (tmp_path / "one.key.json").exists()
    assert is_marking_sheet(tmp_path / "one.csv")


@pytest.mark.parametrize(("words", "code", "told"), [
    ("", 2, "-o"), ("-o OUT/none/folder", 3, "there is no folder"), ("-o OUT/a.txt", 2, "a folder, or a file .html"),
    ("-o OUT/m --oversample 0", 2, "above 0"), ("-o OUT/m --order a", 2, "different names"),
    ("-o OUT/m --strata colour", 3, "colour: no row has this field"),
])  # fmt: skip
def test_what_cannot_be_drawn_is_told_before_anything_is_written(made, tmp_path, words, code, told):
    done = agree("--sample", 8, made.results, *made.sources, *words.replace("OUT", str(tmp_path)).split())
    assert (done.exit_code, told in " ".join(done.stderr.split())) == (code, True), done.stderr
    assert not (tmp_path / "m").exists()
