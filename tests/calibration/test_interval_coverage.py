"""Coverage of every interval in the design it is valid for: the table in docs/calibration.md."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

import outfold as of
from outfold import intervals

pytestmark = pytest.mark.calibration

PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"
SHARES = np.linspace(0.5, 0.98, 25)


def holds(interval, truth):
    return interval.low <= truth <= interval.high


def of_shares(function, n):
    """Mean and lowest coverage over shares from 0.5 to 0.98, by complete enumeration."""
    low, high = np.array([function(k, n) for k in range(n + 1)]).T
    covered = [binom.pmf(np.arange(n + 1), n, p)[(low <= p) & (p <= high)].sum() for p in SHARES]
    return float(np.mean(covered)), float(np.min(covered))


def of_t(rng):
    return holds(intervals.t(rng.gamma(4.0, size=40)), 4.0)


def of_clusters(rng):
    shared = np.repeat(rng.standard_normal(25), 6)
    return holds(intervals.cluster_robust(0.6 * shared + rng.standard_normal(150), np.repeat(np.arange(25), 6)), 0.0)


def of_clusters_taken_as_samples(rng):
    shared = np.repeat(rng.standard_normal(25), 6)
    return holds(intervals.t(0.6 * shared + rng.standard_normal(150)), 0.0)


def of_area(rng):
    y = np.repeat([0, 1], [60, 30])
    return holds(intervals.delong(y, y + rng.standard_normal(90)), float(ndtr(1 / np.sqrt(2))))


def of_f1(method, rng):
    """F1 of answers with recall 0.8 and a false positive rate of 0.1, positives one in three."""
    y = (rng.random(120) < 1 / 3).astype(int)
    label = (rng.random(120) < np.where(y == 1, 0.8, 0.1)).astype(int)
    truth = 2 * 0.8 / 3 / (0.8 / 3 + 0.1 * 2 / 3 + 1 / 3)
    oof = of.from_arrays(y, label[:, None], response="label")
    return holds(of.estimate.cv(oof, "f1", rng=int(rng.integers(1 << 30))).confidence_interval(method=method), truth)


# -- least squares, whose true error is known -------------------------------------------------------------

N, P, K = 100, 20, 10


def fit(X, y, rows):
    return np.linalg.lstsq(X[rows], y[rows], rcond=None)[0]


def true_error(coefficients):
    """Expected squared error on new samples: standard normal features, coefficients all 0, noise of variance 1."""
    return 1 + float(coefficients @ coefficients)


@cache
def expected_error(n_train):
    rng = np.random.default_rng(1)
    errors = []
    for _ in range(4000):
        X, y = rng.standard_normal((n_train, P)), rng.standard_normal(n_train)
        errors.append(true_error(fit(X, y, np.arange(n_train))))
    return float(np.mean(errors))


def partition(rng):
    return rng.permutation(N) % K


def of_corrected_t(rng, repeats, corrected=True):
    X, y = rng.standard_normal((N, P)), rng.standard_normal(N)
    scores = []
    for _ in range(repeats):
        folds = partition(rng)
        for k in range(K):
            out = folds == k
            scores.append(np.mean((y[out] - X[out] @ fit(X, y, ~out)) ** 2))
    found = intervals.corrected_t(scores, N - N // K, N // K) if corrected else intervals.t(scores)
    return holds(found, expected_error(N - N // K))


def of_bates(rng, repeats):
    X, y = rng.standard_normal((N, P)), rng.standard_normal(N)
    outer, inner = np.empty((N, repeats)), np.full((N, repeats, K), np.nan)
    folds = np.stack([partition(rng) for _ in range(repeats)], axis=1)
    for r in range(repeats):
        for k in range(K):
            out = folds[:, r] == k
            outer[out, r] = (y[out] - X[out] @ fit(X, y, ~out)) ** 2
            for j in range(k):
                also = folds[:, r] == j
                b = fit(X, y, ~out & ~also)
                inner[out, r, j], inner[also, r, k] = (y[out] - X[out] @ b) ** 2, (y[also] - X[also] @ b) ** 2
    found = intervals.nested_cv_bates(outer, inner, folds)
    return holds(found, true_error(fit(X, y, np.arange(N))))


def split_mean(rng, X, y, rows, J, n_test):
    scores = []
    for _ in range(J):
        mixed = rng.permutation(rows)
        test, train = mixed[:n_test], mixed[n_test:]
        scores.append(np.mean((y[test] - X[test] @ fit(X, y, train)) ** 2))
    return scores


def of_conservative_z(rng):
    X, y = rng.standard_normal((N, P)), rng.standard_normal(N)
    halves = []
    for _ in range(10):
        mixed = rng.permutation(N)
        halves.append([np.mean(split_mean(rng, X, y, half, 10, N // K)) for half in (mixed[: N // 2], mixed[N // 2 :])])
    found = intervals.conservative_z(split_mean(rng, X, y, np.arange(N), 10, N // K), halves)
    return holds(found, expected_error(N - N // K))


# -- the best of many, whose true accuracies are known ----------------------------------------------------


def of_selected(method, rng, n=100, c=50):
    truth = rng.beta(9, 6, c)
    correct = (rng.random((n, c)) < truth).astype(float)
    oof = of.from_arrays(None, correct, folds=np.arange(n) % 10, response="pointwise")
    found = of.estimate.bbc(oof, "mean", n_resamples=300, rng=int(rng.integers(1 << 30)))
    if method == "wilson":  # what the winner would have, had it not been selected
        interval = intervals.wilson(int(correct[:, oof.config_index(found.selected)].sum()), n)
    else:
        interval = found.confidence_interval(method=method)
    return holds(interval, truth[oof.config_index(found.selected)])


CASES = {
    "`t`": (of_t, 20_000),
    "`cluster_robust`": (of_clusters, 20_000),
    "`t` on groups": (of_clusters_taken_as_samples, 20_000),
    "`delong`": (of_area, 4_000),
    "`bca`": (lambda rng: of_f1("bca", rng), 1_000),
    "`percentile`": (lambda rng: of_f1("percentile", rng), 1_000),
    "`corrected_t`, 10-fold": (lambda rng: of_corrected_t(rng, 1), 2_000),
    "`corrected_t`, 5 x 10-fold": (lambda rng: of_corrected_t(rng, 5), 1_000),
    "`t` on folds, 5 x 10-fold": (lambda rng: of_corrected_t(rng, 5, corrected=False), 1_000),
    "`nested_cv_bates`, 10-fold": (lambda rng: of_bates(rng, 1), 2_000),
    "`nested_cv_bates`, 10 x 10-fold": (lambda rng: of_bates(rng, 10), 400),
    "`conservative_z`": (of_conservative_z, 1_000),
    "`percentile` of `bbc`": (lambda rng: of_selected("percentile", rng), 1_000),
    "`bbc_f`": (lambda rng: of_selected("bbc_f", rng), 1_000),
    "`wilson` of the winner": (lambda rng: of_selected("wilson", rng), 1_000),
}
WRONG = {"`t` on groups", "`t` on folds, 5 x 10-fold", "`wilson` of the winner"}


def coverage(name):
    case, times = CASES[name]
    rng = np.random.default_rng(0)
    return float(np.mean([case(rng) for _ in range(times)])), times


def printed(name):
    line = next(line for line in PAGE.read_text().splitlines() if line.startswith(f"| {name} |"))
    return [float(v) for v in re.findall(r"\b[01]\.\d{3}\b", line)]


@pytest.mark.parametrize("name", CASES)
def test_coverage_is_that_of_the_page(name, record):
    found, times = coverage(name)
    record("intervals", name, coverage=found, repetitions=times)
    assert printed(name)[-1] == pytest.approx(found, abs=0.0006)
    if name not in WRONG:
        assert found > 0.95 - 0.025 - 3 * np.sqrt(0.95 * 0.05 / times)


def keep_shares(record, function):
    """Mean and lowest coverage at 30 and at 100."""
    found = [v for n in (30, 100) for v in of_shares(function, n)]
    record(
        "shares", function.__name__, **dict(zip(("mean 30", "lowest 30", "mean 100", "lowest 100"), found, strict=True))
    )
    return found


@pytest.mark.parametrize(("function", "least"), [(intervals.wilson, 0.90), (intervals.clopper_pearson, 0.95)])
def test_coverage_of_shares_is_that_of_the_page(function, least, record):
    found = keep_shares(record, function)
    assert min(found) >= least
    assert printed(f"`{function.__name__}`") == pytest.approx(found, abs=0.0006)


def test_the_normal_interval_of_a_share_is_too_narrow(record):
    found = keep_shares(record, intervals.normal)
    assert min(found) < 0.9
    assert printed("`normal`") == pytest.approx(found, abs=0.0006)
