"""The map from a reason to its rule and module: closed lists, headings of the page, and the code itself."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prism.cli import app
from prism.diagnosis import rule_map
from prism.diagnosis.rule_map import (
    FLAG_ORIGINS,
    LINK_ORIGINS,
    PAGE,
    STAGE_ORIGINS,
    VERDICT_ORIGINS,
    WITHHELD_ORIGINS,
    Origin,
)
from prism.equivalence.chains.links import REASONS as LINK_REASONS
from prism.equivalence.verdict import REASONS, Stage
from prism.grading.result import FLAGS
from prism.grading.selection import WITHHELD_REASONS, WithheldReason
from tests.support.scripts import load_script

ROOT = Path(__file__).resolve().parents[2]
FAMILIES: list[Mapping[Any, Origin]] = [VERDICT_ORIGINS, STAGE_ORIGINS, WITHHELD_ORIGINS, FLAG_ORIGINS, LINK_ORIGINS]
ASKS = ("isdisjoint", "frozenset")  # calls that ask for a reason and give none
LISTS = ("prism.equivalence.verdict", "prism.equivalence.chains.links")  # of all reasons; of another family


def deciding_modules() -> dict[str, ast.Module]:
    """Syntax trees of the modules that make verdicts and grades, by dotted name."""
    found = ("equivalence/*.py", "equivalence/[cnp]*/*.py", "grading/**/*.py")  # but for what interpretations use
    paths = [path for pattern in found for path in sorted((ROOT / "prism").glob(pattern))]
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): ast.parse(path.read_text("utf-8")) for path in paths
    }


def given_in(node: ast.AST) -> Iterator[ast.expr]:
    """Constants and attributes that code gives: not those that it compares with, looks up, or has as keys."""
    if isinstance(node, ast.Compare | ast.Set | ast.Subscript):
        return
    if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in ASKS:
        return
    if isinstance(node, ast.Constant | ast.Attribute):
        yield node
    children = node.values if isinstance(node, ast.Dict) else ast.iter_child_nodes(node)
    for child in children:
        yield from given_in(child)


def reasons_given(tree: ast.Module) -> set[str]:
    """Reasons that functions of a module give, or that stand in a verdict which it keeps; of an enum `Class.NAME`."""
    bodies = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    kept = [node.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    found = [each for body in (*bodies, *kept) for each in given_in(body)]
    constants = {each.value for each in found if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    members = {f"{each.value.id}.{each.attr}" for each in found
               if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)}  # fmt: skip
    return constants | members


@pytest.mark.parametrize(("origins", "reasons"), [
    (VERDICT_ORIGINS, set(REASONS)), (WITHHELD_ORIGINS, set(WITHHELD_REASONS)), (FLAG_ORIGINS, set(FLAGS)),
    (LINK_ORIGINS, set(LINK_REASONS)), (STAGE_ORIGINS, set(Stage) - {Stage.PLAIN}),
])  # fmt: skip
def test_each_reason_has_an_origin_and_no_other(origins: Mapping[object, Origin], reasons: set[object]) -> None:
    assert set(origins) == reasons


@pytest.mark.slow
def test_the_modules_of_a_reason_are_those_that_give_it() -> None:
    given = {name: reasons_given(tree) for name, tree in deciding_modules().items() if name not in LISTS}
    wrong = []
    for reason, origin in VERDICT_ORIGINS.items():
        there = {name for name, reasons in given.items() if reason in reasons}
        if there != set(origin.modules):
            wrong.append((reason, sorted(there), origin.modules))
    for reason in WithheldReason:
        there = {name for name, reasons in given.items() if f"WithheldReason.{reason.name}" in reasons}
        if there != set(WITHHELD_ORIGINS[reason].modules):
            wrong.append((reason, sorted(there), WITHHELD_ORIGINS[reason].modules))
    assert not wrong


@pytest.mark.slow
def test_flags_links_and_stages_stand_in_their_modules() -> None:
    trees = deciding_modules()
    texts = {name: (ROOT / f"{name.replace('.', '/')}.py").read_text("utf-8") for name in trees}
    for family, spelled in ((FLAG_ORIGINS, '"{}"'), (LINK_ORIGINS, '"{}"')):
        for reason, origin in family.items():
            assert all(spelled.format(reason) in texts[name] for name in origin.modules), reason
    for stage, origin in STAGE_ORIGINS.items():
        assert all(f"Stage.{stage.name}" in texts[name] for name in origin.modules), stage


def test_every_module_exists_and_every_rule_has_its_anchor() -> None:
    page = (ROOT / "docs" / PAGE).with_suffix(".md").read_text("utf-8")
    for origin in (each for family in FAMILIES for each in family.values()):
        assert all(find_spec(module) for module in origin.modules)
        assert all((ROOT / file).is_file() for file in origin.files)
        assert f'<a id="{origin.anchor.partition("#")[2]}"></a>\n### {origin.rule} ' in page


@pytest.mark.slow
def test_the_page_has_every_reason_with_cases_that_exist() -> None:
    page = load_script(ROOT / "docs" / "generator" / "contributors_map.py").contributors_map()
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    named = [row[0].strip("|` ") for row in rows]
    assert named == [str(int(key)) if isinstance(key, Stage) else str(key) for family in FAMILIES for key in family]
    text = "".join(path.read_text("utf-8") for path in (ROOT / "tests" / "cases").rglob("*.toml"))
    known = set(re.findall(r'(?m)^id\s*=\s*["\']([^"\']+)', text))
    shown = [name for row in rows for name in re.findall(r"`([^`]+)`", row[4])]
    assert len(shown) > len(rows)
    assert not [name for name in shown if name not in known]


TEXT = r"""
$$v = \sqrt{3gh}$$
$$v^2 = 2gh = 3gh$$
$t_f = \sqrt{2h/g}$, and with $g = 9.81$ so $\badcommand = 3$.
"""


@pytest.mark.slow
def test_explain_traces_each_decision() -> None:
    run = CliRunner()
    plain = run.invoke(app, ["explain", "free_fall", "-"], input=TEXT).stdout
    traced = run.invoke(app, ["explain", "free_fall", "-", "--trace"], input=TEXT).stdout
    lines = traced.splitlines()
    assert "\n".join(line for line in lines if not line.lstrip().startswith("[rule ")) == plain.rstrip("\n")
    expected = {rule_map.trace_line(VERDICT_ORIGINS[reason]) for reason in ("same_form", "witness", "parse_error")}
    assert not [line for line in expected if f"[{line}]" not in traced.replace("    ", "")], traced
    data = json.loads(run.invoke(app, ["explain", "free_fall", "-", "--trace", "--json"], input=TEXT).stdout)
    assert data["trace"]["reasons"]["witness"] == VERDICT_ORIGINS["witness"].to_dict()
    assert "trace" not in json.loads(run.invoke(app, ["explain", "free_fall", "-", "--json"], input=TEXT).stdout)
