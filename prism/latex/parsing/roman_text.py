r"""What a roman text is: a unit behind a number, a symbol elsewhere, and prose, which is refused.

`settle` asks this of every row of siblings. The text decides nothing alone: `\mathrm{m}` is a metre in
`3\,\mathrm{m}` and a mass in `\mathrm{m} g`, so what stands before it decides, and then `unit_text` whether it can be
read as a unit at all. A unit runs on over dots, slashes and further roman words.
"""

from __future__ import annotations

from prism.latex.parsing.flat import NUMBERS_OF_FLOW
from prism.latex.parsing.names import spell
from prism.latex.parsing.tokens import GAP_SPACE, OPERATORS, Fault, Token, is_factor, unit_token
from prism.latex.parsing.tree import read
from prism.latex.parsing.unit_text import UnitText, glued, is_numeric, read_unit, unit_items
from prism.latex.words import UNITS, is_written_out

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
_LONGEST_NAME = 8  # words; a longer text is a sentence
# Words of a sentence, and alone inch, year, attosecond, technical atmosphere, ampere second.
_SHORT_UNITS = ("in", "a", "as", "at", "As")
_LONGEST_UNIT = 4  # letters of a unit in a text of several words; longer words are prose
_WORDS_SHOWN = 4  # of a text in an error message


def words_of(item: Token) -> list[str]:
    """Words of a roman text."""
    while item.raw and (item.raw[-1].type == "COMMA" or item.raw[-1].text == "."):
        item.raw = item.raw[:-1]  # the punctuation of the sentence around the formula
    words: list[str] = []
    fresh = True
    for token in item.raw:
        if token.type != "letter" and not (token.type == "PRIME" and words):
            fresh = True
            continue
        if fresh or token.gap:
            words.append("")
        words[-1] += token.text
        fresh = False
    return words


def may_be_units(words: list[str]) -> bool:
    """Whether a text can be a unit: of short words, one of which at least is a known unit."""
    return all(len(word) <= _LONGEST_UNIT for word in words) and any(word in UNITS for word in words)


def shown(item: Token) -> str:
    """The first words of a roman text, for a message."""
    words = words_of(item)
    return f"`{' '.join(words[:_WORDS_SHOWN])}{' ...' if len(words) > _WORDS_SHOWN else ''}`"


def _is_prose(word: str) -> bool:
    """Whether a word belongs to a sentence; a capital A is the ampere, `IT` a kind of calorie."""
    return not word.isupper() and word.lower() in PROSE


# Units ------------------------------------------------------------------------------------------------------


def with_units(items: list[Token]) -> list[Token]:
    """Roman words to units where a unit can stand, to symbols elsewhere; sentences are refused."""
    out: list[Token] = []
    index = 0
    items = _with_micro(items)
    count = len(items)
    while index < count:
        item = items[index]
        if item.type == "QUANTITY":
            out.extend(item.args[0])
            index += 1
        elif item.type == "ROMAN":
            if item.raw[1:] and item.raw[-1].type == "SLASH" and index + 1 < count and is_factor(items[index + 1]):
                items = [*items[: index + 1], item.raw[-1], *items[index + 1 :]]  # `\mathrm{GeV/}c^2`
                item.raw, count = item.raw[:-1], count + 1
            place = item.text == "unit" or _stands_behind_number(out, item) or _trails(items, index, out)
            if place:
                index = _unit_run(items, index, out)
            elif (named := _named_in_words(items, index, out)) is not None:
                out.append(named)
                index += 1
            else:
                _roman_symbol(item, out)
                index += 1
        elif item.type == "SYM" and item.text in (r"\mu", r"\Omega") and _greek_unit(items, index, out):
            if item.text == r"\Omega":
                prefix = out.pop().text if out[-1].type == "UNIT" and out[-1].text in _OHM_PREFIXES else ""
                ohm = unit_token(prefix + "ohm", item.pos)
                ohm.sup = item.sup
                out.append(ohm)
            else:
                piece = items[index + 1]
                raw = (Token("letter", r"\mu", item.pos), *piece.raw)
                items[index + 1] = Token("ROMAN", piece.text, item.pos, sup=piece.sup, raw=raw)
            index += 1
        elif _is_unit_in_brackets(item) and out and (is_numeric(out[-1]) or _is_between_units(out)):
            out.append(Token("PAREN", "(", item.pos, item.gap, args=[_as_units(item.args[0])], sup=item.sup))
            index += 1
        elif item.type == "FRAC" and _is_per_unit(item, out):
            parts = [item.args[0], _as_units(item.args[1])]
            out.append(Token("FRAC", item.text, item.pos, item.gap, args=parts, sup=item.sup))
            index += 1
        elif item.type == "FRAC" and _has_units_below(item):
            parts = [with_units(item.args[0]), _as_units(item.args[1])]
            out.append(Token("FRAC", item.text, item.pos, item.gap, args=parts, sup=item.sup))
            index += 1
        elif item.type == "FRAC" and out and is_numeric(out[-1]) and _all_roman(item):
            out.append(Token("FRAC", "", item.pos, item.gap, args=[_as_units(item.args[0]), _as_units(item.args[1])]))
            index += 1
        else:
            out.append(item)
            index += 1
    return out


def _with_micro(items: list[Token]) -> list[Token]:
    r"""`\mathrm{\mu}\mathrm{m}` with both in one text, and `3 \text{ x } 10^8` with a product sign."""
    out: list[Token] = []
    for index, item in enumerate(items):
        if item.type == "ROMAN" and out and _is_micro(out[-1]):
            micro = out.pop()
            raw = (*micro.raw, *item.raw)
            out.append(Token("ROMAN", item.text, micro.pos, micro.gap, sup=item.sup, raw=raw))
        elif item.type == "ROMAN" and [token.text for token in item.raw] == ["x"] and _between_numbers(items, index):
            out.append(Token("TIMES", r"\times", item.pos))
        else:
            out.append(item)
    return out


def _is_micro(item: Token) -> bool:
    return item.type == "ROMAN" and item.sup is None and [token.text for token in item.raw] == [r"\mu"]


def _between_numbers(items: list[Token], index: int) -> bool:
    return 0 < index < len(items) - 1 and items[index - 1].type == items[index + 1].type == "NUM"


def _greek_unit(items: list[Token], index: int, out: list[Token]) -> bool:
    r"""Whether \mu or \Omega behind a number is micro or ohm: before a roman unit, or \Omega set apart at the end."""
    if not out or not is_numeric(out[-1]):
        return False
    item = items[index]
    if item.text == r"\Omega" and out[-1].type == "UNIT" and out[-1].text in _OHM_PREFIXES and out[-1].sup is None:
        return True
    after = items[index + 1] if index + 1 < len(items) else None
    if after is not None and after.type == "TIMES" and after.text != r"\times" and item.text == r"\Omega":
        after = items[index + 2] if index + 2 < len(items) and item.gap >= GAP_SPACE else after
    if item.text == r"\mu" and item.sup is None and after is not None and after.text == r"\Omega":
        items[index + 1] = Token(
            "ROMAN", "math", after.pos, sup=after.sup, raw=(Token("letter", after.text, after.pos),)
        )
        return True
    if after is not None and after.type == "ROMAN":
        return item.text == r"\Omega" or item.sup is None
    ends = after is None or after.type in ("REL", "COMMA", "PLUS", "MINUS")
    return item.text == r"\Omega" and item.gap >= GAP_SPACE and ends


def _stands_behind_number(out: list[Token], item: Token) -> bool:
    """Whether the text so far ends in a number or unit, or in one with a dot or slash behind it."""
    if not out or "".join(words_of(item)) in NUMBERS_OF_FLOW:
        return False
    last = out[-1]
    if is_numeric(last):
        return not (last.type == "CONST" and len(out) == 1 and not words_of(item))
    if last.type == "TIMES" and last.text != r"\times" and len(out) > 1:
        before = out[-2]
        return before.type in ("UNIT", "NUM") or (before.type == "FRAC" and not before.text and is_numeric(before))
    if last.type == "SLASH" and len(out) > 1:
        return is_numeric(out[-2])
    return False


def _trails(items: list[Token], index: int, out: list[Token]) -> bool:
    r"""`F = 2x \text{ N}`: the text of a known unit, set apart at the end of a term, is the unit of the term."""
    item = items[index]
    behind = items[index + 1] if index + 1 < len(items) else None
    ends = behind is None or behind.type in ("REL", "COMMA", "PLUS", "MINUS", "SLASH")
    if not ends or not out or out[-1].type in OPERATORS:
        return False
    words = words_of(item)
    if item.text == "math":
        return len(words) == 1 and words[0] in _CLEAR_UNITS and not item.raw[0].text.startswith("\\")
    return bool(item.gap) and bool(words) and words != ["g"] and all(word in UNITS for word in words)


def _is_unit_in_brackets(item: Token) -> bool:
    r"""`5\,[\mathrm{m}]`, `5\,(\mathrm{m/s})`: only units stand in the brackets."""
    return item.type == "PAREN" and item.text in ("(", "[") and _all_roman_units(item.args[0])


def _is_between_units(out: list[Token]) -> bool:
    return len(out) > 1 and out[-1].type == "TIMES" and out[-1].text != r"\times" and out[-2].type == "UNIT"


def _is_per_unit(item: Token, out: list[Token]) -> bool:
    r"""`5\,\frac{1}{\mathrm{s}}`: behind a number, one over a unit."""
    above, below = item.args
    is_one = len(above) == 1 and above[0].type == "NUM" and above[0].text == "1" and above[0].sup is None
    return is_one and bool(out) and is_numeric(out[-1]) and _all_roman_units(below)


def _has_units_below(item: Token) -> bool:
    r"""Whether units stand alone below a number with its unit: `\frac{9.8\,\mathrm{m}}{\mathrm{s}^2}`."""
    above, below = item.args
    quantity = any(part.type == "ROMAN" for part in above) and bool(above) and is_numeric(above[0])
    plain = all(is_numeric(part) or part.type in ("ROMAN", "TIMES") for part in above)
    return quantity and plain and _all_roman_units(below)


def _all_roman_units(items: list[Token]) -> bool:
    slashes = sum(item.type == "SLASH" for item in items)
    units = [item for item in _with_greek(items) if item.type not in ("TIMES", "SLASH")]
    return bool(units) and slashes <= 1 and "SLASH" not in (items[0].type, items[-1].type) and all(
        _are_units(words_of(item)) if item.type == "ROMAN" else item.type == "FRAC" and all(
            _all_roman_units(part) for part in item.args
        )
        for item in units
    )  # fmt: skip


def _with_greek(items: list[Token]) -> list[Token]:
    r"""Units with `\Omega` and `\mu` as roman texts of their own: `\frac{\mu\mathrm{g}}{\Omega}`."""
    out: list[Token] = []
    for index, item in enumerate(items):
        before_roman = index + 1 < len(items) and items[index + 1].type == "ROMAN"
        micro = item.type == "SYM" and item.text == r"\mu" and item.sup is None and before_roman
        if micro or (item.type == "SYM" and item.text == r"\Omega"):
            letter = Token("letter", item.text, item.pos)
            out.append(Token("ROMAN", "math", item.pos, item.gap, sup=item.sup, raw=(letter,)))
        else:
            out.append(item)
    return _with_micro(out)


def _are_units(words: list[str]) -> bool:
    return bool(words) and all(word in UNITS for word in words)


def _all_roman(item: Token) -> bool:
    both = [_with_greek(siblings) for siblings in item.args]
    return all(siblings and all(part.type in ("ROMAN", "TIMES") for part in siblings) for siblings in both)


def _as_units(items: list[Token]) -> list[Token]:
    """Roman texts side by side, in fractions and around a slash, each of which has to be a unit."""
    above: list[Token] = []
    below: list[Token] = []
    side = above
    for item in _with_greek(items):
        if item.type == "TIMES":
            continue
        if item.type == "SLASH":
            side = below
            continue
        if item.type == "FRAC":
            parts = [_as_units(part) for part in item.args]
            side.append(Token("FRAC", "", item.pos, args=parts, sup=item.sup))
            continue
        piece = read_unit(item.raw)
        if piece is None:
            raise Fault(item.pos, f"the unit {shown(item)}", "a unit")
        if item.sup is not None:
            _raised(piece.below or piece.above, item.sup)
        side.extend(unit_items(piece, item.pos))
    if below:
        return [Token("FRAC", "", items[0].pos, args=[above or [Token("NUM", "1", items[0].pos)], below])]
    return above


def _unit_run(items: list[Token], index: int, out: list[Token]) -> int:
    """Append the unit that begins here, over dots, slashes and further roman words; return the index behind it."""
    pos = items[index].pos
    whole = UnitText()
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
            if not _add_piece(item, whole, side):
                if whole.above or whole.below:
                    out.extend(unit_items(whole, pos))
                _roman_symbol(item, out)
                return index + 1
            if whole.below and any(token.type == "SLASH" for token in item.raw):
                side = whole.below  # what follows a slash stands below it
        elif item.type == "UNIT":
            side.append(item)
        elif item.type == "SLASH" and index + 1 < count and items[index + 1].type == "ROMAN":
            if whole.below:
                raise Fault(item.pos, "a unit with two slashes", "brackets in the unit")
            side = whole.below
        elif item.type == "SLASH" and index + 1 < count and items[index + 1].text == r"\Omega" and not whole.below:
            ohm = unit_token("ohm", item.pos)
            ohm.sup = items[index + 1].sup
            whole.below.append(ohm)
            index += 1
        elif item.type == "SLASH" and index + 1 < count and _is_unit_bracket(items[index + 1]):
            bracket = items[index + 1]
            whole.below.append(Token("PAREN", "(", bracket.pos, args=[_as_units(bracket.args[0])], sup=bracket.sup))
            index += 1
        elif item.type == "TIMES" and item.text != r"\times" and index + 1 < count and items[index + 1].type == "ROMAN":
            pass
        else:
            break
        index += 1
    out.extend(unit_items(whole, pos))
    return index


def _is_unit_bracket(item: Token) -> bool:
    return item.type == "PAREN" and all(part.type in ("ROMAN", "TIMES") for part in item.args[0])


def _raised(factors: list[Token], power: list[Token]) -> None:
    r"""Put the power behind a roman text on its last unit; `\mathrm{ms}^{-1}` is metres a second."""
    last = factors[-1]
    if last.type == "UNIT":
        factors[-1:] = [unit_token(name, last.pos) for name in glued(last.text, power)]
    factors[-1].sup = power


def _add_piece(item: Token, whole: UnitText, side: list[Token]) -> bool:
    """Add one roman text to the unit that is being read; False if it is none."""
    words = words_of(item)
    plain = "per" in words and not _WRITTEN_OUT.intersection(words)  # no more than a slash
    only_words = all(token.type in ("letter", "MINUS", "mark", "{", "}") for token in item.raw)
    if only_words and not plain and is_written_out(words):
        side.append(unit_token(" ".join(words), item.pos))
        side[-1].sup = item.sup
        return True
    short = len(words) == 1 and words[0] in _SHORT_UNITS
    structured = any(token.type in ("SLASH", "^", "TIMES") for token in item.raw) or "per" in words
    short = short or (structured and all(word in UNITS or word in _SHORT_UNITS for word in words))
    if any(_is_prose(word) and word != "per" for word in words) and not short and item.text != "unit":
        return False
    if item.text == "text" and len(words) > 1 and not structured and any(len(word) > _LONGEST_UNIT for word in words):
        return False
    piece = read_unit(item.raw)
    if piece is None:
        return False
    if item.sup is not None:
        _raised(piece.below or piece.above, item.sup)
    if piece.below and side is whole.below:
        raise Fault(item.pos, "a unit with two slashes", "brackets in the unit")
    if piece.below and not whole.above and not whole.below:
        whole.above.extend(piece.above or [])
        whole.below.extend(piece.below)
        return True
    side.extend(unit_items(piece, item.pos))
    return True


# Symbols and prose ------------------------------------------------------------------------------------------


def _roman_symbol(item: Token, out: list[Token]) -> None:
    """A roman word where no unit can stand: one word is a symbol, several are a sentence."""
    words = words_of(item)
    structured = [token for token in item.raw if token.type not in ("letter", "number", "{", "}", "mark", "MINUS", "_")]
    if item.text == "text" and (len(words) > 1 or (words and _is_prose(words[0]) and len(words[0]) > 1)):
        unit = read_unit(item.raw) if structured and may_be_units(words) else None
        if unit is None or any(_is_prose(word) for word in words):
            raise Fault(item.pos, f"prose inside the formula: {shown(item)}", "mathematics only", kind="prose")
        out.extend(unit_items(unit, item.pos))
        return
    if structured:
        if item.text == "text" or "SLASH" in [token.type for token in structured]:
            unit = read_unit(item.raw)
            if unit is not None and out and out[-1].type not in OPERATORS:
                factors = unit_items(unit, item.pos)
                if item.sup is not None:
                    (unit.below or unit.above)[-1].sup = item.sup
                out.extend(factors)
                return
            if item.text == "text":
                raise Fault(item.pos, f"the text {shown(item)}, which is no unit here", "a symbol or a unit")
        out.extend(_as_mathematics(item))
        return
    name = spell(item.raw)
    if not name:
        raise Fault(item.pos, "an empty roman text")
    if not any(char.isalnum() for char in name):
        raise Fault(item.pos, f"the text `{name}`", "a symbol or a unit")
    out.append(Token("SYM", name, item.pos, item.gap, sup=item.sup))


def _named_in_words(items: list[Token], index: int, out: list[Token]) -> Token | None:
    r"""A quantity that has words for its name, `\text{net force} = ma`: a text of several words between operators."""
    item = items[index]
    words = words_of(item)
    if item.text != "text" or not 1 < len(words) <= _LONGEST_NAME:
        return None
    before, behind = out[-1] if out else None, items[index + 1] if index + 1 < len(items) else None
    if behind is not None and behind.type == "SYM" and behind.text.isupper():
        behind = None  # the area of triangle ABC
    if any(other is not None and other.type not in OPERATORS for other in (before, behind)):
        return None
    first, last = words[0].lower(), words[-1].lower()
    sentence = first in PROSE - {"a", "an", "each"} or last in PROSE or DENIALS.intersection(map(str.lower, words))
    if sentence or may_be_units(words):
        return None
    return Token("SYM", rf"\text{{{' '.join(words)}}}", item.pos, item.gap, sup=item.sup)


def _as_mathematics(item: Token) -> list[Token]:
    r"""`\mathrm{A+B}`: a font around a formula changes nothing."""
    body = read([*item.raw, Token("END", "", item.pos)])
    if not body:
        raise Fault(item.pos, "an empty roman text")
    return [Token("PAREN", "{", item.pos, item.gap, args=[body], sup=item.sup)]
