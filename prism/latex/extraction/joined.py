r"""Formulas that run over their delimiters: `$t_f$ $=$ $\sqrt{h}$`, `$v_1$ = 4.95 m/s`, `$\sqrt{gh}$/2`.

A reader sees one formula where an author closed the dollars in the middle of it. What is joined by a relation, in
signs or in words, is read as one (`join_split_formulas`). What goes on with an operator, a power, a range or a word
such as "squared" is refused (`torn_blocks`): read without its end it would say something else (semantics C.6).

Words join only where the formula before them is the subject of its clause: "the energy of the field $E$ is $U$" says
nothing of E. A dash or a slash before a word, or before a formula with a relation of its own, is prose.

Values that stand beside their name without an equals sign: rows of tables, items `v_1: 4.95 m/s`, "v1 is 4.95 m/s".

A row of a table is an equation if one of its cells is a name, one a value, and the others are words (semantics C.6).
Rows that compare ("method A", "method B") say nothing. A name is a formula without a relation, or a letter with an
index; a value is read to the end of its cell or line, or not at all.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from prism.latex.extraction.announced import SPELLED, value_at
from prism.latex.extraction.blocks import Block
from prism.latex.extraction.plain import plain_latex
from prism.latex.prose import CLAUSE_END, line_end, sentence_start
from prism.latex.word_lists import any_word
from prism.latex.words import unit_after, unit_goes_on, word_set

LONGEST_HEAD = 60  # characters of a left side that words or a sign join to what follows
_MOST_PUT_IN = 6  # values that are put in before a value in words
_REACH = 40  # characters between two delimiters that may join two formulas
_MAX_SUBJECT = 6  # words of a subject with its symbol: "the total kinetic energy $T$"

RELATED = re.compile(
    r"[=<>≈≤≥≪≫∝≃≅≡∼]|\\(?:approx|propto|sim(?:eq)?|leq?|geq?|ll|gg|neq?|equiv|to|cong|in)(?![A-Za-z])"
)
LAYOUT = re.compile(r"\\\\|&|\\(?:begin|text|boxed|tag)")
_SIGN = re.compile(r"[ ~]{0,4}(=|≈)[ ~]{0,4}")
_SAME = re.compile(r"[ ~]{0,4}\(?[ ~]{0,2}(≡)[ ~]{0,4}")
_TIMES = re.compile(r"[ ~]{0,2}[x×·][ ~]{0,2}")  # between a number and its power of ten
_POWER = re.compile(r"\s*10\s*\^\s*(?:\{\s*[-+−]?\d+\s*\}|\d)\s*")
_CONDITION = re.compile(rf"{any_word('conditions')}[ ~]{{1,3}}\Z", re.IGNORECASE)
_PUT_IN = re.compile(  # between a formula and values that are put into it
    rf"[\s.,;:]{{1,4}}(?:so )?{any_word('conditions')}[ ~]{{1,3}}", re.IGNORECASE
)
_NO_LETTERS = re.compile(
    r"\\(?:[dt]?frac|sqrt|pi|left|right|cdot|times|approx|,|;)(?![A-Za-z])|\\(?:mathrm|text|unit|rm)\s*\{[^{}]*\}"
)
_ENDS_SENTENCE = re.compile(r"[ \t]*(?:[.;\n]|\Z)")
_ENDS_CLAUSE = re.compile(r"[ ~]{0,3}(?:[.,;:!?)\n]|\Z)")
_EITHER = re.compile(r"\b(?:either|whether)\b", re.IGNORECASE)
_LETTER = re.compile("[A-Za-zα-ωΔΩΣΦΨ]")
_LISTED = re.compile(rf"[^.;:$\\]{{0,12}}?(?:,|{any_word('connectives')})[ ~]{{1,3}}", re.IGNORECASE)
_EQUAL = frozenset(("=", "≈", r"\approx"))
_GOES_ON = re.compile(r"(?:\s|\\q?quad(?![A-Za-z])|\{\})*(?:[-+−]|\\(?:times|cdot|pm|mp)(?![A-Za-z]))[^=<>≈]*\Z")
_SIGNS_ALONE = re.compile(r"\s*(?:=|≈|\\approx|\\simeq)\s*")
_VERB = re.compile(
    r"[ ~](?:equals|becomes|comes out (?:as|at|to be)|turns out to be|amounts to"
    r"|is(?: then| therefore| thus| now)?(?: equal to| given by)?)[ ~]{1,3}",
    re.IGNORECASE,
)
_RESTATING = rf"[\s~,.;:，。；–—(]{{1,4}}(?:so |or )?(?:{any_word('restating')}[\s~,:，]{{0,2}}){{1,2}}"
_RESTATED = re.compile(  # words that lead to the value of what stands before them
    rf"(?:(?P<alternative>,[ ~]or[ ~])|{_RESTATING})"
    r"(?:(?:about|approximately|roughly|some|etwa|ungefähr|rund|ca\.|circa|environ|ongeveer|примерно|около|约|約)\s?)?"
    rf"(?=[-+−\d.]|{SPELLED})",
    re.IGNORECASE,
)
_RESTATES = re.compile(_RESTATING, re.IGNORECASE)
_FOR_A_NAME = re.compile(  # an equation for one quantity: `v_1 = `, `\vec{F} = `, `x(t) = `
    r"\s*(?:\\[A-Za-z]+\s*\{\s*)?\\?[A-Za-z]+\s*\}?(?:_(?:\{[^{}]*\}|\w))?'*(?:\([^()=]*\))?\s*="
)
_ABOUT = re.compile(r"[ ~]{0,3}(?:(?:about|approximately|roughly)[ ~])?(?=[-+−\d.])")  # behind an open sign
_ENDS_OPEN = re.compile(r"(?:=|≈|\\approx|\\simeq)\s*\Z")
_SECOND = re.compile(r"[ ~]{0,3},?[(\[]?[ ~]?or[ ~](?=[-+−\d.])")
_CLAUSE_GOES_ON = re.compile(
    r"[ ~]{0,3}(?:[-+−/^×·*%]|,?[ ~](?:or|times|percent|per|divided|squared|cubed|more|less|of|if|when|for|in|at)\b"
    r"|,[ ~]{0,3}(?:\$|\\\(|\d))"
)
_VALUE_OF = re.compile(r"\bvalue of\s*$", re.IGNORECASE)
_LAST_WORD = re.compile(r"([A-Za-z]+)[ ~]{0,3}$")
_JOINING = word_set("and or but so while whereas where")
_RELATING = word_set(
    "of on from at by in to with for between under over through about per along around against than within minus"
    " plus times into onto via if when whenever unless suppose that which not is are was"
)
_NUMBER = r"(?:\d|\.\d|\()"
_WRITTEN = r"\\(?:sqrt|[dt]?frac)(?![A-Za-z])|sqrt\b"  # a formula without delimiters begins so
_OPERATES = (
    rf"(?:/|÷|×|·|±|∓|\*(?!\*)|\\(?:times|cdot|div|pm|mp)(?![A-Za-z]))[ ~]{{0,2}}(?={_NUMBER}|§|{_WRITTEN})"
    r"|/(?=[A-Za-z](?![A-Za-z]))|x ?(?=10\b|§)"
)
_PLACES = r"\d{1,2} ?(?:s\.?f|d\.?p|sig|dec|fig|place)"  # "to 3 significant figures"
_RANGES = rf"(?:[+−–—-]{{1,2}}|→|->|\\to|to (?!{_PLACES})|\.{{2,3}}|…|\\l?dots)[ ~]{{0,2}}(?=\d|\.\d|§|{_WRITTEN})"
_ENDS = r"(?=[ ~]{0,3}(?:[.,;:!?)\n]|$))"
_FACTOR = r"(?:pre-?)?(?:factors?|constants?|coefficients?|powers?|signs?|numbers?|multiples?)\b"
_LIMITED = (
    rf"(?:up to|(?:to )?within|apart from|except for|save for|give or take|modulo) (?:\w{{1,16}} ){{0,3}}?{_FACTOR}"
)
_MULTIPLE = r"(?:half|third|quarter|double|twice|thrice|triple|(?:two|three|ten) times)\b"
_MORE = "(?:more|less|(?:small|larg|great|bigg|high|low|long|short|fast|slow)er)"
_PERHAPS = "(?:perhaps|maybe|possibly|probably|likely|even|else|rather|better|actually)"
_TRUE = "the (?:actual|true|real|correct|right|exact)"
_CHANGES = (
    r",? ?\(?(?:times (?=[\d§(]|two\b|three\b|four\b|ten\b|half\b|an? |some |any )|(?:divided|multiplied) by\b|or so\b"
    rf"|(?:(?:or|but|though)(?: {_PERHAPS})?|{_PERHAPS})(?: an? \w+| much| slightly)? {_MORE}"
    r"(?: than (?:this|that|it))?\b(?! \w)|(?:or|but|though) (?:it|this) (?:might|may|could) (?:\w+ ){0,3}be\b"
    r"|(?:raised )?to the power\b|(?:(?:but|or) )?with (?:the |an? )?(?:opposite |other )?(?:sign|factor)|opposite sign"
    rf"|or (?:{_PERHAPS} )?(?:(?:the|an?) )?{_MULTIPLE}|{_LIMITED}|{any_word('looser')}"
    rf"|(?:which|this|that) (?:is|would be) (?:\w+ )?(?:{_MULTIPLE}|{_MORE} than)(?: of)? {_TRUE}"
    r" (?:value|answer|result|one)\b|(?:holds )?(?:only as an? (?:upp|low)er|as an? (?:upp|low)er \w+ only)\b"
    r"|(?:plus|minus) (?:an? |the |some )?(?=[\d§]|constant\b|arbitrary\b)"
    rf"|(?:squared|cubed|halved|doubled|tripled|inverted|inverse|(?:but )?negative|at (?:most|least)){_ENDS})"
    r"|(?:squared|cubed|halved|doubled|tripled)\b"
    r"|(?:\\(?:permil|textperthousand|textpermil)(?![A-Za-z])|per ?mill?e\b|pct\b|percentage points?\b|pp"
    rf"{_ENDS})"
)
_NEXT_SENTENCE = (  # what it says of the formula before it
    rf"[.\s]{{1,4}}(?:{_TRUE} [a-z ]{{2,40}} (?:is|would be) [a-z ]{{0,12}}{_MULTIPLE}[a-z ]{{0,4}} (?:this|that|it)\b"
    rf"|(?:multiply|divide) (?:this|that|it) by (?:\w{{1,14}} ){{0,2}}?{_FACTOR})"
)
_TORN = re.compile(
    rf"{_NEXT_SENTENCE}|\^|[²³⁴⁻]|[eE][-+−]?\d|[ ~]?‰|[ ~]{{0,3}}(?:{_OPERATES}|{_RANGES}|(?P<words>{_CHANGES}))",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"(?:\*\*|__)(?=\S)")  # closes what stands before it: `**$v = gt$**/2`
_UNIT_TORN = re.compile(r"[ ~]{0,2}[A-Za-zµμΩ°]{1,6}[/*×·]\d")
_PER_UNIT = re.compile(
    r"[ ~]{0,2}per[ ~](?:(?:milli|micro|nano|kilo|centi)?(?:seconds?|metres?|meters?|grams?|mol(?:es?)?"
    r"|litres?|liters?)|minutes?|hours?|days?|years?|kelvins?|degrees?|radians?|newtons?|joules?|coulombs?|amperes?|volts?|tesla)\b"
)
_HAS_UNIT = re.compile(r"\\(?:unit|mathrm|text|rm|SI|qty)(?![A-Za-z])[^$]{0,40}$")
_BEGINS_TORN = re.compile(r"\s*(?:[-+−/×·]|\^(?!\s*\{?\s*\\circ)|\\(?:times|cdot|pm|mp|div|[lc]?dots)(?![A-Za-z])|…)")
_CHANGED_BEFORE = re.compile(
    rf"(?:\b(?:{_LIMITED},?|twice|half(?: of)?|minus"
    r"|(?:the )?(?:inverse|reciprocal|negative|opposite|square(?: root)?) of)"
    rf"|(?!(?:o\w{{0,3}}|или) ){any_word('looser')}(?: \w+)?[,:]?(?: \w{{1,5}})?"
    r"|^(?!.*(?:minim|maxim|requir|threshold|(?:small|larg|great)est)).*[^\s$)] (?:is|are|was|equals)"
    rf" (?:at (?:least|most)|not? {_MORE} than))[ ~]{{1,3}}$",
    re.IGNORECASE | re.DOTALL,
)
_DESCRIBED = re.compile(r"[ ~]{1,3}(?:is|are|was|being|denotes?|stands|represents?|means|for|as|the)\b|:")
_LONE_SYMBOL = re.compile(r"\s*\\?[A-Za-z]+(?:_(?:\{[^{}]*\}|\w))?'?\s*")


def join_split_formulas(text: str, blocks: Sequence[Block]) -> tuple[str, list[Block]]:
    """Join formulas that only a relation parts, in signs or words; return the text with their delimiters blanked too.

    Args:
        text: the solution, with what is not read blanked.
        blocks: its delimited formulas, ascending.
    """
    kept: list[Block] = []
    edits: list[tuple[int, int, str]] = []
    for block in blocks:
        last = kept[-1] if kept else None
        sign = _sign_between(text, last, block) if last else ""
        if last and sign:
            edits.append((last.end, block.start, "" if sign == "alone" else sign))
            kept[-1] = replace(last, end=block.end, outer_end=block.outer_end)
        else:
            kept.append(block)
    parts, position = [], 0
    for start, end, sign in edits:
        parts += [text[position:start], sign.center(end - start)]
        position = end
    text = "".join([*parts, text[position:]])
    return text, _with_values(text, kept)


def _sign_between(text: str, first: Block, second: Block) -> str:
    """Return the relation that joins two formulas, `alone` if it stands between the dollars of one; else nothing.

    A display that begins with an operator goes on with the display right before it.
    """
    if first.kind == second.kind == "display":
        is_next = not text[first.outer_end : second.outer_start].strip() and RELATED.search(
            text, first.start, first.end
        )
        return "alone" if is_next and _GOES_ON.match(text, second.start, second.end) else ""
    if first.kind != "inline" or second.kind != "inline" or not 0 <= second.outer_start - first.outer_end <= _REACH:
        return ""
    between = text[first.outer_end : second.outer_start]
    if not between.strip(" ~"):
        is_open = _SIGNS_ALONE.fullmatch(text, second.start, second.end) or _ENDS_OPEN.search(
            text, max(first.start, first.end - _REACH), first.end
        )
        return "alone" if is_open and not is_of_another(text, first) else ""
    if sign := _SIGN.fullmatch(between) or _SAME.fullmatch(between):
        return sign[1] if not is_of_another(text, first) else ""
    if _RESTATES.fullmatch(between):
        return "=" if _restates(text, first, second) else ""
    if _TIMES.fullmatch(between) and _POWER.fullmatch(text, second.start, second.end):
        return "×" if text[first.end - 1 : first.end].isdigit() else ""
    is_said = _VERB.fullmatch(between) and not any(
        RELATED.search(text, each.start, each.end) for each in (first, second)
    )
    return "=" if is_said and _is_subject(text, first) and _ends_clause(text, second.outer_end) else ""


def _restates(text: str, first: Block, second: Block) -> bool:
    """Return True if words such as "i.e." make the second formula the next member of an equation: `v = at`, i.e. `2at`.

    Args:
        text: the solution.
        first: the equation; of one name, or the words may lead to its root.
        second: without a relation of its own, at the end of its clause: it is not the subject of what follows.
    """
    head, member = text[first.start : first.end], text[second.start : second.end]
    signs = {sign[0] for sign in RELATED.finditer(head)}
    if not signs <= _EQUAL or not _FOR_A_NAME.match(head) or LAYOUT.search(head + member) or RELATED.search(member):
        return False
    end = unit_after(text, second.outer_end)[1]
    return _ends_clause(text, end) and _ENDS_CLAUSE.match(text, end) is not None


def _ends_clause(text: str, end: int) -> bool:
    """Return True if nothing behind an offset changes or lists on what stands before it."""
    return _CLAUSE_GOES_ON.match(text, end) is None


def is_of_another(text: str, head: Block) -> bool:
    """Return True if a formula is the object of the word before it: "the work done by $F$"; not of "the value of"."""
    before = text[max(0, head.outer_start - _REACH) : head.outer_start]
    word = _LAST_WORD.search(before)
    if word is None or _VALUE_OF.search(before) or RELATED.search(text, head.start, head.end):
        return False
    if word[1].lower() in _JOINING:
        return before[: word.start()].rstrip(" ~")[-1:] in ("$", ")")  # "the sum of $x$ and $y$"
    return word[1].lower() in _RELATING


def _is_subject(text: str, head: Block) -> bool:
    """Return True if a formula is the subject of its clause: "Finally, the speed $v$", "the value of $v$"."""
    start = sentence_start(text, head.outer_start, ends=CLAUSE_END)
    before = text[start : head.outer_start]
    if _VALUE_OF.search(before):
        return True
    subject = before.rpartition(",")[2]
    words = re.findall(r"[A-Za-z]+", subject.lower())
    is_short = "$" not in subject and "\\" not in subject and len(words) <= _MAX_SUBJECT
    return is_short and _RELATING.isdisjoint(words) and _JOINING.isdisjoint(words[1:])


def _with_values(text: str, blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks, those extended that a relation joins to a value without delimiters: `$v_1$ = 4.95 m/s`."""
    found: list[Block] = []
    for at, block in enumerate(blocks):
        found.append(block)
        if (restated := _restated_value(text, blocks, at)) is not None:
            found.append(restated)
        if block.kind != "inline" or restated:
            continue
        open_at = _ENDS_OPEN.search(text, max(block.start, block.end - _REACH), block.end)
        about = _ABOUT.match(text, block.outer_end) if open_at else None
        is_related = RELATED.search(text, block.start, block.end) is not None
        behind_unit = unit_after(text, block.outer_end)[1] if is_related else block.outer_end
        limit = blocks[at + 1].outer_start if at + 1 < len(blocks) else len(text)
        mark = about or _SIGN.match(text, behind_unit) or _VERB.match(text, block.outer_end)
        if mark is None or not text[mark.end() : mark.end() + 1].strip(" ~\n$\\") or mark.end() >= limit:
            continue
        head = text[block.start : open_at.start() if open_at else block.end].strip()
        is_sign = about is not None or mark[0].strip(" ~") in ("=", "≈")
        if len(head) > LONGEST_HEAD or LAYOUT.search(head) or is_of_another(text, block):
            continue
        value = value_at(text, mark.end())
        if value is None or value.end > limit:
            continue
        if not RELATED.search(head) and (is_sign or _is_subject(text, block)):
            members, signs = (head, *value.members), ("=",)
            found[-1] = Block(block.outer_start, value.end, "plain", block.outer_start, value.end, members, signs)
        elif is_sign and not about:
            start = mark.start(1) if behind_unit == block.outer_end else block.outer_end
            found.append(Block(start, value.end, "plain", start, value.end, value.members, ("=",)))
    return found


def _restated_value(text: str, blocks: Sequence[Block], last: int) -> Block | None:
    """Return the value without delimiters by which words go on with an equation, `$v = gt$, that is 9 m/s`; or None.

    Values that are put in are none: "`$v = gt$`. With `$t = 1$` s that makes 9 m/s" is about v.

    Args:
        text: the solution.
        blocks: its formulas.
        last: index of the one before the words.
    """
    block = blocks[last]
    limit = blocks[last + 1].outer_start if last + 1 < len(blocks) else len(text)
    mark = _RESTATED.match(text, unit_after(text, block.outer_end)[1]) if block.kind in ("inline", "display") else None
    value = value_at(text, mark.end()) if mark else None
    if value is None or value.end > limit or not _ends_clause(text, value.end):
        return None
    start, first = block.outer_end, _first_put_in(text, blocks, last)
    is_put_in = _CONDITION.search(text, max(0, blocks[first].outer_start - _REACH), blocks[first].outer_start)
    own = first - 1 if is_put_in else last
    if own < 0 or (own < last and not _PUT_IN.fullmatch(text, blocks[own].outer_end, blocks[first].outer_start)):
        return None
    head = text[blocks[own].start : blocks[own].end]
    if (
        mark
        and mark["alternative"]
        and not (_has_letters(RELATED.split(head)[-1], value) and _is_aside(text, block, value))
    ):
        return None
    signs = {sign[0] for sign in RELATED.finditer(head)}
    if not signs or not signs <= _EQUAL or LAYOUT.search(head):
        return None
    name = RELATED.split(head, maxsplit=1)[0].strip()
    if own < last and not 0 < len(name) < LONGEST_HEAD:
        return None
    members = value.members if own == last else (name, *value.members)
    return Block(start, value.end, "plain", start, value.end, members, ("=",))


def _has_letters(side: str, value: Block) -> bool:
    """Return True if a side is a formula of letters, and a value has a unit: `v = gt`, or 9 m/s."""
    return r"\unit" in value.members[0] and _LETTER.search(_NO_LETTERS.sub(" ", side)) is not None


def _is_aside(text: str, block: Block, value: Block) -> bool:
    """Return True if a sentence ends with a value, and has no "either" before the formula that it belongs to."""
    before = text[sentence_start(text, block.outer_start) : block.outer_start]
    return _ENDS_SENTENCE.match(text, value.end) is not None and _EITHER.search(before) is None


def _first_put_in(text: str, blocks: Sequence[Block], last: int) -> int:
    """Return the index of the first of the formulas up to the `last` one that only commas and "and" part."""
    first = last
    while first > max(0, last - _MOST_PUT_IN) and _LISTED.fullmatch(
        text, blocks[first - 1].outer_end, blocks[first].outer_start
    ):
        first -= 1
    return first


def find_second_values(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the values without delimiters that follow an equation in dollars as another one: `$x = 0.5$ (or 0.7)`."""
    for block, following in pairwise([*blocks, None]):
        if block is None or block.kind != "inline" or not RELATED.search(text, block.start, block.end):
            continue
        mark = _SECOND.match(text, unit_after(text, block.outer_end)[1])
        if mark and not (following and following.kind == "plain" and following.outer_start <= mark.end() - 1):
            value = value_at(text, mark.end())
            if value is not None and (following is None or value.end <= following.outer_start):
                yield value


def torn_blocks(text: str, blocks: Sequence[Block]) -> frozenset[int]:
    """Return the indices of the formulas (blocks) that go on behind their delimiters, or that words change."""
    torn: set[int] = set()
    for at, (block, following) in enumerate(pairwise([*blocks, None])):
        if block is None or block.kind not in ("inline", "boxed", "display") or block.members:
            continue
        ends = _ends_of(text, block)
        if following is not None and any(_is_formula_behind(text, end, block, following) for end in ends):
            torn.update((at, at + 1))
        else:
            torn.update(at + ahead for end in ends for ahead in range(_n_torn(text, end, following)))
        if _UNIT_TORN.match(text, block.outer_end) and len(ends) == 1 and text[block.end - 1 : block.end].isdigit():
            torn.add(at)
        if _PER_UNIT.match(text, block.outer_end) and _HAS_UNIT.search(text, block.start, block.end):
            torn.add(at)
        before = text[max(0, block.outer_start - _REACH) : block.outer_start]
        if before[-1:] in (" ", "~") and _CHANGED_BEFORE.search(before):
            torn.add(at)
    return frozenset(torn)


def _ends_of(text: str, block: Block) -> list[int]:
    """Return the offset behind a formula, and that behind the unit in words that follows its number."""
    mark = _EMPHASIS.match(text, block.outer_end)
    end = mark.end() if mark else block.outer_end
    _, behind_unit = unit_after(text, end)
    return [end, behind_unit] if behind_unit > end else [end]


def _n_torn(text: str, end: int, following: Block | None) -> int:
    """Return how many formulas a sign or word at an offset tears: the one before it, and one that it leads to."""
    shown = text[end : end + 2 * _REACH]
    if following is not None and 0 <= following.outer_start - end < 2 * _REACH:
        sign = " " if RELATED.search(text, following.start, following.end) else "§"
        shown = shown[: following.outer_start - end] + sign
    mark = _TORN.match(shown)
    if mark is None:
        return 0
    if following is None or shown[mark.end() : mark.end() + 1] != "§":
        return 1
    return 0 if _is_described(text, following) else 2


def _is_described(text: str, block: Block) -> bool:
    """Return True if a formula is a lone symbol that its sentence explains: `$E = mc^2$ - $m$ is the mass`."""
    is_symbol = _LONE_SYMBOL.fullmatch(text, block.start, block.end) is not None
    return is_symbol and _DESCRIBED.match(text, block.outer_end) is not None


def _is_formula_behind(text: str, end: int, block: Block, following: Block) -> bool:
    """Return True if the next formula begins with an operator and only spaces part it from an offset: `$a$ $-b$`."""
    if following.kind not in ("inline", "display") or following.members:
        return False
    spaces = " ~\n" if block.kind == following.kind == "display" else " ~"
    if text[end : following.outer_start].strip(spaces):
        return False
    is_power_of_unit = end > block.outer_end and text[following.start : following.end].lstrip()[:1] == "^"
    is_related = RELATED.search(text, following.start, following.end) is not None
    return not (is_related or is_power_of_unit) and _BEGINS_TORN.match(text, following.start, following.end) is not None


# Names and values beside them ---------------------------------------------------------------------------------------

_MOST_CELLS = 6  # of a row; a wider one is a table of data
_PLAIN_NAME = re.compile(r"(?:[A-Za-z]|[α-ωΔΩΣΦΨ])(?:_\{\w{1,12}\}|_\w{1,12}|\d{1,2}|[₀-₉]{1,2})'?")
_ROW = re.compile(r"^[ \t>]{0,8}\|(?P<cells>[^\n]{1,400})\|[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"[ \t:|-]+")
_ITEM = re.compile(
    r"^[ \t>]{0,8}(?:[-*+•][ \t]{1,4}|\d{1,2}[.)][ \t]{1,4}|\([a-h]\)[ \t]{1,4})?[*_]{0,3}(?=[A-Za-zα-ωΔΩΣΦΨ$\\])",
    re.MULTILINE,
)
_COLON = re.compile(r"[*_]{0,3}[ ]?:[*_]{0,3}[ \t]{1,4}")
_IS = re.compile(r"[ ](?:is|equals)[ ]")
_SAID = re.compile(
    r"(?<![\w$\\^_{}/*.-])(?P<name>[A-Za-z](?:_\{\w{1,8}\}|_\w{1,8}|\d{1,2}))(?=[ ](?:is|equals)[ ][-+−\d.])"
)
_END_OF_CELL = re.compile(r"[ \t*_.,;}]{0,20}\Z")
_OPERAND = re.compile(r"\w")  # a lone `+` is a parity, and no value
_DIGIT = re.compile(r"[\d=]")
_SIDES = re.compile(
    r"\b(?:method|case|option|student|model|trial|run|attempt|approach|version|variant)\b", re.IGNORECASE
)


def find_named_values(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the equations of names and values beside them; each takes the place of the blocks that it covers.

    Args:
        text: the solution, with what is not read blanked.
        blocks: its delimited formulas, ascending.
    """
    starts = [block.outer_start for block in blocks]
    for row in _ROW.finditer(text):
        if equation := _equation_of_row(text, blocks, starts, row):
            yield equation
    for item in _ITEM.finditer(text):
        name = _name_at(text, blocks, starts, item.end())
        colon = _COLON.match(text, name[1]) if name else None
        if name and colon:
            yield from _equation(text, blocks, starts, (item.end(), name[0]), colon.end(), line_end(text, colon.end()))
    for said in _SAID.finditer(text):
        at = bisect_left(starts, said.start())
        is_free = at == 0 or blocks[at - 1].outer_end <= said.start()
        verb = _IS.match(text, said.end())
        if is_free and verb and not is_of_another(text, Block(*said.span(), "plain", *said.span())):
            latex = plain_latex(said["name"])
            value = value_at(text, verb.end())
            if value and latex and not any(verb.end() <= start < value.end for start in starts[at : at + 1]):
                span = (said.start(), value.end)
                yield Block(*span, "plain", *span, (latex, *value.members), ("=",))


def _name_at(text: str, blocks: Sequence[Block], starts: Sequence[int], start: int) -> tuple[str, int] | None:
    """Return the name at an offset as LaTeX, and its end; None if no name stands there."""
    at = bisect_left(starts, start)
    if at < len(starts) and starts[at] == start and blocks[at].kind == "inline":
        content = text[blocks[at].start : blocks[at].end].strip()
        is_name = len(content) <= LONGEST_HEAD and not RELATED.search(content) and not LAYOUT.search(content)
        return (content, blocks[at].outer_end) if is_name and not content[:1].isdigit() else None
    name = _PLAIN_NAME.match(text, start)
    latex = plain_latex(name[0]) if name else ""
    return (latex, name.end()) if name and latex else None


def _definition_at(text: str, blocks: Sequence[Block], starts: Sequence[int], start: int) -> tuple[str, int] | None:
    r"""Return the equation `\Omega = 2\pi f` at an offset as LaTeX, and its end: a value beside it goes on with it.

    None where no formula in the line starts there, or it is no single equation.
    """
    at = bisect_left(starts, start)
    if at == len(starts) or starts[at] != start or blocks[at].kind != "inline":
        return None
    content = text[blocks[at].start : blocks[at].end].strip()
    is_one = [sign[0] for sign in RELATED.finditer(content)] == ["="] and not LAYOUT.search(content)
    return (content, blocks[at].outer_end) if is_one and not content.endswith("=") else None


def _equation(
    text: str, blocks: Sequence[Block], starts: Sequence[int], name: tuple[int, str], start: int, end: int
) -> Iterator[Block]:
    """Yield the equation of a name, given with its offset, and the value that fills the text between two offsets."""
    at = bisect_left(starts, start)
    latex, stop = "", start
    if at < len(starts) and starts[at] == start and blocks[at].kind == "inline":
        content = text[blocks[at].start : blocks[at].end].strip()
        if _OPERAND.search(content) and not RELATED.search(content) and not LAYOUT.search(content):
            unit, stop = unit_after(text, blocks[at].outer_end)
            latex = "" if unit_goes_on(text, stop) else content + unit
    elif value := value_at(text, start):
        latex, stop = value.members[0], value.end
    if latex and stop <= end and _END_OF_CELL.match(text[stop:end]):
        yield Block(name[0], stop, "plain", name[0], stop, (name[1], latex), ("=",))


def _equation_of_row(text: str, blocks: Sequence[Block], starts: Sequence[int], row: re.Match[str]) -> Block | None:
    """Return the equation of a table's row with one name and one value; None of any other row."""
    edges = [at for at in range(row.start("cells") - 1, row.end("cells") + 1) if text[at] == "|"]
    if not 3 <= len(edges) <= _MOST_CELLS + 1 or _RULE.fullmatch(row[0]) or _SIDES.search(_heads(text, row.start())):
        return None
    names: list[tuple[int, str]] = []
    values: list[tuple[int, int]] = []
    for low, high in pairwise(edges):
        start = low + 1 + len(text[low + 1 : high]) - len(text[low + 1 : high].lstrip(" \t*_"))
        name = _name_at(text, blocks, starts, start) or _definition_at(text, blocks, starts, start)
        if name and _END_OF_CELL.match(text[name[1] : high]) and not names:
            names.append((start, name[0]))
        elif _DIGIT.search(text, start, high) or any(start <= each < high for each in _starts_in(starts, start, high)):
            values.append((start, high))
    if len(names) != 1 or len(values) != 1 or values[0][0] < names[0][0]:
        return None
    below = text[row.end() + 1 : line_end(text, row.end() + 1)]
    if "|" in below and _RULE.fullmatch(below) and not _DIGIT.search(text, *values[0]):
        return None  # the heads of two columns
    return next(_equation(text, blocks, starts, names[0], *values[0]), None)


def _starts_in(starts: Sequence[int], low: int, high: int) -> Sequence[int]:
    """Return the ascending starts between two offsets."""
    return starts[bisect_left(starts, low) : bisect_left(starts, high)]


def _heads(text: str, start: int) -> str:
    """Return the heads of the columns above the table's row at an offset; an empty text if there are none."""
    line_start = start
    for _ in range(20):  # rows above are looked at, no more
        above = text.rfind("\n", 0, max(0, line_start - 1)) + 1
        line = text[above : max(0, line_start - 1)]
        if above >= line_start or "|" not in line:
            return ""
        if _RULE.fullmatch(line):
            return text[text.rfind("\n", 0, max(0, above - 1)) + 1 : max(0, above - 1)]
        line_start = above
    return ""
