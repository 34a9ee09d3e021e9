"""Names of symbols taken apart, and how many places still take them apart by themselves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import prism
from prism.algebra.expr import walk
from prism.algebra.symbols import Symbol, spelled, symbol_of

FOLDERS = ("algebra", "engine", "equivalence")
PATTERNS, PREFIX_TESTS = 0, 40
"""What is left of patterns and of tests of prefixes and suffixes in these folders; both may only shrink."""
_PATTERN = re.compile(r"\bre\.(?:compile|search|match|fullmatch|sub|findall|split)\(")
_PREFIX_TEST = re.compile(r"\.(?:startswith|endswith|partition|rpartition|removeprefix|removesuffix|strip|[lr]strip)\(")


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


def test_fewer_and_fewer_places_take_names_apart_by_themselves() -> None:
    root = Path(prism.__file__).parent
    text = "\n".join(
        path.read_text("utf-8") for folder in FOLDERS for path in sorted((root / folder).rglob("*.py"))
        if path.name != "symbols.py"
    )  # fmt: skip
    assert (len(_PATTERN.findall(text)), len(_PREFIX_TEST.findall(text))) == (PATTERNS, PREFIX_TESTS)
