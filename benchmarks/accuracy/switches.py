"""Conditions and functions of the code as switches: modules are rewritten when they are imported, and only then.

`install` has the modules of some folders imported so that each function that may find nothing, and each condition, asks
a `Recorder`, which notes those that made a difference to the flow and has some of them switched off.
"""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_NOTHING = {
    "bool": "False", "tuple[": "()", "list[": "[]", "dict[": "{}", "set[": "set()", "frozenset[": "frozenset()",
    "Iterator[": "iter(())", "Mapping[": "{}", "Sequence[": "()",
}  # fmt: skip
_LEFT_AS_IT_IS = ("Expr", "Formula", "tuple[Expr, ...]")


@dataclass(frozen=True, slots=True)
class Switch:
    """One function or condition that can be switched off.

    Attributes:
        id: its number, in the order of files and lines.
        file, line, end: where it stands.
        kind: `rule` (a function), `if`, `choice` (a conditional expression), `and` or `or` (an operand).
        text: the condition; of a rule, what it returns when it is off.
        inside: the qualified name of the function.
    """

    id: int
    file: str
    line: int
    end: int
    kind: str
    text: str
    inside: str


class Recorder:
    """Which switches made a difference to the flow since the last look, and which are off."""

    def __init__(self) -> None:
        """Begin with everything on."""
        self.off: set[int] = set()
        self.taken: set[int] = set()

    def holds(self, switch: int, value: Any) -> Any:
        """Return a condition that is switched off as if it did not hold."""
        if value:
            if switch in self.off:
                return False
            self.taken.add(switch)
        return value

    def lacks(self, switch: int, value: Any) -> Any:
        """Return an operand of `and` that is switched off as if it held."""
        if not value:
            if switch in self.off:
                return True
            self.taken.add(switch)
        return value

    def is_off(self, switch: int) -> bool:
        """Return True for a function that is switched off."""
        self.taken.add(switch)
        return switch in self.off


class Rewriting(ast.NodeTransformer):
    """Puts questions to the recorder into functions and conditions of a module; compiled kernels stay as they are."""

    def __init__(self, file: str, switches: list[Switch]) -> None:
        """Begin a module; its switches are appended to those that there are."""
        self.file, self.switches, self.inside = file, switches, [""]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Let a function return nothing where it is off."""
        if any("jit" in ast.unparse(each) for each in node.decorator_list):
            return node
        self._visit_named(node)
        nothing = nothing_of(node)
        if nothing is not None and not node.name.startswith("__"):
            switch = self._switch("rule", node, nothing, f"{self.inside[-1]}.{node.name}".lstrip("."))
            leave = ast.parse(f"if ablate_is_off({switch}): return {nothing}").body[0]
            node.body.insert(1 if ast.get_docstring(node) else 0, ast.copy_location(leave, node.body[0]))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Visit what a class has under its name."""
        self._visit_named(node)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        """Let the test of an `if` be switched off, unless it is only for a type checker."""
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return node
        return self._with_test(node, "if")

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Let the test of a conditional expression be switched off."""
        return self._with_test(node, "choice")

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Let each operand of `and` and `or` be switched off."""
        texts = [ast.unparse(each) for each in node.values]
        self.generic_visit(node)
        name, kind = ("ablate_holds", "or") if isinstance(node.op, ast.Or) else ("ablate_lacks", "and")
        node.values = [self._call(name, kind, each, text) for each, text in zip(node.values, texts, strict=True)]
        return node

    def _visit_named(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        """Visit what is inside a function or class, under its name."""
        self.inside.append(f"{self.inside[-1]}.{node.name}".lstrip("."))
        self.generic_visit(node)
        self.inside.pop()

    def _with_test(self, node: ast.If | ast.IfExp, kind: str) -> ast.AST:
        """Return a node whose test can be switched off."""
        text = ast.unparse(node.test)
        self.generic_visit(node)
        node.test = self._call("ablate_holds", kind, node.test, text)
        return node

    def _call(self, name: str, kind: str, condition: ast.expr, text: str) -> ast.Call:
        """Return a call of the recorder around a condition."""
        switch = self._switch(kind, condition, text, self.inside[-1])
        call = ast.Call(ast.Name(name, ast.Load()), [ast.Constant(switch), condition], [])
        return ast.copy_location(call, condition)

    def _switch(self, kind: str, node: ast.expr | ast.stmt, text: str, inside: str) -> int:
        """Add a switch, and return its number."""
        end = node.lineno if kind == "rule" else node.end_lineno or node.lineno
        self.switches.append(Switch(len(self.switches), self.file, node.lineno, end, kind, text, inside))
        return len(self.switches) - 1


def nothing_of(function: ast.FunctionDef) -> str | None:
    """Return what a function returns that finds nothing, as source, by what it says that it returns; None if unclear.

    A function from a value to one of the same kind leaves it as it is.
    """
    said = ast.unparse(function.returns) if function.returns else ""
    first = next((arg for arg in function.args.args if arg.arg not in ("self", "cls")), None)
    if said in _LEFT_AS_IT_IS:
        is_same = first is not None and first.annotation is not None and ast.unparse(first.annotation) == said
        return first.arg if first is not None and is_same else None
    found = next((nothing for beginning, nothing in _NOTHING.items() if said.startswith(beginning)), None)
    return found or ("None" if "None" in said.split(" | ") else None)


class _Loading(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports rewritten modules.

    Attributes:
        codes: file and code of each module, by its name.
    """

    def __init__(self, codes: dict[str, tuple[Path, CodeType]]) -> None:
        """Keep the code of the modules."""
        self.codes = codes

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        """Return the specification of a rewritten module; None for any other."""
        if fullname not in self.codes:
            return None
        file = self.codes[fullname][0]
        places = [str(file.parent)] if file.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(fullname, file, loader=self, submodule_search_locations=places)

    def create_module(self, spec: ModuleSpec) -> None:  # noqa: ARG002
        """Have an empty module made, as usual."""
        return

    def exec_module(self, module: ModuleType) -> None:
        """Run the code of a rewritten module."""
        exec(self.codes[module.__name__][1], module.__dict__)  # noqa: S102


def install(folders: Sequence[str]) -> tuple[list[Switch], Recorder]:
    """Have the modules of some folders imported with switches.

    Args:
        folders: folders or files below the root of the checkout.

    Returns:
        The switches, and what records them and switches them off.
    """
    switches: list[Switch] = []
    codes: dict[str, tuple[Path, CodeType]] = {}
    for place in (ROOT / folder for folder in folders):
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            tree = Rewriting(str(file.relative_to(ROOT)), switches).visit(ast.parse(file.read_text("utf-8")))
            codes[name] = file, compile(ast.fix_missing_locations(tree), str(file), "exec")
    recorder = Recorder()
    for asked in ("holds", "lacks", "is_off"):
        setattr(builtins, f"ablate_{asked}", getattr(recorder, asked))
    sys.meta_path.insert(0, _Loading(codes))
    return switches, recorder
