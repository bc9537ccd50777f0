"""Predictions with survival curves: what they hold, how they are cut, joined, written out and refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import outfold as of
from conftest import make_predictions
from extras import pd
from outfold.exceptions import InputError, NeedError


@pytest.fixture
def oof():
    return make_predictions("integrated_brier", n=30, c=3, r=2)


def test_risks_stand_before_the_curves(oof):
    np.testing.assert_array_equal(oof.respond("risk"), oof.data[..., 0])
    for needs in ("any", "predict", "model"):  # what a function f(y, prediction) gets
        np.testing.assert_array_equal(oof.respond(needs), oof.data[..., 0])
    assert oof.respond("losses").shape == (2, 3, 30)
    assert "risk scores and survival curves" in str(oof)
    assert "at 3 times from 3 to 9" in str(oof)


def test_parts_and_pickles_keep_the_times(oof):
    part = oof.sel(config=[0, 2], repeat=1)
    np.testing.assert_array_equal(part.times, oof.times)
    np.testing.assert_array_equal(part.respond("losses")[0], oof.respond("losses")[1, [0, 2]])
    again = pickle.loads(pickle.dumps(oof))
    np.testing.assert_array_equal(again.data, oof.data)
    np.testing.assert_array_equal(again.times, oof.times)


def test_joined_with_the_same_times_the_curves_stay(oof):
    both = oof.join(oof, suffixes=("", " again"))
    assert (both.response, both.n_configs) == ("survival", 6)
    np.testing.assert_array_equal(
        both.leaderboard("integrated_brier").scores[::2], oof.leaderboard("integrated_brier").scores
    )


@pytest.mark.parametrize("other", ["risk", "times"])
def test_joined_with_other_times_or_none_the_risks_stay(oof, other):
    if other == "risk":
        second = of.from_arrays(oof.y, oof.P[..., 0], folds=oof.folds, response="risk")
    else:
        second = of.from_arrays(oof.y, oof.P, folds=oof.folds, times=oof.times + 1)
    both = oof.join(second, suffixes=("", " again"))
    assert (both.response, both.times, both.data.ndim) == ("risk", None, 3)
    np.testing.assert_array_equal(both.data, np.concatenate([oof.data[..., 0]] * 2, axis=1))


def test_a_table_has_a_column_for_each_time(oof):
    frame = oof.to_frame("pandas")
    columns = [
        "sample",
        "config",
        "repeat",
        "fold",
        "time",
        "event",
        "prediction",
        "survival_3",
        "survival_6",
        "survival_9",
    ]
    assert list(frame.columns) == columns
    first = frame[(frame["config"] == "config 1") & (frame["repeat"] == 1)].sort_values("sample")
    np.testing.assert_array_equal(first[columns[6:]], oof.data[1, 1])
    # Read again, the risks are left: a table has no word for curves.
    risks = of.from_frame(frame, sample="sample", config="config", label=("time", "event"), prediction="prediction",
                          fold="fold", repeat="repeat")  # fmt: skip
    np.testing.assert_array_equal(risks.data, oof.data[..., 0])
    assert isinstance(frame, pd.DataFrame)


def test_other_metrics_do_not_ask_for_curves(oof):
    scores = oof.leaderboard("concordance").scores
    risks = of.from_arrays(oof.y, oof.P[..., 0], folds=oof.folds, response="risk")
    np.testing.assert_array_equal(scores, risks.leaderboard("concordance").scores)
    with pytest.raises(NeedError, match="integrated_brier needs survival curves; these predictions are risk scores"):
        risks.leaderboard("integrated_brier")
    assert of.stability.trace(oof, "concordance").scores.shape == of.stability.trace(risks, "concordance").scores.shape


def test_pairs_are_compared_by_risks_as_if_there_were_no_curves(oof):
    risks = of.from_arrays(oof.y, oof.P[..., 0], folds=oof.folds, response="risk")
    options = {"test": "permutation", "n_simulations": 10, "n_resamples": 100, "progress": False}
    powers = [of.compare.power(one, "concordance", 0, 1, 0.1, **options).power for one in (oof, risks)]
    assert powers[0] == powers[1]


@pytest.mark.parametrize("test", ["permutation", "bootstrap", "t_training"])
def test_pairs_are_compared_by_curves(oof, test):
    losses = oof.respond("losses").mean(axis=(0, 2))
    found = getattr(of.compare, test)(oof, "integrated_brier", 0, 1)
    assert found.difference == pytest.approx(losses[0] - losses[1], abs=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda P: {"times": [3.0, 6.0]}, "times must be the times of the survival curves that follow the risk"),
        (lambda P: {"times": [3.0, 3.0, 9.0]}, "times must be two or more times in ascending order"),
        (lambda P: {"times": [3.0]}, "times must be two or more times in ascending order"),
        (
            lambda P: {"response": "survival"},
            "response='survival' goes with times; got response='survival' and no times",
        ),
        (lambda P: {"times": [3.0, 6.0, 9.0], "response": "risk"}, "goes with times; got response='risk' and times"),
        (lambda P: {"times": [3.0, 6.0, 9.0], "P": P * 2}, "predictions are NaN or infinite|outside"),
        (lambda P: {"times": [3.0, 6.0, 9.0], "P": np.where(P[0, 0, 0, 2] == P, np.nan, P)}, "1 predictions"),
    ],
)
def test_what_are_no_curves_is_refused(oof, change, message):
    given = {"P": oof.P} | change(oof.P)
    with pytest.raises(InputError, match=message):
        of.from_arrays(oof.y, given.pop("P"), folds=oof.folds, **given)
