"""Collecting: what comes out, in which form, and what is refused."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from collect_estimators import AddsColumn, Draws, PredictsNaN, Raises, Tally, WritesIntoX, WrongShape
from internals import Plan, State, collect, digest, grid, make_templates, refit, seed_of
from outfold.exceptions import CollectError, InputError


@pytest.fixture
def binary():
    return make_classification(60, 5, random_state=0)


@pytest.fixture
def values():
    return make_regression(40, 4, random_state=0, noise=1.0)


def by_hand(estimator, X, y, folds, method="predict_proba", column=1):
    """Predictions of a plain loop over the folds of one repeat."""
    out = np.empty(len(y))
    for k in np.unique(folds):
        test = folds == k
        model = clone(estimator).fit(X[~test], y[~test])
        answer = getattr(model, method)(X[test])
        out[test] = answer[:, column] if answer.ndim == 2 else answer
    return out


# -- numbers --------------------------------------------------------------------------------------------


def test_predictions_equal_a_plain_loop(binary):
    X, y = binary
    configs = grid("logit", make_pipeline(StandardScaler(), LogisticRegression()), C=[0.1, 1, 10])
    oof = collect(configs, X, y, Plan(folds=4, repeats=2))
    assert oof.configs == tuple(configs)
    assert oof.response == "proba"
    assert oof.completeness == 1.0
    for r in range(2):
        for j, estimator in enumerate(configs.values()):
            np.testing.assert_array_equal(oof.data[r, j], by_hand(estimator, X, y, oof.folds[:, r]))


def test_single_estimator_and_default_plan(binary):
    X, y = binary
    oof = collect(LogisticRegression(), X, y)
    assert oof.configs == ("LogisticRegression",)
    assert oof.n_folds == 10


def test_regression(values):
    X, y = values
    oof = collect({"ridge": Ridge()}, X, y, Plan(folds=5))
    assert oof.response == "value"
    expected = by_hand(Ridge(), X, y, oof.folds[:, 0], "predict")
    # Ridge regressions are solved together, also where there is one: equal to 1e-8, in every bit where nothing is shared.
    np.testing.assert_allclose(oof.data[0, 0], expected, rtol=0, atol=1e-8)
    alone = collect({"ridge": Ridge()}, X, y, Plan(folds=5), share=False)
    np.testing.assert_array_equal(alone.data[0, 0], expected)


def test_regressor_on_whole_numbers_is_a_regression(values):
    X, y = values
    oof = collect(Ridge(), X, np.round(y).astype(int), Plan(folds=3))
    assert oof.target.task == "regression"


def test_multiclass_probabilities():
    X, y = load_iris(return_X_y=True)
    oof = collect(Tally(), X, np.array(["a", "b", "c"])[y], Plan(folds=5))
    assert oof.data.shape == (1, 1, 150, 3)
    test = oof.folds[:, 0] == 2
    np.testing.assert_array_equal(oof.data[0, 0, test], Tally().fit(X[~test], y[~test]).predict_proba(X[test]))


def test_class_missing_in_a_training_part_has_probability_zero():
    X = np.arange(12.0).reshape(-1, 1)
    y = np.repeat([0, 1, 2], 4)
    oof = collect(Tally(), X, y, Plan.from_cv([(np.r_[4:12], np.r_[0:4]), (np.r_[0:8], np.r_[8:12])]))
    assert np.all(oof.data[0, 0, :4, 0] == 0)
    assert np.all(oof.data[1, 0, 8:, 2] == 0)  # parts that leave samples out are hold-outs, one repeat each
    np.testing.assert_allclose(oof.data[0, 0, :4].sum(axis=1), 1)
    np.testing.assert_allclose(oof.data[1, 0, 8:].sum(axis=1), 1)


def test_class_missing_in_a_training_part_has_no_score():
    X = np.arange(12.0).reshape(-1, 1)
    y = np.repeat([0, 1, 2], 4)
    plan = Plan.from_cv([(np.r_[4:12], np.r_[0:4]), (np.r_[0:4, 6:8, 10:12], np.r_[4, 5, 8, 9])])
    oof = collect(LinearSVC(), X, y, plan)
    assert oof.state[0, :, 0].tolist() == [State.FAILED, State.DONE]
    assert oof.messages["LinearSVC", 0, 0] == (
        "BadPrediction: the training part lacks class 0, so the model has no score for it"
    )


# -- responses ------------------------------------------------------------------------------------------


def test_scores_where_not_all_have_probabilities(binary):
    X, y = binary
    oof = collect({"svm": LinearSVC(), "logit": LogisticRegression(), "tree": DecisionTreeClassifier()}, X, y, Plan(3))
    assert (oof.response, oof.threshold) == ("score", 0.0)
    folds = oof.folds[:, 0]
    np.testing.assert_array_equal(oof.data[0, 1], by_hand(LogisticRegression(), X, y, folds, "decision_function"))
    assert set(oof.data[0, 2]) <= {-0.5, 0.5}


def test_labels_where_nothing_else_is_there(binary):
    X, y = binary
    labels = np.array(["no", "yes"])[y]

    class OnlyPredicts(Tally):
        predict_proba = property()

        def predict(self, X):
            return self.classes_[Tally.predict_proba(self, X).argmax(axis=1)]

    oof = collect({"only": OnlyPredicts()}, X, labels, Plan(3))
    assert oof.response == "label"
    assert oof.data.dtype.kind == "i"
    expected = collect({"tally": Tally()}, X, labels, Plan(3)).respond("label")
    np.testing.assert_array_equal(oof.data, expected)


def test_labels_on_request_equal_predict(binary):
    X, y = binary
    oof = collect(LogisticRegression(), X, y, Plan(3), response="label")
    np.testing.assert_array_equal(oof.data[0, 0], by_hand(LogisticRegression(), X, y, oof.folds[:, 0], "predict"))


@pytest.mark.parametrize("response", ["proba", "score"])
def test_positive_class_is_the_one_asked_for(binary, response):
    X, y = binary
    zero = collect(LogisticRegression(), X, y, Plan(3), response=response, positive=0)
    assert zero.target.classes.tolist() == [1, 0]
    held = zero.folds[:, 0] == 0
    model = LogisticRegression().fit(X[~held], y[~held])
    want = model.predict_proba(X[held])[:, 0] if response == "proba" else -model.decision_function(X[held])
    np.testing.assert_array_equal(zero.data[0, 0, held], want)


def test_probabilities_asked_of_one_without_them(binary):
    with pytest.raises(
        InputError, match=r"response='proba' needs predict_proba, which 'svm' does not have. Use response='auto'"
    ):
        collect({"logit": LogisticRegression(), "svm": LinearSVC()}, *binary, response="proba")


def test_unknown_response(binary):
    with pytest.raises(
        InputError, match="response must be 'auto' or 'proba' or 'score' or 'label' for a classification"
    ):
        collect(LogisticRegression(), *binary, response="value")


def test_survival_risks():
    class Risk(Draws):
        def fit(self, X, y):
            self.mean_ = y["time"][y["event"]].mean()
            return self

        def predict(self, X):
            return X[:, 0] * self.mean_

    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.array(
        [(bool(i % 3), float(t)) for i, t in enumerate(rng.uniform(1, 9, 30))], dtype=[("event", bool), ("time", float)]
    )
    oof = collect({"risk": Risk()}, X, y, Plan(3))
    assert (oof.target.task, oof.response, oof.completeness) == ("survival", "risk", 1.0)


# -- kinds of X and y -----------------------------------------------------------------------------------


def test_kinds_of_features_give_the_same(binary):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = binary
    names = [f"x{i}" for i in range(X.shape[1])]
    model = LogisticRegression()
    want = collect(model, X, y, Plan(3)).data
    frame = pd.DataFrame(X, columns=names, index=np.arange(len(X))[::-1])
    for features in (frame, pl.DataFrame(X, schema=names), X.tolist(), np.asfortranarray(X)):
        np.testing.assert_allclose(collect(model, features, y, Plan(3)).data, want, rtol=0, atol=1e-12)
    labels = pd.Series(y, index=frame.index)
    np.testing.assert_allclose(collect(model, frame, labels, Plan(3)).data, want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.coo_array, sparse.csc_array])
def test_sparse_features(binary, make):
    X, y = binary
    oof = collect(RidgeClassifier(), make(X * (np.abs(X) > 0.5)), y, Plan(3))
    want = collect(RidgeClassifier(), X * (np.abs(X) > 0.5), y, Plan(3))
    np.testing.assert_allclose(oof.data, want.data, atol=1e-3)


def test_sparse_features_are_not_sorted_in_place(binary):
    _, y = binary
    unsorted = sparse.csr_array((np.ones(120), np.tile([1, 0], 60), np.arange(0, 121, 2)), shape=(60, 2))
    collect(RidgeClassifier(), unsorted, y, Plan(3))
    assert unsorted.indices[:2].tolist() == [1, 0]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_hash_of_a_frame(library):
    frames = pytest.importorskip(library)
    columns = {"a": [1.0, 2.0], "b": ["x", "y"]}
    base = digest(frames.DataFrame(columns))
    assert base == digest(frames.DataFrame(columns))
    assert base != digest(frames.DataFrame(columns | {"b": ["x", "z"]}))
    assert base != digest(frames.DataFrame({"a": [1.0, 2.0], "c": ["x", "y"]}))


def test_hash_of_other_things():
    X = np.arange(6.0).reshape(2, 3)
    assert digest(X) == digest(np.asfortranarray(X)) != digest(X.T)
    assert digest(X) != digest(X.astype(np.float32))
    assert digest(sparse.csr_array(X)) != digest(sparse.csr_array(X + 1))
    assert digest(np.array(["a", None], dtype=object)) != digest(np.array(["a", "None"], dtype=object))


def test_texts():
    from sklearn.feature_extraction.text import CountVectorizer

    texts = ["good film", "bad film", "good good", "bad bad"] * 5
    oof = collect(make_pipeline(CountVectorizer(), LogisticRegression()), texts, ["+", "-", "+", "-"] * 5, Plan(2))
    assert (oof.respond("label")[0, 0] == oof.target.y).all()


def test_nullable_labels(binary):
    pd = pytest.importorskip("pandas")
    X, y = binary
    oof = collect(LogisticRegression(), X, pd.Series(y, dtype="Int64"), Plan(3))
    np.testing.assert_array_equal(oof.data, collect(LogisticRegression(), X, y, Plan(3)).data)


# -- independence ---------------------------------------------------------------------------------------


def test_other_configurations_do_not_matter(binary):
    X, y = binary
    forest = {"forest": RandomForestClassifier(5)}
    alone = collect(forest, X, y, Plan(3))
    many = collect({"w": WritesIntoX(), "other": RandomForestClassifier(3), **forest}, X, y, Plan(3))
    np.testing.assert_array_equal(alone.data[:, 0], many.data[:, 2])


def test_writing_into_the_rows_does_not_reach_the_next_fit(binary):
    X, y = binary
    before = X.copy()
    oof = collect({"writes": WritesIntoX(), "tally": Tally()}, X, y, Plan(3))
    assert oof.completeness == 1.0
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(oof.data[0, 1], collect(Tally(), X, y, Plan(3)).data[0, 0])


def test_adding_columns_does_not_reach_the_next_fit(binary):
    pd = pytest.importorskip("pandas")
    X, y = binary
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    oof = collect({"a": AddsColumn(), "b": AddsColumn()}, frame, y, Plan(3))
    assert oof.completeness == 1.0
    assert list(frame.columns) == ["a", "b"]


def test_the_users_objects_stay_as_they_were(binary):
    X, y = binary
    model = RandomForestClassifier(3)
    groups = np.arange(60) // 3
    collect({"m": model}, X, y, Plan(3), groups=groups)
    assert model.random_state is None
    assert not hasattr(model, "estimators_")
    assert X.flags.writeable
    assert y.flags.writeable
    assert groups.flags.writeable


# -- seeds ----------------------------------------------------------------------------------------------


def test_seed_depends_on_repeat_and_fold_only(values):
    X, y = values
    oof = collect({"a": Draws(), "b": Draws(offset=1.0), "fixed": Draws(random_state=5)}, X, y, Plan(3, 2), rng=11)
    for r, k in oof.splits.cells:
        rows = oof.splits.test_rows(r, k)
        assert set(oof.data[r, :2][:, rows].ravel()) == {seed_of(11, r, k)}
        assert set(oof.data[r, 2, rows]) == {5}
    assert len(np.unique(oof.data[:, 0])) == 6


def test_seed_words_are_those_of_numpy():
    expected = np.random.SeedSequence(3, spawn_key=(1, 2)).generate_state(1)[0] >> 1
    assert seed_of(3, 1, 2) == expected
    assert 0 <= seed_of(3, 1, 2) < 2**31


def test_nested_seeds_are_set_whichever_way_the_estimator_travels():
    import pickle

    from sklearn.ensemble import BaggingClassifier

    model = make_pipeline(StandardScaler(), BaggingClassifier(DecisionTreeClassifier()))

    def refuse(_):
        raise TypeError("cannot pickle")

    for dumps in (pickle.dumps, refuse):
        (template,) = make_templates({"m": model}, dumps)
        assert (template.frozen is None) == (dumps is refuse)
        one, two = template.make(7), template.make(8)
        for params, seed in ((one.get_params(), 7), (two.get_params(), 8)):
            assert params["baggingclassifier__random_state"] == seed
            assert params["baggingclassifier__estimator__random_state"] == seed
    assert model.get_params()["baggingclassifier__random_state"] is None


def test_rng_none_draws_a_seed_and_records_it(binary):
    X, y = binary
    oof = collect(RandomForestClassifier(3), X, y, Plan(3), rng=None)
    again = collect(RandomForestClassifier(3), X, y, Plan(3), rng=oof.provenance["seed"])
    np.testing.assert_array_equal(oof.data, again.data)
    assert oof.fingerprint == again.fingerprint


@pytest.mark.parametrize("rng", [-1, 1.5, "a", True, np.random.default_rng(0)])
def test_rng_that_is_no_seed(binary, rng):
    with pytest.raises(InputError, match="rng must be a whole number from 0"):
        collect(Tally(), *binary, rng=rng)


# -- fit parameters, groups, names ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "names"),
    [
        ([f"patient {i}" for i in range(60)], [f"patient {i}" for i in range(60)]),
        (list(range(60, 0, -1)), list(range(60, 0, -1))),
        (range(60), list(range(60))),
        ([0, *range(59)], list(range(60))),  # two rows of one name
    ],
)
def test_the_index_of_a_frame_names_the_samples_if_it_can(binary, index, names):
    pd = pytest.importorskip("pandas")
    X, y = binary
    frame = pd.DataFrame(X, index=index)
    oof = collect(DecisionTreeClassifier(), frame, y, Plan(folds=3))
    assert oof.samples.tolist() == names
    assert oof.to_frame()["sample"].tolist() == names
    given = collect(DecisionTreeClassifier(), frame, y, Plan(folds=3), samples=np.arange(100, 160))
    assert given.samples.tolist() == list(range(100, 160))


def test_the_index_of_a_frame_names_the_samples_beside_a_test_part(binary):
    pd = pytest.importorskip("pandas")
    X, y = binary
    frame = pd.DataFrame(X, index=[f"patient {i}" for i in range(60)])
    oof = collect(DecisionTreeClassifier(), frame, y, Plan(folds=3, test=0.3))
    numbered = collect(DecisionTreeClassifier(), X, y, Plan(folds=3, test=0.3))
    assert oof.samples.tolist() == [f"patient {i}" for i in numbered.samples]


def test_fit_params_are_split_like_the_samples(binary):
    X, y = binary
    weight = np.random.default_rng(0).uniform(0.1, 2, len(y))
    oof = collect(LogisticRegression(), X, y, Plan(3), fit_params={"sample_weight": weight})
    rows = oof.folds[:, 0] != 1
    model = LogisticRegression().fit(X[rows], y[rows], sample_weight=weight[rows])
    np.testing.assert_array_equal(oof.data[0, 0, ~rows], model.predict_proba(X[~rows])[:, 1])
    plain = collect(LogisticRegression(), X, y, Plan(3), fit_params={"sample_weight": None})
    np.testing.assert_array_equal(plain.data, collect(LogisticRegression(), X, y, Plan(3)).data)


def test_fit_params_of_wrong_length(binary):
    with pytest.raises(InputError, match="must have one entry for each of the 60 samples; it has 59"):
        collect(LogisticRegression(), *binary, fit_params={"sample_weight": np.ones(59)})


def test_groups_stay_together_and_are_kept(binary):
    X, y = binary
    groups = np.repeat(np.arange(20), 3)
    oof = collect(Tally(), X, y, Plan(5), groups=groups, samples=[f"s{i}" for i in range(60)])
    assert all(len(set(oof.folds[groups == g, 0])) == 1 for g in range(20))
    assert oof.groups.tolist() == groups.tolist()
    assert oof.samples[3] == "s3"


def test_scikit_learn_splitters(binary):
    X, y = binary
    oof = collect(Tally(), X, y, Plan.from_cv(KFold(4, shuffle=True)))
    assert oof.completeness == 1.0
    np.testing.assert_array_equal(oof.data[0, 0], by_hand(Tally(), X, y, oof.folds[:, 0]))


def test_holdout_leaves_the_other_samples_without_predictions(binary):
    oof = collect(Tally(), *binary, Plan.holdout(0.25))
    assert np.isnan(oof.data[0, 0, oof.folds[:, 0] < 0]).all()
    assert oof.completeness == 1.0


# -- failures -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Raises(), "RuntimeError: no luck today"),
        (PredictsNaN(), "BadPrediction: 1 of 20 predictions are NaN or infinite"),
        (WrongShape(), "BadPrediction: predictions of shape (19, 2) where (20, 2) was expected"),
    ],
)
def test_bad_configurations_become_failed_cells(binary, bad, message):
    X, y = binary
    oof = collect({"bad": bad, "good": Tally()}, X, y, Plan(3))
    assert np.all(oof.state[0] == State.FAILED)
    assert np.all(oof.state[1] == State.DONE)
    assert np.isnan(oof.data[0, 0]).all()
    assert {oof.messages["bad", 0, k] for k in range(3)} == {message}


def test_unknown_labels_fail(binary):
    class Invents(Tally):
        def predict(self, X):
            return np.full(len(X), "maybe")

    X, y = binary
    oof = collect({"bad": Invents(), "good": Tally()}, X, np.array(["no", "yes"])[y], Plan(3), response="label")
    assert oof.messages["bad", 0, 0] == "BadPrediction: predicted the label 'maybe', which is none of the classes"


def test_all_failing_is_an_error_with_the_most_common_reason(binary):
    with pytest.raises(
        CollectError, match=r"all 2 configurations failed. .*3 of 6 cells, such as 'a'\): RuntimeError: no luck"
    ):
        collect({"a": Raises(), "b": PredictsNaN()}, *binary, Plan(3))


def test_warnings_become_one_note(binary, recwarn):
    X, y = binary
    slow = LogisticRegression(max_iter=1)
    oof = collect({"slow": slow, "ok": Tally()}, X, y, Plan(3))
    assert [str(n) for n in oof.notes] == ["OF103  fits gave warnings: ConvergenceWarning in 3 of 6 fits."]
    assert len(recwarn) == 0


def test_a_rare_class_is_noted_and_said_before_the_first_fit(binary, capsys):
    X, y = binary
    y = np.where(np.arange(60) < 4, 1, 0)
    oof = collect(Tally(), X, y, Plan(10), progress="always")
    assert oof.n_folds == 10
    assert [n.code for n in oof.notes] == ["OF108"]
    lines = capsys.readouterr().err.splitlines()
    told = "class 1 has 4 members for 10 folds: they are spread over the folds, and 6 hold out none."
    assert oof.notes[0].text == told
    assert lines[0] == f"note: {told}"
    collect(Tally(), X, y, Plan(10), progress=False)
    assert capsys.readouterr().err == ""


# -- provenance -----------------------------------------------------------------------------------------


def test_provenance(binary):
    X, y = binary
    made = collect(grid("t", Tally(), scale=[1.0, 2.0]), X, y, Plan(3), rng=4).provenance
    assert (made["seed"], made["n_fits"]) == (4, 6)
    assert set(made["specs"]) == {"t(scale=1)", "t(scale=2)"}
    assert made["specs"]["t(scale=2)"] == "collect_estimators.Tally(log=None, pause=0.0, scale=2.0)"
    assert made["started"] <= made["finished"]
    assert made["seconds"] >= 0
    assert {"outfold", "scikit-learn", "numpy", "python"} <= set(made)
    other = collect(Tally(), X + 1e-12, y, Plan(3)).provenance
    assert other["data"] != made["data"]
    assert other["labels"] == made["labels"]


# -- refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"configs": {}}, "there is no configuration to collect"),
        ({"configs": {"a": 3}}, "'a': 3 is not a scikit-learn estimator"),
        ({"configs": {"a": Tally(), "b": Ridge()}}, "'a' is a classifier, 'b' a regressor. Collect them apart"),
        ({"X": np.zeros((59, 2))}, "same length; X has 59 rows, y has 60 labels"),
        ({"X": [[1], [1, 2]]}, "same length; X has 2 rows, y has 60 labels"),
        ({"y": np.zeros(60)}, "it holds one class only"),
        ({"y": np.r_[np.zeros(59), 1]}, "class 1.0 has 1 member; cross-validation needs at least 2"),
        ({"groups": np.zeros(59)}, r"groups must name one group for each sample, shape \(60,\); got shape \(59,\)"),
        ({"groups": np.arange(60) // 20}, "10 folds need at least 10 groups; there are 3"),
        ({"timeout": 0}, "timeout must be a number of seconds above 0"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0; got 0. Use n_jobs=-1 for all cores"),
        ({"fit_params": [1]}, "fit_params must be a dict"),
        ({"samples": ["a"] * 60}, "samples must all differ"),
        ({"samples": ["a"]}, "samples must have one entry for each of the 60 samples; it has 1"),
    ],
)
def test_refused(binary, arguments, message):
    given = {"configs": Tally(), "X": binary[0], "y": binary[1]} | arguments
    with pytest.raises(InputError, match=message):
        collect(**given)


def test_svm_with_and_without_probabilities(binary):
    X, y = binary
    assert collect({"svm": SVC()}, X, y, Plan(3)).response == "score"


# -- what an argument may be ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"store": 5}, "store must be the name of a file such as 'run.oof', or None; got 5"),
        ({"store": ""}, "store must be the name of a file such as 'run.oof', or None; got ''"),
        (
            {"y": np.linspace(0, 1, 60)},
            "y must hold classes for classifiers; it holds 60 different numbers. Use regressors",
        ),
        ({"timeout": "5"}, "timeout must be a number of seconds above 0, or None for no limit; got '5'"),
        ({"timeout": np.inf}, "or None for no limit; got inf"),
        ({"timeout": np.nan}, "or None for no limit; got nan"),
        ({"timeout": True}, "or None for no limit; got True"),
        ({"n_jobs": 2.5}, "n_jobs must be None or a whole number other than 0; got 2.5"),
        ({"n_jobs": "2"}, "n_jobs must be None or a whole number other than 0; got '2'"),
        ({"threads": 0}, "threads must be a whole number from 1, or None; got 0"),
        ({"threads": 1.5}, "threads must be a whole number from 1, or None; got 1.5"),
        ({"task": "ranking"}, "task must be 'classification', 'regression', 'survival' or None; got 'ranking'"),
        ({"plan": "five"}, "plan must be a Plan such as Plan.folds=10., a number of folds"),
        ({"plan": 2.5}, "plan must be a Plan"),
        ({"plan": 1}, "folds must be a whole number of at least 2"),
        ({"groups": [None] + ["a", "b"] * 29 + ["c"]}, "groups has 1 missing entries, the first at row 0"),
        ({"groups": [*range(59), np.nan]}, "the first at row 59. Every sample needs a group"),
        ({"groups": np.array(["2020-01-01"] * 58 + ["NaT"] * 2, dtype="datetime64[s]")}, "groups has 2 missing"),
    ],
)
def test_arguments_of_another_kind(binary, arguments, message):
    given = {"configs": Tally(), "X": binary[0], "y": binary[1]} | arguments
    with pytest.raises(InputError, match=message):
        collect(**given)


def test_missing_groups_of_a_frame(binary):
    pd = pytest.importorskip("pandas")
    for missing in (pd.NA, pd.NaT):
        groups = pd.Series([*range(59), missing], dtype=object)
        with pytest.raises(InputError, match="groups has 1 missing entries, the first at row 59"):
            collect(Tally(), *binary, Plan(3), groups=groups)


@pytest.mark.parametrize("name", ["X", "y", "groups", "samples", "sample_weight"])
def test_masked_entries_are_no_values(binary, name):
    X, y = binary
    given = {"X": X, "y": y, "groups": np.arange(60) // 2, "samples": np.arange(60), "sample_weight": np.ones(60)}
    masked = np.ma.array(given[name], mask=False)
    weights = {"sample_weight": given.pop("sample_weight")}
    whole = {**given, "fit_params": weights, "plan": Plan(3), "configs": LogisticRegression()}
    right = whole | ({"fit_params": {name: masked}} if name == "sample_weight" else {name: masked})
    expected = collect(**whole)
    np.testing.assert_array_equal(collect(**right).data, expected.data)
    masked[3] = np.ma.masked
    with pytest.raises(InputError, match=rf"{name} is a masked array with \d masked .* fill the entries with {name}.f"):
        collect(**right)


def test_a_number_or_a_splitter_serves_as_a_plan(binary):
    expected = collect(Tally(), *binary, Plan(folds=5))
    np.testing.assert_array_equal(collect(Tally(), *binary, 5).data, expected.data)
    np.testing.assert_array_equal(collect(Tally(), *binary, np.int64(5)).folds, expected.folds)
    splitter = KFold(3)
    expected = collect(Tally(), *binary, Plan.from_cv(splitter))
    np.testing.assert_array_equal(collect(Tally(), *binary, splitter).data, expected.data)
    np.testing.assert_array_equal(collect(Tally(), *binary, list(splitter.split(binary[0]))).data, expected.data)


class Bare(BaseEstimator):
    """Says neither that it is a classifier nor that it is a regressor."""

    def fit(self, X, y):
        self.mean_ = X[:, 0].mean()
        return self

    def predict(self, X):
        return (X[:, 0] > self.mean_).astype(int)


class Tagless:
    """Has the methods of an estimator, and no base class."""

    fit, predict = Bare.fit, Bare.predict

    def get_params(self, deep=True):
        return {}

    def set_params(self, **params):
        return self


class Unclonable(Tally):
    """Changes a parameter in its constructor, which scikit-learn's rules forbid."""

    def __init__(self, k=1):
        self.k = k + 1


@pytest.mark.parametrize("kind", [Bare, Tagless])
def test_an_estimator_that_does_not_say_what_it_is(binary, kind):
    X, y = binary
    problem = "configuration 'm' says neither that it is a classifier nor .* collect also takes task='classification'"
    for labels in (y, y.astype(float), y.astype(bool), np.where(y, "a", "b"), np.where(y, "a", "b").astype(object)):
        with pytest.raises(InputError, match=problem):
            collect({"l": LogisticRegression(), "m": kind()}, X, labels, Plan(3))
    assert collect(kind(), X, y, Plan(3), task="regression").response == "value"
    assert collect(kind(), X, np.arange(60), Plan(3)).response == "value"  # too many numbers for classes
    assert collect(kind(), X, y / 3, Plan(3)).response == "value"
    oof = collect(kind(), X, y, Plan(3), task="classification")
    assert oof.response == "label"
    assert oof.target.task == "binary"


@pytest.mark.parametrize("estimator", [KMeans(2), make_pipeline(StandardScaler(), KMeans(2)), GaussianMixture()])
def test_clusters_are_no_labels(binary, estimator):
    for task in (None, "classification"):
        with pytest.raises(InputError, match=r"configuration 'k' finds clusters, .* Give a classifier or a regressor"):
            collect({"k": estimator}, *binary, Plan(3), task=task)


def test_an_estimator_that_cannot_be_cloned_is_named(binary):
    problem = r"configuration 'bad.*' cannot be cloned \(RuntimeError: .* modifies parameter k\)\. Its constructor must"
    with pytest.raises(InputError, match=problem):
        collect({"good": LogisticRegression(), "bad": Unclonable()}, *binary, Plan(3))
    with pytest.raises(InputError, match=problem):
        grid("bad", Unclonable(), k=[1, 2])


def test_a_lazy_frame_has_no_rows_yet(binary):
    pl = pytest.importorskip("polars")
    with pytest.raises(InputError, match=r"X must hold its rows; got a LazyFrame\. Give X\.collect\(\)"):
        collect(Tally(), pl.LazyFrame({"a": binary[0][:, 0]}), binary[1], Plan(3))


def test_refit_with_its_arguments_in_another_order(binary):
    configs = {"a": LogisticRegression()}
    with pytest.raises(InputError, match=r"refit needs Predictions, .* got dict"):
        refit(configs, collect(configs, *binary, Plan(3)), *binary, metric="accuracy")


def test_refit_takes_the_data_of_the_predictions_only(binary):
    X, y = binary
    configs = {"a": LogisticRegression(), "b": LogisticRegression(C=0.1)}
    oof = collect(configs, X, y, Plan(3))
    assert refit(oof, configs, X, y, metric="accuracy").n_features_in_ == X.shape[1]
    for what, args in {"X": (X + 1, y), "y": (X, 1 - y)}.items():
        with pytest.raises(InputError, match=f"{what} is not what the predictions came from.*fit a clone"):
            refit(oof, configs, *args, metric="accuracy")
    elsewhere = replace(oof, provenance={})
    assert refit(elsewhere, configs, X + 1, y, metric="accuracy").n_features_in_ == X.shape[1]


@pytest.mark.parametrize("way", ["array", "values", "cells"])
def test_writing_into_a_frame_does_not_reach_the_next_fit(binary, way):
    pd = pytest.importorskip("pandas")

    class Writes(Tally):
        def fit(self, X, y):
            if way == "array":
                X["x0"].array[:] = 0.0
            elif way == "values":
                X.values.flags.writeable = True
                X.values[:] = 0.0
            else:
                X.iloc[:, 0] = 0.0
            return super().fit(np.asarray(X), y)

        def predict_proba(self, X):
            X["x1"].array[:] = 7.0
            return super().predict_proba(np.asarray(X))

    X, y = binary
    frame = pd.DataFrame({f"x{i}": column for i, column in enumerate(X.T)})
    before = frame.copy()
    good = LogisticRegression()
    oof = collect({"writes": Writes(), "good": good, "again": Writes()}, frame, y, Plan(3))
    np.testing.assert_array_equal(oof.data[0, 1], collect({"good": good}, frame, y, Plan(3)).data[0, 0])
    np.testing.assert_array_equal(oof.data[0, 0], oof.data[0, 2])
    pd.testing.assert_frame_equal(frame, before)


def test_who_may_share_a_frame():
    def trusted(estimator):
        (template,) = make_templates({"a": estimator}, pickle.dumps)
        return template.trusted

    assert trusted(make_pipeline(StandardScaler(), LogisticRegression()))
    assert trusted(make_pipeline(FunctionTransformer(np.log1p), LogisticRegression()))
    assert not trusted(make_pipeline(StandardScaler(), Tally()))
    assert not trusted(make_pipeline(FunctionTransformer(lambda X: X), LogisticRegression()))


def test_a_parameter_named_columns_does_not_make_a_frame_of_an_estimator(binary):
    from sklearn.pipeline import make_pipeline

    class Selector(TransformerMixin, BaseEstimator):
        def __init__(self, columns=(0,)):
            self.columns = columns

        def fit(self, X, y=None):
            return self

        def transform(self, X):
            return X[:, list(self.columns)]

    oof = collect(make_pipeline(Selector([0, 1]), LogisticRegression()), *binary, Plan(3))
    assert oof.completeness == 1
