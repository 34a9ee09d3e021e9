"""Pages for a class in other languages: each sentence is translated, with the names in its braces, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import nodes

from prism.reports.feedback import attention, class_page, student_page, student_words
from prism.reports.feedback.wording import ENGLISH, LANGUAGES, wording_of
from prism.reports.html import rendering

FOLDER = Path(student_page.__file__).parent
OTHERS = [code for code in LANGUAGES if code != "en"]


def of_templates(function: str) -> Iterator[str]:
    """What the templates of a class say: the first or second argument of `say` and `count`."""
    environment = rendering.environment()
    assert environment.loader is not None
    for name in ("class.html.jinja", "student.html.jinja"):
        tree = environment.parse(environment.loader.get_source(environment, name)[0])
        for call in tree.find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == function:
                argument = call.args[function == "count"]
                found = [
                    each.value for each in (argument, *argument.find_all(nodes.Const)) if isinstance(each, nodes.Const)
                ]
                yield from (value for value in found if isinstance(value, str))


def of_code(function: str) -> Iterator[str]:
    """What modules of `feedback` say with a text that stands there."""
    for path in FOLDER.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for call in ast.walk(tree):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == function
                and "wording" in ast.unparse(call.func)
            ):
                argument = call.args[-1] if function == "count" else call.args[0]
                yield from (
                    each.value
                    for each in ast.walk(argument)
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                )


def sentences() -> set[str]:
    """All that is said on pages for a class."""
    doubts = (
        attention.FAILED,
        attention.NOTHING_FOUND,
        attention.TOO_LONG,
        attention.STEP_FAILED,
        attention.NOT_ALL_READ,
    )
    decided = ("{what}: {markers} has decided.", "{what}: {markers} have decided.")
    return {
        *of_templates("say"), *of_code("say"), *student_words.SENTENCES, *student_words.PLACES, *student_page.SENTENCES,
        *class_page.RULES, class_page.AS_THE_RULE, *doubts, *decided,
    }  # fmt: skip


def holes(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


@pytest.mark.parametrize("code", OTHERS)
def test_each_sentence_is_translated_and_none_is_left_over(code: str) -> None:
    wording = wording_of(code)
    assert set(wording.sentences) == sentences()
    assert set(wording.nouns) == {*of_templates("count"), *of_code("count")}
    for text, said in wording.sentences.items():
        assert holes(said) <= holes(text), text
        assert holes(said) >= holes(text) - {"nth"}, text
        assert text.endswith(".") == said.endswith("."), text


def test_english_says_what_stands_in_the_code() -> None:
    assert ENGLISH.say("{earned} of {full}", earned="3", full="4") == "3 of 4"
    assert (ENGLISH.count(1, "step"), ENGLISH.count(2, "step"), ENGLISH.points(650)) == ("1 step", "2 steps", "6.5")
