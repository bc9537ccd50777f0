"""Feature selection by statistically equivalent signatures."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import outfold as of
from extras import pd
from internals import FeatureColumns, Linear, Logistic, read_training
from outfold.exceptions import InputError
from outfold.learners import SES


def mixed_columns(seed=5, n=150):
    """Two numbers and two categories of which some are missing, and the codes of the categories."""
    rng = np.random.default_rng(seed)
    numbers, codes = rng.normal(size=(n, 2)), rng.integers(0, [4, 3], size=(n, 2))
    texts = [[None if c == 0 else f"level {c}" for c in column] for column in codes.T]
    frame = pd.DataFrame({"a": numbers[:, 0], "b": texts[0], "c": numbers[:, 1], "d": texts[1]})
    return frame, codes, rng


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_selects_among_mixed_features_what_the_printed_algorithm_selects(task):
    for seed in range(4):
        frame, codes, rng = mixed_columns(seed)
        frame["e"] = frame["b"].where(rng.random(len(frame)) < 0.9, "level 1")  # nearly the same as b
        y = 0.7 * frame["a"].to_numpy() + 0.5 * codes[:, 0] + rng.normal(size=len(frame))
        y = (y > y.mean()).astype(int) if task == "classification" else y
        ours = SES(alpha=0.05, max_conditions=2, task=task).fit(frame, y)
        design = FeatureColumns.of(read_training(SES(), frame, y)[0])
        tests = Logistic(design, y) if task == "classification" else Linear(design, y)
        assert sorted(ours.selected_) == sorted(plain_ses(tests, 5, np.log(0.05), 2))
        assert list(ours.transform(frame).columns) == [frame.columns[j] for j in sorted(ours.selected_)]


def test_copies_of_a_category_are_equivalent():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 400)
    frame = pd.DataFrame(
        {"a": [f"l{c}" for c in codes], "x": rng.normal(size=400), "copy": [f"m{2 - c}" for c in codes]}
    )
    y = (codes == 1) + 0.5 * frame["x"].to_numpy() + 0.5 * rng.normal(size=400) > 0.5
    ses = SES().fit(frame, y)
    assert sorted(map(int, ses.selected_)) in ([0, 1], [1, 2])
    assert {0, 2} in [set(map(int, group)) for group in ses.equivalent_]


def test_a_category_with_few_samples_for_each_level_is_not_tested_against_classes():
    """The likelihood ratio of an identifier is far above its degrees of freedom, whatever it identifies."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    frame = pd.DataFrame({"id": [f"p{i // 2}" for i in rng.permutation(200)], "x": y + rng.normal(size=200)})
    assert np.exp(Logistic(FeatureColumns.of(read_training(SES(), frame, y)[0]), y).log_p(np.array([0]), ())) < 0.01
    assert SES(alpha=0.05).fit(frame, y).selected_.tolist() == [1]
    assert SES().fit(frame[["id"]], y).selected_.tolist() == [0]  # a model needs one
    frame["level"] = [f"l{v}" for v in (np.arange(200) // 2 % 40)]  # five samples for each level are tested
    frame["x"] = 1.0
    assert SES(alpha=1e-12).fit(frame, y).selected_.tolist() == [2]


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_a_number_can_be_in_any_unit(unit):
    X, y = load_diabetes(return_X_y=True)
    assert SES().fit(X, unit * y).selected_.tolist() == SES().fit(X, y).selected_.tolist()


def test_a_frame_with_categories_stays_a_frame():
    frame, codes, rng = mixed_columns()
    y = codes[:, 0] + frame["a"] + 0.1 * rng.normal(size=len(frame))
    fitted = SES(alpha=1e-6).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert fitted.get_feature_names_out().tolist() == ["a", "b"]
    assert list(fitted.transform(frame).columns) == ["a", "b"]
    numbers = SES(alpha=1e-6).fit(frame[["c", "a"]], y)
    assert numbers.get_feature_names_out().tolist() == ["a"]
    assert list(numbers.set_output(transform="pandas").transform(frame[["c", "a"]]).columns) == ["a"]


def plain_ses(tests, n, level, most):
    """The algorithm as printed, every set asked anew, without a thought for time."""
    p = {}

    def log_p(j, given):
        key = (j, tuple(sorted(given)))
        if key not in p:
            p[key] = tests.log_p(np.array([j]), key[1])[0]
        return p[key]

    rest, chosen = list(range(n)), []
    while True:
        for j in [*rest, *chosen]:
            others = [c for c in chosen if c != j]
            sets = [z for size in range(most + 1) for z in combinations(others, size)]
            if any(log_p(j, z) > level for z in sets):
                rest = [c for c in rest if c != j]
                chosen = [c for c in chosen if c != j]
        if not rest:
            return chosen
        strength = {j: max(log_p(j, z) for s in range(most + 1) for z in combinations(chosen, s)) for j in rest}
        best = min(rest, key=strength.get)
        rest.remove(best)
        chosen.append(best)


@pytest.mark.parametrize("seed", range(8))
def test_selects_what_the_printed_algorithm_selects(seed):
    rng = np.random.default_rng(seed)
    n, p = 120, 9
    X = rng.normal(size=(n, p))
    X[:, 3] = X[:, 0] + 0.5 * rng.normal(size=n)
    X[:, 4] = X[:, 1] + 0.1 * rng.normal(size=n)
    y = (X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(size=n) > 0).astype(int)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = SES(alpha=0.05, max_conditions=2).fit(X, y).selected_
    assert sorted(ours) == sorted(plain_ses(Logistic(FeatureColumns(Z), y), p, np.log(0.05), 2))


def test_finds_the_causes_and_their_copies():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    X[:, 5] = X[:, 0] + 0.05 * rng.normal(size=500)  # as good as feature 0
    y = 2 * X[:, 0] + X[:, 1] + rng.normal(size=500)
    ses = SES(alpha=0.01).fit(X, y)
    assert set(ses.selected_) in ({0, 1}, {5, 1})
    assert {0, 5} in [set(group) for group in ses.equivalent_]
    assert all(group[0] == kept for group, kept in zip(ses.equivalent_, ses.selected_, strict=True))


def test_keeps_one_feature_where_none_is_found():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    assert SES(alpha=1e-6).fit(X, y).transform(X).shape == (40, 1)


def test_does_not_depend_on_place_and_scale():
    X, y = load_breast_cancer(return_X_y=True)
    first = SES().fit(X[:150], y[:150]).selected_
    again = SES().fit(1000 * X[:150] - 7, y[:150]).selected_
    assert first.tolist() == again.tolist()


def test_survives_classes_that_separate_and_copies_of_columns():
    X = np.column_stack([np.arange(30.0), np.arange(30.0), np.ones(30)])
    assert SES().fit(X, X[:, 0] > 14).selected_.tolist() == [0]


def test_numbers_with_many_values_are_a_regression():
    X, y = load_diabetes(return_X_y=True)
    assert SES().fit(X, y).selected_.tolist() == SES(task="regression").fit(X, y).selected_.tolist()


def test_works_in_a_collection():
    X, y = load_iris(return_X_y=True)
    configs = of.grid("logit", make_pipeline(SES(), LogisticRegression(max_iter=500)), alpha=[0.05, 0.01])
    assert of.collect(configs, X, y, of.Plan(folds=3)).leaderboard("accuracy").scores[0] > 0.9


def test_is_a_scikit_learn_transformer():
    check_estimator(SES(), on_skip=None)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"alpha": 0}, "alpha must lie between"),
        ({"max_conditions": -1}, "max_conditions must be"),
        ({"task": "ranking"}, "task must be 'auto', 'classification' or 'regression'"),
    ],
)
def test_refuses(wrong, says):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match=says):
        SES(**wrong).fit(X, y)
