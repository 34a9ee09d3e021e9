r"""What a page in HTML does not show: elements without a picture, hidden, struck out, of no size, white on white.

Responses are set as Markdown, which passes HTML through. An element that is hidden and never closed hides the rest.
"""

from __future__ import annotations

import html
import re

from prism.latex.extraction.colours import WHITE, is_faint, of_style
from prism.latex.words import word_set

# Every repetition in a pattern below is bounded, so that no text makes a scan quadratic.
_ELEMENT = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9]{0,15})(?P<attributes>(?:\s{1,20}[\w:@.-]{1,40}"
    r"(?:\s{0,8}=\s{0,8}(?:\"[^\"]{0,400}\"|'[^']{0,400}'|[^\s\"'<>=`]{1,200}))?){0,12})\s{0,20}/?>"
)
_ATTRIBUTE = re.compile(r"([\w:@.-]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>=`]+)))?")
_NEVER_SHOWN = word_set("script style template title head noscript datalist iframe audio video canvas")
_STRUCK = word_set("s del strike")  # only where they close: `<s>` may be an average
_VOID = word_set("area base br col embed hr img input link meta param source track wbr")
_LENGTH = re.compile(r"([-+]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))\s*([a-z%]{0,4})")
_SMALL = {"": 1.0, "px": 1.0, "pt": 1.0, "em": 0.1, "rem": 0.1, "ex": 0.1, "%": 10.0, "vw": 0.1, "vh": 0.1, "mm": 0.3}
_FAR = {
    "": 1000.0,
    "px": 1000.0,
    "pt": 800.0,
    "em": 60.0,
    "rem": 60.0,
    "%": 100.0,
    "vw": 100.0,
    "vh": 100.0,
    "cm": 30.0,
}
_MOVES = ("left", "right", "top", "bottom", "text-indent", "margin-left", "margin-top", "margin")
_OPAQUE = 0.1  # of the ink, at least
_CLIPS = re.compile(r"rect\(|inset\(\s*(?:[5-9]\d|100)%|circle\(\s*0")
_SHRINKS = re.compile(r"scale[xy3d]*\(\s*0(?:\.0\d*)?\s*[,)]|translate[xy3d]*\([^)]*-\s*\d{4}")


def hidden_elements(text: str) -> list[tuple[int, int]]:
    """Spans of the elements that a page does not show, tags and all, ascending and apart from each other."""
    tags = list(_ELEMENT.finditer(text))
    closes = {(tag["name"].lower(), at) for at, tag in enumerate(tags) if tag["close"]}
    n_closed = {name: sum(1 for other, _ in closes if other == name) for name in _STRUCK}
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(tags):
        tag, name = tags[at], tags[at]["name"].lower()
        at += 1
        is_struck = name in _STRUCK
        if tag["close"] or name in _VOID or not (is_struck or name in _NEVER_SHOWN or _is_hidden(name, tag)):
            continue
        if is_struck and not n_closed[name]:
            continue
        depth, last = 1, at
        while last < len(tags) and depth:
            if tags[last]["name"].lower() == name:
                depth += -1 if tags[last]["close"] else not is_struck
            last += 1
        if depth and is_struck:
            n_closed[name] = 0
            continue
        spans.append((tag.start(), len(text) if depth else tags[last - 1].end()))
        at = last
    return spans


def _is_hidden(name: str, tag: re.Match[str]) -> bool:
    """Whether an element is hidden by its attributes."""
    if not tag["attributes"]:
        return name == "dialog"
    attributes = {found[0].lower(): "".join(found[1:]) for found in _ATTRIBUTE.findall(tag["attributes"])}
    if "hidden" in attributes or (name == "dialog" and "open" not in attributes):
        return True
    style = html.unescape(attributes.get("style", ""))
    background = attributes.get("bgcolor", "")
    if "color" in attributes:
        style = f"color:{attributes['color']};{style}"
    return is_hidden_style(f"background:{background};{style}" if background else style)


def is_hidden_style(style: str) -> bool:
    """Whether a style sheet makes its element invisible.

    >>> is_hidden_style("color: #fefefe"), is_hidden_style("background: navy; color: white")
    (True, False)
    """
    style = re.sub(r"/\*.{0,200}?\*/", "", style, flags=re.DOTALL).lower()
    rules = {name.strip(): value.strip() for name, _, value in (each.partition(":") for each in style.split(";"))}
    shown = rules.get("display", ""), rules.get("visibility", ""), rules.get("content-visibility", "")
    if any(value.startswith(("none", "hidden", "collapse")) for value in shown):
        return True
    if _length(rules.get("opacity", ""), {"": _OPAQUE, "%": 100 * _OPAQUE}, -1):
        return True
    if _length(rules.get("font-size", "") or rules.get("font", ""), _SMALL, -1):
        return True
    clipped = rules.get("overflow", "").startswith(("hidden", "clip")) and any(
        _length(rules.get(side, ""), _SMALL, -1) for side in ("height", "width", "max-height", "max-width")
    )
    if clipped or any(_length(rules.get(name, ""), _FAR, 1) for name in _MOVES):
        return True
    if _CLIPS.search(f"{rules.get('clip', '')} {rules.get('clip-path', '')}") or _SHRINKS.search(
        rules.get("transform", "")
    ):
        return True
    background = rules.get("background-color", rules.get("background", ""))
    if "color" not in rules or (background and of_style(background) is None):
        return False  # what is white on a colour, or on a picture, may show
    return is_faint(of_style(rules["color"]), of_style(background) or WHITE if background else WHITE)


def _length(value: str, bounds: dict[str, float], side: int) -> bool:
    """Whether a length is at most (side -1), or by its amount at least (side 1), what stands in the table."""
    found = _LENGTH.match(value)
    if not found or found[2] not in bounds:
        return False
    number = float(found[1])
    return abs(number) >= bounds[found[2]] if side > 0 else number <= bounds[found[2]]
