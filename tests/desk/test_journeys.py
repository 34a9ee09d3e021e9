"""Journeys on the desk in a real browser: author, mark, compare, see; by mouse, by keyboard, and what goes wrong.

With `PRISM_SCREENSHOTS` naming a folder, each journey leaves pictures there.
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import prism
from prism.grading.row import score_row
from prism.resources import resource
from tests.desk import conftest
from tests.desk.conftest import RunningDesk, Watched, watched_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Error: type[Exception] = getattr(conftest.sync_api(), "Error", Exception)

pytestmark = pytest.mark.slow

STATEMENT = "A stone falls from the height $h$; $g$ is the gravity, $t$ the time and $v$ the speed."
SOLUTION = (
    r"The speed is $$v = g t,$$ the way $$h = \frac{1}{2} g t^2,$$ so at the ground $$\boxed{v = \sqrt{2 g h}}.$$"
)
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "device_scale_factor": 2,
}


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("PRISM_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def until(page: Page, holds: str) -> None:
    """Wait until an expression is true; Playwright's own wait would have the page evaluate a text, which it may not."""
    for _ in range(400):
        with suppress(Error):  # while another page is opened
            if page.evaluate(holds):
                return
        page.wait_for_timeout(50)
    raise AssertionError(f"never: {holds}")


def settled(page: Page) -> None:
    """Wait until no request is on its way."""
    until(page, "!document.body.classList.contains('busy') && !document.querySelector('.htmx-request')")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(30)
        settled(page)


def file_of(desk: RunningDesk, name: str) -> dict[str, Any]:
    return tomllib.loads((desk.folder / name).read_text(encoding="utf-8"))


def class_folder(folder: Path) -> None:
    """Put a problem and three solutions into a folder, one of which is not read."""
    shutil.copy(resource("dags/free_fall.toml"), folder)
    (folder / "solutions").mkdir()
    texts = {"anna": r"$v_f = \sqrt{g h}$ and $t_f = \sqrt{2h/g}$.", "ben": r"$v_f = \sqrt{2 g h}$."}
    for name, text in texts.items():
        (folder / "solutions" / f"{name}.md").write_text(text, encoding="utf-8")
    (folder / "solutions" / "cem.pdf").write_bytes(b"%PDF-1.7\n")


def runs_folder(folder: Path) -> None:
    """Put a run, a judge who differs, and the texts into a folder."""
    texts = {"right": r"$v_f = \sqrt{2 g h}$ and $t_f = \sqrt{2h/g}$.", "half": r"$t_f = \sqrt{2h/g}$."}
    problem = prism.load_problem(resource("dags/free_fall.toml"))
    ids = [{"problem_id": "free_fall", "sample_id": name} for name in texts]
    files = {
        "run": [score_row(problem, text, prism.grade(problem, text, sample_id=name)) for name, text in texts.items()],
        "judge": [{**each, "score": score, "reason": "it seems"} for each, score in zip(ids, (0.1, 0.4), strict=True)],
        "rollouts": [{**each, "response": text} for each, text in zip(ids, texts.values(), strict=True)],
    }
    for name, lines in files.items():
        text = "".join(json.dumps(line, default=str) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


# Author. --------------------------------------------------------------------------------------------------------


def test_author_by_keyboard(browser: Browser, running: RunningDesk, seen: Watched) -> None:
    running.start()
    page = watched_page(browser, running, seen)
    assert "token" not in page.url
    page.keyboard.press("+")
    page.wait_for_url("**/new")
    page.keyboard.type("fall")
    page.keyboard.press("Tab")
    page.keyboard.type(STATEMENT)
    page.keyboard.press("Tab")  # to the choice of a file, and on
    page.keyboard.press("Tab")
    page.keyboard.type(SOLUTION)
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/author/fall.toml")
    page.wait_for_selector(".sample")
    picture(page, "author_draft")
    press(page, "j", "a", "n", "a", "a")
    assert page.evaluate("document.activeElement.id") == "n3"
    page.wait_for_selector(".sample .green, summary .green")
    press(page, "c")
    page.keyboard.type("A. Author")
    press(page, "Enter")
    page.wait_for_selector(".state .green")
    assert "A. Author" in page.inner_text(".state")
    picture(page, "author_certified")
    data = file_of(running, "fall.toml")
    assert data["certified_by"] == "A. Author"
    assert [node["dependency"] for node in data["grading_standard"]] == [[], [], [1, 2]]
    assert not [node for node in data["grading_standard"] if "reviewed" in node]


def test_author_by_mouse(browser: Browser, running: RunningDesk, seen: Watched) -> None:
    running.start()
    page = watched_page(browser, running, seen)
    page.click("text=New problem >> nth=1")
    page.wait_for_load_state()
    page.fill("[name=name]", "fall")
    page.fill("[name=statement]", STATEMENT)
    solution = running.folder / "solution.md"
    solution.write_text(SOLUTION, encoding="utf-8")
    page.set_input_files("[data-into=solution]", solution)
    until(page, "document.querySelector('[name=solution]').value.length > 20")
    page.click("button[type=submit]")
    page.wait_for_url("**/author/fall.toml")
    for node in (1, 2, 3):
        page.click(f"#n{node} .acts button.main")
        settled(page)
    page.click("#n2 .edges >> text=Yes")
    settled(page)
    page.fill(".certify input[name=text]", "A. Author")
    page.click(".certify button")
    settled(page)
    data = file_of(running, "fall.toml")
    assert data["certified_by"] == "A. Author"
    assert data["grading_standard"][1]["dependency"] == [1]


def test_each_edit_by_keyboard(browser: Browser, running: RunningDesk, seen: Watched) -> None:
    shutil.copy(resource("dags/free_fall.toml"), running.folder)
    before = (running.folder / "free_fall.toml").read_bytes()
    running.start()
    page = watched_page(browser, running, seen)
    press(page, "j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/author/free_fall.toml")

    def formulas() -> list[str]:
        return [node["formula"] for node in file_of(running, "free_fall.toml")["grading_standard"]]

    first = formulas()
    press(page, "j", "i")
    page.keyboard.type("a = g")
    press(page, "Control+Enter")
    assert formulas() == [first[0], "a = g", *first[1:]]
    press(page, "e", "Control+a")
    page.keyboard.type(r"a = \frac{F}{m} = g")
    press(page, "Control+Enter")
    assert formulas()[1] == r"a = \frac{F}{m} = g"
    press(page, "g")
    page.keyboard.type("1")
    press(page, "Enter")
    assert file_of(running, "free_fall.toml")["grading_standard"][1]["dependency"] == [1]
    press(page, "s", "Control+Enter")
    assert len(formulas()) == len(first) + 2
    press(page, "m")
    page.keyboard.type("3")
    press(page, "Enter")
    assert len(formulas()) == len(first) + 1
    press(page, "k")
    assert page.evaluate("document.activeElement.id") == "n1"
    press(page, "j", "d")
    assert formulas() == first
    for _ in range(6):
        press(page, "u")
    assert (running.folder / "free_fall.toml").read_bytes() == before
    press(page, "u")
    assert "no edit of this desk" in page.inner_text("#told")


def test_an_edit_lights_the_samples(browser: Browser, running: RunningDesk, seen: Watched) -> None:
    shutil.copy(resource("dags/bucket.toml"), running.folder)
    running.start()
    page = watched_page(browser, running, seen)
    page.goto(f"{running.base}/author/bucket.toml")
    page.wait_for_selector(".sample .light.green")
    page.click("#n2 .acts >> text=Edit")
    page.fill("#f2", r"P - m g = 3 \frac{dv}{dt}")
    page.click("#edit2 >> text=Save >> nth=0")
    page.wait_for_selector(".sample .light.red")
    picture(page, "author_red")


# Mark, compare, see. ----------------------------------------------------------------------------------------------


def test_mark_by_keyboard(browser: Browser, running: RunningDesk, seen: Watched) -> None:
    class_folder(running.folder)
    running.start()
    page = watched_page(browser, running, seen)
    page.goto(f"{running.base}/mark")
    page.wait_for_selector("text=is a PDF file")
    until(page, "!document.querySelector('#rows[hx-get]')")
    picture(page, "mark_list")
    press(page, "j")
    page.keyboard.press("Enter")
    page.wait_for_url("**student=anna")
    page.focus("#by")
    page.keyboard.type("M. Roe")
    lost = int(page.get_attribute("article.lost", "data-digit") or 0)
    press(page, "Escape", str(lost), "x")
    page.keyboard.type("the root stands in the sketch")
    press(page, "Enter")
    assert "the root stands in the sketch" in page.inner_text(f"#n{lost}")
    picture(page, "mark_one")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**student=ben")
    assert page.input_value("#by") == "M. Roe"
    press(page, "1", "o")
    page.keyboard.press("v")
    page.wait_for_url("**student=cem")
    press(page, "1", "x")
    page.keyboard.type("page 1")
    press(page, "Enter")
    words = file_of(running, "corrections.toml")["correction"]
    assert [(each["student"], each["node"], each["credited"]) for each in words] == [
        ("anna", lost, True), ("ben", 1, words[1]["credited"]), ("cem", 1, True),
    ]  # fmt: skip


def test_mark_by_mouse_and_keep_a_sample(browser: Browser, running: RunningDesk, seen: Watched) -> None:
    class_folder(running.folder)
    running.start()
    page = watched_page(browser, running, seen)
    page.click("nav >> text=Mark")
    page.click("text=ben")
    page.fill("#by", "M. Roe")
    page.fill("#n4 input[name=why]", "guessed")
    page.click("#n4 form button[type=submit]")
    settled(page)
    page.click("text=Keep as a sample")
    settled(page)
    kept = file_of(running, "free_fall.toml")["students"][-1]
    assert kept["name"] == "ben"
    page.click("#n4 >> text=Withdraw")
    settled(page)
    assert file_of(running, "corrections.toml") == {}


def test_compare_and_see(browser: Browser, running: RunningDesk, seen: Watched) -> None:
    runs_folder(running.folder)
    running.start()
    page = watched_page(browser, running, seen)
    page.click("nav >> text=Compare")
    page.check("[name=results][value='run.jsonl']")
    page.check("[name=texts][value='rollouts.jsonl']")
    page.check("[name=other][value='judge.jsonl']")
    page.wait_for_selector("#i2")
    settled(page)
    picture(page, "compare")
    page.focus("#i1")
    page.keyboard.press("Enter")
    page.wait_for_selector("#item")
    picture(page, "compare_item")
    page.wait_for_load_state()
    settled(page)
    first = page.inner_text("h1")
    press(page, "1", "t")
    page.fill("[name=by]", "M. Roe")
    page.fill("[name=why]", "all is there")
    page.focus("#score")
    page.keyboard.press("Enter")
    until(page, f"document.querySelector('h1').innerText != {json.dumps(first)}")
    page.wait_for_load_state()
    press(page, "x")
    page.keyboard.type("0.25")
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare?**")
    lines = (running.folder / "adjudicated.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["score"] for line in lines] == [json.loads(lines[0])["score"], 0.25]
    page.click("nav >> text=See")
    page.click("text=run.jsonl")
    page.wait_for_selector("text=free_fall")


# Looks. -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["phone", "dark", "print", "german"])
def test_looks(browser: Browser, running: RunningDesk, seen: Watched, kind: str) -> None:
    class_folder(running.folder)
    runs_folder(running.folder)
    shutil.copy(resource("dags/bucket.toml"), running.folder)
    (running.folder / "solutions" / "free_fall").mkdir()
    for path in list((running.folder / "solutions").glob("*.*")):
        path.rename(running.folder / "solutions" / "free_fall" / path.name)
    running.start()
    kinds: dict[str, dict[str, Any]] = {
        "phone": PHONE, "dark": {"color_scheme": "dark"}, "print": {}, "german": {"locale": "de-DE"}
    }  # fmt: skip
    page = watched_page(browser, running, seen, **kinds[kind])
    if kind == "print":
        page.emulate_media(media="print")
    addresses = {
        "front": "/", "new": "/new", "author": "/author/bucket.toml", "mark": "/mark",
        "marking": "/mark/one?problem=free_fall&student=anna", "see": "/see",
        "compare": "/compare?results=run.jsonl&other=judge.jsonl&texts=rollouts.jsonl",
        "item": "/compare/item?results=run.jsonl&other=judge.jsonl&texts=rollouts.jsonl&problem=free_fall&sample=right",
    }  # fmt: skip
    for name, address in addresses.items():
        page.goto(running.base + address)
        if name == "author":
            page.wait_for_selector(".sample", state="attached")
        settled(page)
        picture(page, f"{kind}_{name}")
        widths = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert widths[0] <= widths[1], name
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(21, 23, 27)") == (kind == "dark")
        if kind == "german":
            assert page.get_attribute("html", "lang") == "de"
            assert "Korrigieren" in page.inner_text("nav >> nth=0")
        if kind == "print":
            assert not page.is_visible("header.bar")


def test_a_language_is_chosen(browser: Browser, running: RunningDesk, seen: Watched) -> None:
    running.start()
    page = watched_page(browser, running, seen)
    page.click(".languages a")
    assert page.inner_text("h1") == "Aufgaben"


# What goes wrong. -------------------------------------------------------------------------------------------------


def test_the_second_of_two_tabs_is_told(browser: Browser, running: RunningDesk, seen: Watched) -> None:
    shutil.copy(resource("dags/free_fall.toml"), running.folder)
    running.start()
    first = watched_page(browser, running, seen)
    first.goto(f"{running.base}/author/free_fall.toml")
    second = first.context.new_page()
    second.goto(f"{running.base}/author/free_fall.toml")
    first.click("#n1 .acts >> text=Drop")
    settled(first)
    after = (running.folder / "free_fall.toml").read_bytes()
    second.click("#n2 .acts >> text=Drop")
    second.wait_for_selector("#told .told")
    assert "changed elsewhere" in second.inner_text("#told")
    picture(second, "two_tabs")
    assert (running.folder / "free_fall.toml").read_bytes() == after
    second.click("#told a")
    second.wait_for_load_state()
    second.click("#n2 .acts >> text=Drop")
    settled(second)
    assert (running.folder / "free_fall.toml").read_bytes() != after


def test_a_desk_that_is_killed_between_edits_loses_nothing(
    browser: Browser, running: RunningDesk, seen: Watched
) -> None:
    (running.folder / "many.toml").write_text(many_nodes(40), encoding="utf-8")
    for round_ in range(3):
        running.start()
        page = watched_page(browser, running, seen)
        page.goto(f"{running.base}/author/many.toml")
        for k in range(1, 4):
            page.click(f"#n{3 * round_ + k} .acts button.main")
            settled(page)
        running.kill()
        nodes = file_of(running, "many.toml")["grading_standard"]
        assert [node["index"] for node in nodes if "reviewed" not in node] == list(range(1, 3 * round_ + 4))
        seen.requests.clear()
        page.close()
    assert [path.name for path in running.folder.iterdir()] == ["many.toml"]


def test_a_desk_that_is_gone_is_told(browser: Browser, running: RunningDesk, seen: Watched) -> None:
    shutil.copy(resource("dags/free_fall.toml"), running.folder)
    running.start()
    page = watched_page(browser, running, seen)
    page.goto(f"{running.base}/author/free_fall.toml")
    page.wait_for_selector(".sample", state="attached")
    running.kill()
    page.click("#n1 .acts >> text=Drop")
    until(page, "document.getElementById('told').textContent.length > 0")
    seen.complaints.clear()


def test_hostile_names_and_texts_run_nothing(browser: Browser, running: RunningDesk, seen: Watched) -> None:
    name = "a' \"<img src=x onerror=alert(1)> & #%.toml"
    text = (
        "id = 'x'\ntitle = '<img src=x onerror=alert(2)>'\ncontext = '''<script>alert(3)</script> $a \\href{x}{b}$'''\n"
        "# Node: <img src=x onerror=alert(4)>\n[[grading_standard]]\nindex = 1\n"
        "formula = 'a = \\text{<img src=x onerror=alert(5)>}'\ndependency = []\nreviewed = false\n\n"
        "[[students]]\nname = '<svg onload=alert(6)>'\nsolution = '<img src=x onerror=alert(7)> $a = 1$ \u202e'\n"
    )
    (running.folder / name).write_text(text, encoding="utf-8")
    running.start()
    page = watched_page(browser, running, seen)
    page.click("a[data-item]")
    page.wait_for_selector(".sample, .finding", state="attached")
    picture(page, "hostile")
    page.click("#n1 .acts button.main")
    settled(page)
    assert "reviewed" not in file_of(running, name)["grading_standard"][0]


def many_nodes(n: int) -> str:
    nodes = "".join(
        f"[[grading_standard]]\nindex = {k}\nformula = 'x_{{{k}}} = {k} a + x_{{{k - 1}}}'\n"
        f"dependency = [{k - 1 if k > 1 else ''}]\nreviewed = false\n\n"
        for k in range(1, n + 1)
    )
    return f"id = 'many'\ncontext = 'A length $a$.'\n\n{nodes}"


def test_three_hundred_nodes(browser: Browser, running: RunningDesk, seen: Watched) -> None:
    (running.folder / "many.toml").write_text(many_nodes(300), encoding="utf-8")
    running.start()
    page = watched_page(browser, running, seen)
    page.goto(f"{running.base}/author/many.toml")
    page.focus("#n299")
    press(page, "a")
    assert page.evaluate("document.activeElement.id") == "n300"
    press(page, "d")
    assert len(file_of(running, "many.toml")["grading_standard"]) == 299
    picture(page, "many")
