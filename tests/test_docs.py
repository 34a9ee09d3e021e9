"""Holds `docs/` to the tree: rules that code and cases cite, the cases and limits that the rules name, links."""

from __future__ import annotations

import ast
import fcntl
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote

import pytest

from benchmarks.evidence import git
from benchmarks.robustness import chromium
from docs.generator import code_facts, papers, reference

ROOT = Path(__file__).resolve().parent.parent
SEMANTICS = ROOT / "docs" / "explanation" / "semantics.md"
FOLDERS = ("prism", "tests", "docs", "grammar", "constants", "dags", "vocabulary", "examples", "benchmarks")
PAGES = ("README.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "pyproject.toml")
ENDINGS = (".py", ".toml", ".md", ".lark")

RULE = r"[ZONUCFSX]\.\d+"
CITATION = re.compile(rf"\bsemantics\s+({RULE}(?:(?:,\s+|,?\s+and\s+|\s+to\s+|-){RULE})*)")
UNNUMBERED = re.compile(rf"\bsemantics\s+(?:{RULE}(?:,\s+|,?\s+and\s+))*[ZONUCFSX]\b(?!\.\d)")
UNNAMED = re.compile(rf"\({RULE}(?:, {RULE})*\)")
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
MOST_LINES_OF_A_DOOR = 45  # one screen
LIMIT = re.compile(r"^\| ([\d(][^|]*?) \| `(prism(?:\.\w+)+)` \|", re.MULTILINE)


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def files() -> tuple[Path, ...]:
    """Files of the repository that people write: code, cases, pages."""
    found = [path for folder in FOLDERS for ending in ENDINGS for path in (ROOT / folder).rglob(f"*{ending}")]
    return (*sorted(found), *(ROOT / page for page in PAGES))


def pages_of_docs() -> list[Path]:
    return sorted((ROOT / "docs").rglob("*.md"))


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def anchors_of(path: Path) -> frozenset[str]:
    """Anchors of a page: those it names, and one for each heading."""
    text = text_of(path)
    headings = re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?ms)^```.*?^```", "", text))
    slugs = (re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)
    return frozenset((*re.findall(r'<a id="([^"]+)"', text), *slugs))


@cache
def rules() -> dict[str, str]:
    """Text of each rule of `semantics.md` by its number."""
    parts = re.split(r'(?m)^<a id="(semantics-[a-z]-\d+)"></a>\n', text_of(SEMANTICS))
    return {
        f"{letter.upper()}.{number}": body.split("\n## ")[0]
        for anchor, body in zip(parts[1::2], parts[2::2], strict=True)
        for _, letter, number in (anchor.split("-"),)
    }


@cache
def cases() -> tuple[dict[str, Any], ...]:
    """Rows of `tests/cases/`; a file that is no TOML on purpose has none."""
    found: list[dict[str, Any]] = []
    for path in sorted((ROOT / "tests" / "cases").rglob("*.toml")):
        if path.parent.name != "problems":
            found += tomllib.loads(text_of(path)).get("case", [])
    return tuple(found)


def cited_in(text: str) -> Iterator[str]:
    for citation in CITATION.finditer(text):
        yield from re.findall(RULE, citation[1])


def named_after(word: str, body: str) -> Iterator[str]:
    """Case ids in backticks behind a word of a rule, up to the end of its paragraph."""
    for paragraph in re.findall(rf"(?ms)^{word}:(.*?)(?:\n\n|\Z)", body):
        yield from re.findall(r"`([a-z0-9-]+)`", paragraph)


def test_each_rule_has_its_heading() -> None:
    assert len(rules()) > 30
    assert not [rule for rule, body in rules().items() if not body.startswith(f"### {rule} ")]


@pytest.mark.slow
def test_each_citation_of_a_rule_resolves() -> None:
    cited = {(named(path), rule) for path in files() for rule in cited_in(text_of(path))}
    assert len(cited) > 100
    assert not sorted((where, rule) for where, rule in cited if rule not in rules())


def test_no_citation_lacks_a_number() -> None:
    own = Path(__file__).resolve()
    found = [(named(path), mark[0]) for path in files() if path != own for mark in UNNUMBERED.finditer(text_of(path))]
    code = [path for path in files() if path.suffix in (".py", ".toml") and path != own]
    found += [(named(path), mark[0]) for path in code for mark in UNNAMED.finditer(text_of(path))]
    assert not found


@pytest.mark.slow
def test_each_rule_is_the_source_of_a_case() -> None:
    cited = {rule for row in cases() for rule in cited_in(row.get("source", ""))}
    assert not sorted(rules().keys() - cited)


def test_each_case_that_a_rule_names_exists() -> None:
    ids = {row["id"] for row in cases() if "id" in row}
    gaps = {row["id"] for row in cases() if "known_gap" in row}
    for rule, body in rules().items():
        shown = list(named_after("Cases", body))
        assert shown, f"{rule} names no case"
        assert not [name for name in shown if name not in ids], rule
    stale = [(rule, name) for rule, body in rules().items() for name in named_after("Known gap", body)
             if name not in gaps]  # fmt: skip
    assert not stale


def test_each_limit_has_the_value_that_the_page_gives() -> None:
    limits = [limit for page in pages_of_docs() for limit in LIMIT.findall(text_of(page))]
    assert len(limits) > 60
    wrong = []
    for shown, dotted in limits:
        module, _, name = dotted.rpartition(".")
        value = getattr(import_module(module), name, None)
        if value is None or plain(value) != pytest.approx(ast.literal_eval(shown), rel=1e-12):
            wrong.append((dotted, shown, value))
    assert not wrong


def plain(value: Any) -> Any:
    return tuple(map(plain, value)) if isinstance(value, tuple) else float(value)


def test_each_name_that_a_page_cites_exists() -> None:
    cited = {name for page in pages_of_docs() for name in re.findall(r"`(prism(?:\.\w+)+)`", text_of(page))}
    assert not sorted(name for name in cited if not is_defined(name))


def is_defined(dotted: str) -> bool:
    """Return True for a module, or for a name that one defines."""
    module, _, name = dotted.rpartition(".")
    try:
        return hasattr(import_module(module), name) or bool(import_module(dotted))
    except ImportError:
        return False


def test_the_architecture_names_folders_and_dependencies() -> None:
    page = text_of(ROOT / "docs" / "explanation" / "architecture.md")
    folders = [path.parent.name for path in (ROOT / "prism").glob("*/__init__.py")]
    assert not [name for name in folders if f"`prism/{name}/`" not in page]
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    packages = [re.split(r"[\[<>=]", package)[0].lower() for package in project["dependencies"]]
    assert not [name for name in packages if not re.search(rf"\b{name}\b", page)]
    assert not [name for name in project["optional-dependencies"] if f"`{name}`" not in page]


def test_no_page_is_cited_where_it_is_not() -> None:
    """`engine.md` and the like, by a path from the root or from the file that cites it."""
    page = re.compile(r"[\w./-]*?\b(?:semantics|engine|house-style|architecture)\.md\b")
    own = Path(__file__).resolve()
    lines = ((path, line) for path in files() if path != own for line in text_of(path).splitlines() if ".md" in line)
    cited = {(path, found) for path, line in lines for found in page.findall(line)}
    assert cited
    assert not sorted(
        (named(path), found)
        for path, found in cited
        if not ((ROOT / found).is_file() or (path.parent / found).is_file())
    )


def test_each_path_that_a_page_names_exists() -> None:
    inside = r"prism/\w+[./][\w./-]*"  # `prism/final` is a metric
    path = re.compile(rf"`({inside}|(?:tests|docs|grammar|constants|dags|examples|benchmarks)/[\w./-]*)`")
    pages = [*pages_of_docs(), ROOT / "CONTRIBUTING.md"]
    assert not [
        (named(page), name) for page in pages for name in path.findall(text_of(page)) if not (ROOT / name).exists()
    ]


def test_links_of_pages_resolve() -> None:
    pages = [path for path in files() if path.suffix == ".md"]
    made = {ROOT / "docs" / place for place in reference.PAGES}
    broken = []
    for path in pages:
        for target in LINK.findall(re.sub(r"(?ms)^```.*?^```|`[^`\n]*`", "", text_of(path))):
            if re.match(r"[a-z]+:", target):
                continue  # the network is not asked
            place, _, anchor = target.partition("#")
            other = (path.parent / place).resolve() if place else path
            if other in made:
                continue  # the site is asked, which has these pages
            if not other.exists() or (anchor and other.suffix == ".md" and anchor not in anchors_of(other)):
                broken.append((named(path), target))
    assert not broken


def test_the_page_of_frameworks_says_what_each_part_of_a_scoring_pays() -> None:
    from prism.grading.scoring import PARTS

    page = text_of(ROOT / "docs" / "how-to" / "frameworks.md").partition("## What is paid")[2]
    paid = dict(re.findall(r"(?m)^\| `(\w+)` \| (.+) \|$", page))
    assert paid.keys() == PARTS.keys()
    assert paid["final"].startswith("1 if every final answer is matched")


def test_each_page_is_reached_from_the_index() -> None:
    index = (ROOT / "docs" / "README.md").resolve()
    reached, waiting = {index}, [index]
    while waiting:
        page = waiting.pop()
        linked = {(page.parent / target.partition("#")[0]).resolve() for target in LINK.findall(text_of(page))}
        found = {path for path in linked if path.suffix == ".md" and path.is_file()} - reached
        reached |= found
        waiting += found
    assert not sorted(named(path) for path in pages_of_docs() if path.resolve() not in reached)


def test_the_home_page_opens_a_door_for_each_group_of_commands() -> None:
    """A door is a page of one screen under the words of `prism --help`, and names the commands that stand there."""
    import typer

    from prism.cli import app
    from prism.cli.application import HelpHeading, by_heading

    home = text_of(ROOT / "docs" / "README.md")
    program: Any = typer.main.get_command(app)
    groups = by_heading(program.commands)
    for door in (each for each in HelpHeading if each is not HelpHeading.WRITE):
        name = door.name.lower()
        page = text_of(ROOT / "docs" / "doors" / f"{name}.md")
        assert f"(doors/{name}.md)" in home
        assert len(page.splitlines()) <= MOST_LINES_OF_A_DOOR, name
        assert page.startswith(f"# {door.value}\n")
        assert not [command for command in groups[door] if not re.search(rf"\bprism {command}\b", page)], name


class _Html(HTMLParser):
    """What a page of the site links, loads, names and says.

    Attributes:
        links, loads: addresses of links, and of scripts, styles, pictures and frames.
        anchors: ids on the page.
        text: what a reader sees.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self._text: list[str] = []
        self.feed(html)
        self.text = " ".join("".join(self._text).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if "id" in found:
            self.anchors.add(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link" and found.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(found["href"])
        elif "src" in found:
            self.loads.append(found["src"])

    def handle_data(self, data: str) -> None:
        self._text.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly from this tree: once, whichever processes run these tests."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent  # of all processes of this run
    folder, mark = root / "site", root / "site is built"
    with (root / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not mark.exists():
            command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
            quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
            built = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
            assert built.returncode == 0, built.stdout + built.stderr
            mark.touch()
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, _Html]:
    """Pages of the site by their path in it; not the one for what is not found, whose links are from the root."""
    paths = [path for path in sorted(site.rglob("*.html")) if path.name != "404.html"]
    return {path.relative_to(site).as_posix(): _Html(path.read_text(encoding="utf-8")) for path in paths}


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site: Path, pages: dict[str, _Html]) -> None:
    assert len(pages) > 30
    loaded = [(place, address) for place, page in pages.items() for address in page.loads]
    assert loaded
    assert not [(place, address) for place, address in loaded if re.match(r"(?:[a-z]+:)?//", address)]
    kept = [(place, address) for place, address in loaded if not address.startswith("data:")]
    assert not [(place, address) for place, address in kept if not ((site / place).parent / unquote(address)).is_file()]
    imports = [path.name for path in site.rglob("*.css") if re.search(r"@import|url\((?:[a-z]+:)?//", text_of(path))]
    assert not imports


@pytest.mark.slow
def test_links_and_anchors_of_the_site_resolve(site: Path, pages: dict[str, _Html]) -> None:
    broken, inside = [], 0
    for place, page in pages.items():
        for link in page.links:
            address, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue  # the network is not asked
            inside += 1
            path = ((site / place).parent / unquote(address)).resolve() if address else site / place
            path = path / "index.html" if path.is_dir() else path
            other = pages.get(path.relative_to(site).as_posix())
            if not path.is_file() or (anchor and other is not None and unquote(anchor) not in other.anchors):
                broken.append((place, link))
    assert inside > 1000
    assert not broken


@pytest.mark.slow
def test_each_rule_that_code_cites_has_an_anchor_on_the_site(pages: dict[str, _Html]) -> None:
    cited = {rule for path in files() if path.suffix == ".py" for rule in cited_in(text_of(path))}
    assert len(cited) > 30
    anchors = pages["explanation/semantics.html"].anchors
    assert not sorted(rule for rule in cited if f"semantics-{rule.lower().replace('.', '-')}" not in anchors)


def commands_of(program: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Name and command of each command, those of groups as `protocol psas`."""
    for name, command in program.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


@pytest.mark.slow
def test_the_reference_names_every_command_and_option(pages: dict[str, _Html]) -> None:
    import typer

    from prism.cli import app

    said = pages["reference/commands.html"].text
    commands = dict(commands_of(typer.main.get_command(app)))
    assert len(commands) >= 15
    assert "protocol engibench" in commands
    parameters = [(name, one) for name, command in commands.items() for one in command.params]
    options = [(name, option) for name, one in parameters if one.param_type_name == "option"
               for option in (*one.opts, *one.secondary_opts)]  # fmt: skip
    assert len(options) > 60
    heads = dict(re.findall(r"prism ([a-z -]+)\u00b6(.*?)(?=prism [a-z -]+\u00b6|\Z)", said, re.DOTALL))
    assert not [name for name in commands if name not in heads]
    assert not [pair for pair in options if pair[1] not in heads[pair[0]]]
    assert not [
        (name, one.name)
        for name, one in parameters
        if " ".join((one.help or "").replace("`", "").split()) not in heads[name]
    ]


def test_the_page_of_papers_names_commands_options_and_files_that_exist() -> None:
    import typer

    from prism.cli import app

    options = {name: {each for one in command.params for each in one.opts}
               for name, command in commands_of(typer.main.get_command(app))}  # fmt: skip
    rows = papers.paper_rows()
    assert len({row["paper"] for row in rows}) == 4
    for row in (each for each in rows if each["command"]):
        first, *words = row["command"].split()
        if first != "prism":
            assert (ROOT / first).exists(), row
            continue
        wanted = [word for word in words if word.startswith("--")]
        name = " ".join(word for word in words if word not in wanted)
        assert set(wanted) <= options[name], row


@pytest.mark.slow
def test_examples_of_docstrings_are_code(site: Path) -> None:
    page = text_of(site / "reference" / "api.html")
    assert "&gt;&gt;&gt;" in page
    assert "&gt;&gt;&gt;" not in re.sub(r"(?s)<pre>.*?</pre>", "", page)
    assert "<blockquote>" not in page


@pytest.mark.slow
def test_the_reference_names_every_reason_flag_and_status(pages: dict[str, _Html]) -> None:
    from prism.equivalence import verdict
    from prism.equivalence.chains import links
    from prism.grading import result, scoring, selection

    said = pages["reference/reasons.html"].text
    lists = (verdict.REASONS, links.REASONS, selection.WITHHELD_REASONS, result.FLAGS, scoring.PARTS)
    for found in lists:
        assert not [code for code, words in found.items() if f"{code} {words.replace('`', '')}" not in said]
    assert not [status for status in (*verdict.Status, *scoring.STATUSES) if f" {status} " not in said]
    assert not [stage for stage in verdict.STAGES if stage not in said]


@pytest.mark.slow
def test_the_reference_names_every_limit(pages: dict[str, _Html]) -> None:
    said = pages["reference/limits.html"].text
    # Found by another way than the generator's: a line of text that assigns a number.
    names = [
        f"{code_facts.dotted(path)}.{name}"
        for path in code_facts.modules()
        for name in re.findall(r"(?m)^(_?MAX_\w+)(?::[^=\n]+)? = ", text_of(path))
    ]
    names += [
        f"prism.budget.{name}"
        for name in re.findall(r"(?m)^([A-Z]{2,}\w*) = [\d_]+", text_of(ROOT / "prism/budget.py"))
    ]
    assert len(names) > 150
    assert not [name for name in names if f" {name} " not in said]


@pytest.mark.slow
def test_the_reference_names_every_environment_variable(pages: dict[str, _Html]) -> None:
    said = pages["reference/environment.html"].text
    read = code_facts.variables_read()
    assert {"PRISM_CACHE_DIR", "PRISM_KERNELS", "NUMBA_CACHE_DIR"} <= read
    assert not sorted(name for name in read if f" {name} " not in said)


@pytest.mark.slow
def test_the_reference_names_every_public_name_unit_constant_and_field(pages: dict[str, _Html]) -> None:
    import prism
    import prism.rewards
    from prism.grading.result import Grade, GradedFormula

    api = pages["reference/api.html"].text
    names = [f"prism.{name}" for name in prism.__all__ if not name.startswith("_")]
    names += [f"prism.rewards.{name}" for name in prism.rewards.__all__]
    assert not [name for name in names if not re.search(rf"{re.escape(name)}[\w -]*\u00b6", api)]
    row = pages["reference/score_row.html"].text
    assert not [name for kind in (Grade, GradedFormula) for name in kind.__slots__ if f" {name} " not in row]
    tables = pages["reference/units_and_constants.html"].text
    for file, key in (("units", "unit"), ("constants", "constant")):
        rows = tomllib.loads(text_of(ROOT / "constants" / f"{file}.toml"))[key]
        assert not [one["name"] for one in rows if one["name"] not in tables]


@pytest.mark.slow
def test_the_site_lists_every_known_gap(pages: dict[str, _Html]) -> None:
    said = pages["explanation/known_gaps.html"].text
    marked = [row["id"] for row in cases() if "known_gap" in row]
    assert marked
    assert not [name for name in marked if f" {name} " not in said]


@pytest.mark.slow
def test_each_limit_says_what_it_means() -> None:
    found = code_facts.limits()
    assert len(found) > 150
    assert not [limit.name for limit in found if not limit.meaning]


@pytest.mark.slow
def test_no_import_goes_up() -> None:
    """The picture of imports draws this: the layers and the counts, which the contract of import-linter holds too."""
    height = {name: k for k, layer in enumerate(reversed(code_facts.layers())) for name in layer}
    counts = code_facts.imports()
    assert counts["grading", "latex"] > 0
    assert not [pair for pair in counts if height[pair[0]] < height[pair[1]]]


@pytest.mark.parametrize("asked", ["--check", "--one-version"])
def test_figures_are_those_of_the_results(asked: str) -> None:
    """What README and the page on benchmarks show is what `benchmarks/results` holds, measured at one version."""
    if asked == "--one-version" and git("rev-parse", "--is-shallow-repository") != "false":
        pytest.skip("a tree without its history cannot tell which commits hold the same code")
    script = ROOT / "benchmarks" / "readme_figures.py"
    checked = subprocess.run([sys.executable, str(script), asked], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_pages_of_frameworks_say_what_was_run() -> None:
    """The table of frameworks and the end of each door's page are those of `benchmarks/results/doors.json`."""
    script = ROOT / "benchmarks" / "frameworks" / "table.py"
    checked = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


_WIDER_THAN_THE_WINDOW = """(() => {
  const wide = document.documentElement.clientWidth, found = [];
  if (document.documentElement.scrollWidth > wide) found.push("the page");
  for (const element of document.querySelectorAll(".md-content *")) {
    const box = element.getBoundingClientRect();
    let around = element;
    while (around !== document.body && getComputedStyle(around).overflowX === "visible") around = around.parentElement;
    const shows = box.width && box.right > wide + 1 && around === document.body;
    if (shows) found.push(element.tagName + " " + element.textContent.slice(0, 40));
  }
  return found;
})()"""


@pytest.mark.slow
def test_pages_in_a_browser(site: Path, pages: dict[str, _Html]) -> None:
    """Wide and on a telephone, light and dark: nothing is wider than the window, asked elsewhere, or complained of."""
    if chromium.installed() is None:
        pytest.skip("no Chromium on this machine")
    handler = partial(_QuietHandler, directory=str(site))
    trouble = []
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, chromium.browser() as page:
        Thread(target=server.serve_forever, daemon=True).start()
        root = f"http://127.0.0.1:{server.server_port}/"
        for width, scheme in ((1280, "light"), (360, "dark")):
            page.look(width, 900, scheme)
            for place in pages:
                page.visit(root + place)
                found = [*page.run(_WIDER_THAN_THE_WINDOW), *page.trouble()]
                found += [url for url in page.requests() if not url.startswith(root)]
                trouble += [(place, width, one) for one in found]
                wanted = "slate" if scheme == "dark" else "default"
                assert page.run("document.body.dataset.mdColorScheme") == wanted
        server.shutdown()
    assert not trouble


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing: the output of a test is for its faults."""
