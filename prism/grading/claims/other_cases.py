r"""Formulas that a solution states of another case than the problem's (semantics C.2).

"`\eta = 0.564`; without the regenerator `\eta = 0.434`" gives one answer, and compares it. Such a formula is led by a
phrase that begins its clause: "for a box", "without spin", "in the classical limit", "to first order"; behind a
semicolon or another such formula also "with both faces glued"; or it stands in brackets behind what the text compares
with: "unlike an ideal gas ($\Delta T = 0$)". One word of the phrase has to be new: what the statement
and the question of the part say themselves is the case of the problem, and where they speak of small quantities or
approximations a limit is; where an estimate is asked for, the exact value is another case. What is said of a method or
a correction ("with a corrected sign") is said of this case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from prism.algebra.expr import Formula
from prism.latex import LocatedFormula
from prism.latex.word_lists import FIRST_UNPARTED, any_word
from prism.latex.words import word_set

_LONGEST = 120  # characters before a formula that are read
_STEM = 5  # letters by which words are compared
_LIMIT = r"to (?:first|second|third|lowest|leading|next) order|in the (?:[a-z]+ ){0,2}limit"
_CASE = re.compile(
    r"(?:(?P<end>[.;()]\s+|\n\s*)|(?P<more>,?\s+(?:and|while|whereas|but)\s+|,\s+))"
    r"(?P<case>(?P<body>for (?:an?|the (?:second|third|fourth|next|other|opposite))|without)\b[^.;:,$\\=]{2,60}?"
    rf"|(?P<with>with (?:an?|both|no|two|the other))\b[^.;:,$\\=]{{2,60}}?|(?P<limit>{_LIMIT})"
    r"|(?P<exact>the (?:exact|true) (?:value|result) is))"
    r"(?:,? (?:this is|it is|we (?:have|get|find|obtain)|one (?:has|gets|finds|obtains)))?[,\s$\\(\[]*$",
    re.IGNORECASE,
)
_COMPARED = re.compile(  # `unlike an ideal gas ($\Delta T = 0$)`
    rf"{any_word('comparisons')}[^.;:,!?()\n$\\]{{1,60}}(?:,? where|[ ]?[(（])[\s$\\(]*\Z", re.IGNORECASE
)
_COMPARED_BEHIND = re.compile(rf"[$\\]?[)）][$\s]?(?=[{FIRST_UNPARTED}-\U0010ffff]){any_word('comparisons')}")
_STATES_BOUND = re.compile(
    r"\b(?:is|are|becomes?|remains?|stays?) (?:only )?[a-z]+ (?:only )?(?:for|if|when)[\s$\\(]*$", re.IGNORECASE
)
_NEXT = re.compile(r"[^.;:\n]{0,16}?(?:,|\band\b)[\s$\\(\[]*", re.IGNORECASE)  # to another quantity of the same case
_WORD = re.compile(r"[a-z]{3,}")
_SMALL_WORDS = word_set("for the and with one this that its")
_THIS_CASE = word_set(  # stems of methods and corrections
    "algeb subst help trick rearr appro expan calcu compu integ littl bit metho theor law rule formu ident more check"
    " facto sign corre right wrong mista error fix fixed mende prope inste actua real true unit units prime total of"
    " final answe resul slip typo full short brief gener fact words summa concl end"
)
_STATING = word_set(  # stems of words that lead a result, and of its subject
    "hence there thus so then now here give gives get obtai find found have has becom equal which where we it is are"
    " value energ conse momen newto using from since becau combi inser plugg putti solvi solve simpl write overa toget"
    " follo recal know known also just only same yield leads resol concl"
)
_CASE_WORD = re.compile(
    r"\b(?:for|if|when(?:ever)?|with(?:out)?|at|in|on|near|during|initially|once|under|after|before|until|first|second"
    r"|third|half|twice|doubl\w+|tripl\w+|halv\w+|starts?|beginning|limits?|limiting|cases?|special|checks?|suppose"
    r"|units?|dimensions?|example|an? [a-z]+ [a-z]+ (?:has|would|gives))\b",
    re.IGNORECASE,
)
_OTHER_CASE = re.compile(
    r"\b(?:the (?:first|second|third|other|last|upper|lower) (?:half|third|quarter|part)\b"
    r"|at (?:the (?:very )?(?:start|beginning)|first)\b|initially\b|if [^.;]{0,60}\b(?:doubled|halved|tripled|were)\b"
    r"|(?:for|at|in the limit of) (?:very )?(?:large|small|low|high|weak|strong)\b|dimension(?:s|al)?\b"
    r"|(?<!depending )(?<!depends )on (?:the |an? |another )?"
    r"(?!closer|reflection|second|balance|average|whole|contrary)[a-z]+\b"
    r"|(?:twice|half|double|(?:three|four|ten) times) (?:as|the|\w+er)\b"
    r"|an? (?:ideal|real|perfect|classical|relativistic|heavier|lighter|other|different|neighbou?ring|similar|related)"
    r" [a-z]+ (?:has|would|gives)\b)",
    re.IGNORECASE,
)
_CORRECTION = re.compile(  # or an announcement: words that state the case of the problem
    r"\b(?:correct(?:ed|ion|ing|s|ly)?|slip|mistakes?|(?:right|final|true) (?:result|answer|value|one|formula))\b",
    re.IGNORECASE,
)
_LIMITS = re.compile(  # `h \to 0`, and no arrow that leads to a result
    r"[A-Za-z0-9}]\s*(?:\\(?:to|rightarrow)(?![A-Za-z])|→)\s*(?:\d|\\infty|∞)|\\(?:gg|ll|propto|sim)(?![A-Za-z])|[≫≪∝]"
)
_FORMULAS = re.compile(r"\$[^$]*\$?|\\[A-Za-z]+|\\[()\[\]]")
_CLAUSE_END = re.compile(r"[.;!?](?=\s)|\n")
_APPROXIMATE = re.compile(
    r"\b(?:small|large|much|weak|slow|low|high|approximat\w*|order|limit\w*|estimat\w*|neg(?:lect|ligib)\w*|roughly"
    r"|nearly|expan\w*)\b|\\(?:ll|gg|approx|sim)\b",
    re.IGNORECASE,
)
_ESTIMATE = re.compile(r"\b(?:estimat|trial|rough|variation)", re.IGNORECASE)


def other_case_orders(
    located: Sequence[LocatedFormula],
    letters: Sequence[tuple[str, ...]],
    text: str,
    questions: Mapping[str, str],
) -> frozenset[int]:
    """Return the ordinals of the formulas that are said of another case than the problem's.

    Args:
        located: the formulas where they stand in the text.
        letters: of the part of each.
        text: of the solution.
        questions: the subquestions by their letter, and the statement by the empty one.
    """
    found: set[int] = set()
    end = 0
    for k, item in enumerate(located):
        start = item.span[0]
        before = text[max(end, start - _LONGEST) : max(end, start)]
        end = max(end, item.span[1])
        is_behind_one = k - 1 in found
        if _COMPARED.search(before) or _COMPARED_BEHIND.match(text, item.span[1]):
            found.add(k)
            continue
        case = _CASE.search(before)
        if case is None:
            if is_behind_one and _NEXT.fullmatch(before):
                found.add(k)
            continue
        if not (is_behind_one or (case["end"] and not case["with"]) or (case["end"] or "")[:1] == ";"):
            continue
        asked = "\n".join(questions.get(letter, "") for letter in ("", *(letters[k] or questions)))
        if _is_another(case, asked):
            found.add(k)
    return frozenset(found)


def stated_case_orders(
    located: Sequence[LocatedFormula],
    letters: Sequence[tuple[str, ...]],
    text: str,
    questions: Mapping[str, str],
) -> dict[int, bool]:
    """Map the formulas in whose clause words name a case that cannot be checked, by ordinal, to if it is another one.

    "On the moon", "in a test", "for $h = 5$ m": what is said there by fewer letters than the answer has is no other
    answer. "The first half of the fall", "if the height is doubled", "at the start" are of another case, whatever the
    letters. Arguments as of `other_case_orders`.
    """
    found: dict[int, bool] = {}
    for k, item in enumerate(located):
        start = item.span[0]
        before = text[max(0, start - _LONGEST) : start]
        clause = before[max((end.end() for end in _CLAUSE_END.finditer(before)), default=0) :]
        prose = _FORMULAS.sub(" § ", clause.rstrip("$ \n"))
        if _LIMITS.search(clause):
            found[k] = False
        if _CASE_WORD.search(prose) is None or _CORRECTION.search(prose):
            continue
        asked = "\n".join(questions.get(letter, "") for letter in ("", *(letters[k] or questions)))
        known = {word[:_STEM] for word in _WORD.findall(asked.lower())} | _THIS_CASE | _STATING
        if any(word[:_STEM] not in known and word not in _SMALL_WORDS for word in _WORD.findall(prose.lower())):
            found[k] = _OTHER_CASE.search(prose) is not None
    return found


def states_bound(f: Formula | None, before: str) -> bool:
    """Return True for an inequality that a sentence states in words: "the orbit is stable for `n < 3`".

    Args:
        f: the formula.
        before: text before it.
    """
    return f is not None and f.kind == "inequality" and _STATES_BOUND.search(before) is not None


def _is_another(case: re.Match[str], asked: str) -> bool:
    """Return True if the words before a formula are of another case than what is asked.

    Args:
        case: match of `_CASE`.
        asked: the statement and the question.
    """
    if case["exact"]:
        return _ESTIMATE.search(asked) is not None
    named = [word[:_STEM] for word in _WORD.findall(case["case"].lower()) if word not in _SMALL_WORDS]
    known = {word[:_STEM] for word in _WORD.findall(asked.lower())}
    if not _THIS_CASE.isdisjoint(named) or case["case"].rstrip().endswith(" of") or known.issuperset(named):
        return False
    return not (case["limit"] and _APPROXIMATE.search(asked))
