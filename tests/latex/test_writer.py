r"""`write`: one text for one tree, and `parse` gives the tree back.

What the canonical form looks like stands in `CANONICAL`, a row a decision; that nothing is lost is tested over every
formula of `tests/cases`, over generated trees, and over real formulas where these are at hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prism
from prism.algebra.expr import Expr, Formula, formula, number, symbol, walk
from prism.algebra.operators import OPS
from prism.errors import LatexSyntaxError
from prism.latex import extract, parse, write
from tests.support.external_data import DATA
from tests.support.strategies import equations, expressions
from tests.test_cases import EquivalenceRow, ParseRow, cases

FILES = {"formulas.jsonl": "latex", "worked.jsonl": "solution", "rollouts.jsonl": "response"}
ONE_IN = 4  # of the texts of others that are read
REAL_SHARE = Fraction(995, 1000)  # of real formulas that come back as the same tree

# what people write, and the one text for it
CANONICAL = (
    # the rules of the dataset
    (r"$$\left(\frac{a}{b}\right)^2 = c\,.$$", r"(\frac{a}{b})^{2} = c"),
    (r"v = 3\,\mathrm{km/h}", r"v = 3 \unit{km/h}"),
    (r"a = 9.81~\text{m}\,\text{s}^{-2}", r"a = 9.81 \unit{m \cdot s^{-2}}"),
    (r"c_p = 4186\,\mathrm{J/(kg\cdot K)}", r"c_p = 4186 \unit{J/(kg \cdot K)}"),
    (r"\theta = 30^\circ", r"\theta = 30 \unit{deg}"),
    (r"\dfrac{\mathrm{d}y}{\mathrm{d}x}", r"\frac{dy}{dx}"),
    (r"d^2 y/dx^2", r"\frac{d^{2}y}{dx^{2}}"),
    (r"\partial_x f", r"\frac{\partial f}{\partial x}"),
    (r"\frac{\partial^2 f}{\partial x\,\partial y}", r"\frac{\partial^{2}f}{\partial x \partial y}"),
    (r"\frac{d}{dr}(A r e^{-b r})", r"\frac{d}{dr}(A r e^{-b r})"),
    (r"\int\limits_0^t v \mathrm{d}t", r"\int_{0}^{t} v dt"),
    (r"\int_0^L dx \, x^2", r"\int_{0}^{L} x^{2} dx"),
    (r"\iint_S f\,dx\,dy", r"\int_{S} \int f dx dy"),
    (r"\oint \mathbf{E}\cdot d\mathbf{l}", r"\oint \vec{E} \cdot d\vec{l}"),
    (r"\sum_{i=1}^n x_i", r"\sum_{i=1}^{n} x_i"),
    (r"\lim_{x\to 0} \frac{\sin x}{x}", r"\lim_{x \to 0} \frac{\sin(x)}{x}"),
    (r"x = 0.5 \times 10^3", r"x = 0.5 \times 10^{3}"),
    # quotients, powers and arguments
    ("1/2 m v^2", r"\frac{1}{2} m v^{2}"),
    (r"\sqrt[3]{x}/\sqrt 2", r"\frac{\sqrt[3]{x}}{\sqrt{2}}"),
    (r"\sin 2x \cos x", r"\sin(2 x) \cos(x)"),
    (r"\sin^2\theta", r"\sin^{2}(\theta)"),
    (r"\arcsin x + \sin^{-1} y", r"\arcsin(x) + \arcsin(y)"),
    (r"\exp(-E/kT)", r"e^{-\frac{E}{k T}}"),
    (r"\exp(2)", r"\exp(2)"),
    (r"\log_{10} 2", r"\log_{10}(2)"),
    (r"\tanh x", r"\tanh(x)"),
    # signs and brackets where the text would be read otherwise
    ("m(g + a)", r"m \cdot (g + a)"),
    ("2(g + a)", "2 (g + a)"),
    (r"2 \times 3", r"2 \cdot 3"),
    (r"2 \times (10^3)", "2 (10^{3})"),
    ("a(bc)", r"a \cdot (b c)"),
    ("(a - b) - c", "(a - b) - c"),
    ("a - (-b)", "a - (-b)"),
    (r"-b \pm \sqrt{D}", r"-b \pm \sqrt{D}"),
    (r"\mathrm{Re} = \frac{\rho v L}{\eta}", r"\mathrm{{Re}} = \frac{\rho v L}{\eta}"),
    (r"F = 6\pi \times \mathrm{Nu}", r"F = 6 \pi \times \mathrm{Nu}"),
    (r"d\,x = d + 1", r"d \cdot x = d + 1"),
    (r"\mathrm{d}m = \rho", r"\mathrm{d}m = \rho"),
    (r"dU = T dS - p dV", r"dU = T dS - p dV"),
    (r"\vec a\cdot(\vec b + \vec c)", r"\vec{a} \cdot (\vec{b} + \vec{c})"),
    (r"\vec a\times\vec b", r"\vec{a} \times \vec{b}"),
    (r"\nabla\cdot\vec E + \nabla^2 \phi", r"\nabla \cdot \vec{E} + \nabla^{2} \phi"),
    (r"|x|", r"\lvert x \rvert"),
    # names
    (r"E_{\text{kin}}'", r"E'_{kin}"),
    (r"\psi^\ast_+", r"\psi_{+}^{*}"),
    (r"H^{\text{above}}", r"H^{\mathrm{above}}"),
    (r"\Delta \bar x_0", r"\Delta \bar{x}_0"),
    (r"x''", "x''"),
    (r"\ddot{x}", r"\frac{d^{2}x}{dt^{2}}"),
    # other constructs
    (r"x \in [0, L)", r"x \in [0, L)"),
    (r"\bra{a} \hat H \ket{b}", None),
    (r"\langle a | H | b \rangle", r"\langle a | H | b \rangle"),
    (r"\left[ F \right]_0^1", r"[F]_{0}^{1}"),
    (r"\left. f \right|_{x=0}", r"f|_{x=0}"),
    (r"n! {n \choose k}", r"n! \binom{n}{k}"),
    (r"R_1 \| R_2", r"R_1 \parallel R_2"),
    (r"A \otimes B \wedge C", r"(A \otimes B) \wedge C"),
    (r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}", r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}"),
    (r"\overline{a + b}", r"\bar{a + b}"),
    (r"(a + b)^\dagger", r"(a + b)^{\dagger}"),
    # several formulas
    (r"n = 1, 2, \ldots", r"n = 1, 2, \ldots"),
    (r"a = b, \quad c = d", "a = b, c = d"),
    (r"x = 1 \text{ or } x = 2", r"x = 1 \lor x = 2"),
    (r"a = b \implies c = d", r"a = b \Rightarrow c = d"),
    (r"E = 0 \quad \text{for } r < R", r"E = 0 \text{ if } r < R"),
    (r"a = b \text{ and } c", r"a = b \text{ and } c"),
    (r"\ge 2", r"\ge 2"),
)


def same(a: Formula, b: Formula) -> bool:
    """Equal but for the text they were read from."""
    return (a.kind, a.members, a.relations, len(a.parts)) == (b.kind, b.members, b.relations, len(b.parts)) and all(
        map(same, a.parts, b.parts)
    )


def returns(whole: Formula) -> bool:
    """Whether the written text is read as the same formula, and written the same again."""
    text = write(whole)
    try:
        again = parse(text)
    except LatexSyntaxError:
        return False
    return same(whole, again) and write(again) == text


@pytest.mark.parametrize(("latex", "canonical"), CANONICAL, ids=[latex for latex, _ in CANONICAL])
def test_canonical_form(latex: str, canonical: str | None) -> None:
    whole = parse(latex)
    assert canonical is None or write(whole) == canonical
    assert returns(whole), (write(whole), str(parse(write(whole))))


def test_public() -> None:
    assert prism.write is write
    assert write(symbol("v_0")) == "v_0"


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.latex])
def test_every_operator_can_be_written(name: str) -> None:
    """An operator without a writer would fail on the first formula that holds it."""
    assert write(Expr("add", (EXAMPLES.get(name) or example(name), symbol("q"))))


EXAMPLES = {
    "unit": Expr("unit", name="m"),
    "nabla": Expr("nabla", (symbol("f"),), name="grad"),
    "bracket": Expr("bracket", (symbol("f"),), name="mean"),
    "relation": Expr("relation", (symbol("a"), symbol("b")), name="<"),
    "at": Expr("at", (symbol("f"), symbol("x"), number(0)), name="point"),
    "ipow": Expr("ipow", (symbol("x"),), name="2"),
    "limit": Expr("limit", (symbol("f"), symbol("x"), number(0))),
    "num": number(2),
    "apply": Expr("apply", (number(0),), name="f"),
    "derivative": Expr("derivative", (symbol("y"), symbol("x")), name="1"),
}


def example(name: str) -> Expr:
    op = OPS[name]
    count = 2 if op.arity < 0 else op.arity
    return Expr(name, tuple(symbol(letter) for letter in "ab"[:count]), name="" if op.arity else "x")


def formulas_of_cases() -> Iterator[Any]:
    seen: dict[str, str] = {}
    for name, row in cases("parse", ParseRow):
        if row.error is None:
            seen.setdefault(row.latex, name)
    for name, pair in cases("equivalence", EquivalenceRow):
        for latex in (pair.a, pair.b, *pair.near_misses):
            seen.setdefault(latex, name)
    yield from seen.items()


@pytest.mark.slow
def test_every_formula_of_the_cases_comes_back() -> None:
    lost = []
    for latex, name in formulas_of_cases():
        try:
            whole = parse(latex)
        except LatexSyntaxError:
            continue
        if not returns(whole):
            lost.append((name, latex, write(whole)))
    assert not lost


# --- generated trees ----------------------------------------------------------------------------------------


def as_read(node: Expr) -> Expr:
    """The tree that the reader makes of what a generated one says: -3 and 1/2 are no leaves, a + (-b) is a - b."""
    if node.op == "num" and node.name == str(node.value):
        assert node.value is not None
        above, below = node.value.numerator, node.value.denominator
        read = number(abs(above)) if below == 1 else Expr("div", (number(abs(above)), number(below)))
        return Expr("neg", (read,)) if above < 0 else read
    args = tuple(map(as_read, node.args))
    if node.op == "add" and len(args) == 2 and args[1].op == "neg":
        return Expr("sub", (args[0], args[1].args[0]))
    return Expr(node.op, args, node.name, node.value)


def assert_comes_back(node: Expr) -> None:
    whole = parse(f"y = {write(node)}")
    assert whole.members == (symbol("y"), as_read(node)), write(node)
    assert write(whole.members[1]) == write(as_read(node))


@given(expressions)
def test_generated_expressions_come_back(node: Expr) -> None:
    assert_comes_back(node)


@given(equations)
def test_generated_equations_come_back(whole: Formula) -> None:
    again = parse(write(whole))
    assert again.members == tuple(map(as_read, whole.members))
    assert again.kind == whole.kind


# names that have a second reading in the wrong place: a differential, a prefix, a unit, a function, a label
NAMES = ("x", "v_0", "E_{kin}", "x'", "e", "i", "t", "m", "f", r"\theta", r"\mu", r"\Omega", r"\Delta x", r"\delta Q",
         "KE", "Nu", "sin", "dm", "Q^{plane}", r"\psi^{*}", r"\hat{n}", r"\vec{r}", r"\vec{F}_1", r"\mathcal{E}",
         r"E_\mu", "a_-", "d_1", "C", "K")  # fmt: skip
POINTS = ("t", "x", r"\theta", "y")
UNITS = ("m", "kg", "s", "deg", "%", "ohm")


def node(op: str, *args: Expr, name: str = "") -> Expr:
    return Expr(op, args, name)


read_symbol_scripts = st.sampled_from(NAMES).map(symbol)
vectors = st.sampled_from((r"\vec{r}", r"\vec{F}_1", r"\vec{v}")).map(symbol)
variables = st.sampled_from(POINTS).map(symbol)
whole_numbers = st.integers(1, 30).map(number)
numbers = st.one_of(
    whole_numbers,
    st.sampled_from(("2.50e-3", "0.5", "1000")).map(lambda text: Expr("num", (), text, Fraction(text))),
)
units = st.sampled_from(UNITS).map(lambda name: Expr("unit", name=name))
unit_powers = st.one_of(
    units,
    units.map(lambda unit: node("pow", unit, node("neg", number(1)))),
    units.map(lambda unit: node("div", unit, node("pow", Expr("unit", name="s"), number(2)))),
)
leaf = st.one_of(
    read_symbol_scripts,
    read_symbol_scripts,
    read_symbol_scripts,
    numbers,
    st.sampled_from((Expr("const", name="pi"), Expr("infinity"), Expr("dots"), symbol("d"))),
)


def build_tables(ops: str, *parts: st.SearchStrategy[Expr], names: tuple[str, ...] = ("",)) -> st.SearchStrategy[Expr]:
    """A node of one of these operators, with these operands."""
    op, name = st.sampled_from(ops.split()), st.sampled_from(names)
    return st.builds(lambda op, name, *args: Expr(op, args, name), op, name, *parts)


def physics(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    """What physics builds of smaller expressions; each construct in the shape that the reader gives it."""
    some = st.lists(inner, min_size=2, max_size=4).map(tuple)
    body = st.one_of(read_symbol_scripts, inner)
    zero, one, last = (st.just(leaf) for leaf in (number(0), number(1), symbol("N")))
    return st.one_of(
        some.map(lambda args: Expr("mul", args)),
        some.map(lambda args: Expr("mul", args)),
        some.map(lambda args: Expr("add", args)),
        some.map(lambda args: Expr("add", (*args[:-1], node("neg", args[-1])))),
        st.builds(lambda n, us: Expr("mul", (n, *us)), numbers, st.lists(unit_powers, min_size=1, max_size=3)),
        build_tables("sub div", inner, inner),
        build_tables("pow", inner, st.one_of(whole_numbers, inner)),
        build_tables("neg sqrt abs factorial sin tan acos atanh exp ln log10 floor", inner),
        build_tables("pm", inner, inner, names=("±", "∓")),
        build_tables("differential", body),
        build_tables("derivative partial", body, variables, names=("1", "2", "n")),
        build_tables("derivative", st.sampled_from(("x", "v_0")).map(symbol), st.just(symbol("?")), names=("2",)),
        build_tables("integral", inner, variables),
        build_tables("integral", inner, variables, numbers, read_symbol_scripts),
        build_tables("contour", vectors, vectors, names=("dot", "cross")),
        build_tables("sum product", inner, st.just(symbol("i")), one, last),
        build_tables("limit", inner, variables, zero),
        build_tables("nabla", inner, names=("grad", "div", "curl", "laplace")),
        build_tables("at", inner, variables, zero, names=("point",)),
        build_tables("dot cross", vectors, vectors),
        build_tables("apply", inner, inner, names=("max",)),
    )


@given(st.recursive(leaf, physics, max_leaves=8))
def test_generated_physics_comes_back(tree: Expr) -> None:
    assert_comes_back(tree)


@given(
    st.lists(equations, min_size=2, max_size=3),
    st.sampled_from(("system", "alternatives", "implication", "conditional")),
)
def test_several_formulas_come_back(parts: list[Formula], kind: str) -> None:
    read = tuple(formula(tuple(map(as_read, part.members)), part.relations) for part in parts)
    whole = Formula(kind, (), (), parts=read)
    assert same(parse(write(whole)), whole)


# --- real formulas ------------------------------------------------------------------------------------------


def real_formulas() -> Iterator[str]:
    for file, key in FILES.items():
        for line in (DATA / file).read_text(encoding="utf-8").splitlines()[::ONE_IN]:
            text = json.loads(line)[key]
            if file == "formulas.jsonl":
                yield text
            else:
                yield from (found.latex for found in extract(text))


@pytest.mark.skipif(not (DATA / "formulas.jsonl").is_file(), reason=f"no formulas of others in {DATA}")
def test_real_formulas_come_back() -> None:
    read = lost = 0
    for latex in dict.fromkeys(real_formulas()):
        try:
            whole = parse(latex)
        except LatexSyntaxError:
            continue
        read += 1
        lost += not returns(whole)
    assert Fraction(read - lost, read) >= REAL_SHARE, f"{lost} of {read}"


def test_written_trees_share_no_text() -> None:
    """Two trees of the rows above never print alike: else one of them would be read as the other."""
    texts: dict[str, Formula] = {}
    for latex, _ in CANONICAL:
        whole = parse(latex)
        assert same(texts.setdefault(write(whole), whole), whole)
    assert all(node.op in OPS for whole in texts.values() for member in whole.members for node in walk(member))
