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


# Odd numbers of draws leave half of a random number over, and 65,537 = 2**16 + 1 has many words that are refused.
@pytest.mark.parametrize("n", [2, 3, 512, 1001, 65_537, 300_001])
@pytest.mark.parametrize("b", [1, 3])
def test_compiled_draws_are_those_of_numpy(n, b):
    pytest.importorskip("numba")
    ours, theirs = np.random.default_rng(n + b), np.random.default_rng(n + b)
    counts = np.empty((b, n), dtype=np.uint8)
    assert internals.resampling._count_words(internals.compiling.load("drawing"), ours, counts)
    drawn = theirs.integers(0, n, size=(b, n), dtype=np.int32)
    np.testing.assert_array_equal(counts, [np.bincount(row, minlength=n) for row in drawn])
    # Both generators go on alike.
    np.testing.assert_array_equal(*(rng.integers(0, n, size=101, dtype=np.int32) for rng in (ours, theirs)))


def test_compiled_draws_after_half_a_number_are_those_of_numpy(monkeypatch):
    pytest.importorskip("numba")
    loops = internals.compiling.load("drawing")
    monkeypatch.setattr(internals.resampling, "load_if_worth", lambda name, steps: loops)
    ours, theirs = np.random.default_rng(1), np.random.default_rng(1)
    for n in (101, 64, 101, 70_001, 5):  # an odd number of draws, and then again
        found = internals.resampling._count_draws(ours, 1, n)
        np.testing.assert_array_equal(found[0], np.bincount(theirs.integers(0, n, n, dtype=np.int32), minlength=n))


def test_compiled_draws_of_which_a_byte_runs_over(monkeypatch):
    pytest.importorskip("numba")
    loops = internals.compiling.load("drawing")
    counts, words = np.zeros((1, 512), dtype=np.uint8), np.zeros(512, dtype=np.uint32)
    drawing = np.empty(loops.AHEAD, dtype=np.int64)
    assert loops.count_words(words[:255], counts, 0, drawing) == 255
    assert loops.count_words(words[255:], counts, 255, drawing) == -1

    class Full:
        AHEAD = loops.AHEAD
        count_words = staticmethod(lambda words, counts, drawn, drawing: -1)

    monkeypatch.setattr(internals.resampling, "load_if_worth", lambda name, steps: Full)
    found = internals.resampling._count_draws(np.random.default_rng(3), 2, 900)
    drawn = np.random.default_rng(3).integers(0, 900, size=(2, 900), dtype=np.int32)
    np.testing.assert_array_equal(found, [np.bincount(row, minlength=900) for row in drawn])


def test_blocks_that_come_together_are_the_blocks():
    alone, several = (internals.BootstrapDraws(70_000, 5, compact=compact) for compact in (False, True))
    apart, together = list(alone.blocks(250)), list(several.blocks(250))
    assert [len(block) for block in apart] == [239, 11]
    assert [len(block) for block in together] == [250]
    np.testing.assert_array_equal(np.concatenate(apart), together[0])
    again = list(several.blocks(250, first_alone=True))
    assert [len(block) for block in again] == [239, 11]
    np.testing.assert_array_equal(np.concatenate(again), together[0])


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
def test_areas_are_exact_whatever_the_type_of_the_sums(heaviest, levels, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(internals.rank_metrics, "_CACHED", 2999)  # weights of 0 and 1 are bits
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


def test_areas_of_short_floats_with_ties_signs_and_ends():
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    tied = rng.choice(np.array([-np.inf, -2.5, -1e-40, -0.0, 0.0, 1e-40, 3.0, np.inf], dtype=np.float32), (2, 500))
    scores = np.concatenate([tied, rng.normal(0, 1, (2, 500)).astype(np.float32), np.zeros((1, 500), np.float32)])
    positive, weights = rng.random(500) < 0.4, rng.integers(0, 4, (40, 500)).astype(np.uint8)
    lanes = internals.compiling.load("lanes")
    short, long = (internals.rank_metrics.AucKernel(scores.astype(t), positive) for t in (np.float32, np.float64))
    twice = short._compiled_lanes(lanes, weights)
    np.testing.assert_array_equal(twice, long._compiled_lanes(lanes, weights))
    np.testing.assert_array_equal(twice, short._numpy_lanes(weights))


@pytest.mark.parametrize("shape", [(1, 1), (3, 2000), (40, 1030)])
def test_rows_are_side_by_side_whatever_they_were(shape):
    wide = np.random.default_rng(0).random(shape, dtype=np.float32)
    for given in (wide, np.asfortranarray(wide), np.repeat(wide, 2, axis=1)[:, ::2], wide[::-1]):
        found = internals.kernels.in_rows(given)
        assert found.flags.c_contiguous
        np.testing.assert_array_equal(found, given)


def test_equal_configurations_are_found_in_samples_by_configurations():
    columns = np.random.default_rng(0).random((60, 40))
    columns[:, 33] = columns[:, 3]
    first, inverse = internals.distinct(columns.T)
    assert first.tolist() == [j for j in range(40) if j != 33]
    assert inverse[33] == 3


# -- predictions ------------------------------------------------------------------------------------------


def test_cells_mark_the_samples_that_they_hold_out():
    rng = np.random.default_rng(0)
    for share in (0.0, 0.5, 0.9, 1.0):
        folds = rng.integers(-1, 4, (30, 3)).astype(np.int32)
        cells = rng.random((5, 3, 4)) < share
        expected = np.array([[[f >= 0 and own[r, f] for f in folds[:, r]] for own in cells] for r in range(3)])
        np.testing.assert_array_equal(internals.cells.cell_mask(folds, cells), expected)
        every = internals.cells.cell_mask(np.abs(folds), cells)
        np.testing.assert_array_equal(every, [[own[r, np.abs(folds[:, r])] for own in cells] for r in range(3)])


@pytest.mark.parametrize("order", ["C", "F"])
def test_parts_of_predictions_are_all_of_them(monkeypatch, order):
    monkeypatch.setattr(internals.cells, "_PART", 20)
    rng = np.random.default_rng(0)
    data = np.array(rng.random((2, 5, 30)), order=order)
    for done in (rng.random(data.shape) < 0.6, np.broadcast_to(np.True_, data.shape), np.zeros(data.shape, bool)):
        found = np.concatenate([values.ravel() for values in internals.cells.parts(data, done)])
        np.testing.assert_array_equal(np.sort(found), np.sort(data[done]))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("response", ["score", "proba", "value", "pointwise"])
@pytest.mark.parametrize("copy", [False, True])
def test_one_number_that_cannot_be_used_is_found(bad, response, copy):
    y, P = predictions(400, 7)
    P[123, 4] = bad
    with pytest.raises(of.exceptions.InputError, match="1 predictions are NaN or infinite, the first for sample 123"):
        of.from_arrays(y * 1.0, P, response=response, copy=copy)


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
