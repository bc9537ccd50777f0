"""Shares of pairs of the same fold: all pairs counted by hand, compiled and in NumPy, in any weighting."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import outfold as of
from extras import without_numba
from internals import Scoring, compiling

N, C, FOLDS = 40, 6, 5


@pytest.fixture(params=["compiled", "numpy"], autouse=True)
def path(request):
    if request.param == "compiled" and compiling.load("lanes") is None:
        pytest.skip("needs numba")
    with without_numba() if request.param == "numpy" else nullcontext():
        yield


def right_order(y, event=None):
    """(N, N) whether the first of a pair should score higher."""
    if event is None:
        return (y[:, None] == 1) & (y[None, :] == 0)
    first = (y[:, None] < y[None, :]) | ((y[:, None] == y[None, :]) & ~event[None, :])
    return event[:, None] & first


def by_hand(scores, ordered, folds, weights):
    """The share of pairs of the same fold in the right order, ties one half, over all pairs there are."""
    counted = ordered & (folds[:, None] == folds[None, :])
    agree = (scores[:, None] > scores[None, :]) + 0.5 * (scores[:, None] == scores[None, :])
    total = np.einsum("ij,i,j", counted, weights, weights)
    return np.einsum("ij,i,j", counted * agree, weights, weights) / total if total else np.nan


def made(kind, seed=0):
    rng = np.random.default_rng(seed)
    scores, folds = rng.integers(0, 12, (N, C)) / 12, rng.integers(0, FOLDS, N)
    scores[:, 1] = scores[:, 0]  # equal configurations are evaluated once
    if kind == "roc_auc":
        y = rng.integers(0, 2, N)
        return of.from_arrays(y, scores, folds=folds, response="proba"), right_order(y)
    time, event = rng.integers(1, 15, N).astype(float), rng.random(N) < 0.7
    return of.from_arrays(np.c_[time, event], scores, folds=folds), right_order(time, event)


@pytest.mark.parametrize("kind", ["roc_auc", "concordance"])
def test_all_pairs_of_the_same_fold(kind):
    oof, ordered = made(kind)
    scoring, folds = Scoring(oof, kind, "within"), oof.folds[:, 0]
    weights = np.random.default_rng(1).integers(0, 3, (30, N)).astype(np.uint8)
    weights[0] = 0
    weights[0, folds == 2] = 1
    weights[1] = 0
    wanted = [[by_hand(oof.respond("any")[0, c], ordered, folds, w.astype(float)) for c in range(C)] for w in weights]
    assert np.isnan(wanted[1]).all()
    np.testing.assert_allclose(scoring.scores(weights), wanted, rtol=1e-14)
    chosen = np.arange(30) % C
    np.testing.assert_allclose(scoring.paired(weights, chosen), np.array(wanted)[np.arange(30), chosen], rtol=1e-14)


@pytest.mark.parametrize("kind", ["roc_auc", "concordance"])
def test_scale_of_a_fold_does_not_matter(kind):
    oof, _ = made(kind)
    folds = oof.folds[:, 0]
    moved = of.from_arrays(
        oof.target.labels, np.exp(3 * oof.respond("any")[0].T) + 50.0 * folds[:, None], folds=folds,
        response="score" if kind == "roc_auc" else None,
    )  # fmt: skip
    same, pooled = ([Scoring(o, kind, how).scores() for o in (oof, moved)] for how in ("within", "pooled"))
    np.testing.assert_array_equal(*same)
    assert np.abs(pooled[0] - pooled[1]).max() > 0.01


def test_one_fold_is_pooled():
    oof, _ = made("roc_auc")
    one = of.from_arrays(oof.target.labels, oof.respond("any")[0].T, folds=np.zeros(N, dtype=int), response="proba")
    weights = np.random.default_rng(2).integers(0, 3, (20, N)).astype(np.uint8)
    scores = [Scoring(one, "roc_auc", how).scores(weights) for how in ("within", "pooled")]
    np.testing.assert_array_equal(*scores)


def test_equal_folds_is_their_mean():
    rng = np.random.default_rng(3)
    y, folds = np.arange(40) % 2, np.arange(40) // 2 % 5
    oof = of.from_arrays(y, rng.random((40, 4)), folds=folds, response="proba")
    scores = [Scoring(oof, "roc_auc", how).scores() for how in ("within", "fold")]
    np.testing.assert_allclose(*scores, rtol=1e-14)


@pytest.mark.parametrize("metric", ["roc_auc_ovr", "roc_auc_ovr_weighted", "roc_auc_ovo", "roc_auc_ovo_weighted"])
def test_several_classes(metric):
    """The mean of the areas of the classes, each of pairs of the same fold."""
    rng = np.random.default_rng(4)
    y, folds = np.arange(60) % 3, rng.integers(0, 4, 60)
    P = rng.dirichlet(np.ones(3), (60, 2))[:, :, None, :]
    own = Scoring(of.from_arrays(y, P, folds=folds), metric, "within").scores()[0]
    for c in range(2):
        areas = []
        for k in range(3):
            for other in [None] if "ovr" in metric else [j for j in range(3) if j != k]:
                ordered = (y[:, None] == k) & (y[None, :] != k if other is None else y[None, :] == other)
                areas.append(by_hand(P[:, c, 0, k], ordered, folds, np.ones(60)))
        assert own[c] == pytest.approx(np.mean(areas), rel=1e-12)  # classes of equal size: weights are equal too


def test_repeats_and_other_metrics():
    """The mean over repeats; a metric that is no share of pairs is pooled."""
    rng = np.random.default_rng(5)
    y, folds = np.arange(40) % 2, np.c_[np.arange(40) // 2 % 4, rng.permutation(40) % 4]
    P = rng.random((40, 3, 2))
    both = of.from_arrays(y, P, folds=folds, response="proba")
    each = [
        Scoring(of.from_arrays(y, P[:, :, r], folds=folds[:, r], response="proba"), "roc_auc", "within").scores()
        for r in range(2)
    ]
    np.testing.assert_allclose(Scoring(both, "roc_auc", "within").scores(), np.mean(each, axis=0), rtol=1e-14)
    for metric in ("accuracy", "average_precision", "f1"):
        np.testing.assert_array_equal(Scoring(both, metric, "within").scores(), Scoring(both, metric).scores())
