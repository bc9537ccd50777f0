"""Advice: what is recommended when, that it can be done, and that every reason has a source."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from outfold.exceptions import InputError

TASKS = ("binary", "multiclass", "regression", "survival")


def test_few_samples_get_repeats_and_no_dropping():
    advice = of.advise(80, 150)
    assert (advice.plan, advice.drop, advice.method, advice.test) == (of.Plan(10, 4), None, "bbc", None)
    assert advice.fits == 4 * 10 * 150


def test_more_samples_get_dropping():
    for n, rule in ((99, None), (100, of.drop.Bootstrap())):
        assert repr(of.advise(n, 200).drop) == repr(rule)
    assert of.advise(100, 200).plan == of.Plan(10)
    assert of.advise(500, 1, goal="estimate").drop is None


def test_one_configuration_needs_no_correction():
    advice = of.advise(500, 1, goal="estimate")
    assert advice.method == "cv"
    assert advice.expected_optimism is None


def test_a_hold_out_is_enough_exactly_where_its_interval_is_narrow():
    # 9,604 = (1.96 / (2 x 0.01))^2 test samples; a third of the data.
    assert of.advise(3 * 9604, 20).plan.kind == "holdout"
    assert of.advise(3 * 9604 - 3, 20).plan.kind == "kfold"
    assert of.advise(3 * 385, 20, precision=0.05).plan.kind == "holdout"
    assert of.advise(3 * 384, 20, precision=0.05).plan.kind == "kfold"


@pytest.mark.parametrize(
    ("n", "c", "task", "test"),
    [
        (300, 2, "binary", "t_training"),
        (300, 5, "regression", "t_training"),
        (60_000, 2, "binary", "mcnemar"),
        (60_000, 3, "multiclass", "cochran_q"),
        (60_000, 2, "regression", "permutation"),
    ],
)
def test_tests_for_comparisons(n, c, task, test):
    advice = of.advise(n, c, task, "compare")
    assert advice.test == test
    assert advice.method is None
    assert any("adjust" in reason for reason in advice.reasons) == (c > 2)


def test_the_blocked_plan_where_5x2_is_too_dear():
    assert of.advise(300, 2, goal="compare", cost=1, budget=20).test == "t_training"
    blocked = of.advise(300, 2, goal="compare", cost=1, budget=19)
    assert blocked.test == "t_training"
    assert blocked.plan == of.Plan.blocked(3)
    assert blocked.fits == 12


def test_the_best_plan_that_the_budget_allows():
    def plan(budget, **options):
        return of.advise(80, 10, cost=1, budget=budget, **options).plan

    assert plan(1e6) == of.Plan(10, 10)
    assert plan(399) == of.Plan(10, 3)
    assert plan(100) == of.Plan(10)
    assert plan(50, n_jobs=2) == of.Plan(10)
    assert plan(99) == of.Plan(5)
    assert plan(49).kind == "holdout"
    short = of.advise(80, 10, cost=1, budget=4)
    assert short.plan.kind == "holdout"
    assert any("do for 4 configurations" in reason for reason in short.reasons)


@given(
    st.integers(4, 10**5),
    st.integers(2, 300),
    st.sampled_from(TASKS),
    st.sampled_from(("estimate", "select", "compare")),
    st.one_of(st.none(), st.floats(0.01, 100)),
    st.one_of(st.none(), st.floats(1, 1e5)),
)
def test_every_reason_has_a_source_and_fits_are_what_the_plan_needs(n, c, task, goal, cost, budget):
    budget = None if cost is None else budget
    advice = of.advise(n, c, task, goal, cost, budget)
    assert advice.reasons
    assert all(re.search(r" \[.*(Tsamardinos|Raeder|Wang|Raschka|ours).*\]\.$", reason) for reason in advice.reasons)
    assert len(set(advice.reasons)) == len(advice.reasons)
    # What the plan draws for as many values without classes, whose number could make the folds fewer.
    assert advice.fits == c * len(advice.plan.split(np.linspace(0.1, 1, min(n, 500))).cells)
    assert (advice.expected_seconds is None) == (cost is None)
    if budget is not None and not any("too few even" in reason for reason in advice.reasons):
        assert advice.expected_seconds <= budget * (1 + 1e-9)


def test_the_expected_optimism_is_that_of_the_held_out_samples():
    assert of.advise(80, 150).expected_optimism == of.simulate.optimism(80, 150, (14, 6))
    assert of.advise(60_000, 9, accuracy=0.8).expected_optimism == of.simulate.optimism(20_000, 9, 0.8)
    assert of.advise(80, 150, "regression").expected_optimism is None


def test_advice_can_be_followed():
    X, y = load_iris(return_X_y=True)
    configs = of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 2, 3])
    advice = of.advise(150, 3, "multiclass")
    oof = of.collect(configs, X, y, advice.plan, drop=advice.drop, progress=False)
    assert oof.provenance["n_fits"] <= advice.fits
    assert getattr(of.estimate, advice.method)(oof, "accuracy").value > 0.8


def test_nested_cross_validation_as_a_second_opinion_counts_its_fits():
    advice = of.advise(150, 3, "multiclass", "estimate")
    X, y = load_iris(return_X_y=True)
    configs = of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 2, 3])
    both = of.collect(configs, X, y, advice.plan, inner=True, progress=False)
    further = both.provenance["n_fits"] - advice.fits
    assert any(f"for {further:,} further fits" in reason for reason in advice.reasons)


def test_printed_and_written_forms():
    advice = of.advise(500, 236, cost=0.05, n_jobs=2)
    text = str(advice)
    assert text.startswith("To select with 500 samples, 236 configurations (binary)")
    assert "2,360 at most" in text
    assert "59 s" in text
    assert text.count("  - ") == len(advice.reasons)
    facts = advice.to_dict()
    assert of.Plan.from_dict(facts["plan"]) == advice.plan
    assert facts["expected_optimism"]["value"] == advice.expected_optimism.value
    assert advice._repr_html_().count("<tr>") == 6 + len(advice.reasons)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((80, 5), {"goal": "win"}, "goal must be 'estimate', 'select' or 'compare'; got 'win'"),
        ((80, 5), {"task": "ranking"}, "task must be"),
        ((1, 5), {}, "n_samples must be a whole number of at least 2"),
        ((3, 2), {"goal": "compare"}, "n_samples must be a whole number of at least 4"),
        ((80, 0), {}, "n_configs"),
        ((80, 1), {}, "goal='select' needs at least 2 configurations"),
        ((80, 1), {"goal": "compare"}, "goal='compare' needs at least 2"),
        ((80, 5), {"budget": 60}, "budget needs cost"),
        ((80, 5), {"cost": 0}, "cost must be a number above 0"),
        ((80, 5), {"cost": 1, "budget": float("nan")}, "budget must be a number above 0"),
        ((80, 5), {"n_jobs": -1}, "n_jobs"),
        ((80, 5), {"precision": -0.1}, "precision must be"),
        ((80, 5), {"precision": None}, "precision must be"),
        ((80, 5), {"accuracy": 1.5}, "accuracy must lie"),
    ],
)
def test_arguments_that_cannot_be(arguments, options, message):
    with pytest.raises(InputError, match=message):
        of.advise(*arguments, **options)
