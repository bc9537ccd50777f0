"""Parameters read fast are those that scikit-learn reads."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import all_estimators

from outfold._collect.parameters import is_untouched, own_params, parts_of
from outfold._collect.recipes import make_recipes

COMPOSED = [
    make_pipeline(StandardScaler(), make_pipeline(PCA(), LogisticRegression())),
    make_pipeline(ColumnTransformer([("a", StandardScaler(), [0]), ("b", "drop", [1])]), RandomForestClassifier()),
    make_pipeline(FeatureUnion([("a", PCA()), ("b", StandardScaler())]), BaggingClassifier(RandomForestClassifier())),
    VotingClassifier([("a", LogisticRegression()), ("b", RandomForestClassifier(random_state=3))]),
]


def same_reading(estimator):
    expected = estimator.get_params(deep=False)
    found = own_params(estimator)
    assert list(found) == list(expected)
    assert all(found[name] is expected[name] for name in expected)


def test_every_class_of_scikit_learn_that_needs_no_argument():
    n = 0
    for _, kind in all_estimators():
        try:
            made = kind()
        except TypeError:
            continue
        same_reading(made)
        assert is_untouched(made), kind
        n += 1
    assert n > 150


@pytest.mark.parametrize("estimator", COMPOSED, ids=lambda e: type(e).__name__)
def test_estimators_made_of_others(estimator):
    same_reading(estimator)
    deep = [v for v in estimator.get_params(deep=True).values() if hasattr(v, "fit")]
    assert {id(part) for part in parts_of(estimator)} == {id(estimator), *map(id, deep)}


class Strict(BaseEstimator):
    """A user's class, which reads its parameters in its own way."""

    def __init__(self, a=1):
        self.a = a

    def get_params(self, deep=True):
        return {"a": self.a, "b": 2}


def test_a_class_with_its_own_way_is_asked():
    assert own_params(Strict()) == {"a": 1, "b": 2}
    assert not is_untouched(Strict())


def test_what_was_fitted_frozen_or_set_up_is_cloned():
    fitted = Ridge().fit(np.eye(3), np.arange(3))
    assert not is_untouched(fitted)
    assert not is_untouched(FrozenEstimator(fitted))
    assert not is_untouched(StandardScaler().set_output(transform="pandas"))
    (recipe,) = make_recipes({"m": fitted}, pickle.dumps)
    assert not hasattr(recipe.make(0), "coef_")


@pytest.mark.parametrize("estimator", COMPOSED, ids=lambda e: type(e).__name__)
def test_a_recipe_makes_what_a_seeded_clone_is(estimator):
    (recipe,) = make_recipes({"m": estimator}, pickle.dumps)
    made, expected = recipe.make(5), clone(estimator)
    seeds = [p for p, v in expected.get_params().items() if p.endswith("random_state") and v is None]
    expected.set_params(**dict.fromkeys(seeds, 5))
    assert repr(made) == repr(expected)
    assert made is not recipe.make(5)


def test_one_part_in_two_places_becomes_two():
    scaler = StandardScaler()
    (recipe,) = make_recipes({"m": make_pipeline(scaler, PCA(), scaler, Ridge())}, pickle.dumps)
    steps = [step for _, step in recipe.make(0).steps]
    assert steps[0] is not steps[2]


def test_a_parameter_that_cannot_be_pickled_is_no_harm():
    pipeline = make_pipeline(FunctionTransformer(lambda X: X + 1), Ridge())
    (recipe,) = make_recipes({"m": pipeline}, pickle.dumps)
    assert recipe.frozen is None
    assert recipe.make(0).fit(np.eye(3), np.arange(3)).predict(np.eye(3)).shape == (3,)
