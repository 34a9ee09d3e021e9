"""The LALR parser against lark, which is the reference; and its cache, which may cost time and nothing else."""

from __future__ import annotations

import json
import os
import random
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import UnexpectedToken
from lark.lexer import Lexer

from prism.errors import LatexSyntaxError
from prism.latex.parsing import lalr, parser
from prism.latex.parsing.lalr import (
    UnexpectedTokenError,
    bind_builder,
    build_tables,
    load_tables,
    run_parser,
)
from prism.latex.parsing.tokens import Fault, Token
from prism.resources import resource

GRAMMAR = resource("grammar/latex.lark").read_text(encoding="utf-8")
CASES = Path(__file__).parents[1] / "cases"


class Placed(Token):
    """A token with the attributes that lark copies to the end token which it makes."""

    line = column = end_line = end_column = start_pos = end_pos = None


class Ready(Lexer):
    """Lark's lexer over tokens that are there."""

    def __init__(self, conf: Any) -> None:
        del conf

    def lex(self, tokens: Any) -> Iterator[Any]:  # type: ignore[override]
        return iter(tokens)


def reference(grammar: str, builder: object) -> Lark:
    return Lark(grammar, parser="lalr", lexer=Ready, transformer=builder, maybe_placeholders=False)


def placed(token: Token) -> Placed:
    return Placed(**{field.name: getattr(token, field.name) for field in fields(Token)})


def outcome(engine: Lark | lalr.LalrParser, tokens: list[Placed]) -> Any:
    """The value, or the place of the fault with what is accepted there."""
    if isinstance(engine, lalr.LalrParser):
        try:
            return run_parser(engine, tokens)
        except UnexpectedTokenError as fault:
            return "fault", len(tokens) if fault.token is None else index(tokens, fault.token), fault.accepted
        except Fault as fault:
            return "refused", fault.position, fault.found
    any_tokens: Any = tokens
    try:
        return engine.parse(any_tokens)
    except UnexpectedToken as fault:
        at_end = fault.token.type == "$END"
        return "fault", len(tokens) if at_end else index(tokens, fault.token), fault.accepts
    except Fault as fault:
        return "refused", fault.position, fault.found


def index(tokens: list[Placed], wanted: object) -> int:
    return next(position for position, token in enumerate(tokens) if token is wanted)


# The grammar of PRISM -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def formulas() -> list[list[Placed]]:
    """What the grammar gets for each formula of the cases."""
    read: Any = parser.parse
    found: list[list[Placed]] = []

    def record(by: lalr.LalrParser, tokens: list[Token]) -> Any:
        found.append([placed(token) for token in tokens])
        return run_parser(by, tokens)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "run_parser", record)
        for path in sorted((*CASES.glob("parse/*.toml"), *CASES.glob("equivalence/*.toml"))):
            for row in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
                for latex in (row.get("latex"), row.get("a"), row.get("b")):
                    try:
                        read.__wrapped__(latex or "0")
                    except LatexSyntaxError:
                        continue
    assert len(found) > 500
    return found


@pytest.fixture(scope="module")
def engines() -> tuple[lalr.LalrParser, Lark]:
    builder = parser._ExpressionBuilder()
    return bind_builder(load_tables(GRAMMAR), builder), reference(GRAMMAR, builder)


@pytest.mark.slow
def test_the_formulas_of_the_cases(formulas: list[list[Placed]], engines: tuple[lalr.LalrParser, Lark]) -> None:
    ours, lark = engines
    for tokens in formulas:
        assert outcome(ours, tokens) == outcome(lark, tokens)


@pytest.mark.slow
def test_broken_formulas(formulas: list[list[Placed]], engines: tuple[lalr.LalrParser, Lark]) -> None:
    """Tokens left out, put in and exchanged: the same value, or the same fault."""
    ours, lark = engines
    rng = random.Random(20261121)
    pool = [token for tokens in formulas for token in tokens]
    faults = 0
    for _ in range(1500):
        tokens = [placed(token) for token in rng.choice(formulas)]
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(tokens) + 1)
            tokens[at : at + rng.randint(0, 2)] = [placed(rng.choice(pool)) for _ in range(rng.randint(0, 2))]
        expected = outcome(lark, tokens)
        assert outcome(ours, tokens) == expected, [token.type for token in tokens]
        faults += expected[0] == "fault"
    assert 300 < faults < 1480


def test_a_token_of_no_grammar() -> None:
    by = bind_builder(load_tables(GRAMMAR), parser._ExpressionBuilder())
    with pytest.raises(UnexpectedTokenError) as caught:
        run_parser(by, [Token("NOWHERE", "", 0)])
    assert caught.value.token is not None
    assert "NUM" in caught.value.accepted


# Every feature of a grammar file ------------------------------------------------------------------------------

TOY = r"""
start: [HEAD] item* tail
?item: WORD | pair | _group | maybe
pair: WORD _SEP item
?maybe: OPEN item CLOSE -> bracket
      | BAR (WORD _SEP)* item BAR
!kept: _SEP WORD
_group: LEFT item+ RIGHT
tail: STOP empty kept?
empty:
%declare HEAD WORD _SEP OPEN CLOSE BAR LEFT RIGHT STOP
"""
KINDS = ("HEAD", "WORD", "_SEP", "OPEN", "CLOSE", "BAR", "LEFT", "RIGHT", "STOP")


class Nested:
    """Every rule as a tuple of its name and its children."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name.isupper():
            raise AttributeError(name)
        return lambda children: (name, *[child.type if isinstance(child, Token) else child for child in children])


@pytest.fixture(scope="module")
def toys() -> tuple[lalr.LalrParser, Lark]:
    return bind_builder(build_tables(TOY), Nested()), reference(TOY, Nested())


@pytest.mark.parametrize(
    "words",
    [
        "STOP", "HEAD WORD STOP", "WORD _SEP WORD _SEP WORD STOP", "OPEN WORD CLOSE STOP", "BAR WORD BAR STOP",
        "BAR WORD _SEP WORD _SEP LEFT WORD WORD RIGHT BAR STOP _SEP WORD",
        "LEFT WORD RIGHT LEFT OPEN WORD CLOSE RIGHT STOP",
    ],
)  # fmt: skip
def test_toy_texts(toys: tuple[lalr.LalrParser, Lark], words: str) -> None:
    tokens = [Placed(kind, "", place) for place, kind in enumerate(words.split())]
    ours, lark = (outcome(engine, tokens) for engine in toys)
    assert ours == lark
    assert ours[0] == "start"


@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=14))
def test_toy_texts_at_random(toys: tuple[lalr.LalrParser, Lark], kinds: list[str]) -> None:
    tokens = [Placed(kind, "", place) for place, kind in enumerate(kinds)]
    ours, lark = (outcome(engine, tokens) for engine in toys)
    assert ours == lark


def test_a_builder_without_a_rule() -> None:
    with pytest.raises(AttributeError):
        bind_builder(build_tables(TOY), object())


# The cache ----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PRISM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_kept_tables_are_the_made_ones(folder: Path) -> None:
    first = load_tables(GRAMMAR)
    (path,) = folder.iterdir()
    assert path.stat().st_size < lalr.MAX_FILE // 20
    assert load_tables(GRAMMAR) == first == build_tables(GRAMMAR)
    assert list(folder.iterdir()) == [path]


def test_each_grammar_has_its_file(folder: Path) -> None:
    load_tables(TOY)
    load_tables(TOY + "\n// another text")
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("damage", ["torn", "altered", "huge", "empty", "writable by others"])
def test_a_damaged_file_is_told_and_made_again(folder: Path, damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = load_tables(TOY)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    damaged = {
        "torn": whole[: len(whole) // 2],
        "altered": whole.replace(b'"end":', b'"end":1', 1),
        "huge": whole + b" " * lalr.MAX_FILE,
        "empty": b"",
    }
    path.write_bytes(damaged.get(damage, whole))
    if damage == "writable by others":
        path.chmod(0o666)
    assert load_tables(TOY) == wanted
    assert path.read_bytes() == whole
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (
        capsys.readouterr().err == f"prism: {path} is damaged or was altered; the tables of the grammar are made anew\n"
    )
    assert load_tables(TOY) == wanted
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    "foreign",
    [
        b"\xff\x00" * 5000, b"[" * 10, b"[]", b"[" * 100_000,
        b'{"rules": [{}], "end": 1, "actions": [], "gotos": []}',
    ],
    ids=["binary", "no JSON", "list", "deep", "other shape"],
)  # fmt: skip
def test_a_file_of_another_shape_is_replaced(folder: Path, foreign: bytes) -> None:
    """Its name is right; nobody but the user can have written it."""
    wanted = load_tables(TOY)
    (path,) = folder.iterdir()
    path.unlink()
    other = path.with_name(path.name.rpartition("-")[0] + f"-{sha256(foreign).hexdigest()[:32]}.json")
    other.write_bytes(foreign)
    other.chmod(0o600)
    assert load_tables(TOY) == wanted
    assert list(folder.iterdir()) == [path]


def test_tables_in_a_folder_that_others_can_write_are_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = load_tables(TOY)
    (path,) = folder.iterdir()
    folder.chmod(0o775)
    made = []

    def build(grammar: str) -> Any:
        made.append(grammar)
        return wanted

    monkeypatch.setattr(lalr, "build_tables", build)
    assert load_tables(TOY) is load_tables(TOY) is wanted
    assert made == [TOY, TOY]
    assert list(folder.iterdir()) == [path]
    reason = f"{folder} can be written by others (mode 775); `chmod go-w` mends it"
    assert capsys.readouterr().err == f"prism: the cache folder {folder} is not used: {reason}\n"


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("PRISM_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert load_tables(TOY) == build_tables(TOY)


def test_a_folder_in_place_of_the_file(folder: Path) -> None:
    load_tables(TOY)
    (path,) = folder.iterdir()
    path.unlink()
    path.mkdir()
    assert load_tables(TOY) == build_tables(TOY)
    assert list(folder.iterdir()) == [path]  # and nothing half written beside it


def test_no_place_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lalr, "cache_folder", lambda: None)
    assert load_tables(TOY) == build_tables(TOY)


def test_without_metadata_of_lark_nothing_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version is a part of the key: without it a file could be stale."""
    monkeypatch.setattr(lalr, "find_spec", dict[str, None]().get)
    assert load_tables(TOY) == build_tables(TOY)
    assert not folder.exists()


PARSE = "import sys, prism.latex.parsing.parser as p; p.parse('x'); print('lark' in sys.modules)"


def run(folder: Path, seed: str) -> str:
    environment = {**os.environ, "PRISM_CACHE_DIR": str(folder), "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", PARSE], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_only_the_first_process_loads_lark(folder: Path) -> None:
    assert [run(folder, "1"), run(folder, "2")] == ["True", "False"]


@pytest.mark.slow
def test_every_process_makes_the_same_file(tmp_path: Path) -> None:
    contents = []
    for seed in ("1", "2"):
        run(tmp_path / seed, seed)
        (path,) = (tmp_path / seed).iterdir()
        contents.append((path.name, path.read_bytes()))
        json.loads(path.read_bytes())
    assert contents[0] == contents[1]
