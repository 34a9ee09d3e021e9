r"""The LALR(1) automaton of a grammar: tables that lark makes once, and the loop that runs over them.

Lark is the reference for what a grammar file means and the only maker of tables; this module is its only user. The
tables are plain numbers and names, so they are kept in the user's cache folder, and a later process neither imports
lark nor works the states out again. The loop is our own: lark's took a third of the time of a whole parse.
`tests/test_automaton.py` holds both to the same results, places and expected tokens.

Shipping the tables in the wheel was refused: a generated file beside the grammar can disagree with it, and nobody
could edit `grammar/` in a checkout without a build step. A cache that is keyed by the text of the grammar is never
stale. No result depends on it: where nothing can be written, each process makes its tables anew.
"""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from prism.latex.parsing.tokens import Token

MAX_FILE = 4_000_000  # bytes of a cache file that are read (ours has 45,000): a foreign one cannot fill the memory

_FORMAT = 1  # of the cache file, and a part of its name
_CACHE_VARIABLE = "PRISM_CACHE_DIR"
_END = "$END"  # lark's name for what stands behind the last token


class Unexpected(Exception):
    """A token that the grammar does not allow where it stands.

    Attributes:
        token: the token; None is the end of the formula.
        accepted: terminals that could have stood there.
    """

    def __init__(self, token: Token | None, accepted: frozenset[str]) -> None:
        super().__init__(token, accepted)
        self.token = token
        self.accepted = accepted


# Tables -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rule:
    """One expansion of a rule of the grammar.

    Attributes:
        origin: the rule it belongs to.
        size: symbols in the expansion.
        callback: method of the builder; None hands the list of children on to the rule around it, as `(a b)*` does.
        keeps: children that stay, by index; a token whose name begins with `_` does not.
        spliced: those of them that are lists, whose items are children themselves.
        inlines: a single child stands for the rule itself, as `?` in the grammar says.
    """

    origin: str
    size: int
    callback: str | None
    keeps: tuple[int, ...]
    spliced: tuple[int, ...]
    inlines: bool


@dataclass(frozen=True, slots=True)
class Tables:
    """An automaton as numbers and names; state 0 is the first.

    Attributes:
        end: the state in which all is read.
        actions: one row a state: terminal to the state that it is shifted to, or to -1 - rule for a reduction.
        gotos: one row a state: name of a rule to the state behind it.
        rules: the expansions.
    """

    end: int
    actions: tuple[dict[str, int], ...]
    gotos: tuple[dict[str, int], ...]
    rules: tuple[Rule, ...]


def tables(grammar: str) -> Tables:
    """Tables of a grammar, from the cache if it has them.

    Errors:
        lark.GrammarError: the text is no grammar, or not an LALR(1) one (the author's mistake, never a formula's).
    """
    path = _cache_file(grammar)
    kept = _loaded(path) if path else None
    if kept is None:
        kept = made(grammar)
        if path:
            _store(path, kept)
    return kept


def made(grammar: str) -> Tables:
    """Tables of a grammar as lark makes them, states numbered by breadth: lark's own numbers differ between runs."""
    from lark import Lark
    from lark.grammar import Rule as LarkRule
    from lark.lexer import TerminalDef

    engine = Lark(grammar, parser="lalr", lexer="basic", maybe_placeholders=False)
    data, memo = engine.memo_serialize([TerminalDef, LarkRule])
    found = data["parser"]["parser"]
    (first,), (last,) = found["start_states"].values(), found["end_states"].values()
    names = found["tokens"]
    states: dict[int, int] = {first: 0}
    rules: dict[int, int] = {}
    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    waiting = deque([first])
    while waiting:
        moves = found["states"][waiting.popleft()]
        actions.append({})
        gotos.append({})
        for name, (reduces, target) in sorted(
            ((names[key], move) for key, move in moves.items()), key=lambda row: row[0]
        ):
            if reduces:
                actions[-1][name] = -1 - rules.setdefault(target["@"], len(rules))
                continue
            if target not in states:
                states[target] = len(states)
                waiting.append(target)
            (actions if name.isupper() else gotos)[-1][name] = states[target]
    return Tables(states[last], tuple(actions), tuple(gotos), tuple(_rule(memo[key]) for key in rules))


def _rule(found: dict[str, Any]) -> Rule:
    """A rule out of what lark writes down of it."""
    origin, options, symbols = found["origin"]["name"], found["options"], found["expansion"]
    dropped = {index for index, item in enumerate(symbols) if item.get("filter_out") and not options["keep_all_tokens"]}
    alias = found["alias"]
    return Rule(
        origin=origin,
        size=len(symbols),
        callback=None if _is_list(origin) else alias or options["template_source"] or origin,
        keeps=tuple(index for index in range(len(symbols)) if index not in dropped),
        spliced=tuple(
            i for i, item in enumerate(symbols) if item["__type__"] == "NonTerminal" and _is_list(item["name"])
        ),
        inlines=bool(options["expand1"]) and not alias,
    )


def _is_list(rule: str) -> bool:
    """Whether a rule of this name is a part of the rules around it; lark names repetitions so."""
    return rule.startswith("_")


# The loop ---------------------------------------------------------------------------------------------------

Build = Callable[[list[Any]], Any]
Landing = tuple[int, int]  # the state behind a rule, and what is done there with the token that comes


@dataclass(frozen=True, slots=True)
class Reduction:
    """A rule at work.

    Attributes:
        size: symbols of its expansion.
        build: makes its value from the list of children; None if its one child is its value.
        behind: for each state before the rule, the state behind it.
        landings: the same with what comes of it, for each state before the rule and token met so far: where rules
            only hand their child on (a symbol is a factor, a run, a quotient, a product, a sum), the last of them.
    """

    size: int
    build: Build | None
    behind: list[int]
    landings: list[dict[str, Landing]]


@dataclass(frozen=True, slots=True)
class Machine:
    """Tables with the methods of a builder in place of their names.

    Attributes:
        end: the state in which all is read.
        actions: as in `Tables`.
        reductions: by action, which is negative: the last one is the first rule.
        steps: `size`, `build` and `landings` of the reductions, as the loop takes them apart.
    """

    end: int
    actions: tuple[dict[str, int], ...]
    reductions: tuple[Reduction, ...]
    steps: tuple[tuple[int, Build | None, list[dict[str, Landing]]], ...]


def machine(of: Tables, builder: object) -> Machine:
    """Put the methods of a builder into tables.

    Args:
        of: the tables.
        builder: one method a callback; it gets the list of children, tokens included.

    Errors:
        AttributeError: the builder lacks a rule of the grammar.
    """
    behind = {rule.origin: [row.get(rule.origin, 0) for row in of.gotos] for rule in of.rules}
    landings: dict[str, list[dict[str, Landing]]] = {origin: [{} for _ in of.gotos] for origin in behind}
    reductions = tuple(
        Reduction(rule.size, _build(rule, builder), behind[rule.origin], landings[rule.origin])
        for rule in reversed(of.rules)
    )
    actions = tuple({sys.intern(kind): action for kind, action in row.items()} for row in of.actions)
    return Machine(of.end, actions, reductions, tuple((it.size, it.build, it.landings) for it in reductions))


def _build(rule: Rule, builder: object) -> Build | None:
    """What makes the value of a reduction out of its children, which it may change: nobody else has them."""
    whole = len(rule.keeps) == rule.size
    if rule.inlines and rule.size == 1 and whole and not rule.spliced:
        return None
    call: Build = getattr(builder, rule.callback) if rule.callback else list
    if whole and not rule.inlines:
        if not rule.spliced:
            return call
        if rule.spliced == (0,):
            return _grown if rule.callback is None else lambda children: call(_grown(children))
        if rule.spliced == (rule.size - 1,):
            return lambda children: call(children[:-1] + children[-1])

    def build(children: list[Any]) -> Any:
        kept: list[Any] = []
        for index in rule.keeps:
            if index in rule.spliced:
                kept += children[index]
            else:
                kept.append(children[index])
        return kept[0] if rule.inlines and len(kept) == 1 else call(kept)

    return build


def _grown(children: list[Any]) -> list[Any]:
    """The list that comes first, with the others behind it: a list of n items grows n times and is never copied."""
    first: list[Any] = children[0]
    first += children[1:]
    return first


_LAST = Token(_END, "", -1)


def reduced(by: Machine, tokens: Sequence[Token]) -> Any:
    """The value of the whole, built from the leaves up.

    Errors:
        Unexpected: the first token that the grammar does not allow.
    """
    actions, steps = by.actions, by.steps
    states = [0]
    values: list[Any] = []
    state = 0
    for token in (*tokens, _LAST):
        kind = token.type
        action = actions[state].get(kind, 0)
        while action < 0:
            size, build, landings = steps[action]
            if size == 1:  # most of them
                if build is not None:
                    values[-1] = build(values[-1:])
                states.pop()
            else:
                start = len(values) - size
                children = values[start:]
                del values[start:], states[start + 1 :]
                values.append(build(children) if build is not None else children)
            before = states[-1]
            landing = landings[before].get(kind)
            if landing is None:
                landing = landings[before][kind] = _landing(by, action, before, kind)
            state, action = landing
            states.append(state)
        if action == 0:
            if token is _LAST and state == by.end:
                break
            raise Unexpected(None if token is _LAST else token, _accepted(by, states))
        states.append(action)
        values.append(token)
        state = action
    return values[0]


def _landing(by: Machine, action: int, before: int, kind: str) -> Landing:
    """Where a reduction leads with this token next, behind all rules that only hand their child on."""
    while True:
        state = by.reductions[action].behind[before]
        action = by.actions[state].get(kind, 0)
        if action >= 0 or by.reductions[action].build is not None:
            return state, action


def _accepted(by: Machine, states: list[int]) -> frozenset[str]:
    """Terminals that can be shifted here; a row of the table holds some that fail after reductions."""
    return frozenset(kind for kind in by.actions[states[-1]] if _is_accepted(by, list(states), kind))


def _is_accepted(by: Machine, states: list[int], kind: str) -> bool:
    while (action := by.actions[states[-1]].get(kind, 0)) < 0:
        rule = by.reductions[action]
        del states[len(states) - rule.size :]
        states.append(rule.behind[states[-1]])
    return action > 0 or (kind == _END and states[-1] == by.end)


# The cache --------------------------------------------------------------------------------------------------


def cache_folder() -> Path | None:
    """Where tables are kept: `PRISM_CACHE_DIR`, else the user's cache folder; None if there is no such place."""
    chosen = os.environ.get(_CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
        return Path(base) / "prism" / "Cache" if base else None
    given = os.environ.get("XDG_CACHE_HOME", "")
    try:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "prism"
        return (Path(given) if given.startswith("/") else Path.home() / ".cache") / "prism"  # relative: to be ignored
    except RuntimeError:  # an account without a home
        return None


def _cache_file(grammar: str) -> Path | None:
    """The file of a grammar; its name holds all that its content depends on."""
    folder, version = cache_folder(), _lark_version()
    if folder is None or version is None:
        return None
    key = sha256(f"{_FORMAT}\n{version}\n{grammar}".encode()).hexdigest()
    return folder / f"tables-{key[:32]}.json"


def _lark_version() -> str | None:
    """Version of lark by the name of its metadata folder; to ask `importlib.metadata` costs 30 ms, lark itself 40."""
    spec = find_spec("lark")
    if spec is None or spec.origin is None:
        return None
    return next((path.name for path in sorted(Path(spec.origin).parent.parent.glob("lark-[0-9]*-info"))), None)


def _store(path: Path, of: Tables) -> None:
    """Write a file that no other process ever sees half written; a folder that cannot be written is left alone."""
    from tempfile import NamedTemporaryFile

    text = json.dumps(asdict(of), sort_keys=True, separators=(",", ":"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".tmp", delete=False) as file:
            half = Path(file.name)
            file.write(f"{sha256(text.encode()).hexdigest()}\n{text}\n")
    except OSError:
        return
    try:
        half.replace(path)
    except OSError:
        half.unlink(missing_ok=True)


def _loaded(path: Path) -> Tables | None:
    """Tables of a cache file, or None: not there, not to be read, damaged, or not ours."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE)
    except OSError:
        return None
    digest, _, text = content.partition(b"\n")
    text = text.rstrip(b"\n")
    if sha256(text).hexdigest().encode() != digest:
        return None
    try:
        found = json.loads(text)
        rows = [{**row, "keeps": tuple(row["keeps"]), "spliced": tuple(row["spliced"])} for row in found["rules"]]
        return Tables(found["end"], tuple(found["actions"]), tuple(found["gotos"]), tuple(Rule(**row) for row in rows))
    except (
        ValueError,
        TypeError,
        KeyError,
        RecursionError,
    ):  # whole, but of another shape: written by another version of this module
        return None
