"""What MkDocs calls while it builds the site: pages made from the code, pages that stand elsewhere, links, mathematics.

A link is written for a reader of the repository: relative to its file. Here it leads to the page of the site that
shows the file it names; a file that the site does not show keeps its name, without a link. Mathematics between dollars
becomes MathML, so a page needs no script and no font for it.
"""

from __future__ import annotations

import html
import posixpath
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree that is documented, not one that happens to be installed

from mkdocs.exceptions import PluginError  # noqa: E402
from mkdocs.structure.files import File, Files  # noqa: E402

from docs.generator import pictures, reference  # noqa: E402
from prism.reports.html.mathml import as_mathml  # noqa: E402

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

SHOWN = {
    "grammar/README.md": "reference/accepted_latex.md",
    "constants/README.md": "reference/units_and_constants.md",
    "dags/README.md": "reference/problem_files.md",
    "tests/cases/README.md": "project/cases.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
}
"""Files outside `docs/` that are pages of the site, and their places there."""

_ELSEWHERE = {"README.md": "README.md"}
_LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\(([^)\s:]+)\)")
_FENCED_OR_CODE = re.compile(r"(?ms)(^```.*?^```|``[^\n]*?``|`[^`\n]*`)")
_PICTURE = re.compile(r"<!-- picture: (\w+) -->")
_MATHEMATICS = re.compile(r'<(span|div) class="arithmatex">(?:\\\(|\\\[)(.*?)(?:\\\)|\\\])</\1>', re.DOTALL)
_RULE = re.compile(r"(?<![\w#/-])semantics ([ZONUCFSX])\.(\d+)(?![^<]*</(?:a|h\d)>)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that it fits in the place of each entry of the navigation with a star."""
    config.nav = _expanded(config.nav or [])
    return config


def _expanded(nav: list[Any]) -> list[Any]:
    docs = ROOT / "docs"
    entries: list[Any] = []
    for entry in nav:
        if isinstance(entry, dict):
            entries.append(
                {key: _expanded(value) if isinstance(value, list) else value for key, value in entry.items()}
            )
        elif "*" in entry:
            entries += sorted(path.relative_to(docs).as_posix() for path in docs.glob(entry))
        else:
            entries.append(entry)
    return entries


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and those that stand elsewhere in the repository."""
    for place, make in reference.PAGES.items():
        files.append(File.generated(config, place, content=make()))
    for source, place in SHOWN.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if source.startswith("constants/"):
            text += "\n" + reference.units_and_constants()
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """Lead links to pages of the site, put pictures in, and mend what tables of GitHub write otherwise."""
    place = page.file.src_uri
    source = next((name for name, shown in SHOWN.items() if shown == place), f"docs/{place}")
    pieces = _FENCED_OR_CODE.split(markdown)
    pieces[::2] = [_LINK.sub(lambda link: _site_link(link, source, place, files), piece) for piece in pieces[::2]]
    text = _PICTURE.sub(lambda found: getattr(pictures, found[1])(), "".join(pieces))
    return "\n".join(_table_row(line) if line.startswith("|") else line for line in text.split("\n"))


def _site_link(link: re.Match[str], source: str, place: str, files: Files) -> str:
    """Return a link to the page that shows what a link of a file names, or its text alone."""
    target, mark, anchor = link[2].partition("#")
    if not target:
        return link[0]
    folder = posixpath.dirname(place)
    inside = posixpath.normpath(posixpath.join(folder, target))
    if place.startswith("reference/") and source.startswith("docs/") and files.get_file_from_path(inside):
        return link[0]
    named = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    shown = SHOWN.get(named) or _ELSEWHERE.get(named) or named.removeprefix("docs/")
    if files.get_file_from_path(shown) is None:
        if named.startswith("docs/"):
            return link[0]  # for the strict build to refuse
        if not (ROOT / named).exists():
            raise PluginError(f"{source}: the link to {link[2]} leads nowhere")
        return link[1]
    return f"[{link[1]}]({posixpath.relpath(shown, folder or '.')}{mark}{anchor})"


def _table_row(line: str) -> str:
    r"""Return a row of a table with `\|` in code as `|`: GitHub wants the backslash there, Python-Markdown shows it."""
    return re.sub(r"(`+)(?!`)(.*?)(?<!`)\1(?!`)", lambda found: found[0].replace("\\|", "|"), line)


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Typeset mathematics, and lead each `semantics C.1` to its rule."""
    where = posixpath.relpath("explanation/semantics.html", posixpath.dirname(page.file.dest_uri) or ".")
    ruled = _RULE.sub(lambda rule: _rule_link(rule, where), html)
    return _MATHEMATICS.sub(lambda formula: _typeset(formula, page.file.src_uri), ruled)


def _rule_link(rule: re.Match[str], where: str) -> str:
    return f'<a href="{where}#semantics-{rule[1].lower()}-{rule[2]}">semantics {rule[1]}.{rule[2]}</a>'


def _typeset(formula: re.Match[str], where: str) -> str:
    """Return a formula as MathML.

    Errors:
        PluginError: it cannot be typeset; a page that shows raw LaTeX is not finished.
    """
    if where == "reference/api.md":  # docstrings speak of dollars, and mean them
        dollars = "$" if formula[1] == "span" else "$$"
        return f"<code>{dollars}{formula[2]}{dollars}</code>"
    latex = html.unescape(formula[2])
    mathml = str(as_mathml(latex))
    if not mathml:
        raise PluginError(f"{where}: this formula cannot be typeset: {latex}")
    return f'<span class="formula">{mathml}</span>' if formula[1] == "span" else f'<div class="formula">{mathml}</div>'
