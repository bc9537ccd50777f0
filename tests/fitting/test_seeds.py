"""Several seeds for each fit: predictions are means, nothing else changes."""

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import GaussianRandomProjection
from sklearn.tree import ExtraTreeClassifier, ExtraTreeRegressor
from test_collect_store import equal

import outfold as of
from collect_estimators import Raises, Shaken, Tally, fits
from internals import Reader, RowPredictions, average, seed_of, seeds_of
from outfold import Plan, State, collect, drop, load, refit, stability
from outfold.exceptions import FitFailedError, InputError, StoreMismatchError

PLAN = Plan(folds=4, repeats=2)


@pytest.fixture(scope="module")
def data():
    return make_classification(80, 6, flip_y=0.2, random_state=2)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.oof"


@pytest.fixture
def log(tmp_path):
    return str(tmp_path / "fits.log")


def configs(log=None):
    return of.grid("shaken", Shaken(log=log), scale=[0.5, 1.0]) | {"tally": Tally(log=log)}


# -- what is averaged -----------------------------------------------------------------------------------


def test_seeds_nest():
    assert seeds_of(5, 7, 1, 2)[:3] == seeds_of(3, 7, 1, 2)
    assert seeds_of(1, 7, 1, 2) == (seed_of(7, 1, 2),)
    assert len(set(seeds_of(50, 0, 0, 0))) == 50


def test_the_first_seed_is_that_of_one_and_predictions_are_the_mean(data):
    one, two, three = (collect(configs(), *data, PLAN, rng=3, seeds=m) for m in (1, 2, 3))
    assert "seeds" not in one.blocks
    equal(one, collect(configs(), *data, PLAN, rng=3))
    assert not {"seeds", "seeded"} & {*one.provenance, *one.provenance["identity"]}
    each = three.blocks["seeds"]
    assert each.n_repeats == 6
    np.testing.assert_array_equal(each.folds, np.repeat(three.folds, 3, axis=1))
    np.testing.assert_array_equal(each.data[::3], one.data)
    np.testing.assert_array_equal(each.data[[0, 1, 3, 4]], two.blocks["seeds"].data)
    mean = each.data.reshape(2, 3, *each.data.shape[1:]).mean(axis=1)
    np.testing.assert_allclose(three.data, mean, rtol=1e-14)
    # What has no seed to vary is the same to the last bit, also as a mean of three.
    np.testing.assert_array_equal(three.data[:, 2], one.data[:, 2])
    np.testing.assert_array_equal(each.data[1::3, 2], one.data[:, 2])
    assert not np.array_equal(each.data[0, 0], each.data[1, 0])
    assert each.completeness == three.completeness == 1.0


def test_the_mean_equals_fits_done_one_by_one(data):
    X, y = data
    oof = collect({"tree": ExtraTreeClassifier()}, X, y, PLAN, rng=5, seeds=4)
    for r, k in oof.splits.cells:
        train, test = oof.splits.train_rows(r, k), oof.splits.test_rows(r, k)
        models = [ExtraTreeClassifier(random_state=s).fit(X[train], y[train]) for s in seeds_of(4, 5, r, k)]
        want = np.mean([model.predict_proba(X[test])[:, 1] for model in models], axis=0)
        np.testing.assert_allclose(oof.data[r, 0, test], want, rtol=1e-14)


def test_equal_predictions_keep_their_bits():
    values = np.array([0.1, 0.7, 1 / 3])
    parts = [RowPredictions(values, None)] * 7
    np.testing.assert_array_equal(average(parts, Reader("value", None), True).values, values)


def test_regression_and_several_classes():
    X, y = make_regression(60, 4, noise=5, random_state=0)
    oof = collect(ExtraTreeRegressor(), X, y, Plan(3), seeds=3)
    np.testing.assert_allclose(oof.data[0], oof.blocks["seeds"].data.mean(axis=0), rtol=1e-12)
    X, y = make_classification(90, 6, n_classes=3, n_informative=4, random_state=2)
    oof = collect(ExtraTreeClassifier(max_depth=3), X, y, Plan(3), seeds=3)
    np.testing.assert_allclose(oof.data[0], oof.blocks["seeds"].data.mean(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(oof.respond("label")[0], np.argmax(oof.data[0], axis=-1))


# -- labels ---------------------------------------------------------------------------------------------


def test_most_models_decide_where_labels_are_kept(data):
    oof = collect(ExtraTreeClassifier(max_depth=2), *data, Plan(3), seeds=5, response="label")
    votes = oof.blocks["seeds"].data[:, 0]
    np.testing.assert_array_equal(oof.data[0, 0], (votes.mean(axis=0) > 0.5).astype(int))


def test_a_tie_goes_to_the_first_class_where_only_labels_are_kept():
    parts = [RowPredictions(np.array(codes), None) for codes in ([1, 2, 2], [0, 2, 1], [1, 0, 0], [0, 1, 1])]
    found = average(parts, Reader("label", np.array(["a", "b", "c"])), False)
    assert found.values.tolist() == [0, 2, 1]


def test_a_tie_goes_to_the_larger_mean_otherwise():
    reader = Reader("proba", np.array(["a", "b"]))
    parts = [RowPredictions(np.array([0.9, 0.4, 0.2]), None), RowPredictions(np.array([0.2, 0.55, 0.6]), None)]
    assert average(parts, reader, False).labels.tolist() == [1, 0, 0]
    assert average(parts, reader, True).labels is None


def test_labels_of_models_whose_predict_is_their_own(data):
    """A calibrated model is not known to follow its probabilities: most of the models decide."""
    made = {"calibrated": CalibratedClassifierCV(ExtraTreeClassifier(), cv=2), "plain": LogisticRegression(C=0.1)}
    oof = collect(made, *data, Plan(3), seeds=3)
    each = oof.blocks["seeds"]
    votes = each.respond("label")[:, 0]
    np.testing.assert_array_equal(oof.respond("label")[0, 0], (votes.sum(axis=0) > 1.5).astype(int))
    np.testing.assert_array_equal(oof.respond("label")[0, 1], (oof.data[0, 1] > 0.5).astype(int))


# -- counting and sharing -------------------------------------------------------------------------------


def test_fits_are_counted_one_by_one(data, log):
    oof = collect(configs(log), *data, PLAN, seeds=3)
    assert fits(log) == oof.provenance["n_fits"] == 8 * (3 + 3 + 1)
    assert oof.provenance["seeds"] == 3
    assert oof.provenance["seeded"] == ["shaken(scale=0.5)", "shaken(scale=1)"]
    assert np.nansum(oof.seconds) == pytest.approx(np.nansum(oof.blocks["seeds"].seconds))


def test_warnings_are_counted_by_fit(data):
    from sklearn.neural_network import MLPClassifier

    oof = collect(MLPClassifier((2,), max_iter=2), *data, Plan(2), seeds=3)
    assert oof.provenance["warnings"] == {"ConvergenceWarning": 6}


def pipelines():
    """Shared transformers with and without a seed, and families of models with and without one."""
    made = {}
    for c in (0.1, 1.0):
        made[f"plain {c}"] = make_pipeline(StandardScaler(), LogisticRegression(C=c))
        made[f"drawn {c}"] = make_pipeline(StandardScaler(), GaussianRandomProjection(3), LogisticRegression(C=c))
    for k in (1, 5):
        made[f"neighbours {k}"] = make_pipeline(StandardScaler(), KNeighborsClassifier(k))
        made[f"near {k}"] = make_pipeline(StandardScaler(), GaussianRandomProjection(3), KNeighborsClassifier(k))
    return made | of.grid("forest", RandomForestClassifier(), n_estimators=[2, 4])


def test_sharing_gives_the_same_bits(data, patient):
    plain = collect(pipelines(), *data, Plan(3), seeds=3, share=False)
    shared = collect(pipelines(), *data, Plan(3), seeds=3)
    equal(shared, plain)
    facts = shared.provenance["sharing"]
    assert facts["models"] == plain.provenance["n_fits"] == shared.provenance["n_fits"] == 3 * (8 * 3 + 2)
    assert facts["models_done"] < facts["models"]


def test_steps_are_fitted_once_for_each_of_their_seeds(data, patient):
    some = {name: model for name, model in pipelines().items() if not name.startswith("forest")}
    facts = collect(some, *data, Plan(3), seeds=3).provenance["sharing"]
    # The scaler is fitted once for a hold-out, the projection once for each of its seeds.
    assert facts["steps_done"] == 3 * (1 + 3)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_change_nothing(data, backend):
    some = dict(list(pipelines().items())[:4])
    alone = collect(some, *data, Plan(2), seeds=2)
    with joblib.parallel_config(backend):
        equal(collect(some, *data, Plan(2), seeds=2, n_jobs=2), alone)


def test_explain_says_what_has_a_seed(data):
    said = []
    collect(configs(), *data, Plan(3), seeds=2, explain=said.append)
    assert said[0].endswith("This is for one seed; 2 configurations of 3 have a seed to vary.")


# -- failures -------------------------------------------------------------------------------------------


def test_one_seed_that_fails_is_a_failed_cell(data):
    oof = collect({"a": Shaken(), "bad": Shaken(fails=2), "worse": Raises()}, *data, PLAN, seeds=3)
    seeds = {(r, k): seeds_of(3, 0, r, k) for r, k in oof.splits.cells}
    for (r, k), mine in seeds.items():
        failed = any(seed % 2 == 0 for seed in mine)
        assert (oof.state[1, r, k] == State.FAILED) == failed
        assert np.all((oof.blocks["seeds"].state[1, 3 * r : 3 * r + 3, k] == State.FAILED) == failed)
    assert any(seed[0] % 2 == 1 and any(s % 2 == 0 for s in seed) for seed in seeds.values())
    assert set(oof.messages.values()) == {"RuntimeError: an unlucky seed", "RuntimeError: no luck today"}
    with pytest.raises(FitFailedError, match="an unlucky seed"):
        collect({"bad": Shaken(fails=2)}, *data, PLAN, seeds=3, on_error="raise")


@pytest.mark.parametrize("seeds", [0, -1, True, 1.5, "2", None])
def test_bad_numbers_of_seeds(data, seeds):
    with pytest.raises(InputError, match="seeds must be a whole number of at least 1"):
        collect(Tally(), *data, seeds=seeds)


# -- stores ---------------------------------------------------------------------------------------------


def test_a_store_holds_what_is_returned_and_goes_on(data, path, log):
    some = dict(list(configs(log).items())[:1])
    collect(some, *data, PLAN, seeds=3, store=path)
    oof = collect(configs(log), *data, PLAN, seeds=3, store=path)
    assert fits(log) == oof.provenance["n_fits"] == 8 * 7
    assert oof.provenance["seeded"] == ["shaken(scale=0.5)", "shaken(scale=1)"]
    equal(oof, collect(configs(), *data, PLAN, seeds=3))
    equal(load(path), oof)
    collect(configs(log), *data, PLAN, seeds=3, store=path, n_jobs=2)
    assert fits(log) == 2 * 8 * 7 - 8 * 7
    for seeds, words in ((1, r"seeds=3 \(now seeds=1\)"), (2, r"seeds=3 \(now seeds=2\)")):
        with pytest.raises(StoreMismatchError, match=words):
            collect(configs(), *data, PLAN, seeds=seeds, store=path)
    other = path.with_name("one.oof")
    collect(configs(), *data, PLAN, store=other)
    with pytest.raises(StoreMismatchError, match=r"seeds=1 \(now seeds=3\)"):
        collect(configs(), *data, PLAN, seeds=3, store=other)


def interrupted(path, after, call):
    """Make the call, and press Ctrl-C after so many cells."""

    def press(done, total):
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(store=path, progress=press)


RULE = drop.Bootstrap(threshold=0.9, min_predictions=20, n_resamples=100)
SETTINGS = {
    "drop": {"plan": PLAN, "drop": RULE},
    "auto": {"plan": Plan(folds=4), "repeats": "auto", "stop": stability.Rank(0.999), "max_repeats": 5},
    "both": {"plan": Plan(folds=4), "repeats": "auto", "stop": stability.Fixed(3), "drop": RULE},
    "fold": {"plan": Plan(folds=4), "repeats": "auto", "stop": stability.Width(0.25, "accuracy", after="fold")},
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_an_interruption_changes_nothing(data, path, setting):
    made = of.grid("shaken", Shaken(), scale=[-1.0, 0.5, 1.0]) | {"tally": Tally(), "wrong": Tally(-1.0)}
    whole = collect(made, *data, seeds=2, **SETTINGS[setting])
    for after in (3, 6):
        interrupted(path, after, lambda **more: collect(made, *data, seeds=2, **SETTINGS[setting], **more))
    oof = collect(made, *data, seeds=2, store=path, **SETTINGS[setting])
    equal(oof, whole)
    equal(load(path), whole)
    assert oof.provenance.get("drops") == whole.provenance.get("drops")
    each = oof.blocks["seeds"]
    assert each.n_repeats == 2 * oof.n_repeats
    np.testing.assert_array_equal(each.state, np.repeat(oof.state, 2, axis=1))
    if setting == "fold":
        assert 0 < oof.provenance["stopped_after_fold"] < 3
    if "drop" in SETTINGS[setting]:
        names = {record["config"] for record in whole.provenance["drops"]}
        assert "wrong" in names
        assert "shaken(scale=-1)" in names
        lost = np.sum(whole.state == State.DROPPED, axis=(1, 2)) @ [2, 2, 2, 1, 1]
        assert whole.provenance["fits_saved"] == oof.provenance["fits_saved"] == lost > 0


# -- blocks, refit, parts -------------------------------------------------------------------------------


def test_every_block_is_averaged(data):
    X, y = data
    trees = {"tree": ExtraTreeClassifier(max_depth=2)}
    oof = collect(trees, X, y, Plan(3), seeds=3, inner=True, fresh=True, resub=True)
    longer = collect(trees, X, y, Plan(3, repeats=2), seeds=3)
    np.testing.assert_array_equal(oof.blocks["fresh"].data[0], longer.data[1])
    train = np.flatnonzero(oof.folds[:, 0] == 0)
    test = np.flatnonzero(oof.folds[:, 0] == 2)
    models = [clone(trees["tree"]).set_params(random_state=s).fit(X[train], y[train]) for s in seeds_of(3, 0, 0, 1, 2)]
    want = np.mean([model.predict_proba(X[test])[:, 1] for model in models], axis=0)
    np.testing.assert_allclose(oof.blocks["inner"].data[1, 0, test], want, rtol=1e-14)
    # Outer and inner fits of three seeds, and the three of the final model.
    assert of.estimate.nested(oof, n_resamples=20).details["fits"] == 3 * (3 + 3 + 1)


def test_inner_folds_of_their_own_are_averaged(data):
    X, y = data
    trees = {"tree": ExtraTreeClassifier(max_depth=2)}
    oof = collect(trees, X, y, Plan(3), seeds=3, rng=4, inner=2)
    inner = oof.blocks["inner"]
    np.testing.assert_array_equal(inner.folds, collect(trees, X, y, Plan(3), rng=4, inner=2).blocks["inner"].folds)
    train, test = np.flatnonzero(inner.folds[:, 1] == 0), np.flatnonzero(inner.folds[:, 1] == 1)
    models = [
        ExtraTreeClassifier(max_depth=2, random_state=s).fit(X[train], y[train]) for s in seeds_of(3, 4, 0, 1, 2, 1)
    ]
    want = np.mean([model.predict_proba(X[test])[:, 1] for model in models], axis=0)
    np.testing.assert_allclose(inner.data[1, 0, test], want, rtol=1e-14)
    # Three outer fits and two inner ones in each, of three seeds, and the three of the final model.
    assert of.estimate.nested(oof, n_resamples=20).details["fits"] == oof.provenance["n_fits"] + 3 == 3 * (3 + 6 + 1)


@pytest.mark.parametrize("response", ["proba", "label"])
def test_refit_is_the_model_that_was_estimated(data, response):
    X, y = data
    names = np.array(["no", "yes"])[y]
    trees = {"tree": ExtraTreeClassifier(max_depth=3)}
    oof = collect(trees, X, names, Plan(3), seeds=4, rng=8, resub=True, response=response)
    model = refit(oof, trees, X, names)
    seeds = seeds_of(4, 8)
    assert [fitted.random_state for fitted in model.estimators_] == list(seeds)
    own = oof.blocks["resub"]
    np.testing.assert_array_equal(model.predict(X), own.target.classes[own.respond("label")[0, 0]])
    if response == "proba":
        np.testing.assert_array_equal(model.predict_proba(X)[:, 1], own.data[0, 0])
    again = clone(model).fit(X, names)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert list(model.classes_) == ["no", "yes"]
    assert not hasattr(model, "decision_function")


def test_refit_of_one_model(data):
    X, y = make_regression(50, 3, random_state=0)
    trees = {"tree": ExtraTreeRegressor()}
    oof = collect(trees, X, y, Plan(3), seeds=3, resub=True)
    model = refit(oof, trees, X, y)
    np.testing.assert_array_equal(model.predict(X), oof.blocks["resub"].data[0, 0])
    oof = collect({"tally": Tally()}, *data, Plan(3), seeds=3)
    assert isinstance(refit(oof, {"tally": Tally()}, *data), Tally)


def test_parts_keep_their_seeds(data):
    oof = collect(configs(), *data, PLAN, seeds=3)
    second = oof.sel(repeat=[1], config=["tally", "shaken(scale=1)"])
    np.testing.assert_array_equal(second.blocks["seeds"].data, oof.blocks["seeds"].data[3:][:, [2, 1]])
    joined = oof.join(oof, suffixes=(" old", " new"))
    assert joined.blocks["seeds"].n_configs == 6
    assert joined.provenance["seeded"] == sorted(
        f"shaken(scale={scale}) {end}" for scale in ("0.5", "1") for end in ("new", "old")
    )


def test_scores_of_models_are_averaged(data):
    def first_mean(model, X, y):
        return float(model.means_[0, 0])

    oof = collect({"a": Shaken()}, *data, Plan(3), seeds=3, scorers={"mean": first_mean})
    X, y = data
    train = oof.splits.train_rows(0, 1)
    models = [Shaken(random_state=s).fit(X[train], y[train]) for s in seeds_of(3, 0, 0, 1)]
    assert oof.live_scores["mean"][0, 0, 1] == pytest.approx(np.mean([m.means_[0, 0] for m in models]))


def test_refit_of_several_survival_models():
    ensemble = pytest.importorskip("sksurv.ensemble")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.empty(60, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(60) < 0.7, rng.exponential(np.exp(-X[:, 0]))
    forest = {"forest": ensemble.RandomSurvivalForest(n_estimators=5)}
    oof = collect(forest, X, y, Plan(3), seeds=2)
    model = refit(oof, forest, X, y)
    assert oof.response == "survival"
    each = [ensemble.RandomSurvivalForest(5, random_state=s).fit(X, y) for s in seeds_of(2, 0)]
    np.testing.assert_allclose(model.predict(X), np.mean([one.predict(X) for one in each], axis=0))
    at = np.quantile(y["time"], [0.2, 0.5, 0.8])
    expected = np.mean([[[step(t) for t in at] for step in one.predict_survival_function(X)] for one in each], axis=0)
    found = [[step(t) for t in at] for step in model.predict_survival_function(X)]
    np.testing.assert_allclose(found, expected)
    assert model.predict_survival_function(X[:2], return_array=True).shape[0] == 2
    assert model.n_features_in_ == 3
    assert not hasattr(model, "score")
