"""Neighbouring rows on both sides of a split."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import outfold as of
from internals import serial_correlation


def collect(model, X, y, plan=None, **options):
    return of.collect(model, X, y, plan, progress=False, **options)


def walk(n=200, seed=0):
    """A random walk, with the time as the only feature."""
    return np.arange(n, dtype=float)[:, None], np.cumsum(np.random.default_rng(seed).normal(size=n))


def patients(n=200, seed=0):
    """Ten rows of each patient, one after the other: features, a value and a diagnosis that only the patient explains."""
    rng = np.random.default_rng(seed)
    who = np.arange(n) // 10
    X = rng.normal(0, 1.5, (n // 10, 4))[who] + rng.normal(size=(n, 4))
    value = rng.normal(size=n // 10)[who] + rng.normal(size=n)
    return who, X, value, rng.permutation(np.arange(n // 10) % 2)[who]


@pytest.mark.parametrize(
    "model", [LinearRegression(), KNeighborsRegressor(1), KNeighborsRegressor(5), RandomForestRegressor(10)]
)
def test_fires_on_a_random_walk_whatever_the_model(says, model):
    oof = collect(model, *walk())
    text = says("OF513", oof)
    assert text.startswith("the values of the target of neighbouring rows are correlated (0.9")
    assert "90% of neighbouring rows are held out apart" in text
    assert not of.check(oof).ok
    assert of.check(oof)[0].code == "OF513"


def test_fires_on_a_series_with_its_last_values_as_features(says):
    y = np.zeros(203)
    noise = np.random.default_rng(0).normal(size=203)
    for t in range(1, 203):
        y[t] = 0.7 * y[t - 1] + noise[t]
    oof = collect(LinearRegression(), np.stack([y[2:-1], y[1:-2], y[:-3]], axis=1), y[3:])
    assert "correlated" in says("OF513", oof)


def test_fires_on_residuals_that_drift_where_the_target_hardly_does(says):
    rng = np.random.default_rng(1)
    X, zero = rng.normal(size=(200, 2)), np.cumsum(rng.normal(size=200))
    y = 3 * X[:, 0] + (zero - zero.mean()) / zero.std()
    assert serial_correlation(y).z < 3
    assert says("OF513", collect(LinearRegression(), X, y)).startswith("the residuals of LinearRegression of neigh")


def test_fires_on_patients_in_blocks_unless_they_are_groups(says):
    who, X, value, diagnosis = patients()
    for model, y in (
        (KNeighborsRegressor(), value),
        (KNeighborsClassifier(), diagnosis),
        (LogisticRegression(), diagnosis),
    ):
        assert says("OF513", collect(model, X, y)) is not None
        assert says("OF513", collect(model, X, y, groups=who)) is None
    assert says("OF513", collect(KNeighborsClassifier(), X, diagnosis)).startswith("the labels of neighbouring rows")


def test_fires_on_residuals_of_classes_that_come_in_no_blocks(says):
    # Both labels occur among the rows of a patient; the patient makes one of them more likely.
    rng = np.random.default_rng(0)
    who, X, _, _ = patients(600)
    y = (rng.normal(size=60)[who] + rng.normal(size=600) > 0).astype(int)
    assert serial_correlation(y).correlation < 0.5
    oof = collect(LogisticRegression(), X, y)
    assert says("OF513", oof).startswith("the residuals of LogisticRegression")
    labels = of.from_arrays(y, oof.respond("label")[0, 0], folds=oof.folds[:, 0], response="label")
    assert says("OF513", labels, "accuracy") is not None


@pytest.mark.parametrize("plan", [TimeSeriesSplit(5), KFold(10), of.Plan.holdout(0.3), of.Plan.leave_one_out()])
def test_plans(says, plan):
    apart = isinstance(plan, of.Plan)
    assert (says("OF513", collect(KNeighborsRegressor(), *walk(120), plan)) is not None) == apart


def test_silent_on_one_test_set(says):
    _, y = walk()
    assert says("OF513", of.from_arrays(y, y[:, None] + 0.1)) is None


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits, load_breast_cancer])
def test_silent_on_rows_sorted_by_class_or_in_no_order(says, load):
    X, y = load(return_X_y=True)
    X, y = X[:600], y[:600]
    for model in (LogisticRegression(max_iter=2000), KNeighborsClassifier()):
        assert says("OF513", collect(make_pipeline(StandardScaler(), model), X, y), "accuracy") is None


@pytest.mark.parametrize("order", [np.arange(442), None])
def test_silent_on_diabetes_also_sorted_by_the_target(says, order):
    X, y = load_diabetes(return_X_y=True)
    order = np.argsort(y) if order is None else order
    for model in (LinearRegression(), KNeighborsRegressor(10)):
        assert says("OF513", collect(model, X[order], y[order])) is None


def test_silent_on_forty_rows_in_no_order_and_on_other_kinds_of_targets(says):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    assert says("OF513", collect(LinearRegression(), X, X[:, 0] + rng.normal(size=40))) is None
    risks = of.from_arrays(
        np.stack([np.arange(1.0, 41), np.arange(40) % 2], axis=1),
        rng.normal(size=40),
        folds=np.arange(40) % 5,
        response="risk",
    )
    assert says("OF513", risks) is None
    constant = of.from_arrays(rng.normal(size=40), np.zeros(40), folds=np.arange(40) % 5, response="value")
    assert says("OF513", constant) is None


# -- the page says what was measured --------------------------------------------------------------------------

ROOT = Path(__file__).resolve().parents[2]
MEASURED = json.loads((ROOT / "studies" / "results" / "row_order.json").read_text())


def false_alarms():
    """The sentence of the page about rows that do not depend on each other."""
    random, by_target = (
        [row for row in MEASURED["independent"] if ("sorted" in row["data"]) == is_sorted]
        for is_sorted in (False, True)
    )
    spoke = [round(row["times"] * row["speaks"]) for row in random]
    n, n_sorted = (sum(row["times"] for row in rows) for rows in (random, by_target))
    assert all(row["speaks"] == 0 for row in by_target)
    assert max(row["speaks"] for row in random) <= 0.01
    most = f"at most in {max(spoke)} of {random[0]['times']} in any setting"
    return (
        f"False alarms: on rows in random order it spoke in {sum(spoke)} of {n:,} data sets ({sum(spoke) / n:.1%}), {most}; "
        f"on rows sorted by the target in none of {n_sorted:,}"
    )


def table():
    """The table of the page: how often it speaks on rows that depend on each other, and what is at stake."""
    found = {(row["data"], row["learner"], row["n"]): row for row in MEASURED["dependent"]}
    lines = [
        "| rows | N | linear | 5-NN | forest | 5-NN shuffled | 5-NN blocks |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for data, n in dict.fromkeys((data, n) for data, _, n in found):
        speaks = [f"{found[data, learner, n]['speaks']:.2f}" for learner in ("linear", "5-NN", "forest")]
        stake = [f"{found[data, '5-NN', n][folds]:.2f}" for folds in ("shuffled", "blocks")]
        lines.append(f"| {' | '.join([data, str(n), *speaks, *stake])} |")
    return "\n".join(lines)


def test_the_page_says_what_was_measured():
    page = (ROOT / "docs" / "checks" / "OF513.md").read_text()
    assert false_alarms() in page
    assert table() in page


# -- the statistic --------------------------------------------------------------------------------------------


def test_moments_are_those_of_all_orders():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 2)) ** 3
    found = serial_correlation(rows)
    orders = [rng.permutation(30) for _ in range(20000)]
    centred = rows - rows.mean(axis=0)
    products = np.array([np.sum(centred[o] * np.roll(centred[o], -1, axis=0)) for o in orders])
    here = np.sum(centred * np.roll(centred, -1, axis=0))
    assert found.z == pytest.approx((here - products.mean()) / products.std(), abs=0.05)


def test_correlation_is_that_of_neighbours():
    x = np.cumsum(np.random.default_rng(0).normal(size=5000))
    pairs = np.array(list(pairwise(x)))
    assert serial_correlation(x).correlation == pytest.approx(pearsonr(*pairs.T).statistic, abs=0.002)
    assert serial_correlation(np.ones(50)) == (0, 0)
    assert serial_correlation(np.arange(3)) == (0, 0)
