r"""Several formulas in one: systems, alternatives, implications, conditions, lists of values.

`a = b, \quad c = d \Rightarrow e = f \text{ for } x > 0` is cut here, before anything else looks at neighbours: at
arrows first, then at `or`, then at rows, wide spaces and commas. What stands between commas and states nothing is a
list: `n = 1, 2, \ldots` is one formula with a list on its right. Where a piece could belong to either neighbour
(`a = b, c, d = e`), the formula is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from prism.algebra.expr import EQUALITIES, Expr
from prism.latex.parsing.roman_text import DENIALS, may_be_units, shown, words_of
from prism.latex.parsing.tokens import GAP_QUAD, GAP_SPACE, OPERATORS, RELATION_TEXT, Fault, Token
from prism.latex.parsing.unit_text import is_numeric

MAX_PARTS = 200  # formulas in one; each is settled and built by itself

_CONTINUING = frozenset(("REL", "PLUS", "MINUS", "TIMES", "PM", "SLASH"))
_LEADING = frozenset(("=", r"\approx", r"\equiv", ":=", r"\simeq", r"\sim", r"\cong"))
_CONDITIONS = frozenset(
    "where for if when whenever with as at since because given provided assuming unless while inside outside whose "
    "on in until near once let during by from".split()
)
_EXPLAINING = frozenset("where with as since because whose let by from in using".split())  # what these name holds
_ARROWS = frozenset("so then thus hence therefore gives giving yields yielding implies i.e. ie".split())
_ANDS = frozenset("and also but while".split())
_RESTATING = frozenset("equivalently alternatively simply just rather".split())
_LABELS = frozenset("case part step equation answer result final solution".split())
_LEAD_INS = frozenset(
    "assume suppose thus so hence then therefore note recall using take consider and we have get find obtain now also "
    "gives yields implies that is".split()
)
_NUMERALS = frozenset(("a", "b", "c", "d", "e", "f", "i", "ii", "iii", "iv", "v"))
_LONGEST_FACTOR = 3  # letters of a word in text mode that may be a factor
_CALLED = frozenset(("SYM", "ROMAN", "FUNCTION", "DERIVATIVE"))  # a bracket behind these may be a call
_ARROW_SIGNS = frozenset(sign for sign, relation in RELATION_TEXT.items() if relation == "to")
_COUNTING = frozenset(("NUM", "MINUS", "PLUS", "PM", "FRAC", "INFINITY"))  # of a list of numbers


@dataclass(slots=True)
class Clause:
    """One formula, or several of a kind.

    Attributes:
        kind: `system`, `alternatives`, `implication`, `conditional`, `restricted`; empty for one formula.
        items: siblings of the one formula.
        parts: of the several.
        start, end: offsets in the author's text.
    """

    kind: str = ""
    items: list[Token] = field(default_factory=list)
    parts: list[Clause] = field(default_factory=list)
    start: int = 0
    end: int = 0


@dataclass(slots=True)
class _Piece:
    """What stands between two separators.

    Attributes:
        boundary: the separator before it: `comma`, `row`, `wide`, `where`, `if`, or nothing.
        end: offset of the separator behind it.
    """

    items: list[Token]
    boundary: str
    end: int

    @property
    def is_condition(self) -> bool:
        return self.boundary in ("where", "if")

    @property
    def is_related(self) -> bool:
        return any(item.type == "REL" for item in self.items)


def clauses(items: list[Token], end: int) -> Clause:
    """Cut the siblings of a whole formula into the formulas that it states.

    Args:
        items: from the reader.
        end: offset behind the last of them.

    Errors:
        Fault: nothing is left, prose, or a piece that belongs nowhere for certain.
    """
    items = _without_tail(_without_lead(items))
    while len(items) == 1 and items[0].text in ("(", "[", "{.") and items[0].sup is None and _states(items[0]):
        items = _without_tail(_without_lead(items[0].args[0]))  # `(n = 2)`: the brackets are punctuation
    if len(items) == 1 and items[0].text == "cases" and (rows := _stated_rows(items[0])):
        items = rows
    if not items:
        raise Fault(0, "an empty formula", "a number or a symbol")
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
    if not _may_be_several(items):
        _refuse_prose(items[0])
        return Clause(items=items, start=items[0].pos, end=end)  # the common case: one formula
    if len(items) == 1 or (len(items) == 2 and items[0].type == "REL"):
        _refuse_prose(items[-1])
    marked = []
    for index in range(len(items)):
        joint = _joint(items, index)
        marked.append(joint)
        if joint.type == "WHERE" and joint.args:  # a condition in brackets
            marked += [*joint.args[0], Token("ROW", "remark", joint.pos)]
    whole = _split(marked, end, "IMPLIES", "implication", _alternatives)
    if _size(whole) > MAX_PARTS:
        raise Fault(items[0].pos, f"more than {MAX_PARTS} formulas in one", kind="limit")
    return whole


def _stated_rows(cases: Token) -> list[Token]:
    """The rows behind a brace as a system, if each states something; else nothing: they are values of a function."""
    rows = [row.args[0] for arg in cases.args for row in arg if len(row.args) == 1]
    if len(rows) < len(cases.args) or not all(any(item.type == "REL" for item in row) for row in rows):
        return []
    joined = [part for row in rows for part in (Token("ROW", "\\\\", row[0].pos), *row)]
    return joined[1:]


def _states(bracket: Token) -> bool:
    """Whether a bracket encloses nothing but one relation."""
    kinds = [item.type for item in bracket.args[0]]
    if bracket.text == "{.":
        return True
    return bracket.type == "PAREN" and "REL" in kinds and not {"COMMA", "GIVEN"}.intersection(kinds)


def _may_be_several(items: list[Token]) -> bool:
    """A look at the siblings that spares the common case, one formula, all the rules below."""
    if items[0].type == "ROMAN" or items[-1].type == "PAREN":
        return True
    for item in items[1:]:
        kind = item.type
        if (
            kind in _SEPARATING
            or item.text == r"\wedge"
            or item.gap == GAP_QUAD
            or (kind == "REL" and item.text in _ARROW_SIGNS)
        ):
            return True
    return False


_SEPARATING = frozenset(("COMMA", "ROW", "IMPLIES", "OR", "ROMAN"))


def _size(clause: Clause) -> int:
    return 1 if not clause.kind else sum(_size(part) for part in clause.parts)


def _of(kind: str, parts: list[Clause]) -> Clause:
    """Several formulas of a kind, flat; a single one is itself."""
    if len(parts) == 1:
        return parts[0]
    return Clause(kind, parts=parts, start=parts[0].start, end=parts[-1].end)


# What leads and trails ------------------------------------------------------------------------------------------


def _without_lead(items: list[Token]) -> list[Token]:
    """Without arrows, an equality or a label that stands before the formula."""
    while items:
        first = items[0]
        if (
            first.type in ("IMPLIES", "ROW", "COMMA")
            or (first.type == "REL" and first.text in _LEADING)
            or _is_number_of(items)
            or (first.type == "ROMAN" and _leads_in(items))
        ):
            items = items[1:]
        elif first.type == "ROMAN" and len(items) > 1 and _is_label(first):
            items = items[2:] if items[1].type in ("COLON", "COMMA") else items[1:]
        elif (
            first.type in ("NUM", "PAREN", "ROMAN")
            and len(items) > 2
            and items[1].type == "COLON"
            and (sum(item.type == "COLON" for item in items) == 1 and any(item.type == "REL" for item in items))
        ):
            items = items[2:]
        else:
            break
    return items


def _is_number_of(items: list[Token]) -> bool:
    """`(2) F = ma`, `(b) F = ma`: the number of a formula, set apart in front of it."""
    if len(items) < 3 or items[0].type != "PAREN" or items[0].text != "(" or items[0].sup is not None:
        return False
    content = items[0].args[0]
    numeral = "".join(part.text for part in content if part.sup is None)
    apart = items[1].gap and items[1].type not in OPERATORS and any(item.type == "REL" for item in items)
    return bool(apart) and len(content) <= len("iii") and (numeral in _NUMERALS or numeral.isdigit())


def _leads_in(items: list[Token]) -> bool:
    r"""`\text{Assume } a = b`; another word before a symbol is prose, and no factor."""
    first = items[0]
    if len(items) < 2 or first.text != "text" or first.sup is not None or items[1].type in OPERATORS | {"PAREN"}:
        return False
    words = [word.lower() for word in words_of(first)]
    if not words or words[0] in _CONDITIONS or DENIALS.intersection(words):
        return False
    if words[0] in _LEAD_INS:
        return True
    if any(len(word) > _LONGEST_FACTOR for word in words) and not _is_label(first):
        raise _prose(first)
    return False


def _is_label(item: Token) -> bool:
    """`(a)`, `Energy:`, `Case 1:`: a text that announces what follows."""
    if item.text != "text" or not item.raw or item.sup is not None:
        return False
    words = words_of(item)
    if item.raw[-1].type == "COLON":
        return not any(word.lower() in DENIALS for word in words)
    numbered = item.raw[-1].type == "CLOSE" and len(item.raw) <= len("(iii)")
    return numbered or (bool(words) and words[0].lower() in _LABELS and len(words) <= 1)


def _without_tail(items: list[Token]) -> list[Token]:
    """Without a remark or an equation number that stands behind the end of the formula."""
    end = len(items)
    while end and items[end - 1].type in ("COMMA", "ROW", "COLON"):
        end -= 1
    if end > 1 and (last := items[end - 1]).type == "ROMAN" and last.text == "text" and last.sup is None:
        words = words_of(last)
        bracketed = bool(last.raw) and last.raw[0].text == "("
        joining = bool(words) and words[0].lower() in _CONDITIONS | _ANDS | _ARROWS
        remark = bool(words) and (joining or bracketed or _is_sentence(words))
        before = items[end - 2]
        unit_like = is_numeric(before) or before.type == "ROMAN"
        unit_like = unit_like and not bracketed and (len(words) == 1 or not joining or _is_rate_in_inches(last))
        denies = any(word.lower() in DENIALS for word in words)
        apart = last.gap or before.type == "COMMA" or bracketed
        complete = before.type not in OPERATORS or before.type == "COMMA"
        if remark and apart and complete and not unit_like and not denies:
            return _without_tail(items[: end - 1])
    if end > 1 and (last := items[end - 1]).type == "PAREN" and last.gap >= GAP_SPACE and last.text == "(":
        inside = last.args[0]
        if len(inside) == 1 and inside[0].type == "NUM" and inside[0].sup is None:
            if last.gap == GAP_QUAD:
                return _without_tail(items[: end - 1])
            if not is_numeric(items[end - 2]) and any(item.type == "REL" for item in items):
                raise Fault(last.pos, "a number in brackets behind a formula: its number, or a factor?",
                            "a wide space before it", "a product sign", kind="ambiguous")  # fmt: skip
    return items[:end]


def _is_rate_in_inches(item: Token) -> bool:
    r"""Whether a text that begins with `in` is one of inches: `\text{in/s}`."""
    return [token.text for token in item.raw[:3]] == ["i", "n", "/"]


def _is_sentence(words: list[str]) -> bool:
    return len(words) > 2 and not may_be_units(words)


# Where to cut ---------------------------------------------------------------------------------------------------


def _joint(items: list[Token], index: int) -> Token:
    """The item, or the separator that it is: prose between formulas, an arrow between equations, a condition."""
    item = items[index]
    if item.type == "REL" and RELATION_TEXT[item.text] == "to":
        if _has_equality(reversed(items[:index])) and _has_equality(items[index + 1 :]):
            return Token("IMPLIES", item.text, item.pos, item.gap)
    elif item.text == r"\wedge" and _has_equality(reversed(items[:index])) and _has_equality(items[index + 1 :]):
        return Token("ROW", "and", item.pos, item.gap)
    elif item.type == "ROMAN" and item.text == "text" and item.sup is None:
        return _prose_joint(items, index)
    elif item.type == "PAREN" and item.text in ("(", "[") and index:
        return _bracketed_condition(items, index)
    return item


def _has_equality(items: Iterable[Token]) -> bool:
    """Whether an equality stands before the next separator."""
    for item in items:
        if item.type in ("IMPLIES", "ROW", "OR"):
            return False
        if item.type == "REL" and RELATION_TEXT[item.text] in EQUALITIES:
            return True
    return False


def _prose_joint(items: list[Token], index: int) -> Token:
    """What a roman text between formulas says; one that is an operand or a unit stays as it is."""
    item = items[index]
    words = [word.lower() for word in words_of(item)]
    if not words:
        return item
    if index and sum((token.type == "OPEN") - (token.type == "CLOSE") for token in item.raw) > 0:
        return Token("WHERE", words[0], item.pos, item.gap)  # a remark that goes on behind the text
    before = items[index - 1].type if index else "ROW"
    operand = before in _CONTINUING or (index + 1 < len(items) and items[index + 1].type in _CONTINUING)
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
    if behind in ("REL", "TIMES", "SLASH", "PM") or before in _CONTINUING:
        return item  # the name of a quantity
    if words[0] in _CONDITIONS and (len(words) > 1 or item.gap or before in ("COMMA", "ROW")):
        if any(word in DENIALS for word in words):
            raise _prose(item)
        return Token("WHERE", words[0], item.pos, item.gap)
    return item


def _refuse_prose(item: Token) -> None:
    """A text of several words that is all there is, is no mathematics."""
    if item.type == "ROMAN" and item.text == "text" and len(words := words_of(item)) > 1 and not may_be_units(words):
        raise _prose(item)


def _prose(item: Token) -> Fault:
    return Fault(item.pos, f"prose inside the formula: {shown(item)}", "mathematics only", kind="prose")


def _bracketed_condition(items: list[Token], index: int) -> Token:
    r"""`E = 0 \quad (r < R)`: a relation in brackets behind a formula, in front of nothing, is its condition."""
    item = items[index]
    content = item.args[0]
    behind = items[index + 1].type if index + 1 < len(items) else "ROW"
    said = content[0].type == "ROMAN" and words_of(content[0])
    worded = bool(said) and said[0].lower() in _CONDITIONS if said else False
    related = any(part.type == "REL" for part in content)
    before = items[index - 1]
    apart = item.gap >= GAP_SPACE or before.type not in _CALLED or before.type == "COMMA"
    stated = any(part.type == "REL" for part in items[:index])
    later = content[1:] if worded else content
    remark = any(part.type == "ROMAN" and part.text == "text" and words_of(part) for part in later)
    remark = remark and (worded or not related)
    if remark and stated and behind in ("ROW", "COMMA", "IMPLIES", "OR") and item.sup is None:
        return Token("ROW", "remark", item.pos, item.gap)
    ends = behind in ("ROW", "COMMA", "IMPLIES", "OR") and before.type not in OPERATORS - {"COMMA"}
    if item.sup is None and item.sub is None and ends and stated and (worded or (related and apart)):
        word = said[0].lower() if worded else "("  # type: ignore[index]
        return Token("WHERE", word, item.pos, item.gap, args=[content[1:] if worded else content])
    return item


def _split(
    items: list[Token], end: int, separator: str, name: str, inner: Callable[[list[Token], int], Clause]
) -> Clause:
    """Cut at separators of this kind, and read each stretch by the next finer rule."""
    parts: list[Clause] = []
    stretch: list[Token] = []
    for item in [*items, Token(separator, "", end)]:
        if item.type == separator:
            if stretch := _without_edges(stretch):
                parts.append(inner(stretch, item.pos))
            stretch = []
        else:
            stretch.append(item)
    if not parts:
        raise Fault(items[0].pos, "an empty formula", "a number or a symbol")
    return _of(name, parts)


def _without_edges(items: list[Token]) -> list[Token]:
    while items and items[-1].type in ("COMMA", "ROW", "COLON"):
        items = items[:-1]
    return _without_lead(items)


def _alternatives(items: list[Token], end: int) -> Clause:
    r"""Formulas joined by `\lor` or `or`; `x = 1 \text{ or } 2` is a list of values."""
    if not any(item.type == "OR" for item in items):
        return _system(items, end)
    relations = [at for at, item in enumerate(items) if item.type == "REL"]
    first_or = next(at for at, item in enumerate(items) if item.type == "OR")
    if len(relations) == 1 and relations[0] < first_or:  # `x = 1 or 2` says `x = 1 or x = 2`
        carried = items[: relations[0] + 1]
        items = [part for item in items for part in ((item, *carried) if item.type == "OR" else (item,))]
    return _split(items, end, "OR", "alternatives", _system)


def _system(items: list[Token], end: int) -> Clause:
    """Formulas with rows, commas and conditions between them."""
    segments: list[list[_Piece]] = [[]]
    for piece in _pieces(items, end):
        if piece.boundary in ("row", "wide") and segments[-1]:
            segments.append([])
        segments[-1].append(piece)
    parts = [part for segment in segments if segment for part in _segment(segment)]
    if not parts:
        raise Fault(items[0].pos if items else end, "words without a formula", "mathematics", kind="prose")
    return _of("system", parts)


def _pieces(items: list[Token], end: int) -> list[_Piece]:
    """Cut at commas, rows, wide spaces and conditions."""
    pieces: list[_Piece] = []
    current = _Piece([], "", end)

    def close(at: int, boundary: str) -> None:
        nonlocal current
        if current.items:
            current.end = at
            pieces.append(current)
        current = _Piece([], boundary, end)

    for index, item in enumerate(items):
        behind = items[index + 1] if index + 1 < len(items) else None
        last = current.items[-1].type if current.items else ""
        if item.type == "COMMA" or (item.type == "COLON" and current.is_condition and current.is_related):
            close(item.pos, "comma")
        elif item.type == "ROW":
            goes_on = behind is not None and behind.type in _CONTINUING and item.text != "and"
            if not goes_on and last not in OPERATORS:
                close(item.pos, "row")
        elif item.type == "WHERE":
            close(item.pos, "where" if item.text in _EXPLAINING else "if")
        else:
            wide = item.gap == GAP_QUAD and item.type not in OPERATORS and last not in OPERATORS
            if wide and current.is_related:
                close(item.pos, "wide")
            elif item.type == "REL" and not current.items and pieces and current.boundary == "comma":
                current = pieces.pop()  # `a = b, = c`
            current.items.append(item)
    close(end, "")
    return pieces


def _segment(pieces: list[_Piece]) -> list[Clause]:
    """The formulas between two rows, with the conditions that they hold under.

    What stands behind a condition and a comma is a condition too, unless it has one of its own.
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
                out += _conditional(claims, conditions)
                claims, conditions = [], []
            claims.append(piece)
    return out + _conditional(claims, conditions)


def _conditional(claims: list[_Piece], conditions: list[_Piece]) -> list[Clause]:
    if not claims or not conditions:
        return _formulas(claims or conditions)
    claim = _of("system", _formulas(claims))
    kind = "restricted" if any(piece.boundary == "if" for piece in conditions) else "conditional"
    return [_of(kind, [claim, *_formulas([replace(piece, boundary="") for piece in conditions])])]


def _formulas(pieces: list[_Piece]) -> list[Clause]:
    """Pieces with commas between them as formulas: what states nothing joins the list that it belongs to."""
    out: list[Clause] = []
    waiting: list[_Piece] = []  # pieces without a relation
    for piece in pieces:
        if not piece.is_related:
            waiting.append(piece)
            continue
        if out and waiting:
            if not all(_is_counting(bare.items) for bare in waiting):
                raise Fault(waiting[0].items[0].pos, "a list between two formulas: to which does it belong?",
                            "one formula", kind="ambiguous")  # fmt: skip
            _lengthen(out[-1], waiting)
            waiting = []
        items = piece.items
        if waiting:
            cut = next(at for at, item in enumerate(items) if item.type == "REL")
            items = [_list([*(bare.items for bare in waiting), items[:cut]]), *items[cut:]]
            waiting = []
        out.append(Clause(items=items, start=items[0].pos, end=piece.end))
    if waiting and out:
        if len(out) > 1 and all(item.text == "dots" for bare in waiting for item in bare.items):
            raise Fault(waiting[0].items[0].pos, "formulas that go on without being written", "formulas")
        _lengthen(out[-1], waiting)
        out[-1].end = waiting[-1].end
    elif waiting:
        items = waiting[0].items if len(waiting) == 1 else [_list([bare.items for bare in waiting])]
        out.append(Clause(items=items, start=items[0].pos, end=waiting[-1].end))
    return out


def _is_counting(items: list[Token]) -> bool:
    return all(item.type in _COUNTING for item in items)


def _list(members: list[list[Token]]) -> Token:
    first = members[0][0]
    return Token("LISTED", "list", first.pos, first.gap, args=members)


def _lengthen(clause: Clause, pieces: list[_Piece]) -> None:
    """Append pieces to the last member of a formula, which becomes a list."""
    cut = max(at for at, item in enumerate(clause.items) if item.type == "REL") + 1
    last = clause.items[cut:]
    if not last:
        raise Fault(pieces[0].items[0].pos, "a list without its first value", "a value")
    clause.items = [*clause.items[:cut], _list([last, *(piece.items for piece in pieces)])]


# One formula ----------------------------------------------------------------------------------------------------

_BLANK = Expr("blank")


def completed(items: list[Token]) -> list[Token]:
    r"""A formula that begins with an ordering (`\ge 2`) gets a blank left side; ratios become quotients."""
    if items and items[0].type == "REL":
        items = [Token("INFINITY", "blank", items[0].pos, expr=_BLANK), *items]
    return with_ratios(items) if any(item.type == "COLON" for item in items) else items


def with_ratios(items: list[Token]) -> list[Token]:
    """`a : b = 1 : 2` as quotients, `a : b : c` as a ratio; a colon on one side only may be a label, and is refused."""
    members: list[list[Token]] = [[]]
    relations: list[Token] = []
    for item in items:
        if item.type in ("REL", "COMMA"):
            relations.append(item)
            members.append([])
        else:
            members[-1].append(item)
    colons = [sum(item.type == "COLON" for item in member) for member in members]
    if min(colons) != max(colons):
        place = next(item for item in items if item.type == "COLON")
        raise Fault(
            place.pos, "a colon: a label, or a ratio?", "the formula without its label", "a fraction", kind="ambiguous"
        )
    out: list[Token] = []
    for relation, member in zip([None, *relations], members, strict=True):
        parts: list[list[Token]] = [[]]
        for item in member:
            if item.type == "COLON":
                parts.append([])
            else:
                parts[-1].append(item)
        if not all(parts):
            raise Fault(items[0].pos, "a ratio with an empty part", "a number or a symbol")
        first = parts[0][0]
        kind, text = ("FRAC", "") if len(parts) == 2 else ("LISTED", "ratio")
        out += [*([relation] if relation else []), Token(kind, text, first.pos, first.gap, args=parts)]
    return out
