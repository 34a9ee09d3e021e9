"""An LALR(1) shift-reduce parser over tables that lark makes, with a disk cache of the tables.

Lark is the reference for what a grammar file means and the only maker of tables; this module is its only user. The
tables are plain numbers and names, so they are cached in the user's cache folder, and a later process neither imports
lark nor works the states out again. The loop is our own: lark's took a third of the time of a whole parse.
`tests/latex/test_lalr.py` holds both to the same results, places and expected tokens.

Shipping the tables in the wheel was refused: a generated file beside the grammar can disagree with it, and nobody
could edit `grammar/` in a checkout without a build step. A cache file is named by digests of what the tables are made
of, so it is never stale, and of its content, so a damaged or altered one is seen. It is read only where nobody else can
write (`prism.resources`). No result depends on it: where nothing can be written, each process makes its tables anew.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from prism.latex.parsing.tokens import Token
from prism.resources import cache_folder, private_folder, tell_once, why_not_private, write_whole

MAX_FILE = 4_000_000  # bytes of a cache file that are read (ours has 45,000): a foreign one cannot fill the memory

_DIGITS = 32  # of each of the two digests in the name of a cache file
_END = "$END"  # lark's name of the end of the input


class UnexpectedTokenError(Exception):
    """A token that the grammar does not allow at its place.

    Attributes:
        token: the token; None if the formula ends too early.
        accepted: terminals that the grammar allows there.
    """

    def __init__(self, token: Token | None, accepted: frozenset[str]) -> None:
        """Store the token and the terminals that the grammar allows in its place."""
        super().__init__(token, accepted)
        self.token = token
        self.accepted = accepted


# Tables -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GrammarRule:
    """One expansion of a rule of the grammar.

    Attributes:
        origin: name of the rule.
        size: number of symbols in the expansion.
        callback: builder method that makes the value; None passes the list of children to the enclosing rule, as for
            `(a b)*`.
        keeps: indices of the children that are passed on; tokens whose name begins with `_` are dropped.
        spliced: indices of those that are lists, whose items become children themselves.
        inlines: a single child replaces the rule, as `?` in the grammar says.
    """

    origin: str
    size: int
    callback: str | None
    keeps: tuple[int, ...]
    spliced: tuple[int, ...]
    inlines: bool


@dataclass(frozen=True, slots=True)
class ParseTables:
    """LALR(1) tables as numbers and names; state 0 is the start.

    Attributes:
        end: the accepting state.
        actions: one row a state: terminal to the state that it is shifted to, or to -1 - rule for a reduction.
        gotos: one row a state: name of a rule to the state after it.
        rules: the expansions, by number.
    """

    end: int
    actions: tuple[dict[str, int], ...]
    gotos: tuple[dict[str, int], ...]
    rules: tuple[GrammarRule, ...]


def load_tables(grammar: str) -> ParseTables:
    """Return the parse tables of a grammar, from the disk cache or built by lark and then cached.

    Errors:
        lark.GrammarError: the text is no grammar, or not an LALR(1) one (the author's mistake, never a formula's).
    """
    key = _cache_key(grammar)
    folder = private_folder(cache_folder()) if key else None
    tables = _read_cache(folder, key) if folder and key else None
    if tables is None:
        tables = build_tables(grammar)
        if folder and key:
            _write_cache(folder, key, tables)
    return tables


def build_tables(grammar: str) -> ParseTables:
    """Build parse tables with lark, states renumbered breadth first: lark's own numbers differ between runs."""
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
    return ParseTables(states[last], tuple(actions), tuple(gotos), tuple(_rule_from_lark(memo[key]) for key in rules))


def _rule_from_lark(serialized: dict[str, Any]) -> GrammarRule:
    """Convert lark's serialized form of a rule, a dictionary, to a GrammarRule."""
    origin, options, symbols = serialized["origin"]["name"], serialized["options"], serialized["expansion"]
    dropped = {index for index, item in enumerate(symbols) if item.get("filter_out") and not options["keep_all_tokens"]}
    alias = serialized["alias"]
    return GrammarRule(
        origin=origin,
        size=len(symbols),
        callback=None if _is_helper_rule(origin) else alias or options["template_source"] or origin,
        keeps=tuple(index for index in range(len(symbols)) if index not in dropped),
        spliced=tuple(
            i for i, item in enumerate(symbols) if item["__type__"] == "NonTerminal" and _is_helper_rule(item["name"])
        ),
        inlines=bool(options["expand1"]) and not alias,
    )


def _is_helper_rule(rule: str) -> bool:
    """Return True if a rule of this name only collects children for the rules around it, as lark's repetitions do."""
    return rule.startswith("_")


# The loop ---------------------------------------------------------------------------------------------------

Build = Callable[[list[Any]], Any]
Transition = tuple[int, int]  # the state after a reduction, and its action for the next terminal


# A grammar rule, ready to be reduced by: size of its expansion; function that makes the value from the list of children
# (None: its one child is its value); memo of `_next_transition`, by the state before the rule and the next terminal;
# state after the rule, by the state before it. A plain tuple, which the loop unpacks faster than a class.
Reduction = tuple[int, Build | None, list[dict[str, Transition]], list[int]]


@dataclass(frozen=True, slots=True)
class LalrParser:
    """A shift-reduce parser: parse tables with builder methods in place of callback names.

    Attributes:
        end: the accepting state.
        actions: one row a state: terminal to the state that it is shifted to, or to a negative index of `reductions`.
        reductions: indexed by the negative action: the last one is rule 0.
    """

    end: int
    actions: tuple[dict[str, int], ...]
    reductions: tuple[Reduction, ...]


def bind_builder(tables: ParseTables, builder: object) -> LalrParser:
    """Make a parser of parse tables and a builder.

    Args:
        tables: of the grammar.
        builder: has a method for the callback name of each rule, which makes the rule's value from the list of its
            children, tokens included.

    Errors:
        AttributeError: the builder lacks a method for a rule of the grammar.
    """
    goto = {rule.origin: [row.get(rule.origin, 0) for row in tables.gotos] for rule in tables.rules}
    transitions: dict[str, list[dict[str, Transition]]] = {origin: [{} for _ in tables.gotos] for origin in goto}
    reductions = tuple(
        (rule.size, _make_builder_call(rule, builder), transitions[rule.origin], goto[rule.origin])
        for rule in reversed(tables.rules)
    )
    actions = tuple({sys.intern(kind): action for kind, action in row.items()} for row in tables.actions)
    return LalrParser(tables.end, actions, reductions)


def _make_builder_call(rule: GrammarRule, builder: object) -> Build | None:
    """Return the function that turns the list of a rule's children, which it may change, into the rule's value.

    None means that the rule has one child, which is its value.
    """
    whole = len(rule.keeps) == rule.size
    if rule.inlines and rule.size == 1 and whole and not rule.spliced:
        return None
    call: Build = getattr(builder, rule.callback) if rule.callback else list
    if whole and not rule.inlines:
        if not rule.spliced:
            return call
        if rule.spliced == (0,):
            return _extend_first_list if rule.callback is None else lambda children: call(_extend_first_list(children))

    def build(children: list[Any]) -> Any:
        """Return the rule's value, made from the children that it keeps, with the items of lists as children."""
        kept: list[Any] = []
        for index in rule.keeps:
            if index in rule.spliced:
                kept += children[index]
            else:
                kept.append(children[index])
        return kept[0] if rule.inlines and len(kept) == 1 else call(kept)

    return build


def _extend_first_list(children: list[Any]) -> list[Any]:
    """Append all children behind the first to the first one, a list, in place, and return that list."""
    first: list[Any] = children[0]
    first += children[1:]
    return first


_LAST = Token(_END, "", -1)


def run_parser(parser: LalrParser, tokens: Sequence[Token]) -> Any:
    """Run the LALR(1) shift-reduce loop over tokens and return the value of the start rule.

    Errors:
        UnexpectedTokenError: the first token that the grammar does not allow.
    """
    actions, reductions = parser.actions, parser.reductions
    states = [0]
    values: list[Any] = []
    state = 0
    for token in (*tokens, _LAST):
        kind = token.type
        action = actions[state].get(kind, 0)
        while action < 0:
            size, build, transitions, _ = reductions[action]
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
            transition = transitions[before].get(kind)
            if transition is None:
                transition = transitions[before][kind] = _next_transition(parser, action, before, kind)
            state, action = transition
            states.append(state)
        if action == 0:
            if token is _LAST and state == parser.end:
                break
            raise UnexpectedTokenError(None if token is _LAST else token, _acceptable_terminals(parser, states))
        states.append(action)
        values.append(token)
        state = action
    return values[0]


def _next_transition(parser: LalrParser, action: int, before: int, kind: str) -> Transition:
    """Return the state after a reduction and the action there, skipping rules that only pass their child on.

    Args:
        action: the reduction, a negative number.
        before: state in which the parser began to read the children of the rule.
        kind: type of the next token.
    """
    while True:
        _, _, _, goto = parser.reductions[action]
        state = goto[before]
        action = parser.actions[state].get(kind, 0)
        if action >= 0 or parser.reductions[action][1] is not None:
            return state, action


def _acceptable_terminals(parser: LalrParser, states: list[int]) -> frozenset[str]:
    """Return the terminals that the parser accepts next; the action table of a state names some that fail later.

    Args:
        states: stack of states, the current one last.
    """
    return frozenset(kind for kind in parser.actions[states[-1]] if _is_acceptable(parser, list(states), kind))


def _is_acceptable(parser: LalrParser, states: list[int], kind: str) -> bool:
    """Return True if the terminal `kind` is accepted after the reductions that it causes; `states` is changed."""
    while (action := parser.actions[states[-1]].get(kind, 0)) < 0:
        size, _, _, goto = parser.reductions[action]
        del states[len(states) - size :]
        states.append(goto[states[-1]])
    return action > 0 or (kind == _END and states[-1] == parser.end)


# The cache --------------------------------------------------------------------------------------------------


def _cache_key(grammar: str) -> str | None:
    """Return a digest of all that tables are made of: the grammar, this module and lark's version; None if unknown."""
    version = _lark_version()
    try:
        code = Path(__file__).read_bytes()
    except OSError:  # installed without sources
        return None
    return None if version is None else sha256(f"{version}\n{grammar}\n".encode() + code).hexdigest()[:_DIGITS]


def _lark_version() -> str | None:
    """Return the name of lark's metadata folder, which holds its version; None without one. Lark is not imported."""
    spec = find_spec("lark")
    if spec is None or spec.origin is None:
        return None
    return next((path.name for path in sorted(Path(spec.origin).parent.parent.glob("lark-[0-9]*-info"))), None)


def _cache_name(key: str, content: bytes) -> str:
    """Return the name of a cache file: it says what the tables were made of, and what is in them."""
    return f"tables-{key}-{sha256(content).hexdigest()[:_DIGITS]}.json"


def _write_cache(folder: Path, key: str, tables: ParseTables) -> None:
    """Write tables to a cache file; do nothing if the folder is not writable."""
    content = json.dumps(asdict(tables), sort_keys=True, separators=(",", ":")).encode()
    write_whole(folder / _cache_name(key, content), content)


def _read_cache(folder: Path, key: str) -> ParseTables | None:
    """Return the tables cached under a key, None without any; a file that is not what its name says is removed."""
    for path in sorted(folder.glob(f"tables-{key}-*.json")):
        try:
            with path.open("rb") as file:
                content = file.read(MAX_FILE)
            is_whole = path.name == _cache_name(key, content) and why_not_private(path) is None
        except OSError:
            continue
        tables = _tables_from_json(content) if is_whole else None
        if tables is not None:
            return tables
        tell_once(f"prism: {path} is damaged or was altered; the tables of the grammar are made anew")
        with suppress(OSError):
            path.unlink()
    return None


def _tables_from_json(content: bytes) -> ParseTables | None:
    """Return the tables that a cache file holds; None if it holds something else."""
    try:
        found = json.loads(content)
        rows = [{**row, "keeps": tuple(row["keeps"]), "spliced": tuple(row["spliced"])} for row in found["rules"]]
        return ParseTables(
            found["end"], tuple(found["actions"]), tuple(found["gotos"]), tuple(GrammarRule(**row) for row in rows)
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
