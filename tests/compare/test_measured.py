"""What is said about error rates is what was measured: the table in the code, the page and the result file agree."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from type_one_tables import RATES, RESULTS, SCORES_ALONE, coverage_rows, error_rates, page_rows, power_rows, words

import outfold as of
from internals import DECISIONS, LIMIT
from internals import error_rates as measured

PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"


@pytest.fixture(scope="module")
def rows():
    return json.loads(RESULTS.read_text())["rows"]


def largest(kind, test):
    return max(measured()[kind][test].values())


def test_the_rates_in_the_package_are_those_of_the_study(rows):
    assert RATES.read_text() == error_rates(rows)


def test_the_page_holds_the_tables_of_the_study(rows):
    text = PAGE.read_text()
    for table in (page_rows, power_rows, coverage_rows):
        lines = list(table(rows))
        assert len(lines) > 5
        assert "\n".join(lines) in text


def test_the_page_says_what_the_study_found(rows):
    text = " ".join(PAGE.read_text().split())
    for sentence in words(rows):
        assert sentence in text


def test_every_setting_has_its_data_sets(rows):
    assert {row["sets"] for row in rows} == {1000}


# What `auto` takes, and where.
TAKEN = {
    "t_training": ("K-fold", "repeated K-fold", "5 x 2-fold", "blocked", "repeated hold-out"),
    SCORES_ALONE: ("K-fold",),
}


@pytest.mark.parametrize(("test", "kind"), [(test, kind) for test, kinds in TAKEN.items() for kind in kinds])
def test_auto_takes_only_tests_that_err_in_at_most_six_percent(test, kind):
    assert largest(kind, test) <= 0.06


def test_what_auto_takes():
    recommended = {row.measured for row in DECISIONS if row.test is not None}
    assert recommended == {"permutation", "mcnemar", "delong", "t_corrected", "t_skewed", *TAKEN}
    # Whole test sets: rounded up, AUC on few samples apart, where a sentence says how often it errs.
    assert largest("one test set", "mcnemar") <= 0.06
    for kind in ("one test set", "large test set"):
        assert measured()[kind]["permutation"]["squared error"] <= 0.06
    assert largest("large test set", "delong") <= 0.06
    assert min(largest("leave-one-out", test) for test in measured()["leave-one-out"]) > LIMIT


def test_a_calibrated_correlation_has_power_where_one_half_has_none(rows):
    plans = [row["rejected"][d] for row in rows if row["null"] == "difference" for d in ("10-fold", "5-fold")]
    power = {
        test: np.mean([by_test[test] for plan in plans for by_test in plan.values() if test in by_test])
        for test in ("t_corrected", SCORES_ALONE, "t_corrected_kfold")
    }
    assert power["t_corrected"] > power[SCORES_ALONE] > 3 * power["t_corrected_kfold"]


@pytest.mark.parametrize("kind", ["repeated K-fold", "5 x 2-fold", "blocked", "repeated hold-out"])
def test_where_no_test_of_scores_keeps_its_level_auto_takes_the_least_liberal(kind):
    needs_predictions = {"t_training", "bootstrap", "permutation", "delong", "mcnemar", "z_proportions"}
    of_scores = {test: largest(kind, test) for test in measured()[kind] if test not in needs_predictions}
    assert min(of_scores.values()) > LIMIT
    assert min(of_scores, key=of_scores.get) == "t_corrected"


def test_where_auto_takes_permutation_for_areas_it_errs_least():
    assert largest("one test set", "delong") > LIMIT
    assert largest("one test set", "permutation") < largest("one test set", "delong")


def test_a_test_that_errs_says_so():
    scores = of.from_scores(
        {"a": [0.8, 0.7, 0.9, 0.8] * 5, "b": [0.7, 0.6, 0.9, 0.7] * 5}, n_train=90, n_test=10, repeats=2
    )
    (note,) = (n for n in of.compare.t_corrected(scores, None, 0, 1).notes if n.code == "OF312")
    assert f"in up to {largest('repeated K-fold', 't_corrected'):.0%} of simulated data sets" in note.text


@pytest.mark.parametrize(
    ("y", "predicted", "response", "metric"),
    [
        (None, lambda rng: (rng.random((3000, 2)) < 0.8).astype(float), "pointwise", "mean"),
        (None, lambda rng: rng.random((3000, 2)), "pointwise", "mean"),
        ("value", lambda rng: rng.normal(size=(3000, 2)), "value", "mse"),
        ("class", lambda rng: rng.random((3000, 2)), "proba", "roc_auc"),
        ("class", lambda rng: rng.random((60, 2)), "proba", "accuracy"),
    ],
)
def test_what_auto_takes_on_one_test_set_has_no_caveat_of_its_error_rate(y, predicted, response, metric):
    rng = np.random.default_rng(0)
    P = predicted(rng)
    labels = None if y is None else rng.normal(size=len(P)) if y == "value" else np.arange(len(P)) % 2
    found = of.compare.auto(of.from_arrays(labels, P, response=response), metric, 0, 1)
    assert "OF312" not in {note.code for note in found.notes}


def test_where_no_test_keeps_its_level_auto_says_so_itself():
    rng = np.random.default_rng(0)
    found = of.compare.auto(of.from_arrays(np.arange(40) % 2, rng.random((40, 2)), response="proba"), "roc_auc", 0, 1)
    assert f"in up to {measured()['one test set']['permutation']['AUC']:.0%} of data sets" in found.reason
