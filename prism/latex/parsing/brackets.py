r"""What brackets enclose: round and square ones, braces, bars, `\langle`, matrices and case distinctions.

A bracket becomes one token that holds its content, and its kind says what it means: a bar that opens is an absolute
value, one behind a factor an evaluation `|_{x=0}`, one that ends in `\rangle` a ket. Which it is has to be known
here, from the bar alone and what stands beside it, because every later rule counts on brackets being closed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prism.latex.parsing.leaves import (
    BRACE_ENDS,
    SCRIPT_STARTS,
    Cursor,
    expect_brace,
    named,
    numeric_scripts,
    read_argument,
    rejoined,
    scripted,
)
from prism.latex.parsing.names import ONLY_IN_NAMES, spell, split_name
from prism.latex.parsing.tokens import MAX_DEPTH, OPERATORS, Fault, Token, describe, is_factor

BRACKET_ENDS = frozenset(("CLOSE", "END", "}", "FINISH"))
_BAR_ENDS = BRACKET_ENDS | {"BAR"}
_NORM_ENDS = BRACKET_ENDS | {"NORM"}
_CELL_ENDS = frozenset(("AMP", "ROW", "FINISH", "END", "}"))
_PARTNER = {"(": ")", "[": "]", r"\{": r"\}", "|": "|", r"\|": r"\|", ".": ".", r"\lfloor": r"\rfloor",
            r"\lceil": r"\rceil"}  # fmt: skip
_ONE_GROUP = 6  # digits of `(25,000)`, which may be a list; a longer one is a number
_HALF_OPEN = frozenset((("[", ")"), ("(", "]")))  # intervals: `[0, L)`
_BAR_STOPS = frozenset(("REL", "IMPLIES", "ROW"))  # no pair of bars encloses these at its own level
_CHARGE = re.compile(r"[A-Z](?:_\{?\d\}?)?\^\{\d?[-+]\}$")
_ROUNDING = {r"\lfloor": "floor", r"\lceil": "ceiling"}
_LABEL_TOKENS = frozenset(("COMMA", "REL", "mark", "COLON", "ROW", "IMPLIES", "OR", "unknown"))
_CASES = frozenset(("cases", "dcases", "rcases"))
_DETERMINANTS = frozenset(("vmatrix", "Vmatrix"))
_TABLES = frozenset(("tabular", "table", "longtable", "tabularx", "tikzpicture", "circuitikz", "figure", "picture"))


def read_braces(cursor: Cursor, items: list[Token]) -> None:
    """Braces that are nobody's argument: what they show is their content, without brackets.

    A single item takes the scripts behind the braces. A sum beside a factor would be read otherwise than it
    is shown, so `settle` refuses it.
    """
    tokens = cursor.tokens
    opening = tokens[cursor.index]
    if opening.type != "{":
        body = read_argument(cursor)
    elif tokens[cursor.index + 1].type == "BAR" and tokens[cursor.index + 2].type == "}":
        cursor.index += 3  # {\Bigg|}_{x=0}
        read_bar(cursor, tokens[cursor.index - 2], items)
        return
    else:
        cursor.index += 1
        body = cursor.siblings(cursor, BRACE_ENDS)
        expect_brace(cursor)
    while body and body[-1].type == "COMMA":
        body.pop()
    if not body:
        if tokens[cursor.index].type in ("^", "_"):
            cursor.construct(cursor, Token("command", "{}", opening.pos, opening.gap), items)
        return
    body[0].gap = max(body[0].gap, opening.gap)
    after = tokens[cursor.index].type
    sums = any(item.type in ("PLUS", "MINUS", "PM") for item in body) and len(body) > 1
    relation = any(item.type in ("REL", "COMMA", "ROW", "IMPLIES") for item in body)
    if after in SCRIPT_STARTS and (after != "PRIME" or len(body) == 1):
        if len(body) > 1 and not sums and after == "^" and opening.type == "{":
            raise Fault(opening.pos, "a power behind braces that do not show: of the last factor, or of all?",
                        "round brackets", kind="ambiguous")  # fmt: skip
        if len(body) == 1 and body[0].type == "SYM" and body[0].sup is None:
            head, scripts = split_name(body[0].text)
            items.append(named(cursor, rejoined(Token("SYM", head, opening.pos, opening.gap), scripts, cursor)))
        elif len(body) == 1 and body[0].type == "NUM" and body[0].sup is None:
            items.append(numeric_scripts(cursor, body[0]))
        elif len(body) == 1 and body[0].sup is None and body[0].sub is None:
            items.append(scripted(cursor, body[0]))
        else:
            items.append(scripted(cursor, Token("PAREN", "{", opening.pos, opening.gap, args=[body])))
    elif sums and not relation:
        items.append(Token("BRACED", "{", opening.pos, opening.gap, args=[body]))
    else:
        items.extend(body)


def read_bracket(cursor: Cursor, opening: Token) -> Token:
    """A bracket with its content; the kinds of its two ends must agree."""
    text = opening.text
    if text == r"\langle":
        return _angle(cursor, opening)
    start = cursor.index
    body = cursor.siblings(cursor, BRACKET_ENDS)
    closing = cursor.tokens[cursor.index]
    if closing.type != "CLOSE":
        raise Fault(closing.pos, describe(closing), f"the closing bracket {written(_PARTNER[text])}")
    if text == "." and (closing.text == "|" or cursor.tokens[cursor.index + 1].type == "_"):
        cursor.index += 1
        return evaluated(cursor, body, opening)
    if text == "|" and closing.text == r"\rangle":
        inner = cursor.tokens[start : cursor.index]
        cursor.index += 1
        return scripted(cursor, angle_parts(cursor, opening, "ket", split_bars(inner)))
    if (text, closing.text) in _HALF_OPEN and sum(item.type == "COMMA" for item in body) == 1:
        cursor.index += 1
        return Token("LISTED", f"interval {text}{closing.text}", opening.pos, opening.gap, args=[body])
    if closing.text != _PARTNER[text] and not (
        text == r"\{" and closing.text == "." and any(item.type in ("LISTED", "ROW", "REL") for item in body)
    ):
        raise Fault(closing.pos, f"the bracket {written(closing.text)} that closes {written(text)}",
                    f"the closing bracket {written(_PARTNER[text])}")  # fmt: skip
    if not body and text == r"\{" and closing.text == r"\}":
        cursor.index += 1
        return Token("SYM", r"\emptyset", opening.pos, opening.gap)
    if not body:
        raise Fault(closing.pos, "empty brackets")
    raw = cursor.tokens[start : cursor.index]
    cursor.index += 1
    if closing.text == "." and text == r"\{":
        if len(body) == 1 and body[0].type == "LISTED":
            return Token("LISTED", "cases", opening.pos, opening.gap, args=body[0].args)
        return Token("PAREN", "{.", opening.pos, opening.gap, args=[body])  # a system behind a brace
    plain = len(body) == 1 and body[0].sup is None and body[0].sub is None
    if text == "|" and plain and body[0].text == "matrix":
        return scripted(cursor, Token("APPLY", "det", opening.pos, opening.gap, args=[body]))
    if text in ("|", r"\|"):
        return scripted(cursor, Token("ABS", text, opening.pos, opening.gap, args=[body]))
    grouped = len(raw) == 1 and raw[0].type == "number" and raw[0].raw and len(raw[0].text) <= _ONE_GROUP
    if grouped and cursor.tokens[cursor.index].type not in ("^", "OPEN"):
        raise Fault(
            raw[0].pos,
            "digits with a comma in brackets: one number or a list?",
            "1{,}000 or a blank after it",
            kind="ambiguous",
        )
    if text == "[" and any(item.type == "SYM" and _CHARGE.search(item.text) for item in body):
        raise Fault(opening.pos, "the concentration of an ion", "mathematics only", kind="chemistry")
    if text in _ROUNDING:
        return scripted(cursor, Token("LISTED", _ROUNDING[text], opening.pos, opening.gap, args=[body]))
    if plain and body[0].type == "LISTED" and body[0].text == "matrix" and text in ("(", "["):
        return scripted(cursor, Token("LISTED", "matrix", opening.pos, opening.gap, args=body[0].args))
    return scripted(cursor, Token("PAREN", text, opening.pos, opening.gap, args=[body], raw=raw))


def written(delimiter: str) -> str:
    """A delimiter as a reader knows it, without its backslash."""
    return delimiter.replace("\\", "", 1) if delimiter in (r"\{", r"\}") else delimiter


# Bars -------------------------------------------------------------------------------------------------------


def read_bar(cursor: Cursor, token: Token, items: list[Token]) -> None:
    """A vertical bar that opens: an absolute value, a ket, or `|_{x=0}` behind a factor."""
    after = cursor.tokens[cursor.index]
    if items and is_factor(items[-1]) and after.type in ("_", "^") and token.type == "BAR":
        holder = evaluated(cursor, [], items[-1])
        start = len(items) - 1
        if holder.text == "limits":  # a primitive: the whole run of factors before the bar
            while start and items[start - 1].type not in OPERATORS:
                start -= 1
        elif start and (items[start - 1].type == "FUNCTION" or _is_call(items[start - 1], items[start])):
            start -= 1
        holder.args = [items[start:], *holder.args[1:]]
        items[start:] = [holder]
        return
    if token.type == "BAR" and _closed_by_angle(cursor):
        start = cursor.index
        while cursor.tokens[cursor.index].text != r"\rangle":
            cursor.index += 1
        parts = split_bars(cursor.tokens[start : cursor.index])
        cursor.index += 1
        items.append(scripted(cursor, angle_parts(cursor, token, "ket", parts)))
        return
    double = token.type == "BAR" and cursor.tokens[cursor.index].type == "BAR" and not cursor.tokens[cursor.index].gap
    if double and items and is_factor(items[-1]) and _unpaired(cursor, cursor.tokens[cursor.index], skip=1):
        cursor.index += 1
        items.append(Token("TIMES", r"\|", token.pos, token.gap))  # `1.5 || 1`
        return
    if items and is_factor(items[-1]) and (closer := _unpaired(cursor, token)):
        if token.type == "NORM":
            items.append(Token("TIMES", r"\|", token.pos, token.gap))
            return
        if closer == "CLOSE":
            items.append(Token("GIVEN", "|", token.pos, token.gap))
            return
        if cursor.depth == 1 and after.type in ("letter", "number") and items[-1].type in ("SYM", "NUM"):
            items.append(Token("REL", r"\mid", token.pos, token.gap))  # `p | n`: p divides n
            return
    body = cursor.siblings(cursor, _BAR_ENDS if token.type == "BAR" else _NORM_ENDS)
    closing = cursor.tokens[cursor.index]
    if closing.type != token.type:
        raise Fault(closing.pos, describe(closing), "the closing bar |")
    cursor.index += 1
    items.append(scripted(cursor, Token("ABS", "|", token.pos, token.gap, args=[body])))


def _is_call(head: Token, bracket: Token) -> bool:
    """Whether a bracket right behind a symbol may be its argument: `f(x)|_{x=0}`."""
    return head.type in ("SYM", "DERIVATIVE") and bracket.type == "PAREN" and not bracket.gap


def _unpaired(cursor: Cursor, token: Token, *, skip: int = 0) -> str:
    r"""What ends the level of a bar that no other one closes: `R_1 \| R_2`, `P(A | B)`; empty if one does."""
    level = 0
    lone = False
    for other in cursor.tokens[cursor.index + skip :]:
        if level == 0 and other.type in BRACKET_ENDS:
            return other.type
        level += (other.type in ("{", "OPEN")) - (other.type in ("}", "CLOSE"))
        lone = lone or (level == 0 and other.type in _BAR_STOPS)
        if level == 0 and other.type == token.type and not lone:
            return ""
    return "END"


def _closed_by_angle(cursor: Cursor) -> bool:
    r"""Whether the next of bar and `\rangle`, at this level, is `\rangle`."""
    level = 0
    for token in cursor.tokens[cursor.index :]:
        if token.type in ("{", "OPEN"):
            level += 1
        elif token.text == r"\rangle" and level == 0:
            return True
        elif token.type in ("}", "CLOSE"):
            level -= 1
        if level < 0 or (level == 0 and (token.type in ("BAR", "END") or (token.type == "REL" and token.text != "="))):
            return False
    return False


def evaluated(cursor: Cursor, body: list[Token], opening: Token) -> Token:
    """`f |_{x=0}`, `F |_a^b`: the construct `at`."""
    holder = scripted(cursor, Token("AT", "", opening.pos, opening.gap, args=[body]))
    if holder.sub is None:
        raise Fault(opening.pos, "a bar without its partner", "a subscript that says where")
    upper, holder.sup = holder.sup, None
    lower = holder.sub
    if upper is not None:
        holder.args, holder.text = [body, lower, upper], "limits"
    elif len(lower) > 2 and lower[1].text == "=" and not any(item.type in ("REL", "COMMA") for item in lower[2:]):
        holder.args, holder.text = [body, lower[:1], lower[2:]], "point"
    else:
        holder.args, holder.text = [body, [Token("SYM", spell(holder.raw), opening.pos)]], "held"
    holder.sub = None
    return holder


# Angle brackets ---------------------------------------------------------------------------------------------


def _angle(cursor: Cursor, opening: Token) -> Token:
    r"""`\langle x \rangle`, `\langle a | b \rangle`, `\langle a |`."""
    tokens = cursor.tokens
    level, others, index = 1, 0, cursor.index
    while tokens[index].type != "END":
        token = tokens[index]
        if token.text in (r"\langle", r"\rangle") and token.type in ("OPEN", "CLOSE"):
            level += 1 if token.type == "OPEN" else -1
        else:
            others += (token.type in ("OPEN", "{")) - (token.type in ("CLOSE", "}"))
        if level == 0 or others < 0:
            break
        index += 1
    inner = tokens[cursor.index : index]
    if tokens[index].text == r"\rangle" and level == 0:
        cursor.index = index + 1
        parts = split_bars(inner)
        components = _components(cursor, inner) if len(parts) == 1 and tokens[index + 1].type != "_" else []
        if components:
            return scripted(cursor, Token("LISTED", "tuple", opening.pos, opening.gap, args=components))
        kind = "braket" if len(parts) > 1 else "mean"
        return scripted(cursor, angle_parts(cursor, opening, kind, parts))
    bar = next((at for at in range(cursor.index, index + 1) if tokens[at].type in ("BAR", "CLOSE")), None)
    if bar is None or tokens[bar].text != "|":
        raise Fault(opening.pos, r"the bracket \langle without its partner", r"\rangle")
    inner = tokens[cursor.index : bar]
    cursor.index = bar + 1
    return scripted(cursor, angle_parts(cursor, opening, "bra", split_bars(inner)))


def _components(cursor: Cursor, inner: Sequence[Token]) -> list[list[Token]]:
    r"""`\langle 1, 2t, 3 \rangle`: what stands between the commas, as mathematics; nothing if it is no list of that.

    A product of two vectors, `\langle \vec{u}, \vec{v} \rangle`, and the label of a state, `\langle s = +, m \rangle`,
    are none.
    """
    flat: list[list[Token]] = [[]]
    level = 0
    for token in inner:
        level += (token.type in ("{", "OPEN")) - (token.type in ("}", "CLOSE"))
        if level == 0 and token.type == "COMMA":
            flat.append([])
        else:
            flat[-1].append(token)
    if len(inner) == 1 and inner[0].raw:
        raise Fault(inner[0].pos, "digits with a comma in brackets: one number or a list?", "a blank after the comma",
                    kind="ambiguous")  # fmt: skip
    if len(flat) == 1 or not all(flat) or any(part[-1].type in OPERATORS or _is_label(part) for part in flat):
        return []
    try:
        parts = [cursor.apart(part, part[-1].pos, depth=cursor.depth) for part in flat]
    except Fault:
        return []
    vectors = any(item.type == "SYM" and item.text.startswith((r"\vec{", r"\hat{")) for part in parts for item in part)
    return [] if vectors else parts


def split_bars(inner: Sequence[Token]) -> list[list[Token]]:
    """Content of an angle bracket, cut at its bars, as flat tokens."""
    for sized in (
        True,
        False,
    ):  # `\\left| X \\right|` are the bars of a matrix element, unless nothing stands before them
        parts: list[list[Token]] = [[]]
        level = 0
        for token in inner:
            is_bar = token.type == "BAR" or (sized and token.text == "|" and token.type in ("OPEN", "CLOSE"))
            if not is_bar:
                level += (token.type in ("{", "OPEN")) - (token.type in ("}", "CLOSE"))
            if is_bar and level == 0:
                parts.append([])
            else:
                parts[-1].append(token)
        if all(parts):
            break
    return parts


def angle_parts(cursor: Cursor, opening: Token, kind: str, parts: list[list[Token]]) -> Token:
    """The construct `bracket`: an average is read as mathematics; a label such as `1, 2` stays a name."""
    args: list[list[Token]] = []
    for part in parts:
        if not part:
            raise Fault(opening.pos, "an empty part of an angle bracket")
        if part[-1].type in OPERATORS or _is_label(part):
            args.append([Token("SYM", _loose_spelling(part), part[0].pos)])
        else:
            args.append(cursor.apart(part, part[-1].pos, depth=cursor.depth))
    return Token("BRACKET", kind, opening.pos, opening.gap, args=args)


def _is_label(part: Sequence[Token]) -> bool:
    """Whether a part of an angle bracket only names a state: `1, 2`, `s = +`."""
    level = 0
    for token in part:
        level += (token.type in ("{", "OPEN")) - (token.type in ("}", "CLOSE"))
        if level == 0 and (token.type in _LABEL_TOKENS or token.text in ONLY_IN_NAMES):
            return True
    return False


# Environments -----------------------------------------------------------------------------------------------


def read_environment(cursor: Cursor, opening: Token) -> Token:
    """A matrix or a case distinction: cells that are expressions are read, others stay as they are spelled."""
    if opening.text in _TABLES:
        raise Fault(opening.pos, f"a {opening.text}", "mathematics only", kind="table")
    rows: list[list[list[Token]]] = [[]]
    tokens = cursor.tokens
    while True:
        cell = _cell(cursor)
        if cell:
            rows[-1].append(cell)
        end = tokens[cursor.index]
        cursor.index += 1
        if end.type == "FINISH":
            break
        if end.type in ("END", "}"):
            raise Fault(end.pos, describe(end), rf"\end{{{opening.text}}}")
        if end.type == "ROW":
            rows.append([])
    if end.text != opening.text:
        raise Fault(end.pos, rf"\end{{{end.text}}}", rf"\end{{{opening.text}}}")
    made = [[Token("LISTED", "row", row[0][0].pos, args=row)] for row in rows if row]
    if not made:
        raise Fault(opening.pos, rf"an empty {opening.text}")
    kind = "cases" if opening.text in _CASES else "matrix"
    matrix = Token("LISTED", kind, opening.pos, opening.gap, args=made)
    if opening.text in _DETERMINANTS:
        matrix = Token("APPLY", "det", opening.pos, opening.gap, args=[[matrix]])
    return scripted(cursor, matrix)


def _cell(cursor: Cursor) -> list[Token]:
    """One cell: as mathematics, or one symbol of its spelling where it is none."""
    tokens = cursor.tokens
    start, depth = cursor.index, cursor.depth
    try:
        body = cursor.siblings(cursor, _CELL_ENDS)
    except Fault as fault:
        cursor.index, cursor.depth = _cell_end(tokens, start), depth
        if depth >= MAX_DEPTH - 1:
            raise fault from None
        body = [Token("ROMAN", "text", tokens[start].pos)]
    cell = tokens[start : cursor.index]
    while body and body[-1].type in ("COMMA", "COLON"):
        body.pop()
    if len(body) > 1 and body[0].type == "ROMAN" and body[0].text == "text" and body[0].raw:
        body = body[1:]  # `\text{if } x > 0`: what the cell says is its condition
    odd = any(item.type in ("COMMA", "IMPLIES", "ROMAN", "OR", "COLON", "OVER") for item in body) or (
        bool(body) and (body[0].type == "REL" or body[-1].type in OPERATORS)
    )
    return [Token("SYM", _loose_spelling(cell), cell[0].pos)] if odd else body


def _cell_end(tokens: list[Token], index: int) -> int:
    """Index of the token that ends the cell at this index."""
    level = 0
    while tokens[index].type != "END":
        kind = tokens[index].type
        if level == 0 and kind in _CELL_ENDS:
            break
        level += (kind in ("{", "BEGIN")) - (kind in ("}", "FINISH"))
        index += 1
    return index


def _loose_spelling(tokens: Sequence[Token]) -> str:
    """What a cell says, without blanks: it only has to be equal to itself."""
    return "".join(token.text + (" " if token.text[:1] == "\\" else "") for token in tokens)
