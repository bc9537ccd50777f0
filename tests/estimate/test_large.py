"""Large artifacts: draws and kernels that go in parts give the same bits, and take little memory beside the predictions."""

import tracemalloc

import numpy as np
import pytest

import internals
import outfold as of


def predictions(n, c, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    P = 1 / (1 + np.exp(-(y[:, None] - 0.5 + rng.normal(0, 1, (n, c)))))
    return y, P.astype(dtype)


# -- draws ------------------------------------------------------------------------------------------------


def test_large_draws_are_those_of_one_call():
    n = 70_000
    counts = internals.resampling._count_draws(np.random.default_rng(3), 2, n)
    drawn = np.random.default_rng(3).integers(0, n, size=(2, n), dtype=np.int32)
    assert counts.dtype == np.uint8
    np.testing.assert_array_equal(counts, [np.bincount(row, minlength=n) for row in drawn])


def test_a_sample_drawn_more_often_than_a_byte_can_say():
    class First(np.random.Generator):
        """Draws the first sample only."""

        def integers(self, low, high, size, dtype):
            return np.zeros(size, dtype=dtype)

    n = 70_000
    counts = internals.resampling._count_draws(First(np.random.PCG64(0)), 2, n)
    assert counts[:, 0].tolist() == [n, n]
    assert counts.sum() == 2 * n


def test_blocks_that_come_together_are_the_blocks():
    alone, several = (internals.BootstrapDraws(70_000, 5, compact=compact) for compact in (False, True))
    apart, together = list(alone.blocks(250)), list(several.blocks(250))
    assert [len(block) for block in apart] == [239, 11]
    assert [len(block) for block in together] == [250]
    np.testing.assert_array_equal(np.concatenate(apart), together[0])


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_estimates_do_not_depend_on_how_many_blocks_come_together(monkeypatch, metric):
    y, P = predictions(70_000, 3)
    oof = of.from_arrays(y, P, folds=np.arange(len(y)) % 2, copy=False)
    found = of.estimate.bbc(oof, metric, n_resamples=260)
    monkeypatch.setattr(internals._scoring.Scoring, "compact", False)
    expected = of.estimate.bbc(oof, metric, n_resamples=260)
    np.testing.assert_array_equal(found.draws, expected.draws)
    assert found.to_dict() == expected.to_dict()


# -- kernels ----------------------------------------------------------------------------------------------


def test_whole_numbers_are_summed_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    values, weights = rng.integers(-9, 9, (7, 500)).astype(np.int8), rng.integers(0, 200, (5, 500)).astype(np.uint8)
    monkeypatch.setattr(internals.kernels, "_PRODUCT", 100)
    count = internals.kernels.Counter(values)
    expected = weights.astype(int) @ values.T.astype(int)
    np.testing.assert_array_equal(count(weights), expected)
    chosen = rng.integers(0, 7, 5)
    np.testing.assert_array_equal(count.paired(weights, chosen), expected[np.arange(5), chosen])


@pytest.mark.parametrize("heaviest", [1, 31, 32, 255, 40_000])
@pytest.mark.parametrize("levels", [3, 10_000])
def test_areas_are_exact_whatever_the_type_of_the_sums(heaviest, levels):
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    positive = rng.random(3000) < 0.6
    scores = rng.integers(0, levels, (3, 3000)).astype(np.float32)
    weights = rng.integers(0, heaviest + 1, (40, 3000))
    weights = weights.astype(np.uint8) if heaviest < 256 else weights
    kernel = internals.rank_metrics.AucKernel(scores, positive)
    lanes = internals.compiling.load("lanes")
    twice = kernel._compiled_lanes(lanes, weights)
    np.testing.assert_array_equal(twice, kernel._numpy_lanes(weights))
    for config in range(3):
        alone = kernel._compiled_paired(lanes, weights, np.arange(40), np.full(40, config))
        np.testing.assert_array_equal(alone, twice[config])


# -- predictions ------------------------------------------------------------------------------------------


def test_floats_are_not_copied_if_asked():
    y, P = predictions(50, 4)
    oof = of.from_arrays(y, P, copy=False)
    assert np.shares_memory(oof.data, P)
    assert not oof.data.flags.writeable
    assert P.flags.writeable
    assert not np.shares_memory(of.from_arrays(y, P).data, P)


def test_predictions_that_are_on_disk_stay_there(tmp_path):
    y, P = predictions(50, 4)
    P.tofile(tmp_path / "P.bin")
    mapped = np.memmap(tmp_path / "P.bin", dtype=np.float32, mode="r", shape=P.shape)
    oof = of.from_arrays(y, mapped)
    assert np.shares_memory(oof.data, mapped)
    assert (
        of.estimate.bbc(oof, "roc_auc", n_resamples=50).to_dict()
        == of.estimate.bbc(of.from_arrays(y, P), "roc_auc", n_resamples=50).to_dict()
    )


def test_samples_that_are_not_held_out_are_copied():
    y, P = predictions(50, 4)
    oof = of.from_arrays(y, P, folds=np.where(np.arange(50) < 5, -1, 0), copy=False)
    assert not np.shares_memory(oof.data, P)
    assert np.isnan(oof.data[..., :5]).all()


@pytest.mark.parametrize("metric", ["accuracy", "f1", "roc_auc", "average_precision", "log_loss", "brier"])
@pytest.mark.parametrize("large", [False, True])
def test_short_floats_score_as_long_ones(monkeypatch, metric, large):
    if large:  # as if these were so many predictions that they are taken in parts
        monkeypatch.setattr(internals._scoring, "_LARGE", 100)
        monkeypatch.setattr(internals.kernels, "_PRODUCT", 100)
    y, P = predictions(90, 6)
    P[:, 5] = P[:, 2]  # equal configurations
    folds = np.arange(90) % 3
    short, long = (of.from_arrays(y, P, folds, response="proba", threshold=0.3, copy=copy) for copy in (False, True))
    assert (short.data.dtype, long.data.dtype) == (np.float32, np.float64)
    found, expected = (of.estimate.bbc(oof, metric, n_resamples=60) for oof in (short, long))
    np.testing.assert_array_equal(found.draws, expected.draws)
    assert found.to_dict() == expected.to_dict()
    np.testing.assert_array_equal(short.scores(metric), long.scores(metric))


def test_a_threshold_is_not_rounded_to_the_type_of_the_predictions():
    P = np.array([[0.3], [0.2], [0.9], [0.1]], dtype=np.float32)  # 0.3 in short form is above 0.3
    oof = of.from_arrays([1, 0, 1, 0], P, response="proba", threshold=0.3, copy=False)
    assert oof.respond("label")[0, 0].tolist() == [1, 0, 1, 0]


def test_short_floats_are_saved_as_they_are(tmp_path):
    y, P = predictions(50, 4)
    of.from_arrays(y, P, copy=False).save(tmp_path / "a.oof")
    np.testing.assert_array_equal(of.load(tmp_path / "a.oof").data[0].T, P)


# -- memory -----------------------------------------------------------------------------------------------


# Measured with tracemalloc, beside the array that is given: accuracy peaks at 11.7 bytes, AUC at 13.7 with two threads.
@pytest.mark.parametrize(("metric", "most"), [("accuracy", 12), ("roc_auc", 16)])
def test_bytes_for_each_prediction(metric, most):
    if metric == "roc_auc":
        numba = pytest.importorskip("numba")
        numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))  # each has room of its own
    y, P = predictions(400_000, 16)
    for _ in range(2):  # what is loaded and compiled once does not count
        tracemalloc.start()
        oof = of.from_arrays(y, P, response="proba", copy=False)
        of.estimate.bbc(oof, metric, n_resamples=10)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < most * P.size
