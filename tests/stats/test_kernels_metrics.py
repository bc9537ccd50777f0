"""Every metric's kernel against its plain path, over resamples with ties, empty rows and missing classes."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extras import without_numba
from internals import Target, compiling, rank_metrics
from outfold import metrics

SETTINGS = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PATHS = pytest.mark.parametrize("path", ["compiled", "numpy"])
CASES = [(metric.name, task) for metric in map(metrics.get, metrics.names()) for task in sorted(metric.tasks)]


def using(path):
    compiling.load("lanes")  # else small work does without
    return without_numba() if path == "numpy" else nullcontext()


def make_target(task, n, n_classes, rng):
    if task in ("binary", "multiclass"):
        k = 2 if task == "binary" else n_classes
        classes = np.array([f"c{i}" for i in range(k)])
        return Target(task, rng.integers(0, k, n), classes)
    if task == "survival":
        return Target(task, rng.integers(1, 6, n).astype(float), event=rng.random(n) < 0.6)
    if task == "regression":
        return Target(task, np.round(rng.normal(size=n), int(rng.integers(0, 3))) + 100.0)
    return Target(task, np.zeros(n))


def make_predictions(metric, target, c, rng):
    """Predictions on a coarse grid, so that ties are common; now and then a constant or repeated column."""
    n, grid = len(target), int(rng.integers(1, 8))
    if metric.needs == "label":
        out = rng.integers(0, len(target.classes), (c, n))
    elif metric.needs in ("score", "proba") and target.task == "multiclass":
        raw = rng.integers(1, grid + 2, (c, n, len(target.classes))).astype(float)
        out = raw / raw.sum(axis=2, keepdims=True)
    elif metric.needs == "proba":
        out = rng.integers(0, grid + 1, (c, n)) / grid
    else:
        out = rng.integers(-grid, grid + 1, (c, n)) / 3.0
    if metric.needs == "value":
        out = out + target.y.mean()
    if c > 1:
        out[0] = out[0, :1]
        out[-1] = out[rng.integers(0, c)]
    return np.ascontiguousarray(out)


def make_weights(b, n, rng, dtype=np.uint8):
    weights = rng.integers(0, 4, (b, n)) * (rng.random((b, n)) < rng.random((b, 1)))
    weights[0] = 0
    return weights.astype(dtype)


def assert_matches_reference(metric, target, predictions, weights):
    kernel = metric.kernel(target, predictions)
    assert kernel.n_configs == len(predictions)
    expected = np.array([[metric.reference(target, p, w) for p in predictions] for w in weights])
    actual = kernel.scores(weights)
    assert actual.dtype == np.float64
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)
    chosen = np.arange(len(weights)) % len(predictions)
    np.testing.assert_allclose(
        kernel.paired(weights, chosen), expected[np.arange(len(weights)), chosen], rtol=1e-12, atol=1e-12
    )


@PATHS
@pytest.mark.parametrize(("name", "task"), CASES)
@pytest.mark.filterwarnings("error")
@SETTINGS
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 24), c=st.integers(1, 4), k=st.integers(3, 4))
def test_kernel_is_reference(name, task, path, seed, n, c, k):
    rng = np.random.default_rng(seed)
    metric = metrics.get(name)
    target = make_target(task, n, k, rng)
    predictions = make_predictions(metric, target, c, rng)
    with using(path):
        assert_matches_reference(metric, target, predictions, make_weights(4, n, rng))


@PATHS
@pytest.mark.parametrize(("name", "task"), CASES)
@pytest.mark.parametrize(("dtype", "scale"), [(np.uint8, 60), (np.uint16, 300), (np.int64, 40_000)])
def test_large_weights(name, task, path, dtype, scale):
    rng = np.random.default_rng(1)
    metric = metrics.get(name)
    target = make_target(task, 25, 3, rng)
    predictions = make_predictions(metric, target, 4, rng)
    weights = (rng.integers(0, 5, (3, 25)) * scale).astype(dtype)
    if name.startswith("roc_auc_ovo"):  # its plain path repeats rows; an area is free of the scale of the weights
        kernel = metric.kernel(target, predictions)
        with using(path):
            np.testing.assert_allclose(kernel.scores(weights), kernel.scores(weights // scale), rtol=1e-12)
        return
    with using(path):
        assert_matches_reference(metric, target, predictions, weights)


@PATHS
@pytest.mark.parametrize(("name", "task"), CASES)
@pytest.mark.filterwarnings("error")
def test_no_weight_is_nan(name, task, path):
    rng = np.random.default_rng(2)
    metric = metrics.get(name)
    target = make_target(task, 9, 3, rng)
    with using(path):
        kernel = metric.kernel(target, make_predictions(metric, target, 3, rng))
        nothing = np.zeros((2, 9), dtype=np.uint8)
        assert np.isnan(kernel.scores(nothing)).all()
        assert np.isnan(kernel.paired(nothing, np.array([0, 2]))).all()
        assert kernel.scores(nothing[:0]).shape == (0, 3)


NEEDS_TWO_LABELS = [
    "roc_auc", "roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted", "mcc", "cohen_kappa", "r2",
    "explained_variance", "d2_absolute_error_score", "d2_log_loss_score", "d2_brier_score",
]  # fmt: skip


@PATHS
@pytest.mark.parametrize("name", NEEDS_TWO_LABELS)
@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.filterwarnings("error")
def test_one_label_is_nan(name, label, path):
    rng = np.random.default_rng(3)
    metric = metrics.get(name)
    target = make_target(min(metric.tasks), 30, 3, rng)
    predictions = make_predictions(metric, target, 3, rng)
    weights = (target.y == np.unique(target.y)[label]).astype(np.uint8)[None]
    with using(path):
        kernel = metric.kernel(target, predictions)
        assert np.isnan(kernel.scores(weights)).all()
        assert np.isnan(kernel.paired(weights, np.array([1]))).all()


@pytest.mark.parametrize("name", ["f1", "f2", "f0.5", "precision", "recall", "jaccard", "average_precision"])
def test_needs_a_positive(name):
    metric = metrics.get(name)
    target = Target("binary", np.array([0, 0, 1, 1]), np.array([0, 1]))
    codes = np.array([[1, 0, 1, 0]])
    kernel = metric.kernel(target, codes if metric.needs == "label" else codes.astype(float))
    weights = np.array([[1, 2, 0, 0], [0, 0, 1, 1]], dtype=np.uint8)
    undefined, defined = kernel.scores(weights)[:, 0]
    assert np.isnan(undefined)
    assert 0 < defined <= 1


def test_specificity_needs_a_negative():
    target = Target("binary", np.array([0, 0, 1, 1]), np.array([0, 1]))
    weights = np.array([[0, 0, 2, 1], [3, 1, 0, 0]], dtype=np.uint8)
    undefined, defined = metrics.get("specificity").kernel(target, np.array([[1, 0, 1, 0]])).scores(weights)[:, 0]
    assert np.isnan(undefined)
    assert defined == 0.25


def test_nothing_predicted_positive_is_zero():
    """Undefined by the predictions alone: 0, as scikit-learn takes it."""
    target = Target("binary", np.array([0, 0, 1, 1]), np.array([0, 1]))
    for name in ("precision", "f1", "f2", "jaccard", "recall"):
        kernel = metrics.get(name).kernel(target, np.zeros((1, 4), dtype=int))
        np.testing.assert_array_equal(kernel.scores(np.ones((1, 4), dtype=int)), [[0.0]])


def test_explained_variance_keeps_its_digits():
    """Errors that are nearly constant on the rows drawn, far from their mean over all rows."""
    y = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    errors = np.array([1e6, 1e6 + 1e-3, 1e6 + 2e-3, -1e6, -1e6, -1e6])
    metric, target = metrics.get("explained_variance"), Target("regression", y)
    weights = np.array([[1, 2, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1]])
    expected = [metric.reference(target, y - errors, w) for w in weights]
    kernel = metric.kernel(target, (y - errors)[None])
    np.testing.assert_allclose(kernel.scores(weights)[:, 0], expected, rtol=1e-9)
    np.testing.assert_allclose(kernel.paired(weights, np.array([0, 0])), expected, rtol=1e-9)


def test_r2_far_from_zero():
    """Two passes keep the variance where one would lose it: y = 1e9 + noise."""
    rng = np.random.default_rng(4)
    noise, error = np.round(rng.normal(size=(2, 50)), 3)
    weights = rng.integers(0, 3, (5, 50)).astype(np.uint8)
    metric = metrics.get("r2")
    near = metric.kernel(Target("regression", noise), (noise + error)[None]).scores(weights)
    far = metric.kernel(Target("regression", noise + 1e9), (noise + error + 1e9)[None]).scores(weights)
    np.testing.assert_allclose(far, near, atol=1e-6)


def test_concordance_by_hand():
    """All pairs in a double loop, written from the definition."""
    rng = np.random.default_rng(5)
    n = 14
    time, event = rng.integers(1, 5, n).astype(float), rng.random(n) < 0.6
    risk, w = rng.integers(0, 4, n) / 3, rng.integers(0, 3, n)
    concordant = comparable = 0.0
    for i in range(n):
        for j in range(n):
            first = time[i] < time[j] or (time[i] == time[j] and not event[j])
            if event[i] and first:
                comparable += w[i] * w[j]
                concordant += w[i] * w[j] * (1.0 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0.0)
    metric, target = metrics.get("concordance"), Target("survival", time, event=event)
    for path in ("compiled", "numpy"):
        with using(path):
            assert metric.kernel(target, risk[None]).scores(w[None])[0, 0] == concordant / comparable
    assert metric.reference(target, risk, w) == pytest.approx(concordant / comparable, abs=1e-14)


def test_concordance_numpy_chunks(monkeypatch):
    rng = np.random.default_rng(6)
    target = make_target("survival", 30, 0, rng)
    risk = rng.integers(0, 9, (2, 30)).astype(float)
    weights = make_weights(4, 30, rng)
    kernel = metrics.get("concordance").kernel(target, risk)
    with without_numba():
        whole = kernel.scores(weights)
        monkeypatch.setattr(rank_metrics, "_CHUNK", 64)
        np.testing.assert_array_equal(kernel.scores(weights), whole)


# ------------------------------------------------------------------------------- exact ties

EXACT = [
    "accuracy", "error", "balanced_accuracy", "precision", "recall", "specificity", "f1", "f0.5", "f2", "jaccard",
    "f1_macro", "jaccard_micro", "mcc", "cohen_kappa", "roc_auc", "concordance", "max_error", "median_absolute_error",
]  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_paths_agree_bit_for_bit(name):
    rng = np.random.default_rng(7)
    metric = metrics.get(name)
    target = make_target(min(metric.tasks), 200, 3, rng)
    predictions = make_predictions(metric, target, 9, rng)
    weights, chosen = make_weights(70, 200, rng), rng.integers(0, 9, 70)
    kernel = metric.kernel(target, predictions)
    scores, paired = kernel.scores(weights), kernel.paired(weights, chosen)
    np.testing.assert_array_equal(paired, scores[np.arange(70), chosen])
    with without_numba():
        np.testing.assert_array_equal(kernel.scores(weights), scores)
        np.testing.assert_array_equal(kernel.paired(weights, chosen), paired)


@pytest.mark.parametrize(("name", "task"), CASES)
def test_equal_columns_have_equal_scores(name, task):
    rng = np.random.default_rng(8)
    metric = metrics.get(name)
    target = make_target(task, 61, 4, rng)
    columns = make_predictions(metric, target, 7, rng)
    kernel = metric.kernel(target, np.concatenate([columns, columns[::-1], columns]))
    scores = kernel.scores(make_weights(33, 61, rng))
    np.testing.assert_array_equal(scores[:, :7], scores[:, 14:])
    np.testing.assert_array_equal(scores[:, :7], scores[:, 7:14][:, ::-1])


OF_COUNTS = [
    "accuracy", "error", "balanced_accuracy", "precision", "recall", "specificity", "f1", "f0.5", "f2", "jaccard",
    "precision_macro", "recall_macro", "f1_macro", "jaccard_micro", "mcc", "cohen_kappa",
]  # fmt: skip


@pytest.mark.parametrize("name", OF_COUNTS)
def test_equal_confusion_has_equal_scores(name):
    """Columns that are right on other rows of the same classes tie exactly where all rows weigh the same."""
    rng = np.random.default_rng(9)
    y = np.repeat([0, 1], [300, 411])
    column = rng.integers(0, 2, len(y))
    shuffled = [np.concatenate([rng.permutation(column[:300]), rng.permutation(column[300:])]) for _ in range(40)]
    kernel = metrics.get(name).kernel(Target("binary", y, np.array([0, 1])), np.array(shuffled))
    scores = kernel.scores(np.full((1, len(y)), 3, dtype=np.uint8))
    assert len(np.unique(scores)) == 1


def test_balanced_accuracy_ties_across_classes():
    """1/10 + 2/30 + 3/30 and 2/10 + 1/30 + 1/30 ... are one value: 8/30."""
    y = np.repeat([0, 1, 2], [10, 30, 30])
    columns = []
    for hits in [(1, 2, 3), (1, 3, 2), (2, 1, 1), (2, 2, 0), (0, 4, 4), (0, 8, 0)]:
        column = (y + 1) % 3
        for k, h in enumerate(hits):
            column[np.flatnonzero(y == k)[:h]] = k
        columns.append(column)
    target = Target("multiclass", y, np.arange(3))
    scores = metrics.get("balanced_accuracy").kernel(target, np.array(columns)).scores(np.ones((1, 70), int))
    assert len(np.unique(scores)) == 1
    assert scores[0, 0] == 8 / 90


def test_auc_ties_exactly_under_monotone_maps():
    rng = np.random.default_rng(10)
    target = Target("binary", rng.integers(0, 2, 80), np.array([0, 1]))
    score = rng.integers(0, 20, 80).astype(float)
    kernel = metrics.get("roc_auc").kernel(target, np.array([score, np.exp(score), 2 * score - 7, -0.0 + score]))
    scores = kernel.scores(make_weights(50, 80, rng))
    np.testing.assert_array_equal(scores, np.repeat(scores[:, :1], 4, axis=1))


def test_compiled_sums_beyond_32_bits():
    """Perfect and reversed ranking of a hundred thousand samples by weight."""
    y = np.repeat([0, 1], 50)
    score = np.arange(100.0)
    weights = np.full((2, 100), 1_000_000, dtype=np.int64)
    kernel = metrics.get("roc_auc").kernel(Target("binary", y, np.array([0, 1])), np.array([score, -score]))
    np.testing.assert_array_equal(kernel.scores(weights), [[1.0, 0.0], [1.0, 0.0]])
    many = np.tile(y, 600)
    kernel = metrics.get("roc_auc").kernel(Target("binary", many, np.array([0, 1])), many[None].astype(float))
    assert kernel.scores(np.ones((1, len(many)), dtype=np.uint8))[0, 0] == 1.0


# ------------------------------------------------------------------------------- threads


@pytest.mark.parametrize("name", ["roc_auc", "roc_auc_ovr", "average_precision", "concordance"])
@pytest.mark.parametrize("most", [2, 3, 7])
def test_threads_change_no_bit(name, most, monkeypatch):
    lanes = pytest.importorskip("outfold.stats.lanes", reason="needs numba", exc_type=ImportError)
    rng = np.random.default_rng(11)
    metric = metrics.get(name)
    target = make_target(min(metric.tasks), 90, 3, rng)
    kernel = metric.kernel(target, make_predictions(metric, target, 5, rng))
    weights = make_weights(40, 90, rng)
    monkeypatch.setattr(compiling, "_WORTH", 1)
    monkeypatch.setattr(lanes, "MAX_THREADS", 1)
    alone = kernel.scores(weights)
    monkeypatch.setattr(lanes, "MAX_THREADS", most)
    np.testing.assert_array_equal(kernel.scores(weights), alone)


def test_small_work_loads_no_numba_and_much_work_does(monkeypatch):
    loaded = []
    monkeypatch.setattr(compiling, "load", lambda name: loaded.append(name))
    monkeypatch.setattr(compiling._Plain, "steps", 0)
    monkeypatch.delitem(compiling.sys.modules, "outfold.stats.lanes", raising=False)
    kernel = rank_metrics.AucKernel(np.random.default_rng(0).random((12, 500)), np.arange(500) % 2 == 0)
    weights = np.ones((1000, 500), dtype=np.uint8)
    kernel.scores(weights)
    assert not loaded
    for _ in range(50):
        kernel.scores(weights)
    assert loaded


def test_work_is_shared_out_once_and_errors_come_back(monkeypatch):
    monkeypatch.setattr(compiling, "_WORTH", 1)
    for n, most in [(1, 4), (5, 2), (7, 3), (3, 8)]:
        seen = []
        compiling.share_out(lambda part, seen=seen, n=n: seen.extend(range(n)[part]), n, 100, most)
        assert sorted(seen) == list(range(n))

    def broken(part):
        if part.start:
            raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        compiling.share_out(broken, 4, 100, 2)


def test_one_weighting_has_the_areas_that_it_has_among_others():
    rng = np.random.default_rng(0)
    kernel = rank_metrics.AucKernel(rng.integers(0, 9, (7, 40)) / 9.0, rng.random(40) < 0.4)
    weights = rng.integers(0, 4, (5, 40)).astype(np.uint8)
    alone = np.concatenate([kernel.scores(weights[[i]]) for i in range(5)])
    assert alone.tobytes() == kernel.scores(weights).tobytes()
