"""The formulas of a solution parsed in their places, with what the place adds to them.

The place decides which part of the problem a formula answers, which chain a row continues, and which final answer a box
without a subject states. What the formulas state of the nodes is decided in `match_matrix` and `selection`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from prism.algebra.expr import Expr, Formula, symbols, symbols_of
from prism.budget import OverBudget
from prism.equivalence.statements import is_mention
from prism.errors import LatexSyntaxError
from prism.grading.answers.final_answers import FinalAnswer, is_answer, with_subjects
from prism.grading.chain_statements import members_before
from prism.grading.claims.claim import is_committed
from prism.grading.claims.conditions import conditioned_orders
from prism.grading.claims.italic_units import known_dimensions, with_italic_units
from prism.grading.claims.joints import withdrawn_orders
from prism.grading.claims.named_letters import with_tied_letters
from prism.grading.claims.other_cases import other_case_orders, stated_case_orders, states_bound
from prism.grading.claims.redefinitions import redefined_orders
from prism.grading.claims.restating_forms import read_once, without_restatements
from prism.grading.claims.ties import is_shut_out, tied_formulas
from prism.grading.claims.unsettled_letters import unsettled_orders
from prism.grading.parts.division import Part, letters_at
from prism.latex import LocatedFormula
from prism.physics.context import Context, with_defined_names
from prism.problem.answers.typed import plain_answer, typed_quantity, typed_value

_OF_NO_CASE = "it is said of a case that the problem shuts out"
_BEFORE = 60  # characters before a formula that may state it


@dataclass(frozen=True, slots=True)
class LocatedClaim:
    """One formula where it stands in the solution.

    Attributes:
        order: ordinal in the text.
        located: its place, LaTeX and kind.
        formula: as parsed; in a box without a subject, the final answer that it states; None if it could not be read.
        before: members of the chain that it continues.
        letters: parts of the problem in whose answers it stands; empty where the text is common to all.
        fault: why it could not be read, or earns nothing although it was.
        error: what the parser raised where it failed itself; at the first of several equal formulas.
        is_too_large: it could not be read because it is beyond a limit.
        is_conditioned: the formula behind it ties its letters.
        names_case: words of its clause name a case that cannot be checked.
        is_of_other_case: they say that it is another one than the problem's.
        is_in_passing: its sentence mentions it in passing, or says it of another case than the problem's.
        tied: formulas before it in its sentence, which may put values in.
    """

    order: int
    located: LocatedFormula
    formula: Formula | None = None
    before: tuple[Expr, ...] = ()
    letters: tuple[str, ...] = ()
    fault: str = ""
    error: Exception | None = None
    is_too_large: bool = False
    is_conditioned: bool = False
    names_case: bool = False
    is_of_other_case: bool = False
    is_in_passing: bool = False
    tied: tuple[Formula, ...] = ()

    @property
    def is_committed(self) -> bool:
        """True if the solution presents it as a result."""
        return is_committed(self.located)

    @property
    def is_assertion(self) -> bool:
        """True if the formula parsed and is more than the name of a quantity, such as `v`."""
        return self.formula is not None and not is_mention(self.formula)

    @property
    def key(self) -> tuple[Formula | str, bool]:
        """Key that is equal for formulas that count as one claim: formula (else LaTeX), and if it is committed."""
        return self.formula or self.located.latex, self.is_committed


def locate_claims(
    located: Sequence[LocatedFormula],
    text: str,
    parts: Sequence[Part],
    final_answers: Sequence[FinalAnswer],
    context: Context,
    known: Collection[str] = frozenset(),
    question: str = "",
    stated: Collection[Formula] = (),
    questions: Mapping[str, str] | None = None,
) -> list[LocatedClaim]:
    r"""Parse the formulas of a solution and add what their places imply: part, chain, and the subject of a bare box.

    `\boxed{5 m/s}` is read as `v = 5 m/s` if v is the final answer that it must be meant for.

    Args:
        located: in the order of the text.
        text: of the solution; the spans of formulas and parts are offsets in it.
        parts: sections of the text that answer parts of the problem.
        final_answers: of the problem, in order.
        context: of the problem.
        known: symbols of the problem and its reference; all others are the solution's own.
        question: the statement and its subquestions.
        stated: formulas of the problem and its reference.
        questions: the subquestions by their letter, and the statement by the empty one.

    Never raises on a formula: what could not be read has a `fault`, and a failure of the parser its `error`.
    """
    questions = questions or {"": question}
    parsed = _parse_with_own_letters(located, context, frozenset(known), question)
    read = [parsed.read[item.latex] for item in located]
    formulas = [each if isinstance(each, Formula) else None for each in read]
    tied = tied_formulas(located, formulas, text)
    shut_out = (order for order, each in enumerate(tied) if is_shut_out(formulas[order], each, stated))
    withdrawn = {**dict.fromkeys(shut_out, _OF_NO_CASE), **withdrawn_orders(located, formulas)}
    formulas = [None if order in withdrawn else each for order, each in enumerate(formulas)]
    before = members_before(located, formulas, text)
    letters = [_letters_within(parts, item.span) for item in located]
    unsettled = unsettled_orders(located, formulas, letters, text, known)
    located = [replace(item, in_passing=True) if k in unsettled else item for k, item in enumerate(located)]
    redefined = redefined_orders(located, formulas, letters, text, known, question)
    rivals = _not_replaced(redefined, formulas)
    formulas = [None if order in redefined else each for order, each in enumerate(formulas)]
    formulas = with_tied_letters(located, formulas, text, known, question)
    conditioned = conditioned_orders(located, formulas, text, known, stated, context)
    others = other_case_orders(located, letters, text, questions)
    cases = stated_case_orders(located, letters, text, questions)
    answered = with_subjects(final_answers, located, formulas, letters, text, context, known, question)
    answered = with_italic_units(answered, known_dimensions(context, stated), known)
    answered = [None if f is None else without_restatements(f, context) for f in answered]
    return [
        LocatedClaim(
            order, item, rivals.get(order, answered[order]), before[order], letters[order],
            _fault_of(order, read[order], withdrawn, redefined), parsed.errors.get(order),
            item.latex in parsed.too_large, order in conditioned, order in cases,
            cases.get(order, False) and not is_answer(item),
            _is_in_passing(item, answered[order], text) or (order in others and not is_answer(item)), tied[order],
        )
        for order, item in enumerate(located)
    ]  # fmt: skip


def _letters_within(parts: Sequence[Part], span: tuple[int, int]) -> tuple[str, ...]:
    """Return the letters of the part that a formula stands in; none for a box over several, which is common to them."""
    first, last = letters_at(parts, span[0]), letters_at(parts, span[1] - 1)
    return first if first == last else ()


def _not_replaced(redefined: Mapping[int, str], formulas: Sequence[Formula | None]) -> dict[int, Formula]:
    """Return what no erratum replaces, by its order: it earns nothing, and contradicts what it did before."""
    named = ((order, name, formulas[order]) for order, name in redefined.items())
    return {order: f for order, name, f in named if f and name in (*symbols_of(f), "=")}


@dataclass(frozen=True, slots=True)
class _Parsed:
    """What the parser made of the formulas of a solution.

    Attributes:
        read: by LaTeX, the formula, or why it could not be read.
        too_large: LaTeX that is beyond a limit.
        errors: by ordinal, what the parser raised where it failed itself.
    """

    read: dict[str, Formula | str] = field(default_factory=dict)
    too_large: set[str] = field(default_factory=set)
    errors: dict[int, Exception] = field(default_factory=dict)


def _parse_with_own_letters(
    located: Sequence[LocatedFormula], context: Context, known: frozenset[str], question: str
) -> _Parsed:
    """Parse the formulas of a solution; anew if they define letters that would else be read as something else."""
    parsed = _parse_all(located, context, known, question)
    own = with_defined_names(context, (each for each in parsed.read.values() if isinstance(each, Formula)), known)
    return parsed if own is context else _parse_all(located, own, known, question)


def _parse_all(located: Sequence[LocatedFormula], context: Context, known: frozenset[str], question: str) -> _Parsed:
    """Parse each distinct formula of a solution once. Never raises on a formula.

    An answer that is a number with a unit, as a gold answer may be typed, is read so if its letters cannot be symbols,
    and one that is a number of what the question counts as this number.
    """
    parsed = _Parsed()
    for order, item in enumerate(located):
        if item.latex in parsed.read:
            continue
        try:
            read = _read_answer(item.latex, context, known, question) if is_answer(item) else None
            parsed.read[item.latex] = read or read_once(item.latex, context, known)
        except LatexSyntaxError as error:
            parsed.read[item.latex] = str(error)
            if error.kind == "limit":
                parsed.too_large.add(item.latex)
        except OverBudget:
            raise
        except Exception as error:  # noqa: BLE001 - a solution never raises: the grader has failed, and reports it
            parsed.errors[order] = error
            parsed.read[item.latex] = str(error)
    return parsed


def _read_answer(latex: str, context: Context, known: frozenset[str], question: str) -> Formula | None:
    """Return what is presented as an answer as it may be typed: with words or an italic unit; None for a formula.

    Errors:
        LatexSyntaxError: as of `parse`.
    """
    typed = plain_answer(latex)
    value, quantity = typed_value(typed, question), typed_quantity(typed)
    if value is not None or (quantity is not None and typed != latex):
        return read_once(value or quantity or typed, context)
    try:
        read = read_once(typed, context)
    except LatexSyntaxError:
        if quantity is None:
            raise
        return read_once(quantity, context)
    return read_once(quantity, context) if quantity and _may_be_quantity(read, known) else read


def _may_be_quantity(read: Formula, known: frozenset[str]) -> bool:
    """Return True for a bare expression that has letters, none of them known."""
    letters = symbols(*read.members) - ({"c"} if "eV" in read.latex else set())  # the speed of light
    return read.kind == "expression" and bool(letters) and known.isdisjoint(letters)


def _fault_of(order: int, read: Formula | str, withdrawn: Mapping[int, str], redefined: Mapping[int, str]) -> str:
    """Return why a formula is no claim: it could not be read, or what stands beside it takes it back; else empty."""
    if order in redefined:
        return f"the solution gives {redefined[order]} another meaning than the problem"
    if order in withdrawn:
        return withdrawn[order]
    return "" if isinstance(read, Formula) else read


def _is_in_passing(item: LocatedFormula, f: Formula | None, text: str) -> bool:
    """Return True if the sentence of a formula mentions it in passing, and does not state it as a bound."""
    return item.in_passing and not states_bound(f, text[: item.span[0]][-_BEFORE:])


# Which claims count. ----------------------------------------------------------------------------------------------


def n_distinct(claims: Sequence[LocatedClaim]) -> int:
    """Count the distinct claims of a solution, mentions and unread formulas included."""
    return len({claim.key for claim in claims})


def latest_claims(claims: Sequence[LocatedClaim], cap: int) -> list[LocatedClaim]:
    """Return the claims that are graded: those among the last `cap` distinct formulas that assert something.

    Each is given at its first occurrence, in the order of the text.
    """
    first = {claim.key: claim for claim in reversed(claims)}
    newest = list(dict.fromkeys(claim.key for claim in reversed(claims)))[:cap]
    return sorted((first[key] for key in newest if first[key].is_assertion), key=lambda claim: claim.order)


def matrix_rows(claims: Sequence[LocatedClaim], counted: Sequence[LocatedClaim]) -> dict[int, int]:
    """Map the ordinal of each formula in the text to the position of its claim in `counted`; missing if it has none."""
    rows = {claim.key: k for k, claim in enumerate(counted)}
    return {claim.order: rows[claim.key] for claim in claims if claim.key in rows}
