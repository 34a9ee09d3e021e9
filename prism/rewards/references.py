r"""What the reference of a row may be: a problem in any shape, or a gold answer as data sets have it, in any mixture.

A text is looked up in this order: an id of the problem set; JSON; the path of a file with one problem; without a set
the id of a shipped problem; what is written like an id, or is prose; else it is a gold answer. Written like an id are
words joined by an underscore and one with a number behind it (`free_fall`, `train-17`), and beside a problem set any
word of four letters or more, and a number where its ids are numbers; prose has more than `MOST_WORDS` words. An id that
is misspelt and a column of questions must be faults, and not gold answers that nobody meets. Who means such a word
writes `{"answer": "stable"}`.

A gold answer is a problem of one final node (`prism.problem.answers`), so that every scoring that pays for nodes pays
for the answer; the answer of a solution is found as `prism.verify` finds it, also on the last line.

>>> [gold_problem(each) is not None for each in ("5", 9.8, "D", r"\frac12 m v^2", ["2 s", "3 m"], "free_fall", None)]
[True, True, True, True, True, False, False]
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from numbers import Real

from prism.algebra.expr import Formula
from prism.errors import PrismError
from prism.grading.verifying import gold_texts
from prism.inputs import nearest_name, parse_json
from prism.problem.answers import ANSWER
from prism.problem.collection import ENDINGS
from prism.problem.source import PlainProblem, read_source, shipped_file

MOST_WORDS = 7  # of a gold answer; formulas and the names of units are none
_HINT = f'; a gold answer in such words stands in {{"{ANSWER}": "..."}}'
_JSON = re.compile(r'\{\s*(?:"|\}|\Z)|\[\s*(?:["{\]]|\Z)')  # unlike `{1, 2}` and `[0, 1)`
_NAME = re.compile(r"[A-Za-z]\w*(?:[-.:/]\w+)*", re.ASCII)
_FUNCTION = r"(?:(?:arc|a)?(?:sin|cos|tan|cot)h?|log|exp|sqrt)"
_NUMBERED = rf"(?<![A-Za-z])(?!{_FUNCTION}[-_:/ ]?\d)[A-Za-z]{{3,}}[-_:/]?\d"
_JOINED = re.compile(rf"[A-Za-z]{{2}}[A-Za-z0-9]*[_:][A-Za-z0-9]*[A-Za-z]{{2}}|{_NUMBERED}", re.ASCII)
_ROW = re.compile(rf"(?!{_FUNCTION} )[A-Za-z]{{3,}} \d+", re.ASCII)  # `question 17`
_PROSE_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}(?![A-Za-z])")
_MATHEMATICS = re.compile(r"\$[^$]*\$|\\(?:text|mathrm|unit)\s*\{[^{}]*\}")
_WORD = re.compile(r"(?!(?:true|false)\Z)[A-Za-z]{4,}(?:-[A-Za-z]+)*", re.IGNORECASE)
_EMPTY_CELLS = frozenset(("", "nan", "none", "null", "n/a", "<na>"))
_LEAST_NEAR = 3  # characters of what may be a misspelt id; `D` is near to `D1`


def is_missing(reference: object) -> bool:
    """Return True if a row has no reference: null, a blank text, or NaN, as a table has it in an empty cell.

    So it is with what a table makes of an empty cell as a text: `nan`, `None`, `null`, `N/A`.
    """
    if isinstance(reference, str):
        return reference.strip().lower() in _EMPTY_CELLS
    return reference is None or (isinstance(reference, float) and reference != reference)


def gold_problem(reference: object, ids: Collection[str] = ()) -> PlainProblem | None:
    """Return the problem of a plain gold answer, or of a list of them; None for any other reference.

    Args:
        reference: a text, a number, a parsed formula, or a list of these, of which all have to be given.
        ids: of the problem set.
    """
    golds = _listed_golds(reference)
    if golds is None or not all(_is_gold(each, ids) for each in golds):
        return None
    try:
        texts = gold_texts(golds)
    except PrismError:
        return None
    return replace(read_source({ANSWER: list(texts) if len(texts) > 1 else texts[0]}, []), name="gold")


def hint_of(reference: object, ids: Collection[str] = ()) -> str:
    """Return how to write the gold answer that a text may have been meant for, if it is read as none; else empty."""
    if not isinstance(reference, str) or is_missing(reference) or _is_of_file(reference.strip()):
        return ""
    return _HINT if gold_problem(reference, ids) is None else ""


def _is_of_file(bare: str) -> bool:
    """Return True for JSON, and for the path of a file with one problem."""
    return _JSON.match(bare) is not None or bare.lower().endswith(ENDINGS)


def is_like_an_id(text: str, ids: Collection[str] = ()) -> bool:
    """Return True if a text that is no id of a set is written like one."""
    bare = text.strip()
    if bare.isdecimal():
        return next(iter(ids), "").isdecimal()
    if _ROW.fullmatch(bare):
        return True
    if not _NAME.fullmatch(bare):
        return False
    if _JOINED.search(bare):
        return True
    if not ids or _WORD.fullmatch(bare):
        return bool(ids)
    return len(bare) >= _LEAST_NEAR and bool(nearest_name(bare, ids))


def _listed_golds(reference: object) -> Sequence[object] | None:
    """Return what may be the gold answers of a row: one, or those of a list or of the JSON of a list of texts.

    None for a text that begins as such JSON and cannot be read or lists other things than texts.
    """
    if isinstance(reference, str) and reference.lstrip()[:1] == "[" and _JSON.match(reference.strip()):
        try:
            reference = parse_json(reference)
        except PrismError:
            return None
        return reference if isinstance(reference, list) and all(isinstance(each, str) for each in reference) else None
    return list(reference) if isinstance(reference, list | tuple) else [reference]


def _is_gold(reference: object, ids: Collection[str]) -> bool:
    """Return True if one reference is a gold answer, and no problem, no path and nothing that is written like an id."""
    if isinstance(reference, bool) or is_missing(reference):
        return False
    if not isinstance(reference, str):
        return isinstance(reference, Formula) or (isinstance(reference, Real) and str(reference) not in ids)
    bare = reference.strip()
    if reference in ids or _is_of_file(bare) or len(_PROSE_WORD.findall(_MATHEMATICS.sub(" ", bare))) > MOST_WORDS:
        return False
    return not is_like_an_id(bare, ids) and (bool(ids) or not _NAME.fullmatch(bare) or shipped_file(bare) is None)
