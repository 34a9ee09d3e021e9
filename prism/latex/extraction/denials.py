r"""What the words around a formula say of it: denied, taken back, asked, wished or only to be shown, in ten languages.

The words stand in `vocabulary/words/<language>.toml`, table `claims`, each with its roles; `vocabulary/README.md` says
what each role does. The rules are the same for all languages. A text is cut into sentences, and these into clauses, at
punctuation and at words such as "but", "so" and "because"; a word counts in the languages that its sentence is in. A
formula is not claimed

- if what governs it is negative: "it is not true that A", "I doubt that A", "far be it from me to write A", "A does not
  apply here"; "nobody will deny that A" has two negative words and affirms;
- if it is wished, or a condition contrary to fact: "if only A", "gälte A, so ...";
- if it is only a task: "we are asked to prove that A", unless a later sentence says that this is done;
- if a later clause of its sentence, or the next sentence, refers back: "so this cannot be right", "sadly it is not"; or
  if one elsewhere says so of it (`clauses_on_others`): "all of this is wrong", "ce qui suit est faux";
- under a heading that says nothing else: "## Ce qui est faux";
- if somebody else, or the writer in former times, said it, and what follows disowns it: "whoever writes A forgets ...";
- by a bracket behind it, or a label before it: "(ignore this line)", "Not valid: A";
- in a question that nobody answers, behind "whether", and where it is supposed to be refuted.

A clause says that something is wrong by a word of the role `wrong`, or by one of `right` with a negator; with a negator
beside it a word of `wrong` says nothing. What limits the validity ("does not hold for large angles") denies nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from prism.latex.extraction.worded_clauses import (
    HEADING,
    INSTEAD,
    Clause,
    Mark,
    WordedText,
    has_role,
    read_worded,
    starting_from,
)
from prism.latex.prose import FORMULA, WRONG_WORDS
from prism.latex.word_lists import any_word

_FORMULA = re.compile(f"{FORMULA}*")
_LONG = re.compile(f"{FORMULA}{{6}}")  # more than a name between dollars
_LONG_RUN = re.compile(f"{FORMULA}{{6,}}")
_LABELS = re.compile(rf"[:：]\s{{0,9}}{FORMULA}")  # behind a label of the formula that follows
_YEAR = re.compile(r" (?:1[5-9]|20)\d\d\b")
_OR_ASKED = re.compile(rf"\s*[(（]\s*(?:or|{any_word('alternatives')})\s*{FORMULA}+\s*[?？]")
_PLACES_IN_ORDER = ("whole", "preceding", "coming", "everything", "plural")
_PLACES = frozenset(_PLACES_IN_ORDER)
_OPEN = frozenset(("doubting", "supposing", "ifs", "unsure", "citing"))  # before it: asked, supposed or reported
_FUNCTION = frozenset(
    ("common", "subjects", "referring", "stating", "linking", "right", "obliging", "asserting", "relative", "negators")
)
_CONDITIONS = frozenset(("ifs", "limiting"))
_SEMICOLONS = frozenset((";", "；"))
_COMMAS = frozenset((",", "，", "、"))
_BETWEEN = re.compile(r"\\[a-z]+|[ .,({（\[*]")  # a formula and a bracket
_STOPS = frozenset(".!。！\n")
_TAKING_BACK = frozenset(("withdrawing", "dropping"))
_SHORTEST_NOUN, _SHORTEST_UNPARTED_NOUN = 9, 3  # letters of a phrase that names what it refers to
_WORKING, _REACH = 2, 2000  # formulas within so many characters behind a task, before the next one, work it out
_NEAR = 4  # words between a negator and what it negates, before a word that refers back, or behind a verb of stating
_LABEL = 6  # words of a label, at most
_PERHAPS_NOT = 2  # words
_VERDICT = 8  # words of a clause that only says yes or no, at most
_CLAUSES_BEHIND = 3  # of the next sentence in which a formula is taken back
_STATING = frozenset(("stating", "asserting"))
_NEGATED = _STATING | {"right", "proving"}
_VERBS = frozenset(("stating", "asserting", "right", "infinitive"))  # what a mistake is to do
_OTHERS = frozenset(("citing", "others", "formerly"))
_FAULTS = frozenset(("wrong", "mistakes", "faulty"))
_SAYING_WRONG = frozenset(("wrong", "mistakes", "disowning", "tasks"))  # in a clause of nothing else
_ANSWERING = _SAYING_WRONG | frozenset(
    ("negators", "contrasting", "referring", "breaks", "right", "doubting", "affirming", "common")
)
_BEHIND_PREDICATE = frozenset("here since because as by and but so too again now anyway too either".split())


def denied_starts(read: WordedText, starts: Sequence[int], *, is_statement: bool) -> Iterator[int]:
    """Yield the offsets of the formulas that the words around them deny.

    Args:
        read: a text with its formulas masked.
        starts: offset of each formula, ascending.
        is_statement: the text is a problem's, which gives what it asks to show.
    """
    rules = [rule for rule in _RULES if not (is_statement and rule is _is_task)]
    bounds = [clause.start for clause in read.clauses]
    taken_back = list(_spans_denied_at_once(read, bounds))
    for start in starts:
        if any(low <= start < high for low, high in taken_back):
            yield start
            continue
        end = _FORMULA.match(read.text, start).end()  # type: ignore[union-attr]
        place = bisect_right(bounds, start) - 1
        if place >= 0 and end > start:
            following = read.text.find(FORMULA, end, read.clauses[place].end)
            high = following if following >= 0 else read.clauses[place].end
            low = _governor_start(read, place, start, end)
            at = _Formula(place, start, end, low, high, read.within(low, start), read.within(end, high))
            if any(rule(read, at) for rule in rules):
                yield start


# What a clause says -----------------------------------------------------------------------------------------------


def says_wrong(read: WordedText, low: int, high: int, *, is_label: bool = False) -> bool:
    """Return True if the words between two offsets say that something is wrong, and do not limit it to a case."""
    if _is_not_claimed(read, low, high):
        return True
    marks = read.within(low, high)
    wrong = [
        mark for mark in marks
        if _FAULTS & mark.roles and (is_label or not _is_attribute(read, mark))
    ]  # fmt: skip
    right = [mark for mark in marks if "right" in mark.roles]
    negators = [mark for mark in marks if "negators" in mark.roles]
    if right and right[-1].place < 0:  # of a script that parts no words
        negators = [mark for mark in negators if any(_are_beside(read, mark, each) for each in (*right, *wrong))]
    if not (wrong or (right and negators)) or (wrong and negators):
        return False
    end = max(mark.end for mark in (wrong or [right[-1], *negators]))
    limits = [mark for mark in marks if "limiting" in mark.roles and 0 <= mark.start - end <= 2]
    return all(_YEAR.match(read.text, mark.end) for mark in limits)


def _is_not_claimed(read: WordedText, low: int, high: int) -> bool:
    """Return True for words that end in a negated verb of claiming: "lässt sich nicht behaupten", "I do not claim"."""
    marks = [mark for mark in read.within(low, high) if {"negators", "asserting", "harmless"} & mark.roles]
    negated = [mark for mark in marks if "negators" in mark.roles]
    verbs = [mark for mark in marks if "asserting" in mark.roles and not read.n_words(mark.end, high)]
    is_near = bool(negated and verbs) and read.n_words(negated[-1].end, verbs[-1].start) <= _NEAR
    return is_near and len(marks) == len(negated) + len(verbs)


def _are_beside(read: WordedText, first: Mark, second: Mark) -> bool:
    """Return True if at most two words part two marks."""
    low, high = sorted((first, second), key=lambda mark: mark.start)
    return read.n_words(low.end, high.start) <= 2


def _is_attribute(read: WordedText, mark: Mark) -> bool:
    """Return True for an English adjective before its noun, "the false vacuum"."""
    if read.text[mark.start : mark.end] not in WRONG_WORDS or mark.place + 1 >= len(read.words):
        return False
    following = read.words[mark.place + 1]
    is_next = read.text[mark.end : following.start()] == " "
    is_marked = any(each.start == following.start() for each in read.within(following.start(), following.end() + 20))
    return is_next and not is_marked and following[0] not in _BEHIND_PREDICATE


def _is_verdict(read: WordedText, clause: Clause, own: int, *, is_first: bool) -> bool:
    """Return True for a clause of few words that only says no: "Nonsense.", ", a blunder", "but sadly it is not"."""
    marks = read.within(clause.start, clause.end)
    n_words = read.n_words(clause.start, clause.end)
    roles = frozenset[str]().union(*(mark.roles for mark in marks))
    is_doubt = "doubting" in roles and clause.sentence == own and n_words <= _PERHAPS_NOT  # "perhaps A, perhaps not"
    ends_own = clause.sentence == own and read.text[clause.end : clause.end + 1] in ("", *_STOPS)
    says_wrong = not roles.isdisjoint(_SAYING_WRONG)
    is_apart = is_first or clause.is_contrary or clause.opening in ("–", "—", "-") or ends_own
    if not n_words or n_words > _VERDICT or not (is_doubt or (is_apart and "doubting" not in roles)):
        return False
    said = [mark for mark in marks if not _ANSWERING.isdisjoint(mark.roles)]
    if FORMULA in read.text[clause.start : clause.end] or n_words > sum(read.n_words(m.start, m.end) for m in said):
        return False
    if (
        _LABELS.match(read.text, clause.end)
        or "limiting" in marks[-1].roles
        or "ifs" in marks[0].roles
        or not roles.isdisjoint(("harmless", "asking"))
    ):
        return False
    is_behind = read.text[clause.start - 1 : clause.start] == FORMULA  # no "no, wait"
    ends = is_behind or read.text[clause.end : clause.end + 1] not in (",", ":")
    return says_wrong != ("negators" in roles and ends)


def _spans_denied_at_once(read: WordedText, bounds: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield what stands under a heading that says nothing but that it is wrong.

    Args:
        bounds: offset of each clause.
    """
    heads = [head.span() for head in HEADING.finditer(read.text)]
    for (low, high), (end, _) in zip(heads, [*heads[1:], (len(read.text), 0)], strict=False):
        title = read.clauses[bisect_left(bounds, low) : bisect_left(bounds, high)]
        if any(_is_title_of_wrong(read, clause) for clause in title):
            yield high, end


def clauses_on_others(read: WordedText) -> Iterator[tuple[str, int, int]]:
    """Yield what calls formulas in other places wrong, or takes them back: a role of `_PLACES`, and its two offsets.

    "All of this is wrong", "the formulas above do not hold", "none of these is right", "the following is false".
    """
    for clause in read.clauses:
        marks = read.within(clause.start, clause.end)
        named = next((mark for mark in marks if _PLACES & mark.roles), None)
        if _is_label_of_wrong(read, clause):
            yield "coming", clause.start, clause.end + 1
        if named is None or read.asks(clause):
            continue
        low = max(clause.start, read.text.rfind("\n", clause.start, named.start) + 1)  # "- A" may end the line before
        if FORMULA in read.text[low : clause.end]:
            continue
        first = max(read.clauses[read.firsts[clause.sentence]].start, low if low > clause.start else 0)
        roles = frozenset[str]().union(*(mark.roles for mark in marks if mark.start >= low))
        if any(_OPEN & mark.roles for mark in read.within(first, named.start)) or "doubting" in roles:
            continue
        kind = next(role for role in _PLACES_IN_ORDER if role in roles)
        if kind == "plural" and named.place >= 0 and not _is_about_formulas(read, low, named, clause.end):
            continue
        taken_back = {"withdrawing", "retracting", "disowning"} & roles and "negators" not in roles
        if (taken_back and kind == "everything") or says_wrong(read, low, clause.end):
            yield kind, low, clause.end


def _is_about_formulas(read: WordedText, low: int, subject: Mark, high: int) -> bool:
    """Return True for "these are wrong", not for "these experiments contradict the theory"."""
    told = [mark for mark in read.within(subject.end, high) if (_FAULTS | {"right"}) & mark.roles]
    if not told or read.n_words(low, subject.start) >= _NEAR or n_unknown(read, subject.end, told[0].start):
        return False
    behind = bisect_left(read.word_starts, told[-1].end)
    ends = [word.end() for word in read.words[behind : behind + 2] if word.end() <= high]
    return n_unknown(read, told[-1].end, max(ends, default=told[-1].end)) == 0


def _is_label_of_wrong(read: WordedText, clause: Clause) -> bool:
    """Return True for "Two wrong formulas:" at the end of a line, and what stands below it is meant."""
    line = read.text.rfind("\n", 0, clause.end) + 1
    behind = read.text[clause.end : clause.end + 9].partition("\n")
    if (
        behind[0].strip(" \t*_") not in (":", "：", "–", "—")
        or not behind[1]
        or FORMULA in read.text[line : clause.end]
    ):
        return False
    low = max(line, clause.start)
    if read.n_words(low, clause.end) > _LABEL or has_role(read, low, clause.end, "referring", "right"):
        return False
    return has_role(read, low, clause.end, "headline") or says_wrong(read, low, clause.end, is_label=True)


def says_it_is_wrong(note: str) -> bool:
    """Return True if a note to a formula calls it wrong: "This is false"."""
    read = read_worded(note.lower())
    return any(
        _is_title_of_wrong(read, clause)
        or (has_role(read, clause.start, clause.end, "referring") and says_wrong(read, clause.start, clause.end))
        for clause in read.clauses
        if not read.asks(clause)
    )


def _is_title_of_wrong(read: WordedText, clause: Clause) -> bool:
    """Return True if a clause has only known words, and these say wrong or to be ignored."""
    marks = read.within(clause.start, clause.end)
    n_known = sum(read.n_words(mark.start, mark.end) for mark in marks)
    is_struck = any({"retracting", "struck"} & mark.roles for mark in marks)
    is_said = is_struck or says_wrong(read, clause.start, clause.end, is_label=True)
    return is_said and n_known >= read.n_words(clause.start, clause.end) and not read.asks(clause)


# Rules ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Formula:
    """A formula from offset `start` to `end`, in the clause number `place`.

    Attributes:
        low: offset where the words begin that govern it, see `_governor_start`.
        high: offset where its clause ends, or the next formula begins.
        before: the marks from `low` to it.
        behind: those from it to `high`.
    """

    place: int
    start: int
    end: int
    low: int
    high: int
    before: Sequence[Mark]
    behind: Sequence[Mark]


def _governor_start(read: WordedText, place: int, start: int, end: int) -> int:
    """Return where the words begin that govern a formula: its clause, or one before a "that" or an infinitive.

    In "viele nehmen fälschlich an, dass A" and "man könnte versucht sein, A zu schreiben" the clause before the comma
    governs A.
    """
    clause = read.clauses[place]
    is_linked = any("infinitive" in mark.roles and read.n_words(end, mark.start) <= 1
                    for mark in read.within(end, clause.end))  # fmt: skip
    while place and clause.opening in _COMMAS and read.clauses[place - 1].sentence == clause.sentence:
        marks = read.within(clause.start, min(start, clause.end))
        is_linked |= any("linking" in mark.roles and read.n_words(clause.start, mark.start) <= 1 for mark in marks)
        if not is_linked and not _is_inserted(read, place - 1, marks):
            break
        place -= 1
        clause = read.clauses[place]
        is_linked = clause.opening in _COMMAS and read.n_words(clause.start, clause.end) <= _NEAR  # ", as before,"
    return clause.start


def _is_inserted(read: WordedText, place: int, following: Sequence[Mark]) -> bool:
    """Return True for a few words between commas before a "que": "suponhamos, por absurdo, que A"."""
    clause = read.clauses[place]
    is_short = clause.opening in _COMMAS and read.n_words(clause.start, clause.end) <= _NEAR
    return is_short and bool(following) and "stating" in following[0].roles


def _is_governed(read: WordedText, at: _Formula) -> bool:
    """Return True for "it is not true that A", "I doubt that A", "we must not write A", "far be it from me"."""
    if not (at.before or at.behind):
        return False
    beside = read.text.rfind(FORMULA, at.low, at.start)
    if _LONG.search(read.text, at.low, at.start):
        return _is_negated(read, at, [mark for mark in at.before if mark.start > beside])
    if any("refusing" in mark.roles for mark in (*at.before, *at.behind)) and _LONG.match(read.text, at.start):
        return True
    negators = [mark for mark in at.before if "negators" in mark.roles]
    if negators and any({"harmless", "wrong"} & mark.roles for mark in at.before):
        return False
    if any(_TAKING_BACK & mark.roles and _is_object(read, at, mark) for mark in (*at.before, *at.behind)):
        return not negators and not any("negators" in mark.roles for mark in at.behind)
    if any("mistakes" in mark.roles or ("wrong" in mark.roles and not _is_attribute(read, mark)) for mark in at.before):
        return True
    return _is_negated(read, at, at.before) or _is_in_a_mistake(read, at)


def _is_in_a_mistake(read: WordedText, at: _Formula) -> bool:
    """Return True for "a mistake is to take the mean, which gives A"."""
    clause = read.clauses[at.place]
    if clause.opening not in _COMMAS or not at.before or "relative" not in at.before[0].roles or not at.place:
        return False
    earlier = read.clauses[at.place - 1]
    return clause.sentence == earlier.sentence and has_role(read, earlier.start, earlier.end, "mistakes")


def n_unknown(read: WordedText, low: int, high: int) -> int:
    """Return the number of words between two offsets that are neither function words nor refer to a formula."""
    marks = (
        mark for mark in read.within(low, high) if _FUNCTION & mark.roles and mark.roles.isdisjoint(("ifs", "limiting"))
    )
    return read.n_words(low, high) - sum(read.n_words(mark.start, mark.end) for mark in marks)


def _is_object(read: WordedText, at: _Formula, verb: Mark) -> bool:
    """Return True for a formula right beside a verb that takes it back: "I withdraw A", "A nehme ich zurück"."""
    is_told = "withdrawing" in verb.roles  # "I withdraw my statement A", but "we ignore the term A"
    n_before = n_unknown(read, verb.end, at.start) if is_told else read.n_words(verb.end, at.start)
    n_between = n_before + read.n_words(at.end, verb.start)
    return n_between <= 1 and _LONG.match(read.text, at.start) is not None


def _is_negated(read: WordedText, at: _Formula, before: Sequence[Mark]) -> bool:
    """Return True for "it is not A", "we cannot conclude that A", "keinesfalls darf man A ansetzen"."""
    negators = [mark for mark in before if "negators" in mark.roles]
    if any(INSTEAD in mark.roles and read.n_words(mark.end, at.start) == 0 for mark in before):
        return True
    if _LONG.match(read.text, at.start) and any(n_unknown(read, each.end, at.start) == 0 for each in negators):
        return True  # "by no means is A"
    verbs = [mark for mark in before if _NEGATED & mark.roles]
    is_object = any({"linking", "stating"} & mark.roles and not read.n_words(mark.end, at.start) for mark in before)
    reach = 2 * _NEAR if is_object else _NEAR  # "nichts berechtigt uns zu der Behauptung, dass A"
    verbs = [mark for mark in verbs if read.n_words(mark.end, at.start) <= reach]
    if any(_negates(read, negator, verb) for negator in negators for verb in verbs):
        return True
    is_final = any(_STATING & mark.roles and read.n_words(at.end, mark.start) <= 1 for mark in at.behind)
    return is_final and bool(negators)


def _negates(read: WordedText, negator: Mark, verb: Mark) -> bool:
    """Return True if a negator negates a verb behind it: at most two words on, or one of asserting with its subject."""
    n_between = read.n_words(negator.end, verb.start)
    if verb.start < negator.end:
        return False
    subjects = [mark for mark in read.within(negator.end, verb.start) if "subjects" in mark.roles]
    if n_between <= 2:  # "with no friction we use A", but "no podemos usar A"
        return not any(read.n_words(negator.end, mark.start) for mark in subjects)
    return "asserting" in verb.roles and not subjects


def _is_denied_behind(read: WordedText, at: _Formula) -> bool:
    """Return True for "A is wrong here", "A does not apply"."""
    if any("negators" in mark.roles for mark in at.before) and has_role(read, at.end, at.high, "wrong"):
        return False  # "kein Grund, an A zu zweifeln"
    clause = read.clauses[at.place]
    rest = replace(clause, start=at.end)
    is_no = at.high == clause.end and not any("negators" in mark.roles for mark in at.before)  # "A cannot be"
    if is_no and not read.asks(clause) and _is_verdict(read, rest, clause.sentence, is_first=True):
        return True
    slips = [mark for mark in at.behind if "retracting" in mark.roles]
    if any(n_unknown(read, at.end, mark.start) <= (mark.place < 0) for mark in slips):
        return True
    return bool(at.behind) and says_wrong(read, at.end, at.high)


def _is_unreal(read: WordedText, at: _Formula) -> bool:
    """Return True for a condition contrary to fact, and what follows from it: "if A were true, B", "gälte A, so B"."""
    low = at.place
    while low > read.firsts[read.clauses[low].sentence] and read.clauses[low].opening in (*_COMMAS, "and"):
        low -= 1
    for place in range(low, at.place + 1):
        clause = read.clauses[place]
        first = _LONG.search(read.text, clause.start, clause.end)
        start = at.start if place == at.place else first.start() if first else -1
        unreal = [mark for mark in read.within(clause.start, clause.end) if "unreal" in mark.roles]
        if not unreal or start < 0:
            continue
        is_value = any(read.n_words(mark.end, start) == 0 and mark.end <= start for mark in unreal)
        is_first = unreal[0].start < start and read.n_words(clause.start, unreal[0].start) == 0
        if (is_value or _LONG.match(read.text, start)) and (is_first or has_role(read, clause.start, start, "ifs")):
            return True
    return False


def _is_task(read: WordedText, at: _Formula) -> bool:
    """Return True for what is only to be shown, and not said to be: "we are asked to prove that A"."""
    low = at.low
    if read.clauses[at.place].opening in (":", "：") and read.n_words(low, at.start) == 0:
        low = read.clauses[at.place - 1].start
        low = low if read.n_words(low, at.start) <= _LABEL else at.low
    before, behind = at.before if low == at.low else read.within(low, at.start), at.behind
    proving = [mark.end for mark in before if "proving" in mark.roles and read.n_words(mark.end, at.start) <= _NEAR]
    proving += [mark.start for mark in behind if "proving" in mark.roles and read.n_words(at.end, mark.start) <= 1]
    is_task = any("tasks" in mark.roles for mark in (*before, *behind)) or any(
        "obliging" in mark.roles and mark.end <= verb for mark in (*before, *behind) for verb in proving
    )
    return (is_task or _is_exercise(read, at)) and read.done < at.end


def _is_exercise(read: WordedText, at: _Formula) -> bool:
    """Return True for "Prove that A" at the head of a sentence or part, with no subject, and not worked out behind."""
    place = at.place
    while read.clauses[place].start > at.low:  # "Beweise, dass A"
        place -= 1
    clause = read.clauses[place]
    marks = read.within(at.low, at.start)
    if not marks or "commanding" not in marks[0].roles or has_role(read, marks[0].end, at.start, "subjects"):
        return False
    is_head = clause.opening not in (*_COMMAS, "and", "but") or read.firsts[clause.sentence] == place
    if not is_head or read.n_words(at.low, marks[0].start) or not _LONG.match(read.text, at.start):
        return False
    end = min(at.end + _REACH, len(read.text))
    nexts = (mark.start for mark in read.within(at.end, end) if "commanding" in mark.roles)
    return len(_LONG_RUN.findall(read.text, at.end, next(nexts, end))) < _WORKING


def _is_disowned(read: WordedText, at: _Formula) -> bool:
    """Return True for what somebody else says, or the writer said once, and what follows disowns.

    "Whoever writes A forgets ...", "the book has A, which is a misprint", "I used to think A; I was wrong".
    """
    clause = read.clauses[at.place]
    low = at.low
    if at.place and read.firsts[clause.sentence] == at.place - 1:  # "according to the book, A", "the book has: A"
        earlier = read.clauses[at.place - 1]
        is_short = clause.opening in _COMMAS and read.n_words(earlier.start, earlier.end) <= _LABEL
        low = earlier.start if is_short or clause.opening in (":", "：") else low
        lead = read.within(earlier.start, earlier.end) if is_short else []
        is_source = bool(lead) and "others" in lead[0].roles and not read.n_words(low, lead[0].start)
        if is_source and says_wrong(read, low, earlier.end, is_label=True):  # "by the rejected hypothesis, A"
            return True
    about = [mark for mark in (*read.within(low, at.start), *at.behind) if _OTHERS & mark.roles]
    apposed = next(starting_from(read.clauses, at.place + 1), clause)
    if apposed.opening in _COMMAS and read.n_words(apposed.start, apposed.end) <= _NEAR:  # "A, says the book, but ..."
        about += [mark for mark in read.within(apposed.start, apposed.end) if "others" in mark.roles]
    if not about:
        return False
    if at.behind and _disowns(read, at.end, at.high):
        return True
    n_behind = 0
    for later in starting_from(read.clauses, at.place + 1):
        n_behind += later.sentence != clause.sentence
        is_far = later.sentence > clause.sentence + 1 or n_behind > _CLAUSES_BEHIND
        if is_far or _LONG.search(read.text, later.start, later.end):
            return False
        is_but = later.is_contrary and later.sentence == clause.sentence
        if (is_but and any("citing" in mark.roles for mark in about)) or _disowns(read, later.start, later.end):
            return True
    return False


def _disowns(read: WordedText, low: int, high: int) -> bool:
    """Return True if the words between two offsets say that somebody is, or was, mistaken."""
    return has_role(read, low, high, "disowning", "retracting") or says_wrong(read, low, high)


def _is_undecided(read: WordedText, at: _Formula) -> bool:
    """Return True for all formulas before "I am guessing" or "I cannot decide which" in their sentence or the next.

    So is A of "A (or B?)".
    """
    own = read.clauses[at.place].sentence
    if _OR_ASKED.match(read.text, at.end):
        return True
    later = takewhile(
        lambda clause: (
            clause.sentence == own
            or (clause.sentence == own + 1 and not _LONG.search(read.text, clause.start, clause.end))
        ),
        starting_from(read.clauses, at.place),
    )
    return has_role(read, at.low, at.start, "undecided") or any(
        has_role(read, max(clause.start, at.end), clause.end, "undecided") for clause in later
    )


def _is_taken_back(read: WordedText, at: _Formula) -> bool:
    """Return True if a later clause refers back and says that it is wrong, or takes back what stands before it."""
    own = read.clauses[at.place].sentence
    if _LONG.search(read.text, at.end, read.clauses[at.place].end):
        return False  # the formula behind it is meant
    n_behind, last, has_name = 0, own, False
    start = read.clauses[at.place].start  # "dass A gelten soll, ist ausgeschlossen"
    is_subject = any(
        {"linking", "stating"} & mark.roles and not read.n_words(start, mark.start) for mark in at.before[:1]
    )
    for clause in starting_from(read.clauses, at.place + 1):
        n_behind += clause.sentence != own
        if _LONG.search(read.text, clause.start, clause.end) or clause.sentence > own + _CLAUSES_BEHIND:
            return False
        is_far = n_behind > _CLAUSES_BEHIND or (
            clause.sentence > own + 1 and read.n_words(read.clauses[at.place].end, clause.start) > _LABEL
        )
        if is_far and not any(
            {"retracting", "referring"} & mark.roles and _is_named(mark)
            for mark in read.within(clause.start, clause.end)
        ):
            continue
        if read.text[clause.start : clause.end].lstrip()[:1] == "#" or read.asks(clause):
            return False
        has_name |= FORMULA in read.text[clause.start : clause.end]
        is_apposed = clause is read.clauses[at.place + 1] and clause.opening in _COMMAS
        is_first = (
            clause.sentence > last
            or clause.opening in _SEMICOLONS
            or (is_apposed and not read.n_words(at.end, read.clauses[at.place].end))
        )
        if is_subject and clause.sentence == own and says_wrong(read, clause.start, clause.end):
            return True
        if _withdraws(read, clause) or (not has_name and _refers_back(read, clause, own, is_first=is_first)):
            return True
        last = clause.sentence
    return False


def _withdraws(read: WordedText, clause: Clause) -> bool:
    """Return True if a clause takes back what stands before it: "I was wrong", "please disregard this line"."""
    marks = read.within(clause.start, clause.end)
    roles = frozenset[str]().union(*(mark.roles for mark in marks))
    if "retracting" in roles and "doubting" not in roles:
        early = (mark for mark in marks if read.n_words(clause.start, mark.start) <= _NEAR - 1)
        if any("retracting" in mark.roles for mark in early):
            return True
    if "negators" in roles or "referring" not in roles:
        return False
    verbs = [mark for mark in marks if _TAKING_BACK & mark.roles]
    objects = [mark for mark in marks if "referring" in mark.roles and not _is_article(read, mark, clause.end)]
    return any(
        verb != each
        and _are_beside(read, verb, each)
        and ("withdrawing" in verb.roles or _is_named(each) or _is_imperative(read, clause, verb))
        for verb in verbs
        for each in objects
    )


def _is_named(mark: Mark) -> bool:
    """Return True for a phrase that refers back by a noun, "this line", not by a pronoun, "it does"."""
    return mark.end - mark.start >= (_SHORTEST_NOUN if mark.place >= 0 else _SHORTEST_UNPARTED_NOUN)


def _is_imperative(read: WordedText, clause: Clause, verb: Mark) -> bool:
    """Return True for "Please ignore", not for "we ignore": at most one word, no subject, before the verb."""
    return read.n_words(clause.start, verb.start) <= 1 and not has_role(read, clause.start, verb.start, "subjects")


def _is_article(read: WordedText, mark: Mark, end: int) -> bool:
    """Return True for a word that refers back with an unlisted word behind it, its noun: "streichen das Gewicht"."""
    if mark.place < 0 or mark.place + 1 >= len(read.words) or " " in read.text[mark.start : mark.end]:
        return False
    following = read.words[mark.place + 1]
    return following.end() <= end and all(
        each.start > following.start() for each in read.within(following.start(), end)[:1]
    )


def _refers_back(read: WordedText, clause: Clause, own: int, *, is_first: bool) -> bool:
    """Return True if a clause says that what it refers to is wrong.

    Args:
        own: number of the sentence that it refers to.
        is_first: the clause is the first of its sentence.
    """
    if _is_of_another(read, clause):
        return False
    if _is_verdict(read, clause, own, is_first=is_first):
        return True
    marks = read.within(clause.start, clause.end)
    if not marks or any("doubting" in mark.roles for mark in marks):
        return False
    is_limited = "limiting" in marks[0].roles and read.n_words(clause.start, marks[0].start) == 0
    refers = any(
        "referring" in mark.roles
        and (read.n_words(clause.start, mark.start) <= _NEAR - 1 or " " in read.text[mark.start : mark.end])
        for mark in marks
    )
    following = _following(read, clause)
    is_subject = following.opening in _COMMAS and "referring" in marks[0].roles and _is_named(marks[0])
    high = following.end if is_subject else clause.end  # "was ich oben schrieb, ist falsch"
    return refers and not is_limited and says_wrong(read, clause.start, high)


def _is_of_another(read: WordedText, clause: Clause) -> bool:
    """Return True for "the other method is wrong", "it would be a mistake to use another formula"."""
    following = _following(read, clause)
    high = clause.end
    if following.opening in _COMMAS and has_role(read, following.start, following.end, "infinitive"):
        high = following.end
    marks = read.within(clause.start, high)
    faults = [mark for mark in marks if _FAULTS & mark.roles]
    for other in (mark for mark in marks if "apart" in mark.roles):
        if faults and other.end <= faults[0].start and read.n_words(other.end, faults[0].start):
            return True
        if any(_VERBS & mark.roles for mark in marks if faults and faults[0].end <= mark.start < high) and (
            other.start > faults[0].end
        ):
            return True
    return False


def _following(read: WordedText, clause: Clause) -> Clause:
    """Return the clause behind another, or that one again where none is."""
    place = bisect_right(read.clauses, clause.start, key=lambda each: each.start)
    return next(starting_from(read.clauses, place), clause)


def _is_bracketed(read: WordedText, at: _Formula) -> bool:
    """Return True for "A (ignore this line)"."""
    if at.place + 1 >= len(read.clauses):
        return False
    clause = read.clauses[at.place + 1]
    if not clause.opening or clause.opening not in "(（[" or _BETWEEN.sub("", read.text[at.end : clause.start]):
        return False
    marks = read.within(clause.start, clause.end)
    if (
        not marks
        or read.n_words(clause.start, marks[0].start) > 1
        or _LONG.search(read.text, clause.start, marks[0].end)
    ):
        return False
    is_struck = any({"retracting", "struck", "withdrawing"} & mark.roles for mark in marks)
    return is_struck or _withdraws(read, clause) or says_wrong(read, clause.start, clause.end)


def _is_labelled(read: WordedText, at: _Formula) -> bool:
    """Return True for "Not valid: A"."""
    first = read.clauses[read.firsts[read.clauses[at.place].sentence]].start
    before = read.text[first : at.start].rstrip(f" *_\n,;{FORMULA}")
    if before[-1:] not in (":", "："):
        return False
    low = first + before.rfind("\n") + 1
    if read.n_words(low, at.start) > _LABEL or has_role(read, low, at.start, "referring"):
        return False
    colon = first + len(before) - 1
    low = max(low, next(read.clauses[k].start for k in range(at.place, -1, -1) if read.clauses[k].start < colon))
    is_struck = has_role(read, low, at.start, "retracting", "struck") and not has_role(read, low, at.start, "negators")
    return is_struck or says_wrong(read, low, at.start, is_label=True)


def _is_question(read: WordedText, at: _Formula) -> bool:
    """Return True for a question whether A, which nothing affirms; "what is v at A" states A."""
    clause = read.clauses[at.place]
    answer = next(starting_from(read.clauses, at.place + 1), None)
    affirms = answer is not None and any(
        "affirming" in mark.roles and read.n_words(answer.start, mark.start) == 0
        for mark in read.within(answer.start, answer.end)
    )
    unsure = [mark for mark in at.before if read.n_words(mark.end, at.start) <= _NEAR]
    unsure += [mark for mark in at.behind if mark.place < 0]
    if any("unsure" in mark.roles for mark in unsure) and not affirms:
        return True
    if not read.asks(clause) or (answer is not None and answer.sentence == clause.sentence):
        return False
    first = read.clauses[read.firsts[clause.sentence]].start
    return not affirms and not has_role(read, first, at.start, "asking")


def _is_supposed(read: WordedText, at: _Formula) -> bool:
    """Return True for what is supposed, and leads to a contradiction in its sentence or one of the next two."""
    clause = read.clauses[at.place]
    low = clause.start
    for place in range(at.place - 1, -1, -1):
        earlier = read.clauses[place]
        if earlier.sentence != clause.sentence or read.n_words(low, at.start) > 2:
            break
        low = earlier.start
    low = min(low, at.low)
    if not (has_role(read, low, at.start, "supposing") or has_role(read, at.end, clause.end, "supposing")):
        return False
    if has_role(read, low, at.start, "refusing"):  # "suppose, contrary to fact, that A"
        return True
    near = takewhile(lambda other: other.sentence <= clause.sentence + 2, starting_from(read.clauses, at.place))
    return any(has_role(read, max(other.start, at.end), other.end, "absurd") for other in near)


_RULES = (
    _is_governed,
    _is_denied_behind,
    _is_bracketed,
    _is_labelled,
    _is_unreal,
    _is_task,
    _is_question,
    _is_taken_back,
    _is_undecided,
    _is_supposed,
    _is_disowned,
)
