"""Labels are those of the models' own `predict`, whatever it does with the probabilities or scores."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV, cross_val_predict
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import outfold as of
from collect_estimators import Tally
from internals import Plan, State, collect, grid, load, predict
from outfold.exceptions import InputError

PLAN = Plan(folds=4)


class Cautious(Tally):
    """Says the last class only where it is sure."""

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, -1] > 0.8).astype(int)]


@pytest.fixture(scope="module")
def binary():
    return make_classification(120, 6, flip_y=0.2, weights=[0.7], random_state=2)


@pytest.fixture(scope="module")
def three():
    return make_classification(150, 6, n_classes=3, n_informative=4, flip_y=0.2, random_state=2)


def predicted(oof, configs, X, y):
    """What cross_val_predict gives on the same folds, as codes."""
    splits = [(np.flatnonzero(oof.folds[:, 0] != k), np.flatnonzero(oof.folds[:, 0] == k)) for k in range(oof.n_folds)]
    found = [cross_val_predict(clone(e), X, y, cv=splits, method="predict") for e in configs.values()]
    return np.stack([[list(oof.target.classes).index(v) for v in labels] for labels in found])


def test_thresholds_that_were_chosen_count_in_label_metrics(binary):
    X, y = binary
    configs = grid("cut", FixedThresholdClassifier(LogisticRegression()), threshold=[0.2, 0.5, 0.8])
    oof = collect(configs, X, y, PLAN)
    assert oof.response == "proba"
    expected = predicted(oof, configs, X, y)
    np.testing.assert_array_equal(oof.respond("label")[0], expected)
    board = oof.leaderboard("f1").to_dict()["configurations"]
    scores = {row["config"]: row["score"] for row in board}
    for name, labels in zip(oof.configs, expected, strict=True):
        assert scores[name] == pytest.approx(f1_score(y, labels))
    assert len(set(scores.values())) == 3
    assert of.estimate.bbc(oof, "f1").selected == max(scores, key=scores.get)


@pytest.mark.parametrize(
    "model",
    [
        SVC(probability=True, random_state=0),
        TunedThresholdClassifierCV(LogisticRegression(), scoring="f1", thresholds=10, cv=2, random_state=0),
        Cautious(0.1),
        make_pipeline(MinMaxScaler(), FixedThresholdClassifier(GaussianNB(), threshold=0.1)),
    ],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("response", ["proba", "score"])
def test_binary_labels_equal_predict(binary, model, response):
    X, y = binary
    configs = {"model": model, "logit": LogisticRegression()}
    oof = collect(configs, X, y, PLAN, response=response)
    assert oof.completeness == 1
    np.testing.assert_array_equal(oof.respond("label")[0], predicted(oof, configs, X, y))


def test_multiclass_svm(three):
    """Its labels are votes of pairs, which is neither the largest score nor the largest probability."""
    X, y = three
    for response, model in (("score", SVC()), ("score", SVC(break_ties=True)), ("proba", SVC(probability=True))):
        configs = grid("svm", model.set_params(random_state=0), C=[0.1, 1.0, 10.0])
        oof = collect(configs, X, y, PLAN, response=response)
        np.testing.assert_array_equal(oof.respond("label")[0], predicted(oof, configs, X, y))
    assert oof.labels is not None


@pytest.mark.parametrize("positive", [None, 0, 1])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_ties_fall_where_predict_puts_them(binary, positive, weights):
    """Votes of two neighbours are often one to one; predict then gives the first class, be it the positive one."""
    X, y = np.round(binary[0]), binary[1]
    configs = {
        "knn": KNeighborsClassifier(2, weights=weights),
        "forest": RandomForestClassifier(6, max_depth=2, random_state=0),
        "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    }
    oof = collect(configs, X, y, PLAN, positive=positive)
    assert np.any(oof.data[:, 0] == 0.5)
    np.testing.assert_array_equal(oof.respond("label")[0], predicted(oof, configs, X, y))


KNOWN = [
    DecisionTreeClassifier(max_depth=3),
    ExtraTreeClassifier(max_depth=3),
    RandomForestClassifier(5, max_depth=3),
    ExtraTreesClassifier(5, max_depth=3),
    KNeighborsClassifier(4),
    LogisticRegression(),
    SGDClassifier(loss="log_loss"),
    SGDClassifier(loss="modified_huber"),
    SGDClassifier(),
    Perceptron(),
    RidgeClassifier(),
    LinearSVC(),
    SVC(),
    GaussianNB(),
    BernoulliNB(),
    MultinomialNB(),
    ComplementNB(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(reg_param=0.1),
    GradientBoostingClassifier(n_estimators=5),
    HistGradientBoostingClassifier(max_iter=3),
    MLPClassifier((4,), max_iter=30),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", KNOWN, ids=str)
@pytest.mark.parametrize("task", ["binary", "three"])
def test_predict_of_those_that_are_not_asked_is_the_cut(request, model, task):
    X, y = request.getfixturevalue(task)
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    configs = {"model": make_pipeline(MinMaxScaler(), model)}
    for response in ("proba", "score"):
        if not hasattr(model, "predict_proba") and response == "proba":
            continue
        oof = collect(configs, X, y, PLAN, response=response)
        np.testing.assert_array_equal(oof.respond("label")[0], predicted(oof, configs, X, y))


@pytest.mark.parametrize("name", ["lightgbm.LGBMClassifier", "xgboost.XGBClassifier"])
@pytest.mark.parametrize("task", ["binary", "three"])
def test_boosters_are_not_asked_twice(request, name, task, monkeypatch):
    library, _, kind = name.partition(".")
    made = getattr(pytest.importorskip(library), kind)(n_estimators=4, n_jobs=1)
    X, y = request.getfixturevalue(task)
    y = np.unique(y, return_inverse=True)[1]
    configs = {"model": made.set_params(verbose=-1) if library == "lightgbm" else made}
    expected = predicted(collect(configs, X, y, PLAN), configs, X, y)
    monkeypatch.setattr(type(made), "predict", lambda *_: pytest.fail("asked"))
    np.testing.assert_array_equal(collect(configs, X, y, PLAN).respond("label")[0], expected)


def test_the_names_of_those_that_are_not_asked_are_classes_of_their_libraries():
    import importlib.util

    known = [*predict._LARGEST, *predict._MONOTONE, *predict._BINARY_SCORE, predict._NEIGHBOURS, predict._PIPELINE]
    for module, name in known:
        if not module.startswith("sklearn.") and importlib.util.find_spec(module.partition(".")[0]) is None:
            continue
        kind = getattr(importlib.import_module(module), name)
        assert predict._name(object.__new__(kind)) == (module, name)


def test_light_models_are_not_asked_and_subclasses_are(binary):
    class Counts(LogisticRegression):
        def predict(self, X):
            raise RuntimeError("asked")

    X, y = binary
    pipe = make_pipeline(MinMaxScaler(), LogisticRegression())
    pipe.fit(X, y)
    assert predict._predicts_by_cut(pipe, "proba", 2)
    assert not predict._predicts_by_cut(Counts(), "proba", 2)
    assert not predict._predicts_by_cut(SVC(), "proba", 2)
    assert not predict._predicts_by_cut(SVC(), "score", 3)
    oof = collect({"counts": Counts(), "logit": pipe}, X, y, PLAN)
    assert oof.messages["counts", 0, 0] == "RuntimeError: asked"
    assert oof.labels is None


def test_labels_survive_the_store_sel_and_files(binary, tmp_path):
    X, y = binary
    configs = {"logit": LogisticRegression(), "cut": FixedThresholdClassifier(LogisticRegression(), threshold=0.2)}
    whole = collect(configs, X, y, Plan(folds=4, repeats=2), inner=True)
    path = tmp_path / "run.oof"
    collect({"logit": configs["logit"]}, X, y, Plan(folds=4, repeats=2), store=path)
    stored = collect(configs, X, y, Plan(folds=4, repeats=2), store=path, inner=True, n_jobs=2)
    copy = load(whole.save(tmp_path / "copy.oof"))
    for oof in (stored, load(path), copy):
        np.testing.assert_array_equal(oof.labels, whole.labels)
        np.testing.assert_array_equal(oof.blocks["inner"].labels, whole.blocks["inner"].labels)
    np.testing.assert_array_equal(whole.sel("cut", 1).labels, whole.labels[1:, 1:])
    assert whole.sel("logit").labels is None
    assert whole.labels.flags.writeable is False
    assert np.all((whole.labels >= 0) == np.isfinite(whole.data))


def test_a_failed_cell_has_no_labels(binary):
    class Moody(Cautious):
        def fit(self, X, y):
            if np.isclose(X[0, 0], self.first):
                raise RuntimeError("no")
            return super().fit(X, y)

    X, y = binary
    Moody.first = X[PLAN.split(y).train_rows(0, 0)[0], 0]
    oof = collect({"moody": Moody(0.1), "logit": LogisticRegression()}, X, y, PLAN)
    failed = oof.state[0, 0] == State.FAILED
    assert failed.any()
    np.testing.assert_array_equal(oof.labels[0, 0] < 0, failed[oof.folds[:, 0]])


def test_dropping_asks_the_labels_of_predict(binary):
    """Two configurations that differ in their threshold alone differ in what is dropped."""
    X, y = binary
    configs = grid("cut", FixedThresholdClassifier(LogisticRegression()), threshold=[0.001, 0.5])
    oof = collect(configs, X, y, Plan(folds=10), drop=of.drop.Bootstrap(metric="accuracy"))
    assert list(oof.drop_log["config"]) == ["cut(threshold=0.001)"]


def test_scores_of_pairs_of_classes_are_not_taken_for_scores_of_classes():
    X, y = load_iris(return_X_y=True)
    pairs = {"ovo": SVC(decision_function_shape="ovo")}
    oof = collect(pairs, X, y, Plan(3))
    assert oof.response == "label"
    with pytest.raises(InputError, match="compares classes in pairs"):
        collect(pairs, X, y, Plan(3), response="score")
    assert collect(pairs, X[:100], y[:100], Plan(3)).response == "score"  # of two classes there is one pair
