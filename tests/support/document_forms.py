"""One right solution of `free_fall` in the forms in which people have it, each made here; files that are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from urllib.parse import quote
from zipfile import ZIP_DEFLATED, ZipFile

LATEX = (
    r"\frac{dv}{dt} = g", "v = g t", r"s = \frac{1}{2} g t^2", r"t_f = \sqrt{\frac{2 h}{g}}", "v_f = g t_f",
    r"v_f = \sqrt{2 g h}",
)  # fmt: skip
DISPLAYS = (2, 3, 5)  # which of them stand by themselves
WORDS = (
    "Only gravity acts, so ", " and, starting from rest, ", ". The distance fallen is", "and the ground is reached at",
    "At that moment ", ", and putting this in gives",
)  # fmt: skip
"""What stands before each of them; the fifth begins part b."""

ASCIIMATH = ("(dv)/(dt) = g", "v = g t", "s = 1/2 g t^2", "t_f = sqrt((2 h)/g)", "v_f = g t_f", "v_f = sqrt(2 g h)")
TYPST = ("frac(d v, d t) = g", "v = g t", "s = 1/2 g t^2", "t_f = sqrt((2 h) / g)", "v_f = g t_f", "v_f = sqrt(2 g h)")


def written(inline: str, display: str, formulas: tuple[str, ...] = LATEX, *, part_a: str = "(a) ", part_b: str = "(b) ",
            quoted: Callable[[str], str] = str) -> str:  # fmt: skip
    """The solution with its formulas put into these forms, `{}` standing for each."""
    pieces = [part_a]
    for at, formula in enumerate(formulas):
        pieces.append(part_b + WORDS[at] if at == 4 else WORDS[at])
        pieces.append((display if at in DISPLAYS else inline).replace("{}", quoted(formula)))
    return "".join(pieces)


MARKDOWN = written("${}$", "\n\n$$\n{}\n$$\n\n")

# MathML and OMML are made from trees of our own, so that no converter of the package is its own judge. --------

TREES: tuple[tuple[object, ...], ...] = (
    (("f", "dv", "dt"), "=", "g"),
    ("v", "=", "g", "t"),
    ("s", "=", ("f", "1", "2"), "g", ("sup", "t", "2")),
    (("sub", "t", "f"), "=", ("rad", ("f", "2h", "g"))),
    (("sub", "v", "f"), "=", "g", ("sub", "t", "f")),
    (("sub", "v", "f"), "=", ("rad", "2gh")),
)


def mathml(tree: object) -> str:
    """A tree as MathML."""
    if isinstance(tree, str):
        leaves = "".join(
            f"<mn>{sign}</mn>" if sign.isdigit() else f"<mo>{sign}</mo>" if sign == "=" else f"<mi>{sign}</mi>"
            for sign in tree
        )
        return leaves if len(tree) == 1 else f"<mrow>{leaves}</mrow>"
    assert isinstance(tree, tuple)
    names = {"f": "mfrac", "sup": "msup", "sub": "msub", "rad": "msqrt"}
    if tree[0] in names:
        return f"<{names[str(tree[0])]}>{''.join(map(mathml, tree[1:]))}</{names[str(tree[0])]}>"
    return "".join(map(mathml, tree))


def omml(tree: object) -> str:
    """A tree as OMML."""
    if isinstance(tree, str):
        return f"<m:r><m:t>{tree}</m:t></m:r>"
    assert isinstance(tree, tuple)
    parts = [omml(each) for each in tree[1:]]
    if tree[0] == "f":
        return f"<m:f><m:num>{parts[0]}</m:num><m:den>{parts[1]}</m:den></m:f>"
    if tree[0] == "sup":
        return f"<m:sSup><m:e>{parts[0]}</m:e><m:sup>{parts[1]}</m:sup></m:sSup>"
    if tree[0] == "sub":
        return f"<m:sSub><m:e>{parts[0]}</m:e><m:sub>{parts[1]}</m:sub></m:sSub>"
    if tree[0] == "rad":
        return f'<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e>{parts[0]}</m:e></m:rad>'
    return "".join(map(omml, tree))


def math_element(at: int, *, annotation: bool = True, attributes: str = "") -> str:
    """The formula of a number as a `math` element."""
    display = "block" if at in DISPLAYS else "inline"
    tree = f"<mrow>{mathml(TREES[at])}</mrow>"
    note = f'<annotation encoding="application/x-tex">{LATEX[at]}</annotation>' if annotation else ""
    inside = f"<semantics>{tree}{note}</semantics>" if annotation else tree
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="{display}"{attributes}>{inside}</math>'


def page(formula: Callable[[int], str]) -> str:
    """A page with the solution, the formula of each number put in."""
    body = "".join(
        ("</p><p>(b) " if at == 4 else "") + WORDS[at] + formula(at) for at in range(len(LATEX))
    )  # fmt: skip
    return f"<!DOCTYPE html><html><head><title>v = 2 g t</title></head><body><p>(a) {body}</p></body></html>"


def katex(at: int) -> str:
    """A formula as KaTeX draws it."""
    drawn = '<span class="katex-html" aria-hidden="true"><span class="base">v=99gt</span></span>'
    inner = f'<span class="katex"><span class="katex-mathml">{math_element(at)}</span>{drawn}</span>'
    return f'<span class="katex-display">{inner}</span>' if at in DISPLAYS else inner


def mathjax_2(at: int) -> str:
    """A formula as MathJax 2 leaves it in a page."""
    kind = "math/tex; mode=display" if at in DISPLAYS else "math/tex"
    drawn = '<span class="MathJax_Preview"></span><span class="MathJax">v=99gt</span>'
    return f'{drawn}<script type="{kind}">{LATEX[at]}</script>'


def mathjax_3(at: int) -> str:
    """A formula as MathJax 3 draws it."""
    drawn = '<mjx-math aria-hidden="true"><mjx-mi>v</mjx-mi></mjx-math>'
    assistive = f'<mjx-assistive-mml unselectable="on">{math_element(at, annotation=False)}</mjx-assistive-mml>'
    return f"<mjx-container>{drawn}{assistive}</mjx-container>"


def wikipedia(at: int) -> str:
    """A formula as Wikipedia shows it: MathML that is not seen, and a picture."""
    hidden = f'<span class="mwe-math-mathml-inline" style="display: none;">{math_element(at)}</span>'
    picture = (
        f'<img src="https://wikimedia.org/math/render/svg/0" class="mwe-math-fallback-image-inline" alt="{LATEX[at]}">'
    )
    return f'<span class="mwe-math-element">{hidden}{picture}</span>'


def picture(at: int) -> str:
    """A formula as a picture of codecogs."""
    return f'<img src="https://latex.codecogs.com/svg.image?{quote(LATEX[at])}" title="">'


# Other files. ---------------------------------------------------------------------------------------------------------

PREAMBLE = r"""% Options for packages loaded elsewhere
\PassOptionsToPackage{unicode}{hyperref}
\documentclass[]{article}
\usepackage{amsmath,amssymb}
\setcounter{secnumdepth}{-\maxdimen} % remove section numbering
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
\else % if luatex or xetex
  \usepackage{unicode-math} % this also loads fontspec
  \defaultfontfeatures{Scale=MatchLowercase}
\fi
\IfFileExists{upquote.sty}{\usepackage{upquote}}{}
\makeatletter
\@ifundefined{KOMAClassName}{\setlength{\parskip}{6pt plus 2pt minus 1pt}}{\KOMAoptions{parskip=half}}
\makeatother
\providecommand{\tightlist}{%
  \setlength{\itemsep}{0pt}\setlength{\parskip}{0pt}}
\hypersetup{hidelinks, pdfcreator={LaTeX via pandoc}}
"""


def latex_document(text: str) -> str:
    """A text as a whole LaTeX file."""
    return f"{PREAMBLE}\\begin{{document}}\n{text}\n\\end{{document}}\n"


def notebook(*cells: dict[str, object]) -> str:
    """A notebook of these cells."""
    data = {"cells": [{"metadata": {}, **cell} for cell in cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(data)


def chat_export(text: str) -> str:
    """A conversation as ChatGPT exports it, with a branch that was left and a call of a tool."""

    def node(name: str, parent: str | None, role: str, said: str, recipient: str = "all") -> dict[str, object]:
        content = {"content_type": "text", "parts": [said]}
        message = {"author": {"role": role}, "content": content, "recipient": recipient}
        return {"id": name, "parent": parent, "message": message, "children": []}

    nodes = [
        node("1", None, "user", "A stone ..."), node("2", "1", "assistant", "$v = 2 g t$"),
        node("3", "1", "assistant", "print(9.81)", "python"), node("4", "3", "tool", "$v = 3 g t$"),
        node("5", "4", "assistant", text),
    ]  # fmt: skip
    mapping = {str(each["id"]): each for each in nodes}
    return json.dumps([{"title": "Free fall", "mapping": mapping, "current_node": "5"}])


def packed(parts: dict[str, str | bytes]) -> bytes:
    """A zip archive of these parts."""
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return made.getvalue()


WORD = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document '
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><w:body>{}</w:body></w:document>'
)


def word_document(body: str, **parts: str) -> bytes:
    """A DOCX file with this body."""
    return packed({"[Content_Types].xml": "<Types/>", "word/document.xml": WORD.replace("{}", body), **parts})


def word_body() -> str:
    """The solution as paragraphs of Word."""
    pieces: list[str] = []
    for at, tree in enumerate(TREES):
        text = f'<w:r><w:t xml:space="preserve">{"(b) " * (at == 4)}{"(a) " * (at == 0)}{WORDS[at]}</w:t></w:r>'
        formula = f"<m:oMath>{omml(tree)}</m:oMath>"
        pieces.append("<w:p>" if at in (0, 3, 4) else "")
        pieces.append(
            f"{text}{f'</w:p><w:p><m:oMathPara>{formula}</m:oMathPara></w:p>' if at in DISPLAYS else formula}"
        )
    return "".join(pieces)


def open_document() -> bytes:
    """The solution as an OpenDocument text."""
    names = {"office": "office", "text": "text", "draw": "drawing"}
    spaces = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for short, name in names.items()
    )
    body = "".join(
        f'{WORDS[at]}<draw:frame><draw:object xlink:href="./Object {at}"/>'
        f'<draw:image xlink:href="./ObjectReplacements/Object {at}"/></draw:frame>'
        for at in range(len(TREES))
    )
    content = (
        f'<office:document-content {spaces} xmlns:xlink="http://www.w3.org/1999/xlink"><office:body><office:text>'
        f"<text:p>{body}</text:p></office:text></office:body></office:document-content>"
    )
    objects = {f"Object {at}/content.xml": math_element(at, annotation=False) for at in range(len(TREES))}
    return packed({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content, **objects})


def said(text: str) -> list[dict[str, object]]:
    """Messages of a chat in which a tool is called before the solution is given."""
    return [
        {"role": "user", "content": "A stone ... $v = 7 g t$"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "$v = 3 g t$", "tool_call_id": "1"},
        {"role": "assistant", "content": text},
    ]


def read_forms() -> dict[str, dict[str, str | bytes]]:
    """By the name of a form its files, the one that is read first."""
    org = written(r"\({}\)", "\n\n\\[{}\\]\n\n")
    half = MARKDOWN.partition("(b)")
    dump = json.dumps
    return {
        "markdown": {"a.md": MARKDOWN},
        "plain text": {"a.txt": org},
        "quarto": {"a.qmd": f"---\ntitle: Fall\n---\n\n{MARKDOWN}"},
        "myst": {"a.md": written("{math}`{}`", "\n\n```{math}\n:label: one\n{}\n```\n\n")},
        "latex": {"a.tex": latex_document(MARKDOWN)},
        "pandoc's latex": {"a.tex": latex_document(org)},
        "overleaf": {
            "main.tex": latex_document("\\input{parts/a}\n\\include{parts/b}"),
            "parts/a.tex": half[0], "parts/b.tex": half[1] + half[2],
        },
        "notebook": {"a.ipynb": notebook({"cell_type": "markdown", "source": MARKDOWN.splitlines(keepends=True)})},
        "notebook with outputs": {"a.ipynb": notebook(
            {"cell_type": "markdown", "source": half[0]},
            {"cell_type": "code", "source": "t = 2  # $v = 2 g t$", "outputs": [
                {"output_type": "stream", "text": ["\n"]},
                {"output_type": "display_data", "data": {"text/latex": half[1] + half[2], "text/plain": "v = 2*g*t"}}]},
        )},
        "mathml with annotations": {"a.html": page(math_element)},
        "mathml": {"a.html": page(lambda at: math_element(at, annotation=False))},
        "latexml": {"a.html": page(lambda at: math_element(
            at, annotation=False, attributes=f' class="ltx_Math" alttext="{LATEX[at]}"'))},
        "mathjax source": {"a.html": page(lambda at: rf"\[{LATEX[at]}\]" if at in DISPLAYS else rf"\({LATEX[at]}\)")},
        "mathjax 2": {"a.html": page(mathjax_2)},
        "mathjax 3": {"a.htm": page(mathjax_3)},
        "mathjax asciimath": {"a.html": page(lambda at: f'<script type="math/asciimath">{ASCIIMATH[at]}</script>')},
        "katex": {"a.html": page(katex)},
        "page of a chat": {"a.html": "<p>Chats: v = 8 g t</p><div data-message-author-role=user><p>$v = 7 g t$</div>"
                           f"<div data-message-author-role=assistant>{page(katex)}</div>"},
        "pandoc for katex": {"a.html": page(lambda at: f'<span class="math inline">{LATEX[at]}</span>')},
        "wikipedia": {"a.html": page(wikipedia)},
        "codecogs": {"a.html": page(picture)},
        "alt texts": {"a.html": page(lambda at: f'<img class="latex" src="eq{at}.png" alt="{LATEX[at]}">')},
        "mathml file": {"a.mml": "".join(map(math_element, range(6)))},
        "mediawiki": {"a.wiki": written("<math>{}</math>", "\n\n:<math>{}</math>\n\n", quoted=lambda tex: tex)},
        "org": {"a.org": f"* Fall\n:PROPERTIES:\n:ID: 1\n:END:\n{org}\n#+begin_src python\nv = 2*g*t\n#+end_src\n"},
        "rst": {"a.rst": "Fall\n====\n\n" + written(":math:`{}`", "\n\n.. math::\n   :label: one\n\n   {}\n\n")},
        "asciidoc": {"a.adoc": "= Fall\n\n" + written("latexmath:[{}]", "\n\n[latexmath]\n++++\n{}\n++++\n\n")},
        "asciidoc in asciimath": {"a.adoc": "= Fall\n:stem:\n\n" + written(
            "stem:[{}]", "\n\n[stem]\n++++\n{}\n++++\n\n", ASCIIMATH)},
        "typst": {"a.typ": "#set page(width: 10cm)\n= Fall\n" + written("${}$", "\n\n$ {} $\n\n", TYPST)},
        "messages": {"a.json": dump({"model": "small", "messages": said(MARKDOWN)})},
        "list of messages": {"a.json": dump(said(MARKDOWN))},
        "chatgpt": {"a.json": chat_export(MARKDOWN)},
        "claude": {"a.json": dump({"name": "Fall", "chat_messages": [
            {"sender": "human", "text": "$v = 7 g t$"}, {"sender": "assistant", "text": MARKDOWN}]})},
        "chat completion": {"a.json": dump({"choices": [
            {"index": 0, "message": {"role": "assistant", "content": MARKDOWN}}]})},
        "response": {"a.json": dump({"output": [{"type": "reasoning", "summary": []}, {
            "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": MARKDOWN}]}]})},
        "gemini": {"a.json": dump({"candidates": [{"content": {"role": "model", "parts": [{"text": MARKDOWN}]}}]})},
        "AI Studio": {
            "a.json": dump(
                {
                    "chunkedPrompt": {
                        "chunks": [
                            {"role": "user", "text": "v = 2 g t"},
                            {"role": "model", "text": "$v = 3 g t$", "isThought": True},
                            {"role": "model", "text": MARKDOWN},
                        ]
                    }
                }
            )
        },
        "word": {"a.docx": word_document(word_body())},
        "opendocument": {"a.odt": open_document()},
    }  # fmt: skip


REFUSED: dict[str, tuple[bytes, str]] = {
    "a.pdf": (b"%PDF-1.7\n", "is a PDF file, which is not read"),
    "a.png": (b"\x89PNG\r\n", "is a picture, which is not read"),
    "a.HEIC": (b"\0\0", "is a picture, which is not read"),
    "a.doc": (b"\xd0\xcf\x11\xe0", "is a Word document of the old kind, which is not read"),
    "a.rtf": (b"{\\rtf1 v = gt}", "is a document in Rich Text Format, which is not read"),
    "a.pages": (b"PK\x03\x04", "is a Pages document, which is not read"),
    "a.lyx": (b"#LyX 2.3", "is a LyX document, which is not read"),
    "a.nb": (b"Notebook[{}]", "is a notebook of Mathematica, which is not read"),
    "a.epub": (b"PK\x03\x04", "is an electronic book, which is not read"),
    "a.zip": (b"PK\x03\x04", "is an archive, which is not read"),
    "a.textile": (b"h1. Fall", "is a text in another markup, which is not read"),
    "a": (b"\x00\x01\x02\x03", "binary"),
    "a.md": (b"PK\x03\x04", "is a zip archive"),
    "a.html": ("<p>Höhe</p>".encode("latin-1"), "is a web page, and is not UTF-8"),
}
"""By the name of a file what it holds, and what is said of it."""


def write_form(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Write the files of a form, and return the one that is read."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / next(iter(files))
