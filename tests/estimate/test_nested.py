"""Nested CV with shared fits equals the plain protocol, which fits everything the papers count."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, average_precision_score, f1_score, log_loss, roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import ExtraTreeClassifier

import outfold as of
from internals import seed_of

METRICS = {
    "accuracy": (lambda y, p: accuracy_score(y, p > 0.5), 1),
    "log_loss": (lambda y, p: log_loss(y, p, labels=[0, 1]), -1),
    "roc_auc": (roc_auc_score, 1),
}


class Counted(ClassifierMixin, BaseEstimator):
    """A random tree that counts how often any of its kind was fitted."""

    fits = 0

    def __init__(self, depth=1, random_state=None):
        self.depth = depth
        self.random_state = random_state

    def fit(self, X, y):
        type(self).fits += 1
        self.tree_ = ExtraTreeClassifier(max_depth=self.depth, random_state=self.random_state).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict_proba(self, X):
        return self.tree_.predict_proba(X)

    def predict(self, X):
        return self.tree_.predict(X)


@pytest.fixture(scope="module")
def data():
    return make_classification(n_samples=90, n_features=8, n_informative=3, flip_y=0.2, random_state=0)


def grids():
    configs = of.grid("tree", Counted(), depth=[1, 2, 4])
    configs |= of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 9])
    return configs | of.grid("logit", LogisticRegression(), C=[0.01, 1])


def plain_nested(configs, X, y, folds, score, sign, seed):
    """Algorithm 5 of Tsamardinos 2015 as printed: an inner search for every outer fold, all fits done."""
    K, fits = int(folds.max()) + 1, 0

    def fit_predict(name, train, test, key):
        nonlocal fits
        fits += 1
        model = clone(configs[name])
        if "random_state" in model.get_params() and model.random_state is None:
            model.set_params(random_state=seed_of(seed, 0, *key))
        return model.fit(X[train], y[train]).predict_proba(X[test])[:, 1]

    outer = []
    for i in range(K):
        inner = {}
        for name in configs:
            losses = []
            for k in range(K):
                if k != i:
                    train, test = (folds != i) & (folds != k), folds == k
                    losses.append(score(y[test], fit_predict(name, train, test, sorted((i, k)))))
            inner[name] = np.mean(losses)
        best = max(sign * v for v in inner.values())
        winner = next(n for n, v in inner.items() if sign * v >= best - 1e-12)
        outer.append((winner, score(y[folds == i], fit_predict(winner, folds != i, folds == i, (i,)))))
    return [w for w, _ in outer], float(np.mean([s for _, s in outer])), fits


@pytest.mark.parametrize("metric", METRICS)
def test_shared_fits_give_the_numbers_of_the_plain_protocol(data, metric):
    X, y = data
    configs, (score, sign) = grids(), METRICS[metric]
    oof = of.collect(configs, X, y, of.Plan(folds=5), rng=3, inner=True)
    result = of.estimate.nested(oof, metric)
    winners, value, fits = plain_nested(configs, X, y, oof.folds[:, 0], score, sign, seed=3)
    assert result.value == pytest.approx(value, abs=1e-12)
    assert result.chosen.tolist() == winners
    C, K = len(configs), 5
    assert fits == C * K * (K - 1) + K
    # Beside these the plain protocol cross-validates all C once more (K C fits) and fits the final model.
    assert fits + K * C + 1 == K * K * C + K + 1 == result.details["fits_plain"]
    assert result.details["fits"] == C * K * (K + 1) // 2 + 1
    assert f"{result.details['fits']} fits instead of {result.details['fits_plain']}" in str(result)


@pytest.mark.parametrize("metric", ["f1", "average_precision"])
def test_metrics_of_sets_are_scored_on_all_outer_folds_at_once(data, metric):
    X, y = data
    oof = of.collect(grids(), X, y, of.Plan(folds=5), rng=3, inner=True)
    result = of.estimate.nested(oof, metric, n_resamples=50)
    picks, folds = [oof.config_index(name) for name in result.chosen], oof.folds[:, 0]
    p = oof.data[0][np.array(picks)[folds], np.arange(len(y))]
    plain = f1_score(y, p > 0.5) if metric == "f1" else average_precision_score(y, p)
    assert result.value == pytest.approx(plain, abs=1e-12)


def test_the_fits_counted_are_the_fits_done(data):
    X, y = data
    configs, K = of.grid("tree", Counted(), depth=[1, 2, 4]), 5
    Counted.fits = 0
    oof = of.collect(configs, X, y, of.Plan(folds=K), inner=True)
    of.refit(oof, configs, X, y, metric="accuracy")
    assert Counted.fits == of.estimate.nested(oof, "accuracy").details["fits"] == 3 * K * (K + 1) // 2 + 1


def test_repeats_average_over_all_outer_folds(data):
    X, y = data
    oof = of.collect(grids(), X, y, of.Plan(folds=4, repeats=2), inner=True)
    both = of.estimate.nested(oof, "accuracy")
    each = [of.estimate.nested(oof.sel(repeat=r), "accuracy") for r in (0, 1)]
    assert both.value == pytest.approx(np.mean([e.value for e in each]), abs=1e-12)
    assert both.chosen.tolist() == each[0].chosen.tolist() + each[1].chosen.tolist()
    assert both.interval.low < both.value < both.interval.high


def test_cvm_cv_scores_the_winner_on_a_new_partition(data):
    X, y = data
    configs = grids()
    oof = of.collect(configs, X, y, of.Plan(folds=5), fresh="accuracy")
    result = of.estimate.cvm_cv(oof, "accuracy")
    folds = oof.blocks["fresh"].folds[:, 0]
    assert not np.array_equal(folds, oof.folds[:, 0])
    winner = of.estimate.cvt(oof, "accuracy")
    assert (result.selected, result.naive) == (winner.selected, winner.value)
    again = of.collect({winner.selected: configs[winner.selected]}, X, y, of.Plan(folds=5, repeats=2))
    assert np.array_equal(again.folds[:, 1], folds)
    assert result.value == pytest.approx(again.scores("accuracy")[0, 1].mean(), abs=1e-12)
    assert result.interval is None
    assert "selected it" in next(note.text for note in result.notes if note.code == "OF218")
    with pytest.raises(of.exceptions.NeedError, match="collected for another metric or rule"):
        of.estimate.cvm_cv(oof, "accuracy", rule=lambda c: int(np.argmin(c.mean)))


def test_nested_needs_three_of_every_class():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.array([0] * 18 + [1] * 2)
    with pytest.raises(of.exceptions.InputError, match="at least 3"):
        of.collect(LogisticRegression(), X, y, inner=True)


def test_labels_of_the_models_themselves_count(data):
    X, y = data
    logit = LogisticRegression()
    configs = {
        f"cut at {t}": FixedThresholdClassifier(logit, threshold=t, response_method="predict_proba") for t in (0.2, 0.8)
    }
    oof = of.collect(configs, X, y, of.Plan(folds=4), inner=True, response="proba")
    assert oof.labels is not None
    result = of.estimate.nested(oof, "accuracy")
    folds, right = oof.folds[:, 0], []
    for k, name in enumerate(result.chosen):
        model = clone(configs[name]).fit(X[folds != k], y[folds != k])
        right.append(np.mean(model.predict(X[folds == k]) == y[folds == k]))
    assert result.value == pytest.approx(np.mean(right), abs=1e-12)


def test_inner_folds_of_their_own_give_the_numbers_of_a_grid_search_in_each_outer_fold(data):
    """Figure 22 of Raschka 2018: five outer folds, two inner ones; here by scikit-learn's own search on the same folds."""
    X, y = data
    configs = of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 5, 9, 15])
    oof = of.collect(configs, X, y, of.Plan(folds=5), rng=3, inner=2, aggregate="fold")
    inner, scores, chosen = oof.blocks["inner"], [], []
    for k in range(5):
        rows, column = np.flatnonzero(oof.folds[:, 0] != k), inner.folds[:, k]
        search = GridSearchCV(
            KNeighborsClassifier(), {"n_neighbors": [1, 5, 9, 15]}, cv=PredefinedSplit(column[rows])
        ).fit(X[rows], y[rows])
        scores.append(search.score(X[oof.folds[:, 0] == k], y[oof.folds[:, 0] == k]))
        chosen.append(f"knn(n_neighbors={search.best_params_['n_neighbors']})")
    result = of.estimate.nested(oof, "accuracy", n_resamples=50)
    assert result.value == pytest.approx(np.mean(scores), abs=1e-12)
    assert result.chosen.tolist() == chosen
    assert result.details == {"fits": 4 * 5 * (1 + 2) + 1, "inner_folds": 2}
    assert "nested CV with 2 inner folds, 61 fits" in str(result)
    # The interval of Bates et al. needs pairs of folds.
    one = oof.sel(config=0)
    assert of.estimate.cv(one, "accuracy").interval_method != "nested_cv_bates"
    with pytest.raises(of.exceptions.InputError, match="pairs of K folds"):
        of.estimate.cv(one, "accuracy").confidence_interval(method="nested_cv_bates")


def test_two_outer_folds_and_hold_outs_can_be_nested(data):
    X, y = data
    for plan in (of.Plan.five_by_two(), of.Plan.repeated_holdout(4)):
        oof = of.collect(grids(), X, y, plan, inner=3)
        result = of.estimate.nested(oof, "accuracy", n_resamples=50)
        assert len(result.chosen) == len(oof.splits.cells)
        first = of.estimate.nested(oof.sel(repeat=0), "accuracy", n_resamples=50)
        assert first.chosen.tolist() == result.chosen.tolist()[: oof.n_folds]
        found = of.compare.algorithms(oof, "accuracy", "tree", "knn")
        assert found.method == "t_training"


def test_scores_of_fitted_models_can_be_nested(data):
    X, y = data
    scorers = {"own": lambda model, X, y: model.score(X, y)}
    configs = of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 9])
    oof = of.collect(configs, X, y, of.Plan(folds=3), inner=2, scorers=scorers)
    by_model = of.estimate.nested(oof, "own", n_resamples=50)
    by_predictions = of.estimate.nested(oof, "accuracy", aggregate="fold", n_resamples=50)
    assert by_model.value == pytest.approx(by_predictions.value, abs=1e-12)
    assert by_model.chosen.tolist() == by_predictions.chosen.tolist()
    # A model without two folds was scored on the first of them only.
    pairs = of.collect(configs, X, y, of.Plan(folds=3), inner=True, scorers=scorers)
    assert of.estimate.nested(pairs, "accuracy", n_resamples=50).value == pytest.approx(0.7, abs=0.2)
    with pytest.raises(of.exceptions.NeedError, match=r"own needs inner folds of their own.*Collect with inner=2"):
        of.estimate.nested(pairs, "own")
