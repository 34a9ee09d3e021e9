r"""Answers in words: "stable", where the instructions ask for 'The equilibrium is stable/unstable'.

Words are compared only where the instructions list what may be answered; then an answer is one of the options, and
which one is decided by whole words, negation and commitment, by the lists that stand below. A text that names several
options and settles on none, hedges, asks back or repeats the instructions has given no answer: it is undecided, and
earns nothing.

Refused: comparing free texts (without options every rule either pays for the right words in any order, or fails right
answers), and synonyms ("turns over" for "unstable"): a list of them would be a list of test cases.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from prism.latex.extraction.masking import mask, thoughts
from prism.latex.words import word_set
from prism.physics.units import unit

MAX_WORDS = 300  # words and marks of one place that states an answer; a longer one is no answer
MAX_OPTIONS = 12
_MAX_PLACE = 8 * MAX_WORDS  # characters of such a place
_MAX_OPTION = 6  # words of an option
_MAX_INSTRUCTIONS = 2_000  # characters of instructions that are read
_MAX_SENTENCES = 60  # of a solution that may state the answer, from its end
_MAX_SOLUTION = 200_000  # characters of a solution that are read, from its end


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """Whether a solution states the option that the reference states.

    Attributes:
        status: `equivalent`, `different` or `undecided`.
        option: the option that the solution settles on, as the instructions spell it; empty if on none.
        detail: why, in words for a person.
    """

    status: Literal["equivalent", "different", "undecided"]
    option: str = ""
    detail: str = ""


def text_answer(reference: str, instructions: str, stated: Sequence[str]) -> TextVerdict:
    r"""Decide by the options of the instructions whether an answer in words is the reference's.

    Args:
        reference: the answer, plain or as `\text{...}`.
        instructions: how the answer is to be given; they must list the options.
        stated: places that may state the answer, the most committed first, as `stated_answers` gives them. The first
            one that names any option decides.

    >>> asked = "should be 'The equilibrium is stable/unstable'"
    >>> text_answer(r"\text{The equilibrium is stable}", asked, ["It is not unstable."]).status
    'equivalent'
    >>> text_answer(r"\text{The equilibrium is stable}", asked, ["stable or unstable"]).status
    'undecided'
    """
    options = options_of(instructions)
    if not options:
        return TextVerdict("undecided", detail="unsupported: the instructions list no options")
    wanted = _settled(reference, options)
    if wanted is None or not wanted.option:
        return TextVerdict("undecided", detail="unsupported: the reference states none of the options")
    for place in stated:
        found = _settled(place, options)
        if found is None and _KEEPS.search(place) and any(_OF_CHANGE.search(option) for option in options):
            return TextVerdict("undecided", detail="says that something does not change, in words of its own")
        if found is None:
            continue
        if not found.option:
            return TextVerdict("undecided", detail=found.why)
        if found.option == wanted.option:
            return TextVerdict("equivalent", found.option, f"states {found.option!r}")
        return TextVerdict("different", found.option, f"states {found.option!r}, not {wanted.option!r}")
    return TextVerdict("undecided", detail="states none of the options")


_TEXT_ONLY = re.compile(r"[\s$]*(?:\\(?:text[a-z]*|mathrm|mbox)\s*\{[^{}]*\}[\s.$]*|[^\\=<>^_{}$]*)")


def is_text(latex: str) -> bool:
    r"""Whether a reference is words and no formula: `\text{The equilibrium is stable}`, `stable`."""
    return bool(_TEXT_ONLY.fullmatch(latex)) and bool(_WORD.search(latex))


# Where a solution states an answer ------------------------------------------------------------------------------

_BOX = re.compile(r"\\(?:boxed|fbox|framebox)(?![A-Za-z])\s*(?=\{)|\\[\s\S]|[{}]")
_MARKER = re.compile(
    r"(?:^|(?<=[\s*_#>(]))(?:final[ \t]+)?(?:answer|conclusion)[ \t*_]*(?:\([^()\n]{0,80}\)[ \t*_]*)?"
    r"(?:[:：]|is(?:[ \t]+that)?(?![A-Za-z])[ \t]*:?)[ \t*_]*(?:\n[ \t]*)*([^\n]+)",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"\b(?:not|no|nor|never|wrong|kidding|joking|incorrect|actually|instead|rather|sorry|correction|wait|contrary|scratch"
    r"|false|opposite|disregard|ignore|mistake|error|n't)\b|n't",
    re.IGNORECASE,
)
_KEEPS = re.compile(r"\b(?:does|do|did|will) not (?:change|vary)\b", re.IGNORECASE)  # takes back only a change
_OF_CHANGE = re.compile(
    r"chang|var|same|constant|increas|decreas|grow|shrink|ris|fall|drop|larg|small|high|low|great|less|more|fast|bigg"
    r"|up|down|short|long|expand|contract|heat|cool|warm|cold|hot",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\]*_\"'”’]*\s|\n")


def stated_answers(solution_text: str) -> tuple[str, ...]:
    r"""The places where a solution may state an answer in words, the most committed first.

    The boxes come as one place, so that a solution with several different ones has stated nothing; so do lines behind
    "Answer:". The sentences come last, from the end of the text back to one that may take back what stands before it;
    that something does not change takes nothing back but a change.
    Nothing is taken from what is hidden, struck out, code or thinking.

    >>> stated_answers(r"It comes back. So $\boxed{\text{stable}}$")
    ('\\text{stable}', 'So $\\boxed{\\text{stable}}$', 'It comes back.')
    """
    text = solution_text[-_MAX_SOLUTION:]
    for start, end in reversed(thoughts(text)):
        text = text[:start] + " " * (end - start) + text[end:]
    text = _BROKEN.sub("", mask(text)[0])
    boxes = "\n".join(dict.fromkeys(content.strip() for content in _boxes(text)))
    lines = "\n".join(dict.fromkeys(found[1].strip() for found in _MARKER.finditer(text)))
    sentences = [part.strip() for part in _SENTENCE_END.split(text) if part and _WORD.search(part)]
    last: list[str] = []
    for sentence in sentences[: -_MAX_SENTENCES - 1 : -1]:
        last.append(sentence)
        if _TAKES_BACK.search(_KEEPS.sub(" ", sentence)):
            break
    return tuple(place for place in (boxes, lines, *last) if place)


def _boxes(text: str) -> list[str]:
    """Contents of the boxes, in order; one that is not closed has none."""
    opened: list[tuple[int, bool]] = []
    found: list[tuple[int, int]] = []
    boxed = False
    for mark in _BOX.finditer(text):
        if mark[0] == "{":
            opened.append((mark.end(), boxed))
        elif mark[0] == "}" and opened:
            start, is_box = opened.pop()
            if is_box:
                while found and found[-1][0] > start:
                    found.pop()  # a box within a box is part of it
                found.append((start, mark.start()))
        boxed = mark[0].startswith((r"\boxed", r"\fbox", r"\framebox"))
    return [text[start:end] for start, end in found]


# Options of the instructions --------------------------------------------------------------------------------------

_QUOTED = re.compile(r"(?<![A-Za-z0-9])(?:``|['\"“‘`])([^'\"“”‘’`\n]{1,120})(?:''|['\"”’`])(?![A-Za-z0-9])")
_BETWEEN = re.compile(r"\s*(?:,|;|/|,?\s*\bor\b|,?\s*\band\b)\s*")
_ITEM = r"[A-Za-z][A-Za-z0-9'-]*(?: [A-Za-z][A-Za-z0-9'-]*){0,5}?"
_LIST = rf"(?P<list>{_ITEM}(?:\s*,\s*{_ITEM})*\s*,?\s*\bor\b\s+{_ITEM})"
_LISTED = re.compile(rf"\s*{_LIST}\s*[.!]?\s*")
_AFTER_LEAD = re.compile(
    r"\b(?:one of|options?(?: are| is)?|choose(?: one)?(?: from| between| of)?|select(?: one)?(?: from| of)?"
    r"|pick(?: from)?|(?:possible|allowed) answers?(?: are)?|answers?(?: with| by| must be| should be| is)?|state"
    r"|write|say|reply(?: with)?|respond(?: with)?|indicate|specify)(?: the following)?\s*:?\s*"
    rf"{_LIST}\s*(?:[.,;!)\n]|$)",
    re.IGNORECASE,
)
_COLON_LIST = re.compile(
    rf":\s*(?P<list>{_ITEM}(?:\s*[,/]\s*{_ITEM}){{1,11}}(?:\s*,?\s*\b(?:or|and)\b\s+{_ITEM})?)\s*(?:[.;!)\n]|$)"
)
_SLASHED = re.compile(r"(?<![\w/.-])[A-Za-z-]{2,30}(?:/[A-Za-z-]{2,30})+(?![\w/.-]*\d)(?![\w/])")
_WHETHER = re.compile(
    r"\b(?P<lead>whether|either|(?:state|decide|determine|say|indicate|specify|tell|answer) if|is|are|was|were|does|do"
    r"|did|will)\b(?P<left>[^.;:?!\n()]{1,200}?)\bor\b"
    r"(?P<right>[^.;:?!,\n()]{1,120})(?P<end>.?)",
    re.IGNORECASE,
)
_COPULA = re.compile(r"^.*\b(?:is|are|was|were|be|becomes?|remains?)\s+(?=\S)", re.IGNORECASE)
_CUT = re.compile(
    r"\s+(?:and|when|if|as|at|with|in|for|after|before|during|because|by|on|using|than|relative|compared|from|under|of"
    r"|that|which|while|since|only)\b.*$",
    re.IGNORECASE,
)
_NO_OPTION = word_set(
    "a an the in to with as for of using your its this that these it they we you what which how why where when whether"
    " if terms value answer answers result units unit number and or not either both explain"
)
_ASKING = word_set("state specify write say give indicate answer decide determine choose select find tell whether if")
_COPULA_WORDS = word_set("is are was were")
_ORDINALS = word_set("zeroth first second third fourth fifth sixth seventh eighth ninth tenth")
_MAX_SHORT = 3  # words of an option, where instructions are nothing but the list
_NO_SLASH = word_set("and/or either/or his/her he/she s/he if/when input/output")


def options_of(instructions: str) -> tuple[str, ...]:
    r"""The options that instructions list for an answer in words; none if they list none, or not clearly one set.

    >>> options_of("Answer 'increases', 'decreases' or 'stays the same'."), options_of("in terms of $m$ or $k$")
    (('increases', 'decreases', 'stays the same'), ())
    >>> options_of("should be 'The equilibrium is stable/unstable'")
    ('stable', 'unstable')
    """
    text = _shown(instructions[:_MAX_INSTRUCTIONS], keep="'\"“”‘’`")
    quoted = list(_QUOTED.finditer(text))
    if quoted:
        return _checked(_quoted_options(text, quoted))
    slashed = [mark[0] for mark in _SLASHED.finditer(text) if _is_choice(mark[0])]
    if slashed:
        return _checked(slashed[0].split("/") if len(set(slashed)) == 1 else [])
    for pattern in (_AFTER_LEAD, _COLON_LIST):
        for mark in pattern.finditer(text):
            options = _checked(_without_heading(_items(mark["list"])))
            if options:
                return options
    options = _checked(_alternatives(text))
    whole = None if options else _LISTED.fullmatch(text)
    if whole is None:
        return options
    items = _items(whole["list"])
    is_short = all(len(item.split()) <= _MAX_SHORT and _COPULA_WORDS.isdisjoint(item.split()) for item in items)
    return _checked(items) if is_short and items[0].split()[0].lower() not in _ASKING else ()


def _without_heading(items: list[str]) -> list[str]:
    """`the direction, up or down` without its first item."""
    headed = [item.split()[0].lower() in ("the", "its", "your") for item in items]
    return items[1:] if len(items) > 2 and headed[0] and not any(headed[1:]) else items


def _quoted_options(text: str, quoted: list[re.Match[str]]) -> list[str]:
    """Several quoted texts in a row, or one with slashes or "or" in it."""
    rows: list[list[str]] = [[quoted[0][1]]]
    for one, two in pairwise(quoted):
        if _BETWEEN.fullmatch(text, one.end(), two.start()):
            rows[-1].append(two[1])
        else:
            rows.append([two[1]])
    several = [row for row in rows if len(row) > 1]
    if several:
        return several[0] if len(several) == 1 else []
    choices = [row[0] for row in rows if "/" in row[0] or re.search(r"\bor\b", row[0])]
    if len(choices) != 1:
        return []
    (choice,) = choices
    return _of_slashes(choice) if "/" in choice else _items(choice)


def _of_slashes(choice: str) -> list[str]:
    """`The image is real/virtual` as its two words; `up / to the left` as it stands."""
    parts = [part.split() for part in choice.split("/")]
    if not all(parts):
        return []
    if len(parts[0]) > len(parts[1]):  # words before the first option belong to the sentence
        glued = re.search(r"\S/\S", choice) is not None
        n_words = 1 if glued else len(parts[1])
        parts[0] = parts[0][-n_words:]
        parts[1:] = [part[:n_words] if glued else part for part in parts[1:]]
    elif len(parts) == 2 and len(parts[0]) > 1 and re.search(r"\S/\S", choice) and parts[0][-1] != parts[1][-1]:
        parts = [parts[0][-1:], parts[1][:1]]
    return [" ".join(part) for part in parts]


def _is_choice(slashed: str) -> bool:
    """Whether words with slashes are options, and no unit."""
    parts = slashed.split("/")
    is_ordinal = _are_ordinals(tuple(parts))
    return slashed.lower() not in _NO_SLASH and (is_ordinal or not any(unit(part) is not None for part in parts))


def _items(listed: str) -> list[str]:
    return [item.strip() for item in re.split(r"\s*,\s*(?:\b(?:or|and)\b\s+)?|\s+\bor\b\s+|\s+and\s+|\s*/\s*", listed)]


def _alternatives(text: str) -> list[str]:
    """`whether the image is real or virtual`, `either up or down`, `Is it real or virtual?`."""
    found: list[list[str]] = []
    for mark in _WHETHER.finditer(text):
        lead, left = mark["lead"].lower(), mark["left"].strip()
        if lead not in ("whether", "either") and not lead.endswith(" if") and mark["end"] != "?":
            continue
        right = _CUT.sub("", mark["right"].strip()).strip()
        if not right or right.lower() == "not" or re.search(r"\bor\b", mark["right"]):
            return []
        last = right.split()
        parts = [part.strip() for part in left.split(",") if part.strip()]
        if not parts:
            return []
        n_words = len(parts[1].split()) if len(parts) > 1 else len(last)
        if lead == "either":
            parts[0], last = parts[0], last[: len(parts[0].split())]
        elif _COPULA.match(parts[0]):
            parts[0] = _COPULA.sub("", parts[0])
            parts[0] = " ".join(parts[0].split()[-n_words:])
        elif parts[0].endswith(("s", "ed")):
            parts[0] = parts[0].split()[-1]
        else:
            parts[0] = " ".join(parts[0].split()[-n_words:])
            last = last[: len(parts[0].split())] if len(parts) == 1 else last
        found.append([*parts, " ".join(last)])
    return found[0] if len(found) == 1 else []


def _checked(items: Sequence[str]) -> tuple[str, ...]:
    """The options, if they can be told apart and none is a unit, a number or a piece of a sentence."""
    options = tuple(dict.fromkeys(" ".join(item.split()).strip(" .,;:!?") for item in items))
    if not 2 <= len(options) <= MAX_OPTIONS or len(options) != len(items) or not all(options):
        return ()
    if all(len(option) == 1 for option in options):
        letters = [option.upper() for option in options]
        return options if letters == [chr(ord("A") + place) for place in range(len(letters))] else ()
    for option in options:
        words = option.lower().split()
        is_unit = unit(option) is not None and not (words[0] in _ORDINALS and _are_ordinals(options))
        if len(words) > _MAX_OPTION or len(option) < 2 or is_unit:
            return ()
        if not all(re.fullmatch(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", word) for word in words) or not _content(option):
            return ()
        if len(words) > 1 and words[0] in _NO_OPTION - {"to", "in", "the", "a", "an", "not", "both"}:
            return ()
        if len(words) == 1 and words[0] in _NO_OPTION:
            return ()
        if len(words) > 1 and words[0] in ("in", "to") and words[1] in ("terms", "units", "si"):
            return ()
    return options if len({_content(option) for option in options}) == len(options) else ()


def _are_ordinals(options: tuple[str, ...]) -> bool:
    """`second`, `third`: a number in a row of such, and no unit of time."""
    return all(option.lower().split()[0] in _ORDINALS for option in options)


# Words ------------------------------------------------------------------------------------------------------------

_STRUCK = re.compile(r".[\u0335-\u0338]", re.DOTALL)
_CANCELLED = re.compile(
    r"\\(?:[bx]?cancel|sout|st|xout|[hv]?phantom)(?![A-Za-z])\s*\{(?:[^{}]|\{[^{}]{0,80}\}){0,400}\}"
)
_NEGATION_SIGNS = re.compile(r"[¬✗✘❌☒]|!(?=[A-Za-z])|\\(?:neg|lnot|not)(?![A-Za-z])")
_BROKEN = re.compile(r"(?<=[A-Za-z])-[ \t]*\n[ \t]*(?=[a-z])")  # a word over two lines
_FONTS = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|sc|normal|up)?|math(?:rm|bf|it|sf|tt)|operatorname\*?|emph|underline|mbox|boxed|fbox"
    r"|framebox|hbox|bf|it|rm|boldsymbol|pmb|left|right)(?![A-Za-z])\s*"
)
_GAPS = re.compile(r"\\(?:[ ,;:>]|q?quad(?![A-Za-z])|\\|newline(?![A-Za-z]))|~")
_COMMANDS = re.compile(r"\\[A-Za-z]+\s*|\\.")
_TAGS = re.compile(r"</?[A-Za-z][^<>\n]{0,100}>")
_WORD = re.compile(r"[^\W_]+(?:['’\-‐‑][^\W_]+)*")
_TOKEN = re.compile(rf"{_WORD.pattern}|[.,;:!?()/\n–—]")


def _shown(text: str, keep: str = "") -> str:
    """The words that a reader sees: without commands, marks of Markdown and invisible characters."""
    text = _STRUCK.sub("", unicodedata.normalize("NFC", text))
    text = unicodedata.normalize("NFKC", text)
    text = "".join(mark for mark in text if unicodedata.category(mark) not in ("Cf", "Mn"))
    text = _NEGATION_SIGNS.sub(" not ", _BROKEN.sub("", _CANCELLED.sub(" ", text)))
    text = _COMMANDS.sub(" ", _GAPS.sub(" ", _FONTS.sub("", text.replace(r"\!", ""))))
    text = _TAGS.sub("", text)
    return "".join(mark for mark in text if mark not in "{}$*_`#" or mark in keep).replace("^", " ")


def _tokens(text: str) -> list[str]:
    words = _shown(text).casefold().replace("’", "'").replace("‐", "-").replace("‑", "-")
    return _TOKEN.findall(words)


_EMPTY = word_set("a an the is are was were be it to of in on its this that toward towards")
_MARKS = frozenset(".,;:!?()/\n–—")
_STOPS = frozenset(".;:!?\n")
_SENTENCE_MARKS = frozenset(".!?\n")


def _content(option: str) -> tuple[str, ...]:
    """The words of an option that tell it from others; all of them if none does."""
    words = [word for word in _tokens(option) if word not in _MARKS]
    return tuple(word for word in words if word not in _EMPTY) or tuple(words)


def _stem(word: str) -> str:
    """A word without its ending: `increases`, `increasing` and `increased` are one."""
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word


# What a place settles on ------------------------------------------------------------------------------------------

_NOT = word_set(
    "not never cannot neither nor no un non isnt arent wasnt doesnt dont cant wont"
)  # and every word that ends in n't
_TURNS_AWAY = word_set(
    "without hardly anything opposite contrary instead rather fail fails failed failing lack lacks lacking unlikely"
    " impossible far except excluding prevents prevented avoid avoids deny denies denied reject rejected"
    " cease ceases ceased scarcely rarely seldom none nobody nothing nowhere contradicts"
    " lose loses losing lost stop stops stopped stopping unlike contrast require requires required needs absent"
)
_CLAUSE_STARTS = word_set("but however although though because since so therefore hence thus while whereas making")
_HEDGES = word_set(
    "may might could maybe perhaps possibly probably if unless provided whether either assuming assume assumes suppose"
    " supposing supposedly only would apparently depends depending sometimes unclear unknown uncertain"
)
_INVERTED = word_set("were had should")  # `were it stable, ...`
_WEAKENED = word_set(
    "barely almost nearly marginally neutrally partly partially conditionally quasi semi meta half less more"
    " temporarily initially first somewhat sort kind pseudo slightly counter anti contra"
)
_DENIED = word_set("wrong incorrect false untrue mistaken mistake myth misconception invalid")
_VERBS = word_set(
    "is are was were it they he she this that makes make making becomes become remains remain has have which there"
)
_SINCE = word_set("because since as for it the this they")
_NEAR = 4  # words before an option within which "not" turns it round
_THEREFORE = re.compile(
    r"(?:^|[.,;:\n]\s*(?:and\s+)?)so\b(?!\s+(?:stable|much|many|that|far|long)\b)"
    r"|\b(?:therefore|hence|thus|consequently|in conclusion|conclude that|(?:final )?answer\s*(?:is)?\s*:?)",
    re.IGNORECASE,
)

_YES_NO = frozenset((("yes",), ("no",)))


@dataclass(frozen=True, slots=True)
class _Settled:
    """The option that a place settles on; none, and why, if it names several or takes it back."""

    option: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Mention:
    """An option named in a place.

    Attributes:
        option: ordinal of the option.
        at: places of its words among the tokens.
        sense: 1 said, -1 denied, 0 neither clearly.
    """

    option: int
    at: tuple[int, ...]
    sense: int = 0


def _settled(place: str, options: tuple[str, ...]) -> _Settled | None:
    """What a place settles on; None if it names no option."""
    found = _settled_at_once(place, options)
    if found is None or found.option:
        return found
    shown = _shown(place[:_MAX_PLACE])
    turns = list(_THEREFORE.finditer(shown)) if len(place) <= _MAX_PLACE else []
    if turns:
        before = _settled_at_once(shown[: turns[-1].start()], options)
        last = _settled_at_once(shown[turns[-1].end() :], options)
        if last is not None and last.option and (before is None or before.option in ("", last.option)):
            return last
    return found


def _settled_at_once(place: str, options: tuple[str, ...]) -> _Settled | None:
    tokens = _tokens(place) if len(place) <= _MAX_PLACE else []
    if len(place) > _MAX_PLACE or len(tokens) > MAX_WORDS:
        return _Settled(why=f"more than {MAX_WORDS} words are no answer")
    if all(len(option) == 1 for option in options):
        return _letter(tokens, options)
    mentions = _mentions(_joined(tokens, options), options)
    if not mentions:
        return None
    said: set[int] = set()
    for mention in mentions:
        if mention.sense == 0:
            return _Settled(why=f"does not settle on {options[mention.option]!r}")
        if mention.sense > 0:
            said.add(mention.option)
        elif len(options) == 2:
            said.add(1 - mention.option)
    denied = {mention.option for mention in mentions if mention.sense < 0}
    if len(said) != 1 or said & denied:
        names = ", ".join(repr(options[at]) for at in sorted(said | denied))
        return _Settled(why=f"settles on none of {names}")
    return _Settled(options[said.pop()])


def _letter(tokens: list[str], options: tuple[str, ...]) -> _Settled | None:
    """One letter of A, B, C, ... that stands alone; in a sentence `a` is an article."""
    words = [word for word in tokens if word not in _MARKS and word not in ("option", "choice", "answer", "is", "the")]
    letters = [option for option in options if option.casefold() in words]
    if len(words) == 1 and len(letters) == 1:
        return _Settled(letters[0])
    return _Settled(why="names no single letter") if letters else None


def _joined(tokens: list[str], options: tuple[str, ...]) -> list[str]:
    """The tokens, with `counter clockwise` as the one word that an option has."""
    words = {word for option in options for word in _content(option)}
    joined: list[str] = []
    for token in tokens:
        if joined and joined[-1] not in _MARKS and joined[-1] + token in words:
            joined[-1] += token
        else:
            joined.append(token)
    return joined


def _mentions(tokens: list[str], options: tuple[str, ...]) -> list[_Mention]:
    """Every option that is named, with its sense; within a longer option a shorter one is not named."""
    contents = [_content(option) for option in options]
    if frozenset(contents) == _YES_NO:
        return list(_yes_or_no(tokens, contents))
    words = [word for content in contents for word in content]
    has_endings = len({_stem(word) for word in words}) == len(set(words))
    same_words = len({frozenset(content) for content in contents}) < len(contents)
    found: list[_Mention] = []
    for number, content in enumerate(contents):
        places = [[at for at, token in enumerate(tokens) if _is_word(token, word, has_endings)] for word in content]
        if len(content) == 1:
            found += [_Mention(number, (at,)) for at in places[0]]
        elif "and" in content and not same_words:
            found += list(_in_any_order(tokens, number, content, places))
        else:
            found += list(_in_order(tokens, number, content, has_endings))
    kept = [one for one in found if not any(set(one.at) < set(other.at) for other in found)]
    named = {at for one in kept for at in one.at}
    return [_Mention(one.option, one.at, _sense(tokens, one, named, contents)) for one in kept]


def _is_word(token: str, word: str, has_endings: bool) -> bool:
    if token == word or token.replace("-", "") == word.replace("-", ""):
        return True
    return has_endings and token not in _MARKS and _stem(token) == _stem(word) and len(_stem(word)) >= 4


def _in_order(tokens: list[str], number: int, content: tuple[str, ...], has_endings: bool) -> Iterator[_Mention]:
    """The words of an option one behind the other; words that say nothing may stand between them."""
    for start in range(len(tokens)):
        at: list[int] = []
        place = start
        for word in content:
            while at and place < len(tokens) and tokens[place] in _EMPTY:
                place += 1
            if place >= len(tokens) or not _is_word(tokens[place], word, has_endings):
                break
            at.append(place)
            place += 1
        if len(at) == len(content):
            yield _Mention(number, tuple(at))


def _in_any_order(
    tokens: list[str], number: int, content: tuple[str, ...], places: list[list[int]]
) -> Iterator[_Mention]:
    """The words of `real and inverted` in one sentence, in whichever order."""
    needed = [at for word, at in zip(content, places, strict=True) if word != "and"]
    start = 0
    for end in [*(at for at, token in enumerate(tokens) if token in _STOPS), len(tokens)]:
        chosen = [next((at for at in options if start <= at < end), None) for options in needed]
        if all(at is not None for at in chosen):
            yield _Mention(number, tuple(sorted(at for at in chosen if at is not None)))
        start = end + 1


def _yes_or_no(tokens: list[str], contents: list[tuple[str, ...]]) -> Iterator[_Mention]:
    """`Yes`, and `no` where it answers: in `there is no friction` it does not."""
    for at, word in enumerate(tokens):
        after = tokens[at + 1] if at + 1 < len(tokens) else "."
        if word == "yes" or (word == "no" and (after in _MARKS or after in _SINCE)):
            hedged = "?" in tokens[at : _end_of_sentence(tokens, at) + 1] or not _HEDGES.isdisjoint(tokens[:at])
            negated = any(_is_not(other) for other in tokens[max(0, at - 2) : at])
            yield _Mention(contents.index((word,)), (at,), 0 if hedged or negated else 1)


def _sense(tokens: list[str], mention: _Mention, named: set[int], contents: list[tuple[str, ...]]) -> int:
    """Whether a mention says its option (1), denies it (-1), or leaves it open (0)."""
    first, last = mention.at[0], mention.at[-1]
    end = _end_of_sentence(tokens, last)
    start = max((at + 1 for at in range(first) if tokens[at] in _STOPS), default=0)
    own = {word for content in contents for word in content}
    if (end < len(tokens) and tokens[end] == "?") or not (_DENIED - own).isdisjoint(_around(tokens, first, last)):
        return 0
    clause = _clause(tokens, first, last, start, end)
    if not _HEDGES.isdisjoint(clause) or clause[0] in _INVERTED or (first and tokens[first - 1] in _WEAKENED):
        return 0
    if _is_taken_back(tokens, last, end, named):
        return 0
    near, far = _negations(tokens, mention, start, named)
    if far or near > 1:
        return 0
    if len(mention.at) > 1 and (near or any(_is_not(token) for token in tokens[first:last])):
        return 0
    return -1 if near else 1


def _end_of_sentence(tokens: list[str], at: int) -> int:
    return next((place for place in range(at, len(tokens)) if tokens[place] in _STOPS), len(tokens))


def _around(tokens: list[str], first: int, last: int) -> list[str]:
    """The sentence of a mention, with what stands before and behind its colons."""
    lo = max((at + 1 for at in range(first) if tokens[at] in _SENTENCE_MARKS), default=0)
    hi = next((at for at in range(last, len(tokens)) if tokens[at] in _SENTENCE_MARKS), len(tokens))
    return tokens[lo:hi]


def _clause(tokens: list[str], first: int, last: int, start: int, end: int) -> list[str]:
    """The words around a mention up to the next mark or turn on either side."""
    lo = next((at + 1 for at in range(first - 1, start - 1, -1) if _ends_clause(tokens[at])), start)
    hi = next((at for at in range(last + 1, end) if _ends_clause(tokens[at])), end)
    return tokens[lo:hi]


def _ends_clause(token: str) -> bool:
    return token in _MARKS or token in _CLAUSE_STARTS


def _is_not(token: str) -> bool:
    return token in _NOT or token.endswith("n't")


def _negations(tokens: list[str], mention: _Mention, start: int, named: set[int]) -> tuple[int, int]:
    """Words of denial before a mention: those that reach it, and those that may."""
    near = far = n_words = 0
    has_verb, is_direct = False, True
    for at in range(mention.at[0] - 1, start - 1, -1):
        word = tokens[at]
        if word in _CLAUSE_STARTS or (has_verb and (word in _MARKS or word == "and")):
            break
        if word in _MARKS or word in ("and", "or"):
            is_direct = False
        elif at in named and not is_direct:
            break  # what is denied there is another option
        elif _is_not(word):
            if is_direct and n_words < _NEAR:
                near += 1
            else:
                far += 1
        elif word in _TURNS_AWAY or (word == "than" and not n_words):
            far += 1
        has_verb = has_verb or word in _VERBS
        n_words += word not in _MARKS
    if start > 1 and tokens[start - 1] == ":" and _is_not(tokens[start - 2]):
        far += 1
    return near, far


def _is_taken_back(tokens: list[str], last: int, end: int, named: set[int]) -> bool:
    """`stable it is not`, `stable, not`: a denial right behind, unless it denies another option."""
    for at in range(last + 1, end):
        is_far = at > last + _NEAR
        if at in named or tokens[at] in _CLAUSE_STARTS or tokens[at] == "and" or (is_far and tokens[at] in _MARKS):
            return False
        if _is_not(tokens[at]) or tokens[at] in _TURNS_AWAY:
            return not any(place in named for place in range(at + 1, min(end, at + 1 + _NEAR)))
    return False
