"""Feature selection by statistically equivalent signatures."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import chi2, pearsonr
from scipy.stats import f as f_distribution
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import outfold as of
from extras import pd
from internals import FeatureColumns, Linear, Logistic, read_training
from outfold.exceptions import InputError
from outfold.learners import SES


def deviance(A, codes):
    """A multinomial logistic regression by a general optimiser."""
    k = codes.max()

    def loss(w):
        eta = np.column_stack([np.zeros(len(A)), A @ w.reshape(k, -1).T])
        return -2 * np.sum(eta[np.arange(len(A)), codes] - logsumexp(eta, axis=1))

    return minimize(loss, np.zeros(k * A.shape[1]), method="BFGS", options={"gtol": 1e-7}).fun


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_logistic_test_is_the_likelihood_ratio(n_classes):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 4))
    codes = np.digitize(X[:, 0] + rng.normal(size=80), [0.0, 1.0][: n_classes - 1])
    found = Logistic(FeatureColumns(X), codes).log_p(np.array([0, 1]), (2, 3))
    base = np.column_stack([np.ones(80), X[:, 2:]])
    for j in (0, 1):
        gain = deviance(base, codes) - deviance(np.column_stack([base, X[:, j]]), codes)
        assert np.exp(found[j]) == pytest.approx(chi2.sf(gain, n_classes - 1), rel=1e-4)


def test_the_linear_test_is_that_of_a_partial_correlation():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 3))
    y = X[:, 0] + X[:, 1] + rng.normal(size=50)
    assert np.exp(Linear(FeatureColumns(X), y).log_p(np.array([0]), ())) == pytest.approx(pearsonr(X[:, 0], y).pvalue)
    # Given a condition: the t test of the coefficient in least squares.
    A = np.column_stack([np.ones(50), X[:, 1], X[:, 0]])
    coef, rss, *_ = np.linalg.lstsq(A, y, rcond=None)
    t = coef[2] / np.sqrt(rss[0] / 47 * np.linalg.inv(A.T @ A)[2, 2])
    from scipy.stats import t as student

    assert np.exp(Linear(FeatureColumns(X), y).log_p(np.array([0]), (1,))) == pytest.approx(2 * student.sf(abs(t), 47))


def mixed_columns(seed=5, n=150):
    """Two numbers and two categories, with missing values, and the columns that a regression has for them."""
    rng = np.random.default_rng(seed)
    numbers, codes = rng.normal(size=(n, 2)), rng.integers(0, [4, 3], size=(n, 2))
    texts = [[None if c == 0 else f"level {c}" for c in column] for column in codes.T]
    frame = pd.DataFrame({"a": numbers[:, 0], "b": texts[0], "c": numbers[:, 1], "d": texts[1]})
    blocks = [numbers[:, :1], np.eye(4)[codes[:, 0]][:, 1:], numbers[:, 1:], np.eye(3)[codes[:, 1]][:, 1:]]
    return frame, blocks, codes, rng


def read(frame):
    selector = SES()
    return FeatureColumns.of(read_training(selector, frame, np.zeros(len(frame)))[0])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_categories_are_tested_as_a_whole_by_the_likelihood_ratio(n_classes):
    """As testIndLogistic and testIndMultinom of MXM: the degrees of freedom are the coefficients that a feature adds."""
    frame, blocks, codes, rng = mixed_columns()
    y = np.digitize(blocks[0][:, 0] + codes[:, 0] + rng.normal(size=len(frame)), [1.5, 2.5][: n_classes - 1])
    tests = Logistic(read(frame), y)
    ones = np.ones((len(frame), 1))
    for given in [(), (2,), (0, 3), (3,)]:
        asked = [j for j in range(4) if j not in given]
        base = np.hstack([ones, *(blocks[j] for j in given)])
        found = np.exp(tests.log_p(np.array(asked), given))
        for j, p in zip(asked, found, strict=True):
            gain = deviance(base, y) - deviance(np.hstack([base, blocks[j]]), y)
            assert p == pytest.approx(chi2.sf(gain, (n_classes - 1) * blocks[j].shape[1]), rel=1e-4)
    # The condition 1 in the place of 2, given 3.
    swapped = np.exp(tests.log_p_swapped(np.array([0, 2]), (1, 3), 1))
    for j, p in zip((0, 2), swapped, strict=True):
        base = np.hstack([ones, blocks[j], blocks[3]])
        gain = deviance(base, y) - deviance(np.hstack([base, blocks[1]]), y)
        assert p == pytest.approx(chi2.sf(gain, (n_classes - 1) * 3), rel=1e-4)


def test_categories_are_tested_as_a_whole_by_the_f_test():
    """As testIndReg of MXM, the F test of two linear regressions."""
    frame, blocks, codes, rng = mixed_columns()
    y = blocks[0][:, 0] + 0.5 * codes[:, 0] + rng.normal(size=len(frame))
    tests = Linear(read(frame), y)
    for given in [(), (2,), (0, 3)]:
        base = np.hstack([np.ones((len(y), 1)), *(blocks[j] for j in given)])
        for j in set(range(4)) - set(given):
            full, d = np.hstack([base, blocks[j]]), blocks[j].shape[1]
            small, large = (np.linalg.lstsq(A, y, rcond=None)[1][0] for A in (base, full))
            df = len(y) - full.shape[1]
            p = np.exp(tests.log_p(np.array([j]), given))[0]
            assert p == pytest.approx(f_distribution.sf((small - large) / d / (large / df), d, df), rel=1e-7)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_selects_among_mixed_features_what_the_printed_algorithm_selects(task):
    for seed in range(4):
        frame, blocks, codes, rng = mixed_columns(seed)
        frame["e"] = frame["b"].where(rng.random(len(frame)) < 0.9, "level 1")  # nearly the same as b
        y = 0.7 * blocks[0][:, 0] + 0.5 * codes[:, 0] + rng.normal(size=len(frame))
        y = (y > y.mean()).astype(int) if task == "classification" else y
        ours = SES(alpha=0.05, max_conditions=2, task=task).fit(frame, y)
        tests = Logistic(read(frame), y) if task == "classification" else Linear(read(frame), y)
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
