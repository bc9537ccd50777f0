"""Which steps and models of configurations are seen to be the same."""

import functools

import numpy as np
import pytest
from share_estimators import Scales, WholeScales
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import HuberRegressor, LogisticRegression, Ridge
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from collect_estimators import Tally
from internals import grid, key_of, make_plan

pytestmark = pytest.mark.usefixtures("patient")


def plan_of(configs, level="exact", fit_params=()):
    found = configs.values() if isinstance(configs, dict) else configs
    return make_plan(list(found), level, fit_params)


def nodes(plan):
    return [None if path is None else path.nodes for path in plan.paths]


def test_one_configuration_has_nothing_in_common():
    assert plan_of([make_pipeline(StandardScaler(), HuberRegressor())]).paths == (None,)


def test_a_family_that_differs_in_a_bit_serves_one_member_too():
    (alone,) = plan_of([make_pipeline(StandardScaler(), Ridge())]).groups.values()
    assert (alone.family.name, alone.members) == ("Ridge", (0,))


def test_equal_steps_are_one_node_whatever_their_names():
    a = Pipeline([("scale", StandardScaler()), ("model", HuberRegressor(alpha=1.0))])
    b = Pipeline([("other", StandardScaler()), ("m", HuberRegressor(alpha=2.0))])
    c = Pipeline([("scale", StandardScaler(with_mean=False)), ("model", HuberRegressor(alpha=1.0))])
    assert nodes(plan_of([a, b, c, HuberRegressor()])) == [(0,), (0,), None, None]


def test_nested_pipelines_are_flattened_and_passthrough_left_out():
    flat = make_pipeline(StandardScaler(), PCA(2), HuberRegressor())
    nested = make_pipeline(
        make_pipeline(StandardScaler(), "passthrough", PCA(2)), None, make_pipeline(HuberRegressor(alpha=3.0))
    )
    found = plan_of([flat, nested])
    assert nodes(found) == [(0, 1), (0, 1)]
    assert found.paths[1].steps[1].location == (0, 2)
    assert found.paths[1].location == (2, 0)


def test_order_keeps_branches_together():
    scalers, models = [StandardScaler(), MinMaxScaler()], [HuberRegressor(alpha=1.0), HuberRegressor(alpha=2.0)]
    found = plan_of([make_pipeline(s, m) for m in models for s in scalers] + [HuberRegressor()])
    assert found.order == [0, 2, 1, 3, 4]


class OwnPipeline(Pipeline):
    pass


@pytest.mark.parametrize(
    "make",
    [
        lambda m: Pipeline([("s", StandardScaler()), ("m", m)], memory="somewhere"),
        lambda m: Pipeline([("s", StandardScaler()), ("m", m)], transform_input=["x"]),
        lambda m: Pipeline([("s", StandardScaler()), ("m", m)], verbose=True),
        lambda m: OwnPipeline([("s", StandardScaler()), ("m", m)]),
        lambda m: Pipeline([("s", object()), ("m", m)]),
    ],
)
def test_pipelines_that_do_more_are_left_alone(make):
    assert nodes(plan_of([make(HuberRegressor(alpha=1.0)), make(HuberRegressor(alpha=2.0))])) == [None, None]


def test_metadata_routing_is_left_to_the_pipeline():
    with config_context(enable_metadata_routing=True):
        assert nodes(plan_of(grid("r", make_pipeline(StandardScaler(), HuberRegressor()), alpha=[1, 2]))) == [
            None,
            None,
        ]


def test_arguments_of_fit_go_to_their_steps():
    a = Pipeline([("s", StandardScaler()), ("m", HuberRegressor(alpha=1.0))])
    b = Pipeline([("s", StandardScaler()), ("m", HuberRegressor(alpha=2.0))])
    c = Pipeline([("t", StandardScaler()), ("m", HuberRegressor(alpha=2.0))])
    found = plan_of([a, b], fit_params=["s__sample_weight", "m__sample_weight"])
    assert found.paths[0].steps[0].arguments == (("sample_weight", "s__sample_weight"),)
    assert found.paths[0].arguments == (("sample_weight", "m__sample_weight"),)
    # What a step is fitted with is part of what it is.
    assert nodes(plan_of([a, b, c], fit_params=["s__sample_weight"])) == [(0,), (0,), None]
    assert nodes(plan_of([a, b], fit_params=["sample_weight"])) == [None, None]


# -- keys -----------------------------------------------------------------------------------------------


def test_values_that_compare_equal_but_are_not_the_same():
    values = [0, 0.0, -0.0, False, "0", b"0", (0,), [0], np.float64(0), np.float32(0), None]
    assert len({key_of(value) for value in values}) == len(values)
    assert key_of(float("nan")) == key_of(float("nan"))
    assert key_of(np.arange(3)) == key_of(np.arange(3)) != key_of(np.arange(3.0))


def test_functions_of_one_name_are_told_apart():
    one, other = (lambda X: X), (lambda X: 2 * X)
    assert key_of(FunctionTransformer(one)) == key_of(FunctionTransformer(one))
    assert key_of(FunctionTransformer(one)) != key_of(FunctionTransformer(other))
    assert key_of(functools.partial(one)) != key_of(functools.partial(other))
    assert key_of(SelectKBest(f_classif, k=3)) == key_of(SelectKBest(f_classif, k=3))


def test_random_states_are_the_same_only_in_the_same_state():
    drawn = np.random.RandomState(0)
    drawn.random()
    keys = [key_of(PCA(random_state=state)) for state in (np.random.RandomState(0), np.random.RandomState(0), drawn)]
    assert keys[0] == keys[1] != keys[2]


def test_output_containers_and_frozen_estimators():
    assert key_of(StandardScaler()) != key_of(StandardScaler().set_output(transform="pandas"))
    fitted = [StandardScaler().fit(np.eye(3) * c) for c in (1, 1, 2)]
    frozen = [key_of(FrozenEstimator(scaler)) for scaler in fitted]
    assert frozen[0] == frozen[1] != frozen[2]
    # What a fit left behind does not matter for what comes out of the next one.
    assert key_of(fitted[0]) == key_of(fitted[2]) == key_of(StandardScaler())


def test_unions_and_column_transformers_are_compared_with_all_they_hold():
    def union(n):
        return FeatureUnion([("a", StandardScaler()), ("b", PCA(n))])

    def columns(n):
        return ColumnTransformer([("a", make_pipeline(StandardScaler(), PCA(n)), [0, 1])])

    for make in (union, columns):
        assert key_of(make(1)) == key_of(make(1)) != key_of(make(2))


# -- families -------------------------------------------------------------------------------------------


def test_models_on_one_node_that_differ_in_what_varies(register):
    register(Scales())
    configs = grid("t", make_pipeline(StandardScaler(), Tally()), scale=[1.0, 2.0, 3.0], pause=[0.0, 0.001])
    found = plan_of(configs)
    assert [group.members for group in found.groups.values()] == [(0, 2, 4), (1, 3, 5)]
    assert found.order == [0, 2, 4, 1, 3, 5]
    other = {**configs, "other scaler": make_pipeline(MinMaxScaler(), Tally(9.0)), "bare": Tally(7.0)}
    assert plan_of(other).paths[-2:] == (None, None)


def test_one_member_is_no_family(register):
    register(Scales())
    assert plan_of([Tally(1.0), LogisticRegression()]).groups == {}


def test_levels_are_asked_for(register):
    register(WholeScales())
    configs = grid("t", Tally(), scale=[1.0, 2.0])
    assert not plan_of(configs, "exact").groups
    assert not plan_of(configs, "exact").groups
    assert len(plan_of(configs, "close").groups) == 1


def test_members_of_whole_families_are_helpers(register):
    register(WholeScales())
    found = plan_of(grid("t", Tally(), scale=[1.0, 2.0, 3.0]), "close")
    assert found.helpers([1]) == [0, 2]
    assert found.helpers([0, 1, 2]) == []
    assert found.without([0]).helpers([1]) == []
