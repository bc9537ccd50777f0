"""Every parameter of scikit-learn's four searches is taken with its default, or refused with a sentence that says why."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from scipy.stats import randint, uniform
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, HalvingRandomSearchCV, RandomizedSearchCV
from sklearn.tree import DecisionTreeClassifier

import outfold as of

X, y = make_classification(60, 4, random_state=0)
TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 3, 4], "min_samples_leaf": [1, 2, 3, 4]}
SEARCHES = of.RandomizedSelectCV, RandomizedSearchCV
# Where a default has another meaning here: searches repeat exactly, and halving keeps one in two.
OWN_DEFAULTS = {"random_state", "factor"}


def parameters(search):
    """Name to default of each parameter, without `self`."""
    found = inspect.signature(search.__init__).parameters.values()
    return {p.name: p.default for p in found if p.name != "self"}


def same(one, other):
    return one == other or (one != one and other != other)


@pytest.mark.parametrize("theirs", [GridSearchCV, RandomizedSearchCV, HalvingGridSearchCV, HalvingRandomSearchCV])
def test_every_parameter_of_the_searches_has_its_name_here(theirs):
    assert set(parameters(theirs)) <= set(parameters(of.SelectCV))


@pytest.mark.parametrize(("theirs", "ours"), [(GridSearchCV, of.SelectCV), (RandomizedSearchCV, of.RandomizedSelectCV)])
def test_defaults_are_those_of_scikit_learn(theirs, ours):
    known = parameters(ours)
    for name, default in parameters(theirs).items():
        if name not in OWN_DEFAULTS | {"param_grid"}:
            assert same(known[name], default), name


def test_the_randomized_search_takes_the_same_arguments_in_the_same_order():
    theirs = inspect.signature(RandomizedSearchCV.__init__).parameters.values()
    ours = list(inspect.signature(of.RandomizedSelectCV.__init__).parameters.values())
    assert [(p.name, p.kind) for p in theirs] == [(p.name, p.kind) for p in ours[: len(theirs)]]
    more = {p.name: p.default for p in ours[len(theirs) :]}
    assert more == {name: parameters(of.SelectCV)[name] for name in more}


@pytest.mark.parametrize("theirs", [HalvingGridSearchCV, HalvingRandomSearchCV])
def test_halving_takes_the_defaults_of_scikit_learn(theirs):
    options = {name: value for name, value in parameters(theirs).items() if value is not inspect.Parameter.empty}
    space = {"param_grid" if theirs is HalvingGridSearchCV else "param_distributions": GRID}
    search = of.SelectCV(TREE, search="halving", **space, **{**options, "random_state": 0}).fit(X, y)
    assert search.n_candidates_[:2] == [16, 6]  # factor=3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("factor", 3),
        ("resource", "min_samples_leaf"),
        ("max_resources", 20),
        ("min_resources", 20),
        ("aggressive_elimination", True),
        ("n_candidates", 5),
    ],
)
def test_what_only_halving_knows_is_refused_elsewhere(name, value):
    with pytest.raises(of.exceptions.InputError, match=f"{name} is for search='halving'; got search='grid'"):
        of.SelectCV(TREE, GRID, **{name: value}).fit(X, y)


# -- a randomized search without n_iter --------------------------------------------------------------------


@pytest.mark.parametrize(
    "search",
    [
        of.RandomizedSelectCV(TREE, GRID),
        of.RandomizedSelectCV(estimator=TREE, param_distributions=GRID),
        of.SelectCV(TREE, param_distributions=GRID),
        of.SelectCV(TREE, GRID, search="random"),
    ],
)
def test_ten_configurations_are_drawn_as_in_scikit_learn(search):
    ours = search.fit(X, y).cv_results_["params"]
    theirs = RandomizedSearchCV(TREE, GRID, random_state=0).fit(X, y).cv_results_["params"]
    assert len(ours) == 10
    assert ours == theirs


@pytest.mark.parametrize("space", [GRID, {"max_depth": randint(1, 100), "ccp_alpha": uniform(0, 0.1)}])
def test_a_random_state_draws_what_it_draws_in_scikit_learn(space):
    states = np.random.RandomState(3), np.random.RandomState(3)
    searches = [s(TREE, space, n_iter=4, random_state=r, cv=2) for s, r in zip(SEARCHES, states, strict=True)]
    for _ in range(2):  # the state goes on, so the second fit draws others
        ours, theirs = (s.fit(X, y).cv_results_["params"] for s in searches)
        assert ours == theirs
    assert states[0].randint(1000) == states[1].randint(1000)


def test_a_random_state_draws_named_configurations():
    named = {f"tree {depth}": DecisionTreeClassifier(max_depth=depth) for depth in range(1, 9)}
    first, second = (
        of.SelectCV(named, search="random", n_configs=3, random_state=np.random.RandomState(seed), cv=2).fit(X, y)
        for seed in (0, 0)
    )
    assert list(first.cv_results_["config"]) == list(second.cv_results_["config"])
    assert len(first.cv_results_["config"]) == 3


@pytest.mark.parametrize("first", ["grid", "param_grid", "param_distributions"])
@pytest.mark.parametrize("then", ["grid", "param_grid", "param_distributions"])
def test_a_grid_that_is_set_takes_the_place_of_another(first, then):
    search = of.SelectCV(TREE, **{first: GRID}).set_params(**{then: {"max_depth": [2]}})
    search.set_params(n_configs=None)  # leaves the grid as it is
    assert [getattr(search, name) for name in {first, then}].count(None) == (first != then)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a random search draws fewer than 10
        assert search.fit(X, y).cv_results_["params"] == [{"max_depth": 2}]


def test_a_name_that_does_not_exist_leaves_the_grid():
    search = of.RandomizedSelectCV(TREE, GRID)
    with pytest.raises(ValueError, match="Invalid parameter 'param_grid'"):
        search.set_params(param_grid={"max_depth": [2]})
    assert search.param_distributions == GRID


def test_a_grid_by_position_is_a_grid():
    assert of.SelectCV(TREE, GRID).param_grid is GRID
    assert len(of.SelectCV(TREE, GRID).fit(X, y).cv_results_["params"]) == 16


def test_a_space_with_fewer_configurations_than_draws_warns_as_scikit_learn_does():
    said = []
    for search in (
        of.RandomizedSelectCV(TREE, {"max_depth": [1, 2, 3]}),
        RandomizedSearchCV(TREE, {"max_depth": [1, 2, 3]}),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert len(search.fit(X, y).cv_results_["params"]) == 3
        said.append(str(caught[0].message))
    start = "The total space of parameters 3 is smaller than n_iter=10"
    assert [text.startswith(start) for text in said] == [True, True]


def test_a_randomized_search_is_cloned_whole():
    search = of.RandomizedSelectCV(
        TREE, {"max_depth": [1, 2, 3, 4]}, n_iter=3, drop=False, repeats=2, cv=3, share=False
    )
    again = clone(search)
    assert repr(again) == repr(search)
    found = again.set_params(n_iter=2).fit(X, y)
    assert (len(found.cv_results_["params"]), found.n_splits_) == (2, 6)


class LongArrays:
    """A distribution of arrays that differ in the middle only, which a short text leaves out."""

    def rvs(self, random_state=None):
        values = np.ones(2000)
        values[1000] = random_state.uniform(1, 2)
        return values


class FirstOf(DecisionTreeClassifier):
    """A tree with a parameter that is an array."""

    def __init__(self, values=None):
        super().__init__(random_state=0)
        self.values = values


def test_long_arrays_that_differ_are_different_draws():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        search = of.RandomizedSelectCV(FirstOf(), {"values": LongArrays()}, n_iter=4, cv=3, refit=False).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
