"""Estimates of predictions that stay in a file: read some configurations at a time, with the same answer."""

import math
from dataclasses import replace

import numpy as np
import pytest

import internals
import outfold as of
from conftest import make_predictions

# Sums of floats may differ in the last digit with the number of configurations that BLAS takes together.
FLOATS = {"log_loss", "brier", "mse", "rmse", "r2", "explained_variance", "integrated_brier", "d2_absolute_error_score"}
METRICS = [
    "accuracy",
    "roc_auc",
    "average_precision",
    "f1",
    "mcc",
    "concordance",
    "mean",
    "roc_auc_ovr",
    *sorted(FLOATS),
]


@pytest.fixture
def in_the_file(monkeypatch, tmp_path):
    """Predictions of any size stay in the file, and come two or three configurations at a time."""

    def loaded(oof):
        path = oof.save(tmp_path / "x.oof")
        monkeypatch.setattr(internals.store, "_AT_ONCE", 0)
        monkeypatch.setattr(internals.stored, "_AT_ONCE", 3 * oof.data[:, 0].size)
        late = of.load(path)
        assert internals.stored.comes_in_parts(late)
        return late

    return loaded


def same(found, expected, exactly):
    """Whether two answers are the same, to the last bit or but for rounding."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            same(found[key], value, exactly)
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other, exactly)
    elif isinstance(expected, float) and not exactly:
        assert math.isclose(found, expected, rel_tol=1e-12) or (math.isnan(found) and math.isnan(expected))
    else:
        assert found == expected or (found != found and expected != expected)


def unread(oof):
    return internals.stored.comes_in_parts(oof) and not {"data", "labels", "_read"} & {*vars(oof)}


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("metric", METRICS)
def test_bias_correction_reads_a_part_at_a_time(in_the_file, metric, repeats):
    oof = make_predictions(metric, n=60, c=9, r=repeats)
    late = in_the_file(oof)
    found, expected = (of.estimate.bbc(each, metric, n_resamples=300) for each in (late, oof))
    same(found.to_dict(), expected.to_dict(), metric not in FLOATS)
    np.testing.assert_allclose(found.draws, expected.draws, rtol=1e-12 if metric in FLOATS else 0)
    assert unread(late)


@pytest.mark.parametrize("aggregate", ["pooled", "within", "fold"])
@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "r2"])
def test_however_the_folds_are_joined(in_the_file, metric, aggregate):
    oof = make_predictions(metric, n=90, c=8, r=2)
    late = in_the_file(oof)
    for rule in (of.select.best, lambda candidates: int(np.argmax(candidates.mean - candidates.se))):
        found, expected = (
            of.estimate.bbc(each, metric, aggregate=aggregate, rule=rule, n_resamples=60) for each in (late, oof)
        )
        same(found.to_dict(), expected.to_dict(), metric != "r2")
    assert unread(late)


QUESTIONS = {
    "cv": lambda oof, metric: of.estimate.cv(oof, metric, "config 3").to_dict(),
    "cv pooled": lambda oof, metric: of.estimate.cv(oof, metric, "config 3", aggregate="pooled").to_dict(),
    "cvt": lambda oof, metric: of.estimate.cvt(oof, metric).to_dict(),
    "tt": lambda oof, metric: of.estimate.tt(oof, metric).to_dict(),
    "bbc_f": lambda oof, metric: of.estimate.bbc_f(oof, metric).to_dict(),
    "leaderboard": lambda oof, metric: oof.leaderboard(metric).to_dict(),
    "scores": lambda oof, metric: oof.scores(metric).tolist(),
    "selection": lambda oof, metric: oof.selection(metric).to_dict(),
    "tied set": lambda oof, metric: of.compare.tied_set(oof, metric, n_resamples=200).to_dict(),
    "given draws": lambda oof, metric: of.estimate.bbc(
        oof, metric, draws=np.random.default_rng(0).integers(0, 90, (40, 90)), draws_are="indices"
    ).to_dict(),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "average_precision", "mse", "r2"])
def test_other_answers_read_a_part_at_a_time(in_the_file, metric, question):
    oof = make_predictions(metric, n=90, c=8)
    late = in_the_file(oof)
    same(QUESTIONS[question](late, metric), QUESTIONS[question](oof, metric), metric not in FLOATS)
    assert unread(late)


BROAD = {
    "report": lambda oof: of.report(oof, n_resamples=40).leaderboard.to_dict(),
    "check": lambda oof: of.check(oof).to_dict(),
    "threshold": lambda oof: of.estimate.at_threshold(oof, n_resamples=40).to_dict(),
}


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize(
    ("metric", "question"), [("roc_auc", q) for q in BROAD] + [("mse", q) for q in list(BROAD)[:2]]
)
def test_what_looks_at_everything_never_holds_all_predictions(in_the_file, monkeypatch, metric, question, repeats):
    oof = make_predictions(metric, n=60, c=24, r=repeats)
    twin = np.array(oof.data)
    twin[:, 5] = twin[:, 17]
    oof = replace(oof, data=twin)
    late, sizes = in_the_file(oof), []
    numbers = type(late.__dict__["_numbers"])
    read = numbers.read
    monkeypatch.setattr(numbers, "read", lambda self, fields: sizes.append(self.shape[1]) or read(self, fields))
    same(BROAD[question](late), BROAD[question](oof), metric not in FLOATS)
    assert 0 < max(sizes) < 20  # a leaderboard shows 15


def test_rankings_of_configurations_in_a_file_are_forgotten(in_the_file, monkeypatch):
    oof = make_predictions("roc_auc", n=60, c=9)
    expected = of.estimate.at_threshold(oof, n_resamples=60).to_dict()
    monkeypatch.setattr("outfold.estimate._threshold._RANKED", 60 * 2)
    same(of.estimate.at_threshold(in_the_file(oof), n_resamples=60).to_dict(), expected, True)


def test_dropped_and_failed_configurations_are_not_read(in_the_file):
    rng = np.random.default_rng(0)
    y, folds = rng.integers(0, 2, 80), np.arange(80) % 4
    P = np.ma.masked_array(rng.random((80, 9)), mask=False)
    P[folds == 1, 4] = np.ma.masked
    oof = of.from_arrays(y, P, folds=folds)
    late = in_the_file(oof)
    for each in (lambda o: of.estimate.bbc(o, "roc_auc", n_resamples=50), lambda o: o.leaderboard("accuracy")):
        assert each(late).to_dict() == each(oof).to_dict()
    assert unread(late)


def test_own_labels_of_models_come_with_their_part(in_the_file):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    labels = rng.integers(0, 3, (1, 9, 60))
    labels[0, ::2] = -1
    oof = of.from_arrays(y, rng.dirichlet(np.ones(3), (60, 9, 1)), folds=np.arange(60) % 3, response="proba")
    oof = replace(oof, labels=labels)
    late = in_the_file(oof)
    assert of.estimate.bbc(late, "accuracy").to_dict() == of.estimate.bbc(oof, "accuracy").to_dict()
    assert unread(late)


def test_a_metric_that_does_not_fit_is_refused_before_anything_is_read(in_the_file):
    late = in_the_file(make_predictions("mse", n=60, c=9))
    with pytest.raises(of.exceptions.OutfoldError, match="log_loss"):
        of.estimate.bbc(late, "log_loss")
    assert unread(late)


def test_a_file_that_changes_between_two_parts_is_refused(in_the_file, tmp_path):
    late = in_the_file(make_predictions("roc_auc", n=60, c=9))
    make_predictions("roc_auc", n=60, c=9, seed=1).save(tmp_path / "x.oof")
    with pytest.raises(of.exceptions.FileError, match="has changed since it was loaded"):
        of.estimate.bbc(late, "roc_auc")


def test_errors_of_a_metric_are_not_those_of_the_file(in_the_file):
    late = in_the_file(make_predictions("roc_auc", n=60, c=9))

    def wrong(y, predicted):
        raise ValueError("no such class")

    with pytest.raises(of.exceptions.InputError, match="metric 'wrong' failed: ValueError: no such class"):
        of.estimate.bbc(late, wrong, n_resamples=20)


def test_a_file_that_does_not_fit_into_memory_is_not_called_damaged(in_the_file, monkeypatch):
    def arrays(*_):
        raise MemoryError("Unable to allocate 90 GiB")

    late = in_the_file(make_predictions("roc_auc", n=60, c=9))
    monkeypatch.setattr("outfold.io.reading._Block.arrays", arrays)
    with pytest.raises(of.exceptions.FileError, match=r"x.oof needs more memory than there is\. Take some config"):
        late.data  # noqa: B018


def test_what_somebody_reads_meanwhile_does_no_harm(in_the_file):
    oof = make_predictions("roc_auc", n=60, c=9)
    late = in_the_file(oof)
    scoring = internals.Scoring(late, "roc_auc")
    assert late.data.shape == oof.data.shape
    np.testing.assert_array_equal(scoring.scores(), internals.Scoring(oof, "roc_auc").scores())
