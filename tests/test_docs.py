"""Holds `docs/` to the tree: rules that code and cases cite, the cases and limits that the rules name, links."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SEMANTICS = ROOT / "docs" / "explanation" / "semantics.md"
FOLDERS = ("prism", "tests", "docs", "grammar", "constants", "dags", "examples", "benchmarks")
PAGES = ("README.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "pyproject.toml")
ENDINGS = (".py", ".toml", ".md", ".lark")

RULE = r"[ZONUC]\.\d+"
CITATION = re.compile(rf"\bsemantics\s+({RULE}(?:(?:,\s+|,?\s+and\s+|\s+to\s+|-){RULE})*)")
UNNUMBERED = re.compile(rf"\bsemantics\s+(?:{RULE}(?:,\s+|,?\s+and\s+))*[ZONUC]\b(?!\.\d)")
UNNAMED = re.compile(rf"\({RULE}(?:, {RULE})*\)")
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
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
    broken = []
    for path in pages:
        for target in LINK.findall(re.sub(r"(?ms)^```.*?^```|`[^`\n]*`", "", text_of(path))):
            if re.match(r"[a-z]+:", target):
                continue  # the network is not asked
            place, _, anchor = target.partition("#")
            other = (path.parent / place).resolve() if place else path
            if not other.exists() or (anchor and other.suffix == ".md" and anchor not in anchors_of(other)):
                broken.append((named(path), target))
    assert not broken


def test_each_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target.partition("#")[0]).resolve() for target in LINK.findall(text_of(index))}
    pages = {path.resolve() for path in pages_of_docs()} - {index.resolve()}
    assert not sorted(map(named, pages - linked))
