r"""Reader of brackets: round and square ones, braces, bars, `\langle`, matrices and case distinctions.

A bracket becomes one token that holds its content, and its kind tells its meaning: a bar that opens is an absolute
value, one behind a factor an evaluation `|_{x=0}`, one that ends in `\rangle` a ket. Which it is has to be known
here, from the bar alone and what stands beside it, because every later rule counts on brackets being closed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from prism.latex.parsing.leaves import (
    BRACE_ENDS,
    SCRIPT_STARTS,
    Cursor,
    read_argument,
    read_number_scripts,
    read_outer_scripts,
    read_scripts,
    skip_closing_brace,
)
from prism.latex.parsing.names import ONLY_IN_NAMES, spell_name, split_name
from prism.latex.parsing.tokens import (
    MAX_DEPTH,
    OPERATORS,
    Ambiguity,
    Fault,
    Token,
    describe_token,
    ends_operand,
    has_type,
    nesting_change,
)

BRACKET_ENDS = frozenset(("CLOSE", "END", "}", "FINISH"))
_BAR_ENDS = BRACKET_ENDS | {"BAR"}
_NORM_ENDS = BRACKET_ENDS | {"NORM"}
_CELL_ENDS = frozenset(("AMP", "ROW", "FINISH", "END", "}"))
_PARTNER = {"(": ")", "[": "]", r"\{": r"\}", "|": "|", r"\|": r"\|", ".": ".", r"\lfloor": r"\rfloor",
            r"\lceil": r"\rceil"}  # fmt: skip
_ONE_GROUP = 6  # digits of `(25,000)`, which may be a list; a longer one is a number
_HALF_OPEN = frozenset((("[", ")"), ("(", "]")))  # intervals: `[0, L)`
_BAR_STOPS = frozenset(("REL", "IMPLIES", "ROW"))  # no pair of bars encloses these at its own level
_ROUNDING = {r"\lfloor": "floor", r"\lceil": "ceiling"}
_LABEL_TOKENS = frozenset(("COMMA", "REL", "mark", "COLON", "ROW", "IMPLIES", "OR", "unknown"))
_CASES = frozenset(("cases", "dcases", "rcases"))
_DETERMINANTS = frozenset(("vmatrix", "Vmatrix"))
_TABLES = frozenset(("tabular", "table", "longtable", "tabularx", "tikzpicture", "circuitikz", "figure", "picture"))


def read_braces(cursor: Cursor, items: list[Token]) -> None:
    r"""Read the group `{...}` at the cursor, alone or behind `\boxed`, and append its content to `items`.

    LaTeX prints no braces, so `{a b}` counts as `a b`; scripts behind `{x}` go to x, and `{ab}^2` is an Ambiguity.
    They end the argument of a function, `{\sin x} y`. A sum `{a + b}` is appended as one BRACED item, which
    `disambiguate` refuses beside a factor: `c{a + b}`.
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
        skip_closing_brace(cursor)
    while body and body[-1].type == "COMMA":
        body.pop()
    if not body:
        if tokens[cursor.index].type in ("^", "_"):
            cursor.construct(cursor, Token("command", "{}", opening.pos, opening.gap), items)
        return
    body[0].gap = max(body[0].gap, opening.gap)
    after = tokens[cursor.index].type
    sums = has_type(body, "PLUS", "MINUS", "PM") and len(body) > 1
    relation = has_type(body, "REL", "COMMA", "ROW", "IMPLIES")
    if after in SCRIPT_STARTS and (after != "PRIME" or len(body) == 1):
        if len(body) > 1 and not sums and after == "^" and opening.type == "{":
            raise Ambiguity(opening.pos, "a power behind braces that do not show: of the last factor, or of all?",
                            "round brackets")  # fmt: skip
        if len(body) == 1 and body[0].type == "SYM" and body[0].sup is None:
            head, scripts = split_name(body[0].text)
            items.append(read_outer_scripts(cursor, Token("SYM", head, opening.pos, opening.gap), scripts))
        elif len(body) == 1 and body[0].type == "NUM" and body[0].sup is None:
            items.append(read_number_scripts(cursor, body[0]))
        elif len(body) == 1 and body[0].sup is None and body[0].sub is None:
            items.append(read_scripts(cursor, body[0]))
        else:
            items.append(read_scripts(cursor, Token("PAREN", "{", opening.pos, opening.gap, args=[body])))
    elif sums and not relation:
        items.append(Token("BRACED", "{", opening.pos, opening.gap, args=[body]))
    elif len(body) > 1 and not relation and body[-1].type != "FUNCTION" and has_type(body, "FUNCTION"):
        items.append(Token("PAREN", "{", opening.pos, opening.gap, args=[body]))
    else:
        items.extend(body)


def read_bracket(cursor: Cursor, opening: Token) -> Token:
    """Read on behind an opening bracket and return the whole bracket as one token: `(a + b)^2` as PAREN with a power.

    Bars become ABS, intervals and matrices LISTED. Empty or wrongly closed brackets raise a Fault.
    """
    text = opening.text
    if text == r"\langle":
        return _read_angle_bracket(cursor, opening)
    if text == "|" and _is_closed_by_rangle(cursor):
        return _read_ket(cursor, opening)
    start = cursor.index
    body = cursor.siblings(cursor, BRACKET_ENDS)
    closing = cursor.tokens[cursor.index]
    if closing.type != "CLOSE":
        raise Fault(closing.pos, describe_token(closing), f"the closing bracket {visible_delimiter(_PARTNER[text])}")
    if text == "." and (closing.text == "|" or cursor.tokens[cursor.index + 1].type == "_"):
        cursor.index += 1
        return read_evaluation(cursor, body, opening)
    if text == "|" and closing.text == r"\rangle":
        inner = cursor.tokens[start : cursor.index]
        cursor.index += 1
        return read_scripts(cursor, angle_bracket_token(cursor, opening, "ket", split_at_bars(inner)))
    if (text, closing.text) in _HALF_OPEN and sum(item.type == "COMMA" for item in body) == 1:
        cursor.index += 1
        return Token("LISTED", f"interval {text}{closing.text}", opening.pos, opening.gap, args=[body])
    if closing.text != _PARTNER[text] and not (
        text == r"\{" and closing.text == "." and has_type(body, "LISTED", "ROW", "REL")
    ):
        raise Fault(closing.pos, f"the bracket {visible_delimiter(closing.text)} that closes {visible_delimiter(text)}",
                    f"the closing bracket {visible_delimiter(_PARTNER[text])}")  # fmt: skip
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
        return read_scripts(cursor, Token("APPLY", "det", opening.pos, opening.gap, args=[body]))
    if text in ("|", r"\|"):
        return read_scripts(cursor, Token("ABS", text, opening.pos, opening.gap, args=[body]))
    grouped = len(raw) == 1 and raw[0].type == "number" and raw[0].raw and len(raw[0].text) <= _ONE_GROUP
    if grouped and cursor.tokens[cursor.index].type not in ("^", "OPEN"):
        raise Ambiguity(raw[0].pos, "digits with a comma in brackets: one number or a list?",
                        "1{,}000 or a blank after it")  # fmt: skip
    if text in _ROUNDING:
        return read_scripts(cursor, Token("LISTED", _ROUNDING[text], opening.pos, opening.gap, args=[body]))
    if plain and body[0].type == "LISTED" and body[0].text == "matrix" and text in ("(", "["):
        return read_scripts(cursor, Token("LISTED", "matrix", opening.pos, opening.gap, args=body[0].args))
    return read_scripts(cursor, Token("PAREN", text, opening.pos, opening.gap, args=[body], raw=raw))


def visible_delimiter(delimiter: str) -> str:
    r"""Return a delimiter as an error message shows it: `{` for `\{`, any other delimiter unchanged."""
    return delimiter.replace("\\", "", 1) if delimiter in (r"\{", r"\}") else delimiter


# Bars -------------------------------------------------------------------------------------------------------


def read_bar(cursor: Cursor, token: Token, items: list[Token]) -> None:
    r"""Append to `items` what a bar begins: `|x|`, the ket `|n\rangle`, or the sign of `a \| b` and `p | n`.

    A bar with scripts behind a factor, `f(x)|_{x=0}`, replaces that factor by an AT token which contains the factor.
    Raises Fault where it is not closed.

    Args:
        token: the bar (type BAR or NORM), already passed by the cursor.
        items: what stands before the bar at its bracket level.
    """
    after = cursor.tokens[cursor.index]
    if items and ends_operand(items[-1]) and after.type in ("_", "^") and token.type == "BAR":
        holder = read_evaluation(cursor, [], items[-1])
        start = len(items) - 1
        if holder.text == "limits":  # a primitive: the whole run of factors before the bar
            while start and items[start - 1].type not in OPERATORS:
                start -= 1
        elif start and (items[start - 1].type == "FUNCTION" or _may_be_call(items[start - 1], items[start])):
            start -= 1
        holder.args = [items[start:], *holder.args[1:]]
        items[start:] = [holder]
        return
    if token.type == "BAR" and _is_closed_by_rangle(cursor):
        items.append(_read_ket(cursor, token))
        return
    double = token.type == "BAR" and cursor.tokens[cursor.index].type == "BAR" and not cursor.tokens[cursor.index].gap
    if double and items and ends_operand(items[-1]) and _unpaired_bar_end(cursor, cursor.tokens[cursor.index], skip=1):
        cursor.index += 1
        items.append(Token("TIMES", r"\|", token.pos, token.gap))  # `1.5 || 1`
        return
    if items and ends_operand(items[-1]) and (closer := _unpaired_bar_end(cursor, token)):
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
        raise Fault(closing.pos, describe_token(closing), "the closing bar |")
    cursor.index += 1
    items.append(read_scripts(cursor, Token("ABS", "|", token.pos, token.gap, args=[body])))


def _read_ket(cursor: Cursor, opening: Token) -> Token:
    r"""Read on behind the bar of a ket up to its `\rangle`, and return it with its scripts."""
    start = cursor.index
    while cursor.tokens[cursor.index].text != r"\rangle":
        cursor.index += 1
    parts = split_at_bars(cursor.tokens[start : cursor.index])
    cursor.index += 1
    return read_scripts(cursor, angle_bracket_token(cursor, opening, "ket", parts))


def _may_be_call(head: Token, bracket: Token) -> bool:
    """Return True if a bracket may hold the argument of the item before it, as `(x)` behind f in `f(x)|_{x=0}`."""
    return head.type in ("SYM", "DERIVATIVE") and bracket.type == "PAREN" and not bracket.gap


def _unpaired_bar_end(cursor: Cursor, token: Token, *, skip: int = 0) -> str:
    """Return the type of the token that closes the bracket around a bar without partner, as CLOSE for `P(A | B)`.

    The result is empty if a second bar makes a pair with the first one, and `END` outside of all brackets.

    Args:
        token: the bar, already passed by the cursor.
        skip: number of tokens behind the cursor that are not searched.
    """
    level = 0
    lone = False
    is_such_that = token.text == r"\mid"  # of a set; no modulus begins with it
    for other in cursor.tokens[cursor.index + skip :]:
        if level == 0 and other.type in BRACKET_ENDS:
            return other.type
        level += nesting_change(other)
        lone = lone or (level == 0 and other.type in _BAR_STOPS)
        if level == 0 and other.type == token.type and not lone and not is_such_that:
            return ""
    return "END"


def _is_closed_by_rangle(cursor: Cursor) -> bool:
    r"""Return True if the bar before the cursor opens a ket: `\rangle` comes before any other bar or an inequality."""
    level = 0
    for token in cursor.tokens[cursor.index :]:
        if token.text == r"\rangle" and level == 0:
            return True
        level += nesting_change(token)
        if level < 0 or (level == 0 and (token.type in ("BAR", "END") or (token.type == "REL" and token.text != "="))):
            return False
    return False


def read_evaluation(cursor: Cursor, body: list[Token], opening: Token) -> Token:
    """Read the scripts of an evaluation bar and return the construct AT, whose text says what the scripts are.

    The text is `point` for `f|_{x=0}`, `limits` for `F|_a^b`, `held` for `f|_V` (V is held constant).

    Args:
        body: items that are evaluated; empty if the caller adds them to the result later.
        opening: token that gives the position of the result.

    Errors:
        Fault: no subscript stands behind the bar.
    """
    holder = read_scripts(cursor, Token("AT", "", opening.pos, opening.gap, args=[body]))
    if holder.sub is None:
        raise Fault(opening.pos, "a bar without its partner", "a subscript that says where")
    upper, holder.sup = holder.sup, None
    lower = holder.sub
    if upper is not None:
        holder.args, holder.text = [body, lower, upper], "limits"
    elif len(lower) > 2 and lower[1].text == "=" and not has_type(lower[2:], "REL", "COMMA"):
        holder.args, holder.text = [body, lower[:1], lower[2:]], "point"
    else:
        holder.args, holder.text = [body, [Token("SYM", spell_name(holder.raw), opening.pos)]], "held"
    holder.sub = None
    return holder


# Angle brackets ---------------------------------------------------------------------------------------------


def _read_angle_bracket(cursor: Cursor, opening: Token) -> Token:
    r"""Read on behind `\langle` and return one token with its scripts; raise a Fault if nothing closes the bracket.

    The token is a BRACKET named `mean` for `\langle x \rangle`, `braket` for `\langle a | b \rangle` and `bra` for
    `\langle a |`; a vector in components, `\langle 1, 2t, 3 \rangle`, becomes a LISTED tuple.
    """
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
    parts = split_at_bars(inner)
    closes = tokens[index].text == r"\rangle" and level == others == 0  # none of a ket in a bracket of its own
    if closes and not _ends_at_first_bar(parts, tokens[: cursor.index - 1]):
        cursor.index = index + 1
        components = _read_vector_components(cursor, inner) if len(parts) == 1 and tokens[index + 1].type != "_" else []
        if components:
            return read_scripts(cursor, Token("LISTED", "tuple", opening.pos, opening.gap, args=components))
        kind = "braket" if len(parts) > 1 else "mean"
        return read_scripts(cursor, angle_bracket_token(cursor, opening, kind, parts))
    bar = next((at for at in range(cursor.index, index + 1) if tokens[at].type in ("BAR", "CLOSE")), None)
    if bar is None or tokens[bar].text != "|":
        raise Fault(opening.pos, r"the bracket \langle without its partner", r"\rangle")
    inner = tokens[cursor.index : bar]
    cursor.index = bar + 1
    return read_scripts(cursor, angle_bracket_token(cursor, opening, "bra", split_at_bars(inner)))


def _ends_at_first_bar(parts: Sequence[Sequence[Token]], before: Sequence[Token]) -> bool:
    r"""Return True if what stands between the bars begins a new term, as in `|0\rangle\langle 0| + |1\rangle`.

    A minus does so only behind a ket; in `\langle a| -\nabla^2 |b\rangle` it belongs to the operator.

    Args:
        parts: flat tokens between the bars of an angle bracket; `before`: those before the bracket.
    """
    first = parts[1][:1] if len(parts) > 2 else []
    is_behind_ket = bool(before) and before[-1].text == r"\rangle"
    return any(token.text == "+" or (token.text == "-" and (is_behind_ket or len(parts[1]) == 1)) for token in first)


def _read_vector_components(cursor: Cursor, inner: Sequence[Token]) -> list[list[Token]]:
    r"""Read the components of a vector, `\langle 1, 2t, 3 \rangle`: one list of items for each component.

    The result is empty if the angle bracket holds no components: no comma, a product of two vectors (`\langle \vec{u},
    \vec{v} \rangle`), or the name of a state (`\langle s = +, m \rangle`). Raises Ambiguity for `\langle 1,234
    \rangle`.

    Args:
        inner: the flat tokens between the angle brackets.
    """
    flat = _split_outside_brackets(inner, lambda token: token.type == "COMMA")
    if len(inner) == 1 and inner[0].raw:
        raise Ambiguity(inner[0].pos, "digits with a comma in brackets: one number or a list?",
                        "a blank after the comma")  # fmt: skip
    if len(flat) == 1 or not all(flat) or any(part[-1].type in OPERATORS or _is_state_name(part) for part in flat):
        return []
    try:
        parts = [cursor.read_apart(part, part[-1].pos, depth=cursor.depth) for part in flat]
    except Fault:
        return []
    vectors = any(item.type == "SYM" and item.text.startswith((r"\vec{", r"\hat{")) for part in parts for item in part)
    return [] if vectors else parts


def split_at_bars(inner: Sequence[Token]) -> list[list[Token]]:
    """Split the flat tokens between angle brackets at the bars outside of inner brackets: `a|H|b` gives three lists."""
    # `\\left| X \\right|` are the bars of a matrix element, unless nothing stands before them
    parts = _split_outside_brackets(
        inner, lambda token: token.type == "BAR" or (token.text == "|" and token.type in ("OPEN", "CLOSE"))
    )
    parts = parts if all(parts) else _split_outside_brackets(inner, lambda token: token.type == "BAR")
    return parts if parts[0] else [list(inner)]  # `\langle |v| \rangle` is the mean of a modulus


def _split_outside_brackets(tokens: Sequence[Token], separates: Callable[[Token], bool]) -> list[list[Token]]:
    """Split flat tokens outside of brackets and braces where `separates` is True; n separators give n + 1 lists."""
    parts: list[list[Token]] = [[]]
    level = 0
    for token in tokens:
        is_separator = separates(token)
        if not is_separator:
            level += nesting_change(token)
        if is_separator and level == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def angle_bracket_token(cursor: Cursor, opening: Token, kind: str, parts: list[list[Token]]) -> Token:
    """Make the BRACKET token of an angle bracket; raise a Fault if nothing stands between two bars.

    Args:
        kind: `bra`, `ket`, `braket` or `mean`.
        parts: flat tokens between the bars, as a and b of `<a|b>`. Each part is read as mathematics, but one that only
            names a quantum state (`1, 2`) becomes one symbol.
    """
    args: list[list[Token]] = []
    kind, parts = _with_double_bar(kind, parts)
    for at, part in enumerate(parts):
        if not part:
            raise Fault(opening.pos, "an empty part of an angle bracket")
        is_state = kind != "mean" and at in (0, len(parts) - 1)
        if part[-1].type in OPERATORS or _is_state_name(part) or (is_state and _is_state_label(part)):
            label = [token for token in part if token.type not in ("{", "}")] if len(part) == len("{+}") else part
            args.append([Token("SYM", _join_token_texts(label), part[0].pos)])
        else:
            items = cursor.read_apart(part, part[-1].pos, depth=cursor.depth)
            args.append(_word_of_labels(items) if is_state else items)
    return Token("BRACKET", kind, opening.pos, opening.gap, args=args)


def _word_of_labels(items: list[Token]) -> list[Token]:
    r"""Return the letters of a state side by side, `nlm` of `|nlm\rangle`, as one item that keeps their order.

    Two primes are marks of the letter, `J''`; other items are returned as they are.
    """
    labels = [
        Token("SYM", f"{item.args[0][0].text}''", item.pos)
        if item.type == "DERIVATIVE" and item.text == "2" and item.args[1][0].text == "?" and item.sup is None
        else item
        for item in items
    ]
    if not all(label.type == "SYM" and label.sup is None for label in labels):
        return items
    if len(labels) < 2:
        return labels
    return [Token("LISTED", "opaque state", items[0].pos, args=[[label] for label in labels])]


def _with_double_bar(kind: str, parts: list[list[Token]]) -> tuple[str, list[list[Token]]]:
    r"""Return the kind and parts of an angle bracket, `antisymmetrized` and two for `\langle pq||rs\rangle`."""
    norms = [at for at, token in enumerate(parts[0]) if token.type == "NORM"] if len(parts) == 1 else []
    if len(parts) == 3 and not parts[1]:
        return "antisymmetrized", parts[::2]
    if kind == "mean" and len(norms) == 1 and 0 < norms[0] < len(parts[0]) - 1:
        return "antisymmetrized", [parts[0][: norms[0]], parts[0][norms[0] + 1 :]]
    return kind, parts


def _is_state_name(part: Sequence[Token]) -> bool:
    """Return True if flat tokens as in `<s = +|` or `|1, 2>` only name a quantum state: they hold a comma or relation.

    Commas and relations in inner brackets do not count; other signs that occur only in names do.
    """
    level = 0
    for before, token in zip((part[0], *part), part, strict=False):
        level += nesting_change(token)
        is_adjoint = before.type == "^" and token.text in (r"\dagger", r"\dag")
        if level == 0 and not is_adjoint and (token.type in _LABEL_TOKENS or token.text in ONLY_IN_NAMES):
            return True
    return False


def _is_state_label(part: Sequence[Token]) -> bool:
    """Return True if flat tokens are the label of a state and nothing else: `1_x`, `1s1s`, `2p`, a sign in braces."""
    glued = any(
        ((one.type, two.type) == ("letter", "number") and not two.gap) or (one.type, two.type) == ("number", "_")
        for one, two in pairwise(part)
    )
    return glued or [token.type for token in part] in (["{", "PLUS", "}"], ["{", "MINUS", "}"])


# Environments -----------------------------------------------------------------------------------------------


def read_environment(cursor: Cursor, opening: Token) -> Token:
    r"""Read on behind `\begin{pmatrix}` or the like up to its `\end`, and return one token with its scripts.

    The token is LISTED `matrix` or `cases` with one `row` token an argument; `vmatrix` becomes the call of `det`.
    A table, a figure, a wrong `\end` or an empty environment raises a Fault.
    """
    if opening.text in _TABLES:
        raise Fault(opening.pos, f"a {opening.text}", "mathematics only", kind="table")
    rows: list[list[list[Token]]] = [[]]
    tokens = cursor.tokens
    while True:
        cell = _read_cell(cursor)
        if cell or tokens[cursor.index].type == "AMP":
            rows[-1].append(cell)
        end = tokens[cursor.index]
        cursor.index += 1
        if end.type == "FINISH":
            break
        if end.type in ("END", "}"):
            raise Fault(end.pos, describe_token(end), rf"\end{{{opening.text}}}")
        if end.type == "ROW":
            rows.append([])
    if end.text != opening.text:
        raise Fault(end.pos, rf"\end{{{end.text}}}", rf"\end{{{opening.text}}}")
    rows = _without_empty_cells(rows, opening)
    made = [[Token("LISTED", "row", row[0][0].pos, args=row)] for row in rows if row]
    if not made:
        raise Fault(opening.pos, rf"an empty {opening.text}")
    kind = "cases" if opening.text in _CASES else "matrix"
    matrix = Token("LISTED", kind, opening.pos, opening.gap, args=made)
    if opening.text in _DETERMINANTS:
        matrix = Token("APPLY", "det", opening.pos, opening.gap, args=[[matrix]])
    return read_scripts(cursor, matrix)


def _without_empty_cells(rows: list[list[list[Token]]], opening: Token) -> list[list[list[Token]]]:
    """Return the rows of an environment without empty cells, which only part columns.

    Errors:
        Fault: another row of a matrix has something in the place of an empty cell.
    """
    widest = max(map(len, rows))
    filled = [any(len(row) > at and row[at] for row in rows) for at in range(widest)]
    is_laid_out = opening.text in _CASES or any(
        cell and cell[0].type in ("REL", "SYM") and has_type(cell, "REL") for row in rows for cell in row
    )
    for row in rows:
        if not is_laid_out and not all(cell for cell, is_filled in zip(row, filled, strict=False) if is_filled):
            raise Fault(opening.pos, "an empty cell of a table", "0, or dots", kind="table")
    return [[cell for cell in row if cell] for row in rows]


def _read_cell(cursor: Cursor) -> list[Token]:
    """Read one cell of a matrix and return its items; a cell that is no mathematics (`a, b`, words) becomes one symbol.

    The cursor stops at the `&`, the row end or the end of the environment behind the cell. Raises the Fault of a cell
    nested near MAX_DEPTH.
    """
    tokens = cursor.tokens
    start, depth = cursor.index, cursor.depth
    try:
        body = cursor.siblings(cursor, _CELL_ENDS)
    except Fault as fault:
        cursor.index, cursor.depth = _cell_end_index(tokens, start), depth
        if depth >= MAX_DEPTH - 1:
            raise fault from None
        body = [Token("ROMAN", "text", tokens[start].pos)]
    cell = tokens[start : cursor.index]
    while body and body[-1].type in ("COMMA", "COLON"):
        body.pop()
    is_text = len(body) > 1 and body[0].type == "ROMAN" and body[0].text == "text" and bool(body[0].raw)
    if is_text and not _join_token_texts(body[0].raw).endswith(("odd", "even")):
        body = body[1:]  # `\text{if } x > 0`: the condition alone
    odd = has_type(body, "COMMA", "IMPLIES", "ROMAN", "OR", "COLON", "OVER") or (
        bool(body) and (body[0].type == "REL" or body[-1].type in OPERATORS)
    )
    return [Token("SYM", _join_token_texts(cell), cell[0].pos)] if odd else body


def _cell_end_index(tokens: list[Token], index: int) -> int:
    r"""Return the index of the token that ends the matrix cell which begins at `index`: `&`, `\\` or `\end`."""
    level = 0
    while tokens[index].type != "END":
        kind = tokens[index].type
        if level == 0 and kind in _CELL_ENDS:
            break
        level += (kind in ("{", "BEGIN")) - (kind in ("}", "FINISH"))
        index += 1
    return index


def _join_token_texts(tokens: Sequence[Token]) -> str:
    """Join the texts of flat tokens to a name, with a blank only behind commands, for a cell that is no mathematics."""
    return "".join(token.text + (" " if token.text[:1] == "\\" else "") for token in tokens)
