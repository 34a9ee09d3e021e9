"""Rules of the architecture that a reader cannot check by eye: who imports what, and what starting PRISM loads."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "prism"
MODULES = sorted(PACKAGE.rglob("*.py"))
HEAVY = ("numba", "sympy", "pint", "lark", "symengine", "flint")


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def imported(tree: ast.AST) -> Iterator[str]:
    """Absolute names that a module imports anywhere, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def names(tree: ast.AST) -> Iterator[str]:
    """Identifiers a module uses: imports, names and attributes; never words in strings or comments."""
    for dotted in imported(tree):
        yield from dotted.split(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


@cache
def tree_of(path: Path) -> ast.Module:
    """A module, read once for all rules."""
    return ast.parse(path.read_text(encoding="utf-8"))


def modules_where(*, besides: tuple[str, ...] = ()) -> Iterator[tuple[str, ast.Module]]:
    """Name and tree of every module, without those whose names begin with one of the exceptions."""
    return ((name, tree_of(path)) for path in MODULES if not (name := name_of(path)).startswith(besides))


KERNELS, AUTOMATON, CACHES = "engine/kernels/", "latex/parsing/lalr.py", "resources.py"


@pytest.mark.slow
def test_only_kernels_know_numba() -> None:
    words = {"numba", "njit", "jit", "prange"}
    found = {name: words & set(names(tree)) for name, tree in modules_where(besides=(KERNELS,))}
    assert not {name: used for name, used in found.items() if used}


@pytest.mark.slow
def test_no_kernel_is_compiled_with_fastmath() -> None:
    """Under fastmath `isfinite(nan)` is true, so every undefined point looks defined."""
    calls = (
        (name, word.arg)
        for name, tree in modules_where() for node in ast.walk(tree) if isinstance(node, ast.Call)
        for word in node.keywords
    )  # fmt: skip
    assert not [(name, word) for name, word in calls if word in ("fastmath", "parallel")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "home"),
    [("lark", AUTOMATON), ("pint", "bridges/"), ("sympy", "bridges/"), ("symengine", "bridges/")],
)
def test_a_package_is_known_in_one_place(package: str, home: str) -> None:
    assert not [
        (name, dotted)
        for name, tree in modules_where(besides=(home,)) for dotted in imported(tree)
        if dotted.split(".")[0] == package
    ]  # fmt: skip


@pytest.mark.slow
def test_verdicts_have_no_hidden_input() -> None:
    """No clock, no chance and no environment: the kernels ask for their one switch, and where caches stand."""
    sources = {"time", "random", "datetime", "secrets", "uuid", "locale"}
    readers = {"environ", "getenv", "urandom", "default_rng", "RandomState"}
    switches = ("cli/", "runs/ray.py")  # a token for `serve`; what Ray asks for there
    faults = []
    for name, tree in modules_where():
        dotted = set(imported(tree))
        # who kills a process that hangs needs a clock, and so does who tells how fast a run or this machine is
        allowed = (
            {"time"}
            if name in ("runs/workers.py", "runs/worker_process.py", "cli/runs.py", "runs/machine_speed.py")
            else set()
        )
        allowed |= {"cli/desk.py": {"secrets"}, "desk/author.py": {"datetime"}}.get(name, set())  # token; day
        faults += [(name, head) for head in ({each.split(".")[0] for each in dotted} & sources) - allowed]
        faults += [(name, each) for each in dotted if each.startswith(("numpy.random", "os.getenv"))]
        has_switch = name.startswith((KERNELS, CACHES, *switches))
        faults += [(name, word) for word in (set(names(tree)) & readers) - ({"environ"} if has_switch else set())]
    assert not faults


def test_the_environment_switches_are_the_documented_ones() -> None:
    """What the kernels and the caches read from the environment."""
    found = {
        node.value
        for path in (*sorted((PACKAGE / KERNELS).glob("*.py")), PACKAGE / CACHES)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isupper()
    }
    switches = {name.rstrip("=") for name in found if name.startswith(("PRISM_", "NUMBA_"))}
    assert switches == {"PRISM_KERNELS", "NUMBA_CACHE_DIR", "PRISM_CACHE_DIR"}


@pytest.mark.slow
def test_no_fault_is_dropped_silently() -> None:
    """Faults are caught by name; one that is not expected must be seen."""
    handlers = [
        (name, node)
        for name, tree in modules_where() for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)
    ]  # fmt: skip
    assert not [(name, node.lineno) for name, node in handlers if node.type is None]
    assert not [
        (name, node.lineno)
        for name, node in handlers
        if isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")
        and [ast.dump(line) for line in node.body] == [ast.dump(ast.Pass())]
    ]  # fmt: skip


def test_only_doors_stand_outside_the_folders() -> None:
    allowed = {
        "__init__",
        "__main__",
        "cli",
        "server",
        "pytest_plugin",
        "errors",
        "resources",
        "version",
        "budget",
        "inputs",
        "garbage",
    }
    assert {path.stem for path in MODULES if path.parent == PACKAGE} <= allowed


def test_every_module_is_named_for_what_it_does() -> None:
    refused = {"utils.py", "helpers.py", "common.py", "core.py", "types.py", "misc.py"}
    assert not refused & {path.name for path in MODULES}


def test_every_result_that_may_be_none_says_when_it_is() -> None:
    functions = (
        (f"{name}:{node.lineno} {node.name}", node)
        for name, tree in modules_where() for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None
    )  # fmt: skip
    assert not [
        place
        for place, node in functions
        if ast.unparse(node.returns or node).endswith("| None") and "None" not in (ast.get_docstring(node) or "")
    ]


def loaded_after(code: str, packages: tuple[str, ...] = HEAVY) -> set[str]:
    """Heavy packages that a fresh interpreter has loaded after running `code`."""
    tail = f"\nimport sys, json\nprint(json.dumps([m for m in {packages!r} if m in sys.modules]), file=sys.__stderr__)"
    run = subprocess.run(
        [sys.executable, "-c", code + tail], capture_output=True, text=True, check=False, timeout=120, cwd=ROOT
    )
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stderr.strip().splitlines()[-1]))


def test_import_is_cheap() -> None:
    assert loaded_after("import prism", (*HEAVY, "pydantic", "numpy", "rich")) == set()


@pytest.mark.parametrize(
    "call", ['equivalent("F = m a", "a = F/m")', 'verify("5 m/s", "$v = 5$ m/s")', 'verify("blue", "It is blue.")']
)
def test_comparing_loads_no_pydantic(call: str) -> None:
    """Only a file that somebody wrote is held to a shape, and no answer needs one."""
    assert loaded_after(f"import prism; prism.{call}", ("pydantic",)) == set()
    assert loaded_after("import prism; prism.load_problem('free_fall')", ("pydantic",)) == {"pydantic"}


CHECK = """
import os, sys
os.environ["PRISM_KERNELS"] = "interpreted"
sys.argv = ["prism", "check", r"F = k Q q / r^2", r"F = \\frac{Qq}{4\\pi\\epsilon_0 r^2}"]
from prism.cli import main
try:
    main()
except SystemExit as stop:
    assert stop.code in (0, None), stop.code
"""


@pytest.mark.slow
def test_one_check_starts_nothing_heavy() -> None:
    assert loaded_after(CHECK, (*HEAVY, "pydantic")) <= {"lark"}
    # Without the switch the choice is made by counted work, and one check is far below it.
    assert loaded_after(
        CHECK.replace('os.environ["PRISM_KERNELS"] = "interpreted"', 'os.environ.pop("PRISM_KERNELS", "")')
    ) <= {"lark"}


FIGURES = ("pandas", "scipy", "statsmodels", "krippendorff")  # of the extra `report`, and of the tests


@pytest.mark.slow
@pytest.mark.parametrize("words", [
    ["check", "v = g t", "v = g t"], ["grade", "free_fall", "$v = g t$"], ["show", "free_fall"], ["list"],
    ["run", "free_fall", "{rollouts}", "-o", "{rows}", "--workers", "0", "--force"], ["compare", "{rows}", "{rows}"],
    ["compare", "{rows}", "--by", "model"], ["leaderboard", "{rows}", "-o", "{rows}.html"],
    ["feedback", "free_fall", "{rollouts}", "-o", "{rows}.folder"],
])  # fmt: skip
def test_a_command_that_needs_no_extra_loads_none(words: list[str], tmp_path: Path) -> None:
    rollouts, rows = tmp_path / "rollouts.jsonl", tmp_path / "rows.jsonl"
    texts = [{"problem_id": "free_fall", "sample_id": k, "response": "$v = g t$", "model": k} for k in "ab"]
    rollouts.write_text("".join(f"{json.dumps(each)}\n" for each in texts), "utf-8")
    begin = [["run", "free_fall", str(rollouts), "-o", str(rows), "--workers", "0"]] if "{rows}" in words else []
    asked = [[word.format(rollouts=rollouts, rows=rows) for word in each] for each in (*begin, words)]
    code = (
        "import os, sys\nos.environ['PRISM_KERNELS'] = 'interpreted'  # numba loads scipy where it is\n"
        f"from prism.cli import main\nfor words in {asked!r}:\n    sys.argv = ['prism', *words]\n"
        "    try:\n        main()\n    except SystemExit as stop:\n        assert stop.code in (0, None), stop.code"
    )
    assert loaded_after(code, FIGURES) == set()


@pytest.mark.slow
def test_one_check_compiles_no_pattern_of_units() -> None:
    """The names of all units stand in each of them several times; together they take a twentieth of a check."""
    loaded_after(f"{CHECK}\nfrom prism.latex.words import compiled\nassert not compiled.cache_info().currsize")


# What asks a model. -----------------------------------------------------------------------------------------------

ASKING = ("openai", "httpx", "httpx2", "jsonschema")


@pytest.mark.slow
def test_only_the_command_line_imports_what_asks_a_model() -> None:
    """`prism.judging` stands above all that grades; import-linter holds it, and so does this, by name."""
    found = [
        (name, dotted)
        for name, tree in modules_where(besides=("judging/", "cli/judge.py"))
        for dotted in imported(tree)
        if dotted.startswith("prism.judging") or dotted.split(".")[0] in ("openai", "httpx", "httpx2")
    ]
    assert not found
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0][
        "layers"
    ]
    assert layers.index("judging") < layers.index("reports | protocols") < layers.index("grading")


NO_SOCKET = """
import socket, sys

def refuse(*arguments, **more):
    raise AssertionError("a socket was opened")

socket.socket.connect = socket.socket.connect_ex = socket.socket.bind = refuse
socket.create_connection = socket.getaddrinfo = socket.gethostbyname = refuse
sys.argv = ["prism", "grade", "free_fall", "$v = g t$, so $v_f = \\\\sqrt{2gh}$", "--json"]
from prism.cli import main
try:
    main()
except SystemExit as stop:
    assert stop.code in (0, None), stop.code
"""


def test_a_grade_opens_no_socket_and_loads_nothing_that_asks() -> None:
    """The refusal is proved to hold first: the same code with a connection in it fails."""
    connecting = NO_SOCKET.replace("sys.argv =", "socket.create_connection(('127.0.0.1', 9))\nsys.argv =", 1)
    run = subprocess.run(
        [sys.executable, "-c", connecting], capture_output=True, text=True, check=False, timeout=120, cwd=ROOT
    )
    assert "a socket was opened" in run.stderr
    assert loaded_after(NO_SOCKET, ("prism.judging", "prism.cli.judge", *ASKING)) <= {"prism.cli.judge"}
