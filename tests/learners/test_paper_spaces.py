"""The spaces of the papers have the configurations that the papers print."""

import numpy as np
import pytest
from scipy import stats
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

import outfold as of
from extras import pd
from internals import SelectColumns
from outfold.exceptions import InputError
from outfold.learners import SES, Univariate, describe, spaces
from table_frames import mixed


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
    X, y = mixed(80), np.array(["a", "b"])[(rng.random(80) < 0.4).astype(int)]
    configs = spaces.tsamardinos2018(X, y, n_trees=3)
    assert len(configs) == 610
    kinds = [type(c.steps[-1][1]).__name__ for c in configs.values()]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "RandomForestClassifier": 60,
        "SVC": 400,
        "LogisticRegression": 150,
    }
    assert sum(isinstance(c[0], SelectColumns) for c in configs.values()) == 488
    numbers = spaces.tsamardinos2018(rng.normal(size=(80, 30)), y, n_trees=3)
    assert sum("select" in dict(c.steps) for c in numbers.values()) == 488


def test_the_largest_penalty_of_2018_leaves_no_coefficient_and_the_next_some():
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    lasso = [c for name, c in spaces.tsamardinos2018(X, y).items() if name.startswith("logit(l1_ratio=1,")]
    strongest, next_one = (c.set_params(model__tol=1e-6).fit(X, y).steps[-1][1].coef_ for c in lasso[:2])
    assert np.abs(strongest).max() < 1e-4
    assert np.abs(next_one).max() > 0.01


def test_2018_is_for_two_classes():
    with pytest.raises(InputError, match="two classes; y has 3"):
        spaces.tsamardinos2018(mixed(), np.arange(60) % 3)


def test_the_1652_configurations_of_2015_with_selection():
    """The paper says 1729 = 7 x 247; its printed grids make 236 configurations after each of 7 choices of features."""
    configs = spaces.tsamardinos2015_wfs(np.zeros((20, 3)))
    assert len(configs) == 7 * 236 == 1652
    plain = spaces.tsamardinos2015(np.zeros((20, 3)))
    assert list(configs)[:236] == list(plain)
    selectors = [dict(pipeline.steps).get("select") for pipeline in configs.values()]
    univariate = [s.alpha for s in selectors if isinstance(s, Univariate)]
    ses = [(s.alpha, s.max_conditions) for s in selectors if isinstance(s, SES)]
    assert {alpha: univariate.count(alpha) for alpha in set(univariate)} == {0.01: 236, 0.05: 236}
    assert {how: ses.count(how) for how in set(ses)} == dict.fromkeys([(0.01, 3), (0.01, 5), (0.05, 3), (0.05, 5)], 236)


def test_selections_of_2015_are_fitted_once_in_each_fold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    configs = spaces.tsamardinos2015_wfs(X)
    wanted = ["univariate(alpha=0.05) logit", "univariate(alpha=0.05) tree(min_samples_leaf=1, min_samples_split=1)"]
    wanted += ["univariate(alpha=0.05) svm(kernel='linear', C=1)", "ses(alpha=0.01, k=5) logit"]
    oof = of.collect({name: configs[name] for name in wanted}, X, y, of.Plan(folds=3))
    assert oof.completeness == 1.0
    # In each of three folds: the columns, the scaler, and each of two selections.
    shared = oof.provenance["sharing"]
    assert (shared["steps"], shared["steps_done"]) == (3 * 4 * 3, 3 * 4)


def raw_table(n=120, seed=1):
    """Numbers with missing values, categories and classes; one category matters."""
    rng = np.random.default_rng(seed)
    color = rng.choice(["red", "green", "blue", "rare"], n, p=[0.4, 0.3, 0.25, 0.05])
    X = pd.DataFrame({f"x{j}": rng.normal(size=n) for j in range(3)})
    X["color"], X["noise"] = color, rng.choice(list("abc"), n)
    y = (X["x0"] + 2 * (color == "red") + rng.normal(size=n) > 1).map({True: "ill", False: "well"}).to_numpy()
    X.loc[::11, "x0"] = np.nan
    X.loc[::13, "noise"] = None
    return X, y


def test_categories_are_selected_as_a_whole():
    X, y = raw_table()
    configs = spaces.tsamardinos2015_wfs(X)
    assert len(configs) == 1652
    for name in ("univariate(alpha=0.01) logit", "ses(alpha=0.01, k=3) logit"):
        fitted = configs[name].fit(X, y)
        names = fitted[0].get_feature_names_out().tolist()
        assert [part for part in names if "color" in part] == [
            f"categories__color_{c}" for c in ("blue", "green", "rare", "red")
        ]
        assert not [part for part in names if "noise" in part]
        assert fitted[:-1].transform(X).shape == (len(X), len(names))
    # The selector sees the table as it is: the category is one feature, the indicator of missing numbers another.
    univariate = configs["univariate(alpha=0.01) logit"].fit(X, y)[0].selector_
    direct = Univariate(alpha=0.01).fit(X, y)
    assert len(univariate.pvalues_) == 3 + 1 + 2
    np.testing.assert_allclose(univariate.pvalues_[[0, 1, 2, 4, 5]], direct.pvalues_, rtol=1e-9)


def test_levels_that_share_a_column_are_one_level():
    X, y = raw_table()
    encoder = OneHotEncoder(min_frequency=20, handle_unknown="infrequent_if_exist", sparse_output=False)
    columns = ColumnTransformer([("categories", encoder, ["color", "noise"]), ("numbers", SimpleImputer(), ["x0"])])
    step = SelectColumns(columns, Univariate()).fit(X, y)
    merged = X[["color", "noise", "x0"]].assign(color=X["color"].replace({"rare": "blue"}))
    assert len(step.selector_.pvalues_) == 3
    counts = stats.contingency.crosstab(X["color"].replace({"rare": "other"}), y).count
    assert step.selector_.pvalues_[0] == pytest.approx(stats.chi2_contingency(counts, correction=False).pvalue)
    assert step.transform(merged).shape == (len(X), len(step.kept_))


def test_a_part_of_the_1652_runs_on_a_raw_table():
    X, y = raw_table()
    configs = spaces.tsamardinos2015_wfs(X)
    tree = "tree(min_samples_leaf=10, min_samples_split=20)"
    wanted = [name for name in configs if name.endswith(("logit", tree, "svm(kernel='rbf', gamma=0.1, C=1)"))]
    assert len(wanted) == 7 * 3
    oof = of.collect({name: configs[name] for name in wanted}, X, y, of.Plan(folds=3), rng=0)
    assert oof.completeness == 1.0
    assert oof.leaderboard("accuracy").scores[0] > 0.7
    assert "SES at level 0.05 with sets of at most 3 selects the columns" in describe(
        configs["ses(alpha=0.05, k=3) logit"]
    )
    assert "3 numbers" in describe(configs["ses(alpha=0.05, k=3) logit"])


def test_a_selection_of_whole_columns_is_saved_without_pickle(tmp_path):
    skops = pytest.importorskip("skops.io")
    from outfold.models.trust import is_part_of_models

    X, y = raw_table()
    fitted = spaces.tsamardinos2015_wfs(X)["ses(alpha=0.01, k=3) logit"].fit(X, y)
    skops.dump(fitted, tmp_path / "model.skops")
    found = skops.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(map(is_part_of_models, found))
    again = skops.load(tmp_path / "model.skops", trusted=found)
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize("name", ["tsamardinos2015", "tsamardinos2015_wfs", "tsamardinos2018"])
def test_the_papers_are_about_classes(name):
    with pytest.raises(InputError, match="is for classes; the task is regression"):
        spaces.make_space(name, np.zeros((20, 3)), np.zeros(20), "regression")
