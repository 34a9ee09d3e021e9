"""Checks that a page is sound: tags balanced, ids once, links to what is there, headings in order, nothing loaded."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Collection
from html.parser import HTMLParser
from pathlib import Path

from prism.reports.html import rendering

VOID = ("meta", "link", "br", "input")


TABLES_SCRIPT = (Path(rendering.__file__).parent / "tables.js").read_text(encoding="utf-8")


def without_script(html: str) -> str:
    """A page without the script of tables at its end, which its policy allows by the hash."""
    element = f"<script>{TABLES_SCRIPT}</script>\n</body>\n</html>"
    if not html.endswith(element):
        return html
    digest = base64.b64encode(hashlib.sha256(TABLES_SCRIPT.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'; "
    assert html.count(allowed) == 1
    return html.removesuffix(element).replace(allowed, "") + "</body>\n</html>"


class Checked(HTMLParser):
    """Tags of a page: balanced, ids once, links to what is there, headings in order, tables and drawings named."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []
        self.levels: list[int] = []
        self.unnamed: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        assert len(named) == len(attrs), tag
        self.tags[tag] += 1
        self.attributes |= named.keys()
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named[key] for key in ("href", "src") if key in named]
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if self.unnamed and tag in ("caption", "title", "g", "defs"):
            self.unnamed.pop()
        if tag in ("table", "svg") and named.get("aria-hidden") != "true":
            self.unnamed.append(tag)
        if tag in ("p", "div", "table", "ul", "ol", "dl", "pre", "details", "section"):
            assert "p" not in self.open, f"<{tag}> in a paragraph"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def checked(html: str, *, links: Collection[str] = (), n_nav: int = 1) -> Checked:
    """Read a page and check that it is sound; `links` are the addresses of other pages that it leads to.

    The one script that it may hold is that of tables, and its policy allows that by the hash.
    """
    html = without_script(html)
    found = Checked(html)
    assert html.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:;" in html
    assert not {"script", "img", "iframe", "object", "embed", "form", "base", "audio", "video"} & found.tags.keys()
    assert not [name for name in found.attributes if name.startswith("on") or name in ("style", "srcdoc", "action")]
    assert len(set(found.ids)) == len(found.ids)
    assert {link for link in found.links if not link.startswith("#")} == {"data:,", *links}
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)
    assert found.levels[0] == 1
    assert found.levels.count(1) == 1
    assert all(b <= a + 1 for a, b in zip(found.levels, found.levels[1:], strict=False))
    assert found.unnamed == []
    assert found.tags["main"] == found.tags["header"] == found.tags["footer"] == 1
    assert found.tags["nav"] == n_nav
    html.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", html)
    return found
