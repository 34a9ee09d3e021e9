"""What the problem gives: one spelling for names, all faults at once, a digest of the content."""

from __future__ import annotations

import pickle

import pytest

import prism
from prism.errors import DataFileError, PrismError
from prism.latex import parse
from prism.physics.context import SYMBOL_KINDS, Context, Declaration, kind_of, may_be_constant


def faults_of(data: dict[str, object]) -> tuple[str, ...]:
    with pytest.raises(DataFileError) as caught:
        Context.from_dict(data)
    return caught.value.faults


def test_an_empty_context_is_valid() -> None:
    assert Context.from_dict({}) == Context()
    assert Context().declared == frozenset()
    assert kind_of(Context(), "x") == "positive"
    assert may_be_constant(Context(), "k")


@pytest.mark.parametrize("plain", [{"symbols": {"x": "real"}}, {"givens": {"m": 2}}, {"definitions": ("a = b",)}])
def test_plain_values_are_sent_to_the_function_that_takes_them(plain: dict[str, object]) -> None:
    with pytest.raises(PrismError, match=r"^Context: .*Context\.from_dict\(\{"):
        Context(**plain)  # type: ignore[arg-type]


def test_a_context_may_be_given_as_a_mapping() -> None:
    assert prism.equivalent("x^2 = 4", r"x = \pm 2", context={"symbols": {"x": "real"}}).status == "equivalent"
    assert str(prism.parse(r"\dot m = 3", context={"symbols": {r"\dot{m}": "real"}})) == r"\dot{m} = 3"
    with pytest.raises(DataFileError, match=r"symbols, x: unknown kind \"reall\""):
        prism.equivalent("x = 1", "x = 1", context={"symbols": {"x": "reall"}})
    with pytest.raises(DataFileError, match=r"expected a table, as in Context\.from_dict"):
        prism.equivalent("x = 1", "x = 1", context="x real")  # type: ignore[arg-type]


def test_names_have_the_spelling_of_the_parser() -> None:
    context = Context.from_dict({"symbols": {r"\bar {c}": "real", "{v}": "real"}, "givens": {r" m_{1} ": "2.00 kg"}})
    names = {parse(latex).members[0].name for latex in (r"\bar c", "v", "m_1")}
    assert context.symbols.keys() | context.givens.keys() == names == context.declared


def test_symbols_are_kinds_or_tables() -> None:
    context = Context.from_dict({
        "symbols": {
            "a": "real",
            "b": {"kind": "integer", "domain": [1, 4]},
            "c": {"domain": [-1, 1.5], "sign": "free"},
            "d": {"domain": [0, 1]},
        }
    })  # fmt: skip
    assert context.symbols == {
        "a": Declaration("real"),
        "b": Declaration("integer", (1.0, 4.0)),
        "c": Declaration("real", (-1.0, 1.5), is_sign_free=True),
        "d": Declaration("positive", (0.0, 1.0)),
    }
    assert context.kinds == {"a": "real", "b": "integer", "c": "real", "d": "positive"}


@pytest.mark.parametrize("kind", SYMBOL_KINDS)
def test_every_kind_is_read(kind: str) -> None:
    assert kind_of(Context.from_dict({"symbols": {"x": kind}}), "x") == kind


def test_definitions_are_equations_and_declare_their_symbols() -> None:
    context = Context.from_dict({"definitions": ["a = b c"]})
    assert [definition.kind for definition in context.definitions] == ["equation"]
    assert context.declared == {"a", "b", "c"}


def test_only_strangers_and_declared_constants_may_be_constants() -> None:
    context = Context.from_dict({"symbols": {"k": "real", "G": "constant"}, "givens": {"c": "3 m"}})
    assert [name for name in ("k", "G", "c", "h") if may_be_constant(context, name)] == ["G", "h"]


def test_a_number_is_a_given_without_unit() -> None:
    assert Context.from_dict({"givens": {"n": 1.5}}).givens == {"n": "1.5"}


def test_digest_follows_the_content_and_not_its_order() -> None:
    one = Context.from_dict({"symbols": {"x": "real", "y": "angle"}, "definitions": ["a = b + c"]})
    two = Context.from_dict({"definitions": ["a = b + c"], "symbols": {"y": "angle", "x": "real"}})
    assert one == two
    assert one.digest == two.digest
    others = [
        Context(),
        Context(declared=frozenset({"x"})),
        Context.from_dict({"symbols": {"x": "real"}}),
        Context.from_dict({"symbols": {"x": {"kind": "real", "domain": [-1, 1]}}}),
        Context.from_dict({"symbols": {"x": {"kind": "real", "sign": "free"}}}),
        Context.from_dict({"givens": {"x": "1 m"}}),
        Context.from_dict({"givens": {"x": "2 m"}}),
        Context.from_dict({"definitions": ["x = a"]}),
    ]
    assert len({context.digest for context in (one, *others)}) == 1 + len(others)


def test_a_context_is_hashable_and_survives_a_pickle() -> None:
    context = Context.from_dict({"symbols": {"x": "real"}, "givens": {"m": "2 kg"}, "definitions": ["a = b"]})
    again = pickle.loads(pickle.dumps(context))
    assert again == context
    assert hash(again) == hash(context)
    assert again.digest == context.digest


FAULTY: list[tuple[dict[str, object], str]] = [
    ({"symbol": {}}, "symbol: unknown key; keys are symbols, givens, definitions"),
    ({"symbols": ["x"]}, 'symbols: ["x"] is no table of names'),
    ({"symbols": {"x": "reel"}}, 'symbols, x: unknown kind "reel"; kinds are positive, real,'),
    ({"symbols": {"x": 3}}, "symbols, x: 3 is no kind; kinds are"),
    ({"symbols": {"x": {"kind": ["real"]}}}, 'symbols, x: unknown kind ["real"]'),
    ({"symbols": {"x": {"knd": "real"}}}, "symbols, x, knd: unknown key; keys are kind, domain, sign"),
    ({"symbols": {"x": {"domain": [2, 1]}}}, "symbols, x, domain: [2, 1] is no pair of finite numbers"),
    ({"symbols": {"x": {"domain": [0, float("inf")]}}}, "symbols, x, domain: [0, Infinity] is no pair"),
    ({"symbols": {"x": {"domain": [True, 2]}}}, "symbols, x, domain: [true, 2] is no pair"),
    ({"symbols": {"x": {"domain": 3}}}, "symbols, x, domain: 3 is no pair"),
    ({"symbols": {"x": {"kind": "positive", "domain": [-1, 1]}}}, "[-1, 1] does not fit the kind positive"),
    ({"symbols": {"x": {"kind": "negative", "domain": [-1, 1]}}}, "[-1, 1] does not fit the kind negative"),
    ({"symbols": {"x": {"kind": "vector", "domain": [1, 2]}}}, "[1, 2] does not fit the kind vector"),
    ({"symbols": {"x": {"sign": "both"}}}, 'symbols, x, sign: "both" is unknown; the only value is free'),
    ({"symbols": {r"\frac{x": "real"}}, r"symbols, \frac{x: `\frac{x` does not parse: "),
    ({"symbols": {"x = y": "real"}}, "symbols, x = y: is no single symbol"),
    ({"symbols": {"x + y": "real"}}, "symbols, x + y: is no single symbol"),
    ({"symbols": {"v_0": "real", "v_{0}": "angle"}}, "symbols, v_{0}: the same symbol as v_0; keep one"),
    ({"givens": {"m": "heavy"}}, "givens, m: 'heavy' does not start with a number"),
    ({"givens": {"m": ["2 kg"]}}, 'givens, m: ["2 kg"] is no value; write it as text'),
    ({"givens": {"m": True}}, "givens, m: true is no value"),
    ({"definitions": "a = b"}, 'definitions: "a = b" is no list of equations'),
    ({"definitions": ["a = b", "a + b"]}, "definitions, entry 2: `a + b` is no equation"),
    ({"definitions": ["a < b"]}, "definitions, entry 1: `a < b` is no equation"),
    ({"definitions": [r"a = \frac{b"]}, r"definitions, entry 1: `a = \frac{b` does not parse: "),
    ({"definitions": [3]}, "definitions, entry 1: 3 is no LaTeX text"),
]


@pytest.mark.parametrize(("data", "fault"), FAULTY, ids=[fault[:40] for _, fault in FAULTY])
def test_each_fault_names_its_entry(data: dict[str, object], fault: str) -> None:
    (told,) = faults_of(data)
    assert fault in told


def test_all_faults_come_at_once() -> None:
    faults = faults_of({
        "symbols": {"x": "reel", "y": {"domain": [2, 1]}},
        "givens": {"m": "heavy"},
        "definitions": ["a + b", 7],
    })  # fmt: skip
    assert [fault.split(":")[0] for fault in faults] == [
        "symbols, x",
        "symbols, y, domain",
        "givens, m",
        "definitions, entry 1",
        "definitions, entry 2",
    ]
