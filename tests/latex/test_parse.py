"""`parse`: what rows of cases cannot say. The readings themselves are rows in `tests/cases/parse/`."""

from __future__ import annotations

import inspect
import json
import pickle
import random
import re
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism import budget
from prism.algebra.expr import Expr, Formula, canonical, walk
from prism.errors import LatexSyntaxError
from prism.latex import parse
from tests.support.external_data import DATA

SEEDS = (
    r"E = \frac12 m v^2", r"\int_0^\tau \frac{P dt}{M + m - \frac{m}{\tau}t} - g\tau", r"\sin^2\omega t / 2!",
    r"12.47 \mathrm{~J} \mathrm{~K}^{-1}", r"\left[ \frac{\partial f}{\partial x} \right]_a^b",
    r"|\vec r_1 - \vec r_2|^{-3} \times \hat{n}", r"\begin{cases} 1 & x<0 \\ 2 & x>0 \end{cases}",
    r"\langle n | H | m \rangle = \SI{3e2}{\metre\per\second}", r"\lim_{x\to0} \frac{\ln(1+x)}{x} \approx 1",
    r"\ddot{\theta} + \frac{g}{L}\sin\theta = 0", r"T = 20^\circ\mathrm{C}",
)  # fmt: skip


def test_value_and_digits_of_a_number() -> None:
    (node,) = [node for node in walk(parse(r"R = 2.02\times10^{5}\unit{m}").members[1]) if node.op == "num"]
    assert (node.name, node.value) == ("2.02e5", Fraction(202000))


@pytest.mark.parametrize(("opening", "closing"), [
    (r"\Delta e^{", "}"), (r"\Delta \hat{a + ", "}"), (r"\Delta \overline{a + ", "}"), (r"\langle 1, ", r"\rangle "),
    (r"\frac{d}{dx}\left(x ", r"\right)"), (r"\begin{pmatrix}", r"\end{pmatrix}"), ("x_{", "}"), (r"x^{*", "}"),
])  # fmt: skip
def test_what_is_nested_is_read_once_on_each_level(opening: str, closing: str) -> None:
    spent = []
    for levels in (6, 12):
        with budget.share(10**9) as account, suppress(LatexSyntaxError):
            parse("V = " + opening * levels + "x" + closing * levels)
        spent.append(account.spent)
    assert 0 < spent[1] < 4 * spent[0]


@pytest.mark.parametrize("latex", [r"\delta" * 570, r"1 \angle " * 250 + "1", "a / " * 500 + "a", r"\sin " * 600])
def test_a_chain_that_nests_deep_is_refused(latex: str) -> None:
    with pytest.raises(LatexSyntaxError) as caught:
        parse(latex)
    assert caught.value.kind == "limit"


def test_a_formula_beyond_its_share_is_refused_and_the_account_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prism.latex.parsing.parser.MAX_OPERATIONS", 5_000)
    with budget.share(10**6) as account:
        with pytest.raises(LatexSyntaxError, match="too large") as caught:
            parse("this = formula + costs - more")
        budget.charge(1)
    assert (caught.value.kind, account.is_exhausted) == ("limit", False)


def test_a_formula_costs_the_same_when_it_is_known() -> None:
    spent = []
    for _ in range(2):
        with budget.share(10**9) as account:
            parse(r"\zeta_{77} = \frac{a}{b} + \sin(c)")
        spent.append(account.spent)
    assert spent[0] == spent[1] > 0


def test_kinds() -> None:
    kinds = {latex: parse(latex).kind for latex in ("a = b", "a < b", "a = b = c", "a", r"a \propto b", "= a")}
    assert list(kinds.values()) == ["equation", "inequality", "chain", "expression", "statement", "expression"]


def test_the_formula_keeps_its_text() -> None:
    assert parse("$a = b$.").latex == "$a = b$."


def test_constants_and_infinity_are_no_symbols() -> None:
    assert parse(r"\pi").members[0] == Expr("const", name="pi")
    assert parse(r"\infty").members[0] == Expr("infinity")


@pytest.mark.parametrize(
    ("latex", "position", "word"),
    [
        (r"a + \foo b", 4, r"\foo"), ("$ x^23 $", 4, "23"), (r"\frac{a}{b", 10, "end of the formula"),
        ("a = b, c, d = e", 7, "a list between two formulas"), ("(a + b", 6, "end of the formula"),
        ("a b + * ", 6, "*"),
    ],
)  # fmt: skip
def test_faults_point_into_the_authors_text(latex: str, position: int, word: str) -> None:
    with pytest.raises(LatexSyntaxError) as caught:
        parse(latex)
    assert caught.value.position == position
    assert word in caught.value.found
    assert caught.value.latex == latex
    assert pickle.loads(pickle.dumps(caught.value)).found == caught.value.found


def test_expected_is_in_a_readers_words() -> None:
    with pytest.raises(LatexSyntaxError) as caught:
        parse("a + ) b")
    assert not [word for word in caught.value.expected if word.isupper()]


@pytest.mark.slow
def test_nothing_but_syntax_errors() -> None:
    """Formulas broken at random are read or refused; nothing else comes out, and positions stay inside."""
    chance = random.Random(20261121)
    pieces = [re.findall(r"\\[a-zA-Z]+|\\.|\s+|\d+|.", seed) for seed in SEEDS]
    pool = [piece for seed in pieces for piece in seed]
    read = 0
    for _ in range(4000):
        words = list(chance.choice(pieces))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(words) + 1)
            if chance.random() < 0.4:
                del words[at : at + 1]
            else:
                words.insert(at, chance.choice(pool))
        latex = "".join(words)
        try:
            str(parse(latex))
            read += 1
        except LatexSyntaxError as fault:
            assert 0 <= fault.position <= len(latex), latex
    assert 400 < read < 3600


PIECES = st.sampled_from(
    r"""a b d e i m x 0 1 2 .5 10^ + - * / = < > | ( ) [ ] { } {} ^ _ ^{ _{ , ; . : ! ' '' & \\ $ $$ % ~ \, \! \quad
    \frac \frac{ \dfrac12 \sqrt \sqrt[ \sqrt{ \left \right \left( \right) \left. \right| \left\{ \bigl| \middle| \{ \}
    \| \begin \end \begin{pmatrix} \end{pmatrix} \begin{cases} \end{cases} \begin{aligned} \end{aligned} &=
    \begin{array}{cc} \end{array} \int \oint \iint dx dt \mathrm{d} \partial \nabla \sum \prod \lim
    \limits \to \infty \sin \cos^{-1} \log_2 \ln \exp \lceil \rceil \lfloor \cup \subset \angle \forall \otimes \lor
    \vec \hat{ \dot \ddot \bar{ \mathbf{ \boldsymbol \mathrm{ \text{ \rm \bf \operatorname{ \over \choose \binom
    \langle \rangle \pm \mp \cdot \times \div \approx \le \propto \Rightarrow \in \not \prime \dagger \circ \degree
    \alpha \pi \hbar \Delta \ell \epsilon \varepsilon \unit{ \SI{ \qty{ \num{ m/s kg \boxed{ \tag{1} \underbrace{
    \overset{ \stackrel{ \substack{ \cancel{ \color{red} \label{ \displaystyle \phantom{ \ldots \foo \x \
    where and""".split()
)
CHARACTERS = st.text(st.characters(), max_size=4)  # lone surrogates too: JSON can hold them
FORMULA_LIKE = st.lists(PIECES | CHARACTERS | st.just(" "), max_size=30).map("".join)
FRAMES = (
    r"\frac{%s}{x}", r"\sqrt{%s}", "(%s)", "|%s|", r"\left[%s\right]", "x^{%s}", "x_{%s}", r"\sin(%s)", r"\vec{%s}",
    r"\int_0^{%s} x dx", r"\text{%s}", r"\mathrm{%s}", "a = %s", r"\langle %s | x \rangle",
    r"\begin{pmatrix} %s & 1 \end{pmatrix}",
)  # fmt: skip
NESTED = st.recursive(
    PIECES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(" ".join),
        st.tuples(st.sampled_from(FRAMES), inner).map(lambda pair: pair[0].replace("%s", pair[1])),
    ),
    max_leaves=12,
)


def outcome(latex: str) -> Formula | tuple[int, str, tuple[str, ...]]:
    """The value, or what the fault says; read without the cache."""
    try:
        return inspect.unwrap(parse)(latex)
    except LatexSyntaxError as fault:
        return fault.position, fault.found, fault.expected


@pytest.mark.slow
@settings(max_examples=400)
@given(FORMULA_LIKE | NESTED)
def test_any_text_is_read_or_refused_with_a_place(latex: str) -> None:
    """Nothing but `LatexSyntaxError`, its place inside the text and its words not empty; twice the same; it prints."""
    value = outcome(latex)
    assert value == outcome(latex)
    if isinstance(value, Formula):
        assert str(value)
        assert all(canonical(member) for member in value.members)
    else:
        position, found, expected = value
        assert 0 <= position <= len(latex)
        assert found
        assert all(expected)


@pytest.mark.parametrize(
    "latex",
    [
        "(" * 1900, r"\sqrt" * 700 + "x", r"\sin" * 900 + " x", "-" * 1999 + "x", "/".join("a" * 900),
        r"\pm a" * 700, "x^{" * 400 + "y" + "}" * 400, r"\vec" * 900 + "x", "|" * 1999, "1" * 3999, "x" + "'" * 1900,
        r"\frac" * 600 + "x", r"\langle " * 400, r"\begin{pmatrix}" * 260, r"\rm " * 900 + "x", r"\int " * 700 + "x",
        "$" * 3999, "." * 3999,
    ],
)  # fmt: skip
def test_attacks_on_depth_and_size_are_refused(latex: str) -> None:
    with pytest.raises(LatexSyntaxError):
        parse(latex)


def test_many_terms_stay_flat() -> None:
    (member,) = parse("-".join("a" * 900)).members
    assert member.op == "add"
    assert len(member.args) == 900


def test_the_grammar_waits_for_the_first_parse() -> None:
    """Whether lark is loaded then depends on the cache: tests/latex/test_lalr.py."""
    code = (
        "import sys, prism, prism.latex, prism.latex.parsing.parser as p; assert 'lark' not in sys.modules;"
        "made = p._grammar_parser.cache_info; assert not made().currsize; p.parse('x'); assert made().currsize"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_real_formulas() -> None:
    """Share of real formulas that are read; below it something has been lost."""
    path = DATA / "formulas.jsonl"
    if not path.exists():
        pytest.skip("PRISM_DATA does not name a folder with the real formulas")
    rows = [json.loads(line)["latex"] for line in path.read_text(encoding="utf-8").splitlines()]
    read = 0
    for latex in rows:
        try:
            parse(latex)
            read += 1
        except LatexSyntaxError:
            continue
    assert read / len(rows) > 0.78
