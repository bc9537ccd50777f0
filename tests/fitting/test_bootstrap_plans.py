"""Bootstrap rounds and three-way splits: what they draw, what is collected on them, and what stays in a store."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from collect_estimators import Raises, Tally, fits
from internals import Point632ByRound, State, fold_scores, seed_of
from outfold.exceptions import InputError, NeedError, StoreMismatchError


class Asked(Tally):
    """Appends a byte to `log` whenever it is asked for probabilities, not when it is fitted."""

    def fit(self, X, y):
        log, self.log = self.log, None
        super().fit(X, y)
        self.log = log
        return self

    def predict_proba(self, X):
        with open(self.log, "ab") as file:
            file.write(b".")
        return super().predict_proba(X)

    def predict(self, X):
        return self.classes_[Tally.predict_proba(self, X).argmax(axis=1)]


@pytest.fixture(scope="module")
def data():
    return make_classification(60, 5, flip_y=0.2, random_state=4)


# -- plans ----------------------------------------------------------------------------------------------


@given(st.integers(8, 60), st.integers(2, 6), st.booleans(), st.integers(0, 5))
def test_a_round_draws_n_and_holds_out_the_rest(n, rounds, stratify, seed):
    y = np.arange(n) % 3
    splits = of.Plan.bootstrap(rounds, stratify=stratify).split(y, rng=seed)
    assert splits.folds.shape == (n, rounds)
    assert splits.cells == [(r, 0) for r in range(rounds)]
    for r in range(rounds):
        drawn, held = splits.train_rows(r, 0), splits.test_rows(r, 0)
        assert len(drawn) == n
        np.testing.assert_array_equal(np.setdiff1d(np.arange(n), drawn), held)
        assert len(held)
        assert len(np.unique(y[drawn])) > 1
        if stratify:
            np.testing.assert_array_equal(np.bincount(y[drawn]), np.bincount(y))


def test_more_rounds_leave_the_earlier_ones_as_they_were():
    y = np.arange(40) % 2
    few, many = (of.Plan.bootstrap(b).split(y, rng=3) for b in (4, 9))
    np.testing.assert_array_equal(few.folds, many.folds[:, :4])
    for r in range(4):
        np.testing.assert_array_equal(few.train_rows(r, 0), many.train_rows(r, 0))
    other = of.Plan.bootstrap(4).split(y, rng=4)
    assert not np.array_equal(few.folds, other.folds)


def test_groups_are_drawn_whole():
    groups = np.repeat(np.arange(12), 4)
    splits = of.Plan.bootstrap(20).split(np.arange(48) % 2, groups)
    for r in range(20):
        times = np.bincount(splits.train_rows(r, 0), minlength=48).reshape(12, 4)
        assert np.all(times == times[:, :1])
        assert times[:, 0].sum() == 12
    assert splits.plan.groups
    assert not splits.plan.stratify


def test_the_expected_share_is_held_out():
    splits = of.Plan.bootstrap(200).split(np.arange(500) % 2)
    assert np.mean(splits.folds >= 0) == pytest.approx(np.exp(-1), abs=0.005)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: of.Plan.bootstrap(1), "rounds must be a whole number of at least 2; got 1"),
        (lambda: of.Plan.bootstrap(2.5), "rounds must be a whole number of at least 2"),
        (lambda: of.Plan.bootstrap(5).split([0.5]), r"left no sample out in 100 draws.*there is 1 sample\."),
        (lambda: of.Plan.bootstrap(5).split([0, 1]), r"left no sample out.*there are 2 samples"),
        (lambda: of.Plan.bootstrap(5).split([0, 1] * 4, groups=[1] * 8), r"left no sample out.*there is 1 group\."),
        (lambda: of.Plan.bootstrap(5).split([0, 0, 1, 1], groups=[0, 0, 1, 1]), r"there are 2 groups"),
        (
            lambda: of.Plan.bootstrap(5, stratify=True).split([0, 1] * 4, groups=np.arange(8) // 2),
            "grouped bootstrap cannot be stratified",
        ),
        (lambda: of.Plan.three_way(0.5, 0.5), r"leave samples to train on; they are 0.5 \+ 0.5"),
        (lambda: of.Plan.three_way(0, 0.5), "validation must be a share"),
        (lambda: of.Plan.three_way(0.2, 1.2), "test must be a share"),
    ],
)
def test_plans_that_cannot_be(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_a_round_of_one_class_is_drawn_again():
    y = np.array([0] * 30 + [1])  # 37 of 100 draws miss the only positive
    splits = of.Plan.bootstrap(40, stratify=False).split(y)
    assert all(30 in splits.train_rows(r, 0) for r in range(40))


def test_three_parts_are_a_partition_with_equal_shares():
    y = np.repeat([0, 1], [80, 20])
    splits = of.Plan.three_way(0.2, 0.3).split(y)
    train, validation = splits.train_rows(0, 0), splits.test_rows(0, 0)
    test = np.setdiff1d(np.arange(100), np.concatenate([train, validation]))
    assert [len(part) for part in (train, validation, test)] == [50, 20, 30]
    assert [int(y[part].sum()) for part in (train, validation, test)] == [10, 4, 6]
    groups = np.arange(100) // 5
    grouped = of.Plan.three_way(0.2, 0.3).split(y, groups)
    sides = np.zeros((3, 20), dtype=int)
    rest = np.setdiff1d(np.arange(100), np.concatenate([grouped.train_rows(0, 0), grouped.test_rows(0, 0)]))
    for side, rows in enumerate((grouped.train_rows(0, 0), grouped.test_rows(0, 0), rest)):
        sides[side] = np.bincount(groups[rows], minlength=20)
    assert np.all((sides > 0).sum(axis=0) == 1)


def test_plans_say_what_they_are_and_come_back():
    for plan, text in (
        (of.Plan.bootstrap(50), "Plan(50 bootstrap rounds)"),
        (of.Plan.three_way(), "Plan(three-way hold-out of 0.2 and 0.2)"),
    ):
        assert repr(plan) == text
        assert of.Plan.from_dict(plan.to_dict()) == plan
    assert "validation" not in of.Plan().to_dict()


# -- collecting -----------------------------------------------------------------------------------------


def test_blocks_are_what_separate_fits_give(data):
    X, y = data
    forest = RandomForestClassifier(4)
    oof = of.collect({"forest": forest}, X, y, of.Plan.bootstrap(5), rng=7)
    for r in range(5):
        rows = oof.splits.train_rows(r, 0)
        model = clone(forest).set_params(random_state=seed_of(7, r, 0)).fit(X[rows], y[rows])
        held, p = oof.folds[:, r] == 0, model.predict_proba(X)[:, 1]
        np.testing.assert_array_equal(oof.data[r, 0, held], p[held])
        assert np.isnan(oof.data[r, 0, ~held]).all()
        inbag = oof.blocks["inbag"]
        np.testing.assert_array_equal(inbag.folds[:, r] == 0, ~held)
        np.testing.assert_array_equal(inbag.data[r, 0, ~held], p[~held])
    resub = oof.blocks["resub"]
    np.testing.assert_array_equal(
        resub.data[0, 0], of.refit(oof, forest_of(forest), X, y, metric="accuracy").predict_proba(X)[:, 1]
    )
    assert oof.provenance["n_fits"] == 6


def forest_of(forest):
    return {"forest": forest}


def test_a_round_fits_once_and_is_asked_once(data, tmp_path):
    X, y = data
    fitted, asked = str(tmp_path / "fitted"), str(tmp_path / "asked")
    of.collect({"a": Tally(1.0, fitted), "b": Asked(1.0, asked)}, X, y, of.Plan.bootstrap(6))
    assert fits(fitted) == 7
    assert fits(asked) == 7


@pytest.mark.parametrize("response", ["proba", "label"])
def test_any_number_of_workers_gives_the_same(data, response):
    X, y = data
    configs = {"tree": DecisionTreeClassifier(max_features=2), "logit": LogisticRegression()}
    one, two = (of.collect(configs, X, y, of.Plan.bootstrap(8), rng=1, n_jobs=n, response=response) for n in (1, 2))
    assert one.fingerprint == two.fingerprint
    for a, b in ((one, two), *((one.blocks[k], two.blocks[k]) for k in ("inbag", "resub"))):
        np.testing.assert_array_equal(a.data, b.data)


def test_own_labels_stay_with_their_rows(data):
    """A tuned threshold is not where probabilities are cut."""
    X, y = data
    tuned = FixedThresholdClassifier(LogisticRegression(), threshold=0.8)
    oof = of.collect({"tuned": tuned}, X, y, of.Plan.bootstrap(5), response="proba")
    for r in range(5):
        rows = oof.splits.train_rows(r, 0)
        labels = clone(tuned).fit(X[rows], y[rows]).predict(X)
        for block in (oof, oof.blocks["inbag"]):
            held = block.folds[:, r] == 0
            np.testing.assert_array_equal(block.respond("label")[r, 0, held], labels[held])
    by_hand = np.mean([np.mean(clone(tuned).fit(X[s], y[s]).predict(X) == y) for s in oof.train.values()])
    own = [np.mean(labels == y) for labels in Point632ByRound(oof, "accuracy").on_all()]
    assert np.mean(own) == pytest.approx(by_hand, abs=1e-12)


def test_resub_goes_with_any_plan(data):
    X, y = data
    plain = of.collect({"logit": LogisticRegression()}, X, y, 5)
    with_resub = of.collect({"logit": LogisticRegression()}, X, y, 5, resub=True)
    assert not plain.blocks
    np.testing.assert_array_equal(plain.data, with_resub.data)
    value = of.estimate.resubstitution(with_resub, "accuracy").value
    assert value == LogisticRegression().fit(X, y).score(X, y)
    none = of.collect({"logit": LogisticRegression()}, X, y, of.Plan.bootstrap(3), resub=False)
    assert set(none.blocks) == {"inbag"}


def test_resub_with_dropping_fits_the_survivors_only(data):
    X, y = data
    configs = {"logit": LogisticRegression(), "bad": Tally(-5.0)}
    oof = of.collect(configs, X, y, of.Plan(folds=5, repeats=3), resub=True, drop=of.drop.Bootstrap(min_predictions=10))
    assert len(oof.drop_log) == 1
    np.testing.assert_array_equal(oof.blocks["resub"].state[:, 0, 0], [State.DONE, State.PENDING])


def test_dropping_goes_round_by_round(data, tmp_path):
    """What is dropped is so in both blocks; the others are what they are without dropping, for any number of workers."""
    X, y = data
    configs = {"logit": LogisticRegression(), "bad": Tally(-5.0), "ridge": LogisticRegression(C=0.5)}
    rule = of.drop.Bootstrap(min_predictions=20)
    path = tmp_path / "run.oof"
    one, two = (
        of.collect(configs, X, y, of.Plan.bootstrap(8), drop=rule, n_jobs=n, store=s) for n, s in ((1, path), (2, None))
    )
    assert one.drop_log["config"].tolist() == ["bad"]
    for block in (one, one.blocks["inbag"]):
        assert np.any(block.state[1] == State.DROPPED)
    np.testing.assert_array_equal(one.state, one.blocks["inbag"].state)
    assert one.blocks["resub"].state[1, 0, 0] == State.PENDING
    plain = of.collect(configs, X, y, of.Plan.bootstrap(8)).sel(config=["logit", "ridge"])
    again = of.collect(configs, X, y, of.Plan.bootstrap(8), drop=rule, store=path)
    for oof in (one, two, again, of.load(path)):
        kept = oof.sel(config=["logit", "ridge"])
        np.testing.assert_array_equal(kept.blocks["inbag"].data, plain.blocks["inbag"].data)
        assert of.estimate.point632plus(oof, "accuracy").value == of.estimate.point632plus(plain, "accuracy").value


def test_a_failed_round_is_failed_in_both_blocks(data):
    X, y = data
    oof = of.collect({"bad": Raises(), "good": Tally()}, X, y, of.Plan.bootstrap(3))
    for block in (oof, oof.blocks["inbag"], oof.blocks["resub"]):
        assert np.all(block.state[0] == State.FAILED)
        assert np.all(block.state[1] == State.DONE)
    assert of.estimate.point632plus(oof, "accuracy").selected == "good"


def test_sel_and_join_carry_the_blocks(data):
    X, y = data
    configs = {"logit": LogisticRegression(), "tree": DecisionTreeClassifier(max_depth=2)}
    both = of.collect(configs, X, y, of.Plan.bootstrap(6))
    parts = [of.collect({name: model}, X, y, of.Plan.bootstrap(6)) for name, model in configs.items()]
    joined = parts[0] | parts[1]
    some = both.sel(config="tree", repeat=[4, 1])
    for name in ("inbag", "resub"):
        np.testing.assert_array_equal(joined.blocks[name].data, both.blocks[name].data)
    np.testing.assert_array_equal(some.blocks["inbag"].data, both.blocks["inbag"].data[[4, 1]][:, [1]])
    np.testing.assert_array_equal(some.blocks["inbag"].folds, both.blocks["inbag"].folds[:, [4, 1]])
    np.testing.assert_array_equal(some.blocks["resub"].data, both.blocks["resub"].data[:, [1]])
    np.testing.assert_array_equal(some.splits.train_rows(0, 0), both.splits.train_rows(4, 0))
    value = of.estimate.point632plus(both, "accuracy", config="tree").value
    assert of.estimate.point632plus(joined, "accuracy", config="tree").value == value


def test_the_fingerprint_covers_what_was_drawn(data):
    X, y = data
    oof = of.collect({"logit": LogisticRegression()}, X, y, of.Plan.bootstrap(3))
    rows = oof.train[0, 0].copy()
    twice = np.flatnonzero(np.bincount(rows) > 1)[0]
    rows[np.flatnonzero(rows == twice)[0]] = rows[np.flatnonzero(rows != twice)[0]]
    other = replace(oof, train=oof.train | {(0, 0): np.sort(rows)})
    np.testing.assert_array_equal(other.folds, oof.folds)
    assert other.fingerprint != oof.fingerprint


def test_samples_drawn_twice_are_one_training_sample(data):
    X, y = data
    oof = of.collect({"logit": LogisticRegression()}, X, y, of.Plan.bootstrap(4))
    scores = fold_scores(oof, "accuracy")
    np.testing.assert_array_equal(scores.n_train + scores.n_test, 60)
    assert scores.layout == "other"  # tests of repeated hold-outs are not for rounds


def test_what_does_not_go_with_the_plans(data):
    X, y = data
    logit = {"logit": LogisticRegression()}
    with pytest.raises(InputError, match="needs to know what selects on the validation part"):
        of.collect(logit, X, y, of.Plan.three_way())
    with pytest.raises(NeedError, match="inner=True needs K folds"):
        of.collect(logit, X, y, of.Plan.bootstrap(5), inner=True)
    with pytest.raises(NeedError, match="fresh needs a plan that can draw another partition"):
        of.collect(logit, X, y, of.Plan.bootstrap(5), fresh="accuracy")
    with pytest.raises(InputError, match="repeats needs a plan that can draw another partition"):
        of.collect(logit, X, y, of.Plan.bootstrap(5), repeats=7)


# -- the store ------------------------------------------------------------------------------------------


def test_a_store_gives_everything_back_and_goes_on(data, tmp_path):
    X, y = data
    path, log = tmp_path / "run.oof", str(tmp_path / "log")
    calls = {"plan": of.Plan.bootstrap(6), "rng": 2, "store": path}
    first = of.collect({"a": Tally(1.0, log)}, X, y, **calls)
    assert fits(log) == 7
    again = of.collect({"a": Tally(1.0, log), "b": Tally(2.0, log)}, X, y, **calls)
    assert fits(log) == 14
    loaded = of.load(path)
    for block in ("inbag", "resub"):
        np.testing.assert_array_equal(loaded.blocks[block].data, again.blocks[block].data)
        np.testing.assert_array_equal(loaded.blocks[block].data[:, :1], first.blocks[block].data)
    assert loaded.fingerprint == first.fingerprint
    assert of.estimate.optimism(loaded, "roc_auc").value == of.estimate.optimism(again, "roc_auc").value
    with pytest.raises(StoreMismatchError, match=r"another plan: repeats 6 \(now 7\)"):
        of.collect({"a": Tally(1.0, log)}, X, y, of.Plan.bootstrap(7), rng=2, store=path)
    saved = loaded.save(tmp_path / "copy.oof")
    np.testing.assert_array_equal(of.load(saved).blocks["inbag"].data, loaded.blocks["inbag"].data)


# -- three parts ----------------------------------------------------------------------------------------


def test_three_way_fits_only_what_is_needed(data, tmp_path):
    X, y = data
    log = str(tmp_path / "log")
    configs = {f"tally({s})": Tally(s, log) for s in (0.5, 1.0, 2.0)}
    oof = of.collect(configs, X, y, of.Plan.three_way(0.25, 0.25), fresh="log_loss", store=tmp_path / "a.oof")
    assert fits(log) == 4
    result = of.estimate.three_way(of.load(tmp_path / "a.oof"), "log_loss")
    train, validation = oof.splits.train_rows(0, 0), oof.splits.test_rows(0, 0)
    seen = np.union1d(train, validation)
    test = np.setdiff1d(np.arange(60), seen)
    from sklearn.metrics import log_loss

    on_validation = {
        name: log_loss(
            y[validation], clone(m).set_params(log=None).fit(X[train], y[train]).predict_proba(X[validation])
        )
        for name, m in configs.items()
    }
    best = min(on_validation, key=on_validation.__getitem__)
    model = clone(configs[best]).set_params(log=None).fit(X[seen], y[seen])
    assert result.selected == best
    assert result.naive == pytest.approx(on_validation[best], abs=1e-12)
    assert result.value == pytest.approx(log_loss(y[test], model.predict_proba(X[test])), abs=1e-12)
    assert result.details == {"n_train": 30, "n_validation": 15, "n_test": 15}
    assert of.refit(oof, configs, X, y, metric="log_loss").scale == configs[best].scale


def test_three_way_wants_the_metric_it_was_collected_for(data):
    X, y = data
    configs = {"a": LogisticRegression(C=1e-4), "b": DecisionTreeClassifier()}
    oof = of.collect(configs, X, y, of.Plan.three_way(), fresh="accuracy", rng=1)
    state = oof.blocks["fresh"].state[:, 0, 0]
    other = oof.configs[int(np.argmin(state))]
    with pytest.raises(NeedError, match=f"three_way needs '{other}' on the test part"):
        of.estimate.three_way(oof, "accuracy", rule=lambda candidates: other)
    with pytest.raises(
        NeedError, match=r"needs a three-way hold-out; these predictions are 5-fold.*Plan.three_way\(\)"
    ):
        of.estimate.three_way(of.collect(configs, X, y, 5), "accuracy")


def test_regression_rounds():
    X, y = make_regression(50, 3, noise=20.0, random_state=1)
    oof = of.collect({"ridge": Ridge()}, X, y, of.Plan.bootstrap(10), share=False)
    rows = oof.splits.train_rows(2, 0)
    held = oof.folds[:, 2] == 0
    np.testing.assert_array_equal(oof.data[2, 0, held], Ridge().fit(X[rows], y[rows]).predict(X)[held])


def test_three_nearest_neighbours_on_iris():
    """Raschka 2018, sect. 2.3: 50 stratified hold-outs, 95 percent with halves, 96 percent with a tenth held out."""
    from sklearn.neighbors import KNeighborsClassifier

    X, y = load_iris(return_X_y=True)
    printed = {0.5: 0.95, 0.1: 0.96}
    spread = {}
    for test, accuracy in printed.items():
        oof = of.collect({"3-nn": KNeighborsClassifier(3)}, X, y, of.Plan.repeated_holdout(50, test))
        assert np.all(np.sum(oof.folds == 0, axis=0) == round(150 * test))
        result = of.estimate.repeated_holdout(oof, "accuracy")
        assert result.value == pytest.approx(accuracy, abs=0.0125)
        assert 0.945 <= result.value <= 0.97
        spread[test] = oof.scores("accuracy").std()
    assert spread[0.1] > spread[0.5]
