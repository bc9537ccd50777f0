"""The artifact: what it holds, what it refuses, what it tells."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score

import outfold as of
from conftest import make_predictions
from outfold import State
from outfold.exceptions import InputError, NeedError


def test_shapes_and_names():
    oof = make_predictions("roc_auc", n=40, c=7, r=2, folds=5)
    assert (oof.n_samples, oof.n_configs, oof.n_repeats, oof.n_folds) == (40, 7, 2, 5)
    assert oof.P.shape == (40, 7, 2)
    assert oof.completeness == 1
    assert np.array_equal(oof.P[3, 2, 1], oof.data[1, 2, 3])


def test_immutable():
    oof = make_predictions("roc_auc")
    with pytest.raises(dataclasses.FrozenInstanceError):
        oof.response = "label"
    for array in (oof.P, oof.folds, oof.state, oof.target.y):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(TypeError):
        oof.provenance["seed"] = 1


def test_the_users_array_stays_writable():
    y, P = np.array([0, 1, 0, 1]), np.array([0.2, 0.8, 0.4, 0.6])
    oof = of.from_arrays(y, P, response="proba")
    P[0] = 0.5
    y[0] = 1
    assert oof.data.ravel().tolist() == [0.2, 0.8, 0.4, 0.6]
    assert oof.target.y.tolist() == [0, 1, 0, 1]


def test_scores_of_every_cell():
    oof = make_predictions("roc_auc", n=60, r=2, folds=3)
    scores = oof.scores("roc_auc")
    assert scores.shape == (7, 2, 3)
    rows = oof.folds[:, 1] == 2
    assert scores[4, 1, 2] == pytest.approx(roc_auc_score(oof.y[rows], oof.P[rows, 4, 1]), abs=1e-12)


def test_leaderboard_pooled_and_by_fold():
    oof = make_predictions("accuracy", n=41, folds=4)
    pooled, by_fold = oof.leaderboard("accuracy"), oof.leaderboard("accuracy", aggregate="fold")
    own = {c: accuracy_score(oof.y, oof.P[:, j, 0] > 0.5) for j, c in enumerate(oof.configs)}
    assert dict(zip(pooled.configs, pooled.scores, strict=True)) == pytest.approx(own, abs=1e-12)
    assert list(pooled.scores) == sorted(pooled.scores, reverse=True)
    folds = oof.scores("accuracy")[:, 0]
    first = oof.config_index(by_fold.configs[0])
    assert by_fold.scores[0] == pytest.approx(folds[first].mean(), abs=1e-12)
    assert by_fold.se[0] == pytest.approx(folds[first].std(ddof=1) / 2, abs=1e-12)
    assert "config" in str(pooled)
    pytest.importorskip("pandas", reason="a frame needs pandas")
    assert pooled.to_frame()["accuracy"][0] == pooled.scores[0]


def test_scores_that_differ_by_rounding_share_a_rank_and_keep_the_order():
    # 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1: the means of `c` and `b` differ in the last bit.
    values = np.array([[0.9, 0.1, 0.3, 0.5], [0.9, 0.2, 0.2, 0.5], [0.9, 0.3, 0.1, 0.6]])
    sums = values.sum(axis=0)
    assert sums[1] != sums[2]
    for order in ([0, 1, 2, 3], [2, 3, 1, 0], [1, 2, 0, 3]):
        names = [["a", "b", "c", "d"][j] for j in order]
        board = of.from_arrays(None, values[:, order], configs=names, response="pointwise").leaderboard("mean")
        assert board.configs == ("a", "d", *(name for name in names if name in "bc"))
        assert board.ranks.tolist() == [1, 2, 3, 3]
        assert [line.split()[:2] for line in str(board).splitlines()[2:6]] == [
            ["1", "a"],
            ["2", "d"],
            *(["3", name] for name in names if name in "bc"),
        ]
        assert [row["rank"] for row in board.to_dict()["configurations"]] == [1, 2, 3, 3]


def test_missing_cells_are_states():
    oof = make_predictions("accuracy", folds=4)
    state = np.array(oof.state)
    state[0, 0, 1], state[1, 0, 2] = State.FAILED, State.DROPPED
    data = np.array(oof.data)
    data[0, 0, oof.folds[:, 0] == 1] = np.nan
    data[0, 1, oof.folds[:, 0] == 2] = np.nan
    part = dataclasses.replace(oof, data=data, state=state)
    board = part.leaderboard("accuracy")
    assert board.left_out == {"config 0": "failed", "config 1": "dropped"}
    assert np.isnan(part.scores("accuracy")[0, 0, 1])
    result = of.estimate.bbc(part, "accuracy", n_resamples=50)
    assert result.n_configs == 5
    assert {n.code for n in result.notes} == {"OF205", "OF207"}
    assert "1 dropped, 1 failed of 28" in str(part)


def test_nan_in_a_done_cell_is_refused():
    P = np.random.default_rng(0).random((10, 3))
    P[4, 1] = np.nan
    with pytest.raises(InputError, match="1 predictions are NaN or infinite, the first for sample 4 by 'config 1'"):
        of.from_arrays([0, 1] * 5, P, response="proba")


def test_sel_keeps_order_and_blocks():
    oof = make_predictions("accuracy", r=3)
    part = oof.sel(config=["config 3", 1], repeat=[2, 0])
    assert part.configs == ("config 3", "config 1")
    assert np.array_equal(part.P, oof.P[:, [3, 1]][:, :, [2, 0]])
    assert np.array_equal(part.folds, oof.folds[:, [2, 0]])
    assert oof.sel(config=0).n_configs == 1
    with pytest.raises(InputError, match=r"repeat must be in 0\.\.2"):
        oof.sel(repeat=3)
    with pytest.raises(InputError, match="no configuration 'config'"):
        oof.sel(config="config")
    with pytest.raises(InputError, match="at least one configuration"):
        oof.sel(config=[])


def test_labels_come_from_probabilities_and_known_thresholds():
    oof = of.from_arrays([0, 1, 0, 1], [0.5, 0.6, 0.4, 0.1], response="proba")
    assert oof.respond("label")[0, 0].tolist() == [0, 1, 0, 0]
    scores = of.from_arrays([0, 1, 0, 1], [-1.0, 2.0, 0.0, -0.5], response="score")
    with pytest.raises(NeedError, match="accuracy needs class labels; these predictions are scores"):
        scores.scores("accuracy")
    cut = of.from_arrays([0, 1, 0, 1], [-1.0, 2.0, 0.0, -0.5], response="score", threshold=0.0)
    assert cut.scores("accuracy")[0, 0, 0] == 0.75


def test_text_tells_a_person_what_is_inside():
    oof = of.from_arrays(["ill"] * 6 + ["well"] * 14, np.linspace(0, 1, 20), folds=np.arange(20) % 4, response="proba")
    text = str(oof)
    for part in ("20 (2 classes, ill: 6, well: 14)", "1 (config 0)", "4-fold", "class probabilities", "all 4 done"):
        assert part in text
    assert oof.fingerprint in text
    assert oof.fingerprint in repr(oof)
    assert "<table>" in oof._repr_html_()


def test_text_tells_why_cells_failed():
    oof = make_predictions("accuracy", folds=4)
    state, data = np.array(oof.state), np.array(oof.data)
    state[0], data[0, 0] = State.FAILED, np.nan
    messages = {("config 0", 0, k): "ValueError: bad" if k else "KeyError: 1" for k in range(4)}
    part = dataclasses.replace(oof, data=data, state=state, messages=messages)
    assert "ValueError: bad (3 of 4 failed cells)" in str(part)


def test_html_escapes_what_the_user_typed():
    oof = of.from_arrays([0, 1], [0.1, 0.9], configs=["<script>alert(1)</script>"], response="proba")
    assert "<script>" not in oof._repr_html_()
    assert "<script>" not in oof.leaderboard("accuracy")._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [0, 1, 1], "P": [0.1, 0.2]}, "3 labels"),
        ({"y": [0, 1], "P": [0.1, np.inf], "response": "proba"}, "NaN or infinite"),
        ({"y": [1, 1], "P": [0.1, 0.2]}, "one class only .* For per-sample scores use response='pointwise'"),
        ({"y": [0, 1], "P": [[0.1, 0.2], [0.1, 0.2]], "configs": ["a", "a"]}, "'a' occurs more than once"),
        ({"y": [0, 1], "P": [0.1, 1.2], "response": "proba"}, r"must lie in \[0, 1\]"),
        ({"y": [0, 1], "P": [0.1, 0.2], "response": "odds"}, "response must be one of"),
        ({"y": [0, 1], "P": [0.1, 0.2], "response": "proba", "samples": ["x", "x"]}, "samples must all differ"),
        ({"y": [0, 1], "P": [0.1, 0.2], "response": "proba", "groups": [1]}, "groups must"),
    ],
)
def test_bad_input_says_what_to_do(arguments, message):
    with pytest.raises(InputError, match=message):
        of.from_arrays(**arguments)


def test_predictions_can_be_pickled_and_copied():
    oof = make_predictions("roc_auc")
    for again in (pickle.loads(pickle.dumps(oof)), copy.deepcopy(oof)):
        assert again.fingerprint == oof.fingerprint
        assert again.data.tobytes() == oof.data.tobytes()
        assert not again.data.flags.writeable
        with pytest.raises(TypeError):
            again.provenance["seed"] = 1


@pytest.mark.parametrize("wanted", ["logit(C=1.0)", "logit(C=1.)", "logit(C=1e0)"])
def test_the_nearest_name_has_the_same_numbers(wanted):
    names = ["logit(C=10)", "logit(C=1)", "logit(C=1.05)", *(f"logit(C={c})" for c in range(20, 30))]
    oof = of.from_arrays([0, 1, 0, 1], np.zeros((4, 13)), configs=names, response="score")
    with pytest.raises(InputError, match=r"the nearest of 13 names that begin with 'logit' is 'logit\(C=1\)'"):
        oof.config_index(wanted)


def test_a_name_that_is_not_there_is_met_with_those_that_are():
    names = ["svm(C=1)", "svm(C=2)", *(f"tree(depth={d})" for d in range(1, 31))]

    def refused(n, wanted):
        oof = of.from_arrays([0, 1, 0, 1], np.zeros((4, n)), configs=names[:n], response="score")
        with pytest.raises(InputError) as raised:
            oof.config_index(wanted)
        return str(raised.value)

    assert refused(1, "forest") == "no configuration 'forest'; there is 'svm(C=1)'."
    assert refused(3, "forest") == "no configuration 'forest'; there are 'svm(C=1)', 'svm(C=2)', 'tree(depth=1)'."
    assert (
        refused(32, "svm(C=3)") == "no configuration 'svm(C=3)'; beginning with 'svm' there are 'svm(C=1)', 'svm(C=2)'."
    )
    assert refused(32, "forest") == "no configuration 'forest'; oof.configs lists the 32 there are."
