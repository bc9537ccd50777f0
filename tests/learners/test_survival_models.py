"""Models of scikit-survival with curves: those of the forests are its own, those of the support vector machine are sound."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import outfold as of

sksurv = pytest.importorskip("sksurv")
pytest.importorskip("skops")

from outfold.learners.survival import MOST_TIMES, SurvivalExtraTrees, SurvivalForest, SurvivalSVM  # noqa: E402
from outfold.models.trust import trusted_types, untrusted_types  # noqa: E402


def drawn(n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["time"], y["event"] = rng.exponential(np.exp(-X[:, 0])).round(2) + 0.01, rng.random(n) < 0.7
    return X, y


@pytest.mark.parametrize("ours", [SurvivalForest, SurvivalExtraTrees])
def test_curves_of_leaves_are_those_of_scikit_survival(ours):
    X, y = drawn()
    theirs = ours.__mro__[2](n_estimators=12, random_state=0).fit(X, y)
    made = ours(n_estimators=12, random_state=0, low_memory=True).fit(X, y)
    np.testing.assert_array_equal(made.predict(X), theirs.predict(X))
    at = np.searchsorted(theirs.unique_times_, made.curve_times_)
    np.testing.assert_array_equal(theirs.unique_times_[at], made.curve_times_)
    expected = theirs.predict_survival_function(X, return_array=True)[:, at]
    # Curves are kept in single precision.
    np.testing.assert_allclose(made.predict_survival_function(X, return_array=True), expected, atol=1e-6)
    np.testing.assert_allclose([step.y for step in made.predict_survival_function(X[:5])], expected[:5], atol=1e-6)
    plain = ours(n_estimators=12, random_state=0).fit(X, y).predict_survival_function(X, return_array=True)
    np.testing.assert_array_equal(plain[:, at], expected)


def test_many_event_times_become_a_hundred():
    X, y = drawn(400)
    made = SurvivalForest(n_estimators=2, random_state=0, low_memory=True, min_samples_leaf=20).fit(X, y)
    events = np.unique(y["time"][y["event"]])
    assert len(events) > MOST_TIMES == len(made.curve_times_)
    assert (made.curve_times_[0], made.curve_times_[-1]) == (events[0], events[-1])


def test_the_machine_gives_curves_of_proportional_hazards():
    X, y = drawn()
    theirs = sksurv.svm.FastSurvivalSVM(random_state=0).fit(X, y)
    made = SurvivalSVM(random_state=0).fit(X, y)
    np.testing.assert_array_equal(made.predict(X), theirs.predict(X))
    curves = made.predict_survival_function(X, return_array=True)
    assert np.all(np.diff(curves, axis=1) <= 0)
    # The order of the risks is that of the curves at any time, and the mean curve is near that of Kaplan and Meier.
    middle = curves[:, curves.shape[1] // 2]
    np.testing.assert_array_equal(np.argsort(-middle, kind="stable"), np.argsort(made.predict(X), kind="stable"))
    # Some die on the first day.
    early = y.copy()
    early["time"] -= early["time"].min()
    np.testing.assert_allclose(SurvivalSVM(random_state=0).fit(X, early).predict(X), made.predict(X), rtol=1e-9)
    _, whole = sksurv.nonparametric.kaplan_meier_estimator(y["event"], y["time"])
    assert np.abs(curves.mean(axis=0) - whole).max() < 0.1


@pytest.mark.parametrize(
    "made", [SurvivalForest(5, low_memory=True), SurvivalExtraTrees(5, low_memory=True), SurvivalSVM()]
)
def test_saved_models_are_loaded_without_further_trust(made, tmp_path):
    import skops.io

    X, y = drawn()
    made = clone(made).set_params(random_state=0).fit(X, y)
    path = tmp_path / "model.skops"
    skops.io.dump(made, path)
    again = skops.io.load(path, trusted=trusted_types(path, untrusted_types(path)))
    one, other = (model.predict_survival_function(X, return_array=True) for model in (made, again))
    np.testing.assert_array_equal(one, other)


def test_models_of_scikit_survival_that_refuse_are_known():
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis, RandomSurvivalForest
    from sksurv.linear_model import CoxnetSurvivalAnalysis, CoxPHSurvivalAnalysis

    from outfold.fitting.predict import gives_curves

    gives = [CoxPHSurvivalAnalysis(), CoxnetSurvivalAnalysis(fit_baseline_model=True), RandomSurvivalForest(5)]
    gives += [GradientBoostingSurvivalAnalysis(n_estimators=5), SurvivalForest(5, low_memory=True)]
    refuses = [CoxnetSurvivalAnalysis(), RandomSurvivalForest(5, low_memory=True), sksurv.svm.FastSurvivalSVM()]
    refuses += [GradientBoostingSurvivalAnalysis(n_estimators=5, loss="ipcwls")]
    X, y = drawn()
    y["time"] += 1  # a loss of logarithms
    for model in (*gives, *refuses):
        model.fit(X, y)
        assert gives_curves(model) == (model in gives)
        if model in gives:
            assert len(model.predict_survival_function(X)) == len(X)
        else:
            with pytest.raises((ValueError, NotImplementedError, AttributeError)):
                model.predict_survival_function(X)


def test_each_kind_in_the_spaces_gives_curves():
    X, y = drawn()
    configs = of.learners.spaces.make_space("thorough", X, y, "survival")
    from outfold.fitting.predict import gives_curves

    assert all(map(gives_curves, configs.values()))
