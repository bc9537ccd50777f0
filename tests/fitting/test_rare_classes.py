"""A class with fewer members than folds: the folds stay as many as asked for, and every score can be computed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from outfold.exceptions import InputError, NeedError

CONFIGS = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=3), "logit": LogisticRegression()}


def data(m, n_classes=3, n=120):
    """Classes of equal size and one of m members."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.r_[np.arange(n - m) % (n_classes - 1), np.full(m, n_classes - 1)])
    return rng.normal(size=(n, 3)) + y[:, None], y


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_three_classes(m, n_jobs):
    X, y = data(m)
    oof = of.collect(CONFIGS, X, y, of.Plan(10), n_jobs=n_jobs, progress=False)
    assert (oof.n_folds, oof.completeness, oof.messages) == (10, 1.0, {})
    assert len(np.unique(oof.folds[y == 2])) == m
    assert np.allclose(oof.data.sum(axis=-1), 1)
    # Without a member to learn from, the class has probability 0; with one, GaussianNB and the tree know it.
    known = oof.data[0, :2, y == 2, 2]
    assert np.all(known == 0) if m == 1 else np.any(known > 0)
    for metric in ("accuracy", "log_loss", "roc_auc_ovr", "balanced_accuracy"):
        assert np.all(np.isfinite(oof.leaderboard(metric).scores))
    assert "OF108" in of.check(oof).codes
    assert "OF521" not in of.check(oof).codes  # the folds are as even as they can be


@pytest.mark.parametrize("m", [2, 3])
def test_two_classes(m):
    X, y = data(m, n_classes=2)
    oof = of.collect(CONFIGS, X, y, of.Plan(10, repeats=2), progress=False)
    assert (oof.n_folds, oof.completeness) == (10, 1.0)
    for metric in ("roc_auc", "accuracy", "log_loss", "average_precision"):
        assert np.all(np.isfinite(oof.leaderboard(metric).scores))
    assert of.estimate.bbc(oof, "accuracy").interval is not None


def test_one_member_of_two_classes_is_refused_before_any_fit():
    X, y = data(1, n_classes=2)
    with pytest.raises(InputError, match=r"class 1 has 1 member; .* Collect more samples of this class"):
        of.collect(CONFIGS, X, y, of.Plan(10), progress=False)


def test_margins_and_labels():
    X, y = data(2)
    margins = of.collect({"svm": SVC()}, X, y, of.Plan(10), response="score", progress=False)
    assert (margins.response, margins.completeness, margins.messages) == ("score", 1.0, {})
    X, y = data(1)
    labels = of.collect({"svm": SVC(), "most": DummyClassifier()}, X, y, of.Plan(10), response="label", progress=False)
    assert (labels.completeness, labels.messages) == (1.0, {})
    # A model that has not seen a class has no margin for it, and says so.
    margins = of.collect({"svm": SVC()}, X, y, of.Plan(10), response="score", progress=False)
    assert margins.completeness == 0.9
    assert "lacks class 2" in next(iter(margins.messages.values()))


def test_nested_needs_three_members_and_keeps_the_folds():
    X, y = data(2)
    with pytest.raises(NeedError, match=r"at least 3 members of every class.*class 2 has 2"):
        of.collect(CONFIGS, X, y, of.Plan(5), inner=True, progress=False)
    X, y = data(3)
    oof = of.collect(CONFIGS, X, y, of.Plan(5), inner=True, progress=False)
    assert (oof.n_folds, oof.blocks["inner"].completeness) == (5, 1.0)
    assert np.isfinite(of.estimate.nested(oof, "accuracy").value)


def test_a_store_goes_on_with_the_same_folds(tmp_path):
    X, y = data(2)
    first = of.collect({"bayes": GaussianNB()}, X, y, of.Plan(10), store=tmp_path / "x.oof", progress=False)
    both = of.collect(CONFIGS, X, y, of.Plan(10), store=tmp_path / "x.oof", progress=False)
    assert both.fingerprint == first.fingerprint
    assert [n.code for n in both.notes] == ["OF108"]


def test_a_search_keeps_the_folds_too():
    X, y = data(2, n_classes=2)
    for scoring in ("roc_auc", "accuracy"):
        search = of.SelectCV(
            GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, scoring=scoring, cv=of.Plan(10), drop=None
        ).fit(X, y)
        assert search.n_splits_ == 10
        # The mean is over the folds in which the metric is defined; two of them have the class.
        assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
        assert [n.code for n in search.oof_.notes] == ["OF108"]
