"""Two artifacts as one: the same samples and splits, or an error that says what differs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from conftest import make_predictions
from outfold.exceptions import InputError, NeedError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, (X[:, 0] + rng.normal(size=60) > 0).astype(int)


def collected(data, configs, **options):
    plan = options.pop("plan", of.Plan(folds=3, repeats=2))
    return of.collect(configs, *data, plan, n_jobs=1, **{"rng": 0, **options})


def parts(metric="roc_auc", **options):
    oof = make_predictions(metric, **options)
    return oof.sel(config=[0, 1, 2]), oof.sel(config=[3, 4]), oof


def test_a_joined_artifact_is_what_one_collection_gives(data, tmp_path):
    logit, tree = {"logit": LogisticRegression()}, {"tree": DecisionTreeClassifier(max_depth=2)}
    both = collected(data, logit | tree)
    one, other = collected(data, logit, store=tmp_path / "one.oof"), collected(data, tree, store=tmp_path / "two.oof")
    joined = of.load(tmp_path / "one.oof") | of.load(tmp_path / "two.oof")
    assert joined.configs == ("logit", "tree")
    assert joined.fingerprint == both.fingerprint == one.fingerprint == other.fingerprint
    assert np.array_equal(joined.data, both.data)
    assert joined.seconds.shape == both.seconds.shape
    assert joined.provenance["seed"] == 0
    again = of.load(joined.save(tmp_path / "both.oof"))
    assert np.array_equal(again.data, joined.data)
    assert of.estimate.bbc(again, "roc_auc").value == of.estimate.bbc(both, "roc_auc").value


def test_parts_join_to_the_whole():
    one, other, whole = parts(r=2)
    joined = one.join(other)
    assert joined.configs == whole.configs[:5]
    assert np.array_equal(joined.data, whole.data[:, :5])
    assert np.array_equal(joined.state, whole.state[:5])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda o: make_predictions("roc_auc", n=41), "40 against 41 samples"),
        (lambda o: make_predictions("mse"), "one is for binary, the other for regression"),
        (lambda o: make_predictions("roc_auc", folds=4), "5-fold against 4-fold"),
        (lambda o: make_predictions("roc_auc", seed=1), r"of 40 labels differ"),
        (lambda o: replace(o.sel(repeat=[0, 0]), plan=of.Plan(5, 2)), "1 against 2 repeats"),
        (lambda o: replace(o, folds=np.ascontiguousarray(o.folds[::-1])), "the folds differ"),
    ],
)
def test_what_differs_is_said(change, says):
    oof = make_predictions("roc_auc")
    other = change(oof)
    with pytest.raises(NeedError, match=says) as caught:
        oof.join(other)
    assert "same data, plan and seed" in str(caught.value)


def test_samples_in_another_order_are_refused():
    oof = make_predictions("roc_auc")
    names = np.array([f"s{i}" for i in range(40)])
    with pytest.raises(NeedError, match="are in another order"):
        replace(oof, samples=names).join(replace(oof, samples=names[::-1]))
    with pytest.raises(NeedError, match="have other names"):
        replace(oof, samples=names).join(replace(oof, samples=np.arange(40) + 1))


def test_other_seeds_are_named(data):
    one = collected(data, {"a": LogisticRegression()})
    other = collected(data, {"b": LogisticRegression()}, rng=7)
    with pytest.raises(NeedError, match=r"folds differ \(seed 0 against 7\)"):
        one.join(other)


def test_more_repeats_of_the_same_seed_can_be_cut(data):
    one = collected(data, {"a": LogisticRegression()})
    longer = collected(data, {"b": LogisticRegression()}, plan=of.Plan(folds=3, repeats=4))
    with pytest.raises(NeedError, match=r"The first 2 are the same: sel\(repeat=range\(2\)\)"):
        one.join(longer)
    assert one.join(longer.sel(repeat=range(2))).n_configs == 2
    with pytest.raises(NeedError, match=r"The first is the same: sel\(repeat=range\(1\)\)"):
        one.sel(repeat=0).join(longer)


def test_same_names_need_suffixes():
    one, _, _ = parts()
    with pytest.raises(InputError, match=r"both hold a configuration 'config 0' \(3 names are in both\)"):
        one | one
    joined = one.join(one.sel(config=[1]), suffixes=("", " new"))
    assert joined.configs == ("config 0", "config 1", "config 2", "config 1 new")
    with pytest.raises(InputError, match="two different endings"):
        one.join(one, suffixes=("x", "x"))


def test_probabilities_and_margins_join_as_scores_with_their_own_labels(data):
    proba = collected(data, {"logit": LogisticRegression()})
    margins = collected(data, {"svm": LinearSVC()})
    assert (proba.response, margins.response) == ("proba", "score")
    for joined, order in ((proba | margins, (proba, margins)), (margins | proba, (margins, proba))):
        assert joined.response == "score"
        for metric in ("accuracy", "roc_auc"):
            apart = np.concatenate([oof.scores(metric) for oof in order])
            assert np.array_equal(joined.scores(metric), apart)


def test_labels_and_probabilities_join_as_labels_and_say_so():
    oof = make_predictions("roc_auc")
    labels = of.from_arrays(
        oof.y, np.swapaxes(oof.respond("label"), 0, 2)[:, :2], folds=oof.folds, response="label", configs=["x", "y"]
    )
    joined = oof | labels
    assert joined.response == "label"
    assert [n.code for n in joined.notes] == ["OF105"]
    assert np.array_equal(joined.scores("accuracy")[:7], oof.scores("accuracy"))
    pointwise = of.from_arrays(None, np.ones((40, 1)), response="pointwise", folds=oof.folds)
    with pytest.raises(NeedError, match="one is for binary, the other for pointwise"):
        oof.join(pointwise)


def test_missing_cells_stay_missing_when_probabilities_become_labels():
    oof = make_predictions("roc_auc", folds=4)
    state, values = np.array(oof.state), np.array(oof.data)
    state[0, 0, 1] = of.State.FAILED
    values[0, 0, oof.folds[:, 0] == 1] = np.nan
    part = replace(oof, data=values, state=state, messages={("config 0", 0, 1): "ValueError: bad"})
    labels = of.from_arrays(oof.y, oof.respond("label")[0, 0], folds=oof.folds, response="label", configs=["x"])
    joined = part | labels
    assert joined.state[0, 0, 1] == of.State.FAILED
    assert np.all(joined.data[0, 0, oof.folds[:, 0] == 1] == -1)
    assert joined.messages == {("config 0", 0, 1): "ValueError: bad"}


def test_only_predictions_can_be_joined():
    with pytest.raises(InputError, match="other must be Predictions"):
        make_predictions("roc_auc").join([1, 2])


@pytest.mark.parametrize("suffixes", [(1, 2), 5, "ab"])
def test_suffixes_are_two_texts(suffixes):
    oof = of.from_arrays([0, 1, 0, 1], np.array([[0.1, 0.2], [0.9, 0.8], [0.3, 0.1], [0.7, 0.6]]), response="proba")
    with pytest.raises(of.exceptions.InputError, match="suffixes must be two different endings"):
        oof.join(oof, suffixes=suffixes)


def test_joined_predictions_say_what_selects_where_that_changed():
    one, other = make_predictions("roc_auc"), make_predictions("roc_auc")
    other = replace(other, configs=tuple(f"other {name}" for name in other.configs))
    assert not (one | other).notes
    assert not (one.selecting_by("log_loss") | other.selecting_by("log_loss")).notes
    joined = one.selecting_by("log_loss") | other.selecting_by("accuracy", aggregate="fold")
    (note,) = [note for note in joined.notes if note.code == "OF109"]
    for score in ("pooled log loss", "mean accuracy over folds", "pooled AUC"):
        assert score in note.text
    assert joined.selection().rule.startswith("best pooled AUC")
