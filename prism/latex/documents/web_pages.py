r"""Web pages: the text that is seen, with its formulas as LaTeX.

A formula is MathML, a script of MathJax (`math/tex`, `math/asciimath`, `math/mml`), what KaTeX or MathJax have made of
one, the picture of one with its LaTeX in the address or in the words that stand for it, or LaTeX in the text, as it
stands. Other pictures are told.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlsplit

from prism.errors import PrismError
from prism.inputs import decode
from prism.latex.documents.asciimath import asciimath_latex
from prism.latex.documents.document import Document, DocumentWriter
from prism.latex.documents.markup import Element, read_html
from prism.latex.documents.mathml import mathml_latex

_UNSEEN = frozenset(
    "head style title template textarea select option button iframe object embed svg canvas noscript noembed noframes "
    "xmp mjx-math nav".split()
)
_BLOCKS = frozenset(
    "p div section article header footer main aside figure figcaption blockquote ul ol dl dt dd table tr address "
    "details summary form fieldset hr body".split()
)
_RENDERED = frozenset(  # what a script has drawn of a formula whose source stands beside it
    ("katex-html", "MathJax", "MathJax_Display", "MathJax_SVG", "MathJax_SVG_Display", "MathJax_CHTML",
     "MathJax_Preview", "MJXc-display", "mwe-math-fallback-image-inline", "mwe-math-fallback-image-display")
)  # fmt: skip
_DRAWN = frozenset(("katex-html", "MathJax", "MathJax_SVG", "MathJax_CHTML", "mjx-chtml"))
_ROLE = "data-message-author-role"  # of a turn in a page of ChatGPT
_MARKS = {"b": "**", "strong": "**", "del": "~~", "s": "~~", "strike": "~~"}
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_FORMULA_ADDRESS = re.compile(
    r"//(?:[\w-]+\.)*(?:codecogs\.com|chart\.googleapis\.com|math\.now\.sh|wp\.com/latex|wordpress\.com/latex"
    r"|render\.githubusercontent\.com|quicklatex\.com|texify\.com|sciweavers\.org|zhihu\.com/equation|i\.upmath\.me)"
    r"|/filter/tex/pix|/math/render/|[?&]tex="
)
_FORMULA_CLASSES = frozenset("latex math tex equation mathimg ee_img tex2jax_ignore texrender inlineformula".split())
_TEX_FIELDS = ("latex", "tex", "math", "from", "chl", "eq", "formula")
_RENDERING = re.compile(
    r"(?:\\(?:display|text)style|\\(?:bg_\w+|dpi\{\d*\}|fn_\w+|inline|large|small|huge)(?![A-Za-z]))\s*"
)
_TEX_SIGN = re.compile(r"[\\^_=<>]")
_LINE_BREAKS = re.compile(r" ?\n\s*")
_BLANKS = re.compile(r"[ \t\r\f\v]+")
_MATHJAX_SCRIPT = re.compile(r"math/(tex|latex|asciimath|mml)\s*(;\s*mode=display)?", re.IGNORECASE)
_MAX_NAME = 3  # letters of a symbol that is set bold
_MOST_FIELDS = 100
_MOST_ITEMS = 10_000  # a number of a list is written as a letter up to z, and else as it is


def read_web_page(raw: bytes) -> Document:
    """Read a page.

    Errors:
        PrismError: no text in UTF-8; more elements than are read.
    """
    return document_of(read_html(decode(raw)))


def document_of(page: Element, n_picture: int = 0) -> Document:
    """Return the text of the tree of a page; of the page of a chat what the assistant says.

    Args:
        n_picture: pictures besides those of the tree.
    """
    writer = DocumentWriter()
    turns = _turns(page)
    for each in [turn for turn in turns if turn.attributes[_ROLE] == "assistant"] if turns else [page]:
        writer.end_block()
        _write_all(each, writer)
    n_drawn, n_source = _count_formulas(page)
    if n_drawn and not n_source:
        writer.leave_out("formula", n_drawn, of_which="that a script has drawn, without its source")
    if n_picture:
        writer.leave_out("picture", n_picture)
    return writer.document()


def _turns(element: Element) -> list[Element]:
    """Return the turns of a chat whose page was saved; empty for any other page."""
    if _ROLE in element.attributes:
        return [element]
    return [turn for each in element.elements() for turn in _turns(each)]


def _count_formulas(element: Element) -> tuple[int, int]:
    """Return how many formulas a script has drawn in an element, and how many stand there as they were written."""
    if element.name == "math" or (
        element.name == "script" and _MATHJAX_SCRIPT.match(element.attributes.get("type", ""))
    ):
        return 0, 1
    if element.name == "mjx-math" or element.classes() & _DRAWN:
        return 1, 0
    counts = [_count_formulas(each) for each in element.elements()]
    return sum(n for n, _ in counts), sum(n for _, n in counts)


def _write_all(element: Element, writer: DocumentWriter) -> None:
    """Write what stands in an element."""
    for each in element.children:
        if isinstance(each, str):
            _write_text(each, writer)
        else:
            _write(each, writer)


def _write_text(text: str, writer: DocumentWriter) -> None:
    """Write a text with its line breaks, and its other blanks as one."""
    writer.add(_LINE_BREAKS.sub("\n", _BLANKS.sub(" ", text)))


def _write(element: Element, writer: DocumentWriter) -> None:
    """Write an element as it is seen."""
    name = element.name
    if name in ("math", "script", "img"):
        writer.begin_place(f"line {element.line}")
    if name == "math":
        _write_mathml(element, writer)
    elif name == "script":
        _write_script(element, writer)
    elif name == "img":
        _write_picture(element, writer)
    elif _is_unseen(element):
        if name in ("svg", "canvas", "object", "embed") and not _is_drawn_formula(element):
            writer.leave_out("picture")
    elif name in ("br", "hr"):
        writer.add("\n")
    elif name in ("pre", "code", "div") and _is_program(element):
        writer.end_block()
    elif name in ("pre", "code"):
        _write_code(element, writer)
    elif name in ("sub", "sup"):
        _write_script_of_text(element, writer)
    elif "math" in element.classes() and _is_raw_formula(element):
        is_display = name != "span" or "display" in element.classes()
        (writer.add_display if is_display else writer.add_inline)(element.text())
    elif name in _HEADINGS or name in _BLOCKS:
        writer.end_block()
        writer.begin_place(f"line {element.line}")
        writer.add(_HEADINGS.get(name, ""))
        _write_list(element, writer) if name in ("ol", "ul") else _write_all(element, writer)
        writer.end_block()
    elif name in ("td", "th"):
        writer.add(" ")
        _write_all(element, writer)
        writer.add(" ")
    else:
        mark = _MARKS.get(name, "")
        mark = mark if mark and _is_longer(element, _MAX_NAME if mark == "**" else 0) else ""
        writer.begin_mark(mark)
        _write_all(element, writer)
        writer.end_mark(mark)


def _is_unseen(element: Element) -> bool:
    """Return True for an element that no reader sees, and for what a script has drawn of a formula."""
    style = element.attributes.get("style", "").replace(" ", "").lower()
    is_hidden = "hidden" in element.attributes or "display:none" in style or "visibility:hidden" in style
    is_source = bool(element.classes() & {"mwe-math-mathml-inline", "mwe-math-mathml-display", "katex-mathml"})
    return element.name in _UNSEEN or bool(element.classes() & _RENDERED) or (is_hidden and not is_source)


def _is_longer(element: Element, n: int) -> bool:
    """Return True if the text in an element has more than n signs besides blanks."""
    signs = 0
    for text in element.texts():
        signs += len("".join(text.split()))
        if signs > n:
            return True
    return False


def _is_raw_formula(element: Element) -> bool:
    """Return True for LaTeX that a script of the page is to draw, as pandoc writes it for KaTeX."""
    text = element.text().strip()
    return not any(element.elements()) and not text.startswith((r"\(", r"\[", r"\begin{", "$"))


def _is_program(element: Element) -> bool:
    """Return True for code that is marked as that of a program, which states nothing."""
    code = element.first("code") if element.name == "pre" else None
    classes = element.classes() | (code.classes() if code else frozenset())
    named = {each.removeprefix("language-") for each in classes if each.startswith("language-")}
    return bool(classes & {"highlight", "sourceCode"}) or bool(named - {"math", "latex", "tex", "text", "none"})


def _is_drawn_formula(element: Element) -> bool:
    """Return True for the drawing of a formula, beside which its source stands."""
    return element.attributes.get("aria-hidden") == "true" or "role" in element.attributes


def _write_mathml(element: Element, writer: DocumentWriter) -> None:
    """Write a formula in MathML."""
    try:
        latex = mathml_latex(element)
    except PrismError:
        writer.leave_out("formula", of_which="in content MathML")
        return
    is_display = element.attributes.get("display") == "block" or element.attributes.get("mode") == "display"
    (writer.add_display if is_display else writer.add_inline)(latex)


def _write_script(element: Element, writer: DocumentWriter) -> None:
    """Write the formula of a script of MathJax; other scripts are nothing to be seen."""
    kind = _MATHJAX_SCRIPT.match(element.attributes.get("type", ""))
    if kind is None:
        return
    content = element.text().removeprefix("% <![CDATA[").removesuffix("%]]>")
    if kind[1].lower() == "mml":
        _write_all(read_html(content), writer)
        return
    latex = asciimath_latex(content) if kind[1].lower() == "asciimath" else content
    (writer.add_display if kind[2] else writer.add_inline)(latex)


def _write_picture(element: Element, writer: DocumentWriter) -> None:
    """Write the formula of which an image is the picture; another image is counted as not read."""
    if _is_unseen(element):
        return
    latex = picture_latex(element)
    if not latex:
        writer.leave_out("picture")
    elif "display" in element.classes() or "block" in element.attributes.get("style", ""):
        writer.add_display(latex)
    else:
        writer.add_inline(latex)


def picture_latex(element: Element) -> str:
    r"""Return the LaTeX of the picture of a formula, by its address or its words; empty if it is none.

    >>> picture_latex(Element("img", {"src": "https://latex.codecogs.com/svg.image?v%20%3D%20g\\,t"}))
    'v = g\\,t'
    """
    address = element.attributes.get("src") or element.attributes.get("data-src") or ""
    words = element.attributes.get("alt", "").strip()
    is_formula = bool(_FORMULA_ADDRESS.search(address)) or bool(element.classes() & _FORMULA_CLASSES)
    if not is_formula and not (_TEX_SIGN.search(words) and words[:1] in "\\$" and words):
        return ""
    latex = words if _TEX_SIGN.search(words) else _latex_in(address)
    for begin, end in (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")):
        if len(latex) > len(begin + end) and latex.startswith(begin) and latex.endswith(end):
            latex = latex[len(begin) : -len(end)]
    return _RENDERING.sub("", latex).strip()


def _latex_in(address: str) -> str:
    """Return the LaTeX in the address of a picture; empty if it has none."""
    try:
        query = urlsplit(address).query
        fields = parse_qs(query, max_num_fields=_MOST_FIELDS)
    except ValueError:  # brackets that are no address of a machine; too many fields
        return ""
    if named := next((fields[name][0] for name in _TEX_FIELDS if name in fields), ""):
        return named
    return unquote(query.replace("&space;", " ").replace("+", "%2B"))


def _write_code(element: Element, writer: DocumentWriter) -> None:
    """Write code as such."""
    text = element.text()
    if element.name == "pre" or "\n" in text.strip():
        writer.end_block()
        writer.add(f"```\n{text.strip(chr(10))}\n```")
        writer.end_block()
    elif text.strip():
        writer.add(f"`{text.strip()}`")


def _write_script_of_text(element: Element, writer: DocumentWriter) -> None:
    """Write an index or a power in the text, as people type it."""
    text = element.text().strip()
    sign = "_" if element.name == "sub" else "^"
    if text:
        writer.add(f"{sign}{text}" if len(text) == 1 else f"{sign}{{{text}}}")


def _write_list(element: Element, writer: DocumentWriter) -> None:
    """Write a list; items that a page letters or numbers have their letters and numbers, by which parts are told."""
    kind = element.attributes.get("type", "1")
    start = element.attributes.get("start", "1")
    number = int(start) if start.isascii() and start.isdecimal() and len(start) < len(str(_MOST_ITEMS)) else 1
    is_lettered = "lower-alpha" in element.attributes.get("style", "") or kind in ("a", "A")
    for each in element.children:
        if isinstance(each, str):
            _write_text(each if each.strip() else "", writer)
        elif each.name == "li":
            writer.end_line()
            letter = chr(ord("a") + number - 1) if 1 <= number <= 26 else str(number)
            writer.add("- " if element.name == "ul" else f"({letter}) " if is_lettered else f"{number}. ")
            number += 1
            _write_all(each, writer)
        else:
            _write(each, writer)
    writer.end_block()
