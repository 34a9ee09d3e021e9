"""Agreement in names: the vocabulary, coefficients against published examples, confusion, what is settled."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from prism.cli import app
from prism.errors import PrismError
from prism.reports.judgements import Judgement
from prism.reports.label_agreement import (
    LabelTable,
    SampleDesign,
    label_agreement_of,
    label_table,
    labelled_table,
    make_scheme,
    read_distances,
    settle,
)
from prism.reports.rating_sets import Stratum
from prism.reports.ratings import Items, rating_table
from tests.reports.test_judgements import score_row, write

NEAR = 1e-12
WPC = ("wrong", "partial", "correct")


def run(*words):
    return CliRunner().invoke(app, ["agree", *map(str, words)])


def as_json(*words):
    done = run(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def table_of(rows, labels, *, is_ordered=True, design=None):
    """A table of labels: one item a row, each of a problem of its own; None for no label."""
    raters = [f"r{k}" for k in range(len(rows[0]))]
    items: Items = {(str(at), ""): None for at in range(len(rows))}
    gathered = {
        rater: [Judgement(str(at), "", None, label=row[k] or "", dropped="no_score") for at, row in enumerate(rows)]
        for k, rater in enumerate(raters)
    }
    scheme = make_scheme(labels, is_ordered=is_ordered)
    return LabelTable(scheme, labelled_table(items, gathered, scheme), design)


def agreed_of(*args, **options):
    replicates = options.pop("replicates", 0)
    distance = options.pop("distance", "")
    found = table_of(*args, **options)
    apart = read_distances(distance, found.scheme) if distance else None
    return label_agreement_of(found, replicates=replicates, apart=apart)


def people(path, rows, names=("a", "b")):
    """A CSV of labels by two people."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["problem_id", "sample_id", "rater", "label"])
        for at, row in enumerate(rows):
            for name, label in zip(names, row, strict=True):
                if label is not None:
                    writer.writerow([f"p{at}", "s", name, label])
    return path


# Published examples. -----------------------------------------------------------------------------------------------

# Cohen (1968), table 1, whose proportions are those of Cohen (1960): 200 patients, two judges, three diagnoses.
DIAGNOSES = ("personality disorder", "neurosis", "psychosis")
COHEN = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
COHENS_WEIGHTS = "personality disorder:neurosis=1,personality disorder:psychosis=3,neurosis:psychosis=6"

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers, twelve units.
OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")


def cohens_rows():
    return [(DIAGNOSES[i], DIAGNOSES[j]) for i in range(3) for j in range(3) for _ in range(COHEN[i][j])]


def test_cohens_own_example():
    (pair,) = agreed_of(cohens_rows(), DIAGNOSES, is_ordered=False, distance=COHENS_WEIGHTS).pairs
    assert pair.n == 200
    assert [list(row) for row in pair.confusion] == COHEN
    found = {name: each.value for name, each in pair.coefficients.items()}
    assert found["percent_agreement"] == pytest.approx(0.70, abs=NEAR)
    assert found["cohen_kappa"] == pytest.approx(0.492, abs=5e-4)
    assert found["cohen_kappa_weighted"] == pytest.approx(0.348, abs=5e-4)
    assert "cohen_kappa_linear" not in found  # these have no order
    assert "krippendorff_alpha_ordinal" not in found


def test_cohens_own_example_by_the_command(tmp_path):
    path = people(tmp_path / "judges.csv", cohens_rows())
    data = as_json(path, "--labels", ",".join(DIAGNOSES), "--distance", COHENS_WEIGHTS, "--replicates", 0)
    found = data["pairs"][0]["coefficients"]
    assert found["cohen_kappa"]["value"] == pytest.approx(0.492, abs=5e-4)
    assert found["cohen_kappa_weighted"]["value"] == pytest.approx(0.348, abs=5e-4)
    assert data["pairs"][0]["confusion"] == COHEN


def test_krippendorffs_own_example():
    rows = [[each if each != "." else None for each in unit] for unit in zip(*OBSERVERS, strict=True)]
    together = agreed_of(rows, "12345").together
    assert together["krippendorff_alpha_nominal"].value == pytest.approx(0.743, abs=6e-4)
    assert together["krippendorff_alpha_ordinal"].value == pytest.approx(0.815, abs=6e-4)
    assert together["percent_agreement"].value == pytest.approx(0.8182, abs=5e-5)


def test_evenly_spaced_weights_are_the_linear_and_squared_ones_the_quadratic_kappa():
    chance = np.random.default_rng(5)
    rows = [(WPC[a], WPC[b]) for a, b in chance.integers(0, 3, (40, 2))]
    for power, name in ((1, "linear"), (2, "quadratic")):
        weights = f"wrong:partial=1,partial:correct=1,wrong:correct={2**power}"
        found = agreed_of(rows, WPC, distance=weights).pairs[0].coefficients
        assert found["cohen_kappa_weighted"].value == pytest.approx(found[f"cohen_kappa_{name}"].value, abs=NEAR)


def test_a_label_that_nobody_gives_still_has_its_place():
    """Of wrong, partial and correct, with nothing partial, one step is still half of the way."""
    rows = [("wrong", "correct"), ("correct", "correct"), ("wrong", "wrong"), ("correct", "wrong")]
    with_gap = agreed_of(rows, WPC).pairs[0].coefficients
    without = agreed_of(rows, ("wrong", "correct")).pairs[0].coefficients
    assert with_gap["cohen_kappa_linear"].value == pytest.approx(without["cohen_kappa_linear"].value)
    assert with_gap["gwet_ac2"].value != pytest.approx(without["gwet_ac2"].value)  # q counts the vocabulary
    assert with_gap["pabak"].value == pytest.approx((3 * 0.5 - 1) / 2)


# The vocabulary. ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "label"), [
    ("Correct", "correct"), (" WRONG ", "wrong"), ("incorrect", "wrong"), ("right", "correct"), ("pass", "correct"),
    ("partly correct", "partial"), ("unclear", None), ("", None), ("0", None),
])  # fmt: skip
def test_a_word_is_a_label_of_the_vocabulary(said, label):
    code = make_scheme(WPC, is_ordered=True).code_of_text(said)
    assert (None if code is None else WPC[code]) == label


def test_a_word_for_two_labels_is_none():
    assert make_scheme(["right", "correct", "wrong"], is_ordered=False).code_of_text("yes") is None


def test_scores_become_labels_by_cuts():
    def labels(scheme):
        return [scheme.labels[scheme.code_of_score(score)] for score in (0, 1e-3, 0.5, 0.75, 1)]

    assert labels(make_scheme(WPC, is_ordered=True)) == ["wrong", "partial", "partial", "partial", "correct"]
    cut = make_scheme(WPC, is_ordered=True, cuts=(0.25, 0.75))
    assert labels(cut) == ["wrong", "wrong", "partial", "correct", "correct"]
    assert labels(make_scheme(["no", "yes"], is_ordered=True)) == ["no", "no", "no", "no", "yes"]
    assert labels(make_scheme(["correct", "wrong"], is_ordered=False)) == ["wrong"] * 4 + ["correct"]
    assert make_scheme(["good", "bad"], is_ordered=False).code_of_score(1.0) is None
    assert make_scheme(list("abcd"), is_ordered=True).code_of_score(1.0) is None  # four need cuts


@pytest.mark.parametrize(("labels", "is_ordered", "cuts", "told"), [
    (["wrong"], True, (), "2 to 20 different names"), (["a", "A"], True, (), "different names"),
    (["a", ""], True, (), "different names"), (list("abc"), True, (0.5,), "expected 2, ascending"),
    (list("abc"), True, (0.5, 0.5), "expected 2, ascending"),
    (["good", "bad"], False, (0.5,), "needs labels in an order"),
])  # fmt: skip
def test_a_vocabulary_is_checked(labels, is_ordered, cuts, told):
    with pytest.raises(PrismError, match=told):
        make_scheme(labels, is_ordered=is_ordered, cuts=cuts)


def test_weights_of_disagreement_are_checked_all_at_once():
    scheme = make_scheme(WPC, is_ordered=True)
    with pytest.raises(PrismError) as error:
        read_distances("wrong:partial=1,wrong:partial=2,wrong:good=1,partial:correct=-1,x", scheme)
    assert len(str(error.value).splitlines()) == 4
    with pytest.raises(PrismError, match="no weight of wrong:correct"):
        read_distances("wrong:partial=1,partial:correct=1", scheme)


# Rules, judges and people. -----------------------------------------------------------------------------------------


@pytest.fixture
def scored(tmp_path):
    scores = [0.0, 0.5, 1.0, 1.0, 0.25, None]
    return write(tmp_path / "scores.jsonl", [score_row(f"p{k}", "s", score) for k, score in enumerate(scores)])


def test_rules_judges_with_numbers_and_people_with_names_are_compared(tmp_path, scored):
    judge = write(
        tmp_path / "judge.jsonl", [{"problem_id": f"p{k}", "sample_id": "s", "score": 10 - 2 * k} for k in range(6)]
    )
    anna = people(tmp_path / "anna.csv", [["wrong"], ["Partial"], ["right"], ["wrong"], ["unclear"], [None]], ["anna"])
    data = as_json(scored, judge, anna, "--order", "wrong,partial,correct", "--cut", "0.25,0.75", "--scale", "0:10",
                   "--replicates", 0)  # fmt: skip
    by = {tuple(pair["raters"]): pair for pair in data["pairs"]}
    assert by["rules", "anna"]["confusion"] == [[1, 0, 0], [0, 1, 0], [1, 0, 1]]
    assert by["rules", "judge"]["confusion"] == [[0, 0, 1], [1, 0, 1], [0, 2, 0]]
    assert data["alignment"][0]["dropped"] == {"not_graded": 1}
    assert data["alignment"][2]["dropped"] == {"unknown_label": 1}
    shares = {one["label"]: one["count"] for one in data["shares"]["anna"]}
    assert shares == {"wrong": 2, "partial": 1, "correct": 1}
    assert data["sample"] is None
    assert by["rules", "anna"]["standard_error"] is None


def test_scores_without_cuts_and_beyond_the_scale_are_faults(tmp_path, scored):
    judge = write(tmp_path / "judge.jsonl", [{"problem_id": "p0", "sample_id": "s", "score": 7}])
    with pytest.raises(PrismError, match="judge: scores from 7 to 7 do not fit 0:1; say --scale"):
        label_table(scored, [judge], make_scheme(WPC, is_ordered=True))
    anna = people(tmp_path / "anna.csv", [["good"], ["bad"]], ["anna"])
    with pytest.raises(PrismError, match="rules: scores, and nothing says which label each is"):
        label_table(scored, [anna], make_scheme(["good", "bad"], is_ordered=False))


def test_a_scale_of_numbers_may_be_the_names(tmp_path):
    path = people(tmp_path / "marks.csv", [("1", "2"), ("3", "3"), ("2", "2")])
    data = as_json(path, "--order", "1,2,3", "--replicates", 0)
    assert data["pairs"][0]["confusion"] == [[0, 1, 0], [0, 1, 0], [0, 0, 1]]
    marks = [
        {"problem_id": f"p{k}", "sample_id": "s", "score": {"a": a, "b": b}}
        for k, (a, b) in enumerate([(1, 2), (3, 3), (2, 2)])
    ]
    data = as_json(write(tmp_path / "marks.jsonl", marks), "--order", "1,2,3", "--replicates", 0)
    assert data["pairs"][0]["confusion"] == [[0, 1, 0], [0, 1, 0], [0, 0, 1]]


def test_people_who_only_give_names_need_no_option(tmp_path):
    path = people(tmp_path / "moods.csv", [("good", "good"), ("bad", "good"), ("bad", "bad"), ("good", "Good")])
    data = as_json(path, "--replicates", 0)
    assert data["labels"] == ["bad", "good"]
    assert data["ordered"] is False
    assert data["pairs"][0]["coefficients"]["percent_agreement"]["value"] == 0.75
    table = run(path, "--replicates", 0)
    assert table.exit_code == 0
    assert "Items by label of a (rows) and of b (columns):" in table.stdout


def test_names_that_are_scores_stay_scores(tmp_path):
    """`correct`, `wrong` and `partial` without an option are 1, 0 and 0.5, as they were."""
    path = people(tmp_path / "words.csv", [("correct", "partial"), ("wrong", "wrong")])
    data = as_json(path, "--replicates", 0)
    assert "labels" not in data
    assert data["pairs"][0]["coefficients"]["mae"]["value"] == 0.25


def test_names_beside_score_rows_need_an_order_and_are_told_so(tmp_path, scored):
    path = people(tmp_path / "moods.csv", [["good"], ["bad"]], ["a"])
    done = run(scored, path)
    assert done.exit_code == 5
    assert "--order LOW,...,HIGH" in done.stderr
    assert run(scored, path, "--order", "bad,good").exit_code == 0


def test_an_interval_draws_problems():
    rows = [("wrong", "wrong"), ("correct", "wrong"), ("correct", "correct"), ("wrong", "wrong")] * 5
    found = agreed_of(rows, WPC, replicates=200).pairs[0].coefficients["cohen_kappa"]
    assert found.low < found.value < found.high
    again = agreed_of(rows, WPC, replicates=200).pairs[0].coefficients["cohen_kappa"]
    assert again == found


def test_disagreements_far_apart_come_first():
    rows = [("wrong", "partial"), ("wrong", "correct"), ("correct", "correct")]
    listed = agreed_of(rows, WPC).pairs[0].disagreements
    assert [item.labels for item in listed] == [("wrong", "correct"), ("wrong", "partial")]


# Weights. ----------------------------------------------------------------------------------------------------------


def test_an_item_weighs_as_many_as_it_stands_for():
    """Whole weights are items written out, for every coefficient of every table."""
    chance = np.random.default_rng(11)
    drawn = chance.integers(0, 3, (8, 3))
    rows = [tuple(WPC[code] for code in row) for row in drawn]
    of_item = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    design = SampleDesign("m", (Stratum("a", 4, 4), Stratum("b", 12, 4)), of_item)
    weighed = agreed_of(rows, WPC, design=design)
    written = agreed_of([row for row, times in zip(rows, 4 * [1] + 4 * [3], strict=True) for _ in range(times)], WPC)
    for one, other in zip(weighed.pairs, written.pairs, strict=True):
        assert np.array(one.weighted) == pytest.approx(np.array(other.confusion))
        for name, each in other.coefficients.items():
            assert one.coefficients[name].value == pytest.approx(each.value, abs=1e-9), name
        assert one.covered == 1
    for name, each in written.together.items():
        assert weighed.together[name].value == pytest.approx(each.value, abs=1e-9), name
    for rater, shares in written.shares.items():
        assert [one.share.value for one in weighed.shares[rater]] == pytest.approx([one.share.value for one in shares])


def test_others_of_a_stratum_stand_for_those_without_a_label():
    rows = [("wrong", "wrong"), ("wrong", "correct"), ("correct", "correct"), ("correct", None), ("wrong", None)]
    design = SampleDesign(
        "m", (Stratum("a", 10, 2), Stratum("b", 30, 2), Stratum("c", 20, 1)), np.array([0, 0, 1, 1, 2])
    )
    (pair,) = agreed_of(rows, WPC, design=design).pairs
    assert pair.n == 3
    assert pair.covered == pytest.approx(40 / 60)
    assert pair.coefficients["percent_agreement"].value == pytest.approx((10 * 0.5 + 30 * 1) / 40)
    assert pair.standard_error is None  # one label of thirty: nobody knows how they vary


# What is settled. --------------------------------------------------------------------------------------------------


def test_an_adjudicator_settles_where_raters_differ():
    rows = [
        ("wrong", "wrong", None), ("wrong", "correct", "partial"), ("wrong", "correct", None), (None, "correct", None),
        (None, None, None), ("wrong", "wrong", "correct"),
    ]  # fmt: skip
    settled = settle(table_of(rows, WPC).table, "r2")
    assert settled.settled_by == ("all", "r2", "", "all", "", "r2")
    last = settled.table.ratings[:, -1]
    assert last[[0, 1, 3, 5]].tolist() == [0, 1, 2, 2]
    assert np.isnan(last[[2, 4]]).all()
    assert settled.to_dict() == {"adjudicator": "r2", "by_all": 2, "by_adjudicator": 2, "open": 2}
    with pytest.raises(PrismError, match='no rater is called "r9"; the raters are r0, r1, r2'):
        settle(table_of(rows, WPC).table, "r9")
    with pytest.raises(PrismError, match="settled already"):
        settle(settled.table, "r2")


@pytest.mark.slow
def test_rules_settle_nothing_and_are_measured(tmp_path, scored):
    labels = [("wrong", "wrong", None), ("wrong", "correct", "partial"), ("correct", "correct", None)]
    path = people(tmp_path / "people.csv", labels, ("anna", "ben", "cleo"))
    out = tmp_path / "gold.csv"
    order = ("--order", "wrong,partial,correct", "--replicates", 0)
    data = as_json(scored, path, *order, "--adjudicator", "cleo", "-o", out)
    assert data["settled"] == {"adjudicator": "cleo", "by_all": 2, "by_adjudicator": 1, "open": 3}
    by = {tuple(pair["raters"]): pair for pair in data["pairs"]}
    assert by["rules", "settled"]["confusion"] == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    rows = list(csv.DictReader(out.open()))
    assert [(row["label"], row["settled_by"]) for row in rows] == [
        ("wrong", "all"),
        ("partial", "cleo"),
        ("correct", "all"),
    ]
    again = as_json(scored, out, *order)
    assert again["pairs"][0]["raters"] == ["rules", "settled"]
    assert again["pairs"][0]["confusion"] == by["rules", "settled"]["confusion"]
    assert run(scored, path, *order, "--adjudicator", "cleo", "-o", out).exit_code == 3  # nothing is overwritten
    assert run(scored, path, *order, "--adjudicator", "rules").exit_code == 3
    assert run(scored, path, *order, "--adjudicator", "cleo", "-o", tmp_path / "gold.json").exit_code == 2


def test_numbers_are_settled_too(tmp_path, scored):
    path = write(tmp_path / "people.jsonl", [
        {"problem_id": f"p{k}", "sample_id": "s", "score": scores}
        for k, scores in enumerate([{"a": 0.5, "b": 0.5}, {"a": 0, "b": 1, "c": 0.25}, {"a": 1, "b": 0}])
    ])  # fmt: skip
    out = tmp_path / "gold.csv"
    data = as_json(scored, path, "--adjudicator", "c", "-o", out, "--replicates", 0)
    assert data["settled"] == {"adjudicator": "c", "by_all": 1, "by_adjudicator": 1, "open": 4}
    assert [row["score"] for row in csv.DictReader(out.open())] == ["0.5", "0.25"]
    table = rating_table(scored, [out])
    assert table.ratings[:2, 1].tolist() == [0.5, 0.25]
    without = as_json(scored, path, "--replicates", 0)
    assert data["together"] == without["together"]  # what was settled from the raters is no further rater


# The command. ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [
    "--labels a,b --order a,b", "--order a", "--cut high", "--cut 0.2,0.5", "--distance a:b=1", "--out x.csv",
    "--strata score", "--problems free_fall", "--order a,b --cut 0.2,0.5",
])  # fmt: skip
def test_options_that_do_not_fit_are_usage_errors(words, scored):
    done = run(scored, scored, *words.split())
    assert done.exit_code == 2, done.output


def test_a_cut_of_scores_is_as_it_was(tmp_path, scored):
    judge = write(tmp_path / "judge.jsonl", [{"problem_id": f"p{k}", "sample_id": "s", "score": 0.6} for k in range(4)])
    data = as_json(scored, judge, "--cut", "0.5", "--replicates", 0)
    assert data["pairs"][0]["coefficients"]["percent_agreement"]["value"] == 0.75
