r"""Several formulas in one text: systems, alternatives, implications, conditions, lists of values.

`a = b, \quad c = d \Rightarrow e = f \text{ for } x > 0` is split here, before any other pass looks at neighbours: at
arrows first, then at `or`, then at rows, wide spaces and commas. A piece between commas that states nothing joins a
list: `n = 1, 2, \ldots` is one formula with a list on its right. Where a piece could belong to either neighbour
(`a = b, c, d = e`), the formula is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from prism import budget
from prism.algebra.expr import EQUALITIES, Expr
from prism.latex.parsing.tokens import (
    GAP_NONE,
    GAP_QUAD,
    GAP_SPACE,
    OPERATORS,
    RELATION_TEXT,
    Ambiguity,
    Fault,
    Token,
    has_type,
    split_at,
)
from prism.latex.parsing.units.roman_text import (
    DENIALS,
    excerpt,
    is_foreign,
    is_formula_number,
    may_be_unit_words,
    start_of_formula_number,
    starts_with_formula_number,
    words_in_text,
)
from prism.latex.parsing.units.unit_text import is_numeric, read_unit
from prism.latex.prose import WRONG_WORDS, changes_quantity, is_remark
from prism.latex.words import ALTERNATIVE, LONG_UNITS, UNITS, is_written_out_unit

_LOOK_AHEAD = 10  # operations for each item among which an equality is looked for, for each arrow
MAX_PARTS = 200  # formulas in one text: each of them is disambiguated and built by itself

_CONTINUES_FORMULA = frozenset(("REL", "PLUS", "MINUS", "TIMES", "PM", "SLASH"))
_LEADING = frozenset(("=", r"\approx", r"\equiv", ":=", r"\simeq", r"\sim", r"\cong"))
# First words of texts that state a condition or explain a name.
_CONDITIONS = frozenset(
    "where for if when whenever with as at since because given provided assuming unless while inside outside whose "
    "on in until near once let during by from".split()
)
_EXPLAINING = frozenset(
    "where with as since because whose let by from in using".split()
)  # these explain names or give reasons
_ARROWS = frozenset("so then thus hence therefore gives giving yields yielding implies i.e. ie".split())
_ANDS = frozenset("and also but while".split())
_JOINING = _ANDS | _CONDITIONS | _ARROWS | {"or"}  # behind a unit in one text with it
_RESTATING = frozenset("equivalently alternatively simply just rather".split())
_LABELS = frozenset("case part step equation answer result final solution".split())
_LEAD_INS = frozenset(
    "assume suppose thus so hence then therefore note recall using take consider and we have get find obtain now also "
    "gives yields implies that is".split()
)
_LONGEST_FACTOR = 3  # letters of a word in text mode that may be a factor
_MAY_CALL = frozenset(("SYM", "ROMAN", "FUNCTION", "DERIVATIVE"))  # a bracket behind these may be a call
_ARROW_SIGNS = frozenset(sign for sign, relation in RELATION_TEXT.items() if relation == "to")
_JOINING_SIGNS = ("PLUS", "MINUS", "PM", "TIMES")  # what they join in a bracket is no remark
_SEPARATES = frozenset(("COMMA", "ROW", "IMPLIES", "OR", "COLON"))
_ROUGHLY = frozenset("about approximately roughly nearly around".split())  # before a number they change nothing
_DIRECTION = re.compile(r"(?:up|down|left|right|north|south|east|west)(?:wards?)?|(?:for|back|in|out)wards?|[a-z]+wise")
_COUNTERS = frozenset(("i", "j", "k", "l", "m", "n", "p", "q", r"\ell"))
_SHORTEST_RANGE = 3  # tokens of `n = 1`
_NUMBER_LIST_TYPES = frozenset(("NUM", "MINUS", "PLUS", "PM", "FRAC", "INFINITY"))  # of a list of numbers


@dataclass(slots=True)
class Clause:
    """One formula, or several formulas joined in one way, which `kind` says.

    Attributes:
        kind: `system`, `alternatives`, `implication`, `conditional` (with the meaning of names), `restricted` (to where
            a condition holds); empty for one formula.
        items: tokens of the one formula at its outer level; brackets hold their content.
        parts: the several formulas; of a conditional the claim first, then its conditions.
        start, end: offsets in the author's text.
    """

    kind: str = ""
    items: list[Token] = field(default_factory=list)
    parts: list[Clause] = field(default_factory=list)
    start: int = 0
    end: int = 0


@dataclass(slots=True)
class _Piece:
    """A formula, value or condition between two separators: `a = 1`, `2` and `b > 0` of `a = 1, 2 if b > 0`.

    Attributes:
        items: what stands between the separators.
        boundary: the separator before them: `comma`, `row`, `wide` (a wide space), `where`, `if`; empty for none.
        end: offset of the separator behind them.
    """

    items: list[Token]
    boundary: str
    end: int

    @property
    def is_condition(self) -> bool:
        """True if a word before the piece makes it a condition (`if`, `for`) or an explanation (`where`)."""
        return self.boundary in ("where", "if")

    @property
    def has_relation(self) -> bool:
        """True if the piece holds a relation outside of brackets, as `a = 1` does."""
        return has_type(self.items, "REL")


def split_formulas(items: list[Token], end: int) -> Clause:
    """Split the tokens of one LaTeX text into the formulas that it states, as a Clause.

    Args:
        items: nested tokens of the whole text, as `nest_tokens` returns them.
        end: offset in the text behind the last item.

    Errors:
        Fault: no formula is left, prose, or a piece that may belong to either neighbour (`a = b, c, d = e`).
    """
    items = _without_remark(_without_rounding_words(_with_joints_behind_units(items)))
    _refuse_changing_words(items)
    items = _strip_tail(_strip_lead(items))
    while (
        len(items) == 1 and items[0].text in ("(", "[", "{.") and items[0].sup is None and _encloses_relation(items[0])
    ):
        items = _strip_tail(_strip_lead(items[0].args[0]))  # `(n = 2)`: the brackets are punctuation
    if len(items) == 1 and items[0].text == "cases" and (rows := _rows_as_system(items[0])):
        items = rows
    if not items:
        raise Fault(0, "an empty formula", "a number or a symbol", kind="fragment")
    if len(items) == 1 and items[0].type == "FUNCTION" and not items[0].args:
        items = [Token("SYM", items[0].text, items[0].pos)]  # a function that is mentioned
    if items[0].type == "SLASH":
        raise Fault(items[0].pos, f"{items[0].text} with nothing before it", "a dividend", kind="fragment")
    if items[0].type == "TIMES":  # the rest of a product that stands elsewhere
        items = [Token("INFINITY", "blank", items[0].pos, expr=_BLANK), *items]
    if len(items) == 1 and items[0].text == "dots":
        raise Fault(items[0].pos, "nothing but an ellipsis", "a formula", kind="fragment")
    if len(items) == 1 and items[0].type == "REL":
        raise Fault(items[0].pos, "a relation without its sides", "a formula", kind="fragment")
    if not _may_hold_several_formulas(items):
        _refuse_prose(items[0])
        return Clause(items=items, start=items[0].pos, end=end)  # the common case: one formula
    if len(items) == 1 or (len(items) == 2 and items[0].type == "REL"):
        _refuse_prose(items[-1])
    marked = []
    for index in range(len(items)):
        joint = _separator_or_item(items, index)
        marked.append(joint)
        if joint.type == "WHERE" and joint.args:  # a condition in brackets
            marked += [*joint.args[0], Token("ROW", "remark", joint.pos)]
    whole = _split_and_read(marked, end, "IMPLIES", "implication", _read_alternatives)
    if _count_formulas(whole) > MAX_PARTS:
        raise Fault(items[0].pos, f"more than {MAX_PARTS} formulas in one", kind="limit")
    return whole


def _rows_as_system(cases: Token) -> list[Token]:
    """Return the rows of a `cases` token as items with ROW tokens between them; empty unless each has a relation."""
    cells = [_without_number_cell(row) for arg in cases.args for row in arg]
    rows = [row[0][: start_of_formula_number(row[0])] for row in cells if len(row) == 1]
    if len(rows) < len(cases.args) or not all(has_type(row, "REL") for row in rows):
        return []
    joined = [part for row in rows for part in (Token("ROW", "\\\\", row[0].pos), *row)]
    return joined[1:]


def _without_number_cell(row: Token) -> list[list[Token]]:
    r"""Return the cells of a row of a system without a last one that is the number of its formula, `x = a & (1)`."""
    cells, last = list(row.args[:-1]), row.args[-1]
    is_number = bool(cells) and has_type(cells[0], "REL") and len(last) == 1 and is_formula_number(last[0])
    return cells if is_number else list(row.args)


def _encloses_relation(bracket: Token) -> bool:
    """Return True if a bracket encloses a relation and no comma, `(n = 2)`, or is the brace before a system."""
    kinds = [item.type for item in bracket.args[0]]
    if bracket.text == "{.":
        return True
    return bracket.type == "PAREN" and "REL" in kinds and not {"COMMA", "GIVEN"}.intersection(kinds)


def _may_hold_several_formulas(items: list[Token]) -> bool:
    """Return False if the items are one formula for certain, as they hold nothing that separates formulas."""
    if items[0].type == "ROMAN" or items[-1].type == "PAREN":
        return True
    return any(
        item.type in _SEPARATING
        or item.gap == GAP_QUAD
        or item.text == r"\wedge"
        or (item.type == "REL" and item.text in _ARROW_SIGNS)
        for item in items[1:]
    )


_SEPARATING = frozenset(("COMMA", "ROW", "IMPLIES", "OR", "ROMAN"))


def _count_formulas(clause: Clause) -> int:
    """Return the number of single formulas in a clause and its parts."""
    return 1 if not clause.kind else sum(_count_formulas(part) for part in clause.parts)


def _join_clauses(kind: str, parts: list[Clause]) -> Clause:
    """Make one clause of the given kind (`system`, `implication`, ...) from several; return a single one unchanged."""
    if len(parts) == 1:
        return parts[0]
    return Clause(kind, parts=parts, start=parts[0].start, end=parts[-1].end)


# Words that are no decoration ------------------------------------------------------------------------------------


def _is_text(item: Token) -> bool:
    r"""Return True for words in text mode without a power, `\text{half of}`."""
    return item.type == "ROMAN" and item.text == "text" and item.sup is None


def _with_joints_behind_units(items: list[Token]) -> list[Token]:
    r"""Return the items with a comma or joining word behind a unit as items of their own: `\text{ m, }`, `\text{m so}`.

    A unit that a word of the sentence goes on with, `\text{m/s at }`, would be another one.
    """
    if not any(map(_is_text, items)):
        return items
    out: list[Token] = []
    for index, item in enumerate(items):
        if not _is_text(item) or not item.raw or index in (0, len(items) - 1):
            out.append(item)
            continue
        starts = [at for at, token in enumerate(item.raw) if at and token.gap and token.type == "letter"]
        at = starts[-1] if starts else len(item.raw)
        word = "".join(token.text for token in item.raw[at:]).lower()
        unit, last = replace(item, raw=item.raw[:at]), item.raw[-1]
        is_unit = _is_known_unit(unit) or (words_in_text(unit) == ["in"] and is_numeric(items[index - 1]))
        if word in _JOINING and is_unit and read_unit([unit]) is not None:
            joint = replace(item, raw=item.raw[at:], pos=item.raw[at].pos, gap=GAP_SPACE)
            out += [unit, Token("ROW", "and", joint.pos, GAP_SPACE, raw=joint.raw) if word in _ANDS else joint]
        elif last.type == "COMMA" and _is_known_unit(item) and is_numeric(items[index - 1]):
            out += [item, last]
        else:
            out.append(item)
    return out


def _is_foreign_text(item: Token) -> bool:
    """Return True for words in letters that formulas have not."""
    return item.type == "ROMAN" and is_foreign(item)


def _without_rounding_words(items: list[Token]) -> list[Token]:
    r"""Return the items without the words of `x = \text{about } 3`, which say only that the number is rounded."""
    return [
        item for item, before, behind in zip(items, [None, *items], [*items[1:], None], strict=False)
        if not (_is_text(item) and before is not None and before.type == "REL" and behind is not None and (
            behind.type == "NUM" and _ROUGHLY.issuperset(words_in_text(item))))
    ]  # fmt: skip


def _without_remark(items: list[Token]) -> list[Token]:
    r"""Return the items without words behind the unit at their end: `3\text{ m upwards}`, `2\text{ cm off axis}`."""
    last = items[-1] if len(items) > 1 else None
    if last is None or not _is_text(last) or not (words := words_in_text(last)) or _is_known_unit(last):
        return items
    starts = [at for at, token in enumerate(last.raw) if at and token.gap and token.type in ("letter", "OPEN")]
    for at in reversed(starts):
        unit, rest = replace(last, raw=last.raw[:at]), words_in_text(replace(last, raw=last.raw[at:]))
        if not is_remark(rest) or rest[0] in UNITS or not rest[0].islower():
            break
        if _is_known_unit(unit) and read_unit([unit]) is not None:
            return [*items[:-1], unit]
    is_direction = has_type(items, "REL") and not is_numeric(items[-2]) and _DIRECTION.fullmatch(words[-1].lower())
    return items[:-1] if is_direction and is_remark(words) else items


def _is_known_unit(text: Token) -> bool:
    r"""Return True if all words of a text are units, `m/s` and `light years`."""
    words = words_in_text(text)
    return all(word in UNITS or word in LONG_UNITS for word in words) or is_written_out_unit(words)


def _refuse_changing_words(items: list[Token]) -> None:
    r"""Raise a Fault for words beside or behind a formula that change its quantity, `\text{(times 2)}`.

    The name of a quantity, `\text{opposite}/\text{hypotenuse}`, changes nothing; nor does a unit that is written out.
    """
    for index, item in enumerate(items):
        if _is_foreign_text(item) and not is_remark(words_in_text(item)):
            raise _prose_fault(item)
        if item.type == "PAREN" and item.args[0]:
            goes_on = index + 1 < len(items) and items[index + 1].type not in _SEPARATES
            for inner in item.args[0]:
                if _is_foreign_text(inner) and (goes_on or not is_remark(words_in_text(inner))):
                    raise _prose_fault(inner)
                if _is_text(inner) and _changes_quantity(inner):
                    raise _prose_fault(inner)
        elif _is_text(item) and _changes_quantity(item):
            sides = (items[index - 1] if index else None, items[index + 1] if index + 1 < len(items) else None)
            ends = [side is None or side.type in OPERATORS for side in sides]
            joined = [side is not None and side.type not in _SEPARATES for side in sides]
            percent = words_in_text(item) == ["percent"] and sides[0] is not None and is_numeric(sides[0])
            if not (all(ends) and any(joined)) and not percent:
                raise _prose_fault(item)


def _changes_quantity(item: Token) -> bool:
    """Return True if the words of a text change the quantity beside it and are no unit that is written out."""
    words = words_in_text(item)
    unless = bool(words) and words[0].lower() == "unless"
    return unless or (changes_quantity(words) and not is_written_out_unit(words))


# What leads and trails ------------------------------------------------------------------------------------------


def _strip_lead(items: list[Token]) -> list[Token]:
    """Return the items without what stands before the formula: arrows, separators, `=`, the number `(2)`, a label."""
    while items:
        first = items[0]
        if (
            first.type in ("IMPLIES", "ROW", "COMMA")
            or (first.type == "REL" and first.text in _LEADING)
            or starts_with_formula_number(items)
            or (first.type == "ROMAN" and _starts_with_lead_in(items))
        ):
            items = items[1:]
        elif first.type == "ROMAN" and len(items) > 1 and _is_label_text(first):
            items = items[2:] if items[1].type in ("COLON", "COMMA") else items[1:]
        elif (
            first.type in ("NUM", "PAREN", "ROMAN")
            and len(items) > 2
            and items[1].type == "COLON"
            and (sum(item.type == "COLON" for item in items) == 1 and has_type(items, "REL"))
        ):
            items = items[2:]
        else:
            break
    return items


def _starts_with_lead_in(items: list[Token]) -> bool:
    r"""Return True if the items begin with words that announce a formula, `\text{Assume } a = b`.

    Other words of four letters and more before a symbol raise a Fault, unless they are a condition, denial or label.
    """
    first = items[0]
    if len(items) < 2 or first.text != "text" or first.sup is not None or items[1].type in OPERATORS | {"PAREN"}:
        return False
    words = [word.lower() for word in words_in_text(first)]
    if not words or words[0] in _CONDITIONS or DENIALS.intersection(words):
        return False
    if words[0] in _LEAD_INS:
        return True
    if any(len(word) > _LONGEST_FACTOR for word in words) and not _is_label_text(first):
        raise _prose_fault(first)
    return False


def _is_label_text(item: Token) -> bool:
    """Return True for a text that announces what follows it: `(a)`, `Energy:`, `Case 1:`."""
    if item.text != "text" or not item.raw or item.sup is not None:
        return False
    words = words_in_text(item)
    if item.raw[-1].type == "COLON":
        return not any(word.lower() in DENIALS for word in words)
    numbered = item.raw[-1].type == "CLOSE" and len(item.raw) <= len("(iii)") and not is_foreign(item)
    return numbered or (bool(words) and words[0].lower() in _LABELS and len(words) <= 1)


def _strip_tail(items: list[Token]) -> list[Token]:
    r"""Return the items without what stands behind the formula: separators, a remark in words, a number `\quad (2)`.

    A number in brackets behind a narrow space may also be a factor and raises an Ambiguity.
    """
    end = len(items)
    while end and (
        items[end - 1].type in ("COMMA", "ROW", "COLON")
        or (items[end - 1].text in (r"\square", r"\Box") and items[end - 1].sup is None and has_type(items, "REL"))
    ):
        end -= 1
    if end > 1 and _is_text(items[end - 1]) and [token.text for token in items[end - 1].raw] == [")"]:
        raw = [token.text for item in items if _is_text(item) for token in item.raw]
        end -= raw.count("(") == raw.count(")") == 1  # a remark that is partly mathematics: `\text{(as } a = b\text{)}`
    if end > 1 and (last := items[end - 1]).type == "ROMAN" and last.text == "text" and last.sup is None:
        words = words_in_text(last)
        bracketed = bool(last.raw) and last.raw[0].text == "("
        joining = bool(words) and words[0].lower() in _CONDITIONS | _ANDS | _ARROWS
        remark = bool(words) and (joining or bracketed or (len(words) > 2 and not may_be_unit_words(words)))
        before = items[end - 2]
        unit_like = is_numeric(before) or before.type == "ROMAN"
        unit_like = unit_like and not bracketed and (len(words) == 1 or not joining or _is_rate_in_inches(last))
        denies = any(word.lower() in DENIALS | WRONG_WORDS for word in words)
        apart = last.gap or before.type == "COMMA" or bracketed
        complete = before.type not in OPERATORS or before.type == "COMMA"
        if remark and apart and complete and not unit_like and not denies:
            return _strip_tail(items[: end - 1])
    if (start := start_of_formula_number(items[:end])) < end:
        return _strip_tail(items[:start])
    if end > 1 and (last := items[end - 1]).type == "PAREN" and last.gap >= GAP_SPACE and last.text == "(":
        inside = last.args[0]
        if len(inside) == 1 and inside[0].type == "NUM" and inside[0].sup is None:
            if last.gap == GAP_QUAD:
                return _strip_tail(items[: end - 1])
            if not is_numeric(items[end - 2]) and has_type(items, "REL"):
                raise Ambiguity(last.pos, "a number in brackets behind a formula: its number, or a factor?",
                                "a wide space before it", "a product sign")  # fmt: skip
    return items[:end]


def _is_rate_in_inches(item: Token) -> bool:
    r"""Return True for a text that begins with `in/`, inches per another unit: `\text{in/s}`."""
    return [token.text for token in item.raw[:3]] == ["i", "n", "/"]


# Where to cut ---------------------------------------------------------------------------------------------------


def _separator_or_item(items: list[Token], index: int) -> Token:
    """Return the separator that the item at an index is (IMPLIES, ROW, OR, WHERE), or the item itself if it is none.

    Arrows and wedges between equalities, words (`so`, `and`, `if`) and conditions in brackets separate formulas.
    """
    item = items[index]
    if item.type == "REL" and RELATION_TEXT[item.text] == "to":
        budget.charge(len(items) * _LOOK_AHEAD)
        if _has_equality(reversed(items[:index])) and _has_equality(items[index + 1 :]):
            return Token("IMPLIES", item.text, item.pos, item.gap)
    elif item.text == r"\wedge" and _has_equality(reversed(items[:index])) and _has_equality(items[index + 1 :]):
        return Token("ROW", "and", item.pos, item.gap)
    elif item.type == "ROMAN" and item.text == "text" and item.sup is None:
        return _prose_separator_or_item(items, index)
    elif item.type == "PAREN" and item.text in ("(", "[") and index:
        return _condition_in_brackets_or_item(items, index)
    return item


def _has_equality(items: Iterable[Token]) -> bool:
    """Return True if an equality stands among the items before the first separator of formulas."""
    for item in items:
        if item.type in ("IMPLIES", "ROW", "OR"):
            return False
        if item.type == "REL" and RELATION_TEXT[item.text] in EQUALITIES:
            return True
    return False


def _prose_separator_or_item(items: list[Token], index: int) -> Token:
    """Return the separator that the words at an index are, or the item itself if it is an operand or unit.

    The separator is IMPLIES for `so`, ROW for `and`, OR for `or`, WHERE for `if`, `for` and `where`; a condition with a
    denial raises a Fault.
    """
    item = items[index]
    words = [word.lower() for word in words_in_text(item)]
    if not words:
        return item
    if "or" in words and ALTERNATIVE.issuperset(words):
        return Token("OR", "or", item.pos, item.gap)
    if index and sum((token.type == "OPEN") - (token.type == "CLOSE") for token in item.raw) > 0:
        if not (DENIALS | WRONG_WORDS).isdisjoint(words):
            raise _prose_fault(item)
        return Token("WHERE", words[0], item.pos, item.gap)  # a remark that goes on behind the text
    before = items[index - 1].type if index else "ROW"
    operand = before in _CONTINUES_FORMULA or (index + 1 < len(items) and items[index + 1].type in _CONTINUES_FORMULA)
    if all(word in _ARROWS for word in words):
        return Token("IMPLIES", "so", item.pos, item.gap)
    if all(word in _ANDS for word in words):
        return Token("ROW", "and", item.pos, item.gap, raw=item.raw)
    if words[0] == "or" and (len(words) == 1 or words[1] in _RESTATING):
        return Token("OR" if len(words) == 1 else "IMPLIES", "or", item.pos, item.gap)
    if operand and len(words) == 1 and words[0] in ("at", "as", "in", "by", "on"):
        return item  # `\text{in}`: an inch, an index
    behind = items[index + 1].type if index + 1 < len(items) else "ROW"
    if index and is_numeric(items[index - 1]) and _is_rate_in_inches(item):
        return item
    if words == ["in"] and index and is_numeric(items[index - 1]) and behind in ("ROW", "COMMA", "REL", "IMPLIES"):
        return item  # nothing follows that a condition could name
    if behind in ("REL", "TIMES", "SLASH", "PM") or before in _CONTINUES_FORMULA:
        return item  # the name of a quantity
    if words[0] in _CONDITIONS and (len(words) > 1 or item.gap or before in ("COMMA", "ROW")):
        if any(word in DENIALS for word in words):
            raise _prose_fault(item)
        return Token("WHERE", words[0], item.pos, item.gap)
    return item


def _refuse_prose(item: Token) -> None:
    """Raise a Fault if an item is a text of several words which are no units."""
    words = words_in_text(item) if item.type == "ROMAN" and item.text == "text" else []
    if (len(words) > 1 and not may_be_unit_words(words)) or (words and is_foreign(item)):
        raise _prose_fault(item)


def _prose_fault(item: Token) -> Fault:
    """Return the Fault for a text that is prose inside a formula, with an excerpt of it."""
    return Fault(item.pos, f"prose inside the formula: {excerpt(item)}", "mathematics only", kind="prose")


def _condition_in_brackets_or_item(items: list[Token], index: int) -> Token:
    r"""Return the separator that a bracket at the end of a formula is, or the item itself if it is none.

    A condition, `E = 0 \quad (r < R)`, becomes WHERE with the content as argument; a remark in words becomes ROW, which
    drops the words.
    """
    item = items[index]
    content = item.args[0]
    behind = items[index + 1].type if index + 1 < len(items) else "ROW"
    words = words_in_text(content[0]) if content[0].type == "ROMAN" else []
    worded = bool(words) and words[0].lower() in _CONDITIONS
    related = has_type(content, "REL")
    before = items[index - 1]
    apart = item.gap >= GAP_SPACE or before.type not in _MAY_CALL or before.type == "COMMA"
    stated = has_type(items[:index], "REL")
    later = content[1:] if worded else content
    is_restated = before.type == "ROMAN" and item.gap > GAP_NONE  # in another unit, `3\text{ m} (10\text{ ft})`
    remark = any(_is_text(part) and words_in_text(part) and (is_restated or not _is_known_unit(part)) for part in later)
    remark = (
        remark
        and (worded or not (related or has_type(content, *_JOINING_SIGNS)))
        and before.type not in OPERATORS - {"COMMA"}
    )
    if remark and stated and behind in ("ROW", "COMMA", "IMPLIES", "OR") and item.sup is None:
        return Token("ROW", "remark", item.pos, item.gap)
    ends = behind in ("ROW", "COMMA", "IMPLIES", "OR") and before.type not in OPERATORS - {"COMMA"}
    if item.sup is None and item.sub is None and ends and stated and (worded or (related and apart)):
        word = words[0].lower() if worded else "("
        return Token("WHERE", word, item.pos, item.gap, args=[content[1:] if worded else content])
    return item


def _split_and_read(
    items: list[Token], end: int, separator: str, kind: str, read_part: Callable[[list[Token], int], Clause]
) -> Clause:
    """Split items at the separators of one type, read each part by `read_part`, and join the clauses to one.

    Raises Fault if all parts are empty.

    Args:
        end: offset in the text behind the last item.
        separator: token type of the separators.
        kind: kind of the joined clause.
        read_part: function of the items between two separators and the offset behind them.
    """
    parts: list[Clause] = []
    stretch: list[Token] = []
    for item in [*items, Token(separator, "", end)]:
        if item.type == separator:
            if stretch := _strip_edges(stretch):
                parts.append(read_part(stretch, item.pos))
            stretch = []
        else:
            stretch.append(item)
    if not parts:
        raise Fault(items[0].pos, "an empty formula", "a number or a symbol")
    return _join_clauses(kind, parts)


def _strip_edges(items: list[Token]) -> list[Token]:
    """Return the items without separators behind the formula, and without separators, labels and lead-ins before it."""
    while items and items[-1].type in ("COMMA", "ROW", "COLON"):
        items = items[:-1]
    return _strip_lead(items)


def _read_alternatives(items: list[Token], end: int) -> Clause:
    r"""Read formulas joined by `\lor` or `or` as one clause; `x = 1 \text{ or } 2` states `x = 1 or x = 2`."""
    if not has_type(items, "OR"):
        return _read_system(items, end)
    relations = [at for at, item in enumerate(items) if item.type == "REL"]
    first_or = next(at for at, item in enumerate(items) if item.type == "OR")
    if len(relations) == 1 and relations[0] < first_or:  # `x = 1 or 2` says `x = 1 or x = 2`
        carried = items[: relations[0] + 1]
        items = [part for item in items for part in ((item, *carried) if item.type == "OR" else (item,))]
    return _split_and_read(items, end, "OR", "alternatives", _read_system)


def _read_system(items: list[Token], end: int) -> Clause:
    """Read formulas with rows, commas, wide spaces and conditions between them as one clause, a system if several.

    Raises Fault, of kind prose, for words without a formula.

    Args:
        end: offset in the text behind the last item.
    """
    segments: list[list[_Piece]] = [[]]
    for piece in _split_pieces(items, end):
        if piece.boundary in ("row", "wide") and segments[-1]:
            segments.append([])
        segments[-1].append(piece)
    parts = [part for segment in segments if segment for part in _read_claims_with_conditions(segment)]
    if not parts:
        raise Fault(items[0].pos if items else end, "words without a formula", "mathematics", kind="prose")
    return _join_clauses("system", parts)


def _split_pieces(items: list[Token], end: int) -> list[_Piece]:
    """Split items at commas, row ends, wide spaces and words of conditions; a row end beside an operator is ignored.

    Args:
        end: offset in the text behind the last item.
    """
    pieces: list[_Piece] = []
    current = _Piece([], "", end)

    def close_piece(at: int, boundary: str) -> None:
        """Append the current piece, which ends at an offset, unless it is empty; begin the piece behind `boundary`."""
        nonlocal current
        if current.items:
            current.end = at
            pieces.append(current)
        current = _Piece([], boundary, end)

    for index, item in enumerate(items):
        behind = items[index + 1] if index + 1 < len(items) else None
        last = current.items[-1].type if current.items else ""
        if item.type == "COMMA" or (item.type == "COLON" and current.is_condition and current.has_relation):
            close_piece(item.pos, "comma")
        elif item.type == "ROW":
            goes_on = behind is not None and behind.type in _CONTINUES_FORMULA and item.text != "and"
            if not goes_on and last not in OPERATORS:
                close_piece(item.pos, "row")
        elif item.type == "WHERE":
            close_piece(item.pos, "where" if item.text in _EXPLAINING else "if")
        else:
            wide = item.gap == GAP_QUAD and item.type not in OPERATORS and last not in OPERATORS
            if wide and current.has_relation:
                close_piece(item.pos, "wide")
            elif item.type == "REL" and not current.items and pieces and current.boundary == "comma":
                current = pieces.pop()  # `a = b, = c`
            current.items.append(item)
    close_piece(end, "")
    return pieces


def _read_claims_with_conditions(pieces: list[_Piece]) -> list[Clause]:
    """Read the pieces between two row ends or wide spaces as clauses, each formula with the conditions behind it.

    A piece behind a condition and a comma is a further condition (`a = b if c > 0, d > 0`), unless a condition of its
    own follows: then it is the next formula.
    """
    out: list[Clause] = []
    claims: list[_Piece] = []
    conditions: list[_Piece] = []
    before_condition = [piece.is_condition for piece in pieces[1:]] + [False]
    for piece, is_last in zip(pieces, before_condition, strict=True):
        if piece.is_condition or (conditions and claims and not is_last):
            conditions.append(piece)
        else:
            if conditions and claims:
                out += _attach_conditions(claims, conditions)
                claims, conditions = [], []
            claims.append(piece)
    return out + _attach_conditions(claims, conditions)


def _attach_conditions(claims: list[_Piece], conditions: list[_Piece]) -> list[Clause]:
    """Return [clause of the claims under their conditions]; if one argument is empty, the plain formulas of the other.

    The kind is `restricted` if a condition begins with a word like `if`, `conditional` if all of them explain names.
    """
    if not claims or not conditions:
        return _formulas_of_pieces(claims or conditions)
    claim = _join_clauses("system", _formulas_of_pieces(claims))
    kind = "restricted" if any(piece.boundary == "if" for piece in conditions) else "conditional"
    return [_join_clauses(kind, [claim, *_formulas_of_pieces([replace(piece, boundary="") for piece in conditions])])]


def _formulas_of_pieces(pieces: list[_Piece]) -> list[Clause]:
    """Make one formula of each piece with a relation; a piece without one is a further value beside it.

    `n = 1` and `2` give the formula n = (list of 1, 2); `x` and `y = 3` give (list of x, y) = 3. A value between two
    formulas belongs to the first if it is a number; anything else raises an Ambiguity.
    """
    out: list[Clause] = []
    waiting: list[_Piece] = []  # pieces without a relation
    twins: list[tuple[Clause, Token]] = []  # letters before the one with a range: m of `m, n \in \mathbb{Z}`
    for piece in pieces:
        if not piece.has_relation:
            waiting.append(piece)
            continue
        is_range = _gives_range(piece.items)
        is_led = is_range and not out and len(waiting) > 1 and not _is_counter(waiting[0].items)
        if is_led and piece.items[1].text != "=" and all(_is_counter(bare.items) for bare in waiting[1:]):
            first = waiting.pop(0)  # an expression and its range: `\sin mx, \quad m, n \in \mathbb{N}`
            out.append(Clause(items=first.items, start=first.items[0].pos, end=first.end))
        if out and waiting and is_range and all(_is_counter(bare.items) for bare in waiting):
            clause = Clause(items=piece.items, start=piece.items[0].pos, end=piece.end)
            twins += [(clause, bare.items[0]) for bare in waiting]
            out.append(clause)
            waiting = []
            continue
        if out and waiting:
            if not all(item.type in _NUMBER_LIST_TYPES for bare in waiting for item in bare.items):
                raise Ambiguity(waiting[0].items[0].pos, "a list between two formulas: to which does it belong?",
                                "one formula")  # fmt: skip
            _extend_last_member(out[-1], waiting)
            waiting = []
        items = piece.items
        if waiting:
            cut = next(at for at, item in enumerate(items) if item.type == "REL")
            items = [_list_token([*(bare.items for bare in waiting), items[:cut]]), *items[cut:]]
            waiting = []
        out.append(Clause(items=items, start=items[0].pos, end=piece.end))
    if waiting and out:
        if len(out) > 1 and all(item.text == "dots" for bare in waiting for item in bare.items):
            raise Fault(waiting[0].items[0].pos, "formulas that go on without being written", "formulas")
        _extend_last_member(out[-1], waiting)
        out[-1].end = waiting[-1].end
    elif waiting:
        items = waiting[0].items if len(waiting) == 1 else [_list_token([bare.items for bare in waiting])]
        out.append(Clause(items=items, start=items[0].pos, end=waiting[-1].end))
    for clause, letter in reversed(twins):
        at = next(k for k, each in enumerate(out) if each is clause)
        out.insert(at, Clause(items=[letter, *clause.items[1:]], start=letter.pos, end=clause.end))
    return out


def _is_counter(items: list[Token]) -> bool:
    """Return True for a lone letter that usually is a whole number."""
    return len(items) == 1 and items[0].type == "SYM" and items[0].text in _COUNTERS


def _gives_range(items: list[Token]) -> bool:
    r"""Return True for `n \in` or `n = 1`, the beginning of a range of whole numbers."""
    if len(items) < _SHORTEST_RANGE or not _is_counter(items[:1]) or items[1].type != "REL":
        return False
    return items[1].text == r"\in" or (items[1].text == "=" and items[2].type == "NUM")


def _list_token(members: list[list[Token]]) -> Token:
    """Make the LISTED token of a list, `1, 2`, from the items of each of its values."""
    first = members[0][0]
    return Token("LISTED", "list", first.pos, first.gap, args=members)


def _extend_last_member(clause: Clause, pieces: list[_Piece]) -> None:
    """Append pieces as values to the right side of a formula, in place: `n = 1` becomes n = (list of 1, 2).

    The right side is what stands behind the last relation; an empty one raises a Fault.
    """
    cut = max(at for at, item in enumerate(clause.items) if item.type == "REL") + 1
    last = clause.items[cut:]
    if not last:
        raise Fault(pieces[0].items[0].pos, "a list without its first value", "a value")
    clause.items = [*clause.items[:cut], _list_token([last, *(piece.items for piece in pieces)])]


# One formula ----------------------------------------------------------------------------------------------------

_BLANK = Expr("blank")
_DISTRIBUTED = frozenset((r"\sim", "~"))


def complete_sides(items: list[Token]) -> list[Token]:
    r"""Put a placeholder before a formula that begins with a relation (`\ge 2`), and turn `a : b` into a quotient."""
    if items and items[0].type == "REL":
        items = [Token("INFINITY", "blank", items[0].pos, expr=_BLANK), *items]
    relations = [item for item in items if item.type == "REL"]
    if relations and relations[0].text == r"\mid" and any(item.text in _DISTRIBUTED for item in relations):
        raise Fault(relations[0].pos, "a condition before the distribution that holds under it", r"`p(y \mid x) = ...`")
    return resolve_ratios(items) if has_type(items, "COLON") else items


def resolve_ratios(items: list[Token]) -> list[Token]:
    """Turn the sides of `a : b = 1 : 2` into quotients, those of `a : b : c = 1 : 2 : 3` into LISTED ratios.

    Sides with different numbers of colons raise an Ambiguity, as a colon may also stand behind a label.
    """
    members = split_at(items, ("REL", "COMMA"))
    relations = [item for item in items if item.type in ("REL", "COMMA")]
    colons = [sum(item.type == "COLON" for item in member) for member in members]
    if min(colons) != max(colons):
        place = next(item for item in items if item.type == "COLON")
        raise Ambiguity(place.pos, "a colon: a label, or a ratio?", "the formula without its label", "a fraction")
    out: list[Token] = []
    for relation, member in zip([None, *relations], members, strict=True):
        parts = split_at(member, ("COLON",))
        if not all(parts):
            raise Fault(items[0].pos, "a ratio with an empty part", "a number or a symbol")
        first = parts[0][0]
        kind, text = ("FRAC", "") if len(parts) == 2 else ("LISTED", "ratio")
        out += [*([relation] if relation else []), Token(kind, text, first.pos, first.gap, args=parts)]
    return out
