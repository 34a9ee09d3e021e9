"""Names of symbols taken apart, and how many places still take them apart by themselves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import prism
from prism.algebra.expr import walk
from prism.algebra.symbols import Symbol, spelled, symbol_of

FOLDERS = ("algebra", "engine", "equivalence")
"""Here no module parses a text by a pattern, nor a name by what it begins or ends with."""
NO_NAMES = {
    "algebra/expr.py": 1,  # `_i`, an index among the bound names of a canonical form
    "algebra/noncommutative.py": 2,  # kinds of opaque nodes
    "algebra/terms.py": 4,  # digits of numbers
    "engine/kernels/marking.py": 2,  # names of modules
    "equivalence/facts.py": 1,  # units of hertz
    "equivalence/numbers/stated.py": 1,
    "equivalence/notation/spellings.py": 1,  # kinds of things
    "equivalence/notation/means.py": 1,  # values that are drawn, which it names itself
    "equivalence/interpretation/draws.py": 1,  # `#` before the names that an interpretation makes
    "equivalence/interpretation/evaluation.py": 1,  # kinds of `at` nodes
    "equivalence/interpretation/integrals/folding.py": 1,
    "equivalence/interpretation/series/monomials.py": 1,
    "grading/answers/named_in_words.py": 1,  # words of a text
    "problem/statement.py": 2,  # names of units
    "problem/collection.py": 2,  # files
    "problem/shapes.py": 3,  # fields of a shape
    "problem/vocabulary.py": 1,
}
"""How many tests of prefixes and suffixes a module has of what is no name of a symbol."""
_PATTERN = re.compile(r"\bre\.(?:compile|search|match|fullmatch|sub|findall|split)\(")
_TEST = r"(?:startswith|endswith|partition|rpartition|removeprefix|removesuffix|strip|[lr]strip)\("
_PREFIX_TEST = re.compile(rf"\.{_TEST}")
_OF_A_NAME = re.compile(rf"\b(?:name|symbol|letter)(?:\[[^]]*\])?\.{_TEST}")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("x", {"base": "x"}),
        (r"\hbar", {"base": r"\hbar"}),
        ("k_B", {"base": "k", "sub": "B"}),
        (r"\delta_{ij}", {"base": r"\delta", "sub": "ij"}),
        (r"\vec{E}'_{xy}", {"base": "E", "style": "vec", "primes": 1, "sub": "xy"}),
        (r"\vec{\mathcal{M}}_s", {"base": r"\mathcal{M}", "style": "vec", "sub": "s"}),
        (r"\hat{c}_j^{\dagger}", {"base": "c", "style": "hat", "sub": "j", "sup": r"\dagger"}),
        (r"\Delta \vec{k}", {"base": "k", "style": "vec", "change": r"\Delta "}),
        (r"\Gamma_{\mu\nu}^{\mu}", {"base": r"\Gamma", "sub": r"\mu\nu", "sup": r"\mu"}),
        (r"\hat{x}^{\dagger}(t)", {"base": "x", "style": "hat", "sup": r"\dagger", "call": "(t)"}),
        (r"\partial\Omega", {"base": r"\Omega", "change": r"\partial"}),
        (r"R^{\mu}{}_{\nu\rho}", {"base": "R", "sub": r"\nu\rho", "sup": r"\mu"}),
        (r"n=1,3,5,\ldots", {"base": r"n=1,3,5,\ldots"}),
        ("", {"base": ""}),
    ],
)
def test_a_name_is_taken_apart(name: str, parts: dict[str, object]) -> None:
    assert symbol_of(name) == Symbol(name, **parts)  # type: ignore[arg-type]


def test_only_a_letter_that_is_no_change_of_one_is_a_vector() -> None:
    assert symbol_of(r"\vec{E}'_x").is_vector
    assert symbol_of(r"\hat{x}").is_hat
    assert not symbol_of(r"\Delta \vec{k}").is_vector


def test_a_name_has_parts_without_its_style_and_without_its_superscript() -> None:
    assert symbol_of(r"\vec{F}_{12}^{*}").unstyled == "F_{12}^{*}"
    assert [symbol_of(name).body for name in (r"\psi_1^{*}", r"\hat{x}^{T}(t)", "x")] == [r"\psi_1", r"\hat{x}(t)", "x"]


@pytest.mark.parametrize("latex", [r"\vec E'_{xy} = \hat{c}_j^{\dagger}\,\psi_1^*", r"\Delta T = \bar x_n + \dot z"])
def test_a_name_is_put_together_again(latex: str) -> None:
    names = {node.name for member in prism.parse(latex).members for node in walk(member) if node.op == "sym"}
    assert len(names) > 1
    for name in names:
        read = symbol_of(name)
        assert name == spelled(read.head, read.sub, read.sup)


def _texts(*folders: str) -> dict[str, str]:
    """Return the text of each module of some folders of the package, by its path."""
    root = Path(prism.__file__).parent
    paths = [path for folder in folders for path in sorted((root / folder).rglob("*.py"))]
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in paths if path.name != "symbols.py"}


def test_no_pattern_reads_a_name_or_a_formula() -> None:
    assert not [path for path, text in _texts(*FOLDERS).items() if _PATTERN.search(text)]


def test_names_of_symbols_are_taken_apart_in_one_place() -> None:
    found = {path: len(_PREFIX_TEST.findall(text)) for path, text in _texts(*FOLDERS).items()}
    others = _texts("grading", "physics", "diagnosis", "problem")
    found |= {path: len(_OF_A_NAME.findall(text)) for path, text in others.items()}
    assert {path: count for path, count in found.items() if count} == NO_NAMES
