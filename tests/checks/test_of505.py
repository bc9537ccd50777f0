"""Labels no better than always predicting one class."""

import numpy as np
import pytest

import outfold as of


def events(found, false_alarms, n=1200, n_events=170, r=1):
    """A ranking with an area of about 0.76, and labels that find so many events."""
    rng = np.random.default_rng(0)
    y = np.r_[np.ones(n_events, dtype=int), np.zeros(n - n_events, dtype=int)]
    P = np.clip(0.2 + 0.05 * y + 0.05 * rng.normal(size=n), 0.01, 0.49)
    P[:found] = P[n_events : n_events + false_alarms] = 0.6
    order = rng.permutation(n)
    folds = np.stack([rng.permutation(np.arange(n) % 10) for _ in range(r)], axis=1)
    P = np.repeat(P[order][:, None, None], r, axis=2)
    return of.from_arrays(np.where(y[order] == 1, "ill", "well"), P, folds=folds, response="proba", positive="ill")


@pytest.mark.parametrize("r", [1, 3])
@pytest.mark.parametrize("metric", ["roc_auc", "average_precision"])
def test_fires_where_the_ranking_is_good_and_the_threshold_is_not(says, r, metric):
    oof = events(found=5, false_alarms=2, r=r)
    assert of.estimate.bbc(oof, "roc_auc").value > 0.7
    assert says("OF505", oof, metric) == (
        "the labels of config 0 find 5 of the 170 samples that are not well, and are right for 86.1%; "
        "always predicting well is right for 85.8%."
    )


def test_silent_where_labels_are_useful(says):
    # Weighted classes: fewer labels are right than by always predicting the largest class, but half of the events are found.
    assert says("OF505", events(found=85, false_alarms=200)) is None
    assert says("OF505", events(found=60, false_alarms=20)) is None


def test_leaves_noise_and_imbalanced_accuracy_to_their_own_checks(says, classes):
    noise = classes(signal=0.0)
    assert says("OF502", noise, "roc_auc") is not None
    assert says("OF505", noise, "roc_auc") is None
    oof = events(found=5, false_alarms=2)
    assert says("OF501", oof, "accuracy") is not None
    assert says("OF505", oof, "accuracy") is None


def test_three_classes(says):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.r_[np.zeros(240), np.ones(40), np.full(20, 2)]).astype(int)
    P = np.full((300, 3), 0.1)
    P[:, 0] = 0.8
    # The ranking knows the class; the largest probability is always that of class 0.
    P[np.arange(300), y] += np.where(y > 0, 0.2, 0.0)
    P /= P.sum(axis=1, keepdims=True)
    oof = of.from_arrays(y, P[:, None, None], folds=rng.permutation(np.arange(300) % 10), response="proba")
    assert says("OF505", oof, "roc_auc_ovr").startswith(
        "the labels of config 0 find 0 of the 60 samples that are not 0"
    )


def test_silent_without_labels(says):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    margins = of.from_arrays(y, 3 * y[:, None] + rng.normal(size=(80, 1)), folds=np.arange(80) % 5, response="score")
    assert says("OF505", margins, "roc_auc") is None
    values = of.from_arrays(rng.normal(size=60), rng.normal(size=(60, 1)), folds=np.arange(60) % 5)
    assert says("OF505", values) is None
