"""A score that gets worse as the training part grows."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB

import outfold as of
from internals import inner_folds


def peaked(n=300, seed=0):
    """As many features as training samples: least squares is at its worst."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n * 4 // 5))
    return X, (X[:, :5].sum(axis=1) > 0).astype(int)


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_fires_where_more_samples_are_worse(says, metric):
    oof = of.collect({"ridge": RidgeClassifier(alpha=1e-6)}, *peaked(), 5, inner=True, progress=False)
    assert f"the {metric} of ridge is 0." in says("OF535", oof, metric)
    assert "with 180 samples to train on and 0." in says("OF535", oof, metric)
    assert says("OF535", oof.sel(repeat=0), metric) == says("OF535", oof, metric)
    # Nothing shows it without the inner fits, or for a configuration that has a penalty.
    assert says("OF535", replace(oof, blocks={}), metric) is None
    good = of.collect({"ridge": RidgeClassifier(alpha=1e3)}, *peaked(), 5, inner=True, progress=False)
    assert says("OF535", good, metric) is None


def test_inner_folds_of_their_own_show_it_too(says):
    ridge = {"ridge": RidgeClassifier(alpha=1e-6)}
    oof = of.collect(ridge, *peaked(), 5, inner=2, progress=False)
    assert "with 120 samples to train on and 0." in says("OF535", oof, "accuracy")
    once = of.collect(ridge, *peaked(), of.Plan.holdout(0.2), inner=2, progress=False)
    assert says("OF535", once, "accuracy") is None


def nested(outer, inner, folds, configs=("a",)):
    """Right answers (R, N) of models without one fold, and (R, K, N) of those without two."""
    r, k, n = inner.shape
    made = {"response": "pointwise", "configs": list(configs)}
    block = of.from_arrays(None, inner.reshape(r * k, n).T[:, None], folds=inner_folds(folds, k), **made)
    return replace(of.from_arrays(None, outer.T[:, None], folds=folds, **made), blocks={"inner": block})


def drawn(rng, rate_outer, rate_inner, n=100, k=5, r=1):
    folds = np.stack([rng.permutation(n) % k for _ in range(r)], axis=1).astype(np.int32)
    outer = (rng.random((r, n)) < rate_outer).astype(float)
    inner = (rng.random((r, k, n)) < rate_inner).astype(float)
    inner[inner_folds(folds, k).T.reshape(r, k, n) < 0] = np.nan
    return nested(outer, np.ma.masked_invalid(inner), folds)


def test_the_numbers_are_those_of_the_samples(says):
    oof = drawn(np.random.default_rng(0), 0.5, 0.9)
    inner = oof.blocks["inner"].data[:, 0]
    few = np.nanmean(np.nanmean(inner, axis=0))
    said = says("OF535", oof, "mean")
    assert f"is {few:.4f} with 60 samples to train on and {oof.data.mean():.4f} with 80 (p = " in said


def test_silent_where_more_samples_are_better_or_nothing_changes(says):
    rng = np.random.default_rng(1)
    assert says("OF535", drawn(rng, 0.9, 0.5), "mean") is None
    # One in a hundred may speak by chance; the variance of training makes it fewer.
    spoken = sum(says("OF535", drawn(rng, 0.7, 0.7, r=1 + s % 2), "mean") is not None for s in range(60))
    assert spoken <= 1


def test_silent_on_leave_one_out_where_no_test_is_valid(says):
    assert says("OF535", drawn(np.random.default_rng(0), 0.3, 0.95, n=40, k=20), "mean") is not None
    assert says("OF535", drawn(np.random.default_rng(0), 0.3, 0.95, n=40, k=40), "mean") is None


def test_silent_on_an_ordinary_search(says):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = (X[:, 0] + 0.5 * rng.normal(size=80) > 0).astype(int)
    oof = of.collect({"bayes": GaussianNB(), "logit": LogisticRegression()}, X, y, 4, inner=True, progress=False)
    for metric in ("accuracy", "roc_auc", "brier"):
        assert says("OF535", oof, metric) is None


def test_a_learning_curve_says_it_too():
    models = {"bare": RidgeClassifier(alpha=1e-6), "penalised": RidgeClassifier(alpha=1e3)}
    how = {"sizes": [0.5, 0.75, 1.0], "plan": of.Plan(folds=5, repeats=3), "metric": "accuracy", "progress": False}
    curve = of.curves.learning(models, *peaked(), **how)
    (note,) = [note for note in curve.notes if note.code == "OF535"]
    assert note.text.startswith("the accuracy of bare gets worse as the training part grows: 0.")
    assert " with 180 samples, 0." in note.text
    assert " with 240 samples (p = " in note.text
    assert "OF535" in str(curve)
