"""The codes of what `prism lint --dataset` finds: how grave each is, and what it means.

A *fault* makes a grade wrong or a row unreadable, a *warning* may, and a *note* says what a rule cannot do with a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """How grave a finding is (`fault`, `warning`, `note`), and what it means, in words."""

    kind: str
    meaning: str


CODES: Mapping[str, Code] = {
    "not-read": Code("fault", "a row that cannot be read"),
    "missing-field": Code("fault", "a field is missing"),
    "empty-field": Code("fault", "a field is empty that has to say something"),
    "wrong-type": Code("fault", "a field is of another type"),
    "unknown-field": Code("note", "a field that the published layout does not have"),
    "repeated-id": Code("fault", "an id stands twice"),
    "repeated-text": Code("warning", "a question stands twice, with the same answer"),
    "text-with-other-answer": Code("fault", "a question stands twice, with another answer"),
    "repeated-instance": Code("warning", "an instance of a template stands twice"),
    "variants-disagree": Code("fault", "the recorded answers of two variants are over 2 % apart"),
    "answers-disagree": Code("fault", "two fields record answers that are over 2 % apart"),
    "other-numbers": Code("warning", "most numbers of the question are not in its abstraction"),
    "solution-of-other-numbers": Code("note", "most numbers of the question are not in its solution"),
    "empty-variant": Code("warning", "a variant has no text or no key"),
    "answer-not-in-solution": Code("warning", "the worked solution does not state the recorded answer"),
    "answer-in-question": Code("warning", "the question states the number that is asked for"),
    "number-without-unit": Code("warning", "a number has no unit, and the question has units"),
    "power-of-ten-in-unit": Code("warning", "a power of ten stands in the unit: the number alone is wrong by it"),
    "unit-unread": Code("fault", "a unit cannot be read"),
    "unit-contradicts": Code("fault", "the question asks for a unit of another dimension"),
    "fewer-answers": Code("fault", "there are fewer answers than parts or types"),
    "flag-disagrees": Code("fault", "a flag and the number of answers disagree"),
    "unknown-type": Code("fault", "a type of answer that the data set does not define"),
    "shorter-list": Code("fault", "a list is shorter than that of the answers"),
    "points-do-not-add-up": Code("fault", "points do not add up to the total"),
    "empty-rubric": Code("note", "a rubric cell is empty: not scored"),
    "tolerance-unread": Code("fault", "a tolerance cannot be read"),
    "wrong-language": Code("warning", "a text is not in the language that its file or row names"),
    "both-languages": Code("note", "a number stands in both languages"),
    "near-topic": Code("warning", "a topic is another spelling of one that more rows have"),
    "constant-key": Code("fault", "the key is the same number for all seeds of a template"),
    "no-answer-tag": Code("fault", "no `**Answer:**` in the solution"),
    "several-numbers": Code("warning", "several numbers after the tag, of which a reader takes the first"),
    "thousands-comma": Code("warning", "a comma of thousands, at which some readers stop"),
    "step-without-number": Code("note", "a step without a number verifies nothing"),
    "answer-without-subject": Code("note", "the answer does not say what it is of"),
    "no-box": Code("warning", "an answer stands in no box"),
    "byte-order-mark": Code("warning", "a text begins with a byte order mark"),
    "no-question": Code("fault", "a row has no question"),
    "no-answer": Code("fault", "a row has no answer"),
    "answer-in-words": Code("note", "an answer is only words, which no rule can compare"),
    "answer-unread": Code("fault", "an answer does not parse"),
    "answer-interval": Code("note", "an answer is an interval of accepted values"),
    "several-choices": Code("note", "an answer is several choices at once"),
    "proof": Code("note", "a row asks for a proof"),
    "no-formula": Code("fault", "a row has no formula that can be a node"),
    "faulty": Code("fault", "the problem that a row makes has a fault"),
}
