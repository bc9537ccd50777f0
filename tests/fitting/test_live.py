"""Scores of fitted models: computed in the worker, kept by fold, read by everything that needs no samples."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.svm import SVC

import outfold as of
from outfold.exceptions import FitFailedError, InputError, NeedError, StoreMismatchError
from outfold.metrics import LiveScore

GRID = of.grid("logit", LogisticRegression(), C=[0.01, 0.1, 1.0, 10.0])
X, y = make_classification(120, 6, n_informative=3, flip_y=0.2, random_state=0)
FOLDS = StratifiedKFold(5)


def size(estimator, X, y):
    """Minus the sum of the coefficients: only the model knows it."""
    return -float(np.abs(estimator.coef_).sum())


def hits(estimator, X, y):
    return float(np.mean(estimator.predict(X) == y))


def collected(**options):
    given = {"scorers": {"size": size, "hits": hits}, "progress": False, **options}
    return of.collect(GRID, X, y, FOLDS, **given)


def expected(score):
    return np.array(
        [cross_validate(model, X, y, cv=FOLDS, scoring=score, n_jobs=None)["test_score"] for model in GRID.values()]
    )


def test_scores_are_those_of_models_fitted_by_hand():
    oof = collected()
    np.testing.assert_allclose(oof.live_scores["size"][:, 0], expected(size), rtol=1e-12)
    # The same number from the predictions that are kept beside it.
    np.testing.assert_array_equal(oof.live_scores["hits"], oof.scores("accuracy"))


@pytest.mark.parametrize("options", [{"n_jobs": 2}, {"share": False}, {"timeout": 60}])
def test_the_bits_do_not_depend_on_who_fits(options):
    one, other = collected(), collected(**options)
    assert list(one.live_scores) == list(other.live_scores) == ["size", "hits"]
    for name, scores in one.live_scores.items():
        assert scores.tobytes() == other.live_scores[name].tobytes()
    assert one.data.tobytes() == other.data.tobytes()


def test_a_store_keeps_them_and_is_continued_with_the_same_scorers_only(tmp_path):
    path = tmp_path / "run.oof"
    plan = of.Plan.from_cv(FOLDS)
    few = of.collect(
        {"logit(C=0.01)": GRID["logit(C=0.01)"]}, X, y, plan, scorers={"size": size}, store=path, progress=False
    )
    whole = of.collect(dict(GRID), X, y, plan, scorers={"size": size}, store=path, progress=False)
    assert whole.live_scores["size"][0].tobytes() == few.live_scores["size"][0].tobytes()
    assert of.load(path).live_scores["size"].tobytes() == whole.live_scores["size"].tobytes()
    with pytest.raises(StoreMismatchError, match="scorers"):
        of.collect(dict(GRID), X, y, plan, scorers={"size": hits}, store=path, progress=False)


def test_everything_that_reads_scores_of_folds_reads_them():
    oof = collected().selecting_by(LiveScore("size"))
    best = oof.configs[int(np.argmax(oof.live_scores["size"].mean(axis=(1, 2))))]
    assert oof.selection().name == best == oof.leaderboard().selected
    assert oof.selection().rule == "best mean size over folds of 4 configurations"
    assert of.estimate.tt(oof).selected == of.estimate.bbc_f(oof).selected == best
    np.testing.assert_array_equal(oof.scores("size"), oof.live_scores["size"])
    pair = of.compare.t_corrected(oof, "size", *oof.configs[:2])
    assert pair.difference == pytest.approx(float(np.diff(oof.live_scores["size"][1::-1].mean(axis=(1, 2)))[0]))
    joined = oof.sel(config=[0, 1]) | oof.sel(config=[2, 3])
    np.testing.assert_array_equal(joined.live_scores["size"], oof.live_scores["size"])


def test_a_score_of_folds_is_refused_where_samples_are_drawn():
    oof = collected().selecting_by(LiveScore("size"))
    with pytest.raises(NeedError, match=r"size is known for whole folds only.*bbc_f"):
        of.estimate.bbc(oof)
    with pytest.raises(NeedError, match="needs scores of the fitted models; these keep size, hits"):
        of.estimate.tt(oof, LiveScore("deviance"))
    with pytest.raises(NeedError, match="needs a score of samples to drop by"):
        of.collect(GRID, X, y, FOLDS, scorers={"size": size}, metric=LiveScore("size"), drop=True, progress=False)


def test_a_rule_that_needs_folds_only_drops_by_them():
    plan = of.Plan(folds=10, repeats=2)
    rule = of.drop.Friedman(min_folds=5)
    oof = of.collect(GRID, X, y, plan, scorers={"size": size}, metric=LiveScore("size"), drop=rule, progress=False)
    dropped = np.any(oof.state == of.State.DROPPED, axis=(1, 2))
    assert dropped.any()
    assert np.isnan(oof.live_scores["size"][oof.state == of.State.DROPPED]).all()
    assert oof.selection().name == "logit(C=0.01)"


def test_no_predictions_where_there_is_nothing_to_predict():
    clusters = of.grid("k", KMeans(n_init=1, random_state=0), n_clusters=[2, 3])
    oof = of.collect(
        clusters, X, None, of.Plan(folds=5), response="none", scorers={"score": lambda e, X: e.score(X)}, progress=False
    )
    assert oof.response == "none"
    assert oof.completeness == 1.0
    assert oof.selection().name == "k(n_clusters=3)"
    with pytest.raises(NeedError, match="no predictions, only scores of folds"):
        of.estimate.bbc(oof, "mean")
    with pytest.raises(InputError, match="needs scorers"):
        of.collect(clusters, X, None, response="none")


def test_kernels_between_samples_are_cut_on_both_sides():
    kernel = X @ X.T
    grid = of.grid("svc", SVC(kernel="precomputed"), C=[0.1, 1.0])
    features = of.grid("svc", SVC(kernel="linear"), C=[0.1, 1.0])
    one, other = (of.collect(g, data, y, FOLDS, progress=False) for g, data in ((grid, kernel), (features, X)))
    np.testing.assert_allclose(one.data, other.data, atol=1e-6)
    with pytest.raises(InputError, match=r"must not be mixed with others"):
        of.collect(grid | {"linear": SVC(kernel="linear")}, kernel, y, FOLDS, progress=False)


def test_scorers_that_cannot_be_called_are_named():
    with pytest.raises(InputError, match=r"scorers must be functions of \(estimator, X, y\) by name"):
        collected(scorers={"size": "accuracy"})


def test_a_scorer_that_raises_leaves_a_gap_or_ends_the_collection():
    def fragile(estimator, X, y):
        raise RuntimeError("no luck today")

    oof = collected(scorers={"fragile": fragile, "hits": hits})
    assert np.isnan(oof.live_scores["fragile"]).all()
    assert np.isfinite(oof.live_scores["hits"]).all()
    assert oof.provenance["not_scored"] == {"RuntimeError: no luck today": 20}
    with pytest.raises(FitFailedError, match="no luck today"):
        collected(scorers={"fragile": fragile, "hits": hits}, on_error="raise")
