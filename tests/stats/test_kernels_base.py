"""The arithmetic that metric kernels share."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from internals import (
    BootstrapDraws,
    Counter,
    LoopKernel,
    MeanKernel,
    compiling,
    count_rows,
    distinct,
    mean_ratio,
    merged,
    negated,
    ratio,
    variance,
)


@pytest.mark.filterwarnings("error")
def test_ratio_by_zero_is_nan():
    np.testing.assert_array_equal(ratio(np.array([1, 0, 3]), np.array([0, 0, 2])), [np.nan, np.nan, 1.5])


def test_mean_ratio_skips_empty_terms():
    mean = mean_ratio([np.array([1.0, 0.0]), np.array([1.0, 0.0])], [np.array([2.0, 0.0]), np.array([4.0, 0.0])])
    np.testing.assert_array_equal(mean, [0.375, np.nan])


def test_mean_ratio_of_many_terms_is_a_plain_mean():
    rng = np.random.default_rng(0)
    bottoms = [rng.integers(900, 1000, 5).astype(float) for _ in range(12)]
    tops = [np.floor(b * rng.random(5)) for b in bottoms]
    np.testing.assert_allclose(
        mean_ratio(tops, bottoms), np.mean([t / b for t, b in zip(tops, bottoms, strict=True)], 0)
    )


def test_mean_ratio_is_exact_where_plain_sums_are_not():
    """1/10 + 2/10 and 3/10 + 0/10."""
    tops, bottoms = [np.array([1.0, 3.0]), np.array([2.0, 0.0])], [np.array([10.0]), np.array([10.0])]
    one, other = mean_ratio(tops, bottoms)
    assert one == other == 0.15


def test_counter_is_exact_past_float32():
    values = np.array([[1, 1, 0], [1, 0, 1]])
    weights = np.array([[2**24, 1, 0], [2**40, 1, 3]])
    np.testing.assert_array_equal(Counter(values)(weights), [[2**24 + 1, 2**24], [2**40 + 1, 2**40 + 3]])


def test_distinct_keeps_the_first():
    first, inverse = distinct(np.array([[1, 2], [3, 4], [1, 2], [5, 6], [3, 4]]))
    np.testing.assert_array_equal(first, [0, 1, 3])
    np.testing.assert_array_equal(inverse, [0, 1, 0, 2, 1])


def test_merged_builds_on_distinct_columns():
    built = []

    def build(columns):
        built.append(len(columns))
        return MeanKernel(columns)

    values = np.array([[0.5, 1.5], [2.0, 3.0], [0.5, 1.5]])
    kernel = merged(values, build)
    weights = np.array([[1, 1], [3, 1]])
    assert built == [2]
    assert kernel.n_configs == 3
    np.testing.assert_array_equal(kernel.scores(weights), [[1.0, 2.5, 1.0], [0.75, 2.25, 0.75]])
    np.testing.assert_array_equal(kernel.paired(weights, np.array([2, 1])), [1.0, 2.25])


def test_mean_of_sums_over_repeats():
    """Three repeats: 3/3, 2/3 and 1/3 right; the mean of the sums over the divisor."""
    kernel = MeanKernel(np.array([[3, 2, 1]]), divisor=3)
    assert kernel.scores(np.array([[1, 1, 1], [0, 0, 2]])).ravel().tolist() == [2 / 3, 1 / 3]


def test_mean_of_whole_floats_is_exact():
    """0-1 scores given as floats are counted like integers."""
    rng = np.random.default_rng(1)
    values = (rng.random((20, 999)) < 0.5).astype(float)
    weights = rng.integers(0, 5, (8, 999)).astype(np.uint8)
    exact = (weights.astype(int) @ values.T.astype(int)) / weights.sum(axis=1, dtype=int)[:, None]
    np.testing.assert_array_equal(MeanKernel(values).scores(weights), exact)


def test_negated_has_no_negative_zero():
    kernel = negated(MeanKernel(np.zeros((1, 2))))
    assert not np.signbit(kernel.scores(np.ones((1, 2), int))).any()


def test_loop_sees_only_rows_with_weight():
    seen = []

    def function(labels, prediction, counts):
        seen.append((labels.tolist(), prediction.tolist(), counts.tolist()))
        return 1.0

    kernel = LoopKernel(function, np.array([7, 8, 9]), np.array([[1, 2, 3]]))
    assert kernel.scores(np.array([[0, 2, 1]])).tolist() == [[1.0]]
    assert seen == [([8, 9], [2, 3], [2, 1])]


@pytest.mark.parametrize(("b", "n"), [(0, 5), (3, 1), (7, 20), (300, 442), (3, 70_000)])
def test_counts_are_those_of_every_row(b, n):
    drawn = np.random.default_rng(0).integers(0, n, size=(b, n), dtype=np.int32)
    counts = count_rows(drawn, n)
    assert counts.shape == (b, n)
    assert counts.dtype == np.uint8
    for row, found in zip(drawn, counts, strict=True):
        np.testing.assert_array_equal(found, np.bincount(row, minlength=n))


@pytest.mark.parametrize(("times", "dtype"), [(255, np.uint8), (256, np.int64), (600, np.int64)])
def test_counts_above_a_byte(times, dtype):
    drawn = np.r_[np.zeros(times, dtype=int), np.arange(1, 5)]
    counts = count_rows(np.stack([drawn, np.arange(len(drawn))]), len(drawn))
    assert counts.dtype == dtype
    np.testing.assert_array_equal(counts, [np.bincount(drawn, minlength=len(drawn)), np.ones(len(drawn))])


def test_draws_of_a_seed_stay_the_same():
    """What was estimated once is estimated again: the first draws of five samples under seed 0, as they have always been."""
    (counts,) = BootstrapDraws(5, 0).blocks(3)
    np.testing.assert_array_equal(counts, [[1, 1, 1, 0, 2], [3, 0, 1, 0, 1], [4, 0, 0, 1, 0]])


def test_variance_where_one_pass_would_lose_it():
    """Far from 0, about an outlier that is not drawn, and exactly 0 where all drawn are equal."""
    y = np.array([1e9 + 1, 1e9 + 2, 1e9 + 4, 1e9 + 4, -1e12])
    weights = np.array(
        [[1, 1, 1, 0, 0], [1, 2, 0, 1, 0], [0, 0, 2, 3, 0], [0, 0, 0, 0, 7], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]
    )
    whole = np.var(y)
    np.testing.assert_allclose(variance(y, weights.astype(np.uint8)), [14 / 9, 19 / 16, 0, 0, np.nan, whole], rtol=1e-9)
    assert (variance(y, weights)[[2, 3]] == 0).all()


def test_missing_numba_falls_back(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "outfold.stats.lanes", raising=False)
    compiling.load.cache_clear()
    try:
        assert compiling.load("lanes") is None
    finally:
        compiling.load.cache_clear()


def test_other_threads_may_import_while_threads_are_limited(monkeypatch):
    class Name(str):
        def startswith(self, *args):
            modules[f"imported_{len(modules)}"] = None
            return super().startswith(*args)

    modules = {Name("first"): None, Name("second"): None}
    monkeypatch.setattr(compiling, "sys", SimpleNamespace(modules=modules))
    with compiling.limit_threads("blas"):
        assert len(modules) == 4


def test_metrics_import_nothing_heavy():
    code = (
        "import sys, numpy as np, outfold.metrics as m; from outfold.data.target import Target\n"
        "t = Target('binary', np.array([0, 1]), np.array([0, 1]))\n"
        "before = {n.partition('.')[0] for n in sys.modules}\n"
        "m.get('roc_auc').kernel(t, np.array([[0.1, 0.2]])).scores(np.ones((1, 2), int))\n"
        "m.get('accuracy').kernel(t, np.array([[0, 1]])).scores(np.ones((1, 2), int))\n"
        "after = {n.partition('.')[0] for n in sys.modules}\n"
        "print({'sklearn', 'scipy', 'numba', 'pandas'} & before, {'sklearn', 'pandas'} & after)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["set()", "set()"]
