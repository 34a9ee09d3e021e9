"""Two formulas prepared for comparison by points: one notation, a tape for each, a sampling for each variable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from prism.algebra.expr import Formula
from prism.engine.lowering import PLAIN, Mismatch, Notation, table_shape
from prism.engine.tape import Tape
from prism.engine.zero_set import ORDINARY, Sampling, tape_of, tape_unless_error
from prism.equivalence.facts import VALUE_NAME, facts_of
from prism.equivalence.notation.choice import contains_matrix, without_vectors
from prism.physics.context import Context


@dataclass(frozen=True, slots=True, eq=False)
class FormulaPair:
    """Two formulas of one or two members, prepared for drawing points.

    Attributes:
        a, b: the reference and the claim.
        context: what the problem knows.
        notation: which letters are vectors, complex numbers, matrices.
        tapes: the residual of each formula, compiled for the kernels.
        samplings: how each variable of the two is drawn, by name.
    """

    a: Formula
    b: Formula
    context: Context
    notation: Notation
    tapes: tuple[Tape, Tape]
    samplings: Mapping[str, Sampling]


def prepare_pair(a: Formula, b: Formula, context: Context, notation: Notation) -> FormulaPair | None:
    r"""Compile two formulas for comparison by points.

    None if their values are a number and a vector, or differ in shape. None if one has a vector or matrix where the
    other has none alike. Vectors are tables of components. They are read
    as numbers only where the reference itself makes no sense with
    vectors: a claim that divides by a vector, or takes an exponential of one, says nothing
    (`\frac{\vec F}{\vec a} = m`).

    Errors:
        TapeTooLarge: see `tape`.
    """
    for reading in _notations_to_try(notation):
        if reading is not notation and fits_notation(a, notation):
            return None
        try:
            full = with_value_shape(a, b, reading)
            tapes = _tape_in(full, a), _tape_in(full, b)
        except Mismatch:
            continue
        return FormulaPair(a, b, context, full, tapes, samplings_of(tapes, context))
    return None


def _tape_in(notation: Notation, f: Formula) -> Tape:
    """Return the tape of a formula's residual in a notation; raise TapeTooLarge or Mismatch as `tape_of`."""
    facts = facts_of(f)
    return tape_unless_error(facts.plain_tape) if notation is PLAIN else tape_of(facts.residual, notation)


def _notations_to_try(notation: Notation) -> Iterator[Notation]:
    """Yield the notation, and after it the one that reads vectors as numbers, if that differs."""
    yield notation
    if notation is not PLAIN and (scalar := without_vectors(notation)) != notation:
        yield scalar


def fits_notation(f: Formula, notation: Notation) -> bool:
    """Return True if a formula makes sense in a notation: no vector where a number belongs, or the reverse."""
    try:
        tape_of(facts_of(f).residual, with_value_shape(f, f, notation))
    except Mismatch:
        return False
    return True


def with_value_shape(a: Formula, b: Formula, notation: Notation) -> Notation:
    """Return the notation in which the symbol for the value of a bare expression has that expression's shape.

    Raises Mismatch if the two formulas are bare expressions (vectors, matrices) of different shape.
    """
    if len(a.members) != 1 or (notation == PLAIN and not contains_matrix((*a.members, *b.members))):
        return notation
    shapes = {table_shape(f.members[0], notation) for f in (a, b)}
    if len(shapes) > 1:
        raise Mismatch("tables of different shape")
    (shape,) = shapes
    if shape is not None:
        notation = replace(notation, matrices=(*notation.matrices, (VALUE_NAME, shape)))
    return replace(notation, complexes=notation.complexes | {VALUE_NAME}) if notation.is_complex else notation


def samplings_of(tapes: tuple[Tape, ...], context: Context) -> dict[str, Sampling]:
    """Choose for each variable of formulas that are compared from which numbers it is drawn.

    As the problem declares it; else as one of the formulas shows (an angle, a whole number). A lone variable has
    either sign (`x^2 = 4` has two solutions), where a quantity among others is positive.
    """
    names = dict.fromkeys(name for tape in tapes for name in tape.names)
    samplings = dict.fromkeys(names, ORDINARY)
    if len(names) > 2 and not context.symbols and not any(tape.kinds for tape in tapes):
        return samplings
    kinds = {name: kind for tape in tapes for name, kind in tape.kinds.items()}
    kinds |= {name: "integer" for tape in tapes for name, kind in tape.kinds.items() if kind == "integer"}
    unknown = names.keys() - {VALUE_NAME}
    for name in names:
        declared = context.symbols.get(name)
        if declared is not None:
            samplings[name] = Sampling(declared.kind, declared.domain)
        elif name in kinds:
            samplings[name] = Sampling(kinds[name])
        elif {name} == unknown:
            samplings[name] = Sampling("real")
    return samplings
