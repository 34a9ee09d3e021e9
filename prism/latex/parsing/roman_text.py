r"""Roman texts: which are units, which are symbols, and which are prose and refused.

The text decides nothing alone: `\mathrm{m}` is a metre in `3\,\mathrm{m}` and a mass in `\mathrm{m} g`, so what
stands before it decides, and then `unit_text` whether it can be read as a unit at all. A unit runs on over dots,
slashes and further roman words.

Numbers of formulas, which are no part of them: `(2) F = ma`, `E = h\nu \quad (ii)`, `E = h\nu \cdots (1)`.

A number in brackets right behind a formula may be a factor too, so something has to set it apart: a wide space, dots,
an arrow, or a font for words.
"""

from __future__ import annotations

from dataclasses import replace

from prism.latex.parsing.names import NUMBERS_OF_FLOW, spell_name
from prism.latex.parsing.tokens import (
    GAP_QUAD,
    GAP_SPACE,
    OPERATORS,
    RELATION_TEXT,
    Ambiguity,
    Fault,
    Token,
    ends_operand,
    has_type,
    unit_token,
)
from prism.latex.parsing.tree import nest_tokens
from prism.latex.parsing.unit_text import (
    UnitExpression,
    is_numeric,
    raise_last_unit,
    read_unit_expression,
    unit_items,
)
from prism.latex.words import REMARKS, UNITS, is_written_out_unit

# Words that show that a roman text is a sentence and no unit or symbol.
PROSE = frozenset(
    "and or where if for with when so at thus since is are the of from by to as that then which hence because than "
    "in on we get let all any each given both per else otherwise here not let's it this has have "
    "be an a but while into out using only case also after before above below between through".split()
)
DENIALS = frozenset("not never no cannot wrong incorrect incorrectly false isn't doesn't don't nor neither".split())
# In \mathrm behind a term these are units; shorter ones are also names: `F = m \mathrm{g}`.
_CLEAR_UNITS = frozenset(
    "eV keV MeV GeV TeV meV Hz kHz MHz GHz kPa MPa GPa kJ MJ kW MW kg cm mm km nm mol rad dB".split()
)
_WRITTEN_OUT = frozenset(("square", "cubic", "squared", "cubed", "million", "billion", "trillion"))
_OHM_PREFIXES = frozenset(("m", "k", "M", "G"))  # `\mathrm{k}\Omega`
_ACCENTS_OF_LETTERS = frozenset((r"\ddot", r"\acute", r"\grave", r"\hat", r"\tilde", r"\check", r"\mathring"))
_LONGEST_NAME = 8  # words; a longer text is a sentence
# Words of a sentence, and alone inch, year, attosecond, technical atmosphere, ampere second.
_SHORT_UNITS = ("in", "a", "as", "at", "As")
_LONGEST_UNIT = 4  # letters of a unit in a text of several words; longer words are prose
_WORDS_SHOWN = 4  # of a text in an error message


def words_in_text(item: Token) -> list[str]:
    r"""Return the words of a roman text such as `\text{net force}`; drops a final comma or full stop from the item."""
    while item.raw and (item.raw[-1].type == "COMMA" or item.raw[-1].text == "."):
        item.raw = item.raw[:-1]  # the punctuation of the sentence around the formula
    words: list[str] = []
    fresh = True
    for token in item.raw:
        is_accent = token.type == "command" and token.text in _ACCENTS_OF_LETTERS
        if not is_accent and not _is_letter(token) and not (token.type == "PRIME" and words):
            fresh = True
            continue
        if fresh or token.gap:
            words.append("")
        words[-1] += "" if is_accent else token.text
        fresh = False
    return words


def _is_letter(token: Token) -> bool:
    """Return True for a letter of any script."""
    return token.type == "letter" or (token.type == "unknown" and token.text.isalpha())


def is_foreign(item: Token) -> bool:
    """Return True for a text with letters that formulas have not, as Cyrillic, Chinese or accented ones."""
    return any(token.type == "unknown" or token.text in _ACCENTS_OF_LETTERS for token in item.raw)


def may_be_unit_words(words: list[str]) -> bool:
    """Return True if all words are short enough for units and at least one is a known unit."""
    return all(len(word) <= _LONGEST_UNIT for word in words) and any(word in UNITS for word in words)


def excerpt(item: Token) -> str:
    r"""Return the first words of a roman text such as `\text{net force}` in backticks, for an error message."""
    words = words_in_text(item)
    return f"`{' '.join(words[:_WORDS_SHOWN])}{' ...' if len(words) > _WORDS_SHOWN else ''}`"


def _is_prose_word(word: str) -> bool:
    """Return True if a word belongs to a sentence, as `and` does; words in capitals (A for ampere) do not."""
    return not word.isupper() and word.lower() in PROSE


# Units ------------------------------------------------------------------------------------------------------


def resolve_roman_texts(items: list[Token]) -> list[Token]:
    r"""Replace each roman text (`\mathrm{m}`, `\text{m}`) among siblings by a unit where one can be, else by a symbol.

    `3\,\mathrm{m}` is three metres, `\mathrm{m} g` a symbol m times g.

    Errors:
        Fault: a text is a sentence, or no unit where only a unit can stand.
    """
    out: list[Token] = []
    index = 0
    items = _merge_micro_prefixes(items)
    while index < len(items):
        item = items[index]
        if item.type == "QUANTITY":
            out.extend(item.args[0])
        elif item.type == "ROMAN":
            ends_in_slash = len(item.raw) > 1 and item.raw[-1].type == "SLASH"
            if ends_in_slash and index + 1 < len(items) and ends_operand(items[index + 1]):  # `\mathrm{GeV/}c^2`
                items = [*items[: index + 1], item.raw[-1], *items[index + 1 :]]
                item.raw = item.raw[:-1]
            if item.text == "unit" or _stands_behind_number(out, item) or _is_trailing_unit(items, index, out):
                index = _append_unit(items, index, out)
                continue
            if (name := _quantity_named_in_words(items, index, out)) is not None:
                out.append(name)
            else:
                _append_symbol_or_unit(item, out)
        elif item.type == "SYM" and item.text in (r"\mu", r"\Omega") and _is_greek_unit(items, index, out):
            if item.text == r"\Omega":
                prefix = out.pop().text if out[-1].type == "UNIT" and out[-1].text in _OHM_PREFIXES else ""
                out.append(unit_token(prefix + "ohm", item.pos, sup=item.sup))
            else:
                piece = items[index + 1]
                raw = (Token("letter", r"\mu", item.pos), *piece.raw)
                items[index + 1] = Token("ROMAN", piece.text, item.pos, sup=piece.sup, raw=raw)
        elif _is_unit_in_brackets(item) and out and (is_numeric(out[-1]) or _ends_in_unit_and_dot(out)):
            out.append(Token("PAREN", "(", item.pos, item.gap, args=[_read_units(item.args[0])], sup=item.sup))
        elif _is_unit_in_brackets(item) and item.text == "(" and out and out[-1].type == "SYM" and not item.gap:
            raise Ambiguity(item.pos, "a unit in brackets behind a symbol: what it is counted in, or a factor?",
                            r"T/\mathrm{eV}")  # fmt: skip
        elif item.type == "FRAC":
            out.append(_fraction_with_units(item, out))
        else:
            out.append(item)
        index += 1
    return _add_parts_of_quantities(out)


# Units that a quantity is told in one after the other, largest first, with their other names.
_PARTS = {
    name: (series, rank)
    for series, names in enumerate((
        "yr|year|years d|day|days h|hr|hrs|hour|hours min|mins|minute|minutes s|sec|secs|second|seconds",
        "deg|degree|degrees arcmin|arcminute|arcminutes arcsec|arcsecond|arcseconds",
        "mi|mile|miles yd|yard|yards ft|foot|feet in|inch|inches", "lb|lbs|pound|pounds oz|ounce|ounces", "km m cm mm",
    ))
    for rank, spellings in enumerate(names.split())
    for name in spellings.split("|")
}  # fmt: skip


def _add_parts_of_quantities(items: list[Token]) -> list[Token]:
    r"""Return items with a plus between the parts of a quantity in several units, `2\,\mathrm{h}\,30\,\mathrm{min}`.

    Parts are numbers, each with one unit, side by side without a sign, in units of one kind that get smaller.
    """
    if sum(item.type == "UNIT" for item in items) <= 1:
        return items
    out: list[Token] = []
    index = 0
    while index < len(items):
        parts = [items[index : index + 2]]
        while _is_next_part(parts[-1], items[index + 2 * len(parts) : index + 2 * len(parts) + 2]):
            start = index + 2 * len(parts)
            parts.append(items[start : start + 2])
        if len(parts) == 1:
            out.append(items[index])
            index += 1
            continue
        first = parts[0][0]
        body = [*parts[0]]
        for part in parts[1:]:
            body += [Token("PLUS", "+", part[0].pos), *part]
        out.append(Token("PAREN", "(", first.pos, first.gap, args=[body]))
        index += 2 * len(parts)
    return out


def _is_next_part(part: list[Token], following: list[Token]) -> bool:
    """Return True if number and unit `following` continue those of `part` in a smaller unit of the same kind."""
    if not all([item.type for item in pair] == ["NUM", "UNIT"] for pair in (part, following)):
        return False
    if any(item.sup is not None for item in (*part, *following)):
        return False
    (series, rank), (next_series, next_rank) = (_PARTS.get(pair[1].text, (-1, 0)) for pair in (part, following))
    return series == next_series >= 0 and rank < next_rank


def _fraction_with_units(item: Token, out: list[Token]) -> Token:
    """Return a fraction with its roman texts as units if it stands behind a number or has one above, else unchanged.

    Raises Fault for a power behind it.

    Args:
        item: the fraction.
        out: resolved items before the fraction.
    """
    above, below = item.args
    behind_number = bool(out) and is_numeric(out[-1])
    is_one = len(above) == 1 and above[0].type == "NUM" and above[0].text == "1" and above[0].sup is None
    is_quantity = bool(above) and is_numeric(above[0]) and has_type(above, "ROMAN")
    is_quantity = is_quantity and all(is_numeric(part) or part.type in ("ROMAN", "TIMES") for part in above)
    if is_one and behind_number and _are_only_units(below):  # `5\,\frac{1}{\mathrm{s}}`
        parts = [above, _read_units(below)]
    elif is_quantity and _are_only_units(below):  # `\frac{9.8\,\mathrm{m}}{\mathrm{s}^2}`
        parts = [resolve_roman_texts(above), _read_units(below)]
    elif behind_number and all(_are_only_roman_texts(_greek_signs_as_text(part)) for part in item.args):
        if item.sup is not None:  # m/s^2 for who writes it in haste, and m^2/s^2 as it stands
            raise Fault(item.pos, "a power behind a fraction of units", "brackets around the unit that it raises")
        return Token("FRAC", "", item.pos, item.gap, args=[_read_units(above), _read_units(below)])
    else:
        return item
    return Token("FRAC", item.text, item.pos, item.gap, args=parts, sup=item.sup)


def _are_only_roman_texts(items: list[Token]) -> bool:
    """Return True if all items are roman texts or product signs, and there is at least one."""
    return bool(items) and all(item.type in ("ROMAN", "TIMES") for item in items)


def _merge_micro_prefixes(items: list[Token]) -> list[Token]:
    r"""Return items with `\mathrm{\mu}\mathrm{m}` as one text, and the text of `3 \text{ x } 10^8` as a times sign."""
    out: list[Token] = []
    for index, item in enumerate(items):
        if item.type == "ROMAN" and out and _is_micro_prefix(out[-1]):
            micro = out.pop()
            raw = (*micro.raw, *item.raw)
            out.append(Token("ROMAN", item.text, micro.pos, micro.gap, sup=item.sup, raw=raw))
        elif (
            item.type == "ROMAN"
            and [token.text for token in item.raw] == ["x"]
            and (0 < index < len(items) - 1 and items[index - 1].type == items[index + 1].type == "NUM")
        ):
            out.append(Token("TIMES", r"\times", item.pos))
        else:
            out.append(item)
    return out


def _is_micro_prefix(item: Token) -> bool:
    r"""Return True for a roman text that is `\mu` alone."""
    return item.type == "ROMAN" and item.sup is None and [token.text for token in item.raw] == [r"\mu"]


def _is_greek_unit(items: list[Token], index: int, out: list[Token]) -> bool:
    r"""Return True if the `\mu` or `\Omega` at an index is micro or ohm: behind a number, before a unit or at the end.

    The ohm of `\mu\Omega`, at index + 1, is then replaced by a roman text.

    Args:
        out: resolved items before the sign.
    """
    if not out or not is_numeric(out[-1]):
        return False
    item = items[index]
    if item.text == r"\Omega" and out[-1].type == "UNIT" and out[-1].text in _OHM_PREFIXES and out[-1].sup is None:
        return True
    after = items[index + 1] if index + 1 < len(items) else None
    if after is not None and after.type == "TIMES" and after.text != r"\times" and item.text == r"\Omega":
        after = items[index + 2] if index + 2 < len(items) and item.gap >= GAP_SPACE else after
    if item.text == r"\mu" and item.sup is None and after is not None and after.text == r"\Omega":
        raw = (Token("letter", after.text, after.pos),)
        items[index + 1] = Token("ROMAN", "math", after.pos, sup=after.sup, raw=raw)
        return True
    if after is not None and after.type == "ROMAN":
        return item.text == r"\Omega" or item.sup is None
    ends = after is None or after.type in ("REL", "COMMA", "PLUS", "MINUS")
    return item.text == r"\Omega" and item.gap >= GAP_SPACE and ends


def _stands_behind_number(out: list[Token], item: Token) -> bool:
    """Return True if the resolved items end in a number or unit, perhaps with a dot or slash: `item` can be a unit."""
    if not out or "".join(words_in_text(item)) in NUMBERS_OF_FLOW:
        return False
    last = out[-1]
    if is_numeric(last):
        return not (last.type == "CONST" and len(out) == 1 and not words_in_text(item))
    if last.type == "TIMES" and last.text != r"\times" and len(out) > 1:
        before = out[-2]
        return before.type in ("UNIT", "NUM") or (before.type == "FRAC" and not before.text and is_numeric(before))
    if last.type == "SLASH" and len(out) > 1:
        return is_numeric(out[-2])
    return False


def _is_trailing_unit(items: list[Token], index: int, out: list[Token]) -> bool:
    r"""Return True if the text at an index is a known unit that ends a term, set apart, as in `F = 2x \text{ N}`.

    Args:
        out: resolved items before the text.
    """
    item = items[index]
    behind = items[index + 1] if index + 1 < len(items) else None
    ends = behind is None or behind.type in ("REL", "COMMA", "PLUS", "MINUS", "SLASH")
    if not ends or not out or out[-1].type in OPERATORS:
        return False
    words = words_in_text(item)
    if item.text == "math":
        return len(words) == 1 and words[0] in _CLEAR_UNITS and not item.raw[0].text.startswith("\\")
    return bool(item.gap) and bool(words) and words != ["g"] and all(word in UNITS for word in words)


def _is_unit_in_brackets(item: Token) -> bool:
    r"""Return True if an item is a bracket that holds only units: `5\,[\mathrm{m}]`, `5\,(\mathrm{m/s})`."""
    return item.type == "PAREN" and item.text in ("(", "[") and _are_only_units(item.args[0])


def _ends_in_unit_and_dot(out: list[Token]) -> bool:
    r"""Return True if the items end in a unit and a product sign other than `\times`."""
    return len(out) > 1 and out[-1].type == "TIMES" and out[-1].text != r"\times" and out[-2].type == "UNIT"


def _are_only_units(items: list[Token]) -> bool:
    """Return True if items are unit texts or fractions of them, with product signs and at most one slash between."""
    slashes = sum(item.type == "SLASH" for item in items)
    units = [item for item in _greek_signs_as_text(items) if item.type not in ("TIMES", "SLASH")]
    return bool(units) and slashes <= 1 and "SLASH" not in (items[0].type, items[-1].type) and all(
        UNITS.issuperset(words_in_text(item) or [""]) if item.type == "ROMAN" else item.type == "FRAC" and all(
            _are_only_units(part) for part in item.args
        )
        for item in units
    )  # fmt: skip


def _greek_signs_as_text(items: list[Token]) -> list[Token]:
    r"""Turn `\Omega` (ohm), and `\mu` before a text (micro), into roman texts: `\frac{\mu\mathrm{g}}{\Omega}`."""
    out: list[Token] = []
    for index, item in enumerate(items):
        before_roman = index + 1 < len(items) and items[index + 1].type == "ROMAN"
        micro = item.type == "SYM" and item.text == r"\mu" and item.sup is None and before_roman
        if micro or (item.type == "SYM" and item.text == r"\Omega"):
            letter = Token("letter", item.text, item.pos)
            out.append(Token("ROMAN", "math", item.pos, item.gap, sup=item.sup, raw=(letter,)))
        else:
            out.append(item)
    return _merge_micro_prefixes(out)


def _read_units(items: list[Token]) -> list[Token]:
    """Convert unit texts, their fractions and a slash among them to unit tokens; raise a Fault for any other text."""
    above: list[Token] = []
    below: list[Token] = []
    side = above
    for item in _greek_signs_as_text(items):
        if item.type == "TIMES":
            continue
        if item.type == "SLASH":
            side = below
            continue
        if item.type == "FRAC":
            parts = [_read_units(part) for part in item.args]
            side.append(Token("FRAC", "", item.pos, args=parts, sup=item.sup))
            continue
        piece = read_unit_expression(item.raw)
        if piece is None:
            raise Fault(item.pos, f"the unit {excerpt(item)}", "a unit")
        if item.sup is not None:
            raise_last_unit(piece.last_factors, item.sup, piece.last_factors[-1].pos)
        side.extend(unit_items(piece, item.pos))
    if below:
        return [Token("FRAC", "", items[0].pos, args=[above or [Token("NUM", "1", items[0].pos)], below])]
    return above


def _append_unit(items: list[Token], index: int, out: list[Token]) -> int:
    """Append the unit that begins at an index, with its dots, slashes and further texts; return the index behind it.

    Args:
        out: resolved items, which the unit is appended to; a dot or slash before the unit is taken off.

    Errors:
        Fault: a second slash in the unit.
    """
    pos = items[index].pos
    whole = UnitExpression()
    side = whole.above
    before = out[-1].type if out else ""
    if before == "SLASH" and len(out) > 1 and items[index].text != "unit" and is_numeric(out[-2]):
        out.pop()
        side = whole.below
    elif before == "TIMES":
        out.pop()
    count = len(items)
    while index < count:
        item = items[index]
        if item.type == "ROMAN":
            if not _add_unit_text(item, whole, side):
                if whole.above or whole.below:
                    out.extend(unit_items(whole, pos))
                _append_symbol_or_unit(item, out)
                return index + 1
            if whole.below and has_type(item.raw, "SLASH"):
                side = whole.below  # what follows a slash stands below it
        elif item.type == "UNIT":
            side.append(item)
        elif item.type == "SLASH" and index + 1 < count and items[index + 1].type == "ROMAN":
            if whole.below:
                raise Fault(item.pos, "a unit with two slashes", "brackets in the unit")
            side = whole.below
        elif item.type == "SLASH" and index + 1 < count and items[index + 1].text == r"\Omega" and not whole.below:
            whole.below.append(unit_token("ohm", item.pos, sup=items[index + 1].sup))
            index += 1
        elif (
            item.type == "SLASH"
            and index + 1 < count
            and items[index + 1].type == "PAREN"
            and (_are_only_roman_texts(items[index + 1].args[0]))
        ):
            bracket = items[index + 1]
            whole.below.append(Token("PAREN", "(", bracket.pos, args=[_read_units(bracket.args[0])], sup=bracket.sup))
            index += 1
        elif item.type == "TIMES" and item.text != r"\times" and index + 1 < count and items[index + 1].type == "ROMAN":
            pass
        else:
            break
        index += 1
    out.extend(unit_items(whole, pos))
    return index


def _add_unit_text(item: Token, whole: UnitExpression, side: list[Token]) -> bool:
    """Add one roman text to a unit expression; return False, with nothing added, if the text is no unit.

    Raises Fault for a second slash.

    Args:
        whole: the unit expression.
        side: its list above or below the slash that the text goes to.
    """
    words = words_in_text(item)
    plain = "per" in words and not _WRITTEN_OUT.intersection(words)  # no more than a slash
    only_words = all(token.type in ("letter", "MINUS", "mark", "{", "}") for token in item.raw)
    if only_words and not plain and is_written_out_unit(words):
        side.append(unit_token(" ".join(words), item.pos, sup=item.sup))
        return True
    short = len(words) == 1 and words[0] in _SHORT_UNITS
    structured = has_type(item.raw, "SLASH", "^", "TIMES") or "per" in words
    short = short or (structured and all(word in UNITS or word in _SHORT_UNITS for word in words))
    if any(_is_prose_word(word) and word != "per" for word in words) and not short and item.text != "unit":
        return False
    if item.text == "text" and len(words) > 1 and not structured and any(len(word) > _LONGEST_UNIT for word in words):
        return False
    piece = read_unit_expression(item.raw)
    if piece is None:
        return False
    if item.sup is not None:
        raise_last_unit(piece.last_factors, item.sup, piece.last_factors[-1].pos)
    if piece.below and side is whole.below:
        raise Fault(item.pos, "a unit with two slashes", "brackets in the unit")
    if piece.below and not whole.above and not whole.below:
        whole.above.extend(piece.above or [])
        whole.below.extend(piece.below)
        return True
    side.extend(unit_items(piece, item.pos))
    return True


# Symbols and prose ------------------------------------------------------------------------------------------


def _append_symbol_or_unit(item: Token, out: list[Token]) -> None:
    """Append a roman text where no unit is expected: as a symbol, as a unit with powers or slashes, or as a formula.

    Errors:
        Fault: the text is a sentence, empty, or neither a symbol nor a unit.
    """
    if [token.type for token in item.raw] == ["number"] and not (out and out[-1].type in ("NUM", "SYM")):
        out.append(Token("NUM", item.raw[0].text, item.pos, item.gap, sup=item.sup))
        return
    if is_foreign(item):
        raise Fault(item.pos, f"prose inside the formula: {excerpt(item)}", "mathematics only", kind="prose")
    words = words_in_text(item)
    plain = ("letter", "number", "{", "}", "mark", "MINUS", "_")
    structured = [token for token in item.raw if token.type not in plain]
    if item.text == "text" and (len(words) > 1 or (words and _is_prose_word(words[0]) and len(words[0]) > 1)):
        unit = read_unit_expression(item.raw) if structured and may_be_unit_words(words) else None
        if unit is None or any(_is_prose_word(word) for word in words):
            raise Fault(item.pos, f"prose inside the formula: {excerpt(item)}", "mathematics only", kind="prose")
        out.extend(unit_items(unit, item.pos))
        return
    if structured:
        if item.text == "text" or "SLASH" in [token.type for token in structured]:
            unit = read_unit_expression(item.raw)
            if unit is not None and out and out[-1].type not in OPERATORS:
                factors = unit_items(unit, item.pos)
                if item.sup is not None:
                    unit.last_factors[-1].sup = item.sup
                out.extend(factors)
                return
            if item.text == "text":
                kind = "fragment" if _is_number_of_formula(item, words) else "syntax"
                raise Fault(
                    item.pos, f"the text {excerpt(item)}, which is no unit here", "a symbol or a unit", kind=kind
                )
        out.extend(_read_as_mathematics(item))
        return
    name = spell_name(item.raw)
    if item.text == "text" and name in REMARKS and out and ends_operand(out[-1]):
        raise Fault(item.pos, f"prose inside the formula: {excerpt(item)}", "mathematics only", kind="prose")
    if not name:
        raise Fault(item.pos, "an empty roman text")
    if not any(char.isalnum() for char in name):
        raise Fault(item.pos, f"the text `{name}`", "a symbol or a unit")
    out.append(Token("SYM", name, item.pos, item.gap, sup=item.sup))


def _is_number_of_formula(item: Token, words: list[str]) -> bool:
    r"""Return True for the number or letter of a formula or part as a text, `\text{(3.2a)}`."""
    return (item.raw[0].text, item.raw[-1].text) == ("(", ")") and all(len(word) <= len("iii") for word in words)


def _quantity_named_in_words(items: list[Token], index: int, out: list[Token]) -> Token | None:
    r"""Return a symbol for a quantity whose name is several words, as in `\text{net force} = ma`; None for other texts.

    Args:
        index: of the text among the items.
        out: resolved items before the text.
    """
    item = items[index]
    words = words_in_text(item)
    if item.text != "text" or not 1 - is_foreign(item) < len(words) <= _LONGEST_NAME:
        return None
    before, behind = out[-1] if out else None, items[index + 1] if index + 1 < len(items) else None
    if is_foreign(item):
        if has_type(item.raw, "OPEN", "CLOSE"):
            return None
    elif behind is not None and behind.type == "SYM" and behind.text.isupper():
        behind = None  # the area of triangle ABC
    if any(other is not None and other.type not in OPERATORS for other in (before, behind)):
        return None
    first, last = words[0].lower(), words[-1].lower()
    sentence = first in PROSE - {"a", "an", "each"} or last in PROSE or DENIALS.intersection(map(str.lower, words))
    if sentence or may_be_unit_words(words):
        return None
    named = words[0] if len(words) == 1 and words[0].isascii() else rf"\text{{{' '.join(words)}}}"
    return Token("SYM", named, item.pos, item.gap, sup=item.sup)


def _read_as_mathematics(item: Token) -> list[Token]:
    r"""Return the content of `\mathrm{A+B}`, a formula in a roman font, as nested items in one bracket.

    Letters side by side that spell a clear unit become one token. Raises Fault for an empty text.
    """
    raw: list[Token] = []
    for token in item.raw:
        joined = raw[-1].text + token.text if raw and token.type == raw[-1].type == "letter" and not token.gap else ""
        raw[-1:] = [replace(raw[-1], text=joined)] if joined in _CLEAR_UNITS else [*raw[-1:], token]
    body = nest_tokens([*raw, Token("END", "", item.pos)])
    if not body:
        raise Fault(item.pos, "an empty roman text")
    return [Token("PAREN", "{", item.pos, item.gap, args=[body], sup=item.sup)]


# Numbers of formulas ------------------------------------------------------------------------------------------------

_NUMERALS = frozenset(("a", "b", "c", "d", "e", "f", "i", "ii", "iii", "iv", "v", "vi", "vii"))
_ARROWS = frozenset(sign for sign, relation in RELATION_TEXT.items() if relation == "to")
_SIGNS = frozenset((r"\star", r"\ast", r"\dagger"))


def starts_with_formula_number(items: list[Token]) -> bool:
    """Return True if the items begin with a formula's number and a blank: `(2) F = ma`, `(b) F = ma`."""
    if len(items) < 3 or items[0].type != "PAREN" or items[0].text != "(" or items[0].sup is not None:
        return False
    content = items[0].args[0]
    numeral = "".join(part.text for part in content if part.sup is None)
    apart = items[1].gap and items[1].type not in OPERATORS and has_type(items, "REL")
    return bool(apart) and len(content) <= len("iii") and (numeral in _NUMERALS or numeral.isdigit())


def start_of_formula_number(items: list[Token]) -> int:
    r"""Return the index of a formula's number at its end, with the dots or arrow that lead to it; the length for none.

    It stands behind a wide space, dots or as a text: `\quad (ii)`, `\cdots (1)`, `\text{ (3a)}`.
    """
    end = len(items)
    if end < 2 or not is_formula_number(items[-1]) or not has_type(items[:-1], "REL"):
        return end
    start = end - 1
    while start > 1 and items[start - 1].text == "dots":
        start -= 1
    is_led = start < end - 1 and items[start - 1].type not in OPERATORS | {"NUM"}
    if not is_led and start == end - 1 and items[start - 1].text in _ARROWS and items[start - 1].gap == GAP_QUAD:
        start, is_led = start - 1, True
    apart = items[end - 1].gap == GAP_QUAD or items[start].gap == GAP_QUAD
    return start if is_led or apart or items[-1].type == "ROMAN" else end


def is_formula_number(item: Token) -> bool:
    r"""Return True for a number or letter in brackets, `(1)`, `(2a)`, `(iv)`, `[3]`, `(*)`, also as a text."""
    if item.sup is not None or item.sub is not None:
        return False
    if item.type == "ROMAN":
        kinds = [token.type for token in item.raw if token.type not in ("MINUS", "mark")]
        return kinds in (["OPEN", "number", "CLOSE"], ["OPEN", "number", "letter", "CLOSE"])
    if item.type != "PAREN" or item.text not in ("(", "["):
        return False
    parts = item.args[0]
    texts = [part.text if part.type != "ROMAN" else "".join(words_in_text(part)) for part in parts]
    if any(part.sup is not None for part in parts) or len(parts) > len("iii"):
        return False
    return "".join(texts) in _NUMERALS | _SIGNS or (
        parts[0].type == "NUM" and texts[0].replace(".", "").isdigit() and texts[1:] in ([], *([x] for x in "abcdef"))
    )
