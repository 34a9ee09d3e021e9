r"""Macros: commands that a text or an author defines, expanded in LaTeX before a formula is looked for.

A text is expanded as a whole, so that a macro may hold a relation, a box, an environment or words, and every rule sees
what a page would show. `Expansion` maps offsets back: a formula's span points at the use of the macro in the text.

A macro is read if it has one meaning. One that is defined twice with different bodies has none, nor has a command of
LaTeX that is defined as something else: a formula with it is refused, for what it says depends on the place. What LaTeX
alone does not have (`\dv`, `\SI`, `\abs`) is the author's to define, also where PRISM knows a package's meaning. The
commands of packages are macros too, read from `grammar/packages.toml`, which a text need not define.

Refused: macros in the parser's tokens. The extractor cuts at relations, boxes and environments, which it would not see.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice

from prism import budget
from prism.errors import LatexSyntaxError, named_type
from prism.latex.extraction.hidden import is_in_math
from prism.resources import resource

MAX_MACROS = 200  # of one text or table; a preamble of an author has some fifty
MAX_BODY = 1_000  # characters of a definition's body, and of an argument of a macro
MAX_ARGUMENTS = 9  # of one macro, as in TeX
MAX_DEPTH = 8  # macros in the bodies of others; what is deeper, or calls itself, is not expanded
MAX_USES = 5_000  # expansions of one text
_MAX_HEADS = 1_000  # beginnings of definitions that are looked at in one text
MAX_ADDED = 50_000  # characters that the expansions of one text write; stops a macro that doubles at each level
_CHARACTER, _USE = 5, 2_000  # operations for each character that is looked through, and for each expansion
_REDEFINED = r"\redefined"  # stands before a command without one meaning; no formula with it is read

_WORD_COMMAND = re.compile(r"\\([A-Za-z]+)")
_MARK = re.compile(r"\\(?:[A-Za-z]+|.)|[^\\]", re.DOTALL)
_COMMAND = re.compile(r"\\(?:([A-Za-z]+)|.)", re.DOTALL)
_DEFINITION = re.compile(
    r"\\(?P<how>(?:re)?newcommand|providecommand|DeclareRobustCommand|DeclareMathOperator|[gex]?def|let"
    r"|(?:New|Renew|Provide|Declare)DocumentCommand|DeclarePairedDelimiter)(?![A-Za-z])(?P<star>\*?)\s{0,8}"
    r"(?:\{\s{0,8}\\(?P<braced>[A-Za-z]{1,40})\s{0,8}\}|\\(?P<bare>[A-Za-z]{1,40}))"
)
_DEFINING = ("command", "Command", r"\Declare", "def", r"\let")
_COUNT = re.compile(r"\s{0,8}(?:\[(\d)\])?\s{0,8}(?:\[([^\[\]\n]{0,80})\])?\s{0,8}")
_NUMBERED = re.compile(r"((?:#[1-9]){0,9})\s{0,8}")
_LETTERED = re.compile(r"\s{0,8}\{\s*(?:O\{([^{}]{0,80})\}|(o))?\s*((?:m\s*){0,9})\}\s{0,8}")
_EQUALS = re.compile(r"\s{0,8}=?\s{0,8}")
_LONGEST = 42  # characters of the name of a command that are looked at
_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z]+$")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|[^\s{}$&%]", re.DOTALL)
_SPACE = re.compile(r"\s{0,8}")
_OPTION = re.compile(r"\s{0,8}\[([^\[\]]{0,80})\]")
_BLANKS = re.compile(r"(\\[A-Za-z]+)\s+(?=[A-Za-z])|\s+")
_PLACE = re.compile(r"#(\d?)")
# Before a macro: a command that takes one token as its argument, `\frac\x2`, perhaps behind the first of two.
_TAKES_TOKEN = re.compile(
    r"\\(?:([dtc]?frac|[dt]?binom)\s{0,8}(?:\{[^{}]{0,80}\}|\w|\\[A-Za-z]{1,40})?|([A-Za-z]{1,40}))\s{0,8}(?:\[[^\[\]]{0,20}\])?$"
)
_LOOKED_BACK = 140  # characters before a macro in which such a command is looked for
_NEAR = 40  # characters beside a definition in which delimiters are looked for
# Commands that packages have and LaTeX has not; each author may define them.
_OF_PACKAGES = frozenset(
    "dv pdv odv derivative partialderivative comm commutator acomm anticommutator abs norm bra ket braket expval mean"
    " pb curl grad dd diff differential vb va vc vu uvec vv bs Vec Bar Hat Tilde bold vectorbold mathbold mathbfit"
    " SI si num ang unit qty zu degree celsius degreeCelsius sfrac nicefrac qed qedsymbol earth sun arc lambdabar euro"
    " mod node draw ce".split()
)
_FUNCTIONS_OF_LATEX = frozenset(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg liminf limsup ln log max min Pr"
    " sec sin sinh sup tan tanh Re Im".split()
)
_OTHERS_OF_LATEX = frozenset(
    "sqrt left right middle begin end item label tag ref eqref cite rule vspace hspace phantom hphantom vphantom color"
    " textcolor quad qquad boldmath bf rm it sl tt cal operatorname limits nolimits big Big bigg Bigg bigl bigr Bigl"
    " Bigr intertext shortintertext text sout cancel".split()
)


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which a command of a package takes its arguments.

    Attributes:
        parts: what has to stand behind the command, in order: signs, `{#}` for an argument in braces, `#` for one that
            ends at the next sign.
        body: LaTeX, with `#1` to `#9` for the arguments.
    """

    parts: tuple[str, ...]
    body: str


@dataclass(frozen=True, slots=True)
class Macro:
    r"""One macro.

    Attributes:
        body: LaTeX, with `#1` to `#9` for the arguments.
        n_arguments: 0 to 9.
        default: of the first argument, which is optional then, in brackets; None if it is not.
        has_meaning: False if it must not be expanded: defined twice, in a form that is not read, or a command of LaTeX.
        known_from: offset in the text behind which it is known.
        forms: of a package's command, which has no body of its own; where none fits the command stays as it is.
    """

    body: str
    n_arguments: int = 0
    default: str | None = None
    has_meaning: bool = True
    known_from: int = 0
    forms: tuple[Form, ...] = ()

    @property
    def is_plain(self) -> bool:
        """True if a table can hold it: it has a meaning, and its body names all of its arguments."""
        n_named = max((int(place[1]) for place in _PLACE.finditer(self.body)), default=0)
        return self.has_meaning and self.default is None and n_named == self.n_arguments


Macros = Mapping[str, Macro]  # by name, without the backslash
NO_MACROS: Macros = {}


@dataclass(frozen=True, slots=True)
class Expansion:
    """A text with its macros expanded and their definitions blanked.

    Attributes:
        text: the expanded text.
        uses: of each expansion, in order: start and end in the original, start and end in `text`.
    """

    text: str
    uses: tuple[tuple[int, int, int, int], ...] = ()

    def span_in_original(self, span: tuple[int, int]) -> tuple[int, int]:
        """Return a span of the expanded text in the original, where a use of a macro is never cut."""
        return self._original(span[0], is_end=False), self._original(span[1], is_end=True)

    def offset_in_text(self, offset: int) -> int:
        """Return the offset in the expanded text of an offset in the original; within a use, that of its start."""
        at = bisect_right(self.uses, offset, key=lambda use: use[0]) - 1
        if at < 0:
            return offset
        _, end, new_start, new_end = self.uses[at]
        return new_start if offset < end else new_end + offset - end

    def _original(self, offset: int, *, is_end: bool) -> int:
        """Return the offset in the original: within an expansion that of the use's start, or of its end."""
        at = bisect_right(self.uses, offset - is_end, key=lambda use: use[2]) - 1
        if at < 0:
            return offset
        start, end, _, new_end = self.uses[at]
        if offset - is_end < new_end:
            return end if is_end else start
        return offset - new_end + end


# Definitions. -------------------------------------------------------------------------------------------------------


def defines_macros(text: str) -> bool:
    """Return True if a text may define a macro; a quick look."""
    return any(word in text for word in _DEFINING)


def defined_macros(text: str, offset: int = 0) -> dict[str, Macro]:
    r"""Return the macros that a text defines by `\newcommand`, `\def` and the like; one without meaning is marked.

    Args:
        offset: of the text in that of the whole solution.

    >>> defined_macros(r"\newcommand{\vc}[1]{\vec{#1}}")["vc"].body
    '\\vec{#1}'
    """
    found: dict[str, Macro] = {}
    for name, macro, _, end in _definitions(text):
        known = found.get(name)
        if known is None:
            found[name] = replace(macro, known_from=offset + end)
        elif not _is_same(known, macro):
            found[name] = replace(known, has_meaning=False)
    return found


def merged(earlier: Macros, later: Macros) -> dict[str, Macro]:
    """Return the macros of two windows of one text: what they define differently has no meaning."""
    both = {**later, **earlier}
    for name in earlier.keys() & later.keys():
        if not _is_same(earlier[name], later[name]):
            both[name] = replace(earlier[name], has_meaning=False)
    return both


def _is_same(first: Macro, second: Macro) -> bool:
    """Return True if two definitions of one macro say the same, but for blanks."""
    alike = (first.n_arguments, first.default, first.has_meaning) == (
        second.n_arguments, second.default, second.has_meaning,
    )  # fmt: skip
    return alike and _without_blanks(first.body) == _without_blanks(second.body)


def _without_blanks(body: str) -> str:
    """Return a body without its blanks, but for one behind a command that a letter follows."""
    return _BLANKS.sub(lambda blank: f"{blank[1]} " if blank[1] else "", body)


def _definitions(text: str) -> Iterator[tuple[str, Macro, int, int]]:
    """Yield name, macro, start and end of each definition in a text, at most `MAX_MACROS`, in order."""
    n_found = behind = 0
    for head in islice(_DEFINITION.finditer(text), _MAX_HEADS):
        if head.start() < behind or n_found == MAX_MACROS or _is_in_comment(text, head.start()):
            continue
        name = head["braced"] or head["bare"]
        macro, behind = _read_definition(text, head)
        if is_of_latex(name):
            if head["how"] in ("providecommand", "ProvideDocumentCommand") or _reads_as(macro, name):
                yield name, replace(macro, body="\\" + name, n_arguments=0, default=None), head.start(), behind
                n_found += 1
                continue
            macro = replace(macro, has_meaning=False)
        n_found += 1
        yield name, macro, head.start(), behind


def _is_in_comment(text: str, at: int) -> bool:
    """Return True if a percent sign without a backslash stands before an offset, in its line."""
    sign = text.rfind("%", text.rfind("\n", 0, at) + 1, at)
    return sign >= 0 and text[sign - 1 : sign] != "\\"


def _read_definition(text: str, head: re.Match[str]) -> tuple[Macro, int]:
    """Return the macro that a definition makes, without meaning if its form is not read, and the offset behind it."""
    how, at = head["how"], head.end()
    n_arguments, default = 0, None
    if how == "DeclarePairedDelimiter":
        opening, closing = _argument(text, at), None
        closing = _argument(text, opening[1]) if opening else None
        if opening is None or closing is None:
            return _unreadable(at)
        return Macro(rf"\left{opening[0]} #1 \right{closing[0]}", 1), closing[1]
    if how == "let":
        equals = _EQUALS.match(text, at)
        at = equals.end() if equals else at
    elif how.endswith("def"):
        numbered = _NUMBERED.match(text, at)
        n_arguments, at = (len(numbered[1]) // 2, numbered.end()) if numbered else (0, at)
        if not text.startswith("{", at):  # arguments with signs between them
            return _unreadable(at)
    elif how.endswith("DocumentCommand"):
        lettered = _LETTERED.match(text, at)
        if lettered is None:
            return _unreadable(at)
        has_option = lettered[1] is not None or lettered[2] is not None
        n_arguments = lettered[3].count("m") + has_option
        default, at = (lettered[1] or "" if has_option else None), lettered.end()
    elif how != "DeclareMathOperator" and (count := _COUNT.match(text, at)):
        n_arguments, default, at = int(count[1] or 0), count[2], count.end()
    body = _argument(text, at)
    if body is None or len(body[0]) > MAX_BODY or not _fits(body[0], n_arguments):
        return _unreadable(at if body is None else body[1])
    if how == "DeclareMathOperator":
        return Macro(rf"\operatorname{{{body[0]}}}"), body[1]
    return Macro(body[0], n_arguments, default), body[1]


def _unreadable(end: int) -> tuple[Macro, int]:
    """Return a macro without meaning, and where its definition ends."""
    return Macro("", has_meaning=False), end


def _fits(body: str, n_arguments: int) -> bool:
    """Return True if a body names no argument beyond the first `n_arguments`."""
    return all(place[1] and 0 < int(place[1]) <= n_arguments for place in _PLACE.finditer(body))


def _argument(text: str, at: int) -> tuple[str, int] | None:
    """Return the argument of TeX at an offset, without its braces, and the offset behind it; None if there is none."""
    space = _SPACE.match(text, at)
    at = space.end() if space else at
    if not text.startswith("{", at):
        token = _TOKEN.match(text, at)
        return (token.group(), token.end()) if token else None
    depth = 0
    for mark in _BRACE.finditer(text, at, at + MAX_BODY + 2):
        depth += {"{": 1, "}": -1}.get(mark.group(), 0)
        if not depth and mark.group() == "}":
            return text[at + 1 : mark.start()], mark.end()
    return None


@lru_cache(maxsize=1024)
def is_of_latex(name: str) -> bool:
    """Return True for a command of LaTeX itself, or of amsmath, which no macro may replace; `name` has no backslash."""
    from prism.latex.parsing.commands import RARE
    from prism.latex.parsing.names import ACCENTS, DOTS, FRACTIONS, ONLY_IN_NAMES, ROMAN, UNWRAPPED
    from prism.latex.parsing.tokens import RELATION_TEXT, TYPES, is_spacing

    if name in _OF_PACKAGES:
        return False
    command = "\\" + name
    tables = (RARE, ACCENTS, DOTS, FRACTIONS, ONLY_IN_NAMES, ROMAN, UNWRAPPED, RELATION_TEXT, TYPES)
    known = any(command in table for table in tables) or is_spacing(command)
    return known or name in _FUNCTIONS_OF_LATEX or name in _OTHERS_OF_LATEX


def _reads_as(macro: Macro, name: str) -> bool:
    r"""Return True if a macro is read as the command of its name is, as `\phi` defined as `\varphi`."""
    from prism.latex.parsing.parser import parse

    if not macro.has_meaning or macro.default is not None:
        return False
    letters = "".join(f"{{{letter}}}" for letter in "uwvxyzpqr"[: macro.n_arguments])
    ways = (f"\\{name}{letters}", f"{_filled(macro.body, list('uwvxyzpqr'[: macro.n_arguments]))}")
    try:
        plain, defined = (parse(f"a {way} b") for way in ways)
    except LatexSyntaxError:
        return False
    return (plain.members, plain.relations) == (defined.members, defined.relations)


# Expansion. ---------------------------------------------------------------------------------------------------------


def expand(text: str, macros: Macros, offset: int = 0) -> Expansion:
    r"""Return a text with its macros expanded and their definitions blanked; what exceeds a limit is marked as unread.

    Args:
        offset: of the text in that of the whole solution; a macro counts behind its definition.

    >>> expand(r"$\vc F = m \vc{a}$", {"vc": Macro(r"\vec{#1}", 1)}).text
    '$\\vec{F} = m \\vec{a}$'
    """
    if not macros:
        return Expansion(text)
    budget.charge(len(text) * _CHARACTER)
    room = _Room(MAX_ADDED, MAX_USES)
    pieces: list[str] = []
    uses: list[tuple[int, int, int, int]] = []
    behind = length = 0
    for start, end, written in _replacements(text, macros, offset, room):
        pieces += (text[behind:start], written)
        length += start - behind
        uses.append((start, end, length, length + len(written)))
        length += len(written)
        behind = end
    return Expansion("".join((*pieces, text[behind:])), tuple(uses))


@dataclass(slots=True)
class _Room:
    """What the expansions of one text may still write, in characters, and how many they may be."""

    characters: int
    uses: int

    def begin(self) -> bool:
        """Count one use; False if there is no room for it."""
        self.uses -= 1
        return self.uses >= 0 and self.characters >= 0

    def write(self, n_characters: int) -> bool:
        """Take room for so many characters; False if there is none."""
        self.characters -= n_characters
        return self.characters >= 0


def _replacements(text: str, macros: Macros, offset: int, room: _Room) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and replacement of each definition and each use of a macro at the top of a text, in order."""
    definitions = iter(_blanked_spans(text))
    hidden = next(definitions, None)
    behind = 0
    for command in _COMMAND.finditer(text):
        at = command.start()
        while hidden is not None and at >= hidden[0]:
            if hidden[0] >= behind:  # no argument of a macro has taken it
                yield hidden[0], hidden[1], re.sub(r"[^\n]", " ", text[hidden[0] : hidden[1]])
                behind = hidden[1]
            hidden = next(definitions, None)
        macro = macros.get(command[1] or "")
        if at < behind or macro is None or offset + at < macro.known_from:
            continue
        expanded = _expanded_use(text, command, macros, room, MAX_DEPTH)
        written, end = expanded or (f"{_REDEFINED}{command.group()}", command.end())
        yield at, end, written
        behind = end


def _blanked_spans(text: str) -> list[tuple[int, int]]:
    r"""Return the spans of the definitions of a text, with the delimiters of a formula that holds nothing else."""
    runs: list[tuple[int, int]] = []
    for _, _, start, end in _definitions(text):
        if runs and not text[runs[-1][1] : start].strip():
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return [_with_delimiters(text, *run) for run in runs]


def _with_delimiters(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span with the delimiters of a formula around it, if nothing but blanks stands between."""
    before, after = text[max(0, start - _NEAR) : start].rstrip(), text[end : end + _NEAR].lstrip()
    for opening, closing in (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")):
        if before.endswith(opening) and after.startswith(closing):
            at = text.rfind(opening, 0, start)
            if opening[0] != "$" or not is_in_math(text, at):
                return at, text.find(closing, end) + len(closing)
    return start, end


def _expanded_use(text: str, use: re.Match[str], macros: Macros, room: _Room, depth: int) -> tuple[str, int] | None:
    """Return what a use of a macro expands to, and the offset behind the use; None if it is not expanded."""
    macro, end = macros[use[1]], use.end()
    if macro.body == "\\" + use[1] and macro.has_meaning:  # a command of LaTeX that keeps its meaning
        return macro.body, end
    if not macro.has_meaning or not depth or not room.begin():
        return None
    taken = _first_fitting(text, end, macro.forms) if macro.forms else _arguments(text, end, macro)
    if taken is None:
        return (use.group(), end) if macro.forms else None
    body, arguments, end = taken
    size = len(body) + sum(len(arguments[int(place[1]) - 1]) for place in _PLACE.finditer(body))
    budget.charge(_USE + (end - use.start() + size) * _CHARACTER)
    if not room.write(size):
        return None
    written = _expanded_body(_filled(body, arguments), macros, room, depth - 1)
    if written is None:
        return None
    if _is_token_argument(text, use.start()):
        written = f"{{{written}}}"
    elif written[-1:].isalpha() and text[end : end + 1].isalpha() and _ENDS_IN_COMMAND.search(written[-_LONGEST:]):
        written += " "  # `\alpha` before a letter
    return written, end


def _arguments(text: str, at: int, macro: Macro) -> tuple[str, list[str], int] | None:
    """Return the body of a macro, its arguments and the offset behind them; None if an argument is missing."""
    arguments: list[str] = []
    if macro.default is not None:
        option = _OPTION.match(text, at)
        arguments.append(option[1] if option else macro.default)
        at = option.end() if option else at
    while len(arguments) < macro.n_arguments:
        argument = _argument(text, at)
        if argument is None:
            return None
        arguments.append(argument[0])
        at = argument[1]
    return macro.body, arguments, at


def _expanded_body(text: str, macros: Macros, room: _Room, depth: int) -> str | None:
    """Return a body with its arguments filled in and its own macros expanded; None if one of them is not."""
    pieces: list[str] = []
    behind = 0
    for command in _COMMAND.finditer(text):
        if command.start() >= behind and command[1] in macros:
            expanded = _expanded_use(text, command, macros, room, depth)
            if expanded is None:
                return None
            pieces += (text[behind : command.start()], expanded[0])
            behind = expanded[1]
    return "".join((*pieces, text[behind:]))


def _filled(body: str, arguments: list[str]) -> str:
    r"""Return a body with its arguments in their places; a blank keeps `\vec#1` apart from a letter.

    >>> _filled(r"\vec#1", ["F"])
    '\\vec F'
    """
    pieces: list[str] = []
    behind = 0
    for place in _PLACE.finditer(body):
        before = body[behind : place.start()]
        argument = arguments[int(place[1]) - 1] if place[1] else place.group()
        is_glued = (
            argument[:1].isalpha() and before[-1:].isalpha() and bool(_ENDS_IN_COMMAND.search(before[-_LONGEST:]))
        )
        pieces += (before, " " if is_glued else "", argument)
        behind = place.end()
    return "".join((*pieces, body[behind:]))


def _is_token_argument(text: str, at: int) -> bool:
    r"""Return True if what stands at an offset is an argument without braces, of `\frac` or an accent: `\frac\x2`."""
    from prism.latex.parsing.names import ACCENTS, DOTS, ROMAN, UNWRAPPED

    before = _TAKES_TOKEN.search(text[max(0, at - _LOOKED_BACK) : at])
    if before is None:
        return False
    command = f"\\{before[2]}"
    return (
        bool(before[1]) or before[2] == "sqrt" or any(command in table for table in (ACCENTS, DOTS, ROMAN, UNWRAPPED))
    )


# Commands of packages. ----------------------------------------------------------------------------------------------

_NAMES = re.compile(r"\\[A-Za-z]+(?: \\[A-Za-z]+)* ?")
_PART = re.compile(r"\{#\d\}|#\d|\{\\[a-z]+\}|\\[a-z]+|.")
_SIZES = re.compile(r"(?:\s{0,8}(?:\*|\\[bB]igg?(?![A-Za-z])))*")  # before the arguments; they change nothing
_CLOSING = {"(": ")", "[": "]"}


@cache
def package_macros() -> Macros:
    """Return the commands of packages of `grammar/packages.toml`, by name."""
    forms: dict[str, list[Form]] = {}
    for lines in tomllib.loads(resource("grammar/packages.toml").read_text("utf-8")).values():
        for written, body in lines.items():
            names = _NAMES.match(written)
            assert names
            parts = tuple(re.sub(r"#\d", "#", part) for part in _PART.findall(written, names.end()))
            for name in names.group().split():
                forms.setdefault(name[1:], []).append(Form(parts, body))
    return {name: Macro("", forms=tuple(of_name)) for name, of_name in forms.items()}


def uses_packages(text: str) -> bool:
    """Return True if a text holds a command of `package_macros`."""
    return "\\" in text and not package_macros().keys().isdisjoint(_WORD_COMMAND.findall(text))


def _first_fitting(text: str, at: int, forms: tuple[Form, ...]) -> tuple[str, list[str], int] | None:
    """Return the body of the first form that fits at an offset, as `_arguments` does; None if none fits."""
    for form in forms:
        taken = _fitting(text, at, form.parts)
        if taken is not None:
            return form.body, *taken
    return None


def _fitting(text: str, at: int, parts: tuple[str, ...]) -> tuple[list[str], int] | None:
    """Return the arguments at an offset in the form of these parts, and the offset behind them; None if none stand."""
    arguments: list[str] = []
    if parts and parts[0] in ("{#}", "(", "[", "|"):
        sizes = _SIZES.match(text, at)
        at = sizes.end() if sizes else at
    for index, part in enumerate(parts):
        space = _SPACE.match(text, at)
        at = space.end() if space else at
        if part == "{#}":
            braced = _argument(text, at) if text.startswith("{", at) else None
        elif part == "#":
            braced = _argument_up_to(text, at, parts[index - 1] if index else "", parts[index + 1])
        elif text.startswith(part, at):
            at += len(part)
            continue
        else:
            return None
        if braced is None or not braced[0].strip():
            return None
        arguments.append(braced[0])
        at = braced[1]
    return arguments, at


def _argument_up_to(text: str, at: int, opening: str, sign: str) -> tuple[str, int] | None:
    """Return what stands before a sign outside of braces, and the sign's offset; None if it does not come.

    Args:
        opening: what stands before the argument: of a bracket the sign is the one that closes it.
    """
    braces = brackets = 0
    for mark in _MARK.finditer(text, at, at + MAX_BODY):
        found = mark.group()
        if not braces and not brackets and found == sign:
            return text[at : mark.start()], mark.start()
        braces += (found == "{") - (found == "}")
        if _CLOSING.get(opening) == sign and not braces:
            brackets += (found == opening) - (found == sign)
        if braces < 0:
            return None
    return None


# A table of an author. ----------------------------------------------------------------------------------------------


def read_macros(table: object, faults: list[str], where: str = "macros") -> dict[str, Macro]:
    r"""Read a table of macros, name to body; the number of arguments is the largest `#n` of the body.

    A name may have its backslash or not. `\vc{#1}` may be written behind the name as well: `'\vc' = '\vec{#1}'`.

    Args:
        faults: collects what is wrong, each naming its entry; such entries are left out.
    """
    if not isinstance(table, Mapping):
        faults.append(rf"{where}: {named_type(table)} is no table of macros; write '\vc' = '\vec{{#1}}'")
        return {}
    if len(table) > MAX_MACROS:
        faults.append(f"{where}: {len(table)} entries; at most {MAX_MACROS} are read")
        return {}
    found: dict[str, Macro] = {}
    for key, body in table.items():
        name = str(key).removeprefix("\\")
        wrong = _entry_fault(name, body) or ("stands twice" if name in found else "")
        if wrong:
            faults.append(f"{where}, {str(key)[:60]}: {wrong}")
        else:
            n_arguments = max((int(place[1]) for place in _PLACE.finditer(body)), default=0)
            found[name] = Macro(body, n_arguments)
    faults += [rf"{where}, \{name}: is made of itself, by way of \{by}" for name, by in _circles(found)]
    return found


def _entry_fault(name: str, body: object) -> str:
    """Return what is wrong with one entry of a table of macros; empty if nothing is."""
    if not name.isascii() or not name.isalpha() or len(name) > 40:
        return "a macro is named by at most 40 letters, with a backslash before them or not"
    if not isinstance(body, str):
        return f"{named_type(body)} is no LaTeX text"
    if len(body) > MAX_BODY:
        return f"has {len(body)} characters; at most {MAX_BODY} are read"
    if _argument(f"{{{body}}}", 0) != (body, len(body) + 2):
        return f"`{body[:60]}` has braces that do not close"
    numbers = {place[1] for place in _PLACE.finditer(body)}
    if numbers and numbers != {str(n) for n in range(1, len(numbers) + 1)}:
        return f"`{body[:60]}` must name its arguments #1, #2, ... without a gap"
    if is_of_latex(name):
        return "is a command of LaTeX, which a macro cannot replace; take another name"
    return ""


def _circles(macros: Macros) -> Iterator[tuple[str, str]]:
    """Yield each macro that is made of itself, with the macro in its body that leads back to it."""
    inside = {
        name: {use[1] for use in _COMMAND.finditer(macro.body) if use[1] in macros} for name, macro in macros.items()
    }
    for name, direct in inside.items():
        for by in sorted(direct):
            reached, waiting = {by}, [by]
            while waiting:
                new = inside[waiting.pop()] - reached
                reached |= new
                waiting += new
            if name in reached:
                yield name, by
                break


def expanded_values(value: object, macros: Macros) -> object:
    """Return a value of nested lists and tables with the macros of all its texts expanded, in keys too."""
    if isinstance(value, str):
        return expand(value, macros).text if "\\" in value else value
    if isinstance(value, Mapping):
        return {expanded_values(key, macros): expanded_values(each, macros) for key, each in value.items()}
    return [expanded_values(each, macros) for each in value] if isinstance(value, list | tuple) else value
