"""Naive Bayes with kernel densities, against SciPy and WEKA."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import weka_naive_bayes as weka
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import gaussian_kde
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import outfold as of
from extras import pd, pl
from outfold.exceptions import InputError
from outfold.learners import KernelNaiveBayes


@parametrize_with_checks([KernelNaiveBayes()])
def test_it_is_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("rule", ["scott", "silverman", 0.3, "range"])
def test_densities_are_those_of_scipy(rule):
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=0.01, size=X.shape)
    new = X[::7] + 0.1
    joint = np.zeros((len(new), 3))
    for c in range(3):
        rows = X[y == c]
        joint[:, c] = np.log((len(rows) + 1) / (len(X) + 3))
        for j, column in enumerate(rows.T):
            # SciPy's factor is in units of the standard deviation.
            factor = np.ptp(column) / np.sqrt(len(column)) / column.std(ddof=1) if rule == "range" else rule
            joint[:, c] += gaussian_kde(column, factor).logpdf(new[:, j])
    found = KernelNaiveBayes(rule).fit(X, y)
    np.testing.assert_allclose(found.predict_joint_log_proba(new), joint, rtol=1e-9)
    np.testing.assert_allclose(found.predict_proba(new), softmax(joint, axis=1), rtol=1e-7)
    assert found.predict(new).tolist() == joint.argmax(axis=1).tolist()


def frame(numbers, category, library):
    columns = {f"x{j}": numbers[:, j] for j in range(numbers.shape[1])}
    return library.DataFrame(columns | {"level": [None if c < 0 else weka.LEVELS[c] for c in category]})


@pytest.mark.parametrize("library", [pd, pl])
def test_probabilities_are_those_of_weka(library):
    """WEKA prints three digits, and leaves out far kernels, for an error of at most one percent of a density."""
    numbers, category, y, tested = weka.simulated()
    model = KernelNaiveBayes().fit(frame(numbers, category, library), y)
    expected = json.loads(Path(weka.__file__).with_suffix(".json").read_text())["proba"]
    np.testing.assert_allclose(model.predict_proba(frame(*tested, library)), expected, atol=0.001, rtol=0)


def test_categories_have_the_shares_of_laplace():
    X = np.array([["r"], ["r"], ["g"], [None], ["b"], ["r"]], dtype=object)
    y = [0, 0, 0, 0, 1, 1]
    model = KernelNaiveBayes(categorical_features=[0]).fit(X, y)
    priors = np.array([5, 3]) / 8
    likelihoods = {"r": [3 / 6, 2 / 5], "b": [1 / 6, 2 / 5], "new": [1, 1], None: [1, 1]}
    for level, likelihood in likelihoods.items():
        joint = np.exp(model.predict_joint_log_proba(np.array([[level]], dtype=object)))[0]
        np.testing.assert_allclose(joint, priors * likelihood)


def test_categories_are_found_by_type_name_position_or_mask():
    numbers, category, y, (tested, levels) = weka.simulated()
    codes, new = np.column_stack([numbers, category]), np.column_stack([tested, levels])
    by_position = KernelNaiveBayes(categorical_features=[3]).fit(codes, y).predict_proba(new)
    by_mask = KernelNaiveBayes(categorical_features=[False] * 3 + [True]).fit(codes, y).predict_proba(new)
    np.testing.assert_array_equal(by_position, by_mask)
    names = list("pqrs")
    named = KernelNaiveBayes(categorical_features=["s"]).fit(pd.DataFrame(codes, columns=names), y)
    np.testing.assert_array_equal(by_position, named.predict_proba(pd.DataFrame(new, columns=names)))
    numeric = KernelNaiveBayes().fit(codes, y)
    assert not numeric.is_categorical_.any()
    assert not np.array_equal(by_position, numeric.predict_proba(new))


def test_a_model_that_was_saved_without_an_exponent_predicts_the_same():
    X, y = load_iris(return_X_y=True)
    model = KernelNaiveBayes().fit(X, y)
    expected = model.predict_proba(X)
    for densities in model.features_:
        del densities._exponent
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_missing_values_say_nothing():
    X, y = load_iris(return_X_y=True)
    holes = X.copy()
    holes[::3, 0] = np.nan
    model = KernelNaiveBayes().fit(holes, y)
    first = KernelNaiveBayes().fit(X[np.arange(150) % 3 > 0], y[np.arange(150) % 3 > 0]).features_[0]
    np.testing.assert_array_equal(model.features_[0].bandwidths, first.bandwidths)
    others = KernelNaiveBayes().fit(X[:, 1:], y)
    new = np.column_stack([np.full(10, np.nan), X[::15, 1:]])
    np.testing.assert_allclose(model.predict_proba(new), others.predict_proba(X[::15, 1:]), rtol=1e-12)


def test_a_number_that_never_varies_says_nothing_and_one_of_a_class_is_narrow():
    X = np.array([[5.0, 1.0], [5.0, 1.0], [5.0, 2.0], [5.0, 4.0]])
    model = KernelNaiveBayes().fit(X, [0, 0, 1, 1])
    assert model.features_[0].bandwidths.tolist() == [0.0, 0.0]
    # Three values with a mean gap of 1.5, and a class with a single one.
    assert model.features_[1].bandwidths == pytest.approx([1.5 / 6, 2 / np.sqrt(2)])
    assert model.predict([[7.0, 1.0], [7.0, 3.0]]).tolist() == [0, 1]


def test_a_class_without_a_value_is_not_favoured():
    X = np.array([[np.nan, 0.0], [np.nan, 1.0], [1.0, 4.0], [2.0, 5.0]])
    model = KernelNaiveBayes().fit(X, [0, 0, 1, 1])
    alone = KernelNaiveBayes().fit(X[:, 1:], [0, 0, 1, 1])
    assert model.predict_joint_log_proba([[1.5, 4.5]])[0, 0] < alone.predict_joint_log_proba([[4.5]])[0, 0]


def test_far_away_probabilities_are_still_numbers():
    X, y = load_iris(return_X_y=True)
    proba = KernelNaiveBayes().fit(X, y).predict_proba([[1e6, -1e6, 1e6, 1e6]])
    assert proba.sum() == pytest.approx(1.0)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["range", "scott", 0.5]))
def test_a_weight_is_a_number_of_equal_rows(seed, rule):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(20, 2)), rng.integers(0, 3, size=20)])
    y, times = np.arange(20) % 3, rng.integers(0, 4, size=20)
    times[:3] = 1  # each class stays
    model = KernelNaiveBayes(rule, categorical_features=[2])
    weighted = model.fit(X, y, times).predict_joint_log_proba(X[times > 0])
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict_joint_log_proba(X[times > 0])
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)


def test_it_works_in_a_collection_and_is_saved_without_pickle(tmp_path):
    X, y = load_iris(return_X_y=True)
    configs = of.grid("bayes", make_pipeline(StandardScaler(), KernelNaiveBayes()), bandwidth=["range", "scott", 0.5])
    assert of.collect(configs, X, y, of.Plan(folds=3)).leaderboard("accuracy").scores[0] > 0.9
    skops = pytest.importorskip("skops.io")
    from outfold.models.trust import is_part_of_models

    numbers, category, y, tested = weka.simulated()
    model = KernelNaiveBayes().fit(frame(numbers, category, pd), y)
    skops.dump(model, tmp_path / "model.skops")
    found = skops.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(map(is_part_of_models, found))
    again = skops.load(tmp_path / "model.skops", trusted=found)
    np.testing.assert_array_equal(again.predict_proba(frame(*tested, pd)), model.predict_proba(frame(*tested, pd)))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"bandwidth": "wide"}, "bandwidth must be 'range', 'scott', 'silverman' or a number above 0"),
        ({"bandwidth": 0}, "bandwidth must be"),
        ({"categorical_features": ["level"]}, "categorical_features must be 'from_dtype', None, or the names"),
        ({"categorical_features": [4]}, "of some of the 4 columns"),
    ],
)
def test_wrong_parameters_are_told(wrong, says):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match=says):
        KernelNaiveBayes(**wrong).fit(X, y)


def test_texts_among_the_numbers_are_told():
    X = np.array([["r", "s"], ["g", "t"]], dtype=object)
    with pytest.raises(InputError, match=r"X must have columns of numbers and of categories; a column holds \['s'\]"):
        KernelNaiveBayes(categorical_features=[0]).fit(X, [0, 1])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bandwidth", ["range", "scott", "silverman", 0.5])
@pytest.mark.parametrize("exponent", [-1000, -600, 500, 1020])
def test_numbers_of_any_size(bandwidth, exponent):
    """Units do not matter, not even where squares of the numbers are too large or too small for floats."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 1)) + y[:, None]
    model, moved = (KernelNaiveBayes(bandwidth).fit(Z, y) for Z in (X, np.ldexp(X, exponent)))
    assert moved.predict_proba(np.ldexp(X, exponent)) == pytest.approx(model.predict_proba(X), rel=1e-12)
    density = model.predict_joint_log_proba(X)
    assert moved.predict_joint_log_proba(np.ldexp(X, exponent)) == pytest.approx(density - exponent * np.log(2))
    far = model.predict_proba([[1e200], [-1e308], [1.7e308]])
    assert np.isfinite(far).all()
