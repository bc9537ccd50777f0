"""What scorings share or take a short way to: the numbers are those of the long way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outfold as of
from internals import Scoring, best_pvalues, cell_scores, fold_sums, kernels_kept, sample_bootstrap


def _classes(c=6, r=3, n=60, k=5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    P = 1 / (1 + np.exp(-(y[:, None, None] - 0.5 + rng.normal(size=(n, c, r)))))
    folds = np.stack([rng.permutation(np.arange(n) % k) for _ in range(r)], axis=1)
    return of.from_arrays(y, np.round(P, 2), folds=folds, response="proba")


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 30), st.integers(1, 6), st.sampled_from(["bool", "int32", "int64", "float64"]), st.integers(0, 99)
)
def test_sums_of_folds_are_those_of_a_loop(n, k, kind, seed):
    rng = np.random.default_rng(seed)
    folds = rng.integers(0, k, n)
    values = (rng.normal(size=(4, n)) * (1 if kind == "bool" else 2e9)).astype(kind)
    sums, sizes = fold_sums(values, folds)
    there = np.unique(folds)
    exact = [[sum(values[c, folds == fold].tolist()) for fold in there] for c in range(4)]
    assert sizes.tolist() == [int(np.sum(folds == fold)) for fold in there]
    np.testing.assert_allclose(
        sums, np.array(exact, dtype=np.float64), rtol=1e-14, atol=1e-4 if kind == "float64" else 0
    )


@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "brier"])
def test_folds_of_a_mean_are_those_of_the_kernels(metric):
    scoring = Scoring(_classes(), metric)
    short, long = scoring.fold_scores(), scoring.fold_scores(scoring.equal_weights())
    np.testing.assert_allclose(short, long, rtol=1e-13)
    by_cell = np.stack([cell_scores(scoring.oof, metric)[:, r, k] for r, k in scoring.cells], axis=-1)
    np.testing.assert_allclose(short[0], by_cell, rtol=1e-13)
    np.testing.assert_allclose(scoring.repeat_scores().mean(axis=0), scoring.scores()[0], rtol=1e-13)


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "f1", "mcc"])
def test_repeats_of_one_configuration_are_scored_as_each_alone(metric):
    oof = _classes(c=1)
    weights = np.random.default_rng(1).integers(0, 3, (20, 60)).astype(np.uint8)
    together = Scoring(oof, metric)
    alone = [Scoring(oof.sel(repeat=r), metric) for r in range(3)]
    np.testing.assert_allclose(
        together.scores(weights), np.mean([s.scores(weights) for s in alone], axis=0), rtol=1e-13
    )
    chosen = np.zeros(20, dtype=np.intp)
    np.testing.assert_allclose(together.paired(weights, chosen), together.scores(weights)[:, 0], rtol=1e-13)


def test_nothing_of_one_aggregate_gets_into_the_other_while_kernels_are_kept():
    oof = _classes()
    pooled, fold = Scoring(oof, "roc_auc").scores(), Scoring(oof, "roc_auc", "fold").scores()
    assert not np.allclose(pooled, fold)
    with kernels_kept():
        for _ in range(2):
            scoring = Scoring(oof, "roc_auc")
            assert np.array_equal(scoring.scores(), pooled)
            assert np.array_equal(scoring.by("fold").scores(), fold)
            scoring.scores()[:] = 0  # what was given out is the caller's


@pytest.mark.parametrize("aggregate", ["pooled", "fold"])
def test_kept_draws_are_scored_once_and_as_without(aggregate, monkeypatch):
    oof = _classes()

    def drawn():
        scoring = Scoring(oof, "roc_auc", aggregate)
        return np.concatenate([scoring.scores(w) for w in sample_bootstrap(scoring, False, 3).blocks(300)])

    expected, scored = drawn(), []
    kernel = type(Scoring(oof, "roc_auc")._pooled[0].kernel)
    scores = kernel.scores
    monkeypatch.setattr(kernel, "scores", lambda self, w: scored.append(len(w)) or scores(self, w))
    with kernels_kept():
        first = drawn()
        n = len(scored)
        first[:] = 0  # what was given out is the caller's
        with kernels_kept():  # what is asked for inside, such as the checks of a report, shares it
            assert np.array_equal(drawn(), expected)
        assert len(scored) == n > 0


def test_a_report_does_not_change_what_is_drawn_later():
    oof = _classes()
    before = of.estimate.bbc(oof, "accuracy", n_resamples=50)
    made = of.report(oof, "accuracy", n_resamples=50)
    after = of.estimate.bbc(oof, "accuracy", n_resamples=50)
    assert np.array_equal(before.draws, made.estimate.draws)
    assert np.array_equal(before.draws, after.draws)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 25), st.integers(2, 40), st.sampled_from([0.0, 1e-9, 1e-3, 1.0]), st.integers(0, 999))
def test_who_may_be_the_best_by_all_pairs(c, b, apart, seed):
    """Columns that are equal, nearly equal, alike or unrelated; every pair in every draw, by two loops."""
    rng = np.random.default_rng(seed)
    draws = (
        rng.normal(size=(b, 1)) + apart * rng.normal(size=(b, c)) + 0.3 * rng.normal(size=(b, 3))[:, np.arange(c) % 3]
    )
    scores = draws.mean(axis=0) + 0.1 * rng.normal(size=3)[np.arange(c) % 3]
    centred = draws - draws.mean(axis=0)
    expected = []
    for j in range(c):
        told, gaps = [], np.zeros(b)
        for k in range(c):
            variance = np.mean((centred[:, k] - centred[:, j]) ** 2)
            if variance <= 1e-10 * (np.mean(centred[:, k] ** 2) + np.mean(centred[:, j] ** 2)):
                continue
            told.append((scores[k] - scores[j]) / np.sqrt(variance))
            gaps = np.maximum(gaps, np.abs(centred[:, k] - centred[:, j]) / np.sqrt(variance))
        equal = [k for k in range(c) if np.allclose(centred[:, k], centred[:, j], rtol=0, atol=1e-7)]
        ahead = any(scores[k] > scores[j] + 1e-12 * abs(scores[j]) for k in equal)
        expected.append((1 / (1 + b) if ahead else (1 + np.sum(gaps >= max(told))) / (1 + b)) if told or ahead else 1.0)
    if apart in (0.0, 1e-3, 1.0):  # at 1e-9 rounding decides which are equal
        np.testing.assert_allclose(best_pvalues(scores, draws), expected, atol=1e-12)
    else:
        assert np.all((best_pvalues(scores, draws) > 0) & (best_pvalues(scores, draws) <= 1))
