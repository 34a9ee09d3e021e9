"""Coefficients of agreement: against scipy, against slow twins from the definitions, against published examples."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from typer.testing import CliRunner

from prism.cli import app
from prism.errors import PrismError, needs_extra
from prism.reports import agreement
from prism.reports.agreement import FOR_ANY, FOR_TWO, REASONS, estimate_coefficients, mean_estimate
from prism.reports.comparison.paired_tests import kendall_test
from prism.reports.rating_sets import Sets, patterns

NAN = math.nan
NEAR = 1e-12

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers, twelve units.
OBSERVERS = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]).T  # fmt: skip

# Fleiss (1971), table 1: thirty patients, six diagnoses each, in five categories.
DIAGNOSES = """00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006""".split()


def values_of(ratings, **options):
    ratings = np.asarray(ratings, dtype=float)
    found = estimate_coefficients(ratings, np.arange(len(ratings)), replicates=0, **options)
    assert all(each.reason for each in found.values() if each.value is None)
    return {name: each.value for name, each in found.items()}


def value(name, ratings, **options):
    return values_of(ratings, **options)[name]


def random_pairs(n_table=24):
    """Tables of two raters who agree half of the time: few categories, many, or none alike."""
    chance = np.random.default_rng(7)
    for k in range(n_table):
        n, q = int(chance.integers(3, 60)), int(chance.integers(2, 7))
        x = chance.integers(0, q, n) if k % 3 else chance.normal(size=n)
        other = chance.integers(0, q, n) if k % 3 else chance.normal(size=n) + x
        yield np.stack([x, np.where(chance.random(n) < 0.5, x, other) if k % 3 else other], 1).astype(float), q


# Against scipy, and against what is only sometimes there. --------------------------------------------------------


def test_correlations_are_those_of_scipy():
    for ratings, _ in random_pairs():
        found = values_of(ratings)
        if found["pearson"] is None:
            continue
        tau = stats.kendalltau(*ratings.T, method="asymptotic")
        assert found["kendall_tau_b"] == pytest.approx(tau.statistic, abs=NEAR)
        if len(ratings) < 40:
            assert kendall_test(ratings).asymptotic == pytest.approx(tau.pvalue, abs=NEAR)
        assert found["spearman"] == pytest.approx(stats.spearmanr(*ratings.T).statistic, abs=NEAR)
        assert found["pearson"] == pytest.approx(stats.pearsonr(*ratings.T).statistic, abs=NEAR)


def twin_asymptotic(ratings):
    """By Kendall's variance with ties (Rank Correlation Methods, 1970, chapter 4)."""
    n = len(ratings)
    pairs = n * (n - 1)
    s = sum(np.prod(np.sign(ratings[i] - ratings[j])) for i, j in combinations(range(n), 2))
    (two_x, three_x, all_x), (two_y, three_y, all_y) = (
        np.array([(t * (t - 1), t * (t - 1) * (t - 2), t * (t - 1) * (2 * t + 5)) for t in ties]).sum(axis=0)
        for ties in (np.unique(column, return_counts=True)[1] for column in ratings.T)
    )
    variance = (pairs * (2 * n + 5) - all_x - all_y) / 18 + two_x * two_y / (2 * pairs)
    variance += three_x * three_y / (9 * pairs * (n - 2)) if n > 2 else 0
    return math.erfc(abs(s) / math.sqrt(2 * variance))


def twin_exact(ratings):
    """By listing all permutations."""
    x, y = ratings.T

    def score(order):
        return sum(np.sign((x[i] - x[j]) * (y[order[i]] - y[order[j]])) for i, j in combinations(range(len(x)), 2))

    observed = abs(score(range(len(x))))
    return np.mean([abs(score(order)) >= observed for order in permutations(range(len(x)))])


def test_p_values_are_those_of_the_definitions():
    chance = np.random.default_rng(11)
    for n in (2, 3, 5, 6, 30):
        for ratings in (chance.normal(size=(n, 2)), chance.integers(0, 3, (n, 2)).astype(float)):
            found = kendall_test(ratings)
            if found.asymptotic is None:
                continue
            assert found.asymptotic == pytest.approx(twin_asymptotic(ratings), abs=NEAR)
            if n < 7:
                assert found.method == "exact"
                assert found.permutation == pytest.approx(twin_exact(ratings), abs=NEAR)


@pytest.mark.parametrize("absent", ["scipy", "pandas"])
@pytest.mark.parametrize(
    "words",
    [["agree", "rows.jsonl", "judge.jsonl"], ["report", "rows.jsonl"], ["protocol", "compare", "a.jsonl", "b.jsonl"]],
)
def test_a_command_that_needs_an_extra_names_itself_and_the_extra(monkeypatch, words, absent):
    monkeypatch.setitem(sys.modules, absent, None)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 3
    named = " ".join(["prism", *(word for word in words if "." not in word)])
    assert done.stderr == f"prism: {needs_extra(f'{named} needs pandas and scipy of', 'report')}\n"


def test_a_rank_test_without_scipy_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(PrismError, match="report"):
        kendall_test(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]]))


@pytest.mark.slow
def test_no_page_and_no_table_loads_scipy():
    script = (
        "import sys; import prism.cli, prism.reports.tables, prism.reports.ratings, prism.reports.html.page;"
        " sys.exit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_tau_is_counted_by_sorting():
    chance = np.random.default_rng(3)
    for q in (5, 10**6):
        ratings = chance.integers(0, q, (5000, 2)).astype(float)
        ratings[:, 1] += ratings[:, 0] // 2
        assert value("kendall_tau_b", ratings) == pytest.approx(stats.kendalltau(*ratings.T).statistic, abs=NEAR)


def test_exact_permutations():
    for ratings, _ in random_pairs(9):
        test = kendall_test(ratings)
        if len(np.unique(ratings[:, 0])) == len(np.unique(ratings[:, 1])) == len(ratings) <= 50:
            assert test.method == "exact"
            assert test.permutation == pytest.approx(stats.kendalltau(*ratings.T, method="exact").pvalue, abs=NEAR)
    tied = np.array([[1, 1], [1, 2], [2, 2], [3, 5], [4, 4]], dtype=float)
    seen = [abs(stats.kendalltau(tied[:, 0], tied[list(order), 1]).statistic) for order in permutations(range(5))]
    own = abs(stats.kendalltau(*tied.T).statistic)
    test = kendall_test(tied)
    assert test.method == "exact"
    assert test.permutation == pytest.approx(np.mean(np.array(seen) > own - 1e-9))
    sampled = kendall_test(np.concatenate([tied, tied[::-1] + 1, tied]))
    assert sampled.method == "monte_carlo"
    assert sampled.permutation == pytest.approx(sampled.asymptotic, abs=0.01)
    assert kendall_test(np.concatenate([tied] * 21)).method == "none"


def test_kappas_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn: 9 MB for one oracle; the twins are here")
    for ratings, q in random_pairs():
        if (ratings % 1).any():
            continue
        for name, weights in (("", None), ("_linear", "linear"), ("_quadratic", "quadratic")):
            kappa = metrics.cohen_kappa_score(*ratings.astype(int).T, weights=weights, labels=range(q))
            assert value(f"cohen_kappa{name}", ratings, categories=range(q)) == pytest.approx(kappa, abs=NEAR)


def test_kappas_are_those_of_statsmodels():
    from statsmodels.stats import inter_rater as rater

    for ratings, q in random_pairs():
        if not (ratings % 1).any():
            table, _ = rater.aggregate_raters(ratings.astype(int), q)
            assert value("fleiss_kappa", ratings) == pytest.approx(rater.fleiss_kappa(table), abs=NEAR)
            square = np.zeros((q, q))
            np.add.at(square, tuple(ratings.astype(int).T), 1)
            for name, weights in (("", None), ("_linear", "linear"), ("_quadratic", "quadratic")):
                kappa = rater.cohens_kappa(square, wt=weights, return_results=False)
                assert value(f"cohen_kappa{name}", ratings) == pytest.approx(kappa, abs=NEAR)


def test_alphas_are_those_of_krippendorff():
    """Of two raters and of five, a fifth of whose ratings are missing."""
    from krippendorff import alpha

    chance = np.random.default_rng(17)
    many = chance.integers(0, 5, (40, 5)).astype(float)
    many[chance.random(many.shape) < 0.2] = np.nan
    for ratings in (*(ratings for ratings, _ in random_pairs()), many):
        for metric in ("nominal", "ordinal", "interval", "ratio"):
            if metric == "ratio" and np.nanmin(ratings) < 0:
                continue
            expected = alpha(reliability_data=ratings.T, level_of_measurement=metric)
            assert value(f"krippendorff_alpha_{metric}", ratings) == pytest.approx(expected, abs=1e-9)


# Against twins: each from its definition, over full matrices. ------------------------------------------------------


def twin_cohen(ratings, power):
    """1 - observed over expected disagreement, by the table of both raters."""
    values = np.unique(ratings)
    table = np.array([[((ratings[:, 0] == a) & (ratings[:, 1] == b)).mean() for b in values] for a in values])
    apart = np.abs(values[:, None] - values) ** power if power else values[:, None] != values
    return 1 - (apart * table).sum() / (apart * np.outer(table.sum(1), table.sum(0))).sum()


def twin_alpha(ratings, metric):
    """By the matrix of coincidences (Krippendorff 2011)."""
    values = np.unique(ratings[~np.isnan(ratings)])
    q = len(values)
    seen = np.zeros((q, q))
    for row in ratings:
        codes = np.searchsorted(values, row[~np.isnan(row)])
        for a, b in permutations(range(len(codes)), 2):
            seen[codes[a], codes[b]] += 1 / (len(codes) - 1)
    n_c = seen.sum(1)
    n = n_c.sum()
    delta = np.zeros((q, q))
    for c, k in permutations(range(q), 2):
        low, high = min(c, k), max(c, k)
        between = n_c[low : high + 1].sum() - (n_c[c] + n_c[k]) / 2
        gap, total = values[c] - values[k], values[c] + values[k]
        delta[c, k] = {"nominal": 1, "ordinal": between**2, "interval": gap**2, "ratio": (gap / total) ** 2}[metric]
    return 1 - (n - 1) * (seen * delta).sum() / (np.outer(n_c, n_c) * delta).sum()


def twin_gwet(ratings, weights, by_chance):
    """By the counts of each item (Gwet 2014)."""
    values = np.unique(ratings[~np.isnan(ratings)])
    q = len(values)
    counts = np.array([[(row == each).sum() for each in values] for row in ratings])
    counts = counts[counts.sum(1) > 0]
    w = np.ones((q, q)) - np.array([[weights(abs(a - b), q) for b in range(q)] for a in range(q)])
    raters = counts.sum(1)
    two = raters >= 2
    near = (counts * (counts @ w - 1)).sum(1)[two] / (raters * (raters - 1))[two]
    pi = (counts / raters[:, None]).mean(0)
    p_e = by_chance(pi, w, q)
    return (near.mean() - p_e) / (1 - p_e)


def unequal(d, q):
    return float(d > 0)


def ordinal(d, q):
    return math.comb(d + 1, 2) / math.comb(q, 2)


def shared(pi, w, q):
    return (pi * pi).sum()


def even(pi, w, q):
    return 1 / q


def gwets(pi, w, q):
    return w.sum() / (q * (q - 1)) * (pi * (1 - pi)).sum()


@pytest.mark.slow
def test_kappas_are_those_of_their_definition():
    for ratings, _ in random_pairs(15):
        found = values_of(ratings)
        for name, power in (("cohen_kappa", 0), ("cohen_kappa_linear", 1), ("cohen_kappa_quadratic", 2)):
            assert found[name] == pytest.approx(twin_cohen(ratings, power), abs=NEAR)


def test_coefficients_of_many_raters_are_those_of_their_definition():
    chance = np.random.default_rng(5)
    for _ in range(15):
        ratings = chance.integers(1, 5, (25, 4)).astype(float)
        ratings[chance.random(ratings.shape) < 0.2] = NAN
        ratings[chance.random(25) < 0.3] = ratings[0]
        found = values_of(ratings)
        for metric in ("nominal", "ordinal", "interval", "ratio"):
            alpha = twin_alpha(ratings, metric)
            assert found[f"krippendorff_alpha_{metric}"] == pytest.approx(alpha, abs=NEAR)
        for name, weights, by_chance in (
            ("gwet_ac1", unequal, gwets), ("gwet_ac2", ordinal, gwets),
            ("fleiss_kappa", unequal, shared), ("pabak", unequal, even),
        ):  # fmt: skip
            assert found[name] == pytest.approx(twin_gwet(ratings, weights, by_chance), abs=NEAR)


# Published examples. -----------------------------------------------------------------------------------------------


def test_krippendorffs_own_example():
    published = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}
    for metric, alpha in published.items():
        assert value(f"krippendorff_alpha_{metric}", OBSERVERS) == pytest.approx(alpha, abs=6e-4)
    assert value("percent_agreement", OBSERVERS) == pytest.approx(0.8182, abs=5e-5)
    assert value("gwet_ac1", OBSERVERS) == pytest.approx(0.7754, abs=5e-5)  # Gwet (2014), table 2.10


def test_fleiss_own_example():
    ratings = [[k for k, count in enumerate(row) for _ in range(int(count))] for row in DIAGNOSES]
    assert value("fleiss_kappa", ratings) == pytest.approx(0.430, abs=5e-4)
    assert value("percent_agreement", ratings) == pytest.approx(0.556, abs=5e-4)


def test_gwets_own_example():
    """The paradox: 118 and 0 on the diagonal, 5 and 2 beside it; kappa says less than chance."""
    ratings = [(1, 1)] * 118 + [(1, 0)] * 5 + [(0, 1)] * 2
    assert value("gwet_ac1", ratings) == pytest.approx(0.9408, abs=5e-5)
    assert value("cohen_kappa", ratings) == pytest.approx(-0.0234, abs=5e-5)
    assert value("pabak", ratings) == pytest.approx(0.888, abs=NEAR)


# Properties. -------------------------------------------------------------------------------------------------------

tables = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12)
gappy = st.lists(st.lists(st.one_of(st.just(NAN), st.integers(0, 3)), min_size=3, max_size=3), min_size=2, max_size=8)


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, each in expected.items():
        assert found[name] == (each if each is None else pytest.approx(each, abs=1e-9)), name


@settings(max_examples=25)
@given(tables)
def test_neither_the_order_of_items_nor_of_raters_matters(pairs):
    ratings = np.array(pairs, dtype=float)
    expected = values_of(ratings)
    same(values_of(ratings[::-1]), expected)
    swapped = values_of(ratings[:, ::-1])
    same({**swapped, "bias": -swapped["bias"]}, expected)


@settings(max_examples=25)
@given(tables)
def test_ranks_survive_what_keeps_order_and_intervals_what_is_linear(pairs):
    ratings = np.array(pairs, dtype=float)
    expected, cubes, moved = values_of(ratings), values_of(ratings**3 + ratings), values_of(3 * ratings - 7)
    kept = ("kendall_tau_b", "spearman", "cohen_kappa", "gwet_ac1", "gwet_ac2", "krippendorff_alpha_ordinal", "pabak")
    same({name: cubes[name] for name in kept}, {name: expected[name] for name in kept})
    more = (*kept, "pearson", "cohen_kappa_linear", "cohen_kappa_quadratic", "krippendorff_alpha_interval")
    same({name: moved[name] for name in more}, {name: expected[name] for name in more})


@settings(max_examples=25)
@given(tables)
def test_who_agrees_always_agrees_fully(pairs):
    ratings = np.array([(x, x) for x, _ in pairs], dtype=float)
    for name, each in values_of(ratings).items():
        assert each is None or each == pytest.approx(0 if name in ("mae", "bias") else 1, abs=1e-12)


@settings(max_examples=25)
@given(gappy)
def test_an_item_that_nobody_rated_changes_nothing(rows):
    ratings = np.array(rows, dtype=float)
    expected = values_of(ratings)
    same(values_of(np.concatenate([ratings, np.full((2, 3), NAN)])), expected)
    assert all(each is None or each <= 1 + 1e-12 for each in expected.values())


@settings(max_examples=25)
@given(st.one_of(tables, gappy), st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_a_weight_is_so_many_items(rows, times):
    """What holds the bootstrap: a coefficient of weights is that of the items written out."""
    ratings = np.array(rows, dtype=float)
    if ratings.shape[1] == 2 or (~np.isnan(ratings)).any():
        found = patterns(ratings)
        weights = np.bincount(found.of_item, times[: len(ratings)], len(found.codes))[None, :].astype(float)
        written = np.repeat(ratings, times[: len(ratings)], axis=0)
        if not ((~np.isnan(written)).sum(axis=1) >= 2).any():
            return
        categories = found.values
        whole = estimate_coefficients(written, np.arange(len(written)), replicates=0, categories=categories)
        for name, coefficient in (FOR_TWO if ratings.shape[1] == 2 else FOR_ANY).items():
            (one,) = coefficient(Sets(found, weights))
            if whole[name].reason != "too_few_items":
                expected = whole[name].value
                assert np.isnan(one) if expected is None else one == pytest.approx(expected, abs=1e-9), name


# Degenerate ratings and intervals. ---------------------------------------------------------------------------------


def test_what_is_undefined_says_why():
    alike = np.full((5, 2), 0.1)
    found = estimate_coefficients(alike, np.arange(5))
    assert {name: each.reason for name, each in found.items() if each.value is None} == {
        **dict.fromkeys(("kendall_tau_b", "spearman", "pearson"), "constant_ratings"),
        **dict.fromkeys(("cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic"), "one_category"),
        **dict.fromkeys(set(FOR_ANY) - {"percent_agreement"}, "one_category"),
    }
    assert (found["percent_agreement"].value, found["mae"].value) == (1, 0)
    none = estimate_coefficients(np.full((3, 2), NAN), np.arange(3))
    assert {(each.value, each.n, each.reason) for each in none.values()} == {(None, 0, "no_items")}
    one = estimate_coefficients(np.array([[0.5, 1.0], [NAN, 1.0]]), np.arange(2))
    assert one["mae"].value == 0.5
    assert one["mae"].reason == "one_problem"
    assert one["pearson"].reason == "too_few_items"
    assert value("krippendorff_alpha_ratio", [[0, 1], [1, 1], [0, 0]]) is not None
    negative = estimate_coefficients(np.array([[-1.0, 1], [1, 1], [0, 0]]), np.arange(3))["krippendorff_alpha_ratio"]
    assert (negative.value, negative.reason) == (None, "negative_values")
    many = estimate_coefficients(np.arange(2002.0).reshape(-1, 2), np.arange(1001), replicates=0)[
        "krippendorff_alpha_ratio"
    ]
    assert (many.value, many.reason) == (None, "too_many_values")
    assert kendall_test(alike).reason == "constant_ratings"
    assert kendall_test(alike[:1]).reason == "too_few_items"
    assert all(each.reason in {"", *REASONS} for found in (found, none, one) for each in found.values())
    for bad in (np.zeros(3), np.zeros((3, 1)), np.array([[np.inf, 1], [0, 0], [1, 1]])):
        with pytest.raises(PrismError):
            estimate_coefficients(bad, np.arange(3))


def as_array(estimate):
    return np.array([estimate.low, estimate.high])


def test_intervals_are_of_problems_and_the_same_every_time():
    chance = np.random.default_rng(11)
    problems = chance.integers(0, 3, (30, 2)).astype(float)
    problems[::2, 1] = problems[::2, 0]
    ratings = np.repeat(problems, 10, axis=0)  # ten solutions a problem that are all rated as one
    clustered = estimate_coefficients(ratings, np.arange(300) // 10)
    alone = estimate_coefficients(ratings, np.arange(300))
    few = estimate_coefficients(problems, np.arange(30))
    assert clustered == estimate_coefficients(ratings, np.arange(300) // 10)
    for name, each in clustered.items():
        ends, ends_alone, ends_few = (as_array(found[name]) for found in (clustered, alone, few))
        assert each.value == pytest.approx(alone[name].value)
        assert ends[0] <= each.value <= ends[1]
        assert np.diff(ends) > 2 * np.diff(ends_alone)
        if "alpha" not in name:  # whose expected disagreement knows the number of ratings
            assert ends == pytest.approx(ends_few)
    assert estimate_coefficients(ratings, np.zeros(300, dtype=int))["pearson"].reason == "one_problem"


def test_tau_of_many_patterns_is_linearised(monkeypatch):
    chance = np.random.default_rng(2)
    ratings = chance.normal(size=(300, 2))
    ratings[:, 1] += ratings[:, 0]
    exact = estimate_coefficients(ratings, np.arange(300) // 3)["kendall_tau_b"]
    monkeypatch.setattr(agreement, "_MAX_PAIRED", 0)
    near = estimate_coefficients(ratings, np.arange(300) // 3)["kendall_tau_b"]
    assert near.value == exact.value
    assert (near.low, near.high) == pytest.approx((exact.low, exact.high), abs=0.01)


def test_a_mean_has_an_interval():
    found = mean_estimate(np.array([0.0, 1, 1, 0, 1, 1]), np.array([0, 0, 1, 1, 2, 2]))
    assert found.value == pytest.approx(2 / 3)
    assert (found.low, found.high) == (0.5, 1.0)
    assert mean_estimate(np.empty(0), np.empty(0, dtype=int)).reason == "no_items"


def test_pairs_of_raters_are_those_of_all():
    for a, b in combinations(range(4), 2):
        ratings = OBSERVERS[:, [a, b]]
        kept = ratings[~np.isnan(ratings).any(axis=1)]
        assert value("spearman", ratings) == pytest.approx(stats.spearmanr(*kept.T).statistic, abs=NEAR)
