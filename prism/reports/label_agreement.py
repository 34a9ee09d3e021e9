"""Agreement of raters who give names, such as wrong, partial and correct; and what is settled where they differ.

A `LabelScheme` is the vocabulary. Its labels stand for whole numbers, in its order: so a table of labels is a
`RatingTable`, and the coefficients are those of `agreement`, of which a vocabulary without order takes those that ask
only whether two labels are the same. Scores (of the rules, and of judges who give numbers) become labels by cuts.

Of a stratified sample (`marking_sheets`) every figure is that of the whole set it was drawn from: an item weighs as
many as it stands for. Where some of a stratum have no label its others stand for them.

Refused: a rater's settled label by majority. Three raters who share a mistake outvote the one who does not, and who
reads the figures does not see it; an adjudicator has a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from prism.errors import PrismError, raise_faults
from prism.inputs import did_you_mean, shown
from prism.problem.plain_values import UNLISTED, named, plain
from prism.reports.agreement import (
    FOR_ANY,
    FOR_TWO,
    REPLICATES,
    Coefficient,
    Estimate,
    estimate_coefficients,
    estimate_shares,
    weighted_kappa,
)
from prism.reports.judgements import Judgement, word_score
from prism.reports.rating_sets import Floats, Ints, Stratum, item_weights, standard_error
from prism.reports.ratings import (
    RULES,
    SETTLED,
    Alignment,
    Items,
    RatingTable,
    Reading,
    Reliability,
    assign_judgements,
    bootstrap_facts,
    gather_judgements,
    reliability_of,
    require_raters,
    require_scale,
)

_NOMINAL = ("percent_agreement", "fleiss_kappa", "krippendorff_alpha_nominal", "gwet_ac1", "pabak")
_ORDINAL = ("krippendorff_alpha_ordinal", "gwet_ac2")
_NOMINAL_FOR_TWO = ("cohen_kappa",)
_ORDINAL_FOR_TWO = ("cohen_kappa_linear", "cohen_kappa_quadratic")

MAX_LABELS = 20  # of a vocabulary; more different texts are no names of labels
_TOLERANCE = 1e-9  # of a score that was brought to a scale from 0 to 1
_ANY_POINTS = 1e-6  # a score from here up is more than nothing


# The vocabulary. ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LabelScheme:
    """The labels that raters may give.

    Attributes:
        labels: distinct names; from the lowest to the highest if they have an order.
        is_ordered: True for ordinal labels.
        cuts: scores from which on the second, third, ... label from below is given; empty for no labels from scores.
        ranks: places of the labels from the lowest to the highest, for labels from scores; empty if that is not known.
    """

    labels: tuple[str, ...]
    is_ordered: bool = field(metadata=named("ordered"))
    cuts: tuple[float, ...] = ()
    ranks: tuple[int, ...] = ()

    def code_of_text(self, text: str) -> int | None:
        """Return the place of a label in the vocabulary, upper and lower case alike; None for any other text.

        Of words that say correct, partial or wrong in another way it is the one label that says so.
        """
        folded = [label.casefold() for label in self.labels]
        said = text.strip().casefold()
        if said in folded:
            return folded.index(said)
        value = word_score(text)
        same = [at for at, label in enumerate(self.labels) if value is not None and word_score(label) == value]
        return same[0] if len(same) == 1 else None

    def code_of_score(self, score: float) -> int | None:
        """Return the place of the label that a score from 0 to 1 gets by the cuts; None if there are none."""
        return None if not self.cuts else self.ranks[sum(score >= cut - _TOLERANCE for cut in self.cuts)]

    @property
    def categories(self) -> tuple[float, ...]:
        """The numbers that the labels stand for."""
        return tuple(map(float, range(len(self.labels))))


def make_scheme(labels: Sequence[str], *, is_ordered: bool, cuts: Sequence[float] = ()) -> LabelScheme:
    """Check a vocabulary and say how scores become its labels.

    Without cuts the highest label is for all points and, of three, the lowest is for none. The order of a vocabulary
    that has none is that of its words, if they all say correct, partial or wrong.

    Errors:
        PrismError: fewer than two labels or too many, equal ones, empty ones; cuts that are not ascending, of another
            number than the labels ask for, or of labels whose order is not known.

    >>> make_scheme(["wrong", "partial", "correct"], is_ordered=True).cuts
    (1e-06, 1.0)
    >>> make_scheme(["correct", "wrong"], is_ordered=False).ranks
    (1, 0)
    """
    folded = Counter(label.casefold() for label in labels)
    n = len(labels)
    if "" in folded or any(count > 1 for count in folded.values()) or not 2 <= n <= MAX_LABELS:
        raise PrismError(f"labels {', '.join(map(shown, labels))}: expected 2 to {MAX_LABELS} different names")
    values = [word_score(label) for label in labels]
    known = [value for value in values if value is not None]
    ranks: tuple[int, ...] = tuple(range(n)) if is_ordered else ()
    if not is_ordered and len(set(known)) == n:
        ranks = tuple(sorted(range(n), key=lambda at: known[at]))
    if cuts and not ranks:
        raise PrismError("a cut needs labels in an order: say --order LOWEST,...,HIGHEST")
    if cuts and (len(cuts) != n - 1 or any(a >= b for a, b in pairwise(cuts))):
        told = ", ".join(f"{cut:g}" for cut in cuts)
        raise PrismError(f"cut {told}: expected {n - 1}, ascending, between the labels {', '.join(labels)}")
    usual = {2: (1.0,), 3: (_ANY_POINTS, 1.0)}
    return LabelScheme(tuple(labels), is_ordered, tuple(cuts) or (usual.get(n, ()) if ranks else ()), ranks)


def read_distances(text: str, scheme: LabelScheme) -> Floats:
    """Read weights of disagreement, `wrong:partial=1,wrong:correct=3,partial:correct=6`: float64[n_label, n_label].

    Errors:
        PrismError: all faults at once: what is no such weight, unknown labels, pairs that are missing or named twice.
    """
    apart = np.full((len(scheme.labels), len(scheme.labels)), np.nan)
    np.fill_diagonal(apart, 0.0)
    faults = []
    for entry in filter(None, (each.strip() for each in text.split(","))):
        pair, _, number = entry.partition("=")
        codes = [scheme.code_of_text(label) for label in pair.split(":")]
        try:
            weight = float(number)
        except ValueError:
            weight = np.nan
        if len(codes) != 2 or None in codes or codes[0] == codes[1] or not 0 <= weight < np.inf:
            faults.append(f"{shown(entry)}: expected LABEL:LABEL=WEIGHT of two of {', '.join(scheme.labels)}")
            continue
        a, b = (code for code in codes if code is not None)
        if not np.isnan(apart[a, b]):
            faults.append(f"{scheme.labels[a]}:{scheme.labels[b]} is named twice")
        apart[a, b] = apart[b, a] = weight
    missing = [f"{one}:{other}" for one, other in combinations(scheme.labels, 2)
               if np.isnan(apart[scheme.labels.index(one), scheme.labels.index(other)])]  # fmt: skip
    if missing and not faults:
        faults.append(f"no weight of {', '.join(missing)}")
    raise_faults(f"--distance: {fault}" for fault in faults)
    return apart


# Values. --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SampleDesign:
    """The stratified sample that the items of a table are.

    Attributes:
        sheet: name of the marking sheet.
        strata: in the order of their numbers.
        of_item: int64[n_item], the stratum of each item.
    """

    sheet: str
    strata: tuple[Stratum, ...]
    of_item: Ints

    @property
    def populations(self) -> Ints:
        """Items of each stratum in the population: int64[n_stratum]."""
        return np.array([each.population for each in self.strata], dtype=np.int64)


@dataclass(frozen=True)
class LabelTable:
    """Labels of the same items by several raters, as places in the vocabulary.

    Attributes:
        scheme: the vocabulary.
        table: the ratings, each the place of a label.
        design: None where all items count alike.
    """

    scheme: LabelScheme
    table: RatingTable
    design: SampleDesign | None = None


@dataclass(frozen=True, slots=True)
class LabelShare:
    """How often a rater gives a label.

    Attributes:
        count: items that the rater gave it.
        share: of the rater's labels; of a sample the share in the whole set.
        standard_error: from the drawing of the sample alone; None without a sample, or where it is not known.
    """

    label: str
    count: int
    share: Estimate
    standard_error: float | None


@dataclass(frozen=True, slots=True)
class LabelDisagreement:
    """An item to which two raters give different labels, with the reason each of them gave."""

    problem_id: str
    sample_id: str
    labels: tuple[str, str]
    reasons: tuple[str, str]


@dataclass(frozen=True, slots=True)
class LabelPair:
    """Agreement of two raters in their labels.

    Attributes:
        raters: names.
        n, n_problem: items that both labelled, and their problems.
        coefficients: by name.
        standard_error: of `percent_agreement`, from the drawing of the sample alone; None as in `LabelShare`.
        covered: share of the population in strata of which both labelled something; 1 without a sample.
        confusion: items by label of the first rater and label of the second.
        weighted: the same, each item as many as it stands for, to six decimals; equal to `confusion` without a sample.
        disagreements: listed ones, those furthest apart first.
    """

    raters: tuple[str, str]
    n: int
    n_problem: int = field(metadata=named("problems"))
    coefficients: Mapping[str, Estimate]
    standard_error: float | None
    covered: float
    confusion: tuple[tuple[int, ...], ...]
    weighted: tuple[tuple[float, ...], ...] = field(metadata=named("confusion_weighted"))
    disagreements: tuple[LabelDisagreement, ...]


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Agreement of all raters in their labels, pair by pair and together.

    Attributes:
        scheme: the vocabulary.
        n_item: items that one rater or more labelled.
        alignment: of each rater.
        shares: of each label, by rater.
        pairs: every two raters.
        together: coefficients of all raters at once, without what was settled; of two raters empty.
        reliability: of each rater that judged something more than once.
        design: of a sample; else None.
        replicates: bootstrap samples asked for.
    """

    scheme: LabelScheme = field(metadata=UNLISTED)
    n_item: int = field(metadata=named("items"))
    alignment: tuple[Alignment, ...]
    shares: Mapping[str, tuple[LabelShare, ...]]
    pairs: tuple[LabelPair, ...]
    together: Mapping[str, Estimate]
    reliability: tuple[Reliability, ...] = field(metadata=UNLISTED)
    design: SampleDesign | None = field(metadata=UNLISTED)
    replicates: int = field(metadata=UNLISTED)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON."""
        sample = self.design and {
            "sheet": self.design.sheet, "strata": plain(self.design.strata),
            "population": int(self.design.populations.sum()),
        }  # fmt: skip
        vocabulary = plain(self.scheme)
        del vocabulary["ranks"]
        return {
            **plain(self), **vocabulary, "sample": sample, "bootstrap": bootstrap_facts(self.replicates),
            "reliability": [
                {name: plain(getattr(one, name)) for name in ("rater", "flip_rate", "order_flip_rate")}
                for one in self.reliability
            ],
        }  # fmt: skip


# Gathering. -----------------------------------------------------------------------------------------------------


def label_table(
    results: Path, judges: Sequence[Path], scheme: LabelScheme | None, **reading: Unpack[Reading]
) -> LabelTable:
    """Read the labels of all raters from their files into one table of items by raters.

    Args:
        results, judges: as in `ratings.gather_judgements`.
        scheme: the vocabulary; None takes the names that are found, without an order.

    Errors:
        DataFileError: files that cannot be read, or hold nothing to compare.
        PrismError: scores that cannot become labels; names of which there are too many for a vocabulary.
    """
    items, gathered = gather_judgements(results, judges, **reading)
    require_raters(results, gathered)
    if scheme is None:
        scheme = make_scheme(_names_found(gathered), is_ordered=False)
        if not scheme.cuts and RULES in gathered:
            raise PrismError(
                f"the rules give scores, not one of {', '.join(scheme.labels)}: say --order LOWEST,...,HIGHEST"
            )
    return LabelTable(scheme, labelled_table(items, gathered, scheme, reading.get("scale")))


def labelled_table(
    items: Items,
    gathered: Mapping[str, Sequence[Judgement]],
    scheme: LabelScheme,
    scale: tuple[float, float] | None = None,
) -> RatingTable:
    """Turn what raters said into labels, and assign them to items: a table of places in the vocabulary.

    Errors:
        PrismError: scores beyond the scale, or without cuts by which they become labels.
    """
    coded = {rater: _coded(rater, listed, scheme, scale) for rater, listed in gathered.items()}
    return replace(assign_judgements(items, coded), categories=scheme.categories)


def _names_found(gathered: Mapping[str, Sequence[Judgement]]) -> list[str]:
    """Return the different labels that raters gave, sorted; of several spellings the first.

    Errors:
        PrismError: there are fewer than two, or too many to be a vocabulary.
    """
    found: dict[str, str] = {}
    for listed in gathered.values():
        for one in listed:
            if one.label:
                found.setdefault(one.label.casefold(), one.label)
    if not 2 <= len(found) <= MAX_LABELS:
        raise PrismError(f"{len(found)} different labels; name the vocabulary: --labels A,B or --order LOW,HIGH")
    return [found[key] for key in sorted(found)]


def _coded(
    rater: str, listed: Sequence[Judgement], scheme: LabelScheme, scale: tuple[float, float] | None
) -> list[Judgement]:
    """Return judgements whose scores are places in the vocabulary; what is not in it is dropped, with the reason.

    Errors:
        PrismError: scores of this rater beyond the scale, or without cuts.
    """
    texts = [one.label or _numeral(one.score, rater, scale) for one in listed]
    places = [scheme.code_of_text(text) if text else None for text in texts]
    numbers = [one for one, place in zip(listed, places, strict=True) if place is None and not one.label]
    if rater != RULES:
        require_scale(rater, numbers, scale)
    coded = []
    for one, place in zip(listed, places, strict=True):
        if place is None and one.label:
            coded.append(replace(one, score=None, dropped="unknown_label"))
            continue
        code = place
        if code is None and one.score is not None:
            code = scheme.code_of_score(one.score)
            if code is None:
                told = f"say --order LOWEST,...,HIGHEST, and --cut with {len(scheme.labels) - 1} scores"
                raise PrismError(f"{rater}: scores, and nothing says which label each is: {told}")
        dropped = "" if place is not None and one.dropped in ("unreadable", "no_score") else one.dropped
        coded.append(replace(one, score=None if code is None else float(code), dropped=dropped))
    return coded


def _numeral(score: float | None, rater: str, scale: tuple[float, float] | None) -> str:
    """Return a judge's score as text, since numbers may be the labels; empty for the rules', and for a scaled one."""
    return "" if score is None or rater == RULES or scale is not None else f"{score:g}"


# What is settled. -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settlement:
    """What raters say together, and an adjudicator where they differ.

    Attributes:
        table: the ratings with one more rater, `SETTLED`.
        adjudicator: its name.
        settled_by: of each item `all`, the adjudicator's name, or empty: nothing is settled.
    """

    table: RatingTable
    adjudicator: str
    settled_by: tuple[str, ...]

    def count(self, by: str) -> int:
        """Return the number of items settled by `all`, by the adjudicator, or, for an empty text, not at all."""
        return self.settled_by.count(by)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values for JSON."""
        return {
            "adjudicator": self.adjudicator, "by_all": self.count("all"),
            "by_adjudicator": self.count(self.adjudicator), "open": self.count(""),
        }  # fmt: skip


def settle(found: RatingTable, adjudicator: str) -> Settlement:
    """Settle the rating of each item: what all raters say, or else the adjudicator's word.

    The rules take no part, as they are what is measured. An item that one rater alone has rated is settled by that;
    one on which raters differ and the adjudicator is silent stays open.

    Errors:
        PrismError: no rater has the adjudicator's name, or it is the rules'; something is settled already.
    """
    people = [rater for rater in found.raters if rater != RULES]
    if adjudicator not in people:
        near = did_you_mean(adjudicator, people)
        raise PrismError(f"no rater is called {shown(adjudicator)}{near}; the raters are {', '.join(people)}")
    if SETTLED in people:
        raise PrismError(f"a rater is called {SETTLED} already: its file holds what an adjudicator settled before")
    columns = [at for at, rater in enumerate(found.raters) if rater != RULES]
    judge = found.raters.index(adjudicator)
    settled = np.full(len(found.items), np.nan)
    by = []
    for at, row in enumerate(found.ratings):
        given = {float(row[column]) for column in columns if not np.isnan(row[column])}
        if len(given) == 1:
            settled[at] = given.pop()
            by.append("all")
        elif given and not np.isnan(row[judge]):
            settled[at] = row[judge]
            by.append(adjudicator)
        else:
            by.append("")
    n = int((~np.isnan(settled)).sum())
    last = len(found.raters)
    reasons = {(at, last): found.reasons.get((at, judge), "") for at in range(len(by)) if by[at] == adjudicator}
    table = replace(
        found, raters=(*found.raters, SETTLED), ratings=np.column_stack([found.ratings, settled]),
        reasons={**found.reasons, **reasons},
        alignment=(*found.alignment, Alignment(SETTLED, n, n, {}, len(found.items) - n)),
    )  # fmt: skip
    return Settlement(table, adjudicator, tuple(by))


# Agreement. -----------------------------------------------------------------------------------------------------


def label_agreement_of(
    found: LabelTable, *, replicates: int = REPLICATES, top: int = 10, apart: Floats | None = None
) -> LabelAgreement:
    """Compute the agreement of all raters of a table of labels: each pair, all together, repeated judgements.

    Args:
        found: the labels.
        replicates: bootstrap samples; 0 for no intervals.
        top: disagreements that are listed of each pair.
        apart: float64[n_label, n_label], weights of disagreement for `cohen_kappa_weighted`; None for none.
    """
    table = found.table
    n_rater = len(table.raters)
    ordinal = (*_ORDINAL,) if found.scheme.is_ordered else ()
    for_any = {name: FOR_ANY[name] for name in (*_NOMINAL, *ordinal)}
    more = (*_NOMINAL_FOR_TWO, *(_ORDINAL_FOR_TWO if found.scheme.is_ordered else ()))
    for_two: dict[str, Coefficient] = {name: FOR_TWO[name] for name in more}
    if apart is not None:
        for_two["cohen_kappa_weighted"] = weighted_kappa(apart)
    ordered = {"percent_agreement": for_any["percent_agreement"], **for_two, **for_any}
    own = [at for at in range(n_rater) if table.raters[at] != SETTLED]
    together: Mapping[str, Estimate] = {}
    if len(own) > 2:
        ratings = table.ratings[:, own]
        together = estimate_coefficients(
            ratings, table.clusters, categories=table.categories, replicates=replicates, chosen=for_any,
            weights=_weights_where((~np.isnan(ratings)).sum(axis=1) >= 2, found.design),
        )  # fmt: skip
    return LabelAgreement(
        found.scheme, int((~np.isnan(table.ratings)).any(axis=1).sum()), table.alignment,
        {rater: _shares(found, column, replicates) for column, rater in enumerate(table.raters)},
        tuple(_compare_labels(found, pair, ordered, replicates, top) for pair in combinations(range(n_rater), 2)),
        together, reliability_of(table, replicates), found.design, replicates,
    )  # fmt: skip


def _weights_where(rated: Any, design: SampleDesign | None) -> Floats | None:
    """Return how many items each one stands for, if those where `rated` is True stand for all; None without a sample.

    Args:
        rated: bool[n_item].
    """
    if design is None:
        return None
    weights = np.zeros(len(rated))
    weights[rated] = item_weights(design.of_item[rated], design.populations)
    return weights


def _shares(found: LabelTable, column: int, replicates: int) -> tuple[LabelShare, ...]:
    """Estimate how often the rater of a column gives each label."""
    ratings = found.table.ratings[:, column]
    rated = ~np.isnan(ratings)
    estimates = estimate_shares(
        ratings, found.table.clusters, found.scheme.categories, weights=_weights_where(rated, found.design),
        replicates=replicates,
    )  # fmt: skip
    return tuple(
        LabelShare(label, int((ratings == code).sum()), share, _design_error(ratings == code, rated, found.design))
        for code, (label, share) in enumerate(zip(found.scheme.labels, estimates, strict=True))
    )


def _design_error(holds: Any, rated: Any, design: SampleDesign | None) -> float | None:
    """Return the standard error of a share from the drawing of the sample: bool[n_item] each; None without a sample."""
    if design is None:
        return None
    return standard_error(holds[rated].astype(np.float64), design.of_item[rated], design.populations)


def _compare_labels(
    found: LabelTable, columns: tuple[int, int], chosen: Mapping[str, Coefficient], replicates: int, top: int
) -> LabelPair:
    """Compare two raters: coefficients, confusion, and the `top` disagreements that are furthest apart.

    Args:
        columns: of the two raters in the table.
        chosen: coefficients by name.
    """
    table, labels, clusters = found.table, found.scheme.labels, found.table.clusters
    ratings = table.ratings[:, columns]
    both = ~np.isnan(ratings).any(axis=1)
    weights = _weights_where(both, found.design)
    codes = ratings[both].astype(np.int64)
    cells = codes[:, 0] * len(labels) + codes[:, 1]
    counts = np.bincount(cells, minlength=len(labels) ** 2).reshape(len(labels), -1)
    weighed = np.bincount(cells, None if weights is None else weights[both], len(labels) ** 2).reshape(len(labels), -1)
    steps = np.abs(ratings[:, 1] - ratings[:, 0])
    differing = np.flatnonzero(both & (steps > 0)).tolist()
    order = sorted(differing, key=lambda at: (-steps[at] if found.scheme.is_ordered else 0, table.items[at]))
    covered = 1.0
    if found.design is not None:
        populations = found.design.populations
        present = np.unique(found.design.of_item[both])
        covered = float(populations[present].sum() / populations.sum())
    return LabelPair(
        (table.raters[columns[0]], table.raters[columns[1]]), int(both.sum()), len(np.unique(clusters[both])),
        estimate_coefficients(
            ratings, clusters, categories=table.categories, replicates=replicates, chosen=chosen, weights=weights
        ),
        _design_error(ratings[:, 0] == ratings[:, 1], both, found.design), covered,
        tuple(map(tuple, counts.tolist())), tuple(map(tuple, weighed.astype(np.float64).round(6).tolist())),
        tuple(
            LabelDisagreement(
                *table.items[at], (labels[int(ratings[at, 0])], labels[int(ratings[at, 1])]),
                (table.reasons.get((at, columns[0]), ""), table.reasons.get((at, columns[1]), "")),
            )
            for at in order[:top]
        ),
    )  # fmt: skip
