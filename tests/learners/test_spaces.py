import numpy as np
import pytest

import outfold as of
from extras import pd, pl
from outfold.exceptions import InputError
from outfold.learners import spaces


def frame(n=60, seed=0):
    rng = np.random.default_rng(seed)
    out = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "age": rng.integers(20, 80, n),
            "flag": rng.random(n) < 0.5,
            "city": rng.choice(["a", "b", "c"], n),
        }
    )
    out.loc[[1, 5], "x"] = np.nan
    out.loc[2, "city"] = np.nan
    return out


def one_of_each(configs):
    """The first configuration of every family."""
    first = {}
    for name in configs:
        first.setdefault(name.partition("(")[0], name)
    return {name: configs[name] for name in first.values()}


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_about_sixty_configurations_of_six_families(task):
    configs = spaces.tabular(frame(), task)
    assert isinstance(configs, of.Configs)
    assert len(configs) == 60
    families = {name.partition("(")[0] for name in configs}
    assert families == {"logit" if task == "classification" else "ridge", "svm", "knn", "tree", "forest", "boost"}


@pytest.mark.parametrize("labels", [("no", "yes"), ("a", "b", "c")])
def test_every_classifier_gives_probabilities_on_mixed_columns(labels):
    X = frame()
    y = np.array(labels)[np.arange(len(X)) % len(labels)]
    oof = of.collect(one_of_each(spaces.classification(X)), X, y, of.Plan(folds=2))
    assert oof.response == "proba"
    assert oof.completeness == 1.0
    assert np.isfinite(of.estimate.bbc(oof, "log_loss", n_resamples=20).value)


def test_every_regressor_predicts_on_mixed_columns():
    X = frame()
    oof = of.collect(one_of_each(spaces.regression(X)), X, X["age"] * 1000.0 + 7.0, of.Plan(folds=2))
    assert oof.completeness == 1.0
    assert len(oof.leaderboard("r2")) == 6
    # Scaling the target keeps the SVM at work although its parameters know nothing of thousands.
    svm = next(name for name in oof.configs if name.startswith("svm"))
    assert np.ptp(oof.data[0, oof.config_index(svm)]) > 1000


def test_a_fitted_pipeline_takes_unseen_categories_missing_values_and_further_columns():
    X = frame()
    model = spaces.classification(X)["logit(C=1)"].fit(X, np.arange(len(X)) % 2)
    new = pd.DataFrame({"other": [1], "city": ["zz"], "flag": [True], "age": [np.nan], "x": [np.nan]})
    assert model.predict_proba(new).shape == (1, 2)


def test_missing_values_get_an_indicator_only_where_there_are_some():
    with_missing = spaces.classification(frame())["logit(C=1)"]
    assert with_missing.get_params()["columns__numbers__add_indicator"] is True
    complete = frame().dropna()
    assert spaces.classification(complete)["logit(C=1)"].get_params()["columns__numbers__add_indicator"] is False


def test_polars_frames_and_arrays_serve_too():
    X = frame()
    y = np.arange(len(X)) % 2
    chosen = {"tree": spaces.classification(pl.from_pandas(X))["tree(max_depth=2, min_samples_leaf=1)"]}
    assert of.collect(chosen, pl.from_pandas(X), y, of.Plan(folds=2)).completeness == 1.0
    numbers = np.random.default_rng(0).normal(size=(30, 3))
    model = spaces.tabular(numbers, "regression")["ridge(alpha=1)"].fit(numbers, numbers[:, 0])
    assert model.predict(numbers) == pytest.approx(numbers[:, 0], abs=0.2)


def test_small_and_large_tables_get_what_they_can_take():
    few = [name for name in spaces.classification(frame(8)) if name.startswith("knn")]
    assert few == [f"knn(n_neighbors={k}, weights='{w}')" for k in (1, 3) for w in ("uniform", "distance")]
    large = spaces.regression(np.zeros((spaces.MOST_ROWS_SVM + 1, 2)))
    assert not any(name.startswith("svm") for name in large)


def test_wrong_input_is_told():
    with pytest.raises(InputError, match="task must be 'classification' or 'regression'; got 'ranking'"):
        spaces.tabular(frame(), "ranking")
    with pytest.raises(InputError, match="column 'when' holds Datetime"):
        spaces.classification(pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"])}))
    with pytest.raises(InputError, match=r"array of numbers of shape \(N, p\)"):
        spaces.regression(np.array(["a", "b"]))
    with pytest.raises(InputError, match="no columns to predict from"):
        spaces.regression(pd.DataFrame(index=range(3)))


def test_the_printed_grid_of_the_paper():
    configs = spaces.tsamardinos2015(np.zeros((20, 3)))
    assert len(configs) == 1 + 14 * 14 + 3 + 9 + 27
    kinds = [type(pipeline[-1]).__name__ for pipeline in configs.values()]
    assert (kinds.count("LogisticRegression"), kinds.count("DecisionTreeClassifier"), kinds.count("SVC")) == (
        1,
        196,
        39,
    )
    tree = configs["tree(min_samples_leaf=20, min_samples_split=1)"][-1]
    assert (tree.min_samples_leaf, tree.min_samples_split) == (20, 2)
    assert configs.params["svm(kernel='poly', degree=4, gamma=10, C=0.1)"] == {
        "kernel": "poly",
        "degree": 4,
        "gamma": 10,
        "C": 0.1,
    }


def test_the_610_configurations_of_2018():
    rng = np.random.default_rng(0)
    X, y = frame(80), np.array(["a", "b"])[(rng.random(80) < 0.4).astype(int)]
    configs = spaces.tsamardinos2018(X, y, n_trees=3)
    assert len(configs) == 610
    kinds = [type(c.steps[-1][1]).__name__ for c in configs.values()]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "RandomForestClassifier": 60,
        "SVC": 400,
        "LogisticRegression": 150,
    }
    assert sum("select" in dict(c.steps) for c in configs.values()) == 488


def test_the_largest_penalty_of_2018_leaves_no_coefficient_and_the_next_some():
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    lasso = [c for name, c in spaces.tsamardinos2018(X, y).items() if name.startswith("logit(l1_ratio=1,")]
    strongest, next_one = (c.set_params(model__tol=1e-6).fit(X, y).steps[-1][1].coef_ for c in lasso[:2])
    assert np.abs(strongest).max() < 1e-4
    assert np.abs(next_one).max() > 0.01


def test_2018_is_for_two_classes():
    with pytest.raises(InputError, match="two classes; y has 3"):
        spaces.tsamardinos2018(frame(), np.arange(60) % 3)
