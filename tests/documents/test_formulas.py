"""Formulas in MathML, OMML, Typst and AsciiMath: each is the formula that stands beside it in LaTeX."""

from __future__ import annotations

from pathlib import PurePath

import pytest

import prism
from prism.latex import extract, write
from prism.latex.documents.asciimath import asciimath_latex
from prism.latex.documents.kinds import kind_of
from prism.latex.documents.markup import read_html
from prism.latex.documents.mathml import mathml_latex
from prism.latex.documents.office_documents import read_word_document
from prism.latex.documents.reading import read_raw
from prism.latex.documents.typst import read_typst_text, typst_latex
from prism.latex.documents.web_pages import document_of
from tests.support.document_forms import word_document


def formulas(latex: str) -> list[str]:
    """What is read of a formula, each piece as PRISM writes it."""
    return [write(prism.parse(item.latex)) for item in extract(f"$${latex}$$")]


def r(text: str, properties: str = "") -> str:
    """A run of Word."""
    return f"<m:r>{properties}<m:t>{text}</m:t></m:r>"


def o(name: str, *properties: tuple[str, str], **arguments: str) -> str:
    """An element of OMML with its properties and arguments."""
    values = "".join(f'<m:{key} m:val="{value}"/>' for key, value in properties)
    inside = "".join(f"<m:{key}>{value}</m:{key}>" for key, value in arguments.items())
    return f"<m:{name}><m:{name}Pr>{values}</m:{name}Pr>{inside}</m:{name}>"


def rows(*cells: tuple[str, ...]) -> str:
    """A matrix of Word."""
    return "".join(
        ("<m:m>", *(f"<m:mr>{''.join(f'<m:e>{cell}</m:e>' for cell in row)}</m:mr>" for row in cells), "</m:m>")
    )


def lines(*texts: str) -> str:
    """Formulas of Word below each other."""
    return f"<m:eqArr>{''.join(f'<m:e>{text}</m:e>' for text in texts)}</m:eqArr>"


UPRIGHT = "<m:rPr><m:sty m:val='p'/></m:rPr>"
V_F = o("sSub", e=r("v"), sub=r("f"))
SIN, LIM = r("sin", UPRIGHT), r("lim", UPRIGHT)
TWO = r("2")

OMML = [
    (o("sSup", e=V_F, sup=TWO) + r("=2gh"), "v_f^2 = 2gh"),
    (o("sSubSup", e=r("v"), sub=r("f"), sup=TWO) + r("=2gh"), "v_f^2 = 2gh"),
    (r("s=") + o("nary", sub=r("0"), sup=r("t"), e=r("gt")) + r("dt"), r"s = \int_0^t gt\,dt"),
    (r("S=") + o("nary", ("chr", "∑"), sub=r("i=1"), sup=r("n"), e=r("i")), r"S = \sum_{i=1}^n i"),
    (r("x=") + o("rad", deg=r("3"), e=r("y")), r"x = \sqrt[3]{y}"),
    (r("y=") + o("func", fName=SIN, e=r("x")), r"y = \sin x"),
    (r("y=") + o("func", fName=r("sin"), e=r("x")), r"y = \sin x"),
    (r("y=") + o("func", fName=o("sSup", e=SIN, sup=TWO), e=r("x")), r"y = \sin^2 x"),
    (r("y=") + o("func", fName=o("limLow", e=LIM, lim=r("x→0")), e=r("x")), r"y = \lim_{x\to 0} x"),
    (o("acc", ("chr", "&#x20D7;"), e=r("F")) + r("=ma"), r"\vec{F} = ma"),
    (o("acc", ("chr", "&#x307;"), e=r("x")) + r("=v"), r"\dot{x} = v"),
    (o("acc", e=r("x")) + r("=v"), r"\hat{x} = v"),
    (o("bar", ("pos", "top"), e=r("v")) + r("=v"), r"\bar{v} = v"),
    (r("y=") + o("d", e=r("a+b")) + r("c"), "y = (a+b)c"),
    (r("y=") + o("d", ("begChr", "|"), ("endChr", "|"), e=r("a")), "y = |a|"),
    (r("y=") + o("d", e=o("f", ("type", "noBar"), num=r("n"), den=r("k"))), r"y = \binom{n}{k}"),
    (r("A=") + o("d", e=rows((r("1"), TWO), (r("3"), r("4")))), r"A = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}"),
    (lines(r("a&amp;=b"), r("c&amp;=d")), r"\begin{aligned} a &= b \\ c &= d \end{aligned}"),
    (rows((r("a=b"),), (r("c=d"),)), r"\begin{aligned} a = b \\ c = d \end{aligned}"),
    (r("x=") + o("d", ("begChr", "{"), ("endChr", ""), e=lines(r("1&amp;x&gt;0"), r("2&amp;x&lt;0"))),
     r"x = \begin{cases} 1 & x > 0 \\ 2 & x < 0 \end{cases}"),
    (o("borderBox", e=r("v=gt")), r"\boxed{v = gt}"),
    (r("v=3 ") + r("m", UPRIGHT) + r("/", UPRIGHT) + r("s", UPRIGHT), r"v = 3\,\mathrm{m/s}"),
    (r("v=3") + r(" m/s", "<m:rPr><m:nor/></m:rPr>"), r"v = 3\text{ m/s}"),
    (r("m=2 ") + r("k", UPRIGHT) + r("g", UPRIGHT), r"m = 2\,\mathrm{kg}"),
    (r("𝑣=𝑔𝑡"), "v = gt"),
    (r("𝐅=m") + r("a", "<m:rPr><m:sty m:val='b'/></m:rPr>"), r"\mathbf{F} = m\mathbf{a}"),
    (r("v=gt") + o("phant", e=r("+5")), "v = gt"),
    (r("v=gt") + f"<w:del>{r('+5')}</w:del>", "v = gt"),
    (o("limUpp", e=r("a+b"), lim=r("⏞")) + r("=c"), "a + b = c"),
    (o("groupChr", ("chr", "⏟"), e=r("a+b")) + r("=c"), "a + b = c"),
    (r("x′=y"), "x' = y"),
    (r("η=50%"), r"\eta = 50\%"),
    (r("a≤b"), r"a \le b"),
]  # fmt: skip


def x(name: str, *children: str) -> str:
    """An element of MathML; its attributes stand behind its name."""
    return f"<{name}>{''.join(children)}</{name.split(maxsplit=1)[0]}>"


def t(text: str) -> str:
    """Letters, digits and signs as MathML, each for itself."""
    return "".join(x("mi" if sign.isalpha() else "mn" if sign.isdigit() else "mo", sign) for sign in text)


def table(*cells: tuple[str, ...]) -> str:
    """A table of MathML."""
    return x("mtable", *(x("mtr", *(x("mtd", t(cell)) for cell in row)) for row in cells))


def mrow(text: str) -> str:
    """A row of letters and signs."""
    return x("mrow", t(text))


MATHML = [
    (x("msup", x("msub", t("vf")), t("2")) + t("=2g") + "<mo>&#x2062;</mo>" + t("h"), "v_f^2 = 2gh"),
    (t("y=") + "<mi>sin</mi><mo>&#x2061;</mo>" + t("x"), r"y = \sin x"),
    (t("y=") + x("munder", "<mo>lim</mo>", mrow("x→0")) + t("x"), r"y = \lim_{x \to 0} x"),
    (t("s=") + x("msubsup", t("∫0t")) + t("v") + x("mspace width='1em'") + t("dt"), r"s = \int_0^t v\,dt"),
    (t("S=") + x("munderover", t("∑"), mrow("i=1"), t("n")) + t("i"), r"S = \sum_{i=1}^n i"),
    (x("mover", t("F→")) + t("=m") + x("mi mathvariant='bold'", "a"), r"\vec{F} = m\mathbf{a}"),
    (x("mover accent='true'", t("x˙")) + t("=v"), r"\dot{x} = v"),
    (t("y=") + x("mfenced", mrow("a+b")) + t("c"), "y = (a+b)c"),
    (t("v=3") + x("mtext", " m/s"), r"v = 3\text{ m/s}"), (t("v=s") + x("mtext", "/") + t("t"), "v = s/t"),
    (x("mover", mrow("a+b"), t("\ufe37")) + t("=c"), r"\overbrace{a+b} = c"),
    (x("mfenced open='\u2329' close='\u232a'", t("E")) + t("=c"), r"\left\langle E\right\rangle = c"),
    (t("m=2") + x("mi mathvariant='normal'", "k") + x("mi mathvariant='normal'", "g"), r"m = 2\,\mathrm{kg}"),
    (t("x=") + x("mroot", t("y3")), r"x = \sqrt[3]{y}"),
    (t("y=(") + x("mfrac linethickness='0'", t("nk")) + t(")"), r"y = \binom{n}{k}"),
    (table(("a", "=b"), ("c", "=d")), r"\begin{aligned} a &= b \\ c &= d \end{aligned}"),
    (t("x={") + table(("1", "x>0"), ("2", "x<0")), r"x = \begin{cases} 1 & x > 0 \\ 2 & x < 0 \end{cases}"),
    (t("A=(") + table(("1", "2"), ("3", "4")) + t(")"), r"A = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}"),
    (x("menclose notation='box'", t("v=gt")), r"\boxed{v = gt}"),
    (t("v=gt") + x("mphantom", t("+5")), "v = gt"),
    (x("msup", x("mfrac", t("ab")), t("2")) + t("=c"), r"(\frac{a}{b})^2 = c"),
]  # fmt: skip

TYPST = [
    ("va(a) = dv(va(v), t)", r"\vec a = \frac{d\vec v}{dt}"), ("a = pdv(v, t)", r"a = \frac{\partial v}{\partial t}"),
    ("v_f^2 = 2 g h", "v_f^2 = 2gh"), ('v_"max" = 3 "m/s"', r"v_{\text{max}} = 3\text{ m/s}"),
    ("s = integral_0^t v dif t", r"s = \int_0^t v\,\mathrm{d}t"), ("S = sum_(i=1)^n i", r"S = \sum_{i=1}^n i"),
    ("y = sin(x) + sin x", r"y = \sin(x) + \sin x"), ("arrow(F) = m bold(a)", r"\vec{F} = m\mathbf{a}"),
    ("dot(x) = v", r"\dot{x} = v"), ("dot.double(x) = a", r"\ddot{x} = a"),
    ("y = (a + b)/(c + d) e", r"y = \frac{a+b}{c+d} e"),
    ("x = root(3, y)", r"x = \sqrt[3]{y}"), ("a &= b \\\n c &= d", r"\begin{aligned} a &= b \\ c &= d \end{aligned}"),
    ("A = mat(1, 2; 3, 4)", r"A = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}"), ("x' = y", "x' = y"),
    ("x = cases(1 & x > 0, 2 & x < 0)", r"x = \begin{cases} 1 & x > 0 \\ 2 & x < 0 \end{cases}"),
    ("Delta x <= lambda dot.op 2", r"\Delta x \le \lambda \cdot 2"), ("v = 3 upright(m \\/ s)", r"v = 3\,\mathrm{m/s}"),
    ("f(x) = a/b/c", r"f(x) = \frac{\frac{a}{b}}{c}"), ("y = abs(a)", "y = |a|"), ("x = 10^(-3) y", "x = 10^{-3} y"),
]  # fmt: skip

ASCIIMATH = [
    ("v_f^2 = 2 g h", "v_f^2 = 2gh"), ("v = 3 text( m/s)", r"v = 3\text{ m/s}"), ('v_"max" = 2', r"v_{\text{max}} = 2"),
    ("s = int_0^t v dt", r"s = \int_0^t v\,dt"), ("S = sum_(i=1)^n i", r"S = \sum_{i=1}^n i"),
    ("y = sin(x) + sin x", r"y = \sin(x) + \sin x"), ("vec F = m vec a", r"\vec{F} = m\vec{a}"),
    ("dot x = v", r"\dot{x} = v"), ("dv/dt = g", r"\frac{dv}{dt} = g"), ("y = (a+b)/(c+d) e", r"y = \frac{a+b}{c+d} e"),
    ("x = root(3)(y)", r"x = \sqrt[3]{y}"), ("Delta x <= lambda * 2", r"\Delta x \le \lambda \cdot 2"),
    ("x = 10^(-3) y", "x = 10^{-3} y"), ("v_{max}^{2} = {a+b}/c", r"v_{max}^2 = \frac{a+b}{c}"),
]  # fmt: skip


@pytest.mark.parametrize(("omml", "latex"), OMML, ids=range(len(OMML)))
def test_omml(omml: str, latex: str) -> None:
    document = read_word_document(word_document(f"<w:p><m:oMathPara><m:oMath>{omml}</m:oMath></m:oMathPara></w:p>"))
    read = [write(prism.parse(item.latex)) for item in extract(document.solution)]
    assert read == formulas(latex)
    assert [item.kind for item in extract(document.solution)] == [item.kind for item in extract(f"$${latex}$$")]


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        ([("a", "<w:strike/>"), ("b", "<w:strike/>"), ("c", "")], "~~ab~~c"), ([("a", '<w:strike w:val="0"/>')], "a"),
        ([("v", ""), *[(each, '<w:vertAlign w:val="subscript"/>') for each in ("ma", "x")], ("2", "")], "v_{max}2"),
        ([("t", ""), ("2", '<w:vertAlign w:val="superscript"/>')], "t^{2}"), ([("a", "<w:vanish/>"), ("b", "")], "b"),
    ],
)  # fmt: skip
def test_runs_of_word(runs: list[tuple[str, str]], text: str) -> None:
    body = "".join(f"<w:r><w:rPr>{properties}</w:rPr><w:t>{each}</w:t></w:r>" for each, properties in runs)
    assert read_word_document(word_document(f"<w:p>{body}</w:p>")).solution == f"{text}\n\n"


def test_numbers_of_lists_of_word_are_written() -> None:
    numbering = (
        '<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:abstractNum '
        'w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText '
        'w:val="(%1)"/></w:lvl></w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
    )
    listed = (
        '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="7"/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>'
    )
    document = read_word_document(word_document(listed * 2, **{"word/numbering.xml": numbering}))
    assert document.solution == "(a) x\n\n(b) x\n\n"


@pytest.mark.parametrize(("mathml", "latex"), MATHML, ids=range(len(MATHML)))
def test_mathml(mathml: str, latex: str) -> None:
    math = next(read_html(f"<math><mrow>{mathml}</mrow></math>").elements("math"))
    assert formulas(mathml_latex(math)) == formulas(latex)


@pytest.mark.parametrize(("typst", "latex"), TYPST)
def test_typst(typst: str, latex: str) -> None:
    assert formulas(typst_latex(typst)) == formulas(latex)


@pytest.mark.parametrize(("asciimath", "latex"), ASCIIMATH)
def test_asciimath(asciimath: str, latex: str) -> None:
    assert formulas(asciimath_latex(asciimath)) == formulas(latex)


@pytest.mark.parametrize(
    ("typst", "latex"),
    [
        ("#table(columns: 2, [a $v = g t$], [b])", ["v = g t"]), ("#align(center, $ v = g t $)", ["v = g t"]),
        ("see https://a.b/c // hidden $x = 1$", []), ("#let v = $g t$\n#set text(size: 3pt)\n$v = t$", ["v = t"]),
        ("/* $x = 1$ */ `$y = 2$` $z = 3$ <eq:z>", ["z = 3"]),
        ("#figure(image(\"a.png\"), caption: [$v = g t$])", ["v = g t"]),

        ("#if true [$x = 1$]", []), ("#strike[$x = 1$] $y = 2$", ["y = 2"]), ("cost \\$5 and $y = 2$", ["y = 2"]),
        ("$#box(stroke: black, [$ x = 1 $])$", ["x = 1"]),
        ("= Of $sqrt(x) = 1$ <a.b-c>\n$y = 2$", [r"\sqrt{x} = 1", "y = 2"]),
    ],
)  # fmt: skip
def test_what_is_seen_of_typst(typst: str, latex: list[str]) -> None:
    document = read_typst_text(typst.encode())
    assert [write(prism.parse(item.latex)) for item in extract(document.solution)] == latex
    assert bool(document.not_read) == ("#if" in typst or "image" in typst)


def test_code_in_a_formula_of_typst_is_no_symbol() -> None:
    with pytest.raises(prism.LatexSyntaxError):
        prism.parse(typst_latex("v = #a + 1"))
    assert formulas(typst_latex("v = 2 #h(1em) t")) == formulas("v = 2 t")


@pytest.mark.parametrize("name", ["vmax", "my.own", "eq.unknown", "foo(x)", "dv(x, t, 2)", "qty(x)"])
def test_an_unknown_name_of_typst_is_no_other_formula(name: str) -> None:
    with pytest.raises(prism.LatexSyntaxError):
        prism.parse(typst_latex(f"v = {name}"))


@pytest.mark.parametrize(
    ("name", "text", "latex"),
    [
        ("a.adoc", "[stem]\n++++\nx^2 = 1/2\n++++\n", [r"x^{2} = \frac{1}{2}"]),
        ("a.adoc", ":stem: latexmath\n\nstem:[x_1 = 2] stem::[y = 3]", ["x_1 = 2", "y = 3"]),
        ("a.adoc", "[source,c]\n.Title\n----\nv = 2;\n----\n// $x = 1$\n////\n$y = 2$\n////\n----\nz = 3\n----",
         ["z = 3"]),
        ("a.typ", "```python\nv = 2\n``` ```\nz = 3\n```", ["z = 3"]),
        ("a.org", "# $x = 1$\n#+begin_src c\nv = 2;\n#+end_src\n+$y = 2$+ $z = 3$\n#+begin_quote\n$u = 4$\n#+end_quote",
         ["z = 3", "u = 4"]),
        ("a.rst", ".. math::\n   :label: a\n\n   x = 1\n\n   y = 2\n\n.. code:: c\n\n   v = 2;\n\n:math:`z =\n3`",
         ["x = 1", "y = 2", "z = 3"]),
        ("a.rst", (".. role:: m(math)\n\n`u` and :m:`x = 1`, `y = 2`:math: or ``z`` and `link`_\n\n"
         ".. default-role:: math\n\n`v = 3`, `Fourier`_, ``v``\n\n.. default-role::\n\n`w`"),
         ["x = 1", "y = 2", "v = 3"]),
        ("a.wiki", "''v''<ref>$x = 1$</ref> <nowiki>$y = 2$</nowiki>\n:<math>z < 3</math>\n{{math|''u'' {{=}} 4}}",
         ["y = 2", "z < 3", "u = 4"]),
        ("a.org", "=$x = 1$=, ~$y = 2$~ and $z = 3$; a=b= $c=4$", ["z = 3", "c = 4"]),
        ("a.mml", "<math><mi>v</mi><mo>=</mo><mn>2</mn></math>", ["v = 2"]),
    ],
)  # fmt: skip
def test_what_is_seen_of_other_markups(name: str, text: str, latex: list[str]) -> None:
    kind = kind_of(PurePath(name))
    assert kind is not None
    document = read_raw(text.encode(), kind)
    assert [write(prism.parse(item.latex)) for item in extract(document.solution)] == latex


def test_headings_and_pictures_of_a_wiki() -> None:
    kind = kind_of(PurePath("a.wiki"))
    assert kind is not None
    document = read_raw(b"== Fall ==\n[[File:a.png|for [[law|n=3]], [http://b.c n=2]]]\n# one\n", kind)
    assert document.solution == "## Fall\n- one\n"
    assert document.not_read == ("1 picture",)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a &lt; b &amp; c", "a < b & c"), ("<p>a<p>b", "a\n\nb\n\n"), ("<script>v = 2</script>x<style>y</style>", "x"),
        ("<p hidden>no</p><p style='display: none'>no</p>yes", "yes"), ("<!-- no --><![CDATA[yes]]>", "yes"),
        ("v<sub>f</sub> = √(2gh)", "v_f = √(2gh)"), ("t<sup>2</sup> v<sub>max</sub>", "t^2 v_{max}"),
        ("<del>$v = 2gt$</del> $v = gt$", "~~$v = 2gt$~~ $v = gt$"), ("<h2>Answer</h2>", "## Answer\n\n"),
        ("<ol type=a start=2><li>x<li>y</ol>", "(b) x\n(c) y\n\n"), ("<i>v</i> = <b>g</b>t", "v = gt"),
        ("<div class='math notranslate'>\\[v = gt\\]</div>", "\\[v = gt\\]\n\n"),
        ("<div class=math>v = gt</div>", "$$\nv = gt\n$$\n\n"),
        ("<pre><code class=language-python>v = 2*g*t</code></pre><pre>v = gt</pre>", "```\nv = gt\n```\n\n"),
        ("<div class=highlight><pre>v = 2*g*t</pre></div>v", "v"),
        ("<img src=//latex.codecogs.com/gif.latex?v%3Dgt>", "$v=gt$"),
        ("<img alt='\\frac{a}{b}' class=latex>", r"$\frac{a}{b}$"), ("<img alt='$$v = gt$$'>", "$v = gt$"),
        ("<img src=https://s0.wp.com/latex.php?latex=v+%3D+gt&amp;bg=ffffff>", "$v = gt$"),
    ],
)  # fmt: skip
def test_what_is_seen_of_a_page(page: str, text: str) -> None:
    document = document_of(read_html(page))
    assert (document.solution, document.not_read) == (text, ())


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("<img src=a.png><img src=b.png alt='a house'>", "2 pictures"), ("<svg></svg>", "1 picture"),
        ("<math><apply><eq/><ci>v</ci></apply></math>", "1 formula in content MathML"),
        ("<span class=katex-html>v=gt</span>", "1 formula that a script has drawn, without its source"),
    ],
)  # fmt: skip
def test_what_is_not_read_of_a_page_is_told(page: str, told: str) -> None:
    document = document_of(read_html(page))
    assert (str(document.solution).strip(), document.not_read) == ("", (told,))
