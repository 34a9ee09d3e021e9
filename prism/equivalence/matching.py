"""Matching: does a claim say what a reference says, with all that the problem knows (semantics O.0 to O.9, N.2 to N.4).

A claim states several things, and a reference may require several. Each pair of statements is compared as it stands,
then attempt by attempt with more of the problem substituted, and the verdict says what was used. A reference that is a
number is no equation to be satisfied: its number has to be stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise

from prism.algebra.alternatives import has_several_values, signed_branches
from prism.algebra.expr import (
    EQUALITIES,
    Expr,
    Formula,
    canonical,
    formula,
    plain_parts,
    substituted,
    symbol,
    symbols,
    symbols_of,
    traits_of,
    walk,
)
from prism.algebra.symbols import symbol_of
from prism.budget import PAIR, most_of_pair, share
from prism.equivalence.added_conditions import added_condition
from prism.equivalence.common_solutions import compare_common_solutions
from prism.equivalence.cut_ranges import are_cut_alike
from prism.equivalence.dispatch import compare
from prism.equivalence.facts import both_in_base_units, facts_of, in_base_units, numeric_of
from prism.equivalence.features import Features, claimed_number, features_of, is_tautology
from prism.equivalence.interpretation import (
    are_regions,
    compare_regions,
    decide_by_interpretation,
    review_by_courses,
    review_by_membership,
)
from prism.equivalence.missing_letters import differ_in_letters
from prism.equivalence.notation.angles import in_degrees
from prism.equivalence.notation.constant_readings import EULER_READING, with_euler
from prism.equivalence.notation.possible_functions import with_functions
from prism.equivalence.numbers.comparison import NumberSpec, compare_numbers
from prism.equivalence.numbers.known_values import closed_form_number, evaluate_with_units, implied_number
from prism.equivalence.numbers.stated import Numeric, StatedNumber, stated_number
from prism.equivalence.plan import plan_attempts
from prism.equivalence.points.screens import refute
from prism.equivalence.running_indices import with_indices_alike, with_one_running_index, with_transposes_alike
from prism.equivalence.several_values import quantity_of_all, with_one_name
from prism.equivalence.statements import Statement, definitions_of_own_letters, is_turned_range, statements_of
from prism.equivalence.substitutions import Attempt, expand_definitions, sensitivity_checks
from prism.equivalence.verdict import OTHER_KIND, RANK, Stage, Status, Verdict
from prism.errors import LatexSyntaxError
from prism.inputs import require_text
from prism.latex import typed_as_latex
from prism.physics.context import Context, Declaration, context_of, parse, with_written_names

MACHINE_PRECISION = 1e-10  # relative uncertainty of a decimal that a machine has written out
MOST_LISTED = 4  # members of a chain of which a claim may list other links: each pair of them is a comparison
_CONTRADICTION = Fraction(5, 100)  # relative difference of two members of a chain that contradict (semantics C.1)
_UNFINISHED_OPS = frozenset(("sym", "integral", "sum", "product", "limit", "derivative", "partial", "at"))
_ORDERS = ("O", r"\mathcal{O}")  # names of what is left out of a series
_FIXED_KINDS = frozenset(("equation", "inequality", "expression"))  # of formulas, which no substitution changes
_SERIES = frozenset(("sum", "product"))
_INDICES = ("i", "j", "k", r"\alpha")  # of a letter that stands for one of several
_MANY_TO_ONE = frozenset(("sin", "cos", "tan", "cot", "sec", "csc", "cosh"))
_NO_SPEC = NumberSpec()
_NONE = None, None
_TOO_LARGE = Verdict(Status.UNDECIDED, "too_large", detail="more operations than one pair of formulas may cost")


def equivalent(a: Formula | str, b: Formula | str, *, context: Context | Mapping[str, object] | None = None) -> Verdict:
    r"""Decide if two formulas say the same thing.

    Points are drawn on the zero set of each formula and tested on the other. Agreement at ten points from each
    side is strong evidence, not proof; one disagreement is proof, and is returned as a witness.

    Args:
        a, b: reference and claim: formulas, or LaTeX in any form that `parse` reads. The decision is symmetric but
            for bare expressions, chains and stated numbers: a chain as the claim states several formulas, one must
            agree and no link may be false; a chain as the reference needs all its links; a measured number as the
            reference has to be stated, within the tolerance of its figures.
        context: symbols, domains, constants, definitions and values of the problem, as `Context` or as the mapping
            that `Context.from_dict` takes; by default every symbol is a positive real number.

    Returns:
        Verdict. `different` carries a witness where there is one; `undecided` a reason such as `too_few_points`,
        `unsupported`, `too_large`, `parse_error`. Never an exception for LaTeX.

    Errors:
        DataFileError: faults of a mapping as context.
        PrismError: what is neither text nor a formula.

    Source: PRISM-Physics (arXiv 2510.03185), Algorithm 1. Twin: tests/reference.py::equivalent

    >>> equivalent(r"2 h = g t^2", r"t = \sqrt{2h/g}").status
    'equivalent'
    >>> equivalent(r"E = \frac12 m v^2", r"E = m v^2").reason
    'witness'
    >>> equivalent("x^2 = 4", r"x = \pm 2", context={"symbols": {"x": "real"}}).status
    'equivalent'
    """
    for name, given in (("a", a), ("b", b)):
        if not isinstance(given, Formula):
            require_text(given, name, "LaTeX as text, or a Formula")
    context = context_of(context)
    a, b = (typed_as_latex(each, context.declared) if isinstance(each, str) else each for each in (a, b))
    with share(PAIR) as account:
        try:
            reference, claim = _read_with_names(a, b, context)
        except LatexSyntaxError as error:
            return Verdict(Status.UNDECIDED, "parse_error", detail=str(error), cost=account.spent)
        verdict = match_within_budget(reference, claim, context)
        if verdict.status == Status.EQUIVALENT and (false := _false_link(reference, claim, context)) is not None:
            verdict = Verdict(Status.DIFFERENT, "condition", detail=f"its chain says {false}, which does not follow")
    return replace(_TOO_LARGE if account.is_exhausted else verdict, cost=account.spent)


def _read_with_names(a: Formula | str, b: Formula | str, context: Context) -> tuple[Formula, Formula]:
    r"""Return two formulas as they are read with the names of several letters that either writes upright."""
    named = context
    for each in (a, b):
        with suppress(LatexSyntaxError):
            named = with_written_names(named, (_as_read(each, context),))
    return _as_read(a, named), _as_read(b, named)


def _as_read(given: Formula | str, context: Context) -> Formula:
    """Return a formula as it is, and text as it is read."""
    return parse(given, context=context) if isinstance(given, str) else given


def _false_link(reference: Formula, claim: Formula, context: Context) -> str | None:
    """Return the first two neighbours of a claim's chain that are not equal, `a = b`; None if all may be.

    They are not if the link is refuted, or if it ties the letters of the problem otherwise than the reference does.
    """
    from prism.equivalence.chains.links import check_link

    required, known = [each.formula for each in statements_of(reference)], symbols_of(reference)
    for chain in (part for part in plain_parts(claim) if part.kind == "chain"):
        for relation, (left, right) in zip(chain.relations, pairwise(chain.members), strict=False):
            if relation not in EQUALITIES:
                continue
            link = check_link(left, right, context)
            says = formula((left, right), ("=",))
            is_open = link.reason in ("varying_ratio", "other_variables") and symbols_of(says) <= known
            is_open = is_open and bool(symbols(left) and symbols(right)) and not reference.parts
            is_open = is_open and not (context.definitions or context.givens)
            if (link.status == "refuted" or is_open) and not any(
                f.members == says.members or (symbols_of(says) and agree_without_givens(f, says, context))
                for f in required
            ):
                return f"{left} = {right}"
    return None


def match_within_budget(reference: Formula, claim: Formula, context: Context, spec: NumberSpec = _NO_SPEC) -> Verdict:
    """Match a pair, as `match` does, within the operations of one pair; `too_large` if they do not suffice."""
    with share(most_of_pair()) as work:
        verdict = match(reference, claim, context, spec)
    return _TOO_LARGE if work.is_exhausted else verdict


def match(reference: Formula, claim: Formula, context: Context, spec: NumberSpec = _NO_SPEC) -> Verdict:
    """Decide if a claim says what a reference says, as `equivalent` does, for parsed formulas.

    Args:
        spec: how precisely a number has to be stated if the reference is one.
    """
    called = with_functions(reference, claim, context)
    if called is not None and called.is_shown:
        return match(called.a, called.b, called.context, spec)
    reference, claim = with_one_running_index(*_with_one_name(reference, claim), context.givens.keys())
    reference, claim = with_transposes_alike(*with_indices_alike(reference, claim))
    verdict = review_by_membership(reference, claim, context, _match_renamed(reference, claim, context, spec))
    verdict = review_by_courses(reference, claim, context, verdict)
    if called is not None and _match_renamed(called.a, called.b, called.context, spec).status != verdict.status:
        return Verdict(Status.UNDECIDED, "unsupported", detail="a letter before brackets is a function, or a factor")
    turned = in_degrees(reference), in_degrees(claim)
    is_open = turned != (reference, claim) and verdict.status != Status.UNDECIDED
    if is_open and _match_renamed(*turned, context, spec).status != verdict.status:
        return Verdict(Status.UNDECIDED, "unsupported", detail="an angle without a unit, in degrees or in radians")
    if verdict.status == Status.EQUIVALENT and verdict.proof != "proved" and not are_cut_alike(reference, claim):
        return Verdict(Status.UNDECIDED, "unsupported", detail="a sum or an integral that is cut short")
    if verdict.status == Status.DIFFERENT and (_restates_rule(claim, reference) or _restates_rule(reference, claim)):
        return Verdict(Status.UNDECIDED, "unsupported", detail="the rule of a function at another argument")
    return verdict


def _restates_rule(f: Formula, rule: Formula) -> bool:
    r"""Return True if a formula calls a function at an expression, or its inverse, that another gives: `f(x + 1)`."""
    given = {name for name, _ in rule.depends if symbol(name) in rule.members}
    calls = [node for member in f.members for node in walk(member) if node.op == "apply"] if given else []
    return any(
        any(arg.args and symbols(arg) for arg in node.args)
        if node.name in given
        else symbol_of(node.name).sup == "-1" and symbol_of(node.name).body in given
        for node in calls
    )


def _match_renamed(reference: Formula, claim: Formula, context: Context, spec: NumberSpec) -> Verdict:
    """Match two formulas as `match` does, after several values of a quantity got one name."""
    regions: Verdict | None = None
    if are_regions(reference, claim):
        regions = compare_regions(in_base_units(reference), in_base_units(claim), context)
        if regions.status != Status.UNDECIDED:
            return regions
    if reference.kind == "implication":
        return _match_implications(reference, claim, context)
    stated, required = statements_of(claim), _required_statements(reference, context)
    worst = _best_match(required[0], stated, context, spec)
    for each in required[1:]:
        if worst.status != Status.DIFFERENT:
            worst = max(worst, _best_match(each, stated, context, spec), key=lambda found: RANK[found.status])
    if worst.status != Status.EQUIVALENT and reference.kind == "chain" and claim.parts:
        worst = _match_links(reference, stated, context, spec) or worst
    if worst.status == Status.EQUIVALENT and _have_several_signs(required) and _have_several_signs(stated):
        upper = signed_branches(reference)[0]
        verdicts = [_match_renamed(upper, branch, context, spec) for branch in signed_branches(claim)]
        worst = min(verdicts, key=lambda each: RANK[each.status])
    if regions is not None and worst.status == Status.DIFFERENT and _may_only_be_written_otherwise(reference, claim):
        return regions  # what bounds them is not evaluated
    if worst.status == Status.EQUIVALENT and (len(stated) > 1 or stated[0].restrictions):
        agree = partial(agree_without_givens, context=context)
        more = added_condition(statements_of(reference), stated, claim, context, spec, agree)
        if more is not None:
            said = str(formula(more.members, more.relations))
            return Verdict(Status.DIFFERENT, "condition", detail=f"beside it stands {said}, which does not follow")
    if worst.status != Status.EQUIVALENT:
        common = compare_common_solutions(reference, claim, context)
        is_open = common is None or common.status != Status.EQUIVALENT
        if is_open and {reference.kind, claim.kind} == {"equation", "system"}:
            common = decide_by_interpretation(reference, claim, context, worst) or common
        if common is not None and not (
            worst.status != common.status == Status.DIFFERENT and (_has_range(reference) or _has_range(claim))
        ):
            return common
    return worst


def _may_only_be_written_otherwise(a: Formula, b: Formula) -> bool:
    """Return True for two inequalities, and for regions that are written in two ways, as a chain and an interval."""
    return a.kind == "inequality" or a.kind != b.kind


def _have_several_signs(statements: tuple[Statement, ...]) -> bool:
    r"""Return True if several statements have a `\pm`: their signs belong together, as those of one formula."""
    return sum("pm" in traits_of(each.formula).ops for each in statements) > 1


def _has_range(f: Formula) -> bool:
    """Return True for a formula with a range, `n = 1, 2, ...`, among its parts: a letter has no one value by it."""
    return any("dots" in traits_of(part).ops for part in f.parts)


def _with_one_name(reference: Formula, claim: Formula) -> tuple[Formula, Formula]:
    """Return reference and claim, with the values of a quantity that the reference has several of under one name."""
    sides = reference.parts[0].members if reference.parts else reference.members
    if not sides or sides[0].op != "sym" or not has_several_values(reference):
        return reference, claim
    subject = quantity_of_all(sides[0], among=claim)
    renamed = with_one_name(reference, subject, frozenset())
    return renamed, with_one_name(claim, subject, symbols_of(renamed))


def _match_implications(reference: Formula, claim: Formula, context: Context) -> Verdict:
    r"""Match an implication `a = b \Rightarrow c = d` with another, part by part; undecided unless all parts match."""
    refused = Verdict(Status.UNDECIDED, "unsupported", detail="an implication")
    if claim.kind != "implication" or len(claim.parts) != len(reference.parts):
        return refused
    verdicts = [match(*parts, context) for parts in zip(reference.parts, claim.parts, strict=True)]
    if all(verdict.status == Status.EQUIVALENT for verdict in verdicts):
        return verdicts[0]
    return refused


def _required_statements(reference: Formula, context: Context) -> tuple[Statement, ...]:
    r"""Return the statements that a claim has to make: of a chain `a = b = c` its links, except mere steps of algebra.

    The second link of `x = 2 \times 3 = 6` and of `y = (a + b)^2 = a^2 + 2ab + b^2` says nothing of its own.
    """
    required = statements_of(reference, needed=True)
    if len(required) == 1:
        return required
    return tuple([each for each in required if not is_tautology(each.formula, context)]) or required


def _match_links(
    reference: Formula, stated: tuple[Statement, ...], context: Context, spec: NumberSpec
) -> Verdict | None:
    """Match a chain of equalities with a claim that lists links of its own between the same members.

    `a = c, b = c` says what `a = b = c` says. None unless the links of the claim join all the members.
    """
    joined, rest = list(reference.members[:1]), list(reference.members[1:])
    if len(reference.members) > MOST_LISTED or not EQUALITIES.issuperset(reference.relations):
        return None
    last: Verdict | None = None
    while rest:
        for member in rest:
            links = [formula((member, other), ("=",), reference.latex, reference.depends) for other in joined]
            found = (_best_match(Statement(link), stated, context, spec) for link in links)
            stated_link = next((each for each in found if each.status == Status.EQUIVALENT), None)
            if stated_link or any(is_tautology(link, context) for link in links):
                last = stated_link or last
                joined.append(member)
                rest.remove(member)
                break
        else:
            return None
    return last


def _best_match(required: Statement, stated: tuple[Statement, ...], context: Context, spec: NumberSpec) -> Verdict:
    """Match a required statement with those of a claim, up to the first equivalent one.

    They are compared as they stand; if none is equivalent, then by what the claim says of letters of its own.

    Returns:
        The best verdict: equivalent before undecided before different.
    """
    best: Verdict | None = None
    fixed = context.declared | context.givens.keys()
    for by_claim in (False, True):
        for statement in stated:
            beside = [each for each in stated if each is not statement]
            own = definitions_of_own_letters(required, statement, beside, fixed) if by_claim else ()
            if by_claim and not own:
                continue
            verdict = _match_statement(required, statement, stated, context, own, spec)
            if best is None or RANK[verdict.status] < RANK[best.status]:
                best = verdict
            if best.status == Status.EQUIVALENT:
                return best
    assert best is not None
    return best


def _match_statement(
    required: Statement,
    statement: Statement,
    stated: tuple[Statement, ...],
    context: Context,
    own: tuple[Formula, ...],
    spec: NumberSpec,
) -> Verdict:
    """Match a required statement with one of a claim, by way of what the claim defines itself (`own`)."""
    known = replace(context, definitions=(*context.definitions, *own)) if own else context
    if required.formula.kind != "inequality" and (required.whole or statement.whole):
        known = _with_whole_numbers(known, frozenset(name for name, _ in (*required.whole, *statement.whole)))
    verdict = _match_formulas(required.formula, statement.formula, known, spec)
    if verdict.status == Status.EQUIVALENT:
        objection = _objection(required, statement, stated, context, known, spec)
        verdict = verdict if objection is None else objection
    heads = [f"definition: {side.name} = " for f in own for side in f.members if side.op == "sym"]
    if heads:
        said = ((any(head in each for head in heads), each) for each in verdict.readings)
        told = tuple(each.replace("(problem)", "(claim)") if is_own else each for is_own, each in said)
        verdict = replace(verdict, readings=told)
    return verdict


def _with_whole_numbers(context: Context, names: frozenset[str]) -> Context:
    """Return the context with the symbols `names` declared as integers, unless it declares them already."""
    return replace(context, symbols={**{name: Declaration("integer") for name in sorted(names)}, **context.symbols})


# One formula with another. --------------------------------------------------------------------------------------


def _match_formulas(reference: Formula, claim: Formula, context: Context, spec: NumberSpec) -> Verdict:
    """Match one formula with another, with e as Euler's number too if one of them shows that it is."""
    verdict = _match_as_read(reference, claim, context, spec)
    if verdict.status == Status.EQUIVALENT or (read := with_euler(reference, claim, context)) is None:
        return verdict
    found = _match_as_read(*read, context, spec)
    if found.status != Status.EQUIVALENT:
        return verdict
    return replace(found, readings=(EULER_READING, *found.readings), stage=max(found.stage, Stage.NOTATION))


def _match_as_read(reference: Formula, claim: Formula, context: Context, spec: NumberSpec) -> Verdict:
    r"""Match one formula with another: by their numbers if the reference states a number, else stage by stage.

    Different at once are an order of magnitude (`\sim`) for an equality, an equation that does not state the number of
    a node, and entries or numbers that rule each other out. Where the stages do not find them equivalent, a number that
    the claim implies with the givens is tried.
    """
    if "sim" in claim.relations and "sim" not in reference.relations:
        return Verdict(Status.DIFFERENT, "kind", detail="`\\sim` gives an order of magnitude, and states no equality")
    one, two = features_of(reference, context), features_of(claim, context)
    wanted, stated = one.number, two.claimed_number
    if wanted is not None and stated is not None and stated.subject == wanted.subject:
        lacks_unit = wanted.number.unit is not None and stated.number.unit is None
        is_measured = not spec.is_exact(wanted.number) or spec.within is not None or spec.ignores_units
        own, other = wanted.number, stated.number
        if own.is_whole and other.is_whole and (own.value, own.rates) != (other.value, other.rates):
            is_measured = True  # whole numbers differ at any size, and by what is counted
        if is_measured or (spec.is_node and (lacks_unit or not stated.number.is_exact)):
            return compare_numbers(wanted, stated.number, spec)
    elif (
        wanted is not None
        and spec.is_node
        and claim.kind == "equation"
        and not _states_exact_number(claim, wanted, spec)
    ):
        return Verdict(Status.DIFFERENT, "unstated")
    if wanted is None and (entries := _compare_entries(reference, claim, spec)) is not None:
        return entries
    if wanted is None and stated is not None and (rejected := _rejection_beside(stated, spec)) is not None:
        return replace(rejected, readings=())
    verdict = _compare_in_stages(one, two, context)
    is_closed = symbols_of(reference) == {side.name for side in reference.members if side.op == "sym"}
    if verdict.status != Status.EQUIVALENT and (context.givens or is_closed):
        return _match_implied_number(reference, claim, context, spec, verdict)
    return verdict


def _compare_in_stages(one: Features, two: Features, context: Context) -> Verdict:
    """Compare two formulas as they are, then after each planned substitution, then within the precision of decimals.

    Returns the first equivalent verdict, else that on the formulas as they are.

    Args:
        one, two: features of the reference and of the claim.
    """
    reference, claim = one.facts.formula, two.facts.formula
    if _differ_in_kind(reference, claim):
        return _unless_wrong_dimension(OTHER_KIND, two)
    resolved = both_in_base_units(reference, claim)
    is_usual = resolved == (one.plain.formula, two.plain.formula)  # by value: a record may have been forgotten since
    is_screened = is_usual and not (one.plain.is_to_work_out and two.plain.is_to_work_out)
    screens = (one.screen, two.screen) if is_screened else _NONE
    refuted = refute(*screens)
    plain = compare(*resolved, context) if refuted is None else refuted
    if plain.status == Status.EQUIVALENT:
        found = decide_by_interpretation(*resolved, context, plain)
        return plain if found is None else found
    attempts = plan_attempts(one, two)
    for attempt in attempts:
        verdict = _compare_attempt(attempt, context)
        if verdict.status == Status.EQUIVALENT:
            return replace(verdict, readings=attempt.readings, stage=attempt.stage)
    imprecise: Verdict | None = None
    if _may_be_approximate(*resolved) and refute(*screens, approximate=True) is None:
        attempts = (Attempt(*resolved), *attempts)
    for attempt in attempts:
        if not _may_be_approximate(attempt.reference, attempt.claim):
            continue
        verdict = _compare_attempt(attempt, context, approximate=True)
        if verdict.status == Status.EQUIVALENT:
            return replace(verdict, readings=attempt.readings, stage=Stage.APPROXIMATE)
        if verdict.reason == "imprecise" and imprecise is None:
            imprecise = verdict
    if imprecise is not None:
        return imprecise
    if plain.reason == "unsupported" and differ_in_letters(*resolved, context):
        return Verdict(Status.DIFFERENT, "other_letters")
    if (found := decide_by_interpretation(*resolved, context, plain)) is not None:
        return found
    return _unless_wrong_dimension(plain, two)


def _unless_wrong_dimension(verdict: Verdict, claim: Features) -> Verdict:
    """Return the verdict; the dimension as the reason why a claim differs if it has a fault there."""
    if verdict.status == Status.DIFFERENT and (fault := claim.dimension_fault):
        return replace(verdict, reason="dimension", detail=fault)
    return verdict


def _differ_in_kind(reference: Formula, claim: Formula) -> bool:
    """Return True if two formulas are of kinds that never match, as an equation and an inequality."""
    one, two = reference.kind, claim.kind
    return one != two and one in _FIXED_KINDS and two in _FIXED_KINDS and (one, two) != ("expression", "equation")


def _compare_attempt(attempt: Attempt, context: Context, *, approximate: bool = False) -> Verdict:
    """Compare an attempt's formulas; undecided if they match even with a given value doubled."""
    verdict = compare(attempt.reference, attempt.claim, context, approximate=approximate)
    if verdict.reason == "unsupported" and _has_series(attempt.reference, attempt.claim) and not approximate:
        verdict = decide_by_interpretation(attempt.reference, attempt.claim, context, verdict) or verdict
    for check in sensitivity_checks(attempt, context) if verdict.status == Status.EQUIVALENT else ():
        doubled = compare(check.reference, check.claim, context, approximate=approximate)
        if doubled.status == Status.EQUIVALENT:
            detail = "a given value is too small to be seen"
            return Verdict(Status.UNDECIDED, "too_few_points", detail=detail)
    return verdict


def _has_series(a: Formula, b: Formula) -> bool:
    """Return True if one of two formulas has a sum or a product, which nothing but interpretations works out."""
    return not _SERIES.isdisjoint(traits_of(a).ops | traits_of(b).ops)


def _may_be_approximate(a: Formula, b: Formula) -> bool:
    """Return True if the limited precision of written decimals may explain a difference between two formulas.

    Not where a number is all that is stated: 0.333 is not 1/3. There a decimal counts as another spelling of an exact
    number only with the figures of a machine.
    """
    one, two = facts_of(a), facts_of(b)
    uncertainty = max(one.decimal_uncertainty, two.decimal_uncertainty)
    if not uncertainty:
        return False
    is_number = min(len(one.names), len(two.names)) <= len(a.members) - 1
    return uncertainty <= MACHINE_PRECISION if is_number else True


# Numbers. -------------------------------------------------------------------------------------------------------


def _compare_entries(reference: Formula, claim: Formula, spec: NumberSpec) -> Verdict | None:
    """Compare tables of numbers entry by entry, each as a number of its own; None if they are no such tables.

    Source: semantics N.2.
    """
    if reference.kind != "equation" or claim.kind != "equation" or reference.members[0] != claim.members[0]:
        return None
    wanted, stated = _entries(reference.members[1]), _entries(claim.members[1])
    if len(wanted) != len(stated) or not any(each.ulp for each in (*wanted.values(), *stated.values())):
        return None
    if wanted.keys() != stated.keys():
        return None
    subject = reference.members[0]
    verdicts = [compare_numbers(Numeric(subject, number), stated[place], spec) for place, number in wanted.items()]
    return max(verdicts, key=lambda verdict: RANK[verdict.status])


def _entries(table: Expr) -> dict[tuple[int, ...], StatedNumber]:
    """Return the numbers of a table by their place; none if it is no table, or holds anything else."""
    if table.op not in _TABLES:
        return {}
    found: dict[tuple[int, ...], StatedNumber] = {}
    for place, arg in enumerate(table.args):
        number = None if arg.op == "row" else stated_number(arg)
        inner = _entries(arg) if number is None else {(): number}
        if not inner:
            return {}
        found |= {(place, *further): each for further, each in inner.items()}
    return found


_TABLES = frozenset(("matrix", "row", "tuple"))


def _states_exact_number(claim: Formula, wanted: Numeric, spec: NumberSpec) -> bool:
    r"""Return True if a claim such as `3n = 6` states the exact number that the reference `n = 2` wants.

    `3n = 6` states that n is 2; `n = 2b/b` and `Z = \int_0^\pi \sin x dx` only say how it would be found. Zero has to
    be written as 0 (semantics N.3), as in `2Q = 0`, unless it is alone and nothing is asked. A measured number is never
    stated in this way.
    """
    if not spec.is_exact(wanted.number):
        return False
    if not wanted.number.value:
        is_named = any(node == wanted.subject for member in claim.members for node in walk(member))
        is_zero = any(_is_zero(member) or (spec.is_unasked and canonical(member) == "0") for member in claim.members)
        return not is_named or is_zero
    others = [member for member in claim.members if member != wanted.subject]
    if len(others) == len(claim.members):
        return True
    nodes = [node for member in others for node in walk(member)]
    return _UNFINISHED_OPS.isdisjoint(node.op for node in nodes)


def _is_zero(member: Expr) -> bool:
    """Return True if a member is written as 0: with or without sign and unit, or as a table of zeros."""
    if member.op in ("matrix", "row", "tuple", "list"):
        return all(_is_zero(arg) for arg in member.args)
    number = stated_number(member)
    return number is not None and not number.value


def _rejection_beside(stated: Numeric, spec: NumberSpec) -> Verdict | None:
    """Return why no other node of the problem with a number for this quantity accepts the stated number.

    None if one accepts it, or if there is no such node (`spec.beside`).
    """
    found = [
        compare_numbers(number, stated.number, other)
        for number, other in spec.beside
        if number.subject == stated.subject
    ]
    return None if not found or any(each.status == Status.EQUIVALENT for each in found) else found[0]


def _match_implied_number(
    reference: Formula, claim: Formula, context: Context, spec: NumberSpec, verdict: Verdict
) -> Verdict:
    """Match the number that a claim states with the one that the reference gives for the problem's given values.

    Returns `verdict`, that on the formulas, if a number is missing, or if it is undecided and the numbers differ.
    """
    stated = claimed_number(claim, context) or closed_form_number(claim)
    if stated is None:
        return verdict
    wanted = implied_number(expand_definitions(reference, stated.subject, context), stated, context)
    if wanted is None:
        return verdict
    of_givens = NumberSpec(figures=3, is_final=spec.is_node, is_node=spec.is_node)
    found = compare_numbers(wanted, stated.number, spec if wanted.number.is_exact else of_givens)
    if found.status != Status.EQUIVALENT:
        return verdict if verdict.status == Status.UNDECIDED else found
    readings = (*found.readings, "given: all that it depends on")
    return replace(found, readings=readings, stage=Stage.GIVENS)


# Objections to a match. -----------------------------------------------------------------------------------------


def _objection(
    required: Statement,
    statement: Statement,
    stated: tuple[Statement, ...],
    context: Context,
    known: Context,
    spec: NumberSpec,
) -> Verdict | None:
    """Return a verdict against a match of two statements, for example for different conditions.

    None without objection.

    Args:
        required, statement: what the reference requires, and the claim's statement.
        stated: everything that the claim states.
        context: what the problem knows.
        known: the same, with the whole numbers of the two statements declared.
        spec: how a number has to be stated.
    """
    if not _have_same_conditions(required, statement, context):
        return Verdict(Status.UNDECIDED, "unsupported", detail="the conditions under which they hold")
    if _only_function_values_agree(required.formula, statement.formula, known, spec):
        return Verdict(Status.UNDECIDED, "unsupported", detail="equal values do not make equal arguments")
    if _is_contradicted_beside(required.formula, statement.formula, stated, context):
        return Verdict(Status.DIFFERENT, "other_number", detail="the formula beside it gives another number")
    return None


def _have_same_conditions(required: Statement, stated: Statement, context: Context) -> bool:
    """Return True if two statements name equivalent conditions, or at most one of them names any.

    Each condition of either statement has to match one of the other's.
    """
    ranges, others = dict(required.whole), dict(stated.whole)
    if not ranges.keys().isdisjoint(stated.settled):
        return False
    if any(not _is_same_range(first, ranges.get(name, first)) for name, first in others.items()):
        return False
    if not _are_about_same_letters(ranges, others):
        return False
    if any(_is_integrated_over(name, required, stated) for name in ranges.keys() ^ others.keys()):
        return False
    wanted = tuple(condition for condition in required.conditions if not _only_starts_range(condition, others))
    named = tuple(condition for condition in stated.conditions if not _only_starts_range(condition, ranges))
    if not wanted or not named:
        ranged = ranges if named else others
        return not any(
            symbols(*condition.members) & ranged.keys() or is_turned_range(condition) for condition in (*wanted, *named)
        )
    if all(part.kind != "statement" or part.relations == ("in",) for part in (*wanted, *named)):
        one, two = (_conjunction(conditions) for conditions in (wanted, named))
        if are_regions(one, two):
            verdict = compare_regions(in_base_units(one), in_base_units(two), context)
            if verdict.status == Status.EQUIVALENT:
                return True
    table = [[_match_alone(one, two, context).status for two in named] for one in wanted]
    lines = [*table, *zip(*table, strict=True)]
    return all(Status.EQUIVALENT in line for line in lines)


def _are_about_same_letters(one: Mapping[str, str], two: Mapping[str, str]) -> bool:
    """Return True if one of two statements has no ranges of letters but those that the other has ranges of too.

    `n_i = 1, 2, ...` says it of `n_x` and `n_y`.

    Args:
        one, two: the range of each letter.
    """
    alone = [{name: each[name] for name in each.keys() - other.keys()} for each, other in ((one, two), (two, one))]
    if not all(alone):
        return True
    bases = {symbol_of(name).head for names in alone for name in names}
    is_general = any(names.keys() <= {f"{base}_{index}" for base in bases for index in _INDICES} for names in alone)
    first = next(iter(alone[0].values()))
    are_same = all(_is_same_range(first, each) for names in alone for each in names.values())
    return len(bases) == 1 and is_general and are_same


def _is_integrated_over(name: str, *statements: Statement) -> bool:
    """Return True if an integral in one of some statements has the variable `name`."""
    return any(
        node.op == "integral" and len(node.args) > 1 and node.args[1].name == name
        for statement in statements
        for member in statement.formula.members
        for node in walk(member)
    )


def _match_alone(reference: Formula, claim: Formula, context: Context) -> Verdict:
    """Match two formulas without anything that a problem requires of numbers or of other statements."""
    return _best_match(Statement(reference), (Statement(claim),), context, _NO_SPEC)


def _conjunction(conditions: tuple[Formula, ...]) -> Formula:
    """Join conditions to one formula, a system; a single one is returned as it is."""
    return conditions[0] if len(conditions) == 1 else Formula("system", (), (), parts=conditions)


def _is_same_range(a: str, b: str) -> bool:
    """Return True if two ranges, named by their first numbers, are the same; `N` begins with 0 or 1."""
    return a == b or {a, b} in ({"N", "0"}, {"N", "1"})


def _only_starts_range(condition: Formula, ranges: Mapping[str, str]) -> bool:
    r"""Return True if an inequality only repeats the first number of a range: `n \ge 1` beside `n = 1, 2, \ldots`.

    Args:
        ranges: the first number of each symbol's range.
    """
    if condition.kind != "inequality":
        return False
    subject, limit = condition.members
    relation = condition.relations[0]
    if relation in ("<", "<="):
        subject, limit, relation = limit, subject, {"<": ">", "<=": ">="}[relation]
    if subject.op != "sym" or limit.value is None or relation not in (">", ">="):
        return False
    start = ranges.get(subject.name)
    if start is None or start == "Z" or limit.value.denominator != 1:
        return False
    return _is_same_range(start, str(limit.value + 1 if relation == ">" else limit.value))


def agree_without_givens(a: Formula, b: Formula, context: Context) -> bool:
    """Return True if two formulas match without given values being substituted."""
    verdict = _match_alone(a, b, context)
    return verdict.status == Status.EQUIVALENT and verdict.stage < Stage.GIVENS


def _only_function_values_agree(reference: Formula, claim: Formula, context: Context, spec: NumberSpec) -> bool:
    r"""Return True if a claim only equates values of a many-to-one function: `\sin F = \sin ma` for `F = ma`.

    `\sin F = \sin ma` does not say that `F = ma`; without its sines it would. Where the reference has one of these
    functions itself (`n_1 \sin\theta_1 = n_2 \sin\theta_2`) the claim is what it says, and so it is up to an order.
    """
    if any(node.op == "apply" and node.name in _ORDERS for member in claim.members for node in walk(member)):
        return False
    calls = dict.fromkeys(node for member in claim.members for node in _many_to_one_calls(member))
    if not calls or any(node in calls for member in reference.members for node in _many_to_one_calls(member)):
        return False
    bare = substituted(claim, {node: node.args[0] for node in calls})
    return _match_formulas(reference, bare, context, spec).status == Status.EQUIVALENT


def _many_to_one_calls(node: Expr) -> Iterator[Expr]:
    """Yield the outermost calls of functions that are not one-to-one, as sin and cosh, in an expression."""
    if node.op in _MANY_TO_ONE and symbols(node):
        yield node
    else:
        for arg in node.args:
            yield from _many_to_one_calls(arg)


def _is_contradicted_beside(
    reference: Formula, claim: Formula, stated: tuple[Statement, ...], context: Context
) -> bool:
    """Return True if the claim equates its number with a formula that gives another number.

    `K = m v^2 = 9 J`, where half of it is 9 J, says that K is m v^2.
    """
    number = claimed_number(claim, context) or closed_form_number(claim)
    if number is None or numeric_of(reference) is not None:
        return False
    for other in stated:
        if other.formula.kind != "equation":
            continue
        for subject, expr in (other.formula.members, other.formula.members[::-1]):
            if subject != number.subject or not _is_of_givens(expr, context):
                continue
            found = evaluate_with_units(expr, context)
            if found is not None and abs(found[0] - number.number.in_si) > _CONTRADICTION * abs(found[0]):
                return True
    return False


def _is_of_givens(expr: Expr, context: Context) -> bool:
    """Return True if an expression has symbols, and all of them have given values."""
    return bool(names := symbols(expr)) and names <= context.givens.keys()
