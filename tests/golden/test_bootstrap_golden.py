"""Bootstrap estimates against values made with mlxtend, and by the published formulas of Efron and Tibshirani."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import outfold as of
from internals import NOT_HELD_OUT, State, encode, point632plus
from outfold import estimate

CASES = ("iris_3nn", "noise_40x20_1nn")


def rounds_of(y, drawn, predicted, full_model) -> of.Predictions:
    """Bootstrap rounds as `collect` gives them, from stored draws and labels predicted for all samples."""
    target = encode(y)
    n, b = len(y), len(drawn)
    counts = np.stack([np.bincount(rows, minlength=n) for rows in drawn])
    train = {(r, 0): np.repeat(np.arange(n), times) for r, times in enumerate(counts)}
    plan = of.Plan.bootstrap(b)

    def block(data, folds, train):
        state = np.full((1, folds.shape[1], 1), State.DONE, dtype=np.uint8)
        shown = np.where(folds.T[:, None] == 0, data[:, None], -1).astype(np.intp)
        return of.Predictions(target, shown, folds, state, ("model",), "label", plan, train=train)

    held, used = (np.where(side.T, 0, NOT_HELD_OUT).astype(np.int32) for side in (counts == 0, counts > 0))
    resub = block(full_model[None], np.zeros((n, 1), dtype=np.int32), {(0, 0): np.arange(n)})
    return replace(block(predicted, held, train), blocks={"inbag": block(predicted, used, train), "resub": resub})


@pytest.fixture(scope="module", params=range(len(CASES)), ids=CASES)
def case(request, golden_data: Path):
    folder = golden_data / "boot632"
    ref = json.loads((folder / "ref.json").read_text())[request.param]
    z = np.load(folder / f"{CASES[request.param]}.npz")
    return rounds_of(z["y"], z["boot_idx"], z["pred_all"], z["pred_full_model"]), ref, z


def test_oob_is_mlxtends(case):
    oof, ref, z = case
    assert oof.scores("accuracy")[0, :, 0] == pytest.approx(z["mlxtend_oob"], abs=1e-12)
    assert estimate.oob(oof, "accuracy").value == pytest.approx(ref["mlxtend_mean_acc"]["oob"], abs=1e-12)
    assert estimate.oob(oof, "error").value == pytest.approx(ref["mlxtend_err"]["oob"], abs=1e-12)


def test_632_by_round_is_mlxtends(case):
    oof, ref, _ = case
    assert estimate.point632(oof, "accuracy", per_round=True).value == pytest.approx(
        ref["mlxtend_mean_acc"][".632"], abs=1e-12
    )
    assert estimate.point632(oof, "error", per_round=True).value == pytest.approx(ref["mlxtend_err"]["e632"], abs=1e-12)


def test_632_and_632plus_are_efrons(case):
    oof, ref, _ = case
    efron = ref["efron"]
    assert estimate.resubstitution(oof, "error").value == pytest.approx(efron["apparent_err"], abs=1e-12)
    assert estimate.point632(oof, "error").value == pytest.approx(efron["err_632"], abs=1e-12)
    assert estimate.point632(oof, "accuracy").value == pytest.approx(1 - efron["err_632"], abs=1e-12)
    for metric, of_error in (("error", lambda e: e), ("accuracy", lambda e: 1 - e)):
        plus = estimate.point632plus(oof, metric)
        assert plus.value == pytest.approx(of_error(efron["err_632plus"]), abs=1e-12)
        assert plus.details["no_information"] == pytest.approx(of_error(efron["gamma"]), abs=1e-12)
        assert plus.details["out_of_bag"] == pytest.approx(of_error(efron["err1_loo_bootstrap"]), abs=1e-12)
        assert plus.details["overfitting"] == pytest.approx(efron["R"], abs=1e-12)


def test_632plus_as_a_weighted_mean(case):
    """Raschka's eq. 35-37 with R kept within 0..1 caps the loss out of the bag, where it is above that without information."""
    _, ref, _ = case
    efron = ref["efron"]
    err0, err1, gamma = (np.array(efron[key]) for key in ("apparent_err", "err1_loo_bootstrap", "gamma"))
    capped = point632plus(err0, np.minimum(err1, gamma), gamma).loss
    assert capped == pytest.approx(efron["err_632plus_simple_weight"], abs=1e-12)


def test_why_632plus_is_not_ipreds_nor_mlxtends(case):
    """Neither keeps R within 0..1: where it lies there their values are ours, elsewhere they go past chance."""
    oof, ref, z = case
    efron = ref["efron"]
    if efron["R_ipred"] <= 1:
        assert estimate.point632plus(oof, "error").value == pytest.approx(efron["err_632plus_ipred_formula"], abs=1e-12)
    else:
        assert efron["err_632plus_ipred_formula"] > estimate.point632plus(oof, "error").value > efron["gamma"]
    ours, theirs, parts = [], [], []
    for r in range(oof.n_repeats):
        one = oof.sel(repeat=r)
        test = float(one.scores("error")[0, 0, 0])
        train, labels = float(np.mean(z["pred_all"][r] != z["y"])), np.unique(z["y"])
        gamma = sum(np.mean(z["y"] == k) * np.mean(z["pred_all"][r] != k) for k in labels)
        rate = (test - train) / (gamma - train)
        weight = 0.632 / (1 - 0.368 * rate)
        # mlxtend's own number from the same parts: nothing but the range of R tells the two apart.
        assert 1 - (weight * test + (1 - weight) * train) == pytest.approx(z["mlxtend_632p"][r], abs=1e-12)
        parts.append((train, test, gamma))
        ours.append(1 - estimate.point632plus(one, "error", per_round=True).value)
        theirs.append(z["mlxtend_632p"][r] if 0 <= rate <= 1 else np.nan)
    outside = np.isnan(theirs)
    assert outside.sum() == ref["mlxtend_splits_with_R_outside_0_1"]
    assert np.array(ours)[~outside] == pytest.approx(np.array(theirs)[~outside], abs=1e-12)
    # All rounds together have one R, from the means of their parts.
    train, test, gamma = np.mean(parts, axis=0)
    rate = np.clip((test - train) / (gamma - train), 0, 1)
    weight = 0.632 / (1 - 0.368 * rate)
    expected = 1 - (weight * test + (1 - weight) * train)
    assert estimate.point632plus(oof, "accuracy", per_round=True).value == pytest.approx(expected, abs=1e-12)
