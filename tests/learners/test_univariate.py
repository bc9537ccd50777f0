"""Selection by one test for each feature, against SciPy."""

import numpy as np
import pytest
from scipy import stats
from sklearn.utils.estimator_checks import parametrize_with_checks

from extras import pd, pl
from outfold.exceptions import InputError
from outfold.learners import SES, Univariate


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


def levels(codes):
    """A category with missing values, as texts."""
    return [None if code == 0 else f"level {code}" for code in codes]


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_p_values_of_categories_are_those_of_scipy(library, n_classes):
    X, rng = features()
    codes, y = rng.integers(0, 4, len(X)), rng.integers(0, n_classes, len(X))
    frame = library.DataFrame(
        {"level": levels(codes), "number": X[:, 0], "yes": X[:, 1] == 1, "one": ["same"] * len(X)}
    )
    fitted = Univariate().fit(frame, y)
    counts = [stats.contingency.crosstab(column, y).count for column in (codes, X[:, 1])]
    expected = [stats.chi2_contingency(table, correction=False).pvalue for table in counts]
    assert fitted.pvalues_[[0, 2]] == pytest.approx(expected, rel=1e-9)
    assert fitted.pvalues_[1] == Univariate().fit(X[:, :1], y).pvalues_[0]
    assert fitted.pvalues_[3] == 1.0
    assert fitted.is_categorical_.tolist() == [True, False, True, True]


def test_p_values_of_categories_and_a_number_are_those_of_the_levels():
    X, rng = features()
    codes = rng.integers(0, 4, len(X))
    y = X[:, 0] + 0.3 * codes
    fitted = Univariate(task="regression").fit(pd.DataFrame({"level": levels(codes), "yes": X[:, 1] == 1}), y)
    assert fitted.pvalues_[0] == pytest.approx(stats.f_oneway(*(y[codes == c] for c in range(4))).pvalue, rel=1e-9)
    # Two levels are a number with two values.
    assert fitted.pvalues_[1] == pytest.approx(stats.pearsonr(X[:, 1], y).pvalue, rel=1e-9)


def test_categories_of_an_array_are_named_by_position():
    X, rng = features()
    y = rng.integers(0, 2, len(X))
    X = np.column_stack([X, rng.integers(0, 4, len(X))])
    fitted = Univariate(categorical_features=[4]).fit(X, y)
    counts = stats.contingency.crosstab(X[:, 4], y).count
    assert fitted.pvalues_[4] == pytest.approx(stats.chi2_contingency(counts, correction=False).pvalue, rel=1e-9)
    np.testing.assert_array_equal(fitted.pvalues_[:4], Univariate().fit(X[:, :4], y).pvalues_)


def test_a_missing_number_is_the_median():
    X, rng = features()
    y = rng.integers(0, 2, len(X))
    X[::9, 0] = np.nan
    filled = X.copy()
    filled[::9, 0] = np.nanmedian(X[:, 0])
    fitted = Univariate(alpha=0.999).fit(X, y)
    np.testing.assert_array_equal(fitted.pvalues_, Univariate().fit(filled, y).pvalues_)
    assert np.isnan(fitted.transform(X)).sum() == np.isnan(X).sum()


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_with_categories_stays_a_frame(library):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    frame = library.DataFrame(
        {"noise": rng.normal(size=100), "level": [f"l{v}" for v in y], "x": 3 * y + rng.normal(size=100)}
    )
    fitted = Univariate(alpha=1e-6).fit(frame, y)
    kept = fitted.transform(frame)
    assert type(kept) is type(frame)
    assert list(kept.columns) == ["level", "x"]
    assert fitted.get_feature_names_out().tolist() == ["level", "x"]
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(frame[["noise", "level"]])


@pytest.mark.parametrize("selector", [Univariate(), SES()], ids=["univariate", "ses"])
def test_the_na_of_pandas_is_missing(selector):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    plain = pd.DataFrame({"text": rng.choice(["a", "b"], 80), "yes": rng.random(80) < 0.5, "count": y + rng.random(80)})
    plain = plain.astype(object).where(rng.random((80, 3)) < 0.8, None)
    nullable = plain.astype({"text": "string", "yes": "boolean", "count": "Float64"})
    plain["count"] = plain["count"].astype(float)
    fitted = selector.fit(nullable, y)
    assert fitted.is_categorical_.tolist() == [True, True, False]
    assert fitted.transform(nullable).columns.tolist() == selector.fit(plain, y).get_feature_names_out().tolist()
    if isinstance(selector, Univariate):
        pvalues = fitted.fit(nullable, y).pvalues_
        np.testing.assert_array_equal(pvalues, fitted.fit(plain, y).pvalues_)


@pytest.mark.parametrize("selector", [Univariate(), SES()], ids=["univariate", "ses"])
def test_a_target_with_missing_values_is_refused(selector):
    frame = pd.DataFrame({"level": list("abab"), "x": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(ValueError, match="y contains NaN"):
        selector.fit(frame, [0.5, np.nan, 1.5, 2.0])


def test_the_best_feature_is_kept_where_nothing_passes_whatever_its_kind():
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    frame = pd.DataFrame({"noise": rng.normal(size=60), "level": [f"l{v}" for v in (y + (rng.random(60) < 0.4)) % 2]})
    assert Univariate(alpha=1e-12).fit(frame, y).selected_.tolist() == [1]


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


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("selector", [Univariate, SES])
@pytest.mark.parametrize("exponent", [-1000, -40, 1020])
def test_units_do_not_matter(selector, exponent):
    """Not even where squares of the numbers are too large or too small for floats."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    target = X[:, 0] + rng.normal(size=60)
    for task, y in (("classification", (target > 0).astype(int)), ("regression", target)):
        found = selector(task=task).fit(X, y)
        for Z, z in ((np.ldexp(X, exponent), y), (X, np.ldexp(y, exponent) if task == "regression" else y)):
            moved = selector(task=task).fit(Z, z)
            assert moved.selected_.tolist() == found.selected_.tolist()
            if selector is Univariate:
                assert moved.pvalues_ == pytest.approx(found.pvalues_, rel=1e-9)
