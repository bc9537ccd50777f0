"""Survival curves of fitted models: who gives them, and that they are kept beside the risk."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import outfold as of
from outfold.exceptions import NeedError


class Step:
    """What `predict_survival_function` of scikit-survival gives for each row."""

    def __init__(self, x, y):
        self.x, self.y, self.a, self.b = x, y, 1.0, 0.0


class Risk(BaseEstimator):
    """A risk and no curve."""

    def fit(self, X, y):
        self.mean_, self.times_ = y["time"].mean(), np.unique(y["time"][y["event"]])
        return self

    def predict(self, X):
        return np.exp(X[:, 0]) / self.mean_


class Curve(Risk):
    """A risk and a curve."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def predict_survival_function(self, X):
        curves = self.factor * np.exp(-self.predict(X)[:, None] * self.times_)
        return np.array([Step(self.times_, row) for row in curves], dtype=object)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.empty(60, dtype=[("event", bool), ("time", float)])
    y["time"], y["event"] = rng.exponential(np.exp(-X[:, 0])), rng.random(60) < 0.7
    return X, y


def test_curves_stand_beside_risks(data):
    X, y = data
    oof = of.collect({"curve": Curve(), "risk": Risk()}, X, y, of.Plan(folds=3), progress=False)
    assert (oof.response, oof.data.shape) == ("survival", (1, 2, 60, 21))
    assert np.isnan(oof.data[0, 1, :, 1:]).all()
    np.testing.assert_array_equal(oof.data[0, 0, :, 0], oof.data[0, 1, :, 0])
    # From 10 to 90 percent of the event times, or until one in twenty samples is left.
    low, high = np.quantile(y["time"][y["event"]], [0.1, 0.9])
    assert oof.times[0] == low
    assert oof.times[-1] == min(high, np.quantile(y["time"], 0.95))
    test = oof.splits.test_rows(0, 0)
    model = Curve().fit(X[oof.splits.train_rows(0, 0)], y[oof.splits.train_rows(0, 0)])
    position = np.searchsorted(model.times_, oof.times, side="right")
    known = np.concatenate([np.ones((len(test), 1)), [s.y for s in model.predict_survival_function(X[test])]], axis=1)
    np.testing.assert_array_equal(oof.data[0, 0, test, 1:], known[:, position])


def test_risks_alone_are_kept_if_nobody_gives_curves_or_nobody_asks(data):
    X, y = data
    plan = of.Plan(folds=3)
    assert of.collect({"risk": Risk()}, X, y, plan, progress=False).response == "risk"
    asked = of.collect({"curve": Curve()}, X, y, plan, response="risk", progress=False)
    assert (asked.response, asked.times) == ("risk", None)
    at_once = y.copy()
    at_once["time"][y["event"]] = 1.0
    assert of.collect({"curve": Curve()}, X, at_once, plan, progress=False).response == "risk"


def test_models_with_curves_may_come_later_into_one_store(data, tmp_path):
    X, y = data
    options = {"store": tmp_path / "run.oof", "response": "survival", "progress": False}
    first = of.collect({"risk": Risk()}, X, y, of.Plan(folds=3), **options)
    assert np.isnan(first.data[..., 1:]).all()
    with pytest.raises(NeedError, match="no configuration gives survival curves"):
        first.leaderboard("integrated_brier")
    both = of.collect({"risk": Risk(), "curve": Curve()}, X, y, of.Plan(folds=3), **options)
    assert both.leaderboard("integrated_brier").configs == ("curve",)


def test_probabilities_beyond_one_are_a_failed_cell(data):
    oof = of.collect({"ok": Curve(), "bad": Curve(2.0)}, *data, of.Plan(folds=3), progress=False)
    assert set(oof.state[1].ravel()) == {of.State.FAILED}
    assert oof.messages["bad", 0, 0].startswith("BadPrediction: survival probabilities from")


def test_a_search_whose_curves_cannot_be_kept_has_scores_only(data):
    X, y = data
    search = of.SelectCV(Curve(), {"factor": [1.0, 2.0]}, cv=3, scoring=lambda model, X, y: -model.factor)
    search.fit(X, y)
    assert search.best_params_ == {"factor": 1.0}
    assert (search.oof_.response, search.oof_.times) == ("none", None)


def test_the_same_bits_from_a_store_and_by_shared_fits(data, tmp_path):
    X, y = data
    Pipeline = type(make_pipeline(Curve()))
    pytest.importorskip("sksurv")  # which gives the method to pipelines
    assert hasattr(Pipeline, "predict_survival_function")
    configs = {f"curve {f}": make_pipeline(StandardScaler(), Curve(f)) for f in (0.5, 1.0)}
    path = tmp_path / "run.oof"
    whole = of.collect(configs, X, y, of.Plan(folds=3), store=path, progress=False)
    alone = of.collect(configs, X, y, of.Plan(folds=3), share=False, progress=False)
    np.testing.assert_array_equal(whole.data, alone.data)
    np.testing.assert_array_equal(of.load(path).data, whole.data)
    assert of.load(path).respond("losses").tobytes() == whole.respond("losses").tobytes()
    metric = whole.selecting_by("integrated_brier").selection()
    assert metric.name == whole.leaderboard("integrated_brier").configs[0]


def test_configurations_are_dropped_by_their_curves(data):
    X, y = data
    configs = {f"curve {f:g}": Curve(f) for f in (1.0, 0.98, 0.2, 0.1)}
    rule = of.drop.Bootstrap(min_predictions=20)
    oof = of.collect(configs, X, y, of.Plan(folds=5), metric="integrated_brier", drop=rule, progress=False)
    assert set(oof.drop_log["config"]) >= {"curve 0.1"}
    assert of.estimate.bbc(oof).metric == "integrated_brier"
