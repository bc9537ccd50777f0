"""Plan(test=...): samples that nothing sees until `confront` scores them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import outfold as of
from extras import pd
from outfold.exceptions import InputError, StoreMismatchError

CONFIGS = of.grid("logit", LogisticRegression(), C=[0.01, 1])
PLAN = of.Plan(folds=5, test=0.3)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, (rng.random(120) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)


def collect(X, y, plan=PLAN, **options):
    return of.collect(CONFIGS, X, y, plan, metric="accuracy", progress=False, **options)


def rows_of(oof):
    test = np.array(oof.provenance["test_part"]["rows"])
    return np.setdiff1d(np.arange(oof.provenance["test_part"]["n_samples"]), test), test


def test_predictions_are_those_of_the_other_samples_alone(data):
    X, y = data
    oof = collect(X, y)
    rest, test = rows_of(oof)
    plain = collect(X[rest], y[rest], of.Plan(folds=5))
    assert len(test) == 36
    assert oof.n_samples == 84
    assert oof.fingerprint == plain.fingerprint
    np.testing.assert_array_equal(oof.data, plain.data)
    np.testing.assert_array_equal(oof.samples, rest)
    assert of.estimate.bbc(oof).value == of.estimate.bbc(plain).value
    assert "test part        36 samples kept apart" in str(oof)


def test_nothing_depends_on_the_features_of_the_test_part(data):
    X, y = data
    oof = collect(X, y)
    _, test = rows_of(oof)
    other = X.copy()
    other[test] = 1e6
    np.testing.assert_array_equal(collect(other, y).data, oof.data)


def test_it_is_stratified_and_depends_on_the_seed(data):
    X, y = data
    _, test = rows_of(collect(X, y))
    assert abs(y[test].mean() - y.mean()) < 1 / 36
    np.testing.assert_array_equal(rows_of(collect(X, y))[1], test)
    assert not np.array_equal(rows_of(collect(X, y, rng=1))[1], test)


def test_split_gives_the_same_folds_and_trains_on_no_test_sample(data):
    X, y = data
    oof, splits = collect(X, y), PLAN.split(y, rng=0)
    rest, test = rows_of(oof)
    assert np.all(splits.folds[test] == -1)
    np.testing.assert_array_equal(splits.folds[rest], oof.folds)
    for cell in splits.cells:
        assert not np.isin(test, splits.train_rows(*cell)).any()
        assert len(splits.train_rows(*cell)) + len(splits.test_rows(*cell)) == len(rest)


def test_groups_stay_whole(data):
    X, y = data
    groups = np.arange(120) // 4
    oof = collect(X, y, groups=groups)
    rest, test = rows_of(oof)
    assert not set(groups[rest]) & set(groups[test])
    found = of.confront(oof, CONFIGS, X, y)
    assert found.n_new == len(test)


def test_the_test_part_is_scored_by_a_model_of_the_others(data, tmp_path):
    X, y = data
    path = tmp_path / "run.oof"
    oof = collect(X, y, store=path)
    rest, test = rows_of(oof)
    found = of.confront(oof, CONFIGS, X, y, store=path)
    model = of.refit(oof, CONFIGS, X[rest], y[rest])
    assert found.part == "test samples"
    assert found.observed == np.mean(model.predict(X[test]) == y[test])
    assert found.n_samples == len(rest)
    of.confront(oof, CONFIGS, X, y, store=path)
    (entry,) = of.load(path).provenance["ledger"]
    assert entry["part"] == "test samples"
    again = collect(X, y, store=path)
    assert again.provenance["n_fits"] == oof.provenance["n_fits"]
    assert len(again.provenance["ledger"]) == 1


def test_refit_fits_on_all_samples_or_on_the_others(data):
    X, y = data
    oof = collect(X, y)
    rest, _ = rows_of(oof)
    whole, part = of.refit(oof, CONFIGS, X, y), of.refit(oof, CONFIGS, X[rest], y[rest])
    assert not np.allclose(whole.coef_, part.coef_)
    name = oof.selection().name
    np.testing.assert_allclose(
        whole.coef_, LogisticRegression(C=oof.params[oof.configs.index(name)]["C"]).fit(X, y).coef_
    )
    with pytest.raises(InputError, match="X is not what the predictions came from"):
        of.refit(oof, CONFIGS, X + 1, y)


def test_other_samples_are_refused(data):
    X, y = data
    oof = collect(X, y)
    with pytest.raises(InputError, match="X is not what was given to collect"):
        of.confront(oof, CONFIGS, X + 1, y)
    with pytest.raises(InputError, match="samples that the model was trained on"):
        of.confront(oof, of.refit(oof, CONFIGS, X, y), X, y)


def test_weights_names_and_frames_are_cut_with_the_rows(data):
    X, y = data
    names, weights = np.array([f"s{i}" for i in range(120)]), np.where(np.arange(120) % 2, 1.0, 5.0)
    frame = pd.DataFrame(X, columns=list("abc"))
    oof = collect(frame, pd.Series(y), samples=names, fit_params={"sample_weight": weights})
    rest, _ = rows_of(oof)
    np.testing.assert_array_equal(oof.samples, names[rest])
    plain = collect(frame.iloc[rest], y[rest], of.Plan(folds=5), fit_params={"sample_weight": weights[rest]})
    np.testing.assert_array_equal(oof.data, plain.data)


def test_regressions_have_a_test_part_too(data):
    X, _ = data
    ridges = of.grid("ridge", Ridge(), alpha=[0.1, 10])
    oof = of.collect(ridges, X, X[:, 0] + X[:, 1] ** 2, PLAN, progress=False)
    assert of.confront(oof, ridges, X, X[:, 0] + X[:, 1] ** 2).n_new == 36


def test_a_store_without_a_test_part_is_another(data, tmp_path):
    X, y = data
    path = tmp_path / "run.oof"
    collect(X, y, store=path)
    with pytest.raises(StoreMismatchError, match=r"84 samples \(now 120\)"):
        collect(X, y, of.Plan(folds=5), store=path)
    with pytest.raises(StoreMismatchError, match=r"84 samples \(now 96\)"):
        collect(X, y, of.Plan(folds=5, test=0.2), store=path)


@pytest.mark.parametrize("test", [0, 1, 1.5, "a", True])
def test_the_share_is_checked(test):
    with pytest.raises(InputError, match="test must be a share between 0 and 1"):
        of.Plan(test=test)


def test_a_plan_with_a_test_part_goes_through_json():
    assert of.Plan.from_dict(PLAN.to_dict()) == PLAN
    assert repr(PLAN) == "Plan(5-fold, test part of 0.3 kept apart)"
    assert repr(of.Plan(3, 2)) == "Plan(2 x 3-fold)"


def test_searches_and_curves_refuse_it(data):
    X, y = data
    with pytest.raises(InputError, match="with a test part is for collect"):
        of.SelectCV(LogisticRegression(), {"C": [0.1, 1]}, cv=PLAN).fit(X, y)
    with pytest.raises(InputError, match="with a test part is for collect"):
        of.curves.learning(CONFIGS, X, y, plan=PLAN)
