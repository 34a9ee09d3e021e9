r"""Answers in words: "stable", where the instructions ask for 'The equilibrium is stable/unstable'.

Words are compared only where the instructions list what may be answered; then an answer is one of the options, and
which one is decided by whole words, negation and commitment, by the lists of `phrases.toml`. A text that names several
options and settles on none, hedges, asks back or repeats the instructions has given no answer: it is undecided, and
earns nothing.

Words of other languages are those of `answer_words`. Refused: comparing free texts (without options every rule either
pays for the right words in any order, or fails right answers), and English synonyms ("turns over" for "unstable"), but
of "the same": a list of them would be a list of test cases.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from prism import budget
from prism.equivalence.verdict import Status
from prism.latex.extraction.blocks import blank_spans
from prism.latex.extraction.masking import mask, thinking_spans
from prism.latex.prose import (
    BROKEN_WORD,
    HEDGES,
    MARKS,
    NEGATIONS,
    ORDINALS,
    SENTENCE_END,
    WRONG_WORDS,
    is_negation,
    tokenize,
    visible_text,
    words,
)
from prism.latex.words import word_set
from prism.physics.units import find_unit
from prism.problem.answers.words import as_unchanged, in_words_of_options, is_same_sentence
from prism.problem.phrases import phrase_patterns, phrase_words

_PATTERNS, _WORDS = phrase_patterns("worded_answers"), phrase_words("worded_answers")
MAX_WORDS = 300  # words and marks of one place that states an answer; a longer one is no answer
MAX_OPTIONS = 12  # of one answer; longer lists are no choice between words
_MAX_PLACE = 8 * MAX_WORDS  # characters of such a place
_MAX_OPTION = 6  # words of an option
_MAX_INSTRUCTIONS = 2_000  # characters of instructions that are read
_MAX_SENTENCES = 60  # of a solution that may state the answer, from its end
_CHARACTER = 150  # operations for each character in which an answer is looked for
_MAX_SOLUTION = 200_000  # characters of a solution that are read, from its end


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """The verdict on an answer in words: does the solution state the same option as the reference.

    Attributes:
        status: equivalent, different or undecided.
        option: the option that the solution settles on, as the instructions spell it; empty if on none.
        detail: the reason, for a person.
        place: the text that decides; empty if none does.
    """

    status: Status
    option: str = ""
    detail: str = ""
    place: str = ""


def text_answer(
    reference: str, instructions: str, places: Sequence[str], *, question: str | None = None
) -> TextVerdict:
    r"""Decide whether a solution states the same option (`stable` or `unstable`) as the reference.

    Args:
        reference: the answer, plain or as `\text{...}`.
        instructions: how the answer is to be given; they must list the options, or there is a `question`.
        places: texts that may state the answer, the most committed first, as `stated_answers` gives them. The first
            one that names any option decides.
        question: what the reference answers, where it is an option by itself: its words may stand around the answer.

    >>> instructions = "should be 'The equilibrium is stable/unstable'"
    >>> text_answer(r"\text{The equilibrium is stable}", instructions, ["It is not unstable."]).status.value
    'equivalent'
    >>> text_answer(r"\text{The equilibrium is stable}", instructions, ["stable or unstable"]).status.value
    'undecided'
    """
    options = options_of(instructions)
    if not options and question is not None:
        return _own_option(reference, places, question)
    if not options:
        return TextVerdict(Status.UNDECIDED, detail="unsupported: the instructions list no options")
    wanted = _chosen_option(reference, options)
    if wanted is None or not wanted.option:
        return TextVerdict(Status.UNDECIDED, detail="unsupported: the reference states none of the options")
    asked = frozenset(words(visible_text(question or "")))
    for at, place in enumerate(places):
        budget.charge(min(len(place), _MAX_PLACE) * _CHARACTER)
        verdict = _verdict_at(place, options, wanted.option, asked)
        if verdict is None:
            continue
        budget.charge(sum(min(len(each), _MAX_PLACE) for each in places[at + 1 :]) * _CHARACTER)
        around = _words_around(place, options)
        same = (each for each in places[at + 1 :] if _words_around(each, options) == around)
        others = (_verdict_at(each, options, wanted.option, asked) for each in same)
        if any(other is not None and other.option not in ("", verdict.option) for other in others):
            verdict = TextVerdict(Status.UNDECIDED, detail="says several options of one thing, in the same words")
        return replace(verdict, place=place)
    return TextVerdict(Status.UNDECIDED, detail="states none of the options")


def _words_around(place: str, options: tuple[str, ...]) -> frozenset[str]:
    """Return the words of a text that stand around options: what it says them of."""
    return frozenset(words(visible_text(place))).difference(*map(words, options))


def _verdict_at(place: str, options: tuple[str, ...], wanted: str, asked: Collection[str]) -> TextVerdict | None:
    """Return what one place says of the wanted option; None if it names none.

    Args:
        asked: words of the question.
    """
    found = _chosen_option(place, options)
    if len(place) <= _MAX_PLACE:
        found = _choice_in_other_words(found, place, options, asked)
    if found is None:
        return None
    if not found.option:
        return TextVerdict(Status.UNDECIDED, detail=found.why)
    if found.option == wanted:
        return TextVerdict(Status.EQUIVALENT, found.option, f"states {found.option!r}")
    return TextVerdict(Status.DIFFERENT, found.option, f"states {found.option!r}, not {wanted!r}")


def _choice_in_other_words(
    found: _Choice | None, place: str, options: tuple[str, ...], asked: Collection[str]
) -> _Choice | None:
    """Return the option that a text states in words of another language, or as what "does not change"; else `found`.

    Args:
        found: the option that it states in the words of the options, which another language may have too; or None.
        asked: words of the question; what does not change is of it, or a pronoun.
    """
    readings = in_words_of_options(place, options)
    if readings:
        choices = [_chosen_option(each.text, options) for each in readings]
        if found is not None and not all(each.is_sure for each in readings):
            choices.append(found)
        told = {choice.option for choice in choices if choice is not None}
        return _Choice(told.pop()) if len(told) == 1 else _Choice(why="says several things in several languages")
    unchanged = as_unchanged(place, options) if found is None else None
    if unchanged is None:
        return found
    subject = (
        {*words(_PATTERNS["of"].split(_PATTERNS["first_clause"].split(unchanged.before)[-1])[0])}
        - _WORDS["empty"]
        - _WORDS["pronouns"]
        - _WORDS["answering"]
    )
    if subject and subject.isdisjoint(asked):
        return _Choice(why="says that something does not change, in words of its own")
    return _chosen_option(unchanged.text, options)


def _own_option(reference: str, places: Sequence[str], question: str) -> TextVerdict:
    """Decide whether a solution gives the reference, an option by itself; yes and true oppose no and false.

    Only places that state an answer count, and beside the option they may hold words of the question alone.
    """
    wanted = " ".join(words(visible_text(reference)))
    if names_option(reference, question):
        for place in places:
            shown = visible_text(place.splitlines()[-1]).strip()
            stated = _PATTERNS["stated_option"].fullmatch(shown)
            if stated and len({each.upper() for each in _PATTERNS["bracketed"].findall(shown)}) <= 1:
                letter = stated["letter"].upper()
                status = Status.EQUIVALENT if letter == wanted.upper() else Status.DIFFERENT
                return TextVerdict(status, letter, f"states option {letter}")
    if not is_text(reference):
        return next(
            (TextVerdict(Status.EQUIVALENT, wanted, f"states {wanted!r}", place) for place in places
             if is_same_sentence(place, reference)),
            TextVerdict(Status.UNDECIDED, detail="says it in other words"),
        )  # fmt: skip
    opposed = next((pair for pair in _OPPOSED if wanted in pair), ())
    listed = options_of(question)
    if not opposed and any(" ".join(words(option)) == wanted for option in listed):
        return text_answer(reference, f"'{'/'.join(listed)}'", places)
    for place in places:
        verdict = _own_verdict_at(place, wanted, opposed, question)
        if verdict is not None:
            return replace(verdict, place=place)
    return TextVerdict(Status.UNDECIDED, detail=f"does not state {wanted!r}")


def _own_verdict_at(place: str, wanted: str, opposed: tuple[str, ...], question: str) -> TextVerdict | None:
    """Return what one place says of an option by itself; None if it does not name it.

    Args:
        opposed: the option with the one that denies it; empty if it has none.
        question: its words may stand beside the option.
    """
    if words(visible_text(place)) == wanted.split():
        return TextVerdict(Status.EQUIVALENT, wanted, f"states {wanted!r}")
    shown = " ".join(_SAME.get(word, word) if opposed else word for word in tokenize(visible_text(place)))
    found = _choice_throughout(shown, tuple(_SAME.get(option, option) for option in opposed or (wanted,)))
    if found is None:
        return None
    own = {*words(shown if opposed else wanted), *words(visible_text(question)), *_WORDS["empty"], *_WORDS["answering"]}
    if not found.option:
        return TextVerdict(Status.UNDECIDED, detail=found.why)
    if not own.issuperset(words(shown)) or not _WORDS["joining"].isdisjoint({*tokenize(shown)} - {*words(wanted)}):
        return TextVerdict(Status.UNDECIDED, detail=f"says more than {wanted!r}")
    if found.option == _SAME.get(wanted, wanted):
        return TextVerdict(Status.EQUIVALENT, wanted, f"states {wanted!r}")
    return TextVerdict(Status.DIFFERENT, found.option, f"states {found.option!r}, not {wanted!r}")


_OPPOSED = (("yes", "no"), ("true", "false"))
_SAME = {"true": "yes", "false": "no"}


def names_option(text: str, question: str) -> bool:
    """Return True for the letter of an option that a question lists: `D`, `(D)` beside "(A) ... (B) ...".

    >>> names_option("(b)", "Which is it? (a) red (b) blue"), names_option("B", "Find the field $B$.")
    (True, False)
    """
    letter = _PATTERNS["option_letter"].fullmatch(visible_text(text).strip())
    if letter is None or (letter["letter"].islower() and "(" not in text):
        return False
    is_small = "(a)" in question and not letter["letter"].isupper()
    listed = [each.lower() if is_small else each for each in ("A", "B", letter["letter"].upper())]
    return all(re.search(rf"(?:^|[\s(]){each}[).:]\s", question, re.MULTILINE) for each in listed)


def is_text(latex: str) -> bool:
    r"""Return True if a reference is words and no formula: `\text{The equilibrium is stable}`, `stable`."""
    return bool(_PATTERNS["text_only"].fullmatch(latex)) and bool(words(latex))


# Where a solution states an answer ------------------------------------------------------------------------------

_TAKES_BACK = NEGATIONS.union(
    WRONG_WORDS,
    word_set("kidding joking actually instead rather sorry correction wait contrary scratch opposite disregard ignore"),
    word_set("mistake error"),
)


def stated_answers(solution_text: str) -> tuple[str, ...]:
    r"""Return the texts of a solution that may state its answer in words: boxes, lines with "Answer:", last sentences.

    The boxes come as one place, so that a solution with several different ones has stated nothing; so do lines behind
    "Answer:". The sentences come last, from the end of the text back to one that may take back what stands before it;
    that something does not change takes nothing back but a change.
    Nothing is taken from what is hidden, struck out, code or thinking.

    >>> stated_answers(r"It comes back. So $\boxed{\text{stable}}$")
    ('\\text{stable}', 'So $\\boxed{\\text{stable}}$', 'It comes back.')
    """
    text, places = _presented(solution_text)
    last: list[str] = []
    for sentence in _sentences(text)[: -_MAX_SENTENCES - 1 : -1]:
        last.append(sentence)
        content = words(_PATTERNS["unchanged"].sub(" ", sentence))
        if any(word in _TAKES_BACK or is_negation(word) for word in content):
            break
    return (*places, *last)


def presented_answers(solution_text: str) -> tuple[str, ...]:
    """Return of the texts that `stated_answers` gives those that present an answer: boxes, and lines with "Answer:"."""
    return _presented(solution_text)[1]


def _presented(solution_text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text that is read, its hidden parts blank, and what stands in boxes and behind "Answer:"."""
    text = solution_text[-_MAX_SOLUTION:]
    budget.charge(len(text) * _CHARACTER)
    text = blank_spans(text, sorted(thinking_spans(text)))
    text = BROKEN_WORD.sub("", mask(text)[0])
    boxes = "\n".join(dict.fromkeys(content.strip() for content in boxes_of(text)))
    lines = "\n".join(dict.fromkeys(found[1].strip() for found in _PATTERNS["marker"].finditer(text)))
    return text, tuple(place for place in (boxes, lines) if place)


def _sentences(text: str) -> list[str]:
    """Split a text into its sentences; each line begins a new one, and texts without words are dropped."""
    pieces: list[str] = []
    for line in re.finditer("[^\n]+", text):
        start = line.start()
        for end in SENTENCE_END.finditer(text, *line.span()):
            if end.end() < len(text):
                pieces.append(text[start : end.start() + 1])
                start = end.end()
        pieces.append(text[start : line.end()])
    return [piece.strip() for piece in pieces if words(piece)]


def boxes_of(text: str) -> list[str]:
    r"""Return the contents of the outermost `\boxed{...}` in order; boxes without closing brace are left out."""
    opened: list[tuple[int, bool]] = []  # where each open brace begins, and if it is a box
    found: list[tuple[int, int]] = []
    boxed = False
    for mark in _PATTERNS["box"].finditer(text):
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
_MAX_SHORT = 3  # words of an option, where instructions are nothing but the list


def options_of(instructions: str) -> tuple[str, ...]:
    r"""Return the options that instructions list for an answer in words; empty if they do not clearly list one set.

    >>> options_of("Answer 'increases', 'decreases' or 'stays the same'."), options_of("in terms of $m$ or $k$")
    (('increases', 'decreases', 'stays the same'), ())
    >>> options_of("should be 'The equilibrium is stable/unstable'")
    ('stable', 'unstable')
    """
    text = visible_text(instructions[:_MAX_INSTRUCTIONS], keep="'\"“”‘’`")
    if quoted := list(_PATTERNS["quoted"].finditer(text)):
        return _distinct_options(_quoted_options(text, quoted))
    if slashed := {mark[0] for mark in _PATTERNS["slashed"].finditer(text) if _is_choice(mark[0])}:
        return _distinct_options(slashed.pop().split("/") if len(slashed) == 1 else [])
    for pattern in (_AFTER_LEAD, _COLON_LIST):
        for mark in pattern.finditer(text):
            if options := _distinct_options(_without_heading(_list_items(mark["list"]))):
                return options
    options = _distinct_options(_options_of_whether(text))
    whole = None if options else _LISTED.fullmatch(text)
    if whole is None:
        return options
    items = _list_items(whole["list"])
    is_short = all(
        len(item.split()) <= _MAX_SHORT and _WORDS["copula_words"].isdisjoint(item.split()) for item in items
    )
    return _distinct_options(items) if is_short and items[0].split()[0].lower() not in _WORDS["asking"] else ()


def _list_items(listed: str) -> list[str]:
    """Split `up, down or left` and `up/down` into their items."""
    return [item.strip() for item in re.split(r"\s*,\s*(?:\b(?:or|and)\b\s+)?|\s+\bor\b\s+|\s+and\s+|\s*/\s*", listed)]


def _without_heading(items: list[str]) -> list[str]:
    """Return list items without a heading in first place: `up` and `down` of `the direction, up or down`."""
    headed = [item.split()[0].lower() in ("the", "its", "your") for item in items]
    return items[1:] if len(items) > 2 and headed[0] and not any(headed[1:]) else items


def _quoted_options(text: str, quoted: list[re.Match[str]]) -> list[str]:
    """Return the options that the quoted texts of instructions are: `'up' or 'down'`, or `'up/down'`; else empty.

    Args:
        text: the instructions.
        quoted: matches of the quoted texts in it.
    """
    rows: list[list[str]] = [[quoted[0][1]]]
    for one, two in pairwise(quoted):
        if _PATTERNS["between"].fullmatch(text, one.end(), two.start()):
            rows[-1].append(two[1])
        else:
            rows.append([two[1]])
    several = [row for row in rows if len(row) > 1]
    if several:
        return several[0] if len(several) == 1 else []
    choices = [row[0] for row in rows if "/" in row[0] or re.search(r"\bor\b", row[0])]
    if len(choices) != 1:
        return []
    return _slashed_options(choices[0]) if "/" in choices[0] else _list_items(choices[0])


def _slashed_options(choice: str) -> list[str]:
    """Return the options of a text with slashes: `real`, `virtual` of `The image is real/virtual`.

    Words around them are dropped, but `up / to the left` is split as it stands.
    """
    parts = [part.split() for part in choice.split("/")]
    if not all(parts):
        return []
    is_glued = re.search(r"\S/\S", choice) is not None
    if len(parts[0]) > len(parts[1]):  # words before the first option belong to the sentence
        n_words = 1 if is_glued else len(parts[1])
        parts = [parts[0][-n_words:], *(part[:n_words] if is_glued else part for part in parts[1:])]
    elif len(parts) == 2 and len(parts[0]) > 1 and is_glued and parts[0][-1] != parts[1][-1]:
        parts = [parts[0][-1:], parts[1][:1]]
    return [" ".join(part) for part in parts]


def _is_choice(slashed: str) -> bool:
    """Return True if words with slashes are options (`up/down`), not a unit (`m/s`) or phrase (`and/or`)."""
    parts = slashed.split("/")
    is_unit = any(find_unit(part) is not None for part in parts) and not _are_ordinals(parts)
    return slashed.lower() not in _WORDS["no_slash"] and not is_unit


def _are_ordinals(options: Sequence[str]) -> bool:
    """Return True if all options begin with an ordinal such as `first`, so that `second` is no unit of time."""
    return all(option.lower().split()[0] in ORDINALS for option in options)


def _options_of_whether(text: str) -> list[str]:
    """Return the options of the only "whether it is real or virtual", "either up or down", "Is it up or down?"."""
    found: list[list[str]] = []
    for mark in _PATTERNS["whether"].finditer(text):
        lead = mark["lead"].lower()
        if lead not in ("whether", "either") and not lead.endswith(" if") and mark["end"] != "?":
            continue
        right = _PATTERNS["cut"].sub("", mark["right"].strip()).strip()
        parts = [part.strip() for part in mark["left"].split(",") if part.strip()]
        if not parts or not right or right.lower() == "not" or re.search(r"\bor\b", mark["right"]):
            return []
        last = right.split()
        first = (_PATTERNS["copula"].sub("", parts[0]) if lead != "either" else parts[0]).split()
        has_copula = _PATTERNS["copula"].match(parts[0]) is not None
        n_words = len(parts[1].split()) if len(parts) > 1 else len(last)
        if lead == "either":
            last = last[: len(first)]
        elif not has_copula and parts[0].endswith(("s", "ed")):  # `whether the speed increases or decreases`
            first = first[-1:]
        else:
            first = first[-n_words:]
            last = last if has_copula or len(parts) > 1 else last[: len(first)]
        found.append([" ".join(first), *parts[1:], " ".join(last)])
    return found[0] if len(found) == 1 else []


def _distinct_options(items: Sequence[str]) -> tuple[str, ...]:
    """Return the items as options; empty unless each can be an option and they differ in their distinguishing words."""
    options = tuple(dict.fromkeys(" ".join(item.split()).strip(" .,;:!?") for item in items))
    if not 2 <= len(options) <= MAX_OPTIONS or len(options) != len(items) or not all(options):
        return ()
    if all(len(option) == 1 for option in options):
        letters = [option.upper() for option in options]
        return options if letters == [chr(ord("A") + place) for place in range(len(letters))] else ()
    is_fit = all(_may_be_option(option, options) for option in options)
    return options if is_fit and len({_distinguishing_words(option) for option in options}) == len(options) else ()


def _may_be_option(option: str, options: Sequence[str]) -> bool:
    """Return True if a text can be an option: no unit, no number and no piece of a sentence."""
    split = option.lower().split()
    is_unit = find_unit(option) is not None and not _are_ordinals(options)
    if len(split) > _MAX_OPTION or len(option) < 2 or is_unit or not _distinguishing_words(option):
        return False
    if not all(re.fullmatch(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", word) for word in split):
        return False
    if len(split) == 1:
        return split[0] not in _WORDS["no_option"]
    starts_phrase = split[0] in ("in", "to") and split[1] in ("terms", "units", "si")
    return not starts_phrase and split[0] not in _WORDS["no_option"] - {"to", "in", "the", "a", "an", "not", "both"}


# Words ------------------------------------------------------------------------------------------------------------

_STOPS = frozenset(".;:!?\n")
_OF_SUBJECT = ORDINALS | word_set("and or nor the a an , one option")
_COPULAS = word_set("is are was were does do did has have")
_ARE_NOT = word_set("isnt arent wasnt werent doesnt dont didnt hasnt havent")
_SENTENCE_MARKS = frozenset(".!?\n")


def _distinguishing_words(option: str) -> tuple[str, ...]:
    """Return the words of an option without articles, copulas and prepositions; all words if nothing else is left."""
    split = words(visible_text(option))
    return tuple(word for word in split if word not in _WORDS["empty"]) or tuple(split)


def _stem(word: str) -> str:
    """Return a word without its ending: `increases`, `increasing` and `increased` become one."""
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word


# What a place settles on ------------------------------------------------------------------------------------------

_WRONG = WRONG_WORDS | word_set("mistake myth misconception")
_NEAR = 4  # words before an option within which "not" turns it round
# A sentence contrary to fact, `Below 7.00 rad/s it would be stable`, says nothing of the case that was asked.
_NO_TURN = r"(?:(?!\b(?:but|so|hence|thus|therefore|however|since|because)\b)[^;:!?])*"
_CONTRARY = re.compile(
    r"\W*(?:(?:with|at|for|below|above|under)\b(?!\s+th(?:is|at|ese|ose)\b)(?=[^;:!?]*?(?:[\d$\\]|\b(?:other|another|different"
    r"|(?:slow|fast|small|larg|bigg|low|high|weak|strong|short|long|light|heavi|thinn|thick|great|narrow|wid)er)\b)"
    r"[^;:!?]*?\bwould\b)"
    r"|without\b|to (?:make|be|become|keep|get|render)\b|(?:if\b[^;:!?]*?\b)?(?:were|had)\b)"
    rf"{_NO_TURN}?\bwould\b{_NO_TURN}",
    re.IGNORECASE,
)
_YES_NO = frozenset((("yes",), ("no",)))


@dataclass(frozen=True, slots=True)
class _Choice:
    """The option that a text states; empty, with the reason (`why`), if it names several or takes its option back."""

    option: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Mention:
    """An option named in a text.

    Attributes:
        option: ordinal of the option.
        at: positions of its words among the tokens of the text.
        sense: 1 if the option is stated, -1 if it is denied, 0 if neither is clear.
    """

    option: int
    at: tuple[int, ...]
    sense: int = 0


def _chosen_option(place: str, options: tuple[str, ...]) -> _Choice | None:
    """Return the option that a text states, else the one stated after its last "therefore"; None if it names none."""
    if len(place) > _MAX_PLACE:
        return _Choice(why=f"more than {MAX_WORDS} words are no answer")
    pieces = _PATTERNS["pieces"].split(place)
    of_this_case = [piece for piece in pieces if not _CONTRARY.fullmatch(piece)]
    if not of_this_case or _CONTRARY.fullmatch(place):
        return None
    place = place if len(of_this_case) == len(pieces) else "; ".join(of_this_case)
    shown = _PATTERNS["expected"].sub(" ", visible_text(place))
    found = _choice_throughout(shown, options)
    turns = [] if found is None or found.option else list(_PATTERNS["therefore"].finditer(shown))
    if turns:
        before = _choice_throughout(shown[: turns[-1].start()], options)
        last = _choice_throughout(shown[turns[-1].end() :], options)
        if last is not None and last.option and (before is None or before.option in ("", last.option)):
            return last
    return found


def _choice_throughout(shown: str, options: tuple[str, ...]) -> _Choice | None:
    """Return the option that all mentions in a text without markup agree on; None if it names no option."""
    found = tokenize(shown)
    if len(found) > MAX_WORDS:
        return _Choice(why=f"more than {MAX_WORDS} words are no answer")
    if all(len(option) == 1 for option in options):
        return _chosen_letter(found, options)
    mentions = _mentions(_join_split_words(found, options), options)
    if not mentions:
        return None
    stated: set[int] = set()
    for mention in mentions:
        if mention.sense == 0:
            return _Choice(why=f"does not settle on {options[mention.option]!r}")
        if mention.sense > 0:
            stated.add(mention.option)
        elif len(options) == 2:
            stated.add(1 - mention.option)
    denied = {mention.option for mention in mentions if mention.sense < 0}
    if len(stated) != 1 or stated & denied:
        names = ", ".join(repr(options[at]) for at in sorted(stated | denied))
        return _Choice(why=f"settles on none of {names}")
    return _Choice(options[stated.pop()])


def _chosen_letter(tokens: list[str], options: tuple[str, ...]) -> _Choice | None:
    """Return the option A, B, C, ... of a text that is nothing but that letter; None if it names no letter.

    In a sentence `a` is an article: then the choice is empty.
    """
    content = [word for word in tokens if word not in MARKS and word not in ("option", "choice", "answer", "is", "the")]
    letters = [option for option in options if option.casefold() in content]
    if len(content) == 1 and len(letters) == 1:
        return _Choice(letters[0])
    return _Choice(why="names no single letter") if letters else None


def _join_split_words(tokens: list[str], options: tuple[str, ...]) -> list[str]:
    """Return the tokens, two of them joined where an option has them as one: `counter clockwise`."""
    known = {word for option in options for word in _distinguishing_words(option)}
    joined: list[str] = []
    for token in tokens:
        if joined and joined[-1] not in MARKS and joined[-1] + token in known:
            joined[-1] += token
        else:
            joined.append(token)
    return joined


def _mentions(tokens: list[str], options: tuple[str, ...]) -> list[_Mention]:
    """Return every mention of an option, with its sense; `stable` within the option `not stable` is none."""
    contents = [_distinguishing_words(option) for option in options]
    if frozenset(contents) == _YES_NO:
        return list(_yes_or_no(tokens, contents))
    own = [word for content in contents for word in content]
    has_endings = len({_stem(word) for word in own}) == len(set(own))
    same_words = len({frozenset(content) for content in contents}) < len(contents)
    named: list[_Mention] = []
    for number, content in enumerate(contents):
        find = _in_any_order if "and" in content and not same_words else _in_order
        named += [_Mention(number, at) for at in find(tokens, content, has_endings)]
    longest = [one for one in named if not any(set(one.at) < set(other.at) for other in named)]
    places = {at for one in longest for at in one.at}
    return [_Mention(one.option, one.at, _sense(tokens, one, places, own)) for one in longest]


def _is_word(token: str, word: str, has_endings: bool) -> bool:
    """Return True if a token is a certain word of an option; with `has_endings` another ending will do."""
    if token == word or token.replace("-", "") == word.replace("-", ""):
        return True
    return has_endings and token not in MARKS and _stem(token) == _stem(word) and len(_stem(word)) >= 4


def _in_order(tokens: list[str], content: tuple[str, ...], has_endings: bool) -> Iterator[tuple[int, ...]]:
    """Yield the token positions of each place where the words of an option stand in a row, but for articles and such.

    Args:
        content: the words of the option.
        has_endings: a word may have another ending (`increased` for `increases`).
    """
    for start in range(len(tokens)):
        at: list[int] = []
        place = start
        for word in content:
            while at and place < len(tokens) and tokens[place] in _WORDS["empty"]:
                place += 1
            if place >= len(tokens) or not _is_word(tokens[place], word, has_endings):
                break
            at.append(place)
            place += 1
        if len(at) == len(content):
            yield tuple(at)


def _in_any_order(tokens: list[str], content: tuple[str, ...], has_endings: bool) -> Iterator[tuple[int, ...]]:
    """Yield the token positions of the words of `real and inverted` for each sentence that has all, in any order."""
    start = 0
    for end in [*(at for at, token in enumerate(tokens) if token in _STOPS), len(tokens)]:
        places = [
            next((at for at in range(start, end) if _is_word(tokens[at], word, has_endings)), -1)
            for word in content
            if word != "and"
        ]
        if min(places) >= 0:
            yield tuple(sorted(places))
        start = end + 1


def _yes_or_no(tokens: list[str], contents: list[tuple[str, ...]]) -> Iterator[_Mention]:
    """Yield the mentions of `yes`, and of `no` where it is an answer: in `there is no friction` it is not."""
    for at, word in enumerate(tokens):
        after = tokens[at + 1] if at + 1 < len(tokens) else "."
        if word == "yes" or (word == "no" and (after in MARKS or after in _WORDS["since"])):
            is_hedged = "?" in tokens[at : _token_bounds(tokens, at, at, _STOPS)[1] + 1] or not HEDGES.isdisjoint(
                tokens[:at]
            )
            is_negated = any(is_negation(other) for other in tokens[max(0, at - 2) : at])
            yield _Mention(contents.index((word,)), (at,), 0 if is_hedged or is_negated else 1)


def _token_bounds(tokens: list[str], first: int, last: int, ends: Collection[str]) -> tuple[int, int]:
    """Return (start, end) of the longest slice of tokens around `first` to `last` without a token of `ends`."""
    low = max((at + 1 for at in range(first) if tokens[at] in ends), default=0)
    return low, next((at for at in range(last, len(tokens)) if tokens[at] in ends), len(tokens))


def _sense(tokens: list[str], mention: _Mention, named: set[int], own: Collection[str]) -> int:
    """Return 1 if a mention states its option, -1 if it denies it, 0 if it leaves it open.

    Args:
        tokens: the tokens of the place.
        mention: with its sense not yet known.
        named: positions of all words of options.
        own: the words of all options.
    """
    first, last = mention.at[0], mention.at[-1]
    start, end = _token_bounds(tokens, first, last, _STOPS)
    sentence = tokens[slice(*_token_bounds(tokens, first, last, _SENTENCE_MARKS))]
    if (end < len(tokens) and tokens[end] == "?") or not (_WRONG - {*own}).isdisjoint(sentence):
        return 0
    clause = tokens[slice(*_token_bounds(tokens, first, last, MARKS | _WORDS["clause_starts"]))]
    if (
        not HEDGES.isdisjoint(clause)
        or clause[0] in _WORDS["inverted"]
        or (first and tokens[first - 1] in _WORDS["weakened"])
    ):
        return 0
    near, far = _negations_before(tokens, first, start, named)
    if _is_subject_of_denial(tokens[last + 1 : end], {tokens[at] for at in named}):
        return 0 if near or far else -1
    if far or near > 1 or _is_denied_after(tokens, last, end, named):
        return 0
    if len(mention.at) > 1 and (near or any(is_negation(token) for token in tokens[first:last])):
        return 0
    return -1 if near else 1


def _negations_before(tokens: list[str], first: int, start: int, named: set[int]) -> tuple[int, int]:
    """Count the negations from token `start` to a mention at token `first`: those that deny it, those that may."""
    near = far = n_words = 0
    has_verb, is_direct = False, True
    for at in range(first - 1, start - 1, -1):
        word = tokens[at]
        if word in _WORDS["clause_starts"] or (has_verb and (word in MARKS or word == "and")):
            break
        if word in MARKS or word in ("and", "or"):
            is_direct = False
        elif at in named and not is_direct:
            break  # what is denied there is another option
        elif is_negation(word):
            is_near = is_direct and n_words < _NEAR
            near, far = near + is_near, far + (not is_near)
        elif word in _WORDS["turns_away"] or (word == "than" and not n_words):
            far += 1
        has_verb = has_verb or word in _WORDS["verbs"]
        n_words += word not in MARKS
    if start > 1 and tokens[start - 1] == ":" and is_negation(tokens[start - 2]):
        far += 1
    return near, far


def _is_subject_of_denial(rest: Sequence[str], named: Collection[str]) -> bool:
    """Return True if what follows a mention denies it and ends there: `is not`, `and the second are not`."""
    start = next((k for k, word in enumerate(rest) if word not in named and word not in _OF_SUBJECT), len(rest))
    verb = rest[start:]
    return (len(verb) == 2 and verb[0] in _COPULAS and is_negation(verb[1])) or (len(verb) == 1 and verb[0] in _ARE_NOT)


def _is_denied_after(tokens: list[str], last: int, end: int, named: set[int]) -> bool:
    """Return True if a denial follows a mention: `stable it is not`, `stable, not`; not if it denies another option."""
    for at in range(last + 1, end):
        is_far = at > last + _NEAR
        if (
            at in named
            or tokens[at] in _WORDS["clause_starts"]
            or tokens[at] == "and"
            or (is_far and tokens[at] in MARKS)
        ):
            return False
        if is_negation(tokens[at]) or tokens[at] in _WORDS["turns_away"]:
            return not any(place in named for place in range(at + 1, min(end, at + 1 + _NEAR)))
    return False
