"""Nested cross-validation, the fresh partition, and the final fit."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from collect_estimators import Draws, Raises, Tally, fits
from internals import Plan, State, collect, grid, inner_folds, load, refit, seed_of
from outfold import select
from outfold.exceptions import InputError, NeedError, StoreMismatchError


@pytest.fixture
def data():
    return make_classification(60, 5, flip_y=0.2, random_state=4)


# -- inner ----------------------------------------------------------------------------------------------


def plain_inner(estimator, X, y, folds, seed, repeat):
    """All K (K-1) inner fits of nested CV, each done by itself, seeded by the unordered pair."""
    n_folds = int(folds.max()) + 1
    out = np.full((n_folds, len(y)), np.nan)
    for outer in range(n_folds):
        for k in range(n_folds):
            if k != outer:
                train, test = (folds != outer) & (folds != k), folds == k
                pair = seed_of(seed, repeat, min(outer, k), max(outer, k))
                model = clone(estimator).set_params(random_state=pair).fit(X[train], y[train])
                out[outer, test] = model.predict_proba(X[test])[:, 1]
    return out


def test_inner_equals_all_fits_done_separately(data):
    X, y = data
    forests = grid("forest", RandomForestClassifier(3), max_depth=[1, None])
    oof = collect(forests, X, y, Plan(folds=4, repeats=2), rng=9, inner=True)
    block = oof.blocks["inner"]
    np.testing.assert_array_equal(block.folds, inner_folds(oof.folds, 4))
    assert block.completeness == 1.0
    for r in range(2):
        for j, estimator in enumerate(forests.values()):
            want = plain_inner(estimator, X, y, oof.folds[:, r], 9, r)
            np.testing.assert_array_equal(block.data[4 * r : 4 * r + 4, j], want)


def test_inner_counts_fits(data, tmp_path):
    log = str(tmp_path / "log")
    oof = collect({"a": Tally(1.0, log), "b": Tally(2.0, log)}, *data, Plan(folds=4, repeats=2), inner=True)
    # K folds and K (K-1) / 2 pairs, for 2 configurations and 2 repeats.
    assert fits(log) == oof.provenance["n_fits"] == 2 * 2 * (4 + 6)
    assert oof.provenance["fits_plain"] == 2 * (4**2 * 2 + 4) + 1


def test_failing_inner_fits_fail_both_cells(data):
    block = collect({"bad": Raises(), "a": Tally()}, *data, Plan(3), inner=True).blocks["inner"]
    assert np.sum(block.state[0] == State.FAILED) == 6
    assert block.messages["bad", 0, 1] == block.messages["bad", 1, 0] == "RuntimeError: no luck today"


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan(2), "inner=True needs at least 3 folds; this plan is 2-fold"),
        (Plan.holdout(), "needs K folds that are trained on all other samples; this plan is hold-out"),
        (Plan.leave_one_out(), "needs K folds that are trained on all other samples; this plan is leave-one-out"),
        (Plan.blocked(3), "inner=True needs at least 3 folds"),
        (Plan.from_cv([(np.r_[0:20], np.r_[20:40]), (np.r_[20:40], np.r_[40:60])]), "trained on all other samples"),
    ],
)
def test_inner_needs_folds(data, plan, message):
    with pytest.raises(NeedError, match=message):
        collect(Tally(), *data, plan, inner=True)


def test_inner_needs_three_members_of_a_class(data):
    y = np.r_[1, 1, np.zeros(58, dtype=int)]
    with pytest.raises(NeedError, match="inner=True needs at least 3"):
        collect(Tally(), data[0], y, Plan(3), inner=True)


# -- inner folds of their own ---------------------------------------------------------------------------


def fitted_inside(estimator, X, y, block, train, seed, K):
    """Every inner fit of an own partition, done by itself on the rows of `train` by outer (repeat, fold)."""
    out = np.full((block.n_repeats, len(y)), np.nan)
    for (r, k), rows in train.items():
        column = block.folds[:, r * K + k]
        for j in range(block.n_folds):
            inside = rows[column[rows] != j]
            model = clone(estimator).set_params(random_state=seed_of(seed, r, k, block.n_folds, j))
            test = np.flatnonzero(column == j)
            out[r * K + k, test] = model.fit(X[inside], y[inside]).predict_proba(X[test])[:, 1]
    return out


@pytest.mark.parametrize(
    "plan", [Plan(folds=3, repeats=2), Plan.five_by_two(), Plan.repeated_holdout(3), Plan.blocked(3)], ids=str
)
def test_inner_folds_of_their_own_equal_all_fits_done_separately(data, plan):
    X, y = data
    forests = grid("forest", RandomForestClassifier(3), max_depth=[1, None])
    oof = collect(forests, X, y, plan, rng=9, inner=2)
    block, K = oof.blocks["inner"], oof.n_folds
    assert (block.n_repeats, block.n_folds, block.completeness) == (oof.n_repeats * K, 2, 1.0)
    train = {cell: oof.splits.train_rows(*cell) for cell in oof.splits.cells}
    for (r, k), rows in train.items():
        # Inner folds hold out the training part, and nothing else; as many of each class.
        column = block.folds[:, r * K + k]
        np.testing.assert_array_equal(np.flatnonzero(column >= 0), rows)
        counts = np.bincount(2 * column[rows] + y[rows])
        assert abs(counts[0] - counts[2]) <= 1
        assert abs(counts[1] - counts[3]) <= 1
    for j, estimator in enumerate(forests.values()):
        np.testing.assert_array_equal(block.data[:, j], fitted_inside(estimator, X, y, block, train, 9, K))
    # The outer fits are those without inner folds.
    np.testing.assert_array_equal(oof.data, collect(forests, X, y, plan, rng=9).data)


def test_inner_folds_of_their_own_keep_groups_and_are_drawn_anew_in_each_fold(data):
    X, y = data
    groups = np.arange(60) // 3
    oof = collect(Tally(), X, y, Plan(folds=4), groups=groups, inner=3, rng=5)
    folds = oof.blocks["inner"].folds
    assert all(len(np.unique(folds[groups == g, c])) == 1 for g in range(20) for c in range(4))
    again = collect(Tally(), X, y, Plan(folds=4), groups=groups, inner=3, rng=5)
    np.testing.assert_array_equal(again.blocks["inner"].folds, folds)
    other = collect(Tally(), X, y, Plan(folds=4), groups=groups, inner=3, rng=6)
    assert not np.array_equal(other.blocks["inner"].folds, folds)
    both = (folds[:, 0] >= 0) & (folds[:, 1] >= 0)
    assert not np.array_equal(folds[both, 0], folds[both, 1])


def test_inner_folds_of_their_own_by_leave_one_out_are_stratified(data):
    X, y = data[0][:14], np.arange(14) % 2
    block = collect(Tally(), X, y, Plan.leave_one_out(), inner=2).blocks["inner"]
    assert (block.n_repeats, block.completeness) == (14, 1.0)
    for i, column in enumerate(block.folds.T):
        assert column[i] == -1
        assert np.ptp(np.bincount(2 * column[column >= 0] + y[column >= 0])) <= 1


@pytest.mark.parametrize("share", ["exact", False])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_inner_folds_of_their_own_do_not_depend_on_workers(data, n_jobs, share, tmp_path):
    knn = grid("knn", KNeighborsClassifier(), n_neighbors=[1, 3, 7]) | {"draws": RandomForestClassifier(2)}
    plan = Plan(folds=3, repeats=2)
    one = collect(knn, *data, plan, inner=2, share=False)
    path = tmp_path / "run.oof"
    # The outer folds, then some of the inner ones, then all: a store goes on where it was.
    collect(knn, *data, plan, store=path)
    collect({name: knn[name] for name in list(knn)[:2]}, *data, plan, store=path, inner=2, n_jobs=n_jobs, share=share)
    oof = collect(knn, *data, plan, store=path, inner=2, n_jobs=n_jobs, share=share)
    for found in (oof, load(path)):
        np.testing.assert_array_equal(found.data, one.data)
        np.testing.assert_array_equal(found.blocks["inner"].data, one.blocks["inner"].data)
        np.testing.assert_array_equal(found.blocks["inner"].folds, one.blocks["inner"].folds)


def test_inner_folds_of_their_own_resume_and_are_not_mixed(data, tmp_path):
    path, log = tmp_path / "run.oof", str(tmp_path / "log")
    configs = {"a": Tally(1.0, log), "b": Tally(2.0, log)}
    collect(configs, *data, Plan(3), store=path, inner=2)
    oof = collect(configs, *data, Plan(3), store=path, inner=2)
    assert fits(log) == oof.provenance["n_fits"] == 2 * 3 * (1 + 2)
    assert "fits_plain" not in oof.provenance
    for other in (True, 3):
        with pytest.raises(StoreMismatchError, match="other splits of the block 'inner'"):
            collect(configs, *data, Plan(3), store=path, inner=other)


@pytest.mark.parametrize("inner", [0, 1, -3, 2.0, "yes", None, [2]])
def test_inner_is_true_false_or_a_number_of_folds(data, inner):
    with pytest.raises(InputError, match="inner must be True, False or a number of inner folds from 2; got"):
        collect(Tally(), *data, Plan(3), inner=inner)


@pytest.mark.parametrize(
    ("plan", "inner", "message"),
    [
        (Plan.bootstrap(5), 2, "inner=2 needs K folds, hold-outs or leave-one-out; this plan is 5 bootstrap rounds"),
        (Plan.from_cv(3), 2, "inner=2 needs K folds, hold-outs or leave-one-out"),
        (Plan(3), 50, "inner=50 needs training parts that can be split again; in repeat 0, fold 0: 50 folds need"),
    ],
)
def test_inner_folds_of_their_own_that_cannot_be_drawn(data, plan, inner, message):
    with pytest.raises(NeedError, match=message):
        collect(Tally(), *data, plan, inner=inner)


# -- fresh ----------------------------------------------------------------------------------------------


def test_fresh_is_the_next_repeat_for_the_selected_configuration(data):
    X, y = data
    configs = grid("forest", RandomForestClassifier(3), max_depth=[1, 2, None])
    oof = collect(configs, X, y, Plan(folds=4, repeats=2), rng=2, fresh="roc_auc")
    chosen = select.best(oof, "roc_auc").index
    longer = collect(configs, X, y, Plan(folds=4, repeats=3), rng=2)
    block = oof.blocks["fresh"]
    np.testing.assert_array_equal(block.folds[:, 0], longer.folds[:, 2])
    np.testing.assert_array_equal(block.data[0, chosen], longer.data[2, chosen])
    others = [j for j in range(3) if j != chosen]
    assert np.all(block.state[others] == State.PENDING)
    assert oof.provenance["n_fits"] == 3 * 8 + 4


def test_fresh_follows_the_rule(data):
    configs = {"a": Tally(1.0), "b": Tally(2.0), "c": Tally(3.0)}
    oof = collect(configs, *data, Plan(3), fresh="accuracy", rule=lambda candidates: "c")
    assert np.all(oof.blocks["fresh"].state[2] == State.DONE)
    assert np.all(oof.blocks["fresh"].state[:2] == State.PENDING)


def test_fresh_resumes(data, tmp_path):
    path, log = tmp_path / "run.oof", str(tmp_path / "log")
    configs = {"a": Tally(1.0, log), "b": Tally(2.0, log)}
    collect(configs, *data, Plan(3), store=path)
    oof = collect(configs, *data, Plan(3), store=path, fresh="roc_auc")
    collect(configs, *data, Plan(3), store=path, fresh="roc_auc")
    assert fits(log) == 6 + 3
    np.testing.assert_array_equal(load(path).blocks["fresh"].data, oof.blocks["fresh"].data)


@pytest.mark.parametrize("plan", [Plan.leave_one_out(), Plan.blocked(3), Plan.from_cv(3)])
def test_fresh_needs_a_plan_that_can_be_drawn_again(data, plan):
    with pytest.raises(NeedError, match="fresh needs a plan that can draw another partition"):
        collect(Tally(), *data, plan, fresh="accuracy")


def test_fresh_of_an_unknown_metric_is_refused_before_the_work(data, tmp_path):
    log = str(tmp_path / "log")
    with pytest.raises(InputError, match="roc_auc"):
        collect(Tally(1.0, log), *data, Plan(3), fresh="rocauc")
    assert fits(log) == 0


# -- refit ----------------------------------------------------------------------------------------------


def test_refit_fits_the_selected_configuration_on_everything(data):
    X, y = data
    configs = grid("forest", RandomForestClassifier(5), max_depth=[1, 4])
    oof = collect(configs, X, y, Plan(3), rng=6)
    model = refit(oof, configs, X, y, metric="roc_auc")
    chosen = configs[select.best(oof, "roc_auc").name]
    want = clone(chosen).set_params(random_state=seed_of(6)).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), want.predict_proba(X))
    assert not hasattr(chosen, "estimators_")


def test_refit_follows_the_rule_and_fit_params(data):
    X, y = data
    configs = grid("logit", LogisticRegression(), C=[0.1, 1.0])
    oof = collect(configs, X, y, Plan(3))
    weight = np.linspace(0.1, 1, 60)
    model = refit(
        oof, configs, X, y, metric="accuracy", rule=lambda c: "logit(C=0.1)", fit_params={"sample_weight": weight}
    )
    np.testing.assert_array_equal(model.coef_, LogisticRegression(C=0.1).fit(X, y, sample_weight=weight).coef_)


def test_refit_of_something_else(data):
    X, y = data
    oof = collect({"a": Tally()}, X, y, Plan(3))
    with pytest.raises(InputError, match="the selected configuration 'a' is not among the configs"):
        refit(oof, {"b": Tally()}, X, y, metric="accuracy")
    with pytest.raises(InputError, match="'a' has other parameters than the one the predictions came from"):
        refit(oof, {"a": Tally(7.0)}, X, y, metric="accuracy")
    with pytest.raises(InputError, match="X has 59 rows, y has 60"):
        refit(oof, {"a": Tally()}, X[:-1], y, metric="accuracy")


def test_refit_seed_is_that_of_the_predictions():
    X, y = make_regression(30, 3, random_state=0)
    oof = collect({"draws": Draws()}, X, y, Plan(3), rng=12)
    assert refit(oof, {"draws": Draws()}, X, y, metric="mse").seed_ == seed_of(12)
