"""Which types of files there are, by the endings of their names: how each is called, and read, or what to do instead.

One table for all commands and for the page that lists it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True, slots=True)
class FileKind:
    """A type of file.

    Attributes:
        name: with its article: `a notebook`.
        endings: in small letters, with the point.
        reader: module and function in this folder, `notebooks:read_notebook`; empty for a text that is read as it
            stands, and for what is not read.
        advice: of what is not read, how it could be.
    """

    name: str
    endings: tuple[str, ...]
    reader: str = ""
    advice: str = ""


PLAIN = FileKind("a text in Markdown or LaTeX", (".md", ".tex", ".txt"))

MARKDOWN = FileKind("a text in Markdown", (".markdown", ".mdown", ".mkd", ".qmd", ".rmd"))

_PROGRAMS = (
    MARKDOWN,
    FileKind("a LaTeX file", (".latex", ".ltx")),
    FileKind("a notebook", (".ipynb",), "notebooks:read_notebook"),
    FileKind("a web page", (".htm", ".html", ".xhtml"), "web_pages:read_web_page"),
    FileKind("a formula in MathML", (".mathml", ".mml"), "web_pages:read_web_page"),
    FileKind("a Word document", (".docx", ".docm"), "office_documents:read_word_document"),
    FileKind("an OpenDocument text", (".odt",), "office_documents:read_open_document"),
    FileKind("a wiki page", (".mediawiki", ".wiki", ".wikitext"), "marked_up_texts:read_wiki_page"),
    FileKind("a text of org-mode", (".org",), "marked_up_texts:read_org_text"),
    FileKind("a text in reStructuredText", (".rest", ".rst"), "marked_up_texts:read_rst_text"),
    FileKind("a text in AsciiDoc", (".adoc", ".asciidoc"), "marked_up_texts:read_asciidoc_text"),
    FileKind("a text of Typst", (".typ",), "typst:read_typst_text"),
)
CHAT = FileKind("a chat or a solution in JSON", (".json",), "chats:read_json_solution")
READ = (PLAIN, *_PROGRAMS, CHAT)

_AS_TEXT = "write it out in Markdown or LaTeX"
NOT_READ = (
    FileKind("a PDF file", (".pdf",), advice="its formulas are rarely text: hand in its source, as .tex or .docx"),
    FileKind("a Word document of the old kind", (".doc", ".dot", ".wps"), advice="save it as .docx"),
    FileKind("a document in Rich Text Format", (".rtf",), advice="save it as .docx"),
    FileKind("a Pages document", (".pages",), advice="export it as Word"),
    FileKind("a spreadsheet", (".numbers", ".ods", ".xls", ".xlsx"), advice=_AS_TEXT),
    FileKind("a file of slides", (".key", ".odp", ".ppt", ".pptx"), advice=_AS_TEXT),
    FileKind(
        "a picture",
        (".bmp", ".gif", ".heic", ".heif", ".jpeg", ".jpg", ".png", ".svg", ".tif", ".tiff", ".webp"),
        advice=_AS_TEXT,
    ),
    FileKind("an archive", (".7z", ".bz2", ".gz", ".rar", ".tar", ".tgz", ".xz", ".zip"), advice="unpack it"),
    FileKind("a recording", (".m4a", ".mov", ".mp3", ".mp4", ".wav"), advice=_AS_TEXT),
    FileKind("a LyX document", (".lyx",), advice="export it as LaTeX"),
    FileKind("a TeXmacs document", (".tm",), advice="export it as LaTeX"),
    FileKind("a notebook of Mathematica", (".nb", ".wl"), advice="export it as LaTeX"),
    FileKind("a document of Maple", (".mw",), advice="export it as LaTeX"),
    FileKind("an electronic book", (".epub", ".mobi"), advice="export it as HTML"),
    FileKind("a saved web archive", (".mht", ".mhtml", ".webarchive"), advice="save the page as HTML"),
    FileKind("a text in another markup", (".djot", ".textile", ".texinfo"), advice="export it as Markdown"),
    FileKind("a document in XML", (".dbk", ".fb2", ".fodt", ".opml", ".xml"), advice="export it as HTML"),
)

_BY_ENDING = {ending: kind for kind in (*READ, *NOT_READ) for ending in kind.endings}


def kind_of(path: PurePath) -> FileKind | None:
    """Return the type of a file by its name; None for an ending that is unknown, or none."""
    return _BY_ENDING.get(path.suffix.lower())


def is_read(kind: FileKind | None) -> bool:
    """Return True for a type that is read."""
    return kind in READ
