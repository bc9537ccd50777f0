"""Learning and validation curves: paired, nested, deterministic, and equal to what collect, scikit-learn and scipy give."""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import curve_fit
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold, learning_curve, validation_curve
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from collect_estimators import Raises, Stuck, Tally
from internals import _by_group, _by_share, drawn_deviations, fit_power_law, samples_for
from outfold.exceptions import CollectError, InputError, NeedError

X, Y = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)


def learn(configs, X=X, y=Y, **options):
    return of.curves.learning(configs, X, y, progress=False, **options)


def validate(estimator, param, values, X=X, y=Y, **options):
    return of.curves.validation(estimator, X, y, param, values, progress=False, **options)


class Remembers(Tally):
    """Writes down the rows of X it is fitted on; their first feature names them."""

    def fit(self, X, y):
        with open(self.log, "a") as file:
            file.write(" ".join(str(int(v)) for v in X[:, 0]) + "\n")
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == c].mean(axis=0) for c in self.classes_])
        return self


# -- training parts -------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 1), min_size=4, max_size=80), st.integers(0, 10**6))
def test_every_beginning_keeps_the_proportions_of_two_classes(labels, seed):
    codes = np.array([*labels, 0, 1])
    order = _by_share(codes, np.random.default_rng(seed))
    assert sorted(order.tolist()) == list(range(len(codes)))
    n = np.arange(1, len(codes) + 1)
    joined = np.cumsum(codes[order])
    assert np.all(np.abs(joined - n * codes.mean()) <= 1 + 1e-9)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(0, 10**6))
def test_all_classes_come_first(labels, seed):
    codes = np.array(labels)
    n = len(np.unique(codes))
    order = _by_share(codes, np.random.default_rng(seed))
    assert len(set(codes[order[:n]].tolist())) == n


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=40), st.integers(0, 10**6))
def test_the_first_groups_hold_all_classes(pairs, seed):
    codes, labels = np.array(pairs).T
    groups = np.unique(labels, return_inverse=True)[1]
    order, first = _by_group(codes, groups, np.random.default_rng(seed))
    assert sorted(order.tolist()) == list(range(groups.max() + 1))
    assert set(codes[np.isin(groups, order[:first])].tolist()) == set(codes.tolist())


def fitted_parts(tmp_path, y, **options):
    """Rows of every fit, in the order of sizes and folds."""
    log = tmp_path / "rows.txt"
    numbered = np.column_stack([np.arange(len(y)), np.zeros(len(y))]).astype(float)
    curve = learn(Remembers(log=str(log)), numbered, y, **options)
    return curve, [{int(v) for v in line.split()} for line in log.read_text().splitlines()]


def test_parts_are_nested_and_never_held_out(tmp_path):
    plan = of.Plan(folds=4, repeats=2)
    curve, parts = fitted_parts(tmp_path, Y, sizes=[0.2, 0.5, 1.0], plan=plan)
    splits = plan.split(Y)
    by_size = [parts[i * 8 : (i + 1) * 8] for i in range(3)]
    for (r, k), small, middle, whole in zip(splits.cells, *by_size, strict=True):
        assert small < middle < whole
        assert whole == set(splits.train_rows(r, k).tolist())
        assert not whole & set(splits.test_rows(r, k).tolist())
    assert curve.n_train.tolist() == [[len(p) for p in size] for size in by_size]


def test_groups_stay_whole(tmp_path):
    groups = np.arange(150) // 5
    shuffled = np.random.default_rng(0).permutation(Y)
    for plan in (of.Plan(folds=3), GroupKFold(3)):
        (tmp_path / "rows.txt").unlink(missing_ok=True)
        _, parts = fitted_parts(tmp_path, shuffled, sizes=[20, 48, 100], groups=groups, plan=plan)
        for part in parts:
            assert all(len(part & set(np.flatnonzero(groups == g))) in (0, 5) for g in range(30))
        assert parts[0] < parts[3] < parts[6]
        assert {len(part) for part in parts[:3]} == {20}
        assert {len(part) for part in parts[3:6]} <= {45, 50}


def test_a_plan_that_ignores_groups_ignores_them_in_parts_too(tmp_path):
    groups = np.arange(150) // 5
    curve, _ = fitted_parts(tmp_path, Y, sizes=[23], groups=groups, plan=of.Plan(folds=3, groups=False))
    assert np.all(curve.n_train == 23)
    assert [note.code for note in curve.notes] == ["OF102"]


# -- learning curves ------------------------------------------------------------------------------------

FOREST = {"tree": DecisionTreeClassifier(max_features=1), "bayes": GaussianNB()}


def test_the_full_size_is_what_collect_gives():
    curve = learn(FOREST, sizes=[0.3, 1.0], plan=of.Plan(folds=5, repeats=2), metric="log_loss", rng=7)
    oof = of.collect(FOREST, X, Y, of.Plan(folds=5, repeats=2), rng=7, progress=False)
    assert np.array_equal(curve.test.values[:, 1], oof.scores("log_loss").reshape(2, 10))
    assert curve.fingerprint == oof.fingerprint


def test_both_lines_equal_scikit_learn_at_the_full_size():
    # Training parts of 120 each: scikit-learn cuts all to the smallest.
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    ours = learn(GaussianNB(), sizes=[1.0], plan=cv, metric="accuracy")
    _, train, test = learning_curve(GaussianNB(), X, Y, cv=cv, train_sizes=[1.0])
    np.testing.assert_allclose(ours.train.values[0], train, rtol=1e-12)
    np.testing.assert_allclose(ours.test.values[0], test, rtol=1e-12)


def test_workers_do_not_matter():
    alone, together = (learn(FOREST, sizes=[12, 60], n_jobs=n) for n in (None, 2))
    assert np.array_equal(alone.train.values, together.train.values)
    assert np.array_equal(alone.test.values, together.test.values)


def test_a_size_does_not_depend_on_the_others():
    alone, among = learn(FOREST, sizes=[40]), learn(FOREST, sizes=[10, 40, 90])
    assert np.array_equal(alone.test.values[:, 0], among.test.values[:, 1])


def test_seeds_matter():
    first, second = (learn(FOREST, sizes=[40], rng=rng).test.values for rng in (0, 1))
    assert not np.array_equal(first, second)


def test_overfitting_shrinks_with_data():
    curve = learn(DecisionTreeClassifier(), *CANCER, sizes=[30, 450], metric="error")
    assert curve.train.mean.tolist() == [[0.0, 0.0]]
    assert curve.gap[0, 0] > curve.gap[0, 1] > 0


def test_the_band_is_the_standard_deviation_over_cells():
    curve = learn(FOREST, sizes=[30, 60], plan=of.Plan(folds=3, repeats=2))
    np.testing.assert_allclose(curve.test.mean, curve.test.values.mean(axis=-1))
    np.testing.assert_allclose(curve.test.high - curve.test.mean, curve.test.values.std(axis=-1, ddof=1))
    np.testing.assert_allclose(curve.test.mean - curve.test.low, curve.test.values.std(axis=-1, ddof=1))


def test_one_split_has_no_band():
    curve = learn(GaussianNB(), sizes=[0.5], plan=of.Plan.holdout())
    assert np.isnan(curve.test.low).all()
    assert "±" not in str(curve).splitlines()[2]
    assert curve.to_dict()["points"][0]["test_low"] is None


def test_sizes_are_sorted_and_counted():
    curve = learn(GaussianNB(), sizes=[60, 15, 60])
    assert curve.sizes.tolist() == [15, 60]
    default = learn(GaussianNB(), X[:120:4], Y[:120:4])  # 24 to train on: a tenth cannot hold three classes
    assert default.sizes.min() >= 3
    assert default.sizes.max() == 24


def test_regression_and_survival():
    values = load_diabetes(return_X_y=True)
    curve = learn(LinearRegression(), *values, sizes=[0.1, 1.0], metric="mse")
    assert curve.gap[0, 0] > curve.gap[0, 1] > 0

    class Risk(LinearRegression):
        def fit(self, X, y):
            return super().fit(X, -y["time"])

    rng = np.random.default_rng(0)
    time = rng.exponential(np.exp(-values[0][:, 2] * 20))
    y = np.array(list(zip(rng.random(len(time)) < 0.7, time, strict=True)), dtype=[("event", bool), ("time", float)])
    curve = learn(Risk(), values[0], y, sizes=[0.2, 1.0])
    assert curve.metric == "concordance"
    assert curve.test.mean[0, 1] > 0.6


def test_a_failing_configuration_has_no_line():
    curve = learn({"good": GaussianNB(), "bad": Raises()}, sizes=[30, 60])
    assert np.isfinite(curve.test.mean[0]).all()
    assert np.isnan(curve.test.mean[1]).all()
    assert curve.failures == {"RuntimeError: no luck today": 10}
    assert "failed: 10 fits, most often: RuntimeError: no luck today" in str(curve)
    with pytest.raises(CollectError, match="no luck today"):
        learn(Raises(), sizes=[30])


def test_a_fit_that_hangs_is_ended():
    curve = learn({"good": Tally(), "stuck": Stuck()}, sizes=[60], plan=of.Plan.holdout(), timeout=2.0)
    assert np.isfinite(curve.test.mean[0]).all()
    assert curve.failures == {"TimeoutError: no result after 2 s": 1}


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (
            [10, 121],
            "121 samples is larger than the smallest training part, 120 samples by 5-fold stratified. Give at most 120",
        ),
        ([0.5, 1.5], r"at most 1.0; got 1.5"),
        ([0.0, 0.5], "lies above 0"),
        ([float("nan")], "got nan"),
        ([2], "a training part needs 3 at least, one of every class"),
        ([0.01], "comes to 1 sample"),
        ([-5], "needs 3 at least"),
        ([], "sizes must be shares"),
        (0.5, "sizes must be shares"),
        (["a"], "sizes must be shares"),
        ([True], "sizes must be shares"),
    ],
)
def test_sizes_that_cannot_be(sizes, message):
    with pytest.raises(InputError, match=message):
        learn(GaussianNB(), sizes=sizes)


def test_what_cannot_be_scored_is_refused_before_the_work(tmp_path):
    log = tmp_path / "fits"
    with pytest.raises(InputError, match="mse"):
        learn(Tally(log=str(log)), metric="mse")
    with pytest.raises(NeedError, match="log_loss"):
        learn({"svm": SVC(), "tally": Tally(log=str(log))}, metric="log_loss")
    assert not log.exists()


def test_printed_and_written_forms_of_a_learning_curve():
    curve = learn(FOREST, sizes=[15, 60])
    assert repr(curve) == "<LearningCurve of 2 configurations by accuracy at 2 sizes>"
    assert len(str(curve).splitlines()) == 7
    assert curve._repr_html_().count("<tr>") == 5
    pytest.importorskip("pandas", reason="a frame needs pandas")
    frame = curve.to_frame()
    assert len(frame) == 2 * 2 * 5
    means = frame.groupby(["config", "size"], sort=False)["test"].mean().to_numpy().reshape(2, 2)
    np.testing.assert_allclose(means, curve.test.mean)
    points = curve.to_dict()["points"]
    assert [p["config"] for p in points] == ["tree", "tree", "bayes", "bayes"]
    assert points[1]["test"] == curve.test.mean[0, 1]


# -- power laws -----------------------------------------------------------------------------------------


def law_scores(a, b, c, sizes, spread=0.0, seed=0):
    rng = np.random.default_rng(seed)
    return a - b * sizes**-c + rng.normal(0, spread, len(sizes))


SIZES = np.array([20.0, 40, 80, 160, 320, 640])


@pytest.mark.parametrize("spread", [0.0, 0.004])
@pytest.mark.parametrize(("a", "b", "c"), [(0.9, 1.0, 0.5), (0.75, 3.0, 0.4), (0.98, 0.3, 0.25), (0.8, 2.0, 1.2)])
def test_the_fit_is_that_of_scipy(a, b, c, spread):
    scores = law_scores(a, b, c, SIZES, spread)
    (found,) = fit_power_law(SIZES, scores[None], 1.0)

    def at(n, a, b, c):
        return a - b * n**-c

    bounds = ([-np.inf, 0, 0.05], [1, np.inf, 3])
    theirs, _ = curve_fit(at, SIZES, scores, p0=(a, b, c), bounds=bounds, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    ours, other = (np.sum((at(SIZES, *p) - scores) ** 2) for p in (found, theirs))
    assert ours <= other * (1 + 1e-6) + 1e-13
    np.testing.assert_allclose(at(SIZES, *found), at(SIZES, *theirs), atol=1e-5)
    assert found == pytest.approx(theirs, rel=2e-3)
    if spread == 0:
        assert found == pytest.approx([a, b, c], rel=1e-4)


def test_laws_keep_to_what_scores_can_be():
    falling = law_scores(0.9, -0.5, 0.5, SIZES)
    steep = np.minimum(0.5 + 0.12 * np.log(SIZES / 10), 0.999)
    flat, capped = fit_power_law(SIZES, np.stack([falling, steep]), 1.0)
    assert flat[:2] == pytest.approx([falling.mean(), 0])
    assert capped[0] == 1.0
    assert fit_power_law(SIZES, steep[None], np.inf)[0, 0] > 1.0


def test_samples_for_a_score_turn_the_law_around():
    law = np.array([[0.9, 0.5, 0.5], [0.8, 0.5, 0.5], [0.9, 0.0, 0.5]])
    assert samples_for(law, 0.85) == pytest.approx([(0.5 / 0.05) ** 2, np.inf, 1])
    assert samples_for(law, 0.9).tolist() == [np.inf, np.inf, 1]
    assert samples_for(law, -5.0).tolist() == [1, 1, 1]


@pytest.fixture(scope="module")
def cancer_law():
    configs = {
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(random_state=0),
        "stump": DecisionTreeClassifier(max_depth=1),
    }
    curve = learn(configs, *CANCER, sizes=[30, 60, 120, 240, 400], metric="accuracy", plan=of.Plan(folds=5))
    return curve, of.curves.power_law(curve, n_resamples=200)


def test_a_law_has_the_scores_of_its_curve(cancer_law):
    curve, law = cancer_law
    for j, name in enumerate(curve.configs):
        at_sizes = [law.at(int(n), name).score for n in curve.sizes]
        assert np.sqrt(np.mean((at_sizes - curve.test.mean[j]) ** 2)) == pytest.approx(law.residual[j])
        low, high = law.at(400, name).interval
        assert low < law.at(400, name).score < high
        wider = law.at(400, name, confidence_level=0.99).interval
        assert wider.low < low
    scores = [law.at(569, name).score for name in curve.configs]
    best = law.best()
    assert (best.config, best.n, best.interval) == (curve.configs[int(np.argmax(scores))], 569, None)
    assert best.score == pytest.approx(max(scores))


def test_losses_are_mirrored(cancer_law):
    curve, law = cancer_law
    mirrored = replace(
        curve,
        metric="error",
        greater_is_better=False,
        test=replace(curve.test, values=1 - curve.test.values, mean=1 - curve.test.mean),
    )
    loss = of.curves.power_law(mirrored, n_resamples=200)
    assert loss.at(900, "tree").score == pytest.approx(1 - law.at(900, "tree").score)
    assert loss.best().config == law.best().config
    assert loss.needed(0.06, "tree").n == law.needed(0.94, "tree").n
    low, high = law.at(900, "tree").interval
    assert loss.at(900, "tree").interval == pytest.approx((1 - high, 1 - low))


def test_how_many_samples_a_score_needs(cancer_law):
    _, law = cancer_law
    a, b, c = law.parameters[1]
    target = law.at(2000, "tree").score
    found = law.needed(target, "tree")
    assert found.n == pytest.approx((b / (a - target)) ** (1 / c), rel=1e-3)
    assert found.more == found.n - 569
    assert found.n_interval.low <= found.n <= found.n_interval.high
    never = law.needed(0.9999, "stump")
    assert never.n is None
    assert never.n_interval.high == np.inf
    assert "no number of samples is enough (95% CI " in str(never)
    assert never.to_dict()["n_interval"][1] is None
    there = law.needed(0.5, "tree")
    assert there.more == 0
    assert "the 569 samples at hand are enough (95% CI 0 to 0 more)" in str(there)


def test_words_for_the_interval_of_what_is_lacking():
    def said(n, low, high):
        ends = of.results.Interval(low, high)
        return str(of.results.SamplesNeeded(question="AUC of 0.9", n=n, n_now=200, n_interval=ends)).splitlines()[0]

    assert said(700, 500.0, 900.0) == "AUC of 0.9: about 700 samples in all, 500 more (95% CI 300 to 700 more)"
    assert said(700, 500.0, np.inf).endswith("500 more (95% CI 300 more to no number)")
    assert said(None, np.inf, np.inf) == "AUC of 0.9: no number of samples is enough (95% CI no number)"


def test_draws_move_a_curve_as_the_folds_do_and_as_a_whole():
    """The covariance is S/J + ratio s s', times (J - 1) / (J - 3), that of a t distribution with J - 1 degrees of freedom."""
    scores = np.random.default_rng(0).normal(size=(3, 12)) * [[0.02], [0.04], [0.03]]
    drawn = drawn_deviations(scores, 0.25, 200_000, seed=1)
    S = np.cov(scores)
    s = np.sqrt(np.diag(S))
    expected = (S / 12 + 0.25 * np.outer(s, s)) * 11 / 9
    assert drawn.mean(axis=0) == pytest.approx(np.zeros(3), abs=5 * np.sqrt(np.diag(expected).max() / 200_000))
    assert np.cov(drawn.T) == pytest.approx(expected, rel=0.03)
    # Tails are those of Student's t.
    share = np.mean(np.abs(drawn[:, 0]) > stats.t.ppf(0.975, 11) * np.sqrt(S[0, 0] * (1 / 12 + 0.25)))
    assert share == pytest.approx(0.05, abs=0.002)


def test_a_law_of_the_draws_is_what_the_draws_say():
    """The interval is wide where folds disagree, and has no width where all agree."""
    curve = learn(GaussianNB(), sizes=[12, 24, 60, 120], plan=of.Plan(folds=5), metric="accuracy")
    same = replace(curve, test=replace(curve.test, values=np.repeat(curve.test.mean[..., None], 5, axis=-1)))
    low, high = of.curves.power_law(same, n_resamples=50).at(200).interval
    assert high - low < 1e-9
    low, high = of.curves.power_law(curve, n_resamples=50).at(200).interval
    assert high - low > 0.01
    first, again, other = (of.curves.power_law(curve, n_resamples=50, rng=rng).draws for rng in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_what_a_law_needs(cancer_law):
    curve, law = cancer_law
    with pytest.raises(NeedError, match=r"power_law needs 4 sizes or more; this one has 2\. Give more sizes"):
        of.curves.power_law(learn(GaussianNB(), sizes=[30, 60]))
    with pytest.raises(InputError, match="curve must be a learning curve"):
        of.curves.power_law([0.8, 0.9])
    with pytest.raises(InputError, match="config must be one of 'bayes', 'tree', 'stump'; got None"):
        law.needed(0.9)
    with pytest.raises(InputError, match="score must be a number"):
        law.needed("high", "tree")
    values = np.array(curve.test.values)
    values[0, 0, 1:] = np.nan
    with pytest.raises(NeedError, match="two folds or more that are scored at all sizes; 'bayes' has 1"):
        of.curves.power_law(replace(curve, test=replace(curve.test, values=values)))


# -- validation curves ----------------------------------------------------------------------------------

DEPTHS = [1, 2, 3, 5, None]


def test_the_predictions_are_those_of_collect():
    curve = validate(DecisionTreeClassifier(max_features=1), "max_depth", DEPTHS, rng=3)
    grid = of.grid("model", DecisionTreeClassifier(max_features=1), max_depth=DEPTHS)
    oof = of.collect(grid, X, Y, rng=3, progress=False)
    assert np.array_equal(curve.oof.data, oof.data)
    assert curve.oof.fingerprint == oof.fingerprint
    assert curve.oof.params == oof.params
    assert curve.configs == oof.configs
    assert of.estimate.bbc(curve.oof).value == of.estimate.bbc(oof, "accuracy", aggregate="fold").value
    assert curve.oof.selection().index == curve.best


def test_own_labels_reach_the_predictions():
    plan, svm = of.Plan(folds=3), SVC(probability=True, random_state=0)
    curve = validate(svm, "C", [0.01, 1.0], *CANCER, plan=plan)
    oof = of.collect(of.grid("model", svm, C=[0.01, 1.0]), *CANCER, plan, progress=False)
    assert oof.labels is not None
    assert np.array_equal(curve.oof.labels, oof.labels)


def test_both_lines_equal_scikit_learn():
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    ours = validate(SVC(), "gamma", [0.01, 0.1, 1.0], plan=cv, metric="accuracy", name="svm")
    train, test = validation_curve(SVC(), X, Y, param_name="gamma", param_range=[0.01, 0.1, 1.0], cv=cv)
    np.testing.assert_allclose(ours.train.values, train, rtol=1e-12)
    np.testing.assert_allclose(ours.test.values, test, rtol=1e-12)
    assert ours.configs == ("svm(gamma=0.01)", "svm(gamma=0.1)", "svm(gamma=1)")


def test_choices_are_those_of_the_rules():
    curve = validate(DecisionTreeClassifier(random_state=0), "max_depth", DEPTHS, *CANCER, metric="accuracy")
    best = of.select.best(curve.oof, "accuracy", "fold")
    simple = of.select.one_standard_error("max_depth")(curve.oof, "accuracy", "fold")
    assert curve.configs[curve.best] == best.name
    assert curve.configs[curve.one_standard_error] == simple.name
    assert curve.best_value == DEPTHS[curve.best]
    board = curve.oof.leaderboard("accuracy", "fold")
    se = dict(zip(board.configs, board.se, strict=True))
    np.testing.assert_allclose(curve.test.high - curve.test.mean, [se[name] for name in curve.configs])


def test_larger_may_be_simpler():
    leaves = [1, 2, 5, 10, 20]
    larger = validate(DecisionTreeClassifier(random_state=0), "min_samples_leaf", leaves, *CANCER, simpler="larger")
    smaller = validate(DecisionTreeClassifier(random_state=0), "min_samples_leaf", leaves, *CANCER)
    assert larger.best == smaller.best
    assert smaller.one_standard_error <= smaller.best <= larger.one_standard_error
    reach = larger.test.low[larger.best]
    assert larger.one_standard_error == max(v for v in range(5) if larger.test.mean[v] >= reach)


def test_where_no_standard_error_is_known():
    words = validate(SVC(), "kernel", ["linear", "rbf"], plan=of.Plan(folds=3))
    assert words.one_standard_error is None
    assert words.one_standard_error_value is None
    once = validate(SVC(), "C", [0.1, 1.0], plan=of.Plan.repeated_holdout(3))
    assert once.one_standard_error is None
    assert "one standard error" not in str(once).splitlines()[3]


def test_a_failing_value_cannot_win():
    curve = validate(GaussianNB(), "var_smoothing", [-1.0, 1e-9], plan=of.Plan(folds=3))
    assert np.isnan(curve.test.mean[0])
    assert curve.best == 1
    assert sum(curve.failures.values()) == 3
    assert len(curve.oof.messages) == 3


def test_printed_and_written_forms_of_a_validation_curve():
    curve = validate(DecisionTreeClassifier(random_state=0), "max_depth", DEPTHS)
    assert repr(curve) == "<ValidationCurve of max_depth by accuracy, 5 values>"
    assert "best" in str(curve).splitlines()[2 + curve.best]
    assert curve._repr_html_().count("<tr>") == 6
    pytest.importorskip("pandas", reason="a frame needs pandas")
    assert len(curve.to_frame()) == 50
    facts = curve.to_dict()
    assert facts["points"][4]["value"] is None
    assert facts["best"] == curve.best
    assert facts["fingerprint"] == curve.oof.fingerprint


def test_arguments_of_a_validation_curve():
    with pytest.raises(InputError, match="simpler must be"):
        validate(SVC(), "C", [1.0], simpler="fewer")
    with pytest.raises(InputError, match="values must be a list"):
        validate(SVC(), "kernel", "rbf")
    with pytest.raises(InputError, match="empty"):
        validate(SVC(), "C", [])
    with pytest.raises(InputError, match="depth"):
        validate(SVC(), "depth", [1.0])


# -- documentation --------------------------------------------------------------------------------------

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = [
    example
    for page in ("curves.md", "advice.md")
    for example in re.findall(
        r"^## ([^\n]+)\n.*?```python\n(.*?)```\n```\n(.*?)```\n", (DOCS / page).read_text(), re.M | re.S
    )
]


@pytest.mark.parametrize(("title", "code", "printed"), EXAMPLES, ids=[title for title, *_ in EXAMPLES])
def test_examples_of_the_documentation(title, code, printed):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, title, "exec"), {})
    assert out.getvalue() == printed


def test_the_examples_were_found():
    assert len(EXAMPLES) == 6
