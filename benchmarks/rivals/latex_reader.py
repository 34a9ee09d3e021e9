"""Read LaTeX with a rival's reader: one JSON string a line in, one JSON list a line out.

Runs inside the environment of the rival, which its first argument names, and imports nothing of PRISM. A line out is
`["read", tree]` or `["failed", message]`; a tree is a list of the class of a sympy node and its operands:
`["Add", ["Symbol", "x"], ["Integer", "2"]]`. Whoever starts this gives each line its time, and starts it anew when a
line takes longer: sympy cannot be stopped from inside.

    .venv-bench/bin/python -I benchmarks/rivals/latex_reader.py latex2sympy2_extended
    .venv-latex2sympy2/bin/python -I benchmarks/rivals/latex_reader.py latex2sympy2
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable
from importlib import metadata
from typing import Any

import sympy

_MAX_DEPTH = 200  # a tree deeper than this is no formula that a person wrote; printing it would overflow the stack
_MAX_MESSAGE = 200
_LONE_EQUALS = re.compile(r"(?<![=!<>:])=(?!=)")


def tree(node: Any, depth: int = 0) -> Any:
    """A sympy object as nested lists of strings."""
    if depth > _MAX_DEPTH:
        raise RecursionError("the tree is too deep")
    if isinstance(node, list | tuple | set | frozenset):
        return ["List", *(tree(item, depth + 1) for item in node)]
    if isinstance(node, sympy.MatrixBase):
        return ["Matrix", str(node.rows), *(tree(item, depth + 1) for item in node)]
    if isinstance(node, sympy.Symbol):
        return ["Symbol", node.name]
    if isinstance(node, sympy.MatrixSymbol):
        return ["Symbol", str(node.name)]
    if isinstance(node, sympy.Float):
        return ["Float", repr(float(node)) if abs(node) < 1e300 else str(node)]
    if isinstance(node, sympy.Rational):
        return ["Rational", f"{node.p}/{node.q}"]
    if isinstance(node, sympy.core.function.AppliedUndef):
        return ["Apply", node.func.__name__, *(tree(item, depth + 1) for item in node.args)]
    if isinstance(node, sympy.Basic):
        return [type(node).__name__, *(tree(item, depth + 1) for item in node.args)]
    return ["Other", str(node)]


def extended() -> Callable[[str], Any]:
    """latex2sympy2_extended, set for physics: capitals kept apart from small letters, degrees counted."""
    from latex2sympy2_extended import latex2sympy
    from latex2sympy2_extended.latex2sympy2 import ConversionConfig

    config = ConversionConfig(lowercase_symbols=False)
    return lambda latex: latex2sympy(latex, convert_degrees=True, conversion_config=config)


def original() -> Callable[[str], Any]:
    """latex2sympy2: an equality at the top is written `==`, since it solves `a = b` and remembers it."""
    import latex2sympy2 as reader

    def read(latex: str) -> Any:
        reader.set_variances({})
        return reader.latex2sympy(_with_equalities(latex))

    return read


def _with_equalities(latex: str) -> str:
    """Double each equals sign that stands in no braces."""
    out, level, start = [], 0, 0
    for place, char in enumerate(latex):
        if char in "{}":
            if level == 0:
                out.append(_LONE_EQUALS.sub("==", latex[start:place]))
                start = place
            level = max(0, level + (1 if char == "{" else -1))
            if level == 0:
                out.append(latex[start:place])
                start = place
    rest = latex[start:]
    return "".join([*out, rest if level else _LONE_EQUALS.sub("==", rest)])


_READERS = {"latex2sympy2_extended": extended, "latex2sympy2": original}


def main() -> int:
    name = sys.argv[1]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")  # what the rival itself prints is no answer
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
    read = _READERS[name]()
    versions = {package: metadata.version(package) for package in (name, "sympy", "antlr4-python3-runtime")}
    print(json.dumps(versions), file=out, flush=True)
    for line in sys.stdin:
        answer: list[Any]
        with contextlib.redirect_stderr(None):
            try:
                answer = ["read", tree(read(json.loads(line)))]
            except Exception as error:  # noqa: BLE001 - whatever a rival raises is a formula it does not read
                answer = ["failed", f"{type(error).__name__}: {error}"[:_MAX_MESSAGE]]
        print(json.dumps(answer), file=out, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
