"""A null hypothesis other than 0: every test and its interval agree about it, and what has no such form is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import outfold as of
from internals import TESTS, cli
from outfold import compare
from outfold.exceptions import InputError, NeedError


def predictions(seed, folds=None, n=60):
    """Probabilities of two models of unequal strength."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    r = 1 if folds is None else folds.shape[1]
    shared = rng.normal(size=(n, 2, 1))
    z = np.array([2.5, 1.5])[:, None] * (y[:, None, None] - 0.5) + shared + 0.4 * rng.normal(size=(n, 2, r))
    return of.from_arrays(y, 1 / (1 + np.exp(-z)), folds=folds, configs=["a", "b"], response="proba")


def split(n_folds, n_repeats, seed, n=60):
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(n) % n_folds for _ in range(n_repeats)], axis=1)


def holdouts(seed):
    scores = np.random.default_rng(seed).normal(0.8, 0.04, (2, 8))
    return of.from_scores({"a": scores[0], "b": scores[1]}, n_train=70, n_test=30, design="holdout")


def blocked(seed):
    scores = np.random.default_rng(seed).normal(0.8, 0.04, (2, 6))
    return of.from_scores({"a": scores[0], "b": scores[1]}, n_train=50, n_test=50, design="blocked")


RANDOM = {"n_resamples": 400}
# For every test of a pair: where it applies, by which metrics, and with which options its interval inverts it.
CASES = {
    "t_training": (lambda s: predictions(s, split(5, 2, s)), ("accuracy", "brier", "roc_auc", "f1"), {}),
    "t_corrected": (lambda s: predictions(s, split(5, 2, s)), ("accuracy", "log_loss"), {}),
    "t_corrected_kfold": (lambda s: predictions(s, split(5, 1, s)), ("accuracy", "brier"), {"rho": 0.3}),
    "t_kfold": (lambda s: predictions(s, split(5, 1, s)), ("brier",), {}),
    "t_resampled": (holdouts, (None,), {}),
    "t_5x2cv": (lambda s: predictions(s, split(2, 5, s)), ("accuracy", "brier"), {}),
    "t_5x2cv_combined": (lambda s: predictions(s, split(2, 5, s)), ("accuracy", "brier"), {}),
    "f_5x2cv": (lambda s: predictions(s, split(2, 5, s)), ("accuracy", "brier"), {}),
    "t_blocked_3x2": (blocked, (None,), {}),
    "t_blocked_mx2": (blocked, (None,), {"variance_weight": 4 / 3}),
    "mcnemar": (predictions, ("accuracy", "error"), {"method": ("plain", "edwards")}),
    "z_proportions": (predictions, ("accuracy", "error"), {}),
    "delong": (predictions, ("roc_auc",), {}),
    "bootstrap": (predictions, ("accuracy", "brier", "f1"), {"method": ("bca", "percentile"), **RANDOM}),
    "permutation": (predictions, ("accuracy", "brier"), RANDOM),
    "t_skewed": (predictions, ("accuracy", "log_loss"), {}),
}


def test_every_test_of_a_pair_is_tried():
    # A Bayesian test has no null hypothesis.
    assert set(CASES) == set(TESTS) - {"t_bayes"}


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000), level=st.sampled_from([0.8, 0.9, 0.95]), where=st.floats(-0.6, 1.6), data=st.data())
def test_a_null_is_rejected_exactly_where_the_interval_leaves_it_out(name, seed, level, where, data):
    make, metrics, options = CASES[name]
    chosen = {key: data.draw(st.sampled_from(v)) if isinstance(v, tuple) else v for key, v in options.items()}
    source, metric, test = make(seed), data.draw(st.sampled_from(metrics)), getattr(compare, name)
    plain = test(source, metric, "a", "b", confidence_level=level, **chosen)
    assume(plain.interval is not None and plain.interval.high > plain.interval.low)
    low, high = plain.interval
    null = low + where * (high - low)
    assume(min(abs(null - low), abs(null - high)) > 1e-6 * (high - low))
    assume(name not in ("mcnemar", "z_proportions") or abs(null) < 1)
    found = test(source, metric, "a", "b", confidence_level=level, null=null, **chosen)
    # The interval, the difference and the effects do not depend on the null.
    assert (found.interval, found.difference, found.wins) == (plain.interval, plain.difference, plain.wins)
    assert found.significant == (not low < null < high)
    if not TESTS[name].directed:
        return
    sides = {
        side: test(source, metric, "a", "b", confidence_level=level, null=null, alternative=side, **chosen).pvalue
        for side in ("better", "worse", "greater", "less")
    }
    assert found.pvalue == pytest.approx(min(1.0, 2 * min(sides["better"], sides["worse"])), abs=1e-12)
    up = found.greater_is_better
    assert (sides["greater"], sides["less"]) == (sides["better" if up else "worse"], sides["worse" if up else "better"])
    tail = round((1 - level) / 2, 12)
    assert (sides["greater"] <= tail) == (null < low)
    assert (sides["less"] <= tail) == (null > high)


@pytest.mark.parametrize("name", CASES)
def test_a_null_of_0_changes_nothing(name):
    make, metrics, options = CASES[name]
    chosen = {key: v[0] if isinstance(v, tuple) else v for key, v in options.items()}
    one, other = (getattr(compare, name)(make(3), metrics[0], "a", "b", **chosen, **null) for null in ({}, {"null": 0}))
    assert (one.pvalue, one.statistic, str(one)) == (other.pvalue, other.statistic, str(other))
    assert other.null == 0.0


def test_a_null_moves_the_scores():
    """Testing null=d is testing 0 after d was added to all scores of the second."""
    oof = predictions(4, split(5, 1, 4))
    a, b = (oof.scores("brier")[j, 0] for j in (0, 1))
    moved = of.from_scores({"a": a, "b": b + 0.03}, n_train=48, n_test=12)
    plain = of.from_scores({"a": a, "b": b}, n_train=48, n_test=12)
    shifted, zero = compare.t_kfold(plain, None, "a", "b", null=0.03), compare.t_kfold(moved, None, "a", "b")
    assert (shifted.statistic, shifted.pvalue) == pytest.approx((zero.statistic, zero.pvalue), rel=1e-9)
    losses = np.random.default_rng(0).gamma(2.0, 1.0, (40, 2))
    one = of.from_arrays(None, losses, response="pointwise")
    other = of.from_arrays(None, losses + np.array([0.0, 0.25]), response="pointwise")
    for test in (compare.permutation, compare.bootstrap):
        found = test(one, "mean", 0, 1, null=0.25, n_resamples=999)
        assert found.pvalue == pytest.approx(test(other, "mean", 0, 1, n_resamples=999).pvalue, abs=1e-9)


def test_many_pairs_and_auto_take_it():
    rng = np.random.default_rng(1)
    right = rng.random((90, 3)) < [0.9, 0.8, 0.6]
    oof = of.from_arrays(None, right, configs=["a", "b", "c"], response="pointwise")
    found = compare.pairs(oof, "mean", null=0.1)
    # All at once are tested for no difference only.
    assert found.omnibus is None
    assert found.terms.null == 0.1
    assert [pair.null for pair in found] == [0.1] * 3
    assert found[0].pvalue == compare.mcnemar(oof, "mean", "a", "b", null=0.1).pvalue
    assert " differ from +0.1000 at alpha 0.05" in str(found)
    assert compare.auto(oof, "mean", null=0.1)[1].pvalue == found[1].pvalue
    assert compare.auto(oof, "mean", "a", "c", null=0.1).pvalue == found[1].pvalue


@pytest.mark.parametrize(
    ("difference", "p", "null", "better", "decision"),
    [
        (0.05, 0.01, 0.02, "a", "the difference is above +0.0200 at alpha 0.05: a is better"),
        (0.01, 0.01, 0.02, None, "the difference is below +0.0200 at alpha 0.05"),
        (-0.05, 0.01, -0.02, "b", "the difference is below -0.0200 at alpha 0.05: b is better"),
        (-0.01, 0.01, -0.02, None, "the difference is above -0.0200 at alpha 0.05"),
        (0.03, 0.3, 0.02, None, "no difference from +0.0200 found at alpha 0.05"),
        (0.03, 0.01, 0.0, "a", "a is better at alpha 0.05"),
    ],
)
@pytest.mark.parametrize("greater_is_better", [True, False])
def test_the_decision_says_where_the_difference_lies(difference, p, null, better, decision, greater_is_better):
    made = of.results.Comparison(
        a="a",
        b="b",
        metric="m",
        greater_is_better=greater_is_better,
        description="",
        reference="",
        method="t",
        difference=difference,
        scores=(0.5, 0.5 - difference),
        pvalue=p,
        null=null,
    )
    if not greater_is_better:
        other = {"a": "b", "b": "a"}
        better = other.get(better)
        decision = decision.replace(": a is", ": B is").replace(": b is", ": a is").replace(": B is", ": b is")
        decision = "b is better at alpha 0.05" if null == 0 else decision
    assert (made.better, made.decision) == (better, decision)
    if null:
        assert f"p = {p:.4f} (two-sided, null {null:+.4f})" in str(made)


def test_what_has_no_such_form_is_refused():
    oof = predictions(0)
    for metric in ("roc_auc", "f1"):
        with pytest.raises(NeedError, match=rf"permutation with null=0.02 needs a metric that is a mean.*{metric}"):
            compare.permutation(oof, metric, "a", "b", null=0.02)
        compare.permutation(oof, metric, "a", "b", null=0, n_resamples=100)
    for method in ("exact", "midp"):
        with pytest.raises(
            InputError, match=rf"method must be 'plain' or 'edwards' where null is not 0; got '{method}'"
        ):
            compare.mcnemar(oof, "accuracy", "a", "b", null=0.02, method=method)
    by_default = compare.mcnemar(oof, "accuracy", "a", "b", null=0.02)
    assert by_default.pvalue == compare.mcnemar(oof, "accuracy", "a", "b", null=0.02, method="plain").pvalue
    assert "Tango's score test" in by_default.description
    with pytest.raises(InputError, match="null must lie between -1 and 1"):
        compare.z_proportions(oof, "accuracy", "a", "b", null=-1.0)
    kfold = predictions(0, split(5, 1, 0))
    with pytest.raises(NeedError, match=r"t_bayes with null=0.1 needs a null hypothesis.* Use rope"):
        compare.pairs(kfold, "accuracy", test="t_bayes", null=0.1)


@pytest.mark.parametrize("null", ["0.1", None, np.nan, np.inf, True])
def test_a_null_is_a_number(null):
    with pytest.raises(InputError, match="null must be a difference in units of the metric"):
        compare.delong(predictions(0), "roc_auc", "a", "b", null=null)


def test_without_variance_only_the_null_itself_has_a_p_value():
    right = of.from_arrays(None, [[0.5, 0.25]] * 20, configs=["a", "b"], response="pointwise")
    at, beside = (compare.bootstrap(right, "mean", "a", "b", null=null, n_resamples=100) for null in (0.25, 0.1))
    assert at.pvalue == 1.0
    assert beside.pvalue is None
    assert "OF304" in [note.code for note in beside.notes]
    assert "OF304" not in [note.code for note in at.notes]
    # 0.8 - 0.78 is not 0.02 in binary fractions.
    near = of.from_arrays(None, [[0.8, 0.78]] * 20, configs=["a", "b"], folds=np.arange(20) % 5, response="pointwise")
    for test in (compare.bootstrap, compare.permutation, compare.t_training, compare.t_skewed):
        found = test(near, "mean", "a", "b", null=0.02)
        assert found.pvalue == 1.0
        assert "OF304" not in [note.code for note in found.notes]
        # Flips of differences that are all alike say nothing about another one.
        found = test(near, "mean", "a", "b", null=0.1)
        assert found.pvalue is None
        assert "OF304" in [note.code for note in found.notes]
    assert compare.permutation(near, "mean", "a", "b").pvalue < 0.001
    folds = of.from_scores({"a": [0.75] * 5, "b": [0.5] * 5}, n_train=80, n_test=20)
    assert compare.t_kfold(folds, None, "a", "b", null=0.25).pvalue == 1.0
    assert compare.t_kfold(folds, None, "a", "b", null=0.2).pvalue is None


def test_on_the_command_line(tmp_path, capsys):
    oof = predictions(2, split(5, 1, 2))
    file = str(oof.save(tmp_path / "x.oof"))
    assert cli.main(["compare", file, "a", "b", "--metric", "accuracy", "--null", "-0.02"]) == 0
    assert capsys.readouterr().out == f"{compare.auto(oof, 'accuracy', 'a', 'b', null=-0.02)}\n"


def test_no_shift_has_a_permutation_p_value_of_0():
    """With another null, units on which the two agree count too: their flips are all taken where that is few, else drawn."""
    values = np.zeros((9, 2))
    values[:3, 0] = 0.25, 0.5, -0.125
    signs = np.array(list(product([1, -1], repeat=9)))
    oof = of.from_arrays(None, values, response="pointwise")
    for null in (-0.5, -0.03125, 0.0, 0.125):
        d = values[:, 0] - null
        expected = [np.mean(signs @ d >= d.sum() - 1e-12), np.mean(signs @ d <= d.sum() + 1e-12)]
        found = [compare.permutation(oof, "mean", 0, 1, null=null, alternative=way) for way in ("greater", "less")]
        assert [one.pvalue for one in found] == expected
        assert all(one.details["exact"] for one in found)
    more = of.from_arrays(None, np.concatenate([values, np.zeros((40, 2))]), response="pointwise")
    far = compare.permutation(more, "mean", 0, 1, null=0.5, alternative="less")
    assert far.pvalue == 1 / 10_000  # 1,250 times each of the 8 sets of units that differ
    assert [note.code for note in far.notes] == ["OF303"]
    assert (far.details["exact"], compare.permutation(more, "mean", 0, 1).details["exact"]) == (False, True)
