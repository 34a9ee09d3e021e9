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
    UNIT_VECTORS,
    Ambiguity,
    Fault,
    Token,
    ends_operand,
    has_type,
    unit_token,
)
from prism.latex.parsing.tree import nest_tokens
from prism.latex.parsing.units.unit_text import has_plain_power, is_numeric, read_unit
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
    "eV keV MeV GeV TeV meV Hz kHz MHz GHz kPa MPa GPa kJ MJ kW MW kg cm mm km nm pc kpc Mpc mol rad dB".split()
)
_WRITTEN_OUT = frozenset(("square", "cubic", "squared", "cubed", "million", "billion", "trillion"))
_PREFIXES_OF_OHM = frozenset(("m", "k", "M", "G", r"\mu"))  # `\mathrm{k}\Omega`
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
    while index < len(items):
        item = items[index]
        if item.type == "QUANTITY":
            out.extend(item.args[0])
        elif item.type == "ROMAN" and _is_times_sign(items, index):
            out.append(Token("TIMES", r"\times", item.pos))
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
            index = _append_unit(items, index, out)
            continue
        elif _is_unit_in_brackets(item) and _stands_behind_number(out, item):
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
    out: list[Token] = []
    index = 0
    while index < len(items):
        end = index + 2
        while _is_next_part(items[end - 2 : end], items[end : end + 2]):
            end += 2
        if end == index + 2:
            out.append(items[index])
            index += 1
            continue
        body = [*items[index : index + 2]]
        for at in range(index + 2, end, 2):
            body += [Token("PLUS", "+", items[at].pos), *items[at : at + 2]]
        out.append(Token("PAREN", "(", body[0].pos, body[0].gap, args=[body]))
        index = end
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
    is_one = [(part.text, part.sup) for part in above] == [("1", None)]
    is_quantity = has_type(above, "ROMAN") and is_numeric(above[0])
    is_quantity = is_quantity and all(is_numeric(part) or part.type in ("ROMAN", "TIMES") for part in above)
    if (is_quantity or (is_one and behind_number)) and _are_only_units(below):  # `\frac{9.8\,\mathrm{m}}{\mathrm{s}^2}`
        above = resolve_roman_texts(above)
    elif behind_number and all(map(_are_only_roman_texts, item.args)):
        if item.sup is not None:  # m/s^2 for who writes it in haste, and m^2/s^2 as it stands
            raise Fault(item.pos, "a power behind a fraction of units", "brackets around the unit that it raises")
        above = _read_units(above)
    else:
        return item
    return Token("FRAC", "", item.pos, item.gap, args=[above, _read_units(below)], sup=item.sup)


def _are_only_roman_texts(items: list[Token]) -> bool:
    """Return True if all items are roman texts or product signs, and there is at least one."""
    return bool(items) and all(
        item.type in ("ROMAN", "TIMES") or _is_greek_sign(items, index) for index, item in enumerate(items)
    )


def _is_times_sign(items: list[Token], index: int) -> bool:
    r"""Return True for the text of `3 \text{ x } 10^8`."""
    around = items[index - 1].type if index else "", items[index + 1].type if index + 1 < len(items) else ""
    return around == ("NUM", "NUM") and [token.text for token in items[index].raw] == ["x"]


def _is_greek_unit(items: list[Token], index: int, out: list[Token]) -> bool:
    r"""Return True if the `\mu` or `\Omega` at an index is micro or ohm: behind a number, before a unit or at the end.

    Args:
        out: resolved items before the sign.
    """
    if not out or not is_numeric(out[-1]):
        return False
    item = items[index]
    after = items[index + 1] if index + 1 < len(items) else None
    if item.text == r"\mu":
        return _is_greek_sign(items, index)
    if after is not None and after.type == "TIMES" and after.text != r"\times":
        after = items[index + 2] if index + 2 < len(items) and item.gap >= GAP_SPACE else after
    ends = after is None or after.type in ("REL", "COMMA", "PLUS", "MINUS")
    return (after is not None and after.type == "ROMAN") or (item.gap >= GAP_SPACE and ends)


def _stands_behind_number(out: list[Token], item: Token) -> bool:
    """Return True if the resolved items end in a number or unit, perhaps with a dot or slash: `item` can be a unit."""
    if not out or "".join(words_in_text(item)) in NUMBERS_OF_FLOW:
        return False
    last = out[-1]
    vector = last.args[0] if last.type == "PAREN" else [last] if len(out) > 1 else []
    if last.sup is None and any(part.type == "SYM" and part.text in UNIT_VECTORS for part in vector):
        words = words_in_text(item)
        return bool(item.gap and words) and words != ["g"] and all(word in UNITS for word in words)
    if is_numeric(last):
        return not (last.type == "CONST" and len(out) == 1 and not words_in_text(item))
    if last.type == "TIMES" and last.text != r"\times" and len(out) > 1:
        before = out[-2]
        return before.type in ("UNIT", "NUM") or (before.type == "FRAC" and not before.text and is_numeric(before))
    return last.type == "SLASH" and len(out) > 1 and is_numeric(out[-2])


def _is_trailing_unit(items: list[Token], index: int, out: list[Token]) -> bool:
    r"""Return True if the text at an index is a known unit that ends a term, `F = 2x \text{ N}`, `\ln(d/\mathrm{pc})`.

    Args:
        out: resolved items before the text.
    """
    item = items[index]
    behind = items[index + 1] if index + 1 < len(items) else None
    ends = behind is None or behind.type in ("REL", "COMMA", "PLUS", "MINUS", "SLASH")
    words = words_in_text(item)
    is_below = bool(out) and out[-1].type == "SLASH" and _CLEAR_UNITS.issuperset(words)
    if not ends or not out or (out[-1].type in OPERATORS and not is_below):
        return False
    if item.text == "math":
        return len(words) == 1 and words[0] in _CLEAR_UNITS and not item.raw[0].text.startswith("\\")
    return bool(item.gap) and bool(words) and words != ["g"] and all(word in UNITS for word in words)


def _is_unit_in_brackets(item: Token) -> bool:
    r"""Return True if an item is a bracket that holds only units: `5\,[\mathrm{m}]`, `5\,(\mathrm{m/s})`."""
    return item.type == "PAREN" and item.text in ("(", "[") and _are_only_units(item.args[0])


def _are_only_units(items: list[Token]) -> bool:
    """Return True if items are unit texts or fractions of them, with product signs and at most one slash between."""
    return sum(item.type == "SLASH" for item in items) <= 1 and _names_only_units(read_unit(items))


def _names_only_units(items: list[Token] | None) -> bool:
    """Return True for the tokens of a unit if each name in it is one of a unit; False for none."""
    return items is not None and all(
        item.text in UNITS or item.type == "NUM" or (bool(item.args) and all(map(_names_only_units, item.args)))
        for item in items
    )


def _is_greek_sign(items: list[Token], index: int) -> bool:
    r"""Return True for `\Omega` (ohm), and for `\mu` before a text or an ohm (micro), italic or upright."""
    item, behind = items[index], items[index + 1 : index + 2]
    text = item.raw[0].text if item.type == "ROMAN" and len(item.raw) == 1 else item.text
    is_micro = text == r"\mu" and item.sup is None and (has_type(behind, "ROMAN") or _has_ohm(behind))
    return is_micro or _has_ohm(items[index : index + 1])


def _has_ohm(items: list[Token]) -> bool:
    r"""Return True if the first item, if any, is `\Omega`."""
    return bool(items) and items[0].type == "SYM" and items[0].text == r"\Omega"


def _read_units(items: list[Token]) -> list[Token]:
    """Convert unit texts, their fractions and a slash among them to unit tokens; raise a Fault for any other text."""
    read = read_unit(items)
    if read is None:
        raise Fault(items[0].pos, f"the unit {excerpt(items[0])}", "a unit")
    return read


def _append_unit(items: list[Token], index: int, out: list[Token]) -> int:
    """Append the unit that begins at an index, with its dots, slashes and further texts; return the index behind it.

    Args:
        out: resolved items, which the unit is appended to; a dot or slash before the unit is taken off.

    Errors:
        Fault: a second slash in the unit.
    """
    before = out[-1].type if out else ""
    is_below = before == "SLASH" and len(out) > 1 and items[index].text != "unit" and is_numeric(out[-2])
    if is_below or before == "TIMES":
        out.pop()
    if (written := _written_out_unit(items[index])) is not None:
        one = Token("NUM", "1", written.pos)
        out.append(Token("FRAC", "", written.pos, args=[[one], [written]]) if is_below else written)
        return index + 1
    end = _end_of_unit(items, index)
    if end == index:
        _append_symbol_or_unit(items[index], out)
        return index + 1
    read = read_unit(items[index:end], is_below=is_below)
    if read is None:
        raise Fault(items[index].pos, "a unit with two slashes", "brackets in the unit")
    out.extend(read)
    return end


def _end_of_unit(items: list[Token], start: int) -> int:
    """Return the index behind the texts of a unit, with the dots, slashes and brackets between them."""
    end = start
    for index in range(start, len(items)):
        item, before, behind = items[index], items[max(index - 1, start)], items[index + 1 : index + 2]
        is_below = index > start and before.type == "SLASH"
        is_bracket = is_below and item.type == "PAREN" and _are_only_roman_texts(item.args[0])
        is_prefixed = "".join(token.text for token in before.raw) in _PREFIXES_OF_OHM or before.text == r"\mu"
        is_ohm = _has_ohm([item]) and (index == start or is_below or is_prefixed)
        if index > start and item.text == "unit" and not is_below:  # each is a unit by itself
            break
        if (item.type == "ROMAN" and _is_unit_text(item)) or item.type == "UNIT" or is_bracket or is_ohm:
            end = index + 1
            if not has_plain_power(item):
                break
        elif item.text == r"\mu" and index == start:
            continue
        elif end < index or not (
            item.type == "SLASH" or (item.type == "TIMES" and item.text != r"\times" and has_type(behind, "ROMAN"))
        ):
            break
    return end


def _written_out_unit(item: Token) -> Token | None:
    r"""Return `\text{metres per second squared}` as one unit; None for other texts."""
    words = words_in_text(item)
    plain = "per" in words and not _WRITTEN_OUT.intersection(words)
    only_words = all(token.type in ("letter", "MINUS", "mark", "{", "}") for token in item.raw)
    is_written = only_words and not plain and is_written_out_unit(words)
    return unit_token(" ".join(words), item.pos, sup=item.sup) if is_written else None


def _is_unit_text(item: Token) -> bool:
    """Return True if a roman text behind a number is a unit, and no words."""
    words = words_in_text(item)
    structured = has_type(item.raw, "SLASH", "^", "TIMES") or "per" in words
    short = (structured or len(words) == 1) and all(word in UNITS or word in _SHORT_UNITS for word in words)
    if any(_is_prose_word(word) and word != "per" for word in words) and not short and item.text != "unit":
        return False
    if item.text == "text" and len(words) > 1 and not structured and any(len(word) > _LONGEST_UNIT for word in words):
        return False
    return _written_out_unit(item) is None and read_unit([item]) is not None


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
        unit = read_unit([item]) if structured and may_be_unit_words(words) else None
        if unit is None or any(_is_prose_word(word) for word in words):
            raise Fault(item.pos, f"prose inside the formula: {excerpt(item)}", "mathematics only", kind="prose")
        out.extend(unit)
        return
    if structured:
        types = {token.type for token in structured}
        if item.text == "text" or "SLASH" in types or ("^" in types and len(words) > 1):
            unit = read_unit([item])
            if unit is not None and out and out[-1].type not in OPERATORS:
                out.extend(unit)
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
