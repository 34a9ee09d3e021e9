r"""Texts in other markups than Markdown and LaTeX: MediaWiki, org-mode, reStructuredText, AsciiDoc.

Their formulas are LaTeX between other marks, and become `$...$` or `$$...$$`; headings and what is struck out get the
marks of Markdown. Code of a program states nothing. What they include from elsewhere is told and not read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from html import escape
from typing import NamedTuple

from prism.inputs import decode
from prism.latex.documents.asciimath import asciimath_latex
from prism.latex.documents.document import Document, DocumentWriter
from prism.latex.documents.markup import read_html
from prism.latex.documents.web_pages import document_of

# MediaWiki. -----------------------------------------------------------------------------------------------------

_WIKI_ELEMENT = re.compile(r"(?:^([:*#;]+[ \t]*|[ \t]+))?<(math|chem|ce|syntaxhighlight|source|nowiki|pre)\b([^<>]*)>",
                           re.IGNORECASE | re.MULTILINE)  # fmt: skip
_WIKI_LINE_END = re.compile(r"[ \t]{0,9}[.,;]?[ \t]{0,9}(?=\n|\Z)")
_WIKI_HEADING = re.compile(r"^(={1,6})[ \t]*([^=\n].{0,500}?)[ \t]{0,9}\1[ \t]*$", re.MULTILINE)
_WIKI_ITEM = re.compile(r"^([:*#;]+)[ \t]*", re.MULTILINE)
_WIKI_PICTURE = re.compile(
    r"\[\[(?:File|Image|Datei|Bild|Fichier|Archivo):(?:[^\[\]]|\[\[[^\[\]]*\]\]|\[[^\[\]]*\])*+\]\]", re.IGNORECASE
)
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_WIKI_REFERENCE = re.compile(r"<ref\b[^<>]*?(?:/>|>[^<]*</ref\s*>)", re.IGNORECASE)
_WIKI_NAME = re.compile(r"\{\{(?:mvar|math|nowrap|var)\|(?:1=)?([^{}|]*)\}\}", re.IGNORECASE)


def read_wiki_page(raw: bytes) -> Document:
    """Read a page of a MediaWiki; its marks become those of HTML, which it may hold too.

    Errors:
        PrismError: no text in UTF-8; more elements than are read.
    """
    text = decode(raw)
    pieces: list[str] = []
    at, n_picture = 0, 0
    unclosed: set[str] = set()
    while (found := _next_element(text, at, unclosed)) is not None:
        plain, n = _wiki_marks(text[at : found.start])
        pieces += [plain, found.html]
        n_picture += n
        at = found.end
    plain, n = _wiki_marks(text[at:])
    return document_of(read_html("".join((*pieces, plain))), n_picture + n)


class _WikiElement(NamedTuple):
    """An element whose content is no wiki text, as HTML, and where it stands."""

    start: int
    end: int
    html: str


def _next_element(text: str, at: int, unclosed: set[str]) -> _WikiElement | None:
    """Return the next element from an offset on whose content is no wiki text; None if there is none.

    Args:
        unclosed: names that no tag closes any more; another one is added where it is found.
    """
    while (begun := _WIKI_ELEMENT.search(text, at)) is not None:
        name = begun[2].lower()
        at = begun.end()
        if name in unclosed or begun[3].endswith("/"):
            continue
        closing = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(text, at)
        if closing is None:
            unclosed.add(name)
            continue
        return _WikiElement(begun.start(), closing.end(), _wiki_html(begun, text, closing))
    return None


def _wiki_html(begun: re.Match[str], text: str, closing: re.Match[str]) -> str:
    """Return an element as HTML: a formula, code, or a text as it stands."""
    before, name, attributes = begun[1] or "", begun[2].lower(), begun[3]
    content = text[begun.end() : closing.start()]
    if name in ("syntaxhighlight", "source", "pre"):
        return f"<pre>{escape(content)}</pre>"
    if name == "nowiki":
        return escape(f"{before}{content}")
    is_indented = bool(before.strip()) and not before.strip().strip(":")
    is_display = (is_indented and _WIKI_LINE_END.match(text, closing.end()) is not None) or "block" in attributes
    latex = rf"\mathrm{{{content}}}" if name in ("chem", "ce") else content
    if is_display:
        return f'<math display="block">{escape(latex)}</math>'
    return f"{_wiki_marks(before)[0]}<math>{escape(latex)}</math>"


def _wiki_marks(text: str) -> tuple[str, int]:
    """Return wiki text with the marks of Markdown, and how many pictures it shows."""
    text, n_picture = _WIKI_PICTURE.subn(_line_breaks, text)
    text = _WIKI_REFERENCE.sub(_line_breaks, text.replace("{{=}}", "="))
    text = _WIKI_NAME.sub(r"\1", _WIKI_NAME.sub(r"\1", text))
    text = _WIKI_LINK.sub(r"\1", text.replace("'''", "").replace("''", ""))
    text = _WIKI_ITEM.sub(lambda found: "- " if found[1][-1] in "*#" else "", text)
    return _WIKI_HEADING.sub(lambda found: f"{'#' * len(found[1])} {found[2]}", text), n_picture


def _line_breaks(found: re.Match[str]) -> str:
    """Return the line breaks of what is left out, so that the lines below keep their numbers."""
    return "\n" * found[0].count("\n")


# org-mode. ------------------------------------------------------------------------------------------------------

_ORG_HEADING = re.compile(r"(\*+)\s+(.*)")
_ORG_BLOCK = re.compile(r"\s*#\+begin_(\w+)", re.IGNORECASE)
_ORG_KEYWORD = re.compile(r"\s*#\+(\w+)(?:\[[^\]]*\])?:\s*(.*)")
_ORG_DRAWER = re.compile(r"\s*:(?:PROPERTIES|LOGBOOK|RESULTS):\s*", re.IGNORECASE)
_ORG_STRUCK = re.compile(r"(?<![^\s(])\+(?=\S)([^+\n]{1,500})(?<=\S)\+(?![^\s).,;])")
_ORG_CODE = re.compile(r"(?<![^\s({'\"-])([=~])(?=\S)([^`\n]{0,500}?\S)\1(?![^\s).,;:!?'\"}\[-])")
_ORG_LINK = re.compile(r"\[\[([^\[\]]+)\](?:\[([^\[\]]*)\])?\]")
_ORG_COUNTER = re.compile(r"\[@\w+\]\s?")
_PICTURE_NAME = re.compile(r"\.(?:png|jpe?g|gif|svg|pdf|webp|bmp|tiff?)$", re.IGNORECASE)
_ORG_UNREAD_BLOCKS = ("src", "comment")


def read_org_text(raw: bytes) -> Document:
    """Read a text of org-mode, whose formulas are LaTeX as it stands.

    Errors:
        PrismError: no text in UTF-8.
    """
    writer = DocumentWriter()
    block = ""
    in_drawer = False
    for number, line in enumerate(decode(raw).splitlines(), start=1):
        writer.begin_place(f"line {number}")
        if block:
            if line.strip().lower() == f"#+end_{block}":
                writer.add("```\n" if block == "example" else "\n")
                block = ""
            elif block not in _ORG_UNREAD_BLOCKS:
                writer.add(f"{line}\n")
        elif in_drawer or _ORG_DRAWER.fullmatch(line):
            in_drawer = line.strip().lower() != ":end:"
        elif begun := _ORG_BLOCK.match(line):
            block = begun[1].lower()
            writer.add("```\n" if block == "example" else "\n")
        else:
            writer.add(_org_line(line, writer))
    return writer.document()


def _org_line(line: str, writer: DocumentWriter) -> str:
    """Return a line with the marks of Markdown; empty for a comment or a setting."""
    if keyword := _ORG_KEYWORD.fullmatch(line):
        if keyword[1].lower() == "include":
            writer.leave_out("file", of_which="that it includes")
        return f"# {keyword[2]}\n\n" if keyword[1].lower() == "title" else ""
    if line.lstrip().startswith("# "):
        return ""
    if heading := _ORG_HEADING.fullmatch(line):
        return f"\n{'#' * min(len(heading[1]), 6)} {heading[2]}\n\n"

    def link(found: re.Match[str]) -> str:
        if _PICTURE_NAME.search(found[1]):
            writer.leave_out("picture")
            return ""
        return found[2] or found[1]

    marked = _ORG_CODE.sub(r"`\2`", _ORG_LINK.sub(link, _ORG_COUNTER.sub("", line)))
    return _ORG_STRUCK.sub(r"~~\1~~", marked) + "\n"


# reStructuredText. ----------------------------------------------------------------------------------------------

_RST_TEXT = re.compile(r"``[^\n]*?``|(?::([\w.+-]+):)?`(?!`)([^`]*)`(?::([\w.+-]+):|(_))?")
_RST_MATH_ROLE = re.compile(r"^[ \t]*\.\.[ \t]+role::[ \t]*([\w.+-]+)[ \t]*\([ \t]*math[ \t]*\)", re.MULTILINE)
_RST_DEFAULT_ROLE = re.compile(r"^[ \t]*\.\.[ \t]+default-role::[ \t]*([\w.+-]*)[ \t]*$", re.MULTILINE)
_RST_DIRECTIVE = re.compile(r"(\s*)\.\.\s+([\w:-]+)::[ \t]*(.*)")
_RST_OPTION = re.compile(r"\s*:[\w-]+:")
_RST_UNDERLINE = re.compile(r"([=\-~^\"'#*+.:_`])\1{2,}\s*")
_CODE_DIRECTIVES = ("code", "code-block", "sourcecode", "highlight", "parsed-literal", "doctest", "raw")


def read_rst_text(raw: bytes) -> Document:
    """Read a text in reStructuredText.

    Errors:
        PrismError: no text in UTF-8.
    """
    writer = DocumentWriter()
    lines = _with_rst_formulas(decode(raw)).splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        writer.begin_place(f"line {at + 1}")
        if directive := _RST_DIRECTIVE.fullmatch(line):
            end = _end_of_indented(lines, at + 1, len(directive[1]))
            _write_directive(directive[2], directive[3], lines[at + 1 : end], writer)
            at = end
            continue
        below = lines[at + 1] if at + 1 < len(lines) else ""
        if (
            line.strip()
            and not line[:1].isspace()
            and _RST_UNDERLINE.fullmatch(below)
            and not _RST_UNDERLINE.fullmatch(line)
        ):
            writer.end_block()
            writer.add(f"## {line}\n\n")
            at += 2
            continue
        if not _RST_UNDERLINE.fullmatch(line):
            writer.add(f"{line}\n")
        if line.rstrip().endswith("::"):
            end = _end_of_indented(lines, at + 1, len(line) - len(line.lstrip()))
            writer.add("\n".join(("```", *lines[at + 1 : end], "```", "")))
            at = end
            continue
        at += 1
    return writer.document()


def _with_rst_formulas(text: str) -> str:
    """Return a text with what has the role of a formula as one: `math`, a role made of it, or the default role."""
    roles = {"math", *_RST_MATH_ROLE.findall(text)}
    defaults = [(found.start(), found[1]) for found in _RST_DEFAULT_ROLE.finditer(text)]

    def formula(found: re.Match[str]) -> str:
        if found[2] is None or found[4]:  # a literal; a link
            return found[0]
        place = bisect_right(defaults, found.start(), key=lambda default: default[0])
        role = found[1] or found[3] or (defaults[place - 1][1] if place else "")
        return f"${found[2]}$" if role in roles else found[0]

    return _RST_TEXT.sub(formula, text)


def _end_of_indented(lines: list[str], at: int, indent: int) -> int:
    """Return where the lines end that are indented more than `indent`, or blank."""
    while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) > indent):
        at += 1
    return at


def _write_directive(name: str, argument: str, body: list[str], writer: DocumentWriter) -> None:
    """Write a directive: formulas, which blank lines part; nothing of code; of others what is in them."""
    first = next((at for at, line in enumerate(body) if line.strip() and not _RST_OPTION.match(line)), len(body))
    content = body[first:]
    if name in _CODE_DIRECTIVES:
        return
    if name == "math":
        for formula in re.split(r"\n[ \t]*\n", "\n".join((argument, "", *content))):
            writer.add_display(formula)
    elif name in ("image", "figure"):
        writer.leave_out("picture")
    elif name in ("include", "literalinclude"):
        writer.leave_out("file", of_which="that it includes")
    else:
        writer.add("\n".join((argument, *(line.strip() for line in content), "")))


# AsciiDoc. ------------------------------------------------------------------------------------------------------

_ADOC_INLINE = re.compile(r"\b(stem|latexmath|asciimath)::?\[((?:[^\]\\:]|\\.|:(?!\[))*+)\]", re.DOTALL)
_ADOC_FENCES = ("++++", "----", "....", "////")
_ADOC_BLOCK = re.compile(r"\[(stem|latexmath|asciimath|source)\b[^\]]*\]\s*")
_ADOC_HEADING = re.compile(r"(={1,6})\s+(.*)")
_ADOC_DEFAULT = re.compile(r"^:stem:[ \t]*(\w*)", re.MULTILINE)
_ADOC_LIST = re.compile(r"\s*(?:\.{1,5}|\*{1,5}|-)\s+")


def read_asciidoc_text(raw: bytes) -> Document:
    """Read a text in AsciiDoc; `stem` is AsciiMath unless the text says LaTeX.

    Errors:
        PrismError: no text in UTF-8.
    """
    text = decode(raw)
    default = _ADOC_DEFAULT.search(text)
    is_latex = default is not None and default[1].startswith("latex")
    writer = DocumentWriter()
    lines = _ADOC_INLINE.sub(lambda found: _stem(found, is_latex=is_latex), text).splitlines()
    at, kind = 0, ""
    while at < len(lines):
        line, mark = lines[at], lines[at].strip()
        writer.begin_place(f"line {at + 1}")
        if mark in _ADOC_FENCES:
            end = next((k for k in range(at + 1, len(lines)) if lines[k].strip() == mark), len(lines))
            _write_adoc_block(kind, mark, "\n".join(lines[at + 1 : end]), writer, is_latex=is_latex)
            kind, at = "", end + 1
            continue
        if named := _ADOC_BLOCK.fullmatch(line):
            kind = named[1]
        else:
            kind = kind if mark.startswith((".", "[")) else ""
            writer.add(_adoc_line(line, writer))
        at += 1
    return writer.document()


def _write_adoc_block(kind: str, fence: str, body: str, writer: DocumentWriter, *, is_latex: bool) -> None:
    """Write a block between two fences: a formula, text as it stands; nothing of a comment and of a program."""
    if fence == "++++" and kind in ("stem", "latexmath", "asciimath"):
        writer.add_display(_stem_latex(kind, body, is_latex=is_latex))
    elif fence in ("----", "....") and kind != "source":
        writer.add(f"```\n{body}\n```\n")
    elif fence == "++++":
        writer.add(f"{body}\n")


def _adoc_line(line: str, writer: DocumentWriter) -> str:
    """Return a line with the marks of Markdown; empty for a comment or a setting."""
    if line.startswith("image::"):
        writer.leave_out("picture")
        return ""
    if line.startswith("include::"):
        writer.leave_out("file", of_which="that it includes")
        return ""
    if line.startswith("//") or re.fullmatch(r":[\w!-]+:.*|\[[^\]]*\]\s*", line):
        return ""
    if heading := _ADOC_HEADING.fullmatch(line):
        return f"\n{'#' * len(heading[1])} {heading[2]}\n\n"
    return _ADOC_LIST.sub("- ", line, count=1) + "\n" if _ADOC_LIST.match(line) else f"{line}\n"


def _stem(found: re.Match[str], *, is_latex: bool) -> str:
    """Return a formula within a line."""
    return f"${_stem_latex(found[1], found[2].replace(chr(92) + ']', ']'), is_latex=is_latex)}$"


def _stem_latex(kind: str, content: str, *, is_latex: bool) -> str:
    """Return a formula as LaTeX, by the name that it stands under."""
    latex = content.strip().strip("$") if content.strip().startswith("$") else content.strip()
    return latex if kind == "latexmath" or (kind == "stem" and is_latex) else asciimath_latex(latex)
