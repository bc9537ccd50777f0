import numpy as np
import pytest

import outfold as of
from extras import pd, pl
from outfold.exceptions import InputError
from outfold.fitting.estimators import estimator_key, parts_of
from outfold.learners import spaces
from table_frames import KINDS, everything, mixed


def one_of_each(configs):
    """The first configuration of every family."""
    first = {}
    for name in configs:
        first.setdefault(name.partition("(")[0], name)
    return {name: configs[name] for name in first.values()}


def one_of_each_step(configs):
    """The first configuration of every combination of steps, model and solver."""
    first = {}
    for name, pipeline in configs.items():
        first.setdefault((*map(type, parts_of(pipeline)), getattr(pipeline[-1], "solver", None)), name)
    return {name: configs[name] for name in first.values()}


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_about_sixty_configurations_of_six_families(task):
    configs = spaces.tabular(mixed(), task)
    assert isinstance(configs, of.Configs)
    assert len(configs) == 60
    families = {name.partition("(")[0] for name in configs}
    assert families == {"logit" if task == "classification" else "ridge", "svm", "knn", "tree", "forest", "boost"}


@pytest.mark.parametrize("labels", [("no", "yes"), ("a", "b", "c")])
def test_every_classifier_gives_probabilities_on_mixed_columns(labels):
    X = mixed()
    y = np.array(labels)[np.arange(len(X)) % len(labels)]
    oof = of.collect(one_of_each(spaces.classification(X)), X, y, of.Plan(folds=2))
    assert oof.response == "proba"
    assert oof.completeness == 1.0
    assert np.isfinite(of.estimate.bbc(oof, "log_loss", n_resamples=20).value)


def test_every_regressor_predicts_on_mixed_columns():
    X = mixed()
    oof = of.collect(one_of_each(spaces.regression(X)), X, X["age"] * 1000.0 + 7.0, of.Plan(folds=2))
    assert oof.completeness == 1.0
    assert len(oof.leaderboard("r2")) == 6
    # Scaling the target keeps the SVM at work although its parameters know nothing of thousands.
    svm = next(name for name in oof.configs if name.startswith("svm"))
    assert np.ptp(oof.data[0, oof.config_index(svm)]) > 1000


def test_a_fitted_pipeline_takes_unseen_categories_missing_values_and_further_columns():
    X = mixed()
    model = spaces.classification(X)["logit(C=1)"].fit(X, np.arange(len(X)) % 2)
    new = pd.DataFrame({"other": [1], "city": ["zz"], "flag": [True], "age": [np.nan], "x": [np.nan]})
    assert model.predict_proba(new).shape == (1, 2)


def test_missing_values_get_an_indicator_only_where_there_are_some():
    with_missing = spaces.classification(mixed())["logit(C=1)"]
    assert with_missing.get_params()["columns__numbers__add_indicator"] is True
    complete = mixed().dropna()
    assert spaces.classification(complete)["logit(C=1)"].get_params()["columns__numbers__add_indicator"] is False


def test_polars_frames_and_arrays_serve_too():
    X = mixed()
    y = np.arange(len(X)) % 2
    chosen = {"tree": spaces.classification(pl.from_pandas(X))["tree(max_depth=2, min_samples_leaf=1)"]}
    assert of.collect(chosen, pl.from_pandas(X), y, of.Plan(folds=2)).completeness == 1.0
    numbers = np.random.default_rng(0).normal(size=(30, 3))
    model = spaces.tabular(numbers, "regression")["ridge(alpha=1)"].fit(numbers, numbers[:, 0])
    assert model.predict(numbers) == pytest.approx(numbers[:, 0], abs=0.2)


def test_small_and_large_tables_get_what_they_can_take():
    few = [name for name in spaces.classification(mixed(8)) if name.startswith("knn")]
    assert few == [f"knn(n_neighbors={k}, weights='{w}')" for k in (1, 3) for w in ("uniform", "distance")]
    large = spaces.regression(np.zeros((spaces.MOST_ROWS_SVM + 1, 2)))
    assert not any(name.startswith("svm") for name in large)
    assert any(name.startswith("knn") for name in large)
    larger = spaces.regression(np.zeros((spaces.MOST_ROWS_KNN + 1, 2)))
    assert not any(name.startswith(("svm", "knn")) for name in larger)


def test_wrong_input_is_told():
    with pytest.raises(InputError, match="task must be 'classification' or 'regression'; got 'ranking'"):
        spaces.tabular(mixed(), "ranking")
    with pytest.raises(InputError, match="column 'took' holds Duration"):
        spaces.classification(pd.DataFrame({"took": pd.to_timedelta([1, 2], "h")}))
    with pytest.raises(InputError, match=r"array of numbers of shape \(N, p\)"):
        spaces.regression(np.array(["a", "b"]))
    with pytest.raises(InputError, match="no columns to predict from"):
        spaces.regression(pd.DataFrame(index=range(3)))


# -- standard and thorough -------------------------------------------------------------------------------

SIZES = {"small": (60, 60), "standard": (220, 280), "thorough": (850, 1100)}


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_each_space_has_its_size_and_contains_the_one_before(task):
    X, y = np.zeros((100, 10)), np.arange(100) % 2
    before = of.Configs()
    for name, (least, most) in SIZES.items():
        configs = spaces.make_space(name, X, y, task)
        assert least <= len(configs) <= most
        assert list(configs)[: len(before)] == list(before)
        assert [estimator_key(configs[n]) for n in before] == [estimator_key(c) for c in before.values()]
        before = configs


@pytest.mark.parametrize("labels", [("no", "yes"), ("a", "b", "c")])
def test_every_kind_of_classifier_of_the_thorough_space_gives_probabilities(labels):
    X = everything()
    y = np.array(labels)[np.arange(len(X)) % len(labels)]
    configs = one_of_each_step(spaces.make_space("thorough", X, y, "classification", KINDS))
    assert len(configs) > 25
    oof = of.collect(configs, X, y, of.Plan(folds=2))
    assert oof.response == "proba"
    assert oof.completeness == 1.0


def test_classes_of_equal_weight_serve_labels_that_are_digits_as_text():
    X, y = mixed(), np.array(["0", "1"])[np.arange(60) % 2]
    configs = spaces.make_space("thorough", X, y, "classification")
    balanced = {name: c for name, c in configs.items() if "class_weight" in name}
    assert {spaces.stem(name) for name in balanced} == {"logit", "forest"}
    assert of.collect(balanced, X, y, of.Plan(folds=2)).completeness == 1.0


def test_every_kind_of_regressor_of_the_thorough_space_predicts():
    X = everything()
    y = X["age"].to_numpy() * 1000.0 + 7.0
    configs = one_of_each_step(spaces.make_space("thorough", X, y, "regression", KINDS))
    oof = of.collect(configs, X, y, of.Plan(folds=2))
    assert oof.completeness == 1.0
    # A penalty that knew nothing of thousands would shrink everything to the mean.
    assert oof.leaderboard("r2").scores[0] > 0.9


def test_nothing_warns_on_a_small_table():
    import warnings

    X, y = everything(100), np.arange(100) % 2
    for name, model in one_of_each_step(spaces.make_space("thorough", X, y, "classification", KINDS)).items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y).predict(X)
        assert not caught, (name, str(caught[0].message))


def test_lightgbm_is_tried_where_it_is_installed(monkeypatch):
    X, y = np.zeros((100, 4)), np.arange(100) % 2
    pytest.importorskip("lightgbm")
    assert any(name.startswith("lightgbm") for name in spaces.make_space("standard", X, y, "classification"))
    monkeypatch.setattr("outfold.learners.spaces.grids.find_spec", lambda name: None)
    without = spaces.make_space("standard", X, y, "classification")
    assert not any(name.startswith("lightgbm") for name in without)
    assert len(without) > 200


def test_a_class_of_few_members_leaves_out_what_needs_more():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.array([0] * 28 + [1] * 28 + [2] * 4)
    configs = spaces.make_space("standard", X, y, "classification")
    assert not any("svm" in name for name in configs)
    oof = of.collect(one_of_each_step(configs), X, y, of.Plan(folds=3))
    assert oof.completeness == 1.0


def test_large_and_wide_tables_leave_out_what_takes_too_long():
    families = lambda configs: {spaces.stem(name).rpartition(" ")[2] for name in configs}  # noqa: E731
    few = families(spaces.make_space("thorough", np.zeros((100, 10)), np.arange(100) % 2, "classification"))
    many = np.zeros((200_000, 4), dtype=np.float32)
    large = spaces.make_space("thorough", many, np.arange(200_000) % 2, "classification")
    assert few - families(large) == {"svm", "knn", "net"}
    forest = large["forest(max_features='sqrt', min_samples_leaf=1)"][-1]
    assert forest.max_samples == 50_000
    order = [spaces.stem(block[0]) for block in spaces.blocks(large)]
    assert order.index("boost") < order.index("forest")
    wide = spaces.make_space("thorough", np.zeros((60, 5000)), np.arange(60) % 2, "classification")
    assert few - families(wide) == {"lda"}
    assert not any(name.startswith("ses") for name in wide)


def test_words_stay_bounded_on_many_rows():
    from outfold.learners.spaces.table import look_at

    kinds = {"a": "text", "b": "text"}
    few, many = (look_at(pd.DataFrame({"a": ["x"] * n, "b": ["y"] * n}), kinds) for n in (100, 200_000))
    assert few.n_words == 150
    assert many.n_words * 2 * 200_000 <= 20_000_000


# -- columns of all kinds --------------------------------------------------------------------------------


def test_kinds_decide_over_types():
    X = everything()
    pipeline = spaces.make_space("small", X, None, "classification", KINDS)["logit(C=1)"]
    parts = {name: columns for name, _, columns in pipeline[0].transformers}
    assert parts == {"numbers": ["x", "age", "flag"], "categories": ["city"], "dates": ["seen"], "texts": ["note"]}
    by_type = spaces.make_space("small", X, None, "classification")["logit(C=1)"]
    parts = {name: columns for name, _, columns in by_type[0].transformers}
    assert parts == {"numbers": ["x", "age", "flag"], "categories": ["city", "note"], "dates": ["seen"]}
    with pytest.raises(InputError, match="kinds must name the kind of each column; column 'x' has none"):
        spaces.make_space("small", X, None, "classification", {"age": "number"})
    with pytest.raises(InputError, match="column 'x' is 'int'"):
        spaces.make_space("small", X, None, "classification", KINDS | {"x": "int"})


def test_linear_models_see_many_words_and_others_few():
    configs = spaces.make_space("small", everything(), None, "classification", KINDS)
    words = {name: {n: t for n, t, _ in pipeline[0].transformers}["texts"] for name, pipeline in configs.items()}
    assert (words["logit(C=1)"].n_words, words["logit(C=1)"].dense) == (5000, False)
    others = {(w.n_words, w.dense) for name, w in words.items() if not name.startswith("logit")}
    assert others == {(300, True)}


@pytest.mark.parametrize(
    "name", ["logit(C=1)", "svm(C=1, gamma='scale')", "boost(learning_rate=0.1, max_leaf_nodes=4)"]
)
def test_new_rows_may_miss_everything_and_hold_what_was_never_seen(name):
    X = everything()
    model = spaces.make_space("small", X, None, "classification", KINDS)[name].fit(X, np.arange(len(X)) % 2)
    new = X.iloc[:3].copy()
    new.loc[0] = [np.nan, np.nan, np.nan, None, pd.NaT, ""]
    new.loc[1, ["city", "note"]] = ["never", "unheard of"]
    assert np.isfinite(model.predict_proba(new)).all()


def test_a_training_part_in_which_whole_columns_are_missing_serves():
    X = everything(40)
    X.loc[:19, ["x", "city", "seen", "note"]] = [np.nan, None, pd.NaT, ""]
    y = np.arange(40) % 2
    halves = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    configs = one_of_each_step(spaces.make_space("standard", X, y, "classification", KINDS))
    assert of.collect(configs, X, y, halves).completeness == 1.0


def test_levels_in_one_row_only_are_together():
    X = pd.DataFrame({"c": ["a"] * 5 + ["b"] * 5 + ["rare", "rarer", "rarest"]})
    model = spaces.classification(X)["tree(max_depth=2, min_samples_leaf=1)"].fit(X, np.arange(13) % 2)
    assert model[0].get_feature_names_out().tolist() == [
        "categories__c_a",
        "categories__c_b",
        "categories__c_infrequent_sklearn",
    ]


def test_a_fold_learns_nothing_from_the_rows_it_leaves_out():
    """The held-out rows get the same predictions whatever the other held-out rows are."""
    X = everything()
    y = np.arange(len(X)) % 2
    configs = one_of_each_step(spaces.make_space("standard", X, y, "classification", KINDS))
    train = np.arange(40)
    for model in configs.values():
        model.set_params(**{p: 0 for p in model.get_params() if p.endswith("random_state")})
        model.fit(X.iloc[train], y[train])
        together, alone = model.predict_proba(X.iloc[40:]), model.predict_proba(X.iloc[[45]])
        np.testing.assert_allclose(together[5], alone[0], rtol=1e-9)


def test_skops_keeps_a_whole_pipeline(tmp_path):
    skops = pytest.importorskip("skops.io")
    X = everything()
    configs = spaces.make_space("thorough", X, None, "classification", KINDS)
    for name in ("logit(C=1)", "univariate(alpha=0.05) knn(n_neighbors=1, weights='uniform')", "ranks logit(C=0.001)"):
        model = configs[name].fit(X, np.arange(len(X)) % 2)
        skops.dump(model, tmp_path / "model.skops")
        trusted = skops.get_untrusted_types(file=tmp_path / "model.skops")
        assert all(t.startswith(("outfold.learners.", "sklearn.", "numpy.")) for t in trusted)
        loaded = skops.load(tmp_path / "model.skops", trusted=trusted)
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


# -- spaces by name, and from a file ---------------------------------------------------------------------

_OWN = """
from sklearn.base import BaseEstimator, ClassifierMixin
import numpy as np


class Share(ClassifierMixin, BaseEstimator):
    def __init__(self, at=0.5):
        self.at = at

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile([1 - self.at, self.at], (len(X), 1))

    def predict(self, X):
        return self.classes_[np.zeros(len(X), dtype=int)]


def configs(X, y, task):
    return {f"share {at}": Share(at) for at in (0.2, 0.4)}
"""


def test_a_file_of_your_own_is_a_space_also_with_workers(tmp_path):
    (tmp_path / "mine.py").write_text(_OWN)
    X, y = np.zeros((20, 2)), np.arange(20) % 2
    configs = spaces.make_space(tmp_path / "mine.py", X, y, "classification")
    assert list(configs) == ["share 0.2", "share 0.4"]
    assert of.collect(configs, X, y, of.Plan(folds=2), n_jobs=2).completeness == 1.0


def test_names_and_files_that_do_not_exist_are_told(tmp_path):
    X, y = np.zeros((20, 2)), np.arange(20) % 2
    with pytest.raises(InputError, match=r"must be one of 'small', .* or a Python file .* Did you mean 'standard'"):
        spaces.make_space("standart", X, y, "classification")
    with pytest.raises(OSError, match="there is no file"):
        spaces.make_space(tmp_path / "none.py", X, y, "classification")
    (tmp_path / "empty.py").write_text("x = 1")
    with pytest.raises(InputError, match=r"empty.py must define the function configs\(X, y, task\)"):
        spaces.make_space(tmp_path / "empty.py", X, y, "classification")
    (tmp_path / "broken.py").write_text("1 / 0")
    with pytest.raises(InputError, match=r"broken.py cannot be run \(ZeroDivisionError: division by zero\)"):
        spaces.make_space(tmp_path / "broken.py", X, y, "classification")


# -- blocks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(spaces.SPACES))
def test_blocks_are_parts_of_grids_in_order(name):
    X, y = np.random.default_rng(0).normal(size=(100, 10)), np.arange(100) % 2
    configs = spaces.make_space(name, X, y, "classification")
    found = spaces.blocks(configs)
    assert [n for block in found for n in block] == list(configs)
    assert all(len({spaces.stem(n) for n in block}) == 1 for block in found)
    slow = ("forest", "extra", "svm", "tree")
    assert all(len(block) <= 12 for block in found if spaces.stem(block[0]).endswith(slow))
    assert len(found) > len(configs) / 30


def test_configurations_that_one_fit_serves_are_in_one_block():
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.svm import SVC

    rounds = of.grid("boost", HistGradientBoostingClassifier(), learning_rate=[0.1, 0.2], max_iter=list(range(1, 9)))
    assert [len(block) for block in spaces.blocks(rounds)] == [8, 8]
    neighbours = spaces.classification(np.zeros((100, 4)))
    knn = of.Configs({n: c for n, c in neighbours.items() if n.startswith("knn")})
    assert [len(block) for block in spaces.blocks(knn)] == [12]
    assert [len(block) for block in spaces.blocks(of.grid("svm", SVC(), C=list(range(1, 31))))] == [12, 12, 6]
    assert spaces.blocks({"a": SVC(), "b": SVC()}) == [["a"], ["b"]]
