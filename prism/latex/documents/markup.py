"""XML and HTML as trees of elements, read without a document type, entities or anything from elsewhere.

XML is read by expat and refused if it is malformed or declares a document type: entities that hold each other make a
gigabyte out of a line. HTML is read by a reader of our own, in one pass whose time grows as the length, and never
refused: what is no tag is text. The standard one takes a time that grows as the square of some malformed pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from xml.parsers import expat

from prism.errors import PrismError

MAX_ELEMENTS = 400_000  # of one XML part or page
MAX_DEPTH = 100  # elements in each other that are told apart; every recursion over a tree is bounded by it

_NAMESPACES = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w",
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w",
    "http://schemas.openxmlformats.org/officeDocument/2006/math": "m",
    "http://purl.oclc.org/ooxml/officeDocument/math": "m",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
    "urn:oasis:names:tc:opendocument:xmlns:text:1.0": "text",
    "urn:oasis:names:tc:opendocument:xmlns:table:1.0": "table",
    "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0": "draw",
    "urn:oasis:names:tc:opendocument:xmlns:office:1.0": "office",
    "http://www.w3.org/1999/xlink": "xlink",
}  # names of elements begin with these, whatever prefix a file declares; others have none
_VOID = frozenset("area base br col embed hr img input link meta source track wbr mspace".split())
_RAW = frozenset("script style textarea title xmp iframe noembed noframes".split())  # hold text and no elements
_ENDED_BY_THE_NEXT = frozenset("p li dt dd td th tr option".split())
_SCOPES = frozenset("ul ol dl table div section article body blockquote select".split())
_TAG = re.compile(r"<(?=/?[A-Za-z]|[!?])")  # any other `<` is text
_NAME = re.compile(r"</?([A-Za-z][^\s/>]*)")
_BLANKS = re.compile(r"[\s/]*")
_ATTRIBUTE = re.compile(r"""[\s/]*+([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?""")


@dataclass(frozen=True, slots=True)
class Element:
    """An element with its attributes, and the elements and texts in it; of XML the line is that of the part."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)
    line: int = 0

    def elements(self, name: str = "") -> Iterator[Element]:
        """Yield the elements right in it; with a name those of that name."""
        return (each for each in self.children if isinstance(each, Element) and name in ("", each.name))

    def first(self, name: str) -> Element | None:
        """Return the first element of a name right in it; None if there is none."""
        return next(self.elements(name), None)

    def texts(self) -> Iterator[str]:
        """Yield the pieces of text in it, of the elements in it too."""
        for each in self.children:
            if isinstance(each, str):
                yield each
            else:
                yield from each.texts()

    def text(self) -> str:
        """Return all text in it, of the elements in it too."""
        return "".join(self.texts())

    def classes(self) -> frozenset[str]:
        """Return the words of its class."""
        return frozenset(self.attributes.get("class", "").split())


# XML. -----------------------------------------------------------------------------------------------------------


class _TreeBuilder:
    """Builds a tree from the events of expat."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        """Begin with an empty document."""
        self._parser = parser
        self._n = 0
        self.open = [Element("")]

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Open an element; raises PrismError beyond MAX_ELEMENTS or MAX_DEPTH."""
        self._n += 1
        if self._n > MAX_ELEMENTS or len(self.open) > MAX_DEPTH:
            raise PrismError(f"holds more than {MAX_ELEMENTS} elements, or {MAX_DEPTH} in each other")
        plain = {_short_name(key): value for key, value in attributes.items()} if attributes else attributes
        element = Element(_short_name(name), plain, [], self._parser.CurrentLineNumber)
        self.open[-1].children.append(element)
        self.open.append(element)

    def end(self, _: str) -> None:
        """Close the element that was opened last."""
        self.open.pop()

    def text(self, text: str) -> None:
        """Add a text."""
        self.open[-1].children.append(text)


def read_xml(raw: bytes) -> Element:
    """Read XML into the tree of its one element; names have the short prefixes of known namespaces, `w:t`.

    Errors:
        PrismError: no XML; a document type with declarations; more or deeper elements than are read.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    builder = _TreeBuilder(parser)
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = builder.text, _refuse_declarations
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise PrismError(f"is no XML: {error}") from error
    except (LookupError, ValueError) as error:  # an encoding that no one knows; a PrismError is a ValueError too
        raise error if isinstance(error, PrismError) else PrismError(f"is no XML: {error}") from error
    return next(builder.open[0].elements())


def _refuse_declarations(_name: str, _system: str | None, _public: str | None, has_declarations: int) -> None:
    """Refuse a document type with declarations of its own, in which entities may stand."""
    if has_declarations:
        raise PrismError("declares a document type, which is not read")


def _short_name(name: str) -> str:
    """Return the name of an element or attribute with a short prefix for its namespace, if that is a known one."""
    namespace, _, local = name.rpartition(" ")
    prefix = _NAMESPACES.get(namespace, "")
    return f"{prefix}:{local}" if prefix else local


# HTML. ----------------------------------------------------------------------------------------------------------


class _Page:
    """Builds the tree of a page from its tags, as browsers do where end tags are left out or do not fit."""

    def __init__(self) -> None:
        """Begin with an empty page."""
        self._n = 0
        self.open = [Element("html")]

    def start(self, element: Element, *, is_closed: bool) -> None:
        """Add an element, and go on in it if it may hold others; beyond the limit of nesting beside it.

        Raises PrismError beyond MAX_ELEMENTS.
        """
        self._n += 1
        if self._n > MAX_ELEMENTS:
            raise PrismError(f"holds more than {MAX_ELEMENTS} elements")
        if element.name in _ENDED_BY_THE_NEXT:
            self._close(element.name, _SCOPES)
        self.open[-1].children.append(element)
        if not is_closed and len(self.open) < MAX_DEPTH:
            self.open.append(element)

    def end(self, name: str) -> None:
        """Close the last open element of a name with all in it; nothing if none is open."""
        self._close(name, frozenset())

    def _close(self, name: str, scopes: frozenset[str]) -> None:
        """Close the last open element of a name, looked for up to one of `scopes`."""
        for at in range(len(self.open) - 1, 0, -1):
            if self.open[at].name == name:
                del self.open[at:]
                return
            if self.open[at].name in scopes:
                return


def read_html(text: str) -> Element:
    """Read a page, or a piece of one, into a tree; comments, declarations and what cannot be a tag are left out.

    Errors:
        PrismError: more elements than are read.
    """
    page = _Page()
    lines = _LineCounter(text)
    at = 0
    while at < len(text):
        next_tag = _TAG.search(text, at)
        end = next_tag.start() if next_tag else len(text)
        if end > at:
            page.open[-1].children.append(unescape(text[at:end]))
        if next_tag is None:
            break
        at = _read_tag(text, end, page, lines)
    return page.open[0]


def _read_tag(text: str, at: int, page: _Page, lines: _LineCounter) -> int:
    """Read the tag, comment or declaration that begins at an offset, and return where it ends."""
    if text.startswith("<!--", at):
        return _after(text, "-->", at + 4)
    if text.startswith("<![CDATA[", at):
        end = _after(text, "]]>", at + 9)
        page.open[-1].children.append(text[at + 9 : end].removesuffix("]]>"))
        return end
    if text.startswith(("<!", "<?"), at):
        return _after(text, ">", at + 2)
    named = _NAME.match(text, at)
    assert named is not None
    name = named[1].lower().rpartition(":")[2]
    attributes, is_closed, end = _read_attributes(text, named.end())
    if text.startswith("</", at):
        page.end(name)
        return end
    element = Element(name, attributes, [], lines.line_at(at))
    page.start(element, is_closed=is_closed or name in _VOID or name in _RAW)
    if name in _RAW and not is_closed:
        closing = re.compile(rf"</{re.escape(name)}(?![^\s/>])", re.IGNORECASE).search(text, end)
        element.children.append(text[end : closing.start()] if closing else text[end:])
        return _after(text, ">", closing.end()) if closing else len(text)
    return end


def _read_attributes(text: str, at: int) -> tuple[dict[str, str], bool, int]:
    """Return the attributes of a tag from an offset on, whether it closes itself, and where it ends."""
    attributes: dict[str, str] = {}
    while at < len(text) and text[at] != ">":
        found = _ATTRIBUTE.match(text, at)
        if found is None:
            at = max(_BLANKS.match(text, at).end(), at + 1)  # type: ignore[union-attr]  # it matches nothing too
            continue
        value = next((each for each in found.groups()[1:] if each is not None), "")
        attributes.setdefault(found[1].lower(), unescape(value))
        at = found.end()
    return attributes, text[at - 1 : at] == "/", at + 1


def _after(text: str, mark: str, start: int) -> int:
    """Return the offset behind the next mark; the end of the text if it has none."""
    at = text.find(mark, start)
    return at + len(mark) if at >= 0 else len(text)


class _LineCounter:
    """Numbers the lines of a text for offsets that grow, each line counted once."""

    def __init__(self, text: str) -> None:
        """Begin in line 1."""
        self._text, self._at, self._line = text, 0, 1

    def line_at(self, offset: int) -> int:
        """Return the line, from 1, in which an offset stands."""
        self._line += self._text.count("\n", self._at, offset)
        self._at = offset
        return self._line
