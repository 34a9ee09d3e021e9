r"""The text that a model is given for a problem: what the problem says, and how the solution is to be written.

A prompt is made of the statement, the given values, the figures and the parts, and nothing else of the problem file: no
node, no accepted form, no alternative, definition or worked solution is ever looked at. So a prompt cannot give away
an answer that the text itself does not, and two files that differ in their reference only have the same prompt.

The format is asked for in one of four styles, whose words stand in `prompt_formats.txt.jinja` and nowhere else:

- `prism`: what a grade reads best: one equation a step, parts headed by their letters, final answers boxed with the
  asked symbol and its unit.
- `engtrace`: five headings, numbered steps and an answer line (the response format of EngTrace).
- `engjudge`: eight stages between tags (the response format of EngVQA's EngJudge).
- `prism-physics`: each key step as a formula between `$$`, each definition of a symbol between `$` (what PRISM-Physics,
  arXiv 2510.03185, E.1 asks for).

>>> problem = {"id": "f", "context": "A mass $m$ feels the force $F$. Find its acceleration $a$.", "grading_standard":
...            [{"index": 1, "formula": "a = F/m", "dependency": [], "is_final_answer": True}]}
>>> print(prompt(problem).splitlines()[2])
A mass $m$ feels the force $F$. Find its acceleration $a$.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from prism.equivalence.facts import numeric_of
from prism.equivalence.numbers.stated import StatedNumber
from prism.errors import LatexSyntaxError, PrismError, noted, raise_faults
from prism.inputs import did_you_mean, shown
from prism.latex import extract
from prism.physics.context import given_values, parse
from prism.problem.answers.numbers import in_unit_of
from prism.problem.collection import ProblemSet, load_problems, problems_by_id
from prism.problem.images import ProblemImage, image_content, image_path
from prism.problem.schema import HoldsProblem, Problem, ProblemSource, Subquestion, load_problem
from prism.problem.source import PlainProblem
from prism.resources import meanings

if TYPE_CHECKING:
    from jinja2 import Template

Row = TypeVar("Row")

STAGES: Mapping[str, str] = meanings("problem.stages")
"""The stages of EngJudge in order, and what a solver writes in each (arXiv 2606.10833)."""

_FORMS = {
    "algebraic": "algebraic, in the symbols of the problem",
    "numerical": "numerical, with its unit if it has one",
    "text-based": "in words",
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is given for a problem.

    Attributes:
        problem_id: of the problem.
        style: one of `STYLES`.
        part: letter of the only part that is asked; empty for all of them.
        text: the prompt.
        images: the figures that go with it, in the order in which the text counts them.
    """

    problem_id: str
    style: str
    part: str
    text: str
    images: tuple[ProblemImage, ...]

    def messages(self) -> list[dict[str, Any]]:
        """Return the prompt as chat messages: one of the user, with its images as `data:` URLs before the text.

        Errors:
            PrismError: all images that cannot be read.
        """
        if not self.images:
            return [{"role": "user", "content": self.text}]
        urls = _of_each(self.images, lambda image: image_content(image).data_url)
        shown_first = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        return [{"role": "user", "content": [*shown_first, {"type": "text", "text": self.text}]}]

    def image_paths(self) -> list[str]:
        """Return the paths of the images, as they follow from that of the problem file.

        Errors:
            PrismError: all images that are not there.
        """
        return _of_each(self.images, lambda image: image_path(image).as_posix())

    def to_row(self) -> dict[str, Any]:
        """Return the row of a data set: `problem_id`, `prompt`, and the paths of its `images`; errors as of those."""
        return {"problem_id": self.problem_id, "prompt": self.text, "images": self.image_paths()}

    def to_dict(self) -> dict[str, Any]:
        """Return the row with `style`, `part` and the chat `messages`; errors as of those."""
        return {**self.to_row(), "style": self.style, "part": self.part, "messages": self.messages()}


def prompt(problem: ProblemSource, style: str = "prism", *, part: str = "") -> str:
    """Return the text that a model is given for a problem, with the answer format that the style asks for.

    It holds what the problem says and never its reference; images are named by their captions (`prompt_messages` has
    the images themselves).

    Args:
        problem: the id of a shipped one, a path, a dictionary, a JSON string, or a loaded problem.
        style: `prism`, `engtrace`, `engjudge` or `prism-physics`.
        part: letter of a part: only this one is asked, and those before it are told.

    Errors:
        PrismError: an unknown style or part.
        DataFileError: a problem that cannot be loaded.
    """
    return make_prompt(problem, style, part=part).text


def prompt_messages(problem: ProblemSource, style: str = "prism", *, part: str = "") -> list[dict[str, Any]]:
    """Return the prompt of a problem as chat messages (`role`, `content`), with its images as `data:` URLs.

    Args:
        problem, style, part: as of `prompt`.

    Errors:
        PrismError: an unknown style or part; all images that cannot be read.
        DataFileError: a problem that cannot be loaded.
    """
    return make_prompt(problem, style, part=part).messages()


def make_prompt(problem: ProblemSource, style: str = "prism", *, part: str = "") -> Prompt:
    """Return the prompt of a problem; arguments and errors as of `prompt`."""
    checked_style(style)
    loaded = _loaded(problem)
    letters = [each.letter for each in loaded.subquestions if each.letter]
    if part and part not in letters:
        there = f"the parts are {', '.join(letters)}" if letters else "the problem has no parts"
        raise PrismError(f"part: problem {loaded.id} has no part {shown(part)}; {there}")
    last = letters.index(part) if part else len(letters)
    asked = tuple(each for each in loaded.subquestions if not part or each.letter == part)
    earlier = tuple(each for each in loaded.subquestions if part and each.letter in letters[:last])
    is_worded = any(each.final_answer_form == "text-based" for each in asked)
    has_parts = any(each.letter for each in asked)
    how = _formats().render(style=style, has_parts=has_parts, is_worded=is_worded, stages=STAGES).strip("\n")
    text = "\n".join([_TASK, "", *_problem_lines(loaded, earlier, asked), "", how])
    return Prompt(loaded.id, style, part, text, loaded.images)


def question_text(problem: ProblemSource) -> str:
    """Return what a problem says, all parts of it, without a word on how the solution is to be written.

    Errors:
        DataFileError: a problem that cannot be loaded.
    """
    loaded = _loaded(problem)
    return "\n".join(_problem_lines(loaded, (), loaded.subquestions)).strip()


def make_prompts(problems: ProblemSet | Mapping[str, ProblemSource], style: str = "prism") -> dict[str, Prompt]:
    """Return the prompt of each problem of a set by the id that the set gives it, in the order of the set.

    Errors:
        PrismError: an unknown style, or all faults of the set at once.
    """
    checked_style(style)
    return {name: make_prompt(problem, style) for name, problem in problems_by_id(problems, load_problems).items()}


def rows_of(prompts: Iterable[Prompt], row: Callable[[Prompt], Row]) -> list[Row]:
    """Return a row of each prompt, as a data set or a door wants it.

    Args:
        prompts: of a set.
        row: makes the row of a prompt, such as `Prompt.to_row`.

    Errors:
        PrismError: all images of all prompts that are not there, or cannot be read, each with the id of its problem.
    """
    found: list[Row] = []
    faults: list[str] = []
    for each in prompts:
        try:
            found.append(row(each))
        except PrismError as error:
            faults += [f"{each.problem_id}: {fault}" for fault in str(error).splitlines()]
    raise_faults(faults)
    return found


def checked_style(style: str) -> str:
    """Return a style; a PrismError for one that is none of `STYLES`."""
    if style not in STYLES:
        names = ", ".join(STYLES)
        raise PrismError(f"style: {shown(style)} is unknown; the styles are {names}{did_you_mean(str(style), STYLES)}")
    return style


# What the problem says. -----------------------------------------------------------------------------------------

_TASK = "Solve the problem below, step by step."


def _problem_lines(problem: Problem, earlier: tuple[Subquestion, ...], asked: tuple[Subquestion, ...]) -> list[str]:
    """Return the lines of what the problem says: statement, values of its table, captions, parts and answer forms."""
    lines = [problem.statement.strip()]
    if values := _values_beside_text(problem):
        lines += ["", "Given values:", *(f"- ${name}$ = {text}" for name, text in values)]
    if problem.images:
        captions = (f": {image.caption}" if image.caption else "" for image in problem.images)
        lines += ["", *(f"Figure {place}{caption}" for place, caption in enumerate(captions, start=1))]
    if earlier:
        lines += ["", "The parts before it, which are not asked here:", *map(_question, earlier)]
    for each in asked:
        answer = _answer_note(each)
        asking = (_question(each), f"Answer format: {answer}." if answer else "")
        lines += ["", *filter(None, asking)] if any(asking) else []
    return lines


def _values_beside_text(problem: Problem) -> list[tuple[str, str]]:
    """Return name and value of each given of the problem file that no formula of its text states as it is."""
    read = {each.name: each.text for each in problem.given.statement.givens}
    stated = list(_stated_values(problem))
    return [
        (name, text)
        for name, text in problem.context.givens.items()
        if read.get(name) != text
        and not any(name == other and _is_value(problem, name, number) for other, number in stated)
    ]


def _stated_values(problem: Problem) -> Iterator[tuple[str, StatedNumber]]:
    """Yield symbol and number of each formula `m = 2.00 kg` of a problem's text."""
    for text in (problem.statement, *(part.text for part in problem.subquestions)):
        for located in extract(text):
            try:
                found = numeric_of(parse(located.latex, context=problem.context))
            except LatexSyntaxError:
                continue  # a warning of the load
            if found is not None and found.subject.op == "sym":
                yield found.subject.name, found.number


def _is_value(problem: Problem, name: str, number: StatedNumber) -> bool:
    """Return True if a stated number is the given value of a symbol, in whichever unit."""
    quantity = given_values(problem.context)[name].quantity
    return number.dimension == quantity.dimension and math.isclose(
        in_unit_of(float(quantity.value), number), float(number.value), rel_tol=1e-9
    )


def _question(part: Subquestion) -> str:
    """Return a part as `(a) Find ...`; its letter stands once, where the text of the part begins with it too."""
    text = part.text.strip()
    if not part.letter:
        return text
    text = re.sub(rf"^\(?{re.escape(part.letter)}[).]\s+", "", text)
    return f"({part.letter}) {text}".rstrip()


def _answer_note(part: Subquestion) -> str:
    """Return how the answer of a part is to be given: form, significant figures, the author's instructions."""
    form = _FORMS.get(part.final_answer_form, "")
    figures = part.significant_figures
    count = "" if figures is None else f"{figures} significant figure{'' if figures == 1 else 's'}"
    notes = (form, count, part.final_answer_instructions.strip().rstrip("."))
    return "; ".join(note for note in notes if note)


# How the solution is to be written. -----------------------------------------------------------------------------

STYLES = ("prism", "engtrace", "engjudge", "prism-physics")


@cache
def _formats() -> Template:
    """Return the template of the words about how a solution is to be written, in all styles."""
    from jinja2 import Environment

    text = Path(__file__).with_name("prompt_formats.txt.jinja").read_text("utf-8")
    return Environment(trim_blocks=True, lstrip_blocks=True).from_string(text)  # noqa: S701 - plain text, and no markup


"""What writes the answer format of each style: are the parts lettered, is an answer in words asked for -> lines."""


# Problems and images. -------------------------------------------------------------------------------------------


def _loaded(problem: ProblemSource) -> Problem:
    """Return a problem as loaded, from whatever names one."""
    if isinstance(problem, HoldsProblem):
        return problem.problem
    if isinstance(problem, Problem):
        return problem
    return load_problem(problem if isinstance(problem, str | Mapping | PlainProblem) else Path(problem))


def _of_each(images: tuple[ProblemImage, ...], read: Callable[[ProblemImage], str]) -> list[str]:
    """Return what is read of each image; raise one PrismError with the faults of all that cannot be."""
    found: list[str] = []
    faults: list[str] = []
    for image in images:
        with noted(faults):
            found.append(read(image))
    raise_faults(faults)
    return found
