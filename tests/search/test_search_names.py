"""Names of the configurations of a search: one short line each, all different, also where a grid swaps whole steps."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from outfold.search.space import make_space

PIPE = Pipeline([("imp", SimpleImputer()), ("clf", LogisticRegression())])
LOGIT, FOREST = LogisticRegression(max_iter=1000), RandomForestClassifier(10, random_state=0)
CHANGED = RandomForestClassifier(
    500, max_depth=3, min_samples_leaf=7, min_samples_split=9, max_features="log2", bootstrap=False, criterion="entropy"
)


def names(grid, estimator=PIPE):
    return list(make_space(estimator, grid, "grid", None, 0).configs)


def test_the_class_of_a_swapped_last_step_gives_the_name():
    grid = [
        {"clf": [LOGIT], "clf__C": [0.1, 1], "imp__strategy": ["mean"]},
        {"clf": [FOREST], "clf__max_depth": [4], "imp__strategy": ["mean"]},
    ]
    assert names(grid) == [
        "LogisticRegression(max_iter=1000, C=0.1, strategy='mean')",
        "LogisticRegression(max_iter=1000, C=1, strategy='mean')",
        "RandomForestClassifier(n_estimators=10, max_depth=4, strategy='mean')",
    ]


def test_what_the_grid_sets_is_listed_once():
    assert names({"clf": [SVC(C=3, kernel="linear")], "clf__C": [3, 4]}) == [
        "SVC(kernel='linear', C=3)",
        "SVC(kernel='linear', C=4)",
    ]


def test_a_step_with_its_defaults_is_its_class():
    assert names({"clf": [SVC(), LogisticRegression()]}) == ["SVC", "LogisticRegression"]


def test_seeds_are_listed_only_where_they_tell_two_apart():
    two = [RandomForestClassifier(10, random_state=seed) for seed in (0, 1)]
    assert names({"clf": two[:1]}) == ["RandomForestClassifier(n_estimators=10)"]
    assert names({"clf": two}) == [f"RandomForestClassifier(n_estimators=10, random_state={seed})" for seed in (0, 1)]


def test_parameters_of_two_steps_with_one_name_keep_their_steps():
    assert names({"clf": [DummyClassifier(strategy="uniform")], "imp__strategy": ["mean"]}) == [
        "DummyClassifier(clf__strategy='uniform', imp__strategy='mean')"
    ]


@pytest.mark.parametrize(
    "grid",
    [
        {"clf": [CHANGED, FOREST]},
        {"clf": [make_pipeline(StandardScaler(), SVC(C=c, kernel="linear", gamma=7)) for c in (1.25, 1.5)]},
        {"clf": [BaggingClassifier(CHANGED), BaggingClassifier(FOREST), BaggingClassifier()]},
        {"imp": [SimpleImputer(add_indicator=True, strategy=s, keep_empty_features=True) for s in ("mean", "median")]},
        {"imp": [FunctionTransformer(kw_args={"a": np.eye(4) * by}) for by in (1, 2)]},
        {"clf__class_weight": [{0: 1.0, 1: np.eye(9) * by} for by in (1, 2)]},
        {"imp__fill_value": [np.str_("a\nb")]},
        {"clf": [SVC(), SVC()]},
    ],
    ids=["changed", "pipelines", "nested", "first step", "arrays", "array in a parameter", "text", "equal"],
)
def test_names_are_single_lines_that_differ(grid):
    made = names(grid)
    assert len(set(made)) == len(made)
    assert not any("\n" in name or "  " in name for name in made)


def test_an_estimator_is_not_cut_in_the_middle():
    assert names({"imp": [SimpleImputer(strategy="median", add_indicator=True)]}) == [
        "LogisticRegression(imp=SimpleImputer(add_indicator=True, strategy='median'))"
    ]
    assert list(of.grid("model", PIPE, clf=[LOGIT, RandomForestClassifier(10, random_state=0, n_jobs=2)])) == [
        "model(clf=LogisticRegression(max_iter=1000))",
        "model(clf=RandomForestClassifier(n_estimators=10))",
    ]


def test_names_without_swapped_steps_are_as_ever():
    grid = {"clf__C": [0.1, 1], "imp__strategy": ["mean", "a text, longer than the forty characters of a value"]}
    assert names(grid)[:2] == [
        "LogisticRegression(C=0.1, strategy='mean')",
        "LogisticRegression(C=0.1, strategy='a text, longer than…racters of a value')",
    ]
    assert names({"max_depth": [1, None]}, DecisionTreeClassifier()) == [
        "DecisionTreeClassifier(max_depth=1)",
        "DecisionTreeClassifier(max_depth=None)",
    ]


def test_a_store_with_the_step_twice_in_a_name_is_fitted_again(tmp_path):
    X, y = load_iris(return_X_y=True)
    store, grid, old = tmp_path / "search.oof", {"clf": [LOGIT, FOREST]}, "RandomForestClassifier(clf=RandomForest…)"
    how = {"cv": 3, "store": store, "refit": False, "drop": False}
    of.SelectCV({old: Pipeline([("imp", SimpleImputer()), ("clf", FOREST)])}, **how).fit(X, y)
    search = of.SelectCV(PIPE, grid, **how).fit(X, y)
    assert search.oof_.configs == tuple(names(grid))
    assert len(search.cv_results_["params"]) == 2


def test_a_sampler_that_suggests_a_step_again_suggests_one_configuration():
    pytest.importorskip("optuna")
    import optuna

    def suggest(trial):
        chosen = trial.suggest_categorical("model", ["svm", "tree"])
        return {"clf": SVC() if chosen == "svm" else DecisionTreeClassifier(max_depth=2, random_state=0)}

    X, y = load_iris(return_X_y=True)
    sampler = optuna.samplers.RandomSampler(seed=0)
    search = of.SelectCV(PIPE, suggest, search=sampler, n_configs=6, cv=3, drop=False).fit(X, y)
    assert sorted(search.oof_.configs) == ["DecisionTreeClassifier(max_depth=2)", "SVC"]
