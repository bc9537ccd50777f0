"""What `bbc` corrects by default: average precision, and concordance of K folds; nothing else."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

import outfold as of
from conftest import make_predictions
from outfold import estimate

DRAWS, FOLDS = 300, 5


def _ranked(n=50, c=4, seed=0, off=1.0):
    """Scores of two classes; each fold has its own offset, as margins of different models may."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    folds = rng.permutation(n) % FOLDS
    P = 1.5 * y[:, None] + rng.normal(size=(n, c)) + off * rng.normal(size=FOLDS)[folds][:, None]
    counts = rng.multinomial(n, np.full(n, 1 / n), size=DRAWS)
    return of.from_arrays(y, P, folds=folds, response="score"), counts


def _within(y, scores, folds):
    """The share of right pairs among those of the same fold."""
    right = pairs = 0.0
    for k in np.unique(folds):
        own = folds == k
        n = y[own].sum() * (1 - y[own]).sum()
        if n:
            right, pairs = right + n * roc_auc_score(y[own], scores[own]), pairs + n
    return right / pairs if pairs else np.nan


def test_average_precision_is_corrected_for_few_samples_and_for_folds():
    oof, counts = _ranked()
    found = estimate.bbc(oof, "average_precision", draws=counts, draws_are="counts")
    y, folds = np.asarray(oof.y), oof.folds[:, 0]
    P = {name: oof.P[:, j].reshape(len(y)) for j, name in enumerate(oof.configs)}
    left, gained = [], []
    shares = {name: np.mean(found.chosen == name) for name in oof.configs}
    for count, name in zip(counts, found.chosen, strict=True):
        out = count == 0
        gained.append(_within(y[out], P[name][out], folds[out]) - roc_auc_score(y[out], P[name][out]))
        left.append(sum(w * average_precision_score(y[out], P[own][out]) for own, w in shares.items()))
    full = sum(w * average_precision_score(y, P[own]) for own, w in shares.items())
    few = np.e / (np.e - 1) * (np.mean(left) - full)
    assert few > 0
    assert found.details["few_samples"] == pytest.approx(-few, abs=1e-12)
    assert found.details["folds"] == pytest.approx(np.nanmean(gained), abs=1e-12)
    assert found.details["pooled"] == pytest.approx(np.mean(found.draws), abs=1e-15)
    assert found.value == pytest.approx(np.mean(found.draws) - few + np.nanmean(gained), abs=1e-12)
    assert found.interval.low < found.value < found.interval.high
    assert "corrected for few samples and folds" in str(found)


def test_the_published_mean_has_a_name():
    oof, counts = _ranked()
    options = {"draws": counts, "draws_are": "counts"}
    plain = estimate.bbc(oof, "average_precision", correction="none", **options)
    assert plain.value == plain.draws.mean()
    assert "corrected" not in str(plain)
    assert np.array_equal(plain.draws, estimate.bbc(oof, "average_precision", **options).draws)


def test_scores_of_one_scale_gain_less_within_folds_than_scores_of_several():
    same, several = (estimate.bbc(_ranked(off=off)[0], "average_precision", n_resamples=200) for off in (0.0, 5.0))
    assert several.details["folds"] > same.details["folds"] + 0.05


def test_one_fold_has_nothing_to_gain():
    oof, _ = _ranked()
    found = estimate.bbc(of.from_arrays(oof.y, oof.P, response="score"), "average_precision", n_resamples=100)
    assert found.details["folds"] == 0


def test_a_winner_without_errors_stays_one_and_no_other_becomes_one():
    y = (np.arange(40) % 2).astype(int)
    perfect = of.from_arrays(
        y, y[:, None] + np.linspace(0, 0.1, 40)[:, None], folds=np.arange(40) % 4, response="score"
    )
    assert estimate.bbc(perfect, "average_precision", n_resamples=100).value == 1
    rng = np.random.default_rng(0)
    folds = rng.permutation(40) % 4
    scores = y + 10.0 * folds + rng.normal(0, 0.1, 40)  # right within every fold, wrong between folds
    found = estimate.bbc(of.from_arrays(y, scores[:, None], folds=folds, response="score"), "average_precision")
    assert 0.95 < found.value < 1
    assert all(note.code != "OF220" for note in found.notes)


@pytest.mark.parametrize("aggregate", ["pooled", "within", "fold"])
def test_concordance_is_balanced(aggregate):
    oof = make_predictions("concordance", n=60, c=12, seed=3)
    options = {"aggregate": aggregate, "n_resamples": 300}
    found, plain = (estimate.bbc(oof, "concordance", correction=name, **options) for name in ("auto", "none"))
    board = oof.leaderboard("concordance", aggregate=aggregate)
    own = dict(zip(board.configs, board.scores, strict=True))
    lead = max(own.values()) - np.mean([own[name] for name in plain.chosen])
    assert found.details["lead"] == pytest.approx(lead, abs=1e-12)
    assert found.details["added"] == pytest.approx((1 - found.details["noise_share"]) * lead, abs=1e-12)
    assert found.value == pytest.approx(plain.value + found.details["added"], abs=1e-12)
    assert np.array_equal(found.draws, plain.draws)
    assert "balanced" in str(found)


def test_concordance_of_another_rule_or_of_one_test_set_is_not_balanced():
    oof = make_predictions("concordance", n=60, c=12, seed=3)
    one_set = of.from_arrays(np.c_[oof.target.y, oof.target.event], oof.P, response="risk")
    ruled = estimate.bbc(oof, "concordance", rule=lambda candidates: 0, n_resamples=50)
    assert "lead" not in ruled.details
    assert "lead" not in estimate.bbc(one_set, "concordance", n_resamples=50).details


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "log_loss", "f1", "mse", "r2"])
@pytest.mark.parametrize("aggregate", ["pooled", "fold"])
def test_all_else_is_as_published(metric, aggregate):
    oof = make_predictions(metric, seed=1)
    found, plain = (
        estimate.bbc(oof, metric, aggregate=aggregate, correction=name, n_resamples=60) for name in ("auto", "none")
    )
    assert found.value == plain.value
    assert found.interval == plain.interval
    if metric != "roc_auc":  # counts pairs within folds
        assert found.value == found.draws.mean()


def test_a_search_corrects_as_bbc_does():
    from sklearn.datasets import make_classification
    from sklearn.tree import DecisionTreeClassifier

    X, y = make_classification(80, weights=[0.7], random_state=0)
    search = of.SelectCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 4]}, scoring="average_precision")
    search.fit(X, y)
    assert set(search.estimate_.details) >= {"few_samples", "folds", "pooled"}
    assert search.estimate_.value == estimate.bbc(search.oof_).value


def test_no_correction_of_average_precision_goes_below_chance():
    """With three positives among 60 samples the correction for few samples is larger than the score."""
    cut = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = (np.arange(60) < 3).astype(int)
        oof = of.from_arrays(y, rng.normal(size=(60, 10)), folds=np.arange(60) % 3, response="score")
        found = estimate.bbc(oof, "average_precision", n_resamples=200)
        parts = found.details
        assert found.value >= min(parts["pooled"], 3 / 60)
        assert found.value == pytest.approx(parts["pooled"] + parts["few_samples"] + parts["folds"], abs=1e-12)
        cut += found.value == 3 / 60
    assert cut > 0


def average_precision(y, labels):
    return float(np.mean(y == labels))


def test_other_metrics_of_the_same_name_are_not_corrected():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    labels = np.where(rng.random((60, 4)) < 0.7, y[:, None], 1 - y[:, None])
    oof = of.from_arrays(y, labels, folds=np.arange(60) % 5, response="label")
    found = estimate.bbc(oof, average_precision, n_resamples=200)
    assert found.metric == "average_precision"
    assert found.value == estimate.bbc(oof, average_precision, n_resamples=200, correction="none").value
    assert "few_samples" not in found.details


def test_average_precision_of_three_classes_that_are_told_apart_has_an_estimate():
    X, y = np.repeat(np.eye(3), 20, axis=0), np.repeat(np.arange(3), 20)  # a draw may leave out no sample of a class
    search = of.SelectCV(LogisticRegression(), {"C": [1.0, 10.0]}, scoring="average_precision", cv=StratifiedKFold(3))
    assert search.fit(X, y).estimate_.value == 1.0
