"""Documents of Word (DOCX) and OpenDocument texts (ODT): their text with its formulas as LaTeX, and what is not read.

Word's own formulas are OMML; those of its old editor and of MathType are objects that only these programs read. The
formulas of an OpenDocument text are MathML, each in a part of its own.

Zip archives in which office programs write, read part by part with their sizes bounded before anything is unpacked.

What an archive says of a part's size is not believed: no more is unpacked than may be, whatever it says.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from prism.errors import PrismError
from prism.latex.documents.document import Document, DocumentWriter
from prism.latex.documents.markup import Element, read_xml
from prism.latex.documents.mathml import mathml_latex
from prism.latex.documents.omml import omml_latex

_NUMBERS = 26  # letters of the alphabet
_MAX_COUNTED = 3  # deepest level of a list whose numbers are written


# Word. ----------------------------------------------------------------------------------------------------------


def read_word_document(raw: bytes) -> Document:
    """Read a DOCX file.

    Errors:
        PrismError: no archive, one without a document, or one that unpacks to too much; XML that is none.
    """
    archive = Archive(raw)
    document = _part(archive, "word/document.xml")
    reader = _WordReader(_numberings(archive))
    body = document.first("w:body")
    for each in body.elements() if body else ():
        reader.write_block(each)
    for name in ("word/footnotes.xml", "word/endnotes.xml"):
        if name in archive.names:
            reader.write_notes(_part(archive, name))
    return reader.writer.document()


def _part(archive: Archive, name: str) -> Element:
    """Read an XML part of an archive.

    Errors:
        PrismError: no such part, or one that cannot be read; names it.
    """
    raw = archive.read(name)
    try:
        return read_xml(raw)
    except PrismError as error:
        raise PrismError(f"its part {name} {error}") from error


def _numberings(archive: Archive) -> dict[tuple[str, str], tuple[str, str, int]]:
    """Return for the number and level of each list its kind, how a number is written (`(%1)`) and its start."""
    if "word/numbering.xml" not in archive.names:
        return {}
    root = _part(archive, "word/numbering.xml")
    levels = {
        each.attributes.get("w:abstractNumId", ""): list(each.elements("w:lvl"))
        for each in root.elements("w:abstractNum")
    }
    found: dict[tuple[str, str], tuple[str, str, int]] = {}
    for each in root.elements("w:num"):
        number = each.attributes.get("w:numId", "")
        for level in levels.get(_value(each, "w:abstractNumId"), ()):
            place = level.attributes.get("w:ilvl", "")
            start = _whole(_value(level, "w:start"))
            found[number, place] = (_value(level, "w:numFmt"), _value(level, "w:lvlText"), start)
        for other in each.elements("w:lvlOverride"):
            key = (number, other.attributes.get("w:ilvl", ""))
            if key in found and (start_text := _value(other, "w:startOverride")):
                found[key] = (*found[key][:2], _whole(start_text))
    return found


def _value(element: Element, name: str) -> str:
    """Return the value of the setting of a name right in an element; empty if there is none."""
    found = element.first(name)
    return "" if found is None else found.attributes.get("w:val", "")


def _whole(text: str) -> int:
    """Return a small whole number; 1 for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 5 else 1


class _WordReader:
    """Writes the blocks of a document of Word."""

    def __init__(self, numberings: dict[tuple[str, str], tuple[str, str, int]]) -> None:
        """Begin before the first paragraph."""
        self.writer = DocumentWriter()
        self._numberings = numberings
        self._numbers: Counter[tuple[str, str]] = Counter()
        self._n_paragraph = 0

    def write_block(self, element: Element) -> None:
        """Write a paragraph, a table, or the blocks in something else."""
        if element.name == "w:p":
            self._write_paragraph(element)
        elif element.name == "w:tr":
            for cell in element.elements("w:tc"):
                for each in cell.elements():
                    self.write_block(each)
        elif element.name not in ("w:del", "w:moveFrom", "w:sectPr", "w:tblPr", "w:tblGrid", "w:sdtPr", "mc:Fallback"):
            for each in element.elements():
                self.write_block(each)

    def write_notes(self, notes: Element) -> None:
        """Write the texts of footnotes behind the text, those of its own without a type."""
        for each in notes.elements():
            if "w:type" not in each.attributes:
                self.write_block(each)

    def _write_paragraph(self, element: Element) -> None:
        """Write a paragraph with the mark of a heading, or the number that Word counts."""
        self._n_paragraph += 1
        self.writer.end_block()
        self.writer.begin_place(f"paragraph {self._n_paragraph}")
        properties = element.first("w:pPr")
        if properties is not None:
            style = _value(properties, "w:pStyle").lower()
            self.writer.add("# " if style.startswith(("heading", "title", "berschrift", "überschrift")) else "")
            self.writer.add(self._number(properties.first("w:numPr")))
        self._write_inline(element)
        self.writer.end_block()

    def _number(self, numbering: Element | None) -> str:
        """Return the number of a paragraph in its list as it is shown, `(a) `; empty for one that has none."""
        if numbering is None:
            return ""
        key = (_value(numbering, "w:numId"), _value(numbering, "w:ilvl"))
        kind, written, start = self._numberings.get(key, ("", "", 1))
        if kind not in ("decimal", "lowerLetter", "upperLetter") or "%" not in written:
            return ""
        number = start + self._numbers[key]
        self._numbers[key] += 1
        is_letter = kind != "decimal" and 1 <= number <= _NUMBERS
        shown = chr(ord("a" if kind == "lowerLetter" else "A") + number - 1) if is_letter else str(number)
        level = _whole(key[1]) + 1 if key[1] != "0" else 1
        return f"{written.replace(f'%{level}', shown)} " if level <= _MAX_COUNTED and "%" in written else ""

    def _write_inline(self, element: Element) -> None:
        """Write what stands in a paragraph."""
        for each in element.elements():
            if (write := _WORD_INLINE.get(each.name)) is not None:
                write(self, each)
            elif each.name not in ("w:pPr", "w:rPr", "w:del", "w:moveFrom", "w:instrText", "mc:Fallback", "w:sdtPr"):
                self._write_inline(each)

    def write_run(self, run: Element) -> None:
        """Write a run of text, an index or a power with its sign, and what is struck out as such."""
        properties = run.first("w:rPr")
        place = _value(properties, "w:vertAlign") if properties is not None else ""
        is_struck = properties is not None and any(
            (struck := properties.first(name)) is not None and struck.attributes.get("w:val", "1") not in ("0", "false")
            for name in ("w:strike", "w:dstrike")
        )
        if properties is not None and properties.first("w:vanish") is not None:
            return
        mark = {"subscript": "_{", "superscript": "^{"}.get(place, "~~" if is_struck else "")
        self.writer.begin_mark(mark)
        self._write_inline(run)
        self.writer.end_mark(mark)

    def write_displays(self, element: Element) -> None:
        """Write the formulas of an `m:oMathPara`, which stand by themselves."""
        for each in element.elements("m:oMath"):
            self.writer.add_display(omml_latex(each))

    def write_drawing(self, element: Element) -> None:
        """Write the text in a drawn box; a drawing without any is a picture."""
        boxes = _all_named(element, "w:txbxContent")
        for box in boxes:
            self.write_block(box)
        if not boxes:
            self.writer.leave_out("picture")


_WORD_INLINE: dict[str, Callable[[_WordReader, Element], None]] = {
    "w:r": _WordReader.write_run,
    "w:t": lambda reader, each: reader.writer.add(each.text()),
    "w:tab": lambda reader, _: reader.writer.add(" "),
    "w:br": lambda reader, _: reader.writer.add("\n"),
    "w:cr": lambda reader, _: reader.writer.add("\n"),
    "w:noBreakHyphen": lambda reader, _: reader.writer.add("-"),
    "w:sym": lambda reader, _: reader.writer.leave_out("sign", of_which="of a font of signs"),
    "w:drawing": _WordReader.write_drawing,
    "w:pict": _WordReader.write_drawing,
    "w:object": lambda reader, _: reader.writer.leave_out("object", of_which="of another program, as MathType"),
    "m:oMath": lambda reader, each: reader.writer.add_inline(omml_latex(each)),
    "m:oMathPara": _WordReader.write_displays,
    "w:txbxContent": _WordReader.write_block,
}


def _all_named(element: Element, name: str) -> list[Element]:
    """Return the outermost elements of a name in another one."""
    found: list[Element] = []
    for each in element.elements():
        found += [each] if each.name == name else _all_named(each, name)
    return found


# OpenDocument. --------------------------------------------------------------------------------------------------


def read_open_document(raw: bytes) -> Document:
    """Read an ODT file.

    Errors:
        PrismError: no archive, one without a text, or one that unpacks to too much; XML that is none.
    """
    archive = Archive(raw)
    writer = DocumentWriter()
    _write_open(_part(archive, "content.xml"), archive, writer)
    return writer.document()


def _write_open(element: Element, archive: Archive, writer: DocumentWriter) -> None:
    """Write what stands in an element of an OpenDocument text."""
    for each in element.children:
        if isinstance(each, str):
            writer.add(" ".join(each.split()) if not each.strip() else each)
            continue
        if each.name in ("text:p", "text:h", "text:list-item"):
            writer.end_block()
            writer.begin_place(f"line {each.line} of content.xml")
            writer.add("# " if each.name == "text:h" else "")
            _write_open(each, archive, writer)
            writer.end_block()
        elif each.name == "draw:object":
            _write_object(each, archive, writer)
        elif each.name == "draw:image":
            if element.first("draw:object") is None and element.first("draw:object-ole") is None:
                writer.leave_out("picture")
        elif each.name == "draw:object-ole":
            writer.leave_out("object", of_which="of another program, as MathType")
        elif each.name in _OPEN_SIGNS:
            writer.add(_OPEN_SIGNS[each.name])
        elif each.name not in _OPEN_UNSEEN:
            _write_open(each, archive, writer)


_OPEN_SIGNS = {"text:s": " ", "text:tab": " ", "text:line-break": "\n"}
_OPEN_UNSEEN = frozenset(
    ("office:automatic-styles", "office:font-face-decls", "office:scripts", "office:annotation", "text:tracked-changes",
     "title", "desc")
)  # fmt: skip


def _write_object(element: Element, archive: Archive, writer: DocumentWriter) -> None:
    """Write the formula of an object; an object of another kind is counted as not read."""
    inside = element.first("math")
    name = element.attributes.get("xlink:href", "").removeprefix("./").strip("/")
    if inside is None and f"{name}/content.xml" in archive.names:
        root = _part(archive, f"{name}/content.xml")
        inside = root if root.name == "math" else None
    if inside is None:
        writer.leave_out("object", of_which="that is no formula")
        return
    try:
        writer.add_inline(mathml_latex(inside))
    except PrismError:
        writer.leave_out("formula", of_which="in content MathML")


# Archives -----------------------------------------------------------------------------------------------------------

MAX_PART = 16_000_000  # bytes of one part, unpacked
MAX_UNPACKED = 32_000_000  # bytes of all parts that are read of one archive
MAX_PARTS = 5_000  # names in one archive
_MAX_RATIO = 400  # of a part to what it is packed in, above a size that any text may have; XML of formulas has 20 to 60
_ANY_RATIO = 1_000_000  # bytes


class Archive:
    """The parts of a zip archive by their names."""

    def __init__(self, raw: bytes) -> None:
        """Read the list of parts.

        Errors:
            PrismError: no zip archive; more parts than are read.
        """
        try:
            self._file = ZipFile(BytesIO(raw))
        except (BadZipFile, ValueError, OSError, EOFError, NotImplementedError, UnicodeDecodeError) as error:
            raise PrismError(f"is damaged: {error}") from error
        self.names = frozenset(self._file.namelist())
        self._left = MAX_UNPACKED
        if len(self.names) > MAX_PARTS:
            raise PrismError(f"has more than {MAX_PARTS} parts")

    def read(self, name: str) -> bytes:
        """Return a part, unpacked.

        Errors:
            PrismError: no such part; one that is damaged, has a password, or unpacks to more than is read.
        """
        try:
            packed = self._file.getinfo(name).compress_size
            most = min(MAX_PART, self._left, max(_ANY_RATIO, packed * _MAX_RATIO))
            with self._file.open(name) as part:
                found = part.read(most + 1)
        except KeyError:
            raise PrismError(f"has no part {name}") from None
        except (BadZipFile, zlib.error, ValueError, OSError, EOFError, NotImplementedError, RuntimeError) as error:
            raise PrismError(f"is damaged: {name}: {error}") from error
        if len(found) > most:
            raise PrismError(f"unpacks to more than {most} bytes in its part {name}")
        self._left -= len(found)
        return found
