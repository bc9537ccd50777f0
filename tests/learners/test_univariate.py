"""Selection by one test for each feature, against SciPy."""

import numpy as np
import pytest
from scipy import stats
from sklearn.utils.estimator_checks import parametrize_with_checks

from outfold.exceptions import InputError
from outfold.learners import Univariate


@parametrize_with_checks([Univariate()])
def test_it_is_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)


def features(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 1] = rng.random(n) < 0.4  # a column of a one-hot encoding
    X[:, 3] = 5.0  # constant
    return X, rng


@pytest.mark.parametrize("n_classes", [2, 3])
def test_p_values_of_classes_are_those_of_scipy(n_classes):
    X, rng = features()
    y = rng.integers(0, n_classes, len(X))
    X[:, 0] += 0.5 * y
    p = Univariate().fit(X, y).pvalues_
    parts = [X[y == label] for label in range(n_classes)]
    test = (
        stats.ttest_ind(*(part[:, 0] for part in parts))
        if n_classes == 2
        else stats.f_oneway(*(c[:, 0] for c in parts))
    )
    assert p[0] == pytest.approx(test.pvalue, rel=1e-9)
    counts = stats.contingency.crosstab(X[:, 1], y).count
    assert p[1] == pytest.approx(stats.chi2_contingency(counts, correction=False).pvalue, rel=1e-9)
    assert p[3] == 1.0


def test_p_values_of_numbers_are_those_of_a_correlation():
    X, rng = features()
    y = X[:, 0] + rng.normal(size=len(X))
    p = Univariate(task="regression").fit(X, y).pvalues_
    assert p[:3] == pytest.approx([stats.pearsonr(X[:, j], y).pvalue for j in range(3)], rel=1e-9)
    assert p[3] == 1.0


def test_scaling_does_not_change_the_tests():
    X, rng = features()
    y = rng.integers(0, 2, len(X))
    scaled = (X - 3.7) / 0.3
    np.testing.assert_allclose(Univariate().fit(scaled, y).pvalues_, Univariate().fit(X, y).pvalues_, rtol=1e-8)


def test_the_features_below_the_level_are_kept_or_the_best_one():
    X, rng = features(200)
    y = (X[:, 0] + X[:, 2] + rng.normal(size=200) > 0).astype(int)
    fitted = Univariate(alpha=0.001).fit(X, y)
    assert set(fitted.selected_) == {0, 2}
    assert fitted.transform(X).shape == (200, 2)
    noise = rng.normal(size=(30, 5))
    none = Univariate(alpha=1e-9).fit(noise, np.arange(30) % 2)
    assert none.selected_.tolist() == [int(np.argmin(none.pvalues_))]


def test_the_rate_of_false_selections_is_the_level():
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(100, 4000)), rng.random((100, 4000)) < 0.5])
    p = Univariate().fit(X, rng.integers(0, 2, 100)).pvalues_
    # Of 4,000 independent tests at 0.05, the rate lies within 0.05 ± 4 standard errors.
    assert np.mean(p[:4000] < 0.05) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 4000))
    assert np.mean(p[4000:] < 0.05) == pytest.approx(0.05, abs=0.02)  # counts are few numbers, so their level is rough


def test_wrong_input_is_told():
    with pytest.raises(InputError, match="needs at least two classes; these samples are all of class a"):
        Univariate().fit(np.zeros((3, 1)), ["a"] * 3)
    with pytest.raises(InputError, match="alpha"):
        Univariate(alpha=2).fit(np.zeros((3, 1)), [0, 1, 0])
