"""How much code there is, by folder of the package, and how many places remember or match text by a pattern.

A line of code is one that holds a token of Python that is no comment and no docstring. A memory is a function or
property that keeps its results, or a name of a module bound to a container that can be changed. A pattern is a call of
`re`. Lines of templates, tables and words are counted beside them. `--beside REV` shows what has come and gone since a
commit.

    python benchmarks/lines.py [--beside REV] [--json]
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import subprocess
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("prism", "vocabulary", "grammar", "constants")
SHOWN = ("code", "data", "files", "memories", "patterns")
DATA = frozenset((".toml", ".html", ".css", ".js", ".svg", ".lark", ".txt", ".jinja"))
_LAYOUT = frozenset((tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
                     tokenize.ENCODING, tokenize.ENDMARKER))  # fmt: skip
_KEEPING = frozenset(("cache", "lru_cache", "cached_property", "remembered", "remembered_property", "free_property"))
_MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_HOLDERS = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def lines_of_code(source: str) -> int:
    """Return the number of lines of a module that hold code."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _HOLDERS) and ast.get_docstring(node, clean=False) is not None:
            documented.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    held = {line for each in tokens if each.type not in _LAYOUT for line in range(each.start[0], each.end[0] + 1)}
    return len(held - documented)


def memories(tree: ast.Module) -> int:
    """Return the number of places of a module that remember."""
    kept = sum(
        _name(mark) in _KEEPING
        for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for mark in node.decorator_list
    )  # fmt: skip
    values = (node.value for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign))
    stores = (isinstance(value, _MUTABLE) or (isinstance(value, ast.Call) and not value.args and _is_container(value))
              for value in values)  # fmt: skip
    return kept + sum(stores)


def patterns(tree: ast.Module) -> int:
    """Return the number of calls of functions of `re` in a module."""
    return sum(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _name(node.func.value) == "re"
        for node in ast.walk(tree)
    )


def _name(node: ast.AST) -> str:
    """Return the last part of a name, of a call its function's."""
    if isinstance(node, ast.Call):
        return _name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_container(call: ast.Call) -> bool:
    """Return True for a call that makes an empty container."""
    return _name(call) in ("dict", "list", "set", "defaultdict", "OrderedDict", "deque", "Counter")


def texts(revision: str) -> Iterator[tuple[Path, str]]:
    """Yield path and text of each file of `FOLDERS`, of a commit, or as it is for an empty name."""
    listed = ["git", "ls-tree", "-r", "--name-only", revision] if revision else ["git", "ls-files"]
    names = subprocess.run([*listed, "--", *FOLDERS], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.splitlines():
        path = Path(name)
        if path.suffix == ".py" or path.suffix in DATA:
            shown = ["git", "show", f"{revision}:{name}"]
            found = subprocess.run(shown, cwd=ROOT, capture_output=True, check=True).stdout if revision else b""
            yield path, (found or (ROOT / path).read_bytes()).decode("utf-8")


def counted(revision: str = "") -> dict[str, Counter[str]]:
    """Return for each folder of the package, and in all, lines of code and of data, files, memories and patterns."""
    found: dict[str, Counter[str]] = {}
    for path, text in texts(revision):
        folder = "/".join(path.parts[: min(2, len(path.parts) - 1)])
        if path.suffix == ".py":
            tree = ast.parse(text)
            row = Counter(code=lines_of_code(text), files=1, memories=memories(tree), patterns=patterns(tree))
        else:
            row = Counter(data=len(text.splitlines()))
        for key in (folder, "all"):
            found.setdefault(key, Counter()).update(row)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Lines of code, memories and patterns by folder.")
    parser.add_argument("--beside", default="", metavar="REV", help="a commit to hold the tree against")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    options = parser.parse_args()
    now, before = counted(), counted(options.beside) if options.beside else {}
    if options.json:
        print(json.dumps({"now": now, "before": before} if before else now, sort_keys=True))
        return 0
    for folder, row in sorted(now.items(), key=lambda item: -item[1]["code"]):
        old = before.get(folder, Counter())
        shown = [f"{row[key]:6} {key}" + (f" ({row[key] - old[key]:+d})" if before else "") for key in SHOWN]
        print(f"{folder:28}", *shown)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
