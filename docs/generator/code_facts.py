"""Facts that the code states about itself, for the reference and for its tests: read, never copied by hand.

Refused: a list of limits or modules kept beside the code. It would be right on the day it was written.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "prism"

_SHARED = re.compile(r"(?m)^( +)(\w+(?:, \w+)+): (.*(?:\n\1 +\S.*)*)")
_BUDGETS = "prism.budget"  # where every public number is a limit; elsewhere those called MAX_... are


@dataclass(frozen=True, slots=True)
class Limit:
    """A named constant that bounds a size or a count.

    Attributes:
        name: dotted, from `prism` on.
        value: what the code computes with.
        meaning: the comment beside it, or empty.
    """

    name: str
    value: Any
    meaning: str


@dataclass(frozen=True, slots=True)
class KnownGap:
    """A row of `tests/cases/`, or a student of a shipped problem, that is decided wrongly today.

    Attributes:
        id: of the case; of a student the problem and the name.
        path: of its file, from the root.
        why: the reason that the row gives.
    """

    id: str
    path: str
    why: str


def dotted(path: Path) -> str:
    """Return the module name of a source file: `prism/latex/__init__.py` is `prism.latex`."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def modules() -> list[Path]:
    """Return the source files of the package, sorted."""
    return sorted(PACKAGE.rglob("*.py"))


def limits() -> list[Limit]:
    """Return every limit: the numbers of `prism.budget`, and all constants called `MAX_...` at the top of a module."""
    found = []
    for path in modules():
        text = path.read_text(encoding="utf-8")
        lines, module = text.splitlines(), dotted(path)
        for node in ast.parse(text).body:
            name = _assigned(node)
            if name and (
                name.lstrip("_").startswith("MAX_") or (module == _BUDGETS and name.isupper() and len(name) > 1)
            ):
                comment = lines[(node.end_lineno or node.lineno) - 1].partition("  # ")[2]
                found.append(Limit(f"{module}.{name}", getattr(import_module(module), name), comment.strip()))
    return found


def _assigned(node: ast.stmt) -> str:
    """Return the one name that a statement assigns to, or nothing."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    return ""


def variables_read() -> set[str]:
    """Return the names of environment variables that the package reads or sets, from calls on `os.environ`."""
    call = re.compile(r"""(?:environ\.(?:get|setdefault|pop)\(|environ\[|getenv\()\s*(\w+|"\w+")""")
    found = set()
    for path in modules():
        text = path.read_text(encoding="utf-8")
        for word in call.findall(text):
            constant = re.search(rf'(?m)^{word} = "(\w+)"', text)
            if word.startswith('"') or constant:
                found.add(constant[1] if constant else word.strip('"'))
        found |= set(re.findall(r'"(PRISM_[A-Z_]+)"', text))
    return found


def _contract() -> Any:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (contract,) = (one for one in settings["contracts"] if one["type"] == "layers")
    return contract


def layers() -> list[list[str]]:
    """Return the layers of the import contract, highest first, each with the names that stand side by side."""
    return [[name.strip() for name in layer.split("|")] for layer in _contract()["layers"]]


def folder_of(module: str) -> str:
    """Return what stands directly below `prism` in a module's name: `prism.latex.words` is in `latex`."""
    return module.split(".")[1] if "." in module else ""


def imports() -> Counter[tuple[str, str]]:
    """Count for each pair of folders the modules of the first that import from the second, lazily or not.

    Left out is what the contract of import-linter leaves out by name (`ignore_imports`).
    """
    counts: Counter[tuple[str, str]] = Counter()
    left_out = [[side.strip() for side in rule.split("->")] for rule in _contract().get("ignore_imports", ())]
    for path in modules():
        importer = dotted(path)
        found = {
            folder_of(name) for name in _imported_by(path)
            if not any(fnmatch(importer, a) and fnmatch(name, b) for a, b in left_out)
        }  # fmt: skip
        if own := folder_of(importer):
            counts.update((own, other) for other in found - {own, ""})
    return counts


def _imported_by(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a file imports; of `from prism import x` the module x, if it is one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "prism":
            names = [alias.name for alias in node.names]
            yield from (
                f"prism.{name}" for name in names if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()
            )
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("prism."):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("prism."))


def one_name_an_entry(docstring: str) -> str:
    r"""Return a docstring in which each entry of a section names one thing.

    >>> one_name_an_entry("Args:\n    low, high: bounds,\n        included.")
    'Args:\n    low: bounds,\n        included.\n    high: bounds,\n        included.'
    """
    return _SHARED.sub(
        lambda entry: "\n".join(f"{entry[1]}{name}: {entry[3]}" for name in entry[2].split(", ")), docstring
    )


def known_gaps() -> list[KnownGap]:
    """Return every row marked `known_gap`, by file, then the nodes of shipped solutions that are labelled so."""
    found = []
    for path in sorted((ROOT / "tests" / "cases").rglob("*.toml")):
        if path.parent.name != "problems":  # some of these are broken on purpose
            rows = tomllib.loads(path.read_text(encoding="utf-8")).get("case", [])
            place = path.relative_to(ROOT).as_posix()
            found += [KnownGap(row["id"], place, row["known_gap"]) for row in rows if "known_gap" in row]
    for path in sorted((ROOT / "dags").glob("*.toml")):
        for student in tomllib.loads(path.read_text(encoding="utf-8")).get("students", []):
            if gaps := student.get("expected", {}).get("known_gaps"):
                nodes = ", ".join(map(str, gaps))
                words = f"decided otherwise than the label says: node {nodes}. {student.get('why', '')}"
                found.append(
                    KnownGap(f"{path.stem}, {student['name']}", path.relative_to(ROOT).as_posix(), words.strip())
                )
    return found
