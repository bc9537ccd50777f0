"""Batches of configurations that have something in common."""

import numpy as np
import pytest
from share_estimators import Scales
from sklearn.linear_model import HuberRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from collect_estimators import Tally
from internals import (
    Configs,
    EstimatorTemplate,
    FitOutcome,
    Options,
    Plan,
    Pool,
    Schedule,
    SharedFit,
    SharingExecutor,
    single_holdouts,
)

pytestmark = pytest.mark.usefixtures("patient")


def schedule(estimators, **options):
    splits = Plan(folds=2).split(np.arange(20) % 2)
    names = [f"c{j}" for j in range(len(estimators))]
    configs = Configs(zip(names, estimators, strict=True))
    templates = [EstimatorTemplate(name, "") for name in names]
    executor = SharingExecutor.planned(configs, templates, Options(), Pool(1, False, False))
    return Schedule(single_holdouts(splits), executor, set(), 1.0, 100, **options)


def first_holdout(plan):
    return [batch.configs for batch in plan.portions() if batch.holdout is plan.holdouts[0]]


def two_scalers():
    return [
        make_pipeline(scaler, HuberRegressor(alpha=a))
        for a in (1, 2, 3, 4)
        for scaler in (StandardScaler(), MinMaxScaler())
    ]


def test_neighbours_come_one_after_the_other():
    plan = schedule(two_scalers())
    plan.learn("c0", 0.5)
    assert first_holdout(plan) == [(0, 2), (4, 6), (1, 3), (5, 7)]


def test_a_slow_step_is_not_fitted_for_a_few_models():
    plan = schedule(two_scalers())
    plan.learn("c0", 0.5)
    shared = SharedFit(0.5, nodes=((0, 0.4),))
    plan.executor.count(FitOutcome(plan.holdouts[0], "c0", (), "", 0.5, (), shared=shared))
    # A cut behind the first scaler costs 0.4 s, so that 1.6 s of models are worth it; one between the scalers costs nothing.
    assert first_holdout(plan) == [(0, 2, 4, 6), (1, 3), (5, 7)]


@pytest.mark.parametrize("known", [False, True])
def test_members_of_a_family_are_never_parted(register, known):
    register(Scales())
    plan = schedule([Tally(float(i)) for i in range(5)] + [HuberRegressor()])
    if known:
        plan.learn("c0", 3.0)
    assert first_holdout(plan)[0] == (0, 1, 2, 3, 4)


def test_the_slowest_branch_first_where_workers_wait_for_each_other():
    plan = schedule([*two_scalers(), HuberRegressor(alpha=9)], slowest_first=True)
    for name, seconds in (("c0", 0.1), ("c1", 0.3), ("c8", 5.0)):
        plan.learn(name, seconds)
    plan._default = 0.1
    assert first_holdout(plan) == [(8,), (1, 3, 5, 7, 0, 2, 4, 6)]


def test_what_a_batch_leaves_comes_next():
    plan = schedule(two_scalers())
    plan.learn("c0", 0.5)
    batches = plan.portions()
    first = next(batches)
    assert first.configs == (0, 2)
    plan.give_back(first.holdout, ["c2"])
    assert next(batches) == (first.holdout, (2,))
    assert next(batches).configs == (4, 6)
    for batch in batches:
        last = batch
    plan.give_back(last.holdout, ["c7"])
    assert plan.has_returned  # nobody asks for batches any more
