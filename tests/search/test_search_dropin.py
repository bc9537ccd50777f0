"""What users of GridSearchCV do, done with SelectCV: their data, splitters, arguments and mistakes."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from joblib import parallel_config
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupShuffleSplit,
    HalvingGridSearchCV,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, RegressorChain
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, KNeighborsRegressor, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_dtype_object

import outfold as of
from collect_estimators import Raises, Tally, fits
from extras import pd, pl
from outfold.exceptions import InputError

GRID = {"C": [0.01, 1.0]}


@pytest.fixture(scope="module")
def data():
    return make_classification(80, 6, flip_y=0.2, random_state=0)


def searched(X, y, estimator=None, grid=None, cv=None, **options):
    """Mean scores of SelectCV and of GridSearchCV."""
    estimator = LogisticRegression() if estimator is None else estimator
    grid = GRID if grid is None else grid
    cv = KFold(3) if cv is None else cv
    fit = {name: options.pop(name) for name in ("groups", "sample_weight") if name in options}
    ours = of.SelectCV(estimator, grid, cv=cv, drop=False, **options).fit(X, y, **fit)
    theirs = GridSearchCV(estimator, grid, cv=cv, **options).fit(X, y, **fit)
    assert ours.best_params_ == theirs.best_params_
    return ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]


# -- data -----------------------------------------------------------------------------------------------

SAMPLES = {
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcdef"), index=np.arange(80)[::-1]),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcdef")),
    "lists": lambda X: X.tolist(),
    "csr": sp.csr_matrix,
    "csc array": sp.csc_array,
    "single precision": lambda X: X.astype(np.float32),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_of_every_kind(data, name):
    X, y = data
    found, expected = searched(SAMPLES[name](X), y)
    np.testing.assert_allclose(found, expected)


LABELS = {
    "series": lambda y: pd.Series(y, index=np.arange(80)[::-1]),
    "category": lambda y: pd.Series(y).map({0: "n", 1: "p"}).astype("category"),
    "string": lambda y: pd.Series(y).map({0: "n", 1: "p"}).astype("string"),
    "polars": pl.Series,
    "list": lambda y: y.tolist(),
    "bool": lambda y: y == 1,
    "text": lambda y: np.array(["a", "b"])[y],
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_every_kind(data, name):
    X, y = data
    found, expected = searched(X, LABELS[name](y))
    np.testing.assert_allclose(found, expected)


def test_labels_of_one_column_warn_as_in_scikit_learn(data):
    X, y = data
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        of.SelectCV(LogisticRegression(), GRID, cv=3).fit(X, y[:, None])


class NeedsColumns(RegressorMixin, BaseEstimator):
    """A regressor that takes labels in columns only, as neural networks do."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y):
        if np.ndim(y) != 2:
            raise ValueError("y must have columns")
        self.mean_ = np.mean(np.asarray(y), axis=0)
        return self

    def predict(self, X):
        return np.tile(self.factor * self.mean_, (len(X), 1))


COLUMNS = {
    "array": lambda y: y[:, None],
    "list": lambda y: y[:, None].tolist(),
    "pandas": lambda y: pd.DataFrame({"value": y}),
    "polars": lambda y: pl.DataFrame({"value": y}),
}
TAKE_COLUMNS = {
    "needs them": (NeedsColumns(), {"factor": [0.5, 1.0]}),
    "neighbours": (KNeighborsRegressor(), {"n_neighbors": [1, 5]}),
    "least squares": (LinearRegression(), {"fit_intercept": [True, False]}),
    "chain": (RegressorChain(Ridge()), {"estimator__alpha": [0.1, 10.0]}),
}


@pytest.mark.parametrize("container", COLUMNS)
@pytest.mark.parametrize("name", TAKE_COLUMNS)
def test_one_column_of_values_stays_a_column(data, name, container):
    X, _ = data
    y, (estimator, grid) = COLUMNS[container](X[:, 0] + 1), TAKE_COLUMNS[name]
    ours = of.SelectCV(estimator, grid, cv=3, drop=False).fit(X, y)
    theirs = GridSearchCV(estimator, grid, cv=3).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    assert ours.predict(X).shape == (80, 1)
    assert ours.estimate_.method == "bbc"


@pytest.mark.parametrize("estimator", [Ridge(), Lasso(), KNeighborsRegressor(), DecisionTreeRegressor(random_state=0)])
def test_fits_of_one_column_have_the_bits_of_separate_fits(data, estimator):
    X, _ = data
    name, values = next(
        (p, v)
        for p, v in {"alpha": [0.1, 1.0, 9.0], "n_neighbors": [1, 3, 5], "max_depth": [1, 2, 3]}.items()
        if p in estimator.get_params()
    )
    y = X[:, :1] + 1
    shared, separate = (
        of.SelectCV(estimator, {name: values}, cv=3, drop=False, share=share).fit(X, y).oof_.data
        for share in ("exact", False)
    )
    assert shared.tobytes() == separate.tobytes()


def test_one_column_of_classes_stays_a_column_where_it_must(data):
    X, y = data
    ours = of.SelectCV(MultiOutputClassifier(LogisticRegression()), {"estimator__C": [0.01, 1.0]}).fit(X, y[:, None])
    theirs = GridSearchCV(MultiOutputClassifier(LogisticRegression()), {"estimator__C": [0.01, 1.0]}).fit(X, y[:, None])
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("frames", [pd, pl])
def test_scorers_get_several_outputs_in_the_frame_that_was_given(data, frames):
    def error_of_first(estimator, X, y):
        return -float(np.abs(y["first"].to_numpy() - estimator.predict(X)[:, 0]).mean())

    X, _ = data
    y = frames.DataFrame({"first": X[:, 0], "second": X[:, 1]})
    found, expected = searched(X, y, Ridge(), {"alpha": [0.1, 10.0]}, scoring=error_of_first)
    np.testing.assert_allclose(found, expected)


def test_columns_by_name(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(kind=np.array(list("xyz"))[np.arange(80) % 3])
    prepare = make_column_transformer((StandardScaler(), ["a", "b"]), (OneHotEncoder(), ["kind"]))
    model = make_pipeline(prepare, LogisticRegression())
    found, expected = searched(frame, y, model, {"logisticregression__C": [0.01, 1.0]})
    np.testing.assert_allclose(found, expected)
    with sklearn.config_context(transform_output="pandas"):
        model = make_pipeline(StandardScaler(), LogisticRegression())
        search = of.SelectCV(model, {"logisticregression__C": [0.01, 1.0]}, cv=3, n_jobs=2)
        assert not search.fit(frame[list("abcdef")], y).oof_.messages


DETECTORS = {
    "forest": (IsolationForest(n_estimators=5, random_state=0), {"max_samples": [0.5, 1.0]}),
    "neighbours": (LocalOutlierFactor(novelty=True), {"n_neighbors": [3, 5]}),
    "svm": (OneClassSVM(), {"nu": [0.1, 0.5]}),
}


@pytest.mark.parametrize("scoring", ["f1", "roc_auc", "accuracy"])
@pytest.mark.parametrize("name", DETECTORS)
def test_outlier_detectors_predict_labels(data, name, scoring):
    X, y = data
    found, expected = searched(X, np.where(y == 1, 1, -1), *DETECTORS[name], scoring=scoring)
    np.testing.assert_allclose(found, expected)


# -- splits ---------------------------------------------------------------------------------------------

GROUPS = np.arange(80) // 4
SPLITS = {
    "in order": KFold(4),
    "shuffled": ShuffleSplit(3, random_state=0),
    "repeated": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    "in time": TimeSeriesSplit(3),
    "one by one": LeaveOneOut(),
    "given": PredefinedSplit(np.arange(80) % 3),
    "hold-out": PredefinedSplit(np.where(np.arange(80) % 3, -1, 0)),
    "pairs": list(KFold(3).split(np.zeros(80))),
    "groups": LeaveOneGroupOut(),
    "some groups": GroupShuffleSplit(3, random_state=0),
    "groups and classes": StratifiedGroupKFold(3),
}


@pytest.mark.parametrize("name", SPLITS)
def test_splitters(data, name):
    fit = {"groups": pd.Series(GROUPS).astype(str)} if "groups" in name else {}
    found, expected = searched(*data, cv=SPLITS[name], **fit)
    np.testing.assert_allclose(found, expected)


def test_a_generator_of_pairs(data):
    X, y = data
    search = of.SelectCV(LogisticRegression(), GRID, cv=KFold(3).split(X), drop=False).fit(X, y)
    theirs = GridSearchCV(LogisticRegression(), GRID, cv=KFold(3)).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_halving_starts_where_that_of_scikit_learn_does(data):
    grid = {"C": [1e-4, 1e-3, 0.01, 0.1]}
    ours = of.SelectCV(LogisticRegression(), grid, search="halving", cv=5).fit(*data)
    theirs = HalvingGridSearchCV(LogisticRegression(), grid, cv=5, factor=2, random_state=0).fit(*data)
    assert (ours.cv_results_["state"] == "done").sum() == 1
    assert theirs.n_remaining_candidates_ <= 2
    assert {p["C"] for p in theirs.cv_results_["params"]} == {p["C"] for p in ours.cv_results_["params"]}


# -- in other estimators --------------------------------------------------------------------------------


def test_inside_other_estimators(data):
    X, y = data
    search = of.SelectCV(LogisticRegression(), GRID, cv=3)
    assert make_pipeline(StandardScaler(), search).fit(X, y).score(X, y) > 0.7
    assert VotingClassifier([("a", search), ("b", SVC())]).fit(X, y).score(X, y) > 0.7
    found = cross_validate(search, X, y, cv=3, scoring=["roc_auc"], return_estimator=True, return_train_score=True)
    assert all(0.5 < model.estimate_.value < 1 for model in found["estimator"])
    assert np.isfinite(found["train_roc_auc"]).all()
    outer = GridSearchCV(search, {"estimator__fit_intercept": [True, False]}, cv=2).fit(X, y)
    assert outer.best_estimator_.best_params_["C"] in GRID["C"]
    both = of.SelectCV(search, {"estimator__fit_intercept": [True, False]}, cv=2).fit(X, y)
    assert both.best_estimator_.best_params_["C"] in GRID["C"]


def test_copies_and_settings(data):
    X, y = data
    search = of.SelectCV(LogisticRegression(), GRID, cv=3).fit(X, y)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert again.estimate_.value == search.estimate_.value
    assert not hasattr(clone(search), "oof_")
    assert clone(search).get_params()["param_grid"] == clone(search).param_grid == GRID
    changed = clone(search).set_params(estimator__fit_intercept=False, grid={"C": [5.0]}).fit(X, y)
    assert changed.best_params_ == {"C": 5.0}
    assert changed.best_estimator_.intercept_.tolist() == [0.0]
    for made in (search, of.SelectCV({"a": SVC()}, cv=3), of.SelectCV({"a": SVC()}, cv=3).fit(X, y)):
        assert "SelectCV" in repr(made)
        assert "sk-top-container" in made._repr_html_()


@pytest.mark.parametrize("n_jobs", [-1, -2])
def test_workers_counted_from_the_end(data, n_jobs):
    with parallel_config("threading"):
        found, expected = searched(*data, n_jobs=n_jobs)
    np.testing.assert_allclose(found, expected)


# -- arguments ------------------------------------------------------------------------------------------


def test_weights_in_every_container(data):
    X, y = data
    weights = np.where(y == 1, 5.0, 1.0)
    expected = of.SelectCV(LogisticRegression(), GRID, cv=3, drop=False).fit(X, y, sample_weight=weights)
    for given in (weights.tolist(), pd.Series(weights, index=np.arange(80)[::-1])):
        found = of.SelectCV(LogisticRegression(), GRID, cv=3, drop=False).fit(X, y, sample_weight=given)
        assert found.oof_.data.tobytes() == expected.oof_.data.tobytes()
    none = of.SelectCV(LogisticRegression(), GRID, cv=3, drop=False).fit(X, y, sample_weight=None)
    assert none.oof_.data.tobytes() != expected.oof_.data.tobytes()


def test_arguments_of_gridsearchcv_without_effect(data):
    plain = of.SelectCV(LogisticRegression(), GRID, cv=3).fit(*data)
    search = of.SelectCV(LogisticRegression(), GRID, cv=3, pre_dispatch="n_jobs", return_train_score=False).fit(*data)
    assert search.best_score_ == plain.best_score_
    theirs = set(GridSearchCV(LogisticRegression(), GRID).get_params(deep=False))
    assert theirs <= set(search.get_params(deep=False))


def test_training_scores_are_those_of_gridsearchcv(data):
    for scoring in (None, "roc_auc", {"accuracy": "accuracy", "auc": "roc_auc"}):
        options = {
            "scoring": scoring,
            "refit": "auc" if isinstance(scoring, dict) else True,
            "return_train_score": True,
        }
        ours = of.SelectCV(LogisticRegression(), GRID, cv=3, drop=False, **options).fit(*data)
        theirs = GridSearchCV(LogisticRegression(), GRID, cv=3, **options).fit(*data)
        columns = [name for name in theirs.cv_results_ if "train" in name]
        assert len(columns) >= 5
        for name in columns:
            np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-12)
        assert ours.estimate_.method == "bbc"  # predictions tell the scores, so samples are drawn


@pytest.mark.parametrize("value", [np.float32(0.5), np.int64(0), 1])
def test_error_score_is_any_number(data, value):
    configs = {"good": Tally(), "bad": Raises()}
    with pytest.warns(sklearn.exceptions.FitFailedWarning):
        search = of.SelectCV(configs, cv=3, error_score=value, drop=False).fit(*data)
    assert search.cv_results_["mean_test_score"][1] == value


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_first_failed_fit_is_raised_at_once(data, tmp_path, n_jobs):
    X, y = data
    log, store = tmp_path / "log", tmp_path / "run.oof"
    pause = 0.05 if n_jobs == 2 else 0.0  # the failure arrives long before the workers are through
    good, late = Tally(log=str(log), pause=pause), Tally(scale=2.0, log=str(log), pause=pause)
    configs = {"good": good, "bad": Raises(), "late": late}
    search = of.SelectCV(configs, cv=10, error_score="raise", drop=False, store=store, n_jobs=n_jobs)
    with pytest.raises(RuntimeError, match="no luck today") as caught:
        search.fit(X, y)
    assert any("'bad' failed in repeat 0, fold" in note for note in caught.value.__notes__)
    n = fits(log)
    assert n < 20  # all would be 10 each
    assert n_jobs == 2 or n == 1  # fold by fold, in the order of the configurations
    kept = int(np.sum(of.load(store).state == of.State.DONE))
    search.set_params(estimator={k: v for k, v in configs.items() if k != "bad"}, n_jobs=1).fit(X, y)
    # What was kept is not fitted again; the winner is fitted once more, on all samples.
    again = fits(log) - n - (20 - kept + 1)
    assert (
        (kept, again) == (1, 0) if n_jobs == 1 else 0 <= again <= 4
    )  # fits in flight may begin after they were counted


def test_a_type_error_stays_one():
    check_dtype_object("SelectCV", of.SelectCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2))


REFUSED = {
    "distribution": (SVC(), {"C": loguniform(1, 2)}, {}, "'C' is a distribution. Draw from it with search='random'"),
    "halving": (SVC(), {"C": loguniform(1, 2)}, {"search": "halving"}, "search='halving' and n_configs"),
    "no dict": (SVC(), ["C"], {"search": "random", "n_configs": 1}, "grid must be a dict"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_searched(data, name):
    estimator, grid, options, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        of.SelectCV(estimator, grid, cv=3, **options).fit(*data)


SCORED_LIVE = {
    "clusters": (KMeans(n_init=1, random_state=0), {"n_clusters": [2, 3, 5]}, lambda X, y: (X,)),
    "components": (PCA(), {"n_components": [1, 2, 3]}, lambda X, y: (X,)),
    "density": (KernelDensity(), {"bandwidth": [0.1, 1.0, 10.0]}, lambda X, y: (X,)),
    "several outputs": (Ridge(), {"alpha": [0.1, 10.0]}, lambda X, y: (X, X[:, :2] + 1)),
    "several labels": (
        KNeighborsClassifier(),
        {"n_neighbors": [1, 5]},
        lambda X, y: (X, np.stack([y, 1 - y], axis=1)),
    ),
    "several labels, sparse": (
        OneVsRestClassifier(LogisticRegression()),
        {"estimator__C": [0.01, 1.0]},
        lambda X, y: (X, sp.coo_array(np.stack([y, 1 - y, X[:, 0] > 0], axis=1).astype(int))),
    ),
    "kernel": (SVC(kernel="precomputed"), GRID, lambda X, y: (X @ X.T, y)),
    "deviance": (PoissonRegressor(), {"alpha": [0.1, 10.0]}, lambda X, y: (X, np.exp(X[:, 0]))),
    "search in a search": (
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring="roc_auc", cv=2),
        {"estimator__tol": [1e-4, 1e-2]},
        lambda X, y: (X, y),
    ),
}


@pytest.mark.parametrize("name", SCORED_LIVE)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_predictions_cannot_tell_is_scored_with_the_models(data, name, n_jobs):
    estimator, grid, made = SCORED_LIVE[name]
    given = made(*data)
    ours = of.SelectCV(estimator, grid, n_jobs=n_jobs).fit(*given)
    theirs = GridSearchCV(estimator, grid).fit(*given)
    for column in ("mean_test_score", "std_test_score", "rank_test_score", "split4_test_score"):
        np.testing.assert_allclose(ours.cv_results_[column], theirs.cv_results_[column], rtol=1e-9)
    assert ours.best_params_ == theirs.best_params_
    assert ours.estimate_.method == ("bbc" if name == "kernel" else "bbc_f")
    assert ours.estimate_.naive == pytest.approx(ours.best_score_)
    assert ours.oof_.selection().name == ours.selection_.name


@pytest.mark.filterwarnings("ignore")
def test_a_fold_without_a_score_of_the_models_leaves_an_estimate():
    def along_coefficients(estimator, X, y):
        return np.nan if X[0, 0] == first else float(np.mean(X @ estimator.coef_[0]))

    X, y = make_classification(60, 4, random_state=0)
    first = X[0, 0]
    found = of.SelectCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=along_coefficients, cv=KFold(5)).fit(X, y)
    assert found.estimate_.method == "tt"
    assert found.estimate_.naive == pytest.approx(found.best_score_)


@pytest.mark.parametrize("values", [loguniform(1, 2), [1.0, 2.0]])
def test_a_sampler_wants_distributions_of_its_own(data, values):
    optuna = pytest.importorskip("optuna")
    with pytest.raises(InputError, match=r"must hold Optuna distributions .*; 'C' is .*FloatDistribution"):
        of.SelectCV(LogisticRegression(), {"C": values}, search=optuna.samplers.RandomSampler(), cv=3).fit(*data)


def test_a_suggestion_that_fails_is_raised(data):
    optuna = pytest.importorskip("optuna")
    grid = {"solver": optuna.distributions.CategoricalDistribution(["nonsense"])}
    sampler = optuna.samplers.RandomSampler(seed=0)
    with pytest.raises(ValueError, match="'solver' parameter"):
        of.SelectCV(LogisticRegression(), grid, search=sampler, cv=3, error_score="raise").fit(*data)


def test_metadata_routing_of_scorers(data):
    X, y = data
    weights = np.where(y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True)
        own = of.SelectCV(model, GRID, cv=3, scoring=lambda e, X, y: e.score(X, y)).fit(X, y, sample_weight=weights)
        assert not own.oof_.messages
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            of.SelectCV(LogisticRegression(), GRID, cv=3).fit(X, y, sample_weight=weights)


def test_a_fold_that_lacks_one_of_many_classes_is_left_out():
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = np.r_[np.arange(6) % 2, np.arange(24) % 3]
    grid, folds = {"max_depth": [1, 2]}, KFold(5)
    ours = of.SelectCV(DecisionTreeClassifier(random_state=0), grid, scoring="roc_auc_ovr", cv=folds, drop=False).fit(
        X, y
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, scoring="roc_auc_ovr", cv=folds).fit(X, y)
    for k in range(5):
        column = f"split{k}_test_score"
        np.testing.assert_allclose(ours.cv_results_[column], theirs.cv_results_[column], atol=1e-12)
    assert np.isnan(ours.cv_results_["split0_test_score"]).all()
    assert np.isfinite(ours.cv_results_["mean_test_score"]).all()


def test_a_function_that_selects_is_not_asked_where_nothing_is_defined():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), np.zeros(100, dtype=int)
    y[np.argsort(-(X[:, 0] + rng.normal(size=100)))[:5]] = 1

    def best(table):
        return int(np.nanargmax(table["mean_test_score"]))

    grid = {"max_depth": [1, 2]}
    search = of.SelectCV(DecisionTreeClassifier(random_state=0), grid, scoring="f1", cv=5, drop=False, refit=best)
    assert search.fit(X, y).best_params_ in ({"max_depth": 1}, {"max_depth": 2})
    assert 0 <= search.estimate_.value <= 1
