"""Tests of conditional independence for numbers and categories, against SciPy and regressions written here."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import chi2, chi2_contingency, pearsonr
from scipy.stats import f as f_distribution
from scipy.stats import t as student

from extras import pd
from internals import FeatureColumns, Linear, Logistic, read_training
from outfold.learners import SES

NAMES = ["missing", "level", "number", "country", "constant", "same", "rare", "city", "copy"]
VARYING = [j for j, name in enumerate(NAMES) if name not in ("constant", "same")]
# Conditions by position: none, a number, numbers and categories, a country and its cities, a level seen once.
CONDITIONS = [(), (2,), (0, 3), (1, 2), (3, 7), (6, 1, 0)]


def mixed_table(n=150, seed=5):
    """A table that has what makes tests hard, and two scores of which targets are made."""
    rng = np.random.default_rng(seed)
    level, city = rng.integers(0, 4, n), rng.integers(0, 5, n)
    numbers = rng.normal(size=(n, 2))
    frame = pd.DataFrame(
        {
            "missing": np.where(rng.random(n) < 0.1, np.nan, numbers[:, 0]),
            "level": [None if code == 0 else f"level {code}" for code in level],
            "number": numbers[:, 1],
            "country": [f"country {code // 3}" for code in city],
            "constant": np.full(n, 2.5),
            "same": ["same"] * n,
            "rare": ["once", *(f"r{code}" for code in rng.integers(0, 3, n - 1))],
            "city": [f"city {code}" for code in city],
            "copy": [{0: "w", 1: "x", 2: "y", 3: "z"}[code] for code in level],
        }
    )
    score = 0.5 * numbers[:, 0] + 0.4 * level + 0.3 * (city == 1) + rng.normal(size=n)
    return frame, score


def regression_columns(frame, names):
    """Ones, numbers with the median in the place of missing ones, and a column for each level."""
    out = [np.ones(len(frame))]
    for name in names:
        column = frame[name]
        if column.dtype.kind == "f":
            out.append(column.fillna(column.median()).to_numpy())
        else:
            texts = column.fillna("?")
            out += [(texts == text).to_numpy(dtype=float) for text in sorted(set(texts))]
    return np.column_stack(out)


def full_rank(A):
    """The columns that are no combination of those before them."""
    kept = []
    for j in range(A.shape[1]):
        if np.linalg.matrix_rank(A[:, [*kept, j]]) > len(kept):
            kept.append(j)
    return A[:, kept]


def deviance(A, classes):
    """Of a multinomial logistic regression, by a general optimiser."""
    k, rows = classes.max(), np.arange(len(A))
    hot = np.eye(k + 1)[classes][:, 1:]

    def loss(w):
        eta = np.column_stack([np.zeros(len(A)), A @ w.reshape(k, -1).T])
        total = logsumexp(eta, axis=1)
        gradient = (np.exp(eta - total[:, None])[:, 1:] - hot).T @ A
        return -2 * np.sum(eta[rows, classes] - total), 2 * gradient.ravel()

    return minimize(loss, np.zeros(k * A.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-7}).fun


def likelihood_ratio(frame, j, given, classes):
    base = full_rank(regression_columns(frame, [NAMES[c] for c in given]))
    full = full_rank(regression_columns(frame, [*(NAMES[c] for c in given), NAMES[j]]))
    added = full.shape[1] - base.shape[1]
    return chi2.sf(deviance(base, classes) - deviance(full, classes), added * classes.max()) if added else 1.0


def f_test(frame, j, given, y):
    base = full_rank(regression_columns(frame, [NAMES[c] for c in given]))
    full = full_rank(regression_columns(frame, [*(NAMES[c] for c in given), NAMES[j]]))
    added, df = full.shape[1] - base.shape[1], len(y) - full.shape[1]
    if not added:
        return 1.0
    small, large = (np.linalg.lstsq(A, y, rcond=None)[1][0] for A in (base, full))
    return f_distribution.sf((small - large) / added / (large / df), added, df)


def design(frame):
    return FeatureColumns.of(read_training(SES(), frame, np.zeros(len(frame)))[0])


def asked(given):
    return [j for j in VARYING if j not in given]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("given", CONDITIONS)
def test_classes_are_tested_by_the_likelihood_ratio(given, n_classes):
    frame, score = mixed_table()
    classes = np.digitize(score, np.quantile(score, [0.4, 0.75][: n_classes - 1]))
    found = np.exp(Logistic(design(frame), classes).log_p(np.array(asked(given)), given))
    expected = [likelihood_ratio(frame, j, given, classes) for j in asked(given)]
    assert found == pytest.approx(expected, rel=1e-4)


def test_a_category_without_conditions_is_tested_by_g_squared():
    """Between two categories, the likelihood ratio is the G test of their table; a level seen once is a row of it."""
    frame, score = mixed_table()
    classes = np.digitize(score, [0.0, 1.0])
    found = np.exp(Logistic(design(frame), classes).log_p(np.array([1, 3, 6, 7]), ()))
    for name, p in zip(["level", "country", "rare", "city"], found, strict=True):
        counts = pd.crosstab(frame[name].fillna("?"), classes)
        assert p == pytest.approx(chi2_contingency(counts, correction=False, lambda_="log-likelihood").pvalue, rel=1e-6)


def test_a_condition_can_be_asked_given_another_in_its_place():
    frame, score = mixed_table()
    classes = np.digitize(score, [0.0, 1.0])
    # The city is asked given its country and each of these: it adds fewer columns than by itself.
    for y, tests, expected in [
        (classes, Logistic(design(frame), classes), likelihood_ratio),
        (score, Linear(design(frame), score), f_test),
    ]:
        found = np.exp(tests.log_p_swapped(np.array([0, 1]), (7, 3), 7))
        assert found == pytest.approx([expected(frame, 7, (3, j), y) for j in (0, 1)], rel=1e-4)


@pytest.mark.parametrize("given", CONDITIONS)
def test_numbers_are_tested_by_the_f_test(given):
    frame, score = mixed_table()
    found = np.exp(Linear(design(frame), score).log_p(np.array(asked(given)), given))
    assert found == pytest.approx([f_test(frame, j, given, score) for j in asked(given)], rel=1e-7)


def test_two_numbers_are_tested_by_their_partial_correlation():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 3))
    y = X[:, 0] + X[:, 1] + rng.normal(size=50)
    tests = Linear(FeatureColumns(X), y)
    assert np.exp(tests.log_p(np.array([0]), ())) == pytest.approx(pearsonr(X[:, 0], y).pvalue)
    # Correlation of what two regressions on the condition leave, with one degree of freedom less.
    A = np.column_stack([np.ones(50), X[:, 1]])
    r = pearsonr(*(v - A @ np.linalg.lstsq(A, v, rcond=None)[0] for v in (X[:, 0], y))).statistic
    p = 2 * student.sf(abs(r) * np.sqrt(47 / (1 - r * r)), 47)
    assert np.exp(tests.log_p(np.array([0]), (1,))) == pytest.approx(p)


def test_a_constant_has_no_columns_and_a_missing_level_is_one():
    frame, _ = mixed_table()
    widths = dict(zip(NAMES, design(frame).widths.tolist(), strict=True))
    assert [name for name, width in widths.items() if width == 0] == ["constant", "same"]
    assert [name for name, width in widths.items() if width == 1] == ["missing", "number", "country"]
    assert [widths[name] for name in ("level", "rare", "city", "copy")] == [3, 3, 4, 3]


def test_what_the_conditions_say_already_is_independent():
    frame, score = mixed_table()
    classes = (score > 0.5).astype(int)
    for tests in (Logistic(design(frame), classes), Linear(design(frame), score)):
        assert np.exp(tests.log_p(np.array([8]), (1,))) == pytest.approx(1.0)  # a copy with other names
        assert np.exp(tests.log_p(np.array([3]), (7,))) == pytest.approx(1.0)  # the country of a city
    exact = pd.get_dummies(frame["level"].fillna("?")).to_numpy(dtype=float) @ [1.0, 2.0, 4.0, 3.0]
    assert Linear(design(frame), exact).log_p(np.array([6, 7]), (1,)).tolist() == [0.0, 0.0]  # nothing is left of y
