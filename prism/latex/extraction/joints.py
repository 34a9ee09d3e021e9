r"""How a formula is joined to the one before it: by an arrow, a condition, a consequence, or as an alternative.

Decided from what stands between two neighbouring formulas, in a block or over dollars and sentences: `F \Rightarrow G`,
"$F$ if $G$", "$F$, so $G$", "$F$. Otherwise $G$". What a joint does to the two is decided where their meaning is known
(`prism.grading.claims.joints`, semantics C.6); only an arrow that is struck out is settled here: what it leads to is
not read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from prism.latex.prose import sentence_start
from prism.latex.word_lists import any_word

JOINED_WITHIN = 120  # characters between two formulas that may join them
_CHOICE_REACH = 200  # characters before a formula in which its sentence may offer a choice


class Joint(StrEnum):
    """How a formula is joined to the one before it."""

    NONE = ""
    ARROW = "arrow"  # `F \Rightarrow G`, "F implies G"
    BOTH = "both"  # `F \iff G`, `F \Leftarrow G`
    CONDITION = "condition"  # "F if G", "F where G", "F because G"
    UNLESS = "unless"
    SO = "so"  # "F, hence G", "F. Then G"
    AND = "and"  # "F and G", `F,\ G`
    OR = "or"  # "F or G", "F if it rains, otherwise G"
    LISTED = "listed"  # below each other, with nothing but bullets or numbers before them
    STRUCK = "struck"  # `F \not\Rightarrow G`

    __repr__ = str.__repr__


_ONE_WAY = r"\\(?:Rightarrow|Longrightarrow|implies|therefore|rightarrow|to|longrightarrow|leadsto)(?![A-Za-z])|[⇒⟹∴→⟶]"
_BOTH_WAYS = (
    r"\\(?:iff|Leftrightarrow|Longleftrightarrow|Leftarrow|Longleftarrow|impliedby|because)(?![A-Za-z])|[⇔⟺⇐⟸∵]|<=+>"
)
_STRUCK = re.compile(
    rf"\\not\s*\{{?\s*(?:{_ONE_WAY}|{_BOTH_WAYS})|\\n(?:Rightarrow|Leftrightarrow|rightarrow|Leftarrow)(?![A-Za-z])"
    r"|\\cancel\s*\{\s*\\(?:Rightarrow|implies|iff|to)\s*\}|[⇏⇎↛]|\\nvdash(?![A-Za-z])"
)
_FURNITURE = re.compile(
    r"\\(?:begin|end)\s*\{[A-Za-z]+\*?\}|\\(?:text|mathrm|textbf|textit|mbox|boxed)\s*(?=\{)|\\[()\[\],;:!> ]|\\\\"
    r"|\\q?quad(?![A-Za-z])|[$&{}~*_\s]+"
)
_IMPLIES = "(?:which |this |would )?impl(?:ies|y|ying)|or (?:rather|better)(?: yet)?,?"  # both assert the later one
_WE_HAVE = r"(?: (?:that|then|we (?:get|have|find|obtain)|it is))*,?"
_HOLDS = "(?:holds?|applies|is (?:true|valid|right|correct))"
_CONDITIONS = (
    r"if|when|where|iff|if and only if|whenever|(?:would )?requires?|(?:provided|given)(?: that)?"
    rf"|assuming|as long as|with|for|because|since|as|is equivalent to|{any_word('conditions', without='english')}"
)
_CONSEQUENCES = (
    r"so|hence|thus|therefore|then|consequently|whence|it follows|(?:we|one|you) (?:gets?|finds?|obtains?|have|has)"
    r"|(?:which |this |that )?(?:gives|giving|yields|yielding|means|leads to)|i\.e\."
)
_SORTS = tuple(
    (joint, re.compile(pattern, re.IGNORECASE))
    for joint, pattern in (
        (Joint.ARROW, rf",? ?(?:{_ONE_WAY}|[=-]{{1,2}}>|{_IMPLIES}){_WE_HAVE}"),
        (Joint.BOTH, rf",? ?(?:{_BOTH_WAYS}){_WE_HAVE}"),
        (Joint.CONDITION, rf",? ?\(?(?:but )?(?:{_HOLDS} )?(?:only )?(?:{_CONDITIONS}){_WE_HAVE}"),
        (Joint.UNLESS, r",? ?unless"),
        (Joint.SO, rf"[,.;:]?(?: and| but)? ?(?:{_CONSEQUENCES}){_WE_HAVE}|:"),
        (Joint.AND, rf",|,? ?(?:and|{any_word('connectives')})|\\land|\\wedge|∧|"),
    )
)
_OR = re.compile(
    rf"\bor\b(?! (?:rather|better|actually|no)\b)|^ ?/ ?$|{any_word('alternatives')}"
    rf"|^[^.!?:。！？：]*(?!only|may\b){any_word('claims.doubting')}[^.!?:。！？：]*$",
    re.IGNORECASE,
)
_STATES = re.compile(r"[=<>≈§]|\\(?!(?:lor|vee)\b)|\d")
_UNDER_A_CONDITION = re.compile(
    r"[\s$)\]\\]{0,4}(?:if|when(?:ever)?|in case|provided|as long as) (?=[a-z])", re.IGNORECASE
)
_ELSE = re.compile(  # behind a formula: a condition that only denies the one before, "when it does not"
    r"[\s$)\]\\]{0,4},? ?(?:if|when(?:ever)?|in case|provided|as long as) (?:not\b|(?:it|they|this|that|he|she|we|you) "
    r"(?:(?:is|does|do|are|was|did|has|have|can|will)(?: not|n['’]t)|cannot)(?=[ ]?[.,;!\n)]|$))",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"\b(?:either|depending on|one of|any of|(?:choos(?:e|ing)|chosen?|decid(?:e|ing)|pick(?:ing)?) between)\b",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[.,;| ]*(?:[-+•]|\(?\w{1,2}(?:[.)]| ?\|)[ |]*)?")
_NOUN = (  # of an option; what one does in turn, and what is asked, are none
    r"(?!(?i:step|part|case|question|problem|exercise|attempt|try|trial|round|iteration|stage|draft|order|line|guess"
    r"|approximation|term|equation|component|derivative|integral|mode|branch|region|body|law"
    r"|versuch|schritt|teil|fall|aufgabe|essai|étape)\b)[^\W\d_]{3,15}"
)
_OPTION = re.compile(  # behind an option A the next: `(A) F (B) G`, `A. F B. G`, "Student A: F. Student B: G"
    rf"[.,;]? ?(?:\(?(?P<letter>[B-J])[.)]|#*-? ?(?P<noun>{_NOUN}) (?P<mark>[B-J2-9]) ?[.:]"
    rf"|#*-? ?(?P<nth>[Ss]econd|[Tt]hird|[Ff]ourth|[Ff]ifth) (?P<kind>{_NOUN}) ?[.:])"
)
_EARLIER = {"second": "first", "third": "second", "fourth": "third", "fifth": "fourth"}
_REACH_OF_LABEL = 40  # characters


def joint_between(text: str, start: int, end: int, *, before: int, behind: int) -> Joint:
    """Return how the formula that begins at `end` is joined to the one that ends at `start`.

    Args:
        text: the solution.
        start: end of the formula before; for the first formula, of what stands before it.
        end: start of the formula.
        before: start of the formula before; the sentence before it may offer a choice, "either".
        behind: end of the formula; a condition behind it may deny one behind the other, "if not".
    """
    if end - start > JOINED_WITHIN:
        return Joint.STRUCK if _STRUCK.search(text, end - JOINED_WITHIN, end) else Joint.NONE
    between = text[start:end]
    if _STRUCK.search(between):
        return Joint.STRUCK
    shown = _FURNITURE.sub(" ", between).strip()
    found = next((joint for joint, pattern in _SORTS if pattern.fullmatch(shown)), Joint.NONE)
    if "\n" in between and (found == Joint.NONE or not shown) and _BULLET.fullmatch(shown):
        found = Joint.LISTED
    if found == Joint.NONE and not _STATES.search(shown):
        is_else = _UNDER_A_CONDITION.match(between) is not None and _ELSE.match(text, behind) is not None
        if is_else or _OR.search(shown):
            return Joint.OR
    if found in (Joint.AND, Joint.NONE, Joint.LISTED) and (
        _offers_choice(text, before, between) or _is_option(text, before, shown)
    ):
        return Joint.OR
    return found


def _offers_choice(text: str, before: int, between: str) -> bool:
    """Return True if the sentence of a formula offers a choice before it, and goes on to the next: "either A, B"."""
    first = sentence_start(text, before, low=max(0, before - _CHOICE_REACH))
    is_one_sentence = not re.search(r"[.;!?]\s|\n\s*\n", between)
    return is_one_sentence and _CHOICE.search(text, first, before) is not None


def _is_option(text: str, before: int, shown: str) -> bool:
    """Return True if two formulas stand behind neighbouring letters of options: `(A) F (B) G`."""
    label = _OPTION.fullmatch(shown)
    if label is None:
        return False
    last = _FURNITURE.sub(" ", text[max(0, before - _REACH_OF_LABEL) : before]).rstrip()
    mark = label["letter"] or label["mark"]
    first = f"{_EARLIER[label['nth'].lower()]} {label['kind']}" if label["nth"] else chr(ord(mark) - 1)
    named = f"{label['noun']} {first}" if label["noun"] else first
    return re.search(rf"\b{re.escape(named)} ?[.):]\Z", last, re.IGNORECASE if label["nth"] else 0) is not None


def joints_of(text: str, spans: Sequence[tuple[int, int]]) -> list[Joint]:
    """Return how each formula is joined to the one before it.

    Args:
        text: the solution.
        spans: of its formulas, in order; a box inside a chain is joined to nothing.
    """
    found = []
    last = (0, 0)
    for start, end in spans:
        if start < last[1]:
            found.append(Joint.NONE)
            continue
        joint = joint_between(text, last[1], start, before=last[0], behind=end)
        found.append(joint if last[1] or joint == Joint.STRUCK else Joint.NONE)
        last = start, end
    return found
