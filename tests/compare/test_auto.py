"""Which test is chosen, why, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from conftest import make_predictions
from internals import DECISIONS, TESTS, error_rates
from outfold import compare
from outfold.exceptions import InputError, NeedError

N = 64


def predictions(plan, metric="accuracy", groups=None, seed=0):
    """Predictions of three configurations on the splits of a plan, without any fit."""
    rng = np.random.default_rng(seed)
    y = np.arange(N) % 2
    splits = plan.split(y, groups)
    P = 1 / (1 + np.exp(-(1.2 * (y - 0.5)[:, None, None] + rng.normal(size=(N, 3, splits.n_repeats)))))
    mask = np.broadcast_to((splits.folds < 0)[:, None, :], P.shape)
    oof = of.from_arrays(y, np.ma.masked_array(P, mask), folds=splits.folds, groups=groups, response="proba")
    return replace(oof, plan=splits.plan, train=splits.train)


def one_set(groups=None, repeats=1, n=N):
    oof = make_predictions("accuracy", n=n, c=3, r=repeats)
    return of.from_arrays(oof.y, oof.P, groups=groups, response="proba")


GROUPS = np.arange(N) // 4


@pytest.mark.parametrize(
    ("source", "metric", "test"),
    [
        (lambda: one_set(), "accuracy", "mcnemar"),
        (lambda: one_set(), "error", "mcnemar"),
        (lambda: one_set(), "roc_auc", "permutation"),
        (lambda: one_set(n=120), "roc_auc", "delong"),
        (lambda: one_set(), "f1", "permutation"),
        (lambda: one_set(), "brier", "permutation"),
        (lambda: one_set(repeats=3), "accuracy", "permutation"),
        (lambda: one_set(groups=GROUPS), "accuracy", "permutation"),
        (lambda: one_set(groups=GROUPS), "roc_auc", "permutation"),
        (lambda: predictions(of.Plan.holdout()), "accuracy", "mcnemar"),
        (lambda: predictions(of.Plan.holdout()), "roc_auc", "permutation"),
        (lambda: predictions(of.Plan(folds=4)), "roc_auc", "t_training"),
        (lambda: predictions(of.Plan(folds=4)), "f1", "t_training"),
        (lambda: predictions(of.Plan(folds=4, repeats=3)), "accuracy", "t_training"),
        (lambda: predictions(of.Plan(folds=4), groups=GROUPS), "accuracy", "t_training"),
        (lambda: predictions(of.Plan(folds=16), groups=GROUPS), "accuracy", "t_corrected_kfold"),
        (lambda: predictions(of.Plan.repeated_holdout(8)), "accuracy", "t_training"),
        (lambda: predictions(of.Plan.five_by_two()), "roc_auc", "t_training"),
        (lambda: predictions(of.Plan.blocked(3)), "accuracy", "t_training"),
        (lambda: predictions(of.Plan.blocked(7)), "accuracy", "t_training"),
    ],
)
def test_the_design_chooses(source, metric, test):
    found = compare.auto(source(), metric, "config 0", "config 1")
    assert found.method == test
    assert found.reason.startswith(f"{test} was chosen for ")
    assert found.reason.endswith(".")
    options = {"rho": 1.5 / 16} if test == "t_corrected_kfold" else {}
    same = getattr(compare, test)(source(), metric, "config 0", "config 1", **options)
    assert (found.pvalue, found.interval) == (same.pvalue, same.interval)
    many = compare.auto(source(), metric)
    assert many.terms.method == test
    assert len(many) == 3


def test_a_direction_needs_no_other_test():
    oof = predictions(of.Plan.five_by_two())
    assert compare.auto(oof, "accuracy", 0, 1, alternative="better").method == "t_training"


@pytest.mark.parametrize(
    ("plan", "metric", "says"),
    [
        (of.Plan.leave_one_out(), "roc_auc", "auto finds no valid test of roc_auc for leave-one-out"),
        (of.Plan.leave_one_out(), "accuracy", "auto finds no valid test of accuracy for leave-one-out"),
        (of.Plan.leave_one_out(), "brier", "no test keeps its level"),
        (of.Plan.from_cv(TimeSeriesSplit(4)), "accuracy", "no test is known to be valid for such splits"),
    ],
)
def test_no_valid_test_is_an_error_with_a_way_out(plan, metric, says):
    with pytest.raises(NeedError, match=says) as caught:
        compare.auto(predictions(plan), metric, 0, 1)
    assert "Collect with Plan(folds=10" in str(caught.value)


SCORES = np.random.default_rng(0).normal(0.8, 0.03, size=(2, 30))


@pytest.mark.parametrize("n_folds", [5, 10])
def test_scores_of_one_k_fold_have_a_test_that_keeps_its_level(n_folds):
    scores = of.from_scores(SCORES[:, :n_folds], n_train=100 - 100 // n_folds, n_test=100 // n_folds)
    found, many = compare.auto(scores), compare.pairs(scores)
    assert found.method == many.terms.method == "t_corrected_kfold"
    expected = compare.t_corrected_kfold(scores, None, 0, 1, rho=1.5 / n_folds)
    assert found.pvalue == many[0].pvalue == expected.pvalue
    assert found.interval == many[0].interval == expected.interval
    share = max(error_rates()["K-fold"]["t_corrected_kfold(rho=1.5/K)"].values())
    assert f"in at most {share:.1%} of data sets at alpha 0.05. t_training finds more" in found.reason
    assert "OF312" not in {note.code for note in found.notes}
    own = compare.auto(scores, rho=0.5)
    assert own.pvalue == compare.t_corrected_kfold(scores, None, 0, 1).pvalue
    assert "with the correlation that you gave" in own.reason
    assert "data sets" not in own.reason


@pytest.mark.parametrize(
    ("n_splits", "options", "error"),
    [
        (10, {"n_train": 50, "n_test": 50, "design": "5x2cv"}, "5 x 2-fold"),
        (6, {"n_train": 50, "n_test": 50, "design": "blocked"}, "blocked"),
        (30, {"n_train": 90, "n_test": 10, "repeats": 3}, "repeated K-fold"),
        (8, {"n_train": 70, "n_test": 30, "design": "holdout"}, "repeated hold-out"),
    ],
)
def test_scores_alone_have_the_test_that_errs_least(n_splits, options, error):
    found = compare.auto(of.from_scores(SCORES[:, :n_splits], **options))
    assert found.method == "t_corrected"
    share = f"{max(error_rates()[error]['t_corrected'].values()):.0%}"
    instead = ". If you collect predictions, for example with `Plan.five_by_two()`, the choice is t_training"
    assert f"in up to {share} of data sets at alpha 0.05{instead}" in found.reason
    (note,) = (note for note in found.notes if note.code == "OF312")
    assert f"in up to {share} of simulated data sets ({error}, alpha 0.05)" in note.text


def test_a_pair_with_a_control_is_that_pair():
    oof = predictions(of.Plan(folds=4))
    found = compare.auto(oof, "accuracy", 0, 1, control=1)
    assert len(oof.configs) == 3
    assert [(one.a, one.b) for one in found] == [("config 0", "config 1")]


def test_two_configurations_are_a_comparison():
    oof = predictions(of.Plan(folds=4)).sel(config=[0, 1])
    assert isinstance(compare.auto(oof, "accuracy"), of.results.Comparison)
    against = compare.auto(oof, "accuracy", control="config 1")
    assert isinstance(against, of.results.Comparisons)
    assert against.control == "config 1"


def test_right_or_wrong_of_part_of_the_samples_is_right_or_wrong():
    values = np.ma.masked_array(np.repeat([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], 10, axis=0))
    values[20:] = np.ma.masked
    folds = np.where(np.arange(30) < 20, 0, -1)
    part = of.from_arrays(None, values, folds=folds, response="pointwise")
    assert compare.auto(part).method == "mcnemar"
    assert compare.e_process(part, None, 0, 1).bounds == (-1, 1)


def test_arguments_that_do_not_go_together():
    oof = predictions(of.Plan(folds=4))
    with pytest.raises(InputError, match="Give a and b, or configs, or neither"):
        compare.auto(oof, "accuracy", "config 0")
    with pytest.raises(InputError, match=r"second argument; .* Call auto\(source, 'roc_auc', 'config 0', 'config 1'\)"):
        compare.auto(oof, "config 0", "config 1")
    with pytest.raises(InputError, match="n_resamples is not an option of t_training; it has none"):
        compare.auto(oof, "accuracy", 0, 1, n_resamples=100)
    with pytest.raises(
        InputError, match=r"margin is not an option of t_training; .* For a margin, use compare\.non_inf"
    ):
        compare.auto(oof, "accuracy", 0, 1, margin=0.02)


def test_a_metric_in_the_wrong_place_is_said_with_the_right_call():
    oof = predictions(of.Plan(folds=4))
    right = r"Call t_corrected\(source, 'accuracy', 'config 0', 'config 1'\)"
    with pytest.raises(
        InputError, match=rf"metric is the second argument; got the configuration 'config 0' .* {right}"
    ):
        compare.t_corrected(oof, "config 0", "config 1", "accuracy")
    with pytest.raises(InputError, match=right):
        compare.t_corrected(oof, "config 0", "config 1", metric="accuracy")
    with pytest.raises(InputError, match=r"Call mcnemar\(source, 'roc_auc', 'config 0', 'config 1'\)"):
        compare.mcnemar(oof, "config 0", "config 1")
    with pytest.raises(InputError, match=r"Call permutation\(source, 'roc_auc', 0, 1\)"):
        compare.permutation(oof, 0, 1)
    with pytest.raises(InputError, match="a must be a configuration; got the metric 'accuracy'"):
        compare.t_corrected(oof, None, "accuracy", "config 0")
    with pytest.raises(
        InputError, match=r"got a list there. Call cochran_q\(source, 'roc_auc', 'config 0', 'config 1'\)"
    ):
        compare.cochran_q(oof, ["config 0", "config 1"])


@pytest.mark.parametrize(("metric", "better"), [("accuracy", "greater"), ("error", "less")])
def test_greater_and_less_are_about_the_metric(metric, better):
    oof = predictions(of.Plan(folds=4))
    found = compare.t_corrected(oof, metric, 0, 1, alternative=better)
    expected = compare.t_corrected(oof, metric, 0, 1, alternative="better")
    assert (found.pvalue, found.alternative) == (expected.pvalue, "better")


@pytest.mark.parametrize("rng", [5, np.random.SeedSequence(5)])
def test_a_seed_sequence_is_as_good_as_its_number(rng):
    oof = one_set()
    found = compare.permutation(oof, "brier", 0, 1, n_resamples=200, rng=rng)
    assert found.pvalue == compare.permutation(oof, "brier", 0, 1, n_resamples=200, rng=5).pvalue


def test_the_choice_never_looks_at_the_scores():
    for seed in range(5):
        assert compare.auto(predictions(of.Plan(folds=4), seed=seed), "accuracy", 0, 1).method == "t_training"


def test_every_row_of_the_table_names_a_test_and_the_last_holds_always():
    assert all(row.test is None or TESTS[row.test.name] is row.test for row in DECISIONS)
    assert (DECISIONS[-1].design, DECISIONS[-1].metric, DECISIONS[-1].test) == ((), (), None)
    assert any(row.test is not None and row.test.by_folds for row in DECISIONS)


def test_the_docs_hold_the_table():
    text = (Path(__file__).parents[2] / "docs" / "comparing.md").read_text()
    section = re.search(r"^## Which test\?\n(.*?)(?=^## |\Z)", text, re.M | re.S).group(1)
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", section, re.M)[2:]
    assert rows == [row.in_words() for row in DECISIONS]


def test_registry_holds_every_test_of_a_pair():
    public = {name for name in compare.__all__ if name not in _NOT_PAIRS}
    assert public == set(TESTS)


_NOT_PAIRS = {
    "EProcess",
    "algorithms",
    "auto",
    "cochran_q",
    "detectable",
    "e_process",
    "equivalent",
    "f_looney",
    "non_inferior",
    "pairs",
    "power",
    "samples_needed",
    "tied_set",
}


@pytest.mark.parametrize(
    ("plan", "kind"), [(of.Plan.five_by_two(), "5 x 2-fold"), (of.Plan(folds=5, repeats=2), "repeated K-fold")]
)
def test_the_reason_says_how_often_the_test_erred(plan, kind):
    X, y = make_classification(60, 4, n_informative=2, random_state=0)
    models = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=1)}
    found = compare.auto(of.collect(models, X, y, plan, progress=False), "accuracy")
    assert found.method == "t_training"
    assert f"in at most {error_rates()[kind]['t_training']['accuracy']:.1%} of data sets at alpha 0.05" in found.reason
