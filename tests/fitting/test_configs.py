"""Grids and named configurations."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

import outfold as of
from internals import Configs, as_configs, grid
from outfold.exceptions import InputError


def logit():
    return make_pipeline(StandardScaler(), LogisticRegression())


def test_grid_names_all_combinations_in_the_given_order():
    configs = grid("forest", RandomForestClassifier(), max_depth=[2, None], n_estimators=[10, 100])
    assert list(configs) == [
        "forest(max_depth=2, n_estimators=10)",
        "forest(max_depth=2, n_estimators=100)",
        "forest(max_depth=None, n_estimators=10)",
        "forest(max_depth=None, n_estimators=100)",
    ]
    assert configs["forest(max_depth=None, n_estimators=10)"].get_params()["max_depth"] is None
    assert configs.params["forest(max_depth=2, n_estimators=100)"] == {"max_depth": 2, "n_estimators": 100}


def test_grid_finds_the_step_that_has_the_parameter():
    configs = grid("logit", logit(), C=[0.1, 1])
    assert list(configs) == ["logit(C=0.1)", "logit(C=1)"]
    assert configs["logit(C=0.1)"].get_params()["logisticregression__C"] == 0.1


def test_grid_leaves_the_estimator_alone():
    estimator = logit()
    before = repr(estimator.get_params())
    configs = grid("logit", estimator, C=[7.0])
    configs["logit(C=7)"].set_params(logisticregression__C=9.0)
    assert repr(estimator.get_params()) == before
    assert next(iter(grid("logit", estimator).values())) is not estimator


def test_grid_without_parameters_is_one_configuration():
    assert list(grid("logit", logit())) == ["logit"]
    assert grid("logit", logit()).params == {"logit": {}}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (1e-05, "m(C=1e-05)"),
        (np.float64(0.30000000000000004), "m(C=0.3)"),
        ("l1", "m(C='l1')"),
        (None, "m(C=None)"),
        ({"a": 1}, "m(C={'a': 1})"),
        (np.sqrt, "m(C=sqrt)"),
    ],
)
def test_values_are_written_compactly(value, name):
    assert list(grid("m", LogisticRegression(), C=value)) == [name]


def test_values_that_look_alike_are_written_in_full():
    assert list(grid("m", LogisticRegression(), C=[0.1234567, 0.1234568])) == ["m(C=0.1234567)", "m(C=0.1234568)"]


def test_arrays_give_plain_numbers():
    configs = grid("m", LogisticRegression(), C=np.logspace(-1, 1, 3))
    assert [type(p["C"]) for p in configs.params.values()] == [float] * 3


def test_tuples_inside_a_list_are_values():
    configs = grid("mlp", MLPClassifier(), hidden_layer_sizes=[(50, 50), (10,)])
    assert list(configs) == ["mlp(hidden_layer_sizes=(50, 50))", "mlp(hidden_layer_sizes=(10,))"]


def test_long_names_only_where_short_ones_clash():
    pipe = Pipeline([("a", MinMaxScaler()), ("b", MinMaxScaler()), ("svm", SVC())])
    configs = grid("m", pipe, a__clip=[True], b__clip=[False], C=[1])
    assert list(configs) == ["m(a__clip=True, b__clip=False, C=1)"]


def test_conditional_grids():
    configs = grid("svm", SVC(), [{"kernel": ["linear"]}, {"kernel": ["rbf"], "gamma": [0.1, 1]}], C=[1])
    assert list(configs) == [
        "svm(kernel='linear', C=1)",
        "svm(kernel='rbf', gamma=0.1, C=1)",
        "svm(kernel='rbf', gamma=1, C=1)",
    ]


def test_steps_can_be_values_with_parameters_of_their_own():
    pipe = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])
    configs = grid("m", pipe, {"model": [SVC()], "model__gamma": [0.1, 1.0], "scale": ["passthrough"]})
    models = [c.named_steps["model"] for c in configs.values()]
    assert [m.gamma for m in models] == [0.1, 1.0]
    assert models[0] is not models[1]


def test_unknown_parameter_suggests_the_nearest():
    with pytest.raises(
        InputError, match=r"grid 'forest': the estimator has no parameter 'max_dept'; did you mean 'max_depth'"
    ):
        grid("forest", RandomForestClassifier(), max_dept=[2])


def test_parameter_of_several_steps_is_refused():
    pipe = Pipeline([("a", MinMaxScaler()), ("b", MinMaxScaler()), ("svm", SVC())])
    with pytest.raises(
        InputError, match=r"clip is a parameter of several steps \(a__clip, b__clip\). Give the full name"
    ):
        grid("m", pipe, clip=[True])


def test_parameter_of_a_step_put_in_by_the_grid_is_checked():
    pipe = Pipeline([("model", LogisticRegression())])
    with pytest.raises(InputError, match=r"configuration .*no parameter 'model__nonsense'"):
        grid("m", pipe, {"model": [SVC()], "model__nonsense": [1]})


@pytest.mark.parametrize("empty", [{"C": []}, {"C": np.array([])}, {"C": ()}])
def test_empty_grid(empty):
    with pytest.raises(InputError, match="C has an empty list of values, so the grid is empty"):
        grid("m", LogisticRegression(), empty)


def test_empty_list_of_grids():
    with pytest.raises(InputError, match="holds no configuration"):
        grid("m", LogisticRegression(), [])


def test_repeated_values_and_overlapping_dicts():
    with pytest.raises(InputError, match="C holds 1 more than once"):
        grid("m", LogisticRegression(), C=[1, 1])
    with pytest.raises(InputError) as error:
        grid("m", LogisticRegression(), [{"C": [1]}, {"C": [1, 2]}])
    problem = "param_grid must hold dicts that do not overlap; the grid 'm' holds 'm(C=1)' more than once."
    assert str(error.value) == problem


def test_same_parameter_by_two_names():
    with pytest.raises(InputError, match="C means logisticregression__C, which was given too"):
        grid("m", logit(), {"logisticregression__C": [1]}, C=[2])


def test_distribution_is_refused():
    from scipy.stats import uniform

    with pytest.raises(InputError, match="C is a distribution; give a list of values"):
        grid("m", LogisticRegression(), C=uniform())


def test_generator_is_refused():
    with pytest.raises(InputError, match="grid 'm': C is a generator; give a list of its values"):
        grid("m", LogisticRegression(), C=(10.0**k for k in range(3)))


def test_join_refuses_duplicate_names():
    a, b = grid("m", LogisticRegression(), C=[1, 2]), grid("m", LogisticRegression(), C=[2])
    with pytest.raises(InputError, match=r"'m\(C=2\)' is on both sides"):
        a | b
    with pytest.raises(InputError, match=r"'m\(C=2\)' is on both sides"):
        a |= b


def test_join_keeps_order_and_parameters():
    a = grid("m", LogisticRegression(), C=[1])
    joined = a | {"svm": SVC()}
    assert isinstance(joined, Configs)
    assert joined.params == {"m(C=1)": {"C": 1}, "svm": {}}
    assert list({"svm": SVC()} | a) == ["svm", "m(C=1)"]
    assert list(a) == ["m(C=1)"]
    before = a
    a |= grid("n", SVC(), C=[3])
    assert a is before
    assert a.params == {"m(C=1)": {"C": 1}, "n(C=3)": {"C": 3}}


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, Configs.copy, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies_are_independent(make):
    a = grid("m", LogisticRegression(), C=[1, 2])
    b = make(a)
    assert isinstance(b, Configs)
    assert b.params == a.params
    del b["m(C=1)"]
    b |= {"svm": SVC()}
    b.params["m(C=2)"]["C"] = 99
    assert list(a) == ["m(C=1)", "m(C=2)"]
    assert list(b.params) == ["m(C=2)", "svm"]
    assert a.params["m(C=2)"] == b.params["m(C=2)"] == {"C": 2}


def test_what_is_not_an_estimator_is_refused():
    with pytest.raises(InputError, match="configuration 'a': LogisticRegression is a class; give an instance"):
        as_configs({"a": LogisticRegression})
    with pytest.raises(InputError, match="configuration 'a': 3 is not a scikit-learn estimator"):
        as_configs({"a": 3})
    with pytest.raises(
        InputError, match=r"configuration .a.: StandardScaler\(\) has no predict.*in a pipeline that ends with"
    ):
        of.collect({"a": StandardScaler()}, np.zeros((4, 1)), [0, 0, 1, 1])  # a collection of scores alone takes it
    with pytest.raises(InputError, match="name must be text that is not empty; got 1"):
        as_configs({1: SVC()})
    with pytest.raises(InputError, match="is not a scikit-learn estimator"):
        as_configs("logit")
    with pytest.raises(InputError, match="is not a scikit-learn estimator"):
        grid("m", "logit", C=[1])


def test_one_estimator_is_called_by_its_class():
    model = clone(SVC())
    assert as_configs(model) == {"SVC": model}


def test_a_stack_shows_its_predict_once_it_is_fitted():
    from sklearn.datasets import load_iris
    from sklearn.ensemble import StackingClassifier
    from sklearn.naive_bayes import GaussianNB

    X, y = load_iris(return_X_y=True)
    stack = StackingClassifier([("nb", GaussianNB())], cv=3)
    assert of.collect({"stack": stack}, X, y, of.Plan(folds=3)).leaderboard("accuracy").scores[0] > 0.9
