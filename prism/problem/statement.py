r"""What the text of a problem gives: values of symbols, conditions under which something holds, and definitions.

An author who writes `$m = 2.00\,\mathrm{kg}$` in the text need not write it again in a table. A given may be put into a
student's formula and a condition may not (`v = 3 m/s` is a speed of the problem, `t = 3 s` one instant of it), so the
words around a value decide which it is, by short lists that stand below; where they leave doubt it is a condition. What
is stated with two values is neither, and what a sentence asks to show is not stated at all.

Refused: values without a symbol ("a mass of 2 kg"), for the letter would be guessed; and a reading of whole sentences,
for what is not in the lists would then be silently wrong instead of missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from prism.algebra.expr import EQUALITIES, ORDERINGS, Expr, Formula, canonical, formula, plain_parts, symbols, walk
from prism.errors import LatexSyntaxError
from prism.latex import LocatedFormula, extract
from prism.latex import parse as parse_latex
from prism.physics.units import Quantity, quantity, with_italic_units

_MAX_SENTENCE = 600  # characters before a formula that are looked at; a longer sentence is no sentence
_MAX_UNIT_WORDS = 5  # words of a unit that stands after a formula: "revolutions per minute" has three
_MAX_TAIL = 80  # characters after a formula that are looked at
_ROUNDED = Fraction(1, 100)  # two values of one chain (25 °C = 298 K) that differ by less are one, written twice


@dataclass(frozen=True, slots=True)
class Stated:
    """A symbol with its value.

    Attributes:
        name: in the parser's spelling.
        text: number and unit as `prism.physics.units.read_quantity` reads them, `2.00 kg`; digits as written.
        span: offsets of the formula and its unit in the text.
    """

    name: str
    text: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class StatedDefinition:
    """A symbol with its expression.

    Attributes:
        formula: an equation with the symbol alone on one side.
        name: the symbol.
        span: offsets of the formula in the text.
        is_function: written with its variable, as in `f(v) = ...`.
    """

    formula: Formula
    name: str
    span: tuple[int, int]
    is_function: bool = False


@dataclass(frozen=True, slots=True)
class ProblemText:
    """What a problem's text gives, each tuple in the order of the text.

    Attributes:
        givens: values that hold throughout; one for each symbol, never 0.
        definitions: one for each symbol.
        conditions: values that hold at an instant, at a place or in a case; a symbol may have several.
        ambiguous: symbols with two values or two definitions, left out of the first two.
    """

    givens: tuple[Stated, ...] = ()
    definitions: tuple[StatedDefinition, ...] = ()
    conditions: tuple[Stated, ...] = ()
    ambiguous: tuple[str, ...] = ()


def read_problem_text(text: str) -> ProblemText:
    r"""The values and definitions of a problem's text. Never raises: a formula that does not parse states nothing.

    >>> found = read_problem_text(r"A mass $m = 2.00$ kg moves at $v = 3\,\mathrm{m/s}$; $x = 1$ m at $t = 0$.")
    >>> [(given.name, given.text) for given in found.givens], [(value.name, value.text) for value in found.conditions]
    ([('m', '2.00 kg'), ('v', '3 m s^-1')], [('x', '1 m'), ('t', '0')])
    """
    found = extract(text)
    text = found.text
    masked = _masked(text, found)
    # a box is an answer, and what follows "Solution:" an example that the text has solved
    solved = [item.span for item in found if item.kind == "boxed"] + [part.span() for part in _SOLVED.finditer(text)]
    read = [_read(text, item) for item in found]
    taken = _symbols_in_use(read)
    givens: list[Stated] = []
    conditions: list[Stated] = []
    definitions: list[StatedDefinition] = []
    doubtful: list[str] = []
    for at, one in enumerate(read):
        if one.formula is None or any(start < one.outer and one.start < end for start, end in solved):
            continue
        following = read[at + 1] if at + 1 < len(read) else None
        for part in plain_parts(one.formula) if one.formula.kind in ("system", *_PLAIN_KINDS) else ():
            said = _Said(text, masked, one, following, part)
            values, differ = _values(said, taken)
            doubtful += differ
            for value in values:
                if not _is_asked_for(said):
                    (conditions if _is_condition(said, value.name, value) else givens).append(value)
            if not values:
                definitions += [d for d in _definitions(said) if not _is_asked_for(said)]
    ambiguous = [*doubtful, *_with_two_values(givens, conditions)]
    kept: dict[str, Stated] = {}
    for value in givens:
        if value.name not in ambiguous:
            kept.setdefault(value.name, value)
    several = _with_two_definitions(definitions)
    defined: dict[str, StatedDefinition] = {}
    for one_definition in definitions:
        if one_definition.name not in several:
            defined.setdefault(one_definition.name, one_definition)
    return ProblemText(
        tuple(kept.values()),
        tuple(defined.values()),
        tuple(conditions),
        tuple(dict.fromkeys((*ambiguous, *several))),
    )


def _with_two_values(givens: list[Stated], conditions: list[Stated]) -> list[str]:
    """Symbols given one value and stated with another: they vary, or the text has several cases."""
    names = []
    for name in dict.fromkeys(value.name for value in givens):
        own = {quantity(value.text) for value in (*givens, *conditions) if value.name == name}
        if len(own) > 1:
            names.append(name)
    return names


def _with_two_definitions(definitions: list[StatedDefinition]) -> list[str]:
    sides: dict[str, set[tuple[str, ...]]] = {}
    for one in definitions:
        sides.setdefault(one.name, set()).add(tuple(sorted(canonical(member) for member in one.formula.members)))
    return [name for name, written in sides.items() if len(written) > 1]


# Formulas of the text -----------------------------------------------------------------------------------------

_SOLVED = re.compile(
    r"^[ \t*#]*(?:solution|answer)[ \t*]*:[\s\S]*?(?=^[ \t*#]*(?:sub)?(?:problem|part|question)\b|\Z)", re.I | re.M
)
_PLAIN_KINDS = ("equation", "chain", "expression")
_CLOSING = re.compile(r"(?:\s|\\[,;:! ]|~)*(?:\$\$?|\\\)|\\\])")
_DELIMITER = re.compile(r"\$\$?|\\[()\[\]]")
_EDGE = "\x00"  # a delimiter in the masked text: no word, and no empty line where displays begin
_LAYOUT = re.compile(r"\\\\|\\[ ,;:!]|\\q?quad(?![A-Za-z])|\\(?:text|mathrm|mbox)\s*\{|&")
_NUMBER_AFTER = re.compile(r"\s*=\s*(?=[-−+]?\d)")
_PLAIN_NUMBER = re.compile(
    r"[-−+]?\d{1,20}(?:,\d{3})*(?:\.\d{1,20})?(?:[eE][-+]?\d{1,3})?(?:\s*[x×]\s*10\s*\^\s*\{?[-−+]?\d{1,3}\}?)?"
)


@dataclass(frozen=True, slots=True)
class _Read:
    """A formula of the text.

    Attributes:
        start, end: of the formula itself, without delimiters and without a unit that stands after them.
        outer: end of its closing delimiter.
        latex: what was read.
        formula: None if it does not parse.
        kind, block: as in `LocatedFormula`.
    """

    start: int
    end: int
    outer: int
    latex: str
    formula: Formula | None
    kind: str
    block: int


def _read(text: str, item: LocatedFormula) -> _Read:
    """One located formula; a unit that the extractor has taken from the words behind it is given back."""
    start, end = item.span
    latex = item.latex
    inner = _DELIMITER.search(text, start, end) if item.kind in ("inline", "boxed") else None
    if inner and r"\text{ or }" not in latex:
        end = inner.start()
        latex = text[start:end].strip()
    closing = _CLOSING.match(text, end)
    outer = closing.end() if closing and item.kind != "plain" else end
    number = _NUMBER_AFTER.match(text, outer)
    value = _PLAIN_NUMBER.match(text, number.end()) if number and item.kind == "inline" else None
    if value:  # `$\lambda$ = 500 nm`
        latex = f"{latex} = {value[0].replace(',', '')}".replace("×", r"\times").replace(" x ", r" \times ")
        end = outer = value.end()
    kind = "plain" if value else item.kind
    try:
        parsed: Formula | None = parse_latex(latex)
    except LatexSyntaxError:
        parsed = None
    return _Read(start, end, outer, latex, parsed, kind, item.block)


def _masked(text: str, found: tuple[LocatedFormula, ...]) -> str:
    """The text with every formula as `§` and no delimiters, at the same offsets: what is left is words."""
    marks = list(text.replace("§", " "))
    for item in found:
        start, end = item.span
        inner = _DELIMITER.search(text, start, end)
        end = inner.start() if inner else end
        marks[start:end] = "§" * (end - start)
    hidden = _DELIMITER.sub(lambda mark: _EDGE * len(mark[0]), "".join(marks))
    return _LAYOUT.sub(lambda mark: " " * len(mark[0]), hidden)


def _symbols_in_use(read: list[_Read]) -> frozenset[str]:
    """Symbols of the text, but for letters that may be units: those beside the number of a value."""
    names: set[str] = set()
    for one in read:
        if one.formula is None:
            continue
        for part in plain_parts(one.formula):
            is_value = len(part.members) > 1 and all(member.op == "sym" for member in part.members[:-1])
            is_value = is_value and any(node.op == "num" for node in walk(part.members[-1]))
            names |= symbols(*(part.members[:-1] if is_value else part.members))
    return frozenset(names)


# Values -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Said:
    """A formula with the words around it.

    Attributes:
        text, masked: the whole text, as it is and with formulas hidden.
        here: the formula; following: the one after it.
        part: the formula without parts that is looked at.
    """

    text: str
    masked: str
    here: _Read
    following: _Read | None
    part: Formula


def _values(said: _Said, taken: frozenset[str]) -> tuple[list[Stated], list[str]]:
    """Values that a formula states, and symbols whose values in it contradict each other."""
    part = said.part
    if part.kind not in ("equation", "chain") or not EQUALITIES.issuperset(part.relations) or part.depends:
        return [], []
    names = [member.name for member in part.members if member.op == "sym"]
    numbers = [member for member in part.members if not symbols(member) or _is_in_light_units(member)]
    if not names or _ORDER_OF_MAGNITUDE.search(said.here.latex):
        return [], []
    if not numbers:
        italic = with_italic_units(part.members[-1], taken) if _may_be_italic_unit(said.here.latex) else None
        numbers = [italic] if italic is not None else []
    if not numbers:
        return [], []
    end = said.here.end
    texts = []
    for member in numbers:
        text = _quantity_text(member)
        if text is not None and member is numbers[-1] and not any(node.op == "unit" for node in walk(member)):
            after = _with_unit_after(said, text)
            text, end = after if after is not None else (None, end)
        elif text is not None and member is numbers[-1]:
            text, end = _after_unit(said, text)
        if text is None:
            return [], []
        texts.append(text)
    if not _agree([value for text in texts if (value := quantity(text)) is not None]):
        return [], names
    stated = []
    for name in names:
        text = _as_difference(texts[0]) if name.startswith((r"\Delta", r"\delta")) else texts[0]
        if text is not None:
            stated.append(Stated(name, text, (said.here.start, end)))
    return stated, []


_ORDER_OF_MAGNITUDE = re.compile(r"\\sim(?![A-Za-z])|∼|~\s*\d")


def _is_in_light_units(member: Expr) -> bool:
    r"""Whether the only symbol is the c of `938\,\mathrm{MeV}/c^2`."""
    units = [node.name for node in walk(member) if node.op == "unit"]
    return symbols(member) == {"c"} and any(name.endswith("eV") for name in units)


def _agree(values: list[Quantity]) -> bool:
    """Whether the numbers of one chain are one value, rounded."""
    same = all(one.dimension == two.dimension for one, two in pairwise(values))
    return same and all(abs(one.value - two.value) <= _ROUNDED * abs(one.value) for one, two in pairwise(values))


def _as_difference(text: str) -> str | None:
    """A difference of 5 degrees Celsius is 5 K; one in Fahrenheit is left out."""
    if text.endswith("degC"):
        return text.removesuffix("degC") + "K"
    return None if text.endswith("degF") else text


_ITALIC_UNIT = re.compile(r"\d\s*(?:\}|\\[,;: ]|~|[ \t])\s*\\?[A-Za-z]")
_LONE_LETTER = re.compile(r"\d(?:\}|\s|\\[,;: ]|~)*([A-Za-z])\s*$")
_LONE_UNITS = frozenset("msNJWVKTACFH")  # in italics `2 g` and `3 c` are more often a constant than a unit


def _may_be_italic_unit(latex: str) -> bool:
    """Whether letters behind a number stand apart from it, as units do and factors need not."""
    lone = _LONE_LETTER.search(latex)
    return _ITALIC_UNIT.search(latex) is not None and (lone is None or lone[1] in _LONE_UNITS)


def _quantity_text(member: Expr) -> str | None:
    """A number with its unit as plain text that reads back as the same quantity; None if it is neither.

    A whole or broken multiple of pi is written in degrees, which are exactly pi/180, if it is an angle or turns.
    """
    meant = quantity(member)
    if meant is None:
        return None
    in_light_units = _is_in_light_units(member)
    sign, factors = "", list(_factors(member, 1))
    numbers: list[tuple[Expr, int]] = []
    units: list[str] = []
    n_pi = 0
    for node, power in factors:
        if node.op == "neg":
            sign = "" if sign else "-"
        elif node.op == "num":
            numbers.append((node, power))
        elif node.op == "unit" or (in_light_units and node.op == "sym"):
            units.append(node.name if power == 1 else f"{node.name}^{power}")
        elif node.op == "const" and node.name == "pi" and power == 1:
            n_pi += 1
        else:
            return None
    plain = len(numbers) == 1 and numbers[0][1] == 1 and numbers[0][0].name
    if any(not power for _, power in numbers):
        return None  # `30^0` is meant for 30 degrees
    if plain and not n_pi:
        digits = numbers[0][0].name
    elif not n_pi and len(numbers) == 1 and numbers[0][0].value == 10 and abs(numbers[0][1]) <= _MAX_WHOLE_POWER:
        digits = f"1e{numbers[0][1]}"
    elif (
        n_pi <= _MAX_PI
        and _TURNING.issuperset(name.partition("^")[0] for name in units * n_pi)
        and all("." not in node.name and "e" not in node.name for node, _ in numbers)
    ):
        value = Fraction(180 if n_pi else 1)
        for node, power in numbers:
            if node.value is None or (not node.value and power < 0) or abs(power) > _MAX_WHOLE_POWER:
                return None
            value *= node.value**power
        digits = str(value)
        units = ["deg", *units] if n_pi else units
    else:
        return None
    text = " ".join((sign + digits, *units))
    return text if quantity(text) == meant else None


_MAX_PI = 1
_TURNING = frozenset(("s", "rad", "Hz", "min", "rev"))  # units that degrees stand beside
_MAX_WHOLE_POWER = 40  # of a number, in a value: 10^{23} is written so


def _factors(node: Expr, power: int) -> Iterator[tuple[Expr, int]]:
    """Factors with whole exponents, left to right; a sign is a factor of its own."""
    if node.op == "neg":
        yield Expr("neg"), 1
        yield from _factors(node.args[0], power)
    elif node.op == "mul":
        for arg in node.args:
            yield from _factors(arg, power)
    elif node.op == "div":
        yield from _factors(node.args[0], power)
        yield from _factors(node.args[1], -power)
    elif node.op == "pow" and (exponent := _whole(node.args[1])) is not None:
        yield from _factors(node.args[0], power * exponent)
    else:
        yield node, power


def _whole(node: Expr) -> int | None:
    if node.op == "neg":
        inner = _whole(node.args[0])
        return None if inner is None else -inner
    return int(node.value) if node.op == "num" and node.value is not None and node.value.denominator == 1 else None


# Units in the words after a number ------------------------------------------------------------------------------

_WORD = re.compile(r"[^\S\n]*[^\s,;]+")
_RAISED = re.compile(r"\$\s*(\^\s*(?:\{\s*[-−]?\d+\s*\}|[-−]?\d))\s*\$")  # the power of `N/m$^2$`
_NO_UNITS = frozenset(("in", "as", "As", "us", "at", "a", "am", "do", "is"))  # words first, units hardly ever
_OF_LIQUID = re.compile(r"[^\S\n]*(?:of\s+)?(?:mercury|Hg|water|H_?2_?O)\b")  # 760 mm of mercury is no length
_RANGE = re.compile(
    r"[^\S\n]*(?:(?:to|and|or|through|until|till|up to|±|\\pm|-|–|—|~)[^\S\n]*|,[^\S\n]*(?:and[^\S\n]*|or[^\S\n]*)?)"
    r"(?:\$[^\S\n]*)?[-−+]?\.?\d(?![^$\n]{0,40}=)"
)
# After a bare number; any other word may be a unit that the table lacks ("solar masses"), and then nothing is stated.
_WORDS_AFTER_NUMBER = frozenset(
    "and or is are was were has have had with at in on to of for from by as but so that which where when if while then"
    " this the find calculate determine what respectively units unit per"
    "".split()
)
_PIECE_END = re.compile(r"(?:\\[ ,;:!]|\s)*(?:[,;.)&]|\\\\|\\q?quad|\\end|\\\)|\$|$)")
_IN_BRACKETS = re.compile(r"[^\S\n]*\((?:in\s+)?([^()\n]{1,30})\)")


def _with_unit_after(said: _Said, number: str) -> tuple[str, int] | None:
    """A bare number with the unit that the words after it name, and where that ends; None in doubt."""
    text, end = said.text, said.here.outer
    if end == said.here.end and said.here.kind != "plain" and not _PIECE_END.match(text, end):
        return None  # the block goes on with something that is no formula, perhaps a unit
    tail = _RAISED.sub(lambda power: power[1].replace("−", "-").ljust(len(power[0])), text[end : end + _MAX_TAIL])
    if re.match(r"\^|[^\S\n]*(?:\$|\\\()", tail):
        return None
    best: tuple[str, int] | None = None
    place = 0
    for _ in range(_MAX_UNIT_WORDS):
        word = _WORD.match(tail, place)
        if word is None:
            break
        place = word.end()
        for stop in dict.fromkeys((place, place - len(word[0]) + len(word[0].rstrip(".:!?)]\"'")))):
            name = " ".join(tail[:stop].replace("$", " ").split())
            if not name or name[0].isdigit() or name[0] == "(" or _NO_UNITS.intersection(name.split()):
                continue
            if number.endswith(" deg") and name in ("C", "F"):
                name, candidate = "", f"{number}{name}"
            else:
                candidate = f"{number} {name}"
            if quantity(candidate) is not None:
                best = candidate, end + stop
    if best is not None:
        return None if _RANGE.match(text, best[1]) or _OF_LIQUID.match(text, best[1]) else best
    if bracket := _IN_BRACKETS.match(tail):
        if quantity(f"{number} {bracket[1].strip()}") is not None:
            return f"{number} {bracket[1].strip()}", end + bracket.end()
        return number, said.here.end
    following = re.match(r"[^\S\n]*([^\s.,;:!?()$\\]*)", tail)
    word_after = following[1] if following else ""
    is_known = not word_after or word_after.lower() in _WORDS_AFTER_NUMBER or _STATE_AFTER.match(tail)
    if _RANGE.match(tail) or not is_known or _shares_unit(said):
        return None
    return number, said.here.end


def _after_unit(said: _Said, text: str) -> tuple[str | None, int]:
    r"""A value with a unit; nothing if a range goes on behind it. The letter of `25^\circ$C` comes from the words."""
    after = said.text[said.here.outer : said.here.outer + _MAX_TAIL]
    if _RANGE.match(after) or after.startswith("$^") or _OF_LIQUID.match(after):
        return None, said.here.end
    letter = re.match(r"(?:\\,|[^\S\n])*([CF])(?![A-Za-z0-9])", after)
    if letter and text.endswith(" deg"):
        return f"{text}{letter[1]}", said.here.outer + letter.end()
    return text, said.here.end


def _shares_unit(said: _Said) -> bool:
    r"""Whether a bare number stands in a list that may carry its unit at the end: `$a = 2, b = 3$ cm`."""
    other = said.following
    if other is None or other.formula is None or len(other.formula.members) < 2:
        return False
    between = said.masked[said.here.end : other.start].replace(_EDGE, " ")
    if other.block != said.here.block or re.fullmatch(r"\s*(?:,\s*(?:and\s*)?|and\s*)", between) is None:
        return False
    if any(node.op == "unit" for node in walk(other.formula.members[-1])):
        return True
    found = _with_unit_after(_Said(said.text, said.masked, other, None, other.formula), "1")
    return found is None or found[0] != "1"


# Words --------------------------------------------------------------------------------------------------------

# an empty line before a display does not end a sentence
_SENTENCE_END = re.compile(rf"[.!?;:](?=[\s{_EDGE}])|\n\s*\n(?!\s*{_EDGE})")
_ASKED = re.compile(
    r"\b(?:show|prove|verify|derive|demonstrate|check|confirm|conclude|deduce|obtain|establish|whether|justify"
    r"|we (?:get|find)|yields)\b",
    re.I,
)
_ANSWER = re.compile(r"\b(?:answers?|ans|solutions?|results?)\b[^§\n]{0,30}$", re.I)
_STATED_AGAIN = re.compile(r"\b(?:where|with|given that|using|take|taking|let|use)\b", re.I)
_CASE = re.compile(
    r"\b(?:when(?:ever)?|if|unless|once|until|till|after|before|while|whilst|provided|assuming|such that|so that"
    r"|(?:at|for|in|by|to) which|in the (?:case|limit)|e\.g|for (?:example|instance)|such as|say|imagine|hypothetical"
    r"|as soon as|found to|by (?:setting|letting|choosing)|instead|claims?|not|never|no longer)\b",
    re.I,
)
_PLACE_WHERE = re.compile(
    r"\b(?:cases?|points?|places?|positions?|regions?|times?|instants?|moments?|states?)\s+where\b", re.I
)
_WHERE = re.compile(r"\bwhere\b", re.I)
_FIXED_OF = re.compile(  # properties that do not change with the case
    r"\b(?:of|with|whose|having|has|and)\b[^§]*\b(?:mass(?:es)?|lengths?|radi(?:us|i)|diameters?|charges?|thickness|widths?"
    r"|areas?|density|resistances?|capacitances?|inductances?|constants?|coefficients?|modul(?:us|i)|heat|conductivity"
    r"|permittivity|viscosity|wavelengths?|half-life)\s*$",
    re.I,
)
_COORDINATES = frozenset(
    ("t", "x", "y", "z", "r", "s", r"\rho", r"\theta", r"\phi", r"\varphi", "t'", "x'", r"\vec{r}")
)
_ANGLES = frozenset((r"\theta", r"\phi", r"\varphi", r"\alpha", r"\beta", r"\gamma", r"\psi"))
_SWEPT = frozenset(("f", r"\nu", r"\omega", r"\lambda", "q"))  # what a measurement runs through
_DRIVEN = re.compile(
    r"\b(?:operat|run|rotat|driven|oscillat|vibrat|spin|suppl|sourc|generat|work|emit|turn|revolv)\w*", re.I
)
_BEGINS_CASE = re.compile(
    r"\s*(?:\([a-z0-9]{1,3}\)\s*)?(?:[A-Za-z]+,\s+)?(?:(?:and|but|now|so|thus|then|suppose)\s+)?"
    r"(?:(?:when(?:ever)?|if|for|after|before|once|while|until|in the (?:case|limit)|during)\b"
    r"|at\s+(?:the\s+)?(?:times?|instants?|moments?|points?|positions?|§))[^,]*,",
    re.I,
)
_AT = re.compile(r"\bat\b[^§]*$", re.I)
_AT_ONCE = re.compile(
    r"\b(?:times?|instants?|moments?|positions?|points?|locations?|places?|coordinates?|stages?|ends?|surface"
    r"|boundary)\s*$",
    re.I,
)
_LAUNCHED = re.compile(
    r"\b(?:fired|thrown|launched|projected|kicked|hit|shot|released|emitted|inclined|tilted|elevation|inclination"
    r"|inclined|latitude|slope|incident|incidence)\b",
    re.I,
)
_FOR = re.compile(r"\bfor\b(?![^§]*\b(?:of|with|having|whose|has|and)\b)[^§]*$", re.I)
_BOUNDS = re.compile(r"\b(?:from|to|between|beyond|past|through|and|over|during|within|in|by|of)\s*$", re.I)
_CHANGES_TO = re.compile(
    r"\b(?:reach(?:es|ed|ing)?|becomes?|became|attains?|(?:falls?|fell|drops?|dropped|rises?|rose|raised|reduced"
    r"|increase[sd]?|decrease[sd]?|lowered|heated|cooled|changed?|changes|slowed|slows|grown?|grows)\b[^§]*\bto)\b[^§]*$",
    re.I,
)
_WITHIN = re.compile(r"\b(?:at|after|until|in|during|within|over)\b", re.I)
_TIME_OF = re.compile(r"\b(?:times?|instants?|moments?|intervals?)\s*(?:of)?\s*$", re.I)
_STATE_BEFORE = re.compile(r"\b(?:eigenstates?|states?|levels?)(?:\s+(?:with|of|having))?\s*$", re.I)
_STATE_AFTER = re.compile(
    r"\s*-?\s*(?:(?:excited|energy)\s+)?(?:states?|levels?|orbits?|orbitals?|shells?|modes?|harmonics?|th\b)", re.I
)
_CASE_AFTER = re.compile(
    r"\s*(?:,?\s*(?:when|whenever|if|until|once|unless|for(?!\s+all)|after|before|later|earlier|ago|initially|while"
    r"|everywhere)\b|at\s+(?:the\s+)?(?:times?|instants?|moments?|start|beginning|ends?|points?|positions?)\b)",
    re.I,
)
_BEYOND_AT = re.compile(r"\s*(?:only\s+)?(?:at|on)\s*(?:the\s+\w+\s+)?$", re.I)
_SPINS = frozenset(("j", "s", "m"))
_INDICES = frozenset(("n", "l", r"\ell", "i", "j", "k", "m", "s", "q", "p"))
_INDEX_OF_GLASS = re.compile(
    r"\b(?:refracti\w+|index|mass|charge|number of \w+|ratio|factor|order)\s*(?:of\s*)?$", re.I
)
_SURFACE = re.compile(
    r"\b(?:planes?|surfaces?|lines?|curves?|spheres?|cylinders?|boundar(?:y|ies)|wires?|shapes?|parabolas?|locus|edges?"
    r"|interfaces?|paths?|walls?|plates?|orbits?|point|points|track|profile)\b",
    re.I,
)
_DEFINES = re.compile(r"\b(?:where|let|defin\w*|denote\w*|call\w*|write|set|abbreviat\w*|i\.e)\b", re.I)


def _sentence_before(said: _Said) -> str:
    """The sentence up to the formula, without what stands in closed brackets; from an open bracket only its inside."""
    start = max(0, said.here.start - _MAX_SENTENCE)
    before = said.masked[start : said.here.start]
    ends = [found.end() for found in _SENTENCE_END.finditer(before)]
    before = (before[ends[-1] :] if ends else before).replace(_EDGE, " ")
    before = re.sub(r"\([^()]*\)", " ", before)
    return before[before.rfind("(") + 1 :]


def _clause_before(sentence: str) -> str:
    """What is left of a sentence after its last comma; formulas in a row belong to the words before the first."""
    parts = sentence.split(",")
    while len(parts) > 1 and not re.sub(r"§|\b(?:and|or|respectively)\b", "", parts[-1]).strip():
        parts.pop()
    clause = parts.pop()
    while parts and re.match(r"\s*(?:and|or)\b", clause):
        clause = f"{parts.pop()},{clause}"
    where = list(_WHERE.finditer(clause))
    if where and not _PLACE_WHERE.search(clause):
        clause = clause[where[-1].end() :]
    return clause


def _words_before(clause: str) -> str:
    """The words right before the formula; of a row of formulas joined by "and" or "to", those before the first."""
    shorter = clause
    while (cut := re.sub(r"§+\s*(?:and|or|to|,)?\s*$", "", shorter)) != shorter and cut.strip():
        shorter = cut
    return shorter[shorter.rfind("§") + 1 :]


def _is_asked_for(said: _Said) -> bool:
    """Whether the sentence asks to show it, or asks for it."""
    start = said.here.start
    if _ANSWER.search(said.masked[max(0, start - _MAX_TAIL) : start]):
        return True
    sentence = _sentence_before(said)
    asked = [found.end() for found in _ASKED.finditer(sentence)]
    return bool(asked) and not _STATED_AGAIN.search(sentence, asked[-1])


@dataclass(frozen=True, slots=True)
class _Words:
    """The words before a formula, from the whole sentence to those right before it.

    Attributes:
        sentence: up to the formula, formulas in it as `§`.
        clause: what is left of it after its last comma.
        near: without the formulas that stand in a row with this one.
        direct: since the last formula.
        is_fixed: they name a property that does not change with the case, such as a mass.
    """

    sentence: str
    clause: str
    near: str
    direct: str
    is_fixed: bool


def _words(said: _Said, name: str) -> _Words:
    sentence = _sentence_before(said)
    clause = _clause_before(sentence)
    near = _words_before(clause)
    is_fixed = _FIXED_OF.search(near) is not None and name not in _COORDINATES
    return _Words(sentence, clause, near, clause[clause.rfind("§") + 1 :], is_fixed)


def _is_condition(said: _Said, name: str, value: Stated | None) -> bool:
    """Whether a formula holds only at an instant, at a place or in a case; so also where the words leave doubt."""
    number = None if value is None else quantity(value.text)
    if number is not None and not number.value:
        return True
    words = _words(said, name)
    if _is_index(name, number, words.near) or _is_in_case(words) or _is_at_place(words, name):
        return True
    if re.fullmatch(r".*\bto\s*", words.direct) and "_" not in name and "'" not in name:
        return True  # `rises to T = 400 K`; a state named by a subscript is given
    return _is_limited_after(said, value)


def _is_in_case(words: _Words) -> bool:
    """Whether the words begin a case: `when`, `for`, `the state`, `reaches`."""
    if _STATE_BEFORE.search(words.near) or _PLACE_WHERE.search(words.clause) or _CHANGES_TO.search(words.near):
        return True
    if words.is_fixed:
        return False
    is_main_clause = len(words.clause) < len(words.sentence) and not _WHERE.search(words.sentence)
    begins = _BEGINS_CASE.match(words.sentence) is not None and is_main_clause
    return begins or _CASE.search(words.clause) is not None or _FOR.search(words.near) is not None


def _is_at_place(words: _Words, name: str) -> bool:
    """Whether the words name an instant or a place, or a value that a measurement runs through."""
    if name in _COORDINATES and (_BOUNDS.search(words.direct) or _BOUNDS.search(words.near)):
        return True
    if _TIME_OF.search(words.near) and (name == "t" or _WITHIN.search(words.near)):
        return True
    if not _AT.search(words.near):
        return False
    head = name.partition("_")[0]
    is_launch = head in _ANGLES and _LAUNCHED.search(words.clause) is not None
    is_swept = name in _SWEPT and not _DRIVEN.search(words.clause)
    return _AT_ONCE.search(words.near) is not None or is_swept or (head in _COORDINATES and not is_launch)


def _is_index(name: str, number: Quantity | None, near: str) -> bool:
    """A quantum number, an order or a mode: a whole or half number without unit on a letter that counts."""
    if number is None or any(number.dimension) or name not in _INDICES:
        return False
    if number.value.denominator > (2 if name in _SPINS else 1):
        return False
    return _INDEX_OF_GLASS.search(near) is None


def _is_limited_after(said: _Said, value: Stated | None) -> bool:
    """Whether the words behind the formula limit it: `$v = 5$ m/s at $t = 0$`, `$V = kx$ for $x > 0$`."""
    end = max(said.here.outer, value.span[1] if value else 0)
    after = said.masked[end : end + _MAX_TAIL].replace(_EDGE, " ")
    if _CASE_AFTER.match(after) or _STATE_AFTER.match(after):
        return True
    other = said.following
    if other is None or other.start < end:
        return False
    between = said.masked[end : other.start].replace(_EDGE, " ")
    if other.block == said.here.block and not between.strip(" ,;\n") and _is_range(other.formula):
        return True
    if not _BEYOND_AT.fullmatch(between):
        return False
    if other.formula is None or not other.formula.members:
        return True
    first = other.formula.members[0]
    launch = said.masked[max(0, other.start - _MAX_TAIL) : other.start]
    is_launch = first.name in _ANGLES and _LAUNCHED.search(launch)
    return first.op != "sym" or (first.name in _COORDINATES and not is_launch)


def _is_range(following: Formula | None) -> bool:
    r"""Whether a formula says where the one before it holds, as in `V(x) = V_0, \quad 0 < x < a`."""
    return following is not None and not ORDERINGS.isdisjoint(following.relations)


# Definitions --------------------------------------------------------------------------------------------------

# What no symbol is put for: a choice of values, an end that is left open, or a statement.
_NO_DEFINIENS = frozenset(
    "list dots blank set interval union intersection relation infinity pm cases ratio differential opaque at".split()
)


def _definitions(said: _Said) -> Iterator[StatedDefinition]:
    """Equations of the formula that define a symbol, unless the words make them conditions."""
    part = said.part
    if part.kind not in ("equation", "chain") or not {"=", "equiv"}.issuperset(part.relations):
        return
    clause = _clause_before(_sentence_before(said))
    sentence = _sentence_before(said)
    members = part.members
    for left, right in pairwise(members):
        both = formula((left, right), ("=",), said.here.latex, part.depends)
        name = _defined(left, right) or _defined(right, left)
        if (
            name is None
            or _may_be_value(left, right)
            or any(node.op in _NO_DEFINIENS for member in (left, right) for node in walk(member))
        ):
            continue
        if left.op == right.op == "sym" and (len(members) > 2 or not _DEFINES.search(sentence)):
            continue  # `i = i'` is a condition; that it holds throughout has to be said
        if name in _COORDINATES and _SURFACE.search(clause):
            continue
        if not _is_condition(said, name, None):
            yield StatedDefinition(both, name, (said.here.start, said.here.end), name in dict(part.depends))


def _may_be_value(left: Expr, right: Expr) -> bool:
    """Whether one side may be a number with its unit in italics (`R = 20cm`), or has a unit torn off (`1 kg - m`)."""
    for side in (left, right):
        ops = {node.op for node in walk(side)}
        is_measured = any("." in node.name or node.value == _TEN for node in walk(side) if node.op == "num")
        if is_measured and _LONE_UNITS.issuperset(symbols(side)):
            return True  # `n = 10^{24}/m^3`
        if with_italic_units(side, frozenset()) is not None or ("unit" in ops and not ops.isdisjoint(("add", "sub"))):
            return True
    return False


_TEN = Fraction(10)
_NO_SYMBOLS = frozenset(("constant", "const", "const."))


def _defined(side: Expr, other: Expr) -> str | None:
    """The symbol that one side is, if the other is an expression without it; or the dot that it says is partial."""
    if side.op == "derivative" and other == Expr("partial", side.args, side.name) and side.args[0].op == "sym":
        return rf"\dot{{{side.args[0].name}}}"
    if side.op != "sym" or side.name in symbols(other) or not symbols(other) - _NO_SYMBOLS:
        return None
    if side.name in _NO_SYMBOLS or any(
        (node.op == "sym" and " " in node.name)
        or (node.op == "apply" and node.name == side.name)
        or (node.op == "num" and not node.value)
        for node in walk(other)
    ):
        return None
    return side.name
