"""Predictions made elsewhere: arrays, long tables, files, and back."""

from __future__ import annotations

import gzip
import os
import re
import tracemalloc
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_store import assert_same

from conftest import make_predictions
from extras import pd, pl
from internals import convert as convert_module
from internals import files, from_arrays, from_frame, read, to_frame
from internals import tables as tables_module
from outfold import Plan, Predictions, State, compare
from outfold.exceptions import FileError, InputError

RNG = np.random.default_rng(0)
BINARY = np.array([0, 1, 1, 0, 1, 0])
FOLDS = np.array([0, 0, 1, 1, 2, 2])
COLUMNS = {"sample": "sample", "config": "config", "label": "label", "prediction": "prediction"}
FRAMES = pytest.mark.parametrize("backend", ["pandas", "polars"])


# -- shapes and folds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(6,), (6, 2), (6, 2, 3)])
def test_shapes(shape):
    P = RNG.random(shape)
    oof = from_arrays(BINARY, P)
    full = P.reshape(shape + (1,) * (3 - len(shape)))
    assert oof.P.shape == full.shape
    assert np.array_equal(oof.P, full)
    assert oof.configs == tuple(f"config {j}" for j in range(full.shape[1]))
    assert np.all(oof.state == State.DONE)
    assert oof.plan == Plan(folds=1, repeats=full.shape[2], stratify=False, groups=False, kind="given")


def test_class_columns_are_in_sorted_order():
    P = RNG.dirichlet(np.ones(3), (6, 2, 1))
    oof = from_arrays(list("cabcab"), P)
    assert (oof.response, oof.target.classes.tolist()) == ("proba", ["a", "b", "c"])
    assert np.array_equal(oof.P, P)


@pytest.mark.parametrize("P", [np.zeros(()), np.zeros((6, 1, 1, 2, 1))])
def test_other_shapes_are_refused(P):
    with pytest.raises(InputError, match=r"P must have shape \(N,\), \(N, C\), \(N, C, R\) or \(N, C, R, K\); it has"):
        from_arrays(BINARY, P)


@pytest.mark.parametrize(
    ("given_folds", "codes"),
    [
        ([3, 3, 7, 7, 9, 9], [0, 0, 1, 1, 2, 2]),
        ([3, 3, 7, 7, -1, -1], [0, 0, 1, 1, -1, -1]),
        ([1.0, 1.0, 2.0, 2.0, np.nan, -1.0], [0, 0, 1, 1, -1, -1]),
        (["b", "b", "a", "a", "-1", "b"], [1, 1, 0, 0, -1, 1]),
        ([10, 10, 9, 9, None, None], [1, 1, 0, 0, -1, -1]),
        ([True, True, False, False, False, True], [1, 1, 0, 0, 0, 1]),
    ],
)
def test_folds_in_any_labels(given_folds, codes):
    oof = from_arrays(BINARY, RNG.random(6), folds=given_folds)
    assert oof.folds[:, 0].tolist() == codes
    assert np.array_equal(np.isnan(oof.data[0, 0]), np.array(codes) == -1)
    assert oof.plan.folds == max(codes) + 1


def test_folds_of_several_repeats():
    P = RNG.random((6, 1, 2))
    shared = from_arrays(BINARY, P, folds=np.array([[1, 0], [1, 0], [2, 2], [2, 2], [2, 0], [1, 2]]))
    assert shared.folds.T.tolist() == [[1, 1, 2, 2, 2, 1], [0, 0, 2, 2, 0, 2]]
    assert shared.state[0].tolist() == [[0, 1, 1], [1, 0, 1]]  # a fold that a repeat does not have is not done
    distinct = from_arrays(BINARY, P, folds=np.array([[0, 2], [0, 2], [1, 3], [1, 3], [0, 2], [1, 3]]))
    assert distinct.folds.T.tolist() == [[0, 0, 1, 1, 0, 1], [0, 0, 1, 1, 0, 1]]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"folds": [0, 0, 1]}, r"folds must have shape \(6, 2\), samples x repeats; it has \(3,\)\."),
        ({"folds": FOLDS}, r"folds must have shape \(6, 2\)"),
        (
            {"folds": np.stack([FOLDS, np.full(6, -1)], 1)},
            r"none is held out in repeat 1\. Leave that repeat out\.",
        ),
        ({"configs": ["a"]}, r"configs must name the 3 configurations of P; it has 1 names\."),
        ({"configs": "a"}, r"configurations of P; it has 1 names\."),
        ({"configs": ["a", "b", "a"]}, r"configuration names must differ; 'a' occurs more than once"),
        ({"params": [{}]}, r"params must have a dict for each of the 3 configurations of P; it has 1\."),
        (
            {"samples": [1, 2]},
            r"samples must have one entry for each of the 6 samples, shape \(6,\); its shape is \(2,\)\.",
        ),
        ({"samples": [1, 1, 2, 3, 4, 5]}, r"samples must all differ"),
        ({"groups": [1, 2]}, r"groups must have one entry for each of the 6 samples"),
        ({"groups": [1, 2, 3, np.nan, 5, 6]}, r"the group of sample 3 is missing\."),
        ({"groups": ["a", "b", None, "a", "a", "a"]}, r"the group of sample 2 is missing"),
        ({"y": [0, 1]}, r"y must have a label for each of the 6 samples of P; it has 2 labels\."),
        ({"y": None, "response": "proba"}, r"response='proba' needs labels; y is None\."),
        ({"response": "probability"}, r"response must be one of label, score, proba, value, risk, survival, pointwise"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, text):
    with pytest.raises(InputError, match=text):
        from_arrays(**({"y": BINARY, "P": RNG.random((6, 3, 2))} | arguments))


def test_infinite_predictions_are_refused():
    with pytest.raises(InputError, match=r"1 predictions are NaN or infinite, the first for sample d by 'config 0'"):
        from_arrays(BINARY, [0.1, 0.2, 0.3, np.nan, 0.5, 0.6], samples=list("abcdef"))


def test_everything_given_is_kept():
    oof = from_arrays(
        BINARY,
        RNG.normal(size=(6, 2)),
        folds=FOLDS,
        configs=["a", "b"],
        groups=list("xxyyzz"),
        response="score",
        samples=list("ABCDEF"),
        threshold=1,
        params=[{"C": 1}, {"C": 2}],
    )
    assert (oof.configs, oof.params) == (("a", "b"), ({"C": 1}, {"C": 2}))
    assert (oof.groups.tolist(), oof.samples.tolist()) == (list("xxyyzz"), list("ABCDEF"))
    assert (oof.threshold, oof.response) == (1.0, "score")
    assert (oof.plan.kind, oof.plan.folds) == ("given", 3)


def test_the_users_arrays_stay_their_own():
    y, P, groups, samples = np.linspace(0.5, 3, 6), np.ones(6), np.arange(6), np.arange(6)
    oof = from_arrays(y, P, groups=groups, samples=samples, response="value")
    for array in (y, P, groups, samples):
        array[0] = 99
    assert (oof.y[0], oof.data[0, 0, 0], oof.groups[0], oof.samples[0]) == (0.5, 1, 0, 0)


@pytest.mark.parametrize("shape", [(0,), (6, 0), (6, 1, 0)])
def test_empty_predictions_are_refused(shape):
    with pytest.raises(InputError, match=r"P must hold at least one prediction; it is empty, its shape is \(.*\)\."):
        from_arrays(BINARY, np.zeros(shape))


# -- masks ----------------------------------------------------------------------------------------------


def test_masked_cells_are_pending():
    mask = np.zeros((6, 2), dtype=bool)
    mask[2:4, 1] = True
    values = np.where(mask, np.nan, RNG.random((6, 2)))
    oof = from_arrays(BINARY, np.ma.array(values, mask=mask), folds=FOLDS)
    assert oof.state[:, 0].tolist() == [[1, 1, 1], [1, 0, 1]]
    assert oof.response == "proba"
    assert np.array_equal(np.isnan(oof.data[0]), mask.T)


def test_masks_of_classes_and_labels():
    mask = np.zeros((6, 1, 1, 3), dtype=bool)
    mask[4:] = True
    oof = from_arrays(list("abcabc"), np.ma.array(RNG.dirichlet(np.ones(3), (6, 1, 1)), mask=mask), folds=FOLDS)
    assert oof.state.tolist() == [[[1, 1, 0]]]
    words = np.ma.array(["a", "b", "c", "a", "?", "?"], mask=[0, 0, 0, 0, 1, 1])
    oof = from_arrays(list("abcabc"), words, folds=FOLDS)
    assert oof.data[0, 0].tolist() == [0, 1, 2, 0, -1, -1]


def test_partly_masked_cells_are_refused():
    mask = np.zeros((6, 2), dtype=bool)
    mask[3, 1] = True
    with pytest.raises(
        InputError, match=r"'b' lacks a prediction for sample 3 in repeat 0, but has others of the same fold"
    ):
        from_arrays(BINARY, np.ma.array(RNG.random((6, 2)), mask=mask), folds=FOLDS, configs=["a", "b"])
    mask = np.zeros((6, 1, 1, 3), dtype=bool)
    mask[..., 0] = True
    with pytest.raises(InputError, match=r"masks some of a sample's class columns but not all\. Mask whole cells"):
        from_arrays(list("abcabc"), np.ma.array(np.ones((6, 1, 1, 3)), mask=mask))


# -- responses ------------------------------------------------------------------------------------------

SURVIVAL = np.array([(True, 1.0), (False, 2.0), (True, 3.0)], dtype=[("event", bool), ("time", float)])


@pytest.mark.parametrize(
    ("y", "P", "response"),
    [
        (BINARY, [0, 1, 1, 1, 0, 0], "label"),
        (BINARY.astype(bool), BINARY.astype(bool), "label"),
        (list("ababab"), list("aabbab"), "label"),
        (list("ababab"), np.array(list("aabbab"), dtype=object), "label"),
        ([1, 2, 3, 1, 2, 3], [1, 2, 3, 3, 2, 1], "label"),
        (BINARY, [0, 0.1, 0.5, 0.7, 1, 1], "proba"),
        (list("ababab"), [0, 0, 1, 1, 0, 1], "proba"),
        (BINARY, [0, 0.1, 0.5, 0.7, 1, 1.5], "score"),
        (BINARY, [-3, 2, 1, 0, 0, 4], "score"),
        (np.arange(6) + 0.5, [1, 2, 3, 4, 5, 6], "value"),
        (np.tile(SURVIVAL, 2), [1, 2, 3, 4, 5, 6], "risk"),
        (np.array([[1, 1], [2, 0], [3, 1]]).repeat(2, axis=0), [1, 2, 3, 4, 5, 6], "risk"),
        (list("abcabc"), np.full((6, 1, 1, 3), 1 / 3), "proba"),
        (list("abcabc"), np.full((6, 1, 1, 3), 2.0), "score"),
        (None, [0, 1, 1, 0, 1, 1], "pointwise"),
    ],
)
def test_response_is_told_from_labels_and_numbers(y, P, response):
    assert from_arrays(y, P).response == response


def test_response_that_cannot_be_told():
    with pytest.raises(InputError, match=r"y has 3 classes and the predictions are numbers .*response='value'"):
        from_arrays([1, 2, 3], [0.5, 1.5, 2.5])


def test_whole_numbers_as_values():
    oof = from_arrays([1, 2, 3], [1, 2, 4], response="value")
    assert (oof.target.task, oof.y.dtype) == ("regression", np.float64)


def test_pointwise_goes_without_labels():
    oof = from_arrays(["x"] * 6, [True, False] * 3, response="pointwise")
    assert oof.target.task == "pointwise"
    assert oof.data.tolist() == [[[1, 0, 1, 0, 1, 0]]]


def test_labels_are_codes_and_unknown_ones_are_named():
    oof = from_arrays([10.0, 20.0, 10.0], [20, 10, 10], response="label")
    assert (oof.data.tolist(), oof.data.dtype) == ([[[1, 0, 0]]], np.intp)
    with pytest.raises(InputError, match=r"P must hold labels of y, which are 'a', 'b'; got 'z'\."):
        from_arrays(["a", "b", "a"], ["a", "z", "b"])
    with pytest.raises(InputError, match=r"P must hold labels of y, which are 1, 2; got 3\.0\."):
        from_arrays([1, 2, 1], [1, 2, 3], response="label")
    with pytest.raises(InputError, match=r"P must hold labels of y, which are 'a', 'b'; got 0\.5"):
        from_arrays(["a", "b", "a"], [0.5, 1, 2], response="label")


def test_positive_class():
    P = np.array([0.1, 0.9, 0.8, 0.2])
    y = ["no", "yes", "yes", "no"]
    assert from_arrays(y, P).target.classes.tolist() == ["no", "yes"]
    other = from_arrays(y, P, positive="no")
    assert other.target.classes.tolist() == ["yes", "no"]
    assert other.data[0, 0].tolist() == P.tolist()
    labels = from_arrays(y, ["no", "no", "yes", "yes"], positive="no")
    assert labels.data[0, 0].tolist() == [1, 1, 0, 0]


def test_two_probability_columns_become_one():
    columns = np.array([[0.9, 0.1], [0.3, 0.7], [0.4, 0.6]])[:, None, None, :]
    y = ["no", "yes", "yes"]
    assert from_arrays(y, columns).data.tolist() == [[[0.1, 0.7, 0.6]]]
    assert from_arrays(y, columns, positive="no").data.tolist() == [[[0.9, 0.3, 0.4]]]
    with pytest.raises(InputError, match=r"the two probabilities of a sample must sum to 1"):
        from_arrays(y, columns * 0.5, response="proba")
    with pytest.raises(InputError, match=r"must have one score for each sample"):
        from_arrays(y, columns * 3)


@pytest.mark.parametrize(
    ("y", "P", "response", "text"),
    [
        (
            list("abc"),
            np.eye(3),
            "proba",
            r"one column for each of the 3 classes, and they sum to 1. .* shape \(N, 1, 1, 3\)",
        ),
        (list("abc"), np.eye(3)[:, 0], "score", r"'score' with 3 classes needs one column for each"),
        (
            list("abc"),
            np.full((3, 1, 1, 2), 0.5),
            "proba",
            r"a column for each of the 3 classes of y; it has 2 columns",
        ),
        (
            list("abc"),
            np.full((3, 1, 1, 3), 0.5),
            "label",
            r"response='label' needs one label for each sample; P has 3",
        ),
        (
            [1.5, 2, 3],
            np.full((3, 1, 1, 3), 0.5),
            "value",
            r"response='value' needs one number for each sample; P has 3",
        ),
        (list("aba"), list("aba"), "proba", r"response='proba' needs numbers; P holds text such as 'a'"),
        ([1.5, 2, 3], list("aba"), None, r"response='value' needs numbers; P holds text such as 'a'"),
        (list("aba"), [0.1, 0.2, 1.3], "proba", r"probabilities must lie in \[0, 1\]"),
        ([1, 2, 3], [1, 2, 3], "risk", r"y must be records with one bool field \(event\)"),
        (
            list("aba"),
            np.array(["2020-01-01"] * 3, dtype="datetime64[D]").reshape(3),
            "score",
            r"predictions must be numbers or labels; these are of type datetime64",
        ),
    ],
)
def test_responses_that_do_not_fit(y, P, response, text):
    with pytest.raises(InputError, match=text):
        from_arrays(y, P, response=response)


# -- long tables ----------------------------------------------------------------------------------------


def frame_of(backend: str, **columns):
    base = {
        "sample": [0, 1, 2, 3] * 2,
        "config": ["a"] * 4 + ["b"] * 4,
        "fold": [0, 0, 1, 1] * 2,
        "label": [0, 1, 1, 0] * 2,
        "prediction": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
    }
    return (pd if backend == "pandas" else pl).DataFrame(base | columns)


@FRAMES
def test_table(backend):
    oof = from_frame(frame_of(backend), fold="fold", **COLUMNS)
    assert oof.configs == ("a", "b")
    assert oof.data.tolist() == [[[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]]]
    assert oof.folds.T.tolist() == [[0, 0, 1, 1]]
    assert oof.y.tolist() == [0, 1, 1, 0]


@FRAMES
def test_other_names_and_no_config(backend):
    frame = frame_of(backend)[:4]
    frame.columns = ["patient", "model", "split", "outcome", "p"]
    oof = from_frame(frame, sample="patient", config=None, label="outcome", prediction="p")
    assert (oof.configs, oof.plan.kind, oof.n_folds) == (("config 0",), "given", 1)
    assert oof.data.tolist() == [[[0.1, 0.2, 0.3, 0.4]]]


KINDS = st.sampled_from(["roc_auc", "mse", "concordance", "roc_auc_ovr", "mean"])


@given(KINDS, st.integers(1, 3), st.sampled_from(["pandas", "polars"]), st.integers(0, 99), st.booleans())
def test_rows_in_any_order_are_the_same_samples_in_the_order_they_come(metric, repeats, backend, seed, grouped):
    oof = make_predictions(metric, n=24, c=3, r=repeats, folds=4, seed=seed)
    if grouped:
        oof = replace(oof, groups=np.array([f"g{i // 2}" for i in range(24)]))
    frame = to_frame(oof, backend)
    rows = np.random.default_rng(seed).permutation(len(frame))
    shuffled = frame.iloc[rows] if backend == "pandas" else frame[rows]
    found = from_frame(shuffled, **columns_of(frame), response=oof.response)
    order = np.array(list(dict.fromkeys(shuffled["sample"].to_list())))
    same = replace(
        oof, target=oof.target.take(order), data=oof.data[:, :, order], folds=oof.folds[order], samples=order
    )
    assert found.fingerprint == same.fingerprint
    assert_same(found.sel(config=oof.configs), same, but=("groups",))
    assert found.groups is None if not grouped else found.groups.tolist() == oof.groups[order].tolist()


def columns_of(frame):
    return files._default_columns(list(frame.columns), {})


@given(KINDS, st.sampled_from(["pandas", "polars"]), st.integers(0, 99))
def test_tables_there_and_back_with_missing_cells(metric, backend, seed):
    oof = some_pending(make_predictions(metric, n=20, c=3, r=2, folds=4, seed=seed), seed)
    frame = to_frame(oof, backend)
    assert len(frame) == 20 * 3 * 2 - int(np.isnan(oof.data.reshape(2, 3, 20, -1)[..., 0]).sum())
    assert_same(from_frame(frame, **columns_of(frame), response=oof.response), oof)


def some_pending(oof: Predictions, seed: int) -> Predictions:
    """The same without some of its cells; the first configuration stays complete."""
    state = oof.state * (np.random.default_rng(seed).random(oof.state.shape) < 0.7)
    state[0] = State.DONE
    done = convert_module.cell_mask(oof.folds, state == State.DONE)
    data = oof.data.copy()
    data[~done] = np.nan
    return replace(oof, data=data, state=state.astype(np.uint8))


@FRAMES
@pytest.mark.parametrize("labels", [["a", "b", "c"], [1, 2, 11], [False, True], [1.5, 2.5, 3.5]])
def test_labels_there_and_back(backend, labels):
    y = np.array(labels * 4)[:8]
    P = np.stack([y, y[::-1]], axis=1)
    oof = from_arrays(y if y.dtype.kind != "f" else y.astype("U3"), P.astype("U3") if y.dtype.kind == "f" else P)
    frame = to_frame(oof, backend)
    assert oof.response == "label"
    assert frame["prediction"].to_list() == [*oof.y.tolist(), *oof.y.tolist()[::-1]]
    assert_same(from_frame(frame, **columns_of(frame)), oof)


@FRAMES
@pytest.mark.parametrize("classes", [["no", "yes"], [0, 1], [False, True]])
def test_the_labels_of_models_there_and_back(backend, classes):
    y, p = np.array(classes)[[0, 1, 1, 0]], [0.5, 0.5, 0.7, 0.1]
    first = from_arrays(y, p, folds=[0, 0, 1, 1], response="proba")
    oof = replace(first, labels=np.array([[[1, 0, 0, 0]]]))
    frame = to_frame(oof, backend)
    assert frame["predicted_label"].to_list() == np.array(classes)[[1, 0, 0, 0]].tolist()
    assert_same(from_frame(frame, **columns_of(frame), response="proba"), oof)
    assert from_frame(frame, **columns_of(frame), response="proba", predicted_label=None).labels is None
    other = {**columns_of(frame), "prediction": "predicted_label"}
    np.testing.assert_array_equal(from_frame(frame, **other).data, oof.labels)
    cut = from_arrays(y, p, response="score", threshold=0.6)
    frame = to_frame(cut, backend)
    again = from_frame(frame, **columns_of(frame), response="score")
    np.testing.assert_array_equal(again.respond("label"), cut.respond("label"))
    assert "predicted_label" not in to_frame(first, backend).columns
    with pytest.raises(InputError, match="predicted_label must hold labels of y"):
        from_frame(frame, **columns_of(frame), response="score", predicted_label="sample")


@FRAMES
def test_only_done_cells_and_named_columns(backend):
    oof = from_arrays(["x", "y", "z"] * 2, RNG.dirichlet(np.ones(3), (6, 1, 1)), folds=FOLDS, groups=list("aabbcc"))
    state = np.array([[[State.DONE, State.FAILED, State.DROPPED]]], dtype=np.uint8)
    data = np.where(np.arange(6)[:, None] < 2, oof.data, np.nan)
    frame = to_frame(replace(oof, state=state, data=data), backend)
    assert list(frame.columns) == [
        *("sample", "config", "repeat", "fold", "label"),
        *("prediction_x", "prediction_y", "prediction_z", "group"),
    ]
    assert frame["sample"].to_list() == [0, 1]
    survival = to_frame(make_predictions("concordance"), backend)
    assert list(survival.columns) == ["sample", "config", "repeat", "fold", "time", "event", "prediction"]
    assert "label" not in to_frame(make_predictions("mean"), backend).columns


@FRAMES
def test_class_columns_by_name(backend):
    P = RNG.dirichlet(np.ones(3), 6)
    base = {"sample": np.arange(6), "label": [1, 11, 2] * 2}
    frame = (pd if backend == "pandas" else pl).DataFrame(base | {"p11": P[:, 1], "p1": P[:, 0], "p2": P[:, 2]})
    arguments = {"sample": "sample", "config": None, "label": "label"}
    expected = P[:, [0, 2, 1]]  # the classes in sorted order: 1, 2, 11
    assert np.array_equal(from_frame(frame, prediction=["p11", "p1", "p2"], **arguments).data[0, 0], expected)
    frame.columns = ["sample", "label", "first", "second", "third"]
    with pytest.raises(InputError, match=r"names of the classes, 1, 2, 11; the columns are first, second, third"):
        from_frame(frame, prediction=["first", "second", "third"], **arguments)
    with pytest.raises(InputError, match=r"a column for each of the 3 classes of y; it has 2 columns"):
        from_frame(frame, prediction=["first", "second"], response="proba", **arguments)
    with pytest.raises(InputError, match=r"at least one column; got \[\]"):
        from_frame(frame, prediction=[], **arguments)


@FRAMES
def test_two_class_columns_and_positive(backend):
    frame = frame_of(backend, yes=[0.25] * 8, no=[0.75] * 8, label=["no", "yes", "yes", "no"] * 2)
    columns = COLUMNS | {"prediction": ["yes", "no"]}
    assert np.all(from_frame(frame, **columns).data == 0.25)
    assert np.all(from_frame(frame, positive="no", **columns).data == 0.75)


@FRAMES
def test_survival_pair(backend):
    frame = frame_of(backend, time=[1.0, 2, 3, 4] * 2, dead=[1, 0, 1, 0] * 2)
    oof = from_frame(frame, **COLUMNS | {"label": ("time", "dead")})
    assert (oof.response, oof.target.event.tolist()) == ("risk", [True, False, True, False])
    words = frame_of(backend, time=[1.0, 2, 3, 4] * 2, dead=["y", "n", "y", "n"] * 2)
    with pytest.raises(InputError, match=r"a time, and an event of 0 or 1; got \('time', 'dead'\)"):
        from_frame(words, **COLUMNS | {"label": ("time", "dead")})
    with pytest.raises(InputError, match=r"label must be a column or a pair of columns"):
        from_frame(frame, **COLUMNS | {"label": ("time", "dead", "x")})


@FRAMES
@pytest.mark.parametrize(
    ("changed", "arguments", "text"),
    [
        (
            {},
            {"prediction": "p"},
            r"prediction must be one of the columns sample, config, fold, label, prediction; got 'p'",
        ),
        ({}, {"group": "ward"}, r"group must be one of the columns .*; got 'ward'"),
        (
            {"sample": [0, 1, 2, 2] * 2},
            {},
            r"sample 2, configuration 'a' has 2 rows; one row for each is needed\..*apart \(config= or repeat=\)",
        ),
        ({}, {"config": None}, r"sample 0 has 2 rows"),
        (
            {"label": [0, 1, 1, 0, 0, 1, 0, 0]},
            {},
            r"column 'label' must be the same in all rows of a sample; sample 2 has",
        ),
        ({"g": list("aabbaabc")}, {"group": "g"}, r"column 'g' must be the same in all rows of a sample; sample 3"),
        (
            {"fold": [0, 0, 1, 1, 0, 1, 1, 1]},
            {"fold": "fold"},
            r"'fold' must be the same in all rows of a sample and repeat; s",
        ),
        (
            {"sample": [0, 1, 2, 3, 0, 1, 2, 4]},
            {"fold": None, "label": None},
            r"'a' lacks a prediction for sample 4 in repeat",
        ),
        ({"config": ["a"] * 4 + [None] * 4}, {}, r"column 'config' has no value in row 4; every row needs one"),
        ({"label": [0.0, 1.0, None, 0.0] * 2}, {}, r"column 'label' has no value in row 2"),
        (
            {"prediction": [0.1, 0.2, None, 0.4] * 2},
            {},
            r"2 predictions are NaN or infinite, the first for sample 2 by 'a'",
        ),
        (
            {"prediction": ["x", "y"] * 4},
            {"prediction": ["prediction", "fold"]},
            r"needs numbers in all of them; one of them holds text",
        ),
    ],
)
def test_tables_that_cannot_be_used(backend, changed, arguments, text):
    with pytest.raises(InputError, match=text):
        from_frame(frame_of(backend, **changed), **COLUMNS | arguments)


def test_what_is_no_table():
    with pytest.raises(
        InputError, match=r"frame must be a data frame of pandas or polars, or a table of pyarrow; got dict\."
    ):
        from_frame({"sample": [1]}, **COLUMNS)
    with pytest.raises(InputError, match=r"the table has no rows"):
        from_frame(frame_of("pandas")[:0], **COLUMNS)


@FRAMES
def test_samples_that_a_repeat_does_not_hold_out(backend):
    columns = {
        "sample": [0, 1, 2, 0, 1, 3],
        "repeat": [5, 5, 5, 8, 8, 8],
        "fold": [0, 0, 1, 1, 0, -1],
        "label": [0, 1, 1, 0, 1, 0],
        "config": ["a"] * 6,
        "prediction": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    }
    frame = (pd if backend == "pandas" else pl).DataFrame(columns)
    oof = from_frame(frame, fold="fold", repeat="repeat", **COLUMNS)
    assert oof.folds.T.tolist() == [[0, 0, 1, -1], [1, 0, -1, -1]]
    assert np.nan_to_num(oof.data[:, 0]).tolist() == [[0.1, 0.2, 0.3, 0], [0.4, 0.5, 0, 0]]


@FRAMES
def test_text_and_categories(backend):
    names = ["p10", "p9", "p1", "p2"] * 2
    frame = frame_of(backend, sample=names, config=["b"] * 4 + ["a"] * 4, label=["u", "v", "v", "u"] * 2)
    plain = from_frame(frame, fold="fold", **COLUMNS)
    assert plain.samples.tolist() == ["p10", "p9", "p1", "p2"]
    assert plain.configs == ("b", "a")
    if backend == "pandas":
        other = frame.astype({"sample": object, "config": "category", "label": "category"})
    else:
        other = frame.with_columns(pl.col("sample", "config", "label").cast(pl.Categorical))
    assert_same(from_frame(other, fold="fold", **COLUMNS), plain)


@FRAMES
def test_an_e_process_goes_through_the_rows_of_a_table_in_their_order(backend):
    better = np.array([1] * 12 + [0] * 3)  # ahead from the first row on, behind at the end
    names = [f"q{i}" for i in range(15)]
    columns = {"sample": names * 2, "config": ["a"] * 15 + ["b"] * 15, "prediction": [*better, *(1 - better)]}
    frame = (pd if backend == "pandas" else pl).DataFrame(columns)
    oof = from_frame(frame, sample="sample", config="config", label=None, prediction="prediction")
    arrays = from_arrays(None, np.stack([better, 1 - better], axis=1).astype(float), configs=["a", "b"])
    assert oof.samples.tolist() == names
    found, expected = (compare.e_process(p, "mean", "a", "b", bounds=(-1, 1)) for p in (oof, arrays))
    assert found.evalues.tolist() == expected.evalues.tolist()


# -- files ----------------------------------------------------------------------------------------------


@pytest.fixture(params=["pandas", "polars"])
def only_engine(request, monkeypatch):
    """As if only one of the two were installed."""
    monkeypatch.setattr(tables_module, "_ENGINES", ("not_installed", request.param))


@pytest.mark.parametrize("metric", ["roc_auc", "mse", "concordance", "roc_auc_ovr", "mean"])
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.usefixtures("only_engine")
def test_files_are_read_back_without_arguments(tmp_path, metric, ending):
    oof = replace(make_predictions(metric, r=2), groups=np.arange(40) // 3)
    frame, path = to_frame(oof, "pandas"), tmp_path / f"x{ending}"
    frame.to_parquet(path) if ending == ".parquet" else frame.to_csv(path, index=False)
    assert_same(read(path), oof)


@pytest.mark.parametrize("ending", [".CSV", ".CSV.GZ"])
def test_endings_in_capitals(tmp_path, ending):
    path, text = tmp_path / f"X{ending}", b"sample,label,prediction\n1,0,0.25\n2,1,0.75\n"
    # The head of a compressed file has its time, here two semicolons and the end of a line.
    path.write_bytes(gzip.compress(text, mtime=0x0A3B3B) if ending.endswith("GZ") else text)
    assert read(path).data[0, 0].tolist() == [0.25, 0.75]


def test_text_in_files(tmp_path):
    y = ["NA", "null", "NA", "null"]
    oof = from_arrays(y, ["NA", "NA", "null", "null"], samples=["a", "b", "c", "d"], configs="None")
    to_frame(oof).to_csv(tmp_path / "x.csv", index=False)
    assert_same(read(tmp_path / "x.csv"), oof)


def test_oof_files(tmp_path):
    oof = make_predictions("roc_auc")
    oof.save(tmp_path / "x.oof")
    assert_same(read(tmp_path / "x.oof"), oof)
    with pytest.raises(InputError, match=r"x.oof is an .oof file, which needs no further arguments; got label\."):
        read(tmp_path / "x.oof", label="y")


def test_columns_are_named_by_arguments(tmp_path):
    frame = to_frame(make_predictions("roc_auc")).rename(columns={"label": "y", "config": "model"})
    frame.to_csv(tmp_path / "x.csv", index=False)
    assert_same(read(tmp_path / "x.csv", label="y", config="model"), make_predictions("roc_auc"))
    with pytest.raises(InputError, match=r"x.csv has no column 'config'; its columns are sample, model, repeat"):
        read(tmp_path / "x.csv")
    # Without labels these can only be per-sample scores; a metric of labels says what is lacking.
    scores = read(tmp_path / "x.csv", config="model")
    with pytest.raises(InputError, match=r"roc_auc is for binary tasks; there are no labels \(label\)"):
        scores.scores("roc_auc")
    assert read(tmp_path / "x.csv", config="model", response="pointwise").target.task == "pointwise"


def test_a_column_of_missing_predictions(tmp_path):
    (tmp_path / "x.csv").write_text("sample,config,label,prediction\n1,a,0,0.5\n2,a,1,NA\n")
    with pytest.raises(InputError, match=r"P must hold labels of y, which are 0, 1; got '0.5'"):
        read(tmp_path / "x.csv")
    with pytest.raises(InputError, match=r"response='proba' needs numbers; P holds text such as"):
        read(tmp_path / "x.csv", response="proba")


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(FileError, match=r"there is no file .*x.csv\.(?m:$)"):
        read(tmp_path / "x.csv")
    os.mkdir(tmp_path / "d.csv")
    with pytest.raises(FileError, match=r"d.csv is a folder; a file is needed\.(?m:$)"):
        read(tmp_path / "d.csv")
    (tmp_path / "x.txt").write_text("a")
    with pytest.raises(FileError, match=r"^x.txt must be a .csv, .csv.gz, .parquet or .oof file\.(?m:$)"):
        read(tmp_path / "x.txt")
    for name, content in {"x.parquet": b"no", "e.csv": b"", "x.csv.gz": b"no", "b.csv": b"a,b\n\xff\xfe,1\n"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(
            FileError,
            match=rf"^{re.escape(name)} could not be read as a table \(.+\)\.( Save it with .* UTF-8\.)?(?m:$)",
        ):
            read(tmp_path / name)
    monkeypatch.setattr(tables_module, "_ENGINES", ("not_installed",))
    with pytest.raises(FileError, match=r"needs pandas and pyarrow, or polars\. Run: pip install 'outfold\[frames\]'"):
        read(tmp_path / "e.csv")


def test_gzip_is_really_gzip(tmp_path):
    to_frame(make_predictions("mse")).to_csv(tmp_path / "x.csv.gz", index=False)
    assert gzip.decompress((tmp_path / "x.csv.gz").read_bytes()).startswith(
        b"sample,config,repeat,fold,label,prediction"
    )


@pytest.mark.parametrize("labels", [[False, True], [0.0, 1.0]])
def test_class_columns_are_matched_by_any_spelling(labels):
    frame = pd.DataFrame(
        {"s": range(4), "y": labels * 2, "prediction_true": [0.1, 0.9] * 2, "prediction_FALSE": [0.9, 0.1] * 2}
    )
    if labels[0] == 0.0 and not isinstance(labels[0], bool):
        frame.columns = ["s", "y", "prediction_1", "prediction_0"]
    oof = from_frame(frame, sample="s", config=None, label="y", prediction=list(frame.columns[2:]))
    assert oof.data[0, 0].tolist() == [0.1, 0.9] * 2


def test_probabilities_of_one_configuration_are_not_taken_for_several():
    p = RNG.random(10)
    with pytest.raises(InputError, match=r"P\[:, None, None, :\]"):
        from_arrays([0, 1] * 5, np.stack([1 - p, p], axis=1))
    assert from_arrays([0, 1] * 5, np.stack([1 - p, p], axis=1), configs=["bad", "good"]).n_configs == 2
    with pytest.raises(InputError, match=r"one column for each of the 3 classes"):
        from_arrays([0, 1, 2] * 3, np.eye(3)[[0, 1, 2] * 3])


def test_frames_name_their_configurations():
    frame = pd.DataFrame({"ridge": [0.1, 0.9], "lasso": [0.3, 0.8]})
    assert from_arrays([0, 1], frame).configs == ("ridge", "lasso")


def test_large_whole_numbers_stay_apart():
    big = np.array([2**53, 2**53 + 1] * 5)
    assert from_arrays(big, big).scores("accuracy")[0, 0, 0] == 1


def test_threshold_cuts_probabilities_too():
    oof = from_arrays([0, 1, 1, 0], [0.6, 0.95, 0.8, 0.2], threshold=0.9)
    assert oof.respond("label")[0, 0].tolist() == [0, 1, 0, 0]
    with pytest.raises(InputError, match="threshold cuts scores or probabilities of two classes"):
        from_arrays([0.5, 1.5], [0.1, 0.2], threshold=0.5)


def test_masked_labels_folds_and_groups_are_refused():
    y, P = np.ma.array([0, 1, 1, 0], mask=[0, 0, 0, 1]), [0.1, 0.2, 0.3, 0.4]
    with pytest.raises(InputError, match="1 label is masked"):
        from_arrays(y, P)
    masked = np.ma.array([0, 0, 1, 1], mask=[1, 0, 0, 0])
    with pytest.raises(InputError, match="folds must not be masked"):
        from_arrays([0, 1, 1, 0], P, folds=masked)
    with pytest.raises(InputError, match="groups must have an entry for each sample; some are masked"):
        from_arrays([0, 1, 1, 0], P, groups=masked)


def test_two_columns_of_one_name():
    frame = pd.DataFrame([[0, 0, 0.1, 0.2]], columns=["s", "y", "p", "p"])
    with pytest.raises(InputError, match="two columns of the table have the same name"):
        from_frame(frame, sample="s", config=None, label="y", prediction="p")


def test_predictions_are_copied_once():
    """Beside the copy that is kept, checks look at a part at a time."""
    n, c = 4000, 400
    P = np.random.default_rng(0).random((n, c))
    tracemalloc.start()
    from_arrays(np.arange(n) % 2, P, folds=np.arange(n) % 10)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2.4 * P.nbytes


def test_a_name_as_long_as_a_file_is_refused():
    names = ["x" * 200_000, *(f"s{i}" for i in range(99))]
    table = pd.DataFrame({"sample": names, "label": np.arange(100) % 2, "prediction": np.linspace(0, 1, 100)})
    with pytest.raises(InputError, match=r"may have 10,000 characters; 'xxxxxxxxxxxxxxxxxxxx'\.\.\. has 200,000"):
        from_frame(table, sample="sample", config=None, label="label", prediction="prediction")


def test_groups_that_are_bytes_without_text():
    groups = np.array([b"\xff", b"\xff", b"a", b"a"], dtype=object)
    oof = from_arrays([0, 1, 0, 1], [0.1, 0.8, 0.6, 0.3], groups=groups)
    assert ["groups", "2"] in [line.split() for line in str(oof).splitlines()]
    assert np.unique(oof.group_codes, return_counts=True)[1].tolist() == [2, 2]


def test_decimals_are_numbers(tmp_path):
    """Databases give their decimal columns as such."""
    table = {"sample": [1, 2], "config": ["a", "a"], "label": [0, 1], "prediction": [Decimal("0.25"), Decimal("0.75")]}
    pl.DataFrame(table).write_parquet(tmp_path / "x.parquet")
    columns = {name: name for name in table}
    for oof in (from_frame(pl.DataFrame(table), **columns), from_frame(pd.DataFrame(table), **columns)):
        assert (oof.response, oof.data[0, 0].tolist()) == ("proba", [0.25, 0.75])
    assert read(tmp_path / "x.parquet").data[0, 0].tolist() == [0.25, 0.75]


def test_a_lazy_frame_must_be_collected_first():
    lazy = pl.DataFrame({"sample": [1, 2]}).lazy()
    with pytest.raises(InputError, match=r"got LazyFrame\. Collect it first: frame\.collect\(\)\."):
        from_frame(lazy, sample="sample", config=None, label=None, prediction="sample")


def test_columns_whose_names_are_no_text_are_shown():
    table = pd.DataFrame([[1, 0.5]], columns=pd.MultiIndex.from_product([["x"], ["sample", "p"]]))
    with pytest.raises(
        InputError, match=r"sample must be one of the columns \('x', 'sample'\), \('x', 'p'\); got 'sample'"
    ):
        from_frame(table, sample="sample", config=None, label=None, prediction="p")
